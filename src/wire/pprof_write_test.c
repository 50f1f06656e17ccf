// SPDX-License-Identifier: Apache-2.0
#include "pack/unpacker.h"
#include "wire/format.h"
#include "wire/pprof_example_internal.h"
#include "wire/same_batch_internal.h"

static const struct format_write_options plain_options = { .plain = true };

static void encode_plain(const struct batch *batch, struct buffer *out)
{
    struct error err = { 0 };

    buffer_init(out, 0);
    CHECK_OK(pprof_encode(batch, &plain_options, out, &err), &err);
}

/* Writes, reads and writes again: the bytes must be the same, and say the same as `batch`. */
static void check_stable(const struct batch *batch)
{
    struct buffer first, second;
    struct batch again;

    encode_plain(batch, &first);
    example_decode(buffer_slice(&first), &again);
    CHECK_EQ(report_total(&again.report), 0);
    encode_plain(&again, &second);
    CHECK_TEXT(buffer_slice(&second), buffer_slice(&first));
    batch_done(&again);
    buffer_done(&first);
    buffer_done(&second);
}

TEST(pprof_written_and_read_again_is_the_same)
{
    struct buffer out, written;
    struct batch batch, again;

    buffer_init(&out, 0);
    example_profile(&out);
    example_decode(buffer_slice(&out), &batch);
    encode_plain(&batch, &written);
    CHECK_EQ(pprof_recognise(buffer_slice(&written)), 95);
    example_decode(buffer_slice(&written), &again);
    CHECK_EQ(report_total(&again.report), 0);
    CHECK_TEXT(same_batch(&batch, &again) ?: "same", "same");
    CHECK_EQ(slice_find(buffer_slice(&written), SLICE("nobody asks for me")), -1);
    check_stable(&batch);
    batch_done(&batch);
    batch_done(&again);
    buffer_done(&out);
    buffer_done(&written);
}

TEST(pprof_odd_ids_and_strings_are_written_dense)
{
    struct buffer out, written;
    struct batch batch;
    size_t begin;

    buffer_init(&out, 0);
    example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, EXAMPLE_CPU, EXAMPLE_NS);
    example_location(&out, UINT64_MAX, 0, 0x1, EXAMPLE_LINES(77777777, 1));
    example_function(&out, 77777777, EXAMPLE_WORK, 0, 0, 0);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    protobuf_put_uint(&out, PPROF_SAMPLE_LOCATION_ID, UINT64_MAX);
    protobuf_put_uint(&out, PPROF_SAMPLE_VALUE, 1);
    protobuf_end(&out, begin);
    example_strings(&out);
    example_decode(buffer_slice(&out), &batch);
    encode_plain(&batch, &written);
    CHECK_TEXT(buffer_slice(&written), SLICE("\x0a\x04\x08\x01\x10\x02"         /* type 1, unit 2 */
                                             "\x12\x06\x0a\x01\x01\x12\x01\x01" /* location 1, value 1 */
                                             "\x22\x0a\x08\x01\x18\x01\x22\x04\x08\x01\x10\x01"
                                             "\x2a\x04\x08\x01\x10\x03"
                                             "\x32\x00\x32\x03"
                                             "cpu\x32\x0bnanoseconds\x32\x04work"));
    check_stable(&batch);
    batch_done(&batch);
    buffer_done(&out);
    buffer_done(&written);
}

