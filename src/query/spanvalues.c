// SPDX-License-Identifier: Apache-2.0
#include "query/spanvalues.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "query/engine_internal.h"
#include "tree/querycolumns.h"

#include <stdlib.h>

/* What a span takes at most while it is counted: its item and its slot in the map, both half empty. */
enum { SPAN_COST_BYTES = 2 * sizeof(struct spanvalue) + 4 * sizeof(struct map_slot) };

struct adding {
    const struct query *query;
    struct query_facts *facts;
    struct map places; /* of spans by id */
    VEC(struct spanvalue) spans;
    size_t max;
    bool is_cut;
    uint32_t series; /* of which the column is known; 0 = none yet */
    uint32_t column;
};

static int ignore_names(void *context, struct names *names UNUSED, struct error *err UNUSED)
{
    struct adding *adding = context;

    adding->series = 0; /* numbers of series are those of a day */
    return 0;
}

static int find_column(struct adding *adding, const struct seriesinfo *series, struct error *err)
{
    struct querycolumns columns;

    if (series->id && series->id == adding->series)
        return 0;
    if (querycolumns_find(series, adding->query->type, &columns, err) < 0)
        return -1;
    adding->series = series->id;
    adding->column = columns.value;
    return 0;
}

static int add_value(struct adding *adding, const uint8_t id[static 8], int64_t value, struct error *err)
{
    uint32_t next = (uint32_t)adding->spans.n, place;
    uint64_t word, n_saturated = 0;
    struct spanvalue *span;

    memcpy(&word, id, sizeof(word));
    if (adding->spans.n == adding->max && !map_find(&adding->places, word)) {
        adding->is_cut = true;
        return 0;
    }
    if (map_add(&adding->places, word, next, &place, err) < 0)
        return -1;
    if (place == next) {
        span = VEC_PUSH(&adding->spans, adding->max, err);
        if (!span)
            return -1;
        memcpy(span->span_id, id, sizeof(span->span_id));
    }
    span = &adding->spans.items[place];
    span->value = value_add(span->value, value, &n_saturated);
    return 0;
}

static int add_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct adding *adding = context;
    uint64_t n_saturated = 0;

    if (find_column(adding, series, err) < 0)
        return -1;
    if (adding->column == QUERYCOLUMNS_NONE || !row->links)
        return 0;
    adding->facts->n_rows++;
    adding->facts->duration_ns = value_add(adding->facts->duration_ns, row->duration_ns, &n_saturated);
    for (uint32_t i = 0; i < row->n_samples; i++) {
        int64_t value = row->values[(size_t)adding->column * row->stride + i];

        if (row->links[i] && value != 0 &&
            add_value(adding, row->link_table[row->links[i] - 1].span_id, value, err) < 0)
            return -1;
    }
    return 0;
}

static int largest_first(const void *a, const void *b)
{
    const struct spanvalue *x = a, *y = b;

    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return memcmp(x->span_id, y->span_id, sizeof(x->span_id));
}

/* V1: those whose values cancelled out go, too. */
static void finish(struct adding *adding, size_t max, struct spanvalues *ret_values)
{
    size_t n = 0;

    VEC_EACH (&adding->spans, span)
        if (span->value != 0)
            adding->spans.items[n++] = *span;
    if (n > 0)
        qsort(adding->spans.items, n, sizeof(*adding->spans.items), largest_first);
    *ret_values =
        (struct spanvalues){ .items = adding->spans.items, .n = MIN(n, max), .is_cut = adding->is_cut || n > max };
}

static int read_spans(struct adding *adding, struct engine *engine, struct error *err)
{
    struct query query = *adding->query;
    struct store_ids ids = query.ids ? *query.ids : (struct store_ids){ 0 };
    int64_t begun_ns = clock_mono_ns();
    int result;

    ids.is_of_span = true;
    query.ids = &ids;
    if (engine_enter(engine, &query, false, err) < 0)
        return -1;
    result = engine_read_rows(engine, &query,
                              &(struct store_sink){ adding, ignore_names, add_row, &adding->facts->reads }, err);
    engine_leave(engine, false);
    adding->facts->read_ns = clock_mono_ns() - begun_ns;
    return result;
}

int spanvalues_read(struct engine *engine, const struct query *query, size_t max, struct spanvalues *ret_values,
                    struct query_facts *ret_facts, struct error *err)
{
    struct query_facts facts = { .n_threads = 1, .is_level = engine_is_level(query->type) };
    struct adding adding = { .query = query, .facts = &facts };
    int result;

    adding.max = MIN(engine_query_bytes(engine) / SPAN_COST_BYTES, (size_t)UINT32_MAX);
    map_init(&adding.places, 0);
    result = read_spans(&adding, engine, err);
    map_done(&adding.places);
    if (result < 0) {
        VEC_DONE(&adding.spans);
        return -1;
    }
    finish(&adding, max, ret_values);
    *ret_facts = facts;
    return 0;
}

void spanvalues_done(struct spanvalues *values)
{
    memory_free(values->items);
    *values = (struct spanvalues){ 0 };
}
