// SPDX-License-Identifier: Apache-2.0
/* YAML into jobs, and jobs into targets: what is accepted makes URLs and lines of labels that cannot be misread, and the
 * same ones each time. */
#include "scrape/scrapetarget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TARGETS_MAX 2000 /* more are only more of the same */

struct summary {
    size_t n;
    struct hash128 hash;
};

static void check_url(struct slice url)
{
    struct slice rest =
        slice_starts_with(url, SLICE("https://")) ? slice_sub(url, 8, url.len) : slice_sub(url, 7, url.len);

    ASSERT(slice_starts_with(url, SLICE("http://")) || slice_starts_with(url, SLICE("https://")));
    ASSERT(url.len <= SCRAPETARGET_URL_MAX && slice_find_byte(rest, '/') > 0);
    ASSERT(slice_find_byte(slice_sub(rest, 0, (size_t)slice_find_byte(rest, '/')), '@') < 0);
    for (size_t i = 0; i < url.len; i++)
        ASSERT((unsigned char)url.ptr[i] > ' ' && url.ptr[i] != 0x7f);
}

/* The fixed lines first, then labels of the series, sorted, each once. */
static void check_lines(struct slice lines)
{
    struct slice rest = lines, line, before = SLICE("");
    bool has_instance = false, has_service = false;

    ASSERT(slice_next_line(&rest, &line) && slice_starts_with(line, SLICE("__name__=")));
    while (slice_next_part(&rest, '\n', &line)) {
        ptrdiff_t equals = slice_find_byte(line, '=');
        struct slice name = slice_sub(line, 0, (size_t)MAX(equals, 0));

        ASSERT(equals > 0 && relabel_is_name(name) && (size_t)equals + 1 < line.len);
        if (slice_is(name, "__delta__") || slice_is(name, "__interval_ns__"))
            continue;
        ASSERT(!slice_starts_with(name, SLICE("__")) && slice_compare(before, name) < 0);
        before = name;
        has_instance = has_instance || slice_is(name, "instance");
        has_service = has_service || slice_is(name, "service_name");
    }
    ASSERT(has_instance && has_service);
}

static int take(void *context, const struct scrapetarget_plan *plan, struct error *err)
{
    struct summary *summary = context;

    check_url(plan->url);
    check_lines(plan->lines);
    summary->hash = hash_fold(summary->hash, plan->identity.a, plan->identity.b);
    return ++summary->n < TARGETS_MAX ? 0 : error_set(err, ERR_MEMORY, "enough");
}

static struct summary plan_all(const struct scrapeconfig *config, struct relabel_scratch *scratch)
{
    struct summary summary = { 0, { 1, 1 } };
    struct scrapetarget_maker maker = { .scratch = scratch, .take = take, .context = &summary };
    struct arena arena;
    struct error err;

    arena_init(&arena, 16 << 20);
    maker.arena = &arena;
    for (size_t i = 0; i < config->n; i++)
        for (size_t j = 0; j < config->jobs[i].n_groups; j++)
            if (scrapetarget_plan(&maker, &config->jobs[i], &config->jobs[i].groups[j], &err) < 0)
                ASSERT(summary.n >= TARGETS_MAX);
    arena_done(&arena);
    return summary;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct configtree *tree;
    struct scrapeconfig *config;
    struct arena arena;
    struct error err;

    arena_init(&arena, 256 << 20);
    if (configtree_parse(slice_of(data, size), "fuzz.yaml", &arena, &tree, &err) == 0 &&
        scrapeconfig_new(tree, &config, &err) == 0) {
        struct relabel_scratch scratch;
        struct summary once, again;

        ASSERT(relabel_scratch_init(&scratch, &err) == 0);
        once = plan_all(config, &scratch);
        again = plan_all(config, &scratch);
        ASSERT(once.n == again.n && hash_equal(once.hash, again.hash));
        relabel_scratch_done(&scratch);
        scrapeconfig_free(config);
    } else {
        ASSERT(err.code == ERR_INVALID || err.code == ERR_LIMIT);
    }
    arena_done(&arena);
    return 0;
}
