// SPDX-License-Identifier: Apache-2.0
#include "join/spansamples.h"

#include "base/map.h"
#include "profile/unit.h"
#include "query/querycatalog.h"
#include "tree/querycolumns.h"

#include <stdlib.h>

/* How rows of a group of series are read: where each of their types goes, and what it counts. */
struct column {
    uint32_t type;  /* SPANTREE_NONE: there are too many */
    uint32_t count; /* the column that counts raw samples; QUERYCOLUMNS_NONE = there is none */
    double divisor;
    int64_t size_ns;    /* of one, in time; 0 = it is none */
    bool is_of_periods; /* size_ns is that of a period of which the value counts many */
};
struct plan {
    struct column *columns; /* [n_types] of the series */
};

struct reading {
    const struct spansamples_query *query;
    struct arena *arena;
    struct spansamples samples;
    struct map first_of_id;
    uint32_t *next_of_id; /* [n_spans] */
    struct spanids ids;
    struct hash_set groups, types; /* seen so far, by what they are */
    VEC(struct plan) plans;        /* by group */
    struct buffer text;
    size_t n_rows;
};

static uint64_t word_of(const uint8_t id[static SPAN_ID_BYTES])
{
    uint64_t word;

    memcpy(&word, id, sizeof(word));
    return word;
}

/* --- types --- */

/* Whether a name begins with a word, in capitals or not, with dashes or underscores. */
static bool begins(struct slice name, const char *word)
{
    size_t i;

    for (i = 0; word[i]; i++) {
        char c = i < name.len ? name.ptr[i] : '\0';

        if ((c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c) != word[i])
            return false;
    }
    return true;
}

static enum spansamples_kind kind_of(struct slice profile_type)
{
    struct slice rest = profile_type, name = { 0 }, type = { 0 };

    if (slice_next_part(&rest, ':', &name))
        IGNORE(!slice_next_part(&rest, ':', &type), "a full type has five parts");
    if (begins(name, "off_cpu") || begins(name, "offcpu") || begins(type, "off_cpu") || begins(type, "offcpu"))
        return SPANSAMPLES_OFF_CPU;
    if (begins(type, "wall") || begins(name, "wall"))
        return SPANSAMPLES_WALL;
    return querycatalog_is_cpu(profile_type) ? SPANSAMPLES_CPU : SPANSAMPLES_OTHER;
}

/* How long one of a value is, or, of counts, one period; 0 if it is no time. */
static int64_t size_of(const struct seriesinfo *series, const struct series_type *type, bool *ret_is_of_periods)
{
    const struct unit *unit = unit_find(type->unit), *period = unit_find(series->period_unit);

    *ret_is_of_periods = unit && unit->family == UNIT_COUNT && period && period->family == UNIT_TIME;
    if (*ret_is_of_periods)
        return period->size;
    return unit && unit->family == UNIT_TIME ? unit->size : 0;
}

static int add_type(struct reading *reading, struct slice profile_type, const struct series_type *type, bool is_time,
                    struct error *err)
{
    struct spansamples_type *added = &reading->samples.types[reading->samples.n_types];
    size_t n = reading->samples.n_spans;
    struct arena *arena = reading->arena;

    added->type = arena_copy(arena, profile_type, err);
    added->unit = added->type.ptr ? arena_copy(arena, type->unit, err) : (struct slice){ 0 };
    added->n_samples = added->unit.ptr ? arena_alloc_zero(arena, n * sizeof(*added->n_samples), err) : NULL;
    added->values = added->n_samples ? arena_alloc_zero(arena, n * sizeof(*added->values), err) : NULL;
    if (!added->values)
        return -1;
    added->kind = is_time ? kind_of(profile_type) : SPANSAMPLES_OTHER;
    added->times_ns =
        added->kind != SPANSAMPLES_OTHER ? arena_alloc_zero(arena, n * sizeof(*added->times_ns), err) : NULL;
    if (added->kind != SPANSAMPLES_OTHER && !added->times_ns)
        return -1;
    reading->samples.n_types++;
    return 0;
}

/* The place of a type, which is added if it is new. */
static int find_type(struct reading *reading, struct slice profile_type, const struct series_type *type, bool is_time,
                     uint32_t *ret_place, struct error *err)
{
    struct hash128 hash = hash_bytes(profile_type, 0);
    bool is_new;

    *ret_place = hash_set_find(&reading->types, hash);
    if (*ret_place != HASH_NONE)
        return 0;
    if (reading->samples.n_types == SPANSAMPLES_MAX_TYPES) {
        reading->samples.is_cut = true;
        *ret_place = SPANTREE_NONE;
        return 0;
    }
    if (add_type(reading, profile_type, type, is_time, err) < 0)
        return -1;
    return hash_set_add(&reading->types, hash, ret_place, &is_new, err);
}

static int plan_column(struct reading *reading, const struct seriesinfo *series, uint32_t i, struct column *column,
                       struct error *err)
{
    struct querycolumns columns;

