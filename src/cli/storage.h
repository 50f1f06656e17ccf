// SPDX-License-Identifier: Apache-2.0
/* What the commands on a store have in common: the options that name it, how it is opened, and how ranges of time and
 * selectors are given.
 *
 * Commands that only look open the store read-only, which works beside a process that writes to it. Commands that
 * change something need it for themselves. */
#pragma once

#include "base/clock.h"
#include "cli/command.h"
#include "store/store.h"

/* --- which store --- */

struct storage_config {
    const char *data_dir;
    uint64_t memory_limit_bytes; /* 0 = chosen by the store */
    const char *url;             /* a server that is asked instead (remote.h) */
};
#define STORAGE_OPTIONS_N     2
#define STORAGE_ALL_OPTIONS_N 3
extern const struct option_spec storage_options[STORAGE_ALL_OPTIONS_N];
#define STORAGE_GROUP(config_struct, member)                                                                           \
    {                                                                                                                  \
        .title = "Store", .specs = storage_options, .n = STORAGE_OPTIONS_N,                                            \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* The same with --url, for commands that a server can run, too. */
#define STORAGE_URL_GROUP(config_struct, member)                                                                       \
    {                                                                                                                  \
        .title = "Store", .specs = storage_options, .n = STORAGE_ALL_OPTIONS_N,                                        \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* --- what it keeps --- */

#define STORAGE_TENANT_HELP                                                                                            \
    "Whose data this is: up to 150 letters, digits and any of !_.*'()-. Tenants do not see each other's data."
/* Errors: ERR_USAGE naming --tenant and what a name is made of. */
MUST_CHECK int storage_check_tenant(const char *tenant, struct error *err);

struct storage_keeping {
    const char *tenant;
    unsigned wal_sync;        /* enum store_wal_sync */
    int64_t retention_ns;     /* 0 = nothing is forgotten for its age */
    uint64_t retention_bytes; /* 0 = nothing is forgotten for its size */
    uint64_t min_free_bytes;  /* 0 = chosen by the store */
    int64_t max_age_ns;       /* 0 = the retention, or STORAGE_MAX_AGE_NS without one */
    int64_t max_ahead_ns;
    uint64_t max_series;
    uint64_t max_splits;
    uint64_t max_series_labels;
    uint64_t max_name_bytes;
    uint64_t max_value_bytes;
};
#define STORAGE_MAX_AGE_NS        (30 * 86400 * CLOCK_NS_PER_SECOND)
#define STORAGE_KEEPING_OPTIONS_N 12
extern const struct option_spec storage_keeping_options[STORAGE_KEEPING_OPTIONS_N];
#define STORAGE_KEEPING_GROUP(config_struct, member)                                                                   \
    {                                                                                                                  \
        .title = "Keeping", .specs = storage_keeping_options, .n = STORAGE_KEEPING_OPTIONS_N,                          \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* The same without --tenant, for a server, whose requests say whose they are. */
#define STORAGE_SERVER_GROUP(config_struct, member)                                                                    \
    {                                                                                                                  \
        .title = "Keeping", .specs = storage_keeping_options + 1, .n = STORAGE_KEEPING_OPTIONS_N - 1,                  \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* --- what of it --- */

#define STORAGE_TIME_HELP                                                                                              \
    "A time like 2026-11-15T10:00:00Z, a date (its midnight in UTC), seconds or milliseconds since 1970, now, "        \
    "now-1h, or a duration before now, like 2h."

struct storage_range {
    const char *tenant;
    const char *from, *until;
};
#define STORAGE_RANGE_OPTIONS_N 3
extern const struct option_spec storage_range_options[STORAGE_RANGE_OPTIONS_N];
#define STORAGE_RANGE_GROUP(config_struct, member)                                                                     \
    {                                                                                                                  \
        .title = "Selecting", .specs = storage_range_options, .n = STORAGE_RANGE_OPTIONS_N,                            \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* A query with the selector that it points to. */
struct storage_query {
    struct store_query query;
    struct selector *selector; /* NULL where none was given */
};
/* Reads range and selector; a NULL or empty `selector` selects everything, and a missing end of the range is open.
 * Errors: ERR_USAGE naming the option or the argument. */
MUST_CHECK int storage_query_init(struct storage_query *query, const struct storage_range *range, const char *selector,
                                  struct error *err);
void storage_query_done(struct storage_query *query);

/* Reads a time as base/timetext.h does. Errors: ERR_USAGE naming `option`. */
MUST_CHECK int storage_parse_time(const char *option, const char *text, int64_t now_ns, int64_t *ret_time_ns,
                                  struct error *err);

/* Reads both ends of a range as timetext_range does, either of which may be NULL: the last hour unless given. Errors: ERR_USAGE
 * naming --from or --until. */
MUST_CHECK int storage_parse_range(const char *from, const char *until, int64_t now_ns, int64_t *ret_from_ns,
                                   int64_t *ret_until_ns, struct error *err);

/* Lets the reading of lists end early when nobody waits for them; the context outlives the query. */
void storage_query_watch(struct storage_query *query, struct command_context *context);

/* --- opening --- */

/* Whether there is a store where --data-dir says: opening makes what is missing, and a wrong name must not. Errors:
 * ERR_NOT_FOUND, ERR_INVALID. */
MUST_CHECK int storage_check_is_there(const struct storage_config *config, struct error *err);
/* For looking. Errors: ERR_NOT_FOUND where there is no store, and those of store_open. */
MUST_CHECK int storage_open_to_read(const struct storage_config *config, struct store **ret_store, struct error *err);
/* For changing a store that is there; every change is synced. Errors: likewise, and ERR_BUSY saying who has it and what
 * can be done. */
MUST_CHECK int storage_open_to_change(const struct storage_config *config, struct store **ret_store, struct error *err);
/* What the two say, for a server that opens its store itself. Errors: ERR_USAGE for options that contradict each other. */
MUST_CHECK int storage_server_options(const struct storage_config *config, const struct storage_keeping *keeping,
                                      struct store_options *ret_options, struct error *err);
/* For writing profiles; makes the store if there is none. Errors: ERR_USAGE for options that contradict each other, and
 * as above. */
MUST_CHECK int storage_open_to_write(const struct storage_config *config, const struct storage_keeping *keeping,
                                     struct store **ret_store, struct error *err);

/* The store of a run: opened for it as the two above do, or lent by the server that runs the command. */
struct storage_use {
    struct store *store;
    bool is_lent;
};
MUST_CHECK int storage_use_to_read(struct command_context *context, const struct storage_config *config,
                                   struct storage_use *ret_use, struct error *err);
MUST_CHECK int storage_use_to_change(struct command_context *context, const struct storage_config *config,
                                     struct storage_use *ret_use, struct error *err);
/* Takes a zeroed one, too. */
void storage_use_end(struct storage_use *use);

/* --- listing --- */

/* What commands take that list what is in a store, and their option groups. */
struct storage_list_config {
    struct storage_config store;
    struct storage_range range;
    bool is_json;
};
#define STORAGE_LIST_OPTIONS_N 1
extern const struct option_spec storage_list_options[STORAGE_LIST_OPTIONS_N];
#define STORAGE_LIST_GROUPS                                                                                            \
    OPTION_GROUP("Options", storage_list_options), STORAGE_RANGE_GROUP(storage_list_config, range),                    \
        STORAGE_URL_GROUP(storage_list_config, store)

/* A list of texts: which, how it is called in JSON, and who knows it. */
struct storage_list {
    const char *key;
    const char *selector; /* may be NULL */
    int (*ask)(struct store *store, const struct store_query *query, struct arena *arena, struct store_texts *ret_texts,
               struct error *err);
};
/* The run of a command with a struct storage_list_config that lists texts: opens the store, asks, and prints them one
 * on a line or as JSON. */
MUST_CHECK int storage_list(struct command_context *context, const struct storage_list *list, struct error *err);

/* Argument `index` of the command, or NULL. */
const char *storage_argument(const struct command_context *context, size_t index);
