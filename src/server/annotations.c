// SPDX-License-Identifier: Apache-2.0
#include "server/annotations.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/memory.h"
#include "wire/json_reader.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* JSON may write a byte of a text as six ("\u0001"), and has some more around each label and annotation. */
#define MAX_FILE_BYTES (6u * ANNOTATIONS_MAX_BYTES + 256u * ANNOTATIONS_MAX)
#define FILE_DEPTH     4
#define ID_BYTES       16

struct annotations {
    struct lock_mutex lock; /* guards the files: one reads or writes at a time */
    char directory[PATH_MAX];
};

int annotations_open(const char *data_dir, struct annotations **ret_annotations, struct error *err)
{
    AUTO(memory_freep) struct annotations *annotations = MEMORY_NEW(struct annotations, err);

    if (!annotations)
        return -1;
    if ((size_t)snprintf(annotations->directory, sizeof(annotations->directory), "%s/annotations", data_dir) >=
        sizeof(annotations->directory))
        return error_set(err, ERR_LIMIT, "the path of the data directory is too long");
    lock_mutex_init(&annotations->lock, LOCK_ANNOTATIONS);
    *ret_annotations = TAKE(annotations);
    return 0;
}

void annotations_close(struct annotations *annotations)
{
    if (!annotations)
        return;
    lock_mutex_done(&annotations->lock);
    memory_free(annotations);
}

/* --- labels --- */

static bool is_label_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '.')))
            return false;
    }
    return name.len > 0;
}

static int compare_labels(const void *a, const void *b)
{
    return slice_compare(((const struct series_label *)a)->name, ((const struct series_label *)b)->name);
}

static int tidy_label(struct series_label *label, struct arena *arena, struct error *err)
{
    char *name;

    if (label->name.len > ANNOTATIONS_MAX_LABEL_BYTES || label->value.len > ANNOTATIONS_MAX_LABEL_BYTES)
        return error_set(err, ERR_LIMIT, "the label '%.*s' is longer than %u bytes",
                         SLICE_ARG(slice_sub(label->name, 0, 64)), ANNOTATIONS_MAX_LABEL_BYTES);
    if (!is_label_name(label->name))
        return error_set(err, ERR_INVALID,
                         "'%.*s' is no name of a label: letters, digits and '_', the first of them no digit",
                         SLICE_ARG(slice_sub(label->name, 0, 64)));
    name = arena_alloc(arena, label->name.len, err);
    if (!name)
        return -1;
    for (size_t i = 0; i < label->name.len; i++)
        name[i] = label->name.ptr[i] == '.' ? '_' : label->name.ptr[i];
    label->name.ptr = name;
    return 0;
}

int annotations_tidy(struct annotation *annotation, struct arena *arena, struct error *err)
{
    for (uint32_t i = 0; i < annotation->n_labels; i++)
        if (tidy_label(&annotation->labels[i], arena, err) < 0)
            return -1;
    if (annotation->n_labels > 0)
        qsort(annotation->labels, annotation->n_labels, sizeof(*annotation->labels), compare_labels);
    for (uint32_t i = 1; i < annotation->n_labels; i++)
        if (compare_labels(&annotation->labels[i - 1], &annotation->labels[i]) == 0)
            return error_set(err, ERR_INVALID, "the label '%.*s' is there twice",
                             SLICE_ARG(slice_sub(annotation->labels[i].name, 0, 64)));
    return 0;
}

/* --- the file --- */

static const char *file_of(const struct annotations *annotations, struct slice tenant, struct arena *arena,
                           struct error *err)
{
    return arena_printf(arena, err, "%s/%.*s.json", annotations->directory, SLICE_ARG(tenant));
}

static void read_labels(struct json_reader *reader, struct arena *arena, struct annotation *annotation)
{
    struct series_label labels[ANNOTATIONS_MAX_LABELS];
    struct slice key;
    struct error err;

    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &key)) {
        if (annotation->n_labels == ANNOTATIONS_MAX_LABELS) {
            json_reader_fail(reader, "more than %u labels", ANNOTATIONS_MAX_LABELS);
            return;
        }
        labels[annotation->n_labels++] = (struct series_label){ key, json_reader_text(reader) };
    }
    annotation->labels = ARENA_ARRAY(arena, struct series_label, annotation->n_labels, &err);
    if (!annotation->labels)
        json_reader_fail(reader, "%s", err.text);
    else if (annotation->n_labels > 0)
        memcpy(annotation->labels, labels, annotation->n_labels * sizeof(*labels));
}

