// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 7: whatever is done in whatever order, answers are those of a plain list. Each
 * seed is another story of writing (early, late, again), deleting, closing hours, compacting and opening again. */
#include "store/store_sample_test.h"

enum { N_STEPS = 40, N_TENANTS = 2, N_SERVICES = 3, N_THREADS = 3, N_STACKS = 8 };

/* One sample of the list. */
struct record {
    uint32_t tenant, service, thread, stack; /* thread 0 = none */
    int64_t start_ns, value;
};

struct story {
    struct store_sample *sample;
    uint64_t state;
    int64_t now_ns;
    uint64_t next_id;
    VEC(struct record) records;
};

static const char *const tenants[N_TENANTS] = { "alice", "bob" };

static uint32_t below(struct story *story, uint32_t limit)
{
    story->state += 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash_mix64(story->state) % limit);
}

/* --- the list --- */

struct wanted {
    uint32_t tenant;
    int64_t from_ns, until_ns;
    uint32_t service, thread; /* UINT32_MAX = any; thread 0 = those without */
    char selector[64];
};

static struct wanted choose(struct story *story)
{
    struct wanted wanted = { .tenant = below(story, N_TENANTS),
                             .from_ns = INT64_MIN,
                             .until_ns = INT64_MAX,
                             .service = UINT32_MAX,
                             .thread = UINT32_MAX };

    if (below(story, 2)) {
        wanted.from_ns = story->now_ns - (int64_t)below(story, 48 * 60) * 60 * CLOCK_NS_PER_SECOND;
        wanted.until_ns = wanted.from_ns + (int64_t)below(story, 12 * 60) * 60 * CLOCK_NS_PER_SECOND;
    }
    switch (below(story, 4)) {
    case 0:
        wanted.service = below(story, N_SERVICES);
        snprintf(wanted.selector, sizeof(wanted.selector), "{service_name=\"s%u\"}", wanted.service);
        break;
    case 1:
        wanted.thread = below(story, N_THREADS);
        if (wanted.thread)
            snprintf(wanted.selector, sizeof(wanted.selector), "{thread=\"t%u\"}", wanted.thread);
        else
            snprintf(wanted.selector, sizeof(wanted.selector), "{thread=\"\"}");
        break;
    case 2:
        wanted.service = below(story, N_SERVICES);
        wanted.thread = 1;
        snprintf(wanted.selector, sizeof(wanted.selector), "{thread=~\"t[1]\", service_name=\"s%u\"}", wanted.service);
        break;
    default: break;
    }
    return wanted;
}

static bool matches(const struct wanted *wanted, const struct record *record)
{
    return record->tenant == wanted->tenant && record->start_ns >= wanted->from_ns &&
           record->start_ns < wanted->until_ns &&
           (wanted->service == UINT32_MAX || wanted->service == record->service) &&
           (wanted->thread == UINT32_MAX || wanted->thread == record->thread);
}

static void print_list(const struct story *story, const struct wanted *wanted, struct buffer *out)
{
    int64_t sums[N_STACKS] = { 0 };
    bool is_there[N_STACKS] = { 0 };

    for (size_t i = 0; i < story->records.n; i++) {
        const struct record *record = &story->records.items[i];

        if (matches(wanted, record)) {
            sums[record->stack] += record->value;
            is_there[record->stack] = true;
        }
    }
    for (uint32_t i = 0; i < N_STACKS; i++)
        if (is_there[i])
            buffer_printf(out, "[samples/count] f%u %lld\n", i, (long long)sums[i]);
}

/* --- the store --- */

static struct store_query query_of(const struct wanted *wanted, struct selector **selector)
{
    struct error err;

    *selector = NULL;
    if (wanted->selector[0])
        CHECK_OK(selector_new(slice_from(wanted->selector), selector, &err), &err);
    return (struct store_query){ .tenant = slice_from(tenants[wanted->tenant]),
                                 .selector = *selector,
                                 .from_ns = wanted->from_ns,
                                 .until_ns = wanted->until_ns };
}

