// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"
#include "base/test.h"
#include "wire/json_reader.h"

#include <math.h>

static struct arena arena = { .max_bytes = 1 << 20 };

static struct json_reader reader_over(const char *text)
{
    struct json_reader reader;

    arena_reset(&arena);
    json_reader_init(&reader, slice_from(text), &arena, JSON_READER_MAX_DEPTH);
    return reader;
}

/* Skips one whole document; the error text of what is wrong with it, or "". */
static const char *problem_of(struct slice text)
{
    static struct error err;
    struct json_reader reader;

    arena_reset(&arena);
    json_reader_init(&reader, text, &arena, JSON_READER_MAX_DEPTH);
    json_reader_skip(&reader);
    json_reader_end(&reader);
    err.text[0] = '\0';
    return json_reader_check(&reader, &err) < 0 ? err.text : "";
}

#define CHECK_REFUSED(text, story) CHECK_TEXT(problem_of(slice_from(text)), story)

TEST(json_reader_walks_objects_and_arrays)
{
    struct json_reader r = reader_over("\xef\xbb\xbf { \"a\" : [1, -2 ,3], \"b\":{}, \"c\":[ ], \"d\":\"x\" }\n");
    struct slice key;
    struct error err;
    int64_t sum = 0;
    int n = 0;

    json_reader_enter_object(&r);
    CHECK(json_reader_next_key(&r, &key));
    CHECK_TEXT(key, "a");
    CHECK_EQ(json_reader_peek(&r), JSON_ARRAY);
    json_reader_enter_array(&r);
    for (; json_reader_next_item(&r); n++)
        sum += json_reader_i64(&r);
    CHECK_EQ(n, 3);
    CHECK_EQ(sum, 2);
    CHECK(json_reader_next_key(&r, &key));
    json_reader_enter_object(&r);
    CHECK(!json_reader_next_key(&r, &key));
    CHECK(json_reader_next_key(&r, &key));
    CHECK_TEXT(key, "c");
    json_reader_enter_array(&r);
    CHECK(!json_reader_next_item(&r));
    CHECK(json_reader_next_key(&r, &key));
    CHECK_TEXT(json_reader_text(&r), "x");
    CHECK(!json_reader_next_key(&r, &key));
    json_reader_end(&r);
    CHECK_OK(json_reader_check(&r, &err), &err);
}

TEST(json_reader_reads_words)
{
    struct json_reader r = reader_over("[true,false,null]");
    struct error err;

    json_reader_enter_array(&r);
    CHECK(json_reader_next_item(&r));
    CHECK_EQ(json_reader_peek(&r), JSON_BOOL);
    CHECK(json_reader_bool(&r));
    CHECK(json_reader_next_item(&r));
    CHECK(!json_reader_bool(&r));
    CHECK(json_reader_next_item(&r));
    CHECK_EQ(json_reader_peek(&r), JSON_NULL);
    json_reader_null(&r);
    CHECK(!json_reader_next_item(&r));
    CHECK_OK(json_reader_check(&r, &err), &err);
}

static struct slice text_of(const char *json)
{
    struct json_reader r = reader_over(json);
    struct slice text = json_reader_text(&r);
    struct error err;

    CHECK_OK(json_reader_check(&r, &err), &err);
    return text;
}

