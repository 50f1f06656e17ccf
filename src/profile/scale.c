// SPDX-License-Identifier: Apache-2.0
#include "profile/scale.h"

#include "profile/rewrite_internal.h"
#include "profile/unit.h"

/* How the columns of one profile are converted: value * up / down. */
struct conversion {
    int64_t up[PROFILE_MAX_TYPES], down[PROFILE_MAX_TYPES];
    bool is_changed[PROFILE_MAX_TYPES];
    uint32_t n;
    uint64_t rounded, saturated;
};

static int64_t convert_value(struct conversion *c, uint32_t type, int64_t value)
{
    __int128_t product = (__int128_t)value * c->up[type];
    __int128_t quotient = product / c->down[type];
    __int128_t rest = product % c->down[type];

    if (rest != 0) {
        c->rounded++;
        if ((rest < 0 ? -rest : rest) * 2 >= c->down[type])
            quotient += product < 0 ? -1 : 1;
    }
    if (quotient > INT64_MAX || quotient < INT64_MIN) {
        c->saturated++;
        return quotient > 0 ? INT64_MAX : INT64_MIN;
    }
    return (int64_t)quotient;
}

static void convert_values(void *context, int64_t *values)
{
    struct conversion *c = context;

    for (uint32_t type = 0; type < c->n; type++)
        if (c->is_changed[type])
            values[type] = convert_value(c, type, values[type]);
}

/* Finds out which columns change. A type that was asked for by name must be convertible. */
static int plan(const struct profile *p, struct slice name, struct slice unit, struct conversion *c, bool *found,
                struct error *err)
{
    uint32_t wanted = name.len ? profile_find_type(p, name) : PROFILE_NO_TYPE;

    *c = (struct conversion){ .n = MIN(p->n_types, (uint32_t)PROFILE_MAX_TYPES) }; /* the builder refuses more */
    for (uint32_t type = 0; type < c->n; type++) {
        struct slice from = tables_string(p->tables, p->types[type].unit);

        if (name.len && type != wanted)
            continue;
        c->is_changed[type] = unit_ratio(from, unit, &c->up[type], &c->down[type]);
        if (name.len && !c->is_changed[type])
            return error_set(err, ERR_INVALID, "values of '%.*s' are in '%.*s', which cannot be converted to '%.*s'",
                             SLICE_ARG(name), SLICE_ARG(from), SLICE_ARG(unit));
        *found |= c->is_changed[type];
    }
    return 0;
}

static int scale_profile(struct rewrite *rewrite, struct builder_import *import, const struct profile *p,
                         struct slice name, struct slice unit, bool *found, struct error *err)
{
    struct report *report = builder_report(rewrite->builder);
    struct conversion conversion;
    struct profile *header;
    uint32_t new_unit;

    if (plan(p, name, unit, &conversion, found, err) < 0)
        return -1;
    new_unit = builder_string(rewrite->builder, unit);
    header = builder_import_header(import, p);
    for (uint32_t type = 0; type < header->n_types; type++)
        if (conversion.is_changed[type])
            header->types[type].unit = new_unit;
    rewrite_samples(rewrite, import, p, convert_values, &conversion);
    if (conversion.rounded)
        report_add(report, "values did not divide evenly into the new unit; rounded", conversion.rounded, "to '%.*s'",
                   SLICE_ARG(unit));
    if (conversion.saturated)
        report_add(report, "a value went past 64 bits and stays at the edge", conversion.saturated, "in '%.*s'",
                   SLICE_ARG(unit));
    return 0;
}

static int scale_profiles(struct rewrite *rewrite, struct slice name, struct slice unit, struct error *err)
{
    const struct batch *in = rewrite->in;
    struct builder_import *import = builder_import_new(rewrite->builder, &in->tables);
    bool found = false;
    int result = 0;

    for (uint32_t i = 0; i < in->n_profiles && result == 0; i++)
        result = scale_profile(rewrite, import, &in->profiles[i], name, unit, &found, err);
    builder_import_free(import);
    if (result == 0 && !found)
        return error_set(err, ERR_NOT_FOUND, "no value type%s%.*s%s can be converted to '%.*s'",
                         name.len ? " called '" : "", SLICE_ARG(name), name.len ? "'" : "", SLICE_ARG(unit));
    return result;
}

int scale_unit(const struct batch *in, struct slice type, struct slice unit, struct batch *out, struct error *err)
{
    struct rewrite rewrite;
    int result;

    if (rewrite_init(&rewrite, in, out, err) < 0)
        return -1;
    result = scale_profiles(&rewrite, type, unit, err) < 0 ? -1 : rewrite_finish(&rewrite, out, err);
    rewrite_done(&rewrite);
    return result;
}
