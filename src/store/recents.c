// SPDX-License-Identifier: Apache-2.0
#include "store/recents.h"

#include <stdlib.h>

void recents_init(struct recents *recents, size_t max_bytes)
{
    *recents = (struct recents){ .max_rows = max_bytes / sizeof(struct recents_row), .from_ns = INT64_MIN };
}

void recents_done(struct recents *recents)
{
    VEC_DONE(&recents->rows);
}

void recents_add(struct recents *recents, const struct recents_row *row)
{
    struct recents_row *slot;
    struct error err;

    if (row->start_ns < recents->from_ns)
        return;
    slot = recents->rows.n < recents->max_rows ? VEC_PUSH(&recents->rows, recents->max_rows, &err) : NULL;
    if (slot)
        *slot = *row;
    else
        recents->from_ns = row->start_ns == INT64_MAX ? INT64_MAX : row->start_ns + 1;
}

void recents_forget(struct recents *recents, int64_t from_ns)
{
    size_t n = 0;

    recents->from_ns = MAX(recents->from_ns, from_ns);
    for (size_t i = 0; i < recents->rows.n; i++)
        if (recents->rows.items[i].start_ns >= recents->from_ns)
            recents->rows.items[n++] = recents->rows.items[i];
    recents->rows.n = n;
}

static int by_key(const void *a, const void *b)
{
    const struct recents_row *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static bool is_meant(const struct recents_row *row, uint32_t head, uint32_t tenant, int64_t from_ns)
{
    return row->head == head && row->tenant == tenant && row->start_ns >= from_ns;
}

int recents_find(const struct recents *recents, uint32_t head, uint32_t tenant, int64_t from_ns, struct arena *arena,
                 struct recents_list *ret_list, struct error *err)
{
    struct recents_row *rows;
    size_t n = 0;

    for (size_t i = 0; i < recents->rows.n; i++)
        n += is_meant(&recents->rows.items[i], head, tenant, from_ns);
    rows = ARENA_ARRAY(arena, struct recents_row, n, err);
    if (!rows)
        return -1;
    *ret_list = (struct recents_list){ .rows = rows };
    for (size_t i = 0; i < recents->rows.n; i++)
        if (is_meant(&recents->rows.items[i], head, tenant, from_ns))
            rows[ret_list->n++] = recents->rows.items[i];
    return 0;
}

void recents_sort(struct recents_list *list)
{
    size_t n = 0;

    if (list->n)
        qsort(list->rows, list->n, sizeof(*list->rows), by_key);
    for (size_t i = 0; i < list->n; i++)
        if (!n || by_key(&list->rows[n - 1], &list->rows[i]) != 0)
            list->rows[n++] = list->rows[i];
    list->n = n;
}
