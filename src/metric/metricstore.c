// SPDX-License-Identifier: Apache-2.0
#include "metric/metricstore.h"

#include "base/clock.h"
#include "base/memory.h"
#include "metric/metriccheck.h"
#include "metric/metricseries.h"
#include "metric/metricstore_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define MEMORY_DEFAULT       ((uint64_t)16 << 20)
#define RETENTION_DEFAULT_NS (7 * HOURLY_DAY_NS)
#define AHEAD_DEFAULT_NS     (600 * CLOCK_NS_PER_SECOND)
#define SERIES_DEFAULT       10000u
/* A request is written in parts of so many rows. */
#define BATCH_MAX            8192u
/* How often a request is begun again because days were opened or dropped meanwhile; its own are opened the first time. */
#define PASSES_MAX           4

static const struct hourly_kind metrics_kind = { .name = "metrics", .close = metricclose_head, .check = metriccheck };

/* --- opening --- */

static struct metricstore_options with_defaults(const struct metricstore_options *options)
{
    struct metricstore_options full = *options;

    full.data_dir = NULL;
    full.memory_bytes = options->memory_bytes ? options->memory_bytes : MEMORY_DEFAULT;
    full.retention_ns = options->retention_ns ? options->retention_ns : RETENTION_DEFAULT_NS;
    full.max_ahead_ns = options->max_ahead_ns ? options->max_ahead_ns : AHEAD_DEFAULT_NS;
    full.max_series = options->max_series ? options->max_series : SERIES_DEFAULT;
    return full;
}

int metricstore_open(const struct metricstore_options *options, struct metricstore **ret_store, struct error *err)
{
    AUTO(metricstore_closep) struct metricstore *store = MEMORY_NEW(struct metricstore, err);
    struct hourly_options hourly;

    if (!store)
        return -1;
    store->options = with_defaults(options);
    lock_mutex_init(&store->lock, LOCK_METRIC_STORE);
    knownseries_init(&store->known);
    hourly = (struct hourly_options){ .kind = &metrics_kind,
                                      .context = store,
                                      .data_dir = options->data_dir,
                                      .is_read_only = options->is_read_only,
                                      .is_synced = options->is_synced,
                                      .memory_bytes = store->options.memory_bytes,
                                      .retention_ns = store->options.retention_ns,
                                      .retention_bytes = options->retention_bytes,
                                      .min_free_bytes = options->min_free_bytes,
                                      .close_delay_ns = options->close_delay_ns };
    if (hourly_open(&hourly, &store->hourly, err) < 0)
        return -1;
    *ret_store = TAKE(store);
    return 0;
}

void metricstore_close(struct metricstore *store)
{
    if (!store)
        return;
    hourly_batch_free(store->batch);
    hourly_close(store->hourly);
    knownseries_done(&store->known);
    lock_mutex_done(&store->lock);
    memory_free(store);
}

void metricstore_closep(struct metricstore **store)
{
    metricstore_close(*store);
}

int metricstore_maintain(struct metricstore *store, int64_t now_ns, struct error *err)
{
    return hourly_maintain(store->hourly, now_ns, err);
}

int metricstore_close_hours(struct metricstore *store, struct error *err)
{
    return hourly_close_heads(store->hourly, err);
}

void metricstore_stop(struct metricstore *store)
{
    hourly_stop(store->hourly);
}

struct hourly *metricstore_hourly(struct metricstore *store)
{
    return store->hourly;
}

int metricstore_stats(struct metricstore *store, struct metricstore_stats *ret_stats, struct error *err)
{
    /* A number to be shown: no order needed. */
    uint64_t n_left_out = atomic_load_explicit(&store->n_left_out, memory_order_relaxed);
    struct hourly_stats stats;

    if (hourly_stats(store->hourly, &stats, err) < 0)
        return -1;
    *ret_stats = (struct metricstore_stats){ .n_days = stats.n_days,
                                             .disk_bytes = stats.disk_bytes,
                                             .head_bytes = stats.head_bytes,
                                             .block_bytes = stats.block_bytes,
                                             .first_ns = stats.first_day_ns,
                                             .last_ns = stats.last_day_ns,
                                             .n_damaged = stats.n_damaged + n_left_out };
    return 0;
}

