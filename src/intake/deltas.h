// SPDX-License-Identifier: Apache-2.0
/* Profiles that count from the start of their process become what happened since the one before.
 *
 * Nothing in such a profile says which process it is of, and several processes may send under the same labels. So of each
 * series the newest profile of several processes is remembered, and a new one follows the nearest of those in which no
 * counter was higher, whose window does not overlap its own, and which came from the same place or ends where this one
 * begins. Where the nearest came from elsewhere, one of the same place is followed only if the nearest cannot be between
 * them: one process may be seen from several places, behind proxies. With none it is the first of its process (or the
 * process began anew), and how much of it happened since nobody can say: only its levels count.
 *
 * D1  Never negative: no counter of the one before is higher.
 * D2  Never twice: a profile that was followed is replaced by what followed it. Only a clean end writes the state down,
 *     and beginning takes it away again: after a crash every process has a first profile once more.
 * D3  At most max_bytes are remembered, and DELTAS_PROCESSES of a series; beyond them those not seen for the longest time
 *     are forgotten.
 *
 * Thread: any. */
#pragma once

#include "profile/content.h"
#include "profile/profile.h"

#define DELTAS_PROCESSES     64
#define DELTAS_DEFAULT_BYTES ((uint64_t)64 << 20)

struct deltas;

/* `path` is the file of the state, NULL = it is forgotten at the end. A state that cannot be read is told in the log and
 * left out. Errors: ERR_MEMORY, ERR_IO (it cannot be taken away). */
MUST_CHECK int deltas_new(const char *path, uint64_t max_bytes, struct deltas **ret_deltas, struct error *err);
/* Writes the state down, as far as that is possible. Accepts NULL. Thread: the owner. */
void deltas_free(struct deltas *deltas);

/* The seed of the content hashes that deltas_apply wants. */
uint64_t deltas_seed(const struct deltas *deltas);

/* Whether a profile has types that count from the start of the process. */
bool deltas_is_cumulative(const struct profile *profile);

/* What a profile took the place of, until deltas_finish. */
struct deltas_step {
    struct hash128 series;
    struct deltas_process *before; /* NULL: it was the first */
    uint64_t version;
    bool is_first;
};

/* Whose counters they are, as far as anybody can say. */
struct deltas_source {
    struct hash128 series;
    uint64_t place; /* a hash of where it came from: an address; 0 = not known, and may be any */
};

/* Replaces the cumulative values of `profile` by differences, where they are, and calls their types deltas. The window
 * begins at the profile before if the profile itself knows only its end. `content` are the hashes of its tables.
 * Errors: ERR_MEMORY, ERR_LIMIT; then nothing has changed. */
MUST_CHECK int deltas_apply(struct deltas *deltas, struct deltas_source source, const struct content *content,
                            struct profile *profile, struct arena *scratch, struct deltas_step *ret_step,
                            struct error *err);
/* Ends a step. Where the difference was not kept (`is_kept` false) the profile before takes its place again, unless
 * another one has followed meanwhile. */
void deltas_finish(struct deltas *deltas, struct deltas_step *step, bool is_kept);