    buffer_clear(&reading->text);
    seriesinfo_profile_type(series, i, &reading->text);
    if (buffer_check(&reading->text, err) < 0 ||
        querycolumns_find(series, buffer_slice(&reading->text), &columns, err) < 0)
        return -1;
    *column = (struct column){ .count = columns.count, .divisor = columns.divisor };
    column->size_ns = size_of(series, &series->types[i], &column->is_of_periods);
    return find_type(reading, buffer_slice(&reading->text), &series->types[i], column->size_ns > 0, &column->type, err);
}

static int find_plan(struct reading *reading, const struct seriesinfo *series, struct plan *ret_plan, struct error *err)
{
    struct plan *plan;
    uint32_t place;
    bool is_new;

    if (hash_set_add(&reading->groups, seriesinfo_group_hash(series, 0), &place, &is_new, err) < 0)
        return -1;
    if (is_new) {
        plan = VEC_PUSH(&reading->plans, UINT32_MAX, err);
        if (!plan)
            return -1;
        plan->columns = ARENA_ARRAY(reading->arena, struct column, series->n_types, err);
        if (!plan->columns)
            return -1;
        for (uint32_t i = 0; i < series->n_types; i++)
            if (plan_column(reading, series, i, &plan->columns[i], err) < 0)
                return -1;
    }
    *ret_plan = reading->plans.items[place];
    return 0;
}

/* --- rows --- */

/* J1. */
static uint32_t find_span(const struct reading *reading, const struct link *link, struct slice service)
{
    const uint32_t *first = map_find(&reading->first_of_id, word_of(link->span_id));
    uint32_t i = first ? *first : SPANTREE_NONE;

    if (!first || reading->next_of_id[*first] == SPANTREE_NONE)
        return i;
    for (uint32_t n = 0; i != SPANTREE_NONE && n < SPANTREE_MAX_TWINS; i = reading->next_of_id[i], n++)
        if (slice_equal(reading->query->spans[i].resource->service, service))
            return i;
    return *first;
}

static uint64_t count_of(const struct column *column, const struct headrow *row, uint32_t sample)
{
    double n;

    if (row->counts)
        return row->counts[sample];
    if (column->count == QUERYCOLUMNS_NONE)
        return 1;
    n = (double)row->values[(size_t)column->count * row->stride + sample] / column->divisor;
    return n < 1 ? 1 : n > 1e18 ? (uint64_t)1e18 : (uint64_t)(n + 0.5);
}

static int64_t time_of(const struct column *column, const struct headrow *row, int64_t value)
{
    uint64_t n_saturated = 0;
    int64_t time_ns = value_multiply(value, column->size_ns, &n_saturated);

    return column->is_of_periods ? value_multiply(time_ns, row->period, &n_saturated) : time_ns;
}

static void add_sample(struct reading *reading, const struct plan *plan, const struct headrow *row, uint32_t sample,
                       uint32_t span)
{
    uint64_t n_saturated = 0;

    for (uint32_t i = 0; i < row->n_types; i++) {
        const struct column *column = &plan->columns[i];
        struct spansamples_type *type;
        int64_t value = row->values[(size_t)i * row->stride + sample];

        if (column->type == SPANTREE_NONE || value == 0)
            continue;
        type = &reading->samples.types[column->type];
        type->n_samples[span] += count_of(column, row, sample);
        type->values[span] = value_add(type->values[span], value, &n_saturated);
        if (type->times_ns)
            type->times_ns[span] = value_add(type->times_ns[span], time_of(column, row, value), &n_saturated);
    }
}

static int add_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct reading *reading = context;
    struct slice service = seriesinfo_label(series, SLICE(SERIES_SERVICE_LABEL));
    struct plan plan;

    if (patience_check_at(&reading->query->patience, reading->n_rows++, err) < 0 ||
        find_plan(reading, series, &plan, err) < 0)
        return -1;
    for (uint32_t i = 0; i < row->n_samples; i++) {
        uint32_t link = row->links ? row->links[i] : 0;
        uint32_t span = link ? find_span(reading, &row->link_table[link - 1], service) : SPANTREE_NONE;

        if (span != SPANTREE_NONE)
            add_sample(reading, &plan, row, i, span);
    }
    return 0;
}

static int ignore_names(void *context UNUSED, struct names *names UNUSED, struct error *err UNUSED)
{
    return 0;
}

/* --- reading --- */

static int index_spans(struct reading *reading, struct error *err)
{
    reading->next_of_id = ARENA_ARRAY(reading->arena, uint32_t, reading->query->n, err);
    if (!reading->next_of_id)
        return -1;
    for (uint32_t i = (uint32_t)reading->query->n; i-- > 0;) {
        const uint8_t *id = reading->query->spans[i].span_id;
        const uint32_t *first = map_find(&reading->first_of_id, word_of(id));

        reading->next_of_id[i] = first ? *first : SPANTREE_NONE;
        if (map_set(&reading->first_of_id, word_of(id), i, err) < 0 || spanids_add(&reading->ids, id, err) < 0)
            return -1;
    }
    return 0;
}

static int64_t earlier(int64_t time_ns, int64_t by_ns)
{
    int64_t result_ns;

    return __builtin_sub_overflow(time_ns, by_ns, &result_ns) ? INT64_MIN : result_ns;
}

