#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Those who ask and those who bring: compressed and known answers, pages of others, askers that do not read.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
printf 'main;work 10\nmain;rest 5\n' >profile.folded
# head_of PATH OPTIONS...: the head of the answer, in $out, without its carriage returns.
head_of() {
    path=$1
    shift
    out=$(curl -s -D - -o body "$url$path" "$@" | tr -d '\r')
}

t "long answers are compressed as the asker likes it"
start_server data
for i in 1 2 3 4 5 6 7 8; do
    post "/ingest?name=api$i&format=groups" profile.folded && answers 200 ""
done
head_of /api/v1/status
out_lacks 'content-encoding'
out_has 'cache-control: no-cache'
plain=$(wc -c <body)
head_of /api/v1/status -H 'Accept-Encoding: gzip'
out_has 'content-encoding: gzip'
out_has 'vary: accept-encoding'
same "$(gzip -dc body | head -c 1)" '{'
[ "$(wc -c <body)" -lt "$((plain / 2))" ] || fail "hardly compressed: $(wc -c <body) of $plain bytes"
head_of /api/v1/status -H 'Accept-Encoding: gzip, zstd'
out_has 'content-encoding: zstd'
head_of /metrics -H 'Accept-Encoding: gzip, zstd;q=0'
out_has 'content-encoding: gzip'

t "who has the answer gets 304"
head_of /api/v1/status
tag=$(printf '%s\n' "$out" | sed -n 's/^etag: //p')
[ -n "$tag" ] || fail "no etag:" "$out"
head_of /api/v1/status -H "If-None-Match: $tag"
out_has '304 Not Modified'
head_of /api/v1/status -H 'If-None-Match: "other"'
out_has '200 OK'

t "pages of others change nothing, programs do"
post '/ingest?name=api&format=groups' profile.folded -H 'Host: proxy.example' && answers 200 ""
post '/ingest?name=api&format=groups' profile.folded -H "Origin: $url" && answers 200 ""
post '/ingest?name=api&format=groups' profile.folded -H 'Origin: http://evil.example' &&
    answers 403 "pages of 'http://evil.example' may not change anything here; the server allows it with --cors-origin"
post '/ingest?name=api&format=groups' profile.folded -H 'Host: evil.example' -H 'Origin: http://evil.example' &&
    answers 403 "'evil.example' is no name of this server"
stop_server
same "$status" 0
start_server data --cors-origin http://evil.example
post '/ingest?name=api&format=groups' profile.folded -H 'Origin: http://evil.example' && answers 200 ""
stop_server

t "settings have bounds"
refuses 2 "query-workers" hearth server --data-dir data --query-workers 0
refuses 2 "answer-memory" hearth server --data-dir data --answer-memory 1
finish
