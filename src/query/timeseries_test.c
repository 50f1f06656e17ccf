// SPDX-License-Identifier: Apache-2.0
#include "query/timeseries.h"

#include "query/query_story_test.h"

#include <math.h>

/* --- the same of the list --- */

enum { MAX_BY = 2, MAX_KEYS = 64, KEY_BYTES = 80 };

struct by {
    uint32_t names[MAX_BY];
    uint32_t n;
};

struct key {
    char text[KEY_BYTES];
};

static struct key key_of(const struct query_story_record *record, const struct by *by)
{
    struct key key = { "" };

    for (uint32_t i = 0; i < by->n; i++)
        snprintf(key.text + strlen(key.text), KEY_BYTES - strlen(key.text), "%s|",
                 query_story_label(record, by->names[i]).text);
    return key;
}

struct point {
    double sum, level;
    uint32_t n_rows;
};

/* What the list has of a group in [from, until), one record after the other. */
static struct point plain_point(const struct query_story *story, const struct query_story_asked *asked,
                                const struct by *by, const char *key, int64_t from_ns, int64_t until_ns)
{
    const struct query_story_record *records = story->records.items;
    bool *is_in = calloc(story->records.n + 1, sizeof(*is_in)),
         *is_first = calloc(story->records.n + 1, sizeof(*is_in));
    struct point point = { 0 };

    for (size_t i = 0; i < story->records.n; i++) {
        is_in[i] = query_story_matches(asked, &records[i]) && records[i].start_ns >= from_ns &&
                   records[i].start_ns < until_ns && strcmp(key_of(&records[i], by).text, key) == 0;
        is_first[i] = is_in[i];
        for (size_t j = i; is_first[i] && j-- > 0 && records[j].profile == records[i].profile;)
            is_first[i] = !(is_in[j] && query_story_is_same_row(&records[i], &records[j]));
        point.sum += is_in[i] ? (double)query_story_value(asked, &records[i]) : 0;
        point.n_rows += is_first[i];
    }
    for (size_t i = 0; i < story->records.n; i++) {
        double sum = 0, n_rows = 0;
        bool is_new = is_in[i];

        for (size_t j = 0; j < i && is_new; j++)
            is_new = !(is_in[j] && query_story_is_same_series(&records[i], &records[j]));
        for (size_t j = i; j < story->records.n && is_new; j++)
            if (is_in[j] && query_story_is_same_series(&records[i], &records[j])) {
                sum += (double)query_story_value(asked, &records[j]);
                n_rows += is_first[j];
            }
        point.level += is_new ? sum / n_rows : 0;
    }
    free(is_in);
    free(is_first);
    return point;
}

/* The level at a point: the average over five minutes each that have rows. */
static double plain_level(const struct query_story *story, const struct query_story_asked *asked, const struct by *by,
                          const char *key, int64_t from_ns, int64_t step_ns)
{
    const int64_t five_minutes_ns = 300 * CLOCK_NS_PER_SECOND;
    int64_t until_ns = MIN(from_ns + step_ns, asked->until_ns), end_ns;
    double sum = 0;
    uint32_t n = 0;

    for (int64_t at_ns = from_ns; at_ns < until_ns; at_ns = end_ns) {
        struct point part;

        end_ns =
            MIN(step_ns <= five_minutes_ns ? until_ns : at_ns - at_ns % five_minutes_ns + five_minutes_ns, until_ns);
        part = plain_point(story, asked, by, key, at_ns, end_ns);
        sum += part.level;
        n += part.n_rows > 0;
    }
    return n ? sum / n : 0;
}

static uint32_t plain_keys(const struct query_story *story, const struct query_story_asked *asked, const struct by *by,
                           struct key *keys)
{
    uint32_t n = 0;

    for (size_t i = 0; i < story->records.n; i++) {
        struct key key = key_of(&story->records.items[i], by);
        bool is_new = query_story_matches(asked, &story->records.items[i]);

        for (uint32_t j = 0; j < n; j++)
            is_new &= strcmp(keys[j].text, key.text) != 0;
        if (is_new) {
            CHECK(n < MAX_KEYS);
            keys[n++] = key;
        }
    }
    return n;
}

