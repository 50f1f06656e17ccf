// SPDX-License-Identifier: Apache-2.0
#include "flame/flamebytes.h"

#include "profile/random_profile_test.h"

#include <string.h>

/* --- comparing --- */

/* Whether node `i` of the tree has anything in the columns that were written, at it or below. */
static bool is_written(const struct flame *flame, uint32_t first, uint32_t n_columns, uint32_t i)
{
    for (uint32_t node = i; node < flame->ends[i]; node++)
        for (uint32_t column = first; column < first + n_columns; column++)
            if (flame_self(flame, column, node) != 0)
                return true;
    return i == 0;
}

static void check_detail(const struct flamebytes_detail *detail, const struct symbol *symbol)
{
    if (!symbol) {
        CHECK_EQ(detail->kind + detail->line + detail->module.len + detail->file.len, 0);
        return;
    }
    CHECK_EQ(detail->kind, symbol->is_kernel ? FRAME_KERNEL : symbol->kind);
    CHECK_TEXT(detail->module, symbol->module);
    CHECK_TEXT(detail->file, symbol->file);
    CHECK_EQ(detail->line, symbol->line);
}

static void check_samples(const struct flamebytes *tree, uint32_t at, const struct flame *flame, uint32_t column)
{
    double samples = flame_total_count(flame, column, 0);

    CHECK(samples < 0 ? tree->samples[at] < 0 : tree->samples[at] > samples - 1 && tree->samples[at] < samples + 1);
}

static void check_same(const struct flamebytes *tree, const struct flame *flame, uint32_t first, uint32_t n_columns)
{
    uint32_t at = 0;

    CHECK_EQ(tree->n_columns, n_columns);
    for (uint32_t column = 0; column < n_columns; column++)
        check_samples(tree, column, flame, first + column);
    for (uint32_t i = 0; i < flame->n_nodes; i++) {
        if (!is_written(flame, first, n_columns, i))
            continue;
        CHECK(at < tree->n_nodes);
        CHECK_EQ(tree->depths[at], flame->depths[i]);
        CHECK_EQ(tree->node_flags[at], flame->flags[i]);
        CHECK_TEXT(tree->names[tree->node_names[at]], flame_name(flame, i));
        check_detail(&tree->details[tree->node_names[at]], flame_symbol(flame, i));
        if (at > 0)
            CHECK_TEXT(tree->names[tree->node_names[tree->parents[at]]], flame_name(flame, flame->parents[i]));
        for (uint32_t column = 0; column < n_columns; column++) {
            CHECK_EQ(tree->self[column][at], flame_self(flame, first + column, i));
            CHECK_EQ(tree->total[column][at], flame_total(flame, first + column, i));
        }
        at++;
    }
    CHECK_EQ(at, tree->n_nodes);
}

static void decode(struct slice bytes, struct arena *arena, struct flamebytes *ret_tree)
{
    struct error err;

    arena_init(arena, 0);
    CHECK_OK(flamebytes_decode(bytes, arena, ret_tree, &err), &err);
}

static void check_column(const struct flame *flame, uint32_t column)
{
    struct flamebytes tree;
    struct arena arena;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    buffer_append_text(&out, "x"); /* what is there stays */
    CHECK_OK(flamebytes_encode(flame, column, SLICE("nanoseconds"), &out, &err), &err);
    decode(slice_sub(buffer_slice(&out), 1, SIZE_MAX), &arena, &tree);
    check_same(&tree, flame, column, 1);
    CHECK_TEXT(tree.unit, "nanoseconds");
    CHECK_EQ((tree.flags & FLAMEBYTES_INVERTED) != 0, flame->is_inverted);
    arena_done(&arena);
    buffer_done(&out);
}

static const uint32_t both_types[] = { 0, 1 };

/* --- round trips --- */

