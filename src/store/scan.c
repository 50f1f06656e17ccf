// SPDX-License-Identifier: Apache-2.0
#include "store/scan.h"

#include "store/dayread.h"
#include "store/idset.h"

struct scan {
    struct dayread read;
    const struct store_query *query;
    const struct store_sink *sink;
};

static int pass_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    const struct scan *scan = context;

    if (scan->sink->reads)
        scan->sink->reads->n_rows++;
    return scan->sink->row(scan->sink->context, series, row, err);
}

static int pass_rows(struct scan *scan, struct rowstream *take_stream, struct error *err)
{
    return dayread_rows(&scan->read, take_stream, pass_row, scan, err);
}

static int scan_hour(struct scan *scan, uint8_t hour, struct error *err)
{
    struct rowstream_filter filter = { .tenant = scan->read.tenant,
                                       .from_ns = scan->query->from_ns,
                                       .until_ns = scan->query->until_ns,
                                       .wants = dayread_wants,
                                       .context = &scan->read,
                                       .ids = rowfilter_ids(scan->read.filter) };
    struct rowstream *stream;

    for (size_t i = 0; i < scan->read.view.markers.n; i++)
        if (scan->read.view.markers.items[i].hour == hour &&
            (rowstream_new_block(&scan->read.view, hour, scan->read.view.markers.items[i].number, &filter, &stream,
                                 err) < 0 ||
             pass_rows(scan, stream, err) < 0))
            return -1;
    for (size_t i = 0; i < scan->read.view.head_copies.n; i++)
        if (scan->read.view.head_copies.items[i].hour == hour &&
            (rowstream_new_head(&scan->read.view, &scan->read.view.head_copies.items[i], &filter, &stream, err) < 0 ||
             pass_rows(scan, stream, err) < 0))
            return -1;
    return 0;
}

static int scan_hours(struct scan *scan, struct error *err)
{
    const struct day *day = scan->read.view.day;

    if (scan->sink->names(scan->sink->context, rowfilter_names(scan->read.filter), err) < 0)
        return -1;
    for (uint8_t hour = 0; hour < 24; hour++) {
        int64_t from_ns = day->start_ns + hour * DAY_HOUR_NS;

        if (from_ns < scan->query->until_ns && from_ns + DAY_HOUR_NS > scan->query->from_ns &&
            scan_hour(scan, hour, err) < 0)
            return -1;
        dayread_make_way(&scan->read);
    }
    return scan->sink->names(scan->sink->context, NULL, err);
}

int scan_day(struct day *day, struct slice tenant, const struct store_query *query, const struct store_sink *sink,
             struct error *err)
{
    struct scan scan = { .query = query, .sink = sink };
    int result = dayread_open(&scan.read, day, tenant, query, err);

    if (!result && scan.read.filter)
        result = scan_hours(&scan, err);
    if (sink->reads)
        dayread_count(&scan.read, sink->reads);
    dayread_close(&scan.read);
    return result;
}

/* --- series that have a row that matches, where the labels of rows decide or deletions may have taken the last one --- */

static bool is_not_found_yet(void *context, uint32_t tenant, uint32_t series)
{
    struct scan *scan = context;

    return rowfilter_wants(scan->read.filter, series) && !rowfilter_is_found(scan->read.filter, series);
}

static int find_living(struct scan *scan, struct rowstream *take_stream, struct error *err)
{
    AUTO(rowstream_freep) struct rowstream *stream = take_stream;
    struct rowstream_item *item = rowstream_item(stream);
    bool has, keeps;

    for (;;) {
        if (rowstream_next(stream, &has, err) < 0)
            return -1;
        if (!has)
            return 0;
        if (rowfilter_is_found(scan->read.filter, item->series))
            continue;
        if (rowfilter_apply(scan->read.filter, item->series, &item->row, &keeps, err) < 0)
            return -1;
        if (keeps)
            rowfilter_note_found(scan->read.filter, item->series);
    }
}

static int find_all_living(struct scan *scan, struct error *err)
{
    struct rowstream_filter filter = { .tenant = scan->read.tenant,
                                       .from_ns = scan->query->from_ns,
                                       .until_ns = scan->query->until_ns,
                                       .wants = is_not_found_yet,
                                       .context = scan,
                                       .ids = rowfilter_ids(scan->read.filter) };
    struct rowstream *stream;

    for (size_t i = 0; i < scan->read.view.markers.n; i++)
        if (rowstream_new_block(&scan->read.view, scan->read.view.markers.items[i].hour,
                                scan->read.view.markers.items[i].number, &filter, &stream, err) < 0 ||
            find_living(scan, stream, err) < 0)
            return -1;
    for (size_t i = 0; i < scan->read.view.head_copies.n; i++)
        if (rowstream_new_head(&scan->read.view, &scan->read.view.head_copies.items[i], &filter, &stream, err) < 0 ||
            find_living(scan, stream, err) < 0)
            return -1;
    rowfilter_limit_to_found(scan->read.filter);
    return 0;
}

