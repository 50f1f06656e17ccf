// SPDX-License-Identifier: Apache-2.0
#include "answer/querier_asked_test.h"
#include "answer/querier_internal.h"

static int call_json(struct asked *asked, void (*handler)(struct exchange *exchange), const char *body)
{
    return asked_call(asked, handler, "application/json", slice_from(body));
}

TEST(querier_refuses_ranges_that_are_none)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(call_json(&asked, querier_label_names, "{}"), 400);
    CHECK_HAS(asked_body(&asked), "{\"code\":\"invalid_argument\",\"message\":\"missing time range");
    CHECK_EQ(call_json(&asked, querier_label_names, "{\"start\":5}"), 400);
    CHECK_EQ(call_json(&asked, querier_label_names, "{\"end\":5}"), 400);
    CHECK_EQ(call_json(&asked, querier_label_names, "{\"start\":6,\"end\":5}"), 400);
    CHECK_HAS(asked_body(&asked), "ends before it begins: start is 6, end is 5");
    CHECK_EQ(call_json(&asked, querier_label_names, "{\"start\":5,\"end\":5}"), 200);
    CHECK_EQ(call_json(&asked, querier_label_names, "{\"start\":-9223372036854775808,\"end\":9223372036854775807}"),
             200);
    CHECK_HAS(asked_body(&asked), "\"service_name\"");
    asked_end(&asked);
}

TEST(querier_refuses_types_and_selectors_that_are_none)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, "\"labelSelector\":\"{}\""), 400);
    CHECK_HAS(asked_body(&asked), "profile_typeID is empty");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, "\"profileTypeID\":\"cpu\",\"labelSelector\":\"{}\""), 400);
    CHECK_HAS(asked_body(&asked), "profile_typeID 'cpu' has 1 parts; it has five");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, "\"profileTypeID\":\"" CPU "\""), 400);
    CHECK_HAS(asked_body(&asked), "label_selector is empty; {} selects everything");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{x\""),
             400);
    CHECK_HAS(asked_body(&asked), "label_selector: ");
    CHECK_EQ(querier_ask(&asked, querier_label_names, "\"matchers\":[\"{}\",\"{x\"]"), 400);
    CHECK_HAS(asked_body(&asked), "matchers: ");
    asked_end(&asked);
}

TEST(querier_takes_types_of_six_parts_and_selectors_with_types)
{
    static const struct {
        const char *fields;
        bool is_empty;
    } cases[] = {
        { "\"profileTypeID\":\"" CPU ":delta\",\"labelSelector\":\"{}\"", false },
        { "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"" CPU "{}\"", false },
        { "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{__type__=\\\"cpu\\\"}\"", false },
        { "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{__type__=\\\"wall\\\"}\"", true },
        { "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"a:b:c:d:e{}\"", true },
    };
    struct asked asked;

    querier_asked_begin(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, cases[i].fields), 200);
        CHECK_EQ(slice_find(asked_body(&asked), SLICE("\"total\":\"122\"")) < 0, cases[i].is_empty);
    }
    asked_end(&asked);
}

TEST(querier_joins_matchers)
{
    struct querier_call call = { .n_selectors = 0 };
    struct slice items[] = { SLICE("{a=\"x\"}"), SLICE(""), SLICE("{}"), SLICE(CPU "{b=~\"y.*\",c!=\"}\"}") };
    struct rpcmessage_texts matchers = { items, ARRAY_LEN(items), ARRAY_LEN(items) };
    const struct selector *selector = NULL;
    struct buffer text;
    struct error err;

    buffer_init(&text, 0);
    CHECK_OK(querier_matchers(&call, &matchers, &selector, &err), &err);
    selector_text(selector, &text);
    CHECK_TEXT(buffer_slice(&text), "{a=\"x\", __profile_type__=\"" CPU "\", b=~\"y.*\", c!=\"}\"}");
    buffer_done(&text);
    selector_free(call.selectors[0]);
}

TEST(querier_knows_the_labels_of_types)
{
    CHECK_TEXT(querier_type_label(SLICE("a:b:c:d:e"), SLICE("__profile_type__")), "a:b:c:d:e");
    CHECK_TEXT(querier_type_label(SLICE("a:b:c:d:e"), SLICE("__type__")), "b");
    CHECK_TEXT(querier_type_label(SLICE("a:b:c:d:e"), SLICE("__unit__")), "c");
    CHECK_TEXT(querier_type_label(SLICE("a:b:c::"), SLICE("__period_unit__")), "");
    CHECK(querier_type_label(SLICE("a:b:c::"), SLICE("__period_unit__")).ptr);
    CHECK(!querier_type_label(SLICE("a:b:c:d:e"), SLICE("service_name")).ptr);
}

TEST(querier_ends_when_its_caller_waits_no_longer)
{
    struct asked asked;
    struct exchange *exchange;

    querier_asked_begin(&asked);
    exchange = asked_exchange(&asked, HTTP_POST);
    asked.route = (struct route){ .path = "/a.B/C", .is_procedure = true };
    exchange->request.body =
        SLICE("{\"start\":1,\"end\":9000000000000,\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\"}");
    exchange->request.begun_mono_ns = clock_mono_ns() - 10 * CLOCK_NS_PER_SECOND;
    exchange->request.headers = (struct http_headers){ .items = { { SLICE("content-type"), SLICE("application/json") },
                                                                  { SLICE("connect-timeout-ms"), SLICE("1000") } },
                                                       .n = 2 };
    querier_merge_stacktraces(exchange);
    CHECK_EQ(exchange->response.status, 504);
    CHECK_HAS(asked_body(&asked), "deadline_exceeded");
    atomic_store(&exchange->is_gone, true);
    exchange->request.headers.n = 1;
    querier_merge_stacktraces(exchange);
    CHECK_EQ(exchange->response.status, 499);
    asked_end(&asked);
}
