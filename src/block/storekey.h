// SPDX-License-Identifier: Apache-2.0
/* The keys of a day's database. All integers are big endian, so that keys sort as their fields do.
 *
 * Family `default`, the index:
 *     'n' tenant                       -> name of the tenant
 *     's' tenant series                -> seriesinfo.h
 *     'd' tenant kind first_id         -> chunk.h
 *     'g' tenant                       -> u32 le: the first stack id of the current generation
 *     'i' tenant id[16]                -> idrecord.h: a profile with this id is here
 *     't' tenant number                -> tombstone (store/tombstone.h)
 *     'm' name                         -> counters: "sequence" (u32 le), "written", "kept" (u64 le), "deleted" (empty),
 *                                         "ids_from" (u32 le)
 *
 * Families `head-HH-N`, the open hours (HH = hour of the day, N = a number of its own among the heads of the hour):
 *     tenant group series start_ns sequence  -> headrow.h
 *
 * Family `block`, the closed ones (the kind stands in front, so that each kind of an hour is one range of keys):
 *     hour 'c' number                               -> marker: which head it holds, what it replaces (store/marker.h)
 *     hour kind tenant group series number part     -> a value of this kind
 *
 *   kind 'w' windows, 'r' sums, 's' samples of a series (part.h); part counts from 0
 *   kind '5' five minutes, 'h' the hour of a group (rollup.h): series is 0, part is piece * 256 + slot for '5', piece
 *            for 'h': what is too large for the memory of a closing comes in pieces, to be added up; pieces lead, since
 *            they are written one after another
 *   kind 't' tally of a tenant (store/marker.h): group, series and part are 0
 *   kind 'x' span index of a tenant: (span_id[8], series u32 be) pairs, sorted within a value; group and series are 0,
 *            part counts
 *
 *     0xff index-key                                -> a second copy of an entry of the index: 'n', 's' and 't' */
#pragma once

#include "base/bytes.h"
#include "base/slice.h"

struct storekey {
    char bytes[40];
    size_t len;
};

static inline struct slice storekey_slice(const struct storekey *key)
{
    return slice_of(key->bytes, key->len);
}

/* Keys of the index. A counter's name has at most 39 bytes. */
struct storekey storekey_tenant(uint32_t tenant);
struct storekey storekey_series(uint32_t tenant, uint32_t series);
struct storekey storekey_chunk(uint32_t tenant, uint8_t kind, uint32_t first_id);
struct storekey storekey_generation(uint32_t tenant);
struct storekey storekey_profile_id(uint32_t tenant, const uint8_t id[static 16]);
struct storekey storekey_tombstone(uint32_t tenant, uint32_t number);
struct storekey storekey_counter(const char *name);

/* The key of the copy that an entry of the index has in the family of blocks: the same behind one more byte. */
#define STOREKEY_COPY "\xff"
struct storekey storekey_copy(const struct storekey *key);

/* Times sort as they should, also those before 1970: start_ns is kept with its sign bit flipped. */
struct storekey storekey_row(uint32_t tenant, uint32_t group, uint32_t series, int64_t start_ns, uint32_t sequence);
/* The fields of a row's key; false if it is not one. */
bool storekey_parse_row(struct slice key, uint32_t *ret_tenant, uint32_t *ret_group, uint32_t *ret_series,
                        int64_t *ret_start_ns, uint32_t *ret_sequence);

/* Hours are 0 to 23. */
struct storekey storekey_marker(uint8_t hour, uint32_t number);
bool storekey_parse_marker(struct slice key, uint8_t *ret_hour, uint32_t *ret_number);

enum storekey_kind {
    STOREKEY_GROUP_SLOT = '5',
    STOREKEY_GROUP_HOUR = 'h',
    STOREKEY_SUMS = 'r',
    STOREKEY_SAMPLES = 's',
    STOREKEY_TALLY = 't',
    STOREKEY_WINDOWS = 'w',
    STOREKEY_SPANS = 'x',
};
struct storekey_block {
    uint8_t hour;
    enum storekey_kind kind;
    uint32_t tenant;
    uint32_t group;
    uint32_t series;
    uint32_t number;
    uint32_t part;
};
struct storekey storekey_block(struct storekey_block block);
bool storekey_parse_block(struct slice key, struct storekey_block *ret_block);

/* The families of open hours: "head-07-0". Only what storekey_head_name writes is parsed. */
#define STOREKEY_HEAD_BEGINNING  "head-"
#define STOREKEY_HEAD_NAME_BYTES 24
const char *storekey_head_name(uint8_t hour, uint32_t number, char ret_name[static STOREKEY_HEAD_NAME_BYTES]);
bool storekey_parse_head_name(const char *name, uint8_t *ret_hour, uint32_t *ret_number);

/* Fields of index keys, for whoever walks the family; false if the key is of another sort. */
bool storekey_parse_tenant(struct slice key, uint32_t *ret_tenant);
bool storekey_parse_series(struct slice key, uint32_t *ret_tenant, uint32_t *ret_series);
bool storekey_parse_chunk(struct slice key, uint32_t *ret_tenant, uint8_t *ret_kind, uint32_t *ret_first_id);
bool storekey_parse_tombstone(struct slice key, uint32_t *ret_tenant, uint32_t *ret_number);
