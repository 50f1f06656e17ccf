// SPDX-License-Identifier: Apache-2.0
/* Asking: the series of a query become tracks on a grid, which are given their points day by day and hour by hour, in the
 * order of time; series that belong together share a cell. */
#include "base/vec.h"
#include "metric/metricgrid.h"
#include "metric/metricread.h"
#include "metric/metricseries.h"

#include <math.h>
#include <stdlib.h>

#define MEMORY_DEFAULT ((size_t)64 << 20)
#define TRACKS_MAX     1000000u
#define CHECK_EACH     64u /* tracks between two looks at whether anybody still waits */

const char *metricstore_statistic_name(enum metricstore_statistic statistic)
{
    static const char *const names[] = { [METRICSTORE_VALUE] = "value",
                                         [METRICSTORE_RATE] = "rate",
                                         [METRICSTORE_MEAN] = "mean",
                                         [METRICSTORE_P50] = "p50",
                                         [METRICSTORE_P99] = "p99" };

    return names[statistic];
}

/* Series that are added up. */
struct group {
    struct metric_series about; /* the first one; its labels are those that all have alike */
    struct metric_label *labels;
    struct slice by[METRICSTORE_MAX_BY]; /* values */
    struct metricgrid_cell cell;
};

struct tracked {
    uint64_t number;
    struct metricgrid_track track;
};

/* One series of a day: which track it is. */
struct present {
    uint64_t number;
    uint32_t track;
};

struct asking {
    struct metricstore *store;
    struct slice tenant;
    const struct metricstore_query *query;
    const struct metricstore_asker *asker;
    struct metricgrid grid;
    struct arena work, scratch, hour; /* for all of it; for a moment; for an hour */
    struct hash_set keys;             /* of groups */
    VEC(struct group *) groups;
    struct map numbers; /* of series -> track */
    VEC(struct tracked) tracks;
    VEC(struct present) present; /* on the day being read */
    bool is_cut;
};

static int check_asker(const struct metricstore_asker *asker, struct error *err)
{
    return asker && asker->check ? asker->check(asker->context, err) : 0;
}

/* --- groups --- */

static bool is_asked_for(const struct metricstore_query *query, const struct metric_series *series)
{
    for (size_t i = 0; i < query->n_names; i++)
        if (slice_equal(query->names[i], series->name))
            return true;
    return query->n_names == 0;
}

static struct hash128 fold_text(struct hash128 hash, struct slice text)
{
    struct hash128 of_text = hash_bytes(text, 0);

    return hash_fold(hash, of_text.a, of_text.b);
}

/* What a group is known by. */
static struct hash128 key_of(const struct metricstore_query *query, const struct metric_series *series)
{
    struct hash128 key = hash_bytes(metricseries_label(series, METRICSERIES_SERVICE), series->kind);

    key = fold_text(key, series->name);
    key = fold_text(key, series->unit);
    key = hash_fold(key, series->is_monotonic, 0);
    for (size_t i = 0; i < query->n_by; i++)
        key = fold_text(key, metricseries_label(series, query->by[i]));
    return key;
}

static int copy_text(struct arena *arena, struct slice text, struct slice *ret_copy, struct error *err)
{
    *ret_copy = arena_copy(arena, text, err);
    return ret_copy->ptr ? 0 : -1;
}

static int copy_labels(struct arena *arena, const struct metric_series *series, struct metric_label **ret_labels,
                       struct error *err)
{
    struct metric_label *labels = ARENA_ARRAY(arena, struct metric_label, series->n_labels, err);

    if (!labels)
        return -1;
    for (uint32_t i = 0; i < series->n_labels; i++)
        if (copy_text(arena, series->labels[i].key, &labels[i].key, err) < 0 ||
            copy_text(arena, series->labels[i].value, &labels[i].value, err) < 0)
            return -1;
    *ret_labels = labels;
    return 0;
}

