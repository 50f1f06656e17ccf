// SPDX-License-Identifier: Apache-2.0
#include "block/valuecolumns.h"

#include "block/pieces.h"
#include "pack/column.h"
#include "pack/varint.h"
#include "profile/profile.h"

#include <inttypes.h>

/* Only so many earlier types are tried as a base, lest 64 types that differ at the very end take hours. */
#define MAX_BASES 4u

/* The ratio, if any, is that of the first value that tells. */
static bool find_ratio(const int64_t *base, const int64_t *values, size_t n, int64_t *ret_ratio)
{
    size_t i = 0;
    int64_t ratio = 0;

    while (i < n && base[i] == 0 && values[i] == 0)
        i++;
    if (i < n) {
        if (base[i] == 0 || (base[i] == -1 && values[i] == INT64_MIN))
            return false;
        ratio = values[i] / base[i];
    }
    for (; i < n; i++) {
        int64_t product;

        if (__builtin_mul_overflow(base[i], ratio, &product) || product != values[i])
            return false;
    }
    *ret_ratio = ratio;
    return true;
}

static struct value_form find_form(const int64_t *values, size_t stride, size_t n, uint32_t type,
                                   const struct value_form *earlier)
{
    struct value_form form = { 0 };
    uint32_t tried = 0;

    for (uint32_t base = 0; base < type && tried < MAX_BASES && n > 0; base++) {
        if (earlier[base].base != 0)
            continue;
        if (find_ratio(values + base * stride, values + type * stride, n, &form.ratio))
            return (struct value_form){ base + 1, form.ratio };
        tried++;
    }
    return form;
}

void valuecolumns_find_forms(const int64_t *values, size_t stride, size_t n, uint32_t n_types,
                             struct value_form *ret_forms)
{
    for (uint32_t type = 0; type < n_types; type++)
        ret_forms[type] = find_form(values, stride, n, type, ret_forms);
}

char *valuecolumns_put_form(char *at, struct value_form form)
{
    at = varint_put(at, form.base);
    return form.base ? varint_put(at, varint_zigzag(form.ratio)) : at;
}

int valuecolumns_next_form(struct slice *rest, uint32_t type, const struct value_form *earlier,
                           struct value_form *ret_form, struct error *err)
{
    uint64_t base, ratio = 0;

    if (!varint_next(rest, &base) || (base != 0 && !varint_next(rest, &ratio)))
        return error_set(err, ERR_CORRUPT, "type %u: no valid number where it says how its values are kept", type);
    if (base > type || (base != 0 && earlier[base - 1].base != 0))
        return error_set(err, ERR_CORRUPT,
                         "type %u: is a multiple of type %" PRIu64 ", which is no earlier type kept by itself", type,
                         base - 1);
    *ret_form = (struct value_form){ (uint32_t)base, varint_unzigzag(ratio) };
    return 0;
}

int valuecolumns_multiply(int64_t *values, size_t stride, size_t n, uint32_t type, struct value_form form,
                          struct error *err)
{
    const int64_t *base = values + (form.base - 1) * stride;
    int64_t *products = values + type * stride;

    for (size_t i = 0; i < n; i++)
        if (UNLIKELY(__builtin_mul_overflow(base[i], form.ratio, &products[i])))
            return error_set(err, ERR_CORRUPT,
                             "type %u: value %zu of %zu, %" PRId64 " times the %" PRId64
                             " of type %u, does not fit 64 bits",
                             type, i + 1, n, form.ratio, base[i], form.base - 1);
    return 0;
}

/* Some runs of neighbours, evenly spread, to judge a column by. */
#define RUNS       16u
#define RUN_VALUES 64u

static size_t take_runs(const uint64_t *values, size_t n, uint64_t *runs)
{
    size_t n_runs = MIN((n + RUN_VALUES - 1) / RUN_VALUES, RUNS);
    size_t taken = 0;

    for (size_t run = 0; run < n_runs; run++) {
        size_t start = n <= RUNS * RUN_VALUES ? run * RUN_VALUES : (n - RUN_VALUES) / (RUNS - 1) * run;

        for (size_t i = start; i < n && i < start + RUN_VALUES; i++)
            runs[taken++] = values[i];
    }
    return taken;
}

