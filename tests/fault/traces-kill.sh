#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The server is killed while spans come in, and its disk fills up: every span that it acknowledged is there once.
#
#   tests/fault/traces-kill.sh [long] [SEED]
on_disk=yes
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
length=${1:-ci} seed=${2:-$(date +%s)}
case $length in
long) rounds=60 ;;
*) rounds=6 ;;
esac
mkdir "$dir"

# crowd SENDERS ROUND: in the background.
crowd() {
    "$python" "$root/tests/fault/tracecrowd.py" send "$address" ledger "$@" 2>crowd.err &
    crowd_pid=$!
}
end_crowd() {
    kill "$crowd_pid" 2>/dev/null
    { wait "$crowd_pid"; } 2>/dev/null
}
# check_ledger WHAT: the server is up.
check_ledger() {
    run timeout 120 "$python" "$root/tests/fault/tracecrowd.py" check "$address" ledger
    [ "$status" = 0 ] || fail "$1 (seed $seed):" "$out" "$errout"
    echo "$1: $out"
}

t "kill -9 under load loses no span that was acknowledged, and has none twice"
round=0
while [ $round -lt $rounds ]; do
    round=$((round + 1))
    # The hours that are over are closed meanwhile.
    start_server "$dir/data"
    crowd 4 "r$round"
    random 10
    sleep "0.$number"
    kill_server
    end_crowd
done
start_server "$dir/data"
check_ledger "killed $rounds times"
stop_server
status_is 0
run hearth stats --data-dir "$dir/data" --json
[ "$(json 'd["traces"]["block_bytes"] > 0')" = True ] || fail "no hour was closed, so that was not tested"

t "nor does a stop, and what was closed is the same when it is read again"
start_server "$dir/data"
crowd 4 stop
sleep 1.5 # once around: hours are closed beside it
stop_server
status_is 0
end_crowd
start_server "$dir/data"
check_ledger "stopped under load"
stop_server

t "a full disk: spans are refused, and kept again when there is room"
rm -rf "${dir:?}/data" ledger
if ! mount -t tmpfs -o size=64m hearth-test "$dir" 2>mount.err; then
    cannot "no tmpfs can be mounted ($(cat mount.err))"
else
    start_server "$dir/data" --min-free 8MiB --memory-limit 64MiB
    crowd 2 disk
    sleep 0.5
    free_kib=$(df -Pk "$dir" | awk 'NR == 2 { print $4 }')
    head -c $(((free_kib - 4096) * 1024)) /dev/zero >"$dir/ballast"
    is_refused() { grep -q '^refused .* 50[37]$' ledger; }
    wait_for is_refused
    rm "$dir/ballast"
    n_refused=$(grep -c ^refused ledger)
    n_kept=$(grep -c ^kept ledger)
    keeps_again() { [ "$(grep -c ^kept ledger)" -gt "$n_kept" ]; }
    wait_for keeps_again
    [ "$n_refused" -gt 0 ] || fail "nothing was refused"
    stop_server
    status_is 0
    end_crowd
    start_server "$dir/data"
    check_ledger "after a full disk"
    stop_server
    umount "$dir"
fi
finish
