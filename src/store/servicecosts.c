// SPDX-License-Identifier: Apache-2.0
#include "store/servicecosts.h"

#include <stdlib.h>

void servicecosts_init(struct servicecosts *costs)
{
    *costs = (struct servicecosts){ .others.bytes = 0 };
    hash_set_init(&costs->hashes, SERVICECOSTS_MAX);
    arena_init(&costs->names, 0);
}

void servicecosts_done(struct servicecosts *costs)
{
    VEC_DONE(&costs->items);
    hash_set_done(&costs->hashes);
    arena_done(&costs->names);
}

void servicecost_add(struct servicecost *sum, const struct servicecost *part)
{
    sum->bytes += part->bytes;
    sum->n_rows += part->n_rows;
    sum->n_samples += part->n_samples;
    if (part->first_ns && (!sum->first_ns || part->first_ns < sum->first_ns))
        sum->first_ns = part->first_ns;
    if (part->last_ns > sum->last_ns)
        sum->last_ns = part->last_ns;
}

static struct hash128 hash_of(const struct servicecost *cost)
{
    struct hash128 service = hash_bytes(cost->service, 0);

    return hash_fold(hash_bytes(cost->tenant, 0), service.a, service.b);
}

/* A service that is not known yet. */
static int add_new(struct servicecosts *costs, struct hash128 hash, const struct servicecost *part, struct error *err)
{
    struct servicecost cost = *part;
    uint32_t id;
    bool is_new;

    cost.tenant = arena_copy(&costs->names, part->tenant, err);
    if (cost.tenant.ptr)
        cost.service = arena_copy(&costs->names, part->service, err);
    if (!cost.tenant.ptr || !cost.service.ptr || VEC_RESERVE(&costs->items, 1, SERVICECOSTS_MAX, err) < 0 ||
        hash_set_add(&costs->hashes, hash, &id, &is_new, err) < 0)
        return -1;
    costs->items.items[costs->items.n++] = cost;
    return 0;
}

int servicecosts_add(struct servicecosts *costs, const struct servicecost *part, struct error *err)
{
    struct hash128 hash = hash_of(part);
    uint32_t id = hash_set_find(&costs->hashes, hash);

    if (id == HASH_NONE && costs->items.n < SERVICECOSTS_MAX)
        return add_new(costs, hash, part, err);
    servicecost_add(id == HASH_NONE ? &costs->others : &costs->items.items[id], part);
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct servicecost *x = a, *y = b;
    int by_tenant;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    by_tenant = slice_compare(x->tenant, y->tenant);
    return by_tenant ? by_tenant : slice_compare(x->service, y->service);
}

void servicecosts_sort(struct servicecosts *costs)
{
    if (costs->items.n > 0)
        qsort(costs->items.items, costs->items.n, sizeof(*costs->items.items), compare);
}
