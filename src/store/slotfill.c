// SPDX-License-Identifier: Apache-2.0
#include "store/slotfill.h"

#include "block/rollup.h"
#include "store/commit.h"
#include "store/openwindows.h"
#include "store/pace.h"
#include "store/rowstream.h"
#include "store/slotcache.h"

enum {
    MAX_STACKS = HEADROW_MAX_SAMPLES,
    ROWS_OF_PACE = 16, /* rows between two looks at the clock */
};

/* A pass over a head. */
struct filling {
    struct day *day;
    struct slotcache *cache;
    struct slotcache_head head;
    uint64_t n_commits; /* of the view */
    uint32_t place;     /* of the head */
    bool has_recents;   /* of the head: else those that start at `until_ns` or later are found out here */
    int64_t until_ns;   /* day->slots_until_ns */
    struct packer *packer;
    struct unpacker *unpacker;
    struct arena arena; /* of finishing one span */
    struct buffer rollup, windows;
    struct pace pace;
    uint32_t n_rows; /* so far */

    /* the group at hand */
    bool has_group;
    uint32_t tenant, group;
    struct slotcache_plan plan;
    struct rollup_builder sums[SLOTCACHE_SPANS];
    struct openwindows_builder windows_of[SLOTCACHE_SPANS];
};

static bool is_planned(const struct filling *filling, uint32_t span)
{
    return filling->plan.until[span] > filling->plan.from[span];
}

static int64_t start_of(const struct filling *filling, uint32_t span)
{
    return filling->head.hour_ns + (span == SLOTCACHE_HOUR ? 0 : span * DAY_SLOT_NS);
}

/* Whether rows that start then are to be added to the span. */
static bool takes(const struct filling *filling, uint32_t span, int64_t time_ns)
{
    int64_t offset_ns = time_ns - start_of(filling, span);

    return offset_ns >= filling->plan.from[span] * SLOTCACHE_STEP_NS &&
           offset_ns < filling->plan.until[span] * SLOTCACHE_STEP_NS;
}

/* --- a group --- */

/* The sums of what was there and of what was read. */
static int join_rollups(struct filling *filling, uint32_t span, struct slice old, struct error *err)
{
    struct rollup_builder *sums = &filling->sums[span];
    struct rollup rollup;

    if (old.len && (rollup_decode(old, MAX_STACKS, filling->unpacker, &filling->arena, &rollup, err) < 0 ||
                    rollup_builder_merge(sums, &rollup, err) < 0))
        return -1;
    buffer_clear(&filling->rollup);
    if (rollup_builder_finish(sums, &filling->arena, &rollup, err) < 0)
        return -1;
    return rollup_encode(&rollup, filling->packer, &filling->rollup, err);
}

/* The windows that were there, and behind them those that were read. */
static int join_windows(struct filling *filling, uint32_t span, struct slice old, struct error *err)
{
    buffer_clear(&filling->windows);
    buffer_append_slice(&filling->windows, old);
    return openwindows_builder_finish(&filling->windows_of[span], filling->packer, &filling->windows, err);
}

/* Joins what was read with what is there, and puts it in its place. */
static int finish_span(struct filling *filling, uint32_t span, struct error *err)
{
    uint32_t from = filling->plan.from[span];
    struct slotcache_value value = { .has_windows = true };

    arena_reset(&filling->arena);
    if (from && slotcache_get(filling->cache, &filling->head, filling->tenant, filling->group, span, filling->n_commits,
                              SLOTCACHE_BOTH, &filling->arena, &value, err) < 0)
        return -1;
    if (value.n_steps != from)
        return 0; /* it was dropped meanwhile */
    if (filling->sums[span].n_rows) {
        if (join_rollups(filling, span, value.rollup, err) < 0 || join_windows(filling, span, value.windows, err) < 0)
            return -1;
        value.rollup = buffer_slice(&filling->rollup);
        value.windows = buffer_slice(&filling->windows);
    }
    value.n_steps = filling->plan.until[span];
    slotcache_put(filling->cache, filling->tenant, filling->group, span, filling->n_commits, &value);
    return 0;
}

