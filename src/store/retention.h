// SPDX-License-Identifier: Apache-2.0
/* Forgetting: whole days, by age and by bytes, for all and for single tenants; kept ranges stay.
 *
 * A day past its time that holds kept ranges is reduced to them instead of being dropped, once for each change of the
 * list of kept ranges.
 *
 * What a day holds of each tenant with limits is measured once, and again only after the day was opened for writing: days
 * that stay as they are need not be opened. */
#pragma once

#include "store/dayset.h"
#include "store/keeps.h"

struct retention {
    int64_t max_age_ns;
    uint64_t max_bytes;     /* of all days and of what was set aside, write-ahead logs left out; 0 = no limit */
    uint64_t missing_bytes; /* the oldest days go until so many are free */
    const struct store_tenant_limits *tenants;
    uint32_t n_tenants;
    const struct keeps *keeps;
};

/* What is known of days from one time to the next. */
struct retention_memory {
    VEC(struct retention_day) days;
};
void retention_memory_done(struct retention_memory *memory);

/* Does what is due at `now_ns`. Goes on after a failure and returns the first. `*ret_n_dropped` counts days dropped or
 * reduced. `memory` is zero at first; it belongs to these days and tenants. Thread: one at a time. */
MUST_CHECK int retention_apply(struct dayset *days, const struct retention *retention, struct retention_memory *memory,
                               int64_t now_ns, uint32_t *ret_n_dropped, struct error *err);

/* Bytes of all files below `path`; what vanishes meanwhile counts nothing. */
uint64_t retention_disk_bytes(const char *path);
