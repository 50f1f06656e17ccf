#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Asking a store: query, diff of two queries, timeseries, explain.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
example=$root/examples/checkout.folded
next=$root/examples/checkout-next.folded
cpu=process_cpu:cpu:nanoseconds:cpu:nanoseconds

# import ARGUMENTS...: into the store `data`, whatever the age.
import() {
    run hearth import --data-dir data --max-age 36500d "$@"
    status_is 0
    err_empty
}
# ask COMMAND ARGUMENTS...: about the hour in which all of this was recorded.
ask() {
    command=$1
    shift
    run hearth "$command" --data-dir data --from 2026-09-21T14:00:00Z --until 2026-09-21T15:00:00Z "$@"
}
# body FILE: a table without its title.
body() { sed 1d "$1"; }
# total QUERY ARGUMENTS...: what the query comes to.
total() {
    ask query --format json "$@"
    json 'd["total"]'
}
# heap FILE TIME_S INUSE: a heap profile of one level.
heap() {
    printf '{"types": [["inuse_space", "bytes"]], "period_type": ["space", "bytes"], "period": 1, "time_ns": %s000000000,
        "samples": [{"stack": ["main", "keep"], "values": [%s]}]}' "$2" "$3" >heap.json
    python3 "$data/encode_pprof.py" heap.json "$1" || fail "cannot encode $1"
}

# Two versions of shop, each a profile of a second of CPU time, split by route: 14:13:20 and a minute later.
import --label service_name=shop --label version=1 cpu.pb
sed -e 's/"time_ns": 1790000000/"time_ns": 1790000060/' -e 's/\[40, 400000000\]/[80, 800000000]/' "$data/cpu.json" >cpu2.json
python3 "$data/encode_pprof.py" cpu2.json cpu2.pb
import --label service_name=shop --label version=2 cpu2.pb
# A service with a dot in its name and no CPU, one with labels on samples, and levels: of two instances in two slots of
# five minutes.
import --label service_name=order.cpu --time 2026-09-21T14:30:00Z "$example"
import --label service_name=threads "$data/service.otlp.json"
heap a1.pb 1790000000 100 && heap a2.pb 1790000010 300 && heap a3.pb 1790000300 400
heap b1.pb 1790000020 40 && heap b2.pb 1790000030 60
import --label service_name=cache --label instance=a a1.pb a2.pb a3.pb
import --label service_name=cache --label instance=b b1.pb b2.pb

# --- the language ---

t "a full type, a service with a short type, a service, and braces with the type apart mean the same"
ask query --format json "$cpu{service_name=\"shop\"}"
status_is 0
err_empty
cp .out full.json
same "$(json 'd["total"], d["query"]')" "(2400000000, '$cpu{service_name=\"shop\"}')"
ask query --format json shop.cpu
same_file .out full.json
ask query --format json '{service.name=shop}' --type cpu
same_file .out full.json
ask query --format json 'shop{}' --type "$cpu"
same_file .out full.json
ask query --format json shop
same_file .out full.json
err_has "hearth: profile type $cpu: CPU, since the query names none"

t "notes can be kept back"
run hearth --log-level warn query shop --data-dir data --from 2026-09-21 --until 2026-09-22
status_is 0
err_empty

t "a service with a dot in its name is a service first, and without CPU its most common type is chosen"
ask query --format json order.cpu
status_is 0
same "$(json 'd["type"], d["total"]')" "('samples', 10000)"
err_has "there is no CPU"

t "conditions on labels of series and of samples"
same "$(total 'shop{version=1}')" 1000000000
same "$(total 'shop{version!=1}')" 1400000000
same "$(total 'shop{version=~"1|2", route="/pay"}')" 600000000
same "$(total 'shop{route=""}')" 100000000
same "$(total 'threads{thread.name="worker"}')" 3

t "errors say where and what to do"
refuses 2 'a quote that is never closed at position 14' hearth query --data-dir data 'shop{version="1'
refuses 2 "run 'hearth query --help' for help" hearth query --data-dir data 'shop{version'
refuses 1 "no service 'shp'" hearth query --data-dir data shp
err_has "nearest: 'shop'"
refuses 1 "service 'shop' has no profiles of type 'wall'" hearth query --data-dir data shop.wall
err_has "it has "
refuses 1 "'nosuch'" hearth query --data-dir data '{}' --type nosuch
refuses 2 "--function: regular expression '(': missing closing parenthesis" hearth query --data-dir data shop \
    --from 2026-09-21 --until 2026-09-22 --function '('
