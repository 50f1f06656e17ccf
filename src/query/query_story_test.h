// SPDX-License-Identifier: Apache-2.0
/* A story by chance for tests of answers: two tenants send profiles, some late, hours close, things are deleted. A plain
 * list has every sample that should be there.
 *
 * Labels of series are service_name, instance, zone (not of instance 0) and route, which splits profiles; pid is one of
 * rows, thread one of samples. Some samples have links to spans, some of these to a trace alone; every second profile has
 * an id. */
#pragma once

#include "query/engine.h"
#include "store/store_sample_test.h"

struct query_story_record {
    uint32_t tenant;
    uint32_t profile;                               /* counts up */
    uint32_t service, instance, pid, route, thread; /* pid, route, thread: 0 = none */
    uint32_t trace, span;                           /* the first bytes of their ids; 0 = none */
    const char *stack;                              /* as store_sample_stack has it, "-" = none; NULL = no sample */
    int64_t start_ns, duration_ns, value, count;
};

struct query_story {
    struct store_sample *sample;
    struct engine *engine;
    const struct latenames *late; /* of the engine */
    uint64_t state;
    int64_t now_ns;
    bool is_level;
    uint32_t n_profiles;
    VEC(struct query_story_record) records; /* those of a profile together */
};

struct query_story_text {
    char text[32];
};

enum { QUERY_STORY_NAMES = 6 };
static const char *const query_story_names[QUERY_STORY_NAMES] = { "service_name", "instance", "zone",
                                                                  "route",        "pid",      "thread" };
/* With recursion, inlined functions, and functions of one name in several files and binaries. */
static const char *const query_story_stacks[] = { "main",
                                                  "main;parse",
                                                  "main;parse;read",
                                                  "main;parse;parse;read",
                                                  "main;read;parse;read",
                                                  "idle",
                                                  "idle;wait#libc.so",
                                                  "main;parse+scan",
                                                  "main;scan",
                                                  "main;parse+scan;read#libio.so",
                                                  "main;render+draw+copy;scan",
                                                  "main;render;copy",
                                                  "main;render;copy@a.c;copy@b.c",
                                                  "idle;copy@a.c",
                                                  "main;~1f#libx.so",
                                                  "main;~2f#libx.so;read",
                                                  "-" };
static const char *const query_story_tenants[] = { STORE_TENANT_DEFAULT, "other" };

static inline uint32_t query_story_below(struct query_story *story, uint32_t limit)
{
    story->state += 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash_mix64(story->state) % limit);
}

/* The value of label `name`, a place in query_story_names. */
static inline struct query_story_text query_story_label(const struct query_story_record *record, uint32_t name)
{
    struct query_story_text text = { "" };

    if (name == 0)
        snprintf(text.text, sizeof(text.text), "s%u", record->service);
    else if (name == 1)
        snprintf(text.text, sizeof(text.text), "i%u", record->instance);
    else if (name == 2 && record->instance)
        snprintf(text.text, sizeof(text.text), "z%u", record->instance % 2);
    else if (name == 3 && record->route)
        snprintf(text.text, sizeof(text.text), "/r%u", record->route);
    else if (name == 4 && record->pid)
        snprintf(text.text, sizeof(text.text), "%u", record->pid);
    else if (name == 5 && record->thread)
        snprintf(text.text, sizeof(text.text), "t%u", record->thread);
    return text;
}

static inline bool query_story_is_same_series(const struct query_story_record *a, const struct query_story_record *b)
{
    return a->service == b->service && a->instance == b->instance && a->route == b->route;
}

/* Whether two records belong to one row: what a profile has of one series. */
static inline bool query_story_is_same_row(const struct query_story_record *a, const struct query_story_record *b)
{
    return a->profile == b->profile && a->route == b->route;
}

static inline void query_story_add_link(struct query_story *story, struct query_story_record *record, char *out,
                                        size_t space)
{
    if (query_story_below(story, 2))
        return;
    record->trace = 1 + query_story_below(story, 3);
    record->span = query_story_below(story, 5);
    snprintf(out, space, " @%02x-%02x", record->trace, record->span);
}

