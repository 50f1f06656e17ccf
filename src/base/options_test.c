// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"

#include "base/test.h"

#include <stdio.h>

struct inner_config {
    uint64_t samples;
};

struct sample_config {
    bool json;
    bool color;
    bool verbose;
    const char *focus;
    const char *ignore;
    const char *show;
    int64_t shift;
    uint64_t lines;
    int64_t retention_ns;
    uint64_t cache_bytes;
    double share;
    double rate_hz;
    struct address listen;
    enum { SAMPLE_INFO, SAMPLE_WARN } level;
    struct option_list labels;
    struct inner_config limits;
};

static const char *const level_words[] = { "info", "warn", NULL };

static const struct option_spec sample_options[] = {
    { "json", OPTION_BOOL, FIELD(sample_config, json), NULL, "Help.", .letter = 'j' },
    { "color", OPTION_BOOL, FIELD(sample_config, color), "true", "Help.", .alias = "paint" },
    { "verbose", OPTION_BOOL, FIELD(sample_config, verbose), NULL, "Help.", .letter = 'v', .is_flag_only = true },
    { "focus", OPTION_REGEX, FIELD(sample_config, focus), NULL, "Help." },
    { "ignore", OPTION_REGEX, FIELD(sample_config, ignore), NULL, "Help." },
    { "show", OPTION_REGEX, FIELD(sample_config, show), "Null", "Help." },
    { "shift", OPTION_INT, FIELD(sample_config, shift), "0", "Help." },
    { "lines", OPTION_UINT, FIELD(sample_config, lines), "30", "Help.", .letter = 'n', .max = "1000" },
    { "retention", OPTION_DURATION, FIELD(sample_config, retention_ns), "7d", "Help.", .alias = "storage-time",
      .alias_variable = "OTHER_RETENTION" },
    { "cache-size", OPTION_SIZE, FIELD(sample_config, cache_bytes), "64MiB", "Help." },
    { "share", OPTION_PERCENT, FIELD(sample_config, share), "90%", "Help." },
    { "rate", OPTION_RATE, FIELD(sample_config, rate_hz), "97", "Help." },
    { "listen", OPTION_ADDRESS, FIELD(sample_config, listen), "127.0.0.1:4040", "Help." },
    { "level", OPTION_ENUM, FIELD(sample_config, level), "info", "Help.", .words = level_words },
    { "label", OPTION_LIST, FIELD(sample_config, labels), "a,b", "Help.", .letter = 'l', .alias = "external-label",
      .alias_variable = "OTHER_LABELS" },
};
static const struct option_spec limit_options[] = {
    { "limits.samples", OPTION_UINT, FIELD(inner_config, samples), "10", "Help.", .is_hidden = true },
};
static const struct option_group groups[] = {
    OPTION_GROUP("Options", sample_options),
    OPTION_GROUP_AT("Limits", limit_options, offsetof(struct sample_config, limits)),
};

/* One set of options with everything bound, for a test. */
struct fixture {
    struct arena arena;
    struct options *options;
    struct sample_config config;
    struct error err;
};

static struct fixture fixture;

static struct fixture *setup(void)
{
    arena_done(&fixture.arena);
    memset(&fixture, 0, sizeof(fixture));
    arena_init(&fixture.arena, 0);
    CHECK_OK(options_new(&fixture.arena, &fixture.options, &fixture.err), &fixture.err);
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        CHECK_OK(options_bind(fixture.options, &groups[i], &fixture.config, &fixture.err), &fixture.err);
    return &fixture;
}

__attribute__((destructor)) static void teardown(void)
{
    arena_done(&fixture.arena);
}

/* Applies flags, given as a NULL-terminated array. */
static int apply(struct fixture *f, const char *const *argv)
{
    int argc = 0, index = 0, result;

    while (argv[argc])
        argc++;
    result = options_apply_arguments(f->options, argc, argv, false, &index, &f->err);
    if (result == 0)
        CHECK_EQ(index, argc);
    return result;
}
#define APPLY(f, ...) apply((f), (const char *const[]){ __VA_ARGS__, NULL })

static int apply_environment(struct fixture *f, const char *variable)
{
    const char *const environment[] = { "PATH=/bin", "HEARTH_LINESX=5", variable, "HEARTH_UNKNOWN=1", NULL };

    return options_apply_environment(f->options, environment, &f->err);
}

static int apply_entry(struct fixture *f, const char *key, const char *value)
{
    struct option_entry entry = { .key = slice_from(key), .values = &value, .values_n = value ? 1 : 0, .line = 12 };

    return options_apply_entries(f->options, "hearth.yaml", &entry, 1, &f->err);
}

static void check_usage_error(const char *story, const char *const *argv)
{
    struct fixture *f = setup();

    CHECK_ERROR(apply(f, argv), &f->err, ERR_USAGE);
    CHECK_TEXT(f->err.text, story);
}
#define CHECK_USAGE_ERROR(story, ...) check_usage_error((story), (const char *const[]){ __VA_ARGS__, NULL })

