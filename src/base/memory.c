// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

/* More than this at once is refused without asking: no machine of ours has it, and the sanitizers' malloc would rather
 * abort than return NULL. */
#define MOST_BYTES ((size_t)1 << 39)

static _Thread_local uint64_t allocations;
static _Thread_local uint64_t failing_allocation;
static _Thread_local uint64_t allocated_bytes;

/* What is allocated now, over all threads, and the most that may be. Relaxed: each is a number of its own, nothing else
 * is published by it, and two threads that reach the limit together pass it by one allocation at most. */
static _Atomic int64_t used_bytes;
static _Atomic int64_t limit_bytes = INT64_MAX;

static bool fails_now(size_t size_bytes)
{
    allocated_bytes += size_bytes;
    return ++allocations == failing_allocation || size_bytes > MOST_BYTES;
}

/* Whether `size_bytes` more are within the limit; tells it if not. */
static bool is_within_limit(size_t size_bytes, struct error *err)
{
    int64_t limit = atomic_load_explicit(&limit_bytes, memory_order_relaxed);

    if ((int64_t)size_bytes <= limit - atomic_load_explicit(&used_bytes, memory_order_relaxed))
        return true;
    error_set(err, ERR_LIMIT, "needs %zu more bytes, over the memory limit of %lld bytes", size_bytes,
              (long long)limit);
    return false;
}

static void count(int64_t bytes)
{
    atomic_fetch_add_explicit(&used_bytes, bytes, memory_order_relaxed);
}

static void *counted(void *ptr, size_t size_bytes, struct error *err)
{
    if (ptr)
        count((int64_t)malloc_usable_size(ptr));
    else
        error_memory(err, size_bytes);
    return ptr;
}

void *memory_alloc(size_t size_bytes, struct error *err)
{
    bool fails = fails_now(size_bytes);

    if (!fails && !is_within_limit(size_bytes, err))
        return NULL;
    return counted(fails ? NULL : malloc(size_bytes ? size_bytes : 1), size_bytes, err);
}

void *memory_alloc_zero(size_t size_bytes, struct error *err)
{
    bool fails = fails_now(size_bytes);

    if (!fails && !is_within_limit(size_bytes, err))
        return NULL;
    return counted(fails ? NULL : calloc(1, size_bytes ? size_bytes : 1), size_bytes, err);
}

void *memory_realloc(void *ptr, size_t size_bytes, struct error *err)
{
    size_t before = ptr ? malloc_usable_size(ptr) : 0;
    bool fails = fails_now(size_bytes);
    void *moved;

    if (!fails && size_bytes > before && !is_within_limit(size_bytes - before, err))
        return NULL;
    moved = counted(fails ? NULL : realloc(ptr, size_bytes ? size_bytes : 1), size_bytes, err);
    if (moved)
        count(-(int64_t)before);
    return moved;
}

void memory_free(void *ptr)
{
    if (ptr)
        count(-(int64_t)malloc_usable_size(ptr));
    free(ptr);
}

void memory_set_limit(uint64_t max_bytes)
{
    atomic_store_explicit(&limit_bytes, max_bytes && max_bytes < INT64_MAX ? (int64_t)max_bytes : INT64_MAX,
                          memory_order_relaxed);
}

uint64_t memory_used_bytes(void)
{
    int64_t used = atomic_load_explicit(&used_bytes, memory_order_relaxed);

    return used > 0 ? (uint64_t)used : 0;
}

void memory_use_few_pools(void)
{
    mallopt(M_ARENA_MAX, 2);
}

void memory_trim(void)
{
    malloc_trim(0);
}

void memory_trim_above(uint64_t max_bytes)
{
    if (mallinfo2().fordblks > max_bytes)
        malloc_trim(0);
}

uint64_t memory_allocated_bytes(void)
{
    return allocated_bytes;
}

uint64_t memory_fail_at(uint64_t nth)
{
    uint64_t made = allocations;

    allocations = 0;
    failing_allocation = nth;
    return made;
}
