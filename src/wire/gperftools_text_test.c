// SPDX-License-Identifier: Apache-2.0
#include "wire/gperftools_example_internal.h"
#include "wire/gperftools_internal.h"

TEST(gperftools_heap_counts_are_scaled_up)
{
    struct batch batch;
    const struct profile *p;
    const struct label *labels;
    uint32_t n;

    example_read(SLICE(EXAMPLE_HEAP), &batch);
    p = &batch.profiles[0];
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_EQ(p->n_types, 4);
    CHECK_TEXT(example_type_name(&batch, 0), "alloc_objects");
    CHECK_TEXT(example_type_name(&batch, 3), "inuse_space");
    CHECK_EQ(p->types[3].nature, VALUE_LEVEL);
    CHECK_EQ(p->period, 524288);
    CHECK_EQ(p->n_samples, 2);
    /* 1 / (1 - exp(-(bytes / objects) / 524288)) times as many */
    CHECK_EQ(example_value(&batch, 0, 0), 478);
    CHECK_EQ(example_value(&batch, 0, 1), 4763533);
    CHECK_EQ(example_value(&batch, 0, 2), 2622);
    CHECK_EQ(example_value(&batch, 0, 3), 1048976);
    labels = tables_label_set(&batch.tables, profile_label_set(p, 0), &n);
    CHECK_EQ(n, 1);
    CHECK_TEXT(tables_string(&batch.tables, labels[0].key), "bytes");
    CHECK_EQ(labels[0].number, 400);
    CHECK_EQ(example_frame(&batch, 0, 0)->address, 0x401233); /* the leaf is a return address here, too */
    CHECK_EQ(example_frame(&batch, 1, 1)->address, 0x7f0000004fff);
    CHECK_TEXT(tables_string(&batch.tables, batch.tables.mappings[example_frame(&batch, 1, 1)->mapping].file),
               "/lib/libc.so.6");
    CHECK_HAS(tables_string(&batch.tables, p->drop_frames), "malloc");
    batch_done(&batch);
}

