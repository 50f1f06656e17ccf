#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# profilecli, Pyroscope's own command, against a real server: in each of its protocols, and its canary, which asks every
# API once. The module proxy does not give it away, so it is taken from PROFILECLI or the PATH if it is there. (The client
# that it is made with is in readers.sh.)
#
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"

t "profilecli is there"
profilecli=${PROFILECLI:-$(command -v profilecli)}
if [ ! -x "$profilecli" ]; then
    skip "impossible here: there is no profilecli, and the module proxy does not have it; PROFILECLI=PATH names one"
    stop
fi
start_server
hearth_to "$root/examples/checkout.folded" profile.pb.gz
cli() { run timeout 60 "$profilecli" "$@" --url="$url"; }

t "it finds the server ready"
cli ready
status_is 0

for protocol in connect grpc grpc-web; do
    t "$protocol: what it uploads it finds again"
    cli upload --protocol=$protocol --extra-labels=service_name=cli-$protocol --override-timestamp profile.pb.gz
    status_is 0
    cli query series --protocol=$protocol --query "{service_name=\"cli-$protocol\"}"
    out_has unknown:samples:count::
    cli query profile --protocol=$protocol --profile-type unknown:samples:count:: \
        --query "{service_name=\"cli-$protocol\"}" --output console
    out_has samples/count
    cli query top --protocol=$protocol --profile-type unknown:samples:count::
    out_has 10,000
    cli query label-values-cardinality --protocol=$protocol
    out_has service_name
    cli query go-pgo --protocol=$protocol --query '{}' --output console
    status_is 0
done

t "its canary finds every API well"
"$profilecli" canary-exporter --url="$url" --listen-address=127.0.0.1:0 --query-probe-set=all --test-frequency=15s \
    >canary.log 2>&1 &
started $!
canary=$!
tries=0
until [ "$(grep -c 'probe successful' canary.log)" -ge 32 ] || [ $tries -ge 60 ]; do
    sleep 1
    tries=$((tries + 1))
done
end $canary
run grep 'probe failed' canary.log
out_empty
[ "$(grep -c 'probe successful' canary.log)" -ge 32 ] || fail "$(tail -n 5 canary.log)"
finish
