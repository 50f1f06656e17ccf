// SPDX-License-Identifier: Apache-2.0
#include "store/sumscan.h"

#include "block/rollup.h"
#include "block/storekey.h"
#include "store/dayread.h"
#include "store/slotcache.h"

#include <stdlib.h>

enum { MAX_STACKS = HEADROW_MAX_SAMPLES, SLOTS_OF_PIECE = 256 };

/* What a group still wants of the closing at hand. */
enum want {
    WANT_NOTHING,
    WANT_EDGES, /* rows before the first whole slot and behind the last */
    WANT_ROWS,  /* rows of the whole range */
    WANT_SOME,  /* rows of the series that are not whole: the others have given their sums */
};

/* A group of which rows are wanted from a head: what its roll-ups in memory do not have. */
struct rest {
    uint32_t id;
    uint32_t group;             /* place */
    bool is_recent;             /* its rows are among the recent ones */
    uint8_t n_steps[DAY_SLOTS]; /* of each slot, from its beginning, that were given */
};

struct sumscan {
    struct dayread read;
    int64_t from_ns, until_ns, step_ns;
    const struct store_sum_sink *sink;
    struct store_reads *reads;
    struct unpacker *unpacker;
    struct arena arena;         /* of one roll-up */
    struct arena flags;         /* of `wants` and `rests` */
    struct kv_iterator *blocks; /* of the hour at hand */
    const struct rowfilter_group *groups;
    size_t n_groups;
    uint8_t *wants;     /* [group], enum want */
    struct rest *rests; /* [n_rests], by id: the groups of which rows of the head at hand are wanted */
    uint32_t n_rests;
    enum want wanting; /* those of a kind are read now ... */
    uint32_t only;     /* ... or those of one group */

    /* the closing at hand, and the part of its hour that lies in the range */
    uint8_t hour;
    uint32_t number;
    bool is_clean; /* all deletions are applied in it */
    int64_t begin_ns, end_ns;
    uint32_t group; /* place */
};

/* --- rows --- */

static int give_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct sumscan *scan = context;
    struct store_sums sums = { .series = series,
                               .start_ns = row->start_ns,
                               .length_ns = 1,
                               .n_rows = 1,
                               .duration_ns = row->duration_ns,
                               .n_types = row->n_types,
                               .n_stacks = row->n_samples,
                               .stride = row->stride,
                               .stacks = row->stacks,
                               .sums = row->values };

    scan->reads->n_rows++;
    return scan->sink->sums(scan->sink->context, &sums, err);
}

static bool wants_series(void *context, uint32_t tenant, uint32_t series)
{
    const struct sumscan *scan = context;
    bool is_whole;
    uint32_t group = rowfilter_group_of(scan->read.filter, series, &is_whole);

    if (group == UINT32_MAX)
        return false;
    if (scan->only != UINT32_MAX)
        return group == scan->only;
    return scan->wants[group] == (uint8_t)scan->wanting && !(is_whole && scan->wanting == WANT_SOME);
}

/* The rows of the closing at hand that start in [from_ns, until_ns): of the groups that want them in this way, or of one
 * group alone (UINT32_MAX: none in particular). */
static int give_block_rows(struct sumscan *scan, enum want wanting, uint32_t only, int64_t from_ns, int64_t until_ns,
                           struct error *err)
{
    struct rowstream_filter filter = { .tenant = scan->read.tenant,
                                       .from_ns = from_ns,
                                       .until_ns = until_ns,
                                       .wants = wants_series,
                                       .context = scan,
                                       .ids = rowfilter_ids(scan->read.filter) };
    struct rowstream *stream;

    if (from_ns >= until_ns)
        return 0;
    scan->wanting = wanting;
    scan->only = only;
    if (rowstream_new_block(&scan->read.view, scan->hour, scan->number, &filter, &stream, err) < 0)
        return -1;
    return dayread_rows(&scan->read, stream, give_row, scan, err);
}

/* --- roll-ups and sums --- */

static struct storekey key_of(const struct sumscan *scan, enum storekey_kind kind, uint32_t series, uint32_t part)
{
    return storekey_block((struct storekey_block){ .hour = scan->hour,
                                                   .kind = kind,
                                                   .tenant = scan->read.tenant,
                                                   .group = scan->groups[scan->group].id,
                                                   .series = series,
                                                   .number = scan->number,
                                                   .part = part });
}

