// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"
#include "wire/otlp_layout_internal.h"

/* --- whole requests --- */

static enum otlp_layout find(struct slice request)
{
    enum otlp_layout layout;
    struct error err;

    CHECK_OK(otlp_layout_find(request, &layout, &err), &err);
    return layout;
}

static void check_found(const struct otlp_craft *craft)
{
    struct buffer out;

    buffer_init(&out, 0);
    otlp_craft_request(craft, &out);
    CHECK_TEXT(otlp_layout_name(find(buffer_slice(&out))), otlp_layout_name(craft->layout));
    buffer_done(&out);
}

TEST(otlp_layout_is_found_in_whole_requests_of_every_layout_and_shape)
{
    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++)
        for (int shape = OTLP_CRAFT_VALUE; shape <= OTLP_CRAFT_BOTH; shape++)
            for (int bits = 0; bits < 4; bits++) {
                struct otlp_craft craft = { .layout = (enum otlp_layout)layout,
                                            .shape = (enum otlp_craft_shape)shape,
                                            .is_descending = bits & 1,
                                            .has_empties = bits & 2 };

                check_found(&craft);
                craft.has_indexes = layout == OTLP_L10;
                check_found(&craft);
            }
}

TEST(otlp_layout_is_found_where_samples_have_stack_attributes_and_times_alone)
{
    check_found(&(struct otlp_craft){ .layout = OTLP_L7, .shape = OTLP_CRAFT_STACK_AND_TWO });
    check_found(&(struct otlp_craft){ .layout = OTLP_L8, .shape = OTLP_CRAFT_STACK_AND_TWO });
    check_found(&(struct otlp_craft){ .layout = OTLP_L9, .shape = OTLP_CRAFT_STACK_AND_TWO });
    check_found(&(struct otlp_craft){ .layout = OTLP_L10, .shape = OTLP_CRAFT_STACK_AND_TWO });
}

/* --- requests of one profile with the fields under test --- */

struct request {
    struct buffer profile;
    struct buffer dictionary;
    struct buffer resource; /* Resource message */
    struct buffer whole;
    bool has_dictionary;
};

static void request_init(struct request *r)
{
    buffer_init(&r->profile, 0);
    buffer_init(&r->dictionary, 0);
    buffer_init(&r->resource, 0);
    buffer_init(&r->whole, 0);
    r->has_dictionary = true;
}

static void request_done(struct request *r)
{
    buffer_done(&r->profile);
    buffer_done(&r->dictionary);
    buffer_done(&r->resource);
    buffer_done(&r->whole);
}

static struct slice request_bytes(struct request *r)
{
    size_t resource = protobuf_begin(&r->whole, 1), scope;

    protobuf_put_bytes(&r->whole, 1, buffer_slice(&r->resource));
    scope = protobuf_begin(&r->whole, 2);
    protobuf_put_bytes_always(&r->whole, 2, buffer_slice(&r->profile));
    protobuf_end(&r->whole, scope);
    protobuf_end(&r->whole, resource);
    if (r->has_dictionary)
        protobuf_put_bytes_always(&r->whole, 2, buffer_slice(&r->dictionary));
    return buffer_slice(&r->whole);
}

/* Ends the test of one row: the request has this layout. */
static void check_layout(struct request *r, enum otlp_layout wanted)
{
    CHECK_TEXT(otlp_layout_name(find(request_bytes(r))), otlp_layout_name(wanted));
    request_done(r);
}

/* A sample with the stack and what `bytes` holds. */
static void put_sample(struct request *r, struct slice fields)
{
    size_t sample = protobuf_begin(&r->profile, 2);

    protobuf_put_uint(&r->profile, 1, 1);
    buffer_append_slice(&r->profile, fields);
    protobuf_end(&r->profile, sample);
}

/* As SLICE, for tables. */
#define SLICE_CONST(literal)                                                                                           \
    {                                                                                                                  \
        "" literal, sizeof(literal) - 1                                                                                \
    }

static void put_time(struct request *r)
{
    protobuf_put_fixed64(&r->profile, 3, 1000);
}

TEST(otlp_layout_l4_has_samples_and_no_dictionary)
{
    struct request r;

    request_init(&r);
    put_sample(&r, SLICE("\x12\x01\x07"));
    r.has_dictionary = false;
    check_layout(&r, OTLP_L4);
}

TEST(otlp_layout_l4_has_profile_fields_up_to_22)
{
    struct request r;

    for (uint32_t field = 15; field <= 22; field++) {
        request_init(&r);
        protobuf_put_bytes(&r.profile, field, SLICE("x"));
        check_layout(&r, OTLP_L4);
    }
}