refuses 2 "PATTERN: regular expression '('" hearth peek '(' cpu.pb
refuses 2 "'a:b' is no profile type" hearth query --data-dir data '{}' --type a:b
refuses 2 "give one of the two" hearth query --data-dir data shop.cpu --type "process_cpu:samples:count:cpu:nanoseconds" \
    --from 2026-09-21 --until 2026-09-22
refuses 2 "--from: time 'noon': expected now, a date or a number at position 1" \
    hearth query --data-dir data shop --from noon
refuses 2 "--until: time 'soon'" hearth explain --data-dir data shop --until soon
refuses 2 "the range is empty: it begins at 2026-09-22" hearth query --data-dir data shop --from 2026-09-22 --until 2026-09-21
refuses 2 "'hearth query' needs QUERY" hearth query --data-dir data
refuses 1 "there is no store in 'nowhere'" hearth query --data-dir nowhere shop
refuses 2 "--tenant: the tenant's name 'a b' has a character that is not allowed" hearth query --data-dir data --tenant 'a b' shop

# --- formats ---

t "the table and the tree are those of the file"
ask query "$cpu{version=\"1\"}"
status_is 0
err_empty
body .out >got
same "$(sed -n 1p .out)" "cpu/nanoseconds, 1s in all, 3 profiles, 2026-09-21T14:00:00Z to 2026-09-21T15:00:00Z"
hearth top cpu.pb | sed 1d >wanted
same_file got wanted
ask query "$cpu{version=\"1\"}" --cum -n 2
body .out >got
hearth top --cum -n 2 cpu.pb | sed 1d >wanted
same_file got wanted
for options in "" "--depth 2" "--invert" "--collapse-recursion" "--max-nodes 3 --min-share 0%"; do
    # shellcheck disable=SC2086  # words are what is wanted
    ask query "$cpu{version=\"1\"}" --format tree $options
    body .out >got
    # shellcheck disable=SC2086
    hearth tree $options cpu.pb | sed 1d >wanted
    same_file got wanted
done

t "profiles hold what the store holds"
for file in out.pb.gz out.pb out.otlp out.folded; do
    ask query "$cpu{version=\"1\"}" -o "$file"
    status_is 0
    out_empty
    err_empty
    run hearth top --json --type cpu -n 0 "$file"
    [ "$file" != out.folded ] || run hearth top --json -n 0 "$file"
    same "$(json 'sorted((f["name"], f["self"], f["total"]) for f in d["functions"])')" \
        "$(run hearth top --json -n 0 cpu.pb && json 'sorted((f["name"], f["self"], f["total"]) for f in d["functions"])')"
done
run hearth inspect --json out.pb.gz
same "$(json '[t["type"] for t in d["profiles"][0]["types"]], d["profiles"][0]["duration_ns"]')" \
    "(['cpu', 'samples'], 30000000000)"
ask query "$cpu{version=\"1\"}" --format folded
same "$(sort .out)" "$(hearth convert --to folded --type cpu cpu.pb - | sort)"

t "-o alone must tell the format, and --format wins over it"
refuses 2 "'answer' does not tell which format to write; add --format" hearth query --data-dir data shop -o answer
ask query "$cpu{}" --format top -o answer
out_empty
same "$(sed -n '2s/ *SELF.*/table/p' answer)" table
ask query "$cpu{}" --format tree -o -
out_has "root"

t "JSON is the tree, with what was asked"
ask query "$cpu{version=\"1\"}" --format json --min-share 0%
python3 -IS -c '
import json, sys
got, file = (json.load(open(path)) for path in sys.argv[1:])
assert got["tree"] == file["tree"], got["tree"]
print(got["from_ns"], got["until_ns"], got["unit"], got["whole"], got["profiles"], got["duration_ns"], got["averaged"])
' .out /dev/stdin <<EOF >got
$(hearth tree --json --min-share 0% cpu.pb)
EOF
same "$(cat got)" "1789999200000000000 1790002800000000000 nanoseconds 1000000000 3 30000000000 False"