/* Whether the iterator stands on a value of the closing at hand of that kind and series; which part it is. */
static bool stands_on(const struct sumscan *scan, enum storekey_kind kind, uint32_t series, uint32_t *ret_part)
{
    struct storekey_block key;

    if (!kv_iterator_is_valid(scan->blocks) || !storekey_parse_block(kv_iterator_key(scan->blocks), &key) ||
        key.kind != kind || key.tenant != scan->read.tenant || key.group != scan->groups[scan->group].id ||
        key.series != series || key.number != scan->number)
        return false;
    *ret_part = key.part;
    return true;
}

static void seek(struct sumscan *scan, enum storekey_kind kind, uint32_t series, uint32_t part)
{
    struct storekey key = key_of(scan, kind, series, part);

    kv_iterator_seek(scan->blocks, storekey_slice(&key));
}

/* Whether the iterator stopped at damage, which is counted; other failures are failures. */
static int find_damage(struct sumscan *scan, bool *ret_is_damaged, struct error *err)
{
    *ret_is_damaged = kv_iterator_check(scan->blocks, err) < 0;
    if (!*ret_is_damaged)
        return 0;
    if (err->code != ERR_CORRUPT)
        return -1;
    day_damage(scan->read.view.day, "blocks", err);
    return 0;
}

/* Damage is counted and said by `*ret_is_damaged`; other failures are failures. */
static int read_rollup(struct sumscan *scan, struct rollup *ret_rollup, bool *ret_is_damaged, struct error *err)
{
    struct slice value = kv_iterator_value(scan->blocks);

    *ret_is_damaged = false;
    if (rollup_decode(value, MAX_STACKS, scan->unpacker, &scan->arena, ret_rollup, err) < 0) {
        if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
            return -1;
        day_damage(scan->read.view.day, "roll-up", err);
        *ret_is_damaged = true;
        return 0;
    }
    scan->reads->n_bytes += value.len;
    return 0;
}

static int give_rollup(struct sumscan *scan, uint32_t series, bool is_group, int64_t start_ns, int64_t length_ns,
                       const struct rollup *rollup, struct error *err)
{
    struct store_sums sums = { .is_group = is_group,
                               .start_ns = start_ns,
                               .length_ns = length_ns,
                               .n_rows = rollup->n_rows,
                               .duration_ns = rollup->duration_ns,
                               .n_types = rollup->n_types,
                               .n_stacks = rollup->n_stacks,
                               .stride = rollup->n_stacks,
                               .stacks = rollup->stacks,
                               .sums = rollup->sums };

    if (rowfilter_series(scan->read.filter, series, &sums.series, err) < 0)
        return -1;
    if (!sums.series || sums.series->n_types != rollup->n_types)
        return 0; /* the record of the series is damaged, which was counted */
    return scan->sink->sums(scan->sink->context, &sums, err);
}

/* A series of the group at hand that can be read. */
static int take_first(void *context, uint32_t series, bool is_whole, struct error *err)
{
    uint32_t *first = context;

    if (!*first)
        *first = series;
    return 0;
}

static int find_representative(struct sumscan *scan, uint32_t *ret_series, struct error *err)
{
    *ret_series = 0;
    return rowfilter_each_of_group(scan->read.filter, scan->group, take_first, ret_series, err);
}

/* The parts of one value of several pieces, decoded; NULL in `*ret_rollups` where one is damaged. Pieces are `stride`
 * apart, and `n` of them. */
struct pieces {
    struct rollup *rollups;
    uint32_t n;
    bool is_damaged;
};

static int read_pieces(struct sumscan *scan, enum storekey_kind kind, uint32_t first, uint32_t stride,
                       uint32_t n_at_most, struct pieces *ret_pieces, struct error *err)
{
    struct pieces pieces = { 0 };
    uint32_t part;

    arena_reset(&scan->arena);
    pieces.rollups = ARENA_ARRAY(&scan->arena, struct rollup, n_at_most, err);
    if (!pieces.rollups)
        return -1;
    for (uint32_t i = 0; i < n_at_most && !pieces.is_damaged; i++) {
        seek(scan, kind, 0, first + i * stride);
        if (!stands_on(scan, kind, 0, &part)) {
            if (find_damage(scan, &pieces.is_damaged, err) < 0)
                return -1;
            continue;
        }
        if (part != first + i * stride)
            continue;
        if (read_rollup(scan, &pieces.rollups[pieces.n], &pieces.is_damaged, err) < 0)
            return -1;
        pieces.n += !pieces.is_damaged;
    }
    *ret_pieces = pieces;
    return 0;
}

