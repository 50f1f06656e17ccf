// SPDX-License-Identifier: Apache-2.0
#include "store/openwindows.h"

#include "base/hash.h"
#include "base/test.h"

struct tools {
    struct packer *packer;
    struct unpacker *unpacker;
    struct arena arena;
    struct buffer out;
    struct openwindows_builder builder;
};

static void tools_done(struct tools *tools)
{
    packer_free(tools->packer);
    unpacker_free(tools->unpacker);
    arena_done(&tools->arena);
    buffer_done(&tools->out);
    openwindows_builder_done(&tools->builder);
}

static int tools_init(struct tools *tools, struct error *err)
{
    *tools = (struct tools){ 0 };
    arena_init(&tools->arena, 0);
    buffer_init(&tools->out, 0);
    openwindows_builder_init(&tools->builder);
    if (packer_new(&tools->packer, err) < 0)
        return -1;
    return unpacker_new(&tools->unpacker, err);
}

static const int64_t base_ns = 1790000000000000000, step_ns = 10000000000;

/* Row `i`: fifty rows to a series, with some that no clock would tell of. */
struct sample_row {
    struct openwindows_row row;
    int64_t totals[3];
};

static void sample_row(uint32_t i, uint32_t n_types, struct sample_row *ret_row)
{
    uint64_t chance = hash_mix64(i + 1);

    *ret_row = (struct sample_row){ .row = { .series = 3 + i / 50 * 2,
                                             .n_types = n_types,
                                             .start_ns = base_ns + i % 50 * step_ns + (int64_t)(chance % 1000),
                                             .duration_ns = i % 7 ? step_ns : -(int64_t)i,
                                             .totals = ret_row->totals },
                                    .totals = { (int64_t)(chance % 90), (int64_t)(chance % 90) * 10000000,
                                                i % 11  ? -5
                                                : i % 2 ? INT64_MIN
                                                        : INT64_MAX } };
}

static int add_rows(struct tools *tools, uint32_t from, uint32_t until, uint32_t n_types, struct error *err)
{
    for (uint32_t i = from; i < until; i++) {
        struct sample_row sample;

        sample_row(i, n_types, &sample);
        if (openwindows_builder_add(&tools->builder, &sample.row, tools->packer, err) < 0)
            return -1;
    }
    return openwindows_builder_finish(&tools->builder, tools->packer, &tools->out, err);
}

/* Reads all chunks that may have rows in the range, and checks each row against the one that was added; how many there
 * were. */
static uint32_t check_rows(struct tools *tools, uint32_t first, uint32_t n_types, int64_t from_ns, int64_t until_ns)
{
    struct slice rest = buffer_slice(&tools->out);
    struct openwindows chunk;
    struct error err;
    uint32_t n = 0;
    bool has;

    for (;;) {
        CHECK_OK(openwindows_next(&rest, from_ns, until_ns, tools->unpacker, &tools->arena, &chunk, &has, &err), &err);
        if (!has)
            return n;
        CHECK_EQ(chunk.n_types, n_types);
        CHECK(chunk.n_rows > 0 && chunk.n_rows <= OPENWINDOWS_MAX_ROWS);
        for (uint32_t i = 0; i < chunk.n_rows; i++, n++) {
            struct sample_row sample;

            sample_row(first + n, n_types, &sample);
            CHECK_EQ(chunk.series[i], sample.row.series);
            CHECK_EQ(chunk.starts_ns[i], sample.row.start_ns);
            CHECK_EQ(chunk.durations_ns[i], sample.row.duration_ns);
            for (uint32_t type = 0; type < n_types; type++)
                CHECK_EQ(chunk.totals[(size_t)type * chunk.n_rows + i], sample.totals[type]);
        }
    }
}

TEST(openwindows_give_back_the_rows_they_were_given)
{
    static const uint32_t sizes[] = { 0, 1, 50, OPENWINDOWS_MAX_ROWS, OPENWINDOWS_MAX_ROWS + 1, 10000 };
    struct tools tools;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    for (uint32_t n_types = 0; n_types <= 3; n_types++)
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            buffer_clear(&tools.out);
            openwindows_builder_clear(&tools.builder, SIZE_MAX);
            CHECK_OK(add_rows(&tools, 0, sizes[i], n_types, &err), &err);
            CHECK_EQ(check_rows(&tools, 0, n_types, INT64_MIN, INT64_MAX), sizes[i]);
            CHECK_EQ(tools.out.len > 0, sizes[i] > 0);
        }
    tools_done(&tools);
}

