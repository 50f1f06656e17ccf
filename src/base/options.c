// SPDX-License-Identifier: Apache-2.0
/* From the top down: lists, binding tables, then the three places values come from (flags, environment, file entries).
 * What holds then is told by options_effective.c. */
#include "base/options.h"

#include "base/options_internal.h"
#include "base/suggest.h"

#include <stdio.h>

/* An argument in a message: its beginning, and dots when it was longer. */
#define SHOWN           "%.64s%s"
#define SHOWN_ARG(text) (text), (strlen(text) > 64 ? "..." : "")

#define FILE_SHOWN 96 /* bytes of a file's name in a message */

static void store(struct option_slot *slot, const union option_value *value)
{
    switch (slot->spec->field.kind) {
    case OPTION_FIELD_BOOL: memcpy(slot->field, &value->truth, sizeof(value->truth)); break;
    case OPTION_FIELD_TEXT: memcpy(slot->field, &value->text, sizeof(value->text)); break;
    case OPTION_FIELD_I64: memcpy(slot->field, &value->i64, sizeof(value->i64)); break;
    case OPTION_FIELD_U64: memcpy(slot->field, &value->u64, sizeof(value->u64)); break;
    case OPTION_FIELD_DOUBLE: memcpy(slot->field, &value->number, sizeof(value->number)); break;
    case OPTION_FIELD_ADDRESS: memcpy(slot->field, &value->address, sizeof(value->address)); break;
    case OPTION_FIELD_ENUM: memcpy(slot->field, &value->word, sizeof(value->word)); break;
    case OPTION_FIELD_LIST:
    case OPTION_FIELD_NONE: ASSERT(!"a list is stored item by item");
    }
}

/* --- lists --- */

/* Room doubles at powers of two, so the capacity need not be kept. */
static int list_append(struct arena *arena, struct option_list *list, const char *item, struct error *err)
{
    const char **items = (const char **)(uintptr_t)list->items;
    bool is_full = list->n == 0 || (list->n >= 4 && (list->n & (list->n - 1)) == 0);

    if (list->n == OPTIONS_LIST_MAX)
        return error_set(err, ERR_INVALID, "more than %d values; give fewer", OPTIONS_LIST_MAX);
    if (is_full) {
        size_t room = list->n == 0 ? 4 : list->n * 2;

        items = ARENA_ARRAY(arena, const char *, room, err);
        if (!items)
            return -1;
        if (list->n > 0)
            memcpy(items, list->items, list->n * sizeof(*items));
        list->items = items;
    }
    items[list->n++] = item;
    return 0;
}

static int list_append_copy(struct arena *arena, struct option_list *list, struct slice item, struct error *err)
{
    struct slice copy = arena_copy(arena, item, err);

    return copy.ptr ? list_append(arena, list, copy.ptr, err) : -1;
}

/* Comma-separated text, as the environment and defaults have it. */
static int list_split(struct arena *arena, const char *text, struct option_list *ret_list, struct error *err)
{
    struct option_list list = { NULL, 0 };
    struct slice rest = slice_from(text), part;

    while (slice_next_part(&rest, ',', &part)) {
        part = slice_trim(part);
        if (part.len > 0 && list_append_copy(arena, &list, part, err) < 0)
            return -1;
    }
    *ret_list = list;
    return 0;
}

/* --- binding --- */

int options_new(struct arena *arena, struct options **ret_options, struct error *err)
{
    struct options *options = ARENA_NEW(arena, struct options, err);

    if (!options)
        return -1;
    options->arena = arena;
    *ret_options = options;
    return 0;
}

static struct option_slot *find(struct options *options, struct slice name)
{
    for (size_t i = 0; i < options->n; i++)
        if (slice_is(name, options->slots[i].spec->name))
            return &options->slots[i];
    return NULL;
}

/* By its name or its alias, as flags have it. */
static struct option_slot *find_flag(struct options *options, struct slice name)
{
    for (size_t i = 0; i < options->n; i++) {
        const char *alias = options->slots[i].spec->alias;

        if (alias && slice_is(name, alias))
            return &options->slots[i];
    }
    return find(options, name);
}

