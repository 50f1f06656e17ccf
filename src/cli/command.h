// SPDX-License-Identifier: Apache-2.0
/* The subcommands: what one is, and how a command line becomes a run of one.
 *
 * Everything known about a command stands in its `struct command`, in cmd_<name>.c; commands.c lists them all. Help,
 * man pages, completions and docs/reference come from those tables.
 *
 * A command can be run in two ways: by a command line (command_main), or by a server for somebody who asks over the
 * network (command_serve, called by api.h). Commands that are served have no state of their own: several run at a time. */
#pragma once

#include "base/log.h"
#include "base/options.h"
#include "config/config.h"

#include <stdatomic.h>
#include <stdio.h>

#define COMMAND_GROUPS_MAX    12
#define COMMAND_ARGUMENTS_MAX 4
#define COMMAND_EXAMPLES_MAX  6
#define COMMAND_MANY          UINT32_MAX /* as `max` of an argument: any number */

/* What a positional argument names; shells complete it. */
enum command_argument_kind { COMMAND_ARGUMENT_FILE, COMMAND_ARGUMENT_TEXT, COMMAND_ARGUMENT_COMMAND };

struct command_argument {
    const char *name; /* "FILE" */
    enum command_argument_kind kind;
    uint32_t min;
    uint32_t max;     /* at least 1 and min; only one argument of a command may have max above min */
    const char *help; /* full sentences */
};

struct command_example {
    const char *line; /* "hearth top cpu.pb.gz" */
    const char *help; /* a full sentence */
};

struct command_context;

struct command {
    const char *name;
    const char *summary;     /* one line without a full stop: "Show the functions that cost most" */
    const char *description; /* full sentences; a blank line between paragraphs */
    size_t config_bytes;     /* size of the struct that `options` fill; 0 when there are none */
    struct option_group options[COMMAND_GROUPS_MAX];          /* up to the first without specs */
    struct command_argument arguments[COMMAND_ARGUMENTS_MAX]; /* in order, up to the first without a name */
    struct command_example examples[COMMAND_EXAMPLES_MAX];    /* up to the first without a line */
    /* Does the work. 0, or -1 with an error, which is printed and chooses the exit status; ERR_USAGE also points to the
     * help. Results go to context->out, whose writes need no check: they are checked once, behind the run. */
    int (*run)(struct command_context *context, struct error *err);
    bool is_hidden; /* works, but help, completions and reference pages leave it out */
};

/* A program: its commands and the options that stand before or behind any command's name. */
struct command_set {
    const char *name;        /* "hearth" */
    const char *summary;     /* as a command's */
    const char *description; /* likewise */
    const struct command *const *commands;
    size_t n;
    /* Called before a command runs: may do its work in another way, as by asking a server, and then says so. NULL = all
     * run here. Errors are those of the command. */
    int (*elsewhere)(struct command_context *context, bool *ret_is_done, struct error *err);
};

struct store;
struct engine;
struct query_facts;
struct tracestore;
struct metricstore;

/* What a server lends to a command that it runs for somebody else. */
struct command_served {
    struct store *store;
    struct engine *engine;
    struct tracestore *traces;
    struct metricstore *metrics;
    const char *trace_link;          /* where else a trace can be seen, as --trace-link has it; NULL = nowhere */
    const char *data_dir;            /* of the store */
    uint64_t query_bytes;            /* what one query may take of memory */
    int64_t timeout_ns;              /* what the server allows for an answer; 0 = any */
    int64_t deadline_mono_ns;        /* when that is over; 0 = never */
    const atomic_bool *is_cancelled; /* nobody waits for the answer any more */
    /* Takes warnings and notes. */
    void (*tell)(void *self, enum log_level level, struct slice text);
    void *self;
    struct query_facts *facts; /* what was read for the answer is added to it */
};

/* What the outside gives to a run; main() passes the real things, tests their own. */
struct command_world {
    FILE *out;
    FILE *messages;
    const char *const *environment;      /* NAME=VALUE texts up to a NULL */
    bool has_colour;                     /* whether `out` is a terminal that wants colours */
    unsigned width;                      /* columns that `out` has; 80 when it is no terminal */
    const struct command_served *served; /* NULL = the command was started by a command line */
};

