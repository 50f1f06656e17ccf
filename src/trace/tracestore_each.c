// SPDX-License-Identifier: Apache-2.0
/* All spans that pass: hour by hour, blocks, then heads. */
#include "base/bytes.h"
#include "base/hash.h"
#include "trace/traceoften.h"
#include "trace/tracepick.h"
#include "trace/tracestore.h"
#include "trace/tracestore_internal.h"

struct eaching {
    struct traceread read;
    const struct tracestore_filter *filter;
    unsigned wants;
    int (*visit)(void *context, const struct span *span, struct error *err);
    void *context;
    const struct hourly_view *view;
    struct traceoften often;
    struct hash_set given; /* spans of this hour that may come again */
};

static void eaching_done(struct eaching *eaching)
{
    traceread_done(&eaching->read);
    traceoften_done(&eaching->often);
    hash_set_done(&eaching->given);
}

static struct hash128 identity_of(const struct span *span)
{
    struct hash128 hash = hash_fold((struct hash128){ span->kind, 1 }, bytes_get_le64(span->trace_id),
                                    bytes_get_le64(span->trace_id + 8));

    hash = hash_fold(hash, bytes_get_le64(span->span_id), bytes_get_le64(span->parent_id));
    hash = hash_fold(hash, (uint64_t)span->start_ns, (uint64_t)span->duration_ns);
    return hash_fold(hash, span->status, hash_bytes64(span->name, 0));
}

static int give(struct eaching *eaching, const struct span *span, struct error *err)
{
    bool is_new = true;
    uint32_t id;

    if (traceoften_has(&eaching->often, span->trace_id) &&
        hash_set_add(&eaching->given, identity_of(span), &id, &is_new, err) < 0)
        return error_wrap(err, "telling spans apart that came twice");
    return is_new ? eaching->visit(eaching->context, span, err) : 0;
}

static unsigned wants_of_block(unsigned wants)
{
    if (wants == 0)
        return 0;
    return wants == TRACESTORE_WANTS_ATTRIBUTES ? SPANBLOCK_RESOURCE | SPANBLOCK_ATTRIBUTES : SPANBLOCK_ALL;
}

static int give_spans(struct eaching *eaching, struct spanblock *block, struct tracepick *pick, struct error *err)
{
    unsigned wants = wants_of_block(eaching->wants);

    for (uint32_t i = 0; i < block->n_spans; i++) {
        struct span span;
        bool takes;

        if (tracepick_takes(pick, i, &takes, err) < 0 || (takes && spanblock_get(block, i, wants, &span, err) < 0))
            return traceread_pass(&eaching->read, eaching->view, err);
        if (takes && give(eaching, &span, err) < 0)
            return -1;
    }
    return 0;
}

static int give_block(void *context, const struct traceread_block *found, struct error *err)
{
    struct eaching *eaching = context;
    struct spanblock_header header;
    struct spanblock block;
    struct tracepick pick;
    int64_t max_duration_ns;
    bool has;

    if (traceread_header(&eaching->read, found->header, &header, err) < 0)
        return traceread_pass(&eaching->read, eaching->view, err);
    if (!tracepick_may_have(eaching->filter, &header, &max_duration_ns))
        return 0;
    if (traceread_may_have_attributes(&eaching->read, eaching->view, &found->closing, found->block, eaching->filter,
                                      &has, err) < 0)
        return -1;
    if (!has)
        return 0;
    if (traceread_open(&eaching->read, eaching->view, &found->closing, found->block, &block, &has, err) < 0)
        return -1;
    if (!has)
        return 0;
    if (tracepick_init(&pick, eaching->filter, &block, &eaching->read.scratch, err) < 0)
        return -1;
    return pick.has_classes ? give_spans(eaching, &block, &pick, err) : 0;
}

static int give_row(void *context, const struct traceread_row *row, struct error *err)
{
    struct eaching *eaching = context;
    struct span_resource resource;
    struct span span;
    bool takes;

    if (traceread_row_takes(&eaching->read, eaching->view, row, eaching->filter, eaching->wants != 0, &span, &resource,
                            &takes, err) < 0)
        return -1;
    return takes ? give(eaching, &span, err) : 0;
}

static int give_hour(struct eaching *eaching, uint8_t hour, struct error *err)
{
    const struct hourly_view *view = eaching->view;
    struct traceread_slots slots;

    if (!traceread_slots_of(view, hour, eaching->filter->from_ns, eaching->filter->until_ns, &slots))
        return 0;
    hash_set_clear(&eaching->given);
    if (traceoften_find(&eaching->often, &eaching->read, view, hour, err) < 0)
        return -1;
    for (size_t i = 0; i < view->n_closings; i++)
        if (view->closings[i].hour == hour &&
            traceread_each_block(&eaching->read, view, &view->closings[i], give_block, eaching, err) < 0)
            return -1;
    for (size_t i = 0; i < view->n_heads; i++)
        if (view->heads[i].hour == hour &&
            traceread_each_row(&eaching->read, view, &view->heads[i], &slots, give_row, eaching, err) < 0)
            return -1;
    return 0;
}

static int give_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct eaching *eaching = context;

    eaching->view = view;
    for (uint8_t hour = 0; hour < 24; hour++)
        if (give_hour(eaching, hour, err) < 0)
            return -1;
    return 0;
}

int tracestore_each(struct tracestore *store, struct slice tenant, const struct tracestore_filter *filter,
                    unsigned wants, const struct tracestore_asker *asker,
                    int (*visit)(void *context, const struct span *span, struct error *err), void *context,
                    struct error *err)
{
    AUTO(eaching_done)
    struct eaching eaching = { .filter = filter, .wants = wants, .visit = visit, .context = context };

    if (traceread_init(&eaching.read, store->hourly, tenant, asker, err) < 0)
        return -1;
    hash_set_init(&eaching.given, (uint32_t)MIN(eaching.read.max_bytes / 32, UINT32_MAX / 4));
    return hourly_each_day(store->hourly, filter->from_ns, filter->until_ns ? filter->until_ns : INT64_MAX, false,
                           give_day, &eaching, err);
}
