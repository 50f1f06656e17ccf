// SPDX-License-Identifier: Apache-2.0
/* A typed growable array on the heap: `VEC(struct label) labels = { 0 };`
 *
 * Items move when it grows, so keep indexes, not pointers. The maximum is the caller's `max` at each push, in items. */
#pragma once

#include "base/memory.h"

#include <string.h>

#define VEC(type)                                                                                                      \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t n;                                                                                                      \
        size_t capacity;                                                                                               \
    }

/* Room for `extra` more items; 0, or -1 with ERR_LIMIT (more than `max` items) or ERR_MEMORY. */
#define VEC_RESERVE(vec, extra, max, err)                                                                              \
    ((vec)->capacity - (vec)->n >= (size_t)(extra)                                                                     \
         ? 0                                                                                                           \
         : vec_grow((void **)&(vec)->items, &(vec)->capacity, (vec)->n, (extra), sizeof(*(vec)->items), (max), (err)))

/* Appends a zeroed item and gives its address, or NULL with the error set. */
#define VEC_PUSH(vec, max, err)                                                                                        \
    (VEC_RESERVE((vec), 1, (max), (err)) < 0                                                                           \
         ? NULL                                                                                                        \
         : (__typeof__((vec)->items))memset(&(vec)->items[(vec)->n++], 0, sizeof(*(vec)->items)))

/* `items + n` is not formed for an empty one: its items are NULL, and NULL + 0 is undefined in C. */
#define VEC_EACH(vec, item)                                                                                            \
    for (__typeof__((vec)->items) item = (vec)->items; (vec)->n > 0 && item < (vec)->items + (vec)->n; item++)

#define VEC_DONE(vec)                                                                                                  \
    do {                                                                                                               \
        memory_free((vec)->items);                                                                                     \
        (vec)->items = NULL;                                                                                           \
        (vec)->n = (vec)->capacity = 0;                                                                                \
    } while (0)

/* What VEC_RESERVE calls. */
MUST_CHECK int vec_grow(void **items, size_t *capacity, size_t n, size_t extra, size_t item_bytes, size_t max,
                        struct error *err);
