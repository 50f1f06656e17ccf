// SPDX-License-Identifier: Apache-2.0
#include "block/rollup.h"

#include "base/memory.h"
#include "base/test.h"
#include "block/pieces.h"
#include "block/random_row_test.h"
#include "pack/column.h"

#define MAX_STACKS 100000u

/* What the tests of bytes need, made once for each. */
struct tools {
    struct packer *packer;
    struct unpacker *unpacker;
    struct arena arena;
    struct buffer out;
};

static void tools_done(struct tools *tools)
{
    packer_free(tools->packer);
    unpacker_free(tools->unpacker);
    arena_done(&tools->arena);
    buffer_done(&tools->out);
}

static int tools_init(struct tools *tools, struct error *err)
{
    arena_init(&tools->arena, 0);
    buffer_init(&tools->out, 0);
    if (packer_new(&tools->packer, err) < 0)
        return -1;
    return unpacker_new(&tools->unpacker, err);
}

static struct row_options options_of(uint64_t seed)
{
    return (struct row_options){ .seed = seed,
                                 .n_types = 2,
                                 .n_samples = 300,
                                 .n_stacks = 500,
                                 .values = (enum row_values)(seed % 2 ? ROW_NOISE : ROW_COUNTS),
                                 .has_label_sets = seed % 3 == 0 };
}

/* --- adding up --- */

TEST(rollup_adds_rows_up_by_stack)
{
    static uint32_t stacks[] = { 3, 9, 2, 9 };
    static int64_t first[] = { 1, 2, 10, 20 }, second[] = { 5, 7, 50, 70 };
    struct headrow rows[] = {
        { .n_types = 2, .n_samples = 2, .stride = 2, .duration_ns = 100, .stacks = stacks, .values = first },
        { .n_types = 2, .n_samples = 2, .stride = 2, .duration_ns = 11, .stacks = stacks + 2, .values = second },
    };
    AUTO(rollup_builder_done) struct rollup_builder builder;
    AUTO(arena_done) struct arena arena;
    struct rollup rollup;
    struct error err;

    arena_init(&arena, 0);
    rollup_builder_init(&builder, 2);
    CHECK_OK(rollup_builder_add(&builder, 0, &rows[0], &err), &err);
    CHECK_OK(rollup_builder_add(&builder, 0, &rows[1], &err), &err);
    CHECK_OK(rollup_builder_add(&builder, 4, &rows[1], &err), &err);
    CHECK_OK(rollup_builder_finish(&builder, &arena, &rollup, &err), &err);
    CHECK_EQ(rollup.n_types, 2);
    CHECK_EQ(rollup.n_stacks, 3);
    CHECK_EQ(rollup.n_series, 2);
    CHECK_EQ(rollup.n_rows, 3);
    CHECK_EQ(rollup.duration_ns, 122);
    for (uint32_t i = 0; i < 3; i++) {
        static const uint32_t wanted_stacks[] = { 2, 3, 9 };
        static const int64_t wanted_sums[] = { 10, 1, 16, 100, 10, 160 };

        CHECK_EQ(rollup.stacks[i], wanted_stacks[i]);
        CHECK_EQ(rollup.sums[i], wanted_sums[i]);
        CHECK_EQ(rollup.sums[3 + i], wanted_sums[3 + i]);
    }
}

/* The sum over all rows, looked for sample by sample. */
static int64_t naive_sum(const struct headrow *rows, size_t n_rows, uint32_t stack, uint32_t type)
{
    uint64_t saturated = 0;
    int64_t sum = 0;

    for (size_t r = 0; r < n_rows; r++)
        for (uint32_t i = 0; i < rows[r].n_samples; i++)
            if (rows[r].stacks[i] == stack)
                sum = value_add(sum, rows[r].values[(size_t)type * rows[r].stride + i], &saturated);
    return sum;
}

