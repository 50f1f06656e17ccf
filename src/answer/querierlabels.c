// SPDX-License-Identifier: Apache-2.0
/* The procedures of querier.v1 that tell what there is: types, labels, series, and how much of it.
 *
 * Series of a day are known by its index, so these answers are those of the days that a range touches. */
#include "answer/answer_internal.h"
#include "answer/querier_internal.h"
#include "base/hash.h"
#include "base/vec.h"

#include <stdlib.h>

#define HOUR_NS       (3600 * CLOCK_NS_PER_SECOND)
#define DAY_NS        (24 * HOUR_NS)
/* Pyroscope lists the service a second time under this name, and its canary looks for it. */
#define SERVICE_ALIAS "__service_name__"

/* --- ProfileTypes --- */

static void write_type(struct rpcwriter *writer, struct slice type)
{
    static const struct {
        uint32_t number;
        const char *name;
    } parts[] = { { 2, "name" }, { 4, "sampleType" }, { 5, "sampleUnit" }, { 6, "periodType" }, { 7, "periodUnit" } };
    struct slice rest = type, part;

    rpcwriter_begin(writer, 1, NULL);
    rpcwriter_text(writer, 1, "ID", type);
    for (size_t i = 0; i < ARRAY_LEN(parts) && slice_next_part(&rest, ':', &part); i++)
        rpcwriter_text(writer, parts[i].number, parts[i].name, part);
    rpcwriter_end(writer);
}

/* Without times the last hour is meant. A data source is checked with times of 1970, which is no mistake. */
static int types_range(const struct querier_request *request, int64_t *ret_from_ns, int64_t *ret_until_ns,
                       struct error *err)
{
    if (request->start == 0 && request->end == 0) {
        *ret_until_ns = clock_now_ns() + 1;
        *ret_from_ns = *ret_until_ns - HOUR_NS;
        return 0;
    }
    return querier_ordered_range(request, ret_from_ns, ret_until_ns, err);
}

static int answer_profile_types(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    struct store_query query = querier_store_query(call, NULL, 0, 0);
    struct store_texts types;

    if (types_range(request, &query.from_ns, &query.until_ns, err) < 0 ||
        store_profile_types(call->answer->store, &query, &call->arena, &types, err) < 0)
        return -1;
    if (types.n == 0)
        return 0;
    rpcwriter_list_begin(&call->writer, "profileTypes");
    for (size_t i = 0; i < types.n; i++)
        write_type(&call->writer, types.texts[i]);
    rpcwriter_list_end(&call->writer);
    return 0;
}

/* --- labels --- */

