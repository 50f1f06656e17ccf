// SPDX-License-Identifier: Apache-2.0
#include "answer/asked_test.h"

#define JSON "application/json"

TEST(client_calls_are_answered_in_json)
{
    static const struct {
        void (*handler)(struct exchange *exchange);
        int status;
        const char *words;
    } cases[] = {
        { clientcalls_version, 200, "{\"QuerierAPI\":\"1\"}" },
        { clientcalls_features, 200, "{\"featureFlags\":[{\"name\":\"pyroscopeRuler\",\"description\":" },
        { clientcalls_debuginfo, 200, "{\"reason\":\"hearth takes no debug information" },
        { clientcalls_no_debuginfo, 501,
          "{\"code\":\"unimplemented\",\"message\":\"hearth takes no debug information" },
        { clientcalls_no_rules, 501, "{\"code\":\"unimplemented\",\"message\":\"hearth has no recording rules" },
        { clientcalls_no_repository, 501,
          "{\"code\":\"unimplemented\",\"message\":\"hearth does not read source code" },
    };
    struct asked asked;

    asked_begin(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(asked_call(&asked, cases[i].handler, JSON, SLICE("{}")), cases[i].status);
        CHECK_HAS(asked_body(&asked), cases[i].words);
    }
    asked_end(&asked);
}

TEST(client_calls_are_answered_in_protobuf)
{
    struct asked asked;

    asked_begin(&asked);
    CHECK_EQ(asked_call(&asked, clientcalls_version, "application/proto", SLICE("")), 200);
    CHECK_TEXT(asked_body(&asked), "\x08\x01");
    CHECK_EQ(asked_call(&asked, clientcalls_features, "application/proto", SLICE("")), 200);
    CHECK_HAS(asked_body(&asked), "\x0a\x0epyroscopeRuler\x1a");
    CHECK_EQ(asked_call(&asked, clientcalls_debuginfo, "application/proto", SLICE("\x0a\x03\x0a\x01z")), 200);
    CHECK_EQ(asked_body(&asked).ptr[0], 0x12);
    asked_end(&asked);
}

TEST(client_calls_of_another_type_are_refused)
{
    struct asked asked;

    asked_begin(&asked);
    CHECK_EQ(asked_call(&asked, clientcalls_no_rules, "text/plain", SLICE("{}")), 415);
    CHECK_EQ(asked_call(&asked, clientcalls_features, "text/plain", SLICE("{}")), 415);
    asked_end(&asked);
}
