// SPDX-License-Identifier: Apache-2.0
#include "unwind/framesampler.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/vec.h"
#include "unwind/framewalk.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define RING_MIN_SLOTS     256u
#define RING_SLOTS_PER_CPU 128u
#define RING_MAX_SLOTS     8192u
#define LIST_BYTES         (1u << 20) /* of the names of all threads */

/* A place in the ring. `turn` says whose it is: p while it is free for the sample with number p, p + 1 when that is in it. */
struct slot {
    _Atomic uint64_t turn;
    const struct framesampler_label *label;
    struct framesampler_span span;
    bool has_span;
    uint32_t weight;
    uint32_t depth;
    uintptr_t frames[FRAMEWALK_MAX_DEPTH];
};

struct followed {
    pid_t id;
    timer_t timer;
    bool has_timer;
};

/* Signal handlers have nothing but what is global. */
static struct {
    struct slot *slots; /* never freed (G1) */
    uint64_t mask;
    _Atomic uint64_t next_in; /* number of the next sample */
    uint64_t next_out;        /* of whoever drains */
    _Atomic bool is_running;
    _Atomic uint64_t n_taken, n_lost, n_unfollowed;
    _Atomic uint32_t n_threads;
    /* of whoever starts, follows and stops */
    VEC(struct followed) threads; /* by id */
    int64_t period_ns;
} sampler;

static _Thread_local const struct framesampler_label *thread_label;
static _Thread_local const struct framesampler_span *thread_span;

void framesampler_set_label(const struct framesampler_label *label)
{
    thread_label = label;
    atomic_signal_fence(memory_order_release); /* the handler of this very thread reads it */
}

/* One pointer changes at once, so the handler sees a whole span or another whole one, never parts of both. */
const struct framesampler_span *framesampler_set_span(const struct framesampler_span *span)
{
    const struct framesampler_span *before = thread_span;

    atomic_signal_fence(memory_order_release); /* what it points to is there before */
    thread_span = span;
    atomic_signal_fence(memory_order_release); /* and what is done for it comes behind */
    return before;
}

int64_t framesampler_period_ns(uint32_t rate_hz)
{
    return CLOCK_NS_PER_SECOND / rate_hz;
}

/* --- the handler --- */

/* A slot of one's own, or NULL if all are full. Any number of handlers may be here at a time. Signal-safe. */
static struct slot *claim_slot(uint64_t *ret_number)
{
    uint64_t number = atomic_load_explicit(&sampler.next_in, memory_order_relaxed);

    for (;;) {
        struct slot *slot = &sampler.slots[number & sampler.mask];
        /* acquire: whoever emptied the slot is done with it */
        uint64_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);

        if (turn < number)
            return NULL;
        if (turn > number) {
            number = atomic_load_explicit(&sampler.next_in, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&sampler.next_in, &number, number + 1, memory_order_relaxed,
                                                         memory_order_relaxed)) {
            *ret_number = number;
            return slot;
        }
    }
}

/* Signal-safe: no memory, no locks, errno is kept. */
static void handle_signal(int signal_number UNUSED, siginfo_t *info, void *context)
{
    int errnum = errno;
    struct framewalk_registers registers = framewalk_registers_of(context);
    struct slot *slot;
    uint64_t number;

    /* acquire: the ring is there */
    if (info->si_code != SI_TIMER || !atomic_load_explicit(&sampler.is_running, memory_order_acquire))
        return;
    slot = claim_slot(&number);
    if (!slot) {
        atomic_fetch_add_explicit(&sampler.n_lost, 1, memory_order_relaxed);
        errno = errnum;
        return;
    }
    slot->label = thread_label;
    slot->has_span = thread_span != NULL;
    if (slot->has_span)
        slot->span = *thread_span;
    slot->weight = 1 + (uint32_t)MAX(info->si_overrun, 0);
    slot->depth = framewalk(&registers, slot->frames, FRAMEWALK_MAX_DEPTH);
    atomic_fetch_add_explicit(&sampler.n_taken, 1, memory_order_relaxed);
    /* release: the sample is whole */
    atomic_store_explicit(&slot->turn, number + 1, memory_order_release);
    errno = errnum;
}

static int install_handler(struct error *err)
{
    struct sigaction action = { .sa_sigaction = handle_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
    sigset_t set;

    sigfillset(&action.sa_mask);
    if (sigaction(SIGPROF, &action, NULL) < 0)
        return error_set_errno(err, errno, "installing the handler of SIGPROF");
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return 0;
}

/* --- the ring --- */

static uint64_t choose_slots(void)
{
    uint64_t wanted = (uint64_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1) * RING_SLOTS_PER_CPU, n = RING_MIN_SLOTS;

    while (n < wanted && n < RING_MAX_SLOTS)
        n *= 2;
    return n;
}

static int make_ring(struct error *err)
{
    uint64_t n = choose_slots();

    if (sampler.slots)
        return 0;
    sampler.slots = memory_alloc_zero((size_t)n * sizeof(struct slot), err);
    if (!sampler.slots)
        return -1;
    for (uint64_t i = 0; i < n; i++)
        atomic_init(&sampler.slots[i].turn, i);
    sampler.mask = n - 1;
    return 0;
}

void framesampler_drain(void (*take)(void *context, const struct framesampler_sample *sample), void *context)
{
    while (sampler.slots) {
        struct slot *slot = &sampler.slots[sampler.next_out & sampler.mask];

        /* acquire: the sample is whole */
        if (atomic_load_explicit(&slot->turn, memory_order_acquire) != sampler.next_out + 1)
            return;
        take(context, &(struct framesampler_sample){ .label = slot->label,
                                                     .span = slot->has_span ? &slot->span : NULL,
                                                     .weight = slot->weight,
                                                     .depth = slot->depth,
                                                     .frames = slot->frames });
        sampler.next_out++;
        /* release: nobody reads it any more */
        atomic_store_explicit(&slot->turn, sampler.next_out + sampler.mask, memory_order_release);
    }
}

static void forget_sample(void *context UNUSED, const struct framesampler_sample *sample UNUSED) {}

/* --- threads --- */

/* The clock of the CPU time of any thread of this process: the kernel's own numbering. */
static clockid_t thread_clock(pid_t id)
{
    return (clockid_t)(~(unsigned)id << 3 | 6u);
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ ns / CLOCK_NS_PER_SECOND, ns % CLOCK_NS_PER_SECOND };
}

