// SPDX-License-Identifier: Apache-2.0
/* Pieces of pprof made by hand, for tests. Strings are referred to by the constants below. */
#pragma once

#include "base/memory.h"
#include "base/test.h"
#include "wire/pprof.h"
#include "wire/pprof_internal.h"

#define EXAMPLE_STRINGS(X)                                                                                             \
    X(EMPTY, "")                                                                                                       \
    X(SAMPLES, "samples")                                                                                              \
    X(COUNT, "count")                                                                                                  \
    X(CPU, "cpu")                                                                                                      \
    X(NS, "nanoseconds")                                                                                               \
    X(BINARY, "/bin/app")                                                                                              \
    X(BUILD_ID, "c0ffee")                                                                                              \
    X(MAIN, "main")                                                                                                    \
    X(MAIN_C, "main.c")                                                                                                \
    X(WORK, "work")                                                                                                    \
    X(WORK_MANGLED, "_Z4workv")                                                                                        \
    X(INLINED, "inlined")                                                                                              \
    X(ROUTE, "route")                                                                                                  \
    X(INDEX_PAGE, "/index")                                                                                            \
    X(BYTES, "bytes")                                                                                                  \
    X(SPAN_ID, "span_id")                                                                                              \
    X(SPAN, "00f067aa0ba902b7")                                                                                        \
    X(TRACE_ID, "trace_id")                                                                                            \
    X(TRACE, "4bf92f3577b34da6a3ce929d0e0e4736")                                                                       \
    X(COMMENT, "made by hand")                                                                                         \
    X(DROP, "drop_me")                                                                                                 \
    X(KEEP, "keep_me")                                                                                                 \
    X(URL, "https://example.org/doc")                                                                                  \
    X(UNUSED_STRING, "nobody asks for me")

enum {
#define EXAMPLE_ENUM(name, text) EXAMPLE_##name,
    EXAMPLE_STRINGS(EXAMPLE_ENUM)
#undef EXAMPLE_ENUM
        EXAMPLE_N_STRINGS
};

