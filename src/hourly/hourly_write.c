// SPDX-License-Identifier: Apache-2.0
#include "hourly/hourly_internal.h"

enum { MAX_BATCH_DAYS = 4096, HOURS = 24 };

/* What goes to one day. */
struct batch_day {
    struct hourly_day *day;
    struct kv_batch *rows;
    struct {
        bool is_held;
        uint32_t number, family;
        uint64_t bytes;
    } heads[HOURS];
};

struct hourly_batch {
    struct hourly *hourly;
    VEC(struct batch_day) days;
    struct kv_batch *spare; /* of the last day that was written: most batches are of one day */
};

int hourly_batch_new(struct hourly *hourly, struct hourly_batch **ret_batch, struct error *err)
{
    struct hourly_batch *batch = MEMORY_NEW(struct hourly_batch, err);

    if (!batch)
        return -1;
    batch->hourly = hourly;
    *ret_batch = batch;
    return 0;
}

/* Lets go of a day; `is_written` says that its heads have grown. */
static void release_day(struct hourly_batch *batch, struct batch_day *item, bool is_written)
{
    for (size_t hour = 0; hour < HOURS; hour++)
        if (item->heads[hour].is_held)
            hourly_day_release_head(item->day, item->heads[hour].number, is_written ? item->heads[hour].bytes : 0);
    hourly_days_release(batch->hourly, item->day);
    kv_batch_clear(item->rows);
    if (batch->spare)
        kv_batch_free(item->rows);
    else
        batch->spare = item->rows;
}

void hourly_batch_clear(struct hourly_batch *batch)
{
    VEC_EACH (&batch->days, item)
        release_day(batch, item, false);
    batch->days.n = 0;
}

void hourly_batch_free(struct hourly_batch *batch)
{
    if (!batch)
        return;
    hourly_batch_clear(batch);
    VEC_DONE(&batch->days);
    if (batch->spare)
        kv_batch_free(batch->spare);
    memory_free(batch);
}

void hourly_batch_freep(struct hourly_batch **batch)
{
    hourly_batch_free(*batch);
}

static int add_day(struct hourly_batch *batch, int64_t start_ns, struct batch_day **ret_item, struct error *err)
{
    struct batch_day item = { .rows = TAKE(batch->spare) };

    if ((!item.rows && kv_batch_new(&item.rows, err) < 0) || VEC_RESERVE(&batch->days, 1, MAX_BATCH_DAYS, err) < 0 ||
        hourly_days_acquire(batch->hourly, start_ns, HOURLY_CREATE, &item.day, err) < 0) {
        batch->spare = item.rows;
        return -1;
    }
    batch->days.items[batch->days.n] = item;
    *ret_item = &batch->days.items[batch->days.n++];
    return 0;
}

static int find_day(struct hourly_batch *batch, int64_t time_ns, struct batch_day **ret_item, struct error *err)
{
    int64_t start_ns = hourly_day_start(time_ns);

    if (batch->hourly->options.is_read_only)
        return error_set(err, ERR_DENIED, "%s were opened for reading only", batch->hourly->options.kind->name);
    if (time_ns < 0)
        return error_set(err, ERR_INVALID, "the time %lld ns lies before 1970", (long long)time_ns);
    VEC_EACH (&batch->days, item) {
        if (item->day->start_ns != start_ns)
            continue;
        *ret_item = item;
        return 0;
    }
    return add_day(batch, start_ns, ret_item, err);
}

static int hold_head(struct batch_day *item, uint8_t hour, struct error *err)
{
    struct hourly_head head;

    if (item->heads[hour].is_held)
        return 0;
    if (hourly_day_hold_head(item->day, hour, &head, err) < 0)
        return -1;
    item->heads[hour].is_held = true;
    item->heads[hour].number = head.number;
    item->heads[hour].family = head.family;
    return 0;
}

int hourly_batch_put_row(struct hourly_batch *batch, int64_t time_ns, struct slice key, struct slice value,
                         struct error *err)
{
    uint8_t hour = hourly_hour(time_ns);
    struct batch_day *item;

    if (find_day(batch, time_ns, &item, err) < 0 || hold_head(item, hour, err) < 0)
        return -1;
    kv_batch_put(item->rows, item->day->kv, item->heads[hour].family, key, value);
    item->heads[hour].bytes += key.len + value.len;
    return 0;
}

int hourly_batch_put_index(struct hourly_batch *batch, int64_t time_ns, struct slice key, struct slice value,
                           struct error *err)
{
    struct batch_day *item;

    if (find_day(batch, time_ns, &item, err) < 0)
        return -1;
    kv_batch_put(item->rows, item->day->kv, KV_DEFAULT, key, value);
    return 0;
}

uint32_t hourly_batch_count(const struct hourly_batch *batch)
{
    uint32_t n = 0;

    for (size_t i = 0; i < batch->days.n; i++)
        n += kv_batch_count(batch->days.items[i].rows);
    return n;
}

static int write_day(struct hourly_batch *batch, struct batch_day *item, struct error *err)
{
    struct hourly_day *day = item->day;
    bool is_synced = batch->hourly->options.is_synced;

    if (hourly_day_check(day, err) < 0)
        return -1;
    if (kv_write(day->kv, item->rows, is_synced, err) < 0) {
        hourly_day_fail(day, err);
        return error_wrap(err, "writing to day %s of %s", day->name, batch->hourly->options.kind->name);
    }
    if (is_synced)
        return 0;
    LOCK_SCOPE(&day->lock);
    day->has_unsynced = true;
    return 0;
}

int hourly_write(struct hourly_batch *batch, struct error *err)
{
    int result = hourly_check_room(batch->hourly, err);

    VEC_EACH (&batch->days, item) {
        if (!result)
            result = write_day(batch, item, err);
        release_day(batch, item, !result);
    }
    batch->days.n = 0;
    return result;
}
