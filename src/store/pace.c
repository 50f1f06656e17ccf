// SPDX-License-Identifier: Apache-2.0
#include "store/pace.h"

#include "base/clock.h"

#include <time.h>

/* The real clocks: time of tests may stand still. */
static int64_t read_clock(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * CLOCK_NS_PER_SECOND + time.tv_nsec;
}

void pace_begin(struct pace *pace)
{
    pace->begun_mono_ns = read_clock(CLOCK_MONOTONIC);
    pace->begun_cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int pace_keep(const struct pace *pace, const struct day_context *context, struct error *err)
{
    int64_t cpu_ns, wall_ns, owed_ns;
    struct timespec pause;

    /* Relaxed: seen soon enough. */
    if (atomic_load_explicit(&context->is_stopping, memory_order_relaxed))
        return error_set(err, ERR_CLOSED, "the store is stopping");
    if (context->close_cpu_share <= 0)
        return 0;
    wall_ns = read_clock(CLOCK_MONOTONIC) - pace->begun_mono_ns;
    cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - pace->begun_cpu_ns;
    owed_ns = (int64_t)((double)cpu_ns / context->close_cpu_share) - wall_ns;
    if (owed_ns < 1000000)
        return 0;
    owed_ns = MIN(owed_ns, CLOCK_NS_PER_SECOND / 4);
    pause = (struct timespec){ .tv_nsec = (long)owed_ns };
    nanosleep(&pause, NULL);
    return 0;
}
