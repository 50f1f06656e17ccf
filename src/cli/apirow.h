// SPDX-License-Identifier: Apache-2.0
/* What hearth's own API consists of: paths that run commands. A row names the command; its options and arguments are the
 * parameters of the path, so that each is described once, where the command is. The handlers, docs/openapi.yaml,
 * docs/reference/http.md and --url all read this table.
 *
 * R1  An option is a parameter unless it is about the machine (option_spec.is_of_machine), means nothing for the path
 *     (`without`), or is settled by it.
 * R2  --json and --csv are one parameter, `output`: json, text or csv, and json unless given.
 * R3  --format is a parameter where the path has several `formats`; the first of them holds unless given. */
#pragma once

#include "cli/command.h"
#include "net/route.h"

#define APIROW_MAX_ARGUMENTS 2
#define APIROW_MAX_FORMATS   8
#define APIROW_MAX_WITHOUT   10
#define APIROW_MAX_REQUIRED  2

struct apirow {
    enum http_method method;
    const char *path;
    enum route_scope scope;
    const struct command *command;
    const char *summary;
    /* Parameters that are the positional arguments of the command, in order. */
    const char *arguments[APIROW_MAX_ARGUMENTS];
    const char *formats[APIROW_MAX_FORMATS];   /* words of --format; none = every one, where there is such an option */
    const char *without[APIROW_MAX_WITHOUT];   /* options that mean nothing here */
    const char *required[APIROW_MAX_REQUIRED]; /* options that must be given */
    bool is_file;                              /* the answer is a file to save: there is no `output` */
    bool is_list;                              /* takes nothing but --tenant: lists instead of changing something */
    bool is_view;                              /* one side of a command that another row has whole */
};
extern const struct apirow apirow_all[];
extern const size_t apirow_n;
/* The same rows as routes: api.h has their handler. */
extern const struct route_table apirow_routes;

/* The row of a route, which must be one of apirow_routes or a copy. */
const struct apirow *apirow_of(const struct route *route);

/* What only requests have, beside the options of commands. */
enum apirow_own_parameter {
    APIROW_OWN_OUTPUT,
    APIROW_OWN_FILE,
    APIROW_OWN_WIDTH,
    APIROW_OWN_COLOR,
    APIROW_OWN_UTF8,
    APIROW_OWN_COUNT
};
enum apirow_output { APIROW_JSON, APIROW_TEXT, APIROW_CSV };
struct apirow_own {
    unsigned output; /* enum apirow_output */
    const char *file;
    uint64_t width;
    bool has_colour, has_utf8;
    bool is_given[APIROW_OWN_COUNT];
};

/* Where a parameter goes. */
enum apirow_target { APIROW_ARGUMENT, APIROW_OPTION, APIROW_OWN };

struct apirow_parameter {
    const char *name;
    enum apirow_target target;
    const struct option_spec *spec; /* NULL for an argument, which is any text */
    const char *help;
    const char *default_text; /* NULL = none */
    bool is_required;         /* the request fails without it */
    const char *const *words; /* of a path that takes some of the words only, up to a NULL; NULL = those of `spec` */
};

/* Parameter `index` of a row; false behind the last. */
bool apirow_parameter(const struct apirow *row, size_t index, struct apirow_parameter *ret_parameter);
/* The one called `name`, or false. */
bool apirow_find_parameter(const struct apirow *row, struct slice name, struct apirow_parameter *ret_parameter);
/* Word `index` that the parameter takes, or NULL behind the last and where any text is taken. */
const char *apirow_word(const struct apirow_parameter *parameter, size_t index);

/* The option of a command, or NULL. */
const struct option_spec *apirow_option(const struct command *command, struct slice name);

/* Fills the parameters that only requests have with their defaults, and takes one, once. Errors: ERR_USAGE. */
struct apirow_own apirow_own_defaults(void);
MUST_CHECK int apirow_take_own(struct apirow_own *own, const struct apirow_parameter *parameter, const char *text,
                               struct error *err);
