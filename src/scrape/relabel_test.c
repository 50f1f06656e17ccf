// SPDX-License-Identifier: Apache-2.0
#include "scrape/relabel.h"

#include "base/test.h"

#define RULES_MAX 8

static struct arena arena;

__attribute__((destructor)) static void teardown(void)
{
    arena_done(&arena);
}

static const struct configtree *parsed(const char *yaml)
{
    const struct configtree *tree = NULL;
    struct error err;

    arena_done(&arena);
    arena_init(&arena, 16 << 20);
    CHECK_OK(configtree_parse(slice_from(yaml), "rules.yaml", &arena, &tree, &err), &err);
    return tree;
}

static struct relabel_set set_of(const char *labels)
{
    struct slice rest = slice_from(labels), label;
    struct relabel_set set = { .n = 0 };
    struct error err;

    while (slice_next_part(&rest, ' ', &label)) {
        ptrdiff_t equals = slice_find_byte(label, '=');

        CHECK_OK(relabel_put(&set, slice_sub(label, 0, (size_t)equals), slice_sub(label, (size_t)equals + 1, label.len),
                             &err),
                 &err);
    }
    return set;
}

static int apply(const struct configtree *tree, struct relabel_set *set, bool *ret_is_kept, struct error *err)
{
    struct relabel_rule rules[RULES_MAX] = { 0 };
    struct relabel_scratch scratch;
    size_t n = 0;
    int result = relabel_scratch_init(&scratch, err);

    for (const struct configtree *node = tree->first; result == 0 && node; node = node->next) {
        ASSERT(n < RULES_MAX);
        result = relabel_rule_init(&rules[n++], node, err);
    }
    if (result == 0)
        result = relabel_apply(rules, n, &scratch, &arena, set, ret_is_kept, err);
    for (size_t i = 0; i < n; i++)
        relabel_rule_done(&rules[i]);
    relabel_scratch_done(&scratch);
    return result;
}

/* `wanted` is NULL when the target should be dropped. */
static void check_relabelled(const char *yaml, const char *labels, const char *wanted)
{
    AUTO(buffer_done) struct buffer text;
    struct relabel_set set = set_of(labels);
    bool is_kept;
    struct error err;

    buffer_init(&text, 0);
    CHECK_OK(apply(parsed(yaml), &set, &is_kept, &err), &err);
    CHECK_EQ(is_kept, wanted != NULL);
    for (size_t i = 0; i < set.n; i++)
        buffer_printf(&text, "%s%.*s=%.*s", i ? " " : "", SLICE_ARG(set.items[i].name), SLICE_ARG(set.items[i].value));
    if (wanted)
        CHECK_TEXT(buffer_slice(&text), wanted);
}

