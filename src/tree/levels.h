// SPDX-License-Identifier: Apache-2.0
/* Weights that turn sums of levels into averages (engine.h, E2).
 *
 * Of five minutes in which a series has n rows, each of its values counts 1 / n; and each of the five minutes counts one part
 * of all in which there are rows. Roll-ups hold the sums of all series of a group, so values are first weighed by the number
 * of rows that most rows of the group agree with. Where all series of a group have as many rows in the five minutes, that is
 * all. Of the others, the odd ones, the rows are read besides, and corrected by the difference of both weights. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/store.h"

#define LEVELS_SLOT_NS   ((int64_t)300 * 1000000000)
#define LEVELS_DAY_SLOTS 288u

/* How many rows a series, or most series of a group, have in the slots of a day. */
struct levels_day {
    int64_t day;
    uint32_t group;   /* of a series: place of its group's day */
    uint32_t *n_rows; /* [LEVELS_DAY_SLOTS] */
};

struct levels {
    struct slice type;
    size_t max_bytes;
    struct arena arena;
    struct hash_set series_seen, groups_seen; /* with the day */
    VEC(struct levels_day) series, groups;
    VEC(int64_t) odd_hours; /* in order */
    struct map days;        /* day -> place in `used` */
    VEC(uint8_t *) used;    /* [LEVELS_DAY_SLOTS] whether there are rows */
    uint64_t n_slots;       /* that have rows */
};

/* Borrows the type. What it holds takes `max_bytes` at most. */
void levels_init(struct levels *levels, struct slice type, size_t max_bytes);
void levels_done(struct levels *levels);
/* The function of struct store_window_sink. Errors: ERR_MEMORY, ERR_LIMIT. */
int levels_add(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err);
/* All windows were added: from now on there are weights. Errors: ERR_MEMORY. */
MUST_CHECK int levels_settle(struct levels *levels, struct error *err);

/* The weight of rows of the group of a series that start then; 0 where none do. The function of treesum_options. */
double levels_weight(void *context, const struct seriesinfo *series, int64_t start_ns);
/* The hours in which there are odd series, rising, as when they begin; and whether a series is one of them there. */
const int64_t *levels_odd_hours(const struct levels *levels, size_t *ret_n);
bool levels_is_odd(const struct levels *levels, const struct seriesinfo *series, int64_t begin_ns);
/* What is missing to the weight of a row of the series that starts then: 0 where it is not odd. */
double levels_correction(const struct levels *levels, const struct seriesinfo *series, int64_t start_ns);

/* Averages become whole numbers one after the other: each is what the sum up to it has more than the sum before it, both
 * rounded. So none is off by one or more, neither is what any of them that follow each other come to, and small ones are not
 * lost: four averages of 0.5 are 2. */
struct levels_rounding {
    double exact;
    int64_t rounded;
};
int64_t levels_round(struct levels_rounding *sums, double average);
