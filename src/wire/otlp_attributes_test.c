// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

/* A request whose resource has the attribute `k` with the AnyValue given, and strings to refer to. */
static const char *resource_with(struct slice any_value)
{
    static const char *const strings[] = { "", "key", "text" };
    struct buffer out;
    const char *dump;
    size_t resource_profiles, resource, attribute, dictionary;

    buffer_init(&out, 0);
    resource_profiles = protobuf_begin(&out, 1);
    resource = protobuf_begin(&out, 1);
    attribute = protobuf_begin(&out, 1);
    protobuf_put_bytes(&out, 1, SLICE("k"));
    protobuf_put_bytes_always(&out, 2, any_value);
    protobuf_end(&out, attribute);
    protobuf_end(&out, resource);
    protobuf_put_bytes(&out, 2, SLICE("\x12\0"));
    protobuf_end(&out, resource_profiles);
    dictionary = protobuf_begin(&out, 2);
    otlp_craft_put_strings(&out, strings, ARRAY_LEN(strings));
    protobuf_end(&out, dictionary);
    dump = otlp_craft_decoded(buffer_slice(&out));
    buffer_done(&out);
    return dump;
}

#define CHECK_RESOURCE(any_value, labels) CHECK_TEXT(resource_with(SLICE(any_value)), "profile resource {" labels "}\n")

TEST(otlp_attributes_keep_the_kind_of_their_value)
{
    CHECK_RESOURCE("\x0a\4text", "k=text");
    CHECK_RESOURCE("\x40\2", "k=text");
    CHECK_RESOURCE("\x10\1", "k=bool:1");
    CHECK_RESOURCE("\x10\0", "k=bool:0");
    CHECK_RESOURCE("\x18\x85\xff\xff\xff\xff\xff\xff\xff\xff\1", "k=-123");
    CHECK_RESOURCE("\x21\0\0\0\0\0\0\xf8\x3f", "k=double:1.5");
    CHECK_RESOURCE("\x3a\2\xff\x01", "k=bytes:\xff\x01");
    CHECK_RESOURCE("", "k=");
    CHECK_RESOURCE("\x18\1\x0a\1x", "k=x");
}

TEST(otlp_attributes_keep_lists_and_maps_as_json)
{
    /* [ "a", 7, true, null, 1.5, "text" by index, bytes ] */
    CHECK_RESOURCE(
        "\x2a\x24\x0a\3\x0a\1a\x0a\2\x18\7\x0a\2\x10\1\x0a\0\x0a\x09\x21\0\0\0\0\0\0\xf8\x3f\x0a\2\x40\2\x0a\4"
        "\x3a\2\xff\xfe",
        "k=json:[\"a\",7,true,null,1.5,\"text\",\"//4=\"]");
    /* a map in a map; one key is an index, one has to be escaped */
    CHECK_RESOURCE("\x32\x1c\x0a\7\x0a\1a\x12\2\x2a\0\x0a\x11\x18\1\x12\x0d\x32\x0b\x0a\x09\x0a\2x\n\x12\3\x18\x90\1",
                   "k=json:{\"a\":[],\"key\":{\"x\\n\":144}}");
    CHECK_RESOURCE("\x2a\0", "k=json:[]");
}

TEST(otlp_attributes_nested_too_deeply_are_dropped)
{
    struct buffer value, outer;

    buffer_init(&value, 0);
    for (int i = 0; i < 17; i++) {
        size_t list, item;

        buffer_init(&outer, 0);
        list = protobuf_begin(&outer, 5);
        item = protobuf_begin(&outer, 1);
        buffer_append_slice(&outer, buffer_slice(&value));
        protobuf_end(&outer, item);
        protobuf_end(&outer, list);
        buffer_done(&value);
        value = outer;
        if (i == 15)
            CHECK_HAS(resource_with(buffer_slice(&value)), "k=json:[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]");
    }
    CHECK_TEXT(resource_with(buffer_slice(&value)), "profile\n");
    CHECK_TEXT(otlp_craft_reports(),
               "1 x attribute with lists nested too deeply or too long; dropped (limits: depth 16, "
               "1048576 bytes)\n");
    buffer_done(&value);
}

