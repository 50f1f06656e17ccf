// SPDX-License-Identifier: Apache-2.0
/* OTLP metrics, protobuf or (where it begins with a brace) JSON. Points that were read are sound, and written again they are
 * read as many and as large. */
#include "metric/otlpmetrics.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_BYTES ((size_t)64 << 20)

static void check_series(const struct metric_series *series)
{
    ASSERT(otlpmetrics_is_kept(series->name) && series->name.len <= METRIC_MAX_NAME_BYTES);
    ASSERT(slice_is_utf8(series->name) && slice_is_utf8(series->unit));
    ASSERT(series->kind < POINT_KIND_COUNT && series->temporality < METRIC_TEMPORALITY_COUNT);
    ASSERT(series->n_labels >= 1 && series->n_labels <= METRIC_MAX_LABELS);
    for (uint32_t i = 0; i < series->n_labels; i++) {
        const struct metric_label *label = &series->labels[i];

        ASSERT(label->key.len <= METRIC_MAX_NAME_BYTES && slice_is_utf8(label->key));
        ASSERT(label->value.len > 0 && label->value.len <= METRIC_MAX_VALUE_BYTES && slice_is_utf8(label->value));
        ASSERT(i == 0 || slice_compare(series->labels[i - 1].key, label->key) < 0);
    }
}

static void check_point(const struct metric_point *point)
{
    const struct metric_histogram *histogram = point->histogram;

    check_series(point->series);
    ASSERT(point->time_ns > 0 && point->start_ns >= 0 && point->start_ns <= point->time_ns);
    ASSERT((histogram != NULL) == (point->series->kind == POINT_HISTOGRAM));
    ASSERT(histogram || isfinite(point->value));
    if (!histogram)
        return;
    ASSERT(histogram->n_bounds <= METRIC_MAX_BOUNDS);
    for (uint32_t i = 0; i < histogram->n_bounds; i++)
        ASSERT(isfinite(histogram->bounds[i]) && (i == 0 || histogram->bounds[i] > histogram->bounds[i - 1]));
}

static void check_same(const struct metric_point *a, const struct metric_point *b)
{
    ASSERT(slice_equal(a->series->name, b->series->name) && slice_equal(a->series->unit, b->series->unit));
    ASSERT(a->time_ns == b->time_ns && a->start_ns == b->start_ns && a->value == b->value);
    if (!a->histogram)
        return;
    ASSERT(b->histogram && a->histogram->n_bounds == b->histogram->n_bounds);
    for (uint32_t i = 0; i <= a->histogram->n_bounds; i++) {
        ASSERT(a->histogram->counts[i] == b->histogram->counts[i]);
        ASSERT(i == a->histogram->n_bounds || a->histogram->bounds[i] == b->histogram->bounds[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer out;
    struct otlpmetrics_read read, again;
    struct error err;

    arena_init(&arena, MEMORY_BYTES);
    buffer_init(&out, 0);
    if (otlpmetrics_decode(slice_of(data, size), size > 0 && data[0] == '{', &arena, &read, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT((read.n_rejected > 0) == (read.rejection[0] != '\0') && slice_is_utf8(slice_from(read.rejection)));
    for (size_t i = 0; i < read.points.n; i++)
        check_point(&read.points.items[i]);
    otlpmetrics_encode(NULL, 0, &read.points, &out);
    if (otlpmetrics_decode(buffer_slice(&out), false, &arena, &again, &err) < 0) {
        ASSERT(err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT(again.points.n == read.points.n && again.n_rejected == 0);
    for (size_t i = 0; i < read.points.n; i++)
        check_same(&read.points.items[i], &again.points.items[i]);
    return 0;
}
