// SPDX-License-Identifier: Apache-2.0
/* The decoder. Every number is checked before it is used, and nothing is allocated that the bytes at hand could not fill. */
#include "base/bytes.h"
#include "flame/flamebytes_internal.h"
#include "pack/varint.h"

#include <string.h>

static const char *const stream_names[FLAMEBYTES_STREAMS] = {
    "runs",           "pops",    "leaf values",    "inner values", "leaf values after", "inner values after",
    "names of nodes", "callees", "flags of nodes", "names",        "details of names",  "texts"
};

struct reader {
    struct slice rest; /* of the header */
    struct slice streams[FLAMEBYTES_STREAMS];
    struct arena *arena;
    struct flamebytes *tree;
    struct error *err;
};

/* --- numbers --- */

static int get(struct reader *reader, const char *what, uint64_t min, uint64_t max, uint64_t *ret_value)
{
    uint64_t value;

    if (!varint_next(&reader->rest, &value))
        return error_set(reader->err, ERR_CORRUPT, "flame format: the header is cut off in %s", what);
    if (value < min || value > max)
        return error_set(reader->err, ERR_CORRUPT, "flame format: %s is %llu, not in %llu to %llu", what,
                         (unsigned long long)value, (unsigned long long)min, (unsigned long long)max);
    *ret_value = value;
    return 0;
}

static int get_u32(struct reader *reader, const char *what, uint32_t min, uint32_t max, uint32_t *ret_value)
{
    uint64_t value;

    if (get(reader, what, min, max, &value) < 0)
        return -1;
    *ret_value = (uint32_t)value;
    return 0;
}

/* The next number of a stream, `min` to `max`. */
static int next(struct reader *reader, uint32_t stream, uint64_t min, uint64_t max, uint64_t *ret_value)
{
    if (!varint_next(&reader->streams[stream], ret_value))
        return error_set(reader->err, ERR_CORRUPT, "flame format: the stream of %s is cut off", stream_names[stream]);
    if (*ret_value < min || *ret_value > max)
        return error_set(reader->err, ERR_CORRUPT, "flame format: %llu among the %s, where %llu to %llu can be",
                         (unsigned long long)*ret_value, stream_names[stream], (unsigned long long)min,
                         (unsigned long long)max);
    return 0;
}

/* What was divided becomes whole again. */
static int check_value(struct reader *reader, uint64_t coded, int64_t *ret_value)
{
    bool is_signed = (reader->tree->flags & FLAMEBYTES_SIGNED) != 0;
    uint64_t divisor = reader->tree->divisor;

    if (is_signed ? __builtin_mul_overflow(varint_unzigzag(coded), divisor, ret_value)
                  : __builtin_mul_overflow(coded, divisor, ret_value))
        return error_set(reader->err, ERR_CORRUPT, "flame format: the value %llu times %llu is beyond 64 bits",
                         (unsigned long long)coded, (unsigned long long)divisor);
    return 0;
}

static int next_value(struct reader *reader, uint32_t stream, int64_t *ret_value)
{
    uint64_t coded;

    return next(reader, stream, 0, UINT64_MAX, &coded) < 0 ? -1 : check_value(reader, coded, ret_value);
}

/* The number of a node, by its distance from the one before; `*at` is the number behind that, and then behind it. */
static int next_node(struct reader *reader, uint32_t stream, uint32_t *at)
{
    uint64_t distance;

    if (next(reader, stream, 1, reader->tree->n_nodes - *at, &distance) < 0)
        return -1;
    *at += (uint32_t)distance;
    return 0;
}

/* --- header --- */

