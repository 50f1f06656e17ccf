// SPDX-License-Identifier: Apache-2.0
/* Nodes are taken from a heap that holds the children of what was taken, until there are enough. */
#include "tree/treeflame.h"

#include "base/memory.h"
#include "flame/trim.h"

#include <stdlib.h>

/* A node of one of the trees. */
struct place {
    uint32_t tree, node;
};

/* A node of the answer, or one that waits for being taken. */
struct taken {
    int64_t totals[TREEORDER_MAX_COLUMNS];
    uint32_t parent; /* in `taken` */
    uint32_t symbol; /* of the cache */
    uint32_t first_place, n_places;
    uint32_t details; /* of those in the answer, else 0 */
    uint8_t flags;
};

/* What only nodes of the answer have. */
struct details {
    struct amounts {
        int64_t self, other;
        double count, self_count, other_count;
    } columns[TREEORDER_MAX_COLUMNS];
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
    const struct treeorder *order;
    uint32_t max_nodes;                   /* UINT32_MAX = all */
    uint64_t least_weight;                /* lighter nodes are left out */
    double scales[TREEORDER_MAX_COLUMNS]; /* from values to weights, of several columns */
    VEC(struct place) places;
    VEC(struct taken) taken;
    VEC(struct details) details;
    VEC(struct waiting) heap;
    VEC(uint64_t) best;         /* a heap of the max_nodes largest weights met so far, the least of them in front */
    VEC(struct child) children; /* of the node at hand */
    VEC(uint32_t) siblings;     /* likewise, of those in the answer */
    struct symbolset *set;
    uint64_t n_saturated;
};

/* --- weights --- */

#define WHOLE_WEIGHT ((uint64_t)1 << 62) /* of two columns */

/* How heavy a value of a column is. Of several columns it is the share that counts, or the larger one would hide the other;
 * rounding may make shares equal but never turns them around. */
static uint64_t weigh(const struct assembly *a, uint32_t column, int64_t value)
{
    uint64_t size = flame_magnitude(value);

    return a->order->n_columns == 1 ? size : (uint64_t)((double)size * a->scales[column]);
}

static uint64_t weight_of(const struct assembly *a, const int64_t *totals)
{
    uint64_t weight = 0;

    for (uint32_t i = 0; i < a->order->n_columns; i++)
        weight = MAX(weight, weigh(a, i, totals[i]));
    return weight;
}

/* By which siblings are ordered. */
static uint64_t size_of(const struct assembly *a, const int64_t *totals)
{
    uint64_t size = 0;

    for (uint32_t i = 0; i < a->order->n_columns; i++)
        if (__builtin_add_overflow(size, flame_magnitude(totals[i]), &size))
            return UINT64_MAX;
    return size;
}

static uint64_t weight_of_share(const struct treeorder *order, double share)
{
    double whole = order->n_columns == 1 ? (double)order->columns[0].total : (double)WHOLE_WEIGHT;

    /* One less than it may be: whoever asks for a share cuts to the very value (trim.h). */
    return share > 0 && share * whole >= 1 ? (uint64_t)MIN(share * whole, 0x1p63) - 1 : 0;
}

/* --- the heap --- */

/* The heavier comes first; of equal ones the one that was met first. */
static bool is_before(struct waiting x, struct waiting y)
{
    return x.weight != y.weight ? x.weight > y.weight : x.item < y.item;
}