static void read_one(struct json_reader *reader, struct arena *arena, struct annotation *annotation)
{
    struct slice key;

    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &key)) {
        if (slice_is(key, "id"))
            annotation->id = json_reader_text(reader);
        else if (slice_is(key, "time_ns"))
            annotation->time_ns = json_reader_i64(reader);
        else if (slice_is(key, "text"))
            annotation->text = json_reader_text(reader);
        else if (slice_is(key, "labels"))
            read_labels(reader, arena, annotation);
        else
            json_reader_skip(reader);
    }
}

static int parse(struct slice text, struct arena *arena, struct annotations_list *list, struct error *err)
{
    struct json_reader reader;

    json_reader_init(&reader, text, arena, FILE_DEPTH);
    json_reader_enter_array(&reader);
    while (json_reader_next_item(&reader)) {
        if (list->n == ANNOTATIONS_MAX)
            return error_set(err, ERR_LIMIT, "there are more than %u annotations", ANNOTATIONS_MAX);
        list->items[list->n] = (struct annotation){ .id = SLICE(""), .text = SLICE("") };
        read_one(&reader, arena, &list->items[list->n++]);
    }
    json_reader_end(&reader);
    return json_reader_check(&reader, err);
}

/* The list has room for one more. */
static int load(const char *path, struct arena *arena, struct annotations_list *ret_list, struct error *err)
{
    struct annotations_list list = { .items = ARENA_ARRAY(arena, struct annotation, ANNOTATIONS_MAX + 1, err) };
    struct slice text;

    if (!list.items || fs_read_if_there(path, MAX_FILE_BYTES, arena, &text, err) < 0)
        return -1;
    if (text.ptr && parse(text, arena, &list, err) < 0)
        return error_wrap(err, "'%s'", path);
    *ret_list = list;
    return 0;
}

static void write_fields(struct json *json, const struct annotation *annotation)
{
    json_key(json, "id");
    json_string(json, annotation->id);
    json_key(json, "time_ns");
    json_int(json, annotation->time_ns);
    json_key(json, "text");
    json_string(json, annotation->text);
    json_key(json, "labels");
    json_object_begin(json);
    for (uint32_t i = 0; i < annotation->n_labels; i++) {
        json_key_slice(json, annotation->labels[i].name);
        json_string(json, annotation->labels[i].value);
    }
    json_object_end(json);
}

void annotations_write(struct json *json, const struct annotation *annotation)
{
    char text[CLOCK_TEXT_BYTES];

    json_object_begin(json);
    write_fields(json, annotation);
    json_key(json, "time");
    json_text(json, clock_format(annotation->time_ns, CLOCK_ZONE_UTC, 3, text));
    json_object_end(json);
}

static int save(const struct annotations *annotations, const char *path, const struct annotations_list *list,
                struct error *err)
{
    AUTO(buffer_done) struct buffer out;
    struct json json;

