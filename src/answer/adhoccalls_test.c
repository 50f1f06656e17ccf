// SPDX-License-Identifier: Apache-2.0
#include "answer/adhocfiles.h"
#include "answer/asked_test.h"

#include <stdio.h>

static void begin(struct asked *asked)
{
    struct error err;

    asked_begin(asked);
    CHECK_OK(adhocfiles_open(&(struct adhocfiles_options){ .data_dir = asked->sample.path }, &asked->answer.adhocfiles,
                             &err),
             &err);
}

static void end(struct asked *asked)
{
    adhocfiles_close(asked->answer.adhocfiles);
    asked_end(asked);
}

static int call(struct asked *asked, void (*handler)(struct exchange *exchange), const char *body)
{
    return asked_call(asked, handler, "application/json", slice_from(body));
}

/* Uploads a profile in base64; its id, of 32 digits, is in `id`. */
static void upload(struct asked *asked, const char *base64, char id[static 64])
{
    char request[256];
    const char *at;

    snprintf(request, sizeof(request), "{\"name\":\"cpu.folded\",\"profile\":\"%s\"}", base64);
    CHECK_EQ(call(asked, adhoccalls_upload, request), 200);
    at = strstr((const char *)asked->exchange->response.body.data, "\"id\":\"");
    CHECK(at && sscanf(at + 6, "%63[^\"]", id) == 1);
}

TEST(adhoc_calls_keep_a_profile_and_show_it_again)
{
    struct asked asked;
    char id[64], request[128];

    begin(&asked);
    CHECK_EQ(call(&asked, adhoccalls_list, "{}"), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    upload(&asked, "bWFpbjt3b3JrIDMKbWFpbiA0Cg==", id); /* main;work 3, main 4 */
    CHECK_HAS(asked_body(&asked), "\\\"numTicks\\\":7,");
    CHECK_EQ(call(&asked, adhoccalls_list, "{}"), 200);
    CHECK_HAS(asked_body(&asked), id);
    CHECK_HAS(asked_body(&asked), "\"name\":\"cpu.folded\"");
    snprintf(request, sizeof(request), "{\"id\":\"%s\"}", id);
    CHECK_EQ(call(&asked, adhoccalls_get, request), 200);
    CHECK_HAS(asked_body(&asked), "\\\"names\\\":[\\\"total\\\",\\\"main\\\",\\\"work\\\"]");
    end(&asked);
}

TEST(adhoc_calls_show_two_profiles_beside_each_other)
{
    struct asked asked;
    char left[64], right[64], request[256];

    begin(&asked);
    upload(&asked, "bWFpbjt3b3JrIDMKbWFpbiA0Cg==", left);
    upload(&asked, "bWFpbiA1Cg==", right); /* main 5 */
    CHECK(strcmp(left, right) != 0);
    snprintf(request, sizeof(request), "{\"leftId\":\"%s\",\"rightId\":\"%s\"}", left, right);
    CHECK_EQ(call(&asked, adhoccalls_diff, request), 200);
    CHECK_HAS(asked_body(&asked), "\\\"leftTicks\\\":7,\\\"rightTicks\\\":5");
    end(&asked);
}

TEST(adhoc_calls_refuse_in_sentences)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(call(&asked, adhoccalls_upload, "{\"name\":\"x\",\"profile\":\"?\"}"), 400);
    CHECK_EQ(call(&asked, adhoccalls_get, "{\"id\":\"00000000000000000000000000000000\"}"), 404);
    CHECK_EQ(call(&asked, adhoccalls_get, "{\"id\":\"../../etc/passwd\"}"), 404);
    CHECK_EQ(call(&asked, adhoccalls_diff, "{}"), 404);
    CHECK_HAS(asked_body(&asked), "left_id");
    end(&asked);
}
