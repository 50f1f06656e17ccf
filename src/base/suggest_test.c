// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include "base/test.h"

static const char *nearest(const char *typed)
{
    static const char *const names[] = { "retention", "listen", "log-level", "log-format", "top", "tree", "peek" };
    struct suggest suggest = suggest_start(slice_from(typed));

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        suggest_offer(&suggest, names[i]);
    return suggest.name ? suggest.name : "(none)";
}

TEST(suggest_finds_the_name_that_was_mistyped)
{
    CHECK_TEXT(nearest("retenton"), "retention");
    CHECK_TEXT(nearest("retnetion"), "retention");
    CHECK_TEXT(nearest("rettention"), "retention");
    CHECK_TEXT(nearest("RETENTION"), "retention");
    CHECK_TEXT(nearest("lisetn"), "listen");
    CHECK_TEXT(nearest("loglevel"), "log-level");
    CHECK_TEXT(nearest("otp"), "top");
    CHECK_TEXT(nearest("tre"), "tree");
}

TEST(suggest_takes_a_beginning_for_the_whole_and_the_first_of_equals)
{
    CHECK_TEXT(nearest("re"), "retention");
    CHECK_TEXT(nearest("log"), "log-level");
    CHECK_TEXT(nearest("log-f"), "log-format");
}

TEST(suggest_stays_silent_when_nothing_is_near)
{
    CHECK_TEXT(nearest("zebra"), "(none)");
    CHECK_TEXT(nearest("t"), "(none)");
    CHECK_TEXT(nearest(""), "(none)");
    CHECK_TEXT(nearest("to-something-else-entirely"), "(none)");
    CHECK_TEXT(nearest("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), "(none)");
}
