// SPDX-License-Identifier: Apache-2.0
#include "profile/valuetype.h"
#include "wire/otlp_read_internal.h"

/* --- one profile: what is known of it before its samples are read --- */

struct raw_profile {
    struct otlp_decoder *decoder;
    struct profile *profile;
    uint32_t number; /* in the batch, for reports */
    struct otlp_range samples;
    uint32_t n_types;
    struct value_type types[PROFILE_MAX_TYPES];
    uint64_t default_type; /* L7 */
    struct otlp_packed attributes, comments, location_indices;
    struct otlp_locations locations; /* L7 */
    struct slice payload_format;
    size_t payload_bytes;
};

static int add_type(struct raw_profile *p, struct protobuf_reader *r, struct error *err)
{
    struct protobuf_reader inner = protobuf_message(r);
    struct value_type type = otlp_read_value_type(p->decoder, &inner);

    protobuf_leave(r, &inner);
    if (!p->decoder->document->numbering->is_old)
        p->n_types = 0; /* there is one; of several, the last counts */
    if (p->n_types == PROFILE_MAX_TYPES)
        return error_set(err, ERR_LIMIT, "OTLP: profile %u has more than %d sample types", p->number,
                         PROFILE_MAX_TYPES);
    p->types[p->n_types++] = type;
    return 0;
}

static void read_profile_id(struct raw_profile *p, struct slice id)
{
    if (id.len == sizeof(p->profile->profile_id))
        memcpy(p->profile->profile_id, id.ptr, id.len);
    else if (id.len > 0)
        report_add(p->decoder->report, "profile id that is not 16 bytes long; left out", 1, "profile %u: %zu bytes",
                   p->number, id.len);
}

static int64_t read_time(struct raw_profile *p, uint64_t time_ns)
{
    if (time_ns <= INT64_MAX)
        return (int64_t)time_ns;
    report_add(p->decoder->report, "time or duration past the year 2262; left unknown", 1, "profile %u: %llu",
               p->number, (unsigned long long)time_ns);
    return 0;
}

/* One field of the profile that is not a sample. */
static int read_header_field(struct raw_profile *p, uint32_t tag, struct protobuf_reader *r, struct error *err)
{
    uint32_t canonical = otlp_schema_tag(p->decoder->document->numbering->profile, tag);
    struct arena *arena = p->decoder->arena;
    struct profile *profile = p->profile;

    switch (canonical) {
    case PROTOBUF_TAG(OTLP_PROFILE_SAMPLE_TYPE, PROTOBUF_BYTES): return add_type(p, r, err);
    case PROTOBUF_TAG(OTLP_PROFILE_TIME, PROTOBUF_FIXED64):
        profile->start_ns = read_time(p, protobuf_fixed64(r));
        break;
    case PROTOBUF_TAG(OTLP_PROFILE_TIME, PROTOBUF_VARINT): profile->start_ns = read_time(p, protobuf_varint(r)); break;
    case PROTOBUF_TAG(OTLP_PROFILE_DURATION, PROTOBUF_VARINT):
        profile->duration_ns = read_time(p, protobuf_varint(r));
        break;
    case PROTOBUF_TAG(OTLP_PROFILE_PERIOD_TYPE, PROTOBUF_BYTES): {
        struct protobuf_reader inner = protobuf_message(r);

        profile->period_type = otlp_read_value_type(p->decoder, &inner);
        protobuf_leave(r, &inner);
        break;
    }
    case PROTOBUF_TAG(OTLP_PROFILE_PERIOD, PROTOBUF_VARINT): profile->period = (int64_t)protobuf_varint(r); break;
    case PROTOBUF_TAG(OTLP_PROFILE_ID, PROTOBUF_BYTES): read_profile_id(p, protobuf_bytes(r)); break;
    case PROTOBUF_TAG(OTLP_PROFILE_DROPPED_ATTRIBUTES, PROTOBUF_VARINT): (void)protobuf_varint(r); break;
    case PROTOBUF_TAG(OTLP_PROFILE_PAYLOAD_FORMAT, PROTOBUF_BYTES): p->payload_format = protobuf_bytes(r); break;
    case PROTOBUF_TAG(OTLP_PROFILE_PAYLOAD, PROTOBUF_BYTES): p->payload_bytes = protobuf_bytes(r).len; break;
    case PROTOBUF_TAG(OTLP_PROFILE_DEFAULT_TYPE, PROTOBUF_VARINT): p->default_type = protobuf_varint(r); break;
    case PROTOBUF_TAG(OTLP_PROFILE_ATTRIBUTES, PROTOBUF_BYTES):
    case PROTOBUF_TAG(OTLP_PROFILE_ATTRIBUTES, PROTOBUF_VARINT):
        return otlp_packed_add(arena, &p->attributes, r, PROTOBUF_VARINT, PROTOBUF_WIRE(tag), err);
    case PROTOBUF_TAG(OTLP_PROFILE_COMMENTS, PROTOBUF_BYTES):
    case PROTOBUF_TAG(OTLP_PROFILE_COMMENTS, PROTOBUF_VARINT):
        return otlp_packed_add(arena, &p->comments, r, PROTOBUF_VARINT, PROTOBUF_WIRE(tag), err);
    case PROTOBUF_TAG(OTLP_PROFILE_LOCATION_INDICES, PROTOBUF_BYTES):
    case PROTOBUF_TAG(OTLP_PROFILE_LOCATION_INDICES, PROTOBUF_VARINT):
        return otlp_packed_add(arena, &p->location_indices, r, PROTOBUF_VARINT, PROTOBUF_WIRE(tag), err);
    default: otlp_schema_skip(r, tag, canonical);
    }
    return 0;
}

