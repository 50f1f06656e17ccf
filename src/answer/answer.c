// SPDX-License-Identifier: Apache-2.0
#include "answer/answer.h"

bool answer_tenant(struct exchange *exchange, bool is_multi_tenant, struct slice *ret_tenant)
{
    struct slice given = http_header(&exchange->request.headers, "x-scope-orgid");
    struct error err;

    *ret_tenant = SLICE(STORE_TENANT_DEFAULT);
    if (!is_multi_tenant)
        return true;
    if (given.len == 0) {
        exchange_fail_with(exchange, 401, "no org id");
        return false;
    }
    if (slice_find_byte(given, '|') >= 0) {
        exchange_fail_with(
            exchange, 400,
            "X-Scope-OrgID '%.*s' names several tenants; a request here is about one: ask for each of them",
            SLICE_ARG(slice_sub(given, 0, 200)));
        return false;
    }
    if (store_check_tenant(given, &err) < 0) {
        exchange_fail_with(exchange, 400, "X-Scope-OrgID: %s", err.text);
        return false;
    }
    *ret_tenant = given;
    return true;
}

bool answer_begin(struct exchange *exchange, const struct answer *answer, struct query *ret_query)
{
    struct query query = { .is_cancelled = &exchange->is_gone };

    if (!answer_tenant(exchange, answer->is_multi_tenant, &query.tenant))
        return false;
    if (answer->timeout_ns && __builtin_add_overflow(clock_mono_ns(), answer->timeout_ns, &query.deadline_mono_ns))
        query.deadline_mono_ns = 0;
    *ret_query = query;
    return true;
}
