// SPDX-License-Identifier: Apache-2.0
/* What the readers of the old formats share. Each takes the bytes apart into samples of addresses, symbols and
 * mappings; gperftools.c then makes a profile of them. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/profile.h"

#define GPERFTOOLS_MAX_TYPES 4

struct gperftools_sample {
    size_t first_address; /* its addresses, leaf first, are addresses[first_address .. first_address + depth) */
    size_t depth;
    int64_t values[GPERFTOOLS_MAX_TYPES];
    uint64_t count;      /* raw samples, 0 = unknown */
    int64_t block_bytes; /* size of one object, of heap samples */
};

struct gperftools_mapping {
    uint64_t start, limit, offset;
    struct slice file, build_id;
};

/* A name for an address: Java profiles have a table of them, Go writes them behind samples. */
struct gperftools_symbol {
    struct slice name, file;
    uint32_t line;
    bool is_inlined; /* into the next symbol, which is at the same address */
};

struct gperftools_type {
    struct slice type, unit;
};

struct gperftools {
    struct slice bytes;
    struct batch *batch;
    struct arena arena; /* for texts that are not in the bytes */

    struct gperftools_type types[GPERFTOOLS_MAX_TYPES];
    uint32_t n_types;
    struct gperftools_type period_type;
    int64_t period;
    int64_t duration_ns;
    bool has_block_bytes;
    bool is_java;             /* what has a name has no address: the numbers are no places of code */
    struct slice drop_frames; /* what the profiler itself adds to stacks */

    VEC(struct gperftools_sample) samples;
    VEC(uint64_t) addresses;
    VEC(struct gperftools_mapping) mappings;
    VEC(struct gperftools_symbol) symbols;
    struct map symbol_of; /* address -> its first symbol */
};

/* Starts a sample of these values; its addresses follow, leaf first. Zeros are left out: no code lives there.
 * Errors: ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int gperftools_add_sample(struct gperftools *g, const int64_t *values, struct error *err);
MUST_CHECK int gperftools_add_address(struct gperftools *g, uint64_t address, struct error *err);

/* Names an address, unless it has a name. Errors: ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int gperftools_add_symbol(struct gperftools *g, uint64_t address, const struct gperftools_symbol *symbol,
                                     struct error *err);

static inline struct gperftools_sample *gperftools_last(struct gperftools *g)
{
    return &g->samples.items[g->samples.n - 1];
}

static inline uint64_t *gperftools_addresses(const struct gperftools *g, const struct gperftools_sample *sample)
{
    return sample->depth ? g->addresses.items + sample->first_address : NULL;
}

/* The readers. Each begins at the start of the bytes and is called only if its `is_` says so. */
bool gperftools_is_cpu(struct slice bytes);
MUST_CHECK int gperftools_read_cpu(struct gperftools *g, struct error *err);
bool gperftools_is_heap(struct slice bytes);
MUST_CHECK int gperftools_read_heap(struct gperftools *g, struct error *err);
bool gperftools_is_count(struct slice bytes);
MUST_CHECK int gperftools_read_count(struct gperftools *g, struct error *err);
bool gperftools_is_threads(struct slice bytes);
MUST_CHECK int gperftools_read_threads(struct gperftools *g, struct error *err);
bool gperftools_is_contention(struct slice bytes);
MUST_CHECK int gperftools_read_contention(struct gperftools *g, struct error *err);
bool gperftools_is_java(struct slice bytes);
MUST_CHECK int gperftools_read_java(struct gperftools *g, struct error *err);

/* Reads a memory map: lines of /proc/self/maps or of the shorter forms; other lines are passed over. */
MUST_CHECK int gperftools_read_maps(struct gperftools *g, struct slice text, struct error *err);
/* Tidies the mappings up: halves joined, the main program first, known lies corrected. */
void gperftools_tidy_maps(struct gperftools *g);
/* Finds the mapping of each address: ret_mappings has one index + 1 for each of g->addresses, 0 = none. May move the
 * start of a mapping down to what an address shows. */
MUST_CHECK int gperftools_find_mappings(struct gperftools *g, uint32_t *ret_mappings, struct error *err);

/* Reads lines "0xADDRESS NAME (FILE:LINE)" into the symbols, for addresses that occur. */
MUST_CHECK int gperftools_read_java_symbols(struct gperftools *g, struct slice text, struct error *err);

/* Takes out the second address where it is the leaf once more: it comes both from the signal and from walking the
 * stack, where it was taken for a return address. */
void gperftools_remove_doubled_leaves(struct gperftools *g);

/* Counts and sizes of a sample of allocations, taken every `rate` bytes, as the numbers they stand for. */
void gperftools_scale_heap(int64_t *count, int64_t *size_bytes, int64_t rate);

/* --- text --- */

bool gperftools_is_blank_or_comment(struct slice line);
bool gperftools_is_map_heading(struct slice line);
/* Each takes something off the front of `rest`, or leaves it and says no. */
bool gperftools_take(struct slice *rest, const char *text);
void gperftools_skip_spaces(struct slice *rest);
bool gperftools_take_decimal(struct slice *rest, int64_t *ret_value);
bool gperftools_take_hex(struct slice *rest, uint64_t *ret_value); /* without 0x */
/* Adds every "0x12" in the text to the newest sample, each plus `adjust`; the leaf plus `adjust_leaf`. What does not
 * fit in 64 bits is no address. */
MUST_CHECK int gperftools_take_addresses(struct gperftools *g, struct slice rest, int64_t adjust_leaf, int64_t adjust,
                                         struct error *err);
/* Tells of a line that is no sample. */
void gperftools_skip_line(struct gperftools *g, struct slice line);
