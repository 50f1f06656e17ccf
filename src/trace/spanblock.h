// SPDX-License-Identifier: Apache-2.0
/* Many spans as columns: a block of a closed hour (docs/format-traces.md is normative).
 *
 * B1  A block is made of spans in the order of the keys of heads: by slot (spanrow.h), trace, span, kind. In the block the
 *     spans of a trace within a slot (a run) stand together, by start: so that traces that are alike look alike.
 * B2  A block stands by itself: it has tables of its own.
 * B3  Spans that are alike in all but ids, times and values of attributes share a class: resource, scope, operation, kind,
 *     status, flags, and the keys of their attributes with the kinds of their values. So filters look at classes first.
 * B4  Whatever the bytes, readers stay within them and within the arena they are given. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "pack/packer.h"
#include "pack/unpacker.h"
#include "trace/span.h"

#define SPANBLOCK_SPANS     16384u             /* what writers put into a block, at most */
#define SPANBLOCK_MAX_SPANS 65536u             /* what readers take */
#define SPANBLOCK_BYTES     ((size_t)8 << 20)  /* a writer that holds so much has enough */
#define SPANBLOCK_MAX_BYTES ((size_t)64 << 20) /* of one inflated section, for readers */

/* --- writing --- */

struct spanblock_writer;

/* Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int spanblock_writer_new(struct spanblock_writer **ret_writer, struct error *err);
void spanblock_writer_free(struct spanblock_writer *writer);
void spanblock_writer_freep(struct spanblock_writer **writer);

/* Adds a span, of which nothing is borrowed. It keeps the bounds of span.h, starts in 1970 or later, and belongs behind the
 * one before it (B1; equal keys are the caller's to leave out). Errors: ERR_MEMORY, ERR_LIMIT (the block is full); after one
 * only reset and free may be called. */
MUST_CHECK int spanblock_writer_add(struct spanblock_writer *writer, const struct span *span, struct error *err);
/* How many spans there are now. */
uint32_t spanblock_writer_count(const struct spanblock_writer *writer);
/* Whether the block should be finished: it has SPANBLOCK_SPANS, or holds SPANBLOCK_BYTES. A good place is where a trace
 * ends; it takes more spans after that, up to SPANBLOCK_MAX_SPANS and twice the bytes. */
bool spanblock_writer_is_full(const struct spanblock_writer *writer);
/* Appends the block and its header; it must have spans. The first eight bytes of the trace ids, as big-endian numbers, one for
 * each run, stay the writer's until the next call. The writer is empty then, and can be filled again.
 * Errors: ERR_MEMORY, ERR_LIMIT (of the buffers); then it is empty, too. */
struct spanblock_prefixes {
    const uint64_t *items;
    uint32_t n;
};
MUST_CHECK int spanblock_writer_finish(struct spanblock_writer *writer, struct packer *packer, struct buffer *body,
                                       struct buffer *header, struct spanblock_prefixes *ret_prefixes,
                                       struct error *err);
/* Forgets what was added. */
void spanblock_writer_reset(struct spanblock_writer *writer);

/* --- headers --- */

struct spanblock_bucket {
    uint32_t bucket; /* spanbuckets.h; rising */
    uint32_t n;
};
struct spanblock_operation {
    struct slice service, name;
    uint32_t n_spans, n_errors;
    int64_t min_duration_ns, max_duration_ns;
    int64_t total_ns; /* stays at the edge of 64 bits */
    const struct spanblock_bucket *buckets;
    uint32_t n_buckets;
};
struct spanblock_header {
    uint32_t n_spans, n_runs;
    int64_t min_start_ns, max_start_ns;
    const struct spanblock_operation *operations; /* by service, then name */
    uint32_t n_operations;
};
/* Reads a header; all comes from `arena`. Errors: ERR_CORRUPT, ERR_VERSION, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int spanblock_header_decode(struct slice bytes, struct unpacker *unpacker, struct arena *arena,
                                       struct spanblock_header *ret_header, struct error *err);

/* --- reading --- */

struct spanblock_class {
    struct slice service, name;
    uint32_t resource, scope; /* in the tables of the block; scope 0 = none */
    uint32_t shape;
    uint32_t flags;
    uint8_t kind, status;
    uint32_t n_spans;
};

/* A block that was opened. Columns have `n_spans` entries but for runs. */
struct spanblock {
    uint32_t n_spans, n_runs, n_classes;
    const uint8_t (*trace_ids)[SPAN_TRACE_ID_BYTES]; /* of runs */
    const uint32_t *run_starts;                      /* [n_runs + 1] where each begins */
    const uint8_t (*span_ids)[SPAN_ID_BYTES];
    const uint8_t (*parent_ids)[SPAN_ID_BYTES]; /* zeros = none */
    const int64_t *start_ns;
    const int64_t *duration_ns;
    const uint32_t *class_ids;
    const struct spanblock_class *classes;
    struct spanblock_inside *inside;
};

/* Opens a block: tables and the columns above. `body` and `arena` must outlive it; the unpacker is used by the functions
 * below, too. Errors: ERR_CORRUPT, ERR_VERSION, ERR_LIMIT (of the arena), ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int spanblock_open(struct slice body, struct unpacker *unpacker, struct arena *arena,
                              struct spanblock *ret_block, struct error *err);

/* The run of a span. */
uint32_t spanblock_find_run(const struct spanblock *block, uint32_t span);

/* What a span shall have beside what `struct spanblock` has. */
enum {
    SPANBLOCK_RESOURCE = 1,   /* attributes of its resource, and its scope */
    SPANBLOCK_ATTRIBUTES = 2, /* its own */
    SPANBLOCK_EXTRAS = 4,     /* events, links, the message of its status, trace state, and what was dropped */
    SPANBLOCK_ALL = 7,
};
/* Fills a span: ids, times, operation, service and what `wants` names; the rest is empty. Spans of one resource of one block
 * share the pointer to it. All of it lives as long as the block and its arena. Errors: as spanblock_open. */
MUST_CHECK int spanblock_get(struct spanblock *block, uint32_t span, unsigned wants, struct span *ret_span,
                             struct error *err);

/* The value of an attribute of a span, or of its resource where the span has none of that key; SPAN_VALUE_EMPTY, and false in
 * `ret_has`, where neither has. Reads the columns of that key alone. Errors: as spanblock_open. */
MUST_CHECK int spanblock_find_attribute(struct spanblock *block, uint32_t span, struct slice key, bool *ret_has,
                                        struct span_value *ret_value, struct error *err);
