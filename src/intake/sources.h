// SPDX-License-Identifier: Apache-2.0
/* Who sends, and what became of it: one row for each (tenant, service, kind of sender), so that delivery can be proved.
 *
 * There are at most SOURCES_MAX rows; beyond them the one seen longest ago makes way and its numbers go to the row of
 * "other" of its tenant, so that sums stay right. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#define SOURCES_MAX     4096
#define SOURCES_UNKNOWN "unknown_service" /* the service of what names none */

enum source_reason {                        /* why something was dropped */
                     SOURCE_INVALID,        /* could not be read */
                     SOURCE_OUTSIDE_WINDOW, /* too old, or too far ahead */
                     SOURCE_LIMIT,          /* too large, too many series */
                     SOURCE_OVERLOAD,       /* neither queue nor spill file had room */
                     SOURCE_FAILED,         /* the store could not keep it */
                     SOURCE_REASONS
};
const char *source_reason_name(enum source_reason reason);

/* Numbers are of profiles, but for n_uploads, n_samples (of the profiles stored) and n_bytes. An upload and its bytes count
 * for the service that it names first. */
struct source_counts {
    uint64_t n_uploads;
    uint64_t n_seen, n_stored;
    uint64_t n_downsampled; /* left out, since there were too many; others count for them */
    uint64_t n_weighted;    /* of those stored: how many count for others too */
    uint64_t n_dropped[SOURCE_REASONS];
    uint64_t n_spilled; /* of those stored: how many lay in the spill file before */
    uint64_t n_samples, n_bytes;
};

struct source_row {
    struct slice tenant, service, sender; /* sender: "ingest gospy", "otlp OTel-OTLP-Exporter-Go/1.47.0" */
    struct source_counts counts;
    int64_t first_ns, last_ns;
    int64_t last_error_ns; /* 0 = never */
    char last_error[248];
};

struct sources;
MUST_CHECK int sources_new(struct sources **ret_sources, struct error *err);
void sources_free(struct sources *sources);

/* Adds to the row of a source, which is made if it is new. `error` is NULL when all went well. Cannot fail: where memory
 * runs out the numbers go to "other". Thread: any. */
void sources_count(struct sources *sources, struct slice tenant, struct slice service, struct slice sender,
                   int64_t now_ns, const struct source_counts *counts, const struct error *error);

/* Calls `visit` for every row, sorted by tenant, service and sender; -1 ends it. `visit` may not come back here. */
MUST_CHECK int sources_each(struct sources *sources,
                            int (*visit)(void *context, const struct source_row *row, struct error *err), void *context,
                            struct error *err);
