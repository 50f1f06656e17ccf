// SPDX-License-Identifier: Apache-2.0
#include "cli/apirow.h"

#include "cli/api.h"
#include "cli/commands.h"

// clang-format off
#define TREE_OPTIONS  "invert", "collapse-recursion", "min-share", "max-nodes", "depth", "path"
#define TABLE_OPTIONS "rows", "cum"

/*  METHOD  path                      scope  command           summary, and what else the row has */
#define APIROWS(X)                                                                                                     \
    X(GET, "/api/v1/profile-types",   READ,  cmd_types,        "The types of profiles that there are.",                \
      .arguments = { "selector" })                                                                                     \
    X(GET, "/api/v1/labels",          READ,  cmd_labels,       "The names of labels.",                                 \
      .arguments = { "selector" })                                                                                     \
    X(GET, "/api/v1/label-values",    READ,  cmd_label_values, "The values of a label.",                               \
      .arguments = { "label", "selector" })                                                                            \
    X(GET, "/api/v1/series",          READ,  cmd_series,       "The series, with their labels and types.",             \
      .arguments = { "selector" })                                                                                     \
    X(GET, "/api/v1/query",           READ,  cmd_query,        "What profiles of a query come to, in any form.",       \
      .arguments = { "query" })                                                                                        \
    X(GET, "/api/v1/flamegraph",      READ,  cmd_query,        "The tree of calls of a query, or a part of it.",       \
      .arguments = { "query" }, .formats = { "tree", "flame" }, .without = { "function", TABLE_OPTIONS },              \
      .is_view = true)                                                                                                 \
    X(GET, "/api/v1/top",             READ,  cmd_query,        "The functions of a query that cost most.",             \
      .arguments = { "query" }, .formats = { "top" }, .without = { "function", TREE_OPTIONS }, .is_view = true)        \
    X(GET, "/api/v1/callers",         READ,  cmd_query,        "Functions of a query with their callers and callees.", \
      .arguments = { "query" }, .formats = { "peek" }, .without = { "cum", TREE_OPTIONS },                             \
      .required = { "function" }, .is_view = true)                                                                     \
    X(GET, "/api/v1/export",          READ,  cmd_query,        "The profiles of a query as a file.",                   \
      .arguments = { "query" }, .formats = { "pprof", "otlp", "otlp-json", "folded", "html" },                         \
      .without = { "function", TABLE_OPTIONS, TREE_OPTIONS }, .is_file = true, .is_view = true)                        \
    X(GET, "/api/v1/diff",            READ,  cmd_diff,         "What grew and what shrank between two queries.",       \
      .without = { "label" }, .required = { "baseline", "comparison" })                                                \
    X(GET, "/api/v1/timeseries",      READ,  cmd_timeseries,   "What the profiles of a query come to over time.",      \
      .arguments = { "query" })                                                                                        \
    X(GET, "/api/v1/heatmap",         READ,  cmd_heatmap,      "How the values of single profiles are spread over time.", \
      .arguments = { "query" })                                                                                        \
    X(GET, "/api/v1/metrics",         READ,  cmd_metrics,      "Metrics of processes and runtimes over time.")         \
    X(GET, "/api/v1/explain",         READ,  cmd_explain,      "How a query is answered, and what that costs.",        \
      .arguments = { "query" })                                                                                        \
    X(GET, "/api/v1/cardinality",     READ,  cmd_cardinality,  "Which labels make how many series.",                   \
      .arguments = { "selector" })                                                                                     \
    X(GET, "/api/v1/traces",          READ,  cmd_traces,       "Traces that have a span as asked for.")                \
    X(GET, "/api/v1/trace",           READ,  cmd_trace,        "A trace: its spans, and what samples say of them.",    \
      .arguments = { "id" })                                                                                           \
    X(GET, "/api/v1/operations",      READ,  cmd_operations,   "The operations of services, and how long they took.")  \
    X(GET, "/api/v1/slow-fast",       READ,  cmd_slow_fast,    "What the slowest spans of an operation did differently.", \
      .arguments = { "query" }, .required = { "operation" })                                                           \
    X(GET, "/api/v1/stats",           ADMIN, cmd_stats,        "What the store holds of all tenants, and what it costs.") \
    X(GET, "/api/v1/keep",            READ,  cmd_keep,         "The ranges that are kept beyond the retention.",       \
      .is_list = true)                                                                                                 \
    X(POST, "/api/v1/keep",           ADMIN, cmd_keep,         "Keeps a range beyond the retention, or lets it go.",   \
      .arguments = { "selector" })                                                                                     \
    X(POST, "/api/v1/delete",         ADMIN, cmd_delete,       "Deletes profiles.",                                    \
      .arguments = { "selector" })                                                                                     \
    X(POST, "/api/v1/compact",        ADMIN, cmd_compact,      "Makes the store as small as it can be.")               \
    X(POST, "/api/v1/verify",         ADMIN, cmd_verify,       "Reads all of the store and checks it.")                \
    X(POST, "/api/v1/backup",         ADMIN, cmd_backup,       "Makes a copy of the store below backups/ in its directory.")

