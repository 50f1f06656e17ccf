// SPDX-License-Identifier: Apache-2.0
/* Fields may come in any order, so each message is read twice where one of its fields decides about others: once for what
 * holds for all of it, once for what it holds. */
#include "metric/otlpmetrics.h"

#include "metric/otlpmetrics_internal.h"
#include "pack/varint.h"
#include "wire/keyvalue.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define FORMAT "OTLP metrics"

/* --- what is kept --- */

/* Metrics about processes and runtimes, by the names that OpenTelemetry gives them, and ours. */
static const char *const kept[] = { "process.", "runtime.", "hearth.", "go.",    "jvm.",
                                    "cpython.", "nodejs.",  "v8js.",   "dotnet." };

bool otlpmetrics_is_kept(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (slice_starts_with(name, slice_from(kept[i])))
            return true;
    return false;
}

/* --- reading --- */

struct points {
    struct metric_point *items;
    size_t n, capacity;
};

struct decoder {
    struct arena *arena;
    struct points points;
    struct otlpmetrics_labels resource; /* of the one being read */
    struct slice name;                  /* of the metric being read */
    struct metric_series about;         /* what its series have in common */
    const char *unusable_reason;        /* of the first point that no reader could use */
    struct slice unusable_name;
    struct slice unkept_name; /* of the first metric that is not kept */
    uint32_t n_unkept, n_unkept_metrics, n_unusable;
};

/* What the fields of one point say. */
struct raw_point {
    struct otlpmetrics_labels labels;
    uint64_t start_ns, time_ns;
    double value;
    bool has_value;
    uint64_t flags;
    struct otlpmetrics_histogram histogram;
};

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static int read_attribute(struct decoder *d, struct protobuf_reader *r, struct raw_point *point, struct error *err)
{
    struct protobuf_reader attribute = protobuf_message(r);
    int result = otlpmetrics_labels_read(&point->labels, &attribute, d->arena, err);

    protobuf_leave(r, &attribute);
    return result;
}

static int read_number(struct decoder *d, struct protobuf_reader *r, struct raw_point *point, struct error *err)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLPMETRICS_NUMBER_START, PROTOBUF_FIXED64): point->start_ns = protobuf_fixed64(r); break;
        case PROTOBUF_TAG(OTLPMETRICS_NUMBER_TIME, PROTOBUF_FIXED64): point->time_ns = protobuf_fixed64(r); break;
        case PROTOBUF_TAG(OTLPMETRICS_NUMBER_DOUBLE, PROTOBUF_FIXED64):
            point->value = double_of(protobuf_fixed64(r));
            point->has_value = true;
            break;
        case PROTOBUF_TAG(OTLPMETRICS_NUMBER_INT, PROTOBUF_FIXED64):
            point->value = (double)(int64_t)protobuf_fixed64(r);
            point->has_value = true;
            break;
        case PROTOBUF_TAG(OTLPMETRICS_NUMBER_ATTRIBUTES, PROTOBUF_BYTES):
            if (read_attribute(d, r, point, err) < 0)
                return -1;
            break;
        case PROTOBUF_TAG(OTLPMETRICS_NUMBER_FLAGS, PROTOBUF_VARINT): point->flags = protobuf_varint(r); break;
        default: protobuf_skip_unknown(r, tag, OTLPMETRICS_NUMBER_FLAGS);
        }
    }
    return 0;
}

/* A list of numbers that comes packed or one by one: as many as the message can hold. */
struct numbers {
    uint64_t *items;
    size_t n, capacity;
};

static int reserve_numbers(struct decoder *d, struct numbers *numbers, size_t extra, struct error *err)
{
    size_t capacity = numbers->capacity;
    uint64_t *items;

    if (capacity - numbers->n >= extra)
        return 0;
    capacity = MAX(numbers->n + extra, 2 * capacity);
    items = arena_resize(d->arena, numbers->items, numbers->capacity * sizeof(*items), capacity * sizeof(*items), err);
    if (!items)
        return -1;
    numbers->items = items;
    numbers->capacity = capacity;
    return 0;
}

static int read_fixed64s(struct decoder *d, struct protobuf_reader *r, uint32_t tag, struct numbers *numbers,
                         struct error *err)
{
    struct slice packed;
    size_t n;

