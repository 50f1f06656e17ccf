// SPDX-License-Identifier: Apache-2.0
/* Building goes in two stages. Samples are added to a trie of symbols, whose nodes are numbered as they are met; each
 * distinct stack is walked once and remembered, so a sample costs one lookup by its stack id. When all is in, the nodes
 * are laid out anew in depth-first order (F1). */
#include "flame/flame.h"

#include "flame/trie.h"

#include <stdlib.h>

#define NO_LIMIT SIZE_MAX

static const char saturation[] = "a sum went past 64 bits and stays at the edge";
static const char overflow_note[] = "the tree reached its limit of nodes; stacks on new paths were counted as "
                                    "[overflow]";

/* What is known of a trie node besides its place. */
enum {
    MET_INLINED = 1,
    MET_PLAIN = 2,
    HAS_SAMPLES = 4, /* itself or below */
};

struct cell {
    int64_t self;
    double count;
};

struct path_step {
    uint32_t symbol, node;
};

struct flame_builder {
    struct flame_options options;
    uint32_t n_columns;
    struct symbolset *set;
    struct trie trie;
    VEC(struct cell) cells;     /* [node * n_columns + column] */
    VEC(uint8_t) marks;         /* [node] */
    VEC(struct path_step) path; /* of the stack walked last: what the next one shares with it needs no lookup */
    int64_t magnitudes[FLAME_MAX_COLUMNS];
    bool is_filled[FLAME_MAX_COLUMNS];
    bool lacks_counts[FLAME_MAX_COLUMNS];
    uint64_t saturated;
    uint64_t overflowed;
};

/* --- life --- */

void flame_builder_free(struct flame_builder *b)
{
    if (!b)
        return;
    if (b->set)
        symbolset_done(b->set);
    memory_free(b->set);
    trie_done(&b->trie);
    VEC_DONE(&b->cells);
    VEC_DONE(&b->marks);
    VEC_DONE(&b->path);
    memory_free(b);
}

void flame_builder_freep(struct flame_builder **builder)
{
    flame_builder_free(*builder);
}

/* Gives the newest nodes of the trie their cells and marks. */
static int cover_nodes(struct flame_builder *b, struct error *err)
{
    size_t n_new = b->trie.n - b->marks.n;

    if (VEC_RESERVE(&b->marks, n_new, NO_LIMIT, err) < 0 ||
        VEC_RESERVE(&b->cells, n_new * b->n_columns, NO_LIMIT, err) < 0)
        return -1;
    memset(b->marks.items + b->marks.n, 0, n_new);
    memset(b->cells.items + b->cells.n, 0, n_new * b->n_columns * sizeof(*b->cells.items));
    b->marks.n += n_new;
    b->cells.n += n_new * b->n_columns;
    return 0;
}

int flame_builder_new(const struct flame_options *options, uint32_t n_columns, struct flame_builder **ret_builder,
                      struct error *err)
{
    AUTO(flame_builder_freep) struct flame_builder *b = MEMORY_NEW(struct flame_builder, err);

    ASSERT(n_columns > 0 && n_columns <= FLAME_MAX_COLUMNS);
    if (!b)
        return -1;
    if (options)
        b->options = *options;
    b->n_columns = n_columns;
    b->set = MEMORY_NEW(struct symbolset, err);
    if (!b->set)
        return -1;
    symbolset_init(b->set, b->options.granularity);
    if (trie_init(&b->trie, b->options.max_nodes ? b->options.max_nodes : FLAME_MAX_NODES, err) < 0 ||
        cover_nodes(b, err) < 0)
        return -1;
    *ret_builder = TAKE(b);
    return 0;
}

/* --- adding samples --- */

/* One flame_builder_add: what was found out about the tables of its profile. */
struct source {
    struct flame_builder *builder;
    const struct tables *tables;
    struct symbolset_frames frames;
    uint32_t *nodes; /* [stack] where its samples go; TRIE_NONE = not walked yet */
};

/* The node for whatever no longer fits: one more than the limit allows. */
static int overflow_node(struct flame_builder *b, uint32_t *ret_node, struct error *err)
{
    uint32_t symbol;

    if (symbolset_add_text(b->set, SLICE("[overflow]"), &symbol, err) < 0)
        return -1;
    if (b->overflowed++ == 0)
        b->trie.max++;
    return trie_add(&b->trie, TRIE_ROOT, symbol, ret_node, err);
}

/* One walk along a stack. */
struct walk {
    uint32_t node;
    uint32_t last_symbol;
    size_t depth;
};

