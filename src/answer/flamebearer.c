// SPDX-License-Identifier: Apache-2.0
/* Names are sorted once, so that the number of a name is its rank. Nodes go to the lists of their parents from the last
 * rank to the first, each in front, which leaves every list in order without comparing again. Then the tree is walked
 * level by level. */
#include "answer/flamebearer.h"

#include "pack/varint.h"

#include <stdlib.h>

#define NO_NODE UINT32_MAX

/* A tree whose siblings are in order of their names. */
struct layout {
    uint32_t *names;    /* [node] number of its name */
    uint32_t *children; /* [node] the first one, or NO_NODE */
    uint32_t *nexts;    /* [node] the sibling behind it, or NO_NODE */
    struct slice *texts;
    uint32_t n_texts;
};

struct named_symbol {
    struct slice text;
    uint32_t symbol;
};

static int by_text(const void *a, const void *b)
{
    const struct named_symbol *x = a, *y = b;
    int order = slice_compare(x->text, y->text);

    return order ? order : (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* The text with U+FFFD for each byte that is not UTF-8. */
static struct slice well_formed(struct slice text, struct arena *arena, struct error *err)
{
    char *to, *at;

    if (slice_is_utf8(text))
        return text;
    to = at = arena_alloc_array(arena, text.len, 3, err);
    if (!to)
        return slice_of(NULL, 0);
    while (text.len > 0) {
        size_t n = slice_utf8_len(text);

        at = n ? mempcpy(at, text.ptr, n) : mempcpy(at, "\xef\xbf\xbd", 3);
        text = slice_sub(text, MAX(n, (size_t)1), SIZE_MAX);
    }
    return slice_of(to, (size_t)(at - to));
}

/* Place of a symbol in a table of all symbols of the set and, behind them, the one of "other". */
static size_t symbol_place(const struct flame *flame, uint32_t node)
{
    uint32_t symbol = flame->symbols[node];

    return symbol == FLAME_OTHER ? flame->set->symbols.n : symbol;
}

/* Fills `names` and `texts`: "total" is 0, the others follow in order. */
static int number_names(const struct flame *flame, struct layout *layout, struct arena *arena, struct error *err)
{
    uint32_t *numbers = ARENA_ARRAY(arena, uint32_t, flame->set->symbols.n + 1, err);
    struct named_symbol *found = ARENA_ARRAY(arena, struct named_symbol, flame->n_nodes, err);
    uint32_t n = 0;

    if (!numbers || !found)
        return -1;
    memset(numbers, 0, (flame->set->symbols.n + 1) * sizeof(*numbers));
    for (uint32_t node = 1; node < flame->n_nodes; node++) {
        size_t place = symbol_place(flame, node);

        if (numbers[place]++ == 0)
            found[n++] = (struct named_symbol){ flame_name(flame, node), (uint32_t)place };
    }
    if (n > 0)
        qsort(found, n, sizeof(*found), by_text);

    layout->texts = ARENA_ARRAY(arena, struct slice, (size_t)n + 1, err);
    if (!layout->texts)
        return -1;
    layout->texts[0] = SLICE("total");
    for (uint32_t i = 0; i < n; i++) {
        layout->texts[i + 1] = well_formed(found[i].text, arena, err);
        if (!layout->texts[i + 1].ptr && found[i].text.len > 0)
            return -1;
        numbers[found[i].symbol] = i + 1;
    }
    layout->n_texts = n + 1;
    layout->names[0] = 0;
    for (uint32_t node = 1; node < flame->n_nodes; node++)
        layout->names[node] = numbers[symbol_place(flame, node)];
    return 0;
}

/* All nodes but the root, by the number of their name. */
static int sort_nodes(const struct flame *flame, const struct layout *layout, struct arena *arena,
                      uint32_t **ret_sorted, struct error *err)
{
    uint32_t *starts = ARENA_ARRAY(arena, uint32_t, (size_t)layout->n_texts + 1, err);
    uint32_t *sorted = ARENA_ARRAY(arena, uint32_t, flame->n_nodes, err);

    if (!starts || !sorted)
        return -1;
    memset(starts, 0, ((size_t)layout->n_texts + 1) * sizeof(*starts));
    for (uint32_t node = 1; node < flame->n_nodes; node++)
        starts[layout->names[node] + 1]++;
    for (uint32_t name = 1; name <= layout->n_texts; name++)
        starts[name] += starts[name - 1];
    for (uint32_t node = 1; node < flame->n_nodes; node++)
        sorted[starts[layout->names[node]]++] = node;
    *ret_sorted = sorted;
    return 0;
}

static int layout_make(const struct flame *flame, struct arena *arena, struct layout *ret_layout, struct error *err)
{
    struct layout layout = {
        .names = ARENA_ARRAY(arena, uint32_t, flame->n_nodes, err),
        .children = ARENA_ARRAY(arena, uint32_t, flame->n_nodes, err),
        .nexts = ARENA_ARRAY(arena, uint32_t, flame->n_nodes, err),
    };
    uint32_t *sorted;

    if (!layout.names || !layout.children || !layout.nexts || number_names(flame, &layout, arena, err) < 0 ||
        sort_nodes(flame, &layout, arena, &sorted, err) < 0)
        return -1;
    for (uint32_t node = 0; node < flame->n_nodes; node++)
        layout.children[node] = layout.nexts[node] = NO_NODE;
    for (uint32_t i = flame->n_nodes - 1; i-- > 0;) {
        uint32_t parent = flame->parents[sorted[i]];

        layout.nexts[sorted[i]] = layout.children[parent];
        layout.children[parent] = sorted[i];
    }
    *ret_layout = layout;
    return 0;
}

/* --- levels --- */

static uint32_t count_levels(const struct flame *flame)
{
    uint32_t deepest = 0;

    for (uint32_t node = 0; node < flame->n_nodes; node++)
        deepest = MAX(deepest, flame->depths[node]);
    return deepest + 1;
}

/* Room for the levels, each with the numbers that its nodes need. */
static int make_levels(const struct flame *flame, uint32_t width, struct arena *arena, struct flamebearer *bearer,
                       struct error *err)
{
    bearer->n_levels = count_levels(flame);
    bearer->levels = arena_alloc_array(arena, bearer->n_levels, sizeof(*bearer->levels), err);
    if (!bearer->levels)
        return -1;
    memset(bearer->levels, 0, bearer->n_levels * sizeof(*bearer->levels));
    for (uint32_t node = 0; node < flame->n_nodes; node++)
        bearer->levels[flame->depths[node]].n_values++;
    for (uint32_t level = 0; level < bearer->n_levels; level++) {
        struct flamebearer_level *at = &bearer->levels[level];

        at->values = arena_alloc_array(arena, (size_t)at->n_values * width, sizeof(int64_t), err);
        if (!at->values)
            return -1;
        at->n_values *= width;
    }
    return 0;
}

/* Writes the nodes of one side in the order of their levels. Wraps instead of overflowing: see B3. */
static void fill_side(const struct flame *flame, uint32_t column, const struct layout *layout, uint32_t width,
                      uint64_t *starts, uint32_t *order, struct flamebearer *bearer)
{
    uint32_t n_ordered = 1, at = 0;

    order[0] = 0;
    starts[0] = 0;
    for (uint32_t level = 0; level < bearer->n_levels; level++) {
        int64_t *to = bearer->levels[level].values + (size_t)column * 3;
        uint64_t level_end = 0;

        for (uint32_t end = n_ordered; at < end; at++, to += width) {
            uint32_t node = order[at];
            int64_t total = flame_total(flame, column, node), self = flame_self(flame, column, node);
            uint64_t child_start = starts[node] + (uint64_t)self;

            to[0] = (int64_t)(starts[node] - level_end);
            to[1] = total;
            to[2] = self;
            if (!bearer->is_diff || column == 1)
                to[3] = layout->names[node];
            level_end = starts[node] + (uint64_t)total;
            bearer->max_self = MAX(bearer->max_self, self);
            for (uint32_t child = layout->children[node]; child != NO_NODE; child = layout->nexts[child]) {
                starts[child] = child_start;
                child_start += (uint64_t)flame_total(flame, column, child);
                order[n_ordered++] = child;
            }
        }
    }
}

static int fill(const struct flame *flame, uint32_t n_sides, struct arena *arena, struct flamebearer *bearer,
                struct error *err)
{
    uint32_t width = n_sides == 2 ? FLAMEBEARER_DIFF_WIDTH : FLAMEBEARER_WIDTH;
    uint64_t *starts = ARENA_ARRAY(arena, uint64_t, flame->n_nodes, err);
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, flame->n_nodes, err);
    struct layout layout;

    if (!starts || !order || layout_make(flame, arena, &layout, err) < 0 ||
        make_levels(flame, width, arena, bearer, err) < 0)
        return -1;
    bearer->names = layout.texts;
    bearer->n_names = layout.n_texts;
    for (uint32_t side = 0; side < n_sides; side++)
        fill_side(flame, side, &layout, width, starts, order, bearer);
    return 0;
}

int flamebearer_from_flame(const struct flame *flame, struct arena *arena, struct flamebearer *ret_bearer,
                           struct error *err)
{
    struct flamebearer bearer = { .total = flame_total(flame, 0, 0) };

    if (fill(flame, 1, arena, &bearer, err) < 0)
        return -1;
    *ret_bearer = bearer;
    return 0;
}

static int check_signs(const struct flame *flame, struct error *err)
{
    for (uint32_t column = 0; column < 2; column++)
        for (uint32_t node = 0; node < flame->n_nodes; node++)
            if (flame_total(flame, column, node) < 0 || flame_self(flame, column, node) < 0) {
                struct slice name = flame_name(flame, node);

                return error_set(err, ERR_INVALID,
                                 "the %s side has negative values, such as those of '%.*s', which a diff cannot show",
                                 column == 0 ? "left" : "right", SLICE_ARG(name));
            }
    return 0;
}

int flamebearer_from_diff(const struct flame *flame, struct arena *arena, struct flamebearer *ret_bearer,
                          struct error *err)
{
    struct flamebearer bearer = {
        .is_diff = true,
        .left_ticks = flame_total(flame, 0, 0),
        .right_ticks = flame_total(flame, 1, 0),
    };

    ASSERT(flame->n_columns == 2);
    if (check_signs(flame, err) < 0)
        return -1;
    if (__builtin_add_overflow(bearer.left_ticks, bearer.right_ticks, &bearer.total))
        bearer.total = INT64_MAX;
    if (fill(flame, 2, arena, &bearer, err) < 0)
        return -1;
    *ret_bearer = bearer;
    return 0;
}

/* --- writing --- */

void flamebearer_write_json(const struct flamebearer *bearer, struct json *json)
{
    json_object_begin(json);
    json_key(json, "names");
    json_array_begin(json);
    for (uint32_t i = 0; i < bearer->n_names; i++)
        json_string(json, bearer->names[i]);
    json_array_end(json);
    json_key(json, "levels");
    json_array_begin(json);
    for (uint32_t level = 0; level < bearer->n_levels; level++) {
        json_array_begin(json);
        for (uint32_t i = 0; i < bearer->levels[level].n_values; i++)
            json_int(json, bearer->levels[level].values[i]);
        json_array_end(json);
    }
    json_array_end(json);
    json_key(json, "numTicks");
    json_int(json, bearer->total);
    json_key(json, "maxSelf");
    json_int(json, bearer->max_self);
    json_object_end(json);
}

void flamebearer_write_message(const struct flamebearer *bearer, struct rpcwriter *writer)
{
    rpcwriter_texts(writer, 1, "names", bearer->names, bearer->n_names);
    rpcwriter_list_begin(writer, "levels");
    for (uint32_t level = 0; level < bearer->n_levels; level++) {
        rpcwriter_begin(writer, 2, NULL);
        rpcwriter_int64s(writer, 1, "values", bearer->levels[level].values, bearer->levels[level].n_values);
        rpcwriter_end(writer);
    }
    rpcwriter_list_end(writer);
    rpcwriter_int64(writer, 3, "total", bearer->total);
    rpcwriter_int64(writer, 4, "maxSelf", bearer->max_self);
    rpcwriter_int64(writer, 5, "leftTicks", bearer->left_ticks);
    rpcwriter_int64(writer, 6, "rightTicks", bearer->right_ticks);
}

/* A node, and its children onto the stack: whichever is pushed last comes first, which is what the format wants. */
static uint32_t write_tree_node(const struct flame *flame, const struct layout *layout, uint32_t node,
                                struct slice name, uint32_t *pushed, struct buffer *out)
{
    uint32_t n = 0;

    for (uint32_t child = layout->children[node]; child != NO_NODE; child = layout->nexts[child])
        pushed[n++] = child;
    varint_append(out, name.len);
    buffer_append_slice(out, name);
    varint_append(out, (uint64_t)flame_self(flame, 0, node));
    varint_append(out, n);
    return n;
}

static int write_tree(const struct flame *flame, struct arena *arena, struct buffer *out, struct error *err)
{
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, flame->n_nodes, err);
    struct layout layout;
    uint32_t n;

    if (!stack || layout_make(flame, arena, &layout, err) < 0)
        return -1;
    n = write_tree_node(flame, &layout, 0, SLICE(""), stack, out);
    while (n > 0) {
        uint32_t node = stack[--n];

        n += write_tree_node(flame, &layout, node, layout.texts[layout.names[node]], &stack[n], out);
    }
    return buffer_check(out, err);
}

int flamebearer_write_tree(const struct flame *flame, struct buffer *out, struct error *err)
{
    struct arena arena;
    int result;

    if (flame->n_nodes == 1 && flame_self(flame, 0, 0) == 0)
        return 0;
    arena_init(&arena, 0);
    result = write_tree(flame, &arena, out, err);
    arena_done(&arena);
    return result;
}

int flamebearer_check_nodes(int64_t asked, struct error *err)
{
    if (asked < 0 || asked > FLAMEBEARER_MAX_NODES)
        return error_set(err, ERR_INVALID, "max_nodes is %lld, but it must be 1 to %d, or 0 for the default of %d",
                         (long long)asked, FLAMEBEARER_MAX_NODES, FLAMEBEARER_DEFAULT_NODES);
    return 0;
}

int flamebearer_max_nodes(int64_t asked, uint32_t *ret_max_nodes, struct error *err)
{
    if (flamebearer_check_nodes(asked, err) < 0)
        return -1;
    *ret_max_nodes = (asked == 0 ? FLAMEBEARER_DEFAULT_NODES : (uint32_t)asked) + 1;
    return 0;
}
