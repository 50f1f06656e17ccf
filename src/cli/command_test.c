// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/test.h"
#include "cli/command_sample.h"
#include "cli/commands.h"

#include <stdlib.h>

/* What a run printed. */
static struct {
    char *out;
    char *messages;
    size_t out_len;
    size_t messages_len;
    int status;
} ran;

static const char *environment[2]; /* a variable for the next run only, and the end */

static void forget_run(void)
{
    free(ran.out);
    free(ran.messages);
    ran.out = ran.messages = NULL;
}

__attribute__((destructor)) static void teardown(void)
{
    forget_run();
}

static void run(const struct command_set *set, const char *const *argv)
{
    struct command_world world = { .environment = environment, .has_colour = true, .width = 80 };
    int argc = 0;

    forget_run();
    while (argv[argc])
        argc++;
    world.out = open_memstream(&ran.out, &ran.out_len);
    world.messages = open_memstream(&ran.messages, &ran.messages_len);
    ran.status = command_main(set, &world, argc, argv);
    fclose(world.out);
    fclose(world.messages);
    environment[0] = NULL;
}
#define RUN(...) run(&command_sample, (const char *const[]){ "sample", __VA_ARGS__, NULL })

static void check_usage_error(const char *messages)
{
    CHECK_TEXT(ran.messages, messages);
    CHECK_TEXT(ran.out, "");
    CHECK_EQ(ran.status, 2);
}

TEST(command_runs_with_its_options_and_arguments)
{
    RUN("top", "-n5", "a", "--sort=total", "b", "--label", "x=1", "--label=y=2", "--focus", "main");
    CHECK_TEXT(ran.messages, "");
    CHECK_TEXT(ran.out, "lines 5, colour 1, debug 0, files a b\n");
    CHECK_EQ(ran.status, 0);
    CHECK_EQ(command_sample_config.sort, SAMPLE_SORT_TOTAL);
    CHECK(command_sample_config.cumulative);
    CHECK_EQ(command_sample_config.filter.labels.n, 2);
}

TEST(command_takes_global_options_before_and_behind_its_name)
{
    RUN("--log-level=debug", "top", "--no-color", "a");
    CHECK_TEXT(ran.out, "lines 30, colour 0, debug 1, files a\n");
    RUN("--no-color", "top", "a", "--log-level", "error");
    CHECK_TEXT(ran.out, "lines 30, colour 0, debug 0, files a\n");
}

TEST(command_reads_environment_and_file_in_their_order)
{
    char path[100];
    struct error err;

    snprintf(path, sizeof(path), "%s/sample.yaml", test_directory());
    CHECK_OK(fs_write_file(path, SLICE("lines: 7\nsort: total\nlog-level: debug\n"), &err), &err);
    RUN("--config", path, "top", "a");
    CHECK_TEXT(ran.out, "lines 7, colour 1, debug 1, files a\n");
    CHECK_EQ(command_sample_config.sort, SAMPLE_SORT_TOTAL);
    environment[0] = "HEARTH_LINES=8";
    RUN("top", "a", "--config", path);
    CHECK_TEXT(ran.out, "lines 8, colour 1, debug 1, files a\n");
    environment[0] = "HEARTH_LINES=8";
    RUN("top", "a", "--config", path, "-n9");
    CHECK_TEXT(ran.out, "lines 9, colour 1, debug 1, files a\n");
    RUN("top", "a", "--log-level=info");
}

TEST(command_names_the_place_of_a_mistake_in_its_file)
{
    char path[100], wanted[300];
    struct error err;

    snprintf(path, sizeof(path), "%s/sample.yaml", test_directory());
    CHECK_OK(fs_write_file(path, SLICE("\nlnes: 7\n"), &err), &err);
    RUN("top", "a", "--config", path);
    snprintf(wanted, sizeof(wanted), "sample: %s:2: unknown key 'lnes'; did you mean 'lines'?\n", path);
    CHECK_TEXT(ran.messages, wanted);
    CHECK_EQ(ran.status, 1);
    RUN("top", "a", "--config", "missing.yaml");
    CHECK_HAS(ran.messages, "missing.yaml");
    CHECK_HAS(ran.messages, "No such file");
    CHECK_EQ(ran.status, 1);
}

