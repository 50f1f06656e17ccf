// SPDX-License-Identifier: Apache-2.0
#include "store/slotcache.h"

#include "base/clock.h"
#include "base/map.h"

static const int64_t rebuild_wait_ns = 60 * CLOCK_NS_PER_SECOND;

enum {
    MAX_PAGES = 512,
    LARGEST = 8, /* an entry has at most this part of all room */
};

struct entry {
    char *bytes; /* the roll-up, and behind it the windows; NULL = there are no rows, or no entry */
    size_t rollup_len, windows_len;
    uint64_t n_commits;
    int64_t built_ns;     /* the last time */
    uint64_t spoilt_pass; /* a row was added during this pass */
    uint8_t n_steps;      /* 0 = nothing is here */
    bool is_late;         /* of the hour: rows came late for the usual delay */
    bool has_windows : 1; /* else they are too large */
    bool is_refused : 1;  /* too large */
    bool was_dropped : 1; /* and not built since */
};

/* The entries of all groups for one span of a head. */
struct page {
    struct slotcache_head head;
    uint32_t span;
    int64_t start_ns, end_ns;
    struct map places; /* tenant and group -> place in entries */
    VEC(struct entry) entries;
    size_t bytes;
};

struct slotcache {
    size_t max_bytes;
    struct lock_mutex lock;

    /* guarded by lock */
    VEC(struct page *) pages;
    size_t bytes;
    int64_t floor_ns; /* spans that end at or before it are not built any more: S6 */
    struct {
        struct slotcache_head head;
        uint64_t number; /* of passes so far */
        int64_t now_ns;
        bool is_on;
        bool is_spoilt; /* what it finds may be wrong anywhere */
    } pass;
};

/* What an entry takes beside its bytes: arrays may be twice as large as they must be. */
#define ENTRY_BYTES (2 * sizeof(struct entry) + 4 * sizeof(struct map_slot))

int slotcache_new(size_t max_bytes, struct slotcache **ret_cache, struct error *err)
{
    struct slotcache *cache = MEMORY_NEW(struct slotcache, err);

    if (!cache)
        return -1;
    cache->max_bytes = max_bytes;
    cache->floor_ns = INT64_MIN;
    lock_mutex_init(&cache->lock, LOCK_STORE_SLOTS);
    *ret_cache = cache;
    return 0;
}

/* --- pages and entries; under the lock --- */

static bool is_same_head(const struct slotcache_head *a, const struct slotcache_head *b)
{
    return a->day == b->day && a->hour_ns == b->hour_ns && a->number == b->number;
}

static struct page *find_page(const struct slotcache *cache, const struct slotcache_head *head, uint32_t span)
{
    for (size_t i = 0; i < cache->pages.n; i++)
        if (cache->pages.items[i]->span == span && is_same_head(&cache->pages.items[i]->head, head))
            return cache->pages.items[i];
    return NULL;
}

static struct entry *find_entry(const struct page *page, uint32_t tenant, uint32_t group)
{
    const uint32_t *place = map_find(&page->places, (uint64_t)tenant << 32 | group);

    return place ? &page->entries.items[*place] : NULL;
}

static void count_bytes(struct slotcache *cache, struct page *page, size_t more, size_t less)
{
    page->bytes += more - less;
    cache->bytes += more - less;
}

static struct entry *add_entry(struct slotcache *cache, struct page *page, uint32_t tenant, uint32_t group,
                               struct error *err)
{
    uint32_t place = (uint32_t)page->entries.n;
    struct entry *entry = VEC_PUSH(&page->entries, UINT32_MAX, err);

    if (!entry)
        return NULL;
    if (map_set(&page->places, (uint64_t)tenant << 32 | group, place, err) < 0) {
        page->entries.n--;
        return NULL;
    }
    count_bytes(cache, page, ENTRY_BYTES, 0);
    return entry;
}

static size_t entry_len(const struct entry *entry)
{
    return entry->rollup_len + entry->windows_len;
}

static void empty_entry(struct slotcache *cache, struct page *page, struct entry *entry)
{
    count_bytes(cache, page, 0, entry_len(entry));
    memory_free(TAKE(entry->bytes));
    entry->rollup_len = entry->windows_len = 0;
    entry->n_steps = 0;
}

