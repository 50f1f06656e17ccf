// SPDX-License-Identifier: Apache-2.0
/* Profiles as pages that open anywhere: one HTML file with the flame graph of one value type, the code that draws it, and nothing
 * to be fetched. The profile is in it as base64 of gzip of the flame format (docs/format-flame.md), in the element
 * <script id="profile" type="application/octet-stream">. */
#pragma once

#include "wire/format.h"

#define HTMLFILE_MAX_NODES 1000000u /* of the tree; the rest is added up in `other` nodes */

/* As the formats of wire/ are, but for writing only. Errors of encode: ERR_UNSUPPORTED if the program was built without its
 * page, and those of flame_new and flamebytes_encode. */
extern const struct format htmlfile_format;

/* Appends the page of a tree that is in the flame format already. Errors: ERR_UNSUPPORTED as above, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int htmlfile_write(struct slice title, struct slice flame, struct buffer *out, struct error *err);
/* The same with a shell of one's own, which has the marks @TITLE@ and @DATA@ once each, in this order, or more often behind. */
MUST_CHECK int htmlfile_fill(struct slice shell, struct slice title, struct slice flame, struct buffer *out,
                             struct error *err);
