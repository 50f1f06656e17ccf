// SPDX-License-Identifier: Apache-2.0
#include "answer/dot.h"

#include "base/test.h"
#include "wire/folded.h"

static void make_flame(const char *folded, struct flame **ret_flame)
{
    const uint32_t first_type = 0;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(folded_decode(slice_from(folded), &batch, &err), &err);
    CHECK_OK(flame_new(&batch.profiles[0], &first_type, 1, NULL, ret_flame, &err), &err);
    batch_done(&batch);
}

static void write_dot(const char *folded, struct dot_options options, struct buffer *out)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    struct error err;

    buffer_init(out, 0);
    make_flame(folded, &flame);
    CHECK_OK(dot_write_flame(flame, &options, out, &err), &err);
}

TEST(dot_shows_functions_with_their_share_and_the_calls_between_them)
{
    AUTO(buffer_done) struct buffer out;

    write_dot("main;work 30\nmain 10\n", (struct dot_options){ SLICE("cpu"), SLICE("count"), 0, 0 }, &out);
    CHECK_TEXT(buffer_slice(&out),
               "digraph \"cpu\" {\n"
               "node [style=filled fillcolor=\"#f8f8f8\"]\n"
               "subgraph cluster_L { \"cpu\" [shape=box fontsize=16 "
               "label=\"cpu\\lTotal: 40\\lShowing 2 of 2 functions\\l\"] }\n"
               "N1 [label=\"main\\n10 (25%)\\nof 40 (100%)\" id=\"node1\" fontsize=16 shape=box "
               "tooltip=\"main (40)\" color=\"#b20000\" fillcolor=\"#edd5d5\"]\n"
               "N2 [label=\"work\\n30 (75%)\" id=\"node2\" fontsize=22 shape=box "
               "tooltip=\"work (30)\" color=\"#b21818\" fillcolor=\"#edd8d8\"]\n"
               "N1 -> N2 [label=\" 30\" weight=76 penwidth=4 tooltip=\"main -> work (30)\" color=\"#b21818\"]\n"
               "}\n");
}

TEST(dot_writes_values_in_their_unit)
{
    AUTO(buffer_done) struct buffer out;

    write_dot("main 1500000000\n", (struct dot_options){ SLICE("cpu"), SLICE("nanoseconds"), 0, 0 }, &out);
    CHECK_HAS(buffer_slice(&out), "label=\"main\\n1.50s (100%)\"");
}

TEST(dot_of_nothing_is_empty)
{
    AUTO(buffer_done) struct buffer out;

    write_dot("main 0\n", (struct dot_options){ SLICE("cpu"), SLICE("count"), 0, 0 }, &out);
    CHECK_EQ(out.len, 0);
}

TEST(dot_shows_the_largest_functions_and_calls_between_those_alone)
{
    AUTO(buffer_done) struct buffer out;

    write_dot("main;big 30\nmain;small 1\n", (struct dot_options){ SLICE("cpu"), SLICE("count"), 0, 2 }, &out);
    CHECK_HAS(buffer_slice(&out), "Showing 2 of 3 functions");
    CHECK_HAS(buffer_slice(&out), "N1 -> N2 [");
    CHECK(slice_find(buffer_slice(&out), SLICE("small")) < 0);
    CHECK(slice_find(buffer_slice(&out), SLICE("N0")) < 0);
}

TEST(dot_shows_a_hundred_functions_unless_told_otherwise)
{
    AUTO(buffer_done) struct buffer folded, out;

    buffer_init(&folded, 0);
    for (int i = 0; i < 150; i++)
        buffer_printf(&folded, "main;f%d %d\n", i, 1000 - i);
    buffer_append_byte(&folded, '\0');
    write_dot(folded.data, (struct dot_options){ SLICE("cpu"), SLICE("count"), 0, 0 }, &out);
    CHECK_HAS(buffer_slice(&out), "Showing 100 of 151 functions");
    CHECK_HAS(buffer_slice(&out), "N100 [label=\"f98\\n");
    CHECK(slice_find(buffer_slice(&out), SLICE("N101")) < 0);
}

TEST(dot_escapes_names_so_that_no_name_ends_its_quotes)
{
    AUTO(buffer_done) struct buffer out;

    write_dot("op\"\\n\t\x01\xff\xc3\xa9 5\n", (struct dot_options){ SLICE("\"] }"), SLICE("count"), 0, 0 }, &out);
    CHECK_HAS(buffer_slice(&out), "label=\"op\\\"\\\\n  \xef\xbf\xbd\xc3\xa9\\n5 (100%)\"");
    CHECK_HAS(buffer_slice(&out), "digraph \"\\\"] }\" {\n");
}

TEST(dot_of_recursion_draws_no_arrow_to_itself)
{
    AUTO(buffer_done) struct buffer out;

    write_dot("a;a;b;a 5\n", (struct dot_options){ SLICE("cpu"), SLICE("count"), 0, 0 }, &out);
    CHECK(slice_find(buffer_slice(&out), SLICE("N1 -> N1")) < 0);
    CHECK_HAS(buffer_slice(&out), "N1 -> N2 [");
    CHECK_HAS(buffer_slice(&out), "N2 -> N1 [");
}

static int write_all(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer out;
    struct dot_options options = { SLICE("cpu"), SLICE("count"), 0, 0 };

    buffer_init(&out, 0);
    return dot_write_flame(context, &options, &out, err);
}

TEST(dot_says_so_when_memory_runs_out)
{
    AUTO(flame_freep) struct flame *flame = NULL;

    make_flame("main;work 30\nmain 10\n", &flame);
    test_each_allocation_failing(write_all, flame);
}

TEST(dot_that_does_not_fit_its_buffer_is_an_error)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    AUTO(buffer_done) struct buffer out;
    struct error err;

    buffer_init(&out, 100);
    make_flame("main;work 30\n", &flame);
    CHECK_ERROR(dot_write_flame(flame, &(struct dot_options){ SLICE("cpu"), SLICE("count"), 0, 0 }, &out, &err), &err,
                ERR_LIMIT);
}
