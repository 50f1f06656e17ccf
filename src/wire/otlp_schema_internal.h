// SPDX-License-Identifier: Apache-2.0
/* The messages of OTLP profiles, declared once: names for JSON and for error texts, numbers for protobuf.
 *
 * Field numbers changed from layout to layout (see otlp.h). Readers see one numbering only, the canonical one: that of
 * L10, with fields that newer layouts dropped under numbers of their own behind it. A layout is a table that turns the
 * numbers of its messages into canonical ones. */
#pragma once

#include "wire/otlp.h"
#include "wire/protobuf.h"

enum otlp_message {
    OTLP_REQUEST,
    OTLP_RESOURCE_PROFILES,
    OTLP_RESOURCE,
    OTLP_SCOPE_PROFILES,
    OTLP_SCOPE,
    OTLP_PROFILE,
    OTLP_VALUE_TYPE,
    OTLP_SAMPLE,
    OTLP_DICTIONARY,
    OTLP_MAPPING,
    OTLP_LOCATION,
    OTLP_LINE,
    OTLP_FUNCTION,
    OTLP_LINK,
    OTLP_ATTRIBUTE,
    OTLP_ATTRIBUTE_UNIT,
    OTLP_STACK,
    OTLP_KEY_VALUE,
    OTLP_ANY_VALUE,
    OTLP_ARRAY_VALUE,
    OTLP_KEY_VALUE_LIST,
};
#define OTLP_MESSAGE_COUNT (OTLP_KEY_VALUE_LIST + 1)

/* Canonical field numbers; none is above OTLP_MAX_FIELD. */
enum { OTLP_REQUEST_RESOURCE_PROFILES = 1, OTLP_REQUEST_DICTIONARY };
enum { OTLP_RESOURCE_PROFILES_RESOURCE = 1, OTLP_RESOURCE_PROFILES_SCOPE_PROFILES };
enum { OTLP_RESOURCE_ATTRIBUTES = 1 };
enum { OTLP_SCOPE_PROFILES_SCOPE = 1, OTLP_SCOPE_PROFILES_PROFILES };
enum { OTLP_SCOPE_NAME = 1, OTLP_SCOPE_VERSION, OTLP_SCOPE_ATTRIBUTES };
enum {
    OTLP_PROFILE_SAMPLE_TYPE = 1,
    OTLP_PROFILE_SAMPLES,
    OTLP_PROFILE_TIME,
    OTLP_PROFILE_DURATION,
    OTLP_PROFILE_PERIOD_TYPE,
    OTLP_PROFILE_PERIOD,
    OTLP_PROFILE_ID,
    OTLP_PROFILE_DROPPED_ATTRIBUTES,
    OTLP_PROFILE_PAYLOAD_FORMAT,
    OTLP_PROFILE_PAYLOAD,
    OTLP_PROFILE_ATTRIBUTES,
    OTLP_PROFILE_LOCATION_INDICES, /* L7 */
    OTLP_PROFILE_COMMENTS,         /* L7, L8 */
    OTLP_PROFILE_DEFAULT_TYPE,     /* L7 */
};
enum { OTLP_VALUE_TYPE_TYPE = 1, OTLP_VALUE_TYPE_UNIT, OTLP_VALUE_TYPE_TEMPORALITY /* L7, L8 */ };
enum {
    OTLP_SAMPLE_STACK = 1,
    OTLP_SAMPLE_ATTRIBUTES,
    OTLP_SAMPLE_LINK,
    OTLP_SAMPLE_VALUES,
    OTLP_SAMPLE_TIMES,
    OTLP_SAMPLE_LOCATIONS_START,  /* L7 */
    OTLP_SAMPLE_LOCATIONS_LENGTH, /* L7 */
    OTLP_SAMPLE_TIME_VARINTS,     /* L7: timestamps that are varints, not fixed64 */
};
enum {
    OTLP_DICTIONARY_MAPPINGS = 1,
    OTLP_DICTIONARY_LOCATIONS,
    OTLP_DICTIONARY_FUNCTIONS,
    OTLP_DICTIONARY_LINKS,
    OTLP_DICTIONARY_STRINGS,
    OTLP_DICTIONARY_ATTRIBUTES,
    OTLP_DICTIONARY_STACKS,
    OTLP_DICTIONARY_UNITS, /* L7 */
};
#define OTLP_TABLE_COUNT (OTLP_DICTIONARY_UNITS + 1)
enum {
    OTLP_MAPPING_START = 1,
    OTLP_MAPPING_LIMIT,
    OTLP_MAPPING_OFFSET,
    OTLP_MAPPING_FILE,
    OTLP_MAPPING_ATTRIBUTES,
    OTLP_MAPPING_HAS_FUNCTIONS, /* L7, and the next three */
    OTLP_MAPPING_HAS_FILENAMES,
    OTLP_MAPPING_HAS_LINE_NUMBERS,
    OTLP_MAPPING_HAS_INLINE_FRAMES,
};
enum {
    OTLP_LOCATION_MAPPING = 1,
    OTLP_LOCATION_ADDRESS,
    OTLP_LOCATION_LINES,
    OTLP_LOCATION_ATTRIBUTES,
    OTLP_LOCATION_IS_FOLDED, /* L7 */
};
enum { OTLP_LINE_FUNCTION = 1, OTLP_LINE_LINE, OTLP_LINE_COLUMN };
enum { OTLP_FUNCTION_NAME = 1, OTLP_FUNCTION_SYSTEM_NAME, OTLP_FUNCTION_FILE, OTLP_FUNCTION_START_LINE };
enum { OTLP_LINK_TRACE_ID = 1, OTLP_LINK_SPAN_ID };
enum { OTLP_ATTRIBUTE_KEY = 1 /* index; L7: the key itself */, OTLP_ATTRIBUTE_VALUE, OTLP_ATTRIBUTE_UNIT_INDEX };
enum { OTLP_UNIT_KEY = 1, OTLP_UNIT_UNIT };
enum { OTLP_STACK_LOCATIONS = 1 };
enum { OTLP_KEY_VALUE_KEY = 1, OTLP_KEY_VALUE_VALUE, OTLP_KEY_VALUE_KEY_INDEX };
enum {
    OTLP_VALUE_STRING = 1,
    OTLP_VALUE_BOOL,
    OTLP_VALUE_INT,
    OTLP_VALUE_DOUBLE,
    OTLP_VALUE_ARRAY,
    OTLP_VALUE_MAP,
    OTLP_VALUE_BYTES,
    OTLP_VALUE_STRING_INDEX,
};
enum { OTLP_LIST_VALUES = 1 };
#define OTLP_MAX_FIELD 15

