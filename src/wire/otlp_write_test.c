// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "pack/unpacker.h"
#include "profile/builder.h"
#include "wire/otlp_craft_internal.h"

static const struct format_write_options plain = { .type = PROFILE_NO_TYPE };

/* Encodes and decodes; what otlp_craft_dump tells of the result. */
static const char *rewritten(const struct batch *batch)
{
    struct buffer out;
    struct error err;
    const char *dump;

    buffer_init(&out, 0);
    CHECK_OK(otlp_encode(batch, &plain, &out, &err), &err);
    dump = otlp_craft_decoded(buffer_slice(&out));
    CHECK_TEXT(otlp_craft_reports(), "");
    buffer_done(&out);
    return dump;
}

static void check_unchanged(const struct batch *batch)
{
    struct buffer dump;

    buffer_init(&dump, 0);
    otlp_craft_dump(batch, &dump);
    CHECK_TEXT(rewritten(batch), buffer_slice(&dump));
    buffer_done(&dump);
}

TEST(otlp_write_gives_back_every_shape)
{
    for (int shape = OTLP_CRAFT_VALUE; shape <= OTLP_CRAFT_STACK_AND_TWO; shape++) {
        struct otlp_craft craft = { .layout = OTLP_L8, .shape = (enum otlp_craft_shape)shape };
        struct buffer request;
        struct batch batch;
        struct error err;

        buffer_init(&request, 0);
        otlp_craft_request(&craft, &request);
        batch_init(&batch, NULL);
        CHECK_OK(otlp_decode(buffer_slice(&request), &batch, &err), &err);
        check_unchanged(&batch);
        batch_done(&batch);
        buffer_done(&request);
    }
}

TEST(otlp_write_of_the_same_batch_is_the_same_and_stays_so)
{
    struct otlp_craft craft = { .layout = OTLP_L7, .shape = OTLP_CRAFT_BOTH };
    struct buffer request, first, second;
    struct batch batch, again;
    struct error err;

    buffer_init(&request, 0);
    buffer_init(&first, 0);
    buffer_init(&second, 0);
    otlp_craft_request(&craft, &request);
    batch_init(&batch, NULL);
    batch_init(&again, NULL);
    CHECK_OK(otlp_decode(buffer_slice(&request), &batch, &err), &err);
    CHECK_OK(otlp_encode(&batch, &plain, &first, &err), &err);
    CHECK_OK(otlp_decode(buffer_slice(&first), &again, &err), &err);
    CHECK_OK(otlp_encode(&again, &plain, &second, &err), &err);
    CHECK_TEXT(buffer_slice(&second), buffer_slice(&first));
    batch_done(&batch);
    batch_done(&again);
    buffer_done(&request);
    buffer_done(&first);
    buffer_done(&second);
}

/* --- batches made by hand --- */

struct made {
    struct builder *builder;
    struct batch batch;
};

static void made_init(struct made *made)
{
    struct builder_options options = { .keep_addresses = true };
    struct error err;

    CHECK_OK(builder_new(&options, &made->builder, &err), &err);
    batch_init(&made->batch, NULL);
}

static void made_finish(struct made *made)
{
    struct error err;

    CHECK_OK(builder_finish(made->builder, &made->batch, &err), &err);
    CHECK_OK(batch_check(&made->batch, &err), &err);
}

static void made_done(struct made *made)
{
    builder_free(made->builder);
    batch_done(&made->batch);
}

static uint32_t text(struct made *made, const char *string)
{
    return builder_string(made->builder, slice_from(string));
}

static void add_type(struct made *made, const char *type)
{
    builder_type(made->builder, (struct value_type){ .type = text(made, type), .unit = text(made, "count") });
}

static uint32_t stack_of(struct made *made, const char *name)
{
    struct function function = { .name = text(made, name) };
    struct line line = { .function = builder_function(made->builder, &function) };
    struct frame frame = { .n_lines = 1 };
    uint32_t id = builder_frame(made->builder, &frame, &line);

    return builder_stack(made->builder, &id, 1);
}

