// SPDX-License-Identifier: Apache-2.0
/* The `name` of Pyroscope's /ingest: the application and its labels.
 *
 *     checkout.api{zone=eu-1,version=1.2 beta}
 *
 * As its servers have it: nothing is quoted or escaped, a value is all up to ',' or '}', without the white space around
 * it. We are more tolerant in three places: bytes that are not allowed in the application's name are kept (they make a
 * value of service_name, where any text may stand), a last pair without '}' counts, and a part without '=' is passed
 * over. */
#pragma once

#include "base/arena.h"
#include "block/seriesinfo.h"

#define INGESTNAME_MAX_LABELS 256

struct ingestname {
    struct slice app;
    struct series_label *labels; /* in their order, as they came; names are not empty */
    uint32_t n_labels;
};

/* Reads a name; slices borrow `text`. Errors: ERR_INVALID (no application; the text tells the form that is wanted),
 * ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int ingestname_parse(struct slice text, struct arena *arena, struct ingestname *ret_name, struct error *err);
