#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Traces joined with profiles: spans and samples are sent to a server, and asked for in every way there is.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"

base=$(($(date +%s) - 600))000000000
python3 "$root/tests/e2e/make_traces.py" "$base"
start_server data --multi-tenant --trace-link 'https://tempo.example/t/{trace_id}?s={service}&f={start_ms}'
mine='X-Scope-OrgID: mine' theirs='X-Scope-OrgID: theirs'
# trace_of I, span_of KIND I: as make_traces.py has them.
trace_of() { printf '%032x' $((16 + $1)); }
span_of() { printf '%012x%02x%02x' 0 "$1" "$2"; }
# get PATH: as who owns all this; keeps $code, $out, and messages in `messages`.
get() {
    ask "$1" -g -H "$mine" -D .head
    messages=$(sed -n 's/^x-hearth-messages: //ip' .head)
}
# found: the numbers of the requests that the last search found, in its order.
found() { json '[int(t["trace_id"], 16) - 16 for t in d["traces"]]'; }

t "traces come as JSON and as protobuf, and again without harm"
for again in 1 2; do
    ask /v1/traces -X POST --data-binary @traces.json -H 'Content-Type: application/json' -H "$mine"
    same "$code$again" "200$again"
    ask /v1/traces -X POST --data-binary @traces.pb -H 'Content-Type: application/x-protobuf' -H "$mine"
    same "$code$again" "200$again"
done
ask /v1development/profiles -X POST --data-binary @profiles.json -H 'Content-Type: application/json' -H "$mine"
same "$code" 200

# --- searching ---

t "a search finds traces by a span"
get '/api/v1/traces?limit=100'
same "$code" 200
same "$(found)" "$(seq -s ', ' 19 -1 0 | sed 's/.*/[&]/')"
get '/api/v1/traces?error=true'
same "$(found)" "[7]"
same "$(json 'd["traces"][0]["matched"]["span_id"], d["traces"][0]["matched"]["service"], d["traces"][0]["matched"]["is_error"]')" \
    "('$(span_of 4 7)', 'pay', True)"
same "$(json 'd["traces"][0]["n_spans"], d["traces"][0]["n_errors"], d["traces"][0]["n_matched"], d["traces"][0]["duration_ns"]')" \
    "(4, 1, 1, 17000000)"
same "$(json 'd["traces"][0]["root"]["operation"], d["traces"][0]["root"]["service"]')" "('GET /cart', 'shop')"
same "$(json '[(s["name"], s["n_spans"], s["n_errors"]) for s in d["traces"][0]["services"]]')" \
    "[('shop', 3, 0), ('pay', 1, 1)]"
get '/api/v1/traces?service=pay&operation=GET+/cart'
same "$(found)" "[]"
get '/api/v1/traces?service=shop&operation=GET+/cart&min-duration=27ms&max-duration=28ms'
same "$(found)" "[18, 17]"
get '/api/v1/traces?attribute=http.route=/cart&attribute=http.status_code=200&attribute=region=eu-shop&limit=1'
same "$(found)" "[19]"
get '/api/v1/traces?attribute=http.route=/pay'
same "$(found)" "[]"
get '/api/v1/traces?root=true&service=pay'
same "$(found)" "[]"
get "/api/v1/traces?from=$(((base / 1000000000) + 3))&until=$(((base / 1000000000) + 6))"
same "$(found)" "[5, 4, 3]"

t "the slowest come first where that is asked for, and pages go on where the last one ended"
get '/api/v1/traces?order=slowest&limit=3'
same "$(found)" "[19, 18, 17]"
for order in newest slowest; do
    page='' all=''
    while :; do
        get "/api/v1/traces?order=$order&limit=6&page=$page"
        same "$code" 200
        all="$all $(found | tr -d '[],')"
        page=$(json 'd["next_page"] or ""')
        [ -n "$page" ] || break
    done
    same "$all" " $(seq -s ' ' 19 -1 0)"
