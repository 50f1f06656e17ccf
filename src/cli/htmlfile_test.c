// SPDX-License-Identifier: Apache-2.0
#include "cli/htmlfile.h"

#include "base/base64.h"
#include "base/test.h"
#include "flame/flamebytes.h"
#include "pack/unpacker.h"
#include "page/page.h"
#include "profile/random_profile_test.h"

/* What is between `before` and `behind` in a text. */
static struct slice between(struct slice text, struct slice before, struct slice behind)
{
    ptrdiff_t at = slice_find(text, before), end;

    CHECK(at >= 0);
    text = slice_sub(text, (size_t)at + before.len, SIZE_MAX);
    end = slice_find(text, behind);
    CHECK(end >= 0);
    return slice_sub(text, 0, (size_t)end);
}

/* The bytes that a page holds, unpacked; they belong to the unpacker. */
static struct slice data_of(struct slice html, struct slice before, struct arena *arena, struct unpacker *unpacker)
{
    struct slice text = between(html, before, SLICE("</script>")), plain;
    struct error err;
    char *bytes = arena_alloc(arena, BASE64_DECODED_BYTES(text.len), &err);
    size_t len, bad_at;

    CHECK(bytes && base64_decode(text, bytes, &len, &bad_at));
    CHECK_OK(unpacker_unwrap(unpacker, slice_of(bytes, len), 1 << 20, 1, &plain, &err), &err);
    return plain;
}

static bool has_page(void)
{
    struct slice html;
    struct error err;

    return page_offline(&html, &err) == 0;
}

TEST(htmlfile_writes_the_type_that_is_asked_for)
{
    struct random_options shape = random_shape(3);
    struct format_write_options options = { .type = 0, .title = SLICE("three") };
    struct unpacker *unpacker;
    struct flamebytes tree;
    struct batch batch;
    struct buffer out;
    struct arena arena;
    struct error err;

    if (!has_page())
        test_skip("impossible here: this program was built without its page");
    batch_init(&batch, NULL);
    random_batch(&batch, &shape);
    buffer_init(&out, 0);
    arena_init(&arena, 0);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    CHECK_OK(htmlfile_format.encode(&batch, &options, &out, &err), &err);
    CHECK_TEXT(between(buffer_slice(&out), SLICE("<title>"), SLICE("</title>")), "three");
    CHECK_OK(
        flamebytes_decode(data_of(buffer_slice(&out), SLICE("type=\"application/octet-stream\">"), &arena, unpacker),
                          &arena, &tree, &err),
        &err);
    CHECK_EQ(tree.total[0][0], profile_total(&batch.profiles[0], 0));
    CHECK_TEXT(tree.unit, tables_string(&batch.tables, batch.profiles[0].types[0].unit));
    unpacker_free(unpacker);
    arena_done(&arena);
    buffer_done(&out);
    batch_done(&batch);
}
