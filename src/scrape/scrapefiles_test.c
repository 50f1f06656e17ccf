// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapefiles.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "scrape/scrapeconfig_sample_test.h"

#include <stdio.h>
#include <unistd.h>

static struct scrapeconfig *config;
static struct scrapefiles *files;
static int64_t now_ns;

static void start(const char *pattern)
{
    char yaml[1024];
    struct error err;

    snprintf(yaml, sizeof(yaml), "- job_name: app\n  file_sd_configs: [{files: ['%s/%s'], refresh_interval: 1m}]\n",
             test_directory(), pattern);
    config = scrapeconfig_sample(yaml);
    CHECK_OK(scrapefiles_new(config, &files, &err), &err);
    now_ns = CLOCK_NS_PER_SECOND;
}

static void stop(void)
{
    scrapefiles_free(files);
    scrapeconfig_free(config);
}

static const char *path_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", test_directory(), name);
    return path;
}

static void put(const char *name, const char *text)
{
    struct error err;

    CHECK_OK(fs_write_file(path_of(name), slice_from(text), &err), &err);
}

static struct scrapefiles_look look(void)
{
    struct scrapefiles_look look = { 0 };
    struct error err;

    now_ns += CLOCK_NS_PER_SECOND;
    CHECK_OK(scrapefiles_refresh(files, now_ns, &look, &err), &err);
    return look;
}

static int note_group(void *context, const struct scrapeconfig_job *job, const struct scrapeconfig_group *group,
                      struct error *err)
{
    for (const struct configtree *target = group->targets->first; target; target = target->next)
        buffer_printf(context, "%.*s ", SLICE_ARG(target->text));
    for (const struct configtree *label = group->labels->first->next; label; label = label->next)
        buffer_printf(context, "%.*s=%.*s ", SLICE_ARG(label->key), SLICE_ARG(label->text));
    CHECK_TEXT(group->labels->first->key, "__meta_filepath");
    CHECK(slice_ends_with(group->labels->first->text, SLICE(".json")));
    return 0;
}

static void check_targets(const char *wanted)
{
    AUTO(buffer_done) struct buffer text;
    struct error err;

    buffer_init(&text, 0);
    CHECK_OK(scrapefiles_each(files, note_group, &text, &err), &err);
    CHECK_TEXT(buffer_slice(&text), wanted);
}

TEST(scrapefiles_are_found_by_pattern_and_read_once)
{
    struct scrapefiles_look seen;

    put("a.json", "[{\"targets\": [\"a:1\", \"b:1\"], \"labels\": {\"x\": \"y\"}}]");
    put("b.json", "- targets: ['c:1']\n");
    put("c.txt", "nonsense: [");
    start("*.json");
    seen = look();
    CHECK(seen.is_changed);
    CHECK_EQ(seen.n_files, 2);
    CHECK_EQ(seen.n_failures, 0);
    check_targets("a:1 b:1 x=y c:1 ");
    CHECK(!look().is_changed);
    now_ns += 60 * CLOCK_NS_PER_SECOND;
    CHECK(look().is_changed); /* every refresh_interval in any case */
    stop();
}

TEST(scrapefiles_that_change_come_or_go_are_noticed)
{
    start("*.json");
    CHECK(!look().is_changed);
    check_targets("");
    put("a.json", "- targets: ['a:1']\n");
    CHECK(look().is_changed);
    put("a.json", "- targets: ['a:2']\n");
    CHECK(look().is_changed);
    check_targets("a:2 ");
    put("b.json", "- targets: ['b:1']\n");
    CHECK(look().is_changed);
    check_targets("a:2 b:1 ");
    CHECK_EQ(unlink(path_of("a.json")), 0);
    CHECK(look().is_changed);
    check_targets("b:1 ");
    CHECK(!look().is_changed);
    stop();
}

TEST(scrapefiles_that_cannot_be_read_keep_their_targets_and_say_so_once)
{
    AUTO(buffer_done) struct buffer lines;
    struct scrapefiles_look seen;

    buffer_init(&lines, 0);
    log_capture(&lines);
    start("*.json");
    put("a.json", "- targets: ['a:1']\n");
    CHECK(look().is_changed);
    put("a.json", "- tragets: ['a:2']\n");
    seen = look();
    CHECK(!seen.is_changed);
    CHECK_EQ(seen.n_failures, 1);
    CHECK_HAS(buffer_slice(&lines), "the earlier ones stay");
    CHECK_HAS(buffer_slice(&lines), "a.json:1:3: unknown key 'tragets'; did you mean 'targets'?");
    buffer_clear(&lines);
    CHECK_EQ(look().n_failures, 1);
    CHECK_EQ(lines.len, 0);
    check_targets("a:1 ");
    put("a.json", "- targets: ['a:2']\n");
    seen = look();
    CHECK(seen.is_changed);
    CHECK_EQ(seen.n_failures, 0);
    check_targets("a:2 ");
    log_capture(NULL);
    stop();
}

static int refresh_once(void *context, struct error *err)
{
    struct scrapefiles_look seen;
    struct scrapefiles *own;
    int result;

    if (scrapefiles_new(config, &own, err) < 0)
        return -1;
    result = scrapefiles_refresh(own, now_ns, &seen, err);
    scrapefiles_free(own);
    return result;
}

TEST(scrapefiles_survive_each_allocation_failing)
{
    put("a.json", "- targets: ['a:1']\n");
    start("*.json");
    test_each_allocation_failing(refresh_once, NULL);
    stop();
}
