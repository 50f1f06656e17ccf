// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "hourly/hourly_internal.h"

#include <stdio.h>

enum { LOOK_VALUES = 1024, LINE_BYTES = 512, SHOWN_KEY_BYTES = 24 };

/* One day. */
struct verifying {
    struct hourly_verify *verify;
    struct hourly *hourly;
    struct hourly_view view;
    char name[HOURLY_DAY_BYTES];
    char aside[HOURLY_PATH_BYTES]; /* where its damaged values go; empty = there were none */
    struct kv_batch *removed;      /* NULL = nothing is repaired */
};

static void tell(struct verifying *verifying, const char *what, const struct error *err)
{
    char line[LINE_BYTES];

    snprintf(line, sizeof(line), "%s %s: %s: %s", verifying->hourly->options.kind->name, verifying->name, what,
             err->text);
    if (verifying->verify->tell)
        verifying->verify->tell(verifying->verify->context, line);
}

/* --- setting values aside --- */

/* A file for each: the length of the key as a line, the key, the value. */
static int write_aside(struct verifying *verifying, struct slice key, struct slice value, struct error *err)
{
    char path[HOURLY_PATH_BYTES + 32];
    AUTO(buffer_done) struct buffer content;

    buffer_init(&content, 0);
    if (!verifying->aside[0] &&
        (hourly_days_name_aside(verifying->hourly, verifying->view.start_ns, verifying->aside, err) < 0 ||
         fs_make_directories(verifying->aside, 0700, err) < 0))
        return -1;
    buffer_printf(&content, "%zu\n", key.len);
    buffer_append_slice(&content, key);
    buffer_append_slice(&content, value);
    snprintf(path, sizeof(path), "%s/value-%u", verifying->aside, kv_batch_count(verifying->removed));
    return buffer_check(&content, err) < 0 ? -1 : fs_write_file(path, buffer_slice(&content), err);
}

static int take_bad(struct verifying *verifying, uint32_t family, struct slice key, struct slice value,
                    const struct error *failure, struct error *err)
{
    char what[64 + 2 * SHOWN_KEY_BYTES];
    int len = snprintf(what, sizeof(what), "the value of key ");

    for (size_t i = 0; i < MIN(key.len, (size_t)SHOWN_KEY_BYTES); i++)
        len += snprintf(what + len, sizeof(what) - (size_t)len, "%02x", (uint8_t)key.ptr[i]);
    verifying->verify->n_bad_values++;
    tell(verifying, what, failure);
    if (!verifying->removed)
        return 0;
    if (write_aside(verifying, key, value, err) < 0)
        return -1;
    kv_batch_delete(verifying->removed, verifying->view.kv, family, key);
    return 0;
}

/* --- reading --- */

static int check_value(struct verifying *verifying, uint32_t family, enum hourly_part part, struct slice key,
                       struct slice value, struct error *err)
{
    const struct hourly_options *options = &verifying->hourly->options;
    struct error failure;

    *(part == HOURLY_ROW ? &verifying->verify->n_rows : &verifying->verify->n_values) += 1;
    /* What begins with a zero byte is ours. */
    if ((part != HOURLY_ROW && key.len && key.ptr[0] == '\0') || !options->kind->check ||
        options->kind->check(options->context, part, key, value, &failure) == 0)
        return 0;
    if (failure.code != ERR_CORRUPT && failure.code != ERR_VERSION) {
        *err = failure;
        return -1;
    }
    return take_bad(verifying, family, key, value, &failure, err);
}

/* After the walk has ended: `*ret_has` says that it goes on behind damage. */
static int pass_damage(struct verifying *verifying, struct kv_iterator *iterator, const struct buffer *last,
                       bool *ret_has, struct error *err)
{
    struct error failure;

    *ret_has = false;
    if (kv_iterator_check(iterator, &failure) == 0)
        return 0;
    if (failure.code != ERR_CORRUPT) {
        *err = failure;
        return -1;
    }
    verifying->verify->n_bad_values++;
    tell(verifying, "part of a table", &failure);
    return kv_iterator_pass_damage(iterator, buffer_slice(last), ret_has, err);
}