static struct option_slot *find_letter(struct options *options, char letter)
{
    for (size_t i = 0; i < options->n; i++)
        if (options->slots[i].spec->letter == letter)
            return &options->slots[i];
    return NULL;
}

static bool is_ranged(enum option_type type)
{
    enum option_field_kind kind = option_type_field(type);

    return kind == OPTION_FIELD_I64 || kind == OPTION_FIELD_U64 || kind == OPTION_FIELD_DOUBLE;
}

/* Whether a row has the variable as its alias. */
static bool has_alias_variable(const struct options *options, const char *variable)
{
    for (size_t i = 0; i < options->n; i++) {
        const char *alias = options->slots[i].spec->alias_variable;

        if (alias && strcmp(alias, variable) == 0)
            return true;
    }
    return false;
}

/* O4. */
static void check_names(struct options *options, const struct option_spec *spec)
{
    ASSERT(spec->name && spec->name[0]);
    ASSERT(!find_flag(options, slice_from(spec->name)));
    ASSERT(!spec->letter || !find_letter(options, spec->letter));
    ASSERT(!spec->alias || (strcmp(spec->alias, spec->name) != 0 && !find_flag(options, slice_from(spec->alias))));
    if (spec->alias_variable) {
        ASSERT(!spec->is_flag_only && !has_alias_variable(options, spec->alias_variable));
        ASSERT(!slice_starts_with(slice_from(spec->alias_variable), SLICE(OPTION_VARIABLE_PREFIX)));
    }
}

static void check_spec(struct options *options, const struct option_spec *spec)
{
    check_names(options, spec);
    ASSERT(spec->help && spec->help[0]);
    ASSERT(spec->field.kind == option_type_field(spec->type));
    ASSERT((spec->type == OPTION_ENUM) == (spec->words || spec->word_at));
    ASSERT((!spec->min && !spec->max) || is_ranged(spec->type));
}

static int set_default(struct options *options, struct option_slot *slot, struct error *err)
{
    union option_value value;

    slot->text = slot->spec->default_text;
    if (!slot->text)
        return 0;
    if (slot->spec->type == OPTION_LIST)
        return list_split(options->arena, slot->text, options_list(slot), err);
    ASSERT(option_parse(slot->spec, slot->text, &value, err) == 0);
    store(slot, &value);
    return 0;
}

int options_bind(struct options *options, const struct option_group *group, void *target, struct error *err)
{
    for (size_t i = 0; i < group->n; i++) {
        const struct option_spec *spec = &group->specs[i];
        struct option_slot *slot;

        if (options->n == OPTIONS_MAX)
            return error_set(err, ERR_LIMIT, "more than %d options", OPTIONS_MAX);
        check_spec(options, spec);
        slot = &options->slots[options->n];
        *slot = (struct option_slot){ .spec = spec, .field = (char *)target + group->offset + spec->field.offset };
        if (set_default(options, slot, err) < 0)
            return -1;
        options->n++;
    }
    return 0;
}

int options_know(struct options *options, const struct option_group *group, struct error *err)
{
    struct known_group *known = ARENA_NEW(options->arena, struct known_group, err);

    if (!known)
        return -1;
    *known = (struct known_group){ *group, options->known };
    options->known = known;
    return 0;
}

/* All rows that files and the environment may name: those bound and then those known. */
struct row_walk {
    const struct options *options;
    size_t bound_i;
    const struct known_group *known;
    size_t known_i;
};

static struct row_walk walk_rows(const struct options *options)
{
    return (struct row_walk){ .options = options, .known = options->known };
}

/* The next row of any kind, or NULL. */
static const struct option_spec *next_any_row(struct row_walk *walk)
{
    if (walk->bound_i < walk->options->n)
        return walk->options->slots[walk->bound_i++].spec;
    while (walk->known && walk->known_i == walk->known->group.n) {
        walk->known = walk->known->next;
        walk->known_i = 0;
    }
    return walk->known ? &walk->known->group.specs[walk->known_i++] : NULL;
}

