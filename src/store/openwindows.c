// SPDX-License-Identifier: Apache-2.0
#include "store/openwindows.h"

#include "block/pieces.h"
#include "block/valuecolumns.h"
#include "pack/column.h"
#include "pack/varint.h"

/* --- packing --- */

void openwindows_builder_init(struct openwindows_builder *builder)
{
    *builder = (struct openwindows_builder){ 0 };
    buffer_init(&builder->chunks, 0);
}

void openwindows_builder_done(struct openwindows_builder *builder)
{
    VEC_DONE(&builder->rows);
    VEC_DONE(&builder->totals);
    buffer_done(&builder->chunks);
    openwindows_builder_init(builder);
}

void openwindows_builder_clear(struct openwindows_builder *builder, size_t keep_bytes)
{
    if (openwindows_builder_bytes(builder) > keep_bytes) {
        openwindows_builder_done(builder);
        return;
    }
    builder->rows.n = builder->totals.n = 0;
    buffer_clear(&builder->chunks);
}

size_t openwindows_builder_bytes(const struct openwindows_builder *builder)
{
    return builder->rows.capacity * sizeof(*builder->rows.items) +
           builder->totals.capacity * sizeof(*builder->totals.items) + builder->chunks.capacity;
}

/* The columns of the rows at hand; the first start and the last one. */
static int encode_columns(const struct openwindows_builder *builder, struct buffer *columns, int64_t *ret_first_ns,
                          int64_t *ret_last_ns, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    size_t n = builder->rows.n;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    uint32_t *series;
    uint64_t *starts, *durations, *scratch;
    int64_t *totals;

    arena_init(&arena, 0);
    series = ARENA_ARRAY(&arena, uint32_t, n, err);
    starts = ARENA_ARRAY(&arena, uint64_t, n, err);
    durations = ARENA_ARRAY(&arena, uint64_t, n, err);
    scratch = ARENA_ARRAY(&arena, uint64_t, n, err);
    totals = ARENA_ARRAY(&arena, int64_t, n * builder->n_types, err);
    if (!series || !starts || !durations || !scratch || !totals)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct openwindows_key *row = &builder->rows.items[i];

        series[i] = row->series;
        starts[i] = (uint64_t)row->start_ns;
        durations[i] = varint_zigzag(row->duration_ns);
        for (uint32_t type = 0; type < builder->n_types; type++)
            totals[type * n + i] = builder->totals.items[i * builder->n_types + type];
        first_ns = MIN(first_ns, row->start_ns);
        last_ns = MAX(last_ns, row->start_ns);
    }
    column_encode_u32(series, n, COLUMN_DELTA, columns);
    column_encode_u64(starts, n, COLUMN_ZIGZAG_DELTA, columns);
    column_encode_u64(durations, n, COLUMN_PLAIN, columns);
    valuecolumns_encode(totals, n, NULL, n, builder->n_types, scratch, columns);
    *ret_first_ns = first_ns;
    *ret_last_ns = last_ns;
    return buffer_check(columns, err);
}

/* Appends the rows at hand as a chunk to `builder->chunks`. */
static int pack_chunk(struct openwindows_builder *builder, struct packer *packer, struct error *err)
{
    AUTO(buffer_done) struct buffer columns;
    AUTO(buffer_done) struct buffer chunk;
    int64_t first_ns, last_ns;

    buffer_init(&columns, 0);
    buffer_init(&chunk, 0);
    if (encode_columns(builder, &columns, &first_ns, &last_ns, err) < 0)
        return -1;
    varint_append(&chunk, builder->n_types);
    varint_append(&chunk, builder->rows.n);
    varint_append(&chunk, varint_zigzag(first_ns));
    varint_append(&chunk, varint_zigzag(last_ns));
    if (buffer_check(&chunk, err) < 0 || pieces_pack(buffer_slice(&columns), packer, &chunk, err) < 0)
        return -1;
    varint_append(&builder->chunks, chunk.len);
    buffer_append_slice(&builder->chunks, buffer_slice(&chunk));
    builder->rows.n = builder->totals.n = 0;
    return buffer_check(&builder->chunks, err);
}

int openwindows_builder_add(struct openwindows_builder *builder, const struct openwindows_row *row,
                            struct packer *packer, struct error *err)
{
    struct openwindows_key *key;

    if (!builder->rows.n && !builder->chunks.len)
        builder->n_types = row->n_types;
    if (row->n_types != builder->n_types)
        return error_set(err, ERR_INVALID, "adding a row of %u types to windows of %u", row->n_types, builder->n_types);
    if (VEC_RESERVE(&builder->totals, row->n_types, (size_t)OPENWINDOWS_MAX_ROWS * PROFILE_MAX_TYPES, err) < 0)
        return -1;
    key = VEC_PUSH(&builder->rows, OPENWINDOWS_MAX_ROWS, err);
    if (!key)
        return -1;
    *key = (struct openwindows_key){ row->series, row->start_ns, row->duration_ns };
    for (uint32_t type = 0; type < row->n_types; type++)
        builder->totals.items[builder->totals.n++] = row->totals[type];
    return builder->rows.n < OPENWINDOWS_MAX_ROWS ? 0 : pack_chunk(builder, packer, err);
}