static void remove_page(struct slotcache *cache, size_t place)
{
    struct page *page = cache->pages.items[place];

    VEC_EACH (&page->entries, entry)
        memory_free(entry->bytes);
    cache->bytes -= page->bytes;
    VEC_DONE(&page->entries);
    map_done(&page->places);
    memory_free(page);
    cache->pages.items[place] = cache->pages.items[--cache->pages.n];
}

static int add_page(struct slotcache *cache, const struct slotcache_head *head, uint32_t span, struct error *err)
{
    bool is_hour = span == SLOTCACHE_HOUR;
    struct page *page;

    if (VEC_RESERVE(&cache->pages, 1, MAX_PAGES, err) < 0)
        return -1;
    page = MEMORY_NEW(struct page, err);
    if (!page)
        return -1;
    *page = (struct page){ .head = *head,
                           .span = span,
                           .start_ns = head->hour_ns + (is_hour ? 0 : span * DAY_SLOT_NS),
                           .bytes = sizeof(*page) };
    page->end_ns = page->start_ns + (is_hour ? DAY_HOUR_NS : DAY_SLOT_NS);
    map_init(&page->places, 0);
    cache->bytes += page->bytes;
    cache->pages.items[cache->pages.n++] = page;
    return 0;
}

void slotcache_free(struct slotcache *cache)
{
    if (!cache)
        return;
    while (cache->pages.n)
        remove_page(cache, cache->pages.n - 1);
    VEC_DONE(&cache->pages);
    lock_mutex_done(&cache->lock);
    memory_free(cache);
}

/* The page that goes first. Of two that end together it is the slot: the hour answers more questions. */
static size_t find_oldest(const struct slotcache *cache)
{
    size_t oldest = 0;

    for (size_t i = 1; i < cache->pages.n; i++) {
        const struct page *page = cache->pages.items[i], *best = cache->pages.items[oldest];

        if (page->end_ns < best->end_ns || (page->end_ns == best->end_ns && page->span < best->span))
            oldest = i;
    }
    return oldest;
}

/* Lets pages go that are older than `page`, until there is room: S6. */
static bool make_room(struct slotcache *cache, const struct page *page, size_t bytes)
{
    while (cache->bytes + bytes > cache->max_bytes) {
        size_t place = find_oldest(cache);
        const struct page *oldest = cache->pages.items[place];

        cache->floor_ns = MAX(cache->floor_ns, oldest->end_ns);
        if (oldest == page)
            return false;
        remove_page(cache, place);
    }
    return true;
}

/* --- who builds --- */

int slotcache_begin(struct slotcache *cache, const struct slotcache_head *head, int64_t now_ns, struct error *err)
{
    if (!cache)
        return 0;
    LOCK_SCOPE(&cache->lock);
    ASSERT(!cache->pass.is_on);
    for (uint32_t span = 0; span < SLOTCACHE_SPANS; span++) {
        int64_t start_ns = head->hour_ns + (span == SLOTCACHE_HOUR ? 0 : span * DAY_SLOT_NS);
        int64_t end_ns = start_ns + (span == SLOTCACHE_HOUR ? DAY_HOUR_NS : DAY_SLOT_NS);

        if (end_ns > cache->floor_ns && start_ns + SLOTCACHE_STEP_NS <= now_ns - SLOTCACHE_USUAL_DELAY_NS &&
            !find_page(cache, head, span) && add_page(cache, head, span, err) < 0)
            return -1;
    }
    cache->pass.head = *head;
    cache->pass.number++;
    cache->pass.now_ns = now_ns;
    cache->pass.is_on = true;
    cache->pass.is_spoilt = false;
    return 0;
}

void slotcache_end(struct slotcache *cache)
{
    if (!cache)
        return;
    LOCK_SCOPE(&cache->lock);
    cache->pass.is_on = false;
}

/* How many steps of the span are over, for long enough. */
static uint8_t count_steps(const struct page *page, int64_t now_ns, bool is_late)
{
    int64_t until_ns = now_ns - (is_late ? SLOTCACHE_LONG_DELAY_NS : SLOTCACHE_USUAL_DELAY_NS);

    int64_t n_steps = (MIN(until_ns, page->end_ns) - page->start_ns) / SLOTCACHE_STEP_NS;

    /* The hour is large, and grows by whole slots: that is a fifth of the work. */
    if (page->span == SLOTCACHE_HOUR)
        n_steps -= n_steps % SLOTCACHE_SLOT_STEPS;
    return (uint8_t)MAX(n_steps, 0);
}

