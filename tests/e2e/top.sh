#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hearth top: tables and JSON over small fixed inputs.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
pprof_of heap
pprof_of empty
example=$root/examples/checkout.folded

# total_with OPTION...: the total of cpu.pb under filters.
total_with() {
    run hearth top --json "$@" cpu.pb
    status_is 0
    json 'd["total"]'
}
# functions: names of the last JSON answer, in order.
functions() { json '" ".join(f["name"] for f in d["functions"])'; }

t "the example, as the README shows it"
shows top-checkout.txt hearth top "$example"

t "rows, order and units"
shows top-checkout--n5.txt hearth top -n 5 "$example"
shows top-checkout--cum-n12.txt hearth top --cum -n 12 "$example"
shows top-cpu.txt hearth top cpu.pb
shows top-heap.txt hearth top heap.pb

t "-n 0 and more than there are show all, --rows is -n"
run hearth top -n 0 "$example"
out_lacks "more functions"
same "$(wc -l <.out)" 115
same "$(hearth top -n 5000 "$example")" "$out"
same "$(hearth top --rows 5 "$example")" "$(hearth top -n 5 "$example")"

t "a function that calls itself is counted once"
shows top-recursion--cum.txt hearth top --cum "$data/recursion.folded"

t "names beyond ASCII stay whole and aligned"
shows top-unicode.txt hearth top "$data/unicode.folded"

t "a profile without samples is an empty table"
shows top-empty.txt hearth top empty.pb
run hearth top --json empty.pb
same "$(json '[d["total"], d["functions"], d["functions_total"]]')" "[0, [], 0]"

t "JSON"
run hearth top --json heap.pb
same "$(json '[[f["name"], f["self"], f["total"], f["inlined"]] for f in d["functions"][:3]]')" \
    "[['cache.grow', 2621440, 2621440, True], ['json.Decode', 2048, 2048, False], ['main', 64, 2623552, False]]"
shows top-cpu--cum-n3.json hearth top --json --cum -n 3 cpu.pb
run hearth top --json "$data/unicode.folded"
same "$(json 'd["functions"][0]["name"] == "\u6570"')" True
run hearth top --json -n 0 "$example"
same "$(json 'sum(f["self"] for f in d["functions"])')" 10000
same "$(json 'len(d["functions"]) == d["functions_total"]')" True

t "--type takes a type or type/unit"
for type in alloc_objects alloc_space inuse_objects inuse_space; do
    run hearth top --json --type "$type" heap.pb
    same "$(json 'd["type"]')" "$type"
done
run hearth top --json --type alloc_objects heap.pb
same "$(json 'd["total"]')" 5401
run hearth top --json --type alloc_space/bytes heap.pb
same "$(json 'd["total"]')" 7667776
refuses 2 "there is no value type 'alloc_space/count'; the profile has alloc_objects/count," \
    hearth top --type alloc_space/count heap.pb

t "the default type is the profile's, else the last"
run hearth top --json heap.pb
same "$(json 'd["type"]')" inuse_space
run hearth top --json cpu.pb
same "$(json 'd["type"]')" cpu

t "several files are merged"
run hearth top --json cpu.pb cpu.pb cpu.pb
same "$(json '[d["profiles"], d["total"], d["functions"][0]["self"]]')" "[3, 3000000000, 1200000000]"

t "- is standard input"
run_on cpu.pb hearth top -
status_is 0
golden top-cpu.txt

t "granularity: functions, files, lines, addresses"
run hearth top --json --granularity file cpu.pb
same "$(functions)" "main.c"
run hearth top --json --granularity line cpu.pb
same "$(json 'len(d["functions"])')" 7
shows top-cpu--granularity-line.txt hearth top --granularity line cpu.pb
run hearth top --json --granularity address cpu.pb
out_has "400010"

t "--focus and --ignore choose samples"
same "$(total_with --focus render)" 300000000
same "$(total_with --focus 'is_space|collect')" 300000000
same "$(total_with --ignore render)" 700000000
same "$(total_with --focus parse --ignore scan)" 400000000
same "$(total_with --focus '/usr/bin/shop')" 1000000000
same "$(total_with --focus 'main\.c')" 1000000000
same "$(total_with --focus 'no such function')" 0

t "a filter that matches nothing is told"
run hearth top --focus 'no such function' cpu.pb
status_is 0
err_has "warning: "
err_has "focus matches no frame"
run hearth top --tagignore route=/nowhere cpu.pb
err_has "tagignore matches no sample"

t "shares of a selection are of the whole"
shows top-cpu--focus-render.txt hearth top --focus render cpu.pb
run hearth top --json --focus render cpu.pb
same "$(json '[d["whole"], d["total"]]')" "[1000000000, 300000000]"

t "--hide and --show remove frames and keep samples"
same "$(total_with --hide parse)" 1000000000
same "$(json '[f["self"] for f in d["functions"] if f["name"] == "serve"]')" "[400000000]"
same "$(total_with --show 'serve|parse')" 950000000
same "$(functions)" "parse serve"

t "--show-from begins at the matching frame"
same "$(total_with --show-from serve)" 950000000
same "$(json '"main" in [f["name"] for f in d["functions"]]')" False

t "--tagfocus and --tagignore choose by label"
same "$(total_with --tagfocus route=/cart)" 650000000
same "$(total_with --tagfocus route=/cart --tagignore route=/pay)" 650000000
same "$(total_with --tagignore route=/cart)" 350000000
same "$(total_with --tagfocus '/pay')" 300000000
run hearth top --json --type alloc_objects --tagfocus bytes=100b:1kb heap.pb
same "$(json 'd["total"]')" 5300

t "a pattern that is none is told with its place"
refuses 2 "--focus: " hearth top --focus 'a(b' cpu.pb
err_has "a(b"

finish
