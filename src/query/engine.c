// SPDX-License-Identifier: Apache-2.0
#include "query/engine.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "profile/valuetype.h"
#include "query/engine_internal.h"
#include "query/profilesum.h"
#include "query/samplefilter.h"
#include "tree/levels.h"
#include "tree/treesum.h"

#include <unistd.h>

enum { MAX_THREADS = 16 };
static const int64_t hour_ns = (int64_t)3600 * CLOCK_NS_PER_SECOND;

struct engine {
    struct engine_options options;
    struct treecache *trees;
    struct lock_mutex lock;
    struct lock_condition left;
    uint32_t n_running; /* queries; guarded by lock */
    uint32_t n_wide;    /* those of them that use several threads */
};

int engine_new(const struct engine_options *options, struct engine **ret_engine, struct error *err)
{
    AUTO(engine_freep) struct engine *engine = MEMORY_NEW(struct engine, err);
    struct engine_options *own;

    if (!engine)
        return -1;
    own = &engine->options;
    *own = *options;
    own->cache_bytes = own->cache_bytes ? own->cache_bytes : (size_t)64 << 20;
    own->query_bytes = own->query_bytes ? own->query_bytes : (size_t)256 << 20;
    own->n_at_a_time = MAX(own->n_at_a_time ? own->n_at_a_time : 2, 2);
    if (!own->n_threads)
        own->n_threads = (uint32_t)MIN(sysconf(_SC_NPROCESSORS_ONLN), 4);
    own->n_threads = MIN(own->n_threads, (uint32_t)MAX_THREADS);
    lock_mutex_init(&engine->lock, LOCK_QUERY_QUEUE);
    lock_condition_init(&engine->left);
    if (treecache_new(own->cache_bytes, own->late, &engine->trees, err) < 0)
        return -1;
    *ret_engine = TAKE(engine);
    return 0;
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    treecache_free(engine->trees);
    lock_condition_done(&engine->left);
    lock_mutex_done(&engine->lock);
    memory_free(engine);
}

void engine_freep(struct engine **engine)
{
    engine_free(*engine);
}

/* --- whether to go on --- */

int engine_check(const struct query *query, struct error *err)
{
    /* Relaxed: seen soon enough. */
    if (query->is_cancelled && atomic_load_explicit(query->is_cancelled, memory_order_relaxed))
        return error_set(err, ERR_CANCELLED, "nobody waits for the answer any more");
    if (query->deadline_mono_ns && clock_mono_ns() > query->deadline_mono_ns)
        return error_set(err, ERR_TIMEOUT, "the query took longer than it may: ask for less time or fewer services");
    return 0;
}

/* --- turns --- */

/* Waits for its turn. Of the queries at a time, one place is left to those that need a single thread: long ones are never in
 * the way of all others. */
int engine_enter(struct engine *engine, const struct query *query, bool is_wide, struct error *err)
{
    LOCK_SCOPE(&engine->lock);
    while (engine->n_running >= engine->options.n_at_a_time ||
           (is_wide && engine->n_wide + 1 >= engine->options.n_at_a_time)) {
        if (engine_check(query, err) < 0)
            return -1;
        IGNORE(!lock_condition_wait_until(&engine->left, &engine->lock, lock_deadline_ns(CLOCK_NS_PER_SECOND / 20)),
               "the loop looks again");
    }
    engine->n_running++;
    engine->n_wide += is_wide;
    return 0;
}

void engine_leave(struct engine *engine, bool is_wide)
{
    LOCK_SCOPE(&engine->lock);
    engine->n_running--;
    engine->n_wide -= is_wide;
    lock_condition_wake_all(&engine->left);
}

/* --- sinks --- */

/* A sink that looks first whether the answer is still wanted. */
struct guarded {
    const struct query *query;
    struct store_sum_sink sink;
    struct store_window_sink window_sink;
    struct store_sink row_sink;
};

static int guard_names(void *context, struct names *names, struct error *err)
{
    struct guarded *guarded = context;

    return guarded->sink.names(guarded->sink.context, names, err);
}

