// SPDX-License-Identifier: Apache-2.0
#include "label/labelsplit_internal.h"

#include "base/test.h"
#include "label/labelplan_test.h"
#include "label/selector.h"

#include <stdarg.h>
#include <stdio.h>

/* A profile under construction and the plan made of it. */
struct work {
    struct builder *builder;
    struct profile *profile; /* until work_plan */
    struct batch batch;
    struct arena arena;
    struct label_limits limits;
    struct label_counts counts;
    struct series_plan plan;
    uint32_t n_samples;
};

static void work_start(struct work *work)
{
    struct error err;

    *work = (struct work){ .limits = label_default_limits };
    arena_init(&work->arena, 0);
    batch_init(&work->batch, NULL);
    CHECK_OK(builder_new(NULL, &work->builder, &err), &err);
    work->profile = labelplan_fill(work->builder, &(struct labelplan_input){ 0 });
}

static PRINTF(2, 3) void work_sample(struct work *work, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    labelplan_sample(work->builder, work->n_samples++, labelplan_set(work->builder, text));
}

static void work_plan(struct work *work)
{
    const struct profile *profile;
    struct error err;

    CHECK_OK(builder_finish(work->builder, &work->batch, &err), &err);
    profile = &work->batch.profiles[0];
    CHECK_EQ(profile->n_samples, work->n_samples);
    CHECK_OK(labelrules_plan(profile, NULL, 0, &work->limits, &work->counts, &work->arena, &work->plan, &err), &err);
    labelplan_check(profile, &work->plan, &work->limits);
}

static void work_done(struct work *work)
{
    builder_free(work->builder);
    batch_done(&work->batch);
    arena_done(&work->arena);
}

static struct slice label_of(const struct work *work, uint32_t piece, const char *name)
{
    return seriesinfo_label(&work->plan.pieces[piece].info, slice_from(name));
}

/* The first column of a sample as "name=value". */
static const char *column_of(const struct work *work, uint32_t sample)
{
    static char text[128];
    const struct column_labels *columns =
        &work->plan.sample_labels[profile_label_set(&work->batch.profiles[0], sample)];

    CHECK(columns->n > 0);
    snprintf(text, sizeof(text), "%.*s=%.*s", SLICE_ARG(columns->labels[0].name), SLICE_ARG(columns->labels[0].text));
    return text;
}

TEST(labelsplit_makes_as_many_series_as_are_allowed)
{
    struct work work;

    work_start(&work);
    for (int i = 0; i < 200; i++)
        work_sample(&work, "route=/%03d", i % 100);
    work_plan(&work);
    CHECK_EQ(work.plan.n_pieces, 100);
    CHECK_TEXT(label_of(&work, 7, "route"), "/007");
    CHECK_EQ(work.plan.pieces[7].n_samples, 2);
    CHECK_EQ(work.plan.pieces[7].samples[1], 107);
    CHECK_EQ(work.counts.splits_moved, 0);
    work_done(&work);
}

TEST(labelsplit_moves_three_hundred_routes_to_the_samples)
{
    struct work work;

    work_start(&work);
    for (int i = 0; i < 300; i++)
        work_sample(&work, "http.route=/%03d;method=%s", i, i % 2 ? "GET" : "POST");
    work_plan(&work);
    CHECK_EQ(work.plan.n_pieces, 2); /* label sets that are equal without the route are one series */
    CHECK_TEXT(label_of(&work, 0, "method"), "POST");
    CHECK_TEXT(label_of(&work, 1, "method"), "GET");
    CHECK_EQ(label_of(&work, 0, "http_route").len, 0);
    CHECK_EQ(work.plan.pieces[1].n_samples, 150);
    CHECK_TEXT(column_of(&work, 299), "http.route=/299");
    CHECK_EQ(work.counts.splits_moved, 1);
    work_done(&work);
}

TEST(labelsplit_moves_the_next_label_when_one_is_not_enough)
{
    struct work work;

    work_start(&work);
    for (int i = 0; i < 600; i++)
        work_sample(&work, "a=%d;b=%d;c=%d", i / 200, i % 200, i % 150);
    work_plan(&work);
    CHECK_EQ(work.plan.n_pieces, 3);
    CHECK_TEXT(label_of(&work, 2, "a"), "2");
    CHECK_EQ(work.counts.splits_moved, 2);
    work_done(&work);
}

