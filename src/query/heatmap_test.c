// SPDX-License-Identifier: Apache-2.0
#include "query/heatmap.h"

#include "query/query_story_test.h"

#include <math.h>

#define CPU_TYPE "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

/* --- the same of a plain list --- */

struct plain_row {
    const struct query_story_record *record;
    double value;
};

static bool is_same(const struct query_story_record *a, const struct query_story_record *b, enum heatmap_kind kind)
{
    return query_story_is_same_row(a, b) && (kind == HEATMAP_PROFILES || (a->span == b->span && a->trace == b->trace));
}

/* The rows that match, or their spans, with what matches of their values; returns how many there are. */
static size_t plain_rows(const struct query_story *story, const struct query_story_asked *asked, enum heatmap_kind kind,
                         struct plain_row *rows)
{
    const struct query_story_record *records = story->records.items;
    size_t n = 0;

    for (size_t i = 0; i < story->records.n; i++) {
        size_t place = n;

        if (!query_story_matches(asked, &records[i]) || (kind == HEATMAP_SPANS && !records[i].span))
            continue;
        for (size_t j = n; j-- > 0 && rows[j].record->profile == records[i].profile;)
            if (is_same(rows[j].record, &records[i], kind))
                place = j;
        if (place == n)
            rows[n++] = (struct plain_row){ &records[i], 0 };
        rows[place].value += (double)query_story_value(asked, &records[i]);
    }
    for (size_t i = 0; i < n && !story->is_level; i++)
        rows[i].value /= (double)rows[i].record->duration_ns / 1e9;
    return n;
}

static void check_borders(const struct heatmap *map, const struct heatmap_options *options)
{
    for (uint32_t i = 0; i < map->n_buckets; i++)
        CHECK(map->borders[i] < map->borders[i + 1]);
    CHECK(map->n_buckets <= (options->n_buckets ? options->n_buckets : 30));
}

static bool is_in(const struct heatmap *map, uint32_t bucket, double value)
{
    return map->borders[bucket] <= value && value < map->borders[bucket + 1];
}

static void check_cell(const struct heatmap *map, uint32_t point, uint32_t bucket, const struct plain_row *rows,
                       size_t n_rows, const struct query_story_asked *asked)
{
    size_t cell = (size_t)point * map->n_buckets + bucket;
    const struct heatmap_exemplar *exemplar = &map->exemplars[cell];
    const struct plain_row *best = NULL;
    bool is_found = false;
    uint32_t n = 0;

    for (size_t i = 0; i < n_rows; i++) {
        if ((rows[i].record->start_ns - asked->from_ns) / map->step_ns != point || !is_in(map, bucket, rows[i].value))
            continue;
        n++;
        if (!best || rows[i].value > best->value ||
            (rows[i].value == best->value && rows[i].record->start_ns < best->record->start_ns))
            best = &rows[i];
    }
    CHECK_EQ(map->counts[cell], n);
    if (!best)
        return;
    CHECK_NEAR(exemplar->value, best->value, 0);
    CHECK_EQ(exemplar->start_ns, best->record->start_ns);
    CHECK(exemplar->series < map->n_series);
    for (size_t i = 0; i < n_rows; i++) { /* several may be equal: it is one of them */
        char words[64];

        snprintf(words, sizeof(words), "service_name=\"s%u\"", rows[i].record->service);
        is_found |= rows[i].value == best->value && rows[i].record->start_ns == best->record->start_ns &&
                    slice_find(map->series[exemplar->series], slice_from(words)) >= 0;
    }
    CHECK(is_found);
}

