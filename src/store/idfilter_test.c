// SPDX-License-Identifier: Apache-2.0
#include "store/idfilter.h"

#include "base/log.h"
#include "block/spanindex.h"
#include "store/day_sample_test.h"
#include "store/sumscan.h"

enum { HOUR = 7, SPAN = 3 /* of those of day_sample_fill: the profiles 10, 45, 80 and 115 */ };

static const uint8_t asked_span[1][8] = { { 2, SPAN } }, asked_trace[1][16] = { { 1 } };

struct answer {
    uint32_t n_rows, n_samples;
    struct store_reads reads;
};

static int ignore_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static int add_row(void *context, const struct store_sums *sums, struct error *err)
{
    struct answer *answer = context;

    answer->n_rows += (uint32_t)sums->n_rows;
    answer->n_samples += sums->n_stacks;
    return 0;
}

static int ask(struct day_sample *sample, const struct store_ids *ids, struct answer *answer, struct error *err)
{
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT),
                                 .from_ns = day_sample_time(0),
                                 .until_ns = day_sample_time(24),
                                 .ids = ids };

    *answer = (struct answer){ 0 };
    return sumscan_day(sample->day, &query, 0, &(struct store_sum_sink){ answer, ignore_names, add_row },
                       &answer->reads, err);
}

/* That the span is found, in so many values of the index and with so much damage. */
static void check_found(struct day_sample *sample, uint64_t n_spans, uint64_t n_damaged)
{
    struct store_ids ids = { .spans = asked_span, .n_spans = 1 };
    uint64_t before = sample->context.n_damaged;
    struct answer answer;
    struct error err;

    CHECK_OK(ask(sample, &ids, &answer, &err), &err);
    CHECK_EQ(answer.n_rows, 4);
    CHECK_EQ(answer.n_samples, 4 * 20);
    CHECK_EQ(answer.reads.n_spans, n_spans);
    CHECK_EQ(sample->context.n_damaged - before, n_damaged);
}

static struct storekey index_key(uint32_t part)
{
    return storekey_block(
        (struct storekey_block){ .hour = HOUR, .kind = STOREKEY_SPANS, .tenant = 1, .number = 0, .part = part });
}

/* The index of the first closing, as it was written. */
static void read_index(struct day_sample *sample, struct buffer *ret_value)
{
    struct storekey key = index_key(0);
    AUTO(buffer_done) struct buffer found;

    buffer_init(&found, 0);
    buffer_init(ret_value, 0);
    CHECK(day_sample_find(sample, sample->day->block_family, storekey_slice(&key), &found, ret_value));
}

static void put_part(struct day_sample *sample, uint32_t part, struct slice value)
{
    struct storekey key = index_key(part);

    day_sample_put(sample, sample->day->block_family, storekey_slice(&key), value);
}

static void remove_part(struct day_sample *sample, uint32_t part)
{
    struct storekey key = index_key(part);

    day_sample_delete(sample, sample->day->block_family, storekey_slice(&key));
}

static void begin(struct day_sample *sample)
{
    day_sample_init(sample);
    day_sample_fill(sample);
}

TEST(idfilter_finds_series_by_the_index)
{
    struct store_ids ids = { .spans = asked_span, .n_spans = 1 };
    AUTO(buffer_done) struct buffer index;
    struct spanindex_entry entry = { .span_id = { 2, SPAN }, .series = 1000 };
    AUTO(buffer_done) struct buffer elsewhere;
    struct day_sample sample;
    struct answer answer;
    struct error err;

    begin(&sample);
    check_found(&sample, 1, 0);
    read_index(&sample, &index);
    CHECK_EQ(spanindex_n(buffer_slice(&index)), 7 * 2); /* each span is in both series */
    /* An index is believed: one that names another series hides the samples. */
    buffer_init(&elsewhere, 0);
    spanindex_append(&entry, &elsewhere);
    put_part(&sample, 0, buffer_slice(&elsewhere));
    CHECK_OK(ask(&sample, &ids, &answer, &err), &err);
    CHECK_EQ(answer.n_rows, 0);
    day_sample_done(&sample);
}

TEST(idfilter_looks_into_every_run_of_the_index)
{
    AUTO(buffer_done) struct buffer index;
    struct day_sample sample;
    size_t half;

    begin(&sample);
    read_index(&sample, &index);
    half = index.len / 2 / SPANINDEX_ENTRY_BYTES * SPANINDEX_ENTRY_BYTES;
    put_part(&sample, 0, slice_sub(buffer_slice(&index), half, SIZE_MAX));
    put_part(&sample, 1, slice_sub(buffer_slice(&index), 0, half));
    put_part(&sample, 2, slice_sub(buffer_slice(&index), 0, SPANINDEX_ENTRY_BYTES));
    check_found(&sample, 3, 0);
    day_sample_done(&sample);
}

TEST(idfilter_looks_at_the_samples_where_the_index_is_damaged_or_missing)
{
    AUTO(buffer_done) struct buffer index;
    AUTO(buffer_done) struct buffer log;
    struct day_sample sample;

    buffer_init(&log, 0);
    log_capture(&log);
    begin(&sample);
    read_index(&sample, &index);
    put_part(&sample, 0, slice_sub(buffer_slice(&index), 0, index.len - 5));
    check_found(&sample, 0, 1);
    put_part(&sample, 0, SLICE(""));
    check_found(&sample, 0, 1);
    /* The second part is lost, then the first. */
    put_part(&sample, 0, slice_sub(buffer_slice(&index), 0, SPANINDEX_ENTRY_BYTES));
    put_part(&sample, 2, slice_sub(buffer_slice(&index), SPANINDEX_ENTRY_BYTES, SIZE_MAX));
    check_found(&sample, 1, 1);
    remove_part(&sample, 0);
    check_found(&sample, 0, 1);
    remove_part(&sample, 2);
    check_found(&sample, 0, 0);
    day_sample_done(&sample);
    log_capture(NULL);
}

