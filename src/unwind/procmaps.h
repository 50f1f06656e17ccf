// SPDX-License-Identifier: Apache-2.0
/* What code is where in a process: the executable lines of /proc/PID/maps. */
#pragma once

#include "base/arena.h"

#define PROCMAPS_MAX 65536 /* executable mappings of a process */

struct procmap {
    uint64_t start, limit; /* addresses, [start, limit) */
    uint64_t offset;       /* in the file */
    struct slice path;     /* "/usr/bin/x", "[vdso]", or "" for memory without a file; a NUL follows */
};

struct procmaps {
    struct procmap *items; /* by address */
    size_t n;
};

/* Reads the text of such a file; everything is in the arena. Lines that make no sense are left out. Errors: ERR_LIMIT,
 * ERR_MEMORY. */
MUST_CHECK int procmaps_parse(struct slice text, struct arena *arena, struct procmaps *ret_maps, struct error *err);
/* Those of the own process. Errors: likewise, and those of reading. */
MUST_CHECK int procmaps_read(struct arena *arena, struct procmaps *ret_maps, struct error *err);

/* The mapping that has the address, or NULL. */
const struct procmap *procmaps_find(const struct procmaps *maps, uint64_t address);
