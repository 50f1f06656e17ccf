// SPDX-License-Identifier: Apache-2.0
#include "query/rowlabels.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"

enum { BLOCK_SETS = 128 };

struct rowlabels {
    struct arena arena; /* names, and the texts of values */
    struct slice *asked;
    uint32_t n_asked;
    size_t max_bytes;
    struct hash_set values; /* hash of the text -> number - 1 */
    VEC(struct slice) texts;
    struct names *names;  /* of the day at hand */
    struct arena scratch; /* of the block that is being named */
    struct map blocks;    /* number of a block -> its place in `sets` */
    VEC(uint32_t) sets;   /* BLOCK_SETS * n_asked values for each block */
};

/* Ids of spans, traces and profiles are kept apart from labels (labelrules.h): to group by one would put all in one group. */
static int refuse_ids(struct slice name, struct error *err)
{
    static const char *const ids[] = { "span_id", "trace_id", "profile_id" };

    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        if (slice_is(name, ids[i]))
            return error_set(
                err, ERR_INVALID,
                "%s is an id and no label to group by: --span-id, --trace-id and --profile-id choose by ids, "
                "and --exemplars shows those with the largest values",
                ids[i]);
    return 0;
}

int rowlabels_new(const struct slice *names, uint32_t n_names, size_t max_bytes, struct rowlabels **ret_labels,
                  struct error *err)
{
    AUTO(rowlabels_freep) struct rowlabels *labels = NULL;
    bool is_repaired;

    if (n_names > ROWLABELS_MAX)
        return error_set(err, ERR_LIMIT, "%u labels to group by: at most %d are allowed", n_names, ROWLABELS_MAX);
    labels = MEMORY_NEW(struct rowlabels, err);
    if (!labels)
        return -1;
    arena_init(&labels->arena, 0);
    arena_init(&labels->scratch, 0);
    hash_set_init(&labels->values, 0);
    map_init(&labels->blocks, 0);
    labels->max_bytes = max_bytes;
    labels->n_asked = n_names;
    labels->asked = ARENA_ARRAY(&labels->arena, struct slice, n_names, err);
    if (!labels->asked)
        return -1;
    for (uint32_t i = 0; i < n_names; i++) {
        struct slice canonical;

        if (labelrules_canonical(names[i], &labels->arena, &canonical, &is_repaired, err) < 0 ||
            refuse_ids(canonical, err) < 0)
            return -1;
        labels->asked[i] = arena_copy(&labels->arena, canonical, err);
        if (!labels->asked[i].ptr)
            return -1;
    }
    *ret_labels = TAKE(labels);
    return 0;
}

void rowlabels_free(struct rowlabels *labels)
{
    if (!labels)
        return;
    arena_done(&labels->arena);
    arena_done(&labels->scratch);
    hash_set_done(&labels->values);
    map_done(&labels->blocks);
    VEC_DONE(&labels->texts);
    VEC_DONE(&labels->sets);
    memory_free(labels);
}

void rowlabels_freep(struct rowlabels **labels)
{
    rowlabels_free(*labels);
}

static bool is_of_series_alone(struct slice asked)
{
    return slice_is(asked, SERIES_NAME_LABEL);
}

bool rowlabels_are_of_series(const struct rowlabels *labels, const struct seriesinfo *series)
{
    for (uint32_t i = 0; i < labels->n_asked; i++) {
        struct slice value = seriesinfo_label(series, labels->asked[i]);

        if (is_of_series_alone(labels->asked[i]))
            continue;
        if (!value.len ||
            (slice_is(labels->asked[i], SERIES_SERVICE_LABEL) && slice_is(value, LABELRULES_OTHER_SERVICES)))
            return false;
    }
    return true;
}

/* --- values --- */

static int number_of(struct rowlabels *labels, struct slice text, uint32_t *ret_number, struct error *err)
{
    struct slice *slot;
    uint32_t id;
    bool is_new;

    *ret_number = 0;
    if (!text.len)
        return 0;
    if (hash_set_add(&labels->values, hash_bytes(text, 0), &id, &is_new, err) < 0)
        return -1;
    if (is_new) {
        if (labels->arena.used_bytes + text.len + hash_set_bytes(&labels->values) > labels->max_bytes)
            return error_set(err, ERR_LIMIT,
                             "the labels asked for have more than %u values, which is all that a query has memory for: "
                             "ask for less time or fewer series, or raise --query-memory",
                             id);
        slot = VEC_PUSH(&labels->texts, UINT32_MAX, err);
        if (!slot)
            return -1;
        *slot = arena_copy(&labels->arena, text, err);
        if (!slot->ptr)
            return -1;
    }
    *ret_number = id + 1;
    return 0;
}

