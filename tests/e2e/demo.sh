#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `hearth demo`: what it sends, and how it bears a server that is away.
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

t "a server that is away is told once, and tried again"
start_server data
stop_server
start_demo --threads 2 --cpu 10%
wait_for demo_says 'trying again every 2 s'
demo_says "nobody answers at $url" || fail "it does not say who is away:" "$(cat demo.err)"
sleep 2.5
same "$(grep -c 'trying again' demo.err)" 1
start_server data --listen "$address"
wait_for demo_says "$url takes profiles"
wait_for demo_says 'the first profile was sent'

t "what it sends has functions, versions and endpoints"
run hearth query --url "$url" shop.cpu
status_is 0
out_has serve
run hearth label-values --url "$url" service_version
same "$out" 1.0.0
has_endpoints() { [ "$(hearth label-values --url "$url" endpoint 2>/dev/null | wc -l)" -ge 2 ]; }
wait_for has_endpoints

t "how many samples are behind its values is known"
run hearth query --url "$url" shop.cpu --json
[ "$(json 'sum(f["self_samples"] for f in d["functions"])')" != 0.0 ] || fail "no samples:" "$out"
run hearth diff --url "$url" --baseline shop.cpu --comparison 'shop.cpu{endpoint="/checkout"}' --json
same "$(json 'd["before"]["samples"] >= d["after"]["samples"] > 0')" True

t "SIGINT ends it"
kill -INT "$demo_pid"
wait "$demo_pid"
same $? 0
demo_pid=
demo_says 'requests served' || fail "it does not say goodbye:" "$(cat demo.err)"

t "it ends by itself when its time is over"
run timeout 20 "$hearth" demo --url "$url" --duration 300ms
status_is 0
err_has 'requests served'

t "what cannot be an address is refused"
refuses 2 "--url 'nowhere' is no address of a server" timeout 20 "$hearth" demo --url nowhere
refuses 2 "--threads" timeout 20 "$hearth" demo --threads 0

finish
