#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A server under steady load, which comes and goes: its memory, its sockets and its threads stay where they were.
#
#   tests/fault/server-soak.sh [long]
on_disk=yes
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
case ${1:-ci} in
long) rounds=120 ;;
*) rounds=8 ;;
esac
mkdir "$dir"

rss() { awk '/^VmRSS/ { print $2 }' "/proc/$server_pid/status"; }
sockets() { find "/proc/$server_pid/fd" -mindepth 1 -lname 'socket:*' 2>/dev/null | wc -l; }
threads() { find "/proc/$server_pid/task" -mindepth 1 -maxdepth 1 | wc -l; }
# load ROUND: three seconds of it, with new connections each time.
load() {
    "$python" "$root/tests/fault/crowd.py" send "$address" ledger 6 20000 "s$1" 2>crowd.err &
    crowd_pid=$!
    sleep 3
    kill "$crowd_pid" 2>/dev/null
    { wait "$crowd_pid"; } 2>/dev/null
}

t "nothing grows"
start_server "$dir/data" --memory-limit 64MiB
round=0 early=0 late=0
while [ $round -lt $rounds ]; do
    round=$((round + 1))
    load $round
    now=$(rss)
    if [ $round -le $((rounds / 2)) ]; then
        [ "$now" -le "$early" ] || early=$now
    else
        [ "$now" -le "$late" ] || late=$now
    fi
    [ $round != 2 ] || { sockets_then=$(sockets) && threads_then=$(threads); }
done
echo "at most $early kB in the first half, $late kB in the second"
[ "$late" -le $((early + early / 5 + 8192)) ] || fail "memory grew from $early to $late kB in $rounds rounds"
[ "$(sockets)" -le $((sockets_then + 8)) ] || fail "sockets: $sockets_then, then $(sockets)"
[ "$(threads)" -le $((threads_then + 4)) ] || fail "threads: $threads_then, then $(threads)"

t "and everything that was acknowledged is there"
stop_server
status_is 0
run hearth query --data-dir "$dir/data" crowd.cpu --from 2h --format folded -o answer.folded
status_is 0
run "$python" "$root/tests/fault/crowd.py" check ledger answer.folded
status_is 0
echo "$out"
finish
