// SPDX-License-Identifier: Apache-2.0
#include "base/vec.h"
#include "metric/metricread.h"

#include <stdlib.h>

#define NAMES_MAX 100000u

struct listing {
    struct metricstore *store;
    struct slice tenant, service;
    const struct metricstore_asker *asker;
    struct arena *arena;
    struct arena scratch;
    struct hash_set keys;
    VEC(struct metricstore_name) names; /* in the order of their keys */
    VEC(uint32_t) today;                /* how many series each has on the day being read */
};

static int count_series(void *context, uint64_t number UNUSED, const struct metric_series *series, struct error *err)
{
    struct listing *listing = context;
    struct hash128 key = hash_bytes(series->name, (uint64_t)series->kind << 1 | series->is_monotonic),
                   unit = hash_bytes(series->unit, 0);
    uint32_t id;
    bool is_new;

    if (hash_set_add(&listing->keys, hash_fold(key, unit.a, unit.b), &id, &is_new, err) < 0)
        return -1;
    if (is_new) {
        struct metricstore_name *name = VEC_PUSH(&listing->names, NAMES_MAX, err);
        struct slice copy = name ? arena_copy(listing->arena, series->name, err) : SLICE("");

        if (!name || !copy.ptr || !VEC_PUSH(&listing->today, NAMES_MAX, err))
            return -1;
        *name = (struct metricstore_name){ .name = copy, .kind = series->kind, .is_monotonic = series->is_monotonic };
        name->unit = arena_copy(listing->arena, series->unit, err);
        if (!name->unit.ptr)
            return -1;
    }
    listing->today.items[id]++;
    return 0;
}

static int list_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct listing *listing = context;
    const struct metricstore_asker *asker = listing->asker;

    if (asker && asker->check && asker->check(asker->context, err) < 0)
        return -1;
    if (metricread_each_series(listing->store, view, listing->tenant, listing->service, &listing->scratch, count_series,
                               listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing->names.n; i++) {
        listing->names.items[i].n_series = MAX(listing->names.items[i].n_series, listing->today.items[i]);
        listing->today.items[i] = 0;
    }
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct metricstore_name *x = a, *y = b;
    int order = slice_compare(x->name, y->name);

    order = order ? order : slice_compare(x->unit, y->unit);
    order = order ? order : x->kind - y->kind;
    return order ? order : x->is_monotonic - y->is_monotonic;
}

static int take_names(struct listing *listing, struct metricstore_names *ret_names, struct error *err)
{
    size_t n = listing->names.n;
    struct metricstore_name *items = ARENA_ARRAY(listing->arena, struct metricstore_name, n, err);

    if (!items)
        return -1;
    if (n > 0) {
        memcpy(items, listing->names.items, n * sizeof(*items));
        qsort(items, n, sizeof(*items), compare_names);
    }
    *ret_names = (struct metricstore_names){ items, n };
    return 0;
}

int metricstore_list_names(struct metricstore *store, struct slice tenant, struct slice service, int64_t from_ns,
                           int64_t until_ns, const struct metricstore_asker *asker, struct arena *arena,
                           struct metricstore_names *ret_names, struct error *err)
{
    struct listing listing = { .store = store, .tenant = tenant, .service = service, .asker = asker, .arena = arena };
    int result;

    if (metricstore_check_tenant(tenant, err) < 0)
        return -1;
    hash_set_init(&listing.keys, NAMES_MAX);
    arena_init(&listing.scratch, 0);
    result = hourly_each_day(store->hourly, from_ns, until_ns, false, list_day, &listing, err);
    if (result == 0)
        result = take_names(&listing, ret_names, err);
    hash_set_done(&listing.keys);
    arena_done(&listing.scratch);
    VEC_DONE(&listing.names);
    VEC_DONE(&listing.today);
    return result;
}
