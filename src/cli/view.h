// SPDX-License-Identifier: Apache-2.0
/* One profile to look at: files read and merged, or the answer to a query; one value type chosen, filters applied. What
 * top, tree, peek, diff and query have in common. */
#pragma once

#include "base/json.h"
#include "cli/input.h"
#include "profile/filter.h"
#include "profile/symbolname.h"

/* What to leave out; see filter.h. */
struct view_filter {
    const char *focus, *ignore, *hide, *show, *show_from, *tag_focus, *tag_ignore;
    struct option_list labels;
};
/* The rows on functions, and those on labels of samples, as option groups of a command whose config struct has a
 * view_filter at `member`. */
#define VIEW_FILTER_OPTIONS_N 5
extern const struct option_spec view_filter_options[VIEW_FILTER_OPTIONS_N];
#define VIEW_FILTER_GROUP(config_struct, member)                                                                       \
    {                                                                                                                  \
        .title = "Filtering", .specs = view_filter_options, .n = VIEW_FILTER_OPTIONS_N,                                \
        .offset = offsetof(struct config_struct, member)                                                               \
    }
#define VIEW_FILTER_LABEL_OPTIONS_N 3
extern const struct option_spec view_filter_label_options[VIEW_FILTER_LABEL_OPTIONS_N];
#define VIEW_FILTER_LABEL_GROUP(config_struct, member)                                                                 \
    {                                                                                                                  \
        .title = "Filtering by labels", .specs = view_filter_label_options, .n = VIEW_FILTER_LABEL_OPTIONS_N,          \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* Of those on labels the ones that hold for queries, too. */
#define VIEW_FILTER_TAG_GROUP(config_struct, member)                                                                   \
    {                                                                                                                  \
        .title = "Filtering by labels", .specs = view_filter_label_options, .n = 2,                                    \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* Whether there is anything to leave out. */
bool view_filter_is_given(const struct view_filter *filter);

/* What was given as filter.h has it; the labels are from `arena`. Errors: ERR_USAGE naming the option that is wrong. */
MUST_CHECK int view_filter_spec(const struct view_filter *filter, struct arena *arena, struct filter_spec *ret_spec,
                                struct error *err);

/* Fills `out` (initialised and empty) with what the filter leaves of `in`, and warns of patterns that met nothing.
 * `*ret_is_filtered` is false, and `out` stays empty, where no filter was given. */
MUST_CHECK int view_filter_apply(struct command_context *context, const struct view_filter *filter,
                                 const struct batch *in, struct batch *out, bool *ret_is_filtered, struct error *err);

struct view;

struct view_config {
    struct input_config input;
    const struct view *like; /* not an option: look at the type that this other view shows, unless one is named */
    const char *type;
    unsigned granularity; /* enum symbol_granularity */
    struct view_filter filter;
    bool is_json;
    bool is_local;
};

/* Of --granularity. */
extern const char *const view_granularity_words[];

/* The rows of view_config but those of its input and filter, as an option group of a command whose config struct has
 * one at `member`. */
#define VIEW_OPTIONS_N 4
extern const struct option_spec view_options[VIEW_OPTIONS_N];
#define VIEW_GROUP(config_struct, member)                                                                              \
    {                                                                                                                  \
        .title = "Selecting", .specs = view_options, .n = VIEW_OPTIONS_N,                                              \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* What a query was about, for titles. */
struct view_query {
    struct slice text; /* canonical; empty where there was no query */
    int64_t from_ns, until_ns;
    bool is_averaged; /* values are averages over the range, not sums */
};

struct view {
    struct input input;
    struct batch filtered; /* in use only where there are filters */
    bool is_filtered;
    const struct profile *profile; /* NULL where there is only a tree of it */
    bool is_local;
    uint32_t type;
    struct slice type_name, unit;
    int64_t total;       /* of the type, after filtering: what shares are shares of is `whole` */
    int64_t whole;       /* before filtering */
    uint64_t whole_size; /* sum of absolute values before filtering */
    uint64_t n_profiles; /* that it was made from */
    int64_t start_ns, duration_ns;
    struct view_query query;
};

/* Reads, merges, filters. On failure nothing is left to close. Errors name the file or the option. */
MUST_CHECK int view_open(struct view *view, struct command_context *context, const struct view_config *config,
                         struct option_list files, struct error *err);
/* The same for a batch of one profile that is there already; it is moved into the view, also on failure. Its texts
 * outlive the view. The query may be NULL. */
MUST_CHECK int view_open_batch(struct view *view, struct command_context *context, const struct view_config *config,
                               struct batch *batch, uint64_t n_profiles, const struct view_query *query,
                               struct error *err);
void view_close(struct view *view);

/* The run of a command that shows one view: opens it, calls `show`, closes it. */
MUST_CHECK int view_run(struct command_context *context, const struct view_config *config, struct option_list files,
                        int (*show)(struct command_context *context, const struct view *view, struct error *err),
                        struct error *err);

/* A share of the whole as percent; 0 where the whole is nothing. */
double view_percent(const struct view *view, int64_t value);

/* The line above a table: type, total, samples, when. */
void view_print_title(const struct view *view, struct buffer *out);
/* The same as members of an open JSON object; and those of them that are about the query. */
void view_json_title(const struct view *view, struct json *json);
void view_json_query(const struct view_query *query, struct json *json);

/* "±4%": the sampling error of a value behind which there are `samples`; "" where that is not known. */
struct view_error {
    char text[16];
};
struct view_error view_format_error(double samples);

/* Prints `out` as the result of the command if `result` and the buffer are good. Returns 0 or -1. */
MUST_CHECK int view_finish(struct command_context *context, struct buffer *out, int result, struct error *err);