static double value_of(const struct query_story *story, enum timeseries_kind kind, bool sums_levels,
                       const struct point *point, int64_t length_ns)
{
    if (!point->n_rows)
        return 0;
    switch (kind) {
    case TIMESERIES_SUM: return story->is_level && !sums_levels ? point->level : point->sum;
    case TIMESERIES_AVERAGE: return point->sum / point->n_rows;
    case TIMESERIES_COUNT: return point->n_rows;
    case TIMESERIES_RATE: return point->sum * 1e9 / (double)length_ns;
    case TIMESERIES_CORES: return point->sum / (double)length_ns;
    }
    return 0;
}

static struct key group_key(const struct timeseries_group *group, uint32_t n_by)
{
    struct key key = { "" };

    for (uint32_t i = 0; i < n_by; i++)
        snprintf(key.text + strlen(key.text), KEY_BYTES - strlen(key.text), "%.*s|", SLICE_ARG(group->values[i]));
    return key;
}

static int compare_labels(const struct timeseries_group *a, const struct timeseries_group *b, uint32_t n_by)
{
    int order = 0;

    for (uint32_t i = 0; i < n_by && !order; i++)
        order = slice_compare(a->values[i], b->values[i]);
    return order;
}

static void check_group(struct query_story *story, const struct query_story_asked *asked, const struct by *by,
                        const struct query *query, const struct timeseries_options *options,
                        const struct timeseries *series, uint32_t number)
{
    const struct timeseries_group *group = &series->groups[number];
    struct key key = group_key(group, by->n);
    double sum = 0;

    for (uint32_t i = 0; i < series->n_points; i++) {
        int64_t begin_ns = asked->from_ns + i * options->step_ns;
        int64_t end_ns = MIN(begin_ns + options->step_ns, asked->until_ns);
        struct point point = plain_point(story, asked, by, key.text, begin_ns, end_ns);
        double wanted;

        if (story->is_level)
            point.level = plain_level(story, asked, by, key.text, begin_ns, options->step_ns);
        wanted = value_of(story, options->kind, query->sums_levels, &point, end_ns - begin_ns);

        CHECK_EQ(group->has_rows[i], point.n_rows > 0);
        CHECK_NEAR(group->points[i], wanted, fabs(wanted) * 1e-9);
        sum += wanted;
    }
    CHECK_NEAR(group->sum, sum, fabs(sum) * 1e-9);
    if (number) {
        const struct timeseries_group *before = group - 1;

        CHECK(before->sum >= group->sum);
        if (before->sum == group->sum)
            CHECK(compare_labels(before, group, by->n) < 0);
    }
}

static void check_answer(struct query_story *story)
{
    static const enum timeseries_kind kinds[] = { TIMESERIES_SUM,   TIMESERIES_SUM,  TIMESERIES_AVERAGE,
                                                  TIMESERIES_COUNT, TIMESERIES_RATE, TIMESERIES_CORES };
    struct query_story_asked asked = query_story_choose(story);
    struct query query;
    AUTO(timeseries_freep) struct timeseries *series = NULL;
    struct by by = { .n = query_story_below(story, MAX_BY + 1) };
    struct slice names[MAX_BY];
    struct timeseries_options options = { .kind = kinds[query_story_below(story, story->is_level ? 4 : 6)],
                                          .by = names,
                                          .n_by = by.n };
    struct key keys[MAX_KEYS];
    struct query_facts facts;
    struct error err;
    uint32_t n_keys, n_rows = 0;

    query_story_choose_filter(story, &asked);
    query = query_story_query(story, &asked);
    for (uint32_t i = 0; i < by.n; i++) {
        by.names[i] = query_story_below(story, QUERY_STORY_NAMES);
        names[i] = by.names[i] ? slice_from(query_story_names[by.names[i]]) : SLICE("service.name");
    }
    query.sums_levels = query_story_below(story, 3) == 0;
    options.step_ns = (asked.until_ns - asked.from_ns) / (1 + query_story_below(story, 9)) + 1;
    options.top = query_story_below(story, 3) ? 0 : 1 + query_story_below(story, 4);
    CHECK_OK(timeseries_new(story->engine, &query, &options, &series, &facts, &err), &err);
    n_keys = plain_keys(story, &asked, &by, keys);
    CHECK_EQ(series->n_groups, options.top ? MIN(options.top, n_keys) : n_keys);
    CHECK_EQ(series->n_groups + series->n_left_out, n_keys);
    for (uint32_t i = 0; i < series->n_groups; i++)
        check_group(story, &asked, &by, &query, &options, series, i);
    n_rows = plain_point(story, &asked, &(struct by){ 0 }, "", asked.from_ns, asked.until_ns).n_rows;
    CHECK_EQ(facts.n_rows, n_rows);
    query_story_done(&asked);
}

