// SPDX-License-Identifier: Apache-2.0
#include "join/spantree.h"

#include "base/map.h"

#include <stdlib.h>

/* OTLP's flags of a span: whether it is known that its parent is in another process, and that it is. */
enum { FLAG_HAS_REMOTE = 0x100, FLAG_IS_REMOTE = 0x200 };

/* Spans are known by their places in the list here; all arrays are by place. */
struct growing {
    const struct span *spans;
    uint32_t n;
    uint32_t *order; /* by start */
    struct map first_of_id;
    uint32_t *next_of_id; /* of the same id, in order */
    uint32_t *parents;
    uint32_t *first_child, *next_child; /* in order */
    uint32_t *places;                   /* among the nodes; SPANTREE_NONE = not yet */
};

/* --- order --- */

static int by_start(const void *a, const void *b, void *context)
{
    const struct span *spans = context, *x = &spans[*(const uint32_t *)a], *y = &spans[*(const uint32_t *)b];
    int order;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    /* Of two that start together the longer one is the outer one, mostly. */
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    order = memcmp(x->span_id, y->span_id, SPAN_ID_BYTES);
    return order ? order : (int)x->kind - (int)y->kind;
}

static uint64_t word_of(const uint8_t id[static SPAN_ID_BYTES])
{
    uint64_t word;

    memcpy(&word, id, sizeof(word));
    return word;
}

/* --- parents --- */

/* Those with an id are chained in order: from the last to the first, each goes before the others. */
static int index_ids(struct growing *g, struct error *err)
{
    for (uint32_t i = g->n; i-- > 0;) {
        uint32_t at = g->order[i];
        uint64_t id = word_of(g->spans[at].span_id);
        const uint32_t *first = map_find(&g->first_of_id, id);

        g->next_of_id[at] = first ? *first : SPANTREE_NONE;
        if (map_set(&g->first_of_id, id, at, err) < 0)
            return -1;
    }
    return 0;
}

static uint32_t first_of(const struct growing *g, uint64_t id)
{
    const uint32_t *first = id ? map_find(&g->first_of_id, id) : NULL;

    return first ? *first : SPANTREE_NONE;
}

static bool is_calling(const struct span *span)
{
    return span->kind == SPAN_CLIENT || span->kind == SPAN_PRODUCER;
}

static bool is_of_one_service(const struct span *a, const struct span *b)
{
    return a->resource == b->resource || slice_equal(a->resource->service, b->resource->service);
}

/* The caller's side of a call whose other side this is, with the same id. */
static uint32_t find_caller(const struct growing *g, uint32_t at)
{
    uint32_t twin = first_of(g, word_of(g->spans[at].span_id));

    if (is_calling(&g->spans[at]))
        return SPANTREE_NONE;
    for (uint32_t n = 0; twin != SPANTREE_NONE && n < SPANTREE_MAX_TWINS; twin = g->next_of_id[twin], n++)
        if (twin != at && is_calling(&g->spans[twin]))
            return twin;
    return SPANTREE_NONE;
}

/* W2. */
static uint32_t find_parent(const struct growing *g, uint32_t at)
{
    const struct span *span = &g->spans[at];
    uint32_t found = find_caller(g, at), first = SPANTREE_NONE, called = SPANTREE_NONE;
    uint32_t i = first_of(g, word_of(span->parent_id));

    if (found != SPANTREE_NONE)
        return found;
    for (uint32_t n = 0; i != SPANTREE_NONE && n < SPANTREE_MAX_TWINS; i = g->next_of_id[i], n++) {
        if (i == at)
            continue;
        if (is_of_one_service(&g->spans[i], span))
            return i;
        if (first == SPANTREE_NONE)
            first = i;
        if (called == SPANTREE_NONE && !is_calling(&g->spans[i]))
            called = i;
    }
    return called != SPANTREE_NONE ? called : first;
}

static void link_children(struct growing *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        g->parents[i] = find_parent(g, i);
        g->first_child[i] = SPANTREE_NONE;
    }
    for (uint32_t i = g->n; i-- > 0;) {
        uint32_t at = g->order[i], parent = g->parents[at];

        if (parent == SPANTREE_NONE)
            continue;
        g->next_child[at] = g->first_child[parent];
        g->first_child[parent] = at;
    }
}

/* --- nodes --- */

bool spantree_is_taking_up(const struct span *span)
{
    return span->kind == SPAN_SERVER || span->kind == SPAN_CONSUMER ||
           (span->flags & (FLAG_HAS_REMOTE | FLAG_IS_REMOTE)) == (FLAG_HAS_REMOTE | FLAG_IS_REMOTE);
}

/* W3. */
static bool is_local_root(const struct span *span, const struct span *parent)
{
    return !parent || !is_of_one_service(span, parent) || spantree_is_taking_up(span);
}

