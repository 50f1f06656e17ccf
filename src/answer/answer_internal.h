// SPDX-License-Identifier: Apache-2.0
/* The handlers of this room, for its table of routes, and what they share. */
#pragma once

#include "answer/answer.h"

struct flamebearer;
struct json;

/* Writes the object that /render-diff answers with, and /render but for its timelines (render.c). */
void render_write_flamebearer(struct json *json, const struct flamebearer *bearer, struct slice profile_type);

/* Calls that clients make to learn about the server (clientcalls.c). */
void clientcalls_version(struct exchange *exchange);

/* querier.v1.QuerierService: what there is (querierlabels.c). */
void querier_profile_types(struct exchange *exchange);
void querier_label_names(struct exchange *exchange);
void querier_label_values(struct exchange *exchange);
void querier_series(struct exchange *exchange);
void querier_profile_stats(struct exchange *exchange);
void querier_analyze_query(struct exchange *exchange);
/* Profiles added up (querierflame.c). */
void querier_merge_stacktraces(struct exchange *exchange);
void querier_merge_span_profile(struct exchange *exchange);
void querier_merge_profile(struct exchange *exchange);
void querier_diff(struct exchange *exchange);
/* Over time (querierseries.c). */
void querier_select_series(struct exchange *exchange);
void querier_select_heatmap(struct exchange *exchange);
void clientcalls_features(struct exchange *exchange);
void clientcalls_debuginfo(struct exchange *exchange);
/* Services that are not here: unimplemented, with a sentence. */
void clientcalls_no_debuginfo(struct exchange *exchange);
void clientcalls_no_rules(struct exchange *exchange);
void clientcalls_no_repository(struct exchange *exchange);

/* Handlers of profiles that are uploaded to be looked at (adhoc.c). */
void adhoc_upload(struct exchange *exchange);
void adhoc_list(struct exchange *exchange);
void adhoc_look(struct exchange *exchange);
void adhoc_forget(struct exchange *exchange);

/* The same by remote calls (adhoccalls.c). */
void adhoccalls_upload(struct exchange *exchange);
void adhoccalls_get(struct exchange *exchange);
void adhoccalls_list(struct exchange *exchange);
void adhoccalls_diff(struct exchange *exchange);

/* Settings of Pyroscope's pages (settingscalls.c). */
void settingscalls_get(struct exchange *exchange);
void settingscalls_set(struct exchange *exchange);
void settingscalls_delete(struct exchange *exchange);

/* Flame graphs (render.c). */
void render_handle(struct exchange *exchange);
void render_handle_diff(struct exchange *exchange);

/* Names and values of labels (labelpaths.c). */
void labelpaths_handle_names(struct exchange *exchange);
void labelpaths_handle_values(struct exchange *exchange);
