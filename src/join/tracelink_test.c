// SPDX-License-Identifier: Apache-2.0
#include "join/tracelink.h"

#include "base/test.h"

static struct slice expand(const char *template, const struct tracelink *link, struct buffer *out)
{
    struct error err;

    buffer_clear(out);
    CHECK_OK(tracelink_check(slice_from(template), &err), &err);
    tracelink_expand(slice_from(template), link, out);
    CHECK_OK(buffer_check(out, &err), &err);
    return buffer_slice(out);
}

TEST(tracelink_fills_in_what_is_asked_for)
{
    static const uint8_t trace[SPAN_TRACE_ID_BYTES] = { 0xab, 1 }, span[SPAN_ID_BYTES] = { 0xcd, 2 };
    struct tracelink link = {
        .trace_id = trace, .span_id = span, .service = SLICE("a b/ü"), .start_ns = 1500001, .end_ns = 2500001
    };
    struct buffer out;

    buffer_init(&out, 0);
    CHECK_TEXT(expand("https://tempo/trace/{trace_id}", &link, &out),
               "https://tempo/trace/ab010000000000000000000000000000");
    CHECK_TEXT(expand("http://x/{trace_id}?s={span_id}&n={service}&r={start_ms}-{end_ms}#", &link, &out),
               "http://x/ab010000000000000000000000000000?s=cd02000000000000&n=a%20b%2F%C3%BC&r=1-3#");
    link.span_id = NULL;
    link.start_ns = -1;
    CHECK_TEXT(expand("http://x/{trace_id}{span_id}{start_ms}{trace_id}", &link, &out),
               "http://x/ab010000000000000000000000000000-1ab010000000000000000000000000000");
    buffer_done(&out);
}

static void check_wrong(const char *template, const char *words)
{
    struct error err;

    CHECK_ERROR(tracelink_check(slice_from(template), &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
}

TEST(tracelink_says_what_is_wrong)
{
    char longest[TRACELINK_MAX_BYTES + 2];
    struct error err;

    check_wrong("", "'' does not begin with http:// or https://");
    check_wrong("javascript:alert('{trace_id}')", "does not begin with http:// or https://");
    check_wrong("http://x/", "no {trace_id}");
    check_wrong("http://x/{trace_id}/{spanid}", "{spanid} is no place");
    check_wrong("http://x/{trace_id}/{span_id", "the braces of '{span_id' do not match");
    check_wrong("http://x/{}", "{} is no place");
    check_wrong("http://x/{trace_id}/a b", "the character at 22 cannot stand in an address");
    check_wrong("http://x/{trace_id}/\n", "the character at 21");
    memset(longest, 'x', sizeof(longest));
    memcpy(longest, "http://{trace_id}", 17);
    CHECK_OK(tracelink_check(slice_of(longest, TRACELINK_MAX_BYTES), &err), &err);
    CHECK_ERROR(tracelink_check(slice_of(longest, TRACELINK_MAX_BYTES + 1), &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "an address of 2049 bytes is longer than 2048");
}
