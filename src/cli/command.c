// SPDX-License-Identifier: Apache-2.0
/* A run in order: options before the command, the command, the rest of the arguments, environment, file, the work, and
 * what is to be told. */
#include "cli/command.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/version.h"
#include "cli/help.h"
#include "cli/table.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

/* The values of command_globals. */
struct command_settings {
    const char *config;
    enum log_level log_level;
    enum log_format log_format;
    bool color;
    bool print_config;
    bool help;
    bool version;
};

static const char *const log_level_words[] = {
    [LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug", NULL
};
static const char *const log_format_words[] = { [LOG_TEXT] = "text", [LOG_JSON] = "json", NULL };

static const struct option_spec global_specs[] = {
    { "config", OPTION_FILE, FIELD(command_settings, config), NULL,
      "Read options from this YAML file. Flags and environment variables win over it." },
    { "log-level", OPTION_ENUM, FIELD(command_settings, log_level), "info", "How much to log to standard error.",
      .value_name = "LEVEL", .words = log_level_words, .is_reloadable = true, .alias_variable = "PYROSCOPE_LOG_LEVEL" },
    { "log-format", OPTION_ENUM, FIELD(command_settings, log_format), "text",
      "How log lines look: for people, or one JSON object a line.", .value_name = "FORMAT", .words = log_format_words },
    { "color", OPTION_BOOL, FIELD(command_settings, color), "true",
      "Colour the output when it goes to a terminal. A NO_COLOR variable turns colours off too." },
    { "print-config", OPTION_BOOL, FIELD(command_settings, print_config), NULL,
      "Print the value of every option and where it came from, as a configuration file, and exit.",
      .is_flag_only = true },
    { "help", OPTION_BOOL, FIELD(command_settings, help), NULL, "Print help and exit.", .letter = 'h',
      .is_flag_only = true },
    { "version", OPTION_BOOL, FIELD(command_settings, version), NULL, "Print the version and exit.",
      .is_flag_only = true },
};

const struct option_group command_globals = OPTION_GROUP("Global options", global_specs);

/* --- tables --- */

size_t command_groups_n(const struct command *command)
{
    size_t n = 0;

    while (n < COMMAND_GROUPS_MAX && command->options[n].specs)
        n++;
    return n;
}

size_t command_arguments_n(const struct command *command)
{
    size_t n = 0;

    while (n < COMMAND_ARGUMENTS_MAX && command->arguments[n].name)
        n++;
    return n;
}

size_t command_examples_n(const struct command *command)
{
    size_t n = 0;

    while (n < COMMAND_EXAMPLES_MAX && command->examples[n].line)
        n++;
    return n;
}

const struct command *command_find(const struct command_set *set, struct slice name)
{
    for (size_t i = 0; i < set->n; i++)
        if (slice_is(name, set->commands[i]->name))
            return set->commands[i];
    return NULL;
}

int command_get(const struct command_set *set, struct slice name, const struct command **ret_command, struct error *err)
{
    const struct command *command = command_find(set, name);
    struct suggest nearest = suggest_start(name);

    if (command) {
        *ret_command = command;
        return 0;
    }
    for (size_t i = 0; i < set->n; i++)
        if (!set->commands[i]->is_hidden)
            suggest_offer(&nearest, set->commands[i]->name);
    name = slice_sub(name, 0, 64);
    if (nearest.name)
        return error_set(err, ERR_USAGE, "unknown command '%.*s'; did you mean '%s'?", SLICE_ARG(name), nearest.name);
    return error_set(err, ERR_USAGE, "unknown command '%.*s'", SLICE_ARG(name));
}

/* --- one run --- */

struct command_run {
    const struct command_set *set;
    const struct command_world *world;
    const struct command *command; /* NULL until it is found, and when none was given */
    void *config;
    struct command_settings settings;
    struct options *options;
    struct config file;
    struct arena arena;
};

static int take_command(struct command_run *run, const struct command *command, struct error *err)
{
    run->config = arena_alloc_zero(&run->arena, command->config_bytes, err);
    if (!run->config)
        return -1;
    run->command = command;
    for (size_t i = 0; i < command_groups_n(command); i++)
        if (options_bind(run->options, &command->options[i], run->config, err) < 0)
            return -1;
    return 0;
}

static int find_command(struct command_run *run, const char *name, struct error *err)
{
    const struct command *command;

    return command_get(run->set, slice_from(name), &command, err) < 0 ? -1 : take_command(run, command, err);
}

/* Commands share one environment and one configuration file, so what any of them knows is no mistake. */
static int know_all_commands(struct command_run *run, struct error *err)
{
    for (size_t i = 0; i < run->set->n; i++) {
        const struct command *command = run->set->commands[i];

        for (size_t group = 0; group < command_groups_n(command); group++)
            if (options_know(run->options, &command->options[group], err) < 0)
                return -1;
    }
    return 0;
}

static int read_arguments(struct command_run *run, int argc, const char *const *argv, struct error *err)
{
    int index = 1;

    if (options_new(&run->arena, &run->options, err) < 0 ||
        options_bind(run->options, &command_globals, &run->settings, err) < 0 ||
        options_apply_arguments(run->options, argc, argv, true, &index, err) < 0)
        return -1;
    if (index >= argc)
        return 0;
    if (find_command(run, argv[index], err) < 0)
        return -1;
    index++;
    return options_apply_arguments(run->options, argc, argv, false, &index, err);
}

/* Tells something on standard error: as a line for people, or as a log line where those are JSON. */
static void tell(const struct command_set *set, const struct command_world *world, enum log_format format,
                 enum log_level level, struct slice text)
{
    struct buffer line;

    if (world->served) {
        world->served->tell(world->served->self, level, text);
        return;
    }
    if (format == LOG_JSON) {
        log_write(level, "cli", 0, "%.*s", SLICE_ARG(text));
        return;
    }
    buffer_init(&line, 0);
    buffer_printf(&line, "%s: %s", set->name, level == LOG_WARN ? "warning: " : "");
    table_append_text(&line, text);
    buffer_append_byte(&line, '\n');
    fwrite(line.data, 1, line.len, world->messages);
    buffer_done(&line);
}

__attribute__((format(printf, 5, 0))) static void tell_formatted(const struct command_set *set,
                                                                 const struct command_world *world,
                                                                 enum log_format format, enum log_level level,
                                                                 const char *fmt, va_list args)
{
    char text[1024];
    int len = vsnprintf(text, sizeof(text), fmt, args);

    /* How much is told to somebody else is not for our own log level to say. */
    if (len >= 0 && (world->served || log_is_on(level)))
        tell(set, world, format, level, slice_of(text, MIN((size_t)len, sizeof(text) - 1)));
}

void command_warn(const struct command_context *context, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell_formatted(context->set, context->world, context->log_format, LOG_WARN, fmt, args);
    va_end(args);
}

void command_note(const struct command_context *context, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell_formatted(context->set, context->world, context->log_format, LOG_INFO, fmt, args);
    va_end(args);
}

void command_tell_error(const struct command_context *context, const struct error *err)
{
    fflush(context->out);
    tell(context->set, context->world, context->log_format, LOG_ERROR, slice_from(err->text));
}

int command_check_asker(void *given, struct error *err)
{
    const struct command_context *context = given;
    const struct command_served *served = context->world->served;

    if (!served)
        return 0;
    if (served->is_cancelled && atomic_load_explicit(served->is_cancelled, memory_order_relaxed))
        return error_set(err, ERR_CANCELLED, "nobody waits for the answer any more");
    if (served->deadline_mono_ns && clock_mono_ns() > served->deadline_mono_ns)
        return error_set(err, ERR_TIMEOUT, "the answer took longer than the %s that the server allows",
                         units_human_ns(served->timeout_ns).text);
    return 0;
}

struct command_patience command_patience(const struct command_context *context, int64_t timeout_ns)
{
    const struct command_served *served = context->world->served;
    struct command_patience patience = { .limit_ns = timeout_ns };

    if (timeout_ns && __builtin_add_overflow(clock_mono_ns(), timeout_ns, &patience.deadline_mono_ns))
        patience.deadline_mono_ns = 0;
    if (served && served->deadline_mono_ns &&
        (!patience.deadline_mono_ns || served->deadline_mono_ns <= patience.deadline_mono_ns))
        patience = (struct command_patience){ served->deadline_mono_ns, served->timeout_ns, true };
    return patience;
}

int command_too_slow(const struct command_patience *patience, struct error *err)
{
    return error_wrap(err, patience->is_server_s ? "the server's --query-timeout %s" : "--timeout %s",
                      units_human_ns(patience->limit_ns).text);
}

/* There is one bar, and it is not for those who are far away. */
void command_progress(const struct command_context *context, const char *title)
{
    if (!context->world->served)
        progress_start(title, 0);
}

void command_progress_end(const struct command_context *context)
{
    if (!context->world->served)
        progress_finish();
}

PRINTF(2, 3) static void run_warn(const struct command_run *run, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell_formatted(run->set, run->world, run->settings.log_format, LOG_WARN, fmt, args);
    va_end(args);
}

/* Variables may also belong to another version of the program, so a strange one does not stop the work. */
static void warn_of_stray_variables(const struct command_run *run)
{
    const char *const *at = run->world->environment;
    struct option_variable nearest;

    for (; (at = options_find_stray_variable(run->options, at, &nearest)); at++) {
        struct slice name = slice_of(*at, MIN(strcspn(*at, "="), 64));

        if (nearest.text[0])
            run_warn(run, "%.*s is no option; did you mean %s?", SLICE_ARG(name), nearest.text);
        else
            run_warn(run, "%.*s is no option of any command and is ignored", SLICE_ARG(name));
    }
}

const char *const command_sections[] = { "scrape_configs", NULL };

static int read_surroundings(struct command_run *run, struct error *err)
{
    if (know_all_commands(run, err) < 0 || options_apply_environment(run->options, run->world->environment, err) < 0)
        return -1;
    warn_of_stray_variables(run);
    if (!run->settings.config)
        return 0;
    if (config_read(run->settings.config, command_sections, &run->arena, &run->file, err) < 0)
        return -1;
    return options_apply_entries(run->options, run->settings.config, run->file.entries, run->file.n, err);
}

/* Arguments that are missing or too many. */
static int check_arguments(const struct command_run *run, struct option_list given, struct error *err)
{
    const struct command *command = run->command;
    uint64_t least = 0, most = 0;

    for (size_t i = 0; i < command_arguments_n(command); i++) {
        const struct command_argument *argument = &command->arguments[i];

        least += argument->min;
        most += argument->max;
        if (given.n < least)
            return error_set(err, ERR_USAGE, "'%s %s' needs %s: %s", run->set->name, command->name, argument->name,
                             argument->help);
    }
    if (given.n > most)
        return error_set(err, ERR_USAGE, "'%s %s' has no use for the argument '%.64s'", run->set->name, command->name,
                         given.items[most]);
    return 0;
}

static int print_effective(const struct command_run *run, struct error *err)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    options_print_effective(run->options, &text);
    if (buffer_check(&text, err) < 0)
        return -1;
    fwrite(text.data, 1, text.len, run->world->out);
    return 0;
}

