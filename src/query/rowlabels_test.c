// SPDX-License-Identifier: Apache-2.0
#include "query/rowlabels.h"

#include "store/store_sample_test.h"

/* Prints what each sample of a scan has for the labels: "a|b" and a line feed. */
struct printing {
    struct rowlabels *labels;
    struct buffer *out;
    uint32_t n;
};

static int print_names(void *context, struct names *names, struct error *err)
{
    return rowlabels_names(((struct printing *)context)->labels, names, err);
}

static int print_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct printing *printing = context;
    uint32_t values[ROWLABELS_MAX];

    for (uint32_t i = 0; i < row->n_samples; i++) {
        if (rowlabels_of_series(printing->labels, series, values, err) < 0 ||
            rowlabels_overlay(printing->labels, row->label_set, values, err) < 0 ||
            rowlabels_overlay(printing->labels, row->label_sets ? row->label_sets[i] : 0, values, err) < 0)
            return -1;
        for (uint32_t j = 0; j < printing->n; j++)
            buffer_printf(printing->out, "%s%.*s", j ? "|" : "",
                          SLICE_ARG(rowlabels_text(printing->labels, values[j])));
        buffer_append_byte(printing->out, '\n');
    }
    return 0;
}

static int scan(struct store_sample *sample, const struct slice *names, uint32_t n, size_t max_bytes,
                struct buffer *out, struct error *err)
{
    AUTO(rowlabels_freep) struct rowlabels *labels = NULL;
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct printing printing = { .out = out, .n = n };

    if (rowlabels_new(names, n, max_bytes, &labels, err) < 0)
        return -1;
    printing.labels = labels;
    return store_scan(sample->store, &query, &(struct store_sink){ &printing, print_names, print_row }, err);
}

static struct slice print(struct store_sample *sample, const struct slice *names, uint32_t n, size_t max_bytes)
{
    struct buffer *text = store_sample_text(sample);
    struct error err;

    CHECK_OK(scan(sample, names, n, max_bytes, text, &err), &err);
    store_sample_sort(text);
    return buffer_slice(text);
}

CONFORMANCE(rowlabels_of_samples_win_over_rows_and_series)
{
    const struct slice names[] = { SLICE("zone"), SLICE("thread.name"), SLICE("pid"), SLICE("__name__") };

    STORE_SAMPLE_WRITE(sample,
                       { .at = "15T10:00",
                         .service = "api",
                         .labels = "zone=eu;pid=#7;thread.name=main",
                         .samples = "main 1 10 {thread_name=a;pid=#8} | main 1 10 {__name__=x;thread.name=b}" },
                       { .at = "14T10:00", .service = "api", .labels = "pid=#9", .samples = "main 1 10" });
    CHECK_TEXT(print(sample, names, 4, 1 << 20), "eu|a|8|process_cpu\neu|b|7|process_cpu\n||9|process_cpu\n");
    CHECK_TEXT(print(sample, names, 0, 1 << 20), "\n\n\n");
}

CONFORMANCE(rowlabels_take_the_first_of_several_values)
{
    const struct slice names[] = { SLICE("thread") };
    struct slice text;

    STORE_SAMPLE_WRITE(
        sample,
        { .at = "15T10:00", .service = "api", .samples = "main 1 10 {thread=b;thread=a} | idle 1 10 {thread=}" });
    text = print(sample, names, 1, 1 << 20);
    CHECK_TEXT(text, "\nb\n");
}

/* More label sets than stay in memory at a time. */
CONFORMANCE(rowlabels_name_sets_again_when_they_are_forgotten)
{
    const struct slice names[] = { SLICE("thread") };
    struct buffer *wanted = store_sample_text(sample);
    struct error err;

    for (unsigned i = 0; i < 600; i++) {
        char samples[64];

        snprintf(samples, sizeof(samples), "main 1 10 {thread=t%u} | idle 1 10 {thread=t%u}", i, i * 7 % 600);
        buffer_printf(wanted, "t%u\nt%u\n", i, i * 7 % 600);
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = samples });
    }
    store_sample_sort(wanted);
    CHECK_TEXT(print(sample, names, 1, 40 << 10), buffer_slice(wanted));
    CHECK_ERROR(scan(sample, names, 1, 8 << 10, store_sample_text(sample), &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "values, which is all that a query has memory for");
    CHECK_HAS(err.text, "or raise --query-memory");
}

TEST(rowlabels_know_when_a_series_says_it_all)
{
    struct series_label labels[] = { { SLICE("__name__"), SLICE("cpu") },
                                     { SLICE("service_name"), SLICE("api") },
                                     { SLICE("zone"), SLICE("eu") } };
    const struct slice names[] = { SLICE("service.name"), SLICE("zone"), SLICE("__name__") };
    struct seriesinfo series = { .labels = labels, .n_labels = 3 };
    AUTO(rowlabels_freep) struct rowlabels *asked = NULL;
    struct error err;
    bool is_asked;

    CHECK_OK(rowlabels_new(names, 3, 1 << 20, &asked, &err), &err);
    CHECK(rowlabels_are_of_series(asked, &series));
    series.n_labels = 2;
    CHECK(!rowlabels_are_of_series(asked, &series));
    series.n_labels = 3;
    labels[1].value = SLICE(LABELRULES_OTHER_SERVICES);
    CHECK(!rowlabels_are_of_series(asked, &series));
    CHECK_OK(rowlabels_is_asked(asked, SLICE("service/name"), &is_asked, &err), &err);
    CHECK(is_asked);
    CHECK_OK(rowlabels_is_asked(asked, SLICE("__name__"), &is_asked, &err), &err);
    CHECK(!is_asked);
    CHECK_ERROR(rowlabels_new(names, 33, 1 << 20, &asked, &err), &err, ERR_LIMIT);
}

TEST(rowlabels_refuse_ids_which_are_no_labels)
{
    static const struct slice names[] = { SLICE("zone"), SLICE("span.id") };
    struct rowlabels *labels;
    struct error err;

    CHECK_ERROR(rowlabels_new(names, 2, 1 << 20, &labels, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "span_id is an id and no label to group by: --span-id");
}
