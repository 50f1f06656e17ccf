// SPDX-License-Identifier: Apache-2.0
/* Trees, tables and diffs. Mostly they are made from sums in the order of call trees (treeorder.h). Filters that change
 * stacks, or that need more than the names of functions, take the long way: the answer as a profile, filtered as files are. */
#include "base/clock.h"
#include "base/memory.h"
#include "flame/trim.h"
#include "profile/builder.h"
#include "query/engine_internal.h"
#include "query/points.h"
#include "tree/treeflame.h"
#include "tree/treegraph.h"

/* How large a tree may be that is made of profiles. */
struct tree_limit {
    uint32_t max_nodes;
    size_t query_bytes; /* for the error */
};

/* One answer on its way: one query, or two for a diff. */
struct answer {
    struct engine *engine;
    const struct query *queries[TREEORDER_MAX_COLUMNS];
    struct query_facts *facts; /* of each */
    uint32_t n;
    /* How it is made, and from what: the two functions get `context`. */
    int (*from_order)(void *context, const struct treeorder *order, struct error *err);
    int (*from_profiles)(void *context, const struct profile *const *profiles, const struct tree_limit *limit,
                         struct error *err);
    void *context;
    struct report report; /* of filters on the long way */
};

/* --- filters --- */

/* That of the first query holds for both sides of a diff. */
static const struct filter_spec *filter_of(const struct answer *answer)
{
    return &answer->queries[0]->filter;
}

/* What call trees cannot be asked. */
static bool needs_stacks(const struct filter_spec *filter)
{
    return filter->hide.len || filter->show.len || filter->show_from.len || filter->n_call_site;
}

static bool is_by_functions(const struct filter_spec *filter)
{
    return filter->focus.len || filter->ignore.len || needs_stacks(filter);
}

static int compile(const char *option, struct slice text, struct pattern **ret_pattern, struct error *err)
{
    if (!text.len)
        return 0;
    return pattern_new(text, PATTERN_SEARCH, ret_pattern, err) < 0 ? error_wrap(err, "%s", option) : 0;
}

/* --- by the order of call trees --- */

static int add_up(struct answer *answer, struct treesum **sums, struct error *err)
{
    for (uint32_t i = 0; i < answer->n; i++)
        if (engine_sum(answer->engine, answer->queries[i], &sums[i], &answer->facts[i], err) < 0)
            return -1;
    return 0;
}

static int check_query(void *context, struct error *err)
{
    return engine_check(context, err);
}

/* What is left of the memory of a query beside its sums, and time until its deadline. */
static struct treebudget budget_of(const struct answer *answer, struct treesum *const *sums)
{
    size_t limit_bytes = engine_query_bytes(answer->engine), taken_bytes = 0;

    for (uint32_t i = 0; i < answer->n; i++)
        taken_bytes += treesum_bytes(sums[i]);
    return (struct treebudget){ .max_bytes = MAX(limit_bytes - MIN(taken_bytes, limit_bytes), 1u),
                                .limit_bytes = limit_bytes,
                                .patience = { check_query, (void *)answer->queries[0] } };
}

/* `*ret_depends`: it takes the long way to tell. */
static int finish_order(struct answer *answer, struct treesum *const *sums, bool *ret_depends, struct error *err)
{
    struct treebudget budget = budget_of(answer, sums);
    AUTO(pattern_freep) struct pattern *focus = NULL, *ignore = NULL;
    AUTO(treeorder_done) struct treeorder order = { 0 };

    if (compile("focus", filter_of(answer)->focus, &focus, err) < 0 ||
        compile("ignore", filter_of(answer)->ignore, &ignore, err) < 0 ||
        treeorder_init(&order, sums, answer->n, &(struct treeorder_filter){ focus, ignore }, &budget, ret_depends,
                       err) < 0)
        return -1;
    for (uint32_t i = 0; i < answer->n; i++) {
        answer->facts[i].whole = order.columns[i].whole;
        answer->facts[i].whole_size = order.columns[i].whole_size;
    }
    return *ret_depends ? 0 : answer->from_order(answer->context, &order, err);
}

