// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

#define DICTIONARY                                                                                                     \
    "\"dictionary\":{\"stringTable\":[\"\",\"t\",\"f\",\"g\"],\"functionTable\":[{},{\"nameStrindex\":2},{"            \
    "\"nameStrindex\":3}],\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1}]},{\"lines\":[{\"functionIndex\":2"  \
    "}]}],\"linkTable\":[{},{\"traceId\":\"00112233445566778899aabbccddeeff\",\"spanId\":\"0102030405060708\"}],"      \
    "\"stackTable\":[{},{\"locationIndices\":[1]},{\"locationIndices\":[2,1]},{\"locationIndices\":[9]}]}"
#define REQUEST(samples)                                                                                               \
    "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":{\"typeStrindex\":1},\"samples\":"      \
    "[" samples "]}]}]}]," DICTIONARY "}"

/* The samples as the dump tells them, behind the line of the profile. */
#define CHECK_SAMPLES(samples, dump) CHECK_TEXT(otlp_craft_json_decoded(REQUEST(samples)), "profile t\n" dump)

TEST(otlp_samples_with_timestamps_alone_count_one_each)
{
    CHECK_SAMPLES("{\"stackIndex\":1,\"timestampsUnixNano\":[5,6]},{\"stackIndex\":2,\"timestampsUnixNano\":[7]}",
                  "  2 f:0:0 count 2 at 5 6\n  1 g:0:0<f:0:0 count 1 at 7\n");
}

TEST(otlp_samples_with_a_value_per_timestamp_are_their_sum)
{
    CHECK_SAMPLES("{\"stackIndex\":1,\"values\":[10,-3],\"timestampsUnixNano\":[5,6]}",
                  "  7 f:0:0 count 2 at 5:10 6:-3\n");
    /* one event each is what timestamps alone say already */
    CHECK_SAMPLES("{\"stackIndex\":1,\"values\":[1,1],\"timestampsUnixNano\":[5,6]}", "  2 f:0:0 count 2 at 5 6\n");
}

TEST(otlp_samples_of_several_shapes_share_their_columns)
{
    CHECK_SAMPLES("{\"stackIndex\":1,\"values\":[4]},{\"stackIndex\":1,\"timestampsUnixNano\":[5]},{\"stackIndex\":2,"
                  "\"values\":[9],\"timestampsUnixNano\":[6]},{\"values\":[2]}",
                  "  4 f:0:0\n  1 f:0:0 at 5:1\n  9 g:0:0<f:0:0 at 6:9\n  2\n");
    CHECK_TEXT(otlp_craft_reports(), "");
}

TEST(otlp_samples_with_several_values_and_no_timestamps_are_added_up_and_told)
{
    CHECK_SAMPLES("{\"stackIndex\":1,\"values\":[4,5]}", "  9 f:0:0\n");
    CHECK_TEXT(otlp_craft_reports(),
               "1 x sample with several values and no timestamps; added up (profile 0, sample 0: 2 values)\n");
}

TEST(otlp_samples_whose_values_and_timestamps_do_not_match_lose_the_timestamps)
{
    CHECK_SAMPLES("{\"stackIndex\":1,\"values\":[4,5],\"timestampsUnixNano\":[1,2,3]}", "  9 f:0:0 count 3\n");
    CHECK_TEXT(otlp_craft_reports(), "1 x sample with another number of values than of timestamps; timestamps dropped "
                                     "(profile 0, sample 0: 2 values, 3 timestamps)\n");
}

TEST(otlp_samples_without_values_and_timestamps_are_dropped)
{
    CHECK_SAMPLES("{\"stackIndex\":1},{\"stackIndex\":1,\"values\":[1]},{}", "  1 f:0:0\n");
    CHECK_TEXT(otlp_craft_reports(), "2 x sample with neither values nor timestamps; dropped (profile 0, sample 0)\n");
}

TEST(otlp_samples_of_stacks_that_do_not_exist_are_dropped)
{
    CHECK_SAMPLES(
        "{\"stackIndex\":1,\"values\":[1]},{\"stackIndex\":4,\"values\":[1]},{\"stackIndex\":-1,\"values\":[1]},"
        "{\"stackIndex\":3,\"values\":[1]}",
        "  1 f:0:0\n");
    CHECK_TEXT(otlp_craft_reports(),
               "3 x sample whose stack does not exist or refers to a missing location; dropped (profile "
               "0, sample 1)\n");
}

TEST(otlp_samples_keep_labels_and_links_of_the_rows_that_stay)
{
    CHECK_SAMPLES(
        "{\"stackIndex\":9,\"values\":[1],\"linkIndex\":1},{\"stackIndex\":1,\"values\":[2]},{\"stackIndex\":1,"
        "\"values\":[3],\"linkIndex\":1},{\"stackIndex\":1,\"values\":[4],\"linkIndex\":7}",
        "  2 f:0:0\n  3 f:0:0 link 00112233445566778899aabbccddeeff/0102030405060708\n  4 f:0:0\n");
    CHECK_TEXT(otlp_craft_reports(),
               "1 x sample whose stack does not exist or refers to a missing location; dropped (profile "
               "0, sample 0)\n1 x link index outside the link table; left out (profile 0, sample 2: "
               "link 7)\n");
}

TEST(otlp_samples_that_add_up_past_64_bits_stay_at_the_edge)
{
    CHECK_SAMPLES("{\"values\":[\"9223372036854775807\",1],\"timestampsUnixNano\":[1,2]}",
                  "  9223372036854775807 count 2 at 1:9223372036854775807 2:1\n");
    CHECK_TEXT(otlp_craft_reports(), "1 x a sum went past 64 bits and stays at the edge (profile 0)\n");
}

/* --- L7: several types, stacks as ranges --- */

#define OLD_REQUEST(types, samples)                                                                                    \
    "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":[" types "],\"sample\":[" samples "],"  \
    "\"locationIndices\":[0,1,0,5]}]}]}],\"dictionary\":{\"stringTable\":[\"\",\"t\",\"f\",\"g\"],\"functionTable\":[" \
    "{"                                                                                                                \
    "\"nameStrindex\":2},{\"nameStrindex\":3}],\"locationTable\":[{\"line\":[{}]},{\"line\":[{\"functionIndex\":1}]}]" \
    "}}"
#define ONE_TYPE  "{\"typeStrindex\":1}"
#define TWO_TYPES "{\"typeStrindex\":1},{\"typeStrindex\":2}"

TEST(otlp_samples_of_l7_have_a_value_for_each_type)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(OLD_REQUEST(
            TWO_TYPES, "{\"locationsStartIndex\":0,\"locationsLength\":2,\"value\":[1,2]},{\"locationsLength\":1,"
                       "\"value\":[3]},{\"value\":[5,6],\"timestampsUnixNano\":[7]}")),
        "profile t f default 0\n  1 2 f:0:0<g:0:0\n  5 6 at 7\n");
    CHECK_TEXT(otlp_craft_reports(),
               "1 x sample with another number of values than the profile has types; dropped (profile 0, sample 1)\n");
}

