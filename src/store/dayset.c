// SPDX-License-Identifier: Apache-2.0
#include "store/dayset.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "store/salvage.h"

#include <errno.h>
#include <stdio.h>

enum {
    PATH_BYTES = 4096,
    MAX_OPEN_DAYS = 10,
    WAIT_SECONDS = 10,
    MAX_ASIDE = 1000, /* copies of a day in quarantine/ */
    MAX_SALVAGES = 8, /* of a day, as long as quarantine/ has the others */
    MAX_DAYS = 1 << 20,
};

void dayset_init(struct dayset *dayset, struct day_context *context, const char *directory, const char *quarantine_dir,
                 const char *trash_dir, bool is_read_only)
{
    *dayset = (struct dayset){ .context = context,
                               .directory = directory,
                               .quarantine_dir = quarantine_dir,
                               .trash_dir = trash_dir,
                               .is_read_only = is_read_only };
    lock_mutex_init(&dayset->lock, LOCK_STORE_DAYS);
    lock_condition_init(&dayset->changed);
    map_init(&dayset->openings, MAX_DAYS);
    map_init(&dayset->told, MAX_DAYS);
}

void dayset_done(struct dayset *dayset)
{
    for (size_t i = 0; i < dayset->slots.n; i++)
        day_close(dayset->slots.items[i].day);
    VEC_DONE(&dayset->slots);
    map_done(&dayset->openings);
    map_done(&dayset->told);
    lock_condition_done(&dayset->changed);
    lock_mutex_done(&dayset->lock);
}

void dayset_path(const struct dayset *dayset, int64_t start_ns, char *path, size_t size)
{
    char name[DAY_NAME_BYTES];

    snprintf(path, size, "%s/%s", dayset->directory, day_name(start_ns, name));
}

static bool exists(const struct dayset *dayset, int64_t start_ns)
{
    char path[PATH_BYTES];
    struct stat info;
    struct error err;

    dayset_path(dayset, start_ns, path, sizeof(path));
    return fs_stat(path, &info, &err) == 0;
}

/* --- slots; under the lock --- */

static struct dayset_slot *find_slot(struct dayset *dayset, int64_t start_ns)
{
    for (size_t i = 0; i < dayset->slots.n; i++)
        if (dayset->slots.items[i].start_ns == start_ns)
            return &dayset->slots.items[i];
    return NULL;
}

static void remove_slot(struct dayset *dayset, int64_t start_ns)
{
    struct dayset_slot *slot = find_slot(dayset, start_ns);

    if (slot)
        *slot = dayset->slots.items[--dayset->slots.n];
}

/* Waits for the slot to change. Those who need the day for themselves are counted, so that readers who come one behind
 * the other cannot keep them waiting. */
static int wait_change(struct dayset *dayset, int64_t deadline_ns, int64_t start_ns, bool is_reader, struct error *err)
{
    struct dayset_slot *slot = find_slot(dayset, start_ns);
    char name[DAY_NAME_BYTES];
    bool has_changed;

    if (slot && !is_reader)
        slot->n_waiting++;
    has_changed = lock_condition_wait_until(&dayset->changed, &dayset->lock, deadline_ns);
    slot = find_slot(dayset, start_ns);
    if (slot && !is_reader && slot->n_waiting && !--slot->n_waiting)
        lock_condition_wake_all(&dayset->changed);
    if (has_changed)
        return 0;
    return error_set(err, ERR_BUSY, "day %s is still in use after %d seconds", day_name(start_ns, name), WAIT_SECONDS);
}

/* --- opening --- */

static enum kv_mode choose_mode(const struct dayset *dayset, int64_t start_ns, enum dayset_use use)
{
    if (dayset->is_read_only)
        return KV_SECONDARY;
    if (use != DAYSET_READ || start_ns + 2 * DAY_NS > clock_now_ns())
        return KV_WRITE;
    return KV_READ_ONLY;
}

/* The first free name in quarantine/, and its number. */
static int name_aside(struct dayset *dayset, int64_t start_ns, char path[static PATH_BYTES], uint32_t *ret_number,
                      struct error *err)
{
    char name[DAY_NAME_BYTES];
    struct stat info;
    struct error none;

