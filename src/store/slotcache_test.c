// SPDX-License-Identifier: Apache-2.0
#include "store/slotcache.h"

#include "base/clock.h"
#include "base/test.h"

/* Nothing looks into a day: any address tells two of them apart. */
static const char days[2];
#define DAY(i) ((const struct day *)(const void *)&days[i])

static const int64_t minute_ns = 60 * CLOCK_NS_PER_SECOND;
static const struct slotcache_head head = { .day = DAY(0), .hour_ns = 7200 * CLOCK_NS_PER_SECOND, .number = 1 };

struct story {
    struct slotcache *cache;
    struct arena arena;
};

static void begin(struct story *story, size_t max_bytes)
{
    struct error err;

    arena_init(&story->arena, 0);
    CHECK_OK(slotcache_new(max_bytes, &story->cache, &err), &err);
}

static void end(struct story *story)
{
    slotcache_free(story->cache);
    arena_done(&story->arena);
}

/* Begins a pass so many minutes after the hour began, and half a minute: the usual delay. */
static void begin_pass(struct story *story, const struct slotcache_head *of, int64_t minutes)
{
    struct error err;

    CHECK_OK(slotcache_begin(story->cache, of, of->hour_ns + minutes * minute_ns + SLOTCACHE_USUAL_DELAY_NS, &err),
             &err);
}

static struct slotcache_value get(struct story *story, uint32_t group, uint32_t span, uint64_t n_commits)
{
    struct slotcache_value value;
    struct error err;

    CHECK_OK(slotcache_get(story->cache, &head, 1, group, span, n_commits, SLOTCACHE_BOTH, &story->arena, &value, &err),
             &err);
    return value;
}

static bool put(struct story *story, uint32_t group, uint32_t span, uint32_t n_steps, const char *rollup)
{
    return slotcache_put(story->cache, 1, group, span, 10,
                         &(struct slotcache_value){ .n_steps = n_steps, .rollup = slice_from(rollup) });
}

static struct slotcache_plan plan(struct story *story, uint32_t group)
{
    struct slotcache_plan plan;

    slotcache_plan(story->cache, 1, group, &plan);
    return plan;
}

TEST(slotcache_plans_the_minutes_that_are_over)
{
    struct story story;
    struct slotcache_plan planned;

    begin(&story, 1 << 20);
    begin_pass(&story, &head, 7);
    planned = plan(&story, 5);
    CHECK_EQ(planned.until[0], 5);
    CHECK_EQ(planned.until[1], 2);
    CHECK_EQ(planned.until[2], 0);
    CHECK_EQ(planned.until[SLOTCACHE_HOUR], 5); /* it grows by whole slots */
    CHECK(put(&story, 5, 0, 5, "first slot"));
    CHECK(put(&story, 5, 1, 2, "two minutes"));
    CHECK(put(&story, 5, SLOTCACHE_HOUR, 5, ""));
    slotcache_end(story.cache);
    /* What is there is extended. */
    begin_pass(&story, &head, 10);
    planned = plan(&story, 5);
    CHECK_EQ(planned.from[0], 5);
    CHECK_EQ(planned.until[0], 5);
    CHECK_EQ(planned.from[1], 2);
    CHECK_EQ(planned.until[1], 5);
    CHECK_EQ(planned.from[SLOTCACHE_HOUR], 5);
    CHECK_EQ(planned.until[SLOTCACHE_HOUR], 10);
    slotcache_end(story.cache);
    /* Long after the hour. */
    begin_pass(&story, &head, 600);
    CHECK_EQ(plan(&story, 5).until[11], 5);
    CHECK_EQ(plan(&story, 5).until[SLOTCACHE_HOUR], 60);
    slotcache_end(story.cache);
    end(&story);
}

TEST(slotcache_answers_views_that_have_seen_as_much)
{
    struct story story;
    struct slotcache_value value;

    begin(&story, 1 << 20);
    begin_pass(&story, &head, 5);
    CHECK(put(&story, 5, 0, 5, "sums"));
    CHECK(put(&story, 6, 0, 5, ""));
    slotcache_end(story.cache);
    value = get(&story, 5, 0, 10);
    CHECK_EQ(value.n_steps, 5);
    CHECK_TEXT(value.rollup, SLICE("sums"));
    CHECK_EQ(get(&story, 5, 0, 9).n_steps, 0);
    CHECK_EQ(get(&story, 5, 1, 10).n_steps, 0);
    CHECK_EQ(get(&story, 7, 0, 10).n_steps, 0);
    /* That there are no rows is something to know. */
    value = get(&story, 6, 0, 11);
    CHECK_EQ(value.n_steps, 5);
    CHECK_EQ(value.rollup.len, 0);
    end(&story);
}

