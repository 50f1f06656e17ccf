// SPDX-License-Identifier: Apache-2.0
/* Protobuf on the wire: a cursor that reads fields, and functions that append them.
 *
 * R1  A reader never looks outside its bytes, whatever they hold. Nested messages get a reader of their own, bounded by
 *     their length, so a length that lies cannot reach past the message around it.
 * R2  Failing is sticky and silent: the first problem is noted in the reader, which then stands at its end and gives
 *     zeros. So loops end by themselves and hot code has no error paths; the caller looks at `bad` once, at the end.
 *     Where only the inline functions here take its address, the compiler keeps a reader in registers.
 * R3  The story ("pprof: sample 12, field location_id at byte 4711: ...") is made afterwards by protobuf_explain, which
 *     walks the message again with a table of names. Nothing is kept for it on the way.
 *
 *      struct protobuf_reader r = protobuf_reader_of(bytes);
 *      uint32_t tag;
 *
 *      while (protobuf_next(&r, &tag)) {
 *          switch (tag) {
 *          case PROTOBUF_TAG(1, PROTOBUF_VARINT): id = protobuf_varint(&r); break;
 *          case PROTOBUF_TAG(4, PROTOBUF_BYTES): {
 *              struct protobuf_reader line = protobuf_message(&r);
 *              ... read `line` ...
 *              protobuf_leave(&r, &line);
 *              break;
 *          }
 *          default: protobuf_skip(&r, tag);
 *          }
 *      }
 *      if (r.bad)
 *          return protobuf_explain("pprof", profile_fields, bytes, &r, err);
 *
 * Repeated integers come packed or one by one, even mixed in one message: readers take PROTOBUF_BYTES and
 * PROTOBUF_VARINT of the same field and append. Thread: any. */
#pragma once

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/slice.h"

