// SPDX-License-Identifier: Apache-2.0
#include "metric/metricstore.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/test.h"
#include "base/vec.h"
#include "hourly/hourly.h"
#include "metric/metricgrid.h"
#include "metric/metricrow.h"
#include "metric/metricseries.h"

#include <math.h>
#include <stdio.h>

#define S      CLOCK_NS_PER_SECOND
#define DAY_NS ((int64_t)20600 * HOURLY_DAY_NS)
#define NOW_NS (DAY_NS + 10 * HOURLY_HOUR_NS)
#define TENANT SLICE("anonymous")

static struct arena arena = { .max_bytes = 64 << 20 };

static struct metricstore *open_store(const struct metricstore_options *given)
{
    struct metricstore_options options = *given;
    struct metricstore *store;
    struct error err;

    if (!options.data_dir)
        options.data_dir = test_directory();
    clock_fake_set(NOW_NS);
    arena_reset(&arena);
    CHECK_OK(metricstore_open(&options, &store, &err), &err);
    return store;
}

static struct metricstore *reopened(struct metricstore *store, const char *directory)
{
    metricstore_close(store);
    return open_store(&(struct metricstore_options){ .data_dir = directory });
}

static struct metricstore_receipt write_points(struct metricstore *store, struct slice tenant,
                                               const struct metric_point *points, size_t n)
{
    struct metricstore_receipt receipt;
    struct error err;

    CHECK_OK(metricstore_write(store, tenant, &(struct metric_list){ points, n }, &receipt, &err), &err);
    return receipt;
}

static struct metricstore_answer ask(struct metricstore *store, struct slice tenant,
                                     const struct metricstore_query *query)
{
    struct metricstore_answer answer;
    struct error err;

    CHECK_OK(metricstore_ask(store, tenant, query, NULL, &arena, &answer, &err), &err);
    return answer;
}

/* "name statistic {labels}: values", a line each. */
static const char *text_of(const struct metricstore_answer *answer)
{
    static char text[8192];
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < answer->n; i++) {
        const struct metricstore_line *line = &answer->lines[i];

        len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s %s {", SLICE_ARG(line->name),
                                metricstore_statistic_name(line->statistic));
        for (uint32_t k = 0; k < line->n_labels; k++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s=%.*s", k ? "," : "",
                                    SLICE_ARG(line->labels[k].key), SLICE_ARG(line->labels[k].value));
        len += (size_t)snprintf(text + len, sizeof(text) - len, "}:");
        for (uint32_t k = 0; k < answer->n_points; k++)
            len +=
                (size_t)(isnan(line->points[k]) ? snprintf(text + len, sizeof(text) - len, " -")
                                                : snprintf(text + len, sizeof(text) - len, " %.4g", line->points[k]));
        len += (size_t)snprintf(text + len, sizeof(text) - len, "\n");
    }
    return text;
}

/* A series of a service and instance, with one more label; the texts are static. */
static struct metric_series series_of(const char *name, enum point_kind kind, const char *service, const char *instance,
                                      const char *state)
{
    struct metric_label *labels;
    struct error err;

    labels = ARENA_ARRAY(&arena, struct metric_label, 3, &err);
    CHECK(labels != NULL);
    labels[0] = (struct metric_label){ SLICE("instance"), slice_from(instance) };
    labels[1] = (struct metric_label){ METRICSERIES_SERVICE, slice_from(service) };
    labels[2] = (struct metric_label){ SLICE("state"), slice_from(state) };
    return (struct metric_series){ .name = slice_from(name),
                                   .unit = SLICE("By"),
                                   .kind = (uint8_t)kind,
                                   .temporality = kind == POINT_GAUGE ? METRIC_NO_TEMPORALITY : METRIC_CUMULATIVE,
                                   .is_monotonic = kind == POINT_SUM,
                                   .labels = labels,
                                   .n_labels = state ? 3 : 2 };
}

static const struct metricstore_query last_minute = {
    .service = SLICE("shop"), .from_ns = NOW_NS - 60 * S, .until_ns = NOW_NS, .step_ns = 20 * S
};