TEST(flamebytes_reads_what_it_wrote)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct random_options shape = random_shape(seed);
        struct flame_options options = { .is_inverted = seed % 2 };
        struct batch batch;
        struct flame *flame;
        struct error err;

        batch_init(&batch, NULL);
        random_batch(&batch, &shape);
        CHECK_OK(flame_new(&batch.profiles[0], both_types, 2, &options, &flame, &err), &err);
        check_column(flame, 0);
        check_column(flame, 1);
        flame_free(flame);
        batch_done(&batch);
    }
}

TEST(flamebytes_writes_both_sides_of_a_diff)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct random_options shape = random_shape(seed), other = random_shape(seed + 1);
        struct diff_options options = { .scaling = DIFF_EQUAL_TOTALS };
        struct batch before, after;
        struct flamebytes tree;
        struct arena arena;
        struct buffer out;
        struct diff *diff;
        struct error err;

        buffer_init(&out, 0);
        batch_init(&before, NULL);
        batch_init(&after, NULL);
        random_batch(&before, &shape);
        random_batch(&after, &other);
        CHECK_OK(diff_new(&before.profiles[0], 1, &after.profiles[0], 1, &options, &diff, &err), &err);
        CHECK_OK(flamebytes_encode_diff(diff, diff->flame, &out, &err), &err);
        decode(buffer_slice(&out), &arena, &tree);
        check_same(&tree, diff->flame, 0, 2);
        CHECK_TEXT(tree.unit, diff->unit);
        CHECK(tree.factor == diff->factor);
        arena_done(&arena);
        buffer_done(&out);
        diff_free(diff);
        batch_done(&before);
        batch_done(&after);
    }
}

/* A tree of given depths in pre-order, all of whose symbols are among the first `n_names` of a set. */
static struct flame *made(struct symbolset *set, const uint32_t *depths, const uint32_t *symbols, const int64_t *self,
                          uint32_t n)
{
    uint32_t path[64] = { 0 };
    struct flame *flame;
    struct error err;

    CHECK_OK(flame_new_empty(n, 1, false, set, &flame, &err), &err);
    for (uint32_t i = 0; i < n; i++) {
        flame->depths[i] = depths[i];
        path[depths[i]] = i;
        flame->parents[i] = i ? path[depths[i] - 1] : 0;
        flame->symbols[i] = i ? symbols[i] : FLAME_ROOT;
        flame->self[i] = self[i];
        flame->ends[i] = n;
        for (uint32_t k = i + 1; k < n && flame->ends[i] == n; k++)
            if (depths[k] <= depths[i])
                flame->ends[i] = k;
        for (uint32_t k = i;; k = flame->parents[k]) {
            flame->total[k] += self[i];
            if (k == 0)
                break;
        }
    }
    return flame;
}

static void make_set(struct symbolset *set)
{
    struct error err;
    uint32_t id;

    symbolset_init(set, SYMBOL_FUNCTION);
    CHECK_OK(symbolset_add_text(set, SLICE("main"), &id, &err), &err);
    CHECK_OK(symbolset_add_text(set, SLICE("two\nlines"), &id, &err), &err);
    CHECK_OK(symbolset_add_text(set, SLICE("\xc3\xa9"), &id, &err), &err);
}

TEST(flamebytes_holds_negative_and_large_values)
{
    static const uint32_t depths[] = { 0, 1, 2, 2, 1 }, symbols[] = { 0, 0, 1, 2, 2 };
    static const int64_t large[] = { 0, 1LL << 60, 1LL << 62, 1, 2 }, negative[] = { 5, 0, -7, 7, INT64_MIN / 2 };
    struct symbolset set;
    struct flame *flame;

    make_set(&set);
    flame = made(&set, depths, symbols, large, 5);
    check_column(flame, 0);
    flame_free(flame);
    flame = made(&set, depths, symbols, negative, 5);
    check_column(flame, 0);
    flame_free(flame);
    symbolset_done(&set);
}

