// SPDX-License-Identifier: Apache-2.0
#include "demo/tracer.h"

#include "base/arena.h"
#include "base/test.h"
#include "trace/otlptraces.h"

#include <string.h>

static const struct framesampler_label resource[] = { { "service.name", "payment" }, { "service.version", "1.0.0" } };

static struct tracer *make_tracer(void)
{
    struct tracer *tracer = NULL;
    struct error err;

    CHECK_OK(tracer_new(resource, ARRAY_LEN(resource), &tracer, &err), &err);
    return tracer;
}

static bool has_text(const struct span_attributes *attributes, const char *key, const char *text)
{
    for (uint32_t i = 0; i < attributes->n; i++)
        if (slice_is(attributes->items[i].key, key))
            return attributes->items[i].value.kind == SPAN_VALUE_TEXT &&
                   slice_is(attributes->items[i].value.text, text);
    return false;
}

static void check_inner(const struct span *span)
{
    CHECK_EQ(span->kind, SPAN_INTERNAL);
    CHECK_EQ(span->status, SPAN_ERROR);
    CHECK_TEXT(span->status_message, "the gateway is away");
    CHECK_EQ(span->n_events, 1);
    CHECK_TEXT(span->events[0].name, "exception");
    CHECK(has_text(&span->events[0].attributes, "exception.type", "GatewayError"));
    CHECK(has_text(&span->attributes, "error.type", "GatewayError"));
    CHECK(has_text(&span->resource->attributes, "service.version", "1.1.0"));
}

static void check_outer(const struct span *span)
{
    CHECK_TEXT(span->name, "POST /charge");
    CHECK_EQ(span->kind, SPAN_SERVER);
    CHECK_EQ(span->status, SPAN_UNSET);
    CHECK_TEXT(span->resource->service, "payment");
    CHECK(has_text(&span->resource->attributes, "service.version", "1.0.0"));
    CHECK(has_text(&span->attributes, "http.route", "/charge"));
    CHECK_EQ(span->attributes.items[1].value.integer, 500);
    CHECK_EQ(span->n_links, 1);
    CHECK(memcmp(span->links[0].span_id, "other-id", 8) == 0);
    CHECK(memcmp(span->parent_id, "parentid", 8) == 0);
    CHECK(span->start_ns > 0 && span->duration_ns >= 0);
}

TEST(tracer_sends_what_was_done)
{
    static const struct framesampler_span parent = { "trace-of-16-byte", "parentid" };
    static const struct framesampler_span other = { "trace-of-16-byte", "other-id" };
    struct tracer *tracer = make_tracer();
    struct tracer_span outer, inner;
    struct otlptraces_read read;
    struct buffer body;
    struct arena arena;
    struct error err;
    size_t n = 0;

    tracer_begin(tracer, "POST /charge", SPAN_SERVER, 0, &parent, &outer);
    tracer_set_text(&outer, "http.route", "/charge");
    tracer_set_number(&outer, "http.response.status_code", 500);
    tracer_link(&outer, &other);
    tracer_begin(tracer, "hash card", SPAN_INTERNAL, 1, &outer.ids, &inner);
    CHECK(framesampler_set_span(&inner.ids) == &inner.ids);
    tracer_fail(&inner, "GatewayError", "the gateway is away");
    tracer_end(tracer, &inner);
    CHECK(framesampler_set_span(&outer.ids) == &outer.ids);
    tracer_end(tracer, &outer);
    CHECK(framesampler_set_span(NULL) == NULL);

    buffer_init(&body, 0);
    arena_init(&arena, 1 << 20);
    CHECK_OK(tracer_encode(tracer, &body, &n, &err), &err);
    CHECK_EQ(n, 2);
    CHECK_OK(otlptraces_decode(buffer_slice(&body), false, &arena, &read, &err), &err);
    CHECK_EQ(read.spans.n, 2);
    CHECK_EQ(read.n_rejected, 0);
    check_inner(&read.spans.items[0]);
    check_outer(&read.spans.items[1]);
    CHECK(memcmp(read.spans.items[0].parent_id, read.spans.items[1].span_id, SPAN_ID_BYTES) == 0);
    CHECK(memcmp(read.spans.items[0].trace_id, "trace-of-16-byte", SPAN_TRACE_ID_BYTES) == 0);
    CHECK_OK(tracer_encode(tracer, &body, &n, &err), &err);
    CHECK_EQ(n, 0);
    arena_done(&arena);
    buffer_done(&body);
    tracer_free(tracer);
}

TEST(tracer_keeps_no_more_than_its_bound)
{
    struct tracer *tracer = make_tracer();
    struct tracer_span span;
    struct buffer body;
    struct error err;
    size_t n = 0;

    for (int i = 0; i < TRACER_MAX_WAITING + 3; i++) {
        tracer_begin(tracer, "x", SPAN_INTERNAL, 0, NULL, &span);
        for (int k = 0; k < TRACER_MAX_ATTRIBUTES + 2; k++)
            tracer_set_number(&span, "k", k);
        tracer_end(tracer, &span);
    }
    CHECK_EQ(span.n_attributes, TRACER_MAX_ATTRIBUTES);
    CHECK_EQ(tracer_lost(tracer), 3);
    buffer_init(&body, 0);
    CHECK_OK(tracer_encode(tracer, &body, &n, &err), &err);
    CHECK_EQ(n, TRACER_MAX_WAITING);
    buffer_done(&body);
    tracer_free(tracer);
    tracer_free(NULL);
}

static int send_one(void *context UNUSED, struct error *err)
{
    struct tracer_span span;
    struct tracer *tracer;
    struct buffer body;
    size_t n = 0;
    int result;

    if (tracer_new(resource, ARRAY_LEN(resource), &tracer, err) < 0)
        return -1;
    tracer_begin(tracer, "x", SPAN_INTERNAL, 0, NULL, &span);
    tracer_end(tracer, &span);
    buffer_init(&body, 0);
    result = tracer_encode(tracer, &body, &n, err);
    if (result == 0 && n == 0)
        result = error_set(err, ERR_MEMORY, "the span was left out");
    buffer_done(&body);
    tracer_free(tracer);
    return result;
}

TEST(tracer_reports_that_memory_ran_out)
{
    test_each_allocation_failing(send_one, NULL);
}
