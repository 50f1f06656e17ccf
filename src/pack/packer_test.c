// SPDX-License-Identifier: Apache-2.0
#include "pack/packer.h"

#include "base/test.h"
#include "pack/testdata_internal.h"
#include "pack/unpacker.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    enum pack_kind kind;
    int max_level;
} kinds[] = { { PACK_GZIP, 12 }, { PACK_ZLIB, 12 }, { PACK_ZSTD, 19 }, { PACK_LZ4, 12 } };

static struct packer *make_packer(void)
{
    struct packer *packer;
    struct error err;

    CHECK_OK(packer_new(&packer, &err), &err);
    return packer;
}

TEST(packer_writes_the_same_bytes_whatever_it_did_before)
{
    AUTO(packer_freep) struct packer *used = make_packer();
    struct buffer content, first, second;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&first, 0);
    buffer_init(&second, 0);
    testdata_append(&content, TESTDATA_TEXT, 50000);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (int level = 1; level <= kinds[k].max_level; level++) {
            AUTO(packer_freep) struct packer *fresh = make_packer();

            buffer_clear(&first);
            buffer_clear(&second);
            CHECK_OK(packer_pack(fresh, kinds[k].kind, level, buffer_slice(&content), &first, &err), &err);
            CHECK_OK(packer_pack(used, kinds[k].kind, level, buffer_slice(&content), &second, &err), &err);
            CHECK(slice_equal(buffer_slice(&first), buffer_slice(&second)));
        }
    }
    buffer_done(&content);
    buffer_done(&first);
    buffer_done(&second);
}

TEST(packer_makes_smaller_output_at_higher_levels)
{
    AUTO(packer_freep) struct packer *packer = make_packer();
    struct buffer content, low, high;
    struct error err;

    buffer_init(&content, 0);
    testdata_append(&content, TESTDATA_TEXT, 200000);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        buffer_init(&low, 0);
        buffer_init(&high, 0);
        CHECK_OK(packer_pack(packer, kinds[k].kind, 1, buffer_slice(&content), &low, &err), &err);
        CHECK_OK(packer_pack(packer, kinds[k].kind, kinds[k].max_level, buffer_slice(&content), &high, &err), &err);
        CHECK(high.len < low.len);
        CHECK(low.len < content.len);
        buffer_done(&low);
        buffer_done(&high);
    }
    buffer_done(&content);
}

TEST(packer_refuses_levels_that_do_not_exist)
{
    AUTO(packer_freep) struct packer *packer = make_packer();
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        int above = kinds[k].max_level + 1;
        char wanted[80];

        CHECK_ERROR(packer_pack(packer, kinds[k].kind, -1, SLICE("x"), &out, &err), &err, ERR_INVALID);
        CHECK_ERROR(packer_pack(packer, kinds[k].kind, above, SLICE("x"), &out, &err), &err, ERR_INVALID);
        snprintf(wanted, sizeof(wanted), "%s: level %d does not exist, levels are 1 to %d",
                 compress_kind_name(kinds[k].kind), above, above - 1);
        CHECK_TEXT(err.text, wanted);
    }
    CHECK_EQ(out.len, 0);
    buffer_done(&out);
}

TEST(packer_leaves_the_output_alone_when_it_is_full)
{
    AUTO(packer_freep) struct packer *packer = make_packer();
    struct error err;

    for (unsigned kind = 0; kind < PACK_KIND_COUNT; kind++) {
        struct buffer out;

        buffer_init(&out, 12);
        buffer_append_text(&out, "before");
        CHECK_ERROR(packer_pack(packer, kind, PACK_LEVEL_DEFAULT, SLICE("too much"), &out, &err), &err, ERR_LIMIT);
        CHECK_TEXT(buffer_slice(&out), "before");
        buffer_done(&out);
    }
}

TEST(packer_copies_when_told_not_to_compress)
{
    AUTO(packer_freep) struct packer *packer = make_packer();
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    CHECK_OK(packer_pack(packer, PACK_NONE, PACK_LEVEL_DEFAULT, SLICE("as it is"), &out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), "as it is");
    buffer_done(&out);
}

static void write_file(const char *name, struct slice bytes)
{
    char path[100];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", test_directory(), name);
    file = fopen(path, "wb");
    CHECK(file);
    CHECK_EQ(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    CHECK_EQ(fclose(file), 0);
}

static void read_file(const char *name, struct buffer *out)
{
    char path[100], chunk[4096];
    FILE *file;
    size_t n;

    snprintf(path, sizeof(path), "%s/%s", test_directory(), name);
    file = fopen(path, "rb");
    CHECK(file);
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        buffer_append(out, chunk, n);
    CHECK_EQ(fclose(file), 0);
}

/* Runs `tool` with `flags` in the test's directory, file `in` through a pipe to file `out`. */
static void run_tool(const char *tool, const char *flags, const char *in, const char *out)
{
    char command[200];

    snprintf(command, sizeof(command), "cd %s && cat %s | %s %s > %s", test_directory(), in, tool, flags, out);
    CHECK_EQ(system(command), 0);
}

/* Our output through the tool's reader; and the tool's output, written without knowing the size beforehand, through
 * ours. */
static void compare_with_tool(enum pack_kind kind, const char *tool)
{
    AUTO(packer_freep) struct packer *packer = make_packer();
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct buffer content, ours, theirs, back;
    struct slice unpacked;
    struct error err;
    char command[80];

    snprintf(command, sizeof(command), "command -v %s > /dev/null", tool);
    if (system(command) != 0)
        test_skip("no '%s' on this machine", tool);
    buffer_init(&content, 0);
    buffer_init(&ours, 0);
    buffer_init(&theirs, 0);
    buffer_init(&back, 0);
    testdata_append(&content, TESTDATA_TEXT, 700000);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);

    CHECK_OK(packer_pack(packer, kind, PACK_LEVEL_DEFAULT, buffer_slice(&content), &ours, &err), &err);
    write_file("ours", buffer_slice(&ours));
    run_tool(tool, "-dc", "ours", "back");
    read_file("back", &back);
    CHECK(slice_equal(buffer_slice(&back), buffer_slice(&content)));

    run_tool(tool, "-c", "back", "theirs");
    read_file("theirs", &theirs);
    CHECK_EQ(compress_sniff(buffer_slice(&theirs)), kind);
    CHECK_OK(unpacker_unwrap(unpacker, buffer_slice(&theirs), content.len, 1, &unpacked, &err), &err);
    CHECK(slice_equal(unpacked, buffer_slice(&content)));
    buffer_done(&content);
    buffer_done(&ours);
    buffer_done(&theirs);
    buffer_done(&back);
}

TEST(packer_and_the_gzip_tool_understand_each_other)
{
    compare_with_tool(PACK_GZIP, "gzip");
}

TEST(packer_and_the_zstd_tool_understand_each_other)
{
    compare_with_tool(PACK_ZSTD, "zstd");
}

TEST(packer_and_the_lz4_tool_understand_each_other)
{
    compare_with_tool(PACK_LZ4, "lz4");
}
