// SPDX-License-Identifier: Apache-2.0
/* From sums by node to a flame tree. Several call trees become one: their roots are one root, and children of one node
 * that have the same symbol are one child. Nodes are taken heaviest first, from a heap that holds the children of what
 * was taken, until there are enough. */
#include "base/memory.h"
#include "flame/trim.h"
#include "query/treesum_internal.h"

#include <math.h>
#include <stdlib.h>

/* One tree, with values added up along the order of its stacks (calltree.h, C3). */
struct ordered {
    const struct calltree *calls;
    uint64_t *values;   /* [n_indexed + 1]; differences are right even where sums wrap */
    double *counts;     /* likewise; NULL where raw samples are not known */
    uint32_t *n_others; /* likewise, of those that are not 0; NULL if no value is negative: then the values tell it */
    double divisor;
};

/* A node of one of the trees. */
struct place {
    uint32_t tree, node;
};

/* A node of the answer, or one that waits for being taken. */
struct taken {
    int64_t total;
    uint32_t parent; /* in `taken` */
    uint32_t symbol; /* of the cache */
    uint32_t first_place, n_places;
    uint32_t details; /* of those in the answer, else 0 */
    uint8_t flags;
};

/* What only nodes of the answer have. */
struct details {
    int64_t self, other;
    double count, self_count, other_count;
    uint32_t first_child, next_sibling; /* in `taken`; 0 = none */
    bool has_other;
};

/* In the heap. */
struct waiting {
    uint64_t weight;
    uint32_t item; /* of `taken` */
};

struct child {
    uint32_t key;
    struct place place;
    int64_t total;
};

struct assembly {
    struct treesum *sum;
    struct ordered *trees;
    uint32_t max_nodes; /* UINT32_MAX = all */
    VEC(struct place) places;
    VEC(struct taken) taken;
    VEC(struct details) details;
    VEC(struct waiting) heap;
    VEC(uint64_t) best;         /* a heap of the max_nodes largest weights met so far, the least of them in front */
    VEC(struct child) children; /* of the node at hand */
    VEC(uint32_t) order;        /* likewise, of those in the answer */
    struct symbolset *set;
    uint64_t n_saturated;
};

#define MAX_ITEMS (UINT32_MAX - 1)

/* --- totals --- */

static int put_in_order(const struct treesum *sum, const struct treesum_tree *from, struct ordered *ret_tree,
                        struct arena *arena, struct error *err)
{
    const struct calltree *calls = treecache_tree(from->tree);
    size_t n = calls->n_indexed;
    struct ordered tree = { .calls = calls, .divisor = from->columns.divisor };

    tree.values = ARENA_ARRAY(arena, uint64_t, n + 1, err);
    if (!tree.values || (from->counts && !(tree.counts = ARENA_ARRAY(arena, double, n + 1, err))) ||
        (sum->has_negative && !(tree.n_others = ARENA_ARRAY(arena, uint32_t, n + 1, err))))
        return -1;
    tree.values[0] = 0;
    if (tree.counts)
        tree.counts[0] = 0;
    if (tree.n_others)
        tree.n_others[0] = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t stack = calls->order[i];
        bool is_ours = stack < from->n; /* others may have added some that we have no values for */
        int64_t value = !is_ours ? 0 : from->levels ? llround(from->levels[stack]) : from->values[stack];

        tree.values[i + 1] = tree.values[i] + (uint64_t)value;
        if (tree.counts)
            tree.counts[i + 1] = tree.counts[i] + (is_ours ? from->counts[stack] : 0);
        if (tree.n_others)
            tree.n_others[i + 1] = tree.n_others[i] + (value != 0);
    }
    *ret_tree = tree;
    return 0;
}

/* What the stacks at nodes [from, until) come to. */
static inline int64_t value_between(const struct ordered *tree, uint32_t from, uint32_t until)
{
    return (int64_t)(tree->values[calltree_first(tree->calls, until)] -
                     tree->values[calltree_first(tree->calls, from)]);
}

static double count_between(const struct ordered *tree, uint32_t from, uint32_t until)
{
    if (!tree->counts)
        return 0;
    return (tree->counts[calltree_first(tree->calls, until)] - tree->counts[calltree_first(tree->calls, from)]) /
           tree->divisor;
}

/* The stacks at and below a node. */
static inline int64_t total_of(const struct ordered *tree, uint32_t node)
{
    return value_between(tree, node, tree->calls->ends[node]);
}

