// SPDX-License-Identifier: Apache-2.0
#include "store/closing.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/commit.h"
#include "store/slotcache.h"

#include <stdlib.h>

enum {
    MIN_SLOT_ROWS = 96, /* with fewer rows in the hour a group has no five-minute roll-ups: rows are as quick to read */
    SPAN_PART = 1 << 16, /* entries of a span index value */
    MAX_SPANS = 1 << 20,
    MAX_PIECES = 1 << 20,
};

/* --- writing --- */

static struct storekey key_of(const struct closing *closing, enum storekey_kind kind, uint32_t series, uint32_t part)
{
    return storekey_block(
        (struct storekey_block){ .hour = closing->hour,
                                 .kind = kind,
                                 .tenant = closing->tenant,
                                 .group = kind == STOREKEY_SPANS || kind == STOREKEY_TALLY ? 0 : closing->group,
                                 .series = series,
                                 .number = closing->number,
                                 .part = part });
}

static int put(struct closing *closing, enum storekey_kind kind, uint32_t series, uint32_t part,
               const struct buffer *value, struct error *err)
{
    struct storekey key = key_of(closing, kind, series, part);

    return outset_put(&closing->outset, &key, buffer_slice(value), err);
}

static int finish_part(struct closing *closing, struct error *err)
{
    if (part_builder_is_empty(closing->part))
        return 0;
    buffer_clear(&closing->windows);
    buffer_clear(&closing->sums);
    buffer_clear(&closing->samples);
    if (part_builder_finish(closing->part, closing->packer, &closing->windows, &closing->sums, &closing->samples, err) <
            0 ||
        put(closing, STOREKEY_WINDOWS, closing->series, closing->part_number, &closing->windows, err) < 0 ||
        put(closing, STOREKEY_SUMS, closing->series, closing->part_number, &closing->sums, err) < 0 ||
        put(closing, STOREKEY_SAMPLES, closing->series, closing->part_number, &closing->samples, err) < 0)
        return -1;
    closing->part_number++;
    /* Whoever ends a tenant or a group may come by again before the next row. */
    part_builder_clear(closing->part, closing->whole.n_types);
    return pace_keep(&closing->pace, closing->day->context, err);
}

static int write_rollup(struct closing *closing, enum storekey_kind kind, uint32_t part, const struct rollup *rollup,
                        struct error *err)
{
    buffer_clear(&closing->sums);
    if (rollup_encode(rollup, closing->packer, &closing->sums, err) < 0)
        return -1;
    return put(closing, kind, 0, part, &closing->sums, err);
}

static int write_whole(struct closing *closing, struct error *err)
{
    struct rollup rollup;

    if (!closing->whole.n_rows)
        return 0;
    arena_reset(&closing->arena);
    if (rollup_builder_finish(&closing->whole, &closing->arena, &rollup, err) < 0)
        return -1;
    rollup.n_series = closing->n_group_series;
    if (write_rollup(closing, STOREKEY_GROUP_HOUR, closing->whole_pieces++, &rollup, err) < 0)
        return -1;
    rollup_builder_clear(&closing->whole, closing->day->context->close_bytes / 8);
    return 0;
}

/* Ends one slot: its sums join those of the hour, and are written if the group has enough rows. */
static int finish_slot(struct closing *closing, uint32_t slot, bool is_written, struct error *err)
{
    struct rollup_builder *builder = &closing->slots[slot];
    struct rollup rollup;

    if (!builder->n_rows)
        return 0;
    arena_reset(&closing->arena);
    if (rollup_builder_finish(builder, &closing->arena, &rollup, err) < 0 ||
        rollup_builder_merge(&closing->whole, &rollup, err) < 0)
        return -1;
    if (is_written && write_rollup(closing, STOREKEY_GROUP_SLOT, closing->slot_piece * 256 + slot, &rollup, err) < 0)
        return -1;
    closing->has_slots |= is_written;
    rollup_builder_clear(builder, closing->day->context->close_bytes / (4 * DAY_SLOTS));
    return 0;
}

static int finish_group(struct closing *closing, struct error *err)
{
    bool is_written = closing->has_slots || closing->n_group_rows >= MIN_SLOT_ROWS;

    if (finish_part(closing, err) < 0)
        return -1;
    for (uint32_t slot = 0; slot < DAY_SLOTS; slot++)
        if (finish_slot(closing, slot, is_written, err) < 0)
            return -1;
    /* With one series the sums of its parts are the same. Pieces that were written already want the rest. */
    if ((closing->n_group_series > 1 || closing->whole_pieces) && write_whole(closing, err) < 0)
        return -1;
    rollup_builder_clear(&closing->whole, closing->day->context->close_bytes / 8);
    closing->slot_piece = 0;
    closing->whole_pieces = 0;
    closing->has_slots = false;
    closing->n_group_series = 0;
    closing->n_group_rows = 0;
    return 0;
}

