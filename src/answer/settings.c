// SPDX-License-Identifier: Apache-2.0
#include "answer/settings.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/memory.h"
#include "wire/json_reader.h"

#include <limits.h>
#include <stdio.h>

/* JSON may write a byte of a text as six ("\u0001"), and has some more around it. */
#define MAX_FILE_BYTES (6u * SETTINGS_MAX_BYTES + 256u * SETTINGS_MAX)
#define FILE_DEPTH     4

struct settings {
    struct lock_mutex lock; /* guards the files: one reads or writes at a time */
    char directory[PATH_MAX];
};

int settings_open(const char *data_dir, struct settings **ret_settings, struct error *err)
{
    AUTO(memory_freep) struct settings *settings = MEMORY_NEW(struct settings, err);

    if (!settings)
        return -1;
    if ((size_t)snprintf(settings->directory, sizeof(settings->directory), "%s/settings", data_dir) >=
        sizeof(settings->directory))
        return error_set(err, ERR_LIMIT, "the path of the data directory is too long");
    lock_mutex_init(&settings->lock, LOCK_SETTINGS);
    *ret_settings = TAKE(settings);
    return 0;
}

void settings_close(struct settings *settings)
{
    if (!settings)
        return;
    lock_mutex_done(&settings->lock);
    memory_free(settings);
}

/* --- the file --- */

static const char *file_of(const struct settings *settings, struct slice tenant, struct arena *arena, struct error *err)
{
    return arena_printf(arena, err, "%s/%.*s.json", settings->directory, SLICE_ARG(tenant));
}

static void read_setting(struct json_reader *reader, struct setting *setting)
{
    struct slice key;

    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &key)) {
        if (slice_is(key, "name"))
            setting->name = json_reader_text(reader);
        else if (slice_is(key, "value"))
            setting->value = json_reader_text(reader);
        else if (slice_is(key, "modifiedAt"))
            setting->modified_at = json_reader_i64(reader);
        else
            json_reader_skip(reader);
    }
}

static int parse(struct slice text, struct arena *arena, struct settings_list *list, struct error *err)
{
    struct json_reader reader;

    json_reader_init(&reader, text, arena, FILE_DEPTH);
    json_reader_enter_array(&reader);
    while (json_reader_next_item(&reader)) {
        if (list->n == SETTINGS_MAX)
            return error_set(err, ERR_LIMIT, "there are more than %u settings", SETTINGS_MAX);
        list->items[list->n] = (struct setting){ .name = SLICE(""), .value = SLICE("") };
        read_setting(&reader, &list->items[list->n++]);
    }
    json_reader_end(&reader);
    return json_reader_check(&reader, err);
}

/* The list has room for one more setting than there may be. */
static int load(const char *path, struct arena *arena, struct settings_list *ret_list, struct error *err)
{
    struct settings_list list = { .items = ARENA_ARRAY(arena, struct setting, SETTINGS_MAX + 1, err) };
    struct slice text;

    if (!list.items || fs_read_if_there(path, MAX_FILE_BYTES, arena, &text, err) < 0)
        return -1;
    if (text.ptr && parse(text, arena, &list, err) < 0)
        return error_wrap(err, "'%s'", path);
    *ret_list = list;
    return 0;
}

static void print(const struct settings_list *list, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_array_begin(&json);
    for (uint32_t i = 0; i < list->n; i++) {
        json_object_begin(&json);
        json_key(&json, "name");
        json_string(&json, list->items[i].name);
        json_key(&json, "value");
        json_string(&json, list->items[i].value);
        json_key(&json, "modifiedAt");
        json_int(&json, list->items[i].modified_at);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_done(&json);
}

static int save(const char *path, const struct settings_list *list, struct error *err)
{
    AUTO(buffer_done) struct buffer out;

    buffer_init(&out, MAX_FILE_BYTES);
    print(list, &out);
    if (buffer_check(&out, err) < 0)
        return -1;
    return fs_write_file(path, buffer_slice(&out), err);
}

/* --- what is kept --- */

/* Where the name is, or belongs. */
static uint32_t place_of(const struct settings_list *list, struct slice name, bool *ret_is_there)
{
    uint32_t i = 0;

    while (i < list->n && slice_compare(list->items[i].name, name) < 0)
        i++;
    *ret_is_there = i < list->n && slice_equal(list->items[i].name, name);
    return i;
}

static int check_bounds(const struct settings_list *list, struct error *err)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < list->n; i++)
        bytes += list->items[i].name.len + list->items[i].value.len;
    if (list->n > SETTINGS_MAX)
        return error_set(err, ERR_LIMIT, "there are %u settings already, and there may be no more; delete some",
                         SETTINGS_MAX);
    if (bytes > SETTINGS_MAX_BYTES)
        return error_set(err, ERR_LIMIT, "with this the settings come to %zu bytes, and %u are kept; delete some",
                         bytes, SETTINGS_MAX_BYTES);
    return 0;
}