static int by_text(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* Sorts texts and leaves each of them once, the empty one not at all. */
static size_t sort_texts(struct slice *texts, size_t n)
{
    size_t kept = 0;

    if (n > 0)
        qsort(texts, n, sizeof(*texts), by_text);
    for (size_t i = 0; i < n; i++)
        if (texts[i].len > 0 && (kept == 0 || !slice_equal(texts[kept - 1], texts[i])))
            texts[kept++] = texts[i];
    return kept;
}

/* What matchers and range choose. */
static int open_query(struct querier_call *call, const struct querier_request *request, struct store_query *ret_query,
                      struct error *err)
{
    const struct selector *selector;
    int64_t from_ns, until_ns;

    if (querier_range(request, &from_ns, &until_ns, err) < 0 ||
        querier_matchers(call, &request->matchers, &selector, err) < 0)
        return -1;
    *ret_query = querier_store_query(call, selector, from_ns, until_ns);
    return 0;
}

static int answer_label_names(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    struct series_label of_types[QUERIER_TYPE_LABELS];
    struct store_query query;
    struct store_texts names;
    struct slice *all;
    size_t n;

    if (open_query(call, request, &query, err) < 0 ||
        store_label_names(call->answer->store, &query, &call->arena, &names, err) < 0)
        return -1;
    if (names.n == 0)
        return 0;
    all = ARENA_ARRAY(&call->arena, struct slice, names.n + QUERIER_TYPE_LABELS + 1, err);
    if (!all)
        return -1;
    memcpy(all, names.texts, names.n * sizeof(*all));
    querier_type_labels(SLICE(""), of_types);
    for (size_t i = 0; i < QUERIER_TYPE_LABELS; i++)
        all[names.n + i] = of_types[i].name;
    all[names.n + QUERIER_TYPE_LABELS] = SLICE(SERVICE_ALIAS);
    n = sort_texts(all, names.n + QUERIER_TYPE_LABELS + 1);
    rpcwriter_texts(&call->writer, 1, "names", all, n);
    return 0;
}

/* The values of a label that types give to series. */
static int find_type_values(struct querier_call *call, const struct store_query *query, struct slice name,
                            struct store_texts *ret_values, struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct store_texts types;
    size_t n = 0;

    if (pattern_scratch_new(&scratch, err) < 0 ||
        store_profile_types(call->answer->store, query, &call->arena, &types, err) < 0)
        return -1;
    for (size_t i = 0; i < types.n; i++) {
        bool allows;

        if (selector_allows_type(query->selector, types.texts[i], scratch, &allows, err) < 0)
            return -1;
        if (allows)
            types.texts[n++] = querier_type_label(types.texts[i], name);
    }
    *ret_values = (struct store_texts){ types.texts, sort_texts(types.texts, n) };
    return 0;
}

static int answer_label_values(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    struct slice name = slice_is(request->name, SERVICE_ALIAS) ? SLICE(SERIES_SERVICE_LABEL) : request->name;
    struct store_query query;
    struct store_texts values;
    int result;

    if (request->name.len == 0)
        return error_set(err, ERR_INVALID, "name is empty; it is that of the label whose values are asked for");
    if (open_query(call, request, &query, err) < 0)
        return -1;
    result = querier_type_label(SLICE(""), name).ptr
                 ? find_type_values(call, &query, name, &values, err)
                 : store_label_values(call->answer->store, &query, name, &call->arena, &values, err);
    if (result < 0)
        return -1;
    rpcwriter_texts(&call->writer, 1, "names", values.texts, values.n);
    return 0;
}

/* --- Series --- */

struct label_set {
    struct series_label *labels;
    uint32_t n;
};

struct gathering {
    struct arena *arena;
    const struct selector *selector;
    struct pattern_scratch *scratch;
    const struct slice *names; /* asked for, canonical and sorted; none = all */
    size_t n_names;
    struct hash_set seen;
    VEC(struct label_set) sets;
    struct buffer type, key;
};

static bool is_asked(const struct gathering *gathering, struct slice name)
{
    return gathering->n_names == 0 ||
           bsearch(&name, gathering->names, gathering->n_names, sizeof(name), by_text) != NULL;
}

static int copy_set(struct gathering *gathering, const struct series_label *labels, uint32_t n, struct error *err)
{
    struct label_set *set = VEC_PUSH(&gathering->sets, UINT32_MAX, err);

    if (!set)
        return -1;
    set->labels = ARENA_ARRAY(gathering->arena, struct series_label, n, err);
    if (!set->labels)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        set->labels[i].name = arena_copy(gathering->arena, labels[i].name, err);
        set->labels[i].value = arena_copy(gathering->arena, labels[i].value, err);
        if (!set->labels[i].name.ptr || !set->labels[i].value.ptr)
            return -1;
    }
    set->n = n;
    return 0;
}

/* Adds a set of labels, sorted by their names, unless it is there. */
static int add_set(struct gathering *gathering, const struct series_label *labels, uint32_t n, struct error *err)
{
    uint32_t place;
    bool is_new;

    buffer_clear(&gathering->key);
    for (uint32_t i = 0; i < n; i++)
        buffer_printf(&gathering->key, "%zu,%zu,", labels[i].name.len, labels[i].value.len);
    for (uint32_t i = 0; i < n; i++) {
        buffer_append_slice(&gathering->key, labels[i].name);
        buffer_append_slice(&gathering->key, labels[i].value);
    }
    if (buffer_check(&gathering->key, err) < 0 ||
        hash_set_add(&gathering->seen, hash_bytes(buffer_slice(&gathering->key), 0), &place, &is_new, err) < 0)
        return -1;
    return n == 0 || !is_new ? 0 : copy_set(gathering, labels, n, err);
}

/* The labels of a series and those of one of its types, as far as they are asked for, in order of their names. */
static int add_series_type(struct gathering *gathering, const struct seriesinfo *series, struct slice type,
                           struct error *err)
{
    struct series_label of_type[QUERIER_TYPE_LABELS], all[SERIES_MAX_LABELS + QUERIER_TYPE_LABELS];
    uint32_t n = 0, i = 0, k = 0;

