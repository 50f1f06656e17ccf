// SPDX-License-Identifier: Apache-2.0
/* Rows and samples: judged by their labels where those of their series do not decide, and cut to what is left. */
#include "store/rowfilter_internal.h"

enum { MAX_CACHED_SETS = 1 << 16 /* label sets kept resolved */ };

static int resolve(struct rowfilter *filter, uint32_t id, struct label_set *ret_set, struct error *err)
{
    struct tables tables;
    uint32_t n_missing, n;
    const struct label *labels;

    if (names_load(filter->names, NULL, 0, &id, 1, &filter->labels, &tables, &n_missing, err) < 0)
        return -1;
    labels = tables_label_set(&tables, 1, &n);
    ret_set->n = n;
    ret_set->labels = ARENA_ARRAY(&filter->labels, struct selector_label, n, err);
    if (!ret_set->labels)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        struct names_space space;
        struct slice value = names_value_text(&tables, &labels[i], &space);

        if (value.ptr == space.text) {
            value = arena_copy(&filter->labels, value, err);
            if (!value.ptr)
                return -1;
        }
        ret_set->labels[i] = (struct selector_label){ tables_string(&tables, labels[i].key), value };
    }
    return 0;
}

static int find_set(struct rowfilter *filter, uint32_t id, struct label_set *ret_set, struct error *err)
{
    uint32_t *place, next;
    struct label_set *set;

    *ret_set = (struct label_set){ 0 };
    if (!id)
        return 0;
    place = map_find(&filter->sets, id);
    if (place) {
        *ret_set = filter->resolved.items[*place];
        return 0;
    }
    if (filter->resolved.n >= MAX_CACHED_SETS || filter->labels.used_bytes > filter->max_label_bytes) {
        map_clear(&filter->sets);
        filter->resolved.n = 0;
        arena_reset(&filter->labels);
    }
    if (resolve(filter, id, ret_set, err) < 0)
        return -1;
    next = (uint32_t)filter->resolved.n;
    set = VEC_PUSH(&filter->resolved, MAX_CACHED_SETS, err);
    if (!set)
        return -1;
    *set = *ret_set;
    return map_set(&filter->sets, id, next, err);
}

int rowfilter_each_label(struct rowfilter *filter, uint32_t label_set,
                         int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                         void *context, struct error *err)
{
    struct label_set set;

    if (find_set(filter, label_set, &set, err) < 0)
        return -1;
    for (uint32_t i = 0; i < set.n; i++)
        if (visit(context, set.labels[i].name, set.labels[i].value, err) < 0)
            return -1;
    return 0;
}

/* Whether a rule's selector matches a sample with these labels. */
static int rule_matches(struct rowfilter *filter, uint32_t number, const struct label_set *row,
                        const struct label_set *sample, bool *ret_matches, struct error *err)
{
    const struct current_series *current = &filter->current;

    if (current->verdicts[number] != SELECTOR_MAYBE) {
        *ret_matches = current->verdicts[number] == SELECTOR_YES;
        return 0;
    }
    return selector_test(filter->rules[number].selector, &current->info, row->labels, row->n, sample->labels, sample->n,
                         filter->scratch, ret_matches, err);
}

/* Whether one of the ranges has it. */
static int is_in_ranges(struct rowfilter *filter, const struct headrow *row, const struct label_set *row_set,
                        const struct label_set *sample_set, bool *ret_is_in, struct error *err)
{
    *ret_is_in = false;
    for (uint32_t i = 0; i < filter->n_rules && !*ret_is_in; i++) {
        const struct rowfilter_range *range = filter->rules[i].range;

        if (range && row->start_ns >= range->from_ns && row->start_ns < range->until_ns &&
            rule_matches(filter, i, row_set, sample_set, ret_is_in, err) < 0)
            return -1;
    }
    return 0;
}

static int sample_stays(struct rowfilter *filter, const struct headrow *row, const struct label_set *row_set,
                        const struct label_set *sample_set, bool *ret_stays, struct error *err)
{
    *ret_stays = false;
    for (uint32_t i = 0; i < filter->n_rules; i++) {
        const struct tombstone *tombstone = filter->rules[i].tombstone;
        bool matches;

        if (filter->rules[i].range || (tombstone && !tombstone_covers(tombstone, row->start_ns, row->sequence)))
            continue;
        if (rule_matches(filter, i, row_set, sample_set, &matches, err) < 0)
            return -1;
        if (matches == (tombstone != NULL))
            return 0;
    }
    *ret_stays = true;
    return filter->has_ranges ? is_in_ranges(filter, row, row_set, sample_set, ret_stays, err) : 0;
}

int rowfilter_apply(struct rowfilter *filter, uint32_t series, struct headrow *row, bool *ret_keeps, struct error *err)
{
    const struct current_series *current = &filter->current;
    struct label_set row_set, set = { 0 };
    uint32_t *kept, n = 0, last = 0;
    bool stays = false;

    *ret_keeps = false;
    if (filter->is_telling && !rowfilter_wants(filter, series))
        return 0;
    if (filter->ids) {
        if (idfilter_apply(filter->ids, series, row, ret_keeps, err) < 0)
            return -1;
        if (!*ret_keeps)
            return 0;
        *ret_keeps = false;
    }
    if (rowfilter_read_current(filter, series, err) < 0)
        return -1;
    if (!current->is_there) {
        *ret_keeps = !filter->is_telling && !filter->has_ranges;
        return 0;
    }
    arena_reset(&filter->row);
    if (current->is_decided || !row->label_sets || !row->n_samples) {
        if (find_set(filter, current->is_decided ? 0 : row->label_set, &row_set, err) < 0)
            return -1;
        return sample_stays(filter, row, &row_set, &set, ret_keeps, err);
    }
    kept = ARENA_ARRAY(&filter->row, uint32_t, row->n_samples, err);
    if (!kept)
        return -1;
    for (uint32_t i = 0; i < row->n_samples; i++) {
        /* Runs of samples with one set are judged once. Looking up may empty the cache, so both are looked up. */
        if (i == 0 || row->label_sets[i] != last) {
            last = row->label_sets[i];
            if (find_set(filter, row->label_set, &row_set, err) < 0 || find_set(filter, last, &set, err) < 0 ||
                find_set(filter, row->label_set, &row_set, err) < 0 ||
                sample_stays(filter, row, &row_set, &set, &stays, err) < 0)
                return -1;
        }
        if (stays)
            kept[n++] = i;
    }
    *ret_keeps = n > 0;
    return !n || n == row->n_samples ? 0 : headrow_cut(row, kept, n, &filter->row, err);
}
