// SPDX-License-Identifier: Apache-2.0
#include "intake/sampletypes.h"

#include "wire/json_reader.h"

#define MAX_DEPTH 16

static void read_type(struct json_reader *r, struct sampletype *type)
{
    struct slice key;

    json_reader_enter_object(r);
    while (json_reader_next_key(r, &key)) {
        if (slice_is(key, "display-name") && json_reader_peek(r) == JSON_STRING)
            type->display_name = json_reader_text(r);
        else if (slice_is(key, "cumulative") && json_reader_peek(r) == JSON_BOOL)
            type->is_cumulative = json_reader_bool(r);
        else
            json_reader_skip(r);
    }
}

int sampletypes_parse(struct slice text, struct arena *arena, struct sampletypes *ret_types, struct error *err)
{
    struct sampletypes types = { .is_given = true };
    struct json_reader r;
    struct slice key;

    if (slice_trim(text).len == 0) {
        *ret_types = (struct sampletypes){ 0 };
        return 0;
    }
    types.items = ARENA_ARRAY(arena, struct sampletype, SAMPLETYPES_MAX, err);
    if (!types.items)
        return -1;
    json_reader_init(&r, text, arena, MAX_DEPTH);
    json_reader_enter_object(&r);
    while (json_reader_next_key(&r, &key)) {
        if (types.n == SAMPLETYPES_MAX)
            return error_set(err, ERR_LIMIT, "sample_type_config: more than %d sample types", SAMPLETYPES_MAX);
        types.items[types.n] = (struct sampletype){ .name = key };
        if (json_reader_peek(&r) == JSON_OBJECT)
            read_type(&r, &types.items[types.n++]);
        else
            json_reader_skip(&r);
    }
    json_reader_end(&r);
    if (json_reader_check(&r, err) < 0)
        return error_wrap(err, "sample_type_config");
    *ret_types = types;
    return 0;
}

const struct sampletype *sampletypes_find(const struct sampletypes *types, struct slice name)
{
    for (uint32_t i = 0; i < types->n; i++)
        if (slice_equal(types->items[i].name, name))
            return &types->items[i];
    return NULL;
}

/* What clients without a config mean by their types. */
static struct slice display_name(const struct sampletypes *types, struct slice name)
{
    static const struct {
        const char *type, *shown;
    } usual[] = { { "samples", "cpu" },
                  { "goroutine", "goroutines" },
                  { "contentions", "mutex_count" },
                  { "delay", "mutex_duration" } };
    const struct sampletype *type = sampletypes_find(types, name);

    if (type && type->display_name.len > 0)
        return type->display_name;
    for (size_t i = 0; !types->is_given && i < ARRAY_LEN(usual); i++)
        if (slice_is(name, usual[i].type))
            return slice_from(usual[i].shown);
    return name;
}

static const char *known_metric(struct slice shown)
{
    if (slice_find(shown, SLICE("cpu")) >= 0)
        return "process_cpu";
    if (slice_find(shown, SLICE("alloc_")) >= 0 || slice_find(shown, SLICE("inuse_")) >= 0 ||
        slice_is(shown, "space") || slice_is(shown, "objects"))
        return "memory";
    if (slice_find(shown, SLICE("mutex_")) >= 0)
        return "mutex";
    if (slice_find(shown, SLICE("block_")) >= 0)
        return "block";
    return slice_find(shown, SLICE("goroutines")) >= 0 ? "goroutines" : NULL;
}

struct slice sampletypes_metric(const struct sampletypes *types, const struct profile *profile)
{
    struct slice shown = { "", 0 };

    for (uint32_t i = 0; i < profile->n_types; i++)
        if (slice_is(tables_string(profile->tables, profile->types[i].type), "wall"))
            return SLICE("wall");
    for (uint32_t i = 0; i < profile->n_types; i++) {
        const char *metric;

        shown = display_name(types, tables_string(profile->tables, profile->types[i].type));
        metric = known_metric(shown);
        if (metric)
            return slice_from(metric);
    }
    return shown;
}
