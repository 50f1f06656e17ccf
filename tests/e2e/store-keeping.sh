#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Keeping and forgetting: keep, delete, compact, verify, backup, restore, retention; and who may open a store.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pprof_of cpu
pprof_of heap
example=$root/examples/checkout.folded
# The files of tests/data were recorded in 2026; whenever this runs, they are not too old.
ever="--max-age 36500d"

# import DIRECTORY ARGUMENTS...
import() {
    directory=$1
    shift
    # shellcheck disable=SC2086  # two words
    run hearth import --data-dir "$directory" $ever "$@"
    status_is 0
}
# shop DIRECTORY: a store with two services on two days.
shop() {
    import "$1" --label service_name=api --time 2026-10-01T10:00:00Z "$example"
    import "$1" --label service_name=web --time 2026-10-01T10:00:00Z "$example"
    import "$1" --label service_name=api --time 2026-10-02T10:00:00Z "$example"
}
services() { hearth label-values service_name --data-dir "$@" | tr '\n' ' '; }
# number DIRECTORY EXPRESSION: of its stats.
number() {
    run hearth stats --data-dir "$1" --json
    status_is 0
    json "$2"
}

# flip_in DIRECTORY: changes a bit in its largest table file.
flip_in() {
    python3 - "$1" <<'PYTHON'
import glob, os, sys
path = max(glob.glob(sys.argv[1] + "/*.sst"), key=os.path.getsize)
with open(path, "r+b") as file:
    file.seek(os.path.getsize(path) // 3)
    byte = file.read(1)[0]
    file.seek(-1, 1)
    file.write(bytes([byte ^ 0x10]))
PYTHON
}

# --- keep ---

t "keep names a range, lists it, replaces it and lets it go"
shop kept
run hearth keep --data-dir kept
same "$out" "no range is kept beyond the retention"
run hearth keep --data-dir kept '{service_name="api"}' --from 2026-10-01 --until 2026-10-02 --name v1
status_is 0
same "$out" "kept as 'v1': {service_name=\"api\"} from 2026-10-01T00:00:00Z until 2026-10-02T00:00:00Z"
run hearth keep --data-dir kept
out_has "NAME  FROM                  UNTIL                 MADE"
out_has "v1    2026-10-01T00:00:00Z  2026-10-02T00:00:00Z  "
out_has '{service_name="api"}'
run hearth keep --data-dir kept 'service.name=web' --from 2026-10-01 --until 2026-10-03 --name v1
status_is 0
run hearth keep --data-dir kept --json
same "$(json '[[k["name"], k["selector"], k["tenant"], k["until_ns"]] for k in d["kept"]]')" \
    "[['v1', '{service_name=\"web\"}', 'anonymous', 1790985600000000000]]"
run hearth keep --data-dir kept --tenant other
same "$out" "no range is kept beyond the retention"
run hearth keep --data-dir kept --remove v1
same "$out" "'v1' is no longer kept beyond the retention"
run hearth keep --data-dir kept --json
same "$(json 'd["kept"]')" "[]"
refuses 1 "v1" hearth keep --data-dir kept --remove v1

t "keep says what is missing"
refuses 2 "a kept range needs a name, like --name v1.2.3" hearth keep --data-dir kept '{}' --from 1h --until now
refuses 2 "give --from and --until" hearth keep --data-dir kept '{}' --from 1h --name x
refuses 2 "say what to keep: a selector like" hearth keep --data-dir kept --from 1h --until now --name x
refuses 2 "--remove takes a name and nothing else" hearth keep --data-dir kept '{}' --remove x

t "retention forgets whole days, but not what is kept"
shop aged
run hearth keep --data-dir aged '{service_name="web"}' --from 2026-10-01 --until 2026-10-02 --name v1
status_is 0
run hearth import --data-dir aged --retention 1d "$example"
status_is 0
same "$(services aged)" "unknown_service web "
same "$(services aged --until 2026-10-02)" "web "
run hearth verify --data-dir aged
status_is 0
same "$(number aged 'd["samples"]')" 140

t "import forgets nothing unless it is told to"
shop whole
run hearth import --data-dir whole "$example"
same "$(services whole)" "api unknown_service web "

t "retention by size forgets the oldest days, and no more than it must"
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "main;handler_%d;function_number_%d_of_many %d\n", i % 50, i * 7919, i % 9 + 1 }' >many.folded
for day in 01 02 03; do import large --label "day=$day" --time "2026-10-${day}T10:00:00Z" many.folded; done
size=$(number large 'd["disk_bytes"]')
run hearth import --data-dir large --label day=04 --retention-size "$((size * 5 / 6))" "$example"
status_is 0
same "$(hearth label-values day --data-dir large | tr '\n' ' ')" "02 03 04 "