/* Asked for again by its ids, an exemplar is one profile, or one span of it, and has its value. */
static void check_again(struct query_story *story, const struct query *asked, const struct heatmap_options *options,
                        const struct heatmap_exemplar *exemplar)
{
    struct store_ids ids = asked->ids ? *asked->ids : (struct store_ids){ 0 };
    struct heatmap_options again = { .kind = options->kind, .step_ns = options->step_ns };
    AUTO(heatmap_freep) struct heatmap *map = NULL;
    struct query query = *asked;
    struct query_facts facts;
    struct error err;

    ids.profiles = &exemplar->profile_id;
    ids.n_profiles = 1;
    if (options->kind == HEATMAP_SPANS) {
        ids.spans = &exemplar->link.span_id;
        ids.traces = &exemplar->link.trace_id;
        ids.n_spans = ids.n_traces = 1;
    }
    query.ids = &ids;
    CHECK_OK(heatmap_new(story->engine, &query, &again, &map, &facts, &err), &err);
    CHECK_EQ(facts.n_rows, 1);
    for (size_t i = 0; i < (size_t)map->n_points * map->n_buckets; i++)
        if (map->counts[i])
            CHECK_NEAR(map->exemplars[i].value, exemplar->value, 0);
}

static void check_answer(struct query_story *story)
{
    struct query_story_asked asked = query_story_choose(story);
    struct query query;
    struct plain_row *rows = calloc(story->records.n + 1, sizeof(*rows));
    AUTO(heatmap_freep) struct heatmap *map = NULL;
    struct heatmap_options options = { .scale = (enum heatmap_scale)query_story_below(story, 3),
                                       .kind = (enum heatmap_kind)query_story_below(story, 2) };
    size_t n_rows;
    struct query_facts facts;
    struct error err;

    query_story_choose_filter(story, &asked);
    query = query_story_query(story, &asked);
    n_rows = plain_rows(story, &asked, options.kind, rows);
    options.step_ns = (asked.until_ns - asked.from_ns) / (1 + query_story_below(story, 6)) + 1;
    options.n_buckets = query_story_below(story, 3) ? query_story_below(story, 61) : 1 + query_story_below(story, 3);
    CHECK_OK(heatmap_new(story->engine, &query, &options, &map, &facts, &err), &err);
    CHECK_EQ(facts.n_rows, n_rows);
    CHECK_EQ(map->n_buckets > 0, n_rows > 0);
    CHECK_EQ(map->is_per_second, n_rows > 0 && !story->is_level);
    check_borders(map, &options);
    for (uint32_t i = 0; i < map->n_points; i++)
        for (uint32_t j = 0; j < map->n_buckets; j++)
            check_cell(map, i, j, rows, n_rows, &asked);
    if (map->n_buckets && map->counts[0])
        check_again(story, &query, &options, &map->exemplars[0]);
    free(rows);
    query_story_done(&asked);
}

CONFORMANCE(heatmap_is_that_of_a_plain_list)
{
    query_story_run(sample, 4, 50, check_answer);
}

/* --- buckets --- */

struct asked_map {
    struct engine *engine;
    struct query query;
    struct heatmap_options options;
    struct heatmap *map;
    struct query_facts facts;
};

static void begin(struct store_sample *sample, struct asked_map *asked, size_t query_bytes)
{
    struct engine_options options = { .store = sample->store, .query_bytes = query_bytes };
    struct error err;

    *asked = (struct asked_map){ .query = { .type = SLICE(CPU_TYPE),
                                            .from_ns = store_sample_time("15T10:00"),
                                            .until_ns = store_sample_time("15T11:00") },
                                 .options = { .step_ns = 3600 * CLOCK_NS_PER_SECOND } };
    CHECK_OK(engine_new(&options, &asked->engine, &err), &err);
}

static int ask_again(void *context, struct error *err)
{
    struct asked_map *asked = context;

    heatmap_free(TAKE(asked->map));
    return heatmap_new(asked->engine, &asked->query, &asked->options, &asked->map, &asked->facts, err);
}

static void end(struct asked_map *asked)
{
    heatmap_free(TAKE(asked->map));
    engine_free(TAKE(asked->engine));
}

