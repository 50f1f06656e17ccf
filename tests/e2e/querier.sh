#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pyroscope's querier.v1 on the server: every procedure, by Connect in JSON and protobuf, gRPC-Web and gRPC, good and bad.
# What it adds up is what `hearth query` does.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
trace_a=4bf92f3577b34da6a3ce929d0e0e4736
trace_b=00000000000000000000000000000b0b
span_1=00f067aa0ba902b7
span_2=0000000000000002
cpu=process_cpu:cpu:nanoseconds:cpu:nanoseconds
inuse=memory:inuse_space:bytes:space:bytes
# A whole minute, some time ago.
base=$((($(date +%s) - 1800) / 60 * 60))
start=$(((base - 60) * 1000)) end=$(((base + 120) * 1000))
range="\"start\":$start,\"end\":$end"
select="$range,\"profileTypeID\":\"$cpu\",\"labelSelector\":\"{}\""

# traced FILE TIME_S VALUE: two spans of a trace, one of another, and some idle time.
traced() {
    cat >traced.json <<END
{"types": [["cpu", "nanoseconds"]], "period_type": ["cpu", "nanoseconds"], "period": 10000000,
 "time_ns": ${2}000000000, "duration_ns": 10000000000,
 "samples": [
    {"stack": ["main", "serve", "parse"], "values": [${3}00], "labels": {"span_id": "$span_1", "trace_id": "$trace_a"}},
    {"stack": ["main", "serve", "render"], "values": [${3}0], "labels": {"span_id": "$span_2", "trace_id": "$trace_a"}},
    {"stack": ["main", "serve", "parse"], "values": [${3}], "labels": {"span_id": "$span_1", "trace_id": "$trace_b"}},
    {"stack": ["main", "idle"], "values": [5000]}]}
END
    python3 "$data/encode_pprof.py" traced.json "$1" || fail "cannot encode $1"
}
# heap FILE TIME_S VALUE: a level.
heap() {
    cat >heap.json <<END
{"types": [["inuse_space", "bytes"]], "period_type": ["space", "bytes"], "period": 524288, "time_ns": ${2}000000000,
 "samples": [{"stack": ["main", "cache"], "values": [$3]}]}
END
    python3 "$data/encode_pprof.py" heap.json "$1" || fail "cannot encode $1"
}
# import FILE LABEL...
import() {
    file=$1
    shift
    run hearth import --data-dir data "$file" --label "$1" --label "$2"
    status_is 0
}
# rpc PROCEDURE JSON [json|proto|grpc-web]: what json() then looks at is {"status": ..., "answer": ...}.
rpc() {
    python3 -IS "$root/tests/e2e/querier.py" ask "$url" "$@" >.out 2>.err || fail "querier.py:" "$(cat .err)"
    out=$(cat .out)
}
# graph: the functions of the flame graph that came last, with their totals.
graph() {
    json '{d["answer"]["flamegraph"]["names"][int(v[i + 3])]: int(v[i + 1]) for l in d["answer"]["flamegraph"]["levels"] for v in [l["values"]] for i in range(0, len(v), 4)}'
}
total() { json 'int(d["answer"]["flamegraph"].get("total", 0))'; }

traced a.pb "$base" 1
traced b.pb $((base + 30)) 2
traced c.pb $((base + 60)) 3
heap m.pb "$base" 400
heap n.pb $((base + 60)) 500
import a.pb service_name=shop zone=eu
import b.pb service_name=desk zone=us
import c.pb service_name=shop zone=eu
import m.pb service_name=shop zone=eu
import n.pb service_name=shop zone=eu
start_server data

t "every procedure takes what is good and says what is not, in JSON, protobuf and gRPC-Web alike"
same "$(python3 -IS "$root/tests/e2e/querier.py" table "$url" "$start" "$end" "$cpu" 2>&1)" "all as it should be"

t "gRPC over HTTP/2"
if curl --version | grep -q HTTP2; then
    python3 -IS "$root/tests/e2e/querier.py" frame LabelNames "{$range}" >call.grpc
    run curl -s --http2-prior-knowledge -o grpc.out -D grpc.head -H 'Content-Type: application/grpc' -H 'TE: trailers' \
        --data-binary @call.grpc "$url/querier.v1.QuerierService/LabelNames"
    grep -aq service_name grpc.out || fail "there is no service_name in the answer"
    out=$(cat grpc.head) && out_has 'grpc-status: 0'
    python3 -IS "$root/tests/e2e/querier.py" frame LabelNames '{}' >call.grpc
    run curl -s --http2-prior-knowledge -o grpc.out -D grpc.head -H 'Content-Type: application/grpc' -H 'TE: trailers' \
        --data-binary @call.grpc "$url/querier.v1.QuerierService/LabelNames"
    out=$(cat grpc.head) && out_has 'grpc-status: 3'
