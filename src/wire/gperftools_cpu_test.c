// SPDX-License-Identifier: Apache-2.0
#include "wire/gperftools_example_internal.h"

TEST(gperftools_cpu_reads_words_of_both_sizes_and_byte_orders)
{
    for (int form = 0; form < 4; form++) {
        struct example_words cpu = example_cpu(form < 2 ? 4 : 8, form % 2 == 1);
        struct batch batch;
        const struct profile *p;

        EXAMPLE_WORDS(&cpu, 5, 2, 0x401234, 0x402222);
        EXAMPLE_WORDS(&cpu, 2, 1, 0x401111);
        EXAMPLE_WORDS(&cpu, 3, 3, 0x401234, 0x403333, 0x404444);
        EXAMPLE_WORDS(&cpu, 0, 1, 0);
        buffer_append_text(&cpu.out, EXAMPLE_MAPS);
        CHECK_EQ(gperftools_recognise(buffer_slice(&cpu.out)), 95);
        example_read(buffer_slice(&cpu.out), &batch);
        p = &batch.profiles[0];
        CHECK_EQ(report_total(&batch.report), 0);
        CHECK_EQ(p->n_types, 2);
        CHECK_TEXT(example_type_name(&batch, 0), "samples");
        CHECK_TEXT(example_type_name(&batch, 1), "cpu");
        CHECK_EQ(p->types[1].nature, VALUE_FLOW);
        CHECK_EQ(p->period, 10000000);
        CHECK_EQ(p->n_samples, 3);
        CHECK_EQ(example_value(&batch, 0, 0), 5);
        CHECK_EQ(example_value(&batch, 0, 1), 50000000);
        CHECK_EQ(p->counts[0], 5);
        CHECK_EQ(profile_total(p, 1), 100000000);
        CHECK_EQ(example_frame(&batch, 0, 0)->address, 0x401234);
        CHECK_EQ(example_frame(&batch, 0, 1)->address, 0x402221); /* in the call */
        CHECK_EQ(example_frame(&batch, 0, 0)->mapping, 1);
        CHECK_TEXT(tables_string(&batch.tables, batch.tables.mappings[1].file), "/usr/bin/app");
        CHECK_HAS(tables_string(&batch.tables, p->drop_frames), "prof_handler");
        batch_done(&batch);
        buffer_done(&cpu.out);
    }
}

TEST(gperftools_cpu_may_lack_its_end_mark)
{
    struct example_words cpu = example_cpu(8, false);
    struct batch batch;

    EXAMPLE_WORDS(&cpu, 5, 1, 0x401234);
    example_read(buffer_slice(&cpu.out), &batch);
    CHECK_EQ(example_value(&batch, 0, 0), 5);
    CHECK_EQ(example_frame(&batch, 0, 0)->mapping, 0);
    batch_done(&batch);
    buffer_done(&cpu.out);
}

TEST(gperftools_cpu_without_samples_is_empty)
{
    struct example_words cpu = example_cpu(8, false);
    struct batch batch;

    EXAMPLE_WORDS(&cpu, 0, 1, 0);
    example_read(buffer_slice(&cpu.out), &batch);
    CHECK_EQ(batch.profiles[0].n_samples, 0);
    CHECK_EQ(batch.profiles[0].n_types, 2);
    batch_done(&batch);
    buffer_done(&cpu.out);
}

TEST(gperftools_cpu_record_that_is_cut_short_is_refused)
{
    struct example_words cpu = example_cpu(8, false);
    struct batch batch;
    struct error err = { 0 };

    EXAMPLE_WORDS(&cpu, 5, 3, 0x401234, 0x402222);
    batch_init(&batch, NULL);
    CHECK_ERROR(gperftools_decode(buffer_slice(&cpu.out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "gperftools: CPU profile, byte 56: a stack reaches past the end");
    buffer_truncate(&cpu.out, 44);
    CHECK_ERROR(gperftools_decode(buffer_slice(&cpu.out), &batch, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "gperftools: CPU profile, byte 40: a record reaches past the end");
    batch_done(&batch);
    buffer_done(&cpu.out);
}

TEST(gperftools_cpu_frames_of_the_signal_handler_are_taken_out)
{
    struct example_words cpu = example_cpu(8, false);
    struct batch batch;

    for (uint64_t i = 0; i < 40; i++)
        EXAMPLE_WORDS(&cpu, 1, 5, 0x401000 + i * 16, 0x77771, 0x77781, 0x402000 + i % 7 * 16, 0x403000);
    EXAMPLE_WORDS(&cpu, 1, 2, 0x405000, 0x406001); /* one in 32 may be without */
    example_read(buffer_slice(&cpu.out), &batch);
    CHECK_EQ(batch.profiles[0].n_samples, 41);
    CHECK_EQ(example_depth(&batch, 0), 3);
    CHECK_EQ(example_frame(&batch, 0, 0)->address, 0x401000);
    CHECK_EQ(example_frame(&batch, 0, 1)->address, 0x401fff);
    CHECK_EQ(example_depth(&batch, 40), 2);
    CHECK_EQ(example_frame(&batch, 40, 1)->address, 0x406000);
    batch_done(&batch);
    buffer_done(&cpu.out);
}

TEST(gperftools_cpu_doubled_leaf_is_one)
{
    struct example_words cpu = example_cpu(8, false);
    struct batch batch;

    EXAMPLE_WORDS(&cpu, 1, 3, 0x401000, 0x401000, 0x402000);
    EXAMPLE_WORDS(&cpu, 1, 3, 0x411000, 0x412000, 0x402000);
    EXAMPLE_WORDS(&cpu, 1, 3, 0x421000, 0x422000, 0x402000);
    example_read(buffer_slice(&cpu.out), &batch);
    CHECK_EQ(example_depth(&batch, 0), 2);
    CHECK_EQ(example_frame(&batch, 0, 1)->address, 0x401fff);
    CHECK_EQ(example_depth(&batch, 1), 3);
    batch_done(&batch);
    buffer_done(&cpu.out);
}

TEST(gperftools_cpu_time_that_does_not_fit_is_cut_and_told)
{
    struct example_words cpu = example_cpu(8, false);
    struct batch batch;

    EXAMPLE_WORDS(&cpu, UINT64_MAX, 1, 0x401000);
    example_read(buffer_slice(&cpu.out), &batch);
    CHECK_EQ(example_value(&batch, 0, 0), INT64_MAX);
    CHECK_EQ(example_value(&batch, 0, 1), INT64_MAX);
    CHECK_EQ(report_count(&batch.report, "time of a sample does not fit in 64 bits; cut"), 1);
    batch_done(&batch);
    buffer_done(&cpu.out);
}

TEST(gperftools_cpu_of_java_has_names)
{
    struct example_words cpu = { .word_bytes = 8 };
    struct batch batch;
    const struct frame *frame;

    buffer_init(&cpu.out, 0);
    EXAMPLE_WORDS(&cpu, 0, 3, 1, 10000, 0, 4, 2, 3, 9, 0, 1, 0);
    buffer_append_text(&cpu.out, " 0x3 com.example.Worker.run (Worker.java:42)\n");
    example_read(buffer_slice(&cpu.out), &batch);
    frame = example_frame(&batch, 0, 0);
    CHECK_TEXT(example_function_name(&batch, frame, 0), "com.example.Worker.run");
    CHECK_EQ(frame->address, 0);
    CHECK_EQ(example_frame(&batch, 0, 1)->address, 9); /* has no name, and is not moved */
    batch_done(&batch);
    buffer_done(&cpu.out);
}
