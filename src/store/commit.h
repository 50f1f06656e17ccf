// SPDX-License-Identifier: Apache-2.0
/* Writing profiles into a day: series, ids, rows, group commit.
 *
 * C1  Ids are given under the day's lock, rows are sorted and encoded outside it, then all rows of the commit join the
 *     open group. One of the waiting writers leads: it writes the group, while the next one fills. Groups reach the WAL
 *     in order, so a row's ids are there no later than the row.
 * C2  All rows of a commit are in one group: they are kept together or not at all.
 * C3  Profile ids are looked up when the rows join, against the disk and the groups on their way. Whether something of
 *     an old profile is left is found out before, without the lock; when the rows join, its record must be the same.
 * C4  A row that joins late drops the roll-ups in memory that it should have been in (slotcache.h, S2). */
#pragma once

#include "store/day.h"

struct commit_profile {
    uint32_t first_row, n_rows;
    uint64_t n_samples;
    uint8_t id[16];
    bool has_id;
    bool is_forgotten;        /* the id was there, and nothing else of it any more */
    struct hash128 forgotten; /* what was there (knownid.h) */
    bool is_duplicate;        /* known after commit_finish */
};

struct commit_row {
    uint32_t group, series;
    int64_t start_ns;
    size_t offset, len; /* in bytes */
};

/* What is written with one call of store_write into one day. */
struct commit {
    struct day *day;
    struct slice tenant;
    const struct series_label *labels; /* added to every profile */
    uint32_t n_labels;
    const struct content *content; /* hashes of the tables that all profiles share */
    uint32_t *frame_memo;          /* dictionary ids of their frames, as far as they are known */
    struct arena *arena;           /* scratch of one profile */
    struct label_counts counts;
    VEC(struct commit_profile) profiles;
    uint32_t n_refused;   /* beyond the limit of series; not among the profiles */
    struct error refusal; /* of the first of them */
    VEC(struct commit_row) rows;
    struct buffer bytes;
    uint32_t tenant_id;
    bool has_deletions; /* in the day: an id that is there may have nothing left to stand for */
};

/* An empty commit of profiles that share `tables`, whose hashes are `content`. `lasting` holds what the commit needs
 * until commit_done, `arena` is reset by each commit_add. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int commit_init(struct commit *commit, struct day *day, struct slice tenant, const struct tables *tables,
                           const struct content *content, struct arena *lasting, struct arena *arena,
                           struct error *err);
void commit_done(struct commit *commit);

/* Turns a profile that starts at `start_ns`, in this day, into rows. `id` may be NULL. A profile for which the tenant has
 * no series left is refused: counted, and the others go on. Errors: ERR_CLOSED (the day must be opened again), ERR_LIMIT,
 * ERR_MEMORY. */
MUST_CHECK int commit_add(struct commit *commit, const struct profile *profile, int64_t start_ns, const uint8_t *id,
                          struct error *err);
/* Writes everything added and waits until it is kept. Errors: ERR_CLOSED, ERR_FULL, ERR_IO, ERR_MEMORY. */
MUST_CHECK int commit_finish(struct commit *commit, struct error *err);

/* Under the day's lock: makes sure that all groups up to `group` are written. Errors: that of the day. */
MUST_CHECK int commit_wait(struct day *day, uint64_t group, struct error *err);
/* Under the day's lock: the head that rows of `hour` go to, made if there is none. */
MUST_CHECK int commit_head(struct day *day, uint8_t hour, uint32_t *ret_place, struct error *err);
