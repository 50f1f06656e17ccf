// SPDX-License-Identifier: Apache-2.0
#include "tree/treesum.h"

#include "base/memory.h"
#include "tree/treebudget.h"
#include "tree/treesum_internal.h"

#include <stdlib.h>

enum {
    MAX_TREES = 1 << 16,
    MAX_PENDING = 1 << 18, /* values that wait for the names of their stacks */
};

int treesum_new(const struct treesum_options *options, struct treesum **ret_sum, struct error *err)
{
    struct treesum *sum = MEMORY_NEW(struct treesum, err);

    if (!sum)
        return -1;
    sum->options = *options;
    sum->facts.has_counts = true;
    *ret_sum = sum;
    return 0;
}

void treesum_free(struct treesum *sum)
{
    if (!sum)
        return;
    VEC_EACH (&sum->trees, tree) {
        treecache_release(sum->options.cache, tree->tree);
        memory_free(tree->values);
        memory_free(tree->counts);
        memory_free(tree->levels);
    }
    VEC_DONE(&sum->trees);
    VEC_DONE(&sum->pending);
    memory_free(sum->stacks);
    memory_free(sum);
}

void treesum_freep(struct treesum **sum)
{
    treesum_free(*sum);
}

struct treesum_facts treesum_facts(const struct treesum *sum)
{
    return sum->facts;
}

size_t treesum_bytes(const struct treesum *sum)
{
    return sum->bytes;
}

/* --- memory --- */

/* Counts what is about to be taken. */
static int take_bytes(struct treesum *sum, size_t bytes, struct error *err)
{
    if (sum->options.max_bytes && sum->bytes + bytes > sum->options.max_bytes)
        return treebudget_refuse(sum->options.limit_bytes, err);
    sum->bytes += bytes;
    return 0;
}

static int grow_array(void *array, size_t item_bytes, size_t old_n, size_t n, struct error *err)
{
    void **items = array;
    char *bigger = memory_realloc(*items, n * item_bytes, err);

    if (!bigger)
        return -1;
    memset(bigger + old_n * item_bytes, 0, (n - old_n) * item_bytes);
    *items = bigger;
    return 0;
}

/* Room for the sums of the first `n` stacks. */
static int grow_tree(struct treesum *sum, struct treesum_tree *tree, uint32_t n, struct error *err)
{
    uint32_t bigger = n + n / 8 + 64;
    bool has_counts = tree->columns.count != QUERYCOLUMNS_NONE, has_levels = sum->options.weight;
    size_t stack_bytes =
        sizeof(*tree->values) + (has_counts ? sizeof(*tree->counts) : 0) + (has_levels ? sizeof(*tree->levels) : 0);

    if (n <= tree->n)
        return 0;
    if (take_bytes(sum, (bigger - tree->n) * stack_bytes, err) < 0 ||
        grow_array(&tree->values, sizeof(*tree->values), tree->n, bigger, err) < 0 ||
        (has_counts && grow_array(&tree->counts, sizeof(*tree->counts), tree->n, bigger, err) < 0) ||
        (has_levels && grow_array(&tree->levels, sizeof(*tree->levels), tree->n, bigger, err) < 0))
        return -1;
    tree->n = bigger;
    return 0;
}

static int grow_scratch(struct treesum *sum, uint32_t n, struct error *err)
{
    if (n <= sum->n_stacks)
        return 0;
    if (take_bytes(sum, (size_t)(n - sum->n_stacks) * sizeof(*sum->stacks), err) < 0 ||
        grow_array(&sum->stacks, sizeof(*sum->stacks), sum->n_stacks, n, err) < 0)
        return -1;
    sum->n_stacks = n;
    return 0;
}

/* --- trees --- */

static struct treesum_tree *find_tree(struct treesum *sum, struct hash128 key)
{
    VEC_EACH (&sum->trees, tree)
        if (hash_equal(tree->key, key))
            return tree;
    return NULL;
}

static struct treesum_tree *add_tree(struct treesum *sum, struct hash128 key, struct error *err)
{
    struct treecache_tree *cached;
    struct treesum_tree *tree;

    if (treecache_use(sum->options.cache, key, &cached, err) < 0)
        return NULL;
    tree = VEC_PUSH(&sum->trees, MAX_TREES, err);
    if (!tree) {
        treecache_release(sum->options.cache, cached);
        return NULL;
    }
    *tree = (struct treesum_tree){ .key = key, .tree = cached };
    return tree;
}