    if (PROTOBUF_WIRE(tag) == PROTOBUF_FIXED64) {
        if (reserve_numbers(d, numbers, 1, err) < 0)
            return -1;
        numbers->items[numbers->n++] = protobuf_fixed64(r);
        return 0;
    }
    packed = protobuf_bytes(r);
    n = packed.len / sizeof(uint64_t);
    if (packed.len % sizeof(uint64_t))
        protobuf_fail(r, PROTOBUF_VALUE_CUT);
    if (reserve_numbers(d, numbers, n, err) < 0)
        return -1;
    if (n > 0)
        memcpy(numbers->items + numbers->n, packed.ptr, n * sizeof(uint64_t));
    numbers->n += n;
    return 0;
}

static int read_varints(struct decoder *d, struct protobuf_reader *r, uint32_t tag, struct numbers *numbers,
                        struct error *err)
{
    struct protobuf_reader packed;

    if (PROTOBUF_WIRE(tag) == PROTOBUF_VARINT) {
        if (reserve_numbers(d, numbers, 1, err) < 0)
            return -1;
        numbers->items[numbers->n++] = protobuf_varint(r);
        return 0;
    }
    packed = protobuf_message(r);
    if (reserve_numbers(d, numbers, protobuf_count_varints(slice_of(packed.at, (size_t)(packed.end - packed.at))),
                        err) < 0)
        return -1;
    while (protobuf_more(&packed)) {
        uint64_t number = protobuf_varint(&packed);

        if (!packed.bad)
            numbers->items[numbers->n++] = number;
    }
    protobuf_leave(r, &packed);
    return 0;
}

static int read_histogram(struct decoder *d, struct protobuf_reader *r, struct raw_point *point, struct error *err)
{
    struct numbers counts = { 0 }, bounds = { 0 };
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_START, PROTOBUF_FIXED64): point->start_ns = protobuf_fixed64(r); break;
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_TIME, PROTOBUF_FIXED64): point->time_ns = protobuf_fixed64(r); break;
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_COUNT, PROTOBUF_FIXED64):
            point->histogram.count = protobuf_fixed64(r);
            break;
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_SUM, PROTOBUF_FIXED64):
            point->histogram.sum = double_of(protobuf_fixed64(r));
            break;
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_COUNTS, PROTOBUF_FIXED64):
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_COUNTS, PROTOBUF_BYTES):
            if (read_fixed64s(d, r, tag, &counts, err) < 0)
                return -1;
            break;
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_BOUNDS, PROTOBUF_FIXED64):
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_BOUNDS, PROTOBUF_BYTES):
            if (read_fixed64s(d, r, tag, &bounds, err) < 0)
                return -1;
            break;
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_ATTRIBUTES, PROTOBUF_BYTES):
            if (read_attribute(d, r, point, err) < 0)
                return -1;
            break;
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM_FLAGS, PROTOBUF_VARINT): point->flags = protobuf_varint(r); break;
        default: protobuf_skip(r, tag);
        }
    }
    point->histogram.counts = counts.items;
    point->histogram.n_counts = counts.n;
    /* The bits are those of doubles, and memcpy put them there. */
    point->histogram.bounds = (const double *)(const void *)bounds.items;
    point->histogram.n_bounds = bounds.n;
    return 0;
}

static int64_t zigzag32(uint64_t varint)
{
    return varint_unzigzag(varint) % ((int64_t)1 << 32);
}

static int read_buckets(struct decoder *d, struct protobuf_reader *outer, struct otlpmetrics_buckets *buckets,
                        struct error *err)
{
    struct protobuf_reader r = protobuf_message(outer);
    struct numbers counts = { 0 };
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLPMETRICS_BUCKETS_OFFSET, PROTOBUF_VARINT):
            buckets->offset = zigzag32(protobuf_varint(&r));
            break;
        case PROTOBUF_TAG(OTLPMETRICS_BUCKETS_COUNTS, PROTOBUF_VARINT):
        case PROTOBUF_TAG(OTLPMETRICS_BUCKETS_COUNTS, PROTOBUF_BYTES):
            if (read_varints(d, &r, tag, &counts, err) < 0)
                return -1;
            break;
        default: protobuf_skip(&r, tag);
        }
    }
    protobuf_leave(outer, &r);
    buckets->counts = counts.items;
    buckets->n = counts.n;
    return 0;
}

