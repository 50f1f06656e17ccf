// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_write_internal.h"

#include "pack/packer.h"

#include <stdlib.h>

/* --- samples --- */

/* All samples of a message have one shape. */
enum shape { SHAPE_VALUES, SHAPE_TIMES, SHAPE_BOTH };

static int64_t sum_of_times(const struct profile *profile, uint32_t sample)
{
    uint64_t saturated = 0;
    int64_t sum = 0;

    for (uint32_t i = profile->time_starts[sample]; i < profile->time_starts[sample + 1]; i++)
        sum = value_add(sum, profile->time_values ? profile->time_values[i] : 1, &saturated);
    return sum;
}

/* Times are written only where they say the same as the values, for every sample. */
static enum shape find_shape(const struct profile *profile, uint32_t type)
{
    const int64_t *values = profile_values(profile, type);

    if (!profile->time_starts)
        return SHAPE_VALUES;
    for (uint32_t i = 0; i < profile->n_samples; i++)
        if (profile->time_starts[i] == profile->time_starts[i + 1] || sum_of_times(profile, i) != values[i])
            return SHAPE_VALUES;
    return profile->time_values ? SHAPE_BOTH : SHAPE_TIMES;
}

static void put_sample(struct otlp_writer *w, struct buffer *out, const struct profile *profile, uint32_t type,
                       uint32_t i, enum shape shape)
{
    uint32_t first = shape == SHAPE_VALUES ? 0 : profile->time_starts[i];
    uint32_t n_times = shape == SHAPE_VALUES ? 0 : profile->time_starts[i + 1] - first;
    size_t sample = protobuf_begin(out, OTLP_PROFILE_SAMPLES);

    protobuf_put_uint(out, OTLP_SAMPLE_STACK, otlp_writer_stack(w, profile->stacks[i]));
    if (profile_label_set(profile, i))
        protobuf_put_bytes(out, OTLP_SAMPLE_ATTRIBUTES, otlp_writer_label_set(w, profile->label_sets[i]));
    if (profile_link(profile, i))
        protobuf_put_uint(out, OTLP_SAMPLE_LINK, otlp_writer_link(w, profile->links[i]));
    if (shape != SHAPE_TIMES) {
        size_t values = protobuf_begin(out, OTLP_SAMPLE_VALUES);

        if (shape == SHAPE_VALUES)
            protobuf_put_varint(out, (uint64_t)profile_values(profile, type)[i]);
        for (uint32_t j = 0; j < n_times; j++)
            protobuf_put_varint(out, (uint64_t)profile->time_values[first + j]);
        protobuf_end(out, values);
    }
    if (n_times > 0)
        protobuf_put_bytes(out, OTLP_SAMPLE_TIMES, slice_of(profile->times + first, n_times * sizeof(uint64_t)));
    protobuf_end(out, sample);
}

/* --- profiles --- */

/* Which type the i-th Profile message holds: the first and the last are exchanged, since what is shown by default is
 * the last type in pprof and the first profile in OTLP. */
static uint32_t type_at(const struct profile *profile, uint32_t i)
{
    uint32_t last = profile->n_types - 1;

    return i == 0 ? last : i == last ? 0 : i;
}

static void put_value_type(struct otlp_writer *w, struct buffer *out, uint32_t field, const struct value_type *type)
{
    size_t begin;

    if (!type->type && !type->unit)
        return;
    begin = protobuf_begin(out, field);
    protobuf_put_uint(out, OTLP_VALUE_TYPE_TYPE, otlp_writer_string(w, type->type));
    protobuf_put_uint(out, OTLP_VALUE_TYPE_UNIT, otlp_writer_string(w, type->unit));
    protobuf_end(out, begin);
}

static void put_profile_attributes(struct otlp_writer *w, struct buffer *out, const struct profile *profile)
{
    size_t start = out->len, begin = protobuf_begin(out, OTLP_PROFILE_ATTRIBUTES);

    buffer_append_slice(out, otlp_writer_label_set(w, profile->attributes));
    if (profile->drop_frames)
        protobuf_put_varint(out, otlp_writer_text_attribute(w, OTLP_DROP_FRAMES, profile->drop_frames));
    if (profile->keep_frames)
        protobuf_put_varint(out, otlp_writer_text_attribute(w, OTLP_KEEP_FRAMES, profile->keep_frames));
    if (profile->doc_url)
        protobuf_put_varint(out, otlp_writer_text_attribute(w, OTLP_DOC_URL, profile->doc_url));
    if (profile->n_comments)
        protobuf_put_varint(out, otlp_writer_list_attribute(w, OTLP_COMMENT, profile->comments, profile->n_comments));
    if (out->failure.code == ERR_OK && out->len == begin)
        buffer_truncate(out, start);
    else
        protobuf_end(out, begin);
}

