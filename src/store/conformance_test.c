// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 1: what is written is read back, and when it belongs. */
#include "profile/random_profile_test.h"
#include "store/store_sample_test.h"

/* --- exact content --- */

static uint32_t rich_inlined_frame(struct builder *b)
{
    struct mapping mapping = { .start = 0x1000,
                               .limit = 0x9000,
                               .file = builder_string(b, SLICE("/bin/app")),
                               .build_id = builder_string(b, SLICE("abc123")) };
    struct function inner = { .name = builder_string(b, SLICE("inner")),
                              .system_name = builder_string(b, SLICE("_Zinner")),
                              .file = builder_string(b, SLICE("a.cc")),
                              .start_line = 3 };
    struct function outer = { .name = builder_string(b, SLICE("outer")), .file = builder_string(b, SLICE("b.cc")) };
    struct line lines[] = { { builder_function(b, &inner), 5, 2 }, { builder_function(b, &outer), 9, 0 } };
    struct frame frame = { .mapping = builder_mapping(b, &mapping), .address = 0x1234, .n_lines = 2, .kind = FRAME_GO };

    return builder_frame(b, &frame, lines);
}

static uint32_t rich_unnamed_frame(struct builder *b, uint64_t start, uint64_t address)
{
    struct mapping mapping = { .start = start,
                               .limit = start + 0x1000,
                               .offset = 0x100,
                               .file = builder_string(b, SLICE("/lib/x.so")),
                               .build_id = builder_string(b, SLICE("ff00")) };
    struct frame frame = { .mapping = builder_mapping(b, &mapping), .address = address, .kind = FRAME_NATIVE };

    return builder_frame(b, &frame, NULL);
}

static uint32_t rich_kernel_frame(struct builder *b)
{
    struct function function = { .name = builder_string(b, SLICE("do_sys")) };
    struct line line = { .function = builder_function(b, &function), .line = 1 };

    return builder_frame(b, &(struct frame){ .n_lines = 1, .kind = FRAME_KERNEL }, &line);
}

/* A profile that has everything a profile can have. */
static void rich_batch(struct batch *batch)
{
    static const struct store_sample_profile header = { .at = "15T10:20",
                                                        .service = "api",
                                                        .labels = "zone=eu;pid=#7",
                                                        .types = "samples/count cpu/nanoseconds space/bytes" };
    AUTO(builder_freep) struct builder *b = NULL;
    struct link links[] = { { .trace_id = { 0xaa }, .span_id = { 1 } }, { .trace_id = { 0xbb }, .span_id = { 2 } } };
    struct profile *profile;
    struct error err;
    uint32_t inlined, unnamed, kernel, stack, both[2];

    batch_init(batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    profile = store_sample_add(b, &header);
    profile->types[2].nature = VALUE_LEVEL;
    inlined = rich_inlined_frame(b);
    unnamed = rich_unnamed_frame(b, 0x5000, 0x5540);
    kernel = rich_kernel_frame(b);
    both[0] = kernel, both[1] = inlined;
    stack = builder_stack(b, both, 2);
    builder_sample(b, stack, labelplan_set(b, "bytes=#64:bytes;thread=t1"), builder_link(b, &links[0]),
                   (int64_t[]){ 3, 30, 1000 }, 7);
    builder_sample(b, stack, labelplan_set(b, "bytes=#64:bytes;thread=t2"), 0, (int64_t[]){ 1, 10, 0 }, 1);
    builder_sample(b, builder_stack(b, &unnamed, 1), 0, builder_link(b, &links[1]), (int64_t[]){ -2, -20, INT64_MIN },
                   1);
    builder_sample(b, 0, labelplan_set(b, "route=/pay"), 0, (int64_t[]){ 5, 0, INT64_MAX }, 2);
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

#define RICH_TYPES                                                                                                     \
    " [process_cpu:samples:count:space:bytes process_cpu:cpu:nanoseconds:space:bytes "                                 \
    "process_cpu:space:bytes:space:bytes] "
#define RICH_LABELS "{__name__=\"process_cpu\", service_name=\"api\", zone=\"eu\"}"
#define RICH_PAY    "{__name__=\"process_cpu\", route=\"/pay\", service_name=\"api\", zone=\"eu\"}"

#define RICH_ROW(labels) "15T10:20:00+10s every 10000000 " labels " {pid=#7}" RICH_TYPES
#define RICH_NAMED       "outer@b.cc:9:0+inner@a.cc:5:2/3(_Zinner)</bin/app#abc123>!go;do_sys!kernel"

static void check_rich(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_ROWS(sample), RICH_ROW(RICH_PAY) "- 5 0 9223372036854775807 x2\n" RICH_ROW(
                                              RICH_LABELS) "0x640</lib/x.so#ff00>!native -2 -20 -9223372036854775808 "
                                                           "link bb-02 x1\n" RICH_ROW(RICH_LABELS) RICH_NAMED
               " 1 10 0 {bytes=#64:bytes;thread=t2} x1\n" RICH_ROW(RICH_LABELS) RICH_NAMED
               " 3 30 1000 {bytes=#64:bytes;thread=t1} link aa-01 x7\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample),
               "[samples/count cpu/nanoseconds space/bytes] - 5 0 9223372036854775807\n"
               "[samples/count cpu/nanoseconds space/bytes] 0x640</lib/x.so#ff00> -2 -20 -9223372036854775808\n"
               "[samples/count cpu/nanoseconds space/bytes] "
               "outer@b.cc:9:0+inner@a.cc:5:2</bin/app#abc123>;do_sys 4 40 1000\n");
}

CONFORMANCE(reads_back_everything_a_profile_can_have)
{
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct store_receipt receipt;
    struct error err;

    rich_batch(&batch);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
    CHECK_EQ(receipt.n_written, 1);
    CHECK_EQ(receipt.n_samples, 4);
    CHECK_EQ(receipt.n_series, 2);
    store_sample_each_stage(sample, "15T15:00", check_rich, NULL);
}

CONFORMANCE(keeps_nature_window_and_period_of_types)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct store_receipt receipt;
    const struct profile *profile;
    struct error err;

    rich_batch(&batch);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
    batch_init(&batch, NULL);
    CHECK_OK(store_read(sample->store, &query, &batch, &err), &err);
    CHECK_EQ(batch.n_profiles, 1);
    profile = &batch.profiles[0];
    CHECK_EQ(profile->types[1].nature, VALUE_FLOW);
    CHECK_EQ(profile->types[2].nature, VALUE_LEVEL);
    CHECK_TEXT(tables_string(profile->tables, profile->period_type.type), "space");
    CHECK_EQ(profile->start_ns, store_sample_time("15T10:20"));
    CHECK_EQ(profile->duration_ns, 10 * CLOCK_NS_PER_SECOND);
    batch_done(&batch);
}

