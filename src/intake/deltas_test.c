// SPDX-License-Identifier: Apache-2.0
#include "intake/deltas.h"

#include "base/clock.h"
#include "base/fs.h"
#include "store/store_sample_test.h"

#include <stdio.h>

static const struct hash128 series_a = { 1, 1 }, series_b = { 2, 1 };

/* Profiles of one series, one after another, and what became of them as text: "x 30 8 | y 5 5". */
struct story {
    int64_t window_ns; /* of profiles given; 0 = they know only their end */
    uint64_t place;    /* likewise */
    struct deltas *deltas;
    char text[512];
    bool is_first;
    int64_t start_ns, duration_ns;
};

static struct story begin(const char *path, uint64_t max_bytes)
{
    struct story story = { 0 };
    struct error err;

    CHECK_OK(deltas_new(path, max_bytes, &story.deltas, &err), &err);
    return story;
}

static void print(const struct batch *batch, struct story *story)
{
    const struct profile *p = &batch->profiles[0];
    struct buffer out;

    buffer_init(&out, 0);
    store_sample_print_sums(batch, &out);
    snprintf(story->text, sizeof(story->text), "%.*s", SLICE_ARG(buffer_slice(&out)));
    story->start_ns = p->start_ns;
    story->duration_ns = p->duration_ns;
    for (uint32_t i = 0; i < p->n_types; i++)
        CHECK(p->types[i].temporality != TEMPORALITY_CUMULATIVE);
    buffer_done(&out);
}

/* Gives a profile whose first type counts and whose second is a level. */
static int try_profile(struct story *story, struct hash128 series, const char *at, const char *samples, bool is_kept,
                       struct error *err)
{
    struct store_sample_profile wanted = { .at = at, .samples = samples };
    struct content content;
    struct deltas_step step;
    struct batch batch;
    struct arena scratch;
    int result;

    store_sample_batch(&wanted, 1, &batch);
    batch.profiles[0].duration_ns = story->window_ns;
    batch.profiles[0].types[0].temporality = TEMPORALITY_CUMULATIVE;
    batch.profiles[0].types[1].nature = VALUE_LEVEL;
    CHECK(deltas_is_cumulative(&batch.profiles[0]));
    arena_init(&scratch, 0);
    result = content_hash(&batch.tables, deltas_seed(story->deltas), false, &scratch, &content, err);
    if (result == 0)
        result = deltas_apply(story->deltas, (struct deltas_source){ series, story->place }, &content,
                              &batch.profiles[0], &scratch, &step, err);
    if (result == 0) {
        story->is_first = step.is_first;
        print(&batch, story);
        deltas_finish(story->deltas, &step, is_kept);
    }
    arena_done(&scratch);
    batch_done(&batch);
    return result;
}

static const char *give(struct story *story, const char *at, const char *samples)
{
    struct error err;

    CHECK_OK(try_profile(story, series_a, at, samples, true, &err), &err);
    return story->text;
}

TEST(deltas_are_what_happened_since_the_profile_before)
{
    struct story story = begin(NULL, 0);

    CHECK_TEXT(give(&story, "15T10:00", "x 100 7 | y 10 1"), "x 0 7\ny 0 1\n");
    CHECK(story.is_first);
    CHECK_TEXT(give(&story, "15T10:01", "x 130 8 | y 10 1 | z 4 4"), "x 30 8\ny 0 1\nz 4 4\n");
    CHECK(!story.is_first);
    CHECK_EQ(story.start_ns, store_sample_time("15T10:00"));
    CHECK_EQ(story.duration_ns, 60 * CLOCK_NS_PER_SECOND);
    deltas_free(story.deltas);
}

TEST(deltas_of_the_same_profile_again_are_nothing)
{
    struct story story = begin(NULL, 0);

    give(&story, "15T10:00", "x 100 7");
    give(&story, "15T10:01", "x 130 8");
    CHECK_TEXT(give(&story, "15T10:01", "x 130 8"), "x 0 8\n");
    CHECK_TEXT(give(&story, "15T10:02", "x 140 8"), "x 10 8\n");
    deltas_free(story.deltas);
}

