// SPDX-License-Identifier: Apache-2.0
/* Memory maps at the end of old profiles, and which mapping an address is in.
 *
 *     00400000-00500000 r-xp 00001000 fd:01 1234   /usr/bin/app        as in /proc/self/maps
 *     0x400000-0x500000: /usr/bin/app (@1000) c0ffee                   shorter forms: offset and build id may lack
 *     build=/opt/app                                                   `$build` in later lines stands for it */
#include "base/buffer.h"
#include "wire/gperftools_internal.h"

#include <stdlib.h>

#define MAX_ATTRIBUTES 16
#define MAX_LINE_BYTES ((size_t)64 << 10) /* of a line with attributes put in */

/* --- one line --- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* A word that begins behind white space; empty where there is none. */
static struct slice take_word(struct slice *rest)
{
    struct slice after = *rest, word;

    gperftools_skip_spaces(&after);
    if (after.len == rest->len)
        return slice_of("", 0);
    word = after;
    word.len = 0;
    while (word.len < after.len && !is_space(after.ptr[word.len]))
        word.len++;
    *rest = slice_sub(after, word.len, SIZE_MAX);
    return word;
}

static bool is_permissions(struct slice word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!strchr("-rwxp", word.ptr[i]))
            return false;
    return word.len > 0;
}

/* "START-END", with 0x or without, and perhaps a colon behind. */
static bool take_range(struct slice *rest, uint64_t *ret_start, uint64_t *ret_limit)
{
    gperftools_skip_spaces(rest);
    (void)gperftools_take(rest, "0x");
    if (!gperftools_take_hex(rest, ret_start))
        return false;
    if (!gperftools_take(rest, "-") && !(rest->len && is_space(rest->ptr[0])))
        return false;
    gperftools_skip_spaces(rest);
    (void)gperftools_take(rest, "0x");
    if (!gperftools_take_hex(rest, ret_limit))
        return false;
    (void)gperftools_take(rest, ":");
    return true;
}

static bool is_device(struct slice word)
{
    uint64_t number;

    return gperftools_take_hex(&word, &number) && gperftools_take(&word, ":") && gperftools_take_hex(&word, &number) &&
           word.len == 0;
}

/* "OFFSET DEVICE INODE FILE", where offset and file may lack. */
static bool parse_kernel_form(struct slice rest, struct gperftools_mapping *mapping)
{
    struct slice offset = take_word(&rest), device = offset, inode;
    int64_t number;

    if (is_device(offset))
        offset = slice_of("", 0);
    else
        device = take_word(&rest);
    inode = take_word(&rest);
    if (!is_device(device) || !slice_to_i64(inode, &number) ||
        (offset.len && !slice_to_u64_hex(offset, &mapping->offset)))
        return false;
    mapping->file = take_word(&rest);
    return true;
}

/* "FILE (@OFFSET) BUILD-ID", each of which may lack. */
static void parse_brief_form(struct slice rest, struct gperftools_mapping *mapping)
{
    struct slice after, word;
    uint64_t number;

    mapping->file = take_word(&rest);
    after = rest;
    word = take_word(&after);
    if (gperftools_take(&word, "(@") && gperftools_take_hex(&word, &number) && slice_is(word, ")")) {
        mapping->offset = number;
        rest = after;
    }
    word = take_word(&rest);
    if (slice_to_u64_hex(slice_sub(word, 0, 1), &number))
        mapping->build_id = word;
}

/* False when the line is no mapping. *ret_is_code is false for data, which samples cannot be in. */
static bool parse_mapping(struct slice line, struct gperftools_mapping *ret_mapping, bool *ret_is_code)
{
    struct gperftools_mapping mapping = { 0 };
    struct slice rest = line, after, word;

    if (!take_range(&rest, &mapping.start, &mapping.limit))
        return false;
    after = rest;
    word = take_word(&after);
    *ret_is_code = true;
    if (is_permissions(word)) {
        *ret_is_code = slice_find_byte(word, 'x') >= 0;
        rest = after;
    }
    if (!parse_kernel_form(rest, &mapping)) {
        mapping.offset = 0;
        parse_brief_form(rest, &mapping);
    }
    *ret_mapping = mapping;
    return true;
}

