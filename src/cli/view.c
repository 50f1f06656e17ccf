// SPDX-License-Identifier: Apache-2.0
#include "cli/view.h"

#include "base/clock.h"
#include "cli/table.h"
#include "flame/noise.h"
#include "profile/prune.h"
#include "profile/unit.h"

#include <errno.h>

const char *const view_granularity_words[] = { "function", "filefunction", "file", "line", "address", NULL };

const struct option_spec view_options[VIEW_OPTIONS_N] = {
    { "type", OPTION_TEXT, FIELD(view_config, type), NULL,
      "Value type to look at, as TYPE or TYPE/UNIT; the profile's default type unless given. 'hearth inspect' lists "
      "them.",
      .value_name = "TYPE" },
    { "granularity", OPTION_ENUM, FIELD(view_config, granularity), "function", "What counts as one function.",
      .words = view_granularity_words },
    { "json", OPTION_BOOL, FIELD(view_config, is_json), "false", "Write JSON." },
    { "local", OPTION_BOOL, FIELD(view_config, is_local), "false", "Show times in the local zone instead of UTC." },
};

const struct option_spec view_filter_options[VIEW_FILTER_OPTIONS_N] = {
    { "focus", OPTION_REGEX, FIELD(view_filter, focus), NULL,
      "Only samples in which a function, file or binary on the stack matches." },
    { "ignore", OPTION_REGEX, FIELD(view_filter, ignore), NULL, "Leave out samples in which one matches." },
    { "hide", OPTION_REGEX, FIELD(view_filter, hide), NULL, "Leave out the matching functions, keep the samples." },
    { "show", OPTION_REGEX, FIELD(view_filter, show), NULL, "Leave out the functions that do not match." },
    { "show-from", OPTION_REGEX, FIELD(view_filter, show_from), NULL,
      "Leave out what called the matching function nearest the root, and samples without one." },
};

/* Those of VIEW_FILTER_TAG_GROUP first. */
const struct option_spec view_filter_label_options[VIEW_FILTER_LABEL_OPTIONS_N] = {
    { "tagfocus", OPTION_TEXT, FIELD(view_filter, tag_focus), NULL,
      "Only samples with a label that matches, in pprof's notation: a pattern, KEY=PATTERN, or a range of numbers with "
      "units like bytes=1kb:1mb.",
      .value_name = "TAGS" },
    { "tagignore", OPTION_TEXT, FIELD(view_filter, tag_ignore), NULL, "Leave out samples with a label that matches.",
      .value_name = "TAGS" },
    { "label", OPTION_LIST, FIELD(view_filter, labels), NULL,
      "Only samples with this label: KEY=VALUE, KEY!=VALUE, KEY=~PATTERN or KEY!~PATTERN. All that are given must "
      "hold.",
      .value_name = "SELECTION" },
};

/* The type that is the same as another view's: by name and unit, else by name and a unit that can be converted. */
static uint32_t find_like(const struct profile *profile, const struct view *like)
{
    uint32_t found = PROFILE_NO_TYPE;
    int64_t up, down;

    for (uint32_t i = 0; i < profile->n_types; i++) {
        struct slice unit = tables_string(profile->tables, profile->types[i].unit);

        if (!slice_equal(tables_string(profile->tables, profile->types[i].type), like->type_name))
            continue;
        if (slice_equal(unit, like->unit))
            return i;
        if (found == PROFILE_NO_TYPE && unit_ratio(unit, like->unit, &up, &down))
            found = i;
    }
    return found;
}

static int no_type(const struct profile *profile, const struct view_config *config, struct error *err)
{
    if (config->type)
        return input_no_such_type(profile, config->type, err);
    if (profile->n_types == 0)
        return error_set(err, ERR_INVALID, "the profile has no value types, so there is nothing to show");
    return error_set(err, ERR_INVALID,
                     "the second profile has no value type '%.*s', which the first one shows; --type names one that "
                     "both have",
                     SLICE_ARG(config->like->type_name));
}

static int choose_type(struct view *view, const struct view_config *config, struct error *err)
{
    const struct profile *profile = &view->input.batch.profiles[0];

    view->type = config->type   ? profile_find_type(profile, slice_from(config->type))
                 : config->like ? find_like(profile, config->like)
                                : profile_default_type(profile);
    if (view->type == PROFILE_NO_TYPE)
        return no_type(profile, config, err);
    view->profile = profile;
    view->type_name = tables_string(profile->tables, profile->types[view->type].type);
    view->unit = tables_string(profile->tables, profile->types[view->type].unit);
    return 0;
}

