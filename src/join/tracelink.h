// SPDX-License-Identifier: Apache-2.0
/* Where else a trace can be seen: a template of an address, --trace-link, with places for what is asked for:
 * {trace_id}, {span_id}, {service}, {start_ms} and {end_ms}. */
#pragma once

#include "base/buffer.h"
#include "trace/span.h"

/* Whether a text can be one: an http or https address of printable characters, of at most TRACELINK_MAX_BYTES, with
 * {trace_id} in it and nothing else in braces but the above. Errors: ERR_INVALID saying what is wrong. Thread: any. */
#define TRACELINK_MAX_BYTES 2048
MUST_CHECK int tracelink_check(struct slice template, struct error *err);

struct tracelink {
    const uint8_t *trace_id;  /* [SPAN_TRACE_ID_BYTES] */
    const uint8_t *span_id;   /* [SPAN_ID_BYTES]; NULL = none: the place stays empty */
    struct slice service;     /* in the address, what is no plain character is written as %XX */
    int64_t start_ns, end_ns; /* rounded outwards to milliseconds */
};
/* Appends the address; the template passed tracelink_check. What went wrong, if anything, says buffer_check. */
void tracelink_expand(struct slice template, const struct tracelink *link, struct buffer *out);
