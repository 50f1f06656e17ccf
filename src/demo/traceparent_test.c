// SPDX-License-Identifier: Apache-2.0
#include "demo/traceparent.h"

#include "base/test.h"

#include <string.h>

#define GOOD "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

TEST(traceparent_is_read_and_written)
{
    struct traceparent parent;
    char text[TRACEPARENT_BYTES];
    struct error err;

    CHECK_OK(traceparent_parse(SLICE(GOOD), &parent, &err), &err);
    CHECK_EQ(parent.trace_id[0], 0x4b);
    CHECK_EQ(parent.trace_id[15], 0x36);
    CHECK_EQ(parent.span_id[1], 0xf0);
    CHECK_EQ(parent.flags, TRACEPARENT_SAMPLED);
    CHECK_TEXT(traceparent_format(&parent, text), GOOD);
}

TEST(traceparent_of_a_later_version_may_have_more)
{
    struct traceparent parent;
    struct error err;

    CHECK_OK(traceparent_parse(SLICE("cc"
                                     "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what"),
                               &parent, &err),
             &err);
    CHECK_OK(traceparent_parse(SLICE("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03"), &parent, &err), &err);
    CHECK_EQ(parent.flags, 3);
}

TEST(traceparent_refuses_what_is_none)
{
    static const struct {
        const char *text, *story;
    } cases[] = {
        { "", "has not the form" },
        { GOOD "-more", "has not the form" },
        { "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more", "has not the form" },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01", "has not the form" },
        { "zz-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "has not the form" },
        { "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "version ff" },
        { "00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "other digits" },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bg-01", "other digits" },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x", "other digits" },
        { "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "an id of zeros" },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "an id of zeros" },
    };
    struct traceparent parent;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_ERROR(traceparent_parse(slice_from(cases[i].text), &parent, &err), &err, ERR_INVALID);
        CHECK_HAS(err.text, cases[i].story);
    }
    for (size_t len = 0; len < strlen(GOOD); len++) {
        char part[sizeof(GOOD)];

        memcpy(part, GOOD, sizeof(part));
        CHECK_ERROR(traceparent_parse(slice_of(part, len), &parent, &err), &err, ERR_INVALID);
    }
}
