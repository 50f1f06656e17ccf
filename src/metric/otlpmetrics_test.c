// SPDX-License-Identifier: Apache-2.0
#include "metric/otlpmetrics.h"

#include "base/test.h"
#include "metric/otlpmetrics_sdk_test.h"
#include "wire/protobuf.h"

#include <math.h>

static struct arena arena = { .max_bytes = 4 << 20 };
static struct buffer bytes = { .max_bytes = 1 << 20 };

static struct slice from_hex(const char *digits)
{
    buffer_clear(&bytes);
    for (; digits[0]; digits += 2) {
        uint64_t value;

        CHECK(slice_to_u64_hex(slice_of(digits, 2), &value));
        buffer_append_byte(&bytes, (char)value);
    }
    return buffer_slice(&bytes);
}

static struct otlpmetrics_read decoded(struct slice request, bool is_json)
{
    struct otlpmetrics_read read;
    struct error err;

    arena_reset(&arena);
    CHECK_OK(otlpmetrics_decode(request, is_json, &arena, &read, &err), &err);
    return read;
}

/* A request in JSON with one metric of the service "shop". */
static struct otlpmetrics_read decoded_metric(const char *metric)
{
    buffer_clear(&bytes);
    buffer_printf(&bytes,
                  "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":[%s]}],\"resource\":{\"attributes\":[{\"key\":"
                  "\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]}}]}",
                  metric);
    return decoded(buffer_slice(&bytes), true);
}

static struct slice label_of(const struct metric_point *point, const char *key)
{
    for (uint32_t i = 0; i < point->series->n_labels; i++)
        if (slice_is(point->series->labels[i].key, key))
            return point->series->labels[i].value;
    return SLICE("-");
}

static const struct metric_point *find_point(const struct otlpmetrics_read *read, const char *name, const char *state)
{
    for (size_t i = 0; i < read->points.n; i++) {
        const struct metric_point *point = &read->points.items[i];

        if (slice_is(point->series->name, name) && slice_is(label_of(point, "state"), state))
            return point;
    }
    test_fail(__FILE__, __LINE__, "no point of %s with state %s", name, state);
}

static uint64_t total(const struct metric_histogram *histogram)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i <= histogram->n_bounds; i++)
        sum += histogram->counts[i];
    return sum;
}

TEST(otlpmetrics_reads_what_a_real_sdk_sends)
{
    struct otlpmetrics_read read = decoded(from_hex(otlpmetrics_sdk_request), false);
    const struct metric_point *point = find_point(&read, "runtime.memory.heap_alloc_bytes", "-");

    CHECK_EQ(read.points.n, 8);
    CHECK_TEXT(point->series->unit, "By");
    CHECK_EQ(point->series->kind, POINT_GAUGE);
    CHECK_EQ(point->series->temporality, METRIC_NO_TEMPORALITY);
    CHECK_EQ(point->value, 123456789);
    CHECK_EQ(point->time_ns, 1794821400123456789);
    CHECK_EQ(point->start_ns, 0);
    CHECK_EQ(point->series->n_labels, 4);
    CHECK_TEXT(label_of(point, "service_name"), "shop");
    CHECK_TEXT(label_of(point, "instance"), "node-1:4711");
    CHECK_TEXT(label_of(point, "version"), "1.2.0");
    CHECK_TEXT(label_of(point, "host"), "node-1");

    CHECK_NEAR(find_point(&read, "process.cpu.utilization", "system")->value, 0.125, 0);
    point = find_point(&read, "process.cpu.time", "user");
    CHECK_NEAR(point->value, 1.5, 0);
    CHECK_EQ(point->series->kind, POINT_SUM);
    CHECK_EQ(point->series->temporality, METRIC_CUMULATIVE);
    CHECK(point->series->is_monotonic);
    CHECK_EQ(point->start_ns, 1794821340000000000);
    CHECK(!find_point(&read, "process.threads", "-")->series->is_monotonic);
}

