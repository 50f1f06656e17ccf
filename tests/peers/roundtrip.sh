#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Round trips: pprof to OTLP and back keeps everything, pprof to folded and back keeps names and values, and what was
# written once stays the same bytes.
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
build_go_peers
"$peers/writeprofiles" . || fail "writeprofiles failed"
"$peers/mixprofile" . -all || fail "mixprofile failed"
export HEARTH_MAX_LABELS=5000

# Of the odd files, those that are legal, but `not-utf8` (OTLP's texts are UTF-8) and `labels-repeated` (an attribute has
# one unit).
odd=$("$peers/mixprofile" -list | awk -F '\t' '$2 == "self" && $1 !~ /^(not-utf8|labels-repeated)$/ { print $1 }')

# differences A B: of two pprof files, without what OTLP cannot hold: mappings that no frame lies in, and bytes that are no
# UTF-8.
lines_of() { "$peers/pprofcheck" "$1" | sed 's/"\\xff\\xfe"/"��"/' | sort; }
differences() {
    lines_of "$1" >before
    lines_of "$2" >after
    comm -3 before after | grep -v '^mapping'
    comm -13 before after | grep '^mapping'
    comm -23 before after | sed -n 's/^mapping \([^ ]*\).*/\1/p' >lost
    while read -r mapping; do ! grep '^sample' before | grep -F "|$mapping" || echo "lost $mapping"; done <lost
}

for kind in cpu heap allocs goroutine mutex block threadcreate $odd; do
    file=$kind.pprof
    some "$file"
    for form in otlp otlp-json; do
        t "$kind: pprof, $form, pprof"
        quietly hearth convert --to $form "$file" there
        quietly hearth convert --to pprof there back.pb.gz
        same "$(differences "$file" back.pb.gz | head -5)" ""
        quietly hearth convert --to $form back.pb.gz again
        same_file there again
    done
done

for kind in cpu heap allocs goroutine mutex block threadcreate; do
    t "$kind: pprof, folded, pprof keeps names and values"
    run hearth inspect --json "$kind.pprof"
    for type in $(json '" ".join(t["type"] for t in d["profiles"][0]["types"])'); do
        quietly hearth convert --type "$type" "$kind.pprof" there.folded
        hearth_to there.folded back.pb.gz
        "$peers/pprofcheck" -names-only -no-labels -sum -no-header -type "$type" "$kind.pprof" >wanted
        "$peers/pprofcheck" -names-only -no-labels -sum -no-header back.pb.gz >got
        same_file got wanted
        hearth_to back.pb.gz again.folded
        same_file there.folded again.folded
    done
done

t "folded, OTLP, folded keeps every line"
hearth_to "$root/examples/checkout.folded" first.folded
quietly hearth convert --to otlp first.folded there.otlp
quietly hearth convert there.otlp back.folded
same_file first.folded back.folded

t "going round twice changes no byte more"
quietly hearth convert --to otlp base.pprof there.otlp
quietly hearth convert there.otlp once.pb.gz
quietly hearth convert --to otlp once.pb.gz there.otlp
quietly hearth convert there.otlp twice.pb.gz
same_file once.pb.gz twice.pb.gz

finish
