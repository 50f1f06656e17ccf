#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A disk that fails: every kind of call in turn, no space left, a flipped bit in every kind of file. The store says so or
# goes on; it never crashes or hangs, loses nothing it acknowledged, and works again once the disk does.
#
#   tests/fault/faults.sh [long] [SEED]
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
length=${1:-ci} seed=${2:-$(date +%s)}
case $length in
long) positions=1000000 bits=12 length_is_long=1 ;;
*) positions=2 bits=2 length_is_long=0 ;;
esac
calls="open read pread write pwrite fsync fdatasync sync_file_range ftruncate fallocate rename link unlink mkdir"

# storm_writes ARGUMENTS...: what each run here does; the same calls every time, or nearly.
storm_writes() { storm write "$dir/data" ledger --threads 1 --step 60s --backups "$dir/backups" "$@"; }
# begin_with NAME: the directory as it was before the disk fails.
begin_with() {
    rm -rf "$dir" ledger
    mkdir "$dir"
    if [ "$1" = used ]; then
        cp -a "$work/used/." "$dir"
        cp "$work/used.ledger" ledger
    fi
}
# kill_after SECONDS ARGUMENTS...: writes until it is killed.
kill_after() {
    seconds=$1
    shift
    "$fault/storm" write "$dir/data" ledger --threads 1 --step 60s "$@" >storm.out 2>&1 &
    process=$!
    sleep "$seconds"
    kill_storm $process
}
# says_why: the last run ended well, or with words.
says_why() {
    case $status in
    0) ;;
    3) [ -n "$errout" ] || fail "$1: ended without a word" ;;
    1) fail "$1: a promise was broken" "$errout" ;;
    124 | 137) fail "$1: hung" "$errout" ;;
    *)
        # Debian's RocksDB has its assertions on, and some fail when it takes a file in that it cannot read, or recovers by
        # itself from a full disk. The process is gone then; what it acknowledged must not be.
        case $errout in
        *"rocksdb::"*"Assertion "*) echo "$1: an assertion of RocksDB's own ended the process: ${errout##*storm: }" ;;
        *) fail "$1: crashed, status $status" "$errout" ;;
        esac
        ;;
    esac
}
# goes_on WHAT: with a disk that works all is there, and writing goes on.
goes_on() {
    check_holds "$1, afterwards" "$dir/data" ledger
    run storm_writes --writes 20 --seed 2
    [ "$status" = 0 ] || fail "$1: writing does not go on, status $status" "$errout"
    check_holds "$1, after more writing" "$dir/data" ledger --thorough
}

t "the shim fails the call it is told to fail"
begin_with nothing
echo text >"$dir/file"
run shimmed HEARTH_SHIM_FAIL=read:2:EIO "HEARTH_SHIM_COUNT=$work/counts" -- "$python" -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
print(os.read(fd, 1))
try: print(os.read(fd, 1))
except OSError as e: print(e.errno)
print(os.read(fd, 1))' "$dir/file"
same "$out" "b't'
5
b'e'"
same "$(grep '^read ' counts)" "read 3"

# A directory with some history, its writer killed: opening it means recovering.
begin_with nothing
run storm_writes --writes 400
[ "$status" = 0 ] || { t "a run without faults" && fail "status $status" "$errout" && finish && exit 1; }
kill_after 0.7 --backups "$dir/backups"
cp -a "$dir" "$work/used"
cp ledger "$work/used.ledger"

