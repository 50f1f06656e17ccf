#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The server as its keepers see it: starting, listening, telling how it is, reloading, stopping. What senders send is
# tested in tests/peers/senders.sh, and hostile ones in hostile.sh.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
printf 'main;work 10\nmain;rest 5\n' >profile.folded

t "it says in one line where it listens"
start_server data --listen-also 127.0.0.1:0 --listen-also "unix:$work/socket" --listen-otlp-http 127.0.0.1:0 \
    --ports-file ports.json
same "$(wc -l <server.out)" 1
cp server.out .out
same "$(json 'd["ready"] and sorted(d) == ["listen", "listen-also", "listen-otlp-http", "pid", "ready"]')" True
same "$(json 'd["pid"]')" "$server_pid"
same "$(json 'len(d["listen-also"])')" 2
same_file ports.json server.out

t "it tells how it is"
ask /ready && answers 200 ready
ask /healthz && answers 200 ok
ask /metrics && answers 200 'hearth_http_connections '
out_has 'hearth_http_request_duration_seconds_count{method="GET",route="/ready",status="200"} 1'
ask /api/v1/status && answers 200 '"ready": true'
same "$(json 'len(d["listeners"])')" 4
ask /api/v1/status/buildinfo && answers 200 "$("$hearth" --version | awk '{ print $2 }')"
ask /ready -I
same "$code" 200

t "every listener serves everything"
for listener in $(sed 's/[^0-9.:]/ /g' ports.json | tr ' ' '\n' | grep '^127'); do
    url=http://$listener
    ask /ready && answers 200 ready
done
learn_url
run curl -s --unix-socket socket http://localhost/ready
out_has ready

t "a profile is kept, and shown in the status"
post '/ingest?name=api%7Bregion%3Deu%7D&format=groups&sampleRate=100' profile.folded && answers 200 ""
ask /api/v1/status
same "$(json '[(s["service"], s["stored"], s["dropped"]) for s in d["sources"]]')" "[('api', 1, {})]"
run hearth label-values region --data-dir data
same "$out" eu

t "what profiles come to is among the metrics, for rules of Prometheus"
ask /metrics && answers 200 'hearth_profiles_cpu_total{service_name="api",region="eu"} 0.150000000'
out_has 'pyroscope_profiles_cpu_total{service_name="api",region="eu"} 0.150000000'

t "it shows what it does itself, as programs in Go do"
ask /debug/pprof/ && answers 200 'profile?seconds=30'
ask '/debug/pprof/profile?seconds=x' && answers 400 "seconds 'x': give a whole number from 1 to 300"
# It has work for as long as it is looked at, and is looked at again where a busy machine has let it do none of it.
shows_its_threads() {
    curl -s -m 30 "$url/debug/pprof/profile?seconds=1" -o own.pb.gz &
    asking=$!
    while kill -0 "$asking" 2>/dev/null; do curl -s -o /dev/null "$url/metrics?[1-100]"; done
    wait "$asking" && hearth top --cum -n 0 own.pb.gz | grep -q thread_main
}
wait_for shows_its_threads
run hearth inspect own.pb.gz
status_is 0
out_has pprof
out_has cpu/nanoseconds

t "what it cannot take it refuses in a sentence"
ask /nothing && answers 404 'nothing is at /nothing; the address of the server or the path may be wrong'
ask /ingest && answers 405 '/ingest does not take GET, but POST'
ask /ready -X DELETE && answers 405 '/ready does not take DELETE, but GET, HEAD'
post /v1development/profiles profile.folded && answers 415 'application/octet-stream'
post '/ingest?name=api&format=jfr' profile.folded && answers 415 'Flight Recorder (JFR) cannot be taken yet'
post '/ingest?name=api&format=pprof' profile.folded && answers 422 'pprof: '
post '/v1development/profiles' profile.folded -H 'otlp-profiles-development-version: 7' && answers 400 "'7'"
ask '/ingest?name=api' -X POST -H 'Content-Length: 99999999999' -H 'Expect:' && answers 413 'the body is larger than 67108864 bytes'

t "a second server on the same directory is refused"
run hearth server --data-dir data --listen 127.0.0.1:0 --listen-otlp-grpc off --listen-otlp-http off
[ "$status" != 0 ] || fail "a second server started"
err_has "data"
out_empty

t "a port in use is named"
run hearth server --data-dir other --listen "$address" --listen-otlp-grpc off --listen-otlp-http off
[ "$status" != 0 ] || fail "it started"
err_has "cannot listen on $address: another program uses it; choose another port, 0 for a free one, or off"
out_empty

