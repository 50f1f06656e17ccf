// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>

#define FIRST_CAPACITY ((size_t)256)

void buffer_init(struct buffer *buffer, size_t max_bytes)
{
    *buffer = (struct buffer){ .max_bytes = max_bytes ? max_bytes : SIZE_MAX / 2 };
}

void buffer_done(struct buffer *buffer)
{
    memory_free(buffer->data);
    *buffer = (struct buffer){ .max_bytes = buffer->max_bytes };
}

void buffer_clear(struct buffer *buffer)
{
    buffer->len = 0;
    buffer->failure.code = ERR_OK;
}

int buffer_check(const struct buffer *buffer, struct error *err)
{
    if (buffer->failure.code == ERR_OK)
        return 0;
    *err = buffer->failure;
    return -1;
}

static bool grow(struct buffer *buffer, size_t extra)
{
    size_t needed, capacity;
    char *data;

    if (__builtin_add_overflow(buffer->len, extra, &needed) || needed > buffer->max_bytes) {
        error_set(&buffer->failure, ERR_LIMIT, "output needs more than its limit of %zu bytes", buffer->max_bytes);
        return false;
    }
    capacity = MAX(buffer->capacity * 2, FIRST_CAPACITY);
    capacity = MIN(MAX(capacity, needed), buffer->max_bytes);
    data = memory_realloc(buffer->data, capacity + 1, &buffer->failure);
    if (!data)
        return false;
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

char *buffer_reserve(struct buffer *buffer, size_t extra)
{
    if (UNLIKELY(buffer->failure.code != ERR_OK))
        return NULL;
    if (UNLIKELY(!buffer->data || buffer->capacity - buffer->len < extra) && !grow(buffer, extra))
        return NULL;
    return buffer->data + buffer->len;
}

void buffer_commit(struct buffer *buffer, size_t len)
{
    DEBUG_ASSERT(len <= buffer->capacity - buffer->len);
    buffer->len += len;
}

void buffer_truncate(struct buffer *buffer, size_t len)
{
    ASSERT(len <= buffer->len);
    buffer->len = len;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t len)
{
    char *at = buffer_reserve(buffer, len);

    if (!at || len == 0)
        return;
    memcpy(at, bytes, len);
    buffer->len += len;
}

void buffer_append_slice(struct buffer *buffer, struct slice bytes)
{
    buffer_append(buffer, bytes.ptr, bytes.len);
}

void buffer_append_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_append_byte(struct buffer *buffer, char byte)
{
    char *at = buffer_reserve(buffer, 1);

    if (!at)
        return;
    *at = byte;
    buffer->len++;
}

void buffer_printf(struct buffer *buffer, const char *fmt, ...)
{
    va_list args;
    int len;
    char *at;

    va_start(args, fmt);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    at = buffer_reserve(buffer, (size_t)len);
    if (!at)
        return;
    va_start(args, fmt);
    vsnprintf(at, (size_t)len + 1, fmt, args);
    va_end(args);
    buffer->len += (size_t)len;
}
