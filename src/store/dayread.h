// SPDX-License-Identifier: Apache-2.0
/* One reader of one day: a view of it, and which of its rows the query takes. Few read at a time, since each may take
 * its share of memory; others wait here. */
#pragma once

#include "store/rowfilter.h"

struct dayread {
    struct day_context *context; /* NULL: not reading */
    struct day_view view;
    struct rowfilter *filter; /* NULL: the day does not have the tenant */
    uint32_t tenant;
};

/* Begins. `*read` is zeros; dayread_close ends it also after a failure. Errors: ERR_MEMORY, ERR_LIMIT, those of kv.h. */
MUST_CHECK int dayread_open(struct dayread *read, struct day *day, struct slice tenant, const struct store_query *query,
                            struct error *err);
/* The same for all rows of a tenant that were not deleted; what rowfilter_new_ranges says holds. */
MUST_CHECK int dayread_open_living(struct dayread *read, struct day *day, uint32_t tenant, int64_t from_ns,
                                   int64_t until_ns, struct error *err);
/* Lets others read first if some wait: for long readers, now and then, when they hold little memory. */
void dayread_make_way(struct dayread *read);
void dayread_close(struct dayread *read);
