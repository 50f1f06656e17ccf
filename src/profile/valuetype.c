// SPDX-License-Identifier: Apache-2.0
#include "profile/valuetype.h"

#define NAME_MAX_LEN 64 /* longer names are none we know */

enum match { EXACTLY, BEGINS };

struct known_type {
    const char *name; /* lower case, with underscores */
    enum match match;
    enum value_nature nature;
    enum value_temporality temporality;
};

/* Go counts these since the start of the process. The spelling matters: senders of deltas write alloc-space. */
static const char *const go_counters[] = { "alloc_objects", "alloc_space", "contentions", "delay" };

/* The first row that fits decides. */
static const struct known_type known_types[] = {
    /* States at a moment. */
    { "inuse", BEGINS, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "in_use", BEGINS, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "heap_live", BEGINS, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "heap_space", EXACTLY, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "live", BEGINS, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "goroutine", BEGINS, VALUE_LEVEL, TEMPORALITY_UNKNOWN }, /* also goroutines, goroutineleak */
    { "thread", EXACTLY, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "threads", EXACTLY, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "threadcreate", EXACTLY, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "rss", EXACTLY, VALUE_LEVEL, TEMPORALITY_UNKNOWN },

    /* What happened in a window. */
    { "cpu", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA }, /* also cpu_time, cpu_samples */
    { "wall", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "off_cpu", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "offcpu", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "sample", EXACTLY, VALUE_FLOW, TEMPORALITY_DELTA },
    { "samples", EXACTLY, VALUE_FLOW, TEMPORALITY_DELTA },
    { "itimer", EXACTLY, VALUE_FLOW, TEMPORALITY_DELTA },
    { "time", EXACTLY, VALUE_FLOW, TEMPORALITY_DELTA },
    { "alloc", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "malloc", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "lock", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "mutex", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "block", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "exception", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "file_io", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "socket", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "gpu_space", EXACTLY, VALUE_LEVEL, TEMPORALITY_UNKNOWN },
    { "gpu", BEGINS, VALUE_FLOW, TEMPORALITY_DELTA },
    { "timeline", EXACTLY, VALUE_FLOW, TEMPORALITY_DELTA },
    { "request_time", EXACTLY, VALUE_FLOW, TEMPORALITY_DELTA },
    { "tracepoint", EXACTLY, VALUE_FLOW, TEMPORALITY_DELTA },
};

static bool fits(const struct known_type *known, struct slice name)
{
    struct slice wanted = slice_from(known->name);

    return known->match == BEGINS ? slice_starts_with(name, wanted) : slice_equal(name, wanted);
}

/* Heap samplers of V8 and jemalloc call what is in use `space` in bytes and `objects`. */
static bool is_plain_heap(struct slice name, struct slice unit_name)
{
    const struct unit *unit = unit_find(unit_name);

    return unit && ((unit->family == UNIT_BYTES && slice_is(name, "space")) ||
                    (unit->family == UNIT_COUNT && slice_is(name, "objects")));
}

static bool is_go_counter(struct slice type)
{
    for (size_t i = 0; i < ARRAY_LEN(go_counters); i++)
        if (slice_is(type, go_counters[i]))
            return true;
    return false;
}

void value_type_describe(struct slice type, struct slice unit, enum value_nature *ret_nature,
                         enum value_temporality *ret_temporality)
{
    char text[NAME_MAX_LEN];
    struct slice name = { text, type.len };

    *ret_nature = VALUE_FLOW;
    *ret_temporality = TEMPORALITY_UNKNOWN;
    if (is_go_counter(type)) {
        *ret_temporality = TEMPORALITY_CUMULATIVE;
        return;
    }
    if (type.len > sizeof(text))
        return;
    for (size_t i = 0; i < type.len; i++) {
        char c = type.ptr[i];

        text[i] = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    if (is_plain_heap(name, unit)) {
        *ret_nature = VALUE_LEVEL;
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(known_types); i++) {
        if (fits(&known_types[i], name)) {
            *ret_nature = known_types[i].nature;
            *ret_temporality = known_types[i].temporality;
            return;
        }
    }
}

void value_type_describe_all(struct value_type *types, uint32_t n, const struct tables *tables, int64_t duration_ns)
{
    for (uint32_t i = 0; i < n; i++) {
        value_type_describe(tables_string(tables, types[i].type), tables_string(tables, types[i].unit),
                            &types[i].nature, &types[i].temporality);
        if (types[i].temporality == TEMPORALITY_CUMULATIVE && duration_ns != 0)
            types[i].temporality = TEMPORALITY_DELTA;
    }
}
