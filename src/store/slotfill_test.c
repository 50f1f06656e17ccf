// SPDX-License-Identifier: Apache-2.0
#include "store/slotfill.h"

#include "base/clock.h"
#include "store/day_sample_test.h"
#include "store/slotcache.h"
#include "store/sumscan.h"
#include "store/windowscan.h"

/* What store_sum says, from what it has, and from the rows alone: steps of a nanosecond leave it no other choice. */
struct answer {
    int64_t total, duration_ns;
    uint64_t n_rows;
    struct store_reads reads;
};

static int take_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static int add_sums(void *context, const struct store_sums *sums, struct error *err)
{
    struct answer *answer = context;

    for (uint32_t i = 0; i < sums->n_stacks; i++)
        answer->total += sums->sums[i] * (1 + sums->stacks[i]);
    answer->n_rows += sums->n_rows;
    answer->duration_ns += sums->duration_ns;
    return 0;
}

static int ask(struct day *day, const char *tenant, int64_t from_ns, int64_t until_ns, int64_t step_ns,
               struct answer *ret_answer, struct error *err)
{
    struct store_query query = { .tenant = slice_from(tenant), .from_ns = from_ns, .until_ns = until_ns };

    *ret_answer = (struct answer){ 0 };
    return sumscan_day(day, &query, step_ns, &(struct store_sum_sink){ ret_answer, take_names, add_sums },
                       &ret_answer->reads, err);
}

/* What store_windows says; `digest` does not depend on how rows are divided into lists. */
struct listing {
    uint64_t digest, n_rows;
    struct store_reads reads;
};

static int add_windows(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    struct slice instance = seriesinfo_label(series, SLICE("instance"));
    struct listing *listing = context;

    for (uint32_t i = 0; i < windows->n_rows; i++) {
        uint64_t row = hash_bytes64(instance, windows->n_types);

        for (uint32_t type = 0; type < windows->n_types; type++)
            row = hash_mix64(row + (uint64_t)windows->totals[(size_t)type * windows->n_rows + i]);
        row = hash_mix64(row + (uint64_t)windows->durations_ns[i]);
        listing->digest += hash_mix64(row + (uint64_t)windows->starts_ns[i]);
        CHECK(i == 0 || windows->starts_ns[i - 1] <= windows->starts_ns[i]);
    }
    listing->n_rows += windows->n_rows;
    return 0;
}

static int list(struct day *day, const char *tenant, int64_t from_ns, int64_t until_ns, bool is_brief,
                struct listing *ret_listing, struct error *err)
{
    struct store_query query = { .tenant = slice_from(tenant), .from_ns = from_ns, .until_ns = until_ns };

    *ret_listing = (struct listing){ 0 };
    return windowscan_day(day, &query, &(struct store_window_sink){ ret_listing, add_windows, is_brief },
                          &ret_listing->reads, err);
}

/* With starts, durations and totals alone, and with all that rows have; the first with what it was made of. */
static struct listing check_windows(struct day_sample *sample, double from, double until)
{
    struct listing brief, full;
    struct error err;

    CHECK_OK(list(sample->day, STORE_TENANT_DEFAULT, day_sample_time(from), day_sample_time(until), true, &brief, &err),
             &err);
    CHECK_OK(list(sample->day, STORE_TENANT_DEFAULT, day_sample_time(from), day_sample_time(until), false, &full, &err),
             &err);
    CHECK_EQ(brief.digest, full.digest);
    CHECK_EQ(brief.n_rows, full.n_rows);
    return brief;
}

/* Asks both ways; the answer with what it was made of. Windows answer all that is there, too. */
static struct answer check_same(struct day_sample *sample, double from, double until)
{
    struct answer answer, rows;
    struct error err;

    CHECK_OK(ask(sample->day, STORE_TENANT_DEFAULT, day_sample_time(from), day_sample_time(until), 0, &answer, &err),
             &err);
    CHECK_OK(ask(sample->day, STORE_TENANT_DEFAULT, day_sample_time(from), day_sample_time(until), 1, &rows, &err),
             &err);
    CHECK_EQ(answer.total, rows.total);
    CHECK_EQ(answer.n_rows, rows.n_rows);
    CHECK_EQ(answer.duration_ns, rows.duration_ns);
    CHECK_EQ(rows.reads.n_rows, rows.n_rows);
    CHECK_EQ(check_windows(sample, from, until).n_rows, rows.n_rows);
    return answer;
}