TEST(command_leaves_keys_of_other_commands_alone)
{
    char path[100], wanted[300];
    struct error err;

    snprintf(path, sizeof(path), "%s/sample.yaml", test_directory());
    CHECK_OK(fs_write_file(path, SLICE("lines: 7\nsort: nonsense here\nfocus: main\nscrape_configs:\n- job_name: a\n"),
                           &err),
             &err);
    RUN("tree", "a", "verdict", "--config", path); /* tree has no lines and no sort */
    CHECK_TEXT(ran.messages, "sample: 'a' is damaged?[31m\n");
    RUN("--print-config", "--config", path);
    CHECK_TEXT(ran.messages, "");
    CHECK_EQ(ran.status, 0);

    CHECK_OK(fs_write_file(path, SLICE("lines: 7\nsrot: self\n"), &err), &err);
    RUN("tree", "a", "b", "--config", path);
    snprintf(wanted, sizeof(wanted), "sample: %s:2: unknown key 'srot'; did you mean 'sort'?\n", path);
    CHECK_TEXT(ran.messages, wanted);
    CHECK_EQ(ran.status, 1);
}

TEST(command_warns_of_variables_that_no_command_has)
{
    environment[0] = "HEARTH_LNES=7";
    RUN("top", "a");
    CHECK_TEXT(ran.messages, "sample: warning: HEARTH_LNES is no option; did you mean HEARTH_LINES?\n");
    CHECK_TEXT(ran.out, "lines 30, colour 1, debug 0, files a\n");
    CHECK_EQ(ran.status, 0);
    environment[0] = "HEARTH_LNES=7";
    RUN("fail", "verdict"); /* a command without options names those of others */
    CHECK_TEXT(ran.messages, "sample: warning: HEARTH_LNES is no option; did you mean HEARTH_LINES?\n");
    CHECK_EQ(ran.status, 3);
    environment[0] = "HEARTH_ZEBRA\x1b[31m=7";
    RUN("top", "a");
    CHECK_TEXT(ran.messages, "sample: warning: HEARTH_ZEBRA?[31m is no option of any command and is ignored\n");
    environment[0] = "HEARTH_LINES=many";
    RUN("fail", "verdict");
    CHECK_TEXT(ran.messages, "");
    environment[0] = "HEARTH_LNES=7";
    RUN("--version");
    CHECK_TEXT(ran.messages, "");
}

TEST(command_notes_what_was_done_unless_the_log_level_is_higher)
{
    RUN("fail", "note");
    CHECK_TEXT(ran.messages, "sample: blue?[31m was chosen\n");
    CHECK_TEXT(ran.out, "before\n");
    RUN("fail", "note", "--log-level", "warn");
    CHECK_TEXT(ran.messages, "");
}

TEST(command_line_mistakes_are_named_with_the_way_to_help)
{
    RUN("tpo");
    check_usage_error("sample: unknown command 'tpo'; did you mean 'top'?\nsample: run 'sample --help' for help\n");
    RUN("zebra");
    check_usage_error("sample: unknown command 'zebra'\nsample: run 'sample --help' for help\n");
    RUN("fial");
    check_usage_error("sample: unknown command 'fial'\nsample: run 'sample --help' for help\n");
    RUN("--log-levl=debug", "top");
    check_usage_error("sample: unknown option '--log-levl'; did you mean '--log-level'?\n"
                      "sample: run 'sample --help' for help\n");
    RUN("top", "--lnes", "5", "a");
    check_usage_error("sample: unknown option '--lnes'; did you mean '--lines'?\n"
                      "sample: run 'sample top --help' for help\n");
    RUN("top", "-n", "many", "a");
    check_usage_error("sample: -n: 'many' is not a whole number from 0; write digits, like 30\n"
                      "sample: run 'sample top --help' for help\n");
    environment[0] = "HEARTH_SORT=name";
    RUN("top", "a");
    check_usage_error("sample: HEARTH_SORT: 'name' is unknown; write one of self, total\n"
                      "sample: run 'sample top --help' for help\n");
}

TEST(command_counts_its_arguments)
{
    RUN("top");
    check_usage_error("sample: 'sample top' needs FILE: A profile; '-' is standard input.\n"
                      "sample: run 'sample top --help' for help\n");
    RUN("tree", "one");
    check_usage_error("sample: 'sample tree' needs OUT: The result.\nsample: run 'sample tree --help' for help\n");
    RUN("fail", "verdict", "b", "c", "d");
    check_usage_error("sample: 'sample fail' has no use for the argument 'd'\n"
                      "sample: run 'sample fail --help' for help\n");
    RUN("fail", "verdict", "b", "c");
    CHECK_EQ(ran.status, 3);
}

TEST(command_errors_choose_the_exit_status)
{
    RUN("fail", "x.pb");
    CHECK_TEXT(ran.out, "before\n");
    CHECK_TEXT(ran.messages, "sample: 'x.pb' is damaged?[31m\n");
    CHECK_EQ(ran.status, 1);
    RUN("fail", "usage");
    CHECK_EQ(ran.status, 2);
    RUN("fail", "verdict");
    CHECK_EQ(ran.status, 3);
    CHECK_TEXT(ran.messages, "");
}

