// SPDX-License-Identifier: Apache-2.0
/* Pages that open anywhere: one HTML file with a flame graph, the code that draws it, and nothing to be fetched. The tree is in it
 * as base64 of gzip of the flame format (docs/format-flame.md), in the element
 * <script id="profile" type="application/octet-stream">. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

/* Appends the page of a tree that is in the flame format. Errors: ERR_UNSUPPORTED if the program was built without its page;
 * ERR_MEMORY, ERR_LIMIT. Thread: any. */
MUST_CHECK int pagefile_write(struct slice title, struct slice flame, struct buffer *out, struct error *err);
/* The same with a shell of one's own, which has the marks @TITLE@ and @DATA@ once each, in this order, or more often behind. */
MUST_CHECK int pagefile_fill(struct slice shell, struct slice title, struct slice flame, struct buffer *out,
                             struct error *err);
