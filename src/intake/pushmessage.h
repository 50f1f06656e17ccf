// SPDX-License-Identifier: Apache-2.0
/* push.v1.PushRequest, Pyroscope's own upload: series of profiles, as protobuf and as protobuf's JSON.
 *
 * In JSON, names are lowerCamelCase or as in the .proto file, bytes are base64 (either alphabet, padding or none), null is
 * absent. Unknown fields are passed over in both. */
#pragma once

#include "base/arena.h"
#include "block/seriesinfo.h"

#define PUSHMESSAGE_MAX_ITEMS (1u << 20) /* series, labels and samples together */

struct pushmessage_sample {
    struct slice profile; /* pprof, maybe packed */
    struct slice id;      /* as it came; mostly a UUID, or empty */
};

struct pushmessage_series {
    struct series_label *labels;
    struct pushmessage_sample *samples;
    uint32_t n_labels, n_samples;
};

struct pushmessage {
    struct pushmessage_series *series;
    uint32_t n;
};

/* Decode a whole message; slices borrow `bytes` or are in the arena. Errors: ERR_CORRUPT with the place, ERR_LIMIT,
 * ERR_MEMORY. Thread: any. */
MUST_CHECK int pushmessage_decode(struct slice bytes, struct arena *arena, struct pushmessage *ret_message,
                                  struct error *err);
MUST_CHECK int pushmessage_decode_json(struct slice text, struct arena *arena, struct pushmessage *ret_message,
                                       struct error *err);
