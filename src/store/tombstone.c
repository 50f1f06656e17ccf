// SPDX-License-Identifier: Apache-2.0
#include "store/tombstone.h"

#include "pack/varint.h"

enum { TOMBSTONE_VERSION = 1 };

void tombstone_encode(const struct tombstone *tombstone, struct buffer *out)
{
    struct buffer text;

    buffer_init(&text, 0);
    if (tombstone->selector)
        selector_text(tombstone->selector, &text);
    buffer_append_byte(out, TOMBSTONE_VERSION);
    varint_append(out, varint_zigzag(tombstone->from_ns));
    varint_append(out, varint_zigzag(tombstone->until_ns));
    varint_append(out, varint_zigzag(tombstone->made_ns));
    varint_append(out, tombstone->sequence);
    varint_append(out, text.len);
    buffer_append_slice(out, buffer_slice(&text));
    if (text.failure.code != ERR_OK && out->failure.code == ERR_OK)
        out->failure = text.failure;
    buffer_done(&text);
}

int tombstone_decode(struct slice bytes, struct tombstone *ret_tombstone, struct error *err)
{
    struct tombstone tombstone = { 0 };
    uint64_t from, until, made, sequence, len;

    if (!bytes.len)
        return error_set(err, ERR_CORRUPT, "a tombstone is empty");
    if (bytes.ptr[0] != TOMBSTONE_VERSION)
        return error_set(err, ERR_VERSION, "a tombstone has version %d, this program knows %d", bytes.ptr[0],
                         TOMBSTONE_VERSION);
    bytes = slice_of(bytes.ptr + 1, bytes.len - 1);
    if (!varint_next(&bytes, &from) || !varint_next(&bytes, &until) || !varint_next(&bytes, &made) ||
        !varint_next(&bytes, &sequence) || !varint_next(&bytes, &len) || sequence > UINT32_MAX || len != bytes.len)
        return error_set(err, ERR_CORRUPT, "a tombstone is cut off or damaged");
    tombstone.from_ns = varint_unzigzag(from);
    tombstone.until_ns = varint_unzigzag(until);
    tombstone.made_ns = varint_unzigzag(made);
    tombstone.sequence = (uint32_t)sequence;
    if (len && selector_new(bytes, &tombstone.selector, err) < 0)
        return error_wrap(err, "the selector of a tombstone");
    *ret_tombstone = tombstone;
    return 0;
}

void tombstone_done(struct tombstone *tombstone)
{
    selector_free(tombstone->selector);
    *tombstone = (struct tombstone){ 0 };
}