static uint32_t label_set_of(struct made *made, const struct label *labels, uint32_t n)
{
    return builder_label_set(made->builder, labels, n);
}

TEST(otlp_write_splits_types_and_reading_joins_them_in_their_order)
{
    struct made made;
    struct profile *profile;
    struct buffer json;
    struct error err;

    made_init(&made);
    profile = builder_profile(made.builder);
    profile->start_ns = 1000;
    profile->profile_id[0] = 'i';
    profile->default_type = 1;
    add_type(&made, "a");
    add_type(&made, "b");
    add_type(&made, "c");
    builder_sample(made.builder, stack_of(&made, "f"), 0, 0, (int64_t[]){ 1, 0, 3 }, 0);
    builder_sample(made.builder, stack_of(&made, "g"), 0, 0, (int64_t[]){ 4, -5, 0 }, 0);
    made_finish(&made);
    check_unchanged(&made.batch);
    CHECK_TEXT(rewritten(&made.batch),
               "profile a/count b/count c/count default 1 from 1000 for 0 id i\n  1 0 3 f:0:0\n  4 -5 0 g:0:0\n");

    /* On the wire the last type comes first, since OTLP shows the first; and the id is there once. */
    buffer_init(&json, 0);
    CHECK_OK(otlp_json_encode(&made.batch, &plain, &json, &err), &err);
    CHECK_HAS(buffer_slice(&json),
              "{\"arrayValue\":{\"values\":[{\"intValue\":\"2\"},{\"intValue\":\"1\"},{\"intValue\":"
              "\"0\"}]}}");
    CHECK_HAS(buffer_slice(&json), "\"profiles\":[{\"sampleType\":{\"typeStrindex\":4");
    CHECK_HAS(buffer_slice(&json), "\"stringTable\":[\"\",\"pprof.scope.default_sample_type\",\"b\","
                                   "\"pprof.scope.sample_type_order\",\"c\",\"count\",\"f\",\"g\",\"a\"]");
    CHECK(slice_find(buffer_slice(&json), SLICE("profileId")) >= 0);
    CHECK(slice_find(
              slice_sub(buffer_slice(&json), (size_t)slice_find(buffer_slice(&json), SLICE("profileId")) + 1, SIZE_MAX),
              SLICE("profileId")) < 0);
    buffer_done(&json);
    made_done(&made);
}

TEST(otlp_write_keeps_what_pprof_knows_of_a_profile)
{
    struct made made;
    struct profile *profile;
    struct mapping mapping;
    struct frame frame;
    uint32_t id, comments[2];

    made_init(&made);
    profile = builder_profile(made.builder);
    add_type(&made, "t");
    profile->drop_frames = text(&made, "malloc|free");
    profile->keep_frames = text(&made, "main");
    profile->doc_url = text(&made, "https://example.com");
    comments[0] = text(&made, "one");
    comments[1] = text(&made, "two");
    mapping = (struct mapping){ .start = 0x1000,
                                .limit = 0x2000,
                                .file = text(&made, "/bin/x"),
                                .build_id = text(&made, "aa"),
                                .build_id_go = text(&made, "bb"),
                                .build_id_hash = text(&made, "cc"),
                                .flags = MAPPING_HAS_FUNCTIONS | MAPPING_HAS_INLINE_FRAMES };
    frame = (struct frame){ .address = 0x1234,
                            .mapping = builder_mapping(made.builder, &mapping),
                            .kind = FRAME_RUST,
                            .flags = FRAME_IS_FOLDED };
    id = builder_frame(made.builder, &frame, NULL);
    builder_sample(made.builder, builder_stack(made.builder, &id, 1), 0, 0, (int64_t[]){ 1 }, 0);
    made_finish(&made);
    made.batch.profiles[0].comments = comments;
    made.batch.profiles[0].n_comments = 2;
    check_unchanged(&made.batch);
    CHECK_TEXT(rewritten(&made.batch), "profile t/count drop malloc|free keep main doc https://example.com # one # "
                                       "two\n  1 0x1234 folded\n");
    made_done(&made);
}

