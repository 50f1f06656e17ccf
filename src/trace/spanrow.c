// SPDX-License-Identifier: Apache-2.0
#include "trace/spanrow.h"

#include "trace/spanparts_internal.h"

#define VERSION 1

/* Slots that end before the last nanosecond that 64 bits can tell. */
#define MAX_SLOT (INT64_MAX / SPANROW_SLOT_NS - 1)

/* The byte behind the version: the status, and what there is. */
enum {
    STATUS_MASK = 3,
    HAS_PARENT = 4,
    HAS_FLAGS = 8,
    HAS_SCOPE = 16,
    HAS_MESSAGE = 32,
    HAS_STATE = 64,
    HAS_EVENTS = 128, /* or links */
};

/* --- writing --- */

void spanrow_writer_init(struct spanrow_writer *writer)
{
    *writer = (struct spanrow_writer){ .resource = NULL };
    buffer_init(&writer->resource_bytes, 0);
}

void spanrow_writer_done(struct spanrow_writer *writer)
{
    writer->resource = NULL;
    buffer_done(&writer->resource_bytes);
}

void spanrow_writer_forget(struct spanrow_writer *writer)
{
    writer->resource = NULL;
}

static uint8_t bits_of(const struct span *span)
{
    static const uint8_t none[SPAN_ID_BYTES];
    unsigned bits = span->status & STATUS_MASK;

    bits |= memcmp(span->parent_id, none, SPAN_ID_BYTES) != 0 ? HAS_PARENT : 0;
    bits |= span->flags != 0 ? HAS_FLAGS : 0;
    bits |= span->scope ? HAS_SCOPE : 0;
    bits |= span->status_message.len > 0 ? HAS_MESSAGE : 0;
    bits |= span->state.len > 0 ? HAS_STATE : 0;
    bits |= spanparts_has_events(span) ? HAS_EVENTS : 0;
    return (uint8_t)bits;
}

static void put_front(const struct span *span, uint8_t bits, struct buffer *out)
{
    char *start = buffer_reserve(out, 2 + 2 * VARINT_MAX_BYTES + SPAN_ID_BYTES), *at = start;

    if (!start)
        return;
    *at++ = VERSION;
    *at++ = (char)bits;
    at = varint_put(at, (uint64_t)(span->start_ns % SPANROW_SLOT_NS));
    at = varint_put(at, (uint64_t)span->duration_ns);
    if (bits & HAS_PARENT) {
        memcpy(at, span->parent_id, SPAN_ID_BYTES);
        at += SPAN_ID_BYTES;
    }
    buffer_commit(out, (size_t)(at - start));
    spanparts_put_text(out, span->resource->service);
    spanparts_put_text(out, span->name);
}

static void put_resource(struct spanrow_writer *writer, const struct span_resource *resource, struct buffer *out)
{
    if (writer->resource != resource) {
        writer->resource = NULL;
        buffer_clear(&writer->resource_bytes);
        spanparts_put_attributes(&writer->resource_bytes, &resource->attributes);
        if (writer->resource_bytes.failure.code == ERR_OK)
            writer->resource = resource;
        else if (out->failure.code == ERR_OK)
            out->failure = writer->resource_bytes.failure;
    }
    buffer_append_slice(out, buffer_slice(&writer->resource_bytes));
}

void spanrow_encode(struct spanrow_writer *writer, const struct span *span, struct buffer *out)
{
    uint8_t bits = bits_of(span);

    put_front(span, bits, out);
    if (bits & HAS_FLAGS)
        varint_append(out, span->flags);
    if (bits & HAS_SCOPE) {
        spanparts_put_text(out, span->scope->name);
        spanparts_put_text(out, span->scope->version);
    }
    if (bits & HAS_MESSAGE)
        spanparts_put_text(out, span->status_message);
    if (bits & HAS_STATE)
        spanparts_put_text(out, span->state);
    spanparts_put_attributes(out, &span->attributes);
    if (bits & HAS_EVENTS)
        spanparts_put_events(out, span);
    put_resource(writer, span->resource, out);
}

/* --- reading --- */

static void read_front(struct spanparts_reader *r, const struct spanrow_key *key, uint8_t *ret_bits,
                       struct spanrow_front *front)
{
    struct slice head = spanparts_bytes(r, 2, "version and status");
    int64_t slot_ns = key->slot * SPANROW_SLOT_NS;

