// SPDX-License-Identifier: Apache-2.0
#include "base/option.h"

#include "base/suggest.h"
#include "base/units.h"

#include <stdio.h>

/* A value in a message: its beginning, and dots when it was longer. */
#define SHOWN           "%.64s%s"
#define SHOWN_ARG(text) (text), (strlen(text) > 64 ? "..." : "")

static const struct option_type_row {
    const char *name;
    const char *value_name;
    const char *noun;
    const char *syntax;
    enum option_field_kind field;
} types[] = {
    [OPTION_BOOL] = { "bool", NULL, "a truth value", "true or false", OPTION_FIELD_BOOL },
    [OPTION_TEXT] = { "text", "TEXT", "text", "any text", OPTION_FIELD_TEXT },
    [OPTION_FILE] = { "file", "FILE", "a path", "the path of a file", OPTION_FIELD_TEXT },
    [OPTION_DIRECTORY] = { "directory", "DIR", "a path", "the path of a directory", OPTION_FIELD_TEXT },
    [OPTION_REGEX] = { "regex", "REGEX", "a regular expression", "a regular expression", OPTION_FIELD_TEXT },
    [OPTION_INT] = { "int", "N", "a whole number", "digits, like 30 or -5", OPTION_FIELD_I64 },
    [OPTION_UINT] = { "uint", "N", "a whole number from 0", "digits, like 30", OPTION_FIELD_U64 },
    [OPTION_DOUBLE] = { "number", "X", "a number", "digits, like 0.25", OPTION_FIELD_DOUBLE },
    [OPTION_DURATION] = { "duration", "DURATION", "a duration", "a number with a unit, like 250ms, 30s, 1h30m or 7d",
                          OPTION_FIELD_I64 },
    [OPTION_SIZE] = { "size", "SIZE", "a size",
                      "a number of bytes, or one with a unit, like 512KB (1000s) or 64MiB (1024s)", OPTION_FIELD_U64 },
    [OPTION_PERCENT] = { "percent", "PERCENT", "a percentage", "a number with its sign, like 90%",
                         OPTION_FIELD_DOUBLE },
    [OPTION_RATE] = { "rate", "RATE", "a rate", "events per second, like 97, 100Hz, 10/s or 600/min",
                      OPTION_FIELD_DOUBLE },
    [OPTION_ADDRESS] = { "address", "ADDRESS", "an address", "HOST:PORT, :PORT, [::1]:PORT or unix:PATH",
                         OPTION_FIELD_ADDRESS },
    [OPTION_ENUM] = { "word", "WORD", "a known word", "one of the words listed", OPTION_FIELD_ENUM },
    [OPTION_LIST] = { "list", "TEXT", "a list", "any text; may be given several times", OPTION_FIELD_LIST },
};
static_assert(ARRAY_LEN(types) == OPTION_TYPE_COUNT, "every option type has its row");

const char *option_type_name(enum option_type type)
{
    return types[type].name;
}

const char *option_type_syntax(enum option_type type)
{
    return types[type].syntax;
}

const char *option_value_name(const struct option_spec *spec)
{
    return spec->value_name ? spec->value_name : types[spec->type].value_name;
}

const char *option_min(const struct option_spec *spec)
{
    return spec->min;
}

const char *option_max(const struct option_spec *spec)
{
    return !spec->max && spec->type == OPTION_PERCENT ? "100%" : spec->max;
}

enum option_field_kind option_type_field(enum option_type type)
{
    return types[type].field;
}

const char *option_word(const struct option_spec *spec, size_t index)
{
    return spec->word_at ? spec->word_at(index) : spec->words[index];
}

struct option_variable option_variable(const struct option_spec *spec)
{
    struct option_variable variable = { "" };
    int len;

    if (spec->is_flag_only)
        return variable;
    len = snprintf(variable.text, sizeof(variable.text), OPTION_VARIABLE_PREFIX "%s", spec->name);
    ASSERT(len < (int)sizeof(variable.text));
    for (char *c = variable.text; *c; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
        else if (*c == '-' || *c == '.')
            *c = '_';
    }
    return variable;
}

static int refuse(const struct option_spec *spec, const char *text, struct error *err)
{
    return error_set(err, ERR_INVALID, "'" SHOWN "' is not %s; write %s", SHOWN_ARG(text), types[spec->type].noun,
                     types[spec->type].syntax);
}