static int push(struct assembly *a, uint32_t item, struct error *err)
{
    struct waiting new = { weight_of(a, a->taken.items[item].totals), item };
    size_t at = a->heap.n;

    if (!TREEBUDGET_PUSH(a->order->budget, &a->heap, err))
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

    *ret_can = weight >= a->least_weight;
    if (a->max_nodes == UINT32_MAX || !*ret_can)
        return 0;
    if (at < a->max_nodes) {
        if (!TREEBUDGET_PUSH(a->order->budget, &a->best, err))
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
    uint64_t least = a->least_weight ? a->least_weight - 1 : 0;

    return a->max_nodes != UINT32_MAX && a->best.n == a->max_nodes ? MAX(a->best.items[0], least) : least;
}

/* The children of all places of the node that have values, by key. Of a node in one tree alone, those that are too light
 * are left out; then no value is negative, so that "other" is what is missing. */
static int gather(struct assembly *a, const struct taken *node, struct error *err)
{
    uint64_t least = node->n_places == 1 ? least_weight(a) : 0;

    a->children.n = 0;
    for (uint32_t i = 0; i < node->n_places; i++) {
        struct place place = a->places.items[node->first_place + i];
        const struct treeorder_tree *tree = &a->order->trees[place.tree];
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

            if (least ? weigh(a, tree->column, total) <= least && !has_twin(calls, sibling, child, end)
                      : !treeorder_has_values(tree, child, total))
                continue;
            slot = TREEBUDGET_PUSH(a->order->budget, &a->children, err);
            if (!slot)
                return -1;
            *slot = (struct child){ calls->keys[child], { place.tree, child }, total };
        }
    }
    if (a->children.n > 1 && node->n_places > 1)
        qsort(a->children.items, a->children.n, sizeof(*a->children.items), by_key);
    return 0;
}

/* The places of children [from, until), which are one node. */
static int add_places(struct assembly *a, size_t from, size_t until, struct error *err)
{
    for (size_t i = from; i < until; i++) {
        struct place *place = TREEBUDGET_PUSH(a->order->budget, &a->places, err);

        if (!place)
            return -1;
        *place = a->children.items[i].place;
    }
    return 0;
}

static uint8_t flags_of(const struct assembly *a, size_t from, size_t until)
{
    bool has_inlined = false, has_plain = false;

    for (size_t i = from; i < until; i++) {
        has_inlined |= a->children.items[i].key & 1;
        has_plain |= !(a->children.items[i].key & 1);
    }
    return !has_inlined ? 0 : has_plain ? FLAME_IS_PARTLY_INLINED : FLAME_IS_INLINED;
}

/* Children [from, until) have one symbol: one node, which waits if it may be heavy enough; else it is part of "other". */
static int add_child(struct assembly *a, uint32_t parent, size_t from, size_t until, struct error *err)
{
    struct taken new = { .parent = parent,
                         .symbol = a->children.items[from].key / 2,
                         .first_place = (uint32_t)a->places.n,
                         .n_places = (uint32_t)(until - from),
                         .flags = flags_of(a, from, until) };
    struct taken *item;
    bool can;

    for (size_t i = from; i < until; i++) {
        const struct child *child = &a->children.items[i];
        int64_t *total = &new.totals[a->order->trees[child->place.tree].column];

        *total = value_add(*total, child->total, &a->n_saturated);
    }
    if (note_weight(a, weight_of(a, new.totals), &can, err) < 0)
        return -1;
    if (!can)
        return 0;
    item = TREEBUDGET_PUSH(a->order->budget, &a->taken, err);
    if (!item)
        return -1;
    *item = new;
    return add_places(a, from, until, err) < 0 ? -1 : push(a, (uint32_t)a->taken.n - 1, err);
}

/* What is known of a node when it is taken: until they are taken themselves, all children are others. */
static void fill_details(struct assembly *a, const struct taken *node, struct details *details)
{
    *details = (struct details){ 0 };
    for (uint32_t i = 0; i < node->n_places; i++) {
        struct place place = a->places.items[node->first_place + i];
        const struct treeorder_tree *tree = &a->order->trees[place.tree];
        struct amounts *amounts = &details->columns[tree->column];

        amounts->count += treeorder_count_between(tree, place.node, tree->calls->ends[place.node]);
        amounts->self =
            value_add(amounts->self, treeorder_value_between(tree, place.node, place.node + 1), &a->n_saturated);
        amounts->self_count += treeorder_count_between(tree, place.node, place.node + 1);
    }
    for (uint32_t i = 0; i < a->order->n_columns; i++) {
        struct amounts *amounts = &details->columns[i];

        amounts->other = value_add(node->totals[i], -amounts->self, &a->n_saturated);
        amounts->other_count = amounts->count - amounts->self_count;
        details->has_other |= amounts->other != 0;
    }
}

/* The node is no longer one of its parent's others. */
static void leave_others(struct assembly *a, uint32_t number, struct details *details)
{
    const struct taken *node = &a->taken.items[number];
    struct details *parent = &a->details.items[a->taken.items[node->parent].details];

    parent->has_other = false;
    for (uint32_t i = 0; i < a->order->n_columns; i++) {
        struct amounts *amounts = &parent->columns[i];

        amounts->other = value_add(amounts->other, -node->totals[i], &a->n_saturated);
        amounts->other_count -= details->columns[i].count;
        parent->has_other |= amounts->other != 0;
    }
    details->next_sibling = parent->first_child;
    parent->first_child = number;
}

