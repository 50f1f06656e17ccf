// SPDX-License-Identifier: Apache-2.0
/* Filling a catalog from a store. The index of a day says which services its series have. Only where there are series of
 * other_services are rows read, and theirs alone: they know the services. */
#include "query/querycatalog.h"

#include "base/vec.h"
#include "query/rowlabels.h"

#include <stdlib.h>

enum { MAX_LABEL_BYTES = 64 << 20 };

/* A type of a service. */
struct entry {
    uint32_t service; /* place in services */
    struct querycatalog_type type;
};

struct loading {
    const struct store_query *query;
    struct arena *arena;
    struct rowlabels *labels;
    bool has_others;
    struct hash_set services_seen, entries_seen, pairs_seen;
    VEC(struct slice) services;
    VEC(struct entry) entries;
    struct buffer text;
};

static int find_service(struct loading *loading, struct slice name, uint32_t *ret_place, struct error *err)
{
    struct slice *slot;
    bool is_new;

    if (hash_set_add(&loading->services_seen, hash_bytes(name, 0), ret_place, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    slot = VEC_PUSH(&loading->services, UINT32_MAX, err);
    if (!slot)
        return -1;
    *slot = arena_copy(loading->arena, name, err);
    return slot->ptr ? 0 : -1;
}

static int count_type(struct loading *loading, uint32_t service, struct slice profile_type, struct error *err)
{
    struct hash128 hash = hash_fold(hash_bytes(profile_type, 0), service, 0);
    struct entry *entry;
    uint32_t place;
    bool is_new;

    if (hash_set_add(&loading->entries_seen, hash, &place, &is_new, err) < 0)
        return -1;
    if (is_new) {
        entry = VEC_PUSH(&loading->entries, UINT32_MAX, err);
        if (!entry)
            return -1;
        entry->service = service;
        entry->type.profile_type = arena_copy(loading->arena, profile_type, err);
        if (!entry->type.profile_type.ptr)
            return -1;
    }
    loading->entries.items[place].type.n_series++;
    return 0;
}

/* A series has the service: counts its types, once each. */
static int add_service(struct loading *loading, const struct seriesinfo *series, struct slice name, struct error *err)
{
    uint32_t service, id;
    bool is_new;

    if (find_service(loading, name, &service, err) < 0)
        return -1;
    for (uint32_t i = 0; i < series->n_types; i++) {
        struct hash128 hash;

        buffer_clear(&loading->text);
        seriesinfo_profile_type(series, i, &loading->text);
        if (buffer_check(&loading->text, err) < 0)
            return -1;
        /* Two types of a series may be called alike. */
        hash = hash_fold(seriesinfo_hash(series, service), hash_bytes64(buffer_slice(&loading->text), 0), service);
        if (hash_set_add(&loading->pairs_seen, hash, &id, &is_new, err) < 0 ||
            (is_new && count_type(loading, service, buffer_slice(&loading->text), err) < 0))
            return -1;
    }
    return 0;
}

static bool has_other_services(const struct seriesinfo *series)
{
    return slice_is(seriesinfo_label(series, SLICE(SERIES_SERVICE_LABEL)), LABELRULES_OTHER_SERVICES);
}

static int take_series(void *context, const struct seriesinfo *series, struct error *err)
{
    struct loading *loading = context;

    if (!has_other_services(series))
        return add_service(loading, series, seriesinfo_label(series, SLICE(SERIES_SERVICE_LABEL)), err);
    loading->has_others = true;
    return 0;
}

/* --- rows --- */

static bool wants_others(void *context, const struct seriesinfo *series)
{
    const struct store_query *query = ((const struct loading *)context)->query;

    return has_other_services(series) && (!query->wants || query->wants(query->wants_context, series));
}

static int take_names(void *context, struct names *names, struct error *err)
{
    return rowlabels_names(((struct loading *)context)->labels, names, err);
}

static int take_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct loading *loading = context;
    uint32_t own, service, last = 0;

    if (rowlabels_of_series(loading->labels, series, &own, err) < 0 ||
        rowlabels_overlay(loading->labels, row->label_set, &own, err) < 0)
        return -1;
    for (uint32_t i = 0; i < MAX(row->n_samples, 1); i++) {
        service = own;
        if (row->n_samples && row->label_sets &&
            rowlabels_overlay(loading->labels, row->label_sets[i], &service, err) < 0)
            return -1;
        if (service != last && add_service(loading, series, rowlabels_text(loading->labels, service), err) < 0)
            return -1;
        last = service;
    }
    return 0;
}

static int read_rows(struct loading *loading, struct store *store, struct error *err)
{
    struct slice name = SLICE(SERIES_SERVICE_LABEL);
    struct store_query others = *loading->query;

    others.wants = wants_others;
    others.wants_context = loading;
    if (rowlabels_new(&name, 1, MAX_LABEL_BYTES, &loading->labels, err) < 0)
        return -1;
    return store_scan(store, &others, &(struct store_sink){ loading, take_names, take_row }, err);
}

/* --- the catalog --- */

static int by_service(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->service != y->service)
        return x->service < y->service ? -1 : 1;
    return slice_compare(x->type.profile_type, y->type.profile_type);
}

static int by_name(const void *a, const void *b)
{
    return slice_compare(((const struct querycatalog_service *)a)->name,
                         ((const struct querycatalog_service *)b)->name);
}

static int make_catalog(struct loading *loading, struct querycatalog *ret_catalog, struct error *err)
{
    struct querycatalog_service *services =
        arena_alloc_zero(loading->arena, loading->services.n * sizeof(struct querycatalog_service), err);
    struct querycatalog_type *types =
        services ? ARENA_ARRAY(loading->arena, struct querycatalog_type, loading->entries.n, err) : NULL;

    if (!types)
        return -1;
    if (loading->entries.n)
        qsort(loading->entries.items, loading->entries.n, sizeof(*loading->entries.items), by_service);
    for (size_t i = 0; i < loading->services.n; i++)
        services[i].name = loading->services.items[i];
    for (size_t i = 0; i < loading->entries.n; i++) {
        struct querycatalog_service *service = &services[loading->entries.items[i].service];

        types[i] = loading->entries.items[i].type;
        if (!service->n_types++)
            service->types = &types[i];
    }
    if (loading->services.n)
        qsort(services, loading->services.n, sizeof(*services), by_name);
    *ret_catalog = (struct querycatalog){ .services = services,
                                          .n_services = (uint32_t)loading->services.n,
                                          .is_of_all_time =
                                              loading->query->from_ns <= 0 && loading->query->until_ns == INT64_MAX };
    return 0;
}

int querycatalog_load(struct store *store, const struct store_query *query, struct arena *arena,
                      struct querycatalog *ret_catalog, struct error *err)
{
    struct loading loading = { .query = query, .arena = arena };
    int result;

    hash_set_init(&loading.services_seen, 0);
    hash_set_init(&loading.entries_seen, 0);
    hash_set_init(&loading.pairs_seen, 0);
    buffer_init(&loading.text, 0);
    result = store_each_series(store, query, take_series, &loading, err);
    if (!result && loading.has_others)
        result = read_rows(&loading, store, err);
    if (!result)
        result = make_catalog(&loading, ret_catalog, err);
    rowlabels_free(loading.labels);
    hash_set_done(&loading.services_seen);
    hash_set_done(&loading.entries_seen);
    hash_set_done(&loading.pairs_seen);
    VEC_DONE(&loading.services);
    VEC_DONE(&loading.entries);
    buffer_done(&loading.text);
    return result;
}