static int parse_word(const struct option_spec *spec, const char *text, unsigned *ret_word, struct error *err)
{
    struct suggest nearest = suggest_start(slice_from(text));
    char known[120] = "";
    size_t len = 0;
    const char *word;

    for (unsigned i = 0; (word = option_word(spec, i)); i++) {
        if (strcmp(word, text) == 0) {
            *ret_word = i;
            return 0;
        }
        suggest_offer(&nearest, word);
        if (len < sizeof(known))
            len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "", word);
    }
    if (len >= sizeof(known))
        memcpy(known + sizeof(known) - 4, "...", 4);
    if (nearest.name)
        return error_set(err, ERR_INVALID, "'" SHOWN "' is unknown; did you mean '%s'? Known: %s", SHOWN_ARG(text),
                         nearest.name, known);
    return error_set(err, ERR_INVALID, "'" SHOWN "' is unknown; write one of %s", SHOWN_ARG(text), known);
}

static bool parse_scalar(const struct option_spec *spec, struct slice text, union option_value *ret_value)
{
    switch (spec->type) {
    case OPTION_BOOL: return units_parse_bool(text, &ret_value->truth);
    case OPTION_INT: return slice_to_i64(text, &ret_value->i64);
    case OPTION_UINT: return slice_to_u64(text, &ret_value->u64);
    case OPTION_DOUBLE: return slice_to_double(text, &ret_value->number);
    case OPTION_DURATION: return units_parse_duration(text, &ret_value->i64);
    case OPTION_SIZE: return units_parse_size(text, &ret_value->u64);
    case OPTION_PERCENT: return units_parse_percent(text, &ret_value->number);
    case OPTION_RATE: return units_parse_rate(text, &ret_value->number);
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_DIRECTORY:
    case OPTION_REGEX: ret_value->text = text.ptr; return true;
    case OPTION_ADDRESS:
    case OPTION_ENUM:
    case OPTION_LIST: break;
    }
    return false;
}

static int parse_unranged(const struct option_spec *spec, const char *text, union option_value *ret_value,
                          struct error *err)
{
    if (spec->type == OPTION_ENUM)
        return parse_word(spec, text, &ret_value->word, err);
    if (spec->type == OPTION_ADDRESS)
        return address_parse(slice_from(text), &ret_value->address, err);
    return parse_scalar(spec, slice_from(text), ret_value) ? 0 : refuse(spec, text, err);
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare(enum option_field_kind kind, const union option_value *a, const union option_value *b)
{
    if (kind == OPTION_FIELD_I64)
        return ORDER(a->i64, b->i64);
    if (kind == OPTION_FIELD_U64)
        return ORDER(a->u64, b->u64);
    return ORDER(a->number, b->number);
}

/* The order of `value` against a bound of its option; 0 when there is no such bound. A bound that
 * cannot be read is a bug in the table. */
static int against(const struct option_spec *spec, const union option_value *value, const char *bound)
{
    union option_value parsed;
    struct error err;

    if (!bound)
        return 0;
    ASSERT(parse_unranged(spec, bound, &parsed, &err) == 0);
    return compare(types[spec->type].field, value, &parsed);
}

static int check_range(const struct option_spec *spec, const char *text, const union option_value *value,
                       struct error *err)
{
    if (against(spec, value, option_min(spec)) >= 0 && against(spec, value, option_max(spec)) <= 0)
        return 0;
    if (!option_max(spec))
        return error_set(err, ERR_INVALID, "'" SHOWN "' is too small; the least allowed is %s", SHOWN_ARG(text),
                         option_min(spec));
    if (!option_min(spec))
        return error_set(err, ERR_INVALID, "'" SHOWN "' is too large; the most allowed is %s", SHOWN_ARG(text),
                         option_max(spec));
    return error_set(err, ERR_INVALID, "'" SHOWN "' is out of range; allowed is %s to %s", SHOWN_ARG(text),
                     option_min(spec), option_max(spec));
}

/* Adds the hint of the option to what is wrong with its value. */
static int add_hint(const struct option_spec *spec, struct error *err)
{
    struct error plain = *err;

    return spec->hint ? error_set(err, plain.code, "%s; %s", plain.text, spec->hint) : -1;
}

int option_parse(const struct option_spec *spec, const char *text, union option_value *ret_value, struct error *err)
{
    union option_value value;

    if (strlen(text) > OPTION_VALUE_MAX)
        return error_set(err, ERR_INVALID, "a value of %zu bytes is too long; the most allowed is %d bytes",
                         strlen(text), OPTION_VALUE_MAX);
    if (parse_unranged(spec, text, &value, err) < 0 || check_range(spec, text, &value, err) < 0)
        return add_hint(spec, err);
    *ret_value = value;
    return 0;
}
