// SPDX-License-Identifier: Apache-2.0
#include "query/exemplars.h"

#include "query/query_story_test.h"
#include "query/timeseries.h"

#include <stdlib.h>

enum { MAX_BY = 2, KEY_BYTES = 80 };

/* --- what a plain list says --- */

struct by {
    uint32_t names[MAX_BY];
    uint32_t n;
};

struct choice {
    const struct query_story_record *record; /* the first of its samples */
    char key[KEY_BYTES];                     /* of the group */
    uint32_t point;
    int64_t value;
};

static void make_key(const struct query_story_record *record, const struct by *by, char key[static KEY_BYTES])
{
    key[0] = '\0';
    for (uint32_t i = 0; i < by->n; i++)
        snprintf(key + strlen(key), KEY_BYTES - strlen(key), "%s|", query_story_label(record, by->names[i]).text);
}

/* Rows, or what they have of spans, as the header says (X2). */
static size_t plain_choices(const struct query_story *story, const struct query_story_asked *asked, const struct by *by,
                            const struct exemplars_options *options, struct choice *choices)
{
    bool is_of_spans = options->kind == EXEMPLARS_SPANS;
    size_t n = 0;

    for (size_t i = 0; i < story->records.n; i++) {
        const struct query_story_record *record = &story->records.items[i];
        struct choice choice = { .record = record };
        size_t at = 0;

        if (!query_story_matches(asked, record) || (is_of_spans && !record->span))
            continue;
        make_key(record, by, choice.key);
        choice.point = (uint32_t)((record->start_ns - asked->from_ns) / options->step_ns);
        while (at < n &&
               !(query_story_is_same_row(choices[at].record, record) && strcmp(choices[at].key, choice.key) == 0 &&
                 (!is_of_spans ||
                  (choices[at].record->span == record->span && choices[at].record->trace == record->trace))))
            at++;
        if (at == n)
            choices[n++] = choice;
        choices[at].value += record->value;
    }
    return n;
}

static int compare_choices(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    if (order)
        return order;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->record->start_ns < y->record->start_ns ? -1 : x->record->start_ns > y->record->start_ns;
}

/* --- comparing --- */

/* Asked for again by its ids, an exemplar is what it says. */
static void check_again(struct query_story *story, const struct query *asked, const struct exemplar *exemplar,
                        bool is_span)
{
    struct store_ids ids = asked->ids ? *asked->ids : (struct store_ids){ 0 };
    struct timeseries_options options = { .kind = TIMESERIES_SUM, .step_ns = asked->until_ns - asked->from_ns };
    AUTO(timeseries_freep) struct timeseries *series = NULL;
    struct query query = *asked;
    struct query_facts facts;
    struct error err;

    ids.profiles = &exemplar->profile_id;
    ids.n_profiles = 1;
    if (is_span) {
        ids.spans = &exemplar->span_id;
        ids.traces = &exemplar->trace_id;
        ids.n_spans = ids.n_traces = 1;
    }
    query.ids = &ids;
    query.sums_levels = true;
    CHECK_OK(timeseries_new(story->engine, &query, &options, &series, &facts, &err), &err);
    CHECK_EQ(facts.n_rows, 1);
    CHECK_EQ(series->n_groups, 1);
    CHECK_EQ((int64_t)series->groups[0].sum, exemplar->value);
}

static void check_group(const struct exemplars_group *group, const struct choice *choices, size_t n,
                        const struct exemplars_options *options)
{
    uint32_t at = 0, n_at_point = 0;

    for (size_t i = 0; i < n; i++) {
        const struct exemplar *exemplar;

        n_at_point = i && choices[i].point == choices[i - 1].point ? n_at_point + 1 : 0;
        if (n_at_point >= options->n_per_point)
            continue;
        CHECK(at < group->n);
        exemplar = &group->items[at++];
        CHECK_EQ(exemplar->point, choices[i].point);
        CHECK_EQ(exemplar->value, choices[i].value);
        CHECK_EQ(exemplar->start_ns, choices[i].record->start_ns);
    }
    CHECK_EQ(at, group->n);
    for (uint32_t i = 1; i < group->n; i++)
        CHECK(group->items[i - 1].point < group->items[i].point ||
              exemplars_is_before(&group->items[i - 1], &group->items[i]));
}

