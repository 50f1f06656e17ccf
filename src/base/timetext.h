// SPDX-License-Identifier: Apache-2.0
/* Times, ranges of time and durations as people and Pyroscope's clients write them.
 *
 *     2026-11-15T12:00:00Z   2026-11-15 13:00:00.5+01:00      RFC 3339, tried first; a space may stand for the T
 *     2026-11-15   20261115                                   a date: its midnight in UTC
 *     1794744000   1794744000000                              digits since 1970: 13 are milliseconds, 16 microseconds,
 *                                                             19 nanoseconds, any other number of them seconds
 *     now   now-1h   now-1h30m   now+5m   -90m                from the present
 *     2h   7d                                                 that long before the present
 *
 * T1  Eight digits are a date where they are one of 1901 or later, else seconds.
 * T2  But for RFC 3339, spaces, '_' and ',' are as if not there: 1_794_744_000, now - 1h.
 * T3  A distance is one number with its unit or several: s, m (min), h, d, w, M (mon, 30 days), y (365 days), also
 *     written out (second, seconds), and ms, us, ns. Numbers may have a fraction.
 * T4  Where Pyroscope shrugs (any word is "now", an unknown unit is 0) we refuse. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

/* Reads a time. Errors: ERR_INVALID naming the text, the place (in bytes from 1) and what would be right. Thread: any,
 * as for all of these. */
MUST_CHECK int timetext_parse(struct slice text, int64_t now_ns, int64_t *ret_ns, struct error *err);

/* From, inclusive, until, exclusive. An end is relative if it was written as a distance from now, so that it is another
 * one a minute later; a page keeps such an end as it was written. A missing `until` is relative, a missing `from` if
 * `until` is. */
struct timetext_range {
    int64_t from_ns; /* not before 1970 */
    int64_t until_ns;
    bool is_from_relative;
    bool is_until_relative;
};

/* Reads a range. An empty `until` is now, an empty `from` is an hour before `until`; so both empty is the last hour.
 * Errors: ERR_INVALID naming the end that is wrong, also for a range that ends where it begins or before. */
MUST_CHECK int timetext_range(struct slice from, struct slice until, int64_t now_ns, struct timetext_range *ret_range,
                              struct error *err);

/* Reads a length of time, for steps and ranges: a distance as in T3, or a number of seconds: 1h, 1h30m, 90s, 15, 0.5.
 * It is more than zero. Errors: ERR_INVALID likewise. */
MUST_CHECK int timetext_duration(struct slice text, int64_t *ret_ns, struct error *err);
