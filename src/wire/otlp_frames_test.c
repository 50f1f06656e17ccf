// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"

/* A request with one sample whose stack has the one location given, as bytes; functions 1 to 3 and mapping 1 exist. With
 * a margin, locations are read quickly where they can be. */
static const char *frame_of(struct slice location, bool has_margin)
{
    static const char *const strings[] = { "", "a", "b", "c", "profile.frame.type" };
    struct buffer out;
    const char *dump;
    size_t resource, scope, profile, dictionary;

    buffer_init(&out, 0);
    resource = protobuf_begin(&out, 1);
    scope = protobuf_begin(&out, 2);
    profile = protobuf_begin(&out, 2);
    protobuf_put_bytes(&out, 2, SLICE("\x08\1\x22\1\1"));
    protobuf_put_fixed64(&out, 3, 1);
    protobuf_end(&out, profile);
    protobuf_end(&out, scope);
    protobuf_end(&out, resource);
    dictionary = protobuf_begin(&out, 2);
    protobuf_put_bytes_always(&out, 1, SLICE(""));
    protobuf_put_bytes(&out, 1, SLICE("\x08\x80\x20"));
    protobuf_put_bytes_always(&out, 2, SLICE(""));
    protobuf_put_bytes_always(&out, 2, location);
    protobuf_put_bytes_always(&out, 3, SLICE(""));
    protobuf_put_bytes(&out, 3, SLICE("\x08\1"));
    protobuf_put_bytes(&out, 3, SLICE("\x08\2"));
    protobuf_put_bytes(&out, 3, SLICE("\x08\3"));
    otlp_craft_put_strings(&out, strings, ARRAY_LEN(strings));
    protobuf_put_bytes_always(&out, 6, SLICE(""));
    protobuf_put_bytes(&out, 6, SLICE("\x08\4\x12\4\x0a\2go"));
    protobuf_put_bytes(&out, 6, SLICE("\x08\4\x12\7\x0a\5cobol"));
    protobuf_put_bytes_always(&out, 7, SLICE(""));
    protobuf_put_bytes(&out, 7, SLICE("\x0a\1\1"));
    if (has_margin)
        protobuf_put_bytes(&out, 100, SLICE("................................................................"));
    protobuf_end(&out, dictionary);
    dump = otlp_craft_decoded(buffer_slice(&out));
    buffer_done(&out);
    return dump;
}

/* Read quickly or with care, a location is the same. */
static void check_frame(struct slice location, const char *dump, const char *reports)
{
    for (int has_margin = 0; has_margin < 2; has_margin++) {
        CHECK_TEXT(frame_of(location, has_margin), dump);
        CHECK_TEXT(otlp_craft_reports(), reports);
    }
}
#define CHECK_FRAME(location, frame, reports)                                                                          \
    check_frame(SLICE(location), "profile from 1 for 0\n  1 " frame "\n", reports)

TEST(otlp_frames_are_read_in_any_order_of_fields)
{
    CHECK_FRAME("\x08\1\x10\x80\x10\x1a\6\x08\1\x10\5\x18\2\x1a\4\x08\2\x10\7", "a@b:5:2:7:0", "");
    CHECK_FRAME("\x1a\6\x18\2\x10\5\x08\1\x1a\4\x10\7\x08\2\x10\x80\x10\x08\1", "a@b:5:2:7:0", "");
    CHECK_FRAME("\x10\x80\x10\x1a\4\x08\1\x10\5\x08\1\x1a\4\x08\2\x10\7", "a@b:5:0:7:0", "");
}

TEST(otlp_frames_without_lines_keep_their_address)
{
    CHECK_FRAME("\x08\1\x10\x85\x80\x80\x80\x10", "0x100000005", "");
    CHECK_FRAME("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", "0xffffffffffffffff", "");
}

TEST(otlp_frames_pass_over_unknown_fields)
{
    CHECK_FRAME("\x08\1\x1a\6\x08\1\x10\5\x28\1\x32\1x", "a:5:0", "");
}

TEST(otlp_frames_know_what_ran_in_them)
{
    CHECK_FRAME("\x1a\4\x08\1\x10\5\x22\1\1", "a:5:0", "");
    CHECK_FRAME("\x1a\4\x08\1\x10\5\x22\1\1\x22\1\2", "a:5:0",
                "1 x frame type that is not known; left out (location 1: cobol)\n");
    CHECK_FRAME("\x1a\4\x08\1\x10\5\x20\2", "a:5:0",
                "1 x frame type that is not known; left out (location 1: cobol)\n");
}

TEST(otlp_frames_drop_lines_of_functions_that_do_not_exist)
{
    CHECK_FRAME("\x1a\4\x08\x09\x10\5\x1a\4\x08\2\x10\7", "b:7:0",
                "1 x index outside its table; left out (location 1: function 9)\n");
}

