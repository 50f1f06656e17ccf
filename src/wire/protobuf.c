// SPDX-License-Identifier: Apache-2.0
#include "wire/protobuf.h"

#include <stdio.h>

#define MAX_FIELD_NUMBER ((1u << 29) - 1)

struct protobuf_varint_read protobuf_varint_any(const uint8_t *at, const uint8_t *end)
{
    uint64_t value = 0;

    if (UNLIKELY(at == end))
        return (struct protobuf_varint_read){ NULL, PROTOBUF_VALUE_MISSING };
    for (unsigned shift = 0; shift < 63; shift += 7) {
        uint8_t byte;

        if (UNLIKELY(at == end))
            return (struct protobuf_varint_read){ NULL, PROTOBUF_VARINT_CUT };
        byte = *at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return (struct protobuf_varint_read){ at, value };
    }
    if (UNLIKELY(at == end))
        return (struct protobuf_varint_read){ NULL, PROTOBUF_VARINT_CUT };
    if (UNLIKELY(*at > 1)) /* the tenth byte has room for bit 63 and nothing else */
        return (struct protobuf_varint_read){ NULL, PROTOBUF_VARINT_LONG };
    return (struct protobuf_varint_read){ at + 1, value | (uint64_t)*at << 63 };
}

struct protobuf_varint_read protobuf_varint_long(const uint8_t *at, const uint8_t *end)
{
    uint64_t word = bytes_get_le64(at);
    uint64_t ends = ~word & 0x8080808080808080u; /* the highest bit of the last byte, and of bytes behind it */
    struct protobuf_varint_read read;

    if (UNLIKELY(ends == 0)) {
        read = protobuf_varint_any(at, at + PROTOBUF_MAX_VARINT_BYTES);
        if (!read.at)
            read.at = end + 1;
        return read;
    }
    /* Keep up to that byte, then close the gaps between groups of 7, 14 and 28 bits. */
    word &= ends ^ (ends - 1);
    word &= 0x7f7f7f7f7f7f7f7fu;
    word = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
    word = (word & 0x00003fff00003fffu) | (word & 0x3fff00003fff0000u) >> 2;
    word = (word & 0x000000000fffffffu) | (word & 0x0fffffff00000000u) >> 4;
    return (struct protobuf_varint_read){ at + __builtin_ctzll(ends) / 8 + 1, word };
}

/* A problem of the tag just read: noted at its last byte, since there may be nothing behind it. */
static void fail_at_tag(struct protobuf_reader *r, enum protobuf_problem problem)
{
    r->at--;
    protobuf_fail(r, problem);
}

struct protobuf_reader protobuf_skipped(struct protobuf_reader r, uint32_t tag, uint32_t highest_field)
{
    if (PROTOBUF_FIELD(tag) == 0) {
        fail_at_tag(&r, PROTOBUF_FIELD_NUMBER);
        return r;
    }
    if (PROTOBUF_FIELD(tag) <= highest_field) {
        fail_at_tag(&r, PROTOBUF_WRONG_WIRE_TYPE);
        return r;
    }
    switch (PROTOBUF_WIRE(tag)) {
    case PROTOBUF_VARINT: (void)protobuf_varint(&r); break;
    case PROTOBUF_FIXED64: (void)protobuf_fixed64(&r); break;
    case PROTOBUF_BYTES: (void)protobuf_bytes(&r); break;
    case PROTOBUF_FIXED32: (void)protobuf_fixed32(&r); break;
    default: fail_at_tag(&r, PROTOBUF_WIRE_TYPE);
    }
    return r;
}

size_t protobuf_count_varints(struct slice packed)
{
    const char *at = packed.ptr;
    size_t left = packed.len, n = 0;

    /* A varint ends at each byte without its highest bit: eight such bits are gathered and summed at once. */
    for (; left >= 8; at += 8, left -= 8)
        n += ((~bytes_get_le64(at) >> 7 & 0x0101010101010101u) * 0x0101010101010101u) >> 56;
    for (; left > 0; at++, left--)
        n += (uint8_t)*at < 0x80;
    return n;
}

static const struct protobuf_field *find_field(const struct protobuf_field *fields, uint32_t number)
{
    for (; fields && fields->name; fields++)
        if (fields->number == number)
            return fields;
    return NULL;
}

