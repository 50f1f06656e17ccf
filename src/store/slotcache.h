// SPDX-License-Identifier: Apache-2.0
/* Roll-ups and windows of hours that go on, in memory.
 *
 * The rows of an open hour are in its head, and nowhere else. So that a question about the last hour need not read them
 * all, the upkeep adds up the rows of each group (slotfill.h), and what they come to is held here, by stack as a roll-up
 * and by row as windows: of the hour so far, and of its slots of five minutes. Nothing of it is on the disk, and nothing
 * depends on it: what is not here is read from the rows.
 *
 * S1  An entry stands for the rows of one group in one head that start in a span: from the beginning of the hour or slot,
 *     so many steps long. It has each of them once, and no others. Deletions are not applied.
 * S2  Whoever adds a row that starts before day->slots_until_ns drops the entries whose span has it, under the day's
 *     lock, before the row is on its way to the database. So an entry that is there has all rows that were ever added.
 * S3  An entry knows the group commit up to which the rows were read that it is made of (day_view.n_commits), and answers
 *     only views that have seen that one, too. By S2 such a view and the entry have the same rows.
 * S4  A builder begins before it takes its view, and in the view are all rows that were added before. For a row that is
 *     added later, the builder's result is not taken (slotcache_put), nor in a pass in which not even that could be noted.
 * S5  Entries belong to one opening of a day, and to one head: they go when the day is closed, and when a marker covers
 *     the head. Views in which the head still counts read its rows then.
 * S6  At most `max_bytes` are held. When there is no room, the oldest slots go, the hour so far after its last slot. What
 *     had to go is not built again, nor is anything older: else the upkeep would go round in circles. Windows that would
 *     make an entry too large are left out of it, until it is built from its first row again.
 *
 * Thread: any; one builder at a time. All functions accept a cache that is NULL, which holds nothing: readers have none. */
#pragma once

#include "base/arena.h"
#include "store/day.h"

#define SLOTCACHE_STEP_NS        (60 * (int64_t)1000000000) /* spans are made of these */
#define SLOTCACHE_SLOT_STEPS     5
#define SLOTCACHE_HOUR_STEPS     60
/* Spans of an hour: its slots, and behind them the hour so far. */
#define SLOTCACHE_HOUR           DAY_SLOTS
#define SLOTCACHE_SPANS          (DAY_SLOTS + 1)
/* How long after its start a row may come without being late: most senders tell of ten seconds when they are over. A
 * group of which rows came later is given more time, for windows of a minute. */
#define SLOTCACHE_USUAL_DELAY_NS (30 * (int64_t)1000000000)
#define SLOTCACHE_LONG_DELAY_NS  (90 * (int64_t)1000000000)

struct slotcache;

/* Errors: ERR_MEMORY. */
MUST_CHECK int slotcache_new(size_t max_bytes, struct slotcache **ret_cache, struct error *err);
void slotcache_free(struct slotcache *cache);

/* A head, as far as entries are concerned. */
struct slotcache_head {
    const struct day *day; /* which opening: it is never looked into */
    int64_t hour_ns;       /* when the hour began */
    uint32_t number;
};

/* --- who builds --- */

/* Begins a pass over a head, as of `now_ns`: S4 holds until slotcache_end. Errors: ERR_MEMORY; then there is no pass. */
MUST_CHECK int slotcache_begin(struct slotcache *cache, const struct slotcache_head *head, int64_t now_ns,
                               struct error *err);
void slotcache_end(struct slotcache *cache);

/* Which steps of each span of a group are to be added: none where until is not above from. Those below `from` are here.
 * A span that was dropped is built again a minute after the last time. */
struct slotcache_plan {
    uint8_t from[SLOTCACHE_SPANS], until[SLOTCACHE_SPANS];
};
void slotcache_plan(struct slotcache *cache, uint32_t tenant, uint32_t group, struct slotcache_plan *ret_plan);
/* What is held of a span. */
struct slotcache_value {
    uint32_t n_steps;     /* 0 = there is nothing */
    struct slice rollup;  /* rollup.h; empty = no rows start in them */
    struct slice windows; /* openwindows.h; likewise */
    bool has_windows;     /* else they are too large to be held */
};
/* Takes a copy of the value in place of the one that is here, as a view with `n_commits` has it. False if it was not taken,
 * because of S4 or S6 or for lack of memory. */
bool slotcache_put(struct slotcache *cache, uint32_t tenant, uint32_t group, uint32_t span, uint64_t n_commits,
                   const struct slotcache_value *value);
/* The span is too large: nobody tries it again. */
void slotcache_refuse(struct slotcache *cache, uint32_t tenant, uint32_t group, uint32_t span);

/* --- who writes --- */

/* A row of the group that starts at `start_ns` is about to be added to the head: S2. How many entries were dropped. */
uint32_t slotcache_drop(struct slotcache *cache, const struct slotcache_head *head, uint32_t tenant, uint32_t group,
                        int64_t start_ns);
/* The head is covered; the day is closed. */
void slotcache_forget_head(struct slotcache *cache, const struct slotcache_head *head);
void slotcache_forget_day(struct slotcache *cache, const struct day *day);

/* --- who reads --- */

/* What is wanted of a value: the other is left empty. */
enum slotcache_part {
    SLOTCACHE_ROLLUP = 1,
    SLOTCACHE_WINDOWS = 2,
    SLOTCACHE_BOTH = 3,
};
/* What is here of a span, for a view with `n_commits`; a copy from `arena`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int slotcache_get(struct slotcache *cache, const struct slotcache_head *head, uint32_t tenant,
                             uint32_t group, uint32_t span, uint64_t n_commits, enum slotcache_part part,
                             struct arena *arena, struct slotcache_value *ret_value, struct error *err);

/* What is held now. */
size_t slotcache_bytes(struct slotcache *cache);
