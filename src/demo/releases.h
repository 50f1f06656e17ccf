// SPDX-License-Identifier: Apache-2.0
/* Which version of the shop runs when: two of them take turns, all by the clock, so that no process need tell another. */
#pragma once

#include "base/base.h"

#define RELEASES 2

struct releases {
    int64_t start_mono_ns; /* when the first began */
    int64_t every_ns;      /* how long each runs; 0 = the first for ever */
};

/* The first time that the first one runs, at most: so that both are there to be compared soon. */
#define RELEASES_FIRST_NS ((int64_t)12 * 1000000000)

/* Two that begin at a time and take turns of `every_ns`, but for the first one, which is short; 0 = the first for ever. */
struct releases releases_from(int64_t mono_ns, int64_t every_ns);
/* "1.0.0", "1.1.0" */
const char *releases_name(uint32_t release);
/* Which one runs at a time that is not before the start. */
uint32_t releases_at(const struct releases *releases, int64_t mono_ns);
/* When the next one takes over; INT64_MAX = never. */
int64_t releases_end_ns(const struct releases *releases, int64_t mono_ns);