/* The divisor of values that were written, once they were read back as they are. */
static uint64_t divisor_of(const int64_t *self)
{
    static const uint32_t depths[] = { 0, 1, 2, 2, 1 }, symbols[] = { 0, 0, 1, 2, 2 };
    struct symbolset set;
    struct flamebytes tree;
    struct flame *flame;
    struct arena arena;
    struct buffer out;
    struct error err;

    make_set(&set);
    flame = made(&set, depths, symbols, self, 5);
    buffer_init(&out, 0);
    CHECK_OK(flamebytes_encode(flame, 0, SLICE(""), &out, &err), &err);
    decode(buffer_slice(&out), &arena, &tree);
    check_same(&tree, flame, 0, 1);
    arena_done(&arena);
    buffer_done(&out);
    flame_free(flame);
    symbolset_done(&set);
    return tree.divisor;
}

TEST(flamebytes_divides_values_by_what_they_share)
{
    CHECK_EQ(divisor_of((int64_t[]){ 0, 0, 10000000, 30000000, 70000000 }), 10000000);
    CHECK_EQ(divisor_of((int64_t[]){ 0, 6, 0, -9, 12 }), 3);
    CHECK_EQ(divisor_of((int64_t[]){ 0, 6, 0, 9, 1 }), 1);
    CHECK_EQ(divisor_of((int64_t[]){ 0, 0, 0, 0, 0 }), 1);
    CHECK_EQ(divisor_of((int64_t[]){ 0, 0, 0, 0, INT64_MIN }), 1ull << 63);
    CHECK_EQ(divisor_of((int64_t[]){ 0, 0, INT64_MAX, 0, INT64_MIN }), 1);
}

TEST(flamebytes_tells_how_many_samples_there_were)
{
    static const struct {
        double samples, expected;
    } cases[] = { { 0, 0 }, { 0.4, 0 }, { 1999.6, 2000 }, { 0x1p70, 0x1p62 - 1 } };
    struct symbolset set;

    make_set(&set);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct flamebytes tree;
        struct flame *flame;
        struct arena arena;
        struct buffer out;
        struct error err;

        CHECK_OK(flame_new_empty(1, 1, true, &set, &flame, &err), &err);
        flame->symbols[0] = FLAME_ROOT;
        flame->ends[0] = 1;
        flame->has_counts[0] = true;
        flame->total_counts[0] = cases[i].samples;
        buffer_init(&out, 0);
        CHECK_OK(flamebytes_encode(flame, 0, SLICE(""), &out, &err), &err);
        decode(buffer_slice(&out), &arena, &tree);
        CHECK(tree.samples[0] == cases[i].expected);
        arena_done(&arena);
        buffer_done(&out);
        flame_free(flame);
    }
    symbolset_done(&set);
}

TEST(flamebytes_keeps_a_text_once_and_the_most_frequent_first)
{
    static const uint32_t depths[] = { 0, 1, 2, 2 }, symbols[] = { 0, 0, 1, 2 };
    static const int64_t self[] = { 0, 1, 2, 3 };
    struct symbolset set;
    struct flamebytes tree;
    struct flame *flame;
    struct arena arena;
    struct buffer out;
    struct error err;

    make_set(&set);
    for (uint32_t i = 0; i < 3; i++) {
        set.symbols.items[i].module = SLICE("libc.so.6");
        set.symbols.items[i].kind = FRAME_NATIVE;
    }
    set.symbols.items[0].file = SLICE("src/main.c");
    set.symbols.items[0].line = 1u << 31;
    set.symbols.items[2].module = SLICE("src/main.c");
    flame = made(&set, depths, symbols, self, 4);
    buffer_init(&out, 0);
    CHECK_OK(flamebytes_encode(flame, 0, SLICE(""), &out, &err), &err);
    decode(buffer_slice(&out), &arena, &tree);
    check_same(&tree, flame, 0, 1);
    CHECK_EQ(tree.n_texts, 2);
    CHECK_TEXT(slice_sub(buffer_slice(&out), out.len - 21, SIZE_MAX), "\tlibc.so.6\nsrc/main.c");
    arena_done(&arena);
    buffer_done(&out);
    flame_free(flame);
    symbolset_done(&set);
}

