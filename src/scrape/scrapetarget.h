// SPDX-License-Identifier: Apache-2.0
/* From a job and an address to what is asked for: one target for each address and kind of profile, with its URL and its
 * labels, as relabelling leaves them.
 *
 * Relabelling sees the labels of the group, and
 *     __address__        host:port; without a port it is that of the scheme
 *     __scheme__         http or https
 *     __name__           what the profiles are called: process_cpu, memory, goroutine, mutex, block, ...
 *     __profile_path__   the path of the URL
 *     __param_NAME       the first value of each of `params`
 *     __scrape_interval__, __scrape_timeout__   for reading only
 *     job                the job's name
 * Behind it, `instance` is the address and `service_name` the job unless they are set, and labels that begin with "__"
 * are gone. */
#pragma once

#include "base/hash.h"
#include "scrape/scrapeconfig.h"

#define SCRAPETARGET_URL_MAX 8192

/* What there is to know about a target before it lives. Texts live until `take` returns. */
struct scrapetarget_plan {
    const struct scrapeconfig_job *job;
    const struct scrapeconfig_kind *kind;
    struct slice address;  /* __address__ as relabelling left it */
    struct slice instance; /* the label */
    struct slice url;
    struct slice lines;      /* the labels as an upload has them: scrape.h */
    struct hash128 identity; /* of all that makes a difference, the job's settings included */
};

/* Whom plans are for; all of it lives until they are made. */
struct scrapetarget_maker {
    struct relabel_scratch *scratch;
    struct arena *arena; /* for the texts of one plan; reset before the next */
    int (*take)(void *context, const struct scrapetarget_plan *plan, struct error *err);
    void *context;
    size_t n_dropped; /* by relabelling; added up */
    size_t n_refused; /* likewise; `refusal` says why for the last */
    struct error refusal;
};

/* Calls `take` for each target that an address of the group gives. One whose labels make no URL, that has too many of
 * them or that `take` refuses is counted as refused, and the others go on. Errors: ERR_MEMORY. */
MUST_CHECK int scrapetarget_plan(struct scrapetarget_maker *maker, const struct scrapeconfig_job *job,
                                 const struct scrapeconfig_group *group, struct error *err);
