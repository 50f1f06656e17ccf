# Shared by the tests against real programs: sourced in place of tests/lib.sh.
#
# shellcheck shell=sh disable=SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/peers/go-env.sh
. "$root/tests/peers/go-env.sh"
peers=$root/build/peers
here=$root/tests/peers

# Every path out of here ends in the line of counts.
stop() {
    finish
    exit
}

# build_go_peers: the commands of tests/peers/go in $peers, and `go tool pprof` as $pprof. Without a Go nothing is left
# to test, and the script ends.
build_go_peers() {
    t "the Go programs can be built"
    if ! go=$(find_go "$root" 2>go.err); then
        skip "$(cat go.err)"
        stop
    fi
    mkdir -p "$peers"
    if ! (cd "$here/go" && local_go "$go" build -o "$peers/" ./cmd/...) >go.log 2>&1; then
        fail "$(tail -n 20 go.log)"
        stop
    fi
    # Where the tool is not built yet, asking for its path builds it into Go's cache.
    pprof=$(cd "$here/go" && local_go "$go" tool -n pprof)
    if [ ! -x "$pprof" ]; then
        fail "go tool pprof is not there: '$pprof'"
        stop
    fi
}

# hearth_to FILE OUT: converts without a word.
hearth_to() { quietly hearth convert "$1" "$2"; }
# equal WHAT COMMAND...: a comparison that must print `equal`.
equal() {
    what=$1
    shift
    answer=$("$@" 2>&1) || fail "$what: $*" "$answer"
    case $answer in *equal) ;; *) [ "$current_ok" = 0 ] || fail "$what: $answer" ;; esac
}
# some FILE: what is to be tested must be there.
some() { [ -e "$1" ] || fail "there is no such file: $1"; }
