// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include "base/fs.h"
#include "base/test.h"
#include "base/version.h"
#include "cli/command_sample.h"
#include "cli/commands.h"

#include <stdlib.h>

static const char set_page[] = //
    ".TH SAMPLE 1 \"\" \"sample 1.2.3\" \"sample manual\"\n"
    ".SH NAME\n"
    "sample \\- A program for tests\n"
    ".SH SYNOPSIS\n"
    "\\fBsample\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n"
    ".SH DESCRIPTION\n"
    "sample shows what the tables of a program turn into.\n"
    ".SH COMMANDS\n"
    ".TP\n"
    ".BR sample\\-top (1)\n"
    "Show the functions that cost most.\n"
    ".TP\n"
    ".BR sample\\-tree (1)\n"
    "Show calls as a tree.\n"
    ".TP\n"
    ".BR sample\\-help (1)\n"
    "Explain a command.\n"
    ".SH GLOBAL OPTIONS\n"
    ".TP\n"
    "\\fB\\-\\-config\\fR \\fIFILE\\fR\n"
    "Read options from this YAML file.\n"
    "Flags and environment variables win over it.\n"
    "Variable: HEARTH_CONFIG.\n"
    ".TP\n"
    "\\fB\\-\\-log\\-level\\fR \\fILEVEL\\fR\n"
    "How much to log to standard error.\n"
    "One of error, warn, info, debug.\n"
    "Default: info.\n"
    "Also PYROSCOPE_LOG_LEVEL.\n"
    "Can be changed while running (SIGHUP).\n"
    "Variable: HEARTH_LOG_LEVEL.\n"
    ".TP\n"
    "\\fB\\-\\-log\\-format\\fR \\fIFORMAT\\fR\n"
    "How log lines look: for people, or one JSON object a line.\n"
    "One of text, json.\n"
    "Default: text.\n"
    "Variable: HEARTH_LOG_FORMAT.\n"
    ".TP\n"
    "\\fB\\-\\-\\fR[\\fBno\\-\\fR]\\fBcolor\\fR\n"
    "Colour the output when it goes to a terminal.\n"
    "A NO_COLOR variable turns colours off too.\n"
    "Variable: HEARTH_COLOR.\n"
    ".TP\n"
    "\\fB\\-\\-print\\-config\\fR\n"
    "Print the value of every option and where it came from, as a configuration file, and exit.\n"
    ".TP\n"
    "\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
    "Print help and exit.\n"
    ".TP\n"
    "\\fB\\-\\-version\\fR\n"
    "Print the version and exit.\n"
    ".SH CONFIGURATION\n"
    "Each option can be given as a flag, as an environment variable and as a key of a YAML file.\n"
    "The flag wins over the variable, the variable over the file, and the file over the default.\n"
    ".PP\n"
    "The variable of an option is its name in capitals behind HEARTH_, with underscores for dashes and dots.\n"
    "Lists are separated by commas.\n"
    "An empty variable counts as absent.\n"
    ".PP\n"
    "The file is named by \\-\\-config.\n"
    "Its keys are the names of the options; a dot in a name may also be written as a nested map.\n"
    "Options that may be given several times take a list.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    "\\fBNO_COLOR\\fR\n"
    "When it is set and not empty, nothing is coloured.\n"
    ".SH EXIT STATUS\n"
    ".TP\n"
    "\\fB0\\fR\n"
    "All went well.\n"
    ".TP\n"
    "\\fB1\\fR\n"
    "The work could not be done; a message says why.\n"
    ".TP\n"
    "\\fB2\\fR\n"
    "The command line or a variable was wrong; a message says how.\n";

