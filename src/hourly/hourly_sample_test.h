// SPDX-License-Identifier: Apache-2.0
/* For tests: a kind of store whose rows are texts and whose blocks are lists of three of them, and its content as text. */
#pragma once

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/test.h"
#include "base/vec.h"
#include "hourly/hourly.h"
#include "kv/kv_fixture_test.h"

#include <stdlib.h>

#define SAMPLE_DAY_NS ((int64_t)20000 * HOURLY_DAY_NS) /* 2024-10-04 */
#define SAMPLE_NOW_NS (SAMPLE_DAY_NS + 10 * HOURLY_HOUR_NS + HOURLY_HOUR_NS / 2)

/* What the closing of a sample store does besides. */
struct sample_context {
    struct error failure; /* fails with it */
    uint32_t n_closed;
    int (*meanwhile)(void *context, struct error *err); /* before the last row is given */
    void *meanwhile_context;
};

static inline int sample_put_block(struct hourly_closing *closing, uint32_t number, const struct buffer *rows,
                                   struct error *err)
{
    struct hourly_closing_about about = hourly_closing_about(closing);
    char key[10] = { 'b', (char)about.hour };

    bytes_put_be32(key + 2, about.number);
    bytes_put_be32(key + 6, number);
    if (hourly_closing_put(closing, slice_of(key, sizeof(key)), buffer_slice(rows), err) < 0)
        return -1;
    key[0] = 'h'; /* of another kind, by turns */
    return hourly_closing_put(closing, slice_of(key, sizeof(key)), SLICE("about it"), err);
}

static inline int sample_close(void *context, struct hourly_closing *closing, struct error *err)
{
    struct sample_context *sample = context;
    AUTO(buffer_done) struct buffer rows;
    struct slice key, value;
    uint32_t n = 0, n_blocks = 0;
    bool has;

    buffer_init(&rows, 0);
    if (sample->failure.code != ERR_OK) {
        *err = sample->failure;
        return -1;
    }
    for (;;) {
        if (hourly_closing_next(closing, &key, &value, &has, err) < 0)
            return -1;
        if (!has)
            break;
        buffer_printf(&rows, "%.*s=%.*s\n", SLICE_ARG(key), SLICE_ARG(value));
        if (++n % 3)
            continue;
        if (buffer_check(&rows, err) < 0 || sample_put_block(closing, n_blocks++, &rows, err) < 0)
            return -1;
        buffer_clear(&rows);
    }
    if (sample->meanwhile && sample->meanwhile(sample->meanwhile_context, err) < 0)
        return -1;
    if (buffer_check(&rows, err) < 0 || (rows.len && sample_put_block(closing, n_blocks, &rows, err) < 0))
        return -1;
    sample->n_closed++;
    return 0;
}

static const struct hourly_kind sample_kind = { .name = "rows", .close = sample_close };

static inline struct hourly_options sample_options(struct sample_context *context)
{
    return (struct hourly_options){
        .kind = &sample_kind, .context = context, .data_dir = test_directory(), .memory_bytes = 8 << 20
    };
}

static inline struct hourly *sample_open_with(const struct hourly_options *options)
{
    struct hourly *hourly;
    struct error err;

    CHECK_OK(hourly_open(options, &hourly, &err), &err);
    return hourly;
}

/* In the middle of a day of the past, which is today. */
static inline struct hourly *sample_open(struct sample_context *context)
{
    struct hourly_options options = sample_options(context);

    clock_fake_set(SAMPLE_NOW_NS);
    return sample_open_with(&options);
}

static inline int sample_try_put(struct hourly *hourly, int64_t time_ns, const char *key, const char *value,
                                 struct error *err)
{
    AUTO(hourly_batch_freep) struct hourly_batch *batch = NULL;

    if (hourly_batch_new(hourly, &batch, err) < 0 ||
        hourly_batch_put_row(batch, time_ns, slice_from(key), slice_from(value), err) < 0)
        return -1;
    return hourly_write(batch, err);
}

/* A row of some hour of the sample day. */
static inline void sample_put(struct hourly *hourly, int hour, const char *key, const char *value)
{
    struct error err;

    CHECK_OK(sample_try_put(hourly, SAMPLE_DAY_NS + hour * HOURLY_HOUR_NS, key, value, &err), &err);
}

/* --- content --- */

struct sample_content {
    struct buffer text; /* lines */
    uint32_t n_heads, n_closings, n_days;
};

static inline int sample_read_family(const struct hourly_view *view, uint32_t family, const char *prefix,
                                     struct buffer *out, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;

    if (kv_iterator_new(view->kv, family, view->snapshot, slice_from(prefix), true, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        if (*prefix)
            buffer_append_slice(out, kv_iterator_value(iterator));
        else
            buffer_printf(out, "%.*s=%.*s\n", SLICE_ARG(kv_iterator_key(iterator)),
                          SLICE_ARG(kv_iterator_value(iterator)));
    }
    return kv_iterator_check(iterator, err);
}

static inline int sample_read_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct sample_content *content = context;

    content->n_days++;
    content->n_heads += (uint32_t)view->n_heads;
    content->n_closings += (uint32_t)view->n_closings;
    if (sample_read_family(view, view->block_family, "b", &content->text, err) < 0)
        return -1;
    for (size_t i = 0; i < view->n_heads; i++)
        if (sample_read_family(view, view->heads[i].family, "", &content->text, err) < 0)
            return -1;
    return buffer_check(&content->text, err);
}

static inline int sample_compare_lines(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;

    return slice_compare(*x, *y);
}

/* All rows of the store, sorted and joined by spaces, at most `size` bytes of them. */
static inline struct sample_content sample_read(struct hourly *hourly, char *ret_text, size_t size)
{
    struct sample_content content = { .n_days = 0 };
    VEC(struct slice) lines = { 0 };
    struct slice rest, line;
    struct error err;
    size_t len = 0;

    buffer_init(&content.text, 0);
    CHECK_OK(hourly_each_day(hourly, 0, INT64_MAX, false, sample_read_day, &content, &err), &err);
    rest = buffer_slice(&content.text);
    while (slice_next_line(&rest, &line))
        *(struct slice *)VEC_PUSH(&lines, 1 << 20, &err) = line;
    if (lines.n)
        qsort(lines.items, lines.n, sizeof(*lines.items), sample_compare_lines);
    ret_text[0] = '\0';
    VEC_EACH (&lines, item)
        if (len < size)
            len += (size_t)snprintf(ret_text + len, size - len, "%s%.*s", len ? " " : "", SLICE_ARG(*item));
    VEC_DONE(&lines);
    buffer_done(&content.text);
    return content;
}

#define CHECK_ROWS(hourly, wanted)                                                                                     \
    do {                                                                                                               \
        char rows_text_[4096];                                                                                         \
                                                                                                                       \
        sample_read((hourly), rows_text_, sizeof(rows_text_));                                                         \
        CHECK_TEXT(rows_text_, (wanted));                                                                              \
    } while (0)

static inline struct hourly_stats sample_stats(struct hourly *hourly)
{
    struct hourly_stats stats;
    struct error err;

    CHECK_OK(hourly_stats(hourly, &stats, &err), &err);
    return stats;
}

static inline void sample_maintain(struct hourly *hourly, int64_t now_ns)
{
    struct error err;

    CHECK_OK(hourly_maintain(hourly, now_ns, &err), &err);
}
