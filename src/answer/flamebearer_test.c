// SPDX-License-Identifier: Apache-2.0
#include "answer/flamebearer.h"

#include "pack/varint.h"
#include "profile/random_profile_test.h"

#include <stdlib.h>

static struct flame *flame_of(const char *const *stacks, const int64_t *values, uint32_t n)
{
    const uint32_t type = 0;
    struct batch batch;
    struct flame *flame;
    struct error err;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, n);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &flame, &err), &err);
    batch_done(&batch);
    return flame;
}

/* A tree of two columns: the left side and the right one. */
static struct flame *flame_of_two(const char *const *left, const int64_t *left_values, uint32_t n_left,
                                  const char *const *right, const int64_t *right_values, uint32_t n_right)
{
    const uint32_t type = 0;
    struct flame_builder *builder;
    struct batch batch;
    struct flame *flame;
    struct error err;

    CHECK_OK(flame_builder_new(NULL, 2, &builder, &err), &err);
    batch_init(&batch, NULL);
    letter_batch(&batch, left, left_values, n_left);
    CHECK_OK(flame_builder_add(builder, &batch.profiles[0], &type, 1, 0, &err), &err);
    batch_done(&batch);
    batch_init(&batch, NULL);
    letter_batch(&batch, right, right_values, n_right);
    CHECK_OK(flame_builder_add(builder, &batch.profiles[0], &type, 1, 1, &err), &err);
    batch_done(&batch);
    CHECK_OK(flame_builder_finish(builder, &flame, &err), &err);
    flame_builder_free(builder);
    return flame;
}

/* The JSON of a tree as /render writes it. */
static void check_json(const struct flame *flame, bool is_diff, const char *wanted)
{
    struct flamebearer bearer;
    struct buffer out;
    struct arena arena;
    struct json json;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    if (is_diff)
        CHECK_OK(flamebearer_from_diff(flame, &arena, &bearer, &err), &err);
    else
        CHECK_OK(flamebearer_from_flame(flame, &arena, &bearer, &err), &err);
    json_init(&json, &out, JSON_COMPACT);
    flamebearer_write_json(&bearer, &json);
    json_done(&json);
    CHECK_TEXT(buffer_slice(&out), wanted);
    buffer_done(&out);
    arena_done(&arena);
}

TEST(flamebearer_encodes_the_example_of_the_protocol)
{
    static const char *const stacks[] = { "ab", "a" };
    struct flame *flame = flame_of(stacks, (const int64_t[]){ 10, 20 }, 2);

    check_json(flame, false,
               "{\"names\":[\"total\",\"a\",\"b\"],\"levels\":[[0,30,0,0],[0,30,20,1],[20,10,10,2]],"
               "\"numTicks\":30,\"maxSelf\":20}");
    flame_free(flame);
}

TEST(flamebearer_orders_siblings_by_name_and_counts_from_the_end_of_the_one_before)
{
    /* By total, b would come before a. */
    static const char *const stacks[] = { "bx", "b", "a", "ay", "c" };
    struct flame *flame = flame_of(stacks, (const int64_t[]){ 100, 50, 3, 4, 5 }, 5);

    check_json(flame, false,
               "{\"names\":[\"total\",\"a\",\"b\",\"c\",\"x\",\"y\"],\"levels\":[[0,162,0,0],"
               "[0,7,3,1,0,150,50,2,0,5,5,3],[3,4,4,5,50,100,100,4]],\"numTicks\":162,\"maxSelf\":100}");
    flame_free(flame);
}

TEST(flamebearer_of_nothing_is_a_root_of_zero)
{
    struct flame *flame = flame_of(NULL, NULL, 0);
    struct buffer out;
    struct error err;

    check_json(flame, false, "{\"names\":[\"total\"],\"levels\":[[0,0,0,0]],\"numTicks\":0,\"maxSelf\":0}");
    buffer_init(&out, 0);
    CHECK_OK(flamebearer_write_tree(flame, &out, &err), &err);
    CHECK_EQ(out.len, 0);
    buffer_done(&out);
    flame_free(flame);
}

TEST(flamebearer_writes_negative_values_as_they_are)
{
    static const char *const stacks[] = { "a", "b", "c" };
    struct flame *flame = flame_of(stacks, (const int64_t[]){ 10, -4, 7 }, 3);

    check_json(flame, false,
               "{\"names\":[\"total\",\"a\",\"b\",\"c\"],\"levels\":[[0,13,0,0],"
               "[0,10,10,1,0,-4,-4,2,0,7,7,3]],\"numTicks\":13,\"maxSelf\":10}");
    flame_free(flame);
}

