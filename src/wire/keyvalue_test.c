// SPDX-License-Identifier: Apache-2.0
#include "wire/keyvalue.h"

#include "base/test.h"

#include <math.h>

/* Reads the one KeyValue that field 1 of `out` holds. */
static struct keyvalue read_back(const struct buffer *out)
{
    struct protobuf_reader r = protobuf_reader_of(buffer_slice(out)), inner;
    struct keyvalue value;
    uint32_t tag;

    CHECK(protobuf_next(&r, &tag));
    CHECK_EQ(tag, PROTOBUF_TAG(1, PROTOBUF_BYTES));
    inner = protobuf_message(&r);
    value = keyvalue_read(&inner);
    CHECK(!inner.bad && !r.bad && !protobuf_more(&r));
    return value;
}

TEST(keyvalue_reads_each_kind_that_it_writes)
{
    const struct keyvalue values[] = {
        { .key = SLICE("none"), .kind = KEYVALUE_EMPTY },
        { .key = SLICE("text"), .kind = KEYVALUE_TEXT, .text = SLICE("GET") },
        { .key = SLICE("empty"), .kind = KEYVALUE_TEXT, .text = SLICE("") },
        { .key = SLICE("true"), .kind = KEYVALUE_BOOL, .integer = 1 },
        { .key = SLICE("false"), .kind = KEYVALUE_BOOL, .integer = 0 },
        { .key = SLICE("zero"), .kind = KEYVALUE_INT, .integer = 0 },
        { .key = SLICE("least"), .kind = KEYVALUE_INT, .integer = INT64_MIN },
        { .key = SLICE("real"), .kind = KEYVALUE_DOUBLE, .real = -0.5 },
        { .key = SLICE("bytes"), .kind = KEYVALUE_BYTES, .text = SLICE("\0\xff") },
    };
    struct buffer out;

    buffer_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct keyvalue back;

        buffer_clear(&out);
        keyvalue_put(&out, 1, &values[i]);
        back = read_back(&out);
        CHECK_TEXT(back.key, values[i].key);
        CHECK_EQ(back.kind, values[i].kind);
        if (values[i].kind == KEYVALUE_TEXT || values[i].kind == KEYVALUE_BYTES)
            CHECK_TEXT(back.text, values[i].text);
        else if (values[i].kind == KEYVALUE_DOUBLE)
            CHECK_NEAR(back.real, values[i].real, 0);
        else
            CHECK_EQ(back.integer, values[i].integer);
    }
    buffer_done(&out);
}

/* JSON as a value, and back; "" if something was wrong. */
static struct slice json_back(const char *text, size_t max_bytes, struct arena *arena)
{
    struct protobuf_reader r = { 0 };
    struct keyvalue value;
    struct buffer out;
    struct slice back;
    struct error err;

    buffer_init(&out, 0);
    keyvalue_put_json(&out, 1, SLICE("key"), slice_from(text));
    value = read_back(&out);
    CHECK_TEXT(value.key, "key");
    CHECK_OK(keyvalue_to_json(&value, max_bytes, arena, &r, &back, &err), &err);
    CHECK(!r.bad);
    buffer_done(&out);
    return back;
}

TEST(keyvalue_makes_json_of_lists_and_maps_and_back)
{
    static const char *const texts[] = {
        "[]", "{}", "[1,-2,true,false,null,\"a\\\"b\"]", "{\"a\":[{\"b\":0.5}],\"c\":{}}", "[[[[\"deep\"]]]]",
    };
    struct arena arena;

    arena_init(&arena, 0);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        CHECK_TEXT(json_back(texts[i], 1000, &arena), texts[i]);
    CHECK_TEXT(json_back("[1,2", 1000, &arena), "\"[1,2\""); /* no JSON: a text */
    CHECK_TEXT(json_back("[\"too long for so few bytes\"]", 8, &arena), "null");
    arena_done(&arena);
}

