#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Single spans, traces and profiles of a store, and the exemplars that name them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
trace_a=4bf92f3577b34da6a3ce929d0e0e4736
trace_b=00000000000000000000000000000b0b
span_1=00f067aa0ba902b7
span_2=0000000000000002
cpu=process_cpu:cpu:nanoseconds:cpu:nanoseconds

# traced FILE TIME_S VALUE: what senders of span profiles make: two spans of a trace, one of another, and some idle time.
traced() {
    cat >traced.json <<END
{"types": [["cpu", "nanoseconds"]], "period_type": ["cpu", "nanoseconds"], "period": 10000000,
 "time_ns": ${2}000000000, "duration_ns": 10000000000,
 "samples": [
    {"stack": ["main", "serve", "parse"], "values": [${3}00], "labels": {"span_id": "$span_1", "trace_id": "$trace_a", "span_name": "GET /cart"}},
    {"stack": ["main", "serve", "render"], "values": [${3}0], "labels": {"span_id": "$span_2", "trace_id": "$trace_a", "span_name": "GET /pay"}},
    {"stack": ["main", "serve", "parse"], "values": [${3}], "labels": {"span_id": "$span_1", "trace_id": "$trace_b", "span_name": "GET /cart"}},
    {"stack": ["main", "idle"], "values": [5000]}]}
END
    python3 "$data/encode_pprof.py" traced.json "$1" || fail "cannot encode $1"
}
# import STORE LABEL FILE: whatever its age.
import() {
    run hearth import --data-dir "$1" --max-age 36500d --label "$2" "$3"
    status_is 0
    err_empty
}
# ask COMMAND ARGUMENTS...: about the hour in which all of this was recorded.
ask() {
    command=$1
    shift
    run hearth "$command" --data-dir data --from 2026-09-21T14:00:00Z --until 2026-09-21T15:00:00Z "$@"
}
# total ARGUMENTS...: what all of cpu comes to.
total() {
    ask query --format json "$cpu{}" "$@"
    json 'd["total"]'
}

traced a.pb 1790000000 1
traced b.pb 1790000600 2
import data service_name=shop a.pb
import data service_name=desk b.pb

check_spans() {
    same "$(total)" 10333
    same "$(total --span-id "$span_1")" 303
    same "$(total --span-id "$span_1" --span-id "$span_2")" 333
    same "$(total --span-id "$span_1" --trace-id "$trace_b")" 3
    same "$(total --trace-id "$trace_a")" 330
    same "$(total --trace-id "$(echo "$trace_a" | tr a-f A-F)" --trace-id "$trace_b")" 333
    same "$(total --span-id 00000000000000ff)" 0
    ask query --format json "$cpu{service_name=shop, span_name=\"GET /cart\"}"
    same "$(json 'd["total"]')" 101
    ask query --format json "$cpu{service_name=shop}" --span-id "$span_1"
    same "$(json 'd["total"]')" 101
    ask query --format folded "$cpu{}" --span-id "$span_2"
    same "$(cat .out)" "main;serve;render 30"
    ask timeseries --json "$cpu{}" --span-id "$span_1" --by service_name
    same "$(json '[(g["labels"]["service_name"], g["sum"]) for g in d["groups"]]')" "[('desk', 202), ('shop', 101)]"
    ask timeseries --json "$cpu{}" --by span_name --span-id "$span_2"
    same "$(json '[(g["labels"]["span_name"], g["sum"]) for g in d["groups"]]')" "[('GET /pay', 30)]"
}

t "spans, traces and names of spans, as they came"
check_spans

t "an exemplar is a profile or a span that can be asked for by its id"
ask timeseries --json "$cpu{}" --exemplars 1 --step 1h
same "$(json '[(e["value"], e["time_ns"], e["point"]) for g in d["groups"] for e in g["exemplars"]]')" \
    "[(5000, 1790000000000000000, 0)]"
profile=$(json 'd["groups"][0]["exemplars"][0]["profile_id"]')
same "$(total --profile-id "$profile")" 5000
same "$(total --profile-id "$(echo "$profile" | tr -d -)")" 5000
same "$(total --profile-id "$profile" --span-id "$span_1")" 0
ask timeseries --json "$cpu{}" --exemplars 2 --exemplar-kind span --by service_name --step 1h
same "$(json '[(e["value"], e["span_id"], e["trace_id"]) for g in d["groups"] for e in g["exemplars"]]')" \
    "[(200, '$span_1', '$trace_a'), (20, '$span_2', '$trace_a'), (100, '$span_1', '$trace_a'), (10, '$span_2', '$trace_a')]"
ask timeseries "$cpu{}" --exemplars 1 --exemplar-kind span --by service_name
out_has "SPAN"
out_has "$span_1  $trace_a"
ask timeseries "$cpu{}" --exemplars 1
out_has "$profile"
ask timeseries "$cpu{}" --exemplars 3 --exemplar-kind span --span-id 00000000000000ff
err_has "no profile of $cpu{} with these ids begins from"
err_has "--attribution root counts them, too"

t "explain says that the span index was used, of two closings and of one"
ask explain --json "$cpu{}" --span-id "$span_1"
same "$(json 'd["read"]["span_index_values"], d["read"]["rows"]')" "(2, 2)"
ask explain --json "$cpu{}" --span-id 00000000000000ff
same "$(json 'd["read"]["span_index_values"], d["read"]["rows"]')" "(2, 0)"
ask explain --json "$cpu{}" --trace-id "$trace_a"
same "$(json 'd["read"]["span_index_values"], d["read"]["rows"]')" "(0, 4)"
run hearth compact --data-dir data
status_is 0
check_spans
same "$(total --profile-id "$profile")" 5000
ask explain --json "$cpu{}" --span-id "$span_1"
same "$(json 'd["read"]["span_index_values"], d["read"]["rows"]')" "(1, 2)"
ask explain "$cpu{}" --span-id "$span_1"
out_has "1 value of the span index"

t "links of OTLP are spans as well"
import otlp service_name=threads "$data/service.otlp.json"
run hearth timeseries --data-dir otlp '{}' --type samples --from 2020-01-01 --until 2027-01-01 --step 3000d \
    --exemplars 1 --exemplar-kind span --json
span=$(json 'd["groups"][0]["exemplars"][0]["span_id"]')
run hearth query --data-dir otlp '{}' --type samples --from 2020-01-01 --until 2027-01-01 --span-id "$span" --format json
same "$(json 'd["total"] > 0')" True

t "ids that are none are refused, saying what is right"
refuses 2 "--span-id: 'xyz' is no id of a span: write 16 hexadecimal digits" hearth query --data-dir data shop --span-id xyz
refuses 2 "--trace-id: '$span_1' is no id of a trace: write 32 hexadecimal digits" \
    hearth explain --data-dir data shop --trace-id "$span_1"
refuses 2 "--profile-id: '12' is no id of a profile: write a UUID like" hearth timeseries --data-dir data shop --profile-id 12
refuses 2 "all zeros mean that there is none" hearth query --data-dir data shop --span-id 0000000000000000
refuses 2 "no place for --exemplars; use --json" hearth timeseries --data-dir data shop --exemplars 1 --csv
refuses 2 "--exemplars" hearth timeseries --data-dir data shop --exemplars 101
finish
