// SPDX-License-Identifier: Apache-2.0
#include "wire/pprof_example_internal.h"
#include "wire/same_batch_internal.h"

TEST(pprof_reads_every_field)
{
    struct buffer out;
    struct batch batch;
    const struct tables *t = &batch.tables;
    const struct profile *p;

    buffer_init(&out, 0);
    example_profile(&out);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_EQ(batch.n_profiles, 1);
    p = &batch.profiles[0];
    CHECK_EQ(p->n_types, 2);
    CHECK_TEXT(tables_string(t, p->types[0].type), "samples");
    CHECK_TEXT(tables_string(t, p->types[1].unit), "nanoseconds");
    CHECK_EQ(p->default_type, 1);
    CHECK_EQ(p->start_ns, 1790000000000000000);
    CHECK_EQ(p->duration_ns, 10000000000);
    CHECK_EQ(p->period, 10000000);
    CHECK_TEXT(tables_string(t, p->period_type.type), "cpu");
    CHECK_EQ(p->n_comments, 1);
    CHECK_TEXT(tables_string(t, p->comments[0]), "made by hand");
    CHECK_TEXT(tables_string(t, p->drop_frames), "drop_me");
    CHECK_TEXT(tables_string(t, p->keep_frames), "keep_me");
    CHECK_TEXT(tables_string(t, p->doc_url), "https://example.org/doc");

    CHECK_EQ(t->n_strings, EXAMPLE_N_STRINGS);
    CHECK_EQ(t->n_mappings, 2);
    CHECK_EQ(t->mappings[1].start, 0x400000);
    CHECK_EQ(t->mappings[1].limit, 0x500000);
    CHECK_EQ(t->mappings[1].offset, 0x1000);
    CHECK_TEXT(tables_string(t, t->mappings[1].file), "/bin/app");
    CHECK_TEXT(tables_string(t, t->mappings[1].build_id), "c0ffee");
    CHECK_EQ(t->mappings[1].flags, MAPPING_HAS_FUNCTIONS | MAPPING_HAS_INLINE_FRAMES);
    CHECK_EQ(t->n_functions, 4);
    CHECK_TEXT(tables_string(t, t->functions[1].name), "work");
    CHECK_TEXT(tables_string(t, t->functions[1].system_name), "_Z4workv");
    CHECK_TEXT(tables_string(t, t->functions[1].file), "main.c");
    CHECK_EQ(t->functions[1].start_line, 40);
    CHECK_EQ(t->n_frames, 3);
    CHECK_EQ(t->frames[1].address, 0x401234);
    CHECK_EQ(t->frames[1].mapping, 1);
    CHECK_EQ(t->frames[1].n_lines, 2);
    CHECK_EQ(t->lines[t->frames[1].first_line].function, 3);
    CHECK_EQ(t->lines[t->frames[1].first_line].line, 7);
    CHECK_EQ(t->lines[t->frames[1].first_line + 1].function, 1);
    CHECK_EQ(t->frames[2].n_lines, 1);
    batch_done(&batch);
    buffer_done(&out);
}

/* Takes the fields of `bytes` in another order: kinds are mixed by chance, but fields of one kind stay in order. */
static void shuffle_fields(struct slice bytes, uint32_t seed, struct buffer *out)
{
    struct slice queues[16][40];
    uint32_t heads[16] = { 0 }, n[16] = { 0 }, left = 0, tag;
    struct protobuf_reader r = protobuf_reader_of(bytes);

    for (;;) {
        const uint8_t *start = r.at;

        if (!protobuf_next(&r, &tag))
            break;
        protobuf_skip(&r, tag);
        CHECK(n[PROTOBUF_FIELD(tag)] < 40);
        queues[PROTOBUF_FIELD(tag)][n[PROTOBUF_FIELD(tag)]++] = slice_of(start, (size_t)(r.at - start));
        left++;
    }
    while (left) {
        uint32_t field;

        seed = seed * 1664525 + 1013904223;
        field = seed >> 28;
        if (heads[field] == n[field])
            continue;
        buffer_append_slice(out, queues[field][heads[field]++]);
        left--;
    }
}