static void clear_span(struct filling *filling, uint32_t span, size_t keep_bytes)
{
    rollup_builder_clear(&filling->sums[span], keep_bytes);
    openwindows_builder_clear(&filling->windows_of[span], keep_bytes);
}

/* Nothing is put in its place in this pass. */
static void leave_span(struct filling *filling, uint32_t span)
{
    filling->plan.until[span] = 0;
    clear_span(filling, span, 0);
}

static int finish_group(struct filling *filling, struct error *err)
{
    size_t keep_bytes = filling->day->context->close_bytes / (8 * SLOTCACHE_SPANS);

    if (!filling->has_group)
        return 0;
    filling->has_group = false;
    for (uint32_t span = 0; span < SLOTCACHE_SPANS; span++) {
        if (is_planned(filling, span) && finish_span(filling, span, err) < 0) {
            if (err->code != ERR_LIMIT)
                return -1;
            slotcache_refuse(filling->cache, filling->tenant, filling->group, span);
        }
        clear_span(filling, span, keep_bytes);
    }
    return pace_keep(&filling->pace, filling->day->context, err);
}

/* When sums and windows need too much memory, those of the oldest slot are put off to the next pass. What needs too much
 * alone is given up. */
static void relieve_memory(struct filling *filling)
{
    uint32_t oldest = SLOTCACHE_HOUR, n = 0;
    size_t total = 0;

    for (uint32_t span = SLOTCACHE_SPANS; span-- > 0;) {
        size_t bytes =
            rollup_builder_bytes(&filling->sums[span]) + openwindows_builder_bytes(&filling->windows_of[span]);

        total += bytes;
        n += bytes > 0;
        if (bytes)
            oldest = span;
    }
    if (total <= filling->day->context->close_bytes / 2)
        return;
    if (n == 1)
        slotcache_refuse(filling->cache, filling->tenant, filling->group, oldest);
    leave_span(filling, oldest);
}

static int add_to(struct filling *filling, uint32_t span, const struct rowstream_item *item,
                  const struct openwindows_row *window, struct error *err)
{
    struct rollup_builder *sums = &filling->sums[span];

    if (!is_planned(filling, span) || !takes(filling, span, item->row.start_ns))
        return 0;
    if (!sums->n_rows)
        rollup_builder_restart(sums, item->row.n_types, SIZE_MAX);
    if (rollup_builder_add(sums, item->series, &item->row, err) < 0)
        return -1;
    return openwindows_builder_add(&filling->windows_of[span], window, filling->packer, err);
}

/* Adds the row to its slot and to the hour, where they are planned. */
static int add_up(struct filling *filling, const struct rowstream_item *item, struct error *err)
{
    uint32_t slot = (uint32_t)((item->row.start_ns - filling->head.hour_ns) / DAY_SLOT_NS);
    int64_t totals[PROFILE_MAX_TYPES];
    struct openwindows_row window = { .series = item->series,
                                      .n_types = item->row.n_types,
                                      .start_ns = item->row.start_ns,
                                      .duration_ns = item->row.duration_ns,
                                      .totals = totals };

    for (uint32_t type = 0; type < item->row.n_types; type++)
        totals[type] = headrow_total(&item->row, type);
    if (add_to(filling, slot, item, &window, err) < 0)
        return -1;
    return add_to(filling, SLOTCACHE_HOUR, item, &window, err);
}

static void note_recent(struct filling *filling, const struct rowstream_item *item)
{
    struct recents_row row = { filling->place, item->tenant,       item->group,
                               item->series,   item->row.start_ns, item->row.sequence };

    LOCK_SCOPE(&filling->day->lock);
    recents_add(&filling->day->recents, &row);
}

static int add_row(struct filling *filling, const struct rowstream_item *item, struct error *err)
{
    if (item->row.start_ns >= filling->until_ns)
        note_recent(filling, item);
    else if (add_up(filling, item, err) < 0)
        return -1;
    relieve_memory(filling);
    return ++filling->n_rows % ROWS_OF_PACE ? 0 : pace_keep(&filling->pace, filling->day->context, err);
}

