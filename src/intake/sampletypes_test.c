// SPDX-License-Identifier: Apache-2.0
#include "intake/sampletypes.h"

#include "store/store_sample_test.h"

static const char config[] = "{\"alloc_objects\": {\"units\": \"objects\", \"cumulative\": true, \"sampled\": null},"
                             " \"x\": {\"display-name\": \"block_x\", \"aggregation\": \"sum\"}, \"y\": 7}";

TEST(sampletypes_reads_what_clients_say)
{
    struct sampletypes types;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(sampletypes_parse(slice_from(config), &arena, &types, &err), &err);
    CHECK(types.is_given);
    CHECK(sampletypes_find(&types, SLICE("alloc_objects"))->is_cumulative);
    CHECK_TEXT(sampletypes_find(&types, SLICE("x"))->display_name, "block_x");
    CHECK(!sampletypes_find(&types, SLICE("y")));
    CHECK_OK(sampletypes_parse(SLICE(" "), &arena, &types, &err), &err);
    CHECK(!types.is_given);
    CHECK_ERROR(sampletypes_parse(SLICE("{\"a\":"), &arena, &types, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "sample_type_config: line 1");
    arena_done(&arena);
}

static const char *metric(const char *json, const char *sample_types)
{
    static char out[64];
    struct store_sample_profile wanted = { .types = sample_types };
    struct sampletypes types;
    struct batch batch;
    struct error err;

    store_sample_batch(&wanted, 1, &batch);
    CHECK_OK(sampletypes_parse(slice_from(json), &batch.arena, &types, &err), &err);
    snprintf(out, sizeof(out), "%.*s", SLICE_ARG(sampletypes_metric(&types, &batch.profiles[0])));
    batch_done(&batch);
    return out;
}

TEST(sampletypes_name_profiles_as_pyroscope_does)
{
    CHECK_TEXT(metric("", "samples/count cpu/nanoseconds"), "process_cpu");
    CHECK_TEXT(metric("", "samples/count wall/nanoseconds cpu/nanoseconds"), "wall");
    CHECK_TEXT(metric("", "alloc_objects/count inuse_space/bytes"), "memory");
    CHECK_TEXT(metric("", "objects/count space/bytes"), "memory");
    CHECK_TEXT(metric("", "goroutine/count"), "goroutines");
    CHECK_TEXT(metric("", "contentions/count delay/nanoseconds"), "mutex");
    CHECK_TEXT(metric("{\"contentions\":{\"display-name\":\"block_count\"}}", "contentions/count delay/nanoseconds"),
               "block");
    CHECK_TEXT(metric("{}", "goroutine/count"), "goroutine"); /* a config takes the place of the usual names */
    CHECK_TEXT(metric("", "exception/count other/count"), "other");
    CHECK_TEXT(metric("", ""), "");
}

static int parse_step(void *context, struct error *err)
{
    struct sampletypes types;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = sampletypes_parse(slice_from(context), &arena, &types, err);
    arena_done(&arena);
    return result;
}

TEST(sampletypes_survive_failing_allocations)
{
    test_each_allocation_failing(parse_step, (char *)"{\"a\\n\":{\"display-name\":\"\\t\"}}");
}
