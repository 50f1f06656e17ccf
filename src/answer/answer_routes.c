// SPDX-License-Identifier: Apache-2.0
/* Every path of Pyroscope's that is asked for answers. */
#include "answer/answer_internal.h"

#define QUERIER "/querier.v1.QuerierService/"
// clang-format off
#define RANGE_PARAMETERS                                                                                               \
    { "from", "The beginning: seconds, milliseconds, microseconds or nanoseconds since 1970, or now-1h; an hour before until unless given." }, \
    { "until", "The end, which belongs to the range; now unless given." }
#define RENDER_PARAMETERS {                                                                                            \
    { "query", "A profile type with labels, as process_cpu:cpu:nanoseconds:cpu:nanoseconds{env=\"prod\"}, or a service with a short type, as api.cpu{env=prod}." }, \
    RANGE_PARAMETERS,                                                                                                  \
    { "max-nodes", "How many nodes the flame graph has at most, maxNodes as well; 8192 unless given. Functions, for dot: 100 unless given." }, \
    { "groupBy", "A label: the timeline is given for each of its values, too." },                                      \
    { "aggregation", "sum, or avg for the average of a profile: what the timeline shows." },                           \
    { "format", "json, which is what is given without it, dot for Graphviz, or pprof." },                              \
}
#define DIFF_PARAMETERS {                                                                                              \
    { "leftQuery", "What to compare, as the query of /render." },                                                      \
    { "leftFrom", "The beginning of its range; an hour before leftUntil unless given." },                              \
    { "leftUntil", "The end of its range; now unless given." },                                                        \
    { "rightQuery", "What to compare it with; of the same profile type." },                                            \
    { "rightFrom", "The beginning of its range, likewise." },                                                          \
    { "rightUntil", "The end of its range, likewise." },                                                               \
    { "max-nodes", "How many nodes the flame graph has at most, maxNodes as well; 8192 unless given." },               \
}
#define LABELS_PARAMETERS {                                                                                            \
    { "query", "Which series to look at, as the query of /render or as labels alone; all unless given." },             \
    RANGE_PARAMETERS,                                                                                                  \
}
#define LABEL_VALUES_PARAMETERS {                                                                                      \
    { "label", "The label; __name__ gives the profile types." },                                                       \
    { "query", "Which series to look at, as the query of /render or as labels alone; all unless given." },             \
    RANGE_PARAMETERS,                                                                                                  \
}
// clang-format on

#define RENDER_TYPES "application/json, application/octet-stream, text/plain"

