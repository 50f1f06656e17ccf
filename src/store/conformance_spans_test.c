// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 8: samples of certain spans and traces, and rows of certain profiles, whatever
 * hour they are in and whatever else is asked. */
#include "block/rowid.h"
#include "store/store_sample_test.h"

static const uint8_t span_1[1][8] = { { 0x01 } }, spans_1_2[2][8] = { { 0x02 }, { 0x01 } }, span_9[1][8] = { { 0x09 } };
static const uint8_t trace_a[1][16] = { { 0xaa } }, trace_b[1][16] = { { 0xbb } };
static const struct store_ids of_1 = { .spans = span_1, .n_spans = 1 };
static const struct store_ids of_1_2 = { .spans = spans_1_2, .n_spans = 2 };
static const struct store_ids of_9 = { .spans = span_9, .n_spans = 1 };
static const struct store_ids of_a = { .traces = trace_a, .n_traces = 1 };
static const struct store_ids of_1_in_b = { .spans = span_1, .n_spans = 1, .traces = trace_b, .n_traces = 1 };
static const struct store_ids of_any = { .is_of_span = true };

/* Two services in two hours and in the day before; one sample has a trace and no span. */
static void write_spans(struct store_sample *sample)
{
    STORE_SAMPLE_WRITE(
        sample, { .at = "15T10:00", .service = "api", .samples = "a 1 10 @aa-01 | b 2 20 @aa-02 | c 4 40" },
        { .at = "15T10:30", .service = "api", .samples = "a 8 80 @bb-01 | d 16 160 @aa-00" },
        { .at = "15T11:10", .service = "web", .samples = "a 32 320 {thread=t1} @aa-01 | a 64 640 {thread=t2} @bb-01" },
        { .at = "15T11:20", .service = "web", .samples = "e 128 1280" }, { .at = "15T11:30", .service = "web" },
        { .at = "14T10:00", .service = "api", .samples = "a 256 2560 @aa-01" });
    STORE_SAMPLE_WRITE_AS(sample, "other", { .at = "15T10:00", .service = "api", .samples = "x 1 10 @aa-01" });
}

static void check_spans(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1), "a 361 3610\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1_2), "a 361 3610\nb 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_9), "");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_a), "a 289 2890\nb 2 20\nd 16 160\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1_in_b), "a 72 720\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_any), "a 361 3610\nb 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1, .tenant = "other"), "x 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1, .selector = "{service_name=\"web\"}"), "a 96 960\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1, .selector = "{thread=\"t2\"}"), "a 64 640\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1, .from = "15T10:10", .until = "15T11:10"), "a 8 80\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1, .from = "15T10:00", .until = "15T11:00"), "a 9 90\n");
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample, .ids = &of_1_in_b, .from = "15T11:00"),
               "{__name__=\"process_cpu\", service_name=\"web\"}\n");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "thread", .ids = &of_1_in_b), "t2");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "thread", .ids = &of_1_2, .until = "15T11:00"), "");
}

CONFORMANCE(gives_the_samples_of_spans_and_traces)
{
    write_spans(sample);
    store_sample_each_stage(sample, "15T16:00", check_spans, NULL);
}

CONFORMANCE(gives_late_samples_of_a_span_as_well)
{
    write_spans(sample);
    store_sample_pass(sample, 4);
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:40", .service = "api", .samples = "late 1 10 @aa-01" },
                       { .at = "15T10:50", .service = "new", .samples = "late 2 20 @aa-01" });
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1), "a 361 3610\nlate 3 30\n");
    store_sample_pass(sample, 4); /* two closings of the hour */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1), "a 361 3610\nlate 3 30\n");
    store_sample_compact(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1), "a 361 3610\nlate 3 30\n");
}

static void check_deleted(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_1), "a 329 3290\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &of_a), "a 257 2570\nb 2 20\nd 16 160\n");
}

CONFORMANCE(gives_no_samples_of_a_span_that_were_deleted)
{
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        struct store_query query = store_sample_ask(
            &(struct store_sample_query){ .selector = "{thread=\"t1\"}", .from = "15T11:00", .until = "15T12:00" });
        uint32_t n_days;
        struct error err;

        clock_fake_set(store_sample_time("15T12:00"));
        write_spans(sample);
        if (is_closed)
            store_sample_pass(sample, 4);
        CHECK_OK(store_delete(sample->store, &query, &n_days, &err), &err);
        store_sample_asked(&query);
        store_sample_each_stage(sample, "15T16:00", check_deleted, NULL);
        store_sample_close(sample);
        CHECK_OK(fs_remove_tree(sample->path, &err), &err);
        store_sample_open(sample);
    }
}

