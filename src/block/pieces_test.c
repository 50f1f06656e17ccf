// SPDX-License-Identifier: Apache-2.0
#include "block/pieces.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/test.h"

static void fill(struct buffer *content, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buffer_append_byte(content, (char)(hash_mix64(i / 3) % 20));
}

TEST(pieces_of_any_length_come_back_the_same)
{
    static const size_t lengths[] = { 0, 1, PIECES_BYTES - 1, PIECES_BYTES, PIECES_BYTES + 1, 3 * PIECES_BYTES + 5 };
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct error err;

    CHECK_OK(packer_new(&packer, &err), &err);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        AUTO(buffer_done) struct buffer content, out;
        struct slice back;

        buffer_init(&content, 0);
        buffer_init(&out, 0);
        fill(&content, lengths[i]);
        CHECK_OK(pieces_pack(buffer_slice(&content), packer, &out, &err), &err);
        CHECK_OK(pieces_unpack(buffer_slice(&out), lengths[i], unpacker, &back, &err), &err);
        CHECK(slice_equal(back, buffer_slice(&content)));
    }
}

TEST(pieces_over_the_limit_are_refused_without_inflating_them)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    AUTO(buffer_done) struct buffer content, out;
    struct slice back;
    struct error err;

    CHECK_OK(packer_new(&packer, &err), &err);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    buffer_init(&content, 0);
    buffer_init(&out, 0);
    fill(&content, PIECES_BYTES);
    CHECK_OK(pieces_pack(buffer_slice(&content), packer, &out, &err), &err);
    CHECK_ERROR(pieces_unpack(buffer_slice(&out), PIECES_BYTES - 1, unpacker, &back, &err), &err, ERR_CORRUPT);
    CHECK(unpacker_bytes(unpacker) < 1000);
}

TEST(pieces_that_do_not_fit_the_buffer_leave_it_as_it_was)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(buffer_done) struct buffer content, out;
    struct error err;

    CHECK_OK(packer_new(&packer, &err), &err);
    buffer_init(&content, 0);
    buffer_init(&out, PIECES_BYTES + 1000);
    fill(&content, 4 * PIECES_BYTES);
    buffer_append_text(&out, "before");
    CHECK_ERROR(pieces_pack(buffer_slice(&content), packer, &out, &err), &err, ERR_LIMIT);
    CHECK_TEXT(buffer_slice(&out), "before");
}

TEST(pieces_with_a_dictionary_are_damaged)
{
    /* magic, descriptor (single segment, dictionary of one byte), dictionary 9, content size 0, empty last block */
    static const char bytes[] = "\x28\xb5\x2f\xfd\x21\x09\x00\x01\x00\x00";
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct slice back;
    struct error err;

    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    CHECK_ERROR(pieces_unpack(slice_of(bytes, sizeof(bytes) - 1), 100, unpacker, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "dictionary 9");
}

TEST(pieces_header_names_what_is_wrong)
{
    struct slice rest = SLICE("\x01\x05\xff");
    struct slice nothing = SLICE("");
    struct error err;
    uint64_t number;

    CHECK_ERROR(pieces_next_version(&nothing, 1, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "is empty");
    CHECK_ERROR(pieces_next_version(&rest, 2, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "is of version 1, this program reads version 2");
    CHECK_OK(pieces_next_version(&rest, 1, &err), &err);
    CHECK_OK(pieces_next_number(&rest, "number of apples", 5, &number, &err), &err);
    CHECK_EQ(number, 5);
    CHECK_ERROR(pieces_next_number(&rest, "number of pears", 5, &number, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "no valid number for the number of pears");
    rest = SLICE("\x06");
    CHECK_ERROR(pieces_next_number(&rest, "number of apples", 5, &number, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "the number of apples is 6, it can be 5 at most");
    CHECK_EQ(number, 5);
}