t "tables are JSON, too, as those of files are"
ask query "$cpu{version=\"1\"}" --json -n 3
status_is 0
functions='[(f["name"], f["self"], f["total"], f["inlined"]) for f in d["functions"]], d["functions_total"], d["whole"]'
got=$(json "$functions")
run hearth top --json -n 3 cpu.pb
same "$got" "$(json "$functions")"
ask query "$cpu{version=\"1\"}" --format tree --json
cp .out tree.json
ask query "$cpu{version=\"1\"}" --format json
same_file .out tree.json
ask query "$cpu{version=\"1\"}" --function '^serve$' --json
functions='[(f["name"], f["callers"], f["callees"]) for f in d["functions"]]'
got=$(json "$functions")
run hearth peek --json '^serve$' cpu.pb
same "$got" "$(json "$functions")"
ask query "$cpu{version=\"1\"}" --json -o top.json
out_empty
is_there top.json
refuses 2 "--json writes tables and trees, and this is a file of format pprof" hearth query --data-dir data shop --json \
    --format pprof

t "filters on functions are those of files, and a filter that leaves all changes nothing"
for filter in "--focus render" "--ignore parse" "--hide serve" "--show parse|scan" "--show-from serve" "--focus ."; do
    for format in top tree; do
        # shellcheck disable=SC2086
        ask query "$cpu{version=\"1\"}" --format $format $filter
        status_is 0
        body .out >got
        # shellcheck disable=SC2086
        hearth $format $filter cpu.pb 2>/dev/null | sed 1d >wanted
        same_file got wanted
    done
done
ask query "$cpu{version=\"1\"}" --focus render
same "$(sed -n 1p .out)" \
    "cpu/nanoseconds, 1s in all, 300ms of it selected (30.00%), 3 profiles, 2026-09-21T14:00:00Z to 2026-09-21T15:00:00Z"
ask query "$cpu{version=\"1\"}" --focus render --format folded
same "$(wc -l <.out)" 2
ask query "$cpu{}" --focus nosuch
status_is 0
err_has "warning:"
refuses 2 "--focus: " hearth query --data-dir data "$cpu{}" --from 2026-09-21 --until 2026-09-22 --focus '('

t "finer than functions"
ask query "$cpu{version=\"1\"}" --granularity line
body .out >got
hearth top --granularity line cpu.pb | sed 1d >wanted
same_file got wanted

t "callers and callees are those of files"
for pattern in '^serve$' 'scan|space' .; do
    ask query "$cpu{version=\"1\"}" --format peek --function "$pattern" -n 20
    status_is 0
    err_empty
    body .out >got
    hearth peek "$pattern" cpu.pb | sed 1d >wanted
    same_file got wanted
done
ask query "$cpu{version=\"1\"}" --function '^serve$' --focus render
body .out >got
hearth peek --focus render '^serve$' cpu.pb | sed 1d >wanted
same_file got wanted
ask query "$cpu{version=\"1\"}" --function . --granularity line
body .out >got
hearth peek --granularity line . cpu.pb | sed 1d >wanted
same_file got wanted
ask query "$cpu{}" --function nosuch
status_is 1
err_has "no function matches 'nosuch'; 'hearth query' lists their names"
refuses 2 "--format peek needs --function" hearth query --data-dir data shop --format peek
refuses 2 "--function is what --format peek shows" hearth query --data-dir data shop --format tree --function x

t "a part of a tree is that of the whole tree"
for options in "" "--max-nodes 2" "--focus parse" "--invert" "--hide serve"; do
    path='main;serve;parse'
    [ "$options" != --invert ] || path='parse;serve'
    [ "$options" != "--hide serve" ] || path='main;parse'
    # shellcheck disable=SC2086
    ask query "$cpu{version=\"1\"}" --format tree --path "$path" $options
    status_is 0
    err_empty
    body .out >got
    # shellcheck disable=SC2086
    hearth tree --path "$path" $options cpu.pb | sed 1d >wanted
    same_file got wanted