done
get '/api/v1/traces?page=nonsense'
answers 400 "page"

t "traces through a function are those whose spans have samples of it"
get '/api/v1/traces?query=shop.cpu&function=slow_path&order=slowest'
same "$(found)" "[19]"
same "$(json 'd["traces"][0]["matched"]["span_id"]')" "$(span_of 1 19)"
get '/api/v1/traces?query=shop.cpu&function=^json_parse$&order=slowest&limit=2'
same "$(json '[t["matched"]["operation"] for t in d["traces"]]')" "['parse', 'parse']"
get '/api/v1/traces?query=pay.cpu&function=charge&limit=100'
same "$(json 'len(d["traces"])')" 20
get '/api/v1/traces?query=shop.cpu&function=idle'
same "$(found)" "[]"
case $messages in *"no span has such samples"*) ;; *) fail "no message: $messages" ;; esac
get '/api/v1/traces?function=x'
answers 400 "--function looks at the samples of --query"
get '/api/v1/traces?query=shop.cpu&function=('
answers 400 "--function"

t "operations are told with their durations"
get '/api/v1/operations'
same "$(json '[(o["service"], o["operation"], o["n_spans"], o["n_errors"], o["max_ns"]) for o in d["operations"]]')" \
    "[('pay', 'POST /pay', 20, 1, 2000000), ('shop', 'GET /cart', 20, 0, 29000000), ('shop', 'parse', 20, 0, 4000000), ('shop', 'POST /pay', 20, 0, 3000000)]"
same "$(json 'd["operations"][1]["total_ns"], d["is_cut"]')" "(390000000, False)"
same "$(json 'all(o["p50_ns"] <= o["p95_ns"] <= o["p99_ns"] <= o["max_ns"] * 1.1 for o in d["operations"])')" True
get '/api/v1/operations?service=pay'
same "$(json 'len(d["operations"])')" 1

# --- a trace ---

t "a trace has its spans in order, with samples and where the time went"
get "/api/v1/trace?id=$(trace_of 19)"
same "$code" 200
same "$(json '[(s["span_id"], s["depth"], s["service"], s["operation"], s["kind"]) for s in d["spans"]]')" \
    "[('$(span_of 1 19)', 0, 'shop', 'GET /cart', 'server'), ('$(span_of 2 19)', 1, 'shop', 'parse', 'internal'), ('$(span_of 3 19)', 1, 'shop', 'POST /pay', 'client'), ('$(span_of 4 19)', 2, 'pay', 'POST /pay', 'server')]"
same "$(json '[(s["offset_ns"], s["duration_ns"]) for s in d["spans"]]')" \
    "[(0, 29000000), (1000000, 4000000), (5000000, 3000000), (6000000, 2000000)]"
same "$(json '[s["parent_id"] for s in d["spans"]]')" \
    "[None, '$(span_of 1 19)', '$(span_of 1 19)', '$(span_of 3 19)']"
same "$(json '[[(x["type"], x["unit"], x["n_samples"], x["value"]) for x in s["samples"]] for s in d["spans"]]')" \
    "[[('process_cpu:cpu:nanoseconds:cpu:nanoseconds', 'nanoseconds', 2, 6000000)], [('process_cpu:cpu:nanoseconds:cpu:nanoseconds', 'nanoseconds', 1, 2000000)], [], [('process_cpu:cpu:nanoseconds:cpu:nanoseconds', 'nanoseconds', 1, 1000000)]]"
same "$(json '[tuple(s["latency"][k] for k in ("cpu_ns", "off_cpu_ns", "children_ns", "unknown_ns")) for s in d["spans"]]')" \
    "[(6000000, None, 7000000, 16000000), (2000000, None, 0, 2000000), (0, None, 2000000, 1000000), (1000000, None, 0, 1000000)]"
