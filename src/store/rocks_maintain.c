// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "block/storekey.h"
#include "store/hour.h"
#include "store/rocks_internal.h"
#include "store/slotcache.h"
#include "store/slotfill.h"

static const int64_t idle_day_ns = 120 * CLOCK_NS_PER_SECOND;
static const int64_t idle_tenant_ns = 600 * CLOCK_NS_PER_SECOND;
static const int64_t tight_tenant_ns = 10 * CLOCK_NS_PER_SECOND;
static const int64_t retention_period_ns = 60 * CLOCK_NS_PER_SECOND;
static const uint64_t quiet_free_bytes = 8 << 20;

/* Whether there are heads to close, or to drop once nobody reads them. */
static bool has_heads(struct day *day)
{
    bool has = false;

    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->heads.n; i++)
        has |= day->heads.items[i].family != KV_NO_FAMILY && !day->heads.items[i].is_damaged;
    return has;
}

/* The same for a day that need not be open: heads may have been left by a process that died. */
static int find_heads(struct rocks *rocks, int64_t start_ns, bool *ret_has, struct error *err)
{
    struct day *day = dayset_borrow_open(&rocks->days, start_ns);
    char path[ROCKS_PATH_BYTES];

    if (day) {
        *ret_has = has_heads(day);
        dayset_give_back(&rocks->days, day);
        return 0;
    }
    dayset_path(&rocks->days, start_ns, path, sizeof(path));
    if (kv_has_family(path, STOREKEY_HEAD_BEGINNING, ret_has, err) == 0)
        return 0;
    /* Opening a damaged day is what salvages it. */
    *ret_has = err->code == ERR_CORRUPT;
    return *ret_has || err->code == ERR_NOT_FOUND ? 0 : -1;
}

/* Starts of the days that are open for writing. */
static size_t list_writable(struct rocks *rocks, int64_t *starts_ns, size_t max)
{
    size_t n = 0;

    LOCK_SCOPE(&rocks->days.lock);
    for (size_t i = 0; i < rocks->days.slots.n && n < max; i++)
        if (!rocks->days.slots.items[i].is_busy && rocks->days.slots.items[i].day->mode == KV_WRITE)
            starts_ns[n++] = rocks->days.slots.items[i].start_ns;
    return n;
}

static bool is_open(struct rocks *rocks, int64_t start_ns)
{
    LOCK_SCOPE(&rocks->days.lock);
    for (size_t i = 0; i < rocks->days.slots.n; i++)
        if (rocks->days.slots.items[i].start_ns == start_ns)
            return true;
    return false;
}

static int close_hours_of(struct rocks *rocks, int64_t start_ns, int64_t due_ns, struct error *err)
{
    struct day *day;
    int result;

    if (dayset_borrow(&rocks->days, start_ns, DAYSET_WRITE, &day, err) < 0)
        return -1;
    if (!day)
        return 0;
    result = rocks->is_patient ? hour_close_settled(day, due_ns, err) : hour_close_due(day, due_ns, err);
    /* What is not settled yet is looked at again. */
    if (has_heads(day))
        rocks_note_late(rocks, start_ns);
    /* After a failure it stays open for a while: what is damaged in it is known as long. */
    if (result < 0)
        dayset_release(&rocks->days, day);
    else
        dayset_give_back(&rocks->days, day);
    return result;
}

static struct late_days take_late(struct rocks *rocks)
{
    LOCK_SCOPE(&rocks->lock);
    return TAKE(rocks->late);
}

/* For the next time, when closing failed. */
static void give_late_back(struct rocks *rocks, const struct late_days *late)
{
    for (uint32_t i = 0; i < late->n; i++)
        rocks_note_late(rocks, late->starts_ns[i]);
    LOCK_SCOPE(&rocks->lock);
    rocks->late.has_more |= late->has_more;
}

