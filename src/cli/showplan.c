// SPDX-License-Identifier: Apache-2.0
#include "cli/showplan.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/table.h"

void showplan_init(struct showplan *plan, struct arena *arena)
{
    *plan = (struct showplan){ .arena = arena };
}

void showplan_done(struct showplan *plan)
{
    VEC_DONE(&plan->days);
}

int showplan_add(void *context, const struct store_plan *day, struct error *err)
{
    struct showplan *plan = context;
    struct store_plan_range *ranges = ARENA_ARRAY(plan->arena, struct store_plan_range, day->n_ranges, err);
    struct store_plan *copy = ranges ? VEC_PUSH(&plan->days, UINT32_MAX, err) : NULL;

    if (!copy)
        return -1;
    if (day->n_ranges)
        memcpy(ranges, day->ranges, day->n_ranges * sizeof(*ranges));
    *copy = *day;
    copy->ranges = ranges;
    return 0;
}

/* --- text --- */

/* "10:03:20", or "24:00:00" for the end of the day. */
static void append_time(struct buffer *out, int64_t day_ns, int64_t time_ns)
{
    int64_t seconds = (time_ns - day_ns) / CLOCK_NS_PER_SECOND;

    buffer_printf(out, "%02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
}

static int range_cell(const struct store_plan *day, struct table *table, struct error *err)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    for (uint32_t i = 0; i < day->n_ranges; i++) {
        buffer_append_text(&text, i ? ", " : "");
        append_time(&text, day->day_ns, day->ranges[i].from_ns);
        buffer_append_text(&text, " to ");
        append_time(&text, day->day_ns, day->ranges[i].until_ns);
        if (day->ranges[i].is_open)
            buffer_append_text(&text, " (open)");
    }
    if (buffer_check(&text, err) < 0)
        return -1;
    table_cell(table, text.len ? buffer_slice(&text) : SLICE("none"));
    return 0;
}

static void count_cell(struct table *table, uint64_t n)
{
    table_printf(table, "%llu", (unsigned long long)n);
}

static int day_row(const struct store_plan *day, struct table *table, struct error *err)
{
    char text[CLOCK_TEXT_BYTES];

    table_row(table, TABLE_PLAIN);
    table_cell(table, slice_of(clock_format(day->day_ns, CLOCK_ZONE_UTC, 0, text), 10));
    count_cell(table, day->n_series);
    count_cell(table, day->n_groups);
    count_cell(table, day->n_closed_hours);
    count_cell(table, day->n_open_hours);
    count_cell(table, day->n_hours);
    count_cell(table, day->n_slots);
    count_cell(table, day->n_series_sums);
    count_cell(table, day->n_windows);
    table_printf(table, "%s%s",
                 day->n_bytes ? units_human_bytes((int64_t)MIN(day->n_bytes, (uint64_t)INT64_MAX)).text : "few",
                 day->lacks_bytes ? "+" : "");
    return range_cell(day, table, err);
}

/* The lines of `text`, each behind `indent`. */
static void append_indented(struct buffer *out, const char *indent, struct slice text)
{
    struct slice line;

    while (text.len && slice_next_part(&text, '\n', &line)) {
        buffer_append_text(out, indent);
        buffer_append(out, line.ptr, line.len);
        buffer_append_byte(out, '\n');
    }
}

int showplan_print(const struct showplan *plan, const char *indent, struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = {
        { "DAY", TABLE_LEFT },     { "SERIES", TABLE_RIGHT },         { "GROUPS", TABLE_RIGHT },
        { "CLOSED", TABLE_RIGHT }, { "OPEN", TABLE_RIGHT },           { "HOURS", TABLE_RIGHT },
        { "5 MIN", TABLE_RIGHT },  { "SUMS", TABLE_RIGHT },           { "WINDOWS", TABLE_RIGHT },
        { "BYTES", TABLE_RIGHT },  { "SINGLE PROFILES", TABLE_LEFT },
    };
    AUTO(buffer_done) struct buffer text;
    struct table table;

    buffer_init(&text, 0);
    table_init(&table, plan->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < plan->days.n; i++)
        if (day_row(&plan->days.items[i], &table, err) < 0)
            return -1;
    if (table_print(&table, false, &text, err) < 0)
        return -1;
    append_indented(out, indent, buffer_slice(&text));
    return 0;
}

/* --- JSON --- */

static void json_count(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

static void json_ranges(const struct store_plan *day, struct json *json)
{
    json_key(json, "rows");
    json_array_begin(json);
    for (uint32_t i = 0; i < day->n_ranges; i++) {
        json_object_begin(json);
        json_key(json, "from_ns");
        json_int(json, day->ranges[i].from_ns);
        json_key(json, "until_ns");
        json_int(json, day->ranges[i].until_ns);
        json_key(json, "open");
        json_bool(json, day->ranges[i].is_open);
        json_object_end(json);
    }
    json_array_end(json);
}

void showplan_json(const struct showplan *plan, struct json *json)
{
    json_array_begin(json);
    for (size_t i = 0; i < plan->days.n; i++) {
        const struct store_plan *day = &plan->days.items[i];
        char text[CLOCK_TEXT_BYTES];

        json_object_begin(json);
        json_key(json, "day");
        json_string(json, slice_of(clock_format(day->day_ns, CLOCK_ZONE_UTC, 0, text), 10));
        json_count(json, "series", day->n_series);
        json_count(json, "groups", day->n_groups);
        json_count(json, "closed_hours", day->n_closed_hours);
        json_count(json, "open_hours", day->n_open_hours);
        json_count(json, "hour_rollups", day->n_hours);
        json_count(json, "slot_rollups", day->n_slots);
        json_count(json, "series_sums", day->n_series_sums);
        json_count(json, "windows", day->n_windows);
        json_count(json, "bytes", day->n_bytes);
        json_key(json, "bytes_are_complete");
        json_bool(json, !day->lacks_bytes);
        json_ranges(day, json);
        json_object_end(json);
    }
    json_array_end(json);
}