static int go_by_order(struct answer *answer, bool *ret_depends, struct error *err)
{
    struct treesum *sums[TREEORDER_MAX_COLUMNS] = { 0 };
    int64_t begun_ns;
    int result = add_up(answer, sums, err);

    begun_ns = clock_mono_ns();
    if (!result)
        result = engine_check(answer->queries[0], err);
    if (!result)
        result = finish_order(answer, sums, ret_depends, err);
    answer->facts[0].finish_ns = clock_mono_ns() - begun_ns;
    for (uint32_t i = 0; i < answer->n; i++)
        treesum_free(sums[i]);
    return result;
}

/* --- by profiles --- */

/* A profile of the type that was asked for, without samples. */
static int make_empty(struct slice full_type, struct batch *batch, struct error *err)
{
    AUTO(builder_freep) struct builder *builder = NULL;
    struct slice rest = full_type, name, type = { 0 };

    if (builder_new(NULL, &builder, err) < 0)
        return -1;
    if (slice_next_part(&rest, ':', &name))
        IGNORE(!slice_next_part(&rest, ':', &type), "without one it stays empty");
    builder_profile(builder);
    builder_type(builder, (struct value_type){ .type = builder_string(builder, type),
                                               .unit = builder_string(builder, points_unit(full_type)) });
    return builder_finish(builder, batch, err);
}

static void measure_whole(const struct profile *profile, struct query_facts *facts)
{
    const int64_t *values = profile_values(profile, 0);

    facts->whole = profile_total(profile, 0);
    facts->whole_size = 0;
    for (uint32_t i = 0; i < profile->n_samples; i++)
        if (__builtin_add_overflow(facts->whole_size, flame_magnitude(values[i]), &facts->whole_size))
            facts->whole_size = UINT64_MAX;
}

/* `room_bytes` is what is left of the memory of the query. */
static int read_profile(struct answer *answer, uint32_t i, const struct filter *filter, size_t room_bytes,
                        struct batch *filtered, struct error *err)
{
    struct profile_limits limits = profile_default_limits;
    struct batch whole;
    int result;

    limits.max_memory_bytes = room_bytes;
    batch_init(&whole, &limits);
    result = engine_sum_profile(answer->engine, answer->queries[i], &whole, &answer->facts[i], err);
    if (!result && !whole.profiles[0].n_types) {
        batch_done(&whole);
        batch_init(&whole, &limits);
        result = make_empty(answer->queries[i]->type, &whole, err);
    }
    if (!result) {
        whole.profiles[0].duration_ns = answer->facts[i].duration_ns;
        measure_whole(&whole.profiles[0], &answer->facts[i]);
        result = engine_check(answer->queries[i], err);
    }
    if (!result) {
        limits.max_memory_bytes = room_bytes - MIN(whole.arena.used_bytes, room_bytes - 1);
        batch_init(filtered, &limits);
        result = filter_apply(filter, &whole, filtered, err);
        if (result < 0 && err->code == ERR_LIMIT)
            error_wrap(err, "with %zu MiB of --query-memory", engine_query_bytes(answer->engine) >> 20);
    }
    if (!result) {
        report_merge(&answer->report, &filtered->report);
        /* Said of each side of a diff, it is said twice. */
        for (uint32_t k = 0; k < answer->report.n; k++)
            answer->report.entries[k].count = MIN(answer->report.entries[k].count, 1u);
    }
    batch_done(&whole);
    return result;
}

/* How many nodes there is room for while a tree is made of profiles and its functions are added up: about so much for a node
 * (flame.c), and for each of its columns. */
static uint32_t limit_tree(const struct answer *answer, size_t room_bytes)
{
    const size_t node_bytes = 128, column_bytes = 96;

    return (uint32_t)MAX(MIN(room_bytes / (node_bytes + answer->n * column_bytes), (size_t)FLAME_MAX_NODES), 1u);
}

