// SPDX-License-Identifier: Apache-2.0
#include "query/querycatalog.h"

#include "base/test.h"
#include "query/querycatalog_sample_test.h"

TEST(querycatalog_knows_what_cpu_is)
{
    CHECK(querycatalog_is_cpu(SLICE(CPU_TYPE)));
    CHECK(querycatalog_is_cpu(SLICE(SAMPLES_TYPE)));
    CHECK(querycatalog_is_cpu(SLICE("process_cpu:cpu:microseconds::")));
    CHECK(querycatalog_is_cpu(SLICE("jfr:ITimer:count::")));
    CHECK(!querycatalog_is_cpu(SLICE(OFF_CPU_TYPE)));
    CHECK(!querycatalog_is_cpu(SLICE("off_cpu:samples:count::")));
    CHECK(!querycatalog_is_cpu(SLICE("wall:samples:count::")));
    CHECK(!querycatalog_is_cpu(SLICE(WALL_TYPE)));
    CHECK(!querycatalog_is_cpu(SLICE("")));
    CHECK(!querycatalog_is_cpu(SLICE("cpu")));
}

/* The type chosen for a word, or "". */
static struct slice chosen(const struct querycatalog_type *types, uint32_t n, const char *word)
{
    struct querycatalog_choice choice = querycatalog_choose_short(types, n, slice_from(word));

    return choice.type ? choice.type->profile_type : SLICE("");
}

TEST(querycatalog_prefers_cpu_time_to_samples_of_it)
{
    static const struct querycatalog_type types[] = {
        { SLICE(OFF_CPU_TYPE), 99 },
        { SLICE(SAMPLES_TYPE), 9 },
        { SLICE("jfr:itimer:count::"), 8 },
        { SLICE("process_cpu:cpu:microseconds::"), 7 },
        { SLICE(CPU_TYPE), 1 },
    };

    CHECK_TEXT(querycatalog_choose_cpu(types, 1).type ? "one" : "none", "none");
    CHECK_TEXT(querycatalog_choose_cpu(types, 2).type->profile_type, SAMPLES_TYPE);
    CHECK_TEXT(querycatalog_choose_cpu(types, 3).type->profile_type, "jfr:itimer:count::");
    CHECK_TEXT(querycatalog_choose_cpu(types, 4).type->profile_type, "process_cpu:cpu:microseconds::");
    CHECK_TEXT(querycatalog_choose_cpu(types, 5).type->profile_type, CPU_TYPE);
    CHECK_TEXT(chosen(types, 5, "itimer"), "jfr:itimer:count::");
    CHECK_TEXT(chosen(types + 4, 1, "itimer"), CPU_TYPE);
}