/* The first sample of a thread comes anywhere within the first period: else threads that work for less than one would
 * never be seen, however often sampling begins anew. */
static int64_t first_ns(pid_t id)
{
    return 1 + (int64_t)(hash_mix64((uint64_t)id ^ (uint64_t)clock_mono_ns() << 24) % (uint64_t)sampler.period_ns);
}

/* Without one the thread is not sampled: it may have ended just now, or there may be no more timers. */
static void give_timer(struct followed *thread)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
    struct itimerspec times = { .it_interval = timespec_of(sampler.period_ns),
                                .it_value = timespec_of(first_ns(thread->id)) };

    event.sigev_notify_thread_id = thread->id;
    if (timer_create(thread_clock(thread->id), &event, &thread->timer) < 0) {
        atomic_fetch_add(&sampler.n_unfollowed, 1);
        return;
    }
    thread->has_timer = timer_settime(thread->timer, 0, &times, NULL) == 0;
    if (!thread->has_timer)
        timer_delete(thread->timer);
}

static void take_timer(struct followed *thread)
{
    if (thread->has_timer)
        timer_delete(thread->timer);
    thread->has_timer = false;
}

static int compare_ids(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

    return a < b ? -1 : a > b;
}

static int list_threads(struct arena *arena, pid_t **ret_ids, size_t *ret_n, struct error *err)
{
    struct fs_listing listing;
    pid_t *ids;
    size_t n = 0;

    if (fs_list("/proc/self/task", arena, &listing, err) < 0)
        return -1;
    ids = ARENA_ARRAY(arena, pid_t, listing.n, err);
    if (!ids)
        return -1;
    for (size_t i = 0; i < listing.n && n < FRAMESAMPLER_MAX_THREADS; i++) {
        uint64_t id;

        if (slice_to_u64(slice_from(listing.names[i]), &id) && id <= INT32_MAX)
            ids[n++] = (pid_t)id;
    }
    qsort(ids, n, sizeof(*ids), compare_ids);
    *ret_ids = ids;
    *ret_n = n;
    return 0;
}

/* Goes through those who were known and those who are there now, both by id. The old list is left to be freed. */
static void merge_threads(const pid_t *ids, size_t n, struct followed *now)
{
    size_t old = 0;

    for (size_t i = 0; i < n; i++) {
        while (old < sampler.threads.n && sampler.threads.items[old].id < ids[i])
            take_timer(&sampler.threads.items[old++]);
        if (old < sampler.threads.n && sampler.threads.items[old].id == ids[i]) {
            now[i] = sampler.threads.items[old++];
            continue;
        }
        now[i] = (struct followed){ .id = ids[i] };
        give_timer(&now[i]);
    }
    while (old < sampler.threads.n)
        take_timer(&sampler.threads.items[old++]);
}

static int follow(struct arena *arena, struct error *err)
{
    struct followed *now;
    pid_t *ids;
    size_t n;

    if (list_threads(arena, &ids, &n, err) < 0)
        return -1;
    now = memory_alloc(MAX(n, (size_t)1) * sizeof(*now), err);
    if (!now)
        return -1;
    merge_threads(ids, n, now);
    memory_free(sampler.threads.items);
    sampler.threads.items = now;
    sampler.threads.n = sampler.threads.capacity = n;
    atomic_store(&sampler.n_threads, (uint32_t)n);
    return 0;
}

int framesampler_follow(struct error *err)
{
    struct arena arena;
    int result;

    if (!atomic_load(&sampler.is_running))
        return 0;
    arena_init(&arena, LIST_BYTES);
    result = follow(&arena, err);
    arena_done(&arena);
    return result;
}

/* --- the run --- */

int framesampler_start(uint32_t rate_hz, struct error *err)
{
    ASSERT(rate_hz >= 1 && rate_hz <= FRAMESAMPLER_MAX_RATE_HZ);
    if (atomic_load(&sampler.is_running))
        return error_set(err, ERR_EXISTS, "this process is sampled already");
    if (make_ring(err) < 0 || install_handler(err) < 0)
        return -1;
    framesampler_drain(forget_sample, NULL); /* of the run before */
    sampler.period_ns = framesampler_period_ns(rate_hz);
    atomic_store(&sampler.is_running, true);
    if (framesampler_follow(err) < 0) {
        framesampler_stop();
        return -1;
    }
    return 0;
}

void framesampler_stop(void)
{
    atomic_store(&sampler.is_running, false);
    VEC_EACH (&sampler.threads, thread)
        take_timer(thread);
    VEC_DONE(&sampler.threads);
    atomic_store(&sampler.n_threads, 0);
}

struct framesampler_counts framesampler_counts(void)
{
    return (struct framesampler_counts){ .n_taken = atomic_load(&sampler.n_taken),
                                         .n_lost = atomic_load(&sampler.n_lost),
                                         .n_unfollowed = atomic_load(&sampler.n_unfollowed),
                                         .n_threads = atomic_load(&sampler.n_threads) };
}
