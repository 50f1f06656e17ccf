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
has_check=yes

# stays_below LIMIT PEAK_KB CGROUP_BYTES STORM_OPTIONS...: a storm with this limit.
stays_below() {
    limit=$1 most_kb=$2 cgroup_bytes=$3
    shift 3
    rm -rf data ledger backups
    if ! cgroup_make "$cgroup_bytes"; then
        skip "no memory cgroup can be made: $(cat cgroup.err)"
        return
    fi
    run sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$cgroup" timeout -s KILL "$storm_seconds" \
        "$fault/storm" write data ledger --seconds "${seconds}s" --memory-limit "$limit" --backups backups "$@"
    kills=$(cgroup_kills)
    rmdir "$cgroup"
    status_is 0
    same "kills ${kills:-0}" "kills 0"
    peak_kb=$(echo "$out" | sed -n 's/.* peak_kb //p')
    echo "limit $limit: $out"
    [ "${peak_kb:-999999999}" -le "$most_kb" ] || fail "VmHWM is $peak_kb kB, wanted at most $most_kb kB"
    [ -n "$has_check" ] || return 0
    check_holds "within $limit" data ledger --memory-limit "$limit"
}
t "a limit of 64 MiB holds"
stays_below 64MiB 98304 134217728 --threads 4 --step 5s --weight 20
t "a limit of 96 MiB holds"
stays_below 96MiB 117187 167772160 --threads 4 --step 5s --weight 20
# What storm itself holds to compare counts, too: less is written with readers.
t "a limit of 64 MiB holds with readers"
stays_below 64MiB 81920 134217728 --threads 2 --readers 4 --step 20s --writes 3000
t "a limit of 64 MiB holds for a tenant with thousands of series of 35 kB of labels, and readers"
stays_below 64MiB 98304 134217728 --threads 2 --readers 4 --step 1s --crowd-tenants 1 --crowd-series 20000 \
    --crowd-label-bytes 35000
# Verifying looks at every tenant in every hour, which takes minutes.
t "a limit of 64 MiB holds with 6,000 tenants, and readers"
storm_seconds=$((seconds + 600))
[ "${1:-}" = long ] || has_check=""
stays_below 64MiB 81920 134217728 --threads 2 --readers 2 --step 1s --crowd-tenants 6000 --only-upkeep

finish
