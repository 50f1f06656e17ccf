// SPDX-License-Identifier: Apache-2.0
/* Bytes as text of 64 characters (RFC 4648). Written with '+' and '/', read in either alphabet. */
#pragma once

#include "base/buffer.h"

/* Appends the text of `bytes`; padded, its length is a multiple of four. */
void base64_encode(struct slice bytes, bool is_padded, struct buffer *out);

/* How much room base64_decode may need for a text of `len` characters. */
#define BASE64_DECODED_BYTES(len) ((len) / 4 * 3 + 3)

/* Writes the bytes of `text` to `to`, which has room for them; it may be where the text itself is. The padding may be
 * missing, and texts may stand one behind the other if all but the last are padded. False, with the offset of the first
 * character that cannot be, if it is not base64. */
MUST_CHECK bool base64_decode(struct slice text, char *to, size_t *ret_len, size_t *ret_bad_at);
