// SPDX-License-Identifier: Apache-2.0
#include "block/part.h"

#include "base/memory.h"
#include "base/vec.h"
#include "block/idsort.h"
#include "block/part_internal.h"
#include "block/pieces.h"
#include "block/valuecolumns.h"
#include "pack/column.h"
#include "pack/varint.h"

#include <inttypes.h>

/* --- ranks: the order in which the stacks of a part are kept --- */

/* Sorts pairs by `keys`, the 32 bits from `shift` on. */
static void sort_by_half(const uint64_t *keys, unsigned shift, uint64_t *pairs, uint64_t *scratch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pairs[i] = idsort_pair((uint32_t)(keys[idsort_from(pairs[i])] >> shift), idsort_from(pairs[i]));
    idsort_pairs(pairs, scratch, n);
}

int part_find_ranks(const struct rollup *sums, struct arena *arena, uint32_t **ret_places, struct error *err)
{
    uint32_t n = sums->n_stacks;
    uint32_t *places = ARENA_ARRAY(arena, uint32_t, n, err);
    uint64_t *keys = ARENA_ARRAY(arena, uint64_t, (size_t)n * 3, err);
    uint64_t *pairs, *scratch;

    if (!places || !keys)
        return -1;
    pairs = keys + n;
    scratch = pairs + n;
    for (uint32_t i = 0; i < n; i++) {
        pairs[i] = idsort_pair(0, i);
        keys[i] = sums->n_types ? (uint64_t)INT64_MAX - (uint64_t)sums->sums[i] : 0; /* 0 for the largest of all */
    }
    sort_by_half(keys, 0, pairs, scratch, n);
    sort_by_half(keys, 32, pairs, scratch, n);
    for (uint32_t rank = 0; rank < n; rank++)
        places[rank] = idsort_from(pairs[rank]);
    *ret_places = places;
    return 0;
}

/* --- the builder --- */

struct row {
    int64_t start_ns, duration_ns, period;
    uint32_t sequence, label_set, n_samples;
};

/* A column that few parts need: its memory comes with the first row that has it, samples before it have 0. */
struct extra_column {
    char *items;
    size_t item_bytes;
    bool is_used; /* by this part */
};

enum { EXTRA_LABEL_SETS, EXTRA_LINKS, EXTRA_COUNTS, EXTRA_COUNT };

struct part_builder {
    uint32_t n_types;
    VEC(struct row) rows;
    VEC(int64_t) totals; /* row by row */
    VEC(struct link) links;
    VEC(uint32_t) new_links; /* while a row is added: its links as they are numbered in the part */

    /* the samples, row by row, as they came */
    size_t n_samples;
    size_t capacity;
    uint32_t *stacks;
    uint32_t *sample_rows; /* the row of each sample */
    int64_t *values;       /* values[type * capacity + sample] */
    struct extra_column extras[EXTRA_COUNT];

    /* for finishing */
    struct arena arena;
    size_t arena_bytes; /* the most it had to give */
    struct buffer columns;
};

int part_builder_new(struct part_builder **ret_builder, struct error *err)
{
    struct part_builder *builder = MEMORY_NEW(struct part_builder, err);

    if (!builder)
        return -1;
    builder->extras[EXTRA_LABEL_SETS].item_bytes = sizeof(uint32_t);
    builder->extras[EXTRA_LINKS].item_bytes = sizeof(uint32_t);
    builder->extras[EXTRA_COUNTS].item_bytes = sizeof(uint64_t);
    arena_init(&builder->arena, 0);
    buffer_init(&builder->columns, 0);
    *ret_builder = builder;
    return 0;
}

static void free_samples(struct part_builder *builder)
{
    memory_free(builder->stacks);
    memory_free(builder->sample_rows);
    memory_free(builder->values);
    builder->stacks = builder->sample_rows = NULL;
    builder->values = NULL;
    for (size_t i = 0; i < EXTRA_COUNT; i++) {
        memory_free(builder->extras[i].items);
        builder->extras[i].items = NULL;
    }
    builder->capacity = 0;
}

void part_builder_free(struct part_builder *builder)
{
    if (!builder)
        return;
    VEC_DONE(&builder->rows);
    VEC_DONE(&builder->totals);
    VEC_DONE(&builder->links);
    VEC_DONE(&builder->new_links);
    free_samples(builder);
    arena_done(&builder->arena);
    buffer_done(&builder->columns);
    memory_free(builder);
}