done
out_has "parse"
ask query "$cpu{version=\"1\"}" --format json --path 'main;serve;parse' --min-share 0%
same "$(json 'd["tree"]["name"], d["tree"]["total"], d["tree"]["self"], d["whole"]')" "('parse', 650000000, 400000000, 1000000000)"
ask query "$cpu{version=\"1\"}" --format tree --path 'main;nosuch'
status_is 1
err_has "the path ends after 1 call: 'main' does not call 'nosuch' there"
refuses 1 "no stack begins with 'serve'" hearth tree --path serve cpu.pb
refuses 2 "--path begins a tree elsewhere; add --format tree" hearth query --data-dir data shop.cpu --path main
printf '%s' '{"types": [["cpu", "nanoseconds"]], "period_type": ["cpu", "nanoseconds"], "period": 1,
    "samples": [{"stack": ["main", "run(Ljava/lang/String;)V", "App\\Kernel"], "values": [5]}]}' >semicolon.json
python3 "$data/encode_pprof.py" semicolon.json semicolon.pb
run hearth tree --json --path 'main;run(Ljava/lang/String\;)V;App\Kernel' semicolon.pb
status_is 0
same "$(json 'd["tree"]["name"], d["tree"]["total"]')" "('App\\\\Kernel', 5)"

t "filters on labels of samples are those of files"
for filter in "--tagfocus route=/cart" "--tagignore route=/cart" "--tagfocus pay" "--tagfocus route:/ --focus render"; do
    for format in top tree; do
        # shellcheck disable=SC2086
        ask query "$cpu{version=\"1\"}" --format $format $filter
        status_is 0
        err_empty
        sed -e 1d -e 's/[0-9.]*%//g' -e 's/  */ /g' .out >got
        # shellcheck disable=SC2086
        hearth $format $filter cpu.pb 2>/dev/null | sed -e 1d -e 's/[0-9.]*%//g' -e 's/  */ /g' >wanted
        same_file got wanted
    done
done
same "$(total 'shop{version=1}' --tagfocus route=/pay)" 300000000
same "$(total threads --tagfocus worker)" "$(total 'threads{thread.name="worker"}')"
same "$(total cache.inuse_space --tagfocus instance=b)" 50
ask query "$cpu{version=\"1\"}" --tagfocus route=/pay --format folded
same "$(wc -l <.out)" 2
ask query "$cpu{}" --tagfocus route=/nosuch
status_is 0
out_empty
err_has "no sample of $cpu{} passes --tagfocus and --tagignore"
run hearth query --data-dir data "$cpu{}" --from 2026-09-22 --until 2026-09-23 --tagfocus route=/pay
status_is 0
err_has "there are some that begin from 2026-09-21T14:13:20Z"
refuses 2 "--tagfocus: " hearth query --data-dir data "$cpu{}" --from 2026-09-21 --until 2026-09-22 --tagfocus '('

# --- levels ---

t "levels are averaged over time and added up over instances; --pyroscope-sums adds them up"
same "$(total cache.inuse_space)" 325 # of (100 + 300) / 2 + (40 + 60) / 2 and 400
same "$(total 'cache.inuse_space{instance=b}')" 50
same "$(total cache.inuse_space --pyroscope-sums)" 900
ask query cache.inuse_space
out_has "inuse_space/bytes, 325B on average, 5 profiles"
ask query cache.inuse_space --focus keep
out_has "inuse_space/bytes, 325B on average, 325B of it selected (100.00%), 5 profiles"
ask query cache.inuse_space --pyroscope-sums
out_has "inuse_space/bytes, 900B in all, 5 profiles"

# --- nothing ---

t "an empty answer says so, and when there is something"
run hearth query --data-dir data shop --from 2026-09-22 --until 2026-09-23
status_is 0
out_empty
err_has "no profile of $cpu{service_name=\"shop\"} begins from 2026-09-22T00:00:00Z until 2026-09-23T00:00:00Z"
err_has "there are some that begin from 2026-09-21T14:13:20Z to 2026-09-21T14:14:20Z"

t "or which services and types there are"
ask query 'shop{version=3}'
status_is 0
out_empty
err_has "no profile of $cpu{service_name=\"shop\", version=\"3\"}"
err_has "of services there are 'cache', 'order.cpu', 'shop'"
err_has "of types there are "
err_has "profiles begin from 2026-09-21T14:13:20Z to 2026-09-21T14:30:00Z"
refuses 1 "" hearth query --data-dir data --tenant nobody shop
run hearth query --data-dir data --tenant nobody "$cpu{}"
status_is 0
err_has "tenant nobody has no profiles at all"
refuses 1 "tenant nobody has no profiles at all; 'hearth import' writes some, and --tenant names another" \
    hearth query --data-dir data --tenant nobody '{}'

