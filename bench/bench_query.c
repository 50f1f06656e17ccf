// SPDX-License-Identifier: Apache-2.0
/* Questions to a store: how long they take, in wall time and CPU, and how much memory.
 *
 *     query [-n TIMES] [-memory MIB] [-hours H] [-only NAME] [-at SECONDS] DIR
 *
 * Asks about the last H hours that the store has (1), each question TIMES times (20) after one that warms up, and prints
 * the median of each as "name wall_ms best_ms cpu_ms ...", with the best one for machines that have other work, too. The
 * stores are those of bench_store.c; with its -spans there is a span to ask for, and the profile and the trace that it is
 * in.
 *
 * With -at the last hour is still open (bench_store.c, -close no) and goes on: it is SECONDS old, and the questions are
 * about the time until then. What the upkeep does in such an hour is done before, and measured as "upkeep". */
#include "base/clock.h"
#include "base/memory.h"
#include "measure.h"
#include "query/exemplars.h"
#include "query/timeseries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *what)
{
    measure_die("query", what);
}

struct bench {
    struct engine *engine;
    struct store *store;
    int64_t from_ns, until_ns;
    bool has_span;
    struct exemplar span; /* the heaviest of the last minute */
    char note[256];       /* of the question asked last */
};

static const struct slice cpu_type = { "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 43 };

/* --- questions --- */

static struct query cpu_query(const struct bench *bench, const char *text, struct selector **ret_selector)
{
    struct query query = { .type = cpu_type, .from_ns = bench->from_ns, .until_ns = bench->until_ns };
    struct error err;

    if (selector_new(slice_from(text), ret_selector, &err) < 0)
        die(err.text);
    query.selector = *ret_selector;
    return query;
}

static void ask_flame_of(struct bench *bench, const char *text, const char *focus, const struct store_ids *ids)
{
    struct selector *selector;
    struct query query = cpu_query(bench, text, &selector);
    struct query_facts facts = { 0 };
    struct flame *flame;
    struct error err;

    query.filter.focus = slice_from(focus);
    query.ids = ids;
    if (engine_flame(bench->engine, &query, 8192, &flame, &facts, &err) < 0)
        die(err.text);
    snprintf(bench->note, sizeof(bench->note),
             "nodes %u rows %llu hours %llu slots %llu series %llu single_rows %llu spans %llu reading_ms %.2f "
             "finishing_ms %.2f",
             flame->n_nodes, (unsigned long long)facts.n_rows, (unsigned long long)facts.reads.n_hours,
             (unsigned long long)facts.reads.n_slots, (unsigned long long)facts.reads.n_series,
             (unsigned long long)facts.reads.n_rows, (unsigned long long)facts.reads.n_spans,
             (double)facts.read_ns / 1e6, (double)facts.finish_ns / 1e6);
    flame_free(flame);
    selector_free(selector);
}

static void ask_flame(struct bench *bench, const char *text)
{
    ask_flame_of(bench, text, NULL, NULL);
}

static void ask_one_service(struct bench *bench)
{
    ask_flame(bench, "{service_name=\"service-01\"}");
}

static void ask_all_services(struct bench *bench)
{
    ask_flame(bench, "{}");
}

static void ask_two_services(struct bench *bench)
{
    ask_flame(bench, "{service_name=\"service-01\"}");
    ask_flame(bench, "{service_name=\"service-02\"}");
}

static void ask_focus(struct bench *bench)
{
    ask_flame_of(bench, "{service_name=\"service-01\"}", "[02468]$", NULL);
}

static void ask_focus_all(struct bench *bench)
{
    ask_flame_of(bench, "{}", "[02468]$", NULL);
}

static void ask_top_of(struct bench *bench, const char *text)
{
    struct selector *selector;
    struct query query = cpu_query(bench, text, &selector);
    struct query_facts facts = { 0 };
    struct top *top;
    struct error err;

    if (engine_top(bench->engine, &query, TOP_BY_SELF, 100, &top, &facts, &err) < 0)
        die(err.text);
    snprintf(bench->note, sizeof(bench->note), "functions %u reading_ms %.2f finishing_ms %.2f", top->n + top->n_more,
             (double)facts.read_ns / 1e6, (double)facts.finish_ns / 1e6);
    top_free(top);
    selector_free(selector);
}

static void ask_top(struct bench *bench)
{
    ask_top_of(bench, "{service_name=\"service-01\"}");
}

static void ask_top_of_all(struct bench *bench)
{
    ask_top_of(bench, "{}");
}

static void ask_callers(struct bench *bench)
{
    struct selector *selector;
    struct query query = cpu_query(bench, "{service_name=\"service-01\"}", &selector);
    struct query_facts facts = { 0 };
    struct pattern *pattern;
    struct top *top;
    struct error err;

    if (pattern_new(SLICE("7$"), PATTERN_SEARCH, &pattern, &err) < 0 ||
        engine_peek(bench->engine, &query, pattern, &top, &facts, &err) < 0)
        die(err.text);
    snprintf(bench->note, sizeof(bench->note), "functions %u calls %u", top->n, top->graph->n_calls);
    top_free(top);
    pattern_free(pattern);
    selector_free(selector);
}

static void ask_diff_of(struct bench *bench, const char *first, const char *second)
{
    struct selector *selectors[2];
    struct query before = cpu_query(bench, first, &selectors[0]);
    struct query after = cpu_query(bench, second, &selectors[1]);
    struct query_facts facts[2];
    struct diff *diff;
    struct error err;

    if (engine_diff(bench->engine, &before, &after, &(struct diff_options){ .max_nodes = 8192 }, &diff, facts, &err) <
        0)
        die(err.text);
    snprintf(bench->note, sizeof(bench->note), "nodes %u functions %u reading_ms %.2f finishing_ms %.2f",
             diff->flame->n_nodes, diff->n_functions, (double)(facts[0].read_ns + facts[1].read_ns) / 1e6,
             (double)facts[0].finish_ns / 1e6);
    diff_free(diff);
    selector_free(selectors[0]);
    selector_free(selectors[1]);
}

static void ask_diff(struct bench *bench)
{
    ask_diff_of(bench, "{service_name=\"service-01\"}", "{service_name=\"service-02\"}");
}

static void ask_diff_of_instances(struct bench *bench)
{
    ask_diff_of(bench, "{service_name=\"service-01\",instance=\"instance-000\"}",
                "{service_name=\"service-01\",instance=\"instance-001\"}");
}

static void ask_half_the_instances(struct bench *bench)
{
    ask_flame(bench, "{version=\"b\"}");
}

static void ask_one_span(struct bench *bench)
{
    ask_flame_of(bench, "{}", NULL, &(struct store_ids){ .spans = &bench->span.span_id, .n_spans = 1 });
}

static void ask_one_trace(struct bench *bench)
{
    ask_flame_of(bench, "{}", NULL, &(struct store_ids){ .traces = &bench->span.trace_id, .n_traces = 1 });
}

static void ask_one_profile(struct bench *bench)
{
    ask_flame_of(bench, "{}", NULL, &(struct store_ids){ .profiles = &bench->span.profile_id, .n_profiles = 1 });
}

static void ask_exemplars(struct bench *bench, enum exemplars_kind kind, int64_t from_ns)
{
    struct query query = { .type = cpu_type, .from_ns = from_ns, .until_ns = bench->until_ns };
    struct exemplars_options options = { .kind = kind, .step_ns = 60 * CLOCK_NS_PER_SECOND, .n_per_point = 1 };
    struct query_facts facts = { 0 };
    struct exemplars *exemplars;
    struct error err;

    if (exemplars_new(bench->engine, &query, &options, &exemplars, &facts, &err) < 0)
        die(err.text);
    snprintf(bench->note, sizeof(bench->note), "exemplars %u parts %llu single_rows %llu",
             exemplars->n_groups ? exemplars->groups[0].n : 0, (unsigned long long)facts.reads.n_parts,
             (unsigned long long)facts.reads.n_rows);
    if (kind == EXEMPLARS_SPANS && exemplars->n_groups) {
        bench->span = exemplars->groups[0].items[0];
        bench->has_span = true;
    }
    exemplars_free(exemplars);
}

static void ask_profile_exemplars(struct bench *bench)
{
    ask_exemplars(bench, EXEMPLARS_PROFILES, bench->from_ns);
}

static void ask_span_exemplars(struct bench *bench)
{
    ask_exemplars(bench, EXEMPLARS_SPANS, bench->from_ns);
}

static void ask_series_over_time(struct bench *bench)
{
    struct query query = { .type = cpu_type, .from_ns = bench->from_ns, .until_ns = bench->until_ns };
    struct slice by = SLICE("service_name");
    struct timeseries_options options = {
        .kind = TIMESERIES_CORES, .step_ns = 60 * CLOCK_NS_PER_SECOND, .by = &by, .n_by = 1
    };
    struct query_facts facts = { 0 };
    struct timeseries *series;
    struct error err;

    if (timeseries_new(bench->engine, &query, &options, &series, &facts, &err) < 0)
        die(err.text);
    snprintf(bench->note, sizeof(bench->note), "groups %u points %u parts %llu single_rows %llu", series->n_groups,
             series->n_points, (unsigned long long)facts.reads.n_parts, (unsigned long long)facts.reads.n_rows);
    timeseries_free(series);
}

static int count_series(void *context, const struct seriesinfo *series, struct error *err)
{
    ++*(uint32_t *)context;
    return 0;
}

static void ask_labels(struct bench *bench)
{
    struct store_query query = { .from_ns = bench->from_ns, .until_ns = bench->until_ns };
    struct store_texts names, values, types;
    uint32_t n_series = 0;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    if (store_label_names(bench->store, &query, &arena, &names, &err) < 0 ||
        store_label_values(bench->store, &query, SLICE("service_name"), &arena, &values, &err) < 0 ||
        store_profile_types(bench->store, &query, &arena, &types, &err) < 0 ||
        store_each_series(bench->store, &query, count_series, &n_series, &err) < 0)
        die(err.text);
    snprintf(bench->note, sizeof(bench->note), "names %zu values %zu types %zu series %u (four questions)", names.n,
             values.n, types.n, n_series);
    arena_done(&arena);
}

static const struct question {
    const char *name;
    void (*ask)(struct bench *bench);
    bool needs_span;
} questions[] = { { "one_service", ask_one_service },
                  { "two_services", ask_two_services },
                  { "one_service_focus", ask_focus },
                  { "top", ask_top },
                  { "callers", ask_callers },
                  { "diff", ask_diff },
                  { "diff_of_instances", ask_diff_of_instances },
                  { "all_services", ask_all_services },
                  { "all_services_focus", ask_focus_all },
                  { "all_services_top", ask_top_of_all },
                  { "half_the_instances", ask_half_the_instances },
                  { "series_over_time", ask_series_over_time },
                  { "labels", ask_labels },
                  { "profile_exemplars", ask_profile_exemplars },
                  { "one_span", ask_one_span, true },
                  { "one_trace", ask_one_trace, true },
                  { "one_profile", ask_one_profile, true },
                  { "span_exemplars", ask_span_exemplars, true } };

static void measure(struct bench *bench, const struct question *question, int n)
{
    double wall[1000], cpu[1000], cold_ms = 0;

    for (int i = -1; i < n; i++) {
        int64_t begun_ns = measure_real_ns(), begun_cpu_ns = clock_cpu_ns();

        question->ask(bench);
        if (i < 0)
            cold_ms = (double)(measure_real_ns() - begun_ns) / 1e6;
        else {
            wall[i] = (double)(measure_real_ns() - begun_ns) / 1e6;
            cpu[i] = (double)(clock_cpu_ns() - begun_cpu_ns) / 1e6;
        }
    }
    qsort(wall, (size_t)n, sizeof(*wall), measure_by_value);
    qsort(cpu, (size_t)n, sizeof(*cpu), measure_by_value);
    printf("%s wall_ms %.2f best_ms %.2f cpu_ms %.2f cold_ms %.1f rss_mb %.1f hwm_mb %.1f %s\n", question->name,
           wall[n / 2], wall[0], cpu[n / 2], cold_ms, measure_status_mb("VmRSS"), measure_status_mb("VmHWM"),
           bench->note);
    fflush(stdout);
}

/* Opens the store as of a time in its last hour, and lets it do what is due then. */
static void go_to(struct bench *bench, const struct store_options *options, int64_t now_ns)
{
    int64_t begun_ns, begun_cpu_ns;
    struct error err;

    store_close(bench->store);
    clock_fake_set(now_ns);
    if (store_open(options, &bench->store, &err) < 0)
        die(err.text);
    ask_labels(bench); /* Opens the day for writing, since it is today. */
    begun_ns = measure_real_ns();
    begun_cpu_ns = clock_cpu_ns();
    if (store_maintain(bench->store, &err) < 0)
        die(err.text);
    printf("upkeep wall_ms %.2f cpu_ms %.2f\n", (double)(measure_real_ns() - begun_ns) / 1e6,
           (double)(clock_cpu_ns() - begun_cpu_ns) / 1e6);
}

int main(int argc, char **argv)
{
    const int64_t year_ns = 366 * 86400 * CLOCK_NS_PER_SECOND, hour_ns = 3600 * CLOCK_NS_PER_SECOND;
    static const char usage[] = "usage: query [-n TIMES] [-memory MIB] [-hours H] [-only NAME] [-at SECONDS] DIR";
    struct store_options options = { .retention_ns = 100 * year_ns };
    struct engine_options engine_options = { .cache_bytes = (size_t)256 << 20 };
    static struct store_stats stats;
    const char *only = NULL;
    int n = 20, hours = 1, at_seconds = 0;
    struct bench bench = { 0 };
    struct error err;

    memory_use_few_pools();
    for (; argc > 2 && argv[1][0] == '-'; argc -= 2, argv += 2) {
        if (strcmp(argv[1], "-n") == 0)
            n = MAX(MIN(atoi(argv[2]), 1000), 1);
        else if (strcmp(argv[1], "-hours") == 0)
            hours = atoi(argv[2]);
        else if (strcmp(argv[1], "-only") == 0)
            only = argv[2];
        else if (strcmp(argv[1], "-memory") == 0)
            options.memory_limit_bytes = (uint64_t)atoi(argv[2]) << 20;
        else if (strcmp(argv[1], "-at") == 0)
            at_seconds = atoi(argv[2]);
        else
            die(usage);
    }
    if (argc != 2)
        die(usage);
    options.data_dir = argv[1];
    if (store_open(&options, &bench.store, &err) < 0 || store_stats(bench.store, NULL, &stats, &err) < 0)
        die(err.text);
    bench.until_ns = stats.last_ns - stats.last_ns % hour_ns + hour_ns;
    if (at_seconds) {
        bench.until_ns += at_seconds * CLOCK_NS_PER_SECOND - hour_ns;
        go_to(&bench, &options, bench.until_ns);
    }
    engine_options.store = bench.store;
    if (engine_new(&engine_options, &bench.engine, &err) < 0)
        die(err.text);
    bench.from_ns = bench.until_ns - hours * hour_ns;
    printf("idle rss_mb %.1f\n", measure_status_mb("VmRSS"));
    ask_exemplars(&bench, EXEMPLARS_SPANS, MIN(stats.last_ns, bench.until_ns) - 60 * CLOCK_NS_PER_SECOND);
    for (size_t i = 0; i < ARRAY_LEN(questions); i++)
        if ((!only || strcmp(only, questions[i].name) == 0) && (bench.has_span || !questions[i].needs_span))
            measure(&bench, &questions[i], n);
    engine_free(bench.engine);
    store_close(bench.store);
    return 0;
}
