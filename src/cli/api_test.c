// SPDX-License-Identifier: Apache-2.0
/* Handlers of an API on a store that is empty, or has one profile. Real requests are in tests/e2e/api.sh. */
#include "cli/api.h"

#include "base/memory.h"
#include "base/test.h"
#include "cli/commands.h"
#include "query/engine.h"
#include "wire/format.h"

#define QUERY_BYTES (16u << 20)

/* An API, and one request to it. */
struct asked {
    struct api api;
    struct exchange *exchange;
    struct slice body;
};

static void open_api(struct asked *asked)
{
    struct store_options options = { .data_dir = test_directory(), .memory_limit_bytes = 64 << 20 };
    struct engine_options engine_options = { .query_bytes = QUERY_BYTES };
    struct engine *engine;
    struct store *store;
    struct error err;

    *asked = (struct asked){ .api = { .set = &commands, .data_dir = test_directory(), .query_bytes = QUERY_BYTES } };
    CHECK_OK(store_open(&options, &store, &err), &err);
    engine_options.store = store;
    CHECK_OK(engine_new(&engine_options, &engine, &err), &err);
    CHECK_OK(api_begin(&asked->api, &(struct server_parts){ .store = store, .engine = engine }, &err), &err);
}

static void forget(struct asked *asked)
{
    if (!asked->exchange)
        return;
    buffer_done(&asked->exchange->response.body);
    arena_done(&asked->exchange->arena);
    memory_free(asked->exchange);
    asked->exchange = NULL;
}

static void close_api(struct asked *asked)
{
    forget(asked);
    engine_free(asked->api.parts.engine);
    store_close(asked->api.parts.store);
}

static void begin(struct asked *asked, enum http_method method, const char *path)
{
    struct error err;

    forget(asked);
    asked->exchange = memory_alloc_zero(sizeof(*asked->exchange), &err);
    CHECK(asked->exchange);
    arena_init(&asked->exchange->arena, 4 << 20);
    buffer_init(&asked->exchange->response.body, 0);
    asked->exchange->request.method = method;
    asked->exchange->request.version = HTTP_1_1;
    asked->exchange->request.path = slice_from(path);
    asked->exchange->request.query = asked->exchange->request.body = SLICE("");
    asked->exchange->request.begun_mono_ns = clock_mono_ns();
    asked->exchange->context = &asked->api;
    for (size_t i = 0; i < apirow_routes.n; i++)
        if (apirow_routes.routes[i].method == method && strcmp(apirow_routes.routes[i].path, path) == 0)
            asked->exchange->route = &apirow_routes.routes[i];
    CHECK(asked->exchange->route);
}

static int finish(struct asked *asked)
{
    api_serve(asked->exchange);
    asked->body = buffer_slice(&asked->exchange->response.body);
    return asked->exchange->response.status;
}

static int get(struct asked *asked, const char *path, const char *query)
{
    begin(asked, HTTP_GET, path);
    asked->exchange->request.query = slice_from(query);
    return finish(asked);
}

static struct slice header(const struct asked *asked, const char *name)
{
    return http_header(&asked->exchange->response.headers, name);
}

static void add_profile(struct asked *asked)
{
    static const char folded[] = "main;work 10\nmain;rest 5\n";
    struct series_label label = { SLICE("service_name"), SLICE("caf\303\251") };
    struct store_write write = { .labels = &label, .n_labels = 1, .time_ns = clock_now_ns() - CLOCK_NS_PER_SECOND };
    struct unpacker *unpacker;
    struct store_receipt receipt;
    struct batch batch;
    struct error err;

    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    batch_init(&batch, &profile_default_limits);
    CHECK_OK(format_read(slice_from(folded), format_find(SLICE("folded")), unpacker, &batch,
                         &(const struct format *){ 0 }, &err),
             &err);
    write.batch = &batch;
    CHECK_OK(store_write(asked->api.parts.store, &write, &receipt, &err), &err);
    batch_done(&batch);
    unpacker_free(unpacker);
}

TEST(api_answers_what_the_command_prints)
{
    struct asked asked;

    open_api(&asked);
    CHECK_EQ(get(&asked, "/api/v1/labels", ""), 200);
    CHECK_TEXT(asked.body, "{\n  \"labels\": []\n}\n");
    CHECK_TEXT(header(&asked, "content-type"), "application/json");
    CHECK_HAS(header(&asked, "server-timing"), "read;dur=");
    add_profile(&asked);
    CHECK_EQ(get(&asked, "/api/v1/label-values", "label=service%5Fname&output=text"), 200);
    CHECK_TEXT(asked.body, "caf\303\251\n");
    CHECK_TEXT(header(&asked, "content-type"), "text/plain; charset=utf-8");
    CHECK_EQ(get(&asked, "/api/v1/timeseries", "query={}&output=csv&step=1h"), 200);
    CHECK_HAS(asked.body, "time,value\n");
    CHECK_TEXT(header(&asked, "content-type"), "text/csv; charset=utf-8");
    close_api(&asked);
}

