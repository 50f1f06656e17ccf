// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include "cli/help.h"

/* --- what all shells need --- */

/* A walk over the options that are to be seen. */
struct option_walk {
    const struct option_group *groups;
    size_t groups_left;
    size_t next_row;
};

static struct option_walk walk_globals(void)
{
    return (struct option_walk){ &command_globals, 1, 0 };
}

static struct option_walk walk_command(const struct command *command)
{
    return (struct option_walk){ command->options, command_groups_n(command), 0 };
}

static const struct option_spec *walk_next(struct option_walk *walk)
{
    for (; walk->groups_left > 0; walk->groups_left--, walk->groups++, walk->next_row = 0)
        while (walk->next_row < walk->groups->n) {
            const struct option_spec *spec = &walk->groups->specs[walk->next_row++];

            if (!spec->is_hidden)
                return spec;
        }
    return NULL;
}

static bool has_argument(const struct command *command, enum command_argument_kind kind)
{
    for (size_t i = 0; i < command_arguments_n(command); i++)
        if (command->arguments[i].kind == kind)
            return true;
    return false;
}

static void print_words(const struct option_spec *spec, struct buffer *out)
{
    for (size_t i = 0; option_word(spec, i); i++)
        buffer_printf(out, "%s%s", i ? " " : "", option_word(spec, i));
}

static void print_command_names(const struct command_set *set, struct buffer *out)
{
    const char *separator = "";

    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden) {
            buffer_printf(out, "%s%s", separator, set->commands[i]->name);
            separator = " ";
        }
}

/* The first sentence of a help text, without its full stop: what fits a menu. */
static struct slice first_sentence(const char *help)
{
    struct slice text = slice_from(help);
    ptrdiff_t end = slice_find(text, SLICE(". "));

    if (end >= 0)
        return slice_sub(text, 0, (size_t)end);
    return slice_ends_with(text, SLICE(".")) ? slice_sub(text, 0, text.len - 1) : text;
}

/* The inside of a single-quoted word: a quote becomes `quote`, and each of the `special` bytes gets a backslash. */
static void print_quoted(struct slice text, const char *quote, const char *special, struct buffer *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '\'') {
            buffer_append_text(out, quote);
            continue;
        }
        if (strchr(special, c))
            buffer_append_byte(out, '\\');
        buffer_append_byte(out, c);
    }
}

/* What the flag `name` does, in a few words; `is_off` for the --no- form of a switch. */
static void print_menu_text(const struct option_spec *spec, const char *name, bool is_off, const char *quote,
                            const char *special, struct buffer *out)
{
    if (is_off)
        buffer_printf(out, "Turn --%s off", spec->name);
    else if (name == spec->alias)
        buffer_printf(out, "The same as --%s", spec->name);
    else
        print_quoted(first_sentence(spec->help), quote, special, out);
}

/* --- bash --- */

static void print_bash_flag(const struct option_spec *spec, const char *name, struct buffer *out)
{
    buffer_printf(out, " --%s", name);
    if (help_is_negated(spec))
        buffer_printf(out, " --no-%s", name);
}

static void print_bash_flags(struct option_walk walk, struct buffer *out)
{
    const struct option_spec *spec;

    while ((spec = walk_next(&walk))) {
        if (spec->letter)
            buffer_printf(out, " -%c", spec->letter);
        print_bash_flag(spec, spec->name, out);
        if (spec->alias)
            print_bash_flag(spec, spec->alias, out);
    }
}

/* What may follow each flag that takes a value. `command` is "*" for the options of every command. */
static void print_bash_values(struct option_walk walk, const char *command, struct buffer *out)
{
    const struct option_spec *spec;

    while ((spec = walk_next(&walk))) {
        if (spec->type == OPTION_BOOL)
            continue;
        buffer_printf(out, "        %s:--%s", command, spec->name);
        if (spec->letter)
            buffer_printf(out, " | %s:-%c", command, spec->letter);
        if (spec->alias)
            buffer_printf(out, " | %s:--%s", command, spec->alias);
        if (spec->type == OPTION_ENUM) {
            buffer_append_text(out, ") words='");
            print_words(spec, out);
            buffer_append_text(out, "' ;;\n");
        } else if (spec->type == OPTION_FILE || spec->type == OPTION_DIRECTORY) {
            buffer_printf(out, ") files=%s ;;\n", spec->type == OPTION_FILE ? "-f" : "-d");
        } else {
            buffer_append_text(out, ") return ;;\n");
        }
    }
}

/* What a command itself offers: its flags, and files or commands as its arguments. */
static void print_bash_command(const struct command_set *set, const struct command *command, struct buffer *out)
{
    buffer_printf(out, "        %s:*)\n", command->name);
    if (command_groups_n(command) > 0) {
        buffer_append_text(out, "            flags+='");
        print_bash_flags(walk_command(command), out);
        buffer_append_text(out, "'\n");
    }
    if (has_argument(command, COMMAND_ARGUMENT_FILE))
        buffer_append_text(out, "            files=-f\n");
    if (has_argument(command, COMMAND_ARGUMENT_COMMAND)) {
        buffer_append_text(out, "            words='");
        print_command_names(set, out);
        buffer_append_text(out, "'\n");
    }
    buffer_append_text(out, "            ;;\n");
}

