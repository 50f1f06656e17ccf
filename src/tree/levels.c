// SPDX-License-Identifier: Apache-2.0
#include "tree/levels.h"

#include "tree/querycolumns.h"

#include <math.h>
#include <stdlib.h>

enum { HOUR_SLOTS = 12 };
static const int64_t hour_ns = HOUR_SLOTS * LEVELS_SLOT_NS;

void levels_init(struct levels *levels, struct slice type, size_t max_bytes)
{
    *levels = (struct levels){ .type = type, .max_bytes = max_bytes };
    arena_init(&levels->arena, 0);
    hash_set_init(&levels->series_seen, 0);
    hash_set_init(&levels->groups_seen, 0);
    map_init(&levels->days, 0);
}

void levels_done(struct levels *levels)
{
    arena_done(&levels->arena);
    hash_set_done(&levels->series_seen);
    hash_set_done(&levels->groups_seen);
    VEC_DONE(&levels->series);
    VEC_DONE(&levels->groups);
    VEC_DONE(&levels->used);
    VEC_DONE(&levels->odd_hours);
    map_done(&levels->days);
}

/* --- time --- */

static int64_t divide_down(int64_t number, int64_t by)
{
    int64_t quotient = number / by;

    return quotient - (quotient * by > number);
}

static int64_t slot_of(int64_t start_ns)
{
    return divide_down(start_ns, LEVELS_SLOT_NS);
}

static int64_t day_of(int64_t slot)
{
    return divide_down(slot, LEVELS_DAY_SLOTS);
}

static uint32_t slot_in_day(int64_t slot)
{
    return (uint32_t)(slot - day_of(slot) * LEVELS_DAY_SLOTS);
}

/* --- counting --- */

static void *take(struct levels *levels, size_t bytes, struct error *err)
{
    size_t used_bytes = levels->arena.used_bytes + hash_set_bytes(&levels->series_seen) +
                        hash_set_bytes(&levels->groups_seen) +
                        (levels->series.capacity + levels->groups.capacity) * sizeof(struct levels_day);

    if (used_bytes + bytes > levels->max_bytes) {
        error_set(
            err, ERR_LIMIT,
            "the profiles of %zu series and days take more than the %zu MiB that a query has for counting them: ask "
            "for less time or fewer series, or raise --query-memory",
            levels->series.n, levels->max_bytes >> 20);
        return NULL;
    }
    return arena_alloc_zero(&levels->arena, bytes, err);
}

/* The place of the day of something that has the hash; made where there is none. */
static int find_day(struct levels *levels, bool is_group, struct hash128 hash, int64_t day, uint32_t *ret_place,
                    bool *ret_is_new, struct error *err)
{
    struct hash_set *seen = is_group ? &levels->groups_seen : &levels->series_seen;
    struct levels_day *added;
    uint32_t *n_rows;

    hash = hash_fold(hash, (uint64_t)day, 0);
    *ret_place = hash_set_find(seen, hash);
    *ret_is_new = *ret_place == HASH_NONE;
    if (!*ret_is_new)
        return 0;
    n_rows = take(levels, LEVELS_DAY_SLOTS * sizeof(*n_rows), err);
    added = !n_rows    ? NULL
            : is_group ? VEC_PUSH(&levels->groups, UINT32_MAX, err)
                       : VEC_PUSH(&levels->series, UINT32_MAX, err);
    if (!added)
        return -1;
    *added = (struct levels_day){ .day = day, .n_rows = n_rows };
    return hash_set_add(seen, hash, ret_place, ret_is_new, err);
}

static int find_series_day(struct levels *levels, const struct seriesinfo *series, struct hash128 hash, int64_t day,
                           struct levels_day **ret_day, struct error *err)
{
    uint32_t place, group;
    bool is_new, is_new_group;

    if (find_day(levels, false, hash, day, &place, &is_new, err) < 0)
        return -1;
    if (is_new) {
        if (find_day(levels, true, seriesinfo_group_hash(series, 0), day, &group, &is_new_group, err) < 0)
            return -1;
        levels->series.items[place].group = group;
    }
    *ret_day = &levels->series.items[place];
    return 0;
}

static int note_used(struct levels *levels, int64_t slot, struct error *err)
{
    uint32_t next = (uint32_t)levels->used.n, place;
    uint8_t **used, *is_used;

    if (map_add(&levels->days, (uint64_t)day_of(slot), next, &place, err) < 0)
        return -1;
    if (place == next) {
        used = VEC_PUSH(&levels->used, UINT32_MAX, err);
        if (!used)
            return -1;
        *used = take(levels, LEVELS_DAY_SLOTS, err);
        if (!*used)
            return -1;
    }
    is_used = &levels->used.items[place][slot_in_day(slot)];
    levels->n_slots += !*is_used;
    *is_used = true;
    return 0;
}

/* Windows are in order of their starts: those of one slot are counted before it is looked for. */
int levels_add(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    struct levels *levels = context;
    struct hash128 hash = seriesinfo_hash(series, 0);
    struct querycolumns columns;

    if (querycolumns_find(series, levels->type, &columns, err) < 0)
        return -1;
    if (columns.value == QUERYCOLUMNS_NONE)
        return 0;
    for (uint32_t i = 0, first = 0; i < windows->n_rows; first = i) {
        int64_t slot = slot_of(windows->starts_ns[i]);
        struct levels_day *day;

        while (i < windows->n_rows && slot_of(windows->starts_ns[i]) == slot)
            i++;
        if (find_series_day(levels, series, hash, day_of(slot), &day, err) < 0 || note_used(levels, slot, err) < 0)
            return -1;
        day->n_rows[slot_in_day(slot)] += i - first;
    }
    return 0;
}