TEST(otlp_layout_l6_has_tables_beside_the_profiles)
{
    struct request r;

    request_init(&r);
    (void)request_bytes(&r);
    protobuf_put_bytes_always(&r.whole, 3, SLICE(""));
    protobuf_put_bytes_always(&r.whole, 6, SLICE(""));
    CHECK_EQ(find(buffer_slice(&r.whole)), OTLP_L6);
    request_done(&r);
}

TEST(otlp_layout_l7_has_bytes_in_profile_field_3)
{
    struct request r;

    request_init(&r);
    protobuf_put_bytes(&r.profile, 3, SLICE("\1"));
    check_layout(&r, OTLP_L7);
}

TEST(otlp_layout_l7_has_inline_keys_in_the_attribute_table)
{
    struct request r;

    request_init(&r);
    protobuf_put_bytes(&r.dictionary, 6, SLICE("\x0a\1k"));
    check_layout(&r, OTLP_L7);
}

TEST(otlp_layout_l7_has_a_varint_in_sample_field_2)
{
    struct request r;

    request_init(&r);
    put_sample(&r, SLICE("\x10\x05\x1a\x01\x07"));
    check_layout(&r, OTLP_L7);
}

TEST(otlp_layout_is_newer_than_l7_with_a_fixed64_in_profile_field_3)
{
    struct request r;

    /* The varint in sample field 2 is then an integer that was not packed. */
    request_init(&r);
    put_time(&r);
    put_sample(&r, SLICE("\x10\x05\x22\x01\x07"));
    check_layout(&r, OTLP_L10);
}

TEST(otlp_layout_l8_by_profile_fields_8_9_and_12)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    protobuf_put_bytes_always(&r.profile, 8, SLICE(""));
    check_layout(&r, OTLP_L8);
    request_init(&r);
    put_time(&r);
    protobuf_put_uint(&r.profile, 9, 1);
    check_layout(&r, OTLP_L8);
    request_init(&r);
    put_time(&r);
    protobuf_put_bytes(&r.profile, 12, SLICE("\1"));
    check_layout(&r, OTLP_L8);
}

TEST(otlp_layout_l8_has_a_temporality)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    protobuf_put_bytes(&r.profile, 1, SLICE("\x08\1\x18\1"));
    check_layout(&r, OTLP_L8);
}

TEST(otlp_layout_l8_has_comments_in_profile_field_7)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    protobuf_put_bytes(&r.profile, 7, SLICE("\1\2\3"));
    put_sample(&r, SLICE("\x12\x01\x07"));
    check_layout(&r, OTLP_L8);
}

TEST(otlp_layout_l9_by_profile_fields_7_8_and_9_and_the_old_samples)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    protobuf_put_bytes_always(&r.profile, 7, SLICE(""));
    put_sample(&r, SLICE("\x12\x01\x07"));
    check_layout(&r, OTLP_L9);
    request_init(&r);
    put_time(&r);
    protobuf_put_bytes(&r.profile, 7, SLICE("profile-id-12345"));
    put_sample(&r, SLICE("\x12\x01\x07"));
    check_layout(&r, OTLP_L9);
    request_init(&r);
    put_time(&r);
    protobuf_put_uint(&r.profile, 8, 1);
    put_sample(&r, SLICE("\x12\x01\x07"));
    check_layout(&r, OTLP_L9);
    request_init(&r);
    put_time(&r);
    protobuf_put_bytes(&r.profile, 9, SLICE("jfr"));
    put_sample(&r, SLICE("\x12\x01\x07"));
    check_layout(&r, OTLP_L9);
}

TEST(otlp_layout_has_old_samples_with_bytes_in_3_or_a_varint_in_4)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    put_sample(&r, SLICE("\x12\x01\x07\x1a\x01\x01"));
    check_layout(&r, OTLP_L9);
    request_init(&r);
    put_time(&r);
    put_sample(&r, SLICE("\x12\x01\x07\x20\x01"));
    check_layout(&r, OTLP_L9);
}

TEST(otlp_layout_l10_has_a_varint_in_3_or_bytes_in_4)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    put_sample(&r, SLICE("\x12\x01\x01\x18\x01"));
    check_layout(&r, OTLP_L10);
    request_init(&r);
    put_time(&r);
    put_sample(&r, SLICE("\x12\x01\x01\x22\x01\x07"));
    check_layout(&r, OTLP_L10);
}