static int guard_sums(void *context, const struct store_sums *sums, struct error *err)
{
    struct guarded *guarded = context;

    return engine_check(guarded->query, err) < 0 ? -1 : guarded->sink.sums(guarded->sink.context, sums, err);
}

static int guard_windows(void *context, const struct seriesinfo *series, const struct windows *windows,
                         struct error *err)
{
    struct guarded *guarded = context;

    if (engine_check(guarded->query, err) < 0)
        return -1;
    return guarded->window_sink.windows(guarded->window_sink.context, series, windows, err);
}

static int guard_row_names(void *context, struct names *names, struct error *err)
{
    struct guarded *guarded = context;

    return guarded->row_sink.names(guarded->row_sink.context, names, err);
}

static int guard_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct guarded *guarded = context;

    return engine_check(guarded->query, err) < 0 ? -1
                                                 : guarded->row_sink.row(guarded->row_sink.context, series, row, err);
}

static int check_reading(void *context, struct error *err)
{
    return engine_check(context, err);
}

static struct store_query query_of(const struct query *query, int64_t from_ns, int64_t until_ns)
{
    return (struct store_query){ .tenant = query->tenant,
                                 .selector = query->selector,
                                 .from_ns = from_ns,
                                 .until_ns = until_ns,
                                 .ids = query->ids,
                                 .check = check_reading,
                                 .check_context = (void *)query };
}

/* --- reading with filters on samples: row by row --- */

/* Cuts rows before they are given on. */
struct cut {
    struct samplefilter *filter;
    struct store_sink sink;
};

static int cut_names(void *context, struct names *names, struct error *err)
{
    struct cut *cut = context;

    samplefilter_names(cut->filter, names);
    return cut->sink.names ? cut->sink.names(cut->sink.context, names, err) : 0;
}

static int cut_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct cut *cut = context;
    struct headrow rest;
    bool stays;

    if (samplefilter_cut(cut->filter, series, row, &rest, &stays, err) < 0)
        return -1;
    return stays ? cut->sink.row(cut->sink.context, series, &rest, err) : 0;
}

/* Rows as the filters leave them; those by functions only where the answer is not added up by stack. */
static int read_cut_rows(struct engine *engine, const struct query *query, const struct store_query *asked,
                         bool by_functions, const struct store_sink *sink, struct error *err)
{
    AUTO(samplefilter_freep) struct samplefilter *filter = NULL;
    struct cut cut = { .sink = *sink };
    struct guarded guarded = { .query = query, .row_sink = { &cut, cut_names, cut_row } };

    if (samplefilter_new(&query->filter, by_functions, engine->options.late, engine->options.query_bytes, &filter,
                         err) < 0)
        return -1;
    cut.filter = filter;
    return store_scan(engine->options.store, asked,
                      &(struct store_sink){ &guarded, guard_row_names, guard_row, sink->reads }, err);
}

/* Rows as sums of one row each: the context is a struct store_sum_sink. */

static int give_names(void *context, struct names *names, struct error *err)
{
    const struct store_sum_sink *sink = context;

    return sink->names(sink->context, names, err);
}

static struct store_sums row_as_sums(const struct seriesinfo *series, const struct headrow *row)
{
    return (struct store_sums){ .series = series,
                                .start_ns = row->start_ns,
                                .length_ns = 1,
                                .n_rows = 1,
                                .duration_ns = row->duration_ns,
                                .n_types = row->n_types,
                                .n_stacks = row->n_samples,
                                .stride = row->stride,
                                .stacks = row->stacks,
                                .sums = row->values };
}

static int give_sums(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    const struct store_sum_sink *sink = context;
    struct store_sums row_sums = row_as_sums(series, row);

    return sink->sums(sink->context, &row_sums, err);
}

/* Rows as windows of one row each, with their totals: the context is a struct store_window_sink. */

