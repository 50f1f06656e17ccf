// SPDX-License-Identifier: Apache-2.0
#include "metric/otlpmetrics.h"

#include "metric/otlpmetrics_internal.h"
#include "wire/keyvalue.h"

#include <math.h>

static void put_double(struct buffer *out, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    protobuf_put_fixed64_always(out, field, bits);
}

static void put_labels(const struct metric_label *labels, size_t n, uint32_t field, struct buffer *out)
{
    for (size_t i = 0; i < n; i++)
        keyvalue_put(out, field,
                     &(struct keyvalue){ .key = labels[i].key, .kind = KEYVALUE_TEXT, .text = labels[i].value });
}

static void put_number(const struct metric_point *point, struct buffer *out)
{
    size_t begin = protobuf_begin(out, OTLPMETRICS_POINTS);

    protobuf_put_fixed64(out, OTLPMETRICS_NUMBER_START, (uint64_t)point->start_ns);
    protobuf_put_fixed64(out, OTLPMETRICS_NUMBER_TIME, (uint64_t)point->time_ns);
    put_double(out, OTLPMETRICS_NUMBER_DOUBLE, point->value);
    put_labels(point->series->labels, point->series->n_labels, OTLPMETRICS_NUMBER_ATTRIBUTES, out);
    protobuf_end(out, begin);
}

static void put_histogram(const struct metric_point *point, struct buffer *out)
{
    const struct metric_histogram *histogram = point->histogram;
    size_t begin = protobuf_begin(out, OTLPMETRICS_POINTS), list;
    uint64_t count = 0;

    for (uint32_t i = 0; i <= histogram->n_bounds; i++)
        count += histogram->counts[i];
    protobuf_put_fixed64(out, OTLPMETRICS_HISTOGRAM_START, (uint64_t)point->start_ns);
    protobuf_put_fixed64(out, OTLPMETRICS_HISTOGRAM_TIME, (uint64_t)point->time_ns);
    protobuf_put_fixed64(out, OTLPMETRICS_HISTOGRAM_COUNT, count);
    if (!isnan(histogram->sum))
        put_double(out, OTLPMETRICS_HISTOGRAM_SUM, histogram->sum);
    list = protobuf_begin(out, OTLPMETRICS_HISTOGRAM_COUNTS);
    buffer_append(out, histogram->counts, (histogram->n_bounds + 1) * sizeof(uint64_t));
    protobuf_end(out, list);
    list = protobuf_begin(out, OTLPMETRICS_HISTOGRAM_BOUNDS);
    buffer_append(out, histogram->bounds, histogram->n_bounds * sizeof(double));
    protobuf_end(out, list);
    put_labels(point->series->labels, point->series->n_labels, OTLPMETRICS_HISTOGRAM_ATTRIBUTES, out);
    protobuf_end(out, begin);
}

/* Whether two points belong to one metric. */
static bool is_same_metric(const struct metric_series *a, const struct metric_series *b)
{
    return a == b || (slice_equal(a->name, b->name) && slice_equal(a->unit, b->unit) && a->kind == b->kind &&
                      a->temporality == b->temporality && a->is_monotonic == b->is_monotonic);
}

static void put_metric(const struct metric_point *points, size_t n, struct buffer *out)
{
    static const uint32_t fields[] = {
        [POINT_GAUGE] = OTLPMETRICS_GAUGE, [POINT_SUM] = OTLPMETRICS_SUM, [POINT_HISTOGRAM] = OTLPMETRICS_HISTOGRAM
    };
    const struct metric_series *series = points[0].series;
    size_t metric = protobuf_begin(out, OTLPMETRICS_METRICS), data;

    protobuf_put_bytes(out, OTLPMETRICS_NAME, series->name);
    protobuf_put_bytes(out, OTLPMETRICS_UNIT, series->unit);
    data = protobuf_begin(out, fields[series->kind]);
    for (size_t i = 0; i < n; i++)
        (series->kind == POINT_HISTOGRAM ? put_histogram : put_number)(&points[i], out);
    protobuf_put_uint(out, OTLPMETRICS_TEMPORALITY, series->temporality);
    protobuf_put_uint(out, OTLPMETRICS_IS_MONOTONIC, series->is_monotonic);
    protobuf_end(out, data);
    protobuf_end(out, metric);
}

void otlpmetrics_encode(const struct metric_label *resource, size_t n_resource, const struct metric_list *points,
                        struct buffer *out)
{
    size_t of_resource = protobuf_begin(out, OTLPMETRICS_REQUEST_RESOURCE_METRICS), part;

    part = protobuf_begin(out, OTLPMETRICS_RESOURCE);
    put_labels(resource, n_resource, OTLPMETRICS_RESOURCE_ATTRIBUTES, out);
    protobuf_end(out, part);
    part = protobuf_begin(out, OTLPMETRICS_SCOPE_METRICS);
    for (size_t i = 0, next; i < points->n; i = next) {
        for (next = i + 1; next < points->n; next++)
            if (!is_same_metric(points->items[i].series, points->items[next].series))
                break;
        put_metric(&points->items[i], next - i, out);
    }
    protobuf_end(out, part);
    protobuf_end(out, of_resource);
}
