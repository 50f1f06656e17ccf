// SPDX-License-Identifier: Apache-2.0
#include "store/dictionary.h"

#include "kv/kv_fixture_test.h"
#include "store/day_sample_test.h"
#include "store/names.h"

enum { SEED = 17, TENANT = 3, MANY = 5000 };

/* A dictionary over a database of its own, and tables to give ids to. */
struct fixture {
    struct kv_shared *shared;
    struct kv *kv;
    struct dictionary_share share;
    struct idcache cache;
    struct dictionary dictionary;
    struct batch batch; /* MANY stacks */
    struct content content;
    uint32_t *frame_memo; /* for one write */
    struct arena arena;
    uint32_t ids[MANY];
};

static void open_dictionary(struct fixture *fixture, uint32_t skip_ids)
{
    struct error err;

    CHECK_OK(dictionary_init(&fixture->dictionary, fixture->kv, TENANT, SEED, &fixture->share, &fixture->cache,
                             skip_ids, &err),
             &err);
}

static struct fixture *begin(size_t cache_bytes, uint64_t share_bytes)
{
    static struct fixture fixture;
    struct error err;

    fixture = (struct fixture){ .share = { .max_bytes = share_bytes } };
    arena_init(&fixture.arena, 0);
    batch_init(&fixture.batch, NULL);
    day_sample_build(&(struct day_sample_profile){ .n_stacks = MANY }, &fixture.batch);
    CHECK_OK(content_hash(&fixture.batch.tables, SEED, true, &fixture.arena, &fixture.content, &err), &err);
    fixture.frame_memo = ARENA_ARRAY(&fixture.arena, uint32_t, fixture.batch.tables.n_frames, &err);
    CHECK(fixture.frame_memo);
    fixture.shared = kv_fixture_shared();
    fixture.kv = kv_fixture_open(fixture.shared, "day", KV_WRITE);
    CHECK_OK(idcache_init(&fixture.cache, cache_bytes, &err), &err);
    open_dictionary(&fixture, 0);
    return &fixture;
}

static void reopen(struct fixture *fixture, uint32_t skip_ids)
{
    struct error err;

    dictionary_done(&fixture->dictionary);
    idcache_done(&fixture->cache);
    CHECK_OK(idcache_init(&fixture->cache, 1 << 20, &err), &err);
    open_dictionary(fixture, skip_ids);
}

static void end(struct fixture *fixture)
{
    dictionary_done(&fixture->dictionary);
    CHECK_EQ(atomic_load(&fixture->share.used_bytes), 0);
    CHECK_EQ(atomic_load(&fixture->share.n), 0);
    idcache_done(&fixture->cache);
    kv_close(fixture->kv);
    kv_shared_free(fixture->shared);
    batch_done(&fixture->batch);
    arena_done(&fixture->arena);
}

static uint32_t *empty_memo(struct fixture *fixture)
{
    return memset(fixture->frame_memo, 0, fixture->batch.tables.n_frames * sizeof(*fixture->frame_memo));
}

/* Ids for `n` stacks of the profile, from `first` on, without writing them down. */
static void give_ids(struct fixture *fixture, uint32_t first, uint32_t n)
{
    struct error err;

    CHECK_OK(dictionary_prepare(&fixture->dictionary, fixture->kv, &err), &err);
    CHECK_OK(dictionary_stacks(&fixture->dictionary, &fixture->batch.tables, &fixture->content,
                               fixture->batch.profiles[0].stacks + first, n, empty_memo(fixture), fixture->ids + first,
                               &err),
             &err);
}

static void write_down(struct fixture *fixture)
{
    AUTO(buffer_done) struct buffer scratch;
    struct kv_batch *batch;
    struct error err;

    buffer_init(&scratch, 0);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    CHECK_OK(dictionary_take(&fixture->dictionary, fixture->kv, batch, &scratch, &err), &err);
    CHECK(!fixture->dictionary.has_pending);
    CHECK_OK(kv_write(fixture->kv, batch, false, &err), &err);
    kv_batch_free(batch);
}