static bool is_due(const struct slotcache *cache, const struct page *page, const struct entry *entry)
{
    if (page->end_ns <= cache->floor_ns || (entry && entry->is_refused))
        return false;
    return !entry || !entry->was_dropped || cache->pass.now_ns - entry->built_ns >= rebuild_wait_ns;
}

void slotcache_plan(struct slotcache *cache, uint32_t tenant, uint32_t group, struct slotcache_plan *ret_plan)
{
    const struct page *hour;
    const struct entry *entry;
    bool is_late;

    *ret_plan = (struct slotcache_plan){ 0 };
    if (!cache)
        return;
    LOCK_SCOPE(&cache->lock);
    hour = find_page(cache, &cache->pass.head, SLOTCACHE_HOUR);
    entry = hour ? find_entry(hour, tenant, group) : NULL;
    is_late = entry && entry->is_late;
    for (uint32_t span = 0; span < SLOTCACHE_SPANS; span++) {
        const struct page *page = find_page(cache, &cache->pass.head, span);

        entry = page ? find_entry(page, tenant, group) : NULL;
        if (!page || !is_due(cache, page, entry))
            continue;
        ret_plan->from[span] = entry ? entry->n_steps : 0;
        ret_plan->until[span] = count_steps(page, cache->pass.now_ns, is_late);
    }
}

/* The entry to put something into, or NULL if it cannot be had or a row was added: S4. */
static struct entry *open_entry(struct slotcache *cache, uint32_t tenant, uint32_t group, uint32_t span, size_t len,
                                struct page **ret_page)
{
    struct page *page = find_page(cache, &cache->pass.head, span);
    struct entry *entry = page ? find_entry(page, tenant, group) : NULL;
    size_t bytes = entry ? len - MIN(len, entry_len(entry)) : len + ENTRY_BYTES;
    struct error err;

    if (!page || cache->pass.is_spoilt || (entry && entry->spoilt_pass == cache->pass.number) ||
        !make_room(cache, page, bytes))
        return NULL;
    *ret_page = page;
    return entry ? entry : add_entry(cache, page, tenant, group, &err);
}

/* A copy of both, one behind the other; NULL if there is nothing to copy, or no memory. */
static char *join(struct slice rollup, struct slice windows)
{
    struct error err;
    char *bytes = rollup.len + windows.len ? memory_alloc(rollup.len + windows.len, &err) : NULL;

    if (bytes && rollup.len)
        memcpy(bytes, rollup.ptr, rollup.len);
    if (bytes && windows.len)
        memcpy(bytes + rollup.len, windows.ptr, windows.len);
    return bytes;
}

bool slotcache_put(struct slotcache *cache, uint32_t tenant, uint32_t group, uint32_t span, uint64_t n_commits,
                   const struct slotcache_value *value)
{
    size_t largest = cache ? cache->max_bytes / LARGEST : 0;
    struct slice rollup = value->rollup, windows = value->windows;
    bool has_windows = value->has_windows && rollup.len + windows.len <= largest;
    struct page *page;
    struct entry *entry;
    char *bytes;

    if (!cache)
        return false;
    if (rollup.len > largest) {
        slotcache_refuse(cache, tenant, group, span);
        return false;
    }
    if (!has_windows)
        windows.len = 0;
    LOCK_SCOPE(&cache->lock);
    entry = open_entry(cache, tenant, group, span, rollup.len + windows.len, &page);
    if (!entry)
        return false;
    bytes = join(rollup, windows);
    if (!bytes && rollup.len + windows.len)
        return false;
    empty_entry(cache, page, entry);
    count_bytes(cache, page, rollup.len + windows.len, 0);
    entry->bytes = bytes;
    entry->rollup_len = rollup.len;
    entry->windows_len = windows.len;
    entry->has_windows = has_windows;
    entry->n_commits = n_commits;
    entry->n_steps = (uint8_t)value->n_steps;
    entry->built_ns = cache->pass.now_ns;
    entry->was_dropped = false;
    return true;
}

