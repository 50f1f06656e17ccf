// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"
#include "block/part.h"
#include "block/part_internal.h"
#include "block/pieces.h"
#include "block/valuecolumns.h"
#include "pack/column.h"
#include "pack/varint.h"

#include <inttypes.h>

/* --- windows --- */

int part_next_u32(struct slice *rest, const char *what, uint32_t n, struct arena *arena, uint32_t **ret_column,
                  struct error *err)
{
    size_t found;

    if (column_decode_u32(rest, n, arena, ret_column, &found, err) < 0)
        return error_wrap(err, "%s", what);
    if (found != n)
        return error_set(err, ERR_CORRUPT, "%s: the column has %zu values, the header says %u", what, found, n);
    return 0;
}

int part_next_u64(struct slice *rest, const char *what, uint32_t n, struct arena *arena, uint64_t **ret_column,
                  struct error *err)
{
    size_t found;

    if (column_decode_u64(rest, n, arena, ret_column, &found, err) < 0)
        return error_wrap(err, "%s", what);
    if (found != n)
        return error_set(err, ERR_CORRUPT, "%s: the column has %zu values, the header says %u", what, found, n);
    return 0;
}

static int next_signed(struct slice *rest, const char *what, uint32_t n, struct arena *arena, int64_t **ret_column,
                       struct error *err)
{
    uint64_t *column;

    if (part_next_u64(rest, what, n, arena, &column, err) < 0)
        return -1;
    *ret_column = (int64_t *)column;
    for (uint32_t i = 0; i < n; i++)
        (*ret_column)[i] = varint_unzigzag(column[i]);
    return 0;
}

int part_skip_column(struct slice *rest, const char *what, uint32_t n, struct error *err)
{
    size_t found;

    if (column_skip(rest, n, &found, err) < 0)
        return error_wrap(err, "%s", what);
    if (found != n)
        return error_set(err, ERR_CORRUPT, "%s: the column has %zu values, the header says %u", what, found, n);
    return 0;
}

static int check_starts(const struct windows *windows, struct error *err)
{
    const uint32_t *sequences = windows->sequences;

    for (uint32_t i = 1; i < windows->n_rows; i++)
        if (windows->starts_ns[i - 1] > windows->starts_ns[i] ||
            (sequences && windows->starts_ns[i - 1] == windows->starts_ns[i] && sequences[i - 1] > sequences[i]))
            return error_set(err, ERR_CORRUPT,
                             "row %u of %u (start %" PRId64 ", sequence %u) is not in the order of time", i + 1,
                             windows->n_rows, windows->starts_ns[i], sequences ? sequences[i] : 0);
    return 0;
}

static int check_samples(const struct windows *windows, struct error *err)
{
    uint64_t n_samples = 0;

    for (uint32_t i = 0; i < windows->n_rows; i++)
        n_samples += windows->sample_counts[i];
    if (n_samples > HEADROW_MAX_SAMPLES)
        return error_set(err, ERR_CORRUPT, "the rows have %" PRIu64 " samples, at most %u are allowed", n_samples,
                         HEADROW_MAX_SAMPLES);
    return 0;
}

/* The columns between durations and totals. */
static int decode_middle(struct slice *rest, struct arena *arena, struct windows *windows, struct error *err)
{
    uint32_t n = windows->n_rows;

    if (part_next_u32(rest, "sequences", n, arena, &windows->sequences, err) < 0 ||
        part_next_u32(rest, "label sets", n, arena, &windows->label_sets, err) < 0 ||
        next_signed(rest, "periods", n, arena, &windows->periods, err) < 0 ||
        part_next_u32(rest, "numbers of samples", n, arena, &windows->sample_counts, err) < 0)
        return -1;
    return check_samples(windows, err);
}

static int skip_middle(struct slice *rest, uint32_t n, struct error *err)
{
    if (part_skip_column(rest, "sequences", n, err) < 0 || part_skip_column(rest, "label sets", n, err) < 0 ||
        part_skip_column(rest, "periods", n, err) < 0 || part_skip_column(rest, "numbers of samples", n, err) < 0)
        return -1;
    return 0;
}

static int decode_windows(struct slice rest, bool is_brief, struct arena *arena, struct windows *windows,
                          struct error *err)
{
    uint32_t n = windows->n_rows;

