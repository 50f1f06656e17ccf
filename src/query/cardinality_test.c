// SPDX-License-Identifier: Apache-2.0
#include "query/cardinality.h"

#include "query/query_story_test.h"

/* --- the same of a plain list --- */

/* The series that match, each by one of its records. */
static size_t plain_series(const struct query_story *story, const struct query_story_asked *asked,
                           const struct query_story_record **series, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
    size_t n = 0;

    *ret_first_ns = INT64_MAX;
    *ret_last_ns = INT64_MIN;
    for (size_t i = 0; i < story->records.n; i++) {
        const struct query_story_record *record = &story->records.items[i];
        bool is_new = true;

        if (!query_story_matches(asked, record))
            continue;
        *ret_first_ns = MIN(*ret_first_ns, record->start_ns);
        *ret_last_ns = MAX(*ret_last_ns, record->start_ns);
        for (size_t j = 0; j < n; j++)
            is_new &= !query_story_is_same_series(record, series[j]);
        if (is_new)
            series[n++] = record;
    }
    return n;
}

static uint32_t count_value(const struct query_story_record **series, size_t n, uint32_t name, const char *value)
{
    uint32_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += strcmp(query_story_label(series[i], name).text, value) == 0;
    return count;
}

static void check_label(const struct cardinality_label *label, const struct query_story_record **series, size_t n)
{
    uint32_t name = QUERY_STORY_NAMES, n_values = 0;
    char value[32];

    for (uint32_t i = 0; i < 4; i++) /* those of series */
        if (slice_is(label->name, query_story_names[i]))
            name = i;
    if (name == QUERY_STORY_NAMES) {
        CHECK_TEXT(label->name, "__name__");
        CHECK_EQ(label->n_series, n);
        return;
    }
    CHECK_EQ(label->n_series, n - count_value(series, n, name, ""));
    for (size_t i = 0; i < n; i++) { /* each value where it is first */
        bool is_first = query_story_label(series[i], name).text[0] != '\0';

        for (size_t j = 0; j < i; j++)
            is_first &= strcmp(query_story_label(series[i], name).text, query_story_label(series[j], name).text) != 0;
        n_values += is_first;
    }
    CHECK_EQ(label->n_values, n_values);
    CHECK_EQ(label->n_top, MIN(n_values, 2u));
    for (uint32_t i = 0; i < label->n_top; i++) {
        snprintf(value, sizeof(value), "%.*s", SLICE_ARG(label->top[i].text));
        CHECK_EQ(label->top[i].n_series, count_value(series, n, name, value));
        CHECK(i == 0 || label->top[i - 1].n_series >= label->top[i].n_series);
    }
}

static void check_answer(struct query_story *story)
{
    struct query_story_asked asked = query_story_choose(story);
    struct query query = query_story_query(story, &asked);
    const struct query_story_record **series = calloc(story->records.n + 1, sizeof(*series));
    struct cardinality_options options = { .is_exact = true, .skips_columns = true, .top = 2 };
    AUTO(cardinality_freep) struct cardinality *answer = NULL;
    struct query_facts facts;
    struct error err;
    int64_t first_ns, last_ns;
    size_t n = plain_series(story, &asked, series, &first_ns, &last_ns);

    CHECK_OK(cardinality_new(story->engine, &query, &options, &answer, &facts, &err), &err);
    CHECK_EQ(answer->n_series, n);
    CHECK_EQ(answer->n_types, n ? 2 : 0);
    for (uint32_t i = 0; i < answer->n_types; i++) {
        CHECK_EQ(answer->types[i].n_series, n);
        CHECK_EQ(answer->types[i].first_ns, first_ns);
        CHECK_EQ(answer->types[i].last_ns, last_ns);
    }
    for (uint32_t i = 0; i < answer->n_labels; i++)
        check_label(&answer->labels[i], series, n);
    free(series);
    query_story_done(&asked);
}

CONFORMANCE(cardinality_is_that_of_a_plain_list)
{
    query_story_run(sample, 4, 50, check_answer);
}

/* --- as text --- */

struct asked_counts {
    struct engine *engine;
    struct query query;
    struct cardinality_options options;
    struct cardinality *answer;
    struct query_facts facts;
};

static void begin(struct store_sample *sample, struct asked_counts *asked, size_t query_bytes)
{
    struct engine_options options = { .store = sample->store, .query_bytes = query_bytes };
    struct error err;

    *asked = (struct asked_counts){ .query = { .from_ns = store_sample_time("15T10:00"),
                                               .until_ns = store_sample_time("15T11:00") } };
    CHECK_OK(engine_new(&options, &asked->engine, &err), &err);
}

static int ask_again(void *context, struct error *err)
{
    struct asked_counts *asked = context;

    cardinality_free(TAKE(asked->answer));
    return cardinality_new(asked->engine, &asked->query, &asked->options, &asked->answer, &asked->facts, err);
}

static void end(struct asked_counts *asked)
{
    cardinality_free(TAKE(asked->answer));
    engine_free(TAKE(asked->engine));
}

/* "zone 2/3: eu 2, us 1 +" is a label of three series with two values; a '+' where rows have it. */
static struct slice print(struct store_sample *sample, struct asked_counts *asked)
{
    struct buffer *text = store_sample_text(sample);
    struct error err;