TEST(openwindows_can_be_appended_to_each_other)
{
    struct tools tools;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_OK(add_rows(&tools, i * 60, (i + 1) * 60, 2, &err), &err);
        openwindows_builder_clear(&tools.builder, 0);
        CHECK_EQ(openwindows_builder_bytes(&tools.builder), 0);
    }
    CHECK_EQ(check_rows(&tools, 0, 2, INT64_MIN, INT64_MAX), 300);
    tools_done(&tools);
}

TEST(openwindows_pass_by_chunks_outside_of_a_range)
{
    struct tools tools;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    CHECK_OK(add_rows(&tools, 0, 20, 1, &err), &err);
    openwindows_builder_clear(&tools.builder, SIZE_MAX);
    CHECK_OK(add_rows(&tools, 20, 40, 1, &err), &err);
    CHECK_EQ(check_rows(&tools, 0, 1, base_ns - step_ns, base_ns), 0);
    CHECK_EQ(check_rows(&tools, 0, 1, base_ns, base_ns + step_ns), 20);
    CHECK_EQ(check_rows(&tools, 20, 1, base_ns + 20 * step_ns, INT64_MAX), 20);
    CHECK_EQ(check_rows(&tools, 0, 1, base_ns + 19 * step_ns, base_ns + 21 * step_ns), 40);
    CHECK_EQ(check_rows(&tools, 0, 1, base_ns + 40 * step_ns, INT64_MAX), 0);
    tools_done(&tools);
}

TEST(openwindows_are_small_where_clocks_are_steady)
{
    struct tools tools;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    for (uint32_t i = 0; i < 4000; i++)
        CHECK_OK(
            openwindows_builder_add(&tools.builder,
                                    &(struct openwindows_row){ .series = i / 40,
                                                               .n_types = 1,
                                                               .start_ns = base_ns + i % 40 * step_ns,
                                                               .duration_ns = step_ns,
                                                               .totals = &(int64_t){ (int64_t)(hash_mix64(i) % 90) } },
                                    tools.packer, &err),
            &err);
    CHECK_OK(openwindows_builder_finish(&tools.builder, tools.packer, &tools.out, &err), &err);
    CHECK(tools.out.len < 2 * 4000);
    tools_done(&tools);
}

TEST(openwindows_refuse_rows_of_another_shape)
{
    struct tools tools;
    struct sample_row sample;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    CHECK_OK(add_rows(&tools, 0, 10, 2, &err), &err);
    sample_row(10, 3, &sample);
    CHECK_ERROR(openwindows_builder_add(&tools.builder, &sample.row, tools.packer, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "adding a row of 3 types to windows of 2");
    tools_done(&tools);
}

TEST(openwindows_that_are_cut_off_or_changed_are_an_error_or_other_rows)
{
    struct tools tools;
    struct openwindows chunk;
    struct error err;
    bool has;

    CHECK_OK(tools_init(&tools, &err), &err);
    CHECK_OK(add_rows(&tools, 0, 100, 2, &err), &err);
    for (size_t len = 1; len < tools.out.len; len++) {
        struct slice rest = slice_of(tools.out.data, len);

        CHECK_ERROR(openwindows_next(&rest, INT64_MIN, INT64_MAX, tools.unpacker, &tools.arena, &chunk, &has, &err),
                    &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "windows of an open hour: ");
    }
    for (size_t i = 0; i < tools.out.len * 8; i++) {
        struct slice rest = buffer_slice(&tools.out);

        tools.out.data[i / 8] ^= (char)(1 << i % 8);
        while (openwindows_next(&rest, INT64_MIN, INT64_MAX, tools.unpacker, &tools.arena, &chunk, &has, &err) == 0 &&
               has)
            CHECK(chunk.n_rows <= OPENWINDOWS_MAX_ROWS);
        tools.out.data[i / 8] ^= (char)(1 << i % 8);
    }
    tools_done(&tools);
}

static int live(void *context, struct error *err)
{
    struct tools tools;
    struct openwindows chunk;
    struct slice rest;
    int result = tools_init(&tools, err);
    bool has;

    if (!result)
        result = add_rows(&tools, 0, OPENWINDOWS_MAX_ROWS + 10, 2, err);
    rest = buffer_slice(&tools.out);
    CHECK(result == 0 || rest.len == 0);
    for (has = true; !result && has;)
        result = openwindows_next(&rest, INT64_MIN, INT64_MAX, tools.unpacker, &tools.arena, &chunk, &has, err);
    tools_done(&tools);
    return result;
}

TEST(openwindows_survive_failing_allocations)
{
    test_each_allocation_failing(live, NULL);
}