    if (next_signed(&rest, "starts", n, arena, &windows->starts_ns, err) < 0 ||
        next_signed(&rest, "durations", n, arena, &windows->durations_ns, err) < 0 ||
        (is_brief ? skip_middle(&rest, n, err) : decode_middle(&rest, arena, windows, err)) < 0)
        return -1;
    if (valuecolumns_decode(&rest, NULL, n, windows->n_types, arena, &windows->totals, err) < 0)
        return error_wrap(err, "totals");
    if (rest.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many behind their columns", rest.len);
    return check_starts(windows, err);
}

static size_t max_windows_bytes(uint32_t n_rows, uint32_t n_types)
{
    return 6 * pieces_column_max_bytes(n_rows, sizeof(uint64_t)) + valuecolumns_max_bytes(n_rows, n_types);
}

static int read_windows(struct slice bytes, bool is_brief, struct unpacker *unpacker, struct arena *arena,
                        struct windows *ret_windows, struct error *err)
{
    struct windows windows = { 0 };
    struct slice columns;
    uint64_t n_types = 0, n_rows = 0;

    if (pieces_next_version(&bytes, PART_VERSION, err) < 0 ||
        pieces_next_number(&bytes, "number of types", PROFILE_MAX_TYPES, &n_types, err) < 0 ||
        pieces_next_number(&bytes, "number of rows", PART_MAX_ROWS, &n_rows, err) < 0)
        return error_wrap(err, "windows of a part");
    windows.n_types = (uint32_t)n_types;
    windows.n_rows = (uint32_t)n_rows;
    if (pieces_unpack(bytes, max_windows_bytes(windows.n_rows, windows.n_types), unpacker, &columns, err) < 0 ||
        decode_windows(columns, is_brief, arena, &windows, err) < 0)
        return error_wrap(err, "windows of a part");
    *ret_windows = windows;
    return 0;
}

int windows_decode(struct slice bytes, struct unpacker *unpacker, struct arena *arena, struct windows *ret_windows,
                   struct error *err)
{
    return read_windows(bytes, false, unpacker, arena, ret_windows, err);
}

int windows_decode_brief(struct slice bytes, struct unpacker *unpacker, struct arena *arena,
                         struct windows *ret_windows, struct error *err)
{
    return read_windows(bytes, true, unpacker, arena, ret_windows, err);
}

/* --- rows --- */

static int decode_flags(struct part_opening *opening, struct error *err)
{
    if (pieces_next_version(&opening->rest, PART_VERSION, err) < 0)
        return -1;
    if (opening->rest.len == 0)
        return error_set(err, ERR_CORRUPT, "cut off behind the version");
    opening->flags = (uint8_t)opening->rest.ptr[0];
    if (opening->flags & ~HEADROW_ALL_FLAGS)
        return error_set(err, ERR_CORRUPT, "flags are 0x%02x, of which only 0x%02x have a meaning", opening->flags,
                         HEADROW_ALL_FLAGS);
    opening->rest = slice_sub(opening->rest, 1, SIZE_MAX);
    return 0;
}

static int check_same(const char *what, uint64_t samples, uint64_t others, const char *whose, struct error *err)
{
    if (samples == others)
        return 0;
    return error_set(err, ERR_CORRUPT, "they have %" PRIu64 " %s, the %s of the part have %" PRIu64, samples, what,
                     whose, others);
}

/* The numbers in front of the columns. */
struct samples_head {
    uint32_t n_types, n_rows, n_samples;
};

static int decode_head(struct part_opening *opening, struct samples_head *ret_head, struct error *err)
{
    uint64_t n_types, n_rows, n_samples, n_links;

    if (decode_flags(opening, err) < 0 ||
        pieces_next_number(&opening->rest, "number of types", PROFILE_MAX_TYPES, &n_types, err) < 0 ||
        pieces_next_number(&opening->rest, "number of rows", PART_MAX_ROWS, &n_rows, err) < 0 ||
        pieces_next_number(&opening->rest, "number of samples", HEADROW_MAX_SAMPLES, &n_samples, err) < 0 ||
        pieces_next_number(&opening->rest, "number of links", n_samples, &n_links, err) < 0)
        return -1;
    if (n_links > 0 && !(opening->flags & HEADROW_HAS_LINKS))
        return error_set(err, ERR_CORRUPT, "flags are 0x%02x, without links, but there are %" PRIu64 " links",
                         opening->flags, n_links);
    opening->n_links = (uint32_t)n_links;
    *ret_head = (struct samples_head){ (uint32_t)n_types, (uint32_t)n_rows, (uint32_t)n_samples };
    return 0;
}

/* The same where windows and sums are there as well, to which they must belong. */
int part_decode_head(struct part_opening *opening, struct error *err)
{
    struct part_rows *rows = opening->rows;
    struct samples_head head;

    if (decode_head(opening, &head, err) < 0 ||
        check_same("types", head.n_types, rows->windows->n_types, "windows", err) < 0 ||
        check_same("types", head.n_types, rows->sums->n_types, "sums", err) < 0 ||
        check_same("rows", head.n_rows, rows->windows->n_rows, "windows", err) < 0 ||
        check_same("rows", head.n_rows, rows->sums->n_rows, "sums", err) < 0)
        return -1;
    rows->n_samples = head.n_samples;
    return 0;
}

static int find_starts(struct part_opening *opening, struct error *err)
{
    struct part_rows *rows = opening->rows;
    const struct windows *windows = rows->windows;
    uint64_t start = 0;

    rows->starts = ARENA_ARRAY(opening->arena, uint32_t, (size_t)windows->n_rows + 1, err);
    if (!rows->starts)
        return -1;
    for (uint32_t i = 0; i < windows->n_rows; i++) {
        rows->starts[i] = (uint32_t)start;
        start += windows->sample_counts[i];
    }
    rows->starts[windows->n_rows] = (uint32_t)start;
    return check_same("samples", rows->n_samples, start, "windows", err);
}

/* Turns distances into the rows of the samples, and finds where the samples of each rank begin. */
int part_decode_positions(uint32_t *distances, const struct part_rows *rows, uint32_t *rank_starts, struct error *err)
{
    uint32_t n_stacks = rows->sums->n_stacks, n_rows = rows->windows->n_rows;
    uint32_t rank = 0;
    uint64_t row = 0;

    if ((rows->n_samples == 0) != (n_stacks == 0))
        return error_set(err, ERR_CORRUPT, "there are %u, while the sums have %u stacks", rows->n_samples, n_stacks);
    rank_starts[0] = 0;
    for (uint32_t i = 0; i < rows->n_samples; i++) {
        row += distances[i];
        if (row >= n_rows) {
            row -= n_rows;
            if (i == 0 || row >= n_rows || rank + 1 >= n_stacks)
                return error_set(err, ERR_CORRUPT,
                                 "sample %u of %u lies %u positions behind the one before it, of %u rows and %u stacks",
                                 i + 1, rows->n_samples, distances[i], n_rows, n_stacks);
            rank_starts[++rank] = i;
        }
        distances[i] = (uint32_t)row;
    }
    if (rows->n_samples > 0)
        rank_starts[++rank] = rows->n_samples;
    if (rank != n_stacks)
        return error_set(err, ERR_CORRUPT, "they are of %u stacks, the sums have %u", rank, n_stacks);
    return 0;
}

/* Deals the samples out to their rows, stack by stack: so each row's stacks rise. What were the rows of samples become
 * their places. */
static int place_samples(struct part_opening *opening, const uint32_t *ranked, const uint32_t *rank_starts,
                         struct error *err)
{
    struct part_rows *rows = opening->rows;
    uint32_t n_stacks = rows->sums->n_stacks, n_rows = rows->windows->n_rows;
    uint32_t *ranks = ARENA_ARRAY(opening->arena, uint32_t, n_stacks, err);
    uint32_t *next = ARENA_ARRAY(opening->arena, uint32_t, n_rows, err);