    buffer_init(&out, MAX_FILE_BYTES);
    json_init(&json, &out, JSON_INDENTED);
    json_array_begin(&json);
    for (uint32_t i = 0; i < list->n; i++) {
        json_object_begin(&json);
        write_fields(&json, &list->items[i]);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_done(&json);
    if (buffer_check(&out, err) < 0 || fs_make_directories(annotations->directory, 0700, err) < 0)
        return -1;
    return fs_write_file(path, buffer_slice(&out), err);
}

/* --- what is kept --- */

static size_t bytes_of(const struct annotation *annotation)
{
    size_t bytes = annotation->text.len;

    for (uint32_t i = 0; i < annotation->n_labels; i++)
        bytes += annotation->labels[i].name.len + annotation->labels[i].value.len;
    return bytes;
}

static int check_bounds(const struct annotations_list *list, const struct annotation *added, struct error *err)
{
    size_t bytes = bytes_of(added);

    if (added->text.len == 0)
        return error_set(err, ERR_INVALID, "an annotation needs a text that says what happened");
    if (added->text.len > ANNOTATIONS_MAX_TEXT_BYTES)
        return error_set(err, ERR_LIMIT, "the text is %zu bytes long; %u are allowed", added->text.len,
                         ANNOTATIONS_MAX_TEXT_BYTES);
    if (list->n == ANNOTATIONS_MAX)
        return error_set(err, ERR_LIMIT, "there are %u annotations, as many as may be; delete some", ANNOTATIONS_MAX);
    for (uint32_t i = 0; i < list->n; i++)
        bytes += bytes_of(&list->items[i]);
    if (bytes > ANNOTATIONS_MAX_BYTES)
        return error_set(err, ERR_LIMIT, "all annotations together would have %zu bytes; %u are allowed, delete some",
                         bytes, ANNOTATIONS_MAX_BYTES);
    return 0;
}

static int make_id(struct arena *arena, struct slice *ret_id, struct error *err)
{
    uint64_t random;
    char *text;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return error_set_errno(err, errno, "making an id");
    text = arena_printf(arena, err, "%016llx", (unsigned long long)random);
    if (!text)
        return -1;
    *ret_id = slice_of(text, ID_BYTES);
    return 0;
}

/* Behind those of its own time. */
static void insert(struct annotations_list *list, const struct annotation *annotation)
{
    uint32_t at = list->n++;

    for (; at > 0 && list->items[at - 1].time_ns > annotation->time_ns; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = *annotation;
}

static int add(const struct annotations *annotations, const char *path, const struct annotation *annotation,
               struct arena *arena, struct error *err)
{
    struct annotations_list list;

    if (load(path, arena, &list, err) < 0 || check_bounds(&list, annotation, err) < 0)
        return -1;
    insert(&list, annotation);
    return save(annotations, path, &list, err);
}

int annotations_add(struct annotations *annotations, struct slice tenant, struct annotation *annotation,
                    struct arena *arena, struct error *err)
{
    const char *path = file_of(annotations, tenant, arena, err);
    struct annotation added = *annotation;
    int result;

    if (!path || make_id(arena, &added.id, err) < 0)
        return -1;
    lock_mutex_acquire(&annotations->lock);
    result = add(annotations, path, &added, arena, err);
    lock_mutex_release(&annotations->lock);
    if (result == 0)
        *annotation = added;
    return result;
}

static int load_locked(struct annotations *annotations, struct slice tenant, struct arena *arena,
                       struct annotations_list *ret_list, struct error *err)
{
    const char *path = file_of(annotations, tenant, arena, err);
    int result;

    if (!path)
        return -1;
    lock_mutex_acquire(&annotations->lock);
    result = load(path, arena, ret_list, err);
    lock_mutex_release(&annotations->lock);
    return result;
}

int annotations_find(struct annotations *annotations, struct slice tenant, int64_t from_ns, int64_t until_ns,
                     const struct selector *selector, struct arena *arena, struct annotations_list *ret_list,
                     struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct annotations_list list;
    uint32_t n = 0;

    if (pattern_scratch_new(&scratch, err) < 0 || load_locked(annotations, tenant, arena, &list, err) < 0)
        return -1;
    for (uint32_t i = 0; i < list.n; i++) {
        struct seriesinfo labels = { .labels = list.items[i].labels, .n_labels = list.items[i].n_labels };
        enum selector_verdict verdict = SELECTOR_YES;

        if (list.items[i].time_ns < from_ns || list.items[i].time_ns >= until_ns)
            continue;
        if (selector && selector_judge(selector, &labels, false, scratch, &verdict, err) < 0)
            return -1;
        if (verdict == SELECTOR_YES)
            list.items[n++] = list.items[i];
    }
    list.n = n;
    *ret_list = list;
    return 0;
}

static int remove_one(const struct annotations *annotations, const char *path, struct slice id, struct arena *arena,
                      struct error *err)
{
    struct annotations_list list;
    uint32_t at = 0;

    if (load(path, arena, &list, err) < 0)
        return -1;
    while (at < list.n && !slice_equal(list.items[at].id, id))
        at++;
    if (at == list.n)
        return error_set(err, ERR_NOT_FOUND, "there is no annotation with the id '%.*s'",
                         SLICE_ARG(slice_sub(id, 0, 64)));
    memmove(&list.items[at], &list.items[at + 1], (list.n - at - 1) * sizeof(*list.items));
    list.n--;
    return save(annotations, path, &list, err);
}

int annotations_remove(struct annotations *annotations, struct slice tenant, struct slice id, struct arena *arena,
                       struct error *err)
{
    const char *path = file_of(annotations, tenant, arena, err);
    int result;

    if (!path)
        return -1;
    lock_mutex_acquire(&annotations->lock);
    result = remove_one(annotations, path, id, arena, err);
    lock_mutex_release(&annotations->lock);
    return result;
}
