// SPDX-License-Identifier: Apache-2.0
/* Gathers spans for a block: each text once, and everything else as numbers, which spanblock_finish.c makes into columns. */
#include "base/memory.h"
#include "trace/spanblock_internal.h"
#include "trace/spanparts_internal.h"

/* So much may be held when one more span comes: twice what is enough, and a span of the largest size fits. */
#define MAX_HELD_BYTES (2 * SPANBLOCK_BYTES + ((size_t)16 << 20))

/* Texts are held once, yet columns may have them again: all that came count, for less. */
#define TEXTS_ALIKE 4

int spanblock_writer_new(struct spanblock_writer **ret_writer, struct error *err)
{
    struct spanblock_writer *writer = MEMORY_NEW(struct spanblock_writer, err);

    if (!writer)
        return -1;
    arena_init(&writer->arena, MAX_HELD_BYTES);
    arena_init(&writer->work, 0);
    hash_set_init(&writer->text_set, 0);
    hash_set_init(&writer->resource_set, 0);
    hash_set_init(&writer->scope_set, 0);
    hash_set_init(&writer->shape_set, 0);
    hash_set_init(&writer->class_set, 0);
    buffer_init(&writer->extras, MAX_HELD_BYTES);
    buffer_init(&writer->scratch, MAX_HELD_BYTES);
    buffer_init(&writer->columns.numbers, 0);
    buffer_init(&writer->columns.letters, 0);
    buffer_init(&writer->columns.bytes, 0);
    buffer_init(&writer->section, 0);
    buffer_init(&writer->tables, 0);
    *ret_writer = writer;
    return 0;
}

void spanblock_writer_free(struct spanblock_writer *writer)
{
    if (!writer)
        return;
    arena_done(&writer->arena);
    arena_done(&writer->work);
    hash_set_done(&writer->text_set);
    hash_set_done(&writer->resource_set);
    hash_set_done(&writer->scope_set);
    hash_set_done(&writer->shape_set);
    hash_set_done(&writer->class_set);
    VEC_DONE(&writer->texts);
    VEC_DONE(&writer->resources);
    VEC_DONE(&writer->scopes);
    VEC_DONE(&writer->keys);
    VEC_DONE(&writer->shapes);
    VEC_DONE(&writer->classes);
    VEC_DONE(&writer->rows);
    VEC_DONE(&writer->values);
    VEC_DONE(&writer->prefixes);
    buffer_done(&writer->extras);
    buffer_done(&writer->scratch);
    buffer_done(&writer->columns.numbers);
    buffer_done(&writer->columns.letters);
    buffer_done(&writer->columns.bytes);
    buffer_done(&writer->section);
    buffer_done(&writer->tables);
    memory_free(writer);
}

void spanblock_writer_freep(struct spanblock_writer **writer)
{
    spanblock_writer_free(*writer);
}

void spanblock_writer_reset(struct spanblock_writer *writer)
{
    arena_reset(&writer->arena);
    hash_set_clear(&writer->text_set);
    hash_set_clear(&writer->resource_set);
    hash_set_clear(&writer->scope_set);
    hash_set_clear(&writer->shape_set);
    hash_set_clear(&writer->class_set);
    writer->texts.n = writer->resources.n = writer->scopes.n = writer->keys.n = writer->shapes.n = 0;
    writer->classes.n = writer->rows.n = writer->values.n = 0;
    writer->text_bytes = 0;
    buffer_clear(&writer->extras);
}

uint32_t spanblock_writer_count(const struct spanblock_writer *writer)
{
    return (uint32_t)writer->rows.n;
}

static size_t held_bytes(const struct spanblock_writer *writer)
{
    return writer->arena.used_bytes + writer->extras.len + writer->values.n * sizeof(uint64_t) +
           writer->text_bytes / TEXTS_ALIKE;
}

bool spanblock_writer_is_full(const struct spanblock_writer *writer)
{
    return writer->rows.n >= SPANBLOCK_SPANS || held_bytes(writer) >= SPANBLOCK_BYTES;
}

/* --- tables ---
 *
 * Entries are found by the hash of what they are, and compared: should two have the same hash, the second gets another one. */

static int add_text(struct spanblock_writer *writer, struct slice text, uint32_t *ret_id, struct error *err)
{
    bool is_new;

    for (uint64_t seed = 0;; seed++) {
        if (hash_set_add(&writer->text_set, hash_bytes(text, seed), ret_id, &is_new, err) < 0)
            return -1;
        if (is_new)
            break;
        if (LIKELY(slice_equal(writer->texts.items[*ret_id], text)))
            return 0;
    }
    if (VEC_RESERVE(&writer->texts, 1, UINT32_MAX, err) < 0)
        return -1;
    writer->texts.items[writer->texts.n] = arena_copy(&writer->arena, text, err);
    return writer->texts.items[writer->texts.n++].ptr ? 0 : -1;
}