static const struct option_spec *next_row(struct row_walk *walk)
{
    const struct option_spec *spec;

    do
        spec = next_any_row(walk);
    while (spec && spec->is_flag_only);
    return spec;
}

/* --- taking a value from somewhere --- */

/* Where a value stands, and which code a wrong one has. */
struct source {
    enum option_origin origin;
    const char *where;    /* for messages and for options_print_effective */
    enum error_code code; /* of a wrong value */
    const char *key;      /* in a file, where `where` is not the option's name */
};

/* Puts the source in front of the story. Running out of memory is nobody's wrong value. */
static int blame(const struct source *source, struct error *err)
{
    if (err->code == ERR_INVALID)
        err->code = source->code;
    if (source->key)
        return error_wrap(err, "%s: %s", source->where, source->key);
    return error_wrap(err, "%s", source->where);
}

/* Marks the slot as set from the source. */
static int settle(struct options *options, struct option_slot *slot, const struct source *source, struct error *err)
{
    struct slice where = arena_copy(options->arena, slice_from(source->where), err);

    if (!where.ptr)
        return -1;
    slot->origin = source->origin;
    slot->where = where.ptr;
    return 0;
}

static int take_scalar(struct options *options, struct option_slot *slot, const struct source *source, const char *text,
                       struct error *err)
{
    union option_value value;
    struct slice copy = arena_copy(options->arena, slice_from(text), err);

    if (!copy.ptr)
        return -1;
    if (option_parse(slot->spec, copy.ptr, &value, err) < 0)
        return blame(source, err);
    if (settle(options, slot, source, err) < 0)
        return -1;
    store(slot, &value);
    slot->text = copy.ptr;
    return 0;
}

static int take_list(struct options *options, struct option_slot *slot, const struct source *source,
                     const struct option_list *list, struct error *err)
{
    if (settle(options, slot, source, err) < 0)
        return -1;
    slot->text = NULL;
    *options_list(slot) = *list;
    return 0;
}

/* One more item; the first one from a source replaces what a weaker source had put there. */
static int take_item(struct options *options, struct option_slot *slot, const struct source *source, const char *text,
                     struct error *err)
{
    struct option_list list = { NULL, 0 };

    if (slot->origin == source->origin)
        list = *options_list(slot);
    if (list_append_copy(options->arena, &list, slice_from(text), err) < 0)
        return blame(source, err);
    return take_list(options, slot, source, &list, err);
}

/* --- flags --- */

static int take_flag(struct options *options, struct option_slot *slot, const char *flag, const char *text,
                     struct error *err)
{
    struct source source = { OPTION_FROM_FLAG, flag, ERR_USAGE, NULL };

    if (slot->spec->type == OPTION_LIST)
        return take_item(options, slot, &source, text, err);
    return take_scalar(options, slot, &source, text, err);
}

static bool is_number(const char *text)
{
    double number;

    return slice_to_double(slice_from(text), &number);
}

/* The value of a flag that has none in the same argument: the next argument, unless that looks like a flag itself. */
static int next_value(int argc, const char *const *argv, int *index, const struct option_spec *spec, const char *flag,
                      const char **ret_value, struct error *err)
{
    const char *next = *index + 1 < argc ? argv[*index + 1] : NULL;

    if (!next)
        return error_set(err, ERR_USAGE, "%s needs a value: %s", flag, option_type_syntax(spec->type));
    if (next[0] == '-' && next[1] != '\0' && !is_number(next))
        return error_set(err, ERR_USAGE,
                         "%s needs a value, but '" SHOWN "' comes next; a value that begins with '-' is written %s%s",
                         flag, SHOWN_ARG(next), flag, flag[1] == '-' ? "=VALUE" : "VALUE");
    ++*index;
    *ret_value = next;
    return 0;
}