static int give_windows(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    const struct store_window_sink *sink = context;
    int64_t start_ns = row->start_ns, duration_ns = row->duration_ns, period = row->period;
    uint32_t sequence = row->sequence, label_set = row->label_set, n_samples = row->n_samples;
    int64_t totals[PROFILE_MAX_TYPES] = { 0 };
    uint64_t n_saturated = 0;

    ASSERT(row->n_types <= PROFILE_MAX_TYPES);
    for (uint32_t k = 0; k < row->n_types; k++)
        for (uint32_t i = 0; i < row->n_samples; i++)
            totals[k] = value_add(totals[k], row->values[(size_t)k * row->stride + i], &n_saturated);
    return sink->windows(sink->context, series,
                         &(struct windows){ .n_types = row->n_types,
                                            .n_rows = 1,
                                            .starts_ns = &start_ns,
                                            .durations_ns = &duration_ns,
                                            .sequences = &sequence,
                                            .label_sets = &label_set,
                                            .periods = &period,
                                            .sample_counts = &n_samples,
                                            .totals = totals },
                         err);
}

/* Whether windows and rows must be cut. */
static bool is_cut(const struct query *query)
{
    return samplefilter_has_tags(&query->filter) || samplefilter_has_functions(&query->filter);
}

/* --- reading --- */

static int read_sums(struct engine *engine, const struct query *query, int64_t from_ns, int64_t until_ns,
                     int64_t step_ns, const struct store_sum_sink *sink, struct store_reads *reads, struct error *err)
{
    struct guarded guarded = { .query = query, .sink = *sink };
    struct store_query asked = query_of(query, from_ns, until_ns);

    if (samplefilter_has_tags(&query->filter))
        return read_cut_rows(engine, query, &asked, false,
                             &(struct store_sink){ (void *)sink, give_names, give_sums, reads }, err);
    return store_sum(engine->options.store, &asked, step_ns,
                     &(struct store_sum_sink){ &guarded, guard_names, guard_sums }, reads, err);
}

/* --- averages of levels --- */

/* Rows of odd series (levels.h), an hour at a time, for one of both kinds of sums. */
struct correcting {
    const struct levels *levels;
    int64_t hour_ns;
    const struct store_sum_sink *sink;
    int (*correct)(void *context, const struct store_sums *sums, double weight, struct error *err);
};

static bool is_odd(void *context, const struct seriesinfo *series)
{
    const struct correcting *correcting = context;

    return levels_is_odd(correcting->levels, series, correcting->hour_ns);
}

static int correct_names(void *context, struct names *names, struct error *err)
{
    const struct correcting *correcting = context;

    return correcting->sink->names(correcting->sink->context, names, err);
}

static int correct_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    const struct correcting *correcting = context;
    double weight = levels_correction(correcting->levels, series, row->start_ns);
    struct store_sums sums = row_as_sums(series, row);

    return weight == 0 ? 0 : correcting->correct(correcting->sink->context, &sums, weight, err);
}

static int correct_hours(struct engine *engine, const struct query *query, int64_t from_ns, int64_t until_ns,
                         struct correcting *correcting, struct store_reads *reads, struct error *err)
{
    struct store_sink rows = { correcting, correct_names, correct_row, reads };
    struct guarded guarded = { .query = query, .row_sink = rows };
    size_t n_hours;
    const int64_t *hours = levels_odd_hours(correcting->levels, &n_hours);

    for (size_t i = 0; i < n_hours; i++) {
        struct store_query asked = query_of(query, MAX(hours[i], from_ns), MIN(hours[i] + hour_ns, until_ns));
        int result;

        if (asked.from_ns >= asked.until_ns)
            continue;
        correcting->hour_ns = hours[i];
        asked.wants = is_odd;
        asked.wants_context = correcting;
        if (samplefilter_has_tags(&query->filter))
            result = read_cut_rows(engine, query, &asked, false, &rows, err);
        else
            result = store_scan(engine->options.store, &asked,
                                &(struct store_sink){ &guarded, guard_row_names, guard_row, reads }, err);
        if (result < 0)
            return -1;
    }
    return 0;
}

int engine_read_windows_of(struct engine *engine, const struct query *query, const struct engine_choice *choice,
                           const struct store_window_sink *sink, struct store_reads *reads, struct error *err)
{
    struct guarded guarded = { .query = query, .window_sink = *sink };
    struct store_query asked = query_of(query, query->from_ns, query->until_ns);

    asked.wants = choice->wants;
    asked.wants_context = choice->context;
    if (is_cut(query))
        return read_cut_rows(engine, query, &asked, true,
                             &(struct store_sink){ (void *)sink, NULL, give_windows, reads }, err);
    return store_windows(engine->options.store, &asked,
                         &(struct store_window_sink){ &guarded, guard_windows, sink->is_brief }, reads, err);
}