static bool put_both(struct story *story, uint32_t span, const char *rollup, const char *windows)
{
    return slotcache_put(
        story->cache, 1, 5, span, 10,
        &(struct slotcache_value){
            .n_steps = 5, .rollup = slice_from(rollup), .windows = slice_from(windows), .has_windows = true });
}

TEST(slotcache_gives_roll_ups_and_windows_apart)
{
    struct story story;
    struct slotcache_value value;
    struct error err;
    size_t bytes;

    begin(&story, 1 << 20);
    begin_pass(&story, &head, 10);
    CHECK(put_both(&story, 0, "sums", "windows"));
    CHECK(put_both(&story, 1, "", ""));
    slotcache_end(story.cache);
    value = get(&story, 5, 0, 10);
    CHECK_TEXT(value.rollup, SLICE("sums"));
    CHECK_TEXT(value.windows, SLICE("windows"));
    CHECK(value.has_windows);
    CHECK_OK(slotcache_get(story.cache, &head, 1, 5, 0, 10, SLOTCACHE_ROLLUP, &story.arena, &value, &err), &err);
    CHECK_TEXT(value.rollup, SLICE("sums"));
    CHECK_EQ(value.windows.len, 0);
    CHECK(value.has_windows);
    CHECK_OK(slotcache_get(story.cache, &head, 1, 5, 0, 10, SLOTCACHE_WINDOWS, &story.arena, &value, &err), &err);
    CHECK_EQ(value.rollup.len, 0);
    CHECK_TEXT(value.windows, SLICE("windows"));
    /* No rows have no windows, which is something to know as well. */
    value = get(&story, 5, 1, 10);
    CHECK(value.n_steps == 5 && value.has_windows && value.windows.len == 0);
    /* A late row takes both, and what they weighed. */
    bytes = slotcache_bytes(story.cache);
    CHECK_EQ(slotcache_drop(story.cache, &head, 1, 5, head.hour_ns), 1);
    CHECK_EQ(get(&story, 5, 0, 10).n_steps, 0);
    CHECK_EQ(bytes - slotcache_bytes(story.cache), strlen("sums") + strlen("windows"));
    end(&story);
}

TEST(slotcache_leaves_windows_out_that_are_too_large)
{
    static char large[4000];
    struct story story;
    struct slotcache_value value;

    memset(large, 'x', sizeof(large) - 1);
    begin(&story, 20000);
    begin_pass(&story, &head, 5);
    CHECK(put_both(&story, 0, "sums", large));
    value = get(&story, 5, 0, 10);
    CHECK_TEXT(value.rollup, SLICE("sums"));
    CHECK(!value.has_windows && value.windows.len == 0);
    /* More of them are not the whole. */
    value.windows = SLICE("more");
    CHECK(slotcache_put(story.cache, 1, 5, 0, 10, &value));
    value = get(&story, 5, 0, 10);
    CHECK(!value.has_windows && value.windows.len == 0);
    CHECK(put_both(&story, 0, "sums", "small"));
    CHECK(get(&story, 5, 0, 10).has_windows);
    slotcache_end(story.cache);
    end(&story);
}

