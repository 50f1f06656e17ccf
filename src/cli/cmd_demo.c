// SPDX-License-Identifier: Apache-2.0
/* `hearth demo`: a small system of services to look at, which sends all that it knows of itself to a server. */
#include "base/clock.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/remotecall.h"
#include "cli/table.h"
#include "cli/view.h"
#include "demo/demo.h"
#include "demo/truth.h"

#define DEFAULT_URL     "http://127.0.0.1:4040"
#define SEND_TIMEOUT_NS (5 * CLOCK_NS_PER_SECOND)

struct demo_config {
    const char *url;
    uint64_t n_threads;
    double cpu_share;
    int64_t version_every_ns;
    int64_t duration_ns;
    uint64_t n_fleet;
    bool is_truth, is_json;
};

static const struct option_spec options[] = {
    { "url", OPTION_TEXT, FIELD(demo_config, url), DEFAULT_URL, "The server to send to.", .value_name = "URL" },
    { "threads", OPTION_UINT, FIELD(demo_config, n_threads), "4",
      "Threads of each service that serve requests, and of those who use the shop.", .min = "1", .max = "64" },
    { "cpu", OPTION_PERCENT, FIELD(demo_config, cpu_share), "25%",
      "How much of one processor all services together use.", .min = "1%", .max = "100%" },
    { "version-every", OPTION_DURATION, FIELD(demo_config, version_every_ns), "3m",
      "How long each version of the shop runs before the other takes over; 0 = the first for ever." },
    { "duration", OPTION_DURATION, FIELD(demo_config, duration_ns), "0", "How long to run; 0 = until it is stopped." },
    { "fleet", OPTION_UINT, FIELD(demo_config, n_fleet), "0",
      "Beside the shop, as many hosts that are not there, each of which sends a profile every ten seconds.",
      .max = "100000" },
    { "truth", OPTION_BOOL, FIELD(demo_config, is_truth), "false",
      "Run nothing; print which function has which share of whose CPU.", .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(demo_config, is_json), "false", "With --truth, write JSON." },
};

/* --- the server --- */

#define SENTENCE_MAX 120

/* The sentence at the end of an answer, which is behind a few bytes of protobuf, or the message of one in JSON. */
static struct slice sentence_of(struct slice body)
{
    struct slice field = SLICE("\"message\":\"");
    ptrdiff_t found = slice_find(body, field);
    size_t start = body.len;

    if (found >= 0) {
        struct slice text = slice_sub(body, (size_t)found + field.len, body.len);
        ptrdiff_t end = slice_find_byte(text, '"');

        return slice_sub(text, 0, end < 0 ? SENTENCE_MAX : MIN((size_t)end, (size_t)SENTENCE_MAX));
    }
    while (start > 0 && body.ptr[start - 1] >= ' ' && body.ptr[start - 1] <= '~')
        start--;
    return slice_sub(body, start, SENTENCE_MAX);
}

/* What the server will never take is ERR_INVALID. */
static int post(void *self, const char *path, struct slice body, struct error *err)
{
    struct command_context *context = self;
    const struct demo_config *config = context->config;
    struct remotecall call = { .url = config->url,
                               .path = path,
                               .is_post = true,
                               .parameters = body,
                               .content_type = "application/x-protobuf",
                               .timeout_ns = SEND_TIMEOUT_NS };
    struct remotecall_answer answer;
    int result = remotecall_perform(&call, &answer, err);

    if (result == 0 && answer.status != 200)
        result =
            error_set(err, answer.status >= 400 && answer.status < 500 && answer.status != 429 ? ERR_INVALID : ERR_IO,
                      "%.80s%s answers with status %d: %.*s", config->url, path, answer.status,
                      SLICE_ARG(sentence_of(buffer_slice(&answer.body))));
    remotecall_done(&answer);
    return result;
}

static void tell(void *self, bool is_warning, const char *text)
{
    if (is_warning)
        command_warn(self, "%s", text);
    else
        command_note(self, "%s", text);
}

static int run_demo(struct command_context *context, struct error *err)
{
    const struct demo_config *config = context->config;
    struct demo_options demo = { .n_threads = (uint32_t)config->n_threads,
                                 .cpu_share = config->cpu_share,
                                 .version_every_ns = config->version_every_ns,
                                 .duration_ns = config->duration_ns,
                                 .n_fleet = (uint32_t)config->n_fleet,
                                 .world = { post, tell, context } };
    bool is_first;

    if (remotecall_check(config->url, err) < 0)
        return -1;
    command_note(context, "a small shop serves requests and sends spans, metrics and profiles to %s", config->url);
    return demo_run(&demo, &is_first, err);
}

