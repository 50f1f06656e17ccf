#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hearth's own API and --url: what a server answers is what the command prints, byte for byte.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
pprof_of cpu
day='from=2026-09-21&until=2026-09-22'

# A service of two versions with CPU time of two profiles, and one of another kind.
for version in 1 2; do
    sed -e "s/\"time_ns\": 1790000000/\"time_ns\": 17900000${version}0/" "$data/cpu.json" >cpu$version.json
    python3 "$data/encode_pprof.py" cpu$version.json cpu$version.pb
    hearth import --data-dir data --max-age 36500d --label service_name=shop --label version=$version cpu$version.pb >/dev/null
done
hearth import --data-dir data --max-age 36500d --label service_name=cart --time 2026-09-21T14:30:00Z \
    "$root/examples/checkout.folded" >/dev/null
start_server data --retention 36500d --listen-also "unix:$work/socket"

# same_by_url COMMAND...: prints and says the same with --url as with --data-dir, and ends alike.
same_by_url() {
    run hearth "$@" --data-dir data
    mv .out here.out && mv .err here.err
    here=$status
    run hearth "$@" --url "$url"
    status_is "$here"
    same_file .out here.out
    same_file .err here.err
}
# of_day COMMAND...: same_by_url about the day of all profiles.
of_day() { same_by_url "$@" --from 2026-09-21 --until 2026-09-22; }
# answers_command PATH COMMAND...: the body is what the command prints.
answers_command() {
    path=$1
    shift
    hearth "$@" --data-dir data >wanted 2>/dev/null
    ask "$path" -g
    same "$code" 200
    same_file .out wanted
}

# --- by --url ---

t "query prints the same: tables, trees, JSON and files"
of_day query shop
of_day query shop --json -n 2 --cum
of_day query shop --format tree --depth 2
of_day query shop --format tree --json --min-share 0%
of_day query shop --format json --path 'main'
of_day query shop --function . --json
of_day query shop --function . -n 2
of_day query 'shop{version="1"}' --focus main --hide work --granularity line
of_day query '{}' --type samples --tagfocus route=/pay
for format in pprof otlp otlp-json folded; do of_day query shop --format $format; done

t "a file is written here, in the format and the compression that its name says"
for name in a.pb.gz a.pb a.folded a.folded.zst a.otlp; do
    quietly hearth query shop --from 2026-09-21 --until 2026-09-22 --data-dir data --type cpu -o "$name"
    quietly hearth query shop --from 2026-09-21 --until 2026-09-22 --url "$url" --type cpu -o "url-$name"
    same_file "$name" "url-$name"
done

t "the other commands print the same"
of_day timeseries shop --by version
of_day timeseries shop --by version --csv
of_day timeseries shop --by version,route --json --exemplars 2
of_day heatmap shop
of_day heatmap shop --json --buckets 5
of_day explain shop --dry-run
of_day series 'service_name=shop' --json
of_day series
of_day labels
of_day labels 'service_name=cart' --json
of_day label-values version
of_day label-values version 'service_name=shop' --counts
of_day types
of_day types --brief --json
of_day cardinality --exact
of_day cardinality --json --label version
for way in "--data-dir data" "--url $url"; do
    # shellcheck disable=SC2086
    run hearth stats --json $way
    same "$(json 'd["days"], d["rows"], d["samples"], len(d["top_series"])')" "(1, 7, 80, 7)"
done
same_by_url keep --json
same_by_url verify
same_by_url verify --json
same_by_url diff --baseline 'shop{version=1}' --comparison 'shop{version=2}' --until 2026-09-22 --time-range 1d
same_by_url diff --baseline 'shop{version=1}' --comparison cart --until 2026-09-22 --time-range 1d --json
export LC_ALL=C.UTF-8
of_day timeseries shop
of_day heatmap shop
export LC_ALL=C

t "failures and notes are the same, with their exit status"
of_day query nosuch
of_day query 'shop{version'
of_day query shop --function nosuch
of_day query shop --format peek
of_day query shop --focus '('
of_day query shop --path nowhere --format tree
same_by_url query shop --from noon
same_by_url query shop --from 2020-01-01 --until 2020-01-02
same_by_url query shop --from 2020-01-01 --until 2020-01-02 --json
same_by_url timeseries shop --from 2026-09-21 --until 2026-09-22 --step 1ms
same_by_url diff --baseline shop --comparison 'shop{version=9}' --until 2026-09-22 --time-range 1d
same_by_url diff --baseline shop
same_by_url series '{version='
of_day --log-level warn query shop
of_day --log-level warn query nosuch

t "a variable names the server, and a unix socket is one, too"
run env HEARTH_URL="$url" "$hearth" label-values version
same "$out" "1
2"
run hearth label-values version --url "unix:$work/socket"
same "$out" "1
2"
run env HEARTH_URL="$url" "$hearth" diff cpu1.pb cpu2.pb
status_is 0

