// SPDX-License-Identifier: Apache-2.0
#include "metric/knownseries.h"

#include "base/memory.h"

void knownseries_init(struct knownseries *known)
{
    *known = (struct knownseries){ .n = 0 };
}

void knownseries_done(struct knownseries *known)
{
    knownseries_clear(known);
}

void knownseries_clear(struct knownseries *known)
{
    while (known->n > 0)
        knownseries_forget(known, &known->sets[known->n - 1]);
}

void knownseries_forget(struct knownseries *known, struct knownseries_set *set)
{
    map_done(&set->numbers);
    memory_free((char *)(uintptr_t)set->tenant.ptr);
    *set = known->sets[--known->n];
}

struct knownseries_set *knownseries_find(struct knownseries *known, int64_t day_ns, struct slice tenant)
{
    for (uint32_t i = 0; i < known->n; i++)
        if (known->sets[i].day_ns == day_ns && slice_equal(known->sets[i].tenant, tenant)) {
            known->sets[i].used = ++known->clock;
            return &known->sets[i];
        }
    return NULL;
}

static bool is_full(const struct knownseries *known)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < known->n; i++)
        n += known->sets[i].numbers.n;
    return known->n == KNOWNSERIES_MAX_SETS || n > KNOWNSERIES_MAX_SERIES;
}

static void forget_oldest(struct knownseries *known)
{
    struct knownseries_set *oldest = &known->sets[0];

    for (uint32_t i = 1; i < known->n; i++)
        if (known->sets[i].used < oldest->used)
            oldest = &known->sets[i];
    knownseries_forget(known, oldest);
}

int knownseries_make(struct knownseries *known, int64_t day_ns, struct slice tenant, uint32_t max_series,
                     struct knownseries_set **ret_set, struct error *err)
{
    char *copy = memory_alloc(tenant.len, err);
    struct knownseries_set *set;

    if (!copy)
        return -1;
    memcpy(copy, tenant.ptr, tenant.len);
    while (known->n > 0 && is_full(known))
        forget_oldest(known);
    set = &known->sets[known->n++];
    *set = (struct knownseries_set){ .day_ns = day_ns, .tenant = slice_of(copy, tenant.len), .used = ++known->clock };
    map_init(&set->numbers, max_series);
    *ret_set = set;
    return 0;
}

int knownseries_add(struct knownseries_set *set, uint64_t number, struct error *err)
{
    return map_set(&set->numbers, number, 0, err);
}
