// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include "base/test.h"
#include "cli/command_sample.h"

static const char set_page[] = //
    "Usage: sample COMMAND [OPTIONS] [ARGUMENTS]\n"
    "\n"
    "sample shows what the tables of a program turn into.\n"
    "\n"
    "Commands:\n"
    "  top                       Show the functions that cost most\n"
    "  tree                      Show calls as a tree\n"
    "  help                      Explain a command\n"
    "\n"
    "Global options:\n"
    "      --config FILE         Read options from this YAML file. Flags and\n"
    "                            environment variables win over it.\n"
    "      --log-level LEVEL     How much to log to standard error. One of error,\n"
    "                            warn, info, debug. Default: info. Also\n"
    "                            PYROSCOPE_LOG_LEVEL. Can be changed while running\n"
    "                            (SIGHUP).\n"
    "      --log-format FORMAT   How log lines look: for people, or one JSON object a\n"
    "                            line. One of text, json. Default: text.\n"
    "      --[no-]color          Colour the output when it goes to a terminal. A\n"
    "                            NO_COLOR variable turns colours off too.\n"
    "      --print-config        Print the value of every option and where it came\n"
    "                            from, as a configuration file, and exit.\n"
    "  -h, --help                Print help and exit.\n"
    "      --version             Print the version and exit.\n"
    "\n"
    "Run 'sample help COMMAND' for the options and examples of a command.\n";

static const char top_page[] = //
    "Usage: sample top [OPTIONS] FILE...\n"
    "\n"
    "Reads profiles, merges them and prints one row for each function, the costliest\n"
    "first.\n"
    "\n"
    "Rows show what a function costs itself and with everything that it calls.\n"
    "\n"
    "Arguments:\n"
    "  FILE...                   A profile; '-' is standard input.\n"
    "\n"
    "Options:\n"
    "  -n, --lines N             How many rows to show. From 1 to 1000. Default: 30.\n"
    "      --json                Print JSON. It's for programs [and jq]: no colours.\n"
    "      --[no-]cumulative     Count callees too.\n"
    "      --share PERCENT       Stop at this share of the total. Default: 90%.\n"
    "  -o, --output FILE         Write to this file.\n"
    "      --work-dir DIR        Keep temporary files here. Also --scratch-path,\n"
    "                            OTHER_SCRATCH. Can be changed while running\n"
    "                            (SIGHUP).\n"
    "      --sort WORD           What to sort by. One of self, total. Default: self.\n"
    "\n"
    "Filters:\n"
    "      --focus REGEX         Keep stacks with a matching function.\n"
    "  -l, --label KEY=VALUE     Keep samples with this label. May be given several\n"
    "                            times.\n"
    "\n"
    "Global options:\n"
    "      --config FILE         Read options from this YAML file. Flags and\n"
    "                            environment variables win over it.\n"
    "      --log-level LEVEL     How much to log to standard error. One of error,\n"
    "                            warn, info, debug. Default: info. Also\n"
    "                            PYROSCOPE_LOG_LEVEL. Can be changed while running\n"
    "                            (SIGHUP).\n"
    "      --log-format FORMAT   How log lines look: for people, or one JSON object a\n"
    "                            line. One of text, json. Default: text.\n"
    "      --[no-]color          Colour the output when it goes to a terminal. A\n"
    "                            NO_COLOR variable turns colours off too.\n"
    "      --print-config        Print the value of every option and where it came\n"
    "                            from, as a configuration file, and exit.\n"
    "  -h, --help                Print help and exit.\n"
    "      --version             Print the version and exit.\n"
    "\n"
    "Examples:\n"
    "  sample top -n 5 cpu.pb.gz\n"
    "      Shows the five costliest functions.\n"
    "  sample top --focus '^json' a.pb b.pb\n"
    "      Merges two profiles and looks at one library.\n";

static void check_page(struct buffer *out, const char *wanted)
{
    struct error err;

    CHECK_OK(buffer_check(out, &err), &err);
    CHECK_TEXT(buffer_slice(out), wanted);
    buffer_clear(out);
}

static const struct command *top(void)
{
    return command_find(&command_sample, SLICE("top"));
}

