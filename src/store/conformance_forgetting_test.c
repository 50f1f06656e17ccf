// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 4: deleting, keeping, retention, and data that comes late. */
#include "store/store_sample_test.h"

/* --- deleting --- */

static uint32_t delete_as(struct store_sample *sample, const struct store_sample_query *asked)
{
    struct store_query query = store_sample_ask(asked);
    uint32_t n_days;
    struct error err;

    CHECK_OK(store_delete(sample->store, &query, &n_days, &err), &err);
    store_sample_asked(&query);
    return n_days;
}
#define DELETE(sample, ...) delete_as((sample), &(const struct store_sample_query){ __VA_ARGS__ })

static void write_four(struct store_sample *sample)
{
    STORE_SAMPLE_WRITE(sample,
                       { .at = "15T10:00", .service = "api", .samples = "a 1 10 {thread=t1}|b 2 20 {thread=t2}" },
                       { .at = "15T10:40", .service = "api", .samples = "c 3 30 {thread=t1}" },
                       { .at = "15T10:00", .service = "web", .samples = "d 4 40" },
                       { .at = "14T10:00", .service = "api", .samples = "e 5 50" });
}

struct wanted {
    const char *sums;
    const char *services;
};

static void check_wanted(struct store_sample *sample, const void *context)
{
    const struct wanted *wanted = context;

    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), wanted->sums);
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "service_name"), wanted->services);
}

CONFORMANCE(deletes_a_series_from_answers_at_once)
{
    struct wanted wanted = { "d 4 40\n", "web" };

    write_four(sample);
    CHECK_EQ(DELETE(sample, .selector = "service_name=api"), 2);
    store_sample_each_stage(sample, "15T15:00", check_wanted, &wanted);
}

CONFORMANCE(deletes_from_hours_that_are_closed)
{
    struct wanted wanted = { "d 4 40\n", "web" };

    write_four(sample);
    store_sample_pass(sample, 2);
    CHECK_EQ(DELETE(sample, .selector = "service_name=api"), 2);
    store_sample_each_stage(sample, "15T15:00", check_wanted, &wanted);
}

CONFORMANCE(deletes_single_samples_by_their_labels)
{
    struct wanted wanted = { "b 2 20\nd 4 40\ne 5 50\n", "api web" };

    write_four(sample);
    CHECK_EQ(DELETE(sample, .selector = "thread=t1", .from = "15T00:00"), 1);
    store_sample_each_stage(sample, "15T15:00", check_wanted, &wanted);
}

CONFORMANCE(deletes_no_more_than_the_range)
{
    struct wanted wanted = { "c 3 30\nd 4 40\ne 5 50\n", "api web" };

    write_four(sample);
    CHECK_EQ(DELETE(sample, .selector = "service_name=api", .from = "15T10:00", .until = "15T10:40"), 1);
    store_sample_each_stage(sample, "15T15:00", check_wanted, &wanted);
}

CONFORMANCE(deletes_everything_of_a_range_without_a_selector)
{
    struct wanted wanted = { "e 5 50\n", "api" };

    write_four(sample);
    CHECK_EQ(DELETE(sample, .from = "15T00:00", .until = "16T00:00"), 1);
    store_sample_each_stage(sample, "15T15:00", check_wanted, &wanted);
}

CONFORMANCE(does_not_delete_what_is_written_afterwards)
{
    struct wanted wanted = { "a 7 70\nd 4 40\n", "api web" };

    write_four(sample);
    DELETE(sample, .selector = "service_name=api");
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = "a 7 70 {thread=t1}" });
    store_sample_each_stage(sample, "15T15:00", check_wanted, &wanted);
    /* Also not after the deletion itself was forgotten. */
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = "a 1 10" });
    wanted.sums = "a 8 80\nd 4 40\n";
    store_sample_each_stage(sample, "15T15:00", check_wanted, &wanted);
}

CONFORMANCE(deletes_again_and_again)
{
    struct wanted wanted = { "", "" };

    for (unsigned round = 0; round < 3; round++) {
        write_four(sample);
        DELETE(sample, .selector = "service_name=api");
        check_wanted(sample, &(struct wanted){ "d 4 40\n", "web" });
        if (round == 1)
            store_sample_compact(sample);
        DELETE(sample, .selector = "service_name=web");
        check_wanted(sample, &wanted);
        store_sample_reopen(sample);
        check_wanted(sample, &wanted);
    }
    store_sample_each_stage(sample, "15T15:00", check_wanted, &wanted);
}