static int read_head(struct reader *reader, struct slice bytes)
{
    struct flamebytes *tree = reader->tree;
    uint64_t bits;

    if (bytes.len < FLAMEBYTES_HEAD_BYTES || memcmp(bytes.ptr, FLAMEBYTES_MAGIC, 4) != 0)
        return error_set(reader->err, ERR_CORRUPT, "this is not the flame format, which begins with " FLAMEBYTES_MAGIC);
    if (bytes.ptr[4] != FLAMEBYTES_VERSION)
        return error_set(reader->err, ERR_VERSION, "flame format: version %u, but only %d is known",
                         (unsigned char)bytes.ptr[4], FLAMEBYTES_VERSION);
    tree->flags = (uint8_t)bytes.ptr[5];
    tree->n_columns = (uint8_t)bytes.ptr[6];
    if (tree->flags > (FLAMEBYTES_RANKS | FLAMEBYTES_SIGNED | FLAMEBYTES_INVERTED) || bytes.ptr[7] != 0)
        return error_set(reader->err, ERR_CORRUPT, "flame format: flags that version 1 does not have");
    if (tree->n_columns < 1 || tree->n_columns > FLAMEBYTES_MAX_COLUMNS)
        return error_set(reader->err, ERR_CORRUPT, "flame format: %u columns; 1 and 2 can be", tree->n_columns);
    reader->rest = slice_sub(bytes, FLAMEBYTES_HEAD_BYTES, SIZE_MAX);
    tree->factor = 1;
    if (tree->n_columns == 1)
        return 0;
    if (reader->rest.len < sizeof(bits))
        return error_set(reader->err, ERR_CORRUPT, "flame format: the header is cut off in the factor");
    bits = bytes_get_le64(reader->rest.ptr);
    memcpy(&tree->factor, &bits, sizeof(bits));
    reader->rest = slice_sub(reader->rest, sizeof(bits), SIZE_MAX);
    return 0;
}

static int cut_text(struct reader *reader, struct slice *rest, const char *what, struct slice *ret_text)
{
    uint64_t len;

    if (!varint_next(rest, &len) || len > rest->len)
        return error_set(reader->err, ERR_CORRUPT, "flame format: the text of %s is cut off", what);
    *ret_text = slice_sub(*rest, 0, (size_t)len);
    *rest = slice_sub(*rest, (size_t)len, SIZE_MAX);
    return 0;
}

static int cut_streams(struct reader *reader)
{
    uint64_t lengths[FLAMEBYTES_STREAMS] = { 0 };

    for (uint32_t i = 0; i < FLAMEBYTES_STREAMS; i++)
        if (flamebytes_has_stream(i, reader->tree->n_columns) &&
            get(reader, "the length of a stream", 0, reader->rest.len, &lengths[i]) < 0)
            return -1;
    for (uint32_t i = 0; i < FLAMEBYTES_STREAMS; i++) {
        if (lengths[i] > reader->rest.len)
            return error_set(reader->err, ERR_CORRUPT, "flame format: %llu bytes of %s, but only %zu are left",
                             (unsigned long long)lengths[i], stream_names[i], reader->rest.len);
        reader->streams[i] = slice_sub(reader->rest, 0, (size_t)lengths[i]);
        reader->rest = slice_sub(reader->rest, (size_t)lengths[i], SIZE_MAX);
    }
    if (reader->rest.len > 0)
        return error_set(reader->err, ERR_CORRUPT, "flame format: %zu bytes behind its end", reader->rest.len);
    return 0;
}

/* Each leaf, node and name takes a byte at least: what is claimed beyond that is not there. */
static int check_claims(struct reader *reader)
{
    const struct flamebytes *tree = reader->tree;

    if (tree->n_leaves > reader->streams[FLAMEBYTES_RUNS].len ||
        tree->n_nodes - 1 > reader->streams[FLAMEBYTES_NODE_NAMES].len ||
        tree->n_names > reader->streams[FLAMEBYTES_NAMES].len ||
        tree->n_names > reader->streams[FLAMEBYTES_DETAILS].len / FLAMEBYTES_DETAIL_NUMBERS ||
        tree->n_texts > reader->streams[FLAMEBYTES_TEXTS].len)
        return error_set(reader->err, ERR_CORRUPT,
                         "flame format: %u nodes, %u leaves, %u names and %u texts do not fit its streams",
                         tree->n_nodes, tree->n_leaves, tree->n_names, tree->n_texts);
    return 0;
}

