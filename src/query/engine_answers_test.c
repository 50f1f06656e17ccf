// SPDX-License-Identifier: Apache-2.0
/* Trees, tables and diffs, filtered and not, against a plain list that goes through profile/ and flame/ as files do. */
#include "flame/trim.h"
#include "query/query_story_test.h"

enum { MAX_PATH = 16 };

/* --- late names: of the two addresses that the story has --- */

static struct {
    uint64_t generation;
    uint32_t n_known;
} late;

static uint64_t late_generation(void *context)
{
    return late.generation;
}

static int late_find(void *context, struct slice build_id, uint64_t offset, struct arena *arena,
                     struct latenames_line **ret_lines, uint32_t *ret_n, struct error *err)
{
    struct latenames_line *lines = ARENA_ARRAY(arena, struct latenames_line, 2, err);
    bool is_first = offset == 0x1f;

    if (!lines)
        return -1;
    lines[0] = (struct latenames_line){ is_first ? SLICE("inner") : SLICE("parse"), SLICE("late.c"), 1 };
    lines[1] = (struct latenames_line){ SLICE("scan"), SLICE("late.c"), 1 };
    *ret_lines = lines;
    *ret_n = late.n_known > !is_first ? 1 + is_first : 0;
    return 0;
}

/* A stack with the names that have arrived. */
static struct slice late_stack(const char *stack, char *space, size_t size)
{
    const char *first = late.n_known > 0 ? strstr(stack, "~1f") : NULL;
    const char *second = late.n_known > 1 ? strstr(stack, "~2f") : NULL;
    const char *at = first ? first : second;

    if (!at)
        return slice_from(stack);
    snprintf(space, size, "%.*s%s%s", (int)(at - stack), stack, first ? "scan@late.c+inner@late.c" : "parse@late.c",
             at);
    return slice_from(space);
}

/* --- what the list says --- */

static void list_profile(const struct query_story *story, const struct query_story_asked *asked,
                         const struct filter_spec *spec, struct batch *batch)
{
    AUTO(builder_freep) struct builder *b = NULL;
    AUTO(filter_freep) struct filter *filter = NULL;
    struct filter_spec by_functions = *spec;
    struct batch whole;
    struct error err;

    CHECK_OK(builder_new(&(struct builder_options){ .keep_addresses = true }, &b, &err), &err);
    builder_profile(b)->duration_ns = 1;
    store_sample_types(b, story->is_level ? "inuse_objects/count inuse_space/bytes" : STORE_SAMPLE_TYPES);
    for (size_t i = 0; i < story->records.n; i++) {
        const struct query_story_record *record = &story->records.items[i];
        int64_t values[] = { record->count, record->value };
        char space[128];
        struct slice stack = record->stack ? late_stack(record->stack, space, sizeof(space)) : SLICE("");

        if (record->stack && query_story_matches(asked, record))
            builder_sample(b, store_sample_stack(b, slice_is(stack, "-") ? SLICE("") : stack), 0, 0, values, 0);
    }
    batch_init(&whole, NULL);
    CHECK_OK(builder_finish(b, &whole, &err), &err);
    by_functions.tag_focus = by_functions.tag_ignore = (struct slice){ 0 }; /* the story knows these */
    CHECK_OK(filter_new(&by_functions, &filter, &err), &err);
    CHECK_OK(filter_apply(filter, &whole, batch, &err), &err);
    batch_done(&whole);
}

/* --- answers as text --- */

static void print_path(const struct flame *flame, uint32_t node, struct buffer *out)
{
    if (node && flame->parents[node])
        print_path(flame, flame->parents[node], out);
    buffer_printf(out, ";%.*s", SLICE_ARG(flame_name(flame, node)));
}

static void print_flame(const struct flame *flame, uint32_t n_columns, bool has_counts, struct buffer *out)
{
    for (uint32_t i = 0; i < flame->n_nodes; i++) {
        print_path(flame, i, out);
        buffer_printf(out, " depth %u end %u flags %u", flame->depths[i], flame->ends[i], flame->flags[i]);
        for (uint32_t k = 0; k < n_columns; k++) {
            buffer_printf(out, " self %lld total %lld", (long long)flame_self(flame, k, i),
                          (long long)flame_total(flame, k, i));
            if (has_counts)
                buffer_printf(out, " count %.0f of %.0f", flame_self_count(flame, k, i),
                              flame_total_count(flame, k, i));
        }
        buffer_printf(out, "\n");
    }
}