static const struct route routes[] = {
    { HTTP_POST, "/version.v1.Version/Version", ROUTE_PUBLIC,
      "Which versions of querier.v1 there are: version.v1.VersionResponse.", clientcalls_version,
      .is_procedure = true },

    { HTTP_POST, QUERIER "ProfileTypes", ROUTE_READ,
      "The profile types of a range of time, of the last hour without one.", querier_profile_types,
      .is_procedure = true },
    { HTTP_POST, QUERIER "LabelNames", ROUTE_READ, "The names of labels of what matches.", querier_label_names,
      .is_procedure = true },
    { HTTP_POST, QUERIER "LabelValues", ROUTE_READ, "The values of one label of what matches.", querier_label_values,
      .is_procedure = true },
    { HTTP_POST, QUERIER "Series", ROUTE_READ, "The distinct sets of labels, or of some labels, of what matches.",
      querier_series, .is_procedure = true },
    { HTTP_POST, QUERIER "GetProfileStats", ROUTE_READ,
      "Whether there are profiles, and when the oldest and the newest of them began.", querier_profile_stats,
      .is_procedure = true },
    { HTTP_POST, QUERIER "AnalyzeQuery", ROUTE_READ, "How many series and bytes a query would look at.",
      querier_analyze_query, .is_procedure = true },
    { HTTP_POST, QUERIER "SelectMergeStacktraces", ROUTE_READ,
      "The profiles that match, added up: as a flame graph, a tree, a graph for Graphviz, or pprof.",
      querier_merge_stacktraces, .is_procedure = true },
    { HTTP_POST, QUERIER "SelectMergeSpanProfile", ROUTE_READ, "The same of some spans alone.",
      querier_merge_span_profile, .is_procedure = true },
    { HTTP_POST, QUERIER "SelectMergeProfile", ROUTE_READ,
      "The profiles that match, added up: the answer is google.v1.Profile, which is pprof.", querier_merge_profile,
      .is_procedure = true },
    { HTTP_POST, QUERIER "Diff", ROUTE_READ, "Two selections of profiles as one flame graph.", querier_diff,
      .is_procedure = true },
    { HTTP_POST, QUERIER "SelectSeries", ROUTE_READ,
      "Values over time, grouped by labels, with exemplars if asked for.", querier_select_series,
      .is_procedure = true },
    { HTTP_POST, QUERIER "SelectHeatmap", ROUTE_READ,
      "How the values of single profiles, or of spans, are spread over time.", querier_select_heatmap,
      .is_procedure = true },
    { HTTP_POST, "/capabilities.v1.FeatureFlagsService/GetFeatureFlags", ROUTE_PUBLIC,
      "Which features of Pyroscope there are: capabilities.v1.GetFeatureFlagsResponse.", clientcalls_features,
      .is_procedure = true },
    { HTTP_POST, "/api/v1/adhoc", ROUTE_WRITE,
      "Keeps a profile of any format apart from the store, to look at; the answer has its id.", adhoc_upload,
      .parameters = { { "name", "What to call it." } } },
    { HTTP_GET, "/api/v1/adhoc", ROUTE_READ, "Profiles that were uploaded so, newest first.", adhoc_list },
    { HTTP_GET, "/api/v1/adhoc/*", ROUTE_READ, "An uploaded profile, by its id.", adhoc_look,
      .parameters = { { "format", "flamebearer (unless given), flame, html, top, pprof, otlp, otlp-json or folded." },
                      { "type", "Which of its types of values; its default unless given." },
                      { "max-nodes", "How many nodes a tree may have; 8192 unless given." },
                      { "rows", "How many functions top shows; 100 unless given." },
                      { "against",
                        "The id of another one: this is before and that after, side by side as flame or html." },
                      { "scale", "What is after is scaled: none (unless given), totals or durations." } },
      .produces = "application/json, application/vnd.hearth.flame, application/octet-stream, text/plain, text/html" },
    { HTTP_DELETE, "/api/v1/adhoc/*", ROUTE_ADMIN, "Forgets an uploaded profile.", adhoc_forget, .produces = "" },

    { HTTP_POST, "/adhocprofiles.v1.AdHocProfileService/Upload", ROUTE_WRITE, "The same as /api/v1/adhoc, by a call.",
      adhoccalls_upload, .is_procedure = true },
    { HTTP_POST, "/adhocprofiles.v1.AdHocProfileService/Get", ROUTE_READ, "An uploaded profile as a flame graph.",
      adhoccalls_get, .is_procedure = true },
    { HTTP_POST, "/adhocprofiles.v1.AdHocProfileService/List", ROUTE_READ, "Profiles that were uploaded, newest first.",
      adhoccalls_list, .is_procedure = true },
    { HTTP_POST, "/adhocprofiles.v1.AdHocProfileService/Diff", ROUTE_READ, "Two uploaded profiles side by side.",
      adhoccalls_diff, .is_procedure = true },
    { HTTP_POST, "/settings.v1.SettingsService/Get", ROUTE_READ, "The settings that Pyroscope's pages keep.",
      settingscalls_get, .is_procedure = true },
    { HTTP_POST, "/settings.v1.SettingsService/Set", ROUTE_WRITE, "Keeps a setting.", settingscalls_set,
      .is_procedure = true },
    { HTTP_POST, "/settings.v1.SettingsService/Delete", ROUTE_WRITE, "Forgets a setting.", settingscalls_delete,
      .is_procedure = true },
    { HTTP_POST, "/settings.v1.RecordingRulesService/*", ROUTE_READ, "Recording rules: unimplemented.",
      clientcalls_no_rules, .is_procedure = true, .is_absent = true },
    { HTTP_POST, "/vcs.v1.VCSService/*", ROUTE_READ, "Source code of repositories: unimplemented.",
      clientcalls_no_repository, .is_procedure = true, .is_absent = true },
    { HTTP_POST, "/debuginfo.v1alpha1.DebuginfoService/ShouldInitiateUpload", ROUTE_READ,
      "Whether debug information should be sent: no, with the reason.", clientcalls_debuginfo, .is_procedure = true },
    { HTTP_POST, "/debuginfo.v1alpha1.DebuginfoService/*", ROUTE_READ, "Debug information: unimplemented.",
      clientcalls_no_debuginfo, .is_procedure = true, .is_absent = true },

    { HTTP_GET, "/pyroscope/render", ROUTE_READ, "A flame graph with its timeline, as Pyroscope's pages read it.",
      render_handle, .parameters = RENDER_PARAMETERS, .produces = RENDER_TYPES },
    { HTTP_GET, "/render", ROUTE_READ, "The same as /pyroscope/render.", render_handle, .parameters = RENDER_PARAMETERS,
      .produces = RENDER_TYPES },
    { HTTP_GET, "/pyroscope/render-diff", ROUTE_READ, "A flame graph of two sides.", render_handle_diff,
      .parameters = DIFF_PARAMETERS },
    { HTTP_GET, "/render-diff", ROUTE_READ, "The same as /pyroscope/render-diff.", render_handle_diff,
      .parameters = DIFF_PARAMETERS },
    { HTTP_GET, "/render/diff", ROUTE_READ, "The same as /pyroscope/render-diff.", render_handle_diff,
      .parameters = DIFF_PARAMETERS },
    { HTTP_GET, "/pyroscope/label-values", ROUTE_READ, "The values of a label, or the profile types.",
      labelpaths_handle_values, .parameters = LABEL_VALUES_PARAMETERS },
    { HTTP_GET, "/label-values", ROUTE_READ, "The same as /pyroscope/label-values.", labelpaths_handle_values,
      .parameters = LABEL_VALUES_PARAMETERS },
    { HTTP_GET, "/labels", ROUTE_READ, "The names of labels.", labelpaths_handle_names,
      .parameters = LABELS_PARAMETERS },
};

const struct route_table answer_routes = { routes, ARRAY_LEN(routes) };
