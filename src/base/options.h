// SPDX-License-Identifier: Apache-2.0
/* The values of options, gathered from flags, environment, configuration file and defaults into the fields of structs.
 *
 * O1  A value comes from the flag, else the environment, else the file, else the default; the order of the
 *     options_apply_... calls does not matter. Of several flags the last wins, whichever name each has; a list collects
 *     all its flags. Of an option's two variables the one that begins with HEARTH_ wins.
 * O2  Each option remembers the text of its value and where it came from.
 * O3  Texts live in the arena given to options_new, and so does everything else here: there is nothing to free, and
 *     argv, environment and entries may go away afterwards.
 * O4  A table that contradicts itself (two equal names, a default out of range, a field of the wrong C type) is a bug
 *     and ends in ASSERT when it is bound. Input never does. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/option.h"

/* One key of a configuration file, made by config/. */
struct option_entry {
    struct slice key;          /* nested maps joined by dots */
    const char *const *values; /* one for a scalar, any number for a list */
    size_t values_n;           /* 0 with is_list unset: the key had no value, which leaves the option alone */
    bool is_list;
    unsigned line;
};

enum option_origin { OPTION_FROM_DEFAULT, OPTION_FROM_FILE, OPTION_FROM_ENVIRONMENT, OPTION_FROM_FLAG };

#define OPTIONS_MAX      256   /* rows bound to one struct options */
#define OPTIONS_LIST_MAX 65536 /* items of one list, and positional arguments */

struct options;

/* An empty set of options, whole in `arena`. Errors: ERR_MEMORY, ERR_LIMIT. Thread: one at a time, later any reader. */
MUST_CHECK int options_new(struct arena *arena, struct options **ret_options, struct error *err);

/* Adds the rows of `group` and fills their fields in `target` with the defaults. `group` (its table, not the struct
 * itself) and `target` outlive the options. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int options_bind(struct options *options, const struct option_group *group, void *target, struct error *err);

/* Makes the rows of `group` known as options of somebody else, who shares the environment and the configuration file
 * with us: their keys and variables are no mistakes, and their values are not looked at. Rows that are bound too stay
 * bound. The group's table outlives the options. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int options_know(struct options *options, const struct option_group *group, struct error *err);

/* Reads flags from argv[*index] on (argv[0] is not skipped by itself). Positional arguments are collected, wherever
 * they stand between the flags; "--" makes the rest positional. With `stop_at_positional` it returns at the first one,
 * which argv[*index] then is. On success *index is the first argument not read. Errors: ERR_USAGE for a flag that is
 * unknown (the nearest known one is named) or a value that is wrong, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int options_apply_arguments(struct options *options, int argc, const char *const *argv,
                                       bool stop_at_positional, int *index, struct error *err);

/* Takes one value as the flag --NAME=TEXT gives it; `name` is no alias, and a list gets one more item. Errors: ERR_USAGE for a
 * name that is not bound (the nearest one is named) or a value that is wrong, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int options_apply_value(struct options *options, const char *name, const char *text, struct error *err);

/* Reads the HEARTH_… variables of `environment` (NAME=VALUE texts up to a NULL) and the other variables that bound
 * options have as aliases. The rest is left alone, and an empty one counts as absent. Errors: ERR_USAGE naming the
 * variable, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int options_apply_environment(struct options *options, const char *const *environment, struct error *err);

/* The first HEARTH_… variable of `environment` that no option bound or known has, or NULL. An empty one counts as
 * absent. `ret_nearest` is the variable that may have been meant, or "". To find them all, go on behind the one found. */
const char *const *options_find_stray_variable(const struct options *options, const char *const *environment,
                                               struct option_variable *ret_nearest);

/* Takes the keys of a configuration file. Errors: ERR_INVALID as "file:line: …" for a key that is neither bound nor
 * known (the nearest one is named), a wrong value, or a list where none is allowed; ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int options_apply_entries(struct options *options, const char *file, const struct option_entry *entries,
                                     size_t n, struct error *err);

/* The positional arguments collected so far. */
struct option_list options_positionals(const struct options *options);

/* One bound option with what it was given. */
struct option_given {
    const struct option_spec *spec;
    enum option_origin origin;
    const char *text;        /* as it was written; NULL for a list, and for what has neither value nor default */
    struct option_list list; /* the items, of a list */
};
/* Option `index` in the order of binding; false behind the last. */
bool options_at(const struct options *options, size_t index, struct option_given *ret_given);

/* Where the option's value came from. The name must be bound. */
enum option_origin options_get_origin(const struct options *options, const char *name);

/* Likewise, by the name that was used: "--http-address", "-n", "PYROSCOPE_RETENTION_PERIOD", "hearth.yaml:12" or
 * "default". Lives as long as the options. */
const char *options_get_origin_name(const struct options *options, const char *name);

/* An option whose value differs between two sets. Texts are as a variable would have them: the items of a list with
 * commas between, "" for an option without a value. */
struct option_change {
    const struct option_spec *spec;
    const char *old_text;
    const char *new_text;
};
struct option_changes {
    const struct option_change *items; /* in the order of binding */
    size_t n;
};

/* What differs between two sets that have the same rows bound in the same order, as before and after a configuration
 * file was read again. Values are compared by the fields, which must still be as they were set: what is written in
 * another way but means the same (7d, 168h) is no change, nor is another origin. The changes live in the arena of
 * `now`, their texts there or in that of `old`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int options_compare(const struct options *old, struct options *now, struct option_changes *ret_changes,
                               struct error *err);

/* All bound options that a file may hold, as a configuration file: `retention: 7d  # default`. Each comment says where
 * the value came from. */
void options_print_effective(const struct options *options, struct buffer *out);
