// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/log.h"
#include "store/rocks_internal.h"
#include "store/salvage.h"
#include "store/scan.h"
#include "store/slotcache.h"
#include "store/sumcache.h"
#include "store/sumplan.h"
#include "store/sumscan.h"
#include "store/windowscan.h"

#include <stdio.h>
#include <sys/statvfs.h>

const struct store_tenant_limits *rocks_find_limits(const struct rocks *rocks, struct slice tenant)
{
    for (uint32_t i = 0; i < rocks->options.n_tenants; i++)
        if (slice_is(tenant, rocks->tenants[i].tenant))
            return &rocks->tenants[i];
    return NULL;
}

static uint32_t max_series(void *store, struct slice tenant)
{
    struct rocks *rocks = store;
    const struct store_tenant_limits *limits = rocks_find_limits(rocks, tenant);

    return limits && limits->max_series ? limits->max_series : rocks->options.max_series;
}

int rocks_check_writable(const struct rocks *rocks, struct error *err)
{
    if (rocks->options.is_read_only)
        return error_set(err, ERR_DENIED, "the store is open for reading only");
    return 0;
}

void rocks_note_failure(int *result, const struct error *failure, struct error *err)
{
    if (!*result)
        *err = *failure;
    *result = -1;
}

/* --- reading --- */

struct asking {
    const struct store_query *query;
    const struct store_sink *sink;
    const struct store_sum_sink *sum_sink;
    const struct store_window_sink *window_sink;
    int64_t step_ns;
    struct store_reads *reads;
    const struct store_plan_options *plan_options;
    int (*visit_plan)(void *context, const struct store_plan *plan, struct error *err);
    int (*visit_series)(void *context, const struct seriesinfo *series, struct error *err);
    int (*visit_label)(void *context, struct slice name, struct slice value, struct error *err);
    void *context;
    struct hash_set seen;
    uint64_t seed;
};

static int scan_one(void *context, struct day *day, struct error *err)
{
    struct asking *asking = context;

    return scan_day(day, asking->query->tenant, asking->query, asking->sink, err);
}

static int rocks_scan(struct store *store, const struct store_query *query, const struct store_sink *sink,
                      struct error *err)
{
    struct asking asking = { .query = query, .sink = sink };

    return dayset_each(&rocks_of(store)->days, query->from_ns, query->until_ns, DAYSET_READ, scan_one, &asking, err);
}

static int sum_one(void *context, struct day *day, struct error *err)
{
    struct asking *asking = context;

    return sumscan_day(day, asking->query, asking->step_ns, asking->sum_sink, asking->reads, err);
}

static int rocks_sum(struct store *store, const struct store_query *query, int64_t step_ns,
                     const struct store_sum_sink *sink, struct store_reads *reads, struct error *err)
{
    struct asking asking = { .query = query, .sum_sink = sink, .step_ns = step_ns, .reads = reads };

    return dayset_each(&rocks_of(store)->days, query->from_ns, query->until_ns, DAYSET_READ, sum_one, &asking, err);
}

static int windows_of_one(void *context, struct day *day, struct error *err)
{
    struct asking *asking = context;

    return windowscan_day(day, asking->query, asking->window_sink, asking->reads, err);
}

static int rocks_windows(struct store *store, const struct store_query *query, const struct store_window_sink *sink,
                         struct store_reads *reads, struct error *err)
{
    struct asking asking = { .query = query, .window_sink = sink, .reads = reads };

    return dayset_each(&rocks_of(store)->days, query->from_ns, query->until_ns, DAYSET_READ, windows_of_one, &asking,
                       err);
}

static int plan_one(void *context, struct day *day, struct error *err)
{
    struct asking *asking = context;

    return sumplan_day(day, asking->query, asking->plan_options, asking->visit_plan, asking->context, err);
}

static int rocks_plan(struct store *store, const struct store_query *query, const struct store_plan_options *options,
                      int (*visit)(void *context, const struct store_plan *plan, struct error *err), void *context,
                      struct error *err)
{
    struct asking asking = { .query = query, .plan_options = options, .visit_plan = visit, .context = context };

    return dayset_each(&rocks_of(store)->days, query->from_ns, query->until_ns, DAYSET_READ, plan_one, &asking, err);
}

