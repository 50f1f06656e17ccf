// SPDX-License-Identifier: Apache-2.0
/* What holds for every kind of compression; what is special to one is in gzip_test.c, zstd_test.c and lz4_test.c. */
#include "pack/unpacker.h"

#include "base/memory.h"
#include "base/test.h"
#include "pack/packer.h"
#include "pack/testdata_internal.h"

#include <pthread.h>
#include <stdio.h>

#define MIB ((size_t)1 << 20)

static const enum pack_kind kinds[] = { PACK_GZIP, PACK_ZLIB, PACK_ZSTD, PACK_LZ4 };

static struct unpacker *make_unpacker(void)
{
    struct unpacker *unpacker;
    struct error err;

    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    return unpacker;
}

/* Appends `in`, packed, to `out`. */
static void pack(enum pack_kind kind, struct slice in, struct buffer *out)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    struct error err;

    CHECK_OK(packer_new(&packer, &err), &err);
    CHECK_OK(packer_pack(packer, kind, PACK_LEVEL_DEFAULT, in, out, &err), &err);
}

static void check_round_trip(struct packer *packer, struct unpacker *unpacker, enum pack_kind kind, struct slice in,
                             struct buffer *packed)
{
    struct error err;
    struct slice content;

    buffer_clear(packed);
    CHECK_OK(packer_pack(packer, kind, PACK_LEVEL_DEFAULT, in, packed, &err), &err);
    CHECK_OK(unpacker_unpack(unpacker, kind, buffer_slice(packed), in.len, &content, &err), &err);
    CHECK(slice_equal(content, in));
    for (size_t i = 0; i < UNPACKER_SPARE_BYTES; i++)
        CHECK_EQ(content.ptr[content.len + i], 0);
}

TEST(unpacker_gives_back_what_was_packed_at_every_size)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    AUTO(packer_freep) struct packer *packer = NULL;
    struct buffer content, packed;
    struct error err;

    CHECK_OK(packer_new(&packer, &err), &err);
    buffer_init(&packed, 0);
    for (unsigned shape = 0; shape < TESTDATA_SHAPE_COUNT; shape++) {
        buffer_init(&content, 0);
        testdata_append(&content, shape, MIB);
        for (size_t size = 0; size <= MIB; size = size < 260 ? size + 1 : size * 2 - 1)
            for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
                check_round_trip(packer, unpacker, kinds[k], slice_sub(buffer_slice(&content), 0, size), &packed);
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
            check_round_trip(packer, unpacker, kinds[k], buffer_slice(&content), &packed);
        buffer_done(&content);
    }
    buffer_done(&packed);
}

/* A copy that ends where its block of memory ends, so that a sanitizer sees a step outside. */
static char *copy_exact(struct slice bytes)
{
    struct error err;
    char *copy = memory_alloc(bytes.len, &err);

    CHECK(copy);
    memcpy(copy, bytes.ptr, bytes.len);
    return copy;
}

TEST(unpacker_says_where_a_body_was_cut_off)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer content, packed;
    struct slice unpacked = SLICE("untouched");
    struct error err;
    char wanted[64];

    buffer_init(&content, 0);
    buffer_init(&packed, 0);
    testdata_append(&content, TESTDATA_TEXT, 300);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        buffer_clear(&packed);
        pack(kinds[k], buffer_slice(&content), &packed);
        for (size_t cut = 0; cut < packed.len; cut++) {
            char *exact = copy_exact(slice_sub(buffer_slice(&packed), 0, cut));

            CHECK_ERROR(unpacker_unpack(unpacker, kinds[k], slice_of(exact, cut), MIB, &unpacked, &err), &err,
                        ERR_CORRUPT);
            snprintf(wanted, sizeof(wanted), "%s: truncated after %zu bytes", compress_kind_name(kinds[k]), cut);
            CHECK_TEXT(err.text, wanted);
            memory_free(exact);
        }
    }
    CHECK_TEXT(unpacked, "untouched");
    buffer_done(&content);
    buffer_done(&packed);
}

static void check_damaged(struct unpacker *unpacker, enum pack_kind kind, struct slice damaged, struct slice content)
{
    struct slice unpacked;
    struct error err = { .code = ERR_OK };
    char *exact = copy_exact(damaged);

    if (unpacker_unpack(unpacker, kind, slice_of(exact, damaged.len), 64 * MIB, &unpacked, &err) == 0) {
        CHECK(slice_equal(unpacked, content));
    } else {
        CHECK(err.code == ERR_CORRUPT || err.code == ERR_LIMIT || err.code == ERR_UNSUPPORTED);
        CHECK_HAS(err.text, compress_kind_name(kind));
    }
    memory_free(exact);
}

