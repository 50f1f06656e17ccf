// SPDX-License-Identifier: Apache-2.0
/* Reads the tables of a block. They come before the texts they name, so texts are filled in afterwards. */
#include "trace/spanblock_internal.h"
#include "trace/spanparts_internal.h"

/* What tables say of texts until those are known: numbers. */
struct tables {
    struct spanparts_reader reader;
    struct spanblock *block;
    struct spanblock_inside *inside;
    struct spanblock_class *classes;
    struct slice *texts;
    uint32_t n_texts;
    struct error *err;
};

/* How many entries follow, each of `min_bytes` or more. */
static uint32_t read_count(struct tables *t, uint64_t max, uint32_t min_bytes, const char *what)
{
    uint64_t room = (uint64_t)(t->reader.end - t->reader.at) / min_bytes;

    return (uint32_t)spanparts_number(&t->reader, MIN(max, room), what);
}

/* A text by its number, as a slice without a pointer until resolve_text. */
static struct slice read_text_number(struct tables *t)
{
    return slice_of(NULL, spanparts_number(&t->reader, UINT32_MAX, "number of a text"));
}

static void resolve_text(struct tables *t, struct slice *text, size_t max_len)
{
    size_t number = text->len;

    if (number >= t->n_texts || t->texts[number].len > max_len) {
        spanparts_fail(&t->reader, "number of a text");
        *text = SLICE("");
        return;
    }
    *text = t->texts[number];
}

static int read_owners(struct tables *t)
{
    struct spanblock_inside *inside = t->inside;

    inside->n_resources = read_count(t, t->block->n_spans, 1, "number of resources");
    inside->resources = arena_alloc_zero(inside->arena, inside->n_resources * sizeof(*inside->resources), t->err);
    if (!inside->resources)
        return -1;
    for (uint32_t i = 0; i < inside->n_resources; i++)
        inside->resources[i].service = read_text_number(t);
    inside->n_scopes = read_count(t, t->block->n_spans, 2, "number of scopes");
    inside->scopes = ARENA_ARRAY(inside->arena, struct span_scope, inside->n_scopes, t->err);
    if (!inside->scopes)
        return -1;
    for (uint32_t i = 0; i < inside->n_scopes; i++) {
        inside->scopes[i].name = read_text_number(t);
        inside->scopes[i].version = read_text_number(t);
    }
    return 0;
}

static int read_shapes(struct tables *t)
{
    struct spanblock_inside *inside = t->inside;

    inside->n_shapes = read_count(t, t->block->n_spans, 1, "number of shapes");
    inside->shapes = arena_alloc_zero(inside->arena, inside->n_shapes * sizeof(*inside->shapes), t->err);
    if (!inside->shapes)
        return -1;
    for (uint32_t i = 0; i < inside->n_shapes; i++) {
        struct spanblock_shape *shape = &inside->shapes[i];

        shape->n_columns = read_count(t, SPAN_MAX_ATTRIBUTES, 2, "number of keys");
        shape->columns = arena_alloc_zero(inside->arena, shape->n_columns * sizeof(*shape->columns), t->err);
        if (!shape->columns)
            return -1;
        for (uint32_t k = 0; k < shape->n_columns; k++) {
            shape->columns[k].kind =
                (enum span_value_kind)spanparts_number(&t->reader, SPAN_VALUE_KIND_COUNT - 1, "kind of a value");
            shape->columns[k].key = read_text_number(t);
        }
    }
    return 0;
}

static void read_class(struct tables *t, struct spanblock_class *own)
{
    uint64_t kind;

    *own = (struct spanblock_class){ 0 };
    own->shape = (uint32_t)spanparts_number(&t->reader, UINT32_MAX, "shape of a class");
    own->resource = (uint32_t)spanparts_number(&t->reader, UINT32_MAX, "resource of a class");
    own->scope = (uint32_t)spanparts_number(&t->reader, t->inside->n_scopes, "scope of a class");
    own->name = read_text_number(t);
    kind = spanparts_number(&t->reader, (SPAN_KIND_COUNT - 1) << 2 | SPAN_STATUS_COUNT, "kind of a class");
    own->flags = (uint32_t)spanparts_number(&t->reader, UINT32_MAX, "flags of a class");
    own->kind = (uint8_t)(kind >> 2);
    own->status = (uint8_t)(kind & 3);
    if (own->shape >= t->inside->n_shapes || own->resource >= t->inside->n_resources ||
        own->status >= SPAN_STATUS_COUNT)
        spanparts_fail(&t->reader, "class");
}

