// SPDX-License-Identifier: Apache-2.0
#include "query/engine.h"

#include "base/thread.h"
#include "flame/trim.h"
#include "store/store_sample_test.h"

#define CPU "cpu:cpu:nanoseconds:cpu:nanoseconds"

/* --- answers as text: a line for each node, "main;work self total count" --- */

static void print_path(const struct flame *flame, uint32_t node, struct buffer *out)
{
    if (node && flame->parents[node])
        print_path(flame, flame->parents[node], out);
    if (node)
        buffer_printf(out, "%s%.*s", flame->parents[node] ? ";" : "", SLICE_ARG(flame_name(flame, node)));
}

static void print_flame(const struct flame *flame, bool has_counts, struct buffer *out)
{
    for (uint32_t i = 0; i < flame->n_nodes; i++) {
        buffer_printf(out, "[");
        print_path(flame, i, out);
        buffer_printf(out, "] self %lld total %lld", (long long)flame_self(flame, 0, i),
                      (long long)flame_total(flame, 0, i));
        if (has_counts)
            buffer_printf(out, " count %.0f", flame_total_count(flame, 0, i));
        buffer_printf(out, "\n");
    }
}

static void check_order(const struct flame *flame)
{
    for (uint32_t i = 0; i < flame->n_nodes; i++) {
        int64_t total = flame_self(flame, 0, i);
        uint32_t before = 0;

        CHECK(flame->ends[i] > i && flame->ends[i] <= flame->n_nodes);
        for (uint32_t child = flame_first_child(flame, i); child; child = flame_next_child(flame, child)) {
            CHECK_EQ(flame->parents[child], i);
            CHECK_EQ(flame->depths[child], flame->depths[i] + 1);
            if (before && !((flame->flags[before] | flame->flags[child]) & FLAME_IS_OTHER))
                CHECK(flame_magnitude(flame_total(flame, 0, before)) >= flame_magnitude(flame_total(flame, 0, child)));
            total += flame_total(flame, 0, child);
            before = child;
        }
        CHECK_EQ(total, flame_total(flame, 0, i));
    }
}

/* --- a story: profiles by chance, and a plain list of what they hold --- */

enum { N_SERVICES = 3, N_INSTANCES = 3, N_PATHS = 14, N_SPANS = 20, MAX_TEXT = 2048 };

struct record {
    uint32_t profile, service, instance, thread, path; /* thread 0 = none */
    uint32_t span;                                     /* the first byte of its id, and of the trace's; 0 = none */
    int64_t start_ns, value, count;
};

struct story {
    struct store_sample *sample;
    struct engine *engine;
    uint64_t state;
    int64_t now_ns;
    bool is_level, has_negative;
    uint32_t n_profiles;
    VEC(struct record) records;
};

static const char *const paths[N_PATHS] = { "main",
                                            "main;parse",
                                            "main;parse;read",
                                            "main;parse;read;copy",
                                            "main;render",
                                            "main;render;copy",
                                            "main;parse;parse",
                                            "main;parse;parse;read",
                                            "idle",
                                            "idle;wait",
                                            "main;render;draw;line;copy",
                                            "main;render;draw;text;copy",
                                            "main;render;draw;text",
                                            "-" };

static uint32_t below(struct story *story, uint32_t limit)
{
    story->state += 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash_mix64(story->state) % limit);
}