void part_builder_freep(struct part_builder **builder)
{
    part_builder_free(*builder);
}

void part_builder_clear(struct part_builder *builder, uint32_t n_types)
{
    ASSERT(n_types <= PROFILE_MAX_TYPES);
    if (builder->capacity > PART_MAX_SAMPLES) {
        free_samples(builder);
        arena_done(&builder->arena);
        builder->arena_bytes = 0;
        buffer_done(&builder->columns);
    }
    if (n_types != builder->n_types) /* the values have room for another number of types */
        free_samples(builder);
    builder->n_types = n_types;
    builder->rows.n = builder->totals.n = builder->links.n = 0;
    builder->n_samples = 0;
    for (size_t i = 0; i < EXTRA_COUNT; i++)
        builder->extras[i].is_used = false;
}

bool part_builder_is_empty(const struct part_builder *builder)
{
    return builder->rows.n == 0;
}

bool part_builder_has_room(const struct part_builder *builder, uint32_t n_samples)
{
    if (builder->rows.n == 0)
        return n_samples <= HEADROW_MAX_SAMPLES;
    return builder->rows.n < PART_MAX_ROWS && builder->n_samples + n_samples <= PART_MAX_SAMPLES;
}

size_t part_builder_bytes(const struct part_builder *builder)
{
    size_t sample_bytes = sizeof(*builder->stacks) + sizeof(*builder->sample_rows) + builder->n_types * sizeof(int64_t);

    for (size_t i = 0; i < EXTRA_COUNT; i++)
        sample_bytes += builder->extras[i].items ? builder->extras[i].item_bytes : 0;
    return sizeof(*builder) + builder->capacity * sample_bytes + builder->arena_bytes + builder->columns.capacity +
           builder->rows.capacity * sizeof(*builder->rows.items) +
           builder->totals.capacity * sizeof(*builder->totals.items) +
           builder->links.capacity * sizeof(*builder->links.items) +
           builder->new_links.capacity * sizeof(*builder->new_links.items);
}

static int check_row(const struct part_builder *builder, const struct headrow *row, struct error *err)
{
    const struct row *last = builder->rows.n ? &builder->rows.items[builder->rows.n - 1] : NULL;

    if (row->n_types != builder->n_types)
        return error_set(err, ERR_INVALID, "has %u types, the part is of %u", row->n_types, builder->n_types);
    if (last && (row->start_ns < last->start_ns || (row->start_ns == last->start_ns && row->sequence < last->sequence)))
        return error_set(err, ERR_INVALID,
                         "start %" PRId64 ", sequence %u is before that of the row before it, %" PRId64 " and %u",
                         row->start_ns, row->sequence, last->start_ns, last->sequence);
    if (!headrow_is_sorted(row))
        return error_set(err, ERR_INVALID, "its samples are not sorted, or one occurs twice");
    if (!part_builder_has_room(builder, row->n_samples))
        return error_set(err, ERR_LIMIT,
                         "%u samples do not fit behind the %zu samples and %zu rows of the part; it must be finished",
                         row->n_samples, builder->n_samples, builder->rows.n);
    return 0;
}

static int resize(void *ptr_to_items, size_t n, size_t item_bytes, struct error *err)
{
    void **items = ptr_to_items;
    void *moved = memory_realloc(*items, n * item_bytes, err);

    if (!moved)
        return -1;
    *items = moved;
    return 0;
}

/* Value columns lie `capacity` apart, so they move to new memory. */
static int resize_values(struct part_builder *builder, size_t capacity, struct error *err)
{
    int64_t *values = memory_alloc(capacity * builder->n_types * sizeof(*values), err);

    if (!values)
        return -1;
    for (uint32_t type = 0; type < builder->n_types && builder->n_samples > 0; type++)
        memcpy(values + type * capacity, builder->values + type * builder->capacity,
               builder->n_samples * sizeof(*values));
    memory_free(builder->values);
    builder->values = values;
    return 0;
}

