// SPDX-License-Identifier: Apache-2.0
/* The procedures of querier.v1 that look at time: series of values, and heatmaps.
 *
 * T1  A point at `ts` is of the profiles that began in (ts - step, ts]; points are at start, start + step and so on up to
 *     end. So the first one reaches back before start, and what began behind the last one is left out.
 *     A profile counts as begun at its whole millisecond, as the times of questions are.
 * T2  Labels that a profile type gives to its series (__profile_type__ and its parts) are the same for all groups. */
#include "answer/answer_internal.h"
#include "answer/querier_internal.h"
#include "label/labelrules.h"
#include "query/exemplars.h"
#include "query/heatmap.h"
#include "query/idtext.h"
#include "query/rowlabels.h"

#include <math.h>
#include <stdlib.h>

#define HEATMAP_BUCKETS    20
#define HEATMAP_MAX_GROUPS 100
#define MAX_STEP_SECONDS   1e9 /* some thirty years */
#define MS_NS              ((int64_t)1000000)

/* --- points --- */

struct stepping {
    struct query query; /* from the first point to the last (T1) */
    int64_t start_ms, step_ms;
};

static int read_step(double seconds, int64_t *ret_ms, struct error *err)
{
    if (!(seconds >= 0.001) || seconds > MAX_STEP_SECONDS)
        return error_set(err, ERR_INVALID, "step is %g; it is in seconds, from 0.001 to %g", seconds, MAX_STEP_SECONDS);
    *ret_ms = (int64_t)(seconds * 1e9) / QUERIER_NS_PER_MS;
    return 0;
}

/* Points before 1970 have nothing in them: the first one that can. */
static int64_t first_point_ms(int64_t start_ms, int64_t step_ms)
{
    int64_t rest = start_ms % step_ms;

    return start_ms >= 0 ? start_ms : rest + (rest < 0 ? step_ms : 0);
}

/* T1, in whole milliseconds from the first point on. */
static int step_through(struct stepping *stepping, double step, struct error *err)
{
    struct query *query = &stepping->query;
    int64_t step_ns = querier_ns(stepping->step_ms), first_ns = querier_ns(stepping->start_ms);
    int64_t n = (query->until_ns - 1 - first_ns) / step_ns;

    if (n >= POINTS_MAX)
        return error_set(err, ERR_INVALID,
                         "step is %g: that makes %lld points, at most %u are given; a step of %.0f would do", step,
                         (long long)n + 1, POINTS_MAX, ceil((double)n * (double)step_ns / 1e9 / (POINTS_MAX - 1)));
    query->from_ns = first_ns - step_ns + MS_NS;
    query->until_ns = first_ns + n * step_ns + MS_NS;
    return 0;
}

static int open_points(struct querier_call *call, const struct querier_request *request, struct stepping *stepping,
                       struct error *err)
{
    struct query *query = &stepping->query;

    if (querier_query(call, request, query, err) < 0 || read_step(request->step, &stepping->step_ms, err) < 0)
        return -1;
    stepping->start_ms = first_point_ms(request->start, stepping->step_ms);
    if (query->from_ns < query->until_ns && stepping->start_ms <= MIN(request->end, QUERIER_LATEST_MS))
        return step_through(stepping, request->step, err);
    query->until_ns = query->from_ns;
    return 0;
}

static int64_t point_ms(const struct stepping *stepping, uint32_t point)
{
    return stepping->start_ms + (int64_t)point * stepping->step_ms;
}

/* --- groups --- */

/* The labels to group by: those that the engine knows, and where each of them goes. */
struct grouping {
    struct slice *names; /* canonical, for the engine */
    uint32_t n;
    struct series_label *labels; /* of a group, in order of their names: fill_labels puts the values in */
    uint32_t n_labels;
    uint32_t *places; /* [n] of `names` in `labels` */
};

static int by_name(const void *a, const void *b)
{
    return slice_compare(((const struct series_label *)a)->name, ((const struct series_label *)b)->name);
}

/* In order of their names, each of them once. */
static uint32_t sort_labels(struct series_label *labels, uint32_t n)
{
    uint32_t kept = 0;

    if (n > 0)
        qsort(labels, n, sizeof(*labels), by_name);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || !slice_equal(labels[kept - 1].name, labels[i].name))
            labels[kept++] = labels[i];
    return kept;
}

