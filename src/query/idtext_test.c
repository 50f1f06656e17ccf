// SPDX-License-Identifier: Apache-2.0
#include "query/idtext.h"

#include "base/test.h"

TEST(idtext_reads_and_writes_the_ids_of_spans_and_traces)
{
    uint8_t span[IDTEXT_SPAN_BYTES], trace[IDTEXT_TRACE_BYTES];
    struct error err;

    CHECK_OK(idtext_parse_span(SLICE("00f067aa0ba902B7"), span, &err), &err);
    CHECK_EQ(span[1], 0xf0);
    CHECK_EQ(span[7], 0xb7);
    CHECK_TEXT(slice_from(idtext_of_span(span).text), "00f067aa0ba902b7");
    CHECK_OK(idtext_parse_trace(SLICE("4BF92F3577B34DA6A3CE929D0E0E4736"), trace, &err), &err);
    CHECK_TEXT(slice_from(idtext_of_trace(trace).text), "4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST(idtext_reads_the_ids_of_profiles_with_and_without_dashes)
{
    uint8_t id[IDTEXT_PROFILE_BYTES], plain[IDTEXT_PROFILE_BYTES];
    struct error err;

    CHECK_OK(idtext_parse_profile(SLICE("7c9e6679-7425-40de-944b-e07fc1f90ae7"), id, &err), &err);
    CHECK_OK(idtext_parse_profile(SLICE("7c9e6679742540de944be07fc1f90ae7"), plain, &err), &err);
    CHECK_EQ(memcmp(id, plain, sizeof(id)), 0);
    CHECK_TEXT(slice_from(idtext_of_profile(id).text), "7c9e6679-7425-40de-944b-e07fc1f90ae7");
}

TEST(idtext_says_what_is_right)
{
    static const char *const bad_spans[] = { "", "00f067aa0ba902b", "00f067aa0ba902b77", "00f067aa0ba902bx",
                                             "4bf92f3577b34da6a3ce929d0e0e4736" };
    static const char *const bad_profiles[] = { "7c9e6679-742540de-944b-e07fc1f90ae7",
                                                "7c9e667-97425-40de-944b-e07fc1f90ae7",
                                                "7c9e6679-7425-40de-944b-e07fc1f90a-7",
                                                "7c9e6679_7425_40de_944b_e07fc1f90ae7", "7c9e6679" };
    uint8_t id[16] = { 9 };
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(bad_spans); i++) {
        CHECK_ERROR(idtext_parse_span(slice_from(bad_spans[i]), id, &err), &err, ERR_INVALID);
        CHECK_HAS(err.text, "is no id of a span: write 16 hexadecimal digits");
    }
    for (size_t i = 0; i < ARRAY_LEN(bad_profiles); i++) {
        CHECK_ERROR(idtext_parse_profile(slice_from(bad_profiles[i]), id, &err), &err, ERR_INVALID);
        CHECK_HAS(err.text, "is no id of a profile: write a UUID");
    }
    CHECK_ERROR(idtext_parse_trace(SLICE("4bf92f3577b34da6-a3ce929d0e0e4736"), id, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "'4bf92f3577b34da6-a3ce929d0e0e4736' is no id of a trace: write 32 hexadecimal digits");
    CHECK_ERROR(idtext_parse_span(SLICE("0000000000000000"), id, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "all zeros mean that there is none");
    CHECK_EQ(id[0], 9);
}
