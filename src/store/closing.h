// SPDX-License-Identifier: Apache-2.0
/* One closing of an hour: rows go in, in the order of their keys, blocks and roll-ups come out and are published at once. What is
 * closed, and when, is hour.c's business. */
#pragma once

#include "block/part.h"
#include "block/spanindex.h"
#include "store/hour.h"
#include "store/outset.h"
#include "store/pace.h"
#include "store/rowfilter.h"
#include "store/rowstream.h"

struct closing {
    struct day *day;
    uint8_t hour;
    uint32_t number;
    struct marker marker;
    struct outset outset;
    struct packer *packer;
    struct part_builder *part;
    struct buffer windows, sums, samples;
    struct arena arena; /* of finishing one roll-up */

    uint32_t tenant, group, series; /* of the rows that come now; 0 = none yet */
    uint64_t n_read;                /* rows that came, with those that were left out */
    uint32_t part_number;
    uint32_t n_group_series;
    uint64_t n_group_rows;
    struct rollup_builder slots[DAY_SLOTS];
    uint32_t
        slot_piece; /* the piece of the five-minute roll-ups that comes next: it leads in their keys, which must rise */
    bool has_slots; /* some were written already */
    struct rollup_builder whole;
    uint32_t whole_pieces;

    struct tally tally; /* bytes: where the tenant began */
    VEC(struct spanindex_entry) spans;
    uint32_t span_part;
    struct rowfilter *filter; /* of the tenant; NULL = nothing to leave out */
    uint32_t asked_tenant;    /* of which `is_filtered` is known */
    bool is_filtered;
    const struct hour_range *ranges; /* of a reduction, else NULL */
    size_t n_ranges;
    struct rowfilter_range *tenant_ranges; /* those of the tenant, for its filter */
    struct pace pace;
};

/* A closing of an hour of the day, which is borrowed. closing_done accepts one whose init failed. Errors: ERR_MEMORY. */
MUST_CHECK int closing_init(struct closing *closing, struct day *day, uint8_t hour, struct error *err);
void closing_done(struct closing *closing);
/* Takes the next free number, and notes which deletions of the view are applied. */
void closing_number(struct closing *closing, const struct day_view *view);
/* Takes all rows, less what was deleted or is in none of the ranges. Errors: ERR_CLOSED (the store is stopping), ERR_CORRUPT,
 * ERR_LIMIT, those of kv.h. */
MUST_CHECK int closing_add_rows(struct closing *closing, const struct day_view *view, struct rowmerge *rows,
                                struct error *err);
/* Takes blocks and marker into the database and makes them count; the head at `head_place` (UINT32_MAX = none) is covered by
 * them. When it is not certain whether they are there, the day is stopped. */
MUST_CHECK int closing_publish(struct closing *closing, uint32_t head_place, struct error *err);
