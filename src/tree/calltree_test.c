// SPDX-License-Identifier: Apache-2.0
#include "tree/calltree.h"

#include "base/test.h"
#include "profile/builder.h"

#include <stdio.h>

/* --- stacks from texts: "main;parse;read", '+' in front of what was inlined into its caller --- */

struct sample {
    struct calltree tree;
    struct symbolset symbols;
};

static void sample_init(struct sample *sample)
{
    calltree_init(&sample->tree);
    symbolset_init(&sample->symbols, SYMBOL_FUNCTION);
}

static void sample_done(struct sample *sample)
{
    calltree_done(&sample->tree);
    symbolset_done(&sample->symbols);
}

/* One stack; inlined functions belong to the frame of the function before them. */
static uint32_t build_stack(struct builder *b, struct slice text)
{
    uint32_t frames[64], n_frames = 0, leaf_first[64];
    struct line lines[64];
    uint32_t n_lines = 0;
    struct slice name;

    while (text.len && slice_next_part(&text, ';', &name)) {
        bool is_inlined = name.len && name.ptr[0] == '+';
        struct function function = { .name = builder_string(b, is_inlined ? slice_sub(name, 1, name.len) : name) };

        if (!is_inlined && n_lines) {
            frames[n_frames++] = builder_frame(b, &(struct frame){ .n_lines = (uint16_t)n_lines }, lines);
            n_lines = 0;
        }
        /* Innermost first. */
        memmove(lines + 1, lines, n_lines * sizeof(*lines));
        lines[0] = (struct line){ .function = builder_function(b, &function), .line = 1 };
        n_lines++;
    }
    if (n_lines)
        frames[n_frames++] = builder_frame(b, &(struct frame){ .n_lines = (uint16_t)n_lines }, lines);
    for (uint32_t i = 0; i < n_frames; i++)
        leaf_first[i] = frames[n_frames - 1 - i];
    return builder_stack(b, leaf_first, n_frames);
}

/* Adds a stack as `id` of a dictionary; its number. */
static uint32_t add(struct sample *sample, uint64_t identity, uint32_t id, const char *text)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct symbolset_frames frames;
    uint32_t stack, number;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    stack = build_stack(b, slice_from(text));
    CHECK_OK(symbolset_import(&sample->symbols, builder_tables(b), &frames, &err), &err);
    CHECK_OK(calltree_add(&sample->tree, identity, id, builder_tables(b), &frames, stack, false, &number, &err), &err);
    symbolset_frames_done(&frames);
    return number;
}

static void print_node(const struct sample *sample, uint32_t node, uint32_t depth, struct buffer *out)
{
    const struct calltree *tree = &sample->tree;

    if (node) {
        struct slice name = symbolset_get(&sample->symbols, tree->keys[node] / 2)->text;

        for (uint32_t i = 1; i < depth; i++)
            buffer_append_slice(out, SLICE("  "));
        buffer_printf(out, "%s%.*s", tree->keys[node] & 1 ? "+" : "", SLICE_ARG(name));
    } else
        buffer_append_slice(out, SLICE("root"));
    for (uint32_t i = calltree_first(tree, node); i < calltree_first(tree, node + 1); i++)
        buffer_printf(out, " [%u]", tree->order[i]);
    buffer_append_slice(out, SLICE("\n"));
    for (uint32_t child = node + 1; child < tree->ends[node]; child = tree->ends[child])
        print_node(sample, child, depth + 1, out);
}

static void check_tree(struct sample *sample, const char *wanted)
{
    struct buffer text;
    struct error err;

    CHECK_OK(calltree_index(&sample->tree, &err), &err);
    buffer_init(&text, 0);
    print_node(sample, 0, 0, &text);
    CHECK_TEXT(buffer_slice(&text), wanted);
    buffer_done(&text);
}

TEST(calltree_puts_stacks_with_the_same_beginning_together)
{
    struct sample sample;

    sample_init(&sample);
    CHECK_EQ(add(&sample, 1, 10, "main;parse;read"), 0);
    CHECK_EQ(add(&sample, 1, 11, "main;render"), 1);
    CHECK_EQ(add(&sample, 1, 12, "main;parse"), 2);
    CHECK_EQ(add(&sample, 1, 13, ""), 3);
    check_tree(&sample, "root [3]\nmain\n  parse [2]\n    read [0]\n  render [1]\n");
    sample_done(&sample);
}

