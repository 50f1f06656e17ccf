// SPDX-License-Identifier: Apache-2.0
#include "label/selector.h"

#include "base/test.h"

#include <stdio.h>
#include <stdlib.h>

/* --- reading and writing --- */

/* The selector as it is written again; reading that gives the same text. Valid until the next call. */
static const char *rewritten_slice(struct slice text)
{
    static char result[2048];
    AUTO(selector_freep) struct selector *selector = NULL, *again = NULL;
    struct buffer first, second;
    struct error err;

    buffer_init(&first, sizeof(result) - 1);
    buffer_init(&second, 0);
    CHECK_OK(selector_new(text, &selector, &err), &err);
    selector_text(selector, &first);
    CHECK_OK(buffer_check(&first, &err), &err);
    CHECK_OK(selector_new(buffer_slice(&first), &again, &err), &err);
    selector_text(again, &second);
    CHECK_TEXT(buffer_slice(&second), buffer_slice(&first));
    snprintf(result, sizeof(result), "%.*s", SLICE_ARG(buffer_slice(&first)));
    buffer_done(&first);
    buffer_done(&second);
    return result;
}

static const char *rewritten(const char *text)
{
    return rewritten_slice(slice_from(text));
}

TEST(selector_reads_matchers_with_and_without_braces)
{
    CHECK_TEXT(rewritten("{service_name=\"api\", zone=~\"eu-.*\"}"), "{service_name=\"api\", zone=~\"eu-.*\"}");
    CHECK_TEXT(rewritten("service.name=api,zone!~us.*"), "{service_name=\"api\", zone!~\"us.*\"}");
    CHECK_TEXT(rewritten(" { a = x y , b != \"z\" , } \n"), "{a=\"x y\", b!=\"z\"}");
    CHECK_TEXT(rewritten("a=1,"), "{a=\"1\"}");
    CHECK_TEXT(rewritten("a=,b=~,c!="), "{a=\"\", b=~\"\", c!=\"\"}");
    CHECK_TEXT(rewritten("a=b=c"), "{a=\"b=c\"}");
    CHECK_TEXT(rewritten("a= ~x"), "{a=\"~x\"}");
    CHECK_TEXT(rewritten("{}"), "{}");
    CHECK_TEXT(rewritten(""), "{}");
    CHECK_TEXT(rewritten(" \t\n"), "{}");
    CHECK_TEXT(rewritten_slice((struct slice){ NULL, 0 }), "{}");
}

TEST(selector_makes_names_canonical)
{
    CHECK_TEXT(rewritten("{\"service.name\"=\"x\", \"thread name\"=\"y\", k8s.pod-name=z, 2xx=1}"),
               "{service_name=\"x\", thread_name=\"y\", k8s_pod_name=\"z\", _2xx=\"1\"}");
}

TEST(selector_reads_quotes_as_go_and_prometheus_do)
{
    CHECK_TEXT(rewritten("a=\"x,y}\\\"\\\\\""), "{a=\"x,y}\\\"\\\\\"}");
    CHECK_TEXT(rewritten("a='it\\'s \"here\"'"), "{a=\"it's \\\"here\\\"\"}");
    CHECK_TEXT(rewritten("a=~`\\d+\\.`"), "{a=~\"\\\\d+\\\\.\"}");
    CHECK_TEXT(rewritten("a=\"\\x41\\102\\u00e9\\U0001F525\""), "{a=\"AB\xc3\xa9\xf0\x9f\x94\xa5\"}");
    CHECK_TEXT(rewritten("a=\"\\a\\b\\f\\n\\r\\t\\v\""), "{a=\"\\x07\\x08\\x0c\\x0a\\x0d\\x09\\x0b\"}");
    CHECK_TEXT(rewritten("a=\"\\xff\\000\""), "{a=\"\\xff\\x00\"}");
    CHECK_TEXT(rewritten("a=\xff"), "{a=\"\\xff\"}");
    CHECK_TEXT(rewritten("a=\"\\u0800\""), "{a=\"\xe0\xa0\x80\"}");
}