static int read_exponential(struct decoder *d, struct protobuf_reader *r, struct raw_point *point, struct error *err)
{
    struct otlpmetrics_histogram *histogram = &point->histogram;
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_START, PROTOBUF_FIXED64):
            point->start_ns = protobuf_fixed64(r);
            break;
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_TIME, PROTOBUF_FIXED64): point->time_ns = protobuf_fixed64(r); break;
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_SUM, PROTOBUF_FIXED64):
            histogram->sum = double_of(protobuf_fixed64(r));
            break;
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_SCALE, PROTOBUF_VARINT):
            histogram->scale = zigzag32(protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_ZEROS, PROTOBUF_FIXED64):
            histogram->n_zeros = protobuf_fixed64(r);
            break;
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_ZERO_THRESHOLD, PROTOBUF_FIXED64):
            histogram->zero_threshold = double_of(protobuf_fixed64(r));
            break;
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_POSITIVE, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_NEGATIVE, PROTOBUF_BYTES):
            if (read_buckets(d, r,
                             PROTOBUF_FIELD(tag) == OTLPMETRICS_EXPONENTIAL_POSITIVE ? &histogram->positive
                                                                                     : &histogram->negative,
                             err) < 0)
                return -1;
            break;
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_ATTRIBUTES, PROTOBUF_BYTES):
            if (read_attribute(d, r, point, err) < 0)
                return -1;
            break;
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL_FLAGS, PROTOBUF_VARINT): point->flags = protobuf_varint(r); break;
        default: protobuf_skip(r, tag);
        }
    }
    return 0;
}

/* --- points --- */

static void note_unusable(struct decoder *d, const char *reason)
{
    if (d->n_unusable++ == 0) {
        d->unusable_reason = reason;
        d->unusable_name = d->name;
    }
}

/* Why no reader could use the point, or NULL. */
static const char *problem_of(const struct decoder *d, const struct raw_point *point)
{
    if (point->time_ns == 0 || point->time_ns > INT64_MAX)
        return "it has no time";
    if (d->about.kind != POINT_GAUGE && d->about.temporality == METRIC_NO_TEMPORALITY)
        return "it says neither delta nor cumulative";
    if (d->about.kind != POINT_HISTOGRAM && !(point->has_value && isfinite(point->value)))
        return "it has no finite value";
    return NULL;
}

static bool same_labels(const struct metric_series *series, const struct otlpmetrics_labels *labels)
{
    if (series->n_labels != labels->n)
        return false;
    for (uint32_t i = 0; i < labels->n; i++)
        if (!slice_equal(series->labels[i].key, labels->items[i].key) ||
            !slice_equal(series->labels[i].value, labels->items[i].value))
            return false;
    return true;
}

/* The series of a point: that of the point before if that was of the same metric and has the same labels. */
static const struct metric_series *series_of(struct decoder *d, const struct otlpmetrics_labels *labels,
                                             size_t first_of_metric, struct error *err)
{
    const struct metric_series *last = d->points.n > first_of_metric ? d->points.items[d->points.n - 1].series : NULL;
    struct metric_label *copy;
    struct metric_series *series;

    if (last && same_labels(last, labels))
        return last;
    series = ARENA_NEW(d->arena, struct metric_series, err);
    copy = ARENA_ARRAY(d->arena, struct metric_label, labels->n, err);
    if (!series || !copy)
        return NULL;
    memcpy(copy, labels->items, labels->n * sizeof(*copy));
    *series = d->about;
    series->labels = copy;
    series->n_labels = labels->n;
    return series;
}

static struct metric_point *push_point(struct decoder *d, struct error *err)
{
    struct points *points = &d->points;

    if (points->n == points->capacity) {
        size_t capacity = points->capacity ? 2 * points->capacity : 64;
        struct metric_point *items =
            arena_resize(d->arena, points->items, points->capacity * sizeof(*items), capacity * sizeof(*items), err);

        if (!items)
            return NULL;
        points->items = items;
        points->capacity = capacity;
    }
    return &points->items[points->n];
}

