// SPDX-License-Identifier: Apache-2.0
#include "store/idset.h"

#include "base/hash.h"

#include <stdlib.h>

#define PAGE_BITS   12
#define PAGE_WORDS  (1u << (PAGE_BITS - 6))
#define FIRST_SLOTS 16u

struct idset_page {
    uint32_t number;             /* id >> PAGE_BITS */
    uint32_t before[PAGE_WORDS]; /* ids that are smaller than those of the word */
    uint64_t words[PAGE_WORDS];
};

void idset_init(struct idset *set, struct arena *arena)
{
    *set = (struct idset){ .arena = arena };
}

/* Where the page is, or where it belongs. There is always an empty slot. */
static struct idset_page **find_slot(struct idset_page **slots, uint32_t mask, uint32_t number)
{
    uint32_t i = (uint32_t)hash_mix64(number) & mask;

    while (slots[i] && slots[i]->number != number)
        i = (i + 1) & mask;
    return &slots[i];
}

/* Makes room for one page more. */
static int grow(struct idset *set, struct error *err)
{
    uint32_t n_slots = set->slots ? 2 * (set->mask + 1) : FIRST_SLOTS;
    struct idset_page **slots;

    if (set->slots && set->n_pages < (set->mask + 1) / 2)
        return 0;
    slots = arena_alloc_zero(set->arena, n_slots * sizeof(struct idset_page *), err);
    if (!slots)
        return -1;
    for (uint32_t i = 0; set->slots && i <= set->mask; i++)
        if (set->slots[i])
            *find_slot(slots, n_slots - 1, set->slots[i]->number) = set->slots[i];
    set->slots = slots;
    set->mask = n_slots - 1;
    return 0;
}

static struct idset_page *add_page(struct idset *set, uint32_t number, struct error *err)
{
    struct idset_page *page;

    if (grow(set, err) < 0)
        return NULL;
    page = ARENA_NEW(set->arena, struct idset_page, err);
    if (!page)
        return NULL;
    page->number = number;
    *find_slot(set->slots, set->mask, number) = page;
    set->n_pages++;
    return page;
}

static inline uint32_t word_of(uint32_t id)
{
    return id >> 6 & (PAGE_WORDS - 1);
}

int idset_add(struct idset *set, uint32_t id, struct error *err)
{
    uint32_t number = id >> PAGE_BITS;
    struct idset_page *page;

    if (id == 0)
        return 0;
    page = set->slots ? *find_slot(set->slots, set->mask, number) : NULL;
    if (!page)
        page = add_page(set, number, err);
    if (!page)
        return -1;
    page->words[word_of(id)] |= (uint64_t)1 << (id & 63);
    return 0;
}

static int compare_pages(const void *a, const void *b)
{
    const struct idset_page *x = *(struct idset_page *const *)a, *y = *(struct idset_page *const *)b;

    return (x->number > y->number) - (x->number < y->number);
}

/* The pages in rising order. */
static struct idset_page **sort_pages(const struct idset *set, struct error *err)
{
    struct idset_page **pages = ARENA_ARRAY(set->arena, struct idset_page *, set->n_pages, err);
    uint32_t n = 0;

    if (!pages)
        return NULL;
    for (uint32_t i = 0; set->slots && i <= set->mask; i++)
        if (set->slots[i])
            pages[n++] = set->slots[i];
    qsort(pages, n, sizeof(struct idset_page *), compare_pages);
    return pages;
}

static uint32_t count_ids(struct idset_page *const *pages, uint32_t n_pages)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_pages; i++)
        for (uint32_t word = 0; word < PAGE_WORDS; word++) {
            pages[i]->before[word] = n;
            n += base_count_ones(pages[i]->words[word]);
        }
    return n;
}

static void list_ids(struct idset_page *const *pages, uint32_t n_pages, uint32_t *ids)
{
    for (uint32_t i = 0; i < n_pages; i++)
        for (uint32_t word = 0; word < PAGE_WORDS; word++)
            for (uint64_t bits = pages[i]->words[word]; bits; bits &= bits - 1)
                *ids++ = pages[i]->number << PAGE_BITS | word << 6 | (uint32_t)__builtin_ctzll(bits);
}

int idset_freeze(struct idset *set, uint32_t **ret_ids, struct error *err)
{
    struct idset_page **pages = sort_pages(set, err);
    uint32_t *ids;

    if (!pages)
        return -1;
    set->n = count_ids(pages, set->n_pages);
    ids = ARENA_ARRAY(set->arena, uint32_t, set->n, err);
    if (!ids)
        return -1;
    list_ids(pages, set->n_pages, ids);
    *ret_ids = ids;
    return 0;
}

uint32_t idset_place(const struct idset *set, uint32_t id)
{
    const struct idset_page *page;
    uint64_t smaller = ((uint64_t)1 << (id & 63)) - 1;

    if (id == 0)
        return 0;
    page = *find_slot(set->slots, set->mask, id >> PAGE_BITS);
    DEBUG_ASSERT(page && (page->words[word_of(id)] & (smaller + 1)));
    return page->before[word_of(id)] + base_count_ones(page->words[word_of(id)] & smaller) + 1;
}
