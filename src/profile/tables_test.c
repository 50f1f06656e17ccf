// SPDX-License-Identifier: Apache-2.0
#include "profile/tables.h"

#include "base/test.h"

TEST(tables_init_empty_passes_its_own_check)
{
    struct arena arena;
    struct tables tables;
    struct error err;
    uint32_t n;

    arena_init(&arena, 0);
    CHECK_OK(tables_init_empty(&tables, &arena, &err), &err);
    CHECK_OK(tables_check(&tables, &err), &err);
    tables_stack(&tables, 0, &n);
    CHECK_EQ(n, 0);
    CHECK(tables_find_label(&tables, 0, SLICE("x")) == NULL);
    arena_done(&arena);
}

TEST(tables_check_names_the_first_broken_reference)
{
    struct arena arena;
    struct tables tables;
    struct function functions[2] = { { 0 }, { .name = 1 } };
    uint32_t starts[3] = { 0, 0, 1 }, frames[1] = { 5 };
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(tables_init_empty(&tables, &arena, &err), &err);
    tables.functions = functions;
    tables.n_functions = 2;
    CHECK_ERROR(tables_check(&tables, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "function 1: string is 1, must be below 1");
    tables.n_functions = 1;
    tables.stack_starts = starts;
    tables.stack_frames = frames;
    tables.n_stacks = 2;
    CHECK_ERROR(tables_check(&tables, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "stack 1: end is 1");
    tables.n_stack_frames = 1;
    CHECK_ERROR(tables_check(&tables, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "frame is 5");
    arena_done(&arena);
}

TEST(frame_kinds_are_found_by_the_name_they_are_written_with)
{
    for (enum frame_kind kind = FRAME_NATIVE; kind <= FRAME_ABORT_MARKER; kind++)
        CHECK_EQ(frame_kind_find(slice_from(frame_kind_name(kind))), kind);
    CHECK_EQ(frame_kind_find(SLICE("cobol")), FRAME_UNKNOWN);
    CHECK_EQ(frame_kind_find(SLICE("")), FRAME_UNKNOWN);
}

TEST(tables_limit_depth_counts_inlined_functions_and_cuts_at_the_root_end)
{
    struct arena arena;
    struct tables tables;
    struct line lines[4] = { 0 };
    struct frame frames[3] = { { 0 }, { .n_lines = 3 }, { .n_lines = 1, .first_line = 3 } };
    uint32_t stack_frames[] = { 2, 1, 2, 1, 1 }, starts[] = { 0, 0, 3, 5 };
    struct error err;
    uint32_t n;

    arena_init(&arena, 0);
    CHECK_OK(tables_init_empty(&tables, &arena, &err), &err);
    tables.lines = lines;
    tables.n_lines = 4;
    tables.frames = frames;
    tables.n_frames = 3;
    tables.stack_frames = stack_frames;
    tables.n_stack_frames = 5;
    tables.stack_starts = starts;
    tables.n_stacks = 3;
    CHECK_EQ(tables_limit_depth(&tables, 6), 0);
    CHECK_EQ(tables_limit_depth(&tables, 4), 2);
    CHECK_OK(tables_check(&tables, &err), &err);
    CHECK_EQ(tables_stack(&tables, 1, &n)[0], 2);
    CHECK_EQ(n, 2);
    CHECK_EQ(tables_stack(&tables, 2, &n)[0], 1);
    CHECK_EQ(n, 1);
    CHECK_EQ(tables_limit_depth(&tables, 1), 1); /* a leaf is never cut away */
    CHECK_EQ(tables_stack(&tables, 2, &n)[0], 1);
    CHECK_EQ(n, 1);
    arena_done(&arena);
}