static void check_added_up(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "[samples/count] a 6\n[samples/count] b -4\n");
    CHECK_TEXT(STORE_SAMPLE_ROWS(sample),
               "15T10:00:00+10s {__name__=\"samples\", service_name=\"api\"} [samples:samples:count::] a 6\n"
               "15T10:00:00+10s {__name__=\"samples\", service_name=\"api\"} [samples:samples:count::] b -4\n");
}

CONFORMANCE(adds_up_equal_stacks_of_one_profile)
{
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct store_receipt receipt;
    struct error err;
    uint32_t *stacks;

    store_sample_batch(
        &(struct store_sample_profile){
            .at = "15T10:00", .service = "api", .types = "samples/count", .samples = "a 1|b -4|c 2|d 3" },
        1, &batch);
    stacks = batch.profiles[0].stacks;
    stacks[2] = stacks[3] = stacks[0];
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
    CHECK_EQ(receipt.n_samples, 2);
    store_sample_each_stage(sample, "15T15:00", check_added_up, NULL);
}

static void check_odd_shapes(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_ROWS(sample),
               "15T10:00:00+10s every 10000000 {__name__=\"process_cpu\", service_name=\"empty\"} "
               "[process_cpu:samples:count:cpu:nanoseconds process_cpu:cpu:nanoseconds:cpu:nanoseconds]\n"
               "15T10:00:00+10s {__name__=\"unknown\", service_name=\"both\"} []\n"
               "15T10:00:00+10s {__name__=\"unknown\", service_name=\"typeless\"} [] a;b\n");
}

CONFORMANCE(keeps_profiles_without_samples_or_types)
{
    struct store_receipt receipt =
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "empty" },
                           { .at = "15T10:00", .service = "typeless", .types = "", .samples = "a;b" },
                           { .at = "15T10:00", .service = "both", .types = "" });

    CHECK_EQ(receipt.n_written, 3);
    CHECK_EQ(receipt.n_samples, 1);
    store_sample_each_stage(sample, "15T15:00", check_odd_shapes, NULL);
}

