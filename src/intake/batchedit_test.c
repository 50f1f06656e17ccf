// SPDX-License-Identifier: Apache-2.0
#include "intake/batchedit.h"

#include "store/store_sample_test.h"

static void make(struct batch *batch, const char *samples)
{
    struct store_sample_profile wanted = { .at = "15T10:00", .service = "api", .samples = samples };

    store_sample_batch(&wanted, 1, batch);
}

static void check(const struct batch *batch)
{
    struct error err;

    CHECK_OK(batch_check(batch, &err), &err);
}

TEST(batchedit_adds_strings)
{
    struct batch batch;
    struct error err;
    uint32_t first;

    make(&batch, "a 1 1");
    CHECK_OK(batchedit_add_strings(&batch, (struct slice[]){ SLICE("x"), SLICE("yz") }, 2, &first, &err), &err);
    CHECK_TEXT(tables_string(&batch.tables, first + 1), "yz");
    check(&batch);
    batch_done(&batch);
}

TEST(batchedit_derives_labels_of_the_sets_that_lack_them)
{
    struct batch batch;
    struct buffer out;
    struct error err;
    uint32_t *map;

    make(&batch, "a 1 1 {exe=redis;b=2} | b 1 1 {exe=redis;service=own} | c 1 1 {b=2} | d 1 1 {exe=#7}");
    CHECK_OK(batchedit_derive_label(&batch, SLICE("exe"), SLICE("service"), &map, &err), &err);
    buffer_init(&out, 0);
    for (uint32_t i = 0; i < 4; i++)
        store_sample_print_labels(&batch.tables, map[batch.profiles[0].label_sets[i]], &out);
    CHECK_TEXT(buffer_slice(&out), " {exe=redis;b=2;service=redis} {exe=redis;service=own} {b=2} {exe=#7}");
    check(&batch);
    CHECK_OK(batchedit_derive_label(&batch, SLICE("nobody"), SLICE("service"), &map, &err), &err);
    CHECK(!map);
    buffer_done(&out);
    batch_done(&batch);
}

TEST(batchedit_links_only_samples_without_a_link)
{
    struct link link = { .trace_id = { 9 } };
    struct batch batch;
    struct error err;

    make(&batch, "a 1 1 @0a-0b | b 1 1");
    CHECK_OK(batchedit_link_all(&batch, &batch.profiles[0], &link, &err), &err);
    CHECK_EQ(batch.tables.links[batch.profiles[0].links[0]].trace_id[0], 0x0a);
    CHECK_EQ(batch.tables.links[batch.profiles[0].links[1]].trace_id[0], 9);
    check(&batch);
    batch_done(&batch);
}

TEST(batchedit_drops_samples_without_values_and_negative_ones)
{
    struct batch batch;
    struct buffer out;

    make(&batch, "a 0 0 | b 1 0 {l=1} | c -1 5 | d 0 2 @0a-0b | e 0 0");
    CHECK_EQ(batchedit_drop_empty_samples(&batch.profiles[0]), 1);
    check(&batch);
    buffer_init(&out, 0);
    store_sample_print_sums(&batch, &out);
    CHECK_TEXT(buffer_slice(&out), "b 1 0\nd 0 2\n");
    CHECK_EQ(profile_label_set(&batch.profiles[0], 0) != 0, true);
    CHECK_EQ(profile_link(&batch.profiles[0], 1) != 0, true);
    buffer_done(&out);
    batch_done(&batch);
}

TEST(batchedit_drops_profiles_without_samples)
{
    struct batch batch;

    store_sample_batch(
        (struct store_sample_profile[]){ { .samples = NULL }, { .samples = "a 1 1" }, { .samples = NULL } }, 3, &batch);
    batchedit_drop_empty_profiles(&batch);
    CHECK_EQ(batch.n_profiles, 1);
    CHECK_EQ(batch.profiles[0].n_samples, 1);
    batch_done(&batch);
}

TEST(batchedit_weighs_what_flows_and_not_what_is)
{
    struct batch batch;
    uint64_t counts[] = { 2, UINT64_MAX };

    make(&batch, "a 3 7 | b 9223372036854775807 1");
    batch.profiles[0].types[1].nature = VALUE_LEVEL;
    batch.profiles[0].counts = counts;
    batchedit_weigh(&batch.profiles[0], 4);
    CHECK_EQ(profile_values(&batch.profiles[0], 0)[0], 12);
    CHECK_EQ(profile_values(&batch.profiles[0], 0)[1], INT64_MAX);
    CHECK_EQ(profile_values(&batch.profiles[0], 1)[0], 7);
    CHECK_EQ(counts[0], 8);
    CHECK(counts[1] == UINT64_MAX);
    batch_done(&batch);
}
