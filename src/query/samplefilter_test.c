// SPDX-License-Identifier: Apache-2.0
#include "query/samplefilter.h"

#include "store/store_sample_test.h"

/* What is left of all rows. */
struct cutting {
    struct samplefilter *filter;
    uint32_t n_rows, n_samples;
    int64_t sum; /* of the second type */
};

static int begin_names(void *context, struct names *names, struct error *err)
{
    struct cutting *cutting = context;

    samplefilter_names(cutting->filter, names);
    return 0;
}

static int cut(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct cutting *cutting = context;
    struct headrow rest;
    bool stays;

    if (samplefilter_cut(cutting->filter, series, row, &rest, &stays, err) < 0)
        return -1;
    CHECK(headrow_is_sorted(&rest));
    cutting->n_rows += stays;
    cutting->n_samples += stays ? rest.n_samples : 0;
    for (uint32_t i = 0; stays && i < rest.n_samples; i++)
        cutting->sum += rest.values[rest.stride + i];
    return 0;
}

static int cut_all(struct store_sample *sample, const struct filter_spec *spec, struct cutting *ret_cutting,
                   struct error *err)
{
    AUTO(samplefilter_freep) struct samplefilter *filter = NULL;
    struct store_query query = { .from_ns = store_sample_time("15T00:00"), .until_ns = store_sample_time("15T23:00") };

    *ret_cutting = (struct cutting){ 0 };
    if (samplefilter_new(spec, true, NULL, (size_t)64 << 20, &filter, err) < 0)
        return -1;
    ret_cutting->filter = filter;
    return store_scan(sample->store, &query, &(struct store_sink){ ret_cutting, begin_names, cut }, err);
}

static void check_cut(struct store_sample *sample, const struct filter_spec *spec, uint32_t n_rows, uint32_t n_samples,
                      int64_t sum)
{
    struct cutting cutting;
    struct error err;

    CHECK_OK(cut_all(sample, spec, &cutting, &err), &err);
    CHECK_EQ(cutting.n_rows, n_rows);
    CHECK_EQ(cutting.n_samples, n_samples);
    CHECK_EQ(cutting.sum, sum);
}

static void fill(struct store_sample *sample)
{
    STORE_SAMPLE_WRITE(sample,
                       { .at = "15T10:00",
                         .service = "api",
                         .labels = "pid=#7",
                         .samples = "main;work 1 10 {thread=io}|main;work 1 20 {thread=cpu}|main 1 30|- 1 40" },
                       { .at = "15T11:00", .service = "web", .samples = "main 1 100" },
                       { .at = "15T12:00", .service = "web" });
}

CONFORMANCE(samplefilter_chooses_samples_by_labels_of_samples_rows_and_series)
{
    fill(sample);
    check_cut(sample, &(struct filter_spec){ 0 }, 3, 5, 200);
    check_cut(sample, &(struct filter_spec){ .tag_focus = SLICE("thread=^io$") }, 1, 1, 10);
    check_cut(sample, &(struct filter_spec){ .tag_focus = SLICE("thread:") }, 1, 2, 30);
    check_cut(sample, &(struct filter_spec){ .tag_focus = SLICE("pid=7") }, 1, 4, 100);
    check_cut(sample, &(struct filter_spec){ .tag_focus = SLICE("service_name=web") }, 1, 1, 100);
    check_cut(sample, &(struct filter_spec){ .tag_focus = SLICE("api"), .tag_ignore = SLICE("thread=cpu") }, 1, 3, 80);
    /* A row without samples has none to ignore, and none to keep. */
    check_cut(sample, &(struct filter_spec){ .tag_ignore = SLICE("service_name=web") }, 2, 4, 100);
}

CONFORMANCE(samplefilter_takes_the_values_of_functions_and_leaves_the_samples)
{
    fill(sample);
    check_cut(sample, &(struct filter_spec){ .focus = SLICE("work") }, 3, 5, 30);
    check_cut(sample, &(struct filter_spec){ .ignore = SLICE("work") }, 3, 5, 130);
    check_cut(sample, &(struct filter_spec){ .show_from = SLICE("work"), .tag_ignore = SLICE("thread=io") }, 3, 4, 20);
}

static int cut_some(void *context, struct error *err)
{
    struct filter_spec spec = { .focus = SLICE("work"), .tag_focus = SLICE("thread="), .tag_ignore = SLICE("cpu") };
    struct cutting cutting;

    return cut_all(context, &spec, &cutting, err);
}

CONFORMANCE(samplefilter_survives_failing_allocations)
{
    fill(sample);
    test_each_allocation_failing(cut_some, sample);
}