/* Checks that the stack at `place` of the profile is called by its name. */
static void check_name(struct fixture *fixture, uint32_t place)
{
    struct names *names;
    struct tables tables;
    struct arena arena;
    uint32_t n_missing, depth;
    const uint32_t *frames;
    char name[32];
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(names_new(fixture->kv, NULL, TENANT, &names, &err), &err);
    CHECK_OK(names_load(names, &fixture->ids[place], 1, NULL, 0, &arena, &tables, &n_missing, &err), &err);
    CHECK_EQ(n_missing, 0);
    frames = tables_stack(&tables, 1, &depth);
    CHECK_EQ(depth, 2);
    snprintf(name, sizeof(name), "f%u", place);
    CHECK_TEXT(
        tables_string(&tables, tables.functions[tables.lines[tables.frames[frames[0]].first_line].function].name),
        name);
    CHECK_TEXT(
        tables_string(&tables, tables.functions[tables.lines[tables.frames[frames[1]].first_line].function].name),
        "main");
    names_free(names);
    arena_done(&arena);
}

/* --- ids --- */

TEST(dictionary_gives_dense_ids_and_the_same_to_a_known_stack)
{
    struct fixture *fixture = begin(1 << 20, 1 << 20);
    uint32_t none = 0, id = 7;
    struct error err;

    give_ids(fixture, 0, 10);
    for (uint32_t i = 0; i < 10; i++)
        CHECK_EQ(fixture->ids[i], i + 1);
    CHECK(fixture->dictionary.has_pending);
    write_down(fixture);
    give_ids(fixture, 5, 10);
    CHECK_EQ(fixture->ids[5], 6);
    CHECK_EQ(fixture->ids[14], 15);
    CHECK_OK(dictionary_stacks(&fixture->dictionary, &fixture->batch.tables, &fixture->content, &none, 1,
                               empty_memo(fixture), &id, &err),
             &err);
    CHECK_EQ(id, 0);
    /* main and f0 to f14, each once */
    CHECK_EQ(fixture->dictionary.next_ids[CHUNK_FUNCTION], 17);
    CHECK_EQ(fixture->dictionary.next_ids[CHUNK_FRAME], 17);
    write_down(fixture);
    give_ids(fixture, 0, 15);
    CHECK(!fixture->dictionary.has_pending);
    check_name(fixture, 3);
    check_name(fixture, 14);
    end(fixture);
}

TEST(dictionary_knows_its_stacks_after_it_was_opened_again)
{
    struct fixture *fixture = begin(1 << 20, 1 << 20);

    give_ids(fixture, 0, 10);
    write_down(fixture);
    give_ids(fixture, 10, 10);
    write_down(fixture);
    reopen(fixture, 0);
    CHECK_EQ(fixture->dictionary.next_ids[CHUNK_STACK], 21);
    memset(fixture->ids, 0, sizeof(fixture->ids));
    give_ids(fixture, 0, 21);
    for (uint32_t i = 0; i < 21; i++)
        CHECK_EQ(fixture->ids[i], i + 1);
    CHECK_EQ(fixture->dictionary.generation, 1);
    write_down(fixture);
    check_name(fixture, 20);
    check_name(fixture, 0);
    end(fixture);
}

TEST(dictionary_forgets_idle_hashes_and_loads_them_again)
{
    struct fixture *fixture = begin(1 << 20, 1 << 20);

    give_ids(fixture, 0, 100);
    write_down(fixture);
    CHECK(atomic_load(&fixture->share.used_bytes) > 0);
    CHECK_EQ(atomic_load(&fixture->share.n), 1);
    dictionary_unload(&fixture->dictionary);
    CHECK_EQ(atomic_load(&fixture->share.used_bytes), 0);
    CHECK_EQ(atomic_load(&fixture->share.n), 0);
    give_ids(fixture, 0, 100);
    CHECK(!fixture->dictionary.has_pending);
    CHECK_EQ(fixture->ids[99], 100);
    end(fixture);
}

