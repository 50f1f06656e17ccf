// SPDX-License-Identifier: Apache-2.0
#include "intake/intakewindow.h"

#define YEAR_1970_NS (365 * 86400 * (int64_t)1000000000)

static bool is_sane(const struct intakewindow *window)
{
    return window->from_ns > YEAR_1970_NS && window->until_ns > window->from_ns &&
           window->until_ns - window->from_ns <= INTAKEWINDOW_MAX_NS;
}

void intakewindow_settle(const struct intakewindow *window, struct profile *profile)
{
    int64_t duration_ns = profile->duration_ns > 0 ? profile->duration_ns : 0;

    profile->duration_ns = duration_ns;
    if (is_sane(window)) {
        profile->start_ns = window->from_ns;
        profile->duration_ns = window->until_ns - window->from_ns;
        return;
    }
    if (profile->start_ns <= 0) {
        profile->start_ns = MAX(window->received_ns - MIN(duration_ns, INTAKEWINDOW_MAX_NS), 1);
        return;
    }
    if (profile->start_ns < YEAR_1970_NS && profile->start_ns <= INT64_MAX / 1000) /* in microseconds: until 2262 */
        profile->start_ns *= 1000;
    if (window->is_time_end)
        profile->start_ns -= MIN(duration_ns, profile->start_ns - 1);
}
