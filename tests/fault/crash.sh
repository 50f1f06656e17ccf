#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 at random moments of writing, closing hours, retention, deleting, pinning, backing up and starting up again:
# no acknowledged profile is missing or doubled, verify is clean, and nobody has to mend anything.
#
#   tests/fault/crash.sh [quick | long | RUNS] [SEED]
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
runs=${1:-20} seed=${2:-$(date +%s)}
case $runs in quick) runs=3 ;; long) runs=300 ;; esac

# settle: what the runs on one directory have in common.
settle() {
    rm -rf data ledger backups
    random 4
    threads=$((number + 1))
    random 4
    case $number in 0) step=2s ;; 1) step=5s ;; 2) step=20s ;; 3) step=60s ;; esac
    random 2
    case $number in 0) retention=8h ;; 1) retention=3d ;; esac
    random 3
    case $number in 0) sync=always ;; 1) sync=1s ;; 2) sync=off ;; esac
    random 3
    background=""
    [ "$number" != 0 ] || background=--background
}

# A third is killed while it starts, the rest within two seconds.
choose_moment() {
    random 3
    if [ "$number" = 0 ]; then random 150; else random 1900; fi
    milliseconds=$((number + 5))
}

t "nothing is lost, doubled or damaged by $runs kills"
i=0
while [ $i -lt "$runs" ]; do
    [ $((i % 6)) != 0 ] || settle
    i=$((i + 1))
    choose_moment
    settings="--threads $threads --step $step --retention $retention --wal-sync $sync $background"
    # shellcheck disable=SC2086
    "$fault/storm" write data ledger --seed "$seed$i" --backups backups $settings >storm.out 2>&1 &
    process=$!
    sleep "$((milliseconds / 1000)).$(printf %03d $((milliseconds % 1000)))"
    kill_storm $process
    scene="run $i of seed $seed ($settings, killed after $milliseconds ms)"
    [ $status = 137 ] || fail "$scene: storm ended by itself, status $status" "$(tail -n 5 storm.out)"
    [ -e data ] || continue
    thorough=""
    [ $((i % 4)) != 0 ] || thorough=--thorough
    check_holds "$scene" data ledger $thorough
    backup=$(sed -n 's/^B //p' ledger | tail -n 1)
    if [ -n "$backup" ] && [ $((i % 3)) = 0 ]; then
        rm -rf restored
        cp -a "backups/$(printf %06d "$backup")" restored
        check_holds "$scene, backup $backup" restored ledger --backup "$backup"
    fi
    [ "$current_ok" = 1 ] || { echo "rerun: tests/fault/crash.sh $runs $seed" && break; }
done

finish
