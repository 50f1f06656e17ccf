// SPDX-License-Identifier: Apache-2.0
/* Profiles that storm writes, and knows again: each is a function of who wrote it as how many-eth, and of nothing else,
 * so that a later process can say exactly what must be in the store.
 *
 * Writer `thread` makes writes 0, 1, 2 ...; a write is a batch of 1 to 8 profiles. Time passes with the number: write
 * `counter` is made at storm_profile_now(counter). Most windows lie near that moment; some are late, so that they fall
 * into hours that are closed, and those of a larger batch reach back over hours and midnights.
 *
 * The start of a window holds the name of its profile in its nanoseconds: that is how rows are told apart when they are
 * read back. */
#pragma once

#include "profile/profile.h"
#include "store/store.h"

#define STORM_MAX_THREADS    16u
#define STORM_MAX_PROFILES   8u /* of one write */
#define STORM_MAX_WEIGHT     40u
#define STORM_SHARDS         8u
#define STORM_MAX_LATE_NS    ((int64_t)4 * 3600 * CLOCK_NS_PER_SECOND)
#define STORM_BASE_NS        (INT64_C(1794266400) * 1000000000) /* 2026-11-09T23:20:00Z: midnight is near */
#define STORM_TENANT         STORE_TENANT_DEFAULT
#define STORM_TENANT_OTHER   "other" /* of odd threads */
#define STORM_SERVICE_LABEL  "service_name"
#define STORM_SHARD_LABEL    "shard"
#define STORM_ENDPOINT_LABEL "endpoint" /* of samples: splits a profile into series */

struct storm_id {
    uint32_t thread;
    uint32_t counter;
    uint32_t index; /* in the batch */
};

/* By what a store knows the profiles of a write again. Nameless ones are sent once: should that fail, they are there once
 * or not at all. */
enum storm_naming { STORM_OWN_IDS, STORM_UPLOAD_ID, STORM_NAMELESS };

/* What there is to compare of a profile. All fields are sums over its samples, so that it does not matter into how many
 * rows it was split or in which order they come. */
struct storm_print {
    uint64_t content; /* stacks with all their names, labels and links, each times its values */
    int64_t totals[2];
};

/* Time between two writes of a thread, and how large profiles are: up to 12 samples times `weight`. Set once, before
 * anything else. */
void storm_profile_set_up(int64_t step_ns, uint32_t weight);

int64_t storm_profile_now(uint32_t counter);
int64_t storm_profile_start(struct storm_id id);
/* The profile with that start; false if there is none. */
bool storm_profile_parse_start(int64_t start_ns, struct storm_id *ret_id);

/* Facts about a write and its profiles. */
uint32_t storm_profile_count(uint32_t thread, uint32_t counter);
enum storm_naming storm_profile_naming(uint32_t thread, uint32_t counter);
uint32_t storm_profile_shard(struct storm_id id); /* below STORM_SHARDS */
uint32_t storm_profile_service(struct storm_id id);
int64_t storm_profile_duration(struct storm_id id);
const char *storm_profile_tenant(uint32_t thread);
uint32_t storm_profile_rows(struct storm_id id); /* series it is split into */

/* Builds the batch of a write into `batch`, initialised and empty. Errors: ERR_MEMORY. */
MUST_CHECK int storm_profile_build(uint32_t thread, uint32_t counter, struct batch *batch, struct error *err);
struct storm_print storm_profile_print(struct storm_id id);

/* Adds a sample that was read back. `endpoint` is empty for none, `pid` and `row_pid` are 0 for none, `link` NULL. */
void storm_profile_add(struct storm_print *print, const struct tables *tables, uint32_t stack, struct slice endpoint,
                       int64_t pid, int64_t row_pid, const struct link *link, int64_t value, int64_t value_ns);
