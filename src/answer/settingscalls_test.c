// SPDX-License-Identifier: Apache-2.0
#include "answer/asked_test.h"

#define JSON "application/json"

static int call_json(struct asked *asked, void (*handler)(struct exchange *exchange), const char *body)
{
    return asked_call(asked, handler, JSON, slice_from(body));
}

TEST(settings_calls_keep_show_and_forget)
{
    struct asked asked;

    asked_begin(&asked);
    CHECK_EQ(call_json(&asked, settingscalls_get, "{}"), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    CHECK_EQ(
        call_json(&asked, settingscalls_set, "{\"setting\":{\"name\":\"a\",\"value\":\"1\",\"modifiedAt\":\"5\"}}"),
        200);
    CHECK_TEXT(asked_body(&asked), "{\"setting\":{\"name\":\"a\",\"value\":\"1\",\"modifiedAt\":\"5\"}}");
    CHECK_EQ(call_json(&asked, settingscalls_get, "{}"), 200);
    CHECK_TEXT(asked_body(&asked), "{\"settings\":[{\"name\":\"a\",\"value\":\"1\",\"modifiedAt\":\"5\"}]}");
    CHECK_EQ(call_json(&asked, settingscalls_set, "{\"setting\":{\"name\":\"a\",\"value\":\"2\",\"modifiedAt\":4}}"),
             409);
    CHECK_HAS(asked_body(&asked), "{\"code\":\"already_exists\",");
    CHECK_EQ(call_json(&asked, settingscalls_delete, "{\"name\":\"a\"}"), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    CHECK_EQ(call_json(&asked, settingscalls_get, "{}"), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    asked_end(&asked);
}

TEST(settings_calls_speak_protobuf)
{
    struct asked asked;

    asked_begin(&asked);
    CHECK_EQ(asked_call(&asked, settingscalls_set, "application/proto", SLICE("\x0a\x08\x0a\x01x\x12\x01y\x18\x05")),
             200);
    CHECK_TEXT(asked_body(&asked), "\x0a\x08\x0a\x01x\x12\x01y\x18\x05");
    CHECK_EQ(asked_call(&asked, settingscalls_get, "application/proto", SLICE("")), 200);
    CHECK_TEXT(asked_body(&asked), "\x0a\x08\x0a\x01x\x12\x01y\x18\x05");
    asked_end(&asked);
}

TEST(settings_without_a_time_are_of_now)
{
    struct asked asked;

    asked_begin(&asked);
    CHECK_EQ(call_json(&asked, settingscalls_set, "{\"setting\":{\"name\":\"a\",\"value\":\"1\"}}"), 200);
    CHECK_HAS(asked_body(&asked), "\"modifiedAt\":\"1794744000000\"");
    asked_end(&asked);
}

TEST(settings_calls_refuse_in_sentences)
{
    static const struct {
        void (*handler)(struct exchange *exchange);
        const char *body, *words;
    } cases[] = {
        { settingscalls_get, "{", "settings.v1.GetSettingsRequest: line 1" },
        { settingscalls_set, "{}", "setting: missing" },
        { settingscalls_set, "{\"setting\":{\"value\":\"1\"}}", "a setting must have a name" },
        { settingscalls_delete, "{}", "name: missing" },
    };
    struct asked asked;

    asked_begin(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(call_json(&asked, cases[i].handler, cases[i].body), 400);
        CHECK_HAS(asked_body(&asked), "{\"code\":\"invalid_argument\",");
        CHECK_HAS(asked_body(&asked), cases[i].words);
    }
    asked_end(&asked);
}

TEST(settings_calls_need_one_tenant_where_there_are_several)
{
    struct asked asked;

    asked_begin(&asked);
    asked.answer.is_multi_tenant = true;
    CHECK_EQ(call_json(&asked, settingscalls_get, "{}"), 401);
    CHECK_HAS(asked_body(&asked), "no org id");
    asked_end(&asked);
}
