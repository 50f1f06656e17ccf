// SPDX-License-Identifier: Apache-2.0
#include "block/headrow.h"

#include "base/memory.h"
#include "base/test.h"
#include "block/random_row_test.h"
#include "pack/varint.h"

/* A row of every kind there is. */
static struct row_options options_of(uint64_t seed)
{
    static const uint32_t lengths[] = { 0, 1, 2, 24, 25, 300, 5000 };
    uint64_t state = seed;

    return (struct row_options){
        .seed = seed,
        .n_types = (uint32_t)(row_random(&state) % 5),
        .n_samples = lengths[row_random(&state) % ARRAY_LEN(lengths)],
        .n_stacks = row_random(&state) % 2 ? 20 : 100000000,
        .values = (enum row_values)(row_random(&state) % ROW_VALUES_COUNT),
        .has_label_sets = row_random(&state) % 2,
        .has_links = row_random(&state) % 2,
        .has_counts = row_random(&state) % 2,
    };
}

/* --- sorting --- */

static bool is_same_sample(const struct headrow *a, uint32_t i, const struct headrow *b, uint32_t k)
{
    return a->stacks[i] == b->stacks[k] && (!a->label_sets || a->label_sets[i] == b->label_sets[k]) &&
           (!a->links || a->links[i] == b->links[k]);
}

/* That every sample of `raw` is in `row`, and nothing else. */
static void check_sums(const struct headrow *row, const struct headrow *raw)
{
    for (uint32_t i = 0; i < row->n_samples; i++) {
        int64_t values[8] = { 0 };
        uint64_t count = 0, saturated = 0;
        uint32_t n_found = 0;

        for (uint32_t k = 0; k < raw->n_samples; k++) {
            if (!is_same_sample(row, i, raw, k))
                continue;
            n_found++;
            for (uint32_t type = 0; type < raw->n_types; type++)
                values[type] = value_add(values[type], raw->values[(size_t)type * raw->stride + k], &saturated);
            if (raw->counts && __builtin_add_overflow(count, raw->counts[k], &count))
                count = UINT64_MAX;
        }
        CHECK(n_found > 0);
        for (uint32_t type = 0; type < raw->n_types; type++)
            CHECK_EQ(row->values[(size_t)type * row->stride + i], values[type]);
        CHECK_EQ(row->counts ? row->counts[i] : 0, count);
    }
    for (uint32_t k = 0; k < raw->n_samples; k++) {
        uint32_t i = 0;

        while (i < row->n_samples && !is_same_sample(row, i, raw, k))
            i++;
        CHECK(i < row->n_samples);
    }
}

TEST(headrow_sort_orders_samples_and_adds_up_equal_ones)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        AUTO(arena_done) struct arena arena;
        struct row_options options = options_of(seed);
        struct headrow raw, row;

        arena_init(&arena, 0);
        options.n_samples = MIN(options.n_samples, 300u);
        raw = row_make(options, &arena);
        row = row_make_sorted(options, &arena);
        CHECK(headrow_is_sorted(&row));
        check_sums(&row, &raw);
    }
}

TEST(headrow_sort_leaves_a_sorted_row_alone)
{
    AUTO(arena_done) struct arena arena;
    uint32_t stacks[] = { 3, 3, 9 }, label_sets[] = { 1, 2, 0 };
    int64_t values[] = { 1, 2, 3 };
    struct headrow row = {
        .n_types = 1, .n_samples = 3, .stride = 3, .stacks = stacks, .label_sets = label_sets, .values = values
    };
    uint64_t saturated = 0;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(headrow_sort(&row, &arena, &saturated, &err), &err);
    CHECK_EQ(row.n_samples, 3);
    CHECK_EQ(arena.used_bytes, 0);
}

TEST(headrow_sort_counts_sums_that_reach_the_edge)
{
    AUTO(arena_done) struct arena arena;
    uint32_t stacks[] = { 7, 3, 7 };
    int64_t values[] = { INT64_MAX, 1, 5 };
    uint64_t counts[] = { UINT64_MAX, 1, 1 };
    struct headrow row = {
        .n_types = 1, .n_samples = 3, .stride = 3, .stacks = stacks, .values = values, .counts = counts
    };
    uint64_t saturated = 0;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(headrow_sort(&row, &arena, &saturated, &err), &err);
    CHECK_EQ(row.n_samples, 2);
    CHECK_EQ(row.stacks[1], 7);
    CHECK_EQ(row.values[1], INT64_MAX);
    CHECK_EQ(row.counts[1], UINT64_MAX);
    CHECK_EQ(saturated, 2);
}

