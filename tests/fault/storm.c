// SPDX-License-Identifier: Apache-2.0
/* Proves the store by using it: `storm write` writes and does everything else one can do to a store, until it is killed
 * or done; `storm check` reads all back and compares it with what was promised. See storm_run.h and storm_check.h, and
 * the scripts beside this file. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/options.h"
#include "tests/fault/storm_check.h"
#include "tests/fault/storm_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct arguments {
    struct storm_config config;
    uint64_t backup;
    struct option_list damaged;
    uint64_t min_percent;
    bool is_thorough;
    bool is_lossy;
};

static const char *const sync_words[] = { "always", "1s", "off", NULL };

static const struct option_spec specs[] = {
    { "seed", OPTION_UINT, FIELD(arguments, config.seed), "1", "Chooses what is done besides writing." },
    { "threads", OPTION_UINT, FIELD(arguments, config.threads), "1", "Writers.", .min = "1", .max = "16" },
    { "readers", OPTION_UINT, FIELD(arguments, config.readers), "0", "Readers.", .max = "16" },
    { "seconds", OPTION_DURATION, FIELD(arguments, config.duration_ns), "0", "Ends after this time." },
    { "writes", OPTION_UINT, FIELD(arguments, config.writes), "0", "Ends after so many writes of each writer." },
    { "days", OPTION_UINT, FIELD(arguments, config.days), "0", "Ends after so many simulated days." },
    { "step", OPTION_DURATION, FIELD(arguments, config.step_ns), "5s", "Simulated time between writes.", .min = "1s" },
    { "weight", OPTION_UINT, FIELD(arguments, config.weight), "1", "Size of profiles.", .min = "1", .max = "40" },
    { "retention", OPTION_DURATION, FIELD(arguments, config.retention_ns), "3d", "Simulated.", .min = "8h" },
    { "backups", OPTION_DIRECTORY, FIELD(arguments, config.backups), NULL, "Where backups go." },
    { "ballast", OPTION_FILE, FIELD(arguments, config.ballast), NULL, "Removed when the disk is full." },
    { "tolerant", OPTION_BOOL, FIELD(arguments, config.is_tolerant), "false", "The disk fails on purpose." },
    { "only-upkeep", OPTION_BOOL, FIELD(arguments, config.has_only_upkeep), "false", "No deletions, backups ..." },
    { "only-writes", OPTION_BOOL, FIELD(arguments, config.has_only_writes), "false", "No upkeep either." },
    { "pins", OPTION_BOOL, FIELD(arguments, config.has_pins), "true", "Ranges are kept past retention." },
    { "background", OPTION_BOOL, FIELD(arguments, config.has_background), "false", "The store's own thread." },
    { "wal-sync", OPTION_ENUM, FIELD(arguments, config.wal_sync), "1s", "As the store's.", .words = sync_words },
    { "memory-limit", OPTION_SIZE, FIELD(arguments, config.memory_limit_bytes), "64MiB", "As the store's." },
    { "resent", OPTION_UINT, FIELD(arguments, config.resent), "3",
      "Acknowledged writes that each writer sends again at the start." },
    { "min-free", OPTION_SIZE, FIELD(arguments, config.min_free_bytes), "0", "As the store's." },
    { "crowd-tenants", OPTION_UINT, FIELD(arguments, config.crowd.tenants), "0", "Others that write, too." },
    { "crowd-series", OPTION_UINT, FIELD(arguments, config.crowd.series), "1", "Of each.", .min = "1" },
    { "crowd-label-bytes", OPTION_SIZE, FIELD(arguments, config.crowd.label_bytes), "0", "Of each series." },
    { "backup", OPTION_UINT, FIELD(arguments, backup), "0", "check: the directory is the backup of this number." },
    { "damaged", OPTION_LIST, FIELD(arguments, damaged), NULL, "check: days that were damaged on purpose." },
    { "survivors", OPTION_UINT, FIELD(arguments, min_percent), "0",
      "check: percent of the profiles in damaged days that must be there." },
    { "lossy", OPTION_BOOL, FIELD(arguments, is_lossy), "false", "check: what is missing was lost with the power." },
    { "thorough", OPTION_BOOL, FIELD(arguments, is_thorough), "false", "check: also after closing and compacting." },
};

static int fail(const char *doing, const struct error *err)
{
    fprintf(stderr, "storm: %s: %s: %s\n", doing, error_code_name(err->code), err->text);
    return -1;
}

/* --- checking --- */

static void tell_finding(UNUSED void *context, const char *line)
{
    fprintf(stderr, "storm: verify: %s\n", line);
}