CONFORMANCE(forgets_a_deletion_once_its_hours_were_written_anew)
{
    struct store_stats stats;

    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = "a 1 10" },
                       { .at = "15T10:00", .service = "web", .samples = "b 2 20" });
    store_sample_pass(sample, 3);
    /* An hour that is open has nothing to do with it. */
    STORE_SAMPLE_WRITE(sample, { .at = "15T14:50", .service = "api", .samples = "a 1 10" });
    DELETE(sample, .selector = "service_name=api", .until = "15T12:00");
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.tombstones.n, 1);
    clock_fake_advance(120 * CLOCK_NS_PER_SECOND);
    store_sample_maintain(sample);
    for (unsigned round = 0; round < 2; round++) {
        store_sample_stats(sample, &stats);
        CHECK_EQ(stats.tombstones.n, 0);
        CHECK_EQ(stats.n_rows, 2);
        CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\n");
        store_sample_verify(sample);
        store_sample_reopen(sample);
    }
    /* The next one is not taken for applied. */
    DELETE(sample, .selector = "service_name=web");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\n");
    store_sample_compact(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\n");
}

static void check_neighbour(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "alice"), "d 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "bob"), "a 1 10\nz 9 90\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\n");
}

CONFORMANCE(deletes_nothing_of_another_tenant)
{
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = "a 1 10" });
    STORE_SAMPLE_WRITE_AS(sample, "alice", { .at = "15T10:00", .service = "api", .samples = "a 1 10" },
                          { .at = "15T10:00", .service = "web", .samples = "d 4 40" });
    STORE_SAMPLE_WRITE_AS(sample, "bob", { .at = "15T10:00", .service = "api", .samples = "a 1 10" });
    CHECK_EQ(DELETE(sample, .tenant = "alice", .selector = "service_name=api"), 1);
    CHECK_EQ(DELETE(sample, .tenant = "nobody", .selector = "service_name=api"), 0);
    STORE_SAMPLE_WRITE_AS(sample, "bob", { .at = "15T10:00", .service = "api", .samples = "z 9 90" });
    store_sample_each_stage(sample, "15T15:00", check_neighbour, NULL);
}

CONFORMANCE(frees_the_disk_of_what_was_deleted_by_compacting)
{
    struct store_stats before, after;
    char samples[4096];
    size_t len = 0;

    for (unsigned i = 0; i < 200; i++)
        len += (size_t)snprintf(samples + len, sizeof(samples) - len, "%sf%u 1 10", i ? "|" : "", i);
    for (unsigned i = 0; i < 30; i++)
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = samples },
                           { .at = "15T10:00", .service = "web", .samples = "d 4 40" });
    store_sample_pass(sample, 3);
    store_sample_stats(sample, &before);
    CHECK_EQ(before.n_samples, 30 * 201);
    CHECK_EQ(before.tombstones.n, 0);
    DELETE(sample, .selector = "service_name=api");
    store_sample_stats(sample, &after);
    CHECK_EQ(after.tombstones.n, 1);
    store_sample_compact(sample);
    store_sample_stats(sample, &after);
    CHECK_EQ(after.n_samples, 30);
    CHECK_EQ(after.n_rows, 30);
    CHECK_EQ(after.tombstones.n, 0);
    CHECK(after.samples.bytes < before.samples.bytes / 2);
    CHECK(after.block_bytes < before.block_bytes);
    store_sample_verify(sample);
}

/* --- keeping --- */

static int print_keep(void *context, const struct store_keep *keep, struct error *err)
{
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

    clock_format(keep->from_ns, CLOCK_ZONE_UTC, 0, from);
    clock_format(keep->until_ns, CLOCK_ZONE_UTC, 0, until);
    buffer_printf(context, "%.*s/%.*s %.*s %.8s-%.8s\n", SLICE_ARG(keep->tenant), SLICE_ARG(keep->name),
                  SLICE_ARG(keep->selector), from + 8, until + 8);
    return 0;
}

static struct slice list_keeps(struct store_sample *sample)
{
    struct buffer *text = store_sample_text(sample);
    struct error err;