/* The part that finds out which command stands on the line and which flag waits for its value. */
static void print_bash_head(const struct command_set *set, struct buffer *out)
{
    struct option_walk walk = walk_globals();
    const struct option_spec *spec;

    buffer_printf(out, "# bash completion for %s, made from its command tables.\n\n_%s()\n{\n", set->name, set->name);
    buffer_append_text(out,
                       "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
                       "    local command='' words='' files='' i valued='");
    while ((spec = walk_next(&walk)))
        if (spec->type != OPTION_BOOL)
            buffer_printf(out, " --%s%s%s", spec->name, spec->alias ? " --" : "", spec->alias ? spec->alias : "");
    buffer_append_text(out, " ' flags='");
    print_bash_flags(walk_globals(), out);
    buffer_append_text(out, "'\n"
                            "\n"
                            "    COMPREPLY=()\n"
                            "    # Bash makes three words of --flag=value.\n"
                            "    if [[ $current == '=' ]]; then\n"
                            "        current=''\n"
                            "    elif [[ $previous == '=' ]]; then\n"
                            "        previous=\"${COMP_WORDS[COMP_CWORD - 2]}\"\n"
                            "    fi\n"
                            "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                            "        if [[ $valued == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
                            "            [[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))\n"
                            "            ((i++))\n"
                            "        elif [[ ${COMP_WORDS[i]} != -* ]]; then\n"
                            "            command=\"${COMP_WORDS[i]}\"\n"
                            "            break\n"
                            "        fi\n"
                            "    done\n"
                            "\n");
}

void completion_print_bash(const struct command_set *set, struct buffer *out)
{
    print_bash_head(set, out);
    buffer_append_text(out, "    case \"$command:$previous\" in\n");
    print_bash_values(walk_globals(), "*", out);
    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden)
            print_bash_values(walk_command(set->commands[i]), set->commands[i]->name, out);
    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden)
            print_bash_command(set, set->commands[i], out);
    buffer_append_text(out, "        :*) words='");
    print_command_names(set, out);
    buffer_printf(out,
                  "' ;;\n"
                  "    esac\n"
                  "\n"
                  "    if [[ $current == -* ]]; then\n"
                  "        words=\"$flags\"\n"
                  "        files=''\n"
                  "    fi\n"
                  "    if [[ -n $files ]]; then\n"
                  "        compopt -o filenames 2>/dev/null\n"
                  "        mapfile -t COMPREPLY < <(compgen $files -- \"$current\")\n"
                  "    else\n"
                  "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                  "    fi\n"
                  "}\n"
                  "complete -F _%s %s\n",
                  set->name, set->name);
}

/* --- zsh --- */

#define ZSH_QUOTE "'\\''"

/* One entry for _arguments: 'NAME[explanation]:VALUE:action'. */
static void print_zsh_option(const struct option_spec *spec, const char *dashes, const char *name, struct buffer *out)
{
    const char *many = spec->type == OPTION_LIST ? "*" : "";
    const char *glue = spec->type == OPTION_BOOL ? "" : dashes[1] ? "=" : "+";

    buffer_printf(out, "        '%s%s%s%s[", many, dashes, name, glue);
    print_menu_text(spec, name, strcmp(dashes, "--no-") == 0, ZSH_QUOTE, "[]:\\", out);
    buffer_append_byte(out, ']');
    if (spec->type == OPTION_ENUM) {
        buffer_printf(out, ":%s:(", option_value_name(spec));
        print_words(spec, out);
        buffer_append_byte(out, ')');
    } else if (spec->type != OPTION_BOOL) {
        buffer_printf(out, ":%s:%s", option_value_name(spec),
                      spec->type == OPTION_FILE        ? "_files"
                      : spec->type == OPTION_DIRECTORY ? "_files -/"
                                                       : " ");
    }
    buffer_append_text(out, "'\n");
}

static void print_zsh_flag(const struct option_spec *spec, const char *name, struct buffer *out)
{
    print_zsh_option(spec, "--", name, out);
    if (help_is_negated(spec))
        print_zsh_option(spec, "--no-", name, out);
}

static void print_zsh_options(struct option_walk walk, struct buffer *out)
{
    const struct option_spec *spec;

    while ((spec = walk_next(&walk))) {
        if (spec->letter)
            print_zsh_option(spec, "-", (const char[]){ spec->letter, '\0' }, out);
        print_zsh_flag(spec, spec->name, out);
        if (spec->alias)
            print_zsh_flag(spec, spec->alias, out);
    }
}

