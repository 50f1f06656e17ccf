// SPDX-License-Identifier: Apache-2.0
/* Configurations for the tests of this room. */
#pragma once

#include "base/test.h"
#include "scrape/scrapeconfig.h"

/* Reads the list of jobs `yaml`, as if it stood in "/etc/hearth/hearth.yaml". */
static inline int scrapeconfig_sample_read(const char *yaml, struct scrapeconfig **ret_config, struct error *err)
{
    const struct configtree *tree;
    struct arena arena;
    int result;

    arena_init(&arena, 16 << 20);
    result = configtree_parse(slice_from(yaml), "/etc/hearth/hearth.yaml", &arena, &tree, err);
    if (result == 0)
        result = scrapeconfig_new(tree, ret_config, err);
    arena_done(&arena);
    return result;
}

static inline struct scrapeconfig *scrapeconfig_sample(const char *yaml)
{
    struct scrapeconfig *config = NULL;
    struct error err;

    CHECK_OK(scrapeconfig_sample_read(yaml, &config, &err), &err);
    return config;
}
