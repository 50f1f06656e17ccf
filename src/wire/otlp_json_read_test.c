// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

/* The dictionary of most of these texts. */
#define DICTIONARY                                                                                                     \
    "\"dictionary\":{\"stringTable\":[\"\",\"cpu\",\"ns\",\"main\",\"k\"],\"functionTable\":[{},{\"nameStrindex\":3}]" \
    ","                                                                                                                \
    "\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1,\"line\":\"7\"}]}],"                                       \
    "\"attributeTable\":[{},{\"keyStrindex\":4,\"value\":{\"stringValue\":\"v\"}}],"                                   \
    "\"stackTable\":[{},{\"locationIndices\":[1]}]}"
#define PROFILES(profiles) "\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[" profiles "]}]}]"
#define PROFILE                                                                                                        \
    "{\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2},\"samples\":[{\"stackIndex\":1,\"values\":[\"5\"],"       \
    "\"attributeIndices\":[1]}]}"
#define DUMP "profile cpu/ns\n  5 main:7:0 {k=v}\n"

TEST(otlp_json_reads_the_dictionary_behind_or_before_the_profiles)
{
    CHECK_TEXT(otlp_craft_json_decoded("{" PROFILES(PROFILE) "," DICTIONARY "}"), DUMP);
    CHECK_TEXT(otlp_craft_json_decoded("{" DICTIONARY "," PROFILES(PROFILE) "}"), DUMP);
}

TEST(otlp_json_reads_snake_case_numbers_and_strings_and_ignores_unknown_keys)
{
    CHECK_TEXT(otlp_craft_json_decoded(
                   "{\"future\":{\"a\":[1,{}]},\"resource_profiles\":[{\"scope_profiles\":[{\"profiles\":"
                   "[{\"sample_type\":{\"type_strindex\":\"1\",\"unit_strindex\":2,\"x\":null},"
                   "\"samples\":[{\"stack_index\":1,\"values\":[5],\"attribute_indices\":[\"1\"]}],"
                   "\"time_unix_nano\":1000,\"duration_nano\":\"20\",\"period\":null}]}]}]," DICTIONARY "}"),
               "profile cpu/ns from 1000 for 20\n  5 main:7:0 {k=v}\n");
}

TEST(otlp_json_reads_one_object_per_line)
{
    CHECK_TEXT(
        otlp_craft_json_decoded("{" PROFILES(PROFILE) "," DICTIONARY "}\n{" DICTIONARY "," PROFILES(PROFILE) "}\n\n"),
        DUMP DUMP);
}

