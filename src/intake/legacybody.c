// SPDX-License-Identifier: Apache-2.0
#include "intake/legacybody.h"

#include "base/vec.h"
#include "pack/varint.h"
#include "profile/builder.h"
#include "profile/valuetype.h"

#define MAX_FRAMES     CONTENT_MAX_DEPTH     /* of a stack */
#define MAX_PATH_BYTES ((size_t)1 << 20)     /* of a trie */
#define MAX_DEPTH      ((size_t)1 << 16)     /* of nodes */
#define MAX_WORK       ((uint64_t)256 << 20) /* bytes of all stacks of a trie, or frames of all stacks of a tree */

struct decoding {
    struct builder *builder;
    const struct legacybody_shape *shape;
    uint64_t n_saturated;
    uint32_t n_frames;
    uint32_t frames[MAX_FRAMES]; /* root first */
    uint32_t reversed[MAX_FRAMES];
};

static uint32_t frame_of(struct builder *b, struct slice name)
{
    struct line line = { .function = builder_function(b, &(struct function){ .name = builder_string(b, name) }) };

    return builder_frame(b, &(struct frame){ .n_lines = 1 }, &line);
}

/* A stack deeper than can be kept loses its root, like everywhere. */
static void push_frame(struct decoding *d, uint32_t frame)
{
    if (d->n_frames == MAX_FRAMES) {
        memmove(d->frames, d->frames + 1, (MAX_FRAMES - 1) * sizeof(*d->frames));
        d->n_frames--;
    }
    d->frames[d->n_frames++] = frame;
}

/* Adds the frames at hand as a stack that was seen `count` times. */
static void add_stack(struct decoding *d, int64_t count)
{
    int64_t value = value_multiply(count, d->shape->factor, &d->n_saturated);

    for (uint32_t i = 0; i < d->n_frames; i++)
        d->reversed[i] = d->frames[d->n_frames - 1 - i];
    builder_sample(d->builder, builder_stack(d->builder, d->reversed, d->n_frames), 0, 0, &value,
                   count > 0 ? (uint64_t)count : 1);
}

static void add_text(struct decoding *d, struct slice stack, int64_t count)
{
    struct slice name;

    d->n_frames = 0;
    while (slice_next_part(&stack, ';', &name))
        if (name.len > 0)
            push_frame(d, frame_of(d->builder, name));
    if (d->n_frames > 0)
        add_stack(d, count);
}

/* --- text --- */

static int decode_groups(struct decoding *d, struct slice bytes, struct error *err)
{
    struct slice line;

    for (size_t number = 1; slice_next_line(&bytes, &line); number++) {
        ptrdiff_t space = slice_find_last_byte(line, ' ');
        int64_t count;

        if (space < 0)
            continue;
        if (!slice_to_i64(slice_sub(line, (size_t)space + 1, SIZE_MAX), &count))
            return error_set(err, ERR_CORRUPT, "line %zu ends in '%.*s', which is no whole number", number,
                             (int)MIN(line.len - (size_t)space - 1, 32u), line.ptr + space + 1);
        add_text(d, slice_sub(line, 0, (size_t)space), count);
    }
    return 0;
}

static void decode_lines(struct decoding *d, struct slice bytes)
{
    struct slice line;

    while (slice_next_line(&bytes, &line))
        if (line.len > 0)
            add_text(d, line, 1);
}

/* --- nodes --- */

struct node {
    struct slice name;
    int64_t value;
    uint64_t n_children;
};

/* A node that is open: where its parent's path or frames end, and how many children are still to come. */
struct open_node {
    uint32_t end;
    uint64_t n_left;
};

static int read_node(struct slice whole, struct slice *rest, struct node *ret_node, struct error *err)
{
    size_t at = whole.len - rest->len;
    uint64_t len, value;

    if (!varint_next(rest, &len) || len > rest->len)
        return error_set(err, ERR_CORRUPT, "the name of the node at byte %zu runs past the end", at);
    ret_node->name = slice_sub(*rest, 0, len);
    *rest = slice_sub(*rest, len, SIZE_MAX);
    if (!varint_next(rest, &value) || !varint_next(rest, &ret_node->n_children))
        return error_set(err, ERR_CORRUPT, "the node at byte %zu is cut off", at);
    if (value > INT64_MAX)
        return error_set(err, ERR_CORRUPT, "the node at byte %zu has the value %llu, which does not fit", at,
                         (unsigned long long)value);
    ret_node->value = (int64_t)value;
    return 0;
}

static int too_much(const char *what, uint64_t max, struct error *err)
{
    return error_set(err, ERR_LIMIT, "%s of more than %llu", what, (unsigned long long)max);
}

struct walk {
    VEC(struct open_node) open;
    struct buffer path; /* of a trie */
    uint64_t work;
};