/* How many pieces of the kind the group has in the closing at hand; parts are piece * stride and up. None where one cannot
 * be read: then others stand for them. */
static int count_pieces(struct sumscan *scan, enum storekey_kind kind, uint32_t stride, uint32_t *ret_n,
                        struct error *err)
{
    uint32_t part, n = 0;
    bool is_damaged;

    for (seek(scan, kind, 0, 0); stands_on(scan, kind, 0, &part); seek(scan, kind, 0, n * stride))
        n = part / stride + 1;
    if (find_damage(scan, &is_damaged, err) < 0)
        return -1;
    *ret_n = is_damaged ? 0 : n;
    return 0;
}

/* Goes on behind damage, if there is any, that begins behind a part. */
static int pass_damage(struct sumscan *scan, enum storekey_kind kind, uint32_t series, uint32_t part, struct error *err)
{
    struct storekey before = key_of(scan, kind, series, part);
    bool is_damaged, has;

    if (find_damage(scan, &is_damaged, err) < 0)
        return -1;
    return is_damaged ? kv_iterator_pass_damage(scan->blocks, storekey_slice(&before), &has, err) : 0;
}

/* The sums of a series over the parts of the closing at hand. A damaged one is left out: its rows cannot be read without
 * it, either. */
static int give_series(void *context, uint32_t series, bool is_whole, struct error *err)
{
    struct sumscan *scan = context;
    uint32_t part = 0;

    if (!is_whole)
        return 0;
    for (seek(scan, STOREKEY_SUMS, series, 0);; kv_iterator_next(scan->blocks)) {
        struct rollup rollup;
        bool is_damaged;

        if (!kv_iterator_is_valid(scan->blocks) && pass_damage(scan, STOREKEY_SUMS, series, part, err) < 0)
            return -1;
        if (!stands_on(scan, STOREKEY_SUMS, series, &part))
            return 0;
        arena_reset(&scan->arena);
        if (read_rollup(scan, &rollup, &is_damaged, err) < 0)
            return -1;
        if (is_damaged)
            continue;
        scan->reads->n_series++;
        if (give_rollup(scan, series, false, scan->begin_ns, DAY_HOUR_NS, &rollup, err) < 0)
            return -1;
    }
}

static int give_all_series(struct sumscan *scan, struct error *err)
{
    return rowfilter_each_of_group(scan->read.filter, scan->group, give_series, scan, err);
}

/* The roll-up of the hour, or what stands for it. */
static int give_hour(struct sumscan *scan, struct error *err)
{
    struct pieces pieces;
    uint32_t series, n;

    if (count_pieces(scan, STOREKEY_GROUP_HOUR, 1, &n, err) < 0)
        return -1;
    if (!n)
        return give_all_series(scan, err);
    if (read_pieces(scan, STOREKEY_GROUP_HOUR, 0, 1, n, &pieces, err) < 0 ||
        find_representative(scan, &series, err) < 0)
        return -1;
    if (pieces.is_damaged)
        return give_all_series(scan, err);
    scan->reads->n_hours += pieces.n;
    for (uint32_t i = 0; i < pieces.n; i++)
        if (give_rollup(scan, series, true, scan->begin_ns, DAY_HOUR_NS, &pieces.rollups[i], err) < 0)
            return -1;
    return 0;
}

static int give_slot(struct sumscan *scan, int64_t slot_ns, uint32_t series, uint32_t n_pieces, struct error *err)
{
    int64_t hour_ns = scan->read.view.day->start_ns + scan->hour * DAY_HOUR_NS;
    uint32_t slot = (uint32_t)((slot_ns - hour_ns) / DAY_SLOT_NS);
    struct pieces pieces;

    if (read_pieces(scan, STOREKEY_GROUP_SLOT, slot, SLOTS_OF_PIECE, n_pieces, &pieces, err) < 0)
        return -1;
    if (pieces.is_damaged)
        return give_block_rows(scan, WANT_NOTHING, scan->group, slot_ns, slot_ns + DAY_SLOT_NS, err);
    scan->reads->n_slots += pieces.n;
    for (uint32_t i = 0; i < pieces.n; i++)
        if (give_rollup(scan, series, true, slot_ns, DAY_SLOT_NS, &pieces.rollups[i], err) < 0)
            return -1;
    return 0;
}

