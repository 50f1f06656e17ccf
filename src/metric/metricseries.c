// SPDX-License-Identifier: Apache-2.0
#include "metric/metricseries.h"

#include "base/hash.h"
#include "pack/varint.h"

#define SEED 0x6d6574726963u /* never to be changed: numbers are kept */

static void append_text(struct buffer *out, struct slice text)
{
    varint_append(out, text.len);
    buffer_append_slice(out, text);
}

void metricseries_encode(const struct metric_series *series, struct buffer *out)
{
    buffer_append_byte(out, (char)(series->kind | series->temporality << 2 | series->is_monotonic << 4));
    append_text(out, series->name);
    append_text(out, series->unit);
    varint_append(out, series->n_labels);
    for (uint32_t i = 0; i < series->n_labels; i++) {
        append_text(out, series->labels[i].key);
        append_text(out, series->labels[i].value);
    }
}

static bool take_text(struct slice *rest, size_t max_bytes, struct slice *ret_text)
{
    uint64_t len;

    if (!varint_next(rest, &len) || len > rest->len || len > max_bytes)
        return false;
    *ret_text = slice_sub(*rest, 0, (size_t)len);
    *rest = slice_sub(*rest, (size_t)len, SIZE_MAX);
    return true;
}

static bool take_labels(struct slice *rest, struct metric_label *labels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!take_text(rest, METRIC_MAX_NAME_BYTES, &labels[i].key) ||
            !take_text(rest, METRIC_MAX_VALUE_BYTES, &labels[i].value) ||
            (i > 0 && slice_compare(labels[i - 1].key, labels[i].key) >= 0))
            return false;
    return true;
}

int metricseries_decode(struct slice bytes, struct arena *arena, struct metric_series *ret_series, struct error *err)
{
    unsigned header = bytes.len ? (unsigned char)bytes.ptr[0] : 0xff;
    struct metric_series series = { .kind = header & 3, .temporality = header >> 2 & 3, .is_monotonic = header >> 4 };
    struct slice rest = slice_sub(bytes, 1, SIZE_MAX);
    struct metric_label *labels;
    uint64_t n_labels;

    if (header > 0x1f || series.kind >= POINT_KIND_COUNT || series.temporality >= METRIC_TEMPORALITY_COUNT)
        return error_set(err, ERR_CORRUPT, "series of %zu bytes: byte 0 is none of a series", bytes.len);
    if (!take_text(&rest, METRIC_MAX_NAME_BYTES, &series.name) ||
        !take_text(&rest, METRIC_MAX_NAME_BYTES, &series.unit) || !varint_next(&rest, &n_labels) ||
        n_labels > METRIC_MAX_LABELS)
        return error_set(err, ERR_CORRUPT,
                         "series of %zu bytes: name, unit or number of labels is cut off or too large", bytes.len);
    labels = ARENA_ARRAY(arena, struct metric_label, (size_t)n_labels, err);
    if (!labels)
        return -1;
    if (!take_labels(&rest, labels, (size_t)n_labels) || rest.len > 0)
        return error_set(err, ERR_CORRUPT,
                         "series of %zu bytes: labels are cut off, too long or out of order, or more follows them",
                         bytes.len);
    series.labels = labels;
    series.n_labels = (uint32_t)n_labels;
    *ret_series = series;
    return 0;
}

uint64_t metricseries_number(struct slice encoded)
{
    return hash_bytes64(encoded, SEED);
}

uint64_t metricseries_service_number(struct slice service)
{
    return hash_bytes64(service, SEED);
}

struct slice metricseries_label(const struct metric_series *series, struct slice key)
{
    for (uint32_t i = 0; i < series->n_labels; i++)
        if (slice_equal(series->labels[i].key, key))
            return series->labels[i].value;
    return SLICE("");
}
