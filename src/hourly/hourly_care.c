// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "hourly/hourly_internal.h"

#include <stdio.h>

static const int64_t idle_day_ns = 120 * CLOCK_NS_PER_SECOND;
static const int64_t retry_ns = 60 * CLOCK_NS_PER_SECOND;
static const int64_t measure_period_ns = 60 * CLOCK_NS_PER_SECOND;
static const int64_t writers_wait_ns = 10 * CLOCK_NS_PER_SECOND;

/* Remembers the first failure; work goes on. */
static void note_failure(int *result, const struct error *failure, struct error *err)
{
    if (!*result)
        *err = *failure;
    *result = -1;
}

/* --- syncing --- */

static int sync_day(struct hourly_day *day, struct error *err)
{
    bool has_unsynced;

    lock_mutex_acquire(&day->lock);
    has_unsynced = TAKE(day->has_unsynced);
    lock_mutex_release(&day->lock);
    if (!has_unsynced || kv_sync(day->kv, err) == 0)
        return 0;
    hourly_day_fail(day, err);
    return -1;
}

int hourly_care_sync(struct hourly *hourly, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct hourly_list list;
    struct error failure;
    int result = 0;

    hourly->synced_mono_ns = clock_mono_ns();
    arena_init(&arena, 0);
    if (hourly_days_list_writable(hourly, &arena, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++) {
        struct hourly_day *day;

        if (hourly_days_acquire(hourly, list.starts_ns[i], HOURLY_UPKEEP, &day, &failure) < 0) {
            note_failure(&result, &failure, err);
            continue;
        }
        if (day && sync_day(day, &failure) < 0)
            note_failure(&result, &failure, err);
        hourly_days_release(hourly, day);
    }
    return result;
}

/* --- closing heads --- */

/* A head for late rows stays open for a while, so that a trickle of them does not become a block each. */
static bool is_due(const struct hourly_day *day, const struct hourly_place *place, int64_t now_ns)
{
    int64_t over_ns = day->start_ns + (place->head.hour + 1) * HOURLY_HOUR_NS;
    int64_t made_ns = place->made_ns <= now_ns ? place->made_ns : 0; /* clocks may be set back */

    return place->is_full || place->head.bytes >= day->hourly->options.max_head_bytes ||
           MAX(over_ns, made_ns) <= now_ns - day->hourly->options.close_delay_ns;
}

/* A head that is to be closed now, which nobody else does: false if there is none. */
static bool take_due(struct hourly_day *day, int64_t now_ns, struct hourly_head *ret_head)
{
    LOCK_SCOPE(&day->lock);
    VEC_EACH (&day->places, place) {
        if (place->is_closing || place->is_covered || place->is_damaged || !is_due(day, place, now_ns) ||
            place->retry_mono_ns > clock_mono_ns())
            continue;
        place->is_full = true;
        /* Whoever holds it writes soon, and is the last to do so. */
        if (place->n_writers)
            continue;
        place->is_closing = true;
        *ret_head = place->head;
        return true;
    }
    return false;
}

/* After a failure: when to try again, or not at all. */
static void give_up(struct hourly_day *day, uint32_t number, const struct error *failure)
{
    struct hourly_place *place;

    LOCK_SCOPE(&day->lock);
    place = hourly_day_find_place(day, number);
    if (!place || place->is_covered)
        return;
    place->is_closing = false;
    place->retry_mono_ns = clock_mono_ns() + retry_ns;
    place->is_damaged = failure->code == ERR_CORRUPT;
    /* Relaxed: a count. */
    atomic_fetch_add_explicit(&day->hourly->n_damaged, place->is_damaged, memory_order_relaxed);
}

static int close_due_heads(struct hourly_day *day, int64_t now_ns, uint32_t *n_closed, struct error *err)
{
    struct hourly_head head;
    struct error failure;
    int result = 0;

    while (take_due(day, now_ns, &head)) {
        if (hourly_closing_run(day, &head, &failure) == 0) {
            ++*n_closed;
            continue;
        }
        give_up(day, head.number, &failure);
        note_failure(&result, &failure, err);
        if (hourly_day_check(day, &failure) < 0)
            return result;
    }
    /* What views held when it was covered. */
    if (hourly_day_drop_covered(day, &failure) < 0)
        note_failure(&result, &failure, err);
    return result;
}

/* Whether a day may have heads: of one that is not open for writing its list of files tells. */
static int find_heads(struct hourly *hourly, int64_t start_ns, bool *ret_has, struct error *err)
{
    char path[HOURLY_PATH_BYTES];

    *ret_has = true;
    if (hourly_days_is_writable(hourly, start_ns))
        return 0;
    hourly_days_path(hourly, start_ns, path);
    if (kv_has_family(path, HOURLY_HEAD_BEGINNING, ret_has, err) == 0)
        return 0;
    /* Opening a damaged day is what mends it. */
    *ret_has = err->code == ERR_CORRUPT;
    return *ret_has || err->code == ERR_NOT_FOUND ? 0 : -1;
}

/* The day until hourly_days_release; NULL if there is none, or none that has heads. */
static int acquire_with_heads(struct hourly *hourly, int64_t start_ns, struct hourly_day **ret_day, struct error *err)
{
    bool has;

    *ret_day = NULL;
    if (find_heads(hourly, start_ns, &has, err) < 0)
        return -1;
    return has ? hourly_days_acquire(hourly, start_ns, HOURLY_UPKEEP, ret_day, err) : 0;
}

static int close_heads_of(struct hourly *hourly, int64_t start_ns, int64_t now_ns, uint32_t *n_closed,
                          struct error *err)
{
    struct hourly_day *day;
    int result = 0;

    if (acquire_with_heads(hourly, start_ns, &day, err) < 0)
        return -1;
    if (day)
        result = close_due_heads(day, now_ns, n_closed, err);
    hourly_days_release(hourly, day);
    return result;
}

/* In the days that are open for writing and, the first time, in all: a process that died may have left heads. */
static int close_heads(struct hourly *hourly, int64_t now_ns, uint32_t *n_closed, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct hourly_list list;
    struct error failure;
    int result = 0;

    arena_init(&arena, 0);
    if ((hourly->has_looked ? hourly_days_list_writable(hourly, &arena, &list, err)
                            : hourly_days_list(hourly, &arena, &list, err)) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++)
        if (close_heads_of(hourly, list.starts_ns[i], now_ns, n_closed, &failure) < 0)
            note_failure(&result, &failure, err);
    hourly->has_looked = !result || hourly->has_looked;
    return result;
}

/* Lets no new rows into the heads that are there, and waits for those who are about to write. */
static int fill_heads(struct hourly_day *day, struct error *err)
{
    int64_t deadline_ns = lock_deadline_ns(writers_wait_ns);
    bool is_held = true;

    LOCK_SCOPE(&day->lock);
    VEC_EACH (&day->places, place) {
        place->is_full = true;
        place->retry_mono_ns = 0;
    }
    while (is_held) {
        is_held = false;
        VEC_EACH (&day->places, place)
            is_held |= place->is_full && place->n_writers > 0;
        if (is_held && !lock_condition_wait_until(&day->released, &day->lock, deadline_ns))
            return error_set(err, ERR_BUSY, "day %s of %s is still being written to after %d seconds: try again",
                             day->name, day->hourly->options.kind->name, (int)(writers_wait_ns / CLOCK_NS_PER_SECOND));
    }
    return 0;
}

static int close_all_of(struct hourly *hourly, int64_t start_ns, struct error *err)
{
    uint32_t n_closed = 0;
    struct hourly_day *day;
    int result = 0;

    if (acquire_with_heads(hourly, start_ns, &day, err) < 0)
        return -1;
    if (day)
        result = fill_heads(day, err) < 0 ? -1 : close_due_heads(day, 0, &n_closed, err);
    hourly_days_release(hourly, day);
    return result;
}

static int check_is_writer(const struct hourly *hourly, struct error *err)
{
    if (hourly->options.is_read_only)
        return error_set(err, ERR_DENIED, "%s were opened for reading only", hourly->options.kind->name);
    return 0;
}

int hourly_close_heads(struct hourly *hourly, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct hourly_list list;
    struct error failure;
    int result = 0;

    arena_init(&arena, 0);
    if (check_is_writer(hourly, err) < 0)
        return -1;
    LOCK_SCOPE(&hourly->maintaining);
    if (hourly_days_list(hourly, &arena, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++)
        if (close_all_of(hourly, list.starts_ns[i], &failure) < 0)
            note_failure(&result, &failure, err);
    return result;
}

/* --- forgetting --- */

uint64_t hourly_care_day_bytes(struct hourly *hourly, int64_t start_ns, bool with_logs)
{
    AUTO(arena_done) struct arena arena;
    char path[HOURLY_PATH_BYTES];
    struct fs_listing listing = { 0 };
    struct error err;
    uint64_t total = 0;

    arena_init(&arena, 0);
    hourly_days_path(hourly, start_ns, path);
    if (fs_list(path, &arena, &listing, &err) < 0)
        return 0;
    for (size_t i = 0; i < listing.n; i++) {
        const char *file = arena_printf(&arena, &err, "%s/%s", path, listing.names[i]);
        uint64_t bytes;

        if (file && (with_logs || !slice_ends_with(slice_from(file), SLICE(".log"))) &&
            fs_size(file, &bytes, &err) == 0)
            total += bytes;
    }
    return total;
}

static int drop_day(struct hourly *hourly, int64_t start_ns, const char *why, bool *ret_is_dropped, struct error *err)
{
    char name[HOURLY_DAY_BYTES];

    hourly_day_name(start_ns, name);
    if (hourly_days_drop(hourly, start_ns, ret_is_dropped, err) < 0)
        return error_wrap(err, "dropping day %s of %s", name, hourly->options.kind->name);
    if (!*ret_is_dropped)
        return 0;
    /* Relaxed: a count. */
    atomic_fetch_add_explicit(&hourly->n_dropped, 1, memory_order_relaxed);
    log_info(hourly->options.kind->name, "day %s dropped: %s", name, why);
    return 0;
}

static int apply_age(struct hourly *hourly, const struct hourly_list *list, int64_t now_ns, struct error *err)
{
    int64_t retention_ns = hourly->options.retention_ns;
    struct error failure;
    bool is_dropped;
    int result = 0;

    for (size_t i = 0; i < list->n && retention_ns && list->starts_ns[i] + HOURLY_DAY_NS <= now_ns - retention_ns; i++)
        if (drop_day(hourly, list->starts_ns[i], "its retention is over", &is_dropped, &failure) < 0)
            note_failure(&result, &failure, err);
    return result;
}

static int apply_bytes(struct hourly *hourly, const struct hourly_list *list, int64_t now_ns, struct error *err)
{
    uint64_t total = 0;
    struct error failure;
    int result = 0;

    for (size_t i = 0; i < list->n; i++)
        total += hourly_care_day_bytes(hourly, list->starts_ns[i], false);
    for (size_t i = 0;
         i + 1 < list->n && total > hourly->options.retention_bytes && list->starts_ns[i] + HOURLY_DAY_NS <= now_ns;
         i++) {
        uint64_t bytes = hourly_care_day_bytes(hourly, list->starts_ns[i], false);
        bool is_dropped = false;

        if (bytes && drop_day(hourly, list->starts_ns[i], "the limit on bytes is reached", &is_dropped, &failure) < 0)
            note_failure(&result, &failure, err);
        if (is_dropped)
            total -= MIN(total, bytes);
    }
    return result;
}

/* `has_grown` says that much was added since the last time: bytes are counted now, else once a minute. */
static int apply_retention(struct hourly *hourly, int64_t now_ns, bool has_grown, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    int64_t mono_ns = clock_mono_ns();
    struct hourly_list list;
    struct error failure;
    int result = 0;

    arena_init(&arena, 0);
    if (hourly_days_list(hourly, &arena, &list, err) < 0)
        return -1;
    if (apply_age(hourly, &list, now_ns, &failure) < 0)
        note_failure(&result, &failure, err);
    if (!hourly->options.retention_bytes ||
        (!has_grown && hourly->measured_mono_ns && mono_ns - hourly->measured_mono_ns < measure_period_ns))
        return result;
    hourly->measured_mono_ns = mono_ns;
    if (apply_bytes(hourly, &list, now_ns, &failure) < 0)
        note_failure(&result, &failure, err);
    return result;
}

/* --- all of it --- */

int hourly_maintain(struct hourly *hourly, int64_t now_ns, struct error *err)
{
    uint32_t n_closed = 0;
    struct error failure;
    int result = 0;

    if (check_is_writer(hourly, err) < 0)
        return -1;
    LOCK_SCOPE(&hourly->maintaining);
    if (hourly_care_sync(hourly, &failure) < 0)
        note_failure(&result, &failure, err);
    if (close_heads(hourly, now_ns, &n_closed, &failure) < 0)
        note_failure(&result, &failure, err);
    if (apply_retention(hourly, now_ns, n_closed > 0, &failure) < 0)
        note_failure(&result, &failure, err);
    hourly_days_close_idle(hourly, clock_mono_ns() - idle_day_ns, hourly_day_start(now_ns) - HOURLY_DAY_NS);
    return result;
}

void hourly_stop(struct hourly *hourly)
{
    atomic_store_explicit(&hourly->is_stopping, true, memory_order_relaxed); /* relaxed: soon is soon enough */
}

/* --- copies --- */

/* `*ret_is_there` is false if the day is gone. */
static int copy_day(struct hourly *hourly, int64_t start_ns, const char *path, bool *ret_is_there, struct error *err)
{
    struct hourly_day *day;
    int result = 0;

    if (fs_remove_tree(path, err) < 0 || hourly_days_acquire(hourly, start_ns, HOURLY_UPKEEP, &day, err) < 0)
        return -1;
    *ret_is_there = day != NULL;
    if (day && kv_checkpoint(day->kv, path, err) < 0) {
        hourly_day_fail(day, err);
        result = -1;
    }
    hourly_days_release(hourly, day);
    return result;
}

static int visit_copy(struct hourly *hourly, int64_t start_ns,
                      int (*visit)(void *context, const struct hourly_copy *copy, struct error *err), void *context,
                      struct error *err)
{
    char name[HOURLY_DAY_BYTES], database[HOURLY_PATH_BYTES], path[HOURLY_PATH_BYTES];
    struct hourly_copy copy = { .start_ns = start_ns, .name = name, .database = database, .path = path };
    struct error none;
    bool is_there;
    int result;

    hourly_days_path(hourly, start_ns, database);
    snprintf(path, sizeof(path), "%s/copy-%s", hourly->scratch, hourly_day_name(start_ns, name));
    result = copy_day(hourly, start_ns, path, &is_there, err);
    if (!result && is_there)
        result = visit(context, &copy, err);
    IGNORE(fs_remove_tree(path, &none), "the directory is emptied at the next start");
    return result;
}

int hourly_each_copy(struct hourly *hourly,
                     int (*visit)(void *context, const struct hourly_copy *copy, struct error *err), void *context,
                     struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct hourly_list list;

    arena_init(&arena, 0);
    if (check_is_writer(hourly, err) < 0)
        return -1;
    /* One at a time: copies of a day have one name. */
    LOCK_SCOPE(&hourly->copying);
    if (hourly_days_list(hourly, &arena, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++)
        if (visit_copy(hourly, list.starts_ns[i], visit, context, err) < 0)
            return -1;
    return 0;
}