    if (fs_make_directories(dayset->quarantine_dir, 0700, err) < 0)
        return -1;
    for (*ret_number = 0; *ret_number < MAX_ASIDE; ++*ret_number) {
        snprintf(path, PATH_BYTES, "%s/%s-%u", dayset->quarantine_dir, day_name(start_ns, name), *ret_number);
        if (fs_stat(path, &info, &none) < 0)
            return 0;
    }
    return error_set(err, ERR_LIMIT, "'%s' has %d copies of day %s already: move them away", dayset->quarantine_dir,
                     MAX_ASIDE, day_name(start_ns, name));
}

static void count_aside(struct dayset *dayset, int64_t start_ns, const char *path, const char *what)
{
    char name[DAY_NAME_BYTES];

    atomic_fetch_add_explicit(&dayset->n_set_aside, 1, memory_order_relaxed);
    storemetrics_add(&dayset->context->metrics, STOREMETRIC_DAYS_SET_ASIDE, 1);
    log_error("store", "day %s was set aside as '%s'%s", day_name(start_ns, name), path, what);
}

static int move_aside(struct dayset *dayset, int64_t start_ns, struct error *err)
{
    char from[PATH_BYTES], to[PATH_BYTES];
    uint32_t number;

    dayset_path(dayset, start_ns, from, sizeof(from));
    if (name_aside(dayset, start_ns, to, &number, err) < 0)
        return -1;
    if (rename(from, to) < 0)
        return error_set_errno(err, errno, "setting '%s' aside", from);
    if (fs_sync_parent(from, err) < 0 || fs_sync_parent(to, err) < 0)
        return -1;
    count_aside(dayset, start_ns, to, "");
    return 0;
}

static int count_opening(struct dayset *dayset, int64_t start_ns, struct error *err)
{
    const uint32_t *n;

    LOCK_SCOPE(&dayset->lock);
    n = map_find(&dayset->openings, (uint64_t)(start_ns / DAY_NS));
    return map_set(&dayset->openings, (uint64_t)(start_ns / DAY_NS), n ? *n + 1 : 1, err);
}

uint32_t dayset_openings(struct dayset *dayset, int64_t start_ns)
{
    const uint32_t *n;

    LOCK_SCOPE(&dayset->lock);
    n = map_find(&dayset->openings, (uint64_t)(start_ns / DAY_NS));
    return n ? *n : 0;
}

/* Puts what can be read of a day in its place. Nobody has it open. ERR_CORRUPT: there is nothing to put there. A day that
 * was salvaged again and again is not any more: it would fill the disk. */
static int salvage(struct dayset *dayset, int64_t start_ns, struct error *err)
{
    char place[PATH_BYTES], path[PATH_BYTES], aside[PATH_BYTES], name[DAY_NAME_BYTES];
    uint32_t number;

    dayset_path(dayset, start_ns, place, sizeof(place));
    day_name(start_ns, name);
    snprintf(path, sizeof(path), "%s/salvaged-%s", dayset->trash_dir, name);
    if (name_aside(dayset, start_ns, aside, &number, err) < 0)
        return -1;
    if (number >= MAX_SALVAGES)
        return error_set(err, ERR_CORRUPT, "day %s was salvaged %u times already", name, number);
    if (count_opening(dayset, start_ns, err) < 0 || fs_remove_tree(path, err) < 0 ||
        salvage_make(dayset->context, name, place, path, dayset->quarantine_dir, err) < 0 ||
        salvage_exchange(path, place, aside, err) < 0)
        return -1;
    count_aside(dayset, start_ns, aside, "; what can be read of it is in its place");
    return 0;
}

/* Whether it was not told before that the day is damaged: a day may be opened many times. */
static bool is_news(struct dayset *dayset, const char *name)
{
    int64_t start_ns;
    struct error err;

    LOCK_SCOPE(&dayset->lock);
    if (!day_parse_name(name, &start_ns) || map_find(&dayset->told, (uint64_t)(start_ns / DAY_NS)))
        return false;
    IGNORE(map_set(&dayset->told, (uint64_t)(start_ns / DAY_NS), 1, &err), "then it is told again");
    return true;
}

