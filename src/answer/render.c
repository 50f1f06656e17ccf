// SPDX-License-Identifier: Apache-2.0
/* /render and /render-diff: flame graphs in the form that Pyroscope's pages and scripts read,
 *
 *     { "version": 1, "flamebearer": ..., "metadata": ..., "timeline": ..., "groups": ..., "heatmap": null }
 *
 * with the totals of both sides behind it in a diff, and what of it can be had as a graph for Graphviz or as pprof. */
#include "answer/answer_internal.h"
#include "answer/dot.h"
#include "answer/flamebearer.h"
#include "answer/querier_internal.h"
#include "answer/renderquery.h"
#include "answer/timeline.h"
#include "wire/format.h"
#include "wire/pprof.h"

#define MAX_WORK_BYTES  (256u << 20) /* of one answer, beside what the engine needs */
#define DOT_SOURCE      65536        /* nodes of the tree whose functions and calls are drawn */
#define GROUP_OF_NOBODY "*"          /* profiles without the label */

/* One request on its way. */
struct rendering {
    struct exchange *exchange;
    struct engine *engine;
    struct renderquery_request request;
    struct urlquery url;
    struct arena arena;
    struct buffer out;
};

/* --- parameters --- */

/* 0 = none was asked for: whatever is no number is as if not given. */
static int64_t asked_nodes(const struct rendering *r)
{
    int64_t asked = 0;

    if (!slice_to_i64(urlquery_get(&r->url, "max-nodes"), &asked) &&
        !slice_to_i64(urlquery_get(&r->url, "maxNodes"), &asked))
        return 0;
    return asked;
}

static bool is_format(const struct rendering *r, const char *format)
{
    return slice_is(urlquery_get(&r->url, "format"), format);
}

/* --- JSON --- */

/* How Pyroscope's pages show a sample type. */
static void put_metadata(struct json *json, const char *format, struct slice profile_type)
{
    static const char *const objects[] = { "inuse_objects", "alloc_objects", "goroutine", "samples" };
    struct slice type, unit;
    int64_t rate = 100;

    renderquery_type_parts(profile_type, &type, &unit);
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        if (slice_is(type, objects[i]))
            unit = SLICE("objects");
    if (slice_is(type, "cpu")) {
        unit = SLICE("samples");
        rate = 1000000000;
    }
    json_key(json, "metadata");
    json_object_begin(json);
    json_key(json, "format");
    json_text(json, format);
    json_key(json, "spyName");
    json_text(json, "");
    json_key(json, "sampleRate");
    json_int(json, rate);
    json_key(json, "units");
    json_string(json, unit);
    json_key(json, "name");
    json_string(json, type);
    json_object_end(json);
}

static void put_flamebearer(struct json *json, const struct flamebearer *bearer, struct slice profile_type)
{
    json_key(json, "version");
    json_int(json, 1);
    json_key(json, "flamebearer");
    flamebearer_write_json(bearer, json);
    put_metadata(json, bearer->is_diff ? "double" : "single", profile_type);
}

static void put_null(struct json *json, const char *key)
{
    json_key(json, key);
    json_null(json);
}

/* The label that timelines are grouped by; none if it has no name. */
struct grouping {
    struct slice label;
    struct slice of_type; /* what the profile type says of it: the same for all, and unknown to the engine. Or NULL */
};

static struct slice group_name(const struct grouping *grouping, const struct timeseries_group *group)
{
    struct slice name = grouping->of_type.ptr ? grouping->of_type : group->values[0];

    return name.len ? name : SLICE(GROUP_OF_NOBODY);
}