TEST(metricstore_gives_back_what_was_written)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct metric_series a = series_of("process.memory", POINT_GAUGE, "shop", "i-1", NULL),
                         b = series_of("process.memory", POINT_GAUGE, "shop", "i-2", NULL),
                         other = series_of("process.memory", POINT_GAUGE, "cart", "i-1", NULL),
                         cpu = series_of("process.cpu", POINT_SUM, "shop", "i-1", "user");
    const struct metric_point points[] = {
        { &a, 0, NOW_NS - 55 * S, 10, NULL },    { &a, 0, NOW_NS - 35 * S, 20, NULL },
        { &a, 0, NOW_NS - 15 * S, 30, NULL },    { &b, 0, NOW_NS - 54 * S, 1, NULL },
        { &b, 0, NOW_NS - 34 * S, 2, NULL },     { &b, 0, NOW_NS - 14 * S, 3, NULL },
        { &other, 0, NOW_NS - 55 * S, 7, NULL }, { &cpu, 1, NOW_NS - 60 * S, 100, NULL },
        { &cpu, 1, NOW_NS - 40 * S, 140, NULL }, { &cpu, 1, NOW_NS - 20 * S, 150, NULL },
    };
    static const char wanted[] = "process.cpu rate {instance=i-1,service_name=shop,state=user}: 2 0.5 -\n"
                                 "process.memory value {service_name=shop}: 11 22 33\n";
    const char *directory = test_directory();
    struct metricstore_receipt receipt = write_points(store, TENANT, points, ARRAY_LEN(points));
    struct metricstore_answer answer = ask(store, TENANT, &last_minute);
    struct metricstore_query query = last_minute;
    struct error err;

    CHECK_EQ(receipt.n_kept, ARRAY_LEN(points));
    CHECK_EQ(receipt.n_refused, 0);
    CHECK_TEXT(text_of(&answer), wanted);
    CHECK_TEXT(answer.lines[1].unit, "By");
    CHECK_OK(metricstore_close_hours(store, &err), &err);
    answer = ask(store, TENANT, &last_minute);
    CHECK_TEXT(text_of(&answer), wanted);
    store = reopened(store, directory);
    answer = ask(store, TENANT, &last_minute);
    CHECK_TEXT(text_of(&answer), wanted);
    query.service = SLICE("");
    query.names = &SLICE("process.memory");
    query.n_names = 1;
    answer = ask(store, TENANT, &query);
    CHECK_TEXT(text_of(&answer), "process.memory value {instance=i-1,service_name=cart}: 7 7 7\n"
                                 "process.memory value {service_name=shop}: 11 22 33\n");
    answer = ask(store, SLICE("another"), &query);
    CHECK_EQ(answer.n, 0);
    metricstore_close(store);
}

TEST(metricstore_groups_by_labels)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct metric_series user_1 = series_of("process.cpu", POINT_SUM, "shop", "i-1", "user"),
                         user_2 = series_of("process.cpu", POINT_SUM, "shop", "i-2", "user"),
                         system = series_of("process.cpu", POINT_SUM, "shop", "i-1", "system"),
                         plain = series_of("process.cpu", POINT_SUM, "shop", "i-1", NULL);
    const struct metric_series *all[] = { &user_1, &user_2, &system, &plain };
    struct metricstore_query query = last_minute;
    struct metricstore_answer answer;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        const struct metric_point points[] = { { all[i], 1, NOW_NS - 60 * S, 0, NULL },
                                               { all[i], 1, NOW_NS, 60 * (double)(i + 1), NULL } };

        write_points(store, TENANT, points, 2);
    }
    query.step_ns = 60 * S;
    query.until_ns = NOW_NS + 1;
    answer = ask(store, TENANT, &query);
    CHECK_TEXT(text_of(&answer), "process.cpu rate {service_name=shop}: 10 -\n");
    query.by = &SLICE("state");
    query.n_by = 1;
    answer = ask(store, TENANT, &query);
    CHECK_TEXT(text_of(&answer), "process.cpu rate {instance=i-1,service_name=shop}: 4 -\n"
                                 "process.cpu rate {instance=i-1,service_name=shop,state=system}: 3 -\n"
                                 "process.cpu rate {service_name=shop,state=user}: 3 -\n");
    metricstore_close(store);
}

