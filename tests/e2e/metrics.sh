#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Metrics of processes and runtimes: sent to a server, and asked for by the command, over the network and without a server.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"

start_server data
now=$(date +%s)
base=$((now - now % 60 - 600)) # a whole minute, ten minutes ago

# Two instances, a point each 15 s for five minutes: the heap, CPU time of two states, and pauses. The second one begins
# again after two minutes.
python3 - "$base" <<'END'
import json, sys
base = int(sys.argv[1])
def number(t, value, start=None, state=None):
    point = {"timeUnixNano": str(t * 10**9), "asDouble": value}
    if start:
        point["startTimeUnixNano"] = str(start * 10**9)
    if state:
        point["attributes"] = [{"key": "state", "value": {"stringValue": state}}]
    return point
def request(instance, heap, restart=None):
    times = range(base, base + 301, 15)
    since = lambda t: restart if restart and t >= restart else base
    def cpu(rate, state):
        return [number(t, rate * (t - since(t)), since(t), state) for t in times]
    pauses = [{"timeUnixNano": str(t * 10**9), "startTimeUnixNano": str(since(t) * 10**9),
               "explicitBounds": [0.001, 0.01], "count": str((t - since(t)) // 15 * 4), "sum": (t - since(t)) // 15 * 0.02,
               "bucketCounts": ["0", str((t - since(t)) // 15 * 4), "0"]} for t in times]
    return {"resourceMetrics": [{
        "resource": {"attributes": [{"key": k, "value": {"stringValue": v}} for k, v in (
            ("service.name", "shop"), ("service.instance.id", instance), ("service.version", "1.0"))]},
        "scopeMetrics": [{"metrics": [
            {"name": "runtime.memory.heap_alloc_bytes", "unit": "By",
             "gauge": {"dataPoints": [number(t, heap) for t in times]}},
            {"name": "process.cpu.time", "unit": "s", "sum": {
                "aggregationTemporality": 2, "isMonotonic": True, "dataPoints": cpu(0.5, "user") + cpu(0.25, "system")}},
            {"name": "runtime.gc.pause_duration_seconds", "unit": "s",
             "histogram": {"aggregationTemporality": 2, "dataPoints": pauses}},
            {"name": "http.server.duration", "unit": "ms", "gauge": {"dataPoints": [number(base, 1), number(base + 1, 2)]}},
        ]}]}]}
json.dump(request("i-1", 1000000), open("one.json", "w"))
json.dump(request("i-2", 3000000, base + 120), open("two.json", "w"))
old = request("i-3", 1)
for metric in old["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]:
    for kind in ("gauge", "sum", "histogram"):
        for point in metric.get(kind, {}).get("dataPoints", []):
            point["timeUnixNano"] = "1000000000000000000"
            point.pop("startTimeUnixNano", None)
json.dump(old, open("old.json", "w"))
END

send() { ask /v1/metrics -X POST --data-binary @"$1" -H 'Content-Type: application/json'; }

t "metrics are taken, and what is not kept is told"
for file in one.json two.json one.json; do
    send $file
    same "$code" 200
    same "$(json 'd["partialSuccess"]["rejectedDataPoints"]')" 2
    out_has "2 data points of 1 metric not kept, as http.server.duration; kept are process.*, runtime.*, hearth.*"
done
send old.json
same "$code" 200
out_has "is of 2001-09-09T01:46:40.000Z, which is before all that is kept"
printf '{"resourceMetrics":[{' >cut.json
send cut.json
same "$code" 400
out_has "OTLP metrics as JSON: line 1, column"

range="from=$base&until=$((base + 300))&step=1m"

t "gauges are added up over instances, counters are rates, also where one begins again"
ask "/api/v1/metrics?service=shop&$range"
same "$code" 200
same "$(json 'd["step_s"]')" 60
same "$(json '[(s["name"], s["kind"], s["statistic"]) for s in d["series"]]')" \
    "[('process.cpu.time', 'sum', 'rate'), ('runtime.gc.pause_duration_seconds', 'histogram', 'rate'), ('runtime.gc.pause_duration_seconds', 'histogram', 'mean'), ('runtime.gc.pause_duration_seconds', 'histogram', 'p50'), ('runtime.gc.pause_duration_seconds', 'histogram', 'p99'), ('runtime.memory.heap_alloc_bytes', 'gauge', 'value')]"
same "$(json '[[p[0] - '"$base"', round(p[1], 6)] for p in d["series"][0]["points"]]')" \
    "[[0, 1.5], [60, 1.5], [120, 1.5], [180, 1.5], [240, 1.5]]"
same "$(json '[p[1] for p in d["series"][5]["points"]], d["series"][5]["unit"], d["series"][5]["labels"]')" \
    "([4000000, 4000000, 4000000, 4000000, 4000000], 'By', {'service_name': 'shop', 'version': '1.0'})"

t "histograms have a mean and percentiles"
same "$(json 'round(d["series"][2]["points"][0][1], 6)')" 0.005
same "$(json 'round(d["series"][3]["points"][0][1], 6)')" 0.0055
same "$(json 'round(d["series"][1]["points"][3][1] * 15, 6)')" 8.0

t "lines are grouped by labels, and names can be chosen"
ask "/api/v1/metrics?service=shop&name=process.cpu.time&by=state,instance&$range"
same "$(json '[(s["labels"]["state"], s["labels"]["instance"], round(s["points"][0][1], 6)) for s in d["series"]]')" \
    "[('system', 'i-1', 0.25), ('system', 'i-2', 0.25), ('user', 'i-1', 0.5), ('user', 'i-2', 0.5)]"
ask "/api/v1/metrics?service=shop&name=process.cpu.time&name=process.none&$range"
same "$(json 'len(d["series"])')" 1
ask "/api/v1/metrics?service=other&$range"
same "$(json 'd["series"]')" "[]"
ask "/api/v1/metrics?service=shop&from=$base&until=$((base + 300))&step=1ms"
same "$code" 400
ask "/api/v1/metrics?names=true"
same "$(json '[(n["name"], n["unit"], n["kind"], n["n_series"]) for n in d["names"]]')" \
    "[('process.cpu.time', 's', 'sum', 4), ('runtime.gc.pause_duration_seconds', 's', 'histogram', 2), ('runtime.memory.heap_alloc_bytes', 'By', 'gauge', 2)]"

t "the command asks a server"
run hearth metrics --url "$url" --service shop --from "$base" --until $((base + 300)) --step 1m
status_is 0
out_has "LAST"
out_has "1.50s/s"
out_has "runtime.memory.heap_alloc_bytes"
out_has "runtime.gc.pause_duration_seconds p99"

t "and looks into a directory, beside the server and without it"
ask "/api/v1/metrics?service=shop&$range"
answer=$out
run hearth metrics --data-dir data --service shop --from "$base" --until $((base + 300)) --step 1m --json
same "$out" "$answer"
stop_server
run hearth metrics --data-dir data --service shop --from "$base" --until $((base + 300)) --step 1m --json
same "$out" "$answer"
run hearth metrics --data-dir data --names
out_has "histogram"
run hearth metrics --data-dir data --service none
status_is 0
out_empty
err_has "no such metrics of the service none in this time"

finish