static struct treesum_tree *tree_of(struct treesum *sum, const struct seriesinfo *series, struct error *err)
{
    struct hash128 hash = seriesinfo_group_hash(series, 0), tenant = hash_bytes(sum->options.tenant, 0);
    struct hash128 key = hash_fold(hash, tenant.a, tenant.b);
    struct treesum_tree *tree = find_tree(sum, key);

    if (tree)
        return tree;
    tree = add_tree(sum, key, err);
    if (!tree || querycolumns_find(series, sum->options.type, &tree->columns, err) < 0)
        return NULL;
    return tree;
}

/* --- values --- */

static void add_value(struct treesum *sum, struct treesum_tree *tree, uint32_t stack, int64_t value, double count,
                      double level)
{
    tree->values[stack] = value_add(tree->values[stack], value, &sum->n_saturated);
    if (tree->counts)
        tree->counts[stack] += count;
    if (tree->levels)
        tree->levels[stack] += level;
}

static int by_id(const void *x, const void *y)
{
    const struct treesum_pending *a = x, *b = y;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->tree < b->tree ? -1 : a->tree > b->tree;
}

/* Adds stacks to their trees. Those that the trees had before are the cache's; what they grow by is ours. */
static int grow_trees(struct treesum *sum, struct treecache_want *wants, size_t n, struct error *err)
{
    size_t max_bytes = sum->options.max_bytes ? sum->options.max_bytes : SIZE_MAX;
    struct treecache_terms terms = { max_bytes - sum->bytes, sum->options.patience };

    if (treecache_add(sum->options.cache, sum->names, wants, n, &terms, err) < 0)
        return terms.room_bytes ? -1 : treebudget_refuse(sum->options.limit_bytes, err);
    sum->bytes = max_bytes - MIN(terms.room_bytes, max_bytes);
    return 0;
}

/* Gives the pending values their stacks, all in one walk over the dictionary. */
static int settle(struct treesum *sum, struct error *err)
{
    size_t n = sum->pending.n;
    struct treecache_want *wants;
    int result;

    if (!n)
        return 0;
    if (take_bytes(sum, n * sizeof(*wants), err) < 0)
        return -1;
    wants = memory_alloc(n * sizeof(*wants), err);
    if (!wants)
        return -1;
    qsort(sum->pending.items, n, sizeof(*sum->pending.items), by_id);
    for (size_t i = 0; i < n; i++)
        wants[i] =
            (struct treecache_want){ sum->pending.items[i].id, sum->trees.items[sum->pending.items[i].tree].tree, 0 };
    result = grow_trees(sum, wants, n, err);
    for (size_t i = 0; !result && i < n; i++) {
        const struct treesum_pending *pending = &sum->pending.items[i];
        struct treesum_tree *tree = &sum->trees.items[pending->tree];

        result = grow_tree(sum, tree, wants[i].stack + 1, err);
        if (!result)
            add_value(sum, tree, wants[i].stack, pending->value, pending->count, pending->level);
    }
    sum->pending.n = 0;
    memory_free(wants);
    sum->bytes -= MIN(n * sizeof(*wants), sum->bytes); /* what the cache gave back may be more */
    return result;
}

int treesum_names(void *context, struct names *names, struct error *err)
{
    struct treesum *sum = context;
    int result = sum->names ? settle(sum, err) : 0;

    sum->names = names;
    return result;
}

static int add_pending(struct treesum *sum, const struct treesum_tree *tree, uint32_t id, int64_t value, double count,
                       double level, struct error *err)
{
    size_t capacity = sum->pending.capacity;
    struct treesum_pending *pending = VEC_PUSH(&sum->pending, UINT32_MAX, err);

    if (!pending || take_bytes(sum, (sum->pending.capacity - capacity) * sizeof(*pending), err) < 0)
        return -1;
    *pending = (struct treesum_pending){ id, (uint32_t)(tree - sum->trees.items), value, count, level };
    return 0;
}

static int add_values(struct treesum *sum, struct treesum_tree *tree, const struct store_sums *sums, double weight,
                      struct error *err)
{
    const int64_t *values = sums->sums + (size_t)tree->columns.value * sums->stride;
    const int64_t *counts =
        tree->columns.count == QUERYCOLUMNS_NONE ? NULL : sums->sums + (size_t)tree->columns.count * sums->stride;

    bool is_plain = counts && !tree->levels, has_negative = false;

