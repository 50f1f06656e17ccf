// SPDX-License-Identifier: Apache-2.0
/* What a profile says of itself to leave out: pprof's drop_frames and keep_frames.
 *
 * Both are regular expressions over whole names of functions, without a leading dot and without the list of arguments.
 * A function that matches drop_frames and not keep_frames is dropped, with all it called. Stacks are searched from the
 * root, and what matches before the first function that does not is left alone, so that no stack becomes empty. */
#pragma once

#include "profile/profile.h"

/* Whether any profile asks for it. */
bool prune_is_needed(const struct batch *batch);

/* Fills `out`, initialised and empty, with the profiles of `in` after pruning; those that do not ask for it are copied.
 * A pattern that cannot be read is told in out->report and that profile left as it is, as pprof does.
 * Errors: ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int prune_apply(const struct batch *in, struct batch *out, struct error *err);

/* The name of a function as the patterns see it: "std::sort" of "std::sort(int*, int*)". */
struct slice prune_simple_name(struct slice name);