/* What a command's run() gets. */
struct command_context {
    const struct command_set *set;
    const struct command *command;
    const struct command_world *world;
    const void *config;            /* the struct that command->options fill */
    struct option_list arguments;  /* positional; their number has been checked */
    const struct options *options; /* to ask where a value came from */
    const struct config *file;     /* what the configuration file holds; nothing where there is none */
    struct arena *arena;           /* lives as long as the run */
    FILE *out;                     /* for results */
    int argc;                      /* the whole command line, for command_reread */
    const char *const *argv;
    bool has_colour;            /* whether results may be coloured: world->has_colour, and no --no-color */
    enum log_format log_format; /* how warnings look */
    int exit_status;            /* 0; a command that gives a verdict (a check that did not pass) sets another */
};

/* The keys of a configuration file that are no options but sections (config/config.h), up to a NULL. Commands that have
 * no use for one leave it alone, so that all can share a file. */
extern const char *const command_sections[];

/* Runs `argv` (argv[0] is the program's own name) against `set`: finds the command, reads its options, runs it, reports
 * its error on world->messages. Returns the exit status. */
int command_main(const struct command_set *set, const struct command_world *world, int argc, const char *const *argv);

/* A run without a command line: the options that are given, and the positional arguments. */
struct command_value {
    const char *name; /* of an option of the command */
    const char *text;
};
struct command_call {
    const struct command *command;
    const struct command_value *values;
    size_t n;
    struct option_list arguments;
};
/* Runs a command for somebody else: world->served says for whom. Neither environment nor configuration file is read, global
 * options are not there, and world->messages is not written to. `*ret_status` is the exit status that the command chose.
 * Errors: ERR_USAGE for a wrong value or a missing argument, and those of the command. Thread: any. */
MUST_CHECK int command_serve(const struct command_set *set, const struct command_world *world,
                             const struct command_call *call, int *ret_status, struct error *err);

/* For steps of work that somebody else waits for: ERR_CANCELLED when he has gone, ERR_TIMEOUT when it takes too long.
 * `context` is a struct command_context. */
MUST_CHECK int command_check_asker(void *context, struct error *err);

/* How long an answer may take: what its asker allows (--timeout, 0 = any time), and no more than the server does. */
struct command_patience {
    int64_t deadline_mono_ns; /* 0 = none */
    int64_t limit_ns;
    bool is_server_s;
};
struct command_patience command_patience(const struct command_context *context, int64_t timeout_ns);
/* Says whose patience is at its end. Returns -1. */
int command_too_slow(const struct command_patience *patience, struct error *err);

/* As progress_start and progress_finish, for whoever sits before a terminal. */
void command_progress(const struct command_context *context, const char *title);
void command_progress_end(const struct command_context *context);

/* Tells a warning on standard error, unless --log-level keeps it back: "hearth: warning: ...", or a JSON line. */
void command_warn(const struct command_context *context, const char *fmt, ...) PRINTF(2, 3);

/* Tells on standard error what was done for the asker, unless --log-level keeps it back: "hearth: ...". */
void command_note(const struct command_context *context, const char *fmt, ...) PRINTF(2, 3);

/* Tells an error that does not end the command, as one that does is told: "hearth: ...". The command goes on and sees
 * to its exit status. */
void command_tell_error(const struct command_context *context, const struct error *err);

/* What a command was told, read once more: for commands that can change while they run. */
struct command_reread {
    const void *config;            /* as command_context has it */
    const struct options *options; /* likewise */
    struct config file;            /* likewise */
    enum log_level log_level;
    struct option_changes changes; /* against what the context has */
    struct arena arena;            /* owns it all; arena_done ends it */
};
/* Reads flags, variables and the configuration file again. On failure there is nothing to end. Errors: as at the start. */
MUST_CHECK int command_reread(const struct command_context *context, struct command_reread *ret_reread,
                              struct error *err);

/* The command called `name`, hidden ones too, or NULL. */
const struct command *command_find(const struct command_set *set, struct slice name);
/* As command_find, but an unknown name is ERR_USAGE and the nearest known one is named. */
MUST_CHECK int command_get(const struct command_set *set, struct slice name, const struct command **ret_command,
                           struct error *err);

/* The options that every command takes: --config, --log-level, --help ... */
extern const struct option_group command_globals;

/* How many rows an array inside a struct command uses. */
size_t command_groups_n(const struct command *command);
size_t command_arguments_n(const struct command *command);
size_t command_examples_n(const struct command *command);
