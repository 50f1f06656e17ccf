// SPDX-License-Identifier: Apache-2.0
#include "block/rollup.h"

#include "base/memory.h"
#include "block/idsort.h"
#include "block/pieces.h"
#include "block/valuecolumns.h"
#include "pack/column.h"
#include "pack/varint.h"

#include <inttypes.h>

#define VERSION         1
#define SAMPLES_AT_ONCE 32u

/* --- encoding --- */

static void encode_head(const struct rollup *rollup, struct buffer *out)
{
    buffer_append_byte(out, VERSION);
    varint_append(out, rollup->n_types);
    varint_append(out, rollup->n_stacks);
    varint_append(out, rollup->n_series);
    varint_append(out, rollup->n_rows);
    varint_append(out, varint_zigzag(rollup->duration_ns));
}

static int encode_columns(const struct rollup *rollup, struct packer *packer, struct buffer *out, struct error *err)
{
    AUTO(buffer_done) struct buffer columns;
    AUTO(memory_freep) uint64_t *scratch = memory_alloc(rollup->n_stacks * sizeof(*scratch), err);

    buffer_init(&columns, 0);
    if (!scratch)
        return -1;
    column_encode_u32(rollup->stacks, rollup->n_stacks, COLUMN_DELTA, &columns);
    valuecolumns_encode(rollup->sums, rollup->n_stacks, NULL, rollup->n_stacks, rollup->n_types, scratch, &columns);
    if (buffer_check(&columns, err) < 0)
        return -1;
    return pieces_pack(buffer_slice(&columns), packer, out, err);
}

int rollup_encode(const struct rollup *rollup, struct packer *packer, struct buffer *out, struct error *err)
{
    size_t before = out->len;

    encode_head(rollup, out);
    if (buffer_check(out, err) < 0 || encode_columns(rollup, packer, out, err) < 0) {
        buffer_truncate(out, before);
        return error_wrap(err, "writing a roll-up of %u stacks", rollup->n_stacks);
    }
    return 0;
}

/* --- decoding --- */

static int decode_head(struct slice *rest, uint32_t max_stacks, struct rollup *ret_rollup, struct error *err)
{
    uint64_t n_types, n_stacks, n_series, n_rows, duration;

    if (pieces_next_version(rest, VERSION, err) < 0 ||
        pieces_next_number(rest, "number of types", PROFILE_MAX_TYPES, &n_types, err) < 0 ||
        pieces_next_number(rest, "number of stacks", UINT32_MAX, &n_stacks, err) < 0 ||
        pieces_next_number(rest, "number of series", UINT32_MAX, &n_series, err) < 0 ||
        pieces_next_number(rest, "number of rows", UINT64_MAX, &n_rows, err) < 0 ||
        pieces_next_number(rest, "duration", UINT64_MAX, &duration, err) < 0)
        return -1;
    if (n_stacks > max_stacks)
        return error_set(err, ERR_CORRUPT, "has %" PRIu64 " stacks, at most %u are allowed here", n_stacks, max_stacks);
    *ret_rollup = (struct rollup){
        .n_types = (uint32_t)n_types,
        .n_stacks = (uint32_t)n_stacks,
        .n_series = (uint32_t)n_series,
        .n_rows = n_rows,
        .duration_ns = varint_unzigzag(duration),
    };
    return 0;
}

static int decode_stacks(struct slice *rest, struct arena *arena, struct rollup *rollup, struct error *err)
{
    size_t n;

    if (column_decode_u32(rest, rollup->n_stacks, arena, &rollup->stacks, &n, err) < 0)
        return error_wrap(err, "stacks");
    if (n != rollup->n_stacks)
        return error_set(err, ERR_CORRUPT, "the header says %u stacks, the column has %zu", rollup->n_stacks, n);
    for (size_t i = 1; i < n; i++)
        if (UNLIKELY(rollup->stacks[i - 1] >= rollup->stacks[i]))
            return error_set(err, ERR_CORRUPT, "stack %u, number %zu of %zu, is not behind stack %u", rollup->stacks[i],
                             i + 1, n, rollup->stacks[i - 1]);
    return 0;
}

