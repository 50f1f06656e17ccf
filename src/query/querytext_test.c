// SPDX-License-Identifier: Apache-2.0
#include "query/querytext.h"

#include "base/test.h"
#include "query/querycatalog_sample_test.h"

#include <stdio.h>

/* --- reading --- */

static void check_read(const char *text, const char *type, const char *name)
{
    struct querytext query;
    struct error err;

    CHECK_OK(querytext_parse(slice_from(text), &query, &err), &err);
    CHECK_TEXT(query.profile_type, type);
    CHECK_TEXT(query.name, name);
    CHECK(query.selector != NULL);
    querytext_done(&query);
    CHECK(query.selector == NULL);
}

TEST(querytext_reads_every_form)
{
    check_read(CPU_TYPE "{service_name=\"x\", env=~\"p.*\", region!=\"eu\", pod!~\"a|b\", \"k8s.pod.name\"=\"y\"}",
               CPU_TYPE, "");
    check_read(CPU_TYPE, CPU_TYPE, "");
    check_read(CPU_TYPE ":delta{}", CPU_TYPE, "");
    check_read("{env='a b'}", "", "");
    check_read("order-service.cpu{env=production,version=1.2.3}", "", "order-service.cpu");
    check_read("my-service{commit=\"abc\"}", "", "my-service");
    check_read("my-service", "", "my-service");
    check_read("", "", "");
}