# storm_shimmed NAME=VALUE...: the run whose calls are counted, and failed one after the other.
storm_shimmed() {
    shimmed "$@" -- timeout -s KILL 60 "$fault/storm" write "$dir/data" ledger --threads 1 --step 60s \
        --backups "$dir/backups" --writes 150 --tolerant
}
# fail_calls CALL [TEXT]: fails it at a spread of positions, once or from then on; only on paths with TEXT in them.
fail_calls() {
    number_of_case=0
    match=${2:+HEARTH_SHIM_MATCH=$2}
    for beginning in nothing used; do
        if [ ! -e "counts.$beginning.${2:-}" ]; then
            begin_with $beginning
            run storm_shimmed "HEARTH_SHIM_COUNT=$work/counts.$beginning.${2:-}" ${match:+"$match"}
            status_is 0
        fi
        n=$(sed -n "s/^$1 //p" "counts.$beginning.${2:-}")
        tried=$positions
        [ "$tried" -le "$n" ] || tried=$n
        k=0
        while [ $k -lt "$tried" ] && [ "$current_ok" = 1 ]; do
            random $((n / tried))
            nth=$((n * k / tried + number + 1))
            k=$((k + 1)) number_of_case=$((number_of_case + 1))
            case $((number_of_case % 4)) in
            0) how=EIO ;; 1) how=ENOSPC:forever ;; 2) how=EIO:forever ;; 3) how=ENOSPC ;;
            esac
            begin_with $beginning
            what="$1:$nth:$how${2:+ of $2}, beginning with $beginning"
            run storm_shimmed "HEARTH_SHIM_FAIL=$1:$nth:$how" ${match:+"$match"}
            says_why "$what"
            [ "$current_ok" = 0 ] || goes_on "$what"
        done
    done
}

for call in $calls; do
    t "a failing $call"
    fail_calls "$call"
done
# Where RocksDB needs watching: it aborts when it is used after a failed write to its log, it takes a file in whose keys
# it could not read, and it forgets a file that its manifest names when the sync of the manifest fails.
positions=$((positions * 3))
t "a failing write to a log"
fail_calls write .log
t "a failing pread of a closed hour on its way into the database"
fail_calls pread hour-
t "a failing fdatasync of a manifest"
fail_calls fdatasync MANIFEST

# --- no space left ---

# fill_disk OPTION...: storm fills a small disk, then somebody makes room.
fill_disk() {
    umount "$dir" 2>umount.err
    rm -rf "$dir" ledger
    mkdir "$dir"
    if ! mount -t tmpfs -o size=24m hearth-test "$dir" 2>mount.err; then
        cannot "no tmpfs can be mounted ($(cat mount.err))"
        return
    fi
    head -c 19000000 /dev/zero >"$dir/ballast"
    run storm write "$dir/data" ledger --threads 1 --step 20s --only-upkeep --tolerant --ballast "$dir/ballast" \
        --writes 12000 "$@"
    status_is 0
    err_has "making room"
    check_holds "after a full disk" "$dir/data" ledger
    umount "$dir"
}
t "a full disk is noticed in time, and writing goes on by itself when there is room"
fill_disk
t "a disk that fills up under the store loses nothing, and writing goes on by itself when there is room"
fill_disk --min-free 1

# --- flipped bits ---

# flip FILE OFFSET: one bit of that byte.
flip() {
    offset=$2
    random 8
    bit=$number
    "$python" -IS -c 'import sys
f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2])); b = f.read(1)
f.seek(int(sys.argv[2])); f.write(bytes([b[0] ^ 1 << int(sys.argv[3])]))' "$1" "$offset" "$bit"
}
# use_as_beginning: what begin_with used begins with from now on.
use_as_beginning() {
    rm -rf "$work/used"
    cp -a "$dir" "$work/used"
    cp ledger "$work/used.ledger"
}

# A directory of several days, with open and closed hours and something in the log.
begin_with nothing
run storm write "$dir/data" ledger --threads 1 --step 60s --writes 4000 --only-upkeep
[ "$status" = 0 ] || { t "several days" && fail "status $status" "$errout"; }
kill_after 0.5 --only-upkeep
use_as_beginning

