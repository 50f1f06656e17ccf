#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The two front doors and what they share: ./run, ./check and tools/setup.sh.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# --- ./run ---

t "./run hands its arguments to hearth"
"$root/run" --version >/dev/null 2>&1
run "$root/run" --version
status_is 0
same "$out" "hearth $(cat "$root/VERSION")"
err_empty
run "$root/run" tpo
status_is 2
err_has "did you mean 'top'?"
run "$root/run" top -n 1 "$root/examples/checkout.folded"
same "$out" "$(hearth top -n 1 "$root/examples/checkout.folded")"

t "./run works from anywhere, on files relative to where the caller stands"
printf 'here;we;are 7\n' >relative.folded
run "$root/run" top relative.folded
status_is 0
out_has "are"

t "./run makes nothing when all is made"
touch before
run "$root/run" --version
same "$(cd "$root" && find build/release -newer "$work/before" -type f)" ""
make -sq -C "$root" all || fail "make has something left to do after ./run"

# --- ./check ---

t "./check --help says what it can do and runs nothing"
run "$root/check" --help
status_is 0
for word in --quick --long --record NAME; do out_has "$word"; done
out_lacks "== style"

t "./check refuses unknown options"
refuses 2 "unknown option '--fast' (--quick, --long, --record" "$root/check" --fast

# A small repository around the real ./check: scripts that pass, fail and skip.
mkdir -p house/tools house/tests/e2e house/tests/golden house/src
cp "$root/check" house/
cp "$root/tests/lib.sh" house/tests/
printf '#!/bin/sh\n' >house/tools/setup.sh
printf 'all:\n\t@true\n' >house/Makefile
printf 'base: \n' >house/src/LAYERS
script() { # NAME BODY
    # shellcheck disable=SC2016  # the script expands it
    printf '#!/bin/sh\n. "$(dirname "$0")/../lib.sh"\n%s\nfinish\n' "$2" >"house/tests/e2e/$1.sh"
}
script good 't "one"; same 1 1
t "two"; same 1 1'
script bad 't "right"; same 1 1
t "wrong"; same 1 2'
script missing 't "there"; same 1 1
t "not there"; skip "no such tool"'
script never 't "there"; same 1 1
t "not here"; cannot "no such kernel"'
script dies 't "one"; exit 3'
script record 't "golden"; run echo new; golden page.txt'
check_house() { run env HEARTH="$hearth" "$@"; }
last_line() { tail -n 1 .out; }

t "./check counts tests and ends with one line"
check_house house/check e2e/good
status_is 0
same "$(last_line)" "3 passed, 0 failed, 0 skipped"

t "a failed test fails the run and is shown"
check_house house/check e2e/good e2e/bad
status_is 1
same "$(last_line)" "5 passed, 1 failed, 0 skipped"
out_has "FAIL wrong"
out_has "wanted '2'"

t "a script that dies is a failure"
check_house house/check e2e/dies
status_is 1
same "$(last_line)" "1 passed, 1 failed, 0 skipped"

t "a skip says why, and in CI one that this machine could satisfy is a failure"
check_house env -u CI house/check e2e/missing e2e/never
status_is 0
same "$(last_line)" "4 passed, 0 failed, 2 skipped"
out_has "skip not there: no such tool"
out_has "skip not here: impossible here: no such kernel"
check_house env CI=true house/check e2e/missing e2e/never
status_is 1
same "$(last_line)" "4 passed, 1 failed, 1 skipped"

t "--record writes goldens, without it they are compared"
check_house house/check e2e/record
status_is 1
out_has "differs from tests/golden/page.txt"
check_house house/check --record e2e/record
status_is 0
same "$(cat house/tests/golden/page.txt)" new
check_house house/check e2e/record
status_is 0

# --- tools/setup.sh ---

# A machine of our own making: one package is there, one is not, and apt-get writes down what it is asked.
mkdir -p machine/tools machine/packaging machine/bin
cp "$root/tools/setup.sh" machine/tools/
touch present.h
cat >machine/packaging/debian-packages.txt <<LIST
# comment
build has-file      $work/present.h
build has-command   sh
test  lacks-file    $work/absent.h
test  lacks-command no-such-command-anywhere
LIST
# fake NAME BODY: a command of that machine.
fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"machine/bin/$1"
    chmod +x "machine/bin/$1"
}
fake apt-get "echo \"\$*\" >>'$work/asked'"
fake id 'echo 0'
fake sudo "echo sudo \"\$1\" >>'$work/asked'; exec \"\$@\""
set_up() { run env PATH="$work/machine/bin:$PATH" sh machine/tools/setup.sh "$@"; }

t "nothing is installed when all is there"
set_up build
status_is 0
out_empty
err_empty
is_not_there asked

t "only what is missing is installed, in one go"
set_up build test
status_is 0
same "$(cat asked)" "install -y --no-install-recommends lacks-file lacks-command"
err_has "installing: lacks-file lacks-command"

t "as another user it asks sudo"
: >asked
fake id 'echo 1000'
set_up test
status_is 0
same "$(head -1 asked)" "sudo env"

t "an installation that fails shows why and fails"
fake id 'echo 0'
fake apt-get 'echo "E: Unable to locate package lacks-file"; exit 100'
set_up test
status_is 1
err_has "Unable to locate package lacks-file"
err_has "could not be installed"

t "without apt-get it names the packages"
mkdir bare
for tool in sh dirname; do ln -s "$(command -v "$tool")" "bare/$tool"; done
run env PATH="$work/bare" sh machine/tools/setup.sh test
status_is 1
err_has "lacks-file lacks-command"

finish