t "nothing in each format"
for filter in "" "--focus x"; do
    # shellcheck disable=SC2086
    ask query 'shop{version=3}' --format json $filter
    same "$(json 'd["total"], d["profiles"], d["tree"]')" "(0, 0, {'name': 'root', 'total': 0, 'self': 0})"
done
ask query 'shop{version=3}' --format folded
out_empty
status_is 0
ask query 'shop{version=3}' -o nothing.pb.gz
status_is 0
run hearth inspect --json nothing.pb.gz
status_is 0
ask explain 'shop{version=3}' --json
same "$(json 'd["profiles"]')" 0
ask timeseries 'shop{version=3}'
status_is 0
out_empty
err_has "no profile of"

# --- limits ---

t "memory and time have limits, which the errors name"
refuses 2 "--query-memory" hearth query --data-dir data shop --query-memory 1
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "main;a%d;b%d;c%d 1\n", i % 7, i % 999, i }' >wide.folded
import --label service_name=wide --time 2026-09-21T14:30:00Z wide.folded
# The sums of a tree, its calls and names, the stacks of a profile, and the profile itself.
for options in "--format top --query-memory 1MiB" "--format top --query-memory 4MiB" "--format folded --query-memory 1MiB" "--hide c1 --query-memory 16MiB"; do
    # shellcheck disable=SC2086
    ask query wide $options
    status_is 1
    err_has "raise --query-memory"
done
ask query wide --hide c1
status_is 0
refuses 1 "--timeout 1ns: " hearth query --data-dir data shop --from 2026-09-21 --until 2026-09-22 --timeout 1ns
refuses 1 "--timeout 1ns: " hearth timeseries --data-dir data shop --from 2026-09-21 --until 2026-09-22 --timeout 1ns
run hearth query --data-dir data shop --from 2026-09-21 --until 2026-09-22 --timeout 0
status_is 0
out_has "parse"

t "another process may be writing meanwhile"
mkfifo gate
"$hearth" import --data-dir data --max-age 36500d --label service_name=late --time 2026-09-21T14:40:00Z "$example" - \
    <gate >.late 2>&1 &
writer=$!
exec 3>gate
for _ in $(seq 100); do
    ask query late
    [ "$status" = 0 ] && break
    sleep 0.1
done
same "$(total late)" 10000
exec 3>&-
wait "$writer"

# --- types in braces ---

t "a type in braces, as Pyroscope's pages write it, names the type"
ask query --format json "{__profile_type__=\"$cpu\", service_name=\"shop\"}"
status_is 0
err_empty
same "$(json 'd["total"], d["query"]')" "(2400000000, '$cpu{service_name=\"shop\"}')"
ask query --format json 'shop{__type__="samples"}'
same "$(json 'd["query"]')" 'process_cpu:samples:count:cpu:nanoseconds{service_name="shop"}'
ask query 'shop{__profile_type__=~"process_cpu:.*"}'
status_is 2
err_has "leave 2 of them, and an answer is of one: cpu, samples"
run hearth series --data-dir data "{__profile_type__=\"$cpu\"}"
out_has 'service_name="shop"'
out_lacks 'service_name="cache"'

# --- explain ---

t "explain says what a query means and what was read"
ask explain shop
status_is 0
err_has "CPU, since the query names none"
out_has "query   $cpu{service_name=\"shop\"}"
out_has "values  added up over time and instances"
out_has "range   2026-09-21T14:00:00Z to 2026-09-21T15:00:00Z (1h)"
out_has "answer  6 profiles of 1min, a tree of 9 nodes"
out_has "1 thread"
out_has "B, as they are kept"
out_has "plan    to be read at most, by day"
ask explain "shop{version=9}" --type cpu
out_has "answer  0 profiles, a tree of 1 node"
ask explain shop --json
same "$(json 'd["query"], d["profile_type"], d["level"], d["profiles"], d["nodes"], d["duration_ns"], d["threads"]')" \
    "('$cpu{service_name=\"shop\"}', '$cpu', False, 6, 9, 60000000000, 1)"
