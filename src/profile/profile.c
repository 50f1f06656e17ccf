// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include "profile/content.h"

const struct profile_limits profile_default_limits = {
    .max_inflated_bytes = (uint64_t)512 << 20,
    .max_memory_bytes = (uint64_t)2 << 30,
    .max_strings = 8u << 20,
    .max_samples = 16u << 20,
    .max_depth = 1024,
    .max_labels_per_sample = 128,
    .max_profiles = 64u << 10,
};

void batch_init(struct batch *batch, const struct profile_limits *limits)
{
    *batch = (struct batch){ .limits = limits ? *limits : profile_default_limits };
    batch->limits.max_depth = MIN(batch->limits.max_depth, (uint32_t)CONTENT_MAX_DEPTH);
    arena_init(&batch->arena, batch->limits.max_memory_bytes);
}

void batch_reset(struct batch *batch)
{
    arena_reset(&batch->arena);
    batch->tables = (struct tables){ 0 };
    batch->profiles = NULL;
    batch->n_profiles = 0;
    report_clear(&batch->report);
}

void batch_done(struct batch *batch)
{
    batch_reset(batch);
    arena_done(&batch->arena);
}

uint32_t profile_default_type(const struct profile *profile)
{
    if (profile->default_type < profile->n_types)
        return profile->default_type;
    return profile->n_types ? profile->n_types - 1 : PROFILE_NO_TYPE;
}

uint32_t profile_find_type(const struct profile *profile, struct slice name)
{
    for (uint32_t i = 0; i < profile->n_types; i++) {
        struct slice type = tables_string(profile->tables, profile->types[i].type);
        struct slice unit = tables_string(profile->tables, profile->types[i].unit);

        if (slice_equal(type, name))
            return i;
        if (name.len == type.len + 1 + unit.len && slice_starts_with(name, type) && name.ptr[type.len] == '/' &&
            slice_ends_with(name, unit))
            return i;
    }
    return PROFILE_NO_TYPE;
}

int64_t profile_total(const struct profile *profile, uint32_t type)
{
    const int64_t *values = profile_values(profile, type);
    __int128 total = 0; /* sums of both signs may pass the edge and come back */

    for (uint32_t i = 0; i < profile->n_samples; i++)
        total += values[i];
    return total > INT64_MAX ? INT64_MAX : total < INT64_MIN ? INT64_MIN : (int64_t)total;
}

static int check_strings(const struct profile *p, uint32_t index, struct error *err)
{
    uint32_t n_strings = p->tables->n_strings;
    uint32_t highest = MAX(MAX(p->drop_frames, p->keep_frames), MAX(p->doc_url, MAX(p->scope_name, p->scope_version)));

    highest = MAX(highest, MAX(p->period_type.type, p->period_type.unit));
    for (uint32_t i = 0; i < p->n_types; i++)
        highest = MAX(highest, MAX(p->types[i].type, p->types[i].unit));
    for (uint32_t i = 0; i < p->n_comments; i++)
        highest = MAX(highest, p->comments[i]);
    if (highest >= n_strings)
        return error_set(err, ERR_CORRUPT, "profile %u: string %u of %u", index, highest, n_strings);
    return 0;
}

static int check_columns(const struct profile *p, uint32_t index, struct error *err)
{
    const struct tables *t = p->tables;

    if (p->stride < p->n_samples)
        return error_set(err, ERR_CORRUPT, "profile %u: stride %u below %u samples", index, p->stride, p->n_samples);
    for (uint32_t i = 0; i < p->n_samples; i++) {
        if (p->stacks[i] >= t->n_stacks)
            return error_set(err, ERR_CORRUPT, "profile %u sample %u: stack %u of %u", index, i, p->stacks[i],
                             t->n_stacks);
        if (profile_label_set(p, i) >= t->n_label_sets)
            return error_set(err, ERR_CORRUPT, "profile %u sample %u: label set %u of %u", index, i,
                             profile_label_set(p, i), t->n_label_sets);
        if (profile_link(p, i) >= t->n_links)
            return error_set(err, ERR_CORRUPT, "profile %u sample %u: link %u of %u", index, i, profile_link(p, i),
                             t->n_links);
        if (p->time_starts && (p->time_starts[i + 1] < p->time_starts[i]))
            return error_set(err, ERR_CORRUPT, "profile %u sample %u: times end before they start", index, i);
    }
    return 0;
}

int batch_check(const struct batch *batch, struct error *err)
{
    if (batch->n_profiles == 0)
        return 0;
    if (tables_check(&batch->tables, err) < 0)
        return -1;
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        const struct profile *p = &batch->profiles[i];

        if (p->tables != &batch->tables)
            return error_set(err, ERR_CORRUPT, "profile %u does not use the tables of its batch", i);
        if (MAX(MAX(p->resource, p->scope), p->attributes) >= p->tables->n_label_sets)
            return error_set(err, ERR_CORRUPT, "profile %u: a label set is outside the table", i);
        if (check_strings(p, i, err) < 0 || check_columns(p, i, err) < 0)
            return -1;
    }
    return 0;
}
