// SPDX-License-Identifier: Apache-2.0
#include "trace/tracemerge.h"

#include <stdlib.h>

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int tracemerge_compare(const struct span *a, const struct span *b)
{
    int order = memcmp(a->trace_id, b->trace_id, sizeof(a->trace_id));

    if (order == 0)
        order = compare_numbers(a->start_ns, b->start_ns);
    if (order == 0)
        order = memcmp(a->span_id, b->span_id, sizeof(a->span_id));
    if (order == 0)
        order = compare_numbers(a->kind, b->kind);
    if (order == 0)
        order = compare_numbers(a->duration_ns, b->duration_ns);
    if (order == 0)
        order = compare_numbers(a->status, b->status);
    if (order == 0)
        order = memcmp(a->parent_id, b->parent_id, sizeof(a->parent_id));
    return order != 0 ? order : slice_compare(a->name, b->name);
}

static int compare_items(const void *a, const void *b)
{
    return tracemerge_compare(((const struct tracemerge_item *)a)->span, ((const struct tracemerge_item *)b)->span);
}

size_t tracemerge_sort(struct tracemerge_item *items, size_t n)
{
    size_t n_kept = 0;

    if (n == 0)
        return 0;
    qsort(items, n, sizeof(*items), compare_items);
    for (size_t i = 0; i < n; i++)
        if (n_kept > 0 && tracemerge_compare(items[n_kept - 1].span, items[i].span) == 0)
            items[n_kept - 1].is_taken |= items[i].is_taken;
        else
            items[n_kept++] = items[i];
    return n_kept;
}