/* Finds the child by hash and puts it on the path. */
static int look_up(struct flame_builder *b, struct walk *walk, uint32_t symbol, struct error *err)
{
    struct path_step *here;

    b->path.n = walk->depth; /* what is below belongs to another stack */
    if (trie_add(&b->trie, walk->node, symbol, &walk->node, err) < 0 ||
        (b->trie.n > b->marks.n && cover_nodes(b, err) < 0))
        return -1;
    here = VEC_PUSH(&b->path, NO_LIMIT, err);
    if (!here)
        return -1;
    *here = (struct path_step){ symbol, walk->node };
    return 0;
}

static int step(struct flame_builder *b, struct walk *walk, uint32_t symbol, bool is_inlined, struct error *err)
{
    if (b->options.collapses_recursion && symbol == walk->last_symbol)
        return 0;
    if (walk->depth < b->path.n && b->path.items[walk->depth].symbol == symbol)
        walk->node = b->path.items[walk->depth].node;
    else if (look_up(b, walk, symbol, err) < 0)
        return -1;
    b->marks.items[walk->node] |= is_inlined ? MET_INLINED : MET_PLAIN;
    walk->last_symbol = symbol;
    walk->depth++;
    return 0;
}

/* The names of one frame, from the caller inwards or the other way round. */
static int step_frame(const struct source *source, struct walk *walk, uint32_t frame, struct error *err)
{
    struct flame_builder *b = source->builder;
    const uint32_t *ids = source->frames.ids + source->frames.starts[frame];
    uint32_t n = source->frames.starts[frame + 1] - source->frames.starts[frame];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = b->options.is_inverted ? i : n - 1 - i;

        if (step(b, walk, ids[index], index + 1 < n, err) < 0)
            return -1;
    }
    return 0;
}

static int walk_stack(const struct source *source, uint32_t stack, uint32_t *ret_node, struct error *err)
{
    struct flame_builder *b = source->builder;
    struct walk walk = { TRIE_ROOT, FLAME_ROOT, 0 };
    uint32_t depth;
    const uint32_t *frames = tables_stack(source->tables, stack, &depth);

    for (uint32_t i = 0; i < depth; i++) {
        if (step_frame(source, &walk, frames[b->options.is_inverted ? i : depth - 1 - i], err) == 0)
            continue;
        if (err->code != ERR_LIMIT || b->trie.n < b->trie.max)
            return -1;
        if (overflow_node(b, &walk.node, err) < 0 || cover_nodes(b, err) < 0)
            return -1;
        break;
    }
    *ret_node = walk.node;
    return 0;
}

static bool is_zero(const struct profile *profile, const uint32_t *types, uint32_t n_types, uint32_t sample)
{
    for (uint32_t i = 0; i < n_types; i++)
        if (profile_values(profile, types[i])[sample] != 0)
            return false;
    return true;
}

static void add_values(struct flame_builder *b, const struct profile *profile, const struct noise_source *noise,
                       uint32_t n_types, uint32_t first_column, uint32_t sample, uint32_t node)
{
    struct cell *cells = b->cells.items + (size_t)node * b->n_columns + first_column;

    for (uint32_t i = 0; i < n_types; i++) {
        int64_t value = profile_values(profile, noise[i].type)[sample];
        int64_t *magnitude = &b->magnitudes[first_column + i];

        if (value == 0)
            continue;
        cells[i].self = value_add(cells[i].self, value, &b->saturated);
        cells[i].count += noise_count(&noise[i], sample);
        *magnitude = value_add(*magnitude, value == INT64_MIN ? INT64_MAX : llabs(value), &b->saturated);
    }
    b->marks.items[node] |= HAS_SAMPLES;
}

static int add_samples(struct source *source, const struct profile *profile, const uint32_t *types, uint32_t n_types,
                       uint32_t first_column, struct error *err)
{
    struct flame_builder *b = source->builder;
    struct noise_source noise[FLAME_MAX_COLUMNS];

    for (uint32_t i = 0; i < n_types; i++) {
        noise[i] = noise_source_find(profile, types[i]);
        b->lacks_counts[first_column + i] |= noise[i].kind == NOISE_SOURCE_NONE && profile->n_samples > 0;
        b->is_filled[first_column + i] = true;
    }
    for (uint32_t sample = 0; sample < profile->n_samples; sample++) {
        uint32_t *node = &source->nodes[profile->stacks[sample]];

        if (is_zero(profile, types, n_types, sample))
            continue;
        if (*node == TRIE_NONE && walk_stack(source, profile->stacks[sample], node, err) < 0)
            return -1;
        add_values(b, profile, noise, n_types, first_column, sample, *node);
    }
    return 0;
}