    CHECK_OK(store_each_keep(sample->store, print_keep, text, &err), &err);
    return buffer_slice(text);
}

static int keep_as(struct store_sample *sample, const char *tenant, const char *name, const char *selector,
                   const char *from, const char *until, struct error *err)
{
    struct store_keep keep = { .tenant = slice_from(tenant),
                               .name = slice_from(name),
                               .selector = slice_from(selector),
                               .from_ns = store_sample_time(from),
                               .until_ns = store_sample_time(until) };

    return store_keep(sample->store, &keep, err);
}

CONFORMANCE(lists_replaces_and_removes_kept_ranges)
{
    struct error err;

    CHECK_TEXT(list_keeps(sample), "");
    CHECK_OK(keep_as(sample, NULL, "v2", "{service_name=\"api\"}", "14T10:00", "14T11:00", &err), &err);
    CHECK_OK(keep_as(sample, NULL, "v1", "{}", "13T10:00", "13T11:00", &err), &err);
    CHECK_OK(keep_as(sample, "bob", "v1", "{}", "12T10:00", "12T11:00", &err), &err);
    CHECK_OK(keep_as(sample, NULL, "v1", "{zone=\"eu\"}", "13T10:00", "13T12:00", &err), &err);
    store_sample_reopen(sample);
    CHECK_TEXT(list_keeps(sample), "anonymous/v1 {zone=\"eu\"} 13T10:00-13T12:00\n"
                                   "anonymous/v2 {service_name=\"api\"} 14T10:00-14T11:00\n"
                                   "bob/v1 {} 12T10:00-12T11:00\n");
    CHECK_OK(store_unkeep(sample->store, SLICE(""), SLICE("v1"), &err), &err);
    CHECK_ERROR(store_unkeep(sample->store, SLICE(""), SLICE("v1"), &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "'v1'");
    CHECK_TEXT(list_keeps(sample), "anonymous/v2 {service_name=\"api\"} 14T10:00-14T11:00\n"
                                   "bob/v1 {} 12T10:00-12T11:00\n");
}

CONFORMANCE(refuses_kept_ranges_that_make_no_sense)
{
    struct error err;

    CHECK_ERROR(keep_as(sample, NULL, "", "{}", "14T10:00", "14T11:00", &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "name");
    CHECK_ERROR(keep_as(sample, NULL, "v1", "{}", "14T10:00", "14T10:00", &err), &err, ERR_INVALID);
    CHECK_ERROR(keep_as(sample, NULL, "v1", "{a=", "14T10:00", "14T11:00", &err), &err, ERR_INVALID);
    CHECK_ERROR(keep_as(sample, "no tenant", "v1", "{}", "14T10:00", "14T11:00", &err), &err, ERR_INVALID);
    CHECK_TEXT(list_keeps(sample), "");
}

static void open_with_retention(struct store_sample *sample, int64_t days)
{
    sample->options.retention_ns = days * 24 * 3600 * CLOCK_NS_PER_SECOND;
    store_sample_reopen(sample);
}

CONFORMANCE(forgets_whole_days_when_their_time_is_over)
{
    struct store_stats stats;

    open_with_retention(sample, 3);
    STORE_SAMPLE_WRITE(sample, { .at = "13T10:00", .samples = "a 1 10" }, { .at = "14T00:00", .samples = "b 2 20" },
                       { .at = "15T10:00", .samples = "c 3 30" });
    store_sample_maintain(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\nc 3 30\n");
    /* A day is over when its last moment is: on the 17th the 13th has been gone for three days. */
    clock_fake_set(store_sample_time("2026-11-16T23:59:59Z"));
    store_sample_maintain(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\nc 3 30\n");
    clock_fake_set(store_sample_time("17T00:00"));
    store_sample_maintain(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "b 2 20\nc 3 30\n");
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_days, 2);
    store_sample_verify(sample);
    clock_fake_set(store_sample_time("25T00:00"));
    store_sample_maintain(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "");
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample), "");
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_days, 0);
}

static void check_kept(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "kept 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "bob"), "");
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample), "{__name__=\"process_cpu\", service_name=\"api\"}\n");
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample, .tenant = "bob"), "");
}