    querier_type_labels(type, of_type);
    while (i < series->n_labels || k < QUERIER_TYPE_LABELS) {
        bool is_own = k == QUERIER_TYPE_LABELS ||
                      (i < series->n_labels && slice_compare(series->labels[i].name, of_type[k].name) < 0);
        const struct series_label *label = is_own ? &series->labels[i++] : &of_type[k++];

        if (label->value.len > 0 && is_asked(gathering, label->name))
            all[n++] = *label;
    }
    return add_set(gathering, all, n, err);
}

static int gather_series(void *context, const struct seriesinfo *series, struct error *err)
{
    struct gathering *gathering = context;

    for (uint32_t i = 0; i < series->n_types; i++) {
        bool allows;

        buffer_clear(&gathering->type);
        seriesinfo_profile_type(series, i, &gathering->type);
        if (buffer_check(&gathering->type, err) < 0 ||
            selector_allows_type(gathering->selector, buffer_slice(&gathering->type), gathering->scratch, &allows,
                                 err) < 0 ||
            (allows && add_series_type(gathering, series, buffer_slice(&gathering->type), err) < 0))
            return -1;
    }
    return 0;
}

static int by_labels(const void *a, const void *b)
{
    const struct label_set *x = a, *y = b;

    for (uint32_t i = 0; i < MIN(x->n, y->n); i++) {
        int order = slice_compare(x->labels[i].name, y->labels[i].name);

        if (!order)
            order = slice_compare(x->labels[i].value, y->labels[i].value);
        if (order)
            return order;
    }
    return (x->n > y->n) - (x->n < y->n);
}

static void write_sets(struct rpcwriter *writer, struct label_set *sets, size_t n)
{
    if (n == 0)
        return;
    qsort(sets, n, sizeof(*sets), by_labels);
    rpcwriter_list_begin(writer, "labelsSet");
    for (size_t i = 0; i < n; i++) {
        rpcwriter_begin(writer, 2, NULL);
        querier_write_labels(writer, 1, "labels", sets[i].labels, sets[i].n);
        rpcwriter_end(writer);
    }
    rpcwriter_list_end(writer);
}

/* The names as labels have them, in order. */
static int canonical_names(struct querier_call *call, const struct rpcmessage_texts *given, struct slice **ret_names,
                           struct error *err)
{
    struct slice *names = ARENA_ARRAY(&call->arena, struct slice, given->n, err);
    bool is_repaired;

    if (!names)
        return -1;
    for (uint32_t i = 0; i < given->n; i++)
        if (labelrules_canonical(given->items[i], &call->arena, &names[i], &is_repaired, err) < 0)
            return -1;
    if (given->n > 0)
        qsort(names, given->n, sizeof(*names), by_text);
    *ret_names = names;
    return 0;
}

static int answer_series(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct gathering gathering = { .arena = &call->arena, .n_names = request->label_names.n };
    struct store_query query;
    struct slice *names;
    int result;

    if (open_query(call, request, &query, err) < 0 || canonical_names(call, &request->label_names, &names, err) < 0 ||
        pattern_scratch_new(&scratch, err) < 0)
        return -1;
    gathering.selector = query.selector;
    gathering.scratch = scratch;
    gathering.names = names;
    hash_set_init(&gathering.seen, 0);
    buffer_init(&gathering.type, 0);
    buffer_init(&gathering.key, 0);
    result = store_each_series(call->answer->store, &query, gather_series, &gathering, err);
    if (result == 0)
        write_sets(&call->writer, gathering.sets.items, gathering.sets.n);
    hash_set_done(&gathering.seen);
    buffer_done(&gathering.type);
    buffer_done(&gathering.key);
    VEC_DONE(&gathering.sets);
    return result;
}

/* --- GetProfileStats --- */

/* The first and the last day that has the tenant; then the first and last starts of rows. */
struct bounds {
    bool has_any;
    int64_t first_ns, last_ns;
};

static void widen(struct bounds *bounds, int64_t time_ns)
{
    bounds->first_ns = bounds->has_any ? MIN(bounds->first_ns, time_ns) : time_ns;
    bounds->last_ns = bounds->has_any ? MAX(bounds->last_ns, time_ns) : time_ns;
    bounds->has_any = true;
}

static int see_day(void *context, const struct store_plan *plan, struct error *err UNUSED)
{
    if (plan->n_series > 0)
        widen(context, plan->day_ns);
    return 0;
}

