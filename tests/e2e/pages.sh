#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What README and guide show is what the commands print.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

t "README.md and the guide show what really comes out"
run python3 "$root/tests/e2e/check_pages.py" "$hearth" "$root" README.md docs/guide/files.md docs/guide/store.md \
    docs/guide/query.md
status_is 0
[ "$status" = 0 ] || fail "$out"

finish
