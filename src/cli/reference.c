// SPDX-License-Identifier: Apache-2.0
#include "cli/reference.h"

#include "base/metrics.h"
#include "base/units.h"
#include "cli/api.h"
#include "cli/help.h"

/* --- Markdown --- */

static void print_title(const char *title, struct buffer *out)
{
    buffer_printf(out,
                  "<!-- Made by `make docs` from the tables of the program; changes made here are lost. -->\n"
                  "# %s\n\n",
                  title);
}

/* Text in which Markdown finds nothing to do, in a table cell too. */
static void print_text(const char *text, struct buffer *out)
{
    for (; *text; text++) {
        if (strchr("\\`*_<>|[]", *text))
            buffer_append_byte(out, '\\');
        buffer_append_byte(out, *text);
    }
}

/* `text` as code, in a table cell too. Our tables hold no backquotes. */
static void print_code(const char *text, struct buffer *out)
{
    buffer_append_byte(out, '`');
    for (; *text; text++) {
        if (*text == '|')
            buffer_append_byte(out, '\\');
        buffer_append_byte(out, *text);
    }
    buffer_append_byte(out, '`');
}

/* "`-n`, `--lines N`" */
static void print_flag(const struct option_spec *spec, struct buffer *out)
{
    const char *value = option_value_name(spec);

    if (spec->letter)
        buffer_printf(out, "`-%c`, ", spec->letter);
    buffer_printf(out, "`--%s%s%s%s`", help_is_negated(spec) ? "[no-]" : "", spec->name, value ? " " : "",
                  value ? value : "");
}

/* The help of an option and what else its row says, on one line. */
static void print_meaning(const struct option_spec *spec, struct buffer *out)
{
    struct buffer notes;

    print_text(spec->help, out);
    buffer_init(&notes, 0);
    help_print_notes(spec, &notes);
    buffer_append_byte(&notes, '\0');
    if (buffer_check(&notes, &out->failure) == 0 && notes.len > 1) {
        buffer_append_byte(out, ' ');
        print_text(notes.data, out);
    }
    buffer_done(&notes);
}

/* --- commands.md --- */

static void print_arguments(const struct command *command, struct buffer *out)
{
    if (command_arguments_n(command) == 0)
        return;
    buffer_append_text(out, "\nArguments:\n");
    for (size_t i = 0; i < command_arguments_n(command); i++) {
        buffer_append_text(out, "- `");
        help_print_argument(&command->arguments[i], out);
        buffer_append_text(out, "`: ");
        print_text(command->arguments[i].help, out);
        buffer_append_byte(out, '\n');
    }
}

static void print_group_list(const struct option_group *group, struct buffer *out)
{
    buffer_printf(out, "\n%s:\n", group->title);
    for (size_t i = 0; i < group->n; i++) {
        if (group->specs[i].is_hidden)
            continue;
        buffer_append_text(out, "- ");
        print_flag(&group->specs[i], out);
        buffer_append_text(out, ": ");
        print_meaning(&group->specs[i], out);
        buffer_append_byte(out, '\n');
    }
}

static void print_examples(const struct command *command, struct buffer *out)
{
    if (command_examples_n(command) == 0)
        return;
    buffer_append_text(out, "\nExamples:\n");
    for (size_t i = 0; i < command_examples_n(command); i++) {
        buffer_append_text(out, "- ");
        print_code(command->examples[i].line, out);
        buffer_append_text(out, ": ");
        print_text(command->examples[i].help, out);
        buffer_append_byte(out, '\n');
    }
}

static void print_command(const struct command_set *set, const struct command *command, struct buffer *out)
{
    buffer_printf(out, "\n## %s %s\n\n```\n", set->name, command->name);
    help_print_usage(set, command, out);
    buffer_append_text(out, "\n```\n\n");
    print_text(command->description, out);
    buffer_append_byte(out, '\n');
    print_arguments(command, out);
    for (size_t i = 0; i < command_groups_n(command); i++)
        print_group_list(&command->options[i], out);
    print_examples(command, out);
}

void reference_print_commands(const struct command_set *set, struct buffer *out)
{
    print_title("Commands", out);
    print_text(set->description, out);
    buffer_append_text(out, "\n\n| command | what it does |\n|---|---|\n");
    for (size_t i = 0; i < set->n; i++) {
        const struct command *command = set->commands[i];

        if (command->is_hidden)
            continue;
        buffer_printf(out, "| [`%s %s`](#%s-%s) | ", set->name, command->name, set->name, command->name);
        print_text(command->summary, out);
        buffer_append_text(out, " |\n");
    }
    buffer_append_text(out, "\nEvery command also takes the options below. How values are written, and the variable of "
                            "each option, is in [options.md](options.md).\n");
    print_group_list(&command_globals, out);
    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden)
            print_command(set, set->commands[i], out);
}