static int visit_once(void *context, const struct seriesinfo *series, struct error *err)
{
    struct asking *asking = context;
    uint32_t id;
    bool is_new;

    if (hash_set_add(&asking->seen, seriesinfo_hash(series, asking->seed), &id, &is_new, err) < 0)
        return -1;
    return is_new ? asking->visit_series(asking->context, series, err) : 0;
}

static int series_of_one(void *context, struct day *day, struct error *err)
{
    struct asking *asking = context;

    return scan_series(day, asking->query->tenant, asking->query, visit_once, asking, err);
}

static int rocks_each_series(struct store *store, const struct store_query *query,
                             int (*visit)(void *context, const struct seriesinfo *series, struct error *err),
                             void *context, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct asking asking = { .query = query, .visit_series = visit, .context = context, .seed = rocks->datadir.seed };
    int result;

    hash_set_init(&asking.seen, 0);
    result = dayset_each(&rocks->days, query->from_ns, query->until_ns, DAYSET_READ, series_of_one, &asking, err);
    hash_set_done(&asking.seen);
    return result;
}

static int labels_of_one(void *context, struct day *day, struct error *err)
{
    struct asking *asking = context;

    return scan_labels(day, asking->query->tenant, asking->query, asking->visit_label, asking->context, err);
}

static int rocks_each_column_label(struct store *store, const struct store_query *query,
                                   int (*visit)(void *context, struct slice name, struct slice value,
                                                struct error *err),
                                   void *context, struct error *err)
{
    struct asking asking = { .query = query, .visit_label = visit, .context = context };

    return dayset_each(&rocks_of(store)->days, query->from_ns, query->until_ns, DAYSET_READ, labels_of_one, &asking,
                       err);
}

/* --- opening and closing --- */

static uint64_t disk_total_bytes(const char *path)
{
    struct statvfs info;

    return statvfs(path, &info) < 0 ? 0 : (uint64_t)info.f_blocks * info.f_frsize;
}

static void rocks_close(struct store *store)
{
    struct rocks *rocks = rocks_of(store);
    struct error err;

    if (!rocks)
        return;
    /* Relaxed: long work looks now and then. */
    atomic_store_explicit(&rocks->context.is_stopping, true, memory_order_relaxed);
    thread_stop(&rocks->work_thread);
    thread_stop(&rocks->sync_thread);
    if (!rocks->options.is_read_only && rocks->days.directory && rocks_sync_days(rocks, &err) < 0)
        log_error("store", "closing: syncing the write-ahead log: %s", err.text);
    dayset_done(&rocks->days);
    slotcache_free(rocks->context.slots);
    sumcache_free(rocks->context.sums);
    retention_memory_done(&rocks->retention);
    kv_close(rocks->meta);
    kv_shared_free(rocks->context.kv);
    storemetrics_done(&rocks->context.metrics);
    rocks_free_scratches(rocks);
    datadir_close(&rocks->datadir);
    lock_condition_done(&rocks->context.readers_left);
    lock_mutex_done(&rocks->context.readers_lock);
    lock_mutex_done(&rocks->keeping);
    lock_mutex_done(&rocks->maintaining);
    lock_mutex_done(&rocks->lock);
    memory_free(rocks->tenants);
    memory_free(rocks);
}

static int64_t or_default(int64_t value, int64_t usual)
{
    return value ? value : usual;
}

uint64_t store_min_free_bytes(const struct store_options *options)
{
    return options->min_free_bytes ? options->min_free_bytes
                                   : MIN(disk_total_bytes(options->data_dir) / 100, (uint64_t)1 << 30);
}

