// SPDX-License-Identifier: Apache-2.0
#include "unwind/procmaps.h"

#include "base/test.h"

static const char text[] = "55d000000000-55d000001000 r--p 00000000 08:01 77   /usr/bin/my program\n"
                           "55d000001000-55d000009000 r-xp 00001000 08:01 77   /usr/bin/my program\n"
                           "7f0000000000-7f0000002000 rwxp 00000000 00:00 0 \n"
                           "7f0000001000-7f0000003000 r-xp 00000000 00:00 0    /overlaps\n"
                           "nonsense\n"
                           "7fff00000000-7fff00002000 r-xp 00000000 00:00 0    [vdso]\n"
                           "7fff00009000-7fff00008000 r-xp 00000000 00:00 0    [backwards]\n";

static int parse(void *context, struct error *err)
{
    struct procmaps maps;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = procmaps_parse(slice_from(context), &arena, &maps, err);
    arena_done(&arena);
    return result;
}

TEST(procmaps_has_the_lines_that_are_code)
{
    struct procmaps maps;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(procmaps_parse(slice_from(text), &arena, &maps, &err), &err);
    CHECK_EQ(maps.n, 3);
    CHECK_TEXT(maps.items[0].path, "/usr/bin/my program");
    CHECK_EQ(maps.items[0].offset, 0x1000);
    CHECK_TEXT(maps.items[1].path, "");
    CHECK(procmaps_find(&maps, 0x55d000000fff) == NULL);
    CHECK(procmaps_find(&maps, 0x55d000001000) == &maps.items[0]);
    CHECK(procmaps_find(&maps, 0x55d000008fff) == &maps.items[0]);
    CHECK(procmaps_find(&maps, 0x55d000009000) == NULL);
    CHECK(procmaps_find(&maps, 0x7fff00000001) == &maps.items[2]);
    CHECK(procmaps_find(&maps, UINT64_MAX) == NULL);
    arena_done(&arena);
}

TEST(procmaps_of_nothing_is_empty)
{
    struct procmaps maps;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(procmaps_parse(SLICE(""), &arena, &maps, &err), &err);
    CHECK_EQ(maps.n, 0);
    CHECK(procmaps_find(&maps, 0) == NULL);
    arena_done(&arena);
}

TEST(procmaps_reports_that_memory_ran_out)
{
    test_each_allocation_failing(parse, (void *)text);
}

TEST(procmaps_finds_the_code_that_runs)
{
    const struct procmap *map;
    struct procmaps maps;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(procmaps_read(&arena, &maps, &err), &err);
    map = procmaps_find(&maps, (uint64_t)(uintptr_t)&procmaps_read);
    CHECK(map != NULL);
    CHECK_HAS(map->path, "/test/unwind");
    arena_done(&arena);
}
