// SPDX-License-Identifier: Apache-2.0
#include "wire/folded.h"

#include "base/test.h"
#include "pack/unpacker.h"

static const struct format_write_options defaults = { .type = PROFILE_NO_TYPE };

static void decode(struct batch *batch, const char *text)
{
    struct error err;

    batch_init(batch, NULL);
    CHECK_OK(folded_decode(slice_from(text), batch, &err), &err);
    CHECK_OK(batch_check(batch, &err), &err);
    CHECK_EQ(batch->n_profiles, 1);
}

/* What `text` looks like after reading and writing it. */
static const char *rewritten(const char *text)
{
    static char result[4096];
    struct batch batch;
    struct buffer out;
    struct error err;

    decode(&batch, text);
    buffer_init(&out, sizeof(result) - 1);
    CHECK_OK(folded_encode(&batch, &defaults, &out, &err), &err);
    memcpy(result, out.data ? out.data : "", out.len);
    result[out.len] = '\0';
    buffer_done(&out);
    batch_done(&batch);
    return result;
}

static struct slice line_name(const struct batch *batch, const struct frame *frame, uint32_t line)
{
    const struct tables *t = &batch->tables;

    return tables_string(t, t->functions[t->lines[frame->first_line + line].function].name);
}

TEST(folded_reads_stacks_root_first)
{
    struct batch batch;
    const struct profile *p;
    const uint32_t *frames;
    uint32_t depth;

    decode(&batch, "main;parse file;read 12\nmain 3\n");
    p = &batch.profiles[0];
    CHECK_EQ(p->n_types, 1);
    CHECK_TEXT(tables_string(&batch.tables, p->types[0].type), "samples");
    CHECK_TEXT(tables_string(&batch.tables, p->types[0].unit), "count");
    CHECK_EQ(p->n_samples, 2);
    CHECK_EQ(p->values[0], 12);
    frames = tables_stack(&batch.tables, p->stacks[0], &depth);
    CHECK_EQ(depth, 3);
    CHECK_TEXT(line_name(&batch, &batch.tables.frames[frames[0]], 0), "read");
    CHECK_TEXT(line_name(&batch, &batch.tables.frames[frames[1]], 0), "parse file");
    CHECK_TEXT(line_name(&batch, &batch.tables.frames[frames[2]], 0), "main");
    CHECK_EQ(report_total(&batch.report), 0);
    batch_done(&batch);
}

TEST(folded_makes_inlined_frames_lines_of_their_caller)
{
    struct batch batch;
    const struct frame *frame;
    const uint32_t *frames;
    uint32_t depth;

    decode(&batch, "main;a;b_[i];c_[i];d 1\n");
    frames = tables_stack(&batch.tables, batch.profiles[0].stacks[0], &depth);
    CHECK_EQ(depth, 3);
    frame = &batch.tables.frames[frames[1]];
    CHECK_EQ(frame->n_lines, 3);
    CHECK_TEXT(line_name(&batch, frame, 0), "c");
    CHECK_TEXT(line_name(&batch, frame, 1), "b");
    CHECK_TEXT(line_name(&batch, frame, 2), "a");
    batch_done(&batch);
    CHECK_TEXT(rewritten("main;a;b_[i];c_[i];d 1\n"), "main;a;b_[i];c_[i];d 1\n");
    CHECK_TEXT(rewritten("first_[i];b 1\n"), "first;b 1\n");
}

TEST(folded_keeps_annotations)
{
    struct batch batch;
    const uint32_t *frames;
    uint32_t depth;
    static const enum frame_kind wanted[] = { FRAME_KERNEL, FRAME_JIT, FRAME_JVM, FRAME_JIT, FRAME_UNKNOWN };

    decode(&batch, "n;c1_[1];i_[0];j_[j];k_[k] 1\n");
    frames = tables_stack(&batch.tables, batch.profiles[0].stacks[0], &depth);
    CHECK_EQ(depth, 5);
    for (uint32_t i = 0; i < depth; i++)
        CHECK_EQ(batch.tables.frames[frames[i]].kind, wanted[i]);
    batch_done(&batch);
    CHECK_TEXT(rewritten("n;c1_[1];i_[0];j_[j];k_[k] 1\n"), "n;c1_[j];i;j_[j];k_[k] 1\n");
    CHECK_TEXT(rewritten("_[k];x_[z] 1\n"), "_[k];x_[z] 1\n");
}

