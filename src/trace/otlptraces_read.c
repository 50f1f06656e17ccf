// SPDX-License-Identifier: Apache-2.0
/* Spans of a protobuf request. Messages are walked twice on the upper levels: resources and scopes may stand behind the spans
 * they belong to, and the number of spans is known before there is room for them. */
#include "trace/otlptraces_internal.h"

#include <inttypes.h>

/* A span has two ids: shorter messages cannot be kept, and take no room. */
#define MIN_SPAN_BYTES (2 + SPAN_TRACE_ID_BYTES + 2 + SPAN_ID_BYTES)

struct reader {
    struct slice bytes;
    struct arena *arena;
    struct error *err; /* set where a function returns false, unless a protobuf reader is bad */
    struct span *spans;
    size_t n;
    uint32_t n_rejected;
    struct error rejection;
    /* Of the resource or span being read; events and links first lie here, too. */
    struct span_attribute attributes[SPAN_MAX_ATTRIBUTES];
    struct span_attribute event_attributes[SPAN_MAX_EVENT_ATTRIBUTES];
    struct span_event events[SPAN_MAX_EVENTS];
    struct span_link links[SPAN_MAX_LINKS];
};

static_assert(SPAN_MAX_RESOURCE <= SPAN_MAX_ATTRIBUTES, "attributes of resources have room");

/* --- attributes --- */

/* A list of attributes being read. */
struct gathered {
    struct span_attribute *items;
    uint32_t n, max, n_dropped;
};

static bool mend(struct reader *reader, struct slice text, size_t max_bytes, struct slice *ret_text)
{
    return keyvalue_mend(text, max_bytes, reader->arena, ret_text, reader->err) == 0;
}

static bool convert_value(struct reader *reader, struct protobuf_reader *r, const struct keyvalue *kv,
                          struct span_value *value)
{
    switch (kv->kind) {
    case KEYVALUE_EMPTY: *value = (struct span_value){ .kind = SPAN_VALUE_EMPTY }; break;
    case KEYVALUE_TEXT:
        value->kind = SPAN_VALUE_TEXT;
        return mend(reader, kv->text, SPAN_MAX_VALUE_BYTES, &value->text);
    case KEYVALUE_BOOL: *value = (struct span_value){ .kind = SPAN_VALUE_BOOL, .integer = kv->integer }; break;
    case KEYVALUE_INT: *value = (struct span_value){ .kind = SPAN_VALUE_INT, .integer = kv->integer }; break;
    case KEYVALUE_DOUBLE: *value = (struct span_value){ .kind = SPAN_VALUE_DOUBLE, .real = kv->real }; break;
    case KEYVALUE_BYTES:
        value->kind = SPAN_VALUE_BYTES;
        value->text = slice_sub(kv->text, 0, SPAN_MAX_VALUE_BYTES);
        break;
    case KEYVALUE_LIST:
    case KEYVALUE_MAP:
        value->kind = SPAN_VALUE_JSON;
        return keyvalue_to_json(kv, SPAN_MAX_VALUE_BYTES, reader->arena, r, &value->text, reader->err) == 0;
    }
    return true;
}

static bool read_attribute(struct reader *reader, struct protobuf_reader *r, struct gathered *gathered)
{
    struct protobuf_reader inner = protobuf_message(r);
    struct keyvalue kv = keyvalue_read(&inner);
    struct span_attribute *attribute;

    protobuf_leave(r, &inner);
    if (gathered->n == gathered->max) {
        gathered->n_dropped++;
        return true;
    }
    attribute = &gathered->items[gathered->n++];
    return mend(reader, kv.key, SPAN_MAX_NAME_BYTES, &attribute->key) &&
           convert_value(reader, r, &kv, &attribute->value);
}

/* The number of a sender and our own, at the edge of 32 bits at most. */
static uint32_t add_dropped(uint32_t a, uint64_t b)
{
    return (uint32_t)MIN((uint64_t)a + MIN(b, UINT32_MAX), UINT32_MAX);
}

