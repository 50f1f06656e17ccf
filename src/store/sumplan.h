// SPDX-License-Identifier: Apache-2.0
/* Tells what sumscan.h and windowscan.h would read of a day: by which series match, which hours are closed or open, for which
 * groups there are roll-ups, and what the rules of sumscan.h make of that. Keys are looked at, and no value of a profile. */
#pragma once

#include "store/day.h"

/* store_plan of one day; `visit` is not called if the day does not have the tenant. Errors: those of `visit`, ERR_MEMORY,
 * ERR_LIMIT, those of kv.h. */
MUST_CHECK int sumplan_day(struct day *day, const struct store_query *query, const struct store_plan_options *options,
                           int (*visit)(void *context, const struct store_plan *plan, struct error *err), void *context,
                           struct error *err);