/* Takes the fields and finds the samples. */
static int survey_profile(struct raw_profile *p, struct protobuf_reader *r, struct error *err)
{
    const uint8_t samples_tag = PROTOBUF_TAG(OTLP_PROFILE_SAMPLES, PROTOBUF_BYTES); /* the same in all layouts */
    const uint8_t *start = r->at;
    uint32_t tag;

    p->samples.tag = samples_tag;
    for (; protobuf_next(r, &tag); start = r->at) {
        if (tag != samples_tag) {
            if (read_header_field(p, tag, r, err) < 0)
                return -1;
            continue;
        }
        if (p->samples.n++ == 0)
            p->samples.from = start;
        (void)protobuf_bytes(r);
        for (; protobuf_more(r) && *r->at == samples_tag; p->samples.n++) { /* samples come in a run */
            r->at++;
            (void)protobuf_bytes(r);
        }
        p->samples.to = r->at;
    }
    return 0;
}

/* --- what the header says --- */

static int read_comments(struct raw_profile *p, struct error *err)
{
    struct protobuf_reader r = otlp_packed_reader(&p->comments);

    if (p->comments.len == 0)
        return 0;
    p->profile->comments = ARENA_ARRAY(p->decoder->arena, uint32_t, otlp_packed_count(&p->comments), err);
    if (!p->profile->comments)
        return -1;
    while (protobuf_more(&r)) {
        uint64_t index = protobuf_varint(&r);

        if (!r.bad)
            p->profile->comments[p->profile->n_comments++] = otlp_read_string(p->decoder, index);
    }
    return r.bad ? otlp_read_failed(p->decoder, r, err) : 0;
}

static int read_types(struct raw_profile *p, uint32_t default_type, struct error *err)
{
    struct profile *profile = p->profile;
    const struct tables *tables = p->decoder->tables;

    /* Without a type the values still have a meaning of their own, so there is one column. */
    profile->n_types = MAX(p->n_types, 1);
    profile->types = ARENA_ARRAY(p->decoder->arena, struct value_type, profile->n_types, err);
    if (!profile->types)
        return -1;
    memcpy(profile->types, p->types, profile->n_types * sizeof(*profile->types));
    value_type_describe_all(profile->types, profile->n_types, tables, profile->duration_ns);
    for (uint32_t i = 0; i < profile->n_types; i++)
        if (p->types[i].temporality != TEMPORALITY_UNKNOWN)
            profile->types[i].temporality = p->types[i].temporality;
    if (profile->n_types > 1 && p->default_type < profile->n_types)
        profile->default_type = (uint32_t)p->default_type;
    for (uint32_t i = 0; default_type && i < profile->n_types; i++)
        if (slice_equal(tables_string(tables, profile->types[i].type), tables_string(tables, default_type)))
            profile->default_type = i;
    return 0;
}

/* L7: the locations that samples take their ranges from. */
static int read_locations(struct raw_profile *p, struct error *err)
{
    struct protobuf_reader r = otlp_packed_reader(&p->location_indices);
    uint32_t *frames = ARENA_ARRAY(p->decoder->arena, uint32_t, otlp_packed_count(&p->location_indices), err);

    if (!frames)
        return -1;
    p->locations.frames = frames;
    while (protobuf_more(&r)) {
        uint64_t location = protobuf_varint(&r);

        if (!r.bad && !otlp_index_find(&p->decoder->locations, location, &frames[p->locations.n++]))
            frames[p->locations.n - 1] = OTLP_NO_FRAME;
    }
    return r.bad ? otlp_read_failed(p->decoder, r, err) : 0;
}

static void report_payload(struct raw_profile *p)
{
    if (p->payload_bytes == 0)
        return;
    report_add(p->decoder->report,
               p->samples.n == 0 ? "profile that has nothing but its original payload, which is not read"
                                 : "original payload beside the samples; dropped",
               1, "profile %u: %zu bytes of %.*s", p->number, p->payload_bytes, (int)MIN(p->payload_format.len, 32u),
               p->payload_format.len ? p->payload_format.ptr : "");
}