/* A day that is damaged, to be read as it is. */
static int open_as_it_is(struct dayset *dayset, const char *path, const char *name, enum kv_mode mode,
                         struct day **ret_day, struct error *err)
{
    if (is_news(dayset, name))
        log_error("store",
                  "day %s is damaged, and answers lack what cannot be read; `hearth verify` tells what, `hearth verify "
                  "--repair` makes it sound: %s",
                  name, err->text);
    atomic_fetch_add_explicit(&dayset->context->n_damaged, 1, memory_order_relaxed);
    return day_open_recovering(dayset->context, path, name, mode, ret_day, err);
}

/* A day that is damaged, in a store that is open for writing. */
static int open_damaged(struct dayset *dayset, int64_t start_ns, enum dayset_use use, const char *path,
                        struct day **ret_day, struct error *err)
{
    char name[DAY_NAME_BYTES];
    struct error failure;

    day_name(start_ns, name);
    log_error("store", "day %s cannot be opened, what can be read of it is salvaged: %s", name, err->text);
    if (salvage(dayset, start_ns, &failure) == 0)
        return day_open(dayset->context, path, name, KV_WRITE, NULL, ret_day, err);
    if (failure.code != ERR_CORRUPT) {
        /* A full disk, for one: those who read need not wait for a better day. */
        if (use == DAYSET_READ && open_as_it_is(dayset, path, name, KV_READ_ONLY, ret_day, err) == 0)
            return 0;
        *err = failure;
        return -1;
    }
    log_error("store", "day %s: %s", name, failure.text);
    if (move_aside(dayset, start_ns, err) < 0)
        return -1;
    *ret_day = NULL;
    if (use != DAYSET_CREATE)
        return 0;
    return day_open(dayset->context, path, name, KV_WRITE, NULL, ret_day, err);
}

static int open_day(struct dayset *dayset, int64_t start_ns, enum dayset_use use, struct day **ret_day,
                    struct error *err)
{
    enum kv_mode mode = choose_mode(dayset, start_ns, use);
    char path[PATH_BYTES], name[DAY_NAME_BYTES];

    dayset_path(dayset, start_ns, path, sizeof(path));
    day_name(start_ns, name);
    if (mode != KV_WRITE) {
        if (day_open(dayset->context, path, name, mode, NULL, ret_day, err) == 0)
            return 0;
        if (err->code != ERR_CORRUPT)
            return -1;
        if (dayset->is_read_only)
            return open_as_it_is(dayset, path, name, mode, ret_day, err);
    }
    if (count_opening(dayset, start_ns, err) < 0)
        return -1;
    /* Opened for writing, a day of which only the write-ahead log is damaged mends itself. */
    if (day_open(dayset->context, path, name, KV_WRITE, dayset->quarantine_dir, ret_day, err) == 0)
        return 0;
    return err->code == ERR_CORRUPT ? open_damaged(dayset, start_ns, use, path, ret_day, err) : -1;
}

static bool is_fit(const struct dayset *dayset, struct day *day, enum dayset_use use)
{
    bool has_failed;

    if (use == DAYSET_READ)
        return true;
    lock_mutex_acquire(&day->lock);
    has_failed = day->failure.code != ERR_OK;
    lock_mutex_release(&day->lock);
    return day->mode == KV_WRITE && !has_failed;
}

/* Whether something in it could not be read without which nothing can be written, or rows of it are hidden. */
static bool is_damaged(const struct dayset *dayset, struct day *day)
{
    LOCK_SCOPE(&day->lock);
    return !dayset->is_read_only && day->failure.code == ERR_CORRUPT;
}

/* The least recently used day that nobody uses and that may go, taken out of the list; NULL if there are not
 * too many. */
static struct day *take_excess(struct dayset *dayset)
{
    struct dayset_slot *oldest = NULL;
    struct day *day;