same "$(json 'd["n_spans"], d["n_errors"], d["is_cut"], d["attribution"], d["duration_ns"], d["start_ns"]')" \
    "(4, 0, False, 'own', 29000000, $((base + 19000000000)))"
same "$(json '[s["is_local_root"] for s in d["spans"]], [s["is_orphan"] for s in d["spans"]]')" \
    "([True, False, False, True], [False, False, False, False])"
same "$(json '[(a["key"], a["value"]) for a in d["spans"][0]["attributes"]]')" \
    "[('http.route', '/cart'), ('http.status_code', 200), ('ratio', 0.5), ('is_new', True)]"
same "$(json 'd["spans"][0]["events"][0]["offset_ns"], d["spans"][0]["events"][0]["name"], d["spans"][0]["links"][0]["span_id"], d["spans"][0]["scope"]')" \
    "(1000000, 'begun', 'eeeeeeeeeeeeeeee', 'tracer 1.2')"
same "$(json '[r["service"] for r in d["resources"]], [s["resource"] for s in d["spans"]]')" "(['shop', 'pay'], [0, 0, 0, 1])"
same "$(json 'd["link"]')" "https://tempo.example/t/$(trace_of 19)?s=shop&f=$((base / 1000000 + 19000))"
get "/api/v1/trace?id=$(trace_of 7)"
same "$(json 'd["spans"][3]["status"], d["spans"][3]["message"], d["n_errors"]')" "('error', 'card refused', 1)"

t "by root, a span has the samples of what its process did below it"
get "/api/v1/trace?id=$(trace_of 19)&attribution=root"
same "$(json '[sum(x["value"] for x in s["samples"]) for s in d["spans"]], d["attribution"]')" \
    "([8000000, 2000000, 0, 1000000], 'root')"
same "$(json 'd["spans"][0]["latency"]["cpu_ns"]')" 6000000

t "a trace that is not there, or an id that is none, is told in a sentence"
get "/api/v1/trace?id=000000000000000000000000000000ff"
answers 404 "there is no trace 000000000000000000000000000000ff"
get "/api/v1/trace?id=abc"
answers 400 "32 hexadecimal digits"
get "/api/v1/trace"
answers 400 "needs the parameter 'id'"
get "/api/v1/trace?id=$(trace_of 1)&until=2020-01-01"
answers 404 "in this time"

# --- samples of spans ---

# folded PARAMETERS: the samples of a query as text.
folded() { get "/api/v1/export?format=folded&$1"; }

t "the profile of a span has its functions, and only those"
folded "query=shop.cpu&span-id=$(span_of 1 19)"
same "$out" "main;serve;slow_path 5000000
main;serve;work 1000000"
folded "query={}&type=cpu&span-id=$(span_of 4 3)"
same "$out" "main;charge 1000000"
folded "query=shop.cpu&span-id=$(span_of 1 19)&attribution=root"
same "$out" "main;serve;json_parse 2000000
main;serve;slow_path 5000000
main;serve;work 1000000"
folded "query=shop.cpu&span-id=$(span_of 2 19)&attribution=root"
same "$out" "main;serve;json_parse 2000000"
folded "query=shop.cpu&span-id=$(span_of 9 9)&attribution=root"
same "$out" ""

