// SPDX-License-Identifier: Apache-2.0
#include "trace/tracekeys.h"
#include "trace/tracestore.h"
#include "trace/tracestore_internal.h"
#include "trace/tracetally.h"

struct counting {
    struct tracestore *store;
    struct tracestore_stats stats;
};

static void count_tally(struct tracestore_stats *stats, const struct tracetally *tally)
{
    if (tally->n_spans == 0)
        return;
    stats->first_ns = stats->n_spans == 0 ? tally->min_start_ns : MIN(stats->first_ns, tally->min_start_ns);
    stats->last_ns = MAX(stats->last_ns, tally->max_start_ns);
    stats->n_spans += tally->n_spans;
}

static int count_closings(struct counting *counting, const struct hourly_view *view, struct error *err)
{
    static const char kind[] = { TRACEKEYS_TALLY };
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;

    if (kv_iterator_new(view->kv, view->block_family, view->snapshot, slice_of(kind, sizeof(kind)), true, &iterator,
                        err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        struct slice value = kv_iterator_value(iterator);
        struct tracetally tally;

        if (tracetally_decode(&value, &tally, err) == 0)
            count_tally(&counting->stats, &tally);
        else
            hourly_note_damage(counting->store->hourly, view, err);
    }
    return kv_iterator_check(iterator, err);
}

/* Keys alone are looked at: starts are those of slots. */
static int count_head(struct counting *counting, const struct hourly_view *view, const struct hourly_head *head,
                      struct error *err)
{
    static const char kind[] = { TRACEKEYS_SPAN };
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct tracetally tally = { 0 };
    struct spanrow_key key;
    struct slice tenant;

    if (kv_iterator_new(view->kv, head->family, view->snapshot, slice_of(kind, sizeof(kind)), true, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        if (tracekeys_parse_row(kv_iterator_key(iterator), &tenant, &key))
            tracetally_add(&tally, &(struct span){ .start_ns = key.slot * SPANROW_SLOT_NS });
    count_tally(&counting->stats, &tally);
    return kv_iterator_check(iterator, err);
}

static int count_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct counting *counting = context;

    if (count_closings(counting, view, err) < 0)
        return -1;
    for (size_t i = 0; i < view->n_heads; i++)
        if (count_head(counting, view, &view->heads[i], err) < 0)
            return -1;
    return 0;
}

int tracestore_stats(struct tracestore *store, struct tracestore_stats *ret_stats, struct error *err)
{
    struct counting counting = { .store = store };
    struct hourly_stats hourly;

    if (hourly_each_day(store->hourly, 0, INT64_MAX, false, count_day, &counting, err) < 0 ||
        hourly_stats(store->hourly, &hourly, err) < 0)
        return error_wrap(err, "counting spans");
    counting.stats.n_days = hourly.n_days;
    counting.stats.disk_bytes = hourly.disk_bytes;
    counting.stats.head_bytes = hourly.head_bytes;
    counting.stats.block_bytes = hourly.block_bytes;
    counting.stats.n_damaged = hourly.n_damaged + atomic_load_explicit(&store->closes.n_damaged, memory_order_relaxed);
    *ret_stats = counting.stats;
    return 0;
}
