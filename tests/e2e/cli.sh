#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The frame of every command: version, help, wrong usage, where options come from, and where output goes.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cp "$root/examples/checkout.folded" checkout.folded
version=$(cat "$root/VERSION")

# on_terminal COMMAND: prints what a command line prints on a terminal.
on_terminal() { script -qec "$1" /dev/null </dev/null; }
# A bare chroot may have no pseudo-terminals at all.
has_terminal() { on_terminal true >/dev/null 2>&1 || { cannot "no pseudo-terminal can be had" && false; }; }
escape=$(printf '\033')

t "--version and the command print the same line"
run hearth --version
status_is 0
same "$out" "hearth $version"
run hearth version
same "$out" "hearth $version"
err_empty

t "--help lists every command, on standard output"
run hearth --help
status_is 0
err_empty
for command in convert top tree peek inspect diff help version; do out_has "  $command "; done
same "$(hearth)" "$out"
same "$(hearth help)" "$out"

t "help of a command has its usage, options and examples"
run hearth help top
status_is 0
out_has "Usage: hearth top [OPTIONS] FILE..."
out_has "-n, --rows N"
out_has "hearth top --cum -n 10"
same "$(hearth top --help)" "$out"
same "$(hearth top -h)" "$out"

t "help works with arguments that the command would refuse"
run hearth convert --help no such files
status_is 0
out_has "Usage: hearth convert"

t "an unknown command names the nearest one"
refuses 2 "unknown command 'tpo'; did you mean 'top'?" hearth tpo
refuses 2 "unknown command 'inspekt'; did you mean 'inspect'?" hearth inspekt file
refuses 2 "unknown command 'tre'; did you mean 'tree'?" hearth help tre
err_has "--help' for help"

t "an unknown command far from all is only called unknown"
refuses 2 "unknown command 'xyzzy'" hearth xyzzy
err_lacks "did you mean"

t "an unknown option names the nearest one"
refuses 2 "unknown option '--fokus'; did you mean '--focus'?" hearth top --fokus x checkout.folded
err_has "hearth: run 'hearth top --help' for help"
refuses 2 "unknown option '--vesion'; did you mean '--version'?" hearth --vesion
refuses 2 "unknown option '-x'" hearth top -x

t "missing and superfluous arguments are told by name"
refuses 2 "'hearth top' needs FILE" hearth top
refuses 2 "'hearth convert' needs IN" hearth convert
refuses 2 "'hearth convert' needs OUT" hearth convert checkout.folded
refuses 2 "'hearth peek' needs FILE" hearth peek main
refuses 2 "has no use for the argument 'more'" hearth version more

t "a wrong value says what was given and what is accepted"
refuses 2 "-n: 'many' is not a whole number" hearth top -n many checkout.folded
refuses 2 "--granularity: 'word' is unknown; write one of function," hearth top --granularity word checkout.folded
refuses 2 "--max-memory: '12 parsecs'" hearth top --max-memory '12 parsecs' checkout.folded
refuses 2 "--max-depth: '9999' is out of range; allowed is 1 to 4096" hearth top --max-depth 9999 checkout.folded
refuses 2 "--rows" hearth top checkout.folded --rows

t "flags, variables, the file and defaults: each wins over the next"
printf 'rows: 2\ncum: true\nmax-depth: 77\n' >hearth.yaml
HEARTH_ROWS=3
export HEARTH_ROWS
run hearth top --config hearth.yaml --print-config -n 4
status_is 0
out_has "rows: 4                              # -n"
run hearth top --config hearth.yaml --print-config
out_has "rows: 3                              # HEARTH_ROWS"
unset HEARTH_ROWS
run hearth top --config hearth.yaml --print-config
out_has "rows: 2                              # hearth.yaml"
out_has "cum: true                            # hearth.yaml"
out_has "max-memory: 2GiB                     # default"
run hearth top --print-config
out_has "rows: 30                             # default"

t "what --print-config prints is a configuration file that means the same"
run hearth top --config hearth.yaml --print-config -n 4 --focus 'json|tls' --max-memory 1GiB
sed 's/ *#.*//' .out >.before
cp .out printed.yaml
run hearth top --config printed.yaml --print-config
sed -e 's/ *#.*//' -e '/^config:/d' .out >.after
sed -i '/^config:/d' .before
same_file .before .after