int command_reread(const struct command_context *context, struct command_reread *ret_reread, struct error *err)
{
    struct command_run run = { .set = context->set, .world = context->world };
    struct option_changes changes;

    arena_init(&run.arena, 0);
    if (read_arguments(&run, context->argc, context->argv, err) < 0 || read_surroundings(&run, err) < 0 ||
        options_compare(context->options, run.options, &changes, err) < 0) {
        arena_done(&run.arena);
        return -1;
    }
    *ret_reread = (struct command_reread){ .config = run.config,
                                           .options = run.options,
                                           .file = run.file,
                                           .log_level = run.settings.log_level,
                                           .changes = changes,
                                           .arena = run.arena };
    return 0;
}

static struct command_context context_of(struct command_run *run, struct option_list arguments)
{
    return (struct command_context){
        .set = run->set,
        .command = run->command,
        .world = run->world,
        .config = run->config,
        .arguments = arguments,
        .options = run->options,
        .file = &run->file,
        .arena = &run->arena,
        .out = run->world->out,
        .has_colour = run->world->has_colour && run->settings.color,
        .log_format = run->settings.log_format,
    };
}

static int run_command(struct command_run *run, int argc, const char *const *argv, int *ret_status, struct error *err)
{
    struct command_context context = context_of(run, options_positionals(run->options));
    bool is_done = false;

    context.argc = argc;
    context.argv = argv;
    if (check_arguments(run, context.arguments, err) < 0)
        return -1;
    log_setup(STDERR_FILENO, run->settings.log_format, run->settings.log_level);
    if (run->set->elsewhere && run->set->elsewhere(&context, &is_done, err) < 0)
        return -1;
    if (!is_done && run->command->run(&context, err) < 0)
        return -1;
    *ret_status = context.exit_status;
    return 0;
}

