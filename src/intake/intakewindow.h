// SPDX-License-Identifier: Apache-2.0
/* When a profile was measured, whatever its sender means by its time: [start, end).
 *
 * W1  What the request says (from and until) wins, if it is sane: from before until, no longer than a day, neither in
 *     1970. The profile's own time is the start for some senders (Go's CPU profiles, Python, Rust) and the end for others
 *     (Node; Go's heap, mutex, block and goroutine profiles).
 * W2  A profile's own time in 1970 that is not zero is in microseconds: old py-spy wrote them as nanoseconds.
 * W3  Without any time, the window ends when the upload came. */
#pragma once

#include "profile/profile.h"

#define INTAKEWINDOW_MAX_NS (24 * 3600 * (int64_t)1000000000)

struct intakewindow {
    int64_t from_ns, until_ns; /* as the request said; 0 = it did not */
    int64_t received_ns;
    bool is_time_end; /* the profile's own time is the end of its window */
};

/* Sets start and duration of a profile. Thread: any. */
void intakewindow_settle(const struct intakewindow *window, struct profile *profile);
