// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "hourly/hourly_internal.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
    MAX_OPEN_DAYS = 8, /* more are closed as soon as nobody uses them */
    MAX_DAYS = 1 << 20,
    MAX_ASIDE = 1000, /* copies of a day in quarantine/ */
    WAIT_SECONDS = 10,
    POLITE_SECONDS = 1, /* readers let those go first who need a day for themselves */
};

void hourly_days_path(const struct hourly *hourly, int64_t start_ns, char ret_path[static HOURLY_PATH_BYTES])
{
    char name[HOURLY_DAY_BYTES];

    snprintf(ret_path, HOURLY_PATH_BYTES, "%s/%s", hourly->directory, hourly_day_name(start_ns, name));
}

static bool exists(const struct hourly *hourly, int64_t start_ns)
{
    char path[HOURLY_PATH_BYTES];
    struct stat info;
    struct error err;

    hourly_days_path(hourly, start_ns, path);
    return fs_stat(path, &info, &err) == 0;
}

/* --- days that are damaged --- */

int hourly_days_name_aside(struct hourly *hourly, int64_t start_ns, char ret_path[static HOURLY_PATH_BYTES],
                           struct error *err)
{
    const char *kind = hourly->options.kind->name;
    char name[HOURLY_DAY_BYTES];
    struct stat info;
    struct error none;

    hourly_day_name(start_ns, name);
    if (fs_make_directories(hourly->quarantine, 0700, err) < 0)
        return -1;
    for (uint32_t i = 0; i < MAX_ASIDE; i++) {
        snprintf(ret_path, HOURLY_PATH_BYTES, "%s/%s-%s-%u", hourly->quarantine, kind, name, i);
        if (fs_stat(ret_path, &info, &none) < 0)
            return 0;
    }
    return error_set(err, ERR_LIMIT, "'%s' has %d copies of day %s of %s already: move them away", hourly->quarantine,
                     MAX_ASIDE, name, kind);
}

static int move_aside(struct hourly *hourly, int64_t start_ns, const struct error *why, struct error *err)
{
    char from[HOURLY_PATH_BYTES], to[HOURLY_PATH_BYTES], name[HOURLY_DAY_BYTES];

    hourly_days_path(hourly, start_ns, from);
    if (hourly_days_name_aside(hourly, start_ns, to, err) < 0)
        return -1;
    if (rename(from, to) < 0)
        return error_set_errno(err, errno, "setting '%s' aside", from);
    /* Relaxed: a count. */
    atomic_fetch_add_explicit(&hourly->n_set_aside, 1, memory_order_relaxed);
    log_error(hourly->options.kind->name, "day %s cannot be opened and was set aside as '%s': %s",
              hourly_day_name(start_ns, name), to, why->text);
    return fs_sync_parent(from, err) < 0 ? -1 : fs_sync_parent(to, err);
}