static void *copy_items(struct reader *reader, const void *items, size_t n, size_t item_bytes)
{
    void *copy = n ? arena_alloc_array(reader->arena, n, item_bytes, reader->err) : NULL;

    if (copy)
        memcpy(copy, items, n * item_bytes);
    return copy;
}

static bool keep_attributes(struct reader *reader, const struct gathered *gathered, struct span_attributes *attributes)
{
    attributes->items = copy_items(reader, gathered->items, gathered->n, sizeof(*gathered->items));
    attributes->n = gathered->n;
    attributes->n_dropped = add_dropped(attributes->n_dropped, gathered->n_dropped);
    return attributes->items || gathered->n == 0;
}

/* --- events and links --- */

static bool read_event(struct reader *reader, struct protobuf_reader *r, struct span_event *event)
{
    struct gathered gathered = { .items = reader->event_attributes, .max = SPAN_MAX_EVENT_ATTRIBUTES };
    uint64_t time_ns;
    uint32_t tag;

    *event = (struct span_event){ 0 };
    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLPTRACES_EVENT_TIME, PROTOBUF_FIXED64):
            time_ns = protobuf_fixed64(r);
            event->time_ns = (int64_t)MIN(time_ns, (uint64_t)INT64_MAX);
            break;
        case PROTOBUF_TAG(OTLPTRACES_EVENT_NAME, PROTOBUF_BYTES):
            if (!mend(reader, protobuf_bytes(r), SPAN_MAX_NAME_BYTES, &event->name))
                return false;
            break;
        case PROTOBUF_TAG(OTLPTRACES_EVENT_ATTRIBUTES, PROTOBUF_BYTES):
            if (!read_attribute(reader, r, &gathered))
                return false;
            break;
        case PROTOBUF_TAG(OTLPTRACES_EVENT_DROPPED, PROTOBUF_VARINT):
            event->attributes.n_dropped = add_dropped(0, protobuf_varint(r));
            break;
        default: protobuf_skip_unknown(r, tag, OTLPTRACES_EVENT_DROPPED);
        }
    }
    return keep_attributes(reader, &gathered, &event->attributes);
}

/* An id of the right length that is not all zeros. */
static bool take_id(struct slice bytes, size_t len, uint8_t *id)
{
    static const uint8_t none[SPAN_TRACE_ID_BYTES];

    if (bytes.len != len || memcmp(bytes.ptr, none, len) == 0)
        return false;
    memcpy(id, bytes.ptr, len);
    return true;
}

static bool read_link(struct reader *reader, struct protobuf_reader *r, struct span_link *link, bool *ret_is_good)
{
    struct gathered gathered = { .items = reader->event_attributes, .max = SPAN_MAX_EVENT_ATTRIBUTES };
    bool has_trace = false, has_span = false;
    uint32_t tag;

    *link = (struct span_link){ 0 };
    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLPTRACES_LINK_TRACE_ID, PROTOBUF_BYTES):
            has_trace = take_id(protobuf_bytes(r), SPAN_TRACE_ID_BYTES, link->trace_id);
            break;
        case PROTOBUF_TAG(OTLPTRACES_LINK_SPAN_ID, PROTOBUF_BYTES):
            has_span = take_id(protobuf_bytes(r), SPAN_ID_BYTES, link->span_id);
            break;
        case PROTOBUF_TAG(OTLPTRACES_LINK_STATE, PROTOBUF_BYTES):
            if (!mend(reader, protobuf_bytes(r), SPAN_MAX_VALUE_BYTES, &link->state))
                return false;
            break;
        case PROTOBUF_TAG(OTLPTRACES_LINK_ATTRIBUTES, PROTOBUF_BYTES):
            if (!read_attribute(reader, r, &gathered))
                return false;
            break;
        case PROTOBUF_TAG(OTLPTRACES_LINK_DROPPED, PROTOBUF_VARINT):
            link->attributes.n_dropped = add_dropped(0, protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLPTRACES_LINK_FLAGS, PROTOBUF_FIXED32): link->flags = protobuf_fixed32(r); break;
        default: protobuf_skip_unknown(r, tag, OTLPTRACES_LINK_FLAGS);
        }
    }
    *ret_is_good = has_trace && has_span;
    return keep_attributes(reader, &gathered, &link->attributes);
}

