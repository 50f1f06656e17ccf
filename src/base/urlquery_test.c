// SPDX-License-Identifier: Apache-2.0
#include "base/urlquery.h"

#include "base/test.h"

static struct urlquery parse(const char *text, struct arena *arena)
{
    struct urlquery query;
    struct error err;

    CHECK_OK(urlquery_parse(slice_from(text), arena, &query, &err), &err);
    return query;
}

TEST(urlquery_decodes_escapes_and_plus)
{
    struct urlquery query;
    struct arena arena;

    arena_init(&arena, 0);
    query = parse("name=app%7Bk%3Da+b%2B1%7d&from=1&empty=&bare", &arena);
    CHECK_EQ(query.n, 4);
    CHECK_TEXT(urlquery_get(&query, "name"), "app{k=a b+1}");
    CHECK_TEXT(urlquery_get(&query, "from"), "1");
    CHECK_TEXT(urlquery_get(&query, "empty"), "");
    CHECK(urlquery_has(&query, "empty"));
    CHECK(urlquery_has(&query, "bare"));
    CHECK(!urlquery_has(&query, "missing"));
    CHECK_TEXT(urlquery_get(&query, "missing"), "");
    arena_done(&arena);
}

TEST(urlquery_takes_the_first_of_equal_names_and_skips_empty_parts)
{
    struct urlquery query;
    struct arena arena;

    arena_init(&arena, 0);
    query = parse("&&a=1&a=2&", &arena);
    CHECK_EQ(query.n, 2);
    CHECK_TEXT(urlquery_get(&query, "a"), "1");
    query = parse("", &arena);
    CHECK_EQ(query.n, 0);
    arena_done(&arena);
}

TEST(urlquery_leaves_broken_escapes_as_they_are)
{
    struct urlquery query;
    struct arena arena;

    arena_init(&arena, 0);
    query = parse("a=%zz&b=100%&c=%4&d=%4g%41", &arena);
    CHECK_TEXT(urlquery_get(&query, "a"), "%zz");
    CHECK_TEXT(urlquery_get(&query, "b"), "100%");
    CHECK_TEXT(urlquery_get(&query, "c"), "%4");
    CHECK_TEXT(urlquery_get(&query, "d"), "%4gA");
    arena_done(&arena);
}

TEST(urlquery_of_too_many_parts_is_refused)
{
    static char text[2 * URLQUERY_MAX_PAIRS + 2];
    struct urlquery query;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    memset(text, '&', sizeof(text) - 1);
    CHECK_ERROR(urlquery_parse(slice_from(text), &arena, &query, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "at most 256");
    arena_done(&arena);
}

static int parse_step(void *context, struct error *err)
{
    struct urlquery query;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = urlquery_parse(slice_from(context), &arena, &query, err);
    arena_done(&arena);
    return result;
}

TEST(urlquery_survives_failing_allocations)
{
    test_each_allocation_failing(parse_step, (char *)"name=%41&b=%42");
}