TEST(pprof_field_order_does_not_matter)
{
    struct buffer out, shuffled;
    struct batch batch, other;

    buffer_init(&out, 0);
    buffer_init(&shuffled, 0);
    example_profile(&out);
    example_decode(buffer_slice(&out), &batch);
    for (uint32_t seed = 0; seed < 50; seed++) {
        buffer_clear(&shuffled);
        shuffle_fields(buffer_slice(&out), seed, &shuffled);
        CHECK_EQ(shuffled.len, out.len);
        example_decode(buffer_slice(&shuffled), &other);
        CHECK_TEXT(same_batch(&batch, &other) ?: "same", "same");
        batch_done(&other);
    }
    batch_done(&batch);
    buffer_done(&out);
    buffer_done(&shuffled);
}

TEST(pprof_unknown_fields_are_skipped_everywhere)
{
    struct buffer out;
    struct batch batch;
    size_t begin, inner;

    buffer_init(&out, 0);
    protobuf_put_uint(&out, 99, 1);
    protobuf_put_fixed64_always(&out, 16, 5);
    example_symbols(&out);
    protobuf_put_bytes(&out, 77, SLICE("what may this be"));
    begin = protobuf_begin(&out, PPROF_PROFILE_LOCATION);
    protobuf_put_uint(&out, 17, 3);
    protobuf_put_uint(&out, PPROF_LOCATION_ID, 3);
    inner = protobuf_begin(&out, PPROF_LOCATION_LINE);
    protobuf_put_uint(&out, 9, 9);
    protobuf_put_uint(&out, PPROF_LINE_FUNCTION_ID, 2);
    protobuf_put_uint(&out, PPROF_LINE_COLUMN, 5);
    protobuf_end(&out, inner);
    protobuf_end(&out, begin);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    protobuf_put_uint(&out, 4, 9);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 3);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    inner = protobuf_begin(&out, PPROF_SAMPLE_LABEL);
    protobuf_put_uint(&out, 9, 9);
    protobuf_put_uint(&out, PPROF_LABEL_KEY, EXAMPLE_ROUTE);
    protobuf_put_uint(&out, PPROF_LABEL_NUM, 9);
    protobuf_end(&out, inner);
    protobuf_end(&out, begin);
    example_strings(&out);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_EQ(batch.profiles[0].n_samples, 1);
    CHECK_EQ(batch.tables.n_frames, 4);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[3].first_line].column, 5);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_scalars_and_lines_after_others_of_their_message_are_found)
{
    struct buffer out;
    struct batch batch;
    size_t begin, line;

    buffer_init(&out, 0);
    begin = protobuf_begin(&out, PPROF_PROFILE_LOCATION);
    protobuf_put_uint(&out, PPROF_LOCATION_IS_FOLDED, 1);
    line = protobuf_begin(&out, PPROF_LOCATION_LINE);
    protobuf_put_uint(&out, PPROF_LINE_LINE, 8);
    protobuf_put_uint(&out, PPROF_LINE_FUNCTION_ID, 2);
    protobuf_end(&out, line);
    protobuf_put_uint(&out, PPROF_LOCATION_ADDRESS, 0x7fffffffffff);
    protobuf_put_uint(&out, PPROF_LOCATION_MAPPING_ID, 1);
    protobuf_put_uint(&out, PPROF_LOCATION_ID, 3);
    protobuf_end(&out, begin);
    example_symbols(&out);
    example_strings(&out);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_EQ(batch.tables.frames[1].flags, FRAME_IS_FOLDED);
    CHECK_EQ(batch.tables.frames[1].address, 0x7fffffffffff);
    CHECK_EQ(batch.tables.frames[1].mapping, 1);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[1].first_line].line, 8);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[1].first_line].function, 2);
    batch_done(&batch);
    buffer_done(&out);
}

/* One sample over locations with these two ids; the first of them is the leaf. */
static void profile_with_ids(struct buffer *out, uint64_t location, uint64_t other, uint64_t function, uint64_t mapping)
{
    size_t begin;

    example_type(out, PPROF_PROFILE_SAMPLE_TYPE, EXAMPLE_SAMPLES, EXAMPLE_COUNT);
    example_mapping(out, mapping);
    example_location(out, location, mapping, 0x401234, EXAMPLE_LINES(function, 1));
    example_location(out, other, 0, 0x402345, EXAMPLE_LINES(function, 2));
    example_function(out, function, EXAMPLE_WORK, 0, 0, 0);
    begin = protobuf_begin(out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_LOCATION_ID, location, other);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_VALUE, 1);
    protobuf_end(out, begin);
    example_strings(out);
}