/* The roll-ups of the slots in [from_ns, until_ns); `*ret_has` is false if the group has none in this closing. */
static int give_slots(struct sumscan *scan, int64_t from_ns, int64_t until_ns, bool *ret_has, struct error *err)
{
    uint32_t series, n_pieces;

    if (count_pieces(scan, STOREKEY_GROUP_SLOT, SLOTS_OF_PIECE, &n_pieces, err) < 0 ||
        find_representative(scan, &series, err) < 0)
        return -1;
    *ret_has = n_pieces > 0;
    for (int64_t slot_ns = from_ns; *ret_has && slot_ns < until_ns; slot_ns += DAY_SLOT_NS)
        if (give_slot(scan, slot_ns, series, n_pieces, err) < 0)
            return -1;
    return 0;
}

/* --- hours --- */

static int64_t round_down(int64_t time_ns, int64_t unit_ns)
{
    return time_ns - ((time_ns % unit_ns) + unit_ns) % unit_ns;
}

static bool may_cross(const struct sumscan *scan, int64_t length_ns)
{
    return scan->step_ns == 0 || scan->step_ns % length_ns == 0;
}

/* Gives what roll-ups and sums the group has for the closing at hand, and says which rows are wanted besides. */
static int give_group(struct sumscan *scan, enum want *ret_want, struct error *err)
{
    const struct rowfilter_group *group = &scan->groups[scan->group];
    bool is_taken_whole = group->n_whole == group->n_series, has_slots;
    bool is_hour = scan->end_ns - scan->begin_ns == DAY_HOUR_NS && may_cross(scan, DAY_HOUR_NS);
    int64_t first_ns = round_down(scan->begin_ns + DAY_SLOT_NS - 1, DAY_SLOT_NS);
    int64_t last_ns = round_down(scan->end_ns, DAY_SLOT_NS);

    *ret_want = WANT_ROWS;
    if (group->has_others && !scan->is_clean)
        return 0;
    if (is_hour) {
        *ret_want = is_taken_whole ? WANT_NOTHING : WANT_SOME;
        return is_taken_whole ? give_hour(scan, err) : give_all_series(scan, err);
    }
    if (!is_taken_whole || first_ns >= last_ns || !may_cross(scan, DAY_SLOT_NS))
        return 0;
    if (give_slots(scan, first_ns, last_ns, &has_slots, err) < 0)
        return -1;
    *ret_want = has_slots ? WANT_EDGES : WANT_ROWS;
    return 0;
}

static int give_closing(struct sumscan *scan, const struct marker *marker, struct error *err)
{
    int64_t first_ns = MIN(round_down(scan->begin_ns + DAY_SLOT_NS - 1, DAY_SLOT_NS), scan->end_ns);
    int64_t last_ns = MAX(round_down(scan->end_ns, DAY_SLOT_NS), first_ns);
    unsigned wanted = 0;

    scan->number = marker->number;
    scan->is_clean = day_view_is_clean(&scan->read.view, marker);
    for (scan->group = 0; scan->group < scan->n_groups; scan->group++) {
        enum want want = WANT_NOTHING;
        uint32_t series;

        if (find_representative(scan, &series, err) < 0 || (series && give_group(scan, &want, err) < 0))
            return -1;
        scan->wants[scan->group] = (uint8_t)want;
        wanted |= 1u << want;
    }
    if (wanted & 1u << WANT_EDGES &&
        (give_block_rows(scan, WANT_EDGES, UINT32_MAX, scan->begin_ns, first_ns, err) < 0 ||
         give_block_rows(scan, WANT_EDGES, UINT32_MAX, last_ns, scan->end_ns, err) < 0))
        return -1;
    if (wanted & 1u << WANT_ROWS && give_block_rows(scan, WANT_ROWS, UINT32_MAX, scan->begin_ns, scan->end_ns, err) < 0)
        return -1;
    if (wanted & 1u << WANT_SOME && give_block_rows(scan, WANT_SOME, UINT32_MAX, scan->begin_ns, scan->end_ns, err) < 0)
        return -1;
    return 0;
}

/* --- open hours --- */

static struct slotcache_head head_of(const struct sumscan *scan, const struct day_head *head)
{
    const struct day *day = scan->read.view.day;