CONFORMANCE(takes_an_empty_batch_and_does_nothing)
{
    struct store_receipt receipt;
    struct store_stats stats;
    struct error err;

    CHECK_OK(store_sample_try(sample, NULL, NULL, 0, &receipt, &err), &err);
    CHECK_EQ(receipt.n_written + receipt.n_duplicate + receipt.n_refused, 0);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_days, 0);
    CHECK_TEXT(STORE_SAMPLE_ROWS(sample), "");
}

/* --- the same binary elsewhere --- */

static void write_unnamed(struct store_sample *sample, uint64_t start, uint64_t address)
{
    static const struct store_sample_profile header = { .at = "15T10:20", .types = "samples/count" };
    AUTO(builder_freep) struct builder *b = NULL;
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct store_receipt receipt;
    struct error err;
    uint32_t frame;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    store_sample_add(b, &header);
    frame = rich_unnamed_frame(b, start, address);
    builder_sample(b, builder_stack(b, &frame, 1), 0, 0, (int64_t[]){ 1 }, 0);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
}

static void check_unnamed(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "[samples/count] 0x140</lib/x.so#ff00> 2\n"
                                          "[samples/count] 0x150</lib/x.so#ff00> 1\n"
                                          "[samples/count] 0x160</lib/x.so#ff00> 1\n");
}

CONFORMANCE(keeps_addresses_of_a_binary_that_stands_elsewhere_in_each_process)
{
    write_unnamed(sample, 0x7000, 0x7040);
    write_unnamed(sample, 0x22000, 0x22040);
    write_unnamed(sample, 0x22000, 0x22050);
    store_sample_reopen(sample);
    write_unnamed(sample, 0x31000, 0x31060);
    store_sample_each_stage(sample, "15T15:00", check_unnamed, NULL);
}

/* --- a model: folded stacks to values, added up by hand --- */

struct model {
    VEC(struct model_entry {
        char *key; /* "[types] stack" as store_sample_print_sums has it */
        int64_t values[4];
        uint32_t n_values;
    })
    entries;
};

static struct model_entry *model_find(struct model *model, struct slice key)
{
    struct model_entry *entry;
    struct error err;

    for (size_t i = 0; i < model->entries.n; i++)
        if (slice_is(key, model->entries.items[i].key))
            return &model->entries.items[i];
    entry = VEC_PUSH(&model->entries, 1 << 20, &err);
    CHECK(entry);
    entry->key = memory_alloc_zero(key.len + 1, &err);
    memcpy(entry->key, key.ptr, key.len);
    return entry;
}

static void model_add(struct model *model, const struct batch *batch)
{
    struct buffer types, key;

    buffer_init(&types, 0);
    buffer_init(&key, 0);
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        const struct profile *profile = &batch->profiles[i];

        buffer_clear(&types);
        store_sample_print_types(profile, &types);
        for (uint32_t k = 0; k < profile->n_samples; k++) {
            struct model_entry *entry;

            buffer_clear(&key);
            if (!slice_is(buffer_slice(&types), STORE_SAMPLE_TYPES))
                buffer_printf(&key, "[%.*s] ", SLICE_ARG(buffer_slice(&types)));
            store_sample_print_stack(profile->tables, profile->stacks[k], false, &key);
            entry = model_find(model, buffer_slice(&key));
            entry->n_values = profile->n_types;
            for (uint32_t type = 0; type < profile->n_types; type++)
                entry->values[type] += profile_values(profile, type)[k];
        }
    }
    buffer_done(&types);
    buffer_done(&key);
}

static void model_print(const struct model *model, struct buffer *out)
{
    for (size_t i = 0; i < model->entries.n; i++) {
        const struct model_entry *entry = &model->entries.items[i];

        buffer_append_text(out, entry->key);
        for (uint32_t k = 0; k < entry->n_values; k++)
            buffer_printf(out, " %lld", (long long)entry->values[k]);
        buffer_append_byte(out, '\n');
    }
    store_sample_sort(out);
}

static void model_done(struct model *model)
{
    for (size_t i = 0; i < model->entries.n; i++)
        memory_free(model->entries.items[i].key);
    VEC_DONE(&model->entries);
}

static void check_model(struct store_sample *sample, const void *context)
{
    struct buffer *wanted = store_sample_text(sample);

    model_print(context, wanted);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), buffer_slice(wanted));
}

