// SPDX-License-Identifier: Apache-2.0
#include "config/configtree.h"

#include "base/fs.h"
#include "base/suggest.h"
#include "base/units.h"
#include "config/config.h"
#include "config/configtree_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* --- building --- */

int configtree_init(struct configtree_reader *reader, struct yamlevents *events, struct arena *arena, struct error *err)
{
    struct slice file = arena_copy(arena, slice_from(events->file), err);

    if (!file.ptr)
        return -1;
    *reader = (struct configtree_reader){ events, arena, file.ptr, 0 };
    return 0;
}

static int too_many(const struct configtree_reader *reader, const char *what, int most, struct error *err)
{
    error_set(err, ERR_LIMIT, "%s; at most %d are read", what, most);
    return yamlevents_blame(reader->events, err);
}

static struct configtree *new_node(struct configtree_reader *reader, struct error *err)
{
    struct configtree *node;

    if (reader->n_nodes++ >= CONFIGTREE_NODES_MAX) {
        too_many(reader, "there are too many values", CONFIGTREE_NODES_MAX, err);
        return NULL;
    }
    node = ARENA_NEW(reader->arena, struct configtree, err);
    if (node)
        node->file = reader->file;
    return node;
}

static int read_value(struct configtree_reader *reader, struct configtree *node, unsigned depth, struct error *err);

static int read_list(struct configtree_reader *reader, struct configtree *list, unsigned depth, struct error *err)
{
    struct configtree *last = NULL;

    for (;; list->n++) {
        struct configtree *node;

        if (yamlevents_next(reader->events, err) < 0)
            return -1;
        if (reader->events->event.type == YAML_SEQUENCE_END_EVENT)
            return 0;
        node = new_node(reader, err);
        if (!node || read_value(reader, node, depth + 1, err) < 0)
            return -1;
        if (last)
            last->next = node;
        else
            list->first = node;
        last = node;
    }
}

static int check_key(const struct configtree_reader *reader, struct error *err)
{
    struct slice key;

    if (reader->events->event.type != YAML_SCALAR_EVENT)
        return yamlevents_refuse(reader->events, "a key must be a word, not a list or a map; write 'key: value'", err);
    key = yamlevents_text(reader->events);
    if (key.len == 0)
        return yamlevents_refuse(reader->events, "a key is missing before ':'; write 'key: value'", err);
    if (key.len > CONFIG_KEY_MAX)
        return yamlevents_refuse(reader->events, "a key is longer than any that is known", err);
    return 0;
}

/* The key that is the current event, and its value. */
static struct configtree *read_pair(struct configtree_reader *reader, unsigned depth, struct error *err)
{
    struct configtree *node;

    if (check_key(reader, err) < 0)
        return NULL;
    node = new_node(reader, err);
    if (!node || yamlevents_copy(reader->events, reader->arena, &node->key, err) < 0)
        return NULL;
    node->key_line = yamlevents_line(reader->events);
    node->key_column = yamlevents_column(reader->events);
    if (yamlevents_next(reader->events, err) < 0 || read_value(reader, node, depth, err) < 0)
        return NULL;
    return node;
}

static int check_new_key(const struct configtree *map, const struct configtree *added, struct error *err)
{
    for (const struct configtree *node = map->first; node; node = node->next) {
        if (!slice_equal(node->key, added->key))
            continue;
        error_set(err, ERR_INVALID, "key '%.*s' was given on line %u already; keep one of the two",
                  SLICE_ARG(slice_sub(added->key, 0, YAMLEVENTS_KEY_SHOWN)), node->key_line);
        return error_wrap(err, "%.*s:%u:%u", YAMLEVENTS_FILE_SHOWN, added->file, added->key_line, added->key_column);
    }
    return 0;
}

static int read_map(struct configtree_reader *reader, struct configtree *map, unsigned depth, struct error *err)
{
    struct configtree *last = NULL;

    for (;; map->n++) {
        struct configtree *node;

        if (yamlevents_next(reader->events, err) < 0)
            return -1;
        if (reader->events->event.type == YAML_MAPPING_END_EVENT)
            return 0;
        if (map->n == CONFIGTREE_KEYS_MAX)
            return too_many(reader, "this map has too many keys", CONFIGTREE_KEYS_MAX, err);
        node = read_pair(reader, depth + 1, err);
        if (!node || check_new_key(map, node, err) < 0)
            return -1;
        if (last)
            last->next = node;
        else
            map->first = node;
        last = node;
    }
}

