// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

/* What the profile of a crafted request is, and its samples. */
static void check_decoded(const struct otlp_craft *craft, struct slice bytes)
{
    struct buffer wanted;

    buffer_init(&wanted, 0);
    buffer_printf(&wanted,
                  "profile off_cpu/nanoseconds period off_cpu/nanoseconds 50 from 1000 for 5000%s attributes "
                  "{env=prod} resource {service.name=checkout} by profiler 1.2%s\n%s",
                  craft->has_empties ? "" : " id profile-id-12345", craft->layout <= OTLP_L8 ? " # a comment" : "",
                  otlp_craft_expected(craft->shape));
    CHECK_TEXT(otlp_craft_decoded(bytes), buffer_slice(&wanted));
    CHECK_TEXT(otlp_craft_reports(), "");
    buffer_done(&wanted);
}

TEST(otlp_decodes_every_layout_and_shape_to_the_same_model)
{
    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++)
        for (int shape = OTLP_CRAFT_VALUE; shape <= OTLP_CRAFT_STACK_AND_TWO; shape++)
            for (int bits = 0; bits < 16; bits++) {
                struct otlp_craft craft = { .layout = (enum otlp_layout)layout,
                                            .shape = (enum otlp_craft_shape)shape,
                                            .is_descending = bits & 1,
                                            .has_empties = bits & 2,
                                            .has_indexes = (bits & 4) && layout == OTLP_L10,
                                            .has_margin = bits & 8 };
                struct buffer out;

                buffer_init(&out, 0);
                otlp_craft_request(&craft, &out);
                check_decoded(&craft, buffer_slice(&out));
                buffer_done(&out);
            }
}

TEST(otlp_decodes_repeated_integers_that_are_not_packed)
{
    for (int shape = OTLP_CRAFT_VALUE; shape <= OTLP_CRAFT_BOTH; shape++) {
        struct otlp_craft craft = {
            .layout = OTLP_L10, .shape = (enum otlp_craft_shape)shape, .is_unpacked = true, .has_indexes = true
        };
        struct buffer out;

        buffer_init(&out, 0);
        otlp_craft_request(&craft, &out);
        check_decoded(&craft, buffer_slice(&out));
        buffer_done(&out);
    }
}

static void put_frame(struct buffer *out, const struct otlp_craft *craft)
{
    struct buffer request;
    char header[4];

    buffer_init(&request, 0);
    otlp_craft_request(craft, &request);
    bytes_put_be32(header, (uint32_t)request.len);
    buffer_append(out, header, sizeof(header));
    buffer_append_slice(out, buffer_slice(&request));
    buffer_done(&request);
}

TEST(otlp_decodes_several_requests_behind_their_lengths)
{
    struct otlp_craft first = { .layout = OTLP_L10, .shape = OTLP_CRAFT_VALUE }, second = { .layout = OTLP_L7 },
                      third = { .layout = OTLP_L8, .shape = OTLP_CRAFT_TIMES, .has_empties = true };
    struct buffer file, alone, wanted;

    buffer_init(&file, 0);
    put_frame(&file, &first);
    put_frame(&file, &second);
    put_frame(&file, &third);
    buffer_init(&wanted, 0);
    buffer_init(&alone, 0);
    for (int i = 0; i < 3; i++) {
        buffer_clear(&alone);
        otlp_craft_request(i == 0 ? &first : i == 1 ? &second : &third, &alone);
        buffer_append_text(&wanted, otlp_craft_decoded(buffer_slice(&alone)));
    }
    CHECK_TEXT(otlp_craft_decoded(buffer_slice(&file)), buffer_slice(&wanted));
    CHECK_EQ(otlp_recognise(buffer_slice(&file)), 95);
    buffer_done(&file);
    buffer_done(&alone);
    buffer_done(&wanted);
}

static void check_refused(struct slice bytes, enum error_code code, const char *words)
{
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_ERROR(otlp_decode(bytes, &batch, &err), &err, code);
    CHECK_HAS(err.text, words);
    batch_done(&batch);
}