struct slice rowlabels_text(const struct rowlabels *labels, uint32_t value)
{
    return value ? labels->texts.items[value - 1] : SLICE("");
}

int rowlabels_of_series(struct rowlabels *labels, const struct seriesinfo *series, uint32_t *ret_values,
                        struct error *err)
{
    for (uint32_t i = 0; i < labels->n_asked; i++)
        if (number_of(labels, seriesinfo_label(series, labels->asked[i]), &ret_values[i], err) < 0)
            return -1;
    return 0;
}

/* --- label sets --- */

int rowlabels_is_asked(struct rowlabels *labels, struct slice name, bool *ret_is_asked, struct error *err)
{
    struct slice canonical;
    bool is_repaired;

    arena_reset(&labels->scratch);
    if (labelrules_canonical(name, &labels->scratch, &canonical, &is_repaired, err) < 0)
        return -1;
    *ret_is_asked = false;
    for (uint32_t i = 0; i < labels->n_asked; i++)
        *ret_is_asked |= slice_equal(labels->asked[i], canonical) && !is_of_series_alone(canonical);
    return 0;
}

int rowlabels_names(void *context, struct names *names, struct error *err)
{
    struct rowlabels *labels = context;

    labels->names = names;
    map_clear(&labels->blocks);
    labels->sets.n = 0;
    return 0;
}

/* Notes the label in the values of its set, unless one came before it. */
static int take_label(struct rowlabels *labels, const struct tables *tables, const struct label *label,
                      uint32_t *values, struct error *err)
{
    struct names_space space;
    struct slice canonical;
    bool is_repaired;

    if (labelrules_canonical(tables_string(tables, label->key), &labels->scratch, &canonical, &is_repaired, err) < 0)
        return -1;
    for (uint32_t i = 0; i < labels->n_asked; i++)
        if (!values[i] && slice_equal(labels->asked[i], canonical) && !is_of_series_alone(canonical) &&
            number_of(labels, names_value_text(tables, label, &space), &values[i], err) < 0)
            return -1;
    return 0;
}

/* Names the label sets of a block, whose values are zeros so far. Ids that nobody gave have no labels. */
static int name_block(struct rowlabels *labels, uint32_t block, uint32_t *values, struct error *err)
{
    uint32_t ids[BLOCK_SETS], n = 0, first = block * BLOCK_SETS, n_missing;
    struct tables tables;

    for (uint32_t i = 0; i < BLOCK_SETS; i++)
        if (first + i)
            ids[n++] = first + i;
    arena_reset(&labels->scratch);
    if (names_load(labels->names, NULL, 0, ids, n, &labels->scratch, &tables, &n_missing, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t n_labels;
        const struct label *set = tables_label_set(&tables, i + 1, &n_labels);

        for (uint32_t j = 0; j < n_labels; j++)
            if (take_label(labels, &tables, &set[j], values + (size_t)(ids[i] - first) * labels->n_asked, err) < 0)
                return -1;
    }
    return 0;
}

/* The place of a block in `sets`, which is named if need be. */
static int find_block(struct rowlabels *labels, uint32_t block, size_t *ret_place, struct error *err)
{
    const uint32_t *found = map_find(&labels->blocks, block);
    size_t n = (size_t)BLOCK_SETS * labels->n_asked;

    if (found) {
        *ret_place = *found * n;
        return 0;
    }
    if ((labels->sets.n + n) * sizeof(uint32_t) > labels->max_bytes / 2) {
        map_clear(&labels->blocks);
        labels->sets.n = 0;
    }
    if (VEC_RESERVE(&labels->sets, n, SIZE_MAX / sizeof(uint32_t), err) < 0)
        return -1;
    memset(labels->sets.items + labels->sets.n, 0, n * sizeof(uint32_t));
    if (name_block(labels, block, labels->sets.items + labels->sets.n, err) < 0 ||
        map_set(&labels->blocks, block, (uint32_t)(labels->sets.n / n), err) < 0)
        return -1;
    *ret_place = labels->sets.n;
    labels->sets.n += n;
    return 0;
}

int rowlabels_overlay(struct rowlabels *labels, uint32_t label_set, uint32_t *values, struct error *err)
{
    const uint32_t *own;
    size_t place;

    if (!label_set || !labels->n_asked)
        return 0;
    if (find_block(labels, label_set / BLOCK_SETS, &place, err) < 0)
        return -1;
    own = labels->sets.items + place + (size_t)(label_set % BLOCK_SETS) * labels->n_asked;
    for (uint32_t i = 0; i < labels->n_asked; i++)
        values[i] = own[i] ? own[i] : values[i];
    return 0;
}
