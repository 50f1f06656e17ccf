#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page as the program has it embedded and as a browser would get it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
# head_of PATH OPTIONS...: the head of the answer, in $out, without its carriage returns; its body in the file `body`.
head_of() {
    path=$1
    shift
    out=$(curl -s -m 30 -D - -o body "$url$path" "$@" | tr -d '\r')
}
value_of() { printf '%s\n' "$out" | sed -n "s/^$1: //p"; }
# linked NAME: what the page loads, as "/assets/...".
linked() { sed -n "s/.*$1=\"\(assets[^\"]*\)\".*/\/\1/p" index.html; }

start_server data
head_of /
cp body index.html
script=$(linked src) style=$(sed -n 's/.*rel="stylesheet" href="\([^"]*\)".*/\/\1/p' index.html)

if grep -q 'This hearth was built without its page' index.html; then
    t "a program without the page says so wherever that would be, and how to ask instead"
    for view in / /explore /adhoc/0123456789abcdef; do
        head_of "$view" -H 'X-Forwarded-Prefix: /tools/hearth'
        out_has '200 OK'
        cmp -s body index.html || fail "$view is something else"
    done
    grep -q 'hearth query --url' index.html || fail "no way to ask:" "$(cat index.html)"
    ask /assets/licenses.txt && answers 404 "this server's page has no '/assets/licenses.txt'"
    stop_server
    finish
    exit
fi

t "the page is there with all that keeps it safe"
head_of /
out_has '200 OK'
same "$(value_of content-type)" 'text/html; charset=utf-8'
same "$(value_of content-security-policy)" "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
same "$(value_of x-content-type-options)" nosniff
same "$(value_of referrer-policy)" no-referrer
same "$(value_of cross-origin-opener-policy)" same-origin
same "$(value_of cross-origin-resource-policy)" same-origin
same "$(value_of cache-control)" no-cache
grep -q '<div id="app">' index.html || fail "no page:" "$(cat index.html)"

t "each view is the page, also over HTTP/2"
for view in /explore '/explore?query=shop.cpu' /compare /status /adhoc /adhoc/0123456789abcdef \
    /traces '/traces?service=shop' /traces/0123456789abcdef0123456789abcdef; do
    head_of "$view"
    out_has '200 OK'
    cmp -s body index.html || fail "$view is something else"
done
head_of /explore --http2-prior-knowledge
out_has 'HTTP/2 200'
cmp -s body index.html || fail "by HTTP/2 it is something else"

t "the policy lets nothing inline through, and nothing inline is there"
if grep -nE '<script>|<script [^s]*>|<style|style=| on[a-z]+=' index.html | grep -v 'type="module" src='; then fail "inline code or style"; fi
if grep -nE '(src|href)="(https?:)?//' index.html; then fail "something comes from elsewhere"; fi

