// SPDX-License-Identifier: Apache-2.0
/* From uploads to the store: unpacks, decodes, puts labels, types and windows in order, makes deltas of what only ever
 * rises, and writes.
 *
 * I1  intake_take returns 0 when what the receipt counts as stored is kept (store.h, S1). What could not be kept of an
 *     upload that else was is counted and told in the receipt, and the rest is stored.
 * I2  Every window is [start, end), whatever the sender means by its time (intakewindow.h).
 * I3  trace, span and profile ids are links, in whichever spelling they came; never labels of series.
 * I4  Bodies are bounded before and after unpacking, and so is what they become in memory.
 * I5  Each upload counts for its source: the tenant, the service and the kind of sender (sources.h).
 * I6  At the first trouble of the store the rest of an upload is left for another time. That is not counted before it is
 *     certain that nobody tries it again: by intake_give_up. Whoever does gives the upload the progress of the receipt;
 *     then nothing is stored or counted twice. */
#pragma once

#include "intake/profilecounters.h"
#include "intake/sources.h"
#include "intake/upload.h"
#include "store/store.h"

struct intake_options {
    struct store *store;                     /* outlives the intake */
    const char *data_dir;                    /* where deltas keep their state; NULL = in memory only */
    uint64_t max_body_bytes;                 /* before and after unpacking; 0 = 64 MiB */
    struct profile_limits limits;            /* of decoding; zeros = the defaults */
    struct profilecounters_options counters; /* max_rows 0 = none */
};

struct intake;
MUST_CHECK int intake_new(const struct intake_options *options, struct intake **ret_intake, struct error *err);
/* Writes what deltas must remember. Nobody may still use it. Accepts NULL. */
void intake_free(struct intake *intake);

/* What a thread needs to take uploads, kept between them. */
struct intake_worker;
MUST_CHECK int intake_worker_new(struct intake *intake, struct intake_worker **ret_worker, struct error *err);
void intake_worker_free(struct intake_worker *worker);

/* What became of one upload. */
struct intake_receipt {
    uint32_t n_profiles; /* that came */
    uint32_t n_stored;   /* now or before (same id) */
    uint32_t n_rejected; /* `rejection` says why for the first */
    uint32_t
        n_failed; /* for a trouble of the store, so that they may be kept another time (I6); `failure` says which */
    uint64_t n_samples; /* stored */
    uint64_t inflated_bytes;
    struct upload_progress progress; /* for the next try */
    struct error rejection, failure;
    struct slice service; /* of the first profile; valid until the worker's next upload */
};

/* Takes one upload. Errors, when nothing was stored: ERR_INVALID, ERR_CORRUPT, ERR_UNSUPPORTED, ERR_VERSION (what is
 * wrong with it, and the cure), ERR_LIMIT (too large, too many series), ERR_FULL, ERR_BUSY, ERR_MEMORY, ERR_IO. Either
 * way the receipt is filled in and the source has counted it, but for what failed (I6). Thread: any; a worker is used by
 * one at a time. */
MUST_CHECK int intake_take(struct intake_worker *worker, const struct upload *upload,
                           struct intake_receipt *ret_receipt, struct error *err);

/* Inflates a body that brings something else than profiles, within the same bounds: `coding` is its Content-Encoding.
 * `*ret_content` is valid until the worker's next body. Errors: ERR_CORRUPT, ERR_UNSUPPORTED, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int intake_unpack(struct intake_worker *worker, struct slice coding, struct slice body,
                             struct slice *ret_content, struct error *err);
/* Lets go of what a single large body needed: to be called behind it. */
void intake_trim(struct intake_worker *worker);

/* Counts what failed of the worker's last upload as dropped, since it is not tried again. Does nothing if nothing failed or
 * it was done already. */
void intake_give_up(struct intake_worker *worker, const struct upload *upload);

/* Who sent what and what became of it, for status pages. */
struct sources *intake_sources(struct intake *intake);
/* What they come to, for metrics; NULL if nobody counts. */
struct profilecounters *intake_counters(struct intake *intake);
