// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

#include <stdio.h>

/* Locations 1 to 200, without lines, at address 1 to 200. */
static void put_locations(struct buffer *out)
{
    protobuf_put_bytes_always(out, 2, SLICE(""));
    for (uint32_t i = 1; i <= 200; i++) {
        size_t begin = protobuf_begin(out, 2);

        protobuf_put_uint(out, 2, i);
        protobuf_end(out, begin);
    }
}

/* The frames of one stack, given as the bytes of its entry, under a depth limit. */
static const char *stack_of(struct slice entry, uint32_t max_depth, bool has_margin, struct batch *batch)
{
    static char text[512];
    struct profile_limits limits = profile_default_limits;
    struct buffer out;
    struct error err;
    size_t dictionary;
    const uint32_t *frames;
    uint32_t depth;

    buffer_init(&out, 0);
    dictionary = protobuf_begin(&out, 2);
    put_locations(&out);
    protobuf_put_bytes_always(&out, 7, SLICE(""));
    protobuf_put_bytes_always(&out, 7, entry);
    protobuf_put_bytes(&out, 7, SLICE("\x0a\2\1\2"));
    if (has_margin)
        protobuf_put_bytes(&out, 100, SLICE("................................................................"));
    protobuf_end(&out, dictionary);
    limits.max_depth = max_depth;
    batch_init(batch, &limits);
    CHECK_OK(otlp_decode(buffer_slice(&out), batch, &err), &err);
    CHECK_OK(tables_check(&batch->tables, &err), &err);
    frames = tables_stack(&batch->tables, 1, &depth);
    text[0] = '\0';
    for (uint32_t i = 0; i < depth; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%llu ",
                 (unsigned long long)batch->tables.frames[frames[i]].address);
    frames = tables_stack(&batch->tables, 2, &depth);
    CHECK_EQ(depth, MIN(max_depth, 2u));
    CHECK_EQ(frames[0], 1);
    buffer_done(&out);
    return text;
}

static void check_stack(struct slice entry, uint32_t max_depth, const char *frames, const char *kind, uint64_t count)
{
    for (int has_margin = 0; has_margin < 2; has_margin++) {
        struct batch batch;

        CHECK_TEXT(stack_of(entry, max_depth, has_margin, &batch), frames);
        if (kind)
            CHECK_EQ(report_count(&batch.report, kind), count);
        CHECK_EQ(report_total(&batch.report), count);
        batch_done(&batch);
    }
}

TEST(otlp_stacks_are_read_packed_and_one_by_one_and_mixed)
{
    check_stack(SLICE("\x0a\5\1\2\xc8\1\3"), 1024, "1 2 200 3 ", NULL, 0);
    check_stack(SLICE("\x08\1\x08\xc8\1"), 1024, "1 200 ", NULL, 0);
    check_stack(SLICE("\x0a\2\1\2\x08\3\x0a\1\4"), 1024, "1 2 3 4 ", NULL, 0);
    check_stack(SLICE(""), 1024, "", NULL, 0);
}

TEST(otlp_stacks_are_cut_at_the_root)
{
    check_stack(SLICE("\x0a\4\1\2\3\4"), 3, "1 2 3 ", "stack deeper than the limit; cut at the root", 1);
    check_stack(SLICE("\x0a\4\1\2\3\4"), 4, "1 2 3 4 ", NULL, 0);
    check_stack(SLICE("\x0a\2\1\2\x0a\2\3\4"), 3, "1 2 3 ", "stack deeper than the limit; cut at the root", 1);
}

TEST(otlp_stacks_leave_location_0_out)
{
    check_stack(SLICE("\x0a\3\1\0\2"), 1024, "1 2 ", "stack with location 0, which means none; left out", 1);
}
