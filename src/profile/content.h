// SPDX-License-Identifier: Apache-2.0
/* Content hashes: what is equal across tables has an equal 128-bit hash, whatever its local id.
 *
 * Built bottom-up, once per batch (ids mean nothing across profiles, so nothing else can be compared cheaply):
 *
 *   string     its bytes
 *   function   name, file, and the system name where it differs; not the start line, or every edit of a file would
 *              make new functions
 *   mapping    build id, or file name without one; never the local id or where it was loaded
 *   frame      mapping, then function and line of each line in order; without lines, the address in the mapping; without
 *              a mapping, whether it is kernel or JIT code
 *   stack      sum over i of frame[i] * K[i], i counted from the leaf, in two lanes, then mixed with the depth
 *   label set  the labels in order
 *   link       its ids
 *
 * With keep_addresses, frames of equal lines but other addresses stay apart, and so do the segments of a mapping: the
 * frame's address, and the mapping's offset and size, are hashed as well. */
#pragma once

#include "base/hash.h"
#include "profile/tables.h"

struct content {
    struct hash128 *strings;
    struct hash128 *functions;
    struct hash128 *mappings;
    struct hash128 *frames;
    struct hash128 *stacks;
    struct hash128 *label_sets;
    struct hash128 *links;
};

/* Depth up to which stacks can be hashed; limits above it are cut to it. */
#define CONTENT_MAX_DEPTH 4096

/* Hashes everything in `tables`, into `arena`. Errors: ERR_MEMORY, ERR_LIMIT. Thread: any. */
MUST_CHECK int content_hash(const struct tables *tables, uint64_t seed, bool keep_addresses, struct arena *arena,
                            struct content *ret_content, struct error *err);

/* The pieces, for those who build tables one entry at a time. */
struct hash128 content_string(struct slice text, uint64_t seed);
struct hash128 content_function(const struct function *function, const struct hash128 *strings);
struct hash128 content_mapping(const struct mapping *mapping, const struct hash128 *strings, bool keep_addresses);
struct hash128 content_frame(const struct frame *frame, const struct line *lines, const struct tables *tables,
                             const struct hash128 *functions, const struct hash128 *mappings, bool keep_addresses);
struct hash128 content_stack(const uint32_t *frames, uint32_t depth, const struct hash128 *frame_hashes);
struct hash128 content_label_set(const struct label *labels, uint32_t n, const struct hash128 *strings);
struct hash128 content_link(const struct link *link);
