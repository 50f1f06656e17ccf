// SPDX-License-Identifier: Apache-2.0
/* Spans made by chance for tests, of few values, so that everything meets everything; and spans made by hand. */
#pragma once

#include "base/bytes.h"
#include "base/hash.h"
#include "base/test.h"
#include "base/vec.h"
#include "trace/tracestore.h"

#define TRACESAMPLE_SECOND ((int64_t)1000000000)
#define TRACESAMPLE_HOUR   (3600 * TRACESAMPLE_SECOND)
/* 2026-11-15T00:00:00Z. */
#define TRACESAMPLE_DAY    ((int64_t)1794700800 * TRACESAMPLE_SECOND)

/* A generator of numbers: the same seed, the same numbers. */
static inline uint64_t tracesample_next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return hash_mix64(*state);
}

static inline uint64_t tracesample_below(uint64_t *state, uint64_t n)
{
    return tracesample_next(state) % n;
}

static inline void tracesample_trace_id(uint64_t number, uint8_t id[static SPAN_TRACE_ID_BYTES])
{
    bytes_put_be64(id, number % 3); /* many begin alike */
    bytes_put_be64(id + 8, number + 1);
}

static inline void tracesample_span_id(uint64_t number, uint8_t id[static SPAN_ID_BYTES])
{
    bytes_put_be64(id, number);
}

static const struct span_attribute tracesample_host_a[] = { { SLICE("host"), { SPAN_VALUE_TEXT, .text = SLICE("a") } },
                                                            { SLICE("cores"), { SPAN_VALUE_INT, .integer = 8 } } };
static const struct span_attribute tracesample_host_b[] = { { SLICE("host"),
                                                              { SPAN_VALUE_TEXT, .text = SLICE("b") } } };
static const struct span_resource tracesample_resources[] = {
    { SLICE("shop"), { tracesample_host_a, 2, 0 } },
    { SLICE("stock"), { tracesample_host_b, 1, 0 } },
    { SLICE("pay"), { NULL, 0, 0 } },
};
static const struct span_scope tracesample_scope = { SLICE("http"), SLICE("1.2") };
static const char *const tracesample_names[] = { "GET /", "POST /buy", "query", "sum" };
static const int64_t tracesample_durations[] = { 0, 1, 900, 1000000, 1000001, 50000000, 2000000000, 700000000000 };

/* A span of the given ids, and of the first service and name. */
static inline struct span tracesample_span(uint64_t trace, uint64_t id, uint64_t parent, int64_t start_ns,
                                           int64_t duration_ns)
{
    struct span span = { .kind = SPAN_SERVER,
                         .start_ns = start_ns,
                         .duration_ns = duration_ns,
                         .name = slice_from(tracesample_names[0]),
                         .resource = &tracesample_resources[0] };

    tracesample_trace_id(trace, span.trace_id);
    tracesample_span_id(id, span.span_id);
    tracesample_span_id(parent, span.parent_id);
    return span;
}

/* What a span has beside what makes it itself follows from that, so that a copy is a copy. */
static inline void tracesample_dress(struct span *span, struct arena *arena)
{
    static const int64_t codes[] = { 200, 404, 500 };
    static const char *const users[] = { "ann", "bob", "" };
    uint64_t state = bytes_get_le64(span->trace_id + 8) ^ bytes_get_le64(span->span_id) * 31 ^
                     (uint64_t)span->start_ns * 7 ^ (uint64_t)span->duration_ns * 13 ^ span->kind ^
                     (uint64_t)span->status << 8 ^ bytes_get_le64(span->parent_id) * 17 ^ hash_bytes64(span->name, 1);
    struct error err;
    struct span_attribute *attributes = ARENA_ARRAY(arena, struct span_attribute, 3, &err);
    struct span_event *event = ARENA_NEW(arena, struct span_event, &err);
    const char *user = users[tracesample_below(&state, 3)];

    CHECK(attributes && event);
    attributes[0] =
        (struct span_attribute){ SLICE("code"), { SPAN_VALUE_INT, .integer = codes[tracesample_below(&state, 3)] } };
    attributes[1] =
        (struct span_attribute){ SLICE("load"),
                                 { SPAN_VALUE_DOUBLE, .real = (double)tracesample_below(&state, 3) + 0.5 } };
    attributes[2] = (struct span_attribute){ SLICE("user"), { SPAN_VALUE_TEXT, .text = slice_from(user) } };
    span->attributes = (struct span_attributes){ attributes, user[0] ? 3 : 2, 0 };
    span->events = NULL;
    span->n_events = 0;
    if (tracesample_below(&state, 4) == 0) {
        *event = (struct span_event){ .time_ns = span->start_ns + 5, .name = SLICE("retry") };
        span->events = event;
        span->n_events = 1;
    }
    span->resource = &tracesample_resources[tracesample_below(&state, 3)];
    span->scope = tracesample_below(&state, 2) ? &tracesample_scope : NULL;
    if (span->status == SPAN_ERROR)
        span->status_message = SLICE("it broke");
}

/* A span of one of `n_traces` traces that starts in [from, from + length), mostly at a few moments near hours' ends. */
static inline struct span tracesample_random(uint64_t *state, uint64_t n_traces, int64_t from_ns, int64_t length_ns,
                                             struct arena *arena)
{
    int64_t start_ns =
        from_ns + (int64_t)tracesample_below(state, (uint64_t)(length_ns / TRACESAMPLE_SECOND)) * TRACESAMPLE_SECOND;
    struct span span;

    if (tracesample_below(state, 3) == 0)
        start_ns = start_ns / TRACESAMPLE_HOUR * TRACESAMPLE_HOUR + (int64_t)tracesample_below(state, 3) - 1;
    start_ns = MAX(start_ns, from_ns);
    span = tracesample_span(tracesample_below(state, n_traces), 1 + tracesample_below(state, 9),
                            tracesample_below(state, 3), start_ns,
                            tracesample_durations[tracesample_below(state, ARRAY_LEN(tracesample_durations))]);
    span.kind = (uint8_t)(SPAN_SERVER + tracesample_below(state, 2));
    span.status = tracesample_below(state, 5) == 0 ? SPAN_ERROR : SPAN_UNSET;
    span.name = slice_from(tracesample_names[tracesample_below(state, ARRAY_LEN(tracesample_names))]);
    tracesample_dress(&span, arena);
    return span;
}
