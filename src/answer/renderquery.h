// SPDX-License-Identifier: Apache-2.0
/* What the parameters of /render and its kin ask for: a query as text, and a range of time.
 *
 * R1  The range is inclusive at both ends, as Pyroscope has it. Without `from` it begins an hour before its end, without
 *     `until` it ends now: where Pyroscope has an empty range, the last hour is meant. A time that is 0, as clients write
 *     one that they do not have, is refused, and so is a range that ends before it begins.
 * R2  A query names a profile type in full, `process_cpu:cpu:nanoseconds:cpu:nanoseconds{env="prod"}`, and may then have
 *     an empty answer; or it names a service, and perhaps a short type, as Pyroscope's first versions had it:
 *     `order-service.cpu{env=prod}`. Such a name is looked up in the range, and then in all of time, so that a service
 *     which was quiet has an empty answer, and one that was never heard of is ERR_NOT_FOUND. */
#pragma once

#include "answer/answer.h"
#include "base/urlquery.h"
#include "query/querytext.h"

/* What all parameters of a request are read with. */
struct renderquery_request {
    const struct answer *answer;
    const struct query *base; /* what every query of the request has (answer_begin) */
    const struct urlquery *url;
    int64_t now_ns;
    struct arena *arena; /* for what is found on the way; outlives the queries */
};

/* The names that the parameters go by. */
struct renderquery_names {
    const char *query, *from, *until;
};

struct renderquery_range {
    int64_t from_ns, until_ns; /* both belong to it */
};

struct renderquery {
    struct query query; /* levels are summed */
    struct querytext_resolved resolved;
    struct renderquery_range range;
};

/* Reads query and range; the query is to be done. Errors: ERR_INVALID naming the parameter and the place in it, also where
 * the query is missing or names neither a profile type nor a service; ERR_NOT_FOUND saying what there is; ERR_MEMORY,
 * ERR_LIMIT, and those of the store. Thread: any. */
MUST_CHECK int renderquery_read(const struct renderquery_request *request, const struct renderquery_names *names,
                                struct renderquery *ret_query, struct error *err);
/* The same for what is asked of all types alike: the query may be missing, and then its selector is NULL, or have labels
 * alone, and then it has no type. */
MUST_CHECK int renderquery_read_labels(const struct renderquery_request *request, const struct renderquery_names *names,
                                       struct renderquery *ret_query, struct error *err);
void renderquery_done(struct renderquery *query);

/* Sample type and unit, the second and third part of a full profile type. Thread: any. */
void renderquery_type_parts(struct slice profile_type, struct slice *ret_type, struct slice *ret_unit);