t "what goes wrong on the way says what to do"
refuses 1 "is 'hearth server' running there?" hearth labels --url http://127.0.0.1:1
refuses 1 "nobody answers at unix:$work/none" hearth labels --url "unix:$work/none"
refuses 2 "give http://HOST:PORT, https://HOST:PORT or unix:PATH" hearth labels --url 127.0.0.1:4040
refuses 2 "give http://HOST:PORT, https://HOST:PORT or unix:PATH" hearth labels --url ''
refuses 2 "give one of them" hearth labels --url "$url" --data-dir data
refuses 2 "--query-memory is about this machine" hearth query shop --url "$url" --query-memory 1MiB
refuses 2 "a server cannot run 'hearth diff' with these arguments" hearth diff --url "$url" cpu1.pb cpu2.pb
refuses 1 "is no hearth server, or one of another version" hearth labels --url "$url/elsewhere"
refuses 1 "keeps no tenants apart" hearth labels --url "$url" --tenant team-a
refuses 2 "--from is empty" hearth query shop --url "$url" --from ''
refuses 2 "this is a file of format otlp" hearth query shop --url "$url" --format otlp --json
refuses 2 "the name of the label is empty" hearth label-values '' --data-dir data
refuses 2 "needs the parameter 'label'" hearth label-values '' --url "$url"

t "an answer of another kind of server is none"
mkdir -p other/api/v1
echo '{"status":"success","data":[]}' | tee other/api/v1/labels >other/api/v1/status
python3 -u -m http.server --bind 127.0.0.1 --directory other 0 >other.log 2>&1 &
other=$!
until grep -q 'Serving HTTP' other.log || ! kill -0 $other; do sleep 0.1; done
other_url=http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\) .*/\1/p' other.log)
refuses 1 "answers /api/v1/labels, but not as hearth does: look at --url" hearth labels --url "$other_url"
refuses 1 "is no hearth server" hearth status --url "$other_url"
kill $other

t "the status of a server is a page"
run hearth status --url "$url"
status_is 0
out_has "listens   $address (--listen)"
out_has "nobody has sent anything yet"
run hearth status --url "$url" --json
same "$(json 'd["ready"]')" True
refuses 1 "is 'hearth server' running there?" hearth status --url http://127.0.0.1:1

# --- by HTTP ---

t "every path answers what its command prints"
answers_command /api/v1/profile-types types --json
answers_command /api/v1/labels labels --json
answers_command '/api/v1/labels?output=text' labels
answers_command '/api/v1/label-values?label=version' label-values version --json
answers_command '/api/v1/label-values?label=version&selector=service_name=shop&counts=true' \
    label-values version service_name=shop --counts --json
answers_command '/api/v1/series?selector={version="1"}' series '{version="1"}' --json
answers_command "/api/v1/query?query=shop&$day" query shop --json --from 2026-09-21 --until 2026-09-22
answers_command "/api/v1/flamegraph?query=shop&$day" query shop --format json --from 2026-09-21 --until 2026-09-22
answers_command "/api/v1/flamegraph?query=shop&$day&path=main&max-nodes=3&min-share=0%25" query shop --format json \
    --path main --max-nodes 3 --min-share 0% --from 2026-09-21 --until 2026-09-22
answers_command "/api/v1/top?query=shop{version=2}&$day&rows=2" query 'shop{version=2}' --json -n 2 --from 2026-09-21 --until 2026-09-22
answers_command "/api/v1/callers?query=shop&$day&function=." query shop --function . --json --from 2026-09-21 --until 2026-09-22
answers_command "/api/v1/timeseries?query=shop&$day&by=version&by=route" timeseries shop --by version --by route --json \
    --from 2026-09-21 --until 2026-09-22
answers_command "/api/v1/timeseries?query=shop&$day&output=csv" timeseries shop --csv --from 2026-09-21 --until 2026-09-22
answers_command "/api/v1/heatmap?query=shop&$day" heatmap shop --json --from 2026-09-21 --until 2026-09-22
answers_command "/api/v1/explain?query=shop&$day&dry-run=true&output=text" explain shop --dry-run --from 2026-09-21 --until 2026-09-22
answers_command /api/v1/cardinality cardinality --json
ask /api/v1/stats && answers 200 '"top_series"'
answers_command /api/v1/keep keep --json
answers_command '/api/v1/diff?baseline=shop{version=1}&comparison=shop{version=2}&until=2026-09-22&time-range=1d' \
    diff --baseline 'shop{version=1}' --comparison 'shop{version=2}' --until 2026-09-22 --time-range 1d --json

t "exports are files with a name and a type"
for format in pprof otlp otlp-json folded; do
    answers_command "/api/v1/export?query=shop&$day&format=$format" query shop --format $format --from 2026-09-21 --until 2026-09-22
