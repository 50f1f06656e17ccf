// SPDX-License-Identifier: Apache-2.0
#include "query/heatmap.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "block/rowid.h"
#include "query/engine_internal.h"
#include "query/points.h"
#include "tree/querycolumns.h"

#include <math.h>

enum { DEFAULT_BUCKETS = 30, MAX_RATIOS = 8 };

/* Of the values of some rows. */
struct spread {
    uint64_t n;
    double min, max, sum;
    double min_positive; /* 0 = none */
};

/* What is counted: a profile, or what it has of one span. */
struct heat {
    int64_t start_ns, duration_ns, total;
    uint32_t sequence;
    const struct link *link; /* NULL = none */
};

struct drawing {
    const struct query *query;
    struct heatmap *map;
    struct query_facts *facts;
    size_t max_bytes;
    bool is_of_spans;
    bool is_plain;
    struct spread plain, per_second;
    struct hash128 group; /* of the series that came last, and its column */
    bool has_group;
    uint32_t column;
    struct hash_set seen; /* series of exemplars, by place */
    VEC(struct slice) series;
    struct buffer text;
    /* What is done with each value: measure_one, then count_one. */
    int (*visit)(struct drawing *drawing, const struct seriesinfo *series, const struct heat *heat, struct error *err);
    struct arena arena; /* of one row */
};

/* --- values --- */

static int find_column(struct drawing *drawing, const struct seriesinfo *series, struct error *err)
{
    struct hash128 group = seriesinfo_group_hash(series, 0);
    struct querycolumns columns;

    if (drawing->has_group && hash_equal(group, drawing->group))
        return 0;
    if (querycolumns_find(series, drawing->query->type, &columns, err) < 0)
        return -1;
    drawing->column = columns.value;
    drawing->group = group;
    drawing->has_group = true;
    return 0;
}

static double value_of(const struct heat *heat, bool is_per_second)
{
    double total = (double)heat->total;

    return is_per_second ? total / ((double)heat->duration_ns / (double)CLOCK_NS_PER_SECOND) : total;
}

static int visit_windows(void *context, const struct seriesinfo *series, const struct windows *windows,
                         struct error *err)
{
    struct drawing *drawing = context;

    if (find_column(drawing, series, err) < 0)
        return -1;
    for (uint32_t i = 0; drawing->column != QUERYCOLUMNS_NONE && i < windows->n_rows; i++) {
        struct heat heat = { .start_ns = windows->starts_ns[i],
                             .duration_ns = windows->durations_ns[i],
                             .total = windows->totals[(size_t)drawing->column * windows->n_rows + i],
                             .sequence = windows->sequences ? windows->sequences[i] : 0 };

        if (drawing->visit(drawing, series, &heat, err) < 0)
            return -1;
    }
    return 0;
}

/* The spans of a row; every sample has one. */
static int visit_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct drawing *drawing = context;
    struct heat heat = { .start_ns = row->start_ns, .duration_ns = row->duration_ns, .sequence = row->sequence };
    uint64_t n_saturated = 0;
    int64_t *sums;
    bool *is_there;

    arena_reset(&drawing->arena);
    if (find_column(drawing, series, err) < 0)
        return -1;
    if (drawing->column == QUERYCOLUMNS_NONE)
        return 0;
    sums = arena_alloc_zero(&drawing->arena, row->n_links * sizeof(*sums), err);
    is_there = sums ? arena_alloc_zero(&drawing->arena, row->n_links * sizeof(*is_there), err) : NULL;
    if (!is_there)
        return -1;
    for (uint32_t i = 0; i < row->n_samples; i++) {
        uint32_t link = row->links[i] - 1;

        sums[link] = value_add(sums[link], row->values[(size_t)drawing->column * row->stride + i], &n_saturated);
        is_there[link] = true;
    }
    for (uint32_t i = 0; i < row->n_links; i++) {
        heat.total = sums[i];
        heat.link = &row->link_table[i];
        if (is_there[i] && drawing->visit(drawing, series, &heat, err) < 0)
            return -1;
    }
    return 0;
}

static int ignore_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