/* Output that did not arrive is a failure, however well the work went. The cause of a write that failed during the work
 * is no longer known. */
static int check_output(const struct command_world *world, struct error *err)
{
    bool had_failed = ferror(world->out);

    if (fflush(world->out) != 0)
        return error_set_errno(err, errno, "writing standard output");
    if (had_failed)
        return error_set(err, ERR_IO, "standard output took only a part of what was printed");
    return 0;
}

static int perform(struct command_run *run, int argc, const char *const *argv, int *ret_status, struct error *err)
{
    if (read_arguments(run, argc, argv, err) < 0)
        return -1;
    if (run->settings.version) {
        fprintf(run->world->out, "%s %s\n", run->set->name, version_text());
        return 0;
    }
    if (run->settings.help || (!run->command && !run->settings.print_config))
        return help_show(run->set, run->command, run->world, err);
    if (read_surroundings(run, err) < 0)
        return -1;
    if (run->settings.print_config)
        return print_effective(run, err);
    return run_command(run, argc, argv, ret_status, err);
}

/* Says what went wrong, behind what was printed so far. */
static void report(const struct command_run *run, const struct error *err)
{
    fflush(run->world->out);
    tell(run->set, run->world, run->settings.log_format, LOG_ERROR, slice_from(err->text));
    if (err->code == ERR_USAGE && run->settings.log_format != LOG_JSON) {
        bool has_page = run->command && strcmp(run->command->name, "help") != 0;

        fprintf(run->world->messages, "%s: run '%s%s%s --help' for help\n", run->set->name, run->set->name,
                has_page ? " " : "", has_page ? run->command->name : "");
    }
}

