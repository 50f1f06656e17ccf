#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The flame format, read by a reader that knows docs/format-flame.md alone, against the tree as JSON.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
# check OPTIONS...: the same tree in both forms.
check() {
    run hearth query --data-dir data api --format json -o tree.json "$@"
    status_is 0
    run hearth query --data-dir data api --format flame -o tree.flame "$@"
    status_is 0
    same "$(python3 "$root/tests/e2e/read_flame.py" tree.flame tree.json 2>&1)" same
}
python3 -c '
for a in range(40):
    for b in range(30):
        print(f"main;loop;f{a % 7};g{b % 5};h{a % 3};leaf {a * b + 1}")
        print(f"main;loop;f{a % 7};g{b % 5} 3")
print("main;odd\\name;\u00e9 1000000000000")
' >profile.folded
run hearth import --data-dir data --label service_name=api profile.folded

t "is the tree as JSON has it"
check --max-nodes 10
check --path 'main;loop'
check --path 'main;odd\name'
check --path 'main;odd\\name'
check --invert --max-nodes 10000
check --max-nodes 100000
cp tree.flame all.flame
[ "$(wc -c <all.flame)" -lt "$(($(wc -c <tree.json) / 5))" ] || fail "not much smaller than JSON"

t "of nothing is a root"
run hearth query --data-dir data api --format flame -o tree.flame --until now-30d --from now-31d
same "$(python3 "$root/tests/e2e/read_flame.py" tree.flame)" \
    '{"unit": "count", "samples": [0], "divisor": 1, "tree": {"name": "root", "total": 0, "self": 0}}'

# written SERVICE PYTHON: what the tree of a service was read as, as `found`, fulfils the assertions.
written() {
    run hearth query --data-dir shops "$1" --from 2026-09-21 --until 2026-09-22 --format flame -o "$1.flame"
    status_is 0
    python3 "$root/tests/e2e/read_flame.py" "$1.flame" >"$1.json"
    python3 -c "import json; found = json.load(open('$1.json')); first = found['tree']['children'][0]
$2" 2>.err || fail "not so:" "$(cat .err "$1.json")"
}

t "says where functions are, and leaves out what all values share"
pprof_of cpu
run hearth import --data-dir shops --max-age 36500d --label service_name=shop cpu.pb
run hearth import --data-dir shops --max-age 36500d "$data/service.otlp.json" --label service_name=traced
written shop '
assert found["divisor"] == 50000000 and found["unit"] == "nanoseconds" and found["samples"] == [100]
assert first["module"] == "/usr/bin/shop" and first["file"] == "main.c" and first["line"] == 3
assert "module" not in found["tree"]'
written traced 'assert found["divisor"] == 1 and first["file"] == "/src/main.c"'

t "is the same from a server, and has a type"
start_server data
run curl -s -D head -o served.flame "$url/api/v1/flamegraph?query=api&format=flame&max-nodes=100000"
same_file served.flame all.flame
grep -qi '^content-type: application/vnd.hearth.flame' head || fail "another type:" "$(cat head)"
run curl -s --compressed -o served.flame "$url/api/v1/flamegraph?query=api&format=flame&max-nodes=100000"
same_file served.flame all.flame
run hearth query --url "$url" api --format flame --max-nodes 100000 -o served.flame
same_file served.flame all.flame
stop_server

t "has both sides of a diff"
sed -e 's/odd\\name/new/' -e 's/;f3;/;f9;/' profile.folded >after.folded
run hearth import --data-dir data --label service_name=after after.folded
run hearth diff --baseline api --comparison after --data-dir data --json -n 0
mv .out diff.json
run hearth diff --baseline api --comparison after --data-dir data --format flame --min-share 0% -o diff.flame
status_is 0
same "$(python3 "$root/tests/e2e/read_flame.py" diff.flame diff.json 2>&1)" same
run hearth diff profile.folded after.folded --format flame --min-share 0% -o files.flame
same_file files.flame diff.flame
run hearth diff --baseline api --comparison after --data-dir data --format flame --path 'main;loop' --max-nodes 3 -o part.flame
python3 "$root/tests/e2e/read_flame.py" part.flame >part.json
python3 "$root/tests/e2e/read_flame.py" diff.flame >whole.json
python3 -c '
import json
part, whole = (json.load(open(name))["tree"] for name in ("part.json", "whole.json"))
loop = next(node for node in whole["children"][0]["children"] if node["name"] == "loop")
assert part["name"] == "loop" and part["total"] == loop["total"], (part, loop["total"])
assert "other" in str(part)
' || fail "another part" "$(cat part.json)"
run hearth diff profile.folded after.folded --format flame --path 'main;loop' --max-nodes 3 -o files.flame
same_file files.flame part.flame
refuses 1 "no stack begins with 'nothing'" hearth diff --baseline api --comparison after --data-dir data --format flame --path nothing -o x
refuses 2 "--path begins a tree elsewhere; add --format flame or html" hearth diff --path main profile.folded after.folded
refuses 2 "--json writes the table, and --format flame a tree" hearth diff --json --format flame profile.folded after.folded

t "has them from a server, too"
start_server data
run curl -s -D head -o served.flame "$url/api/v1/diff?baseline=api&comparison=after&format=flame&min-share=0%25"
same_file served.flame diff.flame
grep -qi '^content-type: application/vnd.hearth.flame' head || fail "another type:" "$(cat head)"
run hearth diff --url "$url" --baseline api --comparison after --format flame --min-share 0% -o served.flame
same_file served.flame diff.flame
stop_server

t "goes with no other form"
refuses 2 "--json and --format flame are two forms of a tree" hearth query --data-dir data api --format flame --json
finish
