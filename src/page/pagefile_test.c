// SPDX-License-Identifier: Apache-2.0
#include "page/pagefile.h"

#include "base/test.h"
#include "page/page.h"
#include "page/pagefile_sample_test.h"

#define SHELL "<title>@TITLE@</title><script id=profile>@DATA@</script><script>'@TITLE@ @DATA@'</script>"

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
    CHECK_TEXT(pagefile_sample_between(buffer_slice(&out), SLICE("<title>"), SLICE("</title>")), "cpu");
    CHECK_TEXT(pagefile_sample_data(buffer_slice(&out), SLICE("id=profile>"), &arena, unpacker), "the bytes");
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
    CHECK_TEXT(pagefile_sample_between(buffer_slice(&out), SLICE("<title>"), SLICE("</title>")),
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
