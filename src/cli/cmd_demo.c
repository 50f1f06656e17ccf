// SPDX-License-Identifier: Apache-2.0
/* `hearth demo`: a small program to look at, which profiles itself and sends that to a server. */
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/remotecall.h"
#include "demo/shop.h"
#include "unwind/selfprofile.h"
#include "wire/otlp.h"

#include <errno.h>
#include <signal.h>

#define DEFAULT_URL     "http://127.0.0.1:4040"
#define PATH            "/v1development/profiles"
#define FIRST_WINDOWS   3 /* short ones, so that there is something to see soon */
#define FIRST_WINDOW_NS (2 * CLOCK_NS_PER_SECOND)
#define WINDOW_NS       (10 * CLOCK_NS_PER_SECOND)
#define RETRY_NS        (2 * CLOCK_NS_PER_SECOND)
#define SEND_TIMEOUT_NS (10 * CLOCK_NS_PER_SECOND)

struct demo_config {
    const char *url;
    uint64_t n_threads;
    double cpu_share;
    int64_t duration_ns;
};

static const struct option_spec options[] = {
    { "url", OPTION_TEXT, FIELD(demo_config, url), DEFAULT_URL, "The server to send profiles to.",
      .value_name = "URL" },
    { "threads", OPTION_UINT, FIELD(demo_config, n_threads), "4", "Threads that serve requests.", .min = "1",
      .max = "64" },
    { "cpu", OPTION_PERCENT, FIELD(demo_config, cpu_share), "25%",
      "How much of one processor all threads together use.", .min = "1%", .max = "100%" },
    { "duration", OPTION_DURATION, FIELD(demo_config, duration_ns), "0", "How long to run; 0 = until it is stopped." },
};

static const struct framesampler_label resource[] = {
    { "service.name", "shop" },
    { "service.version", "1.0.0" },
    { "deployment.environment", "demo" },
};

struct demo {
    struct command_context *context;
    const struct demo_config *config;
    struct selfprofile *profile;
    sigset_t signals; /* that end it */
    int64_t end_mono_ns;
    bool is_away; /* the server, as far as was told */
};

/* Waits, but no longer than the demo is to run. False: it is over. */
static bool wait_for(const struct demo *demo, int64_t duration_ns)
{
    int64_t until_ns = MIN(clock_mono_ns() + duration_ns, demo->end_mono_ns), left_ns;

    while ((left_ns = until_ns - clock_mono_ns()) > 0) {
        struct timespec left = { left_ns / CLOCK_NS_PER_SECOND, left_ns % CLOCK_NS_PER_SECOND };

        if (sigtimedwait(&demo->signals, NULL, &left) > 0)
            return false;
    }
    return clock_mono_ns() < demo->end_mono_ns;
}

/* --- sending --- */

static int post(const struct demo *demo, struct slice body, struct error *err)
{
    struct remotecall call = { .url = demo->config->url,
                               .path = PATH,
                               .is_post = true,
                               .parameters = body,
                               .content_type = "application/x-protobuf",
                               .timeout_ns = SEND_TIMEOUT_NS };
    struct remotecall_answer answer;
    int result = remotecall_perform(&call, &answer, err);

    if (result == 0 && answer.status != 200)
        result = error_set(err, ERR_IO, "%.80s answers with status %d: %.*s", demo->config->url, answer.status,
                           SLICE_ARG(slice_sub(buffer_slice(&answer.body), 0, 120)));
    remotecall_done(&answer);
    return result;
}

/* A wrong URL, or no libcurl, does not pass by itself. */
static bool is_hopeless(enum error_code code)
{
    return code == ERR_USAGE || code == ERR_NOT_FOUND || code == ERR_MEMORY;
}

/* Sends until it is taken. 0 also when the demo ends before that. */
static int deliver(struct demo *demo, struct slice body, bool *ret_is_over, struct error *err)
{
    *ret_is_over = false;
    while (post(demo, body, err) < 0) {
        if (is_hopeless(err->code))
            return -1;
        if (!demo->is_away)
            command_warn(demo->context, "%s; trying again every %d s", err->text,
                         (int)(RETRY_NS / CLOCK_NS_PER_SECOND));
        demo->is_away = true;
        if (!wait_for(demo, RETRY_NS)) {
            *ret_is_over = true;
            return 0;
        }
    }
    if (demo->is_away)
        command_note(demo->context, "%s takes profiles", demo->config->url);
    demo->is_away = false;
    return 0;
}

