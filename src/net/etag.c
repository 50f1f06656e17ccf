// SPDX-License-Identifier: Apache-2.0
#include "net/etag.h"

/* A tag without its quotes, the mark of weak ones and the name of an encoding at its end. */
static struct slice bare_tag(struct slice tag)
{
    static const char *const endings[] = { "-zstd", "-gzip" };

    tag = slice_trim(tag);
    if (slice_starts_with(tag, SLICE("W/")))
        tag = slice_sub(tag, 2, SIZE_MAX);
    if (tag.len < 2 || tag.ptr[0] != '"' || tag.ptr[tag.len - 1] != '"')
        return tag;
    tag = slice_sub(tag, 1, tag.len - 2);
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (slice_ends_with(tag, slice_from(endings[i])))
            return slice_sub(tag, 0, tag.len - strlen(endings[i]));
    return tag;
}

bool etag_is_known(const struct http_headers *request, const char *tag)
{
    for (uint32_t i = 0; i < request->n; i++) {
        struct slice list = request->items[i].value, part;

        if (!slice_is(request->items[i].name, "if-none-match"))
            continue;
        if (slice_is(slice_trim(list), "*"))
            return true;
        while (slice_next_part(&list, ',', &part))
            if (slice_is(bare_tag(part), tag))
                return true;
    }
    return false;
}
