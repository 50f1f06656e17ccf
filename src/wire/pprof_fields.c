// SPDX-License-Identifier: Apache-2.0
/* The fields of profile.proto by name: for errors that say where, and for telling pprof from other bytes. */
#include "wire/pprof.h"
#include "wire/pprof_internal.h"

static const struct protobuf_field value_type_fields[] = {
    { "type", PPROF_VALUE_TYPE_TYPE, PROTOBUF_VARINT, false, NULL },
    { "unit", PPROF_VALUE_TYPE_UNIT, PROTOBUF_VARINT, false, NULL },
    { 0 },
};

static const struct protobuf_field label_fields[] = {
    { "key", PPROF_LABEL_KEY, PROTOBUF_VARINT, false, NULL },
    { "str", PPROF_LABEL_STR, PROTOBUF_VARINT, false, NULL },
    { "num", PPROF_LABEL_NUM, PROTOBUF_VARINT, false, NULL },
    { "num_unit", PPROF_LABEL_NUM_UNIT, PROTOBUF_VARINT, false, NULL },
    { 0 },
};

static const struct protobuf_field sample_fields[] = {
    { "location_id", PPROF_SAMPLE_LOCATION_ID, PROTOBUF_VARINT, true, NULL },
    { "value", PPROF_SAMPLE_VALUE, PROTOBUF_VARINT, true, NULL },
    { "label", PPROF_SAMPLE_LABEL, PROTOBUF_BYTES, true, label_fields },
    { 0 },
};

static const struct protobuf_field mapping_fields[] = {
    { "id", PPROF_MAPPING_ID, PROTOBUF_VARINT, false, NULL },
    { "memory_start", PPROF_MAPPING_MEMORY_START, PROTOBUF_VARINT, false, NULL },
    { "memory_limit", PPROF_MAPPING_MEMORY_LIMIT, PROTOBUF_VARINT, false, NULL },
    { "file_offset", PPROF_MAPPING_FILE_OFFSET, PROTOBUF_VARINT, false, NULL },
    { "filename", PPROF_MAPPING_FILENAME, PROTOBUF_VARINT, false, NULL },
    { "build_id", PPROF_MAPPING_BUILD_ID, PROTOBUF_VARINT, false, NULL },
    { "has_functions", PPROF_MAPPING_FIRST_FLAG, PROTOBUF_VARINT, false, NULL },
    { "has_filenames", PPROF_MAPPING_FIRST_FLAG + 1, PROTOBUF_VARINT, false, NULL },
    { "has_line_numbers", PPROF_MAPPING_FIRST_FLAG + 2, PROTOBUF_VARINT, false, NULL },
    { "has_inline_frames", PPROF_MAPPING_LAST_FLAG, PROTOBUF_VARINT, false, NULL },
    { 0 },
};

static const struct protobuf_field line_fields[] = {
    { "function_id", PPROF_LINE_FUNCTION_ID, PROTOBUF_VARINT, false, NULL },
    { "line", PPROF_LINE_LINE, PROTOBUF_VARINT, false, NULL },
    { "column", PPROF_LINE_COLUMN, PROTOBUF_VARINT, false, NULL },
    { 0 },
};

static const struct protobuf_field location_fields[] = {
    { "id", PPROF_LOCATION_ID, PROTOBUF_VARINT, false, NULL },
    { "mapping_id", PPROF_LOCATION_MAPPING_ID, PROTOBUF_VARINT, false, NULL },
    { "address", PPROF_LOCATION_ADDRESS, PROTOBUF_VARINT, false, NULL },
    { "line", PPROF_LOCATION_LINE, PROTOBUF_BYTES, true, line_fields },
    { "is_folded", PPROF_LOCATION_IS_FOLDED, PROTOBUF_VARINT, false, NULL },
    { 0 },
};

static const struct protobuf_field function_fields[] = {
    { "id", PPROF_FUNCTION_ID, PROTOBUF_VARINT, false, NULL },
    { "name", PPROF_FUNCTION_NAME, PROTOBUF_VARINT, false, NULL },
    { "system_name", PPROF_FUNCTION_SYSTEM_NAME, PROTOBUF_VARINT, false, NULL },
    { "filename", PPROF_FUNCTION_FILENAME, PROTOBUF_VARINT, false, NULL },
    { "start_line", PPROF_FUNCTION_START_LINE, PROTOBUF_VARINT, false, NULL },
    { 0 },
};

