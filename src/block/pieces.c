// SPDX-License-Identifier: Apache-2.0
#include "block/pieces.h"

#include <inttypes.h>

#define LEVEL 1

int pieces_next_version(struct slice *rest, uint8_t version, struct error *err)
{
    if (rest->len == 0)
        return error_set(err, ERR_CORRUPT, "is empty");
    if ((uint8_t)rest->ptr[0] != version)
        return error_set(err, ERR_VERSION, "is of version %u, this program reads version %u", (uint8_t)rest->ptr[0],
                         version);
    *rest = slice_sub(*rest, 1, SIZE_MAX);
    return 0;
}

int pieces_next_number(struct slice *rest, const char *what, uint64_t max, uint64_t *ret_number, struct error *err)
{
    uint64_t number;

    if (!varint_next(rest, &number))
        return error_set(err, ERR_CORRUPT, "no valid number for the %s in its header", what);
    if (number > max)
        return error_set(err, ERR_CORRUPT, "the %s is %" PRIu64 ", it can be %" PRIu64 " at most", what, number, max);
    *ret_number = number;
    return 0;
}

int pieces_pack(struct slice content, struct packer *packer, struct buffer *out, struct error *err)
{
    size_t before = out->len;
    size_t at = 0;

    do { /* one frame, if an empty one, where there is no content */
        if (packer_pack(packer, PACK_ZSTD, LEVEL, slice_sub(content, at, PIECES_BYTES), out, err) < 0) {
            buffer_truncate(out, before);
            return -1;
        }
        at += PIECES_BYTES;
    } while (at < content.len);
    return 0;
}

int pieces_unpack(struct slice bytes, size_t max_bytes, struct unpacker *unpacker, struct slice *ret_content,
                  struct error *err)
{
    if (unpacker_unpack(unpacker, PACK_ZSTD, bytes, max_bytes, ret_content, err) == 0)
        return 0;
    /* A frame with a dictionary, or more than the header in front of it allows: nothing that pieces_pack writes. */
    if (err->code == ERR_UNSUPPORTED || err->code == ERR_LIMIT)
        err->code = ERR_CORRUPT;
    return -1;
}
