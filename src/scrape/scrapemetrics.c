// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapemetrics.h"

static const double durations[] = { 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100 };

const struct metric_spec scrapemetrics_specs[SCRAPEMETRICS] = {
    [SCRAPEMETRIC_TARGETS] = { "hearth_scrape_targets", METRIC_GAUGE, NULL,
                               "Targets, one for each address and kind of profile." },
    [SCRAPEMETRIC_FAILING] = { "hearth_scrape_targets_failing", METRIC_GAUGE, NULL,
                               "Targets whose last scrape went wrong." },
    [SCRAPEMETRIC_DROPPED] = { "hearth_scrape_targets_dropped", METRIC_GAUGE, NULL,
                               "Targets that relabelling leaves out." },
    [SCRAPEMETRIC_REFUSED] = { "hearth_scrape_targets_refused", METRIC_GAUGE, NULL,
                               "Targets whose labels make no URL, or that are too many." },
    [SCRAPEMETRIC_FILES_FAILING] = { "hearth_scrape_files_failing", METRIC_GAUGE, NULL,
                                     "Files of targets that cannot be read." },
    [SCRAPEMETRIC_RUNNING] = { "hearth_scrape_requests_running", METRIC_GAUGE, NULL, "Requests under way." },
    [SCRAPEMETRIC_SCRAPES] = { "hearth_scrape_scrapes", METRIC_COUNTER, NULL, "Scrapes that ended.",
                               .labels = { "kind", "result" }, .max_series = 256 },
    [SCRAPEMETRIC_LATE] = { "hearth_scrape_scrapes_late", METRIC_COUNTER, NULL,
                            "Scrapes that began over a second late, because as many as allowed were under way." },
    [SCRAPEMETRIC_DURATION] = { "hearth_scrape_duration", METRIC_HISTOGRAM, "seconds", "How long scrapes took.",
                                .buckets = durations, .n_buckets = ARRAY_LEN(durations) },
    [SCRAPEMETRIC_BODY] = { "hearth_scrape_body", METRIC_COUNTER, "bytes", "What targets answered." },
};

void scrapemetrics_init(struct scrapemetrics *metrics)
{
    struct error err;

    metrics->metrics = NULL;
    if (metrics_register(scrapemetrics_specs, SCRAPEMETRICS, &metrics->metrics, &err) < 0)
        metrics->metrics = NULL; /* another scraper of this process has them, or memory is short: count nothing */
}

void scrapemetrics_done(struct scrapemetrics *metrics)
{
    metrics_unregister(metrics->metrics);
    metrics->metrics = NULL;
}

void scrapemetrics_set(struct scrapemetrics *metrics, enum scrapemetric metric, double value)
{
    if (metrics->metrics)
        metrics_set(metrics_get(metrics->metrics, metric), value);
}

void scrapemetrics_count_late(struct scrapemetrics *metrics)
{
    if (metrics->metrics)
        metrics_add(metrics_get(metrics->metrics, SCRAPEMETRIC_LATE), 1);
}

void scrapemetrics_count(struct scrapemetrics *metrics, struct slice kind, const char *result, int64_t duration_ns,
                         uint64_t body_bytes)
{
    if (!metrics->metrics)
        return;
    metrics_add(
        metrics_get_labelled(metrics->metrics, SCRAPEMETRIC_SCRAPES, (struct slice[]){ kind, slice_from(result) }), 1);
    metrics_observe(metrics_get(metrics->metrics, SCRAPEMETRIC_DURATION), (double)duration_ns / 1e9);
    metrics_add(metrics_get(metrics->metrics, SCRAPEMETRIC_BODY), body_bytes);
}
