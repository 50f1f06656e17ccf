// SPDX-License-Identifier: Apache-2.0
/* Counting what is in a store: what types, label-values and cardinality have in common. The numbers are those of
 * query/cardinality.h. */
#pragma once

#include "base/json.h"
#include "cli/storage.h"
#include "query/cardinality.h"

struct census_config {
    struct storage_config store;
    struct storage_range range;
    uint64_t query_bytes;
    int64_t timeout_ns; /* 0 = none */
};
#define CENSUS_OPTIONS_N 2
extern const struct option_spec census_options[CENSUS_OPTIONS_N];
/* The option groups of a command whose config struct has a census_config at `member`. */
#define CENSUS_GROUPS(config_struct, member)                                                                           \
    STORAGE_RANGE_GROUP(config_struct, member.range),                                                                  \
        { .title = "Limits",                                                                                           \
          .specs = census_options,                                                                                     \
          .n = CENSUS_OPTIONS_N,                                                                                       \
          .offset = offsetof(struct config_struct, member) },                                                          \
        STORAGE_URL_GROUP(config_struct, member.store)

/* Opens the store and counts the series that the selector chooses (may be NULL). Errors: ERR_USAGE naming the option, those of
 * storage_open_to_read and of cardinality_new; a deadline is that of --timeout. */
MUST_CHECK int census_take(struct command_context *context, const struct census_config *config, const char *selector,
                           const struct cardinality_options *options, struct cardinality **ret_cardinality,
                           struct error *err);

/* How many series have it, as a cell; "-" where labels of single profiles and samples alone do. */
struct census_count {
    char text[24];
};
struct census_count census_count(uint64_t n_series, bool is_column);

/* The member "types" of an open JSON object: an array of type and series, and of the first and last time if asked for. */
void census_json_types(const struct cardinality *found, bool has_times, struct json *json);
