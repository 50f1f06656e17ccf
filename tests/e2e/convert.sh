#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hearth convert: choosing formats, merging, compressing, and what it says about inputs and outputs it cannot use.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
pprof_of heap
cp "$root/examples/checkout.folded" checkout.folded

# kind_of FILE: its first bytes, as hex.
kind_of() { od -An -tx1 -N4 "$1" | tr -d ' \n'; }
gzip_magic=1f8b0800 zstd_magic=28b52ffd lz4_magic=04224d18

# --- formats ---

t "the format is found by content, whatever the name"
cp cpu.pb lies.folded
cp checkout.folded lies.pb.gz
quietly hearth convert lies.folded a.folded
quietly hearth convert cpu.pb b.folded
same_file a.folded b.folded
quietly hearth convert lies.pb.gz c.folded
same "$(sort c.folded)" "$(sort checkout.folded)"

t "the output format follows the name, below a compression's ending too"
for name in x.pb.gz x.pprof x.prof x.pb x.pprof.zst; do
    quietly hearth convert checkout.folded "$name"
    run hearth inspect --json "$name"
    same "$name: $(json 'd["format"]')" "$name: pprof"
done
for name in x.folded x.collapsed x.folded.gz; do
    quietly hearth convert checkout.folded "$name"
    run hearth inspect --json "$name"
    same "$name: $(json 'd["format"]')" "$name: folded"
done

for row in "x.otlp otlp" "x.otlp.gz otlp" "x.otlp.json otlp-json"; do
    quietly hearth convert checkout.folded "${row% *}"
    run hearth inspect --json "${row% *}"
    same "${row% *}: $(json 'd["format"]')" "${row% *}: ${row#* }"
done

t "--to wins over the name"
quietly hearth convert --to pprof checkout.folded y.folded
run hearth inspect --json y.folded
same "$(json 'd["format"]')" pprof

t "a name that tells nothing needs --to, and the error lists the formats"
refuses 2 "'checkout.xyz' does not tell which format to write; add --to with one of pprof," \
    hearth convert checkout.folded checkout.xyz
err_has "folded"
is_not_there checkout.xyz
refuses 2 "does not tell" hearth convert checkout.folded -
quietly hearth convert --to folded checkout.folded checkout.xyz
is_there checkout.xyz
refuses 2 "--to: 'pproof' is unknown; did you mean 'pprof'?" hearth convert --to pproof checkout.folded z

t "--from wins over what the content looks like"
refuses 1 "reading 'checkout.folded': pprof:" hearth convert --from pprof checkout.folded z.folded
refuses 1 "reading 'cpu.pb': folded text:" hearth convert --from folded cpu.pb z.pb.gz
is_not_there z.folded z.pb.gz

t "- is standard input and standard output"
run_on checkout.folded hearth convert --to folded - -
status_is 0
err_empty
cp .out piped.folded
same "$(sort piped.folded)" "$(sort checkout.folded)"
run_on checkout.folded hearth convert --to pprof - -
cp .out piped.pb.gz
quietly hearth convert checkout.folded direct.pb.gz
same_file piped.pb.gz direct.pb.gz
is_not_there ./-
run_on /dev/null hearth convert --to folded - -
status_is 1
err_has "standard input"

# --- compression ---

t "--compress decides, else the name, else the custom of the format"
for row in "pprof auto a.pb.gz $gzip_magic" "pprof auto a.pprof $gzip_magic" "pprof auto a.pprof.zst $zstd_magic" \
    "pprof zstd a.pb.gz $zstd_magic" "pprof lz4 a.pprof $lz4_magic" "folded auto a.folded.gz $gzip_magic" \
    "folded auto a.folded.zst $zstd_magic" "folded auto a.folded.lz4 $lz4_magic" "folded gzip a.folded $gzip_magic"; do
    # shellcheck disable=SC2086  # four words
    set -- $row
    quietly hearth convert --to "$1" --compress "$2" checkout.folded "$3"
    same "$row: $(kind_of "$3")" "$row: $4"
    quietly hearth convert "$3" back.folded
    [ "$1" = pprof ] || same_file back.folded piped.folded
done

t "without compression pprof and folded are plain"
quietly hearth convert --compress none cpu.pb plain.pb.gz
quietly hearth convert cpu.pb plain.pb
same_file plain.pb.gz plain.pb
same "$(kind_of plain.pb | cut -c1-2)" 0a
quietly hearth convert checkout.folded plain.folded
grep -q '^checkout;main;config::Watcher::poll' plain.folded || fail "folded is not text"