TEST(command_shows_help_and_version_instead_of_working)
{
    run(&command_sample, (const char *const[]){ "sample", NULL });
    CHECK_HAS(ran.out, "Usage: sample COMMAND");
    CHECK_EQ(ran.status, 0);
    RUN("--help");
    CHECK_HAS(ran.out, "Usage: sample COMMAND");
    RUN("help");
    CHECK_HAS(ran.out, "Usage: sample COMMAND");
    RUN("top", "-h");
    CHECK_HAS(ran.out, "Usage: sample top");
    CHECK_EQ(ran.status, 0);
    RUN("--help", "top");
    CHECK_HAS(ran.out, "Usage: sample top");
    RUN("help", "top");
    CHECK_HAS(ran.out, "Usage: sample top");
    RUN("help", "tpo");
    check_usage_error("sample: unknown command 'tpo'; did you mean 'top'?\nsample: run 'sample --help' for help\n");
    RUN("top", "--version");
    CHECK_HAS(ran.out, "sample ");
    CHECK_EQ(ran.status, 0);
}

TEST(command_prints_its_effective_options)
{
    environment[0] = "HEARTH_SHARE=50%";
    RUN("top", "--print-config", "-n5");
    CHECK_HAS(ran.out, "lines: 5                             # -n\n");
    CHECK_HAS(ran.out, "share: 50%                           # HEARTH_SHARE\n");
    CHECK_HAS(ran.out, "log-level: info                      # default\n");
    CHECK_HAS(ran.out, "label: []                            # default\n");
    CHECK_EQ(ran.status, 0);
    RUN("--print-config");
    CHECK_HAS(ran.out, "color: true");
}

/* A standard output that fails from the first write on; the buffer of stdio is too small to hide it. */
TEST(command_notices_output_that_failed_during_the_work)
{
    struct command_world world = { .environment = environment, .width = 80 };
    const char *const argv[] = { "sample", "top", "--help" };

    forget_run();
    world.out = fopen("/dev/full", "w");
    if (!world.out)
        test_skip("/dev/full cannot be opened");
    setvbuf(world.out, NULL, _IONBF, 0);
    world.messages = open_memstream(&ran.messages, &ran.messages_len);
    ran.status = command_main(&command_sample, &world, ARRAY_LEN(argv), argv);
    fclose(world.messages);
    fclose(world.out);
    CHECK_TEXT(ran.messages, "sample: standard output took only a part of what was printed\n");
    CHECK_EQ(ran.status, 1);
}

TEST(command_notices_output_that_does_not_arrive)
{
    struct command_world world = { .environment = environment, .width = 80 };
    const char *const argv[] = { "sample", "top", "a" };

    forget_run();
    world.out = fopen("/dev/full", "w");
    if (!world.out)
        test_skip("/dev/full cannot be opened");
    world.messages = open_memstream(&ran.messages, &ran.messages_len);
    ran.status = command_main(&command_sample, &world, ARRAY_LEN(argv), argv);
    fclose(world.messages);
    fclose(world.out);
    CHECK_TEXT(ran.messages, "sample: writing standard output: No space left on device\n");
    CHECK_EQ(ran.status, 1);
}

TEST(command_survives_every_failing_allocation)
{
    for (uint64_t nth = 1;; nth++) {
        memory_fail_at(nth);
        RUN("top", "a", "-n5", "--label=x");
        if (memory_fail_at(0) < nth)
            break;
        CHECK_EQ(ran.status, 1);
        CHECK_HAS(ran.messages, "out of memory");
    }
    CHECK_EQ(ran.status, 0);
}

/* Binding runs the assertions of base/options on each table. */
TEST(command_tables_of_hearth_are_sound)
{
    for (size_t i = 0; i < commands.n; i++) {
        const struct command *command = commands.commands[i];
        const char *const argv[] = { "hearth", command->name, "--print-config", NULL };
        unsigned open_ended = 0;

        CHECK(command->summary && command->description && command->run);
        CHECK(!slice_ends_with(slice_from(command->summary), SLICE(".")));
        CHECK(slice_ends_with(slice_from(command->description), SLICE(".")));
        CHECK_EQ(command_find(&commands, slice_from(command->name)) == command, true);
        for (size_t a = 0; a < command_arguments_n(command); a++) {
            CHECK(command->arguments[a].max >= MAX(command->arguments[a].min, 1));
            CHECK(slice_ends_with(slice_from(command->arguments[a].help), SLICE(".")));
            open_ended += command->arguments[a].max > command->arguments[a].min;
        }
        CHECK(open_ended <= 1);
        CHECK_EQ(command_groups_n(command) > 0, command->config_bytes > 0);
        run(&commands, argv);
        CHECK_TEXT(ran.messages, "");
        CHECK_EQ(ran.status, 0);
    }
}