/* Before the first setting of a tenant. */
static int make_room(struct settings *settings, struct arena *arena, struct error *err)
{
    struct fs_listing files;

    if (fs_make_directories(settings->directory, 0700, err) < 0 || fs_list(settings->directory, arena, &files, err) < 0)
        return -1;
    if (files.n >= SETTINGS_MAX_TENANTS)
        return error_set(err, ERR_LIMIT, "%u tenants have settings already, and no more are kept",
                         SETTINGS_MAX_TENANTS);
    return 0;
}

static int check_setting(const struct setting *setting, struct error *err)
{
    if (setting->name.len == 0)
        return error_set(err, ERR_INVALID, "a setting must have a name");
    if (setting->name.len > SETTINGS_MAX_NAME_BYTES)
        return error_set(err, ERR_LIMIT, "the name of the setting has %zu bytes, and %u are kept", setting->name.len,
                         SETTINGS_MAX_NAME_BYTES);
    if (setting->value.len > SETTINGS_MAX_VALUE_BYTES)
        return error_set(err, ERR_LIMIT, "the value of the setting has %zu bytes, and %u are kept", setting->value.len,
                         SETTINGS_MAX_VALUE_BYTES);
    return 0;
}

int settings_load(struct settings *settings, struct slice tenant, struct arena *arena, struct settings_list *ret_list,
                  struct error *err)
{
    const char *path = file_of(settings, tenant, arena, err);

    if (!path)
        return -1;
    LOCK_SCOPE(&settings->lock);
    return load(path, arena, ret_list, err);
}

int settings_set(struct settings *settings, struct slice tenant, const struct setting *setting, struct arena *arena,
                 struct error *err)
{
    const char *path = file_of(settings, tenant, arena, err);
    struct settings_list list;
    bool is_there;
    uint32_t at;

    if (!path || check_setting(setting, err) < 0)
        return -1;
    LOCK_SCOPE(&settings->lock);
    if (load(path, arena, &list, err) < 0 || (list.n == 0 && make_room(settings, arena, err) < 0))
        return -1;
    at = place_of(&list, setting->name, &is_there);
    if (is_there && list.items[at].modified_at > setting->modified_at)
        return error_set(err, ERR_EXISTS, "the setting '%.*s' was changed later than that, at %lld",
                         SLICE_ARG(setting->name), (long long)list.items[at].modified_at);
    if (!is_there)
        memmove(&list.items[at + 1], &list.items[at], (list.n++ - at) * sizeof(*list.items));
    list.items[at] = *setting;
    return check_bounds(&list, err) < 0 ? -1 : save(path, &list, err);
}

int settings_delete(struct settings *settings, struct slice tenant, struct slice name, struct arena *arena,
                    struct error *err)
{
    const char *path = file_of(settings, tenant, arena, err);
    struct settings_list list;
    bool is_there;
    uint32_t at;

    if (!path)
        return -1;
    LOCK_SCOPE(&settings->lock);
    if (load(path, arena, &list, err) < 0)
        return -1;
    at = place_of(&list, name, &is_there);
    if (!is_there)
        return 0;
    list.n--;
    memmove(&list.items[at], &list.items[at + 1], (list.n - at) * sizeof(*list.items));
    if (list.n > 0)
        return save(path, &list, err);
    return fs_remove_tree(path, err) < 0 ? -1 : fs_sync_parent(path, err);
}