TEST(selector_reads_the_profile_type_in_front)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct error err;

    CHECK_OK(selector_new(SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds{zone=\"eu\"}"), &selector, &err), &err);
    CHECK_TEXT(selector_profile_type(selector), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
    CHECK(!selector_is_empty(selector));
    CHECK_TEXT(rewritten("process_cpu:cpu:nanoseconds:cpu:nanoseconds{zone=eu}"),
               "process_cpu:cpu:nanoseconds:cpu:nanoseconds{zone=\"eu\"}");
    CHECK_TEXT(rewritten(" off_cpu:off_cpu:nanoseconds:: {}"), "off_cpu:off_cpu:nanoseconds::{}");
    CHECK_TEXT(rewritten("memory:inuse_space:bytes:space:bytes"), "memory:inuse_space:bytes:space:bytes{}");
    CHECK_TEXT(rewritten("memory:inuse_space:bytes:space:bytes :delta{}"), "memory:inuse_space:bytes:space:bytes{}");
}

TEST(selector_is_empty_without_type_and_matchers)
{
    static const struct {
        const char *text;
        bool is_empty;
    } cases[] = { { "", true }, { "{}", true }, { "{ }", true }, { "a=", false }, { "a:b:c:d:e", false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(selector_freep) struct selector *selector = NULL;
        struct error err;

        CHECK_OK(selector_new(slice_from(cases[i].text), &selector, &err), &err);
        CHECK_EQ(selector_is_empty(selector), cases[i].is_empty);
        CHECK_EQ(selector_profile_type(selector).len, i == 4 ? 9 : 0);
    }
}

TEST(selector_keeps_no_reference_to_its_text)
{
    char text[] = "a:b:c:d:e{zone=eu,b='x'}";
    AUTO(selector_freep) struct selector *selector = NULL;
    struct buffer out;
    struct error err;

    CHECK_OK(selector_new(slice_from(text), &selector, &err), &err);
    memset(text, '?', sizeof(text));
    buffer_init(&out, 0);
    selector_text(selector, &out);
    CHECK_TEXT(buffer_slice(&out), "a:b:c:d:e{zone=\"eu\", b=\"x\"}");
    buffer_done(&out);
}

/* What is in front, and then the whole as it is written again. */
static void check_named(const char *text, const char *name, const char *type, const char *wanted)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct buffer out;
    struct error err;

    CHECK_OK(selector_new_named(slice_from(text), &selector, &err), &err);
    CHECK_TEXT(selector_name(selector), name);
    CHECK_TEXT(selector_profile_type(selector), type);
    CHECK_EQ(selector_is_empty(selector), strcmp(wanted, "{}") == 0);
    buffer_init(&out, 0);
    selector_text(selector, &out);
    CHECK_TEXT(buffer_slice(&out), wanted);
    buffer_done(&out);
}

TEST(selector_of_a_query_may_have_a_name_in_front)
{
    check_named("my-service{commit=\"abc\"}", "my-service", "", "my-service{commit=\"abc\"}");
    check_named("order-service.cpu{env=production,version=1.2.3}", "order-service.cpu", "",
                "order-service.cpu{env=\"production\", version=\"1.2.3\"}");
    check_named(" my-service ", "my-service", "", "my-service{}");
    check_named("shop/api@2 {}", "shop/api@2", "", "shop/api@2{}");
    check_named("a:b:c:d:e{x=y}", "", "a:b:c:d:e", "a:b:c:d:e{x=\"y\"}");
    check_named("a:b:c:d:e", "", "a:b:c:d:e", "a:b:c:d:e{}");
    check_named("{x=y}", "", "", "{x=\"y\"}");
    check_named("x=y,", "", "", "{x=\"y\"}");
    check_named("", "", "", "{}");
    check_named(" {}", "", "", "{}");
}

