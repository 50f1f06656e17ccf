# SPDX-License-Identifier: Apache-2.0
"""What other programs say of a profile, as plain Python values.

Two independent sources: `pprofcheck`, which prints every sample as google/pprof's reader gives it, and from which the
sums are made here; and the tables that `go tool pprof` prints itself.
"""
import json
import re
import subprocess


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SystemExit("%s: %s" % (" ".join(command), done.stderr.decode(errors="replace")))
    return done.stdout.decode(errors="surrogateescape")


def hearth_json(*command):
    return json.loads(output(*command))


# --- samples as pprofcheck prints them ---

def unescape(text):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m.group(1), 16)]),
                  text.encode(errors="surrogateescape")).decode(errors="replace")


def frame_name(text):
    """The name that pprof shows for a frame: the function, else its file in brackets, else <unknown>."""
    name, _file, _line, _column, _start, _address, mapping = text.split("|")[:7]
    name = unescape(name.split("\\=")[0])
    if name:
        return name
    return "[%s]" % unescape(mapping).rsplit("/", 1)[-1] if mapping else "<unknown>"


class Samples:
    """Types as [(name, unit)], and samples as [(names root first, values)]."""

    def __init__(self, pprofcheck, path):
        self.types, self.rows = [], []
        for line in output(pprofcheck, "-no-labels", path).splitlines():
            if line.startswith("type "):
                self.types.append(tuple(unescape(part) for part in line[5:].split("/", 1)))
            elif line.startswith("sample "):
                stack, *values = line[7:].rsplit(" ", len(self.types))
                names = [frame_name(frame) for frame in stack.split(" ; ")] if stack else []
                self.rows.append((names, [int(value) for value in values]))

    def self_and_total(self, index):
        """{function: [self, total]}; a function counts once in a sample, however often it recurs."""
        sums = {}
        for names, values in self.rows:
            for name in set(names):
                sums.setdefault(name, [0, 0])[1] += values[index]
            if names:
                sums[names[-1]][0] += values[index]
        return sums

    def tree(self, index):
        """{path as a tuple of names: [self, total]}."""
        sums = {(): [0, 0]}
        for names, values in self.rows:
            for depth in range(len(names) + 1):
                sums.setdefault(tuple(names[:depth]), [0, 0])[1] += values[index]
            sums[tuple(names)][0] += values[index]
        return sums


# --- tables of go tool pprof ---

UNITS = {"nanoseconds": "ns", "bytes": "B"}
# With any node or edge left out, pprof loses the inlining of others.
EVERYTHING = ["-symbolize=none", "-nodefraction=0", "-edgefraction=0", "-nodecount=1000000"]


def number(text):
    return int(float(re.match(r"-?[0-9.]+(e[+-]?[0-9]+)?", text).group(0)))


def without_mark(name):
    for mark in (" (inline)", " (partial-inline)"):
        if name.endswith(mark):
            return name[:-len(mark)], mark.strip(" ()")
    return name, ""


def pprof_table(pprof, report, path, kind, unit, *options):
    unit_option = ["-unit=" + UNITS[unit]] if unit in UNITS else []
    return output(pprof, report, *EVERYTHING, *unit_option, "-sample_index=" + kind, *options, path).splitlines()


def pprof_top(pprof, path, kind, unit, *options):
    """[(function, inline mark, flat, cum)], in pprof's order."""
    lines = pprof_table(pprof, "-top", path, kind, unit, *options)
    begin = next(i for i, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"])
    rows = []
    for line in lines[begin + 1:]:
        flat, _, _, cum, _, name = line.split(None, 5)
        rows.append(without_mark(name) + (number(flat), number(cum)))
    return rows


def pprof_calls(pprof, path, kind, unit, *options):
    """{(caller, callee): value}, from -tree."""
    calls, callers, function = {}, [], None
    for line in pprof_table(pprof, "-tree", path, kind, unit, *options):
        if line.startswith("---"):
            callers, function = [], None
            continue
        left, bar, right = line.partition(" | ")
        if not bar:
            continue
        if right.startswith("  "):
            value, name = number(left.split()[0]), without_mark(right.strip())[0]
            if function is None:
                callers.append((name, value))
            else:
                calls[function, name] = value
        else:
            function = right.strip()
            calls.update({(caller, function): value for caller, value in callers})
    return calls