static int open_grouping(struct querier_call *call, const struct querier_request *request, struct slice type,
                         struct grouping *grouping, struct error *err)
{
    uint32_t n = request->group_by.n;
    bool is_repaired;

    *grouping = (struct grouping){
        .names = ARENA_ARRAY(&call->arena, struct slice, n, err),
        .labels = ARENA_ARRAY(&call->arena, struct series_label, n, err),
        .places = ARENA_ARRAY(&call->arena, uint32_t, n, err),
    };
    if (!grouping->names || !grouping->labels || !grouping->places)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        grouping->labels[i].value = (struct slice){ 0 };
        if (labelrules_canonical(request->group_by.items[i], &call->arena, &grouping->labels[i].name, &is_repaired,
                                 err) < 0)
            return -1;
    }
    grouping->n_labels = sort_labels(grouping->labels, n);
    for (uint32_t i = 0; i < grouping->n_labels; i++) {
        grouping->labels[i].value = querier_type_label(type, grouping->labels[i].name);
        if (grouping->labels[i].value.ptr)
            continue;
        grouping->places[grouping->n] = i;
        grouping->names[grouping->n++] = grouping->labels[i].name;
    }
    if (grouping->n > ROWLABELS_MAX)
        return error_set(err, ERR_INVALID, "group_by has %u labels; at most %d are allowed", grouping->n,
                         ROWLABELS_MAX);
    return 0;
}

static void write_group_labels(struct rpcwriter *writer, const struct grouping *grouping, const struct slice *values)
{
    for (uint32_t i = 0; i < grouping->n; i++)
        grouping->labels[grouping->places[i]].value = values[i];
    querier_write_labels(writer, 1, "labels", grouping->labels, grouping->n_labels);
}

static bool is_grouped_by(const struct grouping *grouping, struct slice name)
{
    for (uint32_t i = 0; i < grouping->n_labels; i++)
        if (slice_equal(grouping->labels[i].name, name))
            return true;
    return false;
}

static uint32_t limit_of(const struct querier_request *request)
{
    return request->limit <= 0 ? 0 : (uint32_t)MIN(request->limit, (int64_t)UINT32_MAX);
}

/* --- exemplars --- */

/* One profile or span, as both kinds of answers have it. */
struct shown_exemplar {
    int64_t start_ns, value;
    const uint8_t *profile_id, *span_id, *trace_id;
    struct slice series; /* as a selector */
};