static void print_calls(const struct graph *graph, uint32_t function, bool is_callers, struct buffer *out)
{
    const uint32_t *starts = is_callers ? graph->caller_starts : graph->callee_starts;
    const uint32_t *ids = is_callers ? graph->callers : graph->callees;

    for (uint32_t i = starts[function]; i < starts[function + 1]; i++) {
        const struct graph_call *call = &graph->calls[ids[i]];

        buffer_printf(out, "  %s %.*s %lld flags %u\n", is_callers ? "from" : "to",
                      SLICE_ARG(graph_name(graph, is_callers ? call->caller : call->callee)),
                      (long long)graph_call_value(graph, 0, ids[i]), call->flags);
    }
}

static void print_top(const struct top *top, bool has_calls, bool has_counts, struct buffer *out)
{
    for (uint32_t i = 0; i < top->n; i++) {
        uint32_t f = top->functions[i];

        buffer_printf(out, "%.*s self %lld total %lld flags %u", SLICE_ARG(graph_name(top->graph, f)),
                      (long long)graph_self(top->graph, 0, f), (long long)graph_total(top->graph, 0, f),
                      top->graph->flags[f]);
        if (has_counts)
            buffer_printf(out, " count %.0f of %.0f", graph_self_count(top->graph, 0, f),
                          graph_total_count(top->graph, 0, f));
        buffer_printf(out, "\n");
        if (has_calls) {
            print_calls(top->graph, f, true, out);
            print_calls(top->graph, f, false, out);
        }
    }
}

static void print_value(const struct diff_value *value, struct buffer *out)
{
    buffer_printf(out, " %lld -> %lld, %.6f -> %.6f, error %.4f mark %d verdict %d", (long long)value->before,
                  (long long)value->after, value->share_before, value->share_after, value->error, (int)value->mark,
                  (int)value->verdict);
}

static void print_diff(const struct diff *diff, struct buffer *out)
{
    buffer_printf(out, "factor %.9f unit %.*s totals %lld %lld\n", diff->factor, SLICE_ARG(diff->unit),
                  (long long)diff->before.total, (long long)diff->after.total);
    for (uint32_t i = 0; i < diff->n_functions; i++) {
        struct diff_value self = diff_function_self(diff, diff->functions[i]);
        struct diff_value total = diff_function_total(diff, diff->functions[i]);

        buffer_printf(out, "%.*s", SLICE_ARG(graph_name(diff->graph, diff->functions[i])));
        print_value(&self, out);
        print_value(&total, out);
        buffer_printf(out, "\n");
    }
}

/* --- asking --- */

static struct slice choose_text(struct query_story *story, const char *const *texts, uint32_t n)
{
    return query_story_below(story, 3) ? (struct slice){ 0 } : slice_from(texts[query_story_below(story, n)]);
}

static void choose_filter(struct query_story *story, struct filter_spec *spec)
{
    static const char *const patterns[] = {
        "parse", "^read$", "s", "a\\.c", "lib", "libx", "copy|scan", "nosuch", "."
    };

    spec->focus = choose_text(story, patterns, ARRAY_LEN(patterns));
    spec->ignore = choose_text(story, patterns, ARRAY_LEN(patterns) - 1);
    if (query_story_below(story, 3) == 0) {
        spec->hide = choose_text(story, patterns, ARRAY_LEN(patterns) - 1);
        spec->show = choose_text(story, patterns, ARRAY_LEN(patterns));
        spec->show_from = choose_text(story, patterns, ARRAY_LEN(patterns));
    }
}

/* What an answer is compared with, and where both are written down. */
struct comparison {
    struct query_story *story;
    struct query query;
    struct batch list;
    uint32_t type; /* of the list */
    bool has_counts;
    struct buffer got, wanted;
};

static void check_texts(struct comparison *c)
{
    CHECK_TEXT(buffer_slice(&c->got), buffer_slice(&c->wanted));
    buffer_clear(&c->got);
    buffer_clear(&c->wanted);
}

static uint32_t follow(const struct flame *from, uint32_t node, const struct flame *to, uint32_t root)
{
    return node ? flame_find_child(to, follow(from, from->parents[node], to, root), flame_name(from, node)) : root;
}

