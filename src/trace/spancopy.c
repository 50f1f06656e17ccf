// SPDX-License-Identifier: Apache-2.0
#include "trace/spancopy.h"

#define SHORT_TEXT_BYTES 64

/* What a hash is of. */
enum { TEXT = 1, RESOURCE, SCOPE };

void spancopy_init(struct spancopy *copy, struct arena *arena)
{
    *copy = (struct spancopy){ .arena = arena };
    hash_set_init(&copy->known, SPANCOPY_MAX_KNOWN);
}

void spancopy_done(struct spancopy *copy)
{
    hash_set_done(&copy->known);
    VEC_DONE(&copy->copies);
}

void spancopy_forget(struct spancopy *copy)
{
    copy->last_resource = NULL;
}

/* The copy of what has this hash, or NULL. */
static const void *find_copy(const struct spancopy *copy, struct hash128 hash)
{
    uint32_t id = hash_set_find(&copy->known, hash);

    return id == HASH_NONE ? NULL : copy->copies.items[id];
}

static int note_copy(struct spancopy *copy, struct hash128 hash, const void *made, struct error *err)
{
    const void **place;
    uint32_t id;
    bool is_new;

    if (copy->known.n == SPANCOPY_MAX_KNOWN)
        return 0;
    place = VEC_PUSH(&copy->copies, SPANCOPY_MAX_KNOWN, err);
    if (!place)
        return -1;
    *place = made;
    if (hash_set_add(&copy->known, hash, &id, &is_new, err) < 0) {
        copy->copies.n--;
        return -1;
    }
    return 0;
}

/* Short texts come often. */
static int copy_text(struct spancopy *copy, struct slice text, struct slice *ret_copy, struct error *err)
{
    struct hash128 hash = { 0 };
    bool is_short = text.len <= SHORT_TEXT_BYTES;
    const char *known;

    *ret_copy = (struct slice){ 0 };
    if (text.len == 0)
        return 0;
    if (is_short) {
        hash = hash_fold(hash_bytes(text, 0), TEXT, text.len);
        known = find_copy(copy, hash);
        if (known) {
            *ret_copy = slice_of(known, text.len);
            return 0;
        }
    }
    *ret_copy = arena_copy(copy->arena, text, err);
    if (!ret_copy->ptr)
        return -1;
    return is_short ? note_copy(copy, hash, ret_copy->ptr, err) : 0;
}

static bool has_text(const struct span_value *value)
{
    return value->kind == SPAN_VALUE_TEXT || value->kind == SPAN_VALUE_BYTES || value->kind == SPAN_VALUE_JSON;
}

static int copy_attributes(struct spancopy *copy, const struct span_attributes *attributes,
                           struct span_attributes *ret_copy, struct error *err)
{
    struct span_attribute *items;

    *ret_copy = (struct span_attributes){ .n_dropped = attributes->n_dropped };
    if (attributes->n == 0)
        return 0;
    items = ARENA_ARRAY(copy->arena, struct span_attribute, attributes->n, err);
    if (!items)
        return -1;
    for (uint32_t i = 0; i < attributes->n; i++) {
        const struct span_value *value = &attributes->items[i].value;

        items[i].value = *value;
        if (copy_text(copy, attributes->items[i].key, &items[i].key, err) < 0)
            return -1;
        if (has_text(value) && copy_text(copy, value->text, &items[i].value.text, err) < 0)
            return -1;
    }
    ret_copy->items = items;
    ret_copy->n = attributes->n;
    return 0;
}

static struct hash128 fold_text(struct hash128 hash, struct slice text)
{
    struct hash128 more = hash_bytes(text, 0);

    return hash_fold(hash_fold(hash, more.a, more.b), text.len, 0);
}

static struct hash128 hash_resource(const struct span_resource *resource, bool is_whole)
{
    struct hash128 hash = hash_fold((struct hash128){ 0, 1 }, RESOURCE, is_whole);

    hash = fold_text(hash, resource->service);
    if (!is_whole)
        return hash;
    for (uint32_t i = 0; i < resource->attributes.n; i++) {
        const struct span_value *value = &resource->attributes.items[i].value;

        hash = fold_text(hash, resource->attributes.items[i].key);
        if (has_text(value))
            hash = fold_text(hash_fold(hash, value->kind, 0), value->text);
        else
            hash = hash_fold(hash, value->kind, value->kind == SPAN_VALUE_EMPTY ? 0 : (uint64_t)value->integer);
    }
    return hash_fold(hash, resource->attributes.n, resource->attributes.n_dropped);
}

