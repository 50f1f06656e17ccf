#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profiles as pages that open without a server.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
# in_page FILE: the profile that is in a page, as read_flame.py tells it, and the title before it.
in_page() {
    python3 - "$1" <<'END' && python3 "$root/tests/e2e/read_flame.py" page.flame
import base64, gzip, html, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
print(html.unescape(re.search("<title>(.*)</title>", page).group(1)))
data = re.search('<script id="profile" type="application/octet-stream">(.*?)</script>', page).group(1)
open("page.flame", "wb").write(gzip.decompress(base64.b64decode(data, validate=True)))
END
}
# shows_in FILE TITLE TOTAL UNIT
shows_in() { same "$(in_page "$1" | python3 -c '
import json, sys
title = sys.stdin.readline().strip()
found = json.loads(sys.stdin.read())
print(title, found["tree"]["total"], found["unit"])')" "$2 $3 $4"; }
printf 'main;work 10\nmain;rest 5\n' >'a<b>&"c".folded'
cp 'a<b>&"c".folded' profile.folded
pprof_of cpu

t "a program without the page says so"
run hearth convert profile.folded page.html
if [ "$status" != 0 ]; then
    err_has "this hearth was built without its page (make UI=0)"
    finish
    exit
fi

t "a profile becomes a page, and what it shows is in it"
shows_in page.html profile.folded 15 count
run hearth convert 'a<b>&"c".folded' page.html
shows_in page.html 'a<b>&"c".folded' 15 count
"$hearth" convert --to html - - <profile.folded >page.html
shows_in page.html 'A profile' 15 count
run hearth convert cpu.pb cpu.html
shows_in cpu.html cpu.pb 1000000000 nanoseconds
run hearth convert cpu.pb cpu.html --type samples
shows_in cpu.html cpu.pb 100 count
run hearth convert profile.folded page.html.gz
gzip -dc page.html.gz >page.html
shows_in page.html profile.folded 15 count
grep -qE '(src|href)="?(https?:)?/' page.html && fail "it fetches something"
refuses 2 "there is no value type 'nothing'" hearth convert cpu.pb cpu.html --type nothing

t "it cannot be read back"
refuses 1 "it is a page (HTML) and no profile; one that hearth wrote cannot be read back" hearth top page.html
refuses 2 "--from" hearth top --from html page.html

t "queries and diffs become pages, too"
printf 'main;work 20\nmain;new 5\n' >after.folded
run hearth import --data-dir data --label service_name=api profile.folded
run hearth import --data-dir data --label service_name=next after.folded
run hearth query --data-dir data api -o api.html
shows_in api.html api 15 count
run hearth diff profile.folded after.folded -o both.html
shows_in both.html 'profile.folded against after.folded' "{'before': 15, 'after': 25}" count
run hearth diff profile.folded after.folded -o both.htm.gz
gzip -dc both.htm.gz >unpacked.html
same_file unpacked.html both.html
run hearth diff --data-dir data --baseline api --comparison next -o both.html
shows_in both.html 'api against next' "{'before': 15, 'after': 25}" count

t "a diff has all of the tree, which a page could not ask for later, unless less is wanted"
printf 'main;work 99999\nmain;tiny 1\n' >small.folded
run hearth diff small.folded small.folded -o both.html
same "$(in_page both.html | grep -c '"tiny"')" 1
run hearth diff small.folded small.folded --min-share 0.5% -o both.html
same "$(in_page both.html | grep -c '"tiny"')" 0
run hearth diff --data-dir data --baseline api --comparison next -o both.html

t "a server makes them, to be saved"
start_server data
run curl -s -D head -o served.html "$url/api/v1/export?query=api&format=html"
same_file served.html api.html
grep -qi '^content-type: text/html' head || fail "another type:" "$(cat head)"
grep -qi '^content-disposition: attachment; filename="profile.html"' head || fail "not to be saved:" "$(cat head)"
run curl -s -D head -o served.html "$url/api/v1/diff?baseline=api&comparison=next&format=html"
same_file served.html both.html
grep -qi '^content-type: text/html' head || fail "another type:" "$(cat head)"
grep -qi '^content-disposition: attachment; filename="profile.html"' head || fail "not to be saved:" "$(cat head)"
run curl -s -D head -o served.html.gz "$url/api/v1/diff?baseline=api&comparison=next&file=both.html.gz"
gzip -dc served.html.gz >served.html
same_file served.html both.html
grep -qi '^content-type: application/octet-stream' head || fail "another type:" "$(cat head)"
run hearth query --url "$url" api -o remote.html
same_file remote.html api.html
id=$(curl -s --data-binary @profile.folded "$url/api/v1/adhoc?name=mine" | python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
second=$(curl -s --data-binary @after.folded "$url/api/v1/adhoc?name=next" | python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
run curl -s -D head -o served.html "$url/api/v1/adhoc/$id?format=html"
shows_in served.html mine 15 count
grep -qi '^content-type: text/html' head || fail "another type:" "$(cat head)"
grep -qi '^content-disposition: attachment; filename="profile.html"' head || fail "not to be saved:" "$(cat head)"
run curl -s -o served.html "$url/api/v1/adhoc/$id?against=$second&format=html"
shows_in served.html 'mine against next' "{'before': 15, 'after': 25}" count
stop_server
finish
