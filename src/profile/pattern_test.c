// SPDX-License-Identifier: Apache-2.0
#include "profile/pattern.h"

#include "base/test.h"

#include <pthread.h>

static bool matches(const char *text, enum pattern_mode mode, struct slice subject)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct error err;
    bool result = false;

    CHECK_OK(pattern_new(slice_from(text), mode, &pattern, &err), &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(pattern_test(pattern, scratch, subject, &result, &err), &err);
    return result;
}

TEST(pattern_searches_anywhere)
{
    CHECK(matches("mall", PATTERN_SEARCH, SLICE("runtime.mallocgc")));
    CHECK(!matches("^mall", PATTERN_SEARCH, SLICE("runtime.mallocgc")));
    CHECK(matches("gc$", PATTERN_SEARCH, SLICE("runtime.mallocgc")));
    CHECK(matches("(?i)MALL", PATTERN_SEARCH, SLICE("runtime.mallocgc")));
    CHECK(matches("", PATTERN_SEARCH, SLICE("")));
    CHECK(matches("", PATTERN_SEARCH, ((struct slice){ NULL, 0 })));
}

TEST(pattern_of_a_whole_text_is_anchored_at_both_ends)
{
    CHECK(matches("prod|test", PATTERN_WHOLE, SLICE("prod")));
    CHECK(!matches("prod|test", PATTERN_WHOLE, SLICE("production")));
    CHECK(!matches("prod|test", PATTERN_WHOLE, SLICE("a test")));
    CHECK(matches("p.*", PATTERN_WHOLE, SLICE("p\nq")));
    CHECK(!matches("prod", PATTERN_WHOLE, SLICE("prod\n")));
}

TEST(pattern_means_what_it_means_in_go)
{
    CHECK(!matches("a$", PATTERN_SEARCH, SLICE("a\n")));
    CHECK(!matches("a.b", PATTERN_SEARCH, SLICE("a\nb")));
    CHECK(matches("a.b", PATTERN_SEARCH, SLICE("a\rb")));
    CHECK(matches("^.$", PATTERN_SEARCH, SLICE("\xc3\xa4")));
    CHECK(!matches("\\w", PATTERN_SEARCH, SLICE("\xc3\xa4")));
    CHECK(matches("(?P<x>b+)", PATTERN_SEARCH, SLICE("abb")));
}

TEST(pattern_copes_with_bytes_that_are_not_utf8)
{
    CHECK(matches("foo", PATTERN_SEARCH, SLICE("\xff\xfe foo")));
    CHECK(!matches("^.*foo$", PATTERN_SEARCH, SLICE("\xff\xfe foo")));
}

