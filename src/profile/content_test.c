// SPDX-License-Identifier: Apache-2.0
#include "profile/content.h"

#include "base/test.h"

/* Two functions on two frames and a stack of both, with strings in the given order, so that local ids differ. */
struct sample_tables {
    struct slice strings[6];
    struct mapping mappings[2];
    struct function functions[3];
    struct line lines[2];
    struct frame frames[3];
    uint32_t stack_frames[2];
    uint32_t stack_starts[3];
    uint32_t label_set_starts[2];
    struct link links[1];
    struct tables tables;
};

static void fill(struct sample_tables *s, bool other_order)
{
    uint32_t main_id = other_order ? 3 : 1, work_id = other_order ? 2 : 2, file_id = other_order ? 1 : 3, app_id = 4;
    uint32_t main_function = other_order ? 2 : 1, work_function = other_order ? 1 : 2;

    *s = (struct sample_tables){ 0 };
    s->strings[0] = SLICE("");
    s->strings[main_id] = SLICE("main");
    s->strings[work_id] = SLICE("work");
    s->strings[file_id] = SLICE("app.c");
    s->strings[app_id] = SLICE("/bin/app");
    s->strings[5] = SLICE("_ZmainV");
    s->mappings[1] = (struct mapping){ .start = other_order ? 0x1000 : 0x9000, .limit = 0xa000, .file = app_id };
    s->functions[main_function] = (struct function){ .name = main_id, .file = file_id };
    s->functions[work_function] = (struct function){ .name = work_id, .file = file_id, .start_line = other_order };
    s->lines[0] = (struct line){ .function = main_function, .line = 10 };
    s->lines[1] = (struct line){ .function = work_function, .line = 20 };
    s->frames[1] = (struct frame){ .mapping = 1, .first_line = 0, .n_lines = 1, .address = s->mappings[1].start + 5 };
    s->frames[2] = (struct frame){ .mapping = 1, .first_line = 1, .n_lines = 1, .address = s->mappings[1].start + 9 };
    s->stack_frames[0] = 2;
    s->stack_frames[1] = 1;
    s->stack_starts[2] = 2;
    s->tables = (struct tables){ .strings = s->strings,
                                 .mappings = s->mappings,
                                 .functions = s->functions,
                                 .lines = s->lines,
                                 .frames = s->frames,
                                 .stack_frames = s->stack_frames,
                                 .stack_starts = s->stack_starts,
                                 .label_set_starts = s->label_set_starts,
                                 .links = s->links,
                                 .n_strings = 6,
                                 .n_mappings = 2,
                                 .n_functions = 3,
                                 .n_lines = 2,
                                 .n_frames = 3,
                                 .n_stack_frames = 2,
                                 .n_stacks = 2,
                                 .n_label_sets = 1,
                                 .n_links = 1 };
}

static struct hash128 stack_hash(const struct sample_tables *s, uint64_t seed, bool keep_addresses)
{
    struct arena arena;
    struct content content;
    struct hash128 hash;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(tables_check(&s->tables, &err), &err);
    CHECK_OK(content_hash(&s->tables, seed, keep_addresses, &arena, &content, &err), &err);
    hash = content.stacks[1];
    arena_done(&arena);
    return hash;
}

TEST(content_hash_does_not_depend_on_local_ids_load_addresses_or_start_lines)
{
    struct sample_tables one, other;

    fill(&one, false);
    fill(&other, true);
    other.mappings[1].limit = other.mappings[1].start + 0x1000; /* the same size, elsewhere */
    CHECK(hash_equal(stack_hash(&one, 1, false), stack_hash(&other, 1, false)));
    CHECK(hash_equal(stack_hash(&one, 1, true), stack_hash(&other, 1, true)));
}

TEST(content_hash_depends_on_seed_order_line_function_and_binary)
{
    struct sample_tables s;
    struct hash128 before;

    fill(&s, false);
    before = stack_hash(&s, 1, false);
    CHECK(!hash_equal(before, stack_hash(&s, 2, false)));
    s.stack_frames[0] = 1;
    s.stack_frames[1] = 2;
    CHECK(!hash_equal(before, stack_hash(&s, 1, false)));
    fill(&s, false);
    s.lines[0].line++;
    CHECK(!hash_equal(before, stack_hash(&s, 1, false)));
    fill(&s, false);
    s.functions[1].system_name = 5;
    CHECK(!hash_equal(before, stack_hash(&s, 1, false)));
    fill(&s, false);
    s.mappings[1].build_id = 5;
    CHECK(!hash_equal(before, stack_hash(&s, 1, false)));
}

TEST(content_hash_keeps_addresses_apart_only_when_asked)
{
    struct sample_tables s;
    struct hash128 plain, kept;

    fill(&s, false);
    plain = stack_hash(&s, 1, false);
    kept = stack_hash(&s, 1, true);
    s.frames[1].address++;
    CHECK(hash_equal(plain, stack_hash(&s, 1, false)));
    CHECK(!hash_equal(kept, stack_hash(&s, 1, true)));
    s.frames[1].n_lines = 0; /* an unnamed frame is its address */
    s.frames[1].first_line = 0;
    plain = stack_hash(&s, 1, false);
    s.frames[1].address++;
    CHECK(!hash_equal(plain, stack_hash(&s, 1, false)));
}

TEST(content_hash_tells_kernel_code_apart_where_no_mapping_does)
{
    struct sample_tables s;
    struct hash128 before;

    fill(&s, false);
    before = stack_hash(&s, 1, false);
    s.frames[1].kind = FRAME_KERNEL;
    CHECK(hash_equal(before, stack_hash(&s, 1, false)));
    s.frames[1].mapping = 0;
    before = stack_hash(&s, 1, false);
    s.frames[1].kind = FRAME_UNKNOWN;
    CHECK(!hash_equal(before, stack_hash(&s, 1, false)));
}

TEST(content_hash_of_labels_depends_on_every_field)
{
    struct hash128 strings[] = { content_string(SLICE(""), 0), content_string(SLICE("a"), 0),
                                 content_string(SLICE("b"), 0) };
    struct label label = { .key = 1, .text = 2 };
    struct hash128 before = content_label_set(&label, 1, strings);
    struct label changed[] = { { .key = 2, .text = 2 },
                               { .key = 1, .text = 1 },
                               { .key = 1, .text = 2, .number = 1 },
                               { .key = 1, .text = 2, .unit = 1 },
                               { .key = 1, .text = 2, .kind = LABEL_BYTES } };

    for (size_t i = 0; i < ARRAY_LEN(changed); i++)
        CHECK(!hash_equal(before, content_label_set(&changed[i], 1, strings)));
    CHECK(!hash_equal(before, content_label_set(NULL, 0, strings)));
}