/* --- bytes --- */

static struct headrow cpu_row(void)
{
    static uint32_t stacks[] = { 4, 5, 300 };
    static int64_t values[] = { 1, 3, 9, 10000000, 30000000, 90000000 };

    return (struct headrow){ .duration_ns = 5,
                             .period = -1,
                             .label_set = 2,
                             .n_types = 2,
                             .n_samples = 3,
                             .stride = 3,
                             .stacks = stacks,
                             .values = values };
}

TEST(headrow_total_adds_up_a_type_and_stays_at_the_edge)
{
    static int64_t values[] = { 1, 2, 90, INT64_MAX, 5, 90 };
    struct headrow row = { .n_types = 2, .n_samples = 2, .stride = 3, .values = values };

    CHECK_EQ(headrow_total(&row, 0), 3);
    CHECK_EQ(headrow_total(&row, 1), INT64_MAX);
    row.n_samples = 0;
    CHECK_EQ(headrow_total(&row, 1), 0);
}

TEST(headrow_encode_writes_the_bytes_that_the_header_describes)
{
    AUTO(buffer_done) struct buffer out;
    struct headrow row = cpu_row();

    buffer_init(&out, 0);
    headrow_encode(&row, &out);
    CHECK_TEXT(buffer_slice(&out), slice_of("\x01\x00\x0a\x01\x02\x02\x03" /* the head */
                                            "\x00\x01"                     /* type 0: a column, divisor 1 */
                                            "\x01\x80\xda\xc4\x09"         /* type 1: ten million times type 0 */
                                            "\x10\x06\x9f\x09\x12",        /* stacks, the last with a 9 behind it */
                                            19));
}

TEST(headrow_encode_divides_by_what_all_values_have_in_common)
{
    AUTO(buffer_done) struct buffer out;
    uint32_t stacks[] = { 1, 2, 3 };
    int64_t values[] = { INT64_MIN, 0, INT64_MIN };
    struct headrow row = { .n_types = 1, .n_samples = 3, .stride = 3, .stacks = stacks, .values = values };

    buffer_init(&out, 0);
    headrow_encode(&row, &out);
    CHECK_EQ(out.len, 7 + 10 + 6); /* the divisor is 2^62, in nine bytes; each quotient takes one */
}