/* J2. */
static struct store_query question_of(const struct reading *reading, const struct store_ids *ids)
{
    const struct spansamples_query *query = reading->query;
    struct store_query question = { .tenant = query->tenant,
                                    .from_ns = INT64_MAX,
                                    .until_ns = INT64_MIN,
                                    .ids = ids,
                                    .check = query->patience.check,
                                    .check_context = query->patience.context };

    for (size_t i = 0; i < query->n; i++) {
        question.from_ns = MIN(question.from_ns, query->spans[i].start_ns);
        question.until_ns = MAX(question.until_ns, spantree_end_ns(&query->spans[i]));
    }
    question.from_ns = earlier(question.from_ns, SPANSAMPLES_BEFORE_NS);
    question.until_ns += question.until_ns < INT64_MAX;
    return question;
}

static int by_type(const void *a, const void *b)
{
    return slice_compare(((const struct spansamples_type *)a)->type, ((const struct spansamples_type *)b)->type);
}

static int read_all(struct reading *reading, struct store_reads *reads, struct error *err)
{
    struct store_ids ids = { .span_set = &reading->ids };
    struct store_query question;

    reading->samples.types =
        arena_alloc_zero(reading->arena, SPANSAMPLES_MAX_TYPES * sizeof(struct spansamples_type), err);
    if (!reading->samples.types || index_spans(reading, err) < 0)
        return -1;
    if (reading->query->n == 0)
        return 0;
    question = question_of(reading, &ids);
    if (store_scan(reading->query->store, &question, &(struct store_sink){ reading, ignore_names, add_row, reads },
                   err) < 0)
        return -1;
    qsort(reading->samples.types, reading->samples.n_types, sizeof(*reading->samples.types), by_type);
    return 0;
}

int spansamples_read(const struct spansamples_query *query, struct arena *arena, struct spansamples *ret_samples,
                     struct store_reads *reads, struct error *err)
{
    struct reading reading = { .query = query, .arena = arena };
    int result;

    ASSERT(query->n < SPANTREE_NONE);
    reading.samples.n_spans = (uint32_t)query->n;
    map_init(&reading.first_of_id, 0);
    spanids_init(&reading.ids, query->n);
    hash_set_init(&reading.groups, 0);
    hash_set_init(&reading.types, 0);
    buffer_init(&reading.text, 0);
    result = read_all(&reading, reads, err);
    map_done(&reading.first_of_id);
    spanids_done(&reading.ids);
    hash_set_done(&reading.groups);
    hash_set_done(&reading.types);
    VEC_DONE(&reading.plans);
    buffer_done(&reading.text);
    if (result == 0)
        *ret_samples = reading.samples;
    return result;
}

/* --- attribution and latency --- */

/* Parents come before their children: from the last to the first, each gives what it has gathered to its parent. */
void spansamples_to_roots(const struct spantree *tree, struct spansamples *samples)
{
    uint64_t n_saturated = 0;

    for (uint32_t i = tree->n; i-- > 0;) {
        const struct spantree_node *node = &tree->nodes[i];
        uint32_t parent;

        if (node->is_local_root || node->parent == SPANTREE_NONE)
            continue;
        parent = tree->nodes[node->parent].span;
        for (uint32_t k = 0; k < samples->n_types; k++) {
            struct spansamples_type *type = &samples->types[k];

            type->n_samples[parent] += type->n_samples[node->span];
            type->values[parent] = value_add(type->values[parent], type->values[node->span], &n_saturated);
        }
    }
}

/* The most that one type of a kind says: several are several profilers that look at the same thing. */
static int64_t most_of(const struct spansamples *samples, enum spansamples_kind kind, uint32_t span, bool *ret_has)
{
    int64_t most_ns = 0;

    *ret_has = false;
    for (uint32_t i = 0; i < samples->n_types; i++)
        if (samples->types[i].kind == kind && samples->types[i].times_ns[span] > 0) {
            most_ns = MAX(most_ns, samples->types[i].times_ns[span]);
            *ret_has = true;
        }
    return most_ns;
}

struct spansamples_latency spansamples_latency(const struct spansamples *samples, const struct span *span,
                                               const struct spantree_node *node)
{
    struct spansamples_latency latency = { .children_ns = node->children_ns };
    int64_t left_ns = span->duration_ns - node->children_ns;
    bool has_cpu, has_wall = false;
    int64_t cpu_ns = most_of(samples, SPANSAMPLES_CPU, node->span, &has_cpu);
    int64_t off_cpu_ns = most_of(samples, SPANSAMPLES_OFF_CPU, node->span, &latency.has_off_cpu);

    if (!latency.has_off_cpu) {
        off_cpu_ns = MAX(most_of(samples, SPANSAMPLES_WALL, node->span, &has_wall) - cpu_ns, 0);
        latency.has_off_cpu = has_wall;
    }
    latency.cpu_ns = MIN(cpu_ns, left_ns);
    left_ns -= latency.cpu_ns;
    latency.off_cpu_ns = MIN(off_cpu_ns, left_ns);
    latency.unknown_ns = left_ns - latency.off_cpu_ns;
    return latency;
}