static const struct protobuf_field profile_fields[] = {
    { "sample_type", PPROF_PROFILE_SAMPLE_TYPE, PROTOBUF_BYTES, true, value_type_fields },
    { "sample", PPROF_PROFILE_SAMPLE, PROTOBUF_BYTES, true, sample_fields },
    { "mapping", PPROF_PROFILE_MAPPING, PROTOBUF_BYTES, true, mapping_fields },
    { "location", PPROF_PROFILE_LOCATION, PROTOBUF_BYTES, true, location_fields },
    { "function", PPROF_PROFILE_FUNCTION, PROTOBUF_BYTES, true, function_fields },
    { "string_table", PPROF_PROFILE_STRING_TABLE, PROTOBUF_BYTES, true, NULL },
    { "drop_frames", PPROF_PROFILE_DROP_FRAMES, PROTOBUF_VARINT, false, NULL },
    { "keep_frames", PPROF_PROFILE_KEEP_FRAMES, PROTOBUF_VARINT, false, NULL },
    { "time_nanos", PPROF_PROFILE_TIME_NANOS, PROTOBUF_VARINT, false, NULL },
    { "duration_nanos", PPROF_PROFILE_DURATION_NANOS, PROTOBUF_VARINT, false, NULL },
    { "period_type", PPROF_PROFILE_PERIOD_TYPE, PROTOBUF_BYTES, false, value_type_fields },
    { "period", PPROF_PROFILE_PERIOD, PROTOBUF_VARINT, false, NULL },
    { "comment", PPROF_PROFILE_COMMENT, PROTOBUF_VARINT, true, NULL },
    { "default_sample_type", PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, PROTOBUF_VARINT, false, NULL },
    { "doc_url", PPROF_PROFILE_DOC_URL, PROTOBUF_VARINT, false, NULL },
    { 0 },
};

int pprof_explain(struct slice bytes, const struct protobuf_reader *failed, struct error *err)
{
    return protobuf_explain("pprof", profile_fields, bytes, failed, err);
}

/* Fields that are looked at before judging: enough to be sure, few enough to cost nothing beside decoding. */
#define RECOGNISE_FIELDS 128

int pprof_recognise(struct slice bytes)
{
    struct protobuf_reader r = protobuf_reader_of(bytes);
    bool has_types = false, has_strings = false, begins_empty = false, has_unknown = false;
    uint32_t tag;

    for (uint32_t n = 0; (n < RECOGNISE_FIELDS || !(has_types || has_strings)) && protobuf_next(&r, &tag); n++) {
        if (!protobuf_fits(tag, profile_fields)) {
            if (PROTOBUF_FIELD(tag) <= PPROF_PROFILE_DOC_URL)
                return 0;
            has_unknown = true;
        }
        if (tag == PPROF_BYTES(PPROF_PROFILE_SAMPLE_TYPE) || tag == PPROF_BYTES(PPROF_PROFILE_PERIOD_TYPE)) {
            struct slice type = protobuf_bytes(&r);

            /* Other messages begin with fields 1 and 2 of bytes too; theirs are no value types. */
            if (!protobuf_conforms(type, value_type_fields))
                return 0;
            has_types |= !r.bad;
        } else if (tag == PPROF_BYTES(PPROF_PROFILE_STRING_TABLE) && !has_strings) {
            begins_empty = protobuf_bytes(&r).len == 0;
            has_strings = !r.bad;
        } else {
            protobuf_skip(&r, tag);
        }
    }
    if (!(has_types || has_strings) || (has_unknown && (r.bad || !has_types)))
        return 0;
    if (r.bad) /* it was one before it was cut: let the decoder say where it breaks */
        return has_types ? 20 : 0;
    if (has_unknown)
        return begins_empty ? 50 : 0;
    return begins_empty || (has_types && !has_strings && protobuf_more(&r)) ? 95 : 60;
}
