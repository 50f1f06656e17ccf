// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include "base/fs.h"
#include "base/test.h"

#include <stdlib.h>

/* A context whose messages go to memory, and the defaults of the options. */
struct stage {
    struct arena arena;
    struct input_config config;
    struct command_world world;
    struct command_context context;
    char *messages;
    size_t messages_len;
};

static void stage_init(struct stage *stage)
{
    static const struct command_set set = { .name = "hearth" };
    struct option_group reading = { .title = "Reading", .specs = input_options, .n = INPUT_OPTIONS_N };
    struct option_group merging = { .title = "Merging", .specs = input_merge_options, .n = INPUT_MERGE_OPTIONS_N };
    struct options *options;
    struct error err;

    *stage = (struct stage){ 0 };
    arena_init(&stage->arena, 0);
    CHECK_OK(options_new(&stage->arena, &options, &err), &err);
    CHECK_OK(options_bind(options, &reading, &stage->config, &err), &err);
    CHECK_OK(options_bind(options, &merging, &stage->config, &err), &err);
    stage->world.messages = open_memstream(&stage->messages, &stage->messages_len);
    stage->context = (struct command_context){ .set = &set, .world = &stage->world, .arena = &stage->arena };
}

static void stage_done(struct stage *stage)
{
    fclose(stage->world.messages);
    free(stage->messages);
    arena_done(&stage->arena);
}

/* Writes a file into the test's directory and gives its path. */
static const char *file_with(struct stage *stage, const char *name, const char *content)
{
    struct error err;
    char *path = arena_printf(&stage->arena, &err, "%s/%s", test_directory(), name);

    CHECK(path != NULL);
    CHECK_OK(fs_write_file(path, slice_from(content), &err), &err);
    return path;
}

TEST(input_defaults_are_the_limits_of_the_model)
{
    struct stage stage;

    stage_init(&stage);
    CHECK_EQ(stage.config.max_inflated_bytes, profile_default_limits.max_inflated_bytes);
    CHECK_EQ(stage.config.max_memory_bytes, profile_default_limits.max_memory_bytes);
    CHECK_EQ(stage.config.max_samples, profile_default_limits.max_samples);
    CHECK_EQ(stage.config.max_strings, profile_default_limits.max_strings);
    CHECK_EQ(stage.config.max_depth, profile_default_limits.max_depth);
    CHECK_EQ(stage.config.max_labels, profile_default_limits.max_labels_per_sample);
    stage_done(&stage);
}

TEST(input_merges_files_and_tells_what_was_dropped_by_file)
{
    struct stage stage;
    struct input input;
    struct error err;

    stage_init(&stage);
    const char *files[] = { file_with(&stage, "a.folded", "main;work 3\nmain 1\n"),
                            file_with(&stage, "b.folded", "main;work 4\nmain 1\nmain;idle 2\nno count\n") };

    CHECK_OK(input_open(&input, &stage.context, &stage.config, (struct option_list){ files, 2 }, INPUT_MERGED, &err),
             &err);
    CHECK_EQ(input.batch.n_profiles, 1);
    CHECK_EQ(input.n_files, 2);
    CHECK_EQ(input.n_profiles, 2);
    CHECK_EQ(input.batch.profiles[0].n_samples, 3);
    CHECK_EQ(profile_total(&input.batch.profiles[0], 0), 11);
    fflush(stage.world.messages);
    CHECK_HAS(stage.messages, "hearth: warning: ");
    CHECK_HAS(stage.messages, "b.folded: line of folded text without a count at its end; dropped (line 4");
    input_close(&input);
    stage_done(&stage);
}

