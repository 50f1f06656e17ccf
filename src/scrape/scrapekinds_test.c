// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapekinds_internal.h"

#include "base/clock.h"
#include "base/test.h"

static struct arena arena;

__attribute__((destructor)) static void teardown(void)
{
    arena_done(&arena);
}

static int read_kinds(const char *yaml, int interval_s, const struct scrapeconfig_kind **ret_kinds, size_t *ret_n,
                      struct error *err)
{
    const struct configtree *tree;

    arena_done(&arena);
    arena_init(&arena, 16 << 20);
    CHECK_OK(configtree_parse(slice_from(yaml), "kinds.yaml", &arena, &tree, err), err);
    return scrapekinds_read(tree, interval_s * CLOCK_NS_PER_SECOND, &arena, ret_kinds, ret_n, err);
}

/* Each kind as "key name path window seconds", a line each. */
static void check_kinds(const char *yaml, int interval_s, const char *wanted)
{
    static const char *const windows[] = { "start", "seconds", "last" };
    AUTO(buffer_done) struct buffer text;
    const struct scrapeconfig_kind *kinds;
    struct error err;
    size_t n;

    buffer_init(&text, 0);
    CHECK_OK(read_kinds(yaml, interval_s, &kinds, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        buffer_printf(&text, "%.*s %.*s %.*s %s %zu\n", SLICE_ARG(kinds[i].key), SLICE_ARG(kinds[i].name),
                      SLICE_ARG(kinds[i].path), windows[kinds[i].window], (size_t)kinds[i].seconds);
    CHECK_TEXT(buffer_slice(&text), wanted);
}

static void check_refused(const char *yaml, const char *story)
{
    const struct scrapeconfig_kind *kinds;
    struct error err;
    size_t n;

    CHECK_ERROR(read_kinds(yaml, 15, &kinds, &n, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, story);
}

TEST(scrapekinds_are_by_default_what_every_go_program_serves_once)
{
    check_kinds("", 15,
                "process_cpu process_cpu /debug/pprof/profile seconds 14\n"
                "memory memory /debug/pprof/heap start 0\n"
                "goroutine goroutine /debug/pprof/goroutine start 0\n"
                "mutex mutex /debug/pprof/mutex start 0\n"
                "block block /debug/pprof/block start 0\n");
}

#define NONE "goroutine: {enabled: false}, mutex: {enabled: no}, block: {enabled: off}"

TEST(scrapekinds_are_changed_and_added_by_name)
{
    check_kinds("pprof_config: {profile: {seconds: 5}, heap: {path: /heap}, " NONE "}", 15,
                "process_cpu process_cpu /debug/pprof/profile seconds 5\nmemory memory /heap start 0\n");
    check_kinds("path_prefix: /app/\npprof_config: {process_cpu: {enabled: false}, memory: {enabled: false}, " NONE
                ", wall: {path: /debug/wall, delta: true}, pool: {path: /pool}}",
                60, "wall wall /app/debug/wall seconds 59\npool pool /app/pool start 0\n");
}

TEST(scrapekinds_ask_for_at_least_a_second)
{
    check_kinds("pprof_config: {memory: {enabled: false}, " NONE "}", 1,
                "process_cpu process_cpu /debug/pprof/profile seconds 1\n");
}

TEST(scrapekinds_of_the_same_data_are_not_scraped_twice)
{
    check_kinds("pprof_config: {allocs: {}, process_cpu: {enabled: false}, " NONE "}", 15,
                "allocs memory /debug/pprof/allocs start 0\n");
    check_kinds("pprof_config: {godeltaprof_heap: , godeltaprof_mutex: {enabled: true}, process_cpu: {enabled: false}, "
                "goroutine: {enabled: false}}",
                15,
                "block block /debug/pprof/block start 0\n"
                "godeltaprof_memory memory /debug/pprof/delta_heap last 0\n"
                "godeltaprof_mutex mutex /debug/pprof/delta_mutex last 0\n");
    check_refused("pprof_config: {memory: {enabled: true}, allocs: {enabled: true}}",
                  "'memory' and 'allocs' are the same data, which would count twice; keep one");
}

TEST(scrapekinds_refuse_what_cannot_work)
{
    check_refused("pprof_config: {proces_cpu: {enabled: false}}",
                  "'proces_cpu' is no known kind of profile; did you mean 'process_cpu'? Others need a path");
    check_refused("pprof_config: {zzz: {}}", "'zzz' is no known kind of profile, so it needs a path");
    check_refused("pprof_config: {a-b: {path: /x}}", "'a-b' is no name of profiles");
    check_refused("pprof_config: {memory: {path: x}}", "path 'x' must begin with '/'");
    check_refused("pprof_config: {memory: {path: '/x?y=z'}}", "parameters are params");
    check_refused("path_prefix: x", "path 'x' must begin with '/'");
    check_refused("pprof_config: {memory: {}, heap: {}}", "'heap' was given on line 1 already, under its other name");
    check_refused("pprof_config: {memory: {seconds: 5}}", "'seconds' needs 'delta: true'");
    check_refused("pprof_config: {process_cpu: {seconds: 16}}", "is more than the scrape_interval of 15 seconds");
    check_refused("pprof_config: {godeltaprof_block: {seconds: 5}}", "has its own window: since the last scrape");
    check_refused("pprof_config: {process_cpu: {delta: false}}", "'process_cpu' is always of some seconds");
    check_refused("pprof_config: [a]", "pprof_config is a map");
    check_refused("pprof_config: {memory: {enable: true}}", "did you mean 'enabled'?");
}

TEST(scrapekinds_have_a_maximum)
{
    AUTO(buffer_done) struct buffer yaml;
    const struct scrapeconfig_kind *kinds;
    struct error err;
    size_t n;

    buffer_init(&yaml, 0);
    buffer_append_text(&yaml, "pprof_config:\n");
    for (int i = 0; i < SCRAPECONFIG_KINDS_MAX; i++)
        buffer_printf(&yaml, "  k%d: {path: /x}\n", i);
    buffer_append_byte(&yaml, '\0');
    CHECK_ERROR(read_kinds(yaml.data, 15, &kinds, &n, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "pprof_config has too many kinds; at most 32 are read");
}
