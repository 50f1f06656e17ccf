// SPDX-License-Identifier: Apache-2.0
/* The values of several types side by side: of samples, of sums, of totals.
 *
 * The types of a profile often say the same in two units: so many samples, so many nanoseconds. A type whose every
 * value is the same multiple of an earlier type's is kept as that ratio alone; each other type has a column of its own.
 *
 * As bytes (integers are varints, signed ones zigzag), for each type:
 *
 *     int 0   a column (column.h) of the values, zigzag, in whichever coding seemed the smaller
 *     int k   the value is ratio * the value of type k - 1, which is an earlier type with a column of its own; then int
 *             the ratio, signed
 *
 * Everything is exact for all values of 64 bits: a ratio is used only where no product leaves them. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

/* How a type is kept. */
struct value_form {
    uint32_t base; /* 0: by itself; k: as a multiple of type k - 1 */
    int64_t ratio; /* with a base only */
};

#define VALUE_FORM_MAX_BYTES 15u

/* How each of `n_types` types is best kept, where values[type * stride + i] is value i of n. */
void valuecolumns_find_forms(const int64_t *values, size_t stride, size_t n, uint32_t n_types,
                             struct value_form *ret_forms);

/* Writes a form (base, and ratio where there is a base) at `at`, where VALUE_FORM_MAX_BYTES must be free; returns the
 * end. */
char *valuecolumns_put_form(char *at, struct value_form form);
/* Cuts the form of type `type` off the front of `rest`; `earlier` are those of the types before it.
 * Errors: ERR_CORRUPT. */
MUST_CHECK int valuecolumns_next_form(struct slice *rest, uint32_t type, const struct value_form *earlier,
                                      struct value_form *ret_form, struct error *err);
/* Fills in the values of `type` from those of its base. Errors: ERR_CORRUPT for a product that does not fit. */
MUST_CHECK int valuecolumns_multiply(int64_t *values, size_t stride, size_t n, uint32_t type, struct value_form form,
                                     struct error *err);

/* Appends the values of all types. With an `order`, the k-th value of a column is value order[k]. `scratch` has room
 * for `n` numbers. What went wrong, if anything, says buffer_check. */
void valuecolumns_encode(const int64_t *values, size_t stride, const uint32_t *order, size_t n, uint32_t n_types,
                         uint64_t *scratch, struct buffer *out);
/* Cuts them off the front of `rest` again; values[type * n + i] comes from `arena`. With `places`, the k-th value of a
 * column goes to places[k], which must be below `n`. Errors: ERR_CORRUPT naming the type, ERR_LIMIT, ERR_MEMORY; then
 * `rest` is somewhere inside. */
MUST_CHECK int valuecolumns_decode(struct slice *rest, const uint32_t *places, size_t n, uint32_t n_types,
                                   struct arena *arena, int64_t **ret_values, struct error *err);
/* The same for some of `n` values: number kept[k], of n_kept, becomes values[type * n_kept + places[k]]. Without `kept` or
 * `places` it is k. */
MUST_CHECK int valuecolumns_decode_some(struct slice *rest, const uint32_t *kept, const uint32_t *places, size_t n_kept,
                                        size_t n, uint32_t n_types, struct arena *arena, int64_t **ret_values,
                                        struct error *err);
/* Cuts them off without looking at the values. Errors: ERR_CORRUPT naming the type. */
MUST_CHECK int valuecolumns_skip(struct slice *rest, size_t n, uint32_t n_types, struct error *err);
/* The most bytes that the values can take. */
size_t valuecolumns_max_bytes(size_t n, uint32_t n_types);