static int reserve_samples(struct part_builder *builder, uint32_t extra, struct error *err)
{
    size_t needed = builder->n_samples + extra;
    size_t capacity = MAX(MIN(builder->capacity / 2 * 3, PART_MAX_SAMPLES), needed);

    if (needed <= builder->capacity)
        return 0;
    for (size_t i = 0; i < EXTRA_COUNT; i++)
        if (builder->extras[i].items &&
            resize(&builder->extras[i].items, capacity, builder->extras[i].item_bytes, err) < 0)
            return -1;
    if (resize(&builder->stacks, capacity, sizeof(*builder->stacks), err) < 0 ||
        resize(&builder->sample_rows, capacity, sizeof(*builder->sample_rows), err) < 0 ||
        resize_values(builder, capacity, err) < 0)
        return -1;
    builder->capacity = capacity;
    return 0;
}

/* Numbers the links that the row's samples have by their places in the part, in the same order. */
static int number_links(struct part_builder *builder, const struct headrow *row, struct error *err)
{
    uint32_t number = (uint32_t)builder->links.n;

    builder->new_links.n = 0;
    if (VEC_RESERVE(&builder->new_links, (size_t)row->n_links + 1, (size_t)UINT32_MAX + 1, err) < 0 ||
        VEC_RESERVE(&builder->links, MIN(row->n_links, row->n_samples), UINT32_MAX, err) < 0)
        return -1;
    memset(builder->new_links.items, 0, (row->n_links + (size_t)1) * sizeof(*builder->new_links.items));
    for (uint32_t i = 0; i < row->n_samples; i++)
        builder->new_links.items[row->links[i]] = 1;
    builder->new_links.items[0] = 0;
    for (uint32_t link = 1; link <= row->n_links; link++)
        if (builder->new_links.items[link])
            builder->new_links.items[link] = ++number;
    return 0;
}

static int reserve_row(struct part_builder *builder, const struct headrow *row, struct error *err)
{
    const void *columns[EXTRA_COUNT] = { row->label_sets, row->links, row->counts };

    if (VEC_RESERVE(&builder->rows, 1, PART_MAX_ROWS, err) < 0 ||
        VEC_RESERVE(&builder->totals, builder->n_types, (size_t)PART_MAX_ROWS * PROFILE_MAX_TYPES, err) < 0 ||
        reserve_samples(builder, row->n_samples, err) < 0)
        return -1;
    for (size_t i = 0; i < EXTRA_COUNT; i++)
        if (columns[i] && !builder->extras[i].items &&
            resize(&builder->extras[i].items, builder->capacity, builder->extras[i].item_bytes, err) < 0)
            return -1;
    return row->links ? number_links(builder, row, err) : 0;
}

/* Puts a row's column, which may be NULL, behind those of the rows before. */
static void add_extra(struct part_builder *builder, size_t i, const void *items, uint32_t n)
{
    struct extra_column *extra = &builder->extras[i];

    if (items && !extra->is_used) {
        memset(extra->items, 0, builder->n_samples * extra->item_bytes);
        extra->is_used = true;
    }
    if (items && n > 0)
        memcpy(extra->items + builder->n_samples * extra->item_bytes, items, n * extra->item_bytes);
    else if (extra->is_used)
        memset(extra->items + builder->n_samples * extra->item_bytes, 0, n * extra->item_bytes);
}

static void add_links(struct part_builder *builder, const struct headrow *row)
{
    uint32_t *links = (uint32_t *)builder->extras[EXTRA_LINKS].items + builder->n_samples;

    for (uint32_t i = 0; i < row->n_samples; i++)
        links[i] = builder->new_links.items[links[i]];
    for (uint32_t link = 1; link <= row->n_links; link++)
        if (builder->new_links.items[link])
            builder->links.items[builder->links.n++] = row->link_table[link - 1];
}

static void add_samples(struct part_builder *builder, const struct headrow *row)
{
    size_t at = builder->n_samples;

    for (uint32_t i = 0; i < row->n_samples; i++) {
        builder->stacks[at + i] = row->stacks[i];
        builder->sample_rows[at + i] = (uint32_t)builder->rows.n;
    }
    for (uint32_t type = 0; type < row->n_types; type++) {
        uint64_t saturated = 0;
        int64_t total = 0;

        for (uint32_t i = 0; i < row->n_samples; i++) {
            int64_t value = row->values[(size_t)type * row->stride + i];

            builder->values[type * builder->capacity + at + i] = value;
            total = value_add(total, value, &saturated);
        }
        builder->totals.items[builder->totals.n++] = total;
    }
    add_extra(builder, EXTRA_LABEL_SETS, row->label_sets, row->n_samples);
    add_extra(builder, EXTRA_LINKS, row->links, row->n_samples);
    add_extra(builder, EXTRA_COUNTS, row->counts, row->n_samples);
    if (row->links)
        add_links(builder, row);
    builder->n_samples += row->n_samples;
}

