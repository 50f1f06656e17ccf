#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hearth peek: callers and callees.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
pprof_of heap
pprof_of empty
example=$root/examples/checkout.folded

t "who calls a function, and what it calls"
shows peek-checkout-parse_object.txt hearth peek 'json::parse_object' "$example"
shows peek-cpu-parse.txt hearth peek parse cpu.pb
shows peek-heap-Decode--alloc_objects.txt hearth peek --type alloc_objects Decode heap.pb

t "every function that matches is shown, the largest first"
run hearth peek --json 'parse|scan' cpu.pb
same "$(json '[f["name"] for f in d["functions"]]')" "['parse', 'scan']"
run hearth peek --json '^s' cpu.pb
same "$(json '[f["name"] for f in d["functions"]]')" "['serve', 'scan']"

t "a call that recurs in a sample counts once"
shows peek-recursion-walk.txt hearth peek walk "$data/recursion.folded"
run hearth peek --json '^render$' cpu.pb
same "$(json 'd["functions"][0]["total"]')" 300000000

t "names beyond ASCII match and print"
run hearth peek 数 "$data/unicode.folded"
status_is 0
out_has "from 数える"
out_has "to 数"
run hearth peek 'größe' "$data/unicode.folded"
out_has "größe berechnen"

t "-n limits the callers and callees of each, and the rest is added up"
run hearth peek -n 2 '^checkout::Handler::place_order$' "$example"
status_is 0
same "$(grep -c '    to ' .out)" 3
out_has "others"
run hearth peek -n 0 '^checkout::Handler::place_order$' "$example"
out_lacks "others"

t "JSON"
shows peek-cpu-parse.json hearth peek --json parse cpu.pb

t "names of any length are printed whole"
long=$(awk 'BEGIN { for (i = 0; i < 100; i++) printf "namespace%d::", i }')function
printf 'main;%s;leaf 3\n' "$long" >long.folded
run hearth peek '^leaf$' long.folded
out_has "from $long"
run hearth peek '^main$' long.folded
out_has "to $long"

t "no match is an error that says where names are listed"
refuses 1 "no function matches 'nosuch'; 'hearth top' lists their names" hearth peek nosuch "$example"
refuses 1 "no function matches" hearth peek . empty.pb

t "a pattern that is none is told with its place"
run hearth peek 'a(b' "$example"
[ "$status" != 0 ] || fail "it was taken"
err_has "'a(b': missing closing parenthesis at position 3"

t "filters hold here too"
run hearth peek --json --tagfocus route=/cart '^serve$' cpu.pb
same "$(json 'd["functions"][0]["total"]')" 650000000

finish
