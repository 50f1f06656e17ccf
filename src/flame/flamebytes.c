// SPDX-License-Identifier: Apache-2.0
#include "flame/flamebytes.h"

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "flame/flamebytes_internal.h"
#include "pack/varint.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_NODES_PER_PAIR 8 /* from so many nodes for each pair of caller and callee on, places are shorter */

struct name {
    struct slice text;
    uint32_t slot, count;
    const struct symbol *symbol; /* NULL for the root and what was cut */
    uint32_t module, file;       /* texts; 0 = none, else their number in order of arrival + 1 */
};

/* A module or a file. */
struct text {
    struct slice text;
    uint32_t arrival, count;
};

/* A caller and a callee by the numbers of their names. */
struct pair {
    uint32_t caller, callee, count;
};

struct encoder {
    const struct flame *flame;
    struct slice unit;
    double factor;
    uint32_t n_columns, columns[FLAMEBYTES_MAX_COLUMNS];
    uint8_t flags;
    struct arena arena;

    /* The nodes that are written. */
    uint32_t n;
    uint32_t *nodes;      /* their numbers in the tree */
    uint32_t *parents;    /* their new ones */
    uint32_t *node_names; /* numbers of names */
    uint32_t n_leaves, max_depth;
    int64_t totals[FLAMEBYTES_MAX_COLUMNS];
    uint64_t divisor;

    struct name *names; /* by number */
    uint32_t n_names;
    struct hash_set text_hashes;
    struct text *texts;
    uint32_t n_texts;
    struct pair *pairs;    /* by caller, and then by frequency */
    uint32_t *pair_starts; /* [n_names + 1] */
    uint32_t n_pairs;
    struct buffer streams[FLAMEBYTES_STREAMS];
};

static void put_text(struct buffer *out, struct slice text)
{
    varint_append(out, text.len);
    buffer_append_slice(out, text);
}

/* --- nodes --- */

static int64_t self_of(const struct encoder *encoder, uint32_t column, uint32_t i)
{
    return flame_self(encoder->flame, encoder->columns[column], encoder->nodes[i]);
}

static bool is_leaf(const struct encoder *encoder, uint32_t i)
{
    return i + 1 == encoder->n || encoder->parents[i + 1] != i;
}

/* Leaves out what has nothing in any column, nor below it. */
static int choose_nodes(struct encoder *encoder, struct error *err)
{
    const struct flame *flame = encoder->flame;
    bool *is_kept = arena_alloc_zero(&encoder->arena, flame->n_nodes, err);
    uint32_t *numbers = ARENA_ARRAY(&encoder->arena, uint32_t, flame->n_nodes, err);

    encoder->nodes = ARENA_ARRAY(&encoder->arena, uint32_t, flame->n_nodes, err);
    encoder->parents = ARENA_ARRAY(&encoder->arena, uint32_t, flame->n_nodes, err);
    if (!is_kept || !numbers || !encoder->nodes || !encoder->parents)
        return -1;
    for (uint32_t i = flame->n_nodes; i-- > 0;) {
        for (uint32_t column = 0; column < encoder->n_columns; column++)
            is_kept[i] |= flame_self(flame, encoder->columns[column], i) != 0;
        is_kept[flame->parents[i]] |= is_kept[i];
    }
    is_kept[0] = true;
    for (uint32_t i = 0; i < flame->n_nodes; i++) {
        if (!is_kept[i])
            continue;
        numbers[i] = encoder->n;
        encoder->nodes[encoder->n] = i;
        encoder->parents[encoder->n++] = numbers[flame->parents[i]];
        encoder->max_depth = MAX(encoder->max_depth, flame->depths[i]);
    }
    return 0;
}

