// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/day_sample_test.h"

#include <unistd.h>

/* Days of the test's directory, each with a profile at 7:30 of two services. "Now" is given with each call. */
struct world {
    struct day_sample sample;
    struct dayset days;
    struct keeps keeps;
    struct retention retention;
    struct retention_memory memory;
    char directory[200], trash[200], trash_file[256];
    struct buffer log;
};

static int64_t start_of(const char *name)
{
    int64_t start_ns;

    CHECK(day_parse_name(name, &start_ns));
    return start_ns;
}

static void world_init(struct world *world)
{
    struct error err;

    *world = (struct world){ 0 };
    clock_fake_set(start_of("2026-11-15"));
    day_sample_init(&world->sample);
    day_close(TAKE(world->sample.day));
    CHECK_OK(fs_remove_tree(world->sample.path, &err), &err);
    snprintf(world->directory, sizeof(world->directory), "%s/profiles", test_directory());
    snprintf(world->trash, sizeof(world->trash), "%s/scratch", test_directory());
    snprintf(world->trash_file, sizeof(world->trash_file), "%s/scratch/CURRENT", test_directory());
    dayset_init(&world->days, &world->sample.context, world->directory, world->sample.quarantine, world->trash, false);
    world->retention.max_age_ns = 3 * DAY_NS;
    world->retention.keeps = &world->keeps;
    buffer_init(&world->log, 0);
    log_capture(&world->log);
}

static void world_done(struct world *world)
{
    log_capture(NULL);
    buffer_done(&world->log);
    dayset_done(&world->days);
    retention_memory_done(&world->memory);
    day_sample_done(&world->sample);
}

/* Makes a day; its rows are those of DAY_SAMPLE_NAME, whatever its name is: only whole days matter here. */
static void make(struct world *world, const char *name)
{
    struct day *day;
    struct error err;

    CHECK_OK(dayset_acquire(&world->days, start_of(name), DAYSET_CREATE, &day, &err), &err);
    dayset_release(&world->days, day);
}

