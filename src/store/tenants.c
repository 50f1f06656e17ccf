// SPDX-License-Identifier: Apache-2.0
#include "store/tenants.h"

#include "base/clock.h"

enum { MAX_TENANTS = 1 << 20 };
/* One that was used so lately is in use: loading it again would cost more than a new generation of a large one. */
static const int64_t in_use_ns = 10 * CLOCK_NS_PER_SECOND;

void tenants_init(struct tenants *tenants, uint64_t seed)
{
    *tenants = (struct tenants){ .seed = seed, .next_id = 1 };
    hash_set_init(&tenants->names, MAX_TENANTS);
    map_init(&tenants->ids, MAX_TENANTS);
}

void tenants_done(struct tenants *tenants)
{
    while (tenants->oldest)
        tenants_unload(tenants, tenants->oldest);
    for (size_t i = 0; i < tenants->n; i++)
        memory_free(tenants->items[i].name);
    VEC_DONE(tenants);
    hash_set_done(&tenants->names);
    map_done(&tenants->ids);
}

/* --- names --- */

int tenants_add(struct tenants *tenants, uint32_t id, struct slice name, struct error *err)
{
    char *copy = memory_alloc_zero(name.len + 1, err);
    uint32_t place;
    bool is_new = false;

    if (!copy)
        return -1;
    if (VEC_RESERVE(tenants, 1, MAX_TENANTS, err) < 0 ||
        hash_set_add(&tenants->names, hash_bytes(name, tenants->seed), &place, &is_new, err) < 0) {
        memory_free(copy);
        return -1;
    }
    tenants->next_id = MAX(tenants->next_id, id + 1);
    if (!is_new) {
        memory_free(copy);
        return 0;
    }
    memcpy(copy, name.ptr, name.len);
    tenants->items[tenants->n++] = (struct tenant_entry){ .id = id, .name = copy };
    return 0;
}

struct tenant_entry *tenants_find(const struct tenants *tenants, struct slice name)
{
    uint32_t place = hash_set_find(&tenants->names, hash_bytes(name, tenants->seed));

    return place == HASH_NONE ? NULL : &tenants->items[place];
}

int tenants_has_id(struct tenants *tenants, uint32_t id, bool *ret_has, struct error *err)
{
    for (uint32_t i = tenants->ids.n; i < tenants->n; i++)
        if (map_set(&tenants->ids, tenants->items[i].id, i, err) < 0)
            return -1;
    *ret_has = map_find(&tenants->ids, id) != NULL;
    return 0;
}

/* --- those that are loaded, by use --- */

static void link_newest(struct tenants *tenants, struct tenant *tenant)
{
    tenant->older = tenants->newest;
    tenant->newer = NULL;
    if (tenants->newest)
        tenants->newest->newer = tenant;
    else
        tenants->oldest = tenant;
    tenants->newest = tenant;
}

static void unlink_tenant(struct tenants *tenants, struct tenant *tenant)
{
    *(tenant->older ? &tenant->older->newer : &tenants->oldest) = tenant->newer;
    *(tenant->newer ? &tenant->newer->older : &tenants->newest) = tenant->older;
}

static void count_bytes(struct tenant *tenant, uint64_t now)
{
    struct dictionary_share *share = tenant->dictionary.share;

    /* Relaxed: a budget, not a promise about other memory. */
    if (share)
        atomic_fetch_add_explicit(&share->used_bytes, now - tenant->counted_bytes, memory_order_relaxed);
    tenant->counted_bytes = now;
}

struct tenant *tenants_load(struct tenants *tenants, struct tenant_entry *entry, struct error *err)
{
    struct tenant *tenant = MEMORY_NEW(struct tenant, err);

    if (!tenant)
        return NULL;
    tenant->id = entry->id;
    tenant->name = entry->name;
    tenant->next_series = 1;
    hash_set_init(&tenant->series, 0);
    hash_set_init(&tenant->groups, 0);
    tenant->used_mono_ns = clock_mono_ns();
    link_newest(tenants, tenant);
    entry->loaded = tenant;
    return tenant;
}