static int add_up(struct encoder *encoder, uint32_t column, struct error *err)
{
    int64_t *totals = ARENA_ARRAY(&encoder->arena, int64_t, encoder->n, err);

    if (!totals)
        return -1;
    for (uint32_t i = 0; i < encoder->n; i++) {
        totals[i] = self_of(encoder, column, i);
        if (totals[i] < 0)
            encoder->flags |= FLAMEBYTES_SIGNED;
    }
    for (uint32_t i = encoder->n; i-- > 1;)
        if (__builtin_add_overflow(totals[encoder->parents[i]], totals[i], &totals[encoder->parents[i]]))
            return error_set(err, ERR_LIMIT, "the values of the tree are too large: they do not add up within 64 bits");
    encoder->totals[column] = totals[0];
    return 0;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Values of sampling profilers are multiples of a period: without it they take half the bytes, and fit 32 bits. */
static void find_divisor(struct encoder *encoder)
{
    uint64_t divisor = 0;

    for (uint32_t column = 0; column < encoder->n_columns; column++)
        for (uint32_t i = 0; i < encoder->n && divisor != 1; i++)
            divisor = common_divisor(flame_magnitude(self_of(encoder, column, i)), divisor);
    encoder->divisor = MAX(divisor, 1u);
}

/* --- names --- */

static uint32_t slot_of(const struct flame *flame, uint32_t node)
{
    uint32_t symbol = flame->symbols[node], n = (uint32_t)flame->set->symbols.n;

    return symbol == FLAME_ROOT ? n : symbol == FLAME_OTHER ? n + 1 : symbol;
}

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    int order;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    order = slice_compare(x->text, y->text);
    return order ? order : (x->slot > y->slot) - (x->slot < y->slot);
}

static int number_names(struct encoder *encoder, struct error *err)
{
    const struct flame *flame = encoder->flame;
    size_t n_slots = flame->set->symbols.n + 2;
    uint32_t *numbers = ARENA_ARRAY(&encoder->arena, uint32_t, n_slots, err);

    encoder->node_names = ARENA_ARRAY(&encoder->arena, uint32_t, encoder->n, err);
    encoder->names = ARENA_ARRAY(&encoder->arena, struct name, MIN(n_slots, (size_t)encoder->n), err);
    if (!numbers || !encoder->node_names || !encoder->names)
        return -1;
    memset(numbers, 0xff, n_slots * sizeof(*numbers));
    for (uint32_t i = 0; i < encoder->n; i++) {
        uint32_t slot = slot_of(flame, encoder->nodes[i]);

        if (numbers[slot] == UINT32_MAX) {
            numbers[slot] = encoder->n_names;
            encoder->names[encoder->n_names++] = (struct name){ .text = flame_name(flame, encoder->nodes[i]),
                                                                .slot = slot,
                                                                .symbol = flame_symbol(flame, encoder->nodes[i]) };
        }
        encoder->names[numbers[slot]].count++;
    }
    qsort(encoder->names, encoder->n_names, sizeof(*encoder->names), compare_names);
    for (uint32_t i = 0; i < encoder->n_names; i++)
        numbers[encoder->names[i].slot] = i;
    for (uint32_t i = 0; i < encoder->n; i++)
        encoder->node_names[i] = numbers[slot_of(flame, encoder->nodes[i])];
    return 0;
}

/* --- what is known of names --- */

static int add_text(struct encoder *encoder, struct slice text, uint32_t *ret_text, struct error *err)
{
    uint32_t id;
    bool is_new;

    if (text.len == 0)
        return 0;
    if (hash_set_add(&encoder->text_hashes, hash_bytes(text, encoder->flame->set->seed), &id, &is_new, err) < 0)
        return -1;
    if (is_new)
        encoder->texts[encoder->n_texts++] = (struct text){ text, id, 0 };
    encoder->texts[id].count++;
    *ret_text = id + 1;
    return 0;
}

static int compare_texts(const void *a, const void *b)
{
    const struct text *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return slice_compare(x->text, y->text);
}

static int gather_texts(struct encoder *encoder, struct error *err)
{
    encoder->texts = ARENA_ARRAY(&encoder->arena, struct text, 2 * (size_t)encoder->n_names, err);
    if (!encoder->texts)
        return -1;
    for (uint32_t i = 0; i < encoder->n_names; i++) {
        struct name *name = &encoder->names[i];

        if (name->symbol && (add_text(encoder, name->symbol->module, &name->module, err) < 0 ||
                             add_text(encoder, name->symbol->file, &name->file, err) < 0))
            return -1;
    }
    qsort(encoder->texts, encoder->n_texts, sizeof(*encoder->texts), compare_texts);
    return 0;
}