TEST(metricstore_answers_histograms_with_their_statistics)
{
    static const double bounds[] = { 1, 2 };
    static const uint64_t none[] = { 0, 0, 0 }, some[] = { 0, 40, 0 };
    const struct metric_histogram before = { .sum = 0, .bounds = bounds, .counts = none, .n_bounds = 2 },
                                  after = { .sum = 70, .bounds = bounds, .counts = some, .n_bounds = 2 };
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct metric_series pause = series_of("runtime.gc.pause", POINT_HISTOGRAM, "shop", "i-1", NULL);
    const struct metric_point points[] = { { &pause, 1, NOW_NS - 60 * S, 0, &before },
                                           { &pause, 1, NOW_NS - 40 * S, 0, &after } };
    struct metricstore_query query = last_minute;
    struct metricstore_answer answer;
    struct error err;

    write_points(store, TENANT, points, 2);
    for (int times = 0; times < 2; times++) {
        query.step_ns = 60 * S;
        answer = ask(store, TENANT, &query);
        CHECK_TEXT(text_of(&answer), "runtime.gc.pause rate {instance=i-1,service_name=shop}: 2\n"
                                     "runtime.gc.pause mean {instance=i-1,service_name=shop}: 1.75\n"
                                     "runtime.gc.pause p50 {instance=i-1,service_name=shop}: 1.5\n"
                                     "runtime.gc.pause p99 {instance=i-1,service_name=shop}: 1.99\n");
        CHECK_OK(metricstore_close_hours(store, &err), &err);
    }
    metricstore_close(store);
}

TEST(metricstore_keeps_points_that_come_again_once)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct metric_series memory = series_of("process.memory", POINT_GAUGE, "shop", "i-1", NULL);
    const struct metric_point points[] = { { &memory, 0, NOW_NS - 30 * S, 10, NULL },
                                           { &memory, 0, NOW_NS - 28 * S, 20, NULL },
                                           { &memory, 0, NOW_NS - 26 * S, 60, NULL } };
    struct metricstore_query query = last_minute;
    struct metricstore_answer answer;
    struct error err;

    query.step_ns = 60 * S;
    write_points(store, TENANT, points, 3);
    write_points(store, TENANT, points, 1);
    CHECK_OK(metricstore_close_hours(store, &err), &err);
    write_points(store, TENANT, points, 2);
    CHECK_OK(metricstore_close_hours(store, &err), &err);
    write_points(store, TENANT, points + 1, 2);
    answer = ask(store, TENANT, &query);
    CHECK_TEXT(text_of(&answer), "process.memory value {instance=i-1,service_name=shop}: 30\n");
    metricstore_close(store);
}

TEST(metricstore_refuses_times_that_cannot_be)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct metric_series memory = series_of("process.memory", POINT_GAUGE, "shop", "i-1", NULL);
    const struct metric_point points[] = { { &memory, 0, NOW_NS - 8 * HOURLY_DAY_NS, 10, NULL },
                                           { &memory, 0, NOW_NS + 600 * S, 20, NULL },
                                           { &memory, 0, NOW_NS + 601 * S, 60, NULL },
                                           { &memory, 0, INT64_MAX, 60, NULL },
                                           { &memory, 0, 5, 60, NULL } };
    struct metricstore_receipt receipt = write_points(store, TENANT, points, ARRAY_LEN(points));

    CHECK_EQ(receipt.n_kept, 1);
    CHECK_EQ(receipt.n_refused, 4);
    CHECK_EQ(receipt.refusal.code, ERR_INVALID);
    CHECK_HAS(receipt.refusal.text, "a point of 'process.memory' is of 2026-05-19T10:00:00.000Z, which is before all "
                                    "that is kept");
    receipt = write_points(store, TENANT, points + 2, 1);
    CHECK_HAS(receipt.refusal.text, "too far in the future");
    metricstore_close(store);
}

