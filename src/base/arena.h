// SPDX-License-Identifier: Apache-2.0
/* Memory for one piece of work (a request, a batch, a block), freed at once.
 *
 * A1  Allocations are 16-byte aligned and stay where they are until arena_reset or arena_done.
 * A2  The bytes handed out, each allocation rounded up to 16, never exceed the maximum given at birth (rounded up
 *     likewise); reaching it is ERR_LIMIT. Rounding is counted because tiny allocations are what hostile input makes.
 * A3  arena_reset keeps the largest chunk, so an arena used in a loop stops calling malloc. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    char *next;
    char *end;
    void *last;        /* the newest allocation: the only one that can grow in place */
    size_t used_bytes; /* handed out since the last reset, rounded as in A2 */
    size_t max_bytes;
};

/* An arena that holds at most `max_bytes` (0 = no limit). Allocates nothing yet. Thread: one at a time. */
void arena_init(struct arena *arena, size_t max_bytes);
void arena_done(struct arena *arena);
void arena_reset(struct arena *arena);

/* Uninitialised memory, or NULL with ERR_LIMIT or ERR_MEMORY. A size of 0 gives a valid pointer. */
MUST_CHECK void *arena_alloc(struct arena *arena, size_t size_bytes, struct error *err);
MUST_CHECK void *arena_alloc_zero(struct arena *arena, size_t size_bytes, struct error *err);
/* `n` items of `item_bytes`, the product checked for overflow. */
MUST_CHECK void *arena_alloc_array(struct arena *arena, size_t n, size_t item_bytes, struct error *err);
#define ARENA_ARRAY(arena, type, n, err) ((type *)arena_alloc_array((arena), (n), sizeof(type), (err)))
#define ARENA_NEW(arena, type, err)      ((type *)arena_alloc_zero((arena), sizeof(type), (err)))

/* Makes an allocation larger (in place where it was the newest) or smaller; returns where it is now. On failure the old
 * one stays valid. */
MUST_CHECK void *arena_resize(struct arena *arena, void *ptr, size_t old_bytes, size_t new_bytes, struct error *err);

/* A copy of the bytes, with a NUL behind them that is not counted. ptr is NULL on failure. */
MUST_CHECK struct slice arena_copy(struct arena *arena, struct slice bytes, struct error *err);
/* printf into the arena; NULL on failure. */
MUST_CHECK char *arena_printf(struct arena *arena, struct error *err, const char *fmt, ...) PRINTF(3, 4);