/* Puts the defaults in place of zeros. */
static void complete_options(struct rocks *rocks)
{
    struct store_options *options = &rocks->options;
    const struct label_limits *usual = &label_default_limits;
    uint64_t disk = disk_total_bytes(rocks->datadir.path);

    options->retention_ns = or_default(options->retention_ns, STORE_RETENTION_NS);
    options->max_age_ns = or_default(options->max_age_ns, options->retention_ns);
    options->max_ahead_ns = or_default(options->max_ahead_ns, 600 * CLOCK_NS_PER_SECOND);
    options->close_delay_ns = or_default(options->close_delay_ns, 300 * CLOCK_NS_PER_SECOND);
    rocks->gives_way = !options->retention_bytes;
    if (!options->retention_bytes)
        options->retention_bytes = disk ? disk / 5 * 4 : UINT64_MAX;
    options->min_free_bytes = store_min_free_bytes(options);
    if (options->close_cpu_share <= 0)
        options->close_cpu_share = 0.25;
    if (!options->max_series)
        options->max_series = 20000;
    options->labels.max_labels = options->labels.max_labels ? options->labels.max_labels : usual->max_labels;
    options->labels.max_name_bytes =
        options->labels.max_name_bytes ? options->labels.max_name_bytes : usual->max_name_bytes;
    options->labels.max_value_bytes =
        options->labels.max_value_bytes ? options->labels.max_value_bytes : usual->max_value_bytes;
    options->labels.max_splits = options->labels.max_splits ? options->labels.max_splits : usual->max_splits;
}

static int check_options(const struct store_options *options, struct error *err)
{
    if (options->max_age_ns > options->retention_ns)
        return error_set(
            err, ERR_INVALID,
            "profiles of an age of %llu s are to be accepted, but forgotten after %llu s: they would be taken "
            "and lost at once",
            (unsigned long long)(options->max_age_ns / CLOCK_NS_PER_SECOND),
            (unsigned long long)(options->retention_ns / CLOCK_NS_PER_SECOND));
    return 0;
}

static void fill_context(struct rocks *rocks)
{
    struct day_context *context = &rocks->context;
    const struct budget *budget = &rocks->budget;

    context->seed = rocks->datadir.seed;
    context->hashes.max_bytes = budget->hash_bytes;
    context->idcache_bytes = budget->idcache_bytes;
    context->memtable_bytes = budget->memtable_bytes;
    context->close_bytes = budget->close_bytes;
    /* Rows of unusual size need more than the share, for a moment. */
    context->read_bytes = budget->read_bytes * 4;
    /* Of the share of open hours a quarter is for recent rows. */
    context->recent_bytes = budget->slot_bytes / 4 / BUDGET_WRITABLE_DAYS;
    context->wal_sync = rocks->options.wal_sync;
    context->close_cpu_share = rocks->options.has_background ? rocks->options.close_cpu_share : 0;
    context->labels = rocks->options.labels;
    context->scratch_dir = rocks->datadir.scratch;
    context->max_series = max_series;
    context->store = rocks;
}

static int open_meta(struct rocks *rocks, struct error *err)
{
    struct kv_options options = { .mode = rocks->options.is_read_only ? KV_SECONDARY : KV_WRITE,
                                  .memtable_bytes = 1 << 20 };
    char secondary[ROCKS_PATH_BYTES];

    snprintf(secondary, sizeof(secondary), "%s/secondary-meta", rocks->datadir.scratch);
    if (rocks->options.is_read_only) {
        if (fs_make_directories(secondary, 0700, err) < 0)
            return -1;
        options.secondary_dir = secondary;
    }
    if (kv_open(rocks->context.kv, rocks->datadir.meta, &options, &rocks->meta, err) == 0)
        return 0;
    if (rocks->options.is_read_only) {
        if (err->code != ERR_NOT_FOUND)
            log_warn("store", "kept ranges cannot be read: %s", err->text);
        return 0;
    }
    if (err->code != ERR_CORRUPT)
        return -1;
    /* Kept ranges are few and known to people; the profiles are worth more than stopping here. */
    log_error("store", "the list of kept ranges is damaged and set aside; name them again with `hearth keep`: %s",
              err->text);
    snprintf(secondary, sizeof(secondary), "%s/meta-%llx", rocks->datadir.quarantine,
             (unsigned long long)clock_now_ns());
    if (fs_make_directories(rocks->datadir.quarantine, 0700, err) < 0)
        return -1;
    if (rename(rocks->datadir.meta, secondary) < 0)
        return error_set(err, ERR_IO, "setting '%s' aside failed", rocks->datadir.meta);
    if (kv_open(rocks->context.kv, rocks->datadir.meta, &options, &rocks->meta, err) < 0)
        return -1;
    return keeps_note_lost(rocks->meta, err);
}