/* --- settling --- */

/* A majority found by voting: whoever has more rows than all others together is left; without one, it is somebody. */
static void vote(uint32_t *elected, uint64_t *votes, uint32_t n_rows)
{
    if (*elected == n_rows) {
        *votes += n_rows;
    } else if (*votes >= n_rows) {
        *votes -= n_rows;
    } else {
        *elected = n_rows;
        *votes = n_rows - *votes;
    }
}

static bool is_odd_slot(const struct levels *levels, const struct levels_day *day, uint32_t slot)
{
    return day->n_rows[slot] && day->n_rows[slot] != levels->groups.items[day->group].n_rows[slot];
}

static int by_time(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return a < b ? -1 : a > b;
}

static int find_odd_hours(struct levels *levels, struct error *err)
{
    struct map seen;
    int result = 0;

    map_init(&seen, 0);
    VEC_EACH (&levels->series, day)
        for (uint32_t i = 0; !result && i < LEVELS_DAY_SLOTS; i++) {
            int64_t hour = day->day * 24 + i / HOUR_SLOTS, *added;
            uint32_t next = (uint32_t)levels->odd_hours.n, place;

            if (!is_odd_slot(levels, day, i))
                continue;
            result = map_add(&seen, (uint64_t)hour, next, &place, err);
            if (result < 0 || place != next)
                continue;
            added = VEC_PUSH(&levels->odd_hours, UINT32_MAX, err);
            if (added)
                *added = hour * hour_ns;
            else
                result = -1;
        }
    map_done(&seen);
    if (levels->odd_hours.n)
        qsort(levels->odd_hours.items, levels->odd_hours.n, sizeof(int64_t), by_time);
    return result;
}

int levels_settle(struct levels *levels, struct error *err)
{
    size_t bytes = LEVELS_DAY_SLOTS * sizeof(uint64_t);
    uint64_t **votes = take(levels, levels->groups.n * sizeof(*votes), err);

    if (!votes)
        return -1;
    for (size_t i = 0; i < levels->groups.n; i++)
        if (!(votes[i] = take(levels, bytes, err)))
            return -1;
    VEC_EACH (&levels->series, day)
        for (uint32_t i = 0; i < LEVELS_DAY_SLOTS; i++)
            if (day->n_rows[i])
                vote(&levels->groups.items[day->group].n_rows[i], &votes[day->group][i], day->n_rows[i]);
    return find_odd_hours(levels, err);
}

/* --- asking --- */

static const struct levels_day *known_day(const struct hash_set *seen, const struct levels_day *days,
                                          struct hash128 hash, int64_t day)
{
    uint32_t place = hash_set_find(seen, hash_fold(hash, (uint64_t)day, 0));

    return place == HASH_NONE ? NULL : &days[place];
}

double levels_weight(void *context, const struct seriesinfo *series, int64_t start_ns)
{
    const struct levels *levels = context;
    int64_t slot = slot_of(start_ns);
    const struct levels_day *day =
        known_day(&levels->groups_seen, levels->groups.items, seriesinfo_group_hash(series, 0), day_of(slot));
    uint32_t n_rows = day ? day->n_rows[slot_in_day(slot)] : 0;

    return n_rows ? 1 / (double)n_rows / (double)levels->n_slots : 0;
}

const int64_t *levels_odd_hours(const struct levels *levels, size_t *ret_n)
{
    *ret_n = levels->odd_hours.n;
    return levels->odd_hours.items;
}

static const struct levels_day *find_series(const struct levels *levels, const struct seriesinfo *series, int64_t slot)
{
    return known_day(&levels->series_seen, levels->series.items, seriesinfo_hash(series, 0), day_of(slot));
}

bool levels_is_odd(const struct levels *levels, const struct seriesinfo *series, int64_t begin_ns)
{
    int64_t slot = divide_down(begin_ns, hour_ns) * HOUR_SLOTS;
    const struct levels_day *day = find_series(levels, series, slot);

    if (!day)
        return false;
    for (uint32_t i = slot_in_day(slot), end = i + HOUR_SLOTS; i < end; i++)
        if (is_odd_slot(levels, day, i))
            return true;
    return false;
}

double levels_correction(const struct levels *levels, const struct seriesinfo *series, int64_t start_ns)
{
    int64_t slot = slot_of(start_ns);
    const struct levels_day *day = find_series(levels, series, slot);
    uint32_t own = day ? day->n_rows[slot_in_day(slot)] : 0, usual;

    if (!own)
        return 0;
    usual = levels->groups.items[day->group].n_rows[slot_in_day(slot)];
    return own == usual ? 0 : (1 / (double)own - 1 / (double)usual) / (double)levels->n_slots;
}

/* --- rounding --- */

int64_t levels_round(struct levels_rounding *sums, double average)
{
    int64_t before = sums->rounded;

    sums->exact += average;
    /* Within these bounds differences of two do not overflow. */
    sums->rounded = llround(MAX(MIN(sums->exact, 0x1p62), -0x1p62));
    return sums->rounded - before;
}