TEST(slotcache_drops_what_a_late_row_belongs_to_and_gives_its_group_more_time)
{
    struct story story;
    struct error err;

    begin(&story, 1 << 20);
    begin_pass(&story, &head, 12);
    CHECK(put(&story, 5, 0, 5, "a") && put(&story, 5, 1, 5, "b") && put(&story, 5, 2, 2, "c"));
    CHECK(put(&story, 5, SLOTCACHE_HOUR, 10, "h") && put(&story, 6, SLOTCACHE_HOUR, 10, "h"));
    slotcache_end(story.cache);
    /* A row behind what is there does no harm. */
    CHECK_EQ(slotcache_drop(story.cache, &head, 1, 5, head.hour_ns + 12 * minute_ns), 0);
    CHECK_EQ(get(&story, 5, 2, 10).n_steps, 2);
    CHECK_EQ(get(&story, 5, SLOTCACHE_HOUR, 10).n_steps, 10);
    CHECK_EQ(slotcache_drop(story.cache, &head, 1, 5, head.hour_ns + 7 * minute_ns), 2);
    CHECK_EQ(slotcache_drop(story.cache, &head, 1, 5, head.hour_ns + 7 * minute_ns), 0);
    CHECK_EQ(get(&story, 5, 0, 10).n_steps, 5);
    CHECK_EQ(get(&story, 5, 1, 10).n_steps, 0);
    CHECK_EQ(get(&story, 5, 2, 10).n_steps, 2);
    CHECK_EQ(get(&story, 5, SLOTCACHE_HOUR, 10).n_steps, 0);
    CHECK_EQ(get(&story, 6, SLOTCACHE_HOUR, 10).n_steps, 10);
    /* Not built again before a minute has passed. */
    CHECK_OK(slotcache_begin(story.cache, &head, head.hour_ns + 12 * minute_ns + 89 * CLOCK_NS_PER_SECOND, &err), &err);
    CHECK_EQ(plan(&story, 5).until[1], 0);
    CHECK_EQ(plan(&story, 6).until[1], 5);
    slotcache_end(story.cache);
    begin_pass(&story, &head, 14);
    CHECK_EQ(plan(&story, 5).from[1], 0);
    CHECK_EQ(plan(&story, 5).until[1], 5);
    CHECK_EQ(plan(&story, 5).until[2], 3); /* with a minute more for those who are late */
    CHECK_EQ(plan(&story, 6).until[2], 4);
    slotcache_end(story.cache);
    end(&story);
}

TEST(slotcache_takes_nothing_from_a_pass_in_which_a_row_came)
{
    struct story story;

    begin(&story, 1 << 20);
    begin_pass(&story, &head, 12);
    slotcache_drop(story.cache, &head, 1, 5, head.hour_ns + 7 * minute_ns);
    CHECK(put(&story, 5, 0, 5, "a"));
    CHECK(!put(&story, 5, 1, 5, "b"));
    CHECK(!put(&story, 5, SLOTCACHE_HOUR, 12, "h"));
    CHECK(put(&story, 6, 1, 5, "b"));
    CHECK_EQ(get(&story, 5, 1, 10).n_steps, 0);
    slotcache_end(story.cache);
    /* The next one has seen it. Rows of other heads are no matter. */
    begin_pass(&story, &head, 12);
    slotcache_drop(story.cache, &(struct slotcache_head){ head.day, head.hour_ns, 2 }, 1, 5, head.hour_ns);
    CHECK(put(&story, 5, 1, 5, "b"));
    slotcache_end(story.cache);
    end(&story);
}

TEST(slotcache_lets_the_oldest_slots_go_and_does_not_want_them_back)
{
    static char large[4000];
    struct story story;

    memset(large, 'x', sizeof(large) - 1);
    begin(&story, 40000);
    begin_pass(&story, &head, 60);
    /* The largest values are an eighth of all room. */
    for (uint32_t span = 0; span < SLOTCACHE_SPANS; span++)
        put(&story, 5, span, span == SLOTCACHE_HOUR ? 60 : 5, large);
    CHECK(slotcache_bytes(story.cache) <= 40000);
    CHECK_EQ(get(&story, 5, 0, 10).n_steps, 0);
    CHECK_EQ(get(&story, 5, 11, 10).n_steps, 5);
    CHECK_EQ(get(&story, 5, SLOTCACHE_HOUR, 10).n_steps, 60);
    slotcache_end(story.cache);
    begin_pass(&story, &head, 60);
    CHECK_EQ(plan(&story, 6).until[0], 0);
    CHECK_EQ(plan(&story, 6).until[11], 5);
    /* When all else is gone there is no room, and no more slots are wanted. */
    for (uint32_t group = 6; group < 20; group++)
        put(&story, group, SLOTCACHE_HOUR, 60, large);
    CHECK(slotcache_bytes(story.cache) <= 40000);
    CHECK_EQ(get(&story, 5, 11, 10).n_steps, 0);
    CHECK_EQ(get(&story, 5, SLOTCACHE_HOUR, 10).n_steps, 60);
    CHECK_EQ(get(&story, 19, SLOTCACHE_HOUR, 10).n_steps, 0);
    CHECK_EQ(plan(&story, 19).until[SLOTCACHE_HOUR], 0);
    slotcache_end(story.cache);
    /* The next hour has precedence. */
    begin_pass(&story, &(struct slotcache_head){ head.day, head.hour_ns + DAY_HOUR_NS, 1 }, 60);
    CHECK(put(&story, 5, 0, 5, large));
    CHECK_EQ(get(&story, 5, SLOTCACHE_HOUR, 10).n_steps, 0);
    slotcache_end(story.cache);
    end(&story);
}