static int write_series_labels(struct querier_call *call, const struct grouping *grouping, struct slice series,
                               struct error *err)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct series_label *labels;
    uint32_t n, kept = 0;

    if (selector_new(series, &selector, err) < 0 || selector_labels(selector, &call->arena, &labels, &n, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (!is_grouped_by(grouping, labels[i].name))
            labels[kept++] = labels[i];
    querier_write_labels(&call->writer, 5, "labels", labels, kept);
    return 0;
}

static int write_exemplar(struct querier_call *call, const struct grouping *grouping,
                          const struct shown_exemplar *exemplar, struct error *err)
{
    struct rpcwriter *writer = &call->writer;
    struct idtext id = idtext_of_profile(exemplar->profile_id);
    int64_t ms = exemplar->start_ns / QUERIER_NS_PER_MS;

    rpcwriter_begin(writer, 4, NULL);
    rpcwriter_int64(writer, 1, "timestamp", ms);
    rpcwriter_text(writer, 2, "profileId", slice_from(id.text));
    if (idtext_is_there(exemplar->span_id, IDTEXT_SPAN_BYTES)) {
        id = idtext_of_span(exemplar->span_id);
        rpcwriter_text(writer, 3, "spanId", slice_from(id.text));
    }
    rpcwriter_int64(writer, 4, "value", exemplar->value);
    if (write_series_labels(call, grouping, exemplar->series, err) < 0)
        return -1;
    if (idtext_is_there(exemplar->trace_id, IDTEXT_TRACE_BYTES)) {
        id = idtext_of_trace(exemplar->trace_id);
        rpcwriter_text(writer, 6, "traceId", slice_from(id.text));
    }
    rpcwriter_end(writer);
    return 0;
}

/* --- SelectSeries --- */

struct series_answer {
    struct stepping stepping;
    struct grouping grouping;
    struct timeseries *series;
    struct exemplars *exemplars; /* NULL = not asked for */
};

static int write_point_exemplars(struct querier_call *call, struct series_answer *answer,
                                 const struct exemplars_group *group, uint32_t point, struct error *err)
{
    uint32_t n = 0;
    const struct exemplar *items = group ? exemplars_at(group, point, &n) : NULL;

    if (n == 0)
        return 0;
    rpcwriter_list_begin(&call->writer, "exemplars");
    for (uint32_t i = 0; i < n; i++) {
        struct shown_exemplar shown = { items[i].start_ns, items[i].value,    items[i].profile_id,
                                        items[i].span_id,  items[i].trace_id, items[i].series };

        if (write_exemplar(call, &answer->grouping, &shown, err) < 0)
            return -1;
    }
    rpcwriter_list_end(&call->writer);
    return 0;
}

static int write_group(struct querier_call *call, struct series_answer *answer, const struct timeseries_group *group,
                       struct error *err)
{
    const struct exemplars_group *exemplars =
        answer->exemplars ? exemplars_find(answer->exemplars, group->values, answer->grouping.n) : NULL;
    struct rpcwriter *writer = &call->writer;

    rpcwriter_begin(writer, 1, NULL);
    write_group_labels(writer, &answer->grouping, group->values);
    rpcwriter_list_begin(writer, "points");
    for (uint32_t i = 0; i < answer->series->n_points; i++) {
        if (!group->has_rows[i])
            continue;
        rpcwriter_begin(writer, 2, NULL);
        rpcwriter_double(writer, 1, "value", group->points[i]);
        rpcwriter_int64(writer, 2, "timestamp", point_ms(&answer->stepping, i));
        if (write_point_exemplars(call, answer, exemplars, i, err) < 0)
            return -1;
        rpcwriter_end(writer);
    }
    rpcwriter_list_end(writer);
    rpcwriter_end(writer);
    return 0;
}

static int write_series(struct querier_call *call, struct series_answer *answer, struct error *err)
{
    if (answer->series->n_groups == 0)
        return 0;
    rpcwriter_list_begin(&call->writer, "series");
    for (uint32_t i = 0; i < answer->series->n_groups; i++)
        if (write_group(call, answer, &answer->series->groups[i], err) < 0)
            return -1;
    rpcwriter_list_end(&call->writer);
    return 0;
}

static int find_series(struct querier_call *call, const struct querier_request *request, struct series_answer *answer,
                       struct error *err)
{
    int64_t step_ns = querier_ns(answer->stepping.step_ms);
    struct timeseries_options options = { .kind = TIMESERIES_SUM,
                                          .step_ns = step_ns,
                                          .by = answer->grouping.names,
                                          .n_by = answer->grouping.n,
                                          .top = limit_of(request) };
    struct exemplars_options chosen = { .kind = EXEMPLARS_PROFILES,
                                        .step_ns = step_ns,
                                        .by = answer->grouping.names,
                                        .n_by = answer->grouping.n,
                                        .n_per_point = 1 };
    struct query_facts facts;

    if (timeseries_new(call->answer->engine, &answer->stepping.query, &options, &answer->series, &facts, err) < 0)
        return -1;
    if (request->exemplars != QUERIER_EXEMPLARS_INDIVIDUAL)
        return 0;
    return exemplars_new(call->answer->engine, &answer->stepping.query, &chosen, &answer->exemplars, &facts, err);
}

static int check_series_exemplars(const struct querier_request *request, struct error *err)
{
    if (request->exemplars == QUERIER_EXEMPLARS_SPAN)
        return error_set(err, ERR_UNSUPPORTED,
                         "exemplar_type EXEMPLAR_TYPE_SPAN is for SelectHeatmap; series have EXEMPLAR_TYPE_INDIVIDUAL");
    if (request->exemplars < 0 || request->exemplars > QUERIER_EXEMPLARS_SPAN)
        return error_set(err, ERR_INVALID,
                         "exemplar_type is %d; it can be EXEMPLAR_TYPE_NONE (1) or EXEMPLAR_TYPE_INDIVIDUAL (2)",
                         request->exemplars);
    return 0;
}

/* Always sums, whatever the aggregation, as Pyroscope's second storage does. */
static int answer_select_series(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    struct series_answer answer = { 0 };
    int result;

    if (check_series_exemplars(request, err) < 0 || open_points(call, request, &answer.stepping, err) < 0 ||
        querier_call_site(call, request, &answer.stepping.query.filter, err) < 0 ||
        open_grouping(call, request, answer.stepping.query.type, &answer.grouping, err) < 0)
        return -1;
    result = find_series(call, request, &answer, err);
    if (result == 0)
        result = write_series(call, &answer, err);
    timeseries_free(answer.series);
    exemplars_free(answer.exemplars);
    return result;
}

/* --- SelectHeatmap --- */

struct heatmap_answer {
    struct stepping stepping;
    struct grouping grouping;
    struct heatmap_options options;
    bool has_exemplars;
};

/* The nearest of 64 bits: as a double, the largest of them is one that they do not have. */
static int64_t whole(double value)
{
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static int write_slot_exemplars(struct querier_call *call, const struct heatmap_answer *answer,
                                const struct heatmap *map, uint32_t point, struct error *err)
{
    size_t first = (size_t)point * map->n_buckets;

    rpcwriter_list_begin(&call->writer, "exemplars");
    for (uint32_t i = 0; i < map->n_buckets; i++) {
        const struct heatmap_exemplar *exemplar = &map->exemplars[first + i];
        struct shown_exemplar shown;

        if (map->counts[first + i] == 0)
            continue;
        shown =
            (struct shown_exemplar){ exemplar->start_ns,     whole(exemplar->value),  exemplar->profile_id,
                                     exemplar->link.span_id, exemplar->link.trace_id, map->series[exemplar->series] };
        if (write_exemplar(call, &answer->grouping, &shown, err) < 0)
            return -1;
    }
    rpcwriter_list_end(&call->writer);
    return 0;
}

static int write_slot(struct querier_call *call, const struct heatmap_answer *answer, const struct heatmap *map,
                      uint32_t point, struct error *err)
{
    const uint32_t *counts = map->counts + (size_t)point * map->n_buckets;
    int32_t written[HEATMAP_BUCKETS];
    double y_min[HEATMAP_BUCKETS];
    uint64_t n = 0;

    for (uint32_t i = 0; i < map->n_buckets; i++) {
        n += counts[i];
        written[i] = (int32_t)MIN(counts[i], (uint32_t)INT32_MAX);
        y_min[i] = trunc(map->borders[i]);
    }
    if (n == 0)
        return 0;
    rpcwriter_begin(&call->writer, 2, NULL);
    rpcwriter_int64(&call->writer, 1, "timestamp", point_ms(&answer->stepping, point));
    rpcwriter_doubles(&call->writer, 2, "yMin", y_min, map->n_buckets);
    rpcwriter_int32s(&call->writer, 3, "counts", written, map->n_buckets);
    if (answer->has_exemplars && write_slot_exemplars(call, answer, map, point, err) < 0)
        return -1;
    rpcwriter_end(&call->writer);
    return 0;
}

/* `values` are those of the labels grouped by. */
static int write_heatmap(struct querier_call *call, const struct heatmap_answer *answer, const struct heatmap *map,
                         const struct slice *values, struct error *err)
{
    rpcwriter_begin(&call->writer, 1, NULL);
    write_group_labels(&call->writer, &answer->grouping, values);
    rpcwriter_list_begin(&call->writer, "slots");
    for (uint32_t point = 0; point < map->n_points; point++)
        if (write_slot(call, answer, map, point, err) < 0)
            return -1;
    rpcwriter_list_end(&call->writer);
    rpcwriter_end(&call->writer);
    return 0;
}

/* What the selector chooses of one group. */
static int narrow(const struct query *query, const struct grouping *grouping, const struct slice *values,
                  struct selector **ret_selector, struct error *err)
{
    AUTO(selector_freep) struct selector *selector = NULL;

    for (uint32_t i = 0; i < grouping->n; i++) {
        struct selector *narrowed;

        if (selector_new_narrowed(selector ? selector : query->selector, query->type,
                                  &(struct series_label){ grouping->names[i], values[i] }, &narrowed, err) < 0)
            return -1;
        selector_free(selector);
        selector = narrowed;
    }
    *ret_selector = TAKE(selector);
    return 0;
}

static int answer_group(struct querier_call *call, struct heatmap_answer *answer, const struct heatmap *whole,
                        const struct slice *values, struct error *err)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    AUTO(heatmap_freep) struct heatmap *map = NULL;
    struct query query = answer->stepping.query;
    struct heatmap_options options = answer->options;
    struct query_facts facts;

    if (narrow(&query, &answer->grouping, values, &selector, err) < 0)
        return -1;
    query.selector = selector;
    options.borders = whole->borders;
    options.n_buckets = whole->n_buckets;
    if (heatmap_new(call->answer->engine, &query, &options, &map, &facts, err) < 0)
        return -1;
    return write_heatmap(call, answer, map, values, err);
}

/* A map for each group, all with the buckets of the whole. */
static int answer_groups(struct querier_call *call, const struct querier_request *request,
                         struct heatmap_answer *answer, const struct heatmap *whole, struct error *err)
{
    AUTO(timeseries_freep) struct timeseries *groups = NULL;
    uint32_t limit = limit_of(request);
    struct timeseries_options options = { .kind = TIMESERIES_SUM,
                                          .step_ns = answer->options.step_ns,
                                          .by = answer->grouping.names,
                                          .n_by = answer->grouping.n,
                                          .top = limit };
    struct query_facts facts;

    if (timeseries_new(call->answer->engine, &answer->stepping.query, &options, &groups, &facts, err) < 0)
        return -1;
    if (groups->n_groups > HEATMAP_MAX_GROUPS)
        return error_set(err, ERR_INVALID,
                         "group_by makes %u heatmaps, and at most %d are given: group by fewer labels, or set limit",
                         groups->n_groups + groups->n_left_out, HEATMAP_MAX_GROUPS);
    for (uint32_t i = 0; i < groups->n_groups; i++)
        if (answer_group(call, answer, whole, groups->groups[i].values, err) < 0)
            return -1;
    return 0;
}

static int open_heatmap(struct querier_call *call, const struct querier_request *request, struct heatmap_answer *answer,
                        struct error *err)
{
    bool is_of_spans = request->heatmap == QUERIER_HEATMAP_SPAN;
    int32_t fitting = is_of_spans ? QUERIER_EXEMPLARS_SPAN : QUERIER_EXEMPLARS_INDIVIDUAL;

    if (request->heatmap < 0 || request->heatmap > QUERIER_HEATMAP_SPAN)
        return error_set(err, ERR_INVALID,
                         "query_type is %d; it can be HEATMAP_QUERY_TYPE_INDIVIDUAL (1) or HEATMAP_QUERY_TYPE_SPAN (2)",
                         request->heatmap);
    if (request->exemplars != QUERIER_EXEMPLARS_UNSPECIFIED && request->exemplars != QUERIER_EXEMPLARS_NONE &&
        request->exemplars != fitting)
        return error_set(err, ERR_INVALID, "exemplar_type is %d, but with this query_type it can be %d, or 1 for none",
                         request->exemplars, fitting);
    if (request->limit < 0)
        return error_set(err, ERR_INVALID, "limit is %lld; it is the number of heatmaps, or 0 for all",
                         (long long)request->limit);
    if (open_points(call, request, &answer->stepping, err) < 0 ||
        open_grouping(call, request, answer->stepping.query.type, &answer->grouping, err) < 0)
        return -1;
    if (request->start == request->end)
        return error_set(err, ERR_INVALID, "start and end are both %lld; a heatmap needs some time between them",
                         (long long)request->start);
    answer->has_exemplars = request->exemplars == fitting;
    answer->options = (struct heatmap_options){ .kind = is_of_spans ? HEATMAP_SPANS : HEATMAP_PROFILES,
                                                .step_ns = querier_ns(answer->stepping.step_ms),
                                                .n_buckets = HEATMAP_BUCKETS,
                                                .scale = HEATMAP_EQUAL,
                                                .is_plain = true };
    return 0;
}

static int answer_select_heatmap(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    AUTO(heatmap_freep) struct heatmap *whole = NULL;
    struct heatmap_answer answer = { 0 };
    struct query_facts facts;
    int result;

    if (open_heatmap(call, request, &answer, err) < 0 ||
        heatmap_new(call->answer->engine, &answer.stepping.query, &answer.options, &whole, &facts, err) < 0)
        return -1;
    if (whole->n_buckets == 0)
        return 0;
    rpcwriter_list_begin(&call->writer, "series");
    result = answer.grouping.n == 0 ? write_heatmap(call, &answer, whole, NULL, err)
                                    : answer_groups(call, request, &answer, whole, err);
    rpcwriter_list_end(&call->writer);
    return result;
}

void querier_select_series(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_select_series, answer_select_series, false });
}

void querier_select_heatmap(struct exchange *exchange)
{
    querier_serve(exchange,
                  &(struct querier_procedure){ &queriermessage_select_heatmap, answer_select_heatmap, false });
}
