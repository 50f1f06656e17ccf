// SPDX-License-Identifier: Apache-2.0
/* Writing pprof, in the field order of google/pprof: dense ids in table order, packed integers, and only the strings in
 * use, so that what was read from such bytes is written as the same bytes.
 *
 * The string table holds, in this order, so that reading and writing again changes nothing:
 *   1. strings of the batch that something written refers to, in table order
 *   2. texts of labels that pprof has no kind for
 *   3. keys and hex digits of links: read again they become links, and nothing refers to them any more */
#include "base/hash.h"
#include "base/vec.h"
#include "pack/packer.h"
#include "pack/unpacker.h"
#include "wire/format.h"
#include "wire/pprof.h"
#include "wire/pprof_internal.h"

#include <stdio.h>
#include <stdlib.h>

struct encoder {
    const struct tables *tables;
    const struct profile *profile;
    struct buffer *out;
    struct arena arena;
    uint32_t *string_ids; /* of each string of the tables: whether it is in use, then its index in the file */
    uint32_t n_strings;   /* in the file so far */
    struct hash_set
        extra_hashes; /* strings that are not in the tables, by content: extra i has index first_extra + i */
    VEC(struct slice) extras;
    uint32_t first_extra;
    struct error failure; /* of the extras: the first one */
};

static void encoder_done(struct encoder *e)
{
    VEC_DONE(&e->extras);
    hash_set_done(&e->extra_hashes);
    arena_done(&e->arena);
}

/* --- strings --- */

/* Index in the file of a text that the tables lack; 0 after a failure, which is kept in the encoder. */
static uint32_t extra_string(struct encoder *e, struct slice text)
{
    struct slice *extra;
    uint32_t index;
    bool is_new;

    if (e->failure.code != ERR_OK ||
        hash_set_add(&e->extra_hashes, hash_bytes(text, 0), &index, &is_new, &e->failure) < 0)
        return 0;
    if (is_new) {
        struct slice copy = arena_copy(&e->arena, text, &e->failure);

        extra = copy.ptr ? VEC_PUSH(&e->extras, UINT32_MAX, &e->failure) : NULL;
        if (!extra)
            return 0;
        *extra = copy;
    }
    return e->first_extra + index;
}

struct hex_text {
    char text[2 * sizeof(((struct link *)0)->trace_id)];
};

static struct slice hex_of(const uint8_t *bytes, size_t n, struct hex_text *hex)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        hex->text[2 * i] = digits[bytes[i] >> 4];
        hex->text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return slice_of(hex->text, 2 * n);
}