TEST(metricstore_has_room_for_so_many_series_a_day)
{
    const char *directory = test_directory();
    struct metricstore_options options = { .data_dir = directory, .max_series = 3 };
    struct metricstore *store = open_store(&options);
    static char names[5][32];
    struct metric_series series[5];
    struct metric_point points[5];
    struct metricstore_receipt receipt;

    for (int i = 0; i < 5; i++) {
        snprintf(names[i], sizeof(names[i]), "process.m%d", i);
        series[i] = series_of(names[i], POINT_GAUGE, "shop", "i-1", NULL);
        points[i] = (struct metric_point){ &series[i], 0, NOW_NS, 1, NULL };
    }
    receipt = write_points(store, TENANT, points, 5);
    CHECK_EQ(receipt.n_kept, 3);
    CHECK_EQ(receipt.n_refused, 2);
    CHECK_EQ(receipt.refusal.code, ERR_LIMIT);
    CHECK_HAS(receipt.refusal.text, "there are 3 series of metrics today, which is all that is allowed; no room for "
                                    "'process.m3'");
    receipt = write_points(store, SLICE("another"), points, 3);
    CHECK_EQ(receipt.n_kept, 3);
    metricstore_close(store);
    store = open_store(&options);
    for (int i = 0; i < 5; i++) {
        series[i] = series_of(names[i], POINT_GAUGE, "shop", "i-1", NULL);
        points[i].time_ns = NOW_NS - S;
    }
    receipt = write_points(store, TENANT, points, 5);
    CHECK_EQ(receipt.n_kept, 3);
    points[4].time_ns = NOW_NS - 11 * HOURLY_HOUR_NS; /* another day */
    receipt = write_points(store, TENANT, points + 4, 1);
    CHECK_EQ(receipt.n_kept, 1);
    metricstore_close(store);
}

TEST(metricstore_lists_names)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct metric_series a = series_of("process.memory", POINT_GAUGE, "shop", "i-1", NULL),
                         b = series_of("process.memory", POINT_GAUGE, "shop", "i-2", NULL),
                         cpu = series_of("process.cpu", POINT_SUM, "shop", "i-1", "user"),
                         other = series_of("go.x", POINT_GAUGE, "cart", "i-1", NULL);
    const struct metric_point points[] = { { &a, 0, NOW_NS, 1, NULL },
                                           { &b, 0, NOW_NS, 1, NULL },
                                           { &a, 0, NOW_NS - HOURLY_DAY_NS, 1, NULL },
                                           { &cpu, 1, NOW_NS, 1, NULL },
                                           { &other, 0, NOW_NS, 1, NULL } };
    struct metricstore_names names;
    struct error err;

    write_points(store, TENANT, points, ARRAY_LEN(points));
    CHECK_OK(metricstore_list_names(store, TENANT, SLICE("shop"), NOW_NS - HOURLY_DAY_NS, NOW_NS, NULL, &arena, &names,
                                    &err),
             &err);
    CHECK_EQ(names.n, 2);
    CHECK_TEXT(names.items[0].name, "process.cpu");
    CHECK(names.items[0].is_monotonic);
    CHECK_EQ(names.items[0].kind, POINT_SUM);
    CHECK_TEXT(names.items[1].name, "process.memory");
    CHECK_TEXT(names.items[1].unit, "By");
    CHECK_EQ(names.items[1].n_series, 2);
    CHECK_OK(metricstore_list_names(store, TENANT, SLICE(""), 0, INT64_MAX, NULL, &arena, &names, &err), &err);
    CHECK_EQ(names.n, 3);
    CHECK_OK(metricstore_list_names(store, SLICE("x"), SLICE(""), 0, INT64_MAX, NULL, &arena, &names, &err), &err);
    CHECK_EQ(names.n, 0);
    metricstore_close(store);
}

/* A day that was dropped begins anew when late points come: with all that finds them. */
TEST(metricstore_finds_late_points_of_a_day_that_was_dropped)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ .retention_bytes = 1 });
    struct metric_series series = series_of("go.x", POINT_GAUGE, "shop", "a", 0);
    struct metric_point points[] = { { .series = &series, .time_ns = NOW_NS - HOURLY_DAY_NS, .value = 1 },
                                     { .series = &series, .time_ns = NOW_NS, .value = 2 } };
    struct metricstore_names names;
    struct error err;

    CHECK_EQ(write_points(store, TENANT, points, 2).n_kept, 2);
    CHECK_OK(metricstore_maintain(store, NOW_NS, &err), &err);
    CHECK_OK(metricstore_list_names(store, TENANT, SLICE(""), 0, DAY_NS, NULL, &arena, &names, &err), &err);
    CHECK_EQ(names.n, 0);
    CHECK_EQ(write_points(store, TENANT, points, 2).n_kept, 2);
    CHECK_OK(metricstore_list_names(store, TENANT, SLICE(""), 0, DAY_NS, NULL, &arena, &names, &err), &err);
    CHECK_EQ(names.n, 1);
    metricstore_close(store);
}