/* Values per ten seconds, as profiles of one series. */
static void write_values(struct store_sample *sample, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char samples[64];

        snprintf(samples, sizeof(samples), "main 1 %lld", (long long)values[i]);
        STORE_SAMPLE_WRITE(sample, { .start_ns = store_sample_time("15T10:00") + (int64_t)i * CLOCK_NS_PER_SECOND,
                                     .service = "api",
                                     .samples = samples });
    }
}

static struct slice print_buckets(struct store_sample *sample, struct asked_map *asked)
{
    struct buffer *text = store_sample_text(sample);
    struct error err;

    CHECK_OK(ask_again(asked, &err), &err);
    for (uint32_t i = 0; i <= asked->map->n_buckets; i++) {
        buffer_printf(text, "%s%g", i ? " " : "", asked->map->borders[i]);
        if (i < asked->map->n_buckets)
            buffer_printf(text, " (%u)", asked->map->counts[i]);
    }
    return buffer_slice(text);
}

CONFORMANCE(heatmap_borders_are_round_numbers)
{
    static const int64_t values[] = { 1030, 1120, 1240, 1470 };
    struct asked_map asked;

    write_values(sample, values, ARRAY_LEN(values));
    begin(sample, &asked, 0);
    asked.options.n_buckets = 5;
    CHECK_TEXT(print_buckets(sample, &asked), "100 (1) 110 (1) 120 (1) 130 (0) 140 (1) 150");
    CHECK(!asked.map->is_log2);
    CHECK_TEXT(asked.map->unit, "nanoseconds/second");
    CHECK_TEXT(asked.map->series[asked.map->exemplars[0].series], "{__name__=\"process_cpu\", service_name=\"api\"}");
    asked.options.n_buckets = 1;
    CHECK_TEXT(print_buckets(sample, &asked), "100 (4) 150");
    end(&asked);
}

CONFORMANCE(heatmap_has_equal_buckets_of_plain_values_if_asked)
{
    static const int64_t values[] = { 100, 140, 200 }, others[] = { 120, 300 };
    double borders[5];
    struct asked_map asked;
    struct error err;

    write_values(sample, values, ARRAY_LEN(values));
    begin(sample, &asked, 0);
    asked.options.scale = HEATMAP_EQUAL;
    asked.options.is_plain = true;
    asked.options.n_buckets = 4;
    CHECK_TEXT(print_buckets(sample, &asked), "100 (1) 125 (1) 150 (0) 175 (1) 200");
    CHECK(!asked.map->is_per_second);
    CHECK_TEXT(asked.map->unit, "nanoseconds");
    /* Beside those, another map. */
    memcpy(borders, asked.map->borders, sizeof(borders));
    asked.options.borders = borders;
    write_values(sample, others, ARRAY_LEN(others));
    CHECK_TEXT(print_buckets(sample, &asked), "100 (2) 125 (1) 150 (0) 175 (2) 200");
    asked.options.borders = NULL;
    asked.query.until_ns = asked.query.from_ns;
    CHECK_OK(ask_again(&asked, &err), &err);
    CHECK_EQ(asked.map->n_buckets, 0);
    end(&asked);
}

CONFORMANCE(heatmap_of_equal_values_has_one_bucket)
{
    static const int64_t values[] = { 700, 700 };
    struct asked_map asked;

    write_values(sample, values, ARRAY_LEN(values));
    begin(sample, &asked, 0);
    CHECK_TEXT(print_buckets(sample, &asked), "70 (2) 80");
    end(&asked);
}