TEST(otlpmetrics_reads_histograms_of_a_real_sdk)
{
    struct otlpmetrics_read read = decoded(from_hex(otlpmetrics_sdk_request), false);
    const struct metric_histogram *histogram = find_point(&read, "runtime.gc.pause_duration_seconds", "-")->histogram;

    CHECK_EQ(histogram->n_bounds, 3);
    CHECK_NEAR(histogram->bounds[2], 0.1, 0);
    CHECK_EQ(histogram->counts[0], 1);
    CHECK_EQ(histogram->counts[1], 2);
    CHECK_EQ(histogram->counts[2], 1);
    CHECK_EQ(histogram->counts[3], 1);
    CHECK_NEAR(histogram->sum, 0.5555, 1e-9);

    /* 0, 1, 2, 4, 4 and 100, at scale 4: each bucket ends at the next power of 2^(1/16). */
    histogram = find_point(&read, "process.exponential", "-")->histogram;
    CHECK_EQ(total(histogram), 6);
    CHECK_EQ(histogram->counts[0], 1);
    CHECK_NEAR(histogram->bounds[0], exp2(-1.0 / 16), 1e-12);
    CHECK_EQ(histogram->counts[1], 1);
    CHECK_NEAR(histogram->bounds[1], 1, 1e-12);
    CHECK_EQ(histogram->counts[1 + 16], 1);
    CHECK_EQ(histogram->counts[1 + 32], 2);
    CHECK_NEAR(histogram->bounds[1 + 32], 4, 1e-12);
    CHECK_EQ(histogram->counts[histogram->n_bounds - 1], 1);
    CHECK(histogram->bounds[histogram->n_bounds - 1] >= 100 && histogram->bounds[histogram->n_bounds - 2] < 100);
}

TEST(otlpmetrics_tells_what_is_not_kept)
{
    struct otlpmetrics_read read = decoded(from_hex(otlpmetrics_sdk_request), false);

    CHECK_EQ(read.n_rejected, 3);
    CHECK_TEXT(read.rejection, "3 data points of 2 metrics not kept, as http.server.duration; kept are process.*, "
                               "runtime.*, hearth.*, go.*, jvm.*, cpython.*, nodejs.*, v8js.* and dotnet.*");
    read = decoded_metric("{\"name\":\"process.x\",\"summary\":{\"dataPoints\":[{\"timeUnixNano\":\"5\"}]}}");
    CHECK_EQ(read.n_rejected, 1);
    CHECK_HAS(read.rejection, "1 data point of 1 metric not kept, as process.x, a summary; kept are");
    read = decoded_metric("{\"name\":\"process.x\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":\"5\",\"asInt\":1}]}}");
    CHECK_EQ(read.n_rejected, 0);
    CHECK_TEXT(read.rejection, "");
}

TEST(otlpmetrics_keeps_names_of_processes_and_runtimes)
{
    CHECK(otlpmetrics_is_kept(SLICE("process.cpu.time")));
    CHECK(otlpmetrics_is_kept(SLICE("runtime.gc.pause_duration_seconds")));
    CHECK(otlpmetrics_is_kept(SLICE("go.memory.used")));
    CHECK(!otlpmetrics_is_kept(SLICE("processor.load")));
    CHECK(!otlpmetrics_is_kept(SLICE("http.server.duration")));
    CHECK(!otlpmetrics_is_kept(SLICE("")));
}

TEST(otlpmetrics_reads_json_in_any_order)
{
    struct otlpmetrics_read read = decoded_metric(
        "{\"sum\":{\"isMonotonic\":true,\"dataPoints\":[{\"asInt\":\"-3\",\"timeUnixNano\":\"7\","
        "\"startTimeUnixNano\":5,\"attributes\":[{\"key\":\"b\",\"value\":{\"intValue\":\"9\"}},"
        "{\"value\":{\"boolValue\":true},\"key\":\"a\"},{\"key\":\"c\",\"value\":{\"doubleValue\":0.5}},"
        "{\"key\":\"d\",\"value\":{\"arrayValue\":{}}},{\"key\":\"a\",\"value\":{\"stringValue\":\"2\"}}]}],"
        "\"aggregation_temporality\":1},\"unit\":\"s\",\"name\":\"jvm.x\"}");
    const struct metric_point *point = &read.points.items[0];

    CHECK_EQ(read.points.n, 1);
    CHECK_TEXT(point->series->name, "jvm.x");
    CHECK_TEXT(point->series->unit, "s");
    CHECK_EQ(point->series->temporality, METRIC_DELTA);
    CHECK(point->series->is_monotonic);
    CHECK_EQ(point->value, -3);
    CHECK_EQ(point->start_ns, 5);
    CHECK_EQ(point->series->n_labels, 4);
    CHECK_TEXT(point->series->labels[0].key, "a");
    CHECK_TEXT(point->series->labels[0].value, "true");
    CHECK_TEXT(label_of(point, "b"), "9");
    CHECK_TEXT(label_of(point, "c"), "0.5");
    CHECK_TEXT(label_of(point, "service_name"), "shop");
}

