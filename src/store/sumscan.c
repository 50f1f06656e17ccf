// SPDX-License-Identifier: Apache-2.0
#include "store/sumscan.h"

#include "block/storekey.h"
#include "store/openhour.h"
#include "store/sumcache.h"
#include "store/sumscan_internal.h"

enum { MAX_STACKS = HEADROW_MAX_SAMPLES, SLOTS_OF_PIECE = 256 };

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

int sumscan_give(struct sumscan *scan, uint32_t series, int64_t start_ns, int64_t length_ns,
                 const struct rollup *rollup, struct error *err)
{
    struct store_sums sums = { .start_ns = start_ns,
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

int sumscan_representative(struct sumscan *scan, uint32_t *ret_series, struct error *err)
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

int sumscan_each_sums(struct sumscan *scan, uint32_t series,
                      int (*take)(struct sumscan *scan, uint32_t series, const struct rollup *rollup,
                                  struct error *err),
                      struct error *err)
{
    uint32_t part = 0;

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
        if (take(scan, series, &rollup, err) < 0)
            return -1;
    }
}

static int give_series_sums(struct sumscan *scan, uint32_t series, const struct rollup *rollup, struct error *err)
{
    return sumscan_give(scan, series, scan->begin_ns, DAY_HOUR_NS, rollup, err);
}

static int give_series(void *context, uint32_t series, bool is_whole, struct error *err)
{
    return is_whole ? sumscan_each_sums(context, series, give_series_sums, err) : 0;
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
        sumscan_representative(scan, &series, err) < 0)
        return -1;
    if (pieces.is_damaged)
        return give_all_series(scan, err);
    scan->reads->n_hours += pieces.n;
    for (uint32_t i = 0; i < pieces.n; i++)
        if (sumscan_give(scan, series, scan->begin_ns, DAY_HOUR_NS, &pieces.rollups[i], err) < 0)
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
        if (sumscan_give(scan, series, slot_ns, DAY_SLOT_NS, &pieces.rollups[i], err) < 0)
            return -1;
    return 0;
}