TEST(otlp_refuses_a_length_that_reaches_past_the_file)
{
    check_refused(SLICE("\0\0\0\0\0\0\0\5\x0a"), ERR_CORRUPT,
                  "OTLP: request 1 at byte 4: its length reaches past the end");
    check_refused(SLICE("\0\0\0\2\x0a\0\0\0"), ERR_CORRUPT, "OTLP: request 1 at byte 6");
}

TEST(otlp_names_the_request_that_is_broken)
{
    check_refused(SLICE("\0\0\0\0\0\0\0\2\x0a\5"), ERR_CORRUPT, "request 1: OTLP: field resource_profiles 0 at byte 1");
}

TEST(otlp_refuses_layouts_without_a_dictionary)
{
    check_refused(
        SLICE("\x0a\x08\x12\x06\x12\x04\x12\x02\x08\x01"), ERR_VERSION,
        "OTLP without a dictionary: another signal than profiles, or profiles in layout L4 (proto 1.4 and 1.5), as "
        "collectors 0.115 to 0.127 send; update the sender to layout L7 or newer (collector 0.128)");
    check_refused(SLICE("\x0a\0\x1a\0\x32\0"), ERR_VERSION, "layout L6 (proto 1.6)");
}

TEST(otlp_refuses_two_dictionaries)
{
    check_refused(SLICE("\x12\2\x2a\0\x12\2\x2a\0"), ERR_CORRUPT,
                  "OTLP: 2 dictionaries in one request, the last at byte 6; it has one");
}

TEST(otlp_decodes_nothing_to_nothing)
{
    CHECK_TEXT(otlp_craft_decoded(SLICE("")), "");
    CHECK_TEXT(otlp_craft_decoded(SLICE("\x12\0")), "");
    CHECK_TEXT(otlp_craft_decoded(SLICE("\x0a\x04\x12\x02\x0a\0")), "");
}

/* A crafted request and a way to spoil it. */
static void check_spoilt(const char *from, const char *to, size_t len, const char *words)
{
    struct otlp_craft craft = { .layout = OTLP_L10, .shape = OTLP_CRAFT_VALUE };
    struct buffer out;
    ptrdiff_t at;

    buffer_init(&out, 0);
    otlp_craft_request(&craft, &out);
    at = slice_find(buffer_slice(&out), slice_of(from, len));
    CHECK(at >= 0);
    memcpy(out.data + at, to, len);
    check_refused(buffer_slice(&out), ERR_CORRUPT, words);
    buffer_done(&out);
}

TEST(otlp_names_field_and_byte_of_what_is_broken)
{
    /* the value of the second sample: a varint that does not end */
    check_spoilt("\x22\1\x1e", "\x22\1\x9e", 3,
                 "OTLP: resource_profiles 0, scope_profiles 0, profiles 0, samples 1, field values at byte ");
    /* the address of the first location as fixed32 */
    check_spoilt("\x10\x80\x22\x1a", "\x15\x80\x22\x1a", 4,
                 "OTLP: dictionary, location_table 1, field address at byte ");
    /* the stack of the second sample with another wire type */
    check_spoilt("\x12\5\x08\2\x22", "\x12\5\x0a\0\x22", 5, "samples 1, field stack_index at byte ");
}

TEST(otlp_survives_every_truncation)
{
    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++) {
        struct otlp_craft craft = { .layout = (enum otlp_layout)layout, .shape = OTLP_CRAFT_BOTH };
        struct buffer out;

        buffer_init(&out, 0);
        otlp_craft_request(&craft, &out);
        for (size_t len = 0; len < out.len; len++) {
            struct batch batch;
            struct error err;
            char *copy = memory_alloc(len, &err); /* so that a sanitizer sees what is read behind it */

            CHECK(copy);
            memcpy(copy, out.data, len);
            batch_init(&batch, NULL);
            if (otlp_decode(slice_of(copy, len), &batch, &err) == 0)
                CHECK_OK(batch_check(&batch, &err), &err);
            else
                CHECK(err.code == ERR_CORRUPT || err.code == ERR_VERSION);
            batch_done(&batch);
            memory_free(copy);
        }
        buffer_done(&out);
    }
}

