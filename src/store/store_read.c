// SPDX-License-Identifier: Apache-2.0
/* store_read: rows back into profiles. Samples of one day with the same stack, labels and link are added up by their ids
 * first; what they are called is looked up once, at the end of the day. */
#include "base/hash.h"
#include "base/vec.h"
#include "profile/builder.h"
#include "store/store.h"

#include <stdlib.h>

enum { MAX_SHAPES = 4096, MAX_SAMPLES = 1 << 24 };

/* Series of one shape become one profile. */
struct shape {
    struct hash128 hash;
    struct seriesinfo info; /* of the first of them; texts in the arena */
    bool *is_common;        /* of each label of it: all of them have it */
};

/* A sample of a day, before it has names. */
struct sum {
    uint32_t stack, row_set, sample_set; /* of the dictionary */
    uint32_t series_set, link;           /* of the builder */
    uint64_t count;                      /* raw samples behind it */
    bool is_uncounted;                   /* nobody knows how many they are */
};

struct reading {
    struct arena arena;
    VEC(struct shape) shapes;
    const struct shape *shape; /* the one that is read now */
    struct builder *builder;
    struct names *names;
    struct hash_set keys; /* of the sums */
    VEC(struct sum) sums;
    VEC(int64_t) values; /* n_types for each */
    size_t max_sums;
    uint64_t saturated;
    int64_t first_ns, last_ns;
    const struct profile_limits *limits;
};

/* --- shapes --- */

static struct hash128 shape_hash(const struct seriesinfo *info)
{
    struct seriesinfo bare = *info;
    struct series_label name = { SLICE(SERIES_NAME_LABEL), seriesinfo_label(info, SLICE(SERIES_NAME_LABEL)) };

    bare.labels = &name;
    bare.n_labels = 1;
    return seriesinfo_hash(&bare, 0);
}

static const struct series_label *find_label(const struct seriesinfo *info, const struct series_label *wanted)
{
    for (uint32_t i = 0; i < info->n_labels; i++)
        if (slice_equal(info->labels[i].name, wanted->name) && slice_equal(info->labels[i].value, wanted->value))
            return &info->labels[i];
    return NULL;
}

static int add_shape(struct reading *reading, const struct seriesinfo *series, struct hash128 hash, struct error *err)
{
    struct shape *shape = VEC_PUSH(&reading->shapes, MAX_SHAPES, err);
    AUTO(buffer_done) struct buffer bytes;
    struct slice copy;

    buffer_init(&bytes, 0);
    if (!shape)
        return -1;
    shape->hash = hash;
    seriesinfo_encode(series, &bytes);
    if (buffer_check(&bytes, err) < 0)
        return -1;
    copy = arena_copy(&reading->arena, buffer_slice(&bytes), err);
    shape->is_common = copy.ptr ? ARENA_ARRAY(&reading->arena, bool, series->n_labels, err) : NULL;
    if (!shape->is_common)
        return -1;
    memset(shape->is_common, true, series->n_labels);
    return seriesinfo_decode(copy, &reading->arena, &shape->info, err);
}

static int note_shape(void *context, const struct seriesinfo *series, struct error *err)
{
    struct reading *reading = context;
    struct hash128 hash = shape_hash(series);

    for (size_t i = 0; i < reading->shapes.n; i++) {
        struct shape *shape = &reading->shapes.items[i];

        if (!hash_equal(shape->hash, hash))
            continue;
        for (uint32_t k = 0; k < shape->info.n_labels; k++)
            shape->is_common[k] &= find_label(series, &shape->info.labels[k]) != NULL;
        return 0;
    }
    return add_shape(reading, series, hash, err);
}

static bool is_common(const struct shape *shape, const struct series_label *label)
{
    const struct series_label *found = find_label(&shape->info, label);

    return found && shape->is_common[found - shape->info.labels];
}

/* The labels of a series that all series of the profile share, or those that tell it from others. */
static uint32_t series_labels(struct reading *reading, const struct seriesinfo *series, bool wants_common)
{
    struct label labels[SERIES_MAX_LABELS];
    uint32_t n = 0;

    for (uint32_t i = 0; i < series->n_labels && n < SERIES_MAX_LABELS; i++)
        if (is_common(reading->shape, &series->labels[i]) == wants_common)
            labels[n++] = (struct label){ .key = builder_string(reading->builder, series->labels[i].name),
                                          .text = builder_string(reading->builder, series->labels[i].value) };
    return n ? builder_label_set(reading->builder, labels, n) : 0;
}

/* --- names --- */

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Ids of a day, each once, rising, without 0. */
struct ids {
    uint32_t *ids;
    uint32_t n;
};

static void sort_ids(struct ids *ids)
{
    uint32_t n = 0;

    qsort(ids->ids, ids->n, sizeof(*ids->ids), by_id);
    for (uint32_t i = 0; i < ids->n; i++)
        if (ids->ids[i] && (!n || ids->ids[n - 1] != ids->ids[i]))
            ids->ids[n++] = ids->ids[i];
    ids->n = n;
}

