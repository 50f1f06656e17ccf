// SPDX-License-Identifier: Apache-2.0
/* The `sample_type_config` of Pyroscope's /ingest: what its clients say of the sample types of a profile.
 *
 *     {"alloc_objects": {"units": "objects", "display-name": "", "cumulative": true}, ...}
 *
 * Of it, display names choose the name of the profile, and `cumulative` says what counts from the start of the process.
 * The rest is known from the profile itself. */
#pragma once

#include "base/arena.h"
#include "profile/profile.h"

#define SAMPLETYPES_MAX 256

struct sampletype {
    struct slice name, display_name;
    bool is_cumulative;
};

struct sampletypes {
    struct sampletype *items;
    uint32_t n;
    bool is_given; /* else the names that clients without a config mean */
};

/* Reads the JSON; texts borrow `text` or are in the arena. Empty text is none given. Errors: ERR_CORRUPT with line and
 * column, ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int sampletypes_parse(struct slice text, struct arena *arena, struct sampletypes *ret_types,
                                 struct error *err);

const struct sampletype *sampletypes_find(const struct sampletypes *types, struct slice name);

/* The __name__ that Pyroscope gives a profile with these types: "process_cpu", "memory", "mutex", "block",
 * "goroutines", "wall", or the display name of its last type. Empty for a profile without types. */
struct slice sampletypes_metric(const struct sampletypes *types, const struct profile *profile);
