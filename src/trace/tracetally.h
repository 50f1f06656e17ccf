// SPDX-License-Identifier: Apache-2.0
/* What a few numbers say of many spans: of a block, before its header, and of all that a closing has of a tenant. Searches skip
 * what cannot have what they look for by it. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "trace/span.h"

struct tracetally {
    uint64_t n_spans;
    int64_t min_start_ns, max_start_ns;
    int64_t max_duration_ns;
};

void tracetally_add(struct tracetally *tally, const struct span *span);
/* Adds what another counted. */
void tracetally_join(struct tracetally *tally, const struct tracetally *other);
/* Byte 1 (the version), then varints: n_spans, min_start_ns, max_start_ns - min_start_ns, max_duration_ns. */
void tracetally_encode(const struct tracetally *tally, struct buffer *out);
/* Cuts a tally off the front of `rest`. Errors: ERR_CORRUPT, ERR_VERSION. */
MUST_CHECK int tracetally_decode(struct slice *rest, struct tracetally *ret_tally, struct error *err);
