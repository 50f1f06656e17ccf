// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include "cli/help.h"

/* --- roff --- */

/* Text as roff reads it back: nothing in it is a request or an escape. */
static void print_roff(struct slice text, struct buffer *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_line_start = out->len == 0 || out->data[out->len - 1] == '\n';

        if (is_line_start && (c == '.' || c == '\''))
            buffer_append_text(out, "\\&");
        switch (c) {
        case '\\': buffer_append_text(out, "\\e"); break;
        case '-': buffer_append_text(out, "\\-"); break;
        case '\'': buffer_append_text(out, "\\(aq"); break;
        case '`': buffer_append_text(out, "\\(ga"); break;
        case '^': buffer_append_text(out, "\\(ha"); break;
        case '~': buffer_append_text(out, "\\(ti"); break;
        default: buffer_append_byte(out, c);
        }
    }
}

static void print_text(const char *text, struct buffer *out)
{
    print_roff(slice_from(text), out);
}

/* Cuts up to `separator` off the front of `rest`; all of it when there is none. False at the end. */
static bool next_piece(struct slice *rest, struct slice separator, struct slice *ret_piece)
{
    ptrdiff_t end = slice_find(*rest, separator);

    if (rest->len == 0)
        return false;
    *ret_piece = end < 0 ? *rest : slice_sub(*rest, 0, (size_t)end);
    *rest = end < 0 ? slice_of(NULL, 0) : slice_sub(*rest, (size_t)end + separator.len, rest->len);
    return true;
}

/* Sentences, each on lines of its own, as roff likes it. */
static void print_sentences(struct slice text, struct buffer *out)
{
    struct slice sentence;

    while (next_piece(&text, SLICE(". "), &sentence)) {
        print_roff(sentence, out);
        buffer_append_text(out, text.ptr ? ".\n" : "\n");
    }
}

/* Paragraphs, which blank lines separate. */
static void print_paragraphs(const char *text, struct buffer *out)
{
    struct slice rest = slice_from(text), paragraph;

    while (next_piece(&rest, SLICE("\n\n"), &paragraph)) {
        print_sentences(paragraph, out);
        buffer_append_text(out, rest.ptr ? ".PP\n" : "");
    }
}

static void print_font(char font, const char *text, struct buffer *out)
{
    buffer_printf(out, "\\f%c", font);
    print_text(text, out);
    buffer_append_text(out, "\\fR");
}

static void print_upper(const char *text, struct buffer *out)
{
    for (; *text; text++) {
        char c = *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text;

        print_roff(slice_of(&c, 1), out);
    }
}

/* `command` may be NULL. */
static void print_head(const struct command_set *set, const struct command *command, const char *version,
                       struct buffer *out)
{
    buffer_append_text(out, ".TH ");
    print_upper(set->name, out);
    if (command) {
        buffer_append_text(out, "\\-");
        print_upper(command->name, out);
    }
    buffer_printf(out, " 1 \"\" \"%s %s\" \"%s manual\"\n.SH NAME\n", set->name, version, set->name);
    print_text(set->name, out);
    if (command) {
        buffer_append_text(out, "\\-");
        print_text(command->name, out);
    }
    buffer_append_text(out, " \\- ");
    print_text(command ? command->summary : set->summary, out);
    buffer_append_byte(out, '\n');
}

/* --- sections --- */

/* What help_print_notes says, and the variable, as a line of its own. */
static void print_notes(const struct option_spec *spec, struct buffer *out)
{
    struct option_variable variable = option_variable(spec);
    struct buffer notes;

    buffer_init(&notes, 0);
    help_print_notes(spec, &notes);
    if (variable.text[0])
        buffer_printf(&notes, "%sVariable: %s.", notes.len ? " " : "", variable.text);
    if (buffer_check(&notes, &out->failure) == 0)
        print_sentences(buffer_slice(&notes), out);
    buffer_done(&notes);
}

static void print_option(const struct option_spec *spec, struct buffer *out)
{
    buffer_append_text(out, ".TP\n");
    if (spec->letter)
        buffer_printf(out, "\\fB\\-%c\\fR, ", spec->letter);
    buffer_append_text(out, help_is_negated(spec) ? "\\fB\\-\\-\\fR[\\fBno\\-\\fR]\\fB" : "\\fB\\-\\-");
    print_text(spec->name, out);
    buffer_append_text(out, "\\fR");
    if (option_value_name(spec)) {
        buffer_append_byte(out, ' ');
        print_font('I', option_value_name(spec), out);
    }
    buffer_append_byte(out, '\n');
    print_sentences(slice_from(spec->help), out);
    print_notes(spec, out);
}