TEST(options_begin_with_their_defaults)
{
    struct fixture *f = setup();

    CHECK(!f->config.json);
    CHECK(f->config.color);
    CHECK(!f->config.focus);
    CHECK_EQ(f->config.lines, 30);
    CHECK_EQ(f->config.retention_ns, 7 * 86400000000000);
    CHECK_EQ(f->config.cache_bytes, 64 << 20);
    CHECK_NEAR(f->config.share, 0.9, 1e-15);
    CHECK_NEAR(f->config.rate_hz, 97, 0);
    CHECK_TEXT(f->config.listen.name, "127.0.0.1");
    CHECK_EQ(f->config.level, SAMPLE_INFO);
    CHECK_EQ(f->config.labels.n, 2);
    CHECK_TEXT(f->config.labels.items[1], "b");
    CHECK_EQ(f->config.limits.samples, 10);
    CHECK_EQ(options_get_origin(f->options, "lines"), OPTION_FROM_DEFAULT);
}

TEST(options_take_flags_in_every_notation)
{
    struct fixture *f = setup();

    CHECK_OK(APPLY(f, "--lines", "5", "--retention=1h30m", "--no-color", "--json", "--level=warn", "--focus=a=b"),
             &f->err);
    CHECK_EQ(f->config.lines, 5);
    CHECK_EQ(f->config.retention_ns, 5400000000000);
    CHECK(!f->config.color);
    CHECK(f->config.json);
    CHECK_EQ(f->config.level, SAMPLE_WARN);
    CHECK_TEXT(f->config.focus, "a=b");
    CHECK_EQ(options_get_origin(f->options, "lines"), OPTION_FROM_FLAG);
    CHECK_OK(APPLY(f, "--json=false", "--color=yes", "--focus=", "--limits.samples", "3"), &f->err);
    CHECK(!f->config.json);
    CHECK(f->config.color);
    CHECK_TEXT(f->config.focus, "");
    CHECK_EQ(f->config.limits.samples, 3);
}

TEST(options_take_letters_alone_joined_and_with_values)
{
    struct fixture *f = setup();

    CHECK_OK(APPLY(f, "-n30"), &f->err);
    CHECK_EQ(f->config.lines, 30);
    CHECK_OK(APPLY(f, "-n", "31"), &f->err);
    CHECK_EQ(f->config.lines, 31);
    CHECK_OK(APPLY(f, "-jvn32"), &f->err);
    CHECK_EQ(f->config.lines, 32);
    CHECK(f->config.json && f->config.verbose);
}

TEST(options_take_negative_numbers_as_values)
{
    struct fixture *f = setup();

    CHECK_OK(APPLY(f, "--shift", "-5"), &f->err);
    CHECK_EQ(f->config.shift, -5);
    CHECK_OK(APPLY(f, "--shift=-6"), &f->err);
    CHECK_EQ(f->config.shift, -6);
}

TEST(options_let_the_last_flag_win_but_collect_lists)
{
    struct fixture *f = setup();

    CHECK_OK(APPLY(f, "-n1", "-n2", "--label", "x", "-ly", "--label=z,w"), &f->err);
    CHECK_EQ(f->config.lines, 2);
    CHECK_EQ(f->config.labels.n, 3);
    CHECK_TEXT(f->config.labels.items[0], "x");
    CHECK_TEXT(f->config.labels.items[2], "z,w");
}

TEST(options_keep_hundreds_of_list_items_in_order)
{
    struct fixture *f = setup();
    char flag[32];

    for (int i = 0; i < 300; i++) {
        snprintf(flag, sizeof(flag), "--label=%d", i);
        CHECK_OK(APPLY(f, flag), &f->err);
    }
    CHECK_EQ(f->config.labels.n, 300);
    for (int i = 0; i < 300; i++) {
        snprintf(flag, sizeof(flag), "%d", i);
        CHECK_TEXT(f->config.labels.items[i], flag);
    }
}

TEST(options_refuse_a_list_without_end)
{
    struct fixture *f = setup();
    int result = 0;

    for (int i = 0; i <= OPTIONS_LIST_MAX && result == 0; i++)
        result = APPLY(f, "file");
    CHECK_ERROR(result, &f->err, ERR_USAGE);
    CHECK_TEXT(f->err.text, "arguments: more than 65536 values; give fewer");
    CHECK_EQ(options_positionals(f->options).n, OPTIONS_LIST_MAX);
}

TEST(options_collect_positional_arguments_between_flags)
{
    struct fixture *f = setup();
    struct option_list positionals;

    CHECK_OK(APPLY(f, "a", "--json", "-", "-n5", "b", "--", "--lines", "-x", "--"), &f->err);
    positionals = options_positionals(f->options);
    CHECK_EQ(positionals.n, 6);
    CHECK_TEXT(positionals.items[0], "a");
    CHECK_TEXT(positionals.items[1], "-");
    CHECK_TEXT(positionals.items[2], "b");
    CHECK_TEXT(positionals.items[3], "--lines");
    CHECK_TEXT(positionals.items[5], "--");
    CHECK_EQ(f->config.lines, 5);
}

