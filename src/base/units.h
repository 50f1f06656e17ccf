// SPDX-License-Identifier: Apache-2.0
/* Numbers with units, as people write and read them. The locale plays no part.
 *
 * Reading is exact and strict: false unless the whole text is a value of that kind and fits. One space may stand
 * between number and unit. Fractions are fine where a unit follows: 1.5h, 0.5GiB. Nothing here is negative.
 *
 * Writing is for tables and messages: three significant digits and a unit, so that a column stays narrow. */
#pragma once

#include "base/slice.h"

/* 7d, 30s, 1h30m (largest unit first, each at most once), 250ms, 10us, 5ns, 2w; 0 alone needs no unit. In nanoseconds,
 * a fraction of one cut off. */
MUST_CHECK bool units_parse_duration(struct slice text, int64_t *ret_ns);

/* 4096, 512KB and 10MB (powers of 1000), 64MiB (powers of 1024), up to PB and PiB, letters in either case. K, M and G
 * alone are refused, since half the world reads them one way and half the other. */
MUST_CHECK bool units_parse_size(struct slice text, uint64_t *ret_bytes);

/* 90%, 0.5%; the sign is required but for 0, since 1 could mean either end. Gives the share: 0.9, 0.005. */
MUST_CHECK bool units_parse_percent(struct slice text, double *ret_share);

/* Events per second: 97, 100Hz, 1.5kHz, 10/s, 600/min, 5/h. */
MUST_CHECK bool units_parse_rate(struct slice text, double *ret_rate_hz);

/* true, yes, on, 1, or false, no, off, 0, in either case. */
MUST_CHECK bool units_parse_bool(struct slice text, bool *ret_value);

/* A short text by value: `printf("%s", units_human_ns(ns).text)`. */
struct units_text {
    char text[24];
};

struct units_text units_human_ns(int64_t ns);        /* 0s, 15ns, 1.50us, 10ms, 2.34s, 1.50min, 3.20h, 12d */
struct units_text units_human_bytes(int64_t bytes);  /* 0B, 512B, 1.50KiB, 64MiB */
struct units_text units_human_count(int64_t count);  /* 0, 950, 1.23k, 4.50M, 12G */
struct units_text units_human_percent(double share); /* 0%, <0.01%, 0.12%, 12.3%, 100%; "-" for what is no number */
struct units_text units_human_rate(double rate_hz);  /* 0/s, 0.5/s, 97/s, 1.23k/s; "-" for what is no number */
