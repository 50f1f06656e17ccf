// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_schema_internal.h"

#include "wire/protojson.h"

static const struct otlp_field request_fields[] = {
    { "resource_profiles", OTLP_REQUEST_RESOURCE_PROFILES, OTLP_MESSAGE, true, OTLP_RESOURCE_PROFILES },
    { "dictionary", OTLP_REQUEST_DICTIONARY, OTLP_MESSAGE, false, OTLP_DICTIONARY },
    { "string_table", 0, OTLP_STRING, true, 0 }, /* L6 */
    { 0 },
};

static const struct otlp_field resource_profiles_fields[] = {
    { "resource", OTLP_RESOURCE_PROFILES_RESOURCE, OTLP_MESSAGE, false, OTLP_RESOURCE },
    { "scope_profiles", OTLP_RESOURCE_PROFILES_SCOPE_PROFILES, OTLP_MESSAGE, true, OTLP_SCOPE_PROFILES },
    { 0 },
};

static const struct otlp_field resource_fields[] = {
    { "attributes", OTLP_RESOURCE_ATTRIBUTES, OTLP_MESSAGE, true, OTLP_KEY_VALUE },
    { 0 },
};

static const struct otlp_field scope_profiles_fields[] = {
    { "scope", OTLP_SCOPE_PROFILES_SCOPE, OTLP_MESSAGE, false, OTLP_SCOPE },
    { "profiles", OTLP_SCOPE_PROFILES_PROFILES, OTLP_MESSAGE, true, OTLP_PROFILE },
    { 0 },
};

static const struct otlp_field scope_fields[] = {
    { "name", OTLP_SCOPE_NAME, OTLP_STRING, false, 0 },
    { "version", OTLP_SCOPE_VERSION, OTLP_STRING, false, 0 },
    { "attributes", OTLP_SCOPE_ATTRIBUTES, OTLP_MESSAGE, true, OTLP_KEY_VALUE },
    { 0 },
};

static const struct otlp_field profile_fields[] = {
    { "sample_type", OTLP_PROFILE_SAMPLE_TYPE, OTLP_MESSAGE, false, OTLP_VALUE_TYPE },
    { "samples", OTLP_PROFILE_SAMPLES, OTLP_MESSAGE, true, OTLP_SAMPLE },
    { "sample", OTLP_PROFILE_SAMPLES, OTLP_MESSAGE, true, OTLP_SAMPLE },
    { "time_unix_nano", OTLP_PROFILE_TIME, OTLP_FIXED64, false, 0 },
    { "time_nanos", OTLP_PROFILE_TIME, OTLP_FIXED64, false, 0 },
    { "duration_nano", OTLP_PROFILE_DURATION, OTLP_UINT64, false, 0 },
    { "duration_nanos", OTLP_PROFILE_DURATION, OTLP_UINT64, false, 0 },
    { "period_type", OTLP_PROFILE_PERIOD_TYPE, OTLP_MESSAGE, false, OTLP_VALUE_TYPE },
    { "period", OTLP_PROFILE_PERIOD, OTLP_INT64, false, 0 },
    { "profile_id", OTLP_PROFILE_ID, OTLP_HEX, false, 0 },
    { "dropped_attributes_count", OTLP_PROFILE_DROPPED_ATTRIBUTES, OTLP_UINT32, false, 0 },
    { "original_payload_format", OTLP_PROFILE_PAYLOAD_FORMAT, OTLP_STRING, false, 0 },
    { "original_payload", OTLP_PROFILE_PAYLOAD, OTLP_BASE64, false, 0 },
    { "attribute_indices", OTLP_PROFILE_ATTRIBUTES, OTLP_INT32, true, 0 },
    { "location_indices", OTLP_PROFILE_LOCATION_INDICES, OTLP_INT32, true, 0 },
    { "comment_strindices", OTLP_PROFILE_COMMENTS, OTLP_INT32, true, 0 },
    { "default_sample_type_index", OTLP_PROFILE_DEFAULT_TYPE, OTLP_INT32, false, 0 },
    { "string_table", 0, OTLP_STRING, true, 0 }, /* L4 */
    { 0 },
};