int command_main(const struct command_set *set, const struct command_world *world, int argc, const char *const *argv)
{
    struct command_run run = { .set = set, .world = world };
    struct error err = { .code = ERR_OK };
    int status = 0;

    arena_init(&run.arena, 0);
    if (perform(&run, argc, argv, &status, &err) < 0 || check_output(world, &err) < 0) {
        report(&run, &err);
        status = error_code_exit_status(err.code);
    }
    arena_done(&run.arena);
    return status;
}

/* --- for somebody else --- */

static int perform_call(struct command_run *run, const struct command_call *call, int *ret_status, struct error *err)
{
    struct command_context context;

    if (options_new(&run->arena, &run->options, err) < 0 || take_command(run, call->command, err) < 0)
        return -1;
    for (size_t i = 0; i < call->n; i++)
        if (options_apply_value(run->options, call->values[i].name, call->values[i].text, err) < 0)
            return -1;
    if (check_arguments(run, call->arguments, err) < 0)
        return -1;
    context = context_of(run, call->arguments);
    if (run->command->run(&context, err) < 0)
        return -1;
    *ret_status = context.exit_status;
    return 0;
}

int command_serve(const struct command_set *set, const struct command_world *world, const struct command_call *call,
                  int *ret_status, struct error *err)
{
    struct command_run run = { .set = set, .world = world, .settings = { .color = true } };
    int result;

    arena_init(&run.arena, world->served->query_bytes);
    result = perform_call(&run, call, ret_status, err);
    arena_done(&run.arena);
    return result;
}
