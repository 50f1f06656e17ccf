// SPDX-License-Identifier: Apache-2.0
#include "flame/trim.h"

#include <math.h>

struct trim {
    const struct flame *flame;
    const struct trim_options *options;
    uint32_t root, end; /* the nodes [root, end) are looked at */
    double *weights;    /* [node - root] */
    bool *is_kept;      /* [node - root] */
    uint32_t *heap;     /* the heaviest nodes so far, the lightest of them on top */
    uint32_t heap_n;
};

/* --- weights --- */

static double share_of(const struct flame *flame, uint32_t column, uint32_t node)
{
    int64_t magnitude = flame->magnitudes[column];

    return magnitude ? fabs((double)flame_total(flame, column, node)) / (double)magnitude : 0;
}

static double own_weight(const struct trim *t, uint32_t node)
{
    double weight = 0;

    if (t->options->column != TRIM_ALL_COLUMNS)
        return share_of(t->flame, t->options->column, node);
    for (uint32_t column = 0; column < t->flame->n_columns; column++)
        weight = MAX(weight, share_of(t->flame, column, node));
    return weight;
}

static void weigh(struct trim *t)
{
    for (uint32_t node = t->root; node < t->end; node++)
        t->weights[node - t->root] = own_weight(t, node);
    for (uint32_t node = t->end - 1; node > t->root; node--) {
        double *parent = &t->weights[t->flame->parents[node] - t->root];

        *parent = MAX(*parent, t->weights[node - t->root]);
    }
}

/* --- choosing --- */

/* Whether `a` gives way before `b` does. */
static bool is_lighter(const struct trim *t, uint32_t a, uint32_t b)
{
    double weight_a = t->weights[a - t->root], weight_b = t->weights[b - t->root];

    return weight_a != weight_b ? weight_a < weight_b : a > b;
}

static void swap(uint32_t *x, uint32_t *y)
{
    uint32_t node = *x;

    *x = *y;
    *y = node;
}

static void sift_down(struct trim *t, uint32_t at)
{
    for (;;) {
        uint32_t lightest = at;

        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < t->heap_n; child++)
            if (is_lighter(t, t->heap[child], t->heap[lightest]))
                lightest = child;
        if (lightest == at)
            return;
        swap(&t->heap[at], &t->heap[lightest]);
        at = lightest;
    }
}

static void sift_up(struct trim *t, uint32_t at)
{
    while (at > 0) {
        uint32_t above = (at - 1) / 2;

        if (!is_lighter(t, t->heap[at], t->heap[above]))
            return;
        swap(&t->heap[at], &t->heap[above]);
        at = above;
    }
}

static void offer(struct trim *t, uint32_t node, uint32_t max)
{
    if (t->heap_n < max) {
        t->heap[t->heap_n] = node;
        sift_up(t, t->heap_n++);
    } else if (is_lighter(t, t->heap[0], node)) {
        t->heap[0] = node;
        sift_down(t, 0);
    }
}

/* Marks what is kept. The root always is: it is the heaviest. */
static void choose(struct trim *t, uint32_t max)
{
    for (uint32_t node = t->root; node < t->end; node++) {
        bool is_old_other = t->flame->flags[node] & FLAME_IS_OTHER;

        if (node == t->root || (!is_old_other && t->weights[node - t->root] >= t->options->min_share))
            offer(t, node, max);
    }
    for (uint32_t i = 0; i < t->heap_n; i++)
        t->is_kept[t->heap[i] - t->root] = true;
}

/* --- copying --- */

static bool has_cut_children(const struct trim *t, uint32_t node)
{
    for (uint32_t child = flame_first_child(t->flame, node); child; child = flame_next_child(t->flame, child))
        if (!t->is_kept[child - t->root])
            return true;
    return false;
}

static void copy_values(const struct flame *from, uint32_t node, struct flame *to, uint32_t place)
{
    for (uint32_t column = 0; column < from->n_columns; column++) {
        size_t source = (size_t)column * from->n_nodes + node, target = (size_t)column * to->n_nodes + place;

        to->self[target] = from->self[source];
        to->total[target] = from->total[source];
        if (from->self_counts) {
            to->self_counts[target] = from->self_counts[source];
            to->total_counts[target] = from->total_counts[source];
        }
    }
}

/* Adds the totals of a cut node to an "other". */
static void gather(const struct flame *from, uint32_t node, struct flame *to, uint32_t place)
{
    uint64_t saturated = 0; /* the tree's own report has counted it */

    for (uint32_t column = 0; column < from->n_columns; column++) {
        size_t source = (size_t)column * from->n_nodes + node, target = (size_t)column * to->n_nodes + place;

        to->self[target] = value_add(to->self[target], from->total[source], &saturated);
        to->total[target] = to->self[target];
        if (from->total_counts) {
            to->self_counts[target] += from->total_counts[source];
            to->total_counts[target] = to->self_counts[target];
        }
    }
}

