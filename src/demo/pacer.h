// SPDX-License-Identifier: Apache-2.0
/* How fast to ask, so that those who answer use a certain share of a processor: CPU is granted as time passes, and whoever
 * used more than that waits. What was not used is kept for a moment only. The share rises and falls in waves, so that there
 * is something to see over time; on average it is what was asked for. Thread: one at a time. */
#pragma once

#include "base/base.h"

struct pacer {
    double cpu_share;
    int64_t start_mono_ns;
    int64_t last_mono_ns, last_used_ns;
    double credit_ns; /* below 0: what was used too much */
};

/* `used_ns` is what has been used before. */
void pacer_init(struct pacer *pacer, double cpu_share, int64_t mono_ns, int64_t used_ns);
/* How long to wait before asking again, now that `used_ns` of CPU have been used in all. */
int64_t pacer_pause_ns(struct pacer *pacer, int64_t mono_ns, int64_t used_ns);
/* The share that is granted at a time. */
double pacer_share_at(const struct pacer *pacer, int64_t mono_ns);
