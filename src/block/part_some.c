// SPDX-License-Identifier: Apache-2.0
/* Reading some of the samples of a part. Which they are is found from the columns of positions and links; of the other
 * columns those samples alone are picked. */
#include "block/idsort.h"
#include "block/part.h"
#include "block/part_internal.h"
#include "block/valuecolumns.h"

struct picking {
    struct part_opening opening;
    const struct part_choice *choice;
    uint32_t n_samples;    /* of the part */
    uint32_t *rows;        /* [n_samples], in the order in which they are kept; so for the next two */
    uint32_t *links;       /* NULL = none */
    uint32_t *rank_starts; /* [n_stacks + 1] */
    uint32_t *kept;        /* numbers of the samples that are taken, rising */
    uint32_t *places;      /* where each belongs among the rows */
    uint32_t n_kept;
};

static int decode_rows(struct picking *picking, struct error *err)
{
    struct part_opening *opening = &picking->opening;
    const struct part_rows *rows = opening->rows;

    picking->n_samples = rows->n_samples;
    picking->rank_starts = ARENA_ARRAY(opening->arena, uint32_t, (size_t)rows->sums->n_stacks + 1, err);
    if (!picking->rank_starts ||
        part_next_u32(&opening->rest, "distances", picking->n_samples, opening->arena, &picking->rows, err) < 0)
        return -1;
    return part_decode_positions(picking->rows, rows, picking->rank_starts, err);
}

