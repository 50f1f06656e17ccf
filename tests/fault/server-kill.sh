#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The server is killed under load, its disk fills up, its memory is short: what it acknowledged is there once, what it
# refused is not, and it takes profiles again as soon as it can.
#
#   tests/fault/server-kill.sh [long] [SEED]
on_disk=yes # a file in memory would count as the server's
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
length=${1:-ci} seed=${2:-$(date +%s)}
case $length in
long) rounds=40 ;;
*) rounds=4 ;;
esac
mkdir "$dir"

# crowd SENDERS PAD_BYTES ROUND: in the background.
crowd() {
    "$python" "$root/tests/fault/crowd.py" send "$address" ledger "$@" 2>crowd.err &
    crowd_pid=$!
}
end_crowd() {
    kill "$crowd_pid" 2>/dev/null
    { wait "$crowd_pid"; } 2>/dev/null
}
# status_of EXPRESSION: of the status page.
status_of() {
    ask /api/v1/status
    json "$1"
}
is_drained() { [ "$(status_of 'd["spill"]["bytes"]')" = 0 ]; }
has_spilled() { [ "$(status_of 'd["spill"]["uploads"] > 0')" = True ]; }
# check_ledger WHAT: the server is stopped.
check_ledger() {
    run hearth query --data-dir "$dir/data" crowd.cpu --from 2h --format folded -o answer.folded
    status_is 0
    run "$python" "$root/tests/fault/crowd.py" check ledger answer.folded
    [ "$status" = 0 ] || fail "$1 (seed $seed):" "$out" "$errout"
    echo "$1: $out"
}
# kill_in_rounds SENDERS PAD_BYTES OPTIONS...
kill_in_rounds() {
    senders=$1 pad=$2
    shift 2
    rm -rf "${dir:?}/data" ledger
    round=0
    while [ $round -lt $rounds ]; do
        round=$((round + 1))
        start_server "$dir/data" "$@"
        crowd "$senders" "$pad" "r$round"
        [ "$pad" -lt 10000 ] || wait_for has_spilled
        random 10
        sleep "0.$number"
        kill_server
        end_crowd
    done
    start_server "$dir/data"
    wait_for is_drained
    stop_server
    status_is 0
}

t "kill -9 under load loses nothing that was acknowledged"
kill_in_rounds 8 100
check_ledger "killed $rounds times"

t "nor what was in the spill file"
kill_in_rounds 64 24000 --queue-size 1MiB --workers 1 --spill-size 8GiB # far from where it would be thinned out
check_ledger "killed $rounds times while spilling"

t "a stop under load loses nothing either"
rm -rf "${dir:?}/data" ledger
start_server "$dir/data" --queue-size 1MiB --workers 1
crowd 64 24000 stop
wait_for has_spilled
stop_server
status_is 0
end_crowd
start_server "$dir/data"
wait_for is_drained
stop_server
check_ledger "stopped while spilling"

t "a full disk: it refuses, is not ready, and goes on when there is room"
rm -rf "${dir:?}/data" ledger
if ! mount -t tmpfs -o size=64m hearth-test "$dir" 2>mount.err; then
    cannot "no tmpfs can be mounted ($(cat mount.err))"
else
    start_server "$dir/data" --min-free 8MiB --memory-limit 64MiB
    crowd 4 100 disk
    sleep 0.5
    free_kib=$(df -Pk "$dir" | awk 'NR == 2 { print $4 }')
    head -c $(((free_kib - 4096) * 1024)) /dev/zero >"$dir/ballast"
    is_unready() { ask /ready && [ "$code" = 503 ]; }
    wait_for is_unready
    answers 503 "not ready: "
    printf 'main;p-x-x-x 7\n' >one.folded
    post '/ingest?name=crowd&format=groups&sampleRate=100' one.folded
    case $code in 429 | 503 | 507) ;; *) fail "a full disk is answered with $code" "$out" ;; esac
    rm "$dir/ballast"
    is_ready() { ask /ready && [ "$code" = 200 ]; }
    wait_for is_ready
    post '/ingest?name=crowd&format=groups&sampleRate=100' one.folded && answers 200 ""
    sleep 0.5
    stop_server
    status_is 0
    end_crowd
    check_ledger "after a full disk"
    umount "$dir"
fi

t "little memory: it sheds what it must and lives"
rm -rf "${dir:?}/data" ledger
if ! cgroup_make 200000000; then
    skip "no memory cgroup can be made: $(cat cgroup.err)"
else
    # shellcheck disable=SC2016  # for the shell that enters the group
    launch sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$cgroup" "$hearth" server --no-self-profile --data-dir "$dir/data" \
        --listen 127.0.0.1:0 --listen-otlp-grpc off --listen-otlp-http off --memory-limit 64MiB
    wait_for has_line_or_is_over
    learn_url
    crowd 32 500000 memory
    sleep 3
    ask /ready && answers 200 ready
    stop_server
    status_is 0
    end_crowd
    same "$(cgroup_kills)" 0
    rmdir "$cgroup"
    start_server "$dir/data"
    wait_for is_drained
    stop_server
    check_ledger "with little memory"
fi
finish
