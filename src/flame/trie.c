// SPDX-License-Identifier: Apache-2.0
#include "flame/trie.h"

#include "base/hash.h"
#include "base/memory.h"

#define FIRST_NODES 64u
#define FIRST_SLOTS 128u
#define MOST_NODES  (1u << 30)

int trie_init(struct trie *trie, uint32_t max_nodes, struct error *err)
{
    *trie = (struct trie){ .max = max_nodes ? MIN(max_nodes, MOST_NODES) : MOST_NODES };
    trie->nodes = memory_alloc(FIRST_NODES * sizeof(*trie->nodes), err);
    trie->slots = trie->nodes ? memory_alloc_zero(FIRST_SLOTS * sizeof(*trie->slots), err) : NULL;
    if (!trie->slots) {
        trie_done(trie);
        return -1;
    }
    trie->capacity = FIRST_NODES;
    trie->mask = FIRST_SLOTS - 1;
    trie->nodes[TRIE_ROOT] = (struct trie_node){ TRIE_ROOT, 0 };
    trie->n = 1;
    return 0;
}

void trie_done(struct trie *trie)
{
    memory_free(trie->nodes);
    memory_free(trie->slots);
    *trie = (struct trie){ 0 };
}

/* The slot that holds the child, or the empty one where it belongs. At least a quarter of all slots is empty. */
static uint32_t *slot_of(const struct trie_node *nodes, uint32_t *slots, uint32_t mask, uint32_t parent, uint32_t key)
{
    uint32_t at = (uint32_t)hash_mix64((uint64_t)parent << 32 | key) & mask;

    while (slots[at] && (nodes[slots[at]].parent != parent || nodes[slots[at]].key != key))
        at = (at + 1) & mask;
    return &slots[at];
}

uint32_t trie_find(const struct trie *trie, uint32_t parent, uint32_t key)
{
    uint32_t node = *slot_of(trie->nodes, trie->slots, trie->mask, parent, key);

    return node ? node : TRIE_NONE;
}

static int grow_nodes(struct trie *trie, struct error *err)
{
    uint32_t capacity = (uint32_t)MIN((uint64_t)trie->capacity * 2, (uint64_t)trie->max);
    struct trie_node *nodes = memory_realloc(trie->nodes, (size_t)capacity * sizeof(*nodes), err);

    if (!nodes)
        return -1;
    trie->nodes = nodes;
    trie->capacity = capacity;
    return 0;
}

static int grow_slots(struct trie *trie, struct error *err)
{
    size_t n_slots = ((size_t)trie->mask + 1) * 2;
    uint32_t mask = (uint32_t)(n_slots - 1);
    uint32_t *slots = memory_alloc_zero(n_slots * sizeof(*slots), err);

    if (!slots)
        return -1;
    for (uint32_t node = 1; node < trie->n; node++)
        *slot_of(trie->nodes, slots, mask, trie->nodes[node].parent, trie->nodes[node].key) = node;
    memory_free(trie->slots);
    trie->slots = slots;
    trie->mask = mask;
    return 0;
}

int trie_add(struct trie *trie, uint32_t parent, uint32_t key, uint32_t *ret_node, struct error *err)
{
    uint32_t *slot = slot_of(trie->nodes, trie->slots, trie->mask, parent, key);

    DEBUG_ASSERT(parent < trie->n);
    if (!*slot) {
        if (trie->n >= trie->max)
            return error_set(err, ERR_LIMIT, "a call tree of more than %u nodes", trie->max);
        if (trie->n == trie->capacity && grow_nodes(trie, err) < 0)
            return -1;
        if (trie->n * UINT64_C(4) > (trie->mask + UINT64_C(1)) * 3) {
            if (grow_slots(trie, err) < 0)
                return -1;
            slot = slot_of(trie->nodes, trie->slots, trie->mask, parent, key);
        }
        trie->nodes[trie->n] = (struct trie_node){ parent, key };
        *slot = trie->n++;
    }
    *ret_node = *slot;
    return 0;
}

size_t trie_bytes(const struct trie *trie)
{
    return (size_t)trie->capacity * sizeof(*trie->nodes) + ((size_t)trie->mask + 1) * sizeof(*trie->slots);
}