int part_builder_add(struct part_builder *builder, const struct headrow *row, struct error *err)
{
    if (check_row(builder, row, err) < 0 || reserve_row(builder, row, err) < 0)
        return error_wrap(err, "adding a row to a part");
    add_samples(builder, row);
    builder->rows.items[builder->rows.n++] = (struct row){
        .start_ns = row->start_ns,
        .duration_ns = row->duration_ns,
        .period = row->period,
        .sequence = row->sequence,
        .label_set = row->label_set,
        .n_samples = row->n_samples,
    };
    return 0;
}

/* --- finishing --- */

static void encode_signed(const int64_t *values, size_t n, enum column_coding coding, uint64_t *scratch,
                          struct buffer *out)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = varint_zigzag(values[i]);
    column_encode_u64(scratch, n, coding, out);
}

static int fill_windows(struct part_builder *builder, struct windows *ret_windows, struct error *err)
{
    struct arena *arena = &builder->arena;
    size_t n = builder->rows.n;
    struct windows windows = {
        .n_types = builder->n_types,
        .n_rows = (uint32_t)n,
        .starts_ns = ARENA_ARRAY(arena, int64_t, n, err),
        .durations_ns = ARENA_ARRAY(arena, int64_t, n, err),
        .sequences = ARENA_ARRAY(arena, uint32_t, n, err),
        .label_sets = ARENA_ARRAY(arena, uint32_t, n, err),
        .periods = ARENA_ARRAY(arena, int64_t, n, err),
        .sample_counts = ARENA_ARRAY(arena, uint32_t, n, err),
        .totals = ARENA_ARRAY(arena, int64_t, n * builder->n_types, err),
    };

    if (!windows.starts_ns || !windows.durations_ns || !windows.sequences || !windows.label_sets || !windows.periods ||
        !windows.sample_counts || !windows.totals)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct row *row = &builder->rows.items[i];

        windows.starts_ns[i] = row->start_ns;
        windows.durations_ns[i] = row->duration_ns;
        windows.sequences[i] = row->sequence;
        windows.label_sets[i] = row->label_set;
        windows.periods[i] = row->period;
        windows.sample_counts[i] = row->n_samples;
        for (uint32_t type = 0; type < builder->n_types; type++)
            windows.totals[type * n + i] = builder->totals.items[i * builder->n_types + type];
    }
    *ret_windows = windows;
    return 0;
}

/* Compresses what was put into `columns` behind the header in `out`. */
static int pack_columns(struct part_builder *builder, struct packer *packer, struct buffer *out, struct error *err)
{
    if (buffer_check(&builder->columns, err) < 0 || buffer_check(out, err) < 0)
        return -1;
    return pieces_pack(buffer_slice(&builder->columns), packer, out, err);
}

static int finish_windows(struct part_builder *builder, struct packer *packer, struct buffer *out, struct error *err)
{
    struct buffer *columns = &builder->columns;
    size_t n = builder->rows.n;
    uint64_t *scratch = ARENA_ARRAY(&builder->arena, uint64_t, n, err);
    struct windows windows;

    if (!scratch || fill_windows(builder, &windows, err) < 0)
        return -1;
    buffer_append_byte(out, PART_VERSION);
    varint_append(out, builder->n_types);
    varint_append(out, n);
    buffer_clear(columns);
    encode_signed(windows.starts_ns, n, COLUMN_DELTA_OF_DELTA, scratch, columns);
    encode_signed(windows.durations_ns, n, COLUMN_PLAIN, scratch, columns);
    column_encode_u32(windows.sequences, n, COLUMN_ZIGZAG_DELTA, columns);
    column_encode_u32(windows.label_sets, n, COLUMN_PLAIN, columns);
    encode_signed(windows.periods, n, COLUMN_PLAIN, scratch, columns);
    column_encode_u32(windows.sample_counts, n, COLUMN_PLAIN, columns);
    valuecolumns_encode(windows.totals, n, NULL, n, builder->n_types, scratch, columns);
    return pack_columns(builder, packer, out, err);
}