static int write_spans(struct closing *closing, struct error *err)
{
    struct spanindex_entry *spans = closing->spans.items;
    size_t n = 0;

    if (!closing->spans.n)
        return 0;
    qsort(spans, closing->spans.n, sizeof(*spans), spanindex_compare);
    for (size_t i = 0; i < closing->spans.n; i++)
        if (!n || spanindex_compare(&spans[n - 1], &spans[i]) != 0)
            spans[n++] = spans[i];
    for (size_t i = 0; i < n; i += SPAN_PART) {
        size_t end = MIN(i + SPAN_PART, n);

        buffer_clear(&closing->sums);
        for (size_t k = i; k < end; k++)
            spanindex_append(&spans[k], &closing->sums);
        if (buffer_check(&closing->sums, err) < 0 ||
            put(closing, STOREKEY_SPANS, 0, closing->span_part++, &closing->sums, err) < 0)
            return -1;
    }
    closing->spans.n = 0;
    return 0;
}

/* What the hour has of the tenant. */
static int write_tally(struct closing *closing, struct error *err)
{
    if (!closing->tally.n_rows)
        return 0;
    closing->tally.bytes = closing->outset.bytes - closing->tally.bytes;
    buffer_clear(&closing->sums);
    tally_encode(&closing->tally, &closing->sums);
    if (buffer_check(&closing->sums, err) < 0)
        return -1;
    return put(closing, STOREKEY_TALLY, 0, 0, &closing->sums, err);
}

static int finish_tenant(struct closing *closing, struct error *err)
{
    if (finish_group(closing, err) < 0 || write_spans(closing, err) < 0 || write_tally(closing, err) < 0)
        return -1;
    closing->span_part = 0;
    closing->tally = (struct tally){ .bytes = closing->outset.bytes };
    rowfilter_free(TAKE(closing->filter));
    return 0;
}

/* --- reading --- */

static int note_spans(struct closing *closing, const struct headrow *row, struct error *err)
{
    size_t max =
        MAX(MIN(closing->day->context->close_bytes / 16 / sizeof(struct spanindex_entry), (size_t)MAX_SPANS), 1u);

    for (uint32_t i = 0; i < row->n_links; i++) {
        struct spanindex_entry *span;

        if (closing->spans.n >= max && write_spans(closing, err) < 0)
            return -1;
        span = VEC_PUSH(&closing->spans, max, err);
        if (!span)
            return -1;
        memcpy(span->span_id, row->link_table[i].span_id, sizeof(span->span_id));
        span->series = closing->series;
    }
    return 0;
}

/* When the sums need too much memory, the largest are written as a piece. */
static int relieve_memory(struct closing *closing, struct error *err)
{
    size_t limit = closing->day->context->close_bytes / 4 * 3, total = rollup_builder_bytes(&closing->whole);
    uint32_t largest = 0;

    for (uint32_t i = 0; i < DAY_SLOTS; i++) {
        total += rollup_builder_bytes(&closing->slots[i]);
        if (rollup_builder_bytes(&closing->slots[i]) > rollup_builder_bytes(&closing->slots[largest]))
            largest = i;
    }
    if (total <= limit)
        return 0;
    if (closing->slot_piece >= MAX_PIECES || closing->whole_pieces >= MAX_PIECES)
        return error_set(err, ERR_LIMIT, "hour %u has more stacks than %zu bytes of memory can close", closing->hour,
                         closing->day->context->close_bytes);
    if (finish_slot(closing, largest, true, err) < 0)
        return -1;
    closing->slot_piece++;
    rollup_builder_clear(&closing->slots[largest], 0);
    if (rollup_builder_bytes(&closing->whole) > limit / 2)
        return write_whole(closing, err);
    return 0;
}

static int begin_series(struct closing *closing, const struct rowstream_item *item, struct error *err)
{
    if (closing->tenant && closing->tenant != item->tenant) {
        if (finish_tenant(closing, err) < 0)
            return -1;
    } else if (closing->group && closing->group != item->group) {
        if (finish_group(closing, err) < 0)
            return -1;
    } else if (finish_part(closing, err) < 0)
        return -1;
    if (closing->tenant != item->tenant || closing->group != item->group)
        for (uint32_t i = 0; i < DAY_SLOTS; i++)
            rollup_builder_restart(&closing->slots[i], item->row.n_types,
                                   closing->day->context->close_bytes / (4 * DAY_SLOTS));
    if (closing->tenant != item->tenant || closing->group != item->group)
        rollup_builder_restart(&closing->whole, item->row.n_types, closing->day->context->close_bytes / 8);
    closing->tenant = item->tenant;
    closing->group = item->group;
    closing->series = item->series;
    closing->n_group_series++;
    closing->part_number = 0;
    part_builder_clear(closing->part, item->row.n_types);
    return 0;
}

