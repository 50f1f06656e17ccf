// SPDX-License-Identifier: Apache-2.0
#include "tree/querycolumns.h"

#include "flame/noise.h"

/* Raw samples are found as for a profile of these types. Periods are not in sums: with one that is too large for any purpose,
 * whatever depends on it is unknown. */
static int find_count(const struct seriesinfo *series, struct arena *arena, struct querycolumns *columns,
                      struct error *err)
{
    struct profile profile = { .n_types = series->n_types, .period = INT64_MAX };
    struct noise_source source;
    struct tables tables;

    profile.tables = &tables;
    profile.types = ARENA_ARRAY(arena, struct value_type, series->n_types, err);
    if (!profile.types || tables_init_empty(&tables, arena, err) < 0)
        return -1;
    tables.n_strings = 2 * series->n_types + 1;
    tables.strings = ARENA_ARRAY(arena, struct slice, tables.n_strings, err);
    if (!tables.strings)
        return -1;
    tables.strings[0] = SLICE("");
    for (uint32_t i = 0; i < series->n_types; i++) {
        const struct series_type *type = &series->types[i];

        tables.strings[2 * i + 1] = type->type;
        tables.strings[2 * i + 2] = type->unit;
        profile.types[i] = (struct value_type){ 2 * i + 1, 2 * i + 2, type->nature, type->temporality };
    }
    source = noise_source_find(&profile, columns->value);
    if (source.kind == NOISE_SOURCE_SAMPLES) {
        columns->count = source.samples;
        columns->divisor = source.divisor;
    }
    return 0;
}

int querycolumns_find(const struct seriesinfo *series, struct slice type, struct querycolumns *ret_columns,
                      struct error *err)
{
    struct querycolumns columns = { QUERYCOLUMNS_NONE, QUERYCOLUMNS_NONE, 1 };
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = seriesinfo_find_type(series, type, &columns.value, err);
    if (!result && columns.value != QUERYCOLUMNS_NONE)
        result = find_count(series, &arena, &columns, err);
    arena_done(&arena);
    if (!result)
        *ret_columns = columns;
    return result;
}
