#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `hearth demo --truth` says with what a server answers.

    check_truth.py HEARTH URL TRUTH.json

Shares are of the samples that have the label `endpoint`. A few seconds of a small share of a processor are some hundred samples,
and kernels that sample at ticks are partial to work that goes on for longer than one: shares may be off by four times their sampling
error and eight points. Prints what is wrong, and fails then."""
import json
import math
import subprocess
import sys

HEARTH, URL, TRUTH = sys.argv[1:]
MIN_SAMPLES = 60  # below, nothing can be said
SLACK = 0.08


def ask(service, version, endpoint):
    """Function -> (share by itself, share with what it calls), and how many samples there are."""
    where = f'endpoint="{endpoint}"' if endpoint else 'endpoint=~".+"'
    query = f'{service}.cpu{{{where},service_version="{version}"}}'
    answer = subprocess.run([HEARTH, "query", "--url", URL, query, "--json", "--rows", "0"],
                            capture_output=True, text=True)
    if answer.returncode != 0:
        return {}, 0
    found = json.loads(answer.stdout)
    total = found["total"]
    samples = sum(function["self_samples"] for function in found["functions"])
    return {f["name"]: (f["self"] / total, f["total"] / total) for f in found["functions"]}, samples


def main():
    groups = {}
    for share in json.load(open(TRUTH, encoding="utf-8"))["shares"]:
        groups.setdefault((share["service"], share["version"], share["endpoint"]), []).append(share)
    n_compared, bad = 0, []
    for (service, version, endpoint), shares in groups.items():
        found, samples = ask(service, version, endpoint)
        if samples < MIN_SAMPLES:
            continue
        for share in shares:
            n_compared += 1
            wanted = share["total"]
            _, got = found.get(share["function"], (0, 0))
            error = 4 * math.sqrt(max(wanted * (1 - wanted), 0.01) / samples) + SLACK
            if abs(got - wanted) > error:
                bad.append(f"{service} {version} {endpoint or 'all'}: {share['function']} has {got:.1%} of {samples:.0f} "
                           f"samples, not {wanted:.1%} (+- {error:.1%})")
    for line in bad:
        print(line)
    services = {service for service, _, _ in groups}
    print(f"{n_compared} shares compared, of {len(services)} services")
    return 1 if bad or n_compared < 40 else 0


sys.exit(main())
