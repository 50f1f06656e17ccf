// SPDX-License-Identifier: Apache-2.0
/* Some series of a group over whole hours. There is no roll-up of just these, so their own sums are read, and added up
 * before they are given: all hours of a group one after the other, while its stacks are near. What they came to is
 * remembered (sumcache.h). */
#include "store/sumcache.h"
#include "store/sumscan_internal.h"

/* Fewer sums than this are as quick to read as what was remembered of them. */
#define WORTH_REMEMBERING 4u

/* --- adding up --- */

/* Sums of some series of a group, and the hours that they are of. */
struct known {
    int64_t begin_ns, end_ns; /* as in struct adding */
    struct rollup rollup;
};

static void begin_adding(struct adding *adding)
{
    adding->n_rows = 0;
    adding->duration_ns = 0;
    adding->begin_ns = INT64_MAX;
    adding->end_ns = INT64_MIN;
}

/* Takes what was added up so far; `given` has it. */
static int take_added(struct sumscan *scan, struct known *ret_known, struct error *err)
{
    struct adding *adding = &scan->adding;
    struct known known = { .begin_ns = adding->begin_ns,
                           .end_ns = adding->end_ns,
                           .rollup = { .n_rows = adding->n_rows, .duration_ns = adding->duration_ns } };

    arena_reset(&scan->given);
    if (stacksum_take(&adding->sums, &scan->given, &known.rollup, err) < 0)
        return -1;
    begin_adding(adding);
    *ret_known = known;
    return 0;
}

static int give_known(struct sumscan *scan, const struct known *known, struct error *err)
{
    uint32_t series;

    if (known->end_ns < known->begin_ns)
        return 0; /* there are no rows */
    if (sumscan_representative(scan, &series, err) < 0)
        return -1;
    return sumscan_give(scan, series, known->begin_ns, known->end_ns - known->begin_ns, &known->rollup, err);
}

static int give_added(struct sumscan *scan, struct error *err)
{
    struct known known;

    scan->adding.is_cut = true;
    return take_added(scan, &known, err) < 0 ? -1 : give_known(scan, &known, err);
}

static void note_hour(struct sumscan *scan)
{
    scan->adding.begin_ns = MIN(scan->adding.begin_ns, scan->begin_ns);
    scan->adding.end_ns = MAX(scan->adding.end_ns, scan->end_ns);
}

static int add_series_sums(struct sumscan *scan, uint32_t series, const struct rollup *rollup, struct error *err)
{
    struct adding *adding = &scan->adding;
    uint64_t n_saturated = 0;
    uint32_t at = 0;

    if (rollup->n_types != adding->sums.n_types)
        return 0; /* the record of a series is damaged, which was counted */
    note_hour(scan);
    adding->n_rows += rollup->n_rows;
    adding->duration_ns = value_add(adding->duration_ns, rollup->duration_ns, &n_saturated);
    if (stacksum_add(&adding->sums, rollup, &at, err) < 0)
        return -1;
    while (at < rollup->n_stacks) {
        if (give_added(scan, err) < 0)
            return -1;
        note_hour(scan);
        if (stacksum_add(&adding->sums, rollup, &at, err) < 0)
            return -1;
    }
    return 0;
}

static int add_series(void *context, uint32_t series, bool is_whole, struct error *err)
{
    struct sumscan *scan = context;

    if (!is_whole)
        return 0;
    return dayread_check(&scan->read, err) < 0 ? -1 : sumscan_each_sums(scan, series, add_series_sums, err);
}

/* Adds the whole series of the group at hand up over the closings of the hour at hand. */
static int add_hour(struct sumscan *scan, struct error *err)
{
    VEC_EACH (&scan->read.view.markers, marker) {
        if (marker->hour != scan->hour)
            continue;
        sumscan_go_to_closing(scan, marker);
        if (sumscan_has_sums(scan, &scan->groups[scan->group]) &&
            rowfilter_each_of_group(scan->read.filter, scan->group, add_series, scan, err) < 0)
            return -1;
    }
    return 0;
}

static int add_hours(struct sumscan *scan, struct error *err)
{
    for (uint8_t hour = 0; hour < 24; hour++) {
        if (!sumscan_go_to_hour(scan, hour) || !sumscan_is_whole_hour(scan))
            continue;
        if (add_hour(scan, err) < 0)
            return -1;
        if (scan->step_ns && scan->end_ns % scan->step_ns == 0 && give_added(scan, err) < 0)
            return -1;
    }
    return 0;
}

/* --- remembering --- */

/* What sums are made of. */
struct origin {
    struct hash128 key;
    uint64_t n_closings, n_series;
};

static int note_series(void *context, uint32_t series, bool is_whole, struct error *err)
{
    struct origin *origin = context;

    if (is_whole)
        origin->key = hash_fold(origin->key, series, ++origin->n_series);
    return 0;
}

