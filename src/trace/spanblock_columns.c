// SPDX-License-Identifier: Apache-2.0
/* Reads columns of attributes: the streams once for all, and each column when somebody asks for it. */
#include "pack/column.h"
#include "pack/varint.h"
#include "trace/spanblock_internal.h"

/* --- the order of classes --- */

/* Where each span stands in the order of classes, and where each shape begins. */
static int rank_spans(struct spanblock *block, struct error *err)
{
    struct spanblock_inside *inside = block->inside;
    uint32_t *next = ARENA_ARRAY(inside->arena, uint32_t, block->n_classes, err);
    uint32_t *ranks = next ? ARENA_ARRAY(inside->arena, uint32_t, block->n_spans, err) : NULL;
    uint32_t first = 0;

    if (!ranks)
        return -1;
    for (uint32_t i = 0; i < block->n_classes; i++) {
        struct spanblock_shape *shape = &inside->shapes[block->classes[i].shape];

        if (i == 0 || block->classes[i].shape != block->classes[i - 1].shape)
            shape->first = first;
        shape->n_spans += block->classes[i].n_spans;
        next[i] = first;
        first += block->classes[i].n_spans;
    }
    for (uint32_t i = 0; i < block->n_spans; i++)
        ranks[i] = next[block->class_ids[i]]++;
    inside->ranks = ranks;
    return 0;
}

/* Gives each column its part of the three streams. */
static int load_streams(struct spanblock *block, struct error *err)
{
    struct spanblock_inside *inside = block->inside;
    struct slice streams[3];
    size_t starts[3] = { 0 };

    if (spanblock_load_section(inside, SPANBLOCK_NUMBERS, &streams[0], err) < 0 ||
        spanblock_load_section(inside, SPANBLOCK_LETTERS, &streams[1], err) < 0 ||
        spanblock_load_section(inside, SPANBLOCK_BYTES_OF, &streams[2], err) < 0)
        return -1;
    for (uint32_t i = 0; i < block->n_classes; i++) {
        struct spanblock_shape *shape = &inside->shapes[block->classes[i].shape];

        if (i > 0 && block->classes[i].shape == block->classes[i - 1].shape)
            continue;
        for (uint32_t k = 0; k < shape->n_columns; k++) {
            struct spanblock_column *column = &shape->columns[k];
            struct slice *parts[] = { &column->streams.numbers, &column->streams.letters, &column->streams.bytes };

            for (size_t stream = 0; stream < ARRAY_LEN(parts); stream++) {
                *parts[stream] = slice_sub(streams[stream], starts[stream], column->ends[stream] - starts[stream]);
                starts[stream] = column->ends[stream];
            }
        }
    }
    return 0;
}

static int load_columns(struct spanblock *block, struct error *err)
{
    if (block->inside->has_columns)
        return 0;
    if (load_streams(block, err) < 0 || (!block->inside->ranks && rank_spans(block, err) < 0))
        return -1;
    block->inside->has_columns = true;
    return 0;
}

/* --- one column --- */

static int read_numbers(struct spanblock_column *column, uint32_t n, struct arena *arena, struct error *err)
{
    uint64_t *numbers;
    size_t count;

    if (column_decode_u64(&column->streams.numbers, n, arena, &numbers, &count, err) < 0)
        return -1;
    if (count != n)
        return error_set(err, ERR_CORRUPT, "it has %zu values, not %u", count, n);
    if (column->kind == SPAN_VALUE_BOOL)
        for (uint32_t i = 0; i < n; i++)
            if (numbers[i] > 1)
                return error_set(err, ERR_CORRUPT, "value %u is neither true nor false", i);
    column->numbers = numbers;
    return 0;
}

static int read_indexes(struct spanblock_column *column, uint32_t n, struct arena *arena, struct error *err)
{
    uint32_t *indexes;
    size_t count;

    if (column_decode_u32(&column->streams.numbers, n, arena, &indexes, &count, err) < 0)
        return -1;
    if (count != n)
        return error_set(err, ERR_CORRUPT, "it has %zu values, not %u", count, n);
    for (uint32_t i = 0; i < n; i++)
        if (indexes[i] >= column->n_texts)
            return error_set(err, ERR_CORRUPT, "value %u is text %u of %u", i, indexes[i], column->n_texts);
    column->indexes = indexes;
    return 0;
}