bool protobuf_fits(uint32_t tag, const struct protobuf_field *fields)
{
    const struct protobuf_field *field = find_field(fields, PROTOBUF_FIELD(tag));

    return field && (PROTOBUF_WIRE(tag) == (uint32_t)field->wire ||
                     (field->is_repeated && PROTOBUF_WIRE(tag) == PROTOBUF_BYTES));
}

bool protobuf_conforms(struct slice message, const struct protobuf_field *fields)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (!protobuf_fits(tag, fields))
            return false;
        protobuf_skip(&r, tag);
    }
    return !r.bad;
}

/* --- the story --- */

static const char *problem_text(enum protobuf_problem problem)
{
    static const char *const texts[] = {
#define PROTOBUF_PROBLEM_TEXT(name, text) text,
        PROTOBUF_PROBLEMS(PROTOBUF_PROBLEM_TEXT)
#undef PROTOBUF_PROBLEM_TEXT
    };

    return texts[problem];
}

static const char *wire_name(uint32_t wire)
{
    switch (wire) {
    case PROTOBUF_VARINT: return "varint";
    case PROTOBUF_FIXED64: return "fixed64";
    case PROTOBUF_BYTES: return "bytes";
    case PROTOBUF_FIXED32: return "fixed32";
    default: return "group";
    }
}

/* One field of a message: where its value is, as far as the bytes reach. */
struct place {
    uint32_t tag;       /* 0 = the tag itself is broken */
    uint32_t index;     /* how many fields of the same number came before */
    struct slice value; /* of PROTOBUF_BYTES: the content; else the encoded value */
};

/* The field of `message` that covers the byte at `bad`. */
static struct place find_place(struct slice message, const uint8_t *bad)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    struct place place = { 0 };
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        const uint8_t *start = r.at;

        place.tag = tag;
        place.value = slice_of(start, (size_t)(r.end - start));
        if (PROTOBUF_WIRE(tag) == PROTOBUF_BYTES)
            place.value = protobuf_bytes(&r);
        else
            protobuf_skip(&r, tag);
        if (r.bad || r.at > bad)
            break;
        place.tag = 0;
    }
    if (place.tag == 0)
        return place;
    r = protobuf_reader_of(message);
    while (protobuf_next(&r, &tag)) {
        protobuf_skip(&r, tag);
        if (r.bad || r.at > bad)
            break;
        place.index += PROTOBUF_FIELD(tag) == PROTOBUF_FIELD(place.tag);
    }
    return place;
}

static bool covers(struct slice value, const uint8_t *bad)
{
    const uint8_t *start = (const uint8_t *)value.ptr;

    return bad >= start && bad < start + value.len;
}

/* Appends one step of the path: "sample 12", "field location_id". */
static void add_step(char *path, size_t size, const struct protobuf_field *field, const struct place *place,
                     bool is_leaf)
{
    size_t len = strlen(path);
    char name[48];

    if (field)
        snprintf(name, sizeof(name), "%s", field->name);
    else
        snprintf(name, sizeof(name), "%u", PROTOBUF_FIELD(place->tag));
    if (field && field->is_repeated && field->wire == PROTOBUF_BYTES)
        snprintf(path + len, size - len, "%s%s%s %u", len ? ", " : "", is_leaf ? "field " : "", name, place->index);
    else
        snprintf(path + len, size - len, "%s%s%s", len ? ", " : "", is_leaf ? "field " : "", name);
}

int protobuf_explain(const char *format, const struct protobuf_field *fields, struct slice whole,
                     const struct protobuf_reader *failed, struct error *err)
{
    /* A value that is missing lies behind its message: the byte before belongs to the field that lacks it. */
    const uint8_t *bad = failed->bad - (failed->problem == PROTOBUF_VALUE_MISSING);
    size_t offset = whole.len ? (size_t)(failed->bad - (const uint8_t *)whole.ptr) : 0;
    const struct protobuf_field *field = NULL;
    struct slice message = whole;
    struct place place;
    char path[128] = "", found[64] = "";

    for (;;) {
        bool is_leaf;

        place = find_place(message, bad);
        if (place.tag == 0)
            break;
        field = find_field(fields, PROTOBUF_FIELD(place.tag));
        is_leaf = !field || !field->fields || PROTOBUF_WIRE(place.tag) != PROTOBUF_BYTES || !covers(place.value, bad);
        add_step(path, sizeof(path), field, &place, is_leaf);
        if (is_leaf)
            break;
        message = place.value;
        fields = field->fields;
    }
    if (failed->problem == PROTOBUF_WRONG_WIRE_TYPE && field)
        snprintf(found, sizeof(found), " (found %s, wanted %s)", wire_name(PROTOBUF_WIRE(place.tag)),
                 wire_name(field->wire));
    return error_set(err, ERR_CORRUPT, "%s: %s%sat byte %zu: %s%s", format, path, path[0] ? " " : "", offset,
                     problem_text(failed->problem), found);
}

