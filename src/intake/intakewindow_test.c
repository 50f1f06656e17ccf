// SPDX-License-Identifier: Apache-2.0
#include "intake/intakewindow.h"

#include "base/test.h"

#define SECOND ((int64_t)1000000000)
#define NOW    (1794744000 * SECOND)

static struct profile settled(struct intakewindow window, int64_t start_ns, int64_t duration_ns)
{
    struct profile profile = { .start_ns = start_ns, .duration_ns = duration_ns };

    window.received_ns = NOW;
    intakewindow_settle(&window, &profile);
    return profile;
}

#define CHECK_WINDOW(got, start, duration)                                                                             \
    do {                                                                                                               \
        struct profile got_ = (got);                                                                                   \
        CHECK_EQ(got_.start_ns, (start));                                                                              \
        CHECK_EQ(got_.duration_ns, (duration));                                                                        \
    } while (0)

TEST(intakewindow_of_the_request_wins_if_it_is_sane)
{
    struct intakewindow window = { .from_ns = NOW - 15 * SECOND, .until_ns = NOW };

    CHECK_WINDOW(settled(window, NOW - 14 * SECOND, 10 * SECOND), NOW - 15 * SECOND, 15 * SECOND);
    window.until_ns = window.from_ns;
    CHECK_WINDOW(settled(window, NOW - 14 * SECOND, 10 * SECOND), NOW - 14 * SECOND, 10 * SECOND);
    window.until_ns = window.from_ns + INTAKEWINDOW_MAX_NS + 1;
    CHECK_WINDOW(settled(window, NOW - 14 * SECOND, 10 * SECOND), NOW - 14 * SECOND, 10 * SECOND);
    window = (struct intakewindow){ .from_ns = 10, .until_ns = 20 };
    CHECK_WINDOW(settled(window, NOW - 14 * SECOND, 10 * SECOND), NOW - 14 * SECOND, 10 * SECOND);
    window = (struct intakewindow){ .until_ns = NOW };
    CHECK_WINDOW(settled(window, NOW - 14 * SECOND, 10 * SECOND), NOW - 14 * SECOND, 10 * SECOND);
}

TEST(intakewindow_of_node_ends_at_its_time)
{
    struct intakewindow window = { .is_time_end = true };

    CHECK_WINDOW(settled(window, NOW, 60 * SECOND), NOW - 60 * SECOND, 60 * SECOND);
    CHECK_WINDOW(settled(window, NOW, 0), NOW, 0);
    CHECK_WINDOW(settled(window, NOW, INT64_MAX), 1, INT64_MAX);
}

TEST(intakewindow_in_1970_is_in_microseconds)
{
    CHECK_WINDOW(settled((struct intakewindow){ 0 }, NOW / 1000, 10 * SECOND), NOW, 10 * SECOND);
    CHECK_WINDOW(settled((struct intakewindow){ 0 }, INT64_MAX / 1000, 0), INT64_MAX / 1000 * 1000, 0);
    CHECK_WINDOW(settled((struct intakewindow){ 0 }, INT64_MAX / 1000 + 1, 0), INT64_MAX / 1000 + 1, 0);
}

TEST(intakewindow_without_a_time_ends_now)
{
    CHECK_WINDOW(settled((struct intakewindow){ 0 }, 0, 10 * SECOND), NOW - 10 * SECOND, 10 * SECOND);
    CHECK_WINDOW(settled((struct intakewindow){ 0 }, -7, 0), NOW, 0);
    CHECK_WINDOW(settled((struct intakewindow){ 0 }, 0, -5), NOW, 0);
}
