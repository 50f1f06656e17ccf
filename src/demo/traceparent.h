// SPDX-License-Identifier: Apache-2.0
/* W3C Trace Context: the header by which a caller says which trace and span it works on.
 *
 *      traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *                   version, trace id, span id of the caller, flags */
#pragma once

#include "base/error.h"
#include "base/slice.h"
#include "trace/span.h"

#define TRACEPARENT_BYTES   56 /* of the text, and a NUL */
#define TRACEPARENT_SAMPLED 1u

struct traceparent {
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    uint8_t span_id[SPAN_ID_BYTES];
    uint8_t flags;
};

/* Reads such a header; of versions to come the part that is known. Errors: ERR_INVALID saying what is wrong. Thread: any. */
MUST_CHECK int traceparent_parse(struct slice text, struct traceparent *ret_parent, struct error *err);
/* Writes one, of version 00, and returns `ret_text`. */
const char *traceparent_format(const struct traceparent *parent, char ret_text[static TRACEPARENT_BYTES]);
