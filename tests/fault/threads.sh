#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writers and readers together, with the sanitizers watching. Readers compare all they read with what was acknowledged
# before, while hours close, days go, and things are deleted and backed up.
#
#   tests/fault/threads.sh [long | SECONDS]
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
seconds=${1:-12}
[ "$seconds" != long ] || seconds=240
export TSAN_OPTIONS="suppressions=$root/tests/fault/tsan.supp history_size=4 halt_on_error=1"

for variant in asan tsan; do
    for background in "" --background; do
        t "$variant finds nothing in three writers and two readers ${background:+with a background thread}"
        rm -rf data ledger backups
        # shellcheck disable=SC2086
        run timeout -s KILL $((seconds + 300)) "$root/build/$variant/fault/storm" write data ledger --threads 3 \
            --readers 2 --step 20s --seconds "${seconds}s" --backups backups $background
        status_is 0
        echo "$variant: $out"
        check_holds "$variant" data ledger
    done
done

finish
