#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_diff.py HEARTH PPROFCHECK PPROF A B

For every value type: the change of self and total of every function in `hearth diff A B` is that of
`go tool pprof -diff_base=A B`. Prints `equal`, or what differs and exits 1.
"""
import sys

import reference


def compare(hearth, pprofcheck, pprof, before, after):
    for kind, unit in reference.Samples(pprofcheck, before).types:
        answer = reference.hearth_json(hearth, "diff", "--json", "-n", "0", "--type", "%s/%s" % (kind, unit), before, after)
        ours = {f["name"]: (f["self"]["delta"], f["total"]["delta"]) for f in answer["functions"]}
        theirs = {name: (flat, cum) for name, _, flat, cum in reference.pprof_top(
            pprof, after, kind, unit, "-diff_base=" + before) if flat or cum}
        for name in sorted(set(ours) | set(theirs)):
            if ours.get(name) != theirs.get(name):
                yield "%s: change of %s: hearth %s, pprof %s" % (kind, name, ours.get(name), theirs.get(name))


def main():
    differences = list(compare(*sys.argv[1:6]))
    print("\n".join(differences[:20]) or "equal")
    sys.exit(1 if differences else 0)


main()
