// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_read_internal.h"

/* Whether the hints name each of the `n` profiles once. */
static bool is_permutation(const struct otlp_scope_hints *hints, uint32_t n)
{
    uint64_t seen = 0;

    if (hints->n_order != n || n < 2)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (hints->order[i] < 0 || hints->order[i] >= (int64_t)n)
            return false;
        seen |= (uint64_t)1 << hints->order[i];
    }
    return seen == (n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1);
}

static_assert(PROFILE_MAX_TYPES <= 64, "the types of a profile fit into the bits of a word");

/* Whether two columns that may be absent, which is all zeros, hold the same. */
static bool columns_equal(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    if (n == 0 || a == b)
        return true;
    return a && b && memcmp(a, b, n * sizeof(*a)) == 0;
}

static bool types_equal(const struct value_type *a, const struct value_type *b)
{
    return a->type == b->type && a->unit == b->unit;
}

/* Whether `b` could be another column of `a`. */
static bool can_join(const struct profile *a, const struct profile *b)
{
    return b->n_types == 1 && !b->time_starts && a->n_samples == b->n_samples && a->start_ns == b->start_ns &&
           a->duration_ns == b->duration_ns && a->period == b->period &&
           types_equal(&a->period_type, &b->period_type) && columns_equal(a->stacks, b->stacks, a->n_samples) &&
           columns_equal(a->label_sets, b->label_sets, a->n_samples) && columns_equal(a->links, b->links, a->n_samples);
}

static void put_in_order(const struct otlp_scope_hints *hints, struct profile *profiles, uint32_t n)
{
    struct profile sorted[PROFILE_MAX_TYPES];

    for (uint32_t i = 0; i < n; i++)
        sorted[hints->order[i]] = profiles[i];
    memcpy(profiles, sorted, n * sizeof(*profiles));
}

static bool has_id(const struct profile *profile)
{
    static const uint8_t none[sizeof(profile->profile_id)];

    return memcmp(profile->profile_id, none, sizeof(none)) != 0;
}

/* Makes the values of all profiles columns of the first. */
static int join_columns(struct otlp_decoder *d, struct profile *profiles, uint32_t n, struct error *err)
{
    struct profile *joined = &profiles[0];
    size_t column_bytes = joined->n_samples * sizeof(int64_t);
    int64_t *values = arena_alloc_array(d->arena, n, column_bytes, err);
    struct value_type *types = values ? ARENA_ARRAY(d->arena, struct value_type, n, err) : NULL;

    if (!types)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        if (column_bytes > 0)
            memcpy(values + (size_t)i * joined->n_samples, profiles[i].values, column_bytes);
        types[i] = profiles[i].types[0];
        if (profiles[i].default_type == 0)
            joined->default_type = i;
        if (!has_id(joined))
            memcpy(joined->profile_id, profiles[i].profile_id, sizeof(joined->profile_id));
    }
    joined->values = values;
    joined->stride = joined->n_samples;
    joined->types = types;
    joined->n_types = n;
    return 0;
}

int otlp_join(struct otlp_decoder *d, const struct otlp_scope_hints *hints, struct profile *profiles, uint32_t n,
              uint32_t *ret_n, struct error *err)
{
    *ret_n = n;
    if (!is_permutation(hints, n))
        return 0;
    put_in_order(hints, profiles, n);
    for (uint32_t i = 0; i < n; i++)
        if (!can_join(&profiles[0], &profiles[i]))
            return 0;
    if (join_columns(d, profiles, n, err) < 0)
        return -1;
    *ret_n = 1;
    return 0;
}
