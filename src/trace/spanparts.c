// SPDX-License-Identifier: Apache-2.0
#include "trace/spanparts_internal.h"

/* Each attribute takes two bytes or more, an event three, a link more than its ids: counts are checked with these before
 * memory is spent. */
#define MIN_ATTRIBUTE_BYTES 2u
#define MIN_EVENT_BYTES     4u
#define MIN_LINK_BYTES      (SPAN_TRACE_ID_BYTES + SPAN_ID_BYTES + 4u)

/* --- reading --- */

void spanparts_fail(struct spanparts_reader *r, const char *what)
{
    if (!r->bad_at) {
        r->bad_at = r->at;
        r->bad_what = what;
    }
    r->at = r->end;
}

int spanparts_check(const struct spanparts_reader *r, struct error *err)
{
    if (r->bad_at)
        return error_set(err, ERR_CORRUPT, "no valid %s at byte %zu of %zu", r->bad_what,
                         (size_t)(r->bad_at - r->start), (size_t)(r->end - r->start));
    if (r->at != r->end)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many, from byte %zu", (size_t)(r->end - r->at),
                         (size_t)(r->at - r->start));
    return 0;
}

void spanparts_id(struct spanparts_reader *r, uint8_t *ret_id, size_t len, const char *what)
{
    struct slice bytes = spanparts_bytes(r, len, what);

    memset(ret_id, 0, len);
    if (bytes.len == len)
        memcpy(ret_id, bytes.ptr, len);
}

/* How many items follow: at most `max`, and at most what the bytes can hold. */
static uint32_t read_count(struct spanparts_reader *r, uint32_t max, uint32_t min_bytes, const char *what)
{
    return (uint32_t)spanparts_number(r, MIN(max, (uint64_t)(r->end - r->at) / min_bytes), what);
}

static void read_value(struct spanparts_reader *r, struct span_value *value)
{
    uint64_t kind = spanparts_number(r, SPAN_VALUE_KIND_COUNT - 1, "kind of a value");
    struct slice bytes;

    *value = (struct span_value){ .kind = (enum span_value_kind)kind };
    switch (value->kind) {
    case SPAN_VALUE_EMPTY: break;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_BYTES:
    case SPAN_VALUE_JSON: value->text = spanparts_text(r, SPAN_MAX_VALUE_BYTES, "text of a value"); break;
    case SPAN_VALUE_BOOL: value->integer = (int64_t)spanparts_number(r, 1, "boolean"); break;
    case SPAN_VALUE_INT: value->integer = varint_unzigzag(spanparts_number(r, UINT64_MAX, "integer")); break;
    case SPAN_VALUE_DOUBLE:
        bytes = spanparts_bytes(r, sizeof(value->real), "floating-point number");
        if (bytes.len == sizeof(value->real))
            memcpy(&value->real, bytes.ptr, sizeof(value->real));
        break;
    }
}

int spanparts_read_attributes(struct spanparts_reader *r, uint32_t max, struct arena *arena,
                              struct span_attributes *ret_attributes, struct error *err)
{
    uint32_t n = read_count(r, max, MIN_ATTRIBUTE_BYTES, "number of attributes");
    uint32_t n_dropped = (uint32_t)spanparts_number(r, UINT32_MAX, "number of dropped attributes");
    struct span_attribute *items = NULL;

    if (n > 0) {
        items = ARENA_ARRAY(arena, struct span_attribute, n, err);
        if (!items)
            return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        items[i].key = spanparts_text(r, SPAN_MAX_NAME_BYTES, "key");
        read_value(r, &items[i].value);
    }
    *ret_attributes = (struct span_attributes){ .items = items, .n = n, .n_dropped = n_dropped };
    return 0;
}

static int read_event(struct spanparts_reader *r, struct arena *arena, int64_t start_ns, struct span_event *event,
                      struct error *err)
{
    int64_t offset_ns = varint_unzigzag(spanparts_number(r, UINT64_MAX, "time of an event"));

    *event = (struct span_event){ 0 };
    if (__builtin_add_overflow(start_ns, offset_ns, &event->time_ns) || event->time_ns < 0)
        spanparts_fail(r, "time of an event");
    event->name = spanparts_text(r, SPAN_MAX_NAME_BYTES, "name of an event");
    return spanparts_read_attributes(r, SPAN_MAX_EVENT_ATTRIBUTES, arena, &event->attributes, err);
}

