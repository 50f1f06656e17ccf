// SPDX-License-Identifier: Apache-2.0
#include "tree/calltree.h"

#include "base/memory.h"

#include <stdlib.h>

enum { MAX_SOURCES = 4096 };
#define MAX_ITEMS (UINT32_MAX - 1)

/* --- trees --- */

void calltree_init(struct calltree *tree)
{
    *tree = (struct calltree){ 0 };
    hash_set_init(&tree->paths, 0);
}

static void free_index(struct calltree *tree)
{
    memory_free(tree->keys);
    memory_free(tree->ends);
    memory_free(tree->bases);
    memory_free(tree->offsets);
    memory_free(tree->order);
    memory_free(tree->recursive);
}

void calltree_done(struct calltree *tree)
{
    hash_set_done(&tree->paths);
    VEC_EACH (&tree->sources, source) {
        idmap_done(&source->stacks);
        VEC_DONE(&source->open_ids);
    }
    VEC_DONE(&tree->sources);
    VEC_DONE(&tree->new_keys);
    VEC_DONE(&tree->new_paths);
    free_index(tree);
    *tree = (struct calltree){ 0 };
}

size_t calltree_bytes(const struct calltree *tree)
{
    size_t bytes = hash_set_bytes(&tree->paths) + ((size_t)tree->n_nodes * 2 + tree->n_indexed) * sizeof(uint32_t) +
                   ((size_t)tree->n_nodes / 256 + 1) * sizeof(uint32_t) + tree->n_nodes + tree->n_nodes / 8 +
                   tree->new_keys.capacity * sizeof(uint32_t) + tree->new_paths.capacity * sizeof(struct calltree_path);

    for (size_t i = 0; i < tree->sources.n; i++)
        bytes +=
            idmap_bytes(&tree->sources.items[i].stacks) + tree->sources.items[i].open_ids.capacity * sizeof(uint32_t);
    return bytes;
}

static struct calltree_source *find_source(const struct calltree *tree, uint64_t identity)
{
    for (size_t i = 0; i < tree->sources.n; i++)
        if (tree->sources.items[i].identity == identity)
            return &tree->sources.items[i];
    return NULL;
}

void calltree_find(const struct calltree *tree, uint64_t identity, const uint32_t *ids, uint32_t n,
                   uint32_t *ret_stacks)
{
    const struct calltree_source *source = find_source(tree, identity);

    idmap_find(source ? &source->stacks : &(const struct idmap){ 0 }, ids, n, ret_stacks);
}

static struct calltree_source *source_of(struct calltree *tree, uint64_t identity, struct error *err)
{
    struct calltree_source *source = find_source(tree, identity);

    if (source)
        return source;
    source = VEC_PUSH(&tree->sources, MAX_SOURCES, err);
    if (source)
        *source = (struct calltree_source){ .identity = identity };
    return source;
}

/* Appends the keys of a stack: its frames from the root, each with its functions from the outermost. */
static int append_path(struct calltree *tree, const struct tables *tables, const struct symbolset_frames *frames,
                       uint32_t stack, struct error *err)
{
    size_t first_key = tree->new_keys.n;
    uint32_t depth;
    const uint32_t *ids = tables_stack(tables, stack, &depth);

    for (uint32_t i = depth; i > 0; i--) {
        uint32_t first = frames->starts[ids[i - 1]], end = frames->starts[ids[i - 1] + 1];

        for (uint32_t k = end; k > first && tree->new_keys.n - first_key < CALLTREE_MAX_DEPTH; k--) {
            uint32_t *key = VEC_PUSH(&tree->new_keys, MAX_ITEMS, err);

            if (!key)
                return -1;
            *key = frames->ids[k - 1] * 2 + (k < end);
        }
    }
    return 0;
}

/* The number of the path at the end of new_keys, from `start` on; a path that is known is taken off again. */
static int number_path(struct calltree *tree, size_t start, uint32_t *ret_stack, struct error *err)
{
    size_t len = tree->new_keys.n - start;
    struct hash128 hash =
        hash_bytes(slice_of(len ? tree->new_keys.items + start : NULL, len * sizeof(*tree->new_keys.items)), 0);
    struct calltree_path *path;
    bool is_new;

    if (VEC_RESERVE(&tree->new_paths, 1, MAX_ITEMS, err) < 0 ||
        hash_set_add(&tree->paths, hash, ret_stack, &is_new, err) < 0)
        return -1;
    if (!is_new) {
        tree->new_keys.n = start;
        return 0;
    }
    path = &tree->new_paths.items[tree->new_paths.n++];
    *path = (struct calltree_path){ (uint32_t)start, (uint32_t)len, *ret_stack };
    return 0;
}