/* One timeline for each value of the label, where one was asked for; the timeline of all only if there is one group. */
static void put_timelines(struct json *json, const struct timeline *timeline, const struct timeseries *series,
                          const struct grouping *grouping)
{
    json_key(json, "timeline");
    timeline_write_json(timeline, series && series->n_groups == 1 ? series->groups[0].points : NULL, json);
    json_key(json, "groups");
    if (grouping->label.len == 0) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    for (uint32_t i = 0; series && i < series->n_groups; i++) {
        json_key_slice(json, group_name(grouping, &series->groups[i]));
        timeline_write_json(timeline, series->groups[i].points, json);
    }
    json_object_end(json);
}

static int answer_json(struct rendering *r, struct json *json, struct error *err)
{
    json_done(json);
    if (buffer_check(&r->out, err) < 0)
        return -1;
    exchange_answer(r->exchange, 200, "application/json", buffer_slice(&r->out));
    return 0;
}

void render_write_flamebearer(struct json *json, const struct flamebearer *bearer, struct slice profile_type)
{
    json_object_begin(json);
    put_flamebearer(json, bearer, profile_type);
    put_null(json, "timeline");
    put_null(json, "groups");
    put_null(json, "heatmap");
    if (bearer->left_ticks) {
        json_key(json, "leftTicks");
        json_int(json, bearer->left_ticks);
    }
    if (bearer->right_ticks) {
        json_key(json, "rightTicks");
        json_int(json, bearer->right_ticks);
    }
    json_object_end(json);
}

/* --- /render --- */

static int load_series(const struct rendering *r, const struct renderquery *query, const struct timeline *timeline,
                       const struct grouping *grouping, struct timeseries **ret_series, struct error *err)
{
    struct timeseries_options options = { .kind = slice_is(urlquery_get(&r->url, "aggregation"), "avg")
                                                      ? TIMESERIES_AVERAGE
                                                      : TIMESERIES_SUM,
                                          .by = &grouping->label,
                                          .n_by = grouping->label.len > 0 && !grouping->of_type.ptr };

    return timeline_load(timeline, r->engine, &query->query, options, ret_series, err);
}

static int render_json(struct rendering *r, const struct renderquery *query, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    AUTO(timeseries_freep) struct timeseries *series = NULL;
    struct timeline timeline = timeline_of(query->range.from_ns, query->range.until_ns);
    struct grouping grouping = { .label = urlquery_get(&r->url, "groupBy") };
    struct flamebearer bearer;
    struct query_facts facts;
    uint32_t max_nodes;
    struct json json;

    grouping.of_type = querier_type_label(query->query.type, grouping.label);
    if (flamebearer_max_nodes(asked_nodes(r), &max_nodes, err) < 0)
        return -1;
    if (engine_flame(r->engine, &query->query, max_nodes, &flame, &facts, err) < 0 ||
        load_series(r, query, &timeline, &grouping, &series, err) < 0 ||
        flamebearer_from_flame(flame, &r->arena, &bearer, err) < 0)
        return -1;
    json_init(&json, &r->out, JSON_COMPACT);
    json_object_begin(&json);
    put_flamebearer(&json, &bearer, query->query.type);
    put_timelines(&json, &timeline, series, &grouping);
    put_null(&json, "heatmap");
    json_object_end(&json);
    return answer_json(r, &json, err);
}

static int render_dot(struct rendering *r, const struct renderquery *query, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    int64_t asked = asked_nodes(r);
    struct dot_options options = { .max_nodes = (uint32_t)asked };
    struct query_facts facts;

    if (flamebearer_check_nodes(asked, err) < 0)
        return -1;
    renderquery_type_parts(query->query.type, &options.title, &options.unit);
    if (engine_flame(r->engine, &query->query, DOT_SOURCE, &flame, &facts, err) < 0 ||
        dot_write_flame(flame, &options, &r->out, err) < 0)
        return -1;
    exchange_answer(r->exchange, 200, "text/plain; charset=utf-8", buffer_slice(&r->out));
    return 0;
}