int flame_builder_add(struct flame_builder *b, const struct profile *profile, const uint32_t *types, uint32_t n_types,
                      uint32_t first_column, struct error *err)
{
    struct source source = { .builder = b, .tables = profile->tables };
    size_t size = profile->tables->n_stacks * sizeof(*source.nodes);
    int result = -1;

    ASSERT(n_types <= b->n_columns && first_column <= b->n_columns - n_types);
    for (uint32_t i = 0; i < n_types; i++)
        ASSERT(types[i] < profile->n_types);
    if (symbolset_import(b->set, profile->tables, &source.frames, err) < 0)
        return -1;
    source.nodes = memory_alloc(size, err);
    if (source.nodes) {
        memset(source.nodes, 0xff, size); /* TRIE_NONE */
        result = add_samples(&source, profile, types, n_types, first_column, err);
    }
    memory_free(source.nodes);
    symbolset_frames_done(&source.frames);
    return result;
}

/* --- laying out --- */

/* The nodes of the trie with what is needed to order them. */
struct layout {
    struct flame_builder *builder;
    int64_t *totals;        /* [node * n_columns + column] */
    double *counts;         /* likewise */
    uint64_t *weights;      /* by which siblings are ordered */
    uint32_t *first_child;  /* 0 = none */
    uint32_t *next_sibling; /* 0 = none */
    uint32_t *order;        /* trie nodes in the order of F1, then the siblings waiting behind them */
    uint32_t *places;       /* [node] its place in that order */
    uint32_t n;             /* nodes that have samples at or below them */
};

static int layout_init(struct layout *l, struct flame_builder *b, struct arena *arena, struct error *err)
{
    size_t n = b->trie.n;

    *l = (struct layout){ .builder = b };
    return (l->totals = ARENA_ARRAY(arena, int64_t, n * b->n_columns, err)) &&
                   (l->counts = ARENA_ARRAY(arena, double, n * b->n_columns, err)) &&
                   (l->weights = ARENA_ARRAY(arena, uint64_t, n, err)) &&
                   (l->first_child = ARENA_ARRAY(arena, uint32_t, n, err)) &&
                   (l->next_sibling = ARENA_ARRAY(arena, uint32_t, n, err)) &&
                   (l->order = ARENA_ARRAY(arena, uint32_t, n, err)) &&
                   (l->places = ARENA_ARRAY(arena, uint32_t, n, err))
               ? 0
               : -1;
}

static uint64_t weight_of(const struct layout *l, uint32_t node)
{
    const struct flame_builder *b = l->builder;
    const int64_t *totals = l->totals + (size_t)node * b->n_columns;
    uint32_t n = b->options.is_ordered_by_all ? b->n_columns : 1;
    uint64_t weight = 0;

    for (uint32_t i = 0; i < n; i++)
        if (__builtin_add_overflow(weight, flame_magnitude(totals[i]), &weight))
            return UINT64_MAX;
    return weight;
}

/* From the leaves to the root (R1): totals, and lists of children that have samples. */
static void sum_up(struct layout *l)
{
    struct flame_builder *b = l->builder;
    uint32_t n_columns = b->n_columns;

    for (size_t i = 0; i < (size_t)b->trie.n * n_columns; i++) {
        l->totals[i] = b->cells.items[i].self;
        l->counts[i] = b->cells.items[i].count;
    }
    memset(l->first_child, 0, b->trie.n * sizeof(*l->first_child));
    for (uint32_t node = b->trie.n - 1; node > TRIE_ROOT; node--) {
        uint32_t parent = b->trie.nodes[node].parent;

        if (!(b->marks.items[node] & HAS_SAMPLES))
            continue;
        b->marks.items[parent] |= HAS_SAMPLES;
        l->weights[node] = weight_of(l, node);
        l->next_sibling[node] = l->first_child[parent];
        l->first_child[parent] = node;
        for (uint32_t i = 0; i < n_columns; i++) {
            int64_t *total = &l->totals[(size_t)parent * n_columns + i];

            *total = value_add(*total, l->totals[(size_t)node * n_columns + i], &b->saturated);
            l->counts[(size_t)parent * n_columns + i] += l->counts[(size_t)node * n_columns + i];
        }
    }
}

