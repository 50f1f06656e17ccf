// SPDX-License-Identifier: Apache-2.0
#include "trace/traceindex.h"

#include "trace/tracesample_test.h"

struct pages {
    struct buffer bytes; /* of all pages; */
    size_t ends[64];     /* where each ends, */
    uint64_t firsts[64]; /* and its first hash */
    size_t n;
};

static int put_page(void *context, uint64_t first, struct slice page, struct error *err)
{
    struct pages *pages = context;

    CHECK(pages->n < ARRAY_LEN(pages->ends));
    buffer_append_slice(&pages->bytes, page);
    pages->firsts[pages->n] = first;
    pages->ends[pages->n++] = pages->bytes.len;
    return buffer_check(&pages->bytes, err);
}

static int build(void *context, struct error *err)
{
    struct pages *pages = context;
    struct traceindex_builder builder = { 0 };
    int result = 0;

    pages->n = 0;
    buffer_clear(&pages->bytes);
    for (uint32_t block = 0; result == 0 && block < 5; block++)
        for (uint64_t i = 0; result == 0 && i < 1000; i++)
            result = traceindex_builder_add(&builder, (i * 7919 + block * 500) % 4000 / 2, block, err);
    for (uint32_t block = 5; result == 0 && block < 2005; block++)
        result = traceindex_builder_add(&builder, 777, block, err);
    if (result == 0)
        result = traceindex_builder_finish(&builder, put_page, pages, err);
    traceindex_builder_done(&builder);
    return result;
}

TEST(traceindex_finds_each_pair_once_in_order_and_no_hash_in_two_pages)
{
    struct pages pages = { 0 };
    struct traceindex_pair pair, last = { 0 };
    struct error err;
    size_t n = 0, n_popular = 0;

    buffer_init(&pages.bytes, 1 << 20);
    CHECK_OK(build(&pages, &err), &err);
    CHECK(pages.n > 2);
    for (size_t i = 0; i < pages.n; i++) {
        size_t start = i == 0 ? 0 : pages.ends[i - 1];
        struct traceindex_reader reader;
        bool has;

        CHECK(i == 0 || pages.firsts[i] > last.hash);
        CHECK_OK(traceindex_reader_init(&reader, pages.firsts[i],
                                        slice_of(pages.bytes.data + start, pages.ends[i] - start), &err),
                 &err);
        for (;;) {
            CHECK_OK(traceindex_reader_next(&reader, &pair, &has, &err), &err);
            if (!has)
                break;
            CHECK(n == 0 || pair.hash > last.hash || (pair.hash == last.hash && pair.block > last.block));
            n_popular += pair.hash == 777;
            last = pair;
            n++;
        }
    }
    CHECK(n_popular >= 2000);
    CHECK(n > 4000 && n <= 7000);
    buffer_done(&pages.bytes);
}

TEST(traceindex_refuses_pages_that_are_cut)
{
    struct pages pages = { 0 };
    struct traceindex_reader reader;
    struct traceindex_pair pair;
    struct error err;

    buffer_init(&pages.bytes, 1 << 20);
    CHECK_OK(build(&pages, &err), &err);
    for (size_t len = 0; len < pages.ends[0]; len++) {
        bool has = true;
        int result = traceindex_reader_init(&reader, pages.firsts[0], slice_of(pages.bytes.data, len), &err);

        while (result == 0 && has)
            result = traceindex_reader_next(&reader, &pair, &has, &err);
        CHECK_ERROR(result, &err, ERR_CORRUPT);
    }
    pages.bytes.data[0] = 9;
    CHECK_ERROR(traceindex_reader_init(&reader, 0, buffer_slice(&pages.bytes), &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "of version 9");
    buffer_done(&pages.bytes);
}

TEST(traceindex_survives_failing_allocations)
{
    struct pages pages = { 0 };

    buffer_init(&pages.bytes, 1 << 20);
    test_each_allocation_failing(build, &pages);
    buffer_done(&pages.bytes);
}

TEST(traceindex_spreads_ids_that_begin_or_end_alike)
{
    uint8_t a[SPAN_TRACE_ID_BYTES] = { 0 }, b[SPAN_TRACE_ID_BYTES] = { 0 };

    a[15] = 1;
    b[15] = 2;
    CHECK(traceindex_hash(a) != traceindex_hash(b));
    CHECK(traceindex_hash(a) < (uint64_t)1 << 40);
    b[15] = 1;
    b[0] = 1;
    CHECK(traceindex_hash(a) != traceindex_hash(b));
}