t "the profile of an operation is that of all its spans"
folded "query=shop.cpu&operation=parse"
same "$out" "main;serve;json_parse 40000000"
folded "query=shop.cpu&operation=GET+/cart"
same "$out" "main;serve;slow_path 5000000
main;serve;work 20000000"
folded "query=shop.cpu&operation=GET+/cart&attribution=root"
same "$out" "main;serve;json_parse 40000000
main;serve;slow_path 5000000
main;serve;work 20000000"
folded "query=pay.cpu&operation=POST+/pay"
same "$out" "main;charge 20000000"
get '/api/v1/timeseries?query=shop.cpu&operation=parse&step=1h'
same "$(json 'sum(g["sum"] for g in d["groups"])')" 40000000
get '/api/v1/top?query=shop.cpu&operation=parse'
same "$(json 'd["functions"][0]["name"]')" json_parse
get '/api/v1/diff?baseline=shop.cpu&comparison=shop.cpu&operation=parse'
same "$(json 'd["before"]["total"], d["after"]["total"]')" "(40000000, 40000000)"
get '/api/v1/query?query=shop.cpu&operation=nosuch'
same "$code" 200
case $messages in *"no spans of operation 'nosuch' of service 'shop' started in this time; there are"*) ;; *) fail "no message: $messages" ;; esac
get '/api/v1/query?query={}&type=cpu&operation=parse'
answers 400 "an operation is one of a service"
get "/api/v1/query?query=shop.cpu&operation=parse&span-id=$(span_of 2 19)"
same "$(json 'd["total"]')" 2000000

# --- slow against fast ---

t "slow against fast shows what only the slowest did"
get '/api/v1/slow-fast?query=shop.cpu&operation=GET+/cart'
same "$code" 200
same "$(json 'd["before"]["total"], d["after"]["total"]')" "(19000000, 6000000)"
same "$(json '[(f["name"], f["self"]["before"], f["self"]["after"]) for f in d["functions"] if f["name"] == "slow_path"]')" \
    "[('slow_path', 0, 95000000)]"
case $messages in *"the slowest 5% of 'GET /cart' is one span of 29ms and more, against 19 up to 28ms"*) ;; *) fail "no message: $messages" ;; esac
get '/api/v1/slow-fast?query=shop.cpu&operation=GET+/cart&share=50%25&attribution=root'
same "$(json 'd["before"]["total"], d["after"]["total"]')" "(30000000, 35000000)"
get '/api/v1/slow-fast?query=shop.cpu&operation=GET+/cart&format=flame'
same "$code" 200
get '/api/v1/slow-fast?query=shop.cpu&operation=GET+/cart&format=html'
answers 200 "GET /cart: the slowest 5% against the others"
get '/api/v1/slow-fast?query=shop.cpu&operation=nosuch'
answers 404 "operation 'nosuch' of service 'shop' has no spans in this time"
get '/api/v1/slow-fast?query=shop.cpu'
answers 400 "operation"
get '/api/v1/slow-fast?query=shop.cpu&operation=parse&share=100%25'
answers 400 "share"

# --- whose it is ---

t "tenants are apart"
ask '/api/v1/traces' -H "$theirs"
same "$(json 'd["traces"]')" "[]"
ask "/api/v1/trace?id=$(trace_of 19)" -H "$theirs"
same "$code" 404
ask '/api/v1/operations' -H "$theirs"
same "$(json 'd["operations"]')" "[]"

t "a long trace is found by its last span, and says that not all of it was counted"
python3 - "$base" >long.json <<'END'
import json, sys
spans = [{"traceId": "%032x" % 77, "spanId": "%016x" % (i + 1), "name": "last" if i == 4999 else "step",
          "startTimeUnixNano": str(int(sys.argv[1]) + i), "endTimeUnixNano": str(int(sys.argv[1]) + i + 1)} for i in range(5000)]
