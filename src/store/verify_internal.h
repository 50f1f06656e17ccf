// SPDX-License-Identifier: Apache-2.0
/* What the files of verify share.
 *
 *     verify.c           a whole day: tenants, markers, open hours, what belongs to nobody
 *     verify_walk.c      walking keys past damage; telling; setting aside
 *     verify_names.c     the dictionary and the series of a tenant
 *     verify_blocks.c    the closed hours of a tenant */
#pragma once

#include "block/chunk.h"
#include "block/storekey.h"
#include "pack/unpacker.h"
#include "store/verify.h"

/* Ids that are there: first to end, end not among them. */
struct verify_range {
    uint32_t first;
    uint64_t end;
};

struct verify_series {
    uint32_t id, group, n_types;
    uint64_t group_hash;
};

/* A chunk whose header cannot be read: how many ids it had shows only where the next one begins, or what rows name. */
struct verify_lost_chunk {
    uint8_t kind;
    uint32_t first;
    uint64_t end; /* 0 = it is the last of its kind */
};

/* What is known of the tenant that is being checked. */
struct verify_tenant {
    uint32_t id;
    char name[STORE_TENANT_MAX_BYTES + 1];
    VEC(struct verify_range) ids[CHUNK_KINDS]; /* rising */
    size_t last_range[CHUNK_KINDS];            /* where the id before was found */
    uint32_t max_named[CHUNK_KINDS];           /* the largest id that anything names */
    VEC(struct verify_lost_chunk) lost;
    VEC(uint64_t) missing;            /* kind << 32 | id: named and not there, rising; as many as can be mended */
    bool has_more_missing;            /* than that */
    uint64_t n_naming;                /* findings about missing ids */
    bool is_partial;                  /* part of the dictionary could not be read */
    VEC(struct verify_series) series; /* rising ids */
};

/* A marker and what its closing really has. */
struct verify_closing {
    struct marker marker;
    bool is_replaced;
    bool is_cut;    /* values of it were bad, so that nothing can be expected of the counts */
    bool is_unsure; /* values of it could not be read, so that the counts are not known */
    uint64_t n_rows, n_samples, bytes;
};

struct verify_run {
    struct day *day;
    struct store_verify *verify;
    const char *quarantine_dir;
    struct day_view view;
    uint64_t n_findings, n_mended;
    bool is_unreadable; /* RocksDB could not read something */
    bool has_repaired;  /* some repairs were written */
    struct kv_batch *repairs;
    int aside_fd; /* -1 = nothing was set aside */
    char *aside_path;
    struct arena arena; /* of one value */
    struct unpacker *unpacker;
    struct buffer scratch;
    VEC(struct verify_tenant_name {
        uint32_t id;
        char name[STORE_TENANT_MAX_BYTES + 1];
    })
    tenants;                             /* rising ids */
    VEC(struct verify_closing) closings; /* by hour and number */
    struct verify_tenant tenant;
};

/* --- verify_walk.c --- */

/* Tells one finding: the day's name and what is said. */
void verify_find(struct verify_run *run, const char *fmt, ...) PRINTF(2, 3);
/* When repairing: sets a value aside. */
MUST_CHECK int verify_set_aside(struct verify_run *run, uint32_t family, struct slice key, struct slice value,
                                struct error *err);
/* When repairing: puts a value in place of what is there. */
void verify_replace(struct verify_run *run, uint32_t family, struct slice key, struct slice value);
/* Counts the finding that was told last as mended, if repairing. */
void verify_mended(struct verify_run *run);
/* Whether an error means that a value is bad, rather than that checking failed. What needs more memory than a reader
 * may have is bad, too, but not set aside: `*ret_is_certain` is false. */
bool verify_is_bad(const struct error *err, bool *ret_is_certain);
/* Does what was decided: syncs what was set aside, then writes the repairs. Nothing if the day is unreadable. */
MUST_CHECK int verify_apply(struct verify_run *run, struct error *err);

/* Keys of a family that begin with a prefix, rising. Where RocksDB cannot read on, that is told, and the walk goes on
 * at the next key that can be reached. */
#define VERIFY_KEY_BYTES KV_PASS_KEY_BYTES
struct verify_walk {
    struct verify_run *run;
    struct kv_iterator *iterator;
    uint32_t family;
    char last[VERIFY_KEY_BYTES]; /* the key before, or where the walk began */
    size_t last_len;
    bool is_valid;
};
/* Stands on the first key. Errors: those of kv.h but damage. */
MUST_CHECK int verify_walk_open(struct verify_walk *walk, struct verify_run *run, uint32_t family, struct slice prefix,
                                struct error *err);
MUST_CHECK int verify_walk_next(struct verify_walk *walk, struct error *err);
MUST_CHECK int verify_walk_seek(struct verify_walk *walk, struct slice key, struct error *err);
void verify_walk_close(struct verify_walk *walk);

static inline struct slice verify_walk_key(const struct verify_walk *walk)
{
    return kv_iterator_key(walk->iterator);
}

static inline struct slice verify_walk_value(const struct verify_walk *walk)
{
    return kv_iterator_value(walk->iterator);
}

/* --- verify_names.c --- */

/* Checks the dictionary and the series of run->tenant, and fills in what is known of them. */
MUST_CHECK int verify_names(struct verify_run *run, struct error *err);
/* Gives entries to ids that are named and not there, where repairing. To be called when all rows were checked. */
MUST_CHECK int verify_names_mend(struct verify_run *run, struct error *err);
void verify_tenant_done(struct verify_tenant *tenant);
/* The series, or NULL. */
const struct verify_series *verify_find_series(const struct verify_tenant *tenant, uint32_t id);
/* What something names and is not there. */
struct verify_missing {
    uint64_t n;
    enum chunk_kind kind; /* of the first one */
    uint32_t id;
};
/* Adds those of the ids to `missing` that are not there. */
MUST_CHECK int verify_check_ids(struct verify_run *run, enum chunk_kind kind, const uint32_t *ids, size_t n,
                                struct verify_missing *missing, struct error *err);
/* The same for all that a row names. */
MUST_CHECK int verify_check_row(struct verify_run *run, const struct headrow *row, struct verify_missing *missing,
                                struct error *err);
/* Tells what is missing, if anything is; `what` is who names it. */
void verify_tell_missing(struct verify_run *run, const char *what, const struct verify_missing *missing);

/* --- verify_blocks.c --- */

/* Checks the values of run->tenant in `hour`. */
MUST_CHECK int verify_blocks(struct verify_run *run, uint8_t hour, struct error *err);