TEST(pprof_is_packed_by_gzip_unless_asked_otherwise)
{
    static const struct {
        struct format_write_options options;
        enum pack_kind kind;
    } cases[] = {
        { { .pack = PACK_NONE }, PACK_GZIP },
        { { .pack = PACK_GZIP, .level = 9 }, PACK_GZIP },
        { { .pack = PACK_ZSTD }, PACK_ZSTD },
        { { .pack = PACK_ZSTD, .plain = true }, PACK_NONE },
    };
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct buffer out, plain;
    struct batch batch;
    struct error err = { 0 };

    buffer_init(&out, 0);
    example_profile(&out);
    example_decode(buffer_slice(&out), &batch);
    encode_plain(&batch, &plain);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buffer packed;
        struct slice content;

        buffer_init(&packed, 0);
        buffer_append_text(&packed, "before");
        CHECK_OK(pprof_encode(&batch, &cases[i].options, &packed, &err), &err);
        CHECK_TEXT(slice_sub(buffer_slice(&packed), 0, 6), "before");
        CHECK_EQ(compress_sniff(slice_sub(buffer_slice(&packed), 6, SIZE_MAX)), cases[i].kind);
        CHECK_OK(unpacker_unwrap(unpacker, slice_sub(buffer_slice(&packed), 6, SIZE_MAX), 1 << 20, UNPACKER_MAX_LAYERS,
                                 &content, &err),
                 &err);
        CHECK_TEXT(content, buffer_slice(&plain));
        buffer_done(&packed);
    }
    batch_done(&batch);
    buffer_done(&out);
    buffer_done(&plain);
}

/* A batch made by hand, as other formats may make it: one stack of a frame, two samples. */
struct handmade {
    struct slice strings[16];
    struct mapping mappings[4];
    struct function functions[2];
    struct line lines[1];
    struct frame frames[2];
    uint32_t stack_frames[3];
    uint32_t stack_starts[3];
    struct label labels[8];
    uint32_t label_set_starts[3];
    struct link links[2];
    struct value_type types[3];
    uint32_t stacks[2];
    uint32_t label_sets[2];
    uint32_t sample_links[2];
    int64_t values[6];
    struct profile profile;
    struct batch batch;
};

static void make_by_hand(struct handmade *m)
{
    static const char *const strings[] = { "",
                                           "cpu",
                                           "nanoseconds",
                                           "work",
                                           "key",
                                           "x",
                                           "span_id",
                                           "00f067aa0ba902b7",
                                           "cafe",
                                           "trace_id",
                                           "4bf92f3577b34da6a3ce929d0e0e4736",
                                           "go-id",
                                           "hash" };

    *m = (struct handmade){
        .functions[1] = { .name = 3 },
        .lines[0] = { .function = 1, .line = 5 },
        .frames[1] = { .address = 1, .n_lines = 1 },
        .stack_frames = { 1 },
        .stack_starts = { 0, 0, 1 },
        .label_set_starts = { 0, 0, 0 },
        .types = { { .type = 1, .unit = 2 } },
        .stacks = { 1, 1 },
        .label_sets = { 1, 1 },
        .values = { 10, 20 },
    };
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        m->strings[i] = slice_from(strings[i]);
    batch_init(&m->batch, NULL);
    m->batch.tables = (struct tables){
        .strings = m->strings,
        .mappings = m->mappings,
        .functions = m->functions,
        .lines = m->lines,
        .frames = m->frames,
        .stack_frames = m->stack_frames,
        .stack_starts = m->stack_starts,
        .labels = m->labels,
        .label_set_starts = m->label_set_starts,
        .links = m->links,
        .n_strings = ARRAY_LEN(strings),
        .n_mappings = 1,
        .n_functions = 2,
        .n_lines = 1,
        .n_frames = 2,
        .n_stack_frames = 1,
        .n_stacks = 2,
        .n_label_sets = 2,
        .n_links = 2,
    };
    m->profile = (struct profile){
        .tables = &m->batch.tables,
        .types = m->types,
        .n_types = 1,
        .default_type = PROFILE_NO_TYPE,
        .n_samples = 2,
        .stride = 2,
        .stacks = m->stacks,
        .label_sets = m->label_sets,
        .values = m->values,
    };
    m->batch.profiles = &m->profile;
    m->batch.n_profiles = 1;
}

static void add_label(struct handmade *m, struct label label)
{
    m->labels[m->batch.tables.n_labels++] = label;
    m->label_set_starts[2] = m->batch.tables.n_labels;
}

static struct slice label_text_of(const struct batch *batch, uint32_t index)
{
    uint32_t n;
    const struct label *labels = tables_label_set(&batch->tables, profile_label_set(&batch->profiles[0], 0), &n);

    CHECK(index < n);
    CHECK_EQ(labels[index].kind, LABEL_STRING);
    return tables_string(&batch->tables, labels[index].text);
}