static int add_row(struct closing *closing, const struct rowstream_item *item, struct error *err)
{
    const struct headrow *row = &item->row;
    int64_t offset = row->start_ns - closing->day->start_ns - closing->hour * DAY_HOUR_NS;
    uint32_t slot = (uint32_t)(offset / DAY_SLOT_NS);

    if (item->tenant != closing->tenant || item->group != closing->group || item->series != closing->series) {
        if (begin_series(closing, item, err) < 0)
            return -1;
    } else if (!part_builder_has_room(closing->part, row->n_samples)) {
        if (finish_part(closing, err) < 0)
            return -1;
        part_builder_clear(closing->part, row->n_types);
    }
    if (slot >= DAY_SLOTS || row->n_types != closing->whole.n_types)
        return error_set(err, ERR_CORRUPT, "a row of series %u does not belong to its hour or series", item->series);
    if (part_builder_add(closing->part, row, err) < 0 ||
        rollup_builder_add(&closing->slots[slot], item->series, row, err) < 0 || note_spans(closing, row, err) < 0)
        return -1;
    closing->n_group_rows++;
    closing->marker.n_rows++;
    closing->marker.n_samples += row->n_samples;
    closing->tally.n_rows++;
    closing->tally.n_samples += row->n_samples;
    return relieve_memory(closing, err);
}

/* The filter of a tenant: tombstones, and the ranges of a reduction. A tenant without any range keeps nothing. */
static int open_filter(struct closing *closing, const struct day_view *view, uint32_t tenant, struct error *err)
{
    static const struct rowfilter_range nothing = { 0 };
    int64_t from_ns = closing->day->start_ns + closing->hour * DAY_HOUR_NS;
    size_t n = 0;

    for (size_t i = 0; i < closing->n_ranges; i++)
        if (closing->ranges[i].tenant == tenant)
            closing->tenant_ranges[n++] = (struct rowfilter_range){ .selector = closing->ranges[i].selector,
                                                                    .from_ns = closing->ranges[i].from_ns,
                                                                    .until_ns = closing->ranges[i].until_ns };
    if (closing->ranges && !n)
        return rowfilter_new_ranges(view, tenant, &nothing, 1, from_ns, from_ns + DAY_HOUR_NS, &closing->filter, err);
    return rowfilter_new_ranges(view, tenant, closing->tenant_ranges, n, from_ns, from_ns + DAY_HOUR_NS,
                                &closing->filter, err);
}

/* Whether a deletion of the tenant touches the hour. */
static bool has_tombstone(const struct closing *closing, const struct day_view *view, uint32_t tenant)
{
    int64_t from_ns = closing->day->start_ns + closing->hour * DAY_HOUR_NS;

    for (size_t i = 0; i < view->tombstones.n; i++)
        if (view->tombstones.items[i].tenant == tenant &&
            tombstone_overlaps(&view->tombstones.items[i], from_ns, from_ns + DAY_HOUR_NS))
            return true;
    return false;
}

/* Whether rows of the tenant must be filtered. Asked for every row, found out once for each tenant. */
static bool needs_filter(struct closing *closing, const struct day_view *view, uint32_t tenant)
{
    if (closing->asked_tenant != tenant) {
        closing->asked_tenant = tenant;
        closing->is_filtered = closing->ranges || has_tombstone(closing, view, tenant);
    }
    return closing->is_filtered;
}

/* What is left of the row; the filter of its tenant is made when the tenant begins. */
static int filter_row(struct closing *closing, const struct day_view *view, struct rowstream_item *item,
                      bool *ret_keeps, struct error *err)
{
    *ret_keeps = true;
    if (!needs_filter(closing, view, item->tenant))
        return 0;
    if (closing->tenant && closing->tenant != item->tenant && finish_tenant(closing, err) < 0)
        return -1;
    if (closing->tenant != item->tenant) {
        closing->tenant = item->tenant;
        closing->group = closing->series = 0;
    }
    if (!closing->filter && open_filter(closing, view, item->tenant, err) < 0)
        return -1;
    return rowfilter_apply(closing->filter, item->series, &item->row, ret_keeps, err);
}

