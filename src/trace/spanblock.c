// SPDX-License-Identifier: Apache-2.0
/* Opens blocks and gives spans. Tables are read in spanblock_tables.c, columns of attributes in spanblock_columns.c. */
#include "trace/spanblock.h"

#include "base/bytes.h"
#include "pack/column.h"
#include "pack/varint.h"
#include "trace/spanblock_internal.h"
#include "trace/spanparts_internal.h"

#include <inttypes.h>

/* --- sections --- */

int spanblock_load_section(struct spanblock_inside *inside, enum spanblock_section section, struct slice *ret_content,
                           struct error *err)
{
    struct slice bytes = inside->sections[section].bytes, content;
    size_t len = inside->sections[section].len;

    if (inside->sections[section].packing == SPANBLOCK_STORED) {
        *ret_content = bytes;
        return 0;
    }
    if (unpacker_unpack(inside->unpacker, PACK_ZSTD, bytes, len, &content, err) < 0) {
        if (err->code != ERR_MEMORY)
            err->code = ERR_CORRUPT;
        return error_wrap(err, "section %d", (int)section);
    }
    if (content.len != len)
        return error_set(err, ERR_CORRUPT, "section %d has %zu bytes, it should have %zu", (int)section, content.len,
                         len);
    content = arena_copy(inside->arena, content, err);
    if (!content.ptr)
        return -1;
    *ret_content = content;
    return 0;
}

static int read_section_entry(struct spanblock_inside *inside, uint32_t section, struct slice *rest, struct error *err)
{
    uint64_t len, packed_len;

    if (!varint_next(rest, &len) || !varint_next(rest, &packed_len) || len >> 1 > SPANBLOCK_MAX_BYTES ||
        packed_len > SPANBLOCK_MAX_BYTES)
        return error_set(err, ERR_CORRUPT, "no valid length of section %u", section);
    inside->sections[section].len = len >> 1;
    inside->sections[section].packing = (enum spanblock_packing)(len & 1);
    inside->sections[section].bytes.len = packed_len;
    if ((len & 1) == SPANBLOCK_STORED && len >> 1 != packed_len)
        return error_set(err, ERR_CORRUPT, "section %u is not compressed, yet has two lengths", section);
    return 0;
}

