// SPDX-License-Identifier: Apache-2.0
/* Reading sums by stack of a day, from the smallest values that hold them: roll-ups of groups, sums of series, rows.
 *
 * Hour by hour, closing by closing, group by group:
 *
 *     the hour lies in the range, and the selector takes all series of the group    the roll-up of the hour
 *     part of the hour does                                                         roll-ups of five minutes, and rows at the edges
 *     the selector takes some series of the group                                   whole hours: their sums; else rows
 *     labels of rows or samples decide, or deletions are not applied yet            rows
 *
 * Of an hour that is open the head has rows alone. Where a roll-up of the hour or of five minutes would answer if it were
 * closed, those in memory do (slotcache.h), as far as they go; only the rows behind them are read, mostly by the list of
 * recent ones (recents.h).
 *
 * In closed hours a group of few rows has no roll-ups of five minutes, one with a single series none of the hour (closing.c): its rows, or
 * the sums of that series, are as quick to read. So do they answer where a roll-up is damaged. */
#pragma once

#include "store/day.h"

/* store_sum of one day. Errors: those of the sink, ERR_MEMORY, ERR_LIMIT, ERR_IO. */
MUST_CHECK int sumscan_day(struct day *day, const struct store_query *query, int64_t step_ns,
                           const struct store_sum_sink *sink, struct store_reads *reads, struct error *err);
