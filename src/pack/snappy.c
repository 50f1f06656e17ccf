// SPDX-License-Identifier: Apache-2.0
#include "pack/snappy.h"

#include "base/bytes.h"
#include "pack/checksum.h"
#include "pack/varint.h"

#define MAGIC             "\xff\x06\x00\x00sNaPpY"
#define MAX_CHUNK_CONTENT 65536
#define MAX_PER_BYTE      32 /* no element makes more bytes of one of its own: a copy of 64 takes 3, one of 11 takes 2 */

static int corrupt(size_t at, const char *what, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "snappy: %s at byte %zu", what, at);
}

/* --- blocks --- */

struct block {
    const uint8_t *start, *at, *end; /* what is read */
    uint8_t *to, *to_start, *to_end; /* what is made */
    size_t offset;                   /* of `start` in the input, for stories */
};

static int damaged(const struct block *b, const char *what, struct error *err)
{
    return corrupt(b->offset + (size_t)(b->at - b->start), what, err);
}

/* The length of a literal: in the tag, or in the one to four bytes behind it. */
static bool literal_len(struct block *b, uint8_t tag, size_t *ret_len)
{
    size_t len = tag >> 2, n_bytes = len < 60 ? 0 : len - 59;

    if ((size_t)(b->end - b->at) < n_bytes)
        return false;
    if (n_bytes > 0) {
        len = 0;
        for (size_t i = 0; i < n_bytes; i++)
            len |= (size_t)b->at[i] << (8 * i);
        b->at += n_bytes;
    }
    *ret_len = len + 1;
    return true;
}

static int put_literal(struct block *b, uint8_t tag, struct error *err)
{
    size_t len;

    if (!literal_len(b, tag, &len) || len > (size_t)(b->end - b->at))
        return damaged(b, "a literal runs past the end", err);
    if (len > (size_t)(b->to_end - b->to))
        return damaged(b, "more content than the block claims", err);
    memcpy(b->to, b->at, len);
    b->to += len;
    b->at += len;
    return 0;
}

static int put_copy(struct block *b, uint8_t tag, struct error *err)
{
    static const uint8_t n_bytes[] = { 0, 1, 2, 4 };
    size_t len = (size_t)(tag >> 2) + 1, distance;
    const uint8_t *from;

    if (b->end - b->at < n_bytes[tag & 3])
        return damaged(b, "a copy runs past the end", err);
    if ((tag & 3) == 1) {
        len = (size_t)(tag >> 2 & 7) + 4;
        distance = (size_t)(tag >> 5) << 8 | b->at[0];
    } else {
        distance = (tag & 3) == 2 ? bytes_get_le16(b->at) : bytes_get_le32(b->at);
    }
    b->at += n_bytes[tag & 3];
    if (distance == 0 || distance > (size_t)(b->to - b->to_start))
        return damaged(b, "a copy from before the beginning", err);
    if (len > (size_t)(b->to_end - b->to))
        return damaged(b, "more content than the block claims", err);
    from = b->to - distance;
    for (size_t i = 0; i < len; i++) /* the two may overlap: a short distance repeats */
        b->to[i] = from[i];
    b->to += len;
    return 0;
}

static int inflate(struct block *b, struct error *err)
{
    while (b->at < b->end) {
        uint8_t tag = *b->at++;

        if (((tag & 3) == 0 ? put_literal(b, tag, err) : put_copy(b, tag, err)) < 0)
            return -1;
    }
    return b->to == b->to_end ? 0 : damaged(b, "less content than the block claims", err);
}

/* Appends the content of the block in `in`, which lies `offset` bytes into the whole. */
static int unpack_block(struct slice in, size_t offset, size_t max_bytes, struct buffer *out, struct error *err)
{
    struct slice rest = in;
    struct block b;
    uint64_t size;
    char *to;

    if (!varint_next(&rest, &size) || size > UINT32_MAX)
        return corrupt(offset, "the size of a block makes no sense", err);
    if (size > max_bytes)
        return error_set(err, ERR_LIMIT, "snappy: the content is larger than the %zu bytes allowed", max_bytes);
    if (size / MAX_PER_BYTE > rest.len)
        return corrupt(offset, "a block claims more than it can hold", err);
    to = buffer_reserve(out, size);
    if (!to)
        return buffer_check(out, err);
    b = (struct block){ .start = (const uint8_t *)rest.ptr,
                        .at = (const uint8_t *)rest.ptr,
                        .end = (const uint8_t *)rest.ptr + rest.len,
                        .to = (uint8_t *)to,
                        .to_start = (uint8_t *)to,
                        .to_end = (uint8_t *)to + size,
                        .offset = offset + (in.len - rest.len) };
    if (inflate(&b, err) < 0)
        return -1;
    buffer_commit(out, size);
    return 0;
}

/* --- frames --- */

static uint32_t masked_checksum(struct slice content)
{
    uint32_t crc = checksum_crc32c(0, content);

    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* The content of a chunk of type 00 or 01: behind its checksum. */
static int unpack_chunk(struct slice chunk, bool is_packed, size_t offset, size_t max_bytes, struct buffer *out,
                        struct error *err)
{
    size_t before = out->len;
    struct slice body = slice_sub(chunk, 4, SIZE_MAX);

    if (chunk.len < 4)
        return corrupt(offset, "a chunk without its checksum", err);
    if (is_packed && unpack_block(body, offset + 4, MIN(max_bytes, MAX_CHUNK_CONTENT), out, err) < 0)
        return err->code == ERR_LIMIT && max_bytes > MAX_CHUNK_CONTENT ? corrupt(offset, "a chunk of too much", err)
                                                                       : -1;
    if (!is_packed) {
        if (body.len > MAX_CHUNK_CONTENT)
            return corrupt(offset, "a chunk of too much", err);
        if (body.len > max_bytes)
            return error_set(err, ERR_LIMIT, "snappy: the content is larger than allowed");
        buffer_append_slice(out, body);
        if (buffer_check(out, err) < 0)
            return -1;
    }
    if (bytes_get_le32(chunk.ptr) != masked_checksum(slice_of(out->data + before, out->len - before)))
        return corrupt(offset, "a chunk does not match its checksum", err);
    return 0;
}

static int unpack_frames(struct slice in, size_t max_bytes, struct buffer *out, struct error *err)
{
    size_t before = out->len;

    for (size_t at = 0; at < in.len;) {
        uint8_t type = (uint8_t)in.ptr[at];
        struct slice chunk;
        size_t len;

        if (in.len - at < 4)
            return corrupt(at, "a chunk is cut off", err);
        len = (size_t)(bytes_get_le32(in.ptr + at) >> 8);
        chunk = slice_sub(in, at + 4, len);
        if (chunk.len < len)
            return corrupt(at, "a chunk is cut off", err);
        if (type < 2 && unpack_chunk(chunk, type == 0, at + 4, max_bytes - (out->len - before), out, err) < 0)
            return -1;
        if (type >= 2 && type < 0x80)
            return corrupt(at, "a chunk of a type that nobody may skip", err);
        at += 4 + len;
    }
    return 0;
}

int snappy_unpack(struct slice in, size_t max_bytes, struct buffer *out, struct error *err)
{
    size_t before = out->len;
    int result = slice_starts_with(in, slice_of(MAGIC, sizeof(MAGIC) - 1)) ? unpack_frames(in, max_bytes, out, err)
                                                                           : unpack_block(in, 0, max_bytes, out, err);

    if (result < 0)
        buffer_truncate(out, before);
    return result;
}