TEST(pattern_error_tells_the_position)
{
    struct pattern *pattern = NULL;
    struct error err;
    char longest[PATTERN_MAX_BYTES + 1];

    CHECK_ERROR(pattern_new(SLICE("ab(c"), PATTERN_SEARCH, &pattern, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "'ab(c'");
    CHECK_HAS(err.text, "at position 4");
    CHECK_ERROR(pattern_new(SLICE("a**"), PATTERN_SEARCH, &pattern, &err), &err, ERR_INVALID);
    CHECK_ERROR(pattern_new(SLICE("\xff"), PATTERN_SEARCH, &pattern, &err), &err, ERR_INVALID);
    CHECK_ERROR(pattern_new(SLICE("((a{1000}){1000}){1000}"), PATTERN_SEARCH, &pattern, &err), &err, ERR_INVALID);
    memset(longest, 'a', sizeof(longest));
    CHECK_ERROR(pattern_new(slice_of(longest, sizeof(longest)), PATTERN_SEARCH, &pattern, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "8193 bytes");
    CHECK(pattern == NULL);
}

TEST(pattern_that_backtracks_without_end_hits_the_limit)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    char subject[4000];
    struct error err;
    bool result = true;

    memset(subject, 'a', sizeof(subject));
    CHECK_OK(pattern_new(SLICE("^(a+)+$|b"), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    subject[40] = '!';
    CHECK_ERROR(pattern_test(pattern, scratch, slice_of(subject, 41), &result, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "^(a+)+$|b");
    CHECK_HAS(err.text, "41 bytes");
    subject[40] = 'a';
    subject[sizeof(subject) - 1] = '!';
    CHECK_ERROR(pattern_test(pattern, scratch, slice_of(subject, sizeof(subject)), &result, &err), &err, ERR_LIMIT);
    CHECK(result);
    CHECK_OK(pattern_test(pattern, scratch, SLICE("aaa"), &result, &err), &err);
    CHECK(result);
}

TEST(pattern_allows_honest_work_on_long_names)
{
    static char subject[10000];

    memset(subject, 'a', sizeof(subject));
    subject[sizeof(subject) - 1] = 'y';
    CHECK(matches("a.*x?.*y$", PATTERN_SEARCH, slice_of(subject, sizeof(subject))));
    CHECK(!matches("^.*b$", PATTERN_SEARCH, slice_of(subject, sizeof(subject))));
}

static const char *replaced(const char *text, const char *replacement, const char *subject)
{
    static struct buffer out;
    struct pattern *pattern;
    struct pattern_scratch *scratch;
    struct error err;
    uint32_t n;

    buffer_done(&out);
    buffer_init(&out, 0);
    CHECK_OK(pattern_new(slice_from(text), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(pattern_replace(pattern, scratch, slice_from(subject), slice_from(replacement), &out, &n, &err), &err);
    CHECK_EQ(n > 0, out.len > 0);
    buffer_append_byte(&out, '\0');
    CHECK_OK(buffer_check(&out, &err), &err);
    pattern_free(pattern);
    pattern_scratch_free(scratch);
    return out.data;
}

TEST(pattern_replace_fills_in_groups)
{
    CHECK_TEXT(replaced("(\\w+)\\$\\d+", "${1}$$n", "Foo$12.Bar$3"), "Foo$n.Bar$n");
    CHECK_TEXT(replaced("(?<name>[a-z]+)[0-9]+", "${name}#", "worker17"), "worker#");
    CHECK_TEXT(replaced("a(b)?", "[$1]", "a ab"), "[] [b]");
    CHECK_TEXT(replaced("x", "$$", "x"), "$");
    CHECK_TEXT(replaced("x", "$$", "none"), "");
    CHECK_TEXT(replaced("a", "0123456789012345678901234567890123456789", "aaa"),
               "012345678901234567890123456789012345678901234567890123456789"
               "012345678901234567890123456789012345678901234567890123456789");
}

TEST(pattern_replace_refuses_groups_that_do_not_exist)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    AUTO(buffer_done) struct buffer out;
    struct error err;
    uint32_t n;

    buffer_init(&out, 100);
    CHECK_OK(pattern_new(SLICE("(a+)"), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_ERROR(pattern_replace(pattern, scratch, SLICE("aa"), SLICE("$2"), &out, &n, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "replacement '$2' for '(a+)'");
    CHECK_ERROR(pattern_replace(pattern, scratch, SLICE("aa"), SLICE("${"), &out, &n, &err), &err, ERR_INVALID);
    CHECK_EQ(out.len, 0);
    CHECK_ERROR(pattern_replace(pattern, scratch, SLICE("aa"),
                                SLICE("$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1"
                                      "$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1"),
                                &out, &n, &err),
                &err, ERR_LIMIT);
}

static void *match_often(void *pattern)
{
    struct pattern_scratch *scratch;
    struct error err;
    intptr_t n = 0;

    if (pattern_scratch_new(&scratch, &err) < 0)
        return NULL;
    for (int i = 0; i < 2000; i++) {
        bool result = false;

        if (pattern_test(pattern, scratch, i % 2 ? SLICE("runtime.mallocgc") : SLICE("main.main"), &result, &err) < 0)
            return NULL;
        n += result;
    }
    pattern_scratch_free(scratch);
    return (void *)n;
}

TEST(pattern_is_shared_by_threads)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    pthread_t threads[4];
    struct error err;

    CHECK_OK(pattern_new(SLICE("m[a-l]*oc"), PATTERN_SEARCH, &pattern, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, match_often, pattern), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        void *n;

        pthread_join(threads[i], &n);
        CHECK_EQ((intptr_t)n, 1000);
    }
}

static int use_pattern(void *context, struct error *err)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    AUTO(buffer_done) struct buffer out;
    bool result;
    uint32_t n;

    buffer_init(&out, 0);
    if (pattern_new(SLICE("^((a|b)+)+c"), PATTERN_SEARCH, &pattern, err) < 0 ||
        pattern_scratch_new(&scratch, err) < 0 || pattern_test(pattern, scratch, SLICE("abababc"), &result, err) < 0)
        return -1;
    return pattern_replace(pattern, scratch, SLICE("abababc"), SLICE("<$1>"), &out, &n, err);
}

TEST(pattern_survives_any_failing_allocation)
{
    test_each_allocation_failing(use_pattern, NULL);
}

static void check_expanded(const char *pattern_text, const char *subject, const char *text, const char *wanted)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(buffer_done) struct buffer out;
    struct error err;
    bool matches;

    buffer_init(&out, 0);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(pattern_new(slice_from(pattern_text), PATTERN_WHOLE, &pattern, &err), &err);
    CHECK_OK(pattern_expand(pattern, scratch, slice_from(subject), slice_from(text), &out, &matches, &err), &err);
    CHECK_EQ(matches, wanted != NULL);
    CHECK_TEXT(buffer_slice(&out), wanted ? wanted : "");
}

TEST(pattern_expands_groups_as_go_does)
{
    check_expanded("(.*):(.*)", "host:80", "$2 at $1, ${1}s", "80 at host, hosts");
    check_expanded("(.*):(.*)", "host:80", "$1s|$3|${x}", "||");
    check_expanded("(?P<name>.*):.*", "host:80", "$name ${name}2 $0", "host host2 host:80");
    check_expanded("(a)|(b)", "a", "$1$2", "a");
    check_expanded("(a)|(b)", "b", "$1$2", "b");
    check_expanded(".*", "x", "$ $$1 ${ ${1 $-", "$ $1 ${ ${1 $-");
    check_expanded(".*", "x", "$99 $4294967297 $abcdefghijklmnopqrstuvwxyzabcdefghijkl", "  ");
    check_expanded("", "", "is empty", "is empty");
    check_expanded("a", "ab", "$0", NULL);
}
