// SPDX-License-Identifier: Apache-2.0
#include "label/labelsplit_internal.h"

#include "base/hash.h"
#include "label/labeltext_internal.h"

#include <stdlib.h>

#define NONE     UINT32_MAX
#define MAX_USES (1u << 30) /* labels in the label sets of one profile; the tables end long before */

/* As map_add; the seed keeps senders from choosing keys that collide. */
static int map_intern(const struct labelsplit *split, struct map *map, uint64_t key, uint32_t next, uint32_t *ret_value,
                      struct error *err)
{
    return map_add(map, key ^ split->seed, next, ret_value, err);
}

/* --- reading the label sets --- */

static int add_sets(struct labelsplit *split, struct error *err)
{
    const struct profile *profile = split->profile;
    uint32_t last = NONE, index = 0;

    split->sample_sets = ARENA_ARRAY(split->arena, uint32_t, profile->n_samples, err);
    if (!split->sample_sets)
        return -1;
    for (uint32_t i = 0; i < profile->n_samples; i++) {
        uint32_t set = profile->label_sets[i];

        if (set != last) {
            if (map_intern(split, &split->set_map, set, (uint32_t)split->sets.n, &index, err) < 0)
                return -1;
            if (index == split->sets.n) {
                struct split_set *added = VEC_PUSH(&split->sets, profile->n_samples, err);

                if (!added)
                    return -1;
                added->set = set;
            }
            last = set;
        }
        split->sample_sets[i] = index;
    }
    return 0;
}

static int intern_name(struct labelsplit *split, struct slice canonical, uint32_t *ret_name, struct error *err)
{
    uint64_t hash = hash_bytes64(canonical, split->seed);
    struct split_name *name;

    for (;; hash++) { /* the next one belongs to another name of equal hash */
        if (map_intern(split, &split->name_map, hash, (uint32_t)split->names.n, ret_name, err) < 0)
            return -1;
        if (*ret_name == split->names.n)
            break;
        if (slice_equal(split->names.items[*ret_name].name, canonical))
            return 0;
    }
    name = VEC_PUSH(&split->names, MAX_USES, err);
    if (!name)
        return -1;
    name->name = canonical;
    name->base = labelbase_find(split->base, canonical);
    name->is_column =
        labeltext_is_reserved(canonical) || labeltext_is_never(canonical) || (name->base && name->base->is_column);
    return 0;
}

static int intern_key(struct labelsplit *split, uint32_t string, uint32_t *ret_key, struct error *err)
{
    struct split_key key = { .spelling = tables_string(split->profile->tables, string) };
    bool is_repaired, is_cut;
    struct split_key *added;
    struct slice canonical;

    if (map_intern(split, &split->key_map, string, (uint32_t)split->keys.n, ret_key, err) < 0)
        return -1;
    if (*ret_key < split->keys.n)
        return 0;
    if (labelbase_name(key.spelling, split->limits->max_name_bytes, split->arena, &canonical, &is_repaired, &is_cut,
                       err) < 0 ||
        intern_name(split, canonical, &key.name, err) < 0)
        return -1;
    split->names.items[key.name].is_repaired |= is_repaired;
    split->names.items[key.name].is_cut |= is_cut;
    added = VEC_PUSH(&split->keys, MAX_USES, err);
    if (!added)
        return -1;
    *added = key;
    return 0;
}

/* The value with that text, already cleaned. */
static int intern_clean(struct labelsplit *split, uint32_t name, const struct labeltext *clean, uint32_t *ret_value,
                        struct error *err)
{
    uint64_t hash = hash_bytes64(clean->text, split->seed + name);
    struct split_name *of = &split->names.items[name];
    struct split_value *added;

    for (;; hash++) {
        const struct split_value *found;

        if (map_intern(split, &split->value_map, hash, (uint32_t)split->values.n, ret_value, err) < 0)
            return -1;
        if (*ret_value == split->values.n)
            break;
        found = &split->values.items[*ret_value];
        if (found->name == name && slice_equal(found->text, clean->text))
            return 0;
    }
    added = VEC_PUSH(&split->values, MAX_USES, err);
    if (!added)
        return -1;
    *added = (struct split_value){ .text = clean->text,
                                   .name = name,
                                   .is_of_base = of->base && slice_equal(of->base->value, clean->text),
                                   .is_repaired = clean->is_repaired,
                                   .is_cut = clean->is_cut };
    of->n_values++;
    return 0;
}