TEST(folded_keeps_frames_without_names)
{
    struct batch batch;
    const struct frame *frame;

    decode(&batch, "[libc.so.6]+0x1234 1\n");
    frame = &batch.tables.frames[batch.tables.stack_frames[0]];
    CHECK_EQ(frame->n_lines, 0);
    CHECK_EQ(frame->address, 0x1234);
    CHECK_TEXT(tables_string(&batch.tables, batch.tables.mappings[frame->mapping].file), "libc.so.6");
    batch_done(&batch);
    CHECK_TEXT(rewritten("[libc.so.6]+0x1234;0x7f00_[k];[unknown];[vdso];0xyz 1\n"),
               "[libc.so.6]+0x1234;0x7f00_[k];[unknown];[vdso];0xyz 1\n");
}

TEST(folded_writes_the_offset_in_the_file)
{
    struct slice strings[] = { SLICE(""), SLICE("/usr/lib/libm.so"), SLICE("t"), SLICE("u") };
    struct mapping mappings[] = { { 0 }, { .start = 0x5000, .limit = 0x9000, .offset = 0x1000, .file = 1 } };
    struct function functions[1] = { { 0 } };
    struct frame frames[] = { { 0 }, { .address = 0x5010, .mapping = 1 } };
    uint32_t stack_frames[] = { 1 }, stack_starts[] = { 0, 0, 1 }, no_labels[] = { 0, 0 }, stacks[] = { 1, 0 };
    struct link links[1] = { { { 0 }, { 0 } } };
    struct value_type types[] = { { .type = 2, .unit = 3 } };
    int64_t values[] = { 5, 7 };
    struct batch batch;
    struct profile profile = { .tables = &batch.tables,
                               .types = types,
                               .n_types = 1,
                               .n_samples = 2,
                               .stride = 2,
                               .stacks = stacks,
                               .values = values };
    struct buffer out;
    struct error err;

    batch_init(&batch, NULL);
    batch.tables = (struct tables){ .strings = strings,
                                    .mappings = mappings,
                                    .functions = functions,
                                    .frames = frames,
                                    .stack_frames = stack_frames,
                                    .stack_starts = stack_starts,
                                    .label_set_starts = no_labels,
                                    .links = links,
                                    .n_strings = 4,
                                    .n_mappings = 2,
                                    .n_functions = 1,
                                    .n_frames = 2,
                                    .n_stack_frames = 1,
                                    .n_stacks = 2,
                                    .n_label_sets = 1,
                                    .n_links = 1 };
    batch.profiles = &profile;
    batch.n_profiles = 1;
    CHECK_OK(batch_check(&batch, &err), &err);
    buffer_init(&out, 0);
    CHECK_OK(folded_encode(&batch, &defaults, &out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), "[libm.so]+0x1010 5\n[no stack] 7\n");
    buffer_done(&out);
    batch_done(&batch);
}

TEST(folded_tolerates_what_tools_write)
{
    CHECK_TEXT(rewritten("# comment 1\r\na;b 1\r\n\r\n   \n\ta;b\t2 \n"), " a;b 2\na;b 1\n");
    CHECK_TEXT(rewritten("a;b 1\na;b 2\nz 0\nq 1\nq -1"), "a;b 3\n");
    CHECK_TEXT(rewritten(""), "");
}

TEST(folded_rounds_decimals_and_says_so)
{
    struct batch batch;

    decode(&batch, "a 1.6\nb 2.0\nc 3\n");
    CHECK_EQ(batch.profiles[0].values[0], 2);
    CHECK_EQ(batch.profiles[0].values[1], 2);
    CHECK_EQ(report_count(&batch.report, "count of folded text was not whole; rounded"), 2);
    CHECK_TEXT(batch.report.entries[0].example, "line 1: now 2");
    batch_done(&batch);
}