static int give_up(void *context UNUSED, struct error *err)
{
    return error_set(err, ERR_CANCELLED, "nobody waits");
}

TEST(metricstore_refuses_questions_that_cannot_be_answered)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct metric_series memory = series_of("process.memory", POINT_GAUGE, "shop", "i-1", NULL);
    const struct metric_point point = { &memory, 0, NOW_NS - S, 1, NULL };
    struct metricstore_query query = last_minute;
    struct metricstore_asker asker = { .check = give_up };
    struct metricstore_answer answer;
    struct error err;

    write_points(store, TENANT, &point, 1);
    query.until_ns = INT64_MAX;
    query.step_ns = INT64_MAX - NOW_NS;
    CHECK_ERROR(metricstore_ask(store, TENANT, &query, NULL, &arena, &answer, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "ends after the end of time");
    query = last_minute;
    query.step_ns = 1000000;
    CHECK_ERROR(metricstore_ask(store, TENANT, &query, NULL, &arena, &answer, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "60000 points are asked for; at most 11000 are allowed: take steps of 1s or more");
    query.step_ns = 0;
    CHECK_ERROR(metricstore_ask(store, TENANT, &query, NULL, &arena, &answer, &err), &err, ERR_INVALID);
    CHECK_ERROR(metricstore_ask(store, SLICE(""), &last_minute, NULL, &arena, &answer, &err), &err, ERR_INVALID);
    CHECK_ERROR(metricstore_ask(store, TENANT, &last_minute, &asker, &arena, &answer, &err), &err, ERR_CANCELLED);
    asker = (struct metricstore_asker){ .max_bytes = 64 };
    CHECK_ERROR(metricstore_ask(store, TENANT, &last_minute, &asker, &arena, &answer, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "ask for fewer names, or longer steps");
    metricstore_close(store);
}

TEST(metricstore_of_a_reader_may_be_empty)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ .is_read_only = true });
    struct metricstore_answer answer = ask(store, TENANT, &last_minute);
    struct metricstore_stats stats;
    struct error err;

    CHECK_EQ(answer.n, 0);
    CHECK_OK(metricstore_stats(store, &stats, &err), &err);
    CHECK_EQ(stats.n_days, 0);
    metricstore_close(store);
}

/* --- against points in memory --- */

#define N_SERIES 12
#define N_POINTS 400

struct story {
    struct metric_series series[N_SERIES];
    struct metric_point points[N_SERIES][N_POINTS];
    size_t n[N_SERIES];
};

/* What the store should answer: the tracks are given the points from memory. */
static void check_answer(const struct story *story, struct metricstore *store, const struct metricstore_query *query)
{
    struct metricstore_answer answer = ask(store, TENANT, query);
    static const char *const names[] = { "process.cpu", "process.memory" };

    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        struct arena own = { 0 }, scratch = { 0 };
        struct metricgrid grid = {
            .from_ns = query->from_ns, .step_ns = query->step_ns, .n = answer.n_points, .arena = &own
        };
        struct metricgrid_cell cell;
        const struct metricstore_line *line = NULL;
        struct error err;

        arena_init(&own, 0);
        arena_init(&scratch, 0);
        CHECK_OK(metricgrid_cell_init(&cell, &grid, METRICGRID_LEVEL, &err), &err);
        for (size_t s = 0; s < N_SERIES; s++) {
            struct metricgrid_track track = metricgrid_track_of(&story->series[s], &cell);

            if (!slice_is(story->series[s].name, names[k]))
                continue;
            for (size_t i = 0; i < story->n[s]; i++)
                if (story->points[s][i].time_ns >= query->from_ns - METRICGRID_BEFORE_NS &&
                    story->points[s][i].time_ns < query->until_ns)
                    CHECK_OK(metricgrid_add(&grid, &track, &story->points[s][i], &scratch, &err), &err);
            metricgrid_finish(&grid, &track);
        }
        for (size_t i = 0; i < answer.n; i++)
            if (slice_is(answer.lines[i].name, names[k]))
                line = &answer.lines[i];
        for (uint32_t i = 0; i < answer.n_points; i++) {
            CHECK_EQ(line && !isnan(line->points[i]), !isnan(cell.values[i]));
            if (!isnan(cell.values[i]))
                CHECK_NEAR(line->points[i], cell.values[i], 1e-6 * (1 + fabs(cell.values[i])));
        }
        arena_done(&own);
        arena_done(&scratch);
    }
}

