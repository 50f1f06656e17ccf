// SPDX-License-Identifier: Apache-2.0
#include "intake/ingestname.h"

static bool parse_label(struct slice text, struct series_label *ret_label)
{
    ptrdiff_t equals = slice_find_byte(text, '=');

    if (equals < 0)
        return false;
    ret_label->name = slice_trim(slice_sub(text, 0, (size_t)equals));
    ret_label->value = slice_trim(slice_sub(text, (size_t)equals + 1, SIZE_MAX));
    return ret_label->name.len > 0;
}

static int parse_labels(struct slice text, struct arena *arena, struct ingestname *name, struct error *err)
{
    struct slice part;
    size_t n = 1;

    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == ',';
    if (n > INGESTNAME_MAX_LABELS)
        return error_set(err, ERR_LIMIT, "the name has %zu labels, at most %d are read", n, INGESTNAME_MAX_LABELS);
    name->labels = ARENA_ARRAY(arena, struct series_label, n, err);
    if (!name->labels)
        return -1;
    while (slice_next_part(&text, ',', &part))
        name->n_labels += parse_label(part, &name->labels[name->n_labels]);
    return 0;
}

int ingestname_parse(struct slice text, struct arena *arena, struct ingestname *ret_name, struct error *err)
{
    ptrdiff_t open = slice_find_byte(text, '{');
    struct ingestname name = { .app = slice_trim(slice_sub(text, 0, open < 0 ? text.len : (size_t)open)) };

    if (name.app.len == 0)
        return error_set(
            err, ERR_INVALID,
            "the name '%.*s' has no application; write name=APPLICATION or name=APPLICATION{KEY=VALUE,...}",
            (int)MIN(text.len, 64u), text.len ? text.ptr : "");
    if (open >= 0) {
        struct slice rest = slice_sub(text, (size_t)open + 1, SIZE_MAX);
        ptrdiff_t close = slice_find_byte(rest, '}');

        if (parse_labels(slice_sub(rest, 0, close < 0 ? rest.len : (size_t)close), arena, &name, err) < 0)
            return -1;
    }
    *ret_name = name;
    return 0;
}
