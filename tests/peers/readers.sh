#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Real readers against a real server: the client of querier.v1 that Grafana's data source and profilecli are made with, in
# all its protocols; go tool pprof; Prometheus' own check of metrics; Schemathesis over the description of the API.
#
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
readers=$root/build/readers
mkdir -p "$readers"

build_go_readers() {
    go=$(find_go "$root" 2>"$work/go.err") || { cat "$work/go.err" && return 1; }
    (cd "$here/readers/go" && local_go "$go" build -o "$readers/" ./cmd/...) >"$work/go.log" 2>&1 ||
        { tail -n 3 "$work/go.log" && return 1; }
}
# Only promtool of Debian's package is needed: the package itself would start a server.
fetch_promtool() {
    [ ! -x "$readers/promtool" ] || return 0
    mkdir -p "$work/deb"
    (cd "$work/deb" && apt-get download prometheus && dpkg-deb -x ./*.deb .) >"$work/promtool.log" 2>&1 ||
        { tail -n 2 "$work/promtool.log" && return 1; }
    cp "$work/deb/usr/bin/promtool" "$readers/"
}
install_schemathesis() {
    [ -x "$readers/python/bin/python" ] || "$python" -m venv "$readers/python" >"$work/py.log" 2>&1 || return 1
    "$readers/python/bin/pip" install -q schemathesis==4.32.5 >>"$work/py.log" 2>&1 ||
        { tail -n 3 "$work/py.log" && return 1; }
}

has_readers=1 has_senders=1 has_promtool=1 has_schemathesis=1
t "the programs can be had"
go=$(find_go "$root" 2>/dev/null) || go=
why=$(build_go_readers) || { has_readers=0 && skip "go: $why"; }
why=$(build_go_senders) || { has_senders=0 && skip "go: $why"; }
why=$(fetch_promtool) || { has_promtool=0 && skip "promtool: $why"; }
why=$(install_schemathesis) || { has_schemathesis=0 && skip "schemathesis: $why"; }

t "the server starts, and has something to show"
start_server
if [ $has_senders = 1 ]; then
    run "$senders/otlpsender" http "$url" 5
    same "$out" "ok 5"
fi
printf 'main;"quoted" {braces} 10\nmain;rest 5\n' >folded
now=$(date +%s)
quietly curl -sf --data-binary @folded "$url/ingest?name=shop.cpu%7Benv%3Dproduction%7D&format=groups&sampleRate=100&from=$((now - 20))&until=$((now - 10))"

if [ $has_readers = 1 ] && [ $has_senders = 1 ]; then
    t "Grafana's client gets the same by Connect, JSON, HTTP/2, gRPC and gRPC-Web"
    run "$readers/goreader" "$url" '{service_name="otlp-http"}' $(((now - 3600) * 1000)) $(((now + 60) * 1000)) 0102030405060708
    status_is 0
    for line in 'health: 0 types' 'types: process_cpu:cpu:nanoseconds:cpu:nanoseconds' 'services: otlp-http shop' \
        'series: __profile_type__=process_cpu:cpu:nanoseconds:cpu:nanoseconds,service_name=otlp-http' \
        'flame graph: total 500000000 root total own leafWork=500000000' 'profile: leafWork=500000000' \
        'few nodes: total 500000000 root total own other=500000000' \
        'span: total 500000000 root total own leafWork=500000000' \
        'diff: left 500000000 right 500000000 total 1000000000' 'points: otlp-http 500000000' 'heatmap: 5 profiles' \
        'stats: true' 'no range: invalid_argument' 'no type: invalid_argument' 'bad selector: invalid_argument' \
        'end before start: invalid_argument' 'version: 1' 'connect-json: the same' 'connect-h2: the same' \
        'grpc: the same' 'grpc-http1: the same' 'grpc-web: the same'; do
        out_has "$line"
    done
fi

if [ $has_senders = 1 ]; then
    t "go tool pprof reads what it is pointed at"
    pprof() { (cd "$here/senders/go" && local_go "$go" tool pprof "$@") 2>&1; }
    run pprof -top "$url/api/v1/export?query=shop.cpu&format=pprof"
    out_has 'Total samples = 150ms'
    out_has '"quoted" {braces}'
    run pprof -top "$url/render?query=shop.cpu&format=pprof"
    out_has '"quoted" {braces}'
    run pprof -top -seconds 1 "$url/debug/pprof/profile"
    out_has 'File: hearth'
fi

if [ $has_promtool = 1 ]; then
    t "promtool finds nothing to complain of in the metrics"
    quietly sh -c "curl -s '$url/metrics' | '$readers/promtool' check metrics"
    run curl -s "$url/metrics"
    out_has 'pyroscope_profiles_cpu_total{service_name="shop",env="production"} 0.150000000'
fi

if [ $has_schemathesis = 1 ]; then
    t "Schemathesis finds no answer that the description of the API does not allow"
    # The self-profile takes as long as it is asked to.
    run "$readers/python/bin/schemathesis" run "$root/docs/openapi.yaml" --url "$url" --max-examples 15 --seed 1 \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
        --request-timeout 10 --no-color --exclude-path /debug/pprof/profile
    [ "$status" = 0 ] || fail "$(echo "$out" | tail -n 60)"
fi

t "the server is well"
run curl -s "$url/ready"
out_has ready
finish
