// SPDX-License-Identifier: Apache-2.0
#include "store/windowscan.h"

#include "block/part.h"
#include "block/storekey.h"
#include "store/dayread.h"
#include "store/openhour.h"
#include "store/openwindows.h"

struct windowscan {
    struct dayread read;
    int64_t from_ns, until_ns;
    const struct store_window_sink *sink;
    struct store_reads *reads;
    struct unpacker *unpacker;
    struct arena arena;  /* of one part, or chunk */
    struct arena copies; /* of what is in memory of a span */
    const struct rowfilter_group *groups;
    bool is_clean;   /* deletions are applied in the closing at hand */
    bool takes_rows; /* of the closing at hand, rows are wanted as well */
};

/* --- rows --- */

static int give_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct windowscan *scan = context;
    int64_t totals[PROFILE_MAX_TYPES];
    struct windows windows = { .n_types = row->n_types,
                               .n_rows = 1,
                               .starts_ns = &(int64_t){ row->start_ns },
                               .durations_ns = &(int64_t){ row->duration_ns },
                               .sequences = &(uint32_t){ row->sequence },
                               .label_sets = &(uint32_t){ row->label_set },
                               .periods = &(int64_t){ row->period },
                               .sample_counts = &(uint32_t){ row->n_samples },
                               .totals = totals };

    for (uint32_t type = 0; type < row->n_types; type++)
        totals[type] = headrow_total(row, type);
    scan->reads->n_rows++;
    return scan->sink->windows(scan->sink->context, series, &windows, err);
}

/* --- parts --- */

/* Whether windows alone answer for the series; false in `*ret_is_wanted` if it is not asked for. */
static bool is_enough(const struct windowscan *scan, uint32_t series, bool *ret_is_wanted)
{
    bool is_whole;
    uint32_t group = rowfilter_group_of(scan->read.filter, series, &is_whole);

    *ret_is_wanted = group != UINT32_MAX;
    return *ret_is_wanted && is_whole && (scan->is_clean || !scan->groups[group].has_others);
}

static bool wants_rows(void *context, uint32_t tenant, uint32_t series)
{
    bool is_wanted, is_windows = is_enough(context, series, &is_wanted);

    return is_wanted && !is_windows;
}

/* Leaves out the rows that do not start in the range; there may be none left. */
static void cut(struct windowscan *scan, struct windows *windows)
{
    uint32_t first = 0, end = windows->n_rows;

    while (first < end && windows->starts_ns[first] < scan->from_ns)
        first++;
    while (end > first && windows->starts_ns[end - 1] >= scan->until_ns)
        end--;
    if (end - first < windows->n_rows)
        for (uint32_t type = 0; type < windows->n_types; type++)
            memmove(windows->totals + (size_t)type * (end - first),
                    windows->totals + (size_t)type * windows->n_rows + first, (end - first) * sizeof(*windows->totals));
    windows->starts_ns += first;
    windows->durations_ns += first;
    windows->n_rows = end - first;
    if (scan->sink->is_brief)
        return;
    windows->sequences += first;
    windows->label_sets += first;
    windows->periods += first;
    windows->sample_counts += first;
}

static int give_part(struct windowscan *scan, uint32_t series_id, struct slice value, struct error *err)
{
    const struct seriesinfo *series;
    struct windows windows;
    int result;

    arena_reset(&scan->arena);
    result = scan->sink->is_brief ? windows_decode_brief(value, scan->unpacker, &scan->arena, &windows, err)
                                  : windows_decode(value, scan->unpacker, &scan->arena, &windows, err);
    if (result < 0) {
        if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
            return -1;
        day_damage(scan->read.view.day, "windows", err);
        return 0;
    }
    if (rowfilter_series(scan->read.filter, series_id, &series, err) < 0)
        return -1;
    if (!series || series->n_types != windows.n_types)
        return 0; /* the record of the series is damaged, which was counted */
    scan->reads->n_parts++;
    scan->reads->n_bytes += value.len;
    cut(scan, &windows);
    return windows.n_rows ? scan->sink->windows(scan->sink->context, series, &windows, err) : 0;
}

