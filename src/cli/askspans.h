// SPDX-License-Identifier: Apache-2.0
/* Questions about the samples of spans: of all spans of an operation, or of spans with what is below them. The spans are those
 * of the traces beside the store. */
#pragma once

#include "base/option.h"
#include "profile/spanids.h"
#include "store/store.h"

/* Which samples a span has (join/spansamples.h, J3). */
enum askspans_attribution { ASKSPANS_OWN, ASKSPANS_ROOT };
extern const char *const askspans_words[];

struct askspans_config {
    const char *operation;
    unsigned attribution; /* enum askspans_attribution */
};
#define ASKSPANS_OPTIONS_N 2
extern const struct option_spec askspans_options[ASKSPANS_OPTIONS_N];
#define ASKSPANS_GROUP(config_struct, member)                                                                          \
    {                                                                                                                  \
        .title = "Spans", .specs = askspans_options, .n = ASKSPANS_OPTIONS_N,                                          \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* The spans of a question. */
struct askspans {
    struct spanids set;
    struct store_ids ids; /* what the query has of ids, and the set */
    bool is_own;          /* spans were asked for, and not those below them */
};
void askspans_done(struct askspans *spans);

struct ask;
struct ask_question;
/* Narrows a question to samples of the spans of --operation, and widens its --span-id to what is below them where --attribution
 * says so; nothing is done where neither is given. Tells what of it could not be had. Errors: ERR_USAGE where the query does not
 * say whose operation it is, those of tracestore.h. */
MUST_CHECK int askspans_narrow(const struct ask *ask, const struct askspans_config *config,
                               struct ask_question *question, struct error *err);

/* The service that a question is about. Errors: ERR_USAGE where it is about several. */
MUST_CHECK int askspans_service(const struct ask_question *question, struct slice *ret_service, struct error *err);
/* Says of how many spans the answer is where an operation has more than are held. */
struct operationspans;
void askspans_tell_cut(const struct ask *ask, const char *operation, const struct operationspans *spans);
/* Tells that an operation has no spans, and which ones there are. Errors: those of tracestore.h. */
struct storagesignals_traces;
MUST_CHECK int askspans_tell_none(const struct ask *ask, const struct storagesignals_traces *traces,
                                  struct slice service, const char *operation, const struct ask_question *question,
                                  struct error *err);