json.dump({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, sys.stdout)
END
ask /v1/traces -X POST --data-binary @long.json -H 'Content-Type: application/json' -H 'X-Scope-OrgID: long'
same "$code" 200
ask '/api/v1/traces?operation=last' -H 'X-Scope-OrgID: long'
same "$(json '[(t["n_spans"], t["is_cut"]) for t in d["traces"]]')" "[(5000, False)]"
run hearth traces --operation last --json --query-memory 1MiB --data-dir data --tenant long
same "$(json '[(t["n_spans"] < 5000, t["is_cut"], t["matched"]["operation"]) for t in d["traces"]]')" \
    "[(True, True, 'last')]"
run hearth trace "$(printf '%032x' 77)" --json --data-dir data --tenant long
refuses 1 "with --from and --until, or raise --query-memory" hearth trace "$(printf '%032x' 77)" --json \
    --query-memory $(($(wc -c <"$work/.out") - 1)) --data-dir data --tenant long

t "the spans of an operation hold to --query-memory"
python3 - "$base" >many.json <<'END'
import json, sys
spans = [{"traceId": "%032x" % (5000 + i // 100), "spanId": "%016x" % (900000 + i), "name": "bulk",
          "startTimeUnixNano": str(int(sys.argv[1]) + i), "endTimeUnixNano": str(int(sys.argv[1]) + 2 * i)} for i in range(20000)]
resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
json.dump({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}, sys.stdout)
END
ask /v1/traces -X POST --data-binary @many.json -H 'Content-Type: application/json' -H "$mine"
same "$code" 200
for command in slow-fast query; do
    run hearth $command shop.cpu --operation bulk --query-memory 1MiB --data-dir data --tenant mine
    err_has "operation 'bulk' has more than 4161 spans in this time; these are the newest, as many as --query-memory"
    refuses 1 "takes more than two thirds of 1MiB" hearth $command shop.cpu --operation bulk --attribution root \
        --query-memory 1MiB --data-dir data --tenant mine
    err_has "or raise --query-memory"
    run hearth $command shop.cpu --operation bulk --attribution root --data-dir data --tenant mine
    err_lacks "more than"
done

# --- the commands ---

t "the commands print tables and a waterfall"
run hearth traces --data-dir data --tenant mine --error
status_is 0
out_has "$(trace_of 7)"
out_has "POST /pay (failed)"
run hearth operations --data-dir data --tenant mine
out_has "GET /cart"
run hearth trace "$(trace_of 19)" --data-dir data --tenant mine
status_is 0
out_has "trace $(trace_of 19): 4 spans of 2 services, 29ms from"
out_has "shop: GET /cart"
out_has "      pay: POST /pay"
run hearth slow-fast shop.cpu --operation 'GET /cart' --data-dir data --tenant mine
status_is 0
out_has slow_path
err_has "the slowest 5% of 'GET /cart'"
refuses 1 "there is no trace" hearth trace "$(trace_of 99)" --data-dir data --tenant mine
refuses 2 "hearth: --function: regular expression" hearth traces --query shop.cpu --function "(" --data-dir data --tenant mine
refuses 2 "needs --operation" hearth slow-fast shop.cpu --data-dir data --tenant mine
refuses 2 "is not like KEY=VALUE" hearth traces --attribute x --data-dir data --tenant mine
refuses 2 "--max-duration is less" hearth traces --min-duration 2s --max-duration 1s --data-dir data --tenant mine

t "a server that is asked by --url prints the same"
# same_by_url COMMAND...: about the minute of all requests.
same_by_url() {
    set -- "$@" --tenant mine --from $((base / 1000000000)) --until $((base / 1000000000 + 60))
    run hearth "$@" --data-dir data
    mv .out here.out && mv .err here.err
    here=$status
    run hearth "$@" --url "$url"
    status_is "$here"
    same_file .out here.out
    same_file .err here.err
}
same_by_url traces --service pay --order slowest -n 3
same_by_url traces --error --json
same_by_url traces --query shop.cpu --function slow_path
same_by_url traces --page nonsense
same_by_url trace "$(trace_of 7)"
same_by_url trace "$(trace_of 99)"
same_by_url operations --service shop --json
same_by_url operations --service nosuch
same_by_url slow-fast shop.cpu --operation 'GET /cart' --scale totals
same_by_url slow-fast shop.cpu --operation nosuch
same_by_url query shop.cpu --operation 'GET /cart' --attribution root --format folded
same_by_url explain shop.cpu --operation parse --dry-run

t "without the server its files answer, and know of no link"
stop_server
run hearth trace "$(trace_of 19)" --json --data-dir data --tenant mine
same "$(json 'len(d["spans"]), d["link"]')" "(4, None)"

finish