/* Every format we write, one byte at a time, plain and compressed as is its custom. */
TEST(input_reads_the_same_through_short_reads)
{
    struct stage stage;
    struct input source;
    struct error err;

    stage_init(&stage);
    const char *folded = file_with(&stage, "a.folded", "main;work_[i];read_[k] 3\nmain 1\n");

    CHECK_OK(input_open(&source, &stage.context, &stage.config, (struct option_list){ &folded, 1 }, INPUT_MERGED, &err),
             &err);
    for (const struct format *format = formats; format->name; format++) {
        struct format_write_options options = { .type = PROFILE_NO_TYPE };
        const char *path = arena_printf(&stage.arena, &err, "%s/x", test_directory());
        struct buffer written;
        struct input input;

        if (!format->encode)
            continue;
        buffer_init(&written, 0);
        CHECK_OK(format->encode(&source.batch, &options, &written, &err), &err);
        CHECK_OK(fs_write_file(path, buffer_slice(&written), &err), &err);
        fs_short_io(1);
        CHECK_OK(
            input_open(&input, &stage.context, &stage.config, (struct option_list){ &path, 1 }, INPUT_MERGED, &err),
            &err);
        fs_short_io(0);
        CHECK_TEXT(input.format->name, format->name);
        CHECK_EQ(input.batch.profiles[0].n_samples, 2);
        CHECK_EQ(profile_total(&input.batch.profiles[0], 0), 4);
        input_close(&input);
        buffer_done(&written);
    }
    input_close(&source);
    stage_done(&stage);
}

TEST(input_errors_name_the_file)
{
    struct stage stage;
    struct input input;
    struct error err;

    stage_init(&stage);
    const char *files[] = { file_with(&stage, "x", "\x01\x02\x03") };

    CHECK_ERROR(input_open(&input, &stage.context, &stage.config, (struct option_list){ files, 1 }, INPUT_AS_IS, &err),
                &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "/x'");
    files[0] = "/nowhere/at/all";
    CHECK_ERROR(input_open(&input, &stage.context, &stage.config, (struct option_list){ files, 1 }, INPUT_AS_IS, &err),
                &err, ERR_NOT_FOUND);
    stage_done(&stage);
}

TEST(input_reads_files_one_by_one_and_goes_on_after_a_bad_one)
{
    struct stage stage;
    struct input input;
    struct error err;

    stage_init(&stage);
    const char *good = file_with(&stage, "a.folded", "main;work 3\nmain 1\n");
    const char *bad = file_with(&stage, "x", "\x01\x02\x03");

    CHECK_OK(input_start(&input, &stage.config, &err), &err);
    CHECK_OK(input_read(&input, &stage.context, &stage.config, good, &err), &err);
    CHECK_EQ(input.batch.n_profiles, 1);
    CHECK_ERROR(input_read(&input, &stage.context, &stage.config, bad, &err), &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "/x'");
    CHECK_OK(input_read(&input, &stage.context, &stage.config, good, &err), &err);
    CHECK_EQ(input.batch.n_profiles, 1);
    CHECK_EQ(profile_total(&input.batch.profiles[0], 0), 4);
    CHECK_EQ(input.n_files, 2);
    input_close(&input);
    stage_done(&stage);
}

/* Opens the file named by context.config twice over. */
static int open_failing(void *context, struct error *err)
{
    struct stage *stage = context;
    const char *files[] = { stage->context.config, stage->context.config };
    struct input input;

    if (input_open(&input, &stage->context, &stage->config, (struct option_list){ files, 2 }, INPUT_MERGED, err) < 0)
        return -1;
    input_close(&input);
    return 0;
}

TEST(input_survives_any_failing_allocation)
{
    struct stage stage;

    stage_init(&stage);
    stage.context.config = file_with(&stage, "a.folded", "main;work 3\nmain 1\n");
    test_each_allocation_failing(open_failing, &stage);
    stage_done(&stage);
}

/* Fails the nth file call; the error then is of files, not of memory. */
TEST(input_reports_failing_file_calls)
{
    struct stage stage;
    const char *file;

    stage_init(&stage);
    file = file_with(&stage, "a.folded", "main;work 3\nmain 1\n");
    for (uint64_t nth = 1; nth < 100; nth++) {
        struct input input;
        struct error err;
        int result;

        fs_fail_at(nth, 5 /* EIO */);
        result =
            input_open(&input, &stage.context, &stage.config, (struct option_list){ &file, 1 }, INPUT_MERGED, &err);
        if (result == 0)
            input_close(&input);
        else
            CHECK_HAS(err.text, "a.folded");
        if (fs_fail_at(0, 0) < nth) {
            CHECK_EQ(result, 0);
            break;
        }
    }
    stage_done(&stage);
}
