// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>

#define ALIGNMENT       16u
#define FIRST_CHUNK     ((size_t)16 * 1024)
#define MAX_CHUNK_GROWN ((size_t)8 * 1024 * 1024)
#define UNLIMITED       (SIZE_MAX / 2 + 1) /* a multiple of the alignment, and far enough from overflowing */

struct arena_chunk {
    struct arena_chunk *older;
    size_t size_bytes; /* of data */
    _Alignas(ALIGNMENT) char data[];
};

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 /* clang's way of saying what gcc says by itself */
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define POISON(ptr, len)   ASAN_POISON_MEMORY_REGION((ptr), (len))
#define UNPOISON(ptr, len) ASAN_UNPOISON_MEMORY_REGION((ptr), (len))
#else
#define POISON(ptr, len)   ((void)(ptr), (void)(len))
#define UNPOISON(ptr, len) ((void)(ptr), (void)(len))
#endif

static size_t round_up(size_t size)
{
    return (size + (ALIGNMENT - 1)) & ~(size_t)(ALIGNMENT - 1);
}

/* What an allocation takes of the arena; an empty one takes room too, since its address is its own. */
static size_t footprint(size_t size)
{
    return round_up(size ? size : 1);
}

void arena_init(struct arena *arena, size_t max_bytes)
{
    *arena = (struct arena){ .max_bytes = max_bytes && max_bytes < UNLIMITED ? round_up(max_bytes) : UNLIMITED };
}

static void free_chunks(struct arena_chunk *chunk)
{
    while (chunk) {
        struct arena_chunk *older = chunk->older;

        UNPOISON(chunk->data, chunk->size_bytes);
        memory_free(chunk);
        chunk = older;
    }
}

void arena_done(struct arena *arena)
{
    free_chunks(arena->chunks);
    arena_init(arena, arena->max_bytes);
}

void arena_reset(struct arena *arena)
{
    struct arena_chunk *largest = arena->chunks;

    arena->used_bytes = 0;
    arena->last = NULL;
    if (!largest)
        return;
    for (struct arena_chunk *chunk = largest->older; chunk; chunk = chunk->older)
        if (chunk->size_bytes > largest->size_bytes)
            largest = chunk;
    for (struct arena_chunk **link = &arena->chunks; *link; link = &(*link)->older) {
        if (*link == largest) {
            *link = largest->older;
            break;
        }
    }
    free_chunks(arena->chunks);
    largest->older = NULL;
    arena->chunks = largest;
    arena->next = largest->data;
    arena->end = largest->data + largest->size_bytes;
    POISON(largest->data, largest->size_bytes);
}

static int add_chunk(struct arena *arena, size_t needed, struct error *err)
{
    size_t size = arena->chunks ? MIN(arena->chunks->size_bytes * 2, MAX_CHUNK_GROWN) : FIRST_CHUNK;
    struct arena_chunk *chunk;

    size = MAX(size, needed);
    chunk = memory_alloc(sizeof(*chunk) + size, err);
    if (!chunk)
        return -1;
    chunk->older = arena->chunks;
    chunk->size_bytes = size;
    arena->chunks = chunk;
    arena->next = chunk->data;
    arena->end = chunk->data + size;
    POISON(chunk->data, size);
    return 0;
}

void *arena_alloc(struct arena *arena, size_t size_bytes, struct error *err)
{
    size_t size = footprint(MIN(size_bytes, UNLIMITED));
    char *ptr;

    if (UNLIKELY(size_bytes > UNLIMITED || size > arena->max_bytes - arena->used_bytes)) {
        error_set(err, ERR_LIMIT, "needs %zu more bytes, over the memory limit of %zu bytes for this work", size_bytes,
                  arena->max_bytes);
        return NULL;
    }
    if (UNLIKELY((size_t)(arena->end - arena->next) < size) && add_chunk(arena, size, err) < 0)
        return NULL;
    ptr = arena->next;
    arena->next += size;
    arena->last = ptr;
    arena->used_bytes += size;
    UNPOISON(ptr, size_bytes);
    return ptr;
}

void *arena_alloc_zero(struct arena *arena, size_t size_bytes, struct error *err)
{
    void *ptr = arena_alloc(arena, size_bytes, err);

    if (ptr)
        memset(ptr, 0, size_bytes);
    return ptr;
}

void *arena_alloc_array(struct arena *arena, size_t n, size_t item_bytes, struct error *err)
{
    size_t size;

    if (__builtin_mul_overflow(n, item_bytes, &size)) {
        error_set(err, ERR_LIMIT, "%zu items of %zu bytes do not fit in memory", n, item_bytes);
        return NULL;
    }
    return arena_alloc(arena, size, err);
}

void *arena_resize(struct arena *arena, void *ptr, size_t old_bytes, size_t new_bytes, struct error *err)
{
    void *moved;

    if (ptr && ptr == arena->last && new_bytes <= UNLIMITED) {
        size_t others = arena->used_bytes - footprint(old_bytes);
        size_t size = footprint(new_bytes);

        if (size <= arena->max_bytes - others && size <= (size_t)(arena->end - (char *)ptr)) {
            arena->next = (char *)ptr + size;
            arena->used_bytes = others + size;
            POISON(ptr, (size_t)(arena->end - (char *)ptr));
            UNPOISON(ptr, new_bytes);
            return ptr;
        }
    }
    if (ptr && new_bytes <= old_bytes)
        return ptr;
    moved = arena_alloc(arena, new_bytes, err);
    if (moved && old_bytes)
        memcpy(moved, ptr, old_bytes);
    return moved;
}

struct slice arena_copy(struct arena *arena, struct slice bytes, struct error *err)
{
    char *copy = arena_alloc(arena, bytes.len + 1, err);

    if (!copy)
        return (struct slice){ NULL, 0 };
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    copy[bytes.len] = '\0';
    return slice_of(copy, bytes.len);
}

char *arena_printf(struct arena *arena, struct error *err, const char *fmt, ...)
{
    va_list args;
    int len;
    char *text;

    va_start(args, fmt);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    text = arena_alloc(arena, len < 0 ? SIZE_MAX : (size_t)len + 1, err); /* -1: over 2 GiB */
    if (!text)
        return NULL;
    va_start(args, fmt);
    vsnprintf(text, (size_t)len + 1, fmt, args);
    va_end(args);
    return text;
}