static int read_texts(struct spanblock_column *column, uint32_t n, struct arena *arena, struct error *err)
{
    uint64_t n_texts;

    if (!varint_next(&column->streams.numbers, &n_texts) || n_texts == 0 || n_texts > n)
        return error_set(err, ERR_CORRUPT, "no valid number of texts");
    column->n_texts = (uint32_t)n_texts;
    if (n_texts > 1 && n_texts < n && read_indexes(column, n, arena, err) < 0)
        return -1;
    return spantexts_decode(&column->streams, column->n_texts, SPAN_MAX_VALUE_BYTES, arena, &column->texts, err);
}

static int read_column(struct spanblock_column *column, uint32_t n, struct arena *arena, struct error *err)
{
    int result = 0;

    if (column->is_read)
        return 0;
    if (spanblock_is_text(column->kind))
        result = read_texts(column, n, arena, err);
    else if (column->kind != SPAN_VALUE_EMPTY)
        result = read_numbers(column, n, arena, err);
    if (result == 0 && (column->streams.numbers.len || column->streams.letters.len || column->streams.bytes.len))
        result = error_set(err, ERR_CORRUPT, "there are bytes too many");
    if (result < 0)
        return error_wrap(err, "column '%.*s'", SLICE_ARG(column->key));
    column->is_read = true;
    return 0;
}

/* Value `i` of a column that was read. */
static struct span_value value_at(const struct spanblock_column *column, uint32_t i)
{
    struct span_value value = { .kind = column->kind };

    switch (column->kind) {
    case SPAN_VALUE_EMPTY: break;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_BYTES:
    case SPAN_VALUE_JSON:
        value.text = column->texts[column->indexes ? column->indexes[i] : column->n_texts == 1 ? 0 : i];
        break;
    case SPAN_VALUE_BOOL: value.integer = (int64_t)column->numbers[i]; break;
    case SPAN_VALUE_INT: value.integer = varint_unzigzag(column->numbers[i]); break;
    case SPAN_VALUE_DOUBLE: memcpy(&value.real, &column->numbers[i], sizeof(value.real)); break;
    }
    return value;
}

/* --- attributes of spans --- */

static struct spanblock_shape *shape_of(const struct spanblock *block, uint32_t span)
{
    return &block->inside->shapes[block->classes[block->class_ids[span]].shape];
}

int spanblock_read_attributes(struct spanblock *block, uint32_t span, struct span_attributes *ret_attributes,
                              struct error *err)
{
    struct spanblock_shape *shape = shape_of(block, span);
    struct arena *arena = block->inside->arena;
    struct span_attribute *items;

    *ret_attributes = (struct span_attributes){ 0 };
    if (shape->n_columns == 0)
        return 0;
    items = ARENA_ARRAY(arena, struct span_attribute, shape->n_columns, err);
    if (!items || load_columns(block, err) < 0)
        return -1;
    for (uint32_t k = 0; k < shape->n_columns; k++) {
        if (read_column(&shape->columns[k], shape->n_spans, arena, err) < 0)
            return -1;
        items[k].key = shape->columns[k].key;
        items[k].value = value_at(&shape->columns[k], block->inside->ranks[span] - shape->first);
    }
    *ret_attributes = (struct span_attributes){ .items = items, .n = shape->n_columns };
    return 0;
}

int spanblock_find_own_attribute(struct spanblock *block, uint32_t span, struct slice key, bool *ret_has,
                                 struct span_value *ret_value, struct error *err)
{
    struct spanblock_shape *shape = shape_of(block, span);

    *ret_has = false;
    *ret_value = (struct span_value){ .kind = SPAN_VALUE_EMPTY };
    for (uint32_t k = 0; k < shape->n_columns; k++) {
        struct spanblock_column *column = &shape->columns[k];

        if (!slice_equal(column->key, key))
            continue;
        if (load_columns(block, err) < 0 || read_column(column, shape->n_spans, block->inside->arena, err) < 0)
            return -1;
        *ret_value = value_at(column, block->inside->ranks[span] - shape->first);
        *ret_has = true;
        return 0;
    }
    return 0;
}