/* Each node of a trimmed tree has the values of the same path in the whole one, below `root`; there are as many as there may
 * be, and with one column none of those that were left out is heavier. */
static void check_trimmed(const struct flame *small, const struct flame *whole, uint32_t root, uint32_t max_nodes)
{
    struct trim_options trim = { .max_nodes = max_nodes, .root = root };
    int64_t kept = 0, wanted = 0;
    AUTO(flame_freep) struct flame *trimmed = NULL;
    struct error err;
    uint32_t n = 0;

    for (uint32_t i = 0; i < small->n_nodes; i++) {
        uint32_t same = small->flags[i] & FLAME_IS_OTHER ? 0 : follow(small, i, whole, root);

        if (small->flags[i] & FLAME_IS_OTHER)
            continue;
        n++;
        CHECK(i == 0 || same != 0);
        CHECK_EQ(small->flags[i], whole->flags[same]);
        for (uint32_t k = 0; k < whole->n_columns; k++) {
            CHECK_EQ(flame_self(small, k, i), flame_self(whole, k, same));
            CHECK_EQ(flame_total(small, k, i), flame_total(whole, k, same));
        }
        kept += small->total[i];
    }
    CHECK_EQ(n, MIN(max_nodes, whole->ends[root] - root));
    CHECK_OK(trim_flame(whole, &trim, &trimmed, &err), &err);
    for (uint32_t i = 0; i < trimmed->n_nodes; i++)
        wanted += trimmed->flags[i] & FLAME_IS_OTHER ? 0 : trimmed->total[i];
    if (whole->n_columns == 1)
        CHECK_EQ(kept, wanted);
}

/* The whole tree, a trimmed one, and a part of it. */
static void check_flames(struct comparison *c)
{
    AUTO(flame_freep) struct flame *whole = NULL, *got = NULL, *small = NULL, *part = NULL;
    uint32_t max_nodes = 1 + query_story_below(c->story, 12), node, depth;
    struct slice path[MAX_PATH];
    struct engine_flame_options options = { .max_nodes = max_nodes, .path = path };
    struct query_facts facts;
    struct error err;

    CHECK_OK(flame_new(&c->list.profiles[0], &c->type, 1, NULL, &whole, &err), &err);
    CHECK_OK(engine_flame(c->story->engine, &c->query, 0, &got, &facts, &err), &err);
    print_flame(whole, 1, c->has_counts, &c->wanted);
    print_flame(got, 1, c->has_counts, &c->got);
    check_texts(c);
    CHECK_EQ(got->magnitudes[0], whole->magnitudes[0]);
    CHECK_OK(engine_flame(c->story->engine, &c->query, max_nodes, &small, &facts, &err), &err);
    check_trimmed(small, whole, 0, max_nodes);
    node = query_story_below(c->story, whole->n_nodes);
    options.n_path = depth = whole->depths[node];
    for (uint32_t at = node; at; at = whole->parents[at])
        path[--depth] = flame_name(whole, at);
    CHECK_OK(engine_flame_part(c->story->engine, &c->query, &options, &part, &facts, &err), &err);
    CHECK_TEXT(flame_name(part, 0), flame_name(whole, node));
    check_trimmed(part, whole, node, max_nodes);
}

/* Nodes that may be left out: the others are all there. */
static void check_share(struct comparison *c)
{
    AUTO(flame_freep) struct flame *whole = NULL, *got = NULL, *wanted = NULL, *cut = NULL;
    struct trim_options trim = { .min_share = (double)query_story_below(c->story, 300) / 1000 };
    struct query_facts facts;
    struct error err;

    CHECK_OK(engine_flame(c->story->engine, &c->query, 0, &whole, &facts, &err), &err);
    CHECK_OK(engine_flame_part(c->story->engine, &c->query,
                               &(struct engine_flame_options){ .min_share = trim.min_share }, &got, &facts, &err),
             &err);
    CHECK_OK(trim_flame(whole, &trim, &wanted, &err), &err);
    CHECK_OK(trim_flame(got, &trim, &cut, &err), &err);
    print_flame(wanted, 1, c->has_counts, &c->wanted);
    print_flame(cut, 1, c->has_counts, &c->got);
    check_texts(c);
}