/* --- all lines --- */

struct attribute {
    struct slice name, value;
};

struct attributes {
    struct attribute items[MAX_ATTRIBUTES];
    size_t n;
};

static void add_attribute(struct attributes *attributes, struct slice line)
{
    ptrdiff_t equals = slice_find_byte(line, '=');

    if (equals <= 0 || attributes->n == MAX_ATTRIBUTES)
        return;
    attributes->items[attributes->n++] = (struct attribute){
        .name = slice_trim(slice_sub(line, 0, (size_t)equals)),
        .value = slice_trim(slice_sub(line, (size_t)equals + 1, SIZE_MAX)),
    };
}

static const struct attribute *find_attribute(const struct attributes *attributes, struct slice text)
{
    for (size_t i = 0; i < attributes->n; i++)
        if (attributes->items[i].name.len && slice_starts_with(text, attributes->items[i].name))
            return &attributes->items[i];
    return NULL;
}

/* The line with the values of attributes in place of "$name"; the line itself where that would make it too long. */
static int replace_attributes(struct gperftools *g, const struct attributes *attributes, struct slice line,
                              struct slice *ret_line, struct error *err)
{
    AUTO(buffer_done) struct buffer out = { 0 };
    struct slice rest = line;

    *ret_line = line;
    if (attributes->n == 0 || slice_find_byte(line, '$') < 0)
        return 0;
    buffer_init(&out, MAX_LINE_BYTES);
    while (rest.len) {
        const struct attribute *attribute = NULL;

        if (rest.ptr[0] == '$')
            attribute = find_attribute(attributes, slice_sub(rest, 1, SIZE_MAX));
        buffer_append_slice(&out, attribute ? attribute->value : slice_sub(rest, 0, 1));
        rest = slice_sub(rest, attribute ? attribute->name.len + 1 : 1, SIZE_MAX);
    }
    if (out.failure.code == ERR_LIMIT)
        return 0;
    if (buffer_check(&out, err) < 0)
        return -1;
    *ret_line = arena_copy(&g->arena, buffer_slice(&out), err);
    return ret_line->ptr ? 0 : -1;
}

/* Cuts off what a logger may have put before: "I0102 12:00:00 17 file.cc:12] ". */
static struct slice without_log_prefix(struct slice line)
{
    ptrdiff_t end = slice_find(line, SLICE("] "));
    ptrdiff_t colon;
    uint64_t number;

    if (end < 0 || slice_find_byte(slice_sub(line, 0, (size_t)end), '[') >= 0)
        return line;
    colon = slice_find_last_byte(slice_sub(line, 0, (size_t)end), ':');
    if (colon <= 0 || !slice_to_u64(slice_sub(line, (size_t)colon + 1, (size_t)(end - colon) - 1), &number))
        return line;
    return slice_sub(line, (size_t)end + 2, SIZE_MAX);
}

int gperftools_read_maps(struct gperftools *g, struct slice text, struct error *err)
{
    struct attributes attributes = { 0 };
    struct slice line;

    while (slice_next_line(&text, &line)) {
        struct gperftools_mapping mapping, *place;
        bool is_code;

        if (replace_attributes(g, &attributes, without_log_prefix(line), &line, err) < 0)
            return -1;
        if (!parse_mapping(line, &mapping, &is_code)) {
            add_attribute(&attributes, line);
            continue;
        }
        if (!is_code)
            continue;
        place = VEC_PUSH(&g->mappings, UINT32_MAX - 1, err);
        if (!place)
            return error_wrap(err, "gperftools: reading the memory map");
        *place = mapping;
    }
    return 0;
}

/* --- tidying up --- */

static bool agree(struct slice a, struct slice b)
{
    return a.len == 0 || b.len == 0 || slice_equal(a, b);
}

/* Whether `next` goes on where `mapping` ends: two halves of one. */
static bool is_continued(const struct gperftools_mapping *mapping, const struct gperftools_mapping *next)
{
    return mapping->limit == next->start && agree(mapping->file, next->file) &&
           agree(mapping->build_id, next->build_id) &&
           (mapping->offset == 0 || next->offset == 0 ||
            mapping->offset + (mapping->limit - mapping->start) == next->offset);
}