TEST(gperftools_heap_kinds_differ_in_period_and_scaling)
{
    static const struct {
        const char *text;
        int64_t period, objects, bytes;
        uint32_t n_types;
    } cases[] = {
        { "heap profile: 2: 800 [2: 800] @ heapprofile\n2: 800 [2: 800] @ 0x1\n", 1, 2, 800, 2 },
        { "heap profile: 2: 800 [0: 0] @ heap_v2/1\n2: 800 [0: 0] @ 0x1\n", 1, 2, 800, 2 },
        { "heap profile: 2: 800 [2: 800] @ heapz_v2\n2: 800 [2: 800] @ 0x1\n", 1, 2, 800, 2 },
        { "heap profile: 2: 800 [2: 800] @ heap/1024\n2: 800 [2: 800] @ 0x1\n", 512, 3, 1475, 2 },
        { "heap profile: 2: 800 [9: 900] @ growth\n2: 800 [9: 900] @ 0x1\n", 1, 2, 800, 2 },
        { "heap profile: 2: 800 [9: 900] @ fragmentationz\n2: 800 [9: 900] @ 0x1\n", 1, 2, 800, 2 },
        { "heap profile: 2: 800 [2: 900] @ heapprofile\n-2: -800 [2: 900] @ 0x1\n", 1, -2, -800, 4 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct batch batch;

        example_read(slice_from(cases[i].text), &batch);
        CHECK_EQ(batch.profiles[0].period, cases[i].period);
        CHECK_EQ(batch.profiles[0].n_types, cases[i].n_types);
        CHECK_EQ(example_value(&batch, 0, cases[i].n_types - 2), cases[i].objects);
        CHECK_EQ(example_value(&batch, 0, cases[i].n_types - 1), cases[i].bytes);
        batch_done(&batch);
    }
}

TEST(gperftools_heap_scaling_knows_its_edges)
{
    int64_t count = 5, size = 0;

    gperftools_scale_heap(&count, &size, 100);
    CHECK_EQ(count, 0);
    count = INT64_MAX;
    size = INT64_MAX;
    gperftools_scale_heap(&count, &size, INT64_MAX);
    CHECK_EQ(count, INT64_MAX);
    CHECK_EQ(size, INT64_MAX);
    count = 3;
    size = 9;
    gperftools_scale_heap(&count, &size, 0);
    CHECK_EQ(count, 3);
}

TEST(gperftools_lines_that_are_no_samples_are_skipped_and_told)
{
    struct batch batch;

    example_read(SLICE("heap profile: 1: 2 [ 1: 2] @ heapprofile\n"
                       "1: 2 [ 1: 2] @ 0x1\n"
                       "what is this\n"
                       "0: 7 [ 1: 2] @ 0x1\n" /* bytes of no object */
                       "1: 2 [ 1: 2 @ 0x1\n"
                       "3: 4 [ 3: 4] @ 0x2 and something else\n"),
                 &batch);
    CHECK_EQ(batch.profiles[0].n_samples, 2);
    CHECK_EQ(profile_total(&batch.profiles[0], 1), 6);
    CHECK_EQ(report_count(&batch.report, "line of an old text profile is no sample; skipped"), 3);
    CHECK_TEXT(batch.report.entries[0].example, "byte 60: 'what is this'");
    batch_done(&batch);
}

TEST(gperftools_counts_have_the_name_of_the_profile)
{
    struct batch batch;

    example_read(SLICE("# a comment\n"
                       "threadcreate profile: total 12\r\n"
                       "4 @ 0x40be31 0x402ac8\n"
                       "8 @ 0x0 0x0\n"
                       "x @ 0x1\n"
                       "--- Memory map: ---\n" EXAMPLE_MAPS),
                 &batch);
    CHECK_TEXT(example_type_name(&batch, 0), "threadcreate");
    CHECK_EQ(batch.profiles[0].period, 1);
    CHECK_EQ(batch.profiles[0].n_samples, 2);
    CHECK_EQ(example_value(&batch, 0, 0), 4);
    CHECK_EQ(example_frame(&batch, 0, 1)->address, 0x402ac7);
    CHECK_EQ(example_frame(&batch, 0, 1)->mapping, 1);
    CHECK_EQ(example_depth(&batch, 1), 0); /* no code lives at 0 */
    CHECK_EQ(report_total(&batch.report), 1);
    batch_done(&batch);
}

TEST(gperftools_contention_is_scaled_by_period_and_clock)
{
    struct batch batch;
    const struct profile *p;

    example_read(SLICE("--- contentionz 1 ---\n"
                       "cycles/second = 2000000000\n"
                       "sampling period = 100\n"
                       "ms since reset = 16502\n"
                       "discarded samples = 0\n"
                       "  3000 27 @ 0x401234 0x402222\n"
                       "   768 1 @ 0x401111\n"
                       "--- Memory map: ---\n" EXAMPLE_MAPS),
                 &batch);
    p = &batch.profiles[0];
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_TEXT(example_type_name(&batch, 0), "contentions");
    CHECK_TEXT(example_type_name(&batch, 1), "delay");
    CHECK_EQ(example_value(&batch, 0, 0), 2700);
    CHECK_EQ(example_value(&batch, 0, 1), 150000); /* half a nanosecond to the cycle */
    CHECK_EQ(p->period, 100);
    CHECK_EQ(p->duration_ns, 16502000000);
    CHECK_EQ(example_frame(&batch, 0, 0)->address, 0x401233);
    CHECK_EQ(example_frame(&batch, 0, 0)->mapping, 1);
    CHECK_HAS(tables_string(&batch.tables, p->drop_frames), "Unlock");
    batch_done(&batch);
}

TEST(gperftools_contention_of_go_has_names)
{
    struct batch batch;

    example_read(SLICE("--- mutex:\ncycles/second=1000000000\nsampling period=1\n"
                       "748 79 @ 0x4dc2c7 0x4dc2c6\n"
                       "#\t0x4dc2c6\tsync.(*Mutex).Unlock+0x66\tsync/mutex.go:65\n"
                       "#\t0x4dc2c5\tmain.worker+0x65\t\tm.go:18\n"),
                 &batch);
    CHECK_EQ(example_value(&batch, 0, 0), 79);
    CHECK_EQ(example_value(&batch, 0, 1), 748);
    CHECK_TEXT(example_function_name(&batch, example_frame(&batch, 0, 0), 0), "sync.(*Mutex).Unlock");
    CHECK_TEXT(example_function_name(&batch, example_frame(&batch, 0, 1), 0), "main.worker");
    CHECK_EQ(batch.profiles[0].drop_frames, 0);
    batch_done(&batch);
}

TEST(gperftools_threads_with_the_same_stack_are_counted)
{
    struct batch batch;

    example_read(SLICE("--- threadz 1 ---\n"
                       "\n"
                       "--- Thread 7f794ab90940 (name: main/14748) stack: ---\n"
                       "  PC: 0x00401234 func\n"
                       "  0x00402222 main\n"
                       "--- Thread 7f794abb4700 (name: one/14752) stack: ---\n"
                       " 0x00401111 0x00401111 0x403333\n" /* the leaf twice */
                       "--- Thread 7f7949093700 (name: two/14754) stack: ---\n"
                       "  [same as previous thread]\n"
                       "--- Memory map: ---\n" EXAMPLE_MAPS),
                 &batch);
    CHECK_TEXT(example_type_name(&batch, 0), "thread");
    CHECK_EQ(batch.profiles[0].n_samples, 2);
    CHECK_EQ(example_value(&batch, 0, 0), 1);
    CHECK_EQ(example_value(&batch, 1, 0), 2);
    CHECK_EQ(example_frame(&batch, 0, 0)->address, 0x401234);
    CHECK_EQ(example_frame(&batch, 0, 1)->address, 0x402221);
    CHECK_EQ(example_depth(&batch, 1), 2);
    CHECK_EQ(example_frame(&batch, 1, 1)->mapping, 1);
    batch_done(&batch);
}

TEST(gperftools_threads_end_where_stacks_could_not_be_had)
{
    struct batch batch;

    example_read(SLICE("--- Thread 1 (name: a/1) stack: ---\n  [same as previous thread]\n"
                       "--- Thread 2 (name: b/2) stack: ---\n  0x5\n"
                       "---- no stack trace for 3\n"
                       "--- Thread 4 (name: d/4) stack: ---\n  0x7\n"),
                 &batch);
    CHECK_EQ(batch.profiles[0].n_samples, 1);
    CHECK_EQ(example_frame(&batch, 0, 0)->address, 5);
    batch_done(&batch);
}