static void write_one(struct story *story)
{
    /* Services whose values cancel each other out are another matter: that shows only when they are one tree. */
    struct record base = { .service = story->has_negative ? 0 : below(story, N_SERVICES),
                           .instance = below(story, N_INSTANCES) };
    char service[16], labels[32], samples[MAX_TEXT] = "";
    uint32_t n = 1 + below(story, 5);
    int64_t late_ns = below(story, 4) ? 0 : (int64_t)below(story, 5 * 3600) * CLOCK_NS_PER_SECOND;
    struct store_sample_profile profile = { .start_ns = story->now_ns - late_ns,
                                            .service = service,
                                            .labels = labels,
                                            .types = story->is_level ? "inuse_objects/count inuse_space/bytes" : NULL,
                                            .samples = samples };
    struct error err;

    base.profile = story->n_profiles++;
    snprintf(service, sizeof(service), "s%u", base.service);
    snprintf(labels, sizeof(labels), "instance=i%u", base.instance);
    for (uint32_t i = 0; i < n; i++) {
        struct record *record = VEC_PUSH(&story->records, 1 << 20, &err);
        char thread[32] = "", link[16] = "";

        CHECK(record);
        *record = base;
        record->start_ns = profile.start_ns;
        record->thread = below(story, 8) ? 0 : 1;
        record->path = below(story, N_PATHS);
        record->count = 1 + below(story, 9);
        record->value = (story->has_negative && below(story, 3) == 0 ? -1 : 1) * record->count * 10000000;
        if (record->thread)
            snprintf(thread, sizeof(thread), " {thread=t%u}", record->thread);
        record->span = below(story, 3) ? 0 : 1 + below(story, N_SPANS);
        if (record->span)
            snprintf(link, sizeof(link), " @%02x-%02x", record->span % 2, record->span);
        snprintf(samples + strlen(samples), sizeof(samples) - strlen(samples), "%s%s %lld %lld%s%s", i ? "|" : "",
                 paths[record->path], (long long)record->count, (long long)record->value, thread, link);
    }
    CHECK_EQ(store_sample_write_as(story->sample, NULL, &profile, 1).n_written, 1);
}

/* --- asking, and the same of the list --- */

struct asked {
    uint32_t service, instance, thread; /* UINT32_MAX = any */
    uint32_t span;                      /* 0 = any */
    int64_t from_ns, until_ns;
    char selector[128];
    uint8_t span_id[1][8];
    struct store_ids ids; /* query_of fills it in */
};

static struct asked choose(struct story *story)
{
    struct asked asked = { .service = UINT32_MAX, .instance = UINT32_MAX, .thread = UINT32_MAX, .selector = "{}" };
    int64_t length_s = below(story, 3) ? (int64_t)below(story, 6 * 3600) : 3600 * (int64_t)(1 + below(story, 30));

    asked.until_ns = story->now_ns + 1 - (int64_t)below(story, 4 * 3600) * CLOCK_NS_PER_SECOND;
    if (below(story, 2))
        asked.until_ns -= asked.until_ns % ((int64_t)3600 * CLOCK_NS_PER_SECOND);
    asked.from_ns = asked.until_ns - length_s * CLOCK_NS_PER_SECOND;
    asked.span = below(story, 4) ? 0 : 1 + below(story, N_SPANS);
    switch (below(story, 5)) {
    case 0:
        asked.service = below(story, N_SERVICES);
        snprintf(asked.selector, sizeof(asked.selector), "{service_name=\"s%u\"}", asked.service);
        break;
    case 1:
        asked.instance = below(story, N_INSTANCES);
        snprintf(asked.selector, sizeof(asked.selector), "{instance=\"i%u\"}", asked.instance);
        break;
    case 2:
        asked.thread = 1;
        snprintf(asked.selector, sizeof(asked.selector), "{thread=\"t1\"}");
        break;
    default: break;
    }
    return asked;
}

static bool matches(const struct asked *asked, const struct record *record)
{
    return record->start_ns >= asked->from_ns && record->start_ns < asked->until_ns &&
           (asked->service == UINT32_MAX || asked->service == record->service) &&
           (asked->instance == UINT32_MAX || asked->instance == record->instance) &&
           (asked->thread == UINT32_MAX || asked->thread == record->thread) &&
           (!asked->span || asked->span == record->span);
}

static void list_profile(const struct story *story, const struct asked *asked, struct batch *batch)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b);
    store_sample_types(b, STORE_SAMPLE_TYPES);
    for (size_t i = 0; i < story->records.n; i++) {
        const struct record *record = &story->records.items[i];
        int64_t values[] = { record->count, record->value };
        struct slice path = slice_from(paths[record->path]);

        if (matches(asked, record))
            builder_sample(b, store_sample_stack(b, slice_is(path, "-") ? SLICE("") : path), 0, 0, values, 0);
    }
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

static struct query query_of(const struct story *story, struct asked *asked, struct selector **selector)
{
    struct error err;

