// SPDX-License-Identifier: Apache-2.0
/* Profiles are chosen by the windows of their rows, as time series are read; rows are read where labels of samples decide
 * in which group they are, and for spans.
 *
 * The best of a group at a point are in a cell, in order. Of a row, what it has of each group and span is added up first, in
 * shares. */
#include "query/exemplars.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "block/rowid.h"
#include "query/engine_internal.h"
#include "query/rowlabels.h"
#include "tree/querycolumns.h"

#include <stdlib.h>

struct series_entry {
    uint32_t column;   /* QUERYCOLUMNS_NONE: it does not have the type */
    uint32_t *values;  /* of its own labels */
    struct slice text; /* empty until one of its rows is chosen */
};

struct candidate {
    int64_t value, start_ns, duration_ns;
    uint32_t series; /* place */
    uint32_t id;     /* of the series in its day */
    uint32_t sequence;
    struct link link; /* zeros = none */
};

struct cell {
    uint32_t group;
    uint32_t point;
    uint32_t n;
    struct candidate *best; /* [n_per_point] */
};

struct group {
    uint32_t *values; /* of rowlabels */
};

/* What a row has of one group and link. */
struct share {
    uint32_t group;
    uint32_t link; /* 0 = none */
    int64_t value;
};

/* Where the sample before with this link went: mostly the next one goes there, too. */
struct last_share {
    uint64_t row;
    uint32_t group;
    uint32_t place;
};

struct choosing {
    const struct query *query;
    const struct exemplars_options *options;
    struct query_facts *facts;
    struct rowlabels *labels;
    bool has_others, has_columns; /* as in timeseries.c */
    size_t max_bytes;             /* three quarters for what is here, a quarter for labels */
    struct arena arena;
    struct hash_set series_seen, groups_seen, cells_seen;
    VEC(struct series_entry) series;
    VEC(struct group) groups;
    VEC(struct cell) cells;
    struct map share_places; /* group and link -> place */
    VEC(struct share) shares;
    VEC(struct last_share) last_shares; /* [link] */
    struct buffer text;
};

/* --- memory --- */

static void *take(struct choosing *choosing, size_t n, size_t item_bytes, struct error *err)
{
    size_t used_bytes =
        choosing->arena.used_bytes + hash_set_bytes(&choosing->series_seen) + hash_set_bytes(&choosing->groups_seen) +
        hash_set_bytes(&choosing->cells_seen) + choosing->series.capacity * sizeof(struct series_entry) +
        choosing->groups.capacity * sizeof(struct group) + choosing->cells.capacity * sizeof(struct cell);

    if (used_bytes + n * item_bytes > choosing->max_bytes / 4 * 3) {
        error_set(
            err, ERR_LIMIT,
            "exemplars of %zu groups at %zu of their points need more than the %zu MiB that a query may have: ask "
            "for longer steps, fewer labels or fewer exemplars, or raise --query-memory",
            choosing->groups.n, choosing->cells.n, choosing->max_bytes >> 20);
        return NULL;
    }
    return arena_alloc_zero(&choosing->arena, n * item_bytes, err);
}

/* --- series and groups --- */

static int add_series(struct choosing *choosing, const struct seriesinfo *series, struct error *err)
{
    struct series_entry *entry = VEC_PUSH(&choosing->series, UINT32_MAX, err);
    struct querycolumns columns;

    if (!entry || querycolumns_find(series, choosing->query->type, &columns, err) < 0)
        return -1;
    *entry = (struct series_entry){ .column = columns.value };
    entry->values = take(choosing, choosing->options->n_by, sizeof(*entry->values), err);
    return entry->values ? rowlabels_of_series(choosing->labels, series, entry->values, err) : -1;
}

static int find_series(struct choosing *choosing, const struct seriesinfo *series, uint32_t *ret_place,
                       struct error *err)
{
    bool is_new;