/* A name of the kernel that came without a kind has one. */
static enum frame_kind kind_of(const struct symbol *symbol)
{
    return symbol->is_kernel ? FRAME_KERNEL : (enum frame_kind)symbol->kind;
}

static int write_details(struct encoder *encoder, struct error *err)
{
    struct buffer *out = &encoder->streams[FLAMEBYTES_DETAILS];
    uint32_t *numbers;

    if (gather_texts(encoder, err) < 0)
        return -1;
    numbers = arena_alloc_zero(&encoder->arena, ((size_t)encoder->n_texts + 1) * sizeof(*numbers), err);
    if (!numbers)
        return -1;
    for (uint32_t i = 0; i < encoder->n_texts; i++) {
        numbers[encoder->texts[i].arrival + 1] = i + 1;
        put_text(&encoder->streams[FLAMEBYTES_TEXTS], encoder->texts[i].text);
    }
    for (uint32_t i = 0; i < encoder->n_names; i++) {
        const struct name *name = &encoder->names[i];

        varint_append(out, name->symbol ? kind_of(name->symbol) : FRAME_UNKNOWN);
        varint_append(out, numbers[name->module]);
        varint_append(out, numbers[name->file]);
        varint_append(out, name->symbol ? name->symbol->line : 0);
    }
    return 0;
}

/* --- callers and callees --- */

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return (x->callee > y->callee) - (x->callee < y->callee);
}

static int compare_callees(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->callee > y->callee) - (x->callee < y->callee);
}

static int gather_pairs(struct encoder *encoder, struct error *err)
{
    uint32_t n = 0;

    encoder->pairs = ARENA_ARRAY(&encoder->arena, struct pair, encoder->n, err);
    if (!encoder->pairs)
        return -1;
    for (uint32_t i = 1; i < encoder->n; i++)
        encoder->pairs[i - 1] = (struct pair){ encoder->node_names[encoder->parents[i]], encoder->node_names[i], 1 };
    qsort(encoder->pairs, encoder->n - 1, sizeof(*encoder->pairs), compare_pairs);
    for (uint32_t i = 0; i + 1 < encoder->n; i++) {
        if (n > 0 && compare_pairs(&encoder->pairs[n - 1], &encoder->pairs[i]) == 0)
            encoder->pairs[n - 1].count++;
        else
            encoder->pairs[n++] = encoder->pairs[i];
    }
    encoder->n_pairs = n;
    return 0;
}

/* The place of each node's name among the callees of its parent's name. The callees of one name lie together, by number;
 * `places` says where frequency puts each of them. */
static int write_ranks(struct encoder *encoder, struct error *err)
{
    struct buffer *out = &encoder->streams[FLAMEBYTES_NODE_NAMES];
    struct pair *by_number = ARENA_ARRAY(&encoder->arena, struct pair, encoder->n_pairs, err);
    uint32_t *starts = ARENA_ARRAY(&encoder->arena, uint32_t, (size_t)encoder->n_names + 1, err);
    uint32_t at = 0;

    if (!by_number || !starts)
        return -1;
    for (uint32_t name = 0; name < encoder->n_names; name++) {
        starts[name] = at;
        while (at < encoder->n_pairs && encoder->pairs[at].caller == name)
            at++;
        qsort(encoder->pairs + starts[name], at - starts[name], sizeof(*encoder->pairs), compare_callees);
        for (uint32_t i = starts[name]; i < at; i++)
            by_number[i] = (struct pair){ name, encoder->pairs[i].callee, i - starts[name] };
        qsort(by_number + starts[name], at - starts[name], sizeof(*by_number), compare_pairs);
    }
    starts[encoder->n_names] = at;
    encoder->pair_starts = starts;
    for (uint32_t i = 1; i < encoder->n; i++) {
        uint32_t caller = encoder->node_names[encoder->parents[i]];
        struct pair wanted = { caller, encoder->node_names[i], 0 };
        const struct pair *found = bsearch(&wanted, by_number + starts[caller], starts[caller + 1] - starts[caller],
                                           sizeof(wanted), compare_pairs);

        varint_append(out, found->count);
    }
    return 0;
}