static void measure(struct view *view)
{
    const int64_t *values = profile_values(view->profile, view->type);

    view->whole = profile_total(view->profile, view->type);
    for (uint32_t i = 0; i < view->profile->n_samples; i++) {
        uint64_t size = values[i] < 0 ? -(uint64_t)values[i] : (uint64_t)values[i];

        if (__builtin_add_overflow(view->whole_size, size, &view->whole_size))
            view->whole_size = UINT64_MAX;
    }
}

static bool is_given(const char *text)
{
    return text && *text;
}

bool view_filter_is_given(const struct view_filter *filter)
{
    return is_given(filter->focus) || is_given(filter->ignore) || is_given(filter->hide) || is_given(filter->show) ||
           is_given(filter->show_from) || is_given(filter->tag_focus) || is_given(filter->tag_ignore) ||
           filter->labels.n > 0;
}

/* A filter names its patterns as the options are called: "focus: ..." is about --focus, and wrong usage. */
static int wrong_option(struct error *err)
{
    memmove(err->text + 2, err->text, sizeof(err->text) - 3);
    memcpy(err->text, "--", 2);
    err->code = ERR_USAGE;
    return -1;
}

static int make_filter(const struct view_filter *given, struct arena *arena, struct filter_spec *ret_spec,
                       struct filter **ret_filter, struct error *err)
{
    struct filter_spec spec = { .focus = slice_from(given->focus),
                                .ignore = slice_from(given->ignore),
                                .hide = slice_from(given->hide),
                                .show = slice_from(given->show),
                                .show_from = slice_from(given->show_from),
                                .tag_focus = slice_from(given->tag_focus),
                                .tag_ignore = slice_from(given->tag_ignore),
                                .n_labels = (uint32_t)given->labels.n };
    struct slice *labels = ARENA_ARRAY(arena, struct slice, given->labels.n, err);

    if (!labels)
        return -1;
    for (size_t i = 0; i < given->labels.n; i++)
        labels[i] = slice_from(given->labels.items[i]);
    spec.labels = labels;
    if (filter_new(&spec, ret_filter, err) < 0)
        return err->code == ERR_INVALID ? wrong_option(err) : -1;
    *ret_spec = spec;
    return 0;
}

int view_filter_spec(const struct view_filter *filter, struct arena *arena, struct filter_spec *ret_spec,
                     struct error *err)
{
    AUTO(filter_freep) struct filter *compiled = NULL;

    return make_filter(filter, arena, ret_spec, &compiled, err);
}

int view_filter_apply(struct command_context *context, const struct view_filter *given, const struct batch *in,
                      struct batch *out, bool *ret_is_filtered, struct error *err)
{
    AUTO(filter_freep) struct filter *filter = NULL;
    struct filter_spec spec;

    *ret_is_filtered = view_filter_is_given(given);
    if (!*ret_is_filtered)
        return 0;
    if (make_filter(given, context->arena, &spec, &filter, err) < 0 || filter_apply(filter, in, out, err) < 0)
        return -1;
    input_warn(context, "filters", &out->report);
    return 0;
}

/* pprof files may say which frames nobody wants to see: the innards of allocators and profilers. */
static int prune(struct view *view, struct command_context *context, struct error *err)
{
    struct batch pruned;

    if (!prune_is_needed(&view->input.batch))
        return 0;
    batch_init(&pruned, &view->input.batch.limits);
    if (prune_apply(&view->input.batch, &pruned, err) < 0) {
        batch_done(&pruned);
        return -1;
    }
    input_warn(context, "drop_frames of the profile", &pruned.report);
    report_clear(&pruned.report);
    input_replace(&view->input, &pruned);
    return 0;
}

static int prepare(struct view *view, struct command_context *context, const struct view_config *config,
                   struct error *err)
{
    if (prune(view, context, err) < 0 || choose_type(view, config, err) < 0)
        return -1;
    measure(view);
    if (view_filter_apply(context, &config->filter, &view->input.batch, &view->filtered, &view->is_filtered, err) < 0)
        return -1;
    if (view->is_filtered)
        view->profile = &view->filtered.profiles[0];
    view->total = profile_total(view->profile, view->type);
    view->n_profiles = view->input.n_profiles;
    view->start_ns = view->profile->start_ns;
    view->duration_ns = view->profile->duration_ns;
    return 0;
}

/* Makes the input, which is open, the view's; it is closed on failure. */
static int start(struct view *view, struct command_context *context, const struct view_config *config,
                 struct error *err)
{
    batch_init(&view->filtered, &view->input.batch.limits);
    if (prepare(view, context, config, err) < 0) {
        view_close(view);
        return -1;
    }
    return 0;
}