int rocks_use_meta(struct rocks *rocks, struct error *err)
{
    if (rocks->meta && kv_check_writable(rocks->meta, err) == 0)
        return 0;
    kv_close(TAKE(rocks->meta));
    return open_meta(rocks, err);
}

static int copy_tenants(struct rocks *rocks, struct error *err)
{
    size_t size = rocks->options.n_tenants * sizeof(*rocks->tenants);

    rocks->tenants = memory_alloc(size, err);
    if (!rocks->tenants)
        return -1;
    if (size)
        memcpy(rocks->tenants, rocks->options.tenants, size);
    return 0;
}

static int start_threads(struct rocks *rocks, struct error *err)
{
    if (!rocks->options.has_background || rocks->options.is_read_only)
        return 0;
    if (rocks->options.wal_sync == STORE_SYNC_EACH_SECOND &&
        thread_start(&rocks->sync_thread, "store-sync", rocks_run_sync, rocks, err) < 0)
        return -1;
    return thread_start(&rocks->work_thread, "store-work", rocks_run_work, rocks, err);
}

static int rocks_ready(struct store *store, struct error *err)
{
    return rocks_check_disk(rocks_of(store), false, err);
}

static const struct store_ops rocks_ops = {
    .name = "rocks",
    .close = rocks_close,
    .write = rocks_write,
    .sum = rocks_sum,
    .windows = rocks_windows,
    .plan = rocks_plan,
    .scan = rocks_scan,
    .each_series = rocks_each_series,
    .each_column_label = rocks_each_column_label,
    .ready = rocks_ready,
    .maintain = rocks_maintain,
    .delete = rocks_delete,
    .keep = rocks_keep,
    .unkeep = rocks_unkeep,
    .each_keep = rocks_each_keep,
    .compact = rocks_compact,
    .backup = rocks_backup,
    .verify = rocks_verify,
    .stats = rocks_stats,
};

int rocks_open(const struct store_options *options, struct store **ret_store, struct error *err)
{
    struct rocks *rocks = MEMORY_NEW(struct rocks, err);

    if (!rocks)
        return -1;
    rocks->store.ops = &rocks_ops;
    rocks->options = *options;
    rocks->datadir.lock_fd = -1;
    lock_mutex_init(&rocks->lock, LOCK_STORE_ROCKS);
    lock_mutex_init(&rocks->maintaining, LOCK_STORE_MAINTAIN);
    lock_mutex_init(&rocks->keeping, LOCK_STORE_KEEPS);
    lock_mutex_init(&rocks->context.readers_lock, LOCK_STORE_READERS);
    lock_condition_init(&rocks->context.readers_left);
    dayset_init(&rocks->days, &rocks->context, NULL, NULL, NULL, options->is_read_only);
    if (copy_tenants(rocks, err) < 0 ||
        datadir_open(&rocks->datadir, options->data_dir, options->is_read_only, err) < 0)
        goto fail;
    if (!options->is_read_only)
        storemetrics_init(&rocks->context.metrics);
    complete_options(rocks);
    if (!options->is_read_only && check_options(&rocks->options, err) < 0)
        goto fail;
    rocks->budget = budget_divide(options->memory_limit_bytes);
    fill_context(rocks);
    rocks->days.directory = rocks->datadir.profiles;
    rocks->days.quarantine_dir = rocks->datadir.quarantine;
    rocks->days.trash_dir = rocks->datadir.scratch;
    if ((!options->is_read_only && salvage_finish(rocks->datadir.profiles, err) < 0) ||
        (!options->is_read_only && slotcache_new(rocks->budget.slot_bytes / 4 * 3, &rocks->context.slots, err) < 0) ||
        (!options->is_read_only && sumcache_new(rocks->budget.sum_bytes, &rocks->context.sums, err) < 0) ||
        kv_shared_new(rocks->budget.cache_bytes, &rocks->context.kv, err) < 0 || open_meta(rocks, err) < 0 ||
        start_threads(rocks, err) < 0) {
        error_wrap(err, "data directory '%s'", options->data_dir);
        goto fail;
    }
    *ret_store = &rocks->store;
    return 0;
fail:
    rocks_close(&rocks->store);
    return -1;
}
