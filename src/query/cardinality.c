// SPDX-License-Identifier: Apache-2.0
#include "query/cardinality.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "query/engine_internal.h"

#include <stdlib.h>

enum { DEFAULT_TOP = 10 };

struct value_entry {
    struct cardinality_value value;
    uint32_t label;
};

/* The types of a series, as places. */
struct series_entry {
    uint32_t *types;
    uint32_t n_types;
};

struct counting {
    const struct query *query;
    const struct cardinality_options *options;
    struct query_facts *facts;
    struct cardinality *answer; /* its arena has all texts */
    struct slice only;          /* canonical; empty = all labels */
    size_t max_bytes;
    struct hash_set series_seen, labels_seen, values_seen, types_seen;
    VEC(struct series_entry) series;
    VEC(struct cardinality_label) labels;
    VEC(struct value_entry) values;
    VEC(struct cardinality_type) types;
    struct arena scratch;
    struct buffer text;
};

/* --- what was seen --- */

static int check_memory(const struct counting *counting, struct error *err)
{
    size_t used_bytes = counting->answer->arena.used_bytes + hash_set_bytes(&counting->series_seen) +
                        hash_set_bytes(&counting->labels_seen) + hash_set_bytes(&counting->values_seen) +
                        counting->series.capacity * sizeof(struct series_entry) +
                        counting->values.capacity * sizeof(struct value_entry);

    if (used_bytes <= counting->max_bytes)
        return 0;
    return error_set(err, ERR_LIMIT,
                     "%zu values of labels of %u series need more than the %zu MiB that a query may have: ask for one "
                     "label, for less time or fewer series, or raise --query-memory",
                     counting->values.n, counting->series_seen.n, counting->max_bytes >> 20);
}

static int copy(struct counting *counting, struct slice text, struct slice *ret_text, struct error *err)
{
    *ret_text = arena_copy(&counting->answer->arena, text, err);
    return ret_text->ptr ? check_memory(counting, err) : -1;
}

