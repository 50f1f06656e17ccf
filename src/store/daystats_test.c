// SPDX-License-Identifier: Apache-2.0
#include "store/daystats.h"

#include "block/chunk.h"
#include "store/day_sample_test.h"

static struct store_stats count(struct day_sample *sample)
{
    static struct store_stats stats;
    struct error err;

    stats = (struct store_stats){ .n_days = 0 };
    CHECK_OK(daystats_add(sample->day, NULL, &stats, &err), &err);
    return stats;
}

TEST(daystats_counts_an_empty_day_as_nothing)
{
    struct store_stats stats;
    struct day_sample sample;

    day_sample_init(&sample);
    stats = count(&sample);
    CHECK_EQ(stats.n_rows, 0);
    CHECK_EQ(stats.n_samples, 0);
    CHECK_EQ(stats.n_top, 0);
    CHECK_EQ(stats.first_ns, 0);
    CHECK_EQ(stats.n_damaged, 0);
    day_sample_done(&sample);
}

TEST(daystats_counts_values_by_kind)
{
    struct store_stats stats;
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    stats = count(&sample);
    CHECK_EQ(stats.n_rows, DAY_SAMPLE_ROWS);
    CHECK_EQ(stats.n_samples, DAY_SAMPLE_SAMPLES);
    CHECK_EQ(stats.n_closed_samples, DAY_SAMPLE_SAMPLES - 10);
    CHECK_EQ(stats.head_rows.n, 2);
    /* 2 of api and 1 of web, 1 of the other tenant, and what came late */
    CHECK_EQ(stats.windows.n, 5);
    CHECK_EQ(stats.sums.n, 5);
    CHECK_EQ(stats.samples.n, 5);
    CHECK_EQ(stats.hour_rollups.n, 1);
    CHECK_EQ(stats.slot_rollups.n, 12);
    CHECK_EQ(stats.spans.n, 1);
    CHECK_EQ(stats.series.n, 4);
    CHECK_EQ(stats.profile_ids.n, 1);
    CHECK_EQ(stats.profile_ids.bytes, 21 + 14); /* an id, and where its one row is */
    CHECK_EQ(stats.tombstones.n, 0);
    /* f0 to f25 in the default tenant, f0 to f3 in the other; each has main */
    CHECK_EQ(stats.dictionary[CHUNK_STACK].n, 26 + 4);
    CHECK_EQ(stats.dictionary[CHUNK_FUNCTION].n, 27 + 5);
    CHECK_EQ(stats.dictionary[CHUNK_LABEL_SET].n, 2);
    CHECK(stats.samples.bytes > 5 * 22);
    CHECK_EQ(stats.first_ns, day_sample_time(7));
    CHECK_EQ(stats.last_ns, day_sample_time(9.5));
    CHECK_EQ(stats.n_damaged, 0);
    day_sample_done(&sample);
}

TEST(daystats_counts_files)
{
    struct store_stats stats;
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    stats = count(&sample);
    CHECK(stats.block_bytes > 0);
    CHECK(stats.wal_bytes > 0);
    CHECK_EQ(stats.head_bytes, 0);
    CHECK_EQ(stats.written_bytes, day_written_bytes(sample.day));
    CHECK(stats.written_bytes >= stats.block_bytes);
    CHECK_OK(kv_flush(sample.day->kv, KV_NO_FAMILY, &err), &err);
    stats = count(&sample);
    CHECK(stats.head_bytes > 0);
    CHECK(stats.index_bytes > 0);
    day_sample_done(&sample);
}

TEST(daystats_lists_the_most_expensive_series_first)
{
    struct store_stats stats;
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    stats = count(&sample);
    CHECK_EQ(stats.n_top, 4);
    for (uint32_t i = 1; i < stats.n_top; i++)
        CHECK(stats.top[i - 1].bytes >= stats.top[i].bytes);
    CHECK_HAS(stats.top[0].labels, "service_name=\"api\"");
    for (uint32_t i = 0; i < stats.n_top; i++) {
        if (strstr(stats.top[i].labels, "instance=\"one\"")) {
            CHECK_EQ(stats.top[i].n_rows, 60 + 1 + 1);
            CHECK_EQ(stats.top[i].n_samples, 60 * 20 + 2 + 9);
        }
        /* The other tenant has the same labels as nobody, but says who it is. */
        if (!strstr(stats.top[i].labels, "instance") && !strstr(stats.top[i].labels, "web"))
            CHECK(slice_starts_with(slice_from(stats.top[i].labels), SLICE("other {")));
    }
    day_sample_done(&sample);
}