TEST(otlp_survives_every_flipped_bit)
{
    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++) {
        struct otlp_craft craft = { .layout = (enum otlp_layout)layout, .shape = OTLP_CRAFT_BOTH, .has_margin = true };
        struct buffer out;

        buffer_init(&out, 0);
        otlp_craft_request(&craft, &out);
        for (size_t i = 0; i < out.len * 8; i++) {
            struct batch batch;
            struct error err;

            out.data[i / 8] ^= (char)(1 << i % 8);
            batch_init(&batch, NULL);
            if (otlp_decode(buffer_slice(&out), &batch, &err) == 0)
                CHECK_OK(batch_check(&batch, &err), &err);
            batch_done(&batch);
            out.data[i / 8] ^= (char)(1 << i % 8);
        }
        buffer_done(&out);
    }
}

static void check_limit(const struct profile_limits *limits, const char *words)
{
    struct otlp_craft craft = { .layout = OTLP_L10, .shape = OTLP_CRAFT_TIMES };
    struct buffer out;
    struct batch batch;
    struct error err;

    buffer_init(&out, 0);
    otlp_craft_request(&craft, &out);
    batch_init(&batch, limits);
    CHECK_ERROR(otlp_decode(buffer_slice(&out), &batch, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, words);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(otlp_keeps_to_the_limits)
{
    struct profile_limits limits = profile_default_limits;

    limits.max_strings = 5;
    check_limit(&limits, "OTLP: string_table has 18 entries, more than the 5 allowed");
    limits.max_strings = 18;
    check_limit(&limits, "OTLP: more than the 18 strings allowed");
    limits = profile_default_limits;
    limits.max_samples = 1;
    check_limit(&limits, "OTLP: more than the 1 samples allowed");
    limits = profile_default_limits;
    limits.max_profiles = 0;
    check_limit(&limits, "OTLP: 1 profiles, more than the 0 allowed");
    limits = profile_default_limits;
    limits.max_memory_bytes = 1000;
    check_limit(&limits, "memory limit");
}

static int decode_step(void *context, struct error *err)
{
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    result = otlp_decode(*(struct slice *)context, &batch, err);
    batch_done(&batch);
    return result;
}

TEST(otlp_survives_lack_of_memory)
{
    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++) {
        struct otlp_craft craft = { .layout = (enum otlp_layout)layout, .shape = OTLP_CRAFT_BOTH };
        struct buffer out;
        struct slice bytes;

        buffer_init(&out, 0);
        otlp_craft_request(&craft, &out);
        bytes = buffer_slice(&out);
        test_each_allocation_failing(decode_step, &bytes);
        buffer_done(&out);
    }
}

TEST(otlp_is_recognised_by_its_shape)
{
    struct buffer out;
    static const char pprof[] = "\x0a\4\x08\1\x10\2\x12\4\x0a\1\1\x12\0\x32\0\x32\3cpu";

    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++) {
        buffer_init(&out, 0);
        otlp_craft_request(&(struct otlp_craft){ .layout = (enum otlp_layout)layout, .is_descending = layout % 2 },
                           &out);
        CHECK_EQ(otlp_recognise(buffer_slice(&out)), 95);
        buffer_done(&out);
    }
    CHECK_EQ(otlp_recognise(SLICE("\x12\2\x2a\0")), 95);
    CHECK_EQ(otlp_recognise(SLICE("\x0a\0")), 40);
    CHECK_EQ(otlp_recognise(SLICE("\x0a\2\x12\0\x1a\0\x32\0")), 95);
    CHECK_EQ(otlp_recognise(SLICE("")), 0);
    CHECK_EQ(otlp_recognise(slice_of(pprof, sizeof(pprof) - 1)), 0);
    CHECK_EQ(otlp_recognise(SLICE("\x0a\0\x12\2\x0a\0\x32\0\x32\3cpu")), 0);
    CHECK_EQ(otlp_recognise(SLICE("{\"resourceProfiles\":[]}")), 0);
    CHECK_EQ(otlp_recognise(SLICE("main;work 12\n")), 0);
    CHECK_EQ(otlp_recognise(SLICE("\x0a\5\x12")), 0);
}