static void add_node(struct growing *g, struct spantree *tree, uint32_t at, uint32_t parent)
{
    struct spantree_node *node = &tree->nodes[tree->n];
    const struct span *span = &g->spans[at];
    const struct span *above = parent == SPANTREE_NONE ? NULL : &g->spans[tree->nodes[parent].span];

    *node = (struct spantree_node){ .span = at, .parent = parent };
    node->depth = above ? tree->nodes[parent].depth + 1 : 0;
    node->is_orphan = !above && (word_of(span->parent_id) != 0 || g->parents[at] != SPANTREE_NONE);
    node->is_local_root = is_local_root(span, above);
    g->places[at] = tree->n++;
}

/* Adds a root and all below it: down to the first child that is not there yet, else on to the next brother, else up. */
static void add_root(struct growing *g, struct spantree *tree, uint32_t root)
{
    uint32_t at = root;

    add_node(g, tree, root, SPANTREE_NONE);
    for (;;) {
        uint32_t child = g->first_child[at];

        /* Each child is taken off the list as it is seen, so that the whole walk looks at each once. */
        if (child != SPANTREE_NONE) {
            g->first_child[at] = g->next_child[child];
            if (g->places[child] == SPANTREE_NONE) {
                add_node(g, tree, child, g->places[at]);
                at = child;
            }
        } else if (at == root)
            return;
        else
            at = g->parents[at];
    }
}

/* W1: roots by their start; what is left is in circles, or below them. */
static void add_all(struct growing *g, struct spantree *tree)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->parents[g->order[i]] == SPANTREE_NONE)
            add_root(g, tree, g->order[i]);
    for (uint32_t i = 0; i < g->n && tree->n < g->n; i++)
        if (g->places[g->order[i]] == SPANTREE_NONE)
            add_root(g, tree, g->order[i]);
}

static void count_below(struct spantree *tree)
{
    for (uint32_t i = tree->n; i-- > 0;)
        if (tree->nodes[i].parent != SPANTREE_NONE)
            tree->nodes[tree->nodes[i].parent].n_below += tree->nodes[i].n_below + 1;
}

/* Children come by their start, so what they cover together is found in one pass. `covered_ns` is up to where it is. */
static void cover(const struct span *spans, struct spantree *tree, int64_t *covered_ns)
{
    for (uint32_t i = 0; i < tree->n; i++) {
        const struct span *span = &spans[tree->nodes[i].span];
        uint32_t parent = tree->nodes[i].parent;
        int64_t from_ns, until_ns;

        covered_ns[i] = span->start_ns;
        if (parent == SPANTREE_NONE)
            continue;
        from_ns = MAX(span->start_ns, covered_ns[parent]);
        until_ns = MIN(spantree_end_ns(span), spantree_end_ns(&spans[tree->nodes[parent].span]));
        if (until_ns <= from_ns)
            continue;
        tree->nodes[parent].children_ns += until_ns - from_ns;
        covered_ns[parent] = until_ns;
    }
}

/* --- all of it --- */

static int take_memory(struct growing *g, struct arena *arena, struct error *err)
{
    uint32_t **arrays[] = { &g->order, &g->next_of_id, &g->parents, &g->first_child, &g->next_child, &g->places };

    for (size_t i = 0; i < ARRAY_LEN(arrays); i++) {
        *arrays[i] = ARENA_ARRAY(arena, uint32_t, g->n, err);
        if (!*arrays[i])
            return -1;
    }
    return 0;
}

static int grow(struct growing *g, struct arena *arena, struct spantree *ret_tree, struct error *err)
{
    struct spantree tree = { .nodes = ARENA_ARRAY(arena, struct spantree_node, g->n, err) };
    int64_t *covered_ns = tree.nodes ? ARENA_ARRAY(arena, int64_t, g->n, err) : NULL;

    if (!covered_ns || take_memory(g, arena, err) < 0)
        return -1;
    for (uint32_t i = 0; i < g->n; i++) {
        g->order[i] = i;
        g->places[i] = SPANTREE_NONE;
    }
    if (g->n > 0)
        qsort_r(g->order, g->n, sizeof(*g->order), by_start, (void *)g->spans);
    if (index_ids(g, err) < 0)
        return -1;
    link_children(g);
    add_all(g, &tree);
    count_below(&tree);
    cover(g->spans, &tree, covered_ns);
    *ret_tree = tree;
    return 0;
}

int spantree_build(const struct span *spans, size_t n, struct arena *arena, struct spantree *ret_tree,
                   struct error *err)
{
    struct growing g = { .spans = spans, .n = (uint32_t)n };
    int result;

    if (n > INT32_MAX)
        return error_set(err, ERR_LIMIT, "a trace of %zu spans has too many to be shown", n);
    map_init(&g.first_of_id, 0);
    result = grow(&g, arena, ret_tree, err);
    map_done(&g.first_of_id);
    return result;
}