static int go_by_profiles(struct answer *answer, struct error *err)
{
    AUTO(filter_freep) struct filter *filter = NULL;
    struct batch batches[TREEORDER_MAX_COLUMNS];
    const struct profile *profiles[TREEORDER_MAX_COLUMNS];
    struct filter_spec by_functions = *filter_of(answer);
    size_t room_bytes = engine_query_bytes(answer->engine);
    int64_t begun_ns;
    int result;

    by_functions.tag_focus = by_functions.tag_ignore = (struct slice){ 0 }; /* of samples, which are added up by now */
    result = filter_new(&by_functions, &filter, err);
    for (uint32_t i = 0; i < answer->n; i++)
        batch_init(&batches[i], NULL);
    for (uint32_t i = 0; !result && i < answer->n; i++) {
        result = read_profile(answer, i, filter, room_bytes, &batches[i], err);
        profiles[i] = batches[i].profiles;
        room_bytes -= MIN(batches[i].arena.used_bytes, room_bytes - 1);
    }
    begun_ns = clock_mono_ns();
    if (!result)
        result = answer->from_profiles(
            answer->context, profiles,
            &(struct tree_limit){ limit_tree(answer, room_bytes), engine_query_bytes(answer->engine) }, err);
    answer->facts[0].finish_ns += clock_mono_ns() - begun_ns;
    for (uint32_t i = 0; i < answer->n; i++)
        batch_done(&batches[i]);
    return result;
}

/* --- both --- */

static int make_answer(struct answer *answer, struct error *err)
{
    bool depends = needs_stacks(filter_of(answer));

    if (!depends && go_by_order(answer, &depends, err) < 0)
        return -1;
    return depends ? go_by_profiles(answer, err) : 0;
}

static int give_answer(struct answer *answer, struct error *err)
{
    bool is_wide = false;
    int result;

    for (uint32_t i = 0; i < answer->n; i++) {
        answer->facts[i] = (struct query_facts){ 0 };
        is_wide |= engine_count_threads(answer->engine, answer->queries[i]) > 1;
    }
    if (engine_enter(answer->engine, answer->queries[0], is_wide, err) < 0)
        return -1;
    result = make_answer(answer, err);
    engine_leave(answer->engine, is_wide);
    return result;
}

/* Trims a tree in place, to the node at the end of the path; the symbols stay. */
static int trim_part(struct flame **flame, const struct treeflame_options *options, uint32_t column, struct error *err)
{
    struct trim_options trim = { .max_nodes = options->max_nodes, .min_share = options->min_share, .column = column };
    struct flame *trimmed;

    if (flame_find_path(*flame, options->path, options->n_path, &trim.root, err) < 0 ||
        trim_flame(*flame, &trim, &trimmed, err) < 0)
        return -1;
    trimmed->owns_set = (*flame)->owns_set;
    (*flame)->owns_set = false;
    flame_free(*flame);
    *flame = trimmed;
    return 0;
}

/* --- flame trees --- */

struct flame_context {
    struct treeflame_options options;
    struct flame *flame;
};

static int flame_from_order(void *context, const struct treeorder *order, struct error *err)
{
    struct flame_context *asked = context;

    return treeflame_new(order, &asked->options, &asked->flame, err);
}

/* A tree of all paths; that there are too many is an error here. */
static int make_whole_flame(const struct profile *profile, const struct tree_limit *limit, struct flame **ret_flame,
                            struct error *err)
{
    struct flame_options options = { .granularity = SYMBOL_FUNCTION, .max_nodes = limit->max_nodes };
    AUTO(flame_freep) struct flame *flame = NULL;
    uint32_t type = 0;

    if (flame_new(profile, &type, 1, &options, &flame, err) < 0)
        return -1;
    if (flame_has_overflow(flame))
        return treebudget_refuse(limit->query_bytes, err);
    *ret_flame = TAKE(flame);
    return 0;
}

static int flame_from_profile(void *context, const struct profile *const *profiles, const struct tree_limit *limit,
                              struct error *err)
{
    struct flame_context *asked = context;
    AUTO(flame_freep) struct flame *flame = NULL;

    if (make_whole_flame(profiles[0], limit, &flame, err) < 0 || trim_part(&flame, &asked->options, 0, err) < 0)
        return -1;
    asked->flame = TAKE(flame);
    return 0;
}

int engine_flame_part(struct engine *engine, const struct query *query, const struct engine_flame_options *options,
                      struct flame **ret_flame, struct query_facts *ret_facts, struct error *err)
{
    struct flame_context context = { .options = { options->max_nodes, options->min_share, options->path,
                                                  options->n_path } };
    struct answer answer = { .engine = engine,
                             .queries = { query },
                             .facts = ret_facts,
                             .n = 1,
                             .from_order = flame_from_order,
                             .from_profiles = flame_from_profile,
                             .context = &context };