TEST(pprof_labels_of_other_kinds_become_text)
{
    struct handmade m;
    struct batch again;
    struct buffer written;
    double number = 0.1;
    int64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    make_by_hand(&m);
    m.strings[8] = SLICE("\x00\xfe\x10");
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_BOOL, .number = 1 });
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_BOOL, .number = 0 });
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_DOUBLE, .number = bits });
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_BYTES, .text = 8 });
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_JSON, .text = 5 });
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_STRING, .text = 0 });
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_NUMBER, .number = 0 });
    encode_plain(&m.batch, &written);
    example_decode(buffer_slice(&written), &again);
    CHECK_TEXT(label_text_of(&again, 0), "true");
    CHECK_TEXT(label_text_of(&again, 1), "false");
    CHECK_TEXT(label_text_of(&again, 2), "0.1");
    CHECK_TEXT(label_text_of(&again, 3), "00fe10");
    CHECK_TEXT(label_text_of(&again, 4), "x");
    CHECK_TEXT(label_text_of(&again, 5), "");
    CHECK_EQ(again.tables.labels[6].kind, LABEL_NUMBER);
    CHECK_EQ(again.tables.n_strings, 10); /* both samples share their texts */
    check_stable(&m.batch);
    batch_done(&again);
    buffer_done(&written);
}

TEST(pprof_links_are_written_as_labels_before_the_others)
{
    struct handmade m;
    struct batch again;
    struct buffer written;

    make_by_hand(&m);
    m.profile.links = m.sample_links;
    m.sample_links[1] = 1;
    m.links[1] = (struct link){ .trace_id = { 1, 2, [15] = 0xab }, .span_id = { [7] = 0xcd } };
    add_label(&m, (struct label){ .key = 4, .text = 5 });
    encode_plain(&m.batch, &written);
    CHECK(slice_find(buffer_slice(&written), SLICE("010200000000000000000000000000ab")) >= 0);
    CHECK(slice_find(buffer_slice(&written), SLICE("00000000000000cd")) >= 0);
    example_decode(buffer_slice(&written), &again);
    CHECK_EQ(profile_link(&again.profiles[0], 0), 0);
    CHECK(memcmp(&again.tables.links[profile_link(&again.profiles[0], 1)], &m.links[1], sizeof(struct link)) == 0);
    check_stable(&m.batch);
    batch_done(&again);
    buffer_done(&written);
}

TEST(pprof_label_that_looks_like_a_link_is_written_where_reading_puts_it)
{
    struct handmade m;

    make_by_hand(&m);
    m.profile.links = m.sample_links;
    m.sample_links[1] = 1;
    m.links[1] = (struct link){ .span_id = { [7] = 0xcd } };
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_BOOL, .number = 1 });
    add_label(&m, (struct label){ .key = 6, .text = 7 });  /* span_id: a second one for sample 1 */
    add_label(&m, (struct label){ .key = 9, .text = 10 }); /* trace_id */
    check_stable(&m.batch);
}

TEST(pprof_none_frames_are_left_out_of_stacks)
{
    struct handmade m;
    struct batch again;
    struct buffer written;
    uint32_t depth;

    make_by_hand(&m);
    m.stack_frames[1] = 1;
    m.stack_frames[0] = 0;
    m.stack_starts[2] = m.batch.tables.n_stack_frames = 3;
    encode_plain(&m.batch, &written);
    example_decode(buffer_slice(&written), &again);
    CHECK_EQ(report_total(&again.report), 0);
    (void)tables_stack(&again.tables, 1, &depth);
    CHECK_EQ(depth, 1);
    check_stable(&m.batch);
    m.stack_frames[1] = 0;
    check_stable(&m.batch);
    batch_done(&again);
    buffer_done(&written);
}

TEST(pprof_lines_without_a_function_are_left_out)
{
    struct handmade m;
    struct batch again;
    struct buffer written;

    make_by_hand(&m);
    m.lines[0].function = 0;
    encode_plain(&m.batch, &written);
    example_decode(buffer_slice(&written), &again);
    CHECK_EQ(report_total(&again.report), 0);
    CHECK_EQ(again.tables.n_lines, 0);
    CHECK_EQ(again.tables.frames[1].n_lines, 0);
    batch_done(&again);
    buffer_done(&written);
}

