#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# OTLP profiles: what the collector's library writes, in every layout, hearth reads as the official types do; what hearth
# writes obeys the format's rules, by our own checker and by the profiling SIG's.
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
build_go_peers
mkdir read odd go
"$peers/otlpwrite" read -all || fail "otlpwrite failed"
"$peers/otlpwrite" -list >kinds
"$peers/mixprofile" odd -all || fail "mixprofile failed"
"$peers/writeprofiles" go || fail "writeprofiles failed"
export HEARTH_MAX_LABELS=5000
tab=$(printf '\t')

# dump_of FILE [FLAG...]: everything in it, by the official types.
dump_of() {
    file=$1
    shift
    "$peers/otlpcheck" "$@" -dump -resource "$file" 2>&1
}
conforms() {
    answer=$("$peers/otlpcheck" "$@" 2>&1) || fail "$answer"
}

t "the profiling SIG's profcheck can be built"
profcheck=$peers/profcheck
package=github.com/open-telemetry/sig-profiling/profcheck/cmd/profcheck
(cd "$here/profcheck" && local_go "$go" build -mod=readonly -o "$profcheck" $package) >go.log 2>&1 ||
    { profcheck='' && skip "$(tail -n 1 go.log)"; }
sig_approves() {
    [ -n "$profcheck" ] || return 0
    answer=$("$profcheck" -check-dupes "$1" 2>&1) || fail "$answer"
}

# --- reading ---

# to_otlp FORM FROM TO: two kinds hold what the model has no place for, and hearth says so; else it says nothing.
to_otlp() {
    run hearth convert --to "$1" "$2" "$3"
    status_is 0
    out_empty
    case $2 in
    */attributes.*) err_has "attribute of a mapping or location that has no place in the model; dropped (16; " ;;
    */payload.*) err_has "original payload beside the samples; dropped (profile 0" ;;
    *) err_empty ;;
    esac
}
# Two types that arrive as two profiles stay two, and are compared as pprof below.
is_split() { case $1 in *two-types) true ;; *) false ;; esac }

while IFS=$tab read -r kind expect what; do
    t "reads $kind: $what"
    rm -f out.otlp expected.otlp
    to_otlp otlp "read/$kind.otlp" out.otlp
    conforms -strict out.otlp
    sig_approves out.otlp
    if [ "$expect" != self ]; then
        to_otlp otlp "read/$expect.otlp" expected.otlp
        quietly hearth convert "read/$kind.otlp" out.pb.gz
        quietly hearth convert "read/$expect.otlp" expected.pb.gz
        equal "$kind" "$peers/pprofcheck" -diff expected.pb.gz out.pb.gz
    else
        cp "read/$kind.otlp" expected.otlp
    fi
    is_split "$kind" || same "$(dump_of out.otlp)" "$(dump_of expected.otlp)"
done <kinds

while IFS=$tab read -r kind expect what; do
    [ -e "read/$kind.json" ] || continue
    t "reads the JSON of $kind"
    rm -f out.otlp out.json expected.otlp
    to_otlp otlp "read/$kind.json" out.otlp
    to_otlp otlp "read/$kind.otlp" expected.otlp
    same_file out.otlp expected.otlp
    t "writes $kind as JSON"
    to_otlp otlp-json "read/$kind.otlp" out.json
    python3 -m json.tool out.json >/dev/null || fail "this is no JSON"
    conforms -json out.json
    is_split "$kind" || same "$(dump_of out.json -json)" "$(dump_of "read/$kind.otlp")"
done <kinds

t "one profile of OTLP is the same profile as pprof"
for kind in simple timestamps-only values-and-timestamps links build-ids unsymbolized two-types comment no-stack large values-only; do
    quietly hearth convert "read/$kind.otlp" out.pb.gz
    same "$kind: $("$peers/pprofcheck" -sum out.pb.gz)" "$kind: $("$peers/otlpcheck" -dump "read/$kind.otlp")"
done

t "tables and trees of OTLP are those of pprof"
for command in "top --json -n 0" "tree --json --min-share 0%" "peek --json ."; do
    quietly hearth convert read/large.otlp large.pb.gz
    # shellcheck disable=SC2086  # words are what is wanted
    same "$(hearth $command read/large.otlp | cksum)" "$(hearth $command large.pb.gz | cksum)"
done

