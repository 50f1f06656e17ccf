// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include "base/test.h"

static const struct table_column columns[] = { { "value", TABLE_RIGHT },
                                               { "unit", TABLE_LEFT },
                                               { "name", TABLE_LEFT } };

static void fill(struct table *table, struct arena *arena)
{
    table_init(table, arena, columns, ARRAY_LEN(columns));
    table_row(table, TABLE_PLAIN);
    table_printf(table, "%d", 5);
    table_cell(table, SLICE("ms"));
    table_cell(table, SLICE("main"));
    table_row(table, TABLE_RED);
    table_printf(table, "%d", 1234567);
    table_cell(table, SLICE("s"));
    table_cell(table, SLICE("gr\xc3\xbc\xc3\x9f\nend"));
}

TEST(table_aligns_columns_and_does_not_pad_the_last)
{
    struct arena arena;
    struct buffer out;
    struct table table;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    fill(&table, &arena);
    CHECK_OK(table_print(&table, false, &out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), "  value  unit  name\n"
                                   "      5  ms    main\n"
                                   "1234567  s     gr\xc3\xbc\xc3\x9f?end\n");
    buffer_done(&out);
    arena_done(&arena);
}

TEST(table_colours_whole_rows_only_when_asked)
{
    struct arena arena;
    struct buffer out;
    struct table table;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    fill(&table, &arena);
    CHECK_OK(table_print(&table, true, &out, &err), &err);
    CHECK_HAS(buffer_slice(&out), "\x1b[31m1234567");
    CHECK_HAS(buffer_slice(&out), "end\x1b[0m\n");
    buffer_done(&out);
    arena_done(&arena);
}

TEST(table_width_counts_characters_not_bytes)
{
    CHECK_EQ(table_width(SLICE("abc")), 3);
    CHECK_EQ(table_width(SLICE("\xc3\xbc\xe2\x82\xac")), 2);
    CHECK_EQ(table_width(SLICE("\xf0\x9f\x94\xa5")), 2);
    CHECK_EQ(table_width(SLICE("\xe6\xbc\xa2\xe5\xad\x97")), 4);
}

static int print_one(void *context, struct error *err)
{
    struct arena arena;
    struct buffer out;
    struct table table;
    int result;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    fill(&table, &arena);
    result = table_print(&table, false, &out, err);
    buffer_done(&out);
    arena_done(&arena);
    return result;
}

TEST(table_survives_any_failing_allocation)
{
    test_each_allocation_failing(print_one, NULL);
}

TEST(table_lets_no_control_character_through)
{
    struct buffer out;

    buffer_init(&out, 0);
    table_append_text(&out, SLICE("a\x1b[1m\xc2\x9b"
                                  "b\xc3\xbc\xc2"));
    CHECK_TEXT(buffer_slice(&out), "a?[1m?b\xc3\xbc\xc2");
    buffer_done(&out);
}