int calltree_add(struct calltree *tree, uint64_t identity, uint32_t id, const struct tables *tables,
                 const struct symbolset_frames *frames, uint32_t stack, bool is_open, uint32_t *ret_stack,
                 struct error *err)
{
    struct calltree_source *source = source_of(tree, identity, err);
    size_t start = tree->new_keys.n;
    uint32_t number;

    if (!source || (is_open && VEC_RESERVE(&source->open_ids, 1, MAX_ITEMS, err) < 0))
        return -1;
    if (append_path(tree, tables, frames, stack, err) < 0 || number_path(tree, start, &number, err) < 0) {
        tree->new_keys.n = start;
        return -1;
    }
    if (idmap_add(&source->stacks, id, number, err) < 0)
        return -1;
    if (is_open)
        source->open_ids.items[source->open_ids.n++] = id;
    *ret_stack = number;
    return 0;
}

void calltree_reopen(struct calltree *tree)
{
    VEC_EACH (&tree->sources, source) {
        VEC_EACH (&source->open_ids, id)
            idmap_forget(&source->stacks, *id);
        source->open_ids.n = 0;
    }
}

/* --- the index --- */

/* The old index and the new paths, in order, become the new index. */
struct merging {
    const struct calltree *tree;
    const struct calltree_path *paths; /* sorted */
    uint32_t n_nodes, n_stacks;        /* so far */
    uint32_t *keys, *ends, *order;
    uint32_t *bases;
    uint8_t *offsets;
    uint64_t *recursive;
    uint16_t *n_on_path; /* [symbol] nodes between the root and the one at hand that have it */
};

static void set_recursive(struct merging *m, uint32_t node, bool is_recursive)
{
    m->recursive[node / 64] |= (uint64_t)is_recursive << node % 64;
}

static int by_keys(const void *x, const void *y, void *context)
{
    const struct calltree_path *a = x, *b = y;
    const uint32_t *keys = context;

    for (uint32_t i = 0; i < a->len && i < b->len; i++)
        if (keys[a->start + i] != keys[b->start + i])
            return keys[a->start + i] < keys[b->start + i] ? -1 : 1;
    return a->len < b->len ? -1 : a->len > b->len;
}

static void put_stack(struct merging *m, uint32_t stack)
{
    m->order[m->n_stacks++] = stack;
}

/* Says that `n_stacks` stacks are before a node; nodes come in order, and have at most one each. */
static void put_first(struct merging *m, uint32_t node, uint32_t n_stacks)
{
    if (node % 256 == 0)
        m->bases[node / 256] = n_stacks;
    m->offsets[node] = (uint8_t)(n_stacks - m->bases[node / 256]);
}

/* Copies the subtree of an old node as it is. */
static void copy_subtree(struct merging *m, uint32_t node)
{
    const struct calltree *old = m->tree;
    uint32_t end = old->ends[node], first = calltree_first(old, node), n_stacks = calltree_first(old, end) - first;
    uint32_t shift = m->n_nodes - node, stack_shift = m->n_stacks - first; /* these may wrap, and wrap back */

    memcpy(m->keys + m->n_nodes, old->keys + node, (end - node) * sizeof(*m->keys));
    for (uint32_t i = node; i < end; i++) {
        m->ends[i + shift] = old->ends[i] + shift;
        put_first(m, i + shift, calltree_first(old, i) + stack_shift);
        set_recursive(m, i + shift, calltree_is_recursive(old, i));
    }
    memcpy(m->order + m->n_stacks, old->order + first, n_stacks * sizeof(*m->order));
    m->n_nodes += end - node;
    m->n_stacks += n_stacks;
}

static uint32_t key_at(const struct merging *m, uint32_t path, uint32_t depth)
{
    return m->tree->new_keys.items[m->paths[path].start + depth];
}

/* Puts a node with this key: the old one (CALLTREE_NONE: none) and the new paths [from, until), which all lead to it and have
 * `depth` keys so far. Depth is bounded by CALLTREE_MAX_DEPTH. */
static void merge_node(struct merging *m, uint32_t key, uint32_t old_node, uint32_t from, uint32_t until,
                       uint32_t depth)
{
    const struct calltree *old = m->tree;
    uint32_t node = m->n_nodes++, child = 0, end = 0;

    m->keys[node] = key;
    put_first(m, node, m->n_stacks);
    if (depth) /* the root has no symbol */
        set_recursive(m, node, m->n_on_path[key / 2]++ > 0);
    if (old_node != CALLTREE_NONE) {
        child = old_node + 1;
        end = old->ends[old_node];
        if (calltree_first(old, old_node + 1) > calltree_first(old, old_node))
            put_stack(m, old->order[calltree_first(old, old_node)]);
    }
    if (from < until && m->paths[from].len == depth)
        put_stack(m, m->paths[from++].stack);
    while (child < end || from < until) {
        uint32_t next = from;

        if (from == until || (child < end && old->keys[child] < key_at(m, from, depth))) {
            copy_subtree(m, child);
            child = old->ends[child];
            continue;
        }
        while (next < until && key_at(m, next, depth) == key_at(m, from, depth))
            next++;
        if (child < end && old->keys[child] == key_at(m, from, depth)) {
            merge_node(m, old->keys[child], child, from, next, depth + 1);
            child = old->ends[child];
        } else
            merge_node(m, key_at(m, from, depth), CALLTREE_NONE, from, next, depth + 1);
        from = next;
    }
    m->ends[node] = m->n_nodes;
    if (depth)
        m->n_on_path[key / 2]--;
}

