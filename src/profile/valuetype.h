// SPDX-License-Identifier: Apache-2.0
/* What is known of the value types that profilers write: whether they are flows or levels, and whether they count from
 * the start of the process. */
#pragma once

#include "profile/profile.h"
#include "profile/unit.h"

/* Says what a type is, from its name and unit alone. Dashes and underscores are equal in names, and so are letters of
 * either case. Types we do not know are flows of unknown temporality; levels have none, so theirs is unknown too.
 *
 * Go's alloc_objects, alloc_space, contentions and delay (spelled exactly so) are cumulative here, which holds for
 * profiles that cover no window; see value_type_describe_all. Thread: any. */
void value_type_describe(struct slice type, struct slice unit, enum value_nature *ret_nature,
                         enum value_temporality *ret_temporality);

/* Fills nature and temporality of the types of one profile, whose strings are in `tables`. With a duration, whatever
 * would be cumulative is the delta over that window. For formats that do not say it themselves. */
void value_type_describe_all(struct value_type *types, uint32_t n, const struct tables *tables, int64_t duration_ns);