int engine_read_windows(struct engine *engine, const struct query *query, const struct store_window_sink *sink,
                        struct store_reads *reads, struct error *err)
{
    return engine_read_windows_of(engine, query, &(struct engine_choice){ 0 }, sink, reads, err);
}

int engine_read_rows_of(struct engine *engine, const struct query *query, const struct engine_choice *choice,
                        const struct store_sink *sink, struct error *err)
{
    struct guarded guarded = { .query = query, .row_sink = *sink };
    struct store_query asked = query_of(query, query->from_ns, query->until_ns);

    asked.wants = choice->wants;
    asked.wants_context = choice->context;
    if (is_cut(query))
        return read_cut_rows(engine, query, &asked, true, sink, err);
    return store_scan(engine->options.store, &asked,
                      &(struct store_sink){ &guarded, guard_row_names, guard_row, sink->reads }, err);
}

int engine_read_rows(struct engine *engine, const struct query *query, const struct store_sink *sink, struct error *err)
{
    return engine_read_rows_of(engine, query, &(struct engine_choice){ 0 }, sink, err);
}

int engine_read_series(struct engine *engine, const struct query *query,
                       int (*visit)(void *context, const struct seriesinfo *series, struct error *err), void *context,
                       struct error *err)
{
    struct store_query asked = query_of(query, query->from_ns, query->until_ns);

    return store_each_series(engine->options.store, &asked, visit, context, err);
}

int engine_read_column_labels(struct engine *engine, const struct query *query,
                              int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                              void *context, struct error *err)
{
    struct store_query asked = query_of(query, query->from_ns, query->until_ns);

    return store_each_column_label(engine->options.store, &asked, visit, context, err);
}

size_t engine_query_bytes(const struct engine *engine)
{
    return engine->options.query_bytes;
}

/* Whether values of the type are levels: the sample type and unit are its second and third part. */
bool engine_is_level(struct slice type)
{
    struct slice parts[3], rest = type;
    enum value_nature nature;
    enum value_temporality temporality;

    for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
        if (!slice_next_part(&rest, ':', &parts[i]))
            return false;
    value_type_describe(parts[1], parts[2], &nature, &temporality);
    return nature == VALUE_LEVEL;
}

/* What both kinds of sums need to know. */
struct preparation {
    struct levels levels;
    bool is_averaged;
    int64_t step_ns;
};

static int prepare(struct engine *engine, const struct query *query, struct preparation *preparation,
                   struct query_facts *facts, struct error *err)
{
    struct query by_labels = *query; /* filters by functions leave the number of profiles as it is */

    by_labels.filter =
        (struct filter_spec){ .tag_focus = query->filter.tag_focus, .tag_ignore = query->filter.tag_ignore };
    *facts = (struct query_facts){ .is_level = engine_is_level(query->type), .n_threads = 1 };
    levels_init(&preparation->levels, query->type, engine->options.query_bytes / 4);
    preparation->is_averaged = facts->is_averaged = facts->is_level && !query->sums_levels;
    preparation->step_ns = preparation->is_averaged ? LEVELS_SLOT_NS : 0;
    if (!preparation->is_averaged)
        return 0;
    if (engine_read_windows(engine, &by_labels, &(struct store_window_sink){ &preparation->levels, levels_add, true },
                            &facts->reads, err) < 0)
        return -1;
    return levels_settle(&preparation->levels, err);
}

/* Reads sums, and corrects the averages of levels. */
static int read_prepared(struct engine *engine, const struct query *query, const struct preparation *preparation,
                         int64_t from_ns, int64_t until_ns, const struct store_sum_sink *sink,
                         int (*correct)(void *context, const struct store_sums *sums, double weight, struct error *err),
                         struct store_reads *reads, struct error *err)
{
    struct correcting correcting = { .levels = &preparation->levels, .sink = sink, .correct = correct };

