// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include "base/memory.h"
#include "base/test.h"

TEST(arena_allocations_are_aligned_apart_and_stay)
{
    struct arena arena;
    struct error err;
    unsigned char *blocks[2000];

    arena_init(&arena, 0);
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
        blocks[i] = arena_alloc(&arena, i, &err);
        CHECK(blocks[i] && (uintptr_t)blocks[i] % 16 == 0);
        memset(blocks[i], (int)(i & 0xff), i);
    }
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        for (size_t j = 0; j < i; j++)
            CHECK_EQ(blocks[i][j], i & 0xff);
    arena_done(&arena);
}

TEST(arena_holds_its_maximum_and_not_a_byte_more)
{
    struct arena arena;
    struct error err = { .code = ERR_OK };

    arena_init(&arena, 1000); /* counts as 1008, the next multiple of 16 */
    CHECK(arena_alloc(&arena, 992, &err));
    CHECK(!arena_alloc(&arena, 17, &err));
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK_HAS(err.text, "17 more bytes");
    CHECK_HAS(err.text, "limit of 1008 bytes");
    CHECK(arena_alloc(&arena, 16, &err));
    CHECK(!arena_alloc(&arena, 1, &err));
    arena_reset(&arena);
    CHECK(arena_alloc(&arena, 1000, &err));
    arena_done(&arena);
}

TEST(arena_counts_what_tiny_allocations_really_take)
{
    struct arena arena;
    struct error err = { .code = ERR_OK };
    int n = 0;

    arena_init(&arena, 1600);
    while (arena_alloc(&arena, n % 2, &err) && n < 1000)
        n++;
    CHECK_EQ(n, 100);
    CHECK_EQ(err.code, ERR_LIMIT);
    arena_done(&arena);
}

TEST(arena_refuses_sizes_that_overflow)
{
    struct arena arena;
    struct error err = { .code = ERR_OK };

    arena_init(&arena, 0);
    CHECK(!arena_alloc(&arena, SIZE_MAX, &err));
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK(!arena_alloc_array(&arena, SIZE_MAX / 8 + 2, 8, &err));
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK_HAS(err.text, "items of 8 bytes");
    CHECK(!arena_resize(&arena, arena_alloc(&arena, 8, &err), 8, SIZE_MAX, &err));
    arena_done(&arena);
}

TEST(arena_resize_grows_the_newest_in_place_and_moves_others)
{
    struct arena arena;
    struct error err;
    char *first, *newest, *moved;

    arena_init(&arena, 0);
    first = arena_alloc(&arena, 16, &err);
    newest = arena_alloc(&arena, 16, &err);
    CHECK(first && newest);
    memcpy(first, "first", 6);
    memcpy(newest, "newest", 7);

    CHECK(arena_resize(&arena, newest, 16, 400, &err) == newest);
    CHECK_EQ(arena.used_bytes, 416);
    CHECK(arena_resize(&arena, newest, 400, 32, &err) == newest);
    CHECK_EQ(arena.used_bytes, 48);
    moved = arena_resize(&arena, first, 16, 64, &err);
    CHECK(moved && moved != first);
    CHECK_TEXT(moved, "first");
    CHECK_TEXT(newest, "newest");
    CHECK(arena_resize(&arena, first, 16, 8, &err) == first);
    CHECK(arena_resize(&arena, NULL, 0, 8, &err));
    arena_done(&arena);
}

TEST(arena_resize_respects_the_maximum)
{
    struct arena arena;
    struct error err = { .code = ERR_OK };
    char *block;

    arena_init(&arena, 160);
    block = arena_alloc(&arena, 100, &err);
    CHECK(block);
    CHECK(arena_resize(&arena, block, 100, 160, &err) == block);
    CHECK(!arena_resize(&arena, block, 160, 161, &err));
    CHECK_EQ(err.code, ERR_LIMIT);
    arena_done(&arena);
}

TEST(arena_reset_keeps_the_largest_chunk_so_that_a_loop_stops_allocating)
{
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    for (int round = 0; round < 3; round++) {
        memory_fail_at(0);
        for (int i = 0; i < 100; i++)
            CHECK(arena_alloc(&arena, 150, &err));
        CHECK_EQ(memory_fail_at(0), round == 0);
        arena_reset(&arena);
        CHECK_EQ(arena.used_bytes, 0);
    }
    CHECK(arena_alloc(&arena, 1 << 20, &err));
    arena_reset(&arena);
    memory_fail_at(0);
    CHECK(arena_alloc(&arena, 1 << 20, &err));
    CHECK_EQ(memory_fail_at(0), 0);
    arena_done(&arena);
    arena_done(&arena); /* twice is fine */
}

TEST(arena_copy_and_printf_end_in_a_nul)
{
    struct arena arena;
    struct error err;
    struct slice copy;
    char *text;

    arena_init(&arena, 0);
    copy = arena_copy(&arena, SLICE("a\0b"), &err);
    CHECK_TEXT(copy, SLICE("a\0b"));
    CHECK_EQ(copy.ptr[3], '\0');
    copy = arena_copy(&arena, (struct slice){ NULL, 0 }, &err);
    CHECK(copy.ptr && copy.len == 0 && copy.ptr[0] == '\0');
    text = arena_printf(&arena, &err, "%d-%s", 42, "x");
    CHECK_TEXT(text, "42-x");
    arena_done(&arena);
}

static int fill(void *context, struct error *err)
{
    struct arena arena;
    int result = 0;

    arena_init(&arena, 0);
    for (size_t size = 1; size < 100000 && result == 0; size *= 3) {
        struct slice copy = arena_copy(&arena, SLICE("text"), err);
        char *text = copy.ptr ? arena_printf(&arena, err, "%zu", size) : NULL;

        if (!text || !arena_resize(&arena, text, strlen(text) + 1, size + 20, err) ||
            !arena_alloc_zero(&arena, size, err))
            result = -1;
    }
    arena_done(&arena);
    return result;
}

TEST(arena_survives_any_failing_allocation)
{
    test_each_allocation_failing(fill, NULL);
}