TEST(otlp_samples_of_l7_with_ranges_outside_the_locations_are_dropped)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(OLD_REQUEST(
            ONE_TYPE, "{\"locationsStartIndex\":1,\"locationsLength\":2,\"value\":[1]},{\"locationsStartIndex\":3,"
                      "\"locationsLength\":1,\"value\":[2]},{\"locationsStartIndex\":4,\"locationsLength\":1,"
                      "\"value\":[3]},{\"locationsStartIndex\":-1,\"locationsLength\":2,\"value\":[4]},"
                      "{\"locationsLength\":2,\"value\":[5]},{\"locationsStartIndex\":0,\"locationsLength\":2,"
                      "\"value\":[6]}")),
        "profile t\n  1 g:0:0<f:0:0\n  5 f:0:0<g:0:0\n  6 f:0:0<g:0:0\n");
    CHECK_TEXT(otlp_craft_reports(),
               "3 x sample whose stack does not exist or refers to a missing location; dropped (profile "
               "0, sample 1)\n");
}

TEST(otlp_samples_of_l7_with_one_for_many_timestamps_count_each)
{
    CHECK_TEXT(otlp_craft_json_decoded(
                   OLD_REQUEST(ONE_TYPE, "{\"locationsLength\":1,\"value\":[1],\"timestampsUnixNano\":[5,6,7]}")),
               "profile t\n  3 f:0:0 count 3 at 5 6 7\n");
    CHECK_TEXT(otlp_craft_reports(), "");
}
