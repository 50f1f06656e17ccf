// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#define LABEL_COLUMN 28 /* where help sentences begin; a longer label gets a line of its own */

/* --- wrapping --- */

/* Prints `text` from `column` on, breaking lines between words before `width`; later lines begin at `indent`. A blank
 * line in the text stays one; other line breaks are spaces. Ends with a line break. */
static void print_wrapped(struct slice text, unsigned column, unsigned indent, unsigned width, struct buffer *out)
{
    bool is_line_start = true;
    size_t at = 0;

    while (at < text.len) {
        size_t end = at;

        if (slice_starts_with(slice_sub(text, at, text.len), SLICE("\n\n"))) {
            buffer_printf(out, "\n\n%*s", (int)indent, "");
            column = indent;
            is_line_start = true;
            at += 2;
            continue;
        }
        if (text.ptr[at] == ' ' || text.ptr[at] == '\n') {
            at++;
            continue;
        }
        while (end < text.len && text.ptr[end] != ' ' && text.ptr[end] != '\n')
            end++;
        if (!is_line_start && column + 1 + (end - at) > width) {
            buffer_printf(out, "\n%*s", (int)indent, "");
            column = indent;
            is_line_start = true;
        }
        buffer_append_text(out, is_line_start ? "" : " ");
        buffer_append(out, text.ptr + at, end - at);
        column += (unsigned)(end - at) + !is_line_start;
        is_line_start = false;
        at = end;
    }
    buffer_append_byte(out, '\n');
}

/* --- pieces --- */

bool help_is_negated(const struct option_spec *spec)
{
    union option_value value;
    struct error err;

    return spec->type == OPTION_BOOL && spec->default_text &&
           option_parse(spec, spec->default_text, &value, &err) == 0 && value.truth;
}

void help_print_argument(const struct command_argument *argument, struct buffer *out)
{
    const char *dots = argument->max > 1 ? "..." : "";

    buffer_printf(out, argument->min == 0 ? "[%s%s]" : "%s%s", argument->name, dots);
}

void help_print_usage(const struct command_set *set, const struct command *command, struct buffer *out)
{
    buffer_printf(out, "%s %s%s", set->name, command->name, command_groups_n(command) ? " [OPTIONS]" : "");
    for (size_t i = 0; i < command_arguments_n(command); i++) {
        buffer_append_byte(out, ' ');
        help_print_argument(&command->arguments[i], out);
    }
}

static void print_range(const struct option_spec *spec, struct buffer *out)
{
    const char *min = option_min(spec), *max = option_max(spec);

    if (spec->type == OPTION_PERCENT && !spec->min && !spec->max)
        return;
    if (min && max)
        buffer_printf(out, "From %s to %s. ", min, max);
    else if (min)
        buffer_printf(out, "At least %s. ", min);
    else if (max)
        buffer_printf(out, "At most %s. ", max);
}

/* The other names that the option has. */
static void print_aliases(const struct option_spec *spec, struct buffer *out)
{
    if (!spec->alias && !spec->alias_variable)
        return;
    buffer_append_text(out, "Also ");
    if (spec->alias)
        buffer_printf(out, "--%s%s", spec->alias, spec->alias_variable ? ", " : "");
    buffer_printf(out, "%s. ", spec->alias_variable ? spec->alias_variable : "");
}

void help_print_notes(const struct option_spec *spec, struct buffer *out)
{
    size_t start = out->len;

    if (spec->type == OPTION_ENUM) {
        for (size_t i = 0; option_word(spec, i); i++)
            buffer_printf(out, "%s%s", i ? ", " : "One of ", option_word(spec, i));
        buffer_append_text(out, ". ");
    }
    print_range(spec, out);
    if (spec->type == OPTION_LIST)
        buffer_append_text(out, "May be given several times. ");
    if (spec->default_text && spec->type != OPTION_BOOL)
        buffer_printf(out, "Default: %s. ", spec->default_text);
    print_aliases(spec, out);
    if (spec->is_reloadable)
        buffer_append_text(out, "Can be changed while running (SIGHUP). ");
    if (out->len > start)
        buffer_truncate(out, out->len - 1);
}

/* --- pages --- */

/* Appends `from`, or the failure that it ran into, and ends it. */
static void move_into(struct buffer *out, struct buffer *from, unsigned width)
{
    if (buffer_check(from, &out->failure) == 0)
        print_wrapped(slice_trim(buffer_slice(from)), LABEL_COLUMN, LABEL_COLUMN, width, out);
    buffer_done(from);
}

