// SPDX-License-Identifier: Apache-2.0
/* main() for fuzz targets built without libFuzzer: feeds each corpus file to the target, and with it truncations and
 * one-byte changes of it, always the same ones. A crash, a hang or a sanitizer's report is the failure.
 *
 *     build/asan/fuzz/pprof fuzz/corpus/pprof [FILE|DIRECTORY...] */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TRUNCATIONS 16
#define MUTATIONS   16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Gives the target a copy that ends where the input ends, so that a sanitizer sees one byte read too many. With `at`
 * within the input, that byte is changed by `flip`. */
static int feed(struct slice input, size_t at, uint8_t flip, struct error *err)
{
    AUTO(memory_freep) uint8_t *copy = memory_alloc(input.len, err);

    if (!copy)
        return -1;
    if (input.len > 0)
        memcpy(copy, input.ptr, input.len);
    if (at < input.len)
        copy[at] ^= flip;
    LLVMFuzzerTestOneInput(copy, input.len);
    return 0;
}

static int feed_variations(struct slice input, uint64_t *n_inputs, struct error *err)
{
    for (size_t i = 0; i <= TRUNCATIONS; i++, ++*n_inputs) /* the last one is the whole input */
        if (feed(slice_of(input.ptr, input.len * i / TRUNCATIONS), SIZE_MAX, 0, err) < 0)
            return -1;
    for (uint64_t i = 0; i < MUTATIONS && input.len > 0; i++, ++*n_inputs) {
        uint64_t random = hash_bytes64(input, i);

        if (feed(input, (random >> 8) % input.len, (uint8_t)(random | 1), err) < 0)
            return -1;
    }
    return 0;
}

static int replay_file(const char *path, uint64_t *n_inputs, struct error *err)
{
    AUTO(buffer_done) struct buffer input;

    buffer_init(&input, 0);
    if (fs_read_file(path, 0, &input, err) < 0)
        return -1;
    return feed_variations(buffer_slice(&input), n_inputs, err);
}

static int replay_directory(const char *path, uint64_t *n_inputs, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;

    arena_init(&arena, 0);
    if (fs_list(path, &arena, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        char *file = arena_printf(&arena, err, "%s/%s", path, listing.names[i]);

        if (!file || replay_file(file, n_inputs, err) < 0)
            return -1;
    }
    return 0;
}

static int replay(const char *path, uint64_t *n_inputs, struct error *err)
{
    struct stat info;

    if (fs_stat(path, &info, err) < 0)
        return -1;
    return S_ISDIR(info.st_mode) ? replay_directory(path, n_inputs, err) : replay_file(path, n_inputs, err);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    uint64_t n_inputs = 0;
    struct error err;

    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE|DIRECTORY...\n", name);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i], &n_inputs, &err) < 0) {
            fprintf(stderr, "%s: %s\n", name, err.text);
            return 1;
        }
    }
    printf("%s: %" PRIu64 " inputs replayed\n", name, n_inputs);
    return 0;
}