static void check_round_trip(struct row_options options)
{
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena;
    struct headrow row, back;
    struct error err;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    row = row_make_sorted(options, &arena);
    headrow_encode(&row, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    CHECK_OK(headrow_decode(buffer_slice(&out), &arena, &back, &err), &err);
    CHECK_EQ(back.start_ns, 0);
    CHECK_EQ(back.sequence, 0);
    CHECK_EQ(back.n_links, row.n_links);
    CHECK_EQ(back.links == NULL, row.links == NULL);
    CHECK_EQ(back.label_sets == NULL, row.label_sets == NULL);
    CHECK_EQ(back.counts == NULL, row.counts == NULL);
    back.start_ns = row.start_ns;
    back.sequence = row.sequence;
    row_check_equal(&back, &row);
}

TEST(headrow_of_every_kind_comes_back_the_same)
{
    for (uint64_t seed = 0; seed < 400; seed++)
        check_round_trip(options_of(seed));
    check_round_trip((struct row_options){ .n_types = PROFILE_MAX_TYPES, .n_samples = 50, .n_stacks = 60 });
}

/* --- damage --- */

static void check_refused(struct slice bytes, enum error_code code, const char *words)
{
    AUTO(arena_done) struct arena arena;
    struct headrow row;
    struct error err;

    arena_init(&arena, 1 << 20);
    CHECK_ERROR(headrow_decode(bytes, &arena, &row, &err), &err, code);
    CHECK_HAS(err.text, "head row: ");
    CHECK_HAS(err.text, words);
}
#define CHECK_REFUSED(literal, code, words) check_refused(SLICE(literal), (code), (words))

TEST(headrow_cut_off_anywhere_is_damaged)
{
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena;
    struct headrow row;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    row = row_make_sorted((struct row_options){ .seed = 3,
                                                .n_types = 3,
                                                .n_samples = 40,
                                                .n_stacks = 30,
                                                .has_label_sets = true,
                                                .has_links = true,
                                                .has_counts = true },
                          &arena);
    headrow_encode(&row, &out);
    for (size_t len = 0; len < out.len; len++)
        check_refused(slice_of(out.data, len), ERR_CORRUPT, "");
    buffer_append_byte(&out, 0);
    check_refused(buffer_slice(&out), ERR_CORRUPT, "1 bytes too many, from byte");
}

TEST(headrow_decode_says_what_is_wrong_and_where)
{
    CHECK_REFUSED("\x01", ERR_CORRUPT, "cut off: 1 bytes, at least 2 are needed");
    CHECK_REFUSED("\x02\x00", ERR_VERSION, "is of version 2, this program reads version 1");
    CHECK_REFUSED("\x01\x08", ERR_CORRUPT, "flags at byte 1 are 0x08, of which only 0x07 have a meaning");
    CHECK_REFUSED("\x01\x00\x80", ERR_CORRUPT, "no valid number for the duration at byte 2");
    CHECK_REFUSED("\x01\x00\x00\x00\xff\xff\xff\xff\xff\x01", ERR_CORRUPT, "label set at byte 4 is 68719476735");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x41\x00", ERR_CORRUPT, "number of types at byte 5 is 65, it can be 64 at most");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x01\x02\x02\x00", ERR_CORRUPT, "at byte 7: type 0: is a multiple of");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x01\x00\x00\x00", ERR_CORRUPT, "divisor at byte 8 is 0");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x02\x00\x01\x04", ERR_CORRUPT,
                  "cut off: 2 samples, but only 1 bytes from byte 9");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x01\x00\x01\x80", ERR_CORRUPT,
                  "sample 1 of 1, at byte 9: no valid number for its stack");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x01\x00\x01\x80\x80\x80\x80\x80\x01", ERR_CORRUPT,
                  "sample 1 of 1, at byte 9: its stack does not fit 32 bits");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x01\x00\x01\x07", ERR_CORRUPT, "no valid number for its value");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x01\x00\x03\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ERR_CORRUPT,
                  "its value does not fit 64 bits");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x00\x01\x05", ERR_CORRUPT, "has a value, but the row has no types");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x02\x00\x01\x04\x00", ERR_CORRUPT,
                  "samples 1 and 2 of 2, both with stack 1, are out of order or the same");
    CHECK_REFUSED("\x01\x01\x00\x00\x00\x01\x02\x00\x01\x04\x00\x02\x01", ERR_CORRUPT, "are out of order");
    CHECK_REFUSED("\x01\x01\x00\x00\x00\x01\x01\x00\x01\x04\xff", ERR_CORRUPT,
                  "label sets from byte 10: number 1 of 1");
    CHECK_REFUSED("\x01\x02\x00\x00\x00\x01\x01\x00\x01\x04\x01\x00", ERR_CORRUPT,
                  "cut off: 1 links, but only 1 bytes from byte 11");
    CHECK_REFUSED("\x01\x02\x00\x00\x00\x01\x01\x00\x01\x04\x00\x01", ERR_CORRUPT, "sample 1 has link 1, there are 0");
    CHECK_REFUSED("\x01\x04\x00\x00\x00\x01\x01\x00\x01\x04\x80", ERR_CORRUPT, "counts from byte 10: number 1 of 1");
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x02\x01\x00\x01\x00\x03\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                  ERR_CORRUPT, "values of type 1 from byte 12: value 1 does not fit 64 bits");
}

TEST(headrow_that_claims_too_much_is_refused_before_memory_is_spent)
{
    AUTO(arena_done) struct arena arena;
    struct headrow row = { .n_samples = 77 };
    struct error err;

    arena_init(&arena, 0);
    CHECK_REFUSED("\x01\x00\x00\x00\x00\x01\x81\x80\x80\x08\x00\x01", ERR_CORRUPT,
                  "has 16777217 samples, at most 16777216 are allowed");
    CHECK_ERROR(headrow_decode(SLICE("\x01\x00\x00\x00\x00\x01\x80\x80\x80\x08\x00\x01"), &arena, &row, &err), &err,
                ERR_CORRUPT);
    CHECK_EQ(arena.used_bytes, 0);
    CHECK_EQ(row.n_samples, 77); /* untouched */
}