static void check_answer(struct story *story)
{
    struct wanted wanted = choose(story);
    struct buffer *got = store_sample_text(story->sample), *list = store_sample_text(story->sample);
    AUTO(selector_freep) struct selector *selector = NULL;
    struct store_query query = query_of(&wanted, &selector);
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(store_read(story->sample->store, &query, &batch, &err), &err);
    store_sample_print_sums(&batch, got);
    batch_done(&batch);
    print_list(story, &wanted, list);
    CHECK_TEXT(buffer_slice(got), buffer_slice(list));
}

/* A profile with a few samples, now or late; now and then sent twice. */
static void write_some(struct story *story)
{
    uint32_t tenant = below(story, N_TENANTS), service = below(story, N_SERVICES), n = below(story, 5);
    int64_t late_ns = below(story, 3) ? 0 : (int64_t)below(story, 30 * 60) * 60 * CLOCK_NS_PER_SECOND;
    char samples[256] = "", name[16];
    struct store_sample_profile profile = { .start_ns = story->now_ns - late_ns,
                                            .service = name,
                                            .labels = below(story, 2) ? "zone=eu" : NULL,
                                            .types = "samples/count",
                                            .samples = n ? samples : NULL,
                                            .id = below(story, 2) ? story->next_id++ : 0 };
    struct error err;

    snprintf(name, sizeof(name), "s%u", service);
    for (uint32_t i = 0; i < n; i++) {
        struct record *record = VEC_PUSH(&story->records, 1 << 20, &err);
        char labels[32] = "";

        CHECK(record);
        *record = (struct record){ .tenant = tenant,
                                   .service = service,
                                   .thread = below(story, N_THREADS),
                                   .stack = below(story, N_STACKS),
                                   .start_ns = profile.start_ns,
                                   .value = (int64_t)below(story, 100) - 20 };
        if (record->thread)
            snprintf(labels, sizeof(labels), " {thread=t%u}", record->thread);
        snprintf(samples + strlen(samples), sizeof(samples) - strlen(samples), "%sf%u %lld%s", i ? "|" : "",
                 record->stack, (long long)record->value, labels);
    }
    CHECK_EQ(store_sample_write_as(story->sample, tenants[tenant], &profile, 1).n_written, 1);
    if (profile.id && below(story, 2))
        CHECK_EQ(store_sample_write_as(story->sample, tenants[tenant], &profile, 1).n_duplicate, 1);
}

static void delete_some(struct story *story)
{
    struct wanted wanted = choose(story);
    AUTO(selector_freep) struct selector *selector = NULL;
    struct store_query query = query_of(&wanted, &selector);
    struct error err;
    uint32_t n_days;
    size_t n = 0;

    CHECK_OK(store_delete(story->sample->store, &query, &n_days, &err), &err);
    for (size_t i = 0; i < story->records.n; i++)
        if (!matches(&wanted, &story->records.items[i]))
            story->records.items[n++] = story->records.items[i];
    story->records.n = n;
}

static void do_something(struct story *story)
{
    switch (below(story, 16)) {
    case 0: delete_some(story); break;
    case 1: store_sample_reopen(story->sample); break;
    case 2: store_sample_compact(story->sample); break;
    case 3:
    case 4:
    case 5:
        story->now_ns += (int64_t)(below(story, 2) ? below(story, 150) : below(story, 9)) * 60 * CLOCK_NS_PER_SECOND;
        clock_fake_set(story->now_ns);
        store_sample_maintain(story->sample);
        break;
    default: write_some(story); break;
    }
}

CONFORMANCE(answers_as_a_plain_list_would_whatever_happens)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct story story = { .sample = sample, .state = seed, .now_ns = store_sample_time("15T12:00"), .next_id = 1 };
        struct error err;

        clock_fake_set(story.now_ns);
        for (unsigned step = 0; step < N_STEPS; step++) {
            do_something(&story);
            check_answer(&story);
        }
        store_sample_verify(sample);
        VEC_DONE(&story.records);
        store_sample_close(sample);
        CHECK_OK(fs_remove_tree(sample->path, &err), &err);
        store_sample_open(sample);
    }
}