static int read_directory(struct slice body, struct spanblock *block, struct error *err)
{
    struct slice rest = slice_sub(body, 1, SIZE_MAX);
    uint64_t n_spans, n_runs;

    if (body.len == 0)
        return error_set(err, ERR_CORRUPT, "it is empty");
    if ((uint8_t)body.ptr[0] != SPANBLOCK_VERSION)
        return error_set(err, ERR_VERSION, "is of version %u, this program reads version %u", (uint8_t)body.ptr[0],
                         SPANBLOCK_VERSION);
    if (!varint_next(&rest, &n_spans) || !varint_next(&rest, &n_runs) || n_spans == 0 ||
        n_spans > SPANBLOCK_MAX_SPANS || n_runs == 0 || n_runs > n_spans)
        return error_set(err, ERR_CORRUPT, "no valid numbers of spans and runs at its front");
    block->n_spans = (uint32_t)n_spans;
    block->n_runs = (uint32_t)n_runs;
    for (uint32_t i = 0; i < SPANBLOCK_SECTION_COUNT; i++)
        if (read_section_entry(block->inside, i, &rest, err) < 0)
            return -1;
    for (uint32_t i = 0; i < SPANBLOCK_SECTION_COUNT; i++) {
        struct slice *bytes = &block->inside->sections[i].bytes;

        if (bytes->len > rest.len)
            return error_set(err, ERR_CORRUPT, "section %u is cut off: %zu bytes of %zu are there", i, rest.len,
                             bytes->len);
        *bytes = slice_of(rest.ptr, bytes->len);
        rest = slice_sub(rest, bytes->len, SIZE_MAX);
    }
    if (rest.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many at its end", rest.len);
    return 0;
}

/* --- small columns --- */

static int read_column32(struct slice *rest, uint32_t n, const char *what, struct arena *arena, uint32_t **ret_values,
                         struct error *err)
{
    size_t count;

    if (column_decode_u32(rest, n, arena, ret_values, &count, err) < 0)
        return error_wrap(err, "%s", what);
    return count == n ? 0 : error_set(err, ERR_CORRUPT, "%s: there are %zu, not %u", what, count, n);
}

static int read_column64(struct slice *rest, uint32_t n, const char *what, struct arena *arena, uint64_t **ret_values,
                         struct error *err)
{
    size_t count;

    if (column_decode_u64(rest, n, arena, ret_values, &count, err) < 0)
        return error_wrap(err, "%s", what);
    return count == n ? 0 : error_set(err, ERR_CORRUPT, "%s: there are %zu, not %u", what, count, n);
}

static int read_runs(struct spanblock *block, struct slice *members, struct error *err)
{
    uint32_t *starts = ARENA_ARRAY(block->inside->arena, uint32_t, (size_t)block->n_runs + 1, err);
    uint64_t start = 0;
    uint32_t *lengths;

    if (!starts || read_column32(members, block->n_runs, "runs", block->inside->arena, &lengths, err) < 0)
        return -1;
    for (uint32_t i = 0; i < block->n_runs; i++) {
        starts[i] = (uint32_t)start;
        start += lengths[i];
        if (lengths[i] == 0 || start > block->n_spans)
            return error_set(err, ERR_CORRUPT, "run %u of %u has %u spans, of %u in all", i, block->n_runs, lengths[i],
                             block->n_spans);
    }
    if (start != block->n_spans)
        return error_set(err, ERR_CORRUPT, "runs have %" PRIu64 " spans, of %u in all", start, block->n_spans);
    starts[block->n_runs] = block->n_spans;
    block->run_starts = starts;
    return 0;
}

/* Classes of spans, and how many each has. */
static int read_classes(struct spanblock *block, struct slice *members, struct error *err)
{
    struct spanblock_class *classes = (struct spanblock_class *)block->classes;
    uint32_t *ids;

    if (read_column32(members, block->n_spans, "classes", block->inside->arena, &ids, err) < 0)
        return -1;
    for (uint32_t i = 0; i < block->n_spans; i++) {
        if (ids[i] >= block->n_classes)
            return error_set(err, ERR_CORRUPT, "span %u has class %u of %u", i, ids[i], block->n_classes);
        classes[ids[i]].n_spans++;
    }
    block->class_ids = ids;
    return 0;
}

/* Ids lie in their section as they are given. */
static int read_ids(struct spanblock *block, struct slice *ret_foreign, struct error *err)
{
    size_t traces = (size_t)block->n_runs * SPAN_TRACE_ID_BYTES, spans = (size_t)block->n_spans * SPAN_ID_BYTES;
    struct slice ids;

    if (spanblock_load_section(block->inside, SPANBLOCK_IDS, &ids, err) < 0)
        return -1;
    if (ids.len < traces + spans)
        return error_set(err, ERR_CORRUPT, "ids have %zu bytes, %zu are needed", ids.len, traces + spans);
    block->trace_ids = (const uint8_t(*)[SPAN_TRACE_ID_BYTES])ids.ptr;
    block->span_ids = (const uint8_t(*)[SPAN_ID_BYTES])(ids.ptr + traces);
    *ret_foreign = slice_sub(ids, traces + spans, SIZE_MAX);
    return 0;
}

static int take_foreign(struct slice *foreign, uint8_t *id, struct error *err)
{
    if (foreign->len < SPAN_ID_BYTES)
        return error_set(err, ERR_CORRUPT, "there are less ids of parents than spans need");
    memcpy(id, foreign->ptr, SPAN_ID_BYTES);
    *foreign = slice_sub(*foreign, SPAN_ID_BYTES, SIZE_MAX);
    return 0;
}

static int read_parents(struct spanblock *block, const uint32_t *codes, struct slice foreign, struct error *err)
{
    uint8_t(*parents)[SPAN_ID_BYTES] = arena_alloc_array(block->inside->arena, block->n_spans, sizeof(*parents), err);

    if (!parents)
        return -1;
    for (uint32_t run = 0; run < block->n_runs; run++)
        for (uint32_t i = block->run_starts[run]; i < block->run_starts[run + 1]; i++) {
            int64_t place;

            if (codes[i] == SPANBLOCK_NO_PARENT) {
                memset(parents[i], 0, SPAN_ID_BYTES);
            } else if (codes[i] == SPANBLOCK_FOREIGN_PARENT) {
                if (take_foreign(&foreign, parents[i], err) < 0)
                    return -1;
            } else {
                place = (int64_t)i - varint_unzigzag(codes[i] - SPANBLOCK_NEAR_PARENT);
                if (place < block->run_starts[run] || place >= block->run_starts[run + 1])
                    return error_set(err, ERR_CORRUPT, "the parent of span %u is outside its run", i);
                memcpy(parents[i], block->span_ids[place], SPAN_ID_BYTES);
            }
        }
    if (foreign.len > 0)
        return error_set(err, ERR_CORRUPT, "there are more ids of parents than spans need");
    block->parent_ids = (const uint8_t(*)[SPAN_ID_BYTES])parents;
    return 0;
}

static int read_members(struct spanblock *block, struct error *err)
{
    struct slice members, foreign;
    uint32_t *parents;

    if (spanblock_load_section(block->inside, SPANBLOCK_MEMBERS, &members, err) < 0 ||
        read_column32(&members, block->n_spans, "parents", block->inside->arena, &parents, err) < 0 ||
        read_classes(block, &members, err) < 0 || read_runs(block, &members, err) < 0)
        return -1;
    if (members.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many behind the runs", members.len);
    return read_ids(block, &foreign, err) < 0 ? -1 : read_parents(block, parents, foreign, err);
}

/* Starts: that of the first span of a run, then steps. */
static int join_starts(struct spanblock *block, const uint64_t *firsts, const uint64_t *steps, struct error *err)
{
    int64_t *starts = ARENA_ARRAY(block->inside->arena, int64_t, block->n_spans, err);

    if (!starts)
        return -1;
    for (uint32_t run = 0; run < block->n_runs; run++) {
        uint64_t start = firsts[run];

        for (uint32_t i = block->run_starts[run]; i < block->run_starts[run + 1]; i++) {
            if (i > block->run_starts[run] && __builtin_add_overflow(start, *steps++, &start))
                start = UINT64_MAX;
            if (start > INT64_MAX)
                return error_set(err, ERR_CORRUPT, "the start of span %u does not fit 63 bits", i);
            starts[i] = (int64_t)start;
        }
    }
    block->start_ns = starts;
    return 0;
}

static int read_times(struct spanblock *block, struct error *err)
{
    struct arena *arena = block->inside->arena;
    uint64_t *firsts, *steps, *durations;
    struct slice times;

    if (spanblock_load_section(block->inside, SPANBLOCK_TIMES, &times, err) < 0 ||
        read_column64(&times, block->n_runs, "starts of runs", arena, &firsts, err) < 0 ||
        read_column64(&times, block->n_spans - block->n_runs, "starts", arena, &steps, err) < 0 ||
        read_column64(&times, block->n_spans, "durations", arena, &durations, err) < 0)
        return -1;
    if (times.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many behind the durations", times.len);
    if (join_starts(block, firsts, steps, err) < 0)
        return -1;
    for (uint32_t i = 0; i < block->n_spans; i++)
        if (durations[i] > (uint64_t)(INT64_MAX - block->start_ns[i]))
            return error_set(err, ERR_CORRUPT, "the end of span %u does not fit 63 bits", i);
    block->duration_ns = (const int64_t *)durations;
    return 0;
}

static int open_block(struct slice body, struct spanblock *block, struct error *err)
{
    if (read_directory(body, block, err) < 0 || spanblock_read_tables(block, err) < 0 || read_members(block, err) < 0)
        return -1;
    return read_times(block, err);
}

int spanblock_open(struct slice body, struct unpacker *unpacker, struct arena *arena, struct spanblock *ret_block,
                   struct error *err)
{
    struct spanblock block = { .inside = ARENA_NEW(arena, struct spanblock_inside, err) };

    if (!block.inside)
        return -1;
    block.inside->arena = arena;
    block.inside->unpacker = unpacker;
    if (open_block(body, &block, err) < 0)
        return error_wrap(err, "block of spans");
    *ret_block = block;
    return 0;
}

uint32_t spanblock_find_run(const struct spanblock *block, uint32_t span)
{
    uint32_t from = 0, to = block->n_runs;

    while (to - from > 1) {
        uint32_t middle = from + (to - from) / 2;

        if (block->run_starts[middle] <= span)
            from = middle;
        else
            to = middle;
    }
    return from;
}

/* --- resources --- */

static int load_resources(struct spanblock_inside *inside, struct error *err)
{
    struct spanparts_reader r;
    struct slice content;

    if (inside->has_resources)
        return 0;
    if (spanblock_load_section(inside, SPANBLOCK_RESOURCES, &content, err) < 0)
        return -1;
    r = spanparts_reader_of(content);
    for (uint32_t i = 0; i < inside->n_resources; i++) {
        struct spanparts_reader own =
            spanparts_reader_of(spanparts_text(&r, SPANBLOCK_MAX_BYTES, "attributes of a resource"));

        if (r.bad_at)
            break;
        if (spanparts_read_attributes(&own, SPAN_MAX_RESOURCE, inside->arena, &inside->resources[i].attributes, err) <
                0 ||
            spanparts_check(&own, err) < 0)
            return error_wrap(err, "resource %u", i);
    }
    if (spanparts_check(&r, err) < 0)
        return error_wrap(err, "resources");
    inside->has_resources = true;
    return 0;
}

/* --- extras --- */

static int read_extras(struct spanblock *block, struct slice content, struct error *err)
{
    struct spanblock_inside *inside = block->inside;
    struct spanblock_extra *extras;
    uint64_t n, *spans, *lengths;

    if (!varint_next(&content, &n) || n > block->n_spans)
        return error_set(err, ERR_CORRUPT, "no valid number of spans that have some");
    extras = ARENA_ARRAY(inside->arena, struct spanblock_extra, n, err);
    if (!extras || read_column64(&content, (uint32_t)n, "spans", inside->arena, &spans, err) < 0 ||
        read_column64(&content, (uint32_t)n, "lengths", inside->arena, &lengths, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        if (spans[i] >= block->n_spans || (i > 0 && spans[i] <= spans[i - 1]) || lengths[i] > content.len)
            return error_set(err, ERR_CORRUPT, "entry %u is out of order or too long", i);
        extras[i] = (struct spanblock_extra){ (uint32_t)spans[i], slice_of(content.ptr, lengths[i]) };
        content = slice_sub(content, lengths[i], SIZE_MAX);
    }
    if (content.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many", content.len);
    inside->extras = extras;
    inside->n_extras = (uint32_t)n;
    return 0;
}

static int load_extras(struct spanblock *block, struct error *err)
{
    struct slice content;

    if (block->inside->has_extras)
        return 0;
    if (spanblock_load_section(block->inside, SPANBLOCK_EXTRA, &content, err) < 0 ||
        read_extras(block, content, err) < 0)
        return error_wrap(err, "extras");
    block->inside->has_extras = true;
    return 0;
}

static const struct spanblock_extra *find_extra(const struct spanblock_inside *inside, uint32_t span)
{
    uint32_t from = 0, to = inside->n_extras;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (inside->extras[middle].span == span)
            return &inside->extras[middle];
        if (inside->extras[middle].span < span)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

/* Fills what extras of a span there are; its start is known. */
static int fill_extras(struct spanblock *block, uint32_t index, struct span *span, uint32_t *ret_n_dropped,
                       struct error *err)
{
    const struct spanblock_extra *extra;
    struct spanparts_reader r;
    uint64_t bits;

    *ret_n_dropped = 0;
    if (load_extras(block, err) < 0)
        return -1;
    extra = find_extra(block->inside, index);
    if (!extra)
        return 0;
    r = spanparts_reader_of(extra->bytes);
    bits = spanparts_number(&r, SPANBLOCK_EXTRA_MASK, "kinds of extras");
    if (bits & SPANBLOCK_HAS_MESSAGE)
        span->status_message = spanparts_text(&r, SPAN_MAX_VALUE_BYTES, "message of the status");
    if (bits & SPANBLOCK_HAS_STATE)
        span->state = spanparts_text(&r, SPAN_MAX_VALUE_BYTES, "trace state");
    if (bits & SPANBLOCK_HAS_DROPPED)
        *ret_n_dropped = (uint32_t)spanparts_number(&r, UINT32_MAX, "number of dropped attributes");
    if ((bits & SPANBLOCK_HAS_EVENTS) && spanparts_read_events(&r, block->inside->arena, span, err) < 0)
        return -1;
    if (spanparts_check(&r, err) < 0)
        return error_wrap(err, "extras of span %u", index);
    return 0;
}

/* --- spans --- */

static int fill_wanted(struct spanblock *block, uint32_t index, unsigned wants, struct span *span, struct error *err)
{
    uint32_t n_dropped = 0;

    if ((wants & SPANBLOCK_RESOURCE) && load_resources(block->inside, err) < 0)
        return -1;
    if ((wants & SPANBLOCK_EXTRAS) && fill_extras(block, index, span, &n_dropped, err) < 0)
        return -1;
    if ((wants & SPANBLOCK_ATTRIBUTES) && spanblock_read_attributes(block, index, &span->attributes, err) < 0)
        return -1;
    span->attributes.n_dropped = n_dropped;
    return 0;
}

int spanblock_get(struct spanblock *block, uint32_t index, unsigned wants, struct span *ret_span, struct error *err)
{
    const struct spanblock_class *own = &block->classes[block->class_ids[index]];
    struct span span = {
        .kind = own->kind,
        .status = own->status,
        .flags = own->flags,
        .start_ns = block->start_ns[index],
        .duration_ns = block->duration_ns[index],
        .name = own->name,
        .resource = &block->inside->resources[own->resource],
        .scope = own->scope ? &block->inside->scopes[own->scope - 1] : NULL,
    };

    memcpy(span.trace_id, block->trace_ids[spanblock_find_run(block, index)], SPAN_TRACE_ID_BYTES);
    memcpy(span.span_id, block->span_ids[index], SPAN_ID_BYTES);
    memcpy(span.parent_id, block->parent_ids[index], SPAN_ID_BYTES);
    if (fill_wanted(block, index, wants, &span, err) < 0)
        return error_wrap(err, "block of spans");
    *ret_span = span;
    return 0;
}

/* --- attributes by key --- */

int spanblock_find_attribute(struct spanblock *block, uint32_t index, struct slice key, bool *ret_has,
                             struct span_value *ret_value, struct error *err)
{
    const struct spanblock_class *own = &block->classes[block->class_ids[index]];
    const struct span_attributes *attributes;

    if (spanblock_find_own_attribute(block, index, key, ret_has, ret_value, err) < 0 ||
        (!*ret_has && load_resources(block->inside, err) < 0))
        return error_wrap(err, "block of spans");
    attributes = &block->inside->resources[own->resource].attributes;
    for (uint32_t i = 0; !*ret_has && i < attributes->n; i++)
        if (slice_equal(attributes->items[i].key, key)) {
            *ret_has = true;
            *ret_value = attributes->items[i].value;
        }
    return 0;
}
