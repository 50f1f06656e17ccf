// SPDX-License-Identifier: Apache-2.0
#include "answer/queriermessage.h"

#include <stddef.h>

#define FIELD(number, name, kind, member)                                                                              \
    {                                                                                                                  \
        number, name, RPCMESSAGE_##kind, offsetof(struct querier_request, member), NULL, NULL                          \
    }
#define NESTED(number, name, member, message)                                                                          \
    {                                                                                                                  \
        number, name, RPCMESSAGE_MESSAGE, offsetof(struct querier_request, member), &(message), NULL                   \
    }
#define CHOICE(number, name, member, names)                                                                            \
    {                                                                                                                  \
        number, name, RPCMESSAGE_ENUM, offsetof(struct querier_request, member), NULL, names                           \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }
#define REQUEST(symbol, rpc_name, rows)                                                                                \
    const struct rpcmessage symbol = { "querier.v1." rpc_name "Request", sizeof(struct querier_request), rows }

/* --- enums and nested messages --- */

static const char *const format_names[] = { "PROFILE_FORMAT_UNSPECIFIED", "PROFILE_FORMAT_FLAMEGRAPH",
                                            "PROFILE_FORMAT_TREE",        "PROFILE_FORMAT_DOT",
                                            "PROFILE_FORMAT_PPROF",       NULL };
static const char *const exemplar_names[] = { "EXEMPLAR_TYPE_UNSPECIFIED", "EXEMPLAR_TYPE_NONE",
                                              "EXEMPLAR_TYPE_INDIVIDUAL", "EXEMPLAR_TYPE_SPAN", NULL };
static const char *const heatmap_names[] = { "HEATMAP_QUERY_TYPE_UNSPECIFIED", "HEATMAP_QUERY_TYPE_INDIVIDUAL",
                                             "HEATMAP_QUERY_TYPE_SPAN", NULL };
static const char *const aggregation_names[] = { "TIME_SERIES_AGGREGATION_TYPE_SUM",
                                                 "TIME_SERIES_AGGREGATION_TYPE_AVERAGE", NULL };
static const char *const async_names[] = { "ASYNC_QUERY_TYPE_DISABLED", "ASYNC_QUERY_TYPE_FORCE", NULL };

static const struct rpcmessage_field site_fields[] = {
    { 1, "name", RPCMESSAGE_TEXT, offsetof(struct querier_site, name), NULL, NULL },
    END,
};
static const struct rpcmessage site = { "types.v1.Location", sizeof(struct querier_site), site_fields };

static const struct rpcmessage_field pgo_fields[] = {
    { 1, "keep_locations", RPCMESSAGE_INT64, offsetof(struct querier_pgo, keep_locations), NULL, NULL },
    { 2, "aggregate_callees", RPCMESSAGE_BOOL, offsetof(struct querier_pgo, aggregate_callees), NULL, NULL },
    END,
};
static const struct rpcmessage pgo = { "types.v1.GoPGO", sizeof(struct querier_pgo), pgo_fields };

static const struct rpcmessage_field stacks_fields[] = {
    { 1, "call_site", RPCMESSAGE_MESSAGES, offsetof(struct querier_stacks, call_site), &site, NULL },
    { 2, "go_pgo", RPCMESSAGE_MESSAGE, offsetof(struct querier_stacks, go_pgo), &pgo, NULL },
    END,
};
static const struct rpcmessage stacks_message = { "types.v1.StackTraceSelector", sizeof(struct querier_stacks),
                                                  stacks_fields };

static const struct rpcmessage_field async_fields[] = {
    { 1, "request_id", RPCMESSAGE_TEXT, offsetof(struct querier_async, request_id), NULL, NULL },
    { 2, "type", RPCMESSAGE_ENUM, offsetof(struct querier_async, type), NULL, async_names },
    END,
};
static const struct rpcmessage async_message = { "querier.v1.AsyncQueryRequest", sizeof(struct querier_async),
                                                 async_fields };

/* --- what there is --- */

static const struct rpcmessage_field profile_types[] = {
    FIELD(1, "start", INT64, start),
    FIELD(2, "end", INT64, end),
    END,
};
REQUEST(queriermessage_profile_types, "ProfileTypes", profile_types);

static const struct rpcmessage_field label_values[] = {
    FIELD(1, "name", TEXT, name),
    FIELD(2, "matchers", TEXTS, matchers),
    FIELD(3, "start", INT64, start),
    FIELD(4, "end", INT64, end),
    END,
};
REQUEST(queriermessage_label_values, "LabelValues", label_values);

static const struct rpcmessage_field label_names[] = {
    FIELD(1, "matchers", TEXTS, matchers),
    FIELD(2, "start", INT64, start),
    FIELD(3, "end", INT64, end),
    END,
};
REQUEST(queriermessage_label_names, "LabelNames", label_names);