/* A pass `minutes` after hour 7 began, and half a minute. */
static void fill_at(struct day_sample *sample, double minutes)
{
    struct error err;

    CHECK_OK(slotfill_day(sample->day, day_sample_time(7) + (int64_t)(minutes * 60e9) + SLOTCACHE_USUAL_DELAY_NS,
                          day_sample_time(6), &err),
             &err);
}

static void begin(struct day_sample *sample, size_t max_bytes)
{
    struct error err;

    day_sample_init(sample);
    CHECK_OK(slotcache_new(max_bytes, &sample->context.slots, &err), &err);
    sample->context.recent_bytes = 1 << 16;
    day_sample_reopen(sample);
}

static void end(struct day_sample *sample)
{
    struct slotcache *slots = sample->context.slots;

    day_sample_done(sample);
    slotcache_free(slots);
}

static const char *const instances[] = { "one", "two" };

/* A row a minute of each of two instances, in hour 7; one of another service every ten minutes. */
static void write_minutes(struct day_sample *sample, unsigned from, unsigned until)
{
    for (unsigned i = from; i < until; i++) {
        for (unsigned k = 0; k < 2; k++)
            day_sample_write(sample, &(struct day_sample_profile){ .instance = instances[k],
                                                                   .hour = 7 + (i + 0.5) / 60,
                                                                   .first_stack = i % 5,
                                                                   .n_stacks = 1 + i % 7 });
        if (i % 10 == 0)
            day_sample_write(
                sample, &(struct day_sample_profile){ .service = "web", .hour = 7 + (i + 0.5) / 60, .n_stacks = 3 });
    }
}

TEST(slotfill_adds_up_what_is_over_and_only_the_rest_is_read)
{
    struct day_sample sample;
    struct answer answer;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 18);
    CHECK_EQ(check_same(&sample, 6.9, 7.5).reads.n_rows, 38);
    fill_at(&sample, 17);
    /* Two groups: three slots as the hour so far, two minutes of the fourth, which "web" has no rows in. */
    answer = check_same(&sample, 6.9, 7.5);
    CHECK_EQ(answer.n_rows, 38);
    CHECK_EQ(answer.reads.n_hours, 2);
    CHECK_EQ(answer.reads.n_slots, 1);
    CHECK_EQ(answer.reads.n_rows, 2);
    CHECK(answer.reads.n_bytes > 0);
    /* From the second slot on, to the middle of the third one. */
    answer = check_same(&sample, 7 + 5 / 60.0, 7 + 12.7 / 60);
    CHECK_EQ(answer.reads.n_hours, 0);
    CHECK_EQ(answer.reads.n_slots, 1);
    CHECK_EQ(answer.reads.n_rows, 2 * 3 + 1);
    /* The next minutes are added to what is there. */
    write_minutes(&sample, 18, 22);
    fill_at(&sample, 22);
    answer = check_same(&sample, 6.9, 7.5);
    CHECK_EQ(answer.n_rows, 44 + 3);
    CHECK_EQ(answer.reads.n_hours, 2);
    CHECK_EQ(answer.reads.n_slots, 2);
    CHECK_EQ(answer.reads.n_rows, 0);
    end(&sample);
}

TEST(slotfill_keeps_windows_for_any_range)
{
    struct day_sample sample;
    struct listing listing;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 18);
    CHECK_EQ(check_windows(&sample, 6.9, 7.5).reads.n_rows, 38);
    fill_at(&sample, 17);
    listing = check_windows(&sample, 6.9, 7.5);
    CHECK_EQ(listing.n_rows, 38);
    CHECK_EQ(listing.reads.n_parts, 3); /* two groups; one has two minutes in the fourth slot */
    CHECK_EQ(listing.reads.n_rows, 2);
    CHECK(listing.reads.n_bytes > 0);
    /* A range that begins and ends anywhere reads no rows, either, of what is over. */
    listing = check_windows(&sample, 7 + 3.7 / 60, 7 + 16.2 / 60);
    CHECK_EQ(listing.n_rows, 2 * 12 + 1);
    CHECK_EQ(listing.reads.n_rows, 0);
    listing = check_windows(&sample, 7 + 3.7 / 60, 7 + 3.8 / 60);
    CHECK_EQ(listing.n_rows, 0);
    CHECK_EQ(listing.reads.n_rows, 0);
    /* Nor are windows read that the range has nothing of. */
    CHECK_EQ(check_windows(&sample, 7 + 15.1 / 60, 7 + 16.9 / 60).reads.n_parts, 1);
    /* More is appended; a late row takes those of its slot away. */
    write_minutes(&sample, 18, 22);
    fill_at(&sample, 22);
    CHECK_EQ(check_windows(&sample, 7, 8).reads.n_rows, 0);
    day_sample_write(&sample, &(struct day_sample_profile){ .instance = "two", .hour = 7.1, .n_stacks = 4 });
    listing = check_windows(&sample, 7, 8);
    CHECK_EQ(listing.n_rows, 48);
    CHECK_EQ(listing.reads.n_rows, 11);
    fill_at(&sample, 24);
    CHECK_EQ(check_windows(&sample, 7, 8).reads.n_rows, 0);
    end(&sample);
}

