// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

#define REQUEST(profile)                                                                                               \
    "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[" profile                                               \
    "]}]}],\"dictionary\":{\"stringTable\":[\"\","                                                                     \
    "\"alloc_space\",\"bytes\",\"pprof.profile.comment\",\"pprof.profile.comment.1\",\"pprof.profile.drop_frames\","   \
    "\"env\"],\"attributeTable\":[{},{\"keyStrindex\":3,\"value\":{\"arrayValue\":{\"values\":[{\"stringValue\":"      \
    "\"one\"}"                                                                                                         \
    ",{\"stringValue\":\"two\"}]}}},{\"keyStrindex\":4,\"value\":{\"stringValue\":\"three\"}},{\"keyStrindex\":5,"     \
    "\"value\":{\"stringValue\":\"malloc\"}},{\"keyStrindex\":6,\"value\":{\"stringValue\":\"prod\"}}]}}"

TEST(otlp_profiles_without_a_type_have_one_all_the_same)
{
    CHECK_TEXT(otlp_craft_json_decoded(REQUEST("{\"samples\":[{\"values\":[3]}]}")), "profile\n  3\n");
}

TEST(otlp_profiles_take_comments_and_expressions_from_attributes)
{
    CHECK_TEXT(otlp_craft_json_decoded(REQUEST("{\"attributeIndices\":[1,4,2,3,9]}")),
               "profile attributes {env=prod} drop malloc # one # two # three\n");
    CHECK_TEXT(otlp_craft_reports(),
               "1 x attribute index outside the attribute table; dropped (profile: attribute 9 of 5)\n");
}

TEST(otlp_profiles_know_the_nature_of_their_type)
{
    CHECK_TEXT(otlp_craft_json_decoded(REQUEST("{\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2}}")),
               "profile alloc_space/bytes+cumulative\n");
    CHECK_TEXT(
        otlp_craft_json_decoded(REQUEST("{\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2},\"durationNano\":9}")),
        "profile alloc_space/bytes from 0 for 9\n");
    CHECK_TEXT(otlp_craft_json_decoded(REQUEST("{\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2,"
                                               "\"aggregationTemporality\":1}}")),
               "profile alloc_space/bytes\n");
}

TEST(otlp_profiles_say_so_when_there_is_an_original_payload)
{
    (void)otlp_craft_json_decoded(REQUEST("{\"originalPayloadFormat\":\"jfr\",\"originalPayload\":\"AAAA\"}"));
    CHECK_TEXT(otlp_craft_reports(),
               "1 x profile that has nothing but its original payload, which is not read (profile 0: 3 "
               "bytes of jfr)\n");
    (void)otlp_craft_json_decoded(
        REQUEST("{\"samples\":[{\"values\":[1]}],\"originalPayloadFormat\":\"jfr\",\"originalPayload\":\"AAAA\"}"));
    CHECK_TEXT(otlp_craft_reports(), "1 x original payload beside the samples; dropped (profile 0: 3 bytes of jfr)\n");
}

TEST(otlp_profiles_leave_out_ids_and_times_that_cannot_be)
{
    CHECK_TEXT(otlp_craft_json_decoded(REQUEST("{\"profileId\":\"0011\",\"timeUnixNano\":\"18446744073709551615\","
                                               "\"period\":\"-5\",\"periodType\":{\"typeStrindex\":99}}")),
               "profile -5\n");
    CHECK_TEXT(otlp_craft_reports(),
               "1 x profile id that is not 16 bytes long; left out (profile 0: 2 bytes)\n"
               "1 x time or duration past the year 2262; left unknown (profile 0: "
               "18446744073709551615)\n1 x string index outside the string table; left empty (string 99 "
               "of 7)\n");
}

TEST(otlp_profiles_of_l7_have_at_most_64_types)
{
    struct buffer json;
    struct batch batch;
    struct error err;

    buffer_init(&json, 0);
    buffer_append_text(&json,
                       "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"timeNanos\":1,\"sampleType\":[{}");
    for (int i = 0; i < 64; i++)
        buffer_append_text(&json, ",{}");
    buffer_append_text(&json, "]}]}]}],\"dictionary\":{}}");
    batch_init(&batch, NULL);
    CHECK_ERROR(otlp_json_decode(buffer_slice(&json), &batch, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "OTLP: profile 0 has more than 64 sample types");
    batch_done(&batch);
    buffer_done(&json);
}

TEST(otlp_profiles_of_every_resource_and_scope_are_read)
{
    CHECK_TEXT(
        otlp_craft_json_decoded("{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"r\",\"value\":{"
                                "\"intValue\":1}}]},\"scopeProfiles\":[{\"scope\":{\"name\":\"x\"},\"profiles\":[{"
                                "\"period\":1},{\"period\":2}]},{\"profiles\":[{\"period\":3}]}]},{\"scopeProfiles\":[{"
                                "\"scope\":{\"name\":\"y\",\"version\":\"2\"},\"profiles\":[{\"period\":4}]}]},{}],"
                                "\"dictionary\":{}}"),
        "profile 1 resource {r=1} by x\nprofile 2 resource {r=1} by x\nprofile 3 resource {r=1}\nprofile 4 by y "
        "2\n");
}