static void check_tops(struct comparison *c)
{
    enum top_order order = query_story_below(c->story, 2) ? TOP_BY_SELF : TOP_BY_TOTAL;
    uint32_t n = query_story_below(c->story, 6);
    AUTO(top_freep) struct top *wanted = NULL, *got = NULL;
    uint32_t n_all;
    int64_t rest = 0;
    struct query_facts facts;
    struct error err;

    CHECK_OK(top_new(&c->list.profiles[0], &c->type, 1, SYMBOL_FUNCTION, order, &wanted, &err), &err);
    CHECK_OK(engine_top(c->story->engine, &c->query, order, n, &got, &facts, &err), &err);
    n_all = wanted->n;
    for (uint32_t i = n ? n : n_all; i < n_all; i++)
        rest += graph_self(wanted->graph, 0, wanted->functions[i]);
    wanted->n = n ? MIN(n, n_all) : n_all;
    print_top(wanted, false, c->has_counts, &c->wanted);
    print_top(got, false, c->has_counts, &c->got);
    check_texts(c);
    CHECK_EQ(got->n_more, n_all - wanted->n);
    CHECK_EQ(got->more_self, rest);
    CHECK_EQ(flame_total(got->flame, 0, 0), flame_total(wanted->flame, 0, 0));
}

