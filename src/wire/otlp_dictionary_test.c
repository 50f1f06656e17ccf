// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

#define PROFILES                                                                                                       \
    "\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"samples\":[{\"stackIndex\":1,\"values\":[1]}]}]}]}]"
#define REQUEST(dictionary) "{" PROFILES ",\"dictionary\":{" dictionary "}}"

TEST(otlp_dictionary_without_its_empty_entries_is_told_and_index_0_means_none_but_of_locations)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(REQUEST("\"stringTable\":[\"a\",\"b\"],\"mappingTable\":[{\"memoryStart\":1}],"
                                        "\"functionTable\":[{\"nameStrindex\":1}],\"locationTable\":[{\"address\":7},"
                                        "{\"lines\":[{\"functionIndex\":0,\"line\":3}]}],\"linkTable\":[{\"traceId\":"
                                        "\"00112233445566778899aabbccddeeff\"}],\"stackTable\":[{\"locationIndices\":"
                                        "[1]},{\"locationIndices\":[1]}]")),
        "profile\n  1 :3:0\n");
    CHECK_TEXT(otlp_craft_reports(), "5 x entry 0 of a dictionary table is not empty, but index 0 means none; ignored "
                                     "(string_table)\n");
}

TEST(otlp_dictionary_entry_0_of_links_may_be_zeros)
{
    (void)otlp_craft_json_decoded(REQUEST("\"linkTable\":[{\"traceId\":\"00000000000000000000000000000000\",\"spanId\":"
                                          "\"0000000000000000\"}],\"stackTable\":[{},{}]"));
    CHECK_TEXT(otlp_craft_reports(), "");
}

TEST(otlp_dictionary_that_is_missing_tables_has_none)
{
    CHECK_TEXT(
        otlp_craft_json_decoded("{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"samples\":[{\"values\":"
                                "[1]}]}]}]}],\"dictionary\":{}}"),
        "profile\n  1\n");
    CHECK_TEXT(otlp_craft_reports(), "");
}

TEST(otlp_dictionary_links_of_the_wrong_length_are_left_out)
{
    (void)otlp_craft_json_decoded(REQUEST("\"linkTable\":[{},{\"traceId\":\"0011\",\"spanId\":\"0102030405060708\"}],"
                                          "\"stackTable\":[{},{}]"));
    CHECK_TEXT(otlp_craft_reports(), "1 x trace or span id of the wrong length; left out (link 1: 2 bytes, not 16)\n");
}

TEST(otlp_dictionary_attributes_of_mappings_without_a_place_are_told)
{
    (void)otlp_craft_json_decoded(
        REQUEST("\"stringTable\":[\"\",\"color\"],\"attributeTable\":[{},{\"keyStrindex\":1,\"value\":"
                "{\"stringValue\":\"red\"}}],\"mappingTable\":[{},{\"attributeIndices\":[1,0,5]}],"
                "\"stackTable\":[{},{}]"));
    CHECK_TEXT(otlp_craft_reports(),
               "1 x attribute of a mapping or location that has no place in the model; dropped (mapping "
               "1: color)\n1 x attribute index outside the attribute table; dropped (mapping: attribute "
               "5 of 2)\n");
}

TEST(otlp_dictionary_functions_with_odd_numbers_are_read_with_care)
{
    CHECK_TEXT(
        otlp_craft_json_decoded(REQUEST("\"stringTable\":[\"\",\"f\"],\"functionTable\":[{},{\"nameStrindex\":1,"
                                        "\"filenameStrindex\":9,\"startLine\":-4}],\"locationTable\":[{},{\"lines\":[{"
                                        "\"functionIndex\":1,\"line\":-1,\"column\":\"4294967296\"}]}],\"stackTable\":"
                                        "[{},{\"locationIndices\":[1]}]")),
        "profile\n  1 f:0:0\n");
    CHECK_TEXT(otlp_craft_reports(), "1 x string index outside the string table; left empty (string 9 of 2)\n"
                                     "3 x line or column outside 0 to 4294967295; left unknown (function 1: -4)\n");
}