TEST(otlp_write_keeps_every_field_of_a_mapping)
{
    static const char json[] =
        "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"samples\":[{\"stackIndex\":1,\"values\":[1]}]}]}]"
        "}],"
        "\"dictionary\":{\"stringTable\":[\"\",\"/bin/x\",\"process.executable.build_id.profiling\","
        "\"pprof.mapping.has_filenames\",\"pprof.mapping.has_line_numbers\",\"profile.frame.type\"],"
        "\"attributeTable\":[{},{\"keyStrindex\":2,\"value\":{\"stringValue\":\"cc\"}},{\"keyStrindex\":3,\"value\":{"
        "\"boolValue\":true}},{\"keyStrindex\":4,\"value\":{\"boolValue\":false}},{\"keyStrindex\":5,\"value\":{"
        "\"stringValue\":\"kernel\"}}],\"mappingTable\":[{},{\"memoryStart\":16,\"memoryLimit\":32,\"fileOffset\":4,"
        "\"filenameStrindex\":1,\"attributeIndices\":[1,2,3]}],\"locationTable\":[{},{\"mappingIndex\":1,\"address\":"
        "20,"
        "\"attributeIndices\":[4]}],\"stackTable\":[{},{\"locationIndices\":[1]}]}}";
    struct batch first, second;
    struct buffer out;
    struct error err;
    const struct mapping *m;

    batch_init(&first, NULL);
    batch_init(&second, NULL);
    buffer_init(&out, 0);
    CHECK_OK(otlp_json_decode(slice_from(json), &first, &err), &err);
    CHECK_OK(otlp_encode(&first, &plain, &out, &err), &err);
    CHECK_OK(otlp_decode(buffer_slice(&out), &second, &err), &err);
    m = &second.tables.mappings[1];
    CHECK_EQ(m->start, 16);
    CHECK_EQ(m->limit, 32);
    CHECK_EQ(m->offset, 4);
    CHECK_EQ(m->flags, MAPPING_HAS_FILENAMES);
    CHECK_TEXT(tables_string(&second.tables, m->file), "/bin/x");
    CHECK_TEXT(tables_string(&second.tables, m->build_id_hash), "cc");
    CHECK_EQ(second.tables.frames[1].kind, FRAME_KERNEL);
    batch_done(&first);
    batch_done(&second);
    buffer_done(&out);
}

TEST(otlp_write_makes_one_list_of_labels_with_one_key)
{
    struct made made;
    struct label labels[3];

    made_init(&made);
    (void)builder_profile(made.builder);
    add_type(&made, "t");
    labels[0] = (struct label){ .key = text(&made, "k"), .text = text(&made, "a") };
    labels[1] =
        (struct label){ .key = text(&made, "n"), .kind = LABEL_NUMBER, .number = 5, .unit = text(&made, "bytes") };
    labels[2] = (struct label){ .key = text(&made, "k"), .text = text(&made, "b") };
    builder_sample(made.builder, 0, label_set_of(&made, labels, 3), 0, (int64_t[]){ 1 }, 0);
    made_finish(&made);
    CHECK_TEXT(rewritten(&made.batch), "profile t/count\n  1 {k=a k=b n=5bytes}\n");
    made_done(&made);
}

TEST(otlp_write_gives_back_json_as_lists_and_maps)
{
    struct made made;
    struct label labels[3];

    made_init(&made);
    (void)builder_profile(made.builder);
    add_type(&made, "t");
    labels[0] = (struct label){ .key = text(&made, "a"),
                                .kind = LABEL_JSON,
                                .text = text(&made, "{\"x\":[1,-2.5,true,null,\"\\u00e9\"],\"y\":{}}") };
    labels[1] = (struct label){ .key = text(&made, "b"), .kind = LABEL_JSON, .text = text(&made, "[oops") };
    labels[2] = (struct label){ .key = text(&made, "c"), .kind = LABEL_JSON, .text = text(&made, "[1e999]") };
    builder_sample(made.builder, 0, label_set_of(&made, labels, 3), 0, (int64_t[]){ 1 }, 0);
    made_finish(&made);
    CHECK_TEXT(rewritten(&made.batch), "profile t/count\n  1 {a=json:{\"x\":[1,-2.5,true,null,\"\xc3\xa9\"],\"y\":{}} "
                                       "b=[oops c=1e999}\n");
    made_done(&made);
}

