// SPDX-License-Identifier: Apache-2.0
#include "intake/batchedit.h"

/* A copy of an array with room for more, in the arena of the batch. */
static void *copy_longer(struct batch *batch, const void *items, size_t n, size_t extra, size_t item_bytes,
                         struct error *err)
{
    void *copy = arena_alloc_array(&batch->arena, n + extra, item_bytes, err);

    if (copy && n > 0)
        memcpy(copy, items, n * item_bytes);
    return copy;
}

int batchedit_add_strings(struct batch *batch, const struct slice *texts, uint32_t n, uint32_t *ret_first,
                          struct error *err)
{
    struct tables *t = &batch->tables;
    struct slice *strings;

    if (n > UINT32_MAX - t->n_strings)
        return error_set(err, ERR_LIMIT, "%u strings and %u more are too many", t->n_strings, n);
    strings = copy_longer(batch, t->strings, t->n_strings, n, sizeof(*strings), err);
    if (!strings)
        return -1;
    memcpy(strings + t->n_strings, texts, n * sizeof(*texts));
    *ret_first = t->n_strings;
    t->strings = strings;
    t->n_strings += n;
    return 0;
}

/* The label that a set's new one is made from, or NULL where it gets none. */
static const struct label *find_source(const struct tables *t, uint32_t set, struct slice from, struct slice to)
{
    const struct label *label = tables_find_label(t, set, from);

    return label && label->kind == LABEL_STRING && tables_string(t, label->text).len > 0 &&
                   !tables_find_label(t, set, to)
               ? label
               : NULL;
}

static uint32_t count_derived(const struct tables *t, struct slice from, struct slice to, size_t *ret_n_labels)
{
    uint32_t n_sets = 0;

    *ret_n_labels = 0;
    for (uint32_t set = 1; set < t->n_label_sets; set++) {
        if (!find_source(t, set, from, to))
            continue;
        *ret_n_labels += (size_t)(t->label_set_starts[set + 1] - t->label_set_starts[set]) + 1;
        n_sets++;
    }
    return n_sets;
}

int batchedit_derive_label(struct batch *batch, struct slice from, struct slice to, uint32_t **ret_map,
                           struct error *err)
{
    struct tables *t = &batch->tables;
    size_t n_labels, n_sets = count_derived(t, from, to, &n_labels);
    uint32_t n_old = t->n_label_sets, key;
    struct label *labels;
    uint32_t *starts, *map;

    *ret_map = NULL;
    if (n_sets == 0)
        return 0;
    labels = copy_longer(batch, t->labels, t->n_labels, n_labels, sizeof(*labels), err);
    starts = labels ? copy_longer(batch, t->label_set_starts, (size_t)n_old + 1, n_sets, sizeof(*starts), err) : NULL;
    map = starts ? ARENA_ARRAY(&batch->arena, uint32_t, n_old, err) : NULL;
    if (!map || batchedit_add_strings(batch, &to, 1, &key, err) < 0)
        return -1;
    for (uint32_t set = 0; set < n_old; set++) {
        const struct label *source = find_source(t, set, from, to);
        uint32_t start = starts[set], n = starts[set + 1] - start;

        map[set] = set;
        if (!source)
            continue;
        memcpy(labels + t->n_labels, labels + start, n * sizeof(*labels));
        labels[t->n_labels + n] = (struct label){ .key = key, .text = source->text, .kind = LABEL_STRING };
        t->n_labels += n + 1;
        map[set] = t->n_label_sets++;
        starts[t->n_label_sets] = t->n_labels;
    }
    t->labels = labels;
    t->label_set_starts = starts;
    *ret_map = map;
    return 0;
}

int batchedit_link_all(struct batch *batch, struct profile *profile, const struct link *link, struct error *err)
{
    struct tables *t = &batch->tables;
    struct link *links = copy_longer(batch, t->links, t->n_links, 1, sizeof(*links), err);
    uint32_t *column = profile->links;

    if (links && !column)
        column = arena_alloc_zero(&batch->arena, profile->stride * sizeof(*column), err);
    if (!links || !column)
        return -1;
    links[t->n_links] = *link;
    for (uint32_t i = 0; i < profile->n_samples; i++)
        column[i] = column[i] ? column[i] : t->n_links;
    t->links = links;
    t->n_links++;
    profile->links = column;
    return 0;
}

static void move_sample(struct profile *p, uint32_t from, uint32_t to)
{
    p->stacks[to] = p->stacks[from];
    if (p->label_sets)
        p->label_sets[to] = p->label_sets[from];
    if (p->links)
        p->links[to] = p->links[from];
    if (p->counts)
        p->counts[to] = p->counts[from];
    for (uint32_t i = 0; i < p->n_types; i++)
        p->values[(size_t)i * p->stride + to] = p->values[(size_t)i * p->stride + from];
}

uint64_t batchedit_drop_empty_samples(struct profile *profile)
{
    uint64_t n_negative = 0;
    uint32_t n = 0;

    for (uint32_t at = 0; at < profile->n_samples; at++) {
        int64_t any = 0, sign = 0;

        for (uint32_t i = 0; i < profile->n_types; i++) {
            int64_t value = profile->values[(size_t)i * profile->stride + at];

            any |= value;
            sign = value < 0 ? -1 : sign;
        }
        n_negative += sign < 0;
        if (any == 0 || sign < 0)
            continue;
        if (n != at)
            move_sample(profile, at, n);
        n++;
    }
    if (n != profile->n_samples) {
        profile->time_starts = NULL;
        profile->times = NULL;
        profile->time_values = NULL;
    }
    profile->n_samples = n;
    return n_negative;
}

void batchedit_drop_empty_profiles(struct batch *batch)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < batch->n_profiles; i++)
        if (batch->profiles[i].n_samples > 0)
            batch->profiles[n++] = batch->profiles[i];
    batch->n_profiles = n;
}

void batchedit_weigh(struct profile *profile, uint32_t weight)
{
    uint64_t ignored = 0;

    for (uint32_t type = 0; type < profile->n_types; type++) {
        int64_t *values = profile->values + (size_t)type * profile->stride;

        if (profile->types[type].nature == VALUE_LEVEL || profile->types[type].temporality == TEMPORALITY_CUMULATIVE)
            continue;
        for (uint32_t i = 0; i < profile->n_samples; i++)
            values[i] = value_multiply(values[i], weight, &ignored);
    }
    for (uint32_t i = 0; profile->counts && i < profile->n_samples; i++)
        if (__builtin_mul_overflow(profile->counts[i], weight, &profile->counts[i]))
            profile->counts[i] = UINT64_MAX;
}