/* --- groups that several commands share, told once --- */

static bool has_group(const struct command *command, const struct option_group *group)
{
    for (size_t i = 0; i < command_groups_n(command); i++)
        if (command->options[i].specs == group->specs)
            return true;
    return false;
}

/* Whether no command before the one at `index` has the group. */
static bool is_first_with(const struct command_set *set, size_t index, const struct option_group *group)
{
    for (size_t i = 0; i < index; i++)
        if (!set->commands[i]->is_hidden && has_group(set->commands[i], group))
            return false;
    return true;
}

/* Calls `print` for each group of options once, that of all commands first. */
static void each_group(const struct command_set *set,
                       void (*print)(const struct command_set *set, const struct option_group *group,
                                     struct buffer *out),
                       struct buffer *out)
{
    print(set, &command_globals, out);
    for (size_t i = 0; i < set->n; i++)
        for (size_t g = 0; !set->commands[i]->is_hidden && g < command_groups_n(set->commands[i]); g++)
            if (is_first_with(set, i, &set->commands[i]->options[g]))
                print(set, &set->commands[i]->options[g], out);
}

static bool is_global(const struct option_group *group)
{
    return group->specs == command_globals.specs;
}

/* "`top`, `tree`" */
static void print_users(const struct command_set *set, const struct option_group *group, struct buffer *out)
{
    const char *separator = "";

    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden && has_group(set->commands[i], group)) {
            buffer_printf(out, "%s`%s`", separator, set->commands[i]->name);
            separator = ", ";
        }
}

/* --- options.md --- */

static void print_group_table(const struct command_set *set, const struct option_group *group, struct buffer *out)
{
    buffer_printf(out, "\n## %s%s", group->title, is_global(group) ? "" : " of ");
    print_users(set, group, out);
    buffer_append_text(out, "\n\n| option | type | variable | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < group->n; i++) {
        const struct option_spec *spec = &group->specs[i];

        if (spec->is_hidden)
            continue;
        buffer_append_text(out, "| ");
        print_flag(spec, out);
        buffer_printf(out, " | %s | ", option_type_name(spec->type));
        if (!spec->is_flag_only)
            print_code(option_variable(spec).text, out);
        buffer_append_text(out, spec->is_flag_only ? "| " : " | ");
        print_meaning(spec, out);
        buffer_append_text(out, " |\n");
    }
}

static void print_configuration(struct buffer *out)
{
    buffer_append_text(
        out,
        "Each option can be given as a flag (`--name value`), as an environment variable (`" OPTION_VARIABLE_PREFIX
        "NAME`) and as a key (`name: value`) of the YAML file named by `--config`. The flag wins over the variable, "
        "the variable over the file, and the file over the default. `--print-config` shows what holds and where "
        "each value came from.\n\n"
        "In a file, a dot in a name may also be written as a nested map, options that may be given several times "
        "take a list, and a key without a value leaves the option alone. Unknown keys, keys given twice, anchors, "
        "aliases and tags are refused. In a variable, lists are separated by commas, and an empty variable counts "
        "as absent. Options without a variable are flags only.\n\n"
        "Some options have other names too, those that other programs give them: a flag that means the same, or a "
        "variable that is read where the one of hearth is absent. Files know the first name only.\n\n"
        "A server that gets SIGHUP reads its file again. Options that can be changed while running then have their "
        "new values; others keep the old ones until the next start, and a file with mistakes changes nothing.\n");
}

void reference_print_options(const struct command_set *set, struct buffer *out)
{
    print_title("Options", out);
    print_configuration(out);
    buffer_append_text(out, "\n## How values are written\n\n| type | written as |\n|---|---|\n");
    for (unsigned type = 0; type < OPTION_TYPE_COUNT; type++) {
        buffer_printf(out, "| %s | ", option_type_name(type));
        print_text(option_type_syntax(type), out);
        buffer_append_text(out, " |\n");
    }
    each_group(set, print_group_table, out);
}

/* --- environment.md --- */