    CHECK_OK(selector_new(slice_from(asked->selector), selector, &err), &err);
    asked->span_id[0][0] = (uint8_t)asked->span;
    asked->ids = (struct store_ids){ .spans = asked->span_id, .n_spans = 1 };
    return (struct query){ .type = story->is_level ? SLICE("memory:inuse_space:bytes:inuse_space:bytes")
                                                   : SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                           .selector = *selector,
                           .from_ns = asked->from_ns,
                           .until_ns = asked->until_ns,
                           .ids = asked->span ? &asked->ids : NULL };
}

static uint32_t follow(const struct flame *from, uint32_t node, const struct flame *to)
{
    uint32_t parent;

    if (!node)
        return 0;
    parent = follow(from, from->parents[node], to);
    return flame_find_child(to, parent, flame_name(from, node));
}

/* Each node of the small tree has the total of the same path in the whole one. */
static void check_trimmed(const struct flame *small, const struct flame *whole, uint32_t max_nodes)
{
    uint32_t n = 0;

    check_order(small);
    CHECK_EQ(small->total[0], whole->total[0]);
    for (uint32_t i = 0; i < small->n_nodes; i++) {
        uint32_t same;

        if (small->flags[i] & FLAME_IS_OTHER)
            continue;
        n++;
        same = follow(small, i, whole);
        CHECK(i == 0 || same != 0);
        CHECK_EQ(small->self[i], whole->self[same]);
        CHECK_EQ(small->total[i], whole->total[same]);
    }
    CHECK_EQ(n, MIN(max_nodes, whole->n_nodes));
}

static void check_answer(struct story *story)
{
    struct asked asked = choose(story);
    AUTO(selector_freep) struct selector *selector = NULL;
    struct query query = query_of(story, &asked, &selector);
    AUTO(flame_freep) struct flame *got = NULL, *wanted = NULL, *small = NULL, *exported = NULL;
    struct buffer *got_text = store_sample_text(story->sample), *text = store_sample_text(story->sample);
    uint32_t type = 1, first = 0, max_nodes = 1 + below(story, 8);
    struct batch list, batch;
    struct query_facts facts;
    struct error err;

    batch_init(&list, NULL);
    batch_init(&batch, NULL);
    list_profile(story, &asked, &list);
    CHECK_OK(flame_new(&list.profiles[0], &type, 1, NULL, &wanted, &err), &err);
    CHECK_OK(engine_flame(story->engine, &query, 0, &got, &facts, &err), &err);
    check_order(got);
    /* Values that cancel each other out leave no trace in a profile, but their raw samples stay in sums. */
    print_flame(got, !story->has_negative, got_text);
    print_flame(wanted, !story->has_negative, text);
    if (list.profiles[0].n_samples) /* of nothing, how many raw samples there are is a matter of taste */
        CHECK_TEXT(buffer_slice(got_text), buffer_slice(text));
    CHECK_OK(engine_flame(story->engine, &query, max_nodes, &small, &facts, &err), &err);
    check_trimmed(small, got, max_nodes);
    CHECK_OK(engine_profile(story->engine, &query, &batch, &facts, &err), &err);
    if (batch.profiles[0].n_types) {
        buffer_clear(got_text);
        CHECK_OK(flame_new(&batch.profiles[0], &first, 1, NULL, &exported, &err), &err);
        print_flame(exported, !story->has_negative, got_text);
        CHECK_TEXT(buffer_slice(got_text), buffer_slice(text));
    }
    batch_done(&list);
    batch_done(&batch);
}

/* --- levels --- */

enum { MAX_SLOTS = 400 };

/* What the header promises (E2), from the list: for each five minutes the rows of each series. */
struct slot {
    int64_t slot;
    struct {
        uint32_t n_rows;
        double sums[N_PATHS];
    } series[N_SERVICES][N_INSTANCES];
    uint32_t last_profile; /* plus one; records of a profile stand together */
};

static struct slot *slot_of(struct slot *slots, uint32_t *n, int64_t number)
{
    for (uint32_t i = 0; i < *n; i++)
        if (slots[i].slot == number)
            return &slots[i];
    CHECK(*n < MAX_SLOTS);
    slots[*n] = (struct slot){ .slot = number };
    return &slots[(*n)++];
}

