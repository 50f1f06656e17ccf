// SPDX-License-Identifier: Apache-2.0
/* Queries as text, and what they mean beside a few services. What was read can be written and read again; what was
 * resolved is a query that means itself: resolving its text gives the same text, and nothing is chosen any more. A line
 * feed in the input parts the query from a type given apart. */
#include "query/querycatalog_sample_test.h"
#include "query/querytext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_refusal(const struct error *err)
{
    return err->code == ERR_INVALID || err->code == ERR_LIMIT || err->code == ERR_NOT_FOUND;
}

static void check_rewritten(const struct querytext *query)
{
    struct buffer first, second;
    struct querytext again;
    struct error err;

    buffer_init(&first, 0);
    buffer_init(&second, 0);
    selector_text(query->selector, &first);
    ASSERT(querytext_parse(buffer_slice(&first), &again, &err) == 0);
    selector_text(again.selector, &second);
    ASSERT(slice_equal(buffer_slice(&first), buffer_slice(&second)));
    ASSERT(slice_equal(query->name, again.name) && slice_equal(query->profile_type, again.profile_type));
    ASSERT(query->name.len == 0 || query->profile_type.len == 0);
    querytext_done(&again);
    buffer_done(&first);
    buffer_done(&second);
}

/* Resolves and appends the canonical text; false if it was refused. */
static bool resolve(const struct querytext *query, struct slice type_apart, struct arena *arena, struct buffer *out,
                    bool *ret_has_note)
{
    struct querytext_resolved resolved;
    struct error err;

    if (querytext_resolve(query, type_apart, &sample_catalog, arena, &resolved, &err) < 0) {
        ASSERT(is_refusal(&err));
        return false;
    }
    ASSERT(resolved.profile_type.len > 0);
    selector_text(resolved.selector, out);
    *ret_has_note = resolved.note[0] != '\0';
    querytext_resolved_done(&resolved);
    return true;
}

static void check_resolved(const struct querytext *query, struct slice type_apart)
{
    struct buffer first, second;
    struct querytext again;
    struct arena arena;
    struct error err;
    bool has_note;

    arena_init(&arena, 0);
    buffer_init(&first, 0);
    buffer_init(&second, 0);
    if (resolve(query, type_apart, &arena, &first, &has_note)) {
        ASSERT(querytext_parse(buffer_slice(&first), &again, &err) == 0);
        ASSERT(resolve(&again, (struct slice){ 0 }, &arena, &second, &has_note));
        ASSERT(!has_note);
        ASSERT(slice_equal(buffer_slice(&first), buffer_slice(&second)));
        querytext_done(&again);
    }
    buffer_done(&first);
    buffer_done(&second);
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of(data, size), type_apart = { 0 };
    ptrdiff_t end = slice_find_last_byte(text, '\n');
    struct querytext query;
    struct error err;

    if (end >= 0) {
        type_apart = slice_sub(text, (size_t)end + 1, text.len);
        text = slice_sub(text, 0, (size_t)end);
    }
    if (querytext_parse(text, &query, &err) < 0) {
        ASSERT(is_refusal(&err));
        return 0;
    }
    check_rewritten(&query);
    check_resolved(&query, type_apart);
    querytext_done(&query);
    return 0;
}
