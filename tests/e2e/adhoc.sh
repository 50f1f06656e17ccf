#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profiles that somebody uploads to look at, apart from the store.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
printf 'main;work 10\nmain;rest 5\n' >profile.folded
hearth convert profile.folded profile.pb.gz

t "an uploaded profile is shown in every form"
start_server data
post '/api/v1/adhoc?name=my%20profile' profile.folded && answers 201 '"name":"my profile"'
id=$(json 'd["id"]')
same "${#id}" 32
same "$(json 'd["types"]')" "[{'type': 'samples', 'unit': 'count'}]"
ask "/api/v1/adhoc/$id" && answers 200 '"numTicks":15'
same "$(json '(d["total"], d["flamebearer"]["names"])')" "(15, ['total', 'main', 'rest', 'work'])"
ask "/api/v1/adhoc/$id?format=top"
same "$(json '[(f["name"], f["self"], f["total"]) for f in d["functions"]]')" "[('work', 10, 10), ('rest', 5, 5), ('main', 0, 15)]"
ask "/api/v1/adhoc/$id?format=folded"
same "$(printf '%s\n' "$out" | sort)" "$(sort profile.folded)"
run curl -s -o back.pb.gz "$url/api/v1/adhoc/$id?format=pprof"
run hearth convert back.pb.gz - --to folded
same "$(printf '%s\n' "$out" | sort)" "$(sort profile.folded)"
run curl -s -o tree.flame "$url/api/v1/adhoc/$id?format=flame"
same "$(python3 "$root/tests/e2e/read_flame.py" tree.flame | python3 -c 'import json, sys; print(json.load(sys.stdin)["tree"]["total"])')" 15

t "two of them are shown side by side"
printf 'main;work 30\nmain;new 5\n' >after.folded
post /api/v1/adhoc after.folded && answers 201 ''
second=$(json 'd["id"]')
# sides OPTIONS: before and after of the root and its only child's children, and the factor.
sides() {
    run curl -s -o both.flame "$url/api/v1/adhoc/$id?against=$second&format=flame$1"
    python3 "$root/tests/e2e/read_flame.py" both.flame | python3 -c '
import json, sys
found = json.load(sys.stdin)
nodes = [found["tree"]] + found["tree"]["children"][0]["children"]
print(found["factor"], *((n["name"], n["total"]["before"], n["total"]["after"]) for n in nodes))'
}
same "$(sides '')" "1.0 ('root', 15, 35) ('work', 10, 30) ('new', 0, 5) ('rest', 5, 0)"
same "$(sides '&scale=totals' | cut -c 1-33)" "0.42857142857142855 ('root', 15, "
ask "/api/v1/adhoc/$id?against=$second&format=top" && answers 400 'side by side are there as format=flame and html only'
ask "/api/v1/adhoc/$id?against=nothing&format=flame" && answers 404 "against: there is no uploaded profile with the id 'nothing'"
ask "/api/v1/adhoc/$id?against=$second&format=flame&scale=x" && answers 400 "scale: 'x' is not known"
ask "/api/v1/adhoc/$id?against=$second&format=flame&scale=durations" && answers 400 'does not say how long it took'
ask "/api/v1/adhoc/$second" -X DELETE && answers 204 ''

t "whatever can be read can be uploaded, and nothing else"
post /api/v1/adhoc profile.pb.gz && answers 201 '"name":"profile"'
printf 'no profile at all' >junk
post /api/v1/adhoc junk
same "$code" 415
: >empty
post /api/v1/adhoc empty && answers 400 'the body is empty; it should be a profile'
post /api/v1/adhoc profile.folded -H 'Origin: http://evil.example' && answers 403 'may not change anything'
ask "/api/v1/adhoc/$id?format=nonsense" && answers 400 "format: 'nonsense' is not known; flamebearer, flame, html, top"
ask "/api/v1/adhoc/$id?type=cpu" && answers 400 "the profile has no type 'cpu', but samples"
ask "/api/v1/adhoc/$id?max-nodes=0" && answers 400 "max-nodes: '0' is not a number from 1 to 1048576"

t "they are listed, outlive the server, and are in no query"
stop_server
start_server data
ask /api/v1/adhoc
same "$(json '[(p["name"], p["bytes"]) for p in d["profiles"]]')" "[('profile', $(wc -c <profile.pb.gz)), ('my profile', 25)]"
ask /api/v1/series
out_lacks 'service_name'

t "they are there by remote calls, too"
# call PROCEDURE JSON: keeps $code and $out.
call() { ask "/adhocprofiles.v1.AdHocProfileService/$1" -H 'Content-Type: application/json' --data-binary "$2"; }
call Upload "{\"name\": \"called\", \"profile\": \"$(printf 'main;work 4\nmain;idle 1\n' | base64 -w0)\"}" &&
    answers 200 '"profileType":"samples","profileTypes":["samples"]'
other=$(json 'd["id"]')
call Get "{\"id\": \"$other\", \"profileType\": \"samples\"}" && answers 200 '"name":"called"'
same "$(json '(lambda p: (p["flamebearer"]["numTicks"], p["metadata"]["units"], p["version"]))(json.loads(d["flamebearerProfile"]))')" "(5, 'objects', 1)"
call List '{}'
same "$(json '[p["name"] for p in d["profiles"]]')" "['called', 'profile', 'my profile']"
call Diff "{\"leftId\": \"$id\", \"rightId\": \"$other\"}" && answers 200 '"profileTypes":["samples"]'
same "$(json '(lambda p: (p["leftTicks"], p["rightTicks"], p["metadata"]["format"]))(json.loads(d["flamebearerProfile"]))')" "(15, 5, 'double')"
call Get '{"id": "nothing"}' && answers 404 "there is no uploaded profile with the id 'nothing'"
call Upload '{"name": "x", "profile": "@"}' && answers 400 'profile: not base64 at offset 0 of 1'
call Upload '{"name": "x"}' && answers 400 'profile: missing'
call Diff "{\"leftId\": \"$id\"}" && answers 404 'right_id: there is no uploaded profile'
ask "/api/v1/adhoc/$other" -X DELETE && answers 204 ''

t "they are forgotten by id, and expire"
ask "/api/v1/adhoc/$id" -X DELETE && answers 204 ''
ask "/api/v1/adhoc/$id" && answers 404 "there is no uploaded profile with the id '$id'; it may have expired"
ask "/api/v1/adhoc/..%2F..%2Fmeta" && answers 404 'there is no uploaded profile with the id'
stop_server
start_server data --adhoc-retention 1ms --adhoc-size 1MiB
post /api/v1/adhoc profile.folded && answers 201 ''
id=$(json 'd["id"]')
sleep 0.01
ask "/api/v1/adhoc/$id" && answers 404 'it may have expired'
ask /api/v1/adhoc
same "$(json '[p["name"] for p in d["profiles"]]')" "['profile']"
stop_server
finish
