// SPDX-License-Identifier: Apache-2.0
#include "intake/legacytype.h"

static const struct legacytype types[] = {
    { "cpu", "process_cpu", "cpu", "nanoseconds", "cpu" },
    { "itimer", "process_cpu", "cpu", "nanoseconds", "cpu" },
    { "wall", "wall", "wall", "nanoseconds", "cpu" },
    { "seconds", "wall", "wall", "nanoseconds", "cpu" },
    { "nanoseconds", "wall", "wall", "nanoseconds", "cpu" },
    { "microseconds", "wall", "wall", "nanoseconds", "cpu" },
    { "milliseconds", "wall", "wall", "nanoseconds", "cpu" },
    { "inuse_objects", "memory", "inuse_objects", "count", NULL },
    { "alloc_objects", "memory", "alloc_objects", "count", NULL },
    { "inuse_space", "memory", "inuse_space", "bytes", NULL },
    { "alloc_space", "memory", "alloc_space", "bytes", NULL },
    { "goroutines", "goroutine", "goroutines", "count", NULL },
    { "mutex_count", "mutex", "contentions", "count", NULL },
    { "mutex_duration", "mutex", "delay", "nanoseconds", NULL },
    { "block_count", "block", "contentions", "count", NULL },
    { "lock_count", "block", "contentions", "count", NULL },
    { "block_duration", "block", "delay", "nanoseconds", NULL },
    { "lock_duration", "block", "delay", "nanoseconds", NULL },
    { "alloc_in_new_tlab_objects", "memory", "alloc_in_new_tlab_objects", "count", NULL },
    { "alloc_in_new_tlab_bytes", "memory", "alloc_in_new_tlab_bytes", "bytes", NULL },
    { "alloc_outside_tlab_objects", "memory", "alloc_outside_tlab_objects", "count", NULL },
    { "alloc_outside_tlab_bytes", "memory", "alloc_outside_tlab_bytes", "bytes", NULL },
    { "live", "memory", "live", "count", NULL },
    { "exceptions", "exceptions", "samples", "count", NULL },
    { "bytes", "memory", "samples", "bytes", NULL },
};

int legacytype_find(struct slice app, const struct legacytype **ret_type, struct slice *ret_app, struct error *err)
{
    ptrdiff_t dot = slice_find_last_byte(app, '.');
    struct slice suffix = dot < 0 ? SLICE("cpu") : slice_sub(app, (size_t)dot + 1, SIZE_MAX);

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!slice_is(suffix, types[i].suffix))
            continue;
        *ret_type = &types[i];
        *ret_app = dot < 0 ? app : slice_sub(app, 0, (size_t)dot);
        return 0;
    }
    return error_set(
        err, ERR_INVALID,
        "unknown profile type '%.*s' at the end of the name; known are cpu, itimer, wall, alloc_objects, "
        "alloc_space, inuse_objects, inuse_space, goroutines, mutex_count, mutex_duration, block_count, ...",
        (int)MIN(suffix.len, 64u), suffix.ptr);
}
