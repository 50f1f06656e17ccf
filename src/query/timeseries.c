// SPDX-License-Identifier: Apache-2.0
/* Series that have all labels asked for are read from their windows alone. Of the others the windows are enough, too, where
 * no row or sample of those days has such a label; else their rows are read.
 *
 * What is added up lies in tracks: one for each group or, where levels are averaged, one for each series in a group. A track
 * has its points in pages, so that a series which lived for minutes takes little of a long range. Where levels are averaged
 * over long points, it has the parts of points, the slots, instead (S2). */
#include "query/timeseries.h"

#include "base/clock.h"
#include "base/memory.h"
#include "query/engine_internal.h"
#include "query/querycatalog.h"
#include "query/rowlabels.h"
#include "tree/levels.h"
#include "tree/querycolumns.h"

#include <stdlib.h>

enum {
    PAGE_POINTS = 32,
    MAX_SLOTS = 1 << 18, /* of all points: two and a half years of five minutes */
};
#define NO_TRACK UINT32_MAX

struct page {
    double sums[PAGE_POINTS];
    uint32_t counts[PAGE_POINTS]; /* rows */
};

struct track {
    struct page **pages;
    uint32_t next; /* track of the same group, or NO_TRACK */
    uint64_t row;  /* the one that was counted last */
};

struct group {
    uint32_t *values; /* of rowlabels */
    uint32_t first;   /* track */
    double sum;
};

struct series_entry {
    struct hash128 hash;
    uint32_t column;  /* QUERYCOLUMNS_NONE: it does not have the type */
    uint32_t track;   /* of its own labels; NO_TRACK until somebody asks */
    uint32_t *values; /* of its own labels */
};

struct gathering {
    const struct query *query;
    const struct timeseries_options *options;
    struct query_facts *facts;
    struct rowlabels *labels;
    uint32_t n_points;
    uint32_t n_slots;  /* of a point */
    uint64_t slot_ns;  /* slots begin at multiples of it, and where points do */
    uint64_t phase_ns; /* how long after such a multiple the range begins */
    bool is_averaged;  /* tracks are of single series */
    bool has_others;   /* series that lack labels */
    bool has_columns;  /* rows or samples may have what they lack */
    size_t max_bytes;  /* of all: a half for tracks, a quarter for labels, a quarter for the answer */
    struct arena arena;
    struct hash_set series_seen, groups_seen, tracks_seen;
    VEC(struct series_entry) series;
    VEC(struct group) groups;
    VEC(struct track) tracks;
    uint64_t n_rows; /* read as rows */
};

/* --- memory --- */

static void *take(struct gathering *gathering, size_t n, size_t item_bytes, struct error *err)
{
    size_t used_bytes = gathering->arena.used_bytes + hash_set_bytes(&gathering->series_seen) +
                        hash_set_bytes(&gathering->groups_seen) + hash_set_bytes(&gathering->tracks_seen) +
                        gathering->series.capacity * sizeof(struct series_entry) +
                        gathering->groups.capacity * sizeof(struct group) +
                        gathering->tracks.capacity * sizeof(struct track);

    if (used_bytes + n * item_bytes > gathering->max_bytes / 2) {
        error_set(
            err, ERR_LIMIT,
            "%zu groups of %zu series at %u points need more than the %zu MiB that a query may have: ask for longer "
            "steps, fewer labels or less time, or raise --query-memory",
            gathering->groups.n, gathering->series.n, gathering->n_points, gathering->max_bytes >> 20);
        return NULL;
    }
    return arena_alloc_zero(&gathering->arena, n * item_bytes, err);
}

/* --- slots --- */

/* Of all points. */
static size_t count_slots(const struct gathering *gathering)
{
    return (size_t)gathering->n_points * gathering->n_slots;
}

/* Where a row is added up; times are from the beginning of the range. */
struct slot {
    uint64_t number;
    uint64_t begin_ns, end_ns;
};

static struct slot find_slot(const struct gathering *gathering, uint64_t offset_ns)
{
    uint64_t step_ns = (uint64_t)gathering->options->step_ns, slot_ns = gathering->slot_ns;
    uint64_t point = offset_ns / step_ns, phase_ns = gathering->phase_ns, first, slot;
    struct slot found = { .number = point, .begin_ns = point * step_ns, .end_ns = (point + 1) * step_ns };

