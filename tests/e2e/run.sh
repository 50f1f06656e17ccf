#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ./run alone: a server, a workload, and two lines to ask with; what is printed works, and Ctrl-C ends it all.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
RUN_DATA=$work/data
export RUN_DATA

pid_of() { sed -n 's/.*"pid":\([0-9]*\).*/\1/p' data/server.out; }
printed() { sed -n "s/^  \($1.*\)/\1/p" server.out; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# As a terminal starts it: in a process group of its own, to which Ctrl-C goes, and which a shell in the background would
# have ignored.
start_run() {
    : >server.out
    env --default-signal=INT HEARTH_LISTEN="$1" setsid "$root/run" >server.out 2>server.err &
    server_pid=$!
}

t "./run starts a server and a workload, and says where they are"
start_run 127.0.0.1:0
wait_for grep -q 'Ctrl-C stops them' server.out
url=$(sed -n 's/^open //p' server.out)
same "$(head -n 1 server.out)" "open $url"
ask /ready && answers 200 ready
ask / && answers 200 '<div id="app">'
server=$(pid_of)
demo=$(pgrep -P "$server_pid" -f 'hearth demo')
[ -n "$demo" ] || fail "there is no demo:" "$(ps -o pid,args --ppid "$server_pid")"

t "what it prints can be asked at once"
query=$(printed 'build.* query')
(cd "$root" && eval "$query") >.out 2>.err || fail "it failed:" "$(cat .err)"
out=$(cat .out)
out_has checkout
out_has "% "
traces=$(printed 'build.* traces')
has_traces() { (cd "$root" && eval "$traces") 2>.err | grep -q 'shop  *[A-Z]* /'; }
wait_for has_traces
eval "$(printed curl) -s" >.out || fail "curl failed"
same "$(json '"handle_checkout" in d["flamebearer"]["names"] and d["flamebearer"]["numTicks"] > 0')" True
same "$(json 'd["metadata"]["units"]')" samples

t "a port in use is a sentence and a suggestion"
HEARTH_LISTEN=${url#http://} RUN_DATA=$work/other run "$root/run"
status_is 1
out_empty
same "$errout" "${url#http://} is in use by another program; stop that one, or choose another port: HEARTH_LISTEN=127.0.0.1:0 ./run"

t "so is a second one in the same place, which leaves the first alone"
HEARTH_LISTEN=127.0.0.1:0 run "$root/run"
status_is 1
out_empty
same "$errout" "another ./run uses $work/data; stop that one, or choose another directory and port: RUN_DATA=/tmp/hearth HEARTH_LISTEN=127.0.0.1:0 ./run"
ask /ready && answers 200 ready

t "Ctrl-C ends both"
kill -INT -"$server_pid"
{ wait "$server_pid"; } 2>/dev/null
same $? 0
server_pid=
wait_for is_gone "$server"
wait_for is_gone "$demo"
same "$(cat server.err)" stopping
grep -q 'server: stopped' data/server.log || fail "the server did not stop in order:" "$(cat data/server.log)"
grep -q 'requests served' data/demo.log || fail "the demo did not stop in order:" "$(cat data/demo.log)"

t "it goes on where it was, and SIGTERM ends it too"
start_run 127.0.0.1:0
wait_for grep -q 'Ctrl-C stops them' server.out
server=$(pid_of)
kill -TERM "$server_pid"
{ wait "$server_pid"; } 2>/dev/null
same $? 0
server_pid=
wait_for is_gone "$server"
run hearth query --data-dir data/store shop.cpu
status_is 0
out_has checkout

t "a server that ends is told"
start_run 127.0.0.1:0
wait_for grep -q 'Ctrl-C stops them' server.out
kill -KILL "$(pid_of)"
{ wait "$server_pid"; } 2>/dev/null
same $? 1
server_pid=
errout=$(cat server.err)
err_has "the server has ended; all it said is in $work/data/server.log"

finish