/* Texts are looked at once per string of the tables; equal ones under several ids are still one value. */
static int intern_value(struct labelsplit *split, uint32_t name, uint32_t string, uint32_t *ret_value,
                        struct error *err)
{
    uint64_t pair = (uint64_t)name << 32 | string;
    const uint32_t *known = map_find(&split->text_map, pair ^ split->seed);
    struct labeltext clean;

    if (known) {
        *ret_value = *known;
        return 0;
    }
    if (labeltext_clean(tables_string(split->profile->tables, string), split->limits->max_value_bytes, split->arena,
                        &clean, err) < 0 ||
        intern_clean(split, name, &clean, ret_value, err) < 0)
        return -1;
    return map_set(&split->text_map, pair ^ split->seed, *ret_value, err);
}

/* Notes one label of set `index`; there is room for it. */
static int add_use(struct labelsplit *split, uint32_t index, uint32_t label, struct error *err)
{
    const struct label *given = &split->profile->tables->labels[label];
    struct split_use use = { .label = label, .value = NONE };
    struct split_name *name;

    if (intern_key(split, given->key, &use.key, err) < 0)
        return -1;
    name = &split->names.items[split->keys.items[use.key].name];
    if (given->kind != LABEL_STRING)
        name->is_column = true;
    if (!name->is_column) {
        if (intern_value(split, split->keys.items[use.key].name, given->text, &use.value, err) < 0)
            return -1;
        if (name->set_plus_one == index + 1 && name->value != use.value)
            name->is_column = true;
        name->set_plus_one = index + 1;
        name->value = use.value;
    }
    split->uses.items[split->uses.n++] = use;
    return 0;
}

static int add_uses(struct labelsplit *split, struct error *err)
{
    const struct tables *t = split->profile->tables;
    size_t n = 0;

    VEC_EACH (&split->sets, set)
        n += t->label_set_starts[set->set + 1] - t->label_set_starts[set->set];
    if (VEC_RESERVE(&split->uses, n, MAX_USES, err) < 0)
        return -1;
    for (uint32_t i = 0; i < split->sets.n; i++) {
        struct split_set *set = &split->sets.items[i];

        set->first_use = (uint32_t)split->uses.n;
        for (uint32_t label = t->label_set_starts[set->set]; label < t->label_set_starts[set->set + 1]; label++) {
            const struct label *given = &t->labels[label];

            if (!labelbase_is_empty(t->strings[given->key], (enum label_kind)given->kind, t->strings[given->text]) &&
                add_use(split, i, label, err) < 0)
                return -1;
        }
        set->n_uses = (uint32_t)split->uses.n - set->first_use;
        split->n_most_uses = MAX(split->n_most_uses, set->n_uses);
    }
    return 0;
}

int labelsplit_init(struct labelsplit *split, const struct profile *profile, const struct label_limits *limits,
                    struct labelbase *base, struct arena *arena, struct label_counts *counts, struct error *err)
{
    *split = (struct labelsplit){ .profile = profile, .limits = limits, .base = base, .arena = arena };
    /* Where things lie in memory is different in each process, and no sender knows it. */
    split->seed = hash_mix64((uintptr_t)split ^ hash_mix64((uintptr_t)profile->label_sets));
    map_init(&split->set_map, 0);
    map_init(&split->key_map, 0);
    map_init(&split->name_map, 0);
    map_init(&split->text_map, 0);
    map_init(&split->value_map, 0);
    map_init(&split->node_map, 0);
    if (add_sets(split, err) < 0 || add_uses(split, err) < 0)
        return -1;
    VEC_EACH (&split->names, name)
        if (name->is_column && name->base)
            counts->moved_to_samples += labelbase_move(name->base);
    return 0;
}