TEST(labelsplit_moves_no_more_labels_than_it_must)
{
    for (uint32_t max_splits = 1; max_splits <= 17; max_splits++) {
        struct work work;

        work_start(&work);
        work.limits.max_splits = max_splits;
        for (int i = 0; i < 16; i++)
            work_sample(&work, "name%02d=x", i);
        work_plan(&work);
        /* Those that lost their label are one series together, so at least two must. */
        CHECK_EQ(work.plan.n_pieces, MIN(max_splits, 16u));
        CHECK_EQ(work.counts.splits_moved, max_splits < 16 ? 17 - max_splits : 0);
        work_done(&work);
    }
}

TEST(labelsplit_moves_the_first_by_name_of_two_equal_ones)
{
    struct work work;

    work_start(&work);
    work.limits.max_splits = 12;
    for (int i = 0; i < 100; i++)
        work_sample(&work, "b=%d;a=%d", i / 10, i % 10);
    work_plan(&work);
    CHECK_EQ(work.plan.n_pieces, 10);
    CHECK_TEXT(label_of(&work, 9, "b"), "9");
    CHECK_TEXT(column_of(&work, 99), "a=9");
    work_done(&work);
}

TEST(labelsplit_moves_the_service_last)
{
    struct work work;

    work_start(&work);
    for (int i = 0; i < 500; i++)
        work_sample(&work, "service.name=s%d;route=/%d", i % 50, i / 50);
    work_plan(&work);
    CHECK_EQ(work.plan.n_pieces, 50);
    CHECK_TEXT(label_of(&work, 49, "service_name"), "s49");
    CHECK_TEXT(column_of(&work, 499), "route=/9");
    work_done(&work);
}

TEST(labelsplit_calls_samples_of_too_many_services_others)
{
    struct work work;

    work_start(&work);
    for (int i = 0; i < 101; i++)
        work_sample(&work, "service.name=s%d", i);
    work_plan(&work);
    CHECK_EQ(work.plan.n_pieces, 1);
    CHECK_TEXT(label_of(&work, 0, "service_name"), "other_services");
    CHECK_TEXT(column_of(&work, 100), "service.name=s100");
    work_done(&work);
}

TEST(labelsplit_makes_the_same_series_whatever_the_order_of_samples)
{
    static const char *const sets[] = { "a=1;b=1;c=1;d=1", "b=2;c=2;e=2", "a=3;e=3", "d=4;c=4", "" };
    struct buffer forward, backward;

    buffer_init(&forward, 0);
    buffer_init(&backward, 0);
    for (int is_backward = 0; is_backward < 2; is_backward++) {
        struct buffer *out = is_backward ? &backward : &forward;
        struct work work;

        work_start(&work);
        work.limits.max_labels = 4;
        work.limits.max_splits = 3;
        for (size_t i = 0; i < ARRAY_LEN(sets); i++)
            work_sample(&work, "%s", sets[is_backward ? ARRAY_LEN(sets) - 1 - i : i]);
        work_plan(&work);
        CHECK_EQ(work.counts.moved_to_samples, 3);
        for (uint32_t i = 0; i < work.plan.n_pieces; i++)
            seriesinfo_text(&work.plan.pieces[is_backward ? work.plan.n_pieces - 1 - i : i].info, out);
        work_done(&work);
    }
    CHECK_TEXT(buffer_slice(&backward), buffer_slice(&forward));
    buffer_done(&forward);
    buffer_done(&backward);
}

TEST(labelsplit_finds_equal_texts_under_several_ids)
{
    struct slice strings[] = { SLICE(""), SLICE("cpu"), SLICE("zone"), SLICE("zone"), SLICE("eu"), SLICE("eu") };
    struct label labels[] = { { .key = 2, .text = 4 }, { .key = 3, .text = 5 } };
    uint32_t starts[] = { 0, 0, 1, 2 }, sets[] = { 1, 2 }, stacks[] = { 0, 0 };
    int64_t values[] = { 1, 1 };
    struct tables tables = { .strings = strings, .labels = labels, .label_set_starts = starts, .n_label_sets = 3 };
    struct value_type type = { .type = 1 };
    struct profile profile = { .tables = &tables,
                               .types = &type,
                               .n_types = 1,
                               .n_samples = 2,
                               .stride = 2,
                               .stacks = stacks,
                               .label_sets = sets,
                               .values = values };
    struct label_counts counts = { 0 };
    struct series_plan plan;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(labelrules_plan(&profile, NULL, 0, &label_default_limits, &counts, &arena, &plan, &err), &err);
    CHECK_EQ(plan.n_pieces, 1);
    CHECK_TEXT(seriesinfo_label(&plan.pieces[0].info, SLICE("zone")), "eu");
    arena_done(&arena);
}

