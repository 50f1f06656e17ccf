// SPDX-License-Identifier: Apache-2.0
#include "cli/apirow.h"

#include "base/test.h"
#include "cli/commands.h"

static const struct apirow *row_at(enum http_method method, const char *path)
{
    struct route route = { .method = method, .path = path };

    return apirow_of(&route);
}

static bool has(const struct apirow *row, const char *name)
{
    struct apirow_parameter parameter;

    return apirow_find_parameter(row, slice_from(name), &parameter);
}

TEST(apirow_of_a_route_is_found_by_method_and_path)
{
    CHECK(row_at(HTTP_GET, "/api/v1/top")->command == &cmd_query);
    CHECK(row_at(HTTP_GET, "/api/v1/keep")->is_list);
    CHECK(!row_at(HTTP_POST, "/api/v1/keep")->is_list);
    CHECK_EQ(apirow_routes.n, apirow_n);
    for (size_t i = 0; i < apirow_n; i++)
        CHECK(apirow_of(&apirow_routes.routes[i]) == &apirow_all[i]);
}

TEST(apirow_names_commands_that_have_what_the_row_says)
{
    for (size_t i = 0; i < apirow_n; i++) {
        const struct apirow *row = &apirow_all[i];

        for (size_t k = 0; k < APIROW_MAX_WITHOUT && row->without[k]; k++)
            CHECK(apirow_option(row->command, slice_from(row->without[k])));
        for (size_t k = 0; k < APIROW_MAX_REQUIRED && row->required[k]; k++)
            CHECK(has(row, row->required[k]));
        for (size_t k = 0; k < APIROW_MAX_ARGUMENTS && row->arguments[k]; k++)
            CHECK(row->command->arguments[k].name);
        CHECK(apirow_option(row->command, SLICE("url")));
        CHECK(row->is_file || has(row, "output"));
    }
}

TEST(apirow_has_each_parameter_once)
{
    for (size_t i = 0; i < apirow_n; i++) {
        struct apirow_parameter parameter, other;

        for (size_t k = 0; apirow_parameter(&apirow_all[i], k, &parameter); k++) {
            CHECK(parameter.help && parameter.help[0]);
            for (size_t m = 0; m < k && apirow_parameter(&apirow_all[i], m, &other); m++)
                CHECK(strcmp(parameter.name, other.name) != 0);
        }
    }
}

TEST(apirow_takes_nothing_that_is_about_the_machine)
{
    static const char *const never[] = { "data-dir", "memory-limit", "query-memory", "url",       "json",
                                         "csv",      "config",       "log-level",    "max-memory" };

    for (size_t i = 0; i < apirow_n; i++)
        for (size_t k = 0; k < ARRAY_LEN(never); k++)
            CHECK(!has(&apirow_all[i], never[k]));
    CHECK(!has(row_at(HTTP_GET, "/api/v1/diff"), "from")); /* the format of a file */
    CHECK(!has(row_at(HTTP_POST, "/api/v1/backup"), "directory"));
}

TEST(apirow_settles_the_format_of_its_view)
{
    struct apirow_parameter parameter;

    CHECK(!has(row_at(HTTP_GET, "/api/v1/top"), "format"));
    CHECK(!has(row_at(HTTP_GET, "/api/v1/top"), "path"));
    CHECK(has(row_at(HTTP_GET, "/api/v1/flamegraph"), "path"));
    CHECK(!has(row_at(HTTP_GET, "/api/v1/flamegraph"), "file"));
    CHECK(apirow_find_parameter(row_at(HTTP_GET, "/api/v1/export"), SLICE("format"), &parameter));
    CHECK_TEXT(parameter.default_text, "pprof");
    CHECK_TEXT(apirow_word(&parameter, 0), "pprof");
    CHECK_TEXT(apirow_word(&parameter, 4), "html");
    CHECK(!apirow_word(&parameter, 5));
    CHECK(!has(row_at(HTTP_GET, "/api/v1/export"), "output"));
    CHECK(apirow_find_parameter(row_at(HTTP_GET, "/api/v1/query"), SLICE("format"), &parameter));
    CHECK_TEXT(apirow_word(&parameter, 0), "auto");
}

TEST(apirow_offers_csv_where_the_command_has_it)
{
    struct apirow_parameter parameter;

    CHECK(apirow_find_parameter(row_at(HTTP_GET, "/api/v1/timeseries"), SLICE("output"), &parameter));
    CHECK_TEXT(apirow_word(&parameter, 2), "csv");
    CHECK(apirow_find_parameter(row_at(HTTP_GET, "/api/v1/top"), SLICE("output"), &parameter));
    CHECK_TEXT(apirow_word(&parameter, 1), "text");
    CHECK(!apirow_word(&parameter, 2));
}

TEST(apirow_requires_arguments_that_the_command_needs)
{
    struct apirow_parameter parameter;

    CHECK(apirow_find_parameter(row_at(HTTP_GET, "/api/v1/label-values"), SLICE("label"), &parameter));
    CHECK(parameter.is_required);
    CHECK(apirow_find_parameter(row_at(HTTP_GET, "/api/v1/label-values"), SLICE("selector"), &parameter));
    CHECK(!parameter.is_required);
    CHECK(apirow_find_parameter(row_at(HTTP_GET, "/api/v1/callers"), SLICE("function"), &parameter));
    CHECK(parameter.is_required);
    CHECK(apirow_find_parameter(row_at(HTTP_GET, "/api/v1/query"), SLICE("function"), &parameter));
    CHECK(!parameter.is_required);
}

TEST(apirow_reads_what_only_requests_have)
{
    const struct apirow *row = row_at(HTTP_GET, "/api/v1/timeseries");
    struct apirow_own own = apirow_own_defaults();
    struct apirow_parameter parameter;
    struct error err;

    CHECK_EQ(own.output, APIROW_JSON);
    CHECK(apirow_find_parameter(row, SLICE("output"), &parameter));
    CHECK_ERROR(apirow_take_own(&own, &parameter, "xml", &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "output: ");
    CHECK_OK(apirow_take_own(&own, &parameter, "csv", &err), &err);
    CHECK_EQ(own.output, APIROW_CSV);
    CHECK_ERROR(apirow_take_own(&own, &parameter, "csv", &err), &err, ERR_USAGE);
    CHECK_TEXT(err.text, "'output' is given twice; give it once");
    CHECK(apirow_find_parameter(row, SLICE("width"), &parameter));
    CHECK_ERROR(apirow_take_own(&own, &parameter, "7", &err), &err, ERR_USAGE);
    CHECK_OK(apirow_take_own(&own, &parameter, "100", &err), &err);
    CHECK_EQ(own.width, 100);
    CHECK(apirow_find_parameter(row, SLICE("color"), &parameter));
    CHECK_OK(apirow_take_own(&own, &parameter, "true", &err), &err);
    CHECK(own.has_colour);
    CHECK(apirow_find_parameter(row, SLICE("utf8"), &parameter));
    CHECK_OK(apirow_take_own(&own, &parameter, "false", &err), &err);
    CHECK(!own.has_utf8);
}
