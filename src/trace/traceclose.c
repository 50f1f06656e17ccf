// SPDX-License-Identifier: Apache-2.0
#include "trace/traceclose.h"

#include "base/log.h"
#include "base/memory.h"
#include "trace/spanblock.h"
#include "trace/tracebloom.h"
#include "trace/traceindex.h"
#include "trace/tracekeys.h"
#include "trace/tracetally.h"

#define MAX_VALUE       ((size_t)64 << 20)
#define MAX_ROW         ((size_t)64 << 20) /* of a row as a span in memory */
/* A block that is full takes the rest of a trace, unless that is longer than this. */
#define MAX_GRACE_SPANS 8192u
#define MAX_GRACE_BYTES ((size_t)1 << 20)

struct work {
    struct traceclose *counts;
    struct hourly_closing *closing;
    struct hourly_closing_about about;
    struct spanblock_writer *writer;
    struct packer *packer;
    struct tracebloom *bloom;
    struct arena row;
    struct buffer key, body, header;
    struct traceindex_builder index;

    char tenant[TRACEKEYS_MAX_TENANT]; /* of the rows that come now */
    size_t tenant_len;
    bool has_tenant;
    uint32_t n_blocks;
    struct tracetally block_tally, tally;
    struct spanrow_key last; /* of the run that comes now */
    uint32_t grace_spans;
    size_t grace_bytes;
};

static struct slice tenant_of(const struct work *work)
{
    return slice_of(work->tenant, work->tenant_len);
}

static int put(struct work *work, struct slice value, struct error *err)
{
    if (buffer_check(&work->key, err) < 0)
        return -1;
    return hourly_closing_put(work->closing, buffer_slice(&work->key), value, err);
}

static int put_block(struct work *work, char kind, const struct buffer *value, struct error *err)
{
    buffer_clear(&work->key);
    tracekeys_put_block(&work->key, kind, work->about.hour, work->about.number, tenant_of(work), work->n_blocks);
    return put(work, buffer_slice(value), err);
}

static int finish_block(struct work *work, struct error *err)
{
    struct spanblock_prefixes prefixes;

    if (spanblock_writer_count(work->writer) == 0)
        return 0;
    buffer_clear(&work->body);
    buffer_clear(&work->header);
    tracetally_encode(&work->block_tally, &work->header);
    if (spanblock_writer_finish(work->writer, work->packer, &work->body, &work->header, &prefixes, err) < 0 ||
        put_block(work, TRACEKEYS_BODY, &work->body, err) < 0 ||
        put_block(work, TRACEKEYS_HEADER, &work->header, err) < 0)
        return -1;
    buffer_clear(&work->body);
    tracebloom_encode(work->bloom, &work->body);
    if (buffer_check(&work->body, err) < 0 || put_block(work, TRACEKEYS_BLOOM, &work->body, err) < 0)
        return -1;
    tracebloom_clear(work->bloom);
    tracetally_join(&work->tally, &work->block_tally);
    work->block_tally = (struct tracetally){ 0 };
    work->n_blocks++;
    work->grace_spans = 0;
    work->grace_bytes = 0;
    return 0;
}

static int put_page(void *context, uint64_t first, struct slice page, struct error *err)
{
    struct work *work = context;

    buffer_clear(&work->key);
    tracekeys_put_page(&work->key, work->about.hour, work->about.number, tenant_of(work), first);
    return put(work, page, err);
}

static int finish_tenant(struct work *work, struct error *err)
{
    if (!work->has_tenant)
        return 0;
    if (finish_block(work, err) < 0 || traceindex_builder_finish(&work->index, put_page, work, err) < 0)
        return -1;
    if (work->tally.n_spans > 0) {
        buffer_clear(&work->header);
        tracetally_encode(&work->tally, &work->header);
        buffer_clear(&work->key);
        tracekeys_put_closing(&work->key, TRACEKEYS_TALLY, work->about.hour, work->about.number, tenant_of(work));
        if (buffer_check(&work->header, err) < 0 || put(work, buffer_slice(&work->header), err) < 0)
            return -1;
    }
    work->tally = (struct tracetally){ 0 };
    work->n_blocks = 0;
    work->has_tenant = false;
    return 0;
}

static int begin_tenant(struct work *work, struct slice tenant, struct error *err)
{
    if (finish_tenant(work, err) < 0)
        return -1;
    memcpy(work->tenant, tenant.ptr, tenant.len);
    work->tenant_len = tenant.len;
    work->has_tenant = true;
    return 0;
}