static int unknown_flag(struct options *options, struct slice name, struct error *err)
{
    bool is_negated = slice_starts_with(name, SLICE("no-"));
    struct suggest nearest = suggest_start(is_negated ? slice_sub(name, 3, name.len) : name);

    for (size_t i = 0; i < options->n; i++) {
        const struct option_spec *spec = options->slots[i].spec;

        if (spec->is_hidden || (is_negated && spec->type != OPTION_BOOL))
            continue;
        suggest_offer(&nearest, spec->name);
        if (spec->alias)
            suggest_offer(&nearest, spec->alias);
    }
    name = slice_sub(name, 0, 64);
    if (nearest.name)
        return error_set(err, ERR_USAGE, "unknown option '--%.*s'; did you mean '--%s%s'?", SLICE_ARG(name),
                         is_negated ? "no-" : "", nearest.name);
    return error_set(err, ERR_USAGE, "unknown option '--%.*s'", SLICE_ARG(name));
}

/* The switch that "no-NAME" turns off, or NULL. */
static struct option_slot *find_negated(struct options *options, struct slice name)
{
    struct option_slot *slot = NULL;

    if (slice_starts_with(name, SLICE("no-")))
        slot = find_flag(options, slice_sub(name, 3, name.len));
    return slot && slot->spec->type == OPTION_BOOL ? slot : NULL;
}

/* `flag` is "--no-NAME". */
static int take_negated(struct options *options, struct option_slot *slot, const char *flag, const char *value,
                        struct error *err)
{
    if (value)
        return error_set(err, ERR_USAGE, "'%s' takes no value; write it alone, or '--%s=" SHOWN "'", flag,
                         flag + strlen("--no-"), SHOWN_ARG(value));
    return take_flag(options, slot, flag, "false", err);
}

/* --name, --name=value, --no-name. */
static int apply_long(struct options *options, int argc, const char *const *argv, int *index, struct error *err)
{
    struct slice name = slice_from(argv[*index] + 2);
    ptrdiff_t equals = slice_find_byte(name, '=');
    const char *value = equals < 0 ? NULL : name.ptr + equals + 1;
    struct option_slot *slot;
    char flag[80];

    if (equals >= 0)
        name.len = (size_t)equals;
    snprintf(flag, sizeof(flag), "--%.*s", SLICE_ARG(name)); /* whole, if it is one of ours */
    slot = find_flag(options, name);
    if (!slot && find_negated(options, name))
        return take_negated(options, find_negated(options, name), flag, value, err);
    if (!slot)
        return unknown_flag(options, name, err);
    if (slot->spec->type == OPTION_BOOL && !value)
        value = "true";
    if (!value && next_value(argc, argv, index, slot->spec, flag, &value, err) < 0)
        return -1;
    return take_flag(options, slot, flag, value, err);
}

int options_apply_value(struct options *options, const char *name, const char *text, struct error *err)
{
    struct option_slot *slot = find(options, slice_from(name));
    char flag[80];

    if (!slot)
        return unknown_flag(options, slice_from(name), err);
    snprintf(flag, sizeof(flag), "--%s", slot->spec->name);
    return take_flag(options, slot, flag, text, err);
}

static int unknown_letter(struct options *options, char letter, const char *argument, struct error *err)
{
    if (find_flag(options, slice_from(argument + 1)))
        return error_set(err, ERR_USAGE, "unknown option '" SHOWN "'; did you mean '-%s'?", SHOWN_ARG(argument),
                         argument);
    if (argument[2] == '\0')
        return error_set(err, ERR_USAGE, "unknown option '%s'", argument);
    return error_set(err, ERR_USAGE, "unknown option '-%c' in '" SHOWN "'", letter, SHOWN_ARG(argument));
}

/* -n30, -n 30, -abc. */
static int apply_letters(struct options *options, int argc, const char *const *argv, int *index, struct error *err)
{
    const char *argument = argv[*index];

    for (const char *at = argument + 1; *at; at++) {
        struct option_slot *slot = find_letter(options, *at);
        const char flag[] = { '-', *at, '\0' };
        const char *value = at + 1;

        if (!slot)
            return unknown_letter(options, *at, argument, err);
        if (slot->spec->type == OPTION_BOOL) {
            if (take_flag(options, slot, flag, "true", err) < 0)
                return -1;
            continue;
        }
        if (*value == '\0' && next_value(argc, argv, index, slot->spec, flag, &value, err) < 0)
            return -1;
        return take_flag(options, slot, flag, value, err);
    }
    return 0;
}