static int find_label(struct counting *counting, struct slice name, uint32_t *ret_place, struct error *err)
{
    struct cardinality_label *label;
    bool is_new;

    if (hash_set_add(&counting->labels_seen, hash_bytes(name, 0), ret_place, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    label = VEC_PUSH(&counting->labels, UINT32_MAX, err);
    return label ? copy(counting, name, &label->name, err) : -1;
}

/* A value of a label; NULL on failure. */
static struct value_entry *find_value(struct counting *counting, uint32_t label, struct slice text, struct error *err)
{
    struct value_entry *entry;
    uint32_t place;
    bool is_new;

    if (hash_set_add(&counting->values_seen, hash_fold(hash_bytes(text, 0), label, 0), &place, &is_new, err) < 0)
        return NULL;
    if (!is_new)
        return &counting->values.items[place];
    entry = VEC_PUSH(&counting->values, UINT32_MAX, err);
    if (!entry || copy(counting, text, &entry->value.text, err) < 0)
        return NULL;
    entry->label = label;
    counting->labels.items[label].n_values++;
    return entry;
}

static int add_label(struct counting *counting, struct slice name, struct slice value, bool is_column,
                     struct error *err)
{
    struct value_entry *entry;
    uint32_t label;

    if (!value.len || (counting->only.len && !slice_equal(name, counting->only)))
        return 0;
    if (find_label(counting, name, &label, err) < 0)
        return -1;
    entry = find_value(counting, label, value, err);
    if (!entry)
        return -1;
    entry->value.n_series += !is_column;
    entry->value.is_column |= is_column;
    counting->labels.items[label].n_series += !is_column;
    counting->labels.items[label].is_column |= is_column;
    return 0;
}

static int find_type(struct counting *counting, const struct seriesinfo *series, uint32_t number, uint32_t *ret_place,
                     struct error *err)
{
    struct cardinality_type *type;
    bool is_new;

    buffer_clear(&counting->text);
    seriesinfo_profile_type(series, number, &counting->text);
    if (buffer_check(&counting->text, err) < 0 ||
        hash_set_add(&counting->types_seen, hash_bytes(buffer_slice(&counting->text), 0), ret_place, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    type = VEC_PUSH(&counting->types, UINT32_MAX, err);
    if (!type || copy(counting, buffer_slice(&counting->text), &type->profile_type, err) < 0)
        return -1;
    type->first_ns = INT64_MAX;
    type->last_ns = INT64_MIN;
    return 0;
}

/* --- series --- */

/* Types that are called alike count once for the series. */
static int add_types(struct counting *counting, const struct seriesinfo *series, struct series_entry *entry,
                     struct error *err)
{
    entry->types = ARENA_ARRAY(&counting->answer->arena, uint32_t, series->n_types, err);
    if (!entry->types)
        return -1;
    for (uint32_t i = 0; i < series->n_types; i++) {
        bool is_there = false;
        uint32_t place;

        if (find_type(counting, series, i, &place, err) < 0)
            return -1;
        for (uint32_t j = 0; j < entry->n_types; j++)
            is_there |= entry->types[j] == place;
        if (is_there)
            continue;
        entry->types[entry->n_types++] = place;
        counting->types.items[place].n_series++;
    }
    return 0;
}

/* NULL on failure. */
static struct series_entry *find_series(struct counting *counting, const struct seriesinfo *series, struct error *err)
{
    struct series_entry *entry;
    uint32_t place;
    bool is_new;

    if (hash_set_add(&counting->series_seen, seriesinfo_hash(series, 0), &place, &is_new, err) < 0)
        return NULL;
    if (!is_new)
        return &counting->series.items[place];
    entry = VEC_PUSH(&counting->series, UINT32_MAX, err);
    if (!entry || add_types(counting, series, entry, err) < 0)
        return NULL;
    for (uint32_t i = 0; i < series->n_labels; i++)
        if (add_label(counting, series->labels[i].name, series->labels[i].value, false, err) < 0)
            return NULL;
    return entry;
}

static int take_series(void *context, const struct seriesinfo *series, struct error *err)
{
    struct counting *counting = context;

    if (engine_check(counting->query, err) < 0)
        return -1;
    return find_series(counting, series, err) ? 0 : -1;
}

static int take_windows(void *context, const struct seriesinfo *series, const struct windows *windows,
                        struct error *err)
{
    struct counting *counting = context;
    const struct series_entry *entry = find_series(counting, series, err);

    if (!entry)
        return -1;
    for (uint32_t i = 0; i < entry->n_types; i++) {
        struct cardinality_type *type = &counting->types.items[entry->types[i]];

        type->first_ns = MIN(type->first_ns, windows->starts_ns[0]);
        type->last_ns = MAX(type->last_ns, windows->starts_ns[windows->n_rows - 1]);
    }
    counting->facts->n_rows += windows->n_rows;
    return 0;
}

/* A row or sample label of the name of the series means nothing (labelrules.h, N6). */
static int take_column(void *context, struct slice name, struct slice value, struct error *err)
{
    struct counting *counting = context;
    struct slice canonical;
    bool is_repaired;

    arena_reset(&counting->scratch);
    if (engine_check(counting->query, err) < 0)
        return -1;
    if (labelrules_canonical(name, &counting->scratch, &canonical, &is_repaired, err) < 0)
        return -1;
    return slice_is(canonical, SERIES_NAME_LABEL) ? 0 : add_label(counting, canonical, value, true, err);
}

/* --- the answer --- */

static int by_series(const void *a, const void *b)
{
    const struct value_entry *x = a, *y = b;

    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    if (x->value.n_series != y->value.n_series)
        return x->value.n_series > y->value.n_series ? -1 : 1;
    return slice_compare(x->value.text, y->value.text);
}

static int by_values(const void *a, const void *b)
{
    const struct cardinality_label *x = a, *y = b;

    if (x->n_values != y->n_values)
        return x->n_values > y->n_values ? -1 : 1;
    return slice_compare(x->name, y->name);
}

static int by_type(const void *a, const void *b)
{
    return slice_compare(((const struct cardinality_type *)a)->profile_type,
                         ((const struct cardinality_type *)b)->profile_type);
}

static int fill_top(struct counting *counting, struct error *err)
{
    uint32_t top = MIN(counting->options->top ? counting->options->top : DEFAULT_TOP, CARDINALITY_MAX_TOP);

    if (counting->values.n)
        qsort(counting->values.items, counting->values.n, sizeof(*counting->values.items), by_series);
    for (size_t i = 0; i < counting->values.n;) {
        struct cardinality_label *label = &counting->labels.items[counting->values.items[i].label];
        uint32_t n = (uint32_t)MIN(label->n_values, top);

        label->top = ARENA_ARRAY(&counting->answer->arena, struct cardinality_value, n, err);
        if (!label->top || check_memory(counting, err) < 0)
            return -1;
        for (; label->n_top < n; label->n_top++)
            label->top[label->n_top] = counting->values.items[i + label->n_top].value;
        i += label->n_values;
    }
    return 0;
}

static int make_answer(struct counting *counting, struct error *err)
{
    struct cardinality *answer = counting->answer;

    if (fill_top(counting, err) < 0)
        return -1;
    answer->n_series = counting->series_seen.n;
    answer->labels = ARENA_ARRAY(&answer->arena, struct cardinality_label, counting->labels.n, err);
    answer->types =
        answer->labels ? ARENA_ARRAY(&answer->arena, struct cardinality_type, counting->types.n, err) : NULL;
    if (!answer->types)
        return -1;
    VEC_EACH (&counting->labels, label)
        answer->labels[answer->n_labels++] = *label;
    VEC_EACH (&counting->types, type) {
        if (!counting->options->is_exact)
            type->first_ns = type->last_ns = 0;
        answer->types[answer->n_types++] = *type;
    }
    qsort(answer->labels, answer->n_labels, sizeof(*answer->labels), by_values);
    qsort(answer->types, answer->n_types, sizeof(*answer->types), by_type);
    return 0;
}

/* --- asking --- */

static void counting_init(struct counting *counting)
{
    hash_set_init(&counting->series_seen, 0);
    hash_set_init(&counting->labels_seen, 0);
    hash_set_init(&counting->values_seen, 0);
    hash_set_init(&counting->types_seen, 0);
    arena_init(&counting->scratch, 0);
    buffer_init(&counting->text, 0);
}

static void counting_done(struct counting *counting)
{
    hash_set_done(&counting->series_seen);
    hash_set_done(&counting->labels_seen);
    hash_set_done(&counting->values_seen);
    hash_set_done(&counting->types_seen);
    VEC_DONE(&counting->series);
    VEC_DONE(&counting->labels);
    VEC_DONE(&counting->values);
    VEC_DONE(&counting->types);
    arena_done(&counting->scratch);
    buffer_done(&counting->text);
}

static int read_all(struct engine *engine, const struct query *query, struct counting *counting, struct error *err)
{
    bool is_repaired;
    int result =
        labelrules_canonical(counting->options->label, &counting->answer->arena, &counting->only, &is_repaired, err);

    if (!result && counting->options->is_exact)
        result = engine_read_windows(engine, query, &(struct store_window_sink){ counting, take_windows, true },
                                     &counting->facts->reads, err);
    else if (!result)
        result = engine_read_series(engine, query, take_series, counting, err);
    if (!result && !counting->options->skips_columns)
        result = engine_read_column_labels(engine, query, take_column, counting, err);
    return result;
}

static int count(struct engine *engine, const struct query *query, struct counting *counting, struct error *err)
{
    int64_t begun_ns = clock_mono_ns();
    int result = read_all(engine, query, counting, err);

    counting->facts->read_ns = clock_mono_ns() - begun_ns;
    if (!result)
        result = make_answer(counting, err);
    counting->facts->finish_ns = clock_mono_ns() - begun_ns - counting->facts->read_ns;
    return result;
}

int cardinality_new(struct engine *engine, const struct query *query, const struct cardinality_options *options,
                    struct cardinality **ret_cardinality, struct query_facts *ret_facts, struct error *err)
{
    AUTO(cardinality_freep) struct cardinality *answer = MEMORY_NEW(struct cardinality, err);
    struct query_facts facts = { 0 };
    struct query unfiltered = *query;
    struct counting counting = {
        .query = query, .options = options, .facts = &facts, .answer = answer, .max_bytes = engine_query_bytes(engine)
    };
    int result;

    if (!answer)
        return -1;
    arena_init(&answer->arena, 0);
    unfiltered.filter = (struct filter_spec){ 0 };
    if (engine_enter(engine, query, false, err) < 0)
        return -1;
    counting_init(&counting);
    result = count(engine, &unfiltered, &counting, err);
    counting_done(&counting);
    engine_leave(engine, false);
    if (result < 0)
        return -1;
    *ret_facts = facts;
    *ret_cardinality = TAKE(answer);
    return 0;
}

void cardinality_free(struct cardinality *cardinality)
{
    if (!cardinality)
        return;
    arena_done(&cardinality->arena);
    memory_free(cardinality);
}

void cardinality_freep(struct cardinality **cardinality)
{
    cardinality_free(*cardinality);
}
