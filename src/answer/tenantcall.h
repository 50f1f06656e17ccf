// SPDX-License-Identifier: Apache-2.0
/* Remote calls about what is kept for a tenant beside its profiles: settings, files to look at. */
#pragma once

#include "answer/answer.h"
#include "answer/rpcmessage.h"
#include "answer/rpcwriter.h"

#define TENANTCALL_NS_PER_MS 1000000

struct tenantcall {
    const struct answer *answer;
    struct slice tenant;
    int64_t now_ns; /* when it came */
    struct arena arena;
    struct rpcwriter writer; /* of the answer */
};

/* The kind of a call: how its request is read, and who writes the answer to it. */
struct tenantcall_procedure {
    const struct rpcmessage *message;
    int (*answer)(struct tenantcall *call, const void *request, struct error *err);
    size_t max_bytes; /* of its work, and of its answer */
};

/* Answers a call, whose routes have a struct answer as their context. */
void tenantcall_serve(struct exchange *exchange, const struct tenantcall_procedure *procedure);
