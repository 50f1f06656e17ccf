// SPDX-License-Identifier: Apache-2.0
/* For tests of what works on days: a day of its own in the test's directory, and profiles easy to tell apart. */
#pragma once

#include "base/fs.h"
#include "base/test.h"
#include "block/storekey.h"
#include "profile/builder.h"
#include "store/commit.h"
#include "store/hour.h"

#include <stdio.h>

#define DAY_SAMPLE_NAME "2026-11-15"

struct day_sample {
    struct day_context context;
    struct day *day;
    char path[200], scratch[200], quarantine[200];
};

/* A profile with the types samples/count and cpu/nanoseconds: stack i is main;fI, for `n_stacks` of them beginning with
 * `first_stack`, with value 1 + i of the first type and 10 ms for each. */
struct day_sample_profile {
    const char *tenant;   /* NULL = default */
    const char *service;  /* NULL = "api" */
    const char *instance; /* another series of the same group */
    const char *pid;      /* a label of the row */
    const char *thread;   /* a label of every second sample */
    double hour;          /* when it starts */
    uint32_t first_stack, n_stacks;
    bool has_link;
    const char *id; /* NULL = none; else its first byte counts */
};

static inline uint32_t day_sample_max_series(void *store, struct slice tenant)
{
    (void)store;
    (void)tenant;
    return 1000;
}

static inline void day_sample_open(struct day_sample *sample)
{
    struct error err;

    snprintf(sample->path, sizeof(sample->path), "%s/profiles/" DAY_SAMPLE_NAME, test_directory());
    snprintf(sample->scratch, sizeof(sample->scratch), "%s/scratch", test_directory());
    snprintf(sample->quarantine, sizeof(sample->quarantine), "%s/quarantine", test_directory());
    CHECK_OK(fs_make_directories(sample->path, 0700, &err), &err);
    CHECK_OK(fs_make_directories(sample->scratch, 0700, &err), &err);
    CHECK_OK(
        day_open(&sample->context, sample->path, DAY_SAMPLE_NAME, KV_WRITE, sample->quarantine, &sample->day, &err),
        &err);
}

static inline void day_sample_init(struct day_sample *sample)
{
    struct error err;

    *sample = (struct day_sample){ .context = { .seed = 17,
                                                .hashes = { .max_bytes = 16 << 20 },
                                                .idcache_bytes = 1 << 20,
                                                .memtable_bytes = 4 << 20,
                                                .close_bytes = 32 << 20,
                                                .read_bytes = 32 << 20,
                                                .wal_sync = STORE_SYNC_OFF,
                                                .max_series = day_sample_max_series } };
    sample->context.scratch_dir = sample->scratch;
    CHECK_OK(kv_shared_new(4 << 20, &sample->context.kv, &err), &err);
    day_sample_open(sample);
}

static inline void day_sample_reopen(struct day_sample *sample)
{
    day_close(sample->day);
    day_sample_open(sample);
}

static inline void day_sample_done(struct day_sample *sample)
{
    day_close(sample->day);
    kv_shared_free(sample->context.kv);
}

static inline int64_t day_sample_time(double hour)
{
    int64_t start_ns;

    CHECK(day_parse_name(DAY_SAMPLE_NAME, &start_ns));
    return start_ns + (int64_t)(hour * 3600) * 1000000000;
}

static inline uint32_t day_sample_label(struct builder *builder, const char *key, const char *text)
{
    struct label label = { .key = builder_string(builder, slice_from(key)),
                           .text = builder_string(builder, slice_from(text)) };

    return text ? builder_label_set(builder, &label, 1) : 0;
}

static inline uint32_t day_sample_stack(struct builder *builder, uint32_t number)
{
    const char *names[] = { NULL, "main" };
    uint32_t frames[2];
    char leaf[32];

    snprintf(leaf, sizeof(leaf), "f%u", number);
    names[0] = leaf;
    for (unsigned i = 0; i < 2; i++) {
        struct function function = { .name = builder_string(builder, slice_from(names[i])) };
        struct line line = { .function = builder_function(builder, &function), .line = 1 };
        struct frame frame = { .n_lines = 1 };

        frames[i] = builder_frame(builder, &frame, &line);
    }
    return builder_stack(builder, frames, 2);
}

static inline void day_sample_build(const struct day_sample_profile *wanted, struct batch *batch)
{
    struct builder_options options = { .seed = 17 };
    struct link link = { .trace_id = { 1 }, .span_id = { 2, (uint8_t)wanted->first_stack } };
    struct value_type types[2] = { { 0 } };
    struct builder *builder;
    struct profile *profile;
    uint32_t thread, link_id;
    struct label resource[2];
    struct error err;

    CHECK_OK(builder_new(&options, &builder, &err), &err);
    profile = builder_profile(builder);
    types[0] = (struct value_type){ .type = builder_string(builder, SLICE("samples")),
                                    .unit = builder_string(builder, SLICE("count")) };
    types[1] = (struct value_type){ .type = builder_string(builder, SLICE("cpu")),
                                    .unit = builder_string(builder, SLICE("nanoseconds")) };
    builder_type(builder, types[0]);
    builder_type(builder, types[1]);
    profile->period_type = types[1];
    profile->period = 10000000;
    profile->duration_ns = 10000000000;
    resource[0] =
        (struct label){ .key = builder_string(builder, SLICE("service.name")),
                        .text = builder_string(builder, slice_from(wanted->service ? wanted->service : "api")) };
    resource[1] = (struct label){ .key = builder_string(builder, SLICE("instance")),
                                  .text = builder_string(builder, slice_from(wanted->instance)) };
    profile->resource = builder_label_set(builder, resource, wanted->instance ? 2 : 1);
    profile->attributes = day_sample_label(builder, "pid", wanted->pid);
    thread = day_sample_label(builder, "thread", wanted->thread);
    link_id = wanted->has_link ? builder_link(builder, &link) : 0;
    for (uint32_t i = 0; i < wanted->n_stacks; i++) {
        int64_t values[] = { 1 + i, (1 + i) * 10000000 };

        builder_sample(builder, day_sample_stack(builder, wanted->first_stack + i), i % 2 ? thread : 0, link_id, values,
                       0);
    }
    CHECK_OK(builder_finish(builder, batch, &err), &err);
    builder_free(builder);
}

