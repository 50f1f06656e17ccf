// SPDX-License-Identifier: Apache-2.0
/* A borrowed piece of text or bytes: pointer and length, not terminated, owned by somebody else. */
#pragma once

#include "base/base.h"

#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

#define SLICE(literal)   ((struct slice){ "" literal, sizeof(literal) - 1 })
/* For printf's "%.*s"; a slice longer than 1 GiB prints its first GiB. */
#define SLICE_ARG(slice) ((int)MIN((slice).len, (size_t)1 << 30)), ((slice).ptr)

static inline struct slice slice_from(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

static inline struct slice slice_of(const void *ptr, size_t len)
{
    return (struct slice){ ptr, len };
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
    return slice_equal(a, slice_from(text));
}

/* Bytewise order; a prefix sorts first. */
int slice_compare(struct slice a, struct slice b);

bool slice_starts_with(struct slice text, struct slice prefix);
bool slice_ends_with(struct slice text, struct slice suffix);
/* ASCII letters of either case are equal. */
bool slice_equal_nocase(struct slice a, struct slice b);

/* Position of the first (last) `byte`, or -1. */
ptrdiff_t slice_find_byte(struct slice text, char byte);
ptrdiff_t slice_find_last_byte(struct slice text, char byte);
/* Position of the first occurrence of `needle`, or -1. */
ptrdiff_t slice_find(struct slice text, struct slice needle);

/* The part from `start` (clamped) of at most `len` bytes. */
struct slice slice_sub(struct slice text, size_t start, size_t len);
/* Without ASCII white space at either end. */
struct slice slice_trim(struct slice text);

/* Cuts the next line off the front of `rest`, without its LF or CRLF. False at the end. */
bool slice_next_line(struct slice *rest, struct slice *ret_line);
/* Cuts up to the next `separator` off the front of `rest`. False when `rest` is exhausted (ptr becomes NULL). */
bool slice_next_part(struct slice *rest, char separator, struct slice *ret_part);

/* Whole-text number parsing: false unless every byte was used and the value fits (a double: is finite, and its text
 * shorter than 64 bytes). No locale, no leading space. */
bool slice_to_i64(struct slice text, int64_t *ret_value);
bool slice_to_u64(struct slice text, uint64_t *ret_value);
bool slice_to_u64_hex(struct slice text, uint64_t *ret_value);
bool slice_to_double(struct slice text, double *ret_value);

/* Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates). */
bool slice_is_utf8(struct slice text);
/* Length of the well-formed UTF-8 sequence at the front of `text`: 1 to 4, or 0 where there is none. */
size_t slice_utf8_len(struct slice text);
