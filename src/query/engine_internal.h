// SPDX-License-Identifier: Apache-2.0
/* For the other files of the room: reading as a query, with its turn, its deadline and its limits. */
#pragma once

#include "query/engine.h"
#include "tree/treesum.h"

/* Waits for its turn; engine_leave gives it back. `is_wide`: it uses several threads. Errors: ERR_CANCELLED, ERR_TIMEOUT. */
MUST_CHECK int engine_enter(struct engine *engine, const struct query *query, bool is_wide, struct error *err);
void engine_leave(struct engine *engine, bool is_wide);
/* Whether the answer is still wanted: for loops of their own. Errors: ERR_CANCELLED, ERR_TIMEOUT. */
MUST_CHECK int engine_check(const struct query *query, struct error *err);
/* store_windows and store_scan for the query; every call of the sink looks first whether the answer is still wanted. */
MUST_CHECK int engine_read_windows(struct engine *engine, const struct query *query,
                                   const struct store_window_sink *sink, struct store_reads *reads, struct error *err);
MUST_CHECK int engine_read_rows(struct engine *engine, const struct query *query, const struct store_sink *sink,
                                struct error *err);
/* The same for some of the series that match: the function of store_query. */
struct engine_choice {
    bool (*wants)(void *context, const struct seriesinfo *series);
    void *context;
};
MUST_CHECK int engine_read_windows_of(struct engine *engine, const struct query *query,
                                      const struct engine_choice *choice, const struct store_window_sink *sink,
                                      struct store_reads *reads, struct error *err);
MUST_CHECK int engine_read_rows_of(struct engine *engine, const struct query *query, const struct engine_choice *choice,
                                   const struct store_sink *sink, struct error *err);
/* store_each_series and store_each_column_label for the query. */
MUST_CHECK int engine_read_series(struct engine *engine, const struct query *query,
                                  int (*visit)(void *context, const struct seriesinfo *series, struct error *err),
                                  void *context, struct error *err);
MUST_CHECK int engine_read_column_labels(struct engine *engine, const struct query *query,
                                         int (*visit)(void *context, struct slice name, struct slice value,
                                                      struct error *err),
                                         void *context, struct error *err);
/* Whether values of a full profile type are levels. */
bool engine_is_level(struct slice type);
size_t engine_query_bytes(const struct engine *engine);

/* Adds up what the query chooses, whatever its filters by functions: by stack of call trees, or as a profile. For whoever has
 * a turn, of which engine_count_threads says whether it is a wide one. Both fill in the facts but for what comes behind
 * reading. Errors: those of engine.h. */
MUST_CHECK int engine_sum(struct engine *engine, const struct query *query, struct treesum **ret_sum,
                          struct query_facts *facts, struct error *err);
MUST_CHECK int engine_sum_profile(struct engine *engine, const struct query *query, struct batch *batch,
                                  struct query_facts *facts, struct error *err);
/* How many threads a range of time is worth: a few hours each. */
uint32_t engine_count_threads(const struct engine *engine, const struct query *query);
