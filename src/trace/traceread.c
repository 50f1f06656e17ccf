// SPDX-License-Identifier: Apache-2.0
#include "trace/traceread.h"

#include "base/bytes.h"
#include "trace/tracebloom.h"
#include "trace/tracekeys.h"

#define MAX_BODY       ((size_t)64 << 20)
#define ROWS_PER_CHECK 4096u
#define SLOTS_PER_HOUR ((uint32_t)(HOURLY_HOUR_NS / SPANROW_SLOT_NS))
static_assert(HOURLY_HOUR_NS % SPANROW_SLOT_NS == 0, "no slot is of two hours");

int traceread_init(struct traceread *read, struct hourly *hourly, struct slice tenant,
                   const struct tracestore_asker *asker, struct error *err)
{
    *read = (struct traceread){
        .hourly = hourly, .tenant = tenant, .asker = asker, .max_bytes = tracestore_asker_bytes(asker)
    };
    arena_init(&read->scratch, read->max_bytes);
    buffer_init(&read->key, TRACEKEYS_MAX_BYTES);
    buffer_init(&read->body, MAX_BODY);
    if (tracekeys_check_tenant(tenant, err) < 0)
        return -1;
    return unpacker_new(&read->unpacker, err);
}

void traceread_done(struct traceread *read)
{
    arena_done(&read->scratch);
    buffer_done(&read->key);
    buffer_done(&read->body);
    unpacker_free(read->unpacker);
}

int traceread_check(struct traceread *read, struct error *err)
{
    return read->asker && read->asker->check ? read->asker->check(read->asker->context, err) : 0;
}

int traceread_pass(struct traceread *read, const struct hourly_view *view, struct error *err)
{
    if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
        return -1;
    hourly_note_damage(read->hourly, view, err);
    read->n_damaged++;
    return 0;
}

static int64_t hour_start(const struct hourly_view *view, uint8_t hour)
{
    return view->start_ns + hour * HOURLY_HOUR_NS;
}

bool traceread_slots_of(const struct hourly_view *view, uint8_t hour, int64_t from_ns, int64_t until_ns,
                        struct traceread_slots *ret_slots)
{
    int64_t start_ns = hour_start(view, hour), end_ns = start_ns + HOURLY_HOUR_NS;
    int64_t first_ns = MAX(start_ns, from_ns), last_ns = until_ns == 0 ? end_ns : MIN(end_ns, until_ns);

    if (first_ns >= last_ns)
        return false;
    *ret_slots = (struct traceread_slots){ spanrow_slot(first_ns), spanrow_slot(last_ns - 1) + 1 };
    return true;
}

static int get_value(struct traceread *read, const struct hourly_view *view, bool *ret_has, struct error *err)
{
    *ret_has = false;
    buffer_clear(&read->body);
    if (buffer_check(&read->key, err) < 0)
        return -1;
    if (kv_get_at(view->kv, view->block_family, view->snapshot, buffer_slice(&read->key), &read->body, ret_has, err) <
        0) {
        *ret_has = false;
        return traceread_pass(read, view, err);
    }
    return buffer_check(&read->body, err);
}

int traceread_tally(struct traceread *read, const struct hourly_view *view, const struct hourly_number *closing,
                    struct tracetally *ret_tally, struct error *err)
{
    static const struct tracetally everything = { UINT64_MAX, 0, INT64_MAX, INT64_MAX };
    uint64_t n_damaged = read->n_damaged;
    struct slice rest;
    bool has;

    *ret_tally = (struct tracetally){ 0 };
    buffer_clear(&read->key);
    tracekeys_put_closing(&read->key, TRACEKEYS_TALLY, closing->hour, closing->number, read->tenant);
    if (get_value(read, view, &has, err) < 0)
        return -1;
    rest = buffer_slice(&read->body);
    if (has && tracetally_decode(&rest, ret_tally, err) < 0 && traceread_pass(read, view, err) < 0)
        return -1;
    if (read->n_damaged > n_damaged)
        *ret_tally = everything;
    return 0;
}