static void put_profile(struct otlp_writer *w, struct buffer *out, const struct profile *profile, uint32_t type,
                        bool has_id)
{
    static const uint8_t no_id[sizeof(profile->profile_id)];
    enum shape shape = find_shape(profile, type);
    size_t begin = protobuf_begin(out, OTLP_SCOPE_PROFILES_PROFILES);

    put_value_type(w, out, OTLP_PROFILE_SAMPLE_TYPE, &profile->types[type]);
    for (uint32_t i = 0; i < profile->n_samples; i++)
        put_sample(w, out, profile, type, i, shape);
    protobuf_put_fixed64(out, OTLP_PROFILE_TIME, (uint64_t)MAX(profile->start_ns, 0));
    protobuf_put_uint(out, OTLP_PROFILE_DURATION, (uint64_t)MAX(profile->duration_ns, 0));
    put_value_type(w, out, OTLP_PROFILE_PERIOD_TYPE, &profile->period_type);
    protobuf_put_uint(out, OTLP_PROFILE_PERIOD, (uint64_t)profile->period);
    if (has_id && memcmp(profile->profile_id, no_id, sizeof(no_id)) != 0)
        protobuf_put_bytes(out, OTLP_PROFILE_ID, slice_of(profile->profile_id, sizeof(no_id)));
    put_profile_attributes(w, out, profile);
    protobuf_end(out, begin);
}

/* --- resources and scopes --- */

/* One profile of the batch and the messages it stands in. Profiles are grouped by resource, and by scope within it. */
struct place {
    uint32_t resource; /* number of the group, in order of appearance */
    uint32_t scope;
    uint32_t profile;
    struct slice resource_message; /* of the first profile in a group; else empty */
    struct slice scope_message;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->resource != y->resource)
        return x->resource < y->resource ? -1 : 1;
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    return x->profile < y->profile ? -1 : 1;
}

/* Begins the value of an attribute of ours; returns where, for protobuf_end. */
static size_t begin_hint_value(struct otlp_writer *w, struct buffer *out, enum otlp_meaning meaning)
{
    otlp_writer_put_key(w, out, slice_from(otlp_attributes_key(meaning)));
    return protobuf_begin(out, OTLP_KEY_VALUE_VALUE);
}

/* What it takes to make one profile of several messages again. */
static void put_scope_hints(struct otlp_writer *w, struct buffer *out, const struct profile *profile)
{
    size_t hint, value, list, item;

    if (profile->default_type < profile->n_types) {
        hint = protobuf_begin(out, OTLP_SCOPE_ATTRIBUTES);
        value = begin_hint_value(w, out, OTLP_DEFAULT_SAMPLE_TYPE);
        otlp_writer_put_string(w, out, tables_string(w->tables, profile->types[profile->default_type].type));
        protobuf_end(out, value);
        protobuf_end(out, hint);
    }
    if (profile->n_types < 2)
        return;
    hint = protobuf_begin(out, OTLP_SCOPE_ATTRIBUTES);
    value = begin_hint_value(w, out, OTLP_SAMPLE_TYPE_ORDER);
    list = protobuf_begin(out, OTLP_VALUE_ARRAY);
    for (uint32_t i = 0; i < profile->n_types; i++) {
        item = protobuf_begin(out, OTLP_LIST_VALUES);
        protobuf_put_uint_always(out, OTLP_VALUE_INT, type_at(profile, i));
        protobuf_end(out, item);
    }
    protobuf_end(out, list);
    protobuf_end(out, value);
    protobuf_end(out, hint);
}

/* The scope but for the hints, which depend on the profiles in it. */
static void put_scope(struct otlp_writer *w, struct buffer *out, const struct profile *profile)
{
    if (profile->scope_name)
        otlp_writer_put_text(w, out, OTLP_SCOPE_NAME, tables_string(w->tables, profile->scope_name));
    if (profile->scope_version)
        otlp_writer_put_text(w, out, OTLP_SCOPE_VERSION, tables_string(w->tables, profile->scope_version));
    otlp_writer_put_key_values(w, out, OTLP_SCOPE_ATTRIBUTES, profile->scope);
}

/* The number of the group whose message is in scratch; `ret_message` is a copy of it if the group is new. */
static int find_group(struct otlp_writer *w, struct hash_set *groups, struct hash128 hash, uint32_t *ret_number,
                      struct slice *ret_message, struct error *err)
{
    bool is_new;

