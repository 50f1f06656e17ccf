// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include "base/fs.h"
#include "base/test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void write_sample(struct json *json)
{
    json_object_begin(json);
    json_key(json, "name");
    json_text(json, "cpu");
    json_key(json, "values");
    json_array_begin(json);
    json_int(json, INT64_MIN);
    json_uint(json, UINT64_MAX);
    json_double(json, 0.5);
    json_array_end(json);
    json_key_slice(json, SLICE("flags"));
    json_object_begin(json);
    json_key(json, "yes");
    json_bool(json, true);
    json_key(json, "no");
    json_bool(json, false);
    json_key(json, "none");
    json_null(json);
    json_key(json, "raw");
    json_raw(json, SLICE("[1, 2]"));
    json_object_end(json);
    json_key(json, "empty");
    json_array_begin(json);
    json_object_begin(json);
    json_object_end(json);
    json_array_begin(json);
    json_array_end(json);
    json_array_end(json);
    json_object_end(json);
}

static void check_sample(enum json_layout layout, const char *wanted)
{
    AUTO(buffer_done) struct buffer buffer;
    struct json json;
    struct error err;

    buffer_init(&buffer, 0);
    json_init(&json, &buffer, layout);
    write_sample(&json);
    json_done(&json);
    CHECK_OK(buffer_check(&buffer, &err), &err);
    CHECK_TEXT(buffer_slice(&buffer), wanted);
}

TEST(json_compact_has_no_white_space)
{
    check_sample(JSON_COMPACT, "{\"name\":\"cpu\",\"values\":[-9223372036854775808,18446744073709551615,0.5],"
                               "\"flags\":{\"yes\":true,\"no\":false,\"none\":null,\"raw\":[1, 2]},"
                               "\"empty\":[{},[]]}");
}

TEST(json_indented_gives_each_value_a_line)
{
    check_sample(JSON_INDENTED, "{\n"
                                "  \"name\": \"cpu\",\n"
                                "  \"values\": [\n"
                                "    -9223372036854775808,\n"
                                "    18446744073709551615,\n"
                                "    0.5\n"
                                "  ],\n"
                                "  \"flags\": {\n"
                                "    \"yes\": true,\n"
                                "    \"no\": false,\n"
                                "    \"none\": null,\n"
                                "    \"raw\": [1, 2]\n"
                                "  },\n"
                                "  \"empty\": [\n"
                                "    {},\n"
                                "    []\n"
                                "  ]\n"
                                "}\n");
}

static void check_string(struct slice text, const char *wanted)
{
    AUTO(buffer_done) struct buffer buffer;
    struct json json;

    buffer_init(&buffer, 0);
    json_init(&json, &buffer, JSON_COMPACT);
    json_string(&json, text);
    json_done(&json);
    CHECK_TEXT(buffer_slice(&buffer), wanted);
}