# check_flip FILE OFFSET PERCENT: a bit there, in a fresh copy. The rest of the store must not mind, and so much of the day
# itself still answers, before and after more is written.
check_flip() {
    begin_with used
    flip "$dir/data/$1" "$2"
    what="bit $bit of byte $offset of $1"
    day=$(echo "$1" | sed -n 's,^\./profiles/\([-0-9]*\)/.*,\1,p')
    run storm check "$dir/data" ledger ${day:+--damaged "$day" --survivors "$3"}
    if [ "$status" = 3 ] && [ -z "$day" ]; then
        # Refusing to open is right where nothing can be known; then nothing was touched.
        [ -n "$errout" ] || fail "$what: refused without a word"
        cp "$work/used/data/$1" "$dir/data/$1"
        check_holds "$what, mended" "$dir/data" ledger
        return
    fi
    [ "$status" = 0 ] || fail "$what: status $status" "$errout"
    # What lost its profile id with the damage would be there twice if it were sent again.
    run storm write "$dir/data" ledger --threads 1 --only-upkeep --tolerant --writes 30 --resent 0
    says_why "$what, writing"
    check_holds "$what, after writing" "$dir/data" ledger ${day:+--damaged "$day" --survivors "$3"}
}

# flip_in PATTERN PERCENT: a bit of some files of that kind. Less than all is asked of tables and logs: the newest of these
# days is a few hours old, and one table, or one block of its log with its series, is a large part of it.
flip_in() {
    files=$(cd "$work/used/data" && find . -type f -path "$1" -size +0 | sort)
    [ -n "$files" ] || fail "there is no file like $1"
    k=0
    while [ $k -lt "$bits" ] && [ "$current_ok" = 1 ]; do
        k=$((k + 1))
        random "$(echo "$files" | wc -l)"
        file=$(echo "$files" | sed -n "$((number + 1))p")
        random "$(wc -c <"$work/used/data/$file")"
        check_flip "$file" "$number" "$2"
    done
}
# flips PERCENT PATTERN...
flips() {
    percent=$1
    shift
    for kind; do
        t "a flipped bit in $kind"
        flip_in "$kind" "$percent"
    done
}
# flip_records: a bit of the first and the last record of the newest day's manifest, and of some between: of each in the
# long run. Whichever it is, nothing is lost.
flip_records() {
    file=$(cd "$work/used/data" && find ./profiles -name 'MANIFEST-*' | sort | tail -n 1)
    "$python" -IS -c 'import sys
content = open(sys.argv[1], "rb").read()
at = 0
while at < len(content):
    room = 32768 - at % 32768
    if room < 7: at += room; continue
    size = 7 + int.from_bytes(content[at + 4:at + 6], "little")
    print(at, size)
    at += size' "$work/used/data/$file" >records
    last=$(wc -l <records)
    [ "$last" -ge 4 ] || fail "$file has $last records"
    step=$((length_is_long ? 1 : last / 3))
    k=1
    while [ "$k" -le "$last" ] && [ "$current_ok" = 1 ]; do
        random "$(sed -n "${k}s/.* //p" records)"
        check_flip "$file" $(($(sed -n "${k}s/ .*//p" records) + number)) 100
        if [ "$k" -lt "$last" ] && [ $((k + step)) -gt "$last" ]; then k=$last; else k=$((k + step)); fi
    done
}
flips 50 '*.sst'
# Of a log, rows behind the damage whose names were in it are lost, too: in the first minutes of a day that may be most.
flips 25 '*/[0-9]*.log'
flips 100 '*/MANIFEST-*' '*/CURRENT' '*/OPTIONS-*' '*/IDENTITY' './FORMAT' './meta/*'
t "a flipped bit in each record of a manifest"
flip_records

# Days that are so young that all their rows are still in their logs.
begin_with nothing
kill_after 0.3 --only-writes
use_as_beginning
t "a flipped bit in each record of the manifest of a young day"
[ -z "$(find "$work/used/data/profiles" -name '*.sst')" ] || fail "rows are in tables already"
flip_records

echo "seed $seed"
finish
