// SPDX-License-Identifier: Apache-2.0
/* One option, declared once: a row of a table gives the flag --retention, the variable HEARTH_RETENTION, the
 * configuration key `retention`, the range check, the help text and the reference pages.
 *
 *     static const struct option_spec server_options[] = {
 *         { "retention", OPTION_DURATION, FIELD(server_config, retention_ns), "7d", "How long profiles are kept." },
 *         { "lines", OPTION_UINT, FIELD(server_config, lines), "30", "Rows to show.", .letter = 'n', .max = "1000" },
 *     };
 *
 * Here are the rows and how one value is read; options.h gathers values from where they are given. */
#pragma once

#include "base/address.h"
#include "base/error.h"

/*  type                C type of the field, and how a value is written */
enum option_type {
    OPTION_BOOL,      /* bool               --x, --no-x, --x=false; elsewhere true/false, yes/no, on/off, 1/0 */
    OPTION_TEXT,      /* const char *       anything; NULL when there is no default and nothing was given */
    OPTION_FILE,      /* const char *       a path; shells complete it */
    OPTION_DIRECTORY, /* const char *       likewise */
    OPTION_REGEX,     /* const char *       a regular expression; compiled by whoever uses it */
    OPTION_INT,       /* int64_t            -5 */
    OPTION_UINT,      /* uint64_t           30 */
    OPTION_DOUBLE,    /* double             0.25 */
    OPTION_DURATION,  /* int64_t, ns        7d, 1h30m, 250ms, 0 */
    OPTION_SIZE,      /* uint64_t, bytes    512KB (1000s), 64MiB (1024s), 4096 */
    OPTION_PERCENT,   /* double, a share    90% is 0.9; the sign is required; at most 100% unless `max` says more */
    OPTION_RATE,      /* double, per second 97, 100Hz, 10/s, 600/min */
    OPTION_ADDRESS,   /* struct address     HOST:PORT, :PORT, [::1]:PORT, unix:PATH */
    OPTION_ENUM,      /* enum or unsigned   one of `words`; the value is its index */
    OPTION_LIST,      /* struct option_list may be repeated; a list in a file, commas in the environment */
};
#define OPTION_TYPE_COUNT (OPTION_LIST + 1)

struct option_list {
    const char *const *items;
    size_t n;
};

/* Where a field is and what C type it has; made by FIELD, checked against the option's type when bound. */
enum option_field_kind {
    OPTION_FIELD_NONE,
    OPTION_FIELD_BOOL,
    OPTION_FIELD_TEXT,
    OPTION_FIELD_I64,
    OPTION_FIELD_U64,
    OPTION_FIELD_DOUBLE,
    OPTION_FIELD_ADDRESS,
    OPTION_FIELD_ENUM,
    OPTION_FIELD_LIST,
};

struct option_field {
    uint32_t offset;
    enum option_field_kind kind;
};

// clang-format off
#define FIELD(struct_name, member)                                                                                     \
    { offsetof(struct struct_name, member), OPTION_FIELD_KIND(((struct struct_name *)0)->member) }
#define OPTION_FIELD_KIND(field)                                                                                       \
    _Generic((field),                                                                                                  \
        bool: OPTION_FIELD_BOOL,                                                                                       \
        const char *: OPTION_FIELD_TEXT,                                                                               \
        int64_t: OPTION_FIELD_I64,                                                                                     \
        uint64_t: OPTION_FIELD_U64,                                                                                    \
        double: OPTION_FIELD_DOUBLE,                                                                                   \
        struct address: OPTION_FIELD_ADDRESS,                                                                          \
        unsigned: OPTION_FIELD_ENUM,                                                                                   \
        struct option_list: OPTION_FIELD_LIST)
// clang-format on

struct option_spec {
    const char *name; /* lower case, dashes; a dot nests in files: `limits.samples` */
    enum option_type type;
    struct option_field field;
    const char *default_text; /* as a user would write it; NULL leaves the field zero */
    const char *help;         /* full sentences; the default and the choices are added behind it */

    /* The rarer ones, by designated initialiser. */
    char letter;                          /* -n */
    const char *value_name;               /* "FILE" in help; NULL = the usual one of the type */
    const char *min, *max;                /* inclusive, in the option's own notation; NULL = whatever the type holds */
    const char *const *words;             /* of an enum: NULL-terminated, in the order of the C enum */
    const char *(*word_at)(size_t index); /* instead of `words`: word `index`, or NULL behind the last one */
    const char *alias;                    /* another name for the flag, as other programs have it; no key of a file */
    const char *alias_variable;           /* a variable of another program, in full: read where ours is absent */
    bool is_reloadable;                   /* a running server takes a new value when it gets SIGHUP */
    const char *hint;                     /* for a wrong value, behind what is wrong: what may have been meant */
    bool is_hidden;                       /* works, but help, completions and reference pages leave it out */
    bool is_flag_only;                    /* neither a variable nor a key: --help */
    bool is_of_machine; /* about files, memory or terminal of this machine: nothing that others may set */
};

/* Some rows under one heading, for fields of one struct. Groups can be shared by commands: `offset` says where that
 * struct lies in the target given to options_bind. */
struct option_group {
    const char *title; /* heading in help: "Options", "Filters" */
    const struct option_spec *specs;
    size_t n;
    size_t offset;
};
#define OPTION_GROUP(title_text, table) OPTION_GROUP_AT(title_text, table, 0)
#define OPTION_GROUP_AT(title_text, table, at)                                                                         \
    {                                                                                                                  \
        .title = (title_text), .specs = (table), .n = ARRAY_LEN(table), .offset = (at)                                 \
    }

#define OPTION_VALUE_MAX       65536 /* bytes of one value */
#define OPTION_VARIABLE_PREFIX "HEARTH_"

/* A value of any type but a list. */
union option_value {
    bool truth;
    const char *text;
    int64_t i64;
    uint64_t u64;
    double number;
    struct address address;
    unsigned word;
};

/* Reads `text` as a value of the option and checks its range; a text value points into `text`. Not for lists, whose
 * items are any text. Errors: ERR_INVALID, saying what was given, what is accepted, and an example. Thread: any. */
MUST_CHECK int option_parse(const struct option_spec *spec, const char *text, union option_value *ret_value,
                            struct error *err);

/* What help and reference pages need of a row. */
const char *option_value_name(const struct option_spec *spec);         /* "DURATION"; NULL for a bool */
const char *option_min(const struct option_spec *spec);                /* the least value allowed, or NULL */
const char *option_max(const struct option_spec *spec);                /* the most allowed, or NULL */
const char *option_word(const struct option_spec *spec, size_t index); /* NULL behind the last word */
const char *option_type_name(enum option_type type);                   /* "duration" */
const char *option_type_syntax(enum option_type type);                 /* "a number with a unit, like 30s or 7d" */
enum option_field_kind option_type_field(enum option_type type);       /* the C type its field must have */

/* "HEARTH_RETENTION", or "" for an option that has no variable. */
struct option_variable {
    char text[80];
};
struct option_variable option_variable(const struct option_spec *spec);