TEST(deltas_after_a_restart_begin_anew)
{
    struct story story = begin(NULL, 0);

    give(&story, "15T10:00", "x 100 7 | y 10 1");
    CHECK_TEXT(give(&story, "15T10:01", "x 20 7 | y 50 1"), "x 0 7\ny 0 1\n");
    CHECK(story.is_first);
    CHECK_TEXT(give(&story, "15T10:02", "x 25 7 | y 50 1"), "x 5 7\ny 0 1\n");
    /* A counter that is gone fell as well. */
    CHECK_TEXT(give(&story, "15T10:03", "x 30 7"), "x 0 7\n");
    CHECK(story.is_first);
    deltas_free(story.deltas);
}

TEST(deltas_of_several_processes_behind_one_series_do_not_mix)
{
    struct story story = begin(NULL, 0);

    give(&story, "15T10:00", "x 1000 1 | y 500 1"); /* an old one */
    give(&story, "15T10:00", "x 10 1 | y 900 1");   /* and another */
    CHECK_TEXT(give(&story, "15T10:01", "x 1010 1 | y 505 1"), "x 10 1\ny 5 1\n");
    CHECK_TEXT(give(&story, "15T10:01", "x 12 1 | y 900 1"), "x 2 1\ny 0 1\n");
    CHECK_TEXT(give(&story, "15T10:02", "x 1011 1 | y 505 1"), "x 1 1\ny 0 1\n");
    CHECK_TEXT(give(&story, "15T10:02", "x 13 1 | y 901 1"), "x 1 1\ny 1 1\n");
    deltas_free(story.deltas);
}

TEST(deltas_of_windows_that_overlap_are_of_several_processes)
{
    struct story story = begin(NULL, 0);

    story.window_ns = 60 * CLOCK_NS_PER_SECOND;
    give(&story, "15T10:00", "x 10 1"); /* a young process, then one that has seen much */
    CHECK_TEXT(give(&story, "15T10:00", "x 1000 1"), "x 0 1\n");
    CHECK(story.is_first);
    CHECK_TEXT(give(&story, "15T10:01", "x 1005 1"), "x 5 1\n");
    CHECK_TEXT(give(&story, "15T10:01", "x 11 1"), "x 1 1\n");
    deltas_free(story.deltas);
}

TEST(deltas_follow_the_nearest_of_those_that_fit)
{
    struct story story = begin(NULL, 0);

    give(&story, "15T10:00", "x 1000 1");
    give(&story, "15T10:00", "x 10 1"); /* a young one: also below whatever the old one sends next */
    CHECK_TEXT(give(&story, "15T10:01", "x 1010 1"), "x 10 1\n");
    CHECK_TEXT(give(&story, "15T10:01", "x 15 1"), "x 5 1\n");
    deltas_free(story.deltas);
}

static const char *give_from(struct story *story, uint64_t place, const char *at, const char *samples)
{
    story->place = place;
    return give(story, at, samples);
}

TEST(deltas_of_other_places_are_of_other_processes)
{
    struct story story = begin(NULL, 0);

    give_from(&story, 1, "15T10:00", "x 10 1"); /* a young process, then one that has seen much */
    CHECK_TEXT(give_from(&story, 2, "15T10:01", "x 1000 1"), "x 0 1\n");
    CHECK(story.is_first);
    CHECK_TEXT(give_from(&story, 2, "15T10:02", "x 1005 1"), "x 5 1\n");
    CHECK_TEXT(give_from(&story, 1, "15T10:02", "x 11 1"), "x 1 1\n");
    /* Not known is no other place. */
    CHECK_TEXT(give_from(&story, 0, "15T10:03", "x 12 1"), "x 1 1\n");
    CHECK_TEXT(give_from(&story, 1, "15T10:04", "x 14 1"), "x 2 1\n");
    deltas_free(story.deltas);
}

