// SPDX-License-Identifier: Apache-2.0
#include "config/configtree.h"

#include "base/fs.h"
#include "base/test.h"
#include "config/config.h"

#include <stdio.h>

static struct arena arena;

__attribute__((destructor)) static void teardown(void)
{
    arena_done(&arena);
}

static int parse(const char *yaml, const struct configtree **ret_tree, struct error *err)
{
    arena_done(&arena);
    arena_init(&arena, 64 << 20);
    return configtree_parse(slice_from(yaml), "scrape.yaml", &arena, ret_tree, err);
}

static const struct configtree *parsed(const char *yaml)
{
    const struct configtree *tree = NULL;
    struct error err;

    CHECK_OK(parse(yaml, &tree, &err), &err);
    return tree;
}

static void check_refused(const char *yaml, enum error_code code, const char *story)
{
    const struct configtree *tree = NULL;
    struct error err;

    CHECK_ERROR(parse(yaml, &tree, &err), &err, code);
    CHECK_TEXT(err.text, story);
    CHECK(!tree);
}

struct sample {
    struct slice name, note;
    bool is_on;
    int64_t wait_ns;
    uint64_t number;
    const struct configtree *words;
    const struct configtree *labels;
};

static const struct configtree_field fields[] = {
    { "name", configtree_text, offsetof(struct sample, name) },
    { "note", configtree_any_text, offsetof(struct sample, note) },
    { "enabled", configtree_bool, offsetof(struct sample, is_on) },
    { "interval", configtree_duration, offsetof(struct sample, wait_ns) },
    { "number", configtree_uint, offsetof(struct sample, number) },
    { "words", configtree_texts, offsetof(struct sample, words) },
    { "labels", configtree_text_map, offsetof(struct sample, labels) },
};

