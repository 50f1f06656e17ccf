// SPDX-License-Identifier: Apache-2.0
#include "demo/pacer.h"

#include "base/clock.h"

#define WAVE_NS      (100 * CLOCK_NS_PER_SECOND)
#define WAVE_HEIGHT  0.4
#define KEPT_NS      (CLOCK_NS_PER_SECOND / 5) /* of the time passed, what it grants is kept this long */
#define MAX_PAUSE_NS CLOCK_NS_PER_SECOND       /* so that a busy machine has some requests, too */

void pacer_init(struct pacer *pacer, double cpu_share, int64_t mono_ns, int64_t used_ns)
{
    *pacer = (struct pacer){
        .cpu_share = cpu_share, .start_mono_ns = mono_ns, .last_mono_ns = mono_ns, .last_used_ns = used_ns
    };
}

/* A triangle: up for a quarter of the wave, down for two, up again. */
double pacer_share_at(const struct pacer *pacer, int64_t mono_ns)
{
    double phase = (double)((mono_ns - pacer->start_mono_ns) % WAVE_NS) / (double)WAVE_NS;
    double height = phase < 0.25 ? phase : phase < 0.75 ? 0.5 - phase : phase - 1;

    return pacer->cpu_share * (1 + WAVE_HEIGHT * 4 * height);
}

int64_t pacer_pause_ns(struct pacer *pacer, int64_t mono_ns, int64_t used_ns)
{
    double share = pacer_share_at(pacer, mono_ns);

    pacer->credit_ns += share * (double)(mono_ns - pacer->last_mono_ns) - (double)(used_ns - pacer->last_used_ns);
    pacer->credit_ns = MIN(pacer->credit_ns, share * (double)KEPT_NS);
    pacer->last_mono_ns = mono_ns;
    pacer->last_used_ns = used_ns;
    return pacer->credit_ns >= 0 ? 0 : (int64_t)MIN(-pacer->credit_ns / share, (double)MAX_PAUSE_NS);
}