/* --- windows and sums --- */

static int add_totals(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    for (uint32_t i = 0; i < windows->n_rows; i++)
        *(int64_t *)context += windows->totals[i];
    return 0;
}

static int add_sums(void *context, const struct store_sums *sums, struct error *err)
{
    for (uint32_t i = 0; i < sums->n_stacks; i++)
        *(int64_t *)context += sums->sums[i];
    return 0;
}

static int ignore_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static void check_totals(struct store_sample *sample, const struct store_ids *ids, int64_t wanted,
                         struct store_reads *ret_reads)
{
    struct store_query query = { .ids = ids, .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    int64_t total = 0, sum = 0;
    struct error err;

    *ret_reads = (struct store_reads){ 0 };
    CHECK_OK(
        store_windows(sample->store, &query, &(struct store_window_sink){ &total, add_totals, true }, ret_reads, &err),
        &err);
    CHECK_EQ(total, wanted);
    *ret_reads = (struct store_reads){ 0 };
    CHECK_OK(
        store_sum(sample->store, &query, 0, &(struct store_sum_sink){ &sum, ignore_names, add_sums }, ret_reads, &err),
        &err);
    CHECK_EQ(sum, wanted);
    CHECK_EQ(ret_reads->n_hours + ret_reads->n_slots + ret_reads->n_series, 0);
}

CONFORMANCE(sums_and_windows_of_a_span_are_those_of_its_samples)
{
    struct store_reads reads;

    write_spans(sample);
    check_totals(sample, &of_1, 361, &reads);
    CHECK_EQ(reads.n_spans, 0);
    store_sample_pass(sample, 4);
    check_totals(sample, &of_1, 361, &reads);
    CHECK_EQ(reads.n_rows, 4);
    CHECK_EQ(reads.n_spans, 3); /* of each of the three hours */
    check_totals(sample, &of_a, 307, &reads);
    CHECK_EQ(reads.n_spans, 0);
}

/* --- profiles --- */

static void check_profiles(struct store_sample *sample, const void *context)
{
    uint8_t ids[3][16] = { { 0xa1 }, { 0xb1 }, { 0xa1 } };
    struct store_ids one = { .profiles = ids, .n_profiles = 1 };
    struct store_ids both = { .profiles = ids, .n_profiles = 3 };
    struct store_ids spans = { .profiles = ids, .n_profiles = 1, .spans = span_1, .n_spans = 1 };

    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &one), "a 1 10\nb 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &both), "a 5 50\nb 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &one, .selector = "{route=\"/x\"}"), "b 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &one, .from = "15T10:01"), "");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &spans), "b 2 20\n");
    ids[0][0] = 0xdd;
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .ids = &one), "");
}

CONFORMANCE(gives_the_rows_of_a_profile)
{
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .id = 0xa1, .samples = "a 1 10 @aa-02 | b 2 20 {route=/x} @aa-01" },
                       { .at = "14T10:00", .id = 0xb1, .samples = "a 4 40" },
                       { .at = "15T10:00", .samples = "a 8 80 @aa-01" },
                       { .at = "15T10:10", .id = 0xc1, .samples = "a 16 160 @aa-01" });
    store_sample_each_stage(sample, "15T16:00", check_profiles, NULL);
}

/* The ids that rows have by themselves. */
struct naming {
    uint8_t ids[16][ROWID_BYTES];
    int64_t totals[16];
    uint32_t n;
};

static int name_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct naming *naming = context;
    struct rowid id = { rowid_hour(row->start_ns), series->id, row->sequence };

    CHECK(naming->n < ARRAY_LEN(naming->ids));
    CHECK(series->id > 0);
    rowid_encode(&id, naming->ids[naming->n]);
    for (uint32_t i = 0; i < row->n_samples; i++)
        naming->totals[naming->n] += row->values[i];
    naming->n++;
    return 0;
}

static void name_rows(struct store_sample *sample, struct naming *naming)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct error err;

    CHECK_OK(store_scan(sample->store, &query, &(struct store_sink){ naming, ignore_names, name_row }, &err), &err);
}

static void check_named(struct store_sample *sample, const void *context)
{
    const struct naming *naming = context;

    for (uint32_t i = 0; i < naming->n; i++) {
        struct store_ids ids = { .profiles = &naming->ids[i], .n_profiles = 1 };
        struct store_reads reads;

        check_totals(sample, &ids, naming->totals[i], &reads);
        CHECK_EQ(reads.n_rows, 1);
    }
}