TEST(otlpmetrics_reads_exponential_histograms_of_json)
{
    struct otlpmetrics_read read = decoded_metric(
        "{\"name\":\"runtime.x\",\"exponentialHistogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{"
        "\"timeUnixNano\":9,\"count\":9,\"sum\":1,\"scale\":0,\"zeroCount\":\"2\",\"zeroThreshold\":0.25,\"positive\":{"
        "\"offset\":-1,\"bucketCounts\":[\"1\",0,3,0]},\"negative\":{\"offset\":1,\"bucketCounts\":[1,2]}}]}}");
    const struct metric_histogram *histogram = read.points.items[0].histogram;
    static const double bounds[] = { -8, -4, -2, 0.5, 1, 2, 4 };
    static const uint64_t counts[] = { 0, 2, 1, 2, 1, 0, 3, 0 };

    CHECK_EQ(histogram->n_bounds, ARRAY_LEN(bounds));
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        CHECK_NEAR(histogram->bounds[i], bounds[i], 1e-12);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        CHECK_EQ(histogram->counts[i], counts[i]);
}

TEST(otlpmetrics_makes_exponential_histograms_coarser_until_they_fit)
{
    struct otlpmetrics_read read;
    const struct metric_histogram *histogram;

    buffer_clear(&bytes);
    buffer_append_text(&bytes,
                       "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":[{\"name\":\"go.x\","
                       "\"exponentialHistogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{\"timeUnixNano\":9,"
                       "\"scale\":6,\"positive\":{\"offset\":0,\"bucketCounts\":[1");
    for (int i = 1; i < 640; i++) /* ten powers of two */
        buffer_append_text(&bytes, ",1");
    buffer_append_text(&bytes, "]}}]}}]}]}]}");
    read = decoded(buffer_slice(&bytes), true);
    histogram = read.points.items[0].histogram;
    CHECK_EQ(total(histogram), 640);
    CHECK_EQ(histogram->n_bounds, 81); /* at scale 3: 80 buckets, and the edge below */
    CHECK_NEAR(histogram->bounds[0], 1, 1e-12);
    CHECK_NEAR(histogram->bounds[8], 2, 1e-12);
    CHECK_NEAR(histogram->bounds[80], 1024, 1e-9);
    CHECK_EQ(histogram->counts[1], 8);
}

TEST(otlpmetrics_keeps_fewer_bounds_of_wide_histograms)
{
    struct otlpmetrics_read read;
    const struct metric_histogram *histogram;

    buffer_clear(&bytes);
    buffer_append_text(&bytes, "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":[{\"name\":\"go.x\","
                               "\"histogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{\"timeUnixNano\":9,"
                               "\"explicitBounds\":[0");
    for (int i = 1; i < 1001; i++)
        buffer_printf(&bytes, ",%d", i);
    buffer_append_text(&bytes, "],\"bucketCounts\":[1");
    for (int i = 1; i < 1002; i++)
        buffer_append_text(&bytes, ",1");
    buffer_append_text(&bytes, "]}]}}]}]}]}");
    read = decoded(buffer_slice(&bytes), true);
    histogram = read.points.items[0].histogram;
    CHECK_EQ(total(histogram), 1002);
    CHECK_EQ(histogram->n_bounds, 125);
    CHECK_NEAR(histogram->bounds[0], 7, 0);
    CHECK_EQ(histogram->counts[0], 8);
    CHECK_EQ(histogram->counts[125], 2);
    CHECK(isnan(histogram->sum));
}

static void check_unusable(const char *metric, const char *reason)
{
    struct otlpmetrics_read read = decoded_metric(metric);

    CHECK_EQ(read.points.n, 0);
    CHECK_EQ(read.n_rejected, 1);
    CHECK_HAS(read.rejection, "1 data point cannot be used, as one of process.x: ");
    CHECK_HAS(read.rejection, reason);
}

TEST(otlpmetrics_tells_points_that_cannot_be_used)
{
    check_unusable("{\"name\":\"process.x\",\"gauge\":{\"dataPoints\":[{\"asInt\":1}]}}", "it has no time");
    check_unusable("{\"name\":\"process.x\",\"gauge\":{\"dataPoints\":[{\"asInt\":1,\"timeUnixNano\":"
                   "\"18446744073709551615\"}]}}",
                   "it has no time");
    check_unusable("{\"name\":\"process.x\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":1}]}}",
                   "it has no finite value");
    check_unusable("{\"name\":\"process.x\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":1,\"asDouble\":\"NaN\"}]}}",
                   "it has no finite value");
    check_unusable("{\"name\":\"process.x\",\"sum\":{\"dataPoints\":[{\"timeUnixNano\":1,\"asInt\":1}]}}",
                   "it says neither delta nor cumulative");
    check_unusable("{\"name\":\"process.x\",\"histogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{"
                   "\"timeUnixNano\":1,\"bucketCounts\":[1,2],\"explicitBounds\":[]}]}}",
                   "it has not one bucket more than bounds");
    check_unusable("{\"name\":\"process.x\",\"histogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{"
                   "\"timeUnixNano\":1,\"bucketCounts\":[1,2,3],\"explicitBounds\":[2,2]}]}}",
                   "its bounds do not rise");
    check_unusable("{\"name\":\"process.x\",\"exponentialHistogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{"
                   "\"timeUnixNano\":1,\"scale\":99}]}}",
                   "its scale is not within -32 to 32");
}