static const struct rpcmessage_field series[] = {
    FIELD(1, "matchers", TEXTS, matchers),
    FIELD(2, "label_names", TEXTS, label_names),
    FIELD(3, "start", INT64, start),
    FIELD(4, "end", INT64, end),
    END,
};
REQUEST(queriermessage_series, "Series", series);

static const struct rpcmessage_field nothing[] = { END };
REQUEST(queriermessage_profile_stats, "GetProfileStats", nothing);

static const struct rpcmessage_field analyze_query[] = {
    FIELD(2, "start", INT64, start),
    FIELD(3, "end", INT64, end),
    FIELD(4, "query", TEXT, query),
    END,
};
REQUEST(queriermessage_analyze_query, "AnalyzeQuery", analyze_query);

/* --- profiles --- */

static const struct rpcmessage_field merge_stacktraces[] = {
    FIELD(1, "profile_typeID", TEXT, profile_type),
    FIELD(2, "label_selector", TEXT, label_selector),
    FIELD(3, "start", INT64, start),
    FIELD(4, "end", INT64, end),
    FIELD(5, "max_nodes", INT64, max_nodes),
    CHOICE(6, "format", format, format_names),
    NESTED(7, "stack_trace_selector", stacks, stacks_message),
    FIELD(8, "profile_id_selector", TEXTS, profile_ids),
    NESTED(9, "async", async, async_message),
    FIELD(10, "trace_id_selector", TEXTS, trace_ids),
    FIELD(11, "span_selector", TEXTS, spans),
    END,
};
REQUEST(queriermessage_merge_stacktraces, "SelectMergeStacktraces", merge_stacktraces);

static const struct rpcmessage_field merge_span_profile[] = {
    FIELD(1, "profile_typeID", TEXT, profile_type),
    FIELD(2, "label_selector", TEXT, label_selector),
    FIELD(3, "span_selector", TEXTS, spans),
    FIELD(4, "start", INT64, start),
    FIELD(5, "end", INT64, end),
    FIELD(6, "max_nodes", INT64, max_nodes),
    CHOICE(7, "format", format, format_names),
    END,
};
REQUEST(queriermessage_merge_span_profile, "SelectMergeSpanProfile", merge_span_profile);

static const struct rpcmessage_field merge_profile[] = {
    FIELD(1, "profile_typeID", TEXT, profile_type),
    FIELD(2, "label_selector", TEXT, label_selector),
    FIELD(3, "start", INT64, start),
    FIELD(4, "end", INT64, end),
    FIELD(5, "max_nodes", INT64, max_nodes),
    NESTED(6, "stack_trace_selector", stacks, stacks_message),
    FIELD(7, "profile_id_selector", TEXTS, profile_ids),
    FIELD(8, "trace_id_selector", TEXTS, trace_ids),
    END,
};
REQUEST(queriermessage_merge_profile, "SelectMergeProfile", merge_profile);

static const struct rpcmessage_field diff[] = {
    NESTED(1, "left", left, queriermessage_merge_stacktraces),
    NESTED(2, "right", right, queriermessage_merge_stacktraces),
    END,
};
REQUEST(queriermessage_diff, "Diff", diff);

/* --- over time --- */

static const struct rpcmessage_field select_series[] = {
    FIELD(1, "profile_typeID", TEXT, profile_type),
    FIELD(2, "label_selector", TEXT, label_selector),
    FIELD(3, "start", INT64, start),
    FIELD(4, "end", INT64, end),
    FIELD(5, "group_by", TEXTS, group_by),
    FIELD(6, "step", DOUBLE, step),
    CHOICE(7, "aggregation", aggregation, aggregation_names),
    NESTED(8, "stack_trace_selector", stacks, stacks_message),
    FIELD(9, "limit", INT64, limit),
    CHOICE(10, "exemplar_type", exemplars, exemplar_names),
    END,
};
REQUEST(queriermessage_select_series, "SelectSeries", select_series);

static const struct rpcmessage_field select_heatmap[] = {
    FIELD(1, "profile_typeID", TEXT, profile_type),
    FIELD(2, "label_selector", TEXT, label_selector),
    FIELD(3, "start", INT64, start),
    FIELD(4, "end", INT64, end),
    FIELD(5, "step", DOUBLE, step),
    FIELD(6, "group_by", TEXTS, group_by),
    CHOICE(7, "query_type", heatmap, heatmap_names),
    CHOICE(8, "exemplar_type", exemplars, exemplar_names),
    FIELD(9, "limit", INT64, limit),
    END,
};
REQUEST(queriermessage_select_heatmap, "SelectHeatmap", select_heatmap);
