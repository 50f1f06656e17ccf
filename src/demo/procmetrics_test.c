// SPDX-License-Identifier: Apache-2.0
#include "demo/procmetrics.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/test.h"
#include "metric/otlpmetrics.h"

#include <string.h>

static const struct framesampler_label resource[] = { { "service.name", "report" } };

static double value_of(const struct procmetrics *metrics, const char *name)
{
    for (uint32_t i = 0; i < metrics->n; i++)
        if (slice_is(metrics->series[i].name, name))
            return metrics->points[i].value;
    test_fail(__FILE__, __LINE__, "there is no %s", name);
}

TEST(procmetrics_know_the_own_process)
{
    struct procmetrics before, after;
    struct error err;
    char *bytes;

    procmetrics_init(&before, clock_now_ns(), 1);
    procmetrics_add_own(&before);
    CHECK(value_of(&before, "process.memory.usage") > 1 << 19);
    CHECK(value_of(&before, "process.memory.virtual") >= value_of(&before, "process.memory.usage"));
    CHECK(value_of(&before, "process.thread.count") >= 1);
    CHECK(value_of(&before, "process.open_file_descriptor.count") >= 3);
    CHECK(value_of(&before, "process.cpu.time") >= 0);
    bytes = memory_alloc(8 << 20, &err);
    CHECK(bytes != NULL);
    memset(bytes, 1, 8 << 20);
    procmetrics_init(&after, clock_now_ns(), 1);
    procmetrics_add_own(&after);
    CHECK(value_of(&after, "process.memory.usage") >= value_of(&before, "process.memory.usage"));
    memory_free(bytes);
}

TEST(procmetrics_are_sent_with_their_resource)
{
    static const double bounds[] = { 0.1, 1 };
    static const uint64_t counts[] = { 1, 2, 3 };
    struct procmetrics metrics;
    struct otlpmetrics_read read;
    struct buffer body;
    struct arena arena;
    struct error err;

    procmetrics_init(&metrics, 2000, 1000);
    procmetrics_add_own(&metrics);
    procmetrics_gauge(&metrics, "hearth.demo.queue", "{request}", 7);
    procmetrics_histogram(&metrics, "hearth.demo.duration", "s",
                          &(struct metric_histogram){ .sum = 5, .bounds = bounds, .counts = counts, .n_bounds = 2 });
    buffer_init(&body, 0);
    arena_init(&arena, 1 << 20);
    procmetrics_encode(&metrics, resource, ARRAY_LEN(resource), &body);
    CHECK_OK(buffer_check(&body, &err), &err);
    CHECK_OK(otlpmetrics_decode(buffer_slice(&body), false, &arena, &read, &err), &err);
    CHECK_EQ(read.points.n, metrics.n);
    CHECK_EQ(read.n_rejected, 0);
    arena_done(&arena);
    buffer_done(&body);
}

TEST(procmetrics_have_a_bound)
{
    struct procmetrics metrics;

    procmetrics_init(&metrics, 2000, 1000);
    for (int i = 0; i < PROCMETRICS_MAX_POINTS + 3; i++) {
        procmetrics_sum(&metrics, "hearth.demo.requests", "{request}", i);
        procmetrics_histogram(&metrics, "hearth.demo.duration", "s", &(struct metric_histogram){ 0 });
    }
    CHECK_EQ(metrics.n, PROCMETRICS_MAX_POINTS);
}
