// SPDX-License-Identifier: Apache-2.0
/* What there is to ask for: the services of a range of time with their profile types, as the caller found them in a
 * store: the values of service_name, those that only rows and samples have included (label/labelrules.h, N6). Plain
 * arrays, which the caller owns; nothing here is kept.
 *
 * C1  CPU is the sample type cpu in nanoseconds, else cpu in another unit, else itimer, else samples of a name with
 *     "cpu" in it that is no off-CPU time.
 * C2  A short type is a word for a profile type:
 *       cpu                                                       C1
 *       itimer                                                    itimer, else C1: Pyroscope stores it as cpu
 *       alloc_space, inuse_space, alloc_objects, inuse_objects    the sample type of that name
 *       goroutines                                                goroutines, else goroutine
 *       mutex_count, mutex_duration, block_count, block_duration  contentions or delay of a name with mutex or block in
 *                                                                 it, unless there is a sample type of that very name
 *       wall                                                      wall, else samples of a name with wall in it
 *     and any sample type that is present is a word for itself. Dashes and underscores are equal, and so are letters of
 *     either case.
 * C3  Where several types fit equally, the one with the most series is meant; of those, the first in bytewise order. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/slice.h"

struct querycatalog_type {
    struct slice profile_type; /* "process_cpu:cpu:nanoseconds:cpu:nanoseconds" */
    uint64_t n_series;
};

struct querycatalog_service {
    struct slice name;
    const struct querycatalog_type *types; /* in any order, each once */
    uint32_t n_types;
};

struct querycatalog {
    const struct querycatalog_service *services; /* in any order, each once */
    uint32_t n_services;
    bool is_of_all_time; /* not of a range: for errors; querycatalog_load says so where the query has no bounds */
};

/* The services that match, of the days that the range touches, each with the types of its series, all in order of their names. Where series do not know
 * their service (other_services), their rows in the range are asked. All of it from `arena`. Errors: ERR_MEMORY, ERR_LIMIT,
 * those of store_each_series and store_scan. */
struct store;
struct store_query;
MUST_CHECK int querycatalog_load(struct store *store, const struct store_query *query, struct arena *arena,
                                 struct querycatalog *ret_catalog, struct error *err);

/* Whether values of this type are CPU time or samples of it, by C1. Thread: any, as for all of these. */
bool querycatalog_is_cpu(struct slice profile_type);

/* The service of that exact name, or NULL. */
const struct querycatalog_service *querycatalog_find(const struct querycatalog *catalog, struct slice name);

/* A type that was chosen of several. */
struct querycatalog_choice {
    const struct querycatalog_type *type; /* NULL if none fits */
    uint32_t n_equal;                     /* as many fit equally, this one included; see C3 */
};
/* The CPU type of `types`, or no type. */
struct querycatalog_choice querycatalog_choose_cpu(const struct querycatalog_type *types, uint32_t n_types);
/* The most common one. */
struct querycatalog_choice querycatalog_choose_common(const struct querycatalog_type *types, uint32_t n_types);
/* The one meant by a short type (C2). */
struct querycatalog_choice querycatalog_choose_short(const struct querycatalog_type *types, uint32_t n_types,
                                                     struct slice word);
/* Whether the word is in the list of C2, whatever is present. */
bool querycatalog_is_short(struct slice word);

/* The types of the services for which `is_chosen` (NULL = of all), each once with its series added up, in bytewise order,
 * from `arena`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int querycatalog_join(const struct querycatalog *catalog, const bool *is_chosen, struct arena *arena,
                                 struct querycatalog_service *ret_joined, struct error *err);

/* Short texts for errors, by value. */
struct querycatalog_text {
    char text[160];
};
/* "nearest: 'a', 'b'", or, where no name of a service is near, "there are 'a', 'b' and 3 more". */
struct querycatalog_text querycatalog_nearest(const struct querycatalog *catalog, struct slice typed);
/* The sample types: "cpu, wall and 2 more". */
struct querycatalog_text querycatalog_sample_types(const struct querycatalog_type *types, uint32_t n_types);
