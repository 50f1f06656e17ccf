// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapeset.h"

#include "base/memory.h"

#define PLAN_ARENA_BYTES (64u << 20)

static void free_target(struct scrapeset_target *target)
{
    memory_free(target);
}

/* A target with its texts behind it, in one piece. */
static struct scrapeset_target *new_target(const struct scrapetarget_plan *plan, int64_t now_mono_ns, struct error *err)
{
    const struct slice texts[] = { plan->instance, plan->url, plan->lines };
    size_t bytes = sizeof(struct scrapeset_target) + plan->instance.len + plan->url.len + plan->lines.len + 3;
    struct scrapeset_target *target = memory_alloc_zero(bytes, err);
    struct slice own[ARRAY_LEN(texts)];
    char *at = (char *)(target + 1);

    if (!target)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (texts[i].len > 0)
            memcpy(at, texts[i].ptr, texts[i].len);
        own[i] = slice_of(at, texts[i].len);
        at += texts[i].len + 1;
    }
    target->instance = own[0];
    target->url = own[1];
    target->lines = own[2];
    target->identity = plan->identity;
    target->turn.due_mono_ns = now_mono_ns + (int64_t)(plan->identity.a % (uint64_t)plan->job->interval_ns);
    return target;
}

/* --- making --- */

struct making {
    struct scrapeset *old;
    struct scrapeset next;
    struct hash_set known; /* identities: those of `old` first, then new ones */
    int64_t now_mono_ns;
    struct scrapetarget_maker maker;
    struct relabel_scratch scratch;
    struct arena arena;
};

void scrapeset_discard(struct scrapeset *next)
{
    for (size_t i = 0; i < next->targets.n; i++)
        if (!next->targets.items[i]->job) /* new; the others are those of the old set */
            free_target(next->targets.items[i]);
    VEC_DONE(&next->targets);
}

static void making_done(struct making *making)
{
    scrapeset_discard(&making->next);
    hash_set_done(&making->known);
    relabel_scratch_done(&making->scratch);
    arena_done(&making->arena);
}

/* Takes a plan: as the target it was before, as a new one, or not at all if there is an equal one already. */
static int take_plan(void *context, const struct scrapetarget_plan *plan, struct error *err)
{
    struct making *making = context;
    struct scrapeset_target *target, **place;
    uint32_t id;
    bool is_new;

    if (VEC_RESERVE(&making->next.targets, 1, SCRAPE_TARGETS_MAX, err) < 0 ||
        hash_set_add(&making->known, plan->identity, &id, &is_new, err) < 0)
        return -1;
    if (!is_new && (id >= making->old->targets.n || making->old->targets.items[id]->is_wanted))
        return 0;
    target = is_new ? new_target(plan, making->now_mono_ns, err) : making->old->targets.items[id];
    if (!target) {
        hash_set_pop(&making->known);
        return -1;
    }
    target->is_wanted = true;
    target->next_job = plan->job;
    target->next_kind = plan->kind;
    place = VEC_PUSH(&making->next.targets, SCRAPE_TARGETS_MAX, err); /* there is room */
    ASSERT(place);
    *place = target;
    return 0;
}

static int take_group(void *context, const struct scrapeconfig_job *job, const struct scrapeconfig_group *group,
                      struct error *err)
{
    return scrapetarget_plan(context, job, group, err);
}

static int know_old(struct making *making, struct error *err)
{
    for (size_t i = 0; i < making->old->targets.n; i++) {
        struct scrapeset_target *target = making->old->targets.items[i];
        uint32_t id;
        bool is_new;

        target->is_wanted = false;
        if (hash_set_add(&making->known, target->identity, &id, &is_new, err) < 0)
            return -1;
        ASSERT(is_new && id == i);
    }
    return 0;
}

int scrapeset_make(struct scrapeset *old, const struct scrapeconfig *config, struct scrapefiles *files,
                   int64_t now_mono_ns, struct scrapeset *ret_set, struct error *err)
{
    AUTO(making_done) struct making making = { .old = old, .now_mono_ns = now_mono_ns };

    hash_set_init(&making.known, 0);
    arena_init(&making.arena, PLAN_ARENA_BYTES);
    making.maker = (struct scrapetarget_maker){
        .scratch = &making.scratch, .arena = &making.arena, .take = take_plan, .context = &making
    };
    if (relabel_scratch_init(&making.scratch, err) < 0 || know_old(&making, err) < 0)
        return -1;
    for (size_t i = 0; i < config->n; i++)
        for (size_t j = 0; j < config->jobs[i].n_groups; j++)
            if (scrapetarget_plan(&making.maker, &config->jobs[i], &config->jobs[i].groups[j], err) < 0)
                return -1;
    if (scrapefiles_each(files, take_group, &making.maker, err) < 0)
        return -1;
    making.next.n_dropped = making.maker.n_dropped;
    making.next.n_refused = making.maker.n_refused;
    making.next.refusal = making.maker.refusal;
    *ret_set = TAKE(making.next);
    return 0;
}

/* --- replacing --- */

void scrapeset_replace(struct scrapeset *set, struct scrapeset *next,
                       void (*drop)(void *context, struct scrapeset_target *target), void *context)
{
    for (size_t i = 0; i < set->targets.n; i++) {
        struct scrapeset_target *target = set->targets.items[i];

        if (target->is_wanted)
            continue;
        drop(context, target);
        free_target(target);
    }
    VEC_DONE(&set->targets);
    *set = TAKE(*next);
    for (size_t i = 0; i < set->targets.n; i++) {
        set->targets.items[i]->job = set->targets.items[i]->next_job;
        set->targets.items[i]->kind = set->targets.items[i]->next_kind;
    }
}

void scrapeset_done(struct scrapeset *set)
{
    for (size_t i = 0; i < set->targets.n; i++)
        free_target(set->targets.items[i]);
    VEC_DONE(&set->targets);
}