t "what hearth compresses others read"
quietly hearth convert checkout.folded one.folded.gz
quietly hearth convert checkout.folded one.folded.zst
quietly hearth convert checkout.folded one.folded.lz4
same "$(gzip -dc one.folded.gz | cmp - plain.folded)" ""
same "$(zstd -dcq one.folded.zst | cmp - plain.folded)" ""
same "$(lz4 -dcq one.folded.lz4 - | cmp - plain.folded)" ""

t "what others compress hearth reads, one compression inside another too"
gzip -c checkout.folded >other.gz
zstd -qc checkout.folded >other.zst
lz4 -qc checkout.folded >other.lz4
gzip -c other.zst >other.zst.gz
for packed in other.gz other.zst other.lz4 other.zst.gz; do
    quietly hearth convert "$packed" back.folded
    same_file back.folded plain.folded
done

t "--level makes a difference, and has a most"
quietly hearth convert --level 1 checkout.folded fast.pb.gz
quietly hearth convert --level 12 checkout.folded small.pb.gz
[ "$(wc -c <small.pb.gz)" -lt "$(wc -c <fast.pb.gz)" ] || fail "level 12 is not smaller than level 1"
refuses 2 "--level: '20' is too large" hearth convert --level 20 checkout.folded z.pb.gz

# --- merging ---

t "several inputs are merged: equal stacks add up"
quietly hearth convert checkout.folded checkout.folded checkout.folded three.folded
sed 's/ [0-9]*$//' three.folded >three.stacks
sed 's/ [0-9]*$//' plain.folded >one.stacks
same_file three.stacks one.stacks
run hearth top --json three.folded
same "$(json 'd["total"]')" 30000

t "inputs of different formats and types are united"
quietly hearth convert cpu.pb checkout.folded both.pb.gz
run hearth inspect --json both.pb.gz
same "$(json '[[t["type"], t["unit"], t["total"]] for t in d["profiles"][0]["types"]]')" \
    "[['samples', 'count', 10100], ['cpu', 'nanoseconds', 1000000000]]"
same "$(json 'd["profiles"][0]["samples"]')" 75

t "levels add up over inputs, or are averaged on request"
quietly hearth convert heap.pb heap.pb sum.pb.gz
run hearth top --json --type inuse_space sum.pb.gz
same "$(json 'd["total"]')" 5247104
quietly hearth convert --average-levels heap.pb heap.pb mean.pb.gz
run hearth top --json --type inuse_space mean.pb.gz
same "$(json 'd["total"]')" 2623552
run hearth top --json --type alloc_space mean.pb.gz
same "$(json 'd["total"]')" 15335552

t "labels keep samples apart, unless they are dropped"
run hearth inspect --json cpu.pb
same "$(json '[l["key"] for l in d["profiles"][0]["labels"]]')" "['route']"
quietly hearth convert --drop-labels cpu.pb cpu.pb unlabelled.pb.gz
run hearth inspect --json unlabelled.pb.gz
same "$(json 'd["profiles"][0]["labels"]')" "[]"
same "$(json 'd["profiles"][0]["types"][1]["total"]')" 2000000000

t "one bad input of several leaves no output and is named"
head -c "$(($(wc -c <cpu.pb) - 5))" cpu.pb >cut.pb
refuses 1 "reading 'cut.pb'" hearth convert cpu.pb cut.pb cpu.pb no.pb.gz
is_not_there no.pb.gz

# --- one value type ---

t "--type chooses the value where the format holds one"
quietly hearth convert --type samples cpu.pb samples.folded
grep -q '^main;serve;parse 40$' samples.folded || fail "no line 'main;serve;parse 40':" "$(cat samples.folded)"
quietly hearth convert --type cpu/nanoseconds cpu.pb cpu.folded
grep -q '^main;serve;parse 400000000$' cpu.folded || fail "no line of 400000000:" "$(cat cpu.folded)"
quietly hearth convert heap.pb default.folded
grep -q '^main 64$' default.folded || fail "the default type is not inuse_space:" "$(cat default.folded)"

t "an unknown type names those there are"
refuses 2 "there is no value type 'inuse'; the profile has alloc_objects/count, alloc_space/bytes, inuse_objects/count, \
inuse_space/bytes" hearth convert --type inuse heap.pb no.folded
is_not_there no.folded

# --- the same bytes ---

t "writing pprof is byte-stable: the same profile gives the same bytes"
for source in cpu.pb heap.pb checkout.folded; do
    quietly hearth convert "$source" first.pb.gz
    quietly hearth convert "$source" again.pb.gz
    same_file first.pb.gz again.pb.gz
    quietly hearth convert first.pb.gz second.pb.gz
    same_file first.pb.gz second.pb.gz
done