    if (hash_set_add(groups, hash, ret_number, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    *ret_message = arena_copy(&w->arena, buffer_slice(&w->value), err);
    return ret_message->ptr ? 0 : -1;
}

static int find_place(struct otlp_writer *w, const struct profile *profile, struct hash_set *resources,
                      struct hash_set *scopes, struct place *place, struct error *err)
{
    struct hash128 hash;

    buffer_clear(&w->value);
    otlp_writer_put_key_values(w, &w->value, OTLP_RESOURCE_ATTRIBUTES, profile->resource);
    hash = hash_bytes(buffer_slice(&w->value), 0);
    if (buffer_check(&w->value, err) < 0 ||
        find_group(w, resources, hash, &place->resource, &place->resource_message, err) < 0)
        return -1;
    buffer_clear(&w->value);
    put_scope(w, &w->value, profile);
    hash = hash_fold(hash_bytes(buffer_slice(&w->value), 0), place->resource, 0);
    if (profile->n_types > 1)
        hash = hash_fold(hash, place->profile, 1); /* the hints are about this profile alone */
    if (buffer_check(&w->value, err) < 0)
        return -1;
    return find_group(w, scopes, hash, &place->scope, &place->scope_message, err);
}

/* A place for every profile that has a value type, in the order in which they are written. */
static int find_places(struct otlp_writer *w, const struct batch *batch, struct place **ret_places, uint32_t *ret_n,
                       struct error *err)
{
    AUTO(hash_set_done) struct hash_set resources, scopes;
    struct place *places = arena_alloc_array(&w->arena, batch->n_profiles, sizeof(*places), err);
    uint32_t n = 0;

    hash_set_init(&resources, 0);
    hash_set_init(&scopes, 0);
    if (!places)
        return -1;
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        if (batch->profiles[i].n_types == 0)
            continue;
        places[n] = (struct place){ .profile = i };
        if (find_place(w, &batch->profiles[i], &resources, &scopes, &places[n++], err) < 0)
            return -1;
    }
    qsort(places, n, sizeof(*places), compare_places);
    *ret_places = places;
    *ret_n = n;
    return 0;
}

/* The scope message of places[i], with the hints of the first profile in it that has any. */
static void put_scope_field(struct otlp_writer *w, const struct batch *batch, const struct place *places, uint32_t n,
                            uint32_t i, struct buffer *out)
{
    size_t start = out->len, begin = protobuf_begin(out, OTLP_SCOPE_PROFILES_SCOPE), content;

    buffer_append_slice(out, places[i].scope_message);
    content = out->len;
    w->uses_indexes = true;
    for (uint32_t j = i; out->len == content && j < n && places[j].scope == places[i].scope; j++)
        put_scope_hints(w, out, &batch->profiles[places[j].profile]);
    w->uses_indexes = false;
    if (out->failure.code == ERR_OK && out->len == begin)
        buffer_truncate(out, start);
    else
        protobuf_end(out, begin);
}

/* Writes the scope that places[i] stands in; returns the first place behind it. */
static uint32_t put_scope_profiles(struct otlp_writer *w, const struct batch *batch, const struct place *places,
                                   uint32_t n, uint32_t i, struct buffer *out)
{
    uint32_t scope = places[i].scope;
    size_t begin = protobuf_begin(out, OTLP_RESOURCE_PROFILES_SCOPE_PROFILES);

    put_scope_field(w, batch, places, n, i, out);
    for (; i < n && places[i].scope == scope; i++) {
        const struct profile *profile = &batch->profiles[places[i].profile];

        for (uint32_t type = 0; type < profile->n_types; type++)
            put_profile(w, out, profile, type_at(profile, type), type == 0);
    }
    protobuf_end(out, begin);
    return i;
}

static void put_request(struct otlp_writer *w, const struct batch *batch, const struct place *places, uint32_t n,
                        struct buffer *out)
{
    size_t dictionary;

    for (uint32_t i = 0; i < n;) {
        uint32_t resource = places[i].resource;
        size_t begin = protobuf_begin(out, OTLP_REQUEST_RESOURCE_PROFILES);

        protobuf_put_bytes(out, OTLP_RESOURCE_PROFILES_RESOURCE, places[i].resource_message);
        while (i < n && places[i].resource == resource)
            i = put_scope_profiles(w, batch, places, n, i, out);
        protobuf_end(out, begin);
    }
    dictionary = protobuf_begin(out, OTLP_REQUEST_DICTIONARY);
    otlp_writer_put_dictionary(w, out);
    protobuf_end(out, dictionary);
}

int otlp_write(const struct batch *batch, struct buffer *out, struct error *err)
{
    struct otlp_writer w;
    struct place *places;
    size_t start = out->len;
    uint32_t n;
    int result = otlp_writer_init(&w, batch, err);

    if (result == 0)
        result = find_places(&w, batch, &places, &n, err);
    if (result == 0) {
        put_request(&w, batch, places, n, out);
        result = otlp_writer_check(&w, err);
    }
    if (result == 0)
        result = buffer_check(out, err);
    if (result < 0 && out->failure.code == ERR_OK)
        buffer_truncate(out, start);
    otlp_writer_done(&w);
    return result;
}

int otlp_write_packed(struct slice plain, const struct format_write_options *options, struct buffer *out,
                      struct error *err)
{
    AUTO(packer_freep) struct packer *packer = NULL;

    if (packer_new(&packer, err) < 0)
        return -1;
    return packer_pack(packer, options->plain ? PACK_NONE : options->pack, options->level, plain, out, err);
}
