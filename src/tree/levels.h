// SPDX-License-Identifier: Apache-2.0
/* Weights that turn sums of levels into averages (engine.h, E2). Of five minutes in which s series had n rows, a value counts
 * s / n times; and each of the five minutes counts one part of all in which there are rows. */
#pragma once

#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/store.h"

#define LEVELS_SLOT_NS ((int64_t)300 * 1000000000)

struct levels_slot {
    uint64_t n_rows;
    uint64_t n_series;
};

struct levels {
    struct slice type;
    struct map places;    /* slot -> place in slots */
    struct hash_set seen; /* series in slots */
    VEC(struct levels_slot) slots;
};

/* Borrows the type. */
void levels_init(struct levels *levels, struct slice type);
void levels_done(struct levels *levels);
/* The function of struct store_window_sink. Errors: ERR_MEMORY, ERR_LIMIT. */
int levels_add(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err);
/* The weight of rows that start then; 0 where none do. The function of treesum_options. */
double levels_weight(void *context, int64_t start_ns);

/* Averages become whole numbers one after the other: each is what the sum up to it has more than the sum before it, both
 * rounded. So none is off by one or more, neither is what any of them that follow each other come to, and small ones are not
 * lost: four averages of 0.5 are 2. */
struct levels_rounding {
    double exact;
    int64_t rounded;
};
int64_t levels_round(struct levels_rounding *sums, double average);