CONFORMANCE(keeps_pinned_ranges_past_retention_and_nothing_else)
{
    struct store_stats stats;
    struct error err;

    open_with_retention(sample, 3);
    STORE_SAMPLE_WRITE(sample,
                       { .at = "13T10:30", .service = "api", .samples = "kept 1 10 {thread=t1}|cut 1 10 {thread=t2}" },
                       { .at = "13T11:00", .service = "api", .samples = "later 2 20 {thread=t1}" },
                       { .at = "13T10:30", .service = "web", .samples = "other 3 30 {thread=t1}" },
                       { .at = "14T10:30", .service = "api", .samples = "next 4 40 {thread=t1}" });
    STORE_SAMPLE_WRITE_AS(sample, "bob", { .at = "13T10:30", .service = "api", .samples = "his 5 50 {thread=t1}" });
    CHECK_OK(keep_as(sample, NULL, "v1", "{service_name=\"api\", thread=\"t1\"}", "13T10:00", "13T11:00", &err), &err);
    clock_fake_set(store_sample_time("20T10:00"));
    store_sample_maintain(sample);
    store_sample_each_stage(sample, "20T12:00", check_kept, NULL);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_days, 1);
    CHECK_EQ(stats.n_samples, 1);
    /* Once nothing is kept of it, the day goes. */
    CHECK_OK(store_unkeep(sample->store, SLICE(""), SLICE("v1"), &err), &err);
    store_sample_maintain(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "");
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_days, 0);
}

CONFORMANCE(reduces_a_day_again_when_fewer_ranges_are_kept)
{
    struct error err;

    open_with_retention(sample, 3);
    STORE_SAMPLE_WRITE(sample, { .at = "13T10:30", .service = "api", .samples = "a 1 10" },
                       { .at = "13T12:30", .service = "web", .samples = "b 2 20" },
                       { .at = "13T13:30", .service = "web", .samples = "c 3 30" });
    CHECK_OK(keep_as(sample, NULL, "v1", "{service_name=\"api\"}", "13T00:00", "14T00:00", &err), &err);
    CHECK_OK(keep_as(sample, NULL, "v2", "{service_name=\"web\"}", "13T12:00", "13T13:00", &err), &err);
    clock_fake_set(store_sample_time("20T10:00"));
    store_sample_maintain(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\n");
    store_sample_verify(sample);
    CHECK_OK(store_unkeep(sample->store, SLICE(""), SLICE("v1"), &err), &err);
    store_sample_reopen(sample);
    store_sample_maintain(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "b 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "service_name"), "web");
    store_sample_verify(sample);
}

/* --- retention by bytes, and of single tenants --- */

/* Fills a day with about 300 kB, of which 30 are values that do not compress. */
static void write_bulk(struct store_sample *sample, const char *tenant, const char *at)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct store_sample_profile header = { .at = at, .service = "bulk", .types = "samples/count" };
    struct batch batch;
    struct store_write write = { .tenant = slice_from(tenant), .batch = &batch };
    struct store_receipt receipt;
    struct error err;
    uint64_t state = 1;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    store_sample_add(b, &header);
    for (unsigned i = 0; i < 5000; i++) {
        char name[64];

        snprintf(name, sizeof(name), "f%016llx%016llx", (unsigned long long)hash_mix64(state),
                 (unsigned long long)hash_mix64(state + 7));
        state += 13;
        builder_sample(b, store_sample_stack(b, slice_from(name)), 0, 0,
                       (int64_t[]){ hash_mix64(state + 3) & 0xffffff }, 0);
    }
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
}

static struct slice list_days(struct store_sample *sample, const char *tenant)
{
    struct buffer *text = store_sample_text(sample);
    static const char *const days[] = { "11T00:00", "12T00:00", "13T00:00", "14T00:00", "15T00:00", "16T00:00" };

    for (size_t i = 0; i + 1 < ARRAY_LEN(days); i++)
        if (STORE_SAMPLE_SERIES(sample, .tenant = tenant, .from = days[i], .until = days[i + 1]).len)
            buffer_printf(text, "%.2s ", days[i]);
    return buffer_slice(text);
}

CONFORMANCE(forgets_the_oldest_days_when_they_take_too_much_room)
{
    struct store_stats stats;

    write_bulk(sample, NULL, "12T10:00");
    write_bulk(sample, NULL, "13T10:00");
    write_bulk(sample, NULL, "14T10:00");
    write_bulk(sample, NULL, "15T10:00");
    store_sample_pass(sample, 3);
    store_sample_reopen(sample);
    CHECK_TEXT(list_days(sample, NULL), "12 13 14 15 ");
    store_sample_stats(sample, &stats);
    CHECK(stats.disk_bytes > 400000);
    sample->options.retention_bytes = stats.disk_bytes * 6 / 10;
    store_sample_reopen(sample);
    store_sample_maintain(sample);
    CHECK_TEXT(list_days(sample, NULL), "14 15 ");
    /* The day of today stays whatever it takes. */
    sample->options.retention_bytes = 1;
    store_sample_reopen(sample);
    store_sample_maintain(sample);
    CHECK_TEXT(list_days(sample, NULL), "15 ");
    store_sample_verify(sample);
}

CONFORMANCE(gives_way_when_others_fill_the_disk_unless_it_was_told_how_much_to_keep)
{
    struct store_stats stats;

    for (int day = 12; day <= 15; day++) {
        char at[32];

        snprintf(at, sizeof(at), "%dT10:00", day);
        STORE_SAMPLE_WRITE(sample, { .at = at, .samples = "a 1 10" });
    }
    store_sample_maintain(sample);
    sample->options.min_free_bytes = (uint64_t)1 << 62;
    sample->options.retention_bytes = (uint64_t)1 << 60;
    store_sample_reopen(sample);
    store_sample_maintain(sample);
    CHECK_TEXT(list_days(sample, NULL), "12 13 14 15 ");
    sample->options.retention_bytes = 0;
    store_sample_reopen(sample);
    store_sample_maintain(sample);
    CHECK_TEXT(list_days(sample, NULL), "15 ");
    CHECK_HAS(buffer_slice(&sample->log), "day 2026-11-14 dropped: the disk is getting full");
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_days, 1);
}