static void check_peeks(struct comparison *c)
{
    static const char *const patterns[] = { "parse", "^read$", "scan|copy", ".", "libx", "nosuch" };
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    AUTO(top_freep) struct top *wanted = NULL, *got = NULL;
    struct query_facts facts;
    struct error err;

    CHECK_OK(pattern_new(slice_from(patterns[query_story_below(c->story, ARRAY_LEN(patterns))]), PATTERN_SEARCH,
                         &pattern, &err),
             &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(top_new(&c->list.profiles[0], &c->type, 1, SYMBOL_FUNCTION, TOP_BY_TOTAL, &wanted, &err), &err);
    CHECK_OK(top_match(wanted->graph, pattern, scratch, wanted->functions, &wanted->n, &err), &err);
    CHECK_OK(engine_peek(c->story->engine, &c->query, pattern, &got, &facts, &err), &err);
    print_top(wanted, true, c->has_counts, &c->wanted);
    print_top(got, true, c->has_counts, &c->got);
    check_texts(c);
}

/* A part of the tree of a diff; all else is of the whole. */
static void check_diff_part(struct comparison *c, const struct query *after, const struct diff_options *options,
                            const struct diff *whole)
{
    uint32_t node = query_story_below(c->story, whole->flame->n_nodes), depth = whole->flame->depths[node];
    struct slice path[MAX_PATH];
    struct engine_flame_options tree = { .max_nodes = 1 + query_story_below(c->story, 12),
                                         .path = path,
                                         .n_path = depth };
    AUTO(diff_freep) struct diff *part = NULL;
    struct query_facts facts[2];
    struct error err;

    for (uint32_t at = node; at; at = whole->flame->parents[at])
        path[--depth] = flame_name(whole->flame, at);
    CHECK_OK(engine_diff_part(c->story->engine, &c->query, after, options, &tree, &part, facts, &err), &err);
    print_diff(whole, &c->wanted);
    print_diff(part, &c->got);
    check_texts(c);
    CHECK_TEXT(flame_name(part->flame, 0), flame_name(whole->flame, node));
    check_trimmed(part->flame, whole->flame, node, tree.max_nodes);
}

static void check_diffs(struct comparison *c, const struct query_story_asked *asked)
{
    struct query_story_asked other = query_story_choose(c->story);
    struct diff_options options = { .scaling = query_story_below(c->story, 2) ? DIFF_ABSOLUTE : DIFF_EQUAL_TOTALS,
                                    .order = query_story_below(c->story, 2) ? DIFF_BY_SELF : DIFF_BY_TOTAL };
    AUTO(diff_freep) struct diff *wanted = NULL, *got = NULL, *small = NULL;
    struct query after;
    struct query_facts facts[2];
    struct batch list;
    struct error err;

    other.tenant = asked->tenant;
    other.tag_focus = asked->tag_focus;
    other.tag_ignore = asked->tag_ignore;
    after = query_story_query(c->story, &other);
    after.sums_levels = c->query.sums_levels;
    after.filter = c->query.filter;
    batch_init(&list, NULL);
    list_profile(c->story, &other, &c->query.filter, &list);
    CHECK_OK(diff_new(&c->list.profiles[0], c->type, &list.profiles[0], c->type, &options, &wanted, &err), &err);
    CHECK_OK(engine_diff(c->story->engine, &c->query, &after, &options, &got, facts, &err), &err);
    print_diff(wanted, &c->wanted);
    print_diff(got, &c->got);
    print_flame(wanted->flame, 2, c->has_counts, &c->wanted);
    print_flame(got->flame, 2, c->has_counts, &c->got);
    check_texts(c);
    options.max_nodes = 1 + query_story_below(c->story, 12);
    CHECK_OK(engine_diff(c->story->engine, &c->query, &after, &options, &small, facts, &err), &err);
    print_diff(wanted, &c->wanted);
    print_diff(small, &c->got);
    check_texts(c);
    check_trimmed(small->flame, wanted->flame, 0, options.max_nodes);
    check_diff_part(c, &after, &options, wanted);
    batch_done(&list);
    query_story_done(&other);
}

static void check_answer(struct query_story *story)
{
    struct query_story_asked asked = query_story_choose(story);
    struct comparison c = { .story = story, .type = 1 };

    query_story_choose_filter(story, &asked);
    asked.focus = 0;
    c.query = query_story_query(story, &asked);
    choose_filter(story, &c.query.filter);
    c.query.sums_levels = story->is_level;
    c.has_counts = !story->is_level;
    batch_init(&c.list, NULL);
    buffer_init(&c.got, 0);
    buffer_init(&c.wanted, 0);
    list_profile(story, &asked, &c.query.filter, &c.list);
    /* Of nothing, how many raw samples there are is a matter of taste. */
    c.has_counts &= c.list.profiles[0].n_samples > 0;
    check_flames(&c);
    check_share(&c);
    check_tops(&c);
    check_peeks(&c);
    check_diffs(&c, &asked);
    buffer_done(&c.got);
    buffer_done(&c.wanted);
    batch_done(&c.list);
    query_story_done(&asked);
}

CONFORMANCE(engine_gives_trees_tables_and_diffs_as_a_plain_list_would)
{
    query_story_run(sample, 4, 40, check_answer);
}

static void check_answer_late(struct query_story *story)
{
    if (story->n_profiles <= 6)
        late.n_known = 0;
    else if (query_story_below(story, 8) == 0)
        late.n_known++;
    late.generation++;
    check_answer(story);
}

CONFORMANCE(engine_names_frames_as_names_arrive)
{
    struct latenames source = { NULL, late_generation, late_find };

    query_story_run_with(sample, 2, 40, &source, check_answer_late);
    late.n_known = 0;
}

/* --- limits and failures --- */

struct asking {
    struct engine *engine;
    struct query query;
    struct pattern *pattern;
};

static int ask_part(void *context, struct error *err)
{
    struct asking *asking = context;
    struct slice path[] = { SLICE("main"), SLICE("work") };
    struct engine_flame_options options = { .max_nodes = 3, .path = path, .n_path = ARRAY_LEN(path) };
    AUTO(flame_freep) struct flame *flame = NULL;
    struct query_facts facts;

    return engine_flame_part(asking->engine, &asking->query, &options, &flame, &facts, err);
}

static int ask_top(void *context, struct error *err)
{
    struct asking *asking = context;
    AUTO(top_freep) struct top *top = NULL;
    struct query_facts facts;

    return engine_top(asking->engine, &asking->query, TOP_BY_SELF, 2, &top, &facts, err);
}

static int ask_peek(void *context, struct error *err)
{
    struct asking *asking = context;
    AUTO(top_freep) struct top *top = NULL;
    struct query_facts facts;

    return engine_peek(asking->engine, &asking->query, asking->pattern, &top, &facts, err);
}

static int ask_diff(void *context, struct error *err)
{
    struct asking *asking = context;
    AUTO(diff_freep) struct diff *diff = NULL;
    struct query_facts facts[2];

    return engine_diff(asking->engine, &asking->query, &asking->query, &(struct diff_options){ .max_nodes = 2 }, &diff,
                       facts, err);
}

static int ask_profile(void *context, struct error *err)
{
    struct asking *asking = context;
    struct query_facts facts;
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    result = engine_profile(asking->engine, &asking->query, &batch, &facts, err);
    batch_done(&batch);
    return result;
}

static int (*const questions[])(void *context, struct error *err) = { ask_part, ask_top, ask_peek, ask_diff,
                                                                      ask_profile };

static void open_engine(struct store_sample *sample, size_t query_bytes, struct asking *asking)
{
    struct engine_options options = { .store = sample->store, .n_threads = 1, .query_bytes = query_bytes };
    struct error err;

    *asking = (struct asking){ .query = { .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                                          .from_ns = store_sample_time("15T00:00"),
                                          .until_ns = store_sample_time("15T23:00") } };
    CHECK_OK(engine_new(&options, &asking->engine, &err), &err);
    CHECK_OK(pattern_new(SLICE("work|deep"), PATTERN_SEARCH, &asking->pattern, &err), &err);
}

static void open_asking(struct store_sample *sample, size_t query_bytes, struct asking *asking)
{
    STORE_SAMPLE_WRITE(sample,
                       { .at = "15T10:00", .service = "api", .samples = "main;work+copy 1 10 {thread=a}|main 1 20" },
                       { .at = "15T11:00", .service = "web", .samples = "main;work@a.c;deep 1 10|main;work@b.c 1 20" });
    open_engine(sample, query_bytes, asking);
}

static void close_asking(struct asking *asking)
{
    engine_free(asking->engine);
    pattern_free(asking->pattern);
}

CONFORMANCE(engine_gives_every_answer_or_an_error_when_allocations_fail)
{
    /* The call tree; a file, which takes the long way; stacks that change; labels. */
    static const struct filter_spec filters[] = {
        { .focus = { "main", 4 } },
        { .focus = { "main", 4 }, .ignore = { "b\\.c", 4 } },
        { .hide = { "nosuch", 6 } },
        { .tag_ignore = { "thread=b", 8 } },
    };
    struct asking asking;

    open_asking(sample, 0, &asking);
    for (size_t i = 0; i < ARRAY_LEN(filters); i++)
        for (size_t k = 0; k < ARRAY_LEN(questions); k++) {
            asking.query.filter = filters[i];
            test_each_allocation_failing(questions[k], &asking);
        }
    close_asking(&asking);
}

CONFORMANCE(engine_ends_every_answer_early_when_it_must)
{
    atomic_bool is_cancelled = true;
    struct asking asking;
    struct error err;

    open_asking(sample, 1, &asking);
    for (size_t k = 0; k + 1 < ARRAY_LEN(questions); k++) {
        asking.query.is_cancelled = NULL;
        asking.query.deadline_mono_ns = 0;
        asking.query.filter = (struct filter_spec){ 0 };
        CHECK_ERROR(questions[k](&asking, &err), &err, ERR_LIMIT);
        CHECK_HAS(err.text, "--query-memory");
        asking.query.is_cancelled = &is_cancelled;
        CHECK_ERROR(questions[k](&asking, &err), &err, ERR_CANCELLED);
        asking.query.filter.tag_focus = SLICE("a");
        CHECK_ERROR(questions[k](&asking, &err), &err, ERR_CANCELLED);
        asking.query.is_cancelled = NULL;
        asking.query.deadline_mono_ns = 1;
        CHECK_ERROR(questions[k](&asking, &err), &err, ERR_TIMEOUT);
        asking.query.filter.hide = SLICE("x");
        CHECK_ERROR(questions[k](&asking, &err), &err, ERR_TIMEOUT);
    }
    close_asking(&asking);
}

/* Profiles of two services with many stacks, which have little in common. */
static void write_many_stacks(struct store_sample *sample)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    for (unsigned i = 0; i < 3000; i++)
        buffer_printf(&text, "%smain;step_%u;branch_%u;turn_%u;leaf_of_the_tree_number_%u 1 10 {thread=t%u}",
                      i ? "|" : "", i % 7, i % 61, i % 997, i, i % 1000);
    buffer_append_byte(&text, '\0');
    for (unsigned i = 0; i < 2; i++)
        STORE_SAMPLE_WRITE(sample,
                           { .at = i ? "15T11:00" : "15T10:00", .service = i ? "many" : "more", .samples = text.data });
}