TEST(otlpmetrics_passes_over_points_that_say_they_hold_nothing)
{
    struct otlpmetrics_read read =
        decoded_metric("{\"name\":\"process.x\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":1,\"flags\":1}]}}");

    CHECK_EQ(read.points.n, 0);
    CHECK_EQ(read.n_rejected, 0);
}

TEST(otlpmetrics_counts_all_of_a_histogram_without_buckets)
{
    struct otlpmetrics_read read =
        decoded_metric("{\"name\":\"process.x\",\"histogram\":{\"aggregationTemporality\":1,\"dataPoints\":[{"
                       "\"timeUnixNano\":1,\"count\":5,\"sum\":10}]}}");

    CHECK_EQ(read.points.items[0].histogram->n_bounds, 0);
    CHECK_EQ(read.points.items[0].histogram->counts[0], 5);
    CHECK_NEAR(read.points.items[0].histogram->sum, 10, 0);
}

TEST(otlpmetrics_names_services_that_have_no_name)
{
    struct otlpmetrics_read read = decoded(
        SLICE("{\"resourceMetrics\":[{\"resource\":{\"attributes\":[{\"key\":\"process.executable.name\",\"value\":{"
              "\"stringValue\":\"shopd\"}},{\"key\":\"host.name\",\"value\":{\"stringValue\":\"a\"}}]},"
              "\"scopeMetrics\":[{"
              "\"metrics\":[{\"name\":\"go.x\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":1,\"asInt\":1}]}}]}]},{"
              "\"scopeMetrics\":[{\"metrics\":[{\"name\":\"go.x\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":1,"
              "\"asInt\":1}]}}]}]}]}"),
        true);

    CHECK_EQ(read.points.n, 2);
    CHECK_TEXT(label_of(&read.points.items[0], "service_name"), "shopd");
    CHECK_TEXT(label_of(&read.points.items[0], "instance"), "a");
    CHECK_TEXT(label_of(&read.points.items[1], "service_name"), "unknown_service");
    CHECK_TEXT(label_of(&read.points.items[1], "instance"), "-");
}