/* The samples in the order in which they are kept. */
struct arrangement {
    uint64_t *pairs;     /* by stack and row; scratch once they are ranked */
    struct rollup sums;  /* over the part */
    uint32_t *starts;    /* where the samples of each stack begin in pairs; one more for the end */
    uint32_t *order;     /* by rank and row */
    uint32_t *distances; /* between their positions */
};

static void sort_samples(const struct part_builder *builder, uint64_t *pairs)
{
    for (size_t i = 0; i < builder->n_samples; i++)
        pairs[i] = idsort_pair(builder->stacks[i], (uint32_t)i);
    idsort_pairs(pairs, pairs + builder->n_samples, builder->n_samples);
}

static uint32_t count_stacks(const struct arrangement *arrangement, size_t n_samples)
{
    uint32_t n = n_samples > 0;

    for (size_t i = 1; i < n_samples; i++)
        n += idsort_id(arrangement->pairs[i - 1]) != idsort_id(arrangement->pairs[i]);
    return n;
}

static void add_up_stack(const struct part_builder *builder, struct arrangement *arrangement, uint32_t place)
{
    struct rollup *sums = &arrangement->sums;
    uint64_t saturated = 0;

    for (uint32_t type = 0; type < builder->n_types; type++) {
        const int64_t *values = builder->values + type * builder->capacity;
        int64_t sum = 0;

        for (uint32_t i = arrangement->starts[place]; i < arrangement->starts[place + 1]; i++)
            sum = value_add(sum, values[idsort_from(arrangement->pairs[i])], &saturated);
        sums->sums[(size_t)type * sums->n_stacks + place] = sum;
    }
}

static int add_up(struct part_builder *builder, struct arrangement *arrangement, struct error *err)
{
    struct rollup *sums = &arrangement->sums;
    uint32_t place = 0;
    uint64_t saturated = 0;

    *sums = (struct rollup){ .n_types = builder->n_types, .n_rows = builder->rows.n, .n_series = builder->rows.n > 0 };
    VEC_EACH (&builder->rows, row)
        sums->duration_ns = value_add(sums->duration_ns, row->duration_ns, &saturated);
    sums->n_stacks = count_stacks(arrangement, builder->n_samples);
    sums->stacks = ARENA_ARRAY(&builder->arena, uint32_t, sums->n_stacks, err);
    sums->sums = ARENA_ARRAY(&builder->arena, int64_t, (size_t)sums->n_stacks * sums->n_types, err);
    arrangement->starts = ARENA_ARRAY(&builder->arena, uint32_t, (size_t)sums->n_stacks + 1, err);
    if (!sums->stacks || !sums->sums || !arrangement->starts)
        return -1;
    for (size_t i = 0; i < builder->n_samples; i++) {
        uint32_t stack = idsort_id(arrangement->pairs[i]);

        if (i > 0 && stack == idsort_id(arrangement->pairs[i - 1]))
            continue;
        arrangement->starts[place] = (uint32_t)i;
        sums->stacks[place++] = stack;
    }
    arrangement->starts[place] = (uint32_t)builder->n_samples;
    for (place = 0; place < sums->n_stacks; place++)
        add_up_stack(builder, arrangement, place);
    return 0;
}

static int rank_samples(struct part_builder *builder, struct arrangement *arrangement, struct error *err)
{
    uint64_t before = 0;
    uint32_t *places;
    size_t n = 0;

    if (part_find_ranks(&arrangement->sums, &builder->arena, &places, err) < 0)
        return -1;
    for (uint32_t rank = 0; rank < arrangement->sums.n_stacks; rank++) {
        uint32_t end = arrangement->starts[places[rank] + 1];

        for (uint32_t i = arrangement->starts[places[rank]]; i < end; i++, n++) {
            uint32_t sample = idsort_from(arrangement->pairs[i]);
            uint64_t position = (uint64_t)rank * builder->rows.n + builder->sample_rows[sample];

            arrangement->order[n] = sample;
            arrangement->distances[n] = (uint32_t)(position - before); /* below 2 * n_rows, as each stack occurs */
            before = position;
        }
    }
    return 0;
}

