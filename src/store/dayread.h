// SPDX-License-Identifier: Apache-2.0
/* One reader of one day: a view of it, and which of its rows the query takes. Few read at a time, since each may take
 * its share of memory; others wait here. */
#pragma once

#include "store/rowfilter.h"
#include "store/rowstream.h"

struct dayread {
    struct day_context *context; /* NULL: not reading */
    struct day_view view;
    const struct store_query *query; /* NULL: no check is asked for */
    struct rowfilter *filter;        /* NULL: the day does not have the tenant */
    uint32_t tenant;
    uint64_t n_bytes; /* of single rows read so far, as they are kept */
};

/* Begins. `*read` is zeros; dayread_close ends it also after a failure. Errors: ERR_MEMORY, ERR_LIMIT, those of kv.h. */
MUST_CHECK int dayread_open(struct dayread *read, struct day *day, struct slice tenant, const struct store_query *query,
                            struct error *err);
/* The same for all rows of a tenant that were not deleted; what rowfilter_new_ranges says holds. */
MUST_CHECK int dayread_open_living(struct dayread *read, struct day *day, uint32_t tenant, int64_t from_ns,
                                   int64_t until_ns, struct error *err);
/* Lets others read first if some wait: for long readers, now and then, when they hold little memory. */
void dayread_make_way(struct dayread *read);
/* Whether the answer is still wanted: the query's check, for those who work long without calling a sink. Errors: its. */
MUST_CHECK int dayread_check(const struct dayread *read, struct error *err);
/* Calls `visit` for the rows of a stream that the query takes, cut to the samples that match, with the series they are of; rows
 * of a series that cannot be read are left out. Errors: those of the stream and of `visit`, ERR_MEMORY. */
MUST_CHECK int dayread_rows(struct dayread *read, struct rowstream *take_stream,
                            int (*visit)(void *context, const struct seriesinfo *series, const struct headrow *row,
                                         struct error *err),
                            void *context, struct error *err);
/* Whether rows of the series may be taken: the `wants` of a rowstream_filter whose context is a dayread. */
bool dayread_wants(void *context, uint32_t tenant, uint32_t series);
/* Adds what it read of span indexes and single rows; after a failure to open it, too. Rows themselves are counted by who
 * takes them. */
void dayread_count(const struct dayread *read, struct store_reads *reads);
void dayread_close(struct dayread *read);
