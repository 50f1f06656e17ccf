// SPDX-License-Identifier: Apache-2.0
/* What is worked out when a day is loaded of which not everything can be read, or of which something may be lost.
 *
 * R1  Blocks whose number has no marker count again, by a marker made up for them: both came in one step, so the marker
 *     was there. Not if a marker that can be read has replaced them. What the lost marker said is told by the rows, whose
 *     sequences never repeat: a closing that shares a row with a head covers that head, and one that shares a row with a
 *     closing of a lower number has replaced all below it.
 *     A head that no marker names and that shares a row with a closing is covered, too: it was dropped, came back with an
 *     old log, and the marker that named it is gone since its hour was written anew.
 * R2  A tenant without a name, of whom anything is there, is called "lost-ID".
 * R3  No id and no sequence that something lost may have had is given again: those given next begin 2^24 behind the
 *     highest that can be found. That is written down once (recover_settle), not done at each opening. */
#pragma once

#include "store/day.h"

/* Works out markers, heads and tenants (R1, R2), in memory. The day is recovering, and what can be read was loaded. Errors:
 * ERR_MEMORY, those of kv.h. */
MUST_CHECK int recover_day(struct day *day, struct error *err);

/* Writes down what was worked out, what is missing in the index and has a copy, and from where ids and sequences go on
 * (R3); synced when it returns. The day is open for writing and was just loaded. Errors: ERR_MEMORY, those of kv.h. */
MUST_CHECK int recover_settle(struct day *day, struct error *err);
