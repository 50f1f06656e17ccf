// SPDX-License-Identifier: Apache-2.0
/* Operations: from headers where a block lies in the range and nothing is asked that they do not know, else from spans. */
#include "trace/operationtable.h"
#include "trace/tracepick.h"
#include "trace/traceread.h"
#include "trace/tracestore.h"
#include "trace/tracestore_internal.h"

struct summing {
    struct traceread read;
    const struct tracestore_filter *filter;
    bool are_headers_enough; /* for blocks that lie in the range */
    struct operationtable table;
    const struct hourly_view *view;
};

static void summing_done(struct summing *summing)
{
    traceread_done(&summing->read);
    operationtable_done(&summing->table);
}

static int add_header(struct summing *summing, const struct spanblock_header *header, struct error *err)
{
    const struct tracestore_filter *filter = summing->filter;

    for (uint32_t i = 0; i < header->n_operations; i++) {
        const struct spanblock_operation *operation = &header->operations[i];

        if ((filter->service.len == 0 || slice_equal(filter->service, operation->service)) &&
            (filter->operation.len == 0 || slice_equal(filter->operation, operation->name)) &&
            operationtable_add_operation(&summing->table, operation, err) < 0)
            return -1;
    }
    return 0;
}

static int add_spans(struct summing *summing, const struct traceread_block *found, struct error *err)
{
    struct spanblock block;
    struct tracepick pick;
    bool has;

    if (traceread_may_have_attributes(&summing->read, summing->view, &found->closing, found->block, summing->filter,
                                      &has, err) < 0)
        return -1;
    if (!has)
        return 0;
    if (traceread_open(&summing->read, summing->view, &found->closing, found->block, &block, &has, err) < 0)
        return -1;
    if (!has)
        return 0;
    if (tracepick_init(&pick, summing->filter, &block, &summing->read.scratch, err) < 0)
        return -1;
    for (uint32_t i = 0; i < block.n_spans; i++) {
        const struct spanblock_class *class = &block.classes[block.class_ids[i]];
        bool takes;

        if (tracepick_takes(&pick, i, &takes, err) < 0)
            return traceread_pass(&summing->read, summing->view, err);
        if (takes && operationtable_add_span(&summing->table, class->service, class->name, block.duration_ns[i],
                                             class->status == SPAN_ERROR, err) < 0)
            return -1;
    }
    return 0;
}

static int add_block(void *context, const struct traceread_block *found, struct error *err)
{
    struct summing *summing = context;
    const struct tracestore_filter *filter = summing->filter;
    struct spanblock_header header;
    int64_t max_duration_ns;

    if (traceread_header(&summing->read, found->header, &header, err) < 0)
        return traceread_pass(&summing->read, summing->view, err);
    if (!tracepick_may_have(filter, &header, &max_duration_ns))
        return 0;
    if (summing->are_headers_enough && header.min_start_ns >= filter->from_ns &&
        (filter->until_ns == 0 || header.max_start_ns < filter->until_ns))
        return add_header(summing, &header, err);
    return add_spans(summing, found, err);
}

static int add_row(void *context, const struct traceread_row *row, struct error *err)
{
    struct summing *summing = context;
    struct span_resource resource;
    struct span span;
    bool takes;

    if (traceread_row_takes(&summing->read, summing->view, row, summing->filter, false, &span, &resource, &takes, err) <
        0)
        return -1;
    return takes ? operationtable_add_span(&summing->table, span.resource->service, span.name, span.duration_ns,
                                           span.status == SPAN_ERROR, err)
                 : 0;
}

static int add_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct summing *summing = context;
    const struct tracestore_filter *filter = summing->filter;

    summing->view = view;
    for (size_t i = 0; i < view->n_closings; i++)
        if (traceread_has_hour(view, view->closings[i].hour, filter->from_ns, filter->until_ns) &&
            traceread_each_block(&summing->read, view, &view->closings[i], add_block, summing, err) < 0)
            return -1;
    for (size_t i = 0; i < view->n_heads; i++) {
        struct traceread_slots slots;

        if (traceread_slots_of(view, view->heads[i].hour, filter->from_ns, filter->until_ns, &slots) &&
            traceread_each_row(&summing->read, view, &view->heads[i], &slots, add_row, summing, err) < 0)
            return -1;
    }
    return 0;
}

static bool asks_names_alone(const struct tracestore_filter *filter)
{
    return filter->min_duration_ns == 0 && filter->max_duration_ns == 0 && !filter->is_error && !filter->is_root &&
           filter->n_attributes == 0 && !filter->ids;
}

int tracestore_list_operations(struct tracestore *store, struct slice tenant, const struct tracestore_filter *filter,
                               const struct tracestore_asker *asker, struct arena *arena,
                               struct tracestore_operations *ret_operations, struct error *err)
{
    AUTO(summing_done)
    struct summing summing = { .filter = filter, .are_headers_enough = asks_names_alone(filter) };

    operationtable_init(&summing.table, arena);
    if (traceread_init(&summing.read, store->hourly, tenant, asker, err) < 0 ||
        hourly_each_day(store->hourly, filter->from_ns, filter->until_ns ? filter->until_ns : INT64_MAX, false, add_day,
                        &summing, err) < 0)
        return error_wrap(err, "listing operations");
    return operationtable_finish(&summing.table, ret_operations, err);
}