static int decode_columns(struct slice rest, struct arena *arena, struct rollup *rollup, struct error *err)
{
    if (decode_stacks(&rest, arena, rollup, err) < 0)
        return -1;
    if (valuecolumns_decode(&rest, NULL, rollup->n_stacks, rollup->n_types, arena, &rollup->sums, err) < 0)
        return error_wrap(err, "sums");
    if (rest.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many behind its columns", rest.len);
    return 0;
}

static size_t max_columns_bytes(const struct rollup *rollup)
{
    return pieces_column_max_bytes(rollup->n_stacks, sizeof(*rollup->stacks)) +
           valuecolumns_max_bytes(rollup->n_stacks, rollup->n_types);
}

int rollup_decode(struct slice bytes, uint32_t max_stacks, struct unpacker *unpacker, struct arena *arena,
                  struct rollup *ret_rollup, struct error *err)
{
    struct rollup rollup = { 0 };
    struct slice columns;

    if (decode_head(&bytes, max_stacks, &rollup, err) < 0 ||
        pieces_unpack(bytes, max_columns_bytes(&rollup), unpacker, &columns, err) < 0 ||
        decode_columns(columns, arena, &rollup, err) < 0)
        return error_wrap(err, "roll-up");
    *ret_rollup = rollup;
    return 0;
}

/* --- adding up --- */

void rollup_builder_init(struct rollup_builder *builder, uint32_t n_types)
{
    ASSERT(n_types <= PROFILE_MAX_TYPES);
    *builder = (struct rollup_builder){ .n_types = n_types };
    map_init(&builder->index, 0);
}

void rollup_builder_done(struct rollup_builder *builder)
{
    map_done(&builder->index);
    memory_free(builder->stacks);
    memory_free(builder->sums);
    rollup_builder_init(builder, builder->n_types);
}

void rollup_builder_clear(struct rollup_builder *builder, size_t keep_bytes)
{
    if (rollup_builder_bytes(builder) > keep_bytes) {
        rollup_builder_done(builder);
        return;
    }
    map_clear(&builder->index);
    builder->n_stacks = builder->n_series = builder->last_series = 0;
    builder->n_rows = builder->saturated = 0;
    builder->duration_ns = 0;
}

void rollup_builder_restart(struct rollup_builder *builder, uint32_t n_types, size_t keep_bytes)
{
    if (builder->n_types == n_types) {
        rollup_builder_clear(builder, keep_bytes);
        return;
    }
    rollup_builder_done(builder);
    rollup_builder_init(builder, n_types);
}

size_t rollup_builder_bytes(const struct rollup_builder *builder)
{
    size_t n_slots = builder->index.slots ? (size_t)builder->index.mask + 1 : 0;

    return n_slots * sizeof(*builder->index.slots) +
           builder->capacity * (sizeof(*builder->stacks) + builder->n_types * sizeof(*builder->sums));
}

/* Room for `extra` more stacks. */
static int reserve(struct rollup_builder *builder, uint32_t extra, struct error *err)
{
    uint64_t needed = (uint64_t)builder->n_stacks + extra;
    size_t capacity = MAX(MIN(builder->capacity * 2ull, builder->index.max), needed);
    uint32_t *stacks;
    int64_t *sums;

    if (needed <= builder->capacity)
        return 0;
    if (needed > builder->index.max)
        return error_set(err, ERR_LIMIT, "a roll-up of up to %" PRIu64 " stacks, at most %u are allowed", needed,
                         builder->index.max);
    stacks = memory_realloc(builder->stacks, capacity * sizeof(*stacks), err);
    if (!stacks)
        return -1;
    builder->stacks = stacks;
    sums = memory_realloc(builder->sums, capacity * builder->n_types * sizeof(*sums), err);
    if (!sums)
        return -1;
    builder->sums = sums;
    builder->capacity = (uint32_t)capacity;
    return 0;
}

/* The place of a stack, new or not. There is room for one more. */
static int find_place(struct rollup_builder *builder, uint32_t stack, uint32_t *ret_place, struct error *err)
{
    if (map_add(&builder->index, stack, builder->n_stacks, ret_place, err) < 0)
        return -1;
    if (*ret_place == builder->n_stacks) {
        builder->stacks[*ret_place] = stack;
        for (uint32_t type = 0; type < builder->n_types; type++)
            builder->sums[(size_t)*ret_place * builder->n_types + type] = 0;
        builder->n_stacks++;
    }
    return 0;
}

/* Adds samples `first` to `first + n` of the row, at most SAMPLES_AT_ONCE. Sums of an hour are larger than the caches, so
 * what a step touches is fetched by the step before it. */
static int add_samples(struct rollup_builder *builder, const struct headrow *row, uint32_t first, uint32_t n,
                       struct error *err)
{
    uint32_t places[SAMPLES_AT_ONCE];

    for (uint32_t i = 0; i < n; i++)
        map_prefetch(&builder->index, row->stacks[first + i]);
    for (uint32_t i = 0; i < n; i++) {
        if (find_place(builder, row->stacks[first + i], &places[i], err) < 0)
            return -1;
        __builtin_prefetch(builder->sums + (size_t)places[i] * builder->n_types, 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t *sums = builder->sums + (size_t)places[i] * builder->n_types;

        for (uint32_t type = 0; type < row->n_types; type++)
            sums[type] =
                value_add(sums[type], row->values[(size_t)type * row->stride + first + i], &builder->saturated);
    }
    return 0;
}

int rollup_builder_add(struct rollup_builder *builder, uint32_t series, const struct headrow *row, struct error *err)
{
    if (row->n_types != builder->n_types)
        return error_set(err, ERR_INVALID, "adding a row of %u types to a roll-up of %u", row->n_types,
                         builder->n_types);
    if (reserve(builder, row->n_samples, err) < 0)
        return -1;
    for (uint32_t i = 0; i < row->n_samples; i += SAMPLES_AT_ONCE)
        if (add_samples(builder, row, i, MIN(row->n_samples - i, SAMPLES_AT_ONCE), err) < 0)
            return -1;
    if (builder->n_rows == 0 || series != builder->last_series)
        builder->n_series++;
    builder->last_series = series;
    builder->n_rows++;
    builder->duration_ns = value_add(builder->duration_ns, row->duration_ns, &builder->saturated);
    return 0;
}

int rollup_builder_merge(struct rollup_builder *builder, const struct rollup *rollup, struct error *err)
{
    struct headrow row = { .n_types = rollup->n_types,
                           .n_samples = rollup->n_stacks,
                           .stride = rollup->n_stacks,
                           .stacks = rollup->stacks,
                           .values = rollup->sums,
                           .duration_ns = rollup->duration_ns };
    uint64_t n_rows = builder->n_rows + rollup->n_rows;

    if (rollup_builder_add(builder, 0, &row, err) < 0)
        return -1;
    builder->n_rows = n_rows;
    return 0;
}

int rollup_builder_finish(const struct rollup_builder *builder, struct arena *arena, struct rollup *ret_rollup,
                          struct error *err)
{
    uint32_t n = builder->n_stacks;
    uint32_t *stacks = ARENA_ARRAY(arena, uint32_t, n, err);
    int64_t *sums = ARENA_ARRAY(arena, int64_t, (size_t)n * builder->n_types, err);
    uint64_t *pairs = ARENA_ARRAY(arena, uint64_t, (size_t)n * 2, err);

    if (!stacks || !sums || !pairs)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        pairs[i] = idsort_pair(builder->stacks[i], i);
    idsort_pairs(pairs, pairs + n, n);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t *from = builder->sums + (size_t)idsort_from(pairs[i]) * builder->n_types;

        stacks[i] = idsort_id(pairs[i]);
        for (uint32_t type = 0; type < builder->n_types; type++)
            sums[(size_t)type * n + i] = from[type];
    }
    *ret_rollup = (struct rollup){
        .n_types = builder->n_types,
        .n_stacks = n,
        .n_series = builder->n_series,
        .n_rows = builder->n_rows,
        .duration_ns = builder->duration_ns,
        .stacks = stacks,
        .sums = sums,
    };
    return 0;
}
