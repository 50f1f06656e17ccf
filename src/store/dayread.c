// SPDX-License-Identifier: Apache-2.0
#include "store/dayread.h"

static void begin_reading(struct day_context *context)
{
    uint64_t ticket;

    LOCK_SCOPE(&context->readers_lock);
    ticket = context->readers_came++;
    while (context->n_readers >= DAY_MAX_READERS || context->readers_went_in != ticket)
        lock_condition_wait(&context->readers_left, &context->readers_lock);
    context->readers_went_in++;
    context->n_readers++;
    lock_condition_wake_all(&context->readers_left);
}

static void end_reading(struct day_context *context)
{
    LOCK_SCOPE(&context->readers_lock);
    context->n_readers--;
    lock_condition_wake_all(&context->readers_left);
}

static bool has_waiting(struct day_context *context)
{
    LOCK_SCOPE(&context->readers_lock);
    return context->readers_came != context->readers_went_in;
}

void dayread_make_way(struct dayread *read)
{
    if (!has_waiting(read->context))
        return;
    end_reading(read->context);
    begin_reading(read->context);
}

int dayread_open(struct dayread *read, struct day *day, struct slice tenant, const struct store_query *query,
                 struct error *err)
{
    read->query = query;
    read->tenant = day_find_tenant(day, tenant);
    if (!read->tenant)
        return 0;
    read->context = day->context;
    begin_reading(read->context);
    if (day_view_open(day, read->tenant, &read->view, err) < 0)
        return -1;
    return rowfilter_new(&read->view, read->tenant, query, &read->filter, err);
}

int dayread_open_living(struct dayread *read, struct day *day, uint32_t tenant, int64_t from_ns, int64_t until_ns,
                        struct error *err)
{
    read->tenant = tenant;
    read->context = day->context;
    begin_reading(read->context);
    if (day_view_open(day, tenant, &read->view, err) < 0)
        return -1;
    return rowfilter_new_ranges(&read->view, tenant, NULL, 0, from_ns, until_ns, &read->filter, err);
}

int dayread_check(const struct dayread *read, struct error *err)
{
    const struct store_query *query = read->query;

    return query && query->check ? query->check(query->check_context, err) : 0;
}

static int give_rows(struct dayread *read, struct rowstream *stream,
                     int (*visit)(void *context, const struct seriesinfo *series, const struct headrow *row,
                                  struct error *err),
                     void *context, struct error *err)
{
    struct rowstream_item *item = rowstream_item(stream);
    const struct seriesinfo *series;
    bool has, keeps;

    for (;;) {
        if (rowstream_next(stream, &has, err) < 0)
            return -1;
        if (!has)
            return 0;
        if (rowfilter_apply(read->filter, item->series, &item->row, &keeps, err) < 0 ||
            (!keeps && dayread_check(read, err) < 0))
            return -1;
        if (keeps && (rowfilter_series(read->filter, item->series, &series, err) < 0 ||
                      (series && visit(context, series, &item->row, err) < 0)))
            return -1;
    }
}

int dayread_rows(struct dayread *read, struct rowstream *take_stream,
                 int (*visit)(void *context, const struct seriesinfo *series, const struct headrow *row,
                              struct error *err),
                 void *context, struct error *err)
{
    AUTO(rowstream_freep) struct rowstream *stream = take_stream;
    int result = give_rows(read, stream, visit, context, err);

    read->n_bytes += rowstream_n_bytes(stream);
    return result;
}

bool dayread_wants(void *context, uint32_t tenant, uint32_t series)
{
    const struct dayread *read = context;

    return rowfilter_wants(read->filter, series);
}

void dayread_count(const struct dayread *read, struct store_reads *reads)
{
    const struct idfilter *ids = read->filter ? rowfilter_ids(read->filter) : NULL;

    reads->n_spans += ids ? idfilter_n_spans_read(ids) : 0;
    reads->n_bytes += read->n_bytes;
}

void dayread_close(struct dayread *read)
{
    rowfilter_free(read->filter);
    day_view_close(&read->view);
    if (read->context)
        end_reading(read->context);
}
