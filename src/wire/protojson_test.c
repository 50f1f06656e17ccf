// SPDX-License-Identifier: Apache-2.0
#include "wire/protojson.h"

#include "base/test.h"

#include <stdio.h>

static const struct protojson_field inner_fields[] = {
    { "name", 1, PROTOJSON_TEXT, false, NULL },
    { "inner_most", 2, PROTOJSON_MESSAGE, false, inner_fields },
    { 0 },
};

static const struct protojson_field outer_fields[] = {
    { "an_int", 1, PROTOJSON_INT, false, NULL },
    { "an_uint", 2, PROTOJSON_UINT, false, NULL },
    { "flag", 3, PROTOJSON_BOOL, false, NULL },
    { "small", 4, PROTOJSON_FIXED32, false, NULL },
    { "time_unix_nano", 5, PROTOJSON_FIXED64, false, NULL },
    { "signed", 6, PROTOJSON_SFIXED64, false, NULL },
    { "real", 7, PROTOJSON_DOUBLE, false, NULL },
    { "data", 8, PROTOJSON_BASE64, false, NULL },
    { "trace_id", 9, PROTOJSON_HEX, false, NULL },
    { "inner", 10, PROTOJSON_MESSAGE, true, inner_fields },
    { "counts", 11, PROTOJSON_FIXED64, true, NULL },
    { 0 },
};

/* The message that a text stands for, as hexadecimal digits; else what is wrong. */
static const char *message_of(const char *text)
{
    static struct error err;
    static char hex[1000];
    struct json_reader reader;
    struct buffer out;
    struct arena arena;
    size_t len = 0;
    bool is_well;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    json_reader_init(&reader, slice_from(text), &arena, JSON_READER_MAX_DEPTH);
    protojson_read(&reader, outer_fields, &out);
    json_reader_end(&reader);
    is_well = json_reader_check(&reader, &err) == 0;
    hex[0] = '\0';
    for (size_t i = 0; i < out.len; i++)
        len += (size_t)snprintf(hex + len, sizeof(hex) - len, "%02x", (unsigned char)out.data[i]);
    buffer_done(&out);
    arena_done(&arena);
    return is_well ? hex : err.text;
}

TEST(protojson_writes_each_kind_of_field)
{
    CHECK_TEXT(message_of("{}"), "");
    CHECK_TEXT(message_of("{\"anInt\":-1}"), "08ffffffffffffffffff01");
    CHECK_TEXT(message_of("{\"an_int\":\"5\"}"), "0805");
    CHECK_TEXT(message_of("{\"anUint\":300,\"flag\":true}"), "10ac021801");
    CHECK_TEXT(message_of("{\"small\":256}"), "2500010000");
    CHECK_TEXT(message_of("{\"timeUnixNano\":\"1\"}"), "290100000000000000");
    CHECK_TEXT(message_of("{\"signed\":-2}"), "31feffffffffffffff");
    CHECK_TEXT(message_of("{\"real\":0.25}"), "39000000000000d03f");
    CHECK_TEXT(message_of("{\"data\":\"AQI=\"}"), "42020102");
    CHECK_TEXT(message_of("{\"traceId\":\"0aFF\"}"), "4a020aff");
    CHECK_TEXT(message_of("{\"counts\":[1,\"2\"]}"), "5a1001000000000000000200000000000000");
}

TEST(protojson_nests_messages_and_passes_over_what_it_does_not_know)
{
    CHECK_TEXT(message_of("{\"inner\":[{\"name\":\"a\"},{\"innerMost\":{\"name\":\"b\"}}]}"), "52030a01615205120"
                                                                                              "30a0162");
    CHECK_TEXT(message_of("{\"inner\":{\"name\":\"a\"}}"), "52030a0161");
    CHECK_TEXT(message_of("{\"other\":[{}],\"Inner\":1,\"anInt\":null,\"flag\":false}"), "1800");
}

TEST(protojson_says_where_a_value_is_wrong)
{
    CHECK_HAS(message_of("{\"traceId\":\"0g\"}"), "expected an id in hexadecimal digits, found '0g'");
    CHECK_HAS(message_of("{\"traceId\":\"abc\"}"), "expected an id of whole bytes, found 3 hexadecimal digits");
    CHECK_HAS(message_of("{\"data\":\"*\"}"), "expected base64");
    CHECK_HAS(message_of("{\"small\":4294967296}"), "expected a number of 32 bits");
    CHECK_HAS(message_of("{\"anInt\":[1]}"), "line 1, column");
    CHECK_HAS(message_of("[]"), "line 1, column 1");
}

TEST(protojson_explains_protobuf_that_is_damaged)
{
    static const char bytes[] = "\x52\x02\x0a\x05";
    struct slice whole = slice_of(bytes, sizeof(bytes) - 1);
    struct protobuf_reader r = protobuf_reader_of(whole), inner;
    struct error err;
    uint32_t tag;

    CHECK(protobuf_next(&r, &tag));
    inner = protobuf_message(&r);
    CHECK(protobuf_next(&inner, &tag));
    (void)protobuf_bytes(&inner);
    protobuf_leave(&r, &inner);
    CHECK_ERROR(protojson_explain("a format", outer_fields, whole, &r, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "a format: inner 0, field name at byte 3: length reaches past the end of its message");
}
