// SPDX-License-Identifier: Apache-2.0
/* A day with files that cannot be read: a sound one is made of what can, and takes its place.
 *
 * S1  The damaged day is not changed. It goes to quarantine/ whole.
 * S2  What is copied is every key that can be reached. Where the database cannot be read past a stretch, or not opened at
 *     all, keys come from those of its tables that are whole, and from its log, read as a database of their own. The
 *     rest of the manifest, the tables and the times of rows tell which head a row of the log belongs to.
 * S3  What is lost besides is worked out (recover.h) and mended (verify.h), so that the new day agrees with itself.
 * S4  At each moment the old day or the new one is in place, and a start finishes what was interrupted. */
#pragma once

#include "store/day.h"

/* Makes a day at `path`, which must not exist, of what can be read of the one at `from`, which nobody has open. What
 * lies in between goes below the scratch directory of the context. ERR_CORRUPT: nothing could be read; then, as after any
 * failure, nothing is left at `path`. Errors: ERR_IO, ERR_FULL, ERR_MEMORY, ERR_EXISTS. */
MUST_CHECK int salvage_make(struct day_context *context, const char *name, const char *from, const char *path,
                            const char *quarantine_dir, struct error *err);
/* Puts the day at `path` in place of the one at `place`, which goes to `aside` (S4). All are on one file system. */
MUST_CHECK int salvage_exchange(const char *path, const char *place, const char *aside, struct error *err);
/* What an interrupted exchange left in `directory`: the new day takes its place if that is free, else it goes. */
MUST_CHECK int salvage_finish(const char *directory, struct error *err);
