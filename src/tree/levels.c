// SPDX-License-Identifier: Apache-2.0
#include "tree/levels.h"

#include "tree/querycolumns.h"

#include <math.h>

enum { MAX_SLOTS = 1 << 22, MAX_SEEN = 1 << 24 };

void levels_init(struct levels *levels, struct slice type)
{
    *levels = (struct levels){ .type = type };
    map_init(&levels->places, 0);
    hash_set_init(&levels->seen, MAX_SEEN);
}

void levels_done(struct levels *levels)
{
    map_done(&levels->places);
    hash_set_done(&levels->seen);
    VEC_DONE(&levels->slots);
}

static int64_t slot_of(int64_t start_ns)
{
    int64_t slot = start_ns / LEVELS_SLOT_NS;

    return slot - (slot * LEVELS_SLOT_NS > start_ns);
}

static struct levels_slot *find_slot(struct levels *levels, int64_t slot, struct error *err)
{
    uint32_t next = (uint32_t)levels->slots.n, place;
    struct levels_slot *found;

    if (map_add(&levels->places, (uint64_t)slot, next, &place, err) < 0)
        return NULL;
    if (place != next)
        return &levels->slots.items[place];
    found = VEC_PUSH(&levels->slots, MAX_SLOTS, err);
    if (found)
        *found = (struct levels_slot){ 0 };
    return found;
}

int levels_add(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    struct levels *levels = context;
    struct hash128 hash = seriesinfo_hash(series, 0);
    struct querycolumns columns;

    if (querycolumns_find(series, levels->type, &columns, err) < 0)
        return -1;
    if (columns.value == QUERYCOLUMNS_NONE)
        return 0;
    for (uint32_t i = 0; i < windows->n_rows; i++) {
        int64_t slot = slot_of(windows->starts_ns[i]);
        struct levels_slot *found = find_slot(levels, slot, err);
        uint32_t id;
        bool is_new;

        if (!found || hash_set_add(&levels->seen, hash_fold(hash, (uint64_t)slot, 0), &id, &is_new, err) < 0)
            return -1;
        found->n_rows++;
        found->n_series += is_new;
    }
    return 0;
}

double levels_weight(void *context, int64_t start_ns)
{
    const struct levels *levels = context;
    const uint32_t *place = map_find(&levels->places, (uint64_t)slot_of(start_ns));
    const struct levels_slot *slot = place ? &levels->slots.items[*place] : NULL;

    return slot ? (double)slot->n_series / (double)slot->n_rows / (double)levels->slots.n : 0;
}

int64_t levels_round(struct levels_rounding *sums, double average)
{
    int64_t before = sums->rounded;

    sums->exact += average;
    /* Within these bounds differences of two do not overflow. */
    sums->rounded = llround(MAX(MIN(sums->exact, 0x1p62), -0x1p62));
    return sums->rounded - before;
}