static const struct otlp_field value_type_fields[] = {
    { "type_strindex", OTLP_VALUE_TYPE_TYPE, OTLP_INT32, false, 0 },
    { "unit_strindex", OTLP_VALUE_TYPE_UNIT, OTLP_INT32, false, 0 },
    { "aggregation_temporality", OTLP_VALUE_TYPE_TEMPORALITY, OTLP_INT32, false, 0 },
    { 0 },
};

static const struct otlp_field sample_fields[] = {
    { "stack_index", OTLP_SAMPLE_STACK, OTLP_INT32, false, 0 },
    { "attribute_indices", OTLP_SAMPLE_ATTRIBUTES, OTLP_INT32, true, 0 },
    { "link_index", OTLP_SAMPLE_LINK, OTLP_INT32, false, 0 },
    { "values", OTLP_SAMPLE_VALUES, OTLP_INT64, true, 0 },
    { "value", OTLP_SAMPLE_VALUES, OTLP_INT64, true, 0 },
    { "timestamps_unix_nano", OTLP_SAMPLE_TIMES, OTLP_FIXED64, true, 0 },
    { "locations_start_index", OTLP_SAMPLE_LOCATIONS_START, OTLP_INT32, false, 0 },
    { "locations_length", OTLP_SAMPLE_LOCATIONS_LENGTH, OTLP_INT32, false, 0 },
    { "timestamps_unix_nano", OTLP_SAMPLE_TIME_VARINTS, OTLP_UINT64, true, 0 },
    { 0 },
};

static const struct otlp_field dictionary_fields[] = {
    { "mapping_table", OTLP_DICTIONARY_MAPPINGS, OTLP_MESSAGE, true, OTLP_MAPPING },
    { "location_table", OTLP_DICTIONARY_LOCATIONS, OTLP_MESSAGE, true, OTLP_LOCATION },
    { "function_table", OTLP_DICTIONARY_FUNCTIONS, OTLP_MESSAGE, true, OTLP_FUNCTION },
    { "link_table", OTLP_DICTIONARY_LINKS, OTLP_MESSAGE, true, OTLP_LINK },
    { "string_table", OTLP_DICTIONARY_STRINGS, OTLP_STRING, true, 0 },
    { "attribute_table", OTLP_DICTIONARY_ATTRIBUTES, OTLP_MESSAGE, true, OTLP_ATTRIBUTE },
    { "stack_table", OTLP_DICTIONARY_STACKS, OTLP_MESSAGE, true, OTLP_STACK },
    { "attribute_units", OTLP_DICTIONARY_UNITS, OTLP_MESSAGE, true, OTLP_ATTRIBUTE_UNIT },
    { 0 },
};

static const struct otlp_field mapping_fields[] = {
    { "memory_start", OTLP_MAPPING_START, OTLP_UINT64, false, 0 },
    { "memory_limit", OTLP_MAPPING_LIMIT, OTLP_UINT64, false, 0 },
    { "file_offset", OTLP_MAPPING_OFFSET, OTLP_UINT64, false, 0 },
    { "filename_strindex", OTLP_MAPPING_FILE, OTLP_INT32, false, 0 },
    { "attribute_indices", OTLP_MAPPING_ATTRIBUTES, OTLP_INT32, true, 0 },
    { "has_functions", OTLP_MAPPING_HAS_FUNCTIONS, OTLP_BOOL, false, 0 },
    { "has_filenames", OTLP_MAPPING_HAS_FILENAMES, OTLP_BOOL, false, 0 },
    { "has_line_numbers", OTLP_MAPPING_HAS_LINE_NUMBERS, OTLP_BOOL, false, 0 },
    { "has_inline_frames", OTLP_MAPPING_HAS_INLINE_FRAMES, OTLP_BOOL, false, 0 },
    { 0 },
};

static const struct otlp_field location_fields[] = {
    { "mapping_index", OTLP_LOCATION_MAPPING, OTLP_INT32, false, 0 },
    { "address", OTLP_LOCATION_ADDRESS, OTLP_UINT64, false, 0 },
    { "lines", OTLP_LOCATION_LINES, OTLP_MESSAGE, true, OTLP_LINE },
    { "line", OTLP_LOCATION_LINES, OTLP_MESSAGE, true, OTLP_LINE },
    { "attribute_indices", OTLP_LOCATION_ATTRIBUTES, OTLP_INT32, true, 0 },
    { "is_folded", OTLP_LOCATION_IS_FOLDED, OTLP_BOOL, false, 0 },
    { 0 },
};

