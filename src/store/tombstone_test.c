// SPDX-License-Identifier: Apache-2.0
#include "store/tombstone.h"

#include "base/test.h"

static struct tombstone make(const char *selector)
{
    struct tombstone tombstone = { .sequence = 4711, .from_ns = INT64_MIN, .until_ns = INT64_MAX, .made_ns = 12 };
    struct error err;

    if (selector)
        CHECK_OK(selector_new(slice_from(selector), &tombstone.selector, &err), &err);
    return tombstone;
}

static void encode(const struct tombstone *tombstone, struct buffer *bytes)
{
    struct error err;

    buffer_clear(bytes);
    tombstone_encode(tombstone, bytes);
    CHECK_OK(buffer_check(bytes, &err), &err);
}

TEST(tombstone_reads_back_what_was_written)
{
    struct tombstone tombstone = make("{service_name=\"api\", zone=~\"eu-.*\"}"), got;
    AUTO(buffer_done) struct buffer bytes;
    AUTO(buffer_done) struct buffer text;
    struct error err;

    buffer_init(&bytes, 0);
    buffer_init(&text, 0);
    encode(&tombstone, &bytes);
    CHECK_OK(tombstone_decode(buffer_slice(&bytes), &got, &err), &err);
    CHECK_EQ(got.sequence, 4711);
    CHECK_EQ(got.from_ns, INT64_MIN);
    CHECK_EQ(got.until_ns, INT64_MAX);
    CHECK_EQ(got.made_ns, 12);
    selector_text(got.selector, &text);
    CHECK_TEXT(buffer_slice(&text), "{service_name=\"api\", zone=~\"eu-.*\"}");
    tombstone_done(&got);
    CHECK(!got.selector);
    tombstone_done(&tombstone);
}

TEST(tombstone_without_a_selector_covers_everything)
{
    struct tombstone tombstone = make(NULL), got;
    AUTO(buffer_done) struct buffer bytes;
    struct error err;

    buffer_init(&bytes, 0);
    encode(&tombstone, &bytes);
    CHECK_OK(tombstone_decode(buffer_slice(&bytes), &got, &err), &err);
    CHECK(!got.selector);
    CHECK(tombstone_covers(&got, 0, 4710));
}

TEST(tombstone_refuses_what_is_cut_off_or_too_long)
{
    struct tombstone tombstone = make("a=b"), got;
    AUTO(buffer_done) struct buffer bytes;
    struct error err;

    buffer_init(&bytes, 0);
    encode(&tombstone, &bytes);
    for (size_t len = 0; len < bytes.len; len++)
        CHECK_ERROR(tombstone_decode(slice_of(bytes.data, len), &got, &err), &err, ERR_CORRUPT);
    buffer_append_byte(&bytes, ' ');
    CHECK_ERROR(tombstone_decode(buffer_slice(&bytes), &got, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "cut off or damaged");
    tombstone_done(&tombstone);
}

TEST(tombstone_refuses_another_version_and_a_selector_that_is_none)
{
    struct tombstone got;
    struct error err;

    CHECK_ERROR(tombstone_decode(SLICE("\x07"), &got, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "version 7, this program knows 1");
    CHECK(tombstone_decode(SLICE("\x01\0\0\0\0\x02{{"), &got, &err) < 0);
    CHECK_HAS(err.text, "the selector of a tombstone");
}

TEST(tombstone_touches_what_starts_in_its_range_and_was_written_before)
{
    struct tombstone tombstone = { .from_ns = 100, .until_ns = 200, .sequence = 50 };

    CHECK(tombstone_covers(&tombstone, 100, 49));
    CHECK(tombstone_covers(&tombstone, 199, 0));
    CHECK(!tombstone_covers(&tombstone, 200, 0));
    CHECK(!tombstone_covers(&tombstone, 99, 0));
    CHECK(!tombstone_covers(&tombstone, 150, 50));
    CHECK(tombstone_overlaps(&tombstone, 0, 101));
    CHECK(!tombstone_overlaps(&tombstone, 0, 100));
    CHECK(tombstone_overlaps(&tombstone, 199, 300));
    CHECK(!tombstone_overlaps(&tombstone, 200, 300));
}

static int encode_and_decode(void *context, struct error *err)
{
    const struct tombstone *tombstone = context;
    AUTO(buffer_done) struct buffer bytes;
    struct tombstone got;

    buffer_init(&bytes, 0);
    tombstone_encode(tombstone, &bytes);
    if (buffer_check(&bytes, err) < 0 || tombstone_decode(buffer_slice(&bytes), &got, err) < 0)
        return -1;
    tombstone_done(&got);
    return 0;
}

TEST(tombstone_survives_every_failing_allocation)
{
    struct tombstone tombstone = make("{service_name=\"api\", zone=~\"eu-.*\"}");

    test_each_allocation_failing(encode_and_decode, &tombstone);
    tombstone_done(&tombstone);
}