/* The value whose first event is the current one. */
static int read_value(struct configtree_reader *reader, struct configtree *node, unsigned depth, struct error *err)
{
    yaml_event_type_t type = reader->events->event.type;

    node->line = yamlevents_line(reader->events);
    node->column = yamlevents_column(reader->events);
    if (type == YAML_SCALAR_EVENT) {
        node->kind = yamlevents_is_null(reader->events) ? CONFIGTREE_NOTHING : CONFIGTREE_TEXT;
        return yamlevents_copy(reader->events, reader->arena, &node->text, err);
    }
    if (depth > CONFIG_DEPTH_MAX)
        return too_many(reader, "maps and lists are nested too deep", CONFIG_DEPTH_MAX, err);
    node->kind = type == YAML_MAPPING_START_EVENT ? CONFIGTREE_MAP : CONFIGTREE_LIST;
    return node->kind == CONFIGTREE_MAP ? read_map(reader, node, depth, err) : read_list(reader, node, depth, err);
}

int configtree_read_pair(struct configtree_reader *reader, struct configtree **ret_node, struct error *err)
{
    struct configtree *node = read_pair(reader, 1, err);

    if (!node)
        return -1;
    *ret_node = node;
    return 0;
}

struct root_reading {
    struct configtree_reader reader;
    struct configtree *root;
};

static int read_root(void *context, struct error *err)
{
    struct root_reading *reading = context;

    return read_value(&reading->reader, reading->root, 1, err);
}

int configtree_parse(struct slice yaml, const char *file, struct arena *arena, const struct configtree **ret_tree,
                     struct error *err)
{
    AUTO(yamlevents_done) struct yamlevents events = { 0 };
    struct root_reading reading;

    if (yamlevents_init(&events, yaml, file, err) < 0 || configtree_init(&reading.reader, &events, arena, err) < 0)
        return -1;
    reading.root = new_node(&reading.reader, err);
    if (!reading.root)
        return -1;
    reading.root->line = reading.root->column = 1;
    if (yamlevents_document(&events, read_root, &reading, err) < 0)
        return -1;
    *ret_tree = reading.root;
    return 0;
}

int configtree_read(const char *path, struct arena *arena, const struct configtree **ret_tree, struct error *err)
{
    AUTO(buffer_done) struct buffer yaml;

    buffer_init(&yaml, CONFIG_BYTES_MAX);
    if (fs_read_file(path, CONFIG_BYTES_MAX, &yaml, err) < 0)
        return -1;
    return configtree_parse(buffer_slice(&yaml), path, arena, ret_tree, err);
}

/* As deep as the tree, which is at most CONFIG_DEPTH_MAX. */
static struct configtree *copy_node(const struct configtree *tree, const char *file, struct arena *arena,
                                    struct error *err)
{
    struct configtree *copy = ARENA_NEW(arena, struct configtree, err), **last;

    if (!copy)
        return NULL;
    *copy = *tree;
    copy->file = file;
    copy->first = copy->next = NULL;
    copy->key = arena_copy(arena, tree->key, err);
    copy->text = copy->key.ptr ? arena_copy(arena, tree->text, err) : copy->key;
    if (!copy->text.ptr)
        return NULL;
    last = &copy->first;
    for (const struct configtree *node = tree->first; node; node = node->next) {
        *last = copy_node(node, file, arena, err);
        if (!*last)
            return NULL;
        last = &(*last)->next;
    }
    return copy;
}

const struct configtree *configtree_copy(const struct configtree *tree, struct arena *arena, struct error *err)
{
    struct slice file = arena_copy(arena, slice_from(tree->file), err);

    return file.ptr ? copy_node(tree, file.ptr, arena, err) : NULL;
}

/* --- reading --- */

int configtree_blame(const struct configtree *node, struct error *err)
{
    return error_wrap(err, "%.*s:%u:%u", YAMLEVENTS_FILE_SHOWN, node->file, node->line, node->column);
}

int configtree_refuse(const struct configtree *node, struct error *err, const char *fmt, ...)
{
    char story[sizeof(err->text)];
    va_list args;

    va_start(args, fmt);
    vsnprintf(story, sizeof(story), fmt, args);
    va_end(args);
    error_set(err, ERR_INVALID, "%s", story);
    return configtree_blame(node, err);
}

const struct configtree *configtree_find(const struct configtree *map, const char *key)
{
    if (map->kind != CONFIGTREE_MAP)
        return NULL;
    for (const struct configtree *node = map->first; node; node = node->next)
        if (slice_is(node->key, key))
            return node;
    return NULL;
}

