// SPDX-License-Identifier: Apache-2.0
#include "answer/asked_test.h"

static void begin(struct asked *asked)
{
    asked_begin(asked);
    STORE_SAMPLE_WRITE(&asked->sample,
                       { .at = "15T11:50", .service = "api", .labels = "version=1;env=a", .samples = "main 2 20" },
                       { .at = "15T11:50", .service = "api", .labels = "version=2", .samples = "main 2 20" },
                       { .at = "13T11:50", .service = "web", .labels = "version=3", .samples = "main 2 20" });
}

TEST(label_paths_list_names_and_values)
{
    static const struct {
        void (*handler)(struct exchange *exchange);
        const char *query, *wanted;
    } cases[] = {
        { labelpaths_handle_names, "", "[\"__name__\",\"env\",\"service_name\",\"version\"]" },
        { labelpaths_handle_names, "query={version=\"2\"}", "[\"__name__\",\"service_name\",\"version\"]" },
        { labelpaths_handle_names, "query=nobody:a:b:c:d{}", "[]" },
        { labelpaths_handle_values, "label=version", "[\"1\",\"2\"]" },
        { labelpaths_handle_values, "label=version&from=now-3d", "[\"1\",\"2\",\"3\"]" },
        { labelpaths_handle_values, "label=version&query=api.cpu{env=a}", "[\"1\"]" },
        { labelpaths_handle_values, "label=version&query=%7Bservice_name%3D%22web%22%7D&from=now-3d", "[\"3\"]" },
        { labelpaths_handle_values, "label=nothing", "[]" },
        { labelpaths_handle_values, "label=__name__",
          "[\"process_cpu:cpu:nanoseconds:cpu:nanoseconds\",\"process_cpu:samples:count:cpu:nanoseconds\"]" },
        { labelpaths_handle_values, "label=__name__&query={service_name=\"web\"}", "[]" },
    };
    struct asked asked;

    begin(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(asked_get(&asked, cases[i].handler, cases[i].query), 200);
        CHECK_TEXT(asked_body(&asked), cases[i].wanted);
        CHECK_TEXT(http_header(&asked.exchange->response.headers, "content-type"), "application/json");
    }
    asked_end(&asked);
}

TEST(label_paths_refuse_in_sentences)
{
    static const struct {
        const char *query;
        int status;
        const char *words;
    } cases[] = {
        { "", 400, "label: missing; give the name of a label" },
        { "label=", 400, "label: missing" },
        { "label=version&query={env", 400, "query: " },
        { "label=version&query=nobody.cpu", 404, "no service" },
        { "label=version&from=now&until=now-1h", 400, "ends before it begins" },
    };
    struct asked asked;

    begin(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(asked_get(&asked, labelpaths_handle_values, cases[i].query), cases[i].status);
        CHECK_HAS(asked_body(&asked), cases[i].words);
    }
    asked_end(&asked);
}
