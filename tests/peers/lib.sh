# Shared by the tests against real programs: sourced in place of tests/lib.sh.
#
# shellcheck shell=sh disable=SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/peers/go-env.sh
. "$root/tests/peers/go-env.sh"
peers=$root/build/peers
here=$root/tests/peers

# Every path out of here ends in the line of counts.
stop() {
    finish
    exit
}

# build_go_peers: the commands of tests/peers/go in $peers, and `go tool pprof` as $pprof. Without a Go nothing is left
# to test, and the script ends.
build_go_peers() {
    t "the Go programs can be built"
    if ! go=$(find_go "$root" 2>go.err); then
        skip "$(cat go.err)"
        stop
    fi
    mkdir -p "$peers"
    if ! (cd "$here/go" && local_go "$go" build -o "$peers/" ./cmd/...) >go.log 2>&1; then
        fail "$(tail -n 20 go.log)"
        stop
    fi
    # Where the tool is not built yet, asking for its path builds it into Go's cache.
    pprof=$(cd "$here/go" && local_go "$go" tool -n pprof)
    if [ ! -x "$pprof" ]; then
        fail "go tool pprof is not there: '$pprof'"
        stop
    fi
}

# hearth_to FILE OUT: converts without a word.
hearth_to() { quietly hearth convert "$1" "$2"; }
# equal WHAT COMMAND...: a comparison that must print `equal`.
equal() {
    what=$1
    shift
    answer=$("$@" 2>&1) || fail "$what: $*" "$answer"
    case $answer in *equal) ;; *) [ "$current_ok" = 0 ] || fail "$what: $answer" ;; esac
}
# some FILE: what is to be tested must be there.
some() { [ -e "$1" ] || fail "there is no such file: $1"; }

# --- senders: programs that send to a server of ours ---
senders=$root/build/senders

# build_go_senders: the commands of tests/peers/senders/go in $senders; prints why not.
build_go_senders() {
    mkdir -p "$senders"
    go=$(find_go "$root" 2>"$work/go.err") || { cat "$work/go.err" && return 1; }
    (cd "$here/senders/go" && local_go "$go" build -o "$senders/" ./cmd/...) >"$work/go.log" 2>&1 ||
        { tail -n 3 "$work/go.log" && return 1; }
}

# started PID: from now on it ends when the script does; end PID: ends it now, and its exit status is that of the call.
processes=
started() {
    processes="$processes $1 "
    # shellcheck disable=SC2086
    trap 'kill $processes 2>/dev/null; rm -rf "$work"' EXIT
}
end() {
    processes=$(echo "$processes" | sed "s/ $1 //")
    kill "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

# start_server: as $server, at $url, with the settings in $work/server.yaml if that is there; on free ports of the
# loopback, and on the same ones when it is started again.
start_server() {
    [ -e "$work/server.yaml" ] || printf 'access-log: false\n' >"$work/server.yaml"
    set -- "$(port listen)" "$(port listen-otlp-grpc)" "$(port listen-otlp-http)"
    rm -f "$work/ports"
    "$hearth" server --no-self-profile --config "$work/server.yaml" --data-dir "$work/store" --listen "$1" --listen-otlp-grpc "$2" \
        --listen-otlp-http "$3" --ports-file "$work/ports" >"$work/server.out" 2>>"$work/server.err" &
    server=$!
    started $server
    while [ ! -s "$work/ports" ] && kill -0 $server 2>/dev/null; do sleep 0.1; done
    [ -s "$work/ports" ] || fail "the server does not start:" "$(tail -n 5 "$work/server.err")"
    url=http://$(port listen)
}
# port NAME: HOST:PORT of that listener; any port while there is no server.
port() {
    [ -s "$work/ports" ] || { echo 127.0.0.1:0 && return; }
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/ports" "$1"
}

# top SELECTOR: what hearth says of it, into $out.
top() { run hearth query --data-dir "$work/store" "$1" --format top -n 40; }
# total_of SELECTOR: the sum of all its samples.
total_of() {
    run hearth query --data-dir "$work/store" "$1" --format json
    json 'd["total"]'
}
# between VALUE LOW HIGH
between() { python3 -c 'import sys; v, l, h = map(float, sys.argv[1:]); sys.exit(not l <= v <= h)' "$1" "$2" "$3" ||
    fail "$1 is not between $2 and $3"; }
# all_accounted: nothing that came was lost, and nothing dropped.
all_accounted() {
    run curl -s "$url/api/v1/status"
    same "$(json 'all(s["seen"] == s["stored"] + sum(s["dropped"].values()) and s["stored"] > 0 for s in d["sources"])')" True
    same "$(json 'sum(sum(s["dropped"].values()) for s in d["sources"])')" 0
}