TEST(rollup_of_many_rows_has_the_sums_of_all_samples)
{
    AUTO(rollup_builder_done) struct rollup_builder builder;
    AUTO(arena_done) struct arena arena;
    struct headrow rows[12];
    struct rollup rollup;
    struct error err;

    arena_init(&arena, 0);
    rollup_builder_init(&builder, 2);
    for (uint64_t i = 0; i < ARRAY_LEN(rows); i++) {
        rows[i] = row_make_sorted(options_of(i), &arena);
        CHECK_OK(rollup_builder_add(&builder, (uint32_t)i / 5, &rows[i], &err), &err);
    }
    CHECK_OK(rollup_builder_finish(&builder, &arena, &rollup, &err), &err);
    CHECK_EQ(rollup.n_series, 3);
    CHECK(rollup.n_stacks > 490 && rollup.n_stacks <= 500);
    for (uint32_t i = 0; i < rollup.n_stacks; i++) {
        CHECK(i == 0 || rollup.stacks[i - 1] < rollup.stacks[i]);
        for (uint32_t type = 0; type < 2; type++)
            CHECK_EQ(rollup.sums[(size_t)type * rollup.n_stacks + i],
                     naive_sum(rows, ARRAY_LEN(rows), rollup.stacks[i], type));
    }
}

TEST(rollup_of_roll_ups_has_the_sums_of_all_rows)
{
    AUTO(rollup_builder_done) struct rollup_builder builder, merged;
    AUTO(arena_done) struct arena arena;
    struct headrow rows[12];
    struct rollup rollup;
    struct error err;
    int64_t duration_ns = 0;

    arena_init(&arena, 0);
    rollup_builder_init(&builder, 2);
    rollup_builder_init(&merged, 2);
    for (uint64_t i = 0; i < ARRAY_LEN(rows); i++) {
        rows[i] = row_make_sorted(options_of(i), &arena);
        duration_ns += rows[i].duration_ns;
        for (size_t k = 0; k < (size_t)rows[i].stride * 2; k++)
            rows[i].values[k] %= 1000; /* those at the edge depend on the order */
        CHECK_OK(rollup_builder_add(&builder, 1, &rows[i], &err), &err);
        if (i % 4 != 3)
            continue;
        CHECK_OK(rollup_builder_finish(&builder, &arena, &rollup, &err), &err);
        CHECK_OK(rollup_builder_merge(&merged, &rollup, &err), &err);
        rollup_builder_clear(&builder, SIZE_MAX);
    }
    CHECK_OK(rollup_builder_finish(&merged, &arena, &rollup, &err), &err);
    CHECK_EQ(rollup.n_rows, ARRAY_LEN(rows));
    CHECK_EQ(rollup.duration_ns, duration_ns);
    for (uint32_t i = 0; i < rollup.n_stacks; i++)
        for (uint32_t type = 0; type < 2; type++)
            CHECK_EQ(rollup.sums[(size_t)type * rollup.n_stacks + i],
                     naive_sum(rows, ARRAY_LEN(rows), rollup.stacks[i], type));
    rollup.n_types = 1;
    CHECK_EQ(rollup_builder_merge(&merged, &rollup, &err), -1);
    CHECK_EQ(err.code, ERR_INVALID);
    CHECK_HAS(err.text, "a row of 1 types to a roll-up of 2");
}

TEST(rollup_counts_sums_that_reach_the_edge)
{
    uint32_t stack = 1;
    int64_t value = INT64_MIN;
    struct headrow row = {
        .n_types = 1, .n_samples = 1, .stride = 1, .duration_ns = INT64_MAX, .stacks = &stack, .values = &value
    };
    AUTO(rollup_builder_done) struct rollup_builder builder;
    AUTO(arena_done) struct arena arena;
    struct rollup rollup;
    struct error err;

    arena_init(&arena, 0);
    rollup_builder_init(&builder, 1);
    CHECK_OK(rollup_builder_add(&builder, 0, &row, &err), &err);
    CHECK_OK(rollup_builder_add(&builder, 0, &row, &err), &err);
    CHECK_OK(rollup_builder_finish(&builder, &arena, &rollup, &err), &err);
    CHECK_EQ(builder.saturated, 2);
    CHECK_EQ(rollup.sums[0], INT64_MIN);
    CHECK_EQ(rollup.duration_ns, INT64_MAX);
}

