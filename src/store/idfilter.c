// SPDX-License-Identifier: Apache-2.0
#include "store/idfilter.h"

#include "block/idrecord.h"
#include "block/rowid.h"
#include "block/spanindex.h"

#include <stdlib.h>

enum {
    SPAN_BYTES = sizeof(((struct link *)0)->span_id),
    TRACE_BYTES = sizeof(((struct link *)0)->trace_id),
    MAX_ROWS = 1 << 22, /* of the profiles asked for */
    MAX_GUESSES = 8,    /* ids that rows are searched for before they are read */
};

/* Ids of one kind, sorted. */
struct ids {
    uint8_t *bytes;
    uint32_t n;
    uint32_t id_bytes;
};

struct idfilter {
    const struct day_view *view;
    int (*check)(void *context, struct error *err); /* of the query */
    void *check_context;
    uint32_t tenant;
    struct ids spans, traces;
    const struct spanids *span_set; /* NULL = any */
    bool is_of_span;
    bool has_profiles;
    struct map rows;   /* sequence -> series */
    struct map series; /* those of the rows */
    uint64_t n_spans_read;
    struct arena arena; /* of the ids */
    struct arena row;   /* of the row that was cut last */
};

/* --- sets of ids --- */

static int compare_ids(const void *a, const void *b, void *id_bytes)
{
    return memcmp(a, b, *(const uint32_t *)id_bytes);
}

static int copy_ids(struct idfilter *filter, const void *bytes, uint32_t n, uint32_t id_bytes, struct ids *ret_ids,
                    struct error *err)
{
    struct ids ids = { arena_alloc(&filter->arena, (size_t)n * id_bytes, err), n, id_bytes };

    if (!ids.bytes)
        return -1;
    if (n) {
        memcpy(ids.bytes, bytes, (size_t)n * id_bytes);
        qsort_r(ids.bytes, n, id_bytes, compare_ids, &ids.id_bytes);
    }
    *ret_ids = ids;
    return 0;
}

static const uint8_t *id_at(const struct ids *ids, uint32_t i)
{
    return ids->bytes + (size_t)i * ids->id_bytes;
}

