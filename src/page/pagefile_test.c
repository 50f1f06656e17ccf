// SPDX-License-Identifier: Apache-2.0
#include "page/pagefile.h"

#include "base/base64.h"
#include "base/test.h"
#include "pack/unpacker.h"
#include "page/page.h"

#define SHELL "<title>@TITLE@</title><script id=profile>@DATA@</script><script>'@TITLE@ @DATA@'</script>"

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

TEST(pagefile_fills_the_first_of_each_mark)
{
    struct unpacker *unpacker;
    struct buffer out;
    struct arena arena;
    struct error err;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    CHECK_OK(pagefile_fill(SLICE(SHELL), SLICE("cpu"), SLICE("the bytes"), &out, &err), &err);
    CHECK_TEXT(between(buffer_slice(&out), SLICE("<title>"), SLICE("</title>")), "cpu");
    CHECK_TEXT(data_of(buffer_slice(&out), SLICE("id=profile>"), &arena, unpacker), "the bytes");
    CHECK(slice_ends_with(buffer_slice(&out), SLICE("<script>'@TITLE@ @DATA@'</script>")));
    unpacker_free(unpacker);
    arena_done(&arena);
    buffer_done(&out);
}

TEST(pagefile_escapes_titles)
{
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    CHECK_OK(pagefile_fill(SLICE(SHELL), SLICE("</title><script>&\x01\xff\xc3\xa9 @DATA@"), SLICE(""), &out, &err),
             &err);
    CHECK_TEXT(between(buffer_slice(&out), SLICE("<title>"), SLICE("</title>")),
               "&lt;/title&gt;&lt;script&gt;&amp;\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9 @DATA@");
    buffer_done(&out);
}

TEST(pagefile_says_that_there_is_no_page)
{
    struct buffer out;
    struct error err;

    if (page_find(SLICE("/offline.html")))
        test_skip("impossible here: this program was built with its page");
    buffer_init(&out, 0);
    CHECK_ERROR(pagefile_write(SLICE("x"), SLICE(""), &out, &err), &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "built without its page (make UI=0)");
    buffer_done(&out);
}

static int fill(void *context UNUSED, struct error *err)
{
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    result = pagefile_fill(SLICE(SHELL), SLICE("title"), SLICE("bytes"), &out, err);
    buffer_done(&out);
    return result;
}

TEST(pagefile_survives_every_allocation_that_fails)
{
    test_each_allocation_failing(fill, NULL);
}
