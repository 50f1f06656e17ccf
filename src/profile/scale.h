// SPDX-License-Identifier: Apache-2.0
/* Giving values another unit. */
#pragma once

#include "profile/profile.h"

/* Fills `out`, initialised and empty, with the profiles of `in` in which the values of the type called `type` (as
 * profile_find_type understands it; "" = every type that can be converted) are in `unit`, which is also how the unit is
 * spelled then. Going to a finer unit is exact; where a value does not divide evenly it is rounded, halves away from
 * zero, and where it does not fit it stays at the edge; both are counted in out->report.
 * Errors: ERR_NOT_FOUND if no profile has such a type, ERR_INVALID if a type that was named cannot be converted,
 * ERR_MEMORY, ERR_LIMIT. Thread: any. */
MUST_CHECK int scale_unit(const struct batch *in, struct slice type, struct slice unit, struct batch *out,
                          struct error *err);
