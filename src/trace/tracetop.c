// SPDX-License-Identifier: Apache-2.0
#include "trace/tracetop.h"

#include <stdlib.h>

void tracetop_init(struct tracetop *top, enum tracestore_order order, size_t n_wanted, const struct traceplace *after)
{
    *top = (struct tracetop){ .order = order, .n_wanted = n_wanted, .has_after = after != NULL };
    if (after)
        top->after = *after;
    hash_set_init(&top->shown, TRACETOP_MAX_SHOWN);
}

void tracetop_done(struct tracetop *top)
{
    VEC_DONE(&top->places);
    hash_set_done(&top->shown);
}

static struct hash128 hash_of(const struct traceplace *place)
{
    return hash_bytes(slice_of(place->trace_id, sizeof(place->trace_id)), 0);
}

static int note_shown(struct tracetop *top, const struct traceplace *place, struct error *err)
{
    uint32_t id;
    bool is_new;

    if (hash_set_add(&top->shown, hash_of(place), &id, &is_new, err) < 0)
        return err->code == ERR_LIMIT
                   ? error_set(err, ERR_LIMIT, "more than %u traces stand before this page; narrow the range instead",
                               TRACETOP_MAX_SHOWN)
                   : -1;
    return 0;
}

/* Room for so many before the best are chosen among them. */
static size_t capacity_of(const struct tracetop *top)
{
    return top->n_wanted * 4 + 4096;
}

int tracetop_add(struct tracetop *top, const struct traceplace *place, struct error *err)
{
    struct traceplace *last = top->places.n > 0 ? &top->places.items[top->places.n - 1] : NULL;
    struct traceplace *added;

    if (top->has_after && traceplace_compare(top->order, place, &top->after) <= 0)
        return note_shown(top, place, err);
    if (top->has_cut && traceplace_compare(top->order, place, &top->cut) > 0)
        return 0;
    if (last && memcmp(last->trace_id, place->trace_id, sizeof(place->trace_id)) == 0) {
        if (traceplace_compare(top->order, place, last) < 0)
            *last = *place;
        return 0;
    }
    if (top->places.n >= capacity_of(top))
        tracetop_settle(top);
    added = VEC_PUSH(&top->places, capacity_of(top), err);
    if (!added)
        return -1;
    *added = *place;
    return 0;
}

bool tracetop_may_take(const struct tracetop *top, int64_t max_start_ns, int64_t max_duration_ns)
{
    if (!top->has_cut)
        return true;
    if (top->order == TRACESTORE_SLOWEST && max_duration_ns != top->cut.duration_ns)
        return max_duration_ns > top->cut.duration_ns;
    return max_start_ns >= top->cut.start_ns;
}

static int compare_traces(const struct traceplace *a, const struct traceplace *b)
{
    return memcmp(a->trace_id, b->trace_id, sizeof(a->trace_id));
}

static int compare_newest_of_traces(const void *a, const void *b)
{
    int by_trace = compare_traces(a, b);

    return by_trace != 0 ? by_trace : traceplace_compare(TRACESTORE_NEWEST, a, b);
}

static int compare_slowest_of_traces(const void *a, const void *b)
{
    int by_trace = compare_traces(a, b);

    return by_trace != 0 ? by_trace : traceplace_compare(TRACESTORE_SLOWEST, a, b);
}

static int compare_newest(const void *a, const void *b)
{
    return traceplace_compare(TRACESTORE_NEWEST, a, b);
}

static int compare_slowest(const void *a, const void *b)
{
    return traceplace_compare(TRACESTORE_SLOWEST, a, b);
}

void tracetop_settle(struct tracetop *top)
{
    bool is_slowest = top->order == TRACESTORE_SLOWEST;
    struct traceplace *places = top->places.items;
    size_t n = top->places.n, n_kept = 0;

    if (n == 0)
        return;
    qsort(places, n, sizeof(*places), is_slowest ? compare_slowest_of_traces : compare_newest_of_traces);
    for (size_t i = 0; i < n; i++)
        if ((i == 0 || compare_traces(&places[i - 1], &places[i]) != 0) &&
            hash_set_find(&top->shown, hash_of(&places[i])) == HASH_NONE)
            places[n_kept++] = places[i];
    top->places.n = n_kept;
    if (n_kept == 0)
        return;
    qsort(places, n_kept, sizeof(*places), is_slowest ? compare_slowest : compare_newest);
    if (n_kept >= top->n_wanted) {
        top->places.n = top->n_wanted;
        top->cut = places[top->n_wanted - 1];
        top->has_cut = true;
    }
}