int view_open(struct view *view, struct command_context *context, const struct view_config *config,
              struct option_list files, struct error *err)
{
    *view = (struct view){ .is_local = config->is_local };
    if (input_open(&view->input, context, &config->input, files, INPUT_MERGED, err) < 0)
        return -1;
    return start(view, context, config, err);
}

int view_open_batch(struct view *view, struct command_context *context, const struct view_config *config,
                    struct batch *batch, uint64_t n_profiles, const struct view_query *query, struct error *err)
{
    *view = (struct view){ .is_local = config->is_local };
    batch_init(&view->input.batch, &batch->limits);
    buffer_init(&view->input.file, 0);
    input_replace(&view->input, batch);
    view->input.n_profiles = n_profiles;
    if (query)
        view->query = *query;
    return start(view, context, config, err);
}

void view_close(struct view *view)
{
    batch_done(&view->filtered);
    input_close(&view->input);
}

int view_run(struct command_context *context, const struct view_config *config, struct option_list files,
             int (*show)(struct command_context *context, const struct view *view, struct error *err),
             struct error *err)
{
    struct view view;
    int result;

    if (view_open(&view, context, config, files, err) < 0)
        return -1;
    result = show(context, &view, err);
    view_close(&view);
    return result;
}

double view_percent(const struct view *view, int64_t value)
{
    return view->whole_size ? 100.0 * (double)value / (double)view->whole_size : 0;
}

void view_print_title(const struct view *view, struct buffer *out)
{
    enum clock_zone zone = view->is_local ? CLOCK_ZONE_LOCAL : CLOCK_ZONE_UTC;
    char time[CLOCK_TEXT_BYTES];

    table_append_text(out, view->type_name);
    buffer_append_byte(out, '/');
    table_append_text(out, view->unit);
    buffer_printf(out, ", %s %s", unit_format(view->whole, view->unit).text,
                  view->query.is_averaged ? "on average" : "in all");
    if (view->is_filtered)
        buffer_printf(out, ", %s of it selected (%.2f%%)", unit_format(view->total, view->unit).text,
                      view_percent(view, view->total));
    if (view->n_profiles > 1)
        buffer_printf(out, ", %llu profiles", (unsigned long long)view->n_profiles);
    if (view->query.text.len > 0) {
        buffer_printf(out, ", %s", clock_format(view->query.from_ns, zone, 0, time));
        buffer_printf(out, " to %s\n", clock_format(view->query.until_ns, zone, 0, time));
        return;
    }
    if (view->start_ns)
        buffer_printf(out, ", %s", clock_format(view->start_ns, zone, 0, time));
    if (view->duration_ns)
        buffer_printf(out, " for %s", unit_format(view->duration_ns, SLICE("nanoseconds")).text);
    buffer_append_byte(out, '\n');
}

void view_json_query(const struct view_query *query, struct json *json)
{
    json_key(json, "query");
    json_string(json, query->text);
    json_key(json, "from_ns");
    json_int(json, query->from_ns);
    json_key(json, "until_ns");
    json_int(json, query->until_ns);
    json_key(json, "averaged");
    json_bool(json, query->is_averaged);
}

void view_json_title(const struct view *view, struct json *json)
{
    if (view->query.text.len > 0)
        view_json_query(&view->query, json);
    json_key(json, "type");
    json_string(json, view->type_name);
    json_key(json, "unit");
    json_string(json, view->unit);
    json_key(json, "whole");
    json_int(json, view->whole);
    json_key(json, "total");
    json_int(json, view->total);
    json_key(json, "profiles");
    json_uint(json, view->n_profiles);
    if (view->query.text.len == 0) {
        json_key(json, "start_ns");
        json_int(json, view->start_ns);
    }
    json_key(json, "duration_ns");
    json_int(json, view->duration_ns);
}

struct view_error view_format_error(double samples)
{
    struct view_error error = { "" };
    double percent = 100 * noise_relative_error(samples);

    if (samples > 0)
        snprintf(error.text, sizeof(error.text), percent < 10 ? "\302\261%.1f%%" : "\302\261%.0f%%", percent);
    return error;
}

int view_finish(struct command_context *context, struct buffer *out, int result, struct error *err)
{
    if (result == 0)
        result = buffer_check(out, err);
    /* An empty result has no data to point to. */
    if (result == 0 &&
        ((out->len > 0 && fwrite(out->data, 1, out->len, context->out) != out->len) || fflush(context->out) != 0))
        result = error_set_errno(err, errno, "writing standard output");
    buffer_done(out);
    return result;
}
