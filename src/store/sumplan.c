// SPDX-License-Identifier: Apache-2.0
#include "store/sumplan.h"

#include "block/storekey.h"
#include "store/sumscan_internal.h"

#include <stdlib.h>

enum {
    MAX_ESTIMATES = 256, /* groups whose bytes are asked for one by one; of more, all of the hour is taken */
};

/* Kinds of values of a closed hour, as bits. */
enum {
    TAKES_HOUR = 1,
    TAKES_SLOTS = 2,
    TAKES_SUMS = 4,
    TAKES_ROWS = 8, /* windows, sums and samples */
    TAKES_WINDOWS = 16,
};

struct sumplan {
    struct dayread read;
    const struct store_query *query;
    const struct store_plan_options *options;
    struct store_plan plan;
    VEC(struct store_plan_range) ranges;
    const struct rowfilter_group *groups;
    uint32_t *n_wanted; /* [group] series that match */
    size_t n_groups;
    struct arena arena;

    /* the hour at hand, and the part of it that lies in the range */
    uint8_t hour;
    int64_t begin_ns, end_ns;
    struct kv_iterator *blocks;
    unsigned summed; /* what more than MAX_ESTIMATES groups have taken so far */
};

/* --- bytes --- */

static uint64_t kind_bytes(const struct sumplan *planning, enum storekey_kind kind, uint32_t first_group,
                           uint64_t end_group)
{
    struct storekey_block block = {
        .hour = planning->hour, .kind = kind, .tenant = planning->read.tenant, .group = first_group
    };
    struct storekey from = storekey_block(block), until;
    const struct day *day = planning->read.view.day;

    block.group = (uint32_t)end_group;
    if (end_group > UINT32_MAX) {
        block.group = 0;
        block.tenant++;
    }
    until = storekey_block(block);
    return kv_range_bytes(day->kv, day->block_family, storekey_slice(&from), storekey_slice(&until));
}

static uint64_t taken_bytes(const struct sumplan *planning, unsigned taken, uint32_t first_group, uint64_t end_group)
{
    uint64_t bytes = 0;

    if (taken & TAKES_HOUR)
        bytes += kind_bytes(planning, STOREKEY_GROUP_HOUR, first_group, end_group);
    if (taken & TAKES_SLOTS)
        bytes += (uint64_t)((double)kind_bytes(planning, STOREKEY_GROUP_SLOT, first_group, end_group) *
                            (double)(planning->end_ns - planning->begin_ns) / DAY_HOUR_NS);
    if (taken & (TAKES_SUMS | TAKES_ROWS))
        bytes += kind_bytes(planning, STOREKEY_SUMS, first_group, end_group);
    if (taken & TAKES_ROWS)
        bytes += kind_bytes(planning, STOREKEY_SAMPLES, first_group, end_group);
    if (taken & (TAKES_ROWS | TAKES_WINDOWS))
        bytes += kind_bytes(planning, STOREKEY_WINDOWS, first_group, end_group);
    return bytes;
}

/* What the group takes of the hour at hand; all of its closings stand together. */
static void add_bytes(struct sumplan *planning, uint32_t group, unsigned taken)
{
    uint32_t id = planning->groups[group].id;

    if (planning->n_groups <= MAX_ESTIMATES)
        planning->plan.n_bytes += taken_bytes(planning, taken, id, (uint64_t)id + 1);
    else
        planning->summed |= taken;
}

/* --- single rows --- */

/* Ranges that touch are one. */
static int add_range(struct sumplan *planning, int64_t from_ns, int64_t until_ns, bool is_open, struct error *err)
{
    struct store_plan_range joined = { from_ns, until_ns, is_open }, *range;
    size_t n = 0;

    if (from_ns >= until_ns)
        return 0;
    VEC_EACH (&planning->ranges, other) {
        bool touches =
            other->is_open == is_open && other->from_ns <= joined.until_ns && other->until_ns >= joined.from_ns;

        if (touches) {
            joined.from_ns = MIN(joined.from_ns, other->from_ns);
            joined.until_ns = MAX(joined.until_ns, other->until_ns);
        } else
            planning->ranges.items[n++] = *other;
    }
    planning->ranges.n = n;
    range = VEC_PUSH(&planning->ranges, UINT32_MAX, err);
    if (!range)
        return -1;
    *range = joined;
    return 0;
}