/* The shortest decimal text that reads back as the same double. */
static int format_double(int64_t bits, char *text, size_t size)
{
    double number;
    int len = 0;

    memcpy(&number, &bits, sizeof(number));
    for (int digits = 15; digits <= 17; digits++) {
        len = snprintf(text, size, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return len;
}

/* Index in the file of the text that stands for a label's value; 0 for numbers. */
static uint32_t label_text(struct encoder *e, const struct label *label)
{
    switch ((enum label_kind)label->kind) {
    case LABEL_STRING:
    case LABEL_JSON: return e->string_ids[label->text];
    case LABEL_NUMBER: return 0;
    case LABEL_BOOL: return extra_string(e, label->number ? SLICE("true") : SLICE("false"));
    case LABEL_DOUBLE: {
        char text[32];
        int len = format_double(label->number, text, sizeof(text));

        return extra_string(e, slice_of(text, (size_t)len));
    }
    case LABEL_BYTES: {
        struct slice bytes = tables_string(e->tables, label->text);
        struct buffer hex;
        uint32_t index;

        buffer_init(&hex, 0);
        for (size_t i = 0; i < bytes.len; i++)
            buffer_printf(&hex, "%02x", (uint8_t)bytes.ptr[i]);
        index = buffer_check(&hex, &e->failure) < 0 ? 0 : extra_string(e, buffer_slice(&hex));
        buffer_done(&hex);
        return index;
    }
    }
    return 0;
}

/* --- labels of a sample --- */

/* The link of a sample; labels that reading would turn into a part of it are taken in. */
static struct link sample_link(const struct encoder *e, uint32_t sample)
{
    struct link link = e->tables->links[profile_link(e->profile, sample)];
    const struct label *labels;
    uint32_t n;

    labels = tables_label_set(e->tables, profile_label_set(e->profile, sample), &n);
    for (uint32_t i = 0; i < n; i++)
        (void)pprof_lift_link(e->tables, &labels[i], &link);
    return link;
}

/* Calls `visit` for the labels of a sample, but for those that sample_link took in. */
static void visit_labels(struct encoder *e, uint32_t sample,
                         void (*visit)(struct encoder *e, const struct label *label))
{
    struct link link = e->tables->links[profile_link(e->profile, sample)];
    const struct label *labels;
    uint32_t n;

    labels = tables_label_set(e->tables, profile_label_set(e->profile, sample), &n);
    for (uint32_t i = 0; i < n; i++)
        if (!pprof_lift_link(e->tables, &labels[i], &link))
            visit(e, &labels[i]);
}

static void write_label(struct encoder *e, const struct label *label)
{
    size_t begin = protobuf_begin(e->out, PPROF_SAMPLE_LABEL);

    protobuf_put_uint(e->out, PPROF_LABEL_KEY, e->string_ids[label->key]);
    if (label->kind == LABEL_NUMBER) {
        protobuf_put_uint_always(e->out, PPROF_LABEL_NUM, (uint64_t)label->number);
        protobuf_put_uint(e->out, PPROF_LABEL_NUM_UNIT, e->string_ids[label->unit]);
    } else {
        protobuf_put_uint_always(e->out, PPROF_LABEL_STR, label_text(e, label));
    }
    protobuf_end(e->out, begin);
}

static void write_link_label(struct encoder *e, struct slice key, const uint8_t *id, size_t n)
{
    struct hex_text hex;
    size_t begin;

    if (!pprof_has_id(id, n))
        return;
    begin = protobuf_begin(e->out, PPROF_SAMPLE_LABEL);
    protobuf_put_uint(e->out, PPROF_LABEL_KEY, extra_string(e, key));
    protobuf_put_uint(e->out, PPROF_LABEL_STR, extra_string(e, hex_of(id, n, &hex)));
    protobuf_end(e->out, begin);
}

/* --- which strings are in use --- */

static void use(struct encoder *e, uint32_t string)
{
    e->string_ids[string] = 1;
}

static void use_label(struct encoder *e, const struct label *label)
{
    use(e, label->key);
    if (label->kind == LABEL_STRING || label->kind == LABEL_JSON)
        use(e, label->text);
    else if (label->kind == LABEL_NUMBER)
        use(e, label->unit);
}

static void use_label_text(struct encoder *e, const struct label *label)
{
    (void)label_text(e, label);
}

static uint32_t mapping_build_id(const struct mapping *mapping)
{
    if (mapping->build_id)
        return mapping->build_id;
    return mapping->build_id_go ? mapping->build_id_go : mapping->build_id_hash;
}

static void use_tables(struct encoder *e)
{
    const struct tables *t = e->tables;
    const struct profile *p = e->profile;

    for (uint32_t i = 0; i < p->n_types; i++) {
        use(e, p->types[i].type);
        use(e, p->types[i].unit);
    }
    for (uint32_t i = 0; i < t->n_mappings; i++) {
        use(e, t->mappings[i].file);
        use(e, mapping_build_id(&t->mappings[i]));
    }
    for (uint32_t i = 0; i < t->n_functions; i++) {
        use(e, t->functions[i].name);
        use(e, t->functions[i].system_name);
        use(e, t->functions[i].file);
    }
    for (uint32_t i = 0; i < p->n_comments; i++)
        use(e, p->comments[i]);
    use(e, p->drop_frames);
    use(e, p->keep_frames);
    use(e, p->doc_url);
    use(e, p->period_type.type);
    use(e, p->period_type.unit);
}

static void number_strings(struct encoder *e)
{
    e->string_ids[0] = 0;
    e->n_strings = 1;
    for (uint32_t i = 1; i < e->tables->n_strings; i++)
        if (e->string_ids[i])
            e->string_ids[i] = e->n_strings++;
    e->first_extra = e->n_strings;
}

static int choose_strings(struct encoder *e, struct error *err)
{
    const struct profile *p = e->profile;
    struct hex_text hex;

    e->string_ids = arena_alloc_zero(&e->arena, e->tables->n_strings * sizeof(*e->string_ids), err);
    if (!e->string_ids)
        return -1;
    use_tables(e);
    for (uint32_t i = 0; p->label_sets && i < p->n_samples; i++)
        visit_labels(e, i, use_label);
    number_strings(e);
    for (uint32_t i = 0; p->label_sets && i < p->n_samples; i++)
        visit_labels(e, i, use_label_text);
    for (uint32_t i = 0; (p->label_sets || p->links) && i < p->n_samples; i++) {
        struct link link = sample_link(e, i);

        if (pprof_has_id(link.trace_id, sizeof(link.trace_id))) {
            (void)extra_string(e, PPROF_TRACE_KEY);
            (void)extra_string(e, hex_of(link.trace_id, sizeof(link.trace_id), &hex));
        }
        if (pprof_has_id(link.span_id, sizeof(link.span_id))) {
            (void)extra_string(e, PPROF_SPAN_KEY);
            (void)extra_string(e, hex_of(link.span_id, sizeof(link.span_id), &hex));
        }
    }
    if (e->failure.code != ERR_OK) {
        *err = e->failure;
        return -1;
    }
    return 0;
}

/* --- the messages --- */

static void write_value_type(struct encoder *e, uint32_t field, const struct value_type *type)
{
    size_t begin = protobuf_begin(e->out, field);

    protobuf_put_uint(e->out, PPROF_VALUE_TYPE_TYPE, e->string_ids[type->type]);
    protobuf_put_uint(e->out, PPROF_VALUE_TYPE_UNIT, e->string_ids[type->unit]);
    protobuf_end(e->out, begin);
}

/* Frame 0 is no location, so it is left out of stacks. */
static void write_stack(struct encoder *e, uint32_t stack)
{
    uint32_t depth, n = 0;
    const uint32_t *frames = tables_stack(e->tables, stack, &depth);
    size_t begin;

    for (uint32_t i = 0; i < depth; i++)
        n += frames[i] != 0;
    if (LIKELY(n == depth)) {
        protobuf_put_packed(e->out, PPROF_SAMPLE_LOCATION_ID, frames, depth);
        return;
    }
    if (n == 0)
        return;
    begin = protobuf_begin(e->out, PPROF_SAMPLE_LOCATION_ID);
    for (uint32_t i = 0; i < depth; i++)
        if (frames[i])
            protobuf_put_varint(e->out, frames[i]);
    protobuf_end(e->out, begin);
}

static void write_sample(struct encoder *e, uint32_t sample)
{
    const struct profile *p = e->profile;
    size_t begin = protobuf_begin(e->out, PPROF_PROFILE_SAMPLE), values;

    write_stack(e, p->stacks[sample]);
    values = protobuf_begin(e->out, PPROF_SAMPLE_VALUE);
    for (uint32_t type = 0; type < p->n_types; type++)
        protobuf_put_varint(e->out, (uint64_t)profile_values(p, type)[sample]);
    protobuf_end(e->out, values);
    if (p->label_sets || p->links) {
        struct link link = sample_link(e, sample);

        write_link_label(e, PPROF_TRACE_KEY, link.trace_id, sizeof(link.trace_id));
        write_link_label(e, PPROF_SPAN_KEY, link.span_id, sizeof(link.span_id));
        visit_labels(e, sample, write_label);
    }
    protobuf_end(e->out, begin);
}

static void write_mapping(struct encoder *e, uint32_t id)
{
    const struct mapping *mapping = &e->tables->mappings[id];
    size_t begin = protobuf_begin(e->out, PPROF_PROFILE_MAPPING);

    protobuf_put_uint(e->out, PPROF_MAPPING_ID, id);
    protobuf_put_uint(e->out, PPROF_MAPPING_MEMORY_START, mapping->start);
    protobuf_put_uint(e->out, PPROF_MAPPING_MEMORY_LIMIT, mapping->limit);
    protobuf_put_uint(e->out, PPROF_MAPPING_FILE_OFFSET, mapping->offset);
    protobuf_put_uint(e->out, PPROF_MAPPING_FILENAME, e->string_ids[mapping->file]);
    protobuf_put_uint(e->out, PPROF_MAPPING_BUILD_ID, e->string_ids[mapping_build_id(mapping)]);
    for (uint32_t field = PPROF_MAPPING_FIRST_FLAG; field <= PPROF_MAPPING_LAST_FLAG; field++)
        protobuf_put_uint(e->out, field, mapping->flags >> (field - PPROF_MAPPING_FIRST_FLAG) & 1);
    protobuf_end(e->out, begin);
}

static void write_location(struct encoder *e, uint32_t id)
{
    const struct frame *frame = &e->tables->frames[id];
    size_t begin = protobuf_begin(e->out, PPROF_PROFILE_LOCATION);

    protobuf_put_uint(e->out, PPROF_LOCATION_ID, id);
    protobuf_put_uint(e->out, PPROF_LOCATION_MAPPING_ID, frame->mapping);
    protobuf_put_uint(e->out, PPROF_LOCATION_ADDRESS, frame->address);
    for (uint32_t i = 0; i < frame->n_lines; i++) {
        const struct line *line = &e->tables->lines[frame->first_line + i];
        size_t line_begin;

        if (line->function == 0) /* readers refuse lines without a function */
            continue;
        line_begin = protobuf_begin(e->out, PPROF_LOCATION_LINE);
        protobuf_put_uint(e->out, PPROF_LINE_FUNCTION_ID, line->function);
        protobuf_put_uint(e->out, PPROF_LINE_LINE, line->line);
        protobuf_put_uint(e->out, PPROF_LINE_COLUMN, line->column);
        protobuf_end(e->out, line_begin);
    }
    protobuf_put_uint(e->out, PPROF_LOCATION_IS_FOLDED, (frame->flags & FRAME_IS_FOLDED) != 0);
    protobuf_end(e->out, begin);
}

static void write_function(struct encoder *e, uint32_t id)
{
    const struct function *function = &e->tables->functions[id];
    size_t begin = protobuf_begin(e->out, PPROF_PROFILE_FUNCTION);

    protobuf_put_uint(e->out, PPROF_FUNCTION_ID, id);
    protobuf_put_uint(e->out, PPROF_FUNCTION_NAME, e->string_ids[function->name]);
    protobuf_put_uint(e->out, PPROF_FUNCTION_SYSTEM_NAME, e->string_ids[function->system_name]);
    protobuf_put_uint(e->out, PPROF_FUNCTION_FILENAME, e->string_ids[function->file]);
    protobuf_put_uint(e->out, PPROF_FUNCTION_START_LINE, function->start_line);
    protobuf_end(e->out, begin);
}

static void write_strings(struct encoder *e)
{
    protobuf_put_bytes_always(e->out, PPROF_PROFILE_STRING_TABLE, SLICE(""));
    for (uint32_t i = 1; i < e->tables->n_strings; i++)
        if (e->string_ids[i])
            protobuf_put_bytes_always(e->out, PPROF_PROFILE_STRING_TABLE, e->tables->strings[i]);
    for (size_t i = 0; i < e->extras.n; i++)
        protobuf_put_bytes_always(e->out, PPROF_PROFILE_STRING_TABLE, e->extras.items[i]);
}

/* The first type of the default's name: that is the one reading will find. */
static uint32_t default_type_string(const struct encoder *e)
{
    const struct profile *p = e->profile;
    struct slice name;

    if (p->default_type >= p->n_types)
        return 0;
    name = tables_string(e->tables, p->types[p->default_type].type);
    for (uint32_t i = 0; i < p->default_type; i++)
        if (slice_equal(tables_string(e->tables, p->types[i].type), name))
            return p->types[i].type;
    return p->types[p->default_type].type;
}

static void write_scalars(struct encoder *e)
{
    const struct profile *p = e->profile;

    protobuf_put_uint(e->out, PPROF_PROFILE_DROP_FRAMES, e->string_ids[p->drop_frames]);
    protobuf_put_uint(e->out, PPROF_PROFILE_KEEP_FRAMES, e->string_ids[p->keep_frames]);
    protobuf_put_uint(e->out, PPROF_PROFILE_TIME_NANOS, (uint64_t)p->start_ns);
    protobuf_put_uint(e->out, PPROF_PROFILE_DURATION_NANOS, (uint64_t)p->duration_ns);
    if (p->period_type.type || p->period_type.unit)
        write_value_type(e, PPROF_PROFILE_PERIOD_TYPE, &p->period_type);
    protobuf_put_uint(e->out, PPROF_PROFILE_PERIOD, (uint64_t)p->period);
    if (p->n_comments) {
        size_t begin = protobuf_begin(e->out, PPROF_PROFILE_COMMENT);

        for (uint32_t i = 0; i < p->n_comments; i++)
            protobuf_put_varint(e->out, e->string_ids[p->comments[i]]);
        protobuf_end(e->out, begin);
    }
    protobuf_put_uint(e->out, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, e->string_ids[default_type_string(e)]);
    protobuf_put_uint(e->out, PPROF_PROFILE_DOC_URL, e->string_ids[p->doc_url]);
}

static int encode_plain(const struct batch *batch, struct buffer *out, struct error *err)
{
    AUTO(encoder_done)
    struct encoder e = { .tables = &batch->tables, .profile = &batch->profiles[0], .out = out };

    arena_init(&e.arena, batch->limits.max_memory_bytes);
    hash_set_init(&e.extra_hashes, 0);
    if (choose_strings(&e, err) < 0)
        return -1;
    for (uint32_t i = 0; i < e.profile->n_types; i++)
        write_value_type(&e, PPROF_PROFILE_SAMPLE_TYPE, &e.profile->types[i]);
    for (uint32_t i = 0; i < e.profile->n_samples; i++)
        write_sample(&e, i);
    for (uint32_t i = 1; i < e.tables->n_mappings; i++)
        write_mapping(&e, i);
    for (uint32_t i = 1; i < e.tables->n_frames; i++)
        write_location(&e, i);
    for (uint32_t i = 1; i < e.tables->n_functions; i++)
        write_function(&e, i);
    write_strings(&e);
    write_scalars(&e);
    if (e.failure.code != ERR_OK) {
        *err = e.failure;
        return -1;
    }
    return buffer_check(out, err);
}

static int encode_packed(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                         struct error *err)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(buffer_done) struct buffer plain = { 0 };
    enum pack_kind kind = options->pack == PACK_NONE ? PACK_GZIP : options->pack;

    /* No larger than what may be read again under the same limits. */
    buffer_init(&plain, batch->limits.max_inflated_bytes);
    if (encode_plain(batch, &plain, err) < 0 || packer_new(&packer, err) < 0)
        return -1;
    return packer_pack(packer, kind, options->level, buffer_slice(&plain), out, err);
}

int pprof_encode(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                 struct error *err)
{
    int result;

    if (batch->n_profiles != 1)
        return error_set(err, ERR_INVALID, "pprof holds one profile, these are %u: merge them, or write them apart",
                         batch->n_profiles);
    result = options->plain ? encode_plain(batch, out, err) : encode_packed(batch, options, out, err);
    return result < 0 ? error_wrap(err, "writing pprof") : 0;
}