#define ROW(method_, path_, scope_, command_, summary_, ...)                                                           \
    { .method = HTTP_##method_, .path = path_, .scope = ROUTE_##scope_, .command = &command_, .summary = summary_,     \
      ##__VA_ARGS__ },
#define ROUTE(method_, path_, scope_, command_, summary_, ...)                                                         \
    { HTTP_##method_, path_, ROUTE_##scope_, summary_, api_serve },

const struct apirow apirow_all[] = { APIROWS(ROW) };
const size_t apirow_n = ARRAY_LEN(apirow_all);
static const struct route routes[] = { APIROWS(ROUTE) };
const struct route_table apirow_routes = { routes, ARRAY_LEN(routes) };
// clang-format on

const struct apirow *apirow_of(const struct route *route)
{
    size_t i = 0;

    while (apirow_all[i].method != route->method || strcmp(apirow_all[i].path, route->path) != 0)
        i++;
    return &apirow_all[i];
}

/* --- what only requests have --- */

static const char *const output_words[] = {
    [APIROW_JSON] = "json", [APIROW_TEXT] = "text", [APIROW_CSV] = "csv", NULL
};
static const char *const output_words_without_csv[] = { "json", "text", NULL };

static const struct option_spec own_options[] = {
    [APIROW_OWN_OUTPUT] = { "output", OPTION_ENUM, FIELD(apirow_own, output), "json",
                            "What the answer is written as: JSON for programs, or the text that the command prints.",
                            .words = output_words },
    [APIROW_OWN_FILE] = { "file", OPTION_TEXT, FIELD(apirow_own, file), NULL,
                          "What the answer is to be saved as: unless the format is given, the ending of this name says "
                          "it, "
                          "and "
                          "it says the compression.",
                          .value_name = "NAME" },
    [APIROW_OWN_WIDTH] = { "width", OPTION_UINT, FIELD(apirow_own, width), "80", "Columns that text may take.",
                           .min = "40", .max = "400" },
    [APIROW_OWN_COLOR] = { "color", OPTION_BOOL, FIELD(apirow_own, has_colour), "false",
                           "Colour text with the escape sequences of terminals." },
    [APIROW_OWN_UTF8] = { "utf8", OPTION_BOOL, FIELD(apirow_own, has_utf8), "true",
                          "Draw with characters beyond ASCII, where text has drawings." },
};

struct apirow_own apirow_own_defaults(void)
{
    return (struct apirow_own){ .output = APIROW_JSON, .width = 80, .has_utf8 = true };
}

int apirow_take_own(struct apirow_own *own, const struct apirow_parameter *parameter, const char *text,
                    struct error *err)
{
    enum apirow_own_parameter which = (enum apirow_own_parameter)(parameter->spec - own_options);
    union option_value value;

    if (own->is_given[which])
        return error_set(err, ERR_USAGE, "'%s' is given twice; give it once", parameter->name);
    if (option_parse(parameter->spec, text, &value, err) < 0) {
        err->code = ERR_USAGE;
        return error_wrap(err, "%s", parameter->name);
    }
    own->is_given[which] = true;
    switch (which) {
    case APIROW_OWN_OUTPUT: own->output = value.word; break;
    case APIROW_OWN_FILE: own->file = value.text; break;
    case APIROW_OWN_WIDTH: own->width = value.u64; break;
    case APIROW_OWN_COLOR: own->has_colour = value.truth; break;
    case APIROW_OWN_UTF8: own->has_utf8 = value.truth; break;
    case APIROW_OWN_COUNT: break;
    }
    return 0;
}

/* --- parameters --- */

const struct option_spec *apirow_option(const struct command *command, struct slice name)
{
    for (size_t group = 0; group < command_groups_n(command); group++)
        for (size_t i = 0; i < command->options[group].n; i++)
            if (slice_is(name, command->options[group].specs[i].name))
                return &command->options[group].specs[i];
    return NULL;
}

static bool has_option(const struct apirow *row, const char *name)
{
    return apirow_option(row->command, slice_from(name)) != NULL;
}

static bool is_among(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* R1, R2, R3. */
static bool is_open(const struct apirow *row, const struct option_spec *spec)
{
    if (row->is_list)
        return strcmp(spec->name, "tenant") == 0;
    if (spec->is_of_machine || spec->is_hidden || is_among(row->without, APIROW_MAX_WITHOUT, spec->name))
        return false;
    if (strcmp(spec->name, "format") == 0)
        return !row->formats[0] || row->formats[1];
    return strcmp(spec->name, "json") != 0 && strcmp(spec->name, "csv") != 0;
}

static bool is_own(const struct apirow *row, size_t own)
{
    switch (own) {
    case APIROW_OWN_FILE: return has_option(row, "output") && (row->is_file || !row->is_view);
    case APIROW_OWN_OUTPUT: return has_option(row, "json") && !row->is_file;
    default: return !row->is_file;
    }
}

static struct apirow_parameter argument_parameter(const struct apirow *row, size_t i)
{
    return (struct apirow_parameter){ .name = row->arguments[i],
                                      .target = APIROW_ARGUMENT,
                                      .help = row->command->arguments[i].help,
                                      .is_required = row->command->arguments[i].min > 0 };
}

static struct apirow_parameter option_parameter(const struct apirow *row, const struct option_spec *spec)
{
    struct apirow_parameter parameter = { .name = spec->name,
                                          .target = APIROW_OPTION,
                                          .spec = spec,
                                          .help = spec->help,
                                          .default_text = spec->default_text,
                                          .is_required = is_among(row->required, APIROW_MAX_REQUIRED, spec->name) };

    if (strcmp(spec->name, "format") == 0 && row->formats[0]) {
        parameter.words = row->formats;
        parameter.default_text = row->formats[0];
    }
    return parameter;
}

static struct apirow_parameter own_parameter(const struct apirow *row, size_t own)
{
    const struct option_spec *spec = &own_options[own];

    return (struct apirow_parameter){
        .name = spec->name,
        .target = APIROW_OWN,
        .spec = spec,
        .help = spec->help,
        .default_text = spec->default_text,
        .words = own == APIROW_OWN_OUTPUT && !has_option(row, "csv") ? output_words_without_csv : NULL,
    };
}

bool apirow_parameter(const struct apirow *row, size_t index, struct apirow_parameter *ret_parameter)
{
    for (size_t i = 0; i < APIROW_MAX_ARGUMENTS && row->arguments[i]; i++)
        if (index-- == 0) {
            *ret_parameter = argument_parameter(row, i);
            return true;
        }
    for (size_t group = 0; group < command_groups_n(row->command); group++)
        for (size_t i = 0; i < row->command->options[group].n; i++) {
            const struct option_spec *spec = &row->command->options[group].specs[i];

            if (is_open(row, spec) && index-- == 0) {
                *ret_parameter = option_parameter(row, spec);
                return true;
            }
        }
    for (size_t own = 0; own < ARRAY_LEN(own_options); own++)
        if (is_own(row, own) && index-- == 0) {
            *ret_parameter = own_parameter(row, own);
            return true;
        }
    return false;
}

bool apirow_find_parameter(const struct apirow *row, struct slice name, struct apirow_parameter *ret_parameter)
{
    struct apirow_parameter parameter;

    for (size_t i = 0; apirow_parameter(row, i, &parameter); i++)
        if (slice_is(name, parameter.name)) {
            *ret_parameter = parameter;
            return true;
        }
    return false;
}

const char *apirow_word(const struct apirow_parameter *parameter, size_t index)
{
    if (parameter->words)
        return parameter->words[index];
    return parameter->spec && parameter->spec->type == OPTION_ENUM ? option_word(parameter->spec, index) : NULL;
}
