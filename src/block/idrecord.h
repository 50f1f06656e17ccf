// SPDX-License-Identifier: Apache-2.0
/* Where the rows of a profile that has an id are: the value of key 'i' (storekey.h), since version 1.1 of the format.
 * With it a writer finds out whether anything of the profile is left, or all of it was deleted.
 *
 *     byte      1, the version
 *     int       start_ns, signed: the rows of a profile start together
 *     int       sequence of its first row; those of the others follow
 *     int       n rows, at least 1
 *     n * int   series of each row
 */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"

struct idrecord {
    int64_t start_ns;
    uint32_t sequence; /* the first */
    uint32_t n_rows;
    uint32_t *series; /* [n_rows] */
};

void idrecord_encode(const struct idrecord *record, struct buffer *out);
/* Reads one; the series come from `arena`. Errors: ERR_CORRUPT, ERR_VERSION, ERR_MEMORY, ERR_LIMIT (of the arena). */
MUST_CHECK int idrecord_decode(struct slice bytes, struct arena *arena, struct idrecord *ret_record, struct error *err);

/* Whether a row is one of the profile's. */
bool idrecord_has_row(const struct idrecord *record, int64_t start_ns, uint32_t sequence);
bool idrecord_has_series(const struct idrecord *record, uint32_t series);
