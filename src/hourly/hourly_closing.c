// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "hourly/hourly_internal.h"

#include <stdio.h>

enum { MAX_CLOSINGS = 1 << 22, LOOK_ROWS = 1024 };

/* Keys that begin with one byte. */
struct closing_file {
    struct kv_sst *sst;
    char path[HOURLY_PATH_BYTES];
    struct buffer first, last; /* keys */
};

struct hourly_closing {
    struct hourly_day *day;
    struct hourly_head head;
    struct kv_iterator *iterator;
    bool has_begun, is_over;
    uint64_t n_rows;
    size_t largest; /* of the values */
    struct closing_file files[HOURLY_MAX_KEY_KINDS + 1];
    size_t n_files;
};

/* --- for the owner --- */

struct hourly_closing_about hourly_closing_about(const struct hourly_closing *closing)
{
    return (struct hourly_closing_about){ .start_ns = closing->day->start_ns,
                                          .hour = closing->head.hour,
                                          .number = closing->head.number };
}

/* Now and then: a closing takes a while, and what is written meanwhile must not wait for it. */
static int look_up(struct hourly_closing *closing, struct error *err)
{
    struct hourly *hourly = closing->day->hourly;

    if (atomic_load_explicit(&hourly->is_stopping, memory_order_relaxed)) /* relaxed: soon is soon enough */
        return error_set(err, ERR_CLOSED, "%s are being closed", hourly->options.kind->name);
    if (clock_mono_ns() - hourly->synced_mono_ns < CLOCK_NS_PER_SECOND)
        return 0;
    return hourly_care_sync(hourly, err);
}

int hourly_closing_next(struct hourly_closing *closing, struct slice *ret_key, struct slice *ret_value, bool *ret_has,
                        struct error *err)
{
    if (closing->n_rows++ % LOOK_ROWS == 0 && look_up(closing, err) < 0)
        return -1;
    if (closing->has_begun && !closing->is_over)
        kv_iterator_next(closing->iterator);
    closing->has_begun = true;
    closing->is_over = !kv_iterator_is_valid(closing->iterator);
    if (closing->is_over && kv_iterator_check(closing->iterator, err) < 0)
        return -1;
    *ret_has = !closing->is_over;
    if (closing->is_over)
        return 0;
    *ret_key = kv_iterator_key(closing->iterator);
    *ret_value = kv_iterator_value(closing->iterator);
    return 0;
}

static int make_file(struct hourly_closing *closing, struct closing_file **ret_file, struct error *err)
{
    struct hourly_day *day = closing->day;
    struct closing_file *file = &closing->files[closing->n_files];

    snprintf(file->path, sizeof(file->path), "%s/%s-%02u-%u.sst", day->hourly->scratch, day->name, closing->head.hour,
             day->hourly->n_files++);
    if (kv_sst_new(day->kv, day->block_family, file->path, &file->sst, err) < 0)
        return -1;
    buffer_init(&file->first, 0);
    buffer_init(&file->last, 0);
    closing->n_files++;
    *ret_file = file;
    return 0;
}

static int put(struct hourly_closing *closing, struct slice key, struct slice value, struct error *err)
{
    struct closing_file *file = NULL;

    for (size_t i = 0; i < closing->n_files && !file; i++)
        if (closing->files[i].first.data[0] == key.ptr[0])
            file = &closing->files[i];
    if (!file) {
        if (make_file(closing, &file, err) < 0)
            return -1;
        buffer_append_slice(&file->first, key);
    }
    closing->largest = MAX(closing->largest, value.len);
    buffer_clear(&file->last);
    buffer_append_slice(&file->last, key);
    if (buffer_check(&file->first, err) < 0 || buffer_check(&file->last, err) < 0)
        return -1;
    return kv_sst_put(file->sst, key, value, err);
}

int hourly_closing_put(struct hourly_closing *closing, struct slice key, struct slice value, struct error *err)
{
    ASSERT(key.len > 0 && key.ptr[0] != HOURLY_MARKER_KIND && closing->n_files <= HOURLY_MAX_KEY_KINDS);
    return put(closing, key, value, err);
}

int hourly_closing_get_index(struct hourly_closing *closing, struct slice key, struct buffer *into, bool *ret_found,
                             struct error *err)
{
    return kv_get(closing->day->kv, KV_DEFAULT, key, into, ret_found, err);
}

/* --- the way of a head --- */

