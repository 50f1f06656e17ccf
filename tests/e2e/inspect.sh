#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hearth inspect: what is in a file.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
pprof_of heap
pprof_of empty
pprof_of damaged
example=$root/examples/checkout.folded

t "types, labels, mappings, comments and counts"
shows inspect-checkout.txt hearth inspect "$example"
shows inspect-cpu.txt hearth inspect cpu.pb
shows inspect-heap.txt hearth inspect heap.pb
shows inspect-empty.txt hearth inspect empty.pb

t "a file of several services shows each: resource, scope, spans, events"
shows inspect-service.txt hearth inspect "$data/service.otlp.json"
run hearth inspect --json "$data/service.otlp.json"
same "$(json '[p["resource"]["service.name"] for p in d["profiles"]]')" "['shop', 'billing']"

t "JSON"
shows inspect-heap.json hearth inspect --json heap.pb
python3 -m json.tool .out >pretty.json || fail "this is no JSON"
shows inspect-checkout.json hearth inspect --json "$example"

t "damage is counted, in text on standard error and in JSON"
run hearth inspect damaged.pb
status_is 0
err_has "sample refers to a missing location; dropped (sample 1, location 99)"
out_has "samples   3 in 3 stacks"
run hearth inspect --json damaged.pb
status_is 0
same "$(json '[[w["count"], w["first"]] for w in d["warnings"]]')" \
    "[[1, 'sample 1, location 99'], [1, 'sample 2, 1 values for 2 types'], [1, 'sample 3, string 5000 of 12']]"

t "times are UTC unless --local"
run env TZ=XYZ-3 "$hearth" inspect cpu.pb
out_has "2026-09-21T14:13:20.000Z"
run env TZ=XYZ-3 "$hearth" inspect --local cpu.pb
out_has "2026-09-21T17:13:20.000+03:00"

t "several files are merged first"
run hearth inspect --json cpu.pb "$example"
same "$(json '[d["files"], len(d["profiles"]), d["profiles"][0]["samples"]]')" "[2, 1, 75]"
run hearth inspect cpu.pb cpu.pb
out_has "2 files merged"

t "odd text of a file cannot drive the terminal"
cat >escape.json <<'JSON'
{"types": [["cpu\u001b[1m", "count"]], "comments": ["\u001b]0;title\u0007"],
 "mapping": {"start": 4096, "limit": 8192, "file": "/bin/\u001b[5mblink", "build_id": "\u001b[7m"},
 "samples": [{"stack": ["main", "\u001b[31mred\u0007\r"], "values": [3], "labels": {"k\u001b[2J": "v\u001b[2J"}}]}
JSON
python3 "$data/encode_pprof.py" escape.json escape.pb
for command in inspect top tree "peek ."; do
    # shellcheck disable=SC2086  # two words
    run hearth $command escape.pb
    status_is 0
    case $out in *"$(printf '\033')"* | *"$(printf '\007')"* | *"$(printf '\r')"*)
        fail "control characters went through '$command':" "$(cat -v .out)" ;;
    esac
done
run hearth top --type nosuch escape.pb
case $errout in *"$(printf '\033')"*) fail "control characters went through an error" ;; esac

t "a file that is none is an error"
refuses 1 "opening 'nosuch'" hearth inspect nosuch
: >nothing
refuses 1 "reading 'nothing': there is nothing in it" hearth inspect nothing

finish
