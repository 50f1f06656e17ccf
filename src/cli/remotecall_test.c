// SPDX-License-Identifier: Apache-2.0
/* What needs no server; the others are in tests/e2e/api.sh. */
#include "cli/remotecall.h"

#include "base/test.h"

#include <stdio.h>

TEST(remotecall_encodes_what_is_not_plain)
{
    struct buffer parameters;

    buffer_init(&parameters, 0);
    remotecall_append(&parameters, "query", "shop{a=\"b c\"}&x");
    remotecall_append(&parameters, "from", "2026-11-15T10:00:00Z");
    remotecall_append(&parameters, "min-share", "0.5%\303\251");
    CHECK_TEXT(buffer_slice(&parameters), "query=shop%7Ba%3D%22b%20c%22%7D%26x&from=2026-11-15T10:00:00Z&"
                                          "min-share=0.5%25%C3%A9");
    buffer_done(&parameters);
}

TEST(remotecall_refuses_what_is_no_address)
{
    static const char *const wrong[] = {
        "127.0.0.1:4040", "http://", "https://", "unix:", "ftp://host", "", "localhost"
    };
    struct remotecall_answer answer;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CHECK_ERROR(remotecall_perform(&(struct remotecall){ .url = wrong[i], .path = "/" }, &answer, &err), &err,
                    ERR_USAGE);
        CHECK_HAS(err.text, "is no address of a server; give http://HOST:PORT, https://HOST:PORT or unix:PATH");
        remotecall_done(&answer);
    }
    CHECK_ERROR(remotecall_perform(&(struct remotecall){ .url = "http://host/?a=b", .path = "/" }, &answer, &err), &err,
                ERR_USAGE);
    CHECK_HAS(err.text, "has more than the address of a server in it");
    remotecall_done(&answer);
}

TEST(remotecall_says_that_nobody_answers)
{
    struct remotecall_answer answer;
    struct error err;
    char url[300];

    snprintf(url, sizeof(url), "unix:%s/none", test_directory());
    CHECK_ERROR(remotecall_perform(&(struct remotecall){ .url = url, .path = "/" }, &answer, &err), &err, ERR_IO);
    CHECK_HAS(err.text, "; is 'hearth server' running there?");
    remotecall_done(&answer);
}