    if (give_answer(&answer, err) < 0)
        return -1;
    report_merge(&context.flame->report, &answer.report);
    *ret_flame = context.flame;
    return 0;
}

int engine_flame(struct engine *engine, const struct query *query, uint32_t max_nodes, struct flame **ret_flame,
                 struct query_facts *ret_facts, struct error *err)
{
    return engine_flame_part(engine, query, &(struct engine_flame_options){ .max_nodes = max_nodes }, ret_flame,
                             ret_facts, err);
}

/* --- tables --- */

struct top_context {
    struct treegraph_options options;
    struct top *top;
};

static int top_from_order(void *context, const struct treeorder *order, struct error *err)
{
    struct top_context *asked = context;
    AUTO(flame_freep) struct flame *flame = NULL;

    if (treeflame_new(order, &(struct treeflame_options){ .max_nodes = 1 }, &flame, err) < 0 ||
        treegraph_new(order, &asked->options, flame, &asked->top, err) < 0)
        return -1;
    asked->top->flame = TAKE(flame);
    return 0;
}

static int top_from_profile(void *context, const struct profile *const *profiles, const struct tree_limit *limit,
                            struct error *err)
{
    struct top_context *asked = context;
    const struct treegraph_options *options = &asked->options;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    AUTO(top_freep) struct top *top = MEMORY_NEW(struct top, err);
    uint64_t saturated = 0;
    uint32_t n;

    if (!top || make_whole_flame(profiles[0], limit, &top->flame, err) < 0 ||
        graph_new(top->flame, 0, &top->graph, err) < 0 ||
        top_sort(top->graph, options->order, 0, &top->graph->arena, &top->functions, &top->n, err) < 0)
        return -1;
    if (options->pattern && (pattern_scratch_new(&scratch, err) < 0 ||
                             top_match(top->graph, options->pattern, scratch, top->functions, &top->n, err) < 0))
        return -1;
    n = options->n ? MIN(options->n, top->n) : top->n;
    top->n_more = top->n - n;
    for (uint32_t i = n; i < top->n; i++)
        top->more_self = value_add(top->more_self, graph_self(top->graph, 0, top->functions[i]), &saturated);
    top->n = n;
    asked->top = TAKE(top);
    return 0;
}

static int make_top(struct engine *engine, const struct query *query, const struct treegraph_options *options,
                    struct top **ret_top, struct query_facts *ret_facts, struct error *err)
{
    struct top_context context = { .options = *options };
    struct answer answer = { .engine = engine,
                             .queries = { query },
                             .facts = ret_facts,
                             .n = 1,
                             .from_order = top_from_order,
                             .from_profiles = top_from_profile,
                             .context = &context };

    if (give_answer(&answer, err) < 0)
        return -1;
    report_merge(&context.top->flame->report, &answer.report);
    report_merge(&context.top->flame->report, &context.top->graph->report);
    *ret_top = context.top;
    return 0;
}

int engine_top(struct engine *engine, const struct query *query, enum top_order order, uint32_t n, struct top **ret_top,
               struct query_facts *ret_facts, struct error *err)
{
    return make_top(engine, query, &(struct treegraph_options){ .order = order, .n = n }, ret_top, ret_facts, err);
}

int engine_peek(struct engine *engine, const struct query *query, const struct pattern *pattern, struct top **ret_top,
                struct query_facts *ret_facts, struct error *err)
{
    return make_top(engine, query, &(struct treegraph_options){ .order = TOP_BY_TOTAL, .pattern = pattern }, ret_top,
                    ret_facts, err);
}

/* --- diffs --- */

struct diff_context {
    const struct diff_options *options;
    struct treeflame_options tree;
    const struct answer *answer;
    struct diff *diff;
};