static bool has_values(const struct ordered *tree, uint32_t node, int64_t total)
{
    const struct calltree *calls = tree->calls;

    return total || (tree->n_others && tree->n_others[calltree_first(calls, calls->ends[node])] !=
                                           tree->n_others[calltree_first(calls, node)]);
}

/* --- the heap --- */

static uint64_t weight_of(const struct assembly *a, uint32_t item)
{
    return flame_magnitude(a->taken.items[item].total);
}

/* The heavier comes first; of equal ones the one that was met first. */
static bool is_before(struct waiting x, struct waiting y)
{
    return x.weight != y.weight ? x.weight > y.weight : x.item < y.item;
}

static int push(struct assembly *a, uint32_t item, struct error *err)
{
    struct waiting new = { weight_of(a, item), item };
    size_t at = a->heap.n;

    if (!VEC_PUSH(&a->heap, MAX_ITEMS, err))
        return -1;
    for (; at > 0 && is_before(new, a->heap.items[(at - 1) / 2]); at = (at - 1) / 2)
        a->heap.items[at] = a->heap.items[(at - 1) / 2];
    a->heap.items[at] = new;
    return 0;
}

static uint32_t pop(struct assembly *a)
{
    struct waiting first = a->heap.items[0], last = a->heap.items[--a->heap.n];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < a->heap.n && is_before(a->heap.items[child + 1], a->heap.items[child]))
            child++;
        if (child >= a->heap.n || !is_before(a->heap.items[child], last))
            break;
        a->heap.items[at] = a->heap.items[child];
        at = child;
    }
    a->heap.items[at] = last;
    return first.item;
}

/* Whether a node of this weight can still be among those that are taken: there are not enough heavier ones yet. */
static int note_weight(struct assembly *a, uint64_t weight, bool *ret_can, struct error *err)
{
    size_t at = a->best.n;

    *ret_can = true;
    if (a->max_nodes == UINT32_MAX)
        return 0;
    if (at < a->max_nodes) {
        if (!VEC_PUSH(&a->best, MAX_ITEMS, err))
            return -1;
        for (; at > 0 && weight < a->best.items[(at - 1) / 2]; at = (at - 1) / 2)
            a->best.items[at] = a->best.items[(at - 1) / 2];
        a->best.items[at] = weight;
        return 0;
    }
    *ret_can = weight > a->best.items[0];
    for (at = 0; *ret_can;) {
        size_t child = 2 * at + 1;

        if (child + 1 < a->best.n && a->best.items[child + 1] < a->best.items[child])
            child++;
        if (child >= a->best.n || weight <= a->best.items[child])
            break;
        a->best.items[at] = a->best.items[child];
        at = child;
    }
    if (*ret_can)
        a->best.items[at] = weight;
    return 0;
}

/* --- children --- */

/* Whether the sibling before or behind is the same function, one of the two inlined: they are one node. 0 = none before. */
static bool has_twin(const struct calltree *calls, uint32_t before, uint32_t child, uint32_t end)
{
    uint32_t symbol = calls->keys[child] / 2, next = calls->ends[child];

    return (next < end && calls->keys[next] / 2 == symbol) || (before && calls->keys[before] / 2 == symbol);
}

static int by_key(const void *x, const void *y)
{
    const struct child *a = x, *b = y;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->place.tree < b->place.tree ? -1 : a->place.tree > b->place.tree;
}

/* The weight up to which a child alone cannot be among those that are taken. */
static uint64_t least_weight(const struct assembly *a)
{
    return a->max_nodes != UINT32_MAX && a->best.n == a->max_nodes ? a->best.items[0] : 0;
}

/* The children of all places of the node that have values, by key. Of a node in one tree alone, those that are too light
 * are left out; then no value is negative, so that "other" is what is missing. */
static int gather(struct assembly *a, const struct taken *node, struct error *err)
{
    uint64_t least = node->n_places == 1 ? least_weight(a) : 0;

    a->children.n = 0;
    for (uint32_t i = 0; i < node->n_places; i++) {
        struct place place = a->places.items[node->first_place + i];
        const struct ordered *tree = &a->trees[place.tree];
        const struct calltree *calls = tree->calls;
        uint32_t end = calls->ends[place.node];

        /* What stands before a child, and before the next one: the difference is the child's. */
        uint64_t before = tree->values[calltree_first(calls, place.node + 1)], behind;

        for (uint32_t sibling = 0, child = place.node + 1, next; child < end;
             sibling = child, child = next, before = behind) {
            struct child *slot;
            int64_t total;

            next = calls->ends[child];
            behind = tree->values[calltree_first(calls, next)];
            total = (int64_t)(behind - before);

            if (least ? (uint64_t)total <= least && !has_twin(calls, sibling, child, end)
                      : !has_values(tree, child, total))
                continue;
            slot = VEC_PUSH(&a->children, MAX_ITEMS, err);
            if (!slot)
                return -1;
            *slot = (struct child){ calls->keys[child], { place.tree, child }, total };
        }
    }
    if (a->children.n > 1 && node->n_places > 1)
        qsort(a->children.items, a->children.n, sizeof(*a->children.items), by_key);
    return 0;
}

