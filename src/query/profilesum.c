// SPDX-License-Identifier: Apache-2.0
#include "query/profilesum.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "tree/levels.h"
#include "tree/querycolumns.h"

#include <stdlib.h>

enum { STACKS_AT_ONCE = 1 << 16 }; /* whose names are in memory together */

/* One stack of the day at hand. */
struct cell {
    uint32_t stack;
    int64_t value, count;
    double level;
};

/* What a stack comes to on average, over all days. */
struct average {
    double level;
    int64_t count;
};

struct profilesum {
    struct profilesum_options options;
    struct builder *builder;
    struct profile *profile;
    struct names *names;
    struct map index; /* stack -> cell */
    VEC(struct cell) cells;
    VEC(struct average) averages; /* [stack of the builder], if there are weights: no day can be rounded by itself */
    bool has_types, has_counts, lacks_counts;
    uint64_t n_rows, n_saturated;
    int64_t duration_ns, first_ns, last_ns;
    struct hash128 group; /* of the series that came last, and its columns */
    struct querycolumns columns;
};

int profilesum_new(const struct profilesum_options *options, struct profilesum **ret_sum, struct error *err)
{
    AUTO(profilesum_freep) struct profilesum *sum = MEMORY_NEW(struct profilesum, err);
    struct builder_options building = { .limits = options->limits, .keep_addresses = true };

    if (!sum)
        return -1;
    sum->options = *options;
    map_init(&sum->index, 0);
    sum->first_ns = INT64_MAX;
    sum->last_ns = INT64_MIN;
    if (builder_new(&building, &sum->builder, err) < 0)
        return -1;
    sum->profile = builder_profile(sum->builder);
    *ret_sum = TAKE(sum);
    return 0;
}

void profilesum_free(struct profilesum *sum)
{
    if (!sum)
        return;
    builder_free(sum->builder);
    map_done(&sum->index);
    VEC_DONE(&sum->cells);
    VEC_DONE(&sum->averages);
    memory_free(sum);
}

void profilesum_freep(struct profilesum **sum)
{
    profilesum_free(*sum);
}

uint64_t profilesum_rows(const struct profilesum *sum)
{
    return sum->n_rows;
}

int64_t profilesum_duration(const struct profilesum *sum)
{
    return sum->duration_ns;
}

/* --- a day --- */

static int by_stack(const void *x, const void *y)
{
    const struct cell *a = x, *b = y;

    return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Of the memory, half is for the profile (builder.h), a quarter for names that are read, three parts of sixteen for cells and one for
 * averages. */
static int refuse_more(size_t n, struct error *err)
{
    return error_set(
        err, ERR_LIMIT,
        "more than %zu stacks, which is all that a query has memory for: ask for less time or fewer services, "
        "or raise --query-memory",
        n);
}

/* For limits of those that do the work. */
static int suggest_less(struct error *err)
{
    return err->code == ERR_LIMIT ? error_wrap(err, "ask for less time or fewer services, or raise --query-memory")
                                  : -1;
}

static int add_average(struct profilesum *sum, uint32_t stack, const struct cell *cell, struct error *err)
{
    size_t max = sum->options.limits.max_memory_bytes / 16 / sizeof(struct average);
    struct average *average;

    while (sum->averages.n <= stack) {
        if (sum->averages.n >= max)
            return refuse_more(max, err);
        if (!VEC_PUSH(&sum->averages, UINT32_MAX, err))
            return -1;
    }
    average = &sum->averages.items[stack];
    average->level += cell->level;
    average->count = value_add(average->count, cell->count, &sum->n_saturated);
    return 0;
}

/* Adds `n` cells, of which the first may be that of the empty stack (`skip`), whose stacks are those of the import. */
static int add_samples(struct profilesum *sum, struct builder_import *import, const struct cell *cells, uint32_t n,
                       uint32_t skip, struct error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct cell *cell = &cells[i];
        int64_t values[] = { cell->value, cell->count };
        uint32_t stack = builder_import_stack(import, skip ? i : i + 1);

        if (sum->options.weight) {
            if (add_average(sum, stack, cell, err) < 0)
                return -1;
        } else if (values[0] || values[1])
            builder_sample(sum->builder, stack, 0, 0, values, 0);
    }
    return 0;
}