/* Whether the iterator stands on a key, if need be on the first one behind damage, which is counted. */
static int settle(struct windowscan *scan, struct kv_iterator *iterator, const struct storekey *last, bool *ret_has,
                  struct error *err)
{
    *ret_has = kv_iterator_is_valid(iterator);
    if (*ret_has || kv_iterator_check(iterator, err) == 0)
        return 0;
    if (err->code != ERR_CORRUPT)
        return -1;
    day_damage(scan->read.view.day, "windows", err);
    return kv_iterator_pass_damage(iterator, storekey_slice(last), ret_has, err);
}

static int give_parts(struct windowscan *scan, const struct marker *marker, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    const struct day_view *view = &scan->read.view;
    struct storekey last = storekey_block(
        (struct storekey_block){ .hour = marker->hour, .kind = STOREKEY_WINDOWS, .tenant = scan->read.tenant });

    if (kv_iterator_new(view->day->kv, view->day->block_family, view->snapshot, slice_of(last.bytes, 6), false,
                        &iterator, err) < 0)
        return -1;
    for (;; kv_iterator_next(iterator)) {
        struct storekey_block key;
        bool is_wanted, has;

        if (settle(scan, iterator, &last, &has, err) < 0)
            return -1;
        if (!has)
            return 0;
        if (!storekey_parse_block(kv_iterator_key(iterator), &key))
            continue;
        last = storekey_block(key);
        if (key.number != marker->number)
            continue;
        if (is_enough(scan, key.series, &is_wanted)) {
            if (give_part(scan, key.series, kv_iterator_value(iterator), err) < 0)
                return -1;
        } else
            scan->takes_rows |= is_wanted;
    }
}

static int give_closing(struct windowscan *scan, const struct marker *marker, struct error *err)
{
    struct rowstream_filter filter = { .tenant = scan->read.tenant,
                                       .from_ns = scan->from_ns,
                                       .until_ns = scan->until_ns,
                                       .wants = wants_rows,
                                       .context = scan,
                                       .ids = rowfilter_ids(scan->read.filter) };
    struct rowstream *stream;

    scan->is_clean = day_view_is_clean(&scan->read.view, marker);
    scan->takes_rows = false;
    if (give_parts(scan, marker, err) < 0)
        return -1;
    if (!scan->takes_rows)
        return 0;
    if (rowstream_new_block(&scan->read.view, marker->hour, marker->number, &filter, &stream, err) < 0)
        return -1;
    return dayread_rows(&scan->read, stream, give_row, scan, err);
}

/* --- open hours --- */

/* Gives the rows [first, end) of a chunk, all of one series, as far as they start in the range. `totals` has room for
 * theirs. */
static int give_run(struct windowscan *scan, const struct openwindows *chunk, uint32_t first, uint32_t end,
                    int64_t *totals, struct error *err)
{
    uint32_t series_id = chunk->series[first];
    const struct seriesinfo *series;
    struct windows windows;

    while (first < end && chunk->starts_ns[first] < scan->from_ns)
        first++;
    while (end > first && chunk->starts_ns[end - 1] >= scan->until_ns)
        end--;
    if (first == end)
        return 0;
    if (rowfilter_series(scan->read.filter, series_id, &series, err) < 0)
        return -1;
    if (!series || series->n_types != chunk->n_types)
        return 0; /* the record of the series is damaged, which was counted */
    windows = (struct windows){ .n_types = chunk->n_types,
                                .n_rows = end - first,
                                .starts_ns = chunk->starts_ns + first,
                                .durations_ns = chunk->durations_ns + first,
                                .totals = totals };
    for (uint32_t type = 0; type < chunk->n_types; type++)
        memcpy(totals + (size_t)type * windows.n_rows, chunk->totals + (size_t)type * chunk->n_rows + first,
               windows.n_rows * sizeof(*totals));
    return scan->sink->windows(scan->sink->context, series, &windows, err);
}