/* At most so many nodes: each new path adds what it does not share with the one before it. */
static size_t count_nodes(const struct calltree *tree, const struct calltree_path *paths, size_t n)
{
    size_t n_nodes = MAX(tree->n_nodes, 1u);

    for (size_t i = 0; i < n; i++) {
        uint32_t shared = 0;

        while (i > 0 && shared < paths[i].len && shared < paths[i - 1].len &&
               tree->new_keys.items[paths[i].start + shared] == tree->new_keys.items[paths[i - 1].start + shared])
            shared++;
        n_nodes += paths[i].len - shared;
    }
    return n_nodes;
}

/* Room for a new index of at most so many nodes. */
static int make_room(const struct calltree *tree, size_t n_nodes, struct merging *m, struct error *err)
{
    uint32_t n_symbols = 1;

    for (uint32_t i = 0; i < tree->n_nodes; i++)
        n_symbols = MAX(n_symbols, tree->keys[i] / 2 + 1);
    for (size_t i = 0; i < tree->new_keys.n; i++)
        n_symbols = MAX(n_symbols, tree->new_keys.items[i] / 2 + 1);
    m->n_on_path = memory_alloc_zero(n_symbols * sizeof(*m->n_on_path), err);
    m->keys = m->n_on_path ? memory_alloc(n_nodes * sizeof(uint32_t), err) : NULL;
    m->ends = m->keys ? memory_alloc(n_nodes * sizeof(uint32_t), err) : NULL;
    m->bases = m->ends ? memory_alloc((n_nodes / 256 + 1) * sizeof(uint32_t), err) : NULL;
    m->offsets = m->bases ? memory_alloc(n_nodes + 1, err) : NULL;
    m->order = m->offsets ? memory_alloc(((size_t)tree->paths.n + 1) * sizeof(uint32_t), err) : NULL;
    m->recursive = m->order ? memory_alloc_zero((n_nodes / 64 + 1) * sizeof(uint64_t), err) : NULL;
    return m->recursive ? 0 : -1;
}

static void *shrink(void *array, size_t bytes)
{
    struct error err;
    void *smaller = memory_realloc(array, MAX(bytes, 1u), &err);

    return smaller ? smaller : array;
}

int calltree_index(struct calltree *tree, struct error *err)
{
    struct merging m = { .tree = tree, .paths = tree->new_paths.items };
    size_t n_nodes;

    VEC_EACH (&tree->sources, source)
        if (idmap_settle(&source->stacks, err) < 0)
            return -1;
    if (tree->n_nodes && !tree->new_paths.n)
        return 0;
    if (tree->new_paths.n)
        qsort_r(tree->new_paths.items, tree->new_paths.n, sizeof(*tree->new_paths.items), by_keys,
                tree->new_keys.items);
    n_nodes = count_nodes(tree, tree->new_paths.items, tree->new_paths.n);
    if (n_nodes >= MAX_ITEMS)
        return error_set(err, ERR_LIMIT, "a call tree of more than %u nodes", MAX_ITEMS);
    if (make_room(tree, n_nodes, &m, err) < 0) {
        memory_free(m.n_on_path);
        memory_free(m.keys);
        memory_free(m.ends);
        memory_free(m.bases);
        memory_free(m.offsets);
        memory_free(m.order);
        return -1;
    }
    merge_node(&m, 0, tree->n_nodes ? 0 : CALLTREE_NONE, 0, (uint32_t)tree->new_paths.n, 0);
    put_first(&m, m.n_nodes, m.n_stacks);
    free_index(tree);
    tree->n_nodes = m.n_nodes;
    tree->n_indexed = m.n_stacks;
    tree->keys = shrink(m.keys, m.n_nodes * sizeof(uint32_t));
    tree->ends = shrink(m.ends, m.n_nodes * sizeof(uint32_t));
    tree->bases = shrink(m.bases, ((size_t)m.n_nodes / 256 + 1) * sizeof(uint32_t));
    tree->offsets = shrink(m.offsets, (size_t)m.n_nodes + 1);
    tree->order = m.order;
    tree->recursive = m.recursive;
    memory_free(m.n_on_path);
    VEC_DONE(&tree->new_keys);
    VEC_DONE(&tree->new_paths);
    return 0;
}