static int visit_header(struct traceread *read, const struct hourly_view *view, struct slice key, struct slice value,
                        struct traceread_block *block,
                        int (*visit)(void *context, const struct traceread_block *block, struct error *err),
                        void *context, struct error *err)
{
    block->header = value;
    if (!tracekeys_parse_block(key, &block->block)) {
        IGNORE(error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of a header", key.len), "it is told");
        return traceread_pass(read, view, err);
    }
    if (tracetally_decode(&block->header, &block->tally, err) < 0)
        return traceread_pass(read, view, err);
    return visit(context, block, err);
}

int traceread_each_block(struct traceread *read, const struct hourly_view *view, const struct hourly_number *closing,
                         int (*visit)(void *context, const struct traceread_block *block, struct error *err),
                         void *context, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct traceread_block block = { .closing = *closing };

    if (traceread_check(read, err) < 0)
        return -1;
    buffer_clear(&read->key);
    tracekeys_put_closing(&read->key, TRACEKEYS_HEADER, closing->hour, closing->number, read->tenant);
    if (buffer_check(&read->key, err) < 0 || kv_iterator_new(view->kv, view->block_family, view->snapshot,
                                                             buffer_slice(&read->key), false, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        if (visit_header(read, view, kv_iterator_key(iterator), kv_iterator_value(iterator), &block, visit, context,
                         err) < 0)
            return -1;
    return kv_iterator_check(iterator, err) < 0 ? traceread_pass(read, view, err) : 0;
}

int traceread_header(struct traceread *read, struct slice header, struct spanblock_header *ret_header,
                     struct error *err)
{
    arena_reset(&read->scratch);
    return spanblock_header_decode(header, read->unpacker, &read->scratch, ret_header, err);
}

int traceread_find_header(struct traceread *read, const struct hourly_view *view, const struct hourly_number *closing,
                          uint32_t block, struct spanblock_header *ret_header, bool *ret_has, struct error *err)
{
    struct tracetally tally;
    struct slice rest;

    buffer_clear(&read->key);
    tracekeys_put_block(&read->key, TRACEKEYS_HEADER, closing->hour, closing->number, read->tenant, block);
    if (get_value(read, view, ret_has, err) < 0)
        return -1;
    if (!*ret_has)
        return 0;
    rest = buffer_slice(&read->body);
    if (tracetally_decode(&rest, &tally, err) == 0 && traceread_header(read, rest, ret_header, err) == 0)
        return 0;
    *ret_has = false;
    return traceread_pass(read, view, err);
}

int traceread_may_have_attributes(struct traceread *read, const struct hourly_view *view,
                                  const struct hourly_number *closing, uint32_t block,
                                  const struct tracestore_filter *filter, bool *ret_may_have, struct error *err)
{
    bool has;

    *ret_may_have = true;
    if (filter->n_attributes == 0)
        return 0;
    buffer_clear(&read->key);
    tracekeys_put_block(&read->key, TRACEKEYS_BLOOM, closing->hour, closing->number, read->tenant, block);
    if (get_value(read, view, &has, err) < 0)
        return -1;
    if (!has)
        return 0;
    if (tracebloom_check(buffer_slice(&read->body), err) < 0)
        return traceread_pass(read, view, err);
    *ret_may_have = tracebloom_may_have(buffer_slice(&read->body), filter);
    return 0;
}

int traceread_open(struct traceread *read, const struct hourly_view *view, const struct hourly_number *closing,
                   uint32_t block, struct spanblock *ret_block, bool *ret_has, struct error *err)
{
    if (traceread_check(read, err) < 0)
        return -1;
    buffer_clear(&read->key);
    tracekeys_put_block(&read->key, TRACEKEYS_BODY, closing->hour, closing->number, read->tenant, block);
    if (get_value(read, view, ret_has, err) < 0)
        return -1;
    if (!*ret_has)
        return 0;
    arena_reset(&read->scratch);
    if (spanblock_open(buffer_slice(&read->body), read->unpacker, &read->scratch, ret_block, err) < 0) {
        *ret_has = false;
        return traceread_pass(read, view, err);
    }
    return 0;
}

/* An iterator over what a head has of a kind. */
static int iterate(struct traceread *read, const struct hourly_view *view, const struct hourly_head *head, char kind,
                   bool is_sparse, struct kv_iterator **ret_iterator, struct error *err)
{
    buffer_clear(&read->key);
    tracekeys_put_tenant(&read->key, kind, read->tenant);
    if (buffer_check(&read->key, err) < 0)
        return -1;
    return is_sparse ? kv_iterator_new_sparse(view->kv, head->family, view->snapshot, buffer_slice(&read->key),
                                              ret_iterator, err)
                     : kv_iterator_new(view->kv, head->family, view->snapshot, buffer_slice(&read->key), true,
                                       ret_iterator, err);
}

static int seek_slot(struct traceread *read, struct kv_iterator *iterator, uint32_t slot, bool is_back,
                     struct error *err)
{
    buffer_clear(&read->key);
    tracekeys_put_slot(&read->key, read->tenant, slot);
    if (buffer_check(&read->key, err) < 0)
        return -1;
    if (is_back)
        kv_iterator_seek_back(iterator, buffer_slice(&read->key));
    else
        kv_iterator_seek(iterator, buffer_slice(&read->key));
    return 0;
}

int traceread_each_row(struct traceread *read, const struct hourly_view *view, const struct hourly_head *head,
                       const struct traceread_slots *slots,
                       int (*visit)(void *context, const struct traceread_row *row, struct error *err), void *context,
                       struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct traceread_row row;
    struct slice tenant;
    uint32_t n_rows = 0;

    if (iterate(read, view, head, TRACEKEYS_SPAN, false, &iterator, err) < 0 ||
        seek_slot(read, iterator, slots->first, false, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        if (n_rows++ % ROWS_PER_CHECK == 0 && traceread_check(read, err) < 0)
            return -1;
        if (!tracekeys_parse_row(kv_iterator_key(iterator), &tenant, &row.key))
            continue;
        if (row.key.slot >= slots->end)
            return 0;
        row.value = kv_iterator_value(iterator);
        if (visit(context, &row, err) < 0)
            return -1;
    }
    return kv_iterator_check(iterator, err) < 0 ? traceread_pass(read, view, err) : 0;
}

/* The rows of a trace in one slot. */
static int each_run_row(struct traceread *read, struct kv_iterator *rows, uint32_t slot,
                        const uint8_t trace_id[static SPAN_TRACE_ID_BYTES],
                        int (*visit)(void *context, const struct traceread_row *row, struct error *err), void *context,
                        struct error *err)
{
    struct traceread_row row;
    struct slice tenant;
    uint32_t n_rows = 0;

    buffer_clear(&read->key);
    tracekeys_put_run(&read->key, read->tenant, slot, trace_id);
    if (buffer_check(&read->key, err) < 0)
        return -1;
    for (kv_iterator_seek(rows, buffer_slice(&read->key)); kv_iterator_is_valid(rows); kv_iterator_next(rows)) {
        if (n_rows++ % ROWS_PER_CHECK == 0 && traceread_check(read, err) < 0)
            return -1;
        if (!tracekeys_parse_row(kv_iterator_key(rows), &tenant, &row.key))
            continue;
        if (row.key.slot != slot || memcmp(row.key.trace_id, trace_id, SPAN_TRACE_ID_BYTES) != 0)
            return 0;
        row.value = kv_iterator_value(rows);
        if (visit(context, &row, err) < 0)
            return -1;
    }
    return kv_iterator_check(rows, err);
}

int traceread_each_trace_row(struct traceread *read, const struct hourly_view *view, const struct hourly_head *head,
                             const uint8_t trace_id[static SPAN_TRACE_ID_BYTES], const struct traceread_slots *slots,
                             int (*visit)(void *context, const struct traceread_row *row, struct error *err),
                             void *context, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *places = NULL;
    AUTO(kv_iterator_freep) struct kv_iterator *rows = NULL;
    uint8_t found[SPAN_TRACE_ID_BYTES];
    uint32_t slot;

    if (traceread_check(read, err) < 0 || iterate(read, view, head, TRACEKEYS_SLOT, true, &places, err) < 0 ||
        iterate(read, view, head, TRACEKEYS_SPAN, true, &rows, err) < 0)
        return -1;
    buffer_clear(&read->key);
    tracekeys_put_trace_slot(&read->key, read->tenant, trace_id, slots->first);
    if (buffer_check(&read->key, err) < 0)
        return -1;
    for (kv_iterator_seek(places, buffer_slice(&read->key)); kv_iterator_is_valid(places); kv_iterator_next(places)) {
        if (!tracekeys_parse_trace_slot(kv_iterator_key(places), read->tenant, found, &slot) ||
            memcmp(found, trace_id, sizeof(found)) != 0 || slot >= slots->end)
            return 0;
        if (each_run_row(read, rows, slot, trace_id, visit, context, err) < 0)
            return traceread_pass(read, view, err);
    }
    return kv_iterator_check(places, err) < 0 ? traceread_pass(read, view, err) : 0;
}

int traceread_last_slot(struct traceread *read, const struct hourly_view *view, const struct hourly_head *head,
                        const struct traceread_slots *slots, uint32_t *ret_slot, bool *ret_has, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct spanrow_key key;
    struct slice tenant;

    *ret_has = false;
    if (iterate(read, view, head, TRACEKEYS_SPAN, true, &iterator, err) < 0 ||
        seek_slot(read, iterator, slots->end, true, err) < 0)
        return -1;
    if (!kv_iterator_is_valid(iterator))
        return kv_iterator_check(iterator, err) < 0 ? traceread_pass(read, view, err) : 0;
    if (tracekeys_parse_row(kv_iterator_key(iterator), &tenant, &key) && key.slot >= slots->first) {
        *ret_slot = key.slot;
        *ret_has = true;
    }
    return 0;
}

static void span_of_front(const struct spanrow_key *key, const struct spanrow_front *front,
                          struct span_resource *resource, struct span *ret_span)
{
    *resource = (struct span_resource){ .service = front->service };
    *ret_span = (struct span){ .kind = key->kind,
                               .status = front->status,
                               .start_ns = front->start_ns,
                               .duration_ns = front->duration_ns,
                               .name = front->name,
                               .resource = resource };
    memcpy(ret_span->trace_id, key->trace_id, sizeof(ret_span->trace_id));
    memcpy(ret_span->span_id, key->span_id, sizeof(ret_span->span_id));
    memcpy(ret_span->parent_id, front->parent_id, sizeof(ret_span->parent_id));
}

int traceread_row_takes(struct traceread *read, const struct hourly_view *view, const struct traceread_row *row,
                        const struct tracestore_filter *filter, bool is_whole, struct span *ret_span,
                        struct span_resource *resource, bool *ret_takes, struct error *err)
{
    struct tracestore_filter plain = *filter;
    struct spanrow_front front;

    *ret_takes = false;
    plain.n_attributes = 0;
    if (spanrow_read_front(&row->key, row->value, &front, err) < 0)
        return traceread_pass(read, view, err);
    span_of_front(&row->key, &front, resource, ret_span);
    if (!tracestore_filter_takes(&plain, ret_span))
        return 0;
    if (is_whole || filter->n_attributes > 0) {
        arena_reset(&read->scratch);
        if (spanrow_decode(&row->key, row->value, &read->scratch, ret_span, err) < 0)
            return traceread_pass(read, view, err);
    }
    *ret_takes = filter->n_attributes == 0 || tracestore_filter_takes(filter, ret_span);
    return 0;
}
