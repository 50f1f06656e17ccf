// SPDX-License-Identifier: Apache-2.0
#include "wire/pprof_example_internal.h"

TEST(pprof_samples_become_stacks_values_labels_and_links)
{
    struct buffer out;
    struct batch batch;
    const struct tables *t = &batch.tables;
    const struct profile *p;
    const struct label *labels;
    const uint32_t *frames;
    uint32_t n;

    buffer_init(&out, 0);
    example_profile(&out);
    example_decode(buffer_slice(&out), &batch);
    p = &batch.profiles[0];
    CHECK_EQ(p->n_samples, 3);
    CHECK_EQ(t->n_stacks, 4);
    CHECK_EQ(p->stacks[0], 1);
    CHECK_EQ(p->stacks[2], 3);
    frames = tables_stack(t, 1, &n);
    CHECK_EQ(n, 2);
    CHECK_EQ(frames[0], 1);
    CHECK_EQ(frames[1], 2);
    frames = tables_stack(t, 3, &n);
    CHECK_EQ(n, 3);
    CHECK_EQ(frames[1], 1);
    CHECK_EQ(profile_values(p, 0)[0], 3);
    CHECK_EQ(profile_values(p, 1)[0], 30000000);
    CHECK_EQ(profile_values(p, 0)[2], -2);
    CHECK_EQ(profile_values(p, 1)[2], -20000000);

    labels = tables_label_set(t, profile_label_set(p, 0), &n);
    CHECK_EQ(n, 2);
    CHECK_EQ(labels[0].kind, LABEL_STRING);
    CHECK_TEXT(tables_string(t, labels[0].key), "route");
    CHECK_TEXT(tables_string(t, labels[0].text), "/index");
    CHECK_EQ(labels[1].kind, LABEL_NUMBER);
    CHECK_EQ(labels[1].number, 4096);
    CHECK_TEXT(tables_string(t, labels[1].unit), "bytes");
    CHECK_EQ(profile_label_set(p, 1), 0);
    CHECK_EQ(profile_label_set(p, 2), 0);

    CHECK_EQ(profile_link(p, 0), 0);
    CHECK_EQ(profile_link(p, 1), 1);
    CHECK_EQ(t->links[1].span_id[0], 0x00);
    CHECK_EQ(t->links[1].span_id[1], 0xf0);
    CHECK_EQ(t->links[1].span_id[7], 0xb7);
    CHECK_EQ(t->links[1].trace_id[0], 0x4b);
    CHECK_EQ(t->links[1].trace_id[15], 0x36);
    batch_done(&batch);
    buffer_done(&out);
}

/* A profile of the usual symbols, whose samples are written by the test. */
static void begin_profile(struct buffer *out)
{
    buffer_init(out, 0);
    example_symbols(out);
    example_strings(out);
}

static void plain_sample(struct buffer *out)
{
    size_t begin = protobuf_begin(out, PPROF_PROFILE_SAMPLE);

    EXAMPLE_PACKED(out, PPROF_SAMPLE_LOCATION_ID, 2);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_VALUE, 5, 6);
    protobuf_end(out, begin);
}

