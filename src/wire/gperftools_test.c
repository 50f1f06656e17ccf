// SPDX-License-Identifier: Apache-2.0
#include "wire/gperftools_example_internal.h"

TEST(gperftools_recognises_each_format_by_its_beginning)
{
    static const char *const yes[] = {
        EXAMPLE_HEAP,
        EXAMPLE_GOROUTINES,
        "\n# comment\nthreadcreate profile: total 12\n4 @ 0x1\n",
        "heap profile: 0: 0 [ 0: 0] @ heapprofile\n",
        "heap profile: 1: 2 [ 3: 4] @ heap/1048576\n",
        "heap profile: 1: 2 [ 3: 4] @ growthz\n",
        "--- contentionz 1 ---\n",
        "--- contention:\ncycles/second=1\n",
        "--- mutex:\n",
        "--- threadz 1 ---\n",
        "--- Thread 7f12 (name: worker/17) stack: ---\n",
        "--- heapz 1 ---\nformat = java\n",
    };
    static const char *const no[] = {
        "",
        "main;work 12\n",
        "heap profile: none\n",
        "heap profile: 1: 2 [ 3: 4] @ somethingelse\n",
        "goroutine profile: total many\n",
        "goroutine profile: total 5 and more\n",
        " profile: total 5\n",
        "--- heapz 1 ---\nformat = other\n",
        "--- Thread (name: worker/17) stack: ---\n",
        "--- other\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        CHECK_EQ(gperftools_recognise(slice_from(yes[i])), 95);
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        CHECK_EQ(gperftools_recognise(slice_from(no[i])), 0);
}

TEST(gperftools_refuses_what_it_does_not_recognise)
{
    struct batch batch;
    struct error err = { 0 };

    batch_init(&batch, NULL);
    CHECK_ERROR(gperftools_decode(SLICE("main;work 12\n"), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "gperftools: begins with none of");
    CHECK_ERROR(gperftools_decode(SLICE(""), &batch, &err), &err, ERR_CORRUPT);
    batch_done(&batch);
}

TEST(gperftools_takes_the_names_that_go_wrote_as_comments)
{
    struct batch batch;
    const struct tables *t = &batch.tables;
    const struct frame *frame;

    example_read(SLICE(EXAMPLE_GOROUTINES), &batch);
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_EQ(batch.profiles[0].n_samples, 2);
    CHECK_EQ(example_depth(&batch, 0), 4);
    CHECK_EQ(example_frame(&batch, 0, 0)->n_lines, 0); /* a runtime frame that Go hides */
    CHECK_EQ(example_frame(&batch, 0, 0)->address, 0x47e78d);
    frame = example_frame(&batch, 0, 1);
    CHECK_EQ(frame->address, 0x41590d);
    CHECK_TEXT(example_function_name(&batch, frame, 0), "main.wait[int, string]");
    CHECK_EQ(t->lines[frame->first_line].line, 81);
    CHECK_TEXT(tables_string(t, t->functions[t->lines[frame->first_line].function].file), "/src/wait.go");
    CHECK_TEXT(example_function_name(&batch, example_frame(&batch, 0, 2), 0), "main.loop");
    /* The second sample has no names of its own. */
    CHECK_TEXT(example_function_name(&batch, example_frame(&batch, 1, 0), 0), "main.wait[int, string]");
    batch_done(&batch);
}

TEST(gperftools_several_names_at_one_address_are_inlined_calls_and_repeated_ones_recursion)
{
    struct batch batch;
    const struct frame *frame;

    example_read(SLICE("goroutine profile: total 1\n"
                       "1 @ 0x101 0x201 0x201\n"
                       "#\t0x100\tmain.inner+0x1\ta.go:1\n"
                       "#\t0x100\tmain.outer+0x1\ta.go:2\n"
                       "#\t0x200\tmain.again+0x1\ta.go:3\n"
                       "#\t0x200\tmain.again+0x1\ta.go:3\n"),
                 &batch);
    CHECK_EQ(example_depth(&batch, 0), 3);
    frame = example_frame(&batch, 0, 0);
    CHECK_EQ(frame->n_lines, 2);
    CHECK_TEXT(example_function_name(&batch, frame, 0), "main.inner");
    CHECK_TEXT(example_function_name(&batch, frame, 1), "main.outer");
    CHECK_EQ(example_frame(&batch, 0, 1)->n_lines, 1);
    CHECK_EQ(example_frame(&batch, 0, 2)->n_lines, 1);
    batch_done(&batch);
}

TEST(gperftools_comments_that_are_no_names_are_passed_over)
{
    struct batch batch;

    example_read(SLICE("goroutine profile: total 1\n"
                       "1 @ 0x101\n"
                       "#\t0x100\n"
                       "#\tnot an address\n"
                       "#\t0x\tname\n"
                       "# NumGC = 4\n"),
                 &batch);
    CHECK_EQ(example_frame(&batch, 0, 0)->n_lines, 0);
    batch_done(&batch);
}

TEST(gperftools_equal_samples_are_added_up)
{
    struct batch batch;

    example_read(SLICE("goroutine profile: total 7\n3 @ 0x101 0x201\n4 @ 0x101 0x201\n"), &batch);
    CHECK_EQ(batch.profiles[0].n_samples, 1);
    CHECK_EQ(example_value(&batch, 0, 0), 7);
    batch_done(&batch);
}

TEST(gperftools_limits_hold)
{
    struct profile_limits limits = profile_default_limits;
    struct batch batch;
    struct error err = { 0 };

    limits.max_samples = 1;
    batch_init(&batch, &limits);
    CHECK_ERROR(gperftools_decode(SLICE(EXAMPLE_HEAP), &batch, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "gperftools: reading samples: ");
    batch_done(&batch);
    limits = profile_default_limits;
    limits.max_depth = 2;
    batch_init(&batch, &limits);
    CHECK_OK(gperftools_decode(SLICE(EXAMPLE_GOROUTINES), &batch, &err), &err);
    CHECK_EQ(example_depth(&batch, 0), 2);
    CHECK_EQ(report_total(&batch.report), 1);
    batch_done(&batch);
    limits = profile_default_limits;
    limits.max_memory_bytes = 64;
    batch_init(&batch, &limits);
    CHECK_ERROR(gperftools_decode(SLICE(EXAMPLE_GOROUTINES), &batch, &err), &err, ERR_LIMIT);
    batch_done(&batch);
}

static void read_changed(struct slice bytes)
{
    struct error err = { 0 };
    struct batch batch;
    char *copy = memory_alloc(bytes.len, &err);

    CHECK(copy);
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    batch_init(&batch, NULL);
    if (gperftools_decode(slice_of(copy, bytes.len), &batch, &err) == 0)
        CHECK_OK(batch_check(&batch, &err), &err);
    else
        CHECK_EQ(err.code, ERR_CORRUPT);
    batch_done(&batch);
    memory_free(copy);
}

TEST(gperftools_truncated_anywhere_is_refused_or_a_shorter_profile)
{
    struct slice texts[] = { SLICE(EXAMPLE_HEAP), SLICE(EXAMPLE_GOROUTINES) };
    struct example_words cpu = example_cpu(8, false);

    EXAMPLE_WORDS(&cpu, 5, 2, 0x401234, 0x402222, 0, 1, 0);
    buffer_append_text(&cpu.out, EXAMPLE_MAPS);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (size_t len = 0; len <= texts[i].len; len++)
            read_changed(slice_sub(texts[i], 0, len));
    for (size_t len = 0; len <= cpu.out.len; len++)
        read_changed(slice_sub(buffer_slice(&cpu.out), 0, len));
    buffer_done(&cpu.out);
}

static int decode_once(void *context, struct error *err)
{
    struct slice *bytes = context;
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    result = gperftools_decode(*bytes, &batch, err);
    batch_done(&batch);
    return result;
}

TEST(gperftools_reading_survives_failing_allocations)
{
    struct example_words cpu = example_cpu(4, true);
    struct slice inputs[] = {
        SLICE(EXAMPLE_HEAP),
        SLICE(EXAMPLE_GOROUTINES),
        SLICE("--- contentionz 1 ---\n 7 1 @ 0x1\n--- Memory map: ---\na=/opt\n1-2: $a/b\n"),
        SLICE("--- heapz 1 ---\nformat = java\n 7 1 @ 0x3\n0x3 name (File.java:1)\n"),
        { 0 },
    };

    EXAMPLE_WORDS(&cpu, 5, 2, 0x401234, 0x402222, 0, 1, 0);
    inputs[4] = buffer_slice(&cpu.out);
    for (size_t i = 0; i < ARRAY_LEN(inputs); i++)
        test_each_allocation_failing(decode_once, &inputs[i]);
    buffer_done(&cpu.out);
}
