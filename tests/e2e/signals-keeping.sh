#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What stats, verify, compact, backup and restore say of traces and do with them; metrics are kept in the same way.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
id=0af7651916cd43dd8448eb211c80319c
now=$(date +%s)

# request TRACE_ID SECONDS_AGO: a trace of two spans.
request() {
    start=$((now - $2))
    cat <<JSON
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
"scopeSpans":[{"spans":[
{"traceId":"$1","spanId":"b7ad6b7169203331","name":"checkout","kind":2,
"startTimeUnixNano":"${start}000000000","endTimeUnixNano":"${start}500000000"},
{"traceId":"$1","spanId":"b7ad6b7169203332","parentSpanId":"b7ad6b7169203331","name":"pay","kind":3,
"startTimeUnixNano":"${start}100000000","endTimeUnixNano":"${start}300000000"}]}]}]}
JSON
}
# send TRACE_ID SECONDS_AGO
send() {
    request "$1" "$2" >request.json
    ask /v1/traces -X POST --data-binary @request.json -H 'Content-Type: application/json'
    same "$code" 200
}
# number DIRECTORY EXPRESSION: of its stats.
number() {
    run hearth stats --data-dir "$1" --json
    status_is 0
    json "$2"
}
# has_trace DIRECTORY
has_trace() {
    run hearth trace --data-dir "$1" --json "$id"
    status_is 0
    same "$(json 'd["n_spans"], [s["operation"] for s in d["spans"]]')" "(2, ['checkout', 'pay'])"
}

t "stats count spans"
start_server data
send $id 60
send 0af7651916cd43dd8448eb211c80319d 90000 # of the day before
ask /api/v1/stats
answers 200 '"spans": 4'
same "$(json 'd["traces"]["days"]')" 2

t "a server backs its traces up while it takes more"
ask /api/v1/backup -X POST
same "$code" 200
send 0af7651916cd43dd8448eb211c80319e 30
stop_server
same "$(number data 'd["traces"]["spans"]')" 6
set -- data/backups/*
same "$(number "$1" 'd["traces"]["spans"]')" 4
has_trace "$1"

t "verify reads traces, too"
run hearth verify --data-dir data
status_is 0
out_has "traces: 2 days, "
run hearth verify --data-dir data --json
same "$(json 'd["traces"]["rows"] >= 6, d["traces"]["bad_values"]')" "(True, 0)"

t "compact closes all hours"
same "$(number data 'd["traces"]["block_bytes"]')" 0
run hearth compact --data-dir data
status_is 0
same "$(number data 'd["traces"]["block_bytes"] > 0, d["traces"]["head_bytes"]')" "(True, 0)"
same "$(number data 'd["traces"]["spans"]')" 6
has_trace data

t "backups share what has not changed, and can be restored"
run hearth backup --data-dir data backups
status_is 0
run hearth backup --data-dir data backups --json
status_is 0
same "$(json 'd["shared_bytes"] > 0')" True
run hearth restore --data-dir restored backups
status_is 0
has_trace restored
same "$(number restored 'd["traces"]["spans"]')" 6

t "verify tells what is damaged, and restore says so"
python3 - restored/traces <<'PYTHON'
import glob, os, sys
path = max(glob.glob(sys.argv[1] + "/*/*.sst"), key=os.path.getsize)
with open(path, "r+b") as file:
    file.seek(20)
    byte = file.read(1)[0]
    file.seek(-1, 1)
    file.write(bytes([byte ^ 0x10]))
PYTHON
run hearth verify --data-dir restored
status_is 1
out_has "part of a table: "
out_has "values and 0 days are damaged"
run hearth stats --data-dir restored
status_is 0
cp -r backups damaged
for backup in damaged/*; do rm -rf "$backup/traces" && cp -r restored/traces "$backup/traces"; done
run hearth restore --data-dir again damaged
status_is 1
err_has "1 values and 0 days of it are damaged, as in the backup"

t "a day that cannot be opened is set aside by a repair, and the rest stays"
rm -rf restored
run hearth restore --data-dir restored backups
day=$(date -u -d @$((now - 90000)) +%F)
rm "restored/traces/$day/CURRENT"
run hearth verify --data-dir restored
status_is 1
out_has "traces $day: the day: "
run hearth verify --data-dir restored --repair
status_is 1
out_has "0 values and 1 days are damaged, 1 set aside"
run hearth verify --data-dir restored
status_is 0
has_trace restored
finish
