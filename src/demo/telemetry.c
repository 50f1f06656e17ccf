// SPDX-License-Identifier: Apache-2.0
#include "demo/telemetry.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "unwind/selfprofile.h"
#include "wire/otlp.h"

#include <stdio.h>
#include <unistd.h>

#define MS               (CLOCK_NS_PER_SECOND / 1000)
#define TICK_NS          (200 * MS)
#define SPANS_EVERY_NS   CLOCK_NS_PER_SECOND
#define METRICS_EVERY_NS (5 * CLOCK_NS_PER_SECOND)
#define FIRST_NS         (800 * MS) /* when the first of both are sent */
#define FIRST_WINDOWS    3
#define FIRST_WINDOW_NS  (2 * CLOCK_NS_PER_SECOND)
#define WINDOW_NS        (10 * CLOCK_NS_PER_SECOND)
#define HOST_BYTES       65
#define INSTANCE_BYTES   64

#define TRACES_PATH   "/v1/traces"
#define METRICS_PATH  "/v1/metrics"
#define PROFILES_PATH "/v1development/profiles"

/* What describes the process. The version is the last: metrics are of a process that has been all of them, and go without. */
enum { SERVICE_AT, INSTANCE_AT, HOST_AT, ENVIRONMENT_AT, VERSION_AT, RESOURCE_LABELS };
#define METRICS_LABELS VERSION_AT

struct telemetry {
    struct telemetry_options options;
    char host[HOST_BYTES], instance[INSTANCE_BYTES];
    struct framesampler_label resource[RESOURCE_LABELS]; /* the version in it is that of the window */
    struct tracer *tracer;
    struct outbox *outbox;
    struct selfprofile *profile;
    struct selfprofile_recording *recording; /* of the thread, as the rest */
    uint32_t n_windows;
    int64_t window_end_mono_ns;
    int64_t spans_mono_ns, metrics_mono_ns; /* when they are due */
    int64_t start_ns;
    struct buffer body;
    struct lock_mutex lock;
    void (*measure)(void *context, struct procmetrics *metrics); /* guarded by lock, as the next */
    void *measure_context;
    struct thread thread;
};

/* Sends what the body holds, if it holds all of it. */
static void send(struct telemetry *telemetry, const char *path)
{
    struct error ignored;

    if (buffer_check(&telemetry->body, &ignored) == 0)
        outbox_push(telemetry->outbox, path, &telemetry->body);
    buffer_clear(&telemetry->body);
}

/* --- spans and metrics --- */

static void send_spans(struct telemetry *telemetry)
{
    struct error ignored;
    size_t n = 0;

    IGNORE(tracer_encode(telemetry->tracer, &telemetry->body, &n, &ignored), "without memory they are lost");
    if (n > 0)
        send(telemetry, TRACES_PATH);
}

static void send_metrics(struct telemetry *telemetry)
{
    struct procmetrics metrics;

    procmetrics_init(&metrics, clock_now_ns(), telemetry->start_ns);
    procmetrics_add_own(&metrics);
    lock_mutex_acquire(&telemetry->lock);
    if (telemetry->measure)
        telemetry->measure(telemetry->measure_context, &metrics);
    /* under the lock, since points borrow from whoever measured */
    procmetrics_encode(&metrics, telemetry->resource, METRICS_LABELS, &telemetry->body);
    lock_mutex_release(&telemetry->lock);
    send(telemetry, METRICS_PATH);
}

void telemetry_measure(struct telemetry *telemetry, void (*measure)(void *context, struct procmetrics *metrics),
                       void *context)
{
    LOCK_SCOPE(&telemetry->lock);
    telemetry->measure = measure;
    telemetry->measure_context = context;
}

/* --- profiles --- */

static void begin_window(struct telemetry *telemetry, int64_t mono_ns)
{
    const struct releases *releases = &telemetry->options.releases;
    int64_t window_ns = telemetry->n_windows < FIRST_WINDOWS ? FIRST_WINDOW_NS : WINDOW_NS;
    struct error ignored;

    telemetry->resource[VERSION_AT].value = releases_name(releases_at(releases, mono_ns));
    telemetry->window_end_mono_ns = MIN(mono_ns + window_ns, releases_end_ns(releases, mono_ns));
    telemetry->n_windows++;
    if (selfprofile_begin(telemetry->profile, &telemetry->recording, &ignored) < 0)
        telemetry->recording = NULL; /* for want of memory or of timers: the next one, maybe */
}

static int encode_profile(const struct batch *batch, struct buffer *body, struct error *err)
{
    struct format_write_options plain = { .plain = true, .type = PROFILE_NO_TYPE };

    return otlp_encode(batch, &plain, body, err);
}