static void check_bad_named(const char *text, const char *words)
{
    struct selector *selector = NULL;
    struct error err;

    CHECK_ERROR(selector_new_named(slice_from(text), &selector, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
    CHECK(selector == NULL);
}

TEST(selector_counts_positions_from_the_name_in_front)
{
    check_bad_named("api{zone>eu}", "expected one of = != =~ !~ behind the label name at position 9, found '>'");
    check_bad_named("api{zone=eu", "expected ',' or '}' at position 12, found the end");
    check_bad_named("api{}x", "expected the end behind '}' at position 6, found 'x'");
    check_bad_named("api}", "expected one of = != =~ !~ behind the label name at position 4, found '}'");
    check_bad_named("\"api\"{}", "expected one of = != =~ !~ behind the label name at position 6, found '{'");
    check_bad_named("ns:api{}", "'ns:api' is no profile type");
}

TEST(selector_tells_what_it_asks_of_a_label)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    static const struct {
        struct slice value;
        bool is_allowed;
    } cases[] = { { SLICE("eu-1"), true }, { SLICE("eu-2"), false }, { SLICE("a eu-1"), false }, { SLICE(""), false } };
    struct slice value = { 0 };
    struct error err;
    bool allows;

    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(selector_new(SLICE("{service.name=api, zone=~eu.*, zone!=eu-2, service_name=b, a!=b}"), &selector, &err),
             &err);
    CHECK(selector_value(selector, SLICE("service_name"), &value));
    CHECK_TEXT(value, "api");
    CHECK(!selector_value(selector, SLICE("zone"), &value));
    CHECK(!selector_value(selector, SLICE("a"), &value));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_OK(selector_allows(selector, SLICE("zone"), cases[i].value, scratch, &allows, &err), &err);
        CHECK_EQ(allows, cases[i].is_allowed);
    }
    CHECK_OK(selector_allows(selector, SLICE("pod"), SLICE("anything"), scratch, &allows, &err), &err);
    CHECK(allows);
}

static void check_narrowed(const char *text, const char *type, const struct series_label *label, const char *wanted)
{
    AUTO(selector_freep) struct selector *selector = NULL, *narrowed = NULL;
    struct buffer out;
    struct error err;

    CHECK_OK(selector_new_named(slice_from(text), &selector, &err), &err);
    CHECK_OK(selector_new_narrowed(selector, slice_from(type), label, &narrowed, &err), &err);
    buffer_init(&out, 0);
    selector_text(narrowed, &out);
    CHECK_TEXT(buffer_slice(&out), wanted);
    buffer_done(&out);
}

TEST(selector_is_narrowed_to_a_type_and_a_label)
{
    static const struct series_label label = { SLICE("service_name"), SLICE("a \"b\"") };

    check_narrowed("api{zone=eu}", "a:b:c:d:e", &label, "a:b:c:d:e{service_name=\"a \\\"b\\\"\", zone=\"eu\"}");
    check_narrowed("v:w:x:y:z{zone=~e.}", "a:b:c:d:e", NULL, "a:b:c:d:e{zone=~\"e.\"}");
    check_narrowed("{service.name='a \"b\"'}", "", &label, "{service_name=\"a \\\"b\\\"\"}");
    check_narrowed("{service_name=x}", "a:b:c:d:e", &label,
                   "a:b:c:d:e{service_name=\"a \\\"b\\\"\", service_name=\"x\"}");
    check_narrowed("", "a:b:c,d:d:e", NULL, "a:b:c,d:d:e{}");
}