CONFORMANCE(refuses_to_take_what_it_would_forget_at_once)
{
    struct store *store;
    struct error err;

    store_sample_close(sample);
    sample->options.retention_ns = (int64_t)24 * 3600 * CLOCK_NS_PER_SECOND;
    sample->options.max_age_ns = sample->options.retention_ns + CLOCK_NS_PER_SECOND;
    CHECK_ERROR(sample->kind->open(&sample->options, &store, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "profiles of an age of 86401 s are to be accepted, but forgotten after 86400 s");
    sample->options.max_age_ns = sample->options.retention_ns;
    store_sample_open(sample);
}

CONFORMANCE(forgets_days_of_a_single_tenant_by_its_own_limits)
{
    struct store_tenant_limits limits[] = {
        { .tenant = "old", .retention_ns = (int64_t)2 * 24 * 3600 * CLOCK_NS_PER_SECOND },
        { .tenant = "big", .retention_bytes = 50000 },
    };

    /* Written while they had no limits. */
    for (int day = 12; day <= 15; day++) {
        char at[32];

        snprintf(at, sizeof(at), "%dT10:00", day);
        STORE_SAMPLE_WRITE(sample, { .at = at, .samples = "a 1 10" });
        STORE_SAMPLE_WRITE_AS(sample, "old", { .at = at, .samples = "a 1 10", .id = (uint64_t)day });
        write_bulk(sample, "big", at);
    }
    store_sample_pass(sample, 1);
    sample->options.tenants = limits;
    sample->options.n_tenants = 2;
    store_sample_reopen(sample);
    store_sample_maintain(sample);
    CHECK_TEXT(list_days(sample, NULL), "12 13 14 15 ");
    CHECK_TEXT(list_days(sample, "old"), "13 14 15 ");
    CHECK_TEXT(list_days(sample, "big"), "15 "); /* today stays whatever it takes */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "old"), "a 3 30\n");
    store_sample_verify(sample);
    store_sample_maintain(sample);
    store_sample_reopen(sample);
    store_sample_verify(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "old"), "a 3 30\n");
    /* A tenant that lost a day can write to it again, if it is not too old for it. */
    STORE_SAMPLE_WRITE_AS(sample, "big", { .at = "13T10:00", .samples = "new 1 10 {thread=t1}" });
    CHECK_TEXT(STORE_SAMPLE_ROWS(sample, .tenant = "big", .from = "13T00:00", .until = "14T00:00"),
               "13T10:00:00+10s every 10000000 {__name__=\"process_cpu\", service_name=\"unknown_service\"} "
               "[process_cpu:samples:count:cpu:nanoseconds process_cpu:cpu:nanoseconds:cpu:nanoseconds] "
               "new 1 10 {thread=t1}\n");
    store_sample_verify(sample);
}