/* Pads the label that begins at `start` up to the column of the texts. */
static void print_padding(size_t start, struct buffer *out)
{
    size_t len = out->len - start;

    if (len + 2 <= LABEL_COLUMN)
        buffer_printf(out, "%*s", (int)(LABEL_COLUMN - len), "");
    else
        buffer_printf(out, "\n%*s", LABEL_COLUMN, "");
}

static void print_option(const struct option_spec *spec, unsigned width, struct buffer *out)
{
    const char *value = option_value_name(spec);
    size_t start = out->len;
    struct buffer text;

    if (spec->letter)
        buffer_printf(out, "  -%c, ", spec->letter);
    else
        buffer_append_text(out, "      ");
    buffer_printf(out, "--%s%s%s%s", help_is_negated(spec) ? "[no-]" : "", spec->name, value ? " " : "",
                  value ? value : "");
    print_padding(start, out);
    buffer_init(&text, 0);
    buffer_printf(&text, "%s ", spec->help);
    help_print_notes(spec, &text);
    move_into(out, &text, width);
}

static void print_group(const struct option_group *group, unsigned width, struct buffer *out)
{
    buffer_printf(out, "\n%s:\n", group->title);
    for (size_t i = 0; i < group->n; i++)
        if (!group->specs[i].is_hidden)
            print_option(&group->specs[i], width, out);
}

static void print_arguments(const struct command *command, unsigned width, struct buffer *out)
{
    if (command_arguments_n(command) == 0)
        return;
    buffer_append_text(out, "\nArguments:\n");
    for (size_t i = 0; i < command_arguments_n(command); i++) {
        const struct command_argument *argument = &command->arguments[i];
        size_t start = out->len;

        buffer_append_text(out, "  ");
        help_print_argument(argument, out);
        print_padding(start, out);
        print_wrapped(slice_from(argument->help), LABEL_COLUMN, LABEL_COLUMN, width, out);
    }
}

static void print_examples(const struct command *command, unsigned width, struct buffer *out)
{
    if (command_examples_n(command) == 0)
        return;
    buffer_append_text(out, "\nExamples:\n");
    for (size_t i = 0; i < command_examples_n(command); i++) {
        buffer_printf(out, "  %s\n      ", command->examples[i].line);
        print_wrapped(slice_from(command->examples[i].help), 6, 6, width, out);
    }
}

void help_print_command(const struct command_set *set, const struct command *command, unsigned width,
                        struct buffer *out)
{
    buffer_append_text(out, "Usage: ");
    help_print_usage(set, command, out);
    buffer_append_text(out, "\n\n");
    print_wrapped(slice_from(command->description), 0, 0, width, out);
    print_arguments(command, width, out);
    for (size_t i = 0; i < command_groups_n(command); i++)
        print_group(&command->options[i], width, out);
    print_group(&command_globals, width, out);
    print_examples(command, width, out);
}

void help_print_set(const struct command_set *set, unsigned width, struct buffer *out)
{
    buffer_printf(out, "Usage: %s COMMAND [OPTIONS] [ARGUMENTS]\n\n", set->name);
    print_wrapped(slice_from(set->description), 0, 0, width, out);
    buffer_append_text(out, "\nCommands:\n");
    for (size_t i = 0; i < set->n; i++) {
        size_t start = out->len;

        if (set->commands[i]->is_hidden)
            continue;
        buffer_printf(out, "  %s", set->commands[i]->name);
        print_padding(start, out);
        print_wrapped(slice_from(set->commands[i]->summary), LABEL_COLUMN, LABEL_COLUMN, width, out);
    }
    print_group(&command_globals, width, out);
    buffer_printf(out, "\nRun '%s help COMMAND' for the options and examples of a command.\n", set->name);
}

int help_show(const struct command_set *set, const struct command *command, const struct command_world *world,
              struct error *err)
{
    AUTO(buffer_done) struct buffer page;

    buffer_init(&page, 0);
    if (command)
        help_print_command(set, command, world->width, &page);
    else
        help_print_set(set, world->width, &page);
    if (buffer_check(&page, err) < 0)
        return -1;
    fwrite(page.data, 1, page.len, world->out);
    return 0;
}