static bool add_event(struct reader *reader, struct protobuf_reader *r, struct span *span)
{
    struct protobuf_reader inner = protobuf_message(r);

    if (span->n_events == SPAN_MAX_EVENTS) {
        span->n_dropped_events = add_dropped(span->n_dropped_events, 1);
        return true;
    }
    if (!read_event(reader, &inner, &reader->events[span->n_events]))
        return false;
    span->n_events++;
    protobuf_leave(r, &inner);
    return true;
}

/* Links to nothing are dropped. */
static bool add_link(struct reader *reader, struct protobuf_reader *r, struct span *span)
{
    struct protobuf_reader inner = protobuf_message(r);
    bool is_good = false;

    if (span->n_links < SPAN_MAX_LINKS) {
        if (!read_link(reader, &inner, &reader->links[span->n_links], &is_good))
            return false;
        protobuf_leave(r, &inner);
    }
    if (is_good)
        span->n_links++;
    else
        span->n_dropped_links = add_dropped(span->n_dropped_links, 1);
    return true;
}

/* --- spans --- */

/* What is needed beside the span itself to judge it. */
struct judged {
    uint64_t start_ns, end_ns;
    bool has_trace_id, has_span_id;
};

static bool read_status(struct reader *reader, struct protobuf_reader *r, struct span *span)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        if (tag == PROTOBUF_TAG(OTLPTRACES_STATUS_MESSAGE, PROTOBUF_BYTES)) {
            if (!mend(reader, protobuf_bytes(r), SPAN_MAX_VALUE_BYTES, &span->status_message))
                return false;
        } else if (tag == PROTOBUF_TAG(OTLPTRACES_STATUS_CODE, PROTOBUF_VARINT)) {
            uint64_t code = protobuf_varint(r);

            span->status = (uint8_t)(code < SPAN_STATUS_COUNT ? code : SPAN_UNSET);
        } else {
            protobuf_skip(r, tag);
        }
    }
    return true;
}

/* The fields that are numbers. */
static void read_number(struct protobuf_reader *r, uint32_t tag, struct span *span, struct judged *judged)
{
    uint64_t kind;

    switch (tag) {
    case PROTOBUF_TAG(OTLPTRACES_SPAN_KIND, PROTOBUF_VARINT):
        kind = protobuf_varint(r);
        span->kind = (uint8_t)(kind < SPAN_KIND_COUNT ? kind : SPAN_UNSPECIFIED);
        break;
    case PROTOBUF_TAG(OTLPTRACES_SPAN_START, PROTOBUF_FIXED64): judged->start_ns = protobuf_fixed64(r); break;
    case PROTOBUF_TAG(OTLPTRACES_SPAN_END, PROTOBUF_FIXED64): judged->end_ns = protobuf_fixed64(r); break;
    case PROTOBUF_TAG(OTLPTRACES_SPAN_DROPPED_ATTRIBUTES, PROTOBUF_VARINT):
        span->attributes.n_dropped = add_dropped(span->attributes.n_dropped, protobuf_varint(r));
        break;
    case PROTOBUF_TAG(OTLPTRACES_SPAN_DROPPED_EVENTS, PROTOBUF_VARINT):
        span->n_dropped_events = add_dropped(span->n_dropped_events, protobuf_varint(r));
        break;
    case PROTOBUF_TAG(OTLPTRACES_SPAN_DROPPED_LINKS, PROTOBUF_VARINT):
        span->n_dropped_links = add_dropped(span->n_dropped_links, protobuf_varint(r));
        break;
    default: protobuf_skip_unknown(r, tag, OTLPTRACES_SPAN_FLAGS);
    }
}

