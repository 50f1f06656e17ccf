// SPDX-License-Identifier: Apache-2.0
/* A few services with the types that real clients send, for tests. */
#pragma once

#include "query/querycatalog.h"

#define CPU_TYPE        "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
#define SAMPLES_TYPE    "process_cpu:samples:count:cpu:nanoseconds"
#define ALLOC_TYPE      "memory:alloc_space:bytes:space:bytes"
#define INUSE_TYPE      "memory:inuse_space:bytes:space:bytes"
#define MUTEX_TYPE      "mutex:contentions:count:contentions:count"
#define MUTEX_TIME_TYPE "mutex:delay:nanoseconds:contentions:count"
#define BLOCK_TYPE      "block:contentions:count:contentions:count"
#define BLOCK_TIME_TYPE "block:delay:nanoseconds:contentions:count"
#define GOROUTINE_TYPE  "goroutines:goroutine:count:goroutine:count"
#define WALL_TYPE       "wall:wall:nanoseconds:wall:nanoseconds"
#define OFF_CPU_TYPE    "off_cpu:off_cpu:nanoseconds::"
#define ODD_TYPE        "odd:Live-Objects:count::"

static const struct querycatalog_type sample_go_types[] = {
    { SLICE(ALLOC_TYPE), 30 },     { SLICE(INUSE_TYPE), 30 }, { SLICE(MUTEX_TYPE), 3 },
    { SLICE(MUTEX_TIME_TYPE), 3 }, { SLICE(BLOCK_TYPE), 5 },  { SLICE(BLOCK_TIME_TYPE), 5 },
    { SLICE(GOROUTINE_TYPE), 2 },  { SLICE(CPU_TYPE), 2 },    { SLICE(SAMPLES_TYPE), 9 },
};
static const struct querycatalog_type sample_java_types[] = {
    { SLICE(WALL_TYPE), 1 },
    { SLICE(OFF_CPU_TYPE), 4 },
    { SLICE(ODD_TYPE), 4 },
};
static const struct querycatalog_type sample_dotted_types[] = { { SLICE(WALL_TYPE), 2 } };

static const struct querycatalog_service sample_services[] = {
    { SLICE("order-service"), sample_go_types, ARRAY_LEN(sample_go_types) },
    { SLICE("search"), sample_java_types, ARRAY_LEN(sample_java_types) },
    { SLICE("search.wall"), sample_dotted_types, ARRAY_LEN(sample_dotted_types) },
    { SLICE("com.example.shop"), sample_go_types, ARRAY_LEN(sample_go_types) },
};
static const struct querycatalog sample_catalog UNUSED = { sample_services, ARRAY_LEN(sample_services) };