TEST(slotcache_does_not_try_again_what_is_too_large)
{
    static char large[4000];
    struct story story;

    memset(large, 'x', sizeof(large) - 1);
    begin(&story, 20000);
    begin_pass(&story, &head, 5);
    CHECK(!put(&story, 5, 0, 5, large));
    CHECK_EQ(plan(&story, 5).until[0], 0);
    slotcache_refuse(story.cache, 1, 6, 0);
    CHECK_EQ(plan(&story, 6).until[0], 0);
    CHECK_EQ(plan(&story, 7).until[0], 5);
    slotcache_end(story.cache);
    end(&story);
}

TEST(slotcache_forgets_heads_and_days)
{
    const struct slotcache_head other = { head.day, head.hour_ns, 2 }, foreign = { DAY(1), head.hour_ns, 1 };
    const struct slotcache_head *heads[] = { &head, &other, &foreign };
    struct story story;
    struct slotcache_value value;
    struct error err;
    size_t bytes;

    begin(&story, 1 << 20);
    for (size_t i = 0; i < 3; i++) {
        begin_pass(&story, heads[i], 5);
        CHECK(put(&story, 5, 0, 5, "sums"));
        slotcache_end(story.cache);
    }
    bytes = slotcache_bytes(story.cache);
    slotcache_forget_head(story.cache, &head);
    CHECK_EQ(get(&story, 5, 0, 10).n_steps, 0);
    CHECK_OK(slotcache_get(story.cache, &other, 1, 5, 0, 10, SLOTCACHE_BOTH, &story.arena, &value, &err), &err);
    CHECK_EQ(value.n_steps, 5);
    slotcache_forget_day(story.cache, head.day);
    CHECK_OK(slotcache_get(story.cache, &other, 1, 5, 0, 10, SLOTCACHE_BOTH, &story.arena, &value, &err), &err);
    CHECK_EQ(value.n_steps, 0);
    CHECK_OK(slotcache_get(story.cache, &foreign, 1, 5, 0, 10, SLOTCACHE_BOTH, &story.arena, &value, &err), &err);
    CHECK_EQ(value.n_steps, 5);
    CHECK_EQ(slotcache_bytes(story.cache), bytes / 3);
    slotcache_forget_day(story.cache, foreign.day);
    CHECK_EQ(slotcache_bytes(story.cache), 0);
    end(&story);
}

TEST(slotcache_that_is_not_there_holds_nothing)
{
    struct story story = { 0 };

    arena_init(&story.arena, 0);
    begin_pass(&story, &head, 5);
    CHECK_EQ(plan(&story, 5).until[0], 0);
    CHECK(!put(&story, 5, 0, 5, "sums"));
    slotcache_refuse(NULL, 1, 5, 0);
    slotcache_end(NULL);
    slotcache_drop(NULL, &head, 1, 5, head.hour_ns);
    slotcache_forget_head(NULL, &head);
    slotcache_forget_day(NULL, head.day);
    CHECK_EQ(get(&story, 5, 0, 10).n_steps, 0);
    CHECK_EQ(slotcache_bytes(NULL), 0);
    end(&story);
}

/* A pass with a late row; whatever fails, nothing of what the row belongs to may be there. */
static int live(void *context, struct error *err)
{
    struct story story;
    struct slotcache_value value;
    int result;

    arena_init(&story.arena, 0);
    if (slotcache_new(1 << 20, &story.cache, err) < 0)
        return -1;
    result = slotcache_begin(story.cache, &head, head.hour_ns + DAY_HOUR_NS, err);
    if (!result) {
        bool is_put = put(&story, 5, 0, 5, "a");

        slotcache_drop(story.cache, &head, 1, 6, head.hour_ns);
        CHECK(!put(&story, 6, 0, 5, "b"));
        if (!is_put || !put(&story, 7, 0, 5, "c"))
            result = error_set(err, ERR_MEMORY, "nothing is taken");
        slotcache_end(story.cache);
    }
    if (!result && slotcache_get(story.cache, &head, 1, 5, 0, 10, SLOTCACHE_BOTH, &story.arena, &value, err) < 0)
        result = -1;
    else if (!result)
        CHECK_TEXT(value.rollup, SLICE("a"));
    end(&story);
    return result;
}

TEST(slotcache_survives_any_allocation_failing)
{
    test_each_allocation_failing(live, NULL);
}
