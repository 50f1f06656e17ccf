// SPDX-License-Identifier: Apache-2.0
#include "store/rowstream.h"

#include "block/part.h"
#include "block/storekey.h"

struct rowstream {
    struct day *day;
    struct rowstream_filter filter;
    struct rowstream_item item;
    struct arena arena;
    uint64_t n_bytes;
    bool is_head;
    char last[KV_PASS_KEY_BYTES]; /* the key that the iterator which leads stood on last */
    size_t last_len;

    /* a head */
    struct kv_iterator *rows;
    bool is_started;

    /* some rows of a head */
    const struct recents_list *list;
    size_t next_of_list;
    const struct kv_snapshot *snapshot;
    uint32_t family;
    struct buffer value;

    /* blocks: the keys of windows lead, sums and samples are looked up */
    uint8_t hour;
    uint32_t number;
    struct kv_iterator *windows_at, *sums_at, *samples_at;
    struct unpacker *unpacker;
    struct windows windows;
    struct rollup sums;
    struct part_rows *part;
    uint32_t next_row;
    bool has_part;
    bool has_span_series; /* the span index says which series there are: those of the map alone */
    struct map span_series;
};

enum { MAX_STACKS = HEADROW_MAX_SAMPLES };

static bool is_wanted(const struct rowstream *stream, uint32_t tenant, uint32_t series)
{
    const struct rowstream_filter *filter = &stream->filter;

    return (!filter->tenant || filter->tenant == tenant) &&
           (!stream->has_span_series || map_find(&stream->span_series, series)) &&
           (!filter->ids || idfilter_takes_series(filter->ids, series)) &&
           (!filter->wants || filter->wants(filter->context, tenant, series));
}

static bool is_taken(const struct rowstream *stream, uint32_t series, uint32_t sequence)
{
    return !stream->filter.ids || idfilter_takes_row(stream->filter.ids, series, sequence);
}

/* The same for an encoded row, whose links count as well. */
static bool may_be_taken(const struct rowstream *stream, uint32_t series, uint32_t sequence, struct slice row)
{
    return is_taken(stream, series, sequence) && (!stream->filter.ids || idfilter_may_take(stream->filter.ids, row));
}

static bool is_in_range(const struct rowstream *stream, int64_t start_ns)
{
    int64_t from_ns = stream->filter.from_ns, until_ns = stream->filter.until_ns;

    /* From 0 would leave out what was before 1970. */
    return (!from_ns && !until_ns) || (start_ns >= from_ns && (!until_ns || start_ns < until_ns));
}

/* Damage: 0 to go on without it, -1 where that is not allowed or it is something else. */
static int skip_damage(struct rowstream *stream, const char *what, struct error *err)
{
    if (stream->filter.is_strict || (err->code != ERR_CORRUPT && err->code != ERR_VERSION))
        return -1;
    day_damage(stream->day, what, err);
    return 0;
}

static void remember(struct rowstream *stream, struct slice key)
{
    stream->last_len = MIN(key.len, sizeof(stream->last));
    memcpy(stream->last, key.ptr, stream->last_len);
}

/* Whether the iterator stands on a key, if need be on the first one behind a damaged stretch. */
static int settle(struct rowstream *stream, struct kv_iterator *iterator, const char *what, bool *ret_has,
                  struct error *err)
{
    *ret_has = kv_iterator_is_valid(iterator);
    if (!*ret_has && kv_iterator_check(iterator, err) < 0 &&
        (skip_damage(stream, what, err) < 0 ||
         kv_iterator_pass_damage(iterator, slice_of(stream->last, stream->last_len), ret_has, err) < 0))
        return -1;
    if (*ret_has)
        remember(stream, kv_iterator_key(iterator));
    return 0;
}

/* --- heads --- */

bool rowstream_pass_series(struct rowstream_place *place)
{
    place->start_ns = INT64_MIN;
    return ++place->series || rowstream_pass_group(place);
}

bool rowstream_pass_group(struct rowstream_place *place)
{
    place->series = 0;
    place->start_ns = INT64_MIN;
    return ++place->group || ++place->tenant;
}

static void seek_row(struct rowstream *stream, const struct rowstream_place *place)
{
    struct storekey key = storekey_row(place->tenant, place->group, place->series, place->start_ns, 0);

    remember(stream, storekey_slice(&key));
    kv_iterator_seek(stream->rows, storekey_slice(&key));
}