/* Second names of the write-ahead logs in quarantine/: opening the day removes the first ones. */
static int keep_logs(struct hourly *hourly, int64_t start_ns, struct error *err)
{
    char from[HOURLY_PATH_BYTES], to[HOURLY_PATH_BYTES];
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;

    arena_init(&arena, 0);
    hourly_days_path(hourly, start_ns, from);
    if (hourly_days_name_aside(hourly, start_ns, to, err) < 0 || fs_make_directories(to, 0700, err) < 0 ||
        fs_list(from, &arena, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        const char *log, *copy;

        if (!slice_ends_with(slice_from(listing.names[i]), SLICE(".log")))
            continue;
        log = arena_printf(&arena, err, "%s/%s", from, listing.names[i]);
        copy = log ? arena_printf(&arena, err, "%s/%s", to, listing.names[i]) : NULL;
        if (!copy)
            return -1;
        if (link(log, copy) < 0)
            return error_set_errno(err, errno, "linking '%s' to '%s'", log, copy);
    }
    return 0;
}

/* A day with damage: what can be read of a damaged log is taken; one that cannot be opened even so is set aside, and a new
 * one begun for whoever wants to write. */
static int open_damaged(struct hourly *hourly, int64_t start_ns, enum hourly_use use, struct hourly_day **ret_day,
                        struct error *err)
{
    struct error why = *err;

    if (keep_logs(hourly, start_ns, err) < 0)
        return -1;
    if (hourly_day_open(hourly, start_ns, KV_WRITE, KV_SALVAGE, ret_day, err) == 0) {
        log_error(hourly->options.kind->name,
                  "the write-ahead log of day %s is damaged: what can be read of it was taken, a copy is in '%s': %s",
                  (*ret_day)->name, hourly->quarantine, why.text);
        /* Relaxed: a count. */
        atomic_fetch_add_explicit(&hourly->n_damaged, 1, memory_order_relaxed);
        return 0;
    }
    if (err->code != ERR_CORRUPT || move_aside(hourly, start_ns, &why, err) < 0)
        return -1;
    *ret_day = NULL;
    if (use != HOURLY_CREATE)
        return 0;
    return hourly_day_open(hourly, start_ns, KV_WRITE, KV_STRICT, ret_day, err);
}

static enum kv_mode choose_mode(const struct hourly *hourly, int64_t start_ns, enum hourly_use use)
{
    if (hourly->options.is_read_only)
        return KV_SECONDARY;
    return use == HOURLY_READ && start_ns + 2 * HOURLY_DAY_NS <= clock_now_ns() ? KV_READ_ONLY : KV_WRITE;
}

static int open_day(struct hourly *hourly, int64_t start_ns, enum hourly_use use, struct hourly_day **ret_day,
                    struct error *err)
{
    enum kv_mode mode = choose_mode(hourly, start_ns, use);
    enum kv_recovery recovery = hourly->options.is_synced ? KV_STRICT : KV_PREFIX;

    if (hourly_day_open(hourly, start_ns, mode, recovery, ret_day, err) == 0)
        return 0;
    if (err->code == ERR_NOT_FOUND && mode != KV_WRITE) {
        *ret_day = NULL;
        return 0;
    }
    if (err->code != ERR_CORRUPT || hourly->options.is_read_only)
        return -1;
    return open_damaged(hourly, start_ns, use, ret_day, err);
}

/* --- slots; under the lock --- */

static struct hourly_slot *find_slot(struct hourly *hourly, int64_t start_ns)
{
    VEC_EACH (&hourly->slots, slot)
        if (slot->start_ns == start_ns)
            return slot;
    return NULL;
}

static void remove_slot(struct hourly *hourly, int64_t start_ns)
{
    struct hourly_slot *slot = find_slot(hourly, start_ns);

    *slot = hourly->slots.items[--hourly->slots.n];
    lock_condition_wake_all(&hourly->changed);
}

static bool is_fit(struct hourly_day *day, enum hourly_use use)
{
    struct error err;

    if (use == HOURLY_READ)
        return true;
    return day->mode == KV_WRITE && hourly_day_check(day, &err) == 0;
}

/* Waits for the slot to change. Those who need the day for themselves are counted, so that readers who come one behind the
 * other do not keep them waiting. */
static int wait_change(struct hourly *hourly, int64_t deadline_ns, int64_t start_ns, enum hourly_use use,
                       struct error *err)
{
    struct hourly_slot *slot = find_slot(hourly, start_ns);
    char name[HOURLY_DAY_BYTES];
    bool has_changed;

    slot->n_waiting += use != HOURLY_READ;
    has_changed = lock_condition_wait_until(&hourly->changed, &hourly->lock, deadline_ns);
    slot = find_slot(hourly, start_ns);
    if (slot && use != HOURLY_READ && slot->n_waiting && !--slot->n_waiting)
        lock_condition_wake_all(&hourly->changed);
    if (has_changed)
        return 0;
    return error_set(err, ERR_BUSY, "day %s of %s is still in use after %d seconds: try again",
                     hourly_day_name(start_ns, name), hourly->options.kind->name, WAIT_SECONDS);
}

static void begin_use(struct hourly_day *day, enum hourly_use use)
{
    day->n_users++;
    if (use != HOURLY_UPKEEP)
        day->used_mono_ns = clock_mono_ns();
}

/* --- using days --- */

/* The slot is ours (is_busy): puts the day into it, or removes it. */
static int fill_slot(struct hourly *hourly, int64_t start_ns, enum hourly_use use, struct hourly_day *old,
                     struct hourly_day **ret_day, struct error *err)
{
    struct hourly_day *day = NULL;
    int result;

    hourly_day_close(old);
    result = open_day(hourly, start_ns, use, &day, err);
    lock_mutex_acquire(&hourly->lock);
    if (!day)
        remove_slot(hourly, start_ns);
    else {
        struct hourly_slot *slot = find_slot(hourly, start_ns);

        slot->day = day;
        slot->is_busy = false;
        begin_use(day, use);
        lock_condition_wake_all(&hourly->changed);
    }
    lock_mutex_release(&hourly->lock);
    *ret_day = day;
    return result;
}

/* Under the lock: takes part in using the day of the slot, if it can be had. */
static bool join(struct hourly_slot *slot, enum hourly_use use, bool is_polite)
{
    if (slot->is_busy || !is_fit(slot->day, use) || (is_polite && slot->n_waiting))
        return false;
    begin_use(slot->day, use);
    return true;
}

int hourly_days_acquire(struct hourly *hourly, int64_t start_ns, enum hourly_use use, struct hourly_day **ret_day,
                        struct error *err)
{
    int64_t deadline_ns = lock_deadline_ns(WAIT_SECONDS * CLOCK_NS_PER_SECOND);
    int64_t polite_ns = lock_deadline_ns(POLITE_SECONDS * CLOCK_NS_PER_SECOND);
    bool is_polite = use == HOURLY_READ;
    struct hourly_day *old = NULL;
    struct hourly_slot *slot;
    int result = 0;

    *ret_day = NULL;
    lock_mutex_acquire(&hourly->lock);
    while ((slot = find_slot(hourly, start_ns)) && !join(slot, use, is_polite)) {
        bool is_in_line = is_polite && !slot->is_busy;

        if (!slot->is_busy && !slot->day->n_users && !is_fit(slot->day, use))
            break;
        if (wait_change(hourly, is_in_line ? polite_ns : deadline_ns, start_ns, use, err) == 0)
            continue;
        /* Not longer: it may be this very reader, elsewhere in its work, for whom they wait. */
        if (!is_in_line) {
            lock_mutex_release(&hourly->lock);
            return -1;
        }
        is_polite = false;
    }
    if (slot && !slot->is_busy && slot->day->n_users) {
        *ret_day = slot->day;
        lock_mutex_release(&hourly->lock);
        return 0;
    }
    if (slot) {
        old = TAKE(slot->day);
        slot->is_busy = true;
    } else if (use == HOURLY_CREATE || exists(hourly, start_ns)) {
        slot = VEC_PUSH(&hourly->slots, MAX_DAYS, err);
        result = slot ? 0 : -1;
        if (slot)
            *slot = (struct hourly_slot){ .start_ns = start_ns, .is_busy = true };
    }
    lock_mutex_release(&hourly->lock);
    return slot ? fill_slot(hourly, start_ns, use, old, ret_day, err) : result;
}

/* Under the lock: whether a day may be closed. Heads have it stay open: closing them needs it. */
static bool may_close(const struct hourly_slot *slot, int64_t keep_from_ns)
{
    return !slot->is_busy && !slot->day->n_users && !slot->n_waiting && slot->start_ns < keep_from_ns &&
           (slot->day->mode != KV_WRITE || !hourly_day_has_heads(slot->day));
}

/* The day that was used longest ago, of those that may be closed and were not used since then; its slot is busy now. */
static struct hourly_day *take_idle(struct hourly *hourly, int64_t idle_since_mono_ns, int64_t keep_from_ns)
{
    struct hourly_slot *oldest = NULL;

    LOCK_SCOPE(&hourly->lock);
    VEC_EACH (&hourly->slots, slot)
        if (may_close(slot, keep_from_ns) && slot->day->used_mono_ns <= idle_since_mono_ns &&
            (!oldest || slot->day->used_mono_ns < oldest->day->used_mono_ns))
            oldest = slot;
    if (!oldest)
        return NULL;
    oldest->is_busy = true;
    return TAKE(oldest->day);
}

static void close_taken(struct hourly *hourly, struct hourly_day *day)
{
    int64_t start_ns = day->start_ns;

    hourly_day_close(day);
    lock_mutex_acquire(&hourly->lock);
    remove_slot(hourly, start_ns);
    lock_mutex_release(&hourly->lock);
}

void hourly_days_close_idle(struct hourly *hourly, int64_t idle_since_mono_ns, int64_t keep_from_ns)
{
    struct hourly_day *day;

    while ((day = take_idle(hourly, idle_since_mono_ns, keep_from_ns)))
        close_taken(hourly, day);
}

void hourly_days_release(struct hourly *hourly, struct hourly_day *day)
{
    struct hourly_day *idle = NULL;
    bool are_many;

    if (!day)
        return;
    lock_mutex_acquire(&hourly->lock);
    if (--day->n_users == 0)
        lock_condition_wake_all(&hourly->changed);
    are_many = hourly->slots.n > MAX_OPEN_DAYS;
    lock_mutex_release(&hourly->lock);
    if (are_many)
        idle = take_idle(hourly, INT64_MAX, hourly_day_start(clock_now_ns()) - HOURLY_DAY_NS);
    if (idle)
        close_taken(hourly, idle);
}

bool hourly_days_is_writable(struct hourly *hourly, int64_t start_ns)
{
    struct hourly_slot *slot;

    LOCK_SCOPE(&hourly->lock);
    slot = find_slot(hourly, start_ns);
    return slot && !slot->is_busy && slot->day->mode == KV_WRITE;
}

/* --- all of them --- */

int hourly_days_list(struct hourly *hourly, struct arena *arena, struct hourly_list *ret_list, struct error *err)
{
    struct fs_listing listing = { 0 };
    struct hourly_list list = { 0 };

    if (fs_list(hourly->directory, arena, &listing, err) < 0 && err->code != ERR_NOT_FOUND)
        return -1;
    list.starts_ns = ARENA_ARRAY(arena, int64_t, listing.n, err);
    if (!list.starts_ns)
        return -1;
    for (size_t i = 0; i < listing.n; i++)
        if (hourly_parse_day(listing.names[i], &list.starts_ns[list.n]))
            list.n++;
    *ret_list = list;
    return 0;
}

int hourly_days_list_writable(struct hourly *hourly, struct arena *arena, struct hourly_list *ret_list,
                              struct error *err)
{
    struct hourly_list list = { 0 };

    LOCK_SCOPE(&hourly->lock);
    list.starts_ns = ARENA_ARRAY(arena, int64_t, hourly->slots.n, err);
    if (!list.starts_ns)
        return -1;
    VEC_EACH (&hourly->slots, slot)
        if (!slot->is_busy && slot->day->mode == KV_WRITE)
            list.starts_ns[list.n++] = slot->start_ns;
    *ret_list = list;
    return 0;
}

/* Takes the slot of a day that nobody uses, busy, and the day out of it; false if somebody does, or on failure. */
static int seize(struct hourly *hourly, int64_t start_ns, bool *ret_is_ours, struct hourly_day **ret_day,
                 struct error *err)
{
    struct hourly_slot *slot;

    LOCK_SCOPE(&hourly->lock);
    slot = find_slot(hourly, start_ns);
    *ret_is_ours = !slot || (!slot->is_busy && !slot->day->n_users);
    if (!*ret_is_ours)
        return 0;
    if (!slot)
        slot = VEC_PUSH(&hourly->slots, MAX_DAYS, err);
    if (!slot)
        return -1;
    slot->start_ns = start_ns;
    slot->is_busy = true;
    *ret_day = TAKE(slot->day);
    return 0;
}

int hourly_days_drop(struct hourly *hourly, int64_t start_ns, bool *ret_is_dropped, struct error *err)
{
    char from[HOURLY_PATH_BYTES], to[HOURLY_PATH_BYTES], name[HOURLY_DAY_BYTES];
    struct hourly_day *day = NULL;
    int result = 0;

    if (seize(hourly, start_ns, ret_is_dropped, &day, err) < 0)
        return -1;
    if (!*ret_is_dropped)
        return 0;
    atomic_fetch_add(&hourly->generation, 1);
    hourly_day_close(day);
    hourly_days_path(hourly, start_ns, from);
    snprintf(to, sizeof(to), "%s/dropped-%s", hourly->scratch, hourly_day_name(start_ns, name));
    /* The rename is the drop; removing the files may take a while, and is repeated at the next start if need be. */
    if (fs_remove_tree(to, err) < 0)
        result = -1;
    else if (rename(from, to) < 0 && errno != ENOENT)
        result = error_set_errno(err, errno, "dropping '%s'", from);
    lock_mutex_acquire(&hourly->lock);
    remove_slot(hourly, start_ns);
    lock_mutex_release(&hourly->lock);
    return result < 0 ? -1 : fs_remove_tree(to, err);
}