/* --- a head --- */

/* The first time, at `time_ns` or later, from which rows of the group are wanted; INT64_MAX = none. */
static int64_t find_time(const struct filling *filling, int64_t time_ns)
{
    int64_t first_ns = filling->has_recents ? INT64_MAX : MAX(filling->until_ns, time_ns);

    for (uint32_t span = 0; span < SLOTCACHE_SPANS; span++) {
        int64_t from_ns = start_of(filling, span) + filling->plan.from[span] * SLOTCACHE_STEP_NS;

        if (!is_planned(filling, span))
            continue;
        if (takes(filling, span, time_ns))
            return time_ns;
        if (from_ns > time_ns)
            first_ns = MIN(first_ns, from_ns);
    }
    return first_ns;
}

/* The `seek` of the stream: groups begin and end here, with or without rows. */
static int seek(void *context, struct rowstream_place *place, bool *ret_has, struct error *err)
{
    struct filling *filling = context;
    int64_t time_ns;

    *ret_has = true;
    if (!filling->has_group || filling->tenant != place->tenant || filling->group != place->group) {
        if (finish_group(filling, err) < 0)
            return -1;
        filling->has_group = true;
        filling->tenant = place->tenant;
        filling->group = place->group;
        slotcache_plan(filling->cache, place->tenant, place->group, &filling->plan);
    }
    time_ns = find_time(filling, place->start_ns);
    if (time_ns == place->start_ns)
        return 0;
    if (time_ns != INT64_MAX)
        place->start_ns = time_ns;
    else if (find_time(filling, filling->head.hour_ns) == INT64_MAX)
        *ret_has = rowstream_pass_group(place);
    else
        *ret_has = rowstream_pass_series(place);
    return 0;
}

static int read_head(struct filling *filling, const struct day_view *view, const struct day_head *head,
                     struct error *err)
{
    struct rowstream_filter filter = { .seek = seek, .context = filling, .is_sparse = true, .is_strict = true };
    AUTO(rowstream_freep) struct rowstream *stream = NULL;
    bool has;

    if (rowstream_new_head(view, head, &filter, &stream, err) < 0)
        return -1;
    for (;;) {
        if (rowstream_next(stream, &has, err) < 0)
            return -1;
        if (!has)
            return finish_group(filling, err);
        if (add_row(filling, rowstream_item(stream), err) < 0)
            return -1;
    }
}

static int filling_init(struct filling *filling, struct day *day, struct error *err)
{
    *filling = (struct filling){ .day = day, .cache = day->context->slots };
    arena_init(&filling->arena, day->context->close_bytes);
    buffer_init(&filling->rollup, 0);
    buffer_init(&filling->windows, 0);
    for (uint32_t span = 0; span < SLOTCACHE_SPANS; span++) {
        rollup_builder_init(&filling->sums[span], 0);
        openwindows_builder_init(&filling->windows_of[span]);
    }
    pace_begin(&filling->pace);
    if (packer_new(&filling->packer, err) < 0)
        return -1;
    return unpacker_new(&filling->unpacker, err);
}

static void filling_done(struct filling *filling)
{
    for (uint32_t span = 0; span < SLOTCACHE_SPANS; span++) {
        rollup_builder_done(&filling->sums[span]);
        openwindows_builder_done(&filling->windows_of[span]);
    }
    packer_free(filling->packer);
    unpacker_free(filling->unpacker);
    arena_done(&filling->arena);
    buffer_done(&filling->rollup);
    buffer_done(&filling->windows);
}

/* Begins a pass and takes its view, in which all rows are that were added before it began (slotcache.h, S4). */
static int open_pass(struct filling *filling, const struct day_head *head, int64_t now_ns, struct day_view *view,
                     struct error *err)
{
    struct day *day = filling->day;

