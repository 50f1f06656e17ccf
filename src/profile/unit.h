// SPDX-License-Identifier: Apache-2.0
/* Units of values: which spellings mean the same, how to convert between them exactly, and how to print a value.
 *
 * Spellings are matched as pprof does: letters of either case, a plural "s" behind three or more letters ignored. As in
 * pprof a kB is 1024 bytes (and so is a KiB), since profilers write sizes of memory. Printing gives the texts that
 * pprof users know (1.23s, 120ms, 512.50kB, 1.50MB); the locale plays no part. */
#pragma once

#include "base/slice.h"

enum unit_family { UNIT_TIME, UNIT_BYTES, UNIT_COUNT };

struct unit {
    const char *name;   /* "nanoseconds": how hearth writes it */
    const char *symbol; /* "ns": how it stands behind a printed value; "" for counts */
    enum unit_family family;
    int64_t size; /* in the smallest unit of the family: nanoseconds, bytes, one */
};

/* The unit that `text` spells, or NULL if it is none we know. Thread: any. */
const struct unit *unit_find(struct slice text);

/* The name hearth writes for a unit: "nanoseconds" for "ns". A unit we do not know is given back as it is. */
struct slice unit_canonical(struct slice text);

/* How to convert: value * up / down, in lowest terms, so one of the two is 1 wherever one unit divides the other. True
 * for two units of one family and for two equal texts; false leaves the outputs alone. */
bool unit_ratio(struct slice from, struct slice to, int64_t *ret_up, int64_t *ret_down);

/* A short text by value. Names of units we do not know are cut to fit. */
struct unit_text {
    char text[64];
};

/* The value in the largest unit in which it is at least 1: "1.23s", "512.50kB", "0". Counts, and units we do not know,
 * print as the bare number. */
struct unit_text unit_format(int64_t value, struct slice unit);
/* As unit_format, but counts and unknown units are shortened to three digits: "12.3k". For places that are narrow. */
struct unit_text unit_format_short(int64_t value, struct slice unit);

/* The value in unit `to`, so that the numbers of a column compare at a glance. Where the two do not fit together the
 * value is shown in seconds or bytes; a unit we do not know is put behind the unchanged value. */
struct unit_text unit_format_in(int64_t value, struct slice unit, struct slice to);
/* The unit that pprof chooses for all values of a table: the one fit for the smallest nonzero value, or for a hundred
 * times that where the largest is of another size. Signs do not matter; a smallest of 0 means there is none. */
struct slice unit_choose(int64_t smallest, int64_t largest, struct slice unit);
