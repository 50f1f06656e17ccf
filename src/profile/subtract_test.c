// SPDX-License-Identifier: Apache-2.0
#include "profile/subtract.h"

#include "profile/random_profile_test.h"

struct sample {
    const char *stack;
    int64_t alloc, inuse;
};

/* A heap profile: alloc_space counts from the start of the process, inuse_space is a level. */
static void heap_batch(struct batch *batch, int64_t time_ns, const struct sample *samples, uint32_t n)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct profile *profile;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_string(b, SLICE("a string that moves all ids along"));
    profile = builder_profile(b);
    profile->start_ns = time_ns;
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("alloc_space")),
                                         .unit = builder_string(b, SLICE("bytes")),
                                         .temporality = TEMPORALITY_CUMULATIVE });
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("inuse_space")),
                                         .unit = builder_string(b, SLICE("bytes")),
                                         .nature = VALUE_LEVEL });
    for (uint32_t i = 0; i < n; i++)
        builder_sample(b, letter_stack(b, samples[i].stack), 0, 0, (int64_t[]){ samples[i].alloc, samples[i].inuse },
                       0);
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

static void print(const struct profile *p, struct buffer *out)
{
    for (uint32_t i = 0; i < p->n_samples; i++) {
        uint32_t depth;
        const uint32_t *frames = tables_stack(p->tables, p->stacks[i], &depth);

        if (i)
            buffer_append_byte(out, ' ');
        while (depth > 0)
            letter_print_frame(p->tables, frames[--depth], out);
        buffer_printf(out, "=%lld/%lld", (long long)profile_values(p, 0)[i], (long long)profile_values(p, 1)[i]);
    }
}

static const char restart[] = "a counter fell, so the process restarted; the newer profile is the delta";

static void check(const struct sample *older, uint32_t n_older, const struct sample *newer, uint32_t n_newer,
                  const char *wanted, uint64_t restarts)
{
    AUTO(buffer_done) struct buffer text;
    struct batch a, b, out;
    struct error err;

    batch_init(&a, NULL);
    batch_init(&b, NULL);
    batch_init(&out, NULL);
    buffer_init(&text, 0);
    heap_batch(&a, 1000, older, n_older);
    heap_batch(&b, 1600, newer, n_newer);
    CHECK_OK(subtract_profiles(&a.profiles[0], &b.profiles[0], &out, &err), &err);
    CHECK_OK(batch_check(&out, &err), &err);
    print(&out.profiles[0], &text);
    CHECK_TEXT(buffer_slice(&text), wanted);
    CHECK_EQ(report_count(&out.report, restart), restarts);
    CHECK_EQ(out.profiles[0].start_ns, 1000);
    CHECK_EQ(out.profiles[0].duration_ns, 600);
    CHECK_EQ(out.profiles[0].types[0].temporality, TEMPORALITY_DELTA);
    CHECK_EQ(out.profiles[0].types[1].nature, VALUE_LEVEL);
    batch_done(&a);
    batch_done(&b);
    batch_done(&out);
}

TEST(subtract_takes_flows_apart_and_keeps_levels)
{
    static const struct sample older[] = { { "ab", 10, 5 }, { "ac", 20, 0 }, { "ad", 7, 7 } };
    static const struct sample newer[] = { { "ae", 3, 3 }, { "ab", 15, 2 }, { "ac", 20, 0 }, { "ad", 7, 4 } };

    check(older, 3, newer, 4, "ab=5/2 ad=0/4 ae=3/3", 0);
}

TEST(subtract_takes_a_fallen_counter_for_a_restart)
{
    static const struct sample older[] = { { "ab", 10, 5 }, { "ac", 20, 0 } };
    static const struct sample fell[] = { { "ab", 12, 5 }, { "ac", 19, 0 } };
    static const struct sample gone[] = { { "ab", 12, 5 } };

    check(older, 2, fell, 2, "ab=12/5 ac=19/0", 1);
    check(older, 2, gone, 1, "ab=12/5", 1);
}

TEST(subtract_minds_no_level_that_fell_or_is_gone)
{
    static const struct sample older[] = { { "ab", 10, 5 }, { "ac", 0, 9 } };
    static const struct sample newer[] = { { "ab", 10, 1 } };

    check(older, 2, newer, 1, "ab=0/1", 0);
    check(older, 0, newer, 1, "ab=10/1", 0);
    check(newer, 0, older, 0, "", 0);
}

TEST(subtract_needs_the_same_types)
{
    static const struct sample samples[] = { { "ab", 10, 5 } };
    struct batch a, b, out;
    struct error err;

    batch_init(&a, NULL);
    batch_init(&b, NULL);
    batch_init(&out, NULL);
    random_batch(&a, &(struct random_options){ .n_functions = 1, .n_frames = 1, .n_stacks = 1, .n_samples = 1 });
    heap_batch(&b, 0, samples, 1);
    CHECK_ERROR(subtract_profiles(&a.profiles[0], &b.profiles[0], &out, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "no values of 'alloc_space' in 'bytes'");
    batch_done(&a);
    batch_done(&b);
    batch_done(&out);
}

/* A profile, and the same with more in some rows: the difference is what was added. */
TEST(subtract_finds_what_was_added_to_random_profiles)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct random_options shape = random_shape(seed);
        struct batch a, b, out;
        struct error err;
        int64_t added = 0;

        shape.has_negatives = shape.has_counts = false;
        batch_init(&a, NULL);
        batch_init(&b, NULL);
        batch_init(&out, NULL);
        random_batch(&a, &shape);
        random_batch(&b, &shape);
        a.profiles[0].types[1].temporality = b.profiles[0].types[1].temporality = TEMPORALITY_CUMULATIVE;
        for (uint32_t i = 0; i < b.profiles[0].n_samples; i += 3) {
            b.profiles[0].values[b.profiles[0].stride + i] += i + 1;
            added += i + 1;
        }
        CHECK_OK(subtract_profiles(&a.profiles[0], &b.profiles[0], &out, &err), &err);
        CHECK_EQ(profile_total(&out.profiles[0], 1), added);
        CHECK_EQ(profile_total(&out.profiles[0], 0), profile_total(&b.profiles[0], 0));
        CHECK_EQ(report_total(&out.report), 0);
        batch_done(&a);
        batch_done(&b);
        batch_done(&out);
    }
}

struct pair {
    struct batch a, b;
};

static int subtract(void *context, struct error *err)
{
    struct pair *pair = context;
    struct batch out;
    int result;

    batch_init(&out, NULL);
    result = subtract_profiles(&pair->a.profiles[0], &pair->b.profiles[0], &out, err);
    batch_done(&out);
    return result;
}

TEST(subtract_survives_any_failing_allocation)
{
    static const struct sample samples[] = { { "ab", 10, 5 }, { "ac", 20, 0 }, { "a(bc)", 7, 7 } };
    struct pair pair;

    batch_init(&pair.a, NULL);
    batch_init(&pair.b, NULL);
    heap_batch(&pair.a, 1, samples, 2);
    heap_batch(&pair.b, 2, samples, 3);
    test_each_allocation_failing(subtract, &pair);
    batch_done(&pair.a);
    batch_done(&pair.b);
}