void tenants_unload(struct tenants *tenants, struct tenant *tenant)
{
    tenants_find(tenants, slice_from(tenant->name))->loaded = NULL;
    unlink_tenant(tenants, tenant);
    for (struct tenant **at = &tenants->waiting; tenant->is_waiting && *at; at = &(*at)->next_waiting)
        if (*at == tenant) {
            *at = tenant->next_waiting;
            break;
        }
    count_bytes(tenant, 0);
    dictionary_done(&tenant->dictionary);
    hash_set_done(&tenant->series);
    hash_set_done(&tenant->groups);
    VEC_DONE(&tenant->series_ids);
    VEC_DONE(&tenant->group_ids);
    memory_free(tenant);
}

void tenants_touch(struct tenants *tenants, struct tenant *tenant)
{
    tenant->used_mono_ns = clock_mono_ns();
    unlink_tenant(tenants, tenant);
    link_newest(tenants, tenant);
}

void tenants_note_write(struct tenants *tenants, struct tenant *tenant, uint64_t group)
{
    tenant->last_group = group;
    count_bytes(tenant, sizeof(*tenant) + hash_set_bytes(&tenant->series) + hash_set_bytes(&tenant->groups) +
                            tenant->series_ids.capacity * sizeof(*tenant->series_ids.items) +
                            tenant->group_ids.capacity * sizeof(*tenant->group_ids.items));
    if (tenant->is_waiting || !dictionary_has_news(&tenant->dictionary))
        return;
    tenant->is_waiting = true;
    tenant->next_waiting = tenants->waiting;
    tenants->waiting = tenant;
}

int tenants_take(struct tenants *tenants, struct kv *kv, struct kv_batch *batch, struct buffer *scratch,
                 struct error *err)
{
    while (tenants->waiting) {
        struct tenant *tenant = tenants->waiting;

        if (dictionary_take(&tenant->dictionary, kv, batch, scratch, err) < 0)
            return -1;
        tenant->is_waiting = false;
        tenants->waiting = TAKE(tenant->next_waiting);
    }
    return 0;
}

/* --- forgetting --- */

/* The one used the longest ago of which nothing is on its way (N3), but not `except`. */
static struct tenant *find_oldest(const struct tenants *tenants, const struct tenant *except, uint64_t done_group)
{
    struct tenant *tenant = tenants->oldest;

    while (tenant && (tenant == except || tenant->is_waiting || tenant->last_group > done_group))
        tenant = tenant->newer;
    return tenant;
}

void tenants_make_room(struct tenants *tenants, struct tenant *tenant, uint32_t n_stacks, uint64_t done_group)
{
    const struct dictionary_share *share = tenant->dictionary.share;
    uint64_t more = dictionary_bytes_for(&tenant->dictionary, n_stacks);
    int64_t in_use_since_ns = clock_mono_ns() - in_use_ns;

    /* Relaxed, all of it: a budget. */
    while (atomic_load_explicit(&share->used_bytes, memory_order_relaxed) + more > share->max_bytes) {
        struct tenant *victim = find_oldest(tenants, tenant, done_group);
        uint64_t part = share->max_bytes / MAX(atomic_load_explicit(&share->n, memory_order_relaxed), 1u);
        bool is_small = tenant->dictionary.counted_bytes + more < part;

        if (!victim || (!is_small && victim->used_mono_ns > in_use_since_ns))
            return;
        tenants_unload(tenants, victim);
    }
}

void tenants_unload_idle(struct tenants *tenants, int64_t idle_since_mono_ns, uint64_t done_group)
{
    struct tenant *tenant;

    while ((tenant = find_oldest(tenants, NULL, done_group)) && tenant->used_mono_ns < idle_since_mono_ns)
        tenants_unload(tenants, tenant);
}