/* All of it, whatever max-nodes says: a file is for other tools. */
static int render_pprof(struct rendering *r, const struct renderquery *query, struct error *err)
{
    AUTO(batch_done) struct batch batch;
    struct format_write_options options = { .type = PROFILE_NO_TYPE };
    struct query_facts facts;

    batch_init(&batch, NULL);
    if (engine_profile(r->engine, &query->query, &batch, &facts, err) < 0)
        return -1;
    batch.profiles[0].default_type = 0;
    batch.profiles[0].duration_ns = facts.duration_ns;
    if (pprof_encode(&batch, &options, &r->out, err) < 0)
        return -1;
    exchange_answer(r->exchange, 200, "application/octet-stream", buffer_slice(&r->out));
    exchange_header_text(r->exchange, "content-disposition", "attachment; filename=\"profile.pb.gz\"");
    return 0;
}

static int render_one(struct rendering *r, struct error *err)
{
    static const struct renderquery_names names = { "query", "from", "until" };
    AUTO(renderquery_done) struct renderquery query = { 0 };

    if (renderquery_read(&r->request, &names, &query, err) < 0)
        return -1;
    if (is_format(r, "dot"))
        return render_dot(r, &query, err);
    if (is_format(r, "pprof"))
        return render_pprof(r, &query, err);
    return render_json(r, &query, err);
}

/* --- /render-diff --- */

static int render_two(struct rendering *r, const struct renderquery *left, const struct renderquery *right,
                      struct error *err)
{
    AUTO(diff_freep) struct diff *diff = NULL;
    struct diff_options options = { 0 };
    struct query_facts facts[2];
    struct flamebearer bearer;
    struct json json;

    if (flamebearer_max_nodes(asked_nodes(r), &options.max_nodes, err) < 0)
        return -1;
    if (engine_diff(r->engine, &left->query, &right->query, &options, &diff, facts, err) < 0 ||
        flamebearer_from_diff(diff->flame, &r->arena, &bearer, err) < 0)
        return -1;
    json_init(&json, &r->out, JSON_COMPACT);
    render_write_flamebearer(&json, &bearer, left->query.type);
    return answer_json(r, &json, err);
}

static int render_diff(struct rendering *r, struct error *err)
{
    static const struct renderquery_names left_names = { "leftQuery", "leftFrom", "leftUntil" };
    static const struct renderquery_names right_names = { "rightQuery", "rightFrom", "rightUntil" };
    AUTO(renderquery_done) struct renderquery left = { 0 }, right = { 0 };

    if (renderquery_read(&r->request, &left_names, &left, err) < 0 ||
        renderquery_read(&r->request, &right_names, &right, err) < 0)
        return -1;
    if (!slice_equal(left.query.type, right.query.type))
        return error_set(err, ERR_INVALID, "leftQuery is of type %.*s, and rightQuery of %.*s; both must be of one",
                         SLICE_ARG(slice_sub(left.query.type, 0, 60)), SLICE_ARG(slice_sub(right.query.type, 0, 60)));
    return render_two(r, &left, &right, err);
}

/* --- the handlers --- */

static void handle(struct exchange *exchange, int (*make)(struct rendering *r, struct error *err))
{
    const struct answer *answer = exchange->context;
    struct rendering r = { .exchange = exchange, .engine = answer->engine };
    struct query base;
    struct error err;

    if (!answer_begin(exchange, answer, &base))
        return;
    arena_init(&r.arena, MAX_WORK_BYTES);
    buffer_init(&r.out, MAX_WORK_BYTES);
    r.request = (struct renderquery_request){ answer, &base, &r.url, exchange->request.received_ns, &r.arena };
    if (urlquery_parse(exchange->request.query, &r.arena, &r.url, &err) < 0 || make(&r, &err) < 0)
        exchange_fail(exchange, &err);
    buffer_done(&r.out);
    arena_done(&r.arena);
}

void render_handle(struct exchange *exchange)
{
    handle(exchange, render_one);
}

void render_handle_diff(struct exchange *exchange)
{
    handle(exchange, render_diff);
}
