// SPDX-License-Identifier: Apache-2.0
/* Sums of one query by stack, as a profile: with files and lines, mappings and addresses. Takes what store_sum gives; day by
 * day the stacks are named and joined by content. */
#pragma once

#include "profile/builder.h"
#include "store/store.h"
#include "tree/latenames.h"

struct profilesum;

struct profilesum_options {
    struct slice type;            /* full profile type */
    struct profile_limits limits; /* of the profile and of the sums of a day together */
    const struct latenames *late; /* NULL = none */
    /* As in treesum.h. */
    double (*weight)(void *context, const struct seriesinfo *series, int64_t start_ns);
    void *weight_context;
    struct patience patience;
};

/* Errors: ERR_MEMORY. Borrows the type. Thread: one at a time. */
MUST_CHECK int profilesum_new(const struct profilesum_options *options, struct profilesum **ret_sum, struct error *err);
void profilesum_free(struct profilesum *sum);
void profilesum_freep(struct profilesum **sum);

/* The two functions of struct store_sum_sink. */
int profilesum_names(void *context, struct names *names, struct error *err);
int profilesum_add(void *context, const struct store_sums *sums, struct error *err);

/* Adds to averages alone: so many times the values. For options with weights. */
MUST_CHECK int profilesum_correct(struct profilesum *sum, const struct store_sums *sums, double weight,
                                  struct error *err);

uint64_t profilesum_rows(const struct profilesum *sum);
int64_t profilesum_duration(const struct profilesum *sum);
/* Moves the profile into `batch`: the type asked for, then the one that counts raw samples where all series have it. The sum
 * can only be freed afterwards. */
MUST_CHECK int profilesum_finish(struct profilesum *sum, struct batch *batch, struct error *err);
