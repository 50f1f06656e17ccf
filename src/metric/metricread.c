// SPDX-License-Identifier: Apache-2.0
#include "metric/metricread.h"

#include "metric/metricchunk.h"
#include "metric/metricseries.h"

#include <stdlib.h>

/* --- the index --- */

/* Goes on after damage, which is noted. */
static int pass_damage(struct metricstore *store, const struct hourly_view *view, struct error *err)
{
    if (err->code != ERR_CORRUPT)
        return -1;
    hourly_note_damage(store->hourly, view, err);
    return 0;
}

int metricread_each_series(struct metricstore *store, const struct hourly_view *view, struct slice tenant,
                           struct slice service, struct arena *scratch,
                           int (*visit)(void *context, uint64_t number, const struct metric_series *series,
                                        struct error *err),
                           void *context, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct metricrow_key prefix = metricrow_series_of(tenant);

    if (service.len)
        metricrow_key_add(&prefix, metricseries_service_number(service));
    if (kv_iterator_new(view->kv, KV_DEFAULT, view->snapshot, metricrow_key_slice(&prefix), false, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        uint64_t service_number, number;
        struct metric_series series;
        struct slice before;

        arena_reset(scratch);
        if (!metricrow_key_parse(kv_iterator_key(iterator), &before, &service_number, &number))
            continue;
        if (metricseries_decode(kv_iterator_value(iterator), scratch, &series, err) < 0) {
            if (pass_damage(store, view, err) < 0)
                return -1;
            continue;
        }
        if (service.len && !slice_equal(metricseries_label(&series, METRICSERIES_SERVICE), service))
            continue;
        if (visit(context, number, &series, err) < 0)
            return -1;
    }
    return kv_iterator_check(iterator, err);
}

/* --- hours --- */

static int open_source(struct metricread_hour *hour, uint32_t family, const struct metricrow_key *prefix, bool is_head,
                       struct error *err)
{
    struct metricread_source *source = &hour->sources[hour->n];

    *source = (struct metricread_source){ .prefix = *prefix, .is_head = is_head };
    if (kv_iterator_new_sparse(hour->view->kv, family, hour->view->snapshot, metricrow_key_slice(prefix),
                               &source->iterator, err) < 0)
        return -1;
    hour->n++;
    return 0;
}

int metricread_hour_open(struct metricread_hour *hour, struct metricstore *store, const struct hourly_view *view,
                         uint8_t number, struct slice tenant, struct arena *arena, struct error *err)
{
    struct metricrow_key rows = metricrow_rows_of(tenant);
    size_t n = 0;

    *hour = (struct metricread_hour){ .store = store, .view = view };
    for (size_t i = 0; i < view->n_closings; i++)
        n += view->closings[i].hour == number;
    for (size_t i = 0; i < view->n_heads; i++)
        n += view->heads[i].hour == number;
    hour->sources = ARENA_ARRAY(arena, struct metricread_source, n, err);
    if (!hour->sources)
        return -1;
    for (size_t i = 0; i < view->n_closings; i++) {
        struct metricrow_key chunks = metricrow_chunks_of(number, view->closings[i].number, tenant);

        if (view->closings[i].hour == number && open_source(hour, view->block_family, &chunks, false, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < view->n_heads; i++)
        if (view->heads[i].hour == number && open_source(hour, view->heads[i].family, &rows, true, err) < 0)
            return -1;
    return 0;
}

void metricread_hour_close(struct metricread_hour *hour)
{
    for (size_t i = 0; i < hour->n; i++)
        kv_iterator_free(hour->sources[i].iterator);
    hour->n = 0;
}

/* --- points --- */

struct collected {
    struct arena *arena;
    struct metric_point *items;
    size_t n, capacity;
    int64_t from_ns, until_ns;
};

static int collect(struct collected *collected, const struct metric_point *point, struct error *err)
{
    if (point->time_ns < collected->from_ns || point->time_ns >= collected->until_ns)
        return 0;
    if (collected->n == collected->capacity) {
        size_t capacity = collected->capacity ? 2 * collected->capacity : 512;
        struct metric_point *items = arena_resize(collected->arena, collected->items,
                                                  collected->capacity * sizeof(*items), capacity * sizeof(*items), err);

        if (!items)
            return -1;
        collected->items = items;
        collected->capacity = capacity;
    }
    collected->items[collected->n++] = *point;
    return 0;
}

static int collect_row(struct collected *collected, uint64_t time_ms, struct slice value, struct error *err)
{
    struct metric_point point;

    if (metricrow_decode(value, time_ms, collected->arena, &point, err) < 0)
        return -1;
    return collect(collected, &point, err);
}

static int collect_chunk(struct collected *collected, struct slice value, struct error *err)
{
    struct metric_point *points;
    size_t n;

    if (metricchunk_decode(value, collected->arena, &points, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (collect(collected, &points[i], err) < 0)
            return -1;
    return 0;
}

static int read_source(struct metricread_hour *hour, struct metricread_source *source, uint64_t series,
                       struct collected *collected, struct error *err)
{
    struct metricrow_key key = source->prefix;
    struct slice beginning, before;
    uint64_t number, time_ms;

    metricrow_key_add(&key, series);
    beginning = metricrow_key_slice(&key);
    for (kv_iterator_seek(source->iterator, beginning); kv_iterator_is_valid(source->iterator);
         kv_iterator_next(source->iterator)) {
        struct slice found = kv_iterator_key(source->iterator), value = kv_iterator_value(source->iterator);
        int result;

        if (!slice_starts_with(found, beginning) || !metricrow_key_parse(found, &before, &number, &time_ms))
            break;
        result = source->is_head ? collect_row(collected, time_ms, value, err) : collect_chunk(collected, value, err);
        if (result < 0 && pass_damage(hour->store, hour->view, err) < 0)
            return -1;
    }
    return kv_iterator_check(source->iterator, err);
}

static int compare_times(const void *a, const void *b)
{
    const struct metric_point *x = a, *y = b;

    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* By time, each time once: the same point may have come again after its head was closed. */
static void sort_points(struct collected *collected)
{
    size_t n = 0;

    for (size_t i = 1; i < collected->n; i++)
        if (collected->items[i].time_ns < collected->items[i - 1].time_ns) {
            qsort(collected->items, collected->n, sizeof(*collected->items), compare_times);
            break;
        }
    for (size_t i = 0; i < collected->n; i++)
        if (n == 0 || collected->items[i].time_ns != collected->items[n - 1].time_ns)
            collected->items[n++] = collected->items[i];
    collected->n = n;
}

int metricread_points(struct metricread_hour *hour, uint64_t series, int64_t from_ns, int64_t until_ns,
                      struct arena *arena, struct metric_point **ret_points, size_t *ret_n, struct error *err)
{
    struct collected collected = { .arena = arena, .from_ns = from_ns, .until_ns = until_ns };

    for (size_t i = 0; i < hour->n; i++)
        if (read_source(hour, &hour->sources[i], series, &collected, err) < 0)
            return -1;
    sort_points(&collected);
    *ret_points = collected.items;
    *ret_n = collected.n;
    return 0;
}