TEST(flamebearer_of_values_at_the_edge_wraps_without_overflow)
{
    static const char *const stacks[] = { "ab", "ac", "a" };
    struct flame *flame = flame_of(stacks, (const int64_t[]){ INT64_MAX, INT64_MAX, INT64_MAX }, 3);
    struct flamebearer bearer;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(flamebearer_from_flame(flame, &arena, &bearer, &err), &err);
    CHECK_EQ(bearer.total, INT64_MAX);
    CHECK_EQ(bearer.max_self, INT64_MAX);
    arena_done(&arena);
    flame_free(flame);
}

TEST(flamebearer_of_a_diff_has_both_sides_of_every_node)
{
    static const char *const left[] = { "ab", "a" }, *const right[] = { "ac", "d" };
    struct flame *flame = flame_of_two(left, (const int64_t[]){ 10, 20 }, 2, right, (const int64_t[]){ 5, 7 }, 2);

    check_json(flame, true,
               "{\"names\":[\"total\",\"a\",\"b\",\"c\",\"d\"],\"levels\":["
               "[0,30,0,0,12,0,0],"
               "[0,30,20,0,5,0,1,0,0,0,0,7,7,4],"
               "[20,10,10,0,0,0,2,0,0,0,0,5,5,3]],\"numTicks\":42,\"maxSelf\":20}");
    flame_free(flame);
}

TEST(flamebearer_of_a_diff_refuses_negative_values)
{
    static const char *const left[] = { "a" }, *const right[] = { "b" };
    struct flame *flame = flame_of_two(left, (const int64_t[]){ 10 }, 1, right, (const int64_t[]){ -1 }, 1);
    struct flamebearer bearer;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_ERROR(flamebearer_from_diff(flame, &arena, &bearer, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "the right side has negative values");
    arena_done(&arena);
    flame_free(flame);
}

TEST(flamebearer_writes_the_message_of_the_protocol)
{
    static const char *const stacks[] = { "ab", "a" };
    static const char wanted[] =
        "\x0a\x05total\x0a\x01"
        "a\x0a\x01"
        "b\x12\x06\x0a\x04\x00\x1e\x00\x00\x12\x06\x0a\x04\x00\x1e\x14\x01\x12\x06\x0a\x04\x14\x0a"
        "\x0a\x02\x18\x1e\x20\x14";
    struct flame *flame = flame_of(stacks, (const int64_t[]){ 10, 20 }, 2);
    struct flamebearer bearer;
    struct rpcwriter writer;
    struct buffer out;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    CHECK_OK(flamebearer_from_flame(flame, &arena, &bearer, &err), &err);
    rpcwriter_init(&writer, RPC_PROTO, &out);
    flamebearer_write_message(&bearer, &writer);
    rpcwriter_done(&writer);
    CHECK_TEXT(buffer_slice(&out), slice_of(wanted, sizeof(wanted) - 1));
    buffer_clear(&out);
    rpcwriter_init(&writer, RPC_JSON, &out);
    flamebearer_write_message(&bearer, &writer);
    rpcwriter_done(&writer);
    CHECK_TEXT(buffer_slice(&out),
               "{\"names\":[\"total\",\"a\",\"b\"],\"levels\":[{\"values\":[\"0\",\"30\",\"0\",\"0\"]},"
               "{\"values\":[\"0\",\"30\",\"20\",\"1\"]},{\"values\":[\"20\",\"10\",\"10\",\"2\"]}],"
               "\"total\":\"30\",\"maxSelf\":\"20\"}");
    buffer_done(&out);
    arena_done(&arena);
    flame_free(flame);
}

TEST(flamebearer_takes_stacks_as_deep_as_they_come)
{
    char deep[1025];
    const char *stacks[] = { deep };
    struct flamebearer bearer;
    struct flame *flame;
    struct buffer out;
    struct arena arena;
    struct error err;

    for (size_t i = 0; i < sizeof(deep) - 1; i++)
        deep[i] = (char)('a' + i % 26);
    deep[sizeof(deep) - 1] = 0;
    flame = flame_of(stacks, (const int64_t[]){ 3 }, 1);
    arena_init(&arena, 0);
    buffer_init(&out, 0);
    CHECK_OK(flamebearer_from_flame(flame, &arena, &bearer, &err), &err);
    CHECK_EQ(bearer.n_levels, 1025);
    CHECK_EQ(bearer.levels[1024].n_values, FLAMEBEARER_WIDTH);
    CHECK_EQ(bearer.levels[1024].values[2], 3);
    CHECK_EQ(bearer.levels[1023].values[2], 0);
    CHECK_OK(flamebearer_write_tree(flame, &out, &err), &err);
    CHECK_EQ(out.len, 3 + 1024 * 4);
    buffer_done(&out);
    arena_done(&arena);
    flame_free(flame);
}

/* Every node lies where B1 says, told from the numbers alone as a client would. */
TEST(flamebearer_levels_nest_and_hold_every_node)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct random_options shape = random_shape(seed);
        const uint32_t type = 1;
        struct flamebearer bearer;
        struct batch batch;
        struct flame *flame;
        struct arena arena;
        struct error err;
        uint32_t n_nodes = 0;

        shape.has_negatives = false;
        batch_init(&batch, NULL);
        random_batch(&batch, &shape);
        CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &flame, &err), &err);
        arena_init(&arena, 0);
        CHECK_OK(flamebearer_from_flame(flame, &arena, &bearer, &err), &err);
        CHECK_EQ(bearer.n_levels, bearer.levels[0].n_values / 4 * bearer.n_levels);
        for (uint32_t level = 0; level < bearer.n_levels; level++) {
            const struct flamebearer_level *at = &bearer.levels[level];
            int64_t end = 0, sum = 0, children = 0;

            for (uint32_t i = 0; i < at->n_values; i += FLAMEBEARER_WIDTH) {
                CHECK(at->values[i] >= 0);
                end += at->values[i] + at->values[i + 1];
                sum += at->values[i + 1];
                children += at->values[i + 1] - at->values[i + 2];
                CHECK(at->values[i + 3] < bearer.n_names);
                n_nodes++;
            }
            CHECK(end <= bearer.total);
            if (level + 1 < bearer.n_levels) {
                int64_t below = 0;

                for (uint32_t i = 0; i < at[1].n_values; i += FLAMEBEARER_WIDTH)
                    below += at[1].values[i + 1];
                CHECK_EQ(below, children);
            }
            CHECK(sum <= bearer.total);
        }
        CHECK_EQ(n_nodes, flame->n_nodes);
        for (uint32_t i = 2; i < bearer.n_names; i++)
            CHECK(slice_compare(bearer.names[i - 1], bearer.names[i]) < 0);
        arena_done(&arena);
        flame_free(flame);
        batch_done(&batch);
    }
}