/* Closes hours that are due, in the days that are open or were written to late and, once, in each of the others. */
static int close_hours(struct rocks *rocks, int64_t now_ns, struct error *err)
{
    int64_t due_ns = now_ns - rocks->options.close_delay_ns;
    struct late_days late = take_late(rocks);
    struct dayset_list list = { 0 };
    struct arena arena;
    struct error failure;
    int result;

    arena_init(&arena, 0);
    result = dayset_list(&rocks->days, &arena, &list, err);
    for (size_t i = 0; i < list.n; i++) {
        int64_t start_ns = list.starts_ns[i];
        bool has;

        if (start_ns >= due_ns ||
            (start_ns < rocks->checked_until_ns && !is_open(rocks, start_ns) && !rocks_late_days_have(&late, start_ns)))
            continue;
        if (find_heads(rocks, start_ns, &has, &failure) < 0) {
            LOG_EVERY(60, LOG_WARN, "store", "a day cannot be looked at to close its hours: %s", failure.text);
            continue;
        }
        if (has && close_hours_of(rocks, start_ns, due_ns, &failure) < 0) {
            rocks_note_failure(&result, &failure, err);
            if (failure.code == ERR_CLOSED)
                break;
        }
    }
    if (result < 0)
        give_late_back(rocks, &late);
    else if (list.n)
        rocks->checked_until_ns = MAX(rocks->checked_until_ns, day_start(due_ns));
    arena_done(&arena);
    return result;
}

/* In the days that are open for writing, writes hours anew that have many closings or deletions, and adds up those that go
 * on. */
static int care_for_open_days(struct rocks *rocks, int64_t now_ns, struct error *err)
{
    int64_t due_ns = now_ns - rocks->options.close_delay_ns;
    int64_t starts_ns[64];
    size_t n = list_writable(rocks, starts_ns, ARRAY_LEN(starts_ns));
    int result = 0;

    for (size_t i = 0; i < n && !result; i++) {
        struct day *day;

        if (!is_open(rocks, starts_ns[i]))
            continue;
        /* For writing: so a day that had to stop is opened again, also if nobody writes to it. */
        if (dayset_borrow(&rocks->days, starts_ns[i], DAYSET_WRITE, &day, err) < 0)
            return -1;
        if (day)
            result = hour_rewrite_due(day, now_ns, due_ns, err) < 0 ? -1 : slotfill_day(day, now_ns, due_ns, err);
        dayset_give_back(&rocks->days, day);
    }
    storemetrics_set(&rocks->context.metrics, STOREMETRIC_OPEN_BYTES, (double)slotcache_bytes(rocks->context.slots));
    return result;
}

/* Under `keeping`. */
int rocks_load_keeps(struct rocks *rocks, struct keeps *ret_keeps, struct error *err)
{
    *ret_keeps = (struct keeps){ 0 };
    if (!rocks->options.is_read_only && rocks_use_meta(rocks, err) < 0)
        return -1;
    return rocks->meta ? keeps_load(rocks->meta, ret_keeps, err) : 0;
}

/* What is missing on the disk to a little more than must be free: so that writing goes on, and does not begin and stop. */
static uint64_t find_missing_bytes(struct rocks *rocks)
{
    uint64_t min_free_bytes = rocks->options.min_free_bytes, wanted_bytes;

    if (!rocks->gives_way || __builtin_add_overflow(min_free_bytes, min_free_bytes / 4, &wanted_bytes))
        return 0;
    LOCK_SCOPE(&rocks->lock);
    return wanted_bytes - MIN(wanted_bytes, rocks->free_bytes);
}

static int apply_retention(struct rocks *rocks, int64_t now_ns, struct error *err)
{
    struct keeps keeps;
    struct retention retention = { .max_age_ns = rocks->options.retention_ns,
                                   .max_bytes = rocks->options.retention_bytes,
                                   .missing_bytes = find_missing_bytes(rocks),
                                   .tenants = rocks->tenants,
                                   .n_tenants = rocks->options.n_tenants,
                                   .keeps = &keeps };
    uint32_t n_dropped = 0;
    int result;

    LOCK_SCOPE(&rocks->keeping);
    if (rocks_load_keeps(rocks, &keeps, err) < 0)
        return -1;
    if (keeps.is_unsure) {
        keeps_done(&keeps);
        return error_set(err, ERR_CORRUPT,
                         "nothing is forgotten, because kept ranges were lost or cannot be read; name them again with "
                         "`hearth keep`, or say that there are none with `hearth keep --remove NAME`");
    }
    result = retention_apply(&rocks->days, &retention, &rocks->retention, now_ns, &n_dropped, err);
    storemetrics_add(&rocks->context.metrics, STOREMETRIC_DAYS_DROPPED, n_dropped);
    keeps_done(&keeps);
    return result;
}

/* Forgets tenants that nobody writes for. Of yesterday they go soon when today needs the room, since it cannot make those
 * of another day go. */
