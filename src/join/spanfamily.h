// SPDX-License-Identifier: Apache-2.0
/* From spans to all that is below them in the same process (spantree.h, W3): what attribution to root spans takes. The
 * samples of a span profile carry the id of the local root for the whole of its work; those of other senders that of the
 * span at hand, and then the work of a root is that of its family.
 *
 * F1  Spans that the store of traces does not know have no family that anybody knows: they stay alone.
 * F2  A span that is below several is of the family of the nearest one.
 * F3  What is held, the sets included, takes two thirds at most of the memory that the asker has, or it is refused. */
#pragma once

#include "profile/spanids.h"
#include "trace/tracestore.h"

#define SPANFAMILY_MAX_TRACES 1000u    /* that are read for single spans */
#define SPANFAMILY_MAX_SPANS  3000000u /* of a service, that are looked at for those of an operation; of a set */

struct spanfamily_query {
    struct tracestore *traces;
    struct slice tenant;
    int64_t from_ns, until_ns; /* when the spans started; those below may have started later */
    struct tracestore_asker asker;
};

/* Adds to `ids` what is below each of them. Errors: ERR_LIMIT naming the number of traces or of ids, or the memory;
 * those of tracestore_each and tracestore_get. */
MUST_CHECK int spanfamily_of_spans(const struct spanfamily_query *query, struct spanids *ids, struct error *err);

/* The same for many spans of one service at once, in sets that have none in common: the service is read whole, instead of
 * traces. Errors: ERR_LIMIT naming the number of spans or the memory, those of tracestore_each. */
MUST_CHECK int spanfamily_of_service(const struct spanfamily_query *query, struct slice service,
                                     struct spanids *const sets[], uint32_t n_sets, struct error *err);
