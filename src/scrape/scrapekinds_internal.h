// SPDX-License-Identifier: Apache-2.0
/* The kinds of profiles of a job: those known, as `profiling_config` changes them, and those it adds. */
#pragma once

#include "scrape/scrapeconfig.h"

/* Reads `profiling_config`; NULL or nothing = the defaults. The array is in `arena`, its texts there or in `node`. Errors:
 * ERR_INVALID with the place, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int scrapekinds_read(const struct configtree *node, int64_t interval_ns, struct arena *arena,
                                const struct scrapeconfig_kind **ret_kinds, size_t *ret_n, struct error *err);