/* --- what hostile senders can do --- */

#define HOSTILE_SETS 65536

TEST(labelsplit_takes_a_value_of_its_own_in_each_of_many_sets)
{
    struct work work;

    work_start(&work);
    for (int i = 0; i < HOSTILE_SETS; i++)
        work_sample(&work, "id_like=%d;parity=%d;quarter=%d", i, i % 2, i % 4);
    work_plan(&work);
    CHECK_EQ(work.plan.n_pieces, 4);
    CHECK_TEXT(column_of(&work, HOSTILE_SETS - 1), "id_like=65535");
    CHECK_EQ(work.counts.splits_moved, 1);
    work_done(&work);
}

TEST(labelsplit_takes_a_name_of_its_own_in_each_of_many_sets)
{
    struct work work;

    work_start(&work);
    for (int i = 0; i < HOSTILE_SETS; i++)
        work_sample(&work, "name%d=x;zone=%d", i, i % 3);
    work_plan(&work);
    /* Zone has the most values; of the names, each with one value, as many follow as must. */
    CHECK(work.plan.n_pieces <= 100 && work.plan.n_pieces > 90);
    CHECK_EQ(work.counts.splits_moved, HOSTILE_SETS + 1 - (work.plan.n_pieces - 1));
    work_done(&work);
}

TEST(labelsplit_takes_many_labels_in_one_set)
{
    char text[8192];
    size_t len = 0;
    struct work work;

    work_start(&work);
    for (int i = 0; i < 500; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%sl%03d=%d", i ? ";" : "", 499 - i, i);
    labelplan_sample(work.builder, work.n_samples++, labelplan_set(work.builder, text));
    work_plan(&work);
    CHECK_EQ(work.plan.pieces[0].info.n_labels, 40);
    CHECK_TEXT(label_of(&work, 0, "l037"), "462");
    CHECK_EQ(label_of(&work, 0, "l038").len, 0);
    CHECK_TEXT(column_of(&work, 0), "l038=461");
    CHECK_EQ(work.counts.moved_to_samples, 462);
    work_done(&work);
}

/* --- nothing is lost, and selectors see series labels and columns alike --- */

#define NAMES  6
#define VALUES 3
static const char *const names[NAMES] = { "service.name", "zone", "ro-ute", "thread", "size", "__x" };
static const char *const canonical_names[NAMES] = { "service_name", "zone", "ro_ute", "thread", "size", "__x" };
static const char *const texts[VALUES] = { "1", "22", "x" };

/* Which values a label may have: a bit each. */
struct truth {
    uint8_t values[NAMES];
};

struct random {
    uint64_t state;
};

static uint32_t draw(struct random *random, uint32_t below)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random->state >> 33) % below;
}

/* Random labels; in `several` a name may come again. Numbers are 1 or 22, so their texts are known. */
static uint32_t random_set(struct random *random, struct builder *b, bool several, struct truth *truth)
{
    struct label labels[4];
    uint32_t n = draw(random, ARRAY_LEN(labels) + 1), n_added = 0;
    struct truth seen = { 0 };

    for (uint32_t i = 0; i < n; i++) {
        uint32_t name = draw(random, NAMES), value = draw(random, VALUES);
        bool is_number = value < 2 && draw(random, 4) == 0;
        struct label label = { .key = builder_string(b, slice_from(names[name])) };

        if (seen.values[name] && !several)
            continue;
        if (is_number) {
            label.kind = LABEL_NUMBER;
            label.number = value ? 22 : 1;
        } else {
            label.text = builder_string(b, slice_from(texts[value]));
        }
        seen.values[name] |= (uint8_t)(1u << value);
        labels[n_added++] = label;
    }
    for (uint32_t i = 0; i < NAMES; i++)
        if (seen.values[i])
            truth->values[i] = seen.values[i];
    return builder_label_set(b, labels, n_added);
}

static uint32_t to_selector_labels(const struct column_labels *columns, struct arena *arena,
                                   struct selector_label *ret_labels)
{
    struct error err;