TEST(otlp_write_repairs_text_that_is_not_utf8)
{
    struct made made;

    made_init(&made);
    (void)builder_profile(made.builder);
    add_type(&made, "t");
    builder_sample(made.builder,
                   stack_of(&made, "a\xff"
                                   "b"),
                   0, 0, (int64_t[]){ 1 }, 0);
    builder_sample(made.builder,
                   stack_of(&made, "a\xfe"
                                   "b"),
                   0, 0, (int64_t[]){ 2 }, 0);
    made_finish(&made);
    CHECK_TEXT(rewritten(&made.batch), "profile t/count\n  1 a\xef\xbf\xbd"
                                       "b:0:0\n  2 a\xef\xbf\xbd"
                                       "b:0:0\n");
    made_done(&made);
}

TEST(otlp_write_leaves_out_frames_of_which_nothing_is_known)
{
    struct made made;
    uint32_t frames[2] = { 0 }; /* the frame "none", which would be location 0 */
    struct function function;
    struct line line;

    made_init(&made);
    (void)builder_profile(made.builder);
    add_type(&made, "t");
    function = (struct function){ .name = text(&made, "main") };
    line = (struct line){ .function = builder_function(made.builder, &function) };
    frames[1] = builder_frame(made.builder, &(struct frame){ .n_lines = 1 }, &line);
    builder_sample(made.builder, builder_stack(made.builder, frames, 2), 0, 0, (int64_t[]){ 1 }, 0);
    made_finish(&made);
    CHECK_TEXT(rewritten(&made.batch), "profile t/count\n  1 main:0:0\n");
    made_done(&made);
}

TEST(otlp_write_drops_times_that_do_not_explain_the_values)
{
    struct made made;
    struct profile *profile;
    uint32_t starts[] = { 0, 2, 3 };
    uint64_t times[] = { 10, 11, 12 };

    made_init(&made);
    (void)builder_profile(made.builder);
    add_type(&made, "t");
    builder_sample(made.builder, stack_of(&made, "f"), 0, 0, (int64_t[]){ 2 }, 0);
    builder_sample(made.builder, stack_of(&made, "g"), 0, 0, (int64_t[]){ 1 }, 0);
    made_finish(&made);
    profile = &made.batch.profiles[0];
    profile->time_starts = starts;
    profile->times = times;
    CHECK_TEXT(rewritten(&made.batch), "profile t/count\n  2 f:0:0 count 2 at 10 11\n  1 g:0:0 count 1 at 12\n");
    profile->values[1] = 5;
    CHECK_TEXT(rewritten(&made.batch), "profile t/count\n  2 f:0:0\n  5 g:0:0\n");
    profile->values[1] = 0;
    starts[2] = 2; /* a sample without times among others: one shape for all */
    CHECK_TEXT(rewritten(&made.batch), "profile t/count\n  2 f:0:0\n  0 g:0:0\n");
    made_done(&made);
}

