// SPDX-License-Identifier: Apache-2.0
#include "trace/tracecheck.h"

#include "base/clock.h"
#include "trace/tracesample_test.h"

#include <stdio.h>

/* Each value that is met is checked as it is, and then with its bytes changed one by one. */
struct trying {
    uint32_t n_values, n_found, n_changed;
};

static int try_value(struct trying *trying, enum hourly_part part, struct slice key, struct slice value,
                     struct error *err)
{
    static char copy[1 << 20];
    size_t step = MAX(value.len / 64, (size_t)1);

    if (key.ptr[0] == '\0')
        return 0;
    trying->n_values++;
    CHECK_OK(tracecheck(NULL, part, key, value, err), err);
    CHECK(value.len <= sizeof(copy));
    memcpy(copy, value.ptr, value.len);
    for (size_t i = 0; i < value.len; i += step) {
        copy[i] ^= 0x55;
        trying->n_changed++;
        if (tracecheck(NULL, part, key, slice_of(copy, value.len), err) < 0) {
            CHECK(err->code == ERR_CORRUPT || err->code == ERR_VERSION || err->code == ERR_LIMIT);
            trying->n_found++;
        }
        copy[i] ^= 0x55;
    }
    return 0;
}

static int try_family(struct trying *trying, const struct hourly_view *view, uint32_t family, enum hourly_part part,
                      struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;

    CHECK_OK(kv_iterator_new(view->kv, family, view->snapshot, slice_of(NULL, 0), true, &iterator, err), err);
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        CHECK_OK(try_value(trying, part, kv_iterator_key(iterator), kv_iterator_value(iterator), err), err);
    return kv_iterator_check(iterator, err);
}

static int try_day(void *context, const struct hourly_view *view, struct error *err)
{
    CHECK_OK(try_family(context, view, view->block_family, HOURLY_BLOCK, err), err);
    for (size_t i = 0; i < view->n_heads; i++)
        CHECK_OK(try_family(context, view, view->heads[i].family, HOURLY_ROW, err), err);
    return 0;
}

static void write_span(struct tracestore *store, uint64_t number, int64_t start_ns)
{
    AUTO(arena_done) struct arena arena;
    struct span span = tracesample_span(number, number + 1, 0, start_ns, 1000000);
    struct tracestore_receipt receipt;
    struct error err;

    arena_init(&arena, 0);
    tracesample_dress(&span, &arena);
    CHECK_OK(tracestore_write(store, SLICE("t"), &(struct span_list){ &span, 1 }, &receipt, &err), &err);
    CHECK_EQ(receipt.n_kept, 1);
}

static void show_line(void *context, const char *line)
{
    fprintf(stderr, "%s\n", line);
}

TEST(tracecheck_takes_what_the_store_makes_and_finds_changes)
{
    struct tracestore_options options = { .data_dir = test_directory() };
    struct hourly_verify verify = { .tell = show_line };
    struct trying trying = { .n_values = 0 };
    struct tracestore *store;
    struct error err;

    clock_fake_set(TRACESAMPLE_DAY + 10 * TRACESAMPLE_HOUR);
    CHECK_OK(tracestore_open(&options, &store, &err), &err);
    for (uint64_t i = 0; i < 200; i++)
        write_span(store, i, TRACESAMPLE_DAY + (int64_t)i * TRACESAMPLE_SECOND);
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    write_span(store, 1000, TRACESAMPLE_DAY + 9 * TRACESAMPLE_HOUR);
    CHECK_OK(hourly_verify(tracestore_hourly(store), &verify, &err), &err);
    CHECK_EQ(verify.n_bad_values, 0);
    CHECK(verify.n_rows >= 1);
    CHECK_OK(hourly_each_day(tracestore_hourly(store), 0, INT64_MAX, false, try_day, &trying, &err), &err);
    CHECK(trying.n_values >= 7);                   /* body, header, filter, page, tally, row, slot */
    CHECK(trying.n_found > trying.n_changed / 10); /* ids may be any; the database has checksums */
    tracestore_close(store);
}

TEST(tracecheck_tells_keys_that_nobody_made)
{
    struct error err;

    CHECK_ERROR(tracecheck(NULL, HOURLY_BLOCK, SLICE("q"), SLICE(""), &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "begins with byte 71");
    CHECK_ERROR(tracecheck(NULL, HOURLY_ROW, SLICE("s"), SLICE(""), &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "none of a span");
    CHECK_ERROR(tracecheck(NULL, HOURLY_ROW, SLICE("x"), SLICE("1"), &err), &err, ERR_CORRUPT);
    CHECK_ERROR(tracecheck(NULL, HOURLY_BLOCK, SLICE("i"), SLICE(""), &err), &err, ERR_CORRUPT);
    CHECK_ERROR(tracecheck(NULL, HOURLY_INDEX, SLICE("a"), SLICE(""), &err), &err, ERR_CORRUPT);
}
