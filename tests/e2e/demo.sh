#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `hearth demo`: what it sends is what --truth says, its traces go through all services and lead to profiles, and it bears a
# server that is away.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
demo_pid=
trap 'end_server; [ -z "$demo_pid" ] || kill -KILL "$demo_pid" 2>/dev/null; rm -rf "$work"' EXIT
demo_says() { grep -qF -e "$1" demo.err; }
start_demo() {
    "$hearth" demo --url "$url" "$@" 2>demo.err &
    demo_pid=$!
}
# parts: the processes of the demo beside the first.
parts() { pgrep -P "$demo_pid" | tr '\n' ' '; }
are_gone() {
    for pid in "$@"; do ! kill -0 "$pid" 2>/dev/null || return 1; done
}

t "the truth is a table, and JSON for scripts"
run hearth demo --truth
status_is 0
err_empty
out_has 'SERVICE    VERSION  ENDPOINT     SELF%  TOTAL%  FUNCTION'
out_has 'shop       1.1.0    /checkout     0.0%   66.7%  parse_json'
run hearth demo --truth --json
status_is 0
cp .out truth.json
same "$(json '[s["total"] for s in d["shares"] if s["function"] == "hash_block" and s["endpoint"] == "/charge"]')" '[0.9]'
refuses 2 "--json is for --truth" timeout 20 "$hearth" demo --json

t "a server that is away is told once, and tried again"
start_server data
stop_server
start_demo --version-every 7s --cpu 40% --fleet 20
wait_for demo_says 'trying again every 2 s'
demo_says "nobody answers at $url" || fail "it does not say who is away:" "$(cat demo.err)"
sleep 2.5
same "$(grep -c 'trying again' demo.err)" 1
start_server data --listen "$address"
wait_for demo_says "the server takes what is sent"

t "services are processes of their own"
names=$(ps -o comm= --ppid "$demo_pid" | sort | tr '\n' ' ')
same "$names" 'hearth-fleet hearth-inventor hearth-payment hearth-report hearth-shop '

t "functions have the shares that are known, in all services and both versions"
has_versions() { [ "$(hearth label-values --url "$url" service_version 2>/dev/null | tr '\n' ' ')" = '1.0.0 1.1.0 ' ]; }
wait_for has_versions
sleep 20 # for samples
run python3 "$root/tests/e2e/check_truth.py" "$hearth" "$url" truth.json
status_is 0
out_has 'of 4 services'

# Spans come as each service sends them: of what began some seconds ago all are there.
t "traces go through several services, and some of them failed"
run hearth traces --url "$url" --service shop --operation 'POST /checkout' --until 5s --json
status_is 0
same "$(json 'min(len(t["services"]) for t in d["traces"]) >= 3')" True
same "$(json 'sorted(s["name"] for s in d["traces"][-1]["services"])')" "['inventory', 'payment', 'shop', 'web']"
run hearth traces --url "$url" --service payment --error --until 5s --json
status_is 0
same "$(json 'len(d["traces"]) > 0')" True
trace=$(json 'd["traces"][0]["trace_id"]')
run hearth trace --url "$url" "$trace" --json
status_is 0
same "$(json '[e["name"] for s in d["spans"] if s["service"] == "payment" and s["status"] == "error" for e in s["events"]]')" \
    "['exception']"
same "$(json 'all(not s.get("is_orphan") for s in d["spans"])')" True
run hearth traces --url "$url" --operation 'audit stock' --until 5s --json
trace=$(json 'd["traces"][0]["trace_id"]')
run hearth trace --url "$url" "$trace" --json
same "$(json 'len(d["spans"][0]["links"])')" 1

t "the profile of a span has what it did, and nothing of others"
run hearth traces --url "$url" --service shop --operation 'read order' --order slowest --query shop.cpu --function parse_json --json
status_is 0
span=$(json 'd["traces"][0]["matched"]["span_id"]')
run hearth query --url "$url" shop.cpu --span-id "$span" --json
status_is 0
same "$(json '"parse_json" in [f["name"] for f in d["functions"]]')" True
same "$(json '[f["name"] for f in d["functions"] if f["name"] in ("hash_block", "render_receipt", "apply_discounts")]')" '[]'
run hearth query --url "$url" payment.cpu --span-id "$span" --json
out_lacks hash_block

t "metrics say what each process uses"
has_metrics() {
    run hearth metrics --url "$url" --service report --name runtime.memory.heap_alloc_bytes --name process.thread.count \
        --name hearth.demo.remembered --json
    [ "$status" = 0 ] && [ "$(json 'len(d["series"])')" = 3 ]
}
wait_for has_metrics
same "$(json 'all(v > 0 for s in d["series"] for t, v in s["points"][-1:])')" True

t "the newer version parses orders twice"
run hearth diff --url "$url" --baseline 'shop.cpu{endpoint="/checkout",service_version="1.0.0"}' \
    --comparison 'shop.cpu{endpoint="/checkout",service_version="1.1.0"}' --json
status_is 0
out_has check_order
run hearth operations --url "$url" --service shop
out_has 'check order'

t "hosts that are not there have labels"
run hearth label-values --url "$url" region
status_is 0
out_has eu-west
run hearth query --url "$url" 'fleet.cpu{region="eu-west"}'
out_has parse_string

t "SIGINT ends all of it at once"
others=$(parts)
kill -INT "$demo_pid"
wait "$demo_pid"
same $? 0
demo_pid=
# shellcheck disable=SC2086
are_gone $others || fail "some are left: $others"
demo_says 'requests served' || fail "it does not say goodbye:" "$(cat demo.err)"

t "when the first process is killed, the others end"
start_demo --cpu 5%
has_parts() { [ "$(parts | wc -w)" = 4 ]; }
wait_for has_parts
others=$(parts)
kill -KILL "$demo_pid"
{ wait "$demo_pid"; } 2>/dev/null
demo_pid=
# shellcheck disable=SC2086
wait_for are_gone $others

t "a service that ends is told, and ends the rest"
start_demo --cpu 5%
wait_for has_parts
others=$(parts)
kill -KILL "$(pgrep -P "$demo_pid" -x hearth-report)"
wait "$demo_pid"
same $? 1
demo_pid=
demo_says "the service 'report' of the demo was ended by signal 9 (Killed)" || fail "it does not say so:" "$(cat demo.err)"
# shellcheck disable=SC2086
are_gone $others || fail "some are left: $others"

t "it ends by itself when its time is over"
run timeout 20 "$hearth" demo --url "$url" --duration 300ms
status_is 0
err_has 'requests served'

t "what cannot be an address is refused"
refuses 2 "--url 'nowhere' is no address of a server" timeout 20 "$hearth" demo --url nowhere
refuses 2 "--threads" timeout 20 "$hearth" demo --threads 0

finish
