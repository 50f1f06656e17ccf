// SPDX-License-Identifier: Apache-2.0
/* Spans made of random numbers, for the tests of this room, and whether two are the same. The same seed makes the same span. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/test.h"
#include "trace/span.h"

#include <stdio.h>

#define RANDOM_SPAN_START_NS INT64_C(1789948800000000000)

static inline uint64_t random_span_number(uint64_t *state)
{
    return hash_mix64(*state += 0x9e3779b97f4a7c15u);
}

static inline uint64_t random_span_below(uint64_t *state, uint64_t n)
{
    return random_span_number(state) % n;
}

static inline void *random_span_room(struct arena *arena, size_t n, size_t item_bytes)
{
    struct error err;
    void *room = arena_alloc_array(arena, n, item_bytes, &err);

    CHECK(room);
    memset(room, 0, n * item_bytes);
    return room;
}

/* A text of one of several shapes: ids of requests, of users, letters, nothing, long ones. */
static inline struct slice random_span_text(uint64_t *state, struct arena *arena, size_t max_bytes)
{
    uint64_t a = random_span_number(state), b = random_span_number(state);
    struct error err;
    char *text = NULL;

    switch (random_span_below(state, 9)) {
    case 0: return SLICE("");
    case 1: text = arena_printf(arena, &err, "user-%u", (unsigned)(a % 10000)); break;
    case 2:
        text = arena_printf(arena, &err, "%08x-%04x-%04x-%04x-%012llx", (unsigned)a, (unsigned)(a >> 48),
                            (unsigned)(b & 0xffff), (unsigned)(b >> 48), (unsigned long long)(b & 0xffffffffffffu));
        break;
    case 3: text = arena_printf(arena, &err, "id:%016llx", (unsigned long long)a); break;
    case 4: text = arena_printf(arena, &err, "/items/%u/of", (unsigned)(a % 100)); break;
    case 5: text = arena_printf(arena, &err, "%llu", (unsigned long long)a); break;
    case 6: text = arena_printf(arena, &err, "%03u", (unsigned)(a % 1000)); break;
    case 7: text = arena_printf(arena, &err, "%*s", (int)(a % 40), "gr\xc3\xbc\xc3\x9f"); break;
    default: {
        size_t len = a % (max_bytes + 1);
        char *letters = random_span_room(arena, len + 1, 1);

        memset(letters, 'a' + (int)(b % 26), len);
        return slice_of(letters, len);
    }
    }
    CHECK(text);
    return slice_sub(slice_from(text), 0, max_bytes);
}

static inline struct span_value random_span_value(uint64_t *state, struct arena *arena)
{
    static const int64_t integers[] = { 0, 1, -1, 200, 500, 8080, INT64_MIN, INT64_MAX };
    static const double reals[] = { 0, -0.0, 0.1, 1e300, -12.5 };
    struct span_value value = { .kind = (enum span_value_kind)random_span_below(state, SPAN_VALUE_KIND_COUNT) };

    switch (value.kind) {
    case SPAN_VALUE_EMPTY: break;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_BYTES: value.text = random_span_text(state, arena, SPAN_MAX_VALUE_BYTES); break;
    case SPAN_VALUE_JSON: value.text = SLICE("[1,\"two\",{\"three\":null}]"); break;
    case SPAN_VALUE_BOOL: value.integer = (int64_t)random_span_below(state, 2); break;
    case SPAN_VALUE_INT: value.integer = integers[random_span_below(state, ARRAY_LEN(integers))]; break;
    case SPAN_VALUE_DOUBLE: value.real = reals[random_span_below(state, ARRAY_LEN(reals))]; break;
    }
    return value;
}

/* At most `max` attributes, mostly few, often of the same keys. */
static inline struct span_attributes random_span_attributes(uint64_t *state, struct arena *arena, uint32_t max)
{
    static const char *const keys[] = { "http.route", "user.id", "peer", "rpc.system", "empty", "n", "grün", "" };
    uint32_t n = (uint32_t)random_span_below(state, random_span_below(state, 20) == 0 ? max + 1 : 4);
    struct span_attribute *items = random_span_room(arena, n, sizeof(*items));

    for (uint32_t i = 0; i < n; i++) {
        items[i].key = slice_from(keys[random_span_below(state, ARRAY_LEN(keys))]);
        items[i].value = random_span_value(state, arena);
    }
    return (struct span_attributes){ items, n, random_span_below(state, 10) == 0 ? (uint32_t)*state : 0 };
}