    *front = (struct spanrow_front){ 0 };
    *ret_bits = head.len == 2 ? (uint8_t)head.ptr[1] : 0;
    front->status = *ret_bits & STATUS_MASK;
    if (front->status >= SPAN_STATUS_COUNT)
        spanparts_fail(r, "status");
    front->start_ns = slot_ns + (int64_t)spanparts_number(r, SPANROW_SLOT_NS - 1, "start within its slot");
    front->duration_ns = (int64_t)spanparts_number(r, (uint64_t)(INT64_MAX - front->start_ns), "duration");
    if (*ret_bits & HAS_PARENT)
        spanparts_id(r, front->parent_id, SPAN_ID_BYTES, "parent id");
    front->service = spanparts_text(r, SPAN_MAX_NAME_BYTES, "service");
    front->name = spanparts_text(r, SPAN_MAX_NAME_BYTES, "name");
    front->rest = slice_of(r->at, (size_t)(r->end - r->at));
}

/* What can be told before anything is read. */
static int check_start(const struct spanrow_key *key, struct slice bytes, struct error *err)
{
    if (key->slot > MAX_SLOT)
        return error_set(err, ERR_CORRUPT, "its key has slot %u, which can be %lld at most", key->slot,
                         (long long)MAX_SLOT);
    if (key->kind >= SPAN_KIND_COUNT)
        return error_set(err, ERR_CORRUPT, "its key has kind %u, which can be %u at most", key->kind,
                         SPAN_KIND_COUNT - 1);
    if (bytes.len > 0 && bytes.ptr[0] != VERSION)
        return error_set(err, ERR_VERSION, "is of version %u, this program reads version %u",
                         (unsigned char)bytes.ptr[0], VERSION);
    return 0;
}

int spanrow_read_front(const struct spanrow_key *key, struct slice bytes, struct spanrow_front *ret_front,
                       struct error *err)
{
    struct spanparts_reader r = spanparts_reader_of(bytes);
    struct spanrow_front front;
    uint8_t bits;

    if (check_start(key, bytes, err) < 0)
        return error_wrap(err, "row of a span");
    read_front(&r, key, &bits, &front);
    if (r.bad_at) {
        IGNORE(spanparts_check(&r, err), "it is known to be bad");
        return error_wrap(err, "row of a span");
    }
    *ret_front = front;
    return 0;
}

static int read_scope(struct spanparts_reader *r, struct arena *arena, struct span *span, struct error *err)
{
    struct span_scope *scope = ARENA_NEW(arena, struct span_scope, err);

    if (!scope)
        return -1;
    scope->name = spanparts_text(r, SPAN_MAX_NAME_BYTES, "name of a scope");
    scope->version = spanparts_text(r, SPAN_MAX_NAME_BYTES, "version of a scope");
    span->scope = scope;
    return 0;
}

static int read_rest(struct spanparts_reader *r, uint8_t bits, struct arena *arena, struct span *span,
                     struct span_resource *resource, struct error *err)
{
    if (bits & HAS_FLAGS)
        span->flags = (uint32_t)spanparts_number(r, UINT32_MAX, "flags");
    if ((bits & HAS_SCOPE) && read_scope(r, arena, span, err) < 0)
        return -1;
    if (bits & HAS_MESSAGE)
        span->status_message = spanparts_text(r, SPAN_MAX_VALUE_BYTES, "message of the status");
    if (bits & HAS_STATE)
        span->state = spanparts_text(r, SPAN_MAX_VALUE_BYTES, "trace state");
    if (spanparts_read_attributes(r, SPAN_MAX_ATTRIBUTES, arena, &span->attributes, err) < 0)
        return -1;
    if ((bits & HAS_EVENTS) && spanparts_read_events(r, arena, span, err) < 0)
        return -1;
    return spanparts_read_attributes(r, SPAN_MAX_RESOURCE, arena, &resource->attributes, err);
}

static int decode(const struct spanrow_key *key, struct slice bytes, struct arena *arena, struct span *span,
                  struct error *err)
{
    struct spanparts_reader r = spanparts_reader_of(bytes);
    struct span_resource *resource = ARENA_NEW(arena, struct span_resource, err);
    struct spanrow_front front;
    uint8_t bits;

    if (!resource || check_start(key, bytes, err) < 0)
        return -1;
    read_front(&r, key, &bits, &front);
    resource->service = front.service;
    *span = (struct span){
        .kind = key->kind,
        .status = front.status,
        .start_ns = front.start_ns,
        .duration_ns = front.duration_ns,
        .name = front.name,
        .resource = resource,
    };
    memcpy(span->trace_id, key->trace_id, SPAN_TRACE_ID_BYTES);
    memcpy(span->span_id, key->span_id, SPAN_ID_BYTES);
    memcpy(span->parent_id, front.parent_id, SPAN_ID_BYTES);
    return read_rest(&r, bits, arena, span, resource, err) < 0 ? -1 : spanparts_check(&r, err);
}

int spanrow_decode(const struct spanrow_key *key, struct slice bytes, struct arena *arena, struct span *ret_span,
                   struct error *err)
{
    struct span span;

    if (decode(key, bytes, arena, &span, err) < 0)
        return error_wrap(err, "row of a span");
    *ret_span = span;
    return 0;
}
