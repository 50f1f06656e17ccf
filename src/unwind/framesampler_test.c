// SPDX-License-Identifier: Apache-2.0
#include "unwind/framesampler.h"

#include "base/test.h"
#include "base/thread.h"
#include "unwind/hotwork_test.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define RATE_HZ 250
#define WORK_NS (CLOCK_NS_PER_SECOND * 3 / 10)

struct tally {
    uint64_t n_samples, weight, n_hot, hot_weight, n_deep, n_labelled, n_inner, n_outer;
};

/* A machine whose processor is wanted by others gives few signals, which stand for many samples each: tests that look at where
 * samples are work until there are so many. */
#define ENOUGH_SAMPLES 40
#define MAX_ROUNDS     20

static const struct framesampler_label checkout = { "endpoint", "/checkout" };

static const struct framesampler_span outer = { "trace-of-16-byte", "outer-id" };
static const struct framesampler_span inner = { "trace-of-16-byte", "inner-id" };

static bool is_span(const struct framesampler_span *span, const struct framesampler_span *wanted)
{
    return span && memcmp(span, wanted, sizeof(*span)) == 0;
}

/* The leaf is one small function, so its addresses are close to its beginning. */
static void count(void *context, const struct framesampler_sample *sample)
{
    struct tally *tally = context;

    CHECK(sample->depth >= 1 && sample->weight >= 1);
    tally->n_samples++;
    tally->weight += sample->weight;
    if (sample->frames[0] - (uintptr_t)hotwork_leaf < 1024) {
        tally->n_hot++;
        tally->hot_weight += sample->weight;
    }
    tally->n_deep += sample->depth >= 2 && sample->frames[1] - (uintptr_t)hotwork_run < 1024;
    if (sample->label == &checkout)
        tally->n_labelled++;
    tally->n_inner += is_span(sample->span, &inner);
    tally->n_outer += is_span(sample->span, &outer);
}

static struct tally drain(void)
{
    struct tally tally = { 0 };

    framesampler_drain(count, &tally);
    return tally;
}

TEST(framesampler_sees_where_the_time_goes)
{
    struct tally tally = { 0 };
    struct error err;
    int n_rounds;

    CHECK_OK(framesampler_start(RATE_HZ, &err), &err);
    CHECK(framesampler_counts().n_threads >= 1);
    framesampler_set_label(&checkout);
    for (n_rounds = 0; n_rounds < MAX_ROUNDS && tally.n_samples < ENOUGH_SAMPLES; n_rounds++) {
        hotwork_run(WORK_NS);
        framesampler_drain(count, &tally);
    }
    framesampler_set_label(NULL);
    framesampler_stop();
    CHECK_EQ(framesampler_counts().n_threads, 0);
    framesampler_drain(count, &tally);
    if (HOTWORK_IS_DELAYED)
        test_skip("impossible here: the thread sanitizer delays signals, and with them what is seen");
    /* Timers are looked at when the kernel ticks, but none is forgotten: weights make up for it. */
    CHECK_NEAR((double)tally.weight, (double)n_rounds * WORK_NS * RATE_HZ / CLOCK_NS_PER_SECOND, 15 * n_rounds);
    CHECK(tally.n_hot * 10 > tally.n_samples * 7);
    CHECK(tally.n_deep * 10 > tally.n_samples * 7);
    CHECK(tally.n_labelled + 2 >= tally.n_samples);
    CHECK_EQ(drain().n_samples, 0);
}

TEST(framesampler_ties_samples_to_the_innermost_span)
{
    struct tally tally = { 0 };
    struct error err;

    CHECK_OK(framesampler_start(RATE_HZ, &err), &err);
    CHECK(framesampler_set_span(&outer) == NULL);
    for (int i = 0; i < MAX_ROUNDS && (tally.n_inner == 0 || tally.n_outer == 0); i++) {
        struct framesampler_span own = inner;

        hotwork_run(WORK_NS / 4);
        CHECK(framesampler_set_span(&own) == &outer);
        hotwork_run(WORK_NS / 4);
        CHECK(framesampler_set_span(&outer) == &own);
        memset(&own, 0, sizeof(own)); /* samples have copies */
        framesampler_drain(count, &tally);
    }
    CHECK(framesampler_set_span(NULL) == &outer);
    drain();
    hotwork_run(WORK_NS / 4);
    framesampler_stop();
    CHECK(tally.n_outer > 0);
    CHECK(HOTWORK_IS_DELAYED || tally.n_inner > 0);
    tally = drain();
    CHECK(HOTWORK_IS_DELAYED || tally.n_inner + tally.n_outer == 0);
}

