// SPDX-License-Identifier: Apache-2.0
#include "intake/multipart.h"

#include "base/buffer.h"
#include "base/test.h"

#define TYPE "multipart/form-data; boundary=abc"

static struct multipart parse(const char *type, struct slice body, struct arena *arena)
{
    struct multipart form;
    struct error err;

    CHECK_OK(multipart_parse(slice_from(type), body, arena, &form, &err), &err);
    return form;
}

static const char go_body[] = "--abc\r\n"
                              "Content-Disposition: form-data; name=\"profile\"; filename=\"profile.pprof\"\r\n"
                              "Content-Type: application/octet-stream\r\n"
                              "\r\n"
                              "\x1f\x8b--abc \r\n--abcd\r\n\r\n"
                              "--abc\r\n"
                              "Content-Disposition: form-data; name=\"sample_type_config\"; filename=\"\"\r\n"
                              "\r\n"
                              "{}\r\n"
                              "--abc--\r\n";

TEST(multipart_reads_what_go_writes)
{
    struct multipart form;
    struct arena arena;

    arena_init(&arena, 0);
    form = parse(TYPE, slice_from(go_body), &arena);
    CHECK_EQ(form.n, 2);
    CHECK_TEXT(form.parts[0].name, "profile");
    CHECK_TEXT(form.parts[0].filename, "profile.pprof");
    CHECK_TEXT(form.parts[0].content_type, "application/octet-stream");
    CHECK_TEXT(form.parts[0].body, "\x1f\x8b--abc \r\n--abcd\r\n");
    CHECK(form.parts[1].has_filename);
    CHECK_TEXT(multipart_find(&form, "sample_type_config")->body, "{}");
    CHECK(!multipart_find(&form, "jfr"));
    arena_done(&arena);
}

TEST(multipart_takes_quoted_boundaries_preambles_and_bare_line_feeds)
{
    struct multipart form;
    struct arena arena;

    arena_init(&arena, 0);
    form = parse("Multipart/Form-Data; charset=x; Boundary=\"a c\"",
                 SLICE("hello\n--a c\ncontent-disposition: form-data; name=x\n\n1\n2\n--a c\n\n\n--a c--tail"), &arena);
    CHECK_EQ(form.n, 2);
    CHECK_TEXT(form.parts[0].name, "x");
    CHECK(!form.parts[0].has_filename);
    CHECK_TEXT(form.parts[0].body, "1\n2");
    CHECK_TEXT(form.parts[1].name, "");
    CHECK_TEXT(form.parts[1].body, "");
    form = parse(TYPE, SLICE("--abc--"), &arena);
    CHECK_EQ(form.n, 0);
    arena_done(&arena);
}

TEST(multipart_knows_forms_by_their_type)
{
    CHECK(multipart_is_form(SLICE(TYPE)));
    CHECK(multipart_is_form(SLICE(" multipart/FORM-data")));
    CHECK(!multipart_is_form(SLICE("multipart/mixed")));
    CHECK(!multipart_is_form(SLICE("")));
}

TEST(multipart_without_a_boundary_is_refused)
{
    static char long_type[200] = "multipart/form-data; boundary=";
    struct multipart form;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_ERROR(multipart_parse(SLICE("multipart/form-data"), SLICE("--"), &arena, &form, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "boundary=WORD");
    memset(long_type + strlen(long_type), 'x', 100);
    CHECK_ERROR(multipart_parse(slice_from(long_type), SLICE("--"), &arena, &form, &err), &err, ERR_INVALID);
    CHECK_ERROR(multipart_parse(SLICE(TYPE), SLICE("--abd--"), &arena, &form, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "does not occur");
    arena_done(&arena);
}

TEST(multipart_cut_before_its_end_is_refused)
{
    struct multipart form;
    struct arena arena;
    struct error err;
    size_t last = sizeof(go_body) - 1 - strlen("--\r\n");

    arena_init(&arena, 0);
    for (size_t len = strlen("--abc\r\n"); len < last; len++) {
        CHECK_ERROR(multipart_parse(SLICE(TYPE), slice_of(go_body, len), &arena, &form, &err), &err, ERR_CORRUPT);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

TEST(multipart_of_too_many_parts_or_too_long_headers_is_refused)
{
    struct multipart form;
    struct buffer body;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&body, 0);
    for (int i = 0; i <= MULTIPART_MAX_PARTS; i++)
        buffer_append_text(&body, "--abc\r\n\r\n\r\n");
    buffer_append_text(&body, "--abc--");
    CHECK_ERROR(multipart_parse(SLICE(TYPE), buffer_slice(&body), &arena, &form, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "64 parts");
    buffer_clear(&body);
    buffer_append_text(&body, "--abc\r\nx: ");
    for (int i = 0; i < MULTIPART_MAX_HEADER_BYTES; i++)
        buffer_append_byte(&body, 'x');
    buffer_append_text(&body, "\r\n\r\n--abc--");
    CHECK_ERROR(multipart_parse(SLICE(TYPE), buffer_slice(&body), &arena, &form, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "8192");
    buffer_done(&body);
    arena_done(&arena);
}

static int parse_step(void *context, struct error *err)
{
    struct multipart form;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = multipart_parse(SLICE(TYPE), slice_from(context), &arena, &form, err);
    arena_done(&arena);
    return result;
}

TEST(multipart_survives_failing_allocations)
{
    test_each_allocation_failing(parse_step, (void *)go_body);
}
