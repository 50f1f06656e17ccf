// SPDX-License-Identifier: Apache-2.0
/* Changing the stacks of profiles: other names, fewer frames, another order. Samples whose stacks become equal add up;
 * sums over a profile never change.
 *
 * Each fills `out`, initialised and empty, from `in`. Errors: ERR_LIMIT (a pattern takes too many steps, `out` is
 * full), ERR_MEMORY; what the model cannot carry over is told in out->report. Thread: any. */
#pragma once

#include "profile/pattern.h"
#include "profile/profile.h"

/* Replaces what matches in the names of functions; groups as in pattern_replace. A function whose name would become
 * empty keeps it. A system name that equals the name is renamed with it; another one stays, since debug information is
 * found by it. Also ERR_INVALID for a bad replacement. */
MUST_CHECK int transform_rename(const struct batch *in, const struct pattern *pattern, struct slice replacement,
                                struct batch *out, struct error *err);

/* Takes matching functions out of the stacks: by the name of the function, its file, or the file of the mapping, as
 * filter's hide. A sample of which no frame is left stays, without frames. */
MUST_CHECK int transform_drop(const struct batch *in, const struct pattern *pattern, struct batch *out,
                              struct error *err);

/* Turns stacks upside down: the leaf becomes the root. Inlined functions are turned with them. */
MUST_CHECK int transform_invert(const struct batch *in, struct batch *out, struct error *err);

/* Makes one of a function that calls itself directly: of several in a row the one nearest the root stays. Functions are
 * told apart by name; of those without names a frame equals only itself. */
MUST_CHECK int transform_collapse_recursion(const struct batch *in, struct batch *out, struct error *err);

/* Keeps of each stack the `n` frames nearest the leaf. With `merges_leaves` the line of the leaf itself does not tell it
 * apart: whatever a function did counts for its calls. That is what a compiler wants to know, which chooses calls to
 * inline. */
MUST_CHECK int transform_keep_leaves(const struct batch *in, uint32_t n, bool merges_leaves, struct batch *out,
                                     struct error *err);