static int read_classes(struct tables *t)
{
    uint32_t n = read_count(t, t->block->n_spans, 6, "number of classes");

    t->classes = ARENA_ARRAY(t->inside->arena, struct spanblock_class, n, t->err);
    if (!t->classes)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        read_class(t, &t->classes[i]);
        if (i > 0 && t->classes[i].shape < t->classes[i - 1].shape)
            spanparts_fail(&t->reader, "class by the order of shapes");
    }
    t->block->classes = t->classes;
    t->block->n_classes = n;
    return 0;
}

static int read_texts(struct tables *t)
{
    t->n_texts = read_count(t, UINT32_MAX, 1, "number of texts");
    t->texts = ARENA_ARRAY(t->inside->arena, struct slice, t->n_texts, t->err);
    if (!t->texts)
        return -1;
    for (uint32_t i = 0; i < t->n_texts; i++)
        t->texts[i] = spanparts_text(&t->reader, SPAN_MAX_NAME_BYTES, "text");
    return 0;
}

static void resolve_texts(struct tables *t)
{
    struct spanblock_inside *inside = t->inside;

    for (uint32_t i = 0; i < inside->n_resources; i++)
        resolve_text(t, &inside->resources[i].service, SPAN_MAX_NAME_BYTES);
    for (uint32_t i = 0; i < inside->n_scopes; i++) {
        resolve_text(t, &inside->scopes[i].name, SPAN_MAX_NAME_BYTES);
        resolve_text(t, &inside->scopes[i].version, SPAN_MAX_NAME_BYTES);
    }
    for (uint32_t i = 0; i < inside->n_shapes; i++)
        for (uint32_t k = 0; k < inside->shapes[i].n_columns; k++)
            resolve_text(t, &inside->shapes[i].columns[k].key, SPAN_MAX_NAME_BYTES);
    for (uint32_t i = 0; i < t->block->n_classes; i++) {
        resolve_text(t, &t->classes[i].name, SPAN_MAX_NAME_BYTES);
        t->classes[i].service = inside->resources[t->classes[i].resource].service;
    }
}

/* Where the columns of shapes end in the three streams: those of shapes that classes have, in their order. */
static void read_ends(struct tables *t)
{
    static const enum spanblock_section sections[] = { SPANBLOCK_NUMBERS, SPANBLOCK_LETTERS, SPANBLOCK_BYTES_OF };
    struct spanblock_inside *inside = t->inside;
    size_t ends[3] = { 0 };

    for (uint32_t i = 0; i < t->block->n_classes && !t->reader.bad_at; i++) {
        struct spanblock_shape *shape = &inside->shapes[t->classes[i].shape];

        if (i > 0 && t->classes[i].shape == t->classes[i - 1].shape)
            continue;
        for (uint32_t k = 0; k < shape->n_columns; k++)
            for (size_t stream = 0; stream < ARRAY_LEN(ends); stream++) {
                ends[stream] += spanparts_number(&t->reader, inside->sections[sections[stream]].len - ends[stream],
                                                 "length of a column");
                shape->columns[k].ends[stream] = ends[stream];
            }
    }
    for (size_t stream = 0; stream < ARRAY_LEN(ends); stream++)
        if (ends[stream] != inside->sections[sections[stream]].len)
            spanparts_fail(&t->reader, "sum of columns");
}

static int read_all(struct tables *t)
{
    if (read_owners(t) < 0 || read_shapes(t) < 0 || read_classes(t) < 0 || read_texts(t) < 0)
        return -1;
    if (t->reader.bad_at) /* numbers in the tables may name what is not there */
        return spanparts_check(&t->reader, t->err);
    resolve_texts(t);
    read_ends(t);
    return spanparts_check(&t->reader, t->err);
}

int spanblock_read_tables(struct spanblock *block, struct error *err)
{
    struct tables t = { .block = block, .inside = block->inside, .err = err };
    struct slice content;

    if (spanblock_load_section(block->inside, SPANBLOCK_TABLES, &content, err) < 0)
        return -1;
    t.reader = spanparts_reader_of(content);
    return read_all(&t) < 0 ? error_wrap(err, "tables") : 0;
}
