// SPDX-License-Identifier: Apache-2.0
#include "answer/adhocfiles.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/memory.h"
#include "wire/json_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define DEFAULT_MAX_BYTES    (1ull << 30)
#define DEFAULT_RETENTION_NS (30 * 24 * 3600 * CLOCK_NS_PER_SECOND)
/* JSON may write a byte of a name as six, and has some more around it. */
#define MAX_HEAD_BYTES       (6u * ADHOCFILES_MAX_NAME_BYTES + 256u)
#define HEAD_DEPTH           2

struct adhocfiles {
    struct adhocfiles_options options;
    struct lock_mutex lock; /* guards the directory: one adds or removes at a time */
    char directory[PATH_MAX];
};

int adhocfiles_open(const struct adhocfiles_options *options, struct adhocfiles **ret_files, struct error *err)
{
    AUTO(memory_freep) struct adhocfiles *files = MEMORY_NEW(struct adhocfiles, err);

    if (!files)
        return -1;
    files->options = *options;
    if (!files->options.max_bytes)
        files->options.max_bytes = DEFAULT_MAX_BYTES;
    if (!files->options.retention_ns)
        files->options.retention_ns = DEFAULT_RETENTION_NS;
    if ((size_t)snprintf(files->directory, sizeof(files->directory), "%s/adhoc", options->data_dir) >=
        sizeof(files->directory))
        return error_set(err, ERR_LIMIT, "the path of the data directory is too long");
    lock_mutex_init(&files->lock, LOCK_ADHOC_FILES);
    *ret_files = TAKE(files);
    return 0;
}

void adhocfiles_close(struct adhocfiles *files)
{
    if (!files)
        return;
    lock_mutex_done(&files->lock);
    memory_free(files);
}

/* --- one file --- */

static bool is_id(struct slice id)
{
    for (size_t i = 0; i < id.len; i++)
        if (!((id.ptr[i] >= '0' && id.ptr[i] <= '9') || (id.ptr[i] >= 'a' && id.ptr[i] <= 'f')))
            return false;
    return id.len == ADHOCFILES_ID_BYTES;
}

static int fail_missing(struct slice id, struct error *err)
{
    return error_set(err, ERR_NOT_FOUND, "there is no uploaded profile with the id '%.*s'; it may have expired",
                     SLICE_ARG(slice_sub(id, 0, 64)));
}

static const char *path_of(const struct adhocfiles *files, const char *name, struct arena *arena, struct error *err)
{
    return arena_printf(arena, err, "%s/%s", files->directory, name);
}

static const char *name_of(struct slice id, struct slice tenant, struct arena *arena, struct error *err)
{
    return arena_printf(arena, err, "%.*s.%.*s", SLICE_ARG(id), SLICE_ARG(tenant));
}

/* Reads the first line of a file; its length, with its end, is in `*ret_len`. */
static int parse_head(struct slice text, struct arena *arena, struct adhocfile *file, size_t *ret_len,
                      struct error *err)
{
    ptrdiff_t end = slice_find_byte(text, '\n');
    struct json_reader reader;
    struct slice key;

    if (end < 0)
        return error_set(err, ERR_CORRUPT, "its first line has no end");
    *ret_len = (size_t)end + 1;
    json_reader_init(&reader, slice_sub(text, 0, (size_t)end), arena, HEAD_DEPTH);
    json_reader_enter_object(&reader);
    while (json_reader_next_key(&reader, &key)) {
        if (slice_is(key, "name"))
            file->name = json_reader_text(&reader);
        else if (slice_is(key, "uploaded_ns"))
            file->uploaded_ns = json_reader_i64(&reader);
        else if (slice_is(key, "expires_ns"))
            file->expires_ns = json_reader_i64(&reader);
        else
            json_reader_skip(&reader);
    }
    json_reader_end(&reader);
    return json_reader_check(&reader, err);
}

/* What the file called `name` in the directory is, without reading all of it. */
static int look_at(const struct adhocfiles *files, const char *name, struct arena *arena, struct adhocfile *ret_file,
                   struct error *err)
{
    const char *path = path_of(files, name, arena, err);
    AUTO(fd_closep) int fd = -1;
    struct adhocfile file = { .name = SLICE("") };
    uint64_t whole;
    size_t len, head;
    char *text;