    if (dayset->slots.n <= MAX_OPEN_DAYS)
        return NULL;
    for (size_t i = 0; i < dayset->slots.n; i++) {
        struct dayset_slot *slot = &dayset->slots.items[i];

        if (slot->is_busy || !slot->day || slot->day->n_users || slot->start_ns + 2 * DAY_NS > clock_now_ns())
            continue;
        if (!oldest || slot->day->used_mono_ns < oldest->day->used_mono_ns)
            oldest = slot;
    }
    if (!oldest)
        return NULL;
    /* Closing happens outside the lock; until then nobody may open it a second time. */
    oldest->is_busy = true;
    day = oldest->day;
    return day;
}

static void close_taken(struct dayset *dayset, struct day *day)
{
    int64_t start_ns;

    if (!day)
        return;
    start_ns = day->start_ns;
    day_close(day);
    lock_mutex_acquire(&dayset->lock);
    remove_slot(dayset, start_ns);
    lock_condition_wake_all(&dayset->changed);
    lock_mutex_release(&dayset->lock);
}

/* The slot is ours (is_busy): puts the day into it, or removes it. Takes the lock. */
static int fill_slot(struct dayset *dayset, int64_t start_ns, enum dayset_use use, bool is_upkeep, struct day *old,
                     struct day **ret_day, struct error *err)
{
    bool was_used = old && old->is_used;
    struct day *day = NULL, *excess = NULL;
    bool was_damaged = old && is_damaged(dayset, old);
    struct dayset_slot *slot;
    struct error failure;
    int result;

    day_close(old);
    if (was_damaged && salvage(dayset, start_ns, &failure) < 0)
        log_error("store", "%s", failure.text);
    result = open_day(dayset, start_ns, use, &day, err);
    lock_mutex_acquire(&dayset->lock);
    if (result < 0 || !day)
        remove_slot(dayset, start_ns);
    else {
        slot = find_slot(dayset, start_ns);
        slot->day = day;
        slot->is_busy = false;
        day->n_users = 1;
        day->used_mono_ns = clock_mono_ns();
        day->is_used = was_used || !is_upkeep;
        excess = take_excess(dayset);
    }
    lock_condition_wake_all(&dayset->changed);
    lock_mutex_release(&dayset->lock);
    close_taken(dayset, excess);
    *ret_day = day;
    return result;
}

static void begin_use(struct day *day, bool is_upkeep)
{
    day->n_users++;
    if (is_upkeep)
        return;
    day->used_mono_ns = clock_mono_ns();
    day->is_used = true;
}

static int acquire(struct dayset *dayset, int64_t start_ns, enum dayset_use use, bool is_upkeep, struct day **ret_day,
                   struct error *err)
{
    int64_t deadline_ns = lock_deadline_ns(WAIT_SECONDS * CLOCK_NS_PER_SECOND);
    struct dayset_slot *slot;
    struct day *old = NULL;

    *ret_day = NULL;
    lock_mutex_acquire(&dayset->lock);
    for (;;) {
        slot = find_slot(dayset, start_ns);
        if (!slot)
            break;
        if (!slot->is_busy && is_fit(dayset, slot->day, use) && (use != DAYSET_READ || !slot->n_waiting) &&
            (slot->day->n_users || !is_damaged(dayset, slot->day))) {
            begin_use(slot->day, is_upkeep);
            *ret_day = slot->day;
            lock_mutex_release(&dayset->lock);
            return 0;
        }
        if (!slot->is_busy && !slot->day->n_users &&
            (!is_fit(dayset, slot->day, use) || is_damaged(dayset, slot->day))) {
            old = slot->day;
            storemetrics_add(&dayset->context->metrics, STOREMETRIC_DAYS_REOPENED, old->failure.code != ERR_OK);
            slot->day = NULL;
            slot->is_busy = true;
            lock_mutex_release(&dayset->lock);
            return fill_slot(dayset, start_ns, use, is_upkeep, old, ret_day, err);
        }
        if (wait_change(dayset, deadline_ns, start_ns, use == DAYSET_READ, err) < 0) {
            lock_mutex_release(&dayset->lock);
            return -1;
        }
    }
    if (use != DAYSET_CREATE && !exists(dayset, start_ns)) {
        lock_mutex_release(&dayset->lock);
        return 0;
    }
    slot = VEC_PUSH(&dayset->slots, MAX_DAYS, err);
    if (slot)
        *slot = (struct dayset_slot){ .start_ns = start_ns, .is_busy = true };
    lock_mutex_release(&dayset->lock);
    return slot ? fill_slot(dayset, start_ns, use, is_upkeep, NULL, ret_day, err) : -1;
}

