// SPDX-License-Identifier: Apache-2.0
/* Parts: windows, sums and samples that are damaged, or do not belong together, give an error; what can be read is
 * walked row by row and checked, and is the same when written and read again.
 *
 * The input is three values, each as a byte with the length of its header, two bytes (little endian) with the length of
 * its columns, and the two. A header length of 255 means that all of it is the value as it is; else the columns are not
 * compressed yet: no fuzzer guesses the checksum of a frame. */
#include "base/bytes.h"
#include "base/memory.h"
#include "block/part.h"
#include "block/pieces.h"

#define MAX_STACKS 20000u
#define MAX_BYTES  ((size_t)64 << 20)
#define AS_IT_IS   255u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One for all inputs, as a worker has it. */
static struct packer *packer;
static struct unpacker *unpacker;
static struct part_builder *builder;

static bool next_value(struct slice *rest, struct buffer *value)
{
    unsigned header_len, columns_len;
    struct slice header, columns;
    struct error err;

    if (rest->len < 3)
        return false;
    header_len = (unsigned char)rest->ptr[0];
    columns_len = bytes_get_le16(rest->ptr + 1);
    *rest = slice_sub(*rest, 3, SIZE_MAX);
    header = slice_sub(*rest, 0, header_len == AS_IT_IS ? 0 : header_len);
    columns = slice_sub(*rest, header.len, columns_len);
    *rest = slice_sub(*rest, header.len + columns.len, SIZE_MAX);
    buffer_append_slice(value, header_len == AS_IT_IS ? columns : header);
    return header_len == AS_IT_IS || pieces_pack(columns, packer, value, &err) == 0;
}

struct part {
    struct windows windows;
    struct rollup sums;
    struct part_rows *rows;
};

static int read_part(const struct buffer values[3], struct arena *arena, struct part *part, struct error *err)
{
    if (windows_decode(buffer_slice(&values[0]), unpacker, arena, &part->windows, err) < 0 ||
        rollup_decode(buffer_slice(&values[1]), MAX_STACKS, unpacker, arena, &part->sums, err) < 0)
        return -1;
    return part_rows_open(buffer_slice(&values[2]), &part->windows, &part->sums, unpacker, arena, &part->rows, err);
}

static void values_init(struct buffer values[3])
{
    for (size_t i = 0; i < 3; i++)
        buffer_init(&values[i], 0);
}

static void values_done(struct buffer (*values)[3])
{
    for (size_t i = 0; i < 3; i++)
        buffer_done(&(*values)[i]);
}

static void check_same_row(const struct headrow *a, const struct headrow *b)
{
    ASSERT(a->start_ns == b->start_ns && a->sequence == b->sequence && a->n_samples == b->n_samples);
    ASSERT(memcmp(a->stacks, b->stacks, a->n_samples * sizeof(*a->stacks)) == 0);
    ASSERT(!a->label_sets == !b->label_sets && !a->links == !b->links && !a->counts == !b->counts);
    for (uint32_t i = 0; i < a->n_samples; i++) {
        for (uint32_t type = 0; type < a->n_types; type++)
            ASSERT(a->values[(size_t)type * a->stride + i] == b->values[(size_t)type * b->stride + i]);
        ASSERT(!a->label_sets || a->label_sets[i] == b->label_sets[i]);
        ASSERT(!a->counts || a->counts[i] == b->counts[i]);
        ASSERT(!a->links || !a->links[i] == !b->links[i]);
        if (a->links && a->links[i] != 0)
            ASSERT(memcmp(&a->link_table[a->links[i] - 1], &b->link_table[b->links[i] - 1], sizeof(struct link)) == 0);
    }
}

/* The links read alone are those that rows have. */
static void check_links(const struct part *part, struct slice samples, struct arena *arena)
{
    struct link *links;
    uint32_t n;
    struct error err;

    if (part_links_decode(samples, unpacker, arena, &links, &n, &err) < 0) {
        ASSERT(err.code == ERR_LIMIT);
        return;
    }
    for (uint32_t i = 0; i < part->windows.n_rows; i++) {
        struct headrow row;

        part_rows_get(part->rows, i, &row);
        for (uint32_t k = 0; k < MIN(row.n_links, 8u); k++) {
            uint32_t at = 0;

            while (at < n && memcmp(&links[at], &row.link_table[k], sizeof(*links)) != 0)
                at++;
            ASSERT(at < n);
        }
    }
}