# --- delete and compact ---

t "delete hides at once, compact frees the disk"
shop cut
run hearth delete --data-dir cut '{service_name="api"}' --from 2026-10-01 --until 2026-10-02
status_is 0
same "$out" "deleted from 1 day: gone from every answer now, from the disk with 'hearth compact'"
same "$(services cut --until 2026-10-02)" "web "
same "$(services cut)" "api web "
run hearth compact --data-dir cut
status_is 0
out_has " on disk, "
same "$(services cut)" "api web "
same "$(number cut '[d["samples"], d["values"]["tombstones"]["n"]]')" "[140, 0]"
run hearth verify --data-dir cut
status_is 0

t "what is written after a delete is not concerned"
import cut --label service_name=api --time 2026-10-01T11:00:00Z "$example"
same "$(services cut --until 2026-10-02)" "api web "

t "delete wants to be told what and when"
refuses 2 "say when: --from and --until, both of them, or --all-time" hearth delete --data-dir cut service_name=api
refuses 2 "say when" hearth delete --data-dir cut service_name=api --from 2026-10-01
refuses 2 "contradict" hearth delete --data-dir cut service_name=api --all-time --until now
refuses 2 "say what to delete: a selector like" hearth delete --data-dir cut --all-time
refuses 2 "say what to delete" hearth delete --data-dir cut '{}' --all-time
refuses 2 "contradict" hearth delete --data-dir cut service_name=api --everything --all-time
run hearth delete --data-dir cut service_name=api --from 2020-01-01 --until 2020-01-02
status_is 0
same "$out" "nothing was deleted: the store has no day in that range"
same "$(services cut)" "api web "
run hearth delete --data-dir cut --everything --all-time
same "$out" "deleted from 2 days: gone from every answer now, from the disk with 'hearth compact'"
same "$(services cut)" ""
run hearth compact --data-dir cut --json
same "$(json 'd["disk_bytes"] <= d["disk_bytes_before"]')" True

# --- verify ---

t "verify reads everything and says that all is well"
shop sound
run hearth verify --data-dir sound
status_is 0
err_empty
out_has "2 days, "
out_has " and 210 samples read: all is well"
run hearth verify --data-dir sound --json
same "$(json '[d["findings"], d["days"], d["samples"], d["bad_values"], d["bad_days"], d["repaired"]]')" \
    "[[], 2, 210, 0, 0, 0]"

t "verify finds a flipped bit, --repair sets it aside, and the rest answers"
flip_in sound/profiles/2026-10-01
run hearth verify --data-dir sound
status_is 1
out_has "2026-10-01"
out_has "damaged, 0 set aside; --repair sets them aside"
same "$(services sound --from 2026-10-02)" "api "
run hearth verify --data-dir sound --repair
status_is 1
out_has "set aside"
out_lacks "--repair sets"
run hearth verify --data-dir sound
status_is 0
out_has "all is well"
[ -n "$(ls sound/quarantine)" ] || fail "nothing is in quarantine/"
same "$(services sound --from 2026-10-02)" "api "