CONFORMANCE(gives_a_row_by_the_id_that_it_has_by_itself)
{
    struct naming naming = { 0 };

    write_spans(sample);
    name_rows(sample, &naming);
    CHECK_EQ(naming.n, 6);
    store_sample_each_stage(sample, "15T16:00", check_named, &naming);
}

CONFORMANCE(says_when_too_many_ids_are_asked_for)
{
    static const uint8_t many[STORE_MAX_IDS + 1][8] = { { 1 } };
    struct store_ids ids = { .spans = many, .n_spans = STORE_MAX_IDS + 1 };
    struct store_query query = { .ids = &ids, .until_ns = INT64_MAX };
    int64_t total = 0;
    struct error err;
    struct store_reads reads = { 0 };

    CHECK_ERROR(
        store_windows(sample->store, &query, &(struct store_window_sink){ &total, add_totals, true }, &reads, &err),
        &err, ERR_LIMIT);
    CHECK_HAS(err.text, "4097 ids of one kind, and at most 4096 can be asked for");
    ids.n_spans = STORE_MAX_IDS;
    CHECK_OK(
        store_windows(sample->store, &query, &(struct store_window_sink){ &total, add_totals, true }, &reads, &err),
        &err);
}

/* --- many spans --- */

enum { MANY_PROFILES = 56, MANY_SAMPLES = 4096, MANY = MANY_PROFILES * MANY_SAMPLES };

/* The id of span `i`, 0 to MANY. */
static void many_id(uint32_t i, uint8_t id[static 8])
{
    uint64_t word = hash_mix64(i + 1);

    memcpy(id, &word, 8);
}

static int64_t many_value(uint32_t i)
{
    return 1 + i % 13;
}

/* A profile of so many samples, each of a span of its own, by one of two services. */
static void write_many(struct store_sample *sample, uint32_t profile)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct store_sample_profile header = { .start_ns =
                                               store_sample_time("15T10:00") + profile * 60 * CLOCK_NS_PER_SECOND,
                                           .service = profile % 2 ? "web" : "api" };
    struct store_write write = { 0 };
    struct store_receipt receipt;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    store_sample_add(b, &header);
    for (uint32_t i = profile * MANY_SAMPLES; i < (profile + 1) * MANY_SAMPLES; i++) {
        int64_t values[] = { many_value(i), many_value(i) * 10 };
        struct link link = { .trace_id = { 1 } };

        many_id(i, link.span_id);
        builder_sample(b, store_sample_stack(b, SLICE("main;work")), 0, builder_link(b, &link), values, 0);
    }
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    write.batch = &batch;
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    CHECK_EQ(receipt.n_samples, MANY_SAMPLES);
    batch_done(&batch);
}

/* Every `step`th span, and as many that nobody has. */
static void check_every(struct store_sample *sample, uint32_t step)
{
    struct spanids set;
    struct store_ids ids = { .span_set = &set };
    struct store_reads reads;
    int64_t wanted = 0;
    uint8_t id[8];
    struct error err;

    spanids_init(&set, 2 * MANY);
    for (uint32_t i = 0; i < MANY; i += step) {
        wanted += many_value(i);
        many_id(i, id);
        CHECK_OK(spanids_add(&set, id, &err), &err);
        many_id(MANY + i, id);
        CHECK_OK(spanids_add(&set, id, &err), &err);
    }
    check_totals(sample, &ids, wanted, &reads);
    spanids_done(&set);
}

static void check_many(struct store_sample *sample, const void *context)
{
    struct spanids none, one;
    uint8_t id[1][8];
    struct store_ids of_none = { .span_set = &none }, of_both = { .span_set = &one, .spans = id, .n_spans = 1 };
    struct store_reads reads;
    struct error err;

    check_every(sample, MANY / 10);
    check_every(sample, MANY / 5000);
    check_every(sample, 1);
    spanids_init(&none, 1);
    check_totals(sample, &of_none, 0, &reads);
    /* Both kinds of asking for spans narrow. */
    spanids_init(&one, 1);
    many_id(1, id[0]);
    CHECK_OK(spanids_add(&one, id[0], &err), &err);
    check_totals(sample, &of_both, many_value(1), &reads);
    many_id(2, id[0]);
    check_totals(sample, &of_both, 0, &reads);
    spanids_done(&one);
}

CONFORMANCE(gives_the_samples_of_any_number_of_spans)
{
    for (uint32_t i = 0; i < MANY_PROFILES; i++)
        write_many(sample, i);
    store_sample_each_stage(sample, "15T16:00", check_many, NULL);
}