else
    skip "curl knows no HTTP/2"
fi

t "profile types: of the range, of the last hour, and of Grafana's health check"
rpc ProfileTypes "{$range}"
same "$(json '[t["ID"] for t in d["answer"]["profileTypes"]]')" "['$inuse', '$cpu']"
same "$(json 'd["answer"]["profileTypes"][1]')" \
    "{'ID': '$cpu', 'name': 'process_cpu', 'sampleType': 'cpu', 'sampleUnit': 'nanoseconds', 'periodType': 'cpu', 'periodUnit': 'nanoseconds'}"
rpc ProfileTypes '{}' proto
same "$(json 'len(d["answer"]["profileTypes"])')" 2
rpc ProfileTypes '{"start":1000,"end":4000}' proto
same "$out" '{"status": 200, "answer": {}}'

t "labels and series, by matchers that all must hold"
rpc LabelNames "{$range}"
same "$(json '[n for n in d["answer"]["names"] if n[0] != "_"]')" "['service_name', 'zone']"
same "$(json '[n for n in d["answer"]["names"] if n[0] == "_"]')" \
    "['__name__', '__period_type__', '__period_unit__', '__profile_type__', '__service_name__', '__type__', '__unit__']"
rpc LabelValues "{$range,\"name\":\"service_name\"}"
same "$(json 'd["answer"]["names"]')" "['desk', 'shop']"
rpc LabelValues "{$range,\"name\":\"service_name\",\"matchers\":[\"{zone=~\\\"eu|us\\\"}\",\"{service_name!=\\\"desk\\\"}\"]}"
same "$(json 'd["answer"]["names"]')" "['shop']"
rpc LabelValues "{$range,\"name\":\"__profile_type__\",\"matchers\":[\"{__unit__=\\\"bytes\\\"}\"]}"
same "$(json 'd["answer"]["names"]')" "['$inuse']"
rpc LabelValues "{$range,\"name\":\"nothing\"}"
same "$(json 'd["answer"]')" "{}"
rpc LabelValues "{$range}"
same "$(json 'd["status"]')" 400
rpc Series "{$range,\"label_names\":[\"service_name\",\"__profile_type__\"]}"
same "$(json '[tuple(l["value"] for l in s["labels"]) for s in d["answer"]["labelsSet"]]')" \
    "[('$inuse', 'shop'), ('$cpu', 'desk'), ('$cpu', 'shop')]"
rpc Series "{$range,\"matchers\":[\"{service_name=\\\"desk\\\"}\"]}"
same "$(json '{l["name"]: l["value"] for l in d["answer"]["labelsSet"][0]["labels"]}["zone"]')" us
same "$(json 'len(d["answer"]["labelsSet"])')" 1

t "whether there is data, from when to when, and what a query would read"
rpc GetProfileStats '{}'
same "$(json 'd["answer"]')" \
    "{'dataIngested': True, 'oldestProfileTime': '${base}000', 'newestProfileTime': '$((base + 60))000'}"
rpc AnalyzeQuery "{$range,\"query\":\"$cpu{zone=\\\"eu\\\"}\"}"
same "$(json 'd["answer"]["queryScopes"][0]["seriesCount"]')" 1

t "a flame graph has what hearth query adds up"
rpc SelectMergeStacktraces "{$select}"
run hearth query --data-dir data --pyroscope-sums --format json --from "$((base - 60))" --until "$((base + 121))" "$cpu{}"
wanted=$(json 'd["total"]')
same "$wanted" 15666
rpc SelectMergeStacktraces "{$select}"
same "$(total)" "$wanted"
same "$(graph)" "{'total': 15666, 'main': 15666, 'idle': 15000, 'serve': 666, 'parse': 606, 'render': 60}"
rpc SelectMergeStacktraces "{$range,\"profile_typeID\":\"$inuse\",\"label_selector\":\"{service_name=\\\"shop\\\"}\"}"
same "$(total)" 900

t "the ends of a range belong to it"
rpc SelectMergeStacktraces "{\"start\":${base}000,\"end\":$((base + 60))000,\"profileTypeID\":\"$cpu\",\"labelSelector\":\"{}\"}"
same "$(total)" 15666
rpc SelectMergeStacktraces "{\"start\":${base}001,\"end\":$((base + 59))999,\"profileTypeID\":\"$cpu\",\"labelSelector\":\"{}\"}"
same "$(total)" 5222

t "small nodes go to one called other, and the total stays"
rpc SelectMergeStacktraces "{$select,\"maxNodes\":\"2\"}"
same "$(graph)" "{'total': 15666, 'main': 15666, 'idle': 15000, 'other': 666}"