/* Children [from, until) have one symbol: one node, which waits if it may be heavy enough; else it is part of "other". */
static int add_child(struct assembly *a, uint32_t parent, size_t from, size_t until, struct error *err)
{
    bool is_inlined = a->children.items[until - 1].key & 1, is_plain = !(a->children.items[from].key & 1), can;
    struct taken *item;
    int64_t total = 0;

    for (size_t i = from; i < until; i++)
        total = value_add(total, a->children.items[i].total, &a->n_saturated);
    if (note_weight(a, flame_magnitude(total), &can, err) < 0)
        return -1;
    if (!can)
        return 0;
    item = VEC_PUSH(&a->taken, MAX_ITEMS, err);
    if (!item)
        return -1;
    *item = (struct taken){ .total = total,
                            .parent = parent,
                            .symbol = a->children.items[from].key / 2,
                            .first_place = (uint32_t)a->places.n,
                            .n_places = (uint32_t)(until - from),
                            .flags = is_inlined && is_plain ? FLAME_IS_PARTLY_INLINED
                                     : is_inlined           ? FLAME_IS_INLINED
                                                            : 0 };
    for (size_t i = from; i < until; i++) {
        struct place *place = VEC_PUSH(&a->places, MAX_ITEMS, err);

        if (!place)
            return -1;
        *place = a->children.items[i].place;
    }
    return push(a, (uint32_t)a->taken.n - 1, err);
}

/* Takes a node into the answer; its children wait. */
static int take(struct assembly *a, uint32_t number, struct error *err)
{
    struct details *details = VEC_PUSH(&a->details, MAX_ITEMS, err);
    struct taken *node = &a->taken.items[number];
    size_t from = 0;

    if (!details)
        return -1;
    *details = (struct details){ 0 };
    for (uint32_t i = 0; i < node->n_places; i++) {
        struct place place = a->places.items[node->first_place + i];
        const struct ordered *tree = &a->trees[place.tree];

        details->count += count_between(tree, place.node, tree->calls->ends[place.node]);
        details->self = value_add(details->self, value_between(tree, place.node, place.node + 1), &a->n_saturated);
        details->self_count += count_between(tree, place.node, place.node + 1);
    }
    /* Until they are taken, all children are others. */
    details->other = value_add(node->total, -details->self, &a->n_saturated);
    details->other_count = details->count - details->self_count;
    details->has_other = details->other != 0;
    node->details = (uint32_t)a->details.n - 1;
    if (number) {
        struct details *parent = &a->details.items[a->taken.items[node->parent].details];

        parent->other = value_add(parent->other, -node->total, &a->n_saturated);
        parent->other_count -= details->count;
        parent->has_other = parent->other != 0;
        details->next_sibling = parent->first_child;
        parent->first_child = number;
    }
    if (gather(a, node, err) < 0)
        return -1;
    for (size_t i = 1; i <= a->children.n; i++) {
        if (i < a->children.n && a->children.items[i].key / 2 == a->children.items[from].key / 2)
            continue;
        if (add_child(a, number, from, i, err) < 0)
            return -1;
        from = i;
    }
    return 0;
}

static int take_root(struct assembly *a, struct error *err)
{
    struct taken *root = VEC_PUSH(&a->taken, MAX_ITEMS, err);

    if (!root)
        return -1;
    *root = (struct taken){ .n_places = (uint32_t)a->sum->trees.n };
    for (uint32_t i = 0; i < a->sum->trees.n; i++) {
        struct place *place = VEC_PUSH(&a->places, MAX_ITEMS, err);

        if (!place)
            return -1;
        *place = (struct place){ i, 0 };
        root->total = value_add(root->total, total_of(&a->trees[i], 0), &a->n_saturated);
    }
    return take(a, 0, err);
}

/* --- the answer --- */

/* How many nodes have others. Where values are negative all nodes are taken, and what cancels out is no other. */
static uint32_t count_others(struct assembly *a)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->details.n; i++)
        n += a->details.items[i].has_other;
    return n;
}