static void unload_idle(struct rocks *rocks, int64_t mono_ns)
{
    const struct dictionary_share *share = &rocks->context.hashes;
    bool is_tight = atomic_load_explicit(&share->used_bytes, memory_order_relaxed) > share->max_bytes / 4 * 3;

    for (int64_t back = 0; back <= 1; back++) {
        struct day *day = dayset_borrow_open(&rocks->days, day_start(clock_now_ns()) - back * DAY_NS);

        if (day && day->mode == KV_WRITE)
            day_unload_idle(day, mono_ns - (back && is_tight ? tight_tenant_ns : idle_tenant_ns));
        dayset_give_back(&rocks->days, day);
    }
}

/* The WAL of every open day to the disk. */
int rocks_sync_days(struct rocks *rocks, struct error *err)
{
    int64_t starts_ns[64];
    size_t n = list_writable(rocks, starts_ns, ARRAY_LEN(starts_ns));
    int result = 0;

    for (size_t i = 0; i < n; i++) {
        struct day *day = dayset_borrow_open(&rocks->days, starts_ns[i]);
        struct error failure;

        if (day && day->mode == KV_WRITE && day_sync(day, &failure) < 0) {
            rocks_note_failure(&result, &failure, err);
            lock_mutex_acquire(&day->lock);
            day_stop(day, &failure);
            lock_mutex_release(&day->lock);
        }
        dayset_give_back(&rocks->days, day);
    }
    return result;
}

/* Gives free memory back: of that which malloc keeps for the next who need it, less stays when nobody writes. Under load it
 * would only be asked for again, page by page. What RocksDB freed counts as well: it is held by the same malloc. */
static void trim_memory(struct rocks *rocks)
{
    uint64_t n_writes = atomic_load_explicit(&rocks->n_writes, memory_order_relaxed),
             kept = rocks->budget.total_bytes / 16;

    if (n_writes == rocks->n_writes_seen)
        kept = MIN(kept, quiet_free_bytes);
    rocks->n_writes_seen = n_writes;
    memory_trim_above(kept);
}

/* Under `maintaining`. The background is patient with late data and looks at retention now and then; who asks wants all
 * of it now. */
static int maintain(struct rocks *rocks, bool is_background, struct error *err)
{
    int64_t now_ns = clock_now_ns(), mono_ns = clock_mono_ns();
    struct error failure;
    int result = 0;

    rocks->is_patient = is_background;
    IGNORE(rocks_check_disk(rocks, true, &failure), "writers are told; the log has it");
    if (!rocks->options.has_background && rocks->options.wal_sync == STORE_SYNC_EACH_SECOND &&
        rocks_sync_days(rocks, &failure) < 0)
        rocks_note_failure(&result, &failure, err);
    if (close_hours(rocks, now_ns, &failure) < 0)
        rocks_note_failure(&result, &failure, err);
    if (!is_background || !rocks->retention_mono_ns || mono_ns - rocks->retention_mono_ns >= retention_period_ns) {
        rocks->retention_mono_ns = mono_ns;
        if (apply_retention(rocks, now_ns, &failure) < 0)
            rocks_note_failure(&result, &failure, err);
    }
    if (care_for_open_days(rocks, now_ns, &failure) < 0)
        rocks_note_failure(&result, &failure, err);
    unload_idle(rocks, mono_ns);
    dayset_close_idle(&rocks->days, mono_ns - idle_day_ns, day_start(now_ns) - DAY_NS);
    trim_memory(rocks);
    return result;
}

int rocks_maintain(struct store *store, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    double share;
    int result;

    if (rocks_check_writable(rocks, err) < 0)
        return -1;
    LOCK_SCOPE(&rocks->maintaining);
    share = rocks->context.close_cpu_share;
    rocks->context.close_cpu_share = 0;
    result = maintain(rocks, false, err);
    rocks->context.close_cpu_share = share;
    return result;
}

static void maintain_in_background(struct rocks *rocks)
{
    struct error err;

    LOCK_SCOPE(&rocks->maintaining);
    if (maintain(rocks, true, &err) < 0 && err.code != ERR_CLOSED)
        LOG_EVERY(60, LOG_ERROR, "store", "maintenance: %s", err.text);
}

void rocks_run_sync(struct thread *thread, void *context)
{
    struct rocks *rocks = context;
    struct error err;

    while (thread_sleep(thread, CLOCK_NS_PER_SECOND))
        if (rocks_sync_days(rocks, &err) < 0)
            LOG_EVERY(60, LOG_ERROR, "store", "syncing the write-ahead log: %s", err.text);
}

void rocks_run_work(struct thread *thread, void *context)
{
    while (thread_sleep(thread, CLOCK_NS_PER_SECOND))
        maintain_in_background(context);
}