same "$(json 'sorted(d["read"])')" "['bytes', 'hour_rollups', 'rows', 'series_sums', 'slot_rollups', 'span_index_values', 'windows']"
same "$(json 'd["read"]["hour_rollups"] + d["read"]["series_sums"] + d["read"]["rows"] > 0, d["read_ns"] > 0')" "(True, True)"
same "$(json 'd["plan"][0]["day"], d["plan"][0]["series"], d["plan"][0]["groups"], d["read"]["bytes"] > 0')" \
    "('2026-09-21', 6, 1, True)"
t "explain --dry-run plans and answers nothing: a whole hour, and one with ragged edges"
ask explain shop --type cpu --dry-run
status_is 0
err_empty
out_has "2026-09-21"
out_lacks "answer"
out_lacks "read  "
ask explain shop --type cpu --dry-run --json
same "$(json '"read" in d, "profiles" in d, d["plan_ns"] > 0, len(d["plan"])')" "(False, False, True, 1)"
run hearth explain --data-dir data shop --type cpu --from 2026-09-21T14:01:00Z --until 2026-09-21T14:59:00Z --dry-run
out_has "14:01:00 to 14:59:00"
run hearth explain --data-dir data shop --type cpu --from 2026-09-21T14:00:00Z --until 2026-09-21T15:00:00Z --tagfocus route=/cart --dry-run
out_has "14:00:00 to 15:00:00"
run hearth explain --data-dir data shop --type cpu --from 2025-09-21T14:00:00Z --until 2025-09-21T15:00:00Z --dry-run
out_has "plan    there is no day to read"
ask explain cache.inuse_space
out_has "values  averaged over time, added up over instances (a level)"
ask explain cache.inuse_space --pyroscope-sums
out_has "although it is a level (--pyroscope-sums)"

# --- diff ---

# compare ARGUMENTS...: two queries in the hour.
compare() { run hearth diff --data-dir data --until 2026-09-21T15:00:00Z "$@"; }
# tables FILE: the rows behind the lines about both sides.
tables() { sed 1,3d "$1"; }

t "diff says how times of queries are given, and what it chose once"
compare --baseline shop --comparison shop --from now-2h
status_is 2
err_has "times of queries are --time-range, --until, --baseline-from"
compare --baseline shop --comparison shop --from pprof
status_is 2
err_has "--from is the format of files; of queries, --time-range"
compare --baseline 'shop{version=1}' --comparison 'shop{version=2}'
status_is 0
same "$(printf '%s\n' "$errout" | grep -c 'CPU, since the query names none')" 1

t "a filter that matches nothing is told in plain words"
ask query shop --type cpu --focus nosuchfunction
err_has "focus matches no frame (of this answer)"
ask query shop --type cpu --hide nosuchfunction
err_has "hide matches no frame (in "

t "ids are no labels to group by"
for id in span_id trace.id profile_id; do
    ask timeseries shop --type cpu --by "$id"
    status_is 1
    err_has "is an id and no label to group by"
done

t "diff of two queries is that of the two files"
for options in "" "--cum -n 2" "--significant" "--threshold 10%" "--scale totals" "--focus parse" "--scale durations"; do
    # shellcheck disable=SC2086
    compare --baseline "$cpu{version=\"1\"}" --comparison "$cpu{version=\"2\"}" $options
    status_is 0
    err_empty
    tables .out >got
    # shellcheck disable=SC2086
    hearth diff $options cpu.pb cpu2.pb | sed 1,3d >wanted
    same_file got wanted
done
compare --baseline "$cpu{version=\"1\"}" --comparison "$cpu{version=\"2\"}"
same "$(sed -n 2p .out)" "before  1s in 30s, 100 samples, 3 profiles of $cpu{version=\"1\"}, 2026-09-21T14:00:00Z to 2026-09-21T15:00:00Z"
compare --baseline "$cpu{version=\"1\"}" --comparison "$cpu{version=\"2\"}" --threshold 101%
out_has "nothing changed by 101% or more"
status_is 0

t "short forms, the type apart, JSON"
compare --json --baseline 'shop{version=1}' --comparison 'shop{version=2}' --type samples
same "$(json 'd["type"], d["before"]["total"], d["after"]["total"], d["before"]["profiles"], d["after"]["query"]')" \
    "('samples', 100, 140, 3, 'process_cpu:samples:count:cpu:nanoseconds{service_name=\"shop\", version=\"2\"}')"
