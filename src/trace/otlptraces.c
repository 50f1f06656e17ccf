// SPDX-License-Identifier: Apache-2.0
#include "trace/otlptraces.h"

#include "trace/otlptraces_internal.h"

/* What a JSON request may become as protobuf, which is always less than it was. */
#define MAX_TRANSCODED_BYTES ((size_t)256 << 20)

/* --- names --- */

static const struct protojson_field status_fields[] = {
    { "message", OTLPTRACES_STATUS_MESSAGE, PROTOJSON_TEXT, false, NULL },
    { "code", OTLPTRACES_STATUS_CODE, PROTOJSON_INT, false, NULL },
    { 0 },
};

static const struct protojson_field event_fields[] = {
    { "time_unix_nano", OTLPTRACES_EVENT_TIME, PROTOJSON_FIXED64, false, NULL },
    { "name", OTLPTRACES_EVENT_NAME, PROTOJSON_TEXT, false, NULL },
    { "attributes", OTLPTRACES_EVENT_ATTRIBUTES, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { "dropped_attributes_count", OTLPTRACES_EVENT_DROPPED, PROTOJSON_UINT, false, NULL },
    { 0 },
};

static const struct protojson_field link_fields[] = {
    { "trace_id", OTLPTRACES_LINK_TRACE_ID, PROTOJSON_HEX, false, NULL },
    { "span_id", OTLPTRACES_LINK_SPAN_ID, PROTOJSON_HEX, false, NULL },
    { "trace_state", OTLPTRACES_LINK_STATE, PROTOJSON_TEXT, false, NULL },
    { "attributes", OTLPTRACES_LINK_ATTRIBUTES, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { "dropped_attributes_count", OTLPTRACES_LINK_DROPPED, PROTOJSON_UINT, false, NULL },
    { "flags", OTLPTRACES_LINK_FLAGS, PROTOJSON_FIXED32, false, NULL },
    { 0 },
};

static const struct protojson_field span_fields[] = {
    { "trace_id", OTLPTRACES_SPAN_TRACE_ID, PROTOJSON_HEX, false, NULL },
    { "span_id", OTLPTRACES_SPAN_ID, PROTOJSON_HEX, false, NULL },
    { "trace_state", OTLPTRACES_SPAN_STATE, PROTOJSON_TEXT, false, NULL },
    { "parent_span_id", OTLPTRACES_SPAN_PARENT_ID, PROTOJSON_HEX, false, NULL },
    { "name", OTLPTRACES_SPAN_NAME, PROTOJSON_TEXT, false, NULL },
    { "kind", OTLPTRACES_SPAN_KIND, PROTOJSON_INT, false, NULL },
    { "start_time_unix_nano", OTLPTRACES_SPAN_START, PROTOJSON_FIXED64, false, NULL },
    { "end_time_unix_nano", OTLPTRACES_SPAN_END, PROTOJSON_FIXED64, false, NULL },
    { "attributes", OTLPTRACES_SPAN_ATTRIBUTES, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { "dropped_attributes_count", OTLPTRACES_SPAN_DROPPED_ATTRIBUTES, PROTOJSON_UINT, false, NULL },
    { "events", OTLPTRACES_SPAN_EVENTS, PROTOJSON_MESSAGE, true, event_fields },
    { "dropped_events_count", OTLPTRACES_SPAN_DROPPED_EVENTS, PROTOJSON_UINT, false, NULL },
    { "links", OTLPTRACES_SPAN_LINKS, PROTOJSON_MESSAGE, true, link_fields },
    { "dropped_links_count", OTLPTRACES_SPAN_DROPPED_LINKS, PROTOJSON_UINT, false, NULL },
    { "status", OTLPTRACES_SPAN_STATUS, PROTOJSON_MESSAGE, false, status_fields },
    { "flags", OTLPTRACES_SPAN_FLAGS, PROTOJSON_FIXED32, false, NULL },
    { 0 },
};

static const struct protojson_field scope_spans_fields[] = {
    { "scope", OTLPTRACES_SCOPE_SPANS_SCOPE, PROTOJSON_MESSAGE, false, keyvalue_scope_fields },
    { "spans", OTLPTRACES_SCOPE_SPANS_SPANS, PROTOJSON_MESSAGE, true, span_fields },
    { 0 },
};

static const struct protojson_field resource_spans_fields[] = {
    { "resource", OTLPTRACES_RESOURCE_SPANS_RESOURCE, PROTOJSON_MESSAGE, false, keyvalue_resource_fields },
    { "scope_spans", OTLPTRACES_RESOURCE_SPANS_SCOPES, PROTOJSON_MESSAGE, true, scope_spans_fields },
    { 0 },
};

const struct protojson_field otlptraces_fields[] = {
    { "resource_spans", OTLPTRACES_REQUEST_RESOURCES, PROTOJSON_MESSAGE, true, resource_spans_fields },
    { 0 },
};

/* --- reading --- */

static int read_json(struct slice text, struct arena *arena, struct otlptraces_read *ret_read, struct error *err)
{
    AUTO(buffer_done) struct buffer message = { 0 };
    struct json_reader reader;
    struct slice bytes;

    buffer_init(&message, MAX_TRANSCODED_BYTES);
    json_reader_init(&reader, text, arena, JSON_READER_MAX_DEPTH);
    protojson_read(&reader, otlptraces_fields, &message);
    json_reader_end(&reader);
    if (json_reader_check(&reader, err) < 0)
        return error_wrap(err, "OTLP JSON");
    if (buffer_check(&message, err) < 0)
        return -1;
    bytes = arena_copy(arena, buffer_slice(&message), err);
    return bytes.ptr ? otlptraces_read_protobuf(bytes, arena, ret_read, err) : -1;
}

int otlptraces_decode(struct slice bytes, bool is_json, struct arena *arena, struct otlptraces_read *ret_read,
                      struct error *err)
{
    return is_json ? read_json(bytes, arena, ret_read, err) : otlptraces_read_protobuf(bytes, arena, ret_read, err);
}

/* --- writing --- */

static void put_attribute(struct buffer *out, uint32_t field, const struct span_attribute *attribute)
{
    struct keyvalue value = { .key = attribute->key };

    switch (attribute->value.kind) {
    case SPAN_VALUE_EMPTY: value.kind = KEYVALUE_EMPTY; break;
    case SPAN_VALUE_TEXT:
        value.kind = KEYVALUE_TEXT;
        value.text = attribute->value.text;
        break;
    case SPAN_VALUE_BOOL:
        value.kind = KEYVALUE_BOOL;
        value.integer = attribute->value.integer;
        break;
    case SPAN_VALUE_INT:
        value.kind = KEYVALUE_INT;
        value.integer = attribute->value.integer;
        break;
    case SPAN_VALUE_DOUBLE:
        value.kind = KEYVALUE_DOUBLE;
        value.real = attribute->value.real;
        break;
    case SPAN_VALUE_BYTES:
        value.kind = KEYVALUE_BYTES;
        value.text = attribute->value.text;
        break;
    case SPAN_VALUE_JSON: keyvalue_put_json(out, field, attribute->key, attribute->value.text); return;
    }
    keyvalue_put(out, field, &value);
}

static void put_attributes(struct buffer *out, uint32_t field, uint32_t dropped_field,
                           const struct span_attributes *attributes)
{
    for (uint32_t i = 0; i < attributes->n; i++)
        put_attribute(out, field, &attributes->items[i]);
    protobuf_put_uint(out, dropped_field, attributes->n_dropped);
}

static void put_flags(struct buffer *out, uint32_t field, uint32_t flags)
{
    if (flags == 0)
        return;
    protobuf_put_tag(out, field, PROTOBUF_FIXED32);
    buffer_append(out, &flags, sizeof(flags));
}

static void put_event(struct buffer *out, const struct span_event *event)
{
    size_t begin = protobuf_begin(out, OTLPTRACES_SPAN_EVENTS);

    protobuf_put_fixed64(out, OTLPTRACES_EVENT_TIME, (uint64_t)event->time_ns);
    protobuf_put_bytes(out, OTLPTRACES_EVENT_NAME, event->name);
    put_attributes(out, OTLPTRACES_EVENT_ATTRIBUTES, OTLPTRACES_EVENT_DROPPED, &event->attributes);
    protobuf_end(out, begin);
}

static void put_link(struct buffer *out, const struct span_link *link)
{
    size_t begin = protobuf_begin(out, OTLPTRACES_SPAN_LINKS);

    protobuf_put_bytes(out, OTLPTRACES_LINK_TRACE_ID, slice_of(link->trace_id, SPAN_TRACE_ID_BYTES));
    protobuf_put_bytes(out, OTLPTRACES_LINK_SPAN_ID, slice_of(link->span_id, SPAN_ID_BYTES));
    protobuf_put_bytes(out, OTLPTRACES_LINK_STATE, link->state);
    put_attributes(out, OTLPTRACES_LINK_ATTRIBUTES, OTLPTRACES_LINK_DROPPED, &link->attributes);
    put_flags(out, OTLPTRACES_LINK_FLAGS, link->flags);
    protobuf_end(out, begin);
}

static void put_status(struct buffer *out, const struct span *span)
{
    size_t begin;

    if (span->status == SPAN_UNSET && span->status_message.len == 0)
        return;
    begin = protobuf_begin(out, OTLPTRACES_SPAN_STATUS);
    protobuf_put_bytes(out, OTLPTRACES_STATUS_MESSAGE, span->status_message);
    protobuf_put_uint(out, OTLPTRACES_STATUS_CODE, span->status);
    protobuf_end(out, begin);
}

static bool has_parent(const struct span *span)
{
    static const uint8_t none[SPAN_ID_BYTES];

    return memcmp(span->parent_id, none, SPAN_ID_BYTES) != 0;
}

static void put_span(struct buffer *out, const struct span *span)
{
    size_t begin = protobuf_begin(out, OTLPTRACES_SCOPE_SPANS_SPANS);

    protobuf_put_bytes(out, OTLPTRACES_SPAN_TRACE_ID, slice_of(span->trace_id, SPAN_TRACE_ID_BYTES));
    protobuf_put_bytes(out, OTLPTRACES_SPAN_ID, slice_of(span->span_id, SPAN_ID_BYTES));
    protobuf_put_bytes(out, OTLPTRACES_SPAN_STATE, span->state);
    if (has_parent(span))
        protobuf_put_bytes(out, OTLPTRACES_SPAN_PARENT_ID, slice_of(span->parent_id, SPAN_ID_BYTES));
    protobuf_put_bytes(out, OTLPTRACES_SPAN_NAME, span->name);
    protobuf_put_uint(out, OTLPTRACES_SPAN_KIND, span->kind);
    protobuf_put_fixed64(out, OTLPTRACES_SPAN_START, (uint64_t)span->start_ns);
    protobuf_put_fixed64(out, OTLPTRACES_SPAN_END, (uint64_t)span->start_ns + (uint64_t)span->duration_ns);
    put_attributes(out, OTLPTRACES_SPAN_ATTRIBUTES, OTLPTRACES_SPAN_DROPPED_ATTRIBUTES, &span->attributes);
    for (uint32_t i = 0; i < span->n_events; i++)
        put_event(out, &span->events[i]);
    protobuf_put_uint(out, OTLPTRACES_SPAN_DROPPED_EVENTS, span->n_dropped_events);
    for (uint32_t i = 0; i < span->n_links; i++)
        put_link(out, &span->links[i]);
    protobuf_put_uint(out, OTLPTRACES_SPAN_DROPPED_LINKS, span->n_dropped_links);
    put_status(out, span);
    put_flags(out, OTLPTRACES_SPAN_FLAGS, span->flags);
    protobuf_end(out, begin);
}

static void put_resource(struct buffer *out, const struct span_resource *resource)
{
    size_t begin = protobuf_begin(out, OTLPTRACES_RESOURCE_SPANS_RESOURCE);

    put_attributes(out, OTLPTRACES_RESOURCE_ATTRIBUTES, OTLPTRACES_RESOURCE_DROPPED, &resource->attributes);
    protobuf_end(out, begin);
}

static void put_scope(struct buffer *out, const struct span_scope *scope)
{
    size_t begin;

    if (!scope)
        return;
    begin = protobuf_begin(out, OTLPTRACES_SCOPE_SPANS_SCOPE);
    protobuf_put_bytes(out, OTLPTRACES_SCOPE_NAME, scope->name);
    protobuf_put_bytes(out, OTLPTRACES_SCOPE_VERSION, scope->version);
    protobuf_end(out, begin);
}

/* Spans from `i` on that share resource and scope; returns the next one. */
static size_t put_scope_spans(struct buffer *out, const struct span_list *spans, size_t i)
{
    const struct span *first = &spans->items[i];
    size_t begin = protobuf_begin(out, OTLPTRACES_RESOURCE_SPANS_SCOPES);

    put_scope(out, first->scope);
    for (; i < spans->n && spans->items[i].resource == first->resource && spans->items[i].scope == first->scope; i++)
        put_span(out, &spans->items[i]);
    protobuf_end(out, begin);
    return i;
}

void otlptraces_encode(const struct span_list *spans, struct buffer *out)
{
    for (size_t i = 0; i < spans->n;) {
        const struct span_resource *resource = spans->items[i].resource;
        size_t begin = protobuf_begin(out, OTLPTRACES_REQUEST_RESOURCES);

        put_resource(out, resource);
        while (i < spans->n && spans->items[i].resource == resource)
            i = put_scope_spans(out, spans, i);
        protobuf_end(out, begin);
    }
}
