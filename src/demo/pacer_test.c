// SPDX-License-Identifier: Apache-2.0
#include "demo/pacer.h"

#include "base/clock.h"
#include "base/test.h"

#define MS (CLOCK_NS_PER_SECOND / 1000)

/* Somebody for whom each request takes 10 ms of CPU and no other time asks through several waves. */
TEST(pacer_grants_the_share_on_average)
{
    int64_t mono_ns = 5 * MS, used_ns = 77 * MS, end_ns = mono_ns + 400 * CLOCK_NS_PER_SECOND;
    struct pacer pacer;

    pacer_init(&pacer, 0.25, mono_ns, used_ns);
    while (mono_ns < end_ns) {
        used_ns += 10 * MS;
        mono_ns += 10 * MS + pacer_pause_ns(&pacer, mono_ns + 10 * MS, used_ns);
    }
    CHECK_NEAR((double)(used_ns - 77 * MS) / (double)(400 * CLOCK_NS_PER_SECOND), 0.25, 0.01);
}

TEST(pacer_keeps_nothing_for_long)
{
    struct pacer pacer;

    pacer_init(&pacer, 0.5, 0, 0);
    CHECK_EQ(pacer_pause_ns(&pacer, 1000 * CLOCK_NS_PER_SECOND, 0), 0);
    CHECK(pacer.credit_ns <= 0.5 * 1.4 * 200 * (double)MS);
    CHECK(pacer_pause_ns(&pacer, 1000 * CLOCK_NS_PER_SECOND, CLOCK_NS_PER_SECOND) > 0);
}

TEST(pacer_never_waits_for_ever)
{
    struct pacer pacer;

    pacer_init(&pacer, 0.01, 0, 0);
    CHECK_EQ(pacer_pause_ns(&pacer, 1, 1000 * CLOCK_NS_PER_SECOND), CLOCK_NS_PER_SECOND);
}

TEST(pacer_share_rises_and_falls)
{
    struct pacer pacer;

    pacer_init(&pacer, 0.5, 0, 0);
    CHECK_NEAR(pacer_share_at(&pacer, 0), 0.5, 1e-9);
    CHECK_NEAR(pacer_share_at(&pacer, 25 * CLOCK_NS_PER_SECOND), 0.7, 1e-9);
    CHECK_NEAR(pacer_share_at(&pacer, 50 * CLOCK_NS_PER_SECOND), 0.5, 1e-9);
    CHECK_NEAR(pacer_share_at(&pacer, 75 * CLOCK_NS_PER_SECOND), 0.3, 1e-9);
}