TEST(headrow_decode_stays_within_its_arena)
{
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena, small;
    struct headrow row;
    struct error err;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    arena_init(&small, 5000);
    row = row_make_sorted((struct row_options){ .n_types = 2, .n_samples = 300, .n_stacks = 100000 }, &arena);
    headrow_encode(&row, &out);
    CHECK_ERROR(headrow_decode(buffer_slice(&out), &small, &row, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "head row: needs");
}

TEST(headrow_can_be_cut_to_some_samples)
{
    AUTO(arena_done) struct arena arena;
    uint32_t stacks[] = { 1, 2, 3 }, label_sets[] = { 4, 5, 6 }, links[] = { 1, 0, 1 }, kept[] = { 0, 2 };
    int64_t values[] = { 10, 20, 30, 0, 100, 200, 300, 0 };
    uint64_t counts[] = { 7, 8, 9 };
    struct link link = { .span_id = { 1 } };
    struct headrow row = { .start_ns = 5,
                           .n_types = 2,
                           .n_samples = 3,
                           .stride = 4,
                           .stacks = stacks,
                           .values = values,
                           .n_links = 1,
                           .label_sets = label_sets,
                           .links = links,
                           .link_table = &link,
                           .counts = counts };
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(headrow_cut(&row, kept, 2, &arena, &err), &err);
    CHECK_EQ(row.start_ns, 5);
    CHECK_EQ(row.n_samples, 2);
    CHECK(row.stacks[0] == 1 && row.stacks[1] == 3);
    CHECK(row.values[0] == 10 && row.values[1] == 30);
    CHECK(row.values[row.stride] == 100 && row.values[row.stride + 1] == 300);
    CHECK(row.label_sets[1] == 6 && row.links[1] == 1 && row.counts[1] == 9);
    row.label_sets = row.links = NULL;
    row.counts = NULL;
    CHECK_OK(headrow_cut(&row, kept, 1, &arena, &err), &err);
    CHECK(!row.label_sets && !row.links && !row.counts);
}

TEST(headrow_says_at_a_look_whether_it_may_have_links)
{
    AUTO(buffer_done) struct buffer out;
    uint32_t stack = 1, link_number = 1;
    int64_t value = 1;
    struct link link = { .span_id = { 1, 2, 3, 4, 5, 6, 7, 8 } };
    struct headrow row = { .n_types = 1, .n_samples = 1, .stride = 1, .stacks = &stack, .values = &value };

    buffer_init(&out, 0);
    headrow_encode(&row, &out);
    CHECK(!headrow_may_have_links(buffer_slice(&out)));
    CHECK(!headrow_may_have_links(slice_sub(buffer_slice(&out), 0, 1)));
    row.links = &link_number;
    row.link_table = &link;
    row.n_links = 1;
    buffer_clear(&out);
    headrow_encode(&row, &out);
    CHECK(headrow_may_have_links(buffer_slice(&out)));
    CHECK_HAS(buffer_slice(&out), "\1\2\3\4\5\6\7\x08");
}

static int write_and_read(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena;
    uint32_t stacks[] = { 9, 3, 3 }, label_sets[] = { 1, 2, 1 }, links[] = { 1, 0, 1 };
    uint64_t counts[] = { 1, 2, 3 }, saturated = 0;
    int64_t values[] = { 1, 2, 3 };
    struct link link = { .span_id = { 1 } };
    struct headrow row = { .n_types = 1,
                           .n_samples = 3,
                           .stride = 3,
                           .stacks = stacks,
                           .values = values,
                           .n_links = 1,
                           .label_sets = label_sets,
                           .links = links,
                           .link_table = &link,
                           .counts = counts };
    struct headrow back;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    if (headrow_sort(&row, &arena, &saturated, err) < 0)
        return -1;
    headrow_encode(&row, &out);
    if (buffer_check(&out, err) < 0)
        return -1;
    arena_done(&arena);
    if (headrow_decode(buffer_slice(&out), &arena, &back, err) < 0)
        return -1;
    row_check_equal(&back, &row);
    return 0;
}

TEST(headrow_survives_any_allocation_failing)
{
    test_each_allocation_failing(write_and_read, NULL);
}