static int make_group(struct asking *a, const struct metric_series *series, struct group **ret_group, struct error *err)
{
    struct group *group = ARENA_NEW(&a->work, struct group, err);
    struct group **place;

    if (!group)
        return -1;
    group->about = *series;
    if (copy_text(&a->work, series->name, &group->about.name, err) < 0 ||
        copy_text(&a->work, series->unit, &group->about.unit, err) < 0 ||
        copy_labels(&a->work, series, &group->labels, err) < 0)
        return -1;
    group->about.labels = group->labels;
    for (size_t i = 0; i < a->query->n_by; i++)
        group->by[i] = metricseries_label(&group->about, a->query->by[i]);
    if (metricgrid_cell_init(&group->cell, &a->grid, metricgrid_kind_of(series), err) < 0)
        return -1;
    place = VEC_PUSH(&a->groups, METRICSTORE_MAX_LINES, err);
    if (!place)
        return -1;
    *place = *ret_group = group;
    return 0;
}

/* Labels that another series does not have, or has otherwise, are none of the group. */
static void narrow_labels(struct group *group, const struct metric_series *series)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < group->about.n_labels; i++)
        if (slice_equal(metricseries_label(series, group->labels[i].key), group->labels[i].value))
            group->labels[n++] = group->labels[i];
    group->about.n_labels = n;
}

/* NULL in `*ret_group` if there are too many. */
static int find_group(struct asking *a, const struct metric_series *series, struct group **ret_group, struct error *err)
{
    struct hash128 key = key_of(a->query, series);
    uint32_t id = hash_set_find(&a->keys, key);
    bool is_new;

    *ret_group = NULL;
    if (id != HASH_NONE) {
        *ret_group = a->groups.items[id];
        narrow_labels(*ret_group, series);
        return 0;
    }
    if (a->groups.n == METRICSTORE_MAX_LINES) {
        a->is_cut = true;
        return 0;
    }
    if (hash_set_add(&a->keys, key, &id, &is_new, err) < 0)
        return -1;
    return make_group(a, series, ret_group, err);
}

/* --- tracks --- */

static int make_track(struct asking *a, uint64_t number, const struct metric_series *series, uint32_t *ret_track,
                      struct error *err)
{
    struct group *group;
    struct tracked *tracked;

    *ret_track = UINT32_MAX;
    if (find_group(a, series, &group, err) < 0)
        return -1;
    if (!group)
        return 0;
    tracked = VEC_PUSH(&a->tracks, TRACKS_MAX, err);
    if (!tracked)
        return -1;
    *tracked = (struct tracked){ .number = number, .track = metricgrid_track_of(series, &group->cell) };
    *ret_track = (uint32_t)(a->tracks.n - 1);
    return map_set(&a->numbers, number, *ret_track, err);
}

static int note_series(void *context, uint64_t number, const struct metric_series *series, struct error *err)
{
    struct asking *a = context;
    const uint32_t *known = map_find(&a->numbers, number);
    struct present *present;
    uint32_t track;

    if (!is_asked_for(a->query, series))
        return 0;
    if (known)
        track = *known;
    else if (make_track(a, number, series, &track, err) < 0)
        return -1;
    if (track == UINT32_MAX)
        return 0;
    present = VEC_PUSH(&a->present, TRACKS_MAX, err);
    if (!present)
        return -1;
    *present = (struct present){ number, track };
    return 0;
}

