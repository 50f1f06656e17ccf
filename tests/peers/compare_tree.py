#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_tree.py HEARTH PPROFCHECK PPROF FILE

For every value type of FILE: each node of `hearth tree` has the self and total summed from pprofcheck's samples, and the
value of each call in `hearth peek` is that of `go tool pprof -tree`. Prints `equal`, or what differs and exits 1.
"""
import sys

import reference


def paths(node, path, found):
    key = path + (node["name"],) if path is not None else ()
    found[key] = [node["self"], node["total"]]
    for child in node.get("children", []):
        paths(child, key, found)
    return found


def calls(answer):
    found = {}
    for function in answer["functions"]:
        for callee in function["callees"]:
            found[function["name"], callee["name"]] = callee["value"]
        for caller in function["callers"]:
            pair = caller["name"], function["name"]
            if found.setdefault(pair, caller["value"]) != caller["value"]:
                sys.exit("the two ends of the call %s differ" % (pair,))
    return found


def compare(hearth, pprofcheck, pprof, path):
    samples = reference.Samples(pprofcheck, path)
    for index, (kind, unit) in enumerate(samples.types):
        if not any(values[index] for _, values in samples.rows):
            continue
        chosen = ["--json", "--type", "%s/%s" % (kind, unit)]
        tree = reference.hearth_json(hearth, "tree", *chosen, "--min-share", "0%", path)["tree"]
        for what, ours, theirs in (
                ("node", paths(tree, None, {}), samples.tree(index)),
                ("call", calls(reference.hearth_json(hearth, "peek", *chosen, ".", path)),
                 reference.pprof_calls(pprof, path, kind, unit))):
            theirs = {key: value for key, value in theirs.items() if value not in (0, [0, 0])}
            for key in sorted(set(ours) | set(theirs)):
                if ours.get(key) != theirs.get(key):
                    yield "%s: %s %s: hearth %s, pprof %s" % (kind, what, key, ours.get(key), theirs.get(key))


def main():
    sys.setrecursionlimit(10000)
    differences = list(compare(*sys.argv[1:5]))
    print("\n".join(differences[:20]) or "equal")
    sys.exit(1 if differences else 0)


main()