/* Takes a node into the answer; its children wait. */
static int take(struct assembly *a, uint32_t number, struct error *err)
{
    struct details *details = TREEBUDGET_PUSH(a->order->budget, &a->details, err);
    struct taken *node = &a->taken.items[number];
    size_t from = 0;

    if (!details)
        return -1;
    fill_details(a, node, details);
    node->details = (uint32_t)a->details.n - 1;
    if (number)
        leave_others(a, number, details);
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

/* --- the root --- */

static struct slice symbol_name(const struct assembly *a, uint32_t symbol)
{
    return symbolset_get(treecache_symbols(a->order->cache), symbol)->text;
}

/* The roots of all trees, as the children of nothing. */
static int gather_roots(struct assembly *a, struct error *err)
{
    a->children.n = 0;
    for (uint32_t i = 0; i < a->order->n_trees; i++) {
        struct child *child = TREEBUDGET_PUSH(a->order->budget, &a->children, err);

        if (!child)
            return -1;
        *child = (struct child){ 0, { i, 0 }, treeorder_total(&a->order->trees[i], 0) };
    }
    return 0;
}

/* From the nodes in `children` to those of their children that have this name. */
static int step_down(struct assembly *a, struct slice name, struct error *err)
{
    struct taken above = { .first_place = (uint32_t)a->places.n, .n_places = (uint32_t)a->children.n };
    size_t n = 0;

    if (add_places(a, 0, a->children.n, err) < 0 || gather(a, &above, err) < 0)
        return -1;
    for (size_t i = 0; i < a->children.n; i++)
        if (slice_equal(symbol_name(a, a->children.items[i].key / 2), name))
            a->children.items[n++] = a->children.items[i];
    a->children.n = n;
    a->places.n = above.first_place;
    return 0;
}

/* The node where the answer begins: the root, or where the path leads. */
static int take_first(struct assembly *a, const struct treeflame_options *options, struct error *err)
{
    struct taken *first = TREEBUDGET_PUSH(a->order->budget, &a->taken, err);

    if (!first || gather_roots(a, err) < 0)
        return -1;
    *first = (struct taken){ .symbol = FLAME_ROOT };
    for (uint32_t i = 0; i < options->n_path; i++) {
        if (step_down(a, options->path[i], err) < 0)
            return -1;
        if (a->children.n == 0)
            return flame_no_such_path(options->path, i, err);
        first->symbol = a->children.items[0].key / 2;
        first->flags = flags_of(a, 0, a->children.n);
    }
    first->n_places = (uint32_t)a->children.n;
    for (size_t i = 0; i < a->children.n; i++) {
        int64_t *total = &first->totals[a->order->trees[a->children.items[i].place.tree].column];

        *total = value_add(*total, a->children.items[i].total, &a->n_saturated);
    }
    if (!a->order->has_negative)
        a->least_weight = weight_of_share(a->order, options->min_share);
    return add_places(a, 0, a->children.n, err) < 0 ? -1 : take(a, 0, err);
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

static int by_size(const void *x, const void *y, void *context)
{
    const struct assembly *a = context;
    uint32_t left = *(const uint32_t *)x, right = *(const uint32_t *)y;
    const struct taken *x_node = &a->taken.items[left], *y_node = &a->taken.items[right];
    uint64_t left_size = size_of(a, x_node->totals), right_size = size_of(a, y_node->totals);
    int order;

    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    order = slice_compare(symbol_name(a, x_node->symbol), symbol_name(a, y_node->symbol));
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

static void put_values(struct flame *flame, uint32_t column, uint32_t place, int64_t self, int64_t total,
                       double self_count, double count)
{
    size_t at = (size_t)column * flame->n_nodes + place;

    flame->self[at] = self;
    flame->total[at] = total;
    if (flame->self_counts) {
        flame->self_counts[at] = self_count;
        flame->total_counts[at] = count;
    }
}

/* Depth first, the heaviest sibling first, "other" where its weight puts it: behind those that are as heavy. */
struct walk {
    uint32_t item;   /* of `taken`; with is_other its other */
    uint32_t parent; /* place in the flame */
    bool is_other;
};

struct walks {
    struct treebudget *budget;
    VEC(struct walk) stack;
};

static int push_walk(struct walks *walks, uint32_t item, uint32_t parent, bool is_other, struct error *err)
{
    struct walk *slot = TREEBUDGET_PUSH(walks->budget, &walks->stack, err);

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
    int64_t others[TREEORDER_MAX_COLUMNS];

    for (uint32_t i = 0; i < a->order->n_columns; i++)
        others[i] = details->columns[i].other;
    a->siblings.n = 0;
    for (uint32_t child = details->first_child; child;
         child = a->details.items[a->taken.items[child].details].next_sibling) {
        uint32_t *slot = TREEBUDGET_PUSH(a->order->budget, &a->siblings, err);

        if (!slot)
            return -1;
        *slot = child;
    }
    if (a->siblings.n > 1)
        qsort_r(a->siblings.items, a->siblings.n, sizeof(*a->siblings.items), by_size, a);
    for (size_t i = a->siblings.n; i > 0; i--) {
        uint32_t child = a->siblings.items[i - 1];

        if (has_other && size_of(a, a->taken.items[child].totals) >= size_of(a, others)) {
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
    uint32_t symbol = at.is_other ? FLAME_OTHER : FLAME_ROOT;

    if (!at.is_other && node->symbol != FLAME_ROOT &&
        symbolset_add_copy(a->set, treecache_symbols(a->order->cache), node->symbol, &symbol, err) < 0)
        return -1;
    put_node(flame, place, at.parent, symbol, at.is_other ? FLAME_IS_OTHER : node->flags);
    for (uint32_t i = 0; i < a->order->n_columns; i++) {
        const struct amounts *amounts = &details->columns[i];

        if (at.is_other)
            put_values(flame, i, place, amounts->other, amounts->other, amounts->other_count, amounts->other_count);
        else
            put_values(flame, i, place, amounts->self, node->totals[i], amounts->self_count, amounts->count);
    }
    if (at.is_other)
        return 0;
    return push_children(a, walks, at.item, place, err);
}

/* Counts the names that were copied since the last time; asks whether the answer is still wanted. */
static int count_names(struct assembly *a, size_t *counted_bytes, struct error *err)
{
    size_t bytes =
        a->set->text.used_bytes + a->set->symbols.capacity * sizeof(struct symbol) + hash_set_bytes(&a->set->hashes);
    size_t more_bytes = bytes - *counted_bytes;

    *counted_bytes = bytes;
    if (patience_check(&a->order->budget->patience, err) < 0)
        return -1;
    return treebudget_take(a->order->budget, more_bytes, err);
}

static int place_nodes(struct assembly *a, struct flame *flame, struct error *err)
{
    size_t counted_bytes = 0;
    struct walks walks = { .budget = a->order->budget };
    int result = push_walk(&walks, 0, 0, false, err);

    for (uint32_t place = 0; !result && place < flame->n_nodes; place++) {
        result = place % PATIENCE_STEPS ? 0 : count_names(a, &counted_bytes, err);
        if (!result)
            result = place_node(a, &walks, flame, place, err);
    }
    VEC_DONE(&walks.stack);
    for (uint32_t i = flame->n_nodes; !result && i-- > 1;)
        flame->ends[flame->parents[i]] = MAX(flame->ends[flame->parents[i]], flame->ends[i]);
    return result;
}

/* The sum of absolute values of a column: where nothing is negative, that is the total. Else all nodes are taken. */
static int64_t find_magnitude(const struct assembly *a, uint32_t column)
{
    uint64_t magnitude = 0;

    if (!a->order->has_negative)
        return a->order->columns[column].total;
    for (uint32_t i = 0; i < a->details.n; i++) {
        uint64_t self = flame_magnitude(a->details.items[i].columns[column].self);

        magnitude = self > (uint64_t)INT64_MAX - magnitude ? (uint64_t)INT64_MAX : magnitude + self;
    }
    return (int64_t)magnitude;
}

static bool knows_counts(const struct treeorder *order)
{
    bool knows = false;

    for (uint32_t i = 0; i < order->n_columns; i++)
        knows |= order->columns[i].has_counts;
    return knows;
}

/* What a node takes in a flame tree, and besides of each column. */
#define NODE_BYTES   (4 * sizeof(uint32_t) + sizeof(uint8_t))
#define COLUMN_BYTES (2 * sizeof(int64_t) + 2 * sizeof(double))

static int make_flame(struct assembly *a, struct flame **ret_flame, struct error *err)
{
    const struct treeorder *order = a->order;
    AUTO(flame_freep) struct flame *flame = NULL;
    uint32_t n_nodes = (uint32_t)a->details.n + count_others(a);

    if (treebudget_take(order->budget, n_nodes * (NODE_BYTES + order->n_columns * COLUMN_BYTES), err) < 0)
        return -1;
    a->set = MEMORY_NEW(struct symbolset, err);
    if (!a->set)
        return -1;
    symbolset_init(a->set, SYMBOL_FUNCTION);
    if (flame_new_empty(n_nodes, order->n_columns, knows_counts(order), a->set, &flame, err) < 0) {
        symbolset_done(a->set);
        memory_free(a->set);
        return -1;
    }
    flame->owns_set = true;
    for (uint32_t i = 0; i < order->n_columns; i++) {
        flame->has_counts[i] = order->columns[i].has_counts;
        flame->magnitudes[i] = find_magnitude(a, i);
    }
    if (place_nodes(a, flame, err) < 0)
        return -1;
    if (a->n_saturated + order->n_saturated)
        report_add(&flame->report, "sums beyond 64 bits stay at the edge", a->n_saturated + order->n_saturated,
                   "while adding up a query");
    treeorder_report(order, &flame->report);
    *ret_flame = TAKE(flame);
    return 0;
}

static int assemble(const struct treeorder *order, const struct treeflame_options *options, struct flame **ret_flame,
                    struct error *err)
{
    struct assembly a = { .order = order, .max_nodes = options->max_nodes ? options->max_nodes : UINT32_MAX };
    size_t before_bytes = order->budget->bytes, working_bytes;
    int result;

    for (uint32_t i = 0; i < order->n_columns; i++)
        if (order->columns[i].total)
            a.scales[i] = (double)WHOLE_WEIGHT / (double)flame_magnitude(order->columns[i].total);
    result = take_first(&a, options, err);

    while (!result && a.heap.n && a.details.n < a.max_nodes) {
        result = patience_check_at(&order->budget->patience, a.details.n, err);
        if (!result)
            result = take(&a, pop(&a), err);
    }
    working_bytes = order->budget->bytes - before_bytes;
    if (!result)
        result = make_flame(&a, ret_flame, err);
    order->budget->bytes -= working_bytes; /* the tree stays */
    VEC_DONE(&a.places);
    VEC_DONE(&a.taken);
    VEC_DONE(&a.details);
    VEC_DONE(&a.heap);
    VEC_DONE(&a.best);
    VEC_DONE(&a.children);
    VEC_DONE(&a.siblings);
    return result;
}

/* With negative values a small node may have large children: all nodes are needed to know which are the heaviest. */
static int assemble_and_trim(const struct treeorder *order, const struct treeflame_options *options,
                             struct flame **ret_flame, struct error *err)
{
    struct trim_options trim = { .max_nodes = options->max_nodes,
                                 .column = order->n_columns > 1 ? TRIM_ALL_COLUMNS : 0 };
    AUTO(flame_freep) struct flame *whole = NULL;
    struct flame *flame;

    if (assemble(order, &(struct treeflame_options){ 0 }, &whole, err) < 0 ||
        flame_find_path(whole, options->path, options->n_path, &trim.root, err) < 0 ||
        trim_flame(whole, &trim, &flame, err) < 0)
        return -1;
    /* The trimmed tree lives on: the symbols are its own now. */
    flame->owns_set = true;
    whole->owns_set = false;
    *ret_flame = flame;
    return 0;
}

int treeflame_new(const struct treeorder *order, const struct treeflame_options *options, struct flame **ret_flame,
                  struct error *err)
{
    bool is_whole = !options->max_nodes && !options->n_path;

    return order->has_negative && !is_whole ? assemble_and_trim(order, options, ret_flame, err)
                                            : assemble(order, options, ret_flame, err);
}
