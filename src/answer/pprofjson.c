// SPDX-License-Identifier: Apache-2.0
#include "answer/pprofjson.h"

#include "base/json.h"
#include "wire/protobuf.h"

#include <inttypes.h>
#include <stdio.h>

enum kind { NUMBER, UNSIGNED, BOOL, TEXT, MESSAGE };

struct member {
    uint32_t number;
    const char *name;
    enum kind kind;
    bool is_repeated;
    const struct member *members; /* of a MESSAGE */
};

static const struct member value_type[] = { { 1, "type", NUMBER, false, NULL },
                                            { 2, "unit", NUMBER, false, NULL },
                                            { .name = NULL } };
static const struct member label[] = { { 1, "key", NUMBER, false, NULL },
                                       { 2, "str", NUMBER, false, NULL },
                                       { 3, "num", NUMBER, false, NULL },
                                       { 4, "numUnit", NUMBER, false, NULL },
                                       { .name = NULL } };
static const struct member sample[] = { { 1, "locationId", UNSIGNED, true, NULL },
                                        { 2, "value", NUMBER, true, NULL },
                                        { 3, "label", MESSAGE, true, label },
                                        { .name = NULL } };
static const struct member mapping[] = { { 1, "id", UNSIGNED, false, NULL },
                                         { 2, "memoryStart", UNSIGNED, false, NULL },
                                         { 3, "memoryLimit", UNSIGNED, false, NULL },
                                         { 4, "fileOffset", UNSIGNED, false, NULL },
                                         { 5, "filename", NUMBER, false, NULL },
                                         { 6, "buildId", NUMBER, false, NULL },
                                         { 7, "hasFunctions", BOOL, false, NULL },
                                         { 8, "hasFilenames", BOOL, false, NULL },
                                         { 9, "hasLineNumbers", BOOL, false, NULL },
                                         { 10, "hasInlineFrames", BOOL, false, NULL },
                                         { .name = NULL } };
static const struct member line[] = { { 1, "functionId", UNSIGNED, false, NULL },
                                      { 2, "line", NUMBER, false, NULL },
                                      { .name = NULL } };
static const struct member location[] = {
    { 1, "id", UNSIGNED, false, NULL },      { 2, "mappingId", UNSIGNED, false, NULL },
    { 3, "address", UNSIGNED, false, NULL }, { 4, "line", MESSAGE, true, line },
    { 5, "isFolded", BOOL, false, NULL },    { .name = NULL }
};
static const struct member function[] = {
    { 1, "id", UNSIGNED, false, NULL },       { 2, "name", NUMBER, false, NULL },
    { 3, "systemName", NUMBER, false, NULL }, { 4, "filename", NUMBER, false, NULL },
    { 5, "startLine", NUMBER, false, NULL },  { .name = NULL }
};
static const struct member profile_members[] = { { 1, "sampleType", MESSAGE, true, value_type },
                                                 { 2, "sample", MESSAGE, true, sample },
                                                 { 3, "mapping", MESSAGE, true, mapping },
                                                 { 4, "location", MESSAGE, true, location },
                                                 { 5, "function", MESSAGE, true, function },
                                                 { 6, "stringTable", TEXT, true, NULL },
                                                 { 7, "dropFrames", NUMBER, false, NULL },
                                                 { 8, "keepFrames", NUMBER, false, NULL },
                                                 { 9, "timeNanos", NUMBER, false, NULL },
                                                 { 10, "durationNanos", NUMBER, false, NULL },
                                                 { 11, "periodType", MESSAGE, false, value_type },
                                                 { 12, "period", NUMBER, false, NULL },
                                                 { 13, "comment", NUMBER, true, NULL },
                                                 { 14, "defaultSampleType", NUMBER, false, NULL },
                                                 { .name = NULL } };

static void write_message(struct protobuf_reader *r, const struct member *members, struct json *json);

static void write_integer(struct json *json, enum kind kind, uint64_t value)
{
    char text[24];
    int len;

    if (kind == BOOL) {
        json_bool(json, value != 0);
        return;
    }
    len = kind == NUMBER ? snprintf(text, sizeof(text), "%" PRId64, (int64_t)value)
                         : snprintf(text, sizeof(text), "%" PRIu64, value);
    json_string(json, slice_of(text, (size_t)len));
}

/* A value of bytes: a text, a message, or packed numbers. */
static void write_bytes(struct protobuf_reader *r, const struct member *member, struct json *json)
{
    struct protobuf_reader inner;

    if (member->kind == TEXT) {
        json_string(json, protobuf_bytes(r));
        return;
    }
    inner = protobuf_message(r);
    if (member->kind == MESSAGE)
        write_message(&inner, member->members, json);
    else
        while (protobuf_more(&inner))
            write_integer(json, member->kind, protobuf_varint(&inner));
    protobuf_leave(r, &inner);
}

static const struct member *find_member(const struct member *members, uint32_t tag)
{
    uint32_t wire = PROTOBUF_WIRE(tag);

    for (const struct member *member = members; member->name; member++) {
        bool has_bytes = member->kind == TEXT || member->kind == MESSAGE;

        if (member->number == PROTOBUF_FIELD(tag))
            return wire == (has_bytes ? PROTOBUF_BYTES : PROTOBUF_VARINT) ||
                           (!has_bytes && member->is_repeated && wire == PROTOBUF_BYTES)
                       ? member
                       : NULL;
    }
    return NULL;
}

static void write_message(struct protobuf_reader *r, const struct member *members, struct json *json)
{
    const struct member *open = NULL; /* the list that is being written */
    uint32_t tag;

    json_object_begin(json);
    while (protobuf_next(r, &tag)) {
        const struct member *member = find_member(members, tag);

        if (!member) {
            protobuf_skip(r, tag);
            continue;
        }
        if (member != open) {
            if (open)
                json_array_end(json);
            open = NULL;
            json_key(json, member->name);
            if (member->is_repeated) {
                json_array_begin(json);
                open = member;
            }
        }
        if (PROTOBUF_WIRE(tag) == PROTOBUF_BYTES)
            write_bytes(r, member, json);
        else
            write_integer(json, member->kind, protobuf_varint(r));
    }
    if (open)
        json_array_end(json);
    json_object_end(json);
}

int pprofjson_write(struct slice profile, struct buffer *out, struct error *err)
{
    static const struct protobuf_field no_names[] = { { .name = NULL } };
    struct protobuf_reader r = protobuf_reader_of(profile);
    struct json json;

    json_init(&json, out, JSON_COMPACT);
    write_message(&r, profile_members, &json);
    json_done(&json);
    return r.bad ? protobuf_explain("pprof", no_names, profile, &r, err) : buffer_check(out, err);
}