    LOCK_SCOPE(&day->lock);
    filling->has_recents = head->has_recents;
    filling->until_ns = day->slots_until_ns;
    filling->head = (struct slotcache_head){ day, day->start_ns + head->hour * DAY_HOUR_NS, head->number };
    if (slotcache_begin(filling->cache, &filling->head, now_ns, err) < 0)
        return -1;
    if (commit_wait(day, day->late_group, err) == 0 && day_view_open_locked(day, 0, view, err) == 0) {
        filling->n_commits = view->n_commits;
        return 0;
    }
    slotcache_end(filling->cache);
    return -1;
}

/* All rows that start at `until_ns` or later are in the list: those that were there, by the pass, and those that came since
 * the day was opened. */
static void finish_recents(struct filling *filling)
{
    struct day *day = filling->day;

    LOCK_SCOPE(&day->lock);
    if (filling->has_recents)
        return;
    recents_forget(&day->recents, filling->until_ns);
    day->heads.items[filling->place].has_recents = true;
}

static int fill_head(struct day *day, uint32_t place, const struct day_head *head, int64_t now_ns, struct error *err)
{
    struct filling filling;
    struct day_view view;
    int result = filling_init(&filling, day, err);

    filling.place = place;
    if (!result)
        result = open_pass(&filling, head, now_ns, &view, err);
    if (!result) {
        result = read_head(&filling, &view, head, err);
        slotcache_end(filling.cache);
        day_view_close(&view);
    }
    if (!result)
        finish_recents(&filling);
    filling_done(&filling);
    return result;
}

/* --- a day --- */

/* Raises day->slots_until_ns. From now on rows that start before it are noted; those on their way are waited for as if
 * they were late. False if no minute is over since the last time. */
static bool raise_until(struct day *day, int64_t now_ns)
{
    int64_t until_ns = MIN(now_ns - SLOTCACHE_USUAL_DELAY_NS, day->start_ns + DAY_NS);

    until_ns -= (until_ns - day->start_ns) % SLOTCACHE_STEP_NS;
    LOCK_SCOPE(&day->lock);
    if (until_ns <= day->slots_until_ns)
        return false;
    day->slots_until_ns = until_ns;
    for (size_t i = 0; i < day->heads.n; i++)
        day->late_group = MAX(day->late_group, day->heads.items[i].last_group);
    return true;
}

/* The head at a place, if it goes on. */
static bool find_open(struct day *day, size_t place, int64_t due_ns, struct day_head *ret_head)
{
    LOCK_SCOPE(&day->lock);
    *ret_head = day->heads.items[place];
    return !ret_head->is_covered && !ret_head->is_damaged && !ret_head->is_left_out &&
           day->start_ns + ret_head->hour * DAY_HOUR_NS < day->slots_until_ns &&
           day->start_ns + (ret_head->hour + 1) * DAY_HOUR_NS > due_ns;
}

static size_t count_heads(struct day *day)
{
    LOCK_SCOPE(&day->lock);
    return day->heads.n;
}

static void leave_out(struct day *day, size_t place, const struct error *err)
{
    day_damage(day, "head", err);
    LOCK_SCOPE(&day->lock);
    day->heads.items[place].is_left_out = true;
}

/* Those that roll-ups have, also of groups that are given more time. */
static void forget_recents(struct day *day)
{
    LOCK_SCOPE(&day->lock);
    recents_forget(&day->recents, day->slots_until_ns - SLOTCACHE_LONG_DELAY_NS);
}

int slotfill_day(struct day *day, int64_t now_ns, int64_t due_ns, struct error *err)
{
    struct day_head head;
    size_t n;

    if (!day->context->slots)
        return 0;
    LOCK_SCOPE(&day->work);
    if (!raise_until(day, now_ns))
        return 0;
    n = count_heads(day);
    for (uint32_t place = 0; place < n; place++) {
        if (!find_open(day, place, due_ns, &head) || fill_head(day, place, &head, now_ns, err) == 0)
            continue;
        /* A row of another shape than its group is ERR_INVALID. */
        if (err->code != ERR_CORRUPT && err->code != ERR_VERSION && err->code != ERR_INVALID)
            return error_wrap(err, "adding up hour %02u of %s", head.hour, day->name);
        leave_out(day, place, err);
    }
    forget_recents(day);
    return 0;
}
