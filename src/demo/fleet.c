// SPDX-License-Identifier: Apache-2.0
#include "demo/fleet.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "demo/truth.h"
#include "profile/builder.h"
#include "unwind/selfprofile.h"
#include "wire/otlp.h"

#include <stdio.h>

#define RATE_HZ      499
#define RECORDED     15 /* checkouts: some hundred milliseconds of CPU */
#define PERIOD_NS    (FLEET_PERIOD_S * CLOCK_NS_PER_SECOND)
#define PATH         "/v1development/profiles"
#define HOSTS_A_NODE 8

enum { SAMPLES, CPU }; /* the values of a recorded profile */

struct fleet {
    struct fleet_options options;
    struct outbox *outbox;
    struct thread thread;
    struct shopwork work;
    struct batch recorded[RELEASES]; /* of the thread */
    uint32_t n_recorded;
};

/* --- what is recorded --- */

/* As one who only works: the tasks of a checkout of this release. */
static void do_checkout(struct shopwork *work, uint32_t release)
{
    const struct truth_endpoint *endpoint = truth_endpoint(TRUTH_CHECKOUT);

    for (uint32_t i = 0; i < endpoint->n_tasks; i++)
        if (endpoint->tasks[i].since <= release)
            shopwork_do(work, endpoint->tasks[i].task);
}

static int record(struct fleet *fleet, struct selfprofile *profile, uint32_t release, struct error *err)
{
    struct batch *batch = &fleet->recorded[release];
    struct selfprofile_recording *recording;

    if (selfprofile_begin(profile, &recording, err) < 0)
        return -1;
    for (int i = 0; i < RECORDED && !thread_is_stopping(&fleet->thread); i++)
        do_checkout(&fleet->work, release);
    batch_init(batch, NULL);
    fleet->n_recorded++;
    return selfprofile_end(profile, recording, batch, err);
}

static int record_all(struct fleet *fleet, struct error *err)
{
    struct selfprofile *profile;
    int result = 0;

    if (selfprofile_new(&(struct selfprofile_options){ .rate_hz = RATE_HZ }, &profile, err) < 0)
        return -1;
    for (uint32_t release = 0; result == 0 && release < RELEASES; release++)
        result = record(fleet, profile, release, err);
    selfprofile_free(profile);
    return result;
}

/* --- what is made of it --- */

static struct label make_label(struct builder *builder, const char *key, const char *value)
{
    return (struct label){ .key = builder_string(builder, slice_from(key)),
                           .text = builder_string(builder, slice_from(value)),
                           .kind = LABEL_STRING };
}

static uint32_t make_resource(struct builder *builder, uint32_t host)
{
    static const char *const regions[] = { "eu-west", "eu-north", "us-east", "us-west", "ap-south" };
    char pod[32], node[32];

    snprintf(pod, sizeof(pod), FLEET_SERVICE "-%05x", host);
    snprintf(node, sizeof(node), "node-%u", host / HOSTS_A_NODE);
    return builder_label_set(
        builder,
        (struct label[]){ make_label(builder, "service.name", FLEET_SERVICE),
                          make_label(builder, "service.version", releases_name(host % RELEASES)),
                          make_label(builder, "region", regions[host / RELEASES % ARRAY_LEN(regions)]),
                          make_label(builder, "pod", pod), make_label(builder, "host.name", node) },
        5);
}

/* A value between half and one and a half of what was recorded. */
static int64_t vary(int64_t value, uint64_t luck)
{
    return value / 2 + (int64_t)((double)value * (double)(luck >> 11) / (double)(1ull << 53));
}

static void add_host(struct builder *builder, struct builder_import *import, const struct batch *recorded,
                     uint32_t host, int64_t end_ns)
{
    const struct profile *from = &recorded->profiles[0];
    struct profile *profile = builder_import_header(import, from);

    profile->resource = make_resource(builder, host);
    profile->start_ns = end_ns - PERIOD_NS;
    profile->duration_ns = PERIOD_NS;
    for (uint32_t i = 0; i < from->n_samples; i++) {
        uint64_t luck = hash_mix64(((uint64_t)host << 32 | i) ^ (uint64_t)end_ns);
        int64_t cpu_ns = vary(profile_values(from, CPU)[i], luck);
        int64_t values[] = { MAX(cpu_ns / from->period, 1), cpu_ns };

        builder_sample(builder, builder_import_stack(import, from->stacks[i]), 0, 0, values, 0);
    }
}