static int see_windows(void *context, const struct seriesinfo *series UNUSED, const struct windows *windows,
                       struct error *err UNUSED)
{
    if (windows->n_rows > 0) {
        widen(context, windows->starts_ns[0]);
        widen(context, windows->starts_ns[windows->n_rows - 1]);
    }
    return 0;
}

static int look_at_day(struct querier_call *call, int64_t day_ns, struct bounds *bounds, struct error *err)
{
    struct store_query query = querier_store_query(call, NULL, day_ns, day_ns + DAY_NS);
    struct store_reads reads = { 0 };

    return store_windows(call->answer->store, &query, &(struct store_window_sink){ bounds, see_windows, true }, &reads,
                         err);
}

static int64_t floor_ms(int64_t ns)
{
    return ns / QUERIER_NS_PER_MS - (ns % QUERIER_NS_PER_MS < 0);
}

static int answer_profile_stats(struct querier_call *call, const struct querier_request *request UNUSED,
                                struct error *err)
{
    struct store_query everything = querier_store_query(call, NULL, INT64_MIN, INT64_MAX);
    struct bounds days = { 0 }, rows = { 0 };

    if (store_plan(call->answer->store, &everything, &(struct store_plan_options){ 0 }, see_day, &days, err) < 0)
        return -1;
    if (days.has_any && (look_at_day(call, days.first_ns, &rows, err) < 0 ||
                         (days.last_ns != days.first_ns && look_at_day(call, days.last_ns, &rows, err) < 0)))
        return -1;
    rpcwriter_bool(&call->writer, 1, "dataIngested", days.has_any);
    if (!rows.has_any)
        return 0;
    rpcwriter_int64(&call->writer, 2, "oldestProfileTime", floor_ms(rows.first_ns));
    rpcwriter_int64(&call->writer, 3, "newestProfileTime", floor_ms(rows.last_ns));
    return 0;
}

/* --- AnalyzeQuery --- */

struct cost {
    int64_t n_series, n_blocks, n_bytes;
};

static int add_cost(void *context, const struct store_plan *plan, struct error *err UNUSED)
{
    struct cost *cost = context;

    cost->n_series += plan->n_series;
    cost->n_blocks += plan->n_closed_hours + plan->n_open_hours;
    cost->n_bytes += (int64_t)MIN(plan->n_bytes, (uint64_t)(INT64_MAX - cost->n_bytes));
    return 0;
}

/* Series are counted in each day that has them; a block is an hour. */
static int answer_analyze_query(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    struct rpcmessage_texts matchers = { .items = (struct slice *)&request->query, .n = request->query.len > 0 };
    const struct selector *selector;
    struct store_query query;
    struct cost cost = { 0 };
    int64_t from_ns, until_ns;

    if (querier_range(request, &from_ns, &until_ns, err) < 0)
        return -1;
    if (querier_matchers(call, &matchers, &selector, err) < 0)
        return error_wrap(err, "query");
    query = querier_store_query(call, selector, from_ns, until_ns);
    if (store_plan(call->answer->store, &query, &(struct store_plan_options){ 0 }, add_cost, &cost, err) < 0)
        return -1;
    rpcwriter_list_begin(&call->writer, "queryScopes");
    rpcwriter_begin(&call->writer, 1, NULL);
    rpcwriter_text(&call->writer, 1, "componentType", SLICE("store"));
    rpcwriter_int64(&call->writer, 2, "componentCount", 1);
    rpcwriter_int64(&call->writer, 3, "blockCount", cost.n_blocks);
    rpcwriter_int64(&call->writer, 4, "seriesCount", cost.n_series);
    rpcwriter_int64(&call->writer, 8, "profileBytes", cost.n_bytes);
    rpcwriter_end(&call->writer);
    rpcwriter_list_end(&call->writer);
    rpcwriter_begin(&call->writer, 2, "queryImpact");
    rpcwriter_int64(&call->writer, 2, "totalBytesInTimeRange", cost.n_bytes);
    rpcwriter_int64(&call->writer, 3, "totalQueriedSeries", cost.n_series);
    rpcwriter_end(&call->writer);
    return 0;
}

/* --- procedures --- */

void querier_profile_types(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_profile_types, answer_profile_types, false });
}

void querier_label_names(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_label_names, answer_label_names, false });
}

void querier_label_values(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_label_values, answer_label_values, false });
}

void querier_series(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_series, answer_series, false });
}

void querier_profile_stats(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_profile_stats, answer_profile_stats, false });
}

void querier_analyze_query(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_analyze_query, answer_analyze_query, false });
}
