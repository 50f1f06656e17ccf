// SPDX-License-Identifier: Apache-2.0
/* Checking a whole day: every key parses, every value decodes, and they agree with each other.
 *
 * V1  Every row, open or closed, belongs to a series and tenant that are there, and every stack and label set it names
 *     is in the dictionary.
 * V2  Every dictionary entry names only entries that are there; chunks do not overlap.
 * V3  Windows, sums and samples of a part agree (part_rows_check); roll-ups of groups are the sums of their rows (those
 *     that are there: readers do without); tallies and markers count right.
 * V4  No head is both covered and counted; no two markers cover the same head; keys of blocks belong to a marker.
 *
 * Repairing sets values aside: they are appended to quarantine_dir/DAY-NNN.bad, and deleted once that file is on the
 * disk. A part goes with all its values and the roll-ups of its group in that closing, so that what is left agrees. A
 * chunk of the dictionary is written again, with what could be read of it and nameless entries for the rest: ids are
 * never given twice. Tallies and markers are written again as they should be. As bytes the file is, for each value: u32
 * le length of the name of the family, the name, u32 le length of the key, the key, u32 le length of the value, the
 * value.
 *
 * Memory: what a reader may have (day_context.read_bytes) for one value, and a few bytes for each series and for each
 * gap between ids of the dictionary. */
#pragma once

#include "store/day.h"

/* Checks the day and tells findings, a line for each of the first 50 and then their number; adds to the counts in
 * `verify`, but for n_days: a finding is one of n_bad_values, one that was mended one of n_repaired. With is_repairing
 * the day must be open for writing. 0 when the check was done, whatever it found.
 *
 * A day with files that RocksDB itself cannot read is one of n_bad_days: nothing of it is set aside, since what is
 * unreadable can neither be read nor deleted; salvage.h is for that.
 *
 * Errors: ERR_IO, ERR_FULL, ERR_MEMORY. Thread: any; writing may go on. */
MUST_CHECK int verify_day(struct day *day, const char *quarantine_dir, struct store_verify *verify, struct error *err);
