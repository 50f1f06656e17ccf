// SPDX-License-Identifier: Apache-2.0
/* Reading the dictionary of one tenant of one day: ids back to strings, frames, stacks and labels.
 *
 * Nothing is loaded that nobody asked for. Ids asked for in rising order cost one walk over the chunks. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/patience.h"
#include "kv/kv.h"
#include "profile/tables.h"

struct names;

/* Borrows `kv` and `snapshot` (may be NULL), which must outlive it. Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int names_new(struct kv *kv, const struct kv_snapshot *snapshot, uint32_t tenant, struct names **ret_names,
                         struct error *err);
void names_free(struct names *names);
void names_freep(struct names **names);

/* From now on names_load asks this now and then, and ends with its error; NULL = nobody. Borrowed. */
void names_set_patience(struct names *names, const struct patience *patience);

/* Which dictionary it is: ids of the same identity mean the same, for as long as anybody remembers them. */
uint64_t names_identity(const struct names *names);

/* Tables that hold the `n_stacks` stacks (ids rising, none 0) and `n_label_sets` label sets (likewise), and what they
 * need: stack i is at i + 1, label set i at i + 1. All from `arena`, strings copied. Entries that are missing or
 * damaged are replaced by one frame named "[missing]" (or no labels) and counted in `*ret_n_missing`.
 * Errors: those of kv.h except damage, ERR_LIMIT (arena), ERR_MEMORY. */
MUST_CHECK int names_load(struct names *names, const uint32_t *stacks, uint32_t n_stacks, const uint32_t *label_sets,
                          uint32_t n_label_sets, struct arena *arena, struct tables *ret_tables,
                          uint32_t *ret_n_missing, struct error *err);

/* The content hashes of stacks (ids rising, none 0), for joining days and generations. Missing ones are zero.
 * Errors: as names_load. */
MUST_CHECK int names_stack_hashes(struct names *names, const uint32_t *stacks, uint32_t n, struct hash128 *ret_hashes,
                                  uint32_t *ret_n_missing, struct error *err);

/* The value of a label as selectors see it: numbers are decimal text, doubles as by "%.15g", booleans true and false. Text
 * of the tables, or in `space`. */
struct names_space {
    char text[32];
};
struct slice names_value_text(const struct tables *tables, const struct label *label, struct names_space *space);

/* Calls `visit` for every label (name, value as text) of every label set there is, in no particular order; the same one
 * may come several times. Values are those of names_value_text. Errors: as names_load, and those of `visit`. */
MUST_CHECK int names_each_label(struct names *names,
                                int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                                void *context, struct error *err);