TEST(options_can_stop_at_the_first_positional_argument)
{
    struct fixture *f = setup();
    const char *const argv[] = { "hearth", "--json", "-n", "5", "top", "--unknown" };
    int index = 1;

    CHECK_OK(options_apply_arguments(f->options, ARRAY_LEN(argv), argv, true, &index, &f->err), &f->err);
    CHECK_EQ(index, 4);
    CHECK_EQ(options_positionals(f->options).n, 0);
    CHECK_EQ(f->config.lines, 5);
}

TEST(options_keep_their_own_copies_of_arguments)
{
    struct fixture *f = setup();
    char focus[] = "--focus=abc", file[] = "file";

    CHECK_OK(APPLY(f, focus, file), &f->err);
    memset(focus, 'x', sizeof(focus));
    memset(file, 'x', sizeof(file));
    CHECK_TEXT(f->config.focus, "abc");
    CHECK_TEXT(options_positionals(f->options).items[0], "file");
}

TEST(options_name_the_nearest_known_flag)
{
    CHECK_USAGE_ERROR("unknown option '--retenton'; did you mean '--retention'?", "--retenton=5d");
    CHECK_USAGE_ERROR("unknown option '--no-colour'; did you mean '--no-color'?", "--no-colour");
    CHECK_USAGE_ERROR("unknown option '--no-lines'", "--no-lines");
    CHECK_USAGE_ERROR("unknown option '--zebra'", "--zebra");
    CHECK_USAGE_ERROR("unknown option '--limits.sample'", "--limits.sample");
    CHECK_USAGE_ERROR("unknown option '-retention'; did you mean '--retention'?", "-retention", "5d");
    CHECK_USAGE_ERROR("unknown option '-x'", "-x");
    CHECK_USAGE_ERROR("unknown option '-x' in '-jx'", "-jx");
    CHECK_USAGE_ERROR("unknown option '--'", "--=5");
}

TEST(options_say_which_flag_has_a_wrong_or_missing_value)
{
    CHECK_USAGE_ERROR("--retention: 'soon' is not a duration; write a number with a unit, like 250ms, 30s, 1h30m or 7d",
                      "--retention", "soon");
    CHECK_USAGE_ERROR("-n: '1001' is too large; the most allowed is 1000", "-n1001");
    CHECK_USAGE_ERROR("--lines needs a value: digits, like 30", "--lines");
    CHECK_USAGE_ERROR("-n needs a value: digits, like 30", "-jn");
    CHECK_USAGE_ERROR("--focus needs a value, but '--json' comes next; a value that begins with '-' is written "
                      "--focus=VALUE",
                      "--focus", "--json");
    CHECK_USAGE_ERROR("'--no-json' takes no value; write it alone, or '--json=yes'", "--no-json=yes");
    CHECK_USAGE_ERROR("--json: 'perhaps' is not a truth value; write true or false", "--json=perhaps");
    CHECK_USAGE_ERROR("--listen: 'here' has no port; write HOST:PORT, :PORT, [::1]:PORT or unix:PATH", "--listen",
                      "here");
}

TEST(options_leave_a_field_alone_when_its_value_is_wrong)
{
    struct fixture *f = setup();

    CHECK_ERROR(APPLY(f, "--lines=x"), &f->err, ERR_USAGE);
    CHECK_EQ(f->config.lines, 30);
    CHECK_EQ(options_get_origin(f->options, "lines"), OPTION_FROM_DEFAULT);
}

TEST(options_read_the_environment)
{
    struct fixture *f = setup();

    CHECK_OK(apply_environment(f, "HEARTH_CACHE_SIZE=10MB"), &f->err);
    CHECK_EQ(f->config.cache_bytes, 10000000);
    CHECK_EQ(options_get_origin(f->options, "cache-size"), OPTION_FROM_ENVIRONMENT);
    CHECK_OK(apply_environment(f, "HEARTH_LABEL= x, y,,z "), &f->err);
    CHECK_EQ(f->config.labels.n, 3);
    CHECK_TEXT(f->config.labels.items[0], "x");
    CHECK_TEXT(f->config.labels.items[2], "z");
    CHECK_OK(apply_environment(f, "HEARTH_JSON=on"), &f->err);
    CHECK(f->config.json);
    CHECK_OK(apply_environment(f, "HEARTH_VERBOSE=on"), &f->err);
    CHECK(!f->config.verbose);
    CHECK_OK(apply_environment(f, "HEARTH_LINES="), &f->err);
    CHECK_EQ(f->config.lines, 30);
}