    if (gathering->n_slots == 1)
        return found;
    first = (found.begin_ns + phase_ns) / slot_ns;
    slot = (offset_ns + phase_ns) / slot_ns;
    found.number = point * gathering->n_slots + (slot - first);
    if (slot > first)
        found.begin_ns = slot * slot_ns - phase_ns;
    found.end_ns = MIN(found.end_ns, (slot + 1) * slot_ns - phase_ns);
    return found;
}

static void divide_points(struct gathering *gathering)
{
    uint64_t step_ns = (uint64_t)gathering->options->step_ns, five_minutes_ns = (uint64_t)LEVELS_SLOT_NS;
    uint64_t n_of_point = MAX(MAX_SLOTS / MAX(gathering->n_points, 1u), 3u);
    int64_t phase_ns;

    gathering->n_slots = 1;
    if (!gathering->is_averaged || step_ns <= five_minutes_ns)
        return;
    /* A point that begins amid a slot has a part of one more. */
    gathering->slot_ns = ((step_ns - 1) / five_minutes_ns / (n_of_point - 1) + 1) * five_minutes_ns;
    gathering->n_slots = (uint32_t)((step_ns - 1) / gathering->slot_ns + 2);
    phase_ns = gathering->query->from_ns % (int64_t)gathering->slot_ns;
    gathering->phase_ns = (uint64_t)(phase_ns < 0 ? phase_ns + (int64_t)gathering->slot_ns : phase_ns);
}

/* --- groups and tracks --- */

static struct hash128 hash_values(const uint32_t *values, uint32_t n)
{
    struct hash128 hash = { n, 1 };

    for (uint32_t i = 0; i < n; i++)
        hash = hash_fold(hash, values[i], i);
    return hash;
}

static int find_group(struct gathering *gathering, struct hash128 hash, const uint32_t *values, uint32_t *ret_group,
                      struct error *err)
{
    uint32_t n = gathering->options->n_by;
    struct group *group;
    bool is_new;

