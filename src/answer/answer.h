// SPDX-License-Identifier: Apache-2.0
/* Answering questions over HTTP as Pyroscope's server does, so that its clients need no other: querier.v1, /render and
 * their like. The rows of answer_routes are mounted by the server, with a struct answer as their context.
 *
 * A1  Parameters, defaults, arithmetic and statuses are Pyroscope's (docs/guide/pyroscope.md names every difference).
 * A2  A query whose asker has gone is cancelled; one that takes longer than timeout_ns ends with 504. */
#pragma once

#include "net/route.h"
#include "query/engine.h"

struct answer {
    struct store *store; /* borrowed, as the next two are */
    struct engine *engine;
    struct settings *settings;
    struct adhocfiles *adhocfiles; /* profiles that are uploaded to be looked at */
    bool is_multi_tenant;
    int64_t timeout_ns; /* of a query; 0 = none */
};

extern const struct route_table answer_routes;

/* Whose data a request is about: from the header X-Scope-OrgID if there are several tenants. False: it is answered. */
MUST_CHECK bool answer_tenant(struct exchange *exchange, bool is_multi_tenant, struct slice *ret_tenant);

/* What every query of a request has: the tenant, the deadline, and that it ends when the asker has gone. False: it is
 * answered. */
MUST_CHECK bool answer_begin(struct exchange *exchange, const struct answer *answer, struct query *ret_query);
