// SPDX-License-Identifier: Apache-2.0
/* Forgetting: whole days, by age and by bytes, for all and for single tenants; kept ranges stay.
 *
 * A day past its time that holds kept ranges is reduced to them instead of being dropped, once for each change of the
 * list of kept ranges. */
#pragma once

#include "store/dayset.h"
#include "store/keeps.h"

struct retention {
    int64_t max_age_ns;
    uint64_t max_bytes; /* of all days, write-ahead logs left out */
    const struct store_tenant_limits *tenants;
    uint32_t n_tenants;
    const struct keeps *keeps;
};

/* Does what is due at `now_ns`. Goes on after a failure and returns the first. `*ret_n_dropped` counts days dropped or
 * reduced. Thread: one at a time. */
MUST_CHECK int retention_apply(struct dayset *days, const struct retention *retention, int64_t now_ns,
                               uint32_t *ret_n_dropped, struct error *err);

/* Bytes of all files below `path`; what vanishes meanwhile counts nothing. */
uint64_t retention_disk_bytes(const char *path);