static const char *apply(struct world *world, const char *now, uint32_t wanted)
{
    static char text[512];
    struct dayset_list list;
    struct arena arena;
    struct error err;
    char name[DAY_NAME_BYTES];
    uint32_t n_dropped;

    CHECK_OK(retention_apply(&world->days, &world->retention, &world->memory, start_of(now), &n_dropped, &err), &err);
    CHECK_EQ(n_dropped, wanted);
    text[0] = '\0';
    arena_init(&arena, 0);
    CHECK_OK(dayset_list(&world->days, &arena, &list, &err), &err);
    for (size_t i = 0; i < list.n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", day_name(list.starts_ns[i], name) + 8);
    arena_done(&arena);
    return text;
}

TEST(retention_drops_days_by_age)
{
    struct world world;

    world_init(&world);
    make(&world, "2026-11-10");
    make(&world, "2026-11-11");
    make(&world, "2026-11-14");
    CHECK_TEXT(apply(&world, "2026-11-13", 0), "10 11 14 ");
    CHECK_TEXT(apply(&world, "2026-11-14", 1), "11 14 ");
    CHECK_HAS(buffer_slice(&world.log), "day 2026-11-10 dropped: its retention is over");
    CHECK_TEXT(apply(&world, "2026-11-14", 0), "11 14 ");
    CHECK_TEXT(apply(&world, "2026-12-24", 2), "");
    CHECK_TEXT(apply(&world, "2026-12-24", 0), "");
    world_done(&world);
}

TEST(retention_drops_the_oldest_days_over_the_limit_of_bytes_but_not_the_newest)
{
    struct world world;

    world_init(&world);
    world.retention.max_age_ns = 1000 * DAY_NS;
    make(&world, "2026-11-10");
    make(&world, "2026-11-11");
    make(&world, "2026-11-12");
    world.retention.max_bytes = (uint64_t)1 << 40;
    CHECK_TEXT(apply(&world, "2026-11-15", 0), "10 11 12 ");
    world.retention.max_bytes = 1;
    CHECK_TEXT(apply(&world, "2026-11-11", 1), "11 12 ");
    CHECK_TEXT(apply(&world, "2026-11-20", 1), "12 ");
    CHECK_HAS(buffer_slice(&world.log), "day 2026-11-11 dropped: the limit on bytes is reached");
    world_done(&world);
}

TEST(retention_reduces_a_kept_day_once)
{
    struct keep keep = { .tenant = (char[]){ STORE_TENANT_DEFAULT },
                         .name = (char[]){ "v1" },
                         .text = (char[]){ "{}" },
                         .from_ns = start_of("2026-11-10") + DAY_HOUR_NS,
                         .until_ns = start_of("2026-11-10") + 2 * DAY_HOUR_NS };
    struct world world;

    world_init(&world);
    make(&world, "2026-11-10");
    make(&world, "2026-11-11");
    world.keeps.items.items = &keep;
    world.keeps.items.n = 1;
    CHECK_TEXT(apply(&world, "2026-11-20", 2), "10 ");
    CHECK_HAS(buffer_slice(&world.log), "day 2026-11-10 reduced to its kept ranges: its retention is over");
    CHECK_TEXT(apply(&world, "2026-11-20", 0), "10 ");
    keep.until_ns++;
    CHECK_TEXT(apply(&world, "2026-11-20", 1), "10 ");
    CHECK_TEXT(apply(&world, "2026-11-20", 0), "10 ");
    world.keeps.items.n = 0;
    CHECK_TEXT(apply(&world, "2026-11-20", 1), "");
    world_done(&world);
}

TEST(retention_of_a_tenant_may_be_longer_than_that_of_all)
{
    struct store_tenant_limits limits = { .tenant = "other", .retention_ns = 10 * DAY_NS };
    struct day_sample_profile profile = { .hour = 7, .n_stacks = 2 };
    struct world world;
    struct error err;

    world_init(&world);
    CHECK_OK(dayset_acquire(&world.days, start_of(DAY_SAMPLE_NAME), DAYSET_CREATE, &world.sample.day, &err), &err);
    day_sample_write(&world.sample, &profile);
    profile.tenant = "other";
    day_sample_write(&world.sample, &profile);
    dayset_release(&world.days, TAKE(world.sample.day));
    world.retention.tenants = &limits;
    world.retention.n_tenants = 1;
    CHECK_TEXT(apply(&world, "2026-11-18", 0), "15 ");
    /* Only the others go. */
    CHECK_TEXT(apply(&world, "2026-11-20", 1), "15 ");
    CHECK_HAS(buffer_slice(&world.log), "day 2026-11-15 of tenant 'anonymous' dropped");
    CHECK_TEXT(apply(&world, "2026-11-20", 0), "15 ");
    CHECK_TEXT(apply(&world, "2026-11-26", 1), "");
    world_done(&world);
}

/* A profile at 7:00 of the day for each of three tenants; the day is closed afterwards. */
static void write_tenants(struct world *world)
{
    static const char *const tenants[] = { STORE_TENANT_DEFAULT, "gold", "lead" };
    struct error err;

    CHECK_OK(dayset_acquire(&world->days, start_of(DAY_SAMPLE_NAME), DAYSET_CREATE, &world->sample.day, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(tenants); i++)
        day_sample_write(&world->sample,
                         &(struct day_sample_profile){ .tenant = tenants[i], .hour = 7, .n_stacks = 2 });
    day_sample_close_hours(&world->sample);
    dayset_release(&world->days, TAKE(world->sample.day));
    clock_fake_set(start_of("2026-11-20"));
    dayset_close_idle(&world->days, INT64_MAX, INT64_MAX);
    CHECK_EQ(dayset_n_open(&world->days), 0);
}

/* Makes days unreadable, so that whoever opens one fails. */
static void hide_days(struct world *world, bool is_hidden)
{
    char other[256];

    snprintf(other, sizeof(other), "%s/CURRENT", world->sample.path);
    CHECK_EQ(is_hidden ? rename(other, world->trash_file) : rename(world->trash_file, other), 0);
}

TEST(retention_opens_days_that_stay_as_they_are_once)
{
    struct store_tenant_limits limits[] = { { .tenant = "gold", .retention_ns = 100 * DAY_NS },
                                            { .tenant = "lead", .retention_ns = 10 * DAY_NS } };
    struct world world;

    world_init(&world);
    write_tenants(&world);
    world.retention.tenants = limits;
    world.retention.n_tenants = 2;
    /* Past the common retention only those with their own stay. */
    CHECK_TEXT(apply(&world, "2026-11-20", 1), "15 ");
    CHECK_HAS(buffer_slice(&world.log), "day 2026-11-15 of tenant 'anonymous' dropped");
    CHECK_EQ(dayset_n_open(&world.days), 0);
    CHECK_TEXT(apply(&world, "2026-11-20", 0), "15 ");
    CHECK_EQ(dayset_n_open(&world.days), 0);
    hide_days(&world, true);
    CHECK_TEXT(apply(&world, "2026-11-21", 0), "15 ");
    hide_days(&world, false);
    CHECK_TEXT(apply(&world, "2026-11-27", 1), "15 ");
    CHECK_HAS(buffer_slice(&world.log), "day 2026-11-15 of tenant 'lead' dropped");
    world_done(&world);
}

TEST(retention_measures_a_day_again_after_it_was_written_to)
{
    struct store_tenant_limits limits = { .tenant = "gold", .retention_ns = 100 * DAY_NS };
    struct world world;

    world_init(&world);
    write_tenants(&world);
    world.retention.tenants = &limits;
    world.retention.n_tenants = 1;
    CHECK_TEXT(apply(&world, "2026-11-20", 2), "15 ");
    CHECK_TEXT(apply(&world, "2026-11-20", 0), "15 ");
    write_tenants(&world);
    CHECK_TEXT(apply(&world, "2026-11-20", 2), "15 ");
    world_done(&world);
}

TEST(retention_drops_several_tenants_of_a_day_and_counts_what_is_left)
{
    struct store_tenant_limits limits[] = { { .tenant = "gold", .retention_bytes = 1 },
                                            { .tenant = "lead", .retention_bytes = 1 } };
    struct world world;
    struct error err;

    world_init(&world);
    write_tenants(&world);
    world.retention.max_age_ns = 1000 * DAY_NS;
    world.retention.tenants = limits;
    world.retention.n_tenants = 2;
    CHECK_TEXT(apply(&world, "2026-11-20", 2), "15 ");
    CHECK_HAS(buffer_slice(&world.log), "day 2026-11-15 of tenant 'lead' dropped: the limit on its bytes is reached");
    CHECK_OK(dayset_acquire(&world.days, start_of(DAY_SAMPLE_NAME), DAYSET_READ, &world.sample.day, &err), &err);
    CHECK_EQ(world.sample.day->markers.n, 1);
    CHECK_EQ(world.sample.day->markers.items[0].n_rows, 1);
    dayset_release(&world.days, TAKE(world.sample.day));
    world_done(&world);
}

TEST(retention_spares_a_kept_tenant_until_its_range_is_given_up)
{
    struct keep keep = { .tenant = (char[]){ STORE_TENANT_DEFAULT },
                         .name = (char[]){ "v1" },
                         .text = (char[]){ "{}" },
                         .from_ns = start_of(DAY_SAMPLE_NAME),
                         .until_ns = start_of(DAY_SAMPLE_NAME) + DAY_NS };
    struct store_tenant_limits limits = { .tenant = "gold", .retention_ns = 100 * DAY_NS };
    struct world world;

    world_init(&world);
    write_tenants(&world);
    world.retention.tenants = &limits;
    world.retention.n_tenants = 1;
    world.keeps.items.items = &keep;
    world.keeps.items.n = 1;
    CHECK_TEXT(apply(&world, "2026-11-20", 1), "15 ");
    CHECK_HAS(buffer_slice(&world.log), "of tenant 'lead' dropped");
    CHECK_TEXT(apply(&world, "2026-11-20", 0), "15 ");
    world.keeps.items.n = 0;
    CHECK_TEXT(apply(&world, "2026-11-20", 1), "15 ");
    CHECK_HAS(buffer_slice(&world.log), "of tenant 'anonymous' dropped");
    world_done(&world);
}

TEST(retention_counts_the_bytes_of_files_and_follows_no_links)
{
    struct error err;
    char path[200], other[200];

    snprintf(path, sizeof(path), "%s/a/b", test_directory());
    CHECK_OK(fs_make_directories(path, 0700, &err), &err);
    snprintf(path, sizeof(path), "%s/a/b/file", test_directory());
    CHECK_OK(fs_write_file(path, SLICE("12345"), &err), &err);
    snprintf(other, sizeof(other), "%s/a/file", test_directory());
    CHECK_OK(fs_write_file(other, SLICE("123"), &err), &err);
    snprintf(path, sizeof(path), "%s/a", test_directory());
    CHECK_EQ(retention_disk_bytes(path), 8);
    snprintf(other, sizeof(other), "%s/a/up", test_directory());
    CHECK_EQ(symlink(test_directory(), other), 0);
    CHECK(retention_disk_bytes(path) < 8 + 200);
    CHECK_EQ(retention_disk_bytes("/no/such/place"), 0);
}