static void average(const struct story *story, const struct asked *asked, double averages[N_PATHS])
{
    static struct slot slots[MAX_SLOTS];
    uint32_t n_slots = 0;

    for (size_t i = 0; i < story->records.n; i++) {
        const struct record *record = &story->records.items[i];
        struct slot *slot;

        if (!matches(asked, record))
            continue;
        slot = slot_of(slots, &n_slots, record->start_ns / (300 * CLOCK_NS_PER_SECOND));
        slot->series[record->service][record->instance].n_rows += slot->last_profile != record->profile + 1;
        slot->last_profile = record->profile + 1;
        slot->series[record->service][record->instance].sums[record->path] += (double)record->value;
    }
    for (uint32_t i = 0; i < n_slots * N_SERVICES * N_INSTANCES; i++) {
        const struct slot *slot = &slots[i / N_INSTANCES / N_SERVICES];
        uint32_t service = i / N_INSTANCES % N_SERVICES, instance = i % N_INSTANCES;
        uint32_t n_rows = slot->series[service][instance].n_rows;

        for (uint32_t path = 0; n_rows && path < N_PATHS; path++)
            averages[path] += slot->series[service][instance].sums[path] / n_rows / n_slots;
    }
}

static uint32_t find_path(const struct flame *flame, const char *path)
{
    struct slice rest = slice_from(path), name;
    uint32_t node = 0;

    if (strcmp(path, "-") == 0)
        return 0;
    while (rest.len && slice_next_part(&rest, ';', &name)) {
        node = flame_find_child(flame, node, name);
        if (!node)
            return UINT32_MAX;
    }
    return node;
}

/* Each service is rounded by itself, and so that none of its values is off by one or more. */
static void check_near(double got, double wanted)
{
    double difference = got - wanted;

    CHECK(difference < N_SERVICES + 0.1 && difference > -N_SERVICES - 0.1);
}

static void check_levels(struct story *story)
{
    struct asked asked = choose(story);
    AUTO(selector_freep) struct selector *selector = NULL;
    struct query query = query_of(story, &asked, &selector);
    AUTO(flame_freep) struct flame *flame = NULL, *exported = NULL;
    double averages[N_PATHS] = { 0 };
    struct query_facts facts;
    struct batch batch;
    uint32_t first = 0;
    struct error err;

    average(story, &asked, averages);
    CHECK_OK(engine_flame(story->engine, &query, 0, &flame, &facts, &err), &err);
    CHECK(facts.is_level && facts.is_averaged);
    batch_init(&batch, NULL);
    CHECK_OK(engine_profile(story->engine, &query, &batch, &facts, &err), &err);
    if (batch.profiles[0].n_types)
        CHECK_OK(flame_new(&batch.profiles[0], &first, 1, NULL, &exported, &err), &err);
    for (uint32_t path = 0; path < N_PATHS; path++) {
        uint32_t node = find_path(flame, paths[path]);

        check_near(node == UINT32_MAX ? 0 : (double)flame->self[node], averages[path]);
        if (!exported)
            continue;
        node = find_path(exported, paths[path]);
        check_near(node == UINT32_MAX ? 0 : (double)exported->self[node], averages[path]);
    }
    batch_done(&batch);
}

static void live(struct story *story, unsigned n_steps)
{
    struct engine_options options = { .store = story->sample->store, .n_threads = 2 };
    struct error err;

    clock_fake_set(story->now_ns);
    CHECK_OK(engine_new(&options, &story->engine, &err), &err);
    for (unsigned step = 0; step < n_steps; step++) {
        if (below(story, 6))
            for (unsigned i = 0; i < 6; i++)
                write_one(story);
        else {
            story->now_ns += (int64_t)below(story, below(story, 2) ? 9 * 3600 : 700) * CLOCK_NS_PER_SECOND;
            clock_fake_set(story->now_ns);
            store_sample_maintain(story->sample);
        }
        if (story->is_level)
            check_levels(story);
        else
            check_answer(story);
    }
    engine_free(story->engine);
    VEC_DONE(&story->records);
}