t "what was merged stays the same bytes, and merges again to the same"
quietly hearth convert cpu.pb checkout.folded ab.pb.gz
quietly hearth convert ab.pb.gz ab2.pb.gz
same_file ab.pb.gz ab2.pb.gz
quietly hearth convert cpu.pb checkout.folded abc.pb.gz
same_file ab.pb.gz abc.pb.gz

t "OTLP is byte-stable too, as protobuf and as JSON"
for form in otlp otlp-json; do
    quietly hearth convert --to $form heap.pb first
    quietly hearth convert --to $form heap.pb again
    same_file first again
    quietly hearth convert --to $form first second
    same_file first second
done
python3 -m json.tool first >pretty.json || fail "this is no JSON"

t "pprof, OTLP and JSON of one profile show the same tables"
for source in cpu.pb heap.pb; do
    quietly hearth convert "$source" same.otlp
    quietly hearth convert "$source" same.otlp.json
    for command in "top -n 0" "tree --min-share 0%" "peek ."; do
        # shellcheck disable=SC2086  # words are what is wanted
        run hearth $command "$source"
        status_is 0
        # shellcheck disable=SC2086
        same "$(hearth $command same.otlp)" "$out"
        # shellcheck disable=SC2086
        same "$(hearth $command same.otlp.json)" "$out"
    done
done

t "folded text is stable and sorted"
quietly hearth convert plain.folded again.folded
same_file plain.folded again.folded
sort -c plain.folded 2>/dev/null || fail "the lines are not sorted"

t "annotations of folded frames survive"
printf 'main;inlined_[i];syscall_[k] 2\nmain;jitted_[j] 1\n' >marks.folded
quietly hearth convert marks.folded marks2.folded
same "$(sort marks2.folded)" "$(sort marks.folded)"

t "an existing output stays when the conversion fails, else it is replaced as a whole"
printf 'old' >kept.folded
refuses 1 "cut.pb" hearth convert cut.pb kept.folded
same "$(cat kept.folded)" old
quietly hearth convert checkout.folded kept.folded
same_file kept.folded plain.folded
same "$(find . -name 'kept.folded?*' -o -name '.*kept*')" ""

t "a file may be converted onto itself"
cp checkout.folded self.folded
quietly hearth convert self.folded self.folded self.folded
run hearth top --json self.folded
same "$(json 'd["total"]')" 20000

# --- inputs that cannot be read ---

t "a missing input is named"
refuses 1 "opening 'nosuch.pb.gz': No such file or directory" hearth convert nosuch.pb.gz no.folded

t "a directory is no input"
mkdir folder
refuses 1 "'folder'" hearth convert folder no.folded
err_has "Is a directory"

t "an unreadable input is named"
cp cpu.pb locked.pb
chmod 000 locked.pb
if [ "$(id -u)" = 0 ]; then
    cp "$hearth" hearth
    chmod 755 .
    refuses 1 "opening 'locked.pb': Permission denied" \
        setpriv --reuid=65534 --regid=65534 --clear-groups ./hearth top locked.pb
else
    refuses 1 "opening 'locked.pb': Permission denied" hearth top locked.pb
fi

t "an empty input says so"
: >empty.pb.gz
refuses 1 "reading 'empty.pb.gz': there is nothing in it" hearth convert empty.pb.gz no.folded
gzip -c empty.pb.gz >nothing.gz
refuses 1 "reading 'nothing.gz': there is nothing in it" hearth convert nothing.gz no.folded

t "garbage shows its first bytes and what is known"
printf '\001\002\003garbage' >garbage.bin
refuses 1 "reading 'garbage.bin': not a profile of a known kind (pprof," hearth convert garbage.bin no.folded
err_has "it begins with 01 02 03 67"
printf '<html><body>502 Bad Gateway</body></html>\n' >page.pb.gz
refuses 1 "it begins with '<html><body>502" hearth convert page.pb.gz no.folded

t "truncated input is refused where it ends"
quietly hearth convert cpu.pb whole.pb.gz
head -c 150 whole.pb.gz >short.pb.gz
refuses 1 "reading 'short.pb.gz': gzip: truncated after 150 bytes" hearth convert short.pb.gz no.folded
refuses 1 "reading 'cut.pb': pprof:" hearth convert cut.pb no.folded
err_has "byte"
zstd -qc checkout.folded | head -c 600 >short.zst
refuses 1 "reading 'short.zst': zstd:" hearth convert short.zst no.folded
lz4 -qc checkout.folded | head -c 600 >short.lz4
refuses 1 "reading 'short.lz4': lz4:" hearth convert short.lz4 no.folded
is_not_there no.folded