/* --- the truth --- */

static int print_table(struct command_context *context, const struct truth_shares *shares, struct buffer *out,
                       struct error *err)
{
    static const struct table_column columns[] = { { "SERVICE", TABLE_LEFT },  { "VERSION", TABLE_LEFT },
                                                   { "ENDPOINT", TABLE_LEFT }, { "SELF%", TABLE_RIGHT },
                                                   { "TOTAL%", TABLE_RIGHT },  { "FUNCTION", TABLE_LEFT } };
    struct table table;

    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < shares->n; i++) {
        const struct truth_share *share = &shares->items[i];

        table_row(&table, TABLE_PLAIN);
        table_printf(&table, "%s", truth_service_name(share->service));
        table_printf(&table, "%s", releases_name(share->release));
        table_printf(&table, "%s", share->endpoint ? share->endpoint : "all");
        table_printf(&table, "%.1f%%", share->self * 100);
        table_printf(&table, "%.1f%%", share->total * 100);
        table_printf(&table, "%s", share->function);
    }
    return table_print(&table, context->has_colour, out, err);
}

static void print_share(const struct truth_share *share, struct json *json)
{
    json_object_begin(json);
    json_key(json, "service");
    json_text(json, truth_service_name(share->service));
    json_key(json, "version");
    json_text(json, releases_name(share->release));
    json_key(json, "endpoint");
    if (share->endpoint)
        json_text(json, share->endpoint);
    else
        json_null(json);
    json_key(json, "function");
    json_text(json, share->function);
    json_key(json, "self");
    json_double(json, share->self);
    json_key(json, "total");
    json_double(json, share->total);
    json_object_end(json);
}

static void print_json(const struct truth_shares *shares, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "shares");
    json_array_begin(&json);
    for (size_t i = 0; i < shares->n; i++)
        print_share(&shares->items[i], &json);
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
}

static int print_truth(struct command_context *context, struct error *err)
{
    const struct demo_config *config = context->config;
    struct truth_shares shares;
    struct buffer out;
    int result = 0;

    if (truth_list(context->arena, &shares, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(&shares, &out);
    else
        result = print_table(context, &shares, &out, err);
    return view_finish(context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct demo_config *config = context->config;

    if (config->is_truth)
        return print_truth(context, err);
    if (config->is_json)
        return error_set(err, ERR_USAGE, "--json is for --truth: without it nothing is printed");
    return run_demo(context, err);
}

const struct command cmd_demo = {
    .name = "demo",
    .summary = "Run a small system of services that sends traces, metrics and profiles to a server",
    .description =
        "Runs a small online shop and uses it: the services 'shop', 'payment', 'inventory' and 'report', each a "
        "process of "
        "its own, which call each other over HTTP, and 'web', which asks the shop. All of them send what they know of "
        "themselves as OpenTelemetry traces, metrics and profiles, whose samples are linked to the spans they were "
        "taken "
        "in. So there is something to look at before a program of one's own is.\n\n"
        "What is to be found in it is known, and --truth prints it: which function has which share of the CPU of which "
        "service, version and endpoint, of the samples that have the label 'endpoint'. Versions 1.0.0 and 1.1.0 of the "
        "shop "
        "take turns, and the newer one parses orders twice. A few payments fail, reports are slow and leak memory up "
        "to "
        "64 MiB, and an audit holds a lock that others wait for.\n\n"
        "All together use a quarter of a processor unless told otherwise. A server that is away is tried again until "
        "it is "
        "there. SIGINT and SIGTERM end it.",
    .config_bytes = sizeof(struct demo_config),
    .options = { OPTION_GROUP("Demo", options) },
    .examples = { { "hearth demo", "Sends to the server on this machine until it is stopped." },
                  { "hearth demo --url http://10.0.0.5:4040 --cpu 50% --duration 10m",
                    "Sends elsewhere, for ten minutes, and works twice as much." },
                  { "hearth demo --truth", "Says what a profile of it should show." },
                  { "hearth demo --fleet 1000", "A thousand hosts beside the shop, for trying scale." } },
    .run = run,
};