/* Whatever the limit, an answer comes or an error that names it, nothing stays behind, and no more is allocated than the limit
 * and what reading takes. */
CONFORMANCE(engine_keeps_to_its_memory_whatever_the_limit)
{
    static const struct filter_spec filters[] = { { .focus = { "", 0 } },
                                                  { .focus = { "turn_1", 6 } },
                                                  { .hide = { "turn_1", 6 } },
                                                  { .tag_ignore = { "thread=t1", 9 } } };
    const size_t reading_bytes = (size_t)2 << 20;
    unsigned n_answered = 0, n_refused = 0;

    write_many_stacks(sample);
    for (size_t query_bytes = 1 << 12; query_bytes <= (size_t)32 << 20; query_bytes *= 2)
        for (size_t i = 0; i < ARRAY_LEN(filters); i++)
            for (size_t k = 0; k < ARRAY_LEN(questions); k++) {
                uint64_t before_bytes = memory_used_bytes();
                struct asking asking;
                struct error err;

                if (k == 0)
                    continue; /* its path is of other profiles */
                open_engine(sample, query_bytes, &asking);
                asking.query.filter = filters[i];
                memory_set_limit(memory_used_bytes() + query_bytes + reading_bytes);
                if (questions[k](&asking, &err) < 0) {
                    CHECK_EQ(err.code, ERR_LIMIT);
                    CHECK_HAS(err.text, "--query-memory");
                    n_refused++;
                } else
                    n_answered++;
                memory_set_limit(0);
                close_asking(&asking);
                CHECK(memory_used_bytes() <= before_bytes + (64 << 10)); /* the store may have learnt something */
            }
    CHECK(n_answered > 50);
    CHECK(n_refused > 50);
}