int dayset_acquire(struct dayset *dayset, int64_t start_ns, enum dayset_use use, struct day **ret_day,
                   struct error *err)
{
    return acquire(dayset, start_ns, use, false, ret_day, err);
}

void dayset_release(struct dayset *dayset, struct day *day)
{
    if (!day)
        return;
    lock_mutex_acquire(&dayset->lock);
    day->n_users--;
    day->used_mono_ns = clock_mono_ns();
    day->is_used = true;
    if (!day->n_users)
        lock_condition_wake_all(&dayset->changed);
    lock_mutex_release(&dayset->lock);
}

int dayset_borrow(struct dayset *dayset, int64_t start_ns, enum dayset_use use, struct day **ret_day, struct error *err)
{
    return acquire(dayset, start_ns, use, true, ret_day, err);
}

struct day *dayset_borrow_open(struct dayset *dayset, int64_t start_ns)
{
    struct dayset_slot *slot;

    LOCK_SCOPE(&dayset->lock);
    slot = find_slot(dayset, start_ns);
    if (!slot || slot->is_busy || slot->n_waiting)
        return NULL;
    begin_use(slot->day, true);
    return slot->day;
}

void dayset_give_back(struct dayset *dayset, struct day *day)
{
    bool is_over;

    if (!day)
        return;
    lock_mutex_acquire(&dayset->lock);
    day->n_users--;
    is_over = !day->n_users && !day->is_used && day->start_ns + 2 * DAY_NS <= clock_now_ns();
    if (is_over)
        find_slot(dayset, day->start_ns)->is_busy = true;
    if (!day->n_users)
        lock_condition_wake_all(&dayset->changed);
    lock_mutex_release(&dayset->lock);
    if (is_over)
        close_taken(dayset, day);
}

/* --- all of them --- */

int dayset_list(struct dayset *dayset, struct arena *arena, struct dayset_list *ret_list, struct error *err)
{
    struct fs_listing listing;
    struct dayset_list list = { 0 };

    if (fs_list(dayset->directory, arena, &listing, err) < 0) {
        if (err->code != ERR_NOT_FOUND)
            return -1;
        *ret_list = list;
        return 0;
    }
    list.starts_ns = ARENA_ARRAY(arena, int64_t, listing.n, err);
    if (!list.starts_ns)
        return -1;
    for (size_t i = 0; i < listing.n; i++)
        if (day_parse_name(listing.names[i], &list.starts_ns[list.n]))
            list.n++;
    *ret_list = list;
    return 0;
}

void dayset_close_idle(struct dayset *dayset, int64_t idle_since_mono_ns, int64_t keep_from_ns)
{
    for (;;) {
        struct day *day = NULL;

        lock_mutex_acquire(&dayset->lock);
        for (size_t i = 0; i < dayset->slots.n && !day; i++) {
            struct dayset_slot *slot = &dayset->slots.items[i];

            if (slot->is_busy || slot->start_ns >= keep_from_ns || slot->day->n_users ||
                slot->day->used_mono_ns > idle_since_mono_ns)
                continue;
            slot->is_busy = true;
            day = slot->day;
        }
        lock_mutex_release(&dayset->lock);
        if (!day)
            return;
        close_taken(dayset, day);
    }
}

uint32_t dayset_n_open(struct dayset *dayset)
{
    LOCK_SCOPE(&dayset->lock);
    return (uint32_t)dayset->slots.n;
}