TEST(keyvalue_cuts_lists_that_are_nested_too_deeply)
{
    struct buffer deep;
    struct arena arena;
    struct slice text;

    arena_init(&arena, 0);
    buffer_init(&deep, 0);
    for (int i = 0; i < 100; i++)
        buffer_append_byte(&deep, '[');
    for (int i = 0; i < 100; i++)
        buffer_append_byte(&deep, ']');
    buffer_append_byte(&deep, '\0');
    text = json_back(deep.data, 1000, &arena);
    CHECK_EQ(text.len, 2 * KEYVALUE_MAX_DEPTH + 4);
    CHECK_HAS(text, "[[null]]");
    buffer_done(&deep);
    arena_done(&arena);
}

TEST(keyvalue_writes_what_json_has_not_in_other_words)
{
    const struct keyvalue items[] = {
        { .kind = KEYVALUE_DOUBLE, .real = INFINITY },
        { .kind = KEYVALUE_BYTES, .text = SLICE("\x01\x02") },
    };
    struct protobuf_reader r = { 0 };
    struct keyvalue list = { .kind = KEYVALUE_MAP };
    struct buffer out;
    struct slice text;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    keyvalue_put(&out, 1, &items[0]);
    keyvalue_put(&out, 1, &items[1]);
    list.text = buffer_slice(&out);
    CHECK_OK(keyvalue_to_json(&list, 1000, &arena, &r, &text, &err), &err);
    CHECK_TEXT(text, "{\"\":\"Infinity\",\"\":\"AQI=\"}");
    list.text = slice_sub(list.text, 0, list.text.len - 1);
    CHECK_OK(keyvalue_to_json(&list, 1000, &arena, &r, &text, &err), &err);
    CHECK(r.bad);
    buffer_done(&out);
    arena_done(&arena);
}

/* A text as keyvalue_mend makes it. */
static struct slice mended(const char *text, size_t max_bytes, struct arena *arena)
{
    struct slice got;
    struct error err;

    CHECK_OK(keyvalue_mend(slice_from(text), max_bytes, arena, &got, &err), &err);
    return got;
}

TEST(keyvalue_mends_and_cuts_texts)
{
    static const char plain[] = "a text of some length";
    struct arena arena;

    arena_init(&arena, 0);
    CHECK(mended(plain, 100, &arena).ptr == plain);
    CHECK_TEXT(mended(plain, 6, &arena), "a text");
    CHECK_TEXT(mended("gr\xc3\xbc\xc3\x9f", 100, &arena), "gr\xc3\xbc\xc3\x9f");
    CHECK_TEXT(mended("gr\xc3\xbc\xc3\x9f", 5, &arena), "gr\xc3\xbc"); /* no half of a character */
    CHECK_TEXT(mended("\xf0\x9f\x98\x80", 3, &arena), "");
    CHECK_TEXT(mended("a\xffz", 100, &arena), "a\xef\xbf\xbdz");
    CHECK_TEXT(mended("a\xff\xff", 4, &arena), "a\xef\xbf\xbd"
                                               "");
    CHECK_TEXT(mended("", 4, &arena), "");
    arena_done(&arena);
}

static int use_all(void *context, struct error *err)
{
    struct protobuf_reader r = { 0 };
    struct buffer out;
    struct slice text;
    struct arena arena;
    int result;

    (void)context;
    arena_init(&arena, 0);
    buffer_init(&out, 0);
    keyvalue_put_json(&out, 1, SLICE("key"), SLICE("{\"a\":[1,\"\\u00e4\"]}"));
    result = buffer_check(&out, err);
    if (result == 0) {
        struct keyvalue value = read_back(&out);

        result = keyvalue_to_json(&value, 1000, &arena, &r, &text, err);
    }
    if (result == 0)
        result = keyvalue_mend(SLICE("\xff"), 10, &arena, &text, err);
    buffer_done(&out);
    arena_done(&arena);
    return result;
}

TEST(keyvalue_survives_allocations_that_fail)
{
    test_each_allocation_failing(use_all, NULL);
}
