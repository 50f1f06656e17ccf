// SPDX-License-Identifier: Apache-2.0
/* One recursive walk over libyaml's events, never more than one event at a time in memory. */
#include "config/config.h"

#include "base/fs.h"
#include "base/vec.h"
#include "config/configtree_internal.h"
#include "config/yamlevents_internal.h"

/* A key that was seen, with or without a value of its own. */
struct seen_key {
    struct slice key;
    unsigned line;
};

struct config_reader {
    struct yamlevents events;
    struct configtree_reader tree; /* for sections */
    const char *const *sections;
    struct configtree *first_section, **last_section;
    struct arena *arena;
    VEC(struct option_entry) entries;
    VEC(struct seen_key) seen;
    VEC(const char *) items; /* of the list being read */
};

static void reader_done(struct config_reader *reader)
{
    yamlevents_done(&reader->events);
    VEC_DONE(&reader->entries);
    VEC_DONE(&reader->seen);
    VEC_DONE(&reader->items);
}

/* --- keys and values --- */

/* The key of the current event, behind those of the maps around it. */
static int read_key(struct config_reader *reader, struct slice prefix, struct slice *ret_key, struct error *err)
{
    struct slice name;
    char *joined;

    if (reader->events.event.type != YAML_SCALAR_EVENT)
        return yamlevents_refuse(&reader->events, "a key must be a word, not a list or a map; write 'key: value'", err);
    name = yamlevents_text(&reader->events);
    if (name.len == 0)
        return yamlevents_refuse(&reader->events, "a key is missing before ':'; write 'key: value'", err);
    if (prefix.len + 1 + name.len > CONFIG_KEY_MAX || slice_find_byte(name, '\0') >= 0)
        return yamlevents_refuse(&reader->events, "a key is longer than any that is known, or holds a zero byte", err);
    joined = arena_printf(reader->arena, err, "%.*s%s%.*s", SLICE_ARG(prefix), prefix.len ? "." : "", SLICE_ARG(name));
    if (!joined)
        return -1;
    *ret_key = slice_from(joined);
    return 0;
}

static int refuse_twice(const struct config_reader *reader, const struct seen_key *first, struct error *err)
{
    error_set(err, ERR_INVALID, "key '%.*s' was given on line %u already; keep one of the two",
              SLICE_ARG(slice_sub(first->key, 0, YAMLEVENTS_KEY_SHOWN)), first->line);
    return yamlevents_blame(&reader->events, err);
}

static int note_key(struct config_reader *reader, struct slice key, struct error *err)
{
    struct seen_key *added;

    VEC_EACH (&reader->seen, earlier)
        if (slice_equal(earlier->key, key))
            return refuse_twice(reader, earlier, err);
    added = VEC_PUSH(&reader->seen, CONFIG_ENTRIES_MAX, err);
    if (!added)
        return error_wrap(err, "keys of '%.*s'", YAMLEVENTS_FILE_SHOWN, reader->events.file);
    *added = (struct seen_key){ key, yamlevents_line(&reader->events) };
    return 0;
}

static int add_entry(struct config_reader *reader, const struct option_entry *entry, struct error *err)
{
    struct option_entry *added = VEC_PUSH(&reader->entries, CONFIG_ENTRIES_MAX, err);

    if (!added)
        return -1;
    *added = *entry;
    return 0;
}

static int read_scalar(struct config_reader *reader, struct option_entry *entry, struct error *err)
{
    struct slice text;
    const char **value;

    if (yamlevents_is_null(&reader->events))
        return add_entry(reader, entry, err);
    value = ARENA_NEW(reader->arena, const char *, err);
    if (!value || yamlevents_copy(&reader->events, reader->arena, &text, err) < 0)
        return -1;
    *value = text.ptr;
    entry->values = value;
    entry->values_n = 1;
    return add_entry(reader, entry, err);
}