TEST(json_reader_undoes_every_escape)
{
    CHECK_TEXT(text_of("\"\""), "");
    CHECK_TEXT(text_of("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\""), "a\"\\/\b\f\n\r\tz");
    CHECK_TEXT(text_of("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\""), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK_TEXT(text_of("\"\\u0000\""), slice_of("", 1));
    CHECK_TEXT(text_of("\"gr\xc3\xbc\xc3\x9f\""), "gr\xc3\xbc\xc3\x9f");
}

TEST(json_reader_borrows_texts_without_escapes)
{
    const char *json = "\"plain\"";
    struct json_reader r = reader_over(json);

    CHECK(json_reader_text(&r).ptr == json + 1);
    CHECK_EQ(arena.used_bytes, 0);
}

TEST(json_reader_skips_without_allocating)
{
    CHECK_TEXT(problem_of(SLICE("{\"a\\n\":\"\\u0041\"}")), "");
    CHECK_EQ(arena.used_bytes, 0);
}

static int64_t i64_of(const char *json)
{
    struct json_reader r = reader_over(json);
    int64_t value = json_reader_i64(&r);
    struct error err;

    json_reader_end(&r);
    CHECK_OK(json_reader_check(&r, &err), &err);
    return value;
}

static double double_of(const char *json)
{
    struct json_reader r = reader_over(json);
    double value = json_reader_double(&r);
    struct error err;

    json_reader_end(&r);
    CHECK_OK(json_reader_check(&r, &err), &err);
    return value;
}

TEST(json_reader_reads_numbers_bare_and_quoted)
{
    struct json_reader r = reader_over("\"18446744073709551615\"");

    CHECK_EQ(i64_of("0"), 0);
    CHECK_EQ(i64_of("-0"), 0);
    CHECK_EQ(i64_of("-9223372036854775808"), INT64_MIN);
    CHECK_EQ(i64_of("\"9223372036854775807\""), INT64_MAX);
    CHECK_EQ(i64_of("1e3"), 1000);
    CHECK_EQ(i64_of("2.50E1"), 25);
    CHECK(json_reader_u64(&r) == UINT64_MAX);
    CHECK_NEAR(double_of("-1.5e-3"), -0.0015, 1e-12);
    CHECK_NEAR(double_of("\"2.5\""), 2.5, 0);
    CHECK(isnan(double_of("\"NaN\"")));
    CHECK(double_of("\"-Infinity\"") < 0 && isinf(double_of("\"-Infinity\"")));
}

static void check_number_refused(const char *json, const char *words)
{
    struct json_reader r = reader_over(json);
    struct error err;

    CHECK_EQ(json_reader_i64(&r), 0);
    CHECK_ERROR(json_reader_check(&r, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, words);
}

TEST(json_reader_refuses_numbers_that_are_not_whole_or_do_not_fit)
{
    check_number_refused("1.5", "line 1, column 1: expected a whole number of 64 bits, found '1.5'");
    check_number_refused("9223372036854775808", "found '9223372036854775808'");
    check_number_refused("\"0x10\"", "found '0x10'");
    check_number_refused("\"\"", "found ''");
    check_number_refused("true", "expected a number, found 't'");
    check_number_refused("1e999", "found '1e999'");
}

TEST(json_reader_says_where_and_what_was_expected)
{
    CHECK_REFUSED("", "line 1, column 1: expected a value, found the end");
    CHECK_REFUSED("{\n \"a\": }", "line 2, column 7: expected a value, found '}'");
    CHECK_REFUSED("[1 2]", "line 1, column 4: expected ',' or ']', found '2'");
    CHECK_REFUSED("[1,]", "line 1, column 4: expected a value, found ']'");
    CHECK_REFUSED("[,1]", "line 1, column 2: expected a value, found ','");
    CHECK_REFUSED("{\"a\":1,}", "line 1, column 8: expected a string, found '}'");
    CHECK_REFUSED("{\"a\" 1}", "line 1, column 6: expected ':', found '1'");
    CHECK_REFUSED("{1:2}", "line 1, column 2: expected a string, found '1'");
    CHECK_REFUSED("{\"a\":1]", "line 1, column 7: expected ',' or '}', found ']'");
    CHECK_REFUSED("01", "line 1, column 2: expected the end, found '1'");
    CHECK_REFUSED("-", "line 1, column 2: expected a digit, found the end");
    CHECK_REFUSED("1.", "line 1, column 3: expected a digit, found the end");
    CHECK_REFUSED("1e+", "line 1, column 4: expected a digit, found the end");
    CHECK_REFUSED("+1", "line 1, column 1: expected a value, found '+'");
    CHECK_REFUSED("nul", "line 1, column 1: expected 'null', found 'n'");
    CHECK_REFUSED("trues", "line 1, column 5: expected the end, found 's'");
    CHECK_REFUSED("1 \x01", "line 1, column 3: expected the end, found byte 0x01");
}

TEST(json_reader_refuses_bad_strings)
{
    CHECK_REFUSED("\"abc", "line 1, column 1: string without an end");
    CHECK_REFUSED("\"a\nb\"", "line 1, column 3: control byte in a string; write it as \\uXXXX");
    CHECK_REFUSED("\"\\", "line 1, column 2: the text ends inside a string");
    CHECK_REFUSED("\"\\x41\"", "line 1, column 2: unknown escape; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    CHECK_REFUSED("\"\\u12g4\"", "line 1, column 2: \\u needs four hexadecimal digits");
    CHECK_REFUSED("\"\\u12", "line 1, column 2: \\u needs four hexadecimal digits");
    CHECK_REFUSED("\"\\ud800\"", "line 1, column 2: half a surrogate pair; the other half must follow as \\uXXXX");
    CHECK_REFUSED("\"\\ud800\\u0041\"",
                  "line 1, column 2: half a surrogate pair; the other half must follow as \\uXXXX");
    CHECK_REFUSED("\"\\udc00\"", "line 1, column 2: half a surrogate pair; the other half must follow as \\uXXXX");
    CHECK_REFUSED("\"\xff\"", "line 1, column 2: string is not UTF-8");
    CHECK_REFUSED("\"\xc0\x80\"", "line 1, column 2: string is not UTF-8");
    CHECK_REFUSED("\"\xed\xa0\x80\"", "line 1, column 2: string is not UTF-8");
}

TEST(json_reader_bounds_the_depth)
{
    struct json_reader r;
    struct error err;

    arena_reset(&arena);
    json_reader_init(&r, SLICE("[[[1]]]"), &arena, 2);
    json_reader_skip(&r);
    CHECK_ERROR(json_reader_check(&r, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "JSON is nested deeper than the limit of 2 at byte 2");
    json_reader_init(&r, SLICE("[[1],[2]]"), &arena, 2);
    json_reader_skip(&r);
    CHECK_OK(json_reader_check(&r, &err), &err);
}

TEST(json_reader_stays_failed)
{
    struct json_reader r = reader_over("[1,x]");
    struct slice key;
    struct error err;

    json_reader_enter_array(&r);
    CHECK(json_reader_next_item(&r));
    CHECK_EQ(json_reader_i64(&r), 1);
    CHECK(json_reader_next_item(&r));
    CHECK_EQ(json_reader_i64(&r), 0);
    CHECK(!json_reader_next_item(&r));
    CHECK(!json_reader_next_key(&r, &key));
    CHECK_EQ(json_reader_text(&r).len, 0);
    CHECK_EQ(json_reader_peek(&r), JSON_NOTHING);
    json_reader_fail(&r, "something later");
    CHECK_ERROR(json_reader_check(&r, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "line 1, column 4: expected a number, found 'x'");
}

TEST(json_reader_reads_one_document_per_line)
{
    struct json_reader r = reader_over("{\"a\":1}\n{\"b\":2}\r\n\n");
    struct error err;
    int n = 0;

    for (; json_reader_next_document(&r); n++)
        json_reader_skip(&r);
    CHECK_EQ(n, 2);
    CHECK_OK(json_reader_check(&r, &err), &err);
}

TEST(json_reader_refuses_every_truncation)
{
    const char *json = "{\"a\\n\":[true,null,-1.5e+3,{\"\\ud83d\\ude00\":\"\xc3\xa9\"}],\"b\":false}";

    CHECK_TEXT(problem_of(slice_from(json)), "");
    for (size_t len = 0; len < strlen(json); len++) {
        char copy[128];

        memcpy(copy, json, len);
        CHECK(problem_of(slice_of(copy, len))[0] != '\0');
    }
}

static int read_escaped(void *context, struct error *err)
{
    struct arena own;
    struct json_reader r;
    int result;

    arena_init(&own, 0);
    json_reader_init(&r, SLICE("[\"\\n\"]"), &own, JSON_READER_MAX_DEPTH);
    json_reader_enter_array(&r);
    while (json_reader_next_item(&r))
        (void)json_reader_text(&r);
    result = json_reader_check(&r, err);
    arena_done(&own);
    return result;
}

TEST(json_reader_reports_lack_of_memory)
{
    test_each_allocation_failing(read_escaped, NULL);
}
