// SPDX-License-Identifier: Apache-2.0
/* Which values of a series an answer takes: the one asked for, and the one that says how many raw samples are behind it. */
#pragma once

#include "block/seriesinfo.h"

#define QUERYCOLUMNS_NONE SERIES_NO_TYPE

struct querycolumns {
    uint32_t value; /* QUERYCOLUMNS_NONE: the series does not have the type */
    uint32_t count; /* likewise: raw samples are not known */
    double divisor; /* raw samples = count / divisor */
};

/* Errors: ERR_MEMORY. */
MUST_CHECK int querycolumns_find(const struct seriesinfo *series, struct slice type, struct querycolumns *ret_columns,
                                 struct error *err);