TEST(options_name_the_variable_with_a_wrong_value)
{
    struct fixture *f = setup();

    CHECK_ERROR(apply_environment(f, "HEARTH_LINES=many"), &f->err, ERR_USAGE);
    CHECK_TEXT(f->err.text, "HEARTH_LINES: 'many' is not a whole number from 0; write digits, like 30");
}

TEST(options_read_entries_of_a_file)
{
    struct fixture *f = setup();
    const char *const labels[] = { "x", "y" };
    const struct option_entry entries[] = {
        { .key = SLICE("lines"), .values = (const char *const[]){ "7" }, .values_n = 1, .line = 1 },
        { .key = SLICE("label"), .values = labels, .values_n = 2, .is_list = true, .line = 2 },
        { .key = SLICE("limits.samples"), .values = (const char *const[]){ "9" }, .values_n = 1, .line = 5 },
        { .key = SLICE("retention"), .line = 6 },
    };

    CHECK_OK(options_apply_entries(f->options, "hearth.yaml", entries, ARRAY_LEN(entries), &f->err), &f->err);
    CHECK_EQ(f->config.lines, 7);
    CHECK_EQ(f->config.labels.n, 2);
    CHECK_TEXT(f->config.labels.items[1], "y");
    CHECK_EQ(f->config.limits.samples, 9);
    CHECK_EQ(f->config.retention_ns, 7 * 86400000000000);
    CHECK_EQ(options_get_origin(f->options, "lines"), OPTION_FROM_FILE);
    CHECK_OK(apply_entry(f, "label", "alone"), &f->err);
    CHECK_EQ(f->config.labels.n, 1);
    CHECK_OK(apply_entry(f, "limits", NULL), &f->err);
}

TEST(options_name_file_and_line_of_a_wrong_entry)
{
    struct fixture *f = setup();
    struct option_entry list = { .key = SLICE("lines"), .is_list = true, .line = 3 };

    CHECK_ERROR(apply_entry(f, "lines", "many"), &f->err, ERR_INVALID);
    CHECK_TEXT(f->err.text, "hearth.yaml:12: lines: 'many' is not a whole number from 0; write digits, like 30");
    CHECK_ERROR(apply_entry(f, "cache_size", "1MB"), &f->err, ERR_INVALID);
    CHECK_TEXT(f->err.text, "hearth.yaml:12: unknown key 'cache_size'; did you mean 'cache-size'?");
    CHECK_ERROR(apply_entry(f, "zebra", "1"), &f->err, ERR_INVALID);
    CHECK_TEXT(f->err.text, "hearth.yaml:12: unknown key 'zebra'; --help lists the options, which are the keys too");
    CHECK_ERROR(apply_entry(f, "zebra", NULL), &f->err, ERR_INVALID);
    CHECK_ERROR(apply_entry(f, "verbose", "true"), &f->err, ERR_INVALID);
    CHECK_HAS(f->err.text, "unknown key 'verbose'");
    CHECK_ERROR(options_apply_entries(f->options, "hearth.yaml", &list, 1, &f->err), &f->err, ERR_INVALID);
    CHECK_TEXT(f->err.text, "hearth.yaml:3: lines: takes one value, not a list");
}

/* The options of another command, one of them with a name that is a flag only for ours. */
struct other_config {
    bool verbose;
    uint64_t rows;
    uint64_t depth;
    bool trace;
    bool help;
};
static const struct option_spec other_options[] = {
    { "verbose", OPTION_BOOL, FIELD(other_config, verbose), NULL, "Help." },
    { "rows", OPTION_UINT, FIELD(other_config, rows), "30", "Help.", .letter = 'n' },
    { "view.max-depth", OPTION_UINT, FIELD(other_config, depth), NULL, "Help." },
    { "trace", OPTION_BOOL, FIELD(other_config, trace), NULL, "Help.", .is_hidden = true },
    { "help", OPTION_BOOL, FIELD(other_config, help), NULL, "Help.", .is_flag_only = true },
};
static const struct option_group other_group = OPTION_GROUP("Others", other_options);

static struct fixture *setup_with_others(void)
{
    struct fixture *f = setup();

    CHECK_OK(options_know(f->options, &groups[0], &f->err), &f->err); /* shared by both */
    CHECK_OK(options_know(f->options, &other_group, &f->err), &f->err);
    return f;
}

TEST(options_leave_keys_of_others_alone)
{
    struct fixture *f = setup_with_others();

    CHECK_OK(apply_entry(f, "rows", "many"), &f->err);
    CHECK_OK(apply_entry(f, "view.max-depth", "3"), &f->err);
    CHECK_OK(apply_entry(f, "view", NULL), &f->err);
    CHECK_OK(apply_entry(f, "trace", "true"), &f->err);
    CHECK_OK(apply_entry(f, "verbose", "true"), &f->err);
    CHECK(!f->config.verbose);
    CHECK_OK(apply_entry(f, "lines", "7"), &f->err);
    CHECK_EQ(f->config.lines, 7);
    CHECK_ERROR(APPLY(f, "--rows=5"), &f->err, ERR_USAGE);
}

