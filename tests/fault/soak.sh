#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Seven simulated days with a retention of three: memory and disk stay flat.
#
#   tests/fault/soak.sh [long]
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
step=60s days=7
[ "${1:-}" != long ] || { step=5s days=14; }
storm_seconds=900

t "$days days take no more than four"
run storm write data ledger --threads 1 --step $step --retention 3d --days $days --no-pins --backups backups
status_is 0
echo "$out"
# field DAY NAME: a number that storm printed at the end of that day.
field() { echo "$out" | sed -n "s/^day $1 .*\b$2 \([0-9]*\).*/\1/p"; }
for name in disk_kb rss_kb; do
    early=$(field 4 $name) late=$(field $days $name)
    [ "${late:-0}" -gt 0 ] || fail "storm did not print $name of day $days:" "$out"
    [ "${late:-0}" -le $((${early:-0} * 2)) ] || fail "$name rose from $early on day 4 to $late on day $days"
done
[ "$(field $days days)" -le 5 ] || fail "$(field $days days) days are kept, for a retention of 3"

t "what must be there after $days days is there"
check_holds "after $days days" data ledger --thorough

finish