static bool takes_even(void *context, const struct link *link)
{
    return link->span_id[0] % 2 == 0;
}

/* Some rows read alone are what they are among all. */
static void check_some(const struct part *part, struct slice samples, struct arena *arena)
{
    struct error err;
    bool *wanted = ARENA_ARRAY(arena, bool, part->windows.n_rows, &err);
    struct part_choice every_second = { .rows = wanted }, linked = { .takes_link = takes_even };
    struct part_rows *some;

    for (uint32_t i = 0; wanted && i < part->windows.n_rows; i++)
        wanted[i] = i % 2;
    if (!wanted ||
        part_rows_open_some(samples, &part->windows, &part->sums, &linked, unpacker, arena, &some, &err) < 0 ||
        part_rows_open_some(samples, &part->windows, &part->sums, &every_second, unpacker, arena, &some, &err) < 0) {
        ASSERT(err.code == ERR_LIMIT);
        return;
    }
    for (uint32_t i = 1; i < part->windows.n_rows; i += 2) {
        struct headrow row, whole;

        part_rows_get(some, i, &row);
        part_rows_get(part->rows, i, &whole);
        check_same_row(&row, &whole);
    }
}

/* Adds every row to a builder; false where it takes no more. */
static bool walk(struct part *part)
{
    struct error err;

    part_builder_clear(builder, part->windows.n_types);
    for (uint32_t i = 0; i < part->windows.n_rows; i++) {
        struct headrow row;

        part_rows_get(part->rows, i, &row);
        ASSERT(headrow_is_sorted(&row));
        if (part_builder_add(builder, &row, &err) < 0) {
            ASSERT(err.code == ERR_LIMIT);
            return false;
        }
    }
    return true;
}

static void check_again(struct part *part, struct arena *arena)
{
    AUTO(values_done) struct buffer values[3];
    struct part again;
    struct error err;

    values_init(values);
    ASSERT(part_builder_finish(builder, packer, &values[0], &values[1], &values[2], &err) == 0);
    ASSERT(read_part(values, arena, &again, &err) == 0);
    ASSERT(part_rows_check(again.rows, &err) == 0);
    ASSERT(again.windows.n_rows == part->windows.n_rows);
    for (uint32_t i = 0; i < part->windows.n_rows; i++) {
        struct headrow row, row_again;

        part_rows_get(part->rows, i, &row);
        part_rows_get(again.rows, i, &row_again);
        check_same_row(&row, &row_again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    AUTO(values_done) struct buffer values[3];
    struct slice rest = slice_of(data, size);
    struct link *links;
    uint32_t n_links;
    struct part part;
    struct error err;

    arena_init(&arena, MAX_BYTES);
    values_init(values);
    if ((!packer && packer_new(&packer, &err) < 0) || (!unpacker && unpacker_new(&unpacker, &err) < 0) ||
        (!builder && part_builder_new(&builder, &err) < 0))
        return 0;
    if (!next_value(&rest, &values[0]) || !next_value(&rest, &values[1]) || !next_value(&rest, &values[2]))
        return 0;
    if (read_part(values, &arena, &part, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION || err.code == ERR_LIMIT);
        if (part_links_decode(buffer_slice(&values[2]), unpacker, &arena, &links, &n_links, &err) < 0)
            ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION || err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT(part_rows_check(part.rows, &err) == 0 || err.code == ERR_CORRUPT);
    check_links(&part, buffer_slice(&values[2]), &arena);
    check_some(&part, buffer_slice(&values[2]), &arena);
    if (walk(&part)) {
        arena.max_bytes *= 4; /* what was read once can be read again */
        check_again(&part, &arena);
    }
    return 0;
}