/* What `wants` and the range of the filter say: filter.seek of those who have none. */
static bool seek_wanted(const struct rowstream *stream, struct rowstream_place *place)
{
    if (!is_wanted(stream, place->tenant, place->series))
        return rowstream_pass_series(place);
    if (is_in_range(stream, place->start_ns))
        return true;
    if (place->start_ns >= stream->filter.from_ns)
        return rowstream_pass_series(place);
    place->start_ns = stream->filter.from_ns;
    return true;
}

/* Whether the row that the iterator stands on is wanted. If not, goes on to where others may be; false in `*ret_has` if
 * that is nowhere. */
static int follow_filter(struct rowstream *stream, const struct rowstream_place *at, bool *ret_is_wanted, bool *ret_has,
                         struct error *err)
{
    struct rowstream_place place = *at;

    if (!stream->filter.seek)
        *ret_has = seek_wanted(stream, &place);
    else if (stream->filter.seek(stream->filter.context, &place, ret_has, err) < 0)
        return -1;
    *ret_is_wanted = *ret_has && place.tenant == at->tenant && place.group == at->group && place.series == at->series &&
                     place.start_ns == at->start_ns;
    if (*ret_has && !*ret_is_wanted)
        seek_row(stream, &place);
    return 0;
}

static int read_row(struct rowstream *stream, const struct rowstream_place *at, uint32_t sequence, struct slice value,
                    struct error *err)
{
    struct rowstream_item *item = &stream->item;

    arena_reset(&stream->arena);
    if (headrow_decode(value, &stream->arena, &item->row, err) < 0)
        return -1;
    stream->n_bytes += value.len;
    item->tenant = at->tenant;
    item->group = at->group;
    item->series = at->series;
    item->row.start_ns = at->start_ns;
    item->row.sequence = sequence;
    return 0;
}

/* Goes to the next key, or to the first: one that reads here and there stands on none yet. */
static void step(struct rowstream *stream)
{
    if (stream->is_started)
        kv_iterator_next(stream->rows);
    else if (stream->filter.is_sparse)
        seek_row(stream, &(struct rowstream_place){ .tenant = stream->filter.tenant, .start_ns = INT64_MIN });
    stream->is_started = true;
}

static int next_in_head(struct rowstream *stream, bool *ret_has, struct error *err)
{
    step(stream);
    for (;;) {
        struct rowstream_place at;
        uint32_t sequence;
        bool is_wanted;

        if (settle(stream, stream->rows, "head", ret_has, err) < 0)
            return -1;
        if (!*ret_has)
            return 0;
        if (!storekey_parse_row(kv_iterator_key(stream->rows), &at.tenant, &at.group, &at.series, &at.start_ns,
                                &sequence)) {
            error_set(err, ERR_CORRUPT, "the key of a row is damaged");
            if (skip_damage(stream, "head", err) < 0)
                return -1;
            kv_iterator_next(stream->rows);
            continue;
        }
        if (follow_filter(stream, &at, &is_wanted, ret_has, err) < 0)
            return -1;
        if (!*ret_has)
            return 0;
        if (!is_wanted)
            continue;
        if (!may_be_taken(stream, at.series, sequence, kv_iterator_value(stream->rows))) {
            if (idfilter_check(stream->filter.ids, err) < 0)
                return -1;
            kv_iterator_next(stream->rows);
            continue;
        }
        if (read_row(stream, &at, sequence, kv_iterator_value(stream->rows), err) == 0)
            return 0;
        if (skip_damage(stream, "row", err) < 0)
            return -1;
        kv_iterator_next(stream->rows);
    }
}

static int next_of_list(struct rowstream *stream, bool *ret_has, struct error *err)
{
    while (stream->next_of_list < stream->list->n) {
        const struct recents_row *row = &stream->list->rows[stream->next_of_list++];
        struct rowstream_place at = { row->tenant, row->group, row->series, row->start_ns };
        struct storekey key = storekey_row(row->tenant, row->group, row->series, row->start_ns, row->sequence);

        buffer_clear(&stream->value);
        if (kv_get_at(stream->day->kv, stream->family, stream->snapshot, storekey_slice(&key), &stream->value, ret_has,
                      err) == 0) {
            /* One that is not there came after the view. */
            if (!*ret_has)
                continue;
            if (read_row(stream, &at, row->sequence, buffer_slice(&stream->value), err) == 0)
                return 0;
        }
        if (skip_damage(stream, "row", err) < 0)
            return -1;
    }
    *ret_has = false;
    return 0;
}