/* The list whose start is the current event. */
static int read_list(struct config_reader *reader, struct option_entry *entry, struct error *err)
{
    const char **values;

    reader->items.n = 0;
    for (;;) {
        struct slice text;
        const char **item;

        if (yamlevents_next(&reader->events, err) < 0)
            return -1;
        if (reader->events.event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (reader->events.event.type != YAML_SCALAR_EVENT)
            return yamlevents_refuse(&reader->events, "a list holds plain values only, not lists or maps", err);
        item = VEC_PUSH(&reader->items, OPTIONS_LIST_MAX, err);
        if (!item)
            return error_wrap(err, "list on line %u of '%.*s'", entry->line, YAMLEVENTS_FILE_SHOWN,
                              reader->events.file);
        if (yamlevents_copy(&reader->events, reader->arena, &text, err) < 0)
            return -1;
        *item = text.ptr;
    }
    values = ARENA_ARRAY(reader->arena, const char *, reader->items.n, err);
    if (!values)
        return -1;
    if (reader->items.n > 0)
        memcpy(values, reader->items.items, reader->items.n * sizeof(*values));
    entry->values = values;
    entry->values_n = reader->items.n;
    entry->is_list = true;
    return add_entry(reader, entry, err);
}

static int read_map(struct config_reader *reader, struct slice prefix, unsigned depth, struct error *err);

static bool is_section(const struct config_reader *reader, struct slice key)
{
    for (const char *const *section = reader->sections; section && *section; section++)
        if (slice_is(key, *section))
            return true;
    return false;
}

/* The value of a section, whose key is the current event. */
static int read_section(struct config_reader *reader, struct error *err)
{
    struct configtree *node;

    if (configtree_read_pair(&reader->tree, &node, err) < 0)
        return -1;
    *reader->last_section = node;
    reader->last_section = &node->next;
    return 0;
}

/* One key, which is the current event, and its value. */
static int read_pair(struct config_reader *reader, struct slice prefix, unsigned depth, struct error *err)
{
    struct option_entry entry = { .line = yamlevents_line(&reader->events) };

    if (read_key(reader, prefix, &entry.key, err) < 0 || note_key(reader, entry.key, err) < 0)
        return -1;
    if (depth == 1 && is_section(reader, entry.key))
        return read_section(reader, err);
    if (yamlevents_next(&reader->events, err) < 0)
        return -1;
    if (reader->events.event.type == YAML_MAPPING_START_EVENT)
        return read_map(reader, entry.key, depth + 1, err);
    if (reader->events.event.type == YAML_SEQUENCE_START_EVENT)
        return read_list(reader, &entry, err);
    return read_scalar(reader, &entry, err);
}

/* The map whose start is the current event. */
static int read_map(struct config_reader *reader, struct slice prefix, unsigned depth, struct error *err)
{
    if (depth > CONFIG_DEPTH_MAX) {
        error_set(err, ERR_LIMIT, "maps are nested more than %d deep", CONFIG_DEPTH_MAX);
        return yamlevents_blame(&reader->events, err);
    }
    for (;;) {
        if (yamlevents_next(&reader->events, err) < 0)
            return -1;
        if (reader->events.event.type == YAML_MAPPING_END_EVENT)
            return 0;
        if (read_pair(reader, prefix, depth, err) < 0)
            return -1;
    }
}

/* The content of a document, whose first event is the current one. */
static int read_document(void *context, struct error *err)
{
    struct config_reader *reader = context;

    if (reader->events.event.type == YAML_MAPPING_START_EVENT)
        return read_map(reader, slice_of(NULL, 0), 1, err);
    if (reader->events.event.type == YAML_SCALAR_EVENT && yamlevents_is_null(&reader->events))
        return 0;
    return yamlevents_refuse(&reader->events, "a configuration is a map; write each option as 'key: value'", err);
}

static int take_entries(const struct config_reader *reader, struct config *ret_config, struct error *err)
{
    size_t n = reader->entries.n;
    struct option_entry *entries = ARENA_ARRAY(reader->arena, struct option_entry, n, err);

    if (!entries)
        return -1;
    if (n > 0)
        memcpy(entries, reader->entries.items, n * sizeof(*entries));
    *ret_config = (struct config){ entries, n, reader->first_section };
    return 0;
}

int config_parse(struct slice yaml, const char *file, const char *const *sections, struct arena *arena,
                 struct config *ret_config, struct error *err)
{
    AUTO(reader_done) struct config_reader reader = { .arena = arena, .sections = sections };

    reader.last_section = &reader.first_section;
    if (yamlevents_init(&reader.events, yaml, file, err) < 0 ||
        configtree_init(&reader.tree, &reader.events, arena, err) < 0 ||
        yamlevents_document(&reader.events, read_document, &reader, err) < 0)
        return -1;
    return take_entries(&reader, ret_config, err);
}

int config_read(const char *path, const char *const *sections, struct arena *arena, struct config *ret_config,
                struct error *err)
{
    AUTO(buffer_done) struct buffer yaml;

    buffer_init(&yaml, CONFIG_BYTES_MAX);
    if (fs_read_file(path, CONFIG_BYTES_MAX, &yaml, err) < 0)
        return error_wrap(err, "configuration file");
    return config_parse(buffer_slice(&yaml), path, sections, arena, ret_config, err);
}

const struct configtree *config_section(const struct config *config, const char *name)
{
    const struct configtree *node = config->sections;

    while (node && !slice_is(node->key, name))
        node = node->next;
    return node;
}
