// SPDX-License-Identifier: Apache-2.0
#include "trace/tracestore.h"

#include "base/base64.h"
#include "profile/spanids.h"

static bool is_same_bytes(struct slice bytes, struct slice text)
{
    char decoded[BASE64_DECODED_BYTES(SPAN_MAX_VALUE_BYTES * 2)];
    size_t len, bad_at;

    return text.len <= SPAN_MAX_VALUE_BYTES * 2 && base64_decode(text, decoded, &len, &bad_at) &&
           slice_equal(bytes, slice_of(decoded, len));
}

bool tracestore_value_is(const struct span_value *value, struct slice text)
{
    int64_t integer;
    double real;

    switch (value->kind) {
    case SPAN_VALUE_EMPTY: return text.len == 0;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_JSON: return slice_equal(value->text, text);
    case SPAN_VALUE_BOOL: return slice_is(text, value->integer ? "true" : "false");
    case SPAN_VALUE_INT: return slice_to_i64(text, &integer) && integer == value->integer;
    case SPAN_VALUE_DOUBLE: return slice_to_double(text, &real) && real == value->real;
    case SPAN_VALUE_BYTES: return is_same_bytes(value->text, text);
    }
    return false;
}

static const struct span_value *find_value(const struct span_attributes *attributes, struct slice key)
{
    for (uint32_t i = 0; i < attributes->n; i++)
        if (slice_equal(attributes->items[i].key, key))
            return &attributes->items[i].value;
    return NULL;
}

static bool has_attribute(const struct span *span, const struct span_attribute *wanted)
{
    const struct span_value *value = find_value(&span->attributes, wanted->key);

    if (!value)
        value = find_value(&span->resource->attributes, wanted->key);
    return value && (wanted->value.text.len == 0 || tracestore_value_is(value, wanted->value.text));
}

static bool has_parent(const struct span *span)
{
    static const uint8_t none[SPAN_ID_BYTES];

    return memcmp(span->parent_id, none, sizeof(none)) != 0;
}

bool tracestore_filter_takes(const struct tracestore_filter *filter, const struct span *span)
{
    if (span->start_ns < filter->from_ns || (filter->until_ns != 0 && span->start_ns >= filter->until_ns))
        return false;
    if (span->duration_ns < filter->min_duration_ns ||
        (filter->max_duration_ns != 0 && span->duration_ns > filter->max_duration_ns))
        return false;
    if ((filter->is_error && span->status != SPAN_ERROR) || (filter->is_root && has_parent(span)))
        return false;
    if ((filter->service.len > 0 && !slice_equal(filter->service, span->resource->service)) ||
        (filter->operation.len > 0 && !slice_equal(filter->operation, span->name)))
        return false;
    if (filter->ids && !spanids_has(filter->ids, span->span_id))
        return false;
    for (uint32_t i = 0; i < filter->n_attributes; i++)
        if (!has_attribute(span, &filter->attributes[i]))
            return false;
    return true;
}