TEST(dictionary_of_another_tenant_begins_at_one)
{
    struct fixture *fixture = begin(1 << 20, 1 << 20);
    struct dictionary other;
    uint32_t id;
    struct error err;

    give_ids(fixture, 0, 10);
    write_down(fixture);
    CHECK_OK(dictionary_init(&other, fixture->kv, TENANT + 1, SEED, &fixture->share, &fixture->cache, 0, &err), &err);
    CHECK_OK(dictionary_prepare(&other, fixture->kv, &err), &err);
    CHECK_EQ(atomic_load(&fixture->share.n), 2);
    CHECK_OK(dictionary_stacks(&other, &fixture->batch.tables, &fixture->content, fixture->batch.profiles[0].stacks + 9,
                               1, empty_memo(fixture), &id, &err),
             &err);
    CHECK_EQ(id, 1);
    CHECK_EQ(other.next_ids[CHUNK_FUNCTION], 3);
    dictionary_done(&other);
    end(fixture);
}

/* --- little memory --- */

TEST(dictionary_writes_again_what_a_small_cache_forgot)
{
    struct fixture *fixture = begin(1, 1 << 20);

    for (uint32_t i = 0; i < 100; i += 10) {
        give_ids(fixture, i, 10);
        write_down(fixture);
    }
    /* Stacks are never forgotten; main was by the next write. */
    CHECK_EQ(fixture->dictionary.next_ids[CHUNK_STACK], 101);
    CHECK_EQ(fixture->dictionary.next_ids[CHUNK_STRING], 1 + 100 + 10);
    CHECK_EQ(fixture->dictionary.next_ids[CHUNK_FRAME], 1 + 100 + 10);
    for (uint32_t i = 0; i < 100; i += 11)
        check_name(fixture, i);
    end(fixture);
}

TEST(dictionary_begins_a_generation_when_its_share_is_used_up)
{
    struct fixture *fixture = begin(1 << 20, 64 << 10);
    struct hash128 hashes[2];
    struct names *names;
    uint32_t first, n_missing, ids[2];
    struct error err;

    give_ids(fixture, 0, 10);
    first = fixture->ids[0];
    for (uint32_t i = 0; i < MANY; i += 100) {
        give_ids(fixture, i, 100);
        write_down(fixture);
    }
    CHECK(fixture->dictionary.generation > 4096);
    CHECK(fixture->dictionary.stacks.n <= 4096 + 100);
    /* The first ones were forgotten, and get ids that nobody has. */
    give_ids(fixture, 0, 1);
    CHECK(fixture->ids[0] > MANY);
    write_down(fixture);
    check_name(fixture, 0);
    /* Whoever reads joins them by content. */
    ids[0] = first;
    ids[1] = fixture->ids[0];
    CHECK_OK(names_new(fixture->kv, NULL, TENANT, &names, &err), &err);
    CHECK_OK(names_stack_hashes(names, ids, 2, hashes, &n_missing, &err), &err);
    CHECK_EQ(n_missing, 0);
    CHECK(hash_equal(hashes[0], hashes[1]));
    names_free(names);
    end(fixture);
}

TEST(dictionary_goes_on_with_its_generation_after_it_was_opened_again)
{
    struct fixture *fixture = begin(1 << 20, 64 << 10);
    uint32_t generation, id;

    for (uint32_t i = 0; i < MANY; i += 100) {
        give_ids(fixture, i, 100);
        write_down(fixture);
    }
    generation = fixture->dictionary.generation;
    id = fixture->ids[MANY - 1];
    reopen(fixture, 0);
    CHECK_EQ(fixture->dictionary.generation, generation);
    give_ids(fixture, MANY - 1, 1);
    CHECK_EQ(fixture->ids[MANY - 1], id);
    CHECK(!fixture->dictionary.has_pending);
    end(fixture);
}

/* --- damage --- */

static void remove_chunk(struct fixture *fixture, uint32_t first)
{
    struct storekey key = storekey_chunk(TENANT, CHUNK_STACK, first);
    struct kv_batch *batch;
    struct error err;

    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_delete(batch, fixture->kv, KV_DEFAULT, storekey_slice(&key));
    CHECK_OK(kv_write(fixture->kv, batch, false, &err), &err);
    kv_batch_free(batch);
}

