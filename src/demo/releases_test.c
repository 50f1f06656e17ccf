// SPDX-License-Identifier: Apache-2.0
#include "demo/releases.h"

#include "base/test.h"

TEST(releases_take_turns)
{
    struct releases releases = { .start_mono_ns = 100, .every_ns = 10 };

    CHECK_TEXT(releases_name(0), "1.0.0");
    CHECK_TEXT(releases_name(1), "1.1.0");
    CHECK_EQ(releases_at(&releases, 100), 0);
    CHECK_EQ(releases_at(&releases, 109), 0);
    CHECK_EQ(releases_end_ns(&releases, 109), 110);
    CHECK_EQ(releases_at(&releases, 110), 1);
    CHECK_EQ(releases_end_ns(&releases, 110), 120);
    CHECK_EQ(releases_at(&releases, 120), 0);
}

TEST(releases_may_last_for_ever)
{
    struct releases releases = { .start_mono_ns = 100 };

    CHECK_EQ(releases_at(&releases, 1000000), 0);
    CHECK_EQ(releases_end_ns(&releases, 1000000), INT64_MAX);
    releases.every_ns = INT64_MAX;
    CHECK_EQ(releases_at(&releases, 1000000), 0);
    CHECK_EQ(releases_end_ns(&releases, 1000000), INT64_MAX);
}

TEST(releases_are_both_there_soon)
{
    int64_t every_ns = 15 * RELEASES_FIRST_NS, now_ns = 1000;
    struct releases releases = releases_from(now_ns, every_ns);

    CHECK_EQ(releases_at(&releases, now_ns), 0);
    CHECK_EQ(releases_end_ns(&releases, now_ns), now_ns + RELEASES_FIRST_NS);
    CHECK_EQ(releases_at(&releases, now_ns + RELEASES_FIRST_NS), 1);
    CHECK_EQ(releases_end_ns(&releases, now_ns + RELEASES_FIRST_NS), now_ns + RELEASES_FIRST_NS + every_ns);
    releases = releases_from(now_ns, 10);
    CHECK_EQ(releases_end_ns(&releases, now_ns), now_ns + 10);
    releases = releases_from(now_ns, 0);
    CHECK_EQ(releases_end_ns(&releases, now_ns), INT64_MAX);
    releases = releases_from(now_ns, INT64_MAX);
    CHECK_EQ(releases_end_ns(&releases, now_ns), now_ns + RELEASES_FIRST_NS);
}