static int take_positional(struct options *options, const char *argument, struct error *err)
{
    if (list_append_copy(options->arena, &options->positionals, slice_from(argument), err) == 0)
        return 0;
    if (err->code == ERR_INVALID)
        err->code = ERR_USAGE;
    return error_wrap(err, "arguments");
}

int options_apply_arguments(struct options *options, int argc, const char *const *argv, bool stop_at_positional,
                            int *index, struct error *err)
{
    bool has_ended = false;
    int at = *index;

    for (; at < argc; at++) {
        const char *argument = argv[at];
        int result;

        if (!has_ended && strcmp(argument, "--") == 0) {
            has_ended = true;
            continue;
        }
        if (has_ended || argument[0] != '-' || argument[1] == '\0') {
            if (stop_at_positional)
                break;
            result = take_positional(options, argument, err);
        } else if (argument[1] == '-') {
            result = apply_long(options, argc, argv, &at, err);
        } else {
            result = apply_letters(options, argc, argv, &at, err);
        }
        if (result < 0)
            return -1;
    }
    *index = at;
    return 0;
}

bool options_at(const struct options *options, size_t index, struct option_given *ret_given)
{
    const struct option_slot *slot;

    if (index >= options->n)
        return false;
    slot = &options->slots[index];
    *ret_given = (struct option_given){ .spec = slot->spec, .origin = slot->origin, .text = slot->text };
    if (slot->spec->type == OPTION_LIST)
        ret_given->list = *options_list(slot);
    return true;
}

struct option_list options_positionals(const struct options *options)
{
    return options->positionals;
}

/* --- environment --- */

/* The value of `name`, or NULL when it is absent or empty. */
static const char *find_variable(const char *const *environment, const char *name)
{
    size_t len = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
            return (*environment)[len + 1] ? *environment + len + 1 : NULL;
    return NULL;
}

static int take_variable(struct options *options, struct option_slot *slot, const char *name, const char *text,
                         struct error *err)
{
    struct source source = { OPTION_FROM_ENVIRONMENT, name, ERR_USAGE, NULL };
    struct option_list list;

    if (slot->spec->type != OPTION_LIST)
        return take_scalar(options, slot, &source, text, err);
    if (list_split(options->arena, text, &list, err) < 0)
        return blame(&source, err);
    return take_list(options, slot, &source, &list, err);
}

int options_apply_environment(struct options *options, const char *const *environment, struct error *err)
{
    for (size_t i = 0; i < options->n; i++) {
        struct option_slot *slot = &options->slots[i];
        struct option_variable own = option_variable(slot->spec);
        const char *name = own.text;
        const char *text = own.text[0] ? find_variable(environment, own.text) : NULL;

        if (!text && slot->spec->alias_variable) {
            name = slot->spec->alias_variable;
            text = find_variable(environment, name);
        }
        if (!text || slot->origin > OPTION_FROM_ENVIRONMENT)
            continue;
        if (take_variable(options, slot, name, text, err) < 0)
            return -1;
    }
    return 0;
}

/* The name of the variable in "NAME=VALUE" if it is one of ours and not empty, else an empty slice. */
static struct slice our_variable(const char *text)
{
    struct slice name = slice_from(text);
    ptrdiff_t equals = slice_find_byte(name, '=');

    if (equals < 0 || text[equals + 1] == '\0' || !slice_starts_with(name, SLICE(OPTION_VARIABLE_PREFIX)))
        return SLICE("");
    name.len = (size_t)equals;
    return name;
}

/* Whether no option has the variable `name`; `ret_nearest` as options_find_stray_variable. */
static bool is_stray(const struct options *options, struct slice name, struct option_variable *ret_nearest)
{
    size_t prefix_len = strlen(OPTION_VARIABLE_PREFIX); /* all have it, so it makes none nearer */
    struct suggest nearest = suggest_start(slice_sub(name, prefix_len, name.len));
    struct option_variable best = { "" };
    struct row_walk walk = walk_rows(options);
    const struct option_spec *spec;

    while ((spec = next_row(&walk))) {
        struct option_variable variable = option_variable(spec);

        if (slice_is(name, variable.text))
            return false;
        if (!spec->is_hidden)
            suggest_offer(&nearest, variable.text + prefix_len);
        if (nearest.name == variable.text + prefix_len) {
            best = variable;
            nearest.name = best.text + prefix_len;
        }
    }
    *ret_nearest = best;
    return true;
}

