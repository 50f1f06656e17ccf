// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include "base/fs.h"
#include "base/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct arena arena;

__attribute__((destructor)) static void teardown(void)
{
    arena_done(&arena);
}

static int parse(struct slice yaml, struct config *ret_config, struct error *err)
{
    arena_done(&arena);
    arena_init(&arena, 16 << 20);
    return config_parse(yaml, "hearth.yaml", NULL, &arena, ret_config, err);
}

static struct config parsed(const char *yaml)
{
    struct config config = { NULL, 99 };
    struct error err;

    CHECK_OK(parse(slice_from(yaml), &config, &err), &err);
    return config;
}

static void check_refused_bytes(struct slice yaml, enum error_code code, const char *story)
{
    struct config config = { NULL, 99 };
    struct error err;

    CHECK_ERROR(parse(yaml, &config, &err), &err, code);
    CHECK_TEXT(err.text, story);
    CHECK_EQ(config.n, 99);
}

static void check_refused(const char *yaml, const char *story)
{
    check_refused_bytes(slice_from(yaml), ERR_INVALID, story);
}

static void check_entry(const struct option_entry *entry, const char *key, const char *value, unsigned line)
{
    CHECK_TEXT(entry->key, key);
    CHECK_EQ(entry->values_n, 1);
    CHECK_TEXT(entry->values[0], value);
    CHECK(!entry->is_list);
    CHECK_EQ(entry->line, line);
}

TEST(config_reads_keys_with_their_lines)
{
    struct config config = parsed("# a comment\n"
                                  "retention: 7d\n"
                                  "listen: \"[::1]:4040\"\n"
                                  "focus: 'it''s'\n"
                                  "text: |\n"
                                  "  two\n"
                                  "  lines\n"
                                  "json: yes\n");

    CHECK_EQ(config.n, 5);
    check_entry(&config.entries[0], "retention", "7d", 2);
    check_entry(&config.entries[1], "listen", "[::1]:4040", 3);
    check_entry(&config.entries[2], "focus", "it's", 4);
    check_entry(&config.entries[3], "text", "two\nlines\n", 5);
    check_entry(&config.entries[4], "json", "yes", 8);
}

TEST(config_joins_nested_maps_with_dots)
{
    struct config config = parsed("limits:\n"
                                  "  samples: 5\n"
                                  "  depth: { kernel: 1, user: 2 }\n"
                                  "limits.labels: 3\n");

    CHECK_EQ(config.n, 4);
    check_entry(&config.entries[0], "limits.samples", "5", 2);
    check_entry(&config.entries[1], "limits.depth.kernel", "1", 3);
    check_entry(&config.entries[2], "limits.depth.user", "2", 3);
    check_entry(&config.entries[3], "limits.labels", "3", 4);
}

TEST(config_reads_lists_of_values)
{
    struct config config = parsed("label:\n"
                                  "  - a\n"
                                  "  - \"b, c\"\n"
                                  "empty: []\n"
                                  "flow: [x, y, z]\n");

    CHECK_EQ(config.n, 3);
    CHECK(config.entries[0].is_list);
    CHECK_EQ(config.entries[0].values_n, 2);
    CHECK_TEXT(config.entries[0].values[1], "b, c");
    CHECK(config.entries[1].is_list);
    CHECK_EQ(config.entries[1].values_n, 0);
    CHECK_EQ(config.entries[2].values_n, 3);
    CHECK_TEXT(config.entries[2].values[2], "z");
    CHECK_EQ(config.entries[2].line, 5);
}

TEST(config_gives_keys_without_a_value_no_value)
{
    struct config config = parsed("a:\nb: ~\nc: null\nd: ''\ne: 'null'\n");

    CHECK_EQ(config.n, 5);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(config.entries[i].values_n, 0);
        CHECK(!config.entries[i].is_list);
    }
    check_entry(&config.entries[3], "d", "", 4);
    check_entry(&config.entries[4], "e", "null", 5);
}

