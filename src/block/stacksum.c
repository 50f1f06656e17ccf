// SPDX-License-Identifier: Apache-2.0
/* A page is 64 bytes that say which ids it has, and then their sums, those of one id behind those of another. Bytes and not
 * bits, since ids that follow each other would wait for each other's bits. */
#include "block/stacksum.h"

#include "base/memory.h"

#define PAGE_BITS  6u
#define PAGE_IDS   (1u << PAGE_BITS)
#define HEAD       (PAGE_IDS / sizeof(int64_t)) /* numbers in front of the sums */
#define MIN_PLACES 1024u

static size_t page_numbers(const struct stacksum *sum)
{
    return HEAD + (size_t)PAGE_IDS * sum->n_types;
}

void stacksum_init(struct stacksum *sum, uint32_t n_types, size_t max_bytes)
{
    ASSERT(n_types <= PROFILE_MAX_TYPES);
    *sum = (struct stacksum){ .n_types = n_types };
    sum->max_places = (uint32_t)MAX(MIN(max_bytes / 4 / sizeof(*sum->places), UINT32_MAX >> PAGE_BITS), MIN_PLACES);
    sum->max_pages = MAX(max_bytes / (page_numbers(sum) * sizeof(*sum->pages)), 1u);
}

void stacksum_done(struct stacksum *sum)
{
    memory_free(sum->places);
    memory_free(sum->pages);
    sum->places = NULL;
    sum->pages = NULL;
    sum->n_places = 0;
    sum->n_pages = sum->capacity = 0;
}

/* --- pages --- */

static int grow_places(struct stacksum *sum, uint32_t n, struct error *err)
{
    uint32_t bigger = MIN(MAX(MAX(n, sum->n_places * 2), MIN_PLACES), sum->max_places);
    uint32_t *places = memory_realloc(sum->places, bigger * sizeof(*places), err);

    if (!places)
        return -1;
    memset(places + sum->n_places, 0, (bigger - sum->n_places) * sizeof(*places));
    sum->places = places;
    sum->n_places = bigger;
    return 0;
}

static int grow_pages(struct stacksum *sum, struct error *err)
{
    size_t bigger = MIN(MAX(sum->capacity * 2, (size_t)16), sum->max_pages);
    int64_t *pages = memory_realloc(sum->pages, bigger * page_numbers(sum) * sizeof(*pages), err);

    if (!pages)
        return -1;
    sum->pages = pages;
    sum->capacity = bigger;
    return 0;
}

/* Makes page `number` if there is room for it. */
static int make_page(struct stacksum *sum, uint32_t number, bool *ret_has, struct error *err)
{
    uint32_t place;

    if (!sum->n_pages)
        sum->first = number < sum->max_places ? 0 : number;
    place = number - sum->first;
    *ret_has = number >= sum->first && place < sum->max_places && sum->n_pages < sum->max_pages;
    if (!*ret_has)
        return 0;
    if ((place >= sum->n_places && grow_places(sum, place + 1, err) < 0) ||
        (sum->n_pages >= sum->capacity && grow_pages(sum, err) < 0))
        return -1;
    memset(sum->pages + sum->n_pages * page_numbers(sum), 0, page_numbers(sum) * sizeof(*sum->pages));
    sum->places[place] = (uint32_t)++sum->n_pages;
    return 0;
}

/* Whether there is a page. */
static bool has_page(const struct stacksum *sum, uint32_t number)
{
    uint32_t place = number - sum->first; /* of pages before the first: a huge one */

    return place < sum->n_places && sum->places[place];
}

/* --- adding --- */

/* Adds as many as there are pages for, and says behind the last. The sums of a stack are added all or none. What does not
 * change is named here, since bytes that are written might be anything to the compiler. */
