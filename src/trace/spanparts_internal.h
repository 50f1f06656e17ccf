// SPDX-License-Identifier: Apache-2.0
/* Parts of spans as bytes, which rows and blocks share: attributes, events and links (docs/format-traces.md).
 *
 * Readers fail as those of protobuf do: the first problem is noted, the reader then stands at its end and gives zeros. So the
 * caller looks once, at spanparts_check. Functions that allocate return -1 for that alone. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "pack/varint.h"
#include "trace/span.h"

struct spanparts_reader {
    const char *start, *at, *end;
    const char *bad_at;   /* NULL: all is well */
    const char *bad_what; /* what should have been there */
};

static inline struct spanparts_reader spanparts_reader_of(struct slice bytes)
{
    const char *start = bytes.len ? bytes.ptr : "";

    return (struct spanparts_reader){ .start = start, .at = start, .end = start + bytes.len };
}

/* Notes that there is no `what` at the reader's place. */
void spanparts_fail(struct spanparts_reader *r, const char *what);
/* 0 if all is well and everything was read, else ERR_CORRUPT with the offset. */
MUST_CHECK int spanparts_check(const struct spanparts_reader *r, struct error *err);

/* A number of at most `max`. */
static inline uint64_t spanparts_number(struct spanparts_reader *r, uint64_t max, const char *what)
{
    uint64_t number;
    const char *next = varint_get(r->at, r->end, &number);

    if (UNLIKELY(!next || number > max)) {
        spanparts_fail(r, what);
        return 0;
    }
    r->at = next;
    return number;
}

/* Exactly `len` bytes. */
static inline struct slice spanparts_bytes(struct spanparts_reader *r, size_t len, const char *what)
{
    const char *at = r->at;

    if (UNLIKELY((size_t)(r->end - at) < len)) {
        spanparts_fail(r, what);
        return slice_of("", 0);
    }
    r->at = at + len;
    return slice_of(at, len);
}

/* A text of at most `max_len` bytes. */
static inline struct slice spanparts_text(struct spanparts_reader *r, size_t max_len, const char *what)
{
    const char *at = r->at;
    size_t len = spanparts_number(r, max_len, what);

    if (UNLIKELY((size_t)(r->end - r->at) < len)) {
        r->at = at;
        spanparts_fail(r, what);
        return slice_of("", 0);
    }
    r->at += len;
    return slice_of(r->at - len, len);
}

/* An id, copied; zeros after a problem. */
void spanparts_id(struct spanparts_reader *r, uint8_t *ret_id, size_t len, const char *what);

static inline void spanparts_put_text(struct buffer *out, struct slice text)
{
    char *start = buffer_reserve(out, VARINT_MAX_BYTES + text.len), *at;

    if (!start)
        return;
    at = varint_put(start, text.len);
    if (text.len > 0)
        memcpy(at, text.ptr, text.len);
    buffer_commit(out, (size_t)(at - start) + text.len);
}

void spanparts_put_attributes(struct buffer *out, const struct span_attributes *attributes);
MUST_CHECK int spanparts_read_attributes(struct spanparts_reader *r, uint32_t max, struct arena *arena,
                                         struct span_attributes *ret_attributes, struct error *err);

/* Events and links, and how many of either were dropped. Times are relative to the start of the span. */
void spanparts_put_events(struct buffer *out, const struct span *span);
MUST_CHECK int spanparts_read_events(struct spanparts_reader *r, struct arena *arena, struct span *span,
                                     struct error *err);
static inline bool spanparts_has_events(const struct span *span)
{
    return span->n_events || span->n_links || span->n_dropped_events || span->n_dropped_links;
}