    return (struct slotcache_head){ day, day->start_ns + head->hour * DAY_HOUR_NS, head->number };
}

/* Gives what is in memory of a span of the group at hand, if the range has all of it; `*ret_n_steps` says how much that is.
 * No rows among it are a good answer, too. */
static int give_span(struct sumscan *scan, const struct slotcache_head *head, uint32_t series, uint32_t span,
                     uint32_t *ret_n_steps, struct error *err)
{
    bool is_hour = span == SLOTCACHE_HOUR;
    int64_t start_ns = head->hour_ns + (is_hour ? 0 : span * DAY_SLOT_NS), length_ns;
    struct slotcache_value value;
    struct rollup rollup;

    *ret_n_steps = 0;
    arena_reset(&scan->arena);
    if (start_ns < scan->begin_ns || start_ns >= scan->end_ns)
        return 0;
    if (slotcache_get(scan->read.context->slots, head, scan->read.tenant, scan->groups[scan->group].id, span,
                      scan->read.view.n_commits, &scan->arena, &value, err) < 0)
        return -1;
    length_ns = value.n_steps * SLOTCACHE_STEP_NS;
    if (start_ns + length_ns > scan->end_ns)
        return 0;
    *ret_n_steps = value.n_steps;
    if (!value.rollup.len)
        return 0;
    if (rollup_decode(value.rollup, MAX_STACKS, scan->unpacker, &scan->arena, &rollup, err) < 0)
        return -1;
    *(is_hour ? &scan->reads->n_hours : &scan->reads->n_slots) += 1;
    scan->reads->n_bytes += value.rollup.len;
    return give_rollup(scan, series, true, start_ns, length_ns, &rollup, err);
}

/* The hour so far, as if it were slots; nothing if it is not there or steps cut it. */
static int give_hour_so_far(struct sumscan *scan, const struct slotcache_head *head, uint32_t series, struct rest *rest,
                            struct error *err)
{
    uint32_t n_steps;

    if (!may_cross(scan, DAY_HOUR_NS))
        return 0;
    if (give_span(scan, head, series, SLOTCACHE_HOUR, &n_steps, err) < 0)
        return -1;
    for (uint32_t slot = 0; slot < DAY_SLOTS; slot++) {
        uint32_t before = slot * SLOTCACHE_SLOT_STEPS;

        rest->n_steps[slot] = (uint8_t)MIN(n_steps - MIN(n_steps, before), (uint32_t)SLOTCACHE_SLOT_STEPS);
    }
    return 0;
}

/* Gives what roll-ups in memory have of the group at hand, under the conditions under which those of closed hours answer. */
static int give_open_group(struct sumscan *scan, const struct slotcache_head *head, uint32_t series, struct rest *rest,
                           struct error *err)
{
    const struct rowfilter_group *group = &scan->groups[scan->group];
    uint32_t n_steps;

    if (group->has_others || group->n_whole != group->n_series || !may_cross(scan, DAY_SLOT_NS))
        return 0;
    if (give_hour_so_far(scan, head, series, rest, err) < 0)
        return -1;
    for (uint32_t slot = 0; slot < DAY_SLOTS; slot++) {
        if (rest->n_steps[slot])
            continue;
        if (give_span(scan, head, series, slot, &n_steps, err) < 0)
            return -1;
        rest->n_steps[slot] = (uint8_t)n_steps;
    }
    return 0;
}

/* The first time, at `time_ns` or later, from which rows are still wanted; INT64_MAX = none. */
static int64_t find_time(const struct sumscan *scan, const struct rest *rest, int64_t time_ns)
{
    int64_t hour_ns = scan->read.view.day->start_ns + scan->hour * DAY_HOUR_NS;

    for (time_ns = MAX(time_ns, scan->begin_ns); time_ns < scan->end_ns;) {
        int64_t slot = (time_ns - hour_ns) / DAY_SLOT_NS, slot_ns = hour_ns + slot * DAY_SLOT_NS;
        int64_t given_ns = slot_ns + rest->n_steps[slot] * SLOTCACHE_STEP_NS;

        if (time_ns >= given_ns)
            return time_ns;
        time_ns = given_ns;
    }
    return INT64_MAX;
}

