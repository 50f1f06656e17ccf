#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the flame format as docs/format-flame.md has it, written after that page alone, and prints the tree as the JSON of
`hearth query --format json` has it: read_flame.py FILE. With a second file, of such JSON, says whether they are the same."""
import json
import sys


class Stream:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = scale = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value += (byte & 0x7F) << scale
            scale += 7
            if byte < 0x80:
                return value

    def text(self):
        length = self.number()
        self.at += length
        assert self.at <= len(self.data)
        return self.data[self.at - length : self.at].decode()

    def end(self):
        assert self.at == len(self.data), f"{len(self.data) - self.at} bytes left"


def read(data):
    assert data[:5] == b"HFLM\x01" and data[7] == 0
    flags, columns = data[5], data[6]
    assert columns == 1 and flags < 8
    ranks, signed = flags & 1, flags & 2
    value = lambda s: (lambda v: (v >> 1) ^ -(v & 1) if signed else v)(s.number())
    header = Stream(data)
    header.at = 8
    n_nodes, n_leaves, max_depth, n_names, root_name = (header.number() for _ in range(5))
    total, unit = value(header), header.text()
    lengths = [header.number() for _ in range(8)]
    parts, at = [], header.at
    for length in lengths:
        parts.append(Stream(data[at : at + length]))
        at += length
    assert at == len(data)
    runs, pops, leaf_values, inner_values, node_names, callees, node_flags, names = parts
    texts = [names.text() for _ in range(n_names)]
    lists = [[callees.number() for _ in range(callees.number())] for _ in range(n_names)] if ranks else None
    depths, leaves, depth = [], [], 0
    for leaf in range(n_leaves):
        for _ in range(runs.number()):
            depths.append(depth)
            depth += 1
        leaves.append(len(depths) - 1)
        if leaf + 1 < n_leaves:
            depth = depths[-1] - pops.number()
            assert depth >= 1
    assert len(depths) == n_nodes and max(depths) == max_depth
    self_values = [0] * n_nodes
    for leaf in leaves:
        self_values[leaf] = value(leaf_values)
    node = -1
    while inner_values.at < len(inner_values.data):
        node += inner_values.number()
        self_values[node] = value(inner_values)
    numbers, path, nodes = [root_name], [], []
    for i, depth in enumerate(depths):
        del path[depth:]
        if i > 0:
            number = node_names.number()
            numbers.append(lists[numbers[path[-1]]][number] if ranks else number)
        nodes.append({"name": texts[numbers[i]], "total": self_values[i], "self": self_values[i]})
        if path:
            nodes[path[-1]].setdefault("children", []).append(nodes[i])
        path.append(i)
    parents, path = [], []
    for i, depth in enumerate(depths):
        del path[depth:]
        parents.append(path[-1] if path else None)
        path.append(i)
    for i in reversed(range(1, n_nodes)):
        nodes[parents[i]]["total"] += nodes[i]["total"]
    assert nodes[0]["total"] == total
    for stream in parts[:6] + parts[7:]:
        stream.end()
    return {"unit": unit, "tree": nodes[0]}


def plain(node):
    """Without what the format does not say."""
    out = {key: node[key] for key in ("name", "total", "self")}
    if node.get("children"):
        out["children"] = [plain(child) for child in node["children"]]
    return out


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(read(open(sys.argv[1], "rb").read())))
    else:  # FILE JSON: whether they are the same tree
        found, wanted = read(open(sys.argv[1], "rb").read()), json.load(open(sys.argv[2]))
        assert found["unit"] == wanted["unit"], (found["unit"], wanted["unit"])
        assert found["tree"] == plain(wanted["tree"]), "other trees"
        print("same")