static int take_point(struct decoder *d, struct raw_point *raw, bool is_exponential, size_t first_of_metric,
                      struct error *err)
{
    const char *reason = problem_of(d, raw);
    struct metric_point point = { .time_ns = (int64_t)raw->time_ns,
                                  .start_ns = raw->start_ns <= raw->time_ns ? (int64_t)raw->start_ns : 0 };
    struct metric_point *to;

    if (raw->flags & OTLPMETRICS_NO_VALUE)
        return 0;
    if (!reason && d->about.kind == POINT_HISTOGRAM &&
        otlpmetrics_bucket(&raw->histogram, is_exponential, d->arena, &point.histogram, &reason, err) < 0)
        return -1;
    if (reason) {
        note_unusable(d, reason);
        return 0;
    }
    if (d->about.kind != POINT_HISTOGRAM)
        point.value = raw->value;
    point.series = series_of(d, &raw->labels, first_of_metric, err);
    to = point.series ? push_point(d, err) : NULL;
    if (!to)
        return -1;
    *to = point;
    d->points.n++;
    return 0;
}

/* --- metrics --- */

static uint32_t count_points(struct protobuf_reader data)
{
    uint32_t tag, n = 0;

    while (protobuf_next(&data, &tag)) {
        n += tag == PROTOBUF_TAG(OTLPMETRICS_POINTS, PROTOBUF_BYTES);
        protobuf_skip(&data, tag);
    }
    return n;
}

/* Temporality and whether sums only rise, which may stand behind the points. */
static void read_about(struct decoder *d, struct protobuf_reader data, uint32_t field)
{
    uint64_t temporality = 0;
    bool is_monotonic = false;
    uint32_t tag;

    while (protobuf_next(&data, &tag)) {
        if (tag == PROTOBUF_TAG(OTLPMETRICS_TEMPORALITY, PROTOBUF_VARINT))
            temporality = protobuf_varint(&data);
        else if (tag == PROTOBUF_TAG(OTLPMETRICS_IS_MONOTONIC, PROTOBUF_VARINT))
            is_monotonic = protobuf_varint(&data) != 0;
        else
            protobuf_skip(&data, tag);
    }
    d->about.kind = field == OTLPMETRICS_GAUGE ? POINT_GAUGE : field == OTLPMETRICS_SUM ? POINT_SUM : POINT_HISTOGRAM;
    d->about.temporality =
        d->about.kind != POINT_GAUGE && temporality < METRIC_TEMPORALITY_COUNT ? (uint8_t)temporality : 0;
    d->about.is_monotonic = d->about.kind == POINT_SUM && is_monotonic;
}

static int read_data(struct decoder *d, struct protobuf_reader *outer, uint32_t field, struct error *err)
{
    struct protobuf_reader data = protobuf_message(outer);
    size_t first = d->points.n;
    uint32_t tag;

    read_about(d, data, field);
    while (protobuf_next(&data, &tag)) {
        struct raw_point point;
        struct protobuf_reader r;
        int result;

        if (tag != PROTOBUF_TAG(OTLPMETRICS_POINTS, PROTOBUF_BYTES)) {
            protobuf_skip(&data, tag);
            continue;
        }
        point = (struct raw_point){ .labels = d->resource, .histogram.sum = NAN };
        r = protobuf_message(&data);
        result = field == OTLPMETRICS_HISTOGRAM     ? read_histogram(d, &r, &point, err)
                 : field == OTLPMETRICS_EXPONENTIAL ? read_exponential(d, &r, &point, err)
                                                    : read_number(d, &r, &point, err);
        protobuf_leave(&data, &r);
        if (result < 0 || (!r.bad && take_point(d, &point, field == OTLPMETRICS_EXPONENTIAL, first, err) < 0))
            return -1;
    }
    protobuf_leave(outer, &data);
    return 0;
}