TEST(options_refuse_keys_that_nobody_knows)
{
    struct fixture *f = setup_with_others();

    CHECK_ERROR(apply_entry(f, "rowz", "2"), &f->err, ERR_INVALID);
    CHECK_TEXT(f->err.text, "hearth.yaml:12: unknown key 'rowz'; did you mean 'rows'?");
    CHECK_ERROR(apply_entry(f, "linse", "2"), &f->err, ERR_INVALID);
    CHECK_HAS(f->err.text, "did you mean 'lines'?");
    CHECK_ERROR(apply_entry(f, "view", "2"), &f->err, ERR_INVALID);
    CHECK_ERROR(apply_entry(f, "help", "true"), &f->err, ERR_INVALID);
    CHECK_ERROR(apply_entry(f, "tracee", "true"), &f->err, ERR_INVALID);
    CHECK_HAS(f->err.text, "unknown key 'tracee'; --help lists");
}

TEST(options_find_variables_that_nobody_has)
{
    struct fixture *f = setup_with_others();
    const char *const environment[] = { "PATH=/bin",
                                        "HEARTH_LINES=5",
                                        "HEARTH_ROWS=2",
                                        "HEARTH_VIEW_MAX_DEPTH=2",
                                        "HEARTH_LIMITS_SAMPLES=2",
                                        "HEARTH_EMPTY=",
                                        "HEARTH_ROWZ=2",
                                        "HEARTH_TRACEE=1",
                                        "HEARTH_HELP=1",
                                        "HEARTH_=x",
                                        "HEARTH_ODD",
                                        NULL };
    const char *const *at = environment;
    struct option_variable nearest;

    CHECK(at = options_find_stray_variable(f->options, at, &nearest));
    CHECK_TEXT(*at, "HEARTH_ROWZ=2");
    CHECK_TEXT(nearest.text, "HEARTH_ROWS");
    CHECK(at = options_find_stray_variable(f->options, at + 1, &nearest));
    CHECK_TEXT(*at, "HEARTH_TRACEE=1");
    CHECK_TEXT(nearest.text, ""); /* a hidden one is not told */
    CHECK(at = options_find_stray_variable(f->options, at + 1, &nearest));
    CHECK_TEXT(*at, "HEARTH_HELP=1");
    CHECK(at = options_find_stray_variable(f->options, at + 1, &nearest));
    CHECK_TEXT(*at, "HEARTH_=x");
    CHECK_TEXT(nearest.text, "");
    CHECK(!options_find_stray_variable(f->options, at + 1, &nearest));
}

TEST(options_prefer_flag_to_environment_to_file_in_any_order)
{
    struct fixture *f = setup();

    CHECK_OK(APPLY(f, "--lines=1"), &f->err);
    CHECK_OK(apply_environment(f, "HEARTH_LINES=2"), &f->err);
    CHECK_OK(apply_entry(f, "lines", "3"), &f->err);
    CHECK_EQ(f->config.lines, 1);
    CHECK_OK(apply_environment(f, "HEARTH_RATE=5"), &f->err);
    CHECK_OK(apply_entry(f, "rate", "6"), &f->err);
    CHECK_NEAR(f->config.rate_hz, 5, 0);
    CHECK_OK(apply_entry(f, "share", "10%"), &f->err);
    CHECK_OK(apply_environment(f, "HEARTH_SHARE=20%"), &f->err);
    CHECK_NEAR(f->config.share, 0.2, 1e-15);
    CHECK_OK(apply_entry(f, "label", "file"), &f->err);
    CHECK_OK(apply_environment(f, "HEARTH_LABEL=env"), &f->err);
    CHECK_OK(APPLY(f, "--label=flag"), &f->err);
    CHECK_EQ(f->config.labels.n, 1);
    CHECK_TEXT(f->config.labels.items[0], "flag");
}

TEST(options_take_flags_by_their_alias)
{
    struct fixture *f = setup();

    CHECK_OK(APPLY(f, "--retention=1h", "--storage-time", "2h", "--no-paint", "--label=x", "--external-label=y"),
             &f->err);
    CHECK_EQ(f->config.retention_ns, 2 * 3600000000000);
    CHECK(!f->config.color);
    CHECK_EQ(f->config.labels.n, 2);
    CHECK_TEXT(f->config.labels.items[1], "y");
    CHECK_EQ(options_get_origin(f->options, "retention"), OPTION_FROM_FLAG);
    CHECK_TEXT(options_get_origin_name(f->options, "retention"), "--storage-time");
    CHECK_TEXT(options_get_origin_name(f->options, "color"), "--no-paint");
    CHECK_OK(APPLY(f, "--paint", "--retention=3h"), &f->err);
    CHECK(f->config.color);
    CHECK_EQ(f->config.retention_ns, 3 * 3600000000000);
    CHECK_TEXT(options_get_origin_name(f->options, "color"), "--paint");
    CHECK_TEXT(options_get_origin_name(f->options, "retention"), "--retention");
    CHECK_TEXT(options_get_origin_name(f->options, "lines"), "default");
}