t "spans, traces and profiles can be asked for"
rpc SelectMergeSpanProfile "{$select,\"spanSelector\":[\"$span_1\"]}" proto
same "$(total)" 606
rpc SelectMergeStacktraces "{$select,\"spanSelector\":[\"$span_1\",\"$span_2\"]}"
same "$(total)" 666
rpc SelectMergeStacktraces "{$select,\"trace_id_selector\":[\"$trace_b\"]}"
same "$(total)" 6
rpc SelectMergeStacktraces "{$select,\"trace_id_selector\":[\"$trace_b\"],\"span_selector\":[\"$span_1\"]}"
same "$(json 'd["status"]')" 400
rpc SelectMergeStacktraces "{$select,\"profileIdSelector\":[\"nonsense\"]}"
same "$(json 'd["status"]')" 400
out_has "profile_id_selector: 'nonsense' is no id of a profile"

t "a call site keeps what begins with it"
site='"stackTraceSelector":{"callSite":[{"name":"main"},{"name":"serve"}]}'
rpc SelectMergeStacktraces "{$select,$site}" proto
same "$(graph)" "{'total': 666, 'main': 666, 'serve': 666, 'parse': 606, 'render': 60}"
rpc SelectSeries "{$select,\"step\":180,$site}"
same "$(json 'd["answer"]["series"][0]["points"]')" "[{'value': 666, 'timestamp': '$end'}]"
rpc SelectMergeProfile "{$select,$site}"
same "$(json 'sum(int(s["value"][0]) for s in d["answer"]["sample"])')" 666

t "other formats: a tree, a graph, pprof"
rpc SelectMergeStacktraces "{$select,\"format\":\"PROFILE_FORMAT_TREE\"}"
same "$(json '__import__("base64").b64decode(d["answer"]["tree"])[:10]')" "b'\\x00\\x00\\x01\\x04main\\x00\\x02'"
rpc SelectMergeStacktraces "{$select,\"format\":3}" proto
same "$(json 'd["answer"]["dot"][:7]')" digraph
rpc SelectMergeStacktraces "{$select,\"format\":\"PROFILE_FORMAT_PPROF\"}"
same "$(json 'd["answer"]["pprof"]["profile"]["period"], d["answer"]["pprof"]["profile"]["timeNanos"]')" \
    "('1000000000', '${end}000000')"
rpc SelectMergeStacktraces "{$select,\"format\":9}"
same "$(json 'd["status"]')" 400

t "a profile is pprof that tools can read"
python3 -IS - "$root/tests/e2e" "{$select}" >request.pb <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
import querier
sys.stdout.buffer.write(querier.encode("SelectMergeProfileRequest", json.loads(sys.argv[2])))
END
ask /querier.v1.QuerierService/SelectMergeProfile -H 'Content-Type: application/proto' --data-binary @request.pb
same "$code" 200
cp .out merged.pb
run hearth query --data-dir data --pyroscope-sums --format folded --from "$((base - 60))" --until "$((base + 121))" "$cpu{}"
sort .out >wanted.folded
quietly hearth convert merged.pb merged.folded
sort merged.folded >got.folded
same_file got.folded wanted.folded

t "a diff has both sides"
rpc Diff "{\"left\":{$select},\"right\":{$range,\"profileTypeID\":\"$cpu\",\"labelSelector\":\"{zone=\\\"us\\\"}\"}}" proto
same "$(json '[d["answer"]["flamegraph"][k] for k in ("leftTicks", "rightTicks", "total")]')" "['15666', '5222', '20888']"
rpc Diff "{\"left\":{$select}}"
same "$(json 'd["status"], d["answer"]["message"]')" "(400, 'right is missing; a diff has two sides')"
rpc Diff "{\"left\":{$select},\"right\":{$range,\"profileTypeID\":\"$inuse\",\"labelSelector\":\"{}\"}}"
same "$(json 'd["status"]')" 400

t "series have their points at the end of each step"
points='[[(int(p["timestamp"]) // 1000 - '$base', p["value"]) for p in s["points"]] for s in d["answer"]["series"]]'
rpc SelectSeries "{$select,\"step\":60}"
same "$(json "$points")" "[[(0, 5111), (60, 10555)]]"
rpc SelectSeries "{$select,\"step\":60,\"groupBy\":[\"zone\",\"__type__\"]}" proto
same "$(json "$points")" "[[(0, 5111), (60, 5333)], [(60, 5222)]]"
same "$(json '[[l["value"] for l in s["labels"]] for s in d["answer"]["series"]]')" "[['cpu', 'eu'], ['cpu', 'us']]"
rpc SelectSeries "{$select,\"step\":60,\"groupBy\":[\"zone\"],\"limit\":1}"
same "$(json 'len(d["answer"]["series"])')" 1
rpc SelectSeries "{$range,\"profileTypeID\":\"$inuse\",\"labelSelector\":\"{}\",\"step\":180}"
same "$(json "$points")" "[[(120, 900)]]"
rpc SelectSeries "{$select,\"step\":60,\"exemplarType\":\"EXEMPLAR_TYPE_SPAN\"}"
same "$(json 'd["status"], d["answer"]["code"]')" "(501, 'unimplemented')"