static const struct rest *find_rest(const struct sumscan *scan, uint32_t id)
{
    uint32_t low = 0, high = scan->n_rests;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (scan->rests[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < scan->n_rests ? &scan->rests[low] : NULL;
}

/* The `seek` of a head: goes straight to the rows that are wanted. */
static int seek_rest(void *context, struct rowstream_place *place, bool *ret_has, struct error *err)
{
    const struct sumscan *scan = context;
    const struct rest *rest;

    *ret_has = true;
    while (*ret_has && (rest = find_rest(scan, place->group))) {
        uint32_t series;
        int64_t time_ns;

        if (rest->id != place->group)
            *place = (struct rowstream_place){ .tenant = place->tenant, .group = rest->id, .start_ns = INT64_MIN };
        series = rowfilter_next_of_group(scan->read.filter, rest->group, place->series);
        if (series == UINT32_MAX) {
            *ret_has = rowstream_pass_group(place) && place->tenant == scan->read.tenant;
            continue;
        }
        if (series != place->series)
            place->start_ns = INT64_MIN;
        place->series = series;
        time_ns = find_time(scan, rest, place->start_ns);
        if (time_ns != INT64_MAX) {
            place->start_ns = time_ns;
            return 0;
        }
        *ret_has = rowstream_pass_series(place) && place->tenant == scan->read.tenant;
    }
    *ret_has = false;
    return 0;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const struct rest *)a)->id, y = ((const struct rest *)b)->id;

    return x < y ? -1 : x > y;
}

/* Gives what is in memory of all groups of a head, and finds out which rows are wanted besides. */
static int give_open_groups(struct sumscan *scan, const struct day_head *head, bool *ret_is_sparse, struct error *err)
{
    struct slotcache_head slots = head_of(scan, head);

    *ret_is_sparse = false;
    scan->n_rests = 0;
    for (scan->group = 0; scan->group < scan->n_groups; scan->group++) {
        struct rest *rest = &scan->rests[scan->n_rests];
        int64_t first_ns;
        uint32_t series;

        *rest = (struct rest){ .id = scan->groups[scan->group].id, .group = scan->group };
        if (find_representative(scan, &series, err) < 0 ||
            (series && give_open_group(scan, &slots, series, rest, err) < 0))
            return -1;
        first_ns = find_time(scan, rest, scan->begin_ns);
        *ret_is_sparse |= first_ns != scan->begin_ns;
        scan->n_rests += series && first_ns != INT64_MAX;
    }
    qsort(scan->rests, scan->n_rests, sizeof(*scan->rests), by_id);
    return 0;
}

/* The recent rows of the head, and the groups that want no others. */
static int find_recents(struct sumscan *scan, uint32_t place, struct recents_list *ret_list, struct error *err)
{
    struct day *day = scan->read.view.day;
    int64_t first_ns = INT64_MAX;

    LOCK_SCOPE(&day->lock);
    *ret_list = (struct recents_list){ 0 };
    if (!day->heads.items[place].has_recents)
        return 0;
    for (uint32_t i = 0; i < scan->n_rests; i++) {
        int64_t time_ns = find_time(scan, &scan->rests[i], INT64_MIN);

        scan->rests[i].is_recent = time_ns >= day->recents.from_ns;
        if (scan->rests[i].is_recent)
            first_ns = MIN(first_ns, time_ns);
    }
    arena_reset(&scan->arena);
    return recents_find(&day->recents, place, scan->read.tenant, first_ns, &scan->arena, ret_list, err);
}

/* Those that are wanted: of groups that want no others. */
static void choose_recents(const struct sumscan *scan, struct recents_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct recents_row *row = &list->rows[i];
        const struct rest *rest = find_rest(scan, row->group);

        if (rest && rest->id == row->group && rest->is_recent && rowfilter_wants(scan->read.filter, row->series) &&
            find_time(scan, rest, row->start_ns) == row->start_ns)
            list->rows[n++] = *row;
    }
    list->n = n;
}

static void remove_recents(struct sumscan *scan)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < scan->n_rests; i++)
        if (!scan->rests[i].is_recent)
            scan->rests[n++] = scan->rests[i];
    scan->n_rests = n;
}

