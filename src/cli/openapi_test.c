// SPDX-License-Identifier: Apache-2.0
#include "cli/openapi.h"

#include "answer/answer.h"
#include "base/memory.h"
#include "base/test.h"
#include "cli/api.h"
#include "page/page.h"

static void answer(struct exchange *exchange)
{
    exchange_answer(exchange, 200, NULL, SLICE(""));
}

static const struct route sample_routes[] = {
    { HTTP_GET, "/ready", ROUTE_PUBLIC, "Whether \"it\" is ready.", answer, .produces = "text/plain" },
    { HTTP_POST, "/ingest", ROUTE_WRITE, "Takes a profile.", answer, .produces = "",
      .parameters = { { "name", "The application." } } },
    { HTTP_DELETE, "/files/*", ROUTE_ADMIN, "Removes a file.", answer },
    { HTTP_GET, "/ingest", ROUTE_READ, "Says no.", answer },
};
static const struct route_table sample_table = { sample_routes, ARRAY_LEN(sample_routes) };

TEST(openapi_has_every_path_once_with_all_its_methods)
{
    struct buffer out;
    struct slice page;

    buffer_init(&out, 0);
    openapi_print(&sample_table, &out);
    page = buffer_slice(&out);
    CHECK_HAS(page, "openapi: \"3.0.3\"\n");
    CHECK_HAS(page, "  \"/ready\":\n"
                    "    get:\n"
                    "      operationId: getReady\n"
                    "      summary: \"Whether \\\"it\\\" is ready.\"\n"
                    "      tags: [public]\n"
                    "      responses:\n"
                    "        \"200\":\n"
                    "          description: \"The answer.\"\n"
                    "          content:\n"
                    "            \"text/plain\":\n"
                    "              schema:\n"
                    "                type: string\n"
                    "        \"503\":\n");
    CHECK_HAS(page, "  \"/ingest\":\n    post:\n      operationId: postIngest\n");
    CHECK_HAS(page, "        - name: \"name\"\n"
                    "          in: query\n"
                    "          description: \"The application.\"\n"
                    "          schema:\n"
                    "            type: string\n");
    CHECK_HAS(page, "    get:\n      operationId: getIngest\n");
    CHECK_EQ(slice_find(slice_sub(page, (size_t)slice_find(page, SLICE("\"/ingest\":")) + 9, page.len),
                        SLICE("\"/ingest\":")),
             -1);
    CHECK_HAS(page, "  \"/files/{rest}\":\n    delete:\n");
    CHECK_HAS(page, "        - name: \"rest\"\n          in: path\n          required: true\n");
    buffer_done(&out);
}

TEST(openapi_tells_what_a_body_is_and_how_a_failure_looks)
{
    static const struct route rows[] = {
        { HTTP_POST, "/notes", ROUTE_WRITE, "Takes a note.", answer, .consumes = "application/json",
          .good_status = 201 },
        { HTTP_POST, "/v1/profiles", ROUTE_WRITE, "Takes profiles.", answer, .failure = ROUTE_FAILS_AS_STATUS },
        { HTTP_GET, "/ready", ROUTE_PUBLIC, "Says yes.", answer, .failure = ROUTE_FAILS_AS_TEXT },
        { HTTP_POST, "/version.v1.Version/Version", ROUTE_PUBLIC, "The version.", answer, .is_procedure = true },
        { HTTP_POST, "/vcs.v1.VCSService/*", ROUTE_READ, "Unimplemented.", answer, .is_procedure = true,
          .is_absent = true },
    };
    static const struct route_table table = { rows, ARRAY_LEN(rows) };
    struct buffer out;
    struct slice page;

    buffer_init(&out, 0);
    openapi_print(&table, &out);
    page = buffer_slice(&out);
    CHECK_HAS(page, "        required: true\n        content:\n          \"application/json\":\n");
    CHECK_HAS(page, "      responses:\n        \"201\":\n");
    CHECK_HAS(page, "        \"415\":\n          $ref: \"#/components/responses/StatusFailure\"\n");
    CHECK_HAS(page, "        \"503\":\n          $ref: \"#/components/responses/TextFailure\"\n");
    CHECK_HAS(slice_sub(page, (size_t)slice_find(page, SLICE("\"/version.v1")), SIZE_MAX), "        \"415\":\n");
    CHECK_EQ(slice_find(page, SLICE("vcs.v1")), -1);
    CHECK_EQ(slice_find(page, SLICE("304")), -1); /* only answers to reads have tags */
    buffer_done(&out);
}

TEST(openapi_describes_parameters_by_the_options_of_commands)
{
    struct buffer out;
    struct slice page;

    buffer_init(&out, 0);
    openapi_print(&apirow_routes, &out);
    page = buffer_slice(&out);
    CHECK_HAS(page, "        - name: \"rows\"\n"
                    "          in: query\n"
                    "          description: \"How many functions to show; 0 shows all.\"\n"
                    "          schema:\n"
                    "            type: integer\n"
                    "            minimum: 0\n"
                    "            default: 30\n");
    CHECK_HAS(page, "            enum: [\"pprof\", \"otlp\", \"otlp-json\", \"folded\", \"html\"]\n            "
                    "default: \"pprof\"\n");
    CHECK_HAS(page, "        - name: \"label\"\n          in: query\n          required: true\n");
    CHECK_HAS(page, "            type: array\n            items:\n              type: string\n");
    CHECK_HAS(page, "            type: boolean\n            default: false\n");
    CHECK_HAS(page, "\"text/csv\"");
    CHECK_HAS(page, "      operationId: getApiV1Label_values\n");
    CHECK_HAS(page, "        \"304\":\n");
    CHECK_HAS(page, "              $ref: \"#/components/headers/Messages\"\n");
    buffer_done(&out);
}

TEST(openapi_names_every_operation_that_a_server_has_differently)
{
    const struct route_mount mounts[] = {
        { &server_routes, NULL }, { &answer_routes, NULL }, { &page_routes, NULL }, { &apirow_routes, NULL }
    };
    struct slice rest, line, ids[256];
    struct route_table all;
    struct buffer out;
    struct error err;
    size_t n = 0, n_absent = 0;

    buffer_init(&out, 0);
    CHECK_OK(route_join(mounts, ARRAY_LEN(mounts), &all, &err), &err);
    openapi_print(&all, &out);
    rest = buffer_slice(&out);
    while (slice_next_part(&rest, '\n', &line)) {
        if (!slice_starts_with(line, SLICE("      operationId: ")))
            continue;
        for (size_t i = 0; i < n; i++)
            CHECK(!slice_equal(ids[i], line));
        CHECK(n < ARRAY_LEN(ids));
        ids[n++] = line;
    }
    for (size_t i = 0; i < all.n; i++)
        n_absent += all.routes[i].is_absent;
    CHECK_EQ(n, all.n - n_absent);
    memory_free((void *)all.routes);
    buffer_done(&out);
}

static int print_all(void *context UNUSED, struct error *err)
{
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    openapi_print(&sample_table, &out);
    openapi_print(&apirow_routes, &out);
    result = buffer_check(&out, err);
    buffer_done(&out);
    return result;
}

TEST(openapi_reports_an_allocation_that_fails)
{
    struct error err;

    CHECK_OK(print_all(NULL, &err), &err);
    test_each_allocation_failing(print_all, NULL);
}