done
run curl -g -s -D - -o got "$url/api/v1/export?query=shop&$day&file=shop.pb.gz"
out_has 'content-disposition: attachment; filename="shop.pb.gz"'
out_has 'content-type: application/octet-stream'
run hearth top got
status_is 0

t "beside the answer, headers say what was noted and what was read"
run curl -g -s -D - -o got "$url/api/v1/top?query=shop&$day"
out_has 'x-hearth-messages: [{"level":"info","text":"profile type process_cpu:cpu:nanoseconds:cpu:nanoseconds: CPU, since the query names none"}]'
out_has 'server-timing: read;dur='

t "many at a time get the same answers"
curl -g -s "$url/api/v1/flamegraph?query=shop&$day" >wanted
seq 40 | xargs -P 8 -I N curl -g -s -o many.N "$url/api/v1/flamegraph?query=shop&$day"
for i in $(seq 40); do cmp -s wanted "many.$i" || fail "answer $i differs"; done

t "what is wrong is refused with its status and a sentence"
ask '/api/v1/top' && answers 400 "/api/v1/top needs the parameter 'query'"
ask '/api/v1/top?query=shop&rows=x' && answers 400 "--rows: "
ask '/api/v1/top?query=shop&row=1' && answers 400 "did you mean 'rows'?"
ask '/api/v1/top?query=shop&output=xml' && answers 400 "'xml' is none of json, text"
ask '/api/v1/top?query=nosuch' && answers 404 "no service 'nosuch'"
ask '/api/v1/top?query=shop&from=2026-09-22&until=2026-09-21' && answers 400 'the range is empty'
ask "/api/v1/top?query=shop&$day&type=nosuch" && answers 404 "nosuch"
ask "/api/v1/flamegraph?query=shop&$day&path=nowhere" && answers 404 nowhere
ask '/api/v1/labels?data-dir=/etc' && answers 400 "it is about the server's own machine"
ask '/api/v1/query?query=shop&output=text&query-memory=1GiB' && answers 400 "'query-memory' is no parameter"
ask '/api/v1/labels' -X POST && answers 405 '/api/v1/labels does not take POST, but GET, HEAD'
ask '/api/v1/delete' && answers 405 '/api/v1/delete does not take GET, but POST'
ask '/api/v1/delete' -X POST -H 'Content-Type: application/json' -d '{}' && answers 415 application/x-www-form-urlencoded
ask '/api/v1/delete' -X POST && answers 400 'say when: --from and --until'
ask '/api/v1/keep?name=x' && answers 400 "'name' is no parameter of /api/v1/keep"

# --- changes ---

t "ranges are kept and let go by a running server"
ask "/api/v1/keep?selector=service_name=shop&$day&name=v1" -X POST && answers 200 '"name": "v1"'
run hearth keep --data-dir data --json
same "$(json '[k["name"] for k in d["kept"]]')" "['v1']"
run hearth keep --url "$url" --remove v1
same "$out" "'v1' is no longer kept beyond the retention"
run hearth keep --url "$url" --remove v1
status_is 1

t "a change beside a running server points to --url, which does it"
refuses 1 "let it do this itself with --url" hearth delete 'service_name=cart' --all-time --data-dir data
run hearth delete 'service_name=cart' --all-time --url "$url"
same "$out" "deleted from 1 day: gone from every answer now, from the disk with 'hearth compact'"
run hearth label-values service_name --url "$url"
same "$out" shop
run hearth compact --url "$url"
status_is 0
out_has "on disk"
ask /api/v1/compact -X POST && answers 200 disk_bytes_before
ask /api/v1/verify -X POST && answers 200 '"bad_values": 0'
run hearth verify --repair --url "$url"
status_is 0
out_has "all is well"
same_by_url query shop --from 2026-09-21 --until 2026-09-22

t "a server makes backups below its own directory, and nowhere else"
run hearth backup --url "$url"
status_is 0
out_has "data/backups/20"
backup=$(echo data/backups/*)
is_there "$backup/BACKUP"
run hearth label-values service_name --data-dir "$backup"
same "$out" shop
refuses 2 "a server cannot run 'hearth backup' with these arguments" hearth backup --url "$url" elsewhere
refuses 2 "needs DIRECTORY" hearth backup --data-dir data
ask /api/v1/backup -X POST && answers 200 '"copied_bytes"'


stop_server

t "tenants see their own data only"
start_server many --multi-tenant
printf 'main;work 10\n' >p.folded
post '/ingest?name=api&format=groups&sampleRate=100' p.folded -H 'X-Scope-OrgID: team-a'
run hearth label-values service_name --url "$url" --tenant team-a
same "$out" api
run hearth label-values service_name --url "$url" --tenant team-b
out_empty
refuses 1 "keeps tenants apart: --tenant says whose data is meant" hearth labels --url "$url"
ask '/api/v1/labels?tenant=team-a' -H 'X-Scope-OrgID: team-b' && answers 403 "is of 'team-b'"
run hearth status --url "$url"
out_has team-a

finish