CONFORMANCE(engine_answers_as_a_plain_list_would)
{
    for (uint64_t seed = 1; seed <= test_times(6); seed++) {
        struct story story = { .sample = sample, .state = seed * 77, .now_ns = store_sample_time("15T12:00") };
        struct error err;

        story.has_negative = seed % 6 == 4;
        story.is_level = seed % 6 == 5 || seed % 6 == 0;
        live(&story, 40);
        store_sample_close(sample);
        CHECK_OK(fs_remove_tree(sample->path, &err), &err);
        store_sample_open(sample);
    }
}

static void check_totals(struct engine *engine, const struct query *query, int64_t wanted)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    struct query_facts facts;
    struct batch batch;
    struct error err;

    CHECK_OK(engine_flame(engine, query, 0, &flame, &facts, &err), &err);
    CHECK_EQ(flame_total(flame, 0, 0), wanted);
    batch_init(&batch, NULL);
    CHECK_OK(engine_profile(engine, query, &batch, &facts, &err), &err);
    CHECK_EQ(profile_total(&batch.profiles[0], 0), wanted);
    batch_done(&batch);
}

/* Of four slots on three days each stack has its part in one to three: by itself, none would be rounded to what it is. */
CONFORMANCE(engine_loses_no_small_levels_by_rounding)
{
    struct engine_options options = { .store = sample->store };
    AUTO(engine_freep) struct engine *engine = NULL;
    struct query query = { .type = SLICE("memory:inuse_objects:count::"),
                           .from_ns = store_sample_time("13T00:00"),
                           .until_ns = store_sample_time("16T00:00") };
    const char *types = "inuse_objects/count";
    struct error err;

    STORE_SAMPLE_WRITE(sample, { .at = "13T11:00", .service = "api", .types = types, .samples = "main 1|main;a 1" },
                       { .at = "14T11:00", .service = "api", .types = types, .samples = "main 1|main;b 1" },
                       { .at = "14T12:00", .service = "api", .types = types, .samples = "main;c 1|main;d 1" },
                       { .at = "15T11:00", .service = "api", .types = types, .samples = "main;e 1|main;f 1" });
    CHECK_OK(engine_new(&options, &engine, &err), &err);
    check_totals(engine, &query, 2);
    query.filter.hide = SLICE("nothing");
    check_totals(engine, &query, 2);
}

/* One instance sends each quarter of a minute, another once: what it has counts as much as what the first has on average. */
CONFORMANCE(engine_averages_levels_of_each_series_by_itself)
{
    struct engine_options options = { .store = sample->store };
    AUTO(engine_freep) struct engine *engine = NULL;
    struct query query = { .type = SLICE("memory:inuse_objects:count::"),
                           .from_ns = store_sample_time("15T00:00"),
                           .until_ns = store_sample_time("16T00:00") };
    const char *types = "inuse_objects/count";
    struct error err;

    for (unsigned i = 0; i < 20; i++)
        STORE_SAMPLE_WRITE(sample, { .start_ns = store_sample_time("15T11:00") + i * 15 * CLOCK_NS_PER_SECOND,
                                     .service = "api",
                                     .labels = "instance=often",
                                     .types = types,
                                     .samples = i % 2 ? "main 1000|main;a 7" : "main 1000" });
    STORE_SAMPLE_WRITE(
        sample, { .at = "15T11:02", .service = "api", .labels = "instance=once", .types = types, .samples = "b 5" },
        { .at = "15T11:02", .service = "web", .labels = "instance=two", .types = types, .samples = "c 3" });
    CHECK_OK(engine_new(&options, &engine, &err), &err);
    check_totals(engine, &query, 1003 + 5 + 3 + 1); /* 1003.5, rounded up */
    clock_fake_set(store_sample_time("15T13:00"));
    store_sample_maintain(sample);
    check_totals(engine, &query, 1003 + 5 + 3 + 1);
    query.filter.hide = SLICE("nothing");
    check_totals(engine, &query, 1003 + 5 + 3 + 1);
    query.filter = (struct filter_spec){ .tag_focus = SLICE("instance=^o") };
    check_totals(engine, &query, 1003 + 5 + 1);
}

/* --- limits --- */

static struct query ask_all(struct store_sample *sample)
{
    return (struct query){ .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                           .from_ns = store_sample_time("15T00:00"),
                           .until_ns = store_sample_time("15T23:00") };
}