TEST(options_blame_the_alias_that_was_used)
{
    struct fixture *f = setup();

    CHECK_USAGE_ERROR("--storage-time: '5' is not a duration; write a number with a unit, like 250ms, 30s, 1h30m or 7d",
                      "--storage-time=5");
    CHECK_USAGE_ERROR("--storage-time needs a value: a number with a unit, like 250ms, 30s, 1h30m or 7d",
                      "--storage-time");
    CHECK_USAGE_ERROR("'--no-paint' takes no value; write it alone, or '--paint=yes'", "--no-paint=yes");
    CHECK_USAGE_ERROR("unknown option '--storage-tme'; did you mean '--storage-time'?", "--storage-tme=1h");
    CHECK_USAGE_ERROR("unknown option '-storage-time'; did you mean '--storage-time'?", "-storage-time", "1h");
    setup();
    CHECK_ERROR(apply_environment(f, "OTHER_RETENTION=soon"), &f->err, ERR_USAGE);
    CHECK_HAS(f->err.text, "OTHER_RETENTION: 'soon' is not a duration; ");
    CHECK_ERROR(apply_entry(f, "storage-time", "1h"), &f->err, ERR_INVALID);
    CHECK_TEXT(f->err.text, "hearth.yaml:12: unknown key 'storage-time', which is only a flag; write 'retention'");
}

TEST(options_take_the_variable_of_another_program_where_ours_is_absent)
{
    struct fixture *f = setup();
    const char *const both[] = { "OTHER_RETENTION=2h", "HEARTH_RETENTION=1h", "OTHER_LABELS=x,y", NULL };
    const char *const empty[] = { "HEARTH_RETENTION=", "OTHER_RETENTION=3h", "OTHER_LABELS=", NULL };
    struct option_variable nearest;

    CHECK_OK(options_apply_environment(f->options, both, &f->err), &f->err);
    CHECK_EQ(f->config.retention_ns, 3600000000000);
    CHECK_TEXT(options_get_origin_name(f->options, "retention"), "HEARTH_RETENTION");
    CHECK_EQ(f->config.labels.n, 2);
    CHECK_TEXT(f->config.labels.items[0], "x");
    CHECK_EQ(options_get_origin(f->options, "label"), OPTION_FROM_ENVIRONMENT);
    CHECK_TEXT(options_get_origin_name(f->options, "label"), "OTHER_LABELS");
    CHECK(!options_find_stray_variable(f->options, both, &nearest));

    f = setup();
    CHECK_OK(apply_entry(f, "retention", "5h"), &f->err);
    CHECK_OK(options_apply_environment(f->options, empty, &f->err), &f->err);
    CHECK_EQ(f->config.retention_ns, 3 * 3600000000000);
    CHECK_TEXT(options_get_origin_name(f->options, "retention"), "OTHER_RETENTION");
    CHECK_OK(APPLY(f, "--retention=4h"), &f->err);
    CHECK_OK(options_apply_environment(f->options, both, &f->err), &f->err);
    CHECK_EQ(f->config.retention_ns, 4 * 3600000000000);
}

static void bind_row(const struct option_spec *row)
{
    struct option_group group = { "Options", row, 1, 0 };

    IGNORE(options_bind(fixture.options, &group, &fixture.config, &fixture.err), "it aborts before");
}

static void bind_a_name_that_is_an_alias(void)
{
    bind_row(&(struct option_spec){ "paint", OPTION_BOOL, FIELD(sample_config, json), NULL, "Help." });
}

static void bind_an_alias_that_is_a_name(void)
{
    bind_row(&(struct option_spec){ "x", OPTION_BOOL, FIELD(sample_config, json), NULL, "Help.", .alias = "lines" });
}

static void bind_a_variable_twice(void)
{
    bind_row(&(struct option_spec){ "x", OPTION_BOOL, FIELD(sample_config, json), NULL, "Help.",
                                    .alias_variable = "OTHER_LABELS" });
}

static void bind_a_variable_like_ours(void)
{
    bind_row(&(struct option_spec){ "x", OPTION_BOOL, FIELD(sample_config, json), NULL, "Help.",
                                    .alias_variable = "HEARTH_OLD_X" });
}

TEST(options_with_equal_names_or_aliases_are_a_bug)
{
    setup();
    CHECK_ABORTS(bind_a_name_that_is_an_alias, "find_flag");
    CHECK_ABORTS(bind_an_alias_that_is_a_name, "alias");
    CHECK_ABORTS(bind_a_variable_twice, "has_alias_variable");
    CHECK_ABORTS(bind_a_variable_like_ours, "OPTION_VARIABLE_PREFIX");
}

