// SPDX-License-Identifier: Apache-2.0
#include "trace/tracetally.h"

#include "pack/varint.h"

#define TALLY_VERSION 1

void tracetally_add(struct tracetally *tally, const struct span *span)
{
    tracetally_join(tally, &(struct tracetally){ 1, span->start_ns, span->start_ns, span->duration_ns });
}

void tracetally_join(struct tracetally *tally, const struct tracetally *other)
{
    if (tally->n_spans == 0) {
        *tally = *other;
        return;
    }
    if (other->n_spans == 0)
        return;
    tally->n_spans += other->n_spans;
    tally->min_start_ns = MIN(tally->min_start_ns, other->min_start_ns);
    tally->max_start_ns = MAX(tally->max_start_ns, other->max_start_ns);
    tally->max_duration_ns = MAX(tally->max_duration_ns, other->max_duration_ns);
}

void tracetally_encode(const struct tracetally *tally, struct buffer *out)
{
    buffer_append_byte(out, TALLY_VERSION);
    varint_append(out, tally->n_spans);
    varint_append(out, (uint64_t)tally->min_start_ns);
    varint_append(out, (uint64_t)(tally->max_start_ns - tally->min_start_ns));
    varint_append(out, (uint64_t)tally->max_duration_ns);
}

int tracetally_decode(struct slice *rest, struct tracetally *ret_tally, struct error *err)
{
    struct slice at = *rest;
    uint64_t numbers[4];

    if (at.len == 0)
        return error_set(err, ERR_CORRUPT, "a tally of spans has no bytes");
    if (at.ptr[0] != TALLY_VERSION)
        return error_set(err, ERR_VERSION, "a tally of spans is of version %u, this program knows %d",
                         (unsigned char)at.ptr[0], TALLY_VERSION);
    at = slice_sub(at, 1, at.len);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (!varint_next(&at, &numbers[i]) || (i > 0 && numbers[i] > INT64_MAX))
            return error_set(err, ERR_CORRUPT, "number %zu of a tally of spans is cut off or too large", i);
    if (numbers[1] + numbers[2] > INT64_MAX)
        return error_set(err, ERR_CORRUPT, "a tally of spans ends after the end of time");
    *ret_tally =
        (struct tracetally){ numbers[0], (int64_t)numbers[1], (int64_t)(numbers[1] + numbers[2]), (int64_t)numbers[3] };
    *rest = at;
    return 0;
}
