// SPDX-License-Identifier: Apache-2.0
#include "label/labelrules.h"

#include "label/labelsplit_internal.h"
#include "label/labeltext_internal.h"

#define MIN_TEXT_BYTES 16 /* of the limits for texts: our own names and values fit */
#define UNKNOWN_NAME   "unknown"

const struct label_limits label_default_limits = {
    .max_labels = 40,
    .max_name_bytes = 256,
    .max_value_bytes = 1024,
    .max_splits = 100,
};

/* --- names of kinds of profiles --- */

enum match { EXACTLY, BEGINS, CONTAINS };

/* The first row that fits a type decides; in types '-' is '_' and capital letters are small ones. */
static const struct known_name {
    const char *word;
    enum match match;
    const char *name;
} known_names[] = {
    { "off_cpu", BEGINS, "off_cpu" },     { "offcpu", BEGINS, "off_cpu" },
    { "cpu", CONTAINS, "process_cpu" }, /* also process_cpu, cpu_time, cpu_samples */
    { "itimer", EXACTLY, "process_cpu" }, { "wall", BEGINS, "wall" },
    { "alloc", BEGINS, "memory" },        { "malloc", BEGINS, "memory" },
    { "inuse", BEGINS, "memory" },        { "in_use", BEGINS, "memory" },
    { "heap", BEGINS, "memory" },         { "live", EXACTLY, "memory" },
    { "space", EXACTLY, "memory" },       { "objects", EXACTLY, "memory" },
    { "mutex", BEGINS, "mutex" },         { "block", BEGINS, "block" },
    { "contentions", EXACTLY, "mutex" },  { "delay", EXACTLY, "mutex" },
    { "goroutine", BEGINS, "goroutine" },
};
#define KNOWN_MAX_BYTES 64 /* longer types are none we know */

static bool fits(const struct known_name *known, struct slice type)
{
    struct slice word = slice_from(known->word);

    switch (known->match) {
    case EXACTLY: return slice_equal(type, word);
    case BEGINS: return slice_starts_with(type, word);
    case CONTAINS: break;
    }
    return slice_find(type, word) >= 0;
}

/* The name that a type stands for, or an empty one. */
static struct slice known_name(struct slice type)
{
    char text[KNOWN_MAX_BYTES];

    if (type.len > sizeof(text))
        return SLICE("");
    for (size_t i = 0; i < type.len; i++) {
        char c = type.ptr[i];

        text[i] = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    for (size_t i = 0; i < ARRAY_LEN(known_names); i++)
        if (fits(&known_names[i], slice_of(text, type.len)))
            return slice_from(known_names[i].name);
    return SLICE("");
}

struct slice labelrules_name(const struct profile *profile)
{
    struct slice period = tables_string(profile->tables, profile->period_type.type), name;

    /* Wall clock profilers add what was on a CPU beside. Contentions do not say of what; the period may. */
    for (uint32_t i = 0; i < profile->n_types; i++)
        if (slice_is(tables_string(profile->tables, profile->types[i].type), "wall"))
            return SLICE("wall");
    if (slice_is(period, "mutex") || slice_is(period, "block"))
        return period;
    for (uint32_t i = 0; i < profile->n_types; i++) {
        name = known_name(tables_string(profile->tables, profile->types[i].type));
        if (name.len > 0)
            return name;
    }
    name = known_name(period);
    if (name.len > 0)
        return name;
    if (period.len > 0)
        return period;
    if (profile->n_types > 0 && profile->types[0].type)
        return tables_string(profile->tables, profile->types[0].type);
    return SLICE(UNKNOWN_NAME);
}

/* --- names of labels --- */

int labelrules_canonical(struct slice name, struct arena *arena, struct slice *ret_name, bool *ret_is_repaired,
                         struct error *err)
{
    size_t n_front = name.len > 0 && name.ptr[0] >= '0' && name.ptr[0] <= '9'; /* then a '_' goes in front */
    bool is_repaired = n_front > 0;
    char *out;

    if (n_front == 0 && labeltext_is_named(name, name)) {
        *ret_name = name;
        *ret_is_repaired = false;
        return 0;
    }
    out = arena_alloc(arena, name.len + n_front, err);
    if (!out)
        return -1;
    out[0] = '_';
    for (size_t i = 0; i < name.len; i++) {
        char byte = labeltext_name_byte(name.ptr[i]);

        is_repaired |= byte != name.ptr[i] && name.ptr[i] != '.';
        out[n_front + i] = byte;
    }
    *ret_name = slice_of(out, name.len + n_front);
    *ret_is_repaired = is_repaired;
    return 0;
}

/* --- plans --- */

static uint32_t within(uint32_t given, uint32_t usual, uint32_t low, uint32_t high)
{
    return given ? MIN(MAX(given, low), high) : usual;
}

static struct label_limits sane_limits(const struct label_limits *given)
{
    const struct label_limits *usual = &label_default_limits;

    return (struct label_limits){
        .max_labels = within(given->max_labels, usual->max_labels, 2, SERIES_MAX_LABELS),
        .max_name_bytes = within(given->max_name_bytes, usual->max_name_bytes, MIN_TEXT_BYTES, SERIES_MAX_TEXT),
        .max_value_bytes = within(given->max_value_bytes, usual->max_value_bytes, MIN_TEXT_BYTES, SERIES_MAX_TEXT),
        .max_splits = within(given->max_splits, usual->max_splits, 1, UINT32_MAX),
    };
}

/* A text of the profile, as fit for a series as a label is. */
static int shape_text(const struct profile *profile, uint32_t string, const struct label_limits *limits,
                      struct arena *arena, struct slice *ret_text, struct error *err)
{
    struct labeltext clean;