static void write_callees(struct encoder *encoder)
{
    struct buffer *out = &encoder->streams[FLAMEBYTES_CALLEES];

    for (uint32_t name = 0; name < encoder->n_names; name++) {
        varint_append(out, encoder->pair_starts[name + 1] - encoder->pair_starts[name]);
        for (uint32_t i = encoder->pair_starts[name]; i < encoder->pair_starts[name + 1]; i++)
            varint_append(out, encoder->pairs[i].callee);
    }
}

static int write_node_names(struct encoder *encoder, struct error *err)
{
    if (gather_pairs(encoder, err) < 0)
        return -1;
    if (encoder->n / RANKS_NODES_PER_PAIR > encoder->n_pairs) {
        encoder->flags |= FLAMEBYTES_RANKS;
        if (write_ranks(encoder, err) < 0)
            return -1;
        write_callees(encoder);
        return 0;
    }
    for (uint32_t i = 1; i < encoder->n; i++)
        varint_append(&encoder->streams[FLAMEBYTES_NODE_NAMES], encoder->node_names[i]);
    return 0;
}

/* --- the other streams --- */

static void put_value(const struct encoder *encoder, struct buffer *out, int64_t value)
{
    uint64_t part = flame_magnitude(value) / encoder->divisor;

    if (encoder->flags & FLAMEBYTES_SIGNED)
        part = varint_zigzag((int64_t)(value < 0 ? -part : part));
    varint_append(out, part);
}

static void write_shape(struct encoder *encoder)
{
    const uint32_t *depths = encoder->flame->depths;
    uint32_t begin = 0;

    for (uint32_t i = 0; i < encoder->n; i++) {
        if (!is_leaf(encoder, i))
            continue;
        encoder->n_leaves++;
        varint_append(&encoder->streams[FLAMEBYTES_RUNS], i + 1 - begin);
        begin = i + 1;
        if (begin < encoder->n)
            varint_append(&encoder->streams[FLAMEBYTES_POPS],
                          depths[encoder->nodes[i]] - depths[encoder->nodes[begin]]);
    }
}

static void write_values(struct encoder *encoder, uint32_t column)
{
    struct buffer *leaves = &encoder->streams[FLAMEBYTES_LEAVES + 2 * column];
    struct buffer *inner = &encoder->streams[FLAMEBYTES_INNER + 2 * column];
    uint32_t next = 0; /* the number behind that of the last inner node */

    for (uint32_t i = 0; i < encoder->n; i++) {
        int64_t self = self_of(encoder, column, i);

        if (is_leaf(encoder, i)) {
            put_value(encoder, leaves, self);
        } else if (self != 0) {
            varint_append(inner, i + 1 - next);
            put_value(encoder, inner, self);
            next = i + 1;
        }
    }
}

static void write_flags(struct encoder *encoder)
{
    struct buffer *out = &encoder->streams[FLAMEBYTES_FLAGS];
    uint32_t next = 0;

    for (uint32_t i = 0; i < encoder->n; i++) {
        uint8_t flags = encoder->flame->flags[encoder->nodes[i]];

        if (!flags)
            continue;
        varint_append(out, i + 1 - next);
        varint_append(out, flags);
        next = i + 1;
    }
}

/* --- the whole --- */

/* Raw samples behind a column, + 1; 0 = unknown. */
static uint64_t samples_of(const struct encoder *encoder, uint32_t column)
{
    double samples = flame_total_count(encoder->flame, encoder->columns[column], 0);

    return samples < 0 ? 0 : samples >= 0x1p62 ? 1ull << 62 : (uint64_t)(samples + 0.5) + 1;
}

