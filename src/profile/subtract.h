// SPDX-License-Identifier: Apache-2.0
/* What happened between two profiles of one process that count from its start (Go's allocs, block and mutex).
 *
 * Per stack, labels and link, matched by content:
 *   cumulative flows   newer - older, and are then a delta over the window between the two
 *   levels             the newer value, for it is the state now
 *   other flows        the newer value, for it is a delta already
 *
 * A counter that fell, or is gone, means that the process started anew in between: then everything in the newer profile
 * happened since, and it is the delta as it is. So a delta is never negative. Rows in which nothing is left are gone.
 */
#pragma once

#include "profile/profile.h"

/* Fills `out`, initialised and empty, with one profile. Its window begins where the older one ends, if both are known.
 * A restart is told in out->report. Errors: ERR_INVALID if a cumulative type of the newer profile is not in the older
 * one, ERR_MEMORY, ERR_LIMIT. Thread: any. */
MUST_CHECK int subtract_profiles(const struct profile *older, const struct profile *newer, struct batch *out,
                                 struct error *err);
