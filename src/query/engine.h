// SPDX-License-Identifier: Apache-2.0
/* Answers about what a store holds.
 *
 * E1  An answer is that of all rows that start in [from, until) and match, each counted once, whatever it is read from.
 * E2  Flows (CPU, allocations) are added up over time and over instances. Levels (memory in use, threads) are averaged
 *     over time: in each five minutes what a profile reports on average, times the number of series that report; and of
 *     that the average over all five minutes in which there is something. With `sums_levels` they are added up like
 *     flows, as Pyroscope does.
 * E3  A query ends early with ERR_CANCELLED when nobody waits for it any more, with ERR_TIMEOUT at its deadline, and with
 *     ERR_LIMIT, naming the limit, when it needs more memory than a query may have.
 *
 * Thread: any. */
#pragma once

#include "flame/flame.h"
#include "store/store.h"

#include <stdatomic.h>

struct engine;

struct engine_options {
    struct store *store;  /* borrowed */
    size_t cache_bytes;   /* call trees that stay between queries; 0 = 64 MiB */
    size_t query_bytes;   /* of one query; 0 = 256 MiB */
    uint32_t n_threads;   /* that one query may use; 0 = the number of cores, at most 4 */
    uint32_t n_at_a_time; /* queries; others wait their turn; 0 = 2 */
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
    bool is_averaged;           /* E2 */
    int64_t read_ns, finish_ns; /* wall time */
    uint32_t n_threads;         /* that read */
};

/* The flame tree, of at most `max_nodes` nodes (0 = all) without the "other" ones. */
MUST_CHECK int engine_flame(struct engine *engine, const struct query *query, uint32_t max_nodes,
                            struct flame **ret_flame, struct query_facts *ret_facts, struct error *err);
/* All of it as one profile, in `batch` (initialised and empty, its limits hold): the type asked for first, then the one
 * that counts raw samples if there is one. For exports, and for all that flame/ and profile/ can do. */
MUST_CHECK int engine_profile(struct engine *engine, const struct query *query, struct batch *batch,
                              struct query_facts *ret_facts, struct error *err);
