// SPDX-License-Identifier: Apache-2.0
/* A crowd beside the storm: many tenants, or many series with large labels. It presses on the memory of the store and is
 * in nobody's ledger: every write must be taken and every read answered, and `verify` looks at what is left of it. */
#pragma once

#include "store/store.h"

struct storm_crowd {
    uint64_t tenants; /* 0 = no crowd */
    uint64_t series;  /* of each tenant */
    uint64_t label_bytes;
};

/* Writes profile `number`: each tenant in turn, of each its series in turn. Errors: those of the store. */
MUST_CHECK int storm_crowd_write(struct store *store, const struct storm_crowd *crowd, uint64_t number,
                                 struct error *err);
/* Reads everything of the tenant of profile `number`. Errors: those of the store; ERR_CORRUPT when there are more series
 * than can be. */
MUST_CHECK int storm_crowd_read(struct store *store, const struct storm_crowd *crowd, uint64_t number,
                                struct error *err);
