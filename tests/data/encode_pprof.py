#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a profile described in JSON as plain pprof: encode_pprof.py IN.json OUT.

An encoder apart from hearth's, and one that can write what is wrong. The description:

    types    [["cpu", "nanoseconds"], ...]
    samples  [{"stack": ["main", ["outer", "inlined"]],      root first; a list is one location
               "values": [1, 2], "labels": {"key": "text", "bytes": [64, "bytes"], "n": 5}}]
    period_type, period, time_ns, duration_ns, comments, drop_frames, keep_frames, default_type
    mapping  {"start", "limit", "offset", "file", "build_id", "has_functions"}, of every location

In place of "stack", "locations": [99] gives raw ids, which may not exist. A label value {"string": 99} is a raw index
into the string table.
"""
import json
import sys


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n) if n else b""


def message(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


def packed(field, numbers):
    return message(field, b"".join(varint(n) for n in numbers)) if numbers else b""


class Encoder:
    def __init__(self):
        self.strings = {"": 0}
        self.functions = {}
        self.locations = {}

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def function(self, name):
        return self.functions.setdefault(name, len(self.functions) + 1)

    def location(self, frame):
        lines = tuple([frame] if isinstance(frame, str) else frame)
        return self.locations.setdefault(lines, len(self.locations) + 1)

    def value_type(self, field, pair):
        return message(field, number(1, self.string(pair[0])) + number(2, self.string(pair[1])))

    def label(self, key, value):
        body = number(1, self.string(key))
        if isinstance(value, dict):
            body += number(2, value["string"])
        elif isinstance(value, str):
            body += number(2, self.string(value))
        else:
            count, unit = value if isinstance(value, list) else (value, "")
            body += number(3, count) + number(4, self.string(unit))
        return message(3, body)

    def sample(self, sample):
        ids = sample.get("locations") or [self.location(frame) for frame in reversed(sample["stack"])]
        labels = sample.get("labels", {})
        return message(2, packed(1, ids) + packed(2, sample["values"]) +
                       b"".join(self.label(key, value) for key, value in labels.items()))

    def tables(self, mapping):
        out = b""
        if mapping:
            out += message(3, number(1, 1) + number(2, mapping["start"]) + number(3, mapping["limit"]) +
                           number(4, mapping.get("offset", 0)) + number(5, self.string(mapping["file"])) +
                           number(6, self.string(mapping.get("build_id", ""))) +
                           number(7, mapping.get("has_functions", 0)))
        for lines, id in self.locations.items():
            body = number(1, id) + number(2, 1 if mapping else 0)
            if mapping:
                body += number(3, mapping["start"] + 16 * id)
            for name in reversed(lines):
                body += message(4, number(1, self.function(name)) + number(2, 10 * id))
            out += message(4, body)
        for name, id in self.functions.items():
            out += message(5, number(1, id) + number(2, self.string(name)) + number(3, self.string(name)) +
                           number(4, self.string("main.c")) + number(5, id))
        return out

    def profile(self, p):
        out = b"".join(self.value_type(1, pair) for pair in p["types"])
        out += b"".join(self.sample(sample) for sample in p["samples"])
        out += self.tables(p.get("mapping"))
        out += number(7, self.string(p.get("drop_frames", ""))) + number(8, self.string(p.get("keep_frames", "")))
        out += number(9, p.get("time_ns", 0)) + number(10, p.get("duration_ns", 0))
        if "period_type" in p:
            out += self.value_type(11, p["period_type"]) + number(12, p["period"])
        out += packed(13, [self.string(text) for text in p.get("comments", [])])
        out += number(14, self.string(p.get("default_type", "")))
        return out + b"".join(message(6, text.encode()) for text in self.strings)


def main():
    with open(sys.argv[1], encoding="utf-8") as source:
        description = json.load(source)
    with open(sys.argv[2], "wb") as target:
        target.write(Encoder().profile(description))


main()
