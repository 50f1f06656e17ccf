#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# /render, /render-diff and the paths of labels as scripts and pages use them: flame graphs, graphs for Graphviz, pprof,
# the status of each path for each sort of mistake, and sums that are those of the command line.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"

cpu=process_cpu:cpu:nanoseconds:cpu:nanoseconds
now=$(date +%s)
# ingest NAME SECONDS-AGO: what standard input has, as it was ten seconds long.
ingest() {
    cat >profile.folded
    from=$((now - $2))
    post "/ingest?name=$1&sampleRate=100&from=$from&until=$((from + 10))" profile.folded -g && answers 200 ""
}
# ask_raw PATH ARGUMENTS...: with braces and quotes as they are.
ask_raw() { ask "$@" -g; }
ticks() { json 'd["flamebearer"]["numTicks"]'; }

t "profiles of two versions are there"
start_server data
printf 'main;handle;parse 30\nmain;handle;render 60\nmain 10\n' | ingest 'order-service.cpu{env=production,version=1.2.3}' 1200
printf 'main;handle;parse 90\nmain;handle;render 60\n' | ingest 'order-service.cpu{env=production,version=1.2.4}' 600
printf 'main;wait 5\n' | ingest 'order-service.cpu{env=staging,version=1.2.4}' 600
printf 'main;hold 1000\n' | ingest 'order-service.inuse_space{env=production}' 900
printf 'main;hold 3000\n' | ingest 'order-service.inuse_space{env=production}' 800
printf 'main;rest 7\n' | ingest 'web.v2.cpu' 300

t "the query of the guides gives a flame graph"
ask_raw '/render?query=order-service.cpu{env=production}&from=now-1h&until=now' && answers 200 '"flamebearer"'
same "$(ticks)" 2500000000
same "$(json 'd["flamebearer"]["levels"][0]')" '[0, 2500000000, 0, 0]'
same "$(json 'd["flamebearer"]["names"][0]')" total
same "$(json 'sorted(d["flamebearer"]["names"])')" "['handle', 'main', 'parse', 'render', 'total']"
same "$(json 'd["metadata"]')" \
    "{'format': 'single', 'spyName': '', 'sampleRate': 1000000000, 'units': 'samples', 'name': 'cpu'}"
same "$(json 'sorted(d)')" "['flamebearer', 'groups', 'heatmap', 'metadata', 'timeline', 'version']"
same "$(json 'sum(d["timeline"]["samples"])')" 2500000000
same "$(json 'len(d["timeline"]["samples"]) == 240 and d["timeline"]["durationDelta"]')" 15

t "braces and quotes may be raw or escaped, on every version of HTTP"
for query in 'order-service.cpu{env="production"}' 'order-service.cpu%7Benv%3Dproduction%7D' \
    "$cpu{service_name=\"order-service\",env=~\"prod.*\"}" \
    "$cpu%7Bservice_name%3D%22order-service%22%2C%20env%21%3D%22staging%22%7D"; do
    for version in --http1.1 --http2-prior-knowledge; do
        ask_raw "/pyroscope/render?query=$query" "$version" && answers 200 '"flamebearer"'
        same "$(ticks)" 2500000000
    done
done

t "without times the last hour is meant"
printf 'main;old 1\n' | ingest 'old.cpu' 5400
ask '/render?query=old.cpu' && answers 200 ''
same "$(ticks)" 0
ask '/render?query=old.cpu&from=now-2h' && answers 200 ''
same "$(ticks)" 10000000

t "two versions are compared as the guides compare them"
cat >compare.py <<'PYTHON'
# What changed between two versions, by what /render gives for each: epoch times, and the first row of levels.
import json, sys, urllib.parse, urllib.request
base, service, start, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
def total(version):
    parameters = {"query": "%s.cpu{version=%s}" % (service, version), "from": start, "until": end, "format": "json"}
    with urllib.request.urlopen(base + "/render?" + urllib.parse.urlencode(parameters), timeout=30) as answer:
        return json.load(answer)["flamebearer"]["levels"][0][1]
old, new = total("1.2.3"), total("1.2.4")
print("%d %d %+.1f%%" % (old, new, 100 * (new - old) / old))
PYTHON
same "$(python3 compare.py "$url" order-service $((now - 3600)) "$now" 2>&1)" "1000000000 1550000000 +55.0%"

