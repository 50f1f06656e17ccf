#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profiles into a store and what it says about them: import, series, labels, label-values, types, stats.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
pprof_of heap
pprof_of empty
pprof_of damaged
example=$root/examples/checkout.folded
# The files of tests/data were recorded in 2026; whenever this runs, they are not too old.
ever="--max-age 36500d"

# import DIRECTORY ARGUMENTS...: into that store, whatever the age; says nothing on standard error.
import() {
    directory=$1
    shift
    # shellcheck disable=SC2086  # two words
    run hearth import --data-dir "$directory" $ever "$@"
    status_is 0
    err_empty
}

# --- import ---

t "a file becomes a store"
run hearth import --data-dir first "$example"
status_is 0
err_empty
same "$out" "1 profile written from 1 file: 70 samples"
is_there first/FORMAT first/LOCK
run hearth series --data-dir first
status_is 0
err_empty
same "$out" '{__name__="samples", service_name="unknown_service"}  samples:samples:count::'

t "the store is ./hearth-data unless told otherwise, by flag, variable or file"
quietly mkdir elsewhere
(cd elsewhere && hearth import "$example" >/dev/null) || fail "import without --data-dir"
is_there elsewhere/hearth-data/FORMAT
run env HEARTH_DATA_DIR=elsewhere/hearth-data "$hearth" types --brief
same "$out" "samples:samples:count::"
printf 'data-dir: elsewhere/hearth-data\n' >hearth.yaml
run hearth types --brief --config hearth.yaml
same "$out" "samples:samples:count::"

t "any format that convert reads"
quietly hearth convert cpu.pb cpu.pb.gz
quietly hearth convert cpu.pb cpu.otlp
quietly hearth convert cpu.pb cpu.otlp.json.zst
import formats cpu.pb cpu.pb.gz cpu.otlp cpu.otlp.json.zst heap.pb "$data/service.otlp.json" "$data/recursion.folded"
same "$out" "8 profiles written from 7 files: 31 samples, split by labels into 18 series"
run hearth types --brief --data-dir formats
same "$out" "memory:alloc_objects:count:space:bytes
memory:alloc_space:bytes:space:bytes
memory:inuse_objects:count:space:bytes
memory:inuse_space:bytes:space:bytes
off_cpu:off_cpu:nanoseconds::
process_cpu:cpu:nanoseconds:cpu:nanoseconds
process_cpu:samples:count:cpu:nanoseconds
samples:samples:count::"
run hearth verify --data-dir formats
status_is 0

t "- is standard input"
run_on "$example" hearth import --data-dir piped -
status_is 0
same "$out" "1 profile written from 1 file: 70 samples"

t "--label says whose profiles they are, and wins over the file"
import labelled --label service_name=shop --label zone=eu-1 cpu.pb
import labelled --label service.name=till "$data/service.otlp.json"
run hearth label-values service_name --data-dir labelled
same "$out" "shop
till"
run hearth label-values zone --data-dir labelled
same "$out" "eu-1"
refuses 2 "--label: 'zone' is no label; write NAME=VALUE, like zone=eu-1" \
    hearth import --data-dir labelled --label zone cpu.pb
refuses 2 "--label: '=eu' is no label" hearth import --data-dir labelled --label =eu cpu.pb

t "the labels of samples split a profile, and a sample without one is a series of its own"
import split --label service_name=shop cpu.pb
same "$out" "1 profile written from 1 file: 5 samples, split by labels into 3 series"
run hearth series --data-dir split
same "$(sed 's/  process_cpu:samples:count:.*//' .out)" '{__name__="process_cpu", route="/cart", service_name="shop"}
{__name__="process_cpu", route="/pay", service_name="shop"}
{__name__="process_cpu", service_name="shop"}'