static inline void query_story_add_sample(struct query_story *story, const struct query_story_record *base, char *out,
                                          size_t space)
{
    struct query_story_record *record;
    char labels[96] = "";
    struct error err;

    record = VEC_PUSH(&story->records, 1 << 20, &err);
    CHECK(record);
    *record = *base;
    record->thread = query_story_below(story, 3) ? 0 : 1 + query_story_below(story, 2);
    record->route = query_story_below(story, 4) ? 0 : 1 + query_story_below(story, 2);
    record->count = 1 + query_story_below(story, 9);
    record->value = record->count * (story->is_level ? 4096 : 10000000);
    if (record->thread || record->route)
        snprintf(labels, sizeof(labels), " {%s%s%s%s%s}", record->thread ? "thread=" : "",
                 query_story_label(record, 5).text, record->thread && record->route ? ";" : "",
                 record->route ? "route=" : "", query_story_label(record, 3).text);
    record->stack = query_story_stacks[query_story_below(story, ARRAY_LEN(query_story_stacks))];
    snprintf(out, space, "%s %lld %lld%s", record->stack, (long long)record->count, (long long)record->value, labels);
    query_story_add_link(story, record, out + strlen(out), space - strlen(out));
}

static inline void query_story_write(struct query_story *story)
{
    struct query_story_record base = { .tenant = query_story_below(story, 4) == 0,
                                       .profile = ++story->n_profiles,
                                       .service = query_story_below(story, 3),
                                       .instance = query_story_below(story, 3),
                                       .pid = query_story_below(story, 3) ? 100 + query_story_below(story, 2) : 0,
                                       .duration_ns = (10 + query_story_below(story, 50)) * CLOCK_NS_PER_SECOND };
    int64_t late_ns =
        query_story_below(story, 4) ? 0 : (int64_t)query_story_below(story, 5 * 3600) * CLOCK_NS_PER_SECOND;
    char service[32], labels[128], samples[1024] = "";
    struct store_sample_profile profile = { .service = service,
                                            .labels = labels,
                                            .duration_ns = base.duration_ns,
                                            .types = story->is_level ? "inuse_objects/count inuse_space/bytes" : NULL,
                                            .samples = samples };
    uint32_t n = query_story_below(story, 6);
    struct error err;

    profile.id = base.profile % 2 ? base.profile : 0;
    base.start_ns = profile.start_ns = story->now_ns - late_ns;
    snprintf(service, sizeof(service), "s%u", base.service);
    snprintf(labels, sizeof(labels), "instance=i%u", base.instance);
    if (base.instance)
        snprintf(labels + strlen(labels), sizeof(labels) - strlen(labels), ";zone=z%u", base.instance % 2);
    if (base.pid)
        snprintf(labels + strlen(labels), sizeof(labels) - strlen(labels), ";pid=#%u", base.pid);
    for (uint32_t i = 0; i < n; i++) {
        size_t len = strlen(samples);

        if (i)
            samples[len++] = '|';
        query_story_add_sample(story, &base, samples + len, sizeof(samples) - len);
    }
    if (n == 0) { /* a profile without samples is a row all the same */
        struct query_story_record *record = VEC_PUSH(&story->records, 1 << 20, &err);

        CHECK(record);
        *record = base;
        profile.samples = NULL;
    }
    CHECK_EQ(store_sample_write_as(story->sample, query_story_tenants[base.tenant], &profile, 1).n_written, 1);
}

/* --- asking --- */

struct query_story_asked {
    uint32_t tenant;
    uint32_t name; /* of the label that is asked for; QUERY_STORY_NAMES = none */
    bool is_not;
    char value[32];
    int64_t from_ns, until_ns;
    struct selector *selector; /* query_story_done frees it */
    /* What is asked of ids; of each kind one, or none. */
    bool has_span, has_trace, has_profile, is_of_span;
    uint8_t span[1][8], trace[1][16];
    uint64_t profile[1][2];
    struct store_ids ids;
    /* Filters, of those below; 0 = none. query_story_choose gives none. */
    uint32_t tag_focus, tag_ignore, focus;
};

static inline bool query_story_asks_ids(const struct query_story_asked *asked)
{
    return asked->has_span || asked->has_trace || asked->has_profile || asked->is_of_span;
}

/* The ids of one of the records, now and then. */
static inline void query_story_choose_ids(struct query_story *story, struct query_story_asked *asked)
{
    const struct query_story_record *record;

    if (!story->records.n || query_story_below(story, 3))
        return;
    record = &story->records.items[query_story_below(story, (uint32_t)story->records.n)];
    asked->has_span = query_story_below(story, 3) == 0;
    asked->has_trace = query_story_below(story, 3) == 0;
    asked->has_profile = query_story_below(story, 4) == 0;
    asked->is_of_span = query_story_below(story, 4) == 0;
    asked->span[0][0] = (uint8_t)record->span;
    asked->trace[0][0] = (uint8_t)record->trace;
    asked->profile[0][0] = record->profile;
}