    if (!path || fs_open(path, O_RDONLY, 0, &fd, err) < 0 || fs_size(path, &whole, err) < 0)
        return -1;
    text = arena_alloc(arena, MAX_HEAD_BYTES, err);
    if (!text || fs_read(fd, text, MAX_HEAD_BYTES, &len, err) < 0)
        return -1;
    if (parse_head(slice_of(text, len), arena, &file, &head, err) < 0)
        return error_wrap(err, "'%s'", path);
    file.id = slice_of(name, ADHOCFILES_ID_BYTES);
    file.size_bytes = whole - MIN(whole, (uint64_t)head);
    *ret_file = file;
    return 0;
}

/* --- all of them --- */

static int compare_files(const void *a, const void *b)
{
    const struct adhocfile *x = a, *y = b;

    if (x->uploaded_ns != y->uploaded_ns)
        return x->uploaded_ns < y->uploaded_ns ? 1 : -1;
    return slice_compare(x->id, y->id);
}

/* What there is of all tenants. */
struct survey {
    struct fs_listing listing;
    uint64_t size_bytes;
    uint32_t n;
    struct adhocfiles_list list; /* of the tenant that was asked for */
};

/* Removes what has expired, and leaves out what is no file of ours or cannot be read: it counts, but cannot be shown. */
static int survey_file(struct adhocfiles *files, const char *name, struct slice tenant, int64_t now_ns,
                       struct arena *arena, struct survey *survey, struct error *err)
{
    struct slice text = slice_from(name);
    struct adhocfile file;
    const char *path;

    if (text.len < ADHOCFILES_ID_BYTES + 1 || !is_id(slice_sub(text, 0, ADHOCFILES_ID_BYTES)))
        return 0;
    survey->n++;
    if (look_at(files, name, arena, &file, err) < 0)
        return err->code == ERR_MEMORY || err->code == ERR_LIMIT ? -1 : 0;
    if (file.expires_ns <= now_ns) {
        survey->n--;
        path = path_of(files, name, arena, err);
        return path ? fs_remove_tree(path, err) : -1;
    }
    survey->size_bytes += file.size_bytes;
    if (slice_equal(slice_sub(text, ADHOCFILES_ID_BYTES + 1, SIZE_MAX), tenant))
        survey->list.items[survey->list.n++] = file;
    return 0;
}

static int survey_all(struct adhocfiles *files, struct slice tenant, int64_t now_ns, struct arena *arena,
                      struct survey *ret_survey, struct error *err)
{
    struct survey survey = { 0 };

    if (fs_list(files->directory, arena, &survey.listing, err) < 0) {
        if (err->code != ERR_NOT_FOUND)
            return -1;
        *ret_survey = survey;
        return 0;
    }
    survey.list.items = ARENA_ARRAY(arena, struct adhocfile, survey.listing.n, err);
    if (!survey.list.items)
        return -1;
    for (size_t i = 0; i < survey.listing.n; i++)
        if (survey_file(files, survey.listing.names[i], tenant, now_ns, arena, &survey, err) < 0)
            return -1;
    if (survey.list.n > 0)
        qsort(survey.list.items, survey.list.n, sizeof(*survey.list.items), compare_files);
    *ret_survey = survey;
    return 0;
}

int adhocfiles_list(struct adhocfiles *files, struct slice tenant, int64_t now_ns, struct arena *arena,
                    struct adhocfiles_list *ret_list, struct error *err)
{
    struct survey survey;
    int result;

    lock_mutex_acquire(&files->lock);
    result = survey_all(files, tenant, now_ns, arena, &survey, err);
    lock_mutex_release(&files->lock);
    if (result == 0)
        *ret_list = survey.list;
    return result;
}

/* --- putting --- */

static int make_id(struct arena *arena, struct slice *ret_id, struct error *err)
{
    uint64_t random[2];
    char *text;

    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        return error_set_errno(err, errno, "making an id");
    text = arena_printf(arena, err, "%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
    if (!text)
        return -1;
    *ret_id = slice_of(text, ADHOCFILES_ID_BYTES);
    return 0;
}

static void write_head(const struct adhocfile *file, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "name");
    json_string(&json, file->name);
    json_key(&json, "uploaded_ns");
    json_int(&json, file->uploaded_ns);
    json_key(&json, "expires_ns");
    json_int(&json, file->expires_ns);
    json_object_end(&json);
    json_done(&json);
    buffer_append_byte(out, '\n');
}

