#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Memory stays within its limit: inside a memory cgroup, where too much means death, and by the peak that Linux counts.
#
#   tests/fault/memory.sh [long | SECONDS]
on_disk=yes # a file in memory counts as memory
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
seconds=${1:-8}
[ "$seconds" != long ] || seconds=120
storm_seconds=$((seconds + 60))

# cgroup_make BYTES: a memory cgroup in $cgroup; false where none can be had.
cgroup_make() {
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        cgroup=/sys/fs/cgroup/hearth-test-$$
        { echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$cgroup" &&
            echo "$1" >"$cgroup/memory.max"; } 2>cgroup.err || return 1
    else
        cgroup=/sys/fs/cgroup/memory/hearth-test-$$
        { mkdir "$cgroup" && echo "$1" >"$cgroup/memory.limit_in_bytes"; } 2>cgroup.err || return 1
    fi
}
cgroup_kills() {
    sed -n 's/^oom_kill //p' "$cgroup/memory.events" "$cgroup/memory.oom_control" 2>cgroup.err | head -n 1
}

# stays_below LIMIT PEAK_KB CGROUP_BYTES: a storm of four writers with this limit.
stays_below() {
    rm -rf data ledger backups
    if ! cgroup_make "$3"; then
        skip "no memory cgroup can be made: $(cat cgroup.err)"
        return
    fi
    run sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$cgroup" timeout -s KILL "$storm_seconds" \
        "$fault/storm" write data ledger --threads 4 --step 5s --weight 20 --seconds "${seconds}s" --memory-limit "$1" \
        --backups backups
    kills=$(cgroup_kills)
    rmdir "$cgroup"
    status_is 0
    same "kills ${kills:-0}" "kills 0"
    peak_kb=$(echo "$out" | sed -n 's/.* peak_kb //p')
    echo "limit $1: $out"
    [ "${peak_kb:-999999999}" -le "$2" ] || fail "VmHWM is $peak_kb kB, wanted at most $2 kB"
    check_holds "within $1" data ledger --memory-limit "$1"
}
t "a limit of 64 MiB holds"
stays_below 64MiB 98304 134217728
t "a limit of 96 MiB holds"
stays_below 96MiB 117187 167772160

finish
