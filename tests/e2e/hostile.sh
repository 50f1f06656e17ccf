#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Peers that mean no good (hostile.py): each gets the status it deserves, the server lives, /ready answers throughout, and
# its memory goes back to where it was.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
margin_kib=40960 # of which the store may use most: --memory-limit below

rss_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$server_pid/status"; }
peak_kib() { awk '/^VmHWM:/ { print $2 }' "/proc/$server_pid/status"; }
forget_peak() { echo 5 >"/proc/$server_pid/clear_refs" 2>/dev/null; }
# attack CASE: and nothing is wrong.
attack() {
    run timeout 60 "$python" -IS "$root/tests/e2e/hostile.py" "$address" "$1"
    [ "$status" = 0 ] || fail "$1:" "$out" "$errout"
    is_over && fail "$1 ended the server:" "$(tail -5 server.err)"
}

start_server data --memory-limit 64MiB --head-timeout 1s --body-timeout 1s --max-connections 4096
attack one_byte_writes
before=$(rss_kib)

# Somebody looks after the server all the time.
(
    while [ -e data ] && [ ! -e enough ]; do
        curl -s -m 20 -o /dev/null -w '%{http_code}\n' "$url/ready"
        sleep 0.05
    done >watched
) &
watcher=$!

t "bytes by ones, and only half of a conversation"
attack one_byte_writes
attack half_close

t "requests that two readers could understand differently"
attack smuggling

t "peers that are slow on purpose"
attack slowloris

t "many connections, and answers that nobody reads"
attack many_connections
attack pipelined_flood

t "frames that are none"
attack frames

t "floods of frames"
for flood in rapid_reset ping_flood settings_flood priority_flood continuation_flood empty_data_flood; do
    attack $flood
done

t "bodies of 300 MB are refused early"
forget_peak
huge_before=$(rss_kib)
attack huge_body
# What comes in chunks is kept up to the limit, 64 MiB, before it is seen to be too much; what says its length costs nothing.
[ $(($(peak_kib) - huge_before)) -lt $((65536 + 65536)) ] || fail "memory rose from $huge_before to $(peak_kib) KiB"

t "what inflates without end"
attack gzip_bomb

t "JSON without a bottom, and profiles without anything"
attack deep_json
attack empty_profiles

t "labels without end"
attack many_labels
attack long_label

t "it lived, and answered throughout"
: >enough
wait $watcher
same "$(sort -u watched)" 200
# What was freed goes back to the system when nobody has written for a moment.
is_back() {
    after=$(rss_kib)
    [ "$after" -le $((before + margin_kib)) ]
}
wait_for is_back || fail "memory went from $before to $after KiB"
stop_server
status_is 0
err_lacks " error "
finish