static int diff_from_order(void *context, const struct treeorder *order, struct error *err)
{
    struct diff_context *asked = context;
    const struct answer *answer = asked->answer;
    AUTO(flame_freep) struct flame *flame = NULL, *root = NULL;
    AUTO(top_freep) struct top *functions = NULL;
    struct diff_parts parts = { .before_duration_ns = answer->facts[0].duration_ns,
                                .after_duration_ns = answer->facts[1].duration_ns,
                                .before_unit = points_unit(answer->queries[0]->type),
                                .after_unit = points_unit(answer->queries[1]->type) };

    if (asked->tree.n_path && treeflame_new(order, &(struct treeflame_options){ .max_nodes = 1 }, &root, err) < 0)
        return -1;
    if (treeflame_new(order, &asked->tree, &flame, err) < 0 ||
        treegraph_new(order, &(struct treegraph_options){ .is_plain = true }, flame, &functions, err) < 0)
        return -1;
    parts.whole = root;
    parts.flame = TAKE(flame);
    parts.graph = TAKE(functions->graph);
    return diff_new_of(&parts, asked->options, &asked->diff, err);
}

static int diff_from_profiles(void *context, const struct profile *const *profiles, const struct tree_limit *limit,
                              struct error *err)
{
    struct diff_context *asked = context;
    struct diff_options whole = *asked->options;
    AUTO(diff_freep) struct diff *diff = NULL;

    whole.max_nodes = limit->max_nodes;
    whole.granularity = SYMBOL_FUNCTION;
    if (diff_new(profiles[0], 0, profiles[1], 0, &whole, &diff, err) < 0)
        return -1;
    if (flame_has_overflow(diff->flame))
        return treebudget_refuse(limit->query_bytes, err);
    if (trim_part(&diff->flame, &asked->tree, TRIM_ALL_COLUMNS, err) < 0)
        return -1;
    diff->graph->flame = diff->flame;
    asked->diff = TAKE(diff);
    return 0;
}

int engine_diff_part(struct engine *engine, const struct query *before, const struct query *after,
                     const struct diff_options *options, const struct engine_flame_options *tree,
                     struct diff **ret_diff, struct query_facts *ret_facts, struct error *err)
{
    struct diff_context context = { .options = options,
                                    .tree = { tree->max_nodes, tree->min_share, tree->path, tree->n_path } };
    struct answer answer = { .engine = engine,
                             .queries = { before, after },
                             .facts = ret_facts,
                             .n = 2,
                             .from_order = diff_from_order,
                             .from_profiles = diff_from_profiles,
                             .context = &context };

    context.answer = &answer;
    if (give_answer(&answer, err) < 0)
        return -1;
    report_merge(&context.diff->flame->report, &answer.report);
    *ret_diff = context.diff;
    return 0;
}

int engine_diff(struct engine *engine, const struct query *before, const struct query *after,
                const struct diff_options *options, struct diff **ret_diff, struct query_facts *ret_facts,
                struct error *err)
{
    return engine_diff_part(engine, before, after, options,
                            &(struct engine_flame_options){ .max_nodes = options->max_nodes }, ret_diff, ret_facts,
                            err);
}

/* --- profiles --- */

static int filter_profile(const struct query *query, struct batch *whole, struct batch *batch, struct error *err)
{
    struct filter_spec by_functions = query->filter;
    AUTO(filter_freep) struct filter *filter = NULL;

    by_functions.tag_focus = by_functions.tag_ignore = (struct slice){ 0 };
    return filter_new(&by_functions, &filter, err) < 0 ? -1 : filter_apply(filter, whole, batch, err);
}

/* Reads into `batch`, or where filters are to follow into another one. */
static int make_profile(struct engine *engine, const struct query *query, struct batch *batch,
                        struct query_facts *facts, struct error *err)
{
    struct batch whole;
    int result;

    if (!is_by_functions(&query->filter))
        return engine_sum_profile(engine, query, batch, facts, err);
    batch_init(&whole, &batch->limits);
    result = engine_sum_profile(engine, query, &whole, facts, err);
    if (!result && whole.profiles[0].n_types)
        measure_whole(&whole.profiles[0], facts);
    if (!result)
        result = filter_profile(query, &whole, batch, err);
    batch_done(&whole);
    return result;
}

int engine_profile(struct engine *engine, const struct query *query, struct batch *batch, struct query_facts *ret_facts,
                   struct error *err)
{
    int result;

    if (engine_enter(engine, query, false, err) < 0)
        return -1;
    result = make_profile(engine, query, batch, ret_facts, err);
    engine_leave(engine, false);
    return result;
}
