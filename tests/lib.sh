# Shared by the shell tests: sourced first, `finish` last. Each `t NAME` starts a test; a failed check fails it.
#
#   t "top names the hottest function"
#   run hearth top x.folded        # runs, keeps $out, $errout, $status
#   status_is 0; out_has "main"
#
# Tests stand in an empty temporary directory; $root is the repository, $data its tests/data.
#
# shellcheck shell=sh disable=SC2034
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
hearth=${HEARTH:-$root/build/release/hearth}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
passed=0 failed=0 skipped=0 current="" current_ok=1
# Nothing of the caller's surroundings may change what hearth prints.
for variable in NO_COLOR $(env | sed -n 's/^\(HEARTH_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
export LC_ALL=C TZ=UTC PYTHONDONTWRITEBYTECODE=1
# Debian's own Python before any other: wrappers that choose a version cost more than the work here.
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)
python3() { "$python" "$@"; }
[ -x "$hearth" ] || { echo "$hearth is not built: run make" >&2 && exit 1; }

end_test() {
    [ -n "$current" ] || return 0
    if [ "$current_ok" = 1 ]; then passed=$((passed + 1)); elif [ "$current_ok" = 0 ]; then failed=$((failed + 1)); fi
    current=""
}

t() {
    end_test
    current=$1 current_ok=1
}

fail() {
    [ "$current_ok" = 0 ] || printf 'FAIL %s\n' "$current"
    printf '%s\n' "$@" | cut -c1-2000 | sed 's/^/  /'
    current_ok=0
}

# skip WHY: this machine lacks something it could have (a failure in CI); cannot WHY: it never could here.
skip() {
    printf 'skip %s: %s\n' "$current" "$*"
    skipped=$((skipped + 1)) current_ok=2
}
cannot() { skip "impossible here: $*"; }

run() { run_on /dev/null "$@"; }
# run_on FILE COMMAND...: the same with FILE as standard input.
run_on() {
    input=$1
    shift
    "$@" >"$work/.out" 2>"$work/.err" <"$input"
    status=$?
    out=$(cat "$work/.out") errout=$(cat "$work/.err")
}
# quietly COMMAND...: must succeed and say nothing.
quietly() {
    run "$@"
    status_is 0
    out_empty
    err_empty
}
# refuses STATUS TEXT COMMAND...: must fail so, print nothing, and say TEXT on standard error.
refuses() {
    wanted=$1 text=$2
    shift 2
    run "$@"
    status_is "$wanted"
    out_empty
    err_has "$text"
}

hearth() { "$hearth" "$@"; }

status_is() { [ "$status" = "$1" ] || fail "exit status $status, wanted $1; stderr: $errout"; }
out_has() { case $out in *"$1"*) ;; *) fail "stdout lacks '$1':" "$out" ;; esac }
out_lacks() { case $out in *"$1"*) fail "stdout has '$1':" "$out" ;; esac }
out_empty() { [ -z "$out" ] || fail "stdout should be empty:" "$out"; }
err_has() { case $errout in *"$1"*) ;; *) fail "stderr lacks '$1':" "$errout" ;; esac }
err_lacks() { case $errout in *"$1"*) fail "stderr has '$1':" "$errout" ;; esac }
err_empty() { [ -z "$errout" ] || fail "stderr should be empty:" "$errout"; }
same() {
    [ "$1" != "$2" ] || return 0
    case $1$2 in
    *"
"*)
        printf '%s\n' "$1" >"$work/.got"
        printf '%s\n' "$2" >"$work/.wanted"
        same_file "$work/.got" "$work/.wanted"
        ;;
    *) fail "got    '$1'" "wanted '$2'" ;;
    esac
}
same_file() { cmp -s "$1" "$2" || fail "$1 and $2 differ:" "$(diff "$1" "$2" | head -20)"; }
# is_there FILE...; is_not_there FILE...
is_there() { for file in "$@"; do [ -e "$file" ] || fail "'$file' is not there"; done; }
is_not_there() { for file in "$@"; do [ ! -e "$file" ] || fail "'$file' is there"; done; }
# golden NAME: what the last run printed equals tests/golden/NAME; `./check --record` rewrites it.
golden() {
    if [ "${RECORD:-}" = 1 ]; then mkdir -p "$root/tests/golden" && cp "$work/.out" "$root/tests/golden/$1"; fi
    cmp -s "$root/tests/golden/$1" "$work/.out" || fail "differs from tests/golden/$1 (./check --record rewrites it):" \
        "$(diff "$root/tests/golden/$1" "$work/.out" 2>&1 | head -30)"
}
# shows NAME COMMAND...: must succeed, say nothing on standard error, and print tests/golden/NAME.
shows() {
    name=$1
    shift
    run "$@"
    status_is 0
    err_empty
    golden "$name"
}
# json EXPRESSION: of what the last run printed, as Python over `d`.
json() { python3 -IS -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$work/.out" "$1" 2>&1; }
# pprof_of NAME: tests/data/NAME.json as pprof, into NAME.pb.
pprof_of() { python3 "$data/encode_pprof.py" "$data/$1.json" "$1.pb" || fail "cannot encode $1.json"; }

finish() {
    end_test
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ]
}
