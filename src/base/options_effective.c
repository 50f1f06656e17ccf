// SPDX-License-Identifier: Apache-2.0
/* What holds: where values came from, all of them as a configuration file, and what differs between two sets. */
#include "base/options_internal.h"

static const struct option_slot *get_slot(const struct options *options, const char *name)
{
    for (size_t i = 0; i < options->n; i++)
        if (strcmp(options->slots[i].spec->name, name) == 0)
            return &options->slots[i];
    ASSERT(!"a bound option");
}

enum option_origin options_get_origin(const struct options *options, const char *name)
{
    return get_slot(options, name)->origin;
}

static const char *origin_name(const struct option_slot *slot)
{
    return slot->where ? slot->where : "default";
}

const char *options_get_origin_name(const struct options *options, const char *name)
{
    return origin_name(get_slot(options, name));
}

static uint32_t utf8_decode(const unsigned char *bytes, size_t len)
{
    uint32_t point = bytes[0];

    if (len > 1)
        point &= 0x7fu >> len;
    for (size_t i = 1; i < len; i++)
        point = point << 6 | (bytes[i] & 0x3f);
    return point;
}

/* Characters that YAML does not read as themselves between double quotes: controls, line separators, marks. */
static bool is_escaped(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029 || point == 0xfeff ||
           point == 0xfffe || point == 0xffff;
}

static void print_quoted(struct buffer *out, const char *text)
{
    struct slice rest = slice_from(text);

    buffer_append_byte(out, '"');
    while (rest.len > 0) {
        size_t len = slice_utf8_len(rest);
        uint32_t point = utf8_decode((const unsigned char *)rest.ptr, len);

        if (point == '"' || point == '\\')
            buffer_printf(out, "\\%c", (char)point);
        else if (len == 0)
            buffer_printf(out, "\\x%02x", point); /* no text; the nearest that YAML can say */
        else if (is_escaped(point))
            buffer_printf(out, "\\u%04x", point);
        else
            buffer_append(out, rest.ptr, len);
        rest = slice_sub(rest, MAX(len, 1), rest.len);
    }
    buffer_append_byte(out, '"');
}

/* A YAML scalar: plain where that is safe, else in double quotes. */
static void print_scalar(struct buffer *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%+";

    if (text[0] != '\0' && text[0] != '%' && text[strspn(text, plain)] == '\0' &&
        !slice_equal_nocase(slice_from(text), SLICE("null")))
        buffer_append_text(out, text);
    else
        print_quoted(out, text);
}

static void print_list(struct buffer *out, const struct option_list *list)
{
    buffer_append_byte(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        buffer_append_text(out, i ? ", " : "");
        print_scalar(out, list->items[i]);
    }
    buffer_append_byte(out, ']');
}

/* The value of an option that is no list as text, or NULL while it has none. */
static const char *text_of(const struct option_slot *slot)
{
    if (slot->text)
        return slot->text;
    if (slot->spec->type == OPTION_BOOL)
        return "false";
    return slot->spec->type == OPTION_ENUM ? option_word(slot->spec, 0) : NULL;
}

static void print_slot(const struct option_slot *slot, struct buffer *out)
{
    size_t start = out->len;

    if (slot->spec->type != OPTION_LIST && !text_of(slot)) {
        buffer_printf(out, "# %s is not set\n", slot->spec->name);
        return;
    }
    buffer_printf(out, "%s: ", slot->spec->name);
    if (slot->spec->type == OPTION_LIST)
        print_list(out, options_list(slot));
    else
        print_scalar(out, text_of(slot));
    do
        buffer_append_byte(out, ' ');
    while (out->len - start < 36 && out->failure.code == ERR_OK);
    buffer_printf(out, " # %s\n", origin_name(slot));
}

void options_print_effective(const struct options *options, struct buffer *out)
{
    for (size_t i = 0; i < options->n; i++)
        if (!options->slots[i].spec->is_flag_only)
            print_slot(&options->slots[i], out);
}

/* --- what changed --- */

static bool is_same_list(const struct option_list *a, const struct option_list *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

static const char *text_field(const struct option_slot *slot)
{
    const char *text;

    memcpy(&text, slot->field, sizeof(text));
    return text;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_same_address(const struct address *a, const struct address *b)
{
    return a->kind == b->kind && a->port == b->port && strcmp(a->name, b->name) == 0;
}

static bool is_same_value(const struct option_slot *a, const struct option_slot *b)
{
    switch (a->spec->field.kind) {
    case OPTION_FIELD_BOOL: return memcmp(a->field, b->field, sizeof(bool)) == 0;
    case OPTION_FIELD_TEXT: return is_same_text(text_field(a), text_field(b));
    case OPTION_FIELD_I64:
    case OPTION_FIELD_U64: return memcmp(a->field, b->field, sizeof(uint64_t)) == 0;
    case OPTION_FIELD_DOUBLE: return memcmp(a->field, b->field, sizeof(double)) == 0;
    case OPTION_FIELD_ADDRESS:
        return is_same_address((const struct address *)(const void *)a->field,
                               (const struct address *)(const void *)b->field);
    case OPTION_FIELD_ENUM: return memcmp(a->field, b->field, sizeof(unsigned)) == 0;
    case OPTION_FIELD_LIST: return is_same_list(options_list(a), options_list(b));
    case OPTION_FIELD_NONE: break;
    }
    ASSERT(!"a field of a known kind");
}

/* The items with commas between, in the arena; NULL on failure. */
static const char *join_list(const struct option_list *list, struct arena *arena, struct error *err)
{
    size_t len = 1, at = 0;
    char *text;

    for (size_t i = 0; i < list->n; i++)
        len += strlen(list->items[i]) + 1;
    text = arena_alloc(arena, len, err);
    if (!text)
        return NULL;
    for (size_t i = 0; i < list->n; i++) {
        size_t item_len = strlen(list->items[i]);

        if (i > 0)
            text[at++] = ',';
        memcpy(text + at, list->items[i], item_len);
        at += item_len;
    }
    text[at] = '\0';
    return text;
}

/* The value as a variable would have it; NULL on failure. */
static const char *variable_text(const struct option_slot *slot, struct arena *arena, struct error *err)
{
    if (slot->spec->type == OPTION_LIST)
        return join_list(options_list(slot), arena, err);
    return text_of(slot) ? text_of(slot) : "";
}

static int describe_change(const struct option_slot *old, const struct option_slot *now, struct arena *arena,
                           struct option_change *ret_change, struct error *err)
{
    const char *old_text = variable_text(old, arena, err);
    const char *new_text = old_text ? variable_text(now, arena, err) : NULL;

    if (!new_text)
        return -1;
    *ret_change = (struct option_change){ now->spec, old_text, new_text };
    return 0;
}

int options_compare(const struct options *old, struct options *now, struct option_changes *ret_changes,
                    struct error *err)
{
    struct option_change *changes = ARENA_ARRAY(now->arena, struct option_change, MAX(now->n, 1), err);
    size_t n = 0;

    if (!changes)
        return -1;
    ASSERT(old->n == now->n);
    for (size_t i = 0; i < now->n; i++) {
        ASSERT(old->slots[i].spec == now->slots[i].spec);
        if (is_same_value(&old->slots[i], &now->slots[i]))
            continue;
        if (describe_change(&old->slots[i], &now->slots[i], now->arena, &changes[n++], err) < 0)
            return -1;
    }
    *ret_changes = (struct option_changes){ changes, n };
    return 0;
}