static int check_family(struct verifying *verifying, uint32_t family, enum hourly_part part, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    AUTO(buffer_done) struct buffer last;
    bool has = true;
    uint64_t n = 0;

    buffer_init(&last, 0);
    if (kv_iterator_new(verifying->view.kv, family, verifying->view.snapshot, slice_of(NULL, 0), true, &iterator, err) <
        0)
        return -1;
    while (has) {
        for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
            buffer_clear(&last);
            buffer_append_slice(&last, kv_iterator_key(iterator));
            if (check_value(verifying, family, part, kv_iterator_key(iterator), kv_iterator_value(iterator), err) < 0)
                return -1;
            if (++n % LOOK_VALUES == 0 && atomic_load_explicit(&verifying->hourly->is_stopping, memory_order_relaxed))
                return error_set(err, ERR_CLOSED, "%s are being closed", verifying->hourly->options.kind->name);
        }
        if (pass_damage(verifying, iterator, &last, &has, err) < 0)
            return -1;
    }
    return buffer_check(&last, err);
}

static int check_families(struct verifying *verifying, struct error *err)
{
    const struct hourly_view *view = &verifying->view;

    if (check_family(verifying, KV_DEFAULT, HOURLY_INDEX, err) < 0 ||
        check_family(verifying, view->block_family, HOURLY_BLOCK, err) < 0)
        return -1;
    for (size_t i = 0; i < view->n_heads; i++)
        if (check_family(verifying, view->heads[i].family, HOURLY_ROW, err) < 0)
            return -1;
    return 0;
}

static int remove_bad(struct verifying *verifying, struct hourly_day *day, struct error *err)
{
    uint32_t n = verifying->removed ? kv_batch_count(verifying->removed) : 0;

    if (!n)
        return 0;
    if (kv_write(day->kv, verifying->removed, true, err) < 0) {
        hourly_day_fail(day, err);
        return -1;
    }
    verifying->verify->n_repaired += n;
    return 0;
}

static int verify_open_day(struct hourly *hourly, struct hourly_verify *verify, struct hourly_day *day,
                           struct error *err)
{
    struct verifying verifying = { .verify = verify, .hourly = hourly };
    int result;

    memcpy(verifying.name, day->name, sizeof(verifying.name));
    if (verify->is_repairing && kv_batch_new(&verifying.removed, err) < 0)
        return -1;
    result = hourly_day_view(day, &verifying.view, err);
    if (!result) {
        verify->n_days++;
        result = check_families(&verifying, err);
        hourly_day_view_done(day, &verifying.view);
    }
    if (!result)
        result = remove_bad(&verifying, day, err);
    if (verifying.removed)
        kv_batch_free(verifying.removed);
    return result;
}

static int verify_day(struct hourly *hourly, struct hourly_verify *verify, int64_t start_ns, struct error *err)
{
    struct verifying verifying = { .verify = verify, .hourly = hourly };
    uint32_t n_aside = atomic_load_explicit(&hourly->n_set_aside, memory_order_relaxed);
    struct hourly_day *day = NULL;
    int result = 0;

    hourly_day_name(start_ns, verifying.name);
    if (hourly_days_acquire(hourly, start_ns, verify->is_repairing ? HOURLY_UPKEEP : HOURLY_READ, &day, err) < 0) {
        if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
            return -1;
        verify->n_bad_days++;
        tell(&verifying, "the day", err);
        return 0;
    }
    /* A writer sets a day aside that it cannot open. */
    n_aside = atomic_load_explicit(&hourly->n_set_aside, memory_order_relaxed) - n_aside;
    verify->n_bad_days += n_aside;
    verify->n_repaired += n_aside;
    if (day)
        result = verify_open_day(hourly, verify, day, err);
    hourly_days_release(hourly, day);
    return result;
}

int hourly_verify(struct hourly *hourly, struct hourly_verify *verify, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct hourly_list list;

    arena_init(&arena, 0);
    if (verify->is_repairing && hourly->options.is_read_only)
        return error_set(err, ERR_DENIED, "%s were opened for reading only", hourly->options.kind->name);
    if (hourly_days_list(hourly, &arena, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++)
        if (verify_day(hourly, verify, list.starts_ns[i], err) < 0)
            return -1;
    return 0;
}
