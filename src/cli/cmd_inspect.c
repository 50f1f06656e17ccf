// SPDX-License-Identifier: Apache-2.0
/* `hearth inspect`: what is in a file, before anybody trusts a number from it. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/view.h"
#include "profile/unit.h"

struct inspect_config {
    struct input_config input;
    bool is_json;
    bool is_local;
};

static const struct option_spec inspect_options[] = {
    { "json", OPTION_BOOL, FIELD(inspect_config, is_json), "false", "Write JSON." },
    { "local", OPTION_BOOL, FIELD(inspect_config, is_local), "false", "Show times in the local zone instead of UTC." },
};

/* --- facts, gathered once and shown as text or JSON --- */

struct label_key {
    uint32_t key; /* string */
    uint32_t samples;
    uint32_t values;      /* distinct */
    uint32_t last_sample; /* plus one: a key may repeat in a sample */
    bool is_number;
};

struct facts {
    const struct profile *profile;
    uint32_t max_depth;
    double mean_depth;
    uint32_t n_stacks; /* distinct, used by samples */
    uint32_t n_linked;
    VEC(struct label_key) keys;
};

static void facts_done(struct facts *facts)
{
    VEC_DONE(&facts->keys);
}

/* The entry of a key, added if it is new; NULL when memory runs out. */
static struct label_key *find_key(struct facts *facts, struct map *indexes, uint32_t key, struct error *err)
{
    uint32_t index;
    struct label_key *entry;

    if (map_add(indexes, key, (uint32_t)facts->keys.n, &index, err) < 0)
        return NULL;
    if (index < facts->keys.n)
        return &facts->keys.items[index];
    entry = VEC_PUSH(&facts->keys, UINT32_MAX, err);
    if (entry)
        entry->key = key;
    return entry;
}

/* Counts one label. Values are told apart by content, in `seen`. */
static int count_label(struct facts *facts, struct map *indexes, struct hash_set *seen, const struct label *label,
                       uint32_t sample, struct error *err)
{
    struct label_key *key = find_key(facts, indexes, label->key, err);
    struct hash128 value = hash_bytes(tables_string(facts->profile->tables, label->text), label->key);
    uint32_t ignored;
    bool is_new;

    if (!key || hash_set_add(seen, hash_fold(value, (uint64_t)label->number, label->kind), &ignored, &is_new, err) < 0)
        return -1;
    key->samples += key->last_sample != sample + 1;
    key->last_sample = sample + 1;
    key->values += is_new;
    key->is_number |= label->kind == LABEL_NUMBER || label->kind == LABEL_DOUBLE;
    return 0;
}

static int count_labels(struct facts *facts, struct error *err)
{
    const struct profile *profile = facts->profile;
    struct hash_set seen;
    struct map indexes;
    int result = 0;

    hash_set_init(&seen, 0);
    map_init(&indexes, 0);
    for (uint32_t i = 0; i < profile->n_samples && result == 0; i++) {
        uint32_t n;
        const struct label *labels = tables_label_set(profile->tables, profile_label_set(profile, i), &n);

        for (uint32_t j = 0; j < n && result == 0; j++)
            result = count_label(facts, &indexes, &seen, &labels[j], i, err);
    }
    map_done(&indexes);
    hash_set_done(&seen);
    return result;
}

/* Functions on the stack, inlined ones too. */
static uint32_t depth_of(const struct tables *tables, uint32_t stack)
{
    uint32_t n, depth = 0;
    const uint32_t *frames = tables_stack(tables, stack, &n);

    for (uint32_t i = 0; i < n; i++)
        depth += MAX(tables->frames[frames[i]].n_lines, (uint16_t)1);
    return depth;
}