static int add_resource(struct spanblock_writer *writer, const struct span_resource *resource, uint32_t *ret_id,
                        struct error *err)
{
    struct spanblock_resource_item item;
    bool is_new;

    if (add_text(writer, resource->service, &item.service, err) < 0)
        return -1;
    buffer_clear(&writer->scratch);
    spanparts_put_attributes(&writer->scratch, &resource->attributes);
    if (buffer_check(&writer->scratch, err) < 0)
        return -1;
    for (uint64_t seed = item.service;; seed += (uint64_t)1 << 32) {
        if (hash_set_add(&writer->resource_set, hash_bytes(buffer_slice(&writer->scratch), seed), ret_id, &is_new,
                         err) < 0)
            return -1;
        if (is_new)
            break;
        if (LIKELY(writer->resources.items[*ret_id].service == item.service &&
                   slice_equal(writer->resources.items[*ret_id].attributes, buffer_slice(&writer->scratch))))
            return 0;
    }
    item.attributes = arena_copy(&writer->arena, buffer_slice(&writer->scratch), err);
    if (!item.attributes.ptr || VEC_RESERVE(&writer->resources, 1, UINT32_MAX, err) < 0)
        return -1;
    writer->resources.items[writer->resources.n++] = item;
    return 0;
}

/* Scope 0 is none. */
static int add_scope(struct spanblock_writer *writer, const struct span_scope *scope, uint32_t *ret_id,
                     struct error *err)
{
    struct spanblock_scope_item item;
    bool is_new;

    *ret_id = 0;
    if (!scope)
        return 0;
    if (add_text(writer, scope->name, &item.name, err) < 0 || add_text(writer, scope->version, &item.version, err) < 0)
        return -1;
    for (uint64_t seed = 0;; seed++) {
        struct hash128 hash = hash_fold((struct hash128){ seed, 1 }, item.name, item.version);

        if (hash_set_add(&writer->scope_set, hash, ret_id, &is_new, err) < 0)
            return -1;
        if (is_new)
            break;
        if (LIKELY(memcmp(&writer->scopes.items[*ret_id], &item, sizeof(item)) == 0)) {
            ++*ret_id;
            return 0;
        }
    }
    ++*ret_id;
    if (VEC_RESERVE(&writer->scopes, 1, UINT32_MAX, err) < 0)
        return -1;
    writer->scopes.items[writer->scopes.n++] = item;
    return 0;
}

static bool has_shape(const struct spanblock_writer *writer, const struct spanblock_shape_item *shape,
                      const struct span_attributes *attributes)
{
    const struct spanblock_key_item *keys = writer->keys.items ? writer->keys.items + shape->first_key : NULL;

    if (shape->n_keys != attributes->n)
        return false;
    for (uint32_t i = 0; i < attributes->n; i++)
        if (keys[i].kind != attributes->items[i].value.kind ||
            !slice_equal(writer->texts.items[keys[i].key], attributes->items[i].key))
            return false;
    return true;
}

/* What a shape is found by: all its keys and kinds. */
static struct hash128 hash_shape(const struct span_attributes *attributes, uint64_t seed)
{
    struct hash128 hash = { seed, 1 };

    for (uint32_t i = 0; i < attributes->n; i++)
        hash = hash_fold(hash, hash_bytes64(attributes->items[i].key, 0), attributes->items[i].value.kind);
    return hash;
}

static int add_keys(struct spanblock_writer *writer, const struct span_attributes *attributes, struct error *err)
{
    if (VEC_RESERVE(&writer->keys, attributes->n, UINT32_MAX, err) < 0)
        return -1;
    for (uint32_t i = 0; i < attributes->n; i++) {
        struct spanblock_key_item *key = &writer->keys.items[writer->keys.n];

        if (add_text(writer, attributes->items[i].key, &key->key, err) < 0)
            return -1;
        key->kind = attributes->items[i].value.kind;
        writer->keys.n++;
    }
    return 0;
}

static int add_shape(struct spanblock_writer *writer, const struct span_attributes *attributes, uint32_t *ret_id,
                     struct error *err)
{
    struct spanblock_shape_item shape = { .first_key = (uint32_t)writer->keys.n, .n_keys = attributes->n };
    bool is_new;

    for (uint64_t seed = 0;; seed++) {
        if (hash_set_add(&writer->shape_set, hash_shape(attributes, seed), ret_id, &is_new, err) < 0)
            return -1;
        if (is_new)
            break;
        if (LIKELY(has_shape(writer, &writer->shapes.items[*ret_id], attributes)))
            return 0;
    }
    if (add_keys(writer, attributes, err) < 0 || VEC_RESERVE(&writer->shapes, 1, UINT32_MAX, err) < 0)
        return -1;
    writer->shapes.items[writer->shapes.n++] = shape;
    return 0;
}