TEST(rollup_refuses_rows_of_another_shape)
{
    AUTO(rollup_builder_done) struct rollup_builder builder;
    struct headrow row = { .n_types = 3 };
    struct error err;

    rollup_builder_init(&builder, 2);
    CHECK_ERROR(rollup_builder_add(&builder, 0, &row, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "adding a row of 3 types to a roll-up of 2");
}

TEST(rollup_builder_is_empty_when_cleared_and_keeps_as_much_memory_as_it_may)
{
    AUTO(rollup_builder_done) struct rollup_builder builder;
    AUTO(arena_done) struct arena arena;
    struct headrow row;
    struct rollup rollup;
    struct error err;
    size_t bytes;

    arena_init(&arena, 0);
    row = row_make_sorted(options_of(0), &arena);
    rollup_builder_init(&builder, 2);
    CHECK_EQ(rollup_builder_bytes(&builder), 0);
    CHECK_OK(rollup_builder_add(&builder, 3, &row, &err), &err);
    bytes = rollup_builder_bytes(&builder);
    CHECK(bytes > row.n_samples * (16 + 4 + 16));
    rollup_builder_clear(&builder, bytes);
    CHECK_EQ(rollup_builder_bytes(&builder), bytes);
    CHECK_OK(rollup_builder_finish(&builder, &arena, &rollup, &err), &err);
    CHECK_EQ(rollup.n_stacks + rollup.n_rows + rollup.n_series + (uint64_t)rollup.duration_ns, 0);
    CHECK_OK(rollup_builder_add(&builder, 3, &row, &err), &err);
    CHECK_OK(rollup_builder_finish(&builder, &arena, &rollup, &err), &err);
    CHECK_EQ(rollup.sums[0], naive_sum(&row, 1, rollup.stacks[0], 0));
    CHECK_EQ(rollup.n_series, 1);
    rollup_builder_clear(&builder, bytes - 1);
    CHECK_EQ(rollup_builder_bytes(&builder), 0);
}

/* --- bytes --- */

static void check_equal(const struct rollup *got, const struct rollup *wanted)
{
    CHECK_EQ(got->n_types, wanted->n_types);
    CHECK_EQ(got->n_stacks, wanted->n_stacks);
    CHECK_EQ(got->n_series, wanted->n_series);
    CHECK_EQ(got->n_rows, wanted->n_rows);
    CHECK_EQ(got->duration_ns, wanted->duration_ns);
    for (uint32_t i = 0; i < wanted->n_stacks; i++)
        CHECK_EQ(got->stacks[i], wanted->stacks[i]);
    for (size_t i = 0; i < (size_t)wanted->n_stacks * wanted->n_types; i++)
        CHECK_EQ(got->sums[i], wanted->sums[i]);
}

/* A roll-up over `n_rows` random rows. */
static struct rollup make_rollup(struct row_options options, uint32_t n_rows, struct arena *arena)
{
    AUTO(rollup_builder_done) struct rollup_builder builder;
    struct rollup rollup = { 0 };
    struct error err;

    rollup_builder_init(&builder, options.n_types);
    for (uint32_t i = 0; i < n_rows; i++) {
        struct headrow row;

        options.seed = i;
        row = row_make_sorted(options, arena);
        CHECK_OK(rollup_builder_add(&builder, i, &row, &err), &err);
    }
    CHECK_OK(rollup_builder_finish(&builder, arena, &rollup, &err), &err);
    return rollup;
}

TEST(rollup_of_every_kind_comes_back_the_same)
{
    static const uint32_t sizes[] = { 1, 7, 300, 40000 };
    AUTO(tools_done) struct tools tools = { 0 };
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    for (uint32_t n_types = 0; n_types <= 3; n_types++) {
        for (unsigned values = 0; values < ROW_VALUES_COUNT; values++) {
            for (size_t size = 0; size < ARRAY_LEN(sizes); size++) {
                struct row_options options = {
                    .n_types = n_types, .n_samples = sizes[size], .n_stacks = 50000, .values = (enum row_values)values
                };
                struct rollup rollup = make_rollup(options, (uint32_t)size, &tools.arena), back;

                buffer_clear(&tools.out);
                CHECK_OK(rollup_encode(&rollup, tools.packer, &tools.out, &err), &err);
                CHECK_OK(
                    rollup_decode(buffer_slice(&tools.out), rollup.n_stacks, tools.unpacker, &tools.arena, &back, &err),
                    &err);
                check_equal(&back, &rollup);
                arena_reset(&tools.arena);
            }
        }
    }
}

TEST(rollup_begins_with_the_bytes_that_the_header_describes)
{
    AUTO(tools_done) struct tools tools = { 0 };
    uint32_t stacks[] = { 3, 5 };
    int64_t sums[] = { 1, 2, 7, 14 };
    struct rollup rollup = {
        .n_types = 2, .n_stacks = 2, .n_series = 9, .n_rows = 130, .duration_ns = -1, .stacks = stacks, .sums = sums
    };
    struct slice columns;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    CHECK_OK(rollup_encode(&rollup, tools.packer, &tools.out, &err), &err);
    CHECK_TEXT(slice_sub(buffer_slice(&tools.out), 0, 7), "\x01\x02\x02\x09\x82\x01\x01");
    CHECK_OK(pieces_unpack(slice_sub(buffer_slice(&tools.out), 7, SIZE_MAX), 100, tools.unpacker, &columns, &err),
             &err);
    CHECK_TEXT(columns, slice_of("\x05\x02\x02\x03\x00\x01"     /* stacks: differences of (stack - 3) / 2 */
                                 "\x00\x04\x02\x02\x02\x00\x01" /* type 0: (zigzag - 2) / 2 */
                                 "\x01\x0e",                    /* type 1: 7 times type 0 */
                                 15));
}

/* --- damage --- */

static void check_refused(struct slice bytes, struct tools *tools, enum error_code code, const char *words)
{
    struct rollup rollup;
    struct error err;

    CHECK_ERROR(rollup_decode(bytes, MAX_STACKS, tools->unpacker, &tools->arena, &rollup, &err), &err, code);
    CHECK_HAS(err.text, "roll-up: ");
    CHECK_HAS(err.text, words);
}

TEST(rollup_cut_off_anywhere_is_damaged)
{
    AUTO(tools_done) struct tools tools = { 0 };
    struct rollup rollup;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    rollup = make_rollup(options_of(1), 3, &tools.arena);
    CHECK_OK(rollup_encode(&rollup, tools.packer, &tools.out, &err), &err);
    for (size_t len = 0; len < tools.out.len; len++)
        check_refused(slice_of(tools.out.data, len), &tools, ERR_CORRUPT, "");
    buffer_append_byte(&tools.out, 0);
    check_refused(buffer_slice(&tools.out), &tools, ERR_CORRUPT, "zstd");
}

/* Bytes of a roll-up with the columns given as they are before compression. */
static struct slice put_together(struct tools *tools, struct slice head, struct slice columns)
{
    struct error err;

    buffer_clear(&tools->out);
    buffer_append_slice(&tools->out, head);
    CHECK_OK(pieces_pack(columns, tools->packer, &tools->out, &err), &err);
    return buffer_slice(&tools->out);
}

TEST(rollup_decode_says_what_is_wrong)
{
    struct slice head = SLICE("\x01\x01\x02\x01\x01\x00"); /* one type, two stacks */
    AUTO(tools_done) struct tools tools = { 0 };
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    check_refused(SLICE(""), &tools, ERR_CORRUPT, "is empty");
    check_refused(SLICE("\x02"), &tools, ERR_VERSION, "is of version 2, this program reads version 1");
    check_refused(SLICE("\x01\x41"), &tools, ERR_CORRUPT, "the number of types is 65, it can be 64 at most");
    check_refused(SLICE("\x01\x01\x80"), &tools, ERR_CORRUPT, "no valid number for the number of stacks");
    check_refused(SLICE("\x01\x01\xa1\x8d\x06\x01\x01\x00"), &tools, ERR_CORRUPT,
                  "has 100001 stacks, at most 100000 are allowed");
    check_refused(put_together(&tools, head, SLICE("\x04\x01\x01\x00\x07")), &tools, ERR_CORRUPT,
                  "the header says 2 stacks, the column has 1");
    check_refused(put_together(&tools, head, SLICE("\x00\x03\x01\x00")), &tools, ERR_CORRUPT,
                  "column: has 3 values, at most 2 are allowed");
    check_refused(put_together(&tools, head, SLICE("\x04\x02\x01\x00\x07\x07")), &tools, ERR_CORRUPT,
                  "stack 7, number 2 of 2, is not behind stack 7");
    check_refused(put_together(&tools, head, SLICE("\x04\x02\x01\x00\x07\x08")), &tools, ERR_CORRUPT,
                  "sums: type 0: no valid number");
    check_refused(put_together(&tools, head, SLICE("\x04\x02\x01\x00\x07\x08\x00\x00\x02\x01\x02\x09")), &tools,
                  ERR_CORRUPT, "1 bytes too many behind its columns");
}

TEST(rollup_that_inflates_to_more_than_its_header_allows_is_refused)
{
    AUTO(tools_done) struct tools tools = { 0 };
    AUTO(buffer_done) struct buffer zeros;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    buffer_init(&zeros, 0);
    for (size_t i = 0; i < 10000; i++)
        buffer_append_byte(&zeros, 0);
    check_refused(put_together(&tools, SLICE("\x01\x01\x02\x01\x01\x00"), buffer_slice(&zeros)), &tools, ERR_CORRUPT,
                  "zstd");
    CHECK(unpacker_bytes(tools.unpacker) < 1000);
}

TEST(rollup_that_does_not_fit_the_buffer_leaves_it_as_it_was)
{
    AUTO(tools_done) struct tools tools = { 0 };
    AUTO(buffer_done) struct buffer out;
    struct rollup rollup;
    struct error err;

    CHECK_OK(tools_init(&tools, &err), &err);
    buffer_init(&out, 100);
    buffer_append_text(&out, "before");
    rollup = make_rollup(options_of(1), 3, &tools.arena);
    CHECK_ERROR(rollup_encode(&rollup, tools.packer, &out, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "writing a roll-up of");
    CHECK_TEXT(buffer_slice(&out), "before");
}

static int write_and_read(void *context, struct error *err)
{
    AUTO(tools_done) struct tools tools = { 0 };
    AUTO(rollup_builder_done) struct rollup_builder builder;
    uint32_t stacks[] = { 1, 5, 700000 };
    int64_t values[] = { 1, 2, 3, 5, 5, 5 };
    struct headrow row = { .n_types = 2, .n_samples = 3, .stride = 3, .stacks = stacks, .values = values };
    struct rollup rollup, back;

    rollup_builder_init(&builder, 2);
    if (tools_init(&tools, err) < 0 || rollup_builder_add(&builder, 1, &row, err) < 0 ||
        rollup_builder_finish(&builder, &tools.arena, &rollup, err) < 0 ||
        rollup_encode(&rollup, tools.packer, &tools.out, err) < 0 ||
        rollup_decode(buffer_slice(&tools.out), 3, tools.unpacker, &tools.arena, &back, err) < 0)
        return -1;
    check_equal(&back, &rollup);
    return 0;
}

TEST(rollup_survives_any_allocation_failing)
{
    test_each_allocation_failing(write_and_read, NULL);
}