TEST(json_strings_are_escaped)
{
    check_string(SLICE(""), "\"\"");
    check_string((struct slice){ NULL, 0 }, "\"\"");
    check_string(SLICE("say \"C:\\x\"/"), "\"say \\\"C:\\\\x\\\"/\"");
    check_string(SLICE("\b\f\n\r\t\0\x1f\x7f"), "\"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"");
    check_string(SLICE("gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\xa5"), "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\xa5\"");
}

TEST(json_bytes_that_are_not_utf8_become_replacement_characters)
{
    check_string(SLICE("a\xff"
                       "b"),
                 "\"a\xef\xbf\xbd"
                 "b\"");
    check_string(SLICE("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string(SLICE("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void check_number(double value, const char *wanted)
{
    char text[JSON_NUMBER_BYTES];
    size_t len = json_number(value, text);

    CHECK_TEXT(text, wanted);
    CHECK_EQ(len, strlen(wanted));
}

TEST(json_numbers_have_the_fewest_digits_that_read_back)
{
    check_number(0, "0");
    check_number(-0.0, "-0");
    check_number(12, "12");
    check_number(-1500000, "-1500000");
    check_number(9007199254740992, "9007199254740992");
    check_number(0.1, "0.1");
    check_number(1.0 / 3, "0.3333333333333333");
    check_number(0.1 + 0.2, "0.30000000000000004");
    check_number(1e300, "1e+300");
    check_number(1e-7, "1e-07");
    check_number(DBL_MAX, "1.7976931348623157e+308");
    check_number(5e-324, "5e-324");
    check_number(123456.789, "123456.789");
}

TEST(json_numbers_read_back_to_the_same_value)
{
    uint64_t random = 1;

    for (int i = 0; i < 20000; i++) {
        char text[JSON_NUMBER_BYTES];
        double value;

        random = random * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &random, sizeof(value));
        if (!isfinite(value))
            continue;
        CHECK(json_number(value, text) < JSON_NUMBER_BYTES);
        CHECK(strtod(text, NULL) == value);
    }
}

/* Makes a locale whose decimal point is a comma and switches to it; Debian without the package "locales" has none. */
static void use_decimal_comma(void)
{
    char path[128], command[512];
    struct error err;

    snprintf(path, sizeof(path), "%s/comma.src", test_directory());
    CHECK_OK(fs_write_file(path,
                           SLICE("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n"),
                           &err),
             &err);
    snprintf(command, sizeof(command), "localedef -c -i '%s' '%s/comma' >/dev/null 2>&1", path, test_directory());
    IGNORE(system(command), "it complains of the categories left out; what counts is whether the locale works");
    setenv("LOCPATH", test_directory(), 1);
    if (!setlocale(LC_NUMERIC, "comma"))
        test_skip("localedef makes no locale here");
}

TEST(json_numbers_ignore_the_locale)
{
    char with_comma[16], text[JSON_NUMBER_BYTES], whole[JSON_NUMBER_BYTES];

    use_decimal_comma();
    snprintf(with_comma, sizeof(with_comma), "%g", 1.5);
    json_number(-1.5e-30, text);
    json_number(1e300, whole);
    setlocale(LC_NUMERIC, "C");
    CHECK_TEXT(with_comma, "1,5");
    CHECK_TEXT(text, "-1.5e-30");
    CHECK_TEXT(whole, "1e+300");
}

TEST(json_has_no_word_for_nan_and_infinity)
{
    AUTO(buffer_done) struct buffer buffer;
    struct json json;

    buffer_init(&buffer, 0);
    json_init(&json, &buffer, JSON_COMPACT);
    json_array_begin(&json);
    json_double(&json, NAN);
    json_double(&json, -INFINITY);
    json_double(&json, 1e9);
    json_array_end(&json);
    json_done(&json);
    CHECK_TEXT(buffer_slice(&buffer), "[null,null,1000000000]");
}

static void nest(struct json *json, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        json_array_begin(json);
    for (size_t i = 0; i < depth; i++)
        json_array_end(json);
}

TEST(json_nested_to_its_maximum_works_and_deeper_fails_the_buffer)
{
    AUTO(buffer_done) struct buffer buffer;
    struct json json;
    struct error err;

    buffer_init(&buffer, 0);
    json_init(&json, &buffer, JSON_COMPACT);
    nest(&json, JSON_MAX_DEPTH);
    json_done(&json);
    CHECK_OK(buffer_check(&buffer, &err), &err);
    CHECK_EQ(buffer.len, 2 * JSON_MAX_DEPTH);

    buffer_clear(&buffer);
    json_init(&json, &buffer, JSON_COMPACT);
    nest(&json, JSON_MAX_DEPTH + 5);
    json_done(&json);
    CHECK_ERROR(buffer_check(&buffer, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "nested deeper than 8448 levels");
}

TEST(json_texts_can_follow_each_other_in_one_buffer)
{
    AUTO(buffer_done) struct buffer buffer;
    struct json json;

    buffer_init(&buffer, 0);
    for (int i = 0; i < 2; i++) {
        json_init(&json, &buffer, JSON_COMPACT);
        nest(&json, 2);
        json_done(&json);
        buffer_append_byte(&buffer, '\n');
    }
    CHECK_TEXT(buffer_slice(&buffer), "[[]]\n[[]]\n");
}

static int write_with_failures(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer buffer;
    struct json json;

    buffer_init(&buffer, 0);
    json_init(&json, &buffer, JSON_INDENTED);
    json_array_begin(&json);
    for (int i = 0; i < 50; i++)
        write_sample(&json);
    json_array_end(&json);
    json_done(&json);
    return buffer_check(&buffer, err);
}

TEST(json_survives_any_failing_allocation)
{
    test_each_allocation_failing(write_with_failures, NULL);
}

#ifdef HEARTH_DEBUG
static struct json *misused(bool is_object)
{
    static struct buffer buffer;
    static struct json json;

    buffer_init(&buffer, 0);
    json_init(&json, &buffer, JSON_COMPACT);
    if (is_object)
        json_object_begin(&json);
    return &json;
}

static void end_after_key(void)
{
    struct json *json = misused(true);

    json_key(json, "lonely");
    json_object_end(json);
}

static void value_without_key(void)
{
    json_int(misused(true), 1);
}

static void key_outside_object(void)
{
    json_key(misused(false), "x");
}

static void wrong_end(void)
{
    json_array_end(misused(true));
}

static void two_values(void)
{
    struct json *json = misused(false);

    json_null(json);
    json_null(json);
}

static void unfinished(void)
{
    json_done(misused(true));
}

TEST(json_misuse_aborts_in_debug_builds)
{
    CHECK_ABORTS(end_after_key, "json.c");
    CHECK_ABORTS(value_without_key, "json.c");
    CHECK_ABORTS(key_outside_object, "json.c");
    CHECK_ABORTS(wrong_end, "json.c");
    CHECK_ABORTS(two_values, "json.c");
    CHECK_ABORTS(unfinished, "json.c");
}
#endif