TEST(api_tells_notes_in_a_header_of_ascii)
{
    struct asked asked;

    open_api(&asked);
    add_profile(&asked);
    CHECK_EQ(get(&asked, "/api/v1/top", "query=caf%C3%A9&from=2020-01-01&until=2020-01-02"), 200);
    CHECK_HAS(header(&asked, "x-hearth-messages"), "[{\"level\":\"info\",\"text\":\"profile type ");
    CHECK_HAS(header(&asked, "x-hearth-messages"), "caf\\u00e9");
    CHECK(header(&asked, "x-hearth-messages").len <= API_MESSAGES_BYTES);
    CHECK_HAS(asked.body, "\"functions\": []");
    close_api(&asked);
}

TEST(api_sends_files_with_a_name_and_a_type)
{
    static const struct {
        const char *query, *type, *disposition;
    } cases[] = {
        { "query={}", "application/octet-stream", "attachment; filename=\"profile.pb.gz\"" },
        { "query={}&format=folded", "text/plain; charset=utf-8", "attachment; filename=\"profile.folded\"" },
        { "query={}&file=a.folded", "text/plain; charset=utf-8", "attachment; filename=\"a.folded\"" },
        { "query={}&file=a.folded.gz", "application/octet-stream", "attachment; filename=\"a.folded.gz\"" },
        { "query={}&format=otlp", "application/x-protobuf", "attachment; filename=\"profile.otlp\"" },
        { "query={}&format=otlp-json&file=a%22b", "application/json", "attachment; filename=\"ab\"" },
    };
    struct asked asked;

    open_api(&asked);
    add_profile(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(get(&asked, "/api/v1/export", cases[i].query), 200);
        CHECK_TEXT(header(&asked, "content-type"), cases[i].type);
        CHECK_TEXT(header(&asked, "content-disposition"), cases[i].disposition);
        CHECK(asked.body.len > 0);
    }
    close_api(&asked);
}

TEST(api_refuses_with_a_sentence_and_the_code)
{
    static const struct {
        const char *path, *query;
        int status;
        const char *text, *code;
    } cases[] = {
        { "/api/v1/labels", "selctor=x", 400, "/api/v1/labels has no parameter 'selctor'; did you mean 'selector'?",
          "USAGE" },
        { "/api/v1/labels", "data-dir=/etc", 400, "'data-dir' is no parameter: it is about the server's own machine",
          "USAGE" },
        { "/api/v1/top", "query=a&format=tree", 400, "'format' is no parameter of /api/v1/top, which settles it",
          "USAGE" },
        { "/api/v1/top", "", 400, "/api/v1/top needs the parameter 'query': ", "USAGE" },
        { "/api/v1/callers", "query=a", 400, "/api/v1/callers needs the parameter 'function': ", "USAGE" },
        { "/api/v1/top", "query=a&query=b", 400, "'query' is given twice; give it once", "USAGE" },
        { "/api/v1/top", "query=a&output=json&output=text", 400, "'output' is given twice; give it once", "USAGE" },
        { "/api/v1/query", "query=a&format=pprof&output=json", 400, "this is a file of format pprof", "USAGE" },
        { "/api/v1/flamegraph", "query=a&format=flame&output=json", 400, "are two forms of a tree", "USAGE" },
        { "/api/v1/top", "query=a&rows=1&rows=2", 400, "'rows' is given twice; give it once", "USAGE" },
        { "/api/v1/top", "query=a&rows=many", 400, "--rows: ", "USAGE" },
        { "/api/v1/top", "query=a&output=xml", 400, "output: 'xml' is none of json, text", "USAGE" },
        { "/api/v1/top", "query=a%00b", 400, "a parameter holds a NUL byte", "USAGE" },
        { "/api/v1/top", "query=nosuch", 404, "tenant anonymous has no profiles at all", "NOT_FOUND" },
        { "/api/v1/top", "query=a&tenant=b", 403, "tenant=b: the server keeps no tenants apart", "DENIED" },
        { "/api/v1/export", "query=a&file=a%2Fb.folded", 400, "'a/b.folded' is a path; give a name", "USAGE" },
        { "/api/v1/export", "query=a&file=a.txt", 400, "'a.txt' does not tell which format to write", "USAGE" },
        { "/api/v1/diff", "baseline=a", 400, "--baseline alone compares nothing", "USAGE" },
        { "/api/v1/keep", "name=a", 400, "'name' is no parameter of /api/v1/keep", "USAGE" },
    };
    struct asked asked;

    open_api(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(get(&asked, cases[i].path, cases[i].query), cases[i].status);
        CHECK_HAS(asked.body, cases[i].text);
        CHECK_TEXT(header(&asked, "x-hearth-error"), cases[i].code);
    }
    close_api(&asked);
}

