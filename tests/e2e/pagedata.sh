#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a server answers to the page. The unit tests of the page (ui/test) read these very files: a change of an answer is seen
# here, and what it does to the page there.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
# gives NAME PATH PARAMETER...: the answer is tests/golden/NAME.
gives() {
    name=$1 path=$2
    shift 2
    for parameter in "$@"; do
        set -- "$@" --data-urlencode "$parameter"
        shift
    done
    run curl -sS -G --fail-with-body "$url/api/v1/$path" "$@"
    status_is 0
    golden "$name"
}
import() { # VERSION FILE
    run hearth import --data-dir data --label service_name=checkout --label service_version="$1" --time 2026-11-15T10:00:00Z \
        --max-age 36500d "$root/examples/$2"
    status_is 0
}
import 1 checkout.folded
import 2 checkout-next.folded
start_server data --retention 36500d

t "answers that the page's tests read"
before='checkout{service_version=1}' after='checkout{service_version=2}'
gives page-checkout.flame flamegraph "query=$before" type=samples from=2026-11-15T10:00:00Z until=2026-11-15T11:00:00Z \
    format=flame max-nodes=16384 min-share=0%
gives page-checkout-diff.flame diff "baseline=$before" "comparison=$after" type=samples time-range=1h \
    until=2026-11-15T11:00:00Z format=flame max-nodes=16384 min-share=0%
gives page-checkout-diff.json diff "baseline=$before" "comparison=$after" type=samples time-range=1h \
    until=2026-11-15T11:00:00Z scale=totals rows=12
stop_server
finish