static int compare_siblings(const void *left, const void *right, void *context)
{
    const struct layout *l = context;
    const struct flame_builder *b = l->builder;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    uint32_t x_symbol = b->trie.nodes[x].key, y_symbol = b->trie.nodes[y].key;
    int order;

    if (l->weights[x] != l->weights[y])
        return l->weights[x] > l->weights[y] ? -1 : 1;
    order = slice_compare(symbolset_get(b->set, x_symbol)->text, symbolset_get(b->set, y_symbol)->text);
    return order ? order : x_symbol < y_symbol ? -1 : x_symbol > y_symbol;
}

/* Puts the nodes in order. The front of `order` is what is placed; siblings that wait are kept at its end as a stack:
 * the two never meet, since together they hold each node once. */
static void put_in_order(struct layout *l)
{
    uint32_t end = l->builder->trie.n;
    uint32_t waiting = end; /* order[waiting .. end) waits, next one first */

    l->order[--waiting] = TRIE_ROOT;
    while (waiting < end) {
        uint32_t node = l->order[waiting++];
        uint32_t first = waiting;

        l->places[node] = l->n;
        l->order[l->n++] = node;
        for (uint32_t child = l->first_child[node]; child; child = l->next_sibling[child])
            l->order[--first] = child;
        if (waiting - first > 1)
            qsort_r(l->order + first, waiting - first, sizeof(*l->order), compare_siblings, l);
        waiting = first;
    }
}

static uint8_t flags_of(uint8_t marks)
{
    if (!(marks & MET_INLINED))
        return 0;
    return marks & MET_PLAIN ? FLAME_IS_PARTLY_INLINED : FLAME_IS_INLINED;
}

static void fill_node(const struct layout *l, struct flame *flame, uint32_t place)
{
    const struct flame_builder *b = l->builder;
    uint32_t node = l->order[place];
    uint32_t parent = l->places[b->trie.nodes[node].parent];

    flame->parents[place] = parent;
    flame->symbols[place] = place ? b->trie.nodes[node].key : FLAME_ROOT;
    flame->depths[place] = place ? flame->depths[parent] + 1 : 0;
    flame->flags[place] = flags_of(b->marks.items[node]);
    for (uint32_t i = 0; i < b->n_columns; i++) {
        size_t from = (size_t)node * b->n_columns + i, to = (size_t)i * flame->n_nodes + place;

        flame->self[to] = b->cells.items[from].self;
        flame->total[to] = l->totals[from];
        if (flame->self_counts) {
            flame->self_counts[to] = b->cells.items[from].count;
            flame->total_counts[to] = l->counts[from];
        }
    }
}

static void fill(const struct layout *l, struct flame *flame)
{
    struct flame_builder *b = l->builder;

    for (uint32_t place = 0; place < flame->n_nodes; place++)
        fill_node(l, flame, place);
    for (uint32_t place = flame->n_nodes; place-- > 0;) {
        flame->ends[place] = MAX(flame->ends[place], place + 1);
        flame->ends[flame->parents[place]] = MAX(flame->ends[flame->parents[place]], flame->ends[place]);
    }
    for (uint32_t i = 0; i < b->n_columns; i++) {
        flame->has_counts[i] = b->is_filled[i] && !b->lacks_counts[i];
        flame->magnitudes[i] = b->magnitudes[i];
    }
    if (b->saturated)
        report_add(&flame->report, saturation, b->saturated, "while adding up a flame tree");
    if (b->overflowed)
        report_add(&flame->report, overflow_note, b->overflowed, "at %u nodes", b->trie.n);
}

static bool knows_counts(const struct flame_builder *b)
{
    for (uint32_t i = 0; i < b->n_columns; i++)
        if (b->is_filled[i] && !b->lacks_counts[i])
            return true;
    return false;
}

static int lay_out(struct flame_builder *b, struct arena *scratch, struct flame **ret_flame, struct error *err)
{
    struct layout layout;
    struct flame *flame;

    if (layout_init(&layout, b, scratch, err) < 0)
        return -1;
    sum_up(&layout);
    put_in_order(&layout);
    if (flame_new_empty(layout.n, b->n_columns, knows_counts(b), b->set, &flame, err) < 0)
        return -1;
    flame->is_inverted = b->options.is_inverted;
    flame->owns_set = true;
    b->set = NULL;
    fill(&layout, flame);
    *ret_flame = flame;
    return 0;
}

int flame_builder_finish(struct flame_builder *b, struct flame **ret_flame, struct error *err)
{
    struct arena scratch;
    int result;

    arena_init(&scratch, 0);
    result = lay_out(b, &scratch, ret_flame, err);
    arena_done(&scratch);
    return result;
}

/* --- the finished tree --- */