TEST(dictionary_begins_a_generation_behind_a_gap)
{
    struct fixture *fixture = begin(1 << 20, 1 << 20);

    for (uint32_t i = 0; i < 30; i += 10) {
        give_ids(fixture, i, 10);
        write_down(fixture);
    }
    remove_chunk(fixture, 11);
    reopen(fixture, 0);
    give_ids(fixture, 0, 30);
    CHECK_EQ(fixture->dictionary.generation, 31);
    for (uint32_t i = 0; i < 30; i++)
        CHECK_EQ(fixture->ids[i], 31 + i);
    write_down(fixture);
    check_name(fixture, 15);
    reopen(fixture, 0);
    CHECK_EQ(fixture->dictionary.generation, 31);
    give_ids(fixture, 0, 30);
    CHECK_EQ(fixture->ids[29], 60);
    end(fixture);
}

TEST(dictionary_leaves_ids_out_after_a_salvage)
{
    struct fixture *fixture = begin(1 << 20, 1 << 20);

    give_ids(fixture, 0, 10);
    write_down(fixture);
    reopen(fixture, 1000);
    for (unsigned kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++)
        CHECK_EQ(fixture->dictionary.next_ids[kind], 1000);
    /* Ids of rows that are lost are given to nobody, and known stacks are not trusted either. */
    give_ids(fixture, 0, 10);
    CHECK_EQ(fixture->ids[0], 1000);
    write_down(fixture);
    check_name(fixture, 0);
    /* That is once: what was given since is known, and nothing more is left out. */
    reopen(fixture, 1000);
    CHECK_EQ(fixture->dictionary.next_ids[CHUNK_STACK], 1010);
    give_ids(fixture, 0, 10);
    CHECK_EQ(fixture->ids[0], 1000);
    end(fixture);
}

TEST(dictionary_refuses_a_damaged_end)
{
    struct fixture *fixture = begin(1 << 20, 1 << 20);
    struct storekey key = storekey_chunk(TENANT, CHUNK_STACK, 11);
    struct dictionary other;
    struct kv_batch *batch;
    struct error err;

    give_ids(fixture, 0, 10);
    write_down(fixture);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, fixture->kv, KV_DEFAULT, storekey_slice(&key), SLICE("\x01"));
    CHECK_OK(kv_write(fixture->kv, batch, false, &err), &err);
    kv_batch_free(batch);
    CHECK_ERROR(dictionary_init(&other, fixture->kv, TENANT, SEED, &fixture->share, &fixture->cache, 0, &err), &err,
                ERR_CORRUPT);
    CHECK_HAS(err.text, "the newest dictionary chunk of tenant 3");
    dictionary_done(&other);
    end(fixture);
}

/* --- label sets --- */

TEST(dictionary_gives_equal_label_sets_one_id)
{
    struct column_label number = { .name = SLICE("bytes"), .kind = LABEL_NUMBER, .number = 64, .unit = SLICE("By") };
    struct column_label text = { .name = SLICE("thread"), .text = SLICE("main") };
    struct column_label more = { .name = SLICE("bytes"), .kind = LABEL_NUMBER, .number = 65, .unit = SLICE("By") };
    struct column_label flag = { .name = SLICE("bytes"), .kind = LABEL_BOOL, .number = 64, .unit = SLICE("By") };
    struct column_label unit = { .name = SLICE("bytes"), .kind = LABEL_NUMBER, .number = 64 };
    struct column_label both[] = { number, text };
    const struct column_labels sets[] = { { &number, 1 }, { &text, 1 }, { &more, 1 },
                                          { &flag, 1 },   { &unit, 1 }, { both, 2 } };
    struct fixture *fixture = begin(1 << 20, 1 << 20);
    uint32_t id;
    struct error err;

    CHECK_OK(dictionary_prepare(&fixture->dictionary, fixture->kv, &err), &err);
    CHECK_OK(dictionary_label_set(&fixture->dictionary, &(struct column_labels){ 0 }, &id, &err), &err);
    CHECK_EQ(id, 0);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < ARRAY_LEN(sets); i++) {
            CHECK_OK(dictionary_label_set(&fixture->dictionary, &sets[i], &id, &err), &err);
            CHECK_EQ(id, i + 1);
        }
    write_down(fixture);
    end(fixture);
}

/* --- the cache --- */

