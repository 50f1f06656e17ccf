// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapecall.h"

#include "base/clock.h"
#include "scrape/scrape_server_test.h"

static struct scrape_server server;
static const struct scrapeconfig_http plain = { .follows_redirects = true };

/* What a call of `path` came to. */
struct ended {
    enum scrape_result result;
    char body[256];
    struct error error;
};

static int call(const char *path, const struct scrapecall_request *given, struct scrapecall_budget *budget,
                struct ended *ret_ended, struct error *err)
{
    struct scrapecall_request request = *given;
    struct scrapecall_answer answer;
    struct scrapecall *made;
    const CURLMsg *message;
    char url[128];
    CURLM *multi;
    int n;

    snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, path);
    request.url = slice_from(url);
    multi = curl.multi_init();
    if (scrapecall_start(multi, &request, budget, ret_ended, &made, err) < 0) {
        curl.multi_cleanup(multi);
        return -1;
    }
    do {
        curl.multi_perform(multi, &n);
        curl.multi_poll(multi, NULL, 0, n ? 100 : 0, NULL);
    } while (!(message = curl.multi_info_read(multi, &n)));
    CHECK(scrapecall_of(message->easy_handle) == made);
    CHECK(scrapecall_owner(made) == ret_ended);
    ret_ended->result = scrapecall_finish(made, message->data.result, &answer, &ret_ended->error);
    snprintf(ret_ended->body, sizeof(ret_ended->body), "%.*s", SLICE_ARG(answer.body));
    scrapecall_free(made);
    curl.multi_cleanup(multi);
    return 0;
}

static struct scrapecall_request request_of(uint64_t max_body_bytes)
{
    return (struct scrapecall_request){
        .http = &plain,
        .timeout_ns = 20 * CLOCK_NS_PER_SECOND,
        .connect_timeout_ns = 20 * CLOCK_NS_PER_SECOND,
        .max_body_bytes = max_body_bytes,
    };
}

TEST(scrapecall_gives_the_budget_back)
{
    struct scrapecall_budget budget = { 100, 1000 };
    struct scrapecall_request request = request_of(500);
    struct ended ended;
    struct error err;

    server_start(&server);
    CHECK_OK(call("/good", &request, &budget, &ended, &err), &err);
    CHECK_EQ(ended.result, SCRAPE_OK);
    CHECK_TEXT(ended.body, "a profile");
    CHECK_EQ(budget.used_bytes, 100);
    budget.max_bytes = 105;
    CHECK_OK(call("/good", &request, &budget, &ended, &err), &err);
    CHECK_EQ(ended.result, SCRAPE_TOO_LARGE);
    CHECK_EQ(budget.used_bytes, 100);
    server_stop(&server);
}

TEST(scrapecall_counts_the_last_byte_that_fits)
{
    struct scrapecall_budget budget = { 0, 1000 };
    struct scrapecall_request request = request_of(9);
    struct ended ended;
    struct error err;

    server_start(&server);
    CHECK_OK(call("/good", &request, &budget, &ended, &err), &err);
    CHECK_EQ(ended.result, SCRAPE_OK);
    request.max_body_bytes = 8;
    CHECK_OK(call("/good", &request, &budget, &ended, &err), &err);
    CHECK_EQ(ended.result, SCRAPE_TOO_LARGE);
    server_stop(&server);
}

TEST(scrapecall_takes_any_500_of_a_cpu_profile_of_go_for_a_conflict)
{
    struct scrapecall_budget budget = { 0, 1000 };
    struct scrapecall_request request = request_of(500);
    struct ended ended;
    struct error err;

    server_start(&server);
    request.is_cpu_profile = true;
    CHECK_OK(call("/busy", &request, &budget, &ended, &err), &err);
    CHECK_EQ(ended.result, SCRAPE_CONFLICT);
    CHECK_OK(call("/flaky", &request, &budget, &ended, &err), &err); /* a 500 that is not of net/http/pprof */
    CHECK_EQ(ended.result, SCRAPE_HTTP);
    server_stop(&server);
}

static int call_once(void *context, struct error *err)
{
    struct scrapeconfig_http http = { .has_authorization = true,
                                      .authorization_type = SLICE("Bearer"),
                                      .credentials = SLICE("x") };
    struct scrapecall_budget budget = { 0, 1000 };
    struct scrapecall_request request = request_of(500);
    struct ended ended;

    request.http = &http;
    if (call("/good", &request, &budget, &ended, err) < 0)
        return -1;
    CHECK_EQ(budget.used_bytes, 0);
    if (ended.result == SCRAPE_OK)
        return 0;
    *err = ended.error;
    return -1;
}

TEST(scrapecall_survives_each_allocation_failing)
{
    server_start(&server);
    test_each_allocation_failing(call_once, NULL);
    server_stop(&server);
}
