// SPDX-License-Identifier: Apache-2.0
/* Whether what is kept of metrics is sound, value by value: for `hearth verify`. */
#pragma once

#include "hourly/hourly.h"

/* Reads all of a value: for struct hourly_kind. Errors: ERR_CORRUPT, ERR_MEMORY. */
MUST_CHECK int metriccheck(void *context, enum hourly_part part, struct slice key, struct slice value,
                           struct error *err);