static inline void example_strings(struct buffer *out)
{
    static const char *const texts[] = {
#define EXAMPLE_TEXT(name, text) text,
        EXAMPLE_STRINGS(EXAMPLE_TEXT)
#undef EXAMPLE_TEXT
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        protobuf_put_bytes_always(out, PPROF_PROFILE_STRING_TABLE, slice_from(texts[i]));
}

static inline void example_type(struct buffer *out, uint32_t field, uint64_t type, uint64_t unit)
{
    size_t begin = protobuf_begin(out, field);

    protobuf_put_uint(out, PPROF_VALUE_TYPE_TYPE, type);
    protobuf_put_uint(out, PPROF_VALUE_TYPE_UNIT, unit);
    protobuf_end(out, begin);
}

static inline void example_function(struct buffer *out, uint64_t id, uint64_t name, uint64_t system_name, uint64_t file,
                                    uint64_t start_line)
{
    size_t begin = protobuf_begin(out, PPROF_PROFILE_FUNCTION);

    protobuf_put_uint(out, PPROF_FUNCTION_ID, id);
    protobuf_put_uint(out, PPROF_FUNCTION_NAME, name);
    protobuf_put_uint(out, PPROF_FUNCTION_SYSTEM_NAME, system_name);
    protobuf_put_uint(out, PPROF_FUNCTION_FILENAME, file);
    protobuf_put_uint(out, PPROF_FUNCTION_START_LINE, start_line);
    protobuf_end(out, begin);
}

static inline void example_mapping(struct buffer *out, uint64_t id)
{
    size_t begin = protobuf_begin(out, PPROF_PROFILE_MAPPING);

    protobuf_put_uint(out, PPROF_MAPPING_ID, id);
    protobuf_put_uint(out, PPROF_MAPPING_MEMORY_START, 0x400000);
    protobuf_put_uint(out, PPROF_MAPPING_MEMORY_LIMIT, 0x500000);
    protobuf_put_uint(out, PPROF_MAPPING_FILE_OFFSET, 0x1000);
    protobuf_put_uint(out, PPROF_MAPPING_FILENAME, EXAMPLE_BINARY);
    protobuf_put_uint(out, PPROF_MAPPING_BUILD_ID, EXAMPLE_BUILD_ID);
    protobuf_put_uint(out, PPROF_MAPPING_FIRST_FLAG, 1);
    protobuf_put_uint(out, PPROF_MAPPING_LAST_FLAG, 1);
    protobuf_end(out, begin);
}

/* Lines are (function, line) pairs. */
static inline void example_location(struct buffer *out, uint64_t id, uint64_t mapping, uint64_t address,
                                    const uint64_t *lines, size_t n_lines)
{
    size_t begin = protobuf_begin(out, PPROF_PROFILE_LOCATION);

    protobuf_put_uint(out, PPROF_LOCATION_ID, id);
    protobuf_put_uint(out, PPROF_LOCATION_MAPPING_ID, mapping);
    protobuf_put_uint(out, PPROF_LOCATION_ADDRESS, address);
    for (size_t i = 0; i < n_lines; i++) {
        size_t line = protobuf_begin(out, PPROF_LOCATION_LINE);

        protobuf_put_uint(out, PPROF_LINE_FUNCTION_ID, lines[2 * i]);
        protobuf_put_uint(out, PPROF_LINE_LINE, lines[2 * i + 1]);
        protobuf_end(out, line);
    }
    protobuf_end(out, begin);
}
#define EXAMPLE_LINES(...)                                                                                             \
    (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / (2 * sizeof(uint64_t))

/* Integers packed into one field. */
static inline void example_packed(struct buffer *out, uint32_t field, const uint64_t *values, size_t n)
{
    size_t begin = protobuf_begin(out, field);

    for (size_t i = 0; i < n; i++)
        protobuf_put_varint(out, values[i]);
    protobuf_end(out, begin);
}
#define EXAMPLE_PACKED(out, field, ...)                                                                                \
    example_packed(out, field, (const uint64_t[]){ __VA_ARGS__ },                                                      \
                   sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline void example_label(struct buffer *out, uint64_t key, uint64_t text, uint64_t number, uint64_t unit)
{
    size_t begin = protobuf_begin(out, PPROF_SAMPLE_LABEL);

    protobuf_put_uint(out, PPROF_LABEL_KEY, key);
    protobuf_put_uint(out, PPROF_LABEL_STR, text);
    protobuf_put_uint(out, PPROF_LABEL_NUM, number);
    protobuf_put_uint(out, PPROF_LABEL_NUM_UNIT, unit);
    protobuf_end(out, begin);
}

/* Types, mapping, functions and locations: locations 1 (work, inlined into it: inlined) and 2 (main). */
static inline void example_symbols(struct buffer *out)
{
    example_type(out, PPROF_PROFILE_SAMPLE_TYPE, EXAMPLE_SAMPLES, EXAMPLE_COUNT);
    example_type(out, PPROF_PROFILE_SAMPLE_TYPE, EXAMPLE_CPU, EXAMPLE_NS);
    example_mapping(out, 1);
    example_location(out, 1, 1, 0x401234, EXAMPLE_LINES(3, 7, 1, 42));
    example_location(out, 2, 1, 0x402345, EXAMPLE_LINES(2, 12));
    example_function(out, 1, EXAMPLE_WORK, EXAMPLE_WORK_MANGLED, EXAMPLE_MAIN_C, 40);
    example_function(out, 2, EXAMPLE_MAIN, EXAMPLE_MAIN, EXAMPLE_MAIN_C, 10);
    example_function(out, 3, EXAMPLE_INLINED, EXAMPLE_INLINED, EXAMPLE_MAIN_C, 5);
}

static inline void example_scalars(struct buffer *out)
{
    protobuf_put_uint(out, PPROF_PROFILE_DROP_FRAMES, EXAMPLE_DROP);
    protobuf_put_uint(out, PPROF_PROFILE_KEEP_FRAMES, EXAMPLE_KEEP);
    protobuf_put_uint(out, PPROF_PROFILE_TIME_NANOS, 1790000000000000000u);
    protobuf_put_uint(out, PPROF_PROFILE_DURATION_NANOS, 10000000000u);
    example_type(out, PPROF_PROFILE_PERIOD_TYPE, EXAMPLE_CPU, EXAMPLE_NS);
    protobuf_put_uint(out, PPROF_PROFILE_PERIOD, 10000000);
    protobuf_put_uint(out, PPROF_PROFILE_COMMENT, EXAMPLE_COMMENT);
    protobuf_put_uint(out, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, EXAMPLE_CPU);
    protobuf_put_uint(out, PPROF_PROFILE_DOC_URL, EXAMPLE_URL);
}

/* A whole profile with something of everything: three samples, the first with labels, the second with a link. */
static inline void example_profile(struct buffer *out)
{
    size_t begin;

    example_symbols(out);
    begin = protobuf_begin(out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_LOCATION_ID, 1, 2);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_VALUE, 3, 30000000);
    example_label(out, EXAMPLE_ROUTE, EXAMPLE_INDEX_PAGE, 0, 0);
    example_label(out, EXAMPLE_BYTES, 0, 4096, EXAMPLE_BYTES);
    protobuf_end(out, begin);
    begin = protobuf_begin(out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_LOCATION_ID, 2);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_VALUE, 1, 10000000);
    example_label(out, EXAMPLE_TRACE_ID, EXAMPLE_TRACE, 0, 0);
    example_label(out, EXAMPLE_SPAN_ID, EXAMPLE_SPAN, 0, 0);
    protobuf_end(out, begin);
    begin = protobuf_begin(out, PPROF_PROFILE_SAMPLE);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_LOCATION_ID, 1, 1, 2);
    EXAMPLE_PACKED(out, PPROF_SAMPLE_VALUE, (uint64_t)-2, (uint64_t)-20000000);
    protobuf_end(out, begin);
    example_strings(out);
    example_scalars(out);
}

/* A copy of exactly that size, so that a sanitizer sees every byte read behind it. */
static inline struct slice example_exact_copy(struct slice bytes)
{
    struct error err = { 0 };
    char *copy = memory_alloc(bytes.len, &err);

    CHECK(copy);
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    return slice_of(copy, bytes.len);
}

/* Decodes and checks every id. The bytes must outlive the batch. */
static inline void example_decode(struct slice bytes, struct batch *batch)
{
    struct error err = { 0 };

    batch_init(batch, NULL);
    CHECK_OK(pprof_decode(bytes, batch, &err), &err);
    CHECK_OK(batch_check(batch, &err), &err);
}
