// SPDX-License-Identifier: Apache-2.0
/* What the fuzzers of traces share: whether two spans say the same, and that they keep the bounds of span.h. */
#pragma once

#include "base/base.h"
#include "trace/span.h"

static inline bool same_span_has_text(enum span_value_kind kind)
{
    return kind == SPAN_VALUE_TEXT || kind == SPAN_VALUE_BYTES || kind == SPAN_VALUE_JSON;
}

static inline void same_span_attributes(const struct span_attributes *a, const struct span_attributes *b, uint32_t max)
{
    ASSERT(a->n == b->n && a->n <= max && a->n_dropped == b->n_dropped);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct span_value *x = &a->items[i].value, *y = &b->items[i].value;

        ASSERT(a->items[i].key.len <= SPAN_MAX_NAME_BYTES && slice_equal(a->items[i].key, b->items[i].key));
        ASSERT(x->kind == y->kind && x->kind < SPAN_VALUE_KIND_COUNT);
        if (same_span_has_text(x->kind))
            ASSERT(x->text.len <= SPAN_MAX_VALUE_BYTES && slice_equal(x->text, y->text));
        else if (x->kind != SPAN_VALUE_EMPTY)
            ASSERT(x->integer == y->integer); /* the bits of doubles, too */
    }
}

static inline void same_span_events(const struct span *a, const struct span *b)
{
    ASSERT(a->n_events == b->n_events && a->n_events <= SPAN_MAX_EVENTS && a->n_dropped_events == b->n_dropped_events);
    ASSERT(a->n_links == b->n_links && a->n_links <= SPAN_MAX_LINKS && a->n_dropped_links == b->n_dropped_links);
    for (uint32_t i = 0; i < a->n_events; i++) {
        ASSERT(a->events[i].time_ns == b->events[i].time_ns && a->events[i].time_ns >= 0);
        ASSERT(slice_equal(a->events[i].name, b->events[i].name));
        same_span_attributes(&a->events[i].attributes, &b->events[i].attributes, SPAN_MAX_EVENT_ATTRIBUTES);
    }
    for (uint32_t i = 0; i < a->n_links; i++) {
        ASSERT(memcmp(a->links[i].trace_id, b->links[i].trace_id, SPAN_TRACE_ID_BYTES) == 0);
        ASSERT(memcmp(a->links[i].span_id, b->links[i].span_id, SPAN_ID_BYTES) == 0);
        ASSERT(a->links[i].flags == b->links[i].flags && slice_equal(a->links[i].state, b->links[i].state));
        same_span_attributes(&a->links[i].attributes, &b->links[i].attributes, SPAN_MAX_EVENT_ATTRIBUTES);
    }
}

static inline void same_span(const struct span *a, const struct span *b)
{
    ASSERT(memcmp(a->trace_id, b->trace_id, SPAN_TRACE_ID_BYTES) == 0);
    ASSERT(memcmp(a->span_id, b->span_id, SPAN_ID_BYTES) == 0);
    ASSERT(memcmp(a->parent_id, b->parent_id, SPAN_ID_BYTES) == 0);
    ASSERT(a->kind == b->kind && a->kind < SPAN_KIND_COUNT && a->status == b->status && a->status < SPAN_STATUS_COUNT);
    ASSERT(a->flags == b->flags && a->start_ns == b->start_ns && a->duration_ns == b->duration_ns);
    ASSERT(a->start_ns >= 0 && a->duration_ns >= 0 && a->duration_ns <= INT64_MAX - a->start_ns);
    ASSERT(a->name.len <= SPAN_MAX_NAME_BYTES && slice_equal(a->name, b->name));
    ASSERT(a->status_message.len <= SPAN_MAX_VALUE_BYTES && slice_equal(a->status_message, b->status_message));
    ASSERT(a->state.len <= SPAN_MAX_VALUE_BYTES && slice_equal(a->state, b->state));
    ASSERT(!a->scope == !b->scope);
    if (a->scope)
        ASSERT(slice_equal(a->scope->name, b->scope->name) && slice_equal(a->scope->version, b->scope->version));
    ASSERT(a->resource->service.len <= SPAN_MAX_NAME_BYTES && slice_equal(a->resource->service, b->resource->service));
    same_span_attributes(&a->resource->attributes, &b->resource->attributes, SPAN_MAX_RESOURCE);
    same_span_attributes(&a->attributes, &b->attributes, SPAN_MAX_ATTRIBUTES);
    same_span_events(a, b);
}
