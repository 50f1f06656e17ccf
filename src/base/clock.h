// SPDX-License-Identifier: Apache-2.0
/* What time it is, and times as text.
 *
 * Wall time is int64_t nanoseconds since 1970 (names ending in _ns, years 1677 to 2262); monotonic time (mono_ns) only
 * rises and measures intervals. The two never mix. A test may fake both. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

#define CLOCK_NS_PER_SECOND ((int64_t)1000000000)

/* Thread: any; signal-safe. */
int64_t clock_now_ns(void);
int64_t clock_mono_ns(void);
/* CPU time of the whole process, user and system. Never faked. */
int64_t clock_cpu_ns(void);

enum clock_zone { CLOCK_ZONE_UTC, CLOCK_ZONE_LOCAL };

#define CLOCK_TEXT_BYTES 36 /* "2026-11-15T10:00:00.123456789+01:00" and a NUL */

/* Writes the RFC 3339 form with `digits` (0 to 9) digits of a second, cut and not rounded, and returns `ret_text`:
 * "2026-11-15T10:00:00.123Z" in UTC, "2026-11-15T11:00:00.123+01:00" in the zone of TZ. */
const char *clock_format(int64_t time_ns, enum clock_zone zone, int digits, char ret_text[static CLOCK_TEXT_BYTES]);

/* Reads an RFC 3339 time. Digits after the ninth of the fraction are dropped; a leap second (":60") is the start of the
 * next minute. Errors: ERR_INVALID, naming what is wrong. */
MUST_CHECK int clock_parse(struct slice text, int64_t *ret_time_ns, struct error *err);
/* Reads a date like 2026-11-15: its midnight in UTC. Errors: likewise. */
MUST_CHECK int clock_parse_date(struct slice text, int64_t *ret_time_ns, struct error *err);

/* Test seams. clock_fake_set stops both clocks and sets wall time, like somebody setting the date: monotonic time does
 * not change. clock_fake_advance lets time pass on both. clock_fake_stop goes back to the real clocks; the test harness
 * calls it after each test. */
void clock_fake_set(int64_t now_ns);
void clock_fake_advance(int64_t ns);
void clock_fake_stop(void);
