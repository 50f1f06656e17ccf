#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Traces and profiles of real programs, joined: the OpenTelemetry SDKs for Go and Python send spans, the Pyroscope SDKs send
# profiles whose samples otel-profiling-go and pyroscope-otel marked with spans. Which functions each span ran is known, and
# hearth must tell those and no others.
#
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
rounds=5

install_python_sender() {
    [ -x "$senders/python-traces/bin/python" ] || "$python" -m venv "$senders/python-traces" >"$work/py.log" 2>&1 || return 1
    "$senders/python-traces/bin/pip" install -q pyroscope-io==1.4.0 pyroscope-otel==1.1.0 opentelemetry-api==1.45.2 \
        opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.1 >>"$work/py.log" 2>&1 ||
        { tail -3 "$work/py.log" && return 1; }
}

# check_spans CHECK SERVICE MARKED: compare_spans.py with what the program of this service said.
check_spans() {
    run python3 "$here/compare_spans.py" "$1" "$url" "$2" "$3" "$work/$2.spans"
    same "$out$errout" ok
}

t "the server starts"
start_server
run curl -s "$url/ready"
out_has ready

services=
t "the programs can be had"
if why=$(build_go_senders); then services="go-all go-root"; else skip "go: $why"; fi
if why=$(install_python_sender); then services="$services py-root"; else skip "python: $why"; fi

pids=
for service in $services; do
    case $service in
    go-*) "$senders/tracesender" "$(port listen-otlp-grpc)" "$url" $rounds "${service#go-}" ;;
    py-*) "$senders/python-traces/bin/python" "$here/senders/tracesender.py" "http://$(port listen-otlp-http)" "$url" $rounds ;;
    esac >"$work/$service.spans" 2>"$work/$service.log" &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done

for service in $services; do
    t "$service: nothing failed to be sent"
    run cat "$work/$service.log"
    out_lacks ailed
    out_lacks rror

    marked=${service#*-}
    t "$service: searches find the traces that were sent"
    check_spans found "$service" "$marked"

    t "$service: each span has its functions, and only those, by either attribution"
    check_spans functions "$service" "$marked"

    t "$service: traces say what their spans have"
    check_spans counts "$service" "$marked"

    t "$service: operations are their spans, slow and fast ones together"
    check_spans operations "$service" "$marked"

    t "$service: searches find traces through a function"
    check_spans through "$service" "$marked"
done

case $services in
*py-root*)
    t "py-root: metrics of the runtime are kept, others are not"
    run curl -s "$url/api/v1/metrics?service=py-root&from=now-1h"
    same "$(json '{s["name"] for s in d["series"]}')" "{'runtime.memory.heap_alloc_bytes'}"
    same "$(json '{p[1] for s in d["series"] for p in s["points"] if p[1]}')" "{67108864}"
    ;;
esac

t "the server stops when asked"
end $server
same "$?" 0
finish
