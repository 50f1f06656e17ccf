// SPDX-License-Identifier: Apache-2.0
#include "base/option.h"

#include "base/test.h"

struct sample_config {
    bool truth;
    const char *text;
    int64_t i64;
    uint64_t u64;
    double number;
    struct address address;
    enum sample_format { SAMPLE_TEXT, SAMPLE_JSON } format;
};

static const char *const format_words[] = { "text", "json", NULL };

static const char *day_at(size_t index)
{
    static const char *const days[] = { "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday" };

    return index < ARRAY_LEN(days) ? days[index] : NULL;
}

static const struct option_spec duration_spec = {
    "retention", OPTION_DURATION, FIELD(sample_config, i64), "7d", "Help.", .min = "1h", .max = "90d",
};
static const struct option_spec format_spec = {
    "format", OPTION_ENUM, FIELD(sample_config, format), "text", "Help.", .words = format_words,
};
static const struct option_spec day_spec = {
    "day", OPTION_ENUM, FIELD(sample_config, format), NULL, "Help.", .word_at = day_at, .value_name = "DAY",
};

static union option_value parsed(const struct option_spec *spec, const char *text)
{
    union option_value value;
    struct error err;

    CHECK_OK(option_parse(spec, text, &value, &err), &err);
    return value;
}

static union option_value parsed_as(enum option_type type, const char *text)
{
    return parsed(&(struct option_spec){ .name = "x", .type = type }, text);
}