static int check_room(const struct adhocfiles *files, const struct survey *survey, size_t len, struct error *err)
{
    if (survey->n >= ADHOCFILES_MAX)
        return error_set(err, ERR_LIMIT, "there are %u uploaded profiles, as many as may be; delete some",
                         ADHOCFILES_MAX);
    if (survey->size_bytes + len > files->options.max_bytes)
        return error_set(
            err, ERR_LIMIT,
            "uploaded profiles take %llu bytes, and %zu more are beyond the %llu that they may; delete some",
            (unsigned long long)survey->size_bytes, len, (unsigned long long)files->options.max_bytes);
    return 0;
}

static int put(struct adhocfiles *files, struct slice tenant, const struct adhocfile *file, struct slice bytes,
               struct arena *arena, struct error *err)
{
    const char *name = name_of(file->id, tenant, arena, err);
    const char *path = name ? path_of(files, name, arena, err) : NULL;
    AUTO(buffer_done) struct buffer out;
    struct survey survey;

    buffer_init(&out, 0);
    if (!path || survey_all(files, tenant, file->uploaded_ns, arena, &survey, err) < 0 ||
        check_room(files, &survey, bytes.len, err) < 0)
        return -1;
    write_head(file, &out);
    buffer_append_slice(&out, bytes);
    if (buffer_check(&out, err) < 0 || fs_make_directories(files->directory, 0700, err) < 0)
        return -1;
    return fs_write_file(path, buffer_slice(&out), err);
}

int adhocfiles_put(struct adhocfiles *files, struct slice tenant, struct slice name, struct slice bytes, int64_t now_ns,
                   struct arena *arena, struct adhocfile *ret_file, struct error *err)
{
    struct adhocfile file = { .name = name, .uploaded_ns = now_ns, .size_bytes = bytes.len };
    int result;

    if (name.len == 0)
        return error_set(err, ERR_INVALID, "an uploaded profile needs a name");
    if (name.len > ADHOCFILES_MAX_NAME_BYTES)
        return error_set(err, ERR_LIMIT, "the name is %zu bytes long; %u are allowed", name.len,
                         ADHOCFILES_MAX_NAME_BYTES);
    if (__builtin_add_overflow(now_ns, files->options.retention_ns, &file.expires_ns))
        file.expires_ns = INT64_MAX;
    if (make_id(arena, &file.id, err) < 0)
        return -1;
    lock_mutex_acquire(&files->lock);
    result = put(files, tenant, &file, bytes, arena, err);
    lock_mutex_release(&files->lock);
    if (result == 0)
        *ret_file = file;
    return result;
}

/* --- reading and removing --- */

int adhocfiles_read(struct adhocfiles *files, struct slice tenant, struct slice id, int64_t now_ns, struct arena *arena,
                    struct adhocfile *ret_file, struct buffer *into, struct error *err)
{
    AUTO(buffer_done) struct buffer whole;
    struct adhocfile file = { .name = SLICE(""), .id = id };
    const char *name, *path;
    struct slice head;
    size_t len;

    buffer_init(&whole, 0);
    if (!is_id(id))
        return fail_missing(id, err);
    name = name_of(id, tenant, arena, err);
    path = name ? path_of(files, name, arena, err) : NULL;
    if (!path)
        return -1;
    if (fs_read_file(path, 0, &whole, err) < 0)
        return err->code == ERR_NOT_FOUND ? fail_missing(id, err) : -1;
    head = arena_copy(arena, slice_sub(buffer_slice(&whole), 0, MAX_HEAD_BYTES), err);
    if (!head.ptr)
        return -1;
    if (parse_head(head, arena, &file, &len, err) < 0)
        return error_wrap(err, "'%s'", path);
    if (file.expires_ns <= now_ns)
        return fail_missing(id, err);
    buffer_append_slice(into, slice_sub(buffer_slice(&whole), len, SIZE_MAX));
    file.size_bytes = whole.len - len;
    *ret_file = file;
    return buffer_check(into, err);
}

int adhocfiles_remove(struct adhocfiles *files, struct slice tenant, struct slice id, struct arena *arena,
                      struct error *err)
{
    const char *name, *path;
    uint64_t ignored;
    int result;

    if (!is_id(id))
        return fail_missing(id, err);
    name = name_of(id, tenant, arena, err);
    path = name ? path_of(files, name, arena, err) : NULL;
    if (!path)
        return -1;
    lock_mutex_acquire(&files->lock);
    result = fs_size(path, &ignored, err);
    if (result == 0)
        result = fs_remove_tree(path, err);
    lock_mutex_release(&files->lock);
    return result < 0 && err->code == ERR_NOT_FOUND ? fail_missing(id, err) : result;
}