/* Of the heads of the hour at hand; what is in memory only takes no bytes of files. */
static void add_head_bytes(struct sumplan *planning, const struct day_head *head)
{
    struct storekey from = storekey_row(planning->read.tenant, 0, 0, INT64_MIN, 0);
    struct storekey until = storekey_row(planning->read.tenant + 1, 0, 0, INT64_MIN, 0);
    uint64_t bytes =
        kv_range_bytes(planning->read.view.day->kv, head->family, storekey_slice(&from), storekey_slice(&until));

    planning->plan.n_bytes += bytes;
    planning->plan.lacks_bytes |= !bytes;
}

/* --- hours --- */

/* Whether the group has roll-ups of a kind in a closing. Where that cannot be read, others will stand for them. */
static int has_rollups(struct sumplan *planning, const struct marker *marker, uint32_t group, enum storekey_kind kind,
                       bool *ret_has, struct error *err)
{
    struct storekey_block wanted = { .hour = planning->hour,
                                     .kind = kind,
                                     .tenant = planning->read.tenant,
                                     .group = planning->groups[group].id,
                                     .number = marker->number };
    struct storekey key = storekey_block(wanted);
    struct storekey_block found;

    kv_iterator_seek(planning->blocks, storekey_slice(&key));
    *ret_has = kv_iterator_is_valid(planning->blocks) &&
               storekey_parse_block(kv_iterator_key(planning->blocks), &found) && found.kind == kind &&
               found.tenant == wanted.tenant && found.group == wanted.group && found.number == wanted.number;
    return kv_iterator_check(planning->blocks, err) == 0 || err->code == ERR_CORRUPT ? 0 : -1;
}

static int take_rows(struct sumplan *planning, unsigned *taken, struct error *err)
{
    *taken |= TAKES_ROWS;
    return add_range(planning, planning->begin_ns, planning->end_ns, false, err);
}

/* The whole hour of a group. */
static int take_hour(struct sumplan *planning, const struct marker *marker, uint32_t group, unsigned *taken,
                     struct error *err)
{
    bool has;

    if (has_rollups(planning, marker, group, STOREKEY_GROUP_HOUR, &has, err) < 0)
        return -1;
    planning->plan.n_hours += has;
    planning->plan.n_series_sums += has ? 0 : planning->n_wanted[group];
    *taken |= has ? TAKES_HOUR : TAKES_SUMS;
    return 0;
}

static int take_series(struct sumplan *planning, uint32_t group, unsigned *taken, struct error *err)
{
    uint32_t n_whole = planning->groups[group].n_whole;

    planning->plan.n_series_sums += n_whole;
    *taken |= n_whole ? TAKES_SUMS : 0;
    return n_whole == planning->n_wanted[group] ? 0 : take_rows(planning, taken, err);
}

static int take_slots(struct sumplan *planning, const struct marker *marker, uint32_t group,
                      const struct sumscan_choice *choice, unsigned *taken, struct error *err)
{
    bool has;

    if (has_rollups(planning, marker, group, STOREKEY_GROUP_SLOT, &has, err) < 0)
        return -1;
    if (!has)
        return take_rows(planning, taken, err);
    planning->plan.n_slots += (uint64_t)((choice->last_ns - choice->first_ns) / DAY_SLOT_NS);
    *taken |= TAKES_SLOTS;
    if (choice->first_ns > planning->begin_ns || choice->last_ns < planning->end_ns)
        *taken |= TAKES_ROWS;
    if (add_range(planning, planning->begin_ns, choice->first_ns, false, err) < 0)
        return -1;
    return add_range(planning, choice->last_ns, planning->end_ns, false, err);
}

static int take_closing(struct sumplan *planning, const struct marker *marker, uint32_t group, unsigned *taken,
                        struct error *err)
{
    struct sumscan_choice choice =
        sumscan_choose(&planning->groups[group], day_view_is_clean(&planning->read.view, marker), planning->begin_ns,
                       planning->end_ns, planning->options->step_ns);

    if (planning->options->has_windows) {
        planning->plan.n_windows += planning->n_wanted[group];
        *taken |= TAKES_WINDOWS;
    }
    if (planning->options->is_by_rows)
        return take_rows(planning, taken, err);
    switch (choice.kind) {
    case SUMSCAN_ROWS: return take_rows(planning, taken, err);
    case SUMSCAN_HOUR: return take_hour(planning, marker, group, taken, err);
    case SUMSCAN_SERIES: return take_series(planning, group, taken, err);
    case SUMSCAN_SLOTS: break;
    }
    return take_slots(planning, marker, group, &choice, taken, err);
}

static int check(const struct sumplan *planning, struct error *err)
{
    const struct store_query *query = planning->query;

    return query->check ? query->check(query->check_context, err) : 0;
}