static const char top_page[] = //
    ".TH SAMPLE\\-TOP 1 \"\" \"sample 1.2.3\" \"sample manual\"\n"
    ".SH NAME\n"
    "sample\\-top \\- Show the functions that cost most\n"
    ".SH SYNOPSIS\n"
    "sample top [OPTIONS] FILE...\n"
    ".SH DESCRIPTION\n"
    "Reads profiles, merges them and prints one row for each function, the costliest first.\n"
    ".PP\n"
    "Rows show what a function costs itself and with everything that it calls.\n"
    ".SH ARGUMENTS\n"
    ".TP\n"
    "\\fIFILE\\fR\n"
    "A profile; \\(aq\\-\\(aq is standard input.\n"
    ".SH OPTIONS\n"
    ".TP\n"
    "\\fB\\-n\\fR, \\fB\\-\\-lines\\fR \\fIN\\fR\n"
    "How many rows to show.\n"
    "From 1 to 1000.\n"
    "Default: 30.\n"
    "Variable: HEARTH_LINES.\n"
    ".TP\n"
    "\\fB\\-\\-json\\fR\n"
    "Print JSON.\n"
    "It\\(aqs for programs [and jq]: no colours.\n"
    "Variable: HEARTH_JSON.\n"
    ".TP\n"
    "\\fB\\-\\-\\fR[\\fBno\\-\\fR]\\fBcumulative\\fR\n"
    "Count callees too.\n"
    "Variable: HEARTH_CUMULATIVE.\n"
    ".TP\n"
    "\\fB\\-\\-share\\fR \\fIPERCENT\\fR\n"
    "Stop at this share of the total.\n"
    "Default: 90%.\n"
    "Variable: HEARTH_SHARE.\n"
    ".TP\n"
    "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\n"
    "Write to this file.\n"
    "Variable: HEARTH_OUTPUT.\n"
    ".TP\n"
    "\\fB\\-\\-work\\-dir\\fR \\fIDIR\\fR\n"
    "Keep temporary files here.\n"
    "Also \\-\\-scratch\\-path, OTHER_SCRATCH.\n"
    "Can be changed while running (SIGHUP).\n"
    "Variable: HEARTH_WORK_DIR.\n"
    ".TP\n"
    "\\fB\\-\\-sort\\fR \\fIWORD\\fR\n"
    "What to sort by.\n"
    "One of self, total.\n"
    "Default: self.\n"
    "Variable: HEARTH_SORT.\n"
    ".SH FILTERS\n"
    ".TP\n"
    "\\fB\\-\\-focus\\fR \\fIREGEX\\fR\n"
    "Keep stacks with a matching function.\n"
    "Variable: HEARTH_FOCUS.\n"
    ".TP\n"
    "\\fB\\-l\\fR, \\fB\\-\\-label\\fR \\fIKEY=VALUE\\fR\n"
    "Keep samples with this label.\n"
    "May be given several times.\n"
    "Variable: HEARTH_LABEL.\n"
    ".SH GLOBAL OPTIONS\n"
    ".TP\n"
    "\\fB\\-\\-config\\fR \\fIFILE\\fR\n"
    "Read options from this YAML file.\n"
    "Flags and environment variables win over it.\n"
    "Variable: HEARTH_CONFIG.\n"
    ".TP\n"
    "\\fB\\-\\-log\\-level\\fR \\fILEVEL\\fR\n"
    "How much to log to standard error.\n"
    "One of error, warn, info, debug.\n"
    "Default: info.\n"
    "Also PYROSCOPE_LOG_LEVEL.\n"
    "Can be changed while running (SIGHUP).\n"
    "Variable: HEARTH_LOG_LEVEL.\n"
    ".TP\n"
    "\\fB\\-\\-log\\-format\\fR \\fIFORMAT\\fR\n"
    "How log lines look: for people, or one JSON object a line.\n"
    "One of text, json.\n"
    "Default: text.\n"
    "Variable: HEARTH_LOG_FORMAT.\n"
    ".TP\n"
    "\\fB\\-\\-\\fR[\\fBno\\-\\fR]\\fBcolor\\fR\n"
    "Colour the output when it goes to a terminal.\n"
    "A NO_COLOR variable turns colours off too.\n"
    "Variable: HEARTH_COLOR.\n"
    ".TP\n"
    "\\fB\\-\\-print\\-config\\fR\n"
    "Print the value of every option and where it came from, as a configuration file, and exit.\n"
    ".TP\n"
    "\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
    "Print help and exit.\n"
    ".TP\n"
    "\\fB\\-\\-version\\fR\n"
    "Print the version and exit.\n"
    ".SH EXIT STATUS\n"
    ".TP\n"
    "\\fB0\\fR\n"
    "All went well.\n"
    ".TP\n"
    "\\fB1\\fR\n"
    "The work could not be done; a message says why.\n"
    ".TP\n"
    "\\fB2\\fR\n"
    "The command line or a variable was wrong; a message says how.\n"
    ".SH EXAMPLES\n"
    ".TP\n"
    "\\fBsample top \\-n 5 cpu.pb.gz\\fR\n"
    "Shows the five costliest functions.\n"
    ".TP\n"
    "\\fBsample top \\-\\-focus \\(aq\\(hajson\\(aq a.pb b.pb\\fR\n"
    "Merges two profiles and looks at one library.\n"
    ".SH SEE ALSO\n"
    ".BR sample (1)\n";