static inline void random_span_id(uint64_t *state, uint8_t *id, size_t len)
{
    for (size_t i = 0; i < len; i++)
        id[i] = (uint8_t)random_span_number(state);
    id[0] |= 1;
}

static inline void random_span_events(uint64_t *state, struct arena *arena, struct span *span)
{
    struct span_event *events;
    struct span_link *links;

    span->n_events = (uint32_t)random_span_below(state, random_span_below(state, 30) == 0 ? SPAN_MAX_EVENTS + 1 : 3);
    span->n_links = (uint32_t)random_span_below(state, random_span_below(state, 30) == 0 ? SPAN_MAX_LINKS + 1 : 3);
    span->n_dropped_events = random_span_below(state, 10) == 0 ? 7 : 0;
    span->n_dropped_links = random_span_below(state, 10) == 0 ? UINT32_MAX : 0;
    span->events = events = random_span_room(arena, span->n_events, sizeof(*events));
    span->links = links = random_span_room(arena, span->n_links, sizeof(*links));
    for (uint32_t i = 0; i < span->n_events; i++) {
        events[i].time_ns = span->start_ns + (int64_t)random_span_below(state, 2000000000) - 1000000000;
        events[i].name = random_span_text(state, arena, SPAN_MAX_NAME_BYTES);
        events[i].attributes = random_span_attributes(state, arena, SPAN_MAX_EVENT_ATTRIBUTES);
    }
    for (uint32_t i = 0; i < span->n_links; i++) {
        random_span_id(state, links[i].trace_id, sizeof(links[i].trace_id));
        random_span_id(state, links[i].span_id, sizeof(links[i].span_id));
        links[i].flags = (uint32_t)random_span_below(state, 3);
        links[i].state = random_span_text(state, arena, SPAN_MAX_VALUE_BYTES);
        links[i].attributes = random_span_attributes(state, arena, SPAN_MAX_EVENT_ATTRIBUTES);
    }
}

static inline const struct span_resource *random_span_resource(uint64_t *state, struct arena *arena)
{
    struct span_resource *resource = random_span_room(arena, 1, sizeof(*resource));
    struct span_attribute *service;

    resource->attributes = random_span_attributes(state, arena, SPAN_MAX_RESOURCE - 1);
    service = random_span_room(arena, resource->attributes.n + 1, sizeof(*service));
    memcpy(service + 1, resource->attributes.items, resource->attributes.n * sizeof(*service));
    service[0].key = SLICE("service.name");
    service[0].value.kind = SPAN_VALUE_TEXT;
    service[0].value.text = slice_from(arena_printf(arena, &(struct error){ 0 }, "shop-%u", (unsigned)(*state % 3)));
    resource->service = service[0].value.text;
    resource->attributes.items = service;
    resource->attributes.n++;
    return resource;
}

/* A span of `resource` of one of few traces, whose parent may be `before`. */
static inline struct span random_span(uint64_t *state, struct arena *arena, const struct span_resource *resource,
                                      const struct span *before)
{
    struct span span = { .kind = (uint8_t)random_span_below(state, SPAN_KIND_COUNT), .resource = resource };
    struct span_scope *scope = random_span_room(arena, 1, sizeof(*scope));
    uint64_t trace = random_span_below(state, 20);

    memset(span.trace_id, (int)trace + 1, sizeof(span.trace_id));
    random_span_id(state, span.span_id, sizeof(span.span_id));
    switch (random_span_below(state, 3)) {
    case 0: random_span_id(state, span.parent_id, sizeof(span.parent_id)); break;
    case 1:
        if (before) {
            memcpy(span.trace_id, before->trace_id, sizeof(span.trace_id));
            memcpy(span.parent_id, before->span_id, sizeof(span.parent_id));
        }
        break;
    default: break;
    }
    span.status = (uint8_t)random_span_below(state, SPAN_STATUS_COUNT);
    span.flags = random_span_below(state, 2) ? 0x101 : (uint32_t)random_span_number(state);
    span.start_ns = RANDOM_SPAN_START_NS + (int64_t)random_span_below(state, 30000000000);
    span.duration_ns = (int64_t)(random_span_number(state) >> (1 + random_span_below(state, 63))) / 2;
    span.name = random_span_text(state, arena, SPAN_MAX_NAME_BYTES);
    if (random_span_below(state, 3) == 0)
        span.status_message = random_span_text(state, arena, SPAN_MAX_VALUE_BYTES);
    if (random_span_below(state, 5) == 0)
        span.state = random_span_text(state, arena, SPAN_MAX_VALUE_BYTES);
    if (random_span_below(state, 4) > 0) {
        *scope = (struct span_scope){ SLICE("io.shop"), random_span_below(state, 2) ? SLICE("1.0") : SLICE("") };
        span.scope = scope;
    }
    span.attributes = random_span_attributes(state, arena, SPAN_MAX_ATTRIBUTES);
    if (random_span_below(state, 3) == 0)
        random_span_events(state, arena, &span);
    return span;
}