static int verify(struct store *store, bool is_damaged)
{
    struct store_verify verify = { .tell = is_damaged ? NULL : tell_finding };
    struct error err;

    if (store_verify(store, &verify, &err) < 0)
        return fail("verifying", &err);
    if (is_damaged || (verify.n_bad_values == 0 && verify.n_bad_days == 0))
        return 0;
    fprintf(stderr, "storm: verify found %" PRIu64 " bad values and %" PRIu64 " bad days\n", verify.n_bad_values,
            verify.n_bad_days);
    return -1;
}

static int compare(struct store *store, const struct storm_promise *promise, const struct storm_damage *damage,
                   const char *when)
{
    AUTO(storm_found_freep) struct storm_found *found = NULL;
    struct error err;

    if (storm_check_read(store, damage, &found, &err) < 0 || storm_check_compare(found, promise, damage, &err) < 0)
        return fail(when, &err);
    printf("%s: %zu profiles\n", when, storm_found_count(found));
    return verify(store, damage->n > 0);
}

static int compare_thoroughly(struct store *store, const struct storm_promise *promise,
                              const struct storm_damage *damage, bool is_thorough)
{
    struct error err;

    if (compare(store, promise, damage, "as found") < 0)
        return -1;
    if (!is_thorough)
        return 0;
    if (store_maintain(store, &err) < 0)
        return fail("maintaining", &err);
    if (compare(store, promise, damage, "after closing hours") < 0)
        return -1;
    if (store_compact(store, &err) < 0)
        return fail("compacting", &err);
    return compare(store, promise, damage, "after compacting");
}

static int read_damage(const struct arguments *arguments, struct storm_damage *damage)
{
    struct error err;

    if (arguments->damaged.n > STORM_MAX_DAMAGED_DAYS)
        return -1;
    for (size_t i = 0; i < arguments->damaged.n; i++) {
        char text[64];

        snprintf(text, sizeof(text), "%.32sT00:00:00Z", arguments->damaged.items[i]);
        if (clock_parse(slice_from(text), &damage->days_ns[damage->n++], &err) < 0)
            return fail("--damaged", &err);
    }
    damage->min_percent = (uint32_t)arguments->min_percent;
    return 0;
}

static enum storm_status check(const struct arguments *arguments)
{
    struct store_options options;
    struct storm_damage damage = { 0 };
    struct storm_promise promise;
    struct store *store;
    struct error err;
    uint32_t most = 0;
    int result;

    if (read_damage(arguments, &damage) < 0)
        return STORM_USAGE;
    if (storm_ledger_read(arguments->config.ledger_path, (uint32_t)arguments->backup, &promise, &err) < 0) {
        fail("ledger", &err);
        return STORM_USAGE;
    }
    for (uint32_t i = 0; i < STORM_MAX_THREADS; i++)
        most = MAX(most, promise.begun[i]);
    if (arguments->is_lossy)
        storm_promise_forgive(&promise);
    clock_fake_set(storm_profile_now(most));
    options = storm_run_options(&arguments->config, promise.retention_ns);
    if (store_open(&options, &store, &err) < 0) {
        fail("opening", &err);
        storm_promise_done(&promise);
        return STORM_STOPPED;
    }
    result = compare_thoroughly(store, &promise, &damage, arguments->is_thorough);
    store_close(store);
    storm_promise_done(&promise);
    return result < 0 ? STORM_BROKEN : STORM_FINE;
}

/* --- the door --- */

static int read_arguments(int argc, const char *const *argv, struct arena *arena, struct arguments *arguments,
                          struct option_list *ret_positionals, struct error *err)
{
    static const struct option_group group = OPTION_GROUP("Options", specs);
    struct options *options;
    int index = 1;

    if (options_new(arena, &options, err) < 0 || options_bind(options, &group, arguments, err) < 0 ||
        options_apply_arguments(options, argc, argv, false, &index, err) < 0)
        return -1;
    *ret_positionals = options_positionals(options);
    return 0;
}

static enum storm_status run(const struct arguments *arguments, const char *mode)
{
    return strcmp(mode, "check") == 0 ? check(arguments) : storm_run(&arguments->config);
}

int main(int argc, char **argv)
{
    struct arguments arguments = { 0 };
    struct option_list positionals;
    enum storm_status status;
    struct arena arena;
    struct error err;

    memory_use_few_pools();
    arena_init(&arena, 1 << 20);
    if (read_arguments(argc, (const char *const *)argv, &arena, &arguments, &positionals, &err) < 0) {
        fprintf(stderr, "storm: %s\n", err.text);
        status = STORM_USAGE;
    } else if (positionals.n != 3 ||
               (strcmp(positionals.items[0], "write") != 0 && strcmp(positionals.items[0], "check") != 0)) {
        fputs("usage: storm write|check DATA-DIR LEDGER [OPTION...]\n", stderr);
        status = STORM_USAGE;
    } else {
        arguments.config.data_dir = positionals.items[1];
        arguments.config.ledger_path = positionals.items[2];
        status = run(&arguments, positionals.items[0]);
    }
    arena_done(&arena);
    return (int)status;
}