TEST(config_accepts_files_without_content)
{
    CHECK_EQ(parsed("").n, 0);
    CHECK_EQ(parsed("# nothing here\n").n, 0);
    CHECK_EQ(parsed("---\n").n, 0);
    CHECK_EQ(parsed("{}\n").n, 0);
}

TEST(config_accepts_what_editors_put_around_a_file)
{
    struct config config = parsed("\xef\xbb\xbf---\r\nretention: 7d\r\n...\r\n");

    CHECK_EQ(config.n, 1);
    check_entry(&config.entries[0], "retention", "7d", 2);
}

TEST(config_refuses_a_key_given_twice)
{
    check_refused("a: 1\nb: 2\na: 3\n", "hearth.yaml:3:1: key 'a' was given on line 1 already; keep one of the two");
    check_refused("a:\n  b: 1\na.b: 2\n",
                  "hearth.yaml:3:1: key 'a.b' was given on line 2 already; keep one of the two");
    check_refused("a:\n  b: 1\na:\n  c: 2\n",
                  "hearth.yaml:3:1: key 'a' was given on line 1 already; keep one of the two");
}

TEST(config_refuses_aliases_so_that_nothing_unfolds)
{
    check_refused("a: &x 1\nb: *x\n", "hearth.yaml:1:4: anchors and aliases are not supported; write the value out");
    check_refused("a: [*x]\n", "hearth.yaml:1:5: anchors and aliases are not supported; write the value out");
    check_refused("&x a: 1\n", "hearth.yaml:1:1: anchors and aliases are not supported; write the value out");
    check_refused("a: &x [1]\n", "hearth.yaml:1:4: anchors and aliases are not supported; write the value out");
    check_refused("a: &x {b: 1}\n", "hearth.yaml:1:4: anchors and aliases are not supported; write the value out");
}

TEST(config_refuses_what_it_would_misunderstand)
{
    check_refused("a: !secret x\n", "hearth.yaml:1:4: tags are not supported; write the value without its '!' word");
    check_refused("a: [[1]]\n", "hearth.yaml:1:5: a list holds plain values only, not lists or maps");
    check_refused("a:\n - b: 1\n", "hearth.yaml:2:4: a list holds plain values only, not lists or maps");
    check_refused("[1, 2]: 3\n", "hearth.yaml:1:1: a key must be a word, not a list or a map; write 'key: value'");
    check_refused("'': 3\n", "hearth.yaml:1:1: a key is missing before ':'; write 'key: value'");
    check_refused("- a\n- b\n", "hearth.yaml:1:1: a configuration is a map; write each option as 'key: value'");
    check_refused("just words\n", "hearth.yaml:1:1: a configuration is a map; write each option as 'key: value'");
    check_refused("a: 1\n---\nb: 2\n", "hearth.yaml:2:1: a second document begins here; keep one document in a file");
    check_refused("a: \"x\\0y\"\n", "hearth.yaml:1:4: this text holds a zero byte; take the '\\0' out");
    check_refused("\"x\\0y\": a\n", "hearth.yaml:1:1: a key is longer than any that is known, or holds a zero byte");
}