TEST(deltas_of_one_process_by_several_places_are_never_counted_twice)
{
    struct story story = begin(NULL, 0);

    give_from(&story, 1, "15T10:00", "x 100 1");
    CHECK_TEXT(give_from(&story, 2, "15T10:01", "x 110 1"), "x 0 1\n");
    CHECK_TEXT(give_from(&story, 1, "15T10:02", "x 120 1"), "x 0 1\n"); /* 20 since 1's last, but 10 of them by 2 */
    CHECK_TEXT(give_from(&story, 1, "15T10:03", "x 130 1"), "x 10 1\n");
    deltas_free(story.deltas);
}

TEST(deltas_of_its_own_place_are_followed_past_a_nearer_one_that_cannot_be_between)
{
    struct story story = begin(NULL, 0);

    give_from(&story, 1, "15T10:00", "x 100 1 | y 50 1");
    give_from(&story, 2, "15T10:00", "x 104 1 | y 49 1");
    CHECK_TEXT(give_from(&story, 1, "15T10:01", "x 105 1 | y 50 1"), "x 5 1\ny 0 1\n");
    deltas_free(story.deltas);
}

TEST(deltas_of_windows_that_continue_are_followed_wherever_they_came_from)
{
    struct story story = begin(NULL, 0);

    story.window_ns = 60 * CLOCK_NS_PER_SECOND;
    give_from(&story, 1, "15T10:00", "x 100 1");
    CHECK_TEXT(give_from(&story, 2, "15T10:01", "x 110 1"), "x 10 1\n");
    CHECK_TEXT(give_from(&story, 1, "15T10:03", "x 120 1"), "x 0 1\n"); /* there is a gap */
    deltas_free(story.deltas);
}

TEST(deltas_that_came_late_count_for_nothing)
{
    struct story story = begin(NULL, 0);

    give(&story, "15T10:00", "x 100 1");
    give(&story, "15T10:02", "x 120 1");
    CHECK_TEXT(give(&story, "15T10:01", "x 110 1"), "x 0 1\n");
    CHECK_TEXT(give(&story, "15T10:03", "x 130 1"), "x 10 1\n");
    deltas_free(story.deltas);
}

TEST(deltas_that_were_not_kept_come_again)
{
    struct story story = begin(NULL, 0);
    struct error err;

    give(&story, "15T10:00", "x 100 1");
    CHECK_OK(try_profile(&story, series_a, "15T10:01", "x 130 1", false, &err), &err);
    CHECK_TEXT(give(&story, "15T10:01", "x 130 1"), "x 30 1\n");
    CHECK_OK(try_profile(&story, series_b, "15T10:01", "x 130 1", false, &err), &err);
    CHECK_OK(try_profile(&story, series_b, "15T10:02", "x 140 1", true, &err), &err);
    CHECK(story.is_first);
    deltas_free(story.deltas);
}

TEST(deltas_of_equal_samples_add_up)
{
    struct story story = begin(NULL, 0);

    give(&story, "15T10:00", "x 100 1 {bytes=#8} | x 50 1 {bytes=#16} | x 1 1");
    CHECK_TEXT(give(&story, "15T10:01", "x 101 1 {bytes=#8} | x 52 1 {bytes=#16} | x 4 1"), "x 6 3\n");
    deltas_free(story.deltas);
}

TEST(deltas_hold_to_their_memory)
{
    struct story story = begin(NULL, 4096);
    struct error err;

    for (uint64_t i = 0; i < 5000; i++)
        CHECK_OK(try_profile(&story, (struct hash128){ i, 1 }, "15T10:00", "x 100 1", true, &err), &err);
    CHECK_OK(try_profile(&story, (struct hash128){ 4999, 1 }, "15T10:01", "x 101 1", true, &err), &err);
    CHECK_TEXT(story.text, "x 1 1\n");
    CHECK_OK(try_profile(&story, (struct hash128){ 7, 1 }, "15T10:01", "x 101 1", true, &err), &err);
    CHECK(story.is_first);
    deltas_free(story.deltas);
}