TEST(otlp_json_reads_every_field_of_the_newest_layout)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(
            "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"a\",\"value\":{\"boolValue\":true}},"
            "{\"key\":\"b\",\"value\":{\"intValue\":\"-3\"}},{\"key\":\"c\",\"value\":{\"doubleValue\":0.5}},"
            "{\"key\":\"d\",\"value\":{\"bytesValue\":\"YWI=\"}},{\"keyStrindex\":4,\"value\":{\"stringValueStrindex\":"
            "3}},"
            "{\"key\":\"e\",\"value\":{\"arrayValue\":{\"values\":[{\"intValue\":1},{}]}}},"
            "{\"key\":\"f\",\"value\":{\"kvlistValue\":{\"values\":[{\"key\":\"x\",\"value\":{\"doubleValue\":\"NaN\"}}"
            "]}}}"
            "],\"droppedAttributesCount\":1},\"schemaUrl\":\"u\",\"scopeProfiles\":[{\"scope\":{\"name\":\"s\","
            "\"version\":"
            "\"1\",\"attributes\":[{\"key\":\"g\",\"value\":{\"stringValue\":\"h\"}}]},\"profiles\":[{\"sampleType\":{"
            "\"typeStrindex\":1,\"unitStrindex\":2},\"samples\":[{\"stackIndex\":1,\"linkIndex\":1,"
            "\"timestampsUnixNano\":"
            "[\"1001\",1002]}],\"timeUnixNano\":\"1000\",\"durationNano\":\"20\",\"periodType\":{\"typeStrindex\":1,"
            "\"unitStrindex\":2},\"period\":\"10\",\"profileId\":\"61626364656667686162636465666768\","
            "\"attributeIndices\":[1],\"droppedAttributesCount\":2}]}]}],\"dictionary\":{\"stringTable\":[\"\",\"cpu\","
            "\"ns\",\"main\",\"k\",\"/bin/x\",\"process.executable.build_id.go\",\"profile.frame.type\",\"sys\"],"
            "\"mappingTable\":[{},{\"memoryStart\":\"4096\",\"memoryLimit\":\"8192\",\"fileOffset\":\"16\","
            "\"filenameStrindex\":5,\"attributeIndices\":[2]}],\"functionTable\":[{},{\"nameStrindex\":3,"
            "\"systemNameStrindex\":8,\"filenameStrindex\":5,\"startLine\":\"3\"}],\"locationTable\":[{},{"
            "\"mappingIndex\":"
            "1,\"address\":\"5000\",\"lines\":[{\"functionIndex\":1,\"line\":\"7\",\"column\":\"9\"}],"
            "\"attributeIndices\":[3]}],\"linkTable\":[{},{\"traceId\":\"00112233445566778899AABBCCDDEEFF\",\"spanId\":"
            "\"0102030405060708\"}],\"attributeTable\":[{},{\"keyStrindex\":4,\"value\":{\"stringValue\":\"v\"},"
            "\"unitStrindex\":2},{\"keyStrindex\":6,\"value\":{\"stringValue\":\"abc\"}},{\"keyStrindex\":7,\"value\":{"
            "\"stringValue\":\"go\"}}],\"stackTable\":[{},{\"locationIndices\":[1]}]}}"),
        "profile cpu/ns period cpu/ns 10 from 1000 for 20 id abcdefghabcdefgh attributes {k=vns} resource {a=bool:1 "
        "b=-3 "
        "c=double:0.5 d=bytes:ab k=main e=json:[1,null] f=json:{\"x\":\"NaN\"}} by s 1 scope {g=h}\n"
        "  2 main(sys) /bin/x:7:9 link 00112233445566778899aabbccddeeff/0102030405060708 count 2 at 1001 1002\n");
    CHECK_TEXT(otlp_craft_reports(), "");
}

TEST(otlp_json_reads_the_names_of_layout_l8)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(
            "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":{\"typeStrindex\":1,"
            "\"unitStrindex\":2,\"aggregationTemporality\":2},\"sample\":[{\"stackIndex\":1,\"values\":[\"5\"]}],"
            "\"commentStrindices\":[3]}]}]}],\"dictionary\":{\"stringTable\":[\"\",\"cpu\",\"ns\",\"main\"],"
            "\"functionTable\":[{},{\"nameStrindex\":3}],\"locationTable\":[{},{\"line\":[{\"functionIndex\":1,"
            "\"line\":\"7\"}]}],\"stackTable\":[{},{\"locationIndices\":[1]}]}}"),
        "profile cpu/ns+cumulative # main\n  5 main:7:0\n");
}

TEST(otlp_json_reads_layout_l7_where_index_0_is_an_entry)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(
            "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":[{\"typeStrindex\":1,"
            "\"unitStrindex\":2},{\"typeStrindex\":3,\"unitStrindex\":2}],\"sample\":[{\"locationsStartIndex\":1,"
            "\"locationsLength\":2,\"value\":[\"5\",\"6\"],\"attributeIndices\":[0],\"linkIndex\":0}],"
            "\"locationIndices\":[0,0,1],\"timeNanos\":\"1000\",\"durationNanos\":\"20\",\"defaultSampleTypeIndex\":1}]"
            "}]}],"
            "\"dictionary\":{\"stringTable\":[\"\",\"cpu\",\"ns\",\"wall\",\"size\",\"bytes\"],\"mappingTable\":[{"
            "\"hasFunctions\":true}],\"functionTable\":[{\"nameStrindex\":3},{\"nameStrindex\":1}],\"locationTable\":[{"
            "\"mappingIndex\":0,\"line\":[{}],\"isFolded\":true},{\"line\":[{\"functionIndex\":1,\"line\":\"7\"}]}],"
            "\"linkTable\":[{\"traceId\":\"00112233445566778899aabbccddeeff\",\"spanId\":\"0102030405060708\"}],"
            "\"attributeTable\":[{\"key\":\"size\",\"value\":{\"intValue\":\"9\"}}],\"attributeUnits\":[{"
            "\"attributeKeyStrindex\":4,\"unitStrindex\":5}]}}"),
        "profile cpu/ns wall/ns default 1 from 1000 for 20\n  5 6 wall:0:0 folded<cpu:7:0 {size=9bytes} link "
        "00112233445566778899aabbccddeeff/0102030405060708\n");
    CHECK_TEXT(otlp_craft_reports(), "");
}

