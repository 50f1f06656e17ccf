// SPDX-License-Identifier: Apache-2.0
#include "trace/traceload.h"
#include "trace/tracestore.h"
#include "trace/tracestore_internal.h"

int tracestore_get(struct tracestore *store, struct slice tenant, const uint8_t trace_id[static SPAN_TRACE_ID_BYTES],
                   int64_t from_ns, int64_t until_ns, const struct tracestore_asker *asker, struct arena *arena,
                   struct tracestore_trace *ret_trace, struct error *err)
{
    AUTO(traceread_done) struct traceread read = { 0 };
    AUTO(traceload_wish_done)
    struct traceload_wish wish = { .from_ns = MAX(from_ns, 0), .until_ns = until_ns == 0 ? INT64_MAX : until_ns };
    struct traceload_how how = { .is_whole = true, .max_spans = TRACESTORE_MAX_SPANS };
    struct span *spans;

    memcpy(wish.trace_id, trace_id, sizeof(wish.trace_id));
    if (traceread_init(&read, store->hourly, tenant, asker, err) < 0)
        return -1;
    how.max_bytes = read.max_bytes;
    if (traceload_run(&read, &wish, 1, &how, arena, err) < 0)
        return error_wrap(err, "reading a trace");
    spans = ARENA_ARRAY(arena, struct span, wish.items.n, err);
    if (!spans)
        return -1;
    for (size_t i = 0; i < wish.items.n; i++)
        spans[i] = *wish.items.items[i].span;
    *ret_trace = (struct tracestore_trace){ .spans = spans, .n = wish.items.n, .is_cut = wish.is_cut };
    return 0;
}