static int gather(struct facts *facts, const struct profile *profile, struct error *err)
{
    struct map stacks;
    uint64_t frames = 0;
    int result = 0;

    facts->profile = profile;
    map_init(&stacks, 0);
    for (uint32_t i = 0; i < profile->n_samples && result == 0; i++) {
        uint32_t depth = depth_of(profile->tables, profile->stacks[i]), ignored;

        facts->max_depth = MAX(facts->max_depth, depth);
        frames += depth;
        facts->n_linked += profile_link(profile, i) != 0;
        result = map_add(&stacks, profile->stacks[i], 0, &ignored, err);
    }
    facts->n_stacks = stacks.n;
    facts->mean_depth = profile->n_samples ? (double)frames / profile->n_samples : 0;
    map_done(&stacks);
    return result == 0 ? count_labels(facts, err) : -1;
}

static const char *nature_text(const struct value_type *type)
{
    if (type->nature == VALUE_LEVEL)
        return "level";
    return type->temporality == TEMPORALITY_CUMULATIVE ? "flow, cumulative" : "flow";
}

static const struct {
    uint32_t flag;
    const char *name;
} mapping_flags[] = { { MAPPING_HAS_FUNCTIONS, "functions" },
                      { MAPPING_HAS_FILENAMES, "filenames" },
                      { MAPPING_HAS_LINE_NUMBERS, "lines" },
                      { MAPPING_HAS_INLINE_FRAMES, "inlines" } };

static struct slice build_id_of(const struct tables *tables, const struct mapping *mapping)
{
    return tables_string(tables, mapping->build_id      ? mapping->build_id
                                 : mapping->build_id_go ? mapping->build_id_go
                                                        : mapping->build_id_hash);
}

/* --- text --- */

static void print_value_of(const struct tables *tables, const struct label *label, struct buffer *out)
{
    struct slice text = tables_string(tables, label->text), unit = tables_string(tables, label->unit);
    double number;

    switch ((enum label_kind)label->kind) {
    case LABEL_STRING:
    case LABEL_JSON: table_append_text(out, text); break;
    case LABEL_BYTES: buffer_printf(out, "(%zu bytes)", text.len); break;
    case LABEL_BOOL: buffer_append_text(out, label->number ? "true" : "false"); break;
    case LABEL_NUMBER:
        buffer_printf(out, "%lld%s", (long long)label->number, unit.len ? " " : "");
        table_append_text(out, unit);
        break;
    case LABEL_DOUBLE:
        memcpy(&number, &label->number, sizeof(number));
        buffer_printf(out, "%g", number);
        break;
    }
}

static void print_label_set(const struct tables *tables, const char *title, uint32_t set, struct buffer *out)
{
    uint32_t n;
    const struct label *labels = tables_label_set(tables, set, &n);

    for (uint32_t i = 0; i < n; i++) {
        buffer_printf(out, "%-10s", i ? "" : title);
        table_append_text(out, tables_string(tables, labels[i].key));
        buffer_append_text(out, " = ");
        print_value_of(tables, &labels[i], out);
        buffer_append_byte(out, '\n');
    }
}

static void print_time(const struct profile *profile, bool is_local, struct buffer *out)
{
    char text[CLOCK_TEXT_BYTES];

    if (profile->start_ns)
        buffer_printf(out, "%-10s%s\n", "time",
                      clock_format(profile->start_ns, is_local ? CLOCK_ZONE_LOCAL : CLOCK_ZONE_UTC, 3, text));
    if (profile->duration_ns)
        buffer_printf(out, "%-10s%s\n", "duration", unit_format(profile->duration_ns, SLICE("nanoseconds")).text);
    if (profile->period_type.type || profile->period) {
        struct slice unit = tables_string(profile->tables, profile->period_type.unit);

        buffer_printf(out, "%-10s", "period");
        table_append_text(out, tables_string(profile->tables, profile->period_type.type));
        buffer_printf(out, ", %s\n", unit_format(profile->period, unit).text);
    }
}

