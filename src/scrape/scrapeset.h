// SPDX-License-Identifier: Apache-2.0
/* The targets that are alive, and how a new configuration, or new files of targets, changes who they are. */
#pragma once

#include "scrape/scrape.h"
#include "scrape/scrapefiles.h"
#include "scrape/scrapequeue.h"
#include "scrape/scrapetarget.h"

struct scrapecall;

/* One target. The scraping thread alone writes to it, to `health` under the scraper's lock. */
struct scrapeset_target {
    struct scrapequeue_item turn;       /* first, so that one is the other */
    const struct scrapeconfig_job *job; /* NULL until its set is in use */
    const struct scrapeconfig_kind *kind;
    struct slice instance, url, lines; /* own; a NUL follows `url` */
    struct hash128 identity;
    struct scrapecall *call; /* NULL while none is under way */
    int64_t start_mono_ns;   /* of the call */
    struct scrapeset_health {
        enum scrape_result result;
        int64_t last_ns, last_ok_ns, duration_ns;
        uint64_t body_bytes, n_scrapes, n_failures, n_failures_in_row;
        char last_error[sizeof(((struct error *)0)->text)];
    } health;
    bool is_wanted;                          /* in the set that is being made, */
    const struct scrapeconfig_job *next_job; /* with these */
    const struct scrapeconfig_kind *next_kind;
};

struct scrapeset {
    VEC(struct scrapeset_target *) targets;
    size_t n_dropped, n_refused;
    struct error refusal; /* of one that was refused */
};

/* Makes the set of targets that the jobs and files give: those of `old` that are the same, and new ones, whose first turn
 * is at a moment of the coming interval. `old` stays as it is until scrapeset_replace. Errors: ERR_MEMORY. */
MUST_CHECK int scrapeset_make(struct scrapeset *old, const struct scrapeconfig *config, struct scrapefiles *files,
                              int64_t now_mono_ns, struct scrapeset *ret_set, struct error *err);

/* Puts `next` in the place of `set`: calls `drop` for each target that is no more, and frees it. */
void scrapeset_replace(struct scrapeset *set, struct scrapeset *next,
                       void (*drop)(void *context, struct scrapeset_target *target), void *context);

/* Frees a set that was made but is not to replace the old one, which made it. */
void scrapeset_discard(struct scrapeset *next);

/* Frees the targets; none may have a call. */
void scrapeset_done(struct scrapeset *set);
