// SPDX-License-Identifier: Apache-2.0
/* What tests want to know of self-contained pages. */
#pragma once

#include "base/base64.h"
#include "base/test.h"
#include "pack/unpacker.h"

/* What is between `before` and `behind` in a text. */
static inline struct slice pagefile_sample_between(struct slice text, struct slice before, struct slice behind)
{
    ptrdiff_t at = slice_find(text, before), end;

    CHECK(at >= 0);
    text = slice_sub(text, (size_t)at + before.len, SIZE_MAX);
    end = slice_find(text, behind);
    CHECK(end >= 0);
    return slice_sub(text, 0, (size_t)end);
}

/* The bytes that a page holds, unpacked; they belong to the unpacker. */
static inline struct slice pagefile_sample_data(struct slice html, struct slice before, struct arena *arena,
                                                struct unpacker *unpacker)
{
    struct slice text = pagefile_sample_between(html, before, SLICE("</script>")), plain;
    struct error err;
    char *bytes = arena_alloc(arena, BASE64_DECODED_BYTES(text.len), &err);
    size_t len, bad_at;

    CHECK(bytes && base64_decode(text, bytes, &len, &bad_at));
    CHECK_OK(unpacker_unwrap(unpacker, slice_of(bytes, len), 1 << 20, 1, &plain, &err), &err);
    return plain;
}