static struct slice name_of(const struct assembly *a, uint32_t item)
{
    return symbolset_get(treecache_symbols(a->sum->options.cache), a->taken.items[item].symbol)->text;
}

static int by_weight(const void *x, const void *y, void *context)
{
    const struct assembly *a = context;
    uint32_t left = *(const uint32_t *)x, right = *(const uint32_t *)y;
    uint64_t left_weight = weight_of(a, left), right_weight = weight_of(a, right);
    int order;

    if (left_weight != right_weight)
        return left_weight > right_weight ? -1 : 1;
    order = slice_compare(name_of(a, left), name_of(a, right));
    return order ? order : left < right ? -1 : left > right;
}

static void put_node(struct flame *flame, uint32_t place, uint32_t parent, uint32_t symbol, uint8_t flags)
{
    flame->parents[place] = parent;
    flame->symbols[place] = symbol;
    flame->depths[place] = place ? flame->depths[parent] + 1 : 0;
    flame->flags[place] = flags;
    flame->ends[place] = place + 1;
}

static void put_values(struct flame *flame, uint32_t place, int64_t self, int64_t total, double self_count,
                       double count)
{
    flame->self[place] = self;
    flame->total[place] = total;
    if (flame->self_counts) {
        flame->self_counts[place] = self_count;
        flame->total_counts[place] = count;
    }
}

/* Depth first, the heaviest sibling first, "other" where its weight puts it: behind those that are as heavy. */
struct walk {
    uint32_t item;   /* of `taken`; with is_other its other */
    uint32_t parent; /* place in the flame */
    bool is_other;
};

struct walks {
    VEC(struct walk) stack;
};

static int push_walk(struct walks *walks, uint32_t item, uint32_t parent, bool is_other, struct error *err)
{
    struct walk *slot = VEC_PUSH(&walks->stack, MAX_ITEMS, err);

    if (!slot)
        return -1;
    *slot = (struct walk){ item, parent, is_other };
    return 0;
}

/* Puts the children of a node on the stack, the last of them first. */
static int push_children(struct assembly *a, struct walks *walks, uint32_t item, uint32_t place, struct error *err)
{
    const struct details *details = &a->details.items[a->taken.items[item].details];
    bool has_other = details->has_other;

    a->order.n = 0;
    for (uint32_t child = details->first_child; child;
         child = a->details.items[a->taken.items[child].details].next_sibling) {
        uint32_t *slot = VEC_PUSH(&a->order, MAX_ITEMS, err);

        if (!slot)
            return -1;
        *slot = child;
    }
    if (a->order.n > 1)
        qsort_r(a->order.items, a->order.n, sizeof(*a->order.items), by_weight, a);
    for (size_t i = a->order.n; i > 0; i--) {
        uint32_t child = a->order.items[i - 1];

        if (has_other && weight_of(a, child) >= flame_magnitude(details->other)) {
            has_other = false;
            if (push_walk(walks, item, place, true, err) < 0)
                return -1;
        }
        if (push_walk(walks, child, place, false, err) < 0)
            return -1;
    }
    return has_other ? push_walk(walks, item, place, true, err) : 0;
}

static int place_node(struct assembly *a, struct walks *walks, struct flame *flame, uint32_t place, struct error *err)
{
    struct walk at = walks->stack.items[--walks->stack.n];
    const struct taken *node = &a->taken.items[at.item];
    const struct details *details = &a->details.items[node->details];
    uint32_t symbol = FLAME_ROOT;

    if (at.is_other) {
        put_node(flame, place, at.parent, FLAME_OTHER, FLAME_IS_OTHER);
        put_values(flame, place, details->other, details->other, details->other_count, details->other_count);
        return 0;
    }
    if (place && symbolset_add_copy(a->set, treecache_symbols(a->sum->options.cache), node->symbol, &symbol, err) < 0)
        return -1;
    put_node(flame, place, at.parent, symbol, node->flags);
    put_values(flame, place, details->self, node->total, details->self_count, details->count);
    return push_children(a, walks, at.item, place, err);
}

static int place_nodes(struct assembly *a, struct flame *flame, struct error *err)
{
    struct walks walks = { 0 };
    int result = push_walk(&walks, 0, 0, false, err);

    for (uint32_t place = 0; !result && place < flame->n_nodes; place++)
        result = place_node(a, &walks, flame, place, err);
    VEC_DONE(&walks.stack);
    for (uint32_t i = flame->n_nodes; !result && i-- > 1;)
        flame->ends[flame->parents[i]] = MAX(flame->ends[flame->parents[i]], flame->ends[i]);
    return result;
}

