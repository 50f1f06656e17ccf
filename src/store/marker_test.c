// SPDX-License-Identifier: Apache-2.0
#include "store/marker.h"

#include "base/test.h"

static struct marker full_marker(void)
{
    return (struct marker){ .head = 3,
                            .replaces_below = 300,
                            .tombstone = UINT32_MAX,
                            .n_rows = 72000,
                            .n_samples = UINT64_MAX,
                            .bytes = 1ull << 40,
                            .made_ns = -5 };
}

static void check_equal(const struct marker *a, const struct marker *b)
{
    CHECK_EQ(a->head, b->head);
    CHECK_EQ(a->replaces_below, b->replaces_below);
    CHECK_EQ(a->tombstone, b->tombstone);
    CHECK_EQ(a->n_rows, b->n_rows);
    CHECK_EQ(a->n_samples, b->n_samples);
    CHECK_EQ(a->bytes, b->bytes);
    CHECK_EQ(a->made_ns, b->made_ns);
}

TEST(marker_reads_back_what_was_written)
{
    struct marker none = { .head = MARKER_NO_HEAD }, first = { .head = 0 }, full = full_marker(), got;
    const struct marker *all[] = { &none, &first, &full };
    AUTO(buffer_done) struct buffer bytes;
    struct error err;

    buffer_init(&bytes, 0);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        buffer_clear(&bytes);
        marker_encode(all[i], &bytes);
        CHECK_OK(buffer_check(&bytes, &err), &err);
        CHECK_OK(marker_decode(buffer_slice(&bytes), &got, &err), &err);
        check_equal(&got, all[i]);
        CHECK_EQ(got.hour, 0);
        CHECK_EQ(got.number, 0);
    }
}

TEST(marker_keeps_the_byte_layout_of_version_1)
{
    struct marker marker = {
        .head = 2, .replaces_below = 1, .n_rows = 300, .n_samples = 4, .bytes = 5, .tombstone = 6, .made_ns = -1
    };
    AUTO(buffer_done) struct buffer bytes;

    buffer_init(&bytes, 0);
    marker_encode(&marker, &bytes);
    CHECK_TEXT(buffer_slice(&bytes), SLICE("\x01\x03\x01\xac\x02\x04\x05\x06\x01"));
}

TEST(marker_refuses_what_is_cut_off_or_too_long)
{
    struct marker marker = full_marker(), got = { .n_rows = 77 };
    AUTO(buffer_done) struct buffer bytes;
    struct error err;

    buffer_init(&bytes, 0);
    marker_encode(&marker, &bytes);
    for (size_t len = 0; len < bytes.len; len++)
        CHECK_ERROR(marker_decode(slice_of(bytes.data, len), &got, &err), &err, ERR_CORRUPT);
    buffer_append_byte(&bytes, 0);
    CHECK_ERROR(marker_decode(buffer_slice(&bytes), &got, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "marker");
    CHECK_EQ(got.n_rows, 77);
}

TEST(marker_refuses_numbers_that_do_not_fit)
{
    /* head, then the rest; each of the 32-bit fields in turn is 2^32 */
    static const char *const bad[] = { "\x01\x80\x80\x80\x80\x10\0\0\0\0\0\0", "\x01\0\x80\x80\x80\x80\x10\0\0\0\0\0",
                                       "\x01\0\0\0\0\0\x80\x80\x80\x80\x10\0" };
    struct marker got;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_ERROR(marker_decode(slice_of(bad[i], 12), &got, &err), &err, ERR_CORRUPT);
}

TEST(marker_refuses_another_version)
{
    struct marker got;
    struct tally tally;
    struct error err;

    CHECK_ERROR(marker_decode(SLICE("\x02\0\0\0\0\0\0\0"), &got, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "version 2, this program knows 1");
    CHECK_ERROR(tally_decode(SLICE("\x02\0\0\0"), &tally, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "version 2, this program knows 1");
}

TEST(tally_reads_back_what_was_written_and_nothing_else)
{
    struct tally tally = { .n_rows = 1, .n_samples = UINT64_MAX, .bytes = 300 }, got;
    AUTO(buffer_done) struct buffer bytes;
    struct error err;

    buffer_init(&bytes, 0);
    tally_encode(&tally, &bytes);
    CHECK_OK(tally_decode(buffer_slice(&bytes), &got, &err), &err);
    CHECK_EQ(got.n_rows, 1);
    CHECK_EQ(got.n_samples, UINT64_MAX);
    CHECK_EQ(got.bytes, 300);
    for (size_t len = 0; len < bytes.len; len++)
        CHECK_ERROR(tally_decode(slice_of(bytes.data, len), &got, &err), &err, ERR_CORRUPT);
    buffer_append_byte(&bytes, 'x');
    CHECK_ERROR(tally_decode(buffer_slice(&bytes), &got, &err), &err, ERR_CORRUPT);
}
