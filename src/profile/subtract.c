// SPDX-License-Identifier: Apache-2.0
#include "profile/subtract.h"

#include "base/vec.h"
#include "profile/builder.h"

#define NO_LIMIT SIZE_MAX

static const char restart_note[] = "a counter fell, so the process restarted; the newer profile is the delta";
static const char saturation[] = "a sum went past 64 bits and stays at the edge";

enum side { OLDER, NEWER };

struct row {
    uint32_t stack, label_set, link; /* of the builder */
    uint64_t counts[2];
};

struct subtraction {
    const struct profile *profiles[2];
    struct builder *builder;
    uint32_t n_types;                        /* of the newer profile */
    uint32_t older_types[PROFILE_MAX_TYPES]; /* the same type in the older profile, or PROFILE_NO_TYPE */
    bool is_cumulative[PROFILE_MAX_TYPES];
    struct hash_set index; /* of ids in the builder -> row */
    VEC(struct row) rows;
    VEC(int64_t) values; /* [(row * 2 + side) * n_types + type] */
    bool is_restart;
    uint64_t saturated;
};

/* --- types --- */

static bool is_same_type(const struct profile *a, uint32_t i, const struct profile *b, uint32_t j)
{
    return slice_equal(tables_string(a->tables, a->types[i].type), tables_string(b->tables, b->types[j].type)) &&
           slice_equal(tables_string(a->tables, a->types[i].unit), tables_string(b->tables, b->types[j].unit));
}

static int match_types(struct subtraction *s, struct error *err)
{
    const struct profile *older = s->profiles[OLDER], *newer = s->profiles[NEWER];

    if (newer->n_types > PROFILE_MAX_TYPES)
        return error_set(err, ERR_LIMIT, "%u value types are more than the %d that fit", newer->n_types,
                         PROFILE_MAX_TYPES);
    s->n_types = newer->n_types;
    for (uint32_t i = 0; i < s->n_types; i++) {
        const struct value_type *type = &newer->types[i];

        s->older_types[i] = PROFILE_NO_TYPE;
        for (uint32_t j = 0; j < older->n_types && s->older_types[i] == PROFILE_NO_TYPE; j++)
            if (is_same_type(newer, i, older, j))
                s->older_types[i] = j;
        s->is_cumulative[i] = type->nature == VALUE_FLOW && type->temporality == TEMPORALITY_CUMULATIVE;
        if (s->is_cumulative[i] && s->older_types[i] == PROFILE_NO_TYPE)
            return error_set(err, ERR_INVALID, "the older profile has no values of '%.*s' in '%.*s' to subtract",
                             SLICE_ARG(tables_string(newer->tables, type->type)),
                             SLICE_ARG(tables_string(newer->tables, type->unit)));
    }
    return 0;
}

/* --- rows --- */

static int64_t *row_values(struct subtraction *s, uint32_t row, enum side side)
{
    return s->values.items + ((size_t)row * 2 + side) * s->n_types;
}

