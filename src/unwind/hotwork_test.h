// SPDX-License-Identifier: Apache-2.0
/* Work for tests of sampling: functions that are known to be hot, and stay functions. */
#pragma once

#include "base/base.h"
#include "base/clock.h"

#include <time.h>

#if defined(__clang__)
#define HOTWORK_FUNCTION __attribute__((noinline, unused))
#else
#define HOTWORK_FUNCTION __attribute__((noipa, unused))
#endif

#if defined(__SANITIZE_THREAD__)
/* The thread sanitizer calls handlers later than the signal came, at calls that it watches: where a thread was is lost. */
#define HOTWORK_IS_DELAYED true
#else
#define HOTWORK_IS_DELAYED false
#endif

static volatile uint64_t hotwork_sum;

static int64_t hotwork_thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * CLOCK_NS_PER_SECOND + now.tv_nsec;
}

HOTWORK_FUNCTION static uint64_t hotwork_leaf(uint64_t seed)
{
    for (int i = 0; i < 100000; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

HOTWORK_FUNCTION static uint64_t hotwork_cold(uint64_t seed)
{
    for (int i = 0; i < 500; i++)
        seed ^= seed << 13 ^ seed >> 7;
    return seed;
}

/* Uses the CPU for so long, nearly all of it in hotwork_leaf. */
HOTWORK_FUNCTION static void hotwork_run(int64_t cpu_ns)
{
    int64_t end = hotwork_thread_ns() + cpu_ns;

    while (hotwork_thread_ns() < end) {
        hotwork_sum += hotwork_leaf(hotwork_sum);
        hotwork_sum += hotwork_cold(hotwork_sum);
    }
}
