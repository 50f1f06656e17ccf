// SPDX-License-Identifier: Apache-2.0
#include "intake/idlabels.h"

#include "store/store_sample_test.h"

#include <stdio.h>

static const char *parsed(const char *text, size_t n_bytes)
{
    static char out[40];
    uint8_t id[16] = { 0 };

    if (!idlabels_parse(slice_from(text), id, n_bytes))
        return "none";
    for (size_t i = 0; i < n_bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", id[i]);
    return out;
}

TEST(idlabels_reads_hex_and_decimal)
{
    CHECK_TEXT(parsed("00f067aa0ba902b7", 8), "00f067aa0ba902b7");
    CHECK_TEXT(parsed("00F067AA0BA902B7", 8), "00f067aa0ba902b7");
    CHECK_TEXT(parsed("1234567890123456", 8), "1234567890123456"); /* as long as a span in hex */
    CHECK_TEXT(parsed("67667974448284343", 8), "00f067aa0ba902b7");
    CHECK_TEXT(parsed("18446744073709551615", 8), "ffffffffffffffff");
    CHECK_TEXT(parsed("4bf92f3577b34da6a3ce929d0e0e4736", 16), "4bf92f3577b34da6a3ce929d0e0e4736");
    CHECK_TEXT(parsed("a3ce929d0e0e4736", 16), "0000000000000000a3ce929d0e0e4736");
    CHECK_TEXT(parsed("255", 16), "000000000000000000000000000000ff");
}

TEST(idlabels_that_are_none_are_told_apart)
{
    CHECK_TEXT(parsed("", 8), "none");
    CHECK_TEXT(parsed("0000000000000000", 8), "none");
    CHECK_TEXT(parsed("0", 8), "none");
    CHECK_TEXT(parsed("18446744073709551616", 8), "none");
    CHECK_TEXT(parsed("abc", 8), "none");
    CHECK_TEXT(parsed("00f067aa0ba902bg", 8), "none");
    CHECK_TEXT(parsed("-1", 8), "none");
    CHECK_TEXT(parsed("7c9e6679-7425-40de-944b-e07fc1f90ae7", 16), "none");
    CHECK_TEXT(parsed("340282366920938463463374607431768211456", 16), "none");
}

/* The samples of a profile after lifting: "stack {labels} link trace-span". */
static const char *lifted(const char *samples)
{
    static char out[1024];
    struct store_sample_profile wanted = { .at = "15T10:00", .types = "a/b", .samples = samples };
    struct batch batch;
    struct buffer text;
    struct error err;
    const struct profile *p;

    store_sample_batch(&wanted, 1, &batch);
    CHECK_OK(idlabels_lift(&batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    buffer_init(&text, 0);
    p = &batch.profiles[0];
    for (uint32_t i = 0; i < p->n_samples; i++) {
        const struct link *link = &batch.tables.links[profile_link(p, i)];

        store_sample_print_stack(&batch.tables, p->stacks[i], false, &text);
        store_sample_print_labels(&batch.tables, profile_label_set(p, i), &text);
        if (profile_link(p, i))
            buffer_printf(&text, " link %02x%02x-%02x%02x", link->trace_id[14], link->trace_id[15], link->span_id[6],
                          link->span_id[7]);
        buffer_append_byte(&text, '\n');
    }
    snprintf(out, sizeof(out), "%.*s", SLICE_ARG(buffer_slice(&text)));
    buffer_done(&text);
    batch_done(&batch);
    return out;
}

TEST(idlabels_become_links_in_every_spelling)
{
    CHECK_TEXT(lifted("a 1 {span_id=00f067aa0ba902b7;route=/x}"), "a {route=/x} link 0000-02b7\n");
    CHECK_TEXT(lifted("a 1 {pyroscope.profile_id=00f067aa0ba902b7}"), "a link 0000-02b7\n");
    CHECK_TEXT(lifted("a 1 {spanId=00f067aa0ba902b7;traceID=4bf92f3577b34da6a3ce929d0e0e4736}"), "a link 4736-02b7\n");
    CHECK_TEXT(lifted("a 1 {span id=#258;local root span id=#77;trace endpoint=GET /}"),
               "a {local root span id=#77;trace endpoint=GET /} link 0000-0102\n");
    CHECK_TEXT(lifted("a 1 {local root span id=258}"), "a link 0000-0102\n");
    CHECK_TEXT(lifted("a 1 {span id=#-1}"), "a link 0000-ffff\n");
    CHECK_TEXT(lifted("a 1 {process.context.label.trace_id=4bf92f3577b34da6a3ce929d0e0e4736}"), "a link 4736-0000\n");
}

TEST(idlabels_that_are_no_ids_stay_labels)
{
    CHECK_TEXT(lifted("a 1 {span_id=nonsense}"), "a {span_id=nonsense}\n");
    CHECK_TEXT(lifted("a 1 {profile_id=7c9e6679-7425-40de-944b-e07fc1f90ae7}"),
               "a {profile_id=7c9e6679-7425-40de-944b-e07fc1f90ae7}\n");
    CHECK_TEXT(lifted("a 1 {container_id=00f067aa0ba902b7;id=5}"), "a {container_id=00f067aa0ba902b7;id=5}\n");
}

TEST(idlabels_leave_samples_alone_that_have_links)
{
    CHECK_TEXT(lifted("a 1 {span_id=00f067aa0ba902b7} @0a-0b | b 1 {span_id=00f067aa0ba902b7} | c 1"),
               "a {span_id=00f067aa0ba902b7} link 0000-0000\nb link 0000-02b7\nc\n");
}

static int lift_step(void *context, struct error *err)
{
    struct batch *batch = context, copy = *batch;
    struct profile profile = batch->profiles[0];
    int result;

    arena_init(&copy.arena, 0);
    copy.profiles = &profile;
    profile.label_sets = memcpy(arena_alloc(&batch->arena, 4, err), profile.label_sets, 4);
    result = idlabels_lift(&copy, err);
    arena_done(&copy.arena);
    return result;
}

TEST(idlabels_survive_failing_allocations)
{
    struct store_sample_profile wanted = { .at = "15T10:00", .samples = "a 1 1 {span_id=00f067aa0ba902b7;b=c}" };
    struct batch batch;

    store_sample_batch(&wanted, 1, &batch);
    test_each_allocation_failing(lift_step, &batch);
    batch_done(&batch);
}
