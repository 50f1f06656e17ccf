// SPDX-License-Identifier: Apache-2.0
/* Forms of several parts (multipart/form-data, RFC 7578 on RFC 2046), read from a whole body.
 *
 * Lines may end in LF alone, the preamble and what follows the last boundary are passed over, and unknown headers too.
 * Names are as they stand between the quotes; escapes are left in, since no name that we look for has any. */
#pragma once

#include "base/arena.h"

#define MULTIPART_MAX_PARTS        64
#define MULTIPART_MAX_HEADER_BYTES 8192 /* of one part */

struct multipart_part {
    struct slice name, filename;
    struct slice content_type;
    bool has_filename; /* an empty one counts */
    struct slice body;
};

struct multipart {
    struct multipart_part *parts;
    uint32_t n;
};

/* Whether a Content-Type is a form of several parts. */
bool multipart_is_form(struct slice content_type);

/* Reads the parts, which borrow `body`. Errors: ERR_INVALID (a type without a boundary), ERR_CORRUPT (with the byte),
 * ERR_LIMIT (too many parts, a header too long), ERR_MEMORY. Thread: any. */
MUST_CHECK int multipart_parse(struct slice content_type, struct slice body, struct arena *arena,
                               struct multipart *ret_form, struct error *err);

/* The first part of this name, or NULL. */
const struct multipart_part *multipart_find(const struct multipart *form, const char *name);
