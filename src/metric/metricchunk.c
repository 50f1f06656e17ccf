// SPDX-License-Identifier: Apache-2.0
#include "metric/metricchunk.h"

#include "metric/metricrow.h"
#include "pack/bitcolumn.h"
#include "pack/varint.h"

#include <math.h>

enum starts { STARTS_NONE, STARTS_MS, STARTS_BEHIND };
#define STARTS_COUNT (STARTS_BEHIND + 1)

#define MAX_DECIMALS  9
#define CODING_XOR    16
#define CODING_TURNED 17

#define MAX_TIME_MS ((uint64_t)(INT64_MAX / METRICROW_NS_PER_MS))

static const double powers[MAX_DECIMALS + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };

bool metricchunk_go_together(const struct metric_point *a, const struct metric_point *b)
{
    if (!a->histogram || !b->histogram)
        return !a->histogram && !b->histogram;
    return a->histogram->n_bounds == b->histogram->n_bounds &&
           (a->histogram->n_bounds == 0 ||
            memcmp(a->histogram->bounds, b->histogram->bounds, a->histogram->n_bounds * sizeof(double)) == 0);
}

static double value_of(const struct metric_point *point)
{
    return point->histogram ? point->histogram->sum : point->value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The order of the bits turned round: zeros at the end, as round numbers have them, become zeros at the front. */
static uint64_t turned(uint64_t bits)
{
    bits = (bits >> 1 & 0x5555555555555555u) | (bits & 0x5555555555555555u) << 1;
    bits = (bits >> 2 & 0x3333333333333333u) | (bits & 0x3333333333333333u) << 2;
    bits = (bits >> 4 & 0x0f0f0f0f0f0f0f0fu) | (bits & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(bits);
}

/* --- writing --- */

struct encoder {
    const struct metric_point *points;
    size_t n;
    uint64_t *column, *scratch; /* n each */
    struct buffer *out;
};

static uint64_t time_ms(const struct metric_point *point)
{
    return (uint64_t)point->time_ns / METRICROW_NS_PER_MS;
}

static void append_times(struct encoder *e)
{
    for (size_t i = 0; i < e->n; i++)
        e->column[i] = time_ms(&e->points[i]);
    bitcolumn_encode(e->column, e->n, e->scratch, e->out);
}

static enum starts append_starts_as(struct encoder *e, enum starts starts)
{
    for (size_t i = 0; i < e->n; i++) {
        uint64_t start = (uint64_t)e->points[i].start_ns / METRICROW_NS_PER_MS;
        uint64_t before = time_ms(&e->points[i > 0 ? i - 1 : 0]);

        e->column[i] = starts == STARTS_MS ? start : varint_zigzag((int64_t)(start - before));
    }
    bitcolumn_encode(e->column, e->n, e->scratch, e->out);
    return starts;
}

/* Cumulative series have one start, those of deltas start where the point before ends: the shorter way is taken. */
static enum starts append_starts(struct encoder *e)
{
    size_t begin = e->out->len, middle;
    bool is_told = false;

    for (size_t i = 0; i < e->n; i++)
        is_told |= e->points[i].start_ns > 0;
    if (!is_told)
        return STARTS_NONE;
    append_starts_as(e, STARTS_MS);
    middle = e->out->len;
    append_starts_as(e, STARTS_BEHIND);
    if (e->out->len - middle >= middle - begin) {
        buffer_truncate(e->out, middle);
        return STARTS_MS;
    }
    buffer_truncate(e->out, begin);
    return append_starts_as(e, STARTS_BEHIND);
}

/* Fills the column with value * 10^decimals; false if a value is not exactly that. */
static bool fill_scaled(struct encoder *e, unsigned decimals)
{
    for (size_t i = 0; i < e->n; i++) {
        double value = value_of(&e->points[i]), scaled = nearbyint(value * powers[decimals]);

        if (!(fabs(scaled) < 9007199254740992.0) ||
            bits_of((double)(int64_t)scaled / powers[decimals]) != bits_of(value))
            return false; /* -0 is no integer either */
        e->column[i] = (uint64_t)(int64_t)scaled;
    }
    return true;
}

static void fill_xor(struct encoder *e, bool is_turned)
{
    uint64_t before = 0;

    for (size_t i = 0; i < e->n; i++) {
        uint64_t bits = bits_of(value_of(&e->points[i]));

        e->column[i] = is_turned ? turned(bits ^ before) : bits ^ before;
        before = bits;
    }
}

static size_t append_column_as(struct encoder *e, unsigned coding)
{
    size_t begin = e->out->len;

    buffer_append_byte(e->out, (char)coding);
    bitcolumn_encode(e->column, e->n, e->scratch, e->out);
    return e->out->len - begin;
}

/* Writes the column in one more way, and keeps the shorter: `begin` is where the one before began. */
static void append_if_shorter(struct encoder *e, unsigned coding, size_t begin)
{
    size_t before = e->out->len, taken = append_column_as(e, coding);

    if (e->out->failure.code != ERR_OK)
        return;
    if (before > begin && taken >= before - begin) {
        buffer_truncate(e->out, before);
        return;
    }
    memmove(e->out->data + begin, e->out->data + before, taken);
    buffer_truncate(e->out, begin + taken);
}

/* As integers where they are some, by the fewest decimals, or by their bits. */
static void append_values(struct encoder *e)
{
    size_t begin = e->out->len;
    unsigned decimals = 0;

    while (decimals <= MAX_DECIMALS && !fill_scaled(e, decimals))
        decimals++;
    if (decimals <= MAX_DECIMALS)
        append_if_shorter(e, decimals, begin);
    for (unsigned coding = CODING_XOR; coding <= CODING_TURNED; coding++) {
        fill_xor(e, coding == CODING_TURNED);
        append_if_shorter(e, coding, begin);
    }
}

static void append_buckets(struct encoder *e)
{
    const struct metric_histogram *first = e->points[0].histogram;

    varint_append(e->out, first->n_bounds);
    buffer_append(e->out, first->bounds, first->n_bounds * sizeof(double));
    for (uint32_t bucket = 0; bucket <= first->n_bounds; bucket++) {
        for (size_t i = 0; i < e->n; i++)
            e->column[i] = e->points[i].histogram->counts[bucket];
        bitcolumn_encode(e->column, e->n, e->scratch, e->out);
    }
}

int metricchunk_encode(const struct metric_point *points, size_t n, struct arena *arena, struct buffer *out,
                       struct error *err)
{
    struct encoder e = { .points = points, .n = n, .out = out };
    size_t header = out->len;
    enum starts starts;

    ASSERT(n >= 1 && n <= METRICCHUNK_MAX_POINTS);
    e.column = ARENA_ARRAY(arena, uint64_t, n, err);
    e.scratch = ARENA_ARRAY(arena, uint64_t, n, err);
    if (!e.column || !e.scratch)
        return -1;
    buffer_append_byte(out, 0);
    varint_append(out, n);
    append_times(&e);
    starts = append_starts(&e);
    append_values(&e);
    if (points[0].histogram)
        append_buckets(&e);
    if (buffer_check(out, err) < 0)
        return -1;
    out->data[header] = (char)((points[0].histogram != NULL) | starts << 1);
    return 0;
}

/* --- reading --- */

struct decoder {
    struct slice rest;
    struct arena *arena;
    struct metric_point *points;
    uint64_t *column;
    size_t n;
};

static int read_times(struct decoder *d, struct error *err)
{
    if (bitcolumn_decode(&d->rest, d->column, d->n, err) < 0)
        return error_wrap(err, "times");
    for (size_t i = 0; i < d->n; i++) {
        if (d->column[i] > MAX_TIME_MS || (i > 0 && d->column[i] <= d->column[i - 1]))
            return error_set(err, ERR_CORRUPT, "time %zu of %zu does not rise or is too far ahead", i, d->n);
        d->points[i] = (struct metric_point){ .time_ns = (int64_t)d->column[i] * METRICROW_NS_PER_MS };
    }
    return 0;
}

static int read_starts(struct decoder *d, enum starts starts, struct error *err)
{
    if (starts == STARTS_NONE)
        return 0;
    if (bitcolumn_decode(&d->rest, d->column, d->n, err) < 0)
        return error_wrap(err, "starts");
    for (size_t i = 0; i < d->n; i++) {
        uint64_t start = d->column[i];

        if (starts == STARTS_BEHIND)
            start = (uint64_t)varint_unzigzag(start) + time_ms(&d->points[i > 0 ? i - 1 : 0]);
        if (start > time_ms(&d->points[i]))
            return error_set(err, ERR_CORRUPT, "start %zu of %zu is behind its time", i, d->n);
        d->points[i].start_ns = (int64_t)start * METRICROW_NS_PER_MS;
    }
    return 0;
}

static void undo_xor(uint64_t *column, size_t n, bool is_turned)
{
    uint64_t before = 0;

    for (size_t i = 0; i < n; i++) {
        before ^= is_turned ? turned(column[i]) : column[i];
        column[i] = before;
    }
}

static int read_values(struct decoder *d, struct error *err)
{
    unsigned coding = d->rest.len ? (unsigned char)d->rest.ptr[0] : 0xff;

    if (coding > MAX_DECIMALS && coding != CODING_XOR && coding != CODING_TURNED)
        return error_set(err, ERR_CORRUPT, "values are cut off or written in a way that is not known");
    d->rest = slice_sub(d->rest, 1, SIZE_MAX);
    if (bitcolumn_decode(&d->rest, d->column, d->n, err) < 0)
        return error_wrap(err, "values");
    if (coding > MAX_DECIMALS)
        undo_xor(d->column, d->n, coding == CODING_TURNED);
    for (size_t i = 0; i < d->n; i++)
        d->points[i].value =
            coding > MAX_DECIMALS ? double_of(d->column[i]) : (double)(int64_t)d->column[i] / powers[coding];
    return 0;
}

static int read_bounds(struct decoder *d, double **ret_bounds, uint32_t *ret_n, struct error *err)
{
    uint64_t n;
    double *bounds;

    if (!varint_next(&d->rest, &n) || n > METRIC_MAX_BOUNDS || d->rest.len < n * sizeof(double))
        return error_set(err, ERR_CORRUPT, "bounds are cut off or too many");
    bounds = ARENA_ARRAY(d->arena, double, (size_t)n, err);
    if (!bounds)
        return -1;
    if (n > 0)
        memcpy(bounds, d->rest.ptr, (size_t)n * sizeof(double));
    d->rest = slice_sub(d->rest, (size_t)n * sizeof(double), SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(bounds[i]) || (i > 0 && bounds[i] <= bounds[i - 1]))
            return error_set(err, ERR_CORRUPT, "bounds do not rise");
    *ret_bounds = bounds;
    *ret_n = (uint32_t)n;
    return 0;
}

static int read_buckets(struct decoder *d, struct error *err)
{
    struct metric_histogram *histograms = ARENA_ARRAY(d->arena, struct metric_histogram, d->n, err);
    uint64_t *counts;
    double *bounds = NULL;
    uint32_t n_bounds = 0;

    if (!histograms || read_bounds(d, &bounds, &n_bounds, err) < 0)
        return -1;
    counts = ARENA_ARRAY(d->arena, uint64_t, d->n * (n_bounds + 1), err);
    if (!counts)
        return -1;
    for (uint32_t bucket = 0; bucket <= n_bounds; bucket++) {
        if (bitcolumn_decode(&d->rest, d->column, d->n, err) < 0)
            return error_wrap(err, "bucket %u of %u", bucket, n_bounds + 1);
        for (size_t i = 0; i < d->n; i++)
            counts[i * (n_bounds + 1) + bucket] = d->column[i];
    }
    for (size_t i = 0; i < d->n; i++) {
        histograms[i] = (struct metric_histogram){
            .sum = d->points[i].value, .bounds = bounds, .counts = counts + i * (n_bounds + 1), .n_bounds = n_bounds
        };
        d->points[i].value = 0;
        d->points[i].histogram = &histograms[i];
    }
    return 0;
}

int metricchunk_decode(struct slice bytes, struct arena *arena, struct metric_point **ret_points, size_t *ret_n,
                       struct error *err)
{
    unsigned header = bytes.len ? (unsigned char)bytes.ptr[0] : 0xff;
    struct decoder d = { .rest = slice_sub(bytes, 1, SIZE_MAX), .arena = arena };
    uint64_t n;

    if (header >= STARTS_COUNT << 1 || !varint_next(&d.rest, &n) || n == 0 || n > METRICCHUNK_MAX_POINTS)
        return error_set(err, ERR_CORRUPT, "chunk of a metric, %zu bytes: its header is cut off or impossible",
                         bytes.len);
    d.n = (size_t)n;
    d.points = ARENA_ARRAY(arena, struct metric_point, d.n, err);
    d.column = ARENA_ARRAY(arena, uint64_t, d.n, err);
    if (!d.points || !d.column)
        return -1;
    if (read_times(&d, err) < 0 || read_starts(&d, (enum starts)(header >> 1), err) < 0 || read_values(&d, err) < 0 ||
        ((header & 1) && read_buckets(&d, err) < 0))
        return error_wrap(err, "chunk of a metric, %zu bytes", bytes.len);
    if (d.rest.len > 0)
        return error_set(err, ERR_CORRUPT, "chunk of a metric, %zu bytes: %zu of them are behind its end", bytes.len,
                         d.rest.len);
    *ret_points = d.points;
    *ret_n = d.n;
    return 0;
}