/* Where names_load puts an id. */
static uint32_t place_of(const struct ids *ids, uint32_t id)
{
    const uint32_t *found = id ? bsearch(&id, ids->ids, ids->n, sizeof(id), by_id) : NULL;

    return found ? (uint32_t)(found - ids->ids) + 1 : 0;
}

static int list_ids(const struct reading *reading, struct arena *arena, struct ids *stacks, struct ids *sets,
                    struct error *err)
{
    size_t n = reading->sums.n;

    stacks->ids = ARENA_ARRAY(arena, uint32_t, n, err);
    sets->ids = stacks->ids ? ARENA_ARRAY(arena, uint32_t, 2 * n, err) : NULL;
    if (!sets->ids)
        return -1;
    for (size_t i = 0; i < n; i++) {
        stacks->ids[stacks->n++] = reading->sums.items[i].stack;
        sets->ids[sets->n++] = reading->sums.items[i].row_set;
        sets->ids[sets->n++] = reading->sums.items[i].sample_set;
    }
    sort_ids(stacks);
    sort_ids(sets);
    return 0;
}

static bool has_key(const struct label *labels, uint32_t n, uint32_t key)
{
    for (uint32_t i = 0; i < n; i++)
        if (labels[i].key == key)
            return true;
    return false;
}

/* One label set of the builder out of three: those of the series and of the row, unless the sample says otherwise. */
static uint32_t join_labels(struct builder *builder, uint32_t series_set, uint32_t row_set, uint32_t sample_set,
                            struct arena *arena, struct error *err)
{
    const struct tables *tables = builder_tables(builder);
    uint32_t n[3], n_joined = 0;
    const struct label *labels[3] = { tables_label_set(tables, series_set, &n[0]),
                                      tables_label_set(tables, row_set, &n[1]),
                                      tables_label_set(tables, sample_set, &n[2]) };
    struct label *joined;

    if (!series_set && (!row_set || !sample_set))
        return row_set | sample_set;
    joined = ARENA_ARRAY(arena, struct label, (size_t)n[0] + n[1] + n[2], err);
    if (!joined)
        return 0;
    for (unsigned part = 0; part < 3; part++)
        for (uint32_t i = 0; i < n[part]; i++)
            if (part == 2 || !has_key(labels[2], n[2], labels[part][i].key))
                joined[n_joined++] = labels[part][i];
    return builder_label_set(builder, joined, n_joined);
}

static int add_sums(struct reading *reading, const struct tables *tables, const struct ids *stacks,
                    const struct ids *sets, struct arena *arena, struct error *err)
{
    struct builder *builder = reading->builder;
    struct builder_import *import = builder_import_new(builder, tables);
    uint32_t n_types = reading->shape->info.n_types;

    err->code = ERR_OK;
    for (size_t i = 0; i < reading->sums.n && import && err->code == ERR_OK; i++) {
        const struct sum *sum = &reading->sums.items[i];
        uint32_t row_set = builder_import_label_set(import, place_of(sets, sum->row_set));
        uint32_t sample_set = builder_import_label_set(import, place_of(sets, sum->sample_set));

        builder_sample(builder, builder_import_stack(import, place_of(stacks, sum->stack)),
                       join_labels(builder, sum->series_set, row_set, sample_set, arena, err), sum->link,
                       reading->values.items + i * n_types, sum->is_uncounted ? 0 : sum->count);
    }
    builder_import_free(import);
    return err->code == ERR_OK ? 0 : -1;
}

/* What a day gave is named and added to the profile. */
static int add_day(struct reading *reading, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct ids stacks = { 0 }, sets = { 0 };
    struct tables tables;
    uint32_t n_missing;

    arena_init(&arena, reading->limits->max_memory_bytes);
    if (list_ids(reading, &arena, &stacks, &sets, err) < 0 ||
        names_load(reading->names, stacks.ids, stacks.n, sets.ids, sets.n, &arena, &tables, &n_missing, err) < 0)
        return -1;
    return add_sums(reading, &tables, &stacks, &sets, &arena, err);
}

static int take_names(void *context, struct names *names, struct error *err)
{
    struct reading *reading = context;
    int result = 0;

    if (reading->names && reading->sums.n)
        result = add_day(reading, err);
    hash_set_clear(&reading->keys);
    reading->sums.n = reading->values.n = 0;
    reading->names = names;
    return result;
}

/* --- rows --- */