/* --- recording --- */

static int encode(const struct batch *batch, struct buffer *body, struct error *err)
{
    struct format_write_options plain = { .plain = true, .type = PROFILE_NO_TYPE };

    buffer_clear(body);
    return otlp_encode(batch, &plain, body, err);
}

/* Records for a while and sends what was seen. */
static int send_window(struct demo *demo, int64_t window_ns, struct buffer *body, bool *ret_is_over, struct error *err)
{
    struct selfprofile_recording *recording;
    struct batch batch;
    int result;

    if (selfprofile_begin(demo->profile, &recording, err) < 0)
        return -1;
    if (!wait_for(demo, window_ns)) {
        selfprofile_cancel(demo->profile, recording);
        *ret_is_over = true;
        return 0;
    }
    batch_init(&batch, NULL);
    result = selfprofile_end(demo->profile, recording, &batch, err);
    if (result == 0)
        result = encode(&batch, body, err);
    batch_done(&batch);
    return result < 0 ? -1 : deliver(demo, buffer_slice(body), ret_is_over, err);
}

static int send_all(struct demo *demo, struct error *err)
{
    struct buffer body;
    bool is_over = false;
    int result = 0;

    buffer_init(&body, 0);
    for (int i = 0; result == 0 && !is_over; i += i < FIRST_WINDOWS) {
        result = send_window(demo, i < FIRST_WINDOWS ? FIRST_WINDOW_NS : WINDOW_NS, &body, &is_over, err);
        if (result == 0 && i == 0 && !is_over)
            command_note(demo->context, "the first profile was sent; more follow until this is stopped");
    }
    buffer_done(&body);
    return result;
}

/* --- the run --- */

static void block_signals(sigset_t *ret_set)
{
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGTERM);
    sigaddset(ret_set, SIGINT);
    sigaddset(ret_set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ret_set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static int open_shop(struct demo *demo, struct error *err)
{
    struct shop_options shop_options = { .n_threads = (uint32_t)demo->config->n_threads,
                                         .cpu_share = demo->config->cpu_share };
    struct shop *shop;
    int result;

    if (shop_start(&shop_options, &shop, err) < 0)
        return -1;
    command_note(demo->context, "a small shop serves requests and sends its profiles to %s as the service 'shop'",
                 demo->config->url);
    result = send_all(demo, err);
    command_note(demo->context, "%llu requests served", (unsigned long long)shop_served(shop));
    shop_stop(shop);
    return result;
}

static int run(struct command_context *context, struct error *err)
{
    const struct demo_config *config = context->config;
    struct demo demo = { .context = context, .config = config, .end_mono_ns = INT64_MAX };
    int result;

    if (config->duration_ns > 0 && __builtin_add_overflow(clock_mono_ns(), config->duration_ns, &demo.end_mono_ns))
        demo.end_mono_ns = INT64_MAX;
    block_signals(&demo.signals);
    if (selfprofile_new(&(struct selfprofile_options){ .resource = resource, .n_resource = ARRAY_LEN(resource) },
                        &demo.profile, err) < 0)
        return -1;
    result = open_shop(&demo, err);
    selfprofile_free(demo.profile);
    return result;
}

const struct command cmd_demo = {
    .name = "demo",
    .summary = "Run a small workload that sends its profiles to a server",
    .description =
        "Serves made-up requests of an online shop in a few threads, takes samples of what they do, and sends them as "
        "OpenTelemetry profiles: every 2 seconds at first, then every 10. The service is called 'shop', and the label "
        "'endpoint' says which kind of request it was. So there is something to look at before a program of one's own "
        "is profiled.\n\n"
        "It uses a quarter of a processor unless told otherwise. A server that is away is tried again until it is "
        "there. SIGINT and SIGTERM end it.",
    .config_bytes = sizeof(struct demo_config),
    .options = { OPTION_GROUP("Demo", options) },
    .examples = { { "hearth demo", "Sends to the server on this machine until it is stopped." },
                  { "hearth demo --url http://10.0.0.5:4040 --threads 8 --duration 10m",
                    "Sends elsewhere, for ten minutes." } },
    .run = run,
};