CONFORMANCE(heatmap_takes_powers_of_two_where_few_values_are_large)
{
    static const int64_t values[] = { 0, 10, 20, 20, 30, 40, 10, 10, 40, 30, 640 };
    struct asked_map asked;

    write_values(sample, values, ARRAY_LEN(values));
    begin(sample, &asked, 0);
    asked.options.n_buckets = 8;
    CHECK_TEXT(print_buckets(sample, &asked), "0 (1) 1 (3) 2 (4) 4 (2) 8 (0) 16 (0) 32 (0) 64 (1) 128");
    CHECK(asked.map->is_log2);
    asked.options.n_buckets = 4;
    CHECK_TEXT(print_buckets(sample, &asked), "0 (10) 16 (0) 32 (0) 64 (1) 128");
    asked.options.n_buckets = 1;
    CHECK_TEXT(print_buckets(sample, &asked), "0 (11) 128");
    asked.options.n_buckets = 15;
    CHECK_TEXT(
        print_buckets(sample, &asked),
        "0 (1) 1 (3) 1.41421 (0) 2 (2) 2.82843 (2) 4 (2) 5.65685 (0) 8 (0) 11.3137 (0) 16 (0) 22.6274 (0) 32 (0) "
        "45.2548 (0) 64 (1) 90.5097 (0) 128");
    asked.options.scale = HEATMAP_LINEAR;
    CHECK_TEXT(print_buckets(sample, &asked), "0 (10) 5 (0) 10 (0) 15 (0) 20 (0) 25 (0) 30 (0) 35 (0) 40 (0) 45 (0) 50 "
                                              "(0) 55 (0) 60 (1) 65");
    end(&asked);
}

CONFORMANCE(heatmap_has_room_for_negative_values)
{
    static const int64_t values[] = { -300, 100, 400 };
    struct asked_map asked;

    write_values(sample, values, ARRAY_LEN(values));
    begin(sample, &asked, 0);
    asked.options.n_buckets = 4;
    CHECK_TEXT(print_buckets(sample, &asked), "-50 (1) 0 (2) 50");
    asked.options.scale = HEATMAP_LOG2;
    CHECK_TEXT(print_buckets(sample, &asked), "-30 (1) 8 (1) 16 (0) 32 (1) 64");
    end(&asked);
}

CONFORMANCE(heatmap_leaves_out_flows_without_a_duration_beside_others)
{
    const struct store_sample_profile profiles[] = {
        { .at = "15T10:00", .service = "api", .samples = "main 1 500" },
        { .at = "15T10:01", .service = "api", .samples = "main 1 70" },
    };
    struct store_receipt receipt;
    struct asked_map asked;
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct error err;

    store_sample_batch(profiles, 2, &batch);
    batch.profiles[0].duration_ns = 0;
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    begin(sample, &asked, 0);
    CHECK_TEXT(print_buckets(sample, &asked), "7 (1) 8");
    CHECK_EQ(asked.map->n_left_out, 1);
    asked.query.until_ns = store_sample_time("15T10:01");
    CHECK_TEXT(print_buckets(sample, &asked), "500 (1) 550");
    CHECK_EQ(asked.map->n_left_out, 0);
    CHECK(!asked.map->is_per_second);
    CHECK_TEXT(asked.map->unit, "nanoseconds");
    batch_done(&batch);
    end(&asked);
}

CONFORMANCE(heatmap_holds_to_its_limits)
{
    static const int64_t values[] = { 10, 20, 50 };
    atomic_bool is_cancelled = true;
    struct asked_map asked;
    struct error err;

    write_values(sample, values, ARRAY_LEN(values));
    begin(sample, &asked, 4096);
    CHECK_OK(ask_again(&asked, &err), &err);
    asked.options.step_ns = CLOCK_NS_PER_SECOND;
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "ask for longer steps or fewer buckets, or raise --query-memory");
    asked.options.step_ns = 1000;
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "at most 11000 are allowed");
    asked.query.is_cancelled = &is_cancelled;
    asked.options.step_ns = 3600 * CLOCK_NS_PER_SECOND;
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_CANCELLED);
    end(&asked);
}

CONFORMANCE(heatmap_survives_failing_allocations)
{
    static const int64_t values[] = { 10, 20, 50 };
    struct asked_map asked;

    write_values(sample, values, ARRAY_LEN(values));
    begin(sample, &asked, 0);
    test_each_allocation_failing(ask_again, &asked);
    end(&asked);
}