const char *const *options_find_stray_variable(const struct options *options, const char *const *environment,
                                               struct option_variable *ret_nearest)
{
    for (; *environment; environment++) {
        struct slice name = our_variable(*environment);

        if (name.len > 0 && is_stray(options, name, ret_nearest))
            return environment;
    }
    return NULL;
}

/* --- configuration file --- */

/* Whether `key` is a map that holds keys of ours or of others: "limits" for `limits.samples`. */
static bool is_known_map(const struct options *options, struct slice key)
{
    struct row_walk walk = walk_rows(options);
    const struct option_spec *spec;

    while ((spec = next_row(&walk))) {
        struct slice name = slice_from(spec->name);

        if (name.len > key.len && slice_starts_with(name, key) && name.ptr[key.len] == '.')
            return true;
    }
    return false;
}

static bool is_known(const struct options *options, struct slice key)
{
    struct row_walk walk = walk_rows(options);
    const struct option_spec *spec;

    while ((spec = next_row(&walk)))
        if (slice_is(key, spec->name))
            return true;
    return false;
}

static int unknown_key(const struct options *options, const char *where, struct slice key, struct error *err)
{
    struct suggest nearest = suggest_start(key);
    struct row_walk walk = walk_rows(options);
    const struct option_spec *spec;

    while ((spec = next_row(&walk))) {
        if (spec->alias && slice_is(key, spec->alias))
            return error_set(err, ERR_INVALID, "%s: unknown key '%s', which is only a flag; write '%s'", where,
                             spec->alias, spec->name);
        if (!spec->is_hidden)
            suggest_offer(&nearest, spec->name);
    }
    key = slice_sub(key, 0, 64);
    if (nearest.name)
        return error_set(err, ERR_INVALID, "%s: unknown key '%.*s'; did you mean '%s'?", where, SLICE_ARG(key),
                         nearest.name);
    return error_set(err, ERR_INVALID, "%s: unknown key '%.*s'; --help lists the options, which are the keys too",
                     where, SLICE_ARG(key));
}

static int take_entry_list(struct options *options, struct option_slot *slot, const struct source *source,
                           const struct option_entry *entry, struct error *err)
{
    struct option_list list = { NULL, 0 };

    for (size_t i = 0; i < entry->values_n; i++)
        if (list_append_copy(options->arena, &list, slice_from(entry->values[i]), err) < 0)
            return blame(source, err);
    return take_list(options, slot, source, &list, err);
}

static int take_entry(struct options *options, const char *where, const struct option_entry *entry, struct error *err)
{
    struct option_slot *slot = find(options, entry->key);
    struct source source = { OPTION_FROM_FILE, where, ERR_INVALID, slot ? slot->spec->name : NULL };
    bool is_empty = entry->values_n == 0 && !entry->is_list;

    if (!is_known(options, entry->key))
        return is_empty && is_known_map(options, entry->key) ? 0 : unknown_key(options, where, entry->key, err);
    if (!slot || slot->spec->is_flag_only) /* somebody else's */
        return 0;
    if (slot->origin > OPTION_FROM_FILE || is_empty)
        return 0;
    if (slot->spec->type == OPTION_LIST)
        return take_entry_list(options, slot, &source, entry, err);
    if (entry->is_list)
        return error_set(err, ERR_INVALID, "%s: %s: takes one value, not a list", where, slot->spec->name);
    return take_scalar(options, slot, &source, entry->values[0], err);
}

int options_apply_entries(struct options *options, const char *file, const struct option_entry *entries, size_t n,
                          struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        char where[FILE_SHOWN + 16];

        snprintf(where, sizeof(where), "%.*s:%u", FILE_SHOWN, file, entries[i].line);
        if (take_entry(options, where, &entries[i], err) < 0)
            return -1;
    }
    return 0;
}