TEST(pprof_ids_may_be_any_numbers)
{
    static const uint64_t ids[][4] = {
        { 1, 2, 1, 1 },                                                       /* in order */
        { 2, 1, 7, 9 },                                                       /* dense */
        { 1000, 900, 800, 700 },                                              /* dense still */
        { 5000000, 1, 70000, 60000 },                                         /* far apart */
        { UINT64_MAX, UINT64_MAX - 1, 0x8000000000000000u, 0x7f1234567890u }, /* addresses as ids */
    };
    struct buffer out;

    buffer_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct batch batch;
        const uint32_t *frames;
        uint32_t depth;

        buffer_clear(&out);
        profile_with_ids(&out, ids[i][0], ids[i][1], ids[i][2], ids[i][3]);
        example_decode(buffer_slice(&out), &batch);
        CHECK_EQ(report_total(&batch.report), 0);
        CHECK_EQ(batch.profiles[0].n_samples, 1);
        frames = tables_stack(&batch.tables, batch.profiles[0].stacks[0], &depth);
        CHECK_EQ(depth, 2);
        CHECK_EQ(frames[0], 1);
        CHECK_EQ(frames[1], 2);
        CHECK_EQ(batch.tables.frames[1].mapping, 1);
        CHECK_EQ(batch.tables.lines[1].function, 1);
        batch_done(&batch);
    }
    buffer_done(&out);
}

TEST(pprof_functions_without_ids_have_those_of_their_locations)
{
    struct batch batch;
    struct buffer out;
    size_t begin;

    buffer_init(&out, 0);
    example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, EXAMPLE_SAMPLES, EXAMPLE_COUNT);
    example_location(&out, 7, 0, 0, EXAMPLE_LINES(7, 1));
    example_location(&out, 9, 0, 0, EXAMPLE_LINES(9, 2));
    example_function(&out, 0, EXAMPLE_WORK, 0, 0, 0);
    example_function(&out, 0, EXAMPLE_MAIN, 0, 0, 0);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 7, 9);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1);
    protobuf_end(&out, begin);
    example_strings(&out);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_total(&batch.report), 2);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[1].first_line].function, 1);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[2].first_line].function, 2);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_of_equal_ids_the_last_wins)
{
    static const uint64_t ids[] = { 4, 90000 }; /* dense and sparse */
    struct buffer out;

    buffer_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct batch batch;

        buffer_clear(&out);
        example_function(&out, ids[i], EXAMPLE_MAIN, 0, 0, 0);
        profile_with_ids(&out, 1, 2, ids[i], 1);
        example_decode(buffer_slice(&out), &batch);
        CHECK_EQ(report_count(&batch.report, "several entries with the same id; the last is used"), 1);
        CHECK_HAS(batch.report.entries[0].example, "function id");
        CHECK_EQ(batch.tables.n_functions, 3);
        CHECK_EQ(batch.tables.lines[0].function, 2);
        batch_done(&batch);
    }
    buffer_done(&out);
}

