// SPDX-License-Identifier: Apache-2.0
/* Reading what a day has of a tenant: headers, blocks, pages of the index, rows of heads. What cannot be read is passed by,
 * counted and logged (hourly_note_damage). */
#pragma once

#include "base/buffer.h"
#include "hourly/hourly.h"
#include "trace/spanblock.h"
#include "trace/spanrow.h"
#include "trace/tracestore.h"
#include "trace/tracetally.h"

/* One question. */
struct traceread {
    struct hourly *hourly;
    struct slice tenant;
    const struct tracestore_asker *asker; /* or NULL */
    size_t max_bytes;
    struct unpacker *unpacker;
    struct buffer key, body;
    struct arena scratch; /* of the block, header or row that is looked at */
    uint64_t n_searched;  /* spans */
    uint64_t n_damaged;   /* values that were passed by */
};
/* All is borrowed. traceread_done accepts one whose init failed. Errors: ERR_INVALID: no name of a tenant; ERR_MEMORY.
 * Thread: one at a time. */
MUST_CHECK int traceread_init(struct traceread *read, struct hourly *hourly, struct slice tenant,
                              const struct tracestore_asker *asker, struct error *err);
void traceread_done(struct traceread *read);
/* Asks the asker whether to go on. */
MUST_CHECK int traceread_check(struct traceread *read, struct error *err);
/* 0 for what is passed by: damage and versions that are not known. */
MUST_CHECK int traceread_pass(struct traceread *read, const struct hourly_view *view, struct error *err);

/* The range of slots of an hour that start in [from_ns, until_ns); false if there are none. until_ns 0 = no end. */
struct traceread_slots {
    uint32_t first, end;
};
bool traceread_slots_of(const struct hourly_view *view, uint8_t hour, int64_t from_ns, int64_t until_ns,
                        struct traceread_slots *ret_slots);
/* Whether the hour has a part in [from_ns, until_ns). */
static inline bool traceread_has_hour(const struct hourly_view *view, uint8_t hour, int64_t from_ns, int64_t until_ns)
{
    struct traceread_slots slots;

    return traceread_slots_of(view, hour, from_ns, until_ns, &slots);
}

/* What a closing has of the tenant; n_spans 0 = nothing. One that cannot be read says that everything may be there. Errors:
 * kv.h. */
MUST_CHECK int traceread_tally(struct traceread *read, const struct hourly_view *view,
                               const struct hourly_number *closing, struct tracetally *ret_tally, struct error *err);
/* A header as it is found: its tally, and the rest to be read with traceread_header. Valid during the call. */
struct traceread_block {
    struct hourly_number closing;
    uint32_t block;
    struct tracetally tally;
    struct slice header;
};
/* Calls `visit` for each block of a closing, rising. Errors: those of `visit`, of the asker, kv.h. */
MUST_CHECK int traceread_each_block(struct traceread *read, const struct hourly_view *view,
                                    const struct hourly_number *closing,
                                    int (*visit)(void *context, const struct traceread_block *block, struct error *err),
                                    void *context, struct error *err);
/* Reads a header into `scratch`, which is emptied before. Errors: ERR_CORRUPT, ... (traceread_pass). */
MUST_CHECK int traceread_header(struct traceread *read, struct slice header, struct spanblock_header *ret_header,
                                struct error *err);
/* The same by its key, for headers that were seen before: `*ret_has` is false when it cannot be read. */
MUST_CHECK int traceread_find_header(struct traceread *read, const struct hourly_view *view,
                                     const struct hourly_number *closing, uint32_t block,
                                     struct spanblock_header *ret_header, bool *ret_has, struct error *err);
/* Whether spans of a block may have the attributes that the filter asks for: true where it asks for none, and where nothing
 * is known. Errors: kv.h. */
MUST_CHECK int traceread_may_have_attributes(struct traceread *read, const struct hourly_view *view,
                                             const struct hourly_number *closing, uint32_t block,
                                             const struct tracestore_filter *filter, bool *ret_may_have,
                                             struct error *err);
/* Opens a block in `scratch`, which is emptied before; it is valid until the next call for a block, header or row.
 * `*ret_has` is false when it cannot be read. Errors: ERR_LIMIT, ERR_MEMORY, those of the asker, kv.h. */
MUST_CHECK int traceread_open(struct traceread *read, const struct hourly_view *view,
                              const struct hourly_number *closing, uint32_t block, struct spanblock *ret_block,
                              bool *ret_has, struct error *err);

/* A row of a head. */
struct traceread_row {
    struct spanrow_key key;
    struct slice value;
};
/* Calls `visit` for each row of the slots, rising. Errors: those of `visit`, of the asker, kv.h. */
MUST_CHECK int traceread_each_row(struct traceread *read, const struct hourly_view *view,
                                  const struct hourly_head *head, const struct traceread_slots *slots,
                                  int (*visit)(void *context, const struct traceread_row *row, struct error *err),
                                  void *context, struct error *err);
/* The same for the rows of one trace, which are found without looking at others. */
MUST_CHECK int traceread_each_trace_row(struct traceread *read, const struct hourly_view *view,
                                        const struct hourly_head *head,
                                        const uint8_t trace_id[static SPAN_TRACE_ID_BYTES],
                                        const struct traceread_slots *slots,
                                        int (*visit)(void *context, const struct traceread_row *row, struct error *err),
                                        void *context, struct error *err);
/* The last slot of a head that has rows, of those in `slots`; `*ret_has` is false if none has. */
MUST_CHECK int traceread_last_slot(struct traceread *read, const struct hourly_view *view,
                                   const struct hourly_head *head, const struct traceread_slots *slots,
                                   uint32_t *ret_slot, bool *ret_has, struct error *err);
/* Whether a row passes, and the span: with its attributes where `is_whole` or the filter asks for some. It is borrowed from the
 * row and from `scratch`, which is emptied before, and `resource`. Rows that cannot be read do not pass. Errors: ERR_MEMORY,
 * ERR_LIMIT. */
MUST_CHECK int traceread_row_takes(struct traceread *read, const struct hourly_view *view,
                                   const struct traceread_row *row, const struct tracestore_filter *filter,
                                   bool is_whole, struct span *ret_span, struct span_resource *resource,
                                   bool *ret_takes, struct error *err);