static int read_columns(struct reader *reader, int64_t *ret_totals)
{
    struct flamebytes *tree = reader->tree;
    uint64_t number;

    for (uint32_t column = 0; column < tree->n_columns; column++)
        if (get(reader, "the total", 0, UINT64_MAX, &number) < 0 ||
            check_value(reader, number, &ret_totals[column]) < 0)
            return -1;
    for (uint32_t column = 0; column < tree->n_columns; column++) {
        if (get(reader, "the number of samples", 0, UINT64_MAX, &number) < 0)
            return -1;
        tree->samples[column] = number ? (double)(number - 1) : -1;
    }
    return 0;
}

static int read_header(struct reader *reader, int64_t *ret_totals)
{
    struct flamebytes *tree = reader->tree;
    uint32_t root_name;

    if (get_u32(reader, "the number of nodes", 1, UINT32_MAX, &tree->n_nodes) < 0 ||
        get_u32(reader, "the number of leaves", 1, tree->n_nodes, &tree->n_leaves) < 0 ||
        get_u32(reader, "the largest depth", 0, tree->n_nodes - 1, &tree->max_depth) < 0 ||
        get_u32(reader, "the number of names", 1, tree->n_nodes, &tree->n_names) < 0 ||
        get_u32(reader, "the name of the root", 0, tree->n_names - 1, &root_name) < 0 ||
        get_u32(reader, "the number of texts", 0, UINT32_MAX, &tree->n_texts) < 0 ||
        get(reader, "the divisor", 1, UINT64_MAX, &tree->divisor) < 0 || read_columns(reader, ret_totals) < 0)
        return -1;
    if (cut_text(reader, &reader->rest, "the unit", &tree->unit) < 0 || cut_streams(reader) < 0 ||
        check_claims(reader) < 0)
        return -1;
    tree->node_names = ARENA_ARRAY(reader->arena, uint32_t, tree->n_nodes, reader->err);
    if (!tree->node_names)
        return -1;
    tree->node_names[0] = root_name;
    return 0;
}

/* --- streams --- */

/* `path` holds the numbers of the nodes on the way to the leaf at hand, by depth. */
static int read_shape(struct reader *reader)
{
    struct flamebytes *tree = reader->tree;
    uint32_t *path = ARENA_ARRAY(reader->arena, uint32_t, (size_t)tree->max_depth + 1, reader->err);
    uint32_t node = 0, depth = 0, deepest = 0;

    tree->parents = ARENA_ARRAY(reader->arena, uint32_t, tree->n_nodes, reader->err);
    tree->depths = ARENA_ARRAY(reader->arena, uint32_t, tree->n_nodes, reader->err);
    if (!path || !tree->parents || !tree->depths)
        return -1;
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
        uint64_t run, pop;

        if (next(reader, FLAMEBYTES_RUNS, 1, MIN(tree->n_nodes - node, tree->max_depth + 1 - depth), &run) < 0)
            return -1;
        for (; run > 0; run--, node++, depth++) {
            path[depth] = node;
            tree->parents[node] = depth > 0 ? path[depth - 1] : 0;
            tree->depths[node] = depth;
        }
        deepest = MAX(deepest, depth - 1);
        if (leaf + 1 == tree->n_leaves)
            break;
        if (depth < 2)
            return error_set(reader->err, ERR_CORRUPT, "flame format: a node beside the root");
        if (next(reader, FLAMEBYTES_POPS, 0, depth - 2, &pop) < 0)
            return -1;
        depth = depth - 1 - (uint32_t)pop;
    }
    if (node != tree->n_nodes || deepest != tree->max_depth)
        return error_set(reader->err, ERR_CORRUPT,
                         "flame format: %u nodes of depth %u where the header says %u of depth %u", node, deepest,
                         tree->n_nodes, tree->max_depth);
    return 0;
}

static bool is_leaf(const struct flamebytes *tree, uint32_t i)
{
    return i + 1 == tree->n_nodes || tree->parents[i + 1] != i;
}