t "options from a file and from the environment take effect"
run hearth top --config hearth.yaml checkout.folded
status_is 0
out_has "111 more functions"
same "$(hearth top --cum -n 2 checkout.folded)" "$out"
run env HEARTH_CONFIG=hearth.yaml HEARTH_CUM=false "$hearth" top checkout.folded
same "$(hearth top -n 2 checkout.folded)" "$out"

t "a wrong configuration file is told with its line and the nearest key"
printf 'rows: 2\nrwos: 3\n' >wrong.yaml
refuses 1 "wrong.yaml:2: unknown key 'rwos'; did you mean 'rows'?" hearth top --config wrong.yaml checkout.folded
printf 'rows: many\n' >wrong.yaml
run hearth top --config wrong.yaml checkout.folded
[ "$status" != 0 ] || fail "a wrong value was taken"
err_has "wrong.yaml:1: rows: 'many'"
printf 'rows: [1\n' >wrong.yaml
run hearth top --config wrong.yaml checkout.folded
[ "$status" != 0 ] || fail "broken YAML was taken"
err_has "wrong.yaml:"
refuses 1 "nosuch.yaml" hearth top --config nosuch.yaml checkout.folded

t "a wrong variable is told by its name"
refuses 2 "HEARTH_ROWS: 'many' is not a whole number" env HEARTH_ROWS=many "$hearth" top checkout.folded

t "an empty variable counts as absent"
run env HEARTH_ROWS= "$hearth" top --print-config
out_has "rows: 30                             # default"

t "colours only on a terminal"
run hearth top checkout.folded
out_lacks "$escape"
if has_terminal; then
    out=$(on_terminal "'$hearth' top checkout.folded")
    out_has "${escape}["
fi

t "NO_COLOR, --no-color and HEARTH_COLOR=false turn colours off"
if has_terminal; then
    for words in "NO_COLOR=1 '$hearth'" "'$hearth' --no-color" "HEARTH_COLOR=false '$hearth'"; do
        out=$(on_terminal "$words top checkout.folded")
        out_lacks "${escape}["
        out_has "json::skip_plain"
    done
    out=$(on_terminal "NO_COLOR= '$hearth' top checkout.folded")
    out_has "${escape}["
fi

t "binary output is not thrown at a terminal"
if has_terminal; then
    out=$(on_terminal "'$hearth' convert --to pprof checkout.folded - ; echo status \$?")
    out_has "pprof is binary and would garble the terminal"
    out_has "status 2"
fi

t "a reader that has seen enough ends hearth in silence"
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "main;function_%d whose name is rather long 1\n", i }' >many.folded
{ hearth top -n 0 many.folded 2>.err; echo $? >.status; } | head -1 >.out
same "$(cat .out)" "samples/count, 20000 in all"
same "$(cat .err)" ""
same "$(cat .status)" 141

t "where SIGPIPE is ignored, the broken pipe is an error"
(trap '' PIPE && hearth top -n 0 many.folded 2>.err; echo $? >.status) | head -1 >.out
same "$(cat .status)" 1
errout=$(cat .err)
err_has "standard output"

t "output that does not arrive is an error"
hearth top checkout.folded >/dev/full 2>.err
same "$?" 1
errout=$(cat .err)
err_has "writing standard output: No space left on device"
for command in "tree checkout.folded" "inspect checkout.folded" "peek main checkout.folded" "--help" "--version" \
    "convert --to folded checkout.folded -" "convert --to pprof checkout.folded -" "top --json checkout.folded"; do
    # shellcheck disable=SC2086  # words are what is wanted
    hearth $command >/dev/full 2>.err
    same "hearth $command: $?" "hearth $command: 1"
    errout=$(cat .err)
    err_has "standard output"
done

t "a closed standard output is an error and no other file is written into"
hearth top checkout.folded >&- 2>.err
same "$?" 1
[ -s .err ] || fail "nothing was said"
same_file checkout.folded "$root/examples/checkout.folded"

t "error messages show no control characters of a file name"
name=$(printf 'no\033[31msuch')
run hearth top "$name"
status_is 1
case $errout in *"$escape"*) fail "the escape went through: $errout" ;; esac
err_has "no?[31msuch"

finish