static int arrange(struct part_builder *builder, struct arrangement *ret_arrangement, struct error *err)
{
    struct arrangement arrangement = { .pairs = ARENA_ARRAY(&builder->arena, uint64_t, builder->n_samples * 2, err) };

    if (!arrangement.pairs)
        return -1;
    sort_samples(builder, arrangement.pairs);
    /* Where sorting had its scratch, there is room for both. */
    arrangement.order = (uint32_t *)(arrangement.pairs + builder->n_samples);
    arrangement.distances = arrangement.order + builder->n_samples;
    if (add_up(builder, &arrangement, err) < 0 || rank_samples(builder, &arrangement, err) < 0)
        return -1;
    *ret_arrangement = arrangement;
    return 0;
}

/* Columns that few parts have, in the order of the samples; `scratch` has room for one. */
static void encode_extra_u32(struct part_builder *builder, size_t extra, const uint32_t *order, uint32_t *scratch)
{
    const uint32_t *items = (const uint32_t *)builder->extras[extra].items;

    for (size_t i = 0; i < builder->n_samples; i++)
        scratch[i] = items[order[i]];
    column_encode_u32(scratch, builder->n_samples, COLUMN_PLAIN, &builder->columns);
}

static void encode_extra_u64(struct part_builder *builder, size_t extra, const uint32_t *order, uint64_t *scratch)
{
    const uint64_t *items = (const uint64_t *)builder->extras[extra].items;

    for (size_t i = 0; i < builder->n_samples; i++)
        scratch[i] = items[order[i]];
    column_encode_u64(scratch, builder->n_samples, COLUMN_PLAIN, &builder->columns);
}

static void encode_samples_head(const struct part_builder *builder, struct buffer *out)
{
    unsigned flags = (builder->extras[EXTRA_LABEL_SETS].is_used ? HEADROW_HAS_LABEL_SETS : 0) |
                     (builder->extras[EXTRA_LINKS].is_used ? HEADROW_HAS_LINKS : 0) |
                     (builder->extras[EXTRA_COUNTS].is_used ? HEADROW_HAS_COUNTS : 0);

    buffer_append_byte(out, PART_VERSION);
    buffer_append_byte(out, (char)flags);
    varint_append(out, builder->n_types);
    varint_append(out, builder->rows.n);
    varint_append(out, builder->n_samples);
    varint_append(out, builder->links.n);
}

static int finish_samples(struct part_builder *builder, const struct arrangement *arrangement, struct packer *packer,
                          struct buffer *out, struct error *err)
{
    uint64_t *scratch = arrangement->pairs; /* whose order is in `order` by now */

    encode_samples_head(builder, out);
    buffer_clear(&builder->columns);
    column_encode_u32(arrangement->distances, builder->n_samples, COLUMN_PLAIN, &builder->columns);
    valuecolumns_encode(builder->values, builder->capacity, arrangement->order, builder->n_samples, builder->n_types,
                        scratch, &builder->columns);
    if (builder->extras[EXTRA_LABEL_SETS].is_used)
        encode_extra_u32(builder, EXTRA_LABEL_SETS, arrangement->order, (uint32_t *)scratch);
    if (builder->extras[EXTRA_LINKS].is_used) {
        buffer_append(&builder->columns, builder->links.items, builder->links.n * sizeof(*builder->links.items));
        encode_extra_u32(builder, EXTRA_LINKS, arrangement->order, (uint32_t *)scratch);
    }
    if (builder->extras[EXTRA_COUNTS].is_used)
        encode_extra_u64(builder, EXTRA_COUNTS, arrangement->order, scratch);
    return pack_columns(builder, packer, out, err);
}

int part_builder_finish(struct part_builder *builder, struct packer *packer, struct buffer *windows,
                        struct buffer *sums, struct buffer *samples, struct error *err)
{
    size_t windows_len = windows->len, sums_len = sums->len, samples_len = samples->len;
    struct arrangement arrangement = { 0 };
    int result = 0;

    if (arrange(builder, &arrangement, err) < 0 || finish_windows(builder, packer, windows, err) < 0 ||
        rollup_encode(&arrangement.sums, packer, sums, err) < 0 ||
        finish_samples(builder, &arrangement, packer, samples, err) < 0) {
        buffer_truncate(windows, windows_len);
        buffer_truncate(sums, sums_len);
        buffer_truncate(samples, samples_len);
        result = error_wrap(err, "writing a part of %zu rows", builder->rows.n);
    }
    builder->arena_bytes = MAX(builder->arena_bytes, builder->arena.used_bytes);
    arena_reset(&builder->arena);
    return result;
}