static int read_values(struct reader *reader, uint32_t column)
{
    struct flamebytes *tree = reader->tree;
    uint32_t leaves = FLAMEBYTES_LEAVES + 2 * column, inner = FLAMEBYTES_INNER + 2 * column, at = 0;
    int64_t *self = arena_alloc_zero(reader->arena, tree->n_nodes * sizeof(*self), reader->err);

    if (!self)
        return -1;
    tree->self[column] = self;
    for (uint32_t i = 0; i < tree->n_nodes; i++)
        if (is_leaf(tree, i) && next_value(reader, leaves, &self[i]) < 0)
            return -1;
    while (reader->streams[inner].len > 0) {
        if (next_node(reader, inner, &at) < 0)
            return -1;
        if (is_leaf(tree, at - 1))
            return error_set(reader->err, ERR_CORRUPT,
                             "flame format: node %u is a leaf, and has a value as an inner one", at - 1);
        if (next_value(reader, inner, &self[at - 1]) < 0)
            return -1;
    }
    return 0;
}

static int add_up(struct reader *reader, uint32_t column, int64_t wanted)
{
    struct flamebytes *tree = reader->tree;
    int64_t *total = ARENA_ARRAY(reader->arena, int64_t, tree->n_nodes, reader->err);

    if (!total)
        return -1;
    tree->total[column] = total;
    memcpy(total, tree->self[column], tree->n_nodes * sizeof(*total));
    for (uint32_t i = tree->n_nodes; i-- > 1;)
        if (__builtin_add_overflow(total[tree->parents[i]], total[i], &total[tree->parents[i]]))
            return error_set(reader->err, ERR_CORRUPT, "flame format: values do not add up within 64 bits");
    if (total[0] != wanted)
        return error_set(reader->err, ERR_CORRUPT, "flame format: values add up to %lld, but the total is %lld",
                         (long long)total[0], (long long)wanted);
    return 0;
}

static int read_names(struct reader *reader)
{
    struct flamebytes *tree = reader->tree;

    tree->names = ARENA_ARRAY(reader->arena, struct slice, tree->n_names, reader->err);
    if (!tree->names)
        return -1;
    for (uint32_t i = 0; i < tree->n_names; i++)
        if (cut_text(reader, &reader->streams[FLAMEBYTES_NAMES], "a name", &tree->names[i]) < 0)
            return -1;
    return 0;
}

static int next_text(struct reader *reader, const struct slice *texts, struct slice *ret_text)
{
    uint64_t number;

    if (next(reader, FLAMEBYTES_DETAILS, 0, reader->tree->n_texts, &number) < 0)
        return -1;
    *ret_text = number ? texts[number - 1] : SLICE("");
    return 0;
}

static int next_u32(struct reader *reader, uint32_t stream, uint32_t *ret_value)
{
    uint64_t value;

    if (next(reader, stream, 0, UINT32_MAX, &value) < 0)
        return -1;
    *ret_value = (uint32_t)value;
    return 0;
}

static int read_details(struct reader *reader)
{
    struct flamebytes *tree = reader->tree;
    struct slice *texts = ARENA_ARRAY(reader->arena, struct slice, (size_t)tree->n_texts + 1, reader->err);

    tree->details = ARENA_ARRAY(reader->arena, struct flamebytes_detail, tree->n_names, reader->err);
    if (!texts || !tree->details)
        return -1;
    for (uint32_t i = 0; i < tree->n_texts; i++)
        if (cut_text(reader, &reader->streams[FLAMEBYTES_TEXTS], "a module or file", &texts[i]) < 0)
            return -1;
    for (uint32_t i = 0; i < tree->n_names; i++) {
        struct flamebytes_detail *detail = &tree->details[i];

        if (next_u32(reader, FLAMEBYTES_DETAILS, &detail->kind) < 0 || next_text(reader, texts, &detail->module) < 0 ||
            next_text(reader, texts, &detail->file) < 0 || next_u32(reader, FLAMEBYTES_DETAILS, &detail->line) < 0)
            return -1;
    }
    return 0;
}

