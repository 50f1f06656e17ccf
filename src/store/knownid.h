// SPDX-License-Identifier: Apache-2.0
/* Which profile ids a day knows. An id is known as long as a row of its profile is left: what was deleted may be sent
 * again. Ids without a record (format 1.0) stay known. */
#pragma once

#include "store/day.h"

struct knownid {
    bool is_known;
    bool is_forgotten;    /* it has a record, but all rows are gone */
    struct hash128 value; /* of the record that says so: knownid_hash */
};

/* Looks the id up on the disk. Rows are looked for only in a day that had deletions. Not under the day's lock. Errors:
 * ERR_MEMORY, ERR_LIMIT, those of kv.h. */
MUST_CHECK int knownid_find(struct day *day, uint32_t tenant, const uint8_t id[static 16], struct knownid *ret_known,
                            struct error *err);
/* Tells records apart. */
struct hash128 knownid_hash(const struct day *day, struct slice value);
