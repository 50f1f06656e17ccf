// SPDX-License-Identifier: Apache-2.0
#include "store/sumcache.h"

#include "base/test.h"

static struct hash128 key_of(uint64_t number)
{
    return hash_fold((struct hash128){ 1, 1 }, number, 0);
}

static bool has(struct sumcache *cache, uint64_t number, const char *wanted)
{
    AUTO(arena_done) struct arena arena;
    struct slice value;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(sumcache_get(cache, key_of(number), &arena, &value, &err), &err);
    return wanted ? slice_equal(value, slice_from(wanted)) : value.len > 0;
}

TEST(sumcache_gives_what_was_put_under_the_key)
{
    struct sumcache *cache;
    struct error err;

    CHECK_OK(sumcache_new(1000, &cache, &err), &err);
    CHECK(!has(cache, 1, NULL));
    sumcache_put(cache, key_of(1), SLICE("one"));
    sumcache_put(cache, key_of(2), SLICE("two"));
    CHECK(has(cache, 1, "one"));
    CHECK(has(cache, 2, "two"));
    sumcache_put(cache, key_of(1), SLICE("the same by another thread"));
    CHECK(has(cache, 1, "one"));
    CHECK_EQ(sumcache_bytes(cache), 6);
    sumcache_free(cache);
}

TEST(sumcache_holds_no_more_than_it_may)
{
    char bytes[100] = { 1 };
    struct sumcache *cache;
    struct error err;
    unsigned n = 0;

    CHECK_OK(sumcache_new(1000, &cache, &err), &err);
    for (uint64_t i = 0; i < 100; i++) {
        sumcache_put(cache, key_of(i), slice_of(bytes, sizeof(bytes)));
        CHECK(sumcache_bytes(cache) <= 1000);
        CHECK(has(cache, i, NULL));
    }
    for (uint64_t i = 0; i < 100; i++)
        n += has(cache, i, NULL);
    CHECK_EQ(n, 10);
    sumcache_put(cache, key_of(200), slice_of(NULL, 0));
    CHECK_EQ(sumcache_bytes(cache), 1000);
    sumcache_free(cache);
    /* One that would push out most of the others is not taken. */
    CHECK_OK(sumcache_new(799, &cache, &err), &err);
    sumcache_put(cache, key_of(1), slice_of(bytes, sizeof(bytes)));
    CHECK_EQ(sumcache_bytes(cache), 0);
    sumcache_free(cache);
}

/* By age alone it would find nothing. */
TEST(sumcache_keeps_some_of_a_round_that_is_too_large)
{
    char bytes[10] = { 1 };
    struct sumcache *cache;
    struct error err;
    unsigned n_found = 0;

    CHECK_OK(sumcache_new(400, &cache, &err), &err);
    for (unsigned round = 0; round < 20; round++)
        for (uint64_t i = 0; i < 50; i++) {
            if (has(cache, i, NULL))
                n_found++;
            else
                sumcache_put(cache, key_of(i), slice_of(bytes, sizeof(bytes)));
        }
    CHECK(n_found > 200);
    sumcache_free(cache);
}

TEST(sumcache_forgets_everything_and_begins_another_generation)
{
    struct sumcache *cache;
    struct error err;
    uint64_t generation;

    CHECK_OK(sumcache_new(1000, &cache, &err), &err);
    generation = sumcache_generation(cache);
    sumcache_put(cache, key_of(1), SLICE("one"));
    sumcache_forget_all(cache);
    CHECK(!has(cache, 1, NULL));
    CHECK_EQ(sumcache_bytes(cache), 0);
    CHECK(sumcache_generation(cache) != generation);
    sumcache_free(cache);
}

TEST(sumcache_that_is_not_there_holds_nothing)
{
    sumcache_put(NULL, key_of(1), SLICE("one"));
    CHECK(!has(NULL, 1, NULL));
    sumcache_forget_all(NULL);
    CHECK_EQ(sumcache_generation(NULL) + sumcache_bytes(NULL), 0);
    sumcache_free(NULL);
}

static int put_and_get(void *context, struct error *err)
{
    struct sumcache *cache;
    struct slice value;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    if (sumcache_new(1000, &cache, err) < 0)
        return -1;
    sumcache_put(cache, key_of(1), SLICE("one"));
    result = sumcache_get(cache, key_of(1), &arena, &value, err);
    sumcache_free(cache);
    arena_done(&arena);
    return result;
}

/* Without memory nothing is taken, and that is no failure. */
TEST(sumcache_survives_failing_allocations)
{
    test_each_allocation_failing(put_and_get, NULL);
}