static void add_averages(struct profilesum *sum)
{
    struct levels_rounding rounding = { 0 };

    for (uint32_t stack = 0; stack < sum->averages.n; stack++) {
        const struct average *average = &sum->averages.items[stack];
        int64_t values[] = { levels_round(&rounding, average->level), average->count };

        if (values[0] || values[1])
            builder_sample(sum->builder, stack, 0, 0, values, 0);
    }
}

/* Names cells, which are sorted, and adds them to the profile. */
static int add_cells(struct profilesum *sum, const struct cell *cells, uint32_t n, struct arena *arena,
                     struct error *err)
{
    uint32_t *stacks = ARENA_ARRAY(arena, uint32_t, n, err), skip, n_missing;
    struct builder_import *import;
    struct tables tables;
    bool *is_open;
    int result;

    if (!stacks)
        return suggest_less(err);
    for (uint32_t i = 0; i < n; i++)
        stacks[i] = cells[i].stack;
    skip = stacks[0] == 0;
    result = names_load(sum->names, stacks + skip, n - skip, NULL, 0, arena, &tables, &n_missing, err);
    if (!result && sum->options.late)
        result = latenames_resolve(sum->options.late, &tables, arena, &is_open, err);
    if (result < 0)
        return suggest_less(err);
    import = builder_import_new(sum->builder, &tables);
    if (import)
        result = add_samples(sum, import, cells, n, skip, err);
    builder_import_free(import);
    return result;
}

/* Names what the day gave and adds it to the profile, some stacks at a time. */
static int finish_day(struct profilesum *sum, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    int result = 0;

    arena_init(&arena, sum->options.limits.max_memory_bytes / 4);
    qsort(sum->cells.items, sum->cells.n, sizeof(*sum->cells.items), by_stack);
    for (size_t at = 0, n; !result && at < sum->cells.n; at += n) {
        n = MIN(sum->cells.n - at, (size_t)STACKS_AT_ONCE);
        arena_reset(&arena);
        result = patience_check(&sum->options.patience, err);
        if (!result)
            result = add_cells(sum, sum->cells.items + at, (uint32_t)n, &arena, err);
    }
    map_clear(&sum->index);
    sum->cells.n = 0;
    return result;
}

int profilesum_names(void *context, struct names *names, struct error *err)
{
    struct profilesum *sum = context;
    int result = sum->names && sum->cells.n ? finish_day(sum, err) : 0;

    sum->names = names;
    return result;
}

/* --- sums --- */

static void add_type(struct profilesum *sum, const struct series_type *type)
{
    builder_type(sum->builder, (struct value_type){ .type = builder_string(sum->builder, type->type),
                                                    .unit = builder_string(sum->builder, type->unit),
                                                    .nature = type->nature,
                                                    .temporality = type->temporality });
}

/* The profile's types are those of the first series; raw samples are shown if it has them. */
static void take_types(struct profilesum *sum, const struct seriesinfo *series)
{
    struct value_type *period = &sum->profile->period_type;

    sum->has_types = true;
    sum->has_counts = sum->columns.count != QUERYCOLUMNS_NONE && sum->columns.count != sum->columns.value;
    add_type(sum, &series->types[sum->columns.value]);
    if (sum->has_counts)
        add_type(sum, &series->types[sum->columns.count]);
    period->type = builder_string(sum->builder, series->period_type);
    period->unit = builder_string(sum->builder, series->period_unit);
}