static int give_chunk(struct windowscan *scan, const struct openwindows *chunk, struct error *err)
{
    int64_t *totals = ARENA_ARRAY(&scan->arena, int64_t, (size_t)chunk->n_types * chunk->n_rows, err);

    if (!totals)
        return -1;
    for (uint32_t first = 0, end; first < chunk->n_rows; first = end) {
        for (end = first + 1; end < chunk->n_rows && chunk->series[end] == chunk->series[first];)
            end++;
        if (give_run(scan, chunk, first, end, totals, err) < 0)
            return -1;
    }
    return 0;
}

/* The `span` of openhour.h: rows have their starts, so the range may cut it. */
static int give_span(void *context, const struct openhour_span *span, uint32_t *ret_n_steps, struct error *err)
{
    struct windowscan *scan = context;
    struct slotcache_value value;
    struct openwindows chunk;
    size_t len;
    bool has;

    arena_reset(&scan->copies);
    if (slotcache_get(scan->read.context->slots, span->head, scan->read.tenant, span->group, span->number,
                      scan->read.view.n_commits, SLOTCACHE_WINDOWS, &scan->copies, &value, err) < 0)
        return -1;
    *ret_n_steps = value.has_windows ? value.n_steps : 0;
    len = value.windows.len;
    for (bool is_first = true;; is_first = false) {
        arena_reset(&scan->arena);
        if (openwindows_next(&value.windows, scan->from_ns, scan->until_ns, scan->unpacker, &scan->arena, &chunk, &has,
                             err) < 0)
            return -1;
        if (!has)
            return 0;
        scan->reads->n_parts += is_first;
        scan->reads->n_bytes += is_first ? len : 0;
        if (give_chunk(scan, &chunk, err) < 0)
            return -1;
    }
}

static int give_head(struct windowscan *scan, size_t number, struct error *err)
{
    /* What is in memory has no sequences. */
    struct openhour_sink sink = { scan, scan->sink->is_brief ? give_span : NULL, give_row };

    return openhour_read(&scan->read, number, scan->from_ns, scan->until_ns, &sink, err);
}

/* --- a day --- */

static bool is_in_range(const struct windowscan *scan, uint8_t hour)
{
    int64_t hour_ns = scan->read.view.day->start_ns + hour * DAY_HOUR_NS;

    return hour_ns < scan->until_ns && hour_ns + DAY_HOUR_NS > scan->from_ns;
}

static int give_day(struct windowscan *scan, struct error *err)
{
    const struct day_view *view = &scan->read.view;
    size_t n_groups;

    scan->groups = rowfilter_groups(scan->read.filter, &n_groups);
    for (size_t i = 0; i < view->markers.n; i++)
        if (is_in_range(scan, view->markers.items[i].hour)) {
            if (give_closing(scan, &view->markers.items[i], err) < 0)
                return -1;
            dayread_make_way(&scan->read);
        }
    for (size_t i = 0; i < view->head_copies.n; i++)
        if (is_in_range(scan, view->head_copies.items[i].hour) && give_head(scan, i, err) < 0)
            return -1;
    return 0;
}

int windowscan_day(struct day *day, const struct store_query *query, const struct store_window_sink *sink,
                   struct store_reads *reads, struct error *err)
{
    struct windowscan scan = { .from_ns = query->from_ns, .until_ns = query->until_ns, .sink = sink, .reads = reads };
    int result;

    arena_init(&scan.arena, 0);
    arena_init(&scan.copies, 0);
    result = dayread_open(&scan.read, day, query->tenant, query, err);
    if (!result && scan.read.filter)
        result = unpacker_new(&scan.unpacker, err);
    if (!result && scan.read.filter)
        result = give_day(&scan, err);
    dayread_count(&scan.read, reads);
    unpacker_free(scan.unpacker);
    dayread_close(&scan.read);
    arena_done(&scan.arena);
    arena_done(&scan.copies);
    return result;
}