    if (hash_set_add(&gathering->groups_seen, hash, ret_group, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    group = VEC_PUSH(&gathering->groups, UINT32_MAX, err);
    if (!group)
        return -1;
    *group = (struct group){ .values = take(gathering, n, sizeof(*values), err), .first = NO_TRACK };
    if (!group->values)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        group->values[i] = values[i];
    return 0;
}

/* The track of rows and samples of the series that have these values. */
static int find_track(struct gathering *gathering, const struct series_entry *entry, const uint32_t *values,
                      uint32_t *ret_track, struct error *err)
{
    struct hash128 hash = hash_values(values, gathering->options->n_by);
    struct hash128 track_hash = gathering->is_averaged ? hash_fold(hash, entry->hash.a, entry->hash.b) : hash;
    struct track *track;
    uint32_t group;
    bool is_new;

    if (hash_set_add(&gathering->tracks_seen, track_hash, ret_track, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    if (find_group(gathering, hash, values, &group, err) < 0)
        return -1;
    track = VEC_PUSH(&gathering->tracks, UINT32_MAX, err);
    if (!track)
        return -1;
    *track = (struct track){ .next = gathering->groups.items[group].first };
    gathering->groups.items[group].first = *ret_track;
    track->pages = take(gathering, count_slots(gathering) / PAGE_POINTS + 1, sizeof(struct page *), err);
    return track->pages ? 0 : -1;
}

static int add_series(struct gathering *gathering, const struct seriesinfo *series, struct hash128 hash,
                      struct error *err)
{
    struct series_entry *entry = VEC_PUSH(&gathering->series, UINT32_MAX, err);
    struct querycolumns columns;

    if (!entry || querycolumns_find(series, gathering->query->type, &columns, err) < 0)
        return -1;
    *entry = (struct series_entry){ .hash = hash, .column = columns.value, .track = NO_TRACK };
    entry->values = take(gathering, gathering->options->n_by, sizeof(*entry->values), err);
    return entry->values ? rowlabels_of_series(gathering->labels, series, entry->values, err) : -1;
}

/* NULL on failure. */
static struct series_entry *find_series(struct gathering *gathering, const struct seriesinfo *series, struct error *err)
{
    struct hash128 hash = seriesinfo_hash(series, 0);
    uint32_t place;
    bool is_new;

    if (hash_set_add(&gathering->series_seen, hash, &place, &is_new, err) < 0 ||
        (is_new && add_series(gathering, series, hash, err) < 0))
        return NULL;
    return &gathering->series.items[place];
}

/* --- points --- */

static int add_to_slot(struct gathering *gathering, uint32_t track, uint64_t slot, double value, uint32_t n_rows,
                       struct error *err)
{
    struct page **page = &gathering->tracks.items[track].pages[slot / PAGE_POINTS];

    if (!*page) {
        *page = take(gathering, 1, sizeof(**page), err);
        if (!*page)
            return -1;
    }
    (*page)->sums[slot % PAGE_POINTS] += value;
    (*page)->counts[slot % PAGE_POINTS] += n_rows;
    return 0;
}

static void add_duration(struct query_facts *facts, int64_t duration_ns)
{
    if (__builtin_add_overflow(facts->duration_ns, duration_ns, &facts->duration_ns))
        facts->duration_ns = duration_ns < 0 ? INT64_MIN : INT64_MAX;
}

/* Windows are in order of their starts: those of one slot are added up before it is looked for. */
static int add_windows(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    struct gathering *gathering = context;
    struct series_entry *entry = find_series(gathering, series, err);
    const int64_t *totals;

    if (!entry)
        return -1;
    if (entry->column == QUERYCOLUMNS_NONE)
        return 0;
    if (entry->track == NO_TRACK && find_track(gathering, entry, entry->values, &entry->track, err) < 0)
        return -1;
    totals = windows->totals + (size_t)entry->column * windows->n_rows;
    for (uint32_t i = 0, first = 0; i < windows->n_rows; first = i) {
        struct slot slot = find_slot(gathering, points_offset(gathering->query, windows->starts_ns[i]));
        uint64_t length_ns = slot.end_ns - slot.begin_ns;
        double sum = 0;

        do {
            sum += (double)totals[i];
            add_duration(gathering->facts, windows->durations_ns[i++]);
        } while (i < windows->n_rows &&
                 points_offset(gathering->query, windows->starts_ns[i]) - slot.begin_ns < length_ns);
        if (add_to_slot(gathering, entry->track, slot.number, sum, i - first, err) < 0)
            return -1;
    }
    gathering->facts->n_rows += windows->n_rows;
    return 0;
}

/* --- rows --- */

/* Some samples of a row: it counts once in each track. */
static int add_samples(struct gathering *gathering, uint32_t track, const struct headrow *row, double sum,
                       struct error *err)
{
    struct slot slot = find_slot(gathering, points_offset(gathering->query, row->start_ns));
    bool is_counted = gathering->tracks.items[track].row == gathering->n_rows;

    gathering->tracks.items[track].row = gathering->n_rows;
    return add_to_slot(gathering, track, slot.number, sum, !is_counted, err);
}

/* Samples `from` up to but without `until`, which have the same labels. */
static int add_run(struct gathering *gathering, const struct series_entry *entry, const struct headrow *row,
                   const uint32_t *row_values, uint32_t from, uint32_t until, struct error *err)
{
    uint32_t values[ROWLABELS_MAX], track;
    double sum = 0;

    for (uint32_t i = 0; i < gathering->options->n_by; i++)
        values[i] = row_values[i];
    if ((from < until && row->label_sets &&
         rowlabels_overlay(gathering->labels, row->label_sets[from], values, err) < 0) ||
        find_track(gathering, entry, values, &track, err) < 0)
        return -1;
    for (uint32_t i = from; i < until; i++)
        sum += (double)row->values[(size_t)entry->column * row->stride + i];
    return add_samples(gathering, track, row, sum, err);
}

static int add_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct gathering *gathering = context;
    const struct series_entry *entry = find_series(gathering, series, err);
    uint32_t values[ROWLABELS_MAX], until;

    if (!entry)
        return -1;
    if (entry->column == QUERYCOLUMNS_NONE)
        return 0;
    for (uint32_t i = 0; i < gathering->options->n_by; i++)
        values[i] = entry->values[i];
    gathering->n_rows++;
    gathering->facts->n_rows++;
    add_duration(gathering->facts, row->duration_ns);
    if (rowlabels_overlay(gathering->labels, row->label_set, values, err) < 0)
        return -1;
    if (!row->n_samples || !row->label_sets)
        return add_run(gathering, entry, row, values, 0, row->n_samples, err);
    for (uint32_t from = 0; from < row->n_samples; from = until) {
        for (until = from + 1; until < row->n_samples && row->label_sets[until] == row->label_sets[from];)
            until++;
        if (add_run(gathering, entry, row, values, from, until, err) < 0)
            return -1;
    }
    return 0;
}

/* --- reading --- */

static bool has_labels(void *context, const struct seriesinfo *series)
{
    struct gathering *gathering = context;
    bool has = rowlabels_are_of_series(gathering->labels, series);

    gathering->has_others |= !has;
    return has;
}

static bool lacks_labels(void *context, const struct seriesinfo *series)
{
    const struct gathering *gathering = context;

    return !rowlabels_are_of_series(gathering->labels, series);
}

static int look_for_columns(void *context, struct slice name, struct slice value, struct error *err)
{
    struct gathering *gathering = context;
    bool is_asked = false;

    if (!gathering->has_columns && value.len && rowlabels_is_asked(gathering->labels, name, &is_asked, err) < 0)
        return -1;
    gathering->has_columns |= is_asked;
    return 0;
}

static int names_begin(void *context, struct names *names, struct error *err)
{
    const struct gathering *gathering = context;

    return rowlabels_names(gathering->labels, names, err);
}

static int read_all(struct gathering *gathering, struct engine *engine, struct error *err)
{
    const struct query *query = gathering->query;
    struct query everything = *query;
    struct store_window_sink windows = { gathering, add_windows, true };
    struct store_reads *reads = &gathering->facts->reads;

    if (engine_read_windows_of(engine, query, &(struct engine_choice){ has_labels, gathering }, &windows, reads, err) <
        0)
        return -1;
    if (!gathering->has_others)
        return 0;
    everything.selector = NULL; /* without both a look into the dictionary is enough */
    everything.ids = NULL;
    if (engine_read_column_labels(engine, &everything, look_for_columns, gathering, err) < 0)
        return -1;
    if (!gathering->has_columns)
        return engine_read_windows_of(engine, query, &(struct engine_choice){ lacks_labels, gathering }, &windows,
                                      reads, err);
    return engine_read_rows_of(engine, query, &(struct engine_choice){ lacks_labels, gathering },
                               &(struct store_sink){ gathering, names_begin, add_row, reads }, err);
}

/* --- the answer --- */

struct finishing {
    const struct gathering *gathering;
    double *values;   /* [n_points] of the group at hand; there is room for all slots */
    uint64_t *counts; /* likewise */
    struct group **order;
};

static int64_t length_of(const struct gathering *gathering, uint32_t point)
{
    const struct query *query = gathering->query;
    uint64_t step_ns = (uint64_t)gathering->options->step_ns;
    uint64_t left_ns = (uint64_t)query->until_ns - (uint64_t)query->from_ns - point * step_ns;

    return (int64_t)MIN(step_ns, left_ns);
}

static double point_of(const struct finishing *finishing, uint32_t point)
{
    double value = finishing->values[point], count = (double)finishing->counts[point];
    double length_ns = (double)length_of(finishing->gathering, point);

    if (!finishing->counts[point])
        return 0;
    switch (finishing->gathering->options->kind) {
    case TIMESERIES_SUM: return value;
    case TIMESERIES_AVERAGE: return value / count;
    case TIMESERIES_COUNT: return count;
    case TIMESERIES_RATE: return value / (length_ns / (double)CLOCK_NS_PER_SECOND);
    case TIMESERIES_CORES: return value / length_ns;
    }
    return 0;
}

/* Makes the values of points of those of slots. */
static void join_slots(struct finishing *finishing)
{
    uint32_t n_slots = finishing->gathering->n_slots;

    for (uint32_t i = 0; i < finishing->gathering->n_points; i++) {
        double sum = 0;
        uint64_t n_rows = 0;
        uint32_t n_used = 0;

        for (size_t slot = (size_t)i * n_slots; slot < ((size_t)i + 1) * n_slots; slot++) {
            sum += finishing->values[slot];
            n_rows += finishing->counts[slot];
            n_used += finishing->counts[slot] > 0;
        }
        finishing->values[i] = n_used ? sum / n_used : 0;
        finishing->counts[i] = n_rows;
    }
}

/* Adds up the tracks of a group. */
static void fill(struct finishing *finishing, const struct group *group)
{
    const struct gathering *gathering = finishing->gathering;
    size_t n = count_slots(gathering);

    memset(finishing->values, 0, n * sizeof(*finishing->values));
    memset(finishing->counts, 0, n * sizeof(*finishing->counts));
    for (uint32_t track = group->first; track != NO_TRACK; track = gathering->tracks.items[track].next)
        for (size_t i = 0; i < n; i++) {
            const struct page *page = gathering->tracks.items[track].pages[i / PAGE_POINTS];
            uint32_t count = page ? page->counts[i % PAGE_POINTS] : 0;

            if (!page)
                i += PAGE_POINTS - 1;
            else if (count) {
                finishing->values[i] += page->sums[i % PAGE_POINTS] / (gathering->is_averaged ? count : 1);
                finishing->counts[i] += count;
            }
        }
    if (gathering->n_slots > 1)
        join_slots(finishing);
}

static int by_sum(const void *a, const void *b, void *context)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    const struct gathering *gathering = context;
    int order = 0;

    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    for (uint32_t i = 0; i < gathering->options->n_by && !order; i++)
        order = slice_compare(rowlabels_text(gathering->labels, x->values[i]),
                              rowlabels_text(gathering->labels, y->values[i]));
    return order;
}

static int copy_group(struct finishing *finishing, const struct group *group, struct arena *arena,
                      struct timeseries_group *ret_group, struct error *err)
{
    const struct gathering *gathering = finishing->gathering;
    uint32_t n_by = gathering->options->n_by;

    ret_group->sum = group->sum;
    ret_group->values = ARENA_ARRAY(arena, struct slice, n_by, err);
    ret_group->points = ret_group->values ? ARENA_ARRAY(arena, double, gathering->n_points, err) : NULL;
    ret_group->has_rows = ret_group->points ? ARENA_ARRAY(arena, bool, gathering->n_points, err) : NULL;
    if (!ret_group->has_rows)
        return -1;
    for (uint32_t i = 0; i < n_by; i++) {
        ret_group->values[i] = arena_copy(arena, rowlabels_text(gathering->labels, group->values[i]), err);
        if (!ret_group->values[i].ptr)
            return -1;
    }
    fill(finishing, group);
    for (uint32_t i = 0; i < gathering->n_points; i++) {
        ret_group->points[i] = point_of(finishing, i);
        ret_group->has_rows[i] = finishing->counts[i] > 0;
    }
    return 0;
}

/* Orders the groups; the values of points come with those that stay. */
static int order_groups(struct gathering *gathering, struct finishing *finishing, struct error *err)
{
    *finishing = (struct finishing){
        .gathering = gathering,
        .values = take(gathering, count_slots(gathering), sizeof(double), err),
    };
    if (!finishing->values || !(finishing->counts = take(gathering, count_slots(gathering), sizeof(uint64_t), err)) ||
        !(finishing->order = take(gathering, gathering->groups.n, sizeof(struct group *), err)))
        return -1;
    for (size_t i = 0; i < gathering->groups.n; i++) {
        struct group *group = finishing->order[i] = &gathering->groups.items[i];

        fill(finishing, group);
        for (uint32_t j = 0; j < gathering->n_points; j++)
            group->sum += point_of(finishing, j);
    }
    qsort_r(finishing->order, gathering->groups.n, sizeof(*finishing->order), by_sum, gathering);
    return 0;
}

static int make_answer(struct gathering *gathering, struct timeseries *answer, struct error *err)
{
    uint32_t top = gathering->options->top, n_groups = (uint32_t)gathering->groups.n;
    size_t group_bytes = gathering->n_points * (sizeof(double) + sizeof(bool));
    struct finishing finishing;

    if (order_groups(gathering, &finishing, err) < 0)
        return -1;
    answer->n_groups = MIN(n_groups, top && top < TIMESERIES_MAX_GROUPS ? top : TIMESERIES_MAX_GROUPS);
    answer->n_left_out = n_groups - answer->n_groups;
    if (answer->n_groups * group_bytes > gathering->max_bytes / 4)
        return error_set(
            err, ERR_LIMIT,
            "%u groups of %u points need more than the %zu MiB that a query may have: ask for longer steps "
            "or for the top few groups, or raise --query-memory",
            answer->n_groups, gathering->n_points, gathering->max_bytes >> 20);
    answer->groups = ARENA_ARRAY(&answer->arena, struct timeseries_group, answer->n_groups, err);
    if (!answer->groups)
        return -1;
    for (uint32_t i = 0; i < answer->n_groups; i++)
        if (copy_group(&finishing, finishing.order[i], &answer->arena, &answer->groups[i], err) < 0)
            return -1;
    return 0;
}

/* --- asking --- */

static int find_unit(const struct gathering *gathering, struct timeseries *answer, struct error *err)
{
    struct slice type = gathering->query->type, unit = points_unit(type);
    const struct query_facts *facts = gathering->facts;
    const char *text = NULL;

    switch (gathering->options->kind) {
    case TIMESERIES_SUM:
    case TIMESERIES_AVERAGE: text = arena_printf(&answer->arena, err, "%.*s", SLICE_ARG(unit)); break;
    case TIMESERIES_COUNT: text = "profiles"; break;
    case TIMESERIES_RATE:
        if (facts->is_averaged)
            return error_set(err, ERR_INVALID,
                             "'%.*s' is a level, which has no rate: ask for its sum over the instances, or its average",
                             SLICE_ARG(type));
        text = arena_printf(&answer->arena, err, "%.*s/second", SLICE_ARG(unit));
        break;
    case TIMESERIES_CORES:
        if (!slice_is(unit, "nanoseconds") || !querycatalog_is_cpu(type))
            return error_set(err, ERR_INVALID,
                             "'%.*s' is not in nanoseconds of CPU, so it cannot be shown as cores: ask for its rate",
                             SLICE_ARG(type));
        text = "cores";
        break;
    }
    answer->unit = slice_from(text);
    return text ? 0 : -1;
}

static void gathering_init(struct gathering *gathering)
{
    arena_init(&gathering->arena, 0);
    hash_set_init(&gathering->series_seen, 0);
    hash_set_init(&gathering->groups_seen, 0);
    hash_set_init(&gathering->tracks_seen, 0);
}

static void gathering_done(struct gathering *gathering)
{
    rowlabels_free(gathering->labels);
    arena_done(&gathering->arena);
    hash_set_done(&gathering->series_seen);
    hash_set_done(&gathering->groups_seen);
    hash_set_done(&gathering->tracks_seen);
    VEC_DONE(&gathering->series);
    VEC_DONE(&gathering->groups);
    VEC_DONE(&gathering->tracks);
}

static int gather(struct engine *engine, struct gathering *gathering, struct timeseries *answer, struct error *err)
{
    struct query_facts *facts = gathering->facts;
    int64_t begun_ns = clock_mono_ns();
    int result = rowlabels_new(gathering->options->by, gathering->options->n_by, gathering->max_bytes / 4,
                               &gathering->labels, err);

    if (!result && gathering->n_points)
        result = read_all(gathering, engine, err);
    facts->read_ns = clock_mono_ns() - begun_ns;
    if (!result)
        result = make_answer(gathering, answer, err);
    facts->finish_ns = clock_mono_ns() - begun_ns - facts->read_ns;
    return result;
}

static int prepare(const struct query *query, const struct timeseries_options *options, struct gathering *gathering,
                   struct timeseries *answer, struct error *err)
{
    struct query_facts *facts = gathering->facts;

    *facts = (struct query_facts){ .is_level = engine_is_level(query->type) };
    facts->is_averaged = facts->is_level && !query->sums_levels;
    gathering->query = query;
    gathering->options = options;
    gathering->is_averaged = facts->is_averaged && options->kind == TIMESERIES_SUM;
    if (points_count(query, options->step_ns, &gathering->n_points, err) < 0 || find_unit(gathering, answer, err) < 0)
        return -1;
    divide_points(gathering);
    answer->from_ns = query->from_ns;
    answer->step_ns = options->step_ns;
    answer->n_points = gathering->n_points;
    return 0;
}

int timeseries_new(struct engine *engine, const struct query *query, const struct timeseries_options *options,
                   struct timeseries **ret_series, struct query_facts *ret_facts, struct error *err)
{
    AUTO(timeseries_freep) struct timeseries *answer = MEMORY_NEW(struct timeseries, err);
    struct query_facts facts;
    struct gathering gathering = { .facts = &facts, .max_bytes = engine_query_bytes(engine) };
    int result;

    if (!answer)
        return -1;
    arena_init(&answer->arena, 0);
    if (prepare(query, options, &gathering, answer, err) < 0 || engine_enter(engine, query, false, err) < 0)
        return -1;
    gathering_init(&gathering);
    result = gather(engine, &gathering, answer, err);
    gathering_done(&gathering);
    engine_leave(engine, false);
    if (result < 0)
        return -1;
    *ret_facts = facts;
    *ret_series = TAKE(answer);
    return 0;
}

void timeseries_free(struct timeseries *series)
{
    if (!series)
        return;
    arena_done(&series->arena);
    memory_free(series);
}

void timeseries_freep(struct timeseries **series)
{
    timeseries_free(*series);
}