TEST(options_print_what_holds_and_where_it_came_from)
{
    struct fixture *f = setup();
    struct buffer out;

    CHECK_OK(APPLY(f, "-n5", "--no-color", "--focus", "a \"b\"\\\n"), &f->err);
    CHECK_OK(apply_environment(f, "HEARTH_LABEL=x,y z"), &f->err);
    CHECK_OK(apply_entry(f, "retention", "1h"), &f->err);
    buffer_init(&out, 0);
    options_print_effective(f->options, &out);
    CHECK_OK(buffer_check(&out, &f->err), &f->err);
    CHECK_TEXT(buffer_slice(&out), "json: false                          # default\n"
                                   "color: false                         # --no-color\n"
                                   "focus: \"a \\\"b\\\"\\\\\\u000a\"             # --focus\n"
                                   "# ignore is not set\n"
                                   "show: \"Null\"                         # default\n"
                                   "shift: 0                             # default\n"
                                   "lines: 5                             # -n\n"
                                   "retention: 1h                        # hearth.yaml:12\n"
                                   "cache-size: 64MiB                    # default\n"
                                   "share: 90%                           # default\n"
                                   "rate: 97                             # default\n"
                                   "listen: \"127.0.0.1:4040\"             # default\n"
                                   "level: info                          # default\n"
                                   "label: [x, \"y z\"]                    # HEARTH_LABEL\n"
                                   "limits.samples: 10                   # default\n");
    buffer_done(&out);
}

TEST(options_print_odd_text_so_that_a_file_can_hold_it)
{
    struct fixture *f = setup();
    struct buffer out;

    CHECK_OK(APPLY(f, "--focus", "z\xc3\xbcrich\xe2\x80\xa8\xc2\x85\xff\xf0\x9f\x94\xa5\x1b"), &f->err);
    buffer_init(&out, 0);
    options_print_effective(f->options, &out);
    CHECK_HAS(buffer_slice(&out), "focus: \"z\xc3\xbcrich\\u2028\\u0085\\xff\xf0\x9f\x94\xa5\\u001b\"  # --focus\n");
    buffer_done(&out);
}

/* A second set of the same rows, to compare with that of the fixture. */
struct other_set {
    struct options *options;
    struct sample_config config;
};

static void setup_other(struct other_set *other)
{
    memset(other, 0, sizeof(*other));
    CHECK_OK(options_new(&fixture.arena, &other->options, &fixture.err), &fixture.err);
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        CHECK_OK(options_bind(other->options, &groups[i], &other->config, &fixture.err), &fixture.err);
}

static struct option_changes changes_to(struct fixture *f, struct other_set *other)
{
    struct option_changes changes = { NULL, 0 };

    CHECK_OK(options_compare(f->options, other->options, &changes, &f->err), &f->err);
    return changes;
}

static void check_change(const struct option_change *change, const char *name, const char *old_text,
                         const char *new_text)
{
    CHECK_TEXT(change->spec->name, name);
    CHECK_TEXT(change->old_text, old_text);
    CHECK_TEXT(change->new_text, new_text);
}

TEST(options_tell_what_differs_between_two_sets)
{
    static const char *const flags[] = { "--json",      "--focus=x",         "--shift=-1",   "--lines=7",
                                         "--share=50%", "--listen=:4041",    "--level=warn", "--label=b",
                                         "--label=c d", "--limits.samples=3" };
    struct fixture *f = setup();
    struct option_changes changes;
    struct other_set other;
    int index = 0;

    setup_other(&other);
    CHECK_EQ(changes_to(f, &other).n, 0);
    CHECK_OK(options_apply_arguments(other.options, ARRAY_LEN(flags), flags, false, &index, &f->err), &f->err);
    changes = changes_to(f, &other);
    CHECK_EQ(changes.n, 9);
    check_change(&changes.items[0], "json", "false", "true");
    check_change(&changes.items[1], "focus", "", "x");
    check_change(&changes.items[2], "shift", "0", "-1");
    check_change(&changes.items[3], "lines", "30", "7");
    check_change(&changes.items[4], "share", "90%", "50%");
    check_change(&changes.items[5], "listen", "127.0.0.1:4040", ":4041");
    check_change(&changes.items[6], "level", "info", "warn");
    check_change(&changes.items[7], "label", "a,b", "b,c d");
    check_change(&changes.items[8], "limits.samples", "10", "3");
}

TEST(options_that_mean_the_same_do_not_differ)
{
    static const char *const flags[] = { "--retention=168h", "--color=yes", "--cache-size=65536KiB",
                                         "--label=a",        "--label=b",   "--show=Null" };
    struct fixture *f = setup();
    struct other_set other;
    int index = 0;

    setup_other(&other);
    CHECK_OK(options_apply_arguments(other.options, ARRAY_LEN(flags), flags, false, &index, &f->err), &f->err);
    CHECK_EQ(changes_to(f, &other).n, 0);
    CHECK_OK(apply_entry(f, "retention", "169h"), &f->err);
    CHECK_EQ(changes_to(f, &other).n, 1);
    CHECK_OK(apply_environment(f, "HEARTH_LABEL=a"), &f->err);
    CHECK_EQ(changes_to(f, &other).n, 2);
}

