#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# README.md, followed word for word.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

t "every command of the README works, and prints what it shows"
if ! unshare -n true 2>/dev/null; then
    skip "impossible here: a network of its own is needed, and unshare -n is not allowed"
    finish
    exit
fi
printf '#!/bin/sh\nexec "%s/run" "$@"\n' "$root" >run
chmod +x run
ln -s "$root/examples" examples
mkdir -p build/release
ln -s "$hearth" build/release/hearth
hearth convert examples/checkout.folded cpu.pb.gz
PATH=$work/build/release:$PATH RUN_DATA=$work/data run unshare -n "$python" "$root/tests/e2e/follow_readme.py" "$root/README.md"
[ "$status" = 0 ] || fail "$out" "$errout"
finish
