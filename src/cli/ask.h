// SPDX-License-Identifier: Apache-2.0
/* Asking a store: what query, diff, timeseries and explain have in common. A question is a query as text with its range
 * of time, resolved by what there is; it is answered by query/engine.h, within a time and an amount of memory. */
#pragma once

#include "cli/askspans.h"
#include "cli/storage.h"
#include "cli/view.h"
#include "query/engine.h"
#include "query/querytext.h"

/* --- options --- */

struct ask_config {
    struct storage_config store;
    const char *tenant;
    bool sums_levels;
    uint64_t query_bytes;
    int64_t timeout_ns; /* 0 = none */
};
#define ASK_OPTIONS_N       4
#define ASK_PLAIN_OPTIONS_N 3
extern const struct option_spec ask_options[ASK_OPTIONS_N];
/* All rows, as two option groups of a command whose config struct has an ask_config at `member`. */
#define ASK_GROUPS(config_struct, member)                                                                              \
    { .title = "Asking", .specs = ask_options, .n = ASK_OPTIONS_N, .offset = offsetof(struct config_struct, member) }, \
        STORAGE_URL_GROUP(config_struct, member.store)
/* The same without what is about levels, for commands that add up none. */
#define ASK_PLAIN_GROUPS(config_struct, member)                                                                        \
    { .title = "Asking",                                                                                               \
      .specs = ask_options,                                                                                            \
      .n = ASK_PLAIN_OPTIONS_N,                                                                                        \
      .offset = offsetof(struct config_struct, member) },                                                              \
        STORAGE_URL_GROUP(config_struct, member.store)

/* What of it: a type apart from the query, a range of time, and ids. */
struct ask_selection {
    const char *type;
    const char *from, *until;
    struct option_list spans, traces, profiles;
    struct askspans_config by_span;
};
#define ASK_SELECTION_OPTIONS_N 6
extern const struct option_spec ask_selection_options[ASK_SELECTION_OPTIONS_N];
#define ASK_SELECTION_GROUPS(config_struct, member)                                                                    \
    { .title = "Selecting",                                                                                            \
      .specs = ask_selection_options,                                                                                  \
      .n = ASK_SELECTION_OPTIONS_N,                                                                                    \
      .offset = offsetof(struct config_struct, member) },                                                              \
        ASKSPANS_GROUP(config_struct, member.by_span)

/* --- asking --- */

/* An open store with its engine, for one run of a command: the deadline is counted from ask_open. */
struct ask {
    struct command_context *context;
    const struct ask_config *config;
    struct store *store;
    struct engine *engine;
    bool is_lent; /* both are a server's */
    int64_t now_ns;
    struct command_patience patience;
};
/* Opens the store for looking. Takes a zeroed or failed one to ask_close, too. Errors: ERR_USAGE naming the option,
 * those of storage_open_to_read. */
MUST_CHECK int ask_open(struct ask *ask, struct command_context *context, const struct ask_config *config,
                        struct error *err);
void ask_close(struct ask *ask);
/* The traces beside the store, asked within the same time and memory (telemetry.h). */
struct storagesignals_metrics;
struct storagesignals_traces;
MUST_CHECK int ask_use_traces(struct command_context *context, const struct ask_config *config,
                              struct storagesignals_traces *ret_use, struct error *err);
/* The same for metrics. */
MUST_CHECK int ask_use_metrics(struct command_context *context, const struct ask_config *config,
                               struct storagesignals_metrics *ret_use, struct error *err);

struct ask_question {
    struct querytext_resolved resolved;
    struct slice text; /* canonical, in the arena of the context */
    struct query query;
    struct askspans spans; /* that it was narrowed to */
};
/* Reads a query and gives it a meaning by what the store has in the range, or else has at all. `type` may be NULL. The question holds no reference to the texts. Errors: ERR_USAGE saying where in the
 * text, ERR_NOT_FOUND saying what there is. */
MUST_CHECK int ask_resolve(const struct ask *ask, const char *text, const char *type, int64_t from_ns, int64_t until_ns,
                           struct ask_question *ret_question, struct error *err);
/* Tells what was chosen for the asker, if anything was. */
void ask_tell_choice(const struct ask *ask, const struct ask_question *question);
void ask_question_done(struct ask_question *question);

/* The beginning of a command with one query, its first argument: ask_open, the range and ids of the options, ask_resolve,
 * ask_tell_choice. Both
 * structs are zeroed, and are to be closed and done whatever comes of it. Errors: likewise, ERR_USAGE naming the option. */
MUST_CHECK int ask_begin(struct ask *ask, struct ask_question *question, struct command_context *context,
                         const struct ask_config *config, const struct ask_selection *selection, struct error *err);

/* The names of labels in --by, which may be given several times and hold several with commas, from `arena`. Errors: ERR_USAGE. */
MUST_CHECK int ask_split_names(const struct option_list *by, struct arena *arena, struct slice **ret_names,
                               uint32_t *ret_n, struct error *err);

/* How much time a point of an answer over time covers, unless --step says otherwise: the smallest step that people count
 * in and that makes no more points than usual. */
int64_t ask_usual_step(int64_t range_ns);

/* The answer as a batch of one profile, which is initialised here, under the limit of memory. The type asked for is the
 * default one, and the duration is that of all profiles together, as if they had been merged from files. */
MUST_CHECK int ask_profile(const struct ask *ask, const struct ask_question *question, struct batch *ret_batch,
                           struct query_facts *ret_facts, struct error *err);
/* Counts what an answer was made from, for a server that wants to tell it. */
void ask_count(const struct command_context *context, const struct query_facts *facts);
/* For errors of the engine: an answer that took too long is one of --timeout. Returns -1. */
int ask_failed(const struct ask *ask, struct error *err);

/* Makes filters part of the question; the texts are borrowed. ask_filter_tags takes those by labels alone, for whoever
 * filters functions of the profile; `*ret_rest` is what is left to do then. Errors: ERR_USAGE naming the option that is
 * wrong. */
MUST_CHECK int ask_filter(const struct ask *ask, const struct view_filter *filter, struct ask_question *question,
                          struct error *err);
MUST_CHECK int ask_filter_tags(const struct ask *ask, const struct view_filter *filter, struct ask_question *question,
                               struct view_filter *ret_rest, struct error *err);

/* The view of an answer that is there without its profile, and comes to `total`. */
struct view ask_view(const struct ask_question *question, const struct query_facts *facts, int64_t total,
                     bool is_local);
/* For titles. */
struct view_query ask_view_query(const struct ask_question *question, const struct query_facts *facts);
/* Sample type and unit of the type asked for. */
void ask_type_parts(const struct ask_question *question, struct slice *ret_type, struct slice *ret_unit);

/* Tells that nothing matches, and what there is: when there are such profiles, or else which services and types the
 * store has. The answer is complete without it: if looking takes longer than --timeout, it says so and succeeds. */
MUST_CHECK int ask_tell_empty(const struct ask *ask, const struct ask_question *question, struct error *err);
