// SPDX-License-Identifier: Apache-2.0
#include "join/operationspans.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

/* Of one span at most: half as many again are held while they are read, and then the set of ids while it grows. */
#define COST_BYTES (sizeof(struct operationspan) * 3 / 2 + 48)

struct gathering {
    struct operationspans spans;
    size_t max;
};

static int by_id(const struct operationspan *a, const struct operationspan *b)
{
    return memcmp(a->id, b->id, SPAN_ID_BYTES);
}

static int newest_first(const void *a, const void *b)
{
    const struct operationspan *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns > y->start_ns ? -1 : 1;
    return by_id(x, y);
}

static int slowest_first(const void *a, const void *b)
{
    const struct operationspan *x = a, *y = b;

    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return newest_first(a, b);
}

/* O1. Called when there are half as many again as may be: so each span is sorted a few times at most. */
static void leave_newest(struct gathering *gathering)
{
    if (gathering->spans.n <= gathering->max)
        return;
    qsort(gathering->spans.items, gathering->spans.n, sizeof(*gathering->spans.items), newest_first);
    gathering->spans.n = gathering->max;
    gathering->spans.is_cut = true;
}

static int add_span(void *context, const struct span *span, struct error *err)
{
    struct gathering *gathering = context;
    size_t most = gathering->max + gathering->max / 2 + 1;
    struct operationspan *added;

    if (gathering->spans.n == most)
        leave_newest(gathering);
    added = VEC_PUSH(&gathering->spans, most, err);
    if (!added)
        return -1;
    memcpy(added->id, span->span_id, SPAN_ID_BYTES);
    added->start_ns = span->start_ns;
    added->duration_ns = span->duration_ns;
    return 0;
}

/* Two at least: fewer cannot be compared. */
static size_t max_of(const struct operationspans_query *query)
{
    size_t n_fit = tracestore_asker_bytes(&query->asker) / 3 / COST_BYTES;

    return MAX(MIN(n_fit, (size_t)(query->max ? query->max : OPERATIONSPANS_MAX)), (size_t)2);
}

int operationspans_read(const struct operationspans_query *query, struct operationspans *ret_spans, struct error *err)
{
    struct gathering gathering = { .max = max_of(query) };
    struct tracestore_filter filter = {
        .from_ns = query->from_ns, .until_ns = query->until_ns, .service = query->service, .operation = query->operation
    };

    if (tracestore_each(query->traces, query->tenant, &filter, 0, &query->asker, add_span, &gathering, err) < 0) {
        operationspans_done(&gathering.spans);
        return -1;
    }
    leave_newest(&gathering);
    *ret_spans = gathering.spans;
    return 0;
}

void operationspans_done(struct operationspans *spans)
{
    VEC_DONE(spans);
}

size_t operationspans_split(struct operationspans *spans, double share)
{
    size_t n_slow;

    ASSERT(share > 0 && share < 1);
    if (spans->n == 0)
        return 0;
    qsort(spans->items, spans->n, sizeof(*spans->items), slowest_first);
    /* Not more than the share says, whatever the last bit of the product: 5 % of 19 would be none, of 20 it is one. */
    n_slow = (size_t)floor((double)spans->n * share + 1e-9);
    return MAX(MIN(n_slow, spans->n - 1), 1u);
}

int operationspans_ids(const struct operationspans *spans, size_t from, size_t until, struct spanids *ids,
                       struct error *err)
{
    for (size_t i = from; i < until; i++)
        if (spanids_add(ids, spans->items[i].id, err) < 0)
            return -1;
    return 0;
}
