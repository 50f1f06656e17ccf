// SPDX-License-Identifier: Apache-2.0
#include "block/seriesinfo.h"

#include "pack/varint.h"

#include <inttypes.h>

#define VERSION           1
#define LEAST_LABEL_BYTES 2u
#define LEAST_TYPE_BYTES  4u

/* --- writing --- */

static void fail_limit(struct buffer *out, const char *what, size_t n, size_t max)
{
    if (out->failure.code == ERR_OK)
        error_set(&out->failure, ERR_LIMIT, "a series has %zu %s, the most is %zu", n, what, max);
}

static void put_text(struct buffer *out, struct slice text)
{
    if (text.len > SERIES_MAX_TEXT)
        fail_limit(out, "bytes in one text", text.len, SERIES_MAX_TEXT);
    varint_append(out, text.len);
    buffer_append_slice(out, text);
}

static void put_count(struct buffer *out, const char *what, uint32_t n, uint32_t max)
{
    if (n > max)
        fail_limit(out, what, n, max);
    varint_append(out, n);
}

void seriesinfo_encode(const struct seriesinfo *info, struct buffer *out)
{
    buffer_append_byte(out, VERSION);
    varint_append(out, info->group);
    put_count(out, "labels", info->n_labels, SERIES_MAX_LABELS);
    for (uint32_t i = 0; i < info->n_labels; i++) {
        ASSERT(i == 0 || slice_compare(info->labels[i - 1].name, info->labels[i].name) < 0);
        put_text(out, info->labels[i].name);
        put_text(out, info->labels[i].value);
    }
    put_text(out, info->period_type);
    put_text(out, info->period_unit);
    put_count(out, "value types", info->n_types, PROFILE_MAX_TYPES);
    for (uint32_t i = 0; i < info->n_types; i++) {
        put_text(out, info->types[i].type);
        put_text(out, info->types[i].unit);
        buffer_append_byte(out, (char)info->types[i].nature);
        buffer_append_byte(out, (char)info->types[i].temporality);
    }
}

/* --- reading --- */

struct cursor {
    struct slice whole, rest;
    struct error *err;
};

static size_t offset_of(const struct cursor *cursor)
{
    return cursor->whole.len - cursor->rest.len;
}

static int read_int(struct cursor *cursor, const char *field, uint64_t *ret_value)
{
    if (varint_next(&cursor->rest, ret_value))
        return 0;
    error_set(cursor->err, ERR_CORRUPT, "a series: %s at byte %zu is cut off, or too large for 64 bits", field,
              offset_of(cursor));
    return -1;
}

/* How many things of at least `item_bytes` follow: at most `max`, and no more than there are bytes for. */
static int read_count(struct cursor *cursor, const char *field, uint32_t max, size_t item_bytes, uint32_t *ret_n)
{
    size_t offset = offset_of(cursor);
    uint64_t n = 0;

    if (read_int(cursor, field, &n) < 0)
        return -1;
    if (n > cursor->rest.len / item_bytes)
        return error_set(cursor->err, ERR_CORRUPT, "a series: %s at byte %zu is %" PRIu64 ", but %zu bytes follow",
                         field, offset, n, cursor->rest.len);
    if (n > max)
        return error_set(cursor->err, ERR_CORRUPT, "a series: %s at byte %zu is %" PRIu64 ", the most is %u", field,
                         offset, n, max);
    *ret_n = (uint32_t)n;
    return 0;
}

static int read_text(struct cursor *cursor, const char *field, struct slice *ret_text)
{
    uint32_t len = 0;

    if (read_count(cursor, field, SERIES_MAX_TEXT, 1, &len) < 0)
        return -1;
    *ret_text = slice_sub(cursor->rest, 0, len);
    cursor->rest = slice_sub(cursor->rest, len, SIZE_MAX);
    return 0;
}

static int read_byte(struct cursor *cursor, const char *field, uint8_t max, uint8_t *ret_value)
{
    uint8_t value = cursor->rest.len ? (uint8_t)cursor->rest.ptr[0] : 0;

    if (cursor->rest.len == 0)
        return error_set(cursor->err, ERR_CORRUPT, "a series: %s at byte %zu is cut off", field, offset_of(cursor));
    if (value > max)
        return error_set(cursor->err, ERR_CORRUPT, "a series: %s at byte %zu is %u, known are 0 to %u", field,
                         offset_of(cursor), value, max);
    cursor->rest = slice_sub(cursor->rest, 1, SIZE_MAX);
    *ret_value = value;
    return 0;
}