TEST(otlpmetrics_keeps_so_many_labels_and_so_long_ones)
{
    AUTO(buffer_done) struct buffer metric;
    struct otlpmetrics_read read;
    const struct metric_point *point;

    buffer_init(&metric, 1 << 20);
    buffer_append_text(&metric, "{\"name\":\"go.x\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":1,\"asInt\":1,"
                                "\"attributes\":[{\"key\":\"z\",\"value\":{\"stringValue\":\"");
    for (int i = 0; i < 400; i++)
        buffer_append_text(&metric, "x");
    buffer_append_text(&metric, "\"}}");
    for (int i = 30; i-- > 0;)
        buffer_printf(&metric, ",{\"key\":\"zz%02d\",\"value\":{\"intValue\":%d}}", i, i);
    buffer_append_text(&metric, "]}]}}");
    buffer_append_byte(&metric, '\0');
    read = decoded_metric(metric.data);
    point = &read.points.items[0];
    CHECK_EQ(point->series->n_labels, METRIC_MAX_LABELS);
    CHECK_TEXT(label_of(point, "service_name"), "shop");
    CHECK_EQ(label_of(point, "z").len, METRIC_MAX_VALUE_BYTES);
    CHECK_TEXT(label_of(point, "zz13"), "13");
    CHECK_TEXT(label_of(point, "zz14"), "-");
    for (uint32_t i = 1; i < point->series->n_labels; i++)
        CHECK(slice_compare(point->series->labels[i - 1].key, point->series->labels[i].key) < 0);
}

TEST(otlpmetrics_keeps_the_service_whatever_labels_there_are)
{
    AUTO(buffer_done) struct buffer metric;
    struct otlpmetrics_read read;
    const struct metric_point *point;

    buffer_init(&metric, 1 << 20);
    buffer_append_text(&metric, "{\"name\":\"go.x\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":1,\"asInt\":1,"
                                "\"attributes\":[{\"key\":\"z\",\"value\":{\"intValue\":1}}");
    for (int i = 30; i-- > 0;)
        buffer_printf(&metric, ",{\"key\":\"a%02d\",\"value\":{\"intValue\":%d}}", i, i);
    buffer_append_text(&metric, "]}]}}");
    buffer_append_byte(&metric, '\0');
    read = decoded_metric(metric.data);
    point = &read.points.items[0];
    CHECK_EQ(point->series->n_labels, METRIC_MAX_LABELS);
    CHECK_TEXT(label_of(point, "service_name"), "shop");
    CHECK_TEXT(label_of(point, "a00"), "0");
    CHECK_TEXT(label_of(point, "a14"), "14");
    CHECK_TEXT(label_of(point, "a15"), "-");
    CHECK_TEXT(label_of(point, "z"), "-");
    for (uint32_t i = 1; i < point->series->n_labels; i++)
        CHECK(slice_compare(point->series->labels[i - 1].key, point->series->labels[i].key) < 0);
}