TEST(flamebytes_refuses_values_that_do_not_add_up)
{
    static const uint32_t depths[] = { 0, 1, 1 }, symbols[] = { 0, 0, 1 };
    static const int64_t self[] = { 0, INT64_MAX, 1 };
    struct symbolset set;
    struct flame *flame;
    struct buffer out;
    struct error err;

    make_set(&set);
    flame = made(&set, depths, symbols, (int64_t[]){ 0, 1, 1 }, 3);
    memcpy(flame->self, self, sizeof(self));
    buffer_init(&out, 0);
    buffer_append_text(&out, "x");
    CHECK_ERROR(flamebytes_encode(flame, 0, SLICE(""), &out, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "do not add up within 64 bits");
    CHECK_EQ(out.len, 1);
    buffer_done(&out);
    flame_free(flame);
    symbolset_done(&set);
}

TEST(flamebytes_of_nothing_is_a_root)
{
    struct symbolset set;
    struct flame *flame;

    make_set(&set);
    flame = made(&set, (uint32_t[]){ 0, 1 }, (uint32_t[]){ 0, 1 }, (int64_t[]){ 0, 0 }, 2);
    check_column(flame, 0);
    flame_free(flame);
    symbolset_done(&set);
}

/* Many nodes, few pairs: main calls one of three in turns, many levels of them. */
static struct flame *make_repetitive(struct symbolset *set)
{
    static uint32_t depths[400], symbols[400];
    static int64_t self[400];

    for (uint32_t i = 1; i < 400; i++) {
        depths[i] = 1 + (i - 1) % 40;
        symbols[i] = (i - 1) % 40 % 3;
        self[i] = i % 7;
    }
    self[399] = 1;
    return made(set, depths, symbols, self, 400);
}

TEST(flamebytes_writes_places_among_callees_where_that_is_shorter)
{
    struct symbolset set;
    struct flame *flame;
    struct buffer out;
    struct error err;

    make_set(&set);
    flame = make_repetitive(&set);
    check_column(flame, 0);
    buffer_init(&out, 0);
    CHECK_OK(flamebytes_encode(flame, 0, SLICE(""), &out, &err), &err);
    CHECK((out.data[5] & FLAMEBYTES_RANKS) != 0);
    buffer_done(&out);
    flame_free(flame);
    symbolset_done(&set);
}

/* --- damage --- */

static void encode_sample(struct buffer *out, bool is_repetitive)
{
    static const uint32_t depths[] = { 0, 1, 2, 2, 1 }, symbols[] = { 0, 0, 1, 2, 2 };
    static const int64_t self[] = { 1, 2, 3, 4, 300 };
    struct symbolset set;
    struct flame *flame;
    struct error err;

    make_set(&set);
    flame = is_repetitive ? make_repetitive(&set) : made(&set, depths, symbols, self, 5);
    flame->flags[1] = FLAME_IS_INLINED;
    CHECK_OK(flamebytes_encode(flame, 0, SLICE("count"), out, &err), &err);
    flame_free(flame);
    symbolset_done(&set);
}

TEST(flamebytes_refuses_what_is_cut_off_or_has_something_behind_it)
{
    for (int kind = 0; kind < 2; kind++) {
        struct buffer out;
        size_t whole;

        buffer_init(&out, 0);
        encode_sample(&out, kind == 1);
        whole = out.len;
        buffer_append_byte(&out, 0);
        for (size_t len = 0; len <= whole + 1; len++) {
            struct flamebytes tree;
            struct arena arena;
            struct error err;

            if (len == whole)
                continue;
            arena_init(&arena, 0);
            CHECK_ERROR(flamebytes_decode(slice_of(out.data, len), &arena, &tree, &err), &err, ERR_CORRUPT);
            arena_done(&arena);
        }
        buffer_done(&out);
    }
}

TEST(flamebytes_survives_every_damaged_byte)
{
    for (int kind = 0; kind < 2; kind++) {
        struct buffer out;

        buffer_init(&out, 0);
        encode_sample(&out, kind == 1);
        for (size_t at = 0; at < out.len; at++)
            for (int value = 0; value < 256; value += kind == 1 ? 17 : 1) {
                char before = out.data[at];
                struct flamebytes tree;
                struct arena arena;
                struct error err;

                out.data[at] = (char)value;
                arena_init(&arena, 1 << 20);
                if (flamebytes_decode(buffer_slice(&out), &arena, &tree, &err) == 0)
                    for (uint32_t i = 0; i < tree.n_nodes; i++)
                        CHECK(tree.node_names[i] < tree.n_names && tree.parents[i] <= i);
                else
                    CHECK(err.code == ERR_CORRUPT || err.code == ERR_VERSION);
                arena_done(&arena);
                out.data[at] = before;
            }
        buffer_done(&out);
    }
}

TEST(flamebytes_says_what_is_wrong)
{
    static const struct {
        size_t at;
        char value;
        enum error_code code;
        const char *words;
    } cases[] = {
        { 0, 'h', ERR_CORRUPT, "not the flame format" },
        { 4, 2, ERR_VERSION, "version 2, but only 1 is known" },
        { 5, 8, ERR_CORRUPT, "flags that version 1 does not have" },
        { 6, 3, ERR_CORRUPT, "3 columns; 1 and 2 can be" },
        { 8, 0, ERR_CORRUPT, "the number of nodes is 0" },
        { 8, 100, ERR_CORRUPT, "do not fit its streams" },
        { 10, 4, ERR_CORRUPT, "of depth 2 where the header says 5 of depth 4" },
        { 12, 9, ERR_CORRUPT, "the name of the root is 9" },
        { 13, 1, ERR_CORRUPT, "4 names and 1 texts do not fit its streams" },
        { 14, 0, ERR_CORRUPT, "the divisor is 0" },
        { 15, (char)0xb7, ERR_CORRUPT, "values add up to 310, but the total is 311" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct flamebytes tree;
        struct arena arena;
        struct buffer out;
        struct error err;

        buffer_init(&out, 0);
        encode_sample(&out, false);
        out.data[cases[i].at] = cases[i].value;
        arena_init(&arena, 0);
        CHECK_ERROR(flamebytes_decode(buffer_slice(&out), &arena, &tree, &err), &err, cases[i].code);
        CHECK_HAS(err.text, cases[i].words);
        arena_done(&arena);
        buffer_done(&out);
    }
}

TEST(flamebytes_refuses_a_divisor_that_makes_values_too_large)
{
    static const uint32_t depths[] = { 0, 1 }, symbols[] = { 0, 0 };
    struct symbolset set;
    struct flamebytes tree;
    struct flame *flame;
    struct arena arena;
    struct buffer out;
    struct error err;

    make_set(&set);
    flame = made(&set, depths, symbols, (int64_t[]){ 1, 1LL << 62 }, 2);
    buffer_init(&out, 0);
    arena_init(&arena, 0);
    CHECK_OK(flamebytes_encode(flame, 0, SLICE(""), &out, &err), &err);
    out.data[14] = 2;
    CHECK_ERROR(flamebytes_decode(buffer_slice(&out), &arena, &tree, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "the value 4611686018427387905 times 2 is beyond 64 bits");
    arena_done(&arena);
    buffer_done(&out);
    flame_free(flame);
    symbolset_done(&set);
}

static int encode_and_decode(void *context, struct error *err)
{
    struct flamebytes tree;
    struct arena arena;
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    result = flamebytes_encode(context, 0, SLICE("count"), &out, err);
    if (result == 0)
        result = flamebytes_decode(buffer_slice(&out), &arena, &tree, err);
    arena_done(&arena);
    buffer_done(&out);
    return result;
}

TEST(flamebytes_survives_every_allocation_that_fails)
{
    struct symbolset set;
    struct flame *flame;

    make_set(&set);
    set.symbols.items[0].module = SLICE("libc.so.6");
    flame = make_repetitive(&set);
    test_each_allocation_failing(encode_and_decode, flame);
    flame_free(flame);
    symbolset_done(&set);
}
