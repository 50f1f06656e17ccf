#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_top.py HEARTH PPROFCHECK PPROF FILE [FILTER=PATTERN...]

For every value type of FILE: totals, self and total of every function as summed from pprofcheck's samples, and all rows
of `go tool pprof -top` (names, order, flat, cum, inlining) equal those of `hearth top`. With filters (focus, ignore, hide,
show, show_from, tagfocus, tagignore) only the rows of pprof are compared. Prints `equal`, or what differs and exits 1.
"""
import sys

import reference


def compare_sums(ours, samples, index, differ):
    differ("total", ours["total"], sum(values[index] for _, values in samples.rows))
    got = {f["name"]: [f["self"], f["total"]] for f in ours["functions"]}
    wanted = {name: both for name, both in samples.self_and_total(index).items() if both != [0, 0]}
    for name in sorted(set(got) | set(wanted)):
        differ("self and total of %s" % name, got.get(name), wanted.get(name))


def compare_rows(ours, top, differ):
    got = [(f["name"], f["inlined"], f["self"], f["total"]) for f in ours["functions"]]
    wanted = [(name, mark == "inline", flat, cum) for name, mark, flat, cum in top]
    differ("number of rows", len(got), len(wanted))
    for place, (a, b) in enumerate(zip(got, wanted)):
        differ("row %d" % (place + 1), a, b)


def compare(hearth, pprofcheck, pprof, path, filters):
    samples = reference.Samples(pprofcheck, path)
    differences = []
    for index, (kind, unit) in enumerate(samples.types):
        def differ(what, got, wanted):
            if got != wanted:
                differences.append("%s: %s: hearth %s, pprof %s" % (kind, what, got, wanted))

        ours = reference.hearth_json(hearth, "top", "--json", "-n", "0", "--type", "%s/%s" % (kind, unit), path,
                                     *["--" + option.replace("_", "-", 1) for option in filters])
        if not filters:
            compare_sums(ours, samples, index, differ)
        compare_rows(ours, reference.pprof_top(pprof, path, kind, unit, *["-" + option for option in filters]), differ)
    return differences


def main():
    differences = compare(*sys.argv[1:5], sys.argv[5:])
    print("\n".join(differences[:20]) or "equal")
    sys.exit(1 if differences else 0)


main()
