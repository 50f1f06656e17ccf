// SPDX-License-Identifier: Apache-2.0
#include "trace/tracecheck.h"

#include "base/arena.h"
#include "trace/spanblock.h"
#include "trace/spanrow.h"
#include "trace/tracebloom.h"
#include "trace/traceindex.h"
#include "trace/tracekeys.h"
#include "trace/tracetally.h"

#define MAX_ARENA_BYTES ((size_t)1 << 30)

static int check_key_kind(struct slice key, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "there is no kind of key that begins with byte %02x",
                     key.len ? (unsigned)(uint8_t)key.ptr[0] : 0);
}

/* --- heads --- */

static int check_row(struct slice key, struct slice value, struct arena *arena, struct error *err)
{
    struct spanrow_key parsed;
    struct slice tenant;
    struct span span;

    if (!tracekeys_parse_row(key, &tenant, &parsed))
        return error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of a span", key.len);
    return spanrow_decode(&parsed, value, arena, &span, err);
}

static int check_head(struct slice key, struct slice value, struct arena *arena, struct error *err)
{
    switch (key.len ? key.ptr[0] : '\0') {
    case TRACEKEYS_SPAN: return check_row(key, value, arena, err);
    case TRACEKEYS_SLOT:
        if (value.len)
            return error_set(err, ERR_CORRUPT, "a value of %zu bytes stands where there is none", value.len);
        return 0;
    default: return check_key_kind(key, err);
    }
}

/* --- blocks --- */

static int check_body(struct slice value, struct unpacker *unpacker, struct arena *arena, struct error *err)
{
    struct spanblock block;
    struct span span;

    if (spanblock_open(value, unpacker, arena, &block, err) < 0)
        return -1;
    for (uint32_t i = 0; i < block.n_spans; i++)
        if (spanblock_get(&block, i, SPANBLOCK_ALL, &span, err) < 0)
            return error_wrap(err, "span %u of %u", i, block.n_spans);
    return 0;
}

static int check_page(struct slice key, struct slice value, struct error *err)
{
    struct traceindex_reader reader;
    struct traceindex_pair pair;
    uint64_t first;
    bool has = true;

    if (!tracekeys_parse_page(key, &first))
        return error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of an index page", key.len);
    if (traceindex_reader_init(&reader, first, value, err) < 0)
        return -1;
    while (has)
        if (traceindex_reader_next(&reader, &pair, &has, err) < 0)
            return -1;
    return 0;
}

static int check_block(struct slice key, struct slice value, struct arena *arena, struct error *err)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct spanblock_header header;
    struct tracetally tally;

    if (unpacker_new(&unpacker, err) < 0)
        return -1;
    switch (key.len ? key.ptr[0] : '\0') {
    case TRACEKEYS_BODY: return check_body(value, unpacker, arena, err);
    case TRACEKEYS_HEADER:
        if (tracetally_decode(&value, &tally, err) < 0)
            return -1;
        return spanblock_header_decode(value, unpacker, arena, &header, err);
    case TRACEKEYS_BLOOM: return tracebloom_check(value, err);
    case TRACEKEYS_INDEX: return check_page(key, value, err);
    case TRACEKEYS_TALLY: return tracetally_decode(&value, &tally, err);
    default: return check_key_kind(key, err);
    }
}

int tracecheck(void *context, enum hourly_part part, struct slice key, struct slice value, struct error *err)
{
    AUTO(arena_done) struct arena arena;

    arena_init(&arena, MAX_ARENA_BYTES);
    switch (part) {
    case HOURLY_ROW: return check_head(key, value, &arena, err);
    case HOURLY_BLOCK: return check_block(key, value, &arena, err);
    case HOURLY_INDEX: return check_key_kind(key, err);
    }
    return 0;
}