static int find_columns(struct profilesum *sum, const struct seriesinfo *series, struct error *err)
{
    struct hash128 group = seriesinfo_group_hash(series, 0);

    if (sum->has_types && hash_equal(group, sum->group))
        return 0;
    if (querycolumns_find(series, sum->options.type, &sum->columns, err) < 0)
        return -1;
    sum->group = group;
    if (!sum->has_types && sum->columns.value != QUERYCOLUMNS_NONE)
        take_types(sum, series);
    return 0;
}

static struct cell *cell_of(struct profilesum *sum, uint32_t stack, struct error *err)
{
    uint32_t next = (uint32_t)sum->cells.n, place;
    size_t max = sum->options.limits.max_memory_bytes / 16 * 3 / (sizeof(struct cell) + 2 * sizeof(struct map_slot));
    struct cell *cell;

    if (map_add(&sum->index, stack, next, &place, err) < 0)
        return NULL;
    if (place != next)
        return &sum->cells.items[place];
    if (next >= max) {
        refuse_more(max, err);
        return NULL;
    }
    cell = VEC_PUSH(&sum->cells, UINT32_MAX, err);
    if (cell)
        *cell = (struct cell){ .stack = stack };
    return cell;
}

int profilesum_add(void *context, const struct store_sums *sums, struct error *err)
{
    struct profilesum *sum = context;
    double weight =
        sum->options.weight ? sum->options.weight(sum->options.weight_context, sums->series, sums->start_ns) : 1;
    const int64_t *values, *counts;

    if (find_columns(sum, sums->series, err) < 0)
        return -1;
    if (sum->columns.value == QUERYCOLUMNS_NONE)
        return 0;
    values = sums->sums + (size_t)sum->columns.value * sums->stride;
    counts = sum->columns.count == QUERYCOLUMNS_NONE ? NULL : sums->sums + (size_t)sum->columns.count * sums->stride;
    sum->lacks_counts |= !counts;
    for (uint32_t i = 0; i < sums->n_stacks; i++) {
        struct cell *cell = cell_of(sum, sums->stacks[i], err);

        if (!cell)
            return -1;
        cell->value = value_add(cell->value, values[i], &sum->n_saturated);
        cell->level += (double)values[i] * weight;
        if (counts && sum->has_counts)
            cell->count = value_add(cell->count, counts[i], &sum->n_saturated);
    }
    sum->n_rows += sums->n_rows;
    sum->duration_ns = value_add(sum->duration_ns, sums->duration_ns, &sum->n_saturated);
    sum->first_ns = MIN(sum->first_ns, sums->start_ns);
    sum->last_ns = MAX(sum->last_ns, sums->start_ns + sums->length_ns);
    return 0;
}

int profilesum_correct(struct profilesum *sum, const struct store_sums *sums, double weight, struct error *err)
{
    const int64_t *values;

    if (find_columns(sum, sums->series, err) < 0)
        return -1;
    if (sum->columns.value == QUERYCOLUMNS_NONE)
        return 0;
    values = sums->sums + (size_t)sum->columns.value * sums->stride;
    for (uint32_t i = 0; i < sums->n_stacks; i++) {
        struct cell *cell = cell_of(sum, sums->stacks[i], err);

        if (!cell)
            return -1;
        cell->level += (double)values[i] * weight;
    }
    return 0;
}

int profilesum_finish(struct profilesum *sum, struct batch *batch, struct error *err)
{
    add_averages(sum);
    if (sum->n_rows) {
        sum->profile->start_ns = sum->first_ns;
        sum->profile->duration_ns = sum->last_ns - sum->first_ns;
    }
    if (sum->has_counts && sum->lacks_counts)
        report_add(builder_report(sum->builder), "raw samples are known of some series only", 1, "%s",
                   "differences may be surer than they seem");
    if (sum->n_saturated)
        report_add(builder_report(sum->builder), "sums beyond 64 bits stay at the edge", sum->n_saturated, "%s",
                   "while adding up a query");
    if (builder_finish(sum->builder, batch, err) == 0)
        return 0;
    return suggest_less(err);
}
