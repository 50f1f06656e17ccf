// SPDX-License-Identifier: Apache-2.0
#include "demo/demo.h"

#include "base/clock.h"
#include "demo/crew.h"
#include "demo/fleet.h"
#include "demo/loader.h"
#include "demo/shopservice.h"
#include "demo/telemetry.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define LOOK_NS (CLOCK_NS_PER_SECOND / 2) /* how often the processes are looked at, where no signal tells of them */

struct demo {
    const struct demo_options *options;
    struct crew crew;
    struct releases releases;
    uint16_t ports[TRUTH_SERVICES];
    enum truth_service hired; /* for the new process: who it is */
    int64_t end_mono_ns;
    sigset_t signals; /* that end it, or say that a process has ended */
};

/* --- one service --- */

/* What members have to say is said by the first, who sends to the same server. */
static struct outbox_world quiet_world(const struct demo *demo)
{
    struct outbox_world world = demo->options->world;

    world.tell = NULL;
    return world;
}

static int serve(struct demo *demo, struct telemetry *telemetry, struct crew_voice *voice, struct error *err)
{
    struct shopservice_options options = { .service = demo->hired,
                                           .n_threads = demo->options->n_threads,
                                           .tracer = telemetry_tracer(telemetry) };
    struct shopservice *service;

    if (truth_n_releases(demo->hired) > 1)
        options.releases = demo->releases;
    for (unsigned i = 0; i < TRUTH_SERVICES; i++)
        options.ports[i] = demo->ports[i];
    if (shopservice_start(&options, &service, err) < 0)
        return -1;
    telemetry_measure(telemetry, shopservice_measure, service);
    crew_ready(voice, shopservice_port(service));
    crew_wait();
    telemetry_measure(telemetry, NULL, NULL);
    shopservice_stop(service);
    return 0;
}

static int run_service(void *context, struct crew_voice *voice, struct error *err)
{
    struct demo *demo = context;
    struct telemetry_options options = { .service = truth_service_name(demo->hired), .world = quiet_world(demo) };
    struct telemetry *telemetry;
    int result;

    if (truth_n_releases(demo->hired) > 1)
        options.releases = demo->releases;
    if (telemetry_start(&options, &telemetry, err) < 0)
        return -1;
    result = serve(demo, telemetry, voice, err);
    telemetry_stop(telemetry);
    return result;
}

static int run_fleet(void *context, struct crew_voice *voice, struct error *err)
{
    struct demo *demo = context;
    struct fleet *fleet;

    if (fleet_start(&(struct fleet_options){ .n_hosts = demo->options->n_fleet, .world = quiet_world(demo) }, &fleet,
                    err) < 0)
        return -1;
    crew_ready(voice, 0);
    crew_wait();
    fleet_stop(fleet);
    return 0;
}

/* --- all of them --- */

/* Those that are called before those that call them: so each knows its ports. */
static int hire_all(struct demo *demo, bool *ret_is_member, struct error *err)
{
    static const enum truth_service order[] = { TRUTH_PAYMENT, TRUTH_INVENTORY, TRUTH_REPORT, TRUTH_SHOP };
    uint16_t none;

    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        demo->hired = order[i];
        if (crew_hire(&demo->crew, truth_service_name(order[i]), run_service, demo, ret_is_member,
                      &demo->ports[order[i]], err) < 0)
            return -1;
        if (*ret_is_member)
            return 0;
    }
    if (demo->options->n_fleet == 0)
        return 0;
    return crew_hire(&demo->crew, FLEET_SERVICE, run_fleet, demo, ret_is_member, &none, err);
}

static int64_t used_ns(void *context)
{
    return clock_cpu_ns() + crew_cpu_ns(context);
}

/* --- the first process --- */

static void tell(const struct demo *demo, const char *text)
{
    if (demo->options->world.tell)
        demo->options->world.tell(demo->options->world.context, false, text);
}

/* Until it is over: 0, or -1 when a process has ended by itself. */
static int wait_for_end(struct demo *demo, struct error *err)
{
    int64_t left_ns;

    while ((left_ns = demo->end_mono_ns - clock_mono_ns()) > 0) {
        int64_t pause_ns = MIN(left_ns, LOOK_NS);
        struct timespec pause = { pause_ns / CLOCK_NS_PER_SECOND, pause_ns % CLOCK_NS_PER_SECOND };
        int signal_number = sigtimedwait(&demo->signals, NULL, &pause);

        if (signal_number > 0 && signal_number != SIGCHLD)
            return 0;
        if (crew_check(&demo->crew, err) < 0)
            return -1;
    }
    return 0;
}

static int load(struct demo *demo, struct telemetry *telemetry, struct error *err)
{
    struct loader_options options = { .port = demo->ports[TRUTH_SHOP],
                                      .n_threads = demo->options->n_threads,
                                      .cpu_share = demo->options->cpu_share,
                                      .used_ns = used_ns,
                                      .context = &demo->crew,
                                      .tracer = telemetry_tracer(telemetry) };
    struct loader_counts counts;
    struct loader *loader;
    char text[120];
    int result;

    if (loader_start(&options, &loader, err) < 0)
        return -1;
    telemetry_measure(telemetry, loader_measure, loader);
    result = wait_for_end(demo, err);
    telemetry_measure(telemetry, NULL, NULL);
    counts = loader_counts(loader);
    loader_stop(loader);
    snprintf(text, sizeof(text), "%llu requests served, %llu of them failed", (unsigned long long)counts.n_served,
             (unsigned long long)counts.n_failed);
    tell(demo, text);
    return result;
}

static int run_first(struct demo *demo, struct error *err)
{
    struct telemetry_options options = { .service = "web", .world = demo->options->world };
    struct telemetry *telemetry;
    int result;

    if (telemetry_start(&options, &telemetry, err) < 0)
        return -1;
    result = load(demo, telemetry, err);
    telemetry_stop(telemetry);
    return result;
}

static void block_signals(sigset_t *ret_set)
{
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGTERM);
    sigaddset(ret_set, SIGINT);
    sigaddset(ret_set, SIGHUP);
    sigaddset(ret_set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, ret_set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int demo_run(const struct demo_options *options, bool *ret_is_first, struct error *err)
{
    struct demo demo = { .options = options,
                         .end_mono_ns = INT64_MAX,
                         .releases = releases_from(clock_mono_ns(), options->version_every_ns) };
    bool is_member = false;
    int result;

    *ret_is_first = true;
    if (options->duration_ns > 0 && __builtin_add_overflow(clock_mono_ns(), options->duration_ns, &demo.end_mono_ns))
        demo.end_mono_ns = INT64_MAX;
    block_signals(&demo.signals);
    result = hire_all(&demo, &is_member, err);
    if (is_member) {
        *ret_is_first = false;
        return 0;
    }
    if (result == 0)
        result = run_first(&demo, err);
    crew_dismiss(&demo.crew);
    return result;
}
