// SPDX-License-Identifier: Apache-2.0
/* What every answer of a worker goes through before its loop sends it; done in the worker, so that loops only move bytes.
 * Those of quick routes, which loops give, have D3 and D4 alone.
 *
 * D1  The answer to a GET of ROUTE_READ has an ETag of its content and Cache-Control: no-cache; who has it already
 *     (If-None-Match) gets 304. The tag ends in the name of the encoding, as the bytes are others then, but any encoding of
 *     the same content is taken for the content.
 * D2  Long answers of types that compress are compressed, by the best of zstd and gzip that the asker accepts, unless
 *     the handler has done so.
 * D3  What is then to be sent is counted until it is (H5 of httpserver.h); when there is no room it is replaced by a
 *     refusal.
 * D4  An answer for which there was not enough memory is a failure, and never a part of itself. */
#pragma once

#include "net/exchange.h"

#define DELIVER_MIN_PACKED_BYTES 1024 /* shorter answers are not worth compressing */
#define DELIVER_FREE_BYTES       4096 /* answers up to this are not counted: refusing them would save nothing */

/* Makes an answer ready. Thread: the worker of exchange->worker. */
void deliver_prepare(struct exchange *exchange);
/* D3 and D4 alone. Thread: that of the handler. */
void deliver_quick(struct exchange *exchange);
