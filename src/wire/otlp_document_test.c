// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"
#include "wire/otlp_document_internal.h"

TEST(otlp_document_finds_tables_under_their_canonical_numbers)
{
    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++)
        for (int is_descending = 0; is_descending < 2; is_descending++) {
            struct otlp_craft craft = { .layout = (enum otlp_layout)layout, .is_descending = is_descending };
            struct otlp_document document;
            struct buffer request;
            struct error err;
            uint32_t none = layout == OTLP_L7 ? 0 : 1; /* L7 has no empty entry 0 */

            buffer_init(&request, 0);
            otlp_craft_request(&craft, &request);
            document = (struct otlp_document){ .bytes = buffer_slice(&request) };
            CHECK_OK(otlp_document_prepare(&document, &err), &err);
            CHECK(document.numbering == otlp_schema_numbering((enum otlp_layout)layout));
            CHECK_EQ(document.n_profiles, 1);
            CHECK_EQ(document.tables[OTLP_DICTIONARY_MAPPINGS].n, 1 + none);
            CHECK_EQ(document.tables[OTLP_DICTIONARY_LOCATIONS].n, 2 + none);
            CHECK_EQ(document.tables[OTLP_DICTIONARY_FUNCTIONS].n, 3 + none);
            CHECK_EQ(document.tables[OTLP_DICTIONARY_ATTRIBUTES].n, 5 + none);
            CHECK_EQ(document.tables[OTLP_DICTIONARY_STRINGS].n, 18);
            CHECK_EQ(document.tables[OTLP_DICTIONARY_STACKS].n, layout == OTLP_L7 ? 0 : 3);
            CHECK_EQ(document.tables[OTLP_DICTIONARY_UNITS].n, layout == OTLP_L7 ? 1 : 0);
            CHECK(document.n_stack_frames >= (layout == OTLP_L7 ? 0 : 3) && document.n_stack_frames < 10);
            buffer_done(&request);
        }
}

TEST(otlp_document_ranges_pass_over_other_fields)
{
    /* two strings with a function between them */
    struct otlp_document document = { .bytes = SLICE("\x12\x0a\x2a\1a\x1a\0\x2a\1b\x2a\0"),
                                      .numbering = otlp_schema_canonical(false) };
    struct protobuf_reader r, entry;
    struct error err;
    uint32_t n = 0;

    CHECK_OK(otlp_document_prepare(&document, &err), &err);
    r = otlp_range_reader(&document.tables[OTLP_DICTIONARY_STRINGS]);
    while (otlp_range_next(&document.tables[OTLP_DICTIONARY_STRINGS], &r, &entry))
        n++;
    CHECK_EQ(n, 3);
    CHECK_EQ(document.tables[OTLP_DICTIONARY_STRINGS].n, 3);
    CHECK_EQ(document.tables[OTLP_DICTIONARY_FUNCTIONS].n, 1);
}

TEST(otlp_document_refuses_tables_of_another_wire_type)
{
    struct otlp_document document = { .bytes = SLICE("\x12\2\x28\1") };
    struct error err;

    CHECK_ERROR(otlp_document_prepare(&document, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "OTLP: dictionary, field string_table 0 at byte 2: field has another wire type than it should");
}