static void tell_story(struct story *story, uint64_t seed)
{
    static char instances[N_SERIES][8];

    for (size_t s = 0; s < N_SERIES; s++) {
        int64_t time_ns = NOW_NS - 9 * HOURLY_HOUR_NS - (int64_t)(hash_mix64(seed + s) % 7200) * S;
        double sum = 0;

        snprintf(instances[s], sizeof(instances[s]), "i-%zu", s);
        story->series[s] = series_of(s % 2 ? "process.cpu" : "process.memory", s % 2 ? POINT_SUM : POINT_GAUGE, "shop",
                                     instances[s], s % 3 ? "user" : NULL);
        story->n[s] = 0;
        while (story->n[s] < N_POINTS && time_ns < NOW_NS) {
            seed = hash_mix64(seed + 1);
            sum = seed % 50 == 0 ? 0 : sum + (double)(seed % 1000) / 10;
            story->points[s][story->n[s]++] =
                (struct metric_point){ &story->series[s], 0, time_ns, s % 2 ? sum : (double)(seed % 5000), NULL };
            time_ns += (seed % 30 == 0 ? (int64_t)(seed >> 40 & 2047) : 30 + (int64_t)(s * 7)) * S +
                       (int64_t)(seed >> 50 & 1023) * 1000000;
        }
    }
}

TEST(metricstore_equals_points_in_memory)
{
    static struct story story;
    const char *directory = test_directory();
    struct metricstore *store = open_store(&(struct metricstore_options){ .data_dir = directory });
    struct error err;
    uint64_t seed = 17;

    tell_story(&story, seed);
    for (size_t i = 0; i < N_POINTS; i++) {
        for (size_t s = 0; s < N_SERIES; s++)
            if (i < story.n[s])
                write_points(store, TENANT, &story.points[s][i], 1);
        if ((seed = hash_mix64(seed)) % 100 == 0)
            CHECK_OK(metricstore_close_hours(store, &err), &err);
        if (seed % 170 == 0) {
            size_t keep = arena.used_bytes; /* the story lives in the arena */

            metricstore_close(store);
            CHECK_OK(metricstore_open(&(struct metricstore_options){ .data_dir = directory }, &store, &err), &err);
            CHECK_EQ(arena.used_bytes, keep);
        }
    }
    for (unsigned times = test_times(25); times-- > 0;) {
        struct metricstore_query query = { .service = SLICE("shop"), .from_ns = NOW_NS - 11 * HOURLY_HOUR_NS };

        seed = hash_mix64(seed + 1);
        query.from_ns += (int64_t)(seed % 36000) * S;
        query.until_ns = query.from_ns + (int64_t)(60 + (seed >> 20) % 20000) * S;
        query.step_ns = (int64_t)(10 + (seed >> 40) % 600) * S;
        check_answer(&story, store, &query);
    }
    metricstore_close(store);
}

/* --- failures --- */