t "a file that is missing or cut off is told by whoever looks, and by no empty answer"
shop lost
for table in lost/profiles/2026-10-01/*.sst; do
    quietly mv "$table" kept.sst
    run hearth series --data-dir lost
    status_is 0
    err_has "day 2026-10-01 is damaged, and answers lack what cannot be read"
    err_has "$(basename "$table")' is missing"
    run hearth verify --data-dir lost
    status_is 1
    out_has "2026-10-01: has files that cannot be read; --repair puts what can be read in its place"
    head -c 100 kept.sst >"$table"
    run hearth labels --data-dir lost
    status_is 0
    err_has "$(basename "$table")' has 100 bytes, and should have "
    quietly mv kept.sst "$table"
done
for file in lost/profiles/2026-10-01/CURRENT lost/profiles/2026-10-01/MANIFEST-*; do
    quietly mv "$file" kept.file
    run hearth series --data-dir lost
    status_is 0
    out_has '"api"'
    err_has "day 2026-10-01 cannot be read and is left out of the answer"
    quietly mv kept.file "$file"
done
run hearth series --data-dir lost
err_empty

# --- backup and restore ---

t "backup and restore: a round trip"
shop original
run hearth backup --data-dir original backups
status_is 0
out_has "backups/20"
out_has " copied, 0B shared with the backup before"
first=$(ls backups)
case $first in 20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]-[0-9][0-9]-[0-9][0-9]Z) ;; *) fail "named '$first'" ;; esac
hearth series --data-dir original >wanted
hearth series --data-dir "backups/$first" >got
same_file got wanted
run hearth restore backups --data-dir again
status_is 0
err_empty
out_has "'backups/$first' is now in 'again': "
out_has ", 210 samples of 2 days"
hearth series --data-dir again >got
same_file got wanted
run hearth verify --data-dir again
status_is 0
is_not_there again.restoring

t "the restored store is written to and its backup stays as it is"
import again --label service_name=later --time 2026-10-01T10:00:00Z "$example"
same "$(services again)" "api later web "
same "$(services "backups/$first")" "api web "

t "the next backup copies what is new and shares the rest"
import original --label service_name=later "$example"
while [ "$(date -u +%Y-%m-%dT%H-%M-%SZ)" = "$first" ]; do sleep 0.1; done
run hearth backup --data-dir original --json backups
status_is 0
same "$(json 'd["shared_bytes"] > 0 and d["copied_bytes"] > 0')" True
second=$(json 'd["path"]')
[ -z "$(find "backups/$first" -name '*.sst' -links 1)" ] || fail "tables of the first backup that the second does not share"
[ -n "$(find "$second" -name '*.sst' -links 1)" ] || fail "the second backup has nothing new"
[ "$second" != "backups/$first" ] || fail "the same directory"
run hearth restore backups --data-dir newest
out_has "'$second' is now in 'newest'"
same "$(services newest)" "api later web "
run hearth restore "backups/$first" --data-dir oldest/
status_is 0
same "$(services oldest)" "api web "

t "either backup is whole without the other"
rm -r "backups/$first"
run hearth verify --data-dir "$second"
status_is 0

t "a backup inside of the store is refused"
refuses 2 "'original/backups' lies in the data directory; name a place outside of it" \
    hearth backup --data-dir original original/backups

t "restore overwrites nothing, and says what is no backup"
refuses 1 "'again' is not empty; move it away, or name another place with --data-dir" \
    hearth restore backups --data-dir again
mkdir void
refuses 1 "'void' is no backup, and there is none in it that was finished" hearth restore void --data-dir fresh
refuses 1 "nosuch" hearth restore nosuch --data-dir fresh
is_not_there fresh fresh.restoring
mkdir taken taken.restoring
touch taken.restoring/leftover
run hearth restore "$second" --data-dir taken
status_is 0
is_not_there taken.restoring taken/leftover

t "restore tells damage that the backup has"
cp -r "$second" bad
flip_in bad/profiles/2026-10-01
run hearth restore bad --data-dir mended
[ "$status" = 1 ] || fail "exit status $status"
err_has "damaged"

# --- who may open a store ---

t "a second process is refused and told who has it; looking works beside it"
shop busy
mkfifo gate
"$hearth" import --data-dir busy --label service_name=late --time 2026-10-02T12:00:00Z --max-age 36500d "$example" - \
    <gate >.late 2>&1 &
writer=$!
exec 3>gate
# The first file is written when the second is waited for.
for _ in $(seq 100); do
    case $(services busy) in *late*) break ;; esac
    sleep 0.1
done
same "$(services busy)" "api late web "
for command in "import cpu.pb" "keep {} --from 1h --until now --name x" "delete a=b --all-time" "compact" \
    "verify --repair" "backup elsewhere"; do
    # shellcheck disable=SC2086  # words are what is wanted
    refuses 1 "$writer" hearth $command --data-dir busy
    err_has "only one process may change a store"
    err_has "let it do this itself with --url"
done
is_not_there elsewhere
for command in series labels types stats verify keep "label-values service_name"; do
    # shellcheck disable=SC2086
    run hearth $command --data-dir busy
    status_is 0
    err_empty
done
cat "$data/recursion.folded" >&3
exec 3>&-
wait "$writer" || fail "the writer failed: $(cat .late)"
same "$(cat .late)" "2 profiles written from 2 files: 74 samples"
run hearth verify --data-dir busy
status_is 0

t "after kill -9 everything acknowledged is there, and no step by hand is needed"
mkfifo gate2
"$hearth" import --data-dir killed --label service_name=late "$example" - <gate2 >/dev/null 2>&1 &
writer=$!
exec 3>gate2
for _ in $(seq 100); do
    case $(services killed 2>/dev/null) in *late*) break ;; esac
    sleep 0.1
done
kill -9 "$writer"
wait "$writer" 2>/dev/null
exec 3>&-
same "$(services killed)" "late "
run "$hearth" import --data-dir killed --label service_name=more "$example"
status_is 0
same "$(services killed)" "late more "
run hearth verify --data-dir killed
status_is 0

t "a newer format is refused and left alone"
shop newer
printf 'hearth store 2.0\n' >newer/FORMAT
find newer -type f -exec cksum {} + | sort >before
for command in "series" "import cpu.pb" "stats" "verify --repair" "compact"; do
    # shellcheck disable=SC2086
    refuses 1 "2.0" hearth $command --data-dir newer
done
find newer -type f -exec cksum {} + | sort >after
same_file after before

t "a FORMAT that is none is refused"
shop strange
printf 'something else\n' >strange/FORMAT
refuses 1 "FORMAT" hearth series --data-dir strange
refuses 1 "FORMAT" hearth import --data-dir strange cpu.pb

t "where there is no store, the commands say so and make none"
for command in series labels types stats verify keep compact "backup b" "delete a=b --all-time" "verify --repair" \
    "label-values zone" "keep {} --from 1h --until now --name x"; do
    # shellcheck disable=SC2086
    refuses 1 "there is no store in 'nothing'; 'hearth import' makes one, and --data-dir names another" \
        hearth $command --data-dir nothing
done
is_not_there nothing b
mkdir bare
refuses 1 "there is no store in 'bare'" hearth series --data-dir bare

t "a directory of something else is not made a store"
mkdir alien
touch alien/photo.jpg
run hearth import --data-dir alien "$example"
[ "$status" = 1 ] || fail "exit status $status"
err_has alien
is_not_there alien/FORMAT

t "what may not be read or written is told by name"
if [ "$(id -u)" = 0 ] && ! command -v setpriv >/dev/null; then
    skip "root may read everything, and setpriv is missing"
else
    shop locked
    chmod -R a+rX "$work"
    chmod 700 locked
    as_somebody() {
        if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi
    }
    [ "$(id -u)" = 0 ] || chmod 000 locked
    refuses 1 "locked" as_somebody "$hearth" series --data-dir locked
    err_has "Permission denied"
    refuses 1 "Permission denied" as_somebody "$hearth" import --data-dir locked/inside "$example"
    chmod 700 locked
fi

t "a disk that fills up is told, nothing acknowledged is lost, and it goes on when there is room"
mkdir small
if [ "$(id -u)" != 0 ] || ! mount -t tmpfs -o size=24m tmpfs small 2>/dev/null; then
    cannot "no small file system can be mounted"
else
    run hearth import --data-dir small/data --min-free 4MiB --label service_name=first "$example"
    status_is 0
    # Below the watermark: refused while there is still room to live.
    dd if=/dev/zero of=small/ballast bs=1M count=21 >/dev/null 2>&1
    run hearth import --data-dir small/data --min-free 4MiB --label service_name=second "$example" cpu.pb
    status_is 1
    err_has "importing '$example': "
    err_has "--min-free"
    same "$out" "0 profiles written from 0 files: 0 samples; 2 files left"
    same "$(services small/data)" "first "
    # Not a byte left: looking still works.
    dd if=/dev/zero of=small/ballast2 bs=4k >/dev/null 2>&1
    run hearth import --data-dir small/data --label service_name=third "$example"
    status_is 1
    err_has small/data
    same "$(services small/data)" "first "
    rm small/ballast small/ballast2
    run hearth import --data-dir small/data --min-free 4MiB --label service_name=fourth "$example"
    status_is 0
    same "$(services small/data)" "first fourth "
    run hearth verify --data-dir small/data
    status_is 0
    umount small
fi

finish