TEST(otlp_layout_l10_has_keys_or_texts_as_indexes_anywhere)
{
    struct request r;
    static const struct slice resources[] = {
        SLICE_CONST("\x0a\x02\x18\1"),                         /* key_strindex */
        SLICE_CONST("\x0a\x04\x12\x02\x40\1"),                 /* string_value_strindex */
        SLICE_CONST("\x0a\x08\x12\x06\x2a\x04\x0a\x02\x40\1"), /* in a list */
        SLICE_CONST("\x0a\x08\x12\x06\x32\x04\x0a\x02\x18\1"), /* the key of a map */
    };

    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        request_init(&r);
        put_time(&r);
        buffer_append_slice(&r.resource, resources[i]);
        put_sample(&r, SLICE("\x12\x01\x07"));
        check_layout(&r, OTLP_L10);
    }
    /* the sixth entry of the attribute table, in front of which nothing was decisive */
    request_init(&r);
    put_time(&r);
    for (int i = 0; i < 5; i++)
        protobuf_put_bytes(&r.dictionary, 6, SLICE("\x08\1\x12\2\x18\1"));
    protobuf_put_bytes(&r.dictionary, 6, SLICE("\x08\1\x12\2\x40\1"));
    put_sample(&r, SLICE("\x12\x01\x07"));
    check_layout(&r, OTLP_L10);
}

TEST(otlp_layout_has_old_samples_where_they_hold_1_and_2_alone)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    put_sample(&r, SLICE("\x12\x01\x07"));
    check_layout(&r, OTLP_L9);
}

#define TWO_TIMES "\x2a\x10\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"

/* An attribute table of four entries: none, two keys, and the first key again. */
static void put_attributes(struct request *r)
{
    protobuf_put_bytes_always(&r->dictionary, 6, SLICE(""));
    protobuf_put_bytes(&r->dictionary, 6, SLICE("\x08\1\x12\0"));
    protobuf_put_bytes(&r->dictionary, 6, SLICE("\x08\2\x12\0"));
    protobuf_put_bytes(&r->dictionary, 6, SLICE("\x08\1\x12\2\x18\1"));
}

TEST(otlp_layout_l10_has_another_number_in_2_than_in_5)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    put_attributes(&r);
    put_sample(&r, SLICE("\x12\1\1" TWO_TIMES));
    check_layout(&r, OTLP_L10);
}

TEST(otlp_layout_takes_distinct_attributes_in_2_for_such)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    put_attributes(&r);
    put_sample(&r, SLICE("\x12\2\1\2" TWO_TIMES));
    check_layout(&r, OTLP_L10);
}

TEST(otlp_layout_takes_what_cannot_be_attributes_in_2_for_values)
{
    static const struct slice seconds[] = {
        SLICE_CONST("\x12\2\1\4" TWO_TIMES), /* there is no attribute 4 */
        SLICE_CONST("\x12\2\1\3" TWO_TIMES), /* the same key twice */
        SLICE_CONST("\x12\2\0\1" TWO_TIMES), /* 0 means none */
    };
    struct request r;

    for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
        request_init(&r);
        put_time(&r);
        put_attributes(&r);
        put_sample(&r, seconds[i]);
        check_layout(&r, OTLP_L9);
    }
}

TEST(otlp_layout_is_the_newest_where_all_are_alike)
{
    struct request r;

    request_init(&r);
    put_time(&r);
    put_sample(&r, SLICE(TWO_TIMES));
    check_layout(&r, OTLP_L10);
    request_init(&r);
    check_layout(&r, OTLP_L10);
    CHECK_EQ(find(SLICE("")), OTLP_L10);
}

TEST(otlp_layout_weighs_pairs_by_number)
{
    struct otlp_signs signs = { .found = OTLP_SIGN_DICTIONARY | OTLP_SIGN_SAMPLES | OTLP_SIGN_PROFILE_3_FIXED64 };

    signs.n_attribute_like = 3;
    signs.n_value_like = 2;
    CHECK_EQ(otlp_layout_weigh(&signs), OTLP_L10);
    signs.n_value_like = 4;
    CHECK_EQ(otlp_layout_weigh(&signs), OTLP_L9);
}

TEST(otlp_layout_names_sender_and_remedy_when_refusing)
{
    struct error err;

    CHECK_ERROR(otlp_layout_refuse(OTLP_L4, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "L4 (proto 1.4 and 1.5)");
    CHECK_HAS(err.text, "collectors 0.115 to 0.127");
    CHECK_HAS(err.text, "update the sender");
    CHECK_ERROR(otlp_layout_refuse(OTLP_L6, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "L6 (proto 1.6)");
}

TEST(otlp_layout_tells_where_a_request_is_broken)
{
    enum otlp_layout layout;
    struct error err;

    CHECK_ERROR(otlp_layout_find(SLICE("\x0a\x05\x12\x10"), &layout, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "OTLP: field resource_profiles 0 at byte 1: length reaches past the end of its message");
}

static int find_with_keys(void *context, struct error *err)
{
    enum otlp_layout layout;

    return otlp_layout_find(*(struct slice *)context, &layout, err);
}

TEST(otlp_layout_survives_lack_of_memory)
{
    struct request r;
    struct slice bytes;

    request_init(&r);
    put_time(&r);
    put_attributes(&r);
    put_sample(&r, SLICE("\x12\2\1\2" TWO_TIMES));
    bytes = request_bytes(&r);
    test_each_allocation_failing(find_with_keys, &bytes);
    request_done(&r);
}