static void check_bad(const char *text, const char *words)
{
    struct selector *selector = NULL;
    struct error err;

    CHECK_ERROR(selector_new(slice_from(text), &selector, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
    CHECK(selector == NULL);
}

TEST(selector_says_where_it_is_wrong_and_how_it_is_written)
{
    check_bad("api",
              "selector: expected one of = != =~ !~ behind the label name at position 4, found the end; write it "
              "like {service_name=\"api\", zone=~\"eu-.*\"}");
    check_bad("{service name=\"api\"}", "expected one of = != =~ !~ behind the label name at position 10, found 'n'");
    check_bad("{zone>\"eu\"}", "at position 6, found '>'");
    check_bad("{zone!\"eu\"}", "at position 6, found '!'");
    check_bad("{zone==\"eu\"}", "'==' is no operator (= is) at position 6");
    check_bad("{zone~\"eu\"}", "'~' is no operator (=~ is) at position 6");
    check_bad("{=\"eu\"}", "expected a label name at position 2, found '='");
    check_bad("{,}", "expected a label name at position 2, found ','");
    check_bad("{\"\"=x}", "an empty label name at position 2");
    check_bad("{a=\"b\"", "expected ',' or '}' at position 7, found the end");
    check_bad("{a=b", "expected ',' or '}' at position 5, found the end");
    check_bad("{", "expected a label name at position 2, found the end");
    check_bad("{a=\"b\" c=\"d\"}", "expected ',' or '}' at position 8, found 'c'");
    check_bad("{a=\"b\"}[5m]", "expected the end behind '}' at position 8, found '['");
    check_bad("a=/x/{id}", "expected ',' at position 9, found '}'");
    check_bad("a=\"b\"c", "expected ',' at position 6, found 'c'");
    check_bad("{a=\"b}", "a quote that is never closed at position 4");
    check_bad("a=`b", "a quote that is never closed at position 3");
    check_bad("a=\"\\d\"", "unknown escape (a backslash is written \\\\) at position 4");
    check_bad("a=\"\\ud800\"", "unknown escape");
    check_bad("a=\"\\U00110000\"", "unknown escape");
    check_bad("a=\"\\x4\"", "unknown escape");
    check_bad("a=\"\\400\"", "unknown escape");
    check_bad("a=\"\\", "unknown escape");
    check_bad("{a=b}\x01", "found byte 0x01");
    check_bad("{a=b}\xff", "found byte 0xff");
    check_bad("{a=b}\xc3\xa9", "found '\xc3\xa9'");
}

TEST(selector_says_what_a_profile_type_is)
{
    check_bad("process_cpu{zone=eu}", "'process_cpu' is no profile type, which is "
                                      "NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT; write it like "
                                      "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"api\"}");
    check_bad("a:b:c:d:e:f{}", "'a:b:c:d:e:f' is no profile type");
    check_bad("a:b:c:d:e:f:delta{}", "is no profile type");
    check_bad("a::c:d:e{}", "is no profile type");
    check_bad(":b:c:d:e", "is no profile type");
}

TEST(selector_says_which_expression_is_wrong)
{
    check_bad("{a=b, zone=~\"(eu\"}", "selector: label 'zone', value at position 13: regular expression '(eu': ");
}

TEST(selector_has_limits)
{
    struct selector *selector = NULL;
    struct buffer text;
    struct error err;

    buffer_init(&text, 0);
    for (int i = 0; i < 128; i++)
        buffer_append_text(&text, "a=b,");
    CHECK_OK(selector_new(buffer_slice(&text), &selector, &err), &err);
    selector_free(TAKE(selector));
    buffer_append_text(&text, "a=b");
    CHECK_ERROR(selector_new(buffer_slice(&text), &selector, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "more than the 128 conditions allowed");

    buffer_clear(&text);
    buffer_append_text(&text, "a=");
    while (text.len < 65537)
        buffer_append_byte(&text, '\xff');
    CHECK_OK(selector_new(buffer_slice(&text), &selector, &err), &err);
    buffer_clear(&text);
    selector_text(selector, &text); /* every byte of it escaped */
    selector_free(TAKE(selector));
    CHECK_OK(selector_new(buffer_slice(&text), &selector, &err), &err);
    selector_free(TAKE(selector));
    buffer_truncate(&text, text.len - 2);
    buffer_append_text(&text, "x\"}");
    CHECK_ERROR(selector_new(buffer_slice(&text), &selector, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "longer than the 65536 bytes allowed");

    while (text.len <= 1 << 20)
        buffer_append_byte(&text, ' ');
    CHECK_ERROR(selector_new(buffer_slice(&text), &selector, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "its 1048577 bytes are more than the 1048576 allowed");
    buffer_done(&text);
}

static int read_once(void *context, struct error *err)
{
    static const struct series_label label = { SLICE("service_name"), SLICE("api") };
    AUTO(selector_freep) struct selector *selector = NULL, *narrowed = NULL;

    if (selector_new(SLICE("a:b:c:d:e{\"x.y\"=~\"z+\", b=c, d!~e}"), &selector, err) < 0)
        return -1;
    return selector_new_narrowed(selector, SLICE("v:w:x:y:z"), &label, &narrowed, err);
}

TEST(selector_reports_that_memory_ran_out)
{
    test_each_allocation_failing(read_once, NULL);
}

/* --- judging and testing --- */

static struct series_label shop_labels[] = {
    { SLICE("__name__"), SLICE("process_cpu") },
    { SLICE("service_name"), SLICE("shop") },
    { SLICE("zone"), SLICE("eu-1") },
};
static struct series_label other_labels[] = {
    { SLICE("__name__"), SLICE("process_cpu") },
    { SLICE("service_name"), SLICE("other_services") },
};
static const struct seriesinfo shop = { .labels = shop_labels, .n_labels = ARRAY_LEN(shop_labels) };
static const struct seriesinfo others = { .labels = other_labels, .n_labels = ARRAY_LEN(other_labels) };

static const char *verdict_of(const struct seriesinfo *series, const char *text, bool has_columns)
{
    static const char *const words[] = { [SELECTOR_NO] = "no", [SELECTOR_YES] = "yes", [SELECTOR_MAYBE] = "maybe" };
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    AUTO(selector_freep) struct selector *selector = NULL;
    enum selector_verdict verdict;
    struct error err;

    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(selector_new(slice_from(text), &selector, &err), &err);
    CHECK_OK(selector_judge(selector, series, has_columns, scratch, &verdict, &err), &err);
    return words[verdict];
}

/* The verdict with columns and without, "maybe no". */
static const char *verdicts(const struct seriesinfo *series, const char *text)
{
    static char result[16];

    snprintf(result, sizeof(result), "%s %s", verdict_of(series, text, true), verdict_of(series, text, false));
    return result;
}

TEST(selector_judges_by_the_labels_that_a_series_has)
{
    CHECK_TEXT(verdicts(&shop, "{}"), "yes yes");
    CHECK_TEXT(verdicts(&shop, "service.name=shop"), "yes yes");
    CHECK_TEXT(verdicts(&shop, "service.name=api"), "no no");
    CHECK_TEXT(verdicts(&shop, "service.name!=shop"), "no no");
    CHECK_TEXT(verdicts(&shop, "service.name!=api"), "yes yes");
    CHECK_TEXT(verdicts(&shop, "zone=~eu-.*"), "yes yes");
    CHECK_TEXT(verdicts(&shop, "zone=~eu"), "no no");
    CHECK_TEXT(verdicts(&shop, "zone!~eu"), "yes yes");
    CHECK_TEXT(verdicts(&shop, "zone!~\"eu-[0-9]\""), "no no");
    CHECK_TEXT(verdicts(&shop, "zone="), "no no");
    CHECK_TEXT(verdicts(&shop, "a:b:c:d:e{zone!=\"\"}"), "yes yes");
}

TEST(selector_leaves_labels_that_a_series_has_not_to_its_rows)
{
    CHECK_TEXT(verdicts(&shop, "route=/cart"), "maybe no");
    CHECK_TEXT(verdicts(&shop, "route!=/cart"), "maybe yes");
    CHECK_TEXT(verdicts(&shop, "route="), "maybe yes");
    CHECK_TEXT(verdicts(&shop, "route=~.+"), "maybe no");
    CHECK_TEXT(verdicts(&shop, "route=~.*"), "maybe yes");
    CHECK_TEXT(verdicts(&shop, "route!~.*"), "maybe no");
}

TEST(selector_says_no_when_one_matcher_does)
{
    CHECK_TEXT(verdicts(&shop, "route=/cart,zone=us"), "no no");
    CHECK_TEXT(verdicts(&shop, "zone=us,route=/cart"), "no no");
    CHECK_TEXT(verdicts(&shop, "route=/cart,zone=eu-1"), "maybe no");
    CHECK_TEXT(verdicts(&shop, "zone=eu-1,route!=/cart"), "maybe yes");
    CHECK_TEXT(verdicts(&shop, "zone=eu-1,service_name=shop"), "yes yes");
}

TEST(selector_leaves_the_service_of_other_services_to_their_rows)
{
    CHECK_TEXT(verdicts(&others, "service_name=shop"), "maybe no");
    CHECK_TEXT(verdicts(&others, "service_name!=shop"), "maybe yes");
    CHECK_TEXT(verdicts(&others, "service_name=other_services"), "maybe yes");
    CHECK_TEXT(verdicts(&others, "__name__=wall,service_name=shop"), "no no");
}

TEST(selector_asks_the_series_alone_for_the_name_of_the_profile)
{
    static struct series_label label = { SLICE("zone"), SLICE("eu") };
    struct seriesinfo nameless = { .labels = &label, .n_labels = 1 };

    CHECK_TEXT(verdicts(&shop, "__name__=process_cpu"), "yes yes");
    CHECK_TEXT(verdicts(&shop, "__name__=wall"), "no no");
    CHECK_TEXT(verdicts(&nameless, "__name__=wall"), "no no");
    CHECK_TEXT(verdicts(&nameless, "__name__="), "yes yes");
}

TEST(selector_matches_types_as_labels_of_the_series)
{
    static struct series_label labels[] = { { SLICE("__name__"), SLICE("memory") },
                                            { SLICE("service_name"), SLICE("shop") } };
    static struct series_type types[] = { { .type = SLICE("alloc_space"), .unit = SLICE("bytes") },
                                          { .type = SLICE("alloc_objects"), .unit = SLICE("count") } };
    struct seriesinfo heap = { .labels = labels,
                               .n_labels = 2,
                               .types = types,
                               .n_types = 2,
                               .period_type = SLICE("space"),
                               .period_unit = SLICE("bytes") };

    CHECK_TEXT(verdicts(&heap, "__profile_type__=\"memory:alloc_space:bytes:space:bytes\""), "yes yes");
    CHECK_TEXT(verdicts(&heap, "__profile_type__=\"memory:alloc_space:bytes:space:bytes:delta\""), "yes yes");
    CHECK_TEXT(verdicts(&heap, "__profile_type__=\"memory:inuse_space:bytes:space:bytes\""), "no no");
    CHECK_TEXT(verdicts(&heap, "__profile_type__=~\"memory:.*\",zone="), "maybe yes");
    CHECK_TEXT(verdicts(&heap, "__type__=alloc_objects,__unit__=count,__period_type__=space"), "yes yes");
    /* One type must meet all. */
    CHECK_TEXT(verdicts(&heap, "__type__=alloc_objects,__unit__=bytes"), "no no");
    CHECK_TEXT(verdicts(&heap, "__type__!=alloc_objects,__period_unit__!=count"), "yes yes");
    CHECK_TEXT(verdicts(&heap, "__unit__!~\"bytes|count\""), "no no");
    CHECK_TEXT(verdicts(&heap, "__type__=alloc_space,service_name=web"), "no no");
}

/* Whether a sample of the shop matches: its row has pid=7 and zone=row, the sample what is given here. */
static bool matches(const char *text, const struct selector_label *own, uint32_t n_own)
{
    static const struct selector_label row[] = { { SLICE("process.pid"), SLICE("7") },
                                                 { SLICE("team"), SLICE("row") },
                                                 { SLICE("__name__"), SLICE("odd") },
                                                 { SLICE("nothing"), SLICE("") } };
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    AUTO(selector_freep) struct selector *selector = NULL;
    struct error err;
    bool result;

    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(selector_new(slice_from(text), &selector, &err), &err);
    CHECK_OK(selector_test(selector, &shop, row, ARRAY_LEN(row), own, n_own, scratch, &result, &err), &err);
    return result;
}

TEST(selector_tests_series_row_and_sample_labels_alike)
{
    static const struct selector_label own[] = { { SLICE("thread name"), SLICE("main") },
                                                 { SLICE("size"), SLICE("64") } };

    CHECK(matches("{}", own, 2));
    CHECK(matches("service_name=shop,process_pid=7,thread.name=main,size=64", own, 2));
    CHECK(!matches("service_name=shop,process_pid=8,thread.name=main", own, 2));
    CHECK(!matches("thread_name=main", NULL, 0));
    CHECK(matches("thread_name!=main", NULL, 0));
    CHECK(matches("thread_name=", NULL, 0));
    CHECK(!matches("thread_name=", own, 2));
    CHECK(matches("thread_name=~ma.*,zone=~eu.*,nowhere=~.*", own, 2));
    CHECK(matches("nothing=", own, 2));
}

TEST(selector_lets_the_sample_win_over_the_row_and_the_row_over_the_series)
{
    static const struct selector_label team = { SLICE("team"), SLICE("own") }, empty = { SLICE("team"), SLICE("") };
    static const struct selector_label zone = { SLICE("zone"), SLICE("own") };

    CHECK(matches("team=row", NULL, 0));
    CHECK(matches("team=own", &team, 1));
    CHECK(!matches("team=row", &team, 1));
    CHECK(matches("team=row", &empty, 1));
    CHECK(matches("zone=own", &zone, 1));
    CHECK(!matches("zone=eu-1", &zone, 1));
    CHECK(matches("__name__=process_cpu", NULL, 0));
    CHECK(!matches("__type__=own", &(struct selector_label){ SLICE("__type__"), SLICE("own") }, 1));
    CHECK(!matches("__name__=odd", &(struct selector_label){ SLICE("__name__"), SLICE("odd") }, 1));
}

TEST(selector_matches_any_of_several_values)
{
    static const struct selector_label own[] = { { SLICE("tag"), SLICE("a") }, { SLICE("tag"), SLICE("b") } };

    CHECK(matches("tag=a,tag=b", own, 2));
    CHECK(!matches("tag=c", own, 2));
    CHECK(!matches("tag!=b", own, 2));
    CHECK(matches("tag!=c", own, 2));
    CHECK(matches("tag=~b|c", own, 2));
    CHECK(!matches("tag!~b|c", own, 2));
}

TEST(selector_reports_an_expression_that_takes_too_long)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    AUTO(selector_freep) struct selector *selector = NULL;
    static struct series_label label = { SLICE("a"), SLICE("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy") };
    struct seriesinfo series = { .labels = &label, .n_labels = 1 };
    enum selector_verdict verdict = SELECTOR_MAYBE;
    struct error err;
    bool result;

    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(selector_new(SLICE("a=~\"(x+x+)+z|(x+x+)+\\\\d\""), &selector, &err), &err);
    CHECK_ERROR(selector_judge(selector, &series, true, scratch, &verdict, &err), &err, ERR_LIMIT);
    CHECK_EQ(verdict, SELECTOR_MAYBE);
    CHECK_ERROR(selector_test(selector, &series, NULL, 0, NULL, 0, scratch, &result, &err), &err, ERR_LIMIT);
}

TEST(selector_labels_are_those_with_one_value)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct series_label *labels = NULL;
    uint32_t n = 0;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(selector_new(SLICE("{service_name=\"a\\\"b\", zone=~\"eu.*\", \"k8s.pod\"=\"x\"}"), &selector, &err),
             &err);
    CHECK_OK(selector_labels(selector, &arena, &labels, &n, &err), &err);
    CHECK_EQ(n, 2);
    CHECK_TEXT(labels[0].name, "service_name");
    CHECK_TEXT(labels[0].value, "a\"b");
    CHECK_TEXT(labels[1].name, "k8s_pod");
    CHECK_TEXT(labels[1].value, "x");
    arena_done(&arena);
}