static const struct otlp_field line_fields[] = {
    { "function_index", OTLP_LINE_FUNCTION, OTLP_INT32, false, 0 },
    { "line", OTLP_LINE_LINE, OTLP_INT64, false, 0 },
    { "column", OTLP_LINE_COLUMN, OTLP_INT64, false, 0 },
    { 0 },
};

static const struct otlp_field function_fields[] = {
    { "name_strindex", OTLP_FUNCTION_NAME, OTLP_INT32, false, 0 },
    { "system_name_strindex", OTLP_FUNCTION_SYSTEM_NAME, OTLP_INT32, false, 0 },
    { "filename_strindex", OTLP_FUNCTION_FILE, OTLP_INT32, false, 0 },
    { "start_line", OTLP_FUNCTION_START_LINE, OTLP_INT64, false, 0 },
    { 0 },
};

static const struct otlp_field link_fields[] = {
    { "trace_id", OTLP_LINK_TRACE_ID, OTLP_HEX, false, 0 },
    { "span_id", OTLP_LINK_SPAN_ID, OTLP_HEX, false, 0 },
    { 0 },
};

static const struct otlp_field attribute_fields[] = {
    { "key_strindex", OTLP_ATTRIBUTE_KEY, OTLP_INT32, false, 0 },
    { "value", OTLP_ATTRIBUTE_VALUE, OTLP_MESSAGE, false, OTLP_ANY_VALUE },
    { "unit_strindex", OTLP_ATTRIBUTE_UNIT_INDEX, OTLP_INT32, false, 0 },
    { "key", OTLP_ATTRIBUTE_KEY, OTLP_STRING, false, 0 },
    { 0 },
};

static const struct otlp_field attribute_unit_fields[] = {
    { "attribute_key_strindex", OTLP_UNIT_KEY, OTLP_INT32, false, 0 },
    { "unit_strindex", OTLP_UNIT_UNIT, OTLP_INT32, false, 0 },
    { 0 },
};

static const struct otlp_field stack_fields[] = {
    { "location_indices", OTLP_STACK_LOCATIONS, OTLP_INT32, true, 0 },
    { 0 },
};

static const struct otlp_field key_value_fields[] = {
    { "key", OTLP_KEY_VALUE_KEY, OTLP_STRING, false, 0 },
    { "value", OTLP_KEY_VALUE_VALUE, OTLP_MESSAGE, false, OTLP_ANY_VALUE },
    { "key_strindex", OTLP_KEY_VALUE_KEY_INDEX, OTLP_INT32, false, 0 },
    { 0 },
};

static const struct otlp_field any_value_fields[] = {
    { "string_value", OTLP_VALUE_STRING, OTLP_STRING, false, 0 },
    { "bool_value", OTLP_VALUE_BOOL, OTLP_BOOL, false, 0 },
    { "int_value", OTLP_VALUE_INT, OTLP_INT64, false, 0 },
    { "double_value", OTLP_VALUE_DOUBLE, OTLP_DOUBLE, false, 0 },
    { "array_value", OTLP_VALUE_ARRAY, OTLP_MESSAGE, false, OTLP_ARRAY_VALUE },
    { "kvlist_value", OTLP_VALUE_MAP, OTLP_MESSAGE, false, OTLP_KEY_VALUE_LIST },
    { "bytes_value", OTLP_VALUE_BYTES, OTLP_BASE64, false, 0 },
    { "string_value_strindex", OTLP_VALUE_STRING_INDEX, OTLP_INT32, false, 0 },
    { 0 },
};

static const struct otlp_field array_value_fields[] = {
    { "values", OTLP_LIST_VALUES, OTLP_MESSAGE, true, OTLP_ANY_VALUE },
    { 0 },
};

static const struct otlp_field key_value_list_fields[] = {
    { "values", OTLP_LIST_VALUES, OTLP_MESSAGE, true, OTLP_KEY_VALUE },
    { 0 },
};