/* --- writing --- */

static char *put_varint_at(char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (char)value;
    return at;
}

void protobuf_put_varint(struct buffer *out, uint64_t value)
{
    char *start = buffer_reserve(out, PROTOBUF_MAX_VARINT_BYTES);

    if (start)
        buffer_commit(out, (size_t)(put_varint_at(start, value) - start));
}

static size_t varint_bytes(uint32_t value)
{
    return 1 + (value >= 1u << 7) + (value >= 1u << 14) + (value >= 1u << 21) + (value >= 1u << 28);
}

void protobuf_put_packed(struct buffer *out, uint32_t field, const uint32_t *values, size_t n)
{
    size_t len = 0;
    char *at;

    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        len += varint_bytes(values[i]);
    protobuf_put_tag(out, field, PROTOBUF_BYTES);
    protobuf_put_varint(out, len);
    at = buffer_reserve(out, len);
    if (!at)
        return;
    for (size_t i = 0; i < n; i++)
        at = put_varint_at(at, values[i]);
    buffer_commit(out, len);
}

void protobuf_put_tag(struct buffer *out, uint32_t field, enum protobuf_wire wire)
{
    DEBUG_ASSERT(field >= 1 && field <= MAX_FIELD_NUMBER);
    protobuf_put_varint(out, PROTOBUF_TAG(field, wire));
}

void protobuf_put_uint(struct buffer *out, uint32_t field, uint64_t value)
{
    if (value)
        protobuf_put_uint_always(out, field, value);
}

void protobuf_put_uint_always(struct buffer *out, uint32_t field, uint64_t value)
{
    char *start = buffer_reserve(out, (size_t)2 * PROTOBUF_MAX_VARINT_BYTES);

    DEBUG_ASSERT(field >= 1 && field <= MAX_FIELD_NUMBER);
    if (start)
        buffer_commit(
            out, (size_t)(put_varint_at(put_varint_at(start, PROTOBUF_TAG(field, PROTOBUF_VARINT)), value) - start));
}

void protobuf_put_fixed64(struct buffer *out, uint32_t field, uint64_t value)
{
    if (value)
        protobuf_put_fixed64_always(out, field, value);
}

void protobuf_put_fixed64_always(struct buffer *out, uint32_t field, uint64_t value)
{
    char bytes[8];

    bytes_put_le64(bytes, value);
    protobuf_put_tag(out, field, PROTOBUF_FIXED64);
    buffer_append(out, bytes, sizeof(bytes));
}

void protobuf_put_bytes(struct buffer *out, uint32_t field, struct slice bytes)
{
    if (bytes.len)
        protobuf_put_bytes_always(out, field, bytes);
}

void protobuf_put_bytes_always(struct buffer *out, uint32_t field, struct slice bytes)
{
    protobuf_put_tag(out, field, PROTOBUF_BYTES);
    protobuf_put_varint(out, bytes.len);
    buffer_append_slice(out, bytes);
}

size_t protobuf_begin(struct buffer *out, uint32_t field)
{
    protobuf_put_tag(out, field, PROTOBUF_BYTES);
    buffer_append_byte(out, 0); /* most messages are shorter than 128 bytes */
    return out->len;
}

void protobuf_end(struct buffer *out, size_t begin)
{
    char length[PROTOBUF_MAX_VARINT_BYTES];
    size_t len, extra;

    if (out->failure.code != ERR_OK)
        return;
    len = out->len - begin;
    extra = (size_t)(put_varint_at(length, len) - length) - 1;
    if (extra) {
        if (!buffer_reserve(out, extra))
            return;
        memmove(out->data + begin + extra, out->data + begin, len);
        buffer_commit(out, extra);
    }
    memcpy(out->data + begin - 1, length, extra + 1);
}