static unsigned bit_length(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* Counts change by chance from one sample to the next, and are small; the levels of a stack (memory in use) are large
 * and hardly change. */
static enum column_coding smaller_coding(const uint64_t *values, size_t n)
{
    uint64_t runs[RUNS * RUN_VALUES];
    uint64_t minimum = UINT64_MAX, divisor, plain_bits = 0, delta_bits = 0;
    size_t taken = take_runs(values, n, runs);

    for (size_t i = 0; i < taken; i++)
        minimum = MIN(minimum, runs[i]);
    for (size_t i = 0; i < taken; i++)
        runs[i] -= minimum;
    divisor = column_gcd(runs, taken);
    for (size_t i = 1; i < taken && divisor > 0; i++) {
        plain_bits += bit_length(runs[i] / divisor);
        delta_bits += bit_length(varint_zigzag((int64_t)(runs[i] / divisor - runs[i - 1] / divisor)));
    }
    return delta_bits < plain_bits ? COLUMN_ZIGZAG_DELTA : COLUMN_PLAIN;
}

static void encode_column(const int64_t *values, size_t first, const uint32_t *order, size_t n, uint64_t *scratch,
                          struct buffer *out)
{
    for (size_t k = 0; k < n; k++)
        scratch[k] = varint_zigzag(values[first + (order ? order[k] : k)]);
    column_encode_u64(scratch, n, smaller_coding(scratch, n), out);
}

void valuecolumns_encode(const int64_t *values, size_t stride, const uint32_t *order, size_t n, uint32_t n_types,
                         uint64_t *scratch, struct buffer *out)
{
    struct value_form forms[PROFILE_MAX_TYPES];

    ASSERT(n_types <= PROFILE_MAX_TYPES);
    valuecolumns_find_forms(values, stride, n, n_types, forms);
    for (uint32_t type = 0; type < n_types; type++) {
        char form[VALUE_FORM_MAX_BYTES];

        buffer_append(out, form, (size_t)(valuecolumns_put_form(form, forms[type]) - form));
        if (forms[type].base == 0)
            encode_column(values, type * stride, order, n, scratch, out);
    }
}

/* One column: entries kept[k] of it (NULL = all) go to places[k] (NULL = k). */
static int decode_column(struct slice *rest, const uint32_t *kept, const uint32_t *places, size_t n_kept, size_t n,
                         struct arena *arena, int64_t *values, struct error *err)
{
    uint64_t *column;
    size_t found;

    if (!kept && !places)
        return column_decode_zigzag(rest, n, values, err);
    if (column_decode_u64(rest, n, arena, &column, &found, err) < 0)
        return -1;
    if (found != n)
        return error_set(err, ERR_CORRUPT, "column has %zu values, %zu are wanted", found, n);
    for (size_t k = 0; k < n_kept; k++) {
        size_t place = places ? places[k] : k;

        values[place] = varint_unzigzag(column[kept ? kept[k] : k]);
    }
    return 0;
}

int valuecolumns_decode_some(struct slice *rest, const uint32_t *kept, const uint32_t *places, size_t n_kept, size_t n,
                             uint32_t n_types, struct arena *arena, int64_t **ret_values, struct error *err)
{
    struct value_form forms[PROFILE_MAX_TYPES];
    int64_t *values;

    ASSERT(n_types <= PROFILE_MAX_TYPES);
    values = ARENA_ARRAY(arena, int64_t, n_kept * n_types, err);
    if (!values)
        return -1;
    for (uint32_t type = 0; type < n_types; type++) {
        if (valuecolumns_next_form(rest, type, forms, &forms[type], err) < 0)
            return -1;
        if (forms[type].base != 0) {
            if (valuecolumns_multiply(values, n_kept, n_kept, type, forms[type], err) < 0)
                return -1;
        } else if (decode_column(rest, kept, places, n_kept, n, arena, values + type * n_kept, err) < 0) {
            return error_wrap(err, "type %u", type);
        }
    }
    *ret_values = values;
    return 0;
}

int valuecolumns_decode(struct slice *rest, const uint32_t *places, size_t n, uint32_t n_types, struct arena *arena,
                        int64_t **ret_values, struct error *err)
{
    return valuecolumns_decode_some(rest, NULL, places, n, n, n_types, arena, ret_values, err);
}

int valuecolumns_skip(struct slice *rest, size_t n, uint32_t n_types, struct error *err)
{
    struct value_form forms[PROFILE_MAX_TYPES];

    ASSERT(n_types <= PROFILE_MAX_TYPES);
    for (uint32_t type = 0; type < n_types; type++) {
        size_t found = n;

        if (valuecolumns_next_form(rest, type, forms, &forms[type], err) < 0)
            return -1;
        if (forms[type].base == 0 && column_skip(rest, n, &found, err) < 0)
            return error_wrap(err, "type %u", type);
        if (found != n)
            return error_set(err, ERR_CORRUPT, "type %u: column has %zu values, %zu are wanted", type, found, n);
    }
    return 0;
}

size_t valuecolumns_max_bytes(size_t n, uint32_t n_types)
{
    return n_types * (VALUE_FORM_MAX_BYTES + pieces_column_max_bytes(n, sizeof(uint64_t)));
}
