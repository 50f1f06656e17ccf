// SPDX-License-Identifier: Apache-2.0
/* Adds up the rows of hours that go on, for slotcache.h: each row is read once when its minute is over, and once more for
 * every time that late rows made somebody drop what it was added to.
 *
 * A pass reads a head in the order of its keys, group by group, and of each series only the minutes that are missing.
 * Memory stays within day_context.close_bytes: what needs more together is built one after the other, and a span whose
 * sums need more alone is left out, for good. */
#pragma once

#include "store/day.h"

/* Brings the open hours of a day up to `now_ns`, if a minute is over since the last time; hours that ended by `due_ns` are
 * about to be closed and left alone. Damage makes it leave a head alone: its rows answer as far as they can be read.
 * Errors: ERR_CLOSED (the store is stopping, or the day must be opened again), ERR_MEMORY, those of kv.h. Thread: one at a
 * time for all days; takes day->work. */
MUST_CHECK int slotfill_day(struct day *day, int64_t now_ns, int64_t due_ns, struct error *err);
