// SPDX-License-Identifier: Apache-2.0
/* Frames of HTTP/2 that cost us and bring nobody anything: resets, pings, settings, empty DATA. Each kind has an allowance,
 * which fills up again with time; who uses more is not a client. */
#pragma once

#include "base/base.h"

enum nuisance_kind {
    NUISANCE_RESET,
    NUISANCE_PING,
    NUISANCE_SETTINGS,
    NUISANCE_EMPTY, /* DATA without data */
    NUISANCE_OTHER, /* PRIORITY, GOAWAY and the like */
    NUISANCE_NONE,
};
#define NUISANCE_COUNT NUISANCE_NONE

/* What one connection used of its allowances. Begins as zeros. */
struct nuisance {
    struct {
        uint32_t used;
        int64_t since_mono_ns;
    } kinds[NUISANCE_COUNT];
};

/* Counts a frame by its type, flags and length. The name of its kind if that was too much, else NULL. */
const char *nuisance_count(struct nuisance *nuisance, uint8_t type, uint8_t flags, size_t len);