static int read_link(struct spanparts_reader *r, struct arena *arena, struct span_link *link, struct error *err)
{
    *link = (struct span_link){ 0 };
    spanparts_id(r, link->trace_id, sizeof(link->trace_id), "trace id of a link");
    spanparts_id(r, link->span_id, sizeof(link->span_id), "span id of a link");
    link->flags = (uint32_t)spanparts_number(r, UINT32_MAX, "flags of a link");
    link->state = spanparts_text(r, SPAN_MAX_VALUE_BYTES, "trace state of a link");
    return spanparts_read_attributes(r, SPAN_MAX_EVENT_ATTRIBUTES, arena, &link->attributes, err);
}

static int read_links(struct spanparts_reader *r, struct arena *arena, struct span *span, struct error *err)
{
    uint32_t n = read_count(r, SPAN_MAX_LINKS, MIN_LINK_BYTES, "number of links");
    struct span_link *links = NULL;

    span->n_dropped_links = (uint32_t)spanparts_number(r, UINT32_MAX, "number of dropped links");
    if (n > 0) {
        links = ARENA_ARRAY(arena, struct span_link, n, err);
        if (!links)
            return -1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (read_link(r, arena, &links[i], err) < 0)
            return -1;
    span->links = links;
    span->n_links = n;
    return 0;
}

int spanparts_read_events(struct spanparts_reader *r, struct arena *arena, struct span *span, struct error *err)
{
    uint32_t n = read_count(r, SPAN_MAX_EVENTS, MIN_EVENT_BYTES, "number of events");
    struct span_event *events = NULL;

    span->n_dropped_events = (uint32_t)spanparts_number(r, UINT32_MAX, "number of dropped events");
    if (n > 0) {
        events = ARENA_ARRAY(arena, struct span_event, n, err);
        if (!events)
            return -1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (read_event(r, arena, span->start_ns, &events[i], err) < 0)
            return -1;
    span->events = events;
    span->n_events = n;
    return read_links(r, arena, span, err);
}

/* --- writing --- */

/* Key, kind and number of an attribute. */
#define ATTRIBUTE_ROOM (3 * (size_t)VARINT_MAX_BYTES)

static char *put_text(char *at, struct slice text)
{
    at = varint_put(at, text.len);
    if (text.len > 0)
        memcpy(at, text.ptr, text.len);
    return at + text.len;
}

static size_t text_bytes(const struct span_value *value)
{
    switch (value->kind) {
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_BYTES:
    case SPAN_VALUE_JSON: return value->text.len;
    case SPAN_VALUE_EMPTY:
    case SPAN_VALUE_BOOL:
    case SPAN_VALUE_INT:
    case SPAN_VALUE_DOUBLE: break;
    }
    return 0;
}

static char *put_value(char *at, const struct span_value *value)
{
    *at++ = (char)value->kind;
    switch (value->kind) {
    case SPAN_VALUE_EMPTY: break;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_BYTES:
    case SPAN_VALUE_JSON: return put_text(at, value->text);
    case SPAN_VALUE_BOOL: *at++ = value->integer != 0; break;
    case SPAN_VALUE_INT: return varint_put(at, varint_zigzag(value->integer));
    case SPAN_VALUE_DOUBLE: memcpy(at, &value->real, sizeof(value->real)); return at + sizeof(value->real);
    }
    return at;
}

void spanparts_put_attributes(struct buffer *out, const struct span_attributes *attributes)
{
    varint_append(out, attributes->n);
    varint_append(out, attributes->n_dropped);
    for (uint32_t i = 0; i < attributes->n; i++) {
        const struct span_attribute *attribute = &attributes->items[i];
        char *start = buffer_reserve(out, ATTRIBUTE_ROOM + attribute->key.len + text_bytes(&attribute->value));

        if (!start)
            return;
        buffer_commit(out, (size_t)(put_value(put_text(start, attribute->key), &attribute->value) - start));
    }
}

void spanparts_put_events(struct buffer *out, const struct span *span)
{
    varint_append(out, span->n_events);
    varint_append(out, span->n_dropped_events);
    for (uint32_t i = 0; i < span->n_events; i++) {
        const struct span_event *event = &span->events[i];

        varint_append(out, varint_zigzag(event->time_ns - span->start_ns));
        spanparts_put_text(out, event->name);
        spanparts_put_attributes(out, &event->attributes);
    }
    varint_append(out, span->n_links);
    varint_append(out, span->n_dropped_links);
    for (uint32_t i = 0; i < span->n_links; i++) {
        const struct span_link *link = &span->links[i];

        buffer_append(out, link->trace_id, sizeof(link->trace_id));
        buffer_append(out, link->span_id, sizeof(link->span_id));
        varint_append(out, link->flags);
        spanparts_put_text(out, link->state);
        spanparts_put_attributes(out, &link->attributes);
    }
}
