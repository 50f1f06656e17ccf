// SPDX-License-Identifier: Apache-2.0
#include "intake/thinning.h"

#include "base/clock.h"
#include "base/hash.h"

#define THINNING_WINDOW_NS  (10 * CLOCK_NS_PER_SECOND) /* after it, what was brought counts half */
#define THINNING_MAX_WEIGHT 1000u

void thinning_init(struct thinning *thinning, uint64_t seed)
{
    *thinning = (struct thinning){ .random = seed | 1 };
}

static uint64_t next_random(struct thinning *thinning)
{
    thinning->random += 0x9e3779b97f4a7c15u;
    return hash_mix64(thinning->random);
}

static void forget(struct thinning *thinning, int64_t now_mono_ns)
{
    int64_t halvings;

    if (thinning->window_mono_ns == 0)
        thinning->window_mono_ns = now_mono_ns;
    halvings = MIN((now_mono_ns - thinning->window_mono_ns) / THINNING_WINDOW_NS, 63);
    if (halvings <= 0)
        return;
    thinning->window_mono_ns = now_mono_ns;
    thinning->n_active = 0;
    for (size_t i = 0; i < THINNING_LANES; i++) {
        thinning->lane_bytes[i] >>= halvings;
        thinning->n_active += thinning->lane_bytes[i] > 0;
    }
}

uint32_t thinning_weigh(struct thinning *thinning, uint64_t lane, uint64_t bytes, uint64_t used, uint64_t max,
                        int64_t now_mono_ns)
{
    uint64_t *brought = &thinning->lane_bytes[hash_mix64(lane) % THINNING_LANES];
    uint64_t share, weight;

    forget(thinning, now_mono_ns);
    thinning->n_active += *brought == 0;
    *brought += bytes;
    if (used < max / 2)
        return 1;
    /* Half of what is left may fill within two windows, in which the numbers are gathered. */
    share = MAX((max - MIN(used, max)) / 2 / MAX(thinning->n_active, 1), 1);
    weight = MIN((*brought + share - 1) / share, THINNING_MAX_WEIGHT);
    if (weight <= 1)
        return 1;
    return next_random(thinning) % weight == 0 ? (uint32_t)weight : 0;
}