TEST(command_version_prints_name_and_version)
{
    run(&commands, (const char *const[]){ "hearth", "version", NULL });
    CHECK_HAS(ran.out, "hearth ");
    CHECK_EQ(slice_find_byte(slice_from(ran.out), '\n'), ran.out_len - 1);
    CHECK_EQ(ran.status, 0);
}

/* --- for somebody else --- */

/* What a served run told. */
static struct {
    char text[200];
    enum log_level level;
    unsigned n;
} told;

static void note_told(void *self UNUSED, enum log_level level, struct slice text)
{
    snprintf(told.text, sizeof(told.text), "%.*s", SLICE_ARG(text));
    told.level = level;
    told.n++;
}

static int serve(const struct command_call *call, int *ret_status, struct error *err)
{
    const char *const variables[] = { "HEARTH_LINES=8", NULL };
    struct command_served served = { .query_bytes = 1 << 20, .tell = note_told };
    struct command_world world = { .environment = variables, .has_colour = true, .width = 80, .served = &served };
    int result;

    forget_run();
    told.n = 0;
    world.out = open_memstream(&ran.out, &ran.out_len);
    result = command_serve(&command_sample, &world, call, ret_status, err);
    fclose(world.out);
    return result;
}

TEST(command_is_served_with_values_and_without_surroundings)
{
    const struct command *top = command_find(&command_sample, SLICE("top"));
    const struct command_value values[] = { { "label", "x=1" }, { "label", "y=2" }, { "sort", "total" } };
    const char *const files[] = { "a" };
    int status = -1;
    struct error err;

    CHECK_OK(serve(&(struct command_call){ top, values, ARRAY_LEN(values), { files, 1 } }, &status, &err), &err);
    CHECK_TEXT(ran.out, "lines 30, colour 1, debug 0, files a\n");
    CHECK_EQ(status, 0);
    CHECK_EQ(command_sample_config.filter.labels.n, 2);
    CHECK_EQ(command_sample_config.sort, SAMPLE_SORT_TOTAL);
}

TEST(command_that_is_served_has_no_global_options_and_says_what_is_wrong)
{
    const struct command *top = command_find(&command_sample, SLICE("top"));
    const struct command_value wrong = { "lines", "many" }, global = { "log-level", "debug" };
    const char *const files[] = { "a" };
    int status = -1;
    struct error err;

    CHECK_ERROR(serve(&(struct command_call){ top, &wrong, 1, { files, 1 } }, &status, &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "--lines: ");
    CHECK_ERROR(serve(&(struct command_call){ top, &global, 1, { files, 1 } }, &status, &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "unknown option '--log-level'");
    CHECK_ERROR(serve(&(struct command_call){ top, NULL, 0, { NULL, 0 } }, &status, &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "'sample top' needs ");
    CHECK_EQ(status, -1);
}

TEST(command_tells_whoever_it_is_served_for)
{
    struct command_served served = { .tell = note_told };
    struct command_world world = { .served = &served };
    struct command_context context = { .set = &command_sample, .world = &world };

    told.n = 0;
    log_set_level(LOG_ERROR); /* the server's own level is another matter */
    command_note(&context, "chosen: %d", 7);
    log_set_level(LOG_INFO);
    CHECK_EQ(told.n, 1);
    CHECK_TEXT(told.text, "chosen: 7");
    CHECK_EQ(told.level, LOG_INFO);
    command_warn(&context, "beware");
    CHECK_EQ(told.level, LOG_WARN);
}

TEST(command_has_as_much_time_as_both_sides_allow)
{
    atomic_bool is_gone = false;
    struct command_served served = { .timeout_ns = 5,
                                     .deadline_mono_ns = clock_mono_ns() - 1,
                                     .is_cancelled = &is_gone };
    struct command_world world = { .served = &served };
    struct command_context context = { .world = &world };
    struct command_patience patience = command_patience(&context, 30 * CLOCK_NS_PER_SECOND);
    struct error err;

    CHECK(patience.is_server_s);
    CHECK_EQ(patience.deadline_mono_ns, served.deadline_mono_ns);
    error_set(&err, ERR_TIMEOUT, "too slow");
    CHECK_EQ(command_too_slow(&patience, &err), -1);
    CHECK_TEXT(err.text, "the server's --query-timeout 5ns: too slow");
    CHECK_ERROR(command_check_asker(&context, &err), &err, ERR_TIMEOUT);
    is_gone = true;
    CHECK_ERROR(command_check_asker(&context, &err), &err, ERR_CANCELLED);
    served = (struct command_served){ .is_cancelled = NULL };
    CHECK_OK(command_check_asker(&context, &err), &err);
    CHECK_EQ(command_patience(&context, 0).deadline_mono_ns, 0);
    patience = command_patience(&context, CLOCK_NS_PER_SECOND);
    CHECK(!patience.is_server_s && patience.deadline_mono_ns > clock_mono_ns());
}