static bool read_fields(struct reader *reader, struct protobuf_reader *r, struct span *span, struct judged *judged,
                        struct gathered *gathered)
{
    struct protobuf_reader inner;
    uint32_t tag;
    bool is_well = true;

    while (is_well && protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLPTRACES_SPAN_TRACE_ID, PROTOBUF_BYTES):
            judged->has_trace_id = take_id(protobuf_bytes(r), SPAN_TRACE_ID_BYTES, span->trace_id);
            break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_ID, PROTOBUF_BYTES):
            judged->has_span_id = take_id(protobuf_bytes(r), SPAN_ID_BYTES, span->span_id);
            break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_PARENT_ID, PROTOBUF_BYTES):
            (void)take_id(protobuf_bytes(r), SPAN_ID_BYTES, span->parent_id); /* a bad one is none */
            break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_STATE, PROTOBUF_BYTES):
            is_well = mend(reader, protobuf_bytes(r), SPAN_MAX_VALUE_BYTES, &span->state);
            break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_NAME, PROTOBUF_BYTES):
            is_well = mend(reader, protobuf_bytes(r), SPAN_MAX_NAME_BYTES, &span->name);
            break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_ATTRIBUTES, PROTOBUF_BYTES):
            is_well = read_attribute(reader, r, gathered);
            break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_EVENTS, PROTOBUF_BYTES): is_well = add_event(reader, r, span); break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_LINKS, PROTOBUF_BYTES): is_well = add_link(reader, r, span); break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_STATUS, PROTOBUF_BYTES):
            inner = protobuf_message(r);
            is_well = read_status(reader, &inner, span);
            protobuf_leave(r, &inner);
            break;
        case PROTOBUF_TAG(OTLPTRACES_SPAN_FLAGS, PROTOBUF_FIXED32): span->flags = protobuf_fixed32(r); break;
        default: read_number(r, tag, span, judged);
        }
    }
    return is_well;
}

/* Why a span cannot be kept, as a message; NULL if it can. */
static const char *reject(const struct judged *judged)
{
    if (!judged->has_trace_id)
        return "its trace id is not 16 bytes, or zero";
    if (!judged->has_span_id)
        return "its span id is not 8 bytes, or zero";
    if (judged->start_ns == 0 || judged->start_ns > INT64_MAX)
        return "it does not say when it started, or a time that is no nanoseconds since 1970";
    return NULL;
}

static bool finish_span(struct reader *reader, struct span *span, const struct judged *judged,
                        const struct gathered *gathered)
{
    uint64_t end_ns = MIN(judged->end_ns, (uint64_t)INT64_MAX);

    span->start_ns = (int64_t)judged->start_ns;
    span->duration_ns = end_ns > judged->start_ns ? (int64_t)(end_ns - judged->start_ns) : 0;
    if (!keep_attributes(reader, gathered, &span->attributes))
        return false;
    span->events = copy_items(reader, reader->events, span->n_events, sizeof(*span->events));
    span->links = copy_items(reader, reader->links, span->n_links, sizeof(*span->links));
    return (span->events || span->n_events == 0) && (span->links || span->n_links == 0);
}

static bool read_span(struct reader *reader, struct protobuf_reader *r, const struct span_resource *resource,
                      const struct span_scope *scope)
{
    struct gathered gathered = { .items = reader->attributes, .max = SPAN_MAX_ATTRIBUTES };
    struct span span = { .resource = resource, .scope = scope };
    struct judged judged = { 0 };
    bool is_short = r->end - r->at < MIN_SPAN_BYTES;
    const char *reason;

    if (!read_fields(reader, r, &span, &judged, &gathered))
        return false;
    if (r->bad)
        return true;
    reason = reject(&judged);
    if (reason) {
        if (reader->n_rejected++ == 0)
            error_set(&reader->rejection, ERR_INVALID, "a span '%.*s' was left out: %s", SLICE_ARG(span.name), reason);
        return true;
    }
    ASSERT(!is_short); /* without ids it would have been rejected */
    if (!finish_span(reader, &span, &judged, &gathered))
        return false;
    reader->spans[reader->n++] = span;
    return true;
}