CONFORMANCE(timeseries_are_those_of_a_plain_list)
{
    query_story_run(sample, 4, 50, check_answer);
}

/* --- what is read --- */

struct asked_series {
    struct engine *engine;
    struct query query;
    struct timeseries_options options;
    struct slice by[3];
    struct timeseries *series;
    struct query_facts facts;
};

static int ask_again(void *context, struct error *err)
{
    struct asked_series *asked = context;

    timeseries_free(TAKE(asked->series));
    return timeseries_new(asked->engine, &asked->query, &asked->options, &asked->series, &asked->facts, err);
}

/* An hour by minutes. */
static void begin(struct store_sample *sample, struct asked_series *asked, size_t query_bytes)
{
    struct engine_options options = { .store = sample->store, .query_bytes = query_bytes };
    struct error err;

    *asked = (struct asked_series){ .query = { .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                                               .from_ns = store_sample_time("15T10:00"),
                                               .until_ns = store_sample_time("15T11:00") },
                                    .options = { .step_ns = 60 * CLOCK_NS_PER_SECOND } };
    asked->options.by = asked->by;
    CHECK_OK(engine_new(&options, &asked->engine, &err), &err);
}

static void by(struct asked_series *asked, const char *name)
{
    asked->by[asked->options.n_by++] = slice_from(name);
}

static void end(struct asked_series *asked)
{
    timeseries_free(TAKE(asked->series));
    engine_free(TAKE(asked->engine));
}

static void ask(struct asked_series *asked)
{
    struct error err;

    CHECK_OK(ask_again(asked, &err), &err);
}

static void write_hour(struct store_sample *sample)
{
    STORE_SAMPLE_WRITE(
        sample, { .at = "15T10:00", .service = "api", .labels = "zone=eu;pid=#7", .samples = "main 1 10" },
        { .at = "15T10:01", .service = "api", .labels = "zone=eu;pid=#8", .samples = "main 2 20" },
        { .at = "15T10:01", .service = "web", .samples = "main 3 30 {thread=a} | main 4 40 {thread=b}" });
    store_sample_pass(sample, 0);
}

CONFORMANCE(timeseries_read_rows_only_where_rows_may_have_the_label)
{
    struct asked_series asked;

    write_hour(sample);
    begin(sample, &asked, 0);
    by(&asked, "service.name");
    ask(&asked);
    CHECK_EQ(asked.facts.reads.n_rows, 0);
    CHECK_EQ(asked.series->n_groups, 2);
    CHECK_TEXT(asked.series->groups[0].values[0], "web");
    CHECK_NEAR(asked.series->groups[0].points[1], 70, 0);
    CHECK_TEXT(asked.series->unit, "nanoseconds");
    by(&asked, "zone"); /* not of web, but no row has it */
    ask(&asked);
    CHECK_EQ(asked.facts.reads.n_rows, 0);
    CHECK_EQ(asked.series->n_groups, 2);
    CHECK_TEXT(asked.series->groups[0].values[1], "");
    CHECK_TEXT(asked.series->groups[1].values[1], "eu");
    by(&asked, "thread");
    ask(&asked);
    CHECK_EQ(asked.facts.reads.n_rows, 3);
    CHECK_EQ(asked.series->n_groups, 3);
    CHECK_TEXT(asked.series->groups[0].values[2], "b");
    CHECK_NEAR(asked.series->groups[0].points[1], 40, 0);
    CHECK_EQ(asked.facts.n_rows, 3);
    end(&asked);
}

