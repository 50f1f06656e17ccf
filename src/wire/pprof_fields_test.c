// SPDX-License-Identifier: Apache-2.0
#include "wire/pprof_example_internal.h"

TEST(pprof_recognises_its_own)
{
    struct buffer out;

    buffer_init(&out, 0);
    example_profile(&out);
    CHECK_EQ(pprof_recognise(buffer_slice(&out)), 95);
    buffer_clear(&out);
    example_strings(&out);
    CHECK_EQ(pprof_recognise(buffer_slice(&out)), 95);
    buffer_clear(&out);
    example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, 1, 2);
    CHECK_EQ(pprof_recognise(buffer_slice(&out)), 60);
    buffer_done(&out);
}

TEST(pprof_does_not_recognise_text_nothing_and_other_messages)
{
    struct buffer out;
    size_t begin, inner;

    CHECK_EQ(pprof_recognise(SLICE("")), 0);
    CHECK_EQ(pprof_recognise(SLICE("main;work 12\nmain 3\n")), 0);
    CHECK_EQ(pprof_recognise(SLICE("{\"resourceProfiles\":[]}")), 0);
    buffer_init(&out, 0);
    /* Fields 1 and 2 hold messages of other kinds, as in OTLP. */
    begin = protobuf_begin(&out, 1);
    inner = protobuf_begin(&out, 1);
    protobuf_put_bytes(&out, 1, SLICE("service.name"));
    protobuf_end(&out, inner);
    protobuf_end(&out, begin);
    begin = protobuf_begin(&out, 2);
    protobuf_put_bytes(&out, 5, SLICE("text"));
    protobuf_end(&out, begin);
    CHECK_EQ(pprof_recognise(buffer_slice(&out)), 0);
    /* A known field of another wire type. */
    buffer_clear(&out);
    example_profile(&out);
    protobuf_put_uint(&out, PPROF_PROFILE_SAMPLE, 1);
    CHECK_EQ(pprof_recognise(buffer_slice(&out)), 0);
    /* Samples alone say nothing. */
    buffer_clear(&out);
    protobuf_put_bytes_always(&out, PPROF_PROFILE_SAMPLE, SLICE(""));
    CHECK_EQ(pprof_recognise(buffer_slice(&out)), 0);
    buffer_done(&out);
}

TEST(pprof_with_unknown_fields_is_recognised_if_all_else_is_right)
{
    struct buffer out;

    buffer_init(&out, 0);
    example_profile(&out);
    protobuf_put_uint(&out, 16, 1);
    CHECK_EQ(pprof_recognise(buffer_slice(&out)), 50);
    buffer_clear(&out);
    example_strings(&out);
    protobuf_put_uint(&out, 16, 1);
    CHECK_EQ(pprof_recognise(buffer_slice(&out)), 0);
    buffer_done(&out);
}

TEST(pprof_recognises_a_truncated_profile_only_faintly)
{
    struct buffer out;
    struct protobuf_reader r;
    uint32_t tag;

    buffer_init(&out, 0);
    example_profile(&out);
    r = protobuf_reader_of(buffer_slice(&out));
    for (size_t len = 0; len < out.len; len++) {
        struct slice part = example_exact_copy(slice_of(out.data, len));
        bool ends_at_field = r.at == (const uint8_t *)out.data + len;

        if (!ends_at_field || len == 0)
            CHECK(pprof_recognise(part) <= 20);
        if (ends_at_field) {
            CHECK(protobuf_next(&r, &tag));
            protobuf_skip(&r, tag);
        }
        memory_free((char *)part.ptr);
    }
    buffer_done(&out);
}