TEST(otlpmetrics_says_where_a_request_is_damaged)
{
    struct slice whole = from_hex(otlpmetrics_sdk_request);
    struct otlpmetrics_read read;
    struct error err;

    for (size_t len = 1; len < whole.len; len++) {
        arena_reset(&arena);
        CHECK_ERROR(otlpmetrics_decode(slice_sub(whole, 0, len), false, &arena, &read, &err), &err, ERR_CORRUPT);
    }
    CHECK_HAS(err.text, "OTLP metrics: ");
    CHECK_HAS(err.text, "resource_metrics");
    arena_reset(&arena);
    CHECK_ERROR(otlpmetrics_decode(SLICE("{\"resourceMetrics\":7}"), true, &arena, &read, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "OTLP metrics as JSON: line 1, column 20");
    arena_reset(&arena);
    CHECK_OK(otlpmetrics_decode(SLICE(""), false, &arena, &read, &err), &err);
    CHECK_EQ(read.points.n, 0);
}

TEST(otlpmetrics_survives_any_byte_being_another)
{
    struct slice whole = from_hex(otlpmetrics_sdk_request);
    struct otlpmetrics_read read;
    struct error err;

    for (size_t i = 0; i < whole.len; i++) {
        char before = bytes.data[i];

        for (unsigned bit = 0; bit < 8; bit++) {
            bytes.data[i] = (char)(before ^ 1 << bit);
            arena_reset(&arena);
            if (otlpmetrics_decode(whole, false, &arena, &read, &err) < 0)
                CHECK(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
        }
        bytes.data[i] = before;
    }
}

static int decode_once(void *context, struct error *err)
{
    const struct slice *request = context;
    struct arena own;
    struct otlpmetrics_read read;
    int result;

    arena_init(&own, 0);
    result = otlpmetrics_decode(*request, request->ptr[0] == '{', &own, &read, err);
    arena_done(&own);
    return result;
}

TEST(otlpmetrics_survives_each_allocation_failing)
{
    struct slice request = from_hex(otlpmetrics_sdk_request);

    test_each_allocation_failing(decode_once, &request);
    request =
        SLICE("{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":[{\"name\":\"go.x\",\"gauge\":{\"dataPoints\":"
              "[{\"timeUnixNano\":1,\"asInt\":1}]}}]}]}]}");
    test_each_allocation_failing(decode_once, &request);
}

TEST(otlpmetrics_is_read_as_it_was_written)
{
    static const double bounds[] = { 0.5, 1 };
    static const uint64_t counts[] = { 1, 0, 300 };
    const struct metric_label resource[] = { { SLICE("service.name"), SLICE("shop") },
                                             { SLICE("service.instance.id"), SLICE("i-1") } };
    const struct metric_label user = { SLICE("state"), SLICE("user") }, system = { SLICE("state"), SLICE("system") };
    const struct metric_series heap = { .name = SLICE("runtime.heap"), .unit = SLICE("By") },
                               cpu_user = { .name = SLICE("process.cpu"),
                                            .kind = POINT_SUM,
                                            .temporality = METRIC_CUMULATIVE,
                                            .is_monotonic = true,
                                            .labels = &user,
                                            .n_labels = 1 },
                               pause = { .name = SLICE("runtime.gc.pause"),
                                         .kind = POINT_HISTOGRAM,
                                         .temporality = METRIC_DELTA };
    const struct metric_histogram histogram = { .sum = 7.5, .bounds = bounds, .counts = counts, .n_bounds = 2 };
    struct metric_series cpu_system = cpu_user;
    const struct metric_point points[] = {
        { .series = &heap, .time_ns = 9, .value = 0 },
        { .series = &cpu_user, .time_ns = 9, .start_ns = 5, .value = 1.25 },
        { .series = &cpu_system, .time_ns = 9, .start_ns = 5, .value = 2.5 },
        { .series = &pause, .time_ns = 9, .start_ns = 8, .histogram = &histogram },
    };
    struct otlpmetrics_read read;

    cpu_system.labels = &system;
    buffer_clear(&bytes);
    otlpmetrics_encode(resource, ARRAY_LEN(resource), &(struct metric_list){ points, ARRAY_LEN(points) }, &bytes);
    read = decoded(buffer_slice(&bytes), false);
    CHECK_EQ(read.points.n, ARRAY_LEN(points));
    CHECK_EQ(read.n_rejected, 0);
    for (size_t i = 0; i < ARRAY_LEN(points); i++) {
        const struct metric_point *point = &read.points.items[i];

        CHECK_TEXT(point->series->name, points[i].series->name);
        CHECK_TEXT(point->series->unit, points[i].series->unit);
        CHECK_EQ(point->series->kind, points[i].series->kind);
        CHECK_EQ(point->series->temporality, points[i].series->temporality);
        CHECK_EQ(point->series->is_monotonic, points[i].series->is_monotonic);
        CHECK_EQ(point->start_ns, points[i].start_ns);
        CHECK_EQ(point->time_ns, points[i].time_ns);
        CHECK_NEAR(point->value, points[i].value, 0);
        CHECK_TEXT(label_of(point, "service_name"), "shop");
        CHECK_TEXT(label_of(point, "instance"), "i-1");
    }
    CHECK_TEXT(label_of(&read.points.items[1], "state"), "user");
    CHECK_TEXT(label_of(&read.points.items[2], "state"), "system");
    CHECK_EQ(read.points.items[3].histogram->counts[2], 300);
    CHECK_NEAR(read.points.items[3].histogram->sum, 7.5, 0);
}