TEST(slotfill_waits_until_a_minute_is_over)
{
    struct day_sample sample;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 10);
    fill_at(&sample, 0.9);
    CHECK_EQ(slotcache_bytes(sample.context.slots), 0);
    CHECK_EQ(check_same(&sample, 7, 8).reads.n_rows, 21);
    fill_at(&sample, 1);
    CHECK_EQ(check_same(&sample, 7, 8).reads.n_rows, 18);
    fill_at(&sample, 1.9);
    CHECK_EQ(check_same(&sample, 7, 8).reads.n_rows, 18);
    end(&sample);
}

TEST(slotfill_notices_rows_that_come_late)
{
    struct day_sample sample;
    struct answer answer;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 20);
    fill_at(&sample, 20);
    CHECK_EQ(check_same(&sample, 7, 8).reads.n_rows, 0);
    /* Into a slot of one group, of a new series; the hour so far of the group is gone, its other slots are not. */
    day_sample_write(&sample, &(struct day_sample_profile){ .instance = "three", .hour = 7.1, .n_stacks = 4 });
    answer = check_same(&sample, 7, 8);
    CHECK_EQ(answer.n_rows, 43);
    CHECK_EQ(answer.reads.n_hours, 1);
    CHECK_EQ(answer.reads.n_slots, 3);
    CHECK_EQ(answer.reads.n_rows, 11);
    /* A row behind what is there drops nothing, and a new group has nothing to drop. */
    write_minutes(&sample, 21, 22);
    day_sample_write(&sample, &(struct day_sample_profile){ .service = "new", .hour = 7.05, .n_stacks = 4 });
    answer = check_same(&sample, 7, 8);
    CHECK_EQ(answer.reads.n_slots, 3);
    CHECK_EQ(answer.reads.n_rows, 11 + 2 + 1);
    /* Built again; the group now has more time, so its last minute is not there yet. */
    fill_at(&sample, 22);
    answer = check_same(&sample, 7, 8);
    CHECK_EQ(answer.n_rows, 46);
    CHECK_EQ(answer.reads.n_hours, 3);
    CHECK_EQ(answer.reads.n_rows, 2);
    end(&sample);
}

TEST(slotfill_answers_for_its_tenant_and_its_head_alone)
{
    struct day_sample sample;
    struct answer answer;
    struct listing listing;
    struct error err;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 20);
    day_sample_write(&sample, &(struct day_sample_profile){ .tenant = "other", .hour = 7.1, .n_stacks = 9 });
    fill_at(&sample, 20);
    CHECK_OK(ask(sample.day, "other", day_sample_time(7), day_sample_time(8), 0, &answer, &err), &err);
    CHECK_EQ(answer.n_rows, 1);
    CHECK_EQ(answer.reads.n_hours, 1);
    CHECK_OK(list(sample.day, "other", day_sample_time(7), day_sample_time(8), true, &listing, &err), &err);
    CHECK_EQ(listing.n_rows, 1);
    CHECK_EQ(listing.reads.n_parts, 1);
    CHECK_OK(hour_close(sample.day, 0, &err), &err);
    CHECK_EQ(slotcache_bytes(sample.context.slots), 0);
    /* Late rows open another head. */
    write_minutes(&sample, 15, 25);
    answer = check_same(&sample, 7, 8);
    CHECK_EQ(answer.n_rows, 42 + 21);
    fill_at(&sample, 25);
    answer = check_same(&sample, 7, 8);
    CHECK_EQ(answer.n_rows, 42 + 21);
    CHECK_EQ(answer.reads.n_rows, 0);
    end(&sample);
}

