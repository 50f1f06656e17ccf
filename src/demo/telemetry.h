// SPDX-License-Identifier: Apache-2.0
/* What one process of the demo tells of itself: its spans every second, metrics every few, and CPU profiles, at first of short
 * windows, so that there is something to see soon. A window ends when another release takes over, so that no profile is of
 * both. */
#pragma once

#include "demo/outbox.h"
#include "demo/procmetrics.h"
#include "demo/releases.h"
#include "demo/tracer.h"

#define TELEMETRY_RATE_HZ 199 /* samples for each second of CPU */

struct telemetry_options {
    const char *service; /* lives as long as the program */
    struct releases releases;
    struct outbox_world world;
};

struct telemetry;
/* There may be one of it in a process at a time. Errors: ERR_MEMORY, ERR_IO. Thread: the owner. */
MUST_CHECK int telemetry_start(const struct telemetry_options *options, struct telemetry **ret_telemetry,
                               struct error *err);
/* Sends what there is, unless the server is away, and ends. What `measure` needs is over before. Accepts NULL. */
void telemetry_stop(struct telemetry *telemetry);

/* Where its spans go. */
struct tracer *telemetry_tracer(struct telemetry *telemetry);
/* Adds points of its own to the metrics from now on; NULL ends it, and nobody is within it any more. */
void telemetry_measure(struct telemetry *telemetry, void (*measure)(void *context, struct procmetrics *metrics),
                       void *context);
