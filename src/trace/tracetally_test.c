// SPDX-License-Identifier: Apache-2.0
#include "trace/tracetally.h"

#include "trace/tracesample_test.h"

TEST(tracetally_counts_and_comes_back)
{
    struct span early = tracesample_span(1, 1, 0, 500, 7), late = tracesample_span(1, 1, 0, TRACESAMPLE_DAY, 3);
    struct tracetally tally = { 0 }, other = { 0 }, none = { 0 }, back;
    struct buffer bytes;
    struct slice rest;
    struct error err;

    tracetally_add(&tally, &late);
    tracetally_add(&other, &early);
    tracetally_join(&tally, &other);
    tracetally_join(&tally, &none);
    CHECK_EQ(tally.n_spans, 2);
    CHECK_EQ(tally.min_start_ns, 500);
    CHECK_EQ(tally.max_start_ns, TRACESAMPLE_DAY);
    CHECK_EQ(tally.max_duration_ns, 7);
    buffer_init(&bytes, 100);
    tracetally_encode(&tally, &bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        rest = slice_of(bytes.data, len);
        CHECK_ERROR(tracetally_decode(&rest, &back, &err), &err, ERR_CORRUPT);
        CHECK_EQ(rest.len, len);
    }
    buffer_append_text(&bytes, "more");
    rest = buffer_slice(&bytes);
    CHECK_OK(tracetally_decode(&rest, &back, &err), &err);
    CHECK_TEXT(rest, "more");
    CHECK_EQ(memcmp(&back, &tally, sizeof(back)), 0);
    bytes.data[0] = 2;
    rest = buffer_slice(&bytes);
    CHECK_ERROR(tracetally_decode(&rest, &back, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "of version 2");
    buffer_done(&bytes);
}

TEST(tracetally_refuses_times_past_the_end)
{
    char bytes[] = "\1\1\377\377\377\377\377\377\377\377\177\1\1";
    struct slice rest = slice_of(bytes, sizeof(bytes) - 1);
    struct tracetally back;
    struct error err;

    CHECK_ERROR(tracetally_decode(&rest, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "end of time");
}
