// SPDX-License-Identifier: Apache-2.0
/* Roll-ups: any input gives an error or sums by rising stacks, which come back the same when written and read again.
 *
 * The input is also taken as the length of a header, the header and columns that are not compressed yet: no fuzzer
 * guesses the checksum of a frame. */
#include "base/memory.h"
#include "block/pieces.h"
#include "block/rollup.h"

#define MAX_STACKS   20000u
#define MAX_BYTES    ((size_t)64 << 20)
#define HEADER_BYTES 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One for all inputs, as a worker has it. */
static struct packer *packer;
static struct unpacker *unpacker;

static void check_again(const struct rollup *rollup, struct arena *arena)
{
    AUTO(buffer_done) struct buffer out;
    struct rollup back;
    struct error err;

    buffer_init(&out, 0);
    ASSERT(rollup_encode(rollup, packer, &out, &err) == 0);
    ASSERT(rollup_decode(buffer_slice(&out), rollup->n_stacks, unpacker, arena, &back, &err) == 0);
    ASSERT(back.n_types == rollup->n_types && back.n_stacks == rollup->n_stacks && back.n_series == rollup->n_series);
    ASSERT(back.n_rows == rollup->n_rows && back.duration_ns == rollup->duration_ns);
    ASSERT(memcmp(back.stacks, rollup->stacks, rollup->n_stacks * sizeof(*back.stacks)) == 0);
    ASSERT(memcmp(back.sums, rollup->sums, (size_t)rollup->n_types * rollup->n_stacks * sizeof(*back.sums)) == 0);
}

static void check(struct slice bytes)
{
    AUTO(arena_done) struct arena arena;
    struct rollup rollup;
    struct error err;

    arena_init(&arena, MAX_BYTES);
    if (rollup_decode(bytes, MAX_STACKS, unpacker, &arena, &rollup, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION || err.code == ERR_LIMIT);
        return;
    }
    for (uint32_t i = 1; i < rollup.n_stacks; i++)
        ASSERT(rollup.stacks[i - 1] < rollup.stacks[i]);
    arena.max_bytes *= 2; /* what was read once can be read again */
    check_again(&rollup, &arena);
}

/* The input as header length, header and plain columns. */
static void check_plain(struct slice in)
{
    AUTO(buffer_done) struct buffer bytes;
    struct error err;
    size_t header_len;

    buffer_init(&bytes, 0);
    if (in.len == 0)
        return;
    header_len = (unsigned char)in.ptr[0] % HEADER_BYTES;
    in = slice_sub(in, 1, SIZE_MAX);
    buffer_append_slice(&bytes, slice_sub(in, 0, header_len));
    if (pieces_pack(slice_sub(in, header_len, SIZE_MAX), packer, &bytes, &err) == 0)
        check(buffer_slice(&bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err;

    if ((!packer && packer_new(&packer, &err) < 0) || (!unpacker && unpacker_new(&unpacker, &err) < 0))
        return 0;
    check(slice_of(data, size));
    check_plain(slice_of(data, size));
    return 0;
}
