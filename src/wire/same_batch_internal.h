// SPDX-License-Identifier: Apache-2.0
/* Whether two batches of one profile say the same, entry by entry; strings are compared by content, so their numbers
 * may differ. For tests and fuzzers of formats that keep the order of everything. */
#pragma once

#include "profile/profile.h"

static inline bool same_string(const struct batch *a, uint32_t x, const struct batch *b, uint32_t y)
{
    return slice_equal(tables_string(&a->tables, x), tables_string(&b->tables, y));
}

static inline bool same_type(const struct batch *a, const struct value_type *x, const struct batch *b,
                             const struct value_type *y)
{
    return same_string(a, x->type, b, y->type) && same_string(a, x->unit, b, y->unit) && x->nature == y->nature &&
           x->temporality == y->temporality;
}

static inline const char *same_symbols(const struct batch *a, const struct batch *b)
{
    const struct tables *s = &a->tables, *t = &b->tables;

    if (s->n_mappings != t->n_mappings || s->n_functions != t->n_functions || s->n_frames != t->n_frames)
        return "table sizes";
    for (uint32_t i = 0; i < s->n_mappings; i++) {
        const struct mapping *x = &s->mappings[i], *y = &t->mappings[i];

        if (x->start != y->start || x->limit != y->limit || x->offset != y->offset || x->flags != y->flags ||
            !same_string(a, x->file, b, y->file) || !same_string(a, x->build_id, b, y->build_id))
            return "mappings";
    }
    for (uint32_t i = 0; i < s->n_functions; i++) {
        const struct function *x = &s->functions[i], *y = &t->functions[i];

        if (!same_string(a, x->name, b, y->name) || !same_string(a, x->system_name, b, y->system_name) ||
            !same_string(a, x->file, b, y->file) || x->start_line != y->start_line)
            return "functions";
    }
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct frame *x = &s->frames[i], *y = &t->frames[i];

        if (x->address != y->address || x->mapping != y->mapping || x->n_lines != y->n_lines || x->kind != y->kind ||
            x->flags != y->flags)
            return "frames";
        if (x->n_lines &&
            memcmp(s->lines + x->first_line, t->lines + y->first_line, x->n_lines * sizeof(*s->lines)) != 0)
            return "lines";
    }
    return NULL;
}

static inline const char *same_sample(const struct batch *a, const struct batch *b, uint32_t sample)
{
    const struct profile *p = &a->profiles[0], *q = &b->profiles[0];
    uint32_t n, m;
    const uint32_t *stack = tables_stack(&a->tables, p->stacks[sample], &n);
    const uint32_t *other = tables_stack(&b->tables, q->stacks[sample], &m);
    const struct label *labels, *other_labels;

    if (n != m || (n && memcmp(stack, other, n * sizeof(*stack)) != 0))
        return "stacks";
    for (uint32_t type = 0; type < p->n_types; type++)
        if (profile_values(p, type)[sample] != profile_values(q, type)[sample])
            return "values";
    if (memcmp(&a->tables.links[profile_link(p, sample)], &b->tables.links[profile_link(q, sample)],
               sizeof(struct link)) != 0)
        return "links";
    labels = tables_label_set(&a->tables, profile_label_set(p, sample), &n);
    other_labels = tables_label_set(&b->tables, profile_label_set(q, sample), &m);
    if (n != m)
        return "numbers of labels";
    for (uint32_t i = 0; i < n; i++) {
        const struct label *x = &labels[i], *y = &other_labels[i];

        if (x->kind != y->kind || x->number != y->number || !same_string(a, x->key, b, y->key) ||
            !same_string(a, x->text, b, y->text) || !same_string(a, x->unit, b, y->unit))
            return "labels";
    }
    return NULL;
}

/* NULL when they are the same, else what differs first. */
static inline const char *same_batch(const struct batch *a, const struct batch *b)
{
    const struct profile *p = &a->profiles[0], *q = &b->profiles[0];
    const char *difference = same_symbols(a, b);

    if (difference)
        return difference;
    if (p->n_types != q->n_types || p->n_samples != q->n_samples || p->n_comments != q->n_comments)
        return "numbers of types, samples or comments";
    if (p->default_type != q->default_type || !same_type(a, &p->period_type, b, &q->period_type) ||
        p->period != q->period || p->start_ns != q->start_ns || p->duration_ns != q->duration_ns ||
        !same_string(a, p->drop_frames, b, q->drop_frames) || !same_string(a, p->keep_frames, b, q->keep_frames) ||
        !same_string(a, p->doc_url, b, q->doc_url))
        return "headers";
    for (uint32_t i = 0; i < p->n_types; i++)
        if (!same_type(a, &p->types[i], b, &q->types[i]))
            return "types";
    for (uint32_t i = 0; i < p->n_comments; i++)
        if (!same_string(a, p->comments[i], b, q->comments[i]))
            return "comments";
    for (uint32_t i = 0; i < p->n_samples && !difference; i++)
        difference = same_sample(a, b, i);
    return difference;
}