static int plan_group(struct sumplan *planning, uint32_t group, struct error *err)
{
    const struct day_view *view = &planning->read.view;
    unsigned taken = 0;

    for (size_t i = 0; i < view->markers.n; i++)
        if (view->markers.items[i].hour == planning->hour &&
            take_closing(planning, &view->markers.items[i], group, &taken, err) < 0)
            return -1;
    add_bytes(planning, group, taken);
    return 0;
}

static int plan_closed(struct sumplan *planning, struct error *err)
{
    const struct day *day = planning->read.view.day;
    char prefix = (char)planning->hour;
    int result = 0;

    if (kv_iterator_new(day->kv, day->block_family, planning->read.view.snapshot, slice_of(&prefix, 1), false,
                        &planning->blocks, err) < 0)
        return -1;
    planning->summed = 0;
    for (uint32_t group = 0; !result && group < planning->n_groups; group++)
        if (planning->n_wanted[group])
            result = check(planning, err) < 0 ? -1 : plan_group(planning, group, err);
    kv_iterator_free(TAKE(planning->blocks));
    planning->plan.n_bytes += taken_bytes(planning, planning->summed, 0, (uint64_t)UINT32_MAX + 1);
    return result;
}

static int plan_hour(struct sumplan *planning, struct error *err)
{
    const struct day_view *view = &planning->read.view;
    bool is_closed = false, is_open = false;

    for (size_t i = 0; i < view->markers.n; i++)
        is_closed |= view->markers.items[i].hour == planning->hour;
    for (size_t i = 0; i < view->head_copies.n; i++)
        if (view->head_copies.items[i].hour == planning->hour) {
            is_open = true;
            add_head_bytes(planning, &view->head_copies.items[i]);
        }
    planning->plan.n_closed_hours += is_closed;
    planning->plan.n_open_hours += is_open;
    if (is_closed && plan_closed(planning, err) < 0)
        return -1;
    return is_open ? add_range(planning, planning->begin_ns, planning->end_ns, true, err) : 0;
}

/* --- a day --- */

static int count_wanted(void *context, uint32_t series, bool is_whole, struct error *err)
{
    uint32_t *n = context;

    ++*n;
    return 0;
}

static int count_series(struct sumplan *planning, struct error *err)
{
    planning->groups = rowfilter_groups(planning->read.filter, &planning->n_groups);
    planning->n_wanted = ARENA_ARRAY(&planning->arena, uint32_t, planning->n_groups, err);
    if (!planning->n_wanted)
        return -1;
    for (uint32_t group = 0; group < planning->n_groups; group++) {
        uint32_t *n = &planning->n_wanted[group];

        *n = 0;
        if (rowfilter_each_of_group(planning->read.filter, group, count_wanted, n, err) < 0)
            return -1;
        planning->plan.n_series += *n;
        planning->plan.n_groups += *n > 0;
    }
    return 0;
}

static int by_time(const void *x, const void *y)
{
    const struct store_plan_range *a = x, *b = y;

    return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

static int plan_hours(struct sumplan *planning, struct error *err)
{
    const struct day *day = planning->read.view.day;

    if (count_series(planning, err) < 0)
        return -1;
    for (planning->hour = 0; planning->plan.n_series && planning->hour < 24; planning->hour++) {
        int64_t hour_ns = day->start_ns + planning->hour * DAY_HOUR_NS;

        planning->begin_ns = MAX(hour_ns, planning->query->from_ns);
        planning->end_ns = MIN(hour_ns + DAY_HOUR_NS, planning->query->until_ns);
        if (planning->begin_ns < planning->end_ns && plan_hour(planning, err) < 0)
            return -1;
    }
    if (planning->ranges.n > 1)
        qsort(planning->ranges.items, planning->ranges.n, sizeof(*planning->ranges.items), by_time);
    planning->plan.ranges = planning->ranges.items;
    planning->plan.n_ranges = (uint32_t)planning->ranges.n;
    return 0;
}

int sumplan_day(struct day *day, const struct store_query *query, const struct store_plan_options *options,
                int (*visit)(void *context, const struct store_plan *plan, struct error *err), void *context,
                struct error *err)
{
    struct sumplan planning = { .query = query, .options = options, .plan = { .day_ns = day->start_ns } };
    bool has_tenant;
    int result;

    arena_init(&planning.arena, 0);
    result = dayread_open(&planning.read, day, query->tenant, query, err);
    has_tenant = !result && planning.read.filter;
    if (has_tenant)
        result = plan_hours(&planning, err);
    dayread_close(&planning.read);
    if (has_tenant && !result)
        result = visit(context, &planning.plan, err);
    VEC_DONE(&planning.ranges);
    arena_done(&planning.arena);
    return result;
}