static const struct otlp_field *const messages[OTLP_MESSAGE_COUNT] = {
    [OTLP_REQUEST] = request_fields,
    [OTLP_RESOURCE_PROFILES] = resource_profiles_fields,
    [OTLP_RESOURCE] = resource_fields,
    [OTLP_SCOPE_PROFILES] = scope_profiles_fields,
    [OTLP_SCOPE] = scope_fields,
    [OTLP_PROFILE] = profile_fields,
    [OTLP_VALUE_TYPE] = value_type_fields,
    [OTLP_SAMPLE] = sample_fields,
    [OTLP_DICTIONARY] = dictionary_fields,
    [OTLP_MAPPING] = mapping_fields,
    [OTLP_LOCATION] = location_fields,
    [OTLP_LINE] = line_fields,
    [OTLP_FUNCTION] = function_fields,
    [OTLP_LINK] = link_fields,
    [OTLP_ATTRIBUTE] = attribute_fields,
    [OTLP_ATTRIBUTE_UNIT] = attribute_unit_fields,
    [OTLP_STACK] = stack_fields,
    [OTLP_KEY_VALUE] = key_value_fields,
    [OTLP_ANY_VALUE] = any_value_fields,
    [OTLP_ARRAY_VALUE] = array_value_fields,
    [OTLP_KEY_VALUE_LIST] = key_value_list_fields,
};

const struct otlp_field *otlp_schema_fields(enum otlp_message message)
{
    return messages[message];
}

const struct otlp_field *otlp_schema_find_key(enum otlp_message message, struct slice key)
{
    for (const struct otlp_field *field = messages[message]; field->name; field++)
        if (protojson_is_key_of(key, field->name))
            return field;
    return NULL;
}

const struct otlp_field *otlp_schema_find_number(enum otlp_message message, uint32_t number)
{
    for (const struct otlp_field *field = messages[message]; field->name; field++)
        if (field->number == number)
            return field;
    return NULL;
}

enum protobuf_wire otlp_schema_wire(enum otlp_kind kind)
{
    if (kind <= OTLP_BOOL)
        return PROTOBUF_VARINT;
    return kind <= OTLP_DOUBLE ? PROTOBUF_FIXED64 : PROTOBUF_BYTES;
}

/* --- numberings --- */

/* Canonical numbers are L10's with more behind them; a reader of L10 must not take those for its own. */
#define PROFILE_L9    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
#define SAMPLE_L8     0, OTLP_SAMPLE_STACK, OTLP_SAMPLE_VALUES, OTLP_SAMPLE_ATTRIBUTES, OTLP_SAMPLE_LINK, OTLP_SAMPLE_TIMES
#define DICTIONARY_L8 0, 1, 2, 3, 4, 5, 6, 7
#define LOCATION_L8   0, 1, 2, 3, 4
#define ALL_NUMBERS   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15

static const struct otlp_numbering l7 = {
    .profile = { 0, OTLP_PROFILE_SAMPLE_TYPE, OTLP_PROFILE_SAMPLES, OTLP_PROFILE_LOCATION_INDICES, OTLP_PROFILE_TIME,
                 OTLP_PROFILE_DURATION, OTLP_PROFILE_PERIOD_TYPE, OTLP_PROFILE_PERIOD, OTLP_PROFILE_COMMENTS,
                 OTLP_PROFILE_DEFAULT_TYPE, OTLP_PROFILE_ID, OTLP_PROFILE_DROPPED_ATTRIBUTES,
                 OTLP_PROFILE_PAYLOAD_FORMAT, OTLP_PROFILE_PAYLOAD, OTLP_PROFILE_ATTRIBUTES },
    .sample = { 0, OTLP_SAMPLE_LOCATIONS_START, OTLP_SAMPLE_LOCATIONS_LENGTH, OTLP_SAMPLE_VALUES,
                OTLP_SAMPLE_ATTRIBUTES, OTLP_SAMPLE_LINK, OTLP_SAMPLE_TIME_VARINTS },
    .dictionary = { 0, 1, 2, 3, 4, 5, 6, OTLP_DICTIONARY_UNITS },
    .location = { 0, OTLP_LOCATION_MAPPING, OTLP_LOCATION_ADDRESS, OTLP_LOCATION_LINES, OTLP_LOCATION_IS_FOLDED,
                  OTLP_LOCATION_ATTRIBUTES },
    .is_old = true,
};

