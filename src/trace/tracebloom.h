// SPDX-License-Identifier: Apache-2.0
/* Which attributes the spans of a block may have: a Bloom filter over keys, and over keys with values, of spans and resources. So
 * a search for a value that few have reads few blocks.
 *
 * Its bits are a power of two: where few are set, it is folded to half its size. As bytes: byte 1 (the version), then the bits;
 * a hash h of 64 bits sets bit (h + i * (h >> 32 | 1)) mod the number of bits, for i of 0 to 4. */
#pragma once

#include "base/buffer.h"
#include "trace/tracestore.h"

/* 4 bytes for each of the spans that a block mostly has. */
#define TRACEBLOOM_MAX_BYTES 65536u

struct tracebloom {
    uint64_t words[TRACEBLOOM_MAX_BYTES / sizeof(uint64_t)];
};

/* Empties it. */
void tracebloom_clear(struct tracebloom *bloom);
void tracebloom_add_span(struct tracebloom *bloom, const struct span *span);
/* Appends it, folded; then it is to be cleared. */
void tracebloom_encode(struct tracebloom *bloom, struct buffer *out);

/* Whether the bytes are a filter. Errors: ERR_CORRUPT, ERR_VERSION. */
MUST_CHECK int tracebloom_check(struct slice bytes, struct error *err);
/* Whether spans of a block with these bytes, which were checked, may have all attributes that are asked for. */
bool tracebloom_may_have(struct slice bytes, const struct tracestore_filter *filter);