/* --- resources and scopes --- */

/* The text of an attribute, or an empty one. */
static struct slice find_text(const struct span_attributes *attributes, const char *key)
{
    for (uint32_t i = 0; i < attributes->n; i++)
        if (attributes->items[i].value.kind == SPAN_VALUE_TEXT && slice_is(attributes->items[i].key, key))
            return attributes->items[i].value.text;
    return SLICE("");
}

/* As for profiles, so that the two find each other: a resource that names no service has that of its executable. */
static bool name_service(struct reader *reader, struct span_resource *resource)
{
    struct slice name = find_text(&resource->attributes, "service.name");

    if (name.len == 0)
        name = find_text(&resource->attributes, "process.executable.name");
    if (name.len == 0)
        name = SLICE("unknown_service");
    return mend(reader, name, SPAN_MAX_NAME_BYTES, &resource->service);
}

static bool read_resource(struct reader *reader, struct protobuf_reader *r, struct gathered *gathered)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        if (tag == PROTOBUF_TAG(OTLPTRACES_RESOURCE_ATTRIBUTES, PROTOBUF_BYTES)) {
            if (!read_attribute(reader, r, gathered))
                return false;
        } else if (tag == PROTOBUF_TAG(OTLPTRACES_RESOURCE_DROPPED, PROTOBUF_VARINT)) {
            gathered->n_dropped = add_dropped(gathered->n_dropped, protobuf_varint(r));
        } else {
            protobuf_skip(r, tag);
        }
    }
    return true;
}

/* The resource of a ResourceSpans message, wherever in it that stands. */
static bool find_resource(struct reader *reader, struct protobuf_reader *r, struct span_resource **ret_resource)
{
    struct gathered gathered = { .items = reader->attributes, .max = SPAN_MAX_RESOURCE };
    struct span_resource *resource = ARENA_NEW(reader->arena, struct span_resource, reader->err);
    uint32_t tag;

    if (!resource)
        return false;
    while (protobuf_next(r, &tag)) {
        struct protobuf_reader inner;

        if (tag != PROTOBUF_TAG(OTLPTRACES_RESOURCE_SPANS_RESOURCE, PROTOBUF_BYTES)) {
            protobuf_skip(r, tag);
            continue;
        }
        inner = protobuf_message(r);
        if (!read_resource(reader, &inner, &gathered))
            return false;
        protobuf_leave(r, &inner);
    }
    *ret_resource = resource;
    return keep_attributes(reader, &gathered, &resource->attributes) && name_service(reader, resource);
}

static bool read_scope(struct reader *reader, struct protobuf_reader *r, struct span_scope *scope)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        bool is_name = tag == PROTOBUF_TAG(OTLPTRACES_SCOPE_NAME, PROTOBUF_BYTES);

        if (!is_name && tag != PROTOBUF_TAG(OTLPTRACES_SCOPE_VERSION, PROTOBUF_BYTES))
            protobuf_skip(r, tag);
        else if (!mend(reader, protobuf_bytes(r), SPAN_MAX_NAME_BYTES, is_name ? &scope->name : &scope->version))
            return false;
    }
    return true;
}

/* The scope of a ScopeSpans message; NULL where there is none, or it says nothing. */
static bool find_scope(struct reader *reader, struct protobuf_reader *r, const struct span_scope **ret_scope)
{
    struct span_scope scope = { 0 };
    struct span_scope *kept = NULL;
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        struct protobuf_reader inner;

        if (tag != PROTOBUF_TAG(OTLPTRACES_SCOPE_SPANS_SCOPE, PROTOBUF_BYTES)) {
            protobuf_skip(r, tag);
            continue;
        }
        inner = protobuf_message(r);
        if (!read_scope(reader, &inner, &scope))
            return false;
        protobuf_leave(r, &inner);
    }
    if (scope.name.len > 0 || scope.version.len > 0) {
        kept = ARENA_NEW(reader->arena, struct span_scope, reader->err);
        if (!kept)
            return false;
        *kept = scope;
    }
    *ret_scope = kept;
    return true;
}

