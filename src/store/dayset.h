// SPDX-License-Identifier: Apache-2.0
/* The days of a store: which there are, which are open, and who uses them.
 *
 * E1  A day is opened when somebody asks for it and closed when nobody has used it for a while; today and yesterday
 *     stay open. Nothing grows with the number of days on disk.
 * E2  A day that failed (day->failure) is closed as soon as nobody uses it, and opened again by the next who asks.
 * E3  A day that cannot be opened because it is damaged is salvaged (salvage.h): the old one is set aside into
 *     quarantine/, logged and counted, and what can be read of it takes its place. So is one that stopped writing for
 *     damage. A store that is open for reading only changes nothing, and reads what can be read.
 * E4  Nobody has a day while it is salvaged, so nobody writes into a database that is about to be set aside. */
#pragma once

#include "base/map.h"
#include "store/day.h"

struct dayset {
    struct day_context *context;
    const char *directory;      /* DATA/profiles */
    const char *quarantine_dir; /* DATA/quarantine */
    const char *trash_dir;      /* on the same file system: emptied at every start */
    bool is_read_only;
    struct lock_mutex lock;
    struct lock_condition changed;
    VEC(struct dayset_slot {
        int64_t start_ns;
        struct day *day;    /* NULL while it is being opened */
        bool is_busy;       /* being opened or closed: everybody waits */
        uint32_t n_waiting; /* for nobody to use it: new readers stand behind them */
    })
    slots;               /* guarded by lock */
    struct map openings; /* start in days -> how often it was opened for writing; guarded by lock */
    struct map told;     /* start in days: that it is damaged was logged; guarded by lock */
    _Atomic uint32_t n_set_aside;
};

void dayset_init(struct dayset *dayset, struct day_context *context, const char *directory, const char *quarantine_dir,
                 const char *trash_dir, bool is_read_only);
/* Closes all days. Nobody may use one. */
void dayset_done(struct dayset *dayset);

enum dayset_use {
    DAYSET_READ,   /* in whatever way it is open */
    DAYSET_WRITE,  /* open for writing, if it exists */
    DAYSET_CREATE, /* open for writing, made if it does not */
};
/* The day that starts at `start_ns`, until dayset_release; NULL in `*ret_day` if there is none. Errors: those of
 * day_open, ERR_BUSY when a failed day is still in use after ten seconds. */
MUST_CHECK int dayset_acquire(struct dayset *dayset, int64_t start_ns, enum dayset_use use, struct day **ret_day,
                              struct error *err);
void dayset_release(struct dayset *dayset, struct day *day);

/* The same for the upkeep, until dayset_give_back: it does not count as use, so an idle day is still idle, and a day that
 * was opened for this alone is closed again at once. */
MUST_CHECK int dayset_borrow(struct dayset *dayset, int64_t start_ns, enum dayset_use use, struct day **ret_day,
                             struct error *err);
/* The day if it is open and nobody waits to have it for himself, else NULL. Borrowed. */
struct day *dayset_borrow_open(struct dayset *dayset, int64_t start_ns);
void dayset_give_back(struct dayset *dayset, struct day *day);

/* How often a day was opened for writing, so far: while this stays and it is not open so, the day stays as it is. */
uint32_t dayset_openings(struct dayset *dayset, int64_t start_ns);

/* Starts of the days on disk, rising, from `arena`. */
struct dayset_list {
    int64_t *starts_ns;
    size_t n;
};
MUST_CHECK int dayset_list(struct dayset *dayset, struct arena *arena, struct dayset_list *ret_list, struct error *err);

/* Closes days that nobody used since `idle_since_mono_ns`, except those that start at `keep_from_ns` or later. */
void dayset_close_idle(struct dayset *dayset, int64_t idle_since_mono_ns, int64_t keep_from_ns);
uint32_t dayset_n_open(struct dayset *dayset);

/* Removes a day from disk, at once for everybody who asks from now on. Waits for those who use it. Errors: ERR_BUSY,
 * ERR_IO. */
MUST_CHECK int dayset_drop(struct dayset *dayset, int64_t start_ns, struct error *err);
/* Puts what can be read of a day in its place, and the day into quarantine/. Waits for those who use it. Errors: ERR_BUSY,
 * ERR_CORRUPT (nothing can be read, or it was done too often), ERR_FULL, ERR_IO, ERR_MEMORY. */
MUST_CHECK int dayset_salvage(struct dayset *dayset, int64_t start_ns, struct error *err);

/* Calls `visit` for every day that overlaps [from_ns, until_ns), in order. A day that cannot be opened is skipped and
 * counted as damage. */
MUST_CHECK int dayset_each(struct dayset *dayset, int64_t from_ns, int64_t until_ns, enum dayset_use use,
                           int (*visit)(void *context, struct day *day, struct error *err), void *context,
                           struct error *err);
/* The path of a day's directory. */
void dayset_path(const struct dayset *dayset, int64_t start_ns, char *path, size_t size);