    if (hash_set_add(&choosing->series_seen, seriesinfo_hash(series, 0), ret_place, &is_new, err) < 0)
        return -1;
    return is_new ? add_series(choosing, series, err) : 0;
}

static int find_group(struct choosing *choosing, const uint32_t *values, uint32_t *ret_group, struct error *err)
{
    uint32_t n = choosing->options->n_by;
    struct hash128 hash = { n, 1 };
    struct group *group;
    bool is_new;

    for (uint32_t i = 0; i < n; i++)
        hash = hash_fold(hash, values[i], i);
    if (hash_set_add(&choosing->groups_seen, hash, ret_group, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    group = VEC_PUSH(&choosing->groups, UINT32_MAX, err);
    if (!group)
        return -1;
    group->values = take(choosing, n, sizeof(*values), err);
    if (!group->values)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        group->values[i] = values[i];
    return 0;
}

/* --- choosing --- */

/* X4. */
static bool is_before(const struct candidate *a, const struct candidate *b)
{
    int order;

    if (a->value != b->value)
        return a->value > b->value;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->id != b->id)
        return a->id < b->id;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence;
    order = memcmp(a->link.span_id, b->link.span_id, sizeof(a->link.span_id));
    return order ? order < 0 : memcmp(a->link.trace_id, b->link.trace_id, sizeof(a->link.trace_id)) < 0;
}

static struct cell *find_cell(struct choosing *choosing, uint32_t group, uint64_t point, struct error *err)
{
    struct cell *cell;
    uint32_t place;
    bool is_new;

    if (hash_set_add(&choosing->cells_seen, hash_fold((struct hash128){ group, 1 }, point, 0), &place, &is_new, err) <
        0)
        return NULL;
    if (!is_new)
        return &choosing->cells.items[place];
    cell = VEC_PUSH(&choosing->cells, UINT32_MAX, err);
    if (!cell)
        return NULL;
    *cell = (struct cell){ .group = group, .point = (uint32_t)point };
    cell->best = take(choosing, choosing->options->n_per_point, sizeof(*cell->best), err);
    return cell->best ? cell : NULL;
}

/* Keeps the labels of a series of which a row was chosen. */
static int keep_text(struct choosing *choosing, uint32_t place, const struct seriesinfo *series, struct error *err)
{
    struct series_entry *entry = &choosing->series.items[place];
    char *copy;

    if (entry->text.len)
        return 0;
    buffer_clear(&choosing->text);
    seriesinfo_text(series, &choosing->text);
    if (buffer_check(&choosing->text, err) < 0)
        return -1;
    copy = take(choosing, choosing->text.len, 1, err);
    if (!copy)
        return -1;
    memcpy(copy, choosing->text.data, choosing->text.len);
    entry->text = slice_of(copy, choosing->text.len);
    return 0;
}

static int offer(struct choosing *choosing, const struct seriesinfo *series, uint32_t group,
                 const struct candidate *candidate, struct error *err)
{
    uint64_t point = points_offset(choosing->query, candidate->start_ns) / (uint64_t)choosing->options->step_ns;
    struct cell *cell = find_cell(choosing, group, point, err);
    uint32_t at;

    if (!cell)
        return -1;
    if (cell->n == choosing->options->n_per_point && !is_before(candidate, &cell->best[cell->n - 1]))
        return 0;
    if (keep_text(choosing, candidate->series, series, err) < 0)
        return -1;
    cell->n += cell->n < choosing->options->n_per_point;
    for (at = cell->n - 1; at > 0 && is_before(candidate, &cell->best[at - 1]); at--)
        cell->best[at] = cell->best[at - 1];
    cell->best[at] = *candidate;
    return 0;
}

static void count_row(struct query_facts *facts, int64_t duration_ns)
{
    uint64_t n_saturated = 0;

    facts->n_rows++;
    facts->duration_ns = value_add(facts->duration_ns, duration_ns, &n_saturated);
}

/* --- windows --- */

static int add_windows(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    struct choosing *choosing = context;
    struct candidate candidate = { .id = series->id };
    const struct series_entry *entry;
    uint32_t group;

    if (find_series(choosing, series, &candidate.series, err) < 0)
        return -1;
    entry = &choosing->series.items[candidate.series];
    if (entry->column == QUERYCOLUMNS_NONE)
        return 0;
    if (find_group(choosing, entry->values, &group, err) < 0)
        return -1;
    for (uint32_t i = 0; i < windows->n_rows; i++) {
        candidate.value = windows->totals[(size_t)entry->column * windows->n_rows + i];
        candidate.start_ns = windows->starts_ns[i];
        candidate.duration_ns = windows->durations_ns[i];
        candidate.sequence = windows->sequences[i];
        count_row(choosing->facts, candidate.duration_ns);
        if (offer(choosing, series, group, &candidate, err) < 0)
            return -1;
    }
    return 0;
}

/* --- rows --- */

static int find_share(struct choosing *choosing, uint32_t group, uint32_t link, uint32_t *ret_place, struct error *err)
{
    uint32_t next = (uint32_t)choosing->shares.n, place;
    struct share *share;

    if (map_add(&choosing->share_places, (uint64_t)group << 32 | link, next, &place, err) < 0)
        return -1;
    if (place == next) {
        share = VEC_PUSH(&choosing->shares, UINT32_MAX, err);
        if (!share)
            return -1;
        *share = (struct share){ .group = group, .link = link };
    }
    *ret_place = place;
    return 0;
}

/* There is room for the link in last_shares. */
static int add_share(struct choosing *choosing, uint32_t group, uint32_t link, int64_t value, struct error *err)
{
    struct last_share *last = &choosing->last_shares.items[link];
    uint64_t n_saturated = 0;
    struct share *share;

    if (last->row != choosing->facts->n_rows || last->group != group) {
        if (find_share(choosing, group, link, &last->place, err) < 0)
            return -1;
        last->row = choosing->facts->n_rows;
        last->group = group;
    }
    share = &choosing->shares.items[last->place];
    share->value = value_add(share->value, value, &n_saturated);
    return 0;
}

/* Room for the links of a row, and for those without. */
static int reserve_links(struct choosing *choosing, uint32_t n_links, struct error *err)
{
    while (choosing->last_shares.n <= n_links) {
        struct last_share *last = VEC_PUSH(&choosing->last_shares, UINT32_MAX, err);

        if (!last)
            return -1;
        *last = (struct last_share){ 0 };
    }
    return 0;
}

/* Samples `from` up to but without `until`, which have the same labels. */
static int share_run(struct choosing *choosing, uint32_t column, const struct headrow *row, const uint32_t *row_values,
                     uint32_t from, uint32_t until, struct error *err)
{
    bool has_links = choosing->options->kind == EXEMPLARS_SPANS && row->links;
    uint32_t values[ROWLABELS_MAX], group;

    for (uint32_t i = 0; i < choosing->options->n_by; i++)
        values[i] = row_values[i];
    if ((row->label_sets && rowlabels_overlay(choosing->labels, row->label_sets[from], values, err) < 0) ||
        find_group(choosing, values, &group, err) < 0)
        return -1;
    for (uint32_t i = from; i < until; i++)
        if (add_share(choosing, group, has_links ? row->links[i] : 0, row->values[(size_t)column * row->stride + i],
                      err) < 0)
            return -1;
    return 0;
}

static int share_row(struct choosing *choosing, const struct series_entry *entry, const struct headrow *row,
                     struct error *err)
{
    uint32_t values[ROWLABELS_MAX], group, until;

    for (uint32_t i = 0; i < choosing->options->n_by; i++)
        values[i] = entry->values[i];
    if (rowlabels_overlay(choosing->labels, row->label_set, values, err) < 0)
        return -1;
    if (!row->n_samples)
        return find_group(choosing, values, &group, err) < 0 ? -1 : add_share(choosing, group, 0, 0, err);
    for (uint32_t from = 0; from < row->n_samples; from = until) {
        for (until = from + 1;
             until < row->n_samples && (!row->label_sets || row->label_sets[until] == row->label_sets[from]);)
            until++;
        if (share_run(choosing, entry->column, row, values, from, until, err) < 0)
            return -1;
    }
    return 0;
}

static int add_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct choosing *choosing = context;
    struct candidate candidate = {
        .start_ns = row->start_ns, .duration_ns = row->duration_ns, .id = series->id, .sequence = row->sequence
    };

    if (find_series(choosing, series, &candidate.series, err) < 0)
        return -1;
    if (choosing->series.items[candidate.series].column == QUERYCOLUMNS_NONE)
        return 0;
    count_row(choosing->facts, row->duration_ns);
    map_clear(&choosing->share_places);
    choosing->shares.n = 0;
    if (reserve_links(choosing, row->n_links, err) < 0 ||
        share_row(choosing, &choosing->series.items[candidate.series], row, err) < 0)
        return -1;
    VEC_EACH (&choosing->shares, share) {
        candidate.value = share->value;
        candidate.link = share->link ? row->link_table[share->link - 1] : (struct link){ 0 };
        if (offer(choosing, series, share->group, &candidate, err) < 0)
            return -1;
    }
    return 0;
}