/* --- blocks --- */

/* The value of another kind for the part that `windows_at` stands on. */
static int find_value(struct rowstream *stream, struct kv_iterator *iterator, struct storekey_block key,
                      enum storekey_kind kind, struct slice *ret_value, struct error *err)
{
    struct storekey wanted;

    key.kind = kind;
    wanted = storekey_block(key);
    kv_iterator_seek(iterator, storekey_slice(&wanted));
    if (kv_iterator_is_valid(iterator) && slice_equal(kv_iterator_key(iterator), storekey_slice(&wanted))) {
        *ret_value = kv_iterator_value(iterator);
        stream->n_bytes += ret_value->len;
        return 0;
    }
    if (kv_iterator_check(iterator, err) < 0)
        return -1;
    return error_set(err, ERR_CORRUPT, "part %u of series %u has no value of kind '%c'", key.part, key.series, kind);
}

static bool is_row_wanted(const struct rowstream *stream, uint32_t series, uint32_t i)
{
    return is_in_range(stream, stream->windows.starts_ns[i]) && is_taken(stream, series, stream->windows.sequences[i]);
}

/* Which rows of the part are wanted, and how many. */
static int choose_rows(struct rowstream *stream, uint32_t series, bool **ret_rows, uint32_t *ret_n, struct error *err)
{
    bool *rows = ARENA_ARRAY(&stream->arena, bool, stream->windows.n_rows, err);

    *ret_n = 0;
    for (uint32_t i = 0; rows && i < stream->windows.n_rows; i++) {
        rows[i] = is_row_wanted(stream, series, i);
        *ret_n += rows[i];
    }
    *ret_rows = rows;
    return rows ? 0 : -1;
}

static bool takes_link(void *context, const struct link *link)
{
    return idfilter_takes_link(context, link);
}

/* All samples, or those that are wanted where they are few. */
static int open_samples(struct rowstream *stream, struct slice samples, const bool *rows, uint32_t n_rows,
                        struct error *err)
{
    struct idfilter *ids = stream->filter.ids;
    struct part_choice choice = { .rows = rows };

    if (ids && idfilter_needs_links(ids)) {
        choice.takes_link = takes_link;
        choice.context = ids;
    }
    if (choice.takes_link || n_rows < stream->windows.n_rows / 2)
        return part_rows_open_some(samples, &stream->windows, &stream->sums, &choice, stream->unpacker, &stream->arena,
                                   &stream->part, err);
    return part_rows_open(samples, &stream->windows, &stream->sums, stream->unpacker, &stream->arena, &stream->part,
                          err);
}

/* Whether samples have links that are wanted, where nobody said so before. */
static int find_links(struct rowstream *stream, struct slice samples, bool *ret_has, struct error *err)
{
    const struct idfilter *ids = stream->filter.ids;
    struct link *links;
    uint32_t n;

    *ret_has = true;
    if (!ids || !idfilter_needs_links(ids) || stream->has_span_series)
        return 0;
    if (idfilter_check(ids, err) < 0 ||
        part_links_decode(samples, stream->unpacker, &stream->arena, &links, &n, err) < 0)
        return -1;
    *ret_has = false;
    for (uint32_t i = 0; i < n && !*ret_has; i++)
        *ret_has = idfilter_takes_link(ids, &links[i]);
    return 0;
}

static int open_part(struct rowstream *stream, struct storekey_block key, struct error *err)
{
    struct slice sums, samples;
    uint32_t n_rows;
    bool *rows, has_links;

    stream->has_part = false;
    arena_reset(&stream->arena);
    if (windows_decode(kv_iterator_value(stream->windows_at), stream->unpacker, &stream->arena, &stream->windows, err) <
        0)
        return -1;
    stream->n_bytes += kv_iterator_value(stream->windows_at).len;
    if (choose_rows(stream, key.series, &rows, &n_rows, err) < 0)
        return -1;
    if (!n_rows)
        return 0;
    if (find_value(stream, stream->samples_at, key, STOREKEY_SAMPLES, &samples, err) < 0 ||
        find_links(stream, samples, &has_links, err) < 0)
        return -1;
    if (!has_links)
        return 0;
    if (find_value(stream, stream->sums_at, key, STOREKEY_SUMS, &sums, err) < 0 ||
        rollup_decode(sums, MAX_STACKS, stream->unpacker, &stream->arena, &stream->sums, err) < 0 ||
        open_samples(stream, samples, rows, n_rows, err) < 0)
        return -1;
    stream->item = (struct rowstream_item){ .tenant = key.tenant, .group = key.group, .series = key.series };
    stream->next_row = 0;
    stream->has_part = true;
    return 0;
}