TEST(otlp_attributes_that_would_be_very_long_are_dropped)
{
    struct buffer value;
    size_t list;

    buffer_init(&value, 0);
    list = protobuf_begin(&value, 5);
    for (int i = 0; i < 400000; i++)
        buffer_append_text(&value, "\x0a\2\x40\2");
    protobuf_end(&value, list);
    CHECK_TEXT(resource_with(buffer_slice(&value)), "profile\n");
    CHECK_HAS(otlp_craft_reports(), "too long; dropped");
    buffer_done(&value);
}

TEST(otlp_attributes_with_a_missing_string_say_so)
{
    CHECK_RESOURCE("\x40\7", "k=");
    CHECK_TEXT(otlp_craft_reports(), "1 x string index outside the string table; left empty (string 7 of 3)\n");
}

/* --- the attribute table, through the attributes of a sample --- */

/* A profile with one sample of value 7 and the attribute list given. */
static const char *sample_with(struct slice attribute_table, const uint64_t *indexes, size_t n)
{
    static const char *const strings[] = { "", "key", "text", "unit" };
    struct buffer out;
    const char *dump;
    size_t resource_profiles, scope_profiles, profile, sample, dictionary;

    buffer_init(&out, 0);
    resource_profiles = protobuf_begin(&out, 1);
    scope_profiles = protobuf_begin(&out, 2);
    profile = protobuf_begin(&out, 2);
    sample = protobuf_begin(&out, 2);
    otlp_craft_put_packed(&out, 2, indexes, n);
    protobuf_put_bytes(&out, 4, SLICE("\7"));
    protobuf_end(&out, sample);
    protobuf_put_fixed64(&out, 3, 1);
    protobuf_end(&out, profile);
    protobuf_end(&out, scope_profiles);
    protobuf_end(&out, resource_profiles);
    dictionary = protobuf_begin(&out, 2);
    otlp_craft_put_strings(&out, strings, ARRAY_LEN(strings));
    buffer_append_slice(&out, attribute_table);
    protobuf_end(&out, dictionary);
    dump = otlp_craft_decoded(buffer_slice(&out));
    buffer_done(&out);
    return dump;
}

#define FIRST        "\x32\0"
#define TEXT         "\x32\x0a\x08\1\x12\6\x0a\4text"
#define NUMBER       "\x32\x08\x08\2\x12\2\x18\5\x18\3"
#define TEXT_LIST    "\x32\x10\x08\1\x12\x0c\x2a\x0a\x0a\3\x0a\1a\x0a\3\x0a\1b"
#define BOOL_LIST    "\x32\x0a\x08\1\x12\6\x2a\4\x0a\2\x10\1"
#define INDEXES(...) (const uint64_t[]){ __VA_ARGS__ }, ARRAY_LEN(((const uint64_t[]){ __VA_ARGS__ }))

TEST(otlp_attributes_of_samples_become_labels_with_units)
{
    CHECK_TEXT(sample_with(SLICE(FIRST TEXT NUMBER), INDEXES(1, 2)),
               "profile from 1 for 0\n  7 {key=text text=5unit}\n");
    CHECK_TEXT(sample_with(SLICE(FIRST TEXT NUMBER), INDEXES(2)), "profile from 1 for 0\n  7 {text=5unit}\n");
}

TEST(otlp_attributes_that_are_plain_lists_become_labels_of_one_key)
{
    CHECK_TEXT(sample_with(SLICE(FIRST TEXT_LIST BOOL_LIST), INDEXES(1, 2)),
               "profile from 1 for 0\n  7 {key=a key=b key=json:[true]}\n");
}

TEST(otlp_attributes_outside_the_table_are_dropped_and_none_is_passed_over)
{
    CHECK_TEXT(sample_with(SLICE(FIRST TEXT), INDEXES(0, 9, 1, (uint64_t)-1)),
               "profile from 1 for 0\n  7 {key=text}\n");
    CHECK_TEXT(otlp_craft_reports(),
               "2 x attribute index outside the attribute table; dropped (sample: attribute 9 of 2)\n");
}

TEST(otlp_attributes_over_the_limit_are_dropped)
{
    uint64_t many[200];

    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = 1;
    (void)sample_with(SLICE(FIRST TEXT), many, ARRAY_LEN(many));
    CHECK_TEXT(otlp_craft_reports(), "72 x more labels than the limit; the last were dropped (limit 128)\n");
}

TEST(otlp_attributes_whose_first_entry_is_not_empty_do_not_mean_it)
{
    CHECK_TEXT(sample_with(SLICE(TEXT TEXT), INDEXES(0)), "profile from 1 for 0\n  7\n");
}
