// SPDX-License-Identifier: Apache-2.0
#include "tree/idmap.h"

#include <stdlib.h>

#define MAX_ENTRIES (UINT32_MAX - 1)

void idmap_done(struct idmap *map)
{
    VEC_DONE(&map->sorted);
    VEC_DONE(&map->late);
}

size_t idmap_bytes(const struct idmap *map)
{
    return (map->sorted.capacity + map->late.capacity) * sizeof(struct idmap_entry);
}

int idmap_add(struct idmap *map, uint32_t id, uint32_t value, struct error *err)
{
    bool is_next = !map->sorted.n || map->sorted.items[map->sorted.n - 1].id < id;
    struct idmap_entry *entry =
        is_next ? VEC_PUSH(&map->sorted, MAX_ENTRIES, err) : VEC_PUSH(&map->late, MAX_ENTRIES, err);

    if (!entry)
        return -1;
    *entry = (struct idmap_entry){ id, value };
    return 0;
}

static int by_id(const void *x, const void *y)
{
    const struct idmap_entry *a = x, *b = y;

    return a->id < b->id ? -1 : a->id > b->id;
}

/* Leaves the last entry of each id. */
static size_t drop_doubles(struct idmap_entry *entries, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        left -= left && entries[left - 1].id == entries[i].id;
        entries[left++] = entries[i];
    }
    return left;
}

int idmap_settle(struct idmap *map, struct error *err)
{
    struct idmap_entry *sorted;
    size_t from, late, to;

    if (!map->late.n)
        return 0;
    if (VEC_RESERVE(&map->sorted, map->late.n, MAX_ENTRIES, err) < 0)
        return -1;
    qsort(map->late.items, map->late.n, sizeof(*map->late.items), by_id);
    /* From the back, so that nothing is overwritten before it was moved. */
    sorted = map->sorted.items;
    from = map->sorted.n;
    late = map->late.n;
    to = from + late;
    map->sorted.n = to;
    while (late) {
        if (from && sorted[from - 1].id > map->late.items[late - 1].id)
            sorted[--to] = sorted[--from];
        else
            sorted[--to] = map->late.items[--late];
    }
    map->sorted.n = drop_doubles(sorted, map->sorted.n);
    VEC_DONE(&map->late);
    return 0;
}

/* The first entry from `at` on whose id is not below `id`: near ones are found quickly. */
static size_t skip_to(const struct idmap_entry *entries, size_t at, size_t n, uint32_t id)
{
    size_t step = 1, end;

    if (at == n || entries[at].id >= id)
        return at;
    while (at + step < n && entries[at + step].id < id) {
        at += step;
        step *= 2;
    }
    /* entries[at] is below the id, and entries[end] is not, or is not there. */
    end = MIN(at + step, n);
    while (end - at > 1) {
        size_t middle = at + (end - at) / 2;

        if (entries[middle].id < id)
            at = middle;
        else
            end = middle;
    }
    return end;
}

void idmap_forget(struct idmap *map, uint32_t id)
{
    size_t at = skip_to(map->sorted.items, 0, map->sorted.n, id);

    if (at < map->sorted.n && map->sorted.items[at].id == id)
        map->sorted.items[at].value = IDMAP_NONE;
    VEC_EACH (&map->late, entry)
        if (entry->id == id)
            entry->value = IDMAP_NONE;
}

void idmap_find(const struct idmap *map, const uint32_t *ids, uint32_t n, uint32_t *ret_values)
{
    const struct idmap_entry *entries = map->sorted.items;
    size_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        /* Most are the next one, or one of the next few. */
        for (size_t near = MIN(at + 4, map->sorted.n); at < near && entries[at].id < ids[i]; at++)
            ;
        at = skip_to(entries, at, map->sorted.n, ids[i]);
        ret_values[i] = at < map->sorted.n && entries[at].id == ids[i] ? entries[at].value : IDMAP_NONE;
    }
}
