// SPDX-License-Identifier: Apache-2.0
/* One span as bytes, by itself: what a head keeps for each (docs/format-traces.md is normative).
 *
 * What the key of the row has is not repeated: the trace id, the span id, the kind, and the slot of 10 seconds in which the
 * span started. Fields that filters look at stand first, so that a reader can stop there. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "trace/span.h"

#define SPANROW_SLOT_NS INT64_C(10000000000)

/* The slot of a start, which must not be before 1970. */
static inline uint32_t spanrow_slot(int64_t start_ns)
{
    return (uint32_t)(start_ns / SPANROW_SLOT_NS);
}

/* What the key of a row says. */
struct spanrow_key {
    uint32_t slot;
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    uint8_t span_id[SPAN_ID_BYTES];
    uint8_t kind;
};

/* A writer keeps the bytes of the resource it wrote last, since spans come by resource. Thread: one at a time. */
struct spanrow_writer {
    const struct span_resource *resource; /* whose bytes they are */
    struct buffer resource_bytes;
};
void spanrow_writer_init(struct spanrow_writer *writer);
void spanrow_writer_done(struct spanrow_writer *writer);
/* To be called before resources that were written are freed or changed. */
void spanrow_writer_forget(struct spanrow_writer *writer);
/* Appends a span that keeps the bounds of span.h and starts in 1970 or later. What went wrong, if anything, says
 * buffer_check of `out`. */
void spanrow_encode(struct spanrow_writer *writer, const struct span *span, struct buffer *out);

/* What stands at the front of a row, borrowed from its bytes. */
struct spanrow_front {
    int64_t start_ns, duration_ns;
    uint8_t parent_id[SPAN_ID_BYTES];
    uint8_t status;
    struct slice service, name;
    struct slice rest; /* what follows */
};
/* Reads the front of a row. Errors: ERR_CORRUPT with the offset, ERR_VERSION. Thread: any. */
MUST_CHECK int spanrow_read_front(const struct spanrow_key *key, struct slice bytes, struct spanrow_front *ret_front,
                                  struct error *err);
/* Reads all of a row: texts borrow `bytes`, the rest comes from `arena`. Errors: ERR_CORRUPT with the offset, ERR_VERSION,
 * ERR_LIMIT (of the arena), ERR_MEMORY. */
MUST_CHECK int spanrow_decode(const struct spanrow_key *key, struct slice bytes, struct arena *arena,
                              struct span *ret_span, struct error *err);