int flame_new_empty(uint32_t n_nodes, uint32_t n_columns, bool has_counts, struct symbolset *set,
                    struct flame **ret_flame, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = MEMORY_NEW(struct flame, err);
    struct arena *arena;
    size_t cells;

    if (!flame)
        return -1;
    arena = &flame->arena;
    arena_init(arena, 0);
    flame->n_nodes = n_nodes;
    flame->n_columns = n_columns;
    flame->set = set;
    if (__builtin_mul_overflow((size_t)n_nodes * n_columns, sizeof(int64_t), &cells))
        return error_set(err, ERR_LIMIT, "%u nodes of %u columns do not fit in memory", n_nodes, n_columns);
    flame->parents = arena_alloc_zero(arena, n_nodes * sizeof(*flame->parents), err);
    flame->symbols = arena_alloc_zero(arena, n_nodes * sizeof(*flame->symbols), err);
    flame->ends = arena_alloc_zero(arena, n_nodes * sizeof(*flame->ends), err);
    flame->depths = arena_alloc_zero(arena, n_nodes * sizeof(*flame->depths), err);
    flame->flags = arena_alloc_zero(arena, n_nodes, err);
    flame->self = arena_alloc_zero(arena, cells, err);
    flame->total = arena_alloc_zero(arena, cells, err);
    flame->has_counts = arena_alloc_zero(arena, n_columns * sizeof(*flame->has_counts), err);
    flame->magnitudes = arena_alloc_zero(arena, n_columns * sizeof(*flame->magnitudes), err);
    if (has_counts) {
        flame->self_counts = arena_alloc_zero(arena, cells, err);
        flame->total_counts = arena_alloc_zero(arena, cells, err);
    }
    if (!flame->parents || !flame->symbols || !flame->ends || !flame->depths || !flame->flags || !flame->self ||
        !flame->total || !flame->has_counts || !flame->magnitudes ||
        (has_counts && (!flame->self_counts || !flame->total_counts)))
        return -1;
    *ret_flame = TAKE(flame);
    return 0;
}

bool flame_has_overflow(const struct flame *flame)
{
    return report_count(&flame->report, overflow_note) > 0;
}

void flame_free(struct flame *flame)
{
    if (!flame)
        return;
    if (flame->owns_set) {
        symbolset_done(flame->set);
        memory_free(flame->set);
    }
    arena_done(&flame->arena);
    memory_free(flame);
}

void flame_freep(struct flame **flame)
{
    flame_free(*flame);
}

int flame_new(const struct profile *profile, const uint32_t *types, uint32_t n_types,
              const struct flame_options *options, struct flame **ret_flame, struct error *err)
{
    AUTO(flame_builder_freep) struct flame_builder *b = NULL;

    if (flame_builder_new(options, n_types, &b, err) < 0 || flame_builder_add(b, profile, types, n_types, 0, err) < 0)
        return -1;
    return flame_builder_finish(b, ret_flame, err);
}

const struct symbol *flame_symbol(const struct flame *flame, uint32_t node)
{
    uint32_t symbol = flame->symbols[node];

    return symbol == FLAME_ROOT || symbol == FLAME_OTHER ? NULL : symbolset_get(flame->set, symbol);
}

struct slice flame_name(const struct flame *flame, uint32_t node)
{
    const struct symbol *symbol = flame_symbol(flame, node);

    if (symbol)
        return symbol->text;
    return flame->symbols[node] == FLAME_ROOT ? SLICE("root") : SLICE("other");
}

uint32_t flame_find_child(const struct flame *flame, uint32_t node, struct slice name)
{
    for (uint32_t child = flame_first_child(flame, node); child; child = flame_next_child(flame, child))
        if (slice_equal(flame_name(flame, child), name))
            return child;
    return 0;
}

int flame_no_such_path(const struct slice *path, uint32_t at, struct error *err)
{
    if (at == 0)
        return error_set(err, ERR_NOT_FOUND, "no stack begins with '%.*s'", SLICE_ARG(path[0]));
    return error_set(err, ERR_NOT_FOUND, "the path ends after %u call%s: '%.*s' does not call '%.*s' there", at,
                     at == 1 ? "" : "s", SLICE_ARG(path[at - 1]), SLICE_ARG(path[at]));
}

int flame_find_path(const struct flame *flame, const struct slice *path, uint32_t n_path, uint32_t *ret_node,
                    struct error *err)
{
    uint32_t node = 0;

    for (uint32_t i = 0; i < n_path; i++) {
        node = flame_find_child(flame, node, path[i]);
        if (!node)
            return flame_no_such_path(path, i, err);
    }
    *ret_node = node;
    return 0;
}
