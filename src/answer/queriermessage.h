// SPDX-License-Identifier: Apache-2.0
/* What querier.v1.QuerierService is asked: one struct that has the fields of all its requests, and for each procedure the
 * table that fills it. Times are Unix milliseconds; 0 and empty are what is not there. */
#pragma once

#include "answer/rpcmessage.h"

enum querier_format {
    QUERIER_FORMAT_UNSPECIFIED,
    QUERIER_FORMAT_FLAMEGRAPH,
    QUERIER_FORMAT_TREE,
    QUERIER_FORMAT_DOT,
    QUERIER_FORMAT_PPROF,
};
enum querier_exemplars {
    QUERIER_EXEMPLARS_UNSPECIFIED,
    QUERIER_EXEMPLARS_NONE,
    QUERIER_EXEMPLARS_INDIVIDUAL,
    QUERIER_EXEMPLARS_SPAN,
};
enum querier_heatmap { QUERIER_HEATMAP_UNSPECIFIED, QUERIER_HEATMAP_INDIVIDUAL, QUERIER_HEATMAP_SPAN };

struct querier_site {
    struct slice name; /* of a function */
};

struct querier_pgo {
    int64_t keep_locations;
    bool aggregate_callees;
};

struct querier_stacks {
    struct rpcmessage_list call_site; /* struct querier_site, from the root */
    struct querier_pgo *go_pgo;
};

struct querier_async {
    struct slice request_id;
    int32_t type;
};

struct querier_request {
    int64_t start, end;
    struct slice name;
    struct rpcmessage_texts matchers, label_names;
    struct slice profile_type, label_selector;
    int64_t max_nodes;
    int32_t format; /* enum querier_format */
    struct querier_stacks *stacks;
    struct rpcmessage_texts profile_ids, trace_ids, spans;
    struct querier_async *async;
    struct rpcmessage_texts group_by;
    double step; /* seconds */
    int32_t aggregation;
    int64_t limit;
    int32_t exemplars; /* enum querier_exemplars */
    int32_t heatmap;   /* enum querier_heatmap */
    struct querier_request *left, *right;
    struct slice query;
};

extern const struct rpcmessage queriermessage_profile_types;
extern const struct rpcmessage queriermessage_label_values;
extern const struct rpcmessage queriermessage_label_names;
extern const struct rpcmessage queriermessage_series;
extern const struct rpcmessage queriermessage_merge_stacktraces;
extern const struct rpcmessage queriermessage_merge_span_profile;
extern const struct rpcmessage queriermessage_merge_profile;
extern const struct rpcmessage queriermessage_select_series;
extern const struct rpcmessage queriermessage_select_heatmap;
extern const struct rpcmessage queriermessage_diff;
extern const struct rpcmessage queriermessage_profile_stats;
extern const struct rpcmessage queriermessage_analyze_query;