/* Name and unit, which may stand behind the data. */
static int read_name(struct decoder *d, struct protobuf_reader r, struct error *err)
{
    struct slice name = SLICE(""), unit = SLICE("");
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (tag == PROTOBUF_TAG(OTLPMETRICS_NAME, PROTOBUF_BYTES))
            name = protobuf_bytes(&r);
        else if (tag == PROTOBUF_TAG(OTLPMETRICS_UNIT, PROTOBUF_BYTES))
            unit = protobuf_bytes(&r);
        else
            protobuf_skip(&r, tag);
    }
    d->about = (struct metric_series){ 0 };
    if (keyvalue_mend(name, METRIC_MAX_NAME_BYTES, d->arena, &d->about.name, err) < 0 ||
        keyvalue_mend(unit, METRIC_MAX_NAME_BYTES, d->arena, &d->about.unit, err) < 0)
        return -1;
    d->name = d->about.name;
    return 0;
}

static void note_unkept(struct decoder *d, uint32_t n)
{
    if (n > 0 && d->n_unkept_metrics++ == 0)
        d->unkept_name = d->name;
    d->n_unkept += n;
}

static int read_metric(struct decoder *d, struct protobuf_reader *outer, struct error *err)
{
    struct protobuf_reader r = protobuf_message(outer);
    uint32_t tag;

    if (read_name(d, r, err) < 0)
        return -1;
    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLPMETRICS_GAUGE, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLPMETRICS_SUM, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLPMETRICS_HISTOGRAM, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLPMETRICS_EXPONENTIAL, PROTOBUF_BYTES):
            if (otlpmetrics_is_kept(d->name)) {
                if (read_data(d, &r, PROTOBUF_FIELD(tag), err) < 0)
                    return -1;
                break;
            }
            note_unkept(d, count_points(protobuf_message(&r)));
            break;
        case PROTOBUF_TAG(OTLPMETRICS_SUMMARY, PROTOBUF_BYTES):
            note_unkept(d, count_points(protobuf_message(&r)));
            break;
        default: protobuf_skip(&r, tag);
        }
    }
    protobuf_leave(outer, &r);
    return 0;
}

/* --- resources --- */

static int read_scope(struct decoder *d, struct protobuf_reader *outer, struct error *err)
{
    struct protobuf_reader r = protobuf_message(outer);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (tag != PROTOBUF_TAG(OTLPMETRICS_METRICS, PROTOBUF_BYTES))
            protobuf_skip(&r, tag);
        else if (read_metric(d, &r, err) < 0)
            return -1;
    }
    protobuf_leave(outer, &r);
    return 0;
}

static int read_resource(struct decoder *d, struct protobuf_reader *outer, struct otlpmetrics_resource *resource,
                         struct error *err)
{
    struct protobuf_reader r = protobuf_message(outer);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        struct protobuf_reader attribute;

        if (tag != PROTOBUF_TAG(OTLPMETRICS_RESOURCE_ATTRIBUTES, PROTOBUF_BYTES)) {
            protobuf_skip(&r, tag);
            continue;
        }
        attribute = protobuf_message(&r);
        if (otlpmetrics_resource_add(resource, &attribute, d->arena, err) < 0)
            return -1;
        protobuf_leave(&r, &attribute);
    }
    protobuf_leave(outer, &r);
    return 0;
}

/* The resource, which may stand behind its metrics. */
static int read_resource_first(struct decoder *d, struct protobuf_reader *r, struct error *err)
{
    struct protobuf_reader ahead = *r;
    struct otlpmetrics_resource resource = { .service = SLICE("") };
    uint32_t tag;

    while (protobuf_next(&ahead, &tag)) {
        if (tag != PROTOBUF_TAG(OTLPMETRICS_RESOURCE, PROTOBUF_BYTES))
            protobuf_skip(&ahead, tag);
        else if (read_resource(d, &ahead, &resource, err) < 0)
            return -1;
    }
    protobuf_leave(r, &ahead);
    return otlpmetrics_resource_labels(&resource, d->arena, &d->resource, err);
}

static int read_resource_metrics(struct decoder *d, struct protobuf_reader *outer, struct error *err)
{
    struct protobuf_reader r = protobuf_message(outer);
    uint32_t tag;

    if (read_resource_first(d, &r, err) < 0)
        return -1;
    while (protobuf_next(&r, &tag)) {
        if (tag != PROTOBUF_TAG(OTLPMETRICS_SCOPE_METRICS, PROTOBUF_BYTES))
            protobuf_skip(&r, tag);
        else if (read_scope(d, &r, err) < 0)
            return -1;
    }
    protobuf_leave(outer, &r);
    return 0;
}

