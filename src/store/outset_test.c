// SPDX-License-Identifier: Apache-2.0
#include "store/outset.h"

#include "kv/kv_fixture_test.h"
#include "store/day_sample_test.h"

static struct storekey key_of(enum storekey_kind kind, uint32_t part)
{
    return storekey_block((struct storekey_block){
        .hour = 7, .kind = kind, .tenant = 1, .group = 1, .series = 1, .number = 0, .part = part });
}

/* Puts `n` values of three kinds in turn; value i of a kind is its number, and long. */
static int put_values(struct outset *outset, uint32_t n, struct error *err)
{
    static const enum storekey_kind kinds[] = { STOREKEY_WINDOWS, STOREKEY_SUMS, STOREKEY_GROUP_SLOT };
    struct storekey key = storekey_marker(7, 0);
    struct marker marker = { .head = MARKER_NO_HEAD };
    struct buffer bytes;
    char value[200];
    int result;

    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            struct storekey value_key = key_of(kinds[k], i);

            memset(value, 'a' + (char)(i % 26), sizeof(value));
            if (outset_put(outset, &value_key, slice_of(value, sizeof(value)), err) < 0)
                return -1;
        }
    buffer_init(&bytes, 0);
    marker_encode(&marker, &bytes);
    result = buffer_check(&bytes, err);
    if (!result)
        result = outset_put(outset, &key, buffer_slice(&bytes), err);
    buffer_done(&bytes);
    return result;
}

static void check_values(struct day_sample *sample, uint32_t n)
{
    static const enum storekey_kind kinds[] = { STOREKEY_WINDOWS, STOREKEY_SUMS, STOREKEY_GROUP_SLOT };
    struct buffer value;
    struct error err;
    bool is_found;

    buffer_init(&value, 0);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            struct storekey key = key_of(kinds[k], i);

            buffer_clear(&value);
            CHECK_OK(kv_get(sample->day->kv, sample->day->block_family, storekey_slice(&key), &value, &is_found, &err),
                     &err);
            CHECK(is_found);
            CHECK_EQ(value.len, 200);
            CHECK_EQ(value.data[199], 'a' + (char)(i % 26));
        }
    buffer_done(&value);
}

static bool is_empty(struct day_sample *sample)
{
    struct kv_iterator *iterator;
    struct error err;
    bool is_valid;

    CHECK_OK(kv_iterator_new(sample->day->kv, sample->day->block_family, NULL, SLICE(""), false, &iterator, &err),
             &err);
    is_valid = kv_iterator_is_valid(iterator);
    kv_iterator_free(iterator);
    return !is_valid;
}

TEST(outset_takes_in_what_was_put)
{
    /* In memory; spilled in the middle; spilled from the beginning. */
    static const size_t spill_bytes[] = { 1 << 20, 5000, 0 };

    for (size_t i = 0; i < ARRAY_LEN(spill_bytes); i++) {
        struct day_sample sample;
        struct outset outset;
        struct error err;
        uint64_t file_bytes = 0;
        bool is_unsure;

        day_sample_init(&sample);
        outset_init(&outset, sample.day, 7, spill_bytes[i]);
        CHECK_OK(put_values(&outset, 40, &err), &err);
        CHECK_EQ(outset.is_spilled, i > 0);
        CHECK_EQ(outset.bytes, 40 * 3 * (200 + 22) + 6 + 8); /* a marker of zeros has 8 bytes */
        CHECK(is_empty(&sample));
        CHECK_OK(outset_ingest(&outset, &file_bytes, &is_unsure, &err), &err);
        outset_done(&outset);
        CHECK(file_bytes > 40 * 3 * 200);
        check_values(&sample, 40);
        day_sample_reopen(&sample);
        check_values(&sample, 40);
        CHECK_EQ(kv_fixture_count_files(sample.scratch, ""), 0);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(sample.path, &err), &err);
    }
}

TEST(outset_that_is_given_up_leaves_nothing)
{
    static const size_t spill_bytes[] = { 1 << 20, 5000 };

    for (size_t i = 0; i < ARRAY_LEN(spill_bytes); i++) {
        struct day_sample sample;
        struct outset outset;
        struct error err;

        day_sample_init(&sample);
        outset_init(&outset, sample.day, 7, spill_bytes[i]);
        CHECK_OK(put_values(&outset, 40, &err), &err);
        CHECK_EQ(kv_fixture_count_files(sample.scratch, ".sst"), i ? 4 : 0);
        outset_done(&outset);
        CHECK(is_empty(&sample));
        CHECK_EQ(kv_fixture_count_files(sample.scratch, ""), 0);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(sample.path, &err), &err);
    }
}

TEST(outset_refuses_keys_that_do_not_rise)
{
    struct day_sample sample;
    struct outset outset;
    struct storekey second = key_of(STOREKEY_SUMS, 2), first = key_of(STOREKEY_SUMS, 1);
    struct error err;
    uint64_t file_bytes;
    bool is_unsure;

    day_sample_init(&sample);
    outset_init(&outset, sample.day, 7, 1 << 20);
    CHECK_OK(outset_put(&outset, &second, SLICE("2"), &err), &err);
    CHECK_OK(outset_put(&outset, &first, SLICE("1"), &err), &err);
    CHECK(outset_ingest(&outset, &file_bytes, &is_unsure, &err) < 0);
    CHECK(!is_unsure);
    outset_done(&outset);
    CHECK(is_empty(&sample));
    day_sample_done(&sample);
}

struct filling {
    struct day_sample sample;
    size_t spill_bytes;
};

static int fill_and_ingest(void *context, struct error *err)
{
    struct filling *filling = context;
    struct outset outset;
    uint64_t file_bytes;
    bool is_unsure;
    int result;

    outset_init(&outset, filling->sample.day, 7, filling->spill_bytes);
    result = put_values(&outset, 5, err);
    if (!result)
        result = outset_ingest(&outset, &file_bytes, &is_unsure, err);
    outset_done(&outset);
    return result;
}

TEST(outset_survives_failing_allocations)
{
    struct filling filling = { .spill_bytes = 1 << 20 };

    day_sample_init(&filling.sample);
    test_each_allocation_failing(fill_and_ingest, &filling);
    filling.spill_bytes = 400;
    test_each_allocation_failing(fill_and_ingest, &filling);
    check_values(&filling.sample, 5);
    CHECK_EQ(kv_fixture_count_files(filling.sample.scratch, ""), 0);
    day_sample_done(&filling.sample);
}
