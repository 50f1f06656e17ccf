// SPDX-License-Identifier: Apache-2.0
#include "label/labelbase_internal.h"

#include "label/labeltext_internal.h"

#include <stdlib.h>

#define UNKNOWN_SERVICE "unknown_service"

/* Where a label came from, in the order in which they go when there are too many, the last first. */
enum label_source { SOURCE_EXTRA, SOURCE_RESOURCE, SOURCE_ATTRIBUTES, SOURCE_SCOPE };

/* A label on its way: all of them are gathered before the names that are there twice are settled. */
struct gathering {
    const struct profile *profile;
    const struct label_limits *limits;
    struct arena *arena;
    struct base_label *labels; /* later ones win */
    uint32_t n;
};

struct column_label labelbase_column(const struct tables *tables, const struct label *label)
{
    return (struct column_label){
        .name = tables_string(tables, label->key),
        .text = tables_string(tables, label->text),
        .unit = tables_string(tables, label->unit),
        .number = label->number,
        .kind = (enum label_kind)label->kind,
    };
}

static bool has_text(enum label_kind kind)
{
    switch (kind) {
    case LABEL_STRING:
    case LABEL_BYTES:
    case LABEL_JSON: return true;
    case LABEL_NUMBER:
    case LABEL_BOOL:
    case LABEL_DOUBLE: break;
    }
    return false;
}

bool labelbase_is_empty(struct slice name, enum label_kind kind, struct slice text)
{
    return name.len == 0 || (text.len == 0 && has_text(kind));
}

int labelbase_name(struct slice spelling, uint32_t max_bytes, struct arena *arena, struct slice *ret_name,
                   bool *ret_is_repaired, bool *ret_is_cut, struct error *err)
{
    struct slice name;

    if (labelrules_canonical(slice_sub(spelling, 0, max_bytes), arena, &name, ret_is_repaired, err) < 0)
        return -1;
    *ret_is_cut = spelling.len > max_bytes || name.len > max_bytes;
    *ret_name = slice_sub(name, 0, max_bytes);
    return 0;
}

/* --- gathering --- */

static int add_label(struct gathering *g, struct column_label column, enum label_source source, struct error *err)
{
    struct base_label label = { .column = column, .keep_rank = (uint64_t)source << 32 | g->n };

    if (labelbase_is_empty(column.name, column.kind, column.text))
        return 0;
    if (labelbase_name(column.name, g->limits->max_name_bytes, g->arena, &label.name, &label.is_name_repaired,
                       &label.is_name_cut, err) < 0)
        return -1;
    label.is_column = source == SOURCE_SCOPE;
    g->labels[g->n++] = label;
    return 0;
}

static int add_set(struct gathering *g, uint32_t set, enum label_source source, struct error *err)
{
    uint32_t n;
    const struct label *labels = tables_label_set(g->profile->tables, set, &n);

    for (uint32_t i = 0; i < n; i++)
        if (add_label(g, labelbase_column(g->profile->tables, &labels[i]), source, err) < 0)
            return -1;
    return 0;
}

static int add_text(struct gathering *g, struct slice name, struct slice text, enum label_source source,
                    struct error *err)
{
    return add_label(g, (struct column_label){ .name = name, .text = text, .kind = LABEL_STRING }, source, err);
}

static void add_default(struct gathering *g, struct slice name, struct slice value)
{
    g->labels[g->n++] = (struct base_label){ .name = name, .column.text = value, .is_default = true };
}