int metricstore_check_tenant(struct slice tenant, struct error *err)
{
    if (tenant.len == 0 || tenant.len > METRICROW_MAX_TENANT || slice_find_byte(tenant, '\0') >= 0)
        return error_set(err, ERR_INVALID, "a tenant has 1 to %d characters, this one %zu", METRICROW_MAX_TENANT,
                         tenant.len);
    return 0;
}

/* --- which series are known --- */

struct loading {
    struct knownseries_set *set;
    struct slice prefix;
};

static int load_series(void *context, const struct hourly_view *view, struct error *err)
{
    const struct loading *loading = context;
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    uint64_t service, number;
    struct slice before;

    if (kv_iterator_new(view->kv, KV_DEFAULT, view->snapshot, loading->prefix, true, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        if (metricrow_key_parse(kv_iterator_key(iterator), &before, &service, &number) &&
            knownseries_add(loading->set, number, err) < 0)
            return -1;
    return kv_iterator_check(iterator, err);
}

/* The series of a day, from the disk the first time. There may be more than are allowed now. */
static int find_known(struct metricstore *store, struct slice tenant, int64_t day_ns, struct knownseries_set **ret_set,
                      struct error *err)
{
    struct metricrow_key prefix = metricrow_series_of(tenant);
    struct loading loading = { .set = knownseries_find(&store->known, day_ns, tenant),
                               .prefix = metricrow_key_slice(&prefix) };

    if (!loading.set) {
        if (knownseries_make(&store->known, day_ns, tenant, 0, &loading.set, err) < 0)
            return -1;
        if (hourly_each_day(store->hourly, day_ns, day_ns + 1, false, load_series, &loading, err) < 0) {
            knownseries_forget(&store->known, loading.set);
            return error_wrap(err, "which metrics there are");
        }
    }
    *ret_set = loading.set;
    return 0;
}

/* --- writing --- */

struct writing {
    struct metricstore *store;
    struct slice tenant;
    int64_t now_ns;
    struct knownseries_set *set;        /* of the day of the last point */
    const struct metric_series *series; /* of the last point, with its bytes and number */
    struct buffer encoded, row;
    uint64_t number;
    struct metricstore_receipt receipt;
};

static void PRINTF(3, 4) refuse(struct writing *w, enum error_code code, const char *fmt, ...)
{
    va_list args;

    if (w->receipt.n_refused++ > 0)
        return;
    w->receipt.refusal.code = code;
    va_start(args, fmt);
    vsnprintf(w->receipt.refusal.text, sizeof(w->receipt.refusal.text), fmt, args);
    va_end(args);
}

static bool is_of_time(struct writing *w, const struct metric_point *point)
{
    char time[CLOCK_TEXT_BYTES];
    bool is_late = point->time_ns < MAX(w->now_ns - w->store->options.retention_ns, 0);

    if (!is_late && point->time_ns - w->now_ns <= w->store->options.max_ahead_ns)
        return true;
    refuse(w, ERR_INVALID, "a point of '%.*s' is of %s, %s", SLICE_ARG(slice_sub(point->series->name, 0, 64)),
           clock_format(point->time_ns, CLOCK_ZONE_UTC, 3, time),
           is_late ? "which is before all that is kept"
                   : "which is too far in the future (is the clock of its host right?)");
    return false;
}

static int take_series(struct writing *w, const struct metric_series *series, struct error *err)
{
    if (w->series == series)
        return 0;
    buffer_clear(&w->encoded);
    metricseries_encode(series, &w->encoded);
    if (buffer_check(&w->encoded, err) < 0)
        return -1;
    w->series = series;
    w->number = metricseries_number(buffer_slice(&w->encoded));
    return 0;
}

static int take_day(struct writing *w, int64_t time_ns, struct error *err)
{
    int64_t day_ns = hourly_day_start(time_ns);

    if (w->set && w->set->day_ns == day_ns)
        return 0;
    return find_known(w->store, w->tenant, day_ns, &w->set, err);
}

/* Sees to it that the series of a point is in the index of its day; `*ret_is_full` if there is no room for it. */
static int put_series(struct writing *w, const struct metric_point *point, bool *ret_is_full, struct error *err)
{
    struct metricrow_key key;

    *ret_is_full = false;
    if (knownseries_has(w->set, w->number))
        return 0;
    if (w->set->numbers.n >= w->store->options.max_series) {
        refuse(w, ERR_LIMIT, "there are %u series of metrics today, which is all that is allowed; no room for '%.*s'",
               w->set->numbers.n, SLICE_ARG(slice_sub(point->series->name, 0, 64)));
        *ret_is_full = true;
        return 0;
    }
    key = metricrow_series_of(w->tenant);
    metricrow_key_add(&key, metricseries_service_number(metricseries_label(point->series, METRICSERIES_SERVICE)));
    metricrow_key_add(&key, w->number);
    if (hourly_batch_put_index(w->store->batch, point->time_ns, metricrow_key_slice(&key), buffer_slice(&w->encoded),
                               err) < 0)
        return -1;
    return knownseries_add(w->set, w->number, err);
}

static int put_point(struct writing *w, const struct metric_point *point, struct error *err)
{
    struct metricrow_key key = metricrow_rows_of(w->tenant);
    bool is_full;

    if (!is_of_time(w, point))
        return 0;
    if (take_series(w, point->series, err) < 0 || take_day(w, point->time_ns, err) < 0 ||
        put_series(w, point, &is_full, err) < 0)
        return -1;
    if (is_full)
        return 0;
    metricrow_key_add(&key, w->number);
    metricrow_key_add(&key, (uint64_t)(point->time_ns / METRICROW_NS_PER_MS));
    buffer_clear(&w->row);
    metricrow_encode(point, &w->row);
    if (buffer_check(&w->row, err) < 0 ||
        hourly_batch_put_row(w->store->batch, point->time_ns, metricrow_key_slice(&key), buffer_slice(&w->row), err) <
            0)
        return -1;
    w->receipt.n_kept++;
    if (hourly_batch_count(w->store->batch) >= BATCH_MAX)
        return hourly_write(w->store->batch, err);
    return 0;
}

/* Forgets which series are known where it may not hold any more, and says so. */
static bool has_to_look_again(struct metricstore *store)
{
    uint32_t generation = hourly_generation(store->hourly);

    if (store->known_generation == generation)
        return false;
    knownseries_clear(&store->known);
    store->known_generation = generation;
    return true;
}

static int put_all(struct writing *w, const struct metric_list *points, struct error *err)
{
    w->set = NULL;
    w->receipt = (struct metricstore_receipt){ 0 };
    for (size_t i = 0; i < points->n; i++)
        if (put_point(w, &points->items[i], err) < 0)
            return -1;
    return 0;
}

/* The batch holds the days of its points, which stay as they are until they are written: so what is put into it again, after
 * days were opened for it, is put right. */
static int put_points(struct writing *w, const struct metric_list *points, struct error *err)
{
    struct metricstore *store = w->store;

    if (!store->batch && hourly_batch_new(store->hourly, &store->batch, err) < 0)
        return -1;
    has_to_look_again(store);
    for (int i = 0; i < PASSES_MAX; i++) {
        if (put_all(w, points, err) < 0)
            return -1;
        if (!has_to_look_again(store))
            return hourly_write(store->batch, err);
    }
    return error_set(err, ERR_BUSY, "days of metrics come and go: try again");
}

int metricstore_write(struct metricstore *store, struct slice tenant, const struct metric_list *points,
                      struct metricstore_receipt *ret_receipt, struct error *err)
{
    struct writing w = { .store = store, .tenant = tenant, .now_ns = clock_now_ns() };
    int result;

    if (metricstore_check_tenant(tenant, err) < 0)
        return -1;
    buffer_init(&w.encoded, 0);
    buffer_init(&w.row, 0);
    lock_mutex_acquire(&store->lock);
    result = put_points(&w, points, err);
    if (result < 0) {
        /* Records of series may not have been written: what is known comes from the disk again. */
        if (store->batch)
            hourly_batch_clear(store->batch);
        knownseries_clear(&store->known);
    }
    lock_mutex_release(&store->lock);
    buffer_done(&w.encoded);
    buffer_done(&w.row);
    if (result < 0)
        return -1;
    *ret_receipt = w.receipt;
    return 0;
}
