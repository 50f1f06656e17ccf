// SPDX-License-Identifier: Apache-2.0
/* The flame format: whatever is read is sound. */
#include "base/arena.h"
#include "flame/flamebytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct flamebytes tree;
    struct arena arena;
    struct error err;

    arena_init(&arena, 64 << 20);
    if (flamebytes_decode(slice_of(data, size), &arena, &tree, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION || err.code == ERR_LIMIT);
    } else {
        ASSERT(tree.n_nodes >= 1 && tree.n_nodes <= size && tree.n_names <= size && tree.n_texts <= size);
        for (uint32_t i = 0; i < tree.n_names; i++)
            ASSERT(tree.names[i].len + tree.details[i].module.len + tree.details[i].file.len <= 3 * size);
        for (uint32_t i = 0; i < tree.n_nodes; i++) {
            ASSERT(tree.node_names[i] < tree.n_names && tree.depths[i] <= tree.max_depth);
            ASSERT(i == 0 || (tree.parents[i] < i && tree.depths[i] == tree.depths[tree.parents[i]] + 1));
        }
    }
    arena_done(&arena);
    return 0;
}