static void check_not_filled(const char *yaml, const char *story)
{
    struct sample sample = { 0 };
    struct error err;

    CHECK_ERROR(configtree_fill(parsed(yaml), fields, ARRAY_LEN(fields), &sample, NULL, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, story);
}

TEST(configtree_keeps_the_shape_and_the_places)
{
    const struct configtree *tree = parsed("- a: 1\n  b: [x, 'y z', ~]\n- text\n"), *b;

    CHECK_EQ(tree->kind, CONFIGTREE_LIST);
    CHECK_EQ(tree->n, 2);
    CHECK_EQ(tree->first->kind, CONFIGTREE_MAP);
    b = configtree_find(tree->first, "b");
    CHECK_EQ(b->kind, CONFIGTREE_LIST);
    CHECK_EQ(b->n, 3);
    CHECK_EQ(b->key_line, 2);
    CHECK_EQ(b->key_column, 3);
    CHECK_EQ(b->column, 6);
    CHECK_TEXT(b->first->next->text, "y z");
    CHECK_EQ(b->first->next->next->kind, CONFIGTREE_NOTHING);
    CHECK_TEXT(tree->first->next->text, "text");
    CHECK(!configtree_find(tree->first, "c"));
    CHECK(!configtree_find(tree, "a"));
}

TEST(configtree_reads_json_too)
{
    const struct configtree *tree =
        parsed("[{\"targets\": [\"a:1\", \"b\\/\\u00e4\"],\n\t\"labels\": {\"x\": \"y\"}}]\n");

    CHECK_TEXT(configtree_find(tree->first, "targets")->first->next->text, "b/\xc3\xa4");
    CHECK_TEXT(configtree_find(tree->first, "labels")->first->key, "x");
}

TEST(configtree_of_an_empty_document_is_nothing)
{
    CHECK_EQ(parsed("")->kind, CONFIGTREE_NOTHING);
    CHECK_EQ(parsed("# nothing\n")->kind, CONFIGTREE_NOTHING);
}

TEST(configtree_refuses_what_configurations_refuse)
{
    check_refused("- &a 1\n- *a\n", ERR_INVALID,
                  "scrape.yaml:1:3: anchors and aliases are not supported; write the value out");
    check_refused("a: 1\nb: 2\na: 3\n", ERR_INVALID,
                  "scrape.yaml:3:1: key 'a' was given on line 1 already; keep one of the two");
    check_refused("[a]: 1\n", ERR_INVALID,
                  "scrape.yaml:1:1: a key must be a word, not a list or a map; write 'key: value'");
    check_refused("[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", ERR_LIMIT,
                  "scrape.yaml:1:17: maps and lists are nested too deep; at most 16 are read");
}

TEST(configtree_bounds_values_and_keys)
{
    AUTO(buffer_done) struct buffer yaml;
    const struct configtree *tree;
    struct error err;

    buffer_init(&yaml, 0);
    for (int i = 0; i <= CONFIGTREE_KEYS_MAX; i++)
        buffer_printf(&yaml, "k%d: 1\n", i);
    buffer_append_byte(&yaml, '\0');
    CHECK_ERROR(parse(yaml.data, &tree, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "scrape.yaml:1025:1: this map has too many keys; at most 1024 are read");
    buffer_clear(&yaml);
    for (int i = 0; i <= CONFIGTREE_NODES_MAX; i++)
        buffer_append_text(&yaml, "- 1\n");
    buffer_append_byte(&yaml, '\0');
    CHECK_ERROR(parse(yaml.data, &tree, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "there are too many values; at most 131072 are read");
}

TEST(configtree_fills_fields_by_a_table)
{
    struct sample sample = { .name = SLICE("before"), .number = 5 };
    struct error err;
    const struct configtree *tree =
        parsed("name: it\nnote: ''\nenabled: yes\ninterval: 1m30s\nnumber:\nwords: [a, b]\nlabels: {x: 1}\n");

    CHECK_OK(configtree_fill(tree, fields, ARRAY_LEN(fields), &sample, NULL, &err), &err);
    CHECK_TEXT(sample.name, "it");
    CHECK(sample.note.ptr && sample.note.len == 0);
    CHECK(sample.is_on);
    CHECK_EQ(sample.wait_ns, 90000000000);
    CHECK_EQ(sample.number, 5);
    CHECK_EQ(sample.words->n, 2);
    CHECK_TEXT(sample.labels->first->text, "1");
}

TEST(configtree_names_the_place_and_the_cure_of_a_wrong_value)
{
    check_not_filled("a", "scrape.yaml:1:1: a map of 'key: value' is wanted here");
    check_not_filled("number: 5\nenabeld: no\n", "scrape.yaml:2:1: unknown key 'enabeld'; did you mean 'enabled'?");
    check_not_filled("zzz: no\n", "scrape.yaml:1:1: unknown key 'zzz'; take it out");
    check_not_filled("name: ''\n", "scrape.yaml:1:7: '' is no value of 'name'; write one text that is not empty");
    check_not_filled("name: [a]\n",
                     "scrape.yaml:1:7: 'name' has a list or a map as its value; write one text that is not empty");
    check_not_filled("note: [a]\n", "scrape.yaml:1:7: 'note' has a list or a map as its value; write one text");
    check_not_filled("enabled: maybe\n", "scrape.yaml:1:10: 'maybe' is no value of 'enabled'; write true or false");
    check_not_filled("interval: 15\n",
                     "scrape.yaml:1:11: '15' is no value of 'interval'; write a duration like 15s or 1m30s");
    check_not_filled("interval: 0s\n",
                     "scrape.yaml:1:11: '0s' is no value of 'interval'; write a duration like 15s or 1m30s");
    check_not_filled("number: -1\n", "scrape.yaml:1:9: '-1' is no value of 'number'; write a whole number");
    check_not_filled("words: a\n",
                     "scrape.yaml:1:8: 'a' is no value of 'words'; write a list of texts, as in [one, two]");
    check_not_filled("words: [[a]]\n", "scrape.yaml:1:8: 'words' has a list or a map as its value; write a list of "
                                       "texts, as in [one, two]");
    check_not_filled("labels: [a]\n", "scrape.yaml:1:9: 'labels' has a list or a map as its value; write a map of "
                                      "texts, as in {name: value}");
}

TEST(configtree_wants_lists_where_lists_belong)
{
    struct error err;

    CHECK_OK(configtree_check_list(parsed("[]"), "a list of jobs", &err), &err);
    CHECK_ERROR(configtree_check_list(parsed("a: 1"), "a list of jobs", &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "scrape.yaml:1:1: a list of jobs is wanted here; begin each item with '- '");
}

TEST(configtree_copies_live_on_without_the_original)
{
    const struct configtree *copy;
    struct arena other;
    struct error err;

    arena_init(&other, 1 << 20);
    copy = configtree_copy(parsed("- a: 1\n  b: [x, y]\n- c\n"), &other, &err);
    CHECK(copy);
    arena_done(&arena);
    CHECK_EQ(copy->n, 2);
    CHECK_TEXT(configtree_find(copy->first, "b")->first->next->text, "y");
    CHECK_TEXT(copy->first->next->text, "c");
    configtree_refuse(copy->first->next, &err, "no");
    CHECK_TEXT(err.text, "scrape.yaml:3:3: no");
    arena_done(&other);
}

TEST(configtree_is_kept_for_sections_of_a_configuration)
{
    static const char *const sections[] = { "scrape_configs", "rules", NULL };
    struct config config;
    struct error err;

    arena_done(&arena);
    arena_init(&arena, 1 << 20);
    CHECK_OK(config_parse(SLICE("listen: :1\nscrape_configs:\n- job_name: a\nretention: 7d\n"), "hearth.yaml", sections,
                          &arena, &config, &err),
             &err);
    CHECK_EQ(config.n, 2);
    CHECK_TEXT(config.entries[1].key, "retention");
    CHECK_EQ(config_section(&config, "scrape_configs")->n, 1);
    CHECK(!config_section(&config, "rules"));
    CHECK_ERROR(config_parse(SLICE("rules: 1\nrules: 2\n"), "hearth.yaml", sections, &arena, &config, &err), &err,
                ERR_INVALID);
    CHECK_HAS(err.text, "hearth.yaml:2:1: key 'rules' was given on line 1 already");
    /* Elsewhere than outermost it is a key like others. */
    CHECK_OK(config_parse(SLICE("a: {rules: 1}\n"), "hearth.yaml", sections, &arena, &config, &err), &err);
    CHECK_TEXT(config.entries[0].key, "a.rules");
}

static int parse_and_copy(void *context, struct error *err)
{
    const struct configtree *tree;
    struct arena own, other;
    int result = -1;

    arena_init(&own, 1 << 20);
    arena_init(&other, 1 << 20);
    if (configtree_parse(SLICE("a: [1, 2]\nb: {c: d}\n"), "scrape.yaml", &own, &tree, err) == 0 &&
        configtree_copy(tree, &other, err))
        result = 0;
    arena_done(&own);
    arena_done(&other);
    return result;
}

TEST(configtree_survives_each_allocation_failing)
{
    test_each_allocation_failing(parse_and_copy, NULL);
}

TEST(configtree_reads_files)
{
    const struct configtree *tree;
    struct error err;
    char path[256];

    arena_done(&arena);
    arena_init(&arena, 1 << 20);
    snprintf(path, sizeof(path), "%s/targets.json", test_directory());
    CHECK_ERROR(configtree_read(path, &arena, &tree, &err), &err, ERR_NOT_FOUND);
    CHECK_OK(fs_write_file(path, SLICE("[1]"), &err), &err);
    CHECK_OK(configtree_read(path, &arena, &tree, &err), &err);
    CHECK_EQ(tree->n, 1);
}