static int print_types(const struct profile *profile, struct arena *arena, bool has_colour, struct buffer *out,
                       struct error *err)
{
    static const struct table_column columns[] = {
        { "TYPE", TABLE_LEFT }, { "TOTAL", TABLE_RIGHT }, { "IS A", TABLE_LEFT }, { "", TABLE_LEFT }
    };
    struct table table;

    if (profile->n_types == 0)
        return 0;
    table_init(&table, arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < profile->n_types; i++) {
        struct slice type = tables_string(profile->tables, profile->types[i].type);
        struct slice unit = tables_string(profile->tables, profile->types[i].unit);

        table_row(&table, TABLE_PLAIN);
        table_printf(&table, "%.*s/%.*s", SLICE_ARG(type), SLICE_ARG(unit));
        table_cell(&table, slice_from(unit_format(profile_total(profile, i), unit).text));
        table_cell(&table, slice_from(nature_text(&profile->types[i])));
        table_cell(&table, i == profile_default_type(profile) ? SLICE("default") : SLICE(""));
    }
    buffer_append_byte(out, '\n');
    return table_print(&table, has_colour, out, err);
}

static int print_labels(const struct facts *facts, struct arena *arena, bool has_colour, struct buffer *out,
                        struct error *err)
{
    static const struct table_column columns[] = {
        { "LABEL", TABLE_LEFT }, { "SAMPLES", TABLE_RIGHT }, { "VALUES", TABLE_RIGHT }, { "KIND", TABLE_LEFT }
    };
    struct table table;

    if (facts->keys.n == 0)
        return 0;
    table_init(&table, arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < facts->keys.n; i++) {
        const struct label_key *key = &facts->keys.items[i];
        struct slice name = tables_string(facts->profile->tables, key->key);

        table_row(&table, TABLE_PLAIN);
        table_cell(&table, name.len ? name : SLICE("\"\""));
        table_printf(&table, "%u", key->samples);
        table_printf(&table, "%u", key->values);
        table_cell(&table, key->is_number ? SLICE("number") : SLICE("text"));
    }
    buffer_append_byte(out, '\n');
    return table_print(&table, has_colour, out, err);
}

static struct unit_text mapping_size(const struct mapping *mapping)
{
    uint64_t size = mapping->limit > mapping->start ? mapping->limit - mapping->start : 0;

    return unit_format((int64_t)MIN(size, (uint64_t)INT64_MAX), SLICE("bytes"));
}

static int print_mappings(const struct tables *tables, struct arena *arena, bool has_colour, struct buffer *out,
                          struct error *err)
{
    static const struct table_column columns[] = { { "MAPPING", TABLE_RIGHT },
                                                   { "SIZE", TABLE_RIGHT },
                                                   { "HAS", TABLE_LEFT },
                                                   { "BUILD ID", TABLE_LEFT },
                                                   { "FILE", TABLE_LEFT } };
    struct table table;

    if (tables->n_mappings < 2)
        return 0;
    table_init(&table, arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 1; i < tables->n_mappings; i++) {
        const struct mapping *mapping = &tables->mappings[i];
        char has[64] = "";
        size_t at = 0;

        for (size_t j = 0; j < ARRAY_LEN(mapping_flags); j++)
            if (mapping->flags & mapping_flags[j].flag)
                at += (size_t)snprintf(has + at, sizeof(has) - at, "%s%s", at ? "," : "", mapping_flags[j].name);
        table_row(&table, TABLE_PLAIN);
        table_printf(&table, "%llx", (unsigned long long)mapping->start);
        table_cell(&table, slice_from(mapping_size(mapping).text));
        table_cell(&table, at ? slice_from(has) : SLICE("-"));
        table_cell(&table, build_id_of(tables, mapping).len ? build_id_of(tables, mapping) : SLICE("-"));
        table_cell(&table, tables_string(tables, mapping->file));
    }
    buffer_append_byte(out, '\n');
    return table_print(&table, has_colour, out, err);
}

static void print_line(const char *title, struct slice text, struct buffer *out)
{
    buffer_printf(out, "%-10s", title);
    table_append_text(out, text);
    buffer_append_byte(out, '\n');
}