static void end_window(struct telemetry *telemetry)
{
    struct error ignored;
    struct batch batch;

    if (!telemetry->recording)
        return;
    batch_init(&batch, NULL);
    if (selfprofile_end(telemetry->profile, TAKE(telemetry->recording), &batch, &ignored) == 0 &&
        batch.profiles[0].n_samples > 0 && encode_profile(&batch, &telemetry->body, &ignored) == 0)
        send(telemetry, PROFILES_PATH);
    buffer_clear(&telemetry->body);
    batch_done(&batch);
}

/* --- the thread --- */

static void look(struct telemetry *telemetry)
{
    int64_t now_ns = clock_mono_ns();

    if (now_ns >= telemetry->spans_mono_ns) {
        send_spans(telemetry);
        telemetry->spans_mono_ns = now_ns + SPANS_EVERY_NS;
    }
    if (now_ns >= telemetry->metrics_mono_ns) {
        send_metrics(telemetry);
        telemetry->metrics_mono_ns = now_ns + METRICS_EVERY_NS;
    }
    if (now_ns >= telemetry->window_end_mono_ns) {
        end_window(telemetry);
        begin_window(telemetry, clock_mono_ns());
    }
}

/* When there is something to do, so that releases change on time. */
static int64_t pause_ns(const struct telemetry *telemetry)
{
    return MAX(MIN(telemetry->window_end_mono_ns - clock_mono_ns(), TICK_NS), 1);
}

static void run(struct thread *thread, void *context)
{
    struct telemetry *telemetry = context;

    begin_window(telemetry, clock_mono_ns());
    while (thread_sleep(thread, pause_ns(telemetry)))
        look(telemetry);
    end_window(telemetry);
    send_spans(telemetry);
}

/* --- the whole --- */

static void describe(struct telemetry *telemetry)
{
    if (gethostname(telemetry->host, sizeof(telemetry->host)) < 0)
        snprintf(telemetry->host, sizeof(telemetry->host), "unknown");
    telemetry->host[HOST_BYTES - 1] = '\0';
    snprintf(telemetry->instance, sizeof(telemetry->instance), "%s-%d", telemetry->options.service, (int)getpid());
    telemetry->resource[SERVICE_AT] = (struct framesampler_label){ "service.name", telemetry->options.service };
    telemetry->resource[VERSION_AT] = (struct framesampler_label){ "service.version", releases_name(0) };
    telemetry->resource[INSTANCE_AT] = (struct framesampler_label){ "service.instance.id", telemetry->instance };
    telemetry->resource[HOST_AT] = (struct framesampler_label){ "host.name", telemetry->host };
    telemetry->resource[ENVIRONMENT_AT] = (struct framesampler_label){ "deployment.environment", "demo" };
}

static int start_parts(struct telemetry *telemetry, struct error *err)
{
    struct selfprofile_options profile = { .rate_hz = TELEMETRY_RATE_HZ,
                                           .resource = telemetry->resource,
                                           .n_resource = RESOURCE_LABELS };

    if (tracer_new(telemetry->resource, RESOURCE_LABELS, &telemetry->tracer, err) < 0 ||
        outbox_start(&telemetry->options.world, &telemetry->outbox, err) < 0 ||
        selfprofile_new(&profile, &telemetry->profile, err) < 0)
        return -1;
    telemetry->start_ns = clock_now_ns();
    telemetry->spans_mono_ns = telemetry->metrics_mono_ns = clock_mono_ns() + FIRST_NS;
    return thread_start(&telemetry->thread, "telemetry", run, telemetry, err);
}

int telemetry_start(const struct telemetry_options *options, struct telemetry **ret_telemetry, struct error *err)
{
    struct telemetry *telemetry = MEMORY_NEW(struct telemetry, err);

    if (!telemetry)
        return -1;
    telemetry->options = *options;
    lock_mutex_init(&telemetry->lock, LOCK_DEMO_MEASURE);
    buffer_init(&telemetry->body, 0);
    describe(telemetry);
    if (start_parts(telemetry, err) < 0) {
        telemetry_stop(telemetry);
        return -1;
    }
    *ret_telemetry = telemetry;
    return 0;
}

void telemetry_stop(struct telemetry *telemetry)
{
    if (!telemetry)
        return;
    thread_stop(&telemetry->thread);
    outbox_stop(telemetry->outbox);
    selfprofile_free(telemetry->profile);
    tracer_free(telemetry->tracer);
    buffer_done(&telemetry->body);
    lock_mutex_done(&telemetry->lock);
    memory_free(telemetry);
}

struct tracer *telemetry_tracer(struct telemetry *telemetry)
{
    return telemetry->tracer;
}
