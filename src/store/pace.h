// SPDX-License-Identifier: Apache-2.0
/* How fast work in the background may go: it sleeps now and then, so that it takes no more than its share of a core. */
#pragma once

#include "store/day.h"

struct pace {
    int64_t begun_mono_ns, begun_cpu_ns; /* of the thread */
};

/* From now on. Thread: the one that works. */
void pace_begin(struct pace *pace);
/* Sleeps as much as day_context.close_cpu_share asks for, at most a quarter of a second: to be called often. Errors:
 * ERR_CLOSED when the store is stopping. */
MUST_CHECK int pace_keep(const struct pace *pace, const struct day_context *context, struct error *err);
