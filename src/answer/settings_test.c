// SPDX-License-Identifier: Apache-2.0
#include "answer/settings.h"

#include "base/buffer.h"
#include "base/fs.h"
#include "base/test.h"

#include <errno.h>
#include <stdio.h>

#define TENANT SLICE("anonymous")

struct fixture {
    struct settings *settings;
    struct arena arena;
};

static void begin(struct fixture *fixture)
{
    struct error err;

    arena_init(&fixture->arena, 0);
    CHECK_OK(settings_open(test_directory(), &fixture->settings, &err), &err);
}

static void end(struct fixture *fixture)
{
    settings_close(fixture->settings);
    arena_done(&fixture->arena);
}

static int set(struct fixture *fixture, struct slice tenant, const char *name, const char *value, int64_t modified_at,
               struct error *err)
{
    struct setting setting = { slice_from(name), slice_from(value), modified_at };

    return settings_set(fixture->settings, tenant, &setting, &fixture->arena, err);
}

/* "name=value@time;..." of all settings of a tenant. */
static const char *all(struct fixture *fixture, struct slice tenant)
{
    static char text[512];
    struct settings_list list;
    struct error err;
    size_t len = 0;

    CHECK_OK(settings_load(fixture->settings, tenant, &fixture->arena, &list, &err), &err);
    text[0] = '\0';
    for (uint32_t i = 0; i < list.n && len < sizeof(text); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s=%.*s@%lld;", SLICE_ARG(list.items[i].name),
                                SLICE_ARG(list.items[i].value), (long long)list.items[i].modified_at);
    return text;
}

TEST(settings_are_kept_by_name_and_found_by_the_next_to_open_them)
{
    struct fixture fixture;
    struct error err;

    begin(&fixture);
    CHECK_TEXT(all(&fixture, TENANT), "");
    CHECK_OK(set(&fixture, TENANT, "zoom", "{\"a\":\"\\n\"}", 5, &err), &err);
    CHECK_OK(set(&fixture, TENANT, "pluginSettings", "x", 7, &err), &err);
    CHECK_OK(set(&fixture, TENANT, "max", "", -3, &err), &err);
    settings_close(fixture.settings);
    CHECK_OK(settings_open(test_directory(), &fixture.settings, &err), &err);
    CHECK_TEXT(all(&fixture, TENANT), "max=@-3;pluginSettings=x@7;zoom={\"a\":\"\\n\"}@5;");
    end(&fixture);
}

TEST(settings_of_tenants_are_apart)
{
    struct fixture fixture;
    struct error err;

    begin(&fixture);
    CHECK_OK(set(&fixture, SLICE("red"), "a", "1", 1, &err), &err);
    CHECK_OK(set(&fixture, SLICE("re"), "a", "2", 1, &err), &err);
    CHECK_TEXT(all(&fixture, SLICE("red")), "a=1@1;");
    CHECK_TEXT(all(&fixture, SLICE("re")), "a=2@1;");
    CHECK_TEXT(all(&fixture, SLICE("r")), "");
    end(&fixture);
}

TEST(settings_that_are_older_do_not_replace_newer_ones)
{
    struct fixture fixture;
    struct error err;

    begin(&fixture);
    CHECK_OK(set(&fixture, TENANT, "a", "1", 10, &err), &err);
    CHECK_OK(set(&fixture, TENANT, "a", "2", 10, &err), &err);
    CHECK_ERROR(set(&fixture, TENANT, "a", "3", 9, &err), &err, ERR_EXISTS);
    CHECK_HAS(err.text, "'a' was changed later than that, at 10");
    CHECK_TEXT(all(&fixture, TENANT), "a=2@10;");
    CHECK_OK(set(&fixture, TENANT, "a", "4", 11, &err), &err);
    CHECK_TEXT(all(&fixture, TENANT), "a=4@11;");
    end(&fixture);
}

