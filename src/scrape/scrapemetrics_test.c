// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapemetrics.h"

#include "base/test.h"

TEST(scrapemetrics_of_the_first_scraper_are_shown)
{
    AUTO(buffer_done) struct buffer text;
    struct scrapemetrics first, second;

    buffer_init(&text, 0);
    scrapemetrics_init(&first);
    scrapemetrics_init(&second);
    CHECK(first.metrics && !second.metrics);
    scrapemetrics_set(&first, SCRAPEMETRIC_TARGETS, 3);
    scrapemetrics_set(&second, SCRAPEMETRIC_TARGETS, 4);
    scrapemetrics_count(&first, SLICE("memory"), "ok", 2000000000, 50);
    scrapemetrics_count(&second, SLICE("memory"), "ok", 2000000000, 50);
    scrapemetrics_count_late(&first);
    scrapemetrics_count_late(&second);
    metrics_write(&text);
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_targets 3\n");
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_scrapes_total{kind=\"memory\",result=\"ok\"} 1\n");
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_scrapes_late_total 1\n");
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_duration_seconds_bucket{le=\"3\"} 1\n");
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_body_bytes_total 50\n");
    scrapemetrics_done(&second);
    scrapemetrics_done(&first);
}