static int read_group(struct cursor *cursor, uint32_t *ret_group)
{
    uint64_t group = 0;

    if (read_int(cursor, "the group", &group) < 0)
        return -1;
    if (group > UINT32_MAX)
        return error_set(cursor->err, ERR_CORRUPT, "a series: the group at byte 1 is %" PRIu64 ", the most is %u",
                         group, UINT32_MAX);
    *ret_group = (uint32_t)group;
    return 0;
}

static int read_labels(struct cursor *cursor, struct arena *arena, struct seriesinfo *info)
{
    if (read_count(cursor, "the number of labels", SERIES_MAX_LABELS, LEAST_LABEL_BYTES, &info->n_labels) < 0)
        return -1;
    info->labels = ARENA_ARRAY(arena, struct series_label, info->n_labels, cursor->err);
    if (!info->labels)
        return -1;
    for (uint32_t i = 0; i < info->n_labels; i++) {
        struct series_label *label = &info->labels[i];
        size_t offset = offset_of(cursor);

        if (read_text(cursor, "the length of a label name", &label->name) < 0 ||
            read_text(cursor, "the length of a label value", &label->value) < 0)
            return -1;
        if (i > 0 && slice_compare(label[-1].name, label->name) >= 0)
            return error_set(cursor->err, ERR_CORRUPT,
                             "a series: the name of label %u, at byte %zu, does not sort behind the one before", i + 1,
                             offset);
    }
    return 0;
}

static int read_types(struct cursor *cursor, struct arena *arena, struct seriesinfo *info)
{
    if (read_count(cursor, "the number of types", PROFILE_MAX_TYPES, LEAST_TYPE_BYTES, &info->n_types) < 0)
        return -1;
    info->types = ARENA_ARRAY(arena, struct series_type, info->n_types, cursor->err);
    if (!info->types)
        return -1;
    for (uint32_t i = 0; i < info->n_types; i++) {
        struct series_type *type = &info->types[i];
        uint8_t nature = 0, temporality = 0;

        if (read_text(cursor, "the length of a type", &type->type) < 0 ||
            read_text(cursor, "the length of a unit", &type->unit) < 0 ||
            read_byte(cursor, "the nature of a type", VALUE_LEVEL, &nature) < 0 ||
            read_byte(cursor, "the temporality of a type", TEMPORALITY_CUMULATIVE, &temporality) < 0)
            return -1;
        type->nature = (enum value_nature)nature;
        type->temporality = (enum value_temporality)temporality;
    }
    return 0;
}

int seriesinfo_decode(struct slice bytes, struct arena *arena, struct seriesinfo *ret_info, struct error *err)
{
    struct cursor cursor = { bytes, slice_sub(bytes, 1, SIZE_MAX), err };
    struct seriesinfo info = { 0 };

    if (bytes.len == 0)
        return error_set(err, ERR_CORRUPT, "a series is empty, without its version");
    if (bytes.ptr[0] != VERSION)
        return error_set(err, ERR_VERSION, "a series has version %u, this hearth reads version %u",
                         (unsigned)(uint8_t)bytes.ptr[0], VERSION);
    if (read_group(&cursor, &info.group) < 0 || read_labels(&cursor, arena, &info) < 0 ||
        read_text(&cursor, "the length of the period type", &info.period_type) < 0 ||
        read_text(&cursor, "the length of the period unit", &info.period_unit) < 0 ||
        read_types(&cursor, arena, &info) < 0)
        return -1;
    if (cursor.rest.len > 0)
        return error_set(err, ERR_CORRUPT, "a series: %zu bytes follow its end at byte %zu", cursor.rest.len,
                         offset_of(&cursor));
    *ret_info = info;
    return 0;
}

/* --- comparing --- */

/* Starting points that keep the two hashes apart. */
static const struct hash128 series_start = { 0x7365726965732073, 1 };
static const struct hash128 group_start = { 0x67726f7570206772, 1 };

/* Each text is hashed by itself, its length with it, so that no two lists of texts look alike. */
static struct hash128 fold_text(struct hash128 h, struct slice text, uint64_t seed)
{
    struct hash128 content = hash_bytes(text, seed);

    return hash_fold(hash_fold(h, content.a, content.b), text.len, 0);
}

static struct hash128 fold_shape(struct hash128 h, const struct seriesinfo *info, uint64_t seed)
{
    h = fold_text(h, info->period_type, seed);
    h = fold_text(h, info->period_unit, seed);
    h = hash_fold(h, info->n_types, 0);
    for (uint32_t i = 0; i < info->n_types; i++) {
        h = fold_text(h, info->types[i].type, seed);
        h = fold_text(h, info->types[i].unit, seed);
        h = hash_fold(h, info->types[i].nature, info->types[i].temporality);
    }
    return h;
}

