// SPDX-License-Identifier: Apache-2.0
#include "intake/sources.h"

#include "base/memory.h"
#include "base/test.h"

#include <stdio.h>

static struct sources *begin(void)
{
    struct sources *sources;
    struct error err;

    CHECK_OK(sources_new(&sources, &err), &err);
    return sources;
}

static void count(struct sources *sources, const char *tenant, const char *service, int64_t now_ns, uint64_t n_seen)
{
    struct source_counts counts = { .n_uploads = 1, .n_seen = n_seen, .n_stored = n_seen };

    sources_count(sources, slice_from(tenant), slice_from(service), SLICE("push"), now_ns, &counts, NULL);
}

struct listing {
    char text[1024];
    int len;
    uint64_t n_rows, n_seen;
};

static int list(void *context, const struct source_row *row, struct error *err)
{
    struct listing *listing = context;
    int room = (int)sizeof(listing->text) - listing->len;

    (void)err;
    listing->n_rows++;
    listing->n_seen += row->counts.n_seen;
    if (room > 100)
        listing->len +=
            snprintf(listing->text + listing->len, (size_t)room, "%.*s/%.*s/%.*s %llu\n", SLICE_ARG(row->tenant),
                     SLICE_ARG(row->service), SLICE_ARG(row->sender), (unsigned long long)row->counts.n_seen);
    return 0;
}

static struct listing listed(struct sources *sources)
{
    struct listing listing = { .len = 0 };
    struct error err;

    CHECK_OK(sources_each(sources, list, &listing, &err), &err);
    return listing;
}

TEST(sources_add_up_by_tenant_service_and_sender)
{
    struct sources *sources = begin();
    struct listing all;

    count(sources, "b", "api", 10, 1);
    count(sources, "a", "web", 11, 2);
    count(sources, "a", "api", 12, 3);
    count(sources, "b", "api", 13, 4);
    all = listed(sources);
    CHECK_TEXT(all.text, "a/api/push 3\na/web/push 2\nb/api/push 5\n");
    sources_free(sources);
}

static int keep_row(void *context, const struct source_row *row, struct error *err)
{
    (void)err;
    *(struct source_row *)context = *row;
    return 0;
}

TEST(sources_remember_the_last_error_and_when_they_were_seen)
{
    struct source_counts counts = { .n_uploads = 1, .n_seen = 2, .n_dropped = { [SOURCE_LIMIT] = 2 }, .n_bytes = 7 };
    struct sources *sources = begin();
    struct source_row row = { 0 };
    struct error err, story;

    error_set(&story, ERR_LIMIT, "too many");
    sources_count(sources, SLICE("t"), SLICE("s"), SLICE("x"), 5, &counts, &story);
    counts.n_dropped[SOURCE_LIMIT] = 0;
    counts.n_downsampled = 1;
    sources_count(sources, SLICE("t"), SLICE("s"), SLICE("x"), 9, &counts, NULL);
    CHECK_OK(sources_each(sources, keep_row, &row, &err), &err);
    CHECK_EQ(row.first_ns, 5);
    CHECK_EQ(row.last_ns, 9);
    CHECK_EQ(row.last_error_ns, 5);
    CHECK_TEXT(row.last_error, "too many");
    CHECK_EQ(row.counts.n_uploads, 2);
    CHECK_EQ(row.counts.n_dropped[SOURCE_LIMIT], 2);
    CHECK_EQ(row.counts.n_downsampled, 1);
    CHECK_EQ(row.counts.n_bytes, 14);
    sources_free(sources);
}

TEST(sources_beyond_the_most_make_way_and_no_number_is_lost)
{
    struct sources *sources = begin();
    struct listing all;
    char service[32], tenant[32];
    uint64_t n = 0;

    for (int i = 0; i < 3 * SOURCES_MAX; i++, n++) {
        snprintf(service, sizeof(service), "s%d", i);
        snprintf(tenant, sizeof(tenant), "t%d", i % 3);
        count(sources, tenant, service, i + 1, 1);
    }
    all = listed(sources);
    CHECK(all.n_rows <= SOURCES_MAX);
    CHECK(all.n_rows > SOURCES_MAX - 8);
    CHECK_EQ(all.n_seen, n);
    CHECK_HAS(all.text, "t0/other/other ");
    sources_free(sources);
}

TEST(sources_of_very_many_tenants_stay_bounded)
{
    struct sources *sources = begin();
    struct listing all;
    char tenant[32];
    uint64_t n = 0;

    for (int i = 0; i < 3 * SOURCES_MAX; i++, n++) {
        snprintf(tenant, sizeof(tenant), "t%d", i);
        count(sources, tenant, "api", i + 1, 1);
    }
    all = listed(sources);
    CHECK(all.n_rows <= SOURCES_MAX);
    CHECK_EQ(all.n_seen, n);
    CHECK_HAS(all.text, "other/other/other ");
    sources_free(sources);
}

TEST(sources_count_under_other_when_memory_runs_out)
{
    struct sources *sources = begin();
    struct listing all;

    memory_fail_at(1);
    count(sources, "a", "api", 1, 7);
    memory_fail_at(0);
    all = listed(sources);
    CHECK_TEXT(all.text, "other/other/other 7\n");
    sources_free(sources);
}

static int stop(void *context, const struct source_row *row, struct error *err)
{
    (void)context;
    (void)row;
    return error_set(err, ERR_CANCELLED, "enough");
}

TEST(sources_each_ends_where_the_visitor_says_so)
{
    struct sources *sources = begin();
    struct error err;

    count(sources, "a", "api", 1, 7);
    CHECK_ERROR(sources_each(sources, stop, NULL, &err), &err, ERR_CANCELLED);
    sources_free(sources);
}

static int new_step(void *context, struct error *err)
{
    struct sources *sources;

    (void)context;
    if (sources_new(&sources, err) < 0)
        return -1;
    sources_free(sources);
    return 0;
}

TEST(sources_new_survives_failing_allocations)
{
    test_each_allocation_failing(new_step, NULL);
}

TEST(sources_reasons_have_names)
{
    CHECK_TEXT(source_reason_name(SOURCE_INVALID), "invalid");
    CHECK_TEXT(source_reason_name(SOURCE_FAILED), "failed");
}