static void check_groups(const struct exemplars *got, const struct choice *choices, size_t n,
                         const struct exemplars_options *options)
{
    uint32_t n_groups = 0;
    size_t end;

    for (size_t i = 0; i < n; i = end) {
        struct slice values[MAX_BY], rest = slice_from(choices[i].key);
        const struct exemplars_group *group;

        for (end = i + 1; end < n && strcmp(choices[end].key, choices[i].key) == 0;)
            end++;
        for (uint32_t k = 0; k < options->n_by; k++)
            CHECK(slice_next_part(&rest, '|', &values[k]));
        group = exemplars_find(got, values, options->n_by);
        CHECK(group);
        check_group(group, &choices[i], end - i, options);
        n_groups++;
    }
    CHECK_EQ(got->n_groups, n_groups);
}

static void check_answer(struct query_story *story)
{
    struct query_story_asked asked = query_story_choose(story);
    struct query query = query_story_query(story, &asked);
    struct choice *choices = calloc(story->records.n + 1, sizeof(*choices));
    struct by by = { .n = query_story_below(story, MAX_BY + 1) };
    struct slice names[MAX_BY];
    struct exemplars_options options = { .kind = (enum exemplars_kind)query_story_below(story, 2),
                                         .by = names,
                                         .n_by = by.n,
                                         .n_per_point = 1 + query_story_below(story, 3) };
    AUTO(exemplars_freep) struct exemplars *got = NULL;
    struct query_facts facts;
    struct error err;
    size_t n;

    for (uint32_t i = 0; i < by.n; i++) {
        by.names[i] = query_story_below(story, QUERY_STORY_NAMES);
        names[i] = slice_from(query_story_names[by.names[i]]);
    }
    options.step_ns = (asked.until_ns - asked.from_ns) / (1 + query_story_below(story, 6)) + 1;
    n = plain_choices(story, &asked, &by, &options, choices);
    if (n)
        qsort(choices, n, sizeof(*choices), compare_choices);
    CHECK_OK(exemplars_new(story->engine, &query, &options, &got, &facts, &err), &err);
    check_groups(got, choices, n, &options);
    for (uint32_t i = 0; !by.n && got->n_groups && i < got->groups[0].n; i++)
        check_again(story, &query, &got->groups[0].items[i], options.kind == EXEMPLARS_SPANS);
    free(choices);
    query_story_done(&asked);
}

CONFORMANCE(exemplars_are_those_of_a_plain_list)
{
    query_story_run(sample, 4, 50, check_answer);
}

/* --- by hand --- */

static void write_some(struct store_sample *sample)
{
    STORE_SAMPLE_WRITE(
        sample, { .at = "15T10:00", .service = "api", .samples = "a 1 10 @aa-01 | b 2 20 @aa-02 | c 3 30 @aa-01" },
        { .at = "15T10:01", .service = "api", .samples = "a 6 60" },
        { .at = "15T10:02", .service = "web", .samples = "a 4 40 @bb-03 | b 1 10 @bb-00" },
        { .at = "15T10:07", .service = "web", .samples = "a 9 90 @bb-03" });
}

static struct query query_of_hour(void)
{
    return (struct query){ .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                           .from_ns = store_sample_time("15T10:00"),
                           .until_ns = store_sample_time("15T11:00") };
}

static struct engine *engine_of(struct store_sample *sample, size_t query_bytes)
{
    struct engine_options options = { .store = sample->store, .n_threads = 1, .query_bytes = query_bytes };
    struct engine *engine;
    struct error err;

    CHECK_OK(engine_new(&options, &engine, &err), &err);
    return engine;
}