void labelsplit_done(struct labelsplit *split)
{
    VEC_DONE(&split->sets);
    VEC_DONE(&split->uses);
    VEC_DONE(&split->keys);
    VEC_DONE(&split->names);
    VEC_DONE(&split->values);
    VEC_DONE(&split->entries);
    VEC_DONE(&split->pieces_of_nodes);
    map_done(&split->set_map);
    map_done(&split->key_map);
    map_done(&split->name_map);
    map_done(&split->text_map);
    map_done(&split->value_map);
    map_done(&split->node_map);
}

/* --- which names split --- */

static int compare_names(const void *a, const void *b, void *context)
{
    const struct split_name *names = context;

    return slice_compare(names[*(const uint32_t *)a].name, names[*(const uint32_t *)b].name);
}

static int rank_names(struct labelsplit *split, struct error *err)
{
    uint32_t n = (uint32_t)split->names.n;

    split->names_by_rank = ARENA_ARRAY(split->arena, uint32_t, n, err);
    if (!split->names_by_rank)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        split->names_by_rank[i] = i;
    qsort_r(split->names_by_rank, n, sizeof(*split->names_by_rank), compare_names, split->names.items);
    for (uint32_t rank = 0; rank < n; rank++)
        split->names.items[split->names_by_rank[rank]].rank = rank;
    return 0;
}

/* Lists what splits of each set, in the order of names. A value that the whole profile has does not. */
static int list_entries(struct labelsplit *split, struct error *err)
{
    split->scratch = ARENA_ARRAY(split->arena, uint64_t, split->n_most_uses, err);
    /* One more than needed, so that the array is there even if nothing splits. */
    if (!split->scratch || VEC_RESERVE(&split->entries, split->uses.n + 1, MAX_USES + 1, err) < 0)
        return -1;
    VEC_EACH (&split->sets, set) {
        uint64_t *entries = split->entries.items + split->entries.n;
        uint32_t n = 0, n_unique = 0;

        for (uint32_t i = 0; i < set->n_uses; i++) {
            const struct split_use *use = &split->uses.items[set->first_use + i];
            const struct split_name *name = &split->names.items[split->keys.items[use->key].name];

            if (!name->is_column && !split->values.items[use->value].is_of_base)
                entries[n++] = idsort_pair(name->rank, use->value);
        }
        idsort_pairs(entries, split->scratch, n);
        for (uint32_t i = 0; i < n; i++)
            if (i == 0 || entries[i] != entries[i - 1])
                entries[n_unique++] = entries[i];
        set->first_entry = (uint32_t)split->entries.n;
        set->n_entries = n_unique;
        split->entries.n += n_unique;
    }
    return 0;
}

/* The names beyond `room`, in any set, become columns. Names that the whole profile has take none. */
static void limit_names(struct labelsplit *split, uint32_t room, struct label_counts *counts)
{
    VEC_EACH (&split->sets, set) {
        uint32_t n = 0;

        for (uint32_t i = 0; i < set->n_entries; i++) {
            struct split_name *name = labelsplit_name(split, split->entries.items[set->first_entry + i]);

            if (name->base && name->base->is_series)
                continue;
            if (n++ >= room && !name->is_column) {
                name->is_column = true;
                counts->moved_to_samples++;
            }
        }
    }
}

/* --- from label sets to pieces --- */

/* Walks each set's entries down a tree whose nodes are what the sets have in common: sets that end at the same node are
 * one piece. Names whose turn of removal is below `n_removed` are left out. */
static int fold_sets(struct labelsplit *split, uint32_t n_removed, uint32_t *ret_n_pieces, struct error *err)
{
    uint32_t n_nodes = 1, n_pieces = 0;

    map_clear(&split->node_map);
    split->pieces_of_nodes.n = 0;
    if (!VEC_PUSH(&split->pieces_of_nodes, MAX_USES, err))
        return -1;
    VEC_EACH (&split->sets, set) {
        uint32_t node = 0;

        for (uint32_t i = 0; i < set->n_entries; i++) {
            uint64_t entry = split->entries.items[set->first_entry + i];
            const struct split_name *name = labelsplit_name(split, entry);
            uint64_t step = (uint64_t)node << 32 | idsort_from(entry);

            if (name->is_column || name->removal < n_removed)
                continue;
            if (map_intern(split, &split->node_map, step, n_nodes, &node, err) < 0)
                return -1;
            if (node < n_nodes)
                continue;
            if (!VEC_PUSH(&split->pieces_of_nodes, MAX_USES, err))
                return -1;
            n_nodes++;
        }
        if (split->pieces_of_nodes.items[node] == 0)
            split->pieces_of_nodes.items[node] = ++n_pieces;
        set->piece = split->pieces_of_nodes.items[node] - 1;
    }
    *ret_n_pieces = n_pieces;
    return 0;
}

