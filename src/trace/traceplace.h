// SPDX-License-Identifier: Apache-2.0
/* Where spans stand among the results of a search, and the texts that name a place, for the next page. */
#pragma once

#include "trace/tracestore.h"

struct traceplace {
    int64_t start_ns, duration_ns;
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    uint8_t span_id[SPAN_ID_BYTES];
    uint8_t kind;
};

struct traceplace traceplace_of(const struct span *span);
/* Below 0 when `a` comes first: the newest or the slowest, then the newest, then the smaller trace id, span id and kind. */
int traceplace_compare(enum tracestore_order order, const struct traceplace *a, const struct traceplace *b);

/* The token of a place: 1 to TRACESTORE_PAGE_BYTES - 1 characters that need no escape in a URL. It remembers what was asked,
 * but for the range and the ids: ranges that end now move between two pages. */
void traceplace_encode(const struct tracestore_search *search, const struct traceplace *place,
                       char ret_page[static TRACESTORE_PAGE_BYTES]);
/* Errors: ERR_INVALID: it is no token, or one of another search. */
MUST_CHECK int traceplace_decode(const struct tracestore_search *search, struct slice page,
                                 struct traceplace *ret_place, struct error *err);