static void write_header(const struct encoder *encoder, struct buffer *out)
{
    char factor[8];
    uint64_t bits;

    buffer_append(out, FLAMEBYTES_MAGIC, 4);
    buffer_append_byte(out, FLAMEBYTES_VERSION);
    buffer_append_byte(out, (char)encoder->flags);
    buffer_append_byte(out, (char)encoder->n_columns);
    buffer_append_byte(out, 0);
    if (encoder->n_columns == 2) {
        memcpy(&bits, &encoder->factor, sizeof(bits));
        bytes_put_le64(factor, bits);
        buffer_append(out, factor, sizeof(factor));
    }
    varint_append(out, encoder->n);
    varint_append(out, encoder->n_leaves);
    varint_append(out, encoder->max_depth);
    varint_append(out, encoder->n_names);
    varint_append(out, encoder->node_names[0]);
    varint_append(out, encoder->n_texts);
    varint_append(out, encoder->divisor);
    for (uint32_t column = 0; column < encoder->n_columns; column++)
        put_value(encoder, out, encoder->totals[column]);
    for (uint32_t column = 0; column < encoder->n_columns; column++)
        varint_append(out, samples_of(encoder, column));
    put_text(out, encoder->unit);
}

static int write_streams(struct encoder *encoder, struct buffer *out, struct error *err)
{
    for (uint32_t i = 0; i < FLAMEBYTES_STREAMS; i++)
        if (buffer_check(&encoder->streams[i], err) < 0)
            return -1;
    for (uint32_t i = 0; i < FLAMEBYTES_STREAMS; i++)
        if (flamebytes_has_stream(i, encoder->n_columns))
            varint_append(out, encoder->streams[i].len);
    for (uint32_t i = 0; i < FLAMEBYTES_STREAMS; i++)
        buffer_append_slice(out, buffer_slice(&encoder->streams[i]));
    return buffer_check(out, err);
}

static int encode(struct encoder *encoder, struct buffer *out, struct error *err)
{
    if (choose_nodes(encoder, err) < 0)
        return -1;
    for (uint32_t column = 0; column < encoder->n_columns; column++)
        if (add_up(encoder, column, err) < 0)
            return -1;
    find_divisor(encoder);
    if (number_names(encoder, err) < 0 || write_node_names(encoder, err) < 0 || write_details(encoder, err) < 0)
        return -1;
    write_shape(encoder);
    for (uint32_t column = 0; column < encoder->n_columns; column++)
        write_values(encoder, column);
    write_flags(encoder);
    for (uint32_t i = 0; i < encoder->n_names; i++)
        put_text(&encoder->streams[FLAMEBYTES_NAMES], encoder->names[i].text);
    write_header(encoder, out);
    return write_streams(encoder, out, err);
}

static int encode_all(struct encoder *encoder, struct buffer *out, struct error *err)
{
    size_t len = out->len;
    int result;

    if (encoder->flame->is_inverted)
        encoder->flags |= FLAMEBYTES_INVERTED;
    arena_init(&encoder->arena, 0);
    hash_set_init(&encoder->text_hashes, 0);
    for (uint32_t i = 0; i < FLAMEBYTES_STREAMS; i++)
        buffer_init(&encoder->streams[i], 0);
    result = encode(encoder, out, err);
    if (result < 0)
        buffer_truncate(out, len);
    for (uint32_t i = 0; i < FLAMEBYTES_STREAMS; i++)
        buffer_done(&encoder->streams[i]);
    hash_set_done(&encoder->text_hashes);
    arena_done(&encoder->arena);
    return result;
}

int flamebytes_encode(const struct flame *flame, uint32_t column, struct slice unit, struct buffer *out,
                      struct error *err)
{
    struct encoder encoder = { .flame = flame, .unit = unit, .factor = 1, .n_columns = 1, .columns = { column } };

    return encode_all(&encoder, out, err);
}

int flamebytes_encode_diff(const struct diff *diff, const struct flame *flame, struct buffer *out, struct error *err)
{
    struct encoder encoder = {
        .flame = flame, .unit = diff->unit, .factor = diff->factor, .n_columns = 2, .columns = { 0, 1 }
    };

    return encode_all(&encoder, out, err);
}