static const struct otlp_numbering l8 = {
    .profile = { 0, OTLP_PROFILE_SAMPLE_TYPE, OTLP_PROFILE_SAMPLES, OTLP_PROFILE_TIME, OTLP_PROFILE_DURATION,
                 OTLP_PROFILE_PERIOD_TYPE, OTLP_PROFILE_PERIOD, OTLP_PROFILE_COMMENTS, OTLP_PROFILE_ID,
                 OTLP_PROFILE_DROPPED_ATTRIBUTES, OTLP_PROFILE_PAYLOAD_FORMAT, OTLP_PROFILE_PAYLOAD,
                 OTLP_PROFILE_ATTRIBUTES },
    .sample = { SAMPLE_L8 },
    .dictionary = { DICTIONARY_L8 },
    .location = { LOCATION_L8 },
};

static const struct otlp_numbering l9 = {
    .profile = { PROFILE_L9 },
    .sample = { SAMPLE_L8 },
    .dictionary = { DICTIONARY_L8 },
    .location = { LOCATION_L8 },
};

static const struct otlp_numbering l10 = {
    .profile = { PROFILE_L9 },
    .sample = { 0, 1, 2, 3, 4, 5 },
    .dictionary = { DICTIONARY_L8 },
    .location = { LOCATION_L8 },
};

static const struct otlp_numbering canonical[2] = {
    { .profile = { ALL_NUMBERS },
      .sample = { ALL_NUMBERS },
      .dictionary = { ALL_NUMBERS },
      .location = { ALL_NUMBERS },
      .is_old = false },
    { .profile = { ALL_NUMBERS },
      .sample = { ALL_NUMBERS },
      .dictionary = { ALL_NUMBERS },
      .location = { ALL_NUMBERS },
      .is_old = true },
};

const struct otlp_numbering *otlp_schema_numbering(enum otlp_layout layout)
{
    switch (layout) {
    case OTLP_L7: return &l7;
    case OTLP_L8: return &l8;
    case OTLP_L9: return &l9;
    case OTLP_L4:
    case OTLP_L6:
    case OTLP_L10: break;
    }
    return &l10;
}

const struct otlp_numbering *otlp_schema_canonical(bool is_old)
{
    return &canonical[is_old];
}

/* --- stories --- */

#define MAX_ROWS 160

/* The tables that protobuf_explain reads, made from the schema and a numbering when something went wrong. */
struct otlp_names {
    struct protobuf_field rows[MAX_ROWS];
    struct protobuf_field *first[OTLP_MESSAGE_COUNT];
};

static const uint8_t *numbers_of(const struct otlp_numbering *numbering, enum otlp_message message)
{
    switch (message) {
    case OTLP_PROFILE: return numbering->profile;
    case OTLP_SAMPLE: return numbering->sample;
    case OTLP_DICTIONARY: return numbering->dictionary;
    case OTLP_LOCATION: return numbering->location;
    default: return canonical[0].profile;
    }
}

static struct protobuf_field *add_message_names(struct protobuf_field *row, struct otlp_names *names,
                                                const struct otlp_numbering *numbering, enum otlp_message message)
{
    const uint8_t *numbers = numbers_of(numbering, message);

    for (uint32_t number = 1; number <= OTLP_MAX_FIELD; number++) {
        const struct otlp_field *field = numbers[number] ? otlp_schema_find_number(message, numbers[number]) : NULL;

        if (!field)
            continue;
        *row++ = (struct protobuf_field){ .name = field->name,
                                          .number = number,
                                          .wire = otlp_schema_wire(field->kind),
                                          .is_repeated = field->is_repeated,
                                          .fields = field->kind == OTLP_MESSAGE ? names->first[field->message] : NULL };
    }
    *row++ = (struct protobuf_field){ .name = NULL };
    ASSERT(row <= names->rows + MAX_ROWS);
    return row;
}

int otlp_schema_explain(struct slice request, const struct otlp_numbering *numbering,
                        const struct protobuf_reader *failed, struct error *err)
{
    struct otlp_names names = { 0 };

    /* Messages refer to each other, so the first round finds where each begins and the second fills in the references.
     */
    for (int round = 0; round < 2; round++) {
        struct protobuf_field *row = names.rows;

        for (uint32_t i = 0; i < OTLP_MESSAGE_COUNT; i++) {
            names.first[i] = row;
            row = add_message_names(row, &names, numbering ? numbering : &l10, (enum otlp_message)i);
        }
    }
    return protobuf_explain("OTLP", names.first[OTLP_REQUEST], request, failed, err);
}