static int unknown_key(const struct configtree *node, const struct configtree_field *fields, size_t n_fields,
                       struct error *err)
{
    struct suggest nearest = suggest_start(node->key);
    struct slice shown = slice_sub(node->key, 0, YAMLEVENTS_KEY_SHOWN);

    for (size_t i = 0; i < n_fields; i++)
        suggest_offer(&nearest, fields[i].name);
    if (nearest.name)
        error_set(err, ERR_INVALID, "unknown key '%.*s'; did you mean '%s'?", SLICE_ARG(shown), nearest.name);
    else
        error_set(err, ERR_INVALID, "unknown key '%.*s'; take it out", SLICE_ARG(shown));
    return error_wrap(err, "%.*s:%u:%u", YAMLEVENTS_FILE_SHOWN, node->file, node->key_line, node->key_column);
}

int configtree_fill(const struct configtree *map, const struct configtree_field *fields, size_t n_fields, void *object,
                    void *context, struct error *err)
{
    if (map->kind == CONFIGTREE_NOTHING)
        return 0;
    if (map->kind != CONFIGTREE_MAP)
        return configtree_refuse(map, err, "a map of 'key: value' is wanted here");
    for (const struct configtree *node = map->first; node; node = node->next) {
        size_t i = 0;

        while (i < n_fields && !slice_is(node->key, fields[i].name))
            i++;
        if (i == n_fields)
            return unknown_key(node, fields, n_fields, err);
        if (node->kind != CONFIGTREE_NOTHING &&
            fields[i].read(node, (char *)object + fields[i].offset, context, err) < 0)
            return -1;
    }
    return 0;
}

/* `like` shows what is wanted. */
static int refuse_value(const struct configtree *node, const char *like, struct error *err)
{
    if (node->kind == CONFIGTREE_TEXT)
        return configtree_refuse(node, err, "'%.*s' is no value of '%.*s'; write %s",
                                 SLICE_ARG(slice_sub(node->text, 0, YAMLEVENTS_KEY_SHOWN)),
                                 SLICE_ARG(slice_sub(node->key, 0, YAMLEVENTS_KEY_SHOWN)), like);
    return configtree_refuse(node, err, "'%.*s' has a list or a map as its value; write %s",
                             SLICE_ARG(slice_sub(node->key, 0, YAMLEVENTS_KEY_SHOWN)), like);
}

int configtree_text(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (node->kind != CONFIGTREE_TEXT || node->text.len == 0)
        return refuse_value(node, "one text that is not empty", err);
    *(struct slice *)field = node->text;
    return 0;
}

int configtree_any_text(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (node->kind != CONFIGTREE_TEXT)
        return refuse_value(node, "one text", err);
    *(struct slice *)field = node->text;
    return 0;
}

int configtree_bool(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (node->kind != CONFIGTREE_TEXT || !units_parse_bool(node->text, field))
        return refuse_value(node, "true or false", err);
    return 0;
}

int configtree_duration(const struct configtree *node, void *field, void *context, struct error *err)
{
    int64_t ns;

    if (node->kind != CONFIGTREE_TEXT || !units_parse_duration(node->text, &ns) || ns <= 0)
        return refuse_value(node, "a duration like 15s or 1m30s", err);
    *(int64_t *)field = ns;
    return 0;
}

int configtree_uint(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (node->kind != CONFIGTREE_TEXT || !slice_to_u64(node->text, field))
        return refuse_value(node, "a whole number", err);
    return 0;
}

static bool are_texts(const struct configtree *node)
{
    for (const struct configtree *item = node->first; item; item = item->next)
        if (item->kind != CONFIGTREE_TEXT)
            return false;
    return true;
}

int configtree_texts(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (node->kind != CONFIGTREE_LIST || !are_texts(node))
        return refuse_value(node, "a list of texts, as in [one, two]", err);
    *(const struct configtree **)field = node;
    return 0;
}

int configtree_text_map(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (node->kind != CONFIGTREE_MAP || !are_texts(node))
        return refuse_value(node, "a map of texts, as in {name: value}", err);
    *(const struct configtree **)field = node;
    return 0;
}

int configtree_check_list(const struct configtree *node, const char *what, struct error *err)
{
    if (node->kind == CONFIGTREE_LIST)
        return 0;
    return configtree_refuse(node, err, "%s is wanted here; begin each item with '- '", what);
}
