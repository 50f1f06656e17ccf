// SPDX-License-Identifier: Apache-2.0
#include "cli/showexemplars.h"

#include "base/clock.h"
#include "cli/table.h"
#include "profile/unit.h"
#include "query/idtext.h"

static const char *const kind_words[] = { [EXEMPLARS_PROFILES] = "profile", [EXEMPLARS_SPANS] = "span", NULL };

const struct option_spec showexemplars_options[SHOWEXEMPLARS_OPTIONS_N] = {
    { "exemplars", OPTION_UINT, FIELD(showexemplars_config, n), "0",
      "Show so many exemplars of each group, those with the largest values, with ids for --profile-id and --span-id; "
      "in "
      "JSON, of each point.",
      .max = "100", .is_flag_only = true },
    { "exemplar-kind", OPTION_ENUM, FIELD(showexemplars_config, kind), "profile",
      "What an exemplar is: a profile, or what a profile has of one span.", .words = kind_words, .is_flag_only = true },
};

/* --- text --- */

/* The first of the group by X4 that comes behind `last` (NULL = at all); NULL if there is none. */
static const struct exemplar *next_of(const struct exemplars_group *group, const struct exemplar *last)
{
    const struct exemplar *next = NULL;

    for (uint32_t i = 0; i < group->n; i++) {
        const struct exemplar *item = &group->items[i];

        if ((!last || exemplars_is_before(last, item)) && (!next || exemplars_is_before(item, next)))
            next = item;
    }
    return next;
}

static void print_row(const struct showexemplars *show, const struct exemplar *exemplar, struct table *table)
{
    char time[CLOCK_TEXT_BYTES];

    table_row(table, TABLE_PLAIN);
    table_cell(table, slice_from(clock_format(exemplar->start_ns, CLOCK_ZONE_UTC, 3, time)));
    table_cell(table, slice_from(unit_format(exemplar->value, show->unit).text));
    if (show->config->kind == EXEMPLARS_SPANS) {
        bool has_trace = idtext_is_there(exemplar->trace_id, sizeof(exemplar->trace_id));

        table_cell(table, slice_from(idtext_of_span(exemplar->span_id).text));
        table_cell(table, has_trace ? slice_from(idtext_of_trace(exemplar->trace_id).text) : SLICE("-"));
    }
    table_cell(table, slice_from(idtext_of_profile(exemplar->profile_id).text));
    table_cell_name(table, "", exemplar->series, "");
}

int showexemplars_print(const struct showexemplars *show, struct command_context *context, struct buffer *out,
                        struct error *err)
{
    static const struct table_column profile_columns[] = {
        { "BEGAN", TABLE_LEFT }, { "VALUE", TABLE_RIGHT }, { "PROFILE", TABLE_LEFT }, { "SERIES", TABLE_LEFT }
    };
    static const struct table_column span_columns[] = { { "BEGAN", TABLE_LEFT },   { "VALUE", TABLE_RIGHT },
                                                        { "SPAN", TABLE_LEFT },    { "TRACE", TABLE_LEFT },
                                                        { "PROFILE", TABLE_LEFT }, { "SERIES", TABLE_LEFT } };
    bool is_of_spans = show->config->kind == EXEMPLARS_SPANS;
    struct table table;

    table_init(&table, context->arena, is_of_spans ? span_columns : profile_columns,
               is_of_spans ? ARRAY_LEN(span_columns) : ARRAY_LEN(profile_columns));
    for (uint32_t i = 0; i < show->series->n_groups; i++) {
        const struct exemplars_group *group =
            exemplars_find(show->exemplars, show->series->groups[i].values, show->n_by);
        const struct exemplar *item = group ? next_of(group, NULL) : NULL;

        for (uint64_t n = 0; item && n < show->config->n; n++, item = next_of(group, item))
            print_row(show, item, &table);
    }
    buffer_append_byte(out, '\n');
    if (!table.first) {
        buffer_printf(out, "no %ss to show\n", kind_words[show->config->kind]);
        return 0;
    }
    return table_print(&table, context->has_colour, out, err);
}

/* --- JSON --- */

static void json_id(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_text(json, text);
}

void showexemplars_json(const struct showexemplars *show, const struct timeseries_group *timeseries_group,
                        struct json *json)
{
    const struct exemplars_group *group = exemplars_find(show->exemplars, timeseries_group->values, show->n_by);

    json_array_begin(json);
    for (uint32_t i = 0; group && i < group->n; i++) {
        const struct exemplar *exemplar = &group->items[i];

        json_object_begin(json);
        json_key(json, "point");
        json_uint(json, exemplar->point);
        json_key(json, "time_ns");
        json_int(json, exemplar->start_ns);
        json_key(json, "duration_ns");
        json_int(json, exemplar->duration_ns);
        json_key(json, "value");
        json_int(json, exemplar->value);
        json_id(json, "profile_id", idtext_of_profile(exemplar->profile_id).text);
        if (show->config->kind == EXEMPLARS_SPANS) {
            json_id(json, "span_id", idtext_of_span(exemplar->span_id).text);
            if (idtext_is_there(exemplar->trace_id, sizeof(exemplar->trace_id)))
                json_id(json, "trace_id", idtext_of_trace(exemplar->trace_id).text);
        }
        json_key(json, "series");
        json_string(json, exemplar->series);
        json_object_end(json);
    }
    json_array_end(json);
}