/* --- reading --- */

static bool has_labels(void *context, const struct seriesinfo *series)
{
    struct choosing *choosing = context;
    bool has = rowlabels_are_of_series(choosing->labels, series);

    choosing->has_others |= !has;
    return has;
}

static bool lacks_labels(void *context, const struct seriesinfo *series)
{
    const struct choosing *choosing = context;

    return !rowlabels_are_of_series(choosing->labels, series);
}

static int look_for_columns(void *context, struct slice name, struct slice value, struct error *err)
{
    struct choosing *choosing = context;
    bool is_asked = false;

    if (!choosing->has_columns && value.len && rowlabels_is_asked(choosing->labels, name, &is_asked, err) < 0)
        return -1;
    choosing->has_columns |= is_asked;
    return 0;
}

static int names_begin(void *context, struct names *names, struct error *err)
{
    const struct choosing *choosing = context;

    return rowlabels_names(choosing->labels, names, err);
}

static int read_spans(struct choosing *choosing, struct engine *engine, struct error *err)
{
    struct query query = *choosing->query;
    struct store_ids ids = query.ids ? *query.ids : (struct store_ids){ 0 };

    ids.is_of_span = true;
    query.ids = &ids;
    return engine_read_rows(engine, &query,
                            &(struct store_sink){ choosing, names_begin, add_row, &choosing->facts->reads }, err);
}