static inline bool query_story_has_ids(const struct query_story_asked *asked, const struct query_story_record *record)
{
    bool is_linked = record->trace || record->span;

    return (!asked->has_span || (is_linked && record->span == asked->span[0][0])) &&
           (!asked->has_trace || (is_linked && record->trace == asked->trace[0][0])) &&
           (!asked->has_profile || (record->profile % 2 && record->profile == asked->profile[0][0])) &&
           (!asked->is_of_span || record->span);
}

/* Filters by labels: samples match of which the value of the label has the part in it. */
static const struct query_story_tag {
    const char *text;
    uint32_t name;
    const char *part;
} query_story_tags[] = {
    { NULL, 0, NULL },           { "thread=t1", 5, "t1" }, { "thread:t", 5, "t" },         { "route=1$,2$", 3, "/r" },
    { "instance=i[0]", 1, "0" }, { "^zone:z1", 2, "z1" },  { "service_name=s1", 0, "s1" }, { "pid=101", 4, "101" },
};
/* Filters by functions: those that have it in their name, file or binary. */
static const char *const query_story_focuses[] = { NULL, "parse", "scan", "libx", "b\\.c", "read" };
static const char *const query_story_focus_parts[] = { NULL, "parse", "scan", "libx", "b.c", "read" };

static inline struct query_story_asked query_story_choose(struct query_story *story)
{
    struct query_story_asked asked = { .tenant = query_story_below(story, 5) == 0, .name = QUERY_STORY_NAMES };
    int64_t hour_ns = 3600 * CLOCK_NS_PER_SECOND, length_s;
    char text[128] = "{}";
    struct error err;

    length_s =
        1 + (query_story_below(story, 3) ? query_story_below(story, 6 * 3600) : query_story_below(story, 108000));
    asked.until_ns = story->now_ns + 1 - (int64_t)query_story_below(story, 4 * 3600) * CLOCK_NS_PER_SECOND;
    if (query_story_below(story, 2))
        asked.until_ns -= asked.until_ns % hour_ns;
    asked.from_ns = asked.until_ns - length_s * CLOCK_NS_PER_SECOND;
    if (story->records.n && query_story_below(story, 2)) {
        const struct query_story_record *record =
            &story->records.items[query_story_below(story, (uint32_t)story->records.n)];

        asked.name = query_story_below(story, QUERY_STORY_NAMES);
        asked.is_not = query_story_below(story, 4) == 0;
        snprintf(asked.value, sizeof(asked.value), "%s", query_story_label(record, asked.name).text);
        snprintf(text, sizeof(text), "{%s%s\"%s\"}", query_story_names[asked.name], asked.is_not ? "!=" : "=",
                 asked.value);
    }
    CHECK_OK(selector_new(slice_from(text), &asked.selector, &err), &err);
    query_story_choose_ids(story, &asked);
    return asked;
}

static inline void query_story_done(struct query_story_asked *asked)
{
    selector_free(TAKE(asked->selector));
}

static inline void query_story_choose_filter(struct query_story *story, struct query_story_asked *asked)
{
    if (query_story_below(story, 3) == 0)
        asked->tag_focus = query_story_below(story, ARRAY_LEN(query_story_tags));
    if (query_story_below(story, 3) == 0)
        asked->tag_ignore = query_story_below(story, ARRAY_LEN(query_story_tags));
    if (query_story_below(story, 3) == 0)
        asked->focus = query_story_below(story, ARRAY_LEN(query_story_focuses));
}

/* Whether a sample matches a filter by labels; what is no sample does not. */
static inline bool query_story_has_tag(uint32_t tag, const struct query_story_record *record)
{
    const struct query_story_tag *wanted = &query_story_tags[tag];

    return record->stack && strstr(query_story_label(record, wanted->name).text, wanted->part);
}

/* What the filter by functions leaves of a record. */
static inline int64_t query_story_value(const struct query_story_asked *asked, const struct query_story_record *record)
{
    return !asked->focus || (record->stack && strstr(record->stack, query_story_focus_parts[asked->focus]))
               ? record->value
               : 0;
}

