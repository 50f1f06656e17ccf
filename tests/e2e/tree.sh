#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hearth tree: the calls as text and JSON.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
pprof_of heap
pprof_of empty
example=$root/examples/checkout.folded

# Walks the JSON answer: every total is the node's self plus its children's totals. Prints how many nodes there are.
consistent() {
    python3 - "$work/.out" <<'PYTHON'
import json, sys

def walk(node, path):
    children = node.get("children", [])
    nodes = 1
    for child in children:
        nodes += walk(child, path + [child["name"]])
    if children and node["total"] != node["self"] + sum(child["total"] for child in children):
        sys.exit("total of %s is not the sum of its parts" % ";".join(path))
    return nodes

answer = json.load(open(sys.argv[1]))
assert answer["tree"]["total"] == answer["total"], "the root is not the total"
print(walk(answer["tree"], ["root"]))
PYTHON
}

t "the example"
shows tree-checkout--min-share-2.txt hearth tree --min-share 2% "$example"

t "every node of small inputs"
shows tree-cpu.txt hearth tree cpu.pb
shows tree-heap--alloc_space.txt hearth tree --type alloc_space heap.pb
shows tree-recursion.txt hearth tree "$data/recursion.folded"
shows tree-unicode.txt hearth tree "$data/unicode.folded"
shows tree-empty.txt hearth tree empty.pb

t "the other way up: leaves first, callers below"
shows tree-cpu--invert.txt hearth tree --invert cpu.pb
run hearth tree --invert --json --min-share 0% "$example"
same "$(consistent)" "$(json 'str(d).count("'"'name'"'")')"

t "a function that calls itself directly can be shown once"
shows tree-recursion--collapse-recursion.txt hearth tree --collapse-recursion "$data/recursion.folded"

t "--depth shows so many levels"
run hearth tree --depth 2 --min-share 0% "$example"
same "$(sed 1,2d .out | wc -l)" 4
run hearth tree --depth 2 --json --min-share 0% "$example"
same "$(json '[c["name"] for c in d["tree"]["children"][0]["children"]]')" "['start_thread', 'main']"
same "$(json 'str(d).count("children")')" 2

t "what is trimmed adds up as other, so totals stay exact"
for options in "--min-share 0%" "--min-share 5%" "--min-share 100%" "--max-nodes 1" "--max-nodes 10" "--max-nodes 40"; do
    # shellcheck disable=SC2086  # two words
    run hearth tree --json $options "$example"
    status_is 0
    nodes=$(consistent) || fail "$options: $nodes"
    same "$options: $(json 'd["tree"]["total"]')" "$options: 10000"
done
run hearth tree --json --max-nodes 10 "$example"
out_has '"other":true'
shows tree-checkout--max-nodes-12.txt hearth tree --max-nodes 12 "$example"

t "JSON"
shows tree-cpu.json hearth tree --json cpu.pb
python3 -m json.tool .out >pretty.json || fail "this is no JSON"
shows tree-empty.json hearth tree --json empty.pb

t "a stack as deep as allowed makes JSON that can be read"
awk 'BEGIN { for (i = 0; i < 1024; i++) printf "%sf%d", i ? ";" : "", i; print " 1" }' >deep.folded
run hearth tree --json deep.folded
status_is 0
same "$(python3 -c 'import json, sys; sys.setrecursionlimit(5000); n = json.load(open(sys.argv[1]))["tree"]; depth = 0
while "children" in n: n = n["children"][0]; depth += 1
print(depth, n["name"])' .out)" "1024 f1023"
run hearth tree deep.folded
same "$(wc -l <.out)" 1027

t "filters hold here too"
run hearth tree --json --focus render cpu.pb
same "$(json '[d["whole"], d["total"], d["tree"]["total"]]')" "[1000000000, 300000000, 300000000]"
run hearth tree --json --show-from render cpu.pb
same "$(json '[c["name"] for c in d["tree"]["children"]]')" "['render']"

t "wrong values are refused"
refuses 2 "--min-share: " hearth tree --min-share 0.5 "$example"
refuses 2 "--max-nodes: " hearth tree --max-nodes -1 "$example"

finish