static int compare_present(const void *a, const void *b)
{
    const struct present *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* --- points --- */

static int read_series(struct asking *a, struct metricread_hour *hour, const struct present *present, struct error *err)
{
    struct metricgrid_track *track = &a->tracks.items[present->track].track;
    struct metric_point *points;
    size_t n;

    arena_reset(&a->hour);
    if (metricread_points(hour, present->number, a->query->from_ns - METRICGRID_BEFORE_NS, a->query->until_ns, &a->hour,
                          &points, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        arena_reset(&a->scratch);
        if (metricgrid_add(&a->grid, track, &points[i], &a->scratch, err) < 0)
            return -1;
    }
    return 0;
}

static int read_hour(struct asking *a, const struct hourly_view *view, uint8_t number, struct error *err)
{
    struct metricread_hour hour;
    int result;

    arena_reset(&a->scratch);
    result = metricread_hour_open(&hour, a->store, view, number, a->tenant, &a->work, err);
    for (size_t i = 0; result == 0 && hour.n > 0 && i < a->present.n; i++) {
        if (i % CHECK_EACH == 0)
            result = check_asker(a->asker, err);
        if (result == 0)
            result = read_series(a, &hour, &a->present.items[i], err);
    }
    metricread_hour_close(&hour);
    return result;
}

static int read_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct asking *a = context;
    int64_t from_ns = a->query->from_ns - METRICGRID_BEFORE_NS;

    a->present.n = 0;
    if (check_asker(a->asker, err) < 0 ||
        metricread_each_series(a->store, view, a->tenant, a->query->service, &a->scratch, note_series, a, err) < 0)
        return -1;
    if (a->present.n > 0)
        qsort(a->present.items, a->present.n, sizeof(*a->present.items), compare_present);
    for (uint8_t hour = 0; hour < 24; hour++) {
        int64_t begin_ns = view->start_ns + hour * HOURLY_HOUR_NS;

        if (begin_ns < a->query->until_ns && begin_ns + HOURLY_HOUR_NS > from_ns && a->present.n > 0 &&
            read_hour(a, view, hour, err) < 0)
            return -1;
    }
    return 0;
}

/* --- lines --- */

static int compare_labels(const struct group *a, const struct group *b)
{
    for (size_t i = 0; i < METRICSTORE_MAX_BY; i++) {
        int order = slice_compare(a->by[i], b->by[i]);

        if (order)
            return order;
    }
    return 0;
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    int order = slice_compare(metricseries_label(&x->about, METRICSERIES_SERVICE),
                              metricseries_label(&y->about, METRICSERIES_SERVICE));

    order = order ? order : slice_compare(x->about.name, y->about.name);
    order = order ? order : slice_compare(x->about.unit, y->about.unit);
    order = order ? order : x->about.kind - y->about.kind;
    order = order ? order : x->about.is_monotonic - y->about.is_monotonic;
    return order ? order : compare_labels(x, y);
}

static double statistic_of(const struct metrichistogram *step, enum metricstore_statistic statistic)
{
    switch (statistic) {
    case METRICSTORE_MEAN: return step->count > 0 ? step->sum / step->count : NAN;
    case METRICSTORE_P50: return metrichistogram_quantile(step, 0.5);
    case METRICSTORE_P99: return metrichistogram_quantile(step, 0.99);
    case METRICSTORE_VALUE:
    case METRICSTORE_RATE: break;
    }
    return NAN;
}

/* The points of a line, from `arena`; NULL without an error if there are none. */
static int make_points(const struct asking *a, const struct group *group, enum metricstore_statistic statistic,
                       struct arena *arena, double **ret_points, struct error *err)
{
    double *points = ARENA_ARRAY(arena, double, a->grid.n, err);
    bool has_points = false;

    if (!points)
        return -1;
    for (uint32_t i = 0; i < a->grid.n; i++) {
        bool is_own = statistic == METRICSTORE_VALUE || statistic == METRICSTORE_RATE;

        points[i] = is_own ? group->cell.values[i] : statistic_of(&group->cell.steps[i], statistic);
        has_points |= !isnan(points[i]);
    }
    *ret_points = has_points ? points : NULL;
    return 0;
}

static int add_line(const struct asking *a, const struct group *group, enum metricstore_statistic statistic,
                    struct arena *arena, struct metricstore_answer *answer, struct error *err)
{
    struct metricstore_line *line = &answer->lines[answer->n];
    struct metric_label *labels;
    double *points;

    if (make_points(a, group, statistic, arena, &points, err) < 0)
        return -1;
    if (!points)
        return 0;
    *line = (struct metricstore_line){
        .kind = group->about.kind, .statistic = statistic, .n_labels = group->about.n_labels, .points = points
    };
    if (copy_labels(arena, &group->about, &labels, err) < 0 ||
        copy_text(arena, group->about.name, &line->name, err) < 0 ||
        copy_text(arena, group->about.unit, &line->unit, err) < 0)
        return -1;
    line->labels = labels;
    answer->n++;
    return 0;
}

static int add_lines(const struct asking *a, const struct group *group, struct arena *arena,
                     struct metricstore_answer *answer, struct error *err)
{
    switch (metricgrid_kind_of(&group->about)) {
    case METRICGRID_LEVEL: return add_line(a, group, METRICSTORE_VALUE, arena, answer, err);
    case METRICGRID_RATE: return add_line(a, group, METRICSTORE_RATE, arena, answer, err);
    case METRICGRID_HISTOGRAM:
        for (enum metricstore_statistic s = METRICSTORE_RATE; s < METRICSTORE_STATISTIC_COUNT; s++)
            if (add_line(a, group, s, arena, answer, err) < 0)
                return -1;
        break;
    }
    return 0;
}

static int make_answer(struct asking *a, struct arena *arena, struct metricstore_answer *ret_answer, struct error *err)
{
    struct metricstore_answer answer = {
        .n_points = a->grid.n, .from_ns = a->grid.from_ns, .step_ns = a->grid.step_ns, .is_cut = a->is_cut
    };

    VEC_EACH (&a->tracks, tracked)
        metricgrid_finish(&a->grid, &tracked->track);
    if (a->groups.n > 0)
        qsort(a->groups.items, a->groups.n, sizeof(*a->groups.items), compare_groups);
    answer.lines = ARENA_ARRAY(arena, struct metricstore_line, a->groups.n * METRICSTORE_STATISTIC_COUNT, err);
    if (!answer.lines)
        return -1;
    VEC_EACH (&a->groups, group)
        if (add_lines(a, *group, arena, &answer, err) < 0)
            return -1;
    *ret_answer = answer;
    return 0;
}

/* --- the whole --- */

static int check_query(const struct metricstore_query *query, uint32_t *ret_n, struct error *err)
{
    int64_t range_ns, n, end_ns;

    if (query->from_ns < 0 || query->until_ns <= query->from_ns || query->step_ns <= 0)
        return error_set(err, ERR_INVALID, "the range ends before it begins, or its steps have no length");
    if (query->n_by > METRICSTORE_MAX_BY)
        return error_set(err, ERR_LIMIT, "%zu labels to group by; at most %u are allowed", query->n_by,
                         METRICSTORE_MAX_BY);
    range_ns = query->until_ns - query->from_ns;
    n = range_ns / query->step_ns + (range_ns % query->step_ns != 0);
    if (n > METRICSTORE_MAX_POINTS)
        return error_set(err, ERR_LIMIT,
                         "%lld points are asked for; at most %u are allowed: take steps of %llds or more", (long long)n,
                         METRICSTORE_MAX_POINTS, (long long)(range_ns / METRICSTORE_MAX_POINTS / 1000000000 + 1));
    if (__builtin_mul_overflow(n, query->step_ns, &end_ns) || __builtin_add_overflow(query->from_ns, end_ns, &end_ns))
        return error_set(err, ERR_INVALID, "the last step ends after the end of time; take shorter steps");
    *ret_n = (uint32_t)n;
    return 0;
}

static void asking_init(struct asking *a, size_t max_bytes)
{
    arena_init(&a->work, max_bytes);
    arena_init(&a->scratch, max_bytes);
    arena_init(&a->hour, max_bytes);
    hash_set_init(&a->keys, METRICSTORE_MAX_LINES);
    map_init(&a->numbers, TRACKS_MAX);
}

static void asking_done(struct asking *a)
{
    arena_done(&a->work);
    arena_done(&a->scratch);
    arena_done(&a->hour);
    hash_set_done(&a->keys);
    map_done(&a->numbers);
    VEC_DONE(&a->groups);
    VEC_DONE(&a->tracks);
    VEC_DONE(&a->present);
}

int metricstore_ask(struct metricstore *store, struct slice tenant, const struct metricstore_query *query,
                    const struct metricstore_asker *asker, struct arena *arena, struct metricstore_answer *ret_answer,
                    struct error *err)
{
    struct asking a = { .store = store, .tenant = tenant, .query = query, .asker = asker };
    size_t max_bytes = asker && asker->max_bytes ? asker->max_bytes : MEMORY_DEFAULT;
    int result;

    if (metricstore_check_tenant(tenant, err) < 0 || check_query(query, &a.grid.n, err) < 0)
        return -1;
    asking_init(&a, max_bytes);
    a.grid =
        (struct metricgrid){ .from_ns = query->from_ns, .step_ns = query->step_ns, .n = a.grid.n, .arena = &a.work };
    result = hourly_each_day(store->hourly, MAX(query->from_ns - METRICGRID_BEFORE_NS, 0), query->until_ns, false,
                             read_day, &a, err);
    if (result == 0)
        result = make_answer(&a, arena, ret_answer, err);
    else if (err->code == ERR_LIMIT)
        result = error_wrap(err, "the answer takes more than %zu MiB of memory; ask for fewer names, or longer steps",
                            max_bytes >> 20);
    asking_done(&a);
    return result;
}