static void print_zsh_command(const struct command_set *set, const struct command *command, struct buffer *out)
{
    buffer_printf(out, "    %s)\n        own=(\n", command->name);
    print_zsh_options(walk_command(command), out);
    if (has_argument(command, COMMAND_ARGUMENT_FILE))
        buffer_append_text(out, "        '*:FILE:_files'\n");
    else if (has_argument(command, COMMAND_ARGUMENT_COMMAND))
        buffer_printf(out, "        '*:COMMAND:_%s_commands'\n", set->name);
    buffer_append_text(out, "        )\n        ;;\n");
}

static void print_zsh_command_list(const struct command_set *set, struct buffer *out)
{
    buffer_printf(out,
                  "#compdef %s\n# zsh completion for %s, made from its command tables.\n\n"
                  "_%s_commands()\n{\n    local -a commands=(\n",
                  set->name, set->name, set->name);
    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden) {
            buffer_printf(out, "        '%s:", set->commands[i]->name);
            print_quoted(slice_from(set->commands[i]->summary), ZSH_QUOTE, ":\\", out);
            buffer_append_text(out, "'\n");
        }
    buffer_append_text(out, "    )\n    _describe command commands\n}\n\n");
}

void completion_print_zsh(const struct command_set *set, struct buffer *out)
{
    print_zsh_command_list(set, out);
    buffer_printf(out,
                  "_%s()\n{\n"
                  "    local curcontext=\"$curcontext\" context state state_descr line\n    integer result=1\n"
                  "    typeset -A opt_args\n"
                  "    local -a own=() global=(\n",
                  set->name);
    print_zsh_options(walk_globals(), out);
    buffer_printf(out,
                  "    )\n\n"
                  "    _arguments -C $global '1: :_%s_commands' '*:: :->rest' && result=0\n"
                  "    [[ $state == rest ]] || return $result\n"
                  "    case $words[1] in\n",
                  set->name);
    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden)
            print_zsh_command(set, set->commands[i], out);
    buffer_printf(out, "    esac\n    _arguments $global $own\n}\n\n_%s \"$@\"\n", set->name);
}

/* --- fish --- */

#define FISH_QUOTE "\\'"

/* One flag by one of its names; its letter goes with the first. `condition` is "" or " -n '...'". */
static void print_fish_flag(const struct command_set *set, const struct option_spec *spec, const char *name,
                            const char *condition, struct buffer *out)
{
    buffer_printf(out, "complete -c %s%s", set->name, condition);
    if (spec->letter && name == spec->name)
        buffer_printf(out, " -s %c", spec->letter);
    buffer_printf(out, " -l %s%s", help_is_negated(spec) ? "no-" : "", name);
    if (spec->type == OPTION_ENUM) {
        buffer_append_text(out, " -x -a '");
        print_words(spec, out);
        buffer_append_byte(out, '\'');
    } else if (spec->type == OPTION_FILE) {
        buffer_append_text(out, " -r -F");
    } else if (spec->type == OPTION_DIRECTORY) {
        buffer_append_text(out, " -x -a '(__fish_complete_directories)'");
    } else if (spec->type != OPTION_BOOL) {
        buffer_append_text(out, " -x");
    }
    buffer_append_text(out, " -d '");
    print_menu_text(spec, name, help_is_negated(spec), FISH_QUOTE, "\\", out);
    buffer_append_text(out, "'\n");
}

static void print_fish_options(const struct command_set *set, struct option_walk walk, const char *condition,
                               struct buffer *out)
{
    const struct option_spec *spec;

    while ((spec = walk_next(&walk))) {
        print_fish_flag(set, spec, spec->name, condition, out);
        if (spec->alias)
            print_fish_flag(set, spec, spec->alias, condition, out);
    }
}

static void print_fish_command(const struct command_set *set, const struct command *command, struct buffer *out)
{
    char condition[120];

    snprintf(condition, sizeof(condition), " -n '__fish_seen_subcommand_from %s'", command->name);
    buffer_printf(out, "\ncomplete -c %s -n __%s_wants_command -a %s -d '", set->name, set->name, command->name);
    print_quoted(slice_from(command->summary), FISH_QUOTE, "\\", out);
    buffer_append_text(out, "'\n");
    if (has_argument(command, COMMAND_ARGUMENT_FILE))
        buffer_printf(out, "complete -c %s%s -F\n", set->name, condition);
    if (has_argument(command, COMMAND_ARGUMENT_COMMAND)) {
        buffer_printf(out, "complete -c %s%s -a '", set->name, condition);
        print_command_names(set, out);
        buffer_append_text(out, "'\n");
    }
    print_fish_options(set, walk_command(command), condition, out);
}

void completion_print_fish(const struct command_set *set, struct buffer *out)
{
    buffer_printf(out,
                  "# fish completion for %s, made from its command tables.\n\n"
                  "function __%s_wants_command\n    not __fish_seen_subcommand_from ",
                  set->name, set->name);
    print_command_names(set, out);
    buffer_printf(out, "\nend\n\ncomplete -c %s -f\n", set->name);
    print_fish_options(set, walk_globals(), "", out);
    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden)
            print_fish_command(set, set->commands[i], out);
}