t "a diff has both sides"
for place in /render/diff /render-diff /pyroscope/render-diff; do
    ask_raw "$place?leftQuery=order-service.cpu{version=1.2.3}&rightQuery=order-service.cpu{version=1.2.4}" &&
        answers 200 '"format":"double"'
    same "$(json '(d["leftTicks"], d["rightTicks"], d["flamebearer"]["numTicks"])')" \
        "(1000000000, 1550000000, 2550000000)"
    same "$(json 'd["flamebearer"]["levels"][0]')" '[0, 1000000000, 0, 0, 1550000000, 0, 0]'
    same "$(json 'd["timeline"]')" None
done

t "times and nodes of a diff are each side's own"
ask_raw "/render-diff?leftQuery=order-service.cpu&leftUntil=$((now - 900))&rightQuery=order-service.cpu&rightFrom=$((now - 900))&max-nodes=1" &&
    answers 200 ''
same "$(json '(d["leftTicks"], d["rightTicks"])')" "(1000000000, 1550000000)"
same "$(json '"other" in d["flamebearer"]["names"]')" True

t "the timeline is given for each value of a label"
ask_raw '/render?query=order-service.cpu{}&groupBy=env' && answers 200 ''
same "$(json '{k: sum(v["samples"]) for k, v in sorted(d["groups"].items())}')" \
    "{'production': 2500000000, 'staging': 50000000}"

t "levels are added up, as Pyroscope adds them up"
ask '/render?query=order-service.inuse_space' && answers 200 '"units":"bytes"'
same "$(ticks)" 4000

t "a graph for Graphviz"
ask '/render?query=order-service.cpu&format=dot' && answers 200 'digraph "cpu" {'
out_has 'main\n100ms (3.92%)\nof 2.55s (100%)'
[ "$(grep -c -- '->' .out)" = 4 ] || fail "there are four calls:" "$out"
ask "/render?query=$cpu%7Bservice_name=%22nobody%22%7D&format=dot" && answers 200 ""
same "$out" ""

t "pprof, which other tools read"
curl -s -g -o profile.pb.gz "$url/render?query=order-service.cpu{version=1.2.4}&format=pprof"
run hearth query --data-dir data 'order-service.cpu{version=1.2.4}' -o query.pb.gz
status_is 0
same_file profile.pb.gz query.pb.gz
run hearth top profile.pb.gz
out_has parse

t "sums are those of the command line"
for query in "order-service.cpu" 'order-service.cpu{env="production"}' order-service.inuse_space web.v2.cpu "$cpu{}"; do
    run hearth query --data-dir data "$query" --pyroscope-sums --format json
    wanted=$(json 'd["total"]')
    ask_raw "/render?query=$query" && answers 200 ''
    same "$(ticks)" "$wanted"
done

t "labels and their values"
ask /labels && answers 200 ''
same "$out" '["__name__","env","pyroscope_spy","service_name","version"]'
ask_raw '/labels?query=web.v2.cpu' && answers 200 '["__name__","pyroscope_spy","service_name"]'
for place in /label-values /pyroscope/label-values; do
    ask "$place?label=version" && answers 200 ''
    same "$out" '["1.2.3","1.2.4"]'
    ask_raw "$place?label=version&query={env=\"staging\"}" && answers 200 ''
    same "$out" '["1.2.4"]'
    ask "$place?label=__name__" && answers 200 ''
    same "$(json 'd')" "['memory:inuse_space:bytes::', '$cpu']"
done

t "every path has the status that is meant"
# status WANTED PATH ARGUMENTS...
status() {
    wanted=$1
    shift
    ask_raw "$@"
    [ "$code" = "$wanted" ] || fail "$* is $code, wanted $wanted:" "$out"
    case $code$out in
    200* | 4??'{"code":"'*'","message":"'*'"}') ;;
    *) fail "$* is refused in another way:" "$out" ;;
    esac
}
for place in /render /pyroscope/render; do
    status 200 "$place?query=$cpu{}"
    status 400 "$place"
    status 400 "$place?query="
    status 400 "$place?query={}"
    status 400 "$place?query=$cpu{env"
    status 400 "$place?query=a:b:c{}"
    status 400 "$place?query=a:b:c:d:e:f:g{}"
    status 200 "$place?query=$cpu:delta{}"
    status 200 "$place?query=unknown:type:of:a:profile{}"
    status 404 "$place?query=nobody.cpu{}"
    status 404 "$place?query=order-service.wall{}"
    status 400 "$place?query=$cpu{}&from=0"
    status 400 "$place?query=$cpu{}&until=0"
    status 400 "$place?query=$cpu{}&from=yesterday"
    status 200 "$place?query=$cpu{}&from=now&until=now"
    status 200 "$place?query=$cpu{}&from=now-3d&until=now-2d"
    status 400 "$place?query=$cpu{}&from=now&until=now-1h"
    status 200 "$place?query=$cpu{}&max-nodes=junk"
    status 400 "$place?query=$cpu{}&max-nodes=1048577"
    status 200 "$place?query=$cpu{}&format=junk"