TEST(idfilter_takes_links_by_all_that_is_asked)
{
    struct store_ids both = { .spans = asked_span, .n_spans = 1, .traces = asked_trace, .n_traces = 1 };
    struct store_ids any = { .is_of_span = true }, none = { 0 };
    struct link link = { .trace_id = { 1 }, .span_id = { 2, SPAN } }, no_span = { .trace_id = { 1 } };
    struct link other_trace = { .trace_id = { 2 }, .span_id = { 2, SPAN } };
    struct idfilter *filter;
    struct day_view view;
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    CHECK_OK(day_view_open(sample.day, 0, &view, &err), &err);
    CHECK_OK(idfilter_new(&view, 1, &(struct store_query){ .ids = &both }, &filter, &err), &err);
    CHECK(idfilter_needs_links(filter));
    CHECK(idfilter_takes_link(filter, &link));
    CHECK(!idfilter_takes_link(filter, &no_span));
    CHECK(!idfilter_takes_link(filter, &other_trace));
    CHECK(idfilter_takes_series(filter, 5) && idfilter_takes_row(filter, 5, 6));
    idfilter_free(filter);
    CHECK_OK(idfilter_new(&view, 1, &(struct store_query){ .ids = &any }, &filter, &err), &err);
    CHECK(idfilter_takes_link(filter, &other_trace) && !idfilter_takes_link(filter, &no_span));
    idfilter_free(filter);
    CHECK_OK(idfilter_new(&view, 1, &(struct store_query){ .ids = &none }, &filter, &err), &err);
    CHECK(!idfilter_needs_links(filter) && idfilter_may_take(filter, SLICE("")));
    idfilter_free(filter);
    day_view_close(&view);
    day_sample_done(&sample);
}

/* Many ids are looked for by sorting, few in the bytes of rows. */
TEST(idfilter_finds_the_same_however_many_ids_are_asked_for)
{
    uint8_t spans[40][8] = { { 0 } };
    struct store_ids ids = { .spans = spans };
    struct day_sample sample;
    struct answer answer;
    struct error err;

    day_sample_init(&sample);
    for (uint32_t i = 0; i < 40; i++) {
        day_sample_write(&sample, &(struct day_sample_profile){
                                      .hour = HOUR, .first_stack = i, .n_stacks = 1, .has_link = i % 2 == 0 });
        memcpy(spans[39 - i], (uint8_t[8]){ 2, (uint8_t)i }, sizeof(spans[0]));
    }
    for (ids.n_spans = 1; ids.n_spans <= 40; ids.n_spans++) {
        CHECK_OK(ask(&sample, &ids, &answer, &err), &err);
        CHECK_EQ(answer.n_rows, ids.n_spans / 2);
    }
    day_sample_close_hours(&sample);
    for (ids.n_spans = 1; ids.n_spans <= 40; ids.n_spans++) {
        CHECK_OK(ask(&sample, &ids, &answer, &err), &err);
        CHECK_EQ(answer.n_rows, ids.n_spans / 2);
    }
    day_sample_done(&sample);
}

TEST(idfilter_does_not_find_a_profile_whose_record_is_damaged_or_of_the_first_format)
{
    uint8_t id[1][16] = { { 'x' } };
    struct store_ids ids = { .profiles = id, .n_profiles = 1 };
    struct storekey key = storekey_profile_id(1, id[0]);
    AUTO(buffer_done) struct buffer log;
    struct day_sample sample;
    struct answer answer;
    struct error err;

    buffer_init(&log, 0);
    log_capture(&log);
    begin(&sample);
    CHECK_OK(ask(&sample, &ids, &answer, &err), &err);
    CHECK_EQ(answer.n_rows, 1);
    CHECK_EQ(answer.n_samples, 9);
    day_sample_put(&sample, KV_DEFAULT, storekey_slice(&key), SLICE("\1?"));
    CHECK_OK(ask(&sample, &ids, &answer, &err), &err);
    CHECK_EQ(answer.n_rows, 0);
    CHECK_EQ(sample.context.n_damaged, 1);
    day_sample_put(&sample, KV_DEFAULT, storekey_slice(&key), SLICE(""));
    CHECK_OK(ask(&sample, &ids, &answer, &err), &err);
    CHECK_EQ(answer.n_rows, 0);
    CHECK_EQ(sample.context.n_damaged, 1);
    day_sample_done(&sample);
    log_capture(NULL);
}

static int ask_everything(void *context, struct error *err)
{
    static const uint8_t profile[1][16] = { { 'x' } };
    struct store_ids spans = { .spans = asked_span, .n_spans = 1, .traces = asked_trace, .n_traces = 1 };
    struct store_ids traces = { .traces = asked_trace, .n_traces = 1 };
    struct store_ids profiles = { .profiles = profile, .n_profiles = 1 };
    struct answer answer;

    if (ask(context, &spans, &answer, err) < 0 || ask(context, &traces, &answer, err) < 0)
        return -1;
    return ask(context, &profiles, &answer, err);
}

TEST(idfilter_survives_any_allocation_failing)
{
    struct day_sample sample;

    begin(&sample);
    test_each_allocation_failing(ask_everything, &sample);
    day_sample_done(&sample);
}
