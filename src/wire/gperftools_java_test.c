// SPDX-License-Identifier: Apache-2.0
#include "wire/gperftools_example_internal.h"

TEST(gperftools_java_heap_has_names_and_scaled_sizes)
{
    struct batch batch;
    const struct tables *t = &batch.tables;
    const struct frame *frame;

    example_read(SLICE("--- heapz 1 ---\n"
                       "format = java\n"
                       "resolution = bytes\n"
                       "\n"
                       "  7048 1 @ 0x3 0x4 0x5\n"
                       "  4752 9 @ 0x6 0x7 0x9\n"
                       "  4752 0 @ 0x6\n"
                       " 0x00000003 com.example.Worker.run (Worker.java:42)\n"
                       " 0x00000004 com.example.Main.main (Main.java:-1)\n"
                       " 0x00000005 memcpy (/lib/x/libc.so)\n"
                       " 0x6 GC\n"
                       " 0x7 what generated stub/JIT ever\n"
                       " 0x8 nobody.asks (N.java:1)\n"),
                 &batch);
    CHECK_TEXT(example_type_name(&batch, 0), "inuse_objects");
    CHECK_TEXT(example_type_name(&batch, 1), "inuse_space");
    CHECK_TEXT(tables_string(t, batch.profiles[0].types[1].unit), "bytes");
    CHECK_EQ(batch.profiles[0].n_samples, 2);
    CHECK_EQ(example_value(&batch, 0, 0), 74);
    CHECK_EQ(example_value(&batch, 0, 1), 527819);
    frame = example_frame(&batch, 0, 0);
    CHECK_TEXT(example_function_name(&batch, frame, 0), "com.example.Worker.run");
    CHECK_EQ(t->lines[frame->first_line].line, 42);
    CHECK_EQ(frame->address, 0);
    frame = example_frame(&batch, 0, 1);
    CHECK_EQ(t->lines[frame->first_line].line, 0);
    frame = example_frame(&batch, 0, 2);
    CHECK_TEXT(example_function_name(&batch, frame, 0), "memcpy");
    CHECK_TEXT(tables_string(t, t->functions[t->lines[frame->first_line].function].file), "libc.so");
    CHECK_TEXT(example_function_name(&batch, example_frame(&batch, 1, 0), 0), "GC");
    CHECK_TEXT(example_function_name(&batch, example_frame(&batch, 1, 1), 0), "STUB");
    CHECK_EQ(example_frame(&batch, 1, 2)->address, 9);
    CHECK_EQ(report_total(&batch.report), 1); /* bytes of no object */
    batch_done(&batch);
}

TEST(gperftools_java_contention_is_scaled_by_its_period)
{
    struct batch batch;

    example_read(SLICE("--- contentionz 1 ---\n"
                       "format = java\n"
                       "resolution = microseconds\n"
                       "sampling period = 100\n"
                       "ms since reset = 60\n"
                       "  14 2 @ 0x3\n"
                       " 0x3 com.example.Lock.hold (Lock.java:3)\n"),
                 &batch);
    CHECK_TEXT(example_type_name(&batch, 0), "contentions");
    CHECK_TEXT(tables_string(&batch.tables, batch.profiles[0].types[1].unit), "microseconds");
    CHECK_EQ(example_value(&batch, 0, 0), 200);
    CHECK_EQ(example_value(&batch, 0, 1), 1400);
    CHECK_EQ(batch.profiles[0].period, 100);
    CHECK_EQ(batch.profiles[0].duration_ns, 60000000);
    batch_done(&batch);
}
