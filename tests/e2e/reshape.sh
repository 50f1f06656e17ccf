#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hearth convert: changing profiles on their way from one file to another.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
printf 'main;app.parse;app.parse;libc.read 3\nmain;app.parse 4\nmain;runtime.gc;libc.read 5\n' >in.folded

# becomes WANTED OPTIONS...: what the folded input becomes.
becomes() {
    wanted=$1
    shift
    run hearth convert "$@" in.folded - --to folded
    status_is 0
    same "$out" "$(printf '%b' "$wanted")"
}

t "--rename replaces what matches, with groups, and adds up what becomes equal"
# shellcheck disable=SC2016  # $1 is a group of the pattern
becomes 'main;runtime.gc;libc.read 5\nmain;x:parse 4\nmain;x:parse;x:parse;libc.read 3' --rename 'app\.(.*)=x:$1'
becomes 'main;y 4\nmain;y;y;z 3\nmain;y;z 5' --rename 'app.*=y' --rename 'runtime.*=y' --rename 'libc.*=z'
refuses 2 "--rename 'x': write PATTERN=REPLACEMENT" hearth convert --rename x in.folded o.folded
refuses 2 "--rename: regular expression '('" hearth convert --rename '(=y' in.folded o.folded

t "--drop takes functions out and keeps every sample"
becomes 'main 4\nmain;libc.read 8' --drop 'app|runtime'

t "--collapse-recursion makes one of a function that calls itself"
becomes 'main;app.parse 4\nmain;app.parse;libc.read 3\nmain;runtime.gc;libc.read 5' --collapse-recursion

t "--invert turns stacks upside down"
becomes 'app.parse;main 4\nlibc.read;app.parse;app.parse;main 3\nlibc.read;runtime.gc;main 5' --invert

t "filters work on the way, too"
becomes 'main;app.parse 4\nmain;app.parse;app.parse;libc.read 3' --focus app
becomes 'main;app.parse 4' --ignore 'libc'

t "--unit converts what can be converted, and says when nothing can"
pprof_of cpu
run hearth convert --unit ms cpu.pb ms.pb.gz
status_is 0
run hearth top --json -n 0 --type cpu/ms ms.pb.gz
status_is 0
in_ms=$(json 'd["total"]')
run hearth top --json -n 0 --type cpu cpu.pb
same "$(json 'd["total"]')" "${in_ms}000000"
refuses 1 "--unit: no value type can be converted to 'parsecs'" hearth convert --unit parsecs cpu.pb o.pb.gz

t "--subtract leaves what cumulative counters gained; a counter that fell is a restart"
encode() { # NAME DELAY: a Go mutex profile with one stack
    python3 - "$1" "$2" <<'PYTHON'
import sys
def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128]); n >>= 7
    return out + bytes([n])
def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value
strings = [b"", b"contentions", b"count", b"delay", b"nanoseconds", b"lock"]
delay = int(sys.argv[2])
profile = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
profile += field(2, field(1, 1) + field(2, delay // 10) + field(2, delay))
profile += field(4, field(1, 1) + field(4, field(1, 1))) + field(5, field(1, 1) + field(2, 5))
profile += b"".join(field(6, text) for text in strings)
open(sys.argv[1], "wb").write(profile)
PYTHON
}
encode older.pb 100
encode newer.pb 250
encode fallen.pb 40
run hearth convert --subtract older.pb newer.pb - --to folded
status_is 0
same "$out" "lock 150"
run hearth convert --subtract older.pb fallen.pb - --to folded
status_is 0
same "$out" "lock 40"
err_has "the process restarted"

finish