/* The roll-ups of the slots in [from_ns, until_ns); `*ret_has` is false if the group has none in this closing. */
static int give_slots(struct sumscan *scan, int64_t from_ns, int64_t until_ns, bool *ret_has, struct error *err)
{
    uint32_t series, n_pieces;

    if (count_pieces(scan, STOREKEY_GROUP_SLOT, SLOTS_OF_PIECE, &n_pieces, err) < 0 ||
        sumscan_representative(scan, &series, err) < 0)
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

/* Whether sums over such a length lie in one step each; a step of 0 is all time. */
static bool may_cross(int64_t step_ns, int64_t length_ns)
{
    return step_ns % length_ns == 0;
}

static bool is_whole_hour(int64_t begin_ns, int64_t end_ns, int64_t step_ns)
{
    return end_ns - begin_ns == DAY_HOUR_NS && may_cross(step_ns, DAY_HOUR_NS);
}

static bool has_sums(const struct rowfilter_group *group, bool is_clean)
{
    return !group->has_others || is_clean;
}

bool sumscan_go_to_hour(struct sumscan *scan, uint8_t hour)
{
    int64_t hour_ns = scan->read.view.day->start_ns + hour * DAY_HOUR_NS;

    scan->hour = hour;
    scan->begin_ns = MAX(hour_ns, scan->from_ns);
    scan->end_ns = MIN(hour_ns + DAY_HOUR_NS, scan->until_ns);
    return scan->begin_ns < scan->end_ns;
}

void sumscan_go_to_closing(struct sumscan *scan, const struct marker *marker)
{
    scan->number = marker->number;
    scan->is_clean = day_view_is_clean(&scan->read.view, marker);
}

bool sumscan_is_whole_hour(const struct sumscan *scan)
{
    return is_whole_hour(scan->begin_ns, scan->end_ns, scan->step_ns);
}

bool sumscan_has_sums(const struct sumscan *scan, const struct rowfilter_group *group)
{
    return has_sums(group, scan->is_clean);
}

struct sumscan_choice sumscan_choose(const struct rowfilter_group *group, bool is_clean, int64_t begin_ns,
                                     int64_t end_ns, int64_t step_ns)
{
    struct sumscan_choice choice = { .kind = SUMSCAN_ROWS,
                                     .first_ns = round_down(begin_ns + DAY_SLOT_NS - 1, DAY_SLOT_NS),
                                     .last_ns = round_down(end_ns, DAY_SLOT_NS) };
    bool is_whole = sumscan_takes_whole(group);

    if (!has_sums(group, is_clean))
        return choice;
    if (is_whole_hour(begin_ns, end_ns, step_ns))
        choice.kind = is_whole ? SUMSCAN_HOUR : SUMSCAN_SERIES;
    else if (is_whole && choice.first_ns < choice.last_ns && may_cross(step_ns, DAY_SLOT_NS))
        choice.kind = SUMSCAN_SLOTS;
    return choice;
}

/* --- closings --- */

/* Gives what roll-ups and sums the group has for the closing at hand, and says which rows are wanted besides. */
static int give_group(struct sumscan *scan, enum want *ret_want, struct error *err)
{
    struct sumscan_choice choice =
        sumscan_choose(&scan->groups[scan->group], scan->is_clean, scan->begin_ns, scan->end_ns, scan->step_ns);
    bool has_slots;

    switch (choice.kind) {
    case SUMSCAN_ROWS: *ret_want = WANT_ROWS; return 0;
    case SUMSCAN_HOUR: *ret_want = WANT_NOTHING; return give_hour(scan, err);
    case SUMSCAN_SERIES: *ret_want = WANT_SOME; return 0; /* sumscan_give_some gave the sums of series */
    case SUMSCAN_SLOTS: break;
    }
    if (give_slots(scan, choice.first_ns, choice.last_ns, &has_slots, err) < 0)
        return -1;
    *ret_want = has_slots ? WANT_EDGES : WANT_ROWS;
    return 0;
}

static int give_closing(struct sumscan *scan, const struct marker *marker, struct error *err)
{
    int64_t first_ns = MIN(round_down(scan->begin_ns + DAY_SLOT_NS - 1, DAY_SLOT_NS), scan->end_ns);
    int64_t last_ns = MAX(round_down(scan->end_ns, DAY_SLOT_NS), first_ns);
    unsigned wanted = 0;

    sumscan_go_to_closing(scan, marker);
    for (scan->group = 0; scan->group < scan->n_groups; scan->group++) {
        enum want want = WANT_NOTHING;
        uint32_t series;

        if (sumscan_representative(scan, &series, err) < 0 || (series && give_group(scan, &want, err) < 0))
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

/* The `span` of openhour.h: takes what is in memory if the range has all of it. No rows among it are a good answer, too. */
static int give_span(void *context, const struct openhour_span *span, uint32_t *ret_n_steps, struct error *err)
{
    struct sumscan *scan = context;
    bool is_hour = span->number == SLOTCACHE_HOUR;
    struct slotcache_value value;
    struct rollup rollup;
    int64_t length_ns;
    uint32_t series;

    *ret_n_steps = 0;
    arena_reset(&scan->arena);
    if (span->start_ns < scan->begin_ns || !may_cross(scan->step_ns, is_hour ? DAY_HOUR_NS : DAY_SLOT_NS))
        return 0;
    if (slotcache_get(scan->read.context->slots, span->head, scan->read.tenant, span->group, span->number,
                      scan->read.view.n_commits, SLOTCACHE_ROLLUP, &scan->arena, &value, err) < 0)
        return -1;
    length_ns = value.n_steps * SLOTCACHE_STEP_NS;
    if (span->start_ns + length_ns > scan->end_ns)
        return 0;
    *ret_n_steps = value.n_steps;
    if (!value.rollup.len)
        return 0;
    scan->group = span->place;
    if (sumscan_representative(scan, &series, err) < 0 ||
        rollup_decode(value.rollup, MAX_STACKS, scan->unpacker, &scan->arena, &rollup, err) < 0)
        return -1;
    *(is_hour ? &scan->reads->n_hours : &scan->reads->n_slots) += 1;
    scan->reads->n_bytes += value.rollup.len;
    return sumscan_give(scan, series, span->start_ns, length_ns, &rollup, err);
}

/* --- all hours --- */

static int sum_hour(struct sumscan *scan, struct error *err)
{
    const struct day_view *view = &scan->read.view;
    const struct openhour_sink heads = { scan, give_span, give_row };
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
            result = openhour_read(&scan->read, i, scan->begin_ns, scan->end_ns, &heads, err);
    return result;
}

static int sum_hours(struct sumscan *scan, struct error *err)
{
    scan->groups = rowfilter_groups(scan->read.filter, &scan->n_groups);
    scan->wants = arena_alloc(&scan->flags, scan->n_groups, err);
    if (!scan->wants || scan->sink->names(scan->sink->context, rowfilter_names(scan->read.filter), err) < 0)
        return -1;
    if (sumscan_give_some(scan, err) < 0)
        return -1;
    for (uint8_t hour = 0; hour < 24; hour++) {
        if (sumscan_go_to_hour(scan, hour) && sum_hour(scan, err) < 0)
            return -1;
        dayread_make_way(&scan->read);
    }
    return scan->sink->names(scan->sink->context, NULL, err);
}

int sumscan_day(struct day *day, const struct store_query *query, int64_t step_ns, const struct store_sum_sink *sink,
                struct store_reads *reads, struct error *err)
{
    struct sumscan scan = { .from_ns = query->from_ns,
                            .until_ns = query->until_ns,
                            .step_ns = step_ns,
                            .sink = sink,
                            .reads = reads,
                            .generation = sumcache_generation(day->context->sums) };
    int result;

    arena_init(&scan.arena, 0);
    arena_init(&scan.given, 0);
    arena_init(&scan.flags, 0);
    result = dayread_open(&scan.read, day, query->tenant, query, err);
    if (!result && scan.read.filter)
        result = unpacker_new(&scan.unpacker, err);
    if (!result && scan.read.filter)
        result = sum_hours(&scan, err);
    dayread_count(&scan.read, reads);
    unpacker_free(scan.unpacker);
    dayread_close(&scan.read);
    arena_done(&scan.arena);
    arena_done(&scan.given);
    arena_done(&scan.flags);
    return result;
}
