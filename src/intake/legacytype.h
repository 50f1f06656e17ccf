// SPDX-License-Identifier: Apache-2.0
/* What text, trie and tree bodies of Pyroscope's /ingest measure: the last part of the application's name says it, as in
 * `checkout.alloc_space`, and is no part of the application then. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

struct legacytype {
    const char *suffix;
    const char *metric; /* __name__ */
    const char *type, *unit;
    const char *period_type; /* NULL = none; its unit is nanoseconds, and values are samples of that period */
};

/* The type that an application's name says, and the name without it: `cpu` where nothing is said. Errors: ERR_INVALID,
 * listing the parts that are known. */
MUST_CHECK int legacytype_find(struct slice app, const struct legacytype **ret_type, struct slice *ret_app,
                               struct error *err);