/* The most different values first; service_name last, since all that people ask for hangs on it; then by name. */
static int compare_removal(const void *a, const void *b, void *context)
{
    const struct split_name *names = context, *x = &names[*(const uint32_t *)a], *y = &names[*(const uint32_t *)b];
    bool x_is_service = slice_is(x->name, SERIES_SERVICE_LABEL), y_is_service = slice_is(y->name, SERIES_SERVICE_LABEL);

    if (x_is_service != y_is_service)
        return x_is_service ? 1 : -1;
    if (x->n_values != y->n_values)
        return x->n_values > y->n_values ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int order_removal(struct labelsplit *split, uint32_t **ret_order, uint32_t *ret_n, struct error *err)
{
    uint32_t *order = ARENA_ARRAY(split->arena, uint32_t, split->names.n, err);
    uint32_t n = 0;

    if (!order)
        return -1;
    for (uint32_t i = 0; i < split->names.n; i++)
        if (!split->names.items[i].is_column)
            order[n++] = i;
    qsort_r(order, n, sizeof(*order), compare_removal, split->names.items);
    for (uint32_t i = 0; i < n; i++)
        split->names.items[order[i]].removal = i;
    *ret_order = order;
    *ret_n = n;
    return 0;
}

/* Makes columns of as few names as needed. Leaving out one more never makes more pieces, so the number can be found by
 * halving. */
static int limit_pieces(struct labelsplit *split, struct label_counts *counts, uint32_t *n_pieces, struct error *err)
{
    uint32_t *order, n, low = 1, high;

    if (order_removal(split, &order, &n, err) < 0)
        return -1;
    for (high = n; low < high;) { /* leaving out `high` is enough, `low - 1` is not */
        uint32_t middle = low + (high - low) / 2;

        if (fold_sets(split, middle, n_pieces, err) < 0)
            return -1;
        if (*n_pieces <= split->limits->max_splits)
            high = middle;
        else
            low = middle + 1;
    }
    for (uint32_t i = 0; i < high; i++) {
        struct split_name *name = &split->names.items[order[i]];

        name->is_column = true;
        counts->splits_moved++;
        if (name->base)
            counts->moved_to_samples += labelbase_move(name->base);
    }
    return fold_sets(split, 0, n_pieces, err);
}

/* What was repaired in labels that made it into a series. */
static void count_repairs(struct labelsplit *split, struct label_counts *counts)
{
    VEC_EACH (&split->names, name) {
        counts->names_repaired += !name->is_column && name->is_repaired;
        counts->names_cut += !name->is_column && name->is_cut;
    }
    VEC_EACH (&split->values, value) {
        bool is_series = !split->names.items[value->name].is_column;

        counts->values_repaired += is_series && value->is_repaired;
        counts->values_cut += is_series && value->is_cut;
    }
}

int labelsplit_assign(struct labelsplit *split, struct label_counts *counts, uint32_t *ret_n_pieces, struct error *err)
{
    uint32_t n_base = labelbase_series_count(split->base), n_pieces;

    VEC_EACH (&split->names, name)
        name->is_column |= name->base && name->base->is_column;
    if (rank_names(split, err) < 0 || list_entries(split, err) < 0)
        return -1;
    limit_names(split, split->limits->max_labels - MIN(n_base, split->limits->max_labels), counts);
    if (fold_sets(split, 0, &n_pieces, err) < 0)
        return -1;
    if (n_pieces > split->limits->max_splits && limit_pieces(split, counts, &n_pieces, err) < 0)
        return -1;
    count_repairs(split, counts);
    *ret_n_pieces = n_pieces;
    return 0;
}