/* --- the request --- */

/* Calls `visit` for each message of field `field` within `r`. */
static bool each_message(struct reader *reader, struct protobuf_reader *r, uint32_t field,
                         bool (*visit)(struct reader *reader, struct protobuf_reader *r, const void *context),
                         const void *context)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        struct protobuf_reader inner;

        if (tag != PROTOBUF_TAG(field, PROTOBUF_BYTES)) {
            protobuf_skip(r, tag);
            continue;
        }
        inner = protobuf_message(r);
        if (!visit(reader, &inner, context))
            return false;
        protobuf_leave(r, &inner);
    }
    return true;
}

static bool count_span(struct reader *reader, struct protobuf_reader *r, const void *context)
{
    (void)context;
    reader->n += r->end - r->at >= MIN_SPAN_BYTES;
    return true;
}

static bool count_scope(struct reader *reader, struct protobuf_reader *r, const void *context)
{
    return each_message(reader, r, OTLPTRACES_SCOPE_SPANS_SPANS, count_span, context);
}

static bool count_resource(struct reader *reader, struct protobuf_reader *r, const void *context)
{
    return each_message(reader, r, OTLPTRACES_RESOURCE_SPANS_SCOPES, count_scope, context);
}

struct owner {
    const struct span_resource *resource;
    const struct span_scope *scope;
};

static bool visit_span(struct reader *reader, struct protobuf_reader *r, const void *context)
{
    const struct owner *owner = context;

    return read_span(reader, r, owner->resource, owner->scope);
}

static bool visit_scope(struct reader *reader, struct protobuf_reader *r, const void *context)
{
    struct owner owner = { .resource = context };
    struct protobuf_reader again = *r;

    if (!find_scope(reader, &again, &owner.scope))
        return false;
    protobuf_leave(r, &again);
    return each_message(reader, r, OTLPTRACES_SCOPE_SPANS_SPANS, visit_span, &owner);
}

static bool visit_resource(struct reader *reader, struct protobuf_reader *r, const void *context)
{
    struct span_resource *resource;
    struct protobuf_reader again = *r;

    (void)context;
    if (!find_resource(reader, &again, &resource))
        return false;
    protobuf_leave(r, &again);
    return each_message(reader, r, OTLPTRACES_RESOURCE_SPANS_SCOPES, visit_scope, resource);
}

static int read_request(struct reader *reader)
{
    struct protobuf_reader r = protobuf_reader_of(reader->bytes);
    bool is_well = each_message(reader, &r, OTLPTRACES_REQUEST_RESOURCES, count_resource, NULL);

    if (is_well && !r.bad) {
        reader->spans = ARENA_ARRAY(reader->arena, struct span, reader->n, reader->err);
        if (!reader->spans)
            return -1;
        reader->n = 0;
        r = protobuf_reader_of(reader->bytes);
        is_well = each_message(reader, &r, OTLPTRACES_REQUEST_RESOURCES, visit_resource, NULL);
    }
    if (!is_well)
        return -1;
    return r.bad ? protojson_explain("OTLP traces", otlptraces_fields, reader->bytes, &r, reader->err) : 0;
}

int otlptraces_read_protobuf(struct slice bytes, struct arena *arena, struct otlptraces_read *ret_read,
                             struct error *err)
{
    struct reader reader = { .bytes = bytes, .arena = arena, .err = err };

    if (read_request(&reader) < 0)
        return -1;
    *ret_read = (struct otlptraces_read){
        .spans = { .items = reader.spans, .n = reader.n },
        .n_rejected = reader.n_rejected,
        .rejection = reader.rejection,
    };
    return 0;
}
