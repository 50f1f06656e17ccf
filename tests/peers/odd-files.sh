#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pprof in every shape that mixprofile makes: legal ones mean what google/pprof reads from them, damaged ones lose no more
# than what is damaged, the rest is refused.
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
build_go_peers
"$peers/mixprofile" . -all || fail "mixprofile failed"
"$peers/mixprofile" -list >kinds
tab=$(printf '\t')
export HEARTH_MAX_LABELS=5000 # more than any file here has

same_profile() { equal "$1" "$peers/pprofcheck" -diff "$1.pprof" "$2"; }
# sum_of FILE: the last value type, summed.
sum_of() { "$peers/pprofcheck" -names-only -no-labels "$1" | awk '/^sample/ { sum += $NF } END { print sum }'; }

while IFS=$tab read -r kind expect what; do
    t "$kind: $what"
    rm -f out.pb.gz
    run hearth convert "$kind.pprof" out.pb.gz
    case $expect in
    self)
        status_is 0
        err_empty
        same_profile "$kind" out.pb.gz
        hearth_to out.pb.gz again.pb.gz
        same_file out.pb.gz again.pb.gz
        ;;
    limit)
        status_is 0
        err_has "warning: $kind.pprof: "
        err_has "limit"
        same "$(sum_of out.pb.gz)" "$(sum_of "$kind.pprof")"
        ;;
    damaged)
        status_is 0
        err_has "warning: $kind.pprof: "
        err_has "dropped (sample 6"
        # All of `base` is there, and no more than the one sample that was added to it.
        "$peers/pprofcheck" -diff base.pprof out.pb.gz >differences
        same "$(grep -c '^- ' differences)" 0
        [ "$(grep -c '^+ ' differences)" -le 1 ] || fail "$(cat differences)"
        ;;
    refused)
        status_is 1
        err_has "hearth: reading '$kind.pprof': "
        is_not_there out.pb.gz
        ;;
    *)
        status_is 0
        same_profile "$expect" out.pb.gz
        ;;
    esac
done <kinds

# Where pprof itself adds up without wrapping, the tables agree.
top_equal() { equal "$1" python3 "$here/compare_top.py" "$hearth" "$peers/pprofcheck" "$pprof" "$1.pprof"; }
for kind in base no-mappings no-functions no-samples folded-locations kernel zero-values many-types deep spans \
    missing-function-read; do
    t "$kind: totals and tables equal pprof's"
    top_equal "$kind"
done

t "drop_frames and keep_frames are applied as pprof does"
python3 - "$hearth" "$pprof" "$here" drop-frames.pprof >differences 2>&1 <<'PYTHON' || fail "$(cat differences)"
import sys
hearth, pprof, here, path = sys.argv[1:]
sys.path.insert(0, here)
import reference
for kind, unit in ("samples", "count"), ("cpu", "nanoseconds"):
    ours = reference.hearth_json(hearth, "top", "--json", "-n", "0", "--type", kind, path)["functions"]
    ours = [(f["name"], f["self"], f["total"]) for f in ours]
    theirs = [(row[0], row[2], row[3]) for row in reference.pprof_top(pprof, path, kind, unit)]
    if ours != theirs:
        sys.exit("%s: hearth %s\npprof %s" % (kind, ours, theirs))
PYTHON

t "sums past 64 bits stay at the edge and are told"
run hearth top --json huge.pprof
status_is 0
same "$(json 'd["total"]')" 9223372036854775807
err_has "past 64 bits"
run hearth top --json negative.pprof
same "$(json 'd["total"]')" "$("$peers/pprofcheck" -names-only -no-labels negative.pprof |
    python3 -c 'import sys; print(sum(int(line.split()[-1]) for line in sys.stdin if line.startswith("sample")))')"

t "labels past the limit are dropped and counted"
unset HEARTH_MAX_LABELS
run hearth convert labels-many.pprof few.pb.gz
status_is 0
err_has "more labels than allowed; the rest dropped (1872; first: sample 1, over 128)"
equal labels-many "$peers/pprofcheck" -no-labels -diff labels-many.pprof few.pb.gz

finish
