// SPDX-License-Identifier: Apache-2.0
/* What the encoder and the decoder of the flame format share. */
#pragma once

#include "flame/flamebytes.h"

#define FLAMEBYTES_MAGIC       "HFLM"
#define FLAMEBYTES_VERSION     1
#define FLAMEBYTES_HEAD_BYTES  8 /* magic, version, flags, columns, reserved */
#define FLAMEBYTES_MAX_COLUMNS 2

/* In their order. The second column's values are LEAVES + 2 and INNER + 2. */
enum {
    FLAMEBYTES_RUNS,
    FLAMEBYTES_POPS,
    FLAMEBYTES_LEAVES,
    FLAMEBYTES_INNER,
    FLAMEBYTES_LEAVES_AFTER,
    FLAMEBYTES_INNER_AFTER,
    FLAMEBYTES_NODE_NAMES,
    FLAMEBYTES_CALLEES,
    FLAMEBYTES_FLAGS,
    FLAMEBYTES_NAMES,
    FLAMEBYTES_DETAILS,
    FLAMEBYTES_TEXTS,
};
#define FLAMEBYTES_STREAMS        (FLAMEBYTES_TEXTS + 1)
#define FLAMEBYTES_DETAIL_NUMBERS 4 /* kind, module, file, line */

/* Values of a second column are there only if that is. */
static inline bool flamebytes_has_stream(uint32_t stream, uint32_t n_columns)
{
    return n_columns == 2 || (stream != FLAMEBYTES_LEAVES_AFTER && stream != FLAMEBYTES_INNER_AFTER);
}