/* Back to the nearest node that has children to come; its path goes on. Returns where that ends. */
static uint32_t next_parent(struct walk *w)
{
    while (w->open.n > 0 && w->open.items[w->open.n - 1].n_left == 0)
        w->open.n--;
    if (w->open.n == 0)
        return 0;
    w->open.items[w->open.n - 1].n_left--;
    return w->open.items[w->open.n - 1].end;
}

static int open_node(struct walk *w, uint32_t end, uint64_t n_children, struct error *err)
{
    struct open_node *open;

    if (n_children == 0)
        return 0;
    if (w->open.n == MAX_DEPTH)
        return too_much("a depth", MAX_DEPTH, err);
    open = VEC_PUSH(&w->open, MAX_DEPTH, err);
    if (!open)
        return -1;
    *open = (struct open_node){ end, n_children };
    return 0;
}

static int decode_trie(struct decoding *d, struct walk *w, struct slice bytes, struct error *err)
{
    struct slice rest = bytes;
    struct node node;

    while (rest.len > 0) {
        if (read_node(bytes, &rest, &node, err) < 0)
            return -1;
        buffer_truncate(&w->path, next_parent(w));
        buffer_append_slice(&w->path, node.name);
        if (buffer_check(&w->path, err) < 0)
            return error_wrap(err, "a path of the trie");
        if (node.value > 0) {
            w->work += w->path.len;
            if (w->work > MAX_WORK)
                return too_much("stacks", MAX_WORK, err);
            add_text(d, buffer_slice(&w->path), node.value);
        }
        if (open_node(w, (uint32_t)w->path.len, node.n_children, err) < 0)
            return -1;
    }
    return 0;
}

static int decode_tree(struct decoding *d, struct walk *w, struct slice bytes, struct error *err)
{
    struct slice rest = bytes;
    struct node node;

    for (bool is_root = true; rest.len > 0; is_root = false) {
        if (read_node(bytes, &rest, &node, err) < 0)
            return -1;
        d->n_frames = next_parent(w);
        if (!is_root) {
            if (d->n_frames == MAX_FRAMES)
                return too_much("a depth", MAX_FRAMES, err);
            push_frame(d, frame_of(d->builder, node.name));
        }
        if (node.value > 0 && d->n_frames > 0) {
            w->work += d->n_frames;
            if (w->work > MAX_WORK)
                return too_much("stacks", MAX_WORK, err);
            add_stack(d, node.value);
        }
        if (open_node(w, d->n_frames, node.n_children, err) < 0)
            return -1;
    }
    return 0;
}

static int decode_nodes(struct decoding *d, enum legacybody_form form, struct slice bytes, struct error *err)
{
    struct walk walk = { .work = 0 };
    int result;

    buffer_init(&walk.path, MAX_PATH_BYTES);
    result = form == LEGACYBODY_TRIE ? decode_trie(d, &walk, bytes, err) : decode_tree(d, &walk, bytes, err);
    buffer_done(&walk.path);
    VEC_DONE(&walk.open);
    return result;
}

/* --- all --- */

static void begin_profile(struct decoding *d)
{
    struct builder *b = d->builder;
    const struct legacybody_shape *shape = d->shape;
    struct profile *profile = builder_profile(b);
    struct value_type type = { .type = builder_string(b, shape->type), .unit = builder_string(b, shape->unit) };

    value_type_describe(shape->type, shape->unit, &type.nature, &type.temporality);
    builder_type(b, type);
    if (shape->period_type.len == 0)
        return;
    profile->period_type.type = builder_string(b, shape->period_type);
    profile->period_type.unit = builder_string(b, SLICE("nanoseconds"));
    profile->period = shape->period;
}

static int decode(struct decoding *d, enum legacybody_form form, struct slice bytes, struct error *err)
{
    switch (form) {
    case LEGACYBODY_GROUPS: return decode_groups(d, bytes, err);
    case LEGACYBODY_LINES: decode_lines(d, bytes); return 0;
    case LEGACYBODY_TRIE:
    case LEGACYBODY_TREE: break;
    }
    return decode_nodes(d, form, bytes, err);
}

int legacybody_decode(enum legacybody_form form, struct slice bytes, const struct legacybody_shape *shape,
                      struct batch *batch, struct error *err)
{
    struct builder_options options = { .limits = batch->limits };
    AUTO(memory_freep) struct decoding *d = MEMORY_NEW(struct decoding, err);
    AUTO(builder_freep) struct builder *builder = NULL;

    if (!d || builder_new(&options, &builder, err) < 0)
        return -1;
    d->builder = builder;
    d->shape = shape;
    begin_profile(d);
    if (decode(d, form, bytes, err) < 0)
        return -1;
    return builder_finish(builder, batch, err);
}
