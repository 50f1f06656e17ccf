// SPDX-License-Identifier: Apache-2.0
#include "wire/format.h"

#include "base/test.h"
#include "pack/packer.h"

static int read_text(struct slice bytes, const struct format *format, struct batch *batch,
                     const struct format **ret_format, struct error *err)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;

    batch_init(batch, NULL);
    if (unpacker_new(&unpacker, err) < 0)
        return -1;
    return format_read(bytes, format, unpacker, batch, ret_format, err);
}

TEST(format_names_are_found_and_unique)
{
    for (const struct format *format = formats; format->name; format++)
        CHECK(format_find(slice_from(format->name)) == format);
    CHECK(format_find(SLICE("nosuch")) == NULL);
    CHECK(format_find(SLICE("")) == NULL);
}

TEST(format_is_found_by_the_longest_ending_of_a_path)
{
    static const struct {
        const char *path, *name;
    } cases[] = {
        { "x.pb.gz", "pprof" },         { "x.pprof", "pprof" },          { "x.pb", "pprof" },
        { "x.otlp", "otlp" },           { "x.otlp.pb", "otlp" },         { "x.otlp.gz", "otlp" },
        { "x.otlp.json", "otlp-json" }, { "dir.pb/x.folded", "folded" }, { "x.folded.zst", "folded" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct format *format = format_find_by_path(slice_from(cases[i].path));

        CHECK(format != NULL);
        CHECK_TEXT(format->name, cases[i].name);
    }
    CHECK(format_find_by_path(SLICE("x")) == NULL);
    CHECK(format_find_by_path(SLICE("folded")) == NULL);
    CHECK(format_find_by_path(SLICE("-")) == NULL);
    CHECK(format_has_ending(format_find(SLICE("folded")), SLICE("x.folded")));
    CHECK(format_has_ending(format_find(SLICE("folded")), SLICE("x.folded.zst")));
    CHECK(!format_has_ending(format_find(SLICE("folded")), SLICE("x.pb.gz")));
    CHECK(!format_has_ending(format_find(SLICE("folded")), SLICE("x.gz")));
}

TEST(format_is_found_by_content_also_inside_compression)
{
    static const enum pack_kind kinds[] = { PACK_NONE, PACK_GZIP, PACK_ZSTD, PACK_LZ4 };
    AUTO(packer_freep) struct packer *packer = NULL;
    struct error err;

    CHECK_OK(packer_new(&packer, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct format *format;
        struct buffer packed;
        struct batch batch;

        buffer_init(&packed, 0);
        CHECK_OK(packer_pack(packer, kinds[i], 0, SLICE("main;work 3\nmain 1\n"), &packed, &err), &err);
        CHECK_OK(read_text(buffer_slice(&packed), NULL, &batch, &format, &err), &err);
        CHECK_TEXT(format->name, "folded");
        CHECK_EQ(profile_total(&batch.profiles[0], 0), 4);
        batch_done(&batch);
        buffer_done(&packed);
    }
}

TEST(format_unknown_bytes_are_told_with_what_they_begin_with)
{
    const struct format *format;
    struct batch batch;
    struct error err;

    CHECK_ERROR(read_text(SLICE("\x01\x02\xff"), NULL, &batch, &format, &err), &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "begins with 01 02 ff");
    CHECK_HAS(err.text, "pprof, otlp");
    batch_done(&batch);
    CHECK_ERROR(read_text(SLICE("<html>\n<body>"), NULL, &batch, &format, &err), &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "begins with '<html>'");
    batch_done(&batch);
    CHECK_ERROR(read_text(SLICE(" \n<!DOCTYPE html>\n<html>"), NULL, &batch, &format, &err), &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "it is a page (HTML) and no profile");
    batch_done(&batch);
    CHECK_ERROR(read_text(SLICE(""), NULL, &batch, &format, &err), &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "nothing in it");
    batch_done(&batch);
}

TEST(format_that_is_named_is_believed_over_content)
{
    const struct format *format;
    struct batch batch;
    struct error err;

    CHECK_ERROR(read_text(SLICE("main;work 3\n"), format_find(SLICE("pprof")), &batch, &format, &err), &err,
                ERR_CORRUPT);
    batch_done(&batch);
}

static int read_failing(void *context, struct error *err)
{
    const struct format *format;
    struct batch batch;
    int result = read_text(SLICE("main;work 3\nmain 1\n"), NULL, &batch, &format, err);

    batch_done(&batch);
    return result;
}

TEST(format_read_survives_any_failing_allocation)
{
    test_each_allocation_failing(read_failing, NULL);
}