    for (uint32_t i = 0; i < sums->n_stacks; i++) {
        uint32_t stack = sum->stacks[i];
        double count, level;

        has_negative |= values[i] < 0;
        if (LIKELY(is_plain && stack != CALLTREE_NONE)) {
            tree->values[stack] = value_add(tree->values[stack], values[i], &sum->n_saturated);
            tree->counts[stack] += (double)counts[i];
            continue;
        }
        count = counts ? (double)counts[i] : 0;
        level = (double)values[i] * weight;
        if (stack != CALLTREE_NONE)
            add_value(sum, tree, stack, values[i], count, level);
        else if (add_pending(sum, tree, sums->stacks[i], values[i], count, level, err) < 0)
            return -1;
    }
    sum->has_negative |= has_negative;
    return 0;
}

/* Finds the stacks of sums in their tree, and makes room there. */
static int find_stacks(struct treesum *sum, struct treesum_tree *tree, const struct store_sums *sums, struct error *err)
{
    uint32_t n_known;

    if (grow_scratch(sum, sums->n_stacks, err) < 0)
        return -1;
    treecache_find(sum->options.cache, tree->tree, names_identity(sum->names), sums->stacks, sums->n_stacks,
                   sum->stacks, &n_known);
    return grow_tree(sum, tree, n_known, err);
}

/* How many values may wait: few where there is little memory. */
static size_t max_pending(const struct treesum *sum)
{
    size_t fit = sum->options.max_bytes / 8 / sizeof(struct treesum_pending);

    return sum->options.max_bytes ? MIN(fit, (size_t)MAX_PENDING) : MAX_PENDING;
}

int treesum_add(void *context, const struct store_sums *sums, struct error *err)
{
    struct treesum *sum = context;
    struct treesum_tree *tree = tree_of(sum, sums->series, err);
    double weight =
        sum->options.weight ? sum->options.weight(sum->options.weight_context, sums->series, sums->start_ns) : 1;

    if (!tree)
        return -1;
    if (tree->columns.value == QUERYCOLUMNS_NONE)
        return 0;
    if (find_stacks(sum, tree, sums, err) < 0 || add_values(sum, tree, sums, weight, err) < 0)
        return -1;
    sum->facts.n_rows += sums->n_rows;
    sum->facts.duration_ns += sums->duration_ns;
    sum->facts.has_counts &= tree->columns.count != QUERYCOLUMNS_NONE;
    return sum->pending.n < max_pending(sum) ? 0 : settle(sum, err);
}

int treesum_correct(struct treesum *sum, const struct store_sums *sums, double weight, struct error *err)
{
    struct treesum_tree *tree = tree_of(sum, sums->series, err);
    const int64_t *values;

    ASSERT(sum->options.weight);
    if (!tree)
        return -1;
    if (tree->columns.value == QUERYCOLUMNS_NONE)
        return 0;
    if (find_stacks(sum, tree, sums, err) < 0)
        return -1;
    values = sums->sums + (size_t)tree->columns.value * sums->stride;
    for (uint32_t i = 0; i < sums->n_stacks; i++) {
        double level = (double)values[i] * weight;

        if (sum->stacks[i] != CALLTREE_NONE)
            tree->levels[sum->stacks[i]] += level;
        else if (add_pending(sum, tree, sums->stacks[i], 0, 0, level, err) < 0)
            return -1;
    }
    return sum->pending.n < max_pending(sum) ? 0 : settle(sum, err);
}

int treesum_join(struct treesum *sum, const struct treesum *other, struct error *err)
{
    for (size_t k = 0; k < other->trees.n; k++) {
        const struct treesum_tree *from = &other->trees.items[k];
        struct treesum_tree *tree = find_tree(sum, from->key);

        if (!tree)
            tree = add_tree(sum, from->key, err);
        if (!tree)
            return -1;
        tree->columns = from->columns;
        if (grow_tree(sum, tree, from->n, err) < 0)
            return -1;
        for (uint32_t i = 0; i < from->n; i++)
            add_value(sum, tree, i, from->values[i], from->counts ? from->counts[i] : 0,
                      from->levels ? from->levels[i] : 0);
    }
    sum->n_saturated += other->n_saturated;
    sum->has_negative |= other->has_negative;
    sum->facts.n_rows += other->facts.n_rows;
    sum->facts.duration_ns += other->facts.duration_ns;
    sum->facts.has_counts &= other->facts.has_counts;
    return 0;
}