/* The group at hand, its closings in the range, and its series; in the order in which they are read. */
static int find_origin(struct sumscan *scan, struct origin *ret_origin, struct error *err)
{
    const struct rowfilter_group *group = &scan->groups[scan->group];
    uint64_t identity = names_identity(rowfilter_names(scan->read.filter));
    struct origin origin = { .key = hash_fold((struct hash128){ identity, 1 }, group->id, scan->generation) };

    for (uint8_t hour = 0; hour < 24; hour++) {
        if (!sumscan_go_to_hour(scan, hour) || !sumscan_is_whole_hour(scan))
            continue;
        VEC_EACH (&scan->read.view.markers, marker) {
            if (marker->hour != hour)
                continue;
            sumscan_go_to_closing(scan, marker);
            if (!sumscan_has_sums(scan, group))
                continue;
            origin.key = hash_fold(origin.key, (uint64_t)hour << 32 | marker->number, (uint64_t)marker->made_ns);
            origin.n_closings++;
        }
    }
    if (rowfilter_each_of_group(scan->read.filter, scan->group, note_series, &origin, err) < 0)
        return -1;
    *ret_origin = origin;
    return 0;
}

static bool is_worth_remembering(const struct sumscan *scan, const struct origin *origin)
{
    return scan->read.context->sums && scan->step_ns == 0 && origin->n_closings * origin->n_series >= WORTH_REMEMBERING;
}

/* As bytes: both times, then the roll-up. */
static int recall(struct sumscan *scan, const struct origin *origin, bool *ret_is_known, struct error *err)
{
    struct known known = { 0 };
    struct slice bytes;

    arena_reset(&scan->given);
    if (sumcache_get(scan->read.context->sums, origin->key, &scan->given, &bytes, err) < 0)
        return -1;
    *ret_is_known = bytes.len > 0;
    if (!bytes.len)
        return 0;
    memcpy(&known.begin_ns, bytes.ptr, sizeof(known.begin_ns));
    memcpy(&known.end_ns, bytes.ptr + sizeof(known.begin_ns), sizeof(known.end_ns));
    if (rollup_decode(slice_sub(bytes, 2 * sizeof(int64_t), SIZE_MAX), UINT32_MAX, scan->unpacker, &scan->given,
                      &known.rollup, err) < 0)
        return -1;
    scan->reads->n_known++;
    return give_known(scan, &known, err);
}

static int remember(struct sumscan *scan, const struct origin *origin, const struct known *known, struct error *err)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(buffer_done) struct buffer bytes;

    buffer_init(&bytes, 0);
    buffer_append(&bytes, &known->begin_ns, sizeof(known->begin_ns));
    buffer_append(&bytes, &known->end_ns, sizeof(known->end_ns));
    if (packer_new(&packer, err) < 0 || rollup_encode(&known->rollup, packer, &bytes, err) < 0 ||
        buffer_check(&bytes, err) < 0)
        return -1;
    sumcache_put(scan->read.context->sums, origin->key, buffer_slice(&bytes));
    return 0;
}

/* --- groups --- */

/* Adds the sums of the group at hand up and gives them. Those of a group with damage, or too many, are not remembered. */
static int add_and_give(struct sumscan *scan, const struct origin *origin, struct error *err)
{
    uint64_t n_damaged = atomic_load_explicit(&scan->read.context->n_damaged, memory_order_relaxed);
    struct known known;

    scan->adding.is_cut = false;
    if (add_hours(scan, err) < 0 || take_added(scan, &known, err) < 0 || give_known(scan, &known, err) < 0)
        return -1;
    /* Relaxed: only what this thread met matters. */
    if (scan->adding.is_cut || !is_worth_remembering(scan, origin) ||
        atomic_load_explicit(&scan->read.context->n_damaged, memory_order_relaxed) != n_damaged)
        return 0;
    return remember(scan, origin, &known, err);
}

static int give_some_of_group(struct sumscan *scan, struct error *err)
{
    const struct seriesinfo *info;
    bool is_known = false;
    struct origin origin;
    uint32_t series;

    if (sumscan_representative(scan, &series, err) < 0 || rowfilter_series(scan->read.filter, series, &info, err) < 0)
        return -1;
    if (!info)
        return 0; /* the record of the series is damaged, which was counted */
    if (info->n_types != scan->adding.sums.n_types) {
        stacksum_done(&scan->adding.sums);
        stacksum_init(&scan->adding.sums, info->n_types, scan->read.context->read_bytes / 4);
    }
    if (find_origin(scan, &origin, err) < 0 ||
        (is_worth_remembering(scan, &origin) && recall(scan, &origin, &is_known, err) < 0))
        return -1;
    return is_known ? 0 : add_and_give(scan, &origin, err);
}

int sumscan_give_some(struct sumscan *scan, struct error *err)
{
    const struct day_view *view = &scan->read.view;
    int result = 0;

    begin_adding(&scan->adding);
    for (scan->group = 0; !result && scan->group < scan->n_groups; scan->group++) {
        const struct rowfilter_group *group = &scan->groups[scan->group];

        if (!group->n_whole || sumscan_takes_whole(group))
            continue;
        if (!scan->blocks)
            result = kv_iterator_new_sparse(view->day->kv, view->day->block_family, view->snapshot, (struct slice){ 0 },
                                            &scan->blocks, err);
        if (!result)
            result = give_some_of_group(scan, err);
        dayread_make_way(&scan->read);
    }
    kv_iterator_free(TAKE(scan->blocks));
    stacksum_done(&scan->adding.sums);
    return result;
}
