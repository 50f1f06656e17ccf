// SPDX-License-Identifier: Apache-2.0
/* pprof bytes to the model: CPU time per profile.
 *
 *     pprof_decode [-n REPEATS] [-raw] [FILE...]
 *
 * The files, or without any 64 different heavy profiles (heavy.h), are decoded over and over, each into a batch that is
 * reset in between. With -raw they are inflated beforehand, and decoding alone is measured. One operation is a file. */
#include "base/bench.h"
#include "heavy.h"
#include "pack/packer.h"
#include "pack/unpacker.h"
#include "wire/pprof.h"

#include <errno.h>

enum { GENERATED = 64 };

struct input {
    struct slice packed;
    struct slice plain;
};

static int die(const struct error *err)
{
    fprintf(stderr, "pprof_decode: %s\n", err->text);
    return 1;
}

static struct slice copy_of(struct slice bytes)
{
    char *copy = heavy_alloc(bytes.len + UNPACKER_SPARE_BYTES);

    memcpy(copy, bytes.ptr, bytes.len);
    return slice_of(copy, bytes.len);
}

static int read_file(const char *path, struct buffer *out, struct error *err)
{
    FILE *file = fopen(path, "re");
    char part[65536];
    size_t n;

    if (!file)
        return error_set_errno(err, errno, "opening '%s'", path);
    while ((n = fread(part, 1, sizeof(part), file)) > 0)
        buffer_append(out, part, n);
    if (ferror(file))
        return error_set_errno(err, errno, "reading '%s'", path);
    fclose(file);
    return buffer_check(out, err);
}

static int load_files(char **paths, size_t n, struct unpacker *unpacker, struct input *inputs, struct error *err)
{
    struct buffer bytes;

    buffer_init(&bytes, 0);
    for (size_t i = 0; i < n; i++) {
        struct slice plain;

        buffer_clear(&bytes);
        if (read_file(paths[i], &bytes, err) < 0)
            return -1;
        inputs[i].packed = copy_of(buffer_slice(&bytes));
        if (unpacker_unwrap(unpacker, inputs[i].packed, profile_default_limits.max_inflated_bytes, UNPACKER_MAX_LAYERS,
                            &plain, err) < 0)
            return error_wrap(err, "inflating '%s'", paths[i]);
        inputs[i].plain = copy_of(plain);
    }
    buffer_done(&bytes);
    return 0;
}

static int generate(struct input *inputs, struct error *err)
{
    struct heavy_service service;
    struct packer *packer;
    struct buffer plain, packed;

    if (packer_new(&packer, err) < 0)
        return -1;
    buffer_init(&plain, 0);
    buffer_init(&packed, 0);
    heavy_service_init(&service, 0);
    for (uint32_t i = 0; i < GENERATED; i++) {
        buffer_clear(&plain);
        buffer_clear(&packed);
        heavy_profile(&service, i, &plain);
        if (buffer_check(&plain, err) < 0 ||
            packer_pack(packer, PACK_GZIP, PACK_LEVEL_DEFAULT, buffer_slice(&plain), &packed, err) < 0)
            return -1;
        inputs[i].plain = copy_of(buffer_slice(&plain));
        inputs[i].packed = copy_of(buffer_slice(&packed));
    }
    heavy_service_done(&service);
    buffer_done(&plain);
    buffer_done(&packed);
    packer_free(packer);
    return 0;
}

struct work {
    const struct input *inputs;
    size_t n;
    uint64_t repeats;
    bool is_raw;
    struct unpacker *unpacker;
    struct batch batch;
};

static int decode_all(void *context, struct error *err)
{
    struct work *work = context;

    for (uint64_t i = 0; i < work->n * work->repeats; i++) {
        const struct input *input = &work->inputs[i % work->n];
        struct slice plain = input->plain;

        if (!work->is_raw && unpacker_unwrap(work->unpacker, input->packed, work->batch.limits.max_inflated_bytes,
                                             UNPACKER_MAX_LAYERS, &plain, err) < 0)
            return -1;
        batch_reset(&work->batch);
        if (pprof_decode(plain, &work->batch, err) < 0)
            return -1;
    }
    return 0;
}

/* What was measured, for people. */
static void describe(const struct work *work)
{
    const struct tables *t = &work->batch.tables;
    size_t plain_bytes = 0, packed_bytes = 0;

    for (size_t i = 0; i < work->n; i++) {
        plain_bytes += work->inputs[i].plain.len;
        packed_bytes += work->inputs[i].packed.len;
    }
    fprintf(stderr,
            "%zu profiles of %zu bytes, %zu packed; the last: %u samples, %u locations, %u functions, %u strings, "
            "%zu bytes of model\n",
            work->n, plain_bytes / work->n, packed_bytes / work->n, work->batch.profiles[0].n_samples, t->n_frames - 1,
            t->n_functions - 1, t->n_strings, work->batch.arena.used_bytes);
}

static int measure(struct work *work, struct error *err)
{
    struct bench_result result;

    batch_init(&work->batch, NULL);
    if (bench_repeat(work->is_raw ? "hearth pprof_decode, inflated" : "hearth pprof_decode, as stored",
                     work->n * work->repeats, BENCH_RUNS, decode_all, work, &result, err) < 0 ||
        bench_print(&result, err) < 0)
        return -1;
    describe(work);
    batch_done(&work->batch);
    return 0;
}

int main(int argc, char **argv)
{
    struct work work = { .repeats = 20 };
    struct input *inputs;
    struct error err;
    int at = 1, result;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "-raw") == 0) {
            work.is_raw = true;
        } else if (strcmp(argv[at], "-n") != 0 || at + 1 == argc ||
                   !slice_to_u64(slice_from(argv[++at]), &work.repeats) || work.repeats == 0) {
            fprintf(stderr, "usage: pprof_decode [-n REPEATS] [-raw] [FILE...]\n");
            return 2;
        }
    }
    work.n = at < argc ? (size_t)(argc - at) : GENERATED;
    work.inputs = inputs = heavy_alloc(work.n * sizeof(*inputs));
    if (unpacker_new(&work.unpacker, &err) < 0)
        return die(&err);
    result = at < argc ? load_files(argv + at, work.n, work.unpacker, inputs, &err) : generate(inputs, &err);
    if (result < 0 || measure(&work, &err) < 0)
        return die(&err);
    for (size_t i = 0; i < work.n; i++) {
        memory_free((char *)inputs[i].packed.ptr);
        memory_free((char *)inputs[i].plain.ptr);
    }
    memory_free(inputs);
    unpacker_free(work.unpacker);
    return 0;
}