t "what it loads is kept for ever, under names that change with the content"
for file in "$script" "$style"; do
    head_of "$file"
    out_has '200 OK'
    same "$(value_of cache-control)" 'public, max-age=31536000, immutable'
    same "$(value_of x-content-type-options)" nosniff
    name=${file##*-}
    same "${name%.*}" "$(sha256sum body | cut -c 1-12)"
done
head_of "$script"
same "$(value_of content-type)" 'text/javascript; charset=utf-8'
head_of "$style"
same "$(value_of content-type)" 'text/css; charset=utf-8'

t "it comes compressed, and is the same"
head_of "$script"
mv body plain.js
same "$(value_of content-encoding)" ''
head_of "$script" -H 'Accept-Encoding: gzip, deflate, br, zstd'
same "$(value_of content-encoding)" gzip
same "$(value_of vary)" accept-encoding
same "$(value_of content-length)" "$(wc -c <body)"
gzip -dc body | cmp -s - plain.js || fail "the compressed script is another"
head_of "$script" -H 'Accept-Encoding: gzip;q=0'
same "$(value_of content-encoding)" ''

t "the scripts of the first load are at most 120 kB compressed, all together at most 150 kB"
# names FILE...: the scripts that these files name.
names() { grep -oh '[a-z]*-[0-9a-f]\{12\}\.js' "$@" | sort -u; }
# weigh LIST: fetches the scripts of a list, and says in $bytes how long they are when compressed.
weigh() {
    bytes=0
    while read -r file; do
        head_of "/assets/$file"
        out_has '200 OK'
        mv body "$file"
        head_of "/assets/$file" -H 'Accept-Encoding: gzip'
        bytes=$((bytes + $(wc -c <body)))
    done <"$1"
}
names index.html >first
weigh first
[ "$bytes" -gt 0 ] || fail "no scripts"
[ "$bytes" -le 120000 ] || fail "$bytes bytes at first"
cp first all
while names index.html ./*-????????????.js >found && ! cmp -s found all; do
    mv found all
    weigh all
done
grep -q '^traces-' all || fail "the traces are not loaded on demand:" "$(cat all)"
[ "$bytes" -le 150000 ] || fail "$bytes bytes in all"

t "who has it already gets 304"
head_of / -H 'Accept-Encoding: gzip'
tag=$(value_of etag)
[ -n "$tag" ] || fail "no etag:" "$out"
head_of / -H 'Accept-Encoding: gzip' -H "If-None-Match: $tag"
out_has '304 Not Modified'
same "$(value_of etag)" "$tag"
head_of / -H 'If-None-Match: "other"'
out_has '200 OK'

t "HEAD says how much it would be"
head_of / -I
out_has '200 OK'
same "$(value_of content-length)" "$(wc -c <index.html)"

t "what the page is made of names who wrote it"
head_of /assets/licenses.txt
same "$(value_of content-type)" 'text/plain; charset=utf-8'
same "$(value_of cache-control)" no-cache
grep -q '^preact [0-9.]* (MIT)$' body || fail "preact is not named:" "$(head -5 body)"
grep -q 'Permission is hereby granted' body || fail "no licence"

t "what is not there is said as JSON, as ever"
ask /assets/hearth-000000000000.js && answers 404 "this server's page has no '/assets/hearth-000000000000.js'"
ask /no-such-path -H 'Accept: text/html' && answers 404 '"message":"nothing is at /no-such-path'
ask /index.html && answers 404 '"message":"nothing is at /index.html'
ask /explore -X POST && answers 405 ''

t "the paths of Pyroscope are theirs still"
for path in /labels /render /render-diff /label-values /ready /metrics /api/v1/status; do
    head_of "$path"
    case $(value_of content-type) in
    text/html*) fail "$path is the page" ;;
    esac
done

t "a proxy can serve it under a path of its own"
head_of /explore -H 'X-Forwarded-Prefix: /tools/hearth'
out_has '200 OK'
grep -q '<base href="/tools/hearth/">' body || fail "another base:" "$(grep base body)"
head_of /explore -H 'X-Forwarded-Prefix: //evil.example/'
cmp -s body index.html || fail "another page:" "$(grep base body)"
stop_server
same "$status" 0

t "the same files are embedded as the same bytes, whenever that is done"
cd "$root" || exit 1
tools/embed.sh ui/stub "$work/one" && sleep 1.1 && tools/embed.sh ui/stub "$work/two"
sed 's|/one/|/two/|' "$work/one/page/files.h" | cmp - "$work/two/page/files.h" || fail "files.h differs"
cmp "$work/one/0.gz" "$work/two/0.gz" || fail "the compressed file differs"
same "$(grep -c 'PAGE_FILE(0, "/index.html", "text/html; charset=utf-8"' "$work/one/page/files.h")" 1
mkdir "$work/odd" && touch "$work/odd/page.xyz"
refuses 1 "embed: no content type for 'page.xyz' is known" tools/embed.sh "$work/odd" "$work/three"
finish
