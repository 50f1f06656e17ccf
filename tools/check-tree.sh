#!/bin/sh
# Checks what every tracked file must obey: no machine paths, an SPDX line in sources, no unfinished marks, no tests
# that nobody runs, scripts executable, nothing built or large committed, nothing in the page that could run data as code.
set -eu
cd "$(dirname "$0")/.."
bad=0

report() { # TITLE, then lines on stdin
    lines=$(cat)
    [ -z "$lines" ] && return 0
    printf '%s\n%s\n' "$1" "$lines" >&2
    bad=1
}

tracked() { git ls-files -z -- "$@"; }

git grep -nIE '(^|[^A-Za-z0-9._-])/(home|root|work|Users)/[A-Za-z0-9]' -- . ':!*/go.sum' 2>/dev/null | report "machine paths:"
tracked 'src/*.c' 'src/*.h' 'fuzz/*.c' 'bench/*.c' 'bench/*.h' 'tools/*.c' |
    xargs -0 -r grep -L '^// SPDX-License-Identifier: ' | report "no SPDX line:"
git grep -nIE '\b(TODO|FIXME|HACK)\b|\bXXX[: ]' -- src fuzz bench tools ui run check 2>/dev/null | grep -v 'TODO(#[0-9]*)' |
    grep -v '^tools/check-tree.sh:' | report "unfinished marks (TODO(#12) names an issue):"
tracked 'ui/*.ts' 'ui/*.tsx' 'ui/*.mjs' 'ui/*.css' |
    xargs -0 -r awk 'FNR == 1 && !/^(\/\/|\/\*) SPDX-License-Identifier: / { print FILENAME }' | report "no SPDX line:"
tracked 'ui/*.ts' 'ui/*.tsx' 'ui/*.mjs' 'ui/*.css' | xargs -0 -r awk 'FNR == 601 { print FILENAME }' | report "over 600 lines:"
git grep -nE '(:|<|\||,|\bas|\breturn) *any\b *([][;,)>=|{]|$)|\bany\[\]' -- 'ui/*.ts' 'ui/*.tsx' |
    grep -vE '^[^:]*:[0-9]*: *(//|/?\*)' | report "any says nothing about a value (unknown has to be looked at):"
git grep -nE '\b(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|eval\(|new Function)' -- ui/src |
    grep -vE '^[^:]*:[0-9]*: *(//|/?\*)' | report "names of others would become code:"
git grep -nE 'style=|<style|<script>|<script [^>]*[^"]>| on[a-z]+="' -- ui/index.html ui/stub |
    report "the policy of the page lets nothing inline through:"
for script in run check .ci/run tools/*.sh tests/e2e/*.sh tests/peers/*.sh; do
    [ ! -e "$script" ] || [ -x "$script" ] || echo "$script"
done | report "not executable:"
tracked . | xargs -0 -r ls -l 2>/dev/null | awk '$5 > 400000 { print $5, $9 }' | report "files over 400 kB:"
tracked . | xargs -0 -r grep -lE '^(<{7}|>{7}) ' 2>/dev/null | report "merged by half:"
# What is cleaned up whichever way a function ends must be made before any of them: compilers do not see this.
find src -name '*.c' ! -name '*_test.c' -exec awk '
    FNR == 1 || /^}/ { delete open }
    match($0, /AUTO\([a-z_]+\) struct [a-z_0-9]+ [a-z_0-9]+;/) { n = split($0, words, /[ ;]+/); open[words[n - 1]] = FNR }
    /return/ { for (name in open) print FILENAME ":" open[name] ": " name }
    { for (name in open) if (open[name] != FNR && index($0, "&" name)) delete open[name] }
' {} + | report "cleaned up though it may not be made yet:"
sed -n '/^<!-- layers -->$/,/^<!-- layers -->$/p' ARCHITECTURE.md | grep -v -e '^<!--' -e '^```' | diff - src/LAYERS |
    report "ARCHITECTURE.md quotes another src/LAYERS:"
grep -q "^## $(cat VERSION)" CHANGELOG.md || echo "CHANGELOG.md has no section '## $(cat VERSION)'" | report "changelog:"
exit $bad
