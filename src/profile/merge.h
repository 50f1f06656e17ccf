// SPDX-License-Identifier: Apache-2.0
/* Merging profiles: any number, one after another, into one whose memory is bounded.
 *
 * Equal rows (same stack, labels and link, by content) add up. Value types are united by name and unit: units of one
 * family (ns, ms; B, kB) are brought to the finer one first, exactly or saturating. Profiles of one batch that describe
 * the same window by different types (OTLP splits a pprof so) become columns of one.
 *
 * The header follows pprof: earliest start, durations added up, largest period, comments united, labels that all have.
 * Levels (memory in use) are added up like pprof does, or averaged over the profiles if asked. Times of single events
 * and profile ids of several profiles are not kept. */
#pragma once

#include "profile/builder.h"

struct merge;

struct merge_options {
    struct profile_limits limits; /* zeros = the defaults; over max_memory_bytes new stacks become [overflow] */
    bool drop_addresses;          /* frames that differ only in their address become one */
    bool drop_labels;             /* sample labels and links are ignored: one row per stack */
    bool average_levels;
};

/* A new merge. `options` may be NULL. Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int merge_new(const struct merge_options *options, struct merge **ret_merge, struct error *err);
void merge_free(struct merge *merge);
void merge_freep(struct merge **merge);

/* Adds all profiles of a batch, which is not kept. Errors: ERR_MEMORY, ERR_LIMIT; the merge is then unusable. */
MUST_CHECK int merge_add(struct merge *merge, const struct batch *batch, struct error *err);

/* Fills `batch` (initialised and empty) with the one merged profile; with none added, a profile without types or
 * samples. The merge can only be freed afterwards. */
MUST_CHECK int merge_finish(struct merge *merge, struct batch *batch, struct error *err);