static void closing_done(struct hourly_closing *closing)
{
    struct error err;

    kv_iterator_free(closing->iterator);
    for (size_t i = 0; i < closing->n_files; i++) {
        kv_sst_free(closing->files[i].sst);
        IGNORE(fs_remove_tree(closing->files[i].path, &err), "the directory is emptied at the next start");
        buffer_done(&closing->files[i].first);
        buffer_done(&closing->files[i].last);
    }
    memory_free(closing);
}

static int put_marker(struct hourly_closing *closing, struct error *err)
{
    char key[HOURLY_MARKER_BYTES];

    hourly_day_marker_key((struct hourly_number){ closing->head.hour, closing->head.number }, key);
    return put(closing, slice_of(key, sizeof(key)), HOURLY_MARKER_VALUE, err);
}

static int finish_files(struct hourly_closing *closing, struct error *err)
{
    uint64_t bytes;

    for (size_t i = 0; i < closing->n_files; i++)
        if (kv_sst_finish(closing->files[i].sst, &bytes, err) < 0)
            return -1;
    return 0;
}

static int check_key(struct hourly_closing *closing, const struct buffer *key, struct buffer *value, struct error *err)
{
    struct hourly_day *day = closing->day;
    bool is_found;

    buffer_clear(value);
    if (kv_get(day->kv, day->block_family, buffer_slice(key), value, &is_found, err) < 0)
        return -1;
    return is_found ? 0 : error_set(err, ERR_IO, "a file was taken in, but what it holds is not there");
}

/* RocksDB 7.8 takes a file in with the wrong bounds, and says nothing, when it cannot read its first or last block. */
static int check_taken_in(struct hourly_closing *closing, struct buffer *value, struct error *err)
{
    for (size_t i = 0; i < closing->n_files; i++)
        if (check_key(closing, &closing->files[i].first, value, err) < 0 ||
            check_key(closing, &closing->files[i].last, value, err) < 0) {
            kv_drop_keyless_files(closing->day->kv);
            return -1;
        }
    return 0;
}

static int ingest(struct hourly_closing *closing, struct buffer *value, struct error *err)
{
    const char *paths[ARRAY_LEN(closing->files)];

    for (size_t i = 0; i < closing->n_files; i++)
        paths[i] = closing->files[i].path;
    if (kv_ingest_all(closing->day->kv, closing->day->block_family, paths, closing->n_files, err) < 0)
        return -1;
    return check_taken_in(closing, value, err);
}

/* Blocks and marker enter the database and the lists in one step for whoever makes a view. */
static int publish(struct hourly_closing *closing, struct error *err)
{
    struct hourly_day *day = closing->day;
    AUTO(buffer_done) struct buffer value;

    /* Memory for looking at it afterwards is had before: there is no way back then. */
    buffer_init(&value, 0);
    if (!buffer_reserve(&value, closing->largest + 1))
        return buffer_check(&value, err);
    LOCK_SCOPE(&day->lock);
    if (VEC_RESERVE(&day->closings, 1, MAX_CLOSINGS, err) < 0)
        return -1;
    if (day->failure.code != ERR_OK || ingest(closing, &value, err) < 0) {
        /* What is in the database is not certain: opening it again tells. */
        if (day->failure.code == ERR_OK)
            day->failure = *err;
        *err = day->failure;
        return -1;
    }
    hourly_day_add_closing(day, (struct hourly_number){ closing->head.hour, closing->head.number });
    hourly_day_find_place(day, closing->head.number)->is_covered = true;
    return 0;
}

static int run(struct hourly_closing *closing, struct error *err)
{
    struct hourly_day *day = closing->day;
    const struct hourly_options *options = &day->hourly->options;

    if (kv_iterator_new(day->kv, closing->head.family, NULL, slice_of(NULL, 0), true, &closing->iterator, err) < 0 ||
        options->kind->close(options->context, closing, err) < 0)
        return -1;
    if (put_marker(closing, err) < 0 || finish_files(closing, err) < 0)
        return -1;
    /* Blocks are on the disk when they are taken in; the index they may refer to must be there before them. */
    if (kv_sync(day->kv, err) < 0) {
        hourly_day_fail(day, err);
        return -1;
    }
    return publish(closing, err);
}

int hourly_closing_run(struct hourly_day *day, const struct hourly_head *head, struct error *err)
{
    struct hourly_closing *closing = MEMORY_NEW(struct hourly_closing, err);
    int result;

    if (!closing)
        return -1;
    closing->day = day;
    closing->head = *head;
    result = run(closing, err);
    closing_done(closing);
    if (result < 0)
        return error_wrap(err, "closing hour %02u of day %s of %s", head->hour, day->name,
                          day->hourly->options.kind->name);
    return hourly_day_drop_covered(day, err);
}