static int copy_resource(struct spancopy *copy, const struct span_resource *resource, bool is_whole, struct error *err)
{
    struct hash128 hash;
    struct span_resource *made;

    if (copy->last_resource == resource)
        return 0;
    hash = hash_resource(resource, is_whole);
    copy->copied_resource = find_copy(copy, hash);
    if (!copy->copied_resource) {
        made = ARENA_NEW(copy->arena, struct span_resource, err);
        if (!made || copy_text(copy, resource->service, &made->service, err) < 0 ||
            (is_whole && copy_attributes(copy, &resource->attributes, &made->attributes, err) < 0) ||
            note_copy(copy, hash, made, err) < 0)
            return -1;
        copy->copied_resource = made;
    }
    copy->last_resource = resource;
    return 0;
}

static int copy_scope(struct spancopy *copy, const struct span_scope *scope, const struct span_scope **ret_scope,
                      struct error *err)
{
    struct hash128 hash = hash_fold((struct hash128){ 0, 1 }, SCOPE, 0);
    struct span_scope *made;

    hash = fold_text(fold_text(hash, scope->name), scope->version);
    *ret_scope = find_copy(copy, hash);
    if (*ret_scope)
        return 0;
    made = ARENA_NEW(copy->arena, struct span_scope, err);
    if (!made || copy_text(copy, scope->name, &made->name, err) < 0 ||
        copy_text(copy, scope->version, &made->version, err) < 0 || note_copy(copy, hash, made, err) < 0)
        return -1;
    *ret_scope = made;
    return 0;
}

static int copy_events(struct spancopy *copy, const struct span *span, struct span *made, struct error *err)
{
    struct span_event *events;

    if (span->n_events == 0)
        return 0;
    events = ARENA_ARRAY(copy->arena, struct span_event, span->n_events, err);
    if (!events)
        return -1;
    for (uint32_t i = 0; i < span->n_events; i++) {
        events[i].time_ns = span->events[i].time_ns;
        if (copy_text(copy, span->events[i].name, &events[i].name, err) < 0 ||
            copy_attributes(copy, &span->events[i].attributes, &events[i].attributes, err) < 0)
            return -1;
    }
    made->events = events;
    return 0;
}

static int copy_links(struct spancopy *copy, const struct span *span, struct span *made, struct error *err)
{
    struct span_link *links;

    if (span->n_links == 0)
        return 0;
    links = ARENA_ARRAY(copy->arena, struct span_link, span->n_links, err);
    if (!links)
        return -1;
    for (uint32_t i = 0; i < span->n_links; i++) {
        links[i] = span->links[i];
        if (copy_text(copy, span->links[i].state, &links[i].state, err) < 0 ||
            copy_attributes(copy, &span->links[i].attributes, &links[i].attributes, err) < 0)
            return -1;
    }
    made->links = links;
    return 0;
}

static int copy_whole(struct spancopy *copy, const struct span *span, struct span *made, struct error *err)
{
    if (copy_text(copy, span->status_message, &made->status_message, err) < 0 ||
        copy_text(copy, span->state, &made->state, err) < 0 ||
        copy_attributes(copy, &span->attributes, &made->attributes, err) < 0 ||
        copy_events(copy, span, made, err) < 0 || copy_links(copy, span, made, err) < 0)
        return -1;
    return span->scope ? copy_scope(copy, span->scope, &made->scope, err) : 0;
}

int spancopy_make(struct spancopy *copy, const struct span *span, bool is_whole, struct span *ret_span,
                  struct error *err)
{
    struct span made = *span;

    if (copy_text(copy, span->name, &made.name, err) < 0 || copy_resource(copy, span->resource, is_whole, err) < 0)
        return -1;
    made.resource = copy->copied_resource;
    if (is_whole) {
        if (copy_whole(copy, span, &made, err) < 0)
            return -1;
    } else {
        made.scope = NULL;
        made.status_message = made.state = (struct slice){ 0 };
        made.attributes = (struct span_attributes){ 0 };
        made.events = NULL;
        made.links = NULL;
        made.n_events = made.n_dropped_events = made.n_links = made.n_dropped_links = 0;
    }
    *ret_span = made;
    return 0;
}
