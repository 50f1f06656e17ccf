// SPDX-License-Identifier: Apache-2.0
/* The output of closing an hour: values of several kinds, each kind in the order of its keys, on their way into the
 * block family.
 *
 * Little stays in memory and becomes one file. More than `spill_bytes` goes to files at once, one for each kind; since
 * the kind stands before everything else in a key, their ranges do not overlap, and they are taken in together. */
#pragma once

#include "block/storekey.h"
#include "store/day.h"

#define OUTSET_KINDS 8

struct outset_value {
    struct storekey key;
    size_t offset, len;
};

struct outset {
    struct day *day;
    uint8_t hour;
    size_t spill_bytes;
    size_t held_bytes;
    bool is_spilled;
    uint64_t bytes; /* of all values */
    size_t largest; /* of them */
    struct outset_kind {
        char kind;
        struct storekey first, last; /* len 0 = none */
        struct kv_sst *sst;
        char *path;
        struct buffer data;
        VEC(struct outset_value) values;
    } kinds[OUTSET_KINDS]; /* in key order */
    char *path;            /* of the one file, if not spilled */
};

void outset_init(struct outset *outset, struct day *day, uint8_t hour, size_t spill_bytes);
/* Removes files that were not taken in. */
void outset_done(struct outset *outset);
/* Adds a value. Keys of one kind rise. Errors: those of kv.h, ERR_MEMORY. */
MUST_CHECK int outset_put(struct outset *outset, const struct storekey *key, struct slice value, struct error *err);
/* Finishes the files and takes them into the database, all at once, and looks whether they can be read there.
 * `*ret_file_bytes` is what was written. After a failure of the database itself the day must be opened again:
 * `*ret_is_unsure`. */
MUST_CHECK int outset_ingest(struct outset *outset, uint64_t *ret_file_bytes, bool *ret_is_unsure, struct error *err);