    if (read_sums(engine, query, from_ns, until_ns, preparation->step_ns, sink, reads, err) < 0)
        return -1;
    return preparation->is_averaged ? correct_hours(engine, query, from_ns, until_ns, &correcting, reads, err) : 0;
}

int engine_plan(struct engine *engine, const struct query *query,
                int (*visit)(void *context, const struct store_plan *plan, struct error *err), void *context,
                struct query_facts *ret_facts, struct error *err)
{
    struct store_query asked = query_of(query, query->from_ns, query->until_ns);
    struct query_facts facts = { .is_level = engine_is_level(query->type) };
    struct store_plan_options options = { .is_by_rows = samplefilter_has_tags(&query->filter) };
    int64_t begun_ns = clock_mono_ns();
    int result;

    facts.is_averaged = facts.is_level && !query->sums_levels;
    facts.n_threads = engine_count_threads(engine, query);
    options.has_windows = facts.is_averaged;
    options.step_ns = facts.is_averaged ? LEVELS_SLOT_NS : 0;
    if (engine_enter(engine, query, false, err) < 0)
        return -1;
    result = store_plan(engine->options.store, &asked, &options, visit, context, err);
    engine_leave(engine, false);
    facts.read_ns = clock_mono_ns() - begun_ns;
    if (result < 0)
        return -1;
    *ret_facts = facts;
    return 0;
}

/* --- sums by stack of call trees --- */

/* A part of the time, added up by a thread of its own. */
struct portion {
    struct engine *engine;
    const struct query *query;
    const struct preparation *preparation;
    int64_t from_ns, until_ns;
    struct treesum *sum;
    struct store_reads reads;
    struct thread thread;
    bool has_thread;
    int result;
    struct error err;
};

static int correct_tree(void *context, const struct store_sums *sums, double weight, struct error *err)
{
    return treesum_correct(context, sums, weight, err);
}

static void read_portion(struct thread *thread, void *context)
{
    struct portion *portion = context;

    portion->result =
        read_prepared(portion->engine, portion->query, portion->preparation, portion->from_ns, portion->until_ns,
                      &(struct store_sum_sink){ portion->sum, treesum_names, treesum_add }, correct_tree,
                      &portion->reads, &portion->err);
}

static void add_reads(struct store_reads *into, const struct store_reads *reads)
{
    into->n_hours += reads->n_hours;
    into->n_slots += reads->n_slots;
    into->n_series += reads->n_series;
    into->n_known += reads->n_known;
    into->n_rows += reads->n_rows;
    into->n_parts += reads->n_parts;
    into->n_spans += reads->n_spans;
    into->n_bytes += reads->n_bytes;
}

/* Where portion `i` of `n` begins: at an hour, but for the first. */
static int64_t begin_of(const struct query *query, uint32_t i, uint32_t n)
{
    int64_t begin_ns;

    if (i == 0)
        return query->from_ns;
    if (i == n)
        return query->until_ns;
    begin_ns = query->from_ns + (query->until_ns - query->from_ns) / n * i;
    return begin_ns - begin_ns % hour_ns;
}

static int run_portions(struct portion *portions, uint32_t n, struct query_facts *facts, struct error *err)
{
    int result = 0;

    /* The first is ours; one without a thread is done by us as well. */
    for (uint32_t i = 1; i < n; i++)
        portions[i].has_thread =
            thread_start(&portions[i].thread, "query", read_portion, &portions[i], &portions[i].err) == 0;
    for (uint32_t i = 0; i < n; i++)
        if (!portions[i].has_thread)
            read_portion(NULL, &portions[i]);
    for (uint32_t i = 0; i < n; i++) {
        if (portions[i].has_thread)
            thread_stop(&portions[i].thread);
        add_reads(&facts->reads, &portions[i].reads);
        if (portions[i].result < 0 && !result) {
            *err = portions[i].err;
            result = -1;
        }
    }
    return result;
}

static int check_query(void *context, struct error *err)
{
    return engine_check(context, err);
}