/* The links, which stand behind values and label sets. */
static int decode_links(struct picking *picking, struct error *err)
{
    struct part_opening behind = picking->opening;
    struct part_rows *rows = behind.rows;
    uint32_t n = picking->n_samples;

    if (!(behind.flags & HEADROW_HAS_LINKS))
        return 0;
    if (valuecolumns_skip(&behind.rest, n, rows->windows->n_types, err) < 0 ||
        ((behind.flags & HEADROW_HAS_LABEL_SETS) && part_skip_column(&behind.rest, "label sets", n, err) < 0) ||
        part_decode_link_table(&behind, &rows->link_table, err) < 0 ||
        part_next_u32(&behind.rest, "links", n, behind.arena, &picking->links, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (picking->links[i] > behind.n_links)
            return error_set(err, ERR_CORRUPT, "a sample has link %u, there are %u", picking->links[i], behind.n_links);
    return 0;
}

/* Which links are taken, by number; 0 is none. */
static int judge_links(const struct picking *picking, bool **ret_takes, struct error *err)
{
    const struct part_opening *opening = &picking->opening;
    const struct part_choice *choice = picking->choice;
    bool *takes = ARENA_ARRAY(opening->arena, bool, (size_t)opening->n_links + 1, err);

    if (!takes)
        return -1;
    takes[0] = !choice->takes_link;
    for (uint32_t i = 0; i < opening->n_links; i++)
        takes[i + 1] = !choice->takes_link || choice->takes_link(choice->context, &opening->rows->link_table[i]);
    *ret_takes = takes;
    return 0;
}

static int choose(struct picking *picking, struct error *err)
{
    const bool *rows = picking->choice->rows;
    bool *takes;

    picking->kept = ARENA_ARRAY(picking->opening.arena, uint32_t, picking->n_samples, err);
    if (!picking->kept || judge_links(picking, &takes, err) < 0)
        return -1;
    for (uint32_t i = 0; i < picking->n_samples; i++) {
        picking->kept[picking->n_kept] = i;
        picking->n_kept += (!rows || rows[picking->rows[i]]) && takes[picking->links ? picking->links[i] : 0];
    }
    picking->opening.rows->n_samples = picking->n_kept;
    return 0;
}

/* Where the samples of each row begin. */
static int find_starts(struct picking *picking, struct error *err)
{
    struct part_rows *rows = picking->opening.rows;
    uint32_t n_rows = rows->windows->n_rows;

    rows->starts = ARENA_ARRAY(picking->opening.arena, uint32_t, (size_t)n_rows + 1, err);
    if (!rows->starts)
        return -1;
    memset(rows->starts, 0, ((size_t)n_rows + 1) * sizeof(*rows->starts));
    for (uint32_t k = 0; k < picking->n_kept; k++)
        rows->starts[picking->rows[picking->kept[k]] + 1]++;
    for (uint32_t i = 0; i < n_rows; i++)
        rows->starts[i + 1] += rows->starts[i];
    return 0;
}

/* The stacks of the samples that are taken, with their numbers among these: sorted by stack, equal ones as they are. */
static int sort_by_stack(struct picking *picking, uint64_t **ret_pairs, struct error *err)
{
    struct arena *arena = picking->opening.arena;
    const struct rollup *sums = picking->opening.rows->sums;
    uint64_t *pairs = ARENA_ARRAY(arena, uint64_t, picking->n_kept, err);
    uint64_t *scratch = pairs ? ARENA_ARRAY(arena, uint64_t, picking->n_kept, err) : NULL;
    uint32_t *ranked, rank = 0;

    if (!scratch || part_find_ranks(sums, arena, &ranked, err) < 0)
        return -1;
    for (uint32_t k = 0; k < picking->n_kept; k++) {
        while (picking->rank_starts[rank + 1] <= picking->kept[k])
            rank++;
        pairs[k] = idsort_pair(sums->stacks[ranked[rank]], k);
    }
    idsort_pairs(pairs, scratch, picking->n_kept);
    *ret_pairs = pairs;
    return 0;
}

/* Deals the samples out to their rows by stack: so each row's stacks rise. */
static int place(struct picking *picking, struct error *err)
{
    struct part_rows *rows = picking->opening.rows;
    struct arena *arena = picking->opening.arena;
    uint32_t n_rows = rows->windows->n_rows;
    uint32_t *next = ARENA_ARRAY(arena, uint32_t, n_rows, err);
    uint64_t *pairs;

    picking->places = next ? ARENA_ARRAY(arena, uint32_t, picking->n_kept, err) : NULL;
    rows->stacks = picking->places ? ARENA_ARRAY(arena, uint32_t, picking->n_kept, err) : NULL;
    if (!rows->stacks || sort_by_stack(picking, &pairs, err) < 0)
        return -1;
    memcpy(next, rows->starts, n_rows * sizeof(*next));
    for (uint32_t i = 0; i < picking->n_kept; i++) {
        uint32_t k = idsort_from(pairs[i]), row = picking->rows[picking->kept[k]];

        rows->stacks[next[row]] = idsort_id(pairs[i]);
        picking->places[k] = next[row]++;
    }
    return 0;
}

/* --- the other columns --- */

static int gather_u32(struct picking *picking, const uint32_t *column, uint32_t **ret_column, struct error *err)
{
    uint32_t *picked = ARENA_ARRAY(picking->opening.arena, uint32_t, picking->n_kept, err);

    if (!picked)
        return -1;
    for (uint32_t k = 0; k < picking->n_kept; k++)
        picked[picking->places[k]] = column[picking->kept[k]];
    *ret_column = picked;
    return 0;
}

static int pick_label_sets(struct picking *picking, struct error *err)
{
    struct part_opening *opening = &picking->opening;
    uint32_t *column;

    if (part_next_u32(&opening->rest, "label sets", picking->n_samples, opening->arena, &column, err) < 0)
        return -1;
    return gather_u32(picking, column, &opening->rows->label_sets, err);
}

static int pick_links(struct picking *picking, struct error *err)
{
    struct part_opening *opening = &picking->opening;
    struct part_rows *rows = opening->rows;

    /* decode_links was here before. */
    opening->rest = slice_sub(opening->rest, opening->n_links * sizeof(*rows->link_table), SIZE_MAX);
    rows->link_ranges = ARENA_ARRAY(opening->arena, struct link_range, rows->windows->n_rows, err);
    if (!rows->link_ranges || part_skip_column(&opening->rest, "links", picking->n_samples, err) < 0 ||
        gather_u32(picking, picking->links, &rows->links, err) < 0)
        return -1;
    for (uint32_t i = 0; i < rows->windows->n_rows; i++)
        part_find_link_range(rows, i);
    return 0;
}

static int pick_counts(struct picking *picking, struct error *err)
{
    struct part_opening *opening = &picking->opening;
    uint64_t *column, *picked = ARENA_ARRAY(opening->arena, uint64_t, picking->n_kept, err);

    if (!picked || part_next_u64(&opening->rest, "counts", picking->n_samples, opening->arena, &column, err) < 0)
        return -1;
    for (uint32_t k = 0; k < picking->n_kept; k++)
        picked[picking->places[k]] = column[picking->kept[k]];
    opening->rows->counts = picked;
    return 0;
}

static int pick_columns(struct picking *picking, struct error *err)
{
    struct part_opening *opening = &picking->opening;
    struct part_rows *rows = opening->rows;

    if (valuecolumns_decode_some(&opening->rest, picking->kept, picking->places, picking->n_kept, picking->n_samples,
                                 rows->windows->n_types, opening->arena, &rows->values, err) < 0)
        return error_wrap(err, "values");
    if (((opening->flags & HEADROW_HAS_LABEL_SETS) && pick_label_sets(picking, err) < 0) ||
        ((opening->flags & HEADROW_HAS_LINKS) && pick_links(picking, err) < 0) ||
        ((opening->flags & HEADROW_HAS_COUNTS) && pick_counts(picking, err) < 0))
        return -1;
    if (opening->rest.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many behind their columns", opening->rest.len);
    return 0;
}

int part_rows_open_some(struct slice samples, const struct windows *windows, const struct rollup *sums,
                        const struct part_choice *choice, struct unpacker *unpacker, struct arena *arena,
                        struct part_rows **ret_rows, struct error *err)
{
    struct picking picking = {
        .opening = { .rows = ARENA_NEW(arena, struct part_rows, err), .arena = arena, .rest = samples },
        .choice = choice
    };
    struct part_opening *opening = &picking.opening;

    if (!opening->rows)
        return -1;
    opening->rows->windows = windows;
    opening->rows->sums = sums;
    if (part_decode_head(opening, err) < 0 || part_unpack(opening, unpacker, err) < 0 ||
        decode_rows(&picking, err) < 0 || decode_links(&picking, err) < 0 || choose(&picking, err) < 0 ||
        find_starts(&picking, err) < 0 || place(&picking, err) < 0 || pick_columns(&picking, err) < 0 ||
        part_check_order(opening->rows, err) < 0)
        return error_wrap(err, "samples of a part");
    *ret_rows = opening->rows;
    return 0;
}