TEST(pprof_references_to_nothing_become_none)
{
    struct buffer out;
    struct batch batch;

    buffer_init(&out, 0);
    example_symbols(&out);
    example_location(&out, 3, 9, 0x1, EXAMPLE_LINES(99, 1, 1, 2, 0, 3));
    example_function(&out, 4, 1000, UINT64_MAX, EXAMPLE_MAIN_C, 3);
    example_function(&out, 0, EXAMPLE_MAIN, 0, 0, 0);
    example_strings(&out);
    protobuf_put_uint(&out, PPROF_PROFILE_DOC_URL, 5000);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_count(&batch.report, "location refers to a missing mapping; left without"), 1);
    CHECK_EQ(report_count(&batch.report, "line refers to a missing function; line dropped"), 2);
    CHECK_EQ(report_count(&batch.report, "string index outside the string table; left empty"), 3);
    CHECK_EQ(report_count(&batch.report, "entry without an id; nothing can refer to it"), 1);
    CHECK_HAS(batch.report.entries[0].example, "function 3, string 1000 of 24");
    CHECK_EQ(batch.tables.frames[3].mapping, 0);
    CHECK_EQ(batch.tables.frames[3].n_lines, 1);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[3].first_line].line, 2);
    CHECK_EQ(batch.tables.functions[4].name, 0);
    CHECK_EQ(batch.tables.functions[4].file, EXAMPLE_MAIN_C);
    CHECK_EQ(batch.profiles[0].doc_url, 0);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_lines_outside_32_bits_are_unknown)
{
    struct buffer out;
    struct batch batch;

    buffer_init(&out, 0);
    example_symbols(&out);
    example_location(&out, 3, 0, 0x1, EXAMPLE_LINES(1, (uint64_t)UINT32_MAX + 1, 1, UINT32_MAX));
    example_function(&out, 4, EXAMPLE_MAIN, 0, 0, (uint64_t)-1);
    example_strings(&out);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_count(&batch.report, "line or column outside 0 to 4294967295; left unknown"), 2);
    CHECK_HAS(batch.report.entries[0].example, "function 3: -1");
    CHECK_EQ(batch.tables.lines[batch.tables.frames[3].first_line].line, 0);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[3].first_line].function, 1);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[3].first_line + 1].line, UINT32_MAX);
    CHECK_EQ(batch.tables.functions[4].start_line, 0);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_needs_a_string_table_that_begins_with_the_empty_string)
{
    struct buffer out;
    struct batch batch;
    struct error err;

    buffer_init(&out, 0);
    protobuf_put_bytes(&out, PPROF_PROFILE_STRING_TABLE, SLICE("oops"));
    protobuf_put_bytes(&out, PPROF_PROFILE_STRING_TABLE, SLICE("cpu"));
    example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, 1, 0);
    batch_init(&batch, NULL);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "string 0 must be empty, but is 'oops'");
    batch_done(&batch);
    /* No string table at all. */
    buffer_clear(&out);
    example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, 1, 0);
    batch_init(&batch, NULL);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "no string table");
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_default_type_is_found_by_name)
{
    struct buffer out;
    struct batch batch;

    buffer_init(&out, 0);
    example_symbols(&out);
    example_strings(&out);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(batch.profiles[0].default_type, PROFILE_NO_TYPE);
    CHECK_EQ(profile_default_type(&batch.profiles[0]), 1);
    batch_done(&batch);
    protobuf_put_uint(&out, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, EXAMPLE_SAMPLES);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(batch.profiles[0].default_type, 0);
    batch_done(&batch);
    protobuf_put_uint(&out, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, EXAMPLE_WORK);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(batch.profiles[0].default_type, PROFILE_NO_TYPE);
    CHECK_EQ(report_count(&batch.report, "default_sample_type names no sample type; ignored"), 1);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_comments_come_packed_and_one_by_one)
{
    struct buffer out;
    struct batch batch;

    buffer_init(&out, 0);
    protobuf_put_uint(&out, PPROF_PROFILE_COMMENT, EXAMPLE_COMMENT);
    EXAMPLE_PACKED(&out, PPROF_PROFILE_COMMENT, EXAMPLE_URL, EXAMPLE_KEEP);
    protobuf_put_uint(&out, PPROF_PROFILE_COMMENT, EXAMPLE_DROP);
    example_strings(&out);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(batch.profiles[0].n_comments, 4);
    CHECK_EQ(batch.profiles[0].comments[1], EXAMPLE_URL);
    CHECK_EQ(batch.profiles[0].comments[3], EXAMPLE_DROP);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_values_know_their_nature)
{
    struct buffer out;
    struct batch batch;
    const struct value_type *types;

    buffer_init(&out, 0);
    protobuf_put_bytes_always(&out, PPROF_PROFILE_STRING_TABLE, SLICE(""));
    protobuf_put_bytes(&out, PPROF_PROFILE_STRING_TABLE, SLICE("alloc_space"));
    protobuf_put_bytes(&out, PPROF_PROFILE_STRING_TABLE, SLICE("inuse_space"));
    protobuf_put_bytes(&out, PPROF_PROFILE_STRING_TABLE, SLICE("bytes"));
    example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, 1, 3);
    example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, 2, 3);
    example_decode(buffer_slice(&out), &batch);
    types = batch.profiles[0].types;
    CHECK_EQ(types[0].nature, VALUE_FLOW);
    CHECK_EQ(types[0].temporality, TEMPORALITY_CUMULATIVE);
    CHECK_EQ(types[1].nature, VALUE_LEVEL);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_refuses_what_is_no_profile)
{
    struct buffer out;
    struct batch batch;
    struct error err = { 0 };

    batch_init(&batch, NULL);
    CHECK_ERROR(pprof_decode(SLICE(""), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "pprof: the input is empty");
    buffer_init(&out, 0);
    protobuf_put_bytes_always(&out, PPROF_PROFILE_SAMPLE, SLICE(""));
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "1 samples but no sample_type");
    buffer_clear(&out);
    example_profile(&out);
    example_profile(&out);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "several profiles glued together");
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_errors_name_field_and_byte)
{
    struct buffer out;
    struct batch batch;
    struct error err = { 0 };
    size_t begin, inner;

    batch_init(&batch, NULL);
    buffer_init(&out, 0);
    example_symbols(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    inner = protobuf_begin(&out, PPROF_SAMPLE_LOCATION_ID);
    buffer_append_byte(&out, (char)0x80);
    protobuf_end(&out, inner);
    protobuf_end(&out, begin);
    example_strings(&out);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "pprof: sample 0, field location_id at byte 117: varint runs past the end of its message");

    batch_reset(&batch);
    buffer_clear(&out);
    example_symbols(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_LOCATION);
    inner = protobuf_begin(&out, PPROF_LOCATION_LINE);
    protobuf_put_bytes(&out, PPROF_LINE_LINE, SLICE("x"));
    protobuf_end(&out, inner);
    protobuf_end(&out, begin);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "pprof: location 2, line 0, field line at byte 117: field has another wire type than it should "
                        "(found bytes, wanted varint)");

    batch_reset(&batch);
    buffer_clear(&out);
    example_symbols(&out);
    protobuf_put_tag(&out, PPROF_PROFILE_FUNCTION, PROTOBUF_BYTES);
    protobuf_put_varint(&out, 100);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "pprof: field function 3 at byte 114: length reaches past the end of its message");
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_limits_are_checked_before_more_memory_is_taken)
{
    struct profile_limits limits = profile_default_limits;
    struct buffer out;
    struct batch batch;
    struct error err = { 0 };

    buffer_init(&out, 0);
    example_profile(&out);
    limits.max_strings = EXAMPLE_N_STRINGS - 1;
    batch_init(&batch, &limits);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "pprof: 24 strings, the limit is 23");
    CHECK(batch.arena.used_bytes < 2048);
    for (int i = 0; i < 10000; i++)
        protobuf_put_bytes_always(&out, PPROF_PROFILE_STRING_TABLE, SLICE(""));
    batch_reset(&batch);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "pprof: 10024 strings, the limit is 23");
    CHECK(batch.arena.used_bytes <
          32768); /* of the other kinds there is room for as many as so many bytes usually have */
    batch_done(&batch);
    buffer_clear(&out);
    example_profile(&out);
    limits = profile_default_limits;
    limits.max_samples = 2;
    batch_init(&batch, &limits);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "pprof: 3 samples, the limit is 2");
    batch_done(&batch);
    limits = profile_default_limits;
    limits.max_memory_bytes = 512;
    batch_init(&batch, &limits);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_LIMIT);
    batch_done(&batch);
    for (int i = 0; i < PROFILE_MAX_TYPES; i++)
        example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, EXAMPLE_CPU, EXAMPLE_NS);
    batch_init(&batch, NULL);
    CHECK_ERROR(pprof_decode(buffer_slice(&out), &batch, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "66 sample types, the limit is 64");
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_location_with_too_many_lines_keeps_the_innermost)
{
    struct profile_limits limits = profile_default_limits;
    struct buffer out;
    struct batch batch;
    struct error err = { 0 };

    limits.max_depth = 3;
    buffer_init(&out, 0);
    example_symbols(&out);
    example_location(&out, 3, 0, 0x1, EXAMPLE_LINES(1, 1, 2, 2, 3, 3, 1, 4, 2, 5));
    example_strings(&out);
    batch_init(&batch, &limits);
    CHECK_OK(pprof_decode(buffer_slice(&out), &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    CHECK_EQ(report_count(&batch.report, "location has more lines than allowed; the outermost are cut"), 2);
    CHECK_EQ(batch.tables.frames[3].n_lines, 3);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[3].first_line + 2].line, 3);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_notes_grow_where_entries_are_smaller_than_usual)
{
    enum { N = 5000 };
    struct buffer out;
    struct batch batch;

    buffer_init(&out, 0);
    example_type(&out, PPROF_PROFILE_SAMPLE_TYPE, 1, 2);
    for (uint64_t i = 1; i <= N; i++) { /* interleaved, as Go writes them */
        size_t begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);

        protobuf_put_uint(&out, PPROF_SAMPLE_LOCATION_ID, i);
        protobuf_put_uint(&out, PPROF_SAMPLE_VALUE, i);
        protobuf_end(&out, begin);
        begin = protobuf_begin(&out, PPROF_PROFILE_LOCATION);
        protobuf_put_uint(&out, PPROF_LOCATION_ID, i);
        protobuf_put_uint(&out, PPROF_LOCATION_ADDRESS, 7 * i);
        protobuf_end(&out, begin);
        begin = protobuf_begin(&out, PPROF_PROFILE_FUNCTION);
        protobuf_put_uint(&out, PPROF_FUNCTION_ID, i);
        protobuf_put_uint(&out, PPROF_FUNCTION_NAME, i);
        protobuf_end(&out, begin);
    }
    protobuf_put_bytes_always(&out, PPROF_PROFILE_STRING_TABLE, SLICE(""));
    for (int i = 0; i < N; i++)
        protobuf_put_bytes_always(&out, PPROF_PROFILE_STRING_TABLE, i % 2 ? SLICE("a") : SLICE("b"));
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_EQ(batch.tables.n_strings, N + 1);
    CHECK_EQ(batch.profiles[0].n_samples, N);
    for (uint32_t i = 1; i <= N; i++) {
        uint32_t depth;
        const uint32_t *stack = tables_stack(&batch.tables, i, &depth);

        if (depth != 1 || stack[0] != i || batch.profiles[0].values[i - 1] != (int64_t)i ||
            batch.tables.frames[i].address != 7 * i || batch.tables.functions[i].name != i ||
            tables_string(&batch.tables, i).ptr[0] != (i % 2 ? 'b' : 'a'))
            CHECK_EQ(i, 0);
    }
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_many_inlined_lines_grow_their_table)
{
    struct buffer out;
    struct batch batch;
    uint64_t lines[2 * 300];

    for (uint32_t i = 0; i < 300; i++) {
        lines[2 * i] = 1 + i % 3;
        lines[2 * i + 1] = i;
    }
    buffer_init(&out, 0);
    example_symbols(&out);
    for (uint64_t id = 3; id < 13; id++)
        example_location(&out, id, 0, id, lines, 300);
    example_strings(&out);
    example_decode(buffer_slice(&out), &batch);
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_EQ(batch.tables.n_lines, 3003);
    CHECK_EQ(batch.tables.lines[batch.tables.frames[12].first_line + 299].line, 299);
    batch_done(&batch);
    buffer_done(&out);
}