static int sum_trees(struct engine *engine, const struct query *query, const struct preparation *preparation,
                     struct portion *portions, uint32_t n, struct query_facts *facts, struct error *err)
{
    struct treesum_options options = { .cache = engine->trees,
                                       .tenant = query->tenant,
                                       .type = query->type,
                                       .max_bytes = MAX(engine->options.query_bytes / n, 1u),
                                       .limit_bytes = engine->options.query_bytes,
                                       .patience = { check_query, (void *)query } };

    if (preparation->is_averaged) {
        options.weight = levels_weight;
        options.weight_context = (void *)&preparation->levels;
    }
    for (uint32_t i = 0; i < n; i++) {
        portions[i] = (struct portion){ .engine = engine,
                                        .query = query,
                                        .preparation = preparation,
                                        .from_ns = begin_of(query, i, n),
                                        .until_ns = begin_of(query, i + 1, n) };
        if (treesum_new(&options, &portions[i].sum, err) < 0)
            return -1;
    }
    if (run_portions(portions, n, facts, err) < 0)
        return -1;
    for (uint32_t i = 1; i < n; i++)
        if (treesum_join(portions[0].sum, portions[i].sum, err) < 0)
            return -1;
    return 0;
}

/* The sums of the first portion, which the others were joined to; the others go. */
static struct treesum *keep_first(struct portion *portions, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        treesum_free(portions[i].sum);
    return portions[0].sum;
}

uint32_t engine_count_threads(const struct engine *engine, const struct query *query)
{
    int64_t hours = query->until_ns / hour_ns - query->from_ns / hour_ns;

    return (uint32_t)MAX(MIN(hours / 4, (int64_t)engine->options.n_threads), 1);
}

int engine_sum(struct engine *engine, const struct query *query, struct treesum **ret_sum, struct query_facts *facts,
               struct error *err)
{
    AUTO(treesum_freep) struct treesum *sum = NULL;
    uint32_t n_threads = engine_count_threads(engine, query);
    struct portion portions[MAX_THREADS] = { 0 };
    struct preparation preparation;
    int64_t begun_ns = clock_mono_ns();
    int result = prepare(engine, query, &preparation, facts, err);

    if (!result)
        result = sum_trees(engine, query, &preparation, portions, n_threads, facts, err);
    sum = keep_first(portions, n_threads);
    levels_done(&preparation.levels);
    facts->read_ns = clock_mono_ns() - begun_ns;
    facts->n_threads = n_threads;
    if (result < 0)
        return -1;
    facts->n_rows = treesum_facts(sum).n_rows;
    facts->duration_ns = treesum_facts(sum).duration_ns;
    *ret_sum = TAKE(sum);
    return 0;
}

/* --- profiles --- */

static int correct_profile(void *context, const struct store_sums *sums, double weight, struct error *err)
{
    return profilesum_correct(context, sums, weight, err);
}

int engine_sum_profile(struct engine *engine, const struct query *query, struct batch *batch, struct query_facts *facts,
                       struct error *err)
{
    AUTO(profilesum_freep) struct profilesum *sum = NULL;
    struct profilesum_options options = { .type = query->type,
                                          .limits = batch->limits,
                                          .late = engine->options.late,
                                          .patience = { check_query, (void *)query } };
    struct preparation preparation;
    int64_t begun_ns = clock_mono_ns();
    int result = prepare(engine, query, &preparation, facts, err);

    if (preparation.is_averaged) {
        options.weight = levels_weight;
        options.weight_context = &preparation.levels;
    }
    options.limits.max_memory_bytes = MIN(options.limits.max_memory_bytes, engine->options.query_bytes);
    if (!result)
        result = profilesum_new(&options, &sum, err);
    if (!result)
        result = read_prepared(engine, query, &preparation, query->from_ns, query->until_ns,
                               &(struct store_sum_sink){ sum, profilesum_names, profilesum_add }, correct_profile,
                               &facts->reads, err);
    facts->read_ns = clock_mono_ns() - begun_ns;
    if (!result) {
        facts->n_rows = profilesum_rows(sum);
        facts->duration_ns = profilesum_duration(sum);
        result = profilesum_finish(sum, batch, err);
    }
    facts->finish_ns = clock_mono_ns() - begun_ns - facts->read_ns;
    levels_done(&preparation.levels);
    return result;
}
