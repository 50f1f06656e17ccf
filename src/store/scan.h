// SPDX-License-Identifier: Apache-2.0
/* Reading a day: the rows that match, hour by hour, from blocks and heads. */
#pragma once

#include "block/idrecord.h"
#include "store/day.h"

/* Gives the day's rows of the query to `sink`. Errors: those of the sink, ERR_MEMORY, ERR_LIMIT, ERR_IO. */
MUST_CHECK int scan_day(struct day *day, struct slice tenant, const struct store_query *query,
                        const struct store_sink *sink, struct error *err);
/* The series of the day that may match. */
MUST_CHECK int scan_series(struct day *day, struct slice tenant, const struct store_query *query,
                           int (*visit)(void *context, const struct seriesinfo *series, struct error *err),
                           void *context, struct error *err);
/* The labels of rows and samples of the day: of all of them, or of those that match where there is a selector or rows were
 * deleted. */
MUST_CHECK int scan_labels(struct day *day, struct slice tenant, const struct store_query *query,
                           int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                           void *context, struct error *err);
/* Whether any row of the profile that `record` tells of is left. Errors: ERR_MEMORY, ERR_LIMIT, ERR_IO. */
MUST_CHECK int scan_finds_profile(struct day *day, uint32_t tenant, const struct idrecord *record, bool *ret_finds,
                                  struct error *err);
