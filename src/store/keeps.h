// SPDX-License-Identifier: Apache-2.0
/* The list of kept (pinned) ranges, in the database `meta`.
 *
 * Key 'l': the list was lost (empty value). Key 'k' tenant 0 name; value: byte 1 (the version), then varints: from_ns,
 * until_ns, made_ns (all signed), and the text of the selector to the end. */
#pragma once

#include "base/vec.h"
#include "kv/kv.h"
#include "store/store.h"

/* A kept range in memory. */
struct keep {
    char *tenant;
    char *name;
    char *text; /* of the selector */
    struct selector *selector;
    int64_t from_ns, until_ns, made_ns;
};
struct keeps {
    VEC(struct keep) items; /* by tenant and name */
    bool is_unsure;         /* some could not be read, or the list was lost: nothing may be forgotten */
};

/* Reads all of them. Those that cannot be read are logged and left out, and `is_unsure` is set. Errors: those of kv.h,
 * ERR_MEMORY. */
MUST_CHECK int keeps_load(struct kv *meta, struct keeps *ret_keeps, struct error *err);
void keeps_done(struct keeps *keeps);

/* Notes in a new database that the old one was lost. The list is unsure until one is added or removed. */
MUST_CHECK int keeps_note_lost(struct kv *meta, struct error *err);

/* Adds or replaces one, synced. The selector and name are checked: ERR_INVALID. After a list that was lost this logs that
 * others may be missing; so does keeps_remove. */
MUST_CHECK int keeps_put(struct kv *meta, const struct store_keep *keep, struct error *err);
/* Removes one. Errors: ERR_NOT_FOUND, those of kv.h. */
MUST_CHECK int keeps_remove(struct kv *meta, struct slice tenant, struct slice name, struct error *err);

/* The value of one, and back; for tests and fuzzing. Tenant and name are in the key. */
void keeps_encode(const struct store_keep *keep, struct buffer *out);
MUST_CHECK int keeps_decode(struct slice bytes, struct store_keep *ret_keep, struct error *err);
