// SPDX-License-Identifier: Apache-2.0
#include "store/pace.h"

#include "base/clock.h"
#include "base/test.h"

#include <time.h>

static int64_t thread_cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * CLOCK_NS_PER_SECOND + time.tv_nsec;
}

TEST(pace_sleeps_as_long_as_the_share_asks_for)
{
    struct day_context context = { .close_cpu_share = 0.25 };
    int64_t begun_ns = clock_mono_ns(), begun_cpu_ns = thread_cpu_ns();
    struct pace pace;
    struct error err;

    pace_begin(&pace);
    while (thread_cpu_ns() - begun_cpu_ns < 10000000)
        continue;
    CHECK_OK(pace_keep(&pace, &context, &err), &err);
    /* Ten milliseconds of work at a quarter of a core are forty on the wall. */
    CHECK(clock_mono_ns() - begun_ns >= 39000000);
}

TEST(pace_tells_that_the_store_is_stopping)
{
    struct day_context context = { .close_cpu_share = 0 };
    struct pace pace;
    struct error err;

    pace_begin(&pace);
    CHECK_OK(pace_keep(&pace, &context, &err), &err);
    atomic_store_explicit(&context.is_stopping, true, memory_order_relaxed);
    CHECK_EQ(pace_keep(&pace, &context, &err), -1);
    CHECK_EQ(err.code, ERR_CLOSED);
    CHECK_HAS(err.text, "stopping");
}
