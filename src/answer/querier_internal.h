// SPDX-License-Identifier: Apache-2.0
/* For the files of querier.v1: a call on its way, and what its procedures check alike.
 *
 * P1  Ranges are [start, end] in milliseconds, both ends included, and become [from, until) of the engine.
 * P2  Values that are levels are added up as Pyroscope does it, not averaged.
 * P3  A procedure writes its answer into the call's writer, or fails; then nothing of what it wrote is sent. */
#pragma once

#include "answer/answer.h"
#include "answer/queriermessage.h"
#include "answer/rpcwriter.h"

#define QUERIER_NS_PER_MS ((int64_t)1000000)
#define QUERIER_LATEST_MS ((int64_t)8000000000000) /* in the year 2223; a range has room for a step at either end */

struct querier_call {
    const struct answer *answer;
    struct rpc_call rpc;
    struct query query; /* tenant, deadline and whether the asker has gone; and P2 */
    struct arena arena;
    struct buffer out;
    struct rpcwriter writer;       /* the answer */
    struct selector *selectors[2]; /* freed with the call */
    uint32_t n_selectors;
};

struct querier_procedure {
    const struct rpcmessage *message;
    int (*answer)(struct querier_call *call, const struct querier_request *request, struct error *err);
    bool writes_itself; /* the whole message, into `out` */
};
/* Serves a request by a procedure. */
void querier_serve(struct exchange *exchange, const struct querier_procedure *procedure);

/* What each of these checks has as errors is ERR_INVALID, naming the field and what is right, or ERR_MEMORY. */

/* P1. */
MUST_CHECK int querier_ordered_range(const struct querier_request *request, int64_t *ret_from_ns, int64_t *ret_until_ns,
                                     struct error *err);
/* The same where neither end may be missing. */
MUST_CHECK int querier_range(const struct querier_request *request, int64_t *ret_from_ns, int64_t *ret_until_ns,
                             struct error *err);
/* A moment of a request, or a step: nothing begins before 1970, or behind QUERIER_LATEST_MS. */
int64_t querier_ns(int64_t ms);

/* One selector for all matchers: each of them must hold. */
MUST_CHECK int querier_matchers(struct querier_call *call, const struct rpcmessage_texts *matchers,
                                const struct selector **ret_selector, struct error *err);

/* The query that profile_typeID, label_selector, start and end make. One whose selector refuses the type has no range. */
MUST_CHECK int querier_query(struct querier_call *call, const struct querier_request *request, struct query *ret_query,
                             struct error *err);

/* Makes a filter of the call site of stack_trace_selector. Errors: ERR_MEMORY. */
MUST_CHECK int querier_call_site(struct querier_call *call, const struct querier_request *request,
                                 struct filter_spec *filter, struct error *err);

/* What is asked of the store beside the engine. */
struct store_query querier_store_query(struct querier_call *call, const struct selector *selector, int64_t from_ns,
                                       int64_t until_ns);

/* Labels that a profile type gives to its series, in order of their names: __period_type__, __period_unit__,
 * __profile_type__, __type__, __unit__. The texts point into `type`. */
#define QUERIER_TYPE_LABELS 5
void querier_type_labels(struct slice type, struct series_label ret_labels[static QUERIER_TYPE_LABELS]);
/* The value of such a label; a NULL pointer for other names. */
struct slice querier_type_label(struct slice type, struct slice name);

/* Writes a list of LabelPair, those without a value left out. */
void querier_write_labels(struct rpcwriter *writer, uint32_t number, const char *name,
                          const struct series_label *labels, size_t n);