static int add_class(struct spanblock_writer *writer, const struct span *span, uint32_t *ret_id, struct error *err)
{
    struct spanblock_class_item item = { .kind = span->kind, .status = span->status, .flags = span->flags };
    bool is_new;

    if (add_resource(writer, span->resource, &item.resource, err) < 0 ||
        add_scope(writer, span->scope, &item.scope, err) < 0 ||
        add_shape(writer, &span->attributes, &item.shape, err) < 0 || add_text(writer, span->name, &item.name, err) < 0)
        return -1;
    for (uint64_t seed = 0;; seed++) {
        if (hash_set_add(&writer->class_set, hash_bytes(slice_of(&item, sizeof(item)), seed), ret_id, &is_new, err) < 0)
            return -1;
        if (is_new)
            break;
        if (LIKELY(memcmp(&writer->classes.items[*ret_id], &item, sizeof(item)) == 0))
            return 0;
    }
    if (VEC_RESERVE(&writer->classes, 1, UINT32_MAX, err) < 0)
        return -1;
    writer->classes.items[writer->classes.n++] = item;
    return 0;
}

/* --- spans --- */

static int value_bits(struct spanblock_writer *writer, const struct span_value *value, uint64_t *ret_bits,
                      struct error *err)
{
    uint32_t text;

    *ret_bits = 0;
    switch (value->kind) {
    case SPAN_VALUE_EMPTY: break;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_BYTES:
    case SPAN_VALUE_JSON:
        if (add_text(writer, value->text, &text, err) < 0)
            return -1;
        *ret_bits = text;
        writer->text_bytes += value->text.len;
        break;
    case SPAN_VALUE_BOOL: *ret_bits = value->integer != 0; break;
    case SPAN_VALUE_INT: *ret_bits = varint_zigzag(value->integer); break;
    case SPAN_VALUE_DOUBLE: memcpy(ret_bits, &value->real, sizeof(*ret_bits)); break;
    }
    return 0;
}

static int add_values(struct spanblock_writer *writer, const struct span_attributes *attributes, struct error *err)
{
    if (VEC_RESERVE(&writer->values, attributes->n, UINT32_MAX, err) < 0)
        return -1;
    for (uint32_t i = 0; i < attributes->n; i++) {
        if (value_bits(writer, &attributes->items[i].value, &writer->values.items[writer->values.n], err) < 0)
            return -1;
        writer->values.n++;
    }
    return 0;
}

static void put_extras(const struct span *span, struct buffer *out)
{
    unsigned bits = 0;

    bits |= span->status_message.len > 0 ? SPANBLOCK_HAS_MESSAGE : 0;
    bits |= span->state.len > 0 ? SPANBLOCK_HAS_STATE : 0;
    bits |= span->attributes.n_dropped > 0 ? SPANBLOCK_HAS_DROPPED : 0;
    bits |= spanparts_has_events(span) ? SPANBLOCK_HAS_EVENTS : 0;
    if (bits == 0)
        return;
    buffer_append_byte(out, (char)bits);
    if (bits & SPANBLOCK_HAS_MESSAGE)
        spanparts_put_text(out, span->status_message);
    if (bits & SPANBLOCK_HAS_STATE)
        spanparts_put_text(out, span->state);
    if (bits & SPANBLOCK_HAS_DROPPED)
        varint_append(out, span->attributes.n_dropped);
    if (bits & SPANBLOCK_HAS_EVENTS)
        spanparts_put_events(out, span);
}

int spanblock_writer_add(struct spanblock_writer *writer, const struct span *span, struct error *err)
{
    struct spanblock_row row = { .start_ns = span->start_ns, .duration_ns = span->duration_ns };

    if (writer->rows.n == SPANBLOCK_MAX_SPANS || held_bytes(writer) >= 2 * SPANBLOCK_BYTES)
        return error_set(err, ERR_LIMIT, "a block of spans holds %u spans and %zu bytes at most", SPANBLOCK_MAX_SPANS,
                         2 * SPANBLOCK_BYTES);
    memcpy(row.trace_id, span->trace_id, sizeof(row.trace_id));
    memcpy(row.span_id, span->span_id, sizeof(row.span_id));
    memcpy(row.parent_id, span->parent_id, sizeof(row.parent_id));
    row.first_value = (uint32_t)writer->values.n;
    row.extra_start = (uint32_t)writer->extras.len;
    if (add_class(writer, span, &row.class_id, err) < 0 || add_values(writer, &span->attributes, err) < 0)
        return -1;
    put_extras(span, &writer->extras);
    row.extra_len = (uint32_t)writer->extras.len - row.extra_start;
    if (buffer_check(&writer->extras, err) < 0 || VEC_RESERVE(&writer->rows, 1, SPANBLOCK_MAX_SPANS, err) < 0)
        return -1;
    writer->rows.items[writer->rows.n++] = row;
    return 0;
}