/* Gives each value to `visit`. `is_brief`: it needs no sequences. */
static int visit_all(struct drawing *drawing, struct engine *engine, bool is_brief, struct error *err)
{
    struct query query = *drawing->query;
    struct store_ids ids = query.ids ? *query.ids : (struct store_ids){ 0 };

    if (!drawing->is_of_spans)
        return engine_read_windows(engine, &query, &(struct store_window_sink){ drawing, visit_windows, is_brief },
                                   &drawing->facts->reads, err);
    ids.is_of_span = true;
    query.ids = &ids;
    return engine_read_rows(engine, &query,
                            &(struct store_sink){ drawing, ignore_names, visit_row, &drawing->facts->reads }, err);
}

static void widen(struct spread *spread, double value)
{
    spread->min = spread->n ? MIN(spread->min, value) : value;
    spread->max = spread->n ? MAX(spread->max, value) : value;
    if (value > 0 && (spread->min_positive == 0 || value < spread->min_positive))
        spread->min_positive = value;
    spread->sum += value;
    spread->n++;
}

/* The first reading. */
static int measure_one(struct drawing *drawing, const struct seriesinfo *series, const struct heat *heat,
                       struct error *err)
{
    bool is_per_second = !drawing->is_plain && !drawing->facts->is_level && heat->duration_ns > 0;

    widen(is_per_second ? &drawing->per_second : &drawing->plain, value_of(heat, is_per_second));
    return 0;
}

/* --- borders --- */

/* The least of 1, 2, 5 times a power of ten that is not below. */
static double round_up(double step)
{
    static const double factors[] = { 1, 2, 5 };
    double power = pow(10, floor(log10(step)));

    for (unsigned i = 0; i < ARRAY_LEN(factors); i++)
        if (power * factors[i] >= step)
            return power * factors[i];
    return power * 10;
}

static void draw_linear(struct heatmap *map, const struct spread *spread, uint32_t max_buckets)
{
    double largest = MAX(fabs(spread->min), fabs(spread->max));
    /* Not so fine that borders could not be told apart; and where all values are equal, something. */
    double least = largest > 0 ? largest * (spread->max > spread->min ? 0x1p-40 : 0.1) : 1;
    double step = round_up(MAX((spread->max - spread->min) / max_buckets, least)), first, n;

    for (;; step = round_up(step * 1.5)) {
        first = floor(spread->min / step);
        n = floor(spread->max / step) - first + 1;
        if (n <= max_buckets)
            break;
    }
    map->n_buckets = (uint32_t)n;
    for (uint32_t i = 0; i <= map->n_buckets; i++)
        map->borders[i] = (first + i) * step;
}

static int floor_log2(double value)
{
    int exponent;

    frexp(value, &exponent);
    return exponent - 1;
}

static void draw_log2(struct heatmap *map, const struct spread *spread, uint32_t max_buckets)
{
    int low = floor_log2(spread->min_positive), high = floor_log2(spread->max) + 1;
    bool has_front = spread->min <= 0;
    uint32_t room = max_buckets - has_front, n_ratios = 1;

    if ((uint32_t)(high - low) > room) {
        has_front = true;
        room = max_buckets - 1;
        low = high - (int)room;
    }
    while (n_ratios < MAX_RATIOS && (uint32_t)(high - low) * n_ratios * 2 <= room)
        n_ratios *= 2;
    map->is_log2 = true;
    if (has_front)
        map->borders[map->n_buckets++] = MIN(spread->min, 0);
    for (int exponent = low; exponent < high; exponent++)
        for (uint32_t i = 0; i < n_ratios; i++)
            map->borders[map->n_buckets++] = ldexp(exp2((double)i / n_ratios), exponent);
    map->borders[map->n_buckets] = ldexp(1, high);
}

static void draw_equal(struct heatmap *map, const struct spread *spread, uint32_t n_buckets)
{
    double width = (spread->max > spread->min ? spread->max - spread->min : 1) / n_buckets;

    map->n_buckets = n_buckets;
    for (uint32_t i = 0; i <= n_buckets; i++)
        map->borders[i] = spread->min + i * width;
}