t "beyond --max-splits a label stays with the samples, where selectors still find it"
# shellcheck disable=SC2086
run hearth import --data-dir unsplit $ever --max-splits 2 --label service_name=shop cpu.pb
status_is 0
err_has "warning: 1 labels left with samples, since they have many values (--max-splits)"
run hearth series --data-dir unsplit
same "$(sed 's/  process_cpu:samples:count:.*//' .out)" '{__name__="process_cpu", service_name="shop"}'
run hearth labels --data-dir unsplit
out_has route
run hearth label-values route --data-dir unsplit
same "$out" "/cart
/pay"
run hearth series --data-dir unsplit route=/cart
out_has '{__name__="process_cpu", service_name="shop"}'

t "ids, pids and threads make no series"
import threads "$data/service.otlp.json"
run hearth series --data-dir threads '{service_name="shop"}'
same "$(sed 's/  .*//' .out)" '{__name__="process_cpu", service_name="shop"}'
run hearth label-values thread.name --data-dir threads
same "$out" "io
worker"
run hearth label-values process_pid --data-dir threads
same "$out" 4242

t "labels beyond limits are repaired, cut or moved, and counted"
long=$(printf '%0300d' 0 | tr 0 x)
run hearth import --data-dir limits --json --label "bad name!=1" --label "cut=$long" --max-label-value 100 "$example"
status_is 0
same "$(json '[d["profiles_written"], d["labels"]["names_repaired"], d["labels"]["values_cut"]]')" "[1, 1, 1]"
err_has "warning: 1 names of labels repaired"
err_has "warning: 1 values of labels cut (--max-label-value)"
run hearth label-values cut --data-dir limits
same "$(printf %s "$out" | wc -c)" 100
run hearth label-values bad_name_ --data-dir limits
same "$out" 1
run hearth import --data-dir limits --json --max-series-labels 3 --label service_name=few --label a=1 --label b=2 \
    "$example"
status_is 0
same "$(json '[d["profiles_written"], d["labels"]["moved_to_samples"]]')" "[1, 1]"
err_has "warning: 1 labels moved from the series to its samples (--max-series-labels)"
run hearth series --data-dir limits service_name=few,a=1,b=2
same "$(wc -l <.out)" 1

t "--time says when profiles began that do not know it"
import timed --time 2026-10-01T10:00:00Z "$example"
run hearth series --data-dir timed --from 2026-10-01 --until 2026-10-02
out_has 'service_name="unknown_service"'
run hearth series --data-dir timed --from 2026-10-02
out_empty
run hearth stats --data-dir timed --json
same "$(json '[d["first_ns"], d["last_ns"]]')" "[1790848800000000000, 1790848800000000000]"
run hearth import --data-dir timed --time 1h --json "$example"
run hearth stats --data-dir timed --json
same "$(json 'd["days"]')" 2
refuses 2 "--time: time 'noon': expected now, a date or a number at position 1" hearth import --data-dir timed --time noon cpu.pb

t "a profile that knows its time keeps it, and --time says that it was not used"
# shellcheck disable=SC2086
run hearth import --data-dir owntime $ever --time 2026-10-01T10:00:00Z cpu.pb
status_is 0
err_has "warning: --time was not used for 1 profile: a profile's own time wins"
run hearth stats --data-dir owntime --json
same "$(json 'd["first_ns"]')" 1790000000000000000

t "importing again adds again; --upload-id makes repeating safe"
for _ in 1 2; do
    import plain cpu.pb heap.pb
    import marked --upload-id night cpu.pb heap.pb
done
run hearth stats --data-dir plain --json
same "$(json 'd["samples"]')" 18
run hearth stats --data-dir marked --json
same "$(json 'd["samples"]')" 9
import marked --upload-id night cpu.pb heap.pb "$data/recursion.folded"
same "$out" "1 profile written from 3 files: 4 samples; 2 there already"
import marked --upload-id morning --json cpu.pb
same "$(json '[d["profiles_written"], d["profiles_duplicate"]]')" "[1, 0]"