TEST(config_names_place_and_cure_of_bad_syntax)
{
    check_refused("a:\n\tb: 1\n", "hearth.yaml:2:1: not valid YAML: found character that cannot start any token; "
                                  "indent with spaces, not tabs");
    check_refused("ä: \"äää\"\na:\n \tb: 1\n",
                  "hearth.yaml:3:2: not valid YAML: found character that cannot start any token; "
                  "indent with spaces, not tabs");
    check_refused("a: b: c\n", "hearth.yaml:1:5: not valid YAML: mapping values are not allowed in this context; "
                               "quote a value that holds ': ', and check the indentation");
    check_refused("a: 'open\nb: 1\n",
                  "hearth.yaml:3:1: not valid YAML: found unexpected end of stream; close the quotes");
    check_refused("a: [1, 2\nb: 3\n", "hearth.yaml:2:2: not valid YAML: did not find expected ',' or ']'; separate the "
                                      "items of a list by commas and close it with ']'");
    check_refused("a: {b: 1\nc: 3\n", "hearth.yaml:2:2: not valid YAML: did not find expected ',' or '}'; separate the "
                                      "keys of a map by commas and close it with '}'");
    check_refused("a: 1\n  b: 2\n", "hearth.yaml:2:4: not valid YAML: mapping values are not allowed in this context; "
                                    "quote a value that holds ': ', and check the indentation");
    check_refused("a: 1\nword\nb: 2\n",
                  "hearth.yaml:3:1: not valid YAML: could not find expected ':'; write each option as 'key: value'");
    check_refused("a: @x\n", "hearth.yaml:1:4: not valid YAML: found character that cannot start any token; "
                             "check the indentation and the quotes here");
}

TEST(config_names_the_line_of_bytes_that_are_no_text)
{
    check_refused("a: 1\nb: \xff\n", "hearth.yaml:2: byte 8 is no text (invalid leading UTF-8 octet); save the file as "
                                     "UTF-8");
    check_refused_bytes(SLICE("a: 1\n\nb: \x01\n"), ERR_INVALID,
                        "hearth.yaml:3: byte 9 is no text (control characters are not allowed); save the file as "
                        "UTF-8");
    check_refused_bytes(SLICE("\xff\xfe"
                              "a\0:\0"),
                        ERR_INVALID,
                        "hearth.yaml:1: byte 0 is no text (invalid leading UTF-8 octet); save the file as UTF-8");
}

TEST(config_limits_depth)
{
    char yaml[200] = "";

    for (int i = 0; i < 16; i++)
        strcat(yaml, "{a: ");
    strcat(yaml, "1");
    for (int i = 0; i < 16; i++)
        strcat(yaml, "}");
    CHECK_TEXT(parsed(yaml).entries[0].key, "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a");
    memmove(yaml + 4, yaml, strlen(yaml) + 1);
    memcpy(yaml, "{a: ", 4);
    check_refused_bytes(slice_from(yaml), ERR_LIMIT, "hearth.yaml:1:65: maps are nested more than 16 deep");
}