t "several profiles of a file are all shown by inspect, and merged by top"
run hearth inspect --json read/several.otlp
same "$(json '[len(d["profiles"]), d["profiles"][0]["resource"]["service.name"]]')" "[5, 'one']"
run hearth top --json --type inuse_space read/several.otlp
same "$(json 'd["total"]')" "$((2 * 4 * 1048576))"

# --- writing ---

# writes FILE: as OTLP, both ways, it obeys the rules and is the same profile, but for mappings that no frame lies in,
# which OTLP has no place for, and bytes that are no UTF-8.
writes() {
    rm -f out.otlp out.json
    quietly hearth convert --to otlp "$1" out.otlp
    conforms -strict out.otlp
    sig_approves out.otlp
    "$peers/pprofcheck" -sum -no-mappings "$1" | sed 's/"\\xff\\xfe"/"��"/' | sort >wanted
    "$peers/otlpcheck" -dump -no-mappings out.otlp 2>&1 | sort >got
    same_file got wanted
    "$peers/pprofcheck" -sum "$1" | grep '^mapping' | sort >mappings
    same "$("$peers/otlpcheck" -dump out.otlp | grep '^mapping' | sort | comm -23 - mappings)" ""
    quietly hearth convert --to otlp-json "$1" out.json
    conforms -json out.json
    "$peers/otlpcheck" -json -dump -no-mappings out.json 2>&1 | sort >got
    same_file got wanted
}

for kind in cpu heap allocs goroutine mutex block threadcreate; do
    t "writes the $kind profile of a Go program"
    writes "go/$kind.pprof"
done

# Not here: `not-utf8` (see below), `huge` (its sums do not fit, and the dump's wrap), `labels-repeated` (numbers of one
# key but of two units: an attribute has one).
"$peers/mixprofile" -list | awk -F '\t' '$2 == "self" && $1 !~ /^(not-utf8|huge|labels-repeated)$/' >odd-kinds
while IFS=$tab read -r kind expect what; do
    t "writes $kind: $what"
    writes "odd/$kind.pprof"
done <odd-kinds

t "what is not compared obeys the rules all the same"
for kind in not-utf8 huge labels-repeated; do
    quietly hearth convert --to otlp "odd/$kind.pprof" out.otlp
    conforms -strict out.otlp
    sig_approves out.otlp
done

t "writing OTLP is byte-stable, as protobuf and as JSON"
for form in otlp otlp-json; do
    quietly hearth convert --to $form go/heap.pprof first
    quietly hearth convert --to $form go/heap.pprof again
    same_file first again
    quietly hearth convert --to $form first second
    same_file first second
done

t "keys of resources and scopes are references, or the collector loses them"
# Its reader (0.159) takes an absent key_strindex for a reference to string 0 and puts the empty string over a plain key.
cat >keys.py <<'PYTHON'
import sys


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            size = {1: 8, 5: 4}.get(tag & 7) or varint()
            yield tag >> 3, data[at:at + size]
            at += size


def within(data, *path):
    if not path:
        return [data]
    return [found for number, value in fields(data) if number == path[0] for found in within(value, *path[1:])]


data = open(sys.argv[1], "rb").read()
attributes = within(data, 1, 1, 1) + within(data, 1, 2, 1, 3)  # of Resource and of InstrumentationScope
print(len(attributes), sorted({number for attribute in attributes for number, _ in fields(attribute)}))
PYTHON
quietly hearth convert --to otlp read/several.otlp out.otlp
same "$(python3 keys.py read/several.otlp)" "4 [2, 3]"
same "$(python3 keys.py out.otlp)" "4 [2, 3]"
quietly hearth convert --to otlp go/heap.pprof out.otlp
same "$(python3 keys.py out.otlp)" "1 [2, 3]"

t "several inputs of different kinds become one file of OTLP"
quietly hearth convert --to otlp go/cpu.pprof go/heap.pprof "$root/examples/checkout.folded" out.otlp
conforms -strict out.otlp

t "the checkers refuse what is wrong"
head -c 300 read/simple.otlp >cut.otlp
! "$peers/otlpcheck" cut.otlp >/dev/null 2>&1 || fail "otlpcheck took a cut file"
printf '\022\000' >bare.otlp
! "$peers/otlpcheck" -strict bare.otlp >/dev/null 2>&1 || fail "otlpcheck took an empty dictionary"
[ -z "$profcheck" ] || ! "$profcheck" bare.otlp >/dev/null 2>&1 || fail "profcheck took an empty dictionary"

finish
