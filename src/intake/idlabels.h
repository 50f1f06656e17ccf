// SPDX-License-Identifier: Apache-2.0
/* Ids of traces and spans among the labels of samples become links, in whichever spelling they came.
 *
 *     trace_id, span_id, profile_id (of a span: older clients of Pyroscope)      hex
 *     pyroscope.trace_id, pyroscope.span_id, pyroscope.profile_id                hex
 *     trace id, span id, local root span id                                      decimal, text or number: Datadog
 *     process.context.label.NAME                                                 as NAME: OpenTelemetry's eBPF profiler
 *
 * Dots, underscores, dashes, spaces and capital letters make no difference. The span itself goes before its local root. A
 * span is 16 hex digits, a trace 32 or 16; digits alone of any other length are a decimal number. What is none of this
 * stays a label, and is none of the series either (labelrules.h, N2). */
#pragma once

#include "profile/profile.h"

/* Lifts the ids of all samples that have no link yet. Changes the batch where it is. Errors: ERR_MEMORY, ERR_LIMIT.
 * Thread: one at a time. */
MUST_CHECK int idlabels_lift(struct batch *batch, struct error *err);

/* Reads one id: the last bytes of `id` are filled, the first are zeros. False if the text is none, or zero. */
bool idlabels_parse(struct slice text, uint8_t *id, size_t n_bytes);