TEST(pprof_truncated_anywhere_is_refused_or_a_shorter_profile)
{
    struct buffer out;
    uint32_t refused = 0;

    buffer_init(&out, 0);
    example_profile(&out);
    for (size_t len = 0; len < out.len; len++) {
        struct slice part = example_exact_copy(slice_of(out.data, len));
        struct batch batch;
        struct error err = { 0 };

        batch_init(&batch, NULL);
        if (pprof_decode(part, &batch, &err) == 0) {
            CHECK_OK(batch_check(&batch, &err), &err);
        } else {
            CHECK_EQ(err.code, ERR_CORRUPT);
            CHECK_HAS(err.text, "pprof: ");
            refused++;
        }
        batch_done(&batch);
        memory_free((char *)part.ptr);
    }
    CHECK(refused > out.len / 2);
    buffer_done(&out);
}

TEST(pprof_any_changed_byte_is_survived)
{
    static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
    struct buffer out;

    buffer_init(&out, 0);
    example_profile(&out);
    for (size_t at = 0; at < out.len; at++) {
        for (size_t i = 0; i < ARRAY_LEN(values); i++) {
            struct slice changed = example_exact_copy(buffer_slice(&out));
            struct batch batch;
            struct error err = { 0 };

            ((char *)changed.ptr)[at] = (char)values[i];
            batch_init(&batch, NULL);
            if (pprof_decode(changed, &batch, &err) == 0)
                CHECK_OK(batch_check(&batch, &err), &err);
            batch_done(&batch);
            memory_free((char *)changed.ptr);
        }
    }
    buffer_done(&out);
}