static ALWAYS_INLINE uint32_t add_known(struct stacksum *sum, const struct rollup *rollup, uint32_t at,
                                        uint32_t n_types)
{
    const uint32_t *stacks = rollup->stacks, *places = sum->places;
    const int64_t *values = rollup->sums;
    int64_t *pages = sum->pages;
    size_t numbers = HEAD + (size_t)PAGE_IDS * n_types, n = rollup->n_stacks;
    uint32_t first = sum->first, n_places = sum->n_places;

    for (; at < n; at++) {
        uint32_t id = stacks[at], place = (id >> PAGE_BITS) - first;
        int64_t *page, *sums, added[PROFILE_MAX_TYPES];
        bool is_over = false;

        if (UNLIKELY(place >= n_places || !places[place]))
            break;
        page = pages + (places[place] - 1) * numbers;
        sums = page + HEAD + (size_t)(id % PAGE_IDS) * n_types;
        for (uint32_t type = 0; type < n_types; type++)
            is_over |= __builtin_add_overflow(sums[type], values[type * n + at], &added[type]);
        if (UNLIKELY(is_over))
            break;
        for (uint32_t type = 0; type < n_types; type++)
            sums[type] = added[type];
        ((char *)page)[id % PAGE_IDS] = 1;
    }
    return at;
}

/* Most profiles have one, two or four types: for these the compiler knows how many. */
static uint32_t add_some(struct stacksum *sum, const struct rollup *rollup, uint32_t at)
{
    switch (sum->n_types) {
    case 1: return add_known(sum, rollup, at, 1);
    case 2: return add_known(sum, rollup, at, 2);
    case 4: return add_known(sum, rollup, at, 4);
    default: return add_known(sum, rollup, at, sum->n_types);
    }
}

int stacksum_add(struct stacksum *sum, const struct rollup *rollup, uint32_t *at, struct error *err)
{
    ASSERT(rollup->n_types == sum->n_types);
    for (;;) {
        uint32_t number;
        bool has;

        *at = add_some(sum, rollup, *at);
        if (*at == rollup->n_stacks)
            return 0;
        number = rollup->stacks[*at] >> PAGE_BITS;
        if (has_page(sum, number))
            return 0; /* the sum would pass 64 bits */
        if (make_page(sum, number, &has, err) < 0)
            return -1;
        if (!has)
            return 0;
    }
}

/* --- taking --- */

static uint32_t count_stacks(const struct stacksum *sum)
{
    uint32_t n = 0;

    for (size_t i = 0; i < sum->n_pages; i++) {
        const char *has = (const char *)(sum->pages + i * page_numbers(sum));

        for (uint32_t id = 0; id < PAGE_IDS; id++)
            n += (uint32_t)has[id];
    }
    return n;
}

/* The stacks of a page, from place `n` on; returns behind the last. */
static uint32_t take_page(const struct stacksum *sum, const int64_t *page, uint32_t first_id, uint32_t n,
                          struct rollup *rollup)
{
    const char *has = (const char *)page;

    for (uint32_t id = 0; id < PAGE_IDS; id++) {
        if (!has[id])
            continue;
        rollup->stacks[n] = first_id + id;
        for (uint32_t type = 0; type < sum->n_types; type++)
            rollup->sums[(size_t)type * rollup->n_stacks + n] = page[HEAD + (size_t)id * sum->n_types + type];
        n++;
    }
    return n;
}

int stacksum_take(struct stacksum *sum, struct arena *arena, struct rollup *rollup, struct error *err)
{
    uint32_t n_stacks = count_stacks(sum), n = 0;
    uint32_t *stacks = ARENA_ARRAY(arena, uint32_t, n_stacks, err);
    int64_t *sums = ARENA_ARRAY(arena, int64_t, (size_t)n_stacks * sum->n_types, err);

    if (!stacks || !sums)
        return -1;
    rollup->n_types = sum->n_types;
    rollup->n_stacks = n_stacks;
    rollup->stacks = stacks;
    rollup->sums = sums;
    for (uint32_t place = 0; place < sum->n_places; place++) {
        if (!sum->places[place])
            continue;
        n = take_page(sum, sum->pages + (sum->places[place] - 1) * page_numbers(sum), (sum->first + place) << PAGE_BITS,
                      n, rollup);
        sum->places[place] = 0;
    }
    sum->n_pages = 0;
    return 0;
}