/* The sum of absolute values: where nothing is negative, that is the total. */
static int64_t find_magnitude(const struct assembly *a)
{
    uint64_t magnitude = 0;

    if (!a->sum->has_negative)
        return a->taken.items[0].total;
    for (uint32_t i = 0; i < a->details.n; i++) {
        uint64_t self = flame_magnitude(a->details.items[i].self);

        magnitude = self > (uint64_t)INT64_MAX - magnitude ? (uint64_t)INT64_MAX : magnitude + self;
    }
    return (int64_t)magnitude;
}

static int make_flame(struct assembly *a, struct flame **ret_flame, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    uint32_t n_others = count_others(a);
    bool has_counts = a->sum->facts.has_counts;

    a->set = MEMORY_NEW(struct symbolset, err);
    if (!a->set)
        return -1;
    symbolset_init(a->set, SYMBOL_FUNCTION);
    if (flame_new_empty((uint32_t)a->details.n + n_others, 1, has_counts, a->set, &flame, err) < 0) {
        symbolset_done(a->set);
        memory_free(a->set);
        return -1;
    }
    flame->owns_set = true;
    flame->has_counts[0] = has_counts;
    flame->magnitudes[0] = find_magnitude(a);
    if (place_nodes(a, flame, err) < 0)
        return -1;
    if (a->n_saturated + a->sum->n_saturated)
        report_add(&flame->report, "sums beyond 64 bits stay at the edge", a->n_saturated + a->sum->n_saturated,
                   "while adding up a query");
    *ret_flame = TAKE(flame);
    return 0;
}

static int assemble(struct treesum *sum, struct ordered *trees, uint32_t max_nodes, struct flame **ret_flame,
                    struct error *err)
{
    struct assembly a = { .sum = sum, .trees = trees, .max_nodes = max_nodes ? max_nodes : UINT32_MAX };
    int result = take_root(&a, err);

    while (!result && a.heap.n && a.details.n < a.max_nodes)
        result = take(&a, pop(&a), err);
    if (!result)
        result = make_flame(&a, ret_flame, err);
    VEC_DONE(&a.places);
    VEC_DONE(&a.taken);
    VEC_DONE(&a.details);
    VEC_DONE(&a.heap);
    VEC_DONE(&a.best);
    VEC_DONE(&a.children);
    VEC_DONE(&a.order);
    return result;
}

/* With negative values a small node may have large children: all nodes are needed to know which are the heaviest. */
static int assemble_and_trim(struct treesum *sum, struct ordered *trees, uint32_t max_nodes, struct flame **ret_flame,
                             struct error *err)
{
    AUTO(flame_freep) struct flame *whole = NULL;
    struct flame *flame;

    if (assemble(sum, trees, 0, &whole, err) < 0 ||
        trim_flame(whole, &(struct trim_options){ .max_nodes = max_nodes }, &flame, err) < 0)
        return -1;
    /* The trimmed tree lives on: the symbols are its own now. */
    flame->owns_set = true;
    whole->owns_set = false;
    *ret_flame = flame;
    return 0;
}

static int make_answer(struct treesum *sum, uint32_t max_nodes, struct flame **ret_flame, struct error *err)
{
    struct ordered *trees;
    struct arena arena;
    int result = -1;

    arena_init(&arena, 0);
    trees = ARENA_ARRAY(&arena, struct ordered, sum->trees.n, err);
    if (trees) {
        result = 0;
        for (size_t i = 0; !result && i < sum->trees.n; i++)
            result = put_in_order(sum, &sum->trees.items[i], &trees[i], &arena, err);
    }
    if (!result)
        result = max_nodes && sum->has_negative ? assemble_and_trim(sum, trees, max_nodes, ret_flame, err)
                                                : assemble(sum, trees, max_nodes, ret_flame, err);
    arena_done(&arena);
    return result;
}

int treesum_finish(struct treesum *sum, uint32_t max_nodes, struct flame **ret_flame, struct error *err)
{
    struct treecache_tree **trees = memory_alloc((sum->trees.n + 1) * sizeof(*trees), err);
    int result;

    if (!trees)
        return -1;
    for (size_t i = 0; i < sum->trees.n; i++)
        trees[i] = sum->trees.items[i].tree;
    result = treecache_hold(sum->options.cache, trees, sum->trees.n, err);
    memory_free(trees);
    if (result < 0)
        return -1;
    result = make_answer(sum, max_nodes, ret_flame, err);
    treecache_let_go(sum->options.cache);
    return result;
}