static void check_refused(const char *json, enum error_code code, const char *words)
{
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_ERROR(otlp_json_decode(slice_from(json), &batch, &err), &err, code);
    CHECK_HAS(err.text, words);
    batch_done(&batch);
}

TEST(otlp_json_refuses_layouts_without_a_dictionary)
{
    check_refused("{" PROFILES("{\"stringTable\":[\"\"]}") "}", ERR_VERSION, "layout L4 (proto 1.4 and 1.5)");
    check_refused("{\"stringTable\":[\"\"]}", ERR_VERSION, "layout L6 (proto 1.6)");
}

TEST(otlp_json_names_line_and_column_of_what_is_broken)
{
    check_refused("{\n  \"resourceProfiles\": 5\n}", ERR_CORRUPT,
                  "OTLP JSON: line 2, column 23: expected an object, found '5'");
    check_refused("{" PROFILES("{\"period\":\"x\"}") "}", ERR_CORRUPT, "expected a whole number of 64 bits, found 'x'");
    check_refused("{" PROFILES("{\"profileId\":\"0g\"}") "}", ERR_CORRUPT, "expected an id in hexadecimal digits");
    check_refused("{" PROFILES("{\"profileId\":\"012\"}") "}", ERR_CORRUPT, "an id of whole bytes, found 3");
    check_refused("{" PROFILES("{\"originalPayload\":\"a*\"}") "}", ERR_CORRUPT, "expected base64");
    check_refused("{} {", ERR_CORRUPT, "OTLP JSON: line 1, column 5: expected a string, found the end");
    check_refused("[]", ERR_CORRUPT, "expected an object, found '['");
}

TEST(otlp_json_reads_both_alphabets_of_base64)
{
    CHECK_TEXT(
        otlp_craft_json_decoded("{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"a\",\"value\":{"
                                "\"bytesValue\":\"+/-_\"}},{\"key\":\"b\",\"value\":{\"bytesValue\":\"YQ\"}}]},"
                                "\"scopeProfiles\":[{\"profiles\":[{}]}]}],\"dictionary\":{}}"),
        "profile resource {a=bytes:\xfb\xff\xbf b=bytes:a}\n");
}

TEST(otlp_json_survives_every_truncation)
{
    static const char json[] = "{" PROFILES(PROFILE) "," DICTIONARY "}";

    for (size_t len = 0; len < sizeof(json) - 1; len++) {
        struct batch batch;
        struct error err;

        batch_init(&batch, NULL);
        if (otlp_json_decode(slice_of(json, len), &batch, &err) == 0)
            CHECK_EQ(len, 0);
        else
            CHECK_EQ(err.code, ERR_CORRUPT);
        batch_done(&batch);
    }
}

static int decode_step(void *context, struct error *err)
{
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    result = otlp_json_decode(slice_from(context), &batch, err);
    batch_done(&batch);
    return result;
}

TEST(otlp_json_survives_lack_of_memory)
{
    static char json[] = "{" PROFILES(PROFILE) "," DICTIONARY "}";

    test_each_allocation_failing(decode_step, json);
}

TEST(otlp_json_is_recognised_by_its_keys)
{
    CHECK_EQ(otlp_json_recognise(SLICE(" {\"resourceProfiles\":[")), 95);
    CHECK_EQ(otlp_json_recognise(SLICE("{\"x\":[1,2,{}],\"resource_profiles\":[]}")), 95);
    CHECK_EQ(otlp_json_recognise(SLICE("\xef\xbb\xbf{\"dictionary\":{}}")), 95);
    CHECK_EQ(otlp_json_recognise(SLICE("{\"resourceSpans\":[]}")), 0);
    CHECK_EQ(otlp_json_recognise(SLICE("{\"a\":{\"resourceProfiles\":[]}}")), 0);
    CHECK_EQ(otlp_json_recognise(SLICE("{}")), 0);
    CHECK_EQ(otlp_json_recognise(SLICE("[]")), 0);
    CHECK_EQ(otlp_json_recognise(SLICE("")), 0);
    CHECK_EQ(otlp_json_recognise(SLICE("{\"a\":")), 0);
}
