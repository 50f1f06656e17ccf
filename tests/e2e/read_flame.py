#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the flame format as docs/format-flame.md has it, written after that page alone, and prints the tree as the JSON of
`hearth query --format json` has it: read_flame.py FILE. With a second file, of such JSON or that of `hearth diff --json`, says whether they are the same."""
import json
import struct
import sys

KINDS = "|native|kernel|go|rust|cpython|jvm|v8js|ruby|php|perl|dotnet|beam|luajit|jit|abort-marker".split("|")


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
    assert columns in (1, 2) and flags < 8
    ranks, signed = flags & 1, flags & 2
    value = lambda s: (lambda v: (v >> 1) ^ -(v & 1) if signed else v)(s.number())
    header = Stream(data)
    header.at = 8
    factor = 1
    if columns == 2:
        factor = struct.unpack("<d", data[8:16])[0]
        header.at = 16
    n_nodes, n_leaves, max_depth, n_names, root_name, n_texts, divisor = (header.number() for _ in range(7))
    assert divisor >= 1
    totals = [value(header) * divisor for _ in range(columns)]
    samples = [header.number() - 1 for _ in range(columns)]
    unit = header.text()
    lengths = [header.number() for _ in range(8 + 2 * columns)]
    parts, at = [], header.at
    for length in lengths:
        parts.append(Stream(data[at : at + length]))
        at += length
    assert at == len(data)
    runs, pops = parts[:2]
    values = [parts[2 + 2 * column : 4 + 2 * column] for column in range(columns)]
    node_names, callees, node_flags, names, details, texts = parts[2 + 2 * columns :]
    names = [names.text() for _ in range(n_names)]
    texts = [""] + [texts.text() for _ in range(n_texts)]
    details = [
        {"kind": KINDS[kind], "module": texts[module], "file": texts[file], "line": line}
        for kind, module, file, line in ([details.number() for _ in range(4)] for _ in range(n_names))
    ]
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
    parents, path = [], []
    for i, depth in enumerate(depths):
        del path[depth:]
        parents.append(path[-1] if path else None)
        path.append(i)
    own, whole = [], []
    for leaf_values, inner_values in values:
        column = [0] * n_nodes
        for leaf in leaves:
            column[leaf] = value(leaf_values) * divisor
        node = -1
        while inner_values.at < len(inner_values.data):
            node += inner_values.number()
            column[node] = value(inner_values) * divisor
        own.append(column)
        whole.append(column[:])
        for i in reversed(range(1, n_nodes)):
            whole[-1][parents[i]] += whole[-1][i]
    assert [column[0] for column in whole] == totals
    flags_of, node = [0] * n_nodes, -1
    while node_flags.at < len(node_flags.data):
        node += node_flags.number()
        flags_of[node] = node_flags.number()
    numbers, nodes = [root_name], []
    for i, parent in enumerate(parents):
        if i > 0:
            number = node_names.number()
            numbers.append(lists[numbers[parent]][number] if ranks else number)
        node = {"name": names[numbers[i]]}
        if columns == 1:
            node.update({"total": whole[0][i], "self": own[0][i]})
        else:
            for name, of in (("total", whole), ("self", own)):
                node[name] = {"before": of[0][i], "after": round(of[1][i] * factor)}
        node.update({key: text for key, text in details[numbers[i]].items() if text})
        if flags_of[i]:
            node["flags"] = flags_of[i]
        nodes.append(node)
        if i > 0:
            nodes[parent].setdefault("children", []).append(node)
    for stream in parts:
        stream.end()
    head = {"unit": unit, "samples": [n if n >= 0 else None for n in samples], "divisor": divisor}
    return head | ({"factor": factor} if columns == 2 else {}) | {"tree": nodes[0]}


def plain(node):
    """What both say."""
    flags = node.get("flags", 0)
    out = {key: node[key] for key in ("name", "total", "self")}
    out["inlined"] = node.get("inlined", False) or flags & 1 > 0
    out["other"] = node.get("other", False) or flags & 4 > 0
    out["children"] = [plain(child) for child in node.get("children", [])]
    return out


def functions(node, above=(), sums=None):
    """Self and total of each function of a tree of two sides; in a recursion the outermost counts."""
    sums = {} if sums is None else sums
    own = sums.setdefault(node["name"], {"self": [0, 0], "total": [0, 0]})
    for i, side in enumerate(("before", "after")):
        own["self"][i] += node["self"][side]
        own["total"][i] += node["total"][side] if node["name"] not in above else 0
    for child in node.get("children", []):
        functions(child, above + (node["name"],), sums)
    return sums


def changes(sums):
    return {name: own for name, own in sums.items() if own["self"][0] != own["self"][1] or own["total"][0] != own["total"][1]}


def check(found, wanted):
    """FILE JSON: that both are the same tree, or that the tree has the functions of the table of a diff."""
    assert found["unit"] == wanted["unit"], (found["unit"], wanted["unit"])
    if "tree" in wanted:
        assert plain(found["tree"]) == plain(wanted["tree"]), "other trees"
        return
    table = {
        row["name"]: {name: [row[name]["before"], row[name]["after"]] for name in ("self", "total")}
        for row in wanted["functions"]
    }
    root = found["tree"]
    assert found["factor"] == wanted["factor"]
    assert [root["total"][side] for side in ("before", "after")] == [wanted[side]["total"] for side in ("before", "after")]
    tree = changes(functions(root))
    tree.pop(root["name"], None)
    assert tree == table, {name: (tree.get(name), table.get(name)) for name in tree.keys() | table.keys()}


if __name__ == "__main__":
    found = read(open(sys.argv[1], "rb").read())
    if len(sys.argv) == 2:
        print(json.dumps(found))
    else:
        check(found, json.load(open(sys.argv[2])))
        print("same")
