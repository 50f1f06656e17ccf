// SPDX-License-Identifier: Apache-2.0
/* Java profiles in the old text form: "--- heapz 1 ---" or "--- contentionz 1 ---" with "format = java", lines of
 * numbers and addresses, then the names of the addresses:
 *
 *     0x00000003 com.example.Worker.run (Worker.java:42)
 *     0x00000004 memcpy (/lib/libc.so)
 *     0x00000005 GC */
#include "wire/gperftools_internal.h"

#define HEAP_SAMPLING_BYTES (512 << 10)

static bool is_heading(struct slice line, bool *ret_is_heap)
{
    line = slice_trim(line);
    *ret_is_heap = slice_is(line, "--- heapz 1 ---");
    return *ret_is_heap || slice_is(line, "--- contentionz 1 ---");
}

/* Takes "key = value" apart. */
static bool parse_attribute(struct slice line, struct slice *ret_key, struct slice *ret_value)
{
    ptrdiff_t equals = slice_find_byte(line, '=');

    if (equals < 0)
        return false;
    *ret_key = slice_trim(slice_sub(line, 0, (size_t)equals));
    *ret_value = slice_trim(slice_sub(line, (size_t)equals + 1, SIZE_MAX));
    return true;
}

/* What the attributes before the samples say. `rest` is moved behind them. */
struct attributes {
    bool is_java;
    struct slice resolution;
    int64_t period;
    int64_t ms_since_reset;
};

static struct attributes read_attributes(struct slice *rest)
{
    struct attributes attributes = { 0 };
    struct slice next = *rest, line, key, value;

    while (slice_next_line(&next, &line)) {
        if (slice_trim(line).len && !parse_attribute(line, &key, &value))
            break;
        *rest = next;
        if (!slice_trim(line).len)
            continue;
        if (slice_is(key, "format"))
            attributes.is_java = slice_is(value, "java");
        else if (slice_is(key, "resolution"))
            attributes.resolution = value;
        else if (slice_is(key, "sampling period"))
            (void)slice_to_i64(value, &attributes.period); /* 0 stays for what is no number */
        else if (slice_is(key, "ms since reset"))
            (void)slice_to_i64(value, &attributes.ms_since_reset);
    }
    return attributes;
}

bool gperftools_is_java(struct slice bytes)
{
    struct slice rest = bytes, line;
    bool is_heap;

    return slice_next_line(&rest, &line) && is_heading(line, &is_heap) && read_attributes(&rest).is_java;
}

/* "SIZE COUNT @ 0x3 0x4", or time and count. False: no sample, so the names begin. */
static bool parse_sample(struct slice line, int64_t *values, struct slice *ret_addresses)
{
    line = slice_trim(line);
    if (!gperftools_take_decimal(&line, &values[1]))
        return false;
    gperftools_skip_spaces(&line);
    if (!gperftools_take_decimal(&line, &values[0]))
        return false;
    gperftools_skip_spaces(&line);
    if (!gperftools_take(&line, "@"))
        return false;
    *ret_addresses = line;
    return true;
}

static int add_sample(struct gperftools *g, bool is_heap, int64_t *values, struct slice addresses, struct error *err)
{
    int64_t block_bytes = 0;
    uint64_t saturated = 0;

    if (is_heap) {
        block_bytes = values[1] / values[0];
        gperftools_scale_heap(&values[0], &values[1], HEAP_SAMPLING_BYTES);
    } else if (g->period) {
        values[0] = value_multiply(values[0], g->period, &saturated);
        values[1] = value_multiply(values[1], g->period, &saturated);
    }
    if (gperftools_add_sample(g, values, err) < 0)
        return -1;
    gperftools_last(g)->block_bytes = block_bytes;
    return gperftools_take_addresses(g, addresses, 0, 0, err);
}

static int read_samples(struct gperftools *g, struct slice *rest, bool is_heap, struct error *err)
{
    struct slice next = *rest, line, addresses;
    int64_t values[2];

    for (; slice_next_line(&next, &line); *rest = next) {
        if (slice_trim(line).len == 0)
            continue;
        if (!parse_sample(line, values, &addresses))
            return 0;
        if (is_heap && (values[0] <= 0 || values[1] < 0)) {
            gperftools_skip_line(g, line);
            continue;
        }
        if (add_sample(g, is_heap, values, addresses, err) < 0)
            return -1;
    }
    return 0;
}

int gperftools_read_java(struct gperftools *g, struct error *err)
{
    struct slice rest = g->bytes, line = { 0 };
    struct attributes attributes;
    uint64_t saturated = 0;
    bool is_heap;

    if (!slice_next_line(&rest, &line) || !is_heading(line, &is_heap))
        return error_set(err, ERR_CORRUPT, "gperftools: Java profile without its heading");
    attributes = read_attributes(&rest);
    g->types[0] = (struct gperftools_type){ is_heap ? SLICE("inuse_objects") : SLICE("contentions"), SLICE("count") };
    g->types[1] = (struct gperftools_type){ is_heap ? SLICE("inuse_space") : SLICE("delay"), attributes.resolution };
    g->n_types = 2;
    g->has_block_bytes = is_heap;
    if (!is_heap && attributes.period) {
        g->period_type = g->types[0];
        g->period = attributes.period;
    }
    g->duration_ns = value_multiply(attributes.ms_since_reset, 1000000, &saturated);
    if (read_samples(g, &rest, is_heap, err) < 0)
        return -1;
    return gperftools_read_java_symbols(g, rest, err);
}

/* --- names --- */

static struct slice base_name(struct slice path)
{
    ptrdiff_t slash = slice_find_last_byte(path, '/');

    return slice_sub(path, (size_t)(slash + 1), SIZE_MAX);
}

/* "NAME (FILE:LINE)", "NAME (LIBRARY)" or a name alone. */
static struct gperftools_symbol parse_symbol(struct slice text)
{
    struct gperftools_symbol symbol = { .name = text };
    ptrdiff_t open = slice_find_last_byte(text, '('), colon;
    struct slice place;
    int64_t line;

    if (slice_find(text, SLICE("generated stub/JIT")) >= 0)
        return (struct gperftools_symbol){ .name = SLICE("STUB") };
    if (open <= 0 || !slice_ends_with(text, SLICE(")")) || text.ptr[open - 1] != ' ')
        return symbol;
    symbol.name = slice_trim(slice_sub(text, 0, (size_t)open));
    place = slice_sub(text, (size_t)open + 1, text.len - (size_t)open - 2);
    colon = slice_find_last_byte(place, ':');
    if (colon > 0 && slice_to_i64(slice_sub(place, (size_t)colon + 1, SIZE_MAX), &line)) {
        symbol.file = slice_sub(place, 0, (size_t)colon);
        symbol.line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
    } else {
        symbol.file = base_name(place);
    }
    return symbol;
}

int gperftools_read_java_symbols(struct gperftools *g, struct slice text, struct error *err)
{
    struct slice line;

    g->is_java = true;
    while (slice_next_line(&text, &line)) {
        struct gperftools_symbol symbol;
        uint64_t address;

        line = slice_trim(line);
        if (!gperftools_take(&line, "0x") || !gperftools_take_hex(&line, &address))
            continue;
        line = slice_trim(line);
        if (line.len == 0)
            continue;
        symbol = parse_symbol(line);
        if (gperftools_add_symbol(g, address, &symbol, err) < 0)
            return -1;
    }
    return 0;
}
