// SPDX-License-Identifier: Apache-2.0
/* Opening, care and writing. Asking is in the files beside. */
#include "trace/tracestore.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "trace/spanrow.h"
#include "trace/tracecheck.h"
#include "trace/tracekeys.h"
#include "trace/tracestore_internal.h"

#define DEFAULT_RETENTION_NS (7 * HOURLY_DAY_NS)
#define DEFAULT_AHEAD_NS     (10 * 60 * CLOCK_NS_PER_SECOND)
#define MAX_ROW              ((size_t)64 << 20)
#define N_RECENT             256u /* a power of two */

/* A trace that has a row in a slot, which is not said twice. */
struct recent {
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    uint32_t slot;
    bool is_set;
};

struct tracestore_writer {
    struct hourly_batch *batch;
    struct spanrow_writer rows;
    struct buffer key, value;
    struct recent recents[N_RECENT];
};

static const struct hourly_kind traces = { .name = "traces", .close = traceclose_head, .check = tracecheck };

int tracestore_open(const struct tracestore_options *options, struct tracestore **ret_store, struct error *err)
{
    AUTO(tracestore_closep) struct tracestore *store = MEMORY_NEW(struct tracestore, err);
    struct hourly_options hourly;

    if (!store)
        return -1;
    store->options = *options;
    store->options.data_dir = NULL;
    if (store->options.retention_ns == 0)
        store->options.retention_ns = DEFAULT_RETENTION_NS;
    if (store->options.max_ahead_ns == 0)
        store->options.max_ahead_ns = DEFAULT_AHEAD_NS;
    lock_mutex_init(&store->lock, LOCK_TRACE_WRITERS);
    hourly = (struct hourly_options){ .kind = &traces,
                                      .context = &store->closes,
                                      .data_dir = options->data_dir,
                                      .is_read_only = options->is_read_only,
                                      .is_synced = options->is_synced,
                                      .memory_bytes = options->memory_bytes,
                                      .retention_ns = store->options.retention_ns,
                                      .retention_bytes = options->retention_bytes,
                                      .min_free_bytes = options->min_free_bytes,
                                      .close_delay_ns = options->close_delay_ns };
    if (hourly_open(&hourly, &store->hourly, err) < 0)
        return -1;
    *ret_store = TAKE(store);
    return 0;
}

static void writer_free(struct tracestore_writer *writer)
{
    if (!writer)
        return;
    hourly_batch_free(writer->batch);
    spanrow_writer_done(&writer->rows);
    buffer_done(&writer->key);
    buffer_done(&writer->value);
    memory_free(writer);
}

static void writer_freep(struct tracestore_writer **writer)
{
    writer_free(*writer);
}

void tracestore_close(struct tracestore *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->n_writers; i++)
        writer_free(store->writers[i]);
    hourly_close(store->hourly);
    lock_mutex_done(&store->lock);
    memory_free(store);
}

void tracestore_closep(struct tracestore **store)
{
    tracestore_close(*store);
}

int tracestore_maintain(struct tracestore *store, int64_t now_ns, struct error *err)
{
    return hourly_maintain(store->hourly, now_ns, err);
}

int tracestore_close_hours(struct tracestore *store, struct error *err)
{
    return hourly_close_heads(store->hourly, err);
}

void tracestore_stop(struct tracestore *store)
{
    hourly_stop(store->hourly);
}

struct hourly *tracestore_hourly(struct tracestore *store)
{
    return store->hourly;
}

/* --- writing --- */

static int writer_new(struct tracestore *store, struct tracestore_writer **ret_writer, struct error *err)
{
    AUTO(writer_freep) struct tracestore_writer *writer = MEMORY_NEW(struct tracestore_writer, err);

    if (!writer)
        return -1;
    spanrow_writer_init(&writer->rows);
    buffer_init(&writer->key, TRACEKEYS_MAX_BYTES);
    buffer_init(&writer->value, MAX_ROW);
    if (hourly_batch_new(store->hourly, &writer->batch, err) < 0)
        return -1;
    *ret_writer = TAKE(writer);
    return 0;
}

static int take_writer(struct tracestore *store, struct tracestore_writer **ret_writer, struct error *err)
{
    struct tracestore_writer *writer = NULL;

    lock_mutex_acquire(&store->lock);
    if (store->n_writers > 0)
        writer = store->writers[--store->n_writers];
    lock_mutex_release(&store->lock);
    if (!writer)
        return writer_new(store, ret_writer, err);
    *ret_writer = writer;
    return 0;
}