TEST(unpacker_never_takes_a_damaged_body_for_another_one)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer content, packed;

    buffer_init(&content, 0);
    buffer_init(&packed, 0);
    testdata_append(&content, TESTDATA_TEXT, 200);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        buffer_clear(&packed);
        pack(kinds[k], buffer_slice(&content), &packed);
        for (size_t i = 0; i < packed.len; i++) {
            char right = packed.data[i];

            for (unsigned wrong = 0; wrong < 256; wrong++) {
                packed.data[i] = (char)wrong;
                check_damaged(unpacker, kinds[k], buffer_slice(&packed), buffer_slice(&content));
            }
            packed.data[i] = right;
        }
        check_damaged(unpacker, kinds[k], buffer_slice(&packed), buffer_slice(&content));
    }
    buffer_done(&content);
    buffer_done(&packed);
}

TEST(unpacker_takes_content_of_exactly_the_limit_and_not_a_byte_more)
{
    static const size_t sizes[] = { 1, 100, 65536, 200000 };
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer content, packed;
    struct slice unpacked;
    struct error err;

    for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
        buffer_init(&content, 0);
        testdata_append(&content, TESTDATA_TEXT, sizes[s]);
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            buffer_init(&packed, 0);
            pack(kinds[k], buffer_slice(&content), &packed);
            CHECK_OK(unpacker_unpack(unpacker, kinds[k], buffer_slice(&packed), sizes[s], &unpacked, &err), &err);
            CHECK_EQ(unpacked.len, sizes[s]);
            CHECK_ERROR(unpacker_unpack(unpacker, kinds[k], buffer_slice(&packed), sizes[s] - 1, &unpacked, &err), &err,
                        ERR_LIMIT);
            CHECK_HAS(err.text, "inflates to more than the limit of ");
            buffer_done(&packed);
        }
        buffer_done(&content);
    }
}

TEST(unpacker_names_limits_in_round_units)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer content, packed;
    struct slice unpacked;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&packed, 0);
    testdata_append(&content, TESTDATA_ZEROS, 3 * MIB);
    pack(PACK_GZIP, buffer_slice(&content), &packed);
    CHECK_ERROR(unpacker_unpack(unpacker, PACK_GZIP, buffer_slice(&packed), 2 * MIB, &unpacked, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "gzip: inflates to more than the limit of 2MiB");
    CHECK_ERROR(unpacker_unpack(unpacker, PACK_GZIP, buffer_slice(&packed), 5120, &unpacked, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "gzip: inflates to more than the limit of 5KiB");
    CHECK_ERROR(unpacker_unpack(unpacker, PACK_GZIP, buffer_slice(&packed), 0, &unpacked, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "gzip: inflates to more than the limit of 0B");
    buffer_done(&content);
    buffer_done(&packed);
}

TEST(unpacker_stops_bombs_at_the_limit_with_bounded_memory)
{
    struct buffer content, packed;
    struct slice unpacked;
    struct error err;

    buffer_init(&content, 0);
    testdata_append(&content, TESTDATA_ZEROS, 64 * MIB);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();

        buffer_init(&packed, 0);
        pack(kinds[k], buffer_slice(&content), &packed);
        CHECK(packed.len < MIB);
        CHECK_ERROR(unpacker_unpack(unpacker, kinds[k], buffer_slice(&packed), MIB, &unpacked, &err), &err, ERR_LIMIT);
        CHECK(unpacker_bytes(unpacker) <= MIB + 64);
        buffer_done(&packed);
    }
    buffer_done(&content);
}

TEST(unpacker_passes_plain_input_through_without_a_copy)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct slice in = SLICE("main;work 1\n");
    struct slice content;
    struct error err;

    CHECK_OK(unpacker_unwrap(unpacker, in, MIB, UNPACKER_MAX_LAYERS, &content, &err), &err);
    CHECK(content.ptr == in.ptr && content.len == in.len);
    CHECK_OK(unpacker_unpack(unpacker, PACK_NONE, in, MIB, &content, &err), &err);
    CHECK(content.ptr == in.ptr && content.len == in.len);
    CHECK_OK(unpacker_unwrap(unpacker, (struct slice){ 0 }, MIB, UNPACKER_MAX_LAYERS, &content, &err), &err);
    CHECK_EQ(content.len, 0);
    CHECK_ERROR(unpacker_unwrap(unpacker, in, 5, UNPACKER_MAX_LAYERS, &content, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "12 bytes are more than the limit of 5B");
}

TEST(unpacker_leaves_spare_bytes_even_behind_no_content)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct slice skippable = SLICE("\x50\x2a\x4d\x18\x00\x00\x00\x00");
    struct slice content;
    struct error err;

    CHECK_OK(unpacker_unwrap(unpacker, skippable, MIB, UNPACKER_MAX_LAYERS, &content, &err), &err);
    CHECK_EQ(content.len, 0);
    for (size_t i = 0; i < UNPACKER_SPARE_BYTES; i++)
        CHECK_EQ(content.ptr[i], 0);
}

