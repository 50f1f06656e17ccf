// SPDX-License-Identifier: Apache-2.0
#include "base/vec.h"

int vec_grow(void **items, size_t *capacity, size_t n, size_t extra, size_t item_bytes, size_t max, struct error *err)
{
    size_t needed, wanted, size;
    void *moved;

    if (__builtin_add_overflow(n, extra, &needed) || needed > max)
        return error_set(err, ERR_LIMIT, "more than %zu items", max);
    wanted = MIN(MAX(MAX(*capacity + *capacity / 2, needed), (size_t)8), max);
    if (__builtin_mul_overflow(wanted, item_bytes, &size))
        return error_set(err, ERR_LIMIT, "%zu items of %zu bytes do not fit in memory", wanted, item_bytes);
    moved = memory_realloc(*items, size, err);
    if (!moved)
        return -1;
    *items = moved;
    *capacity = wanted;
    return 0;
}