int closing_add_rows(struct closing *closing, const struct day_view *view, struct rowmerge *rows, struct error *err)
{
    struct rowstream_item *item;
    bool keeps;

    for (;;) {
        if (rowmerge_next(rows, &item, err) < 0)
            return -1;
        if (!item)
            return finish_tenant(closing, err);
        closing->n_read++;
        if (filter_row(closing, view, item, &keeps, err) < 0 || (keeps && add_row(closing, item, err) < 0))
            return -1;
    }
}

/* --- a closing --- */

int closing_init(struct closing *closing, struct day *day, uint8_t hour, struct error *err)
{
    *closing = (struct closing){ .day = day, .hour = hour };
    pace_begin(&closing->pace);
    outset_init(&closing->outset, day, hour, day->context->close_bytes / 8);
    buffer_init(&closing->windows, 0);
    buffer_init(&closing->sums, 0);
    buffer_init(&closing->samples, 0);
    arena_init(&closing->arena, 0);
    rollup_builder_init(&closing->whole, 0);
    for (uint32_t i = 0; i < DAY_SLOTS; i++)
        rollup_builder_init(&closing->slots[i], 0);
    if (packer_new(&closing->packer, err) < 0)
        return -1;
    return part_builder_new(&closing->part, err);
}

void closing_done(struct closing *closing)
{
    outset_done(&closing->outset);
    packer_free(closing->packer);
    part_builder_free(closing->part);
    buffer_done(&closing->windows);
    buffer_done(&closing->sums);
    buffer_done(&closing->samples);
    arena_done(&closing->arena);
    rollup_builder_done(&closing->whole);
    for (uint32_t i = 0; i < DAY_SLOTS; i++)
        rollup_builder_done(&closing->slots[i]);
    VEC_DONE(&closing->spans);
    rowfilter_free(closing->filter);
    memory_free(closing->tenant_ranges);
}

/* The number the next blocks of an hour get, and the deletions that are applied: those the view has. One that comes
 * meanwhile is applied by readers, and by the next closing. */
void closing_number(struct closing *closing, const struct day_view *view)
{
    struct day *day = closing->day;

    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->markers.n; i++)
        if (day->markers.items[i].hour == closing->hour)
            closing->number = MAX(closing->number, day->markers.items[i].number + 1);
    for (size_t i = 0; i < view->tombstones.n; i++)
        closing->marker.tombstone = MAX(closing->marker.tombstone, view->tombstones.items[i].number + 1);
}

static int put_marker(struct closing *closing, struct error *err)
{
    struct storekey key = storekey_marker(closing->hour, closing->number);

    closing->marker.hour = closing->hour;
    closing->marker.number = closing->number;
    closing->marker.bytes = closing->outset.bytes;
    closing->marker.made_ns = clock_now_ns();
    buffer_clear(&closing->sums);
    marker_encode(&closing->marker, &closing->sums);
    if (buffer_check(&closing->sums, err) < 0)
        return -1;
    return outset_put(&closing->outset, &key, buffer_slice(&closing->sums), err);
}

/* The day is closed and opened again by the next who writes. */
static int stop_day(struct day *day, const struct error *err)
{
    LOCK_SCOPE(&day->lock);
    day_stop(day, err);
    return -1;
}

/* Takes the blocks in and makes them count. */
int closing_publish(struct closing *closing, uint32_t head_place, struct error *err)
{
    struct day *day = closing->day;
    uint64_t file_bytes;
    bool is_ready, is_unsure;

    /* A day that failed may hold blocks of this number that nobody knows of: only opening it again tells. */
    lock_mutex_acquire(&day->lock);
    is_ready = day_check(day, err) == 0 && VEC_RESERVE(&day->markers, 1, UINT32_MAX, err) == 0;
    lock_mutex_release(&day->lock);
    if (!is_ready || put_marker(closing, err) < 0)
        return -1;
    /* Blocks are on the disk when they are taken in; the dictionary they refer to must be there before them. */
    if (kv_sync(day->kv, err) < 0)
        return stop_day(day, err);
    if (outset_ingest(&closing->outset, &file_bytes, &is_unsure, err) < 0)
        return is_unsure ? stop_day(day, err) : -1;
    /* Until here readers see the blocks in the database, but not in the list, and do not count them. */
    lock_mutex_acquire(&day->lock);
    day->markers.items[day->markers.n++] = closing->marker;
    if (head_place != UINT32_MAX)
        day->heads.items[head_place].is_covered = true;
    lock_mutex_release(&day->lock);
    if (head_place != UINT32_MAX)
        slotcache_forget_head(
            day->context->slots,
            &(struct slotcache_head){ day, day->start_ns + closing->hour * DAY_HOUR_NS, closing->marker.head });
    atomic_fetch_add_explicit(&day->context->sst_bytes, file_bytes, memory_order_relaxed);
    return day_count_written(day, file_bytes, err);
}
