// SPDX-License-Identifier: Apache-2.0
/* Forms of several parts: the first line is the Content-Type, the rest the body. Parts lie within it, in their order. */
#include "intake/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(struct slice whole, struct slice part)
{
    ASSERT(part.len == 0 || (part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice body = slice_of(data, size), type = { "", 0 };
    const char *last = NULL;
    struct multipart form;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    (void)slice_next_line(&body, &type);
    (void)multipart_is_form(type);
    if (multipart_parse(type, body, &arena, &form, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_INVALID || err.code == ERR_LIMIT);
        form.n = 0;
    }
    for (uint32_t i = 0; i < form.n; i++) {
        const struct multipart_part *part = &form.parts[i];

        check_within(body, part->body);
        check_within(body, part->name);
        check_within(body, part->filename);
        check_within(body, part->content_type);
        ASSERT(part->body.ptr >= last);
        last = part->body.ptr + part->body.len;
    }
    arena_done(&arena);
    return 0;
}