t "an exemplar is the largest profile of its point, and can be opened"
rpc SelectSeries "{$select,\"step\":60,\"exemplarType\":\"EXEMPLAR_TYPE_INDIVIDUAL\",\"groupBy\":[\"zone\"]}"
same "$(json '[(e["value"], [l["name"] for l in e["labels"]]) for e in d["answer"]["series"][0]["points"][1]["exemplars"]]')" \
    "[('5333', ['__name__', 'service_name'])]"
profile=$(json 'd["answer"]["series"][0]["points"][1]["exemplars"][0]["profileId"]')
rpc SelectMergeStacktraces "{$select,\"profileIdSelector\":[\"$profile\"]}"
same "$(total)" 5333

t "heatmaps count profiles, or spans, in twenty buckets"
rpc SelectHeatmap "{$select,\"step\":60,\"queryType\":\"HEATMAP_QUERY_TYPE_INDIVIDUAL\",\"exemplarType\":2}"
same "$(json '[(int(s["timestamp"]) // 1000 - '"$base"', s["counts"]) for s in d["answer"]["series"][0]["slots"]]')" \
    "[(0, [1$(printf ', 0%.0s' $(seq 19))]), (60, [0$(printf ', 0%.0s' $(seq 9)), 1$(printf ', 0%.0s' $(seq 8)), 1])]"
same "$(json 'd["answer"]["series"][0]["slots"][0]["yMin"][:3]')" "[5111, 5122, 5133]"
same "$(json '[e["value"] for s in d["answer"]["series"][0]["slots"] for e in s["exemplars"]]')" "['5111', '5222', '5333']"
rpc SelectHeatmap "{$select,\"step\":60,\"queryType\":2,\"exemplarType\":3,\"groupBy\":[\"zone\"]}" proto
same "$(json '[(s["labels"][0]["value"], sum(map(sum, [t["counts"] for t in s["slots"]]))) for s in d["answer"]["series"]]')" \
    "[('eu', 6), ('us', 3)]"
same "$(json '{e["spanId"] for s in d["answer"]["series"] for t in s["slots"] for e in t["exemplars"]} == {"'$span_1'", "'$span_2'"}')" True
rpc SelectHeatmap "{$select,\"step\":60,\"queryType\":2,\"exemplarType\":2}"
same "$(json 'd["status"]')" 400

t "profiles for Go's compiler have the frames nearest the leaf"
rpc SelectMergeProfile "{$select,\"stackTraceSelector\":{\"goPgo\":{\"keepLocations\":1}}}"
same "$(json 'd["status"], max(len(s["locationId"]) for s in d["answer"]["sample"])')" "(200, 1)"

t "what is not here is said so"
rpc SelectMergeStacktraces "{$select,\"async\":{\"type\":\"ASYNC_QUERY_TYPE_FORCE\"}}"
same "$(json 'd["status"], d["answer"]["code"]')" "(501, 'unimplemented')"
ask /querier.v1.QuerierService/Nothing -X POST -H 'Content-Type: application/json' -d '{}'
same "$code" 404

t "the path may have more in front"
ask /grafana/proxy/querier.v1.QuerierService/LabelNames -H 'Content-Type: application/json' -d "{$range}"
answers 200 service_name

t "what came a moment ago is there"
printf 'main;fresh 7\n' >fresh.folded
post "/ingest?name=fresh&format=groups&sampleRate=100&from=$((base + 90))&until=$((base + 100))" fresh.folded && answers 200 ""
rpc SelectMergeStacktraces "{$range,\"profileTypeID\":\"$cpu\",\"labelSelector\":\"{service_name=\\\"fresh\\\"}\"}"
same "$(total)" 70000000
stop_server
status_is 0

t "tenants see their own"
start_server data --multi-tenant
ask /querier.v1.QuerierService/LabelNames -H 'Content-Type: application/json' -d "{$range}" && answers 401 'no org id'
ask /querier.v1.QuerierService/LabelNames -H 'Content-Type: application/json' -H 'X-Scope-OrgID: anonymous' -d "{$range}"
answers 200 zone
ask /querier.v1.QuerierService/LabelNames -H 'Content-Type: application/json' -H 'X-Scope-OrgID: someone' -d "{$range}"
same "$code $out" "200 {}"
ask /querier.v1.QuerierService/LabelNames -H 'Content-Type: application/json' -H 'X-Scope-OrgID: a|b' -d "{$range}"
answers 400 "names several tenants"
stop_server
finish
