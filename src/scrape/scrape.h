// SPDX-License-Identifier: Apache-2.0
/* Scraping: asks programs for their profiles, over HTTP, as net/http/pprof of Go and its like serve them.
 *
 * One thread asks all targets. A target is one address and one kind of profile; the first request comes at a moment of
 * the interval that depends on the target, so that requests are spread, and the next ones an interval apart.
 *
 * What a target answers becomes an upload of kind UPLOAD_SCRAPED, given to `take`. Its body is the answer as it came;
 * content_type and content_encoding are those of the answer; received_ns is when the answer was whole. Its query has
 * the labels, one `name=value` a line, first these:
 *     __name__=NAME          always: what the profiles are called: process_cpu, memory, goroutine, mutex, block,
 *                            threadcreate, fgprof, or the name under which the configuration adds a path
 *     __delta__=false        the numbers are of a window already (?seconds=N was asked for, or the target makes deltas
 *                            itself): none is to be made. Without it the answer may have numbers since the start of the
 *                            target (alloc_*, contentions, delay), of which deltas are to be made, beside levels
 *                            (inuse_*, goroutine)
 *     __interval_ns__=N      always: nanoseconds from one request to the next, the window of an answer that names none
 * and then those of the series, sorted: `instance` and `service_name` always, `job` unless relabelling takes it away, none
 * that begins with "__". No
 * value holds a line feed.
 *
 * S1  An answer is bounded (64 MiB by default), and so is the memory of all together and the number of requests.
 * S2  A target that answers 404, and one whose CPU profiler somebody else uses, is asked again only after minutes.
 * S3  Only http and https are spoken, in redirects too, of which three are followed; credentials stay with the host they
 *     are for. */
#pragma once

#include "intake/upload.h"
#include "scrape/scrapeconfig.h"

#define SCRAPE_TARGETS_MAX 100000

/*        name       text */
#define SCRAPE_RESULTS(X)                                                                                              \
    X(PENDING, "pending")         /* not asked yet */                                                                  \
    X(OK, "ok")                   /* answered, and the answer was taken */                                             \
    X(ABSENT, "absent")           /* 404: it has no such profile */                                                    \
    X(CONFLICT, "conflict")       /* another profiler uses the CPU profiler of the target */                           \
    X(HTTP, "http")               /* another status than 200 */                                                        \
    X(TIMEOUT, "timeout")         /* too slow */                                                                       \
    X(TOO_LARGE, "too_large")     /* S1 */                                                                             \
    X(UNREACHABLE, "unreachable") /* no connection, no TLS, no HTTP */                                                 \
    X(REFUSED, "refused")         /* the answer could not be taken: no profile, or no room for it */

enum scrape_result {
#define SCRAPE_ENUM(name, text) SCRAPE_##name,
    SCRAPE_RESULTS(SCRAPE_ENUM)
#undef SCRAPE_ENUM
        SCRAPE_RESULT_COUNT
};
/* "too_large" for SCRAPE_TOO_LARGE. */
const char *scrape_result_name(enum scrape_result result);

struct scrape_options {
    /* Gets each answer, from the scraping thread, which waits for it: -1 with an error makes the scrape SCRAPE_REFUSED.
     * What the upload borrows lives until it returns. */
    int (*take)(void *context, const struct upload *upload, struct error *err);
    void *context;
    struct slice tenant;        /* of the uploads; empty = "anonymous". Copied */
    uint64_t max_body_bytes;    /* of one answer; 0 = 64 MiB */
    uint64_t max_running_bytes; /* of all answers that are being received; 0 = 256 MiB */
    uint32_t max_running;       /* requests at a time; 0 = 1024. Each profile of CPU time takes one most of the time */
    int64_t look_ns;            /* how often to look at files of targets; 0 = 5 s */
    int64_t rarely_ns;          /* S2; 0 = 5 minutes */
};

struct scrape;

/* Begins to scrape; takes the configuration. Errors: ERR_MEMORY, ERR_IO (no thread), ERR_NOT_FOUND (no libcurl); then the configuration is still the
 * caller's. */
MUST_CHECK int scrape_start(const struct scrape_options *options, struct scrapeconfig *config,
                            struct scrape **ret_scrape, struct error *err);
/* Ends all requests and waits for `take` to return. Accepts NULL. */
void scrape_stop(struct scrape *scrape);

/* Scrapes by another configuration, which it takes, from in a moment on. Targets that stay the same keep their turn, a
 * request that is under way and what is known of them. Thread: any. */
void scrape_apply(struct scrape *scrape, struct scrapeconfig *config);

/* What is known of a target. */
struct scrape_row {
    struct slice job, kind; /* kind as in the configuration: "process_cpu", "godeltaprof_memory" */
    struct slice instance;  /* the label */
    struct slice url;
    struct slice labels;        /* lines as above */
    enum scrape_result result;  /* of the last scrape */
    int64_t last_ns;            /* when it ended; 0 = never */
    int64_t last_ok_ns;         /* the same of the last that went well */
    int64_t duration_ns;        /* of the last */
    uint64_t body_bytes;        /* of the last */
    uint64_t n_scrapes;         /* ended, in all */
    uint64_t n_failures;        /* of them */
    uint64_t n_failures_in_row; /* since the last that went well */
    bool is_running;            /* now */
    const char *last_error; /* of the last failure, a sentence that says what to do where that is known; "" = none */
};

/* Calls `visit` for each target, by job and in the order of the configuration; -1 ends it. `visit` may not come back
 * here. Thread: any. */
MUST_CHECK int scrape_each(struct scrape *scrape,
                           int (*visit)(void *context, const struct scrape_row *row, struct error *err), void *context,
                           struct error *err);
