#!/bin/sh
# Checks what every tracked file must obey: no machine paths, an SPDX line in sources, no unfinished marks, no tests
# that nobody runs, scripts executable, nothing built or large committed.
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
git grep -nIE '\b(TODO|FIXME|HACK)\b|\bXXX[: ]' -- src fuzz bench tools run check 2>/dev/null | grep -v 'TODO(#[0-9]*)' |
    grep -v '^tools/check-tree.sh:' | report "unfinished marks (TODO(#12) names an issue):"
for script in run check .ci/run tools/*.sh tests/e2e/*.sh tests/peers/*.sh; do
    [ ! -e "$script" ] || [ -x "$script" ] || echo "$script"
done | report "not executable:"
tracked . | xargs -0 -r ls -l 2>/dev/null | awk '$5 > 400000 { print $5, $9 }' | report "files over 400 kB:"
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