same "$(json '[(f["name"], f["self"]["delta"]) for f in d["functions"] if f["self"]["delta"]]')" "[('parse', 40)]"

t "another time for the baseline"
compare --json --time-range 45m40s --baseline shop.cpu --comparison shop.cpu \
    --baseline-from 2026-09-21T14:13:20Z --baseline-until 2026-09-21T14:14:20Z
same "$(json 'd["before"]["total"], d["after"]["total"]')" "(1000000000, 1400000000)"
compare --json --time-range 1m --until 2026-09-21T14:15:00Z --baseline shop.cpu --comparison shop.cpu \
    --baseline-until 2026-09-21T14:14:00Z
same "$(json 'd["before"]["from_ns"], d["before"]["total"], d["after"]["total"]')" "(1789999980000000000, 1000000000, 1400000000)"
compare --json --time-range 1m --until 2026-09-21T14:15:00Z --baseline shop.cpu --comparison shop.cpu \
    --baseline-from 2026-09-21T14:13:00Z
same "$(json 'd["before"]["from_ns"], d["before"]["total"]')" "(1789999980000000000, 1000000000)"
refuses 2 "a range of time ends before it begins" hearth diff --data-dir data --baseline shop --comparison shop \
    --baseline-from 2026-09-21 --baseline-until 2026-09-20
refuses 2 "--baseline-from: time 'noon'" hearth diff --data-dir data --baseline shop --comparison shop --baseline-from noon

t "filters by labels hold on both sides"
compare --json --baseline 'shop.cpu{version=1}' --comparison 'shop.cpu{version=2}' --tagfocus route=/cart
same "$(json 'd["before"]["total"], d["after"]["total"]')" "(650000000, 1050000000)"
compare --json --baseline 'shop.cpu{version=1}' --comparison 'shop.cpu{version=2}' --tagfocus route=/cart --granularity line
same "$(json 'd["before"]["total"], d["after"]["total"]')" "(650000000, 1050000000)"
refuses 2 "--label chooses samples of files" hearth diff --data-dir data --baseline shop --comparison shop --label route=/cart
compare --baseline 'shop{version=1}' --comparison cache
status_is 1
err_has "--comparison: this is about 'inuse_space', and --baseline about 'cpu'; --type names one for both"

t "a side without profiles is an error"
compare --baseline 'shop{version=1}' --comparison 'shop{version=3}'
status_is 1
out_empty
err_has "no profile of $cpu{service_name=\"shop\", version=\"3\"}"
err_has "hearth: --comparison: there is nothing to compare"
refuses 1 "--baseline: no service 'shp'" hearth diff --data-dir data --baseline shp --comparison shop
refuses 2 "--comparison: " hearth diff --data-dir data --until 2026-09-22 --time-range 1d --baseline shop --comparison 'shop{'

t "files and queries do not mix, and one query is not two"
refuses 2 "'cpu.pb' is a file, and --baseline and --comparison are queries; give one or the other" \
    hearth diff cpu.pb --baseline shop --comparison shop
refuses 2 "--baseline alone compares nothing; give --comparison, too" hearth diff --baseline shop
refuses 2 "--comparison alone compares nothing; give --baseline, too" hearth diff --comparison shop
refuses 2 "--until chooses profiles of a store; give --baseline and --comparison" hearth diff --until now "$example" "$next"

# --- timeseries ---

t "a line for each group, with last, mean and max"
ask timeseries '{}' --type cpu --by version --step 1m --kind cores
status_is 0
same "$(sed -n 1p .out)" "cores, 2026-09-21T14:00:00Z to 2026-09-21T15:00:00Z, 60 points of 1min"
same "$(awk 'NR > 2 { print $1, $2, $3, $NF }' .out)" "0.0233 0.0233 0.0233 2
0.0167 0.0167 0.0167 1"

t "bars are blocks where the terminal shows UTF-8, else plain characters"
run env LC_ALL=C.UTF-8 "$hearth" timeseries --data-dir data shop.cpu --from 2026-09-21T14:13:00Z \
    --until 2026-09-21T14:16:00Z --step 1m