CONFORMANCE(timeseries_group_by_numbers_of_rows_and_by_the_name_of_series)
{
    struct asked_series asked;

    write_hour(sample);
    begin(sample, &asked, 0);
    asked.options.kind = TIMESERIES_COUNT;
    by(&asked, "pid");
    by(&asked, "__name__");
    ask(&asked);
    CHECK_EQ(asked.series->n_groups, 3);
    CHECK_TEXT(asked.series->unit, "profiles");
    CHECK_TEXT(asked.series->groups[0].values[0], "");
    CHECK_TEXT(asked.series->groups[1].values[0], "7");
    CHECK_TEXT(asked.series->groups[2].values[0], "8");
    CHECK_TEXT(asked.series->groups[2].values[1], "process_cpu");
    end(&asked);
}

CONFORMANCE(timeseries_have_units_and_refuse_what_means_nothing)
{
    struct asked_series asked;
    struct error err;

    write_hour(sample);
    begin(sample, &asked, 0);
    asked.options.kind = TIMESERIES_CORES;
    asked.options.step_ns *= 7; /* the last point has four minutes */
    ask(&asked);
    CHECK_TEXT(asked.series->unit, "cores");
    CHECK_EQ(asked.series->n_points, 9);
    CHECK_NEAR(asked.series->groups[0].points[0], 100 / 420e9, 1e-15);
    asked.options.kind = TIMESERIES_RATE;
    ask(&asked);
    CHECK_TEXT(asked.series->unit, "nanoseconds/second");
    asked.query.type = SLICE("memory:inuse_space:bytes:inuse_space:bytes");
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "is a level, which has no rate: ask for its sum");
    asked.query.sums_levels = true;
    CHECK_OK(ask_again(&asked, &err), &err);
    asked.options.kind = TIMESERIES_CORES;
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "is not in nanoseconds of CPU");
    asked.query.type = SLICE("off_cpu:off_cpu:nanoseconds::");
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_INVALID);
    end(&asked);
}

CONFORMANCE(timeseries_of_no_time_have_no_points)
{
    struct asked_series asked;
    struct error err;

    begin(sample, &asked, 0);
    ask(&asked);
    CHECK_EQ(asked.series->n_points, 60);
    CHECK_EQ(asked.series->n_groups, 0);
    asked.query.until_ns = asked.query.from_ns;
    ask(&asked);
    CHECK_EQ(asked.series->n_points, 0);
    asked.options.n_by = 33;
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "33 labels to group by: at most 32 are allowed");
    end(&asked);
}

CONFORMANCE(timeseries_end_when_nobody_waits)
{
    atomic_bool is_cancelled = true;
    struct asked_series asked;
    struct error err;

    write_hour(sample);
    begin(sample, &asked, 0);
    asked.query.is_cancelled = &is_cancelled;
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_CANCELLED);
    asked.query.is_cancelled = NULL;
    asked.query.deadline_mono_ns = 1;
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_TIMEOUT);
    end(&asked);
}

CONFORMANCE(timeseries_hold_to_the_memory_of_a_query)
{
    struct asked_series asked;
    char labels[32];
    struct error err;

    for (unsigned i = 0; i < 100; i++) {
        snprintf(labels, sizeof(labels), "instance=%u;pid=#%u", i, i);
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:30", .service = "api", .labels = labels, .samples = "main 1 10" });
    }
    begin(sample, &asked, 80 << 10);
    ask(&asked);
    CHECK_EQ(asked.series->n_groups, 1);
    by(&asked, "instance");
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text,
              "than the 0 MiB that a query may have: ask for longer steps, fewer labels or less time, or raise "
              "--query-memory");
    asked.by[0] = SLICE("pid");
    CHECK_ERROR(ask_again(&asked, &err), &err, ERR_LIMIT);
    end(&asked);
}

CONFORMANCE(timeseries_survive_failing_allocations)
{
    struct asked_series asked;

    write_hour(sample);
    begin(sample, &asked, 0);
    test_each_allocation_failing(ask_again, &asked);
    by(&asked, "thread");
    by(&asked, "zone");
    test_each_allocation_failing(ask_again, &asked);
    end(&asked);
}
