// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_schema_internal.h"

#include <stdio.h>

static int number_of(enum otlp_message message, const char *key)
{
    const struct otlp_field *field = otlp_schema_find_key(message, slice_from(key));

    return field ? field->number : -1;
}

TEST(otlp_schema_finds_keys_in_both_spellings)
{
    CHECK_EQ(number_of(OTLP_SAMPLE, "timestampsUnixNano"), OTLP_SAMPLE_TIMES);
    CHECK_EQ(number_of(OTLP_SAMPLE, "timestamps_unix_nano"), OTLP_SAMPLE_TIMES);
    CHECK_EQ(number_of(OTLP_PROFILE, "sample"), OTLP_PROFILE_SAMPLES);
    CHECK_EQ(number_of(OTLP_PROFILE, "samples"), OTLP_PROFILE_SAMPLES);
    CHECK_EQ(number_of(OTLP_SAMPLE, "timestampsUnixNan"), -1);
    CHECK_EQ(number_of(OTLP_SAMPLE, "timestampsUnixNanos"), -1);
    CHECK_EQ(number_of(OTLP_SAMPLE, "timestampsunixnano"), -1);
    CHECK_EQ(number_of(OTLP_SAMPLE, "TimestampsUnixNano"), -1);
    CHECK_EQ(number_of(OTLP_SAMPLE, "timestamps_UnixNano"), -1);
    CHECK_EQ(number_of(OTLP_SAMPLE, ""), -1);
}

/* Each layout must give every canonical field it has exactly once. */
TEST(otlp_schema_numberings_are_one_to_one)
{
    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++) {
        const struct otlp_numbering *numbering = otlp_schema_numbering((enum otlp_layout)layout);
        const uint8_t *tables[] = { numbering->profile, numbering->sample, numbering->dictionary, numbering->location };

        for (size_t table = 0; table < ARRAY_LEN(tables); table++) {
            uint32_t seen = 0;

            for (uint32_t i = 1; i <= OTLP_MAX_FIELD; i++) {
                CHECK(tables[table][i] == 0 || !(seen >> tables[table][i] & 1));
                seen |= 1u << tables[table][i];
            }
        }
    }
}

TEST(otlp_schema_explains_by_the_names_of_the_layout)
{
    /* Field 3 of a sample is `value` in L7, `attribute_indices` in L8, `link_index` in L10. */
    static const char request[] = "\x0a\x09\x12\x07\x12\x05\x12\x03\x1a\x05x";
    static const struct {
        enum otlp_layout layout;
        const char *field;
    } cases[] = { { OTLP_L7, "values" }, { OTLP_L8, "attribute_indices" }, { OTLP_L10, "link_index" } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice bytes = slice_of(request, sizeof(request) - 1);
        struct protobuf_reader failed = { .bad = (const uint8_t *)bytes.ptr + 9, .problem = PROTOBUF_LENGTH_LONG };
        struct error err;
        char wanted[128];

        CHECK_ERROR(otlp_schema_explain(bytes, otlp_schema_numbering(cases[i].layout), &failed, &err), &err,
                    ERR_CORRUPT);
        snprintf(wanted, sizeof(wanted), "profiles 0, samples 0, field %s at byte 9: length", cases[i].field);
        CHECK_HAS(err.text, wanted);
    }
}
