# Shared by the fault tests: sourced in place of tests/lib.sh.
#
# CI runs each script without arguments; `./check --long` gives them `long`.
#
# The files lie in memory where there is room: syncing is free there, and nothing here is about the speed of a disk. A
# script that wants them on disk sets $on_disk first.
#
# shellcheck shell=sh disable=SC2034
if [ -z "${on_disk:-}" ] && [ "$(df -Pk /dev/shm | awk 'NR == 2 { print ($4 > 1000000) }')" = 1 ]; then
    export TMPDIR=/dev/shm
fi
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
fault=${FAULT:-$root/build/release/fault}
shim=$fault/shim.so
dir=$work/live # what the shim watches
seed=1
[ -x "$fault/storm" ] || { echo "$fault/storm is not built: run make faults" >&2 && exit 1; }

# storm ARGUMENTS...: never longer than a minute; 124 is a hang.
storm() { timeout -s KILL "${storm_seconds:-60}" "$fault/storm" "$@"; }
# shimmed NAME=VALUE... -- COMMAND...: with the disk at the shim's mercy, under $dir.
shimmed() {
    set -- "HEARTH_SHIM_DIR=$dir" "$@"
    settings=""
    while [ "$1" != -- ]; do
        settings="$settings $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    env $settings LD_PRELOAD="$shim" "$@"
}

# check_holds WHAT ARGUMENTS...: `storm check` must find every promise kept.
check_holds() {
    what=$1
    shift
    run storm check "$@"
    [ "$status" = 0 ] || fail "$what: storm check $*: status $status" "$errout"
}

# kill_storm PROCESS: ends a storm in the background; its $status is 137 if it was still there. What the shell says about
# it goes nowhere.
kill_storm() {
    kill -KILL "$1" 2>kill.err
    { wait "$1"; } 2>kill.err
    status=$?
}

# cgroup_make BYTES: a memory cgroup in $cgroup; false where none can be had.
cgroup_make() {
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        cgroup=/sys/fs/cgroup/hearth-test-$$
        { echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$cgroup" &&
            echo "$1" >"$cgroup/memory.max"; } 2>cgroup.err || return 1
    else
        cgroup=/sys/fs/cgroup/memory/hearth-test-$$
        { mkdir "$cgroup" && echo "$1" >"$cgroup/memory.limit_in_bytes"; } 2>cgroup.err || return 1
    fi
}
cgroup_kills() {
    sed -n 's/^oom_kill //p' "$cgroup/memory.events" "$cgroup/memory.oom_control" 2>cgroup.err | head -n 1
}

# random N: a number below N, from $seed, the next one each time.
random() {
    seed_step=$((seed_step + 1))
    number=$(printf '%s %s' "$seed" "$seed_step" | cksum)
    number=$((${number%% *} % $1))
}
seed_step=0