TEST(settings_that_are_deleted_are_gone)
{
    struct fixture fixture;
    struct error err;

    begin(&fixture);
    CHECK_OK(settings_delete(fixture.settings, TENANT, SLICE("a"), &fixture.arena, &err), &err);
    CHECK_OK(set(&fixture, TENANT, "a", "1", 10, &err), &err);
    CHECK_OK(set(&fixture, TENANT, "b", "2", 10, &err), &err);
    CHECK_OK(settings_delete(fixture.settings, TENANT, SLICE("a"), &fixture.arena, &err), &err);
    CHECK_TEXT(all(&fixture, TENANT), "b=2@10;");
    CHECK_OK(settings_delete(fixture.settings, TENANT, SLICE("b"), &fixture.arena, &err), &err);
    CHECK_TEXT(all(&fixture, TENANT), "");
    CHECK_OK(set(&fixture, TENANT, "a", "0", 1, &err), &err);
    CHECK_TEXT(all(&fixture, TENANT), "a=0@1;");
    end(&fixture);
}

static char *filled(size_t len)
{
    static char text[SETTINGS_MAX_VALUE_BYTES + 2];

    CHECK(len < sizeof(text));
    memset(text, 'x', len);
    text[len] = '\0';
    return text;
}

TEST(settings_have_bounds)
{
    struct fixture fixture;
    struct error err;
    char name[16];

    begin(&fixture);
    CHECK_ERROR(set(&fixture, TENANT, "", "1", 1, &err), &err, ERR_INVALID);
    CHECK_ERROR(set(&fixture, TENANT, filled(SETTINGS_MAX_NAME_BYTES + 1), "1", 1, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "the name of the setting has 257 bytes, and 256 are kept");
    CHECK_ERROR(set(&fixture, TENANT, "a", filled(SETTINGS_MAX_VALUE_BYTES + 1), 1, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "65537 bytes, and 65536 are kept");
    for (uint32_t i = 0; i < SETTINGS_MAX; i++) {
        snprintf(name, sizeof(name), "%u", i);
        CHECK_OK(set(&fixture, TENANT, name, "1", 1, &err), &err);
        arena_reset(&fixture.arena);
    }
    CHECK_ERROR(set(&fixture, TENANT, "one more", "1", 1, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "256 settings already");
    CHECK_OK(set(&fixture, TENANT, "7", "2", 2, &err), &err);
    end(&fixture);
}

TEST(settings_of_a_tenant_come_to_so_many_bytes_at_most)
{
    struct fixture fixture;
    struct error err;
    char name[16];
    int result = 0;

    begin(&fixture);
    for (uint32_t i = 0; i < 17 && result == 0; i++) {
        snprintf(name, sizeof(name), "%u", i);
        result = set(&fixture, TENANT, name, filled(SETTINGS_MAX_VALUE_BYTES), 1, &err);
        CHECK_EQ(result, i < 15 ? 0 : -1);
        arena_reset(&fixture.arena);
    }
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK_HAS(err.text, "and 1048576 are kept; delete some");
    end(&fixture);
}

TEST(settings_in_a_damaged_file_are_an_error_that_names_it)
{
    struct fixture fixture;
    struct settings_list list;
    struct error err;
    char path[4096];

    begin(&fixture);
    snprintf(path, sizeof(path), "%s/settings", test_directory());
    CHECK_OK(fs_make_directories(path, 0700, &err), &err);
    snprintf(path, sizeof(path), "%s/settings/anonymous.json", test_directory());
    CHECK_OK(fs_write_file(path, SLICE("[{\"name\":1}]"), &err), &err);
    CHECK_ERROR(settings_load(fixture.settings, TENANT, &fixture.arena, &list, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "settings/anonymous.json': ");
    end(&fixture);
}

static int use_all(void *context, struct error *err)
{
    const char *directory = context;
    struct setting setting = { SLICE("a\n"), SLICE("\x01"), 1 };
    struct settings_list list;
    struct settings *settings = NULL;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = settings_open(directory, &settings, err);
    if (result == 0)
        result = settings_set(settings, TENANT, &setting, &arena, err);
    if (result == 0)
        result = settings_load(settings, TENANT, &arena, &list, err);
    if (result == 0)
        result = settings_delete(settings, TENANT, setting.name, &arena, err);
    settings_close(settings);
    arena_done(&arena);
    return result;
}

TEST(settings_say_so_when_memory_runs_out)
{
    test_each_allocation_failing(use_all, (void *)test_directory());
}

TEST(settings_say_so_when_the_disk_fails)
{
    test_each_file_call_failing(use_all, (void *)test_directory(), EIO, ERR_IO);
}
