// SPDX-License-Identifier: Apache-2.0
/* OpenTelemetry's export of traces (ExportTraceServiceRequest): protobuf and JSON become spans, and spans protobuf.
 *
 * Spans without good ids (wrong length, zeros) or without a start are left out and counted; an end before the start becomes a
 * duration of 0. Texts that are no UTF-8 are mended. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "trace/span.h"

struct otlptraces_read {
    struct span_list spans;
    uint32_t n_rejected;
    struct error rejection; /* why, for the first */
};
/* Reads a request; spans borrow `bytes` and `arena`, resources and scopes are shared. Errors: ERR_CORRUPT saying where,
 * ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int otlptraces_decode(struct slice bytes, bool is_json, struct arena *arena,
                                 struct otlptraces_read *ret_read, struct error *err);
/* Appends a request with these spans, those of one resource and scope (the same pointers) that follow each other together.
 * What went wrong, if anything, says buffer_check. */
void otlptraces_encode(const struct span_list *spans, struct buffer *out);