static int compare_sets(void *context, struct error *err)
{
    static const char *const flags[] = { "--label=x", "--lines=5" };
    struct arena *arena = context;
    struct sample_config configs[2] = { 0 };
    struct options *sets[2];
    struct option_changes changes;
    int index = 0;

    arena_done(arena);
    arena_init(arena, 0);
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        if (options_new(arena, &sets[i], err) < 0 || options_bind(sets[i], &groups[0], &configs[i], err) < 0)
            return -1;
    if (options_apply_arguments(sets[1], ARRAY_LEN(flags), flags, false, &index, err) < 0 ||
        options_compare(sets[0], sets[1], &changes, err) < 0)
        return -1;
    CHECK_EQ(changes.n, 2);
    return 0;
}

TEST(options_comparing_reports_every_failing_allocation)
{
    struct arena arena;

    arena_init(&arena, 0);
    test_each_allocation_failing(compare_sets, &arena);
    arena_done(&arena);
}

static int use_everything(void *context, struct error *err)
{
    struct arena *arena = context;
    const char *const argv[] = { "--lines=5", "--label", "x", "file", "--focus=y" };
    const char *const environment[] = { "HEARTH_LABEL=a,b,c", "HEARTH_CACHE_SIZE=1MB", "OTHER_RETENTION=1h", NULL };
    const char *value = "1h";
    const struct option_entry entry = { .key = SLICE("retention"), .values = &value, .values_n = 1, .line = 1 };
    struct sample_config config = { 0 };
    struct options *options;
    int index = 0;

    arena_done(arena);
    arena_init(arena, 0);
    if (options_new(arena, &options, err) < 0 || options_bind(options, &groups[0], &config, err) < 0 ||
        options_know(options, &other_group, err) < 0 || options_apply_entries(options, "f", &entry, 1, err) < 0 ||
        options_apply_environment(options, environment, err) < 0)
        return -1;
    return options_apply_arguments(options, ARRAY_LEN(argv), argv, false, &index, err);
}

TEST(options_take_single_values_as_flags)
{
    struct sample_config config = { 0 };
    struct option_given given;
    struct options *options;
    struct arena arena;
    struct error err;
    size_t n = 0;

    arena_init(&arena, 0);
    CHECK_OK(options_new(&arena, &options, &err), &err);
    CHECK_OK(options_bind(options, &groups[0], &config, &err), &err);
    CHECK_OK(options_apply_value(options, "lines", "7", &err), &err);
    CHECK_OK(options_apply_value(options, "label", "x", &err), &err);
    CHECK_OK(options_apply_value(options, "label", "y,z", &err), &err);
    CHECK_EQ(config.lines, 7);
    CHECK_EQ(config.labels.n, 2);
    CHECK_TEXT(config.labels.items[1], "y,z");
    CHECK_ERROR(options_apply_value(options, "lines", "many", &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "--lines: ");
    CHECK_ERROR(options_apply_value(options, "storage-time", "1d", &err), &err, ERR_USAGE);
    CHECK_ERROR(options_apply_value(options, "linse", "7", &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "did you mean '--lines'?");
    for (; options_at(options, n, &given); n++)
        if (strcmp(given.spec->name, "lines") == 0) {
            CHECK_EQ(given.origin, OPTION_FROM_FLAG);
            CHECK_TEXT(given.text, "7");
        } else if (strcmp(given.spec->name, "label") == 0) {
            CHECK_EQ(given.list.n, 2);
            CHECK(!given.text);
        } else
            CHECK_EQ(given.origin, OPTION_FROM_DEFAULT);
    CHECK_EQ(n, ARRAY_LEN(sample_options));
    arena_done(&arena);
}

TEST(options_report_every_failing_allocation)
{
    struct arena arena;

    arena_init(&arena, 0);
    test_each_allocation_failing(use_everything, &arena);
    arena_done(&arena);
}

TEST(options_report_an_arena_that_is_full)
{
    struct arena arena;
    struct options *options;
    struct error err;
    const char *const argv[] = { "--focus=a-text-that-needs-some-room-in-the-arena-which-it-does-not-get" };
    struct sample_config config = { 0 };
    int index = 0;

    arena_init(&arena, 0);
    CHECK_OK(options_new(&arena, &options, &err), &err);
    CHECK_OK(options_bind(options, &groups[0], &config, &err), &err);
    arena.max_bytes = arena.used_bytes;
    CHECK_ERROR(options_apply_arguments(options, 1, argv, false, &index, &err), &err, ERR_LIMIT);
    arena_done(&arena);
}
