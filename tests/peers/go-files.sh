#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profiles that a real Go program writes: hearth's totals, tables and trees are those of `go tool pprof`, and what hearth
# writes `go tool pprof` reads as the same profile.
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
build_go_peers
kinds="cpu heap allocs goroutine mutex block threadcreate"
for i in 1 2 3; do
    mkdir "run$i"
    "$peers/writeprofiles" "run$i" &
done
wait

# table FILE: what pprof prints of it on its own, without where the file lies.
table() { "$pprof" -top -symbolize=none "$1" 2>&1; }
top_equal() { equal "$*" python3 "$here/compare_top.py" "$hearth" "$peers/pprofcheck" "$pprof" "$@"; }

for kind in $kinds; do
    file=run1/$kind.pprof
    t "$kind: totals and tables of every type equal pprof's"
    some "$file"
    top_equal "$file"

    t "$kind: the tree and every call equal pprof's"
    equal "$kind" python3 "$here/compare_tree.py" "$hearth" "$peers/pprofcheck" "$pprof" "$file"

    t "$kind: what hearth writes is the same profile"
    hearth_to "$file" "ours-$kind.pb.gz"
    equal "$kind" "$peers/pprofcheck" -diff "$file" "ours-$kind.pb.gz"
    same "$(table "ours-$kind.pb.gz")" "$(table "$file")"

    t "$kind: written again it is the same bytes"
    hearth_to "ours-$kind.pb.gz" again.pb.gz
    same_file "ours-$kind.pb.gz" again.pb.gz

    t "$kind: three files merge as pprof merges them"
    "$pprof" -proto -symbolize=none -output="theirs-$kind.pb.gz" run?/"$kind.pprof" >pprof.log 2>&1 || fail "$(cat pprof.log)"
    quietly hearth convert run?/"$kind.pprof" "merged-$kind.pb.gz"
    equal "$kind" "$peers/pprofcheck" -sum -diff "theirs-$kind.pb.gz" "merged-$kind.pb.gz"
    same "$(table "merged-$kind.pb.gz")" "$(table "theirs-$kind.pb.gz")"
done

t "the changes between two files equal pprof's"
for kind in $kinds; do
    equal "$kind" python3 "$here/compare_diff.py" "$hearth" "$peers/pprofcheck" "$pprof" "run1/$kind.pprof" "run2/$kind.pprof"
done

t "the four types of a heap are all there"
run hearth inspect --json run1/heap.pprof
same "$(json '[t["type"] for t in d["profiles"][0]["types"]]')" \
    "['alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space']"

t "odd labels are among what was compared"
"$peers/pprofcheck" run1/goroutine.pprof >dump.txt
for key in 'dotted.key.name=' 'emoji🔥=' 'ключ="значение ☃"' 'key with spaces=' '{="empty key"}' '"\xff\xfe"'; do
    grep -qF "$key" dump.txt || fail "no label $key in the goroutine profile"
done

t "filters choose what pprof's choose"
for filter in 'focus=main\.mix' 'ignore=fibonacci' 'hide=main\.mix|asyncPreempt' 'show=^main\.' 'show_from=burnUntil\.func' \
    'tagfocus=route' 'tagfocus=operation=pay' 'tagignore=route=/.*' 'focus=writeprofiles' 'focus=burn\.go'; do
    top_equal run1/cpu.pprof "$filter"
done
top_equal run1/cpu.pprof 'focus=nextRandom' 'ignore=area' 'hide=closure'
for filter in 'tagfocus=bytes=1kb:64kb' 'tagfocus=512b:' 'tagignore=:1kb' 'focus=growTree|makeSlabs'; do
    top_equal run1/heap.pprof "$filter"
done

t "the comparison tells profiles apart"
if python3 "$here/compare_top.py" "$hearth" "$peers/pprofcheck" "$pprof" run1/cpu.pprof focus=mix >same.log &&
    [ "$(cat same.log)" = equal ]; then :; else fail "a true comparison failed: $(cat same.log)"; fi
cat >liar <<LIAR
#!/bin/sh
"$hearth" "\$@" --ignore fibonacci
LIAR
chmod +x liar
for script in compare_top compare_tree; do
    ! python3 "$here/$script.py" ./liar "$peers/pprofcheck" "$pprof" run1/cpu.pprof >differ.log 2>&1 ||
        fail "$script took one profile for another"
    grep -q fibonacci differ.log || fail "$script does not say what differs: $(cat differ.log)"
done

t "what a server gives pprof reads from its address"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
start_server data
post "/ingest?name=app&from=$(($(date +%s) - 60))&until=$(date +%s)" run1/cpu.pprof && answers 200 ""
PPROF_TMPDIR=$work "$pprof" -top -symbolize=none "$url/render?query=app.cpu%7B%7D&format=pprof" 2>pprof.err |
    sed -n '/flat%/,$p' >got.txt
"$pprof" -top -symbolize=none -sample_index=cpu run1/cpu.pprof 2>&1 | sed -n '/flat%/,$p' >wanted.txt
[ -s got.txt ] || fail "pprof read nothing:" "$(cat pprof.err)"
same_file got.txt wanted.txt
stop_server

finish