TEST(otlp_frames_lose_mappings_that_do_not_exist)
{
    CHECK_FRAME("\x08\7\x1a\4\x08\1\x10\5", "a:5:0", "1 x index outside its table; left out (location 1: mapping 7)\n");
}

TEST(otlp_frames_have_as_many_lines_as_the_depth_limit)
{
    static const char json[] =
        "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"samples\":[{\"stackIndex\":1,\"values\":[1]}]}]}]"
        "}],"
        "\"dictionary\":{\"stringTable\":[\"\",\"a\",\"b\",\"c\"],\"functionTable\":[{},{\"nameStrindex\":1},{"
        "\"nameStrindex\":2},{\"nameStrindex\":3}],\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1},{"
        "\"functionIndex\":2},{\"functionIndex\":3}]}],\"stackTable\":[{},{\"locationIndices\":[1]}]}}";
    struct profile_limits limits = profile_default_limits;
    struct batch batch;
    struct error err;

    limits.max_depth = 2;
    batch_init(&batch, &limits);
    CHECK_OK(otlp_json_decode(slice_from(json), &batch, &err), &err);
    CHECK_EQ(batch.tables.frames[1].n_lines, 2);
    CHECK_EQ(report_count(&batch.report, "location with more lines than the depth limit; the outermost were cut"), 1);
    batch_done(&batch);
}

TEST(otlp_frames_that_are_broken_refuse_the_request)
{
    static const struct {
        const char *location;
        size_t len;
    } broken[] = { { "\x08", 1 },           { "\x10\x80", 2 }, { "\x1a\x09\x08\1", 4 },
                   { "\x1a\2\x08\x80", 4 }, { "\x0d\1", 2 },   { "\x22\1\x80", 3 } };

    for (int has_margin = 0; has_margin < 2; has_margin++)
        for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
            struct buffer out;
            struct batch batch;
            struct error err;
            size_t dictionary;

            buffer_init(&out, 0);
            dictionary = protobuf_begin(&out, 2);
            protobuf_put_bytes_always(&out, 2, SLICE(""));
            protobuf_put_bytes(&out, 2, slice_of(broken[i].location, broken[i].len));
            if (has_margin)
                protobuf_put_bytes(&out, 100,
                                   SLICE("................................................................"));
            protobuf_end(&out, dictionary);
            batch_init(&batch, NULL);
            CHECK_ERROR(otlp_decode(buffer_slice(&out), &batch, &err), &err, ERR_CORRUPT);
            CHECK_HAS(err.text, "OTLP: dictionary, location_table 1, ");
            batch_done(&batch);
            buffer_done(&out);
        }
}

/* As Pyroscope's canary sends it. */
TEST(otlp_frames_whose_first_entry_is_not_empty_are_meant)
{
    static const char *const strings[] = { "", "a", "b" };
    struct buffer out;
    size_t resource, scope, profile, dictionary;

    buffer_init(&out, 0);
    resource = protobuf_begin(&out, 1);
    scope = protobuf_begin(&out, 2);
    profile = protobuf_begin(&out, 2);
    protobuf_put_bytes(&out, 2, SLICE("\x08\1\x22\1\1"));
    protobuf_put_bytes(&out, 2, SLICE("\x08\2\x22\1\2"));
    protobuf_put_fixed64(&out, 3, 1);
    protobuf_end(&out, profile);
    protobuf_end(&out, scope);
    protobuf_end(&out, resource);
    dictionary = protobuf_begin(&out, 2);
    protobuf_put_bytes_always(&out, 1, SLICE(""));
    protobuf_put_bytes(&out, 2, SLICE("\x1a\2\x08\1"));
    protobuf_put_bytes(&out, 2, SLICE("\x1a\2\x08\2"));
    protobuf_put_bytes_always(&out, 3, SLICE(""));
    protobuf_put_bytes(&out, 3, SLICE("\x08\1"));
    protobuf_put_bytes(&out, 3, SLICE("\x08\2"));
    otlp_craft_put_strings(&out, strings, ARRAY_LEN(strings));
    protobuf_put_bytes_always(&out, 7, SLICE(""));
    protobuf_put_bytes(&out, 7, SLICE("\x0a\2\1\0"));
    protobuf_put_bytes(&out, 7, SLICE("\x0a\1\0"));
    protobuf_end(&out, dictionary);
    CHECK_TEXT(otlp_craft_decoded(buffer_slice(&out)), "profile from 1 for 0\n  1 b:0:0<a:0:0\n  2 a:0:0\n");
    CHECK_TEXT(otlp_craft_reports(), "");
    buffer_done(&out);
}
