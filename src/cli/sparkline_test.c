// SPDX-License-Identifier: Apache-2.0
#include "cli/sparkline.h"

#include "base/test.h"

static const bool all_there[64] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};

static void check_line(const double *points, const bool *is_there, size_t n, size_t width, bool is_ascii,
                       const char *wanted)
{
    AUTO(buffer_done) struct buffer out;

    buffer_init(&out, 0);
    sparkline_print(points, is_there, n, &(struct sparkline_options){ width, is_ascii }, &out);
    buffer_append_byte(&out, '\0');
    CHECK_TEXT(out.data, wanted);
}

TEST(sparkline_shows_each_step)
{
    const double points[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

    check_line(points, all_there, 8, 80, false, "▁▂▃▄▅▆▇█");
    check_line(points, all_there, 8, 80, true, "_.:-=+*#");
}

TEST(sparkline_stands_on_zero)
{
    const double equal[] = { 5, 5, 5 }, high[] = { 90, 100 }, tiny[] = { 0, 0.001, 100 };

    check_line(equal, all_there, 3, 80, true, "###");
    check_line(high, all_there, 2, 80, true, "*#");
    /* What is not nothing does not look like it. */
    check_line(tiny, all_there, 3, 80, true, "_.#");
}

TEST(sparkline_of_nothing_but_zeros_is_flat)
{
    const double points[] = { 0, 0, 0 };

    check_line(points, all_there, 3, 80, true, "___");
}

TEST(sparkline_hangs_below_zero)
{
    const double points[] = { -7, 0, 7 };

    check_line(points, all_there, 3, 80, true, "_=#");
    check_line((const double[]){ -5, 0 }, all_there, 2, 80, true, "_#");
}

TEST(sparkline_leaves_gaps_blank)
{
    const double points[] = { 7, 0, 7, 0 };
    const bool is_there[] = { true, false, true, true };

    check_line(points, is_there, 4, 80, true, "# #_");
}

TEST(sparkline_fits_many_points_into_few_columns)
{
    const double points[] = { 0, 0, 7, 7, 3, 4, 0, 7 };
    const bool is_there[] = { true, true, true, true, false, false, true, false };

    check_line(points, all_there, 8, 4, true, "_#==");
    check_line(points, is_there, 8, 4, true, "_# _");
    check_line(points, all_there, 8, 1, true, "#");
    check_line(points, all_there, 8, 3, true, "_#+");
}

TEST(sparkline_of_no_points_is_empty)
{
    check_line(NULL, NULL, 0, 80, false, "");
    check_line((const double[]){ 1 }, all_there, 1, 0, false, "");
}

TEST(sparkline_knows_terminals_with_utf8)
{
    const char *const plain[] = { "LANG=C", NULL }, *const lang[] = { "TERM=x", "LANG=de_DE.UTF-8", NULL };
    const char *const over[] = { "LANG=de_DE.UTF-8", "LC_ALL=C", NULL };
    const char *const empty[] = { "LC_ALL=", "LC_CTYPE=C.utf8", NULL };
    const char *const none[] = { NULL };

    CHECK(!sparkline_has_utf8(plain));
    CHECK(sparkline_has_utf8(lang));
    CHECK(!sparkline_has_utf8(over));
    CHECK(sparkline_has_utf8(empty));
    CHECK(!sparkline_has_utf8(none));
}
