// SPDX-License-Identifier: Apache-2.0
/* OpenTelemetry's export of profiles (OTLP): any number of profiles with the tables they share.
 *
 * The resource makes the series, samples may split it, links stay links (labelrules.h). Here profiles get what the store
 * cannot know:
 *
 *     - a service: service.name, else the name of the executable (process.executable.name), else unknown_service
 *     - a type that says what was measured: samples/count with a period of cpu/nanoseconds is cpu/nanoseconds, each value
 *       times the period; itimer is cpu; ns is nanoseconds
 *     - a window: without a time it ends when the upload came, without a duration it is as long as its timestamps say, or
 *       10 s for what flows
 *     - company: profiles of one resource and type that begin within the same OTLPEXPORT_WINDOW_NS become one, since some
 *       senders make a profile of every sample */
#pragma once

#include "base/error.h"

#define OTLPEXPORT_WINDOW_NS (10 * (int64_t)1000000000)

struct intake_worker;

/* Takes the upload at hand. A request without profiles is fine. Errors: those of intake_take. */
MUST_CHECK int otlpexport_take(struct intake_worker *worker, bool is_json, struct error *err);