static bool has_id(const struct ids *ids, const uint8_t *id)
{
    uint32_t low = 0, high = ids->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = memcmp(id_at(ids, middle), id, ids->id_bytes);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* --- profiles --- */

static int add_row(struct idfilter *filter, uint32_t sequence, uint32_t series, struct error *err)
{
    if (map_set(&filter->rows, sequence, series, err) < 0)
        return error_wrap(err, "the rows of the profiles that are asked for");
    return map_set(&filter->series, series, 1, err);
}

/* The rows of a record. One that cannot be read is counted, and the profile is not found; older ones are empty. */
static int add_record(struct idfilter *filter, struct slice value, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct idrecord record;

    arena_init(&arena, filter->view->day->context->read_bytes);
    if (!value.len)
        return 0;
    if (idrecord_decode(value, &arena, &record, err) < 0) {
        if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
            return -1;
        day_damage(filter->view->day, "the record of a profile id", err);
        return 0;
    }
    for (uint32_t i = 0; i < record.n_rows; i++)
        if (add_row(filter, record.sequence + i, record.series[i], err) < 0)
            return -1;
    return 0;
}

static int add_profile(struct idfilter *filter, struct kv_iterator *iterator, const uint8_t id[static ROWID_BYTES],
                       struct error *err)
{
    const struct day *day = filter->view->day;
    struct storekey key = storekey_profile_id(filter->tenant, id);
    int64_t first_hour = rowid_hour(day->start_ns);
    struct rowid row;

    kv_iterator_seek(iterator, storekey_slice(&key));
    if (kv_iterator_is_valid(iterator)) {
        if (slice_equal(kv_iterator_key(iterator), storekey_slice(&key)))
            return add_record(filter, kv_iterator_value(iterator), err);
    } else if (kv_iterator_check(iterator, err) < 0) {
        if (err->code != ERR_CORRUPT)
            return -1;
        day_damage(filter->view->day, "profile ids", err);
    }
    if (rowid_decode(id, &row) && row.hour >= first_hour && row.hour - first_hour < 24)
        return add_row(filter, row.sequence, row.series, err);
    return 0;
}

static int find_profiles(struct idfilter *filter, const struct store_ids *ids, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct storekey key = storekey_profile_id(filter->tenant, (const uint8_t[ROWID_BYTES]){ 0 });

    filter->has_profiles = ids->n_profiles > 0;
    if (!filter->has_profiles)
        return 0;
    if (kv_iterator_new(filter->view->day->kv, KV_DEFAULT, filter->view->snapshot,
                        slice_of(key.bytes, key.len - ROWID_BYTES), false, &iterator, err) < 0)
        return -1;
    for (uint32_t i = 0; i < ids->n_profiles; i++)
        if (add_profile(filter, iterator, ids->profiles[i], err) < 0)
            return -1;
    return 0;
}

/* --- making --- */

int idfilter_new(const struct day_view *view, uint32_t tenant, const struct store_query *query,
                 struct idfilter **ret_filter, struct error *err)
{
    AUTO(idfilter_freep) struct idfilter *filter = MEMORY_NEW(struct idfilter, err);
    const struct store_ids *ids = query->ids;

    if (!filter)
        return -1;
    filter->view = view;
    filter->tenant = tenant;
    filter->check = query->check;
    filter->check_context = query->check_context;
    filter->span_set = ids->span_set;
    filter->is_of_span = ids->is_of_span;
    arena_init(&filter->arena, 0);
    arena_init(&filter->row, 0);
    map_init(&filter->rows, MAX_ROWS);
    map_init(&filter->series, 0);
    if (copy_ids(filter, ids->spans, ids->n_spans, SPAN_BYTES, &filter->spans, err) < 0 ||
        copy_ids(filter, ids->traces, ids->n_traces, TRACE_BYTES, &filter->traces, err) < 0 ||
        find_profiles(filter, ids, err) < 0)
        return -1;
    *ret_filter = TAKE(filter);
    return 0;
}

void idfilter_free(struct idfilter *filter)
{
    if (!filter)
        return;
    map_done(&filter->rows);
    map_done(&filter->series);
    arena_done(&filter->arena);
    arena_done(&filter->row);
    memory_free(filter);
}

void idfilter_freep(struct idfilter **filter)
{
    idfilter_free(*filter);
}

/* --- asking --- */

int idfilter_check(const struct idfilter *filter, struct error *err)
{
    return filter->check ? filter->check(filter->check_context, err) : 0;
}

bool idfilter_needs_links(const struct idfilter *filter)
{
    return filter->spans.n || filter->traces.n || filter->span_set || filter->is_of_span;
}

/* Whether a span is among those asked for. */
static bool takes_span(const struct idfilter *filter, const uint8_t *id)
{
    return (!filter->spans.n || has_id(&filter->spans, id)) && (!filter->span_set || spanids_has(filter->span_set, id));
}

bool idfilter_takes_link(const struct idfilter *filter, const struct link *link)
{
    static const uint8_t no_span[SPAN_BYTES];

    return takes_span(filter, link->span_id) && (!filter->traces.n || has_id(&filter->traces, link->trace_id)) &&
           (!filter->is_of_span || memcmp(link->span_id, no_span, sizeof(no_span)) != 0);
}

bool idfilter_takes_series(const struct idfilter *filter, uint32_t series)
{
    return !filter->has_profiles || map_find(&filter->series, series);
}

bool idfilter_takes_row(const struct idfilter *filter, uint32_t series, uint32_t sequence)
{
    const uint32_t *found;

    if (!filter->has_profiles)
        return true;
    found = map_find(&filter->rows, sequence);
    return found && *found == series;
}

/* Whether the bytes have one of the ids in them, or there are too many to look for. */
static bool may_have(const struct ids *ids, struct slice bytes)
{
    if (!ids->n || ids->n > MAX_GUESSES)
        return true;
    for (uint32_t i = 0; i < ids->n; i++)
        if (memmem(bytes.ptr, bytes.len, id_at(ids, i), ids->id_bytes))
            return true;
    return false;
}

bool idfilter_may_take(const struct idfilter *filter, struct slice row)
{
    if (!idfilter_needs_links(filter))
        return true;
    return headrow_may_have_links(row) && may_have(&filter->spans, row) && may_have(&filter->traces, row);
}

int idfilter_apply(struct idfilter *filter, uint32_t series, struct headrow *row, bool *ret_keeps, struct error *err)
{
    uint32_t *kept, n = 0;
    bool *takes;

    *ret_keeps = idfilter_takes_row(filter, series, row->sequence);
    if (!*ret_keeps || !idfilter_needs_links(filter))
        return 0;
    *ret_keeps = false;
    if (!row->links)
        return 0;
    arena_reset(&filter->row);
    takes = ARENA_ARRAY(&filter->row, bool, (size_t)row->n_links + 1, err);
    kept = takes ? ARENA_ARRAY(&filter->row, uint32_t, row->n_samples, err) : NULL;
    if (!kept)
        return -1;
    takes[0] = false;
    for (uint32_t i = 0; i < row->n_links; i++)
        takes[i + 1] = idfilter_takes_link(filter, &row->link_table[i]);
    for (uint32_t i = 0; i < row->n_samples; i++)
        if (takes[row->links[i]])
            kept[n++] = i;
    *ret_keeps = n > 0;
    return !n || n == row->n_samples ? 0 : headrow_cut(row, kept, n, &filter->row, err);
}

/* --- the span index --- */

/* Adds the series that a value of the index names for the spans asked for: each of its entries is looked at, or each
 * span is searched for. */
static int add_series_by_entry(const struct idfilter *filter, struct slice value, struct map *series, struct error *err)
{
    for (size_t i = 0, n = spanindex_n(value); i < n; i++) {
        struct spanindex_entry entry = spanindex_get(value, i);

        if (takes_span(filter, entry.span_id) && map_set(series, entry.series, 1, err) < 0)
            return -1;
    }
    return 0;
}

static int add_series_by_span(const struct idfilter *filter, struct slice value, struct map *series, struct error *err)
{
    size_t n = spanindex_n(value);

    for (uint32_t i = 0; i < filter->spans.n; i++) {
        const uint8_t *id = id_at(&filter->spans, i);

        if (filter->span_set && !spanids_has(filter->span_set, id))
            continue;
        for (size_t at = spanindex_find(value, id); at < n; at++) {
            struct spanindex_entry entry = spanindex_get(value, at);

            if (memcmp(entry.span_id, id, SPAN_BYTES) != 0)
                break;
            if (map_set(series, entry.series, 1, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* The values of one closing, all of which must be looked into. -1 with ERR_CORRUPT where one cannot be read or is
 * missing. */
static int read_index(struct idfilter *filter, struct kv_iterator *iterator, struct storekey_block first,
                      struct map *series, uint32_t *ret_n, struct error *err)
{
    struct storekey from = storekey_block(first);
    uint32_t n = 0;

    for (kv_iterator_seek(iterator, storekey_slice(&from)); kv_iterator_is_valid(iterator);
         kv_iterator_next(iterator), n++) {
        struct slice value = kv_iterator_value(iterator);
        struct storekey_block key;

        if (!storekey_parse_block(kv_iterator_key(iterator), &key) || key.number != first.number)
            break;
        if (key.part != n)
            return error_set(err, ERR_CORRUPT, "part %u is missing", n);
        if (spanindex_check(value, err) < 0)
            return error_wrap(err, "part %u", n);
        if (filter->spans.n ? add_series_by_span(filter, value, series, err) < 0
                            : add_series_by_entry(filter, value, series, err) < 0)
            return -1;
        filter->n_spans_read++;
    }
    *ret_n = n;
    return kv_iterator_check(iterator, err);
}

int idfilter_find_series(struct idfilter *filter, uint8_t hour, uint32_t number, struct map *series, bool *ret_is_known,
                         struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    const struct day_view *view = filter->view;
    struct storekey_block first = { .hour = hour, .kind = STOREKEY_SPANS, .tenant = filter->tenant, .number = number };
    struct storekey prefix = storekey_block(first);
    uint32_t n = 0;

    *ret_is_known = false;
    if (!filter->spans.n && !filter->span_set)
        return 0;
    if (kv_iterator_new(view->day->kv, view->day->block_family, view->snapshot, slice_of(prefix.bytes, 6), false,
                        &iterator, err) < 0)
        return -1;
    if (read_index(filter, iterator, first, series, &n, err) < 0) {
        if (err->code != ERR_CORRUPT)
            return -1;
        day_damage(view->day, "span index", err);
        return 0;
    }
    *ret_is_known = n > 0;
    return 0;
}

uint64_t idfilter_n_spans_read(const struct idfilter *filter)
{
    return filter->n_spans_read;
}
