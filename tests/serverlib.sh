# For shell tests that run a server: sourced behind tests/lib.sh (or tests/fault/lib.sh). Whatever is started here is ended
# with the script.
#
#   start_server data --multi-tenant    # the directory, then options; waits until it is ready
#   post /ingest?name=api profile.pb    # keeps $code and $out
#   stop_server                         # SIGTERM; keeps $status
#
# shellcheck shell=sh disable=SC2034,SC2154
server_pid=
end_server() {
    [ -z "$server_pid" ] || kill -KILL "$server_pid" 2>/dev/null
    server_pid=
}
trap 'end_server; rm -rf "$work"' EXIT

# launch COMMAND...: in the background, with what it says in server.out and server.err.
launch() {
    : >"$work/server.out"
    "$@" >"$work/server.out" 2>"$work/server.err" &
    server_pid=$!
}

# wait_for COMMAND...: until it succeeds; half a minute at most.
wait_for() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { fail "'$*' never came true" && return 1; }
        sleep 0.05
    done
}
has_line() { [ -s "$work/server.out" ]; }
is_over() { ! kill -0 "$server_pid" 2>/dev/null; }
has_line_or_is_over() { has_line || is_over; }
# log_has TEXT: in what the server logged so far.
log_has() { grep -qF -e "$1" "$work/server.err"; }

# start_server DIRECTORY OPTIONS...: one listener on a free port and no profiles of its own, unless options say otherwise.
# Sets $url.
start_server() {
    data_dir=$1
    shift
    launch "$hearth" server --data-dir "$data_dir" --listen 127.0.0.1:0 --listen-otlp-grpc off --listen-otlp-http off \
        --no-self-profile "$@"
    wait_for has_line_or_is_over
    learn_url
}
learn_url() {
    address=$(sed -n 's/.*"listen":"\([^"]*\)".*/\1/p' "$work/server.out")
    url=http://$address
    [ -n "$address" ] || fail "the server did not start:" "$(cat "$work/server.out" "$work/server.err")"
}
# stop_server: waits until it is gone; kill_server does not let it say goodbye.
stop_server() { signal_server TERM; }
kill_server() { signal_server KILL; }
signal_server() {
    kill -"$1" "$server_pid"
    { wait "$server_pid"; } 2>/dev/null
    status=$?
    server_pid=
    errout=$(cat "$work/server.err")
}

# ask PATH CURL-ARGUMENTS...: keeps $code, and what came as $out.
ask() {
    path=$1
    shift
    : >"$work/.out"
    code=$(curl -s -m 30 -o "$work/.out" -w '%{http_code}' "$@" "$url$path")
    out=$(cat "$work/.out")
}
# post PATH FILE CURL-ARGUMENTS...
post() {
    path=$1 file=$2
    shift 2
    ask "$path" -X POST --data-binary "@$file" -H 'Content-Type: application/octet-stream' "$@"
}
# answers CODE TEXT: the last request was answered so.
answers() {
    [ "$code" = "$1" ] || fail "status $code, wanted $1:" "$out"
    out_has "$2"
}
