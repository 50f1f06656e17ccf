// SPDX-License-Identifier: Apache-2.0
/* Reading trees out of a stream of events that somebody else began: config.c does so for sections. */
#pragma once

#include "config/configtree.h"
#include "config/yamlevents_internal.h"

struct configtree_reader {
    struct yamlevents *events;
    struct arena *arena;
    const char *file; /* in the arena */
    size_t n_nodes;
};

MUST_CHECK int configtree_init(struct configtree_reader *reader, struct yamlevents *events, struct arena *arena,
                               struct error *err);
/* Reads the key that is the current event and its value. */
MUST_CHECK int configtree_read_pair(struct configtree_reader *reader, struct configtree **ret_node, struct error *err);
