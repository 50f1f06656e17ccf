// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include "base/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

TEST(memory_fails_the_nth_allocation_and_only_that)
{
    struct error err = { .code = ERR_OK };
    void *first, *second, *third;

    memory_fail_at(2);
    first = memory_alloc(10, &err);
    second = memory_alloc_zero(4711, &err);
    CHECK_EQ(err.code, ERR_MEMORY);
    CHECK_HAS(err.text, "4711 bytes");
    third = memory_alloc(10, &err);
    CHECK(first && !second && third);
    CHECK_EQ(memory_fail_at(0), 3);
    memory_free(first);
    memory_free(third);
}

TEST(memory_realloc_that_fails_leaves_the_old_block)
{
    struct error err;
    char *block = memory_alloc(4, &err), *moved;

    CHECK(block);
    memcpy(block, "abc", 4);
    memory_fail_at(1);
    CHECK(!memory_realloc(block, 1000, &err));
    CHECK_TEXT(block, "abc");
    moved = memory_realloc(block, 1000, &err);
    CHECK(moved);
    CHECK_TEXT(moved, "abc");
    memory_free(moved);
}

TEST(memory_says_so_when_the_system_has_not_that_much)
{
    struct error err = { .code = ERR_OK };
    volatile size_t huge = SIZE_MAX / 2; /* volatile: the compiler would warn of the size */

    CHECK(!memory_alloc(huge, &err));
    CHECK_EQ(err.code, ERR_MEMORY);
}

TEST(memory_of_size_zero_is_a_pointer_of_its_own)
{
    struct error err;
    AUTO(memory_freep) void *a = memory_alloc(0, &err);
    AUTO(memory_freep) void *b = memory_alloc_zero(0, &err);
    AUTO(memory_freep) void *c = memory_realloc(NULL, 0, &err);

    CHECK(a && b && c && a != b && b != c && a != c);
}

TEST(memory_new_is_zeroed)
{
    struct error err;
    struct {
        uint64_t words[512];
    } * object;

    object = memory_alloc_zero(sizeof(*object), &err);
    CHECK(object);
    for (size_t i = 0; i < ARRAY_LEN(object->words); i++)
        CHECK_EQ(object->words[i], 0);
    memory_free(object);
}

TEST(memory_counts_the_bytes_a_thread_asked_for)
{
    struct error err;
    uint64_t before = memory_allocated_bytes();
    void *block = memory_alloc(100, &err);

    CHECK(block);
    memory_free(block);
    CHECK_EQ(memory_allocated_bytes() - before, 100);
}

TEST(memory_limit_holds_for_new_and_growing_allocations_until_something_is_freed)
{
    uint64_t before = memory_used_bytes();
    struct error err;
    char *a, *b;

    memory_set_limit(before + 100000);
    a = memory_alloc(60000, &err);
    CHECK(a != NULL);
    CHECK(memory_used_bytes() >= before + 60000);
    CHECK(memory_alloc_zero(60000, &err) == NULL);
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK_HAS(err.text, "over the memory limit");
    b = memory_realloc(a, 90000, &err);
    CHECK(b != NULL);
    CHECK(memory_realloc(b, 120000, &err) == NULL);
    CHECK_EQ(err.code, ERR_LIMIT);
    memory_free(b);
    a = memory_alloc_zero(60000, &err);
    CHECK(a != NULL);
    memory_free(a);
    memory_set_limit(0);
    CHECK_EQ(memory_used_bytes(), before);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which have a malloc of their own */
/* The test's memory as the system counts it, in bytes. */
static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    CHECK(file && fscanf(file, "%*u %llu", &pages) == 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

TEST(memory_trim_above_gives_freed_memory_back_once_it_is_much)
{
    enum { N = 2000, SIZE = 16384 };
    void *blocks[N], *last;
    struct error err;
    uint64_t full;

    for (int i = 0; i < N; i++) {
        blocks[i] = memory_alloc(SIZE, &err);
        CHECK(blocks[i]);
        memset(blocks[i], i, SIZE);
    }
    /* What lies at the end keeps malloc from giving the rest back by itself. */
    last = memory_alloc(SIZE, &err);
    CHECK(last);
    full = resident_bytes();
    for (int i = 0; i < N; i++)
        memory_free(blocks[i]);
    memory_trim_above((uint64_t)1 << 40);
    CHECK(resident_bytes() > full - N / 4 * SIZE);
    memory_trim_above((uint64_t)1 << 20);
    CHECK(resident_bytes() < full - N / 4 * 3 * SIZE);
    memory_free(last);
}
#endif