TEST(unpacker_unwraps_two_layers_and_no_more)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer layers[4];
    struct slice content;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(layers); i++)
        buffer_init(&layers[i], 0);
    testdata_append(&layers[0], TESTDATA_TEXT, 5000);
    pack(PACK_GZIP, buffer_slice(&layers[0]), &layers[1]);
    pack(PACK_ZSTD, buffer_slice(&layers[1]), &layers[2]);
    pack(PACK_LZ4, buffer_slice(&layers[2]), &layers[3]);
    CHECK_OK(unpacker_unwrap(unpacker, buffer_slice(&layers[1]), MIB, UNPACKER_MAX_LAYERS, &content, &err), &err);
    CHECK(slice_equal(content, buffer_slice(&layers[0])));
    CHECK_OK(unpacker_unwrap(unpacker, buffer_slice(&layers[2]), MIB, UNPACKER_MAX_LAYERS, &content, &err), &err);
    CHECK(slice_equal(content, buffer_slice(&layers[0])));
    CHECK_ERROR(unpacker_unwrap(unpacker, buffer_slice(&layers[3]), MIB, UNPACKER_MAX_LAYERS, &content, &err), &err,
                ERR_LIMIT);
    CHECK_TEXT(err.text, "gzip within 2 layers of compression, at most 2 layers are allowed");
    CHECK_OK(unpacker_unwrap(unpacker, buffer_slice(&layers[3]), MIB, 3, &content, &err), &err);
    CHECK(slice_equal(content, buffer_slice(&layers[0])));
    for (size_t i = 0; i < ARRAY_LEN(layers); i++)
        buffer_done(&layers[i]);
}

TEST(unpacker_says_in_which_layer_the_damage_is)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer packed;
    struct slice content;
    struct error err;

    buffer_init(&packed, 0);
    pack(PACK_ZSTD, SLICE("\x1f\x8b\x08 and no more"), &packed);
    CHECK_ERROR(unpacker_unwrap(unpacker, buffer_slice(&packed), MIB, 2, &content, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "layer 2 of compression: gzip: ");
    buffer_done(&packed);
}

TEST(unpacker_takes_parts_of_its_own_content_as_input)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer parts, packed;
    struct slice body, part;
    struct error err;
    size_t cut;

    buffer_init(&parts, 0);
    buffer_init(&packed, 0);
    pack(PACK_GZIP, SLICE("the first part"), &parts);
    cut = parts.len;
    pack(PACK_ZSTD, SLICE("the second part"), &parts);
    pack(PACK_GZIP, buffer_slice(&parts), &packed);
    CHECK_OK(unpacker_unpack(unpacker, PACK_GZIP, buffer_slice(&packed), MIB, &body, &err), &err);
    CHECK_OK(unpacker_unpack(unpacker, PACK_GZIP, slice_sub(body, 0, cut), MIB, &part, &err), &err);
    CHECK_TEXT(part, "the first part");
    CHECK_OK(unpacker_unpack(unpacker, PACK_ZSTD, slice_sub(body, cut, SIZE_MAX), MIB, &part, &err), &err);
    CHECK_TEXT(part, "the second part");
    buffer_done(&parts);
    buffer_done(&packed);
}