static int read_header(struct raw_profile *p, uint32_t default_type, struct error *err)
{
    report_payload(p);
    if (read_comments(p, err) < 0 || read_types(p, default_type, err) < 0 || read_locations(p, err) < 0)
        return -1;
    return otlp_attributes_of_profile(p->decoder, &p->attributes, p->profile, err);
}

static int read_profile(struct otlp_decoder *d, struct protobuf_reader *r, uint32_t default_type,
                        struct profile *profile, struct error *err)
{
    struct raw_profile p = { .decoder = d, .profile = profile, .number = d->batch->n_profiles };

    if (survey_profile(&p, r, err) < 0)
        return -1;
    if (r->bad)
        return otlp_read_failed(d, *r, err);
    if (read_header(&p, default_type, err) < 0)
        return -1;
    return otlp_samples_read(d, profile, p.number, &p.samples, &p.locations, err);
}

/* --- scopes and resources --- */

/* What all profiles of one scope share. */
struct context {
    uint32_t resource, scope; /* label sets */
    uint32_t scope_name, scope_version;
    struct otlp_scope_hints hints;
};

/* The last bytes of field `field` in a message; empty if there are none. */
static struct slice find_field(struct slice message, uint32_t field)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    struct slice found = { NULL, 0 };
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (tag == PROTOBUF_TAG(field, PROTOBUF_BYTES))
            found = protobuf_bytes(&r);
        else
            protobuf_skip(&r, tag);
    }
    return found;
}

static int read_scope(struct otlp_decoder *d, struct slice message, struct context *context, struct error *err)
{
    struct slice scope = find_field(message, OTLP_SCOPE_PROFILES_SCOPE);

    context->hints = (struct otlp_scope_hints){ 0 };
    if (otlp_read_add_string(d, find_field(scope, OTLP_SCOPE_NAME), &context->scope_name, err) < 0 ||
        otlp_read_add_string(d, find_field(scope, OTLP_SCOPE_VERSION), &context->scope_version, err) < 0)
        return -1;
    return otlp_attributes_of(d, scope, OTLP_SCOPE_ATTRIBUTES, &context->hints, &context->scope, err);
}

static int read_scope_profiles(struct otlp_decoder *d, struct slice message, struct context *context, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    uint32_t first = d->batch->n_profiles, n, tag;

    if (read_scope(d, message, context, err) < 0)
        return -1;
    while (protobuf_next(&r, &tag)) {
        struct profile *profile = &d->batch->profiles[d->batch->n_profiles];
        struct protobuf_reader inner;

        if (tag != PROTOBUF_TAG(OTLP_SCOPE_PROFILES_PROFILES, PROTOBUF_BYTES)) {
            protobuf_skip(&r, tag);
            continue;
        }
        *profile = (struct profile){ .tables = d->tables,
                                     .default_type = PROFILE_NO_TYPE,
                                     .resource = context->resource,
                                     .scope = context->scope,
                                     .scope_name = context->scope_name,
                                     .scope_version = context->scope_version };
        inner = protobuf_message(&r);
        if (read_profile(d, &inner, context->hints.default_type, profile, err) < 0)
            return -1;
        d->batch->n_profiles++;
    }
    n = d->batch->n_profiles - first;
    if (otlp_join(d, &context->hints, &d->batch->profiles[first], n, &n, err) < 0)
        return -1;
    d->batch->n_profiles = first + n;
    return 0;
}

static int read_resource_profiles(struct otlp_decoder *d, struct slice message, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    struct context context = { 0 };
    uint32_t tag;

    if (otlp_attributes_of(d, find_field(message, OTLP_RESOURCE_PROFILES_RESOURCE), OTLP_RESOURCE_ATTRIBUTES, NULL,
                           &context.resource, err) < 0)
        return -1;
    while (protobuf_next(&r, &tag)) {
        if (tag != PROTOBUF_TAG(OTLP_RESOURCE_PROFILES_SCOPE_PROFILES, PROTOBUF_BYTES))
            protobuf_skip(&r, tag);
        else if (read_scope_profiles(d, protobuf_bytes(&r), &context, err) < 0)
            return -1;
    }
    return 0;
}

int otlp_profiles_read(struct otlp_decoder *d, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(d->document->bytes);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (tag != PROTOBUF_TAG(OTLP_REQUEST_RESOURCE_PROFILES, PROTOBUF_BYTES))
            protobuf_skip(&r, tag);
        else if (read_resource_profiles(d, protobuf_bytes(&r), err) < 0)
            return -1;
    }
    return 0;
}
