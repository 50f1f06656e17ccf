// SPDX-License-Identifier: Apache-2.0
#include "demo/telemetry.h"

#include "base/clock.h"
#include "base/test.h"
#include "demo/shopwork.h"
#include "wire/otlp.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define MS (CLOCK_NS_PER_SECOND / 1000)

/* What was posted, by path; the profiles are kept. */
struct office {
    _Atomic uint32_t n_traces, n_metrics, n_profiles;
    struct buffer profiles[8]; /* of the outbox, until it has ended */
};

static int post(void *context, const char *path, struct slice body, struct error *err)
{
    struct office *office = context;

    if (strcmp(path, "/v1/traces") == 0) {
        atomic_fetch_add(&office->n_traces, 1);
    } else if (strcmp(path, "/v1/metrics") == 0) {
        atomic_fetch_add(&office->n_metrics, 1);
    } else if (strcmp(path, "/v1development/profiles") == 0) {
        uint32_t n = atomic_load(&office->n_profiles);

        if (n < ARRAY_LEN(office->profiles)) {
            buffer_init(&office->profiles[n], 0);
            buffer_append_slice(&office->profiles[n], body);
            atomic_store(&office->n_profiles, n + 1);
        }
    } else {
        return error_set(err, ERR_INVALID, "no such path: %s", path);
    }
    return 0;
}

static struct telemetry *start(struct office *office, int64_t version_every_ns)
{
    struct telemetry_options options = { .service = "shop",
                                         .releases = { clock_mono_ns(), version_every_ns },
                                         .world = { .post = post, .context = office } };
    struct telemetry *telemetry = NULL;
    struct error err;

    CHECK_OK(telemetry_start(&options, &telemetry, &err), &err);
    return telemetry;
}

static void work_for(struct telemetry *telemetry, int64_t duration_ns)
{
    int64_t end_ns = clock_mono_ns() + duration_ns;
    struct shopwork work;

    shopwork_init(&work, 1);
    while (clock_mono_ns() < end_ns) {
        struct tracer_span span;

        tracer_begin(telemetry_tracer(telemetry), "work", SPAN_INTERNAL, 0, NULL, &span);
        shopwork_do(&work, SHOPWORK_RENDER_REPORT);
        tracer_end(telemetry_tracer(telemetry), &span);
    }
}

static void measure(void *context, struct procmetrics *metrics)
{
    atomic_fetch_add((_Atomic int *)context, 1);
    procmetrics_gauge(metrics, "hearth.demo.queue", "{request}", 1);
}

/* The version of the profile; every sample of it that has a link has a whole one. */
static struct slice version_of(const struct batch *batch, uint32_t *n_linked)
{
    const struct profile *profile = &batch->profiles[0];
    const struct label *label = tables_find_label(&batch->tables, profile->resource, SLICE("service.version"));

    CHECK(label != NULL);
    for (uint32_t i = 0; i < profile->n_samples; i++)
        *n_linked += profile_link(profile, i) != 0;
    return tables_string(&batch->tables, label->text);
}

TEST(telemetry_sends_spans_metrics_and_profiles)
{
    struct office office = { 0 };
    struct telemetry *telemetry = start(&office, 700 * MS);
    _Atomic int n_measured = 0;
    uint32_t n_versions[2] = { 0 }, n_linked = 0;

    telemetry_measure(telemetry, measure, (void *)&n_measured);
    work_for(telemetry, 1600 * MS);
    telemetry_measure(telemetry, NULL, NULL);
    telemetry_stop(telemetry);
    CHECK(office.n_traces >= 1 && office.n_metrics >= 1 && n_measured >= 1);
    for (uint32_t i = 0; i < office.n_profiles; i++) {
        struct batch batch;
        struct error err;

        batch_init(&batch, NULL);
        CHECK_OK(otlp_decode(buffer_slice(&office.profiles[i]), &batch, &err), &err);
        n_versions[slice_is(version_of(&batch, &n_linked), "1.1.0")]++;
        batch_done(&batch);
        buffer_done(&office.profiles[i]);
    }
    CHECK(n_versions[0] >= 1 && n_versions[1] >= 1); /* no window is of both */
    CHECK(n_linked > 0);
}

static int start_and_stop(void *context, struct error *err)
{
    struct telemetry_options options = { .service = "shop", .world = { .post = post, .context = context } };
    struct telemetry *telemetry;

    if (telemetry_start(&options, &telemetry, err) < 0)
        return -1;
    telemetry_stop(telemetry);
    return 0;
}

TEST(telemetry_reports_that_memory_ran_out)
{
    struct office office = { .n_profiles = ARRAY_LEN(office.profiles) };

    test_each_allocation_failing(start_and_stop, &office);
    telemetry_stop(NULL);
}
