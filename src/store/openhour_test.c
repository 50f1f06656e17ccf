// SPDX-License-Identifier: Apache-2.0
#include "store/openhour.h"

#include "store/day_sample_test.h"

enum { MAX_SPANS = 64 };

/* What is said to be in memory, and what was asked for and given. */
struct story {
    struct day_sample sample;
    uint8_t n_steps[SLOTCACHE_SPANS]; /* of every group */
    struct error failure;             /* of the next span, if it has a code */
    uint32_t asked[MAX_SPANS];
    uint32_t n_asked;
    uint64_t minutes; /* bit by bit: rows that were given */
    uint32_t n_rows;
};

static int give_span(void *context, const struct openhour_span *span, uint32_t *ret_n_steps, struct error *err)
{
    struct story *story = context;

    if (story->failure.code) {
        *err = story->failure;
        return -1;
    }
    CHECK_EQ(span->start_ns,
             day_sample_time(7) + (span->number == SLOTCACHE_HOUR ? 0 : (int64_t)span->number * DAY_SLOT_NS));
    CHECK_EQ(span->head->hour_ns, day_sample_time(7));
    CHECK(story->n_asked < MAX_SPANS);
    story->asked[story->n_asked++] = span->number;
    *ret_n_steps = story->n_steps[span->number];
    return 0;
}

static int give_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct story *story = context;

    story->minutes |= 1ull << (row->start_ns - day_sample_time(7)) / SLOTCACHE_STEP_NS;
    story->n_rows++;
    return 0;
}

/* A row in each minute of hour 7. */
static void begin(struct story *story)
{
    *story = (struct story){ 0 };
    day_sample_init(&story->sample);
    story->sample.context.recent_bytes = 1 << 16;
    day_sample_reopen(&story->sample);
    for (unsigned i = 0; i < 60; i++)
        day_sample_write(&story->sample, &(struct day_sample_profile){ .hour = 7 + (i + 0.5) / 60, .n_stacks = 1 });
}

static int read_hour(struct story *story, const char *selector_text, double from, double until, bool has_memory,
                     struct error *err)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct openhour_sink sink = { story, has_memory ? give_span : NULL, give_row };
    struct store_query query = { .from_ns = day_sample_time(from), .until_ns = day_sample_time(until) };
    struct dayread read = { 0 };
    int result;

    story->n_asked = story->n_rows = 0;
    story->minutes = 0;
    if (selector_new(slice_from(selector_text), &selector, err) < 0)
        return -1;
    query.selector = selector;
    result = dayread_open(&read, story->sample.day, SLICE(STORE_TENANT_DEFAULT), &query, err);
    if (!result)
        result = openhour_read(&read, 0, query.from_ns, query.until_ns, &sink, err);
    dayread_close(&read);
    return result;
}

/* The minutes [from, until). */
static uint64_t minutes_of(unsigned from, unsigned until)
{
    return ((1ull << (until - from)) - 1) << from;
}

TEST(openhour_reads_only_the_rows_that_memory_does_not_have)
{
    struct story story;
    struct error err;

    begin(&story);
    CHECK_OK(read_hour(&story, "", 7, 8, true, &err), &err);
    CHECK_EQ(story.n_rows, 60);
    CHECK_EQ(story.n_asked, SLOTCACHE_SPANS);
    CHECK_EQ(story.asked[0], SLOTCACHE_HOUR);
    /* Two slots by the hour so far; of the fourth one three minutes, of the last one all. */
    story.n_steps[SLOTCACHE_HOUR] = 10;
    story.n_steps[3] = 3;
    story.n_steps[11] = 5;
    CHECK_OK(read_hour(&story, "", 7, 8, true, &err), &err);
    CHECK_EQ(story.minutes, minutes_of(10, 15) | minutes_of(18, 55));
    CHECK_EQ(story.n_rows, 42);
    CHECK_EQ(story.n_asked, SLOTCACHE_SPANS - 2);
    /* Slots that the range does not touch are not asked for. */
    CHECK_OK(read_hour(&story, "", 6, 7 + 21 / 60.0, true, &err), &err);
    CHECK_EQ(story.minutes, minutes_of(10, 15) | minutes_of(18, 21));
    CHECK_EQ(story.n_asked, 1 + 3);
    CHECK_OK(read_hour(&story, "", 7 + 54 / 60.0, 9, true, &err), &err);
    CHECK_EQ(story.minutes, minutes_of(54, 55));
    CHECK_EQ(story.n_asked, 1 + 2);
    /* All of it. */
    story.n_steps[SLOTCACHE_HOUR] = SLOTCACHE_HOUR_STEPS;
    CHECK_OK(read_hour(&story, "", 7, 8, true, &err), &err);
    CHECK_EQ(story.n_rows, 0);
    CHECK_EQ(story.n_asked, 1);
    day_sample_done(&story.sample);
}

TEST(openhour_asks_memory_for_whole_groups_alone)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct story story;
    struct error err;

    begin(&story);
    story.n_steps[SLOTCACHE_HOUR] = SLOTCACHE_HOUR_STEPS;
    CHECK_OK(read_hour(&story, "{pid=\"12\"}", 7, 8, true, &err), &err);
    CHECK_EQ(story.n_asked, 0);
    CHECK_EQ(story.n_rows, 0);
    CHECK_OK(read_hour(&story, "", 7, 8, false, &err), &err);
    CHECK_EQ(story.n_rows, 60);
    CHECK_OK(read_hour(&story, "", 8, 9, true, &err), &err);
    CHECK_EQ(story.n_asked + story.n_rows, 0);
    /* Nor where something was deleted. */
    CHECK_OK(selector_new(SLICE("{service_name=\"api\"}"), &selector, &err), &err);
    CHECK_OK(day_delete(story.sample.day, SLICE(STORE_TENANT_DEFAULT), selector, day_sample_time(7.5),
                        day_sample_time(7.75), &err),
             &err);
    CHECK_OK(read_hour(&story, "", 7, 8, true, &err), &err);
    CHECK_EQ(story.n_asked, 0);
    CHECK_EQ(story.minutes, minutes_of(0, 30) | minutes_of(45, 60));
    day_sample_done(&story.sample);
}

TEST(openhour_passes_on_what_fails)
{
    struct story story;
    struct error err;

    begin(&story);
    IGNORE(error_set(&story.failure, ERR_LIMIT, "enough"), "it is the value that counts");
    CHECK_ERROR(read_hour(&story, "", 7, 8, true, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "enough");
    day_sample_done(&story.sample);
}

static int read_some(void *context, struct error *err)
{
    struct story *story = context;

    if (read_hour(story, "", 7, 8, true, err) < 0)
        return -1;
    CHECK_EQ(story->n_rows, 50);
    return 0;
}

TEST(openhour_survives_failing_allocations)
{
    struct story story;

    begin(&story);
    story.n_steps[SLOTCACHE_HOUR] = 10;
    test_each_allocation_failing(read_some, &story);
    day_sample_done(&story.sample);
}