TEST(calltree_tells_inlined_calls_from_others)
{
    struct sample sample;

    sample_init(&sample);
    add(&sample, 1, 1, "main;+work");
    add(&sample, 1, 2, "main;work");
    check_tree(&sample, "root\nmain\n  work [1]\n  +work [0]\n");
    sample_done(&sample);
}

TEST(calltree_joins_what_is_added_later)
{
    struct sample sample;

    sample_init(&sample);
    check_tree(&sample, "root\n");
    add(&sample, 1, 1, "a;b");
    check_tree(&sample, "root\na\n  b [0]\n");
    add(&sample, 1, 2, "a;c;d");
    add(&sample, 1, 3, "a");
    add(&sample, 1, 4, "e");
    check_tree(&sample, "root\na [2]\n  b [0]\n  c\n    d [1]\ne [3]\n");
    /* In front of the old ones, between them and below them. */
    add(&sample, 1, 5, "a;b;e");
    add(&sample, 1, 6, "a;a");
    add(&sample, 1, 7, "");
    add(&sample, 1, 8, "a;c");
    check_tree(&sample, "root [6]\na [2]\n  a [5]\n  b [0]\n    e [4]\n  c [7]\n    d [1]\ne [3]\n");
    CHECK_EQ(calltree_stacks(&sample.tree), 8);
    sample_done(&sample);
}

TEST(calltree_finds_stacks_by_the_dictionary_they_come_from)
{
    static const uint32_t ids[] = { 0, 5, 7, 9 };
    uint32_t numbers[4];
    struct sample sample;

    sample_init(&sample);
    calltree_find(&sample.tree, 1, ids, 4, numbers);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(numbers[i], CALLTREE_NONE);
    add(&sample, 1, 0, "");
    add(&sample, 1, 5, "a;b");
    add(&sample, 1, 9, "a");
    /* The same path under another id, of another day: the same stack. */
    CHECK_EQ(add(&sample, 2, 5, "a"), 2);
    calltree_find(&sample.tree, 1, ids, 4, numbers);
    CHECK_EQ(numbers[0], 0);
    CHECK_EQ(numbers[1], 1);
    CHECK_EQ(numbers[2], CALLTREE_NONE);
    CHECK_EQ(numbers[3], 2);
    calltree_find(&sample.tree, 2, ids, 4, numbers);
    CHECK_EQ(numbers[0], CALLTREE_NONE);
    CHECK_EQ(numbers[1], 2);
    sample_done(&sample);
}

/* Many stacks by chance, in several goes: each is found under its path, and once. */
TEST(calltree_holds_what_was_put_in_whatever_the_order)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    struct sample sample;
    struct error err;
    uint32_t n_wanted[400] = { 0 };

    sample_init(&sample);
    for (uint32_t i = 0; i < 400; i++) {
        uint64_t chance = hash_mix64(i);
        char text[64] = "";

        for (uint32_t depth = (uint32_t)(chance % 7); depth > 0; depth--, chance /= 5)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] ? ";" : "",
                     names[(chance >> 8) % ARRAY_LEN(names)]);
        n_wanted[add(&sample, 1, i + 1, text)]++;
        if (i % 50 == 0)
            CHECK_OK(calltree_index(&sample.tree, &err), &err);
    }
    CHECK_OK(calltree_index(&sample.tree, &err), &err);
    CHECK_EQ(sample.tree.n_indexed, calltree_stacks(&sample.tree));
    CHECK_EQ(sample.tree.ends[0], sample.tree.n_nodes);
    CHECK_EQ(calltree_first(&sample.tree, sample.tree.n_nodes), sample.tree.n_indexed);
    for (uint32_t i = 0; i < sample.tree.n_indexed; i++) {
        CHECK(n_wanted[sample.tree.order[i]] > 0);
        n_wanted[sample.tree.order[i]] = 0; /* once */
    }
    for (uint32_t i = 0; i < sample.tree.n_nodes; i++) {
        uint32_t before = 0;

        CHECK(calltree_first(&sample.tree, i + 1) - calltree_first(&sample.tree, i) <= 1);
        for (uint32_t child = i + 1; child < sample.tree.ends[i]; child = sample.tree.ends[child]) {
            CHECK(!before || sample.tree.keys[before] < sample.tree.keys[child]);
            before = child;
        }
    }
    CHECK(calltree_bytes(&sample.tree) > 0);
    sample_done(&sample);
}
