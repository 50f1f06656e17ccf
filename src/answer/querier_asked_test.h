// SPDX-License-Identifier: Apache-2.0
/* For tests of querier.v1: a store with some profiles at 12:00, and calls in JSON about the last half hour. */
#pragma once

#include "answer/asked_test.h"

#define CPU "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

static inline void querier_asked_begin(struct asked *asked)
{
    asked_begin(asked);
    STORE_SAMPLE_WRITE(
        &asked->sample,
        { .at = "15T11:50", .service = "api", .labels = "zone=eu", .samples = "main 2 20 | main;work 1 10 @0a-01" },
        { .at = "15T11:55", .service = "api", .labels = "zone=us", .samples = "main;work 4 40 | main;work 1 2 @0a-02" },
        { .at = "15T12:00", .service = "web", .samples = "idle 5 50" },
        { .at = "15T11:50",
          .service = "heap",
          .types = "inuse_objects/count inuse_space/bytes",
          .samples = "main 1 100" },
        { .at = "15T11:51",
          .service = "heap",
          .types = "inuse_objects/count inuse_space/bytes",
          .samples = "main 1 100" });
}

static inline long long querier_asked_ms(const char *at)
{
    return (long long)(store_sample_time(at) / 1000000);
}

/* Calls with `fields` and, before them, the time from 11:40 to 12:00. */
static inline int querier_ask(struct asked *asked, void (*handler)(struct exchange *exchange), const char *fields)
{
    static char request[4096];

    snprintf(request, sizeof(request), "{\"start\":%lld,\"end\":\"%lld\"%s%s}", querier_asked_ms("15T11:40"),
             querier_asked_ms("15T12:00"), *fields ? "," : "", fields);
    return asked_call(asked, handler, "application/json", slice_from(request));
}