t "what is too old or too far ahead is refused with a reason, and told what to do"
run hearth import --data-dir narrow cpu.pb --max-age 1d
status_is 1
err_has "importing 'cpu.pb': "
err_has "2026-09-21T14:13:20"
same "$out" "0 profiles written from 0 files: 0 samples; 1 refused; 1 file failed"
run hearth import --data-dir narrow --time now+1h "$example"
status_is 1
err_has "importing '$example': "
run hearth import --data-dir narrow --time now+1h --max-ahead 2h "$example"
status_is 0
refuses 2 "is more than --retention" hearth import --data-dir narrow --retention 1d --max-age 2d "$example"

t "a bad file is told by name, the others are kept, and the exit status is 1"
printf '\001\002\003\004' >noise
# shellcheck disable=SC2086
run hearth import --data-dir mixed $ever cpu.pb noise nosuch.pb heap.pb
status_is 1
err_has "hearth: reading 'noise': "
err_has "nosuch.pb"
same "$out" "2 profiles written from 2 files: 9 samples, split by labels into 6 series; 2 files failed"
run hearth types --data-dir mixed
out_has process_cpu:cpu:nanoseconds:cpu:nanoseconds
out_has memory:inuse_space:bytes:space:bytes

t "damage in a file is told, and what is good of it is kept"
run hearth import --data-dir mended damaged.pb
status_is 0
err_has "warning: damaged.pb: sample refers to a missing location; dropped (sample 1"
out_has "1 profile written from 1 file: 3 samples"

t "a profile without samples is a profile"
import hollow empty.pb
same "$out" "1 profile written from 1 file: 0 samples"

t "JSON summary"
# shellcheck disable=SC2086
run hearth import --data-dir summary --json $ever cpu.pb noise
status_is 1
same "$(json '[d[k] for k in ("files", "files_failed", "profiles_written", "profiles_duplicate", "profiles_refused", "samples", "rows")]')" \
    "[1, 1, 1, 0, 0, 5, 3]"

t "many files take no more memory than one"
for i in $(seq 300); do ln -s "$example" "link$i.folded"; done
run hearth import --data-dir many link*.folded
status_is 0
same "$out" "300 profiles written from 300 files: 21000 samples"

# --- tenants ---

t "tenants do not see each other"
import shared --tenant red --label service_name=one cpu.pb
import shared --tenant blue --label service_name=two cpu.pb
run hearth label-values service_name --data-dir shared --tenant red
same "$out" one
run hearth label-values service_name --data-dir shared --tenant blue
same "$out" two
run hearth series --data-dir shared
status_is 0
out_empty
refuses 2 "--tenant: the tenant's name 'a/b' has a character that is not allowed" hearth import --data-dir shared --tenant a/b cpu.pb
refuses 2 "--tenant: the tenant's name 'a b' has a character that is not allowed" hearth labels --data-dir shared --tenant 'a b'

# --- looking ---

import look --label service_name=api --label zone=eu-1 cpu.pb
import look --label service_name=api --label zone=us-1 cpu.pb
import look --label service_name=web --label zone=eu-1 heap.pb
import look --label service_name=web --time 2026-10-01T10:00:00Z "$example"

# names SELECTOR...: the services and zones of the series that a selector chooses.
names() {
    run hearth series --data-dir look --json "$@"
    status_is 0
    json '" ".join(sorted({s["labels"]["service_name"] + "/" + s["labels"].get("zone", "-") for s in d["series"]}))'
}

t "selectors choose series"
same "$(names)" "api/eu-1 api/us-1 web/- web/eu-1"
same "$(names '')" "api/eu-1 api/us-1 web/- web/eu-1"
same "$(names '{}')" "api/eu-1 api/us-1 web/- web/eu-1"
same "$(names '{service_name="api"}')" "api/eu-1 api/us-1"
same "$(names service.name=api,zone=us-1)" "api/us-1"
same "$(names 'service_name!=api')" "web/- web/eu-1"
same "$(names 'zone=~"eu.*"')" "api/eu-1 web/eu-1"
same "$(names 'zone=~"eu"')" ""
same "$(names 'zone!~"eu.*"')" "api/us-1 web/-"
same "$(names 'zone=""')" "web/-"
same "$(names 'process_cpu:cpu:nanoseconds:cpu:nanoseconds{zone="eu-1"}')" "api/eu-1"
same "$(names '{service_name="nobody"}')" ""