static void check_refused(const struct option_spec *spec, const char *text, const char *story)
{
    union option_value value = { .u64 = 77 };
    struct error err;

    CHECK_ERROR(option_parse(spec, text, &value, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, story);
    CHECK_EQ(value.u64, 77);
}

static void check_refused_as(enum option_type type, const char *text, const char *story)
{
    check_refused(&(struct option_spec){ .name = "x", .type = type }, text, story);
}

TEST(option_reads_a_value_of_each_type)
{
    CHECK(parsed_as(OPTION_BOOL, "yes").truth);
    CHECK_TEXT(parsed_as(OPTION_TEXT, "any thing").text, "any thing");
    CHECK_TEXT(parsed_as(OPTION_FILE, "a/b").text, "a/b");
    CHECK_TEXT(parsed_as(OPTION_DIRECTORY, "/").text, "/");
    CHECK_TEXT(parsed_as(OPTION_REGEX, "^a.*b$").text, "^a.*b$");
    CHECK_EQ(parsed_as(OPTION_INT, "-9223372036854775808").i64, INT64_MIN);
    CHECK_EQ(parsed_as(OPTION_UINT, "18446744073709551615").u64, UINT64_MAX);
    CHECK_NEAR(parsed_as(OPTION_DOUBLE, "-2.5e3").number, -2500, 0);
    CHECK_EQ(parsed_as(OPTION_DURATION, "1h30m").i64, 5400000000000);
    CHECK_EQ(parsed_as(OPTION_SIZE, "64MiB").u64, 64 << 20);
    CHECK_NEAR(parsed_as(OPTION_PERCENT, "90%").number, 0.9, 1e-15);
    CHECK_NEAR(parsed_as(OPTION_RATE, "100Hz").number, 100, 0);
    CHECK_EQ(parsed_as(OPTION_ADDRESS, "[::1]:4040").address.port, 4040);
    CHECK_EQ(parsed(&format_spec, "json").word, SAMPLE_JSON);
    CHECK_EQ(parsed(&day_spec, "sunday").word, 6);
}

TEST(option_says_what_was_given_and_what_is_accepted)
{
    check_refused_as(OPTION_BOOL, "maybe", "'maybe' is not a truth value; write true or false");
    check_refused_as(OPTION_INT, "1.5", "'1.5' is not a whole number; write digits, like 30 or -5");
    check_refused_as(OPTION_UINT, "-1", "'-1' is not a whole number from 0; write digits, like 30");
    check_refused_as(OPTION_DOUBLE, "nan", "'nan' is not a number; write digits, like 0.25");
    check_refused_as(OPTION_DOUBLE, "", "'' is not a number; write digits, like 0.25");
    check_refused_as(OPTION_DURATION, "30",
                     "'30' is not a duration; write a number with a unit, like 250ms, 30s, 1h30m or 7d");
    check_refused_as(OPTION_SIZE, "64M",
                     "'64M' is not a size; write a number of bytes, or one with a unit, like 512KB (1000s) or 64MiB "
                     "(1024s)");
    check_refused_as(OPTION_PERCENT, "0.9", "'0.9' is not a percentage; write a number with its sign, like 90%");
    check_refused_as(OPTION_RATE, "fast",
                     "'fast' is not a rate; write events per second, like 97, 100Hz, 10/s or 600/min");
    check_refused_as(OPTION_ADDRESS, "host", "'host' has no port; write HOST:PORT, :PORT, [::1]:PORT or unix:PATH");
    check_refused(&format_spec, "xml", "'xml' is unknown; write one of text, json");
    check_refused(&format_spec, "jsno", "'jsno' is unknown; did you mean 'json'? Known: text, json");
}

TEST(option_checks_the_range_in_its_own_units)
{
    struct option_spec open_above = { "n", OPTION_UINT, FIELD(sample_config, u64), "1", "Help.", .min = "1" };
    struct option_spec open_below = { "n", OPTION_INT, FIELD(sample_config, i64), "1", "Help.", .max = "-1" };
    struct option_spec share = { "n", OPTION_PERCENT, FIELD(sample_config, number), "1%", "Help." };

    CHECK_EQ(parsed(&duration_spec, "60m").i64, 3600000000000);
    CHECK_EQ(parsed(&duration_spec, "90d").i64, 90 * 86400000000000);
    check_refused(&duration_spec, "59m", "'59m' is out of range; allowed is 1h to 90d");
    check_refused(&duration_spec, "91d", "'91d' is out of range; allowed is 1h to 90d");
    check_refused(&open_above, "0", "'0' is too small; the least allowed is 1");
    check_refused(&open_below, "0", "'0' is too large; the most allowed is -1");
    CHECK_NEAR(parsed(&share, "100%").number, 1, 0);
    check_refused(&share, "101%", "'101%' is too large; the most allowed is 100%");
    share.max = "1000%";
    CHECK_NEAR(parsed(&share, "101%").number, 1.01, 1e-12);
}

TEST(option_messages_show_only_the_beginning_of_long_values)
{
    char text[OPTION_VALUE_MAX + 2];
    union option_value value;
    struct error err;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    CHECK_ERROR(option_parse(&(struct option_spec){ .type = OPTION_TEXT }, text, &value, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "a value of 65537 bytes is too long; the most allowed is 65536 bytes");
    text[OPTION_VALUE_MAX] = '\0';
    CHECK_OK(option_parse(&(struct option_spec){ .type = OPTION_TEXT }, text, &value, &err), &err);
    CHECK_ERROR(option_parse(&duration_spec, text, &value, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "xxxx...' is not a duration; write a number");
    CHECK_ERROR(option_parse(&day_spec, text, &value, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "xxxx...' is unknown; write one of monday, tuesday");
}

TEST(option_knows_its_names)
{
    struct option_spec nested = { .name = "limits.max-samples", .type = OPTION_UINT };

    CHECK_TEXT(option_variable(&duration_spec).text, "HEARTH_RETENTION");
    CHECK_TEXT(option_variable(&nested).text, "HEARTH_LIMITS_MAX_SAMPLES");
    nested.is_flag_only = true;
    CHECK_TEXT(option_variable(&nested).text, "");
    CHECK_TEXT(option_value_name(&duration_spec), "DURATION");
    CHECK_TEXT(option_value_name(&day_spec), "DAY");
    CHECK(!option_value_name(&(struct option_spec){ .type = OPTION_BOOL }));
    CHECK_TEXT(option_word(&day_spec, 2), "wednesday");
    CHECK(!option_word(&day_spec, 7));
    CHECK(!option_word(&format_spec, 2));
}

TEST(option_types_all_have_a_name_and_a_syntax)
{
    for (unsigned type = 0; type < OPTION_TYPE_COUNT; type++) {
        CHECK(option_type_name(type));
        CHECK(option_type_syntax(type));
        CHECK(option_type_field(type) != OPTION_FIELD_NONE);
    }
}

TEST(option_says_behind_a_wrong_value_what_may_have_been_meant)
{
    struct option_spec spec = format_spec;
    union option_value value;
    struct error err;

    spec.hint = "times are --until";
    CHECK_ERROR(option_parse(&spec, "now-2h", &value, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "'now-2h' is unknown; write one of text, json; times are --until");
    CHECK_EQ(parsed(&spec, "json").word, SAMPLE_JSON);
}
