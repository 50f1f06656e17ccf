// SPDX-License-Identifier: Apache-2.0
#include "answer/tenantcall.h"

static int run(struct tenantcall *call, const struct rpc_call *rpc, const struct tenantcall_procedure *procedure,
               struct buffer *out, struct error *err)
{
    void *request;

    if (rpcmessage_read_call(procedure->message, rpc, &call->arena, &request, err) < 0)
        return -1;
    rpcwriter_init(&call->writer, rpc->codec, out);
    if (procedure->answer(call, request, err) < 0)
        return -1;
    rpcwriter_done(&call->writer);
    return buffer_check(out, err);
}

void tenantcall_serve(struct exchange *exchange, const struct tenantcall_procedure *procedure)
{
    struct tenantcall call = { .answer = exchange->context, .now_ns = exchange->request.received_ns };
    AUTO(buffer_done) struct buffer out;
    struct rpc_call rpc;
    struct error err;

    buffer_init(&out, procedure->max_bytes);
    if (rpc_open(exchange, &rpc) < 0 || !answer_tenant(exchange, call.answer->is_multi_tenant, &call.tenant))
        return;
    arena_init(&call.arena, procedure->max_bytes);
    if (run(&call, &rpc, procedure, &out, &err) < 0)
        rpc_fail(exchange, &rpc, rpc_code_from_error(err.code), err.text, 0);
    else
        rpc_answer(exchange, &rpc, buffer_slice(&out));
    arena_done(&call.arena);
}