TEST(unpacker_allocates_nothing_once_warm)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer content, packed[ARRAY_LEN(kinds)];
    struct slice unpacked;
    struct error err;

    buffer_init(&content, 0);
    testdata_append(&content, TESTDATA_TEXT, 250000);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        buffer_init(&packed[k], 0);
        pack(kinds[k], buffer_slice(&content), &packed[k]);
        CHECK_OK(unpacker_unpack(unpacker, kinds[k], buffer_slice(&packed[k]), MIB, &unpacked, &err), &err);
    }
    memory_fail_at(0);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        CHECK_OK(unpacker_unpack(unpacker, kinds[k], buffer_slice(&packed[k]), MIB, &unpacked, &err), &err);
    CHECK_EQ(memory_fail_at(0), 0);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        buffer_done(&packed[k]);
    buffer_done(&content);
}

TEST(unpacker_gives_memory_back_when_trimmed)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = make_unpacker();
    struct buffer content, packed;
    struct slice unpacked;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&packed, 0);
    testdata_append(&content, TESTDATA_TEXT, MIB);
    pack(PACK_LZ4, buffer_slice(&content), &packed);
    for (int round = 0; round < 2; round++) {
        CHECK_OK(unpacker_unpack(unpacker, PACK_LZ4, buffer_slice(&packed), MIB, &unpacked, &err), &err);
        CHECK(slice_equal(unpacked, buffer_slice(&content)));
        unpacker_trim(unpacker, 2 * MIB);
        CHECK(unpacker_bytes(unpacker) >= MIB);
        unpacker_trim(unpacker, MIB / 2);
        CHECK_EQ(unpacker_bytes(unpacker), 0);
    }
    buffer_done(&content);
    buffer_done(&packed);
}

/* Runs on a thread of its own, where checks cannot fail a test: NULL if all went well. */
static void *unpack_on_thread(void *context)
{
    const struct buffer *packed = context;
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct slice content;
    struct error err;

    if (unpacker_new(&unpacker, &err) < 0)
        return context;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (unpacker_unpack(unpacker, kinds[k], buffer_slice(&packed[k]), MIB, &content, &err) < 0 ||
            !slice_is(content, "stacks"))
            return context;
    return NULL;
}

TEST(unpackers_work_side_by_side_on_many_threads)
{
    struct buffer packed[ARRAY_LEN(kinds)];
    pthread_t threads[4];
    void *problem;

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        buffer_init(&packed[k], 0);
        pack(kinds[k], SLICE("stacks"), &packed[k]);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, unpack_on_thread, packed), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        CHECK_EQ(pthread_join(threads[i], &problem), 0);
        CHECK(!problem);
    }
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        buffer_done(&packed[k]);
}

struct round_trip {
    enum pack_kind kind;
    struct slice content;
};

static int pack_and_unpack(void *context, struct error *err)
{
    const struct round_trip *trip = context;
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    AUTO(buffer_done) struct buffer packed;
    struct slice unpacked;

    buffer_init(&packed, 0);
    if (packer_new(&packer, err) < 0 || unpacker_new(&unpacker, err) < 0)
        return -1;
    for (int round = 0; round < 2; round++) { /* the second one finds what the first has made */
        buffer_clear(&packed);
        if (packer_pack(packer, trip->kind, 9, trip->content, &packed, err) < 0 ||
            unpacker_unpack(unpacker, trip->kind, buffer_slice(&packed), 4 * MIB, &unpacked, err) < 0)
            return -1;
        CHECK(slice_equal(unpacked, trip->content));
    }
    return 0;
}

TEST(unpacker_and_packer_survive_any_failing_allocation)
{
    struct buffer content;

    buffer_init(&content, 0);
    testdata_append(&content, TESTDATA_TEXT, 100000);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        struct round_trip trip = { kinds[k], buffer_slice(&content) };

        test_each_allocation_failing(pack_and_unpack, &trip);
    }
    buffer_done(&content);
}

/* The way through an error allocates too. */
static int unpack_damaged(void *context, struct error *err)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct slice unpacked;

    if (unpacker_new(&unpacker, err) < 0)
        return -1;
    CHECK_EQ(unpacker_unpack(unpacker, PACK_GZIP, SLICE("\x1f\x8b\x08 and no more"), MIB, &unpacked, err), -1);
    return err->code == ERR_CORRUPT ? 0 : -1;
}

TEST(unpacker_explains_damage_or_lack_of_memory)
{
    test_each_allocation_failing(unpack_damaged, NULL);
}