done
for place in /render-diff /render/diff /pyroscope/render-diff; do
    status 200 "$place?leftQuery=$cpu{}&rightQuery=$cpu{}"
    status 400 "$place"
    status 400 "$place?leftQuery=$cpu{}"
    status 400 "$place?rightQuery=$cpu{}"
    status 400 "$place?leftQuery=$cpu{}&rightQuery=$cpu{env"
    status 400 "$place?leftQuery=$cpu{}&rightQuery=wall:wall:nanoseconds:wall:nanoseconds{}"
    status 200 "$place?leftQuery=unknown:type:of:a:profile{}&rightQuery=unknown:type:of:a:profile{}"
    status 200 "$place?leftQuery=$cpu{}&rightQuery=$cpu{}&leftFrom=now&leftUntil=now"
    status 400 "$place?leftQuery=$cpu{}&rightQuery=$cpu{}&rightFrom=now&rightUntil=now-1h"
    status 400 "$place?leftQuery=$cpu{}&rightQuery=$cpu{}&leftFrom=0"
    status 400 "$place?leftQuery=$cpu{}&rightQuery=$cpu{}&max-nodes=1048577"
done
for place in /label-values /pyroscope/label-values; do
    status 200 "$place?label=env"
    status 400 "$place"
    status 400 "$place?label=env&query={env"
    status 200 "$place?label=env&query=unknown:type:of:a:profile{}"
    status 200 "$place?label=env&from=now&until=now"
    status 400 "$place?label=env&from=now&until=now-1h"
done
status 200 /labels
status 400 '/labels?query={env'
status 400 '/labels?from=now&until=now-1h'
for place in /render /pyroscope/render /render-diff /render/diff /pyroscope/render-diff /label-values \
    /pyroscope/label-values /labels; do
    for method in POST PUT DELETE PATCH; do
        status 405 "$place" -X $method
    done
done

t "settings of pages are kept, per tenant and over a restart"
# call PROCEDURE JSON ARGUMENTS...
call() {
    procedure=$1 body=$2
    shift 2
    ask "/$procedure" -H 'Content-Type: application/json' -d "$body" "$@"
}
stop_server
start_server tenants --multi-tenant
call settings.v1.SettingsService/Set '{"setting":{"name":"pluginSettings","value":"{}","modifiedAt":"5"}}' \
    -H 'X-Scope-OrgID: red' && answers 200 '"modifiedAt":"5"'
call settings.v1.SettingsService/Get '{}' && answers 401 'no org id'
kill_server
start_server tenants --multi-tenant
call settings.v1.SettingsService/Get '{}' -H 'X-Scope-OrgID: red' && answers 200 '"name":"pluginSettings"'
call settings.v1.SettingsService/Get '{}' -H 'X-Scope-OrgID: blue' && answers 200 '{}'
call settings.v1.SettingsService/Set '{"setting":{"name":"pluginSettings","modifiedAt":"4"}}' -H 'X-Scope-OrgID: red' &&
    answers 409 already_exists

t "what hearth does not do it says"
call settings.v1.RecordingRulesService/ListRecordingRules '{}' && answers 501 'unimplemented'
call vcs.v1.VCSService/GithubApp '{}' && answers 501 'unimplemented'
call debuginfo.v1alpha1.DebuginfoService/ShouldInitiateUpload '{}' && answers 200 '"reason"'
call capabilities.v1.FeatureFlagsService/GetFeatureFlags '{}' && answers 200 '"v2StorageLayer"'
stop_server
status_is 0

finish