static int find_row(struct subtraction *s, struct row wanted, uint32_t *ret_row, struct error *err)
{
    struct hash128 start = { wanted.stack, 1 };
    size_t n_values = (size_t)s->n_types * 2;
    struct row *row;
    bool is_new;

    if (hash_set_add(&s->index, hash_fold(start, wanted.label_set, wanted.link), ret_row, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    row = VEC_PUSH(&s->rows, NO_LIMIT, err);
    if (!row || VEC_RESERVE(&s->values, n_values, NO_LIMIT, err) < 0)
        return -1;
    *row = wanted;
    if (n_values)
        memset(s->values.items + s->values.n, 0, n_values * sizeof(*s->values.items));
    s->values.n += n_values;
    return 0;
}

static int add_sample(struct subtraction *s, enum side side, struct builder_import *import, uint32_t sample,
                      struct error *err)
{
    const struct profile *p = s->profiles[side];
    struct row wanted = { .stack = builder_import_stack(import, p->stacks[sample]),
                          .label_set = builder_import_label_set(import, profile_label_set(p, sample)),
                          .link = builder_import_link(import, profile_link(p, sample)) };
    uint32_t row;

    if (find_row(s, wanted, &row, err) < 0)
        return -1;
    for (uint32_t i = 0; i < s->n_types; i++) {
        uint32_t type = side == NEWER ? i : s->older_types[i];
        int64_t *value = &row_values(s, row, side)[i];

        if (type != PROFILE_NO_TYPE)
            *value = value_add(*value, profile_values(p, type)[sample], &s->saturated);
    }
    s->rows.items[row].counts[side] += p->counts ? p->counts[sample] : 0;
    return 0;
}

static int add_profile(struct subtraction *s, enum side side, struct builder_import *import, struct error *err)
{
    for (uint32_t sample = 0; sample < s->profiles[side]->n_samples; sample++)
        if (add_sample(s, side, import, sample, err) < 0)
            return -1;
    return 0;
}

static void look_for_restart(struct subtraction *s)
{
    for (uint32_t row = 0; row < s->rows.n && !s->is_restart; row++)
        for (uint32_t i = 0; i < s->n_types; i++)
            if (s->is_cumulative[i] && row_values(s, row, NEWER)[i] < row_values(s, row, OLDER)[i])
                s->is_restart = true;
}

/* --- the result --- */

static bool is_all_cumulative(const struct subtraction *s)
{
    for (uint32_t i = 0; i < s->n_types; i++)
        if (!s->is_cumulative[i])
            return false;
    return true;
}

static int64_t difference(struct subtraction *s, int64_t newer, int64_t older)
{
    int64_t result;

    if (__builtin_sub_overflow(newer, older, &result)) { /* only where the older one is negative */
        s->saturated++;
        return INT64_MAX;
    }
    return result;
}

static void put_rows(struct subtraction *s)
{
    bool subtracts_counts = !s->is_restart && is_all_cumulative(s);

    for (uint32_t at = 0; at < s->rows.n; at++) {
        const struct row *row = &s->rows.items[at];
        int64_t *newer = row_values(s, at, NEWER);
        const int64_t *older = row_values(s, at, OLDER);
        uint64_t count = row->counts[NEWER];
        bool is_zero = true;

        for (uint32_t i = 0; i < s->n_types; i++) {
            if (s->is_cumulative[i] && !s->is_restart)
                newer[i] = difference(s, newer[i], older[i]);
            is_zero &= newer[i] == 0;
        }
        if (subtracts_counts && count > row->counts[OLDER])
            count -= row->counts[OLDER];
        if (!is_zero)
            builder_sample(s->builder, row->stack, row->label_set, row->link, newer, count);
    }
}

static int64_t end_of(const struct profile *profile)
{
    int64_t end;

    return __builtin_add_overflow(profile->start_ns, profile->duration_ns, &end) ? INT64_MAX : end;
}

static void fill_header(const struct subtraction *s, struct profile *header)
{
    const struct profile *older = s->profiles[OLDER], *newer = s->profiles[NEWER];
    bool has_window = older->start_ns > 0 && end_of(newer) > end_of(older);

    for (uint32_t i = 0; i < header->n_types; i++)
        if (s->is_cumulative[i])
            header->types[i].temporality = TEMPORALITY_DELTA;
    if (has_window) {
        header->start_ns = end_of(older);
        header->duration_ns = end_of(newer) - end_of(older);
    }
}

static int subtract(struct subtraction *s, struct builder_import *older, struct builder_import *newer,
                    struct error *err)
{
    if (add_profile(s, OLDER, older, err) < 0 || add_profile(s, NEWER, newer, err) < 0)
        return -1;
    look_for_restart(s);
    fill_header(s, builder_import_header(newer, s->profiles[NEWER]));
    put_rows(s);
    if (s->is_restart)
        report_add(builder_report(s->builder), restart_note, 1, "between the two profiles");
    if (s->saturated)
        report_add(builder_report(s->builder), saturation, s->saturated, "while subtracting");
    return 0;
}

static int subtract_into(struct subtraction *s, struct batch *out, struct error *err)
{
    struct builder_options options = { .limits = out->limits, .keep_addresses = true };
    struct builder_import *older, *newer;
    int result;

    if (match_types(s, err) < 0 || builder_new(&options, &s->builder, err) < 0)
        return -1;
    older = builder_import_new(s->builder, s->profiles[OLDER]->tables);
    newer = builder_import_new(s->builder, s->profiles[NEWER]->tables);
    result = subtract(s, older, newer, err);
    builder_import_free(older);
    builder_import_free(newer);
    return result < 0 ? -1 : builder_finish(s->builder, out, err);
}

int subtract_profiles(const struct profile *older, const struct profile *newer, struct batch *out, struct error *err)
{
    struct subtraction s = { .profiles = { older, newer } };
    int result;

    hash_set_init(&s.index, 0);
    result = subtract_into(&s, out, err);
    builder_free(s.builder);
    hash_set_done(&s.index);
    VEC_DONE(&s.rows);
    VEC_DONE(&s.values);
    return result;
}