/* How a field is written: in protobuf (the first five are varints, the next two fixed64, the others bytes) and in JSON,
 * where 64-bit integers are strings. */
enum otlp_kind {
    OTLP_INT32,
    OTLP_UINT32,
    OTLP_INT64,
    OTLP_UINT64,
    OTLP_BOOL,
    OTLP_FIXED64,
    OTLP_DOUBLE,
    OTLP_STRING,
    OTLP_BASE64,
    OTLP_HEX, /* ids */
    OTLP_MESSAGE,
};

struct otlp_field {
    const char *name; /* snake_case; JSON has lowerCamelCase */
    uint8_t number;   /* canonical; 0 = only layouts that are not read have it */
    uint8_t kind;     /* enum otlp_kind */
    bool is_repeated;
    uint8_t message; /* enum otlp_message, for OTLP_MESSAGE */
};

/* The fields of a message, ended by a row without a name. Several names of one number: the newest is first. */
const struct otlp_field *otlp_schema_fields(enum otlp_message message);
/* The field whose name is `key` in lowerCamelCase or snake_case, or NULL. */
const struct otlp_field *otlp_schema_find_key(enum otlp_message message, struct slice key);
/* The first field with this canonical number, or NULL. */
const struct otlp_field *otlp_schema_find_number(enum otlp_message message, uint32_t number);
enum protobuf_wire otlp_schema_wire(enum otlp_kind kind);

/* One layout: canonical numbers by the numbers of its messages, 0 where it has no such field. */
struct otlp_numbering {
    uint8_t profile[OTLP_MAX_FIELD + 1];
    uint8_t sample[OTLP_MAX_FIELD + 1];
    uint8_t dictionary[OTLP_MAX_FIELD + 1];
    uint8_t location[OTLP_MAX_FIELD + 1];
    /* L7: a profile may have several sample types, and index 0 of a table (but for strings) is an entry as any other.
     */
    bool is_old;
};

/* The numbering of OTLP_L7 to OTLP_L10. */
const struct otlp_numbering *otlp_schema_numbering(enum otlp_layout layout);
/* The canonical numbers themselves, which JSON is turned into; `is_old` for the JSON of L7. */
const struct otlp_numbering *otlp_schema_canonical(bool is_old);

/* A tag with its number made canonical, or with field number 0 where the layout has no such field. */
static inline uint32_t otlp_schema_tag(const uint8_t numbers[static OTLP_MAX_FIELD + 1], uint32_t tag)
{
    uint32_t field = PROTOBUF_FIELD(tag);

    return PROTOBUF_TAG(field <= OTLP_MAX_FIELD ? numbers[field] : 0, PROTOBUF_WIRE(tag));
}

/* For the default branch of a reader: passes over a field the layout does not have (`canonical` has number 0); a field
 * it has is a problem, since its wire type is wrong. */
static inline void otlp_schema_skip(struct protobuf_reader *reader, uint32_t tag, uint32_t canonical)
{
    protobuf_skip_unknown(reader, tag, PROTOBUF_FIELD(canonical) ? PROTOBUF_FIELD(tag) : 0);
}

/* Sets ERR_CORRUPT for what a reader of `request` met; returns -1. `numbering` NULL = that of L10. */
int otlp_schema_explain(struct slice request, const struct otlp_numbering *numbering,
                        const struct protobuf_reader *failed, struct error *err);
