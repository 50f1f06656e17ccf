// SPDX-License-Identifier: Apache-2.0
/* An HTTP/1.1 answer as services of the demo give it to each other: a status, a length, a body. Answers in chunks are refused,
 * since none of them sends any. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

#define HTTPREPLY_MAX_HEAD 16384
#define HTTPREPLY_MAX_BODY (1 << 20)

struct httpreply {
    int status;        /* 100 to 599 */
    size_t head_bytes; /* with the empty line */
    size_t body_bytes;
    bool keeps_alive; /* the connection takes another request */
};

/* Reads the head at the beginning of `bytes`. `*ret_is_whole` says whether all of it is here; if not, nothing is known yet.
 * Errors: ERR_CORRUPT saying what is wrong, ERR_LIMIT. Thread: any. */
MUST_CHECK int httpreply_parse(struct slice bytes, bool *ret_is_whole, struct httpreply *ret_reply, struct error *err);