/* The row of `variable`; `winner` is the variable that wins over it, or NULL. */
static void print_variable(const struct command_set *set, const struct option_group *group,
                           const struct option_spec *spec, const char *variable, const char *winner, struct buffer *out)
{
    buffer_printf(out, "| `%s` | `--%s`", variable, spec->name);
    if (winner)
        buffer_printf(out, ", where `%s` is absent", winner);
    buffer_printf(out, " | %s", is_global(group) ? "all" : "");
    print_users(set, group, out);
    buffer_append_text(out, " |\n");
}

static void print_group_variables(const struct command_set *set, const struct option_group *group, struct buffer *out)
{
    for (size_t i = 0; i < group->n; i++) {
        const struct option_spec *spec = &group->specs[i];

        struct option_variable variable = option_variable(spec);

        if (spec->is_hidden || spec->is_flag_only)
            continue;
        print_variable(set, group, spec, variable.text, NULL, out);
        if (spec->alias_variable)
            print_variable(set, group, spec, spec->alias_variable, variable.text, out);
    }
}

void reference_print_environment(const struct command_set *set, struct buffer *out)
{
    print_title("Environment", out);
    buffer_append_text(out, "Each variable stands for an option, described in [options.md](options.md); the flag wins "
                            "over it. An empty variable counts as absent.\n\n"
                            "| variable | option | commands |\n|---|---|---|\n");
    each_group(set, print_group_variables, out);
    buffer_append_text(
        out, "\n`NO_COLOR`, when it is set and not empty, turns colours off. A server tells the service manager "
             "that `NOTIFY_SOCKET` names, as systemd sets it, when it is ready, reloads and stops.\n");
}

/* --- errors.md --- */

void reference_print_errors(const struct command_set *set, struct buffer *out)
{
    print_title("Errors", out);
    buffer_printf(out,
                  "Every error has a code. It decides the exit status of a command and the HTTP status of an answer; "
                  "the message beside it says what was given, what is accepted and what to do. Messages on standard "
                  "error begin with `%s: `.\n\n| code | meaning | exit status | HTTP status |\n|---|---|---|---|\n",
                  set->name);
    for (unsigned code = 0; code < ERROR_CODE_COUNT; code++)
        buffer_printf(out, "| `%s` | %s | %d | %d |\n", error_code_name(code), error_code_text(code),
                      error_code_exit_status(code), error_code_http_status(code));
}

/* --- routes.md --- */

/* Routes of our own API are runs of commands, whose options are described elsewhere. */
static bool is_of_command(const struct route *route)
{
    return route->handler == api_serve;
}

static size_t parameters_n(const struct route *route)
{
    size_t n = 0;

    while (n < ROUTE_MAX_PARAMETERS && route->parameters[n].name)
        n++;
    return n;
}

/* "POST /ingest" */
static void print_route_name(const struct route *route, struct buffer *out)
{
    buffer_printf(out, "%s %s", http_method_name(route->method), route->path);
}