    rows->stacks = ARENA_ARRAY(opening->arena, uint32_t, rows->n_samples, err);
    if (!ranks || !next || !rows->stacks)
        return -1;
    memcpy(next, rows->starts, n_rows * sizeof(*next));
    for (uint32_t rank = 0; rank < n_stacks; rank++)
        ranks[ranked[rank]] = rank;
    for (uint32_t stack = 0; stack < n_stacks; stack++) {
        uint32_t end = rank_starts[ranks[stack] + 1];

        for (uint32_t i = rank_starts[ranks[stack]]; i < end; i++) {
            uint32_t row = opening->places[i];

            if (UNLIKELY(next[row] == rows->starts[row + 1]))
                return error_set(err, ERR_CORRUPT, "row %u of %u has more samples than the %u its window says", row + 1,
                                 n_rows, rows->windows->sample_counts[row]);
            rows->stacks[next[row]] = rows->sums->stacks[stack];
            opening->places[i] = next[row]++;
        }
    }
    return 0;
}

static int decode_stacks(struct part_opening *opening, struct error *err)
{
    struct part_rows *rows = opening->rows;
    uint32_t *rank_starts = ARENA_ARRAY(opening->arena, uint32_t, (size_t)rows->sums->n_stacks + 1, err);
    uint32_t *ranked;

    if (!rank_starts ||
        part_next_u32(&opening->rest, "distances", rows->n_samples, opening->arena, &opening->places, err) < 0 ||
        part_decode_positions(opening->places, rows, rank_starts, err) < 0 ||
        part_find_ranks(rows->sums, opening->arena, &ranked, err) < 0)
        return -1;
    return place_samples(opening, ranked, rank_starts, err);
}

static int decode_extra_u32(struct part_opening *opening, const char *what, uint32_t **ret_column, struct error *err)
{
    uint32_t n = opening->rows->n_samples;
    uint32_t *placed = ARENA_ARRAY(opening->arena, uint32_t, n, err);
    uint32_t *column;

    if (!placed || part_next_u32(&opening->rest, what, n, opening->arena, &column, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        placed[opening->places[i]] = column[i];
    *ret_column = placed;
    return 0;
}

static int decode_counts(struct part_opening *opening, struct error *err)
{
    uint32_t n = opening->rows->n_samples;
    uint64_t *placed = ARENA_ARRAY(opening->arena, uint64_t, n, err);
    uint64_t *column;

    if (!placed || part_next_u64(&opening->rest, "counts", n, opening->arena, &column, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        placed[opening->places[i]] = column[i];
    opening->rows->counts = placed;
    return 0;
}

/* Gives row `i` its own part of the table: from the first to the last link of its samples. */
void part_find_link_range(struct part_rows *rows, uint32_t i)
{
    uint32_t low = UINT32_MAX, high = 0;

    for (uint32_t k = rows->starts[i]; k < rows->starts[i + 1]; k++) {
        low = rows->links[k] ? MIN(low, rows->links[k]) : low;
        high = MAX(high, rows->links[k]);
    }
    rows->link_ranges[i] = high ? (struct link_range){ low - 1, high - low + 1 } : (struct link_range){ 0, 0 };
    for (uint32_t k = rows->starts[i]; k < rows->starts[i + 1]; k++)
        rows->links[k] -= rows->links[k] ? low - 1 : 0;
}

int part_decode_link_table(struct part_opening *opening, struct link **ret_table, struct error *err)
{
    size_t table_bytes = opening->n_links * sizeof(**ret_table);

    if (opening->rest.len < table_bytes)
        return error_set(err, ERR_CORRUPT, "cut off: %u links, but only %zu bytes left", opening->n_links,
                         opening->rest.len);
    *ret_table = ARENA_ARRAY(opening->arena, struct link, opening->n_links, err);
    if (!*ret_table)
        return -1;
    memcpy(*ret_table, opening->rest.ptr, table_bytes);
    opening->rest = slice_sub(opening->rest, table_bytes, SIZE_MAX);
    return 0;
}

static int decode_links(struct part_opening *opening, struct error *err)
{
    struct part_rows *rows = opening->rows;

    rows->link_ranges = ARENA_ARRAY(opening->arena, struct link_range, rows->windows->n_rows, err);
    if (!rows->link_ranges || part_decode_link_table(opening, &rows->link_table, err) < 0)
        return -1;
    if (decode_extra_u32(opening, "links", &rows->links, err) < 0)
        return -1;
    for (uint32_t i = 0; i < rows->n_samples; i++)
        if (rows->links[i] > opening->n_links)
            return error_set(err, ERR_CORRUPT, "a sample has link %u, there are %u", rows->links[i], opening->n_links);
    for (uint32_t i = 0; i < rows->windows->n_rows; i++)
        part_find_link_range(rows, i);
    return 0;
}

static int decode_columns(struct part_opening *opening, struct error *err)
{
    struct part_rows *rows = opening->rows;

    if (decode_stacks(opening, err) < 0)
        return -1;
    if (valuecolumns_decode(&opening->rest, opening->places, rows->n_samples, rows->windows->n_types, opening->arena,
                            &rows->values, err) < 0)
        return error_wrap(err, "values");
    if ((opening->flags & HEADROW_HAS_LABEL_SETS) &&
        decode_extra_u32(opening, "label sets", &rows->label_sets, err) < 0)
        return -1;
    if ((opening->flags & HEADROW_HAS_LINKS) && decode_links(opening, err) < 0)
        return -1;
    if ((opening->flags & HEADROW_HAS_COUNTS) && decode_counts(opening, err) < 0)
        return -1;
    if (opening->rest.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many behind their columns", opening->rest.len);
    return 0;
}

int part_check_order(struct part_rows *rows, struct error *err)
{
    for (uint32_t i = 0; i < rows->windows->n_rows; i++) {
        struct headrow row;

        part_rows_get(rows, i, &row);
        if (!headrow_is_sorted(&row))
            return error_set(err, ERR_CORRUPT, "row %u of %u: samples of one stack are out of order or the same", i + 1,
                             rows->windows->n_rows);
    }
    return 0;
}

static size_t max_samples_bytes(const struct part_opening *opening, size_t n, uint32_t n_types)
{
    return 3 * pieces_column_max_bytes(n, sizeof(uint32_t)) + pieces_column_max_bytes(n, sizeof(uint64_t)) +
           opening->n_links * sizeof(struct link) + valuecolumns_max_bytes(n, n_types);
}

int part_unpack(struct part_opening *opening, struct unpacker *unpacker, struct error *err)
{
    size_t max_bytes = max_samples_bytes(opening, opening->rows->n_samples, opening->rows->windows->n_types);

    return pieces_unpack(opening->rest, max_bytes, unpacker, &opening->rest, err);
}

/* Goes by the columns in front of the links. */
static int find_links(struct part_opening *opening, const struct samples_head *head, struct unpacker *unpacker,
                      struct link **ret_links, struct error *err)
{
    if (pieces_unpack(opening->rest, max_samples_bytes(opening, head->n_samples, head->n_types), unpacker,
                      &opening->rest, err) < 0 ||
        part_skip_column(&opening->rest, "distances", head->n_samples, err) < 0 ||
        valuecolumns_skip(&opening->rest, head->n_samples, head->n_types, err) < 0 ||
        ((opening->flags & HEADROW_HAS_LABEL_SETS) &&
         part_skip_column(&opening->rest, "label sets", head->n_samples, err) < 0))
        return -1;
    return part_decode_link_table(opening, ret_links, err);
}

int part_links_decode(struct slice samples, struct unpacker *unpacker, struct arena *arena, struct link **ret_links,
                      uint32_t *ret_n, struct error *err)
{
    struct part_opening opening = { .arena = arena, .rest = samples };
    struct samples_head head;
    struct link *links = NULL;

    if (decode_head(&opening, &head, err) < 0 ||
        (opening.n_links > 0 && find_links(&opening, &head, unpacker, &links, err) < 0))
        return error_wrap(err, "samples of a part");
    *ret_links = links;
    *ret_n = opening.n_links;
    return 0;
}

int part_rows_open(struct slice samples, const struct windows *windows, const struct rollup *sums,
                   struct unpacker *unpacker, struct arena *arena, struct part_rows **ret_rows, struct error *err)
{
    struct part_opening opening = { .rows = ARENA_NEW(arena, struct part_rows, err), .arena = arena, .rest = samples };

    if (!opening.rows)
        return -1;
    opening.rows->windows = windows;
    opening.rows->sums = sums;
    if (part_decode_head(&opening, err) < 0 || find_starts(&opening, err) < 0 ||
        part_unpack(&opening, unpacker, err) < 0 || decode_columns(&opening, err) < 0 ||
        part_check_order(opening.rows, err) < 0)
        return error_wrap(err, "samples of a part");
    *ret_rows = opening.rows;
    return 0;
}

static uint32_t *u32_unless_zero(uint32_t *column, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (column[i] != 0)
            return column;
    return NULL;
}

static uint64_t *u64_unless_zero(uint64_t *column, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (column[i] != 0)
            return column;
    return NULL;
}

void part_rows_get(struct part_rows *rows, uint32_t i, struct headrow *ret_row)
{
    const struct windows *windows = rows->windows;
    uint32_t start = rows->starts[i], n = rows->starts[i + 1] - start;
    struct headrow row = {
        .start_ns = windows->starts_ns[i],
        .sequence = windows->sequences[i],
        .label_set = windows->label_sets[i],
        .duration_ns = windows->durations_ns[i],
        .period = windows->periods[i],
        .n_types = windows->n_types,
        .n_samples = n,
        .stride = rows->n_samples,
        .stacks = rows->stacks + start,
        .values = rows->values + start,
    };

    if (rows->label_sets)
        row.label_sets = u32_unless_zero(rows->label_sets + start, n);
    if (rows->counts)
        row.counts = u64_unless_zero(rows->counts + start, n);
    if (rows->links && rows->link_ranges[i].n > 0) {
        row.links = rows->links + start;
        row.link_table = rows->link_table + rows->link_ranges[i].first;
        row.n_links = rows->link_ranges[i].n;
    }
    *ret_row = row;
}

/* --- checking --- */

static int check_totals(struct part_rows *rows, uint32_t i, struct error *err)
{
    struct headrow row;

    part_rows_get(rows, i, &row);
    for (uint32_t type = 0; type < row.n_types; type++) {
        int64_t wanted = rows->windows->totals[(size_t)type * rows->windows->n_rows + i];
        uint64_t saturated = 0;
        int64_t total = 0;

        for (uint32_t k = 0; k < row.n_samples; k++)
            total = value_add(total, row.values[(size_t)type * row.stride + k], &saturated);
        if (total != wanted)
            return error_set(err, ERR_CORRUPT,
                             "windows of a part: row %u of %u, type %u: the total is %" PRId64
                             ", its samples add up to %" PRId64,
                             i + 1, rows->windows->n_rows, type, wanted, total);
    }
    return 0;
}

/* The place of a stack in the sums, where it is, from `place` on. */
static uint32_t find_stack(const struct rollup *sums, uint32_t place, uint32_t stack)
{
    uint32_t high = sums->n_stacks;

    while (place < high) {
        uint32_t middle = place + (high - place) / 2;

        if (sums->stacks[middle] < stack)
            place = middle + 1;
        else
            high = middle;
    }
    return place;
}

static void add_row(struct part_rows *rows, uint32_t i, int64_t *sums)
{
    uint32_t place = 0;
    uint64_t saturated = 0;
    struct headrow row;

    part_rows_get(rows, i, &row);
    for (uint32_t k = 0; k < row.n_samples; k++) {
        place = find_stack(rows->sums, place, row.stacks[k]);
        for (uint32_t type = 0; type < row.n_types; type++) {
            int64_t *sum = &sums[(size_t)type * rows->sums->n_stacks + place];

            *sum = value_add(*sum, row.values[(size_t)type * row.stride + k], &saturated);
        }
    }
}

static int check_sums(struct part_rows *rows, struct error *err)
{
    const struct rollup *wanted = rows->sums;
    size_t n = (size_t)wanted->n_stacks * wanted->n_types;
    AUTO(memory_freep) int64_t *sums = memory_alloc_zero(n * sizeof(*sums), err);

    if (!sums)
        return -1;
    for (uint32_t i = 0; i < rows->windows->n_rows; i++)
        add_row(rows, i, sums);
    for (size_t i = 0; i < n; i++)
        if (sums[i] != wanted->sums[i])
            return error_set(err, ERR_CORRUPT,
                             "sums of a part: stack %u, type %zu: the sum is %" PRId64
                             ", its samples add up to %" PRId64,
                             wanted->stacks[i % wanted->n_stacks], i / wanted->n_stacks, wanted->sums[i], sums[i]);
    return 0;
}

static int check_durations(const struct part_rows *rows, struct error *err)
{
    uint64_t saturated = 0;
    int64_t duration = 0;

    for (uint32_t i = 0; i < rows->windows->n_rows; i++)
        duration = value_add(duration, rows->windows->durations_ns[i], &saturated);
    if (duration != rows->sums->duration_ns)
        return error_set(err, ERR_CORRUPT,
                         "sums of a part: the duration is %" PRId64 " ns, its windows add up to %" PRId64 " ns",
                         rows->sums->duration_ns, duration);
    return 0;
}

int part_rows_check(struct part_rows *rows, struct error *err)
{
    for (uint32_t i = 0; i < rows->windows->n_rows; i++)
        if (check_totals(rows, i, err) < 0)
            return -1;
    if (check_durations(rows, err) < 0)
        return -1;
    return check_sums(rows, err);
}