static int read_profiles(struct choosing *choosing, struct engine *engine, struct error *err)
{
    const struct query *query = choosing->query;
    struct query everything = *query;
    struct store_window_sink windows = { choosing, add_windows, false };
    struct store_reads *reads = &choosing->facts->reads;

    if (engine_read_windows_of(engine, query, &(struct engine_choice){ has_labels, choosing }, &windows, reads, err) <
        0)
        return -1;
    if (!choosing->has_others)
        return 0;
    everything.selector = NULL; /* without both a look into the dictionary is enough */
    everything.ids = NULL;
    if (engine_read_column_labels(engine, &everything, look_for_columns, choosing, err) < 0)
        return -1;
    if (!choosing->has_columns)
        return engine_read_windows_of(engine, query, &(struct engine_choice){ lacks_labels, choosing }, &windows, reads,
                                      err);
    return engine_read_rows_of(engine, query, &(struct engine_choice){ lacks_labels, choosing },
                               &(struct store_sink){ choosing, names_begin, add_row, reads }, err);
}

/* --- the answer --- */

static int by_point(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

static int compare_values(const struct slice *a, const struct slice *b, uint32_t n)
{
    int order = 0;

    for (uint32_t i = 0; i < n && !order; i++)
        order = slice_compare(a[i], b[i]);
    return order;
}

static int by_values(const void *a, const void *b, void *n)
{
    const struct exemplars_group *x = a, *y = b;

    return compare_values(x->values, y->values, *(const uint32_t *)n);
}

static struct exemplar exemplar_of(const struct choosing *choosing, const struct cell *cell,
                                   const struct candidate *candidate)
{
    struct rowid row = { rowid_hour(candidate->start_ns), candidate->id, candidate->sequence };
    struct exemplar exemplar = { .point = cell->point,
                                 .start_ns = candidate->start_ns,
                                 .duration_ns = candidate->duration_ns,
                                 .value = candidate->value,
                                 .series = choosing->series.items[candidate->series].text };

    rowid_encode(&row, exemplar.profile_id);
    memcpy(exemplar.span_id, candidate->link.span_id, sizeof(exemplar.span_id));
    memcpy(exemplar.trace_id, candidate->link.trace_id, sizeof(exemplar.trace_id));
    return exemplar;
}

/* The group of some cells, which stand together. */
static int fill_group(struct choosing *choosing, const struct cell *cells, size_t n, struct exemplars_group *ret_group,
                      struct error *err)
{
    const uint32_t *values = choosing->groups.items[cells[0].group].values;
    uint32_t n_by = choosing->options->n_by;
    size_t n_items = 0;

    for (size_t i = 0; i < n; i++)
        n_items += cells[i].n;
    *ret_group = (struct exemplars_group){ .values = take(choosing, n_by, sizeof(struct slice), err) };
    ret_group->items = ret_group->values ? take(choosing, n_items, sizeof(struct exemplar), err) : NULL;
    if (!ret_group->items)
        return -1;
    for (uint32_t i = 0; i < n_by; i++) {
        struct slice text = rowlabels_text(choosing->labels, values[i]);
        char *copy = take(choosing, text.len, 1, err);

        if (!copy)
            return -1;
        if (text.len)
            memcpy(copy, text.ptr, text.len);
        ret_group->values[i] = slice_of(copy, text.len);
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < cells[i].n; k++)
            ret_group->items[ret_group->n++] = exemplar_of(choosing, &cells[i], &cells[i].best[k]);
    return 0;
}

/* What is chosen stays in the arena, which the answer takes over. */
static int make_answer(struct choosing *choosing, struct exemplars *answer, struct error *err)
{
    const struct cell *cells = choosing->cells.items;
    uint32_t n_by = choosing->options->n_by;
    size_t end;

    answer->groups = take(choosing, choosing->groups.n, sizeof(*answer->groups), err);
    if (!answer->groups)
        return -1;
    if (choosing->cells.n)
        qsort(choosing->cells.items, choosing->cells.n, sizeof(*cells), by_point);
    for (size_t i = 0; i < choosing->cells.n; i = end) {
        for (end = i + 1; end < choosing->cells.n && cells[end].group == cells[i].group;)
            end++;
        if (fill_group(choosing, &cells[i], end - i, &answer->groups[answer->n_groups], err) < 0)
            return -1;
        answer->n_groups++;
    }
    if (answer->n_groups)
        qsort_r(answer->groups, answer->n_groups, sizeof(*answer->groups), by_values, &n_by);
    return 0;
}

static int choose(struct choosing *choosing, struct engine *engine, struct exemplars *answer, struct error *err)
{
    int64_t begun_ns = clock_mono_ns();

    if ((choosing->options->kind == EXEMPLARS_SPANS ? read_spans(choosing, engine, err)
                                                    : read_profiles(choosing, engine, err)) < 0)
        return -1;
    choosing->facts->read_ns = clock_mono_ns() - begun_ns;
    return make_answer(choosing, answer, err);
}

static int run(struct engine *engine, struct choosing *choosing, struct exemplars *answer, struct error *err)
{
    int result = -1;

    arena_init(&choosing->arena, 0);
    hash_set_init(&choosing->series_seen, 0);
    hash_set_init(&choosing->groups_seen, 0);
    hash_set_init(&choosing->cells_seen, 0);
    map_init(&choosing->share_places, 0);
    buffer_init(&choosing->text, 0);
    if (rowlabels_new(choosing->options->by, choosing->options->n_by, choosing->max_bytes / 4, &choosing->labels,
                      err) == 0 &&
        engine_enter(engine, choosing->query, false, err) == 0) {
        result = choose(choosing, engine, answer, err);
        engine_leave(engine, false);
    }
    hash_set_done(&choosing->series_seen);
    hash_set_done(&choosing->groups_seen);
    hash_set_done(&choosing->cells_seen);
    map_done(&choosing->share_places);
    buffer_done(&choosing->text);
    VEC_DONE(&choosing->series);
    VEC_DONE(&choosing->groups);
    VEC_DONE(&choosing->cells);
    VEC_DONE(&choosing->shares);
    VEC_DONE(&choosing->last_shares);
    rowlabels_free(choosing->labels);
    answer->arena = choosing->arena;
    return result;
}

int exemplars_new(struct engine *engine, const struct query *query, const struct exemplars_options *options,
                  struct exemplars **ret_exemplars, struct query_facts *ret_facts, struct error *err)
{
    AUTO(exemplars_freep) struct exemplars *answer = NULL;
    struct query_facts facts = { .is_level = engine_is_level(query->type), .n_threads = 1 };
    struct choosing choosing = {
        .query = query, .options = options, .facts = &facts, .max_bytes = engine_query_bytes(engine)
    };
    uint32_t n_points;

    if (points_count(query, options->step_ns, &n_points, err) < 0)
        return -1;
    if (!options->n_per_point || options->n_per_point > EXEMPLARS_MAX_PER_POINT)
        return error_set(err, ERR_INVALID, "%u exemplars for each point: 1 to %u are allowed", options->n_per_point,
                         EXEMPLARS_MAX_PER_POINT);
    answer = MEMORY_NEW(struct exemplars, err);
    if (!answer || run(engine, &choosing, answer, err) < 0)
        return -1;
    *ret_facts = facts;
    *ret_exemplars = TAKE(answer);
    return 0;
}

void exemplars_free(struct exemplars *exemplars)
{
    if (!exemplars)
        return;
    arena_done(&exemplars->arena);
    memory_free(exemplars);
}

void exemplars_freep(struct exemplars **exemplars)
{
    exemplars_free(*exemplars);
}

/* --- looking --- */

const struct exemplars_group *exemplars_find(const struct exemplars *exemplars, const struct slice *values,
                                             uint32_t n_values)
{
    uint32_t low = 0, high = exemplars->n_groups;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_values(exemplars->groups[middle].values, values, n_values);

        if (order == 0)
            return &exemplars->groups[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct exemplar *exemplars_at(const struct exemplars_group *group, uint32_t point, uint32_t *ret_n)
{
    uint32_t low = 0, high = group->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (group->items[middle].point < point)
            low = middle + 1;
        else
            high = middle;
    }
    for (*ret_n = 0; low + *ret_n < group->n && group->items[low + *ret_n].point == point;)
        ++*ret_n;
    return group->items + low;
}

bool exemplars_is_before(const struct exemplar *a, const struct exemplar *b)
{
    int order;

    if (a->value != b->value)
        return a->value > b->value;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    order = memcmp(a->profile_id, b->profile_id, sizeof(a->profile_id));
    if (!order)
        order = memcmp(a->span_id, b->span_id, sizeof(a->span_id));
    return order ? order < 0 : memcmp(a->trace_id, b->trace_id, sizeof(a->trace_id)) < 0;
}