/* The anchor that the heading `METHOD PATH` gets: in lower case, words joined by dashes, punctuation left out. */
static void print_route_anchor(const struct route *route, struct buffer *out)
{
    for (const char *c = http_method_name(route->method); *c; c++)
        buffer_append_byte(out, (char)(*c | 0x20));
    buffer_append_byte(out, '-');
    for (const char *c = route->path; *c; c++) {
        bool is_upper = *c >= 'A' && *c <= 'Z';

        if (is_upper || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-' || *c == '_')
            buffer_append_byte(out, (char)(is_upper ? *c | 0x20 : *c));
    }
}

static void print_route_row(const struct route *route, struct buffer *out)
{
    bool has_section = parameters_n(route) > 0 || is_of_command(route);

    buffer_append_text(out, has_section ? "| [`" : "| `");
    print_route_name(route, out);
    if (has_section) {
        buffer_append_text(out, "`](#");
        print_route_anchor(route, out);
        buffer_append_byte(out, ')');
    } else {
        buffer_append_byte(out, '`');
    }
    buffer_printf(out, " | %s | ", route_scope_name(route->scope));
    print_text(route->summary, out);
    if (route->is_procedure)
        buffer_append_text(out, " A procedure.");
    if (route->max_body_bytes > 0)
        buffer_printf(out, " The body may have %s.", units_human_bytes((int64_t)route->max_body_bytes).text);
    buffer_append_text(out, " |\n");
}

static void print_route_parameters(const struct route *route, struct buffer *out)
{
    buffer_append_text(out, "\n## `");
    print_route_name(route, out);
    buffer_append_text(out, "`\n\n");
    print_text(route->summary, out);
    buffer_append_text(out, "\n\n| parameter | meaning |\n|---|---|\n");
    for (size_t i = 0; i < parameters_n(route); i++) {
        buffer_append_text(out, "| ");
        print_code(route->parameters[i].name, out);
        buffer_append_text(out, " | ");
        print_text(route->parameters[i].help, out);
        buffer_append_text(out, " |\n");
    }
}

static void print_api_parameters(const struct route *route, struct buffer *out)
{
    const struct apirow *row = apirow_of(route);
    struct apirow_parameter parameter;

    buffer_append_text(out, "\n## `");
    print_route_name(route, out);
    buffer_append_text(out, "`\n\n");
    print_text(route->summary, out);
    buffer_printf(out, " Runs [`hearth %s`](commands.md#hearth-%s), where the parameters are described: ",
                  row->command->name, row->command->name);
    for (size_t i = 0; apirow_parameter(row, i, &parameter); i++) {
        buffer_append_text(out, i ? ", " : "");
        print_code(parameter.name, out);
        buffer_append_text(out, parameter.is_required ? " (required)" : "");
    }
    buffer_append_text(out, ".\n");
}

void reference_print_routes(const struct route_table *table, struct buffer *out)
{
    print_title("HTTP routes", out);
    buffer_append_text(
        out,
        "What a server answers over HTTP/1.1 and HTTP/2. A route with GET answers HEAD too; a `*` at the end of a path "
        "stands for whatever follows. Procedures can be called by Connect, gRPC and gRPC-Web, also with more path in "
        "front. A path that is not here is answered with 404, another method with 405; the status of a failure is in "
        "[errors.md](errors.md), and its body says what was given, what is allowed and what to do.\n\n"
        "The scope says what a route is for: `public` ones tell whether the server is well, `write` ones bring data, "
        "`read` ones ask for data, and `admin` ones change the server or see all tenants.\n\n"
        "Parameters of routes that run a command are its options, written without dashes in front: `rows=5` is "
        "`--rows 5`, and a list is given several times. Beside them, `output` says whether the answer is `json` or the "
        "`text` of the terminal, which has `width`, `color` and `utf8`, and `file` names the file that an answer is to "
        "be. [The guide](../guide/api.md) shows them.\n\n"
        "| route | scope | what it does |\n|---|---|---|\n");
    for (size_t i = 0; i < table->n; i++)
        print_route_row(&table->routes[i], out);
    for (size_t i = 0; i < table->n; i++)
        if (is_of_command(&table->routes[i]))
            print_api_parameters(&table->routes[i], out);
        else if (parameters_n(&table->routes[i]) > 0)
            print_route_parameters(&table->routes[i], out);
}

/* --- metrics.md --- */

static const char *metric_kind_name(enum metric_kind kind)
{
    switch (kind) {
    case METRIC_COUNTER: return "counter";
    case METRIC_GAUGE: return "gauge";
    case METRIC_HISTOGRAM: return "histogram";
    }
    return "";
}

/* Where the table of metrics is printed; its head comes with the first row. */
struct metric_table {
    struct buffer *out;
    bool has_head;
};

static void print_metric(void *context, const struct metric_spec *spec)
{
    struct metric_table *table = context;
    struct buffer *out = table->out;
    char name[METRICS_NAME_BYTES];

    if (!table->has_head)
        buffer_append_text(out, "| metric | kind | labels | meaning |\n|---|---|---|---|\n");
    table->has_head = true;
    buffer_printf(out, "| `%s` | %s | ", metrics_name(spec, name), metric_kind_name(spec->kind));
    for (size_t i = 0; i < METRICS_MAX_LABELS && spec->labels[i]; i++)
        buffer_printf(out, "%s`%s`", i ? ", " : "", spec->labels[i]);
    buffer_append_text(out, spec->labels[0] ? " | " : "| ");
    print_text(spec->help, out);
    buffer_append_text(out, " |\n");
}

void reference_print_metrics(const struct command_set *set, struct buffer *out)
{
    struct metric_table table = { .out = out };

    print_title("Metrics", out);
    buffer_append_text(out, "What serving commands count, in the Prometheus text format.\n\n");
    metrics_each(print_metric, &table);
    if (!table.has_head)
        buffer_append_text(out, "There are none: no command of this version serves.\n");
}
