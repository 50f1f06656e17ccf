// SPDX-License-Identifier: Apache-2.0
/* Sums of one query by stack of call trees: takes what store_sum gives, group by group. treeorder.h makes answers of it. */
#pragma once

#include "flame/flame.h"
#include "store/store.h"
#include "tree/treecache.h"

struct treesum;

struct treesum_options {
    struct treecache *cache;
    struct slice tenant; /* as the store knows it */
    struct slice type;   /* full profile type */
    /* Of sums, and of what the cache grows by; 0 = no limit. Beyond it: ERR_LIMIT naming `limit_bytes`. */
    size_t max_bytes;
    size_t limit_bytes; /* of the query, of which this is one thread's share */
    /* Levels are averaged by weights that depend on the group and time of rows (levels.h); NULL = values are added up. */
    double (*weight)(void *context, const struct seriesinfo *series, int64_t start_ns);
    void *weight_context;
    struct patience patience; /* asked while names are read, which may take long */
};

/* Errors: ERR_MEMORY. Borrows the options' texts. Thread: one at a time. */
MUST_CHECK int treesum_new(const struct treesum_options *options, struct treesum **ret_sum, struct error *err);
void treesum_free(struct treesum *sum);
void treesum_freep(struct treesum **sum);

/* The two functions of struct store_sum_sink. */
int treesum_names(void *context, struct names *names, struct error *err);
int treesum_add(void *context, const struct store_sums *sums, struct error *err);

/* Adds to averages alone: so many times the values. For options with weights; after treesum_names like the others. */
MUST_CHECK int treesum_correct(struct treesum *sum, const struct store_sums *sums, double weight, struct error *err);

/* Adds another one, of the same cache and type, to this: for sums that were made side by side. */
MUST_CHECK int treesum_join(struct treesum *sum, const struct treesum *other, struct error *err);

/* What was added. */
struct treesum_facts {
    uint64_t n_rows;
    int64_t duration_ns;
    bool has_counts; /* raw samples are known throughout */
};
struct treesum_facts treesum_facts(const struct treesum *sum);
/* The memory that counts against max_bytes. */
size_t treesum_bytes(const struct treesum *sum);