TEST(deltas_remember_so_many_processes_of_a_series)
{
    struct story story = begin(NULL, 0);
    char samples[64];

    clock_fake_set(store_sample_time("15T10:00"));
    for (int i = 0; i < 2 * DELTAS_PROCESSES; i++) { /* each has one counter that is below and one that is above */
        snprintf(samples, sizeof(samples), "x %d 1 | y %d 1", 1000 - i, 1000 + i);
        clock_fake_advance(1);
        give(&story, "15T10:00", samples);
    }
    snprintf(samples, sizeof(samples), "x %d 1 | y %d 1", 1001 - 2 * DELTAS_PROCESSES, 1000 + 2 * DELTAS_PROCESSES);
    CHECK_TEXT(give(&story, "15T10:01", samples), "x 0 1\ny 1 1\n");
    give(&story, "15T10:01", "x 1000 1 | y 1000 1");
    CHECK(story.is_first);
    deltas_free(story.deltas);
}

TEST(deltas_survive_a_clean_end_and_nothing_else)
{
    char path[300];
    struct story story, crashed;
    struct stat info;
    struct error err;

    snprintf(path, sizeof(path), "%s/state", test_directory());
    story = begin(path, 0);
    give(&story, "15T10:00", "x 100 1 | y 3 3");
    deltas_free(story.deltas);
    story = begin(path, 0);
    CHECK_ERROR(fs_stat(path, &info, &err), &err, ERR_NOT_FOUND); /* whoever comes after a crash finds nothing */
    crashed = begin(path, 0);
    give(&crashed, "15T10:01", "x 130 1 | y 3 3");
    CHECK(crashed.is_first);
    deltas_free(crashed.deltas);
    CHECK_TEXT(give(&story, "15T10:01", "x 130 1 | y 3 3"), "x 30 1\ny 0 3\n");
    deltas_free(story.deltas);
}

TEST(deltas_whose_state_is_damaged_begin_anew_and_say_so)
{
    char path[300];
    struct buffer log, state;
    struct story story;
    struct error err;

    snprintf(path, sizeof(path), "%s/state", test_directory());
    story = begin(path, 0);
    give(&story, "15T10:00", "x 100 1");
    deltas_free(story.deltas);
    buffer_init(&state, 0);
    CHECK_OK(fs_read_file(path, 0, &state, &err), &err);
    for (size_t len = 0; len < state.len; len += 7) {
        CHECK_OK(fs_write_file(path, slice_of(state.data, len), &err), &err);
        buffer_init(&log, 0);
        log_capture(&log);
        story = begin(path, 0);
        log_capture(NULL);
        CHECK_HAS(buffer_slice(&log), "its first");
        buffer_done(&log);
        give(&story, "15T10:01", "x 130 1");
        CHECK(story.is_first);
        deltas_free(story.deltas);
    }
    buffer_done(&state);
}

/* A profile that is ready to be given. */
struct ready {
    struct batch batch;
    struct content content;
};

static int apply_step(void *context, struct error *err)
{
    struct ready *ready = context;
    struct deltas_step step;
    struct deltas *deltas;
    struct arena scratch;
    int result;

    if (deltas_new(NULL, 0, &deltas, err) < 0)
        return -1;
    arena_init(&scratch, 0);
    result = deltas_apply(deltas, (struct deltas_source){ series_a, 0 }, &ready->content, &ready->batch.profiles[0],
                          &scratch, &step, err);
    if (result == 0)
        deltas_finish(deltas, &step, false);
    else
        CHECK_EQ(ready->batch.profiles[0].values[0], 100);
    arena_done(&scratch);
    deltas_free(deltas);
    return result;
}

TEST(deltas_survive_failing_allocations)
{
    struct store_sample_profile wanted = { .at = "15T10:00", .samples = "x 100 7" };
    struct ready ready;
    struct error err;

    store_sample_batch(&wanted, 1, &ready.batch);
    ready.batch.profiles[0].types[0].temporality = TEMPORALITY_CUMULATIVE;
    CHECK_OK(content_hash(&ready.batch.tables, 0, false, &ready.batch.arena, &ready.content, &err), &err);
    test_each_allocation_failing(apply_step, &ready);
    batch_done(&ready.batch);
}