/* Random profiles, spread over the hours from `first_hour` on. */
static void write_random(struct store_sample *sample, struct model *model, uint64_t first_seed, uint64_t n,
                         const char *first_hour)
{
    for (uint64_t seed = first_seed; seed < first_seed + n; seed++) {
        struct random_options options = random_shape(seed);
        struct series_label label = { SLICE("service_name"), seed % 3 ? SLICE("api") : SLICE("web") };
        struct batch batch;
        struct store_write write = { .batch = &batch, .labels = &label, .n_labels = 1 };
        struct store_receipt receipt;
        struct error err;

        batch_init(&batch, NULL);
        random_batch(&batch, &options);
        batch.profiles[0].start_ns = store_sample_time(first_hour) + (int64_t)seed * 411 * CLOCK_NS_PER_SECOND;
        CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
        CHECK_EQ(receipt.n_written, 1);
        model_add(model, &batch);
        batch_done(&batch);
    }
}

CONFORMANCE(reads_the_sum_of_what_was_written)
{
    struct model model = { 0 };

    write_random(sample, &model, 0, 30, "15T07:00");
    store_sample_each_stage(sample, "15T14:00", check_model, &model);
    /* Late data into the hours that were closed meanwhile, and some more after a part of it was closed. */
    write_random(sample, &model, 0, 10, "15T07:10");
    check_model(sample, &model);
    store_sample_maintain(sample);
    check_model(sample, &model);
    write_random(sample, &model, 5, 10, "15T07:00");
    store_sample_each_stage(sample, "15T16:00", check_model, &model);
    model_done(&model);
}

/* --- shapes side by side --- */

static void check_many_shapes(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "[a/1 b/1 c/1 d/1] f 1 2 3 4\n"
                                          "[a/1 b/1 c/1 d/1] g 1 2 3 4\n"
                                          "[a/1] f 7\n"
                                          "[x/1 y/1] g 10 20\n"
                                          "f 5 6\n");
}

CONFORMANCE(keeps_profiles_of_different_types_of_one_service_apart)
{
    STORE_SAMPLE_WRITE(
        sample, { .at = "15T10:00", .service = "s", .types = "a/1", .samples = "f 7" },
        { .at = "15T10:01", .service = "s", .types = "a/1 b/1 c/1 d/1", .samples = "f 1 2 3 4|g 1 2 3 4" },
        { .at = "15T10:02", .service = "s", .types = "x/1 y/1", .samples = "g 10 20" },
        { .at = "15T10:03", .service = "s", .samples = "f 5 6" });
    store_sample_each_stage(sample, "15T15:00", check_many_shapes, NULL);
}

/* --- when --- */