/* Goes on to the next part that is wanted; false at the end. */
static int next_part(struct rowstream *stream, bool *ret_has, struct error *err)
{
    for (;; kv_iterator_next(stream->windows_at)) {
        struct storekey_block key;
        bool has;

        if (stream->has_span_series && !stream->span_series.n)
            break;
        if (settle(stream, stream->windows_at, "blocks", &has, err) < 0)
            return -1;
        if (!has)
            break;
        if (!storekey_parse_block(kv_iterator_key(stream->windows_at), &key) || key.number != stream->number ||
            !is_wanted(stream, key.tenant, key.series))
            continue;
        if (open_part(stream, key, err) < 0) {
            if (skip_damage(stream, "block", err) < 0)
                return -1;
            continue;
        }
        if (!stream->has_part)
            continue;
        kv_iterator_next(stream->windows_at);
        *ret_has = true;
        return 0;
    }
    *ret_has = false;
    return 0;
}

static int next_in_block(struct rowstream *stream, bool *ret_has, struct error *err)
{
    for (;;) {
        while (stream->has_part && stream->next_row < stream->windows.n_rows) {
            uint32_t i = stream->next_row++;

            if (!is_row_wanted(stream, stream->item.series, i))
                continue;
            part_rows_get(stream->part, i, &stream->item.row);
            *ret_has = true;
            return 0;
        }
        stream->has_part = false;
        if (next_part(stream, ret_has, err) < 0)
            return -1;
        if (!*ret_has)
            return 0;
    }
}

/* --- both --- */

static struct rowstream *new_stream(const struct day_view *view, const struct rowstream_filter *filter,
                                    struct error *err)
{
    struct rowstream *stream = MEMORY_NEW(struct rowstream, err);

    if (!stream)
        return NULL;
    stream->day = view->day;
    if (filter)
        stream->filter = *filter;
    arena_init(&stream->arena, view->day->context->read_bytes);
    buffer_init(&stream->value, 0);
    map_init(&stream->span_series, 0);
    return stream;
}

int rowstream_new_head(const struct day_view *view, const struct day_head *head, const struct rowstream_filter *filter,
                       struct rowstream **ret_stream, struct error *err)
{
    AUTO(rowstream_freep) struct rowstream *stream = new_stream(view, filter, err);
    struct storekey key;
    struct slice prefix = { 0 };
    int result;

    if (!stream)
        return -1;
    stream->is_head = true;
    /* Whoever closes the hour must get along with every row, or it stays open for ever. */
    if (stream->filter.is_strict)
        arena_init(&stream->arena, 0);
    if (stream->filter.tenant) {
        key = storekey_row(stream->filter.tenant, 0, 0, 0, 0);
        prefix = slice_of(key.bytes, 4);
        remember(stream, prefix);
    }
    if (stream->filter.is_sparse)
        result = kv_iterator_new_sparse(view->day->kv, head->family, view->snapshot, prefix, &stream->rows, err);
    else
        result = kv_iterator_new(view->day->kv, head->family, view->snapshot, prefix, true, &stream->rows, err);
    if (result < 0)
        return -1;
    *ret_stream = TAKE(stream);
    return 0;
}

int rowstream_new_list(const struct day_view *view, const struct day_head *head, const struct recents_list *list,
                       struct rowstream **ret_stream, struct error *err)
{
    struct rowstream *stream = new_stream(view, NULL, err);

    if (!stream)
        return -1;
    stream->list = list;
    stream->snapshot = view->snapshot;
    stream->family = head->family;
    *ret_stream = stream;
    return 0;
}

static int open_kind(struct rowstream *stream, const struct day_view *view, enum storekey_kind kind, bool is_scan,
                     struct kv_iterator **ret_iterator, struct error *err)
{
    struct storekey key =
        storekey_block((struct storekey_block){ .hour = stream->hour, .kind = kind, .tenant = stream->filter.tenant });

    /* hour and kind, and the tenant if there is one */
    return kv_iterator_new(view->day->kv, view->day->block_family, view->snapshot,
                           slice_of(key.bytes, stream->filter.tenant ? 6 : 2), is_scan, ret_iterator, err);
}

