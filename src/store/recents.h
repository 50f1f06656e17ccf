// SPDX-License-Identifier: Apache-2.0
/* Which rows were added to open hours lately, by their keys, in memory.
 *
 * Rows of a head are sorted by series. Whoever wants those of the last minute of every series would have to look into each
 * file of the head for each series; with this list each row is one lookup, mostly in what was not even written to a file
 * yet.
 *
 * N1  All rows of heads with `has_recents` that start at `from_ns` or later and have joined a group (commit.c) are in the
 *     list. A row may be in it twice.
 * N2  What finds no room raises `from_ns`, and so does what is forgotten. It never falls.
 *
 * Guarded by the lock of the day. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

struct recents_row {
    uint32_t head; /* place in day->heads */
    uint32_t tenant, group, series;
    int64_t start_ns;
    uint32_t sequence;
};

struct recents {
    VEC(struct recents_row) rows;
    size_t max_rows;
    int64_t from_ns;
};

/* A list for at most so many bytes. */
void recents_init(struct recents *recents, size_t max_bytes);
void recents_done(struct recents *recents);
void recents_add(struct recents *recents, const struct recents_row *row);
/* Forgets rows that start before `from_ns`. */
void recents_forget(struct recents *recents, int64_t from_ns);

struct recents_list {
    struct recents_row *rows;
    size_t n;
};
/* Those of a head and tenant that start at `from_ns` or later, from `arena`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int recents_find(const struct recents *recents, uint32_t head, uint32_t tenant, int64_t from_ns,
                            struct arena *arena, struct recents_list *ret_list, struct error *err);
/* Puts them into the order of their keys, each once. Needs no lock. */
void recents_sort(struct recents_list *list);