enum protobuf_wire { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

#define PROTOBUF_TAG(field, wire) ((uint32_t)(field) << 3 | (uint32_t)(wire))
#define PROTOBUF_FIELD(tag)       ((uint32_t)(tag) >> 3)
#define PROTOBUF_WIRE(tag)        ((uint32_t)(tag)&7u)

#define PROTOBUF_MAX_VARINT_BYTES 10

/* What can be wrong with bytes; the texts are those of the story. */
#define PROTOBUF_PROBLEMS(X)                                                                                           \
    X(NONE, "nothing is wrong")                                                                                        \
    X(VARINT_CUT, "varint runs past the end of its message")                                                           \
    X(VARINT_LONG, "varint does not fit in 64 bits")                                                                   \
    X(VALUE_CUT, "value runs past the end of its message")                                                             \
    X(VALUE_MISSING, "message ends where a value should be")                                                           \
    X(LENGTH_LONG, "length reaches past the end of its message")                                                       \
    X(FIELD_NUMBER, "field number is outside 1 to 536870911")                                                          \
    X(WIRE_TYPE, "wire type is none of varint, fixed64, bytes and fixed32")                                            \
    X(WRONG_WIRE_TYPE, "field has another wire type than it should")

enum protobuf_problem {
#define PROTOBUF_PROBLEM_ENUM(name, text) PROTOBUF_##name,
    PROTOBUF_PROBLEMS(PROTOBUF_PROBLEM_ENUM)
#undef PROTOBUF_PROBLEM_ENUM
};

struct protobuf_reader {
    const uint8_t *at;
    const uint8_t *end;
    const uint8_t *bad; /* where the first problem is, or NULL: all is well */
    enum protobuf_problem problem;
};

/* --- reading --- */

/* A reader over borrowed bytes. */
static inline struct protobuf_reader protobuf_reader_of(struct slice bytes)
{
    const uint8_t *start = (const uint8_t *)(bytes.len ? bytes.ptr : "");

    return (struct protobuf_reader){ .at = start, .end = start + bytes.len };
}

/* Notes a problem at the reader's place, unless one is noted already, and moves it to its end. For readers with rules
 * of their own, too. */
static inline void protobuf_fail(struct protobuf_reader *r, enum protobuf_problem problem)
{
    if (!r->bad) {
        r->bad = r->at;
        r->problem = problem;
    }
    r->at = r->end;
}

/* A varint of any length at `at`: the value and the place behind it, or NULL with the problem as the value. */
struct protobuf_varint_read {
    const uint8_t *at;
    uint64_t value;
};
struct protobuf_varint_read protobuf_varint_any(const uint8_t *at, const uint8_t *end);

static inline uint64_t protobuf_varint(struct protobuf_reader *r)
{
    const uint8_t *at = r->at;
    struct protobuf_varint_read read;

    if (LIKELY(at < r->end)) {
        if (at[0] < 0x80) {
            r->at = at + 1;
            return at[0];
        }
        if (LIKELY(r->end - at > 1) && at[1] < 0x80) {
            r->at = at + 2;
            return (at[0] & 0x7fu) | (uint32_t)at[1] << 7;
        }
    }
    read = protobuf_varint_any(at, r->end);
    if (UNLIKELY(!read.at)) {
        protobuf_fail(r, (enum protobuf_problem)read.value);
        return 0;
    }
    r->at = read.at;
    return read.value;
}

/* The next tag (PROTOBUF_TAG of field number and wire type); false at the end and after a problem. */
static inline bool protobuf_next(struct protobuf_reader *r, uint32_t *ret_tag)
{
    const uint8_t *at = r->at;
    uint64_t tag;

    if (UNLIKELY(at == r->end))
        return false;
    if (LIKELY(*at < 0x80)) {
        *ret_tag = *at;
        r->at = at + 1;
        return true;
    }
    tag = protobuf_varint(r);
    if (UNLIKELY(tag > UINT32_MAX)) {
        r->at = at;
        protobuf_fail(r, PROTOBUF_FIELD_NUMBER);
    }
    if (UNLIKELY(r->bad))
        return false;
    *ret_tag = (uint32_t)tag;
    return true;
}

/* Whether the next field has this tag (of one byte), which is then read: for runs of equal fields,
 * `do { ... } while (protobuf_again(&r, tag));`. */
static inline bool protobuf_again(struct protobuf_reader *r, uint32_t tag)
{
    if (r->at == r->end || *r->at != tag)
        return false;
    r->at++;
    return true;
}

static inline uint32_t protobuf_fixed32(struct protobuf_reader *r)
{
    const uint8_t *at = r->at;

    if (UNLIKELY(r->end - at < 4)) {
        protobuf_fail(r, at == r->end ? PROTOBUF_VALUE_MISSING : PROTOBUF_VALUE_CUT);
        return 0;
    }
    r->at = at + 4;
    return bytes_get_le32(at);
}

static inline uint64_t protobuf_fixed64(struct protobuf_reader *r)
{
    const uint8_t *at = r->at;

    if (UNLIKELY(r->end - at < 8)) {
        protobuf_fail(r, at == r->end ? PROTOBUF_VALUE_MISSING : PROTOBUF_VALUE_CUT);
        return 0;
    }
    r->at = at + 8;
    return bytes_get_le64(at);
}

/* The bytes of a PROTOBUF_BYTES field, borrowed; empty after a problem. */
static inline struct slice protobuf_bytes(struct protobuf_reader *r)
{
    const uint8_t *start = r->at;
    uint64_t len = protobuf_varint(r);
    const uint8_t *at = r->at;

    if (UNLIKELY(len > (uint64_t)(r->end - at))) {
        r->at = start;
        protobuf_fail(r, PROTOBUF_LENGTH_LONG);
        return slice_of(r->end, 0);
    }
    r->at = at + len;
    return slice_of(at, len);
}

/* A reader over a PROTOBUF_BYTES field: a nested message, or packed integers. Tell the reader around it by
 * protobuf_leave when done, so that it shares the problem if there was one. */
static inline struct protobuf_reader protobuf_message(struct protobuf_reader *r)
{
    struct slice bytes = protobuf_bytes(r);
    const uint8_t *start = (const uint8_t *)bytes.ptr;

    return (struct protobuf_reader){ .at = start, .end = start + bytes.len };
}

static inline void protobuf_leave(struct protobuf_reader *outer, const struct protobuf_reader *inner)
{
    if (UNLIKELY(inner->bad) && !outer->bad) {
        outer->bad = inner->bad;
        outer->problem = inner->problem;
        outer->at = outer->end;
    }
}

static inline bool protobuf_more(const struct protobuf_reader *r)
{
    return r->at < r->end;
}

/* The reader behind the value of the field that `tag` announced. By value, so that readers in hot loops can live in
 * registers; the two functions below are for use. */
struct protobuf_reader protobuf_skipped(struct protobuf_reader r, uint32_t tag, uint32_t highest_field);

/* Passes over the value of the field that `tag` announced. Groups (wire types 3 and 4) and field 0 are problems. */
static inline void protobuf_skip(struct protobuf_reader *r, uint32_t tag)
{
    *r = protobuf_skipped(*r, tag, 0);
}

/* As protobuf_skip, for the default branch of a reader that knows all fields up to `highest_field`: one of those that
 * comes here has the wrong wire type, which is a problem. */
static inline void protobuf_skip_unknown(struct protobuf_reader *r, uint32_t tag, uint32_t highest_field)
{
    *r = protobuf_skipped(*r, tag, highest_field);
}

/* --- reading at full speed ---
 *
 * Most messages have a few known fields in ascending order. Code for that form alone can leave out nearly all checks,
 * as long as PROTOBUF_MARGIN bytes behind the message can be read: up to PROTOBUF_UNCHECKED integers are read without
 * asking whether the message has ended. Whoever read too far does not stand at `end`. Then, or if anything else is
 * unusual, it starts over with a reader.
 *
 *      if (*at == PROTOBUF_TAG(1, PROTOBUF_VARINT))
 *          at = protobuf_varint_unchecked(at + 1, end, &id);
 *      ...
 *      if (at != end)
 *          return false; */
#define PROTOBUF_MARGIN    64
#define PROTOBUF_UNCHECKED 5
static_assert(PROTOBUF_UNCHECKED * (1 + PROTOBUF_MAX_VARINT_BYTES) < PROTOBUF_MARGIN, "the margin is wide enough");

/* Whether a message that ends at `end` can be read that way within `whole`. */
static inline bool protobuf_has_margin(const uint8_t *end, struct slice whole)
{
    return (size_t)((const uint8_t *)whole.ptr + whole.len - end) >= PROTOBUF_MARGIN;
}

/* As protobuf_varint_unchecked, of three bytes and more. */
struct protobuf_varint_read protobuf_varint_long(const uint8_t *at, const uint8_t *end);

/* A varint within the next ten bytes, which can be read: the place behind it. Of a longer one, `end` + 1. */
static inline const uint8_t *protobuf_varint_unchecked(const uint8_t *at, const uint8_t *end, uint64_t *ret_value)
{
    struct protobuf_varint_read read;

    if (at[0] < 0x80) {
        *ret_value = at[0];
        return at + 1;
    }
    if (at[1] < 0x80) {
        *ret_value = at[0] - 0x80u + ((uint32_t)at[1] << 7);
        return at + 2;
    }
    read = protobuf_varint_long(at, end);
    *ret_value = read.value;
    return read.at;
}

/* How many varints packed bytes hold; a last one that is cut short is not counted. */
size_t protobuf_count_varints(struct slice packed);

/* --- names, for stories and for recognising --- */

/* A table of fields ends with a row without a name. */
struct protobuf_field {
    const char *name;
    uint32_t number;
    enum protobuf_wire wire; /* of one value; repeated integers may come packed as well */
    bool is_repeated;
    const struct protobuf_field *fields; /* of a nested message, else NULL */
};

/* Sets ERR_CORRUPT, telling where in `whole` (which `failed` was reading, itself or through nested readers) the problem
 * lies: "pprof: location 7, line 0, field function_id at byte 4711: varint runs past the end of its message". Numbers
 * count from 0, bytes too. Returns -1. */
int protobuf_explain(const char *format, const struct protobuf_field *fields, struct slice whole,
                     const struct protobuf_reader *failed, struct error *err);

/* Whether the tag announces a field of the table with its wire type, or as packed integers. */
bool protobuf_fits(uint32_t tag, const struct protobuf_field *fields);
/* Whether `message` is made of known fields alone, each with its wire type, and ends where its last field ends. Nested
 * messages are not looked into. An empty message conforms. */
bool protobuf_conforms(struct slice message, const struct protobuf_field *fields);

/* --- writing: appends to a buffer, which keeps its own failure (buffer_check) --- */

/* Bare values, for packed fields. */
void protobuf_put_varint(struct buffer *out, uint64_t value);
void protobuf_put_tag(struct buffer *out, uint32_t field, enum protobuf_wire wire);

/* Fields. The plain ones leave out zero and the empty string, which is how proto3 writes single fields; `always` is for
 * repeated ones and for members of a oneof. */
void protobuf_put_uint(struct buffer *out, uint32_t field, uint64_t value);
void protobuf_put_uint_always(struct buffer *out, uint32_t field, uint64_t value);
void protobuf_put_fixed64(struct buffer *out, uint32_t field, uint64_t value);
void protobuf_put_fixed64_always(struct buffer *out, uint32_t field, uint64_t value);
void protobuf_put_bytes(struct buffer *out, uint32_t field, struct slice bytes);
void protobuf_put_bytes_always(struct buffer *out, uint32_t field, struct slice bytes);

/* A packed field of `n` values; nothing where there are none. */
void protobuf_put_packed(struct buffer *out, uint32_t field, const uint32_t *values, size_t n);

/* A nested message or packed field: what is appended between begin and end becomes its content, even when that is
 * nothing. The length is put in afterwards; content of 128 bytes and more moves up by a byte or a few. */
MUST_CHECK size_t protobuf_begin(struct buffer *out, uint32_t field);
void protobuf_end(struct buffer *out, size_t begin);