TEST(querycatalog_knows_the_short_types)
{
    static const struct {
        const char *word;
        const char *type;
    } cases[] = {
        { "cpu", CPU_TYPE },
        { "itimer", CPU_TYPE },
        { "alloc_space", ALLOC_TYPE },
        { "inuse_space", INUSE_TYPE },
        { "INUSE-space", INUSE_TYPE },
        { "alloc_objects", "" },
        { "inuse_objects", "" },
        { "goroutines", GOROUTINE_TYPE },
        { "mutex_count", MUTEX_TYPE },
        { "mutex_duration", MUTEX_TIME_TYPE },
        { "block_count", BLOCK_TYPE },
        { "block_duration", BLOCK_TIME_TYPE },
        { "wall", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK(querycatalog_is_short(slice_from(cases[i].word)));
        CHECK_TEXT(chosen(sample_go_types, ARRAY_LEN(sample_go_types), cases[i].word), cases[i].type);
    }
    CHECK(!querycatalog_is_short(SLICE("samples")));
    CHECK(!querycatalog_is_short(SLICE("")));
    CHECK(!querycatalog_is_short(SLICE("cpu2")));
}

TEST(querycatalog_takes_a_sample_type_that_is_present_as_a_word)
{
    static const struct querycatalog_type types[] = {
        { SLICE(WALL_TYPE), 1 },
        { SLICE("wall:samples:count::"), 9 },
        { SLICE("lock:mutex_count:count::"), 1 },
        { SLICE(MUTEX_TYPE), 9 },
    };

    CHECK_TEXT(chosen(sample_java_types, ARRAY_LEN(sample_java_types), "live_objects"), ODD_TYPE);
    CHECK_TEXT(chosen(sample_java_types, ARRAY_LEN(sample_java_types), "off_cpu"), OFF_CPU_TYPE);
    CHECK_TEXT(chosen(sample_java_types, ARRAY_LEN(sample_java_types), "odd"), "");
    CHECK_TEXT(chosen(types, 4, "wall"), WALL_TYPE); /* a type of that very name comes first */
    CHECK_TEXT(chosen(types + 1, 3, "wall"), "wall:samples:count::");
    CHECK_TEXT(chosen(types, 4, "mutex_count"), "lock:mutex_count:count::");
}

TEST(querycatalog_takes_the_most_common_of_types_that_fit_equally)
{
    static const struct querycatalog_type equal[] = { { SLICE("b:x:count::"), 2 },
                                                      { SLICE("c:x:count::"), 2 },
                                                      { SLICE("a:x:count::"), 1 } };
    struct querycatalog_choice choice =
        querycatalog_choose_short(sample_go_types, ARRAY_LEN(sample_go_types), SLICE("contentions"));

    CHECK_TEXT(choice.type->profile_type, BLOCK_TYPE);
    CHECK_EQ(choice.n_equal, 2);
    choice = querycatalog_choose_short(equal, ARRAY_LEN(equal), SLICE("x"));
    CHECK_TEXT(choice.type->profile_type, "b:x:count::");
    CHECK_EQ(choice.n_equal, 3);
    choice = querycatalog_choose_common(sample_go_types, ARRAY_LEN(sample_go_types));
    CHECK_TEXT(choice.type->profile_type, ALLOC_TYPE);
    CHECK(querycatalog_choose_common(NULL, 0).type == NULL);
    CHECK_EQ(querycatalog_choose_common(NULL, 0).n_equal, 0);
}

TEST(querycatalog_finds_services_by_their_exact_names)
{
    CHECK(querycatalog_find(&sample_catalog, SLICE("search")) == &sample_services[1]);
    CHECK(querycatalog_find(&sample_catalog, SLICE("search.wall")) == &sample_services[2]);
    CHECK(querycatalog_find(&sample_catalog, SLICE("Search")) == NULL);
    CHECK(querycatalog_find(&sample_catalog, SLICE("")) == NULL);
    CHECK(querycatalog_find(&(struct querycatalog){ 0 }, SLICE("search")) == NULL);
}

TEST(querycatalog_adds_up_the_types_of_several_services)
{
    static const bool is_chosen[] = { false, true, true, false };
    struct querycatalog_service joined = { 0 };
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(querycatalog_join(&sample_catalog, is_chosen, &arena, &joined, &err), &err);
    CHECK_EQ(joined.n_types, 3);
    CHECK_TEXT(joined.types[0].profile_type, ODD_TYPE);
    CHECK_TEXT(joined.types[1].profile_type, OFF_CPU_TYPE);
    CHECK_TEXT(joined.types[2].profile_type, WALL_TYPE);
    CHECK_EQ(joined.types[2].n_series, 3);
    CHECK_OK(querycatalog_join(&sample_catalog, NULL, &arena, &joined, &err), &err);
    CHECK_EQ(joined.n_types, ARRAY_LEN(sample_go_types) + 3);
    CHECK_OK(querycatalog_join(&(struct querycatalog){ 0 }, NULL, &arena, &joined, &err), &err);
    CHECK_EQ(joined.n_types, 0);
    arena_done(&arena);
}

TEST(querycatalog_names_what_is_near_or_else_what_there_is)
{
    static const struct querycatalog_service many[] = {
        { SLICE("shop-api"), NULL, 0 },  { SLICE("shop-apj"), NULL, 0 }, { SLICE("shop-apk"), NULL, 0 },
        { SLICE("shop-apis"), NULL, 0 }, { SLICE("zebra"), NULL, 0 },
    };
    const struct querycatalog catalog = { many, ARRAY_LEN(many) };

    CHECK_TEXT(querycatalog_nearest(&sample_catalog, SLICE("order-servce")).text, "nearest: 'order-service'");
    CHECK_TEXT(querycatalog_nearest(&catalog, SLICE("shop-apis2")).text, "nearest: 'shop-apis', 'shop-api'");
    CHECK_TEXT(querycatalog_nearest(&catalog, SLICE("shop-apl")).text, "nearest: 'shop-api', 'shop-apj', 'shop-apk'");
    CHECK_TEXT(querycatalog_nearest(&catalog, SLICE("nothing like it")).text,
               "there are 'shop-api', 'shop-apj', 'shop-apk' and 2 more");
    CHECK_TEXT(querycatalog_nearest(&(struct querycatalog){ 0 }, SLICE("x")).text, "");
    CHECK_TEXT(querycatalog_sample_types(sample_java_types, 3).text, "wall, off_cpu, Live-Objects");
    CHECK_TEXT(querycatalog_sample_types(sample_go_types, ARRAY_LEN(sample_go_types)).text,
               "alloc_space, inuse_space, contentions, delay, contentions and 4 more");
}

TEST(querycatalog_cuts_long_names_in_texts)
{
    char name[600];
    const struct querycatalog_service service = { slice_of(name, sizeof(name)), NULL, 0 };

    memset(name, 'x', sizeof(name));
    CHECK_TEXT(querycatalog_nearest(&(struct querycatalog){ &service, 1 }, SLICE("y")).text,
               "there are 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'");
}
