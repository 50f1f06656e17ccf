// SPDX-License-Identifier: Apache-2.0
/* Reading windows of a day: when there were rows, how long they lasted and what they come to. Windows are read alone
 * where the selector takes a series whole and deletions are applied; else rows, of which what matches is added up. */
#pragma once

#include "store/day.h"

/* store_windows of one day. Errors: those of the sink, ERR_MEMORY, ERR_LIMIT, ERR_IO. */
MUST_CHECK int windowscan_day(struct day *day, const struct store_query *query, const struct store_window_sink *sink,
                              struct store_reads *reads, struct error *err);
