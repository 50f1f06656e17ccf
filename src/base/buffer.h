// SPDX-License-Identifier: Apache-2.0
/* A growable run of bytes with a maximum given at birth.
 *
 * Appending cannot fail at the call: a buffer that hit its limit or ran out of memory turns "failed", ignores what
 * follows, and says so once at buffer_check. So writers stay free of error paths and nothing cut is ever used. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

struct buffer {
    char *data;
    size_t len;
    size_t capacity; /* one byte more is allocated, for the NUL that printf writes */
    size_t max_bytes;
    struct error failure; /* code ERR_OK while all is well */
};

/* An empty buffer of at most `max_bytes` (0 = no limit). Allocates nothing yet. */
void buffer_init(struct buffer *buffer, size_t max_bytes);
void buffer_done(struct buffer *buffer);
/* Empty again, also after a failure; keeps the memory. */
void buffer_clear(struct buffer *buffer);

/* 0 if everything appended so far is in the buffer, else -1 with the first failure in `err`. */
MUST_CHECK int buffer_check(const struct buffer *buffer, struct error *err);

void buffer_append(struct buffer *buffer, const void *bytes, size_t len);
void buffer_append_slice(struct buffer *buffer, struct slice bytes);
void buffer_append_text(struct buffer *buffer, const char *text);
void buffer_append_byte(struct buffer *buffer, char byte);
void buffer_printf(struct buffer *buffer, const char *fmt, ...) PRINTF(2, 3);

/* Room for at least `extra` more bytes at data + len; the caller writes there and calls buffer_commit. NULL when the
 * buffer has failed or fails now. */
MUST_CHECK char *buffer_reserve(struct buffer *buffer, size_t extra);
void buffer_commit(struct buffer *buffer, size_t len);
/* Cuts back to `len` bytes, which must not be more than there are. */
void buffer_truncate(struct buffer *buffer, size_t len);

static inline struct slice buffer_slice(const struct buffer *buffer)
{
    return slice_of(buffer->data, buffer->len);
}
