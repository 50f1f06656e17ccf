// SPDX-License-Identifier: Apache-2.0
/* Making one batch from another: the common part of everything that filters or transforms profiles.
 *
 * Such an operation makes edited copies of the tables (shorter lines, other names, other stacks; ids keep their
 * meaning) and decides which samples stay. The builder then interns what is left, and samples that became equal add up.
 */
#pragma once

#include "profile/builder.h"

struct rewrite {
    const struct batch *in;
    struct builder *builder;
    struct arena arena; /* for edited tables and notes */
};

/* Begins a rewriting of `in` under the limits of `out`. Errors: ERR_MEMORY. */
MUST_CHECK int rewrite_init(struct rewrite *rewrite, const struct batch *in, const struct batch *out,
                            struct error *err);
/* Fills `out`, which is empty, and carries the report of the input over. */
MUST_CHECK int rewrite_finish(struct rewrite *rewrite, struct batch *out, struct error *err);
/* Takes a zeroed one, too. */
void rewrite_done(struct rewrite *rewrite);

/* --- edited tables: each starts as a plain copy of the struct, and gets arrays of its own where it is changed --- */

/* Gives `tables` its own frames, each with lines of its own, so that lines can be changed or taken away in place. */
MUST_CHECK int rewrite_own_frames(struct tables *tables, struct arena *arena, struct error *err);

/* Gives `tables` its own stacks and lets `edit` change each in place: it may replace, reorder or take away frames and
 * returns how many are left. The empty stack is not shown. */
typedef uint32_t rewrite_edit_stack(void *context, uint32_t stack, uint32_t *frames, uint32_t depth);
MUST_CHECK int rewrite_own_stacks(struct tables *tables, struct arena *arena, rewrite_edit_stack *edit, void *context,
                                  struct error *err);

/* --- samples --- */

/* Says which samples stay; ids are those of the input. */
typedef int rewrite_choose(void *context, const struct profile *profile, uint32_t sample, bool *ret_stays,
                           struct error *err);

/* Copies profiles [first, first + n), whose ids are looked up in `tables`, an edited copy of their own. `choose` may be
 * NULL: all samples stay. Errors: those of `choose`. */
MUST_CHECK int rewrite_range(struct rewrite *rewrite, const struct tables *tables, uint32_t first, uint32_t n,
                             rewrite_choose *choose, void *context, struct error *err);
/* The same for all profiles of the batch. */
MUST_CHECK int rewrite_all(struct rewrite *rewrite, const struct tables *tables, rewrite_choose *choose, void *context,
                           struct error *err);
/* Copies the samples only: behind a header that the caller imported and changed. `convert` may be NULL; else it changes
 * the values of a sample in place. */
typedef void rewrite_convert(void *context, int64_t *values);
void rewrite_samples(struct rewrite *rewrite, struct builder_import *import, const struct profile *profile,
                     rewrite_convert *convert, void *context);
