// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/storm_crowd.h"

#include "base/clock.h"
#include "profile/builder.h"

#include <stdio.h>

#define MAX_LABELS  36u
#define VALUE_BYTES 1000u
#define SAMPLES     8u
#define POOL_FRAMES 3000u

static void name_tenant(const struct storm_crowd *crowd, uint64_t number, char name[static 32])
{
    snprintf(name, 32, "crowd-%llu", (unsigned long long)(number % crowd->tenants));
}

static int build(uint64_t number, struct batch *batch, struct error *err)
{
    AUTO(builder_freep) struct builder *builder = NULL;
    struct value_type type;
    struct profile *profile;

    if (builder_new(NULL, &builder, err) < 0)
        return -1;
    profile = builder_profile(builder);
    type = (struct value_type){ .type = builder_string(builder, SLICE("cpu")),
                                .unit = builder_string(builder, SLICE("nanoseconds")) };
    builder_type(builder, type);
    profile->period_type = type;
    profile->start_ns = clock_now_ns();
    for (uint32_t i = 0; i < SAMPLES; i++) {
        char name[32];
        struct function function = { 0 };
        struct line line = { .line = 1 };
        int64_t value = 1 + i;
        uint32_t frame;

        snprintf(name, sizeof(name), "crowd.f%llu", (unsigned long long)((number * 7 + i) % POOL_FRAMES));
        function.name = builder_string(builder, slice_from(name));
        line.function = builder_function(builder, &function);
        frame = builder_frame(builder, &(struct frame){ .n_lines = 1 }, &line);
        builder_sample(builder, builder_stack(builder, &frame, 1), 0, 0, &value, 0);
    }
    return builder_finish(builder, batch, err);
}

/* Labels of the series: one that names it, and others that are large and pack badly. */
static uint32_t fill_labels(const struct storm_crowd *crowd, uint64_t series, char names[MAX_LABELS][16],
                            char values[MAX_LABELS][VALUE_BYTES], struct series_label *labels)
{
    uint64_t left = MIN(crowd->label_bytes, (uint64_t)(MAX_LABELS - 1) * VALUE_BYTES), random = series + 1;
    uint32_t n = 1;

    snprintf(values[0], VALUE_BYTES, "%llu", (unsigned long long)series);
    labels[0] = (struct series_label){ SLICE("instance"), slice_from(values[0]) };
    for (; left; n++) {
        size_t len = (size_t)MIN(left, VALUE_BYTES);

        snprintf(names[n], sizeof(names[n]), "large_%02u", n);
        for (size_t i = 0; i < len; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            values[n][i] = (char)('a' + (random >> 40) % 26);
        }
        labels[n] = (struct series_label){ slice_from(names[n]), slice_of(values[n], len) };
        left -= len;
    }
    return n;
}

int storm_crowd_write(struct store *store, const struct storm_crowd *crowd, uint64_t number, struct error *err)
{
    struct series_label labels[MAX_LABELS];
    char names[MAX_LABELS][16], values[MAX_LABELS][VALUE_BYTES], tenant[32];
    struct store_write write = { .labels = labels };
    struct store_receipt receipt;
    struct batch batch;
    int result;

    name_tenant(crowd, number, tenant);
    write.tenant = slice_from(tenant);
    write.n_labels = fill_labels(crowd, number / crowd->tenants % crowd->series, names, values, labels);
    write.batch = &batch;
    batch_init(&batch, NULL);
    result = build(number, &batch, err);
    if (!result)
        result = store_write(store, &write, &receipt, err);
    batch_done(&batch);
    return result;
}

static int count_series(void *context, UNUSED const struct seriesinfo *series, UNUSED struct error *err)
{
    ++*(uint64_t *)context;
    return 0;
}

static int take_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static int count_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    ++*(uint64_t *)context;
    return 0;
}

static int count_sums(void *context, const struct store_sums *sums, struct error *err)
{
    ++*(uint64_t *)context;
    return 0;
}

int storm_crowd_read(struct store *store, const struct storm_crowd *crowd, uint64_t number, struct error *err)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    uint64_t n = 0;
    struct store_reads reads = { 0 };
    char tenant[32];

    name_tenant(crowd, number, tenant);
    query.tenant = slice_from(tenant);
    if (store_each_series(store, &query, count_series, &n, err) < 0)
        return -1;
    if (n > crowd->series)
        return error_set(err, ERR_CORRUPT, "tenant '%s' has %llu series, %llu were written", tenant,
                         (unsigned long long)n, (unsigned long long)crowd->series);
    /* Rows and sums, not store_read: its answer holds the labels of all series, which is ours to pay for. */
    n = 0;
    if (store_scan(store, &query, &(struct store_sink){ &n, take_names, count_row }, err) < 0)
        return -1;
    return store_sum(store, &query, 0, &(struct store_sum_sink){ &n, take_names, count_sums }, &reads, err);
}