void slotcache_refuse(struct slotcache *cache, uint32_t tenant, uint32_t group, uint32_t span)
{
    struct page *page;
    struct entry *entry;

    if (!cache)
        return;
    LOCK_SCOPE(&cache->lock);
    entry = open_entry(cache, tenant, group, span, 0, &page);
    if (!entry)
        return;
    empty_entry(cache, page, entry);
    entry->is_refused = true;
}

/* --- who writes --- */

/* Whether there was something to drop. */
static bool drop_from(struct slotcache *cache, const struct slotcache_head *head, uint32_t span, uint32_t tenant,
                      uint32_t group, int64_t start_ns)
{
    bool is_building = cache->pass.is_on && is_same_head(&cache->pass.head, head);
    struct page *page = find_page(cache, head, span);
    struct entry *entry = page ? find_entry(page, tenant, group) : NULL;
    struct error err;

    if (!page)
        return false;
    if (!entry && is_building) {
        entry = cache->bytes + ENTRY_BYTES <= cache->max_bytes ? add_entry(cache, page, tenant, group, &err) : NULL;
        cache->pass.is_spoilt |= !entry;
    }
    if (!entry)
        return false;
    if (is_building)
        entry->spoilt_pass = cache->pass.number;
    if (start_ns >= page->start_ns + entry->n_steps * SLOTCACHE_STEP_NS)
        return false;
    empty_entry(cache, page, entry);
    entry->was_dropped = true;
    entry->is_late = true;
    return true;
}

uint32_t slotcache_drop(struct slotcache *cache, const struct slotcache_head *head, uint32_t tenant, uint32_t group,
                        int64_t start_ns)
{
    uint32_t slot = (uint32_t)((start_ns - head->hour_ns) / DAY_SLOT_NS), n;

    if (!cache)
        return 0;
    LOCK_SCOPE(&cache->lock);
    n = drop_from(cache, head, slot, tenant, group, start_ns);
    return n + drop_from(cache, head, SLOTCACHE_HOUR, tenant, group, start_ns);
}

/* Those of the head, or of all heads of the day. */
static void forget(struct slotcache *cache, const struct day *day, const struct slotcache_head *head)
{
    if (!cache)
        return;
    LOCK_SCOPE(&cache->lock);
    for (size_t i = cache->pages.n; i-- > 0;)
        if (cache->pages.items[i]->head.day == day && (!head || is_same_head(&cache->pages.items[i]->head, head)))
            remove_page(cache, i);
}

void slotcache_forget_head(struct slotcache *cache, const struct slotcache_head *head)
{
    forget(cache, head->day, head);
}

void slotcache_forget_day(struct slotcache *cache, const struct day *day)
{
    forget(cache, day, NULL);
}

/* --- who reads --- */

static int copy(const struct entry *entry, size_t at, size_t len, struct arena *arena, struct slice *ret_copy,
                struct error *err)
{
    if (!len)
        return 0;
    *ret_copy = arena_copy(arena, slice_of(entry->bytes + at, len), err);
    return ret_copy->ptr ? 0 : -1;
}

int slotcache_get(struct slotcache *cache, const struct slotcache_head *head, uint32_t tenant, uint32_t group,
                  uint32_t span, uint64_t n_commits, enum slotcache_part part, struct arena *arena,
                  struct slotcache_value *ret_value, struct error *err)
{
    const struct page *page;
    const struct entry *entry;
    struct slotcache_value value = { 0 };

    *ret_value = value;
    if (!cache)
        return 0;
    LOCK_SCOPE(&cache->lock);
    page = find_page(cache, head, span);
    entry = page ? find_entry(page, tenant, group) : NULL;
    if (!entry || !entry->n_steps || entry->n_commits > n_commits)
        return 0;
    value.n_steps = entry->n_steps;
    value.has_windows = entry->has_windows;
    if ((part & SLOTCACHE_ROLLUP && copy(entry, 0, entry->rollup_len, arena, &value.rollup, err) < 0) ||
        (part & SLOTCACHE_WINDOWS &&
         copy(entry, entry->rollup_len, entry->windows_len, arena, &value.windows, err) < 0))
        return -1;
    *ret_value = value;
    return 0;
}

size_t slotcache_bytes(struct slotcache *cache)
{
    if (!cache)
        return 0;
    LOCK_SCOPE(&cache->lock);
    return cache->bytes;
}