/* --- comparing --- */

static inline void same_span_value(const struct span_value *got, const struct span_value *wanted)
{
    CHECK_EQ(got->kind, wanted->kind);
    switch (wanted->kind) {
    case SPAN_VALUE_EMPTY: break;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_BYTES:
    case SPAN_VALUE_JSON: CHECK_TEXT(got->text, wanted->text); break;
    case SPAN_VALUE_BOOL:
    case SPAN_VALUE_INT: CHECK_EQ(got->integer, wanted->integer); break;
    case SPAN_VALUE_DOUBLE: CHECK(memcmp(&got->real, &wanted->real, sizeof(got->real)) == 0); break;
    }
}

static inline void same_span_attributes(const struct span_attributes *got, const struct span_attributes *wanted)
{
    CHECK_EQ(got->n, wanted->n);
    CHECK_EQ(got->n_dropped, wanted->n_dropped);
    for (uint32_t i = 0; i < wanted->n; i++) {
        CHECK_TEXT(got->items[i].key, wanted->items[i].key);
        same_span_value(&got->items[i].value, &wanted->items[i].value);
    }
}

static inline void same_span_events(const struct span *got, const struct span *wanted)
{
    CHECK_EQ(got->n_events, wanted->n_events);
    CHECK_EQ(got->n_links, wanted->n_links);
    CHECK_EQ(got->n_dropped_events, wanted->n_dropped_events);
    CHECK_EQ(got->n_dropped_links, wanted->n_dropped_links);
    for (uint32_t i = 0; i < wanted->n_events; i++) {
        CHECK_EQ(got->events[i].time_ns, wanted->events[i].time_ns);
        CHECK_TEXT(got->events[i].name, wanted->events[i].name);
        same_span_attributes(&got->events[i].attributes, &wanted->events[i].attributes);
    }
    for (uint32_t i = 0; i < wanted->n_links; i++) {
        CHECK(memcmp(got->links[i].trace_id, wanted->links[i].trace_id, SPAN_TRACE_ID_BYTES) == 0);
        CHECK(memcmp(got->links[i].span_id, wanted->links[i].span_id, SPAN_ID_BYTES) == 0);
        CHECK_EQ(got->links[i].flags, wanted->links[i].flags);
        CHECK_TEXT(got->links[i].state, wanted->links[i].state);
        same_span_attributes(&got->links[i].attributes, &wanted->links[i].attributes);
    }
}

static inline void same_span(const struct span *got, const struct span *wanted)
{
    CHECK(memcmp(got->trace_id, wanted->trace_id, SPAN_TRACE_ID_BYTES) == 0);
    CHECK(memcmp(got->span_id, wanted->span_id, SPAN_ID_BYTES) == 0);
    CHECK(memcmp(got->parent_id, wanted->parent_id, SPAN_ID_BYTES) == 0);
    CHECK_EQ(got->kind, wanted->kind);
    CHECK_EQ(got->status, wanted->status);
    CHECK_EQ(got->flags, wanted->flags);
    CHECK_EQ(got->start_ns, wanted->start_ns);
    CHECK_EQ(got->duration_ns, wanted->duration_ns);
    CHECK_TEXT(got->name, wanted->name);
    CHECK_TEXT(got->status_message, wanted->status_message);
    CHECK_TEXT(got->state, wanted->state);
    CHECK_TEXT(got->resource->service, wanted->resource->service);
    same_span_attributes(&got->resource->attributes, &wanted->resource->attributes);
    CHECK_EQ(!got->scope, !wanted->scope);
    if (wanted->scope) {
        CHECK_TEXT(got->scope->name, wanted->scope->name);
        CHECK_TEXT(got->scope->version, wanted->scope->version);
    }
    same_span_attributes(&got->attributes, &wanted->attributes);
    same_span_events(got, wanted);
}