/* Keeps the writer for the next, or frees it. */
static void give_writer(struct tracestore *store, struct tracestore_writer *writer)
{
    hourly_batch_clear(writer->batch);
    spanrow_writer_forget(&writer->rows);
    lock_mutex_acquire(&store->lock);
    if (store->n_writers < TRACESTORE_MAX_WRITERS)
        store->writers[store->n_writers++] = TAKE(writer);
    lock_mutex_release(&store->lock);
    writer_free(writer);
}

static bool is_of_time(const struct tracestore *store, const struct span *span, int64_t now_ns,
                       struct tracestore_receipt *receipt)
{
    char start[CLOCK_TEXT_BYTES];
    bool is_late = span->start_ns < MAX(now_ns - store->options.retention_ns, 0);

    if (!is_late && span->start_ns - now_ns <= store->options.max_ahead_ns)
        return true;
    if (receipt->n_refused++ == 0)
        IGNORE(error_set(&receipt->refusal, ERR_INVALID, "the span '%.*s' started at %s, %s",
                         SLICE_ARG(slice_sub(span->name, 0, 64)),
                         clock_format(span->start_ns, CLOCK_ZONE_UTC, 3, start),
                         is_late ? "which is before all that is kept (--traces-retention)"
                                 : "which is too far in the future (is the clock of its host right?)"),
               "it is told in the receipt");
    return false;
}

/* Whether it is said already in this batch that the trace has rows in the slot. */
static bool is_slot_known(struct tracestore_writer *writer, const struct span *span, uint32_t slot)
{
    uint64_t hash = hash_bytes64(slice_of(span->trace_id, sizeof(span->trace_id)), slot);
    struct recent *recent = &writer->recents[hash & (N_RECENT - 1)];

    if (recent->is_set && recent->slot == slot &&
        memcmp(recent->trace_id, span->trace_id, sizeof(recent->trace_id)) == 0)
        return true;
    recent->is_set = true;
    recent->slot = slot;
    memcpy(recent->trace_id, span->trace_id, sizeof(recent->trace_id));
    return false;
}

static int put_row(struct tracestore_writer *writer, int64_t time_ns, struct error *err)
{
    if (buffer_check(&writer->key, err) < 0 || buffer_check(&writer->value, err) < 0)
        return -1;
    return hourly_batch_put_row(writer->batch, time_ns, buffer_slice(&writer->key), buffer_slice(&writer->value), err);
}

static int put_span(struct tracestore_writer *writer, struct slice tenant, const struct span *span, struct error *err)
{
    uint32_t slot = spanrow_slot(span->start_ns);

    buffer_clear(&writer->key);
    buffer_clear(&writer->value);
    tracekeys_put_row(&writer->key, tenant, span);
    spanrow_encode(&writer->rows, span, &writer->value);
    if (put_row(writer, span->start_ns, err) < 0)
        return -1;
    if (is_slot_known(writer, span, slot))
        return 0;
    buffer_clear(&writer->key);
    buffer_clear(&writer->value);
    tracekeys_put_trace_slot(&writer->key, tenant, span->trace_id, slot);
    return put_row(writer, span->start_ns, err);
}

static int write_spans(struct tracestore *store, struct tracestore_writer *writer, struct slice tenant,
                       const struct span_list *spans, int64_t now_ns, struct tracestore_receipt *receipt,
                       struct error *err)
{
    memset(writer->recents, 0, sizeof(writer->recents));
    for (size_t i = 0; i < spans->n; i++) {
        if (!is_of_time(store, &spans->items[i], now_ns, receipt))
            continue;
        if (put_span(writer, tenant, &spans->items[i], err) < 0)
            return -1;
        receipt->n_kept++;
    }
    return hourly_write(writer->batch, err);
}

int tracestore_write(struct tracestore *store, struct slice tenant, const struct span_list *spans,
                     struct tracestore_receipt *ret_receipt, struct error *err)
{
    struct tracestore_receipt receipt = { 0 };
    struct tracestore_writer *writer;
    int64_t now_ns = clock_now_ns();
    int result;

    if (tracekeys_check_tenant(tenant, err) < 0 || take_writer(store, &writer, err) < 0)
        return -1;
    result = write_spans(store, writer, tenant, spans, now_ns, &receipt, err);
    if (result < 0 && err->code == ERR_CLOSED) {
        receipt = (struct tracestore_receipt){ 0 };
        hourly_batch_clear(writer->batch);
        result = write_spans(store, writer, tenant, spans, now_ns, &receipt, err);
    }
    give_writer(store, writer);
    if (result < 0)
        return error_wrap(err, "keeping %zu spans", spans->n);
    *ret_receipt = receipt;
    return 0;
}
