#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Power loss, simulated: with --wal-sync always everything acknowledged is on the disk that survives. The model of the
# disk is in tests/fault/shadow.h; it keeps nothing that was not synced.
#
#   tests/fault/power.sh [long | RUNS] [SEED]
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
runs=${1:-10} seed=${2:-$(date +%s)}
[ "$runs" != long ] || runs=100

# --- the shim itself ---

t "the shadow keeps what was synced and drops the rest"
dir=$work/disk
mkdir "$dir"
echo old >"$dir/there-before"
cat >disk.py <<'END'
import os, sys
d = sys.argv[1] + "/"
def put(name, text, sync):
    fd = os.open(d + name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(fd, text)
    if sync: os.fdatasync(fd)
    return fd
def sync(name):
    fd = os.open(d + name, os.O_RDONLY); os.fsync(fd); os.close(fd)
fd = put("partly", b"synced ", True)
os.write(fd, b"not synced")
put("never-synced", b"lost", False)
put("renamed-from", b"content", True)
os.rename(d + "renamed-from", d + "renamed-to")
os.mkdir(d + "inner"); put("inner/file", b"deep", True)
os.mkdir(d + "nameless")
sync("inner"); os.rename(d + "inner", d + "moved")
os.mkdir(d + "forgotten-list"); put("forgotten-list/file", b"x", True)
sync("")
put("too-late", b"its name is not synced", True)
os.unlink(d + "there-before")
os.rename(d + "renamed-to", d + "renamed-again")
fd = os.open(d + "partly", os.O_RDWR); os.ftruncate(fd, 3)
END
shimmed "HEARTH_SHIM_POWER=$work/shadow" -- "$python" disk.py "$dir" || fail "disk.py failed"
"$fault/survive" shadow disk survived || fail "survive failed"
survivors() { cd survived && for file in $(find . -type f | sort); do printf '%s=%s\n' "$file" "$(cat "$file")"; done; }
same "$(survivors)" "./moved/file=deep
./never-synced=
./partly=synced 
./renamed-to=content
./there-before=old"
same "$(cd survived && find . -type d | sort | tr '\n' ' ')" ". ./forgotten-list ./moved ./nameless "
"$fault/survive" shadow disk torn 7 || fail "survive with a seed failed"

# --- the store ---

# lose_power SYNC CHECK...: one run, killed, and what survives of it checked; every third begins anew, the others go on.
lose_power() {
    sync=$1
    shift
    if [ $((i % 3)) = 1 ]; then
        rm -rf "$dir" ledger
        mkdir "$dir"
        random 3
        threads=$((number + 1))
    fi
    rm -rf shadow survived
    random 1500
    milliseconds=$((number + 20))
    HEARTH_SHIM_DIR=$dir HEARTH_SHIM_POWER=$work/shadow LD_PRELOAD=$shim "$fault/storm" write "$dir/data" ledger \
        --seed "$seed$i" --threads "$threads" --wal-sync "$sync" --step 20s --backups "$dir/backups" >storm.out 2>&1 &
    process=$!
    while [ ! -e shadow/ready ] && kill -0 $process; do sleep 0.01; done
    sleep "$((milliseconds / 1000)).$(printf %03d $((milliseconds % 1000)))"
    kill_storm $process
    scene="run $i of seed $seed, killed after $milliseconds ms"
    [ $status = 137 ] || fail "$scene: storm ended by itself, status $status" "$(tail -n 5 storm.out)"
    "$fault/survive" shadow "$dir" survived "$((i % 2 * (seed + i)))" || fail "$scene: survive failed"
    rm -rf "$dir"
    mv survived "$dir"
    check_holds "$scene" "$dir/data" ledger "$@"
    backup=$(sed -n 's/^B //p' ledger | tail -n 1)
    [ -z "$backup" ] ||
        check_holds "$scene, backup $backup" "$dir/backups/$(printf %06d "$backup")" ledger --backup "$backup" "$@"
    [ "$current_ok" = 1 ] || echo "rerun: tests/fault/power.sh $runs $seed"
}

dir=$work/live
t "with --wal-sync always everything acknowledged survives $runs losses of power"
i=0
while [ $i -lt "$runs" ] && [ "$current_ok" = 1 ]; do
    i=$((i + 1))
    lose_power always
done

# What was lost would have to be written again: each run begins anew.
for sync in 1s off; do
    t "with --wal-sync $sync a loss of power leaves a store that is whole, with nothing wrong in it"
    i=1
    while [ $i -lt "$runs" ] && [ "$current_ok" = 1 ]; do
        lose_power "$sync" --lossy
        i=$((i + 3))
    done
done

finish