CONFORMANCE(exemplars_of_profiles_and_spans_are_the_largest_of_each_point)
{
    struct exemplars_options options = { .step_ns = 300 * CLOCK_NS_PER_SECOND, .n_per_point = 2 };
    struct query query = query_of_hour();
    struct engine *engine;
    struct exemplars *got;
    const struct exemplar *items;
    struct query_facts facts;
    struct error err;
    uint32_t n;

    write_some(sample);
    engine = engine_of(sample, 0);
    CHECK_OK(exemplars_new(engine, &query, &options, &got, &facts, &err), &err);
    CHECK_EQ(got->n_groups, 1);
    items = exemplars_at(&got->groups[0], 0, &n);
    CHECK_EQ(n, 2);
    CHECK(items[0].value == 60 && items[1].value == 60); /* the earlier first */
    CHECK_EQ(items[0].start_ns, query.from_ns);
    CHECK_EQ(items[0].duration_ns, 10 * CLOCK_NS_PER_SECOND);
    CHECK_TEXT(items[0].series, "{__name__=\"process_cpu\", service_name=\"api\"}");
    CHECK_EQ(items[0].span_id[0], 0);
    items = exemplars_at(&got->groups[0], 1, &n);
    CHECK_EQ(n, 1);
    CHECK_EQ(items[0].value, 90);
    exemplars_at(&got->groups[0], 2, &n);
    CHECK_EQ(n, 0);
    exemplars_free(got);
    options.kind = EXEMPLARS_SPANS;
    CHECK_OK(exemplars_new(engine, &query, &options, &got, &facts, &err), &err);
    items = exemplars_at(&got->groups[0], 0, &n);
    CHECK_EQ(n, 2);
    CHECK(items[0].value == 40 && items[0].span_id[0] == 1 && items[0].trace_id[0] == 0xaa);
    CHECK(items[1].value == 40 && items[1].span_id[0] == 3 && items[1].trace_id[0] == 0xbb);
    CHECK_EQ(facts.n_rows, 3);
    exemplars_free(got);
    engine_free(engine);
}

CONFORMANCE(exemplars_say_what_is_allowed)
{
    struct exemplars_options options = { .step_ns = 60 * CLOCK_NS_PER_SECOND };
    struct query query = query_of_hour();
    struct engine *engine = engine_of(sample, 0);
    struct exemplars *got = NULL;
    struct query_facts facts;
    struct error err;

    CHECK_ERROR(exemplars_new(engine, &query, &options, &got, &facts, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "0 exemplars for each point: 1 to 100 are allowed");
    options.n_per_point = 101;
    CHECK_ERROR(exemplars_new(engine, &query, &options, &got, &facts, &err), &err, ERR_INVALID);
    options.n_per_point = 1;
    options.step_ns = 1;
    CHECK_ERROR(exemplars_new(engine, &query, &options, &got, &facts, &err), &err, ERR_LIMIT);
    options.step_ns = 60 * CLOCK_NS_PER_SECOND;
    CHECK_OK(exemplars_new(engine, &query, &options, &got, &facts, &err), &err);
    CHECK_EQ(got->n_groups, 0);
    CHECK(!exemplars_find(got, NULL, 0));
    exemplars_free(got);
    engine_free(engine);
}

CONFORMANCE(exemplars_stay_within_the_memory_of_a_query)
{
    struct exemplars_options options = { .step_ns = 60 * CLOCK_NS_PER_SECOND, .n_per_point = 100 };
    struct query query = query_of_hour();
    struct engine *engine = engine_of(sample, 4096);
    struct exemplars *got = NULL;
    struct query_facts facts;
    struct error err;

    write_some(sample);
    CHECK_ERROR(exemplars_new(engine, &query, &options, &got, &facts, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "fewer exemplars, or raise --query-memory");
    engine_free(engine);
}

struct asking {
    struct engine *engine;
    struct query query;
};

static int ask_both(void *context, struct error *err)
{
    struct asking *asking = context;
    struct slice by = SLICE("thread");
    struct exemplars_options options = { .step_ns = 300 * CLOCK_NS_PER_SECOND, .n_per_point = 2, .by = &by, .n_by = 1 };

    for (options.kind = EXEMPLARS_PROFILES; options.kind <= EXEMPLARS_SPANS; options.kind++) {
        struct exemplars *got;
        struct query_facts facts;

        if (exemplars_new(asking->engine, &asking->query, &options, &got, &facts, err) < 0)
            return -1;
        exemplars_free(got);
    }
    return 0;
}

CONFORMANCE(exemplars_survive_any_allocation_failing)
{
    struct asking asking = { .query = query_of_hour() };

    write_some(sample);
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:03", .service = "api", .samples = "a 1 10 {thread=t1} @aa-01" });
    asking.engine = engine_of(sample, 0);
    test_each_allocation_failing(ask_both, &asking);
    engine_free(asking.engine);
}