static void work(struct thread *thread UNUSED, void *context UNUSED)
{
    hotwork_run(WORK_NS);
}

static void wait_and_work(struct thread *thread, void *context)
{
    while (!atomic_load((_Atomic bool *)context))
        if (!thread_sleep(thread, CLOCK_NS_PER_SECOND / 1000))
            return;
    hotwork_run(WORK_NS);
}

TEST(framesampler_follows_threads_that_begin_and_end)
{
    _Atomic bool may_work = false;
    struct thread late, later;
    struct tally tally;
    struct error err;
    uint32_t n, n_with;

    CHECK_OK(framesampler_start(RATE_HZ, &err), &err);
    n = framesampler_counts().n_threads;
    CHECK_OK(thread_start(&late, "late", wait_and_work, &may_work, &err), &err);
    CHECK_OK(framesampler_follow(&err), &err);
    n_with = framesampler_counts().n_threads;
    CHECK(n_with > n); /* a sanitizer may have begun one of its own */
    atomic_store(&may_work, true);
    thread_stop(&late);
    tally = drain();
    CHECK(HOTWORK_IS_DELAYED || tally.hot_weight > 10);
    CHECK_OK(framesampler_follow(&err), &err);
    CHECK_EQ(framesampler_counts().n_threads, n_with - 1);
    CHECK_OK(thread_start(&later, "later", work, NULL, &err), &err);
    thread_stop(&later); /* nobody has looked for it */
    framesampler_stop();
    CHECK_EQ(drain().n_hot, 0);
}

TEST(framesampler_counts_what_does_not_fit)
{
    struct framesampler_counts before = framesampler_counts(), after;
    struct error err;

    if (HOTWORK_IS_DELAYED)
        test_skip("impossible here: the thread sanitizer delays signals, and joins them");
    CHECK_OK(framesampler_start(FRAMESAMPLER_MAX_RATE_HZ, &err), &err);
    for (int i = 0; i < 100 && framesampler_counts().n_lost == before.n_lost; i++)
        hotwork_run(WORK_NS);
    framesampler_stop();
    after = framesampler_counts();
    CHECK(after.n_lost > before.n_lost);
    CHECK_EQ(drain().n_samples, after.n_taken - before.n_taken);
}

TEST(framesampler_runs_once_at_a_time_and_again)
{
    struct error err;

    for (int i = 0; i < 3; i++) {
        CHECK_OK(framesampler_start(RATE_HZ, &err), &err);
        CHECK_ERROR(framesampler_start(RATE_HZ, &err), &err, ERR_EXISTS);
        framesampler_stop();
    }
    framesampler_stop(); /* twice is fine */
    CHECK_OK(framesampler_follow(&err), &err);
}

TEST(framesampler_leaves_reads_alone)
{
    struct error err;
    char bytes[64];
    int ends[2];

    CHECK(pipe(ends) == 0);
    CHECK_OK(framesampler_start(FRAMESAMPLER_MAX_RATE_HZ, &err), &err);
    for (int i = 0; i < 200; i++) {
        hotwork_run(CLOCK_NS_PER_SECOND / 1000);
        errno = 77;
        CHECK_EQ(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
        CHECK_EQ(read(ends[0], bytes, sizeof(bytes)), sizeof(bytes));
        CHECK_EQ(errno, 77);
    }
    framesampler_stop();
    close(ends[0]);
    close(ends[1]);
    CHECK(raise(SIGPROF) == 0); /* a signal from elsewhere, or a late one, is no harm */
    drain();
}

static int start_and_stop(void *context UNUSED, struct error *err)
{
    if (framesampler_start(RATE_HZ, err) < 0)
        return -1;
    framesampler_stop();
    return 0;
}

TEST(framesampler_reports_that_memory_ran_out)
{
    test_each_allocation_failing(start_and_stop, NULL);
}