struct hash128 seriesinfo_hash(const struct seriesinfo *info, uint64_t seed)
{
    struct hash128 h = hash_fold(series_start, info->n_labels, 0);

    for (uint32_t i = 0; i < info->n_labels; i++) {
        h = fold_text(h, info->labels[i].name, seed);
        h = fold_text(h, info->labels[i].value, seed);
    }
    return fold_shape(h, info, seed);
}

struct hash128 seriesinfo_group_hash(const struct seriesinfo *info, uint64_t seed)
{
    struct hash128 h = fold_text(group_start, seriesinfo_label(info, SLICE(SERIES_SERVICE_LABEL)), seed);

    return fold_shape(fold_text(h, seriesinfo_label(info, SLICE(SERIES_NAME_LABEL)), seed), info, seed);
}

static bool is_label_name(struct slice name, struct slice asked)
{
    if (name.len != asked.len)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] != (asked.ptr[i] == '.' ? '_' : asked.ptr[i]))
            return false;
    return true;
}

struct slice seriesinfo_label(const struct seriesinfo *info, struct slice name)
{
    for (uint32_t i = 0; i < info->n_labels; i++)
        if (is_label_name(info->labels[i].name, name))
            return info->labels[i].value;
    return SLICE("");
}

/* --- for people --- */

void seriesinfo_profile_type(const struct seriesinfo *info, uint32_t type, struct buffer *out)
{
    ASSERT(type < info->n_types);
    buffer_append_slice(out, seriesinfo_label(info, SLICE(SERIES_NAME_LABEL)));
    buffer_append_byte(out, ':');
    buffer_append_slice(out, info->types[type].type);
    buffer_append_byte(out, ':');
    buffer_append_slice(out, info->types[type].unit);
    buffer_append_byte(out, ':');
    buffer_append_slice(out, info->period_type);
    buffer_append_byte(out, ':');
    buffer_append_slice(out, info->period_unit);
}

int seriesinfo_find_type(const struct seriesinfo *info, struct slice profile_type, uint32_t *ret_type,
                         struct error *err)
{
    uint32_t found = SERIES_NO_TYPE;
    struct buffer text;
    int result = 0;

    buffer_init(&text, 0);
    for (uint32_t i = 0; !result && i < info->n_types && found == SERIES_NO_TYPE; i++) {
        buffer_clear(&text);
        seriesinfo_profile_type(info, i, &text);
        result = buffer_check(&text, err);
        if (!result && slice_equal(buffer_slice(&text), profile_type))
            found = i;
    }
    buffer_done(&text);
    if (!result)
        *ret_type = found;
    return result;
}

static void append_ascii(struct buffer *out, char byte)
{
    static const char letters[] = "abtnvfr"; /* of the bytes from 7 to 13 */

    if (byte == '"' || byte == '\\')
        buffer_printf(out, "\\%c", byte);
    else if (byte >= '\a' && byte <= '\r')
        buffer_printf(out, "\\%c", letters[byte - '\a']);
    else if (byte < ' ' || byte == 0x7f)
        buffer_printf(out, "\\x%02x", byte);
    else
        buffer_append_byte(out, byte);
}

/* In double quotes, as Go writes it: quotes, backslashes and control characters escaped, bytes that are no UTF-8 in
 * hex. */
static void append_quoted(struct buffer *out, struct slice text)
{
    buffer_append_byte(out, '"');
    while (text.len > 0) {
        size_t len = slice_utf8_len(text);

        if (len == 0)
            buffer_printf(out, "\\x%02x", (uint8_t)text.ptr[0]);
        else if (len == 1)
            append_ascii(out, text.ptr[0]);
        else if (len == 2 && (uint8_t)text.ptr[0] == 0xc2 && (uint8_t)text.ptr[1] < 0xa0) /* U+0080 to U+009F */
            buffer_printf(out, "\\u00%02x", (uint8_t)text.ptr[1]);
        else
            buffer_append(out, text.ptr, len);
        text = slice_sub(text, MAX(len, 1), SIZE_MAX);
    }
    buffer_append_byte(out, '"');
}

static bool is_plain_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!is_letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.len > 0;
}

void seriesinfo_text(const struct seriesinfo *info, struct buffer *out)
{
    buffer_append_byte(out, '{');
    for (uint32_t i = 0; i < info->n_labels; i++) {
        if (i > 0)
            buffer_append_text(out, ", ");
        if (is_plain_name(info->labels[i].name))
            buffer_append_slice(out, info->labels[i].name);
        else
            append_quoted(out, info->labels[i].name);
        buffer_append_byte(out, '=');
        append_quoted(out, info->labels[i].value);
    }
    buffer_append_byte(out, '}');
}
