// SPDX-License-Identifier: Apache-2.0
#include "label/labelsplit_internal.h"

#include <stdlib.h>

/* Merges the labels of the whole profile with those of a set, both in the order of names. */
static int fill_labels(const struct labelsplit *split, const struct split_set *set, struct seriesinfo *info,
                       struct error *err)
{
    const uint64_t *entries = split->entries.items + set->first_entry;
    uint32_t b = 0, e = 0;

    info->labels = ARENA_ARRAY(split->arena, struct series_label, (size_t)split->base->n + set->n_entries, err);
    if (!info->labels)
        return -1;
    while (b < split->base->n || e < set->n_entries) {
        const struct base_label *base = b < split->base->n ? &split->base->labels[b] : NULL;
        const struct split_name *name = e < set->n_entries ? labelsplit_name(split, entries[e]) : NULL;
        int order = !name ? -1 : !base ? 1 : slice_compare(base->name, name->name);

        if (order >= 0 && !name->is_column)
            info->labels[info->n_labels++] =
                (struct series_label){ name->name, split->values.items[idsort_from(entries[e])].text };
        else if (order <= 0 && base->is_series)
            info->labels[info->n_labels++] = (struct series_label){ base->name, base->value };
        b += order <= 0;
        e += order >= 0;
    }
    return 0;
}

static int fill_samples(const struct labelsplit *split, struct series_piece *pieces, uint32_t n_pieces,
                        struct error *err)
{
    uint32_t n_samples = split->profile->n_samples;
    uint32_t *samples = ARENA_ARRAY(split->arena, uint32_t, n_samples, err);

    if (!samples)
        return -1;
    for (uint32_t i = 0; i < n_samples; i++)
        pieces[split->sets.items[split->sample_sets[i]].piece].n_samples++;
    for (uint32_t i = 0; i < n_pieces; i++) {
        pieces[i].samples = samples;
        samples += pieces[i].n_samples;
        pieces[i].n_samples = 0;
    }
    for (uint32_t i = 0; i < n_samples; i++) {
        struct series_piece *piece = &pieces[split->sets.items[split->sample_sets[i]].piece];

        piece->samples[piece->n_samples++] = i;
    }
    return 0;
}

int labelsplit_fill_pieces(struct labelsplit *split, struct series_piece *pieces, uint32_t n_pieces, struct error *err)
{
    VEC_EACH (&split->sets, set)
        if (!pieces[set->piece].info.labels && fill_labels(split, set, &pieces[set->piece].info, err) < 0)
            return -1;
    if (n_pieces > 1)
        return fill_samples(split, pieces, n_pieces, err);
    pieces[0].n_samples = split->profile->n_samples;
    return 0;
}

static int compare_keys(const void *a, const void *b, void *context)
{
    const struct split_key *keys = context;

    return slice_compare(keys[*(const uint32_t *)a].spelling, keys[*(const uint32_t *)b].spelling);
}

static int rank_keys(struct labelsplit *split, struct error *err)
{
    struct split_key *keys = split->keys.items;
    uint32_t n = (uint32_t)split->keys.n, rank = 0;
    uint32_t *order = ARENA_ARRAY(split->arena, uint32_t, n, err);

    if (!order)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof(*order), compare_keys, keys);
    for (uint32_t i = 0; i < n; i++) {
        rank += i > 0 && !slice_equal(keys[order[i]].spelling, keys[order[i - 1]].spelling);
        keys[order[i]].rank = rank;
    }
    return 0;
}

static bool is_column(const struct labelsplit *split, const struct split_use *use)
{
    return split->names.items[split->keys.items[use->key].name].is_column;
}

/* The columns of one set, by spelling; several of one name stay in the order in which they came. */
static uint32_t fill_columns(const struct labelsplit *split, const struct split_set *set, uint64_t *pairs,
                             struct column_label *ret_columns)
{
    const struct split_use *uses = split->uses.items + set->first_use;
    const struct tables *t = split->profile->tables;
    uint32_t n = 0;

    for (uint32_t i = 0; i < set->n_uses; i++)
        if (is_column(split, &uses[i]))
            pairs[n++] = idsort_pair(split->keys.items[uses[i].key].rank, uses[i].label);
    idsort_pairs(pairs, split->scratch, n);
    for (uint32_t i = 0; i < n; i++)
        ret_columns[i] = labelbase_column(t, &t->labels[idsort_from(pairs[i])]);
    return n;
}

int labelsplit_fill_columns(struct labelsplit *split, struct column_labels **ret_labels, struct error *err)
{
    struct column_labels *labels;
    struct column_label *columns;
    uint64_t *pairs;
    size_t n = 0;

    VEC_EACH (&split->uses, use)
        n += is_column(split, use);
    if (n == 0) {
        *ret_labels = NULL;
        return 0;
    }
    labels = ARENA_ARRAY(split->arena, struct column_labels, split->profile->tables->n_label_sets, err);
    columns = ARENA_ARRAY(split->arena, struct column_label, n, err);
    pairs = ARENA_ARRAY(split->arena, uint64_t, split->n_most_uses, err);
    if (!labels || !columns || !pairs || rank_keys(split, err) < 0)
        return -1;
    VEC_EACH (&split->sets, set) {
        uint32_t n_columns = fill_columns(split, set, pairs, columns);

        labels[set->set] = (struct column_labels){ n_columns ? columns : NULL, n_columns };
        columns += n_columns;
    }
    *ret_labels = labels;
    return 0;
}