t "a line of series is itself a selector"
hearth series --data-dir look | sed 's/  .*//' >lines
while IFS= read -r line; do
    same "$(hearth series --data-dir look "$line" | sed 's/  .*//' | grep -cFx "$line")" 1
done <lines

t "a wrong selector says where and what would be right"
refuses 2 "service_name" hearth series --data-dir look '{service_name'
refuses 2 "zone" hearth series --data-dir look '{zone=~"eu("}'
refuses 2 "has no use for the argument 'b=2'" hearth series --data-dir look a=1 b=2

t "labels, values and types see what the selector chooses"
run hearth labels --data-dir look
same "$out" "__name__
bytes
route
service_name
zone"
run hearth labels --data-dir look --from 2026-10-01
same "$out" "__name__
service_name"
run hearth label-values zone --data-dir look '{service_name="web"}'
same "$out" eu-1
run hearth label-values zone --data-dir look
same "$out" "eu-1
us-1"
run hearth label-values nosuch --data-dir look
status_is 0
out_empty
run hearth types --brief --data-dir look service_name=api
same "$out" "process_cpu:cpu:nanoseconds:cpu:nanoseconds
process_cpu:samples:count:cpu:nanoseconds"
run hearth types --data-dir look service_name=api
same "$out" "SERIES  FIRST                 LAST                  TYPE
     6  2026-09-21T14:13:20Z  2026-09-21T14:13:20Z  process_cpu:cpu:nanoseconds:cpu:nanoseconds
     6  2026-09-21T14:13:20Z  2026-09-21T14:13:20Z  process_cpu:samples:count:cpu:nanoseconds"
run hearth types --data-dir look --from 2026-09-21T14:13:21Z --until 2026-09-21T15:00:00Z
status_is 0
out_empty
run hearth label-values zone --data-dir look --counts
same "$out" "SERIES  VALUE
     6  eu-1
     3  us-1"
run hearth label-values nosuch --data-dir look --counts
out_empty

t "cardinality: which labels make how many series"
run hearth cardinality --data-dir look service_name=api
status_is 0
out_has "6 series, "
out_has "     2       6  zone          eu-1 (3), us-1 (3)"
run hearth cardinality --data-dir look --label zone --top 1
out_has "zone   eu-1 (6), ..."
out_lacks route
run hearth cardinality --data-dir look --label zone --json
same "$(json 'd["labels"][0]["values"], d["labels"][0]["top"][0], len(d["types"]) > 1')" \
    "(2, {'value': 'eu-1', 'series': 6, 'of_samples': False}, True)"
run hearth cardinality --data-dir look --exact --from 2026-09-21T14:13:21Z --until 2026-09-21T15:00:00Z
out_has "0 series, "
refuses 1 "--timeout 1ns: the query took longer" hearth cardinality --data-dir look --timeout 1ns
refuses 2 "'hearth label-values' needs NAME" hearth label-values --data-dir look

t "JSON of each"
run hearth labels --data-dir look --json
same "$(json 'd["labels"]')" "['__name__', 'bytes', 'route', 'service_name', 'zone']"
run hearth label-values zone --data-dir look --json
same "$(json '[(v["value"], v["series"], v["of_samples"]) for v in d["values"]]')" "[('eu-1', 6, False), ('us-1', 3, False)]"
run hearth types --data-dir look --json service_name=api
same "$(json '[(v["type"], v["series"], v["first_ns"] == v["last_ns"] == 1790000000 * 10**9) for v in d["types"]]')" \
    "[('process_cpu:cpu:nanoseconds:cpu:nanoseconds', 6, True), ('process_cpu:samples:count:cpu:nanoseconds', 6, True)]"