CONFORMANCE(engine_names_what_is_wrong_with_a_filter_or_a_path)
{
    static const struct {
        struct filter_spec filter;
        const char *words;
    } wrong[] = {
        { { .focus = { "(", 1 } }, "focus: " },
        { { .ignore = { "(", 1 } }, "ignore: " },
        { { .hide = { "(", 1 } }, "hide: " },
        { { .show = { "(", 1 } }, "show: " },
        { { .show_from = { "(", 1 } }, "show-from: " },
        { { .tag_focus = { "(", 1 } }, "tagfocus: " },
        { { .tag_ignore = { "(", 1 } }, "tagignore: " },
    };
    struct slice path[] = { SLICE("main"), SLICE("play") };
    struct engine_flame_options options = { .path = path, .n_path = ARRAY_LEN(path) };
    struct query_facts facts;
    struct asking asking;
    struct flame *flame;
    struct error err;

    open_asking(sample, 0, &asking);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        for (size_t k = 0; k < ARRAY_LEN(questions); k++) {
            asking.query.filter = wrong[i].filter;
            CHECK_ERROR(questions[k](&asking, &err), &err, ERR_INVALID);
            CHECK_HAS(err.text, wrong[i].words);
        }
    /* Whichever way it is found out. */
    for (unsigned i = 0; i < 2; i++) {
        asking.query.filter = (struct filter_spec){ .hide = i ? SLICE("nosuch") : SLICE("") };
        CHECK_ERROR(engine_flame_part(asking.engine, &asking.query, &options, &flame, &facts, &err), &err,
                    ERR_NOT_FOUND);
        CHECK_HAS(err.text, "the path ends after 1 call: 'main' does not call 'play' there");
    }
    close_asking(&asking);
}

CONFORMANCE(engine_tells_which_filter_matched_nothing)
{
    struct asking asking;
    struct error err;

    open_asking(sample, 0, &asking);
    for (unsigned i = 0; i < 2; i++) {
        AUTO(top_freep) struct top *top = NULL;
        struct query_facts facts;

        asking.query.filter = (struct filter_spec){ .focus = SLICE("nosuch"),
                                                    .ignore = SLICE("deep"),
                                                    .hide = i ? SLICE("main") : SLICE("") };
        CHECK_OK(engine_top(asking.engine, &asking.query, TOP_BY_SELF, 0, &top, &facts, &err), &err);
        CHECK_EQ(top->n, 0);
        CHECK_EQ(facts.whole, 60);
        CHECK_EQ(facts.n_rows, 2);
        CHECK_EQ(report_count(&top->flame->report, "focus matches no frame"), 1);
        CHECK_EQ(report_count(&top->flame->report, "ignore matches no frame"), 0);
    }
    close_asking(&asking);
}