/* The lists of callees, one behind the other: that of name i is callees[starts[i] .. starts[i + 1]). */
static int read_callees(struct reader *reader, uint32_t **ret_starts, uint32_t **ret_callees)
{
    struct slice *stream = &reader->streams[FLAMEBYTES_CALLEES];
    uint32_t n_names = reader->tree->n_names, n = 0;
    uint32_t *starts = ARENA_ARRAY(reader->arena, uint32_t, (size_t)n_names + 1, reader->err);
    uint32_t *callees = ARENA_ARRAY(reader->arena, uint32_t, stream->len + 1, reader->err);

    if (!starts || !callees)
        return -1;
    for (uint32_t name = 0; name < n_names; name++) {
        uint64_t left, callee;

        starts[name] = n;
        if (next(reader, FLAMEBYTES_CALLEES, 0, n_names, &left) < 0)
            return -1;
        for (; left > 0; left--) {
            if (next(reader, FLAMEBYTES_CALLEES, 0, n_names - 1, &callee) < 0)
                return -1;
            callees[n++] = (uint32_t)callee;
        }
    }
    starts[n_names] = n;
    *ret_starts = starts;
    *ret_callees = callees;
    return 0;
}

static int read_node_names(struct reader *reader)
{
    struct flamebytes *tree = reader->tree;
    uint32_t *starts = NULL, *callees = NULL;
    uint64_t value;

    if ((tree->flags & FLAMEBYTES_RANKS) && read_callees(reader, &starts, &callees) < 0)
        return -1;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t caller = tree->node_names[tree->parents[i]];
        uint32_t n = starts ? starts[caller + 1] - starts[caller] : tree->n_names;

        if (n == 0)
            return error_set(reader->err, ERR_CORRUPT, "flame format: node %u is below one whose name has no callees",
                             i);
        if (next(reader, FLAMEBYTES_NODE_NAMES, 0, n - 1, &value) < 0)
            return -1;
        tree->node_names[i] = starts ? callees[starts[caller] + value] : (uint32_t)value;
    }
    return 0;
}

static int read_flags(struct reader *reader)
{
    struct flamebytes *tree = reader->tree;
    uint32_t at = 0;
    uint64_t flags;

    tree->node_flags = arena_alloc_zero(reader->arena, tree->n_nodes, reader->err);
    if (!tree->node_flags)
        return -1;
    while (reader->streams[FLAMEBYTES_FLAGS].len > 0) {
        if (next_node(reader, FLAMEBYTES_FLAGS, &at) < 0 || next(reader, FLAMEBYTES_FLAGS, 1, 7, &flags) < 0)
            return -1;
        tree->node_flags[at - 1] = (uint8_t)flags;
    }
    return 0;
}

static int check_ends(struct reader *reader)
{
    for (uint32_t i = 0; i < FLAMEBYTES_STREAMS; i++)
        if (reader->streams[i].len > 0)
            return error_set(reader->err, ERR_CORRUPT, "flame format: %zu bytes too many of %s", reader->streams[i].len,
                             stream_names[i]);
    return 0;
}

int flamebytes_decode(struct slice bytes, struct arena *arena, struct flamebytes *ret_tree, struct error *err)
{
    struct flamebytes tree = { 0 };
    struct reader reader = { .arena = arena, .tree = &tree, .err = err };
    int64_t totals[FLAMEBYTES_MAX_COLUMNS];

    if (read_head(&reader, bytes) < 0 || read_header(&reader, totals) < 0 || read_shape(&reader) < 0)
        return -1;
    for (uint32_t column = 0; column < tree.n_columns; column++)
        if (read_values(&reader, column) < 0 || add_up(&reader, column, totals[column]) < 0)
            return -1;
    if (read_names(&reader) < 0 || read_details(&reader) < 0 || read_node_names(&reader) < 0 ||
        read_flags(&reader) < 0 || check_ends(&reader) < 0)
        return -1;
    *ret_tree = tree;
    return 0;
}