static void check_midnight(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\nc 3 30\nd 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .until = "15T00:00"), "a 1 10\nb 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "15T00:00"), "c 3 30\nd 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "14T23:59", .until = "15T00:01"), "b 2 20\nc 3 30\n");
    /* The start of the window decides: the end of the range is not in it. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "15T09:00", .until = "15T09:00"), "");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "15T09:00", .until = "15T09:01"), "d 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "15T08:00", .until = "15T09:00"), "");
}

CONFORMANCE(takes_a_batch_across_midnight_and_several_days)
{
    struct store_receipt receipt =
        STORE_SAMPLE_WRITE(sample, { .at = "15T09:00", .samples = "d 4 40" }, { .at = "14T23:59", .samples = "b 2 20" },
                           { .at = "10T05:00", .samples = "a 1 10" }, { .at = "15T00:00", .samples = "c 3 30" });
    struct store_stats stats;

    CHECK_EQ(receipt.n_written, 4);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_days, 3);
    store_sample_each_stage(sample, "15T15:00", check_midnight, NULL);
}

CONFORMANCE(starts_a_profile_that_does_not_say_when_at_the_given_time_or_now)
{
    struct store_sample_profile unknown = { .samples = "a 1 10" };
    struct batch batch;
    struct store_write write = { .batch = &batch, .time_ns = store_sample_time("15T08:00") };
    struct store_receipt receipt;
    struct error err;

    store_sample_batch(&unknown, 1, &batch);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
    STORE_SAMPLE_WRITE(sample, unknown);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "15T08:00", .until = "15T08:01"), "a 1 10\n");
    /* Ten seconds ago, since it takes ten seconds and ends now. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "2026-11-15T11:59:50Z", .until = "15T12:00"), "a 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "2026-11-15T11:59:51Z"), "");
}

CONFORMANCE(refuses_what_is_too_old_or_too_far_ahead_and_says_why)
{
    struct store_sample_profile old = { .at = "2026-10-16T11:59:00Z", .samples = "a 1 10" };
    struct store_sample_profile ahead = { .at = "15T12:11", .samples = "b 1 10" };
    struct store_receipt receipt;
    struct error err;

    CHECK_ERROR(store_sample_try(sample, NULL, &old, 1, &receipt, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "the profile starts at 2026-10-16T11:59:00.000Z, which is too old");
    CHECK_HAS(err.text, "the oldest start accepted now is 2026-10-16T12:00:00.000Z (--max-age)");
    CHECK_ERROR(store_sample_try(sample, NULL, &ahead, 1, &receipt, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "the latest start accepted now is 2026-11-15T12:10:00.000Z (--max-ahead)");
    CHECK_TEXT(STORE_SAMPLE_ROWS(sample), "");
    STORE_SAMPLE_WRITE(sample, { .at = "2026-10-16T12:00:00Z", .samples = "a 1 10" },
                       { .at = "15T12:10", .samples = "b 1 10" });
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 1 10\n");
}

CONFORMANCE(keeps_the_rest_of_a_batch_of_which_some_is_refused)
{
    struct store_receipt receipt = STORE_SAMPLE_WRITE(
        sample, { .at = "2026-01-01T00:00:00Z", .samples = "a 1 10" }, { .at = "15T11:00", .samples = "b 2 20" },
        { .at = "15T13:00", .samples = "c 3 30" }, { .at = "13T11:00", .samples = "d 4 40" });

    CHECK_EQ(receipt.n_written, 2);
    CHECK_EQ(receipt.n_refused, 2);
    CHECK_EQ(receipt.refusal.code, ERR_INVALID);
    CHECK_HAS(receipt.refusal.text, "2026-01-01");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "b 2 20\nd 4 40\n");
}

CONFORMANCE(takes_the_limits_on_time_from_its_options)
{
    sample->options.max_age_ns = 3600 * CLOCK_NS_PER_SECOND;
    sample->options.max_ahead_ns = 7200 * CLOCK_NS_PER_SECOND;
    store_sample_reopen(sample);
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, { .at = "15T10:59", .samples = "a 1 1" },
                                { .at = "15T11:00", .samples = "b 1 1" }, { .at = "15T14:00", .samples = "c 1 1" },
                                { .at = "15T14:01", .samples = "d 1 1" })
                 .n_written,
             2);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "b 1 1\nc 1 1\n");
}

static void check_ancient(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 3 30\nb 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .until = "1970-01-01T00:00:00Z"), "a 3 30\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .from = "1969-07-20T20:17:00Z", .until = "1969-07-20T20:18:00Z"), "a 2 20\n");
}

CONFORMANCE(keeps_profiles_from_before_1970)
{
    sample->options.max_age_ns = sample->options.retention_ns = INT64_MAX / 2;
    store_sample_reopen(sample);
    STORE_SAMPLE_WRITE(sample, { .at = "1969-07-20T20:17:40Z", .samples = "a 2 20" },
                       { .at = "1969-12-31T23:59:59Z", .samples = "a 1 10" },
                       { .at = "15T09:00", .samples = "b 1 10" });
    store_sample_each_stage(sample, "15T15:00", check_ancient, NULL);
}

static void check_endless(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 2 20\nb 1 10\n");
}

CONFORMANCE(bears_windows_of_impossible_length)
{
    STORE_SAMPLE_WRITE(sample, { .at = "15T09:00", .duration_ns = INT64_MAX, .samples = "a 1 10" },
                       { .at = "15T09:00", .duration_ns = INT64_MAX, .samples = "a 1 10" },
                       { .at = "15T09:00", .duration_ns = INT64_MIN, .samples = "b 1 10" });
    store_sample_each_stage(sample, "15T15:00", check_endless, NULL);
}

CONFORMANCE(refuses_a_range_that_ends_before_it_begins)
{
    struct store_query query = { .from_ns = 2, .until_ns = 1 };
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_ERROR(store_read(sample->store, &query, &batch, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "ends before it begins");
    batch_done(&batch);
}

/* --- readers --- */

static int stop_at_once(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    ++*(int *)context;
    return error_set(err, ERR_TIMEOUT, "enough");
}

static int ignore_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

CONFORMANCE(stops_a_scan_when_its_reader_says_so)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    int n_rows = 0;
    struct store_sink sink = { &n_rows, ignore_names, stop_at_once };
    struct error err;

    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .samples = "a 1 10" }, { .at = "15T11:00", .samples = "b 2 20" });
    CHECK_ERROR(store_scan(sample->store, &query, &sink, &err), &err, ERR_TIMEOUT);
    CHECK_TEXT(err.text, "enough");
    CHECK_EQ(n_rows, 1);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\n");
}