CONFORMANCE(refuses_what_is_older_than_the_tenants_own_retention)
{
    struct store_tenant_limits limits = { .tenant = "short", .retention_ns = 24 * 3600 * CLOCK_NS_PER_SECOND };
    struct store_sample_profile profile = { .at = "14T11:00", .samples = "a 1 10" };
    struct store_receipt receipt;
    struct error err;

    sample->options.tenants = &limits;
    sample->options.n_tenants = 1;
    store_sample_reopen(sample);
    CHECK_ERROR(store_sample_try(sample, "short", &profile, 1, &receipt, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "too old");
    CHECK_EQ(STORE_SAMPLE_WRITE_AS(sample, "long", profile).n_written, 1);
}

/* --- late data --- */

static void check_late(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), context);
}

CONFORMANCE(takes_late_data_into_a_closed_hour_and_an_old_day)
{
    struct store_stats stats;

    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .samples = "a 1 10" });
    store_sample_pass(sample, 3);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.head_rows.n, 0);
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .samples = "a 1 10" }, { .at = "15T10:59", .samples = "b 2 20" },
                       { .at = "2026-10-16T16:00:00Z", .samples = "c 3 30" });
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.head_rows.n, 3);
    store_sample_each_stage(sample, "15T15:00", check_late, "a 2 20\nb 2 20\nc 3 30\n");
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.head_rows.n, 0);
    CHECK_EQ(stats.n_rows, 4);
}

CONFORMANCE(closes_the_hours_of_more_old_days_than_stay_open)
{
    struct store_stats stats;
    char at[32];

    store_sample_maintain(sample);
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .samples = "a 1 10" });
    store_sample_maintain(sample);
    for (int day = 1; day <= 14; day++) {
        snprintf(at, sizeof(at), "2026-11-%02dT10:00:00Z", day);
        STORE_SAMPLE_WRITE(sample, { .at = at, .samples = "a 1 10" });
    }
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.head_rows.n, 14);
    store_sample_maintain(sample);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.head_rows.n, 0);
    CHECK_EQ(stats.n_closed_samples, 15);
    CHECK(stats.n_open_days <= 12);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 15 150\n");
    /* Days nobody asks for are closed. */
    store_sample_pass(sample, 1);
    store_sample_maintain(sample);
    clock_fake_advance(300 * CLOCK_NS_PER_SECOND);
    store_sample_maintain(sample);
    STORE_SAMPLE_WRITE(sample, { .at = "15T12:30", .samples = "a 1 10" });
    store_sample_verify(sample);
}

CONFORMANCE(closes_an_hour_only_when_it_is_over_and_the_delay_has_passed)
{
    struct store_stats stats;

    STORE_SAMPLE_WRITE(sample, { .at = "15T11:30", .samples = "a 1 10" }, { .at = "15T12:00", .samples = "b 2 20" });
    clock_fake_set(store_sample_time("2026-11-15T12:04:59Z"));
    store_sample_maintain(sample);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.head_rows.n, 2);
    clock_fake_set(store_sample_time("15T12:05"));
    store_sample_maintain(sample);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.head_rows.n, 1);
    CHECK_EQ(stats.n_closed_samples, 1);
}

/* --- the disk --- */

CONFORMANCE(refuses_to_write_when_the_disk_is_nearly_full)
{
    struct store_sample_profile profile = { .at = "15T10:00", .samples = "a 1 10" };
    struct store_receipt receipt;
    struct error err;

    STORE_SAMPLE_WRITE(sample, profile);
    sample->options.min_free_bytes = (uint64_t)1 << 60;
    store_sample_reopen(sample);
    CHECK_ERROR(store_sample_try(sample, NULL, &profile, 1, &receipt, &err), &err, ERR_FULL);
    CHECK_HAS(err.text, "MiB free");
    CHECK_HAS(err.text, "--min-free");
    CHECK_HAS(buffer_slice(&sample->log), "nothing more is accepted until there is room");
    /* Looking and forgetting go on. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\n");
    CHECK_EQ(DELETE(sample, .selector = NULL), 1);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "");
}
