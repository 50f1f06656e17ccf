// SPDX-License-Identifier: Apache-2.0
/* Requests of traces: any input gives an error or spans within bounds; and those, written and read again, are the same, once
 * lists and maps have lost what JSON does not have. */
#pragma once

#include "fuzz/same_span.h"
#include "trace/otlptraces.h"

#define OTLPTRACES_ROUND_BYTES ((size_t)64 << 20)

/* Writes the spans and reads them again, from `arena`. */
static inline struct span_list otlptraces_round_once(struct span_list spans, struct buffer *out, struct arena *arena)
{
    struct otlptraces_read read;
    struct error err;

    otlptraces_encode(&spans, out);
    ASSERT(buffer_check(out, &err) == 0);
    ASSERT(otlptraces_decode(buffer_slice(out), false, arena, &read, &err) == 0);
    ASSERT(read.n_rejected == 0 && read.spans.n == spans.n);
    return read.spans;
}

static inline void otlptraces_round(struct slice bytes, bool is_json)
{
    struct otlptraces_read read;
    struct buffer written[2];
    struct arena arena;
    struct error err;

    arena_init(&arena, OTLPTRACES_ROUND_BYTES);
    if (otlptraces_decode(bytes, is_json, &arena, &read, &err) == 0) {
        struct span_list once, twice;

        arena.max_bytes *= 8; /* what was read once can be read again */
        buffer_init(&written[0], 0);
        buffer_init(&written[1], 0);
        once = otlptraces_round_once(read.spans, &written[0], &arena);
        twice = otlptraces_round_once(once, &written[1], &arena);
        for (size_t i = 0; i < once.n; i++)
            same_span(&once.items[i], &twice.items[i]);
        buffer_done(&written[0]);
        buffer_done(&written[1]);
    } else {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
    }
    arena_done(&arena);
}