static int find_sum(struct reading *reading, const struct sum *wanted, uint32_t *ret_place, struct error *err)
{
    uint32_t n_types = reading->shape->info.n_types;
    struct hash128 hash = { wanted->link, 1 };
    struct sum *sum;
    bool is_new;

    hash = hash_fold(hash, (uint64_t)wanted->stack << 32 | wanted->series_set,
                     (uint64_t)wanted->row_set << 32 | wanted->sample_set);
    if (hash_set_add(&reading->keys, hash, ret_place, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    sum = VEC_PUSH(&reading->sums, reading->max_sums, err);
    if (!sum || VEC_RESERVE(&reading->values, n_types, reading->max_sums * PROFILE_MAX_TYPES, err) < 0)
        return -1;
    *sum = *wanted;
    if (n_types)
        memset(reading->values.items + reading->values.n, 0, n_types * sizeof(*reading->values.items));
    reading->values.n += n_types;
    return 0;
}

static int add_sample(struct reading *reading, const struct headrow *row, uint32_t i, uint32_t series_set,
                      struct error *err)
{
    struct sum wanted = { .stack = row->stacks[i],
                          .row_set = row->label_set,
                          .sample_set = row->label_sets ? row->label_sets[i] : 0,
                          .series_set = series_set };
    uint32_t link = row->links ? row->links[i] : 0, place, n_types = reading->shape->info.n_types;
    struct sum *sum;
    int64_t *values;

    if (link)
        wanted.link = builder_link(reading->builder, &row->link_table[link - 1]);
    if (find_sum(reading, &wanted, &place, err) < 0)
        return -1;
    sum = &reading->sums.items[place];
    sum->count += row->counts ? row->counts[i] : 0;
    sum->is_uncounted |= !row->counts || !row->counts[i];
    values = reading->values.items + (size_t)place * n_types;
    for (uint32_t type = 0; type < n_types; type++)
        values[type] = value_add(values[type], row->values[(size_t)type * row->stride + i], &reading->saturated);
    return 0;
}

static int take_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct reading *reading = context;
    uint32_t series_set;
    int64_t end_ns;

    if (!hash_equal(shape_hash(series), reading->shape->hash))
        return 0;
    if (__builtin_add_overflow(row->start_ns, MAX(row->duration_ns, 0), &end_ns))
        end_ns = INT64_MAX;
    reading->first_ns = MIN(reading->first_ns, row->start_ns);
    reading->last_ns = MAX(reading->last_ns, end_ns);
    series_set = series_labels(reading, series, false);
    for (uint32_t i = 0; i < row->n_samples; i++)
        if (add_sample(reading, row, i, series_set, err) < 0)
            return -1;
    return 0;
}

static int read_shape(struct reading *reading, struct store *store, const struct store_query *query, struct error *err)
{
    const struct seriesinfo *info = &reading->shape->info;
    struct store_sink sink = { reading, take_names, take_row };
    struct profile *profile = builder_profile(reading->builder);

    for (uint32_t i = 0; i < info->n_types && i < PROFILE_MAX_TYPES; i++)
        builder_type(reading->builder,
                     (struct value_type){ .type = builder_string(reading->builder, info->types[i].type),
                                          .unit = builder_string(reading->builder, info->types[i].unit),
                                          .nature = info->types[i].nature,
                                          .temporality = info->types[i].temporality });
    profile->period_type.type = builder_string(reading->builder, info->period_type);
    profile->period_type.unit = builder_string(reading->builder, info->period_unit);
    profile->resource = series_labels(reading, info, true);
    reading->first_ns = INT64_MAX;
    reading->last_ns = INT64_MIN;
    if (store_scan(store, query, &sink, err) < 0)
        return -1;
    if (reading->first_ns > reading->last_ns)
        return 0; /* no row was left */
    profile->start_ns = reading->first_ns;
    if (__builtin_sub_overflow(reading->last_ns, reading->first_ns, &profile->duration_ns))
        profile->duration_ns = INT64_MAX;
    return 0;
}

int store_read(struct store *store, const struct store_query *query, struct batch *batch, struct error *err)
{
    struct builder_options options = { .limits = batch->limits };
    struct reading reading = { .limits = &batch->limits };
    int result;

    reading.max_sums = MIN(batch->limits.max_memory_bytes / sizeof(struct sum), (uint64_t)MAX_SAMPLES);
    arena_init(&reading.arena, batch->limits.max_memory_bytes);
    hash_set_init(&reading.keys, MAX_SAMPLES);
    result = builder_new(&options, &reading.builder, err);
    if (!result)
        result = store_each_series(store, query, note_shape, &reading, err);
    for (size_t i = 0; i < reading.shapes.n && !result; i++) {
        reading.shape = &reading.shapes.items[i];
        result = read_shape(&reading, store, query, err);
    }
    if (!result)
        result = builder_finish(reading.builder, batch, err);
    builder_free(reading.builder);
    hash_set_done(&reading.keys);
    VEC_DONE(&reading.sums);
    VEC_DONE(&reading.values);
    VEC_DONE(&reading.shapes);
    arena_done(&reading.arena);
    return result;
}
