// SPDX-License-Identifier: Apache-2.0
/* What scraping counts for /metrics. The table is the truth: docs/reference/metrics.md comes from it. */
#pragma once

#include "base/metrics.h"

enum scrapemetric {
    SCRAPEMETRIC_TARGETS,
    SCRAPEMETRIC_FAILING,
    SCRAPEMETRIC_DROPPED,
    SCRAPEMETRIC_REFUSED,
    SCRAPEMETRIC_FILES_FAILING,
    SCRAPEMETRIC_RUNNING,
    SCRAPEMETRIC_SCRAPES,
    SCRAPEMETRIC_LATE,
    SCRAPEMETRIC_DURATION,
    SCRAPEMETRIC_BODY,
    SCRAPEMETRICS,
};

extern const struct metric_spec scrapemetrics_specs[SCRAPEMETRICS];

struct scrapemetrics {
    struct metrics *metrics; /* NULL: not shown, nothing is counted */
};

/* Shows the metrics from now on. Of several scrapers in a process the first is shown. */
void scrapemetrics_init(struct scrapemetrics *metrics);
void scrapemetrics_done(struct scrapemetrics *metrics);

/* A gauge to a value.  Thread: any, these and those below. */
void scrapemetrics_set(struct scrapemetrics *metrics, enum scrapemetric metric, double value);
void scrapemetrics_count_late(struct scrapemetrics *metrics);
/* One scrape that ended. */
void scrapemetrics_count(struct scrapemetrics *metrics, struct slice kind, const char *result, int64_t duration_ns,
                         uint64_t body_bytes);
