// SPDX-License-Identifier: Apache-2.0
/* What clients ask about the server itself before, or beside, asking for profiles. */
#include "answer/answer_internal.h"
#include "net/rpc.h"
#include "wire/protobuf.h"

#define QUERIER_VERSION 1

void clientcalls_version(struct exchange *exchange)
{
    struct rpc_call call;
    struct buffer out;

    if (rpc_open(exchange, &call) < 0)
        return;
    if (call.codec == RPC_JSON) {
        rpc_answer(exchange, &call, SLICE("{\"QuerierAPI\":\"1\"}"));
        return;
    }
    buffer_init(&out, 0);
    protobuf_put_uint(&out, 1, QUERIER_VERSION);
    rpc_answer(exchange, &call, buffer_slice(&out));
    buffer_done(&out);
}
