// SPDX-License-Identifier: Apache-2.0
/* Answers about what a store holds.
 *
 * E1  An answer is that of all rows that start in [from, until) and match, each counted once, whatever it is read from.
 * E2  Flows (CPU, allocations) are added up over time and over instances. Levels (memory in use, threads) are averaged
 *     over time: in each five minutes what each series reports on average, added up over the series; and of that the
 *     average over all five minutes in which there is something. With `sums_levels` they are added up like
 *     flows, as Pyroscope does.
 * E3  A query ends early with ERR_CANCELLED when nobody waits for it any more, with ERR_TIMEOUT at its deadline, and with
 *     ERR_LIMIT, naming the limit, when it needs more memory than a query may have.
 * E4  Filters are those of profile/filter.h. Those by labels choose samples, as the selector does; they see the labels
 *     of samples, rows and series alike (samplefilter.h), and single rows are read for them. Those by functions take
 *     samples, or calls of their stacks, out of profiles; the profiles stay. focus and ignore cost little in trees,
 *     tables and diffs; with hide, show, show_from and call_site these go by way of a profile, and so they do where functions of
 *     one name are in different files and the pattern is about the file. For answers over time, single rows are read.
 *     A wrong pattern is ERR_INVALID, naming it.
 *
 * Thread: any. */
#pragma once

#include "flame/diff.h"
#include "flame/top.h"
#include "profile/filter.h"
#include "store/store.h"
#include "tree/latenames.h"

#include <stdatomic.h>

struct engine;

struct engine_options {
    struct store *store;          /* borrowed */
    const struct latenames *late; /* gives names that the store does not have; NULL = none; borrowed */
    size_t cache_bytes;           /* call trees that stay between queries; 0 = 64 MiB */
    size_t query_bytes;           /* of one query; 0 = 256 MiB */
    uint32_t n_threads;           /* that one query may use; 0 = the number of cores, at most 4 */
    uint32_t n_at_a_time;         /* queries; others wait their turn; 0 = 2 */
};

/* Errors: ERR_MEMORY. */
MUST_CHECK int engine_new(const struct engine_options *options, struct engine **ret_engine, struct error *err);
void engine_free(struct engine *engine);
void engine_freep(struct engine **engine);

struct query {
    struct slice tenant;             /* empty = STORE_TENANT_DEFAULT */
    struct slice type;               /* full profile type */
    const struct selector *selector; /* NULL = everything; its own profile type is `type` or none */
    int64_t from_ns, until_ns;
    const struct store_ids *ids;     /* of spans, traces or profiles; NULL = whatever they are */
    struct filter_spec filter;       /* E4; without `labels`, which are the selector's */
    bool sums_levels;                /* E2 */
    int64_t deadline_mono_ns;        /* 0 = none */
    const atomic_bool *is_cancelled; /* NULL = never */
};

/* What an answer was made from, and how long its steps took. */
struct query_facts {
    struct store_reads reads;
    uint64_t n_rows;     /* profiles of series in the answer */
    int64_t duration_ns; /* of them together */
    bool is_level;
    bool is_averaged;    /* E2 */
    int64_t whole;       /* what the answer would come to without filters by functions, where it was asked for one */
    uint64_t whole_size; /* likewise, the sum of absolute values */
    int64_t read_ns, finish_ns; /* wall time */
    uint32_t n_threads;         /* that read */
};

/* The flame tree, of at most `max_nodes` nodes (0 = all) without the "other" ones. */
MUST_CHECK int engine_flame(struct engine *engine, const struct query *query, uint32_t max_nodes,
                            struct flame **ret_flame, struct query_facts *ret_facts, struct error *err);

struct engine_flame_options {
    uint32_t max_nodes; /* as above */
    double min_share;   /* of all that passes the filter: nodes below it may be left out, to "other"; 0 = none */
    /* Names of functions from the root: the tree begins at the node to which they lead, and has all of max_nodes for
     * what is below it. So a page can open an "other" of a tree that it has. */
    const struct slice *path;
    uint32_t n_path;
};
/* The flame tree, or a part of it. Errors: ERR_NOT_FOUND where no calls go along the path. */
MUST_CHECK int engine_flame_part(struct engine *engine, const struct query *query,
                                 const struct engine_flame_options *options, struct flame **ret_flame,
                                 struct query_facts *ret_facts, struct error *err);

/* The first `n` functions (0 = all) with their sums and raw samples, and what the others come to. The tree in `top` has but
 * the root, and its graph no calls. */
MUST_CHECK int engine_top(struct engine *engine, const struct query *query, enum top_order order, uint32_t n,
                          struct top **ret_top, struct query_facts *ret_facts, struct error *err);
/* The functions whose name matches, largest total first, with their callers and callees: the graph in `top` has all calls
 * into and out of them. */
MUST_CHECK int engine_peek(struct engine *engine, const struct query *query, const struct pattern *pattern,
                           struct top **ret_top, struct query_facts *ret_facts, struct error *err);

/* What changed between two selections: by function, and along the paths of one tree of both sides, of at most
 * options->max_nodes nodes (0 = all) without the "other" ones. Functions are by name, whatever options->granularity says. The
 * turn, the deadline and whether it is cancelled are those of `before`. `ret_facts` has room for both sides. Errors:
 * ERR_INVALID as diff_new has it. */
MUST_CHECK int engine_diff(struct engine *engine, const struct query *before, const struct query *after,
                           const struct diff_options *options, struct diff **ret_diff, struct query_facts *ret_facts,
                           struct error *err);
/* The same with a tree as `tree` says, instead of options->max_nodes: a node's share is the larger one of its two. All but the
 * tree is of the whole, whatever the path. Errors: those of engine_flame_part, too. */
MUST_CHECK int engine_diff_part(struct engine *engine, const struct query *before, const struct query *after,
                                const struct diff_options *options, const struct engine_flame_options *tree,
                                struct diff **ret_diff, struct query_facts *ret_facts, struct error *err);

/* What making a tree of the query would read, before it is asked: calls `visit` for each day (store_plan). */
MUST_CHECK int engine_plan(struct engine *engine, const struct query *query,
                           int (*visit)(void *context, const struct store_plan *plan, struct error *err), void *context,
                           struct query_facts *ret_facts, struct error *err);

/* All of it as one profile, in `batch` (initialised and empty, its limits hold): the type asked for first, then the one
 * that counts raw samples if there is one. For exports, and for all that flame/ and profile/ can do. */
MUST_CHECK int engine_profile(struct engine *engine, const struct query *query, struct batch *batch,
                              struct query_facts *ret_facts, struct error *err);
