#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profiles in the formats before profile.proto: those that gperftools writes of a C program, and Go's text pages.
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
build_go_peers

t "gperftools profiles a C program"
libraries=$(dirname "$(find /usr/lib -name libprofiler.so.0 2>/dev/null | head -1)")
if [ ! -e "$libraries/libtcmalloc.so.4" ]; then
    skip "no gperftools: install libgoogle-perftools4"
    stop
fi
gcc -O1 -fno-omit-frame-pointer -o burn "$data/burn.c" || fail "burn.c does not compile"
LD_PRELOAD=$libraries/libprofiler.so.0 CPUPROFILE=burn.cpu CPUPROFILE_FREQUENCY=250 ./burn 0.6 >burn.log 2>&1 ||
    fail "$(cat burn.log)"
LD_PRELOAD=$libraries/libtcmalloc.so.4 HEAPPROFILE=burn HEAP_PROFILE_ALLOCATION_INTERVAL=5000000 ./burn 0.1 >burn.log 2>&1 ||
    fail "$(cat burn.log)"
heap=$(find . -name 'burn.*.heap' | sort | tail -1)
some burn.cpu
some "$heap"
"$peers/writeprofiles" . || fail "writeprofiles failed"

for file in burn.cpu "$heap"; do
    t "$file: every sample, address and mapping equals pprof's reading"
    quietly hearth convert "$file" ours.pb.gz
    # drop_frames are regular expressions of each reader's own.
    "$peers/pprofcheck" -sum "$file" | grep -v -e '^drop ' -e '^keep ' >wanted
    "$peers/pprofcheck" -sum ours.pb.gz | grep -v -e '^drop ' -e '^keep ' >got
    same_file got wanted
    [ "$(grep -c '^sample' got)" -gt 1 ] || fail "there is only one sample"

    t "$file: totals and tables equal pprof's"
    equal "$file" python3 "$here/compare_top.py" "$hearth" "$peers/pprofcheck" "$pprof" "$file"
done

t "the totals are those that go tool pprof prints"
# total_of FILE: the sum of pprof's raw samples, in the last type.
total_of() { "$pprof" -raw -symbolize=none "$1" | awk '/^Samples:/ { in_samples = 1; next } /^Locations/ { exit }
    in_samples && /^[ 0-9]*: / { sub(/:.*/, ""); sum += $NF } END { print sum }'; }
for file in burn.cpu "$heap"; do
    run hearth top --json "$file"
    same "$file: $(json 'd["total"]')" "$file: $(total_of "$file")"
done

for file in heap.txt goroutine.txt; do
    t "Go's $file: values and addresses equal pprof's reading"
    quietly hearth convert "$file" ours.pb.gz
    # pprof leaves the names in the comments alone; hearth takes them.
    addresses() { "$peers/pprofcheck" -sum -no-header "$1" | sed 's/[^ ]*|\(0x[0-9a-f]*\)|[^ ]*/\1/g' | sort; }
    addresses "$file" >wanted
    addresses ours.pb.gz >got
    same_file got wanted
done

t "Go's text pages keep their names"
run hearth top -n 0 heap.txt
out_has "main.makeSlabs"
out_has "main.growTree"
run hearth top -n 0 goroutine.txt
out_has "main.parkGoroutines"

t "a CPU profile cut short is refused within a record, and told between two"
python3 - <<'PYTHON'
import struct
data = open("burn.cpu", "rb").read()
words = struct.unpack("<%dQ" % (len(data) // 8), data[:len(data) // 8 * 8])
at = 5  # the header; then records of count, depth, addresses
for _ in range(10):
    at += 2 + words[at + 1]
open("between.cpu", "wb").write(data[:8 * at])
open("within.cpu", "wb").write(data[:8 * at + 24])
PYTHON
refuses 1 "reading 'within.cpu': gperftools: CPU profile, byte " hearth inspect within.cpu
run hearth inspect between.cpu
status_is 0
err_has "warning: between.cpu: "

finish