static void check_refused(const char *yaml, const char *words)
{
    struct relabel_set set = { .n = 0 };
    bool is_kept;
    struct error err;

    CHECK_ERROR(apply(parsed(yaml), &set, &is_kept, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
}

TEST(relabel_sets_are_sorted_and_have_no_empty_values)
{
    struct relabel_set set = set_of("b=2 a=1 c=3 b=4 a=");

    CHECK_EQ(set.n, 2);
    CHECK_TEXT(set.items[0].name, "b");
    CHECK_TEXT(relabel_get(&set, SLICE("b")), "4");
    CHECK_TEXT(relabel_get(&set, SLICE("a")), "");
}

TEST(relabel_sets_have_a_maximum)
{
    struct relabel_set set = { .n = 0 };
    static char names[RELABEL_LABELS_MAX + 1][3];
    struct error err;

    for (size_t i = 0; i <= RELABEL_LABELS_MAX; i++) {
        names[i][0] = (char)('a' + i / 16);
        names[i][1] = (char)('a' + i % 16);
        if (i < RELABEL_LABELS_MAX)
            CHECK_OK(relabel_put(&set, slice_from(names[i]), SLICE("x"), &err), &err);
    }
    CHECK_ERROR(relabel_put(&set, slice_from(names[RELABEL_LABELS_MAX]), SLICE("x"), &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "a target has more than 128 labels");
    CHECK_OK(relabel_put(&set, SLICE("aa"), SLICE("y"), &err), &err);
}

TEST(relabel_replace_sets_the_target_where_the_whole_source_matches)
{
    check_relabelled("[{source_labels: [a], target_label: d, regex: 'f(.*)', replacement: 'ch${1}-ch${1}'}]", "a=foo",
                     "a=foo d=choo-choo");
    check_relabelled("[{source_labels: [a], target_label: d, regex: 'o'}]", "a=foo", "a=foo");
    check_relabelled("[{source_labels: [a, b], separator: '|', target_label: d}]", "a=1 b=2", "a=1 b=2 d=1|2");
    check_relabelled("[{source_labels: [a, b], target_label: d}]", "a=1 b=2", "a=1 b=2 d=1;2");
    check_relabelled("[{target_label: d, replacement: fixed}]", "a=1", "a=1 d=fixed");
}

TEST(relabel_replace_with_nothing_takes_the_label_out)
{
    check_relabelled("[{source_labels: [a], target_label: b, replacement: ''}]", "a=1 b=2", "a=1");
    check_relabelled("[{source_labels: [gone], target_label: b}]", "a=1 b=2", "a=1");
}

TEST(relabel_replace_makes_the_name_of_the_target_too)
{
    check_relabelled("[{source_labels: [a], regex: '(.*)-(.*)', target_label: '${1}', replacement: '$2'}]", "a=zone-eu",
                     "a=zone-eu zone=eu");
    check_relabelled("[{source_labels: [a], regex: '(.*)-(.*)', target_label: '${1}', replacement: '$2'}]", "a=1-eu",
                     "a=1-eu"); /* 1 is no name */
}

TEST(relabel_keep_and_drop_choose_targets)
{
    check_relabelled("[{source_labels: [a], regex: 'fo+', action: keep}]", "a=foo", "a=foo");
    check_relabelled("[{source_labels: [a], regex: 'f', action: keep}]", "a=foo", NULL);
    check_relabelled("[{source_labels: [a], regex: 'fo+', action: drop}]", "a=foo", NULL);
    check_relabelled("[{source_labels: [a], regex: 'f', action: drop}]", "a=foo", "a=foo");
    check_relabelled("[{source_labels: [a], regex: 'f.*', action: drop}, {target_label: b, replacement: c}]", "a=foo",
                     NULL);
    check_relabelled("[{source_labels: [x], regex: '', action: keep}]", "a=foo", "a=foo");
}

TEST(relabel_keepequal_and_dropequal_compare_two_labels)
{
    check_relabelled("[{source_labels: [a], target_label: b, action: keepequal}]", "a=1 b=1", "a=1 b=1");
    check_relabelled("[{source_labels: [a], target_label: b, action: keepequal}]", "a=1 b=2", NULL);
    check_relabelled("[{source_labels: [a], target_label: b, action: dropequal}]", "a=1 b=1", NULL);
    check_relabelled("[{source_labels: [a], target_label: b, action: dropequal}]", "a=1 b=2", "a=1 b=2");
}

/* 976 is what Prometheus makes of "baz" and 1000. */
TEST(relabel_hashmod_shards_as_prometheus_does)
{
    check_relabelled("[{source_labels: [c], target_label: d, action: hashmod, modulus: 1000}]", "a=foo b=bar c=baz",
                     "a=foo b=bar c=baz d=976");
}

TEST(relabel_labelmap_copies_labels_to_other_names)
{
    check_relabelled("[{regex: '__meta_(my.*)', replacement: '${1}', action: labelmap}]",
                     "a=foo __meta_my_bar=aaa __meta_my_baz=bbb __meta_other=ccc",
                     "__meta_my_bar=aaa __meta_my_baz=bbb __meta_other=ccc a=foo my_bar=aaa my_baz=bbb");
    check_relabelled("[{regex: '__meta_(.*)', action: labelmap}]", "__meta_1=x", "__meta_1=x");
}

TEST(relabel_labeldrop_and_labelkeep_choose_labels)
{
    check_relabelled("[{regex: 'b.*', action: labeldrop}]", "a=1 b1=2 b2=3 cb=4", "a=1 cb=4");
    check_relabelled("[{regex: 'b.*', action: labelkeep}]", "a=1 b1=2 b2=3 cb=4", "b1=2 b2=3");
}

TEST(relabel_changes_case)
{
    check_relabelled("[{source_labels: [a], target_label: b, action: lowercase}]", "a=FooBar-1",
                     "a=FooBar-1 b=foobar-1");
    check_relabelled("[{source_labels: [a], target_label: b, action: Uppercase}]", "a=FooBar-1",
                     "a=FooBar-1 b=FOOBAR-1");
}

TEST(relabel_refuses_rules_that_cannot_work)
{
    check_refused("[{action: kepe}]", "rules.yaml:1:11: 'kepe' is no action, did you mean 'keep'; there are replace");
    check_refused("[{source_labels: [a]}]", "rules.yaml:1:2: action 'replace' needs a target_label");
    check_refused("[{target_label: 'a-b'}]", "target_label 'a-b' is no label name");
    check_refused("[{target_label: a, action: hashmod}]", "action 'hashmod' needs a modulus of 1 or more");
    check_refused("[{target_label: a, regex: '('}]", "rules.yaml:1:2: regular expression '('");
    check_refused("[{source_label: [a]}]", "unknown key 'source_label'; did you mean 'source_labels'?");
}

TEST(relabel_bounds_what_rules_make)
{
    AUTO(buffer_done) struct buffer big;
    struct relabel_set set = { .n = 0 };
    bool is_kept;
    struct error err;

    buffer_init(&big, 0);
    for (int i = 0; i < 40000; i++)
        buffer_append_byte(&big, 'x');
    CHECK_OK(relabel_put(&set, SLICE("a"), buffer_slice(&big), &err), &err);
    CHECK_ERROR(apply(parsed("[{source_labels: [a], target_label: b, replacement: '$1$1'}]"), &set, &is_kept, &err),
                &err, ERR_LIMIT);
    CHECK_HAS(err.text, "relabelling rule 1");
}

static int relabel_something(void *context, struct error *err)
{
    struct relabel_set set = set_of("a=foo b=bar");
    bool is_kept;

    return apply(context, &set, &is_kept, err);
}

TEST(relabel_survives_each_allocation_failing)
{
    test_each_allocation_failing(
        relabel_something,
        (void *)parsed(
            "[{source_labels: [a], target_label: c}, {action: labelmap, regex: '(.)', replacement: 'x$1'}]"));
}