TEST(manual_of_the_program_lists_commands_and_explains_configuration)
{
    struct buffer out;

    buffer_init(&out, 0);
    manual_print_set(&command_sample, "1.2.3", &out);
    CHECK_TEXT(buffer_slice(&out), set_page);
    buffer_done(&out);
}

TEST(manual_of_a_command_shows_all_that_its_table_holds)
{
    struct buffer out;

    buffer_init(&out, 0);
    manual_print_command(&command_sample, command_find(&command_sample, SLICE("top")), "1.2.3", &out);
    CHECK_TEXT(buffer_slice(&out), top_page);
    buffer_done(&out);
}

TEST(manual_text_cannot_be_taken_for_a_roff_request)
{
    const struct command command = {
        .name = "c",
        .summary = "S",
        .description = ".TH is text. 'so is this. A \\\\ too.\n\n.PP",
    };
    struct buffer out;

    buffer_init(&out, 0);
    manual_print_command(&command_sample, &command, "1", &out);
    CHECK_HAS(buffer_slice(&out), ".SH DESCRIPTION\n\\&.TH is text.\n\\&\\(aqso is this.\nA \\e\\e too.\n.PP\n"
                                  "\\&.PP\n");
    buffer_done(&out);
}

static void check_lint(struct buffer *page)
{
    char path[100], command[300];
    struct error err;

    snprintf(path, sizeof(path), "%s/page.1", test_directory());
    CHECK_OK(fs_write_file(path, buffer_slice(page), &err), &err);
    /* The missing date is meant: the same tree gives the same page on any day. */
    snprintf(command, sizeof(command), "! mandoc -T lint -W warning %s | grep -v 'missing date'", path);
    CHECK_EQ(system(command), 0);
    buffer_clear(page);
}

static void check_lint_of_set(const struct command_set *set)
{
    struct buffer out;

    buffer_init(&out, 0);
    manual_print_set(set, version_text(), &out);
    check_lint(&out);
    for (size_t i = 0; i < set->n; i++) {
        manual_print_command(set, set->commands[i], version_text(), &out);
        check_lint(&out);
    }
    buffer_done(&out);
}

TEST(manual_pages_pass_lint)
{
    if (system("command -v mandoc >/dev/null 2>&1") != 0)
        test_skip("mandoc is not installed");
    check_lint_of_set(&command_sample);
    check_lint_of_set(&commands);
}

static int print_all(void *context, struct error *err)
{
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    manual_print_command(&command_sample, command_find(&command_sample, SLICE("top")), "1.2.3", &out);
    result = buffer_check(&out, err);
    buffer_done(&out);
    return result;
}

TEST(manual_reports_every_failing_allocation)
{
    test_each_allocation_failing(print_all, NULL);
}