/* --- the whole --- */

/* A sentence in the making; what does not fit is cut. */
struct sentence {
    char *text;
    size_t len, room;
};

static PRINTF(2, 3) void say(struct sentence *sentence, const char *fmt, ...)
{
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(sentence->text + sentence->len, sentence->room - sentence->len, fmt, args);
    va_end(args);
    sentence->len = MIN(sentence->len + (size_t)MAX(len, 0), sentence->room - 1);
}

#define TOLD_NAME_BYTES 80

static int say_name(struct decoder *d, struct sentence *sentence, struct slice name, struct error *err)
{
    struct slice told;

    if (keyvalue_mend(name, TOLD_NAME_BYTES, d->arena, &told, err) < 0)
        return -1;
    if (told.len)
        say(sentence, "%.*s%s", SLICE_ARG(told), told.len < name.len ? "..." : "");
    else
        say(sentence, "one without a name");
    return 0;
}

static int tell_rejection(struct decoder *d, struct otlpmetrics_read *read, struct error *err)
{
    struct sentence sentence = { .text = read->rejection, .room = sizeof(read->rejection) };

    if (d->n_unkept > 0) {
        say(&sentence, "%u data point%s of %u metric%s not kept, as ", d->n_unkept, d->n_unkept == 1 ? "" : "s",
            d->n_unkept_metrics, d->n_unkept_metrics == 1 ? "" : "s");
        if (say_name(d, &sentence, d->unkept_name, err) < 0)
            return -1;
        say(&sentence, "%s; kept are ", otlpmetrics_is_kept(d->unkept_name) ? ", a summary" : "");
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
            say(&sentence, "%s%s*", i == 0 ? "" : i + 1 < ARRAY_LEN(kept) ? ", " : " and ", kept[i]);
    }
    if (d->n_unusable > 0) {
        say(&sentence, "%s%u data point%s cannot be used, as one of ", sentence.len ? "; " : "", d->n_unusable,
            d->n_unusable == 1 ? "" : "s");
        if (say_name(d, &sentence, d->unusable_name, err) < 0)
            return -1;
        say(&sentence, ": %s", d->unusable_reason);
    }
    return 0;
}

static int transcode(struct slice json, struct arena *arena, struct slice *ret_bytes, struct error *err)
{
    AUTO(buffer_done) struct buffer out;
    struct json_reader reader;

    buffer_init(&out, arena->max_bytes);
    json_reader_init(&reader, json, arena, JSON_READER_MAX_DEPTH);
    protojson_read(&reader, otlpmetrics_fields, &out);
    json_reader_end(&reader);
    if (json_reader_check(&reader, err) < 0 || buffer_check(&out, err) < 0)
        return error_wrap(err, FORMAT " as JSON");
    *ret_bytes = arena_copy(arena, buffer_slice(&out), err);
    return ret_bytes->ptr ? 0 : -1;
}

int otlpmetrics_decode(struct slice bytes, bool is_json, struct arena *arena, struct otlpmetrics_read *ret_read,
                       struct error *err)
{
    struct decoder d = { .arena = arena };
    struct otlpmetrics_read read = { .n_rejected = 0 };
    struct protobuf_reader r;
    uint32_t tag;

    if (is_json && transcode(bytes, arena, &bytes, err) < 0)
        return -1;
    r = protobuf_reader_of(bytes);
    while (protobuf_next(&r, &tag)) {
        if (tag != PROTOBUF_TAG(OTLPMETRICS_REQUEST_RESOURCE_METRICS, PROTOBUF_BYTES))
            protobuf_skip(&r, tag);
        else if (read_resource_metrics(&d, &r, err) < 0)
            return -1;
    }
    if (r.bad)
        return protojson_explain(FORMAT, otlpmetrics_fields, bytes, &r, err);
    if (tell_rejection(&d, &read, err) < 0)
        return -1;
    read.points = (struct metric_list){ d.points.items, d.points.n };
    read.n_rejected = d.n_unkept + d.n_unusable;
    *ret_read = read;
    return 0;
}
