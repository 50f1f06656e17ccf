#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# More real senders against a real server, which take too long to build for every run: the Rust crate of today and the
# one before 2.0, an OpenTelemetry Collector made by its builder, and the OpenTelemetry eBPF profiler.
#
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
seconds=25 # the Rust crates send every 10 s

# --- the programs; what cannot be had is skipped ---
# build_rust_sender NAME: built in a copy, since cargo writes beside the sources.
build_rust_sender() {
    command -v cargo >/dev/null || { echo "no cargo on PATH" && return 1; }
    minor=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
    [ "${minor:-0}" -ge 85 ] || { echo "$(cargo --version) is older than 1.85, which the crates' dependencies ask for" && return 1; }
    mkdir -p "$senders/$1"
    cp -R "$here/senders/$1/Cargo.toml" "$here/senders/$1/src" "$senders/$1/"
    (cd "$senders/$1" && cargo build --quiet) >"$work/cargo.log" 2>&1 || { tail -n 3 "$work/cargo.log" && return 1; }
}
# build_collector: $senders/collector/otelcol.
build_collector() {
    go=$(find_go "$root" 2>"$work/go.err") || { cat "$work/go.err" && return 1; }
    (cd "$here/senders/collector" && local_go "$go" build -o "$senders/builder" go.opentelemetry.io/collector/cmd/builder) \
        >"$work/go.log" 2>&1 || { tail -n 3 "$work/go.log" && return 1; }
    (cd "$senders" && PATH=${go%/*}:$PATH && local_go ./builder --config "$here/senders/collector/builder.yaml") \
        >"$work/go.log" 2>&1 || { tail -n 3 "$work/go.log" && return 1; }
}
# build_profiler: $senders/ebpf-profiler.
#
# It sets the limit of locked memory to infinity and ends where it may not. Where that is so, a copy is built that leaves
# the limit alone, since Linux counts the memory of BPF by control groups from 5.11 on.
build_profiler() {
    [ "$(id -u)" = 0 ] || { echo "not root" && return 1; }
    go=$(find_go "$root" 2>"$work/go.err") || { cat "$work/go.err" && return 1; }
    module=$senders/ebpf
    mkdir -p "$module" && cp "$here/senders/ebpf/go.mod" "$here/senders/ebpf/go.sum" "$module/"
    cd "$module" || return 1
    if ! prlimit --memlock=unlimited:unlimited true 2>/dev/null; then
        source=$(local_go "$go" mod download -json go.opentelemetry.io/ebpf-profiler 2>"$work/go.log" |
            sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
        [ -n "$source" ] || { tail -n 3 "$work/go.log" && return 1; }
        [ -d source ] || { cp -R "$source" source && chmod -R u+w source; }
        cat >source/rlimit/rlimit.go <<'EOF'
package rlimit

func MaximizeMemlock() (func(), error) { return func() {}, nil }
EOF
        echo 'replace go.opentelemetry.io/ebpf-profiler => ./source' >>go.mod
    fi
    CGO_ENABLED=0 local_go "$go" build -o "$senders/ebpf-profiler" go.opentelemetry.io/ebpf-profiler >"$work/go.log" 2>&1 ||
        { tail -n 3 "$work/go.log" && return 1; }
}

# becomes SELECTOR TOTAL: within a minute the sum of its samples is that.
becomes() {
    for _ in $(seq 120); do
        total=$(total_of "$1")
        [ "$total" != "$2" ] || return 0
        sleep 0.5
    done
    fail "the total of $1 is $total, wanted $2"
}

t "the server starts"
start_server
run curl -s "$url/ready"
out_has ready

has_rust=1 has_old_rust=1 has_collector=1 has_profiler=1
t "the programs can be had"
why=$(build_rust_sender rust) || { has_rust=0 && skip "rust: $why"; }
why=$(build_rust_sender rust-0.5) || { has_old_rust=0 && skip "rust-0.5: $why"; }
why=$(build_go_senders && build_collector) || { has_collector=0 && skip "collector: $why"; }
why=$(build_profiler) || { has_profiler=0 && skip "eBPF profiler: $why"; }

# rust_sends FOLDER PROGRAM: in the background, as $!.
rust_sends() { "$senders/$1/target/debug/$2" "$url" $seconds >"$work/$1.cpu" 2>"$work/$1.log" & }
# has_rust_cpu FOLDER SERVICE LABELS FUNCTION: with the tags of the program and of its scope, and its CPU time.
has_rust_cpu() {
    top "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"$2\", $3}"
    status_is 0
    out_has "$4"
    nanoseconds=$(cat "$work/$1.cpu")
    # The crates' timer misses some where many processes share a CPU.
    between "$(total_of "$2.cpu")" $((nanoseconds / 4)) $((nanoseconds * 5 / 4))
    same "$(cat "$work/$1.log")" ""
}
pids=
[ $has_rust = 0 ] || { rust_sends rust rustsender && pids="$pids $!"; }
[ $has_old_rust = 0 ] || { rust_sends rust-0.5 oldrustsender && pids="$pids $!"; }
for pid in $pids; do wait "$pid"; done

if [ $has_rust = 1 ]; then
    t "the Rust crate: CPU with its tags"
    has_rust_cpu rust rust-sender 'handler="/ship", region="eu-5"' hot_rust
fi
if [ $has_old_rust = 1 ]; then
    t "the Rust crate before 2.0: CPU with its tags"
    has_rust_cpu rust-0.5 old-rust-sender 'handler="/pack", region="eu-6"' hot_old_rust
fi

# --- the collector: one receiver, on a socket of its own, for each way to send on ---
# collector_config: its exporters, and for each its pipeline.
collector_config() {
    retry='sending_queue: {queue_size: 1000, num_consumers: 4}, retry_on_failure: {initial_interval: 500ms, max_interval: 1s}'
    grpc="endpoint: $(port listen-otlp-grpc), tls: {insecure: true}, $retry"
    http="endpoint: http://$(port listen-otlp-http), $retry"
    echo 'exporters:'
    echo "  otlp_grpc/grpc: {$grpc}"
    for compression in zstd snappy none; do echo "  otlp_grpc/grpc-$compression: {$grpc, compression: $compression}"; done
    echo "  otlp_http/http: {$http}"
    for compression in zstd snappy none; do echo "  otlp_http/http-$compression: {$http, compression: $compression}"; done
    echo "  otlp_http/http-json: {$http, encoding: json}"
    echo 'receivers:'
    for way in $ways; do echo "  otlp/$way: {protocols: {grpc: {endpoint: $work/$way.socket, transport: unix}}}"; done
    printf 'service:\n  telemetry: {metrics: {level: none}}\n  pipelines:\n'
    for way in $ways; do echo "    profiles/$way: {receivers: [otlp/$way], exporters: [otlp_${way%%-*}/$way]}"; done
}
ways="grpc grpc-zstd grpc-snappy grpc-none http http-zstd http-snappy http-none http-json"

if [ $has_collector = 1 ]; then
    t "the collector starts"
    collector_config >"$work/collector.yaml"
    : >"$work/collector.log"
    "$senders/collector/otelcol" --config "file:$work/collector.yaml" --feature-gates=service.profilesSupport \
        >"$work/collector.log" 2>&1 &
    collector=$!
    started $collector
    while ! grep -q 'Everything is ready' "$work/collector.log" && kill -0 $collector 2>/dev/null; do sleep 0.2; done
    kill -0 $collector 2>/dev/null || { has_collector=0 && fail "$(tail -n 5 "$work/collector.log")"; }
fi

if [ $has_collector = 1 ]; then
    for way in $ways; do
        t "the collector sends on by $way"
        run "$senders/otlpsender" grpc "unix:$work/$way.socket" 5 "collector-$way"
        same "$out" "ok 5"
        becomes "collector-$way.cpu" 500000000
        top "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"collector-$way\", deployment_environment_name=\"test\"}"
        out_has leafWork
        run hearth query --data-dir "$work/store" "collector-$way.cpu" --trace-id 0102030405060708090a0b0c0d0e0f10 --format json
        same "$(json 'd["total"]')" 500000000
    done

    t "every profile that came is accounted for"
    all_accounted

    t "the collector keeps what it has while the server is away"
    for way in grpc http; do
        for _ in $(seq 40); do
            "$senders/otlpsender" grpc "unix:$work/$way.socket" 1 "away-$way"
            sleep 0.1
        done >"$work/away-$way.log" 2>&1 &
        eval "away_$way=$!"
    done
    sleep 1
    end $server
    same "$?" 0
    sleep 4
    start_server
    # shellcheck disable=SC2154
    wait "$away_grpc" "$away_http"
    becomes away-grpc.cpu 4000000000
    becomes away-http.cpu 4000000000
    for way in grpc http; do same "$(grep -c '^ok 1$' "$work/away-$way.log")" 40; done
    run cat "$work/collector.log"
    out_has 'Will retry'
    out_lacks 'Dropping data'

    end "$collector"
fi

# --- the eBPF profiler: names of native functions are not its business, addresses and build ids are ---
# cpu_ticks PID: user and system time.
cpu_ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
# within_mix ADDRESS: is it in the burner's function mix?
within_mix() { nm -S "$work/hearth-burner" | python3 -c 'import sys
start, size = next((int(a, 16), int(b, 16)) for a, b, _, name in (l.split() for l in sys.stdin if len(l.split()) == 4) if name == "mix")
print(start <= int(sys.argv[1], 16) <= start + size)' "$1"; }

if [ $has_profiler = 1 ]; then
    t "the eBPF profiler finds a busy process"
    gcc -O1 -Wl,--build-id -o "$work/hearth-burner" "$data/burn.c" || fail "burn.c does not compile"
    "$work/hearth-burner" 600 >/dev/null 2>&1 &
    burner=$!
    started $burner
    # Tracing is mounted where it is not, for the profiler alone.
    cat >"$work/profiler.sh" <<'EOF'
grep -q ' tracefs ' /proc/mounts || mount -t tracefs nodev /sys/kernel/tracing || exit 1
exec "$@"
EOF
    : >"$work/profiler.log"
    unshare -m sh "$work/profiler.sh" "$senders/ebpf-profiler" -collection-agent "$(port listen-otlp-grpc)" -disable-tls \
        -reporter-interval 2s >"$work/profiler.log" 2>&1 &
    profiler=$!
    started $profiler
    while ! grep -q 'Attached sched monitor' "$work/profiler.log" && kill -0 $profiler 2>/dev/null; do sleep 0.2; done
    before=$(cpu_ticks $burner)
    sleep 20
    after=$(cpu_ticks $burner)
    if ! kill -0 $profiler 2>/dev/null; then
        cannot "$(grep -m 1 ERROR "$work/profiler.log" || tail -n 1 "$work/profiler.log")"
        end $burner
        end $profiler
    else
        end $profiler
        end $burner
        nanoseconds=$(((after - before) * 1000000000 / $(getconf CLK_TCK)))
        # The last interval may not have been sent.
        between "$(total_of hearth-burner.cpu)" $((nanoseconds / 2)) $((nanoseconds * 3 / 2))

        t "the eBPF profiler's mappings and addresses"
        run hearth query --data-dir "$work/store" hearth-burner.cpu -o "$work/burner.pb.gz"
        run hearth inspect "$work/burner.pb.gz"
        out_has "$(readelf -n "$work/hearth-burner" | sed -n 's/.*Build ID: //p')"
        run hearth query --data-dir "$work/store" hearth-burner.cpu --granularity address --format top -n 1
        out_has '[hearth-burner]'
        same "$(within_mix "$(echo "$out" | sed -n '3s/.* \([0-9a-f]*\) \[hearth-burner\]$/\1/p')")" True

        t "the eBPF profiler's processes are told apart"
        run curl -s "$url/api/v1/status"
        same "$(json 'all(s["samples"] > 0 for s in d["sources"])')" True
        run hearth series --data-dir "$work/store" '{service_name="hearth-burner"}'
        out_has "process_executable_path=\"$work/hearth-burner\""
        out_lacks process_pid
    fi
fi

t "every profile that came is accounted for, to the end"
all_accounted

t "the server stops when asked"
end $server
same "$?" 0
finish
