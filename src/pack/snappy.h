// SPDX-License-Identifier: Apache-2.0
/* Inflating Snappy, which some senders of OTLP offer: bare blocks, and frames of them, told apart by the frames' first
 * chunk.
 *
 *     block    varint size of the content, then elements: a literal, or a copy of what came before
 *     frames   chunks of a type, a length of three bytes and so many bytes: ff "sNaPpY" begins, 00 holds a block behind
 *              its checksum (CRC-32C, rotated and shifted), 01 the same uncompressed; fe and 80 to fd are passed over */
#pragma once

#include "base/buffer.h"

/* Appends the content of `in` to `out`, which gets at most `max_bytes` more. What it claims to be only guides allocation,
 * after checks. On failure `out` is as it was. Errors: ERR_CORRUPT with the byte, ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int snappy_unpack(struct slice in, size_t max_bytes, struct buffer *out, struct error *err);
