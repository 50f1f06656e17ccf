// SPDX-License-Identifier: Apache-2.0
#include "trace/traceoften.h"

#include "base/clock.h"
#include "trace/tracesample_test.h"
#include "trace/tracestore_internal.h"

#define NOW     (TRACESAMPLE_DAY + 12 * TRACESAMPLE_HOUR)
#define N_EACH  3000u /* traces of each closing; none is in both */
#define EVERY   50u   /* of them, that are in the head, too */
#define N_OFTEN (2 * N_EACH / EVERY)

static void write_traces(struct tracestore *store, uint64_t first, uint64_t end, uint64_t step)
{
    struct error err;

    for (uint64_t trace = first; trace < end; trace += step) {
        struct span span = tracesample_span(trace, trace + 1, 0, NOW - TRACESAMPLE_SECOND, 1000);
        struct tracestore_receipt receipt;

        CHECK_OK(tracestore_write(store, SLICE("t"), &(struct span_list){ &span, 1 }, &receipt, &err), &err);
    }
}

static struct tracestore *open_store(void)
{
    struct tracestore_options options = { .data_dir = test_directory() };
    struct tracestore *store;
    struct error err;

    clock_fake_set(NOW);
    CHECK_OK(tracestore_open(&options, &store, &err), &err);
    return store;
}

struct looking {
    struct traceread read;
    bool is_unknown; /* what is wanted */
};

static int look(void *context, const struct hourly_view *view, struct error *err)
{
    struct looking *looking = context;
    struct traceoften often = { 0 };

    CHECK_EQ(view->n_closings, 2);
    CHECK_EQ(view->n_heads, 1);
    CHECK_OK(traceoften_find(&often, &looking->read, view, 11, err), err);
    CHECK_EQ(often.is_unknown, looking->is_unknown);
    CHECK(often.hashes.capacity * sizeof(uint64_t) <= MAX(looking->read.max_bytes, 8 * 3 * sizeof(uint64_t)));
    if (!often.is_unknown)
        CHECK_EQ(often.hashes.n, N_OFTEN);
    for (uint64_t trace = 0; trace < 2 * N_EACH; trace++) {
        uint8_t id[SPAN_TRACE_ID_BYTES];

        tracesample_trace_id(trace, id);
        CHECK_EQ(traceoften_has(&often, id), often.is_unknown || trace % EVERY == 0);
    }
    traceoften_done(&often);
    return 0;
}

static void check_with(struct tracestore *store, size_t max_bytes, bool is_unknown)
{
    struct tracestore_asker asker = { .max_bytes = max_bytes };
    struct looking looking = { .is_unknown = is_unknown };
    struct error err;

    CHECK_OK(traceread_init(&looking.read, store->hourly, SLICE("t"), &asker, &err), &err);
    CHECK_OK(hourly_each_day(store->hourly, TRACESAMPLE_DAY, NOW, false, look, &looking, &err), &err);
    traceread_done(&looking.read);
}

TEST(traceoften_finds_the_traces_of_several_heads_and_closings_in_any_memory)
{
    struct tracestore *store = open_store();
    struct error err;

    write_traces(store, 0, N_EACH, 1);
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    write_traces(store, N_EACH, 2 * N_EACH, 1);
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    write_traces(store, 0, 2 * N_EACH, EVERY);
    check_with(store, 0, false);
    check_with(store, N_EACH * sizeof(uint64_t), false);      /* a few parts */
    check_with(store, 2 * N_OFTEN * sizeof(uint64_t), false); /* dozens of them, and just enough for what is found */
    check_with(store, 2 * (N_OFTEN - 1) * sizeof(uint64_t), true); /* one too many is found */
    check_with(store, 1, true);
    tracestore_close(store);
}
