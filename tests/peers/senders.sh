#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Real senders against a real server: the Pyroscope SDKs for Go, Python and Node, and the OpenTelemetry Collector's client
# for profiles, as their registries have them. Each
# program has known hot spots; what hearth stored is asked through the command line.
#
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
seconds=12

# --- the programs; what cannot be had is skipped, which fails in CI ---
install_python_sender() {
    [ -x "$senders/python/bin/python" ] || "$python" -m venv "$senders/python" >"$work/py.log" 2>&1 || return 1
    "$senders/python/bin/pip" install -q pyroscope-io==1.4.0 >>"$work/py.log" 2>&1 || { tail -3 "$work/py.log" && return 1; }
}
install_node_sender() {
    command -v npm >/dev/null || { echo "no npm" && return 1; }
    mkdir -p "$senders/node"
    [ -d "$senders/node/node_modules/@pyroscope/nodejs" ] ||
        (cd "$senders/node" && npm install --no-save --no-package-lock --no-audit --no-fund @pyroscope/nodejs@0.6.4) \
            >"$work/node.log" 2>&1 || { tail -3 "$work/node.log" && return 1; }
}

t "the server starts"
start_server
run curl -s "$url/ready"
out_has ready

has_go=1 has_python=1 has_node=1
t "the programs can be had"
why=$(build_go_senders) || { has_go=0 && skip "go: $why"; }
why=$(install_python_sender) || { has_python=0 && skip "python: $why"; }
why=$(install_node_sender) || { has_node=0 && skip "node: $why"; }

pids=
[ $has_go = 0 ] || { "$senders/gosender" "$url" $seconds ignored >"$work/gosender.log" 2>&1 & pids="$pids $!"; }
[ $has_python = 0 ] || { "$senders/python/bin/python" "$here/senders/pysender.py" "$url" $seconds >"$work/pysender.log" 2>&1 & pids="$pids $!"; }
[ $has_node = 0 ] || { NODE_PATH=$senders/node/node_modules node "$here/senders/nodesender.js" "$url" $seconds >"$work/nodesender.log" 2>&1 & pids="$pids $!"; }
if [ $has_go = 1 ]; then # scraped from now on, and one that is not there
    "$senders/gotarget" $((seconds + 4)) >"$work/target" 2>&1 &
    target=$!
    while [ ! -s "$work/target" ] && kill -0 $target; do sleep 0.1; done
    cat >"$work/server.yaml" <<EOF
scrape_configs:
  - job_name: go-target
    scrape_interval: 4s
    profiling_config: {pprof_config: {godeltaprof_memory: {enabled: true}, memory: {enabled: false}}}
    static_configs:
      - targets: ["$(cat "$work/target")"]
        labels: {region: eu-4}
  - job_name: gone
    scrape_interval: 4s
    static_configs: [{targets: ["127.0.0.1:1"]}]
EOF
    kill -HUP $server
    pids="$pids $target"
fi
for pid in $pids; do wait "$pid"; done

if [ $has_go = 1 ]; then
    t "pyroscope-go: CPU with the tags of its scope"
    top 'process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="go-sender", handler="/checkout", region="eu-1"}'
    status_is 0
    out_has main.hotSpin
    between "$(total_of 'process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="go-sender"}')" 1e8 2.5e10

    t "pyroscope-go: all ten types"
    run hearth types --data-dir "$work/store"
    for type in process_cpu:cpu:nanoseconds:cpu:nanoseconds process_cpu:samples:count:cpu:nanoseconds \
        memory:alloc_objects:count:space:bytes memory:alloc_space:bytes:space:bytes \
        memory:inuse_objects:count:space:bytes memory:inuse_space:bytes:space:bytes \
        goroutines:goroutine:count:goroutine:count \
        mutex:contentions:count:contentions:count mutex:delay:nanoseconds:contentions:count \
        block:contentions:count:contentions:count block:delay:nanoseconds:contentions:count; do
        out_has "$type"
    done

    t "pyroscope-go: allocations, locks and goroutines name their functions"
    top go-sender.alloc_space
    out_has main.allocateMuch
    top go-sender.inuse_space
    out_has main.allocateMuch
    top go-sender.mutex_duration
    out_has main.contendLock
    top go-sender.block_count
    out_has main.contendLock
    top go-sender.goroutines
    out_has main.contendLock

    t "pyroscope-go: deltas are not added up twice"
    # 64 times 64 KiB for each 200 ms of spinning.
    between "$(total_of go-sender.alloc_space)" 4e6 4e9

    t "pyroscope-go saw no failure"
    run cat "$work/gosender.log"
    out_lacks 'upload profile'
fi

if [ $has_go = 1 ]; then
    t "OpenTelemetry profiles by gRPC and HTTP, on their own ports and on the common one"
    for to in "grpc $(port listen-otlp-grpc)" "grpc $(port listen)" "http http://$(port listen-otlp-http)" "http $url" \
        "json http://$(port listen-otlp-http)"; do
        # shellcheck disable=SC2086
        run "$senders/otlpsender" $to 5
        same "$out" "ok 5"
    done
    for kind in grpc:1e9 http:1e9 json:5e8; do
        top "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"otlp-${kind%:*}\", deployment_environment_name=\"test\"}"
        out_has leafWork
        between "$(total_of "otlp-${kind%:*}.cpu")" "${kind#*:}" "${kind#*:}"
    done

    t "links of samples are found by their span"
    run hearth query --data-dir "$work/store" otlp-http.cpu --span-id 0102030405060708 --format json
    same "$(json 'd["total"]')" 1000000000
fi

if [ $has_python = 1 ]; then
    t "pyroscope-io: CPU with its tags"
    top 'process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="py-sender", handler="/pay", region="eu-2"}'
    status_is 0
    out_has hot_loop
    between "$(total_of py-sender.cpu)" 1e8 2e10
fi

if [ $has_node = 1 ]; then
    t "@pyroscope/nodejs: wall clock and CPU with its labels, and the heap"
    top 'wall:wall:nanoseconds:wall:nanoseconds{service_name="node-sender", handler="/cart", region="eu-3"}'
    status_is 0
    out_has hotCompute
    between "$(total_of 'wall:wall:nanoseconds:wall:nanoseconds{service_name="node-sender"}')" 1e8 1e11
    top 'wall:cpu:nanoseconds:wall:nanoseconds{service_name="node-sender"}'
    out_has hotCompute
    top 'memory:inuse_space:bytes:inuse_space:bytes{service_name="node-sender"}'
    out_has turn
fi

if [ $has_go = 1 ]; then
    t "a Go program is scraped: CPU, heap by godeltaprof, locks, goroutines"
    top 'process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="go-target", region="eu-4"}'
    status_is 0
    out_has main.spinForTarget
    top go-target.alloc_space
    out_has main.allocateForTarget
    top go-target.inuse_space
    out_has main.allocateForTarget
    top go-target.mutex_count
    out_has main.lockForTarget
    top go-target.goroutine
    out_has main.lockForTarget

    t "the health of targets is told"
    run curl -s "$url/api/v1/status"
    same "$(json 'sorted({(t["job"], t["result"]) for t in d["scrape"] if t["job"] == "gone"})')" "[('gone', 'unreachable')]"
    same "$(json 'all(t["scrapes"] > 0 and t["url"] for t in d["scrape"] if t["job"] == "go-target")')" True
fi

t "every profile that came is accounted for"
all_accounted

t "the server stops when asked"
end $server
same "$?" 0
finish
