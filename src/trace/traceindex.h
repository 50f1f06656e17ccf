// SPDX-License-Identifier: Apache-2.0
/* Which blocks of a closing have a trace: pages of pairs, sorted. Of a trace id 40 bits of its hash are kept: ids may begin or
 * end with zeros or with a time, and a block that is looked into in vain now and then costs little.
 *
 * A page: byte 1 (the version), varint n, then n pairs of varints: hash - the hash before (the first: - the one in the key of
 * the page), block. Pairs of one hash are in one page. */
#pragma once

#include "base/buffer.h"
#include "base/vec.h"
#include "trace/span.h"

#define TRACEINDEX_PAGE_PAIRS 1024u

struct traceindex_pair {
    uint64_t hash;
    uint32_t block;
};

/* The 40 bits of a trace id. */
uint64_t traceindex_hash(const uint8_t trace_id[static SPAN_TRACE_ID_BYTES]);

struct traceindex_builder {
    VEC(struct traceindex_pair) pairs;
};
void traceindex_builder_done(struct traceindex_builder *builder);
/* Blocks come rising. Errors: ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int traceindex_builder_add(struct traceindex_builder *builder, uint64_t hash, uint32_t block,
                                      struct error *err);
/* Gives the pages to `put`, by their first hash, and is empty again. Errors: those of `put`, ERR_MEMORY. */
MUST_CHECK int traceindex_builder_finish(struct traceindex_builder *builder,
                                         int (*put)(void *context, uint64_t first, struct slice page,
                                                    struct error *err),
                                         void *context, struct error *err);

/* Reads a page, pair by pair. */
struct traceindex_reader {
    struct slice rest;
    uint64_t n_left, hash;
};
/* `first` is what the key says. Errors: ERR_CORRUPT, ERR_VERSION. */
MUST_CHECK int traceindex_reader_init(struct traceindex_reader *reader, uint64_t first, struct slice page,
                                      struct error *err);
/* `*ret_has` is false behind the last. Errors: ERR_CORRUPT. */
MUST_CHECK int traceindex_reader_next(struct traceindex_reader *reader, struct traceindex_pair *ret_pair, bool *ret_has,
                                      struct error *err);
