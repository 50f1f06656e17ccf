// SPDX-License-Identifier: Apache-2.0
/* The spans of one service of the demo: begun and ended by its threads, gathered, and encoded for sending.
 *
 * Between begin and end, samples of the thread are tied to the span (framesampler_set_span); an inner span takes over and gives
 * back. So spans are ended by the thread that began them, the innermost first.
 *
 * What waits is bounded: spans beyond TRACER_MAX_WAITING are left out and counted. */
#pragma once

#include "base/buffer.h"
#include "demo/releases.h"
#include "trace/span.h"
#include "unwind/framesampler.h"

#define TRACER_MAX_WAITING    8192
#define TRACER_MAX_ATTRIBUTES 10
#define TRACER_MAX_RESOURCE   8

struct tracer;

/* Of a span or its event. Texts live as long as the program. */
struct tracer_attribute {
    const char *key;
    const char *text; /* NULL = a number */
    int64_t number;
};

/* A span that goes on; on the stack of whoever works for it. */
struct tracer_span {
    struct framesampler_span ids;
    const struct framesampler_span *outer; /* what the thread worked on before */
    uint8_t parent_id[SPAN_ID_BYTES];
    enum span_kind kind;
    enum span_status status;
    uint32_t release;
    const char *name, *message;
    int64_t start_ns, start_mono_ns, duration_ns;
    struct tracer_attribute attributes[TRACER_MAX_ATTRIBUTES];
    uint32_t n_attributes;
    const char *event; /* NULL = none */
    int64_t event_ns;
    struct tracer_attribute event_attributes[2];
    struct framesampler_span link;
    bool has_link;
};

/* Of a service; the names and texts given live as long as the program. Errors: ERR_MEMORY. Thread: any from now on. */
MUST_CHECK int tracer_new(const struct framesampler_label *resource, uint32_t n_resource, struct tracer **ret_tracer,
                          struct error *err);
/* Accepts NULL. */
void tracer_free(struct tracer *tracer);

/* Begins a span below `parent`, of this process or another; NULL = a trace of its own. */
void tracer_begin(struct tracer *tracer, const char *name, enum span_kind kind, uint32_t release,
                  const struct framesampler_span *parent, struct tracer_span *ret_span);
/* One too many is left out. */
void tracer_set_text(struct tracer_span *span, const char *key, const char *text);
void tracer_set_number(struct tracer_span *span, const char *key, int64_t number);
/* Says that it failed: the status, and an event `exception`. */
void tracer_fail(struct tracer_span *span, const char *type, const char *message);
void tracer_link(struct tracer_span *span, const struct framesampler_span *other);
/* Ends it. It waits to be sent, as a copy. */
void tracer_end(struct tracer *tracer, struct tracer_span *span);

/* Appends all that waits as one request of OTLP and says how many those are. Errors: ERR_MEMORY; then they are lost. */
MUST_CHECK int tracer_encode(struct tracer *tracer, struct buffer *out, size_t *ret_n, struct error *err);
/* Spans that were left out so far. */
uint64_t tracer_lost(struct tracer *tracer);