int rowstream_new_block(const struct day_view *view, uint8_t hour, uint32_t number,
                        const struct rowstream_filter *filter, struct rowstream **ret_stream, struct error *err)
{
    AUTO(rowstream_freep) struct rowstream *stream = new_stream(view, filter, err);
    struct storekey key;

    if (!stream)
        return -1;
    stream->hour = hour;
    stream->number = number;
    key = storekey_block(
        (struct storekey_block){ .hour = hour, .kind = STOREKEY_WINDOWS, .tenant = stream->filter.tenant });
    remember(stream, slice_of(key.bytes, 6));
    if (unpacker_new(&stream->unpacker, err) < 0 ||
        (stream->filter.ids && idfilter_find_series(stream->filter.ids, hour, number, &stream->span_series,
                                                    &stream->has_span_series, err) < 0) ||
        open_kind(stream, view, STOREKEY_WINDOWS, false, &stream->windows_at, err) < 0 ||
        open_kind(stream, view, STOREKEY_SUMS, false, &stream->sums_at, err) < 0 ||
        open_kind(stream, view, STOREKEY_SAMPLES, false, &stream->samples_at, err) < 0)
        return -1;
    *ret_stream = TAKE(stream);
    return 0;
}

void rowstream_free(struct rowstream *stream)
{
    if (!stream)
        return;
    kv_iterator_free(stream->rows);
    kv_iterator_free(stream->windows_at);
    kv_iterator_free(stream->sums_at);
    kv_iterator_free(stream->samples_at);
    unpacker_free(stream->unpacker);
    arena_done(&stream->arena);
    buffer_done(&stream->value);
    map_done(&stream->span_series);
    memory_free(stream);
}

void rowstream_freep(struct rowstream **stream)
{
    rowstream_free(*stream);
}

int rowstream_next(struct rowstream *stream, bool *ret_has, struct error *err)
{
    if (stream->list)
        return next_of_list(stream, ret_has, err);
    return stream->is_head ? next_in_head(stream, ret_has, err) : next_in_block(stream, ret_has, err);
}

struct rowstream_item *rowstream_item(struct rowstream *stream)
{
    return &stream->item;
}

uint64_t rowstream_n_bytes(const struct rowstream *stream)
{
    return stream->n_bytes;
}

/* --- several as one --- */

void rowmerge_init(struct rowmerge *merge)
{
    *merge = (struct rowmerge){ 0 };
}

int rowmerge_add(struct rowmerge *merge, struct rowstream *take_stream, struct error *err)
{
    struct rowstream **streams = memory_realloc(merge->streams, (merge->n + 1) * sizeof(*streams), err);
    bool *has;

    if (streams)
        merge->streams = streams;
    has = streams ? memory_realloc(merge->has, (merge->n + 1) * sizeof(*has), err) : NULL;
    if (!has) {
        rowstream_free(take_stream);
        return -1;
    }
    merge->has = has;
    merge->streams[merge->n] = take_stream;
    merge->has[merge->n++] = false;
    return 0;
}

void rowmerge_done(struct rowmerge *merge)
{
    for (size_t i = 0; i < merge->n; i++)
        rowstream_free(merge->streams[i]);
    memory_free(merge->streams);
    memory_free(merge->has);
    *merge = (struct rowmerge){ 0 };
}

static bool comes_before(const struct rowstream_item *a, const struct rowstream_item *b)
{
    if (a->tenant != b->tenant)
        return a->tenant < b->tenant;
    if (a->group != b->group)
        return a->group < b->group;
    if (a->series != b->series)
        return a->series < b->series;
    if (a->row.start_ns != b->row.start_ns)
        return a->row.start_ns < b->row.start_ns;
    return a->row.sequence < b->row.sequence;
}

int rowmerge_next(struct rowmerge *merge, struct rowstream_item **ret_item, struct error *err)
{
    struct rowstream_item *first = NULL;

    for (size_t i = 0; i < merge->n; i++)
        if ((!merge->is_started || i == merge->current) && rowstream_next(merge->streams[i], &merge->has[i], err) < 0)
            return -1;
    merge->is_started = true;
    for (size_t i = 0; i < merge->n; i++) {
        struct rowstream_item *item = rowstream_item(merge->streams[i]);

        if (!merge->has[i] || (first && !comes_before(item, first)))
            continue;
        first = item;
        merge->current = i;
    }
    *ret_item = first;
    return 0;
}