TEST(daystats_adds_days_up_by_labels)
{
    struct store_stats stats = { .n_days = 0 }, once;
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    once = count(&sample);
    CHECK_OK(daystats_add(sample.day, NULL, &stats, &err), &err);
    CHECK_OK(daystats_add(sample.day, NULL, &stats, &err), &err);
    CHECK_EQ(stats.n_rows, 2 * once.n_rows);
    CHECK_EQ(stats.windows.bytes, 2 * once.windows.bytes);
    CHECK_EQ(stats.n_top, once.n_top);
    for (uint32_t i = 0; i < once.n_top; i++) {
        CHECK_TEXT(stats.top[i].labels, once.top[i].labels);
        CHECK_EQ(stats.top[i].bytes, 2 * once.top[i].bytes);
    }
    day_sample_done(&sample);
}

static const struct servicecost *find_service(const struct servicecosts *services, const char *tenant,
                                              const char *service)
{
    for (size_t i = 0; i < services->items.n; i++)
        if (slice_is(services->items.items[i].tenant, tenant) && slice_is(services->items.items[i].service, service))
            return &services->items.items[i];
    CHECK(!"a service");
    return NULL;
}

/* Each row and sample is somebody's, however little there is room for. */
TEST(daystats_adds_services_up)
{
    for (unsigned i = 0; i < 2; i++) {
        struct store_stats stats = { .n_days = 0 };
        struct servicecost all = { .bytes = 0 };
        struct servicecosts services;
        struct day_sample sample;
        struct error err;

        day_sample_init(&sample);
        day_sample_fill(&sample);
        if (i == 1)
            sample.context.read_bytes = 4 << 10;
        servicecosts_init(&services);
        CHECK_OK(daystats_add(sample.day, &services, &stats, &err), &err);
        for (size_t k = 0; k < services.items.n; k++)
            servicecost_add(&all, &services.items.items[k]);
        CHECK_EQ(all.n_rows, stats.n_rows);
        CHECK_EQ(all.n_samples, stats.n_samples);
        CHECK_EQ(all.first_ns, stats.first_ns);
        CHECK_EQ(all.last_ns, stats.last_ns);
        CHECK_EQ(all.bytes, stats.windows.bytes + stats.sums.bytes + stats.samples.bytes + stats.slot_rollups.bytes +
                                stats.hour_rollups.bytes + stats.head_rows.bytes);
        CHECK(find_service(&services, STORE_TENANT_DEFAULT, "api")->n_rows > 60);
        CHECK(find_service(&services, STORE_TENANT_DEFAULT, "web")->n_rows > 0);
        CHECK(find_service(&services, "other", "api")->n_rows > 0);
        servicecosts_done(&services);
        day_sample_done(&sample);
    }
}

TEST(daystats_keeps_the_list_short_and_forgets_cheap_series)
{
    struct store_stats stats;
    struct day_sample sample;

    day_sample_init(&sample);
    sample.context.read_bytes = 16 << 10; /* room for 80 series at a time */
    for (unsigned i = 0; i < 200; i++) {
        char instance[40];

        snprintf(instance, sizeof(instance), "i-%03u", i);
        day_sample_write(&sample, &(struct day_sample_profile){
                                      .instance = instance, .hour = 7, .n_stacks = i % 10 == 7 ? 100 + i : 1 });
    }
    stats = count(&sample);
    CHECK_EQ(stats.n_top, STORE_TOP_SERIES);
    CHECK_EQ(stats.n_rows, 200);
    CHECK_HAS(stats.top[0].labels, "i-197");
    for (uint32_t i = 0; i < stats.n_top; i++)
        CHECK_EQ(stats.top[i].n_samples, 100 + 197 - 10 * i);
    day_sample_done(&sample);
}

TEST(daystats_counts_damage_and_goes_on)
{
    struct buffer key, value;
    struct store_stats stats;
    struct day_sample sample;
    struct storekey prefix = storekey_block((struct storekey_block){ .hour = 7, .kind = STOREKEY_WINDOWS });

    day_sample_init(&sample);
    day_sample_fill(&sample);
    buffer_init(&key, 0);
    buffer_init(&value, 0);
    CHECK(day_sample_find(&sample, sample.day->block_family, slice_of(prefix.bytes, 2), &key, &value));
    day_sample_put(&sample, sample.day->block_family, buffer_slice(&key), SLICE("rubbish"));
    day_sample_put(&sample, KV_DEFAULT, SLICE("dodo"), SLICE(""));
    day_sample_put(&sample, KV_DEFAULT, SLICE("d\0\0\0\1\1\0\0\xff\xff"), SLICE(""));
    stats = count(&sample);
    CHECK_EQ(stats.n_damaged, 3);
    CHECK_EQ(stats.n_rows, DAY_SAMPLE_ROWS);
    buffer_done(&key);
    buffer_done(&value);
    day_sample_done(&sample);
}

static int count_once(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct store_stats stats = { .n_days = 0 };
    struct servicecosts services;
    int result;

    servicecosts_init(&services);
    result = daystats_add(sample->day, &services, &stats, err);
    servicecosts_done(&services);
    return result;
}

TEST(daystats_survives_every_failing_allocation)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    test_each_allocation_failing(count_once, &sample);
    CHECK_EQ(sample.day->n_views, 0);
    day_sample_done(&sample);
}