    if (labeltext_clean(tables_string(profile->tables, string), limits->max_value_bytes, arena, &clean, err) < 0)
        return -1;
    *ret_text = clean.text;
    return 0;
}

/* What all pieces have in common: the types of values. */
static int fill_shape(const struct profile *profile, const struct label_limits *limits, struct arena *arena,
                      struct seriesinfo *info, struct error *err)
{
    info->types = ARENA_ARRAY(arena, struct series_type, profile->n_types, err);
    info->n_types = profile->n_types;
    if (!info->types || shape_text(profile, profile->period_type.type, limits, arena, &info->period_type, err) < 0 ||
        shape_text(profile, profile->period_type.unit, limits, arena, &info->period_unit, err) < 0)
        return -1;
    for (uint32_t i = 0; i < profile->n_types; i++) {
        const struct value_type *type = &profile->types[i];

        info->types[i] = (struct series_type){ .nature = type->nature, .temporality = type->temporality };
        if (shape_text(profile, type->type, limits, arena, &info->types[i].type, err) < 0 ||
            shape_text(profile, type->unit, limits, arena, &info->types[i].unit, err) < 0)
            return -1;
    }
    return 0;
}

static int fill_base_labels(const struct labelbase *base, struct arena *arena, struct seriesinfo *info,
                            struct error *err)
{
    info->labels = ARENA_ARRAY(arena, struct series_label, base->n, err);
    if (!info->labels)
        return -1;
    for (uint32_t i = 0; i < base->n; i++)
        if (base->labels[i].is_series)
            info->labels[info->n_labels++] = (struct series_label){ base->labels[i].name, base->labels[i].value };
    return 0;
}

/* A profile whose samples have no labels. */
static int plan_plain(const struct profile *profile, const struct label_limits *limits, struct labelbase *base,
                      struct label_counts *counts, struct arena *arena, struct series_plan *plan, struct error *err)
{
    uint64_t n_moved;

    plan->n_pieces = 1;
    plan->pieces = ARENA_NEW(arena, struct series_piece, err);
    if (!plan->pieces || labelbase_limit(base, limits->max_labels, arena, &n_moved, err) < 0)
        return -1;
    counts->moved_to_samples += n_moved;
    plan->pieces->n_samples = profile->n_samples;
    return fill_base_labels(base, arena, &plan->pieces->info, err);
}

static int plan_split(const struct profile *profile, const struct label_limits *limits, struct labelbase *base,
                      struct label_counts *counts, struct arena *arena, struct series_plan *plan, struct error *err)
{
    AUTO(labelsplit_done) struct labelsplit split;
    uint64_t n_moved;

    if (labelsplit_init(&split, profile, limits, base, arena, counts, err) < 0 ||
        labelbase_limit(base, limits->max_labels, arena, &n_moved, err) < 0)
        return -1;
    counts->moved_to_samples += n_moved;
    if (labelsplit_assign(&split, counts, &plan->n_pieces, err) < 0)
        return -1;
    plan->pieces = arena_alloc_zero(arena, plan->n_pieces * sizeof(*plan->pieces), err);
    if (!plan->pieces || labelsplit_fill_pieces(&split, plan->pieces, plan->n_pieces, err) < 0)
        return -1;
    return labelsplit_fill_columns(&split, &plan->sample_labels, err);
}

static bool has_sample_labels(const struct profile *profile)
{
    return profile->n_samples > 0 && profile->label_sets && profile->tables->n_label_sets > 1;
}

static int make_plan(const struct profile *profile, const struct label_limits *limits, struct labelbase *base,
                     struct label_counts *counts, struct arena *arena, struct series_plan *ret_plan, struct error *err)
{
    struct series_plan plan = { 0 };
    struct seriesinfo shape = { 0 };
    int result = has_sample_labels(profile) ? plan_split(profile, limits, base, counts, arena, &plan, err)
                                            : plan_plain(profile, limits, base, counts, arena, &plan, err);

    if (result < 0 || fill_shape(profile, limits, arena, &shape, err) < 0 ||
        labelbase_rows(base, arena, &plan.row_labels, err) < 0)
        return -1;
    for (uint32_t i = 0; i < plan.n_pieces; i++) {
        shape.labels = plan.pieces[i].info.labels;
        shape.n_labels = plan.pieces[i].info.n_labels;
        plan.pieces[i].info = shape;
    }
    labelbase_count(base, counts);
    *ret_plan = plan;
    return 0;
}

int labelrules_plan(const struct profile *profile, const struct series_label *extra, uint32_t n_extra,
                    const struct label_limits *limits, struct label_counts *counts, struct arena *arena,
                    struct series_plan *ret_plan, struct error *err)
{
    struct label_limits sane = sane_limits(limits);
    struct labelbase base;

    if (labelbase_make(profile, extra, n_extra, &sane, arena, &base, err) < 0)
        return -1;
    return make_plan(profile, &sane, &base, counts, arena, ret_plan, err);
}

int labelrules_plan_collapsed(const struct profile *profile, const struct series_label *extra, uint32_t n_extra,
                              const struct label_limits *limits, bool is_last_resort, struct label_counts *counts,
                              struct arena *arena, struct series_plan *ret_plan, struct error *err)
{
    struct label_limits narrow = sane_limits(limits);
    struct labelbase base;

    narrow.max_labels = 2; /* __name__ and service_name */
    narrow.max_splits = 1;
    if (labelbase_make(profile, extra, n_extra, &narrow, arena, &base, err) < 0)
        return -1;
    if (is_last_resort)
        counts->moved_to_samples += labelbase_move(labelbase_find(&base, SLICE(SERIES_SERVICE_LABEL)));
    return make_plan(profile, &narrow, &base, counts, arena, ret_plan, err);
}
