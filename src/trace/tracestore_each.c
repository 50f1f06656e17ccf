// SPDX-License-Identifier: Apache-2.0
/* All spans that pass: hour by hour, blocks, then heads.
 *
 * Of an hour those are remembered that may come again. Where they are too many, only a part of them is, by their hashes, and the
 * hour is walked again for each other part. What is walked is a moment, so the spans come in the same order each time: those of
 * a part that had been given before it was put off are known by their places. */
#include "base/bytes.h"
#include "base/hash.h"
#include "trace/traceoften.h"
#include "trace/tracepick.h"
#include "trace/tracestore.h"
#include "trace/tracestore_internal.h"

/* The range of hashes is halved each time. */
#define MAX_LATER 64u

struct part {
    uint64_t first, last; /* of the hashes that are remembered, both included */
    uint64_t n_given;     /* those of the part are given already that are among so many first spans of the walk */
};

struct eaching {
    struct traceread read;
    const struct tracestore_filter *filter;
    unsigned wants;
    int (*visit)(void *context, const struct span *span, struct error *err);
    void *context;
    const struct hourly_view *view;
    struct traceoften often;
    struct hash_set given; /* spans of this hour and part that may come again */
    uint32_t max_given;
    struct part part;
    struct part later[MAX_LATER]; /* each is smaller than the one before */
    uint32_t n_later;
    bool is_again;     /* spans that come once are given already */
    uint64_t n_walked; /* spans of this hour */
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

static bool is_of_part(const struct eaching *eaching, struct hash128 identity)
{
    return identity.b >= eaching->part.first && identity.b <= eaching->part.last;
}

/* Forgets what is not of the part any more. */
static int leave_part(struct eaching *eaching, struct error *err)
{
    struct hash_set kept;
    int result = 0;

    hash_set_init(&kept, eaching->max_given);
    for (uint32_t i = 0; result == 0 && i < eaching->given.n; i++) {
        bool is_new;
        uint32_t id;

        if (is_of_part(eaching, eaching->given.hashes[i]))
            result = hash_set_add(&kept, eaching->given.hashes[i], &id, &is_new, err);
    }
    hash_set_done(&eaching->given);
    eaching->given = kept;
    return result;
}

/* Puts the upper half of the part off. The span at hand is not given yet. */
static int halve_part(struct eaching *eaching, struct error *err)
{
    struct part *part = &eaching->part;
    uint64_t middle = part->first + (part->last - part->first) / 2;

    if (part->first == part->last)
        return error_set(err, ERR_LIMIT, "telling spans apart that came twice: more than %u have the same hash",
                         eaching->max_given);
    ASSERT(eaching->n_later < MAX_LATER);
    eaching->later[eaching->n_later++] =
        (struct part){ middle + 1, part->last, MAX(part->n_given, eaching->n_walked - 1) };
    part->last = middle;
    return leave_part(eaching, err);
}

/* A span that may come again: `*ret_is_due` says that it is to be given now. */
static int remember(struct eaching *eaching, struct hash128 identity, bool *ret_is_due, struct error *err)
{
    bool is_new;
    uint32_t id;

    *ret_is_due = false;
    if (!is_of_part(eaching, identity) || hash_set_find(&eaching->given, identity) != HASH_NONE)
        return 0;
    while (eaching->given.n >= eaching->max_given)
        if (halve_part(eaching, err) < 0)
            return -1;
    if (!is_of_part(eaching, identity))
        return 0;
    if (hash_set_add(&eaching->given, identity, &id, &is_new, err) < 0)
        return error_wrap(err, "telling spans apart that came twice");
    *ret_is_due = eaching->n_walked > eaching->part.n_given;
    return 0;
}

static int give(struct eaching *eaching, const struct span *span, struct error *err)
{
    bool is_due = !eaching->is_again;

    eaching->n_walked++;
    if (traceoften_has(&eaching->often, span->trace_id) && remember(eaching, identity_of(span), &is_due, err) < 0)
        return -1;
    return is_due ? eaching->visit(eaching->context, span, err) : 0;
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

static int give_part(struct eaching *eaching, uint8_t hour, const struct traceread_slots *slots, struct error *err)
{
    const struct hourly_view *view = eaching->view;

    hash_set_clear(&eaching->given);
    eaching->n_walked = 0;
    for (size_t i = 0; i < view->n_closings; i++)
        if (view->closings[i].hour == hour &&
            traceread_each_block(&eaching->read, view, &view->closings[i], give_block, eaching, err) < 0)
            return -1;
    for (size_t i = 0; i < view->n_heads; i++)
        if (view->heads[i].hour == hour &&
            traceread_each_row(&eaching->read, view, &view->heads[i], slots, give_row, eaching, err) < 0)
            return -1;
    return 0;
}

static int give_hour(struct eaching *eaching, uint8_t hour, struct error *err)
{
    struct traceread_slots slots;

    if (!traceread_slots_of(eaching->view, hour, eaching->filter->from_ns, eaching->filter->until_ns, &slots))
        return 0;
    if (traceoften_find(&eaching->often, &eaching->read, eaching->view, hour, err) < 0)
        return -1;
    eaching->part = (struct part){ .last = UINT64_MAX };
    eaching->is_again = false;
    if (give_part(eaching, hour, &slots, err) < 0)
        return -1;
    eaching->is_again = true;
    while (eaching->n_later > 0) {
        eaching->part = eaching->later[--eaching->n_later];
        if (give_part(eaching, hour, &slots, err) < 0)
            return -1;
    }
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
    eaching.max_given = (uint32_t)MAX(MIN(eaching.read.max_bytes / 32, (size_t)UINT32_MAX / 4), (size_t)1);
    hash_set_init(&eaching.given, eaching.max_given);
    return hourly_each_day(store->hourly, filter->from_ns, filter->until_ns ? filter->until_ns : INT64_MAX, false,
                           give_day, &eaching, err);
}
