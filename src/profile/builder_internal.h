// SPDX-License-Identifier: Apache-2.0
/* The inside of a builder, shared by builder.c, which fills it, and merge.c, whose inner loop adds to rows directly. */
#pragma once

#include "base/vec.h"
#include "profile/builder.h"

/* The samples of one profile under construction. */
struct builder_rows {
    struct hash_set index; /* row hash -> row */
    uint32_t capacity;     /* rows that fit in the columns; also the stride of values */
    uint32_t *stacks, *label_sets, *links;
    uint64_t *counts;
    int64_t *values;
    bool has_labels, has_links, lacks_counts;
};

struct builder {
    struct builder_options options;
    struct arena text; /* the bytes of strings */
    VEC(struct slice) strings;
    VEC(struct mapping) mappings;
    VEC(struct function) functions;
    VEC(struct line) lines;
    VEC(struct frame) frames;
    VEC(uint32_t) stack_frames;
    VEC(uint32_t) stack_starts;
    VEC(struct label) labels;
    VEC(uint32_t) label_set_starts;
    VEC(struct link) links;
    struct hash_set string_set, mapping_set, function_set, frame_set, stack_set, label_set_set, link_set;
    VEC(struct profile) profiles; /* headers; the columns of all but the newest are already final, on the heap */
    struct builder_rows rows;     /* of the newest profile */
    size_t sealed_bytes;          /* of the columns of the others */
    uint32_t overflow_stack;      /* 0 until the first overflow */
    struct tables view;           /* what builder_tables gives out */
    struct profile scratch;       /* given out by a failed builder */
    struct report report;
    uint64_t saturated;
    struct error failure; /* B1 */
};

static inline bool builder_has_failed(const struct builder *builder)
{
    return builder->failure.code != ERR_OK;
}

/* Counts of raw samples stay at the edge, too. */
static inline void builder_add_count(uint64_t *count, uint64_t added)
{
    if (__builtin_add_overflow(*count, added, count))
        *count = UINT64_MAX;
}

/* Hash under which a row is found: of the stack alone where there is nothing else, so that the common case costs
 * nothing. `labels` and `link` are content hashes and only read when the flags say so. */
static inline struct hash128 builder_row_hash(struct hash128 stack, const struct hash128 *labels,
                                              const struct hash128 *link)
{
    if (labels)
        stack = hash_fold(stack, labels->a, labels->b);
    if (link)
        stack = hash_fold(stack, link->a, link->b);
    return stack;
}

/* The row with this hash, added with zero values if new; HASH_NONE if the builder failed. */
uint32_t builder_row(struct builder *builder, struct hash128 hash, uint32_t stack, uint32_t label_set, uint32_t link);

/* As builder_type, but never finds an equal one again: keeps the columns of an imported header in step. */
uint32_t builder_append_type(struct builder *builder, struct value_type type);

/* Whether a new stack may still be stored (B4). Fails the builder when it may not and overflow is off. */
bool builder_has_room(struct builder *builder);
uint32_t builder_overflow_stack(struct builder *builder);

/* Lets an import use hashes of its tables that are there already, made with the builder's seed and keep_addresses. */
void builder_import_use(struct builder_import *import, const struct content *content);