/* Whether the block ends before the row: it is full, and the row belongs to another trace, or the trace has no end. */
static bool is_block_over(struct work *work, const struct spanrow_key *key, size_t row_bytes)
{
    if (!spanblock_writer_is_full(work->writer))
        return false;
    work->grace_spans++;
    work->grace_bytes += row_bytes;
    return memcmp(key->trace_id, work->last.trace_id, sizeof(key->trace_id)) != 0 || key->slot != work->last.slot ||
           work->grace_spans > MAX_GRACE_SPANS || work->grace_bytes > MAX_GRACE_BYTES;
}

static bool is_same_run(const struct work *work, const struct spanrow_key *key)
{
    return spanblock_writer_count(work->writer) > 0 && key->slot == work->last.slot &&
           memcmp(key->trace_id, work->last.trace_id, sizeof(key->trace_id)) == 0;
}

static int add_span(struct work *work, const struct spanrow_key *key, const struct span *span, size_t row_bytes,
                    struct error *err)
{
    if (is_block_over(work, key, row_bytes) && finish_block(work, err) < 0)
        return -1;
    if (!is_same_run(work, key) &&
        traceindex_builder_add(&work->index, traceindex_hash(key->trace_id), work->n_blocks, err) < 0)
        return -1;
    work->last = *key;
    tracetally_add(&work->block_tally, span);
    tracebloom_add_span(work->bloom, span);
    return spanblock_writer_add(work->writer, span, err);
}

/* A row that RocksDB gave as it was written, but which is none of ours: it would keep all others from being closed. */
static int leave_out(struct work *work, const struct error *why)
{
    /* A number to be shown: no order needed. */
    atomic_fetch_add_explicit(&work->counts->n_damaged, 1, memory_order_relaxed);
    LOG_EVERY(60, LOG_WARN, "trace", "a span cannot be read, left out: %s", why->text);
    return 0;
}

static int add_row(struct work *work, struct slice key, struct slice value, struct error *err)
{
    struct slice tenant = { 0 };
    struct spanrow_key row;
    struct span span;

    if (!tracekeys_parse_row(key, &tenant, &row) || tenant.len > TRACEKEYS_MAX_TENANT) {
        IGNORE(error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of a span", key.len), "it is told");
        return leave_out(work, err);
    }
    arena_reset(&work->row);
    if (spanrow_decode(&row, value, &work->row, &span, err) < 0)
        return err->code == ERR_CORRUPT || err->code == ERR_VERSION ? leave_out(work, err) : -1;
    if ((!work->has_tenant || !slice_equal(tenant, tenant_of(work))) && begin_tenant(work, tenant, err) < 0)
        return -1;
    return add_span(work, &row, &span, value.len, err);
}

static int add_rows(struct work *work, struct error *err)
{
    for (;;) {
        struct slice key, value;
        bool has;

        if (hourly_closing_next(work->closing, &key, &value, &has, err) < 0)
            return -1;
        if (!has)
            return finish_tenant(work, err);
        if (key.len > 0 && key.ptr[0] == TRACEKEYS_SLOT)
            continue; /* what finds spans in the head is of no use any more */
        if (add_row(work, key, value, err) < 0)
            return -1;
    }
}

static void work_done(struct work *work)
{
    spanblock_writer_free(work->writer);
    packer_free(work->packer);
    memory_free(work->bloom);
    arena_done(&work->row);
    buffer_done(&work->key);
    buffer_done(&work->body);
    buffer_done(&work->header);
    traceindex_builder_done(&work->index);
}

int traceclose_head(void *context, struct hourly_closing *closing, struct error *err)
{
    AUTO(work_done)
    struct work work = { .counts = context, .closing = closing, .about = hourly_closing_about(closing) };

    arena_init(&work.row, MAX_ROW);
    buffer_init(&work.key, TRACEKEYS_MAX_BYTES);
    buffer_init(&work.body, MAX_VALUE);
    buffer_init(&work.header, MAX_VALUE);
    work.bloom = MEMORY_NEW(struct tracebloom, err);
    if (!work.bloom || spanblock_writer_new(&work.writer, err) < 0 || packer_new(&work.packer, err) < 0)
        return -1;
    return add_rows(&work, err);
}
