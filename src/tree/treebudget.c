// SPDX-License-Identifier: Apache-2.0
#include "tree/treebudget.h"

enum { MAX_ITEMS = UINT32_MAX - 1 };

int treebudget_refuse(size_t limit_bytes, struct error *err)
{
    return error_set(err, ERR_LIMIT,
                     "the sums of this query take more than the %zu MiB that a query may have: ask for less time or "
                     "fewer services, or raise --query-memory",
                     limit_bytes >> 20);
}

/* What may still be taken. */
static size_t room_of(const struct treebudget *budget)
{
    if (!budget->max_bytes)
        return SIZE_MAX;
    return budget->max_bytes - MIN(budget->bytes, budget->max_bytes);
}

int treebudget_take(struct treebudget *budget, size_t bytes, struct error *err)
{
    if (bytes > room_of(budget))
        return treebudget_refuse(budget->limit_bytes, err);
    budget->bytes += bytes;
    return 0;
}

int treebudget_grow(struct treebudget *budget, void **items, size_t *capacity, size_t n, size_t item_bytes,
                    struct error *err)
{
    size_t before = *capacity, room = room_of(budget) / item_bytes;
    size_t max = room > MAX_ITEMS - MIN(before, (size_t)MAX_ITEMS) ? MAX_ITEMS : before + room;

    /* An array may be moved: while it is, both are there. */
    if (n >= max)
        return treebudget_refuse(budget->limit_bytes, err);
    if (vec_grow(items, capacity, n, 1, item_bytes, max, err) < 0)
        return -1;
    budget->bytes += (*capacity - before) * item_bytes;
    return 0;
}
