// SPDX-License-Identifier: Apache-2.0
/* For tests of handlers: a store at a faked time (store/store_sample_test.h), an engine and settings, and requests that are
 * handed to a handler as the server would, without one. */
#pragma once

#include "answer/answer_internal.h"
#include "answer/settings.h"
#include "store/store_sample_test.h"

#include <stdlib.h>

struct asked {
    struct store_sample sample;
    struct answer answer;
    struct route route;
    struct exchange *exchange; /* the last one; NULL = none yet */
};

static inline void asked_forget(struct asked *asked)
{
    if (!asked->exchange)
        return;
    arena_done(&asked->exchange->arena);
    buffer_done(&asked->exchange->response.body);
    free(asked->exchange);
    asked->exchange = NULL;
}

static inline void asked_begin(struct asked *asked)
{
    struct engine_options options = { 0 };
    struct error err;

    *asked = (struct asked){ 0 };
    store_sample_begin(&asked->sample, &store_sample_kinds[0]);
    options.store = asked->answer.store = asked->sample.store;
    CHECK_OK(engine_new(&options, &asked->answer.engine, &err), &err);
    CHECK_OK(settings_open(asked->sample.path, &asked->answer.settings, &err), &err);
}

static inline void asked_end(struct asked *asked)
{
    asked_forget(asked);
    settings_close(asked->answer.settings);
    engine_free(asked->answer.engine);
    store_sample_end(&asked->sample);
}

/* The texts are borrowed until the next request. */
static inline struct exchange *asked_exchange(struct asked *asked, enum http_method method)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange)); /* not of the memory that tests make fail */

    CHECK(exchange);
    asked_forget(asked);
    arena_init(&exchange->arena, 4 << 20);
    buffer_init(&exchange->response.body, 0);
    exchange->request.method = method;
    exchange->request.version = HTTP_1_1;
    exchange->request.received_ns = clock_now_ns();
    exchange->context = &asked->answer;
    exchange->route = &asked->route;
    asked->exchange = exchange;
    return exchange;
}

/* What came, as text. */
static inline struct slice asked_body(const struct asked *asked)
{
    return buffer_slice(&asked->exchange->response.body);
}

static inline int asked_get(struct asked *asked, void (*handler)(struct exchange *exchange), const char *query)
{
    struct exchange *exchange = asked_exchange(asked, HTTP_GET);

    asked->route = (struct route){ .path = "/render" };
    exchange->request.path = SLICE("/render");
    exchange->request.query = slice_from(query);
    handler(exchange);
    return exchange->response.status;
}

/* A call by Connect. */
static inline int asked_call(struct asked *asked, void (*handler)(struct exchange *exchange), const char *type,
                             struct slice body)
{
    struct exchange *exchange = asked_exchange(asked, HTTP_POST);

    asked->route = (struct route){ .path = "/a.B/C", .is_procedure = true };
    exchange->request.path = SLICE("/a.B/C");
    exchange->request.body = body;
    exchange->request.headers.items[exchange->request.headers.n++] =
        (struct http_header){ SLICE("content-type"), slice_from(type) };
    handler(exchange);
    return exchange->response.status;
}