t "SIGTERM stops it, and what it kept is there"
stop_server
status_is 0
err_has "stopped"
is_not_there socket
run hearth query --data-dir data api
status_is 0
out_has work

t "an upload that runs while it is told to stop is answered"
start_server data
python3 - "$address" "$server_pid" >upload.out 2>&1 <<'PYTHON'
import os, signal, socket, sys, time
host, port = sys.argv[1].rsplit(":", 1)
body = b"main;late 7\n"
upload = socket.create_connection((host, int(port)), 20)
upload.sendall(b"POST /ingest?name=late&format=groups HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:5])
idle = socket.create_connection((host, int(port)), 20)
idle.sendall(b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n")
idle.recv(4096)
os.kill(int(sys.argv[2]), signal.SIGTERM)
assert idle.recv(4096) == b"", "an idle connection is closed"
while True: # nobody new is let in
    try: socket.create_connection((host, int(port)), 20).close()
    except ConnectionRefusedError: break
    except ConnectionResetError: pass
    time.sleep(0.01)
upload.sendall(body[5:])
answer = upload.recv(4096)
assert answer.startswith(b"HTTP/1.1 200 "), answer
assert b"connection: close" in answer, answer
assert upload.recv(4096) == b""
PYTHON
same "$(cat upload.out)" ""
{ wait "$server_pid"; } 2>/dev/null
same $? 0
server_pid=
run hearth series --data-dir data
out_has late

t "a request that never ends does not keep it from stopping"
start_server data --stop-timeout 200ms
mkfifo fifo
curl -s -m 30 -T - -X POST "$url/ingest?name=x" <fifo >/dev/null 2>&1 &
exec 9>fifo
wait_for grep -q . server.out
stop_server
status_is 0
exec 9>&-

t "several tenants are kept apart"
start_server tenants --multi-tenant
post '/ingest?name=api&format=groups' profile.folded && answers 401 'no org id'
post '/ingest?name=api&format=groups' profile.folded -H 'X-Scope-OrgID: red' && answers 200 ""
post '/ingest?name=web&format=groups' profile.folded -H 'X-Scope-OrgID: blue' && answers 200 ""
post '/ingest?name=web&format=groups' profile.folded -H 'X-Scope-OrgID: ../x' && answers 400 "the tenant's name '../x'"
ask /ready && answers 200 ready
stop_server
run hearth label-values service_name --data-dir tenants --tenant red
same "$out" api
run hearth label-values service_name --data-dir tenants --tenant blue
same "$out" web

t "without it the header means nothing"
start_server single
post '/ingest?name=api&format=groups' profile.folded -H 'X-Scope-OrgID: red' && answers 200 ""
stop_server
run hearth label-values service_name --data-dir single
same "$out" api

t "other machines are let in with a loud warning only"
start_server data --listen-also 0.0.0.0:0
log_has "warn server: --listen-also 0.0.0.0:0 can be reached from other machines, and there is no authentication yet" ||
    fail "no warning:" "$(cat server.err)"
stop_server
start_server data
stop_server
err_lacks "can be reached"

t "the status tells options, where they were set, and what they come to"
# option NAME: value, origin and place of an option.
option() { json "[(o['value'], o['origin'], o['where']) for o in d['options'] if o['name'] == '$1']"; }
printf 'max-body-size: 1MiB\n' >hearth.yaml
HEARTH_QUERY_TIMEOUT=7s PYROSCOPE_RETENTION_PERIOD=48h start_server data --config hearth.yaml --listen-also 127.0.0.1:0
ask /api/v1/status && answers 200 '"options": ['
same "$(option max-body-size)" "[('1MiB', 'file', 'hearth.yaml:1')]"
same "$(option query-timeout)" "[('7s', 'environment', 'HEARTH_QUERY_TIMEOUT')]"
same "$(option retention)" "[('48h', 'environment', 'PYROSCOPE_RETENTION_PERIOD')]"
same "$(option listen-also)" "[(['127.0.0.1:0'], 'flag', '--listen-also')]"
same "$(option queue-size)" "[('32MiB', 'default', 'default')]"
same "$(option retention-size)" "[(None, 'default', 'default')]"
same "$(option help)" "[]"
same "$(json 'd["retention"]')" "{'seconds': 172800, 'bytes': None, 'min_free_bytes': None}"
same "$(json '[d["limits"][name] for name in ("body_bytes", "query_seconds", "profile_age_seconds", "series")]')" "[1048576, 7, 172800, 20000]"
stop_server

t "SIGHUP takes what can be changed and says what cannot"
printf 'access-log: false\nmax-body-size: 1MiB\n' >hearth.yaml
start_server data --config hearth.yaml
ask '/ready?before'
printf 'access-log: true\nmax-body-size: 2MiB\n' >hearth.yaml
kill -HUP "$server_pid"
wait_for log_has "the configuration was read again"
log_has "access-log is now 'true'" || fail "the change is not told:" "$(cat server.err)"
log_has "max-body-size is '2MiB' in the configuration, but stays '1MiB' until the server is started again" ||
    fail "what stays is not told:" "$(cat server.err)"
ask /ready -A agent/1 && answers 200 ready
wait_for log_has '"GET /ready HTTP/1.1" 200 0 6'
log_has '"agent/1"' || fail "no agent in the access log"
same "$(grep -c ' access: ' server.err)" 1
ask /api/v1/status
same "$(option access-log) $(option max-body-size)" "[('true', 'file', 'hearth.yaml:1')] [('1MiB', 'file', 'hearth.yaml:2')]"
ask '/no%00%22such' -A 'agent" 200'
wait_for log_has '"GET /no??such HTTP/1.1" 404'
log_has '"agent? 200"' || fail "an agent can end its quotes:" "$(cat server.err)"

t "a bad configuration keeps the old settings"
printf 'access-log: false\nno-such-option: 1\n' >hearth.yaml
kill -HUP "$server_pid"
wait_for log_has "the configuration cannot be used, so the old settings stay"
log_has no-such-option || fail "what is wrong is not told:" "$(cat server.err)"
ask /ready && answers 200 ready
wait_for test "$(grep -c ' access: ' server.err)" = 4
stop_server
status_is 0

t "the log file is opened again at SIGHUP"
start_server data --log-file server.log --access-log
ask /ready
wait_for grep -q access server.log
mv server.log server.log.1
kill -HUP "$server_pid"
wait_for test -e server.log
ask /healthz
wait_for grep -q healthz server.log
stop_server
[ ! -s server.err ] || fail "it still says something on standard error:" "$errout"
grep -q healthz server.log.1 && fail "the old file is still written to"

t "the service manager is told"
rm -f notify
python3 - "$work/notify" >notified 2>&1 <<'PYTHON' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(30)
while True:
    text = s.recv(4096).decode()
    print(text, flush=True)
    if "STOPPING=1" in text: break
PYTHON
manager=$!
wait_for test -S notify
NOTIFY_SOCKET=$work/notify
export NOTIFY_SOCKET
start_server data
unset NOTIFY_SOCKET
wait_for grep -q READY=1 notified
kill -HUP "$server_pid"
wait_for grep -q RELOADING=1 notified
stop_server
wait $manager
same "$(grep -c '^READY=1' notified)" 2
grep -q STOPPING=1 notified || fail "the end is not told:" "$(cat notified)"

t "the names that others use for options are taken"
launch "$hearth" server --http-address 127.0.0.1:0 --storage-path alias --storage-retention-time 3d \
    --listen-otlp-grpc off --listen-otlp-http off
wait_for has_line_or_is_over
learn_url
ask /ready && answers 200 ready
is_there alias
ask /api/v1/status
same "$(json '[(a["given"], a["option"]) for a in d["aliases"]]')" \
    "[('--http-address', 'listen'), ('--storage-path', 'data-dir'), ('--storage-retention-time', 'retention')]"
stop_server
PYROSCOPE_RETENTION_PERIOD=2d PYROSCOPE_LOG_LEVEL=debug PYROSCOPE_STORAGE_TYPE=filesystem
export PYROSCOPE_RETENTION_PERIOD PYROSCOPE_LOG_LEVEL PYROSCOPE_STORAGE_TYPE
start_server data
ask /ready && answers 200 ready
ask /api/v1/status
same "$(json '[a["given"] for a in d["aliases"]]')" \
    "['PYROSCOPE_RETENTION_PERIOD', 'PYROSCOPE_STORAGE_TYPE', 'PYROSCOPE_LOG_LEVEL']"
stop_server
PYROSCOPE_STORAGE_TYPE=s3
run hearth server --data-dir data --listen 127.0.0.1:0
status_is 2
err_has "object storage does not exist yet; use filesystem and a directory, --data-dir"
unset PYROSCOPE_RETENTION_PERIOD PYROSCOPE_LOG_LEVEL PYROSCOPE_STORAGE_TYPE
refuses 2 "object storage does not exist yet" hearth server --data-dir data --storage-type s3

t "options that make no sense are refused"
refuses 2 "every listener is off" hearth server --data-dir data --listen off --listen-otlp-grpc off --listen-otlp-http off
refuses 2 "--listen" hearth server --data-dir data --listen nonsense
refuses 2 "max-body-size" hearth server --data-dir data --max-body-size 1
finish