TEST(help_of_the_program_lists_its_commands)
{
    struct buffer out;

    buffer_init(&out, 0);
    help_print_set(&command_sample, 80, &out);
    check_page(&out, set_page);
    buffer_done(&out);
}

TEST(help_of_a_command_shows_all_that_its_table_holds)
{
    struct buffer out;

    buffer_init(&out, 0);
    help_print_command(&command_sample, top(), 80, &out);
    check_page(&out, top_page);
    buffer_done(&out);
}

/* The longest line of a page. */
static size_t width_of(struct slice page)
{
    struct slice line;
    size_t width = 0;

    while (slice_next_line(&page, &line))
        width = MAX(width, line.len);
    return width;
}

TEST(help_stays_within_the_width_of_the_terminal)
{
    struct buffer out;

    buffer_init(&out, 0);
    for (unsigned width = 48; width <= 160; width++) {
        help_print_command(&command_sample, top(), width, &out);
        help_print_set(&command_sample, width, &out);
        CHECK(width_of(buffer_slice(&out)) <= MAX(width, 69)); /* the last sentence of help is one line of 69 */
        buffer_clear(&out);
    }
    buffer_done(&out);
}

TEST(help_gives_a_long_label_a_line_of_its_own)
{
    static const struct option_spec specs[] = {
        { "a-very-long-option-name-indeed", OPTION_TEXT, { 0, OPTION_FIELD_TEXT }, NULL, "Is long." },
    };
    const struct command command = {
        .name = "c",
        .description = "Does.",
        .options = { OPTION_GROUP("Options", specs) },
    };
    struct buffer out;

    buffer_init(&out, 0);
    help_print_command(&command_sample, &command, 80, &out);
    CHECK_HAS(buffer_slice(&out), "      --a-very-long-option-name-indeed TEXT\n"
                                  "                            Is long.\n");
    buffer_done(&out);
}

static void check_notes(const struct option_spec *spec, const char *wanted)
{
    struct buffer out;

    buffer_init(&out, 0);
    help_print_notes(spec, &out);
    check_page(&out, wanted);
    buffer_done(&out);
}

TEST(help_notes_say_what_the_row_says)
{
    static const char *const words[] = { "a", "b", NULL };

    check_notes(&(struct option_spec){ .type = OPTION_TEXT }, "");
    check_notes(&(struct option_spec){ .type = OPTION_BOOL, .default_text = "true" }, "");
    check_notes(&(struct option_spec){ .type = OPTION_UINT, .default_text = "5" }, "Default: 5.");
    check_notes(&(struct option_spec){ .type = OPTION_UINT, .min = "1" }, "At least 1.");
    check_notes(&(struct option_spec){ .type = OPTION_UINT, .max = "9" }, "At most 9.");
    check_notes(&(struct option_spec){ .type = OPTION_PERCENT }, "");
    check_notes(&(struct option_spec){ .type = OPTION_PERCENT, .min = "1%" }, "From 1% to 100%.");
    check_notes(&(struct option_spec){ .type = OPTION_LIST, .default_text = "x" },
                "May be given several times. Default: x.");
    check_notes(&(struct option_spec){ .type = OPTION_ENUM, .words = words }, "One of a, b.");
}

static void check_usage(const struct command *command, const char *wanted)
{
    struct buffer out;

    buffer_init(&out, 0);
    help_print_usage(&command_sample, command, &out);
    check_page(&out, wanted);
    buffer_done(&out);
}

TEST(help_usage_shows_what_must_and_what_may_be_given)
{
    check_usage(top(), "sample top [OPTIONS] FILE...");
    check_usage(command_find(&command_sample, SLICE("tree")), "sample tree [OPTIONS] IN... OUT");
    check_usage(command_find(&command_sample, SLICE("fail")), "sample fail HOW [WHY...]");
    check_usage(command_find(&command_sample, SLICE("help")), "sample help [COMMAND]");
}

static int print_top(void *context, struct error *err)
{
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    help_print_command(&command_sample, top(), 80, &out);
    result = buffer_check(&out, err);
    if (result == 0)
        CHECK_TEXT(buffer_slice(&out), top_page);
    buffer_done(&out);
    return result;
}

TEST(help_reports_every_failing_allocation)
{
    test_each_allocation_failing(print_top, NULL);
}