TEST(otlp_write_groups_profiles_by_resource_and_scope)
{
    struct made made;
    struct label labels[2];
    struct buffer json;
    struct error err;
    uint32_t first, second;

    made_init(&made);
    labels[0] = (struct label){ .key = text(&made, "service.name"), .text = text(&made, "a") };
    labels[1] = (struct label){ .key = text(&made, "service.name"), .text = text(&made, "b") };
    first = label_set_of(&made, &labels[0], 1);
    second = label_set_of(&made, &labels[1], 1);
    for (int i = 0; i < 4; i++) {
        struct profile *profile = builder_profile(made.builder);

        profile->resource = i % 2 ? second : first;
        profile->scope_name = text(&made, i < 3 ? "x" : "y");
        profile->period = i + 1;
        add_type(&made, "t");
    }
    made_finish(&made);
    CHECK_TEXT(rewritten(&made.batch), "profile t/count 1 resource {service.name=a} by x\n"
                                       "profile t/count 3 resource {service.name=a} by x\n"
                                       "profile t/count 2 resource {service.name=b} by x\n"
                                       "profile t/count 4 resource {service.name=b} by y\n");
    buffer_init(&json, 0);
    CHECK_OK(otlp_json_encode(&made.batch, &plain, &json, &err), &err);
    CHECK_HAS(buffer_slice(&json),
              "{\"scope\":{\"name\":\"x\"},\"profiles\":[{\"sampleType\":{\"typeStrindex\":4,\"unitStrindex\":5},"
              "\"period\":\"1\"},{\"sampleType\":{\"typeStrindex\":4,\"unitStrindex\":5},\"period\":\"3\"}]}");
    buffer_done(&json);
    made_done(&made);
}

TEST(otlp_write_leaves_out_profiles_without_a_type_and_writes_all_seven_tables)
{
    struct made made;
    struct buffer json;
    struct error err;

    made_init(&made);
    (void)builder_profile(made.builder);
    made_finish(&made);
    buffer_init(&json, 0);
    CHECK_OK(otlp_json_encode(&made.batch, &plain, &json, &err), &err);
    CHECK_TEXT(
        buffer_slice(&json),
        "{\"dictionary\":{\"mappingTable\":[{}],\"locationTable\":[{}],\"functionTable\":[{}],\"linkTable\":[{}],"
        "\"stringTable\":[\"\"],\"attributeTable\":[{}],\"stackTable\":[{}]}}\n");
    buffer_done(&json);
    made_done(&made);
}

TEST(otlp_write_packs_when_asked)
{
    struct format_write_options packed = { .type = PROFILE_NO_TYPE, .pack = PACK_ZSTD };
    struct made made;
    struct buffer direct, out;
    struct unpacker *unpacker;
    struct slice unpacked;
    struct error err;

    made_init(&made);
    (void)builder_profile(made.builder);
    add_type(&made, "t");
    made_finish(&made);
    buffer_init(&direct, 0);
    buffer_init(&out, 0);
    CHECK_OK(otlp_encode(&made.batch, &plain, &direct, &err), &err);
    CHECK_OK(otlp_encode(&made.batch, &packed, &out, &err), &err);
    CHECK_EQ(compress_sniff(buffer_slice(&out)), PACK_ZSTD);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    CHECK_OK(unpacker_unwrap(unpacker, buffer_slice(&out), 1 << 20, UNPACKER_MAX_LAYERS, &unpacked, &err), &err);
    CHECK_TEXT(unpacked, buffer_slice(&direct));
    unpacker_free(unpacker);
    buffer_done(&direct);
    buffer_done(&out);
    made_done(&made);
}

TEST(otlp_write_keeps_to_the_limit_of_its_buffer)
{
    struct made made;
    struct buffer out;
    struct error err;

    made_init(&made);
    (void)builder_profile(made.builder);
    add_type(&made, "t");
    made_finish(&made);
    buffer_init(&out, 10);
    CHECK_ERROR(otlp_encode(&made.batch, &plain, &out, &err), &err, ERR_LIMIT);
    buffer_done(&out);
    made_done(&made);
}

static int encode_step(void *context, struct error *err)
{
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    result = otlp_encode(context, &plain, &out, err);
    CHECK(result == 0 || out.len == 0 || out.failure.code != ERR_OK);
    buffer_done(&out);
    return result;
}

TEST(otlp_write_survives_lack_of_memory)
{
    struct otlp_craft craft = { .layout = OTLP_L10, .shape = OTLP_CRAFT_BOTH };
    struct buffer request;
    struct batch batch;
    struct error err;

    buffer_init(&request, 0);
    otlp_craft_request(&craft, &request);
    batch_init(&batch, NULL);
    CHECK_OK(otlp_decode(buffer_slice(&request), &batch, &err), &err);
    test_each_allocation_failing(encode_step, &batch);
    batch_done(&batch);
    buffer_done(&request);
}