/* Any number as a hash. */
static struct hash128 hash_of(uint32_t number)
{
    return (struct hash128){ hash_mix64(number), hash_mix64(~(uint64_t)number) | 1 };
}

TEST(idcache_grows_up_to_its_bound_and_forgets_little)
{
    const uint32_t max_bytes = 8 << 20, n = 100000;
    struct idcache cache;
    struct error err = { 0 };
    uint32_t first_sets, n_found = 0;

    CHECK_OK(idcache_init(&cache, max_bytes, &err), &err);
    first_sets = cache.n_sets;
    for (uint32_t i = 1; i <= n; i++)
        idcache_put(&cache, hash_of(i), i);
    CHECK(cache.n_sets > first_sets);
    CHECK(cache.n_sets < cache.max_sets);
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t id = idcache_find(&cache, hash_of(i));

        CHECK(id == 0 || id == i);
        n_found += id == i;
    }
    CHECK(n_found > n * 93ull / 100);
    for (uint32_t i = 1; i <= 10 * n; i++)
        idcache_put(&cache, hash_of(n + i), i);
    CHECK_EQ(cache.n_sets, cache.max_sets);
    CHECK((uint64_t)cache.n_sets * 4 * sizeof(*cache.slots) <= max_bytes);
    CHECK_EQ(idcache_find(&cache, hash_of(11 * n)), 10 * n);
    idcache_done(&cache);

    /* Without memory to grow it goes on as it is. */
    CHECK_OK(idcache_init(&cache, max_bytes, &err), &err);
    memory_fail_at(1);
    for (uint32_t i = 1; i <= n; i++)
        idcache_put(&cache, hash_of(n + i), i);
    memory_fail_at(0);
    CHECK_EQ(cache.n_sets, first_sets);
    CHECK_EQ(idcache_find(&cache, hash_of(2 * n)), n);
    idcache_done(&cache);
}

TEST(idcache_keeps_the_newest_of_a_set)
{
    struct idcache cache;
    struct error err;

    CHECK_OK(idcache_init(&cache, 0, &err), &err);
    CHECK_EQ(idcache_find(&cache, (struct hash128){ 1, 1 }), 0);
    for (uint32_t i = 1; i <= 5; i++)
        idcache_put(&cache, (struct hash128){ i, 1 }, i);
    CHECK_EQ(idcache_find(&cache, (struct hash128){ 1, 1 }), 0);
    for (uint32_t i = 2; i <= 5; i++)
        CHECK_EQ(idcache_find(&cache, (struct hash128){ i, 1 }), i);
    idcache_done(&cache);
}

static int give_some(void *context, struct error *err)
{
    struct fixture *fixture = context;
    struct column_label label = { .name = SLICE("a"), .text = SLICE("b") };
    AUTO(buffer_done) struct buffer scratch;
    struct dictionary dictionary;
    struct kv_batch *batch = NULL;
    struct idcache cache = { 0 };
    uint32_t ids[20], id;
    int result;

    buffer_init(&scratch, 0);
    result = idcache_init(&cache, 4096, err);
    if (result < 0)
        return -1;
    result = dictionary_init(&dictionary, fixture->kv, TENANT + 1, SEED, &fixture->share, &cache, 0, err);
    if (!result)
        result = dictionary_prepare(&dictionary, fixture->kv, err);
    if (!result)
        result = dictionary_stacks(&dictionary, &fixture->batch.tables, &fixture->content,
                                   fixture->batch.profiles[0].stacks, 20, empty_memo(fixture), ids, err);
    if (!result)
        result = dictionary_label_set(&dictionary, &(struct column_labels){ &label, 1 }, &id, err);
    if (!result)
        result = kv_batch_new(&batch, err);
    if (!result)
        result = dictionary_take(&dictionary, fixture->kv, batch, &scratch, err);
    kv_batch_free(batch);
    dictionary_done(&dictionary);
    idcache_done(&cache);
    return result;
}

TEST(dictionary_survives_every_failing_allocation)
{
    struct fixture *fixture = begin(1 << 20, 1 << 20);

    test_each_allocation_failing(give_some, fixture);
    end(fixture);
}
