// SPDX-License-Identifier: Apache-2.0
/* What a day holds, counted: for `hearth stats`. */
#pragma once

#include "store/day.h"

/* Adds what the day holds to `stats`: bytes and numbers of values by kind, bytes of files, rows and samples, and its
 * most expensive series (by bytes of their parts and rows) to the list of those, which is kept in order. A series is
 * known by its labels over all days, with the tenant in front if it is not the default one. Bytes by kind are those of
 * keys and values, before RocksDB compresses them. Reads all of the day; memory stays within day_context.read_bytes: a
 * day with more series than fit forgets cheap ones while counting. Not filled in: n_days, n_open_days, n_quarantined,
 * disk_bytes. `services` gets what the services cost; NULL = nobody asks. Errors: ERR_MEMORY, ERR_IO; damage is counted in n_damaged. Thread: any. */
MUST_CHECK int daystats_add(struct day *day, struct servicecosts *services, struct store_stats *stats,
                            struct error *err);