TEST(querytext_says_where_it_is_wrong)
{
    struct querytext query = { .name = SLICE("untouched") };
    struct error err;

    CHECK_ERROR(querytext_parse(SLICE("my-service{commit>abc}"), &query, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "expected one of = != =~ !~ behind the label name at position 18, found '>'; write it like ");
    CHECK_ERROR(querytext_parse(SLICE("process_cpu:cpu{}"), &query, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "'process_cpu:cpu' is no profile type");
    CHECK_ERROR(querytext_parse(SLICE("api{a=~\"(\"}"), &query, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "label 'a', value at position 8");
    CHECK_TEXT(query.name, "untouched");
}

/* --- resolving --- */

/* Text and note of the resolved query. */
struct outcome {
    char text[512];
    char note[512];
};

static struct outcome outcome_of(const char *text, const char *type_apart)
{
    struct querytext_resolved resolved;
    struct querytext query;
    struct outcome outcome;
    struct arena arena;
    struct buffer out;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    CHECK_OK(querytext_parse(slice_from(text), &query, &err), &err);
    CHECK_OK(querytext_resolve(&query, slice_from(type_apart), &sample_catalog, &arena, &resolved, &err), &err);
    querytext_done(&query);
    selector_text(resolved.selector, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    CHECK(slice_starts_with(buffer_slice(&out), resolved.profile_type));
    snprintf(outcome.text, sizeof(outcome.text), "%.*s", SLICE_ARG(buffer_slice(&out)));
    snprintf(outcome.note, sizeof(outcome.note), "%s", resolved.note);
    querytext_resolved_done(&resolved);
    buffer_done(&out);
    arena_done(&arena);
    return outcome;
}

static void check_resolved(const char *text, const char *type_apart, const char *wanted, const char *note)
{
    struct outcome outcome = outcome_of(text, type_apart);

    CHECK_TEXT(outcome.text, wanted);
    CHECK_TEXT(outcome.note, note);
}

TEST(querytext_takes_full_types_as_they_are)
{
    check_resolved(CPU_TYPE "{env=x}", "", CPU_TYPE "{env=\"x\"}", "");
    check_resolved(CPU_TYPE, NULL, CPU_TYPE "{}", "");
    check_resolved("{env=x}", CPU_TYPE, CPU_TYPE "{env=\"x\"}", "");
    check_resolved("{env=x}", " " CPU_TYPE ":delta ", CPU_TYPE "{env=\"x\"}", "");
    check_resolved(CPU_TYPE "{}", CPU_TYPE, CPU_TYPE "{}", "");
    check_resolved("never:seen:count::{service_name=nobody}", "", "never:seen:count::{service_name=\"nobody\"}", "");
}

TEST(querytext_resolves_a_service_with_a_short_type)
{
    check_resolved("order-service.cpu{env=production,version=1.2.3}", "",
                   CPU_TYPE "{service_name=\"order-service\", env=\"production\", version=\"1.2.3\"}", "");
    check_resolved("com.example.shop.inuse_space", "", INUSE_TYPE "{service_name=\"com.example.shop\"}", "");
    check_resolved("order-service.mutex_duration{}", "", MUTEX_TIME_TYPE "{service_name=\"order-service\"}", "");
    check_resolved("search.Live_Objects", "", ODD_TYPE "{service_name=\"search\"}", "");
    check_resolved("order-service.cpu", CPU_TYPE, CPU_TYPE "{service_name=\"order-service\"}", "");
    check_resolved("order-service.cpu", "cpu", CPU_TYPE "{service_name=\"order-service\"}", "");
    check_resolved("order-service.contentions", "", BLOCK_TYPE "{service_name=\"order-service\"}",
                   "profile type " BLOCK_TYPE "; 2 types fit, and this one has the most series");
}

TEST(querytext_takes_a_dotted_name_for_a_service_first)
{
    check_resolved("com.example.shop{a=b}", "", CPU_TYPE "{service_name=\"com.example.shop\", a=\"b\"}",
                   "profile type " CPU_TYPE ": CPU, since the query names none");
    check_resolved("search.wall", "", WALL_TYPE "{service_name=\"search.wall\"}",
                   "'search.wall' is a service of that name, and not the type wall of the service 'search'; profile "
                   "type " WALL_TYPE ": the most common, since the query names none and there is no CPU");
}

TEST(querytext_chooses_a_type_where_none_is_named_and_says_so)
{
    check_resolved("order-service", "", CPU_TYPE "{service_name=\"order-service\"}",
                   "profile type " CPU_TYPE ": CPU, since the query names none");
    check_resolved("search{}", "", ODD_TYPE "{service_name=\"search\"}",
                   "profile type " ODD_TYPE ": the most common, since the query names none and there is no CPU");
    check_resolved("order-service", INUSE_TYPE, INUSE_TYPE "{service_name=\"order-service\"}", "");
    check_resolved("order-service", "alloc-space", ALLOC_TYPE "{service_name=\"order-service\"}", "");
}

TEST(querytext_without_a_service_chooses_among_those_that_the_braces_allow)
{
    check_resolved("", "", CPU_TYPE "{}", "profile type " CPU_TYPE ": CPU, since the query names none");
    check_resolved("{service.name=~\"search.*\", a=b}", "", ODD_TYPE "{service_name=~\"search.*\", a=\"b\"}",
                   "profile type " ODD_TYPE ": the most common, since the query names none and there is no CPU");
    check_resolved("service_name=search", "wall", WALL_TYPE "{service_name=\"search\"}", "");
}

TEST(querytext_accepts_conditions_on_the_service_that_agree)
{
    check_resolved("search{service_name=\"search\"}", WALL_TYPE, WALL_TYPE "{service_name=\"search\"}", "");
    check_resolved("search{service.name=~\"s.*\"}", WALL_TYPE,
                   WALL_TYPE "{service_name=\"search\", service_name=~\"s.*\"}", "");
}

static void check_unresolved_in(const struct querycatalog *catalog, const char *text, const char *type_apart,
                                enum error_code code, const char *words)
{
    struct querytext_resolved resolved = { .note = "untouched" };
    struct querytext query;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(querytext_parse(slice_from(text), &query, &err), &err);
    CHECK_ERROR(querytext_resolve(&query, slice_from(type_apart), catalog, &arena, &resolved, &err), &err, code);
    CHECK_HAS(err.text, words);
    CHECK_TEXT(resolved.note, "untouched");
    querytext_done(&query);
    arena_done(&arena);
}

static void check_unresolved(const char *text, const char *type_apart, enum error_code code, const char *words)
{
    check_unresolved_in(&sample_catalog, text, type_apart, code, words);
}

TEST(querytext_takes_a_type_from_the_braces)
{
    check_resolved("{__profile_type__=\"" INUSE_TYPE "\", service_name=\"order-service\"}", "",
                   INUSE_TYPE "{service_name=\"order-service\"}", "");
    check_resolved("order-service{__profile_type__=\"" INUSE_TYPE ":delta\"}", "",
                   INUSE_TYPE "{service_name=\"order-service\"}", "");
    /* Named in full it need not be there. */
    check_resolved("{__profile_type__=\"never:seen:count::\"}", "", "never:seen:count::{}", "");
    check_resolved(CPU_TYPE "{__profile_type__=\"" CPU_TYPE "\"}", CPU_TYPE, CPU_TYPE "{}", "");
    /* By what is left of those that there are. */
    check_resolved("{__profile_type__=~\"memory:inuse.*\"}", "", INUSE_TYPE "{}", "");
    check_resolved("order-service{__type__=delay,__name__=mutex}", "",
                   MUTEX_TIME_TYPE "{service_name=\"order-service\", __name__=\"mutex\"}", "");
    check_resolved("order-service{__type__=~\".*_space\", zone=eu}", "inuse_space",
                   INUSE_TYPE "{service_name=\"order-service\", zone=\"eu\"}", "");
    check_resolved("order-service{__unit__=bytes,__period_type__=space,__period_unit__=bytes,__type__!=alloc_space}",
                   "", INUSE_TYPE "{service_name=\"order-service\"}", "");
    /* The name alone narrows what is chosen from. */
    check_resolved("order-service{__name__=goroutines}", "",
                   GOROUTINE_TYPE "{service_name=\"order-service\", __name__=\"goroutines\"}",
                   "profile type " GOROUTINE_TYPE ": the most common, since the query names none and there is no CPU");
}

TEST(querytext_says_what_is_wrong_with_types_in_the_braces)
{
    check_unresolved(
        "order-service{__profile_type__=~\"memory:.*\"}", "", ERR_INVALID,
        "leave 2 of them, and an answer is of one: alloc_space, inuse_space; name it in front of the braces, "
        "or by __profile_type__");
    check_unresolved("order-service{__type__=heap}", "", ERR_NOT_FOUND,
                     "no profile type in this range is one that the conditions on types in the braces allow; there are "
                     "alloc_space");
    check_unresolved(CPU_TYPE "{__profile_type__=\"" INUSE_TYPE "\"}", "", ERR_INVALID,
                     "and __profile_type__ in its braces is " INUSE_TYPE "; give one of the two");
    check_unresolved("{__profile_type__=cpu}", "", ERR_INVALID, "__profile_type__: 'cpu' is no profile type");
    check_unresolved(CPU_TYPE "{__type__!=cpu}", "", ERR_INVALID,
                     "a condition on types in its braces refuses it; leave one of the two out");
}

TEST(querytext_names_the_services_nearest_to_an_unknown_one)
{
    check_unresolved("order-servce", "", ERR_NOT_FOUND,
                     "no service 'order-servce' in this range; nearest: 'order-service'");
    check_unresolved("order-servce.cpu{a=b}", "", ERR_NOT_FOUND,
                     "no service 'order-servce.cpu' in this range; nearest: 'order-service'");
    check_unresolved("{service_name=serch}", "", ERR_NOT_FOUND, "no service 'serch' in this range; nearest: 'search'");
    check_unresolved("billing", "", ERR_NOT_FOUND, "there are 'order-service', 'search', 'search.wall' and 1 more");
    check_unresolved(".cpu", "", ERR_NOT_FOUND, "no service '.cpu' in this range");
    check_unresolved("search.", "", ERR_NOT_FOUND, "no service 'search.' in this range; nearest: 'search");
    check_unresolved_in(&(struct querycatalog){ 0 }, "search", "", ERR_NOT_FOUND,
                        "no service 'search' in this range: there are no profiles at all");
}

TEST(querytext_names_the_types_that_a_service_has)
{
    check_unresolved(
        "search.cpu", "", ERR_NOT_FOUND,
        "service 'search' has no profiles of type 'cpu' in this range; it has wall, off_cpu, Live-Objects");
    check_unresolved("search.bytes", "", ERR_NOT_FOUND,
                     "no service 'search.bytes' in this range, and 'bytes' is no type of the service 'search', which "
                     "has wall, off_cpu, Live-Objects");
    check_unresolved("{service_name=search}", "cpu", ERR_NOT_FOUND,
                     "no profiles of type 'cpu' in this range; there are Live-Objects, off_cpu, wall");
    check_unresolved_in(&(struct querycatalog){ 0 }, "{a=b}", "", ERR_NOT_FOUND,
                        "there are no profiles to choose one from in this range");
}

TEST(querytext_does_not_speak_of_a_range_where_everything_was_looked_at)
{
    struct querycatalog all = sample_catalog;

    all.is_of_all_time = true;
    check_unresolved_in(&all, "order-servce", "", ERR_NOT_FOUND, "no service 'order-servce'; nearest: 'order-service'");
    check_unresolved_in(&all, "search.cpu", "", ERR_NOT_FOUND,
                        "service 'search' has no profiles of type 'cpu'; it has ");
    check_unresolved_in(&all, "search.bytes", "", ERR_NOT_FOUND, "no service 'search.bytes', and 'bytes' is no type");
    check_unresolved_in(&all, "{service_name=search}", "cpu", ERR_NOT_FOUND, "no profiles of type 'cpu'; there are ");
    check_unresolved_in(&(struct querycatalog){ .is_of_all_time = true }, "{a=b}", "", ERR_NOT_FOUND,
                        "no profiles to choose one from; give other labels");
    check_unresolved_in(&(struct querycatalog){ .is_of_all_time = true }, "search", "", ERR_NOT_FOUND,
                        "no service 'search': there are no profiles at all");
}

TEST(querytext_refuses_contradictions)
{
    check_unresolved("search{service_name=\"order-service\"}", "", ERR_INVALID,
                     "the query names the service 'search', and a condition on service_name in its braces refuses it; "
                     "leave one of the two out");
    check_unresolved("search{\"service.name\"!~\"s.*\"}", "", ERR_INVALID, "in its braces refuses it");
    check_unresolved(CPU_TYPE "{}", WALL_TYPE, ERR_INVALID,
                     "the query asks for " CPU_TYPE ", and the type given apart is " WALL_TYPE "; give one of the two");
    check_unresolved("order-service.cpu", "alloc_space", ERR_INVALID, "give one of the two");
}

TEST(querytext_says_what_a_type_given_apart_must_be)
{
    static const char *const wrong[] = { "a:b", "a:b:c:d:e{x=y}", "x=a:b:c:d:e", "::::", "\"a:b:c:d:e" };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        check_unresolved("{}", wrong[i], ERR_INVALID,
                         "is no profile type: give NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT, or a short one like cpu or "
                         "alloc_space");
}

TEST(querytext_reports_an_expression_that_takes_too_long)
{
    static const struct querycatalog_service service = {
        SLICE("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), sample_go_types, 1
    };

    check_unresolved_in(&(struct querycatalog){ &service, 1 }, "{service_name=~\"(a|a?)+(a|a)*\"}", "", ERR_LIMIT, "");
}

static int resolve_once(void *context, struct error *err)
{
    const char *const *texts = context;
    struct querytext_resolved resolved = { 0 };
    struct querytext query = { 0 };
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = querytext_parse(slice_from(texts[0]), &query, err);
    if (result == 0)
        result = querytext_resolve(&query, slice_from(texts[1]), &sample_catalog, &arena, &resolved, err);
    querytext_resolved_done(&resolved);
    querytext_done(&query);
    arena_done(&arena);
    return result;
}

TEST(querytext_survives_any_failing_allocation)
{
    static const char *const cases[][2] = {
        { "search.wall{service_name=~\"s.*\"}", "" },
        { "order-service.contentions", BLOCK_TYPE },
        { "{service_name=~\"s.*\"}", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        test_each_allocation_failing(resolve_once, (void *)cases[i]);
}
