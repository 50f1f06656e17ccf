// SPDX-License-Identifier: Apache-2.0
/* The heap, behind one door: it has a limit for the whole process, and a test can make allocation N fail.
 *
 * All of hearth's own allocations go through here. Nothing is cleared unless the name says so. */
#pragma once

#include "base/error.h"

/* NULL with ERR_MEMORY in `err` when the memory cannot be had, with ERR_LIMIT when it would pass the limit. A size of 0
 * gives a unique, freeable pointer. Thread: any. */
MUST_CHECK void *memory_alloc(size_t size_bytes, struct error *err);
MUST_CHECK void *memory_alloc_zero(size_t size_bytes, struct error *err);
/* On failure `ptr` is untouched and still owned by the caller. */
MUST_CHECK void *memory_realloc(void *ptr, size_t size_bytes, struct error *err);
void memory_free(void *ptr);

/* A zeroed object of a type. */
#define MEMORY_NEW(type, err) ((type *)memory_alloc_zero(sizeof(type), (err)))

/* Cleans up a pointer declared with AUTO(memory_freep). */
static inline void memory_freep(void *ptr_to_ptr)
{
    memory_free(*(void **)ptr_to_ptr);
}

/* The most that may be allocated at one time, over all threads; 0 = no limit, which is how it begins. What is there
 * already stays. It counts what these functions hand out: not the moment in which a realloc that must copy holds both
 * blocks, and not what libc and libyaml allocate by themselves. Thread: any. */
void memory_set_limit(uint64_t max_bytes);
/* What is allocated now, as malloc counts it. */
uint64_t memory_used_bytes(void);

/* For programs whose memory has a limit, before their threads begin: malloc keeps few pools, which threads share. What is
 * freed in one pool serves no other, so many pools hold much that nobody uses. Thread: the first. */
void memory_use_few_pools(void);
/* Gives what malloc keeps for later back to the system: for after work that took much for a moment. Takes a millisecond or a
 * few. */
void memory_trim(void);
/* The same if it is more than `max_bytes`; looking takes less than a millisecond. Thread: any. */
void memory_trim_above(uint64_t max_bytes);

/* How many bytes this thread has asked for since it began; what it gave back is not taken off. */
uint64_t memory_allocated_bytes(void);

/* Test seam: the `nth` allocation of this thread from now (1 = the next one) fails, and every later one succeeds again.
 * 0 turns it off. Returns how many allocations this thread made since the last call. */
uint64_t memory_fail_at(uint64_t nth);
