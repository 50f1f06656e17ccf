// SPDX-License-Identifier: Apache-2.0
#include "intake/legacybody.h"

#include "base/memory.h"
#include "base/test.h"
#include "wire/folded.h"

static const struct legacybody_shape plain = { { "cpu", 3 }, { "nanoseconds", 11 }, { "cpu", 3 }, 10, 10 };

static int decode(enum legacybody_form form, struct slice bytes, struct batch *batch, struct error *err)
{
    return legacybody_decode(form, bytes, &plain, batch, err);
}

/* The profile as folded stacks. */
static const char *folded(enum legacybody_form form, struct slice bytes)
{
    static struct buffer out;
    struct format_write_options options = { .type = PROFILE_NO_TYPE };
    struct batch batch;
    struct error err;

    buffer_done(&out);
    buffer_init(&out, 0);
    batch_init(&batch, NULL);
    CHECK_OK(decode(form, bytes, &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    CHECK_OK(folded_encode(&batch, &options, &out, &err), &err);
    buffer_append_byte(&out, '\0');
    batch_done(&batch);
    return out.data;
}

TEST(legacybody_groups_are_split_at_the_last_space)
{
    CHECK_TEXT(folded(LEGACYBODY_GROUPS, SLICE("main;read file 2\r\n\nmain;read file 3\nnothing\nidle 1")),
               "idle 10\nmain;read file 50\n");
    CHECK_TEXT(folded(LEGACYBODY_GROUPS, SLICE("")), "");
}

TEST(legacybody_groups_with_bad_numbers_are_refused)
{
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_ERROR(decode(LEGACYBODY_GROUPS, SLICE("a 1\nb 1.5"), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "line 2");
    CHECK_HAS(err.text, "1.5");
    batch_done(&batch);
}

TEST(legacybody_lines_count_one_each)
{
    CHECK_TEXT(folded(LEGACYBODY_LINES, SLICE("a;b 2\n\na;b 2\nc\n")), "a;b 2 20\nc 10\n");
}

/* "foo" {"foo;ba" {"r": 2, "z": 3}, "x": 1}: pieces of names. */
static const char trie[] = "\0\0\2\6foo;ba\0\2\1r\2\0\1z\3\0\3x;y\1\0";

TEST(legacybody_trie_joins_the_pieces_of_a_path)
{
    CHECK_TEXT(folded(LEGACYBODY_TRIE, slice_of(trie, sizeof(trie) - 1)), "foo;bar 20\nfoo;baz 30\nx;y 10\n");
}

/* The root, main 1 {a 2, b;c 0 {d 3}}. */
static const char tree[] = "\0\0\1\4main\1\2\1a\2\0\3b;c\0\1\1d\3\0";

TEST(legacybody_tree_has_whole_frames_and_a_root_that_is_none)
{
    CHECK_TEXT(folded(LEGACYBODY_TREE, slice_of(tree, sizeof(tree) - 1)), "main 10\nmain;a 20\nmain;b:c;d 30\n");
}

TEST(legacybody_nodes_cut_anywhere_never_read_outside)
{
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    for (size_t len = 0; len < sizeof(tree) - 1; len++) {
        char *copy = memory_alloc(len, &err);

        memcpy(copy, tree, len);
        IGNORE(decode(LEGACYBODY_TREE, slice_of(copy, len), &batch, &err), "cut between nodes it is still a tree");
        batch_reset(&batch);
        IGNORE(decode(LEGACYBODY_TRIE, slice_of(copy, len), &batch, &err), "likewise");
        batch_reset(&batch);
        memory_free(copy);
    }
    CHECK_ERROR(decode(LEGACYBODY_TREE, SLICE("\0\0\1\4mai"), &batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "byte 3");
    batch_done(&batch);
}

TEST(legacybody_tree_that_is_too_deep_is_refused)
{
    struct buffer deep;
    struct batch batch;
    struct error err;

    buffer_init(&deep, 0);
    for (int i = 0; i < 70000; i++)
        buffer_append(&deep, "\1x\0\1", 4);
    batch_init(&batch, NULL);
    CHECK_ERROR(decode(LEGACYBODY_TREE, buffer_slice(&deep), &batch, &err), &err, ERR_LIMIT);
    batch_reset(&batch);
    CHECK_ERROR(decode(LEGACYBODY_TRIE, buffer_slice(&deep), &batch, &err), &err, ERR_LIMIT);
    batch_done(&batch);
    buffer_done(&deep);
}

TEST(legacybody_trie_that_takes_too_much_work_is_refused)
{
    struct buffer body;
    struct batch batch;
    struct error err;

    buffer_init(&body, 0);
    buffer_append(&body, "\xc0\x84\x3d", 3); /* a name of 1,000,000 bytes */
    for (int i = 0; i < 1000000; i++)
        buffer_append_byte(&body, 'x');
    buffer_append(&body, "\0\xe8\x07", 3); /* 1,000 children */
    for (int i = 0; i < 1000; i++)
        buffer_append(&body, "\1y\1\0", 4);
    batch_init(&batch, NULL);
    CHECK_ERROR(decode(LEGACYBODY_TRIE, buffer_slice(&body), &batch, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "268435456");
    batch_done(&batch);
    buffer_done(&body);
}

static int decode_step(void *context, struct error *err)
{
    enum legacybody_form form = *(const enum legacybody_form *)context;
    struct slice body = form == LEGACYBODY_TREE   ? slice_of(tree, sizeof(tree) - 1)
                        : form == LEGACYBODY_TRIE ? slice_of(trie, sizeof(trie) - 1)
                                                  : SLICE("a;b 1");
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    result = decode(form, body, &batch, err);
    batch_done(&batch);
    return result;
}

TEST(legacybody_survives_failing_allocations)
{
    for (enum legacybody_form form = LEGACYBODY_GROUPS; form <= LEGACYBODY_TREE; form++)
        test_each_allocation_failing(decode_step, &form);
}