TEST(slotfill_leaves_deletions_to_the_rows)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct day_sample sample;
    struct answer answer;
    struct error err;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 20);
    fill_at(&sample, 20);
    CHECK_OK(selector_new(SLICE("{instance=\"one\"}"), &selector, &err), &err);
    CHECK_OK(
        day_delete(sample.day, SLICE(STORE_TENANT_DEFAULT), selector, day_sample_time(7.1), day_sample_time(7.2), &err),
        &err);
    answer = check_same(&sample, 7, 8);
    CHECK_EQ(answer.n_rows, 42 - 6);
    CHECK_EQ(answer.reads.n_hours, 1);
    CHECK_EQ(answer.reads.n_rows, 34);
    CHECK_EQ(check_windows(&sample, 7, 8).reads.n_rows, 34);
    /* A range that the deletion does not touch. */
    answer = check_same(&sample, 7.25, 7 + 20 / 60.0);
    CHECK_EQ(answer.reads.n_slots, 1);
    end(&sample);
}

TEST(slotfill_leaves_hours_alone_that_are_about_to_be_closed)
{
    struct day_sample sample;
    struct error err;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 20);
    CHECK_OK(slotfill_day(sample.day, day_sample_time(8.2), day_sample_time(8), &err), &err);
    CHECK_EQ(slotcache_bytes(sample.context.slots), 0);
    end(&sample);
}

TEST(slotfill_starts_anew_when_the_day_is_opened_again)
{
    struct day_sample sample;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 20);
    fill_at(&sample, 20);
    day_sample_reopen(&sample);
    CHECK_EQ(slotcache_bytes(sample.context.slots), 0);
    CHECK_EQ(check_same(&sample, 7, 8).reads.n_rows, 42);
    fill_at(&sample, 20);
    CHECK_EQ(check_same(&sample, 7, 8).reads.n_rows, 0);
    end(&sample);
}

TEST(slotfill_takes_several_passes_where_memory_is_short)
{
    struct day_sample sample;
    uint64_t n_rows;

    begin(&sample, 1 << 20);
    sample.context.close_bytes = 3 << 10;
    write_minutes(&sample, 0, 30);
    fill_at(&sample, 30);
    n_rows = check_same(&sample, 7.05, 7.5).reads.n_rows;
    CHECK(n_rows > 2);
    for (unsigned i = 1; i <= 6; i++)
        fill_at(&sample, 30 + i);
    CHECK(check_same(&sample, 7.05, 7.5).reads.n_rows < n_rows);
    /* What is too large alone is never there. */
    sample.context.close_bytes = 1;
    write_minutes(&sample, 37, 40);
    fill_at(&sample, 40);
    check_same(&sample, 7, 8);
    end(&sample);
}

TEST(slotfill_leaves_a_damaged_head_alone)
{
    struct day_sample sample;
    struct buffer key, value;
    uint32_t family;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 10);
    family = sample.day->heads.items[0].family;
    buffer_init(&key, 0);
    buffer_init(&value, 0);
    CHECK(day_sample_find(&sample, family, SLICE(""), &key, &value));
    day_sample_put(&sample, family, buffer_slice(&key), SLICE("\x01no row"));
    buffer_done(&key);
    buffer_done(&value);
    fill_at(&sample, 10);
    CHECK_EQ(sample.context.n_damaged, 1);
    CHECK_EQ(check_same(&sample, 7, 8).reads.n_rows, 20);
    /* It is not tried again and again; answers count what they skip. */
    CHECK_EQ(sample.context.n_damaged, 5);
    write_minutes(&sample, 10, 11);
    fill_at(&sample, 12);
    CHECK_EQ(sample.context.n_damaged, 5);
    end(&sample);
}

/* From nothing, each time. */
static int fill_anew(void *context, struct error *err)
{
    struct day_sample *sample = context;

    slotcache_forget_day(sample->context.slots, sample->day);
    sample->day->slots_until_ns = sample->day->start_ns;
    for (unsigned minutes = 6; minutes <= 12; minutes += 6)
        if (slotfill_day(sample->day, day_sample_time(7) + minutes * 60 * CLOCK_NS_PER_SECOND, day_sample_time(6),
                         err) < 0)
            return -1;
    return 0;
}

static int list_all(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct listing listing;

    if (list(sample->day, STORE_TENANT_DEFAULT, day_sample_time(7), day_sample_time(8), true, &listing, err) < 0)
        return -1;
    CHECK_EQ(listing.n_rows, 26);
    CHECK(listing.reads.n_parts > 0 && listing.reads.n_rows > 0);
    return 0;
}

TEST(slotfill_survives_failing_allocations)
{
    struct day_sample sample;

    begin(&sample, 1 << 20);
    write_minutes(&sample, 0, 12);
    test_each_allocation_failing(fill_anew, &sample);
    check_same(&sample, 7, 8);
    test_each_allocation_failing(list_all, &sample);
    end(&sample);
}