TEST(config_limits_the_number_of_keys)
{
    struct buffer yaml;
    struct config config;
    struct error err;

    buffer_init(&yaml, 0);
    for (int i = 0; i < CONFIG_ENTRIES_MAX; i++)
        buffer_printf(&yaml, "k%d: 1\n", i);
    CHECK_OK(parse(buffer_slice(&yaml), &config, &err), &err);
    CHECK_EQ(config.n, CONFIG_ENTRIES_MAX);
    buffer_append_text(&yaml, "more: 1\n");
    CHECK_ERROR(parse(buffer_slice(&yaml), &config, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "keys of 'hearth.yaml'");
    buffer_done(&yaml);
}

TEST(config_limits_directives_which_libyaml_compares_pairwise)
{
    struct buffer yaml;
    struct config config;
    struct error err;

    buffer_init(&yaml, 0);
    for (int i = 0; i < CONFIG_PERCENT_MAX; i++)
        buffer_printf(&yaml, "%%TAG !%d! x\n", i);
    buffer_append_text(&yaml, "---\na: 100%\n");
    CHECK_OK(parse(buffer_slice(&yaml), &config, &err), &err);
    CHECK_EQ(config.n, 1);
    buffer_append_text(&yaml, "...\r%TAG !x! x\n");
    CHECK_ERROR(parse(buffer_slice(&yaml), &config, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "'hearth.yaml' has 257 lines that begin with '%'; at most 256 are read");
    buffer_done(&yaml);
}

TEST(config_reads_a_file_through_the_file_system)
{
    struct config config;
    struct error err;
    char path[100];

    snprintf(path, sizeof(path), "%s/a.yaml", test_directory());
    CHECK_OK(fs_write_file(path, SLICE("a: 1\n"), &err), &err);
    CHECK_OK(config_read(path, NULL, &arena, &config, &err), &err);
    check_entry(&config.entries[0], "a", "1", 1);
    fs_fail_at(2, EIO);
    CHECK_ERROR(config_read(path, NULL, &arena, &config, &err), &err, ERR_IO);
    fs_fail_at(0, 0);
    CHECK_HAS(err.text, "configuration file");
    CHECK_HAS(err.text, "a.yaml");
    CHECK_ERROR(config_read("/nowhere/b.yaml", NULL, &arena, &config, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "/nowhere/b.yaml");
}

TEST(config_limits_the_size_of_a_file)
{
    size_t len = CONFIG_BYTES_MAX + 1;
    char *yaml = malloc(len);

    memset(yaml, '#', len);
    check_refused_bytes(slice_of(yaml, len), ERR_LIMIT,
                        "'hearth.yaml' has 1048577 bytes; a configuration file has at most 1048576");
    CHECK_EQ(parse(slice_of(yaml, len - 1), &(struct config){ 0 }, &(struct error){ 0 }), 0);
    free(yaml);
}

TEST(config_limits_the_length_of_a_key)
{
    char yaml[CONFIG_KEY_MAX + 10];

    snprintf(yaml, sizeof(yaml), "%0*d: 1", CONFIG_KEY_MAX - 1, 0);
    CHECK_EQ(parsed(yaml).entries[0].key.len, CONFIG_KEY_MAX - 1);
    snprintf(yaml, sizeof(yaml), "%0*d: 1", CONFIG_KEY_MAX, 0);
    check_refused(yaml, "hearth.yaml:1:1: a key is longer than any that is known, or holds a zero byte");
}

static const char whole[] = "a: 1\n"
                            "list:\n"
                            "  - x\n"
                            "  - y\n"
                            "map: {b: \"two\", c: [3, 4]}\n";

TEST(config_survives_being_cut_anywhere)
{
    for (size_t len = 0; len < sizeof(whole); len++) {
        char *copy = malloc(len); /* its end is the end of the block, so that a sanitizer sees a read behind it */
        struct config config;
        struct error err;

        if (len > 0)
            memcpy(copy, whole, len);
        IGNORE(parse(slice_of(copy, len), &config, &err), "either way is fine, as long as nothing is read behind it");
        free(copy);
    }
}

static int parse_whole(void *context, struct error *err)
{
    struct config config;

    return parse(slice_of(whole, sizeof(whole) - 1), &config, err);
}

TEST(config_reports_every_failing_allocation)
{
    test_each_allocation_failing(parse_whole, NULL);
}

TEST(config_entries_fill_an_option_table)
{
    struct sample_config {
        int64_t retention_ns;
        struct option_list labels;
        bool json;
    } sample = { 0 };
    static const struct option_spec specs[] = {
        { "retention", OPTION_DURATION, FIELD(sample_config, retention_ns), "7d", "Help." },
        { "out.label", OPTION_LIST, FIELD(sample_config, labels), NULL, "Help." },
        { "out.json", OPTION_BOOL, FIELD(sample_config, json), NULL, "Help." },
    };
    const struct option_group group = OPTION_GROUP("Options", specs);
    struct config config = parsed("retention: 1h\nout:\n  json: on\n  label: [a, b]\n");
    struct options *options;
    struct error err;

    CHECK_OK(options_new(&arena, &options, &err), &err);
    CHECK_OK(options_bind(options, &group, &sample, &err), &err);
    CHECK_OK(options_apply_entries(options, "hearth.yaml", config.entries, config.n, &err), &err);
    CHECK_EQ(sample.retention_ns, 3600000000000);
    CHECK(sample.json);
    CHECK_EQ(sample.labels.n, 2);
    CHECK_TEXT(sample.labels.items[1], "b");
}