TEST(pprof_mapping_has_the_best_build_id_there_is)
{
    struct handmade m;
    struct batch again;
    struct buffer written;

    make_by_hand(&m);
    m.batch.tables.n_mappings = 4;
    m.mappings[1] = (struct mapping){ .start = 1, .limit = 2, .build_id = 8, .build_id_go = 11, .build_id_hash = 12 };
    m.mappings[2] = (struct mapping){ .start = 3, .limit = 4, .build_id_go = 11, .build_id_hash = 12 };
    m.mappings[3] = (struct mapping){ .start = 5, .limit = 6, .build_id_hash = 12 };
    encode_plain(&m.batch, &written);
    example_decode(buffer_slice(&written), &again);
    CHECK_TEXT(tables_string(&again.tables, again.tables.mappings[1].build_id), "cafe");
    CHECK_TEXT(tables_string(&again.tables, again.tables.mappings[2].build_id), "go-id");
    CHECK_TEXT(tables_string(&again.tables, again.tables.mappings[3].build_id), "hash");
    batch_done(&again);
    buffer_done(&written);
}

TEST(pprof_default_type_is_written_by_name)
{
    struct handmade m;
    struct batch again;
    struct buffer written;

    make_by_hand(&m);
    m.strings[11] = SLICE("cpu"); /* the same name twice, as other strings */
    m.profile.n_types = 3;
    m.types[1] = (struct value_type){ .type = 3 };
    m.types[2] = (struct value_type){ .type = 11, .unit = 3 };
    m.profile.default_type = 1;
    encode_plain(&m.batch, &written);
    example_decode(buffer_slice(&written), &again);
    CHECK_EQ(again.profiles[0].default_type, 1);
    m.profile.default_type = 2;
    check_stable(&m.batch);
    batch_done(&again);
    buffer_done(&written);
}

TEST(pprof_writes_exactly_one_profile)
{
    struct handmade m;
    struct buffer out;
    struct error err = { 0 };

    make_by_hand(&m);
    buffer_init(&out, 0);
    m.batch.n_profiles = 2;
    CHECK_ERROR(pprof_encode(&m.batch, &plain_options, &out, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "holds one profile, these are 2: merge them");
    m.batch.n_profiles = 0;
    CHECK_ERROR(pprof_encode(&m.batch, &plain_options, &out, &err), &err, ERR_INVALID);
    CHECK_EQ(out.len, 0);
    buffer_done(&out);
}

TEST(pprof_writing_stops_at_the_limit)
{
    struct format_write_options options = { .pack = PACK_GZIP };
    struct handmade m;
    struct buffer out;
    struct error err = { 0 };

    make_by_hand(&m);
    buffer_init(&out, 20);
    CHECK_ERROR(pprof_encode(&m.batch, &plain_options, &out, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "writing pprof: ");
    buffer_clear(&out);
    CHECK_ERROR(pprof_encode(&m.batch, &options, &out, &err), &err, ERR_LIMIT);
    buffer_done(&out);
    buffer_init(&out, 0);
    m.batch.limits.max_inflated_bytes = 30;
    CHECK_ERROR(pprof_encode(&m.batch, &options, &out, &err), &err, ERR_LIMIT);
    buffer_done(&out);
}

static int encode_once(void *context, struct error *err)
{
    const struct format_write_options options = { .pack = PACK_GZIP };
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    result = pprof_encode(context, &options, &out, err);
    buffer_done(&out);
    return result;
}

TEST(pprof_writing_survives_failing_allocations)
{
    struct handmade m;

    make_by_hand(&m);
    m.profile.links = m.sample_links;
    m.sample_links[1] = 1;
    m.links[1] = (struct link){ .span_id = { [7] = 0xcd } };
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_BYTES, .text = 8 });
    add_label(&m, (struct label){ .key = 4, .kind = LABEL_DOUBLE, .number = 8 });
    test_each_allocation_failing(encode_once, &m.batch);
}
