// SPDX-License-Identifier: Apache-2.0
#include "net/nuisance.h"

#include "base/clock.h"
#include "base/test.h"

#include <nghttp2/nghttp2.h>

TEST(nuisance_allows_some_and_more_with_time)
{
    struct nuisance nuisance = { 0 };

    clock_fake_set(0);
    for (int i = 0; i < 200; i++)
        CHECK(!nuisance_count(&nuisance, NGHTTP2_PING, 0, 8));
    CHECK_TEXT(nuisance_count(&nuisance, NGHTTP2_PING, 0, 8), "PING");
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    for (int i = 0; i < 19; i++) /* one of the 20 a second went to the one too many */
        CHECK(!nuisance_count(&nuisance, NGHTTP2_PING, 0, 8));
    CHECK(nuisance_count(&nuisance, NGHTTP2_PING, 0, 8));
    clock_fake_advance(1000 * CLOCK_NS_PER_SECOND);
    CHECK(!nuisance_count(&nuisance, NGHTTP2_PING, 0, 8));
}

TEST(nuisance_counts_each_kind_by_itself)
{
    struct nuisance nuisance = { 0 };

    clock_fake_set(0);
    for (int i = 0; i < 40; i++)
        CHECK(!nuisance_count(&nuisance, NGHTTP2_SETTINGS, 0, 0));
    CHECK_TEXT(nuisance_count(&nuisance, NGHTTP2_SETTINGS, 0, 0), "SETTINGS");
    CHECK(!nuisance_count(&nuisance, NGHTTP2_RST_STREAM, 0, 4));
    CHECK(!nuisance_count(&nuisance, NGHTTP2_PRIORITY, 0, 5));
}

TEST(nuisance_is_not_what_carries_requests)
{
    struct nuisance nuisance = { 0 };

    for (int i = 0; i < 5000; i++) {
        CHECK(!nuisance_count(&nuisance, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 20));
        CHECK(!nuisance_count(&nuisance, NGHTTP2_DATA, 0, 1));
        CHECK(!nuisance_count(&nuisance, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 0));
        CHECK(!nuisance_count(&nuisance, NGHTTP2_WINDOW_UPDATE, 0, 4));
    }
}