int openwindows_builder_finish(struct openwindows_builder *builder, struct packer *packer, struct buffer *out,
                               struct error *err)
{
    size_t before = out->len;

    if (builder->rows.n && pack_chunk(builder, packer, err) < 0)
        return -1;
    buffer_append_slice(out, buffer_slice(&builder->chunks));
    if (buffer_check(out, err) == 0)
        return 0;
    buffer_truncate(out, before);
    return -1;
}

/* --- reading --- */

static int check_count(const char *what, size_t n, uint32_t n_rows, struct error *err)
{
    if (n != n_rows)
        return error_set(err, ERR_CORRUPT, "the header says %u rows, the column of %s has %zu", n_rows, what, n);
    return 0;
}

static int decode_columns(struct slice rest, struct arena *arena, struct openwindows *chunk, struct error *err)
{
    uint64_t *starts, *durations;
    size_t n;

    if (column_decode_u32(&rest, chunk->n_rows, arena, &chunk->series, &n, err) < 0 ||
        check_count("series", n, chunk->n_rows, err) < 0 ||
        column_decode_u64(&rest, chunk->n_rows, arena, &starts, &n, err) < 0 ||
        check_count("starts", n, chunk->n_rows, err) < 0 ||
        column_decode_u64(&rest, chunk->n_rows, arena, &durations, &n, err) < 0 ||
        check_count("durations", n, chunk->n_rows, err) < 0 ||
        valuecolumns_decode(&rest, NULL, chunk->n_rows, chunk->n_types, arena, &chunk->totals, err) < 0)
        return -1;
    if (rest.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many behind its columns", rest.len);
    chunk->starts_ns = (int64_t *)starts;
    chunk->durations_ns = (int64_t *)durations;
    for (uint32_t i = 0; i < chunk->n_rows; i++)
        chunk->durations_ns[i] = varint_unzigzag(durations[i]);
    return 0;
}

/* What stands in front of the columns of a chunk. */
struct header {
    uint64_t n_types, n_rows;
    int64_t first_ns, last_ns;
};

/* Cuts the next chunk off: its header, and the pieces of its columns. */
static int next_header(struct slice *rest, struct header *ret_header, struct slice *ret_pieces, struct error *err)
{
    struct header header;
    uint64_t len, first, last;
    struct slice bytes;

    if (pieces_next_number(rest, "length", UINT64_MAX, &len, err) < 0)
        return -1;
    if (len > rest->len)
        return error_set(err, ERR_CORRUPT, "a chunk of %llu bytes, but %zu follow", (unsigned long long)len, rest->len);
    bytes = slice_of(rest->ptr, (size_t)len);
    *rest = slice_of(rest->ptr + len, rest->len - (size_t)len);
    if (pieces_next_number(&bytes, "number of types", PROFILE_MAX_TYPES, &header.n_types, err) < 0 ||
        pieces_next_number(&bytes, "number of rows", OPENWINDOWS_MAX_ROWS, &header.n_rows, err) < 0 ||
        pieces_next_number(&bytes, "first start", UINT64_MAX, &first, err) < 0 ||
        pieces_next_number(&bytes, "last start", UINT64_MAX, &last, err) < 0)
        return -1;
    header.first_ns = varint_unzigzag(first);
    header.last_ns = varint_unzigzag(last);
    *ret_header = header;
    *ret_pieces = bytes;
    return 0;
}

static size_t max_columns_bytes(const struct openwindows *chunk)
{
    return 3 * pieces_column_max_bytes(chunk->n_rows, sizeof(uint64_t)) +
           valuecolumns_max_bytes(chunk->n_rows, chunk->n_types);
}

int openwindows_next(struct slice *rest, int64_t from_ns, int64_t until_ns, struct unpacker *unpacker,
                     struct arena *arena, struct openwindows *ret_chunk, bool *ret_has, struct error *err)
{
    while (rest->len) {
        struct header header = { 0 };
        struct openwindows chunk;
        struct slice pieces, columns;

        if (next_header(rest, &header, &pieces, err) < 0)
            return error_wrap(err, "windows of an open hour");
        if (header.last_ns < from_ns || header.first_ns >= until_ns)
            continue;
        chunk = (struct openwindows){ .n_types = (uint32_t)header.n_types, .n_rows = (uint32_t)header.n_rows };
        if (pieces_unpack(pieces, max_columns_bytes(&chunk), unpacker, &columns, err) < 0 ||
            decode_columns(columns, arena, &chunk, err) < 0)
            return error_wrap(err, "windows of an open hour");
        *ret_chunk = chunk;
        *ret_has = true;
        return 0;
    }
    *ret_has = false;
    return 0;
}