TEST(api_takes_an_empty_text_for_none)
{
    struct asked asked;

    open_api(&asked);
    CHECK_EQ(get(&asked, "/api/v1/series", "selector=&from=&&until"), 200);
    CHECK_EQ(get(&asked, "/api/v1/series", "selctor="), 400);
    CHECK_EQ(get(&asked, "/api/v1/series", "output="), 400);
    CHECK_EQ(get(&asked, "/api/v1/series", "width="), 400);
    close_api(&asked);
}

TEST(api_takes_forms_for_what_changes_something)
{
    struct asked asked;

    open_api(&asked);
    begin(&asked, HTTP_POST, "/api/v1/delete");
    asked.exchange->request.headers.items[0] =
        (struct http_header){ SLICE("content-type"), SLICE("application/x-www-form-urlencoded") };
    asked.exchange->request.headers.n = 1;
    asked.exchange->request.body = SLICE("selector=%7Ba%3D%22b%22%7D&all-time=true");
    CHECK_EQ(finish(&asked), 200);
    CHECK_TEXT(asked.body, "{\n  \"days\": 0\n}\n");
    begin(&asked, HTTP_POST, "/api/v1/delete");
    asked.exchange->request.body = SLICE("{}");
    CHECK_EQ(finish(&asked), 415);
    CHECK_HAS(asked.body, "application/x-www-form-urlencoded");
    close_api(&asked);
}

TEST(api_keeps_tenants_apart)
{
    struct asked asked;

    open_api(&asked);
    add_profile(&asked);
    asked.api.is_multi_tenant = true;
    CHECK_EQ(get(&asked, "/api/v1/labels", ""), 401);
    begin(&asked, HTTP_GET, "/api/v1/series");
    asked.exchange->request.headers.items[0] = (struct http_header){ SLICE("x-scope-orgid"), SLICE("team-a") };
    asked.exchange->request.headers.n = 1;
    CHECK_EQ(finish(&asked), 200);
    CHECK_TEXT(asked.body, "{\n  \"series\": []\n}\n");
    begin(&asked, HTTP_GET, "/api/v1/series");
    asked.exchange->request.query = SLICE("tenant=anonymous");
    asked.exchange->request.headers.items[0] = (struct http_header){ SLICE("x-scope-orgid"), SLICE("team-a") };
    asked.exchange->request.headers.n = 1;
    CHECK_EQ(finish(&asked), 403);
    CHECK_HAS(asked.body, "X-Scope-OrgID says that the request is of 'team-a'");
    close_api(&asked);
}

TEST(api_ends_a_run_that_nobody_waits_for_and_one_that_takes_too_long)
{
    struct asked asked;

    open_api(&asked);
    add_profile(&asked);
    begin(&asked, HTTP_GET, "/api/v1/top");
    asked.exchange->request.query = SLICE("query={}&type=samples");
    atomic_store(&asked.exchange->is_gone, true);
    CHECK_EQ(finish(&asked), 499);
    asked.api.timeout_ns = 1;
    CHECK_EQ(get(&asked, "/api/v1/top", "query={}&type=samples"), 504);
    CHECK_HAS(asked.body, "the server's --query-timeout 1ns");
    close_api(&asked);
}

TEST(api_bounds_its_answers)
{
    struct asked asked;

    open_api(&asked);
    add_profile(&asked);
    asked.api.query_bytes = 64 << 10; /* the options of a command take some of it */
    CHECK_EQ(get(&asked, "/api/v1/stats", ""), 200);
    asked.api.query_bytes = 500;
    CHECK(get(&asked, "/api/v1/stats", "") >= 400);
    close_api(&asked);
}

/* The same request once more, in the exchange that is there. */
static int serve_again(void *context, struct error *err)
{
    struct asked *asked = context;

    arena_done(&asked->exchange->arena);
    arena_init(&asked->exchange->arena, 4 << 20);
    buffer_clear(&asked->exchange->response.body);
    asked->exchange->response.headers.n = 0;
    asked->exchange->response.status = 0;
    finish(asked);
    if (asked->exchange->response.status == 200)
        return buffer_check(&asked->exchange->response.body, err);
    return error_set(err, asked->exchange->response.status == 503 ? ERR_MEMORY : ERR_IO, "status %d",
                     asked->exchange->response.status);
}

TEST(api_answers_503_whichever_allocation_fails)
{
    struct asked asked;

    open_api(&asked);
    add_profile(&asked);
    begin(&asked, HTTP_GET, "/api/v1/labels");
    asked.exchange->request.query = SLICE("selector=%7B%7D&output=json");
    test_each_allocation_failing(serve_again, &asked);
    close_api(&asked);
}
