// SPDX-License-Identifier: Apache-2.0
/* Lists of texts that are alike: what they share is written once, and digits become numbers or bytes. So an id that looks
 * random takes no more than its randomness (docs/format-traces.md).
 *
 * What differs by its nature goes to three streams, which are compressed apart: numbers (columns), letters, and bytes that no
 * compressor makes smaller. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

struct spantexts_out {
    struct buffer numbers, letters, bytes;
};
struct spantexts_in {
    struct slice numbers, letters, bytes;
};

/* Appends `n` texts. `scratch` is for numbers, [n]. What went wrong, if anything, say the buffers. */
void spantexts_encode(const struct slice *texts, uint32_t n, uint64_t *scratch, struct spantexts_out *out);

/* About how many bytes one of them takes when written, for those who ask whether writing it once is worth an index. */
uint32_t spantexts_cost(const struct slice *texts, uint32_t n);

/* Cuts a list of exactly `n` texts, each of at most `max_len` bytes, off the front of `in`. They borrow it, or come from
 * `arena`. Errors: ERR_CORRUPT, ERR_LIMIT (of the arena), ERR_MEMORY. */
MUST_CHECK int spantexts_decode(struct spantexts_in *in, uint32_t n, size_t max_len, struct arena *arena,
                                const struct slice **ret_texts, struct error *err);