TEST(pprof_packed_and_single_integers_mix_in_one_sample)
{
    struct buffer out;
    struct batch batch;
    const struct profile *p;
    const uint32_t *frames;
    uint32_t n;
    size_t begin;

    begin_profile(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    protobuf_put_uint(&out, PPROF_SAMPLE_VALUE, 8);
    protobuf_put_uint(&out, PPROF_SAMPLE_LOCATION_ID, 1);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 2, 2);
    protobuf_put_uint(&out, PPROF_SAMPLE_LOCATION_ID, 1);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 9);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 2);
    protobuf_put_bytes_always(&out, PPROF_SAMPLE_LOCATION_ID, SLICE("")); /* packed, but none */
    protobuf_end(&out, begin);
    example_decode(buffer_slice(&out), &batch);
    p = &batch.profiles[0];
    CHECK_EQ(report_total(&batch.report), 0);
    frames = tables_stack(&batch.tables, p->stacks[0], &n);
    CHECK_EQ(n, 5);
    CHECK(frames[0] == 1 && frames[1] == 2 && frames[2] == 2 && frames[3] == 1 && frames[4] == 2);
    CHECK_EQ(profile_values(p, 0)[0], 8);
    CHECK_EQ(profile_values(p, 1)[0], 9);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_sample_with_a_missing_location_is_dropped_and_told)
{
    struct buffer out;
    struct batch batch;
    const struct profile *p;
    size_t begin;

    begin_profile(&out);
    plain_sample(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    protobuf_put_uint(&out, PPROF_SAMPLE_LOCATION_ID, 1);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 2, 99);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    example_label(&out, EXAMPLE_ROUTE, EXAMPLE_INDEX_PAGE, 0, 0);
    protobuf_end(&out, begin);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 0); /* no location has id 0 */
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    protobuf_end(&out, begin);
    plain_sample(&out);
    example_decode(buffer_slice(&out), &batch);
    p = &batch.profiles[0];
    CHECK_EQ(p->n_samples, 2);
    CHECK_EQ(batch.tables.n_stacks, 3);
    CHECK_EQ(batch.tables.n_stack_frames, 2);
    CHECK_EQ(batch.tables.n_labels, 0);
    CHECK(!p->label_sets);
    CHECK_EQ(profile_total(p, 1), 12);
    CHECK_EQ(report_count(&batch.report, "sample refers to a missing location; dropped"), 2);
    CHECK_TEXT(batch.report.entries[0].example, "sample 1, location 99");
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_sample_with_the_wrong_number_of_values_is_dropped_and_told)
{
    struct buffer out;
    struct batch batch;
    size_t begin;

    begin_profile(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 1);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2, 3);
    protobuf_end(&out, begin);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    protobuf_put_uint(&out, PPROF_SAMPLE_VALUE, 1);
    protobuf_end(&out, begin);
    plain_sample(&out);
    protobuf_put_bytes_always(&out, PPROF_PROFILE_SAMPLE, SLICE(""));
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(batch.profiles[0].n_samples, 1);
    CHECK_EQ(profile_total(&batch.profiles[0], 0), 5);
    CHECK_EQ(report_count(&batch.report, "sample has another number of values than there are sample types; dropped"),
             3);
    CHECK_TEXT(batch.report.entries[0].example, "sample 0, 3 values for 2 types");
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_sample_without_frames_is_kept)
{
    struct buffer out;
    struct batch batch;
    uint32_t depth;
    size_t begin;

    begin_profile(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    protobuf_end(&out, begin);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_EQ(batch.profiles[0].n_samples, 1);
    (void)tables_stack(&batch.tables, batch.profiles[0].stacks[0], &depth);
    CHECK_EQ(depth, 0);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_stack_deeper_than_allowed_loses_its_root_end)
{
    struct profile_limits limits = profile_default_limits;
    struct buffer out;
    struct batch batch;
    struct error err = { 0 };
    const uint32_t *frames;
    uint32_t depth;
    size_t begin;

    limits.max_depth = 3;
    begin_profile(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 1, 2, 1, 2, 2);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    protobuf_end(&out, begin);
    plain_sample(&out);
    batch_init(&batch, &limits);
    CHECK_OK(pprof_decode(buffer_slice(&out), &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    frames = tables_stack(&batch.tables, 1, &depth);
    CHECK_EQ(depth, 3);
    CHECK(frames[0] == 1 && frames[1] == 2 && frames[2] == 1);
    frames = tables_stack(&batch.tables, 2, &depth);
    CHECK_EQ(depth, 1);
    CHECK_EQ(report_count(&batch.report, "stack is deeper than allowed; frames nearest the root are cut"), 1);
    CHECK_TEXT(batch.report.entries[0].example, "sample 0, 5 frames, the limit is 3");
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_label_with_a_missing_string_is_dropped_and_the_sample_kept)
{
    struct buffer out;
    struct batch batch;
    const struct label *labels;
    uint32_t n;
    size_t begin;

    begin_profile(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    example_label(&out, 1000, EXAMPLE_INDEX_PAGE, 0, 0);
    example_label(&out, EXAMPLE_ROUTE, 1001, 0, 0);
    example_label(&out, EXAMPLE_BYTES, 0, 5, 1002);
    example_label(&out, EXAMPLE_BYTES, 0, 5, 0);
    protobuf_end(&out, begin);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_count(&batch.report, "label refers to a missing string; label dropped"), 3);
    CHECK_TEXT(batch.report.entries[0].example, "sample 0, string 1000 of 24");
    labels = tables_label_set(&batch.tables, profile_label_set(&batch.profiles[0], 0), &n);
    CHECK_EQ(n, 1);
    CHECK_EQ(labels[0].number, 5);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_samples_before_the_first_labelled_one_have_no_labels)
{
    struct buffer out;
    struct batch batch;
    uint32_t n;

    begin_profile(&out);
    for (uint64_t i = 0; i < 5; i++) {
        size_t begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);

        EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 1, 2);
        EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, i, 2);
        if (i >= 2 && i != 3)
            example_label(&out, EXAMPLE_ROUTE, 0, 10 + i, 0);
        protobuf_end(&out, begin);
    }
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(batch.profiles[0].n_samples, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const struct label *labels = tables_label_set(&batch.tables, profile_label_set(&batch.profiles[0], i), &n);

        CHECK_EQ(n, i >= 2 && i != 3);
        if (n)
            CHECK_EQ(labels[0].number, 10 + i);
        CHECK_EQ(batch.profiles[0].values[i], i);
        (void)tables_stack(&batch.tables, batch.profiles[0].stacks[i], &n);
        CHECK_EQ(n, 2);
    }
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_deep_stacks_of_small_ids_grow_the_table_of_frames)
{
    enum { N = 8, DEPTH = 1000 };
    struct buffer out;
    struct batch batch;

    begin_profile(&out);
    for (uint32_t i = 0; i < N; i++) {
        size_t begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE), ids;

        ids = protobuf_begin(&out, PPROF_SAMPLE_LOCATION_ID);
        for (uint32_t k = 0; k < DEPTH; k++)
            protobuf_put_varint(&out, 1 + (i + k) % 2);
        protobuf_end(&out, ids);
        EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
        protobuf_end(&out, begin);
    }
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(batch.profiles[0].n_samples, N);
    CHECK_EQ(batch.tables.n_stack_frames, N * DEPTH);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t depth;
        const uint32_t *stack = tables_stack(&batch.tables, batch.profiles[0].stacks[i], &depth);

        CHECK_EQ(depth, DEPTH);
        for (uint32_t k = 0; k < depth; k++)
            if (stack[k] != 1 + (i + k) % 2)
                CHECK_EQ(stack[k], 1 + (i + k) % 2);
    }
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_labels_beyond_the_limit_are_dropped_and_told)
{
    struct profile_limits limits = profile_default_limits;
    struct buffer out;
    struct batch batch;
    struct error err = { 0 };
    uint32_t n;
    size_t begin;

    limits.max_labels_per_sample = 2;
    begin_profile(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    for (uint64_t i = 0; i < 5; i++)
        example_label(&out, EXAMPLE_ROUTE, 0, 10 + i, 0);     /* a key may repeat */
    example_label(&out, EXAMPLE_SPAN_ID, EXAMPLE_SPAN, 0, 0); /* is no label in the end */
    protobuf_end(&out, begin);
    batch_init(&batch, &limits);
    CHECK_OK(pprof_decode(buffer_slice(&out), &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    (void)tables_label_set(&batch.tables, profile_label_set(&batch.profiles[0], 0), &n);
    CHECK_EQ(n, 2);
    CHECK_EQ(profile_link(&batch.profiles[0], 0), 1);
    CHECK_EQ(report_count(&batch.report, "sample has more labels than allowed; the rest dropped"), 3);
    batch_done(&batch);
    buffer_done(&out);
}

/* One label as bytes say it. */
static struct label read_one_label(struct slice label_bytes)
{
    struct buffer out;
    struct batch batch;
    struct label label;
    uint32_t n;
    size_t begin;

    begin_profile(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    protobuf_put_bytes_always(&out, PPROF_SAMPLE_LABEL, label_bytes);
    protobuf_end(&out, begin);
    example_decode(buffer_slice(&out), &batch);
    label = *tables_label_set(&batch.tables, profile_label_set(&batch.profiles[0], 0), &n);
    CHECK_EQ(n, 1);
    batch_done(&batch);
    buffer_done(&out);
    return label;
}

TEST(pprof_label_is_text_if_it_has_any_else_a_number)
{
    struct label label = read_one_label(SLICE("\x08\x0c\x10\x0d\x18\x07")); /* key, str and num */

    CHECK_EQ(label.kind, LABEL_STRING);
    CHECK_EQ(label.text, EXAMPLE_INDEX_PAGE);
    label = read_one_label(SLICE("\x08\x0c\x10\x00\x18\x07")); /* str 0, num */
    CHECK_EQ(label.kind, LABEL_NUMBER);
    CHECK_EQ(label.number, 7);
    label = read_one_label(SLICE("\x08\x0c\x18\x00")); /* num 0 */
    CHECK_EQ(label.kind, LABEL_NUMBER);
    CHECK_EQ(label.number, 0);
    label = read_one_label(SLICE("\x08\x0c\x20\x0e")); /* a unit alone: number 0, left out by the writer */
    CHECK_EQ(label.kind, LABEL_NUMBER);
    CHECK_EQ(label.unit, EXAMPLE_BYTES);
    label = read_one_label(SLICE("\x08\x0c\x10\x00")); /* the empty text */
    CHECK_EQ(label.kind, LABEL_STRING);
    CHECK_EQ(label.text, 0);
    label = read_one_label(SLICE("\x08\x0c")); /* nothing: the empty text too */
    CHECK_EQ(label.kind, LABEL_STRING);
    label = read_one_label(SLICE("\x08\x0c\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    CHECK_EQ(label.number, -1);
}

static struct link link_of(const char *key, const char *text, bool *ret_lifted)
{
    struct slice strings[] = { SLICE(""), slice_from(key), slice_from(text) };
    struct tables tables = { .strings = strings, .n_strings = 3 };
    struct label label = { .key = 1, .text = 2, .kind = LABEL_STRING };
    struct link link = { 0 };

    *ret_lifted = pprof_lift_link(&tables, &label, &link);
    return link;
}

TEST(pprof_only_well_formed_ids_become_links)
{
    static const char *const others[][2] = {
        { "span_id", "00F067AA0BA902B7" },
        { "span_id", "00f067aa0ba902b" },
        { "span_id", "00f067aa0ba902b77" },
        { "span_id", "0000000000000000" },
        { "span_id", "00f067aa0ba902bg" },
        { "span_id", "67667974536787391" },
        { "span id", "00f067aa0ba902b7" },
        { "trace_id", "00f067aa0ba902b7" },
        { "traceid", "4bf92f3577b34da6a3ce929d0e0e4736" },
        { "span_id", "" },
        { "profile_id", "7c9e6679-7425-40de-944b-e07fc1f90ae7" },
        { "profile_id", "7c9e6679742540de944be07fc1f90ae7" },
    };
    bool is_lifted;
    struct link link = link_of("span_id", "00f067aa0ba902b7", &is_lifted);

    CHECK(is_lifted);
    CHECK_EQ(link.span_id[2], 0x67);
    link = link_of("trace_id", "4bf92f3577b34da6a3ce929d0e0e4736", &is_lifted);
    CHECK(is_lifted);
    CHECK_EQ(link.trace_id[14], 0x47);
    link = link_of("profile_id", "00f067aa0ba902b7", &is_lifted); /* as older clients of Pyroscope write it */
    CHECK(is_lifted);
    CHECK_EQ(link.span_id[2], 0x67);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        (void)link_of(others[i][0], others[i][1], &is_lifted);
        CHECK(!is_lifted);
    }
}

TEST(pprof_second_span_id_of_a_sample_stays_a_label)
{
    struct buffer out;
    struct batch batch;
    uint32_t n;
    size_t begin;

    begin_profile(&out);
    for (int i = 0; i < 2; i++) {
        begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
        EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
        example_label(&out, EXAMPLE_SPAN_ID, EXAMPLE_SPAN, 0, 0);
        if (i == 0)
            example_label(&out, EXAMPLE_SPAN_ID, EXAMPLE_SPAN, 0, 0);
        protobuf_end(&out, begin);
    }
    example_decode(buffer_slice(&out), &batch);
    (void)tables_label_set(&batch.tables, profile_label_set(&batch.profiles[0], 0), &n);
    CHECK_EQ(n, 1);
    /* Equal links of neighbours are one. */
    CHECK_EQ(batch.tables.n_links, 2);
    CHECK_EQ(profile_link(&batch.profiles[0], 0), 1);
    CHECK_EQ(profile_link(&batch.profiles[0], 1), 1);
    batch_done(&batch);
    buffer_done(&out);
}