/* Later ones win, so the order here is the order of labelrules.h. What describes the scope is weaker than all else. */
static int gather(struct gathering *g, const struct series_label *extra, uint32_t n_extra, struct error *err)
{
    const struct profile *profile = g->profile;
    const struct tables *t = profile->tables;

    add_default(g, SLICE(SERIES_NAME_LABEL), labelrules_name(profile));
    add_default(g, SLICE(SERIES_SERVICE_LABEL), SLICE(UNKNOWN_SERVICE));
    if (add_text(g, SLICE("otel.scope.name"), tables_string(t, profile->scope_name), SOURCE_SCOPE, err) < 0 ||
        add_text(g, SLICE("otel.scope.version"), tables_string(t, profile->scope_version), SOURCE_SCOPE, err) < 0 ||
        add_set(g, profile->scope, SOURCE_SCOPE, err) < 0 || add_set(g, profile->resource, SOURCE_RESOURCE, err) < 0 ||
        add_set(g, profile->attributes, SOURCE_ATTRIBUTES, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n_extra; i++)
        if (add_text(g, extra[i].name, extra[i].value, SOURCE_EXTRA, err) < 0)
            return -1;
    return 0;
}

static size_t count_labels(const struct profile *profile, uint32_t n_extra)
{
    const uint32_t *starts = profile->tables->label_set_starts;
    const uint32_t sets[] = { profile->scope, profile->resource, profile->attributes };
    size_t n = (size_t)n_extra + 4; /* the two defaults, and name and version of the scope */

    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        n += starts[sets[i] + 1] - starts[sets[i]];
    return n;
}

/* By name, and of equal names the later first. They lie in one array, so the address tells which is the later. */
static int compare_by_name(const void *a, const void *b)
{
    const struct base_label *x = *(struct base_label *const *)a, *y = *(struct base_label *const *)b;
    int order = slice_compare(x->name, y->name);

    return order ? order : (x < y) - (x > y);
}

/* Sorts by name and keeps the last of each. */
static int settle_names(struct gathering *g, struct labelbase *ret_base, struct error *err)
{
    struct base_label **order = ARENA_ARRAY(g->arena, struct base_label *, g->n, err);
    struct base_label *labels = ARENA_ARRAY(g->arena, struct base_label, g->n, err);
    uint32_t n = 0;

    if (!order || !labels)
        return -1;
    for (uint32_t i = 0; i < g->n; i++)
        order[i] = &g->labels[i];
    qsort(order, g->n, sizeof(*order), compare_by_name);
    for (uint32_t i = 0; i < g->n; i++)
        if (n == 0 || !slice_equal(labels[n - 1].name, order[i]->name))
            labels[n++] = *order[i];
    *ret_base = (struct labelbase){ labels, n };
    return 0;
}

/* --- series or row --- */

static bool is_service(const struct base_label *label)
{
    return slice_is(label->name, SERIES_SERVICE_LABEL);
}

static bool is_metric(const struct base_label *label)
{
    return slice_is(label->name, SERIES_NAME_LABEL);
}

/* The text that a series shows for a label. False where it can have none: N2; a number with a unit is a measurement. */
static int value_text(const struct column_label *column, struct arena *arena, struct slice *ret_text, bool *ret_has,
                      struct error *err)
{
    char *text = NULL;
    double number;

    *ret_has = false;
    switch (column->kind) {
    case LABEL_BYTES:
    case LABEL_JSON: return 0;
    case LABEL_STRING:
        *ret_text = column->text;
        *ret_has = true;
        return 0;
    case LABEL_BOOL:
        *ret_text = column->number ? SLICE("true") : SLICE("false");
        *ret_has = true;
        return 0;
    case LABEL_NUMBER:
        if (column->unit.len > 0)
            return 0;
        text = arena_printf(arena, err, "%lld", (long long)column->number);
        break;
    case LABEL_DOUBLE:
        memcpy(&number, &column->number, sizeof(number));
        text = arena_printf(arena, err, "%.15g", number);
        break;
    }
    if (!text)
        return -1;
    *ret_text = slice_from(text);
    *ret_has = true;
    return 0;
}

static int clean_value(struct base_label *label, struct slice text, const struct label_limits *limits,
                       struct arena *arena, struct error *err)
{
    struct labeltext clean;

    if (labeltext_clean(text, limits->max_value_bytes, arena, &clean, err) < 0)
        return -1;
    label->value = clean.text;
    label->is_value_cut = clean.is_cut;
    label->is_value_repaired = clean.is_repaired;
    label->is_series = true;
    return 0;
}

/* A __name__ or service_name that cannot be used as it came stays a row label; the series has ours. */
static int classify(struct base_label *label, const struct gathering *g, struct error *err)
{
    struct slice text;
    bool has = false;

    if (label->is_default)
        return clean_value(label, label->column.text, g->limits, g->arena, err);
    if (!label->is_column && (is_metric(label) || !labeltext_is_reserved(label->name)) &&
        !labeltext_is_never(label->name) && value_text(&label->column, g->arena, &text, &has, err) < 0)
        return -1;
    if (has)
        return clean_value(label, text, g->limits, g->arena, err);
    label->is_column = true;
    if (is_metric(label))
        return clean_value(label, labelrules_name(g->profile), g->limits, g->arena, err);
    if (is_service(label))
        return clean_value(label, SLICE(LABELRULES_OTHER_SERVICES), g->limits, g->arena, err);
    return 0;
}

int labelbase_make(const struct profile *profile, const struct series_label *extra, uint32_t n_extra,
                   const struct label_limits *limits, struct arena *arena, struct labelbase *ret_base,
                   struct error *err)
{
    struct gathering g = { .profile = profile, .limits = limits, .arena = arena };
    struct labelbase base;

    g.labels = ARENA_ARRAY(arena, struct base_label, count_labels(profile, n_extra), err);
    if (!g.labels || gather(&g, extra, n_extra, err) < 0 || settle_names(&g, &base, err) < 0)
        return -1;
    for (uint32_t i = 0; i < base.n; i++)
        if (classify(&base.labels[i], &g, err) < 0)
            return -1;
    *ret_base = base;
    return 0;
}

struct base_label *labelbase_find(const struct labelbase *base, struct slice canonical)
{
    uint32_t low = 0, high = base->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = slice_compare(base->labels[middle].name, canonical);

        if (order == 0)
            return &base->labels[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- moving --- */

bool labelbase_move(struct base_label *label)
{
    if (is_metric(label) || !label->is_series || label->is_column)
        return false;
    label->is_column = true;
    label->is_series = is_service(label);
    label->value = SLICE(LABELRULES_OTHER_SERVICES);
    label->is_value_cut = label->is_value_repaired = false;
    return !label->is_default;
}

uint32_t labelbase_series_count(const struct labelbase *base)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < base->n; i++)
        n += base->labels[i].is_series;
    return n;
}

/* The highest rank first. */
static int compare_by_rank(const void *a, const void *b)
{
    const struct base_label *x = *(struct base_label *const *)a, *y = *(struct base_label *const *)b;

    return (x->keep_rank < y->keep_rank) - (x->keep_rank > y->keep_rank);
}

int labelbase_limit(struct labelbase *base, uint32_t max_labels, struct arena *arena, uint64_t *ret_n_moved,
                    struct error *err)
{
    uint32_t n_series = labelbase_series_count(base), n = 0;
    struct base_label **order;

    *ret_n_moved = 0;
    if (n_series <= max_labels)
        return 0;
    order = ARENA_ARRAY(arena, struct base_label *, base->n, err);
    if (!order)
        return -1;
    for (uint32_t i = 0; i < base->n; i++)
        if (base->labels[i].is_series && !is_metric(&base->labels[i]) && !is_service(&base->labels[i]))
            order[n++] = &base->labels[i];
    qsort(order, n, sizeof(*order), compare_by_rank);
    for (uint32_t i = 0; i < n && n_series > max_labels; i++, n_series--)
        *ret_n_moved += labelbase_move(order[i]);
    return 0;
}

/* --- what comes of it --- */

static int compare_columns(const void *a, const void *b)
{
    return slice_compare(((const struct column_label *)a)->name, ((const struct column_label *)b)->name);
}

int labelbase_rows(const struct labelbase *base, struct arena *arena, struct column_labels *ret_labels,
                   struct error *err)
{
    struct column_label *labels;
    uint32_t n = 0;

    for (uint32_t i = 0; i < base->n; i++)
        n += base->labels[i].is_column && !base->labels[i].is_default;
    if (n == 0) {
        *ret_labels = (struct column_labels){ NULL, 0 };
        return 0;
    }
    labels = ARENA_ARRAY(arena, struct column_label, n, err);
    if (!labels)
        return -1;
    n = 0;
    for (uint32_t i = 0; i < base->n; i++)
        if (base->labels[i].is_column && !base->labels[i].is_default)
            labels[n++] = base->labels[i].column;
    qsort(labels, n, sizeof(*labels), compare_columns);
    *ret_labels = (struct column_labels){ labels, n };
    return 0;
}

void labelbase_count(const struct labelbase *base, struct label_counts *counts)
{
    for (uint32_t i = 0; i < base->n; i++) {
        const struct base_label *label = &base->labels[i];

        if (!label->is_series || label->is_default)
            continue;
        counts->names_repaired += label->is_name_repaired;
        counts->names_cut += label->is_name_cut;
        counts->values_repaired += label->is_value_repaired;
        counts->values_cut += label->is_value_cut;
    }
}