run hearth types --data-dir look --json --brief service_name=api
same "$(json 'sorted(d["types"][0])')" "['series', 'type']"
run hearth series --data-dir look --json zone=us-1,route=/pay
same "$(json 'd["series"]')" "[{'labels': {'__name__': 'process_cpu', 'route': '/pay', 'service_name': 'api', 'zone': 'us-1'}, 'types': ['process_cpu:samples:count:cpu:nanoseconds', 'process_cpu:cpu:nanoseconds:cpu:nanoseconds']}]"

t "ranges: each notation, and what is none"
for from in 2026-09-30T00:00:00Z 2026-09-30T02:00:00+02:00 2026-09-30 1790726400 1790726400000; do
    same "$from $(names --from "$from")" "$from web/-"
done
same "$(names --until 2026-09-30)" "api/eu-1 api/us-1 web/eu-1"
same "$(names --from 2026-09-21 --until 2026-09-22 zone=eu-1)" "api/eu-1 web/eu-1"
same "$(names --until 2000-01-01)" ""
same "$(names --from 36500d --until now)" "api/eu-1 api/us-1 web/- web/eu-1"
refuses 2 "--from: time 'lunch': expected now, a date or a number at position 1; give now-1h, " \
    hearth series --data-dir look --from lunch
refuses 2 "the range is empty: it begins at 2026-10-02T00:00:00Z and ends at 2026-10-01T00:00:00Z" \
    hearth series --data-dir look --from 2026-10-02 --until 2026-10-01

t "values from files cannot drive the terminal"
import harmless --label "$(printf 'zone=a\033[31mb')" "$example"
run hearth label-values zone --data-dir harmless
same "$out" "a?[31mb"
run hearth series --data-dir harmless
case $out in *"$(printf '\033')"*) fail "the escape went through" ;; esac

# --- stats ---

t "stats: what is there and what it costs"
run hearth stats --data-dir look
status_is 0
err_empty
for word in "days      2" "time      2026-09-21T14:13:20Z to 2026-10-01T10:00:00Z" "samples   84" "bytes per sample" \
    "ON DISK" "closed hours" "VALUES" "dictionary: " "SERIES" 'service_name="web"'; do out_has "$word"; done
run hearth stats --data-dir look -n 1
same "$(grep -c 'service_name=' .out)" 1
refuses 2 "-n: '21' is too large; the most allowed is 20" hearth stats --data-dir look -n 21

t "stats as JSON"
run hearth stats --data-dir look --json
status_is 0
same "$(json '[d["days"], d["samples"], d["closed_samples"], d["quarantined"], d["damaged"]]')" "[2, 84, 84, 0, 0]"
same "$(json 'sum(d["files"].values()) == d["disk_bytes"]')" True
same "$(json 'd["bytes_per_sample"] == d["disk_bytes"] / d["samples"]')" True
same "$(json 'd["files"]["blocks"] > 0 and d["write_amplification"] > 0')" True
same "$(json 'sorted(d["dictionary"])')" "['frame', 'function', 'label set', 'mapping', 'stack', 'string']"
same "$(json 'sum(s["samples"] for s in d["top_series"])')" 84
same "$(json 'sum(s["samples"] for s in d["services"])')" 84
same "$(json 'sum(s["rows"] for s in d["services"]) == d["rows"] and d["other_services"]["rows"] == 0')" True
same "$(json '(min(s["first_ns"] for s in d["services"]), max(s["last_ns"] for s in d["services"])) == (d["first_ns"], d["last_ns"])')" True
same "$(json 'sorted(set(s["tenant"] for s in d["services"]))')" "['anonymous']"
same "$(json '"web" in [s["service"] for s in d["services"]]')" True
same "$(json 'all(a["bytes"] >= b["bytes"] for a, b in zip(d["top_series"], d["top_series"][1:]))')" True

t "hours of the past are closed when import ends, the present one is not"
same "$(json 'd["values"]["head_rows"]["n"]')" 0
run hearth import --data-dir present "$example"
run hearth stats --data-dir present --json
same "$(json '[d["values"]["head_rows"]["n"], d["closed_samples"]]')" "[1, 0]"

finish