static void add_hosts(struct fleet *fleet, struct builder *builder, uint32_t first, uint32_t step, uint32_t n,
                      int64_t end_ns)
{
    struct builder_import *imports[RELEASES];

    for (uint32_t release = 0; release < RELEASES; release++)
        imports[release] = builder_import_new(builder, &fleet->recorded[release].tables);
    for (uint32_t i = 0; imports[0] && imports[1] && i < n; i++) {
        uint32_t host = first + i * step;

        add_host(builder, imports[host % RELEASES], &fleet->recorded[host % RELEASES], host, end_ns);
    }
    for (uint32_t release = 0; release < RELEASES; release++)
        builder_import_free(imports[release]);
}

/* One request with the profiles of `n` hosts: `first`, `first` + `step`, ... */
static int send_hosts(struct fleet *fleet, uint32_t first, uint32_t step, uint32_t n, struct error *err)
{
    struct format_write_options plain = { .plain = true, .type = PROFILE_NO_TYPE };
    AUTO(builder_freep) struct builder *builder = NULL;
    AUTO(batch_done) struct batch batch;
    AUTO(buffer_done) struct buffer body;

    batch_init(&batch, NULL);
    buffer_init(&body, 0);
    if (builder_new(NULL, &builder, err) < 0)
        return -1;
    add_hosts(fleet, builder, first, step, n, clock_now_ns());
    if (builder_finish(builder, &batch, err) < 0 || otlp_encode(&batch, &plain, &body, err) < 0)
        return -1;
    outbox_push(fleet->outbox, PATH, &body);
    return 0;
}

/* Each second a tenth of all, so that every host has its turn. */
static int send_turn(struct fleet *fleet, uint64_t turn, struct error *err)
{
    uint32_t first = (uint32_t)(turn % FLEET_PERIOD_S), n_hosts = fleet->options.n_hosts;
    uint32_t left = first < n_hosts ? (n_hosts - first + FLEET_PERIOD_S - 1) / FLEET_PERIOD_S : 0;

    while (left > 0) {
        uint32_t n = MIN(left, (uint32_t)FLEET_REQUEST_HOSTS);

        if (send_hosts(fleet, first, FLEET_PERIOD_S, n, err) < 0)
            return -1;
        first += n * FLEET_PERIOD_S;
        left -= n;
    }
    return 0;
}

/* --- the fleet --- */

static void run(struct thread *thread, void *context)
{
    struct fleet *fleet = context;
    struct error err;

    if (record_all(fleet, &err) < 0) {
        log_error("demo", "there is no fleet: %s", err.text);
        return;
    }
    for (uint64_t turn = 0; thread_sleep(thread, turn > 0 ? CLOCK_NS_PER_SECOND : 0); turn++)
        if (send_turn(fleet, turn, &err) < 0)
            LOG_EVERY(60, LOG_WARN, "demo", "some hosts of the fleet did not send: %s", err.text);
}

int fleet_start(const struct fleet_options *options, struct fleet **ret_fleet, struct error *err)
{
    struct fleet *fleet = MEMORY_NEW(struct fleet, err);

    ASSERT(options->n_hosts >= 1 && options->n_hosts <= FLEET_MAX_HOSTS);
    if (!fleet)
        return -1;
    fleet->options = *options;
    shopwork_init(&fleet->work, 1);
    if (outbox_start(&options->world, &fleet->outbox, err) < 0 ||
        thread_start(&fleet->thread, "fleet", run, fleet, err) < 0) {
        fleet_stop(fleet);
        return -1;
    }
    *ret_fleet = fleet;
    return 0;
}

void fleet_stop(struct fleet *fleet)
{
    if (!fleet)
        return;
    thread_stop(&fleet->thread);
    outbox_stop(fleet->outbox);
    for (uint32_t i = 0; i < fleet->n_recorded; i++)
        batch_done(&fleet->recorded[i]);
    memory_free(fleet);
}