/* Decodes a copy of `bytes` with `margin` bytes of an unknown field behind them. */
static int decode_with_margin(struct slice bytes, size_t margin, struct buffer *copy, struct batch *batch,
                              struct error *err)
{
    static const char zeros[2 * PROTOBUF_MARGIN];

    buffer_clear(copy);
    buffer_append_slice(copy, bytes);
    protobuf_put_bytes(copy, 100, slice_of(zeros, margin));
    batch_init(batch, NULL);
    return pprof_decode(buffer_slice(copy), batch, err);
}

TEST(pprof_reads_the_same_at_full_speed_and_with_care)
{
    static const uint8_t values[] = { 0x00, 0x01, 0x03, 0x08, 0x10, 0x22, 0x7f, 0x80, 0xff };
    struct buffer out, copy, other_copy;
    size_t begin, first;

    buffer_init(&out, 0);
    buffer_init(&copy, 0);
    buffer_init(&other_copy, 0);
    example_strings(&out);
    begin = protobuf_begin(&out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_LOCATION_ID, 1, 2);
    EXAMPLE_PACKED(&out, PPROF_SAMPLE_VALUE, 1, 2);
    protobuf_end(&out, begin);
    first = out.len;
    example_symbols(&out);
    /* Near the end of the bytes symbols are read with care, away from it at full speed. */
    for (size_t at = first; at < out.len; at++) {
        for (size_t i = 0; i < ARRAY_LEN(values); i++) {
            struct error err = { 0 }, other_err = { 0 };
            struct batch batch, other;
            char kept = out.data[at];

            out.data[at] = (char)values[i];
            CHECK_EQ(decode_with_margin(buffer_slice(&out), 0, &copy, &batch, &err),
                     decode_with_margin(buffer_slice(&out), 2 * PROTOBUF_MARGIN, &other_copy, &other, &other_err));
            if (batch.n_profiles)
                CHECK_TEXT(same_batch(&batch, &other) ?: "same", "same");
            CHECK_EQ(report_total(&batch.report), report_total(&other.report));
            out.data[at] = kept;
            batch_done(&batch);
            batch_done(&other);
        }
    }
    buffer_done(&out);
    buffer_done(&copy);
    buffer_done(&other_copy);
}

static int decode_once(void *context, struct error *err)
{
    const struct buffer *bytes = context;
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    result = pprof_decode(buffer_slice(bytes), &batch, err);
    batch_done(&batch);
    return result;
}

TEST(pprof_reading_survives_failing_allocations)
{
    struct buffer out;

    buffer_init(&out, 0);
    example_profile(&out);
    test_each_allocation_failing(decode_once, &out);
    buffer_clear(&out);
    profile_with_ids(&out, UINT64_MAX, 1, 800000, 70000); /* the maps of sparse ids */
    test_each_allocation_failing(decode_once, &out);
    buffer_done(&out);
}

TEST(pprof_a_batch_is_used_again_without_allocating)
{
    struct buffer out;
    struct batch batch;
    struct error err = { 0 };

    buffer_init(&out, 0);
    example_profile(&out);
    example_decode(buffer_slice(&out), &batch);
    batch_reset(&batch);
    memory_fail_at(0);
    CHECK_OK(pprof_decode(buffer_slice(&out), &batch, &err), &err);
    CHECK_EQ(memory_fail_at(0), 0);
    batch_done(&batch);
    buffer_done(&out);
}
