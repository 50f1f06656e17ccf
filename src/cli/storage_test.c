// SPDX-License-Identifier: Apache-2.0
#include "cli/storage.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/test.h"
#include "base/units.h"
#include "store/budget.h"

#define NOW_NS  (1794744000 * CLOCK_NS_PER_SECOND) /* 2026-11-15T12:00:00Z */
#define HOUR_NS (3600 * CLOCK_NS_PER_SECOND)

static int64_t time_of(const char *text)
{
    struct error err;
    int64_t time_ns;

    CHECK_OK(storage_parse_time("from", text, NOW_NS, &time_ns, &err), &err);
    return time_ns;
}

TEST(storage_reads_times_as_queries_do)
{
    CHECK_EQ(time_of("2026-11-15T12:00:00Z"), NOW_NS);
    CHECK_EQ(time_of("2026-11-15"), NOW_NS - 12 * HOUR_NS);
    CHECK_EQ(time_of("1794744000123"), NOW_NS + 123000000);
    CHECK_EQ(time_of(" now-1h30m "), NOW_NS - HOUR_NS * 3 / 2);
    CHECK_EQ(time_of("2h"), NOW_NS - 2 * HOUR_NS);
}

TEST(storage_refuses_what_is_no_time_and_names_the_option)
{
    int64_t time_ns = -7;
    struct error err;

    CHECK_ERROR(storage_parse_time("until", "yesterday", NOW_NS, &time_ns, &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "--until: time 'yesterday': expected now, a date or a number at position 1; give now-1h, ");
    CHECK_ERROR(storage_parse_time("from", "2026-13-01", NOW_NS, &time_ns, &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "--from: date '2026-13-01': the month is not 01 to 12");
    CHECK_EQ(time_ns, -7);
}

TEST(storage_query_is_open_where_no_end_is_given)
{
    struct storage_range range = { .tenant = STORE_TENANT_DEFAULT };
    struct storage_query query;
    struct error err;

    clock_fake_set(NOW_NS);
    CHECK_OK(storage_query_init(&query, &range, NULL, &err), &err);
    CHECK_EQ(query.query.from_ns, 0);
    CHECK_EQ(query.query.until_ns, INT64_MAX);
    CHECK(query.query.selector == NULL);
    storage_query_done(&query);

    range.from = "1h";
    range.until = "now+1m";
    CHECK_OK(storage_query_init(&query, &range, "{zone=\"eu\"}", &err), &err);
    CHECK_EQ(query.query.from_ns, NOW_NS - HOUR_NS);
    CHECK_EQ(query.query.until_ns, NOW_NS + HOUR_NS / 60);
    CHECK(query.query.selector != NULL && query.query.selector == query.selector);
    CHECK_TEXT(query.query.tenant, STORE_TENANT_DEFAULT);
    storage_query_done(&query);

    range.from = "9999w"; /* before 1970 */
    CHECK_OK(storage_query_init(&query, &range, NULL, &err), &err);
    CHECK_EQ(query.query.from_ns, 0);
    storage_query_done(&query);
}

TEST(storage_query_refuses_empty_ranges_wrong_selectors_and_wrong_tenants)
{
    struct storage_range range = { .tenant = STORE_TENANT_DEFAULT, .from = "2026-11-15", .until = "2026-11-15" };
    struct storage_query query;
    struct error err;

    CHECK_ERROR(storage_query_init(&query, &range, NULL, &err), &err, ERR_USAGE);
    CHECK_TEXT(err.text, "the range is empty: it begins at 2026-11-15T00:00:00Z and ends at 2026-11-15T00:00:00Z");
    range.until = NULL;
    CHECK_ERROR(storage_query_init(&query, &range, "{zone=", &err), &err, ERR_USAGE);
    storage_query_done(&query);
    range.tenant = "a/b";
    CHECK_ERROR(storage_query_init(&query, &range, NULL, &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "--tenant: the tenant's name 'a/b' has a character that is not allowed: use letters, digits");
    range.tenant = "";
    CHECK_ERROR(storage_query_init(&query, &range, NULL, &err), &err, ERR_USAGE);
}

TEST(storage_defaults_are_those_of_the_label_rules)
{
    struct option_group group = { "Keeping", storage_keeping_options, STORAGE_KEEPING_OPTIONS_N, 0 };
    struct storage_keeping keeping = { 0 };
    struct options *options;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(options_new(&arena, &options, &err), &err);
    CHECK_OK(options_bind(options, &group, &keeping, &err), &err);
    CHECK_EQ(keeping.max_series_labels, label_default_limits.max_labels);
    CHECK_EQ(keeping.max_name_bytes, label_default_limits.max_name_bytes);
    CHECK_EQ(keeping.max_value_bytes, label_default_limits.max_value_bytes);
    CHECK_EQ(keeping.max_splits, label_default_limits.max_splits);
    CHECK_EQ(keeping.wal_sync, STORE_SYNC_EACH_SECOND);
    CHECK_EQ(keeping.retention_ns, 0);
    CHECK_TEXT(keeping.tenant, STORE_TENANT_DEFAULT);
    arena_done(&arena);
}

TEST(storage_takes_no_less_memory_than_a_store_needs)
{
    uint64_t least;

    CHECK_TEXT(storage_options[1].name, "memory-limit");
    CHECK(units_parse_size(slice_from(storage_options[1].min), &least));
    CHECK_EQ(least, BUDGET_MIN_BYTES);
}

TEST(storage_is_made_by_writing_only)
{
    struct storage_config config = { .memory_limit_bytes = 64 << 20 };
    struct store *store = NULL;
    struct arena arena;
    struct stat info;
    struct error err;

    arena_init(&arena, 0);
    config.data_dir = arena_printf(&arena, &err, "%s/data", test_directory());
    CHECK_ERROR(storage_open_to_read(&config, &store, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "there is no store in '");
    CHECK_HAS(err.text, "'hearth import' makes one, and --data-dir names another");
    CHECK_ERROR(storage_open_to_change(&config, &store, &err), &err, ERR_NOT_FOUND);
    CHECK_ERROR(fs_stat(config.data_dir, &info, &err), &err, ERR_NOT_FOUND);
    CHECK_OK(fs_write_file(config.data_dir, SLICE("a file"), &err), &err);
    CHECK_ERROR(storage_open_to_read(&config, &store, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "is no directory, so there is no store in it");
    arena_done(&arena);
}

TEST(storage_lent_by_a_server_is_not_closed)
{
    struct store *lent = (struct store *)&lent; /* nobody looks into it */
    struct command_served served = { .store = lent };
    struct command_world world = { .served = &served };
    struct command_context context = { .world = &world };
    struct storage_config config = { .data_dir = "nowhere" };
    struct storage_use use;
    struct error err;

    CHECK_OK(storage_use_to_read(&context, &config, &use, &err), &err);
    CHECK(use.store == lent && use.is_lent);
    storage_use_end(&use);
    CHECK(!use.store);
    CHECK_OK(storage_use_to_change(&context, &config, &use, &err), &err);
    storage_use_end(&use);
    world.served = NULL;
    CHECK_ERROR(storage_use_to_read(&context, &config, &use, &err), &err, ERR_NOT_FOUND);
    storage_use_end(&use);
}

TEST(storage_refuses_profiles_that_would_be_forgotten_at_once)
{
    struct storage_config config = { .data_dir = "nowhere" };
    struct storage_keeping keeping = { .tenant = STORE_TENANT_DEFAULT,
                                       .retention_ns = HOUR_NS,
                                       .max_age_ns = 2 * HOUR_NS };
    struct store *store = NULL;
    struct error err;

    CHECK_ERROR(storage_open_to_write(&config, &keeping, &store, &err), &err, ERR_USAGE);
    CHECK_HAS(err.text, "--max-age");
    CHECK_HAS(err.text, "is more than --retention");
}