/* Rows that nobody wrote this way: of a value that is none, and of keys that are none. */
static void put_damage(struct metricstore *store)
{
    const struct metric_point point = { .time_ns = NOW_NS - S, .value = 5 };
    struct metricrow_key key = metricrow_rows_of(TENANT), no_end = { "anonymous", 9 };
    AUTO(buffer_done) struct buffer row;
    struct hourly_batch *batch;
    struct error err;

    metricrow_key_add(&key, 7);
    metricrow_key_add(&key, (uint64_t)((NOW_NS - S) / METRICROW_NS_PER_MS));
    metricrow_key_add(&no_end, 7);
    metricrow_key_add(&no_end, (uint64_t)((NOW_NS - S) / METRICROW_NS_PER_MS));
    buffer_init(&row, 0);
    metricrow_encode(&point, &row);
    CHECK_OK(hourly_batch_new(metricstore_hourly(store), &batch, &err), &err);
    CHECK_OK(hourly_batch_put_row(batch, NOW_NS - S, metricrow_key_slice(&key), SLICE("\2none"), &err), &err);
    CHECK_OK(hourly_batch_put_row(batch, NOW_NS - S, metricrow_key_slice(&no_end), buffer_slice(&row), &err), &err);
    CHECK_OK(hourly_batch_put_row(batch, NOW_NS - S, SLICE("short"), buffer_slice(&row), &err), &err);
    CHECK_OK(hourly_write(batch, &err), &err);
    hourly_batch_free(batch);
}

TEST(metricstore_closes_an_hour_without_the_rows_that_cannot_be_read)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct metric_label service = { METRICSERIES_SERVICE, SLICE("shop") };
    struct metric_series memory = { .name = SLICE("process.memory"), .labels = &service, .n_labels = 1 };
    struct metric_point points[40];
    struct metricstore_answer answer;
    struct metricstore_stats stats;
    char wanted[256];
    struct error err;

    for (uint32_t i = 0; i < ARRAY_LEN(points); i++)
        points[i] = (struct metric_point){ &memory, 0, NOW_NS - (40 - i) * S, i, NULL };
    write_points(store, TENANT, points, ARRAY_LEN(points));
    answer = ask(store, TENANT, &last_minute);
    snprintf(wanted, sizeof(wanted), "%s", text_of(&answer));
    CHECK_HAS(wanted, "process.memory");
    put_damage(store);
    CHECK_OK(metricstore_close_hours(store, &err), &err);
    CHECK_OK(metricstore_stats(store, &stats, &err), &err);
    CHECK_EQ(stats.n_damaged, 3);
    CHECK_EQ(stats.head_bytes, 0);
    answer = ask(store, TENANT, &last_minute);
    CHECK_TEXT(text_of(&answer), wanted);
    /* The head is closed for good. */
    CHECK_OK(metricstore_close_hours(store, &err), &err);
    CHECK_OK(metricstore_stats(store, &stats, &err), &err);
    CHECK_EQ(stats.n_damaged, 3);
    metricstore_close(store);
}

static int write_and_ask(void *context, struct error *err)
{
    struct metricstore *store = context;
    struct metric_label service = { METRICSERIES_SERVICE, SLICE("shop") };
    struct metric_series memory = { .name = SLICE("process.memory"), .labels = &service, .n_labels = 1 };
    const struct metric_point point = { &memory, 0, NOW_NS - S, 1, NULL };
    struct metricstore_receipt receipt;
    struct metricstore_answer answer;
    struct arena own;
    int result = metricstore_write(store, TENANT, &(struct metric_list){ &point, 1 }, &receipt, err);

    arena_init(&own, 0);
    if (result == 0)
        result = metricstore_ask(store, TENANT, &last_minute, NULL, &own, &answer, err);
    if (result == 0)
        CHECK_EQ(answer.n, 1);
    arena_done(&own);
    return result;
}

TEST(metricstore_survives_each_allocation_failing)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });
    struct error err;

    test_each_allocation_failing(write_and_ask, store);
    CHECK_OK(metricstore_close_hours(store, &err), &err);
    test_each_allocation_failing(write_and_ask, store); /* one point in a head and in a chunk */
    metricstore_close(store);
}

static int write_and_close(void *context, struct error *err)
{
    struct metricstore *store = context;
    struct metric_series memory = { .name = SLICE("process.memory") };
    const struct metric_point point = { &memory, 0, NOW_NS - S, 1, NULL };
    struct metricstore_receipt receipt;

    if (metricstore_write(store, TENANT, &(struct metric_list){ &point, 1 }, &receipt, err) < 0)
        return -1;
    return metricstore_close_hours(store, err);
}

TEST(metricstore_closing_survives_each_allocation_failing)
{
    struct metricstore *store = open_store(&(struct metricstore_options){ 0 });

    test_each_allocation_failing(write_and_close, store);
    metricstore_close(store);
}
