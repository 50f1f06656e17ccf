// SPDX-License-Identifier: Apache-2.0
/* Uploads that came faster than they could be stored, on disk until they can.
 *
 * L1  What spill_sync returned 0 for survives the loss of power; it is given out again until spill_done says that it is
 *     stored. Each record has an id that stays the same, so that a store can tell one that it knows already;
 *     one that is appended again keeps the id it had.
 * L2  The files take at most the limit given; past it appending is ERR_FULL, and nothing changes.
 * L3  Records come out in the order they went in. A damaged record costs itself and, where its length cannot be trusted, the
 *     rest of its file; the file is then set aside, and that is logged.
 *
 * Files are DATA/spill/NNNNNNNN.spill: "hearthS1", eight bytes that no other file has, then records: u32 length, u32 CRC-32C of the bytes, the bytes
 * (upload.h), all little-endian. */
#pragma once

#include "intake/upload.h"

#define SPILL_FILE_BYTES  (64 << 20) /* a file that is longer is followed by another */
#define SPILL_DEFAULT_MAX ((uint64_t)1 << 30)

struct spill;
/* Opens the directory, made if it is missing, with what earlier runs left in it. Errors: ERR_IO, ERR_MEMORY, ERR_DENIED. */
MUST_CHECK int spill_open(const char *directory, uint64_t max_bytes, struct spill **ret_spill, struct error *err);
/* Accepts NULL. */
void spill_close(struct spill *spill);

/* Puts an upload behind the others; kept for sure only after spill_sync. Errors: ERR_FULL, ERR_IO, ERR_MEMORY. Thread: any,
 * as all of these. */
MUST_CHECK int spill_append(struct spill *spill, const struct upload *upload, struct error *err);
/* Makes everything appended so far durable. On failure nothing is certain of what was appended since the last success. */
MUST_CHECK int spill_sync(struct spill *spill, struct error *err);

/* The oldest upload that is not done, its bytes read into `bytes`, which it borrows. Its id is valid until the
 * next call. */
MUST_CHECK int spill_next(struct spill *spill, struct buffer *bytes, struct upload *ret_upload, bool *ret_is_there,
                          struct error *err);
/* The one that spill_next gave last is stored, or cannot be. A file whose records are all done is removed. */
void spill_done(struct spill *spill);

struct spill_counts {
    uint64_t bytes, max_bytes; /* of the files */
    uint64_t n_appended, n_done;
    uint64_t n_damaged; /* records or files that could not be read */
};
struct spill_counts spill_counts(struct spill *spill);
