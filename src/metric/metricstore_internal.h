// SPDX-License-Identifier: Apache-2.0
/* What the files of the store of metrics share. */
#pragma once

#include "base/lock.h"
#include "hourly/hourly.h"
#include "metric/knownseries.h"
#include "metric/metricrow.h"
#include "metric/metricstore.h"

#include <stdatomic.h>

struct metricstore {
    struct hourly *hourly;
    struct metricstore_options options; /* without data_dir */
    struct lock_mutex lock;
    struct knownseries known;    /* guarded by lock */
    uint32_t known_generation;   /* of the days when it was known (hourly_generation); likewise */
    struct hourly_batch *batch;  /* guarded by lock; NULL until the first write */
    _Atomic uint64_t n_left_out; /* rows that could not be read when their hour was closed */
};

/* hourly_kind.close: makes chunks of the rows of a head. Those that cannot be read are left out, counted and logged. The context
 * is a struct metricstore. */
int metricclose_head(void *context, struct hourly_closing *closing, struct error *err);

/* A name that keys can hold. Errors: ERR_INVALID. */
MUST_CHECK int metricstore_check_tenant(struct slice tenant, struct error *err);