int scan_series(struct day *day, struct slice tenant, const struct store_query *query,
                int (*visit)(void *context, const struct seriesinfo *series, struct error *err), void *context,
                struct error *err)
{
    struct scan scan = { .query = query };
    int result = dayread_open(&scan.read, day, tenant, query, err);

    if (!result && scan.read.filter && (scan.read.view.has_deletions || rowfilter_is_open(scan.read.filter)))
        result = find_all_living(&scan, err);
    if (!result && scan.read.filter)
        result = rowfilter_each_series(scan.read.filter, visit, context, err);
    dayread_close(&scan.read);
    return result;
}

/* --- labels --- */

static int note_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    if (idset_add(context, row->label_set, err) < 0)
        return -1;
    for (uint32_t i = 0; row->label_sets && i < row->n_samples; i++)
        if (idset_add(context, row->label_sets[i], err) < 0)
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
    struct arena arena;
    struct idset sets;
    struct store_sink sink = { &sets, ignore_names, note_row };
    uint32_t *ids = NULL;
    int result;

    arena_init(&arena, 0);
    idset_init(&sets, &arena);
    scan->sink = &sink;
    result = scan_hours(scan, err);
    if (!result)
        result = idset_freeze(&sets, &ids, err);
    for (uint32_t i = 0; !result && i < sets.n; i++)
        result = rowfilter_each_label(scan->read.filter, ids[i], visit, context, err);
    arena_done(&arena);
    return result;
}

int scan_labels(struct day *day, struct slice tenant, const struct store_query *query,
                int (*visit)(void *context, struct slice name, struct slice value, struct error *err), void *context,
                struct error *err)
{
    struct scan scan = { .query = query };
    int result = dayread_open(&scan.read, day, tenant, query, err);
    bool is_plain = !scan.read.view.has_deletions && !query->wants && !query->ids &&
                    (!query->selector || selector_is_empty(query->selector));

    if (!result && scan.read.filter)
        result = is_plain ? names_each_label(rowfilter_names(scan.read.filter), visit, context, err)
                          : labels_of_rows(&scan, visit, context, err);
    dayread_close(&scan.read);
    return result;
}

/* The rows of one profile. */
struct finding {
    struct scan scan;
    const struct idrecord *record;
    bool has_found;
};

static bool is_series_of_profile(void *context, uint32_t tenant, uint32_t series)
{
    const struct finding *finding = context;

    return idrecord_has_series(finding->record, series);
}

static int find_rows(struct finding *finding, struct rowstream *take_stream, struct error *err)
{
    AUTO(rowstream_freep) struct rowstream *stream = take_stream;
    struct rowstream_item *item = rowstream_item(stream);
    bool has, keeps;

    while (!finding->has_found) {
        if (rowstream_next(stream, &has, err) < 0)
            return -1;
        if (!has)
            return 0;
        if (!idrecord_has_row(finding->record, item->row.start_ns, item->row.sequence))
            continue;
        if (rowfilter_apply(finding->scan.read.filter, item->series, &item->row, &keeps, err) < 0)
            return -1;
        finding->has_found = keeps;
    }
    return 0;
}

static int find_profile(struct finding *finding, struct error *err)
{
    struct scan *scan = &finding->scan;
    uint8_t hour = day_hour(scan->read.view.day, finding->record->start_ns);
    struct rowstream_filter filter = { .tenant = scan->read.tenant,
                                       .from_ns = finding->record->start_ns,
                                       .until_ns = finding->record->start_ns + 1,
                                       .wants = is_series_of_profile,
                                       .context = finding };
    struct rowstream *stream;

    for (size_t i = 0; i < scan->read.view.head_copies.n && !finding->has_found; i++)
        if (scan->read.view.head_copies.items[i].hour == hour &&
            (rowstream_new_head(&scan->read.view, &scan->read.view.head_copies.items[i], &filter, &stream, err) < 0 ||
             find_rows(finding, stream, err) < 0))
            return -1;
    for (size_t i = 0; i < scan->read.view.markers.n && !finding->has_found; i++)
        if (scan->read.view.markers.items[i].hour == hour &&
            (rowstream_new_block(&scan->read.view, hour, scan->read.view.markers.items[i].number, &filter, &stream,
                                 err) < 0 ||
             find_rows(finding, stream, err) < 0))
            return -1;
    return 0;
}

int scan_finds_profile(struct day *day, uint32_t tenant, const struct idrecord *record, bool *ret_finds,
                       struct error *err)
{
    struct finding finding = { .record = record };
    int result = dayread_open_living(&finding.scan.read, day, tenant, record->start_ns, record->start_ns + 1, err);

    if (!result)
        result = find_profile(&finding, err);
    dayread_close(&finding.scan.read);
    if (!result)
        *ret_finds = finding.has_found;
    return result;
}
