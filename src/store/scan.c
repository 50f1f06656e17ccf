// SPDX-License-Identifier: Apache-2.0
#include "store/scan.h"

#include "base/map.h"
#include "store/rowfilter.h"
#include "store/rowstream.h"

struct scan {
    struct day_context *context; /* NULL: not reading */
    struct day_view view;
    struct rowfilter *filter;
    const struct store_query *query;
    const struct store_sink *sink;
    uint32_t tenant;
};

static bool wants(void *context, uint32_t tenant, uint32_t series)
{
    struct scan *scan = context;

    return rowfilter_wants(scan->filter, series);
}

static int pass_rows(struct scan *scan, struct rowstream *take_stream, struct error *err)
{
    AUTO(rowstream_freep) struct rowstream *stream = take_stream;
    bool has, keeps;

    for (;;) {
        struct rowstream_item *item = rowstream_item(stream);

        if (rowstream_next(stream, &has, err) < 0)
            return -1;
        if (!has)
            return 0;
        if (rowfilter_apply(scan->filter, item->series, &item->row, &keeps, err) < 0)
            return -1;
        if (keeps &&
            scan->sink->row(scan->sink->context, rowfilter_series(scan->filter, item->series), &item->row, err) < 0)
            return -1;
    }
}

static int scan_hour(struct scan *scan, uint8_t hour, struct error *err)
{
    struct rowstream_filter filter = { .tenant = scan->tenant,
                                       .from_ns = scan->query->from_ns,
                                       .until_ns = scan->query->until_ns,
                                       .wants = wants,
                                       .context = scan };
    struct rowstream *stream;

    for (size_t i = 0; i < scan->view.markers.n; i++)
        if (scan->view.markers.items[i].hour == hour &&
            (rowstream_new_block(&scan->view, hour, scan->view.markers.items[i].number, &filter, &stream, err) < 0 ||
             pass_rows(scan, stream, err) < 0))
            return -1;
    for (size_t i = 0; i < scan->view.head_copies.n; i++)
        if (scan->view.head_copies.items[i].hour == hour &&
            (rowstream_new_head(&scan->view, &scan->view.head_copies.items[i], &filter, &stream, err) < 0 ||
             pass_rows(scan, stream, err) < 0))
            return -1;
    return 0;
}

static void begin_reading(struct day_context *context)
{
    LOCK_SCOPE(&context->readers_lock);
    while (context->n_readers >= DAY_MAX_READERS)
        lock_condition_wait(&context->readers_left, &context->readers_lock);
    context->n_readers++;
}

static void end_reading(struct day_context *context)
{
    LOCK_SCOPE(&context->readers_lock);
    context->n_readers--;
    lock_condition_wake_one(&context->readers_left);
}

static int open_scan(struct scan *scan, struct day *day, struct slice tenant, const struct selector *selector,
                     int64_t from_ns, int64_t until_ns, struct error *err)
{
    scan->tenant = day_find_tenant(day, tenant);
    if (!scan->tenant)
        return 0;
    scan->context = day->context;
    begin_reading(scan->context);
    if (day_view_open(day, scan->tenant, &scan->view, err) < 0)
        return -1;
    return rowfilter_new(&scan->view, scan->tenant, selector, from_ns, until_ns, &scan->filter, err);
}

static void close_scan(struct scan *scan)
{
    rowfilter_free(scan->filter);
    day_view_close(&scan->view);
    if (scan->context)
        end_reading(scan->context);
}

static int scan_hours(struct scan *scan, struct error *err)
{
    const struct day *day = scan->view.day;

    if (scan->sink->names(scan->sink->context, rowfilter_names(scan->filter), err) < 0)
        return -1;
    for (uint8_t hour = 0; hour < 24; hour++) {
        int64_t from_ns = day->start_ns + hour * DAY_HOUR_NS;

        if (from_ns < scan->query->until_ns && from_ns + DAY_HOUR_NS > scan->query->from_ns &&
            scan_hour(scan, hour, err) < 0)
            return -1;
    }
    return scan->sink->names(scan->sink->context, NULL, err);
}

int scan_day(struct day *day, struct slice tenant, const struct store_query *query, const struct store_sink *sink,
             struct error *err)
{
    struct scan scan = { .query = query, .sink = sink };
    int result = open_scan(&scan, day, tenant, query->selector, query->from_ns, query->until_ns, err);

    if (!result && scan.filter)
        result = scan_hours(&scan, err);
    close_scan(&scan);
    return result;
}

/* Series that have a row that matches, where the labels of rows decide or deletions may have taken the last one. */
struct living {
    struct scan scan;
    struct map found;
};