static void print_strings(const struct profile *profile, struct buffer *out)
{
    const struct tables *tables = profile->tables;
    const struct {
        const char *title;
        uint32_t id;
    } lines[] = { { "drop", profile->drop_frames }, { "keep", profile->keep_frames }, { "see", profile->doc_url } };

    if (profile->scope_name || profile->scope_version) {
        buffer_printf(out, "%-10s", "by");
        table_append_text(out, tables_string(tables, profile->scope_name));
        buffer_append_byte(out, ' ');
        table_append_text(out, tables_string(tables, profile->scope_version));
        buffer_append_byte(out, '\n');
    }
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (lines[i].id)
            print_line(lines[i].title, tables_string(tables, lines[i].id), out);
    }
    for (uint32_t i = 0; i < profile->n_comments; i++)
        print_line(i ? "" : "comment", tables_string(tables, profile->comments[i]), out);
}

static int print_profile(struct command_context *context, const struct facts *facts, struct buffer *out,
                         struct error *err)
{
    const struct inspect_config *config = context->config;
    const struct profile *profile = facts->profile;

    print_time(profile, config->is_local, out);
    print_label_set(profile->tables, "resource", profile->resource, out);
    print_label_set(profile->tables, "scope", profile->scope, out);
    print_label_set(profile->tables, "profile", profile->attributes, out);
    print_strings(profile, out);
    buffer_printf(out, "%-10s%u in %u stacks, %.1f frames deep on average, %u at most\n", "samples", profile->n_samples,
                  facts->n_stacks, facts->mean_depth, facts->max_depth);
    if (facts->n_linked)
        buffer_printf(out, "%-10s%u of the samples\n", "in spans", facts->n_linked);
    if (profile->time_starts)
        buffer_printf(out, "%-10s%u with a time of their own\n", "events", profile->time_starts[profile->n_samples]);
    if (print_types(profile, context->arena, context->has_colour, out, err) < 0)
        return -1;
    return print_labels(facts, context->arena, context->has_colour, out, err);
}

static int print_text(struct command_context *context, const struct input *input, struct buffer *out, struct error *err)
{
    const struct batch *batch = &input->batch;
    const struct tables *tables = &batch->tables;

    buffer_printf(out, "%-10s%s\n", "format", input->format->name);
    if (input->n_files > 1)
        buffer_printf(out, "%-10s%llu files merged\n", "files", (unsigned long long)input->n_files);
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        AUTO(facts_done) struct facts facts = { 0 };

        if (batch->n_profiles > 1)
            buffer_printf(out, "\n%s-- profile %u of %u --%s\n", table_colour_begin(TABLE_BOLD, context->has_colour),
                          i + 1, batch->n_profiles, table_colour_end(TABLE_BOLD, context->has_colour));
        if (gather(&facts, &batch->profiles[i], err) < 0 || print_profile(context, &facts, out, err) < 0)
            return -1;
    }
    if (batch->n_profiles > 0 && print_mappings(tables, context->arena, context->has_colour, out, err) < 0)
        return -1;
    if (batch->n_profiles > 0)
        buffer_printf(out, "\n%-10s%u strings, %u functions, %u frames\n", "tables", tables->n_strings - 1,
                      tables->n_functions - 1, tables->n_frames - 1);
    return 0;
}

/* --- JSON --- */

static void json_label_set(struct json *json, const struct tables *tables, const char *name, uint32_t set)
{
    uint32_t n;
    const struct label *labels = tables_label_set(tables, set, &n);
    struct buffer text;

    buffer_init(&text, 0);
    json_key(json, name);
    json_object_begin(json);
    for (uint32_t i = 0; i < n; i++) {
        json_key_slice(json, tables_string(tables, labels[i].key));
        buffer_clear(&text);
        print_value_of(tables, &labels[i], &text);
        if (labels[i].kind == LABEL_NUMBER && labels[i].unit == 0)
            json_int(json, labels[i].number);
        else if (labels[i].kind == LABEL_BOOL)
            json_bool(json, labels[i].number != 0);
        else
            json_string(json, buffer_slice(&text));
    }
    json_object_end(json);
    buffer_done(&text);
}