TEST(flamebearer_writes_trees_with_the_last_child_first)
{
    static const char *const stacks[] = { "a", "ab", "ac", "d" };
    struct flame *flame = flame_of(stacks, (const int64_t[]){ 1, 2, 300, 4 }, 4);
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    CHECK_OK(flamebearer_write_tree(flame, &out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), slice_of("\0\0\2"
                                            "\1d\4\0"
                                            "\1a\1\2"
                                            "\1c\254\2\0"
                                            "\1b\2\0",
                                            3 + 4 + 4 + 5 + 4));
    buffer_done(&out);
    flame_free(flame);
}

TEST(flamebearer_repairs_names_that_are_not_utf8)
{
    const char *const stacks[] = { "a\xff" };
    struct flame *flame = flame_of(stacks, (const int64_t[]){ 1 }, 1);
    struct flamebearer bearer;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(flamebearer_from_flame(flame, &arena, &bearer, &err), &err);
    CHECK_EQ(bearer.n_names, 3);
    CHECK_TEXT(bearer.names[2], "\xef\xbf\xbd");
    arena_done(&arena);
    flame_free(flame);
}

TEST(flamebearer_checks_how_many_nodes_are_asked_for)
{
    uint32_t max_nodes = 7;
    struct error err;

    CHECK_OK(flamebearer_max_nodes(0, &max_nodes, &err), &err);
    CHECK_EQ(max_nodes, 8192 + 1);
    CHECK_OK(flamebearer_max_nodes(1048576, &max_nodes, &err), &err);
    CHECK_EQ(max_nodes, 1048576 + 1);
    CHECK_ERROR(flamebearer_max_nodes(1048577, &max_nodes, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "max_nodes is 1048577, but it must be 1 to 1048576");
    CHECK_ERROR(flamebearer_max_nodes(-1, &max_nodes, &err), &err, ERR_INVALID);
    CHECK_EQ(max_nodes, 1048576 + 1);
}

static int make_both(void *context, struct error *err)
{
    const struct flame *flame = context;
    struct flamebearer bearer;
    struct buffer out;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    result = flamebearer_from_flame(flame, &arena, &bearer, err);
    if (result == 0)
        result = flamebearer_write_tree(flame, &out, err);
    buffer_done(&out);
    arena_done(&arena);
    return result;
}

TEST(flamebearer_survives_each_allocation_failing)
{
    static const char *const stacks[] = { "ab", "a\xff", "c" };
    struct flame *flame = flame_of(stacks, (const int64_t[]){ 10, 20, 5 }, 3);

    test_each_allocation_failing(make_both, flame);
    flame_free(flame);
}