static inline bool query_story_matches(const struct query_story_asked *asked, const struct query_story_record *record)
{
    bool is;

    if ((asked->tag_focus && !query_story_has_tag(asked->tag_focus, record)) ||
        (asked->tag_ignore && query_story_has_tag(asked->tag_ignore, record)))
        return false;
    if (record->tenant != asked->tenant || record->start_ns < asked->from_ns || record->start_ns >= asked->until_ns)
        return false;
    if (!query_story_has_ids(asked, record))
        return false;
    if (asked->name == QUERY_STORY_NAMES)
        return true;
    is = strcmp(query_story_label(record, asked->name).text, asked->value) == 0;
    return is != asked->is_not;
}

/* The query borrows what is asked. */
static inline struct query query_story_query(const struct query_story *story, struct query_story_asked *asked)
{
    asked->ids = (struct store_ids){ .spans = asked->span,
                                     .traces = asked->trace,
                                     .profiles = (const uint8_t(*)[16])asked->profile,
                                     .n_spans = asked->has_span,
                                     .n_traces = asked->has_trace,
                                     .n_profiles = asked->has_profile,
                                     .is_of_span = asked->is_of_span };
    return (struct query){ .tenant = slice_from(query_story_tenants[asked->tenant]),
                           .type = story->is_level ? SLICE("memory:inuse_space:bytes:inuse_space:bytes")
                                                   : SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                           .selector = asked->selector,
                           .filter = { .focus = slice_from(query_story_focuses[asked->focus]),
                                       .tag_focus = slice_from(query_story_tags[asked->tag_focus].text),
                                       .tag_ignore = slice_from(query_story_tags[asked->tag_ignore].text) },
                           .from_ns = asked->from_ns,
                           .until_ns = asked->until_ns,
                           .ids = query_story_asks_ids(asked) ? &asked->ids : NULL };
}

static inline void query_story_delete(struct query_story *story)
{
    struct query_story_asked asked = query_story_choose(story);
    struct store_query query = { .tenant = slice_from(query_story_tenants[asked.tenant]),
                                 .selector = asked.selector,
                                 .from_ns = asked.from_ns,
                                 .until_ns = asked.until_ns };
    uint32_t n_days;
    struct error err;
    size_t n = 0;

    asked.has_span = asked.has_trace = asked.has_profile = asked.is_of_span = false;
    CHECK_OK(store_delete(story->sample->store, &query, &n_days, &err), &err);
    for (size_t i = 0; i < story->records.n; i++)
        if (!query_story_matches(&asked, &story->records.items[i]))
            story->records.items[n++] = story->records.items[i];
    story->records.n = n;
    query_story_done(&asked);
}

/* Lives through `n_steps` of something happening, and checks after each. */
static inline void query_story_live(struct query_story *story, unsigned n_steps,
                                    void (*check)(struct query_story *story))
{
    struct engine_options options = { .store = story->sample->store, .late = story->late, .n_threads = 2 };
    struct error err;

    clock_fake_set(story->now_ns);
    CHECK_OK(engine_new(&options, &story->engine, &err), &err);
    for (unsigned step = 0; step < n_steps; step++) {
        uint32_t what = query_story_below(story, 24);

        if (what == 0)
            query_story_delete(story);
        else if (what == 1)
            store_sample_compact(story->sample);
        else if (what < 6) {
            story->now_ns += (int64_t)query_story_below(story, what < 4 ? 9 * 3600 : 700) * CLOCK_NS_PER_SECOND;
            clock_fake_set(story->now_ns);
            store_sample_maintain(story->sample);
        } else
            for (unsigned i = 0; i < 6; i++)
                query_story_write(story);
        check(story);
    }
    engine_free(TAKE(story->engine));
    VEC_DONE(&story->records);
}

/* Several stories (test_times), each in an empty store; of every second one the values are levels. */
static inline void query_story_run_with(struct store_sample *sample, unsigned n_stories, unsigned n_steps,
                                        const struct latenames *late, void (*check)(struct query_story *story))
{
    for (uint64_t seed = 1; seed <= test_times(n_stories); seed++) {
        struct query_story story = { .sample = sample,
                                     .late = late,
                                     .state = seed * 977,
                                     .now_ns = store_sample_time("15T12:00"),
                                     .is_level = seed % 2 == 0 };
        struct error err;

        query_story_live(&story, n_steps, check);
        store_sample_close(sample);
        CHECK_OK(fs_remove_tree(sample->path, &err), &err);
        store_sample_open(sample);
    }
}

static inline void query_story_run(struct store_sample *sample, unsigned n_stories, unsigned n_steps,
                                   void (*check)(struct query_story *story))
{
    query_story_run_with(sample, n_stories, n_steps, NULL, check);
}
