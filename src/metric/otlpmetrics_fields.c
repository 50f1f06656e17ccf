// SPDX-License-Identifier: Apache-2.0
/* The fields of OTLP's metrics by name: for JSON, and for errors that say where. Exemplars are not kept, so they have none. */
#include "metric/otlpmetrics_internal.h"
#include "wire/keyvalue.h"

static const struct protojson_field number_fields[] = {
    { "start_time_unix_nano", OTLPMETRICS_NUMBER_START, PROTOJSON_FIXED64, false, NULL },
    { "time_unix_nano", OTLPMETRICS_NUMBER_TIME, PROTOJSON_FIXED64, false, NULL },
    { "as_double", OTLPMETRICS_NUMBER_DOUBLE, PROTOJSON_DOUBLE, false, NULL },
    { "as_int", OTLPMETRICS_NUMBER_INT, PROTOJSON_SFIXED64, false, NULL },
    { "attributes", OTLPMETRICS_NUMBER_ATTRIBUTES, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { "flags", OTLPMETRICS_NUMBER_FLAGS, PROTOJSON_UINT, false, NULL },
    { 0 },
};

static const struct protojson_field histogram_point_fields[] = {
    { "start_time_unix_nano", OTLPMETRICS_HISTOGRAM_START, PROTOJSON_FIXED64, false, NULL },
    { "time_unix_nano", OTLPMETRICS_HISTOGRAM_TIME, PROTOJSON_FIXED64, false, NULL },
    { "count", OTLPMETRICS_HISTOGRAM_COUNT, PROTOJSON_FIXED64, false, NULL },
    { "sum", OTLPMETRICS_HISTOGRAM_SUM, PROTOJSON_DOUBLE, false, NULL },
    { "bucket_counts", OTLPMETRICS_HISTOGRAM_COUNTS, PROTOJSON_FIXED64, true, NULL },
    { "explicit_bounds", OTLPMETRICS_HISTOGRAM_BOUNDS, PROTOJSON_DOUBLE, true, NULL },
    { "attributes", OTLPMETRICS_HISTOGRAM_ATTRIBUTES, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { "flags", OTLPMETRICS_HISTOGRAM_FLAGS, PROTOJSON_UINT, false, NULL },
    { 0 },
};

static const struct protojson_field buckets_fields[] = {
    { "offset", OTLPMETRICS_BUCKETS_OFFSET, PROTOJSON_SINT, false, NULL },
    { "bucket_counts", OTLPMETRICS_BUCKETS_COUNTS, PROTOJSON_UINT, true, NULL },
    { 0 },
};

static const struct protojson_field exponential_point_fields[] = {
    { "attributes", OTLPMETRICS_EXPONENTIAL_ATTRIBUTES, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { "start_time_unix_nano", OTLPMETRICS_EXPONENTIAL_START, PROTOJSON_FIXED64, false, NULL },
    { "time_unix_nano", OTLPMETRICS_EXPONENTIAL_TIME, PROTOJSON_FIXED64, false, NULL },
    { "count", OTLPMETRICS_EXPONENTIAL_COUNT, PROTOJSON_FIXED64, false, NULL },
    { "sum", OTLPMETRICS_EXPONENTIAL_SUM, PROTOJSON_DOUBLE, false, NULL },
    { "scale", OTLPMETRICS_EXPONENTIAL_SCALE, PROTOJSON_SINT, false, NULL },
    { "zero_count", OTLPMETRICS_EXPONENTIAL_ZEROS, PROTOJSON_FIXED64, false, NULL },
    { "positive", OTLPMETRICS_EXPONENTIAL_POSITIVE, PROTOJSON_MESSAGE, false, buckets_fields },
    { "negative", OTLPMETRICS_EXPONENTIAL_NEGATIVE, PROTOJSON_MESSAGE, false, buckets_fields },
    { "flags", OTLPMETRICS_EXPONENTIAL_FLAGS, PROTOJSON_UINT, false, NULL },
    { "zero_threshold", OTLPMETRICS_EXPONENTIAL_ZERO_THRESHOLD, PROTOJSON_DOUBLE, false, NULL },
    { 0 },
};

/* Of summaries only the number of points counts. */
static const struct protojson_field nothing_fields[] = { { 0 } };

#define DATA_FIELDS(name, point_fields)                                                                                \
    static const struct protojson_field name[] = {                                                                     \
        { "data_points", OTLPMETRICS_POINTS, PROTOJSON_MESSAGE, true, point_fields },                                  \
        { "aggregation_temporality", OTLPMETRICS_TEMPORALITY, PROTOJSON_INT, false, NULL },                            \
        { "is_monotonic", OTLPMETRICS_IS_MONOTONIC, PROTOJSON_BOOL, false, NULL },                                     \
        { 0 },                                                                                                         \
    }
DATA_FIELDS(number_data_fields, number_fields);
DATA_FIELDS(histogram_data_fields, histogram_point_fields);
DATA_FIELDS(exponential_data_fields, exponential_point_fields);
DATA_FIELDS(summary_data_fields, nothing_fields);

static const struct protojson_field metric_fields[] = {
    { "name", OTLPMETRICS_NAME, PROTOJSON_TEXT, false, NULL },
    { "unit", OTLPMETRICS_UNIT, PROTOJSON_TEXT, false, NULL },
    { "gauge", OTLPMETRICS_GAUGE, PROTOJSON_MESSAGE, false, number_data_fields },
    { "sum", OTLPMETRICS_SUM, PROTOJSON_MESSAGE, false, number_data_fields },
    { "histogram", OTLPMETRICS_HISTOGRAM, PROTOJSON_MESSAGE, false, histogram_data_fields },
    { "exponential_histogram", OTLPMETRICS_EXPONENTIAL, PROTOJSON_MESSAGE, false, exponential_data_fields },
    { "summary", OTLPMETRICS_SUMMARY, PROTOJSON_MESSAGE, false, summary_data_fields },
    { 0 },
};

static const struct protojson_field scope_metrics_fields[] = {
    { "metrics", OTLPMETRICS_METRICS, PROTOJSON_MESSAGE, true, metric_fields },
    { 0 },
};

static const struct protojson_field resource_metrics_fields[] = {
    { "resource", OTLPMETRICS_RESOURCE, PROTOJSON_MESSAGE, false, keyvalue_resource_fields },
    { "scope_metrics", OTLPMETRICS_SCOPE_METRICS, PROTOJSON_MESSAGE, true, scope_metrics_fields },
    { 0 },
};

const struct protojson_field otlpmetrics_fields[] = {
    { "resource_metrics", OTLPMETRICS_REQUEST_RESOURCE_METRICS, PROTOJSON_MESSAGE, true, resource_metrics_fields },
    { 0 },
};