static void json_type(struct json *json, const struct profile *profile, uint32_t index)
{
    const struct value_type *type = &profile->types[index];

    json_object_begin(json);
    json_key(json, "type");
    json_string(json, tables_string(profile->tables, type->type));
    json_key(json, "unit");
    json_string(json, tables_string(profile->tables, type->unit));
    json_key(json, "total");
    json_int(json, profile_total(profile, index));
    json_key(json, "nature");
    json_text(json, type->nature == VALUE_LEVEL ? "level" : "flow");
    json_key(json, "cumulative");
    json_bool(json, type->temporality == TEMPORALITY_CUMULATIVE);
    json_key(json, "default");
    json_bool(json, index == profile_default_type(profile));
    json_object_end(json);
}

static void json_labels(struct json *json, const struct facts *facts)
{
    json_key(json, "labels");
    json_array_begin(json);
    for (uint32_t i = 0; i < facts->keys.n; i++) {
        json_object_begin(json);
        json_key(json, "key");
        json_string(json, tables_string(facts->profile->tables, facts->keys.items[i].key));
        json_key(json, "samples");
        json_uint(json, facts->keys.items[i].samples);
        json_key(json, "values");
        json_uint(json, facts->keys.items[i].values);
        json_key(json, "kind");
        json_text(json, facts->keys.items[i].is_number ? "number" : "text");
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_profile(struct json *json, const struct facts *facts)
{
    const struct profile *profile = facts->profile;
    const struct tables *tables = profile->tables;

    json_object_begin(json);
    json_key(json, "start_ns");
    json_int(json, profile->start_ns);
    json_key(json, "duration_ns");
    json_int(json, profile->duration_ns);
    json_key(json, "period");
    json_int(json, profile->period);
    json_key(json, "period_type");
    json_string(json, tables_string(tables, profile->period_type.type));
    json_key(json, "period_unit");
    json_string(json, tables_string(tables, profile->period_type.unit));
    json_label_set(json, tables, "resource", profile->resource);
    json_label_set(json, tables, "scope", profile->scope);
    json_label_set(json, tables, "attributes", profile->attributes);
    json_key(json, "scope_name");
    json_string(json, tables_string(tables, profile->scope_name));
    json_key(json, "scope_version");
    json_string(json, tables_string(tables, profile->scope_version));
    json_key(json, "drop_frames");
    json_string(json, tables_string(tables, profile->drop_frames));
    json_key(json, "keep_frames");
    json_string(json, tables_string(tables, profile->keep_frames));
    json_key(json, "doc_url");
    json_string(json, tables_string(tables, profile->doc_url));
    json_key(json, "comments");
    json_array_begin(json);
    for (uint32_t i = 0; i < profile->n_comments; i++)
        json_string(json, tables_string(tables, profile->comments[i]));
    json_array_end(json);
    json_key(json, "samples");
    json_uint(json, profile->n_samples);
    json_key(json, "stacks");
    json_uint(json, facts->n_stacks);
    json_key(json, "max_depth");
    json_uint(json, facts->max_depth);
    json_key(json, "mean_depth");
    json_double(json, facts->mean_depth);
    json_key(json, "samples_with_span");
    json_uint(json, facts->n_linked);
    json_key(json, "events_with_time");
    json_uint(json, profile->time_starts ? profile->time_starts[profile->n_samples] : 0);
    json_key(json, "types");
    json_array_begin(json);
    for (uint32_t i = 0; i < profile->n_types; i++)
        json_type(json, profile, i);
    json_array_end(json);
    json_labels(json, facts);
    json_object_end(json);
}

static void json_mappings(struct json *json, const struct tables *tables)
{
    json_key(json, "mappings");
    json_array_begin(json);
    for (uint32_t i = 1; i < tables->n_mappings; i++) {
        const struct mapping *mapping = &tables->mappings[i];

        json_object_begin(json);
        json_key(json, "file");
        json_string(json, tables_string(tables, mapping->file));
        json_key(json, "build_id");
        json_string(json, build_id_of(tables, mapping));
        json_key(json, "start");
        json_uint(json, mapping->start);
        json_key(json, "limit");
        json_uint(json, mapping->limit);
        json_key(json, "offset");
        json_uint(json, mapping->offset);
        json_key(json, "has");
        json_array_begin(json);
        for (size_t j = 0; j < ARRAY_LEN(mapping_flags); j++)
            if (mapping->flags & mapping_flags[j].flag)
                json_text(json, mapping_flags[j].name);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_tables(struct json *json, const struct tables *tables)
{
    json_key(json, "tables");
    json_object_begin(json);
    json_key(json, "strings");
    json_uint(json, tables->n_strings - 1);
    json_key(json, "functions");
    json_uint(json, tables->n_functions - 1);
    json_key(json, "frames");
    json_uint(json, tables->n_frames - 1);
    json_object_end(json);
}

static void json_warnings(struct json *json, const struct report *report)
{
    json_key(json, "warnings");
    json_array_begin(json);
    for (uint32_t i = 0; i < report->n; i++) {
        json_object_begin(json);
        json_key(json, "kind");
        json_text(json, report->entries[i].kind);
        json_key(json, "count");
        json_uint(json, report->entries[i].count);
        json_key(json, "first");
        json_text(json, report->entries[i].example);
        json_object_end(json);
    }
    json_array_end(json);
}

static int print_json(const struct input *input, struct buffer *out, struct error *err)
{
    const struct batch *batch = &input->batch;
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "format");
    json_text(&json, input->format->name);
    json_key(&json, "files");
    json_uint(&json, input->n_files);
    json_key(&json, "profiles");
    json_array_begin(&json);
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        AUTO(facts_done) struct facts facts = { 0 };

        if (gather(&facts, &batch->profiles[i], err) < 0)
            return -1;
        json_profile(&json, &facts);
    }
    json_array_end(&json);
    if (batch->n_profiles > 0) {
        json_mappings(&json, &batch->tables);
        json_tables(&json, &batch->tables);
    }
    json_warnings(&json, &batch->report);
    json_object_end(&json);
    json_done(&json);
    return 0;
}

static int run(struct command_context *context, struct error *err)
{
    const struct inspect_config *config = context->config;
    struct input input;
    struct buffer out;
    int result;

    if (input_open(&input, context, &config->input, context->arguments, INPUT_AS_IS, err) < 0)
        return -1;
    buffer_init(&out, 0);
    result = config->is_json ? print_json(&input, &out, err) : print_text(context, &input, &out, err);
    result = view_finish(context, &out, result, err);
    input_close(&input);
    return result;
}

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "Show what is in a profile: types, labels, mappings, counts, warnings",
    .description = "Tells what a file holds before anybody trusts a number from it: its format, when and how it was "
                   "taken, the value types with their totals, the labels of samples, the binaries, the sizes of its "
                   "tables, and whatever had to be dropped or repaired while reading.",
    .config_bytes = sizeof(struct inspect_config),
    .options = { OPTION_GROUP("Options", inspect_options), INPUT_GROUP(inspect_config, input),
                 INPUT_MERGE_GROUP(inspect_config, input) },
    .arguments = { { "FILE", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY,
                     "Profiles to read; - is standard input. Several are merged first." } },
    .examples = { { "hearth inspect cpu.pb.gz", "Shows types, labels and mappings." },
                  { "hearth inspect --json heap.pb.gz | jq .profiles[0].types", "The same for scripts." } },
    .run = run,
};