same "$(sed -n 3p .out)" "1.40s  1.20s  1.40s  ▆█         all"
run env LC_ALL=C "$hearth" timeseries --data-dir data shop.cpu --from 2026-09-21T14:13:00Z --until 2026-09-21T14:16:00Z \
    --step 1m
same "$(sed -n 3p .out)" "1.40s  1.20s  1.40s  +#         all"

t "JSON and CSV"
ask timeseries shop.cpu --by version,route --step 30m --json
same "$(json 'd["kind"], d["unit"], d["step_ns"], d["groups_left_out"], len(d["groups"])')" \
    "('sum', 'nanoseconds', 1800000000000, 0, 6)"
same "$(json 'd["groups"][0]')" "{'labels': {'version': '2', 'route': '/cart'}, 'sum': 1050000000, 'points': [1050000000, None]}"
ask timeseries shop.cpu --by version --by route --step 30m --csv --top 2
same "$out" "time,version,route,value
2026-09-21T14:00:00.000Z,2,/cart,1050000000
2026-09-21T14:00:00.000Z,1,/cart,650000000"
ask timeseries shop.cpu --by version --top 1
out_has "1 more group; --top 0 shows all"
refuses 2 "--json and --csv are two ways" hearth timeseries --data-dir data shop --json --csv

t "filters by functions and by labels take values out, over time, too"
ask timeseries shop.cpu --by version --step 1h --csv --focus render
same "$(sed 1d .out | cut -d, -f2-)" "1,300000000
2,300000000"
ask timeseries shop.cpu --by route --step 1h --csv --tagfocus route=/cart --ignore scan
same "$(sed 1d .out | cut -d, -f2-)" "/cart,1200000000"

t "kinds"
point() {
    ask timeseries --json --step 1h "$@"
    json '[g["points"][0] for g in d["groups"]], d["unit"]'
}
same "$(point shop.cpu --kind count)" "([6], 'profiles')"
same "$(point shop.cpu --kind average)" "([400000000], 'nanoseconds')"
same "$(point 'order.cpu' --kind rate)" "([2.7777777777777777], 'count/second')"
same "$(point cache.inuse_space)" "([325], 'bytes')"
same "$(point cache.inuse_space --pyroscope-sums)" "([900], 'bytes')"
refuses 1 "cores" hearth timeseries --data-dir data order.cpu --kind cores --from 2026-09-21 --until 2026-09-22
refuses 1 "11000" hearth timeseries --data-dir data shop.cpu --step 1ms --from 2026-09-21 --until 2026-09-22
refuses 2 "--by: 'a,,b' has an empty name in it" hearth timeseries --data-dir data shop.cpu --by a,,b

# --- heatmap ---

t "a heatmap counts every profile once, and has an exemplar for each cell"
ask heatmap shop --type cpu --json --step 1m
status_is 0
same "$(json 'sum(map(sum, d["counts"])), len(d["counts"]), d["unit"], d["kind"]')" "(6, 60, 'nanoseconds/second', 'profile')"
same "$(json 'len(d["borders"]) == len(d["counts"][0]) + 1 and d["borders"] == sorted(d["borders"])')" True
same "$(json 'all(d["counts"][e["point"]][e["bucket"]] > 0 for e in d["exemplars"])')" True
same "$(json 'sum(c > 0 for p in d["counts"] for c in p) == len(d["exemplars"])')" True
id=$(json 'max(d["exemplars"], key=lambda e: e["value"])["profile_id"]')
ask query shop --type cpu --json --profile-id "$id"
same "$(json 'd["profiles"]')" 1

t "as text it has a row for each range of values, from the largest down"
ask heatmap shop --type cpu --buckets 4 --scale linear
status_is 0
same "$(sed -n 1p .out)" "nanoseconds/second of 6 profiles, 2026-09-21T14:00:00Z to 2026-09-21T15:00:00Z, 60 points of 1min"
same "$(sed -n '3,$p' .out | awk '{ n += $2 } END { print n }')" 6
out_has @
out_lacks "█"
refuses 2 "--buckets" hearth heatmap --data-dir data shop --buckets 61
ask heatmap shop --type cpu --from 2020-01-01 --until 2020-01-02
status_is 0
out_empty
err_has "there are some that begin from"

finish
