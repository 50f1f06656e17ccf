// SPDX-License-Identifier: Apache-2.0
#include "query/querycatalog.h"
#include "store/store_sample_test.h"

static int compare_services(const void *a, const void *b)
{
    return slice_compare(((const struct querycatalog_service *)a)->name,
                         ((const struct querycatalog_service *)b)->name);
}

struct asked_catalog {
    struct store *store;
    struct store_query query;
    struct arena arena;
    struct querycatalog catalog;
};

static int load(void *context, struct error *err)
{
    struct asked_catalog *asked = context;

    arena_reset(&asked->arena);
    return querycatalog_load(asked->store, &asked->query, &asked->arena, &asked->catalog, err);
}

/* A line for each service, with its types and how many series have them. */
static struct slice print(struct store_sample *sample, const struct store_sample_query *query)
{
    struct asked_catalog asked = { .store = sample->store, .query = store_sample_ask(query) };
    struct buffer *text = store_sample_text(sample);
    struct error err;

    arena_init(&asked.arena, 0);
    CHECK_OK(load(&asked, &err), &err);
    qsort((void *)asked.catalog.services, asked.catalog.n_services, sizeof(*asked.catalog.services), compare_services);
    for (uint32_t i = 0; i < asked.catalog.n_services; i++) {
        const struct querycatalog_service *service = &asked.catalog.services[i];

        buffer_printf(text, "%.*s", SLICE_ARG(service->name));
        for (uint32_t j = 0; j < service->n_types; j++)
            buffer_printf(text, " %.*s=%llu", SLICE_ARG(service->types[j].profile_type),
                          (unsigned long long)service->types[j].n_series);
        buffer_append_byte(text, '\n');
    }
    arena_done(&asked.arena);
    store_sample_asked(&asked.query);
    return buffer_slice(text);
}
#define PRINT(sample, ...) print((sample), &(const struct store_sample_query){ __VA_ARGS__ })

CONFORMANCE(querycatalog_load_finds_services_with_their_types)
{
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .labels = "zone=eu", .samples = "main 1 10" },
                       { .at = "15T10:00", .service = "api", .labels = "zone=us", .samples = "main 1 10" },
                       { .at = "15T10:00", .service = "api", .types = "wall/nanoseconds", .samples = "main 1" },
                       { .at = "14T10:00", .service = "old", .types = "wall/nanoseconds", .samples = "main 1" });
    STORE_SAMPLE_WRITE_AS(sample, "other",
                          { .at = "15T10:00", .service = "hidden", .types = "wall/nanoseconds", .samples = "main 1" });
    CHECK_TEXT(PRINT(sample, .from = "15T10:00"),
               "api process_cpu:cpu:nanoseconds:cpu:nanoseconds=2 process_cpu:samples:count:cpu:nanoseconds=2 "
               "wall:wall:nanoseconds::=1\n");
    CHECK_TEXT(PRINT(sample, .selector = "wall:wall:nanoseconds::{}"),
               "api wall:wall:nanoseconds::=1\nold wall:wall:nanoseconds::=1\n");
    CHECK_TEXT(PRINT(sample, .tenant = "other"), "hidden wall:wall:nanoseconds::=1\n");
    CHECK_TEXT(PRINT(sample, .selector = "{zone=\"none\"}"), "");
}

/* Beyond the series that a tenant may have, only rows and samples know their service. */
static void fill_up(struct store_sample *sample)
{
    sample->options.max_series = 1;
    store_sample_reopen(sample);
    STORE_SAMPLE_WRITE(sample,
                       { .at = "15T10:00", .service = "api", .types = "wall/nanoseconds", .samples = "main 1" });
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "web", .types = "wall/nanoseconds", .samples = "main 1" },
                       { .at = "15T10:01", .service = "web", .types = "wall/nanoseconds", .samples = "main 1" },
                       { .at = "15T10:02", .service = "shop", .samples = "main 1 10" },
                       { .at = "15T10:03",
                         .types = "wall/nanoseconds",
                         .service = "mixed",
                         .samples = "main 1 {service.name=left} | main 1 {service.name=right} | main 1" },
                       { .at = "15T11:00", .service = "late", .samples = "main 1 10" });
}

static void check_rows(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(PRINT(sample, .from = "15T10:00", .until = "15T11:00"),
               "api wall:wall:nanoseconds::=1\n"
               "left wall:wall:nanoseconds::=1\n"
               "mixed wall:wall:nanoseconds::=1\n"
               "right wall:wall:nanoseconds::=1\n"
               "shop process_cpu:cpu:nanoseconds:cpu:nanoseconds=1 process_cpu:samples:count:cpu:nanoseconds=1\n"
               "web wall:wall:nanoseconds::=1\n");
    CHECK_TEXT(PRINT(sample, .selector = "{service_name=\"web\"}"), "web wall:wall:nanoseconds::=1\n");
    CHECK_TEXT(PRINT(sample, .selector = "{service_name=\"right\"}"), "right wall:wall:nanoseconds::=1\n");
}

CONFORMANCE(querycatalog_load_asks_rows_that_know_better)
{
    fill_up(sample);
    store_sample_each_stage(sample, "15T14:00", check_rows, NULL);
}

static bool is_wall(void *context, const struct seriesinfo *series)
{
    return slice_is(seriesinfo_label(series, SLICE("__name__")), "wall");
}

CONFORMANCE(querycatalog_load_keeps_to_the_series_that_are_wanted)
{
    struct asked_catalog asked = { .store = sample->store };
    struct error err;

    fill_up(sample);
    asked.store = sample->store;
    asked.query = (struct store_query){ .from_ns = INT64_MIN, .until_ns = INT64_MAX, .wants = is_wall };
    arena_init(&asked.arena, 0);
    CHECK_OK(load(&asked, &err), &err);
    CHECK(querycatalog_find(&asked.catalog, SLICE("web")));
    CHECK(!querycatalog_find(&asked.catalog, SLICE("shop")));
    arena_done(&asked.arena);
}

CONFORMANCE(querycatalog_load_survives_failing_allocations)
{
    struct asked_catalog asked = { 0 };

    fill_up(sample);
    asked.store = sample->store;
    asked.query = (struct store_query){ .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    arena_init(&asked.arena, 0);
    test_each_allocation_failing(load, &asked);
    arena_done(&asked.arena);
}