static bool is_not_found_yet(void *context, uint32_t tenant, uint32_t series)
{
    struct living *living = context;

    return rowfilter_wants(living->scan.filter, series) && !map_find(&living->found, series);
}

static int find_living(struct living *living, struct rowstream *take_stream, struct error *err)
{
    AUTO(rowstream_freep) struct rowstream *stream = take_stream;
    struct rowstream_item *item = rowstream_item(stream);
    bool has, keeps;

    for (;;) {
        if (rowstream_next(stream, &has, err) < 0)
            return -1;
        if (!has)
            return 0;
        if (map_find(&living->found, item->series))
            continue;
        if (rowfilter_apply(living->scan.filter, item->series, &item->row, &keeps, err) < 0 ||
            (keeps && map_set(&living->found, item->series, 1, err) < 0))
            return -1;
    }
}

static int find_all_living(struct living *living, struct error *err)
{
    struct scan *scan = &living->scan;
    struct rowstream_filter filter = { .tenant = scan->tenant,
                                       .from_ns = scan->query->from_ns,
                                       .until_ns = scan->query->until_ns,
                                       .wants = is_not_found_yet,
                                       .context = living };
    struct rowstream *stream;

    for (size_t i = 0; i < scan->view.markers.n; i++)
        if (rowstream_new_block(&scan->view, scan->view.markers.items[i].hour, scan->view.markers.items[i].number,
                                &filter, &stream, err) < 0 ||
            find_living(living, stream, err) < 0)
            return -1;
    for (size_t i = 0; i < scan->view.head_copies.n; i++)
        if (rowstream_new_head(&scan->view, &scan->view.head_copies.items[i], &filter, &stream, err) < 0 ||
            find_living(living, stream, err) < 0)
            return -1;
    rowfilter_limit(scan->filter, &living->found);
    return 0;
}

int scan_series(struct day *day, struct slice tenant, const struct store_query *query,
                int (*visit)(void *context, const struct seriesinfo *series, struct error *err), void *context,
                struct error *err)
{
    struct living living = { .scan.query = query };
    struct scan *scan = &living.scan;
    int result = open_scan(scan, day, tenant, query->selector, query->from_ns, query->until_ns, err);

    map_init(&living.found, 0);
    if (!result && scan->filter && (scan->view.has_deletions || rowfilter_is_open(scan->filter)))
        result = find_all_living(&living, err);
    if (!result && scan->filter)
        result = rowfilter_each_series(scan->filter, visit, context, err);
    map_done(&living.found);
    close_scan(scan);
    return result;
}

/* The label sets of rows that match, each once. */
struct label_sets {
    struct map seen;
    VEC(uint32_t) ids;
};

static int note_set(struct label_sets *sets, uint32_t id, struct error *err)
{
    uint32_t *slot;

    if (!id || map_find(&sets->seen, id))
        return 0;
    slot = VEC_PUSH(&sets->ids, UINT32_MAX, err);
    if (!slot)
        return -1;
    *slot = id;
    return map_set(&sets->seen, id, 1, err);
}

static int note_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    if (note_set(context, row->label_set, err) < 0)
        return -1;
    for (uint32_t i = 0; row->label_sets && i < row->n_samples; i++)
        if (note_set(context, row->label_sets[i], err) < 0)
            return -1;
    return 0;
}

static int ignore_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

/* The labels of the rows that match: what was deleted, or belongs to other series, is not among them. */
static int labels_of_rows(struct scan *scan,
                          int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                          void *context, struct error *err)
{
    struct label_sets sets = { .seen = { 0 } };
    struct store_sink sink = { &sets, ignore_names, note_row };
    int result;

    map_init(&sets.seen, 0);
    scan->sink = &sink;
    result = scan_hours(scan, err);
    for (size_t i = 0; i < sets.ids.n && !result; i++)
        result = rowfilter_each_label(scan->filter, sets.ids.items[i], visit, context, err);
    map_done(&sets.seen);
    VEC_DONE(&sets.ids);
    return result;
}

int scan_labels(struct day *day, struct slice tenant, const struct store_query *query,
                int (*visit)(void *context, struct slice name, struct slice value, struct error *err), void *context,
                struct error *err)
{
    struct scan scan = { .query = query };
    int result = open_scan(&scan, day, tenant, query->selector, query->from_ns, query->until_ns, err);
    bool is_plain = !scan.view.has_deletions && (!query->selector || selector_is_empty(query->selector));

    if (!result && scan.filter)
        result = is_plain ? names_each_label(rowfilter_names(scan.filter), visit, context, err)
                          : labels_of_rows(&scan, visit, context, err);
    close_scan(&scan);
    return result;
}