/* Rows of some ids alone: nothing in memory knows of these. */
static int give_rows_of_ids(struct sumscan *scan, const struct day_head *head, struct error *err)
{
    struct rowstream_filter filter = { .tenant = scan->read.tenant,
                                       .from_ns = scan->begin_ns,
                                       .until_ns = scan->end_ns,
                                       .wants = dayread_wants,
                                       .context = &scan->read,
                                       .ids = rowfilter_ids(scan->read.filter) };
    struct rowstream *stream;

    if (rowstream_new_head(&scan->read.view, head, &filter, &stream, err) < 0)
        return -1;
    return dayread_rows(&scan->read, stream, give_row, scan, err);
}

static int give_head(struct sumscan *scan, size_t number, struct error *err)
{
    const struct day_view *view = &scan->read.view;
    const struct day_head *head = &view->head_copies.items[number];
    struct rowstream_filter filter = { .tenant = scan->read.tenant, .seek = seek_rest, .context = scan };
    struct recents_list list;
    struct rowstream *stream;

    if (rowfilter_ids(scan->read.filter))
        return give_rows_of_ids(scan, head, err);
    if (give_open_groups(scan, head, &filter.is_sparse, err) < 0 ||
        find_recents(scan, view->heads.items[number], &list, err) < 0)
        return -1;
    choose_recents(scan, &list);
    recents_sort(&list);
    remove_recents(scan);
    if (list.n && (rowstream_new_list(view, head, &list, &stream, err) < 0 ||
                   dayread_rows(&scan->read, stream, give_row, scan, err) < 0))
        return -1;
    if (!scan->n_rests)
        return 0;
    if (rowstream_new_head(view, head, &filter, &stream, err) < 0)
        return -1;
    return dayread_rows(&scan->read, stream, give_row, scan, err);
}

/* --- all hours --- */

static int sum_hour(struct sumscan *scan, struct error *err)
{
    const struct day_view *view = &scan->read.view;
    char prefix = (char)scan->hour;
    int result = 0;

    for (size_t i = 0; !result && i < view->markers.n; i++) {
        if (view->markers.items[i].hour != scan->hour)
            continue;
        if (!scan->blocks)
            result = kv_iterator_new(view->day->kv, view->day->block_family, view->snapshot, slice_of(&prefix, 1),
                                     false, &scan->blocks, err);
        if (!result)
            result = give_closing(scan, &view->markers.items[i], err);
    }
    kv_iterator_free(TAKE(scan->blocks));
    for (size_t i = 0; !result && i < view->head_copies.n; i++)
        if (view->head_copies.items[i].hour == scan->hour)
            result = give_head(scan, i, err);
    return result;
}

static int sum_hours(struct sumscan *scan, struct error *err)
{
    const struct day *day = scan->read.view.day;

    scan->groups = rowfilter_groups(scan->read.filter, &scan->n_groups);
    scan->wants = arena_alloc(&scan->flags, scan->n_groups, err);
    scan->rests = ARENA_ARRAY(&scan->flags, struct rest, scan->n_groups + 1, err);
    if (!scan->wants || !scan->rests ||
        scan->sink->names(scan->sink->context, rowfilter_names(scan->read.filter), err) < 0)
        return -1;
    for (scan->hour = 0; scan->hour < 24; scan->hour++) {
        int64_t hour_ns = day->start_ns + scan->hour * DAY_HOUR_NS;

        scan->begin_ns = MAX(hour_ns, scan->from_ns);
        scan->end_ns = MIN(hour_ns + DAY_HOUR_NS, scan->until_ns);
        if (scan->begin_ns < scan->end_ns && sum_hour(scan, err) < 0)
            return -1;
        dayread_make_way(&scan->read);
    }
    return scan->sink->names(scan->sink->context, NULL, err);
}

int sumscan_day(struct day *day, const struct store_query *query, int64_t step_ns, const struct store_sum_sink *sink,
                struct store_reads *reads, struct error *err)
{
    struct sumscan scan = {
        .from_ns = query->from_ns, .until_ns = query->until_ns, .step_ns = step_ns, .sink = sink, .reads = reads
    };
    int result;

    arena_init(&scan.arena, 0);
    arena_init(&scan.flags, 0);
    result = dayread_open(&scan.read, day, query->tenant, query, err);
    if (!result && scan.read.filter)
        result = unpacker_new(&scan.unpacker, err);
    if (!result && scan.read.filter)
        result = sum_hours(&scan, err);
    reads->n_spans += dayread_n_spans(&scan.read);
    unpacker_free(scan.unpacker);
    dayread_close(&scan.read);
    arena_done(&scan.arena);
    arena_done(&scan.flags);
    return result;
}
