// SPDX-License-Identifier: Apache-2.0
/* What to leave out when even the disk fills: uploads of a lane are kept with a probability of 1 in k, and those that are
 * kept count k times, so that sums stay right on average.
 *
 * T1  k is 1 for everybody while the spill file is less than half full. Then the room that is left is shared out: a lane
 *     that brings no more than its equal share keeps all of its uploads, and the others are thinned down to theirs.
 * T2  Chance decides, not every k-th: senders that take turns are not mistaken for one another. */
#pragma once

#include "base/base.h"

#define THINNING_LANES 1024

struct thinning {
    uint64_t random;
    int64_t window_mono_ns;              /* when the numbers were halved last */
    uint32_t n_active;                   /* lanes with bytes */
    uint64_t lane_bytes[THINNING_LANES]; /* brought of late */
};

void thinning_init(struct thinning *thinning, uint64_t seed);

/* The weight that an upload of `bytes` of the lane is kept with: 1 or more; 0 = it is left out. `used` of `max` bytes of the
 * spill file are full. Thread: one at a time. */
uint32_t thinning_weigh(struct thinning *thinning, uint64_t lane, uint64_t bytes, uint64_t used, uint64_t max,
                        int64_t now_mono_ns);