static void join_halves(struct gperftools *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->mappings.n; i++) {
        const struct gperftools_mapping *next = &g->mappings.items[i];
        struct gperftools_mapping *last = n ? &g->mappings.items[n - 1] : NULL;

        if (last && is_continued(last, next)) {
            last->limit = next->limit;
            if (next->file.len)
                last->file = next->file;
            if (next->build_id.len)
                last->build_id = next->build_id;
        } else {
            g->mappings.items[n++] = *next;
        }
    }
    g->mappings.n = n;
}

/* ".so" at the end, or with a version behind it. */
static bool is_library(struct slice file)
{
    struct slice rest = file;
    ptrdiff_t at;

    if (slice_ends_with(file, SLICE(".so")))
        return true;
    while ((at = slice_find(rest, SLICE(".so"))) >= 0) {
        rest = slice_sub(rest, (size_t)at + 3, SIZE_MAX);
        if (rest.len >= 2 && (rest.ptr[0] == '.' || rest.ptr[0] == '_') && rest.ptr[1] >= '0' && rest.ptr[1] <= '9')
            return true;
    }
    return false;
}

/* By custom the first mapping is the main program: the first one that is neither a library nor made up by the kernel.
 */
static void put_main_first(struct gperftools *g)
{
    for (size_t i = 0; i < g->mappings.n; i++) {
        struct slice file = g->mappings.items[i].file;

        if (file.len && file.ptr[0] != '[' && !is_library(file)) {
            struct gperftools_mapping first = g->mappings.items[0];

            g->mappings.items[0] = g->mappings.items[i];
            g->mappings.items[i] = first;
            return;
        }
    }
}

void gperftools_tidy_maps(struct gperftools *g)
{
    struct gperftools_mapping *first = g->mappings.items;

    if (g->mappings.n == 0)
        return;
    join_halves(g);
    put_main_first(g);
    /* Code moved to huge pages hides the program, which then follows it directly. */
    if (g->mappings.n > 1 && slice_starts_with(first->file, SLICE("/anon_hugepage")) &&
        first->limit == first[1].start) {
        g->mappings.n--;
        memmove(first, first + 1, g->mappings.n * sizeof(*first));
    }
    /* A program that is linked to run at its usual place was mapped from its beginning. */
    if (first->start - first->offset == 0x400000) {
        first->start = 0x400000;
        first->offset = 0;
    }
}

/* --- finding --- */

struct range {
    struct gperftools_mapping *mapping;
    uint32_t index;
};

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    if (x->mapping->start != y->mapping->start)
        return x->mapping->start < y->mapping->start ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* How many ranges start at or below the address. */
static size_t ranges_below(const struct range *ranges, size_t n, uint64_t address)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = (low + n) / 2;

        if (ranges[middle].mapping->start <= address)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static uint32_t find_range(struct range *ranges, size_t n, uint64_t address)
{
    size_t below = ranges_below(ranges, n, address);
    uint64_t floor = below ? ranges[below - 1].mapping->limit : 0;
    struct gperftools_mapping *next;

    if (below && address < floor)
        return ranges[below - 1].index + 1;
    if (below == n)
        return 0;
    /* Some profilers leave out the first part of a mapping that came in two: an address there shows it. */
    next = ranges[below].mapping;
    if (next->offset == 0 || next->offset > next->start || next->start - next->offset > address ||
        next->start - next->offset < floor)
        return 0;
    next->start -= next->offset;
    next->offset = 0;
    return ranges[below].index + 1;
}

int gperftools_find_mappings(struct gperftools *g, uint32_t *ret_mappings, struct error *err)
{
    size_t n = g->mappings.n;
    struct range *ranges = ARENA_ARRAY(&g->arena, struct range, n, err);

    if (!ranges)
        return -1;
    for (size_t i = 0; i < n; i++)
        ranges[i] = (struct range){ .mapping = &g->mappings.items[i], .index = (uint32_t)i };
    if (n)
        qsort(ranges, n, sizeof(*ranges), compare_ranges);
    for (size_t i = 0; i < g->addresses.n; i++)
        ret_mappings[i] = find_range(ranges, n, g->addresses.items[i]);
    return 0;
}