/* Waits until nobody uses the day, closes it, and keeps its slot busy so that nobody opens it. Releases the lock. */
static int seize(struct dayset *dayset, int64_t start_ns, struct error *err)
{
    int64_t deadline_ns = lock_deadline_ns(WAIT_SECONDS * CLOCK_NS_PER_SECOND);
    struct dayset_slot *slot;
    struct day *day = NULL;

    lock_mutex_acquire(&dayset->lock);
    while ((slot = find_slot(dayset, start_ns)) && (slot->is_busy || slot->day->n_users))
        if (wait_change(dayset, deadline_ns, start_ns, false, err) < 0) {
            lock_mutex_release(&dayset->lock);
            return -1;
        }
    if (!slot) {
        slot = VEC_PUSH(&dayset->slots, MAX_DAYS, err);
        if (!slot) {
            lock_mutex_release(&dayset->lock);
            return -1;
        }
        slot->start_ns = start_ns;
    }
    day = slot->day;
    slot->day = NULL;
    slot->is_busy = true;
    lock_mutex_release(&dayset->lock);
    day_close(day);
    return 0;
}

static void let_go(struct dayset *dayset, int64_t start_ns)
{
    lock_mutex_acquire(&dayset->lock);
    remove_slot(dayset, start_ns);
    lock_condition_wake_all(&dayset->changed);
    lock_mutex_release(&dayset->lock);
}

int dayset_drop(struct dayset *dayset, int64_t start_ns, struct error *err)
{
    char from[PATH_BYTES], to[PATH_BYTES], name[DAY_NAME_BYTES];
    int result = 0;

    if (seize(dayset, start_ns, err) < 0)
        return -1;
    dayset_path(dayset, start_ns, from, sizeof(from));
    snprintf(to, sizeof(to), "%s/dropped-%s", dayset->trash_dir, day_name(start_ns, name));
    /* The rename is the drop; removing the files may take a while, and is repeated at the next start if need be. */
    if (fs_remove_tree(to, err) < 0)
        result = -1;
    else if (rename(from, to) < 0 && errno != ENOENT)
        result = error_set_errno(err, errno, "dropping '%s'", from);
    let_go(dayset, start_ns);
    return result < 0 ? -1 : fs_remove_tree(to, err);
}

int dayset_salvage(struct dayset *dayset, int64_t start_ns, struct error *err)
{
    int result;

    if (seize(dayset, start_ns, err) < 0)
        return -1;
    result = salvage(dayset, start_ns, err);
    let_go(dayset, start_ns);
    return result;
}

/* Tells once about a day that cannot be read, and goes on without it. */
static void skip_day(struct dayset *dayset, int64_t start_ns, const struct error *err)
{
    char name[DAY_NAME_BYTES];

    atomic_fetch_add_explicit(&dayset->context->n_damaged, 1, memory_order_relaxed);
    LOG_EVERY(10, LOG_ERROR, "store",
              "day %s cannot be read and is left out of the answer; `hearth verify --repair` salvages it: %s",
              day_name(start_ns, name), err->text);
}

int dayset_each(struct dayset *dayset, int64_t from_ns, int64_t until_ns, enum dayset_use use,
                int (*visit)(void *context, struct day *day, struct error *err), void *context, struct error *err)
{
    struct dayset_list list;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = dayset_list(dayset, &arena, &list, err);
    for (size_t i = 0; !result && i < list.n; i++) {
        struct day *day;

        if (list.starts_ns[i] >= until_ns || list.starts_ns[i] + DAY_NS <= from_ns)
            continue;
        if (dayset_acquire(dayset, list.starts_ns[i], use, &day, err) < 0) {
            /* An answer without a day is wrong, unless nobody can ever read that day. */
            if (use != DAYSET_READ || (err->code != ERR_CORRUPT && err->code != ERR_VERSION)) {
                result = -1;
                break;
            }
            skip_day(dayset, list.starts_ns[i], err);
            continue;
        }
        if (day)
            result = visit(context, day, err);
        dayset_release(dayset, day);
    }
    arena_done(&arena);
    return result;
}
