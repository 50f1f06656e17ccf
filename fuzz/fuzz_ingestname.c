// SPDX-License-Identifier: Apache-2.0
/* The query string of /ingest and the names of applications in it, and what they say of the type. */
#include "base/urlquery.h"
#include "intake/ingestname.h"
#include "intake/legacytype.h"
#include "intake/sampletypes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(struct slice text, struct arena *arena)
{
    const struct legacytype *type;
    struct ingestname name;
    struct slice app;
    struct error err;

    if (ingestname_parse(text, arena, &name, &err) < 0) {
        ASSERT(err.code == ERR_INVALID || err.code == ERR_LIMIT);
        return;
    }
    ASSERT(name.app.len > 0);
    for (uint32_t i = 0; i < name.n_labels; i++)
        ASSERT(name.labels[i].name.len > 0 && slice_find_byte(name.labels[i].value, ',') < 0);
    if (legacytype_find(name.app, &type, &app, &err) == 0)
        ASSERT(app.len <= name.app.len && type->metric);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = slice_of(data, size);
    struct sampletypes types;
    struct urlquery query;
    struct arena arena;
    struct error err;

    arena_init(&arena, 16 << 20);
    if (urlquery_parse(input, &arena, &query, &err) == 0) {
        for (uint32_t i = 0; i < query.n; i++)
            ASSERT(query.pairs[i].name.len + query.pairs[i].value.len <= size);
        check_name(urlquery_get(&query, "name"), &arena);
        if (sampletypes_parse(urlquery_get(&query, "config"), &arena, &types, &err) < 0)
            ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
    } else {
        ASSERT(err.code == ERR_LIMIT);
    }
    check_name(input, &arena);
    arena_done(&arena);
    return 0;
}