CONFORMANCE(engine_gives_up_when_it_must)
{
    struct engine_options options = { .store = sample->store, .query_bytes = 1 };
    AUTO(engine_freep) struct engine *engine = NULL;
    struct query query = ask_all(sample);
    atomic_bool is_cancelled = true;
    struct query_facts facts;
    struct flame *flame;
    struct error err;

    STORE_SAMPLE_WRITE(sample, { .at = "15T11:00", .service = "api", .samples = "main;work 1 10000000" });
    CHECK_OK(engine_new(&options, &engine, &err), &err);
    CHECK_ERROR(engine_flame(engine, &query, 0, &flame, &facts, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "--query-memory");
    query.is_cancelled = &is_cancelled;
    CHECK_ERROR(engine_flame(engine, &query, 0, &flame, &facts, &err), &err, ERR_CANCELLED);
    query.is_cancelled = NULL;
    query.deadline_mono_ns = 1;
    CHECK_ERROR(engine_flame(engine, &query, 0, &flame, &facts, &err), &err, ERR_TIMEOUT);
    CHECK_HAS(err.text, "ask for less");
}

/* What is read comes to nothing, so no sink is asked: the reading must ask by itself. */
static void check_gives_up_early(struct store_sample *sample, const struct query *given)
{
    struct engine_options options = { .store = sample->store };
    AUTO(engine_freep) struct engine *engine = NULL;
    struct query query = *given;
    atomic_bool is_cancelled = false;
    struct query_facts facts;
    struct flame *flame;
    struct error err;

    CHECK_OK(engine_new(&options, &engine, &err), &err);
    query.is_cancelled = &is_cancelled;
    CHECK_OK(engine_flame(engine, &query, 0, &flame, &facts, &err), &err);
    CHECK_EQ(facts.n_rows, 0);
    flame_free(flame);
    is_cancelled = true;
    CHECK_ERROR(engine_flame(engine, &query, 0, &flame, &facts, &err), &err, ERR_CANCELLED);
}

CONFORMANCE(engine_gives_up_where_nothing_is_found)
{
    static const uint8_t trace[1][16] = { { 0xee } };
    struct store_ids ids = { .traces = trace, .n_traces = 1 };
    AUTO(selector_freep) struct selector *selector = NULL;
    struct query by_trace = ask_all(sample), by_label = ask_all(sample);
    struct error err;

    STORE_SAMPLE_WRITE(sample, { .at = "15T11:00", .service = "api", .samples = "main 1 10000000 {thread=t1} @aa-01" });
    CHECK_OK(selector_new(SLICE("{thread=\"t2\"}"), &selector, &err), &err);
    by_trace.ids = &ids;
    by_label.selector = selector;
    check_gives_up_early(sample, &by_trace);
    check_gives_up_early(sample, &by_label);
    store_sample_pass(sample, 4);
    check_gives_up_early(sample, &by_trace);
    check_gives_up_early(sample, &by_label);
}

struct asking {
    struct engine *engine;
    struct store_sample *sample;
};

static int ask_flame(void *context, struct error *err)
{
    struct asking *asking = context;
    struct query query = ask_all(asking->sample);
    AUTO(flame_freep) struct flame *flame = NULL;
    struct query_facts facts;

    return engine_flame(asking->engine, &query, 3, &flame, &facts, err);
}

static int ask_profile(void *context, struct error *err)
{
    struct asking *asking = context;
    struct query query = ask_all(asking->sample);
    struct query_facts facts;
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    result = engine_profile(asking->engine, &query, &batch, &facts, err);
    batch_done(&batch);
    return result;
}

CONFORMANCE(engine_survives_failing_allocations)
{
    struct engine_options options = { .store = sample->store, .n_threads = 1 };
    struct asking asking = { .sample = sample };
    struct error err;

    STORE_SAMPLE_WRITE(sample,
                       { .at = "15T10:00", .service = "api", .samples = "main;work 1 10000000|main 1 20000000" },
                       { .at = "15T11:00", .service = "web", .samples = "main;work;deep 1 10000000|- 1 20000000" });
    CHECK_OK(engine_new(&options, &asking.engine, &err), &err);
    test_each_allocation_failing(ask_flame, &asking);
    test_each_allocation_failing(ask_profile, &asking);
    engine_free(asking.engine);
}

CONFORMANCE(engine_drops_trees_beyond_its_memory_and_makes_them_again)
{
    struct engine_options options = { .store = sample->store, .cache_bytes = 1 };
    AUTO(engine_freep) struct engine *engine = NULL;
    struct query query = ask_all(sample);
    struct query_facts facts;
    struct error err;

    STORE_SAMPLE_WRITE(sample, { .at = "15T11:00", .service = "api", .samples = "main;work 1 10000000" });
    CHECK_OK(engine_new(&options, &engine, &err), &err);
    for (unsigned i = 0; i < 3; i++) {
        AUTO(flame_freep) struct flame *flame = NULL;

        CHECK_OK(engine_flame(engine, &query, 0, &flame, &facts, &err), &err);
        CHECK_EQ(flame->n_nodes, 3);
        CHECK_EQ(flame->total[0], 10000000);
        CHECK_TEXT(flame_name(flame, 2), "work");
    }
}

/* --- many at a time --- */

struct asker {
    struct thread thread;
    struct engine *engine;
    struct store_sample *sample;
    unsigned n;
};

/* Tables, filters and diffs, which see at least as much. */
static void check_others(struct asker *asker, int64_t least)
{
    struct query query = ask_all(asker->sample);
    AUTO(top_freep) struct top *top = NULL;
    AUTO(diff_freep) struct diff *diff = NULL;
    struct query_facts facts[2];
    struct error err;

    query.filter.focus = SLICE("f1");
    query.filter.ignore = SLICE("^g2");
    CHECK_OK(engine_top(asker->engine, &query, TOP_BY_SELF, 3, &top, facts, &err), &err);
    CHECK(facts[0].whole >= least && flame_total(top->flame, 0, 0) <= facts[0].whole);
    query.filter = (struct filter_spec){ 0 };
    CHECK_OK(engine_diff(asker->engine, &query, &query, &(struct diff_options){ .max_nodes = 4 }, &diff, facts, &err),
             &err);
    CHECK(diff->before.total >= least && diff->after.total >= diff->before.total);
}

static void run_asker(struct thread *thread, void *context)
{
    struct asker *asker = context;
    struct query query = ask_all(asker->sample);
    int64_t last = 0;

    while (!thread_is_stopping(thread) && asker->n < 1000) {
        AUTO(flame_freep) struct flame *flame = NULL;
        struct query_facts facts;
        struct error err;

        CHECK_OK(engine_flame(asker->engine, &query, 2 + asker->n % 4, &flame, &facts, &err), &err);
        /* What was there stays, and each profile is seen whole. */
        CHECK(flame->total[0] >= last && flame->total[0] % 30000000 == 0);
        last = flame->total[0];
        check_others(asker, last);
        asker->n++;
    }
}

CONFORMANCE(engine_answers_many_askers_beside_a_writer)
{
    struct engine_options options = { .store = sample->store, .n_threads = 2, .cache_bytes = 2000 };
    AUTO(engine_freep) struct engine *engine = NULL;
    struct asker askers[4];
    char samples[128], service[16];
    struct error err;

    CHECK_OK(engine_new(&options, &engine, &err), &err);
    for (unsigned i = 0; i < ARRAY_LEN(askers); i++) {
        askers[i] = (struct asker){ .engine = engine, .sample = sample };
        CHECK_OK(thread_start(&askers[i].thread, "asker", run_asker, &askers[i], &err), &err);
    }
    for (unsigned i = 0; i < 120; i++) {
        snprintf(service, sizeof(service), "s%u", i % 5);
        snprintf(samples, sizeof(samples), "main;f%u 1 10000000|main;f%u;g%u 2 20000000", i % 7, i % 11, i);
        STORE_SAMPLE_WRITE(sample, { .at = i % 2 ? "15T10:00" : "15T11:30", .service = service, .samples = samples });
        if (i % 40 == 39)
            store_sample_compact(sample);
    }
    for (unsigned i = 0; i < ARRAY_LEN(askers); i++) {
        thread_stop(&askers[i].thread);
        CHECK(askers[i].n > 0);
    }
}