/* Copies the kept nodes in order and closes each with its "other". `open` is the path to where we are, as pairs of node
 * and place. */
struct copy {
    const struct trim *trim;
    struct flame *to;
    uint32_t n; /* nodes copied */
    struct open_node {
        uint32_t node, place;
    } * open;
    uint32_t open_n;
};

static void close_node(struct copy *c)
{
    const struct trim *t = c->trim;
    struct open_node closed = c->open[--c->open_n];

    if (has_cut_children(t, closed.node)) {
        uint32_t place = c->n++;

        c->to->parents[place] = closed.place;
        c->to->symbols[place] = FLAME_OTHER;
        c->to->depths[place] = c->to->depths[closed.place] + 1;
        c->to->flags[place] = FLAME_IS_OTHER;
        c->to->ends[place] = place + 1;
        for (uint32_t child = flame_first_child(t->flame, closed.node); child;
             child = flame_next_child(t->flame, child))
            if (!t->is_kept[child - t->root])
                gather(t->flame, child, c->to, place);
    }
    c->to->ends[closed.place] = c->n;
}

static void copy_nodes(struct copy *c)
{
    const struct trim *t = c->trim;

    for (uint32_t node = t->root; node < t->end; node++) {
        uint32_t place;

        if (!t->is_kept[node - t->root])
            continue;
        while (c->open_n > 0 && c->open[c->open_n - 1].node != t->flame->parents[node])
            close_node(c);
        place = c->n++;
        c->to->parents[place] = c->open_n ? c->open[c->open_n - 1].place : 0;
        c->to->symbols[place] = t->flame->symbols[node];
        c->to->depths[place] = t->flame->depths[node] - t->flame->depths[t->root];
        c->to->flags[place] = t->flame->flags[node];
        copy_values(t->flame, node, c->to, place);
        c->open[c->open_n++] = (struct open_node){ node, place };
    }
    while (c->open_n > 0)
        close_node(c);
}

static uint32_t count_result(const struct trim *t, uint32_t *ret_deepest)
{
    uint32_t n = 0;

    *ret_deepest = 0;
    for (uint32_t node = t->root; node < t->end; node++) {
        if (!t->is_kept[node - t->root])
            continue;
        n += 1 + has_cut_children(t, node);
        *ret_deepest = MAX(*ret_deepest, t->flame->depths[node] - t->flame->depths[t->root]);
    }
    return n;
}

static int copy_kept(const struct trim *t, struct arena *scratch, struct flame **ret_flame, struct error *err)
{
    const struct flame *from = t->flame;
    uint32_t deepest;
    uint32_t n = count_result(t, &deepest);
    struct copy copy = { .trim = t };

    copy.open = ARENA_ARRAY(scratch, struct open_node, (size_t)deepest + 1, err);
    if (!copy.open || flame_new_empty(n, from->n_columns, from->self_counts != NULL, from->set, &copy.to, err) < 0)
        return -1;
    copy_nodes(&copy);
    memcpy(copy.to->has_counts, from->has_counts, from->n_columns * sizeof(*from->has_counts));
    memcpy(copy.to->magnitudes, from->magnitudes, from->n_columns * sizeof(*from->magnitudes));
    copy.to->report = from->report;
    copy.to->is_inverted = from->is_inverted;
    *ret_flame = copy.to;
    return 0;
}

static int run(struct trim *t, struct arena *scratch, struct flame **ret_flame, struct error *err)
{
    uint32_t n = t->end - t->root;
    uint32_t max = t->options->max_nodes ? MIN(t->options->max_nodes, n) : n;

    t->weights = ARENA_ARRAY(scratch, double, n, err);
    t->is_kept = arena_alloc_zero(scratch, n * sizeof(*t->is_kept), err);
    t->heap = ARENA_ARRAY(scratch, uint32_t, max, err);
    if (!t->weights || !t->is_kept || !t->heap)
        return -1;
    weigh(t);
    choose(t, max);
    return copy_kept(t, scratch, ret_flame, err);
}

int trim_flame(const struct flame *flame, const struct trim_options *options, struct flame **ret_flame,
               struct error *err)
{
    struct trim trim = { .flame = flame, .options = options, .root = options->root };
    struct arena scratch;
    int result;

    ASSERT(options->root < flame->n_nodes);
    ASSERT(options->column == TRIM_ALL_COLUMNS || options->column < flame->n_columns);
    trim.end = flame->ends[options->root];
    arena_init(&scratch, 0);
    result = run(&trim, &scratch, ret_flame, err);
    arena_done(&scratch);
    return result;
}