TEST(folded_drops_lines_without_a_count_naming_the_first)
{
    struct batch batch;

    decode(&batch, "a;b 1\n\nno count here\nx 0x10\ny 1e3\nz 99999999999999999999\nonly\n7\n");
    CHECK_EQ(batch.profiles[0].n_samples, 1);
    CHECK_EQ(report_count(&batch.report, "line of folded text without a count at its end; dropped"), 5);
    CHECK_TEXT(batch.report.entries[0].example, "line 3: 'no count here'");
    batch_done(&batch);
}

TEST(folded_refuses_text_without_any_count)
{
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_ERROR(folded_decode(SLICE("just\nwords\n"), &batch, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "folded text: not one of 2 lines ends in a space and a count");
    batch_done(&batch);
}

TEST(folded_leaves_empty_frames_out)
{
    struct batch batch;

    decode(&batch, "a;;b; 1\n 4\n");
    CHECK_EQ(report_count(&batch.report, "empty frame name in folded text; left out"), 3);
    batch_done(&batch);
    CHECK_TEXT(rewritten("a;;b; 1\n 4\n"), "[no stack] 4\na;b 1\n");
}

TEST(folded_reads_differential_text_as_two_types)
{
    struct batch batch;
    struct format_write_options before = { .type = 0 };
    struct buffer out;
    struct error err;

    decode(&batch, "a;b 10 20\nc 5 0\n");
    CHECK_EQ(batch.profiles[0].n_types, 2);
    CHECK_TEXT(tables_string(&batch.tables, batch.profiles[0].types[0].type), "before");
    CHECK_TEXT(tables_string(&batch.tables, batch.profiles[0].types[1].type), "after");
    CHECK_EQ(profile_total(&batch.profiles[0], 0), 15);
    CHECK_EQ(profile_total(&batch.profiles[0], 1), 20);
    buffer_init(&out, 0);
    CHECK_OK(folded_encode(&batch, &before, &out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), "a;b 10\nc 5\n");
    before.type = 2;
    CHECK_ERROR(folded_encode(&batch, &before, &out, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "the profile has 2 value types, there is no type 2");
    buffer_done(&out);
    batch_done(&batch);
    CHECK_TEXT(rewritten("a;b 10 20\nc 5\n"), "a;b 10 20\nc 5\n");
}

TEST(folded_wants_exactly_one_profile)
{
    struct batch batch;
    struct buffer out;
    struct error err;

    batch_init(&batch, NULL);
    buffer_init(&out, 0);
    CHECK_ERROR(folded_encode(&batch, &defaults, &out, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "folded text holds one profile, not 0; merge them first");
    batch_done(&batch);
}

TEST(folded_cuts_deep_stacks_at_the_root)
{
    struct profile_limits limits = profile_default_limits;
    struct batch batch;
    struct error err;
    uint32_t depth;
    const uint32_t *frames;

    limits.max_depth = 2;
    batch_init(&batch, &limits);
    CHECK_OK(folded_decode(SLICE("a;b;c 1\nx;i1_[i];i2_[i] 1\n"), &batch, &err), &err);
    frames = tables_stack(&batch.tables, batch.profiles[0].stacks[0], &depth);
    CHECK_EQ(depth, 2);
    CHECK_TEXT(line_name(&batch, &batch.tables.frames[frames[0]], 0), "c");
    frames = tables_stack(&batch.tables, batch.profiles[0].stacks[1], &depth);
    CHECK_EQ(depth, 2);
    CHECK_EQ(batch.tables.frames[frames[1]].n_lines, 2);
    CHECK_EQ(report_total(&batch.report), 1);
    batch_done(&batch);
}

TEST(folded_packs_when_asked)
{
    struct format_write_options options = { .type = PROFILE_NO_TYPE, .pack = PACK_GZIP };
    struct batch batch;
    struct buffer out;
    struct error err;

    decode(&batch, "a;b 1\n");
    buffer_init(&out, 0);
    CHECK_OK(folded_encode(&batch, &options, &out, &err), &err);
    CHECK_EQ(compress_sniff(buffer_slice(&out)), PACK_GZIP);
    buffer_clear(&out);
    options.plain = true;
    CHECK_OK(folded_encode(&batch, &options, &out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), "a;b 1\n");
    buffer_done(&out);
    batch_done(&batch);
}

TEST(folded_is_recognised_by_its_lines)
{
    CHECK_EQ(folded_recognise(SLICE("a;b 1\nc 2\n")), 70);
    CHECK_EQ(folded_recognise(SLICE("main 17")), 30);
    CHECK_EQ(folded_recognise(SLICE("")), 0);
    CHECK_EQ(folded_recognise(SLICE("# only a comment 1\n")), 0);
    CHECK_EQ(folded_recognise(SLICE("a;b 1\nno count\nnor here\n")), 0);
    CHECK_EQ(folded_recognise(SLICE("{\"a\":\n [1, 2]}\n")), 0);
    CHECK_EQ(folded_recognise(SLICE("a;b\x01 1\n")), 0);
}

static int read_and_write(void *context, struct error *err)
{
    struct batch batch;
    struct buffer out;
    int result;

    batch_init(&batch, NULL);
    buffer_init(&out, 0);
    result = folded_decode(SLICE("a;b_[i];[m]+0x1 1\nc 2\n"), &batch, err);
    if (result == 0)
        result = folded_encode(&batch, context, &out, err);
    buffer_done(&out);
    batch_done(&batch);
    return result;
}

TEST(folded_survives_lack_of_memory)
{
    struct format_write_options packed = { .type = PROFILE_NO_TYPE, .pack = PACK_GZIP };

    test_each_allocation_failing(read_and_write, (void *)&defaults);
    test_each_allocation_failing(read_and_write, &packed);
}

TEST(folded_survives_every_truncation)
{
    const char *text = "main;a;b_[i];k_[k] 12\n[libc.so]+0xff;0x1 3.5\n";

    for (size_t len = 0; len <= strlen(text); len++) {
        struct batch batch;
        struct error err;

        batch_init(&batch, NULL);
        if (folded_decode(slice_of(text, len), &batch, &err) == 0)
            CHECK_OK(batch_check(&batch, &err), &err);
        batch_done(&batch);
    }
}

TEST(folded_with_damaged_lines_is_recognised_faintly)
{
    CHECK_EQ(folded_recognise(SLICE("a;b 1\nno count here\na;c 2\n")), 20);
    CHECK_EQ(folded_recognise(SLICE("a;b 1\na;\x1b 2\na;c 2\n")), 20);
    CHECK_EQ(folded_recognise(SLICE("a;b\nno count here\na;c 2\n")), 0);
}

TEST(folded_names_may_begin_with_a_hash)
{
    CHECK_TEXT(rewritten("#private;x 5\n# comment 3\n## more 4\na;b 1\n"), "#private;x 5\na;b 1\n");
}

TEST(folded_keeps_to_the_limits_of_samples_and_strings)
{
    struct profile_limits limits = profile_default_limits;
    struct batch batch;
    struct error err;

    limits.max_samples = 2;
    batch_init(&batch, &limits);
    CHECK_ERROR(folded_decode(SLICE("a 1\nb 1\nc 1\n"), &batch, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "line 3 is one sample more than the limit of 2");
    batch_done(&batch);
    limits.max_samples = 100;
    limits.max_strings = 5;
    batch_init(&batch, &limits);
    CHECK_ERROR(folded_decode(SLICE("a;b 1\nc;d;e;f 1\n"), &batch, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "limit of 5 strings");
    batch_done(&batch);
}

TEST(folded_count_that_does_not_fit_is_told_as_such)
{
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(folded_decode(SLICE("a;b 99999999999999999999\na 1\n"), &batch, &err), &err);
    CHECK_EQ(report_count(&batch.report, "count of folded text does not fit in 64 bits; dropped"), 1);
    CHECK_EQ(profile_total(&batch.profiles[0], 0), 1);
    batch_done(&batch);
}