static void draw_borders(struct drawing *drawing, const struct heatmap_options *options)
{
    struct heatmap *map = drawing->map;
    const struct spread *spread = drawing->per_second.n ? &drawing->per_second : &drawing->plain;
    uint32_t max_buckets = MIN(options->n_buckets ? options->n_buckets : DEFAULT_BUCKETS, HEATMAP_MAX_BUCKETS);
    bool is_log2 = options->scale == HEATMAP_LOG2;

    map->is_per_second = drawing->per_second.n > 0;
    if (!spread->n)
        return;
    if (options->scale == HEATMAP_EQUAL) {
        draw_equal(map, spread, max_buckets);
        return;
    }
    if (options->scale == HEATMAP_AUTO)
        is_log2 = spread->min >= 0 && spread->sum / (double)spread->n < spread->max / 8;
    if (is_log2 && spread->min_positive > 0)
        draw_log2(map, spread, max_buckets);
    else
        draw_linear(map, spread, max_buckets);
}

/* --- cells --- */

static uint32_t bucket_of(const struct heatmap *map, double value)
{
    uint32_t low = 0, high = map->n_buckets - 1;

    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;

        if (map->borders[middle] <= value)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int name_series(struct drawing *drawing, const struct seriesinfo *series, uint32_t *ret_place, struct error *err)
{
    struct heatmap *map = drawing->map;
    struct slice *slot;
    bool is_new;

    if (hash_set_add(&drawing->seen, seriesinfo_hash(series, 0), ret_place, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    buffer_clear(&drawing->text);
    seriesinfo_text(series, &drawing->text);
    if (buffer_check(&drawing->text, err) < 0)
        return -1;
    if (map->arena.used_bytes + drawing->text.len > drawing->max_bytes)
        return error_set(err, ERR_LIMIT,
                         "the labels of %zu series are more than the %zu MiB that a query may have: ask for fewer, or "
                         "raise --query-memory",
                         drawing->series.n, drawing->max_bytes >> 20);
    slot = VEC_PUSH(&drawing->series, UINT32_MAX, err);
    if (!slot)
        return -1;
    *slot = arena_copy(&map->arena, buffer_slice(&drawing->text), err);
    return slot->ptr ? 0 : -1;
}

static bool is_better(const struct heatmap_exemplar *a, const struct heatmap_exemplar *b)
{
    int order;

    if (a->value != b->value)
        return a->value > b->value;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    order = memcmp(a->profile_id, b->profile_id, sizeof(a->profile_id));
    if (!order)
        order = memcmp(a->link.span_id, b->link.span_id, sizeof(a->link.span_id));
    return order ? order < 0 : memcmp(a->link.trace_id, b->link.trace_id, sizeof(a->link.trace_id)) < 0;
}

/* Counts a value in its cell. */
static int count_value(struct drawing *drawing, const struct seriesinfo *series, const struct heat *heat, double value,
                       struct error *err)
{
    struct heatmap *map = drawing->map;
    uint64_t point = points_offset(drawing->query, heat->start_ns) / (uint64_t)map->step_ns;
    size_t cell = point * map->n_buckets + bucket_of(map, value);
    struct heatmap_exemplar exemplar = { .start_ns = heat->start_ns, .value = value };
    struct rowid row = { rowid_hour(heat->start_ns), series->id, heat->sequence };

    if (heat->link)
        exemplar.link = *heat->link;
    rowid_encode(&row, exemplar.profile_id);
    if (!map->counts[cell]++ || is_better(&exemplar, &map->exemplars[cell])) {
        if (name_series(drawing, series, &exemplar.series, err) < 0)
            return -1;
        map->exemplars[cell] = exemplar;
    }
    return 0;
}

/* The second reading. */
static int count_one(struct drawing *drawing, const struct seriesinfo *series, const struct heat *heat,
                     struct error *err)
{
    struct query_facts *facts = drawing->facts;
    bool is_per_second = drawing->map->is_per_second;
    uint64_t n_saturated = 0;

    facts->n_rows++;
    facts->duration_ns = value_add(facts->duration_ns, heat->duration_ns, &n_saturated);
    if (is_per_second && heat->duration_ns <= 0) {
        drawing->map->n_left_out++;
        return 0;
    }
    return count_value(drawing, series, heat, value_of(heat, is_per_second), err);
}

static int make_cells(struct drawing *drawing, struct error *err)
{
    struct heatmap *map = drawing->map;
    size_t n = (size_t)map->n_points * map->n_buckets;

    if (n * (sizeof(*map->counts) + sizeof(*map->exemplars)) > drawing->max_bytes)
        return error_set(err, ERR_LIMIT,
                         "%u points of %u buckets need more than the %zu MiB that a query may have: ask for longer "
                         "steps or fewer buckets, or raise --query-memory",
                         map->n_points, map->n_buckets, drawing->max_bytes >> 20);
    map->counts = arena_alloc_zero(&map->arena, n * sizeof(*map->counts), err);
    map->exemplars = map->counts ? arena_alloc_zero(&map->arena, n * sizeof(*map->exemplars), err) : NULL;
    return map->exemplars ? 0 : -1;
}

static int finish(struct drawing *drawing, struct error *err)
{
    struct heatmap *map = drawing->map;
    struct slice unit = points_unit(drawing->query->type);
    const char *text = arena_printf(&map->arena, err, "%.*s%s", SLICE_ARG(unit), map->is_per_second ? "/second" : "");

    map->series = text ? ARENA_ARRAY(&map->arena, struct slice, drawing->series.n, err) : NULL;
    if (!map->series)
        return -1;
    map->unit = slice_from(text);
    map->n_series = (uint32_t)drawing->series.n;
    for (uint32_t i = 0; i < map->n_series; i++)
        map->series[i] = drawing->series.items[i];
    return 0;
}

/* --- asking --- */

static int draw(struct engine *engine, struct drawing *drawing, const struct heatmap_options *options,
                struct error *err)
{
    int64_t begun_ns = clock_mono_ns();

    drawing->map->borders = ARENA_ARRAY(&drawing->map->arena, double, HEATMAP_MAX_BUCKETS + 1, err);
    if (!drawing->map->borders)
        return -1;
    if (options->borders) {
        drawing->map->n_buckets = MIN(options->n_buckets, HEATMAP_MAX_BUCKETS);
        memcpy(drawing->map->borders, options->borders, (drawing->map->n_buckets + 1) * sizeof(double));
    } else {
        drawing->visit = measure_one;
        if (drawing->map->n_points && visit_all(drawing, engine, true, err) < 0)
            return -1;
        draw_borders(drawing, options);
    }
    drawing->visit = count_one;
    if (make_cells(drawing, err) < 0 || (drawing->map->n_buckets && visit_all(drawing, engine, false, err) < 0))
        return -1;
    drawing->facts->read_ns = clock_mono_ns() - begun_ns;
    return finish(drawing, err);
}

int heatmap_new(struct engine *engine, const struct query *query, const struct heatmap_options *options,
                struct heatmap **ret_map, struct query_facts *ret_facts, struct error *err)
{
    AUTO(heatmap_freep) struct heatmap *map = MEMORY_NEW(struct heatmap, err);
    struct query_facts facts = { .is_level = engine_is_level(query->type) };
    struct drawing drawing = { .query = query,
                               .map = map,
                               .facts = &facts,
                               .max_bytes = engine_query_bytes(engine),
                               .is_of_spans = options->kind == HEATMAP_SPANS,
                               .is_plain = options->is_plain };
    int result;

    if (!map)
        return -1;
    arena_init(&map->arena, 0);
    map->from_ns = query->from_ns;
    map->step_ns = options->step_ns;
    if (points_count(query, options->step_ns, &map->n_points, err) < 0 || engine_enter(engine, query, false, err) < 0)
        return -1;
    hash_set_init(&drawing.seen, 0);
    buffer_init(&drawing.text, 0);
    arena_init(&drawing.arena, 0);
    result = draw(engine, &drawing, options, err);
    hash_set_done(&drawing.seen);
    VEC_DONE(&drawing.series);
    buffer_done(&drawing.text);
    arena_done(&drawing.arena);
    engine_leave(engine, false);
    if (result < 0)
        return -1;
    *ret_facts = facts;
    *ret_map = TAKE(map);
    return 0;
}

void heatmap_free(struct heatmap *map)
{
    if (!map)
        return;
    arena_done(&map->arena);
    memory_free(map);
}

void heatmap_freep(struct heatmap **map)
{
    heatmap_free(*map);
}