t "every shorter prefix of a profile is refused or warned about, never taken in silence"
size=$(wc -c <cpu.pb)
length=1
while [ "$length" -lt "$size" ]; do
    head -c "$length" cpu.pb >prefix.pb
    run hearth inspect --from pprof prefix.pb
    case $status in
    0) [ -n "$errout" ] || [ "$(sed -n 's/^samples *//p' .out)" != "$(hearth inspect cpu.pb | sed -n 's/^samples *//p')" ] ||
        fail "the first $length bytes pass as the whole" ;;
    1) ;;
    *) fail "the first $length bytes end in status $status" ;;
    esac
    length=$((length + 41))
done

t "damaged samples are dropped with a warning, the rest is kept"
pprof_of damaged
run hearth convert damaged.pb rest.folded
status_is 0
err_has "hearth: warning: damaged.pb: sample refers to a missing location; dropped (sample 1, location 99)"
err_has "sample has another number of values than there are sample types; dropped (sample 2, 1 values for 2 types)"
err_has "label refers to a missing string; label dropped (sample 3, string 5000"
same "$(cat rest.folded)" "main;also good 10000000
main;good 40000000
main;unnamed 20000000"

t "lines of folded text without a count are dropped with a warning"
{ cat checkout.folded && printf 'no count here\n'; } >odd.folded
run hearth convert odd.folded rest.folded
status_is 0
err_has "hearth: warning: odd.folded: "
err_has "no count here"
same_file rest.folded plain.folded

# --- outputs that cannot be written ---

t "a missing output directory is named"
refuses 1 "'nodir/out.folded': No such file or directory" hearth convert checkout.folded nodir/out.folded

t "an output that is a directory is refused"
mkdir taken.folded
refuses 1 "taken.folded" hearth convert checkout.folded taken.folded
is_there taken.folded

t "a full device leaves nothing behind"
mkdir tiny
if unshare --mount mount -t tmpfs -o size=4k none tiny 2>/dev/null; then
    # shellcheck disable=SC2016  # the inner shell expands them
    refuses 1 "No space left on device" unshare --mount sh -c \
        'mount -t tmpfs -o size=4k none tiny && { "$1" convert "$2" tiny/out.folded; status=$?; ls -A tiny; exit "$status"; }' \
        sh "$hearth" checkout.folded
else
    cannot "a small file system needs the right to mount one"
fi

# --- limits ---

t "a bomb is refused before it is inflated, in little memory"
head -c 60000000 /dev/zero >zeros
gzip -1c zeros >bomb.gz
zstd -q1c zeros >bomb.zst
lz4 -q1c zeros >bomb.lz4
gzip -c bomb.zst >bomb.zst.gz
for bomb in bomb.gz bomb.zst bomb.lz4 bomb.zst.gz; do
    refuses 1 "reading '$bomb': " prlimit --as=40000000 "$hearth" convert --max-inflated-size 2MiB "$bomb" no.folded
    err_has "inflates to more than the limit of 2MiB"
done

t "compression within compression has its depth"
cp checkout.folded wrapped
for _ in 1 2 3 4 5 6; do gzip -c wrapped >wrapped.gz && mv wrapped.gz wrapped; done
refuses 1 "reading 'wrapped': " hearth convert wrapped no.folded
err_has "layers"

t "an input larger than the limit is refused, compressed or not"
refuses 1 "'checkout.folded': it is larger than the limit of 5000 bytes" \
    hearth convert --max-inflated-size 5000 checkout.folded no.folded

t "--max-samples and --max-strings refuse, in every format"
refuses 1 "reading 'cpu.pb': pprof: 5 samples, the limit is 4" hearth convert --max-samples 4 cpu.pb no.folded
refuses 1 "strings, the limit is 3" hearth convert --max-strings 3 cpu.pb no.folded
refuses 1 "reading 'checkout.folded': folded text: " hearth convert --max-samples 4 checkout.folded no.folded
refuses 1 "reading 'checkout.folded': folded text: " hearth convert --max-strings 4 checkout.folded no.folded
quietly hearth convert --max-samples 70 checkout.folded enough.folded

t "--max-depth cuts at the root end and says so"
run hearth convert --max-depth 2 cpu.pb cut.folded
status_is 0
err_has "warning: cpu.pb:"
err_has "deeper than"
grep -q '^serve;parse 400000000$' cut.folded || fail "the leaf end is not there:" "$(cat cut.folded)"

t "--max-labels drops labels and says so"
run hearth convert --max-labels 1 heap.pb few.pb.gz
status_is 0
err_has "more labels than allowed"
run hearth inspect --json few.pb.gz
same "$(json '[l["key"] for l in d["profiles"][0]["labels"]]')" "['bytes']"

t "--max-memory is kept"
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "main;function_%d whose name is rather long 1\n", i }' >many.folded
refuses 1 "memory limit of 1" hearth convert --max-memory 1MiB many.folded too-much.folded
is_not_there too-much.folded

finish