    CHECK_OK(ask_again(asked, &err), &err);
    buffer_printf(text, "%llu series\n", (unsigned long long)asked->answer->n_series);
    for (uint32_t i = 0; i < asked->answer->n_labels; i++) {
        const struct cardinality_label *label = &asked->answer->labels[i];

        buffer_printf(text, "%.*s %llu/%llu:", SLICE_ARG(label->name), (unsigned long long)label->n_values,
                      (unsigned long long)label->n_series);
        for (uint32_t j = 0; j < label->n_top; j++)
            buffer_printf(text, " %.*s %llu%s", SLICE_ARG(label->top[j].text),
                          (unsigned long long)label->top[j].n_series, label->top[j].is_column ? "+" : "");
        buffer_printf(text, "%s\n", label->is_column ? " +" : "");
    }
    for (uint32_t i = 0; i < asked->answer->n_types; i++)
        buffer_printf(
            text, "%.*s %llu %lld\n", SLICE_ARG(asked->answer->types[i].profile_type),
            (unsigned long long)asked->answer->types[i].n_series,
            (long long)((asked->answer->types[i].last_ns - asked->answer->types[i].first_ns) / CLOCK_NS_PER_SECOND));
    return buffer_slice(text);
}

static void write_some(struct store_sample *sample)
{
    STORE_SAMPLE_WRITE(
        sample, { .at = "15T10:00", .service = "api", .labels = "zone=eu;pid=#7", .samples = "main 1 10 {thread=t}" },
        { .at = "15T10:20", .service = "web", .labels = "zone=eu", .samples = "main 1 10" },
        { .at = "15T10:30", .service = "web", .labels = "zone=us;thread=t", .samples = "main 1 10" },
        { .at = "15T10:40", .service = "web", .samples = "main 1 10 {zone=us;thread=u}" },
        { .at = "15T09:00", .service = "old", .types = "wall/nanoseconds", .samples = "main 1" });
}

CONFORMANCE(cardinality_counts_series_labels_values_and_types)
{
    struct asked_counts asked;

    write_some(sample);
    begin(sample, &asked, 0);
    CHECK_TEXT(print(sample, &asked), "4 series\n"
                                      "service_name 3/4: web 2 api 1 old 1\n"
                                      "__name__ 2/4: process_cpu 3 wall 1\n"
                                      "thread 2/0: t 0+ u 0+ +\n"
                                      "zone 2/3: eu 2 us 1\n"
                                      "pid 1/0: 7 0+ +\n"
                                      "process_cpu:cpu:nanoseconds:cpu:nanoseconds 3 0\n"
                                      "process_cpu:samples:count:cpu:nanoseconds 3 0\n"
                                      "wall:wall:nanoseconds:: 1 0\n");
    end(&asked);
}

CONFORMANCE(cardinality_can_be_exact_and_of_one_label)
{
    struct asked_counts asked;
    AUTO(selector_freep) struct selector *selector = NULL;
    struct error err;

    write_some(sample);
    begin(sample, &asked, 0);
    asked.options = (struct cardinality_options){ .is_exact = true, .label = SLICE("service.name"), .top = 1 };
    CHECK_TEXT(print(sample, &asked), "3 series\n"
                                      "service_name 2/3: web 2\n"
                                      "process_cpu:cpu:nanoseconds:cpu:nanoseconds 3 2400\n"
                                      "process_cpu:samples:count:cpu:nanoseconds 3 2400\n");
    CHECK_OK(selector_new(SLICE("{service_name=\"web\"}"), &selector, &err), &err);
    asked.query.selector = selector;
    asked.options = (struct cardinality_options){ .label = SLICE("thread") };
    CHECK_TEXT(print(sample, &asked), "2 series\n"
                                      "thread 2/0: t 0+ u 0+ +\n"
                                      "process_cpu:cpu:nanoseconds:cpu:nanoseconds 2 0\n"
                                      "process_cpu:samples:count:cpu:nanoseconds 2 0\n");
    asked.options.skips_columns = true;
    CHECK_TEXT(print(sample, &asked), "2 series\n"
                                      "process_cpu:cpu:nanoseconds:cpu:nanoseconds 2 0\n"
                                      "process_cpu:samples:count:cpu:nanoseconds 2 0\n");
    end(&asked);
}

CONFORMANCE(cardinality_holds_to_its_limits)
{
    atomic_bool is_cancelled = true;
    struct asked_counts asked;
    char labels[32];
    struct error err;

    for (unsigned i = 0; i < 100; i++) {
        snprintf(labels, sizeof(labels), "instance=%u", i);
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:30", .service = "api", .labels = labels, .samples = "main 1 10" });
    }
    begin(sample, &asked, 8192);
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "ask for one label, for less time or fewer series, or raise --query-memory");
    end(&asked);
    begin(sample, &asked, 0);
    asked.options.is_exact = true;
    asked.query.is_cancelled = &is_cancelled;
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_CANCELLED);
    end(&asked);
}

CONFORMANCE(cardinality_survives_failing_allocations)
{
    struct asked_counts asked;

    write_some(sample);
    begin(sample, &asked, 0);
    test_each_allocation_failing(ask_again, &asked);
    asked.options.is_exact = true;
    test_each_allocation_failing(ask_again, &asked);
    end(&asked);
}