static void print_group(const struct option_group *group, struct buffer *out)
{
    buffer_append_text(out, ".SH ");
    print_upper(group->title, out);
    buffer_append_byte(out, '\n');
    for (size_t i = 0; i < group->n; i++)
        if (!group->specs[i].is_hidden)
            print_option(&group->specs[i], out);
}

static void print_synopsis(const struct command_set *set, const struct command *command, struct buffer *out)
{
    struct buffer usage;

    buffer_append_text(out, ".SH SYNOPSIS\n");
    buffer_init(&usage, 0);
    help_print_usage(set, command, &usage);
    if (buffer_check(&usage, &out->failure) == 0)
        print_roff(buffer_slice(&usage), out);
    buffer_append_byte(out, '\n');
    buffer_done(&usage);
}

static void print_arguments(const struct command *command, struct buffer *out)
{
    if (command_arguments_n(command) == 0)
        return;
    buffer_append_text(out, ".SH ARGUMENTS\n");
    for (size_t i = 0; i < command_arguments_n(command); i++) {
        buffer_append_text(out, ".TP\n");
        print_font('I', command->arguments[i].name, out);
        buffer_append_byte(out, '\n');
        print_sentences(slice_from(command->arguments[i].help), out);
    }
}

static void print_examples(const struct command *command, struct buffer *out)
{
    if (command_examples_n(command) == 0)
        return;
    buffer_append_text(out, ".SH EXAMPLES\n");
    for (size_t i = 0; i < command_examples_n(command); i++) {
        buffer_append_text(out, ".TP\n");
        print_font('B', command->examples[i].line, out);
        buffer_append_byte(out, '\n');
        print_sentences(slice_from(command->examples[i].help), out);
    }
}

static void print_exit_status(struct buffer *out)
{
    buffer_append_text(out, ".SH EXIT STATUS\n"
                            ".TP\n\\fB0\\fR\nAll went well.\n"
                            ".TP\n\\fB1\\fR\nThe work could not be done; a message says why.\n"
                            ".TP\n\\fB2\\fR\nThe command line or a variable was wrong; a message says how.\n");
}

/* --- pages --- */

void manual_print_command(const struct command_set *set, const struct command *command, const char *version,
                          struct buffer *out)
{
    print_head(set, command, version, out);
    print_synopsis(set, command, out);
    buffer_append_text(out, ".SH DESCRIPTION\n");
    print_paragraphs(command->description, out);
    print_arguments(command, out);
    for (size_t i = 0; i < command_groups_n(command); i++)
        print_group(&command->options[i], out);
    print_group(&command_globals, out);
    print_exit_status(out);
    print_examples(command, out);
    buffer_append_text(out, ".SH SEE ALSO\n.BR ");
    print_text(set->name, out);
    buffer_append_text(out, " (1)\n");
}

static void print_commands(const struct command_set *set, struct buffer *out)
{
    buffer_append_text(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < set->n; i++) {
        if (set->commands[i]->is_hidden)
            continue;
        buffer_append_text(out, ".TP\n.BR ");
        print_text(set->name, out);
        buffer_append_text(out, "\\-");
        print_text(set->commands[i]->name, out);
        buffer_append_text(out, " (1)\n");
        print_text(set->commands[i]->summary, out);
        buffer_append_text(out, ".\n");
    }
}

static void print_configuration(struct buffer *out)
{
    buffer_append_text(out, ".SH CONFIGURATION\n");
    print_paragraphs(
        "Each option can be given as a flag, as an environment variable and as a key of a YAML file. The flag wins "
        "over "
        "the variable, the variable over the file, and the file over the default.\n\n"
        "The variable of an option is its name in capitals behind " OPTION_VARIABLE_PREFIX ", with underscores for "
        "dashes and dots. Lists are separated by commas. An empty variable counts as absent.\n\n"
        "The file is named by --config. Its keys are the names of the options; a dot in a name may also be written as "
        "a nested map. Options that may be given several times take a list.",
        out);
    buffer_append_text(out, ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nWhen it is set and not empty, nothing is "
                            "coloured.\n");
}

void manual_print_set(const struct command_set *set, const char *version, struct buffer *out)
{
    print_head(set, NULL, version, out);
    buffer_append_text(out, ".SH SYNOPSIS\n");
    print_font('B', set->name, out);
    buffer_append_text(out, " \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n");
    print_paragraphs(set->description, out);
    print_commands(set, out);
    print_group(&command_globals, out);
    print_configuration(out);
    print_exit_status(out);
}