    for (uint32_t i = 0; i < columns->n; i++) {
        const struct column_label *label = &columns->labels[i];

        ret_labels[i].name = label->name;
        ret_labels[i].value = label->text;
        if (label->kind == LABEL_NUMBER) {
            char *text = arena_printf(arena, &err, "%lld", (long long)label->number);

            CHECK(text != NULL);
            ret_labels[i].value = slice_from(text);
        }
    }
    return columns->n;
}

/* Compares one selector with the truth about every sample, and its verdicts with what it does. */
static void check_selector(const struct work *work, const char *text, uint32_t name, uint8_t wanted, bool is_negated,
                           const struct truth *truths, struct pattern_scratch *scratch)
{
    const struct profile *profile = &work->batch.profiles[0];
    bool has_columns = work->plan.sample_labels || work->plan.row_labels.n > 0;
    AUTO(selector_freep) struct selector *selector = NULL;
    struct selector_label row[32], own[8];
    struct arena arena;
    struct error err;
    uint32_t n_row;

    arena_init(&arena, 0);
    CHECK_OK(selector_new(slice_from(text), &selector, &err), &err);
    n_row = to_selector_labels(&work->plan.row_labels, &arena, row);
    for (uint32_t p = 0; p < work->plan.n_pieces; p++) {
        const struct series_piece *piece = &work->plan.pieces[p];
        enum selector_verdict verdict;

        CHECK_OK(selector_judge(selector, &piece->info, has_columns, scratch, &verdict, &err), &err);
        CHECK(has_columns || verdict != SELECTOR_MAYBE);
        for (uint32_t i = 0; i < piece->n_samples; i++) {
            uint32_t sample = piece->samples ? piece->samples[i] : i, n_own = 0;
            uint8_t values = truths[sample].values[name];
            bool is = wanted ? (values & wanted) != 0 : values == 0, matches;

            if (work->plan.sample_labels)
                n_own = to_selector_labels(&work->plan.sample_labels[profile_label_set(profile, sample)], &arena, own);
            CHECK_OK(selector_test(selector, &piece->info, row, n_row, own, n_own, scratch, &matches, &err), &err);
            CHECK_EQ(matches, is != is_negated);
            CHECK(verdict != SELECTOR_YES || matches);
            CHECK(verdict != SELECTOR_NO || !matches);
        }
    }
    arena_done(&arena);
}

static void check_all_selectors(const struct work *work, const struct truth *truths, struct pattern_scratch *scratch)
{
    char text[64];

    for (uint32_t name = 0; name < NAMES; name++) {
        for (uint32_t value = 0; value <= VALUES; value++) {
            const char *of = value < VALUES ? texts[value] : "";
            uint8_t wanted = value < VALUES ? (uint8_t)(1u << value) : 0;

            snprintf(text, sizeof(text), "%s=%s", canonical_names[name], of);
            check_selector(work, text, name, wanted, false, truths, scratch);
            snprintf(text, sizeof(text), "%s!=%s", names[name], of);
            check_selector(work, text, name, wanted, true, truths, scratch);
        }
        snprintf(text, sizeof(text), "%s=~\"1|x\"", canonical_names[name]);
        check_selector(work, text, name, 5, false, truths, scratch);
    }
}

/* Profile-level labels and up to eight samples, all at random, under limits that often bite. */
static void check_random_profile(struct random *random, struct pattern_scratch *scratch)
{
    struct truth base = { .values[0] = 1 }, truths[8]; /* there is always a service: ours would be no truth */
    struct label service;
    struct work work;
    uint32_t n = draw(random, ARRAY_LEN(truths) + 1);

    work_start(&work);
    service = (struct label){ .key = builder_string(work.builder, slice_from(names[0])),
                              .text = builder_string(work.builder, slice_from(texts[0])) };
    work.profile->scope = builder_label_set(work.builder, &service, 1);
    work.profile->resource = random_set(random, work.builder, false, &base);
    work.profile->attributes = random_set(random, work.builder, false, &base);
    for (uint32_t i = 0; i < n; i++) {
        truths[i] = base;
        labelplan_sample(work.builder, work.n_samples++,
                         random_set(random, work.builder, draw(random, 4) == 0, &truths[i]));
    }
    work.limits.max_labels = 2 + draw(random, 6);
    work.limits.max_splits = 1 + draw(random, 6);
    work_plan(&work);
    check_all_selectors(&work, truths, scratch);
    work_done(&work);
}

TEST(labelsplit_shows_selectors_every_label_of_every_sample)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct random random = { 4 };
    struct error err;

    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    for (int i = 0; i < 2000; i++)
        check_random_profile(&random, scratch);
}
