// SPDX-License-Identifier: Apache-2.0
/* What writing (part.c) and reading (part_rows.c) a part have in common. */
#pragma once

#include "block/part.h"

#define PART_VERSION 1

/* The places of the stacks in the sums by rank: hot stacks first, as part.h says. They come from `arena`.
 * Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int part_find_ranks(const struct rollup *sums, struct arena *arena, uint32_t **ret_places,
                               struct error *err);
