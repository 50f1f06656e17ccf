// SPDX-License-Identifier: Apache-2.0
/* Rows of open hours: any input gives an error or a sorted row, and that row, written and read again, is the same. */
#include "base/memory.h"
#include "block/headrow.h"

#define MAX_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_same(const void *a, const void *b, size_t n, size_t item_bytes)
{
    return !a == !b && (!a || memcmp(a, b, n * item_bytes) == 0);
}

static void check_again(const struct headrow *row, struct arena *arena)
{
    AUTO(buffer_done) struct buffer out;
    struct headrow back;
    struct error err;

    buffer_init(&out, 0);
    headrow_encode(row, &out);
    ASSERT(headrow_decode(buffer_slice(&out), arena, &back, &err) == 0);
    ASSERT(back.duration_ns == row->duration_ns && back.period == row->period && back.label_set == row->label_set);
    ASSERT(back.n_types == row->n_types && back.n_samples == row->n_samples && back.n_links == row->n_links);
    ASSERT(is_same(back.stacks, row->stacks, row->n_samples, sizeof(*row->stacks)));
    ASSERT(is_same(back.values, row->values, (size_t)row->n_samples * row->n_types, sizeof(*row->values)));
    ASSERT(is_same(back.label_sets, row->label_sets, row->n_samples, sizeof(*row->label_sets)));
    ASSERT(is_same(back.links, row->links, row->n_samples, sizeof(*row->links)));
    ASSERT(is_same(back.link_table, row->link_table, row->n_links, sizeof(*row->link_table)));
    ASSERT(is_same(back.counts, row->counts, row->n_samples, sizeof(*row->counts)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    struct headrow row;
    struct error err;

    arena_init(&arena, MAX_BYTES);
    if (headrow_decode(slice_of(data, size), &arena, &row, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION || err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT(headrow_is_sorted(&row));
    arena.max_bytes *= 2; /* what was read once can be read again */
    check_again(&row, &arena);
    return 0;
}
