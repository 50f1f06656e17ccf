// SPDX-License-Identifier: Apache-2.0
#include "store/tenants.h"

#include "base/clock.h"
#include "store/day_sample_test.h"

static uint64_t used_bytes(struct day_sample *sample)
{
    return atomic_load(&sample->context.hashes.used_bytes);
}

static void write_for(struct day_sample *sample, unsigned number, uint32_t first_stack, uint32_t n_stacks)
{
    char name[32];

    snprintf(name, sizeof(name), "tenant-%u", number);
    day_sample_write(sample, &(struct day_sample_profile){
                                 .tenant = name, .hour = 7, .first_stack = first_stack, .n_stacks = n_stacks });
}

static const struct tenant *find(struct day_sample *sample, unsigned number)
{
    char name[32];

    snprintf(name, sizeof(name), "tenant-%u", number);
    return tenants_find(&sample->day->tenants, slice_from(name))->loaded;
}

static size_t count_loaded(struct day_sample *sample)
{
    size_t n = 0;

    for (size_t i = 0; i < sample->day->tenants.n; i++)
        n += sample->day->tenants.items[i].loaded != NULL;
    return n;
}

TEST(tenants_are_found_by_name)
{
    struct tenants tenants;
    struct error err;
    char name[32];

    tenants_init(&tenants, 17);
    CHECK(!tenants_find(&tenants, SLICE("a")));
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "t%u", i);
        CHECK_OK(tenants_add(&tenants, 2 * i + 1, slice_from(name), &err), &err);
    }
    /* The first of a name is it. */
    CHECK_OK(tenants_add(&tenants, 20000, SLICE("t7"), &err), &err);
    CHECK_EQ(tenants.n, 5000);
    CHECK_EQ(tenants.next_id, 20001);
    CHECK_EQ(tenants_find(&tenants, SLICE("t7"))->id, 15);
    CHECK_EQ(tenants_find(&tenants, SLICE("t4999"))->id, 9999);
    CHECK_TEXT(tenants_find(&tenants, SLICE("t4999"))->name, "t4999");
    CHECK(!tenants_find(&tenants, SLICE("t5000")));
    tenants_done(&tenants);
}

TEST(tenants_are_forgotten_oldest_first_when_memory_is_used_up)
{
    struct day_sample sample;
    struct error err;
    uint64_t most = 0;

    day_sample_init(&sample);
    sample.context.hashes.max_bytes = 256 << 10;
    for (unsigned i = 0; i < 200; i++) {
        write_for(&sample, i, i, 20);
        most = MAX(most, used_bytes(&sample));
    }
    CHECK(most <= (256 << 10) + (16 << 10));
    CHECK(most > 200 << 10);
    CHECK(count_loaded(&sample) < 100);
    CHECK(find(&sample, 199) && !find(&sample, 0));
    /* Known again, with all that it had: nothing gets a second id. */
    write_for(&sample, 0, 0, 20);
    CHECK_EQ(find(&sample, 0)->dictionary.next_ids[CHUNK_STACK], 21);
    CHECK_EQ(find(&sample, 0)->next_series, 2);
    CHECK_EQ(find(&sample, 0)->series.n, 1);
    CHECK_EQ(sample.day->tenants.n, 200);
    day_sample_close_hours(&sample);
    CHECK_EQ(sample.day->markers.items[0].n_rows, 201);
    day_sample_reopen(&sample);
    CHECK_EQ(sample.day->tenants.n, 200);
    CHECK_EQ(used_bytes(&sample), 0);
    CHECK_OK(day_sync(sample.day, &err), &err);
    day_sample_done(&sample);
}

TEST(tenants_of_which_something_is_on_its_way_stay)
{
    struct day_sample sample;
    struct tenants *tenants;
    struct tenant *tenant;

    day_sample_init(&sample);
    write_for(&sample, 1, 0, 5);
    tenants = &sample.day->tenants;
    tenant = tenants->newest;
    tenants_unload_idle(tenants, INT64_MAX, tenant->last_group - 1);
    CHECK_EQ(count_loaded(&sample), 1);
    tenant->dictionary.has_pending = true;
    tenants_note_write(tenants, tenant, tenant->last_group);
    CHECK(tenant->is_waiting);
    tenants_unload_idle(tenants, INT64_MAX, tenant->last_group);
    CHECK_EQ(count_loaded(&sample), 1);
    tenant->dictionary.has_pending = false;
    write_for(&sample, 1, 0, 5);
    CHECK(!tenant->is_waiting);
    day_unload_idle(sample.day, INT64_MAX);
    CHECK_EQ(count_loaded(&sample), 0);
    CHECK_EQ(used_bytes(&sample), 0);
    day_sample_done(&sample);
}

TEST(tenants_of_a_salvaged_day_leave_ids_out_once_however_often_they_are_loaded)
{
    struct day_sample sample;
    uint32_t next_id;

    day_sample_init(&sample);
    sample.day->ids_from = 1000;
    write_for(&sample, 1, 0, 5);
    next_id = find(&sample, 1)->dictionary.next_ids[CHUNK_STACK];
    CHECK_EQ(next_id, 1005);
    day_unload_idle(sample.day, INT64_MAX);
    CHECK_EQ(count_loaded(&sample), 0);
    write_for(&sample, 1, 0, 5);
    CHECK_EQ(find(&sample, 1)->dictionary.next_ids[CHUNK_STACK], next_id);
    day_sample_done(&sample);
}

TEST(tenants_in_use_are_not_forgotten_for_a_large_one)
{
    struct day_sample sample;
    uint32_t generation;

    clock_fake_set(INT64_C(1794700800) * 1000000000);
    day_sample_init(&sample);
    sample.context.hashes.max_bytes = 1 << 20;
    for (unsigned i = 0; i < 10; i++)
        write_for(&sample, i, 0, 20);
    generation = 1;
    for (uint32_t i = 0; i < 40; i++)
        write_for(&sample, 99, 1000 * i, 1000);
    /* It began anew instead. */
    CHECK(find(&sample, 99)->dictionary.generation > generation);
    CHECK_EQ(count_loaded(&sample), 11);
    CHECK(used_bytes(&sample) <= 1 << 20);
    /* Later nobody uses them. */
    clock_fake_advance(20 * CLOCK_NS_PER_SECOND);
    for (uint32_t i = 0; i < 40; i++)
        write_for(&sample, 99, 100000 + 1000 * i, 1000);
    CHECK(count_loaded(&sample) < 11);
    day_sample_done(&sample);
}

static int add_some(void *context, struct error *err)
{
    struct tenants tenants;
    struct tenant *tenant;
    int result = 0;

    (void)context;
    tenants_init(&tenants, 17);
    for (uint32_t i = 1; i <= 40 && !result; i++) {
        char name[32];

        snprintf(name, sizeof(name), "t%u", i);
        result = tenants_add(&tenants, i, slice_from(name), err);
        CHECK_EQ(tenants.n, tenants.names.n);
    }
    if (!result) {
        tenant = tenants_load(&tenants, tenants_find(&tenants, SLICE("t3")), err);
        result = tenant ? 0 : -1;
    }
    tenants_done(&tenants);
    return result;
}

TEST(tenants_survive_every_failing_allocation)
{
    test_each_allocation_failing(add_some, NULL);
}
