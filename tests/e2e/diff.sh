#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hearth diff: what grew and shrank, and what is only noise.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
pprof_of heap
pprof_of empty
before=$root/examples/checkout.folded
after=$root/examples/checkout-next.folded

# of NAME FIELD: a field of the self value of a function in the last JSON answer.
of() { NAME=$1 json '[f["self"]["'"$2"'"] for f in d["functions"] if f["name"] == __import__("os").environ["NAME"]]'; }

t "the example, as the guide shows it"
shows diff-checkout.txt hearth diff "$before" "$after"

t "order, rows, and only what is more than noise"
shows diff-checkout--cum-n8.txt hearth diff --cum -n 8 "$before" "$after"
shows diff-checkout--significant.txt hearth diff --significant "$before" "$after"
shows diff-checkout--significant-scale-totals.txt hearth diff --significant --scale totals "$before" "$after"
run hearth diff -n 0 "$before" "$after"
out_lacks "more changed"

t "JSON"
shows diff-checkout--n2.json hearth diff --json -n 2 "$before" "$after"
python3 -m json.tool .out >pretty.json || fail "this is no JSON"

t "every function's change is the difference of two tables"
run hearth top --json -n 0 "$before"
cp .out a.json
run hearth top --json -n 0 "$after"
cp .out b.json
run hearth diff --json -n 0 "$before" "$after"
same "$(python3 - a.json b.json .out <<'PYTHON'
import json, sys
a, b, d = (json.load(open(path)) for path in sys.argv[1:])
a, b = ({f["name"]: (f["self"], f["total"]) for f in side["functions"]} for side in (a, b))
wanted = {}
for name in set(a) | set(b):
    (s, t), (u, v) = a.get(name, (0, 0)), b.get(name, (0, 0))
    if (s, t) != (u, v):
        wanted[name] = (s, u, t, v)
got = {f["name"]: (f["self"]["before"], f["self"]["after"], f["total"]["before"], f["total"]["after"]) for f in d["functions"]}
print(got == wanted, len(got))
PYTHON
)" "True $(json 'len(d["functions"])')"

t "new, gone, grown and shrunk"
printf 'main;a 1000\nmain;b 1000\nmain;gone 400\nmain;same 7\n' >1.folded
printf 'main;a 2000\nmain;b 500\nmain;new 400\nmain;same 7\n' >2.folded
run hearth diff --json 1.folded 2.folded
same "$(of a delta) $(of b delta) $(of gone delta) $(of new delta) $(of same delta)" "[1000] [-500] [-400] [400] []"
same "$(of new mark) $(of gone mark) $(of a percent)" "['new'] ['gone'] [100]"
shows diff-small.txt hearth diff 1.folded 2.folded

t "two values that differ by less than chance are marked so"
printf 'main;a 1000\nmain;b 100\n' >1.folded
printf 'main;a 1020\nmain;b 400\n' >2.folded
run hearth diff --json 1.folded 2.folded
same "$(of a verdict) $(of b verdict)" "['within noise'] ['significant']"
run hearth diff --json --significant 1.folded 2.folded
same "$(json '[f["name"] for f in d["functions"]]')" "['b']"

t "--threshold leaves out what changed by less, and keeps what is new or gone"
printf 'main;a 1000\nmain;b 1000\nmain;c 1000\nmain;gone 1\n' >1.folded
printf 'main;a 1049\nmain;b 1050\nmain;c 900\nmain;new 1\n' >2.folded
run hearth diff --json --threshold 5% 1.folded 2.folded
same "$(json '[f["name"] for f in d["functions"]]')" "['c', 'b', 'gone', 'new']"
run hearth diff --json --threshold 5% --cum 1.folded 2.folded
same "$(json '[f["name"] for f in d["functions"]]')" "['c', 'b', 'gone', 'new']"
run hearth diff --threshold 5% "$before" "$before"
status_is 0
out_has "nothing changed by 5% or more"
run hearth diff --threshold 5% --significant "$before" "$before"
out_has "nothing changed by 5% or more beyond the sampling noise"
refuses 2 "--threshold" hearth diff --threshold 5 1.folded 2.folded

t "equal profiles have nothing to show"
shows diff-equal.txt hearth diff cpu.pb cpu.pb
run hearth diff --significant cpu.pb cpu.pb
out_has "nothing changed beyond the sampling noise"
run hearth diff --json cpu.pb cpu.pb
same "$(json 'd["functions"]')" "[]"

t "profiles of other lengths compare as shares or as rates"
hearth convert cpu.pb cpu.pb twice.pb.gz
run hearth diff cpu.pb twice.pb.gz
out_has "--scale totals"
run hearth diff --json --scale totals cpu.pb twice.pb.gz
same "$(json '[d["factor"], d["functions"]]')" "[0.5, []]"
run hearth diff --json --scale durations cpu.pb twice.pb.gz
same "$(json 'd["before"]["duration_ns"], d["after"]["duration_ns"], d["factor"]')" "(10000000000, 20000000000, 0.5)"

t "from nothing and to nothing"
run hearth diff --json empty.pb cpu.pb
status_is 0
same "$(of parse delta) $(of parse mark)" "[400000000] ['new']"
run hearth diff --json cpu.pb empty.pb
same "$(of parse delta) $(of parse mark)" "[-400000000] ['gone']"
run hearth diff empty.pb empty.pb
status_is 0
out_has "nothing changed"

t "--type and the default type of A hold for both"
run hearth diff --json --type alloc_space heap.pb heap.pb
same "$(json '[d["type"], d["before"]["total"], d["after"]["total"]]')" "['alloc_space', 7667776, 7667776]"
run hearth diff --json heap.pb heap.pb
same "$(json 'd["type"]')" inuse_space
refuses 1 "the second profile has no value type 'cpu', which the first one shows" hearth diff cpu.pb heap.pb
refuses 2 "there is no value type 'cpu'; the profile has alloc_objects/count" hearth diff --type cpu cpu.pb heap.pb

t "filters hold on both sides"
run hearth diff --json --focus regex "$before" "$after"
same "$(json '[d["before"]["total"], d["after"]["total"]]')" \
    "[$(hearth top --json --focus regex "$before" | sed -n 's/^  "total": \([0-9]*\),$/\1/p'), \
$(hearth top --json --focus regex "$after" | sed -n 's/^  "total": \([0-9]*\),$/\1/p')]"

t "names beyond ASCII"
sed 's/ 5$/ 50/' "$data/unicode.folded" >grown.folded
shows diff-unicode.txt hearth diff "$data/unicode.folded" grown.folded

t "each side is named when it cannot be read"
refuses 1 "opening 'nosuch'" hearth diff nosuch cpu.pb
refuses 1 "opening 'nosuch'" hearth diff cpu.pb nosuch
refuses 2 "'hearth diff' needs two files, the one before and the one after, or --baseline and --comparison" \
    hearth diff cpu.pb
refuses 2 "has no use for the argument 'third'" hearth diff cpu.pb cpu.pb third

finish
