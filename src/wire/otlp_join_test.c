// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

#define ORDER(order) "{\"key\":\"pprof.scope.sample_type_order\",\"value\":{\"arrayValue\":{\"values\":[" order "]}}}"
#define REQUEST(attributes, profiles)                                                                                  \
    "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"scope\":{\"attributes\":[" attributes "]},\"profiles\":[" profiles  \
    "]}]}],\"dictionary\":{\"stringTable\":[\"\",\"a\",\"b\",\"c\"],\"locationTable\":[{},{\"address\":1},{"           \
    "\"address\":"                                                                                                     \
    "2}],\"stackTable\":[{},{\"locationIndices\":[1]},{\"locationIndices\":[2]}]}}"
#define PROFILE(type, first, second)                                                                                   \
    "{\"sampleType\":{\"typeStrindex\":" type "},\"samples\":[{\"stackIndex\":1,\"values\":[" first "]},{"             \
    "\"stackIndex\":2,\"values\":[" second "]}]}"
#define SWAPPED ORDER("{\"intValue\":2},{\"intValue\":1},{\"intValue\":\"0\"}")
#define THREE   PROFILE("3", "3", "30") "," PROFILE("2", "2", "20") "," PROFILE("1", "1", "10")

TEST(otlp_join_makes_one_profile_of_the_columns_of_one)
{
    CHECK_TEXT(otlp_craft_json_decoded(REQUEST(SWAPPED, THREE)), "profile a b c\n  1 2 3 0x1\n  10 20 30 0x2\n");
}

TEST(otlp_join_takes_the_default_type_from_the_scope)
{
    CHECK_TEXT(otlp_craft_json_decoded(
                   REQUEST("{\"key\":\"pprof.scope.default_sample_type\",\"value\":{\"stringValue\":\"b\"}}"
                           "," SWAPPED,
                           THREE)),
               "profile a b c default 1\n  1 2 3 0x1\n  10 20 30 0x2\n");
    CHECK_TEXT(otlp_craft_json_decoded(
                   REQUEST("{\"key\":\"pprof.scope.default_sample_type\",\"value\":{\"stringValue\":\"x\"}}"
                           "," SWAPPED,
                           THREE)),
               "profile a b c\n  1 2 3 0x1\n  10 20 30 0x2\n");
}

TEST(otlp_join_only_puts_in_order_what_has_other_rows)
{
    CHECK_TEXT(otlp_craft_json_decoded(
                   REQUEST(ORDER("{\"intValue\":1},{\"intValue\":0}"),
                           "{\"sampleType\":{\"typeStrindex\":2},\"samples\":[{\"stackIndex\":2,"
                           "\"values\":[5]},{\"stackIndex\":1,\"values\":[6]}]}," PROFILE("1", "1", "10"))),
               "profile a\n  1 0x1\n  10 0x2\nprofile b\n  5 0x2\n  6 0x1\n");
}

TEST(otlp_join_leaves_apart_what_is_not_of_one_window)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(REQUEST(ORDER("{\"intValue\":1},{\"intValue\":0}"),
                                        "{\"sampleType\":{\"typeStrindex\":2},\"timeUnixNano\":5},{\"sampleType\":{"
                                        "\"typeStrindex\":1},\"timeUnixNano\":6}")),
        "profile a from 6 for 0\nprofile b from 5 for 0\n");
    CHECK_TEXT(otlp_craft_json_decoded(
                   REQUEST(ORDER("{\"intValue\":1},{\"intValue\":0}"),
                           "{\"sampleType\":{\"typeStrindex\":2},\"samples\":[{\"timestampsUnixNano\":[1]}]"
                           "},{\"sampleType\":{\"typeStrindex\":1},\"samples\":[{\"values\":[1]}]}")),
               "profile a\n  1\nprofile b\n  1 count 1 at 1\n");
}

TEST(otlp_join_does_nothing_where_the_order_does_not_fit)
{
    static const char *const requests[] = {
        REQUEST(ORDER("{\"intValue\":2},{\"intValue\":1}"), THREE),
        REQUEST(ORDER("{\"intValue\":1},{\"intValue\":1},{\"intValue\":0}"), THREE),
        REQUEST(ORDER("{\"intValue\":3},{\"intValue\":1},{\"intValue\":0}"), THREE),
        REQUEST(ORDER("{\"intValue\":-1},{\"intValue\":1},{\"intValue\":0}"), THREE),
        REQUEST("{\"key\":\"pprof.scope.sample_type_order\",\"value\":{\"stringValue\":\"0\"}}", THREE),
        REQUEST("", THREE),
    };

    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        CHECK_TEXT(otlp_craft_json_decoded(requests[i]),
                   "profile c\n  3 0x1\n  30 0x2\nprofile b\n  2 0x1\n  20 0x2\nprofile a\n  1 0x1\n  10 0x2\n");
}

TEST(otlp_join_joins_profiles_without_samples)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(REQUEST(ORDER("{\"intValue\":1},{\"intValue\":0}"),
                                        "{\"sampleType\":{\"typeStrindex\":2}},{\"sampleType\":{\"typeStrindex\":1},"
                                        "\"profileId\":\"61616161616161616161616161616161\"}")),
        "profile a b id aaaaaaaaaaaaaaaa\n");
}