/* Writes the profile; whether it was new. */
static inline bool day_sample_write(struct day_sample *sample, const struct day_sample_profile *wanted)
{
    struct slice tenant = slice_from(wanted->tenant ? wanted->tenant : STORE_TENANT_DEFAULT);
    uint8_t id[16] = { 0 };
    struct content content;
    struct arena arena, scratch;
    struct commit commit;
    struct batch batch;
    struct error err;
    bool is_duplicate;

    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    batch_init(&batch, NULL);
    day_sample_build(wanted, &batch);
    CHECK_OK(content_hash(&batch.tables, sample->context.seed, true, &arena, &content, &err), &err);
    CHECK_OK(commit_init(&commit, sample->day, tenant, &batch.tables, &content, &arena, &scratch, &err), &err);
    id[0] = wanted->id ? (uint8_t)wanted->id[0] : 0;
    CHECK_OK(commit_add(&commit, &batch.profiles[0], day_sample_time(wanted->hour), wanted->id ? id : NULL, &err),
             &err);
    CHECK_OK(commit_finish(&commit, &err), &err);
    is_duplicate = commit.profiles.items[0].is_duplicate;
    commit_done(&commit);
    batch_done(&batch);
    arena_done(&arena);
    arena_done(&scratch);
    return !is_duplicate;
}

/* Closes all hours. */
static inline void day_sample_close_hours(struct day_sample *sample)
{
    struct error err;

    CHECK_OK(hour_close_due(sample->day, sample->day->start_ns + DAY_NS, &err), &err);
}

/* A day with two groups, two series in one of them, labels, links, two tenants: hour 7 closed twice, hour 9 open. */
static inline void day_sample_fill(struct day_sample *sample)
{
    static const char *const instances[] = { "one", "two" };

    for (unsigned i = 0; i < 120; i++)
        day_sample_write(sample, &(struct day_sample_profile){ .instance = instances[i % 2],
                                                               .hour = 7 + i / 120.0,
                                                               .first_stack = i % 7,
                                                               .n_stacks = 20,
                                                               .pid = i % 3 ? "12" : NULL,
                                                               .thread = "worker",
                                                               .has_link = i % 5 == 0 });
    for (unsigned i = 0; i < 5; i++) {
        day_sample_write(sample, &(struct day_sample_profile){ .service = "web", .hour = 7.5, .n_stacks = 3 });
        day_sample_write(sample, &(struct day_sample_profile){ .tenant = "other", .hour = 7.5, .n_stacks = 4 });
    }
    day_sample_close_hours(sample);
    day_sample_write(sample, &(struct day_sample_profile){ .instance = "one", .hour = 7.25, .n_stacks = 2 });
    day_sample_close_hours(sample);
    day_sample_write(sample, &(struct day_sample_profile){ .instance = "one", .hour = 9.5, .n_stacks = 9, .id = "x" });
    day_sample_write(sample, &(struct day_sample_profile){ .tenant = "other", .hour = 9.5, .n_stacks = 1 });
}
#define DAY_SAMPLE_ROWS    (120 + 10 + 1 + 2)
#define DAY_SAMPLE_SAMPLES (120 * 20 + 5 * 3 + 5 * 4 + 2 + 9 + 1)

/* Changes the database behind the day's back. */
static inline void day_sample_put(struct day_sample *sample, uint32_t family, struct slice key, struct slice value)
{
    struct kv_batch *batch;
    struct error err;

    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, sample->day->kv, family, key, value);
    CHECK_OK(kv_write(sample->day->kv, batch, false, &err), &err);
    kv_batch_free(batch);
}

static inline void day_sample_delete(struct day_sample *sample, uint32_t family, struct slice key)
{
    struct kv_batch *batch;
    struct error err;

    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_delete(batch, sample->day->kv, family, key);
    CHECK_OK(kv_write(sample->day->kv, batch, false, &err), &err);
    kv_batch_free(batch);
}

/* The first key and value with a prefix, appended; false if there is none. */
static inline bool day_sample_find(struct day_sample *sample, uint32_t family, struct slice prefix, struct buffer *key,
                                   struct buffer *value)
{
    struct kv_iterator *iterator;
    struct error err;
    bool is_found;

    CHECK_OK(kv_iterator_new(sample->day->kv, family, NULL, prefix, false, &iterator, &err), &err);
    is_found = kv_iterator_is_valid(iterator);
    if (is_found) {
        buffer_append_slice(key, kv_iterator_key(iterator));
        buffer_append_slice(value, kv_iterator_value(iterator));
    }
    kv_iterator_free(iterator);
    return is_found;
}
