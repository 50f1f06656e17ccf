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
check --invert --max-nodes 10000
check --max-nodes 100000
cp tree.flame all.flame
[ "$(wc -c <all.flame)" -lt "$(($(wc -c <tree.json) / 5))" ] || fail "not much smaller than JSON"

t "of nothing is a root"
run hearth query --data-dir data api --format flame -o tree.flame --until now-30d --from now-31d
same "$(python3 "$root/tests/e2e/read_flame.py" tree.flame)" '{"unit": "count", "tree": {"name": "root", "total": 0, "self": 0}}'

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

t "goes with no other form"
refuses 2 "--json and --format flame are two forms of a tree" hearth query --data-dir data api --format flame --json
finish
